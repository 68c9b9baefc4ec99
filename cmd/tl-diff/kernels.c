/* SPDX-License-Identifier: MIT */
/*
 * Kernels aligned by name.
 *
 * A sequence is what one replay of a graph launched, or else the GPU work of
 * one step, or else what has neither. In it kernels stand GPU stream by GPU
 * stream, each in the order of time, because how streams interleave differs
 * from run to run. Its kind is its annotation's name without numbers, and
 * whether it is a replay.
 *
 * Sequences are paired like roots: first those of one kind with the same
 * kernels, then those of one kind. A stretch of a pair that is on one side
 * only, as long as that on the other, is taken for kernels under new names.
 */
#include <stdlib.h>

#include "cmd/tl-diff/kernels.h"

#define REPLAY_MIN 2 /* GPU events that make a launch a replay */

const struct column kernels_columns[] = {
	{ "kind", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "name_after", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "count_before", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "count_after", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "before_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "after_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "diff_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "ratio", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	{ "pct_of_diff", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
};
const size_t kernels_ncolumns =
    sizeof kernels_columns / sizeof *kernels_columns;

/* A GPU event on its way into a sequence. */
struct placed {
	uint64_t unit; /* of which sequence */
	uint32_t stream, gpu;
	int64_t ts;
	uint32_t id;
};

struct sequence {
	size_t first, n; /* in placed, sorted */
	uint32_t kind;
	int64_t ts;
	uint64_t hash; /* of the kernels' names */
};

/* One run as sequences. */
struct line_up {
	const struct run *run;
	VEC(struct placed) placed;
	VEC(struct sequence) list;
};

struct kernel_row {
	uint32_t kind, n[NSIDES], name[NSIDES];
	uint64_t count[NSIDES];
	int64_t ns[NSIDES];
};

struct kernels {
	const struct settings *set;
	struct strings *st;
	VEC(struct kernel_row) rows;
	struct map row_of;
	uint64_t nruns[NSIDES], nsequences[NSIDES];
	uint64_t nsteps[NSIDES], npaired;
};

struct kernels *
kernels_create(struct settings *set, struct strings *st)
{
	struct kernels *k = xcalloc(1, sizeof *k);

	k->set = set;
	k->st = st;
	return k;
}

void
kernels_destroy(struct kernels *k)
{
	vec_free(&k->rows);
	map_free(&k->row_of);
	free(k);
}

/* ---- sequences ---- */

static bool
is_replay(const struct run *r, uint32_t launch)
{
	return launch != NONE && r->nodes.v[launch].kind != KIND_OP &&
	    gpu_behind(r, &r->nodes.v[launch]) - r->nodes.v[launch].first_gpu >=
	    REPLAY_MIN;
}

/* A step by its own time, for work whose launch says none. */
static int64_t
step_at(const struct run *r, int64_t ts)
{
	size_t lo = 0, hi = r->steps.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->steps.v[mid].start <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && ts < r->steps.v[lo - 1].end ? r->steps.v[lo - 1].number
						     : WALK_NO_STEP;
}

/* Replays by their launch, then steps by number, then the rest. */
static uint64_t
unit_of(const struct run *r, const struct gpu *g)
{
	const struct node *n = &r->nodes.v[g->node];
	int64_t step = g->step;

	if (!g->is_unlinked && is_replay(r, n->parent))
		return (uint64_t)n->parent + 1;
	if (step == WALK_NO_STEP && g->is_unlinked)
		step = step_at(r, n->ts);
	if (step == WALK_NO_STEP)
		return 0;
	return UINT64_C(1) << 63 | (uint64_t)step;
}

static int
by_unit(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int
by_start(const void *x, const void *y)
{
	const struct sequence *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* "decode_7 (128)" is "decode_# (#)": of the same kind is what differs only
 * in numbers. */
static uint32_t
kind_of_name(struct strings *st, uint32_t name, const char *lead)
{
	struct str s = strings_get(st, name);
	struct buf b = { 0 };
	uint32_t id;

	buf_puts(&b, lead);
	if (name != INTERN_NONE && s.len > 0)
		buf_puts(&b, ": ");
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			buf_putc(&b, s.p[i]);
		else if (i == 0 || s.p[i - 1] < '0' || s.p[i - 1] > '9')
			buf_putc(&b, '#');
	}
	id = intern_put(st->text, buf_str(&b));
	buf_free(&b);
	return id;
}

static uint32_t
kind_of(struct kernels *k, const struct line_up *l, const struct sequence *s)
{
	const struct placed *p = &l->placed.v[s->first];
	const char *lead = p->unit == 0 ? "outside of steps"
	    : p->unit >> 63             ? "step"
					: "replay";
	uint32_t name = l->run->gpus.v[p->gpu].annotation;

	/* a step may hold many annotations: only if all agree it is its kind */
	for (size_t i = 1; i < s->n && name != INTERN_NONE; i++)
		if (l->run->gpus.v[p[i].gpu].annotation != name)
			name = INTERN_NONE;
	return kind_of_name(k->st, p->unit == 0 ? INTERN_NONE : name, lead);
}

static void
line_up(struct kernels *k, struct line_up *l, const struct run *r)
{
	l->run = r;
	for (uint32_t i = 0; i < r->gpus.n; i++) {
		const struct gpu *g = &r->gpus.v[i];
		const struct node *n = &r->nodes.v[g->node];

		if (k->set->per == PER_STEP && g->step == WALK_NO_STEP)
			continue;
		vec_push(&l->placed,
		    ((struct placed){
			unit_of(r, g), g->stream, i, n->ts, n->id }));
	}
	if (l->placed.n > 1)
		qsort(l->placed.v, l->placed.n, sizeof *l->placed.v, by_unit);
	for (size_t i = 0, end; i < l->placed.n; i = end) {
		struct sequence s = {
			.first = i, .ts = l->placed.v[i].ts, .hash = HASH_K0
		};

		for (end = i; end < l->placed.n &&
		     l->placed.v[end].unit == l->placed.v[i].unit;
		     end++) {
			const struct placed *p = &l->placed.v[end];

			s.hash = hash_mix(
			    s.hash ^ r->nodes.v[r->gpus.v[p->gpu].node].sym,
			    HASH_K1);
			s.ts = p->ts < s.ts ? p->ts : s.ts;
		}
		s.n = end - i;
		s.kind = kind_of(k, l, &s);
		vec_push(&l->list, s);
	}
	if (l->list.n > 1)
		qsort(l->list.v, l->list.n, sizeof *l->list.v, by_start);
}

static uint64_t
count_steps(const struct run *r)
{
	struct map seen = { 0 };
	uint64_t n;

	for (size_t i = 0; i < r->gpus.n; i++)
		if (r->gpus.v[i].step != WALK_NO_STEP)
			(void)map_put(&seen, (uint64_t)r->gpus.v[i].step, NULL);
	n = seen.n;
	map_free(&seen);
	return n;
}

/* ---- rows ---- */

static uint64_t
hash_row(const struct kernel_row *r)
{
	return hash_mix(
	    hash_mix(r->kind ^ HASH_K0, r->n[0] ^ HASH_K1), r->n[1] ^ HASH_K1);
}

static struct kernel_row *
row_of(struct kernels *k, const struct kernel_row *want)
{
	for (uint64_t h = hash_row(want);; h++) {
		bool is_new;
		uint64_t *slot = map_put(&k->row_of, h, &is_new);
		struct kernel_row *r;

		if (is_new) {
			*slot = k->rows.n;
			vec_push(&k->rows, *want);
		}
		r = &k->rows.v[*slot];
		if (r->kind == want->kind && r->n[0] == want->n[0] &&
		    r->n[1] == want->n[1])
			return r;
	}
}

static const struct node *
node_at(const struct line_up *l, const struct sequence *s, uint32_t place)
{
	return &l->run->nodes
		    .v[l->run->gpus.v[l->placed.v[s->first + place].gpu].node];
}

/* A pair of GPU events, or one: node[side] may be NULL. */
static void
add_pair(struct kernels *k, uint32_t kind, const struct node *node[NSIDES],
    const bool fresh[NSIDES])
{
	struct kernel_row want = { .kind = kind }, *r;

	for (int s = 0; s < NSIDES; s++) {
		/* what has one name has one row, on whatever side it is */
		const struct node *n = node[s] != NULL ? node[s] : node[!s];

		want.n[s] = n->sym;
		want.name[s] = n->name;
	}
	r = row_of(k, &want);
	for (int s = 0; s < NSIDES; s++)
		if (node[s] != NULL && fresh[s]) {
			r->count[s]++;
			stat_add(&r->ns[s], node[s]->dur);
		}
}

/* ---- pairs of sequences ---- */

static void
symbols_of(const struct line_up *l, const struct sequence *s, u32s *sym)
{
	sym->n = 0;
	for (uint32_t i = 0; i < s->n; i++)
		vec_push(sym, node_at(l, s, i)->sym);
}

static void
add_sequences(struct kernels *k, const struct line_up l[NSIDES],
    const struct sequence *seq[NSIDES], const bool fresh[NSIDES])
{
	uint32_t kind = seq[seq[0] == NULL]->kind;
	u32s sym[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 };

	for (int s = 0; s < NSIDES; s++)
		if (seq[s] != NULL)
			symbols_of(&l[s], seq[s], &sym[s]);
	align_symbols(sym[0].v, sym[0].n, sym[1].v, sym[1].n, &p);
	pairs_between(&p);
	for (size_t i = 0; i < p.n; i++) {
		const struct node *node[NSIDES] = {
			p.v[i].a == NONE ? NULL
					 : node_at(&l[0], seq[0], p.v[i].a),
			p.v[i].b == NONE ? NULL
					 : node_at(&l[1], seq[1], p.v[i].b),
		};

		add_pair(k, kind, node, fresh);
	}
	for (int s = 0; s < NSIDES; s++)
		vec_free(&sym[s]);
	vec_free(&p);
}

/* Numbers for (kind, kernels), or for kinds alone. */
static void
number_sequences(const struct line_up l[NSIDES], const u32s *places,
    bool with_kernels, u32s *sym)
{
	struct map numbers = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		sym[s].n = 0;
		for (size_t i = 0; i < places[s].n; i++) {
			const struct sequence *q = &l[s].list.v[places[s].v[i]];
			uint64_t h = hash_mix(q->kind ^ HASH_K0,
			    with_kernels ? q->hash : HASH_K1);
			bool is_new;
			uint64_t *slot = map_put(&numbers, h, &is_new);

			if (is_new)
				*slot = numbers.n;
			vec_push(&sym[s], (uint32_t)*slot);
		}
	}
	map_free(&numbers);
}

/* What stands alone goes on to the next round. */
static void
pair_round(struct kernels *k, const struct line_up l[NSIDES],
    u32s places[NSIDES], bool with_kernels, const bool fresh[NSIDES])
{
	u32s sym[NSIDES] = { { 0 }, { 0 } }, left[NSIDES] = { { 0 }, { 0 } };
	pairs p = { 0 };

	number_sequences(l, places, with_kernels, sym);
	align_symbols(sym[0].v, sym[0].n, sym[1].v, sym[1].n, &p);
	for (size_t i = 0; i < p.n; i++) {
		uint32_t a = p.v[i].a == NONE ? NONE : places[0].v[p.v[i].a];
		uint32_t b = p.v[i].b == NONE ? NONE : places[1].v[p.v[i].b];
		const struct sequence *seq[NSIDES];

		if (a == NONE) {
			vec_push(&left[1], b);
			continue;
		}
		if (b == NONE) {
			vec_push(&left[0], a);
			continue;
		}
		seq[0] = &l[0].list.v[a];
		seq[1] = &l[1].list.v[b];
		k->npaired++;
		add_sequences(k, l, seq, fresh);
	}
	for (int s = 0; s < NSIDES; s++) {
		vec_free(&places[s]);
		places[s] = left[s];
		vec_free(&sym[s]);
	}
	vec_free(&p);
}

void
kernels_add(struct kernels *k, const struct run *const side[NSIDES],
    const bool fresh[NSIDES])
{
	struct line_up l[NSIDES] = { { 0 }, { 0 } };
	u32s places[NSIDES] = { { 0 }, { 0 } };

	for (int s = 0; s < NSIDES; s++) {
		line_up(k, &l[s], side[s]);
		for (uint32_t i = 0; i < l[s].list.n; i++)
			vec_push(&places[s], i);
		k->nruns[s] += fresh[s];
		k->nsteps[s] += fresh[s] ? count_steps(side[s]) : 0;
		k->nsequences[s] += fresh[s] ? l[s].list.n : 0;
	}
	pair_round(k, l, places, true, fresh);
	pair_round(k, l, places, false, fresh);
	for (int s = 0; s < NSIDES; s++) {
		for (size_t i = 0; i < places[s].n; i++) {
			const struct sequence *seq[NSIDES] = { NULL, NULL };

			seq[s] = &l[s].list.v[places[s].v[i]];
			add_sequences(k, l, seq, fresh);
		}
		vec_free(&places[s]);
		vec_free(&l[s].placed);
		vec_free(&l[s].list);
	}
}

/* ---- the table ---- */

/* A row, of a unit. */
struct figures {
	const struct kernel_row *row;
	int64_t ns[NSIDES], diff_ns;
};

static int64_t
size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

static int
by_weight(const void *x, const void *y, void *arg)
{
	const struct figures *a = x, *b = y;
	const struct strings *st = arg;
	int order = 0;

	if (size_of(a->diff_ns) != size_of(b->diff_ns))
		return size_of(a->diff_ns) > size_of(b->diff_ns) ? -1 : 1;
	if (a->diff_ns != b->diff_ns)
		return a->diff_ns > b->diff_ns ? -1 : 1;
	if (a->ns[0] != b->ns[0])
		return a->ns[0] > b->ns[0] ? -1 : 1;
	for (int s = 0; s < NSIDES && order == 0; s++)
		order = str_cmp(strings_get(st, a->row->name[s]),
		    strings_get(st, b->row->name[s]));
	if (order == 0)
		order = str_cmp(strings_get(st, a->row->kind),
		    strings_get(st, b->row->kind));
	return order;
}

static uint64_t
units(const struct kernels *k, int side)
{
	return k->set->per == PER_STEP ? k->nsteps[side] : k->nruns[side];
}

void
kernels_totals(const struct kernels *k, int64_t ns[NSIDES])
{
	for (int s = 0; s < NSIDES; s++) {
		ns[s] = 0;
		for (size_t i = 0; i < k->rows.n; i++)
			stat_add(&ns[s], k->rows.v[i].ns[s]);
		ns[s] = mean_ns(ns[s], units(k, s));
	}
}

static void
put_row(struct table *t, const struct kernels *k, const struct figures *f,
    int64_t gross_ns)
{
	const struct kernel_row *r = f->row;
	struct cell *row = table_row(t);

	row[0] = cell_text(strings_get(k->st, r->kind));
	row[1] = cell_text(strings_get(k->st, r->name[0]));
	if (r->n[0] != r->n[1])
		row[2] = cell_text(strings_get(k->st, r->name[1]));
	row[3] = cell_int((int64_t)r->count[0]);
	row[4] = cell_int((int64_t)r->count[1]);
	row[5] = cell_int(f->ns[0]);
	row[6] = cell_int(f->ns[1]);
	row[7] = cell_int(f->diff_ns);
	if (f->ns[0] > 0)
		row[8] = cell_real((double)f->ns[1] / (double)f->ns[0]);
	if (gross_ns > 0)
		row[9] = cell_real(100 * (double)f->diff_ns / (double)gross_ns);
}

void
kernels_notes(const struct kernels *k, struct table *t)
{
	int64_t total[NSIDES];

	kernels_totals(k, total);
	table_note(t, "GPU time %.3f ms to %.3f ms%s", (double)total[0] / 1e6,
	    (double)total[1] / 1e6, k->set->per == PER_STEP ? " a step" : "");
	table_note(t,
	    "of %" PRIu64 " and %" PRIu64 " sequences of kernels %" PRIu64
	    " are pairs",
	    k->nsequences[0], k->nsequences[1], k->npaired);
}

void
kernels_print(struct kernels *k, struct table_dest *dest)
{
	struct table *t =
	    table_create("diff_kernels", kernels_columns, kernels_ncolumns);
	struct figures *v = xmalloc((k->rows.n + 1) * sizeof *v);
	int64_t gross_ns = 0;

	for (size_t i = 0; i < k->rows.n; i++) {
		v[i].row = &k->rows.v[i];
		for (int s = 0; s < NSIDES; s++)
			v[i].ns[s] = mean_ns(k->rows.v[i].ns[s], units(k, s));
		v[i].diff_ns = v[i].ns[1] - v[i].ns[0];
		stat_add(&gross_ns, size_of(v[i].diff_ns));
	}
	if (k->rows.n > 1)
		qsort_r(v, k->rows.n, sizeof *v, by_weight, k->st);
	kernels_notes(k, t);
	for (size_t i = 0; i < k->rows.n; i++)
		put_row(t, k, &v[i], gross_ns);
	table_print(t, dest);
	table_destroy(t);
	free(v);
}

/* SPDX-License-Identifier: MIT */
/* The list of tables; turns fields into columns and cells. */
#include "cmd/tl-collective/tables.h"

#include <stdio.h>
#include <stdlib.h>

/* In the order of -d. */
const struct table_def *const table_defs[] = {
	&table_verdict,
	&table_groups,
	&table_cause,
	&table_parts,
	&table_summary_sync,
	&table_summary_long,
	&table_coll_analysis,
	&table_summary_all2allv,
	&table_heatmap,
	&table_long,
	&table_sync,
	&table_all2allv,
	&table_straggler_summary,
	&table_bandwidth,
	&table_episodes,
	&table_hlo,
	&table_hlo_bandwidth,
	&table_hlo_latency,
	&table_hlo_sizes,
	&table_hlo_rates,
	&table_clocks,
	&table_missing,
	&table_hang,
	&table_versus,
};
const size_t ntable_defs = sizeof table_defs / sizeof *table_defs;

#define WIDE_RANKS 16 /* more ranks get no columns of their own */

bool
is_wanted(const struct table_def *def, const struct job *j)
{
	if (def == &table_hang || j->flight != NULL)
		return def == &table_hang && j->flight != NULL;
	if (def->is_single)
		return j->ranks.n == 1;
	for (size_t i = 0; i < j->colls.n && def->is_about != NULL; i++)
		if (def->is_about(j, &j->colls.v[i]))
			return true;
	return def->is_about == NULL;
}

/* ---- fields ---- */

static const char *
rank_name(struct sheet_rows *s, size_t pos, const char *id)
{
	return arena_printf(
	    s->mem, "rank_%" PRId64 "_%s", s->job->ranks.v[pos].rank, id);
}

static void
put_fields(struct sheet_rows *s, const struct field *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&s->fields, list[i]);
}

/* Repeats the list for each rank, as rank_N_ID. */
static void
put_rank_fields(struct sheet_rows *s, const struct field *list, size_t n)
{
	for (size_t r = 0; r < s->job->ranks.n; r++)
		for (size_t i = 0; i < n; i++) {
			struct field f = list[i];
			const char *label =
			    f.col.label != NULL ? f.col.label : f.col.id;

			f.col.id = rank_name(s, r, f.col.id);
			f.col.label = rank_name(s, r, label);
			f.pos = (uint32_t)r + 1;
			vec_push(&s->fields, f);
		}
}

/* ---- cells ---- */

struct cell
cell_id(const struct row *r)
{
	struct buf *b = r->text;
	char index[20];

	b->len = 0;
	if (!r->job->simplified) {
		buf_put(b, r->group->label.p, r->group->label.len);
		buf_putc(b, '_');
	}
	buf_put(b, index, num_put_i64(index, r->coll->index));
	return cell_text(table_row_text(r->table, buf_str(b)));
}

struct cell
cell_start(const struct row *r)
{
	const struct part *p = &r->job->parts.v[r->rec->part];

	return cell_int(p->own_ns != NULL ? p->own_ns[r->rec - p->recs]
					  : r->rec->start_ns - p->shift_ns);
}

struct cell
cell_wait(const struct row *r)
{
	return cell_int(
	    coll_last(r->job, r->coll)->start_ns - r->rec->start_ns);
}

struct cell
cell_start_skew(const struct row *r)
{
	return cell_int(coll_start_skew(r->job, r->coll));
}

static struct cell
cell_node(const struct row *r)
{
	return cell_int(r->rank->rank / r->job->gpus_per_node);
}

static struct cell
cell_node_span(const struct row *r)
{
	const int_vec *members = &r->group->members;
	int64_t per_node = r->job->gpus_per_node;
	bool is_inter = false;

	if (members->n == 0)
		return cell_text(STR("unknown"));
	for (size_t i = 1; i < members->n; i++)
		is_inter |=
		    members->v[i] / per_node != members->v[0] / per_node;
	return cell_text(is_inter ? STR("inter_node") : STR("intra_node"));
}

static struct cell
cell_gpu(const struct row *r)
{
	int64_t dev = r->job->parts.v[r->rank->part].dev;

	return dev != NONE ? cell_int(dev) : cell_none();
}

static struct cell
cell_exposed(const struct row *r)
{
	int64_t ns = rec_exposed(r->job, r->rec);

	return ns != NONE ? cell_int(ns) : cell_none();
}

static struct cell
cell_of(const struct field *f, const struct row *r)
{
	const void *p;

	memcpy(&p, (const char *)r + f->of, sizeof p);
	p = (const char *)p + f->at;
	switch ((enum field_from)f->from) {
	case FROM_CELL: return f->cell(r);
	case FROM_INT: {
		int64_t v = *(const int64_t *)p;

		return v != NONE ? cell_int(v) : cell_none();
	}
	case FROM_U32: return cell_int(*(const uint32_t *)p);
	case FROM_REAL: return cell_real(*(const double *)p);
	case FROM_TEXT: {
		struct str s = *(const struct str *)p;

		return s.p != NULL ? cell_text(s) : cell_none();
	}
	case FROM_VALUES: {
		double v = values_stat((struct values *)(uintptr_t)p, f->stat);

		return f->col.type == COL_INT ? cell_int((int64_t)v)
					      : cell_real(v);
	}
	case FROM_BOOL: return cell_bool(*(const bool *)p);
	}
	return cell_none();
}

/* ---- rows ---- */

struct row
row_of_rec(const struct job *j, const struct rec *r)
{
	const struct sig *s = rec_sig(j, r);

	return (struct row){ .rec = r,
		.sig = s,
		.coll = &j->colls.v[r->seq],
		.group = &j->groups.v[s->group],
		.rank = &j->ranks.v[rec_pos(j, r)] };
}

struct row
row_of_coll(const struct job *j, const struct coll *c, void *own)
{
	return (struct row){ .sig = &j->sigs.v[c->sig],
		.coll = c,
		.group = &j->groups.v[c->group],
		.own = own };
}

/* The records of a collective by rank. */
static void
find_ranks(struct sheet_rows *s, const struct coll *c)
{
	memset(s->of_rank, 0, s->job->ranks.n * sizeof(void *));
	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = s->job->members[c->first + m];

		s->of_rank[rec_pos(s->job, r)] = r;
	}
}

void
put_row(struct sheet_rows *s, const struct row *given)
{
	struct row r = *given;
	struct cell *cells = table_row(s->table);

	r.job = s->job;
	r.table = s->table;
	r.text = &s->text;
	if (s->of_rank != NULL)
		find_ranks(s, r.coll);
	for (size_t i = 0; i < s->fields.n; i++) {
		const struct field *f = &s->fields.v[i];

		r.rec = f->pos > 0 ? s->of_rank[f->pos - 1] : given->rec;
		r.sig = given->sig;
		if (f->pos > 0 && r.rec == NULL)
			continue;
		if (f->pos > 0)
			r.sig = rec_sig(s->job, r.rec);
		cells[i] = cell_of(f, &r);
	}
}

/* Last columns, in this order. */
static const struct field ends[] = {
	CELL(INT("node_id", NULL), cell_node),
	CELL(TEXT("node_span", NULL), cell_node_span),
	CELL(INT("gpu", NULL), cell_gpu),
	MODULE,
	INSTRUCTION,
	CELL(OURS("exposed_ns", COL_INT, UNIT_NS, 1e3), cell_exposed),
};

static unsigned
known_of(const struct job *j)
{
	return (j->has_nodes ? WITH_NODE : 0) | (j->has_gpus ? WITH_GPU : 0) |
	    (j->has_hlo ? WITH_HLO | WITH_EXPOSED : 0);
}

static void
make_fields(struct sheet_rows *s, const struct table_def *def)
{
	unsigned with = def->with & known_of(s->job);
	size_t before = 0;

	while (before < def->nfields &&
	    (def->fields[before].col.flags & COL_OURS) == 0)
		before++;
	put_fields(s, def->fields, before);
	if (def->nboth > 0 && s->job->ranks.n <= WIDE_RANKS) {
		put_rank_fields(s, def->of_rank, def->nfirst);
		put_rank_fields(
		    s, def->of_rank + def->nfirst, def->nboth - def->nfirst);
	}
	put_fields(s, def->fields + before, def->nfields - before);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if ((with >> i & 1) != 0)
			put_fields(s, &ends[i], 1);
}

void
print_table(const struct table_def *def, struct job *j, struct table_dest *d)
{
	struct sheet_rows s = { .job = j, .mem = arena_create() };
	VEC(struct column) columns = { 0 };

	make_fields(&s, def);
	for (size_t i = 0; i < s.fields.n; i++) {
		vec_push(&columns, s.fields.v[i].col);
		if (s.fields.v[i].pos > 0 && s.of_rank == NULL)
			s.of_rank = xcalloc(j->ranks.n, sizeof *s.of_rank);
	}
	s.table = table_create(def->name, columns.v, columns.n);
	if (def->is_streamed)
		table_stream(s.table, d);
	def->fill(&s, j);
	table_print(s.table, d);
	table_destroy(s.table);
	vec_free(&s.fields);
	vec_free(&columns);
	free(s.of_rank);
	buf_free(&s.text);
	arena_destroy(s.mem);
}

/* ---- equal collectives ---- */

struct alike *
alike_of(struct alikes *s, struct row row, const void *key, size_t size)
{
	uint32_t id;

	if (s->keys == NULL)
		s->keys = intern_create();
	id = intern_put(s->keys, (struct str){ key, size });
	if (id == s->list.n)
		vec_push(&s->list, ((struct alike){ .row = row }));
	return &s->list.v[id];
}

void
alike_add(struct alike *a, int64_t ns)
{
	a->count++;
	a->sum_ns = num_add_max(a->sum_ns, ns);
}

int
by_sum(const void *pa, const void *pb)
{
	const struct alike *a = pa, *b = pb;

	return a->sum_ns > b->sum_ns ? -1 : a->sum_ns < b->sum_ns;
}

void
put_alikes(struct sheet_rows *s, struct alikes *of,
    int (*cmp)(const void *, const void *))
{
	stable_sort(of->list.v, of->list.n, sizeof *of->list.v, cmp);
	for (size_t i = 0; i < of->list.n; i++) {
		of->list.v[i].row.own = &of->list.v[i];
		put_row(s, &of->list.v[i].row);
	}
	alikes_free(of);
}

void
alikes_free(struct alikes *of)
{
	for (size_t i = 0; i < of->list.n; i++)
		for (size_t m = 0; m < ALIKE_METRICS; m++)
			vec_free(&of->list.v[i].v[m]);
	vec_free(&of->list);
	if (of->keys != NULL)
		intern_destroy(of->keys);
}

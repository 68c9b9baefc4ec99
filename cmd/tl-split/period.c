/* SPDX-License-Identifier: MIT */
/*
 * Iterations where nothing marks steps and no GPU work repeats: calls that come
 * again and again.
 *
 * From the threads down, level by level, it looks at what is called from one
 * place. Calls whose names come three times or more in a row, which is more
 * than half of what comes from there on, are iterations if they launch half of
 * the GPU's time:
 *
 *	names          period  from
 *	A A A A A B         1     0
 *	x x A B C A B C A B C
 *	                    3     2
 *	A B A B             none
 *
 * The first start counts, then the shortest period. Calls that repeat but
 * launch too little are passed over. A place that launches less than half has
 * nothing below it that launches more, so few places are searched.
 */
#include "cmd/tl-split/split.h"

#define LEAST_COPIES 3
#define STARTS_MAX 4096 /* calls of a place tried as the first */

struct finder {
	const struct forest *f;
	struct intern *texts;
	int64_t half;              /* of the total GPU time */
	VEC(int64_t) sums;         /* GPU time of all nodes before each */
	VEC(uint32_t) behind;      /* the first node not below each */
	VEC(uint32_t) first, kids; /* by place: its calls are in kids */
	struct map threads;        /* track of a thread to its place */
	VEC(uint32_t) queue;       /* of places */
	/* of the current place: */
	VEC(uint32_t) names;  /* of its calls */
	VEC(uint64_t) hashes; /* of the names before each */
	VEC(size_t) lengths;  /* possible periods */
	VEC(uint64_t) powers; /* of the hashes' factor */
};

struct period {
	size_t start, length, copies;
};

/* ---- who calls what ---- */

/* The place of a node; those of threads, which call roots, follow. */
static uint32_t
place_of(struct finder *p, const struct forest_node *n)
{
	bool is_new;
	uint64_t *slot;

	if (n->up != FOREST_NONE)
		return n->up;
	slot = map_put(&p->threads, dict_thread(p->f->st, n->track), &is_new);
	if (is_new)
		*slot = p->f->nodes.n + p->threads.n - 1;
	return (uint32_t)*slot;
}

static void
list_calls(struct finder *p)
{
	const struct forest_node *v = p->f->nodes.v;
	uint32_t n = (uint32_t)p->f->nodes.n;
	size_t nplaces;

	for (uint32_t i = 0; i < n; i++)
		(void)place_of(p, &v[i]);
	nplaces = n + p->threads.n;
	for (size_t i = 0; i < nplaces + 2; i++)
		vec_push(&p->first, 0);
	for (uint32_t i = 0; i < n; i++)
		p->first.v[place_of(p, &v[i]) + 2] +=
		    !node_is(&v[i], KINDS_GPU);
	for (size_t i = 2; i < nplaces + 2; i++)
		p->first.v[i] += p->first.v[i - 1];
	for (uint32_t i = 0; i < p->first.v[nplaces + 1]; i++)
		vec_push(&p->kids, 0);
	for (uint32_t i = 0; i < n; i++)
		if (!node_is(&v[i], KINDS_GPU))
			p->kids.v[p->first.v[place_of(p, &v[i]) + 1]++] = i;
}

/* ---- GPU time ---- */

static void
measure(struct finder *p)
{
	const struct forest_node *v = p->f->nodes.v;
	uint32_t n = (uint32_t)p->f->nodes.n;
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		vec_push(&p->sums, sum);
		vec_push(&p->behind, i + 1);
		if (node_is(&v[i], KINDS_GPU))
			sum = num_add_max(sum, v[i].dur_ns);
	}
	vec_push(&p->sums, sum);
	for (uint32_t i = n; i-- > 0;)
		if (v[i].up != FOREST_NONE &&
		    p->behind.v[v[i].up] < p->behind.v[i])
			p->behind.v[v[i].up] = p->behind.v[i];
}

/* Adds when the GPU works on what nodes from one to another launched. */
static void
add_busy(const struct finder *p, struct spans *to, uint32_t from, uint32_t end)
{
	const struct forest_node *v = p->f->nodes.v;

	for (uint32_t i = from; i < end; i++)
		if (node_is(&v[i], KINDS_GPU) && v[i].dur_ns > 0)
			spans_add(to, v[i].ts_ns,
			    num_add_max(v[i].ts_ns, v[i].dur_ns));
}

static int64_t
take_total(struct spans *s)
{
	int64_t total;

	spans_normalise(s);
	total = spans_total(s);
	spans_free(s);
	return total;
}

/* Whether calls launch half; those of a thread may have others between them. */
static bool
has_half(const struct finder *p, const uint32_t *calls, size_t n)
{
	struct spans busy = { 0 };
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p->sums.v[p->behind.v[calls[i]]] - p->sums.v[calls[i]];
	if (sum < p->half)
		return false;
	for (size_t i = 0; i < n; i++)
		add_busy(p, &busy, calls[i], p->behind.v[calls[i]]);
	return take_total(&busy) >= p->half;
}

/* ---- what repeats ---- */

/* The name of a call, without the instance number of a Python frame. */
static uint32_t
name_of(struct finder *p, const struct forest_node *n)
{
	struct str name =
	    n->name != INTERN_NONE ? dict_get(p->f->st, n->name) : STR("");
	size_t len = name.len;

	while (len > 0 && name.p[len - 1] >= '0' && name.p[len - 1] <= '9')
		len--;
	if (n->kind == KIND_PYTHON && len > 0 && len < name.len &&
	    name.p[len - 1] == '_')
		name.len = len - 1;
	return intern_put(p->texts, name);
}

/* Factor of the rolling hash; any odd number will do. */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static void
hash_calls(struct finder *p, const uint32_t *calls, size_t n)
{
	uint64_t sum = 0;

	p->names.n = p->hashes.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = name_of(p, &p->f->nodes.v[calls[i]]);

		vec_push(&p->names, name);
		vec_push(&p->hashes, sum);
		sum = sum * HASH_FACTOR + hash_u64((uint64_t)name + 1);
	}
	vec_push(&p->hashes, sum);
}

/* The hash of a range of names. */
static uint64_t
hash_of(const struct finder *p, size_t from, size_t end)
{
	return p->hashes.v[end] - p->hashes.v[from] * p->powers.v[end - from];
}

/*
 * The repeated calls are more than half of those from their start on. So
 * whatever the start, calls repeat from the last start to the middle.
 */
static void
list_lengths(struct finder *p)
{
	size_t n = p->names.n, last = STARTS_MAX, middle = n / 2;

	p->lengths.n = 0;
	if (p->powers.n == 0)
		vec_push(&p->powers, 1);
	while (p->powers.n <= n) {
		uint64_t power = p->powers.v[p->powers.n - 1] * HASH_FACTOR;

		vec_push(&p->powers, power);
	}
	for (size_t length = 1; length * LEAST_COPIES <= n; length++)
		if (last + length >= middle ||
		    hash_of(p, last, middle - length) ==
			hash_of(p, last + length, middle))
			vec_push(&p->lengths, length);
}

/* How often, by hash, the calls from start on repeat in a row. */
static size_t
copies_of(const struct finder *p, size_t start, size_t length)
{
	size_t n = p->names.n, copies = 1;
	uint64_t first = hash_of(p, start, start + length);

	for (size_t at = start + length; at + length <= n; at += length) {
		if (hash_of(p, at, at + length) != first)
			break;
		copies++;
	}
	return copies;
}

/* Compares names, as equal hashes are no proof. */
static bool
repeats(const struct finder *p, const struct period *r)
{
	const uint32_t *first = p->names.v + r->start;

	return memcmp(first, first + r->length,
		   (r->copies - 1) * r->length * sizeof *first) == 0;
}

static bool
period_from(const struct finder *p, size_t start, struct period *found)
{
	size_t m = p->names.n - start;

	for (size_t i = 0; i < p->lengths.n; i++) {
		size_t length = p->lengths.v[i];
		struct period r = { start, length, 0 };

		if (length * LEAST_COPIES > m)
			break;
		r.copies = copies_of(p, start, length);
		if (r.copies < LEAST_COPIES || r.copies * length * 2 <= m ||
		    !repeats(p, &r))
			continue;
		*found = r;
		return true;
	}
	return false;
}

/* ---- iterations ---- */

static bool
take_iterations(const struct finder *p, const struct period *period,
    const uint32_t *calls, struct steps *to)
{
	const struct forest_node *v = p->f->nodes.v;

	steps_clear(to);
	to->said = (struct step_inferred){ period->length, STEP_FROM_OPS };
	for (size_t k = 0; k < period->copies; k++) {
		const uint32_t *own =
		    calls + period->start + k * period->length;
		const struct forest_node *first = &v[own[0]];
		const struct forest_node *last = &v[own[period->length - 1]];
		struct step_marker m = { .start_ns = first->ts_ns,
			.end_ns = num_add_max(last->ts_ns, last->dur_ns),
			.number = (int64_t)k + 1,
			.order = k,
			.pid = p->f->st->tracks.v[first->track].pid,
			.thread = dict_thread(p->f->st, first->track),
			.event = STEPS_NONE,
			.iteration = STEPS_NONE,
			.family = STEP_INFERRED,
			.is_inferred = true };

		if (m.start_ns >= m.end_ns)
			return false;
		vec_push(&to->markers, m);
	}
	steps_ready(to);
	return true;
}

/* Whether a place's calls are iterations; else queues them. */
static bool
look_at(struct finder *p, uint32_t place, struct steps *to)
{
	const uint32_t *calls = p->kids.v + p->first.v[place];
	size_t n = p->first.v[place + 1] - p->first.v[place];
	struct period r;

	if (!has_half(p, calls, n))
		return false;
	hash_calls(p, calls, n);
	list_lengths(p);
	for (size_t start = 0; start < n && start < STARTS_MAX; start++) {
		if (!period_from(p, start, &r))
			continue;
		if (!has_half(p, calls + start, r.copies * r.length))
			start += r.copies * r.length - 1;
		else if (take_iterations(p, &r, calls, to))
			return true;
	}
	for (size_t i = 0; i < n; i++)
		if (has_half(p, calls + i, 1))
			vec_push(&p->queue, calls[i]);
	return false;
}

bool
period_find(struct steps *to, const struct forest *f)
{
	struct finder p = { .f = f, .texts = intern_create() };
	struct spans busy = { 0 };
	bool found = false;
	int64_t total;

	add_busy(&p, &busy, 0, (uint32_t)f->nodes.n);
	total = take_total(&busy);
	p.half = total / 2 + total % 2;
	if (total > 0) {
		measure(&p);
		list_calls(&p);
		for (size_t t = 0; t < p.threads.n; t++)
			vec_push(&p.queue, (uint32_t)(f->nodes.n + t));
		for (size_t q = 0; q < p.queue.n && !found; q++)
			found = look_at(&p, p.queue.v[q], to);
	}
	if (!found)
		steps_clear(to);
	vec_free(&p.sums);
	vec_free(&p.behind);
	vec_free(&p.first);
	vec_free(&p.kids);
	vec_free(&p.queue);
	vec_free(&p.names);
	vec_free(&p.hashes);
	vec_free(&p.lengths);
	vec_free(&p.powers);
	map_free(&p.threads);
	intern_destroy(p.texts);
	return found;
}

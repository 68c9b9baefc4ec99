/* SPDX-License-Identifier: MIT */
/*
 * What a GPU did between the collectives of a source: spells of other work and
 * of idle time, and when each kernel started.
 */
#include "cmd/tl-collective/reduce.h"

#include <stdlib.h>

#include "trace/laws.h"
#include "json/json.h"

const char *const spent_words[SPENT_COUNT] = { "idle", "op", "kernel" };

/* Number of longest names kept of a window. */
#define SPENT_KEPT 32
/*
 * Limit of passes over all spells. Windows of each group cover all spells once;
 * with many groups, later windows have no detail.
 */
#define LOOKS_MAX 64

static int
by_began(const void *pa, const void *pb)
{
	const struct began *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* Index of the first spell that ends after t. */
static size_t
first_behind(const spell_vec *s, int64_t t)
{
	size_t n;

	bisect(n, s->n, mid, s->v[mid].end_ns <= t);
	return n;
}

static int64_t
covered(const spell_vec *s, int64_t t)
{
	size_t n = first_behind(s, t);
	int64_t before = n > 0
	    ? s->v[n - 1].sum_ns + s->v[n - 1].end_ns - s->v[n - 1].start_ns
	    : 0;

	return n < s->n && s->v[n].start_ns < t ? before + t - s->v[n].start_ns
						: before;
}

/* Sets each spell's sum of earlier ones. */
static void
add_up(spell_vec *s)
{
	for (size_t i = 1; i < s->n; i++)
		s->v[i].sum_ns = s->v[i - 1].sum_ns +
		    (s->v[i - 1].end_ns - s->v[i - 1].start_ns);
}

/* Sum of hashes of the kernels that started before t. */
static uint32_t
work_before(const struct windows *w, int64_t t)
{
	size_t n;

	bisect(n, w->began.n, mid, w->began.v[mid].start_ns < t);
	return n > 0 ? w->began.v[n - 1].hash : 0;
}

uint32_t
spent_name(struct intern *names, struct buf *b, enum spent_on on,
    struct str name, struct str detail)
{
	const struct str parts[] = { str_of(spent_words[on]), name, detail };

	b->len = 0;
	for (size_t i = 0; i < 3; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		json_put_string(b, parts[i]);
	}
	buf_putc(b, ']');
	return intern_put(names, buf_str(b));
}

/* Names pieces of gaps by cause and event. */
static void
find_idle(struct windows *w, const struct host *h, const struct gaps *g,
    struct intern *names)
{
	struct map known = { 0 };
	struct buf b = { 0 };

	w->idle.n = 0;
	for (size_t i = 0; i < g->pieces.n; i++) {
		const struct gap_piece *p = &g->pieces.v[i];
		uint32_t culprit = host_culprit(h, p->event, p->cause);
		uint32_t event = culprit != HOST_NONE
		    ? h->events.v[culprit].name
		    : INTERN_NONE;
		bool is_new;
		uint64_t *slot;

		if (p->start_ns >= p->end_ns)
			continue;
		slot =
		    map_put(&known, (uint64_t)p->cause << 32 | event, &is_new);
		if (is_new)
			*slot = spent_name(names, &b, SPENT_IDLE,
			    str_of(cause_words[p->cause]),
			    dict_get(h->dict, event));
		vec_push(&w->idle,
		    ((struct spell){
			p->start_ns, p->end_ns, 0, (uint32_t)*slot }));
	}
	add_up(&w->idle);
	buf_free(&b);
	map_free(&known);
}

/* Sums by name, and the names that occurred. */
struct tally {
	int64_t *ns;
	VEC(struct spent) seen;
	size_t nlooks;
};

static void
tally_window(struct tally *t, const spell_vec *s, int64_t from, int64_t to)
{
	for (size_t i = first_behind(s, from);
	     i < s->n && s->v[i].start_ns < to; i++, t->nlooks++) {
		const struct spell *at = &s->v[i];
		int64_t a = at->start_ns > from ? at->start_ns : from;
		int64_t b = at->end_ns < to ? at->end_ns : to;

		if (t->ns[at->name] == 0)
			vec_push(&t->seen, ((struct spent){ 0, at->name }));
		t->ns[at->name] += b - a;
	}
}

static int
by_time(const void *pa, const void *pb)
{
	const struct spent *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void
put_spent(struct windows *w, struct tally *t, struct rec *rec)
{
	for (size_t i = 0; i < t->seen.n; i++) {
		t->seen.v[i].ns = t->ns[t->seen.v[i].name];
		t->ns[t->seen.v[i].name] = 0;
	}
	stable_sort(t->seen.v, t->seen.n, sizeof *t->seen.v, by_time);
	rec->spent = (uint32_t)w->spent.n;
	for (size_t i = 0; i < t->seen.n && i < SPENT_KEPT; i++)
		vec_push(&w->spent, t->seen.v[i]);
	rec->nspent = (uint32_t)(w->spent.n - rec->spent);
	t->seen.n = 0;
}

static void
fill_one(struct windows *w, struct rec *rec, int64_t from, struct tally *t)
{
	int64_t to = rec->start_ns;

	rec->busy_ns = covered(&w->work, to) - covered(&w->work, from);
	rec->idle_ns = covered(&w->idle, to) - covered(&w->idle, from);
	rec->else_ns = to - from - rec->busy_ns - rec->idle_ns;
	law_sum("straggler_cause",
	    (const struct law_part[]){ { "other work", rec->busy_ns },
		{ "idle time", rec->idle_ns }, { "the rest", rec->else_ns } },
	    3, (struct law_part){ "time between collectives", to - from });
	rec->work = work_before(w, to) - work_before(w, from);
	if (t->nlooks / LOOKS_MAX > w->work.n + w->idle.n)
		return;
	tally_window(t, &w->work, from, to);
	tally_window(t, &w->idle, from, to);
	put_spent(w, t, rec);
}

void
windows_fill(struct windows *w, const struct host *h, const struct gaps *gaps,
    struct rec *recs, size_t n, const uint32_t *group_of, size_t ngroups,
    struct intern *names)
{
	int64_t *last = xcalloc(ngroups + 1, sizeof *last);
	struct tally t = { 0 };

	for (size_t i = 0; i < ngroups; i++)
		last[i] = INT64_MIN;
	w->spent.n = 0;
	add_up(&w->work);
	find_idle(w, h, gaps, names);
	t.ns = xcalloc(names->list.n + 1, sizeof *t.ns);
	stable_sort(w->began.v, w->began.n, sizeof *w->began.v, by_began);
	for (size_t i = 1; i < w->began.n; i++)
		w->began.v[i].hash += w->began.v[i - 1].hash;
	for (size_t i = 0; i < n; i++) {
		struct rec *rec = &recs[i];
		int64_t *from = &last[group_of[rec->sig]];

		if (*from != INT64_MIN)
			fill_one(w, rec,
			    *from < rec->start_ns ? *from : rec->start_ns, &t);
		if (rec_end(rec) > *from)
			*from = rec_end(rec);
	}
	vec_free(&t.seen);
	free(t.ns);
	free(last);
}

void
exposed_fill(
    const struct spans *compute, const struct rec *recs, size_t n, int64_t *ns)
{
	spell_vec s = { 0 };

	for (size_t i = 0; i < compute->n; i++)
		vec_push(&s,
		    ((struct spell){
			compute->v[i].start, compute->v[i].end, 0, 0 }));
	add_up(&s);
	for (size_t i = 0; i < n; i++) {
		int64_t hidden = covered(&s, rec_end(&recs[i])) -
		    covered(&s, recs[i].start_ns);

		ns[i] = recs[i].dur_ns - hidden;
		law_sum("coll_analysis",
		    (const struct law_part[]){ { "exposed_ns", ns[i] },
			{ "time beside computation", hidden } },
		    2, (struct law_part){ "dur_ns", recs[i].dur_ns });
	}
	vec_free(&s);
}

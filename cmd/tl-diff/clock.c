/* SPDX-License-Identifier: MIT */
#include "cmd/tl-diff/clock.h"
#include "cmd/tl-diff/diff.h"
#include "trace/pace.h"

struct clock {
	struct norms *nm;
	struct causes *causes;
	struct host host;
	struct steps steps;
	bool is_matched; /* --match: steps of a phase are of one kind */
	struct parts parts;
	pace_list pace;      /* by window */
	struct map selected; /* numbers of steps with selected events */
	struct map piece_of; /* of the current step: cause and name to index */
};

struct clock *
clock_create(struct norms *nm, const struct settings *set)
{
	struct clock *c = xcalloc(1, sizeof *c);

	c->nm = nm;
	c->is_matched = set->match != NULL;
	c->steps.only_iterations = set->select.of_iterations;
	c->causes = causes_create();
	if (set->causes != NULL)
		causes_load(c->causes, set->causes);
	return c;
}

void
clock_destroy(struct clock *c)
{
	if (c == NULL)
		return;
	host_free(&c->host);
	steps_free(&c->steps);
	parts_free(&c->parts);
	causes_destroy(c->causes);
	vec_free(&c->pace);
	map_free(&c->selected);
	vec_release(c);
}

void
clock_start(struct clock *c)
{
	host_start(&c->host, c->nm->st, c->causes);
}

void
clock_add(struct clock *c, const struct event *ev)
{
	size_t n = c->host.gpus.n;

	host_add(&c->host, ev);
	if (c->host.gpus.n > n)
		c->host.gpus.v[n].tag =
		    (uint8_t)bucket_of_event(&c->nm->buckets, c->nm->st, ev);
}

void
clock_select(struct clock *c, const struct step_window *step)
{
	if (step != NULL && step->what == STEP_IS_STEP)
		(void)map_put(&c->selected, (uint64_t)step->number, NULL);
}

/* ---- what counts as a step's time ---- */

/* The kind of a window: equal kinds are compared. */
static uint32_t
kind_of(const struct clock *c, const struct step_window *w)
{
	bool is_between = w->what == STEP_IS_BETWEEN;
	const struct iteration *it =
	    is_between ? NULL : steps_iteration(&c->steps, w);
	struct dict *st = c->nm->st;
	struct buf b = { 0 };
	uint32_t kind;

	if (w->what == STEP_IS_WHOLE)
		return intern_put(st->text, STR("GPU span"));
	if (it != NULL && it->phase >= PHASE_PREFILL)
		buf_printf(&b, "%s ", phase_words[it->phase]);
	buf_puts(&b, is_between ? "time between steps" : "step");
	/* inferred steps are not compared with marked ones */
	if (c->steps.inferred > 0)
		buf_puts(&b, " (inferred)");
	if (it != NULL && it->has_requests && it->num_requests > 0 &&
	    !c->is_matched)
		buf_printf(&b, " (batch %" PRId64 ")", it->num_requests);
	kind = intern_put(st->text, buf_str(&b));
	buf_free(&b);
	return kind;
}

/*
 * Where the host only enqueues, a step lasts from the end of the previous
 * step's GPU work to the end of its own.
 */
static void
pace_by_gpu(pace_list *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct pace *v = &p->v[i];

		if (!v->is_gpu)
			continue;
		/* such steps have no time between them */
		v->end_ns = v->start_ns;
		if (v->gpu_wall_ns != PACE_NONE) {
			v->end_ns = v->done_ns;
			v->start_ns = v->done_ns - v->gpu_wall_ns;
		}
	}
}

/* ---- parts of a step ---- */

static int
by_cause(const void *x, const void *y)
{
	const struct step_piece *a = x, *b = y;

	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* The piece of a cause and name in this step, made if new. */
static struct step_piece *
piece_of(struct clock *c, struct step_times *t, size_t first, unsigned cause,
    uint32_t name)
{
	uint32_t at = map_number(&c->piece_of, (uint64_t)cause << 32 | name);

	if (first + at == t->pieces.n)
		vec_push(&t->pieces,
		    ((struct step_piece){
			.name = name, .cause = (uint8_t)cause }));
	return &t->pieces.v[first + at];
}

static void
add_piece(struct clock *c, struct step_times *t, size_t first, unsigned cause,
    uint32_t event, int64_t ns)
{
	const struct host_event *e =
	    event != HOST_NONE ? &c->host.events.v[event] : NULL;
	struct step_piece *to = piece_of(c, t, first, cause,
	    e == NULL || steps_is_marker(&c->steps, &c->host, event)
		? INTERN_NONE
		: name_strict(c->nm, e->name));

	to->ns += ns;
	if (e == NULL || ns <= to->longest_ns)
		return;
	to->longest_ns = ns;
	to->uid = e->uid;
	to->has_uid = true;
}

/* Adds the pieces of the gaps in a step. */
static void
add_pieces(struct clock *c, struct step_times *t, struct step_time *s,
    const struct pace *at)
{
	const struct gaps *g = &c->parts.gaps;
	size_t first = t->pieces.n, i;

	bisect(i, g->list.n, mid, g->list.v[mid].end_ns <= at->start_ns);
	for (; i < g->list.n && g->list.v[i].start_ns < at->end_ns; i++) {
		const struct gap *gap = &g->list.v[i];

		for (uint32_t k = gap->first; k < gap->first + gap->n; k++) {
			const struct gap_piece *p = &g->pieces.v[k];
			int64_t from = p->start_ns, to = p->end_ns;

			from = from > at->start_ns ? from : at->start_ns;
			to = to < at->end_ns ? to : at->end_ns;
			if (from >= to)
				continue;
			add_piece(c, t, first, p->cause,
			    host_culprit(&c->host, p->event, p->cause),
			    to - from);
			if (!gap_is_behind_opener(gap, p))
				continue;
			add_piece(c, t, first, TERM_OPENED, gap->opened_by,
			    to - from);
			s->opened_ns += to - from;
		}
	}
	map_free(&c->piece_of);
	stable_sort(t->pieces.v + first, t->pieces.n - first,
	    sizeof *t->pieces.v, by_cause);
}

static void
add_step(struct clock *c, struct step_times *to, uint32_t window)
{
	const struct step_window *w = &c->steps.list.v[window];
	const struct pace *at = &c->pace.v[window];
	struct step_time s = { .ns = at->end_ns - at->start_ns,
		.no = w->what == STEP_IS_WHOLE ? WALK_NO_STEP : w->number,
		.kind = kind_of(c, w),
		.first = (uint32_t)to->pieces.n,
		.is_gpu = at->is_gpu };

	/* the first of steps paced by the GPU has no start */
	if (s.ns <= 0)
		return;
	if (w->marker != HOST_NONE) {
		s.uid = c->host.events.v[w->marker].uid;
		s.has_uid = true;
	}
	if (c->host.gpus.n > 0) {
		parts_within(&c->parts, at->start_ns, at->end_ns, s.parts);
		add_pieces(c, to, &s, at);
	}
	s.n = (uint32_t)to->pieces.n - s.first;
	vec_push(&to->list, s);
}

/*
 * Keeps steps with selected events, as a filtered trace has the marks of all
 * steps, unless no GPU event tells whether the GPU was idle. Time between steps
 * goes with the step before.
 */
static void
add_steps(struct clock *c, struct step_times *to)
{
	bool is_kept = false;

	for (uint32_t i = 0; i < c->steps.list.n; i++) {
		const struct step_window *w = &c->steps.list.v[i];
		bool is_step = w->what == STEP_IS_STEP;
		bool is_selected = is_step &&
		    map_get(&c->selected, (uint64_t)w->number) != NULL;

		if (is_step)
			is_kept = is_selected && w->has_gpu;
		if (is_kept || w->what == STEP_IS_WHOLE)
			add_step(c, to, i);
		else if (is_selected && c->host.gpus.n > 0)
			vec_push(&to->bare, w->number);
	}
}

void
clock_end(struct clock *c, struct side *r)
{
	host_ready(&c->host);
	steps_find(&c->steps, &c->host, NULL, 0);
	steps_find_gpu(&c->steps, &c->host);
	paces_find(&c->pace, &c->steps, &c->host);
	if (c->host.gpus.n > 0)
		parts_find(&c->parts, &c->host, &c->steps);
	pace_by_gpu(&c->pace);
	add_steps(c, &r->times);
	map_free(&c->selected);
}

void
step_times_add(struct step_times *to, const struct step_times *from,
    uint32_t run, uint32_t src)
{
	uint32_t first = (uint32_t)to->pieces.n;

	for (size_t i = 0; i < from->list.n; i++) {
		struct step_time s = from->list.v[i];

		s.run = run;
		s.src = src;
		s.first += first;
		vec_push(&to->list, s);
	}
	for (size_t i = 0; i < from->pieces.n; i++)
		vec_push(&to->pieces, from->pieces.v[i]);
	for (size_t i = 0; i < from->bare.n; i++)
		vec_push(&to->bare, from->bare.v[i]);
}

void
step_times_free(struct step_times *t)
{
	vec_free(&t->list);
	vec_free(&t->pieces);
	vec_free(&t->bare);
}

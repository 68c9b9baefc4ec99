/* SPDX-License-Identifier: MIT */
/* Does each piece of GPU work have its launch, and each launch its work? */
#include "cmd/tl-health/health.h"

#include <math.h>
#include <stdlib.h>

/* ---- ids of calls, as they come ---- */

static uint64_t
id_of_call(const struct subject *s, const struct track *t, struct key corr)
{
	uint64_t id = (uint64_t)corr.n;

	/* in traces of APIs each process counts its own ids */
	return s->is_api_trace ? hash_more(hash_u64(id), (uint64_t)t->pid.n)
			       : id;
}

void
links_take_call(struct health *h, const struct event *ev)
{
	struct subject *s = &h->subject;
	const struct track *tracks = h->dict->tracks.v;
	struct call call = { ev->ts_ns, num_add_max(ev->ts_ns, ev->dur_ns),
		ev->uid, ev->track, HOST_NONE };
	bool is_new;
	uint64_t *at;

	s->ncalls++;
	if (ev->corr.type != KEY_INT)
		return;
	at = map_put(
	    &s->call_of, id_of_call(s, &tracks[ev->track], ev->corr), &is_new);
	if (!is_new)
		call.before = (uint32_t)*at;
	*at = s->calls.n;
	vec_push(&s->calls, call);
}

static int
by_begin(const void *x, const void *y)
{
	const struct call *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

/* Judges the calls of one id, which belongs to the earliest. */
static void
judge_calls(struct health *h, const struct call *v, size_t n)
{
	const struct track *tracks = h->dict->tracks.v;
	struct subject *s = &h->subject;

	for (size_t i = 1; i < n; i++) {
		if (!key_eq(tracks[v[0].track].pid, tracks[v[i].track].pid))
			tally_event(&s->of[CHECK_LINK_PROCESSES], v[i].uid, 0);
		/* a driver's call within a runtime's shares its id rightly */
		else if (tracks[v[0].track].thread !=
			tracks[v[i].track].thread ||
		    v[i].start_ns >= v[0].end_ns ||
		    v[0].start_ns >= v[i].end_ns)
			tally_event(&s->of[CHECK_LINK_SHARED], v[i].uid, 0);
	}
}

/* Finds ids of several calls, from the last call of each. */
static void
check_calls(struct health *h)
{
	struct subject *s = &h->subject;
	VEC(struct call) same = { 0 };

	for (size_t i = s->calls.n; i-- > 0;) {
		uint32_t at = (uint32_t)i, next;

		if (s->calls.v[i].before == HOST_NONE)
			continue;
		same.n = 0;
		for (; at != HOST_NONE; at = next) {
			vec_push(&same, s->calls.v[at]);
			next = s->calls.v[at].before;
			s->calls.v[at].before = HOST_NONE;
		}
		stable_sort(same.v, same.n, sizeof *same.v, by_begin);
		judge_calls(h, same.v, same.n);
	}
	vec_free(&same);
}

/* ---- flows ---- */

/* The ends of a flow share category, name and id. */
void
links_take_flow(struct health *h, const struct event *ev)
{
	struct entries it = entries_of(h->dict, ev);
	struct subject *s = &h->subject;
	struct flow *f;
	bool is_new, has_id = false;
	uint64_t *at, id = 0;

	while (entries_next(&it))
		if (it.entry->group == GROUP_TOP &&
		    it.entry->key == h->id_key) {
			has_id = true;
			id = it.val.type == VAL_INT ? (uint64_t)it.val.i
						    : it.val.id;
		}
	if (!has_id)
		return;
	id = hash_more(hash_u64(id), (uint64_t)ev->name << 32 | ev->shape->cat);
	at = map_put(&s->flow_of, id, &is_new);
	if (is_new) {
		*at = s->flows.n;
		vec_push(&s->flows, ((struct flow){ .uid = ev->uid }));
	}
	f = &s->flows.v[*at];
	f->begins |= ev->shape->ph == 's';
	f->ends |= ev->shape->ph == 'f';
}

static void
check_flows(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally t = { 0 };

	for (size_t i = 0; i < s->flows.n; i++)
		if (!s->flows.v[i].begins || !s->flows.v[i].ends)
			tally_event(&t, s->flows.v[i].uid, 0);
	found(h, CHECK_LINK_FLOWS, &t,
	    percent_of((double)t.n, (double)s->flows.n));
}

/* ---- GPU events ---- */

static void
check_gpu_events(struct health *h)
{
	struct subject *s = &h->subject;
	const struct host *host = &s->host;
	struct tally *early = &s->of[CHECK_COVER_BEGIN];
	struct tally *alone = &s->of[CHECK_LINK_NO_LAUNCH];
	struct tally *no_op = &s->of[CHECK_LINK_NO_OP];
	struct tally *no_id = &s->of[CHECK_LINK_NO_ID];

	for (size_t i = 0; i < host->gpus.n; i++) {
		const struct host_gpu *k = &host->gpus.v[i];
		int64_t dur = k->end_ns - k->start_ns;

		if (k->launch != HOST_NONE) {
			if (s->nops > 0 &&
			    host_above(host, k->launch, false) == INTERN_NONE)
				tally_event(no_op, k->uid, dur);
			continue;
		}
		if (k->corr.type == KEY_NONE ||
		    (k->corr.type == KEY_INT && k->corr.n == 0))
			tally_event(no_id, k->uid, dur);
		else if (k->corr.type == KEY_INT &&
		    k->corr.n < host->first_corr)
			tally_event(early, k->uid, dur);
		else
			tally_event(alone, k->uid, dur);
	}
	for (size_t i = 0; i < 4; i++) {
		static const enum check list[] = { CHECK_COVER_BEGIN,
			CHECK_LINK_NO_LAUNCH, CHECK_LINK_NO_OP,
			CHECK_LINK_NO_ID };

		found(h, list[i], &s->of[list[i]],
		    percent_of((double)s->of[list[i]].ns, (double)s->gpu_ns));
	}
}

/* ---- launches ---- */

#define STRETCHES 20
#define FEW_LAUNCHES 10

/* Launches in equal parts of the time in which any was made. */
struct stretches {
	struct span whole;
	uint64_t launches[STRETCHES], lost[STRETCHES];
};

static size_t
stretch_at(const struct stretches *st, int64_t ns)
{
	double at = ((double)ns - (double)st->whole.start) /
	    ((double)st->whole.end - (double)st->whole.start + 1);

	/* rounding may give 1 for the last one */
	return at < 1 ? (size_t)(at * STRETCHES) : STRETCHES - 1;
}

/* The launch of a kernel or graph without GPU work, outside of graph
 * captures. */
static bool
is_lost(const struct subject *s, const struct host_event *e)
{
	return e->ngpu == 0 && !e->launches_below &&
	    (e->up == HOST_NONE || !is_call(&s->host.events.v[e->up])) &&
	    map_get(&s->launched, uid_hash(e->uid)) == NULL;
}

/* Times of launches; those after the last one with work are at the end. */
struct launch_list {
	VEC(uint32_t) done, lost;
	int64_t last_ns;
};

static void
list_launches(struct health *h, struct launch_list *l)
{
	const struct host *host = &h->subject.host;
	uint32_t thread = HOST_NONE;
	bool is_captured = false;

	l->last_ns = INT64_MIN;
	for (uint32_t i = 0; i < host->events.n; i++) {
		const struct host_event *e = &host->events.v[i];
		unsigned facts;

		if (e->thread != thread)
			is_captured = false;
		thread = e->thread;
		if (!is_call(e))
			continue;
		facts = name_facts(h, e->name, NAME_OF_CALL);
		if ((facts & NAME_BEGINS_CAPTURE) != 0)
			is_captured = true;
		if ((facts & NAME_ENDS_CAPTURE) != 0)
			is_captured = false;
		if ((facts & NAME_LAUNCHES) == 0 || is_captured)
			continue;
		if (e->ngpu > 0) {
			vec_push(&l->done, i);
			if (e->start_ns > l->last_ns)
				l->last_ns = e->start_ns;
		} else if (is_lost(&h->subject, e)) {
			vec_push(&l->lost, i);
		}
	}
}

static void
check_stretches(struct health *h, const struct launch_list *l)
{
	const struct host_event *v = h->subject.host.events.v;
	struct stretches st = { .whole = { INT64_MAX, l->last_ns } };
	struct tally t = { .ns = -1 };

	for (size_t i = 0; i < l->done.n + l->lost.n; i++) {
		const struct host_event *e =
		    &v[i < l->done.n ? l->done.v[i] : l->lost.v[i - l->done.n]];

		if (e->start_ns < st.whole.start)
			st.whole.start = e->start_ns;
	}
	for (size_t i = 0; i < l->done.n; i++)
		st.launches[stretch_at(&st, v[l->done.v[i]].start_ns)]++;
	for (size_t i = 0; i < l->lost.n; i++) {
		const struct host_event *e = &v[l->lost.v[i]];

		if (e->start_ns > l->last_ns)
			continue;
		st.launches[stretch_at(&st, e->start_ns)]++;
		st.lost[stretch_at(&st, e->start_ns)]++;
	}
	for (size_t i = 0; i < STRETCHES; i++)
		t.n += st.launches[i] >= FEW_LAUNCHES &&
		    st.lost[i] * 2 > st.launches[i];
	found(h, CHECK_COVER_STARVED, &t, percent_of((double)t.n, STRETCHES));
}

static void
check_launches(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally *lost = &s->of[CHECK_LINK_NO_WORK];
	struct tally *end = &s->of[CHECK_COVER_END];
	struct launch_list l = { 0 };
	double whole;

	list_launches(h, &l);
	whole = (double)(l.done.n + l.lost.n);
	for (size_t i = 0; l.done.n > 0 && i < l.lost.n; i++) {
		const struct host_event *e = &s->host.events.v[l.lost.v[i]];

		tally_event(e->start_ns > l.last_ns ? end : lost, e->uid, 0);
	}
	found(h, CHECK_LINK_NO_WORK, lost, percent_of((double)lost->n, whole));
	found(h, CHECK_COVER_END, end, percent_of((double)end->n, whole));
	if (lost->n > 0)
		check_stretches(h, &l);
	vec_free(&l.done);
	vec_free(&l.lost);
}

/* ---- replays of graphs ---- */

/* A graph launch and its number of GPU events. */
struct replay {
	uint64_t graph;
	uint64_t n;
	uint32_t launch;
	struct uid uid;
};

static int
by_launch(const void *x, const void *y)
{
	const struct replay *a = x, *b = y;

	return (a->launch > b->launch) - (a->launch < b->launch);
}

static int
by_graph(const void *x, const void *y)
{
	const struct replay *a = x, *b = y;

	if (a->graph != b->graph)
		return a->graph < b->graph ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

typedef VEC(struct replay) replay_list;

static void
list_replays(const struct subject *s, replay_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < s->host.gpus.n; i++) {
		const struct host_gpu *k = &s->host.gpus.v[i];

		if (k->launch != HOST_NONE && s->more.v[k->no].graph != 0)
			vec_push(list,
			    ((struct replay){ s->more.v[k->no].graph, 1,
				k->launch, s->host.events.v[k->launch].uid }));
	}
	stable_sort(list->v, list->n, sizeof *list->v, by_launch);
	for (size_t i = 0; i < list->n; i++)
		if (n > 0 && list->v[n - 1].launch == list->v[i].launch)
			list->v[n - 1].n++;
		else
			list->v[n++] = list->v[i];
	list->n = n;
}

/* Counts replays of a graph whose number of GPU events is not the most
 * frequent. */
static void
check_graphs(struct health *h)
{
	struct tally *t = &h->subject.of[CHECK_LINK_GRAPHS];
	replay_list list = { 0 };
	size_t end, usual, best;

	list_replays(&h->subject, &list);
	stable_sort(list.v, list.n, sizeof *list.v, by_graph);
	for (size_t i = 0; i < list.n; i = end) {
		best = usual = 0;
		for (end = i;
		     end < list.n && list.v[end].graph == list.v[i].graph;) {
			size_t from = end;

			while (end < list.n &&
			    list.v[end].graph == list.v[i].graph &&
			    list.v[end].n == list.v[from].n)
				end++;
			/* ties: the larger number */
			if (end - from >= best) {
				best = end - from;
				usual = list.v[from].n;
			}
		}
		for (size_t k = i; k < end; k++)
			if (list.v[k].n != usual)
				tally_event(t, list.v[k].uid, 0);
	}
	found(
	    h, CHECK_LINK_GRAPHS, t, percent_of((double)t->n, (double)list.n));
	vec_free(&list);
}

void
check_links(struct health *h)
{
	struct subject *s = &h->subject;

	check_flows(h);
	if (s->ncalls == 0) {
		found(h, CHECK_COVER_NO_CALLS,
		    &(struct tally){ .n = s->ngpu, .ns = -1 }, NAN);
		return;
	}
	check_calls(h);
	check_gpu_events(h);
	check_launches(h);
	check_graphs(h);
	for (int c = CHECK_LINK_SHARED; c <= CHECK_LINK_PROCESSES; c++)
		found(h, (enum check)c, &s->of[c],
		    percent_of((double)s->of[c].n, (double)s->ncalls));
	found(h, CHECK_LINK_BACKWARD, &s->of[CHECK_LINK_BACKWARD],
	    percent_of(
		(double)s->of[CHECK_LINK_BACKWARD].n, (double)s->nwrappers));
}

/* SPDX-License-Identifier: MIT */
/* The shared selection: its options, and selecting events in order. */
#include <stdlib.h>

#include "trace/select-inside.h"

/* ---- options ---- */

bool
select_range_parse(struct str s, struct select_range *r)
{
	struct str low = s, high;
	const char *dash;

	if (num_i64(s, &r->low)) {
		r->high = r->low;
		return true;
	}
	if (s.len < 3 || (dash = memchr(s.p + 1, '-', s.len - 1)) == NULL)
		return false;
	low.len = (size_t)(dash - s.p);
	high = (struct str){ dash + 1, s.len - low.len - 1 };
	return num_i64(low, &r->low) && num_i64(high, &r->high) &&
	    r->low <= r->high;
}

/* Words must be in the list, or may be any if words is NULL. */
static void
id_set_opt(struct id_set *set, const struct optparse *op,
    const char *const words[], const char *what)
{
	const char *list = op->arg;
	struct str item;
	struct select_range r;

	while (str_next(&list, ',', &item)) {
		size_t i = 0;

		if (select_range_parse(item, &r)) {
			vec_push(&set->ranges, r);
			continue;
		}
		while (words != NULL && words[i] != NULL &&
		    !str_eq(item, str_of(words[i])))
			i++;
		if (item.len == 0 || (words != NULL && words[i] == NULL))
			die_usage("option '%s' needs %s, not '%s'", op->name,
			    what, op->arg);
		vec_push(&set->words, item);
	}
}

static bool
id_set_has(const struct id_set *set, int64_t n)
{
	for (size_t i = 0; i < set->ranges.n; i++)
		if (set->ranges.v[i].low <= n && n <= set->ranges.v[i].high)
			return true;
	return false;
}

static bool
id_set_has_key(const struct id_set *set, const struct dict *st, struct key key)
{
	if (key.type == KEY_INT)
		return id_set_has(set, key.n);
	if (key.type != KEY_STR)
		return false;
	for (size_t i = 0; i < set->words.n; i++)
		if (str_eq(set->words.v[i], dict_get(st, (uint32_t)key.n)))
			return true;
	return false;
}

static uint8_t
opt_phases(const struct optparse *op)
{
	const char *list = op->arg;
	unsigned phases = 0;
	struct str item;

	while (str_next(&list, ',', &item)) {
		enum phase phase = phase_of_word(item);

		if (phase == PHASE_COUNT)
			die_usage("option '%s' needs prefill, decode, mixed, "
				  "generic or outside, not '%s'",
			    op->name, op->arg);
		phases |= 1u << phase;
	}
	return (uint8_t)phases;
}

bool
select_opt(struct select *s, const struct optparse *op, int ch)
{
	static const char *const none[] = { NULL };

	switch (ch) {
	case OPT_SELECT_ANNOTATION:
		vec_push(&s->annotations, str_of(op->arg));
		break;
	case OPT_SELECT_BY_GPU_TIME: s->by_gpu_time = true; break;
	case OPT_SELECT_DEV:
		id_set_opt(&s->devs, op, NULL, "devices such as 0 or 0,2-3");
		break;
	case OPT_SELECT_FROM:
		s->from_ns = opt_time(op);
		s->has_from = true;
		break;
	case OPT_SELECT_GPU_STREAM:
		id_set_opt(
		    &s->gpu_streams, op, NULL, "GPU streams such as 7 or 7,20");
		break;
	case OPT_SELECT_KIND: s->kinds |= opt_kinds(op); break;
	case OPT_SELECT_MIN_DUR: s->min_dur_ns = opt_time(op); break;
	case OPT_SELECT_NAME: vec_push(&s->names, str_of(op->arg)); break;
	case OPT_SELECT_PHASE: s->phases |= opt_phases(op); break;
	case OPT_SELECT_RANK:
		id_set_opt(&s->ranks, op, none, "ranks such as 0 or 0,4-7");
		break;
	case OPT_SELECT_STEP: select_steps_opt(s, op); break;
	case OPT_SELECT_TO:
		s->to_ns = opt_time(op);
		s->has_to = true;
		break;
	default: return false;
	}
	s->is_of_events |=
	    ch != OPT_SELECT_RANK && ch != OPT_SELECT_BY_GPU_TIME;
	return true;
}

/* ---- selecting ---- */

static void
free_labels(struct select *s)
{
	for (size_t i = 0; i < s->labels.n; i++)
		free(s->labels.v[i]);
	s->labels.n = 0;
}

void
select_start(
    struct select *s, const struct stream_in *in, uint32_t first_source)
{
	if (s->windows == NULL)
		s->windows = xcalloc(1, sizeof *s->windows);
	select_windows_leave(s);
	s->first_source = first_source;
	s->src = 0;
	s->windows->steps.only_iterations = s->of_iterations;
	s->dict = in->dict;
	s->in = in;
	s->rank_known.n = s->first_ns.n = 0;
	free_labels(s);
	s->launches.n = 0;
	s->has_when = s->met.has_times = false;
	s->met.longest_ns = -1;
	s->by_window = select_by_annotations(s) || s->has_from || s->has_to;
	s->asks_all = !s->by_window && select_takes_any(s) &&
	    (id_set_is_empty(&s->ranks) || s->late_ranks);
}

bool
select_rank(const struct select *s, int64_t rank)
{
	return id_set_is_empty(&s->ranks) || id_set_has(&s->ranks, rank);
}

bool
select_source(const struct select *s, const struct source *src)
{
	const struct fact *f;

	if (id_set_is_empty(&s->ranks))
		return true;
	f = source_fact(src, "rank");
	return f != NULL && f->val.type == VAL_INT && select_rank(s, f->val.i);
}

enum {
	UNKNOWN,
	YES,
	NO,
};

static void
take_source(struct select *s, const struct source *src)
{
	const struct fact *f = source_fact(src, "first");
	const struct fact *rank = source_fact(src, "rank");

	iteration_formats_of(src);
	select_meet_source(s, s->first_source + src->src);
	while (s->rank_known.n <= src->src) {
		vec_push(&s->rank_known, UNKNOWN);
		vec_push(&s->first_ns, INT64_MIN);
		vec_push(&s->labels, NULL);
	}
	s->rank_known.v[src->src] = select_source(s, src) ? YES : NO;
	if (rank != NULL && rank->val.type == VAL_INT)
		there_meet_key(
		    &s->ranks_met, (struct key){ rank->val.i, KEY_INT });
	if (f != NULL && f->val.type == VAL_INT)
		s->first_ns.v[src->src] = f->val.i;
	free(s->labels.v[src->src]);
	s->labels.v[src->src] = source_label(src, s->in->name);
}

static void
take_section(struct select *s, enum section section)
{
	s->launches.n = 0;
	if (section == SECTION_PROLOGUE)
		select_windows_leave(s);
	s->windows->in_prologue = section == SECTION_PROLOGUE;
}

/* Calls and annotations are read for windows, too. */
static bool
may_be_asked(const struct select *s, const struct event *ev)
{
	return s->is_of_all || event_is(ev, KINDS_GPU);
}

/* Whether it is of a selected kind; if not, remembers it. */
static bool
kind_agrees(struct select *s, const struct event *ev)
{
	if (s->kinds == 0 || event_is(ev, s->kinds))
		return true;
	if (may_be_asked(s, ev))
		s->met.kinds |= KIND_BIT(ev->shape->kind);
	return false;
}

/* Likewise of its name. */
static bool
name_agrees(struct select *s, const struct event *ev)
{
	if (there_match(
		&s->names_met, s->names.v, s->names.n, s->in->dict, ev->name))
		return true;
	if (may_be_asked(s, ev))
		there_meet(&s->names_met, s->names.v, s->names.n, s->in->dict,
		    ev->name);
	return false;
}

static void
push_launch(struct select *s, const struct event_head *call)
{
	while (s->launches.n > 0 &&
	    s->launches.v[s->launches.n - 1].depth >= call->depth)
		s->launches.n--;
	vec_push(&s->launches,
	    ((struct select_launch){
		.uid = call->uid,
		.ts_ns = call->ts_ns,
		.depth = call->depth,
		.track = dict_thread(s->in->dict, call->track),
	    }));
}

void
select_heads(struct select *s, const struct event_head *v, size_t n)
{
	if (!s->by_window || !select_by_launch(s))
		return;
	for (size_t i = 0; i < n; i++)
		if (head_is(s->in->dict, &v[i], KINDS_LAUNCH))
			push_launch(s, &v[i]);
}

static const struct select_launch *
launch_of(const struct select *s, const struct event *ev)
{
	for (size_t i = s->launches.n; i-- > 0;) {
		const struct select_launch *l = &s->launches.v[i];

		if (uid_same(l->uid, ev->launch))
			return l;
	}
	return NULL;
}

/* Whether it happens in a process; rows of GPUs and the like do not. */
#define KINDS_OF_PROCESS \
	(KINDS_HOST | KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_PYTHON))

/* Its time, for windows. */
static void
set_when(struct select *s, const struct event *ev)
{
	const struct select_launch *l;

	s->when_ns = ev->ts_ns;
	s->when_track = dict_thread(s->in->dict, ev->track);
	s->has_when = (ev->shape->has & HAS_TS) != 0;
	s->any_process = !event_is(ev, KINDS_OF_PROCESS) &&
	    (s->by_gpu_time || !event_is(ev, KINDS_GPU));
	if (s->by_gpu_time || !event_is(ev, KINDS_GPU))
		return;
	l = ev->shape->has & HAS_LAUNCH ? launch_of(s, ev) : NULL;
	s->has_when = l != NULL;
	if (l == NULL)
		return;
	s->when_ns = l->ts_ns;
	s->when_track = l->track;
}

/* What windows must know of each event. */
static void
place(struct select *s, const struct event *ev)
{
	s->src = ev->src;
	if (ev->shape->kind == KIND_ANNOTATION && s->windows->in_prologue &&
	    select_by_annotations(s) && (ev->shape->has & HAS_TS) != 0)
		select_windows_add(s->windows, s->in->dict, ev);
	if (event_is(ev, KINDS_LAUNCH) && select_by_launch(s)) {
		const struct event_head call = event_head_of(ev);

		push_launch(s, &call);
	}
	set_when(s, ev);
}

/* Whether --from and --to include it. */
static bool
in_time(struct select *s)
{
	int64_t first = INT64_MIN, t;

	if (!s->has_from && !s->has_to)
		return true;
	if (s->src < s->first_ns.n)
		first = s->first_ns.v[s->src];
	if (first == INT64_MIN)
		die("%s: the stream does not say when it begins (fact "
		    "'first'): --from and --to have no effect",
		    select_label(s));
	if (__builtin_sub_overflow(s->when_ns, first, &t))
		return false;
	if ((!s->has_from || t >= s->from_ns) && (!s->has_to || t < s->to_ns))
		return true;
	if (may_be_asked(s, &s->in->ev))
		select_meet_time(s, t);
	return false;
}

/* The process of an event, for windows; NULL: any. */
static const struct key *
process_of(const struct select *s)
{
	return s->any_process ? NULL
			      : &s->in->dict->tracks.v[s->when_track].pid;
}

static bool
in_windows(struct select *s)
{
	struct select_windows *w = s->windows;

	if (w->in_prologue)
		return true;
	if (!w->is_ready)
		select_windows_ready(s);
	if (!(w->has_steps && !s->late_steps) && !w->has_notes &&
	    s->phases == 0 && !s->has_from && !s->has_to)
		return true;
	s->met.in_window = true;
	return s->has_when &&
	    select_windows_hold(s, process_of(s), s->when_ns) && in_time(s);
}

static bool
rank_agrees(struct select *s, uint32_t src)
{
	if (id_set_is_empty(&s->ranks) || s->late_ranks)
		return true;
	s->met.in_rank = true;
	return src < s->rank_known.n && s->rank_known.v[src] == YES;
}

/* Whether it is selected; if not, remembers it. */
static bool
key_agrees(const struct select *s, const struct id_set *set, struct key key,
    struct there_keys *met)
{
	if (id_set_is_empty(set) || id_set_has_key(set, s->in->dict, key))
		return true;
	there_meet_key(met, key);
	return false;
}

static bool
is_long(struct select *s, const struct event *ev)
{
	if (ev->dur_ns >= s->min_dur_ns)
		return true;
	if (may_be_asked(s, ev) && ev->dur_ns > s->met.longest_ns)
		s->met.longest_ns = ev->dur_ns;
	return false;
}

/* In the order of select_there(), from the last on. */
static bool
agrees(struct select *s, const struct event *ev)
{
	return (ev->flags & EV_STUB) == 0 && kind_agrees(s, ev) &&
	    is_long(s, ev) && name_agrees(s, ev) &&
	    key_agrees(s, &s->devs, ev->dev, &s->devs_met) &&
	    key_agrees(
		s, &s->gpu_streams, ev->gpu_stream, &s->gpu_streams_met) &&
	    rank_agrees(s, ev->src) && (!s->by_window || in_windows(s));
}

bool
select_item(struct select *s, const struct stream_in *in, enum item item)
{
	const struct event *ev = &in->ev;

	switch (item) {
	case ITEM_EVENT: break;
	case ITEM_SOURCE: take_source(s, &in->source); return false;
	case ITEM_SECTION: take_section(s, in->section); return false;
	default: return false;
	}
	if (s->asks_all)
		return (ev->flags & EV_STUB) == 0 && ev->dur_ns >= 0;
	if (s->by_window)
		place(s, ev);
	return agrees(s, ev);
}

const struct steps *
select_all_steps(struct select *s)
{
	if (!s->windows->is_ready)
		select_windows_ready(s);
	return &s->windows->steps;
}

const struct steps *
select_all_iterations(struct select *s)
{
	(void)select_all_steps(s);
	return &s->windows->iterations;
}

bool
select_takes(const struct select *s, const struct step_window *w)
{
	const struct select_windows *win = s->windows;

	return !win->has_steps || win->chosen.v[w - win->steps.list.v];
}

bool
select_chooses_steps(struct select *s)
{
	(void)select_all_steps(s);
	return s->windows->has_steps;
}

const struct step_window *
select_step(struct select *s)
{
	(void)select_all_steps(s);
	return s->has_when
	    ? steps_at(&s->windows->steps, process_of(s), s->when_ns)
	    : NULL;
}

struct key
select_step_key(struct select *s)
{
	return step_key(select_step(s), s->in->dict);
}

bool
select_window(struct select *s, int64_t *start_ns)
{
	*start_ns = INT64_MIN;
	if (s->phases == 0 && s->annotations.n == 0 &&
	    (!select_asks_steps(s) || s->late_steps))
		return false;
	if (s->has_when)
		*start_ns = select_windows_since(s, process_of(s), s->when_ns);
	return true;
}

const struct step_window *
select_iteration(struct select *s)
{
	const struct steps *all = select_all_iterations(s);

	return s->has_when ? steps_at(all, process_of(s), s->when_ns) : NULL;
}

struct key
select_phase(struct select *s)
{
	const struct iteration *it =
	    steps_iteration(select_all_iterations(s), select_iteration(s));

	if (!s->has_when)
		return (struct key){ 0, KEY_NONE };
	return phase_key(
	    it != NULL ? (enum phase)it->phase : PHASE_OUTSIDE, s->in->dict);
}

const struct select_window *
select_annotation(struct select *s)
{
	if (!s->windows->is_ready)
		select_windows_ready(s);
	return s->has_when
	    ? select_windows_note(s->windows, s->when_track, s->when_ns)
	    : NULL;
}

uint32_t
select_annotation_name(struct select *s)
{
	const struct select_window *win = select_annotation(s);

	return win != NULL ? win->name : INTERN_NONE;
}

void
select_free(struct select *s)
{
	if (s->windows != NULL) {
		select_windows_leave(s);
		vec_free(&s->windows->all);
		spans_free(&s->windows->asked);
		steps_free(&s->windows->steps);
		steps_free(&s->windows->iterations);
		vec_free(&s->windows->chosen);
		vec_free(&s->windows->since);
		inner_free(&s->windows->notes);
		inner_free(&s->windows->thread_notes);
		vec_release(s->windows);
	}
	vec_free(&s->names);
	vec_free(&s->annotations);
	vec_free(&s->ranks.ranges);
	vec_free(&s->devs.ranges);
	vec_free(&s->devs.words);
	vec_free(&s->gpu_streams.ranges);
	vec_free(&s->gpu_streams.words);
	vec_free(&s->steps);
	there_free(&s->names_met);
	vec_free(&s->rank_known);
	vec_free(&s->first_ns);
	free_labels(s);
	vec_free(&s->labels);
	map_free(&s->resolved);
	vec_free(&s->launches);
	vec_free(&s->devs_met.list);
	vec_free(&s->gpu_streams_met.list);
	vec_free(&s->ranks_met.list);
	vec_free(&s->processes_met.list);
}

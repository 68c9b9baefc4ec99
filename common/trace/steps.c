/* SPDX-License-Identifier: MIT */
/* From markers of steps to windows. */
#include "trace/steps.h"

bool
steps_is_name(struct str name)
{
	struct iteration it;
	int64_t number;

	return step_of_name(name, &number) || iteration_of_name(name, &it);
}

bool
steps_put_kind(struct str name, struct buf *b)
{
	bool is_number = false;

	if (!steps_is_name(name))
		return false;
	for (size_t i = 0; i < name.len; i++) {
		bool is_digit = name.p[i] >= '0' && name.p[i] <= '9';

		if (!is_digit || !is_number)
			buf_putc(b, is_digit ? '*' : name.p[i]);
		is_number = is_digit;
	}
	return true;
}

bool
steps_marker_of(struct steps *s, struct str name, struct step_marker *m)
{
	struct iteration it;

	m->iteration = STEPS_NONE;
	m->family = m->is_run ? STEP_RUN
	    : m->is_inferred  ? STEP_INFERRED
			      : STEP_TRACED;
	if (m->is_run || m->is_inferred)
		return false;
	if (step_of_name(name, &m->number)) {
		m->family = STEP_PROFILER;
		return true;
	}
	if (!iteration_of_name(name, &it))
		return false;
	m->family = it.tier == ITERATION_DETAILED ? STEP_DETAILED : STEP_NATIVE;
	m->iteration = (uint32_t)s->iterations.n;
	vec_push(&s->iterations, it);
	return true;
}

void
steps_add(struct steps *s, const struct dict *st, const struct event *ev,
    uint32_t event)
{
	const unsigned timed = HAS_TS | HAS_DUR | HAS_NAME;
	const struct track *track = &st->tracks.v[ev->track];
	struct step_marker m = { .start_ns = ev->ts_ns,
		.order = ev->uid.id,
		.pid = track->pid,
		.thread = dict_thread(st, ev->track),
		.event = event,
		.is_step = (ev->flags & EV_STEP) != 0,
		.is_slowest = (ev->flags & EV_SLOWEST) != 0,
		.is_run = ev->shape->is_hlo,
		.is_inferred = ev->shape->is_inferred };

	if (ev->shape->kind == KIND_ANNOTATION &&
	    (ev->shape->has & timed) == timed && !track_is_nowhere(track) &&
	    num_add(ev->ts_ns, ev->dur_ns, &m.end_ns) &&
	    ((!m.is_run && !m.is_inferred) || m.is_step) &&
	    (steps_marker_of(s, dict_get(st, ev->name), &m) ||
		step_of_args(st, ev, &m.number))) {
		if (m.is_inferred)
			s->said = step_inferred_of(st, ev);
		vec_push(&s->markers, m);
	}
}

static uint64_t
pid_bits(struct key pid)
{
	return (uint64_t)pid.n << 2 | pid.type;
}

static int
by_start(const struct step_marker *a, const struct step_marker *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static bool
are_alike(const struct step_marker *a, const struct step_marker *b)
{
	return a->family == b->family && a->thread == b->thread;
}

/* By family and thread, outer ones before inner ones. */
static int
marker_order(const void *x, const void *y)
{
	const struct step_marker *a = x, *b = y;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return by_start(a, b);
}

static void
sort_markers(struct steps *s)
{
	struct step_marker *v = s->markers.v;
	size_t nmarked = 0, kept = 0;

	if (s->is_sorted)
		return;
	s->is_sorted = true;
	for (size_t i = 0; i < s->markers.n; i++)
		nmarked += v[i].is_step;
	/* if some are marked, only those are steps */
	for (size_t i = 0; i < s->markers.n; i++)
		if (v[i].is_step || nmarked == 0)
			v[kept++] = v[i];
	s->markers.n = kept;
	stable_sort(v, s->markers.n, sizeof *v, marker_order);
	for (size_t i = 0; i < s->markers.n; i++) {
		v[i].until_ns = v[i].end_ns;
		if (i > 0 && are_alike(&v[i], &v[i - 1]) &&
		    v[i - 1].until_ns > v[i].end_ns)
			v[i].until_ns = v[i - 1].until_ns;
	}
}

/* ---- the thread with the steps ---- */

void
steps_launched(struct steps *s, uint32_t thread, int64_t ns, uint64_t n)
{
	struct step_marker *v,
	    want = { .thread = thread,
		    .start_ns = ns,
		    .end_ns = INT64_MIN,
		    .order = UINT64_MAX };

	sort_markers(s);
	v = s->markers.v;
	for (; want.family < STEP_FAMILIES; want.family++) {
		size_t at;

		bisect(
		    at, s->markers.n, mid, marker_order(&v[mid], &want) <= 0);
		if (at > 0 && are_alike(&v[at - 1], &want) &&
		    ns < v[at - 1].until_ns)
			v[at - 1].launched += n;
	}
}

/* Markers of one thread, and how much is launched in them. */
struct owner {
	size_t first, n;
	uint64_t launched;
};
typedef VEC(struct owner) owner_list;

/* The processes with steps, each with the thread that has them. */
static void
find_owners(struct steps *s, const struct step_marker *v, size_t from,
    size_t to, owner_list *owners)
{
	map_free(&s->process_of);
	owners->n = s->nlaunching = s->naside = 0;
	for (size_t i = from, k; i < to; i = k) {
		struct owner own = { .first = i };
		bool is_new;
		uint64_t *slot;

		for (k = i; k < to && are_alike(&v[k], &v[i]); k++)
			own.launched += v[k].launched;
		own.n = k - i;
		s->nlaunching += own.launched > 0 ? own.n : 0;
		slot = map_put(&s->process_of, pid_bits(v[i].pid), &is_new);
		if (is_new) {
			*slot = owners->n;
			vec_push(owners, own);
			continue;
		}
		if (own.launched > owners->v[*slot].launched ||
		    (own.launched == owners->v[*slot].launched &&
			by_start(&v[i], &v[owners->v[*slot].first]) < 0))
			owners->v[*slot] = own;
	}
	s->naside = s->nlaunching;
	for (size_t i = 0; i < owners->n; i++)
		if (owners->v[i].launched > 0)
			s->naside -= owners->v[i].n;
}

/* ---- windows ---- */

/* The next window begins: closes the open one, and adds the time between. */
static void
close_window(struct steps *s, size_t first, const struct step_marker *before,
    int64_t start_ns)
{
	struct step_window *last, rest;

	if (s->list.n == first)
		return;
	last = &s->list.v[s->list.n - 1];
	last->is_cut = last->end_ns > start_ns && !before->is_run;
	if (last->is_cut || before->family == STEP_PROFILER || before->is_run) {
		last->end_ns = start_ns;
	} else if (last->end_ns < start_ns && !before->is_inferred) {
		rest = *last;
		rest.what = STEP_IS_BETWEEN;
		rest.iteration = STEPS_NONE;
		rest.start_ns = last->end_ns;
		rest.end_ns = start_ns;
		vec_push(&s->list, rest);
	}
}

/* Every length of windows is a part of this one. */
static void
check_length(const struct steps *s, size_t first)
{
	int64_t ns;

	if (s->list.n > first &&
	    __builtin_sub_overflow(s->list.v[s->list.n - 1].end_ns,
		s->list.v[first].start_ns, &ns))
		die("steps span more than 292 years");
}

/* Finds the windows of a process; returns its number of steps. */
static size_t
find_windows(struct steps *s, const struct step_marker *v, size_t n)
{
	struct step_process p = {
		.pid = v->pid, .first = (uint32_t)s->list.n, .thread = v->thread
	};
	const struct step_marker *before = v;
	size_t nsteps = 0;
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		if (v[i].end_ns <= end && !v[i].is_run)
			continue;
		end = v[i].end_ns;
		close_window(s, p.first, before, v[i].start_ns);
		before = &v[i];
		nsteps++;
		if (v[i].is_slowest)
			s->slowest = (uint32_t)s->list.n;
		vec_push(&s->list,
		    ((struct step_window){ .start_ns = v[i].start_ns,
			.end_ns = v[i].end_ns,
			.number = s->family >= STEP_PROFILER &&
				s->family <= STEP_INFERRED
			    ? v[i].number
			    : (int64_t)nsteps,
			.marker = v[i].event,
			.iteration = v[i].iteration }));
	}
	p.n = (uint32_t)s->list.n - p.first;
	check_length(s, p.first);
	vec_push(&s->processes, p);
	return nsteps;
}

static void
find_longest(struct steps *s)
{
	int64_t most = -1;

	for (uint32_t i = 0; i < s->list.n; i++) {
		const struct step_window *w = &s->list.v[i];

		if (w->what != STEP_IS_STEP || w->end_ns - w->start_ns <= most)
			continue;
		most = w->end_ns - w->start_ns;
		s->slowest = i;
	}
}

void
steps_ready(struct steps *s)
{
	/* a single ProfilerStep#N may be the whole recording's */
	static const struct {
		enum step_family family;
		size_t least;
	} rules[] = {
		{ STEP_NAMED, 1 },
		{ STEP_PROFILER, 2 },
		{ STEP_TRACED, 1 },
		{ STEP_DETAILED, 1 },
		{ STEP_NATIVE, 1 },
		{ STEP_PROFILER, 1 },
		{ STEP_RUN, 1 },
		{ STEP_INFERRED, 1 },
	};
	const struct step_marker *v;
	owner_list owners = { 0 };
	size_t from, to, most = 0;

	sort_markers(s);
	v = s->markers.v;
	for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
		if (s->only_iterations && rules[r].family < STEP_DETAILED)
			continue;
		s->family = (uint8_t)rules[r].family;
		s->list.n = s->processes.n = most = 0;
		s->slowest = STEPS_NONE;
		bisect(from, s->markers.n, mid, v[mid].family < s->family);
		bisect(to, s->markers.n, mid, v[mid].family <= s->family);
		find_owners(s, v, from, to, &owners);
		for (size_t i = 0; i < owners.n; i++) {
			size_t n = find_windows(
			    s, v + owners.v[i].first, owners.v[i].n);

			most = n > most ? n : most;
		}
		s->are_runs = s->family == STEP_RUN && most > 0;
		if (most >= rules[r].least)
			break;
	}
	vec_free(&owners);
	s->inferred =
	    s->family == STEP_INFERRED && most > 0 ? s->said.ncalls : 0;
	s->from = s->said.from;
	if (s->slowest == STEPS_NONE)
		find_longest(s);
}

/* ---- which one ---- */

static const struct step_window *
window_at(const struct steps *s, const struct step_process *p, int64_t ns)
{
	const struct step_window *v = s->list.v + p->first;
	size_t at;

	bisect(at, p->n, mid, v[mid].start_ns <= ns);
	return at > 0 && ns < v[at - 1].end_ns ? &v[at - 1] : NULL;
}

uint32_t
steps_process(const struct steps *s, const struct key *pid)
{
	const uint64_t *p = map_get(&s->process_of, pid_bits(*pid));

	return p != NULL ? (uint32_t)*p : STEPS_NONE;
}

const struct step_window *
steps_at(const struct steps *s, const struct key *pid, int64_t ns)
{
	const struct step_window *w = NULL;
	uint32_t p;

	if (pid != NULL) {
		p = steps_process(s, pid);
		return p != STEPS_NONE ? window_at(s, &s->processes.v[p], ns)
				       : NULL;
	}
	for (size_t i = 0; i < s->processes.n && w == NULL; i++)
		w = window_at(s, &s->processes.v[i], ns);
	return w;
}

static int64_t
border_at(const struct steps *s, const struct step_process *p, int64_t ns)
{
	const struct step_window *v = s->list.v + p->first;
	size_t at;

	bisect(at, p->n, mid, v[mid].end_ns <= ns);
	if (at == p->n)
		return INT64_MAX;
	return v[at].start_ns > ns ? v[at].start_ns : v[at].end_ns;
}

int64_t
steps_border(const struct steps *s, const struct key *pid, int64_t ns)
{
	int64_t first = INT64_MAX;
	uint32_t p;

	if (pid != NULL) {
		p = steps_process(s, pid);
		return p != STEPS_NONE ? border_at(s, &s->processes.v[p], ns)
				       : INT64_MAX;
	}
	for (size_t i = 0; i < s->processes.n; i++) {
		int64_t border = border_at(s, &s->processes.v[i], ns);

		first = border < first ? border : first;
	}
	return first;
}

const struct iteration *
steps_iteration(const struct steps *s, const struct step_window *w)
{
	return w != NULL && w->iteration != STEPS_NONE
	    ? &s->iterations.v[w->iteration]
	    : NULL;
}

enum phase
steps_phase(const struct steps *s, const struct key *pid, int64_t ns)
{
	const struct iteration *it = steps_iteration(s, steps_at(s, pid, ns));

	return it != NULL ? (enum phase)it->phase : PHASE_OUTSIDE;
}

struct key
step_key(const struct step_window *w, struct dict *st)
{
	if (w == NULL || w->what == STEP_IS_WHOLE)
		return (struct key){ 0, KEY_NONE };
	if (w->what == STEP_IS_BETWEEN)
		return (struct key){ intern_put(st->text, STR("between")),
			KEY_STR };
	return (struct key){ w->number, KEY_INT };
}

struct key
phase_key(enum phase phase, struct dict *st)
{
	return (struct key){ intern_put(st->text, str_of(phase_words[phase])),
		KEY_STR };
}

unsigned
steps_inferred_from(const struct steps *s)
{
	return s->inferred > 0 ? 1U << s->from : 0;
}

void
steps_clear(struct steps *s)
{
	s->markers.n = s->list.n = s->processes.n = 0;
	s->iterations.n = s->inferred = 0;
	s->nlaunching = s->naside = 0;
	s->said = (struct step_inferred){ 1, STEP_FROM_REPEATS };
	s->slowest = STEPS_NONE;
	s->is_sorted = s->are_runs = false;
	map_free(&s->process_of);
}

void
steps_free(struct steps *s)
{
	steps_clear(s);
	vec_free(&s->markers);
	vec_free(&s->iterations);
	vec_free(&s->list);
	vec_free(&s->processes);
}

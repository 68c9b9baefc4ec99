/* SPDX-License-Identifier: MIT */
/* Selected steps: --step, and the windows of a source that match. */
#include "trace/select-inside.h"

#include <unistd.h>

/* ---- the option ---- */

/* The part after the '@': SRC:PID, SRC: or PID. */
static bool
parse_process(struct str s, struct select_step *step)
{
	const char *colon = s.len > 0 ? memchr(s.p, ':', s.len) : NULL;
	struct str src = s;

	step->pid = step->where = s;
	if (colon == NULL)
		return s.len > 0;
	src.len = (size_t)(colon - s.p);
	/* otherwise it is a process with a colon in its name */
	if (num_i64(src, &step->src) && step->src >= 0)
		step->pid = (struct str){ colon + 1, s.len - src.len - 1 };
	else
		step->src = SELECT_ANY_SOURCE;
	return true;
}

static bool
parse_steps(struct str s, struct select_step *step)
{
	static const struct str words[] = { [SELECT_FIRST] = STR_INIT("first"),
		[SELECT_LAST] = STR_INIT("last"),
		[SELECT_SLOWEST] = STR_INIT("slowest") };
	struct select_range r;

	for (size_t i = SELECT_FIRST; i <= SELECT_SLOWEST; i++) {
		if (!str_eq(s, words[i]))
			continue;
		step->which = (uint8_t)i;
		return true;
	}
	step->which = SELECT_NUMBERS;
	if (!select_range_parse(s, &r))
		return false;
	step->low = r.low;
	step->high = r.high;
	return true;
}

void
select_steps_opt(struct select *s, const struct optparse *op)
{
	static const struct str of_iterations = STR_INIT("iteration:");
	const char *list = op->arg;
	struct str item;

	if (str_starts(str_of(list), of_iterations)) {
		s->of_iterations = true;
		list += of_iterations.len;
	}
	while (str_next(&list, ',', &item)) {
		struct select_step step = { .src = SELECT_ANY_SOURCE };
		struct str steps = item;
		const char *at =
		    item.len > 0 ? memchr(item.p, '@', item.len) : NULL;
		bool is_good = true;

		if (at != NULL) {
			steps.len = (size_t)(at - item.p);
			is_good = parse_process(
			    (struct str){ at + 1, item.len - steps.len - 1 },
			    &step);
		}
		if (!is_good || !parse_steps(steps, &step))
			die_usage("option '%s' needs steps such as 3, 3-7, "
				  "3-7@PID, first, last or slowest, not '%s'",
			    op->name, op->arg);
		vec_push(&s->steps, step);
	}
}

bool
select_asks_steps(const struct select *s)
{
	return s->steps.n > 0;
}

/* Whether nothing lies between them. */
static bool
are_one_range(const struct select_step *a, const struct select_step *b)
{
	if (a->which != SELECT_NUMBERS || b->which != SELECT_NUMBERS ||
	    a->src != b->src || !str_eq(a->pid, b->pid))
		return false;
	if (a->low > b->high)
		return a->low - 1 == b->high;
	return a->high >= b->low || a->high + 1 == b->low;
}

bool
select_is_apart(const struct select *s)
{
	if (s->phases != 0 || s->annotations.n > 1)
		return true;
	for (size_t i = 1; i < s->steps.n; i++)
		if (!are_one_range(&s->steps.v[i - 1], &s->steps.v[i]))
			return true;
	return false;
}

/* ---- which windows they are ---- */

static bool
is_of_process(
    const struct select_step *step, const struct dict *st, struct key pid)
{
	int64_t n;

	if (step->pid.len == 0)
		return true;
	if (pid.type == KEY_INT)
		return num_i64(step->pid, &n) && n == pid.n;
	return pid.type == KEY_STR &&
	    str_glob(step->pid, dict_get(st, (uint32_t)pid.n));
}

/* Properties of a source that some processes have. */
struct extent {
	int64_t first, last; /* numbers of steps */
	uint32_t longest;    /* in the list */
	uint32_t slowest; /* what tl-tree or the caller says, or the longest */
	size_t nsteps;
	bool has_processes;
};

static int64_t
wall_of(const struct steps *steps, uint32_t i)
{
	return steps->list.v[i].end_ns - steps->list.v[i].start_ns;
}

static void
extend(struct extent *e, const struct steps *steps, uint32_t i)
{
	const struct step_window *w = &steps->list.v[i];
	bool is_first = e->nsteps == 0;

	if (w->what != STEP_IS_STEP)
		return;
	e->first = is_first || w->number < e->first ? w->number : e->first;
	e->last = is_first || w->number > e->last ? w->number : e->last;
	if (is_first || wall_of(steps, i) > wall_of(steps, e->longest))
		e->longest = i;
	if (i == steps->slowest)
		e->slowest = i;
	e->nsteps++;
}

static struct extent
extent_of(const struct select_step *step, const struct dict *st,
    const struct steps *steps)
{
	struct extent e = { .slowest = STEPS_NONE };

	for (size_t p = 0; p < steps->processes.n; p++) {
		const struct step_process *own = &steps->processes.v[p];

		if (!is_of_process(step, st, own->pid))
			continue;
		e.has_processes = true;
		for (uint32_t i = own->first; i < own->first + own->n; i++)
			extend(&e, steps, i);
	}
	if (e.slowest == STEPS_NONE)
		e.slowest = e.longest;
	return e;
}

/* Of several; a step that another outlasts is slow by the GPU's time. */
static void
report_slowest(
    const struct extent *e, const struct steps *steps, const char *name)
{
	bool is_longest =
	    wall_of(steps, e->slowest) == wall_of(steps, e->longest);

	if (e->nsteps > 1)
		report(MSG_SLOWEST_STEP, name, steps->list.v[e->slowest].number,
		    e->nsteps, is_longest ? "" : " by the GPU's time");
}

static bool
is_named(const struct select_step *step, const struct extent *e,
    const struct steps *steps, uint32_t i)
{
	int64_t number = steps->list.v[i].number;

	switch (step->which) {
	case SELECT_FIRST: return number == e->first;
	case SELECT_LAST: return number == e->last;
	case SELECT_SLOWEST: return i == e->slowest;
	default: return step->low <= number && number <= step->high;
	}
}

static size_t
choose(const struct select_step *step, const struct dict *st,
    const struct steps *steps, const struct extent *e, bool *chosen)
{
	size_t n = 0;

	for (size_t p = 0; p < steps->processes.n; p++) {
		const struct step_process *own = &steps->processes.v[p];

		if (!is_of_process(step, st, own->pid))
			continue;
		for (uint32_t i = own->first; i < own->first + own->n; i++)
			if (steps->list.v[i].what == STEP_IS_STEP &&
			    !chosen[i] && is_named(step, e, steps, i)) {
				chosen[i] = true;
				n++;
			}
	}
	return n;
}

/* Whether the item may select from the source, and which processes. */
static bool
meets(struct select_step *step, const struct extent *e, uint32_t src)
{
	if (step->src != SELECT_ANY_SOURCE && step->src != src)
		return false;
	step->is_met |= e->has_processes;
	/* without SRC, a source that lacks the process is skipped */
	return e->has_processes || step->src == src || step->pid.len == 0;
}

static struct str
there_processes(const struct select *s)
{
	struct buf b = { 0 };

	there_put_keys(&s->processes_met, s->dict, "process", "es", &b);
	return buf_str(&b);
}

void
select_refuse_slowest(const struct select *s)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.v[i].which == SELECT_SLOWEST)
			die_usage("option '--step': each rank has a slowest "
				  "step of its own; give a number, as in "
				  "tl-steps(1)");
}

size_t
select_steps(struct select *s, const struct steps *steps, const struct dict *st,
    bool *chosen, const char *name, uint32_t src)
{
	const struct select_step any = { .src = SELECT_ANY_SOURCE };
	struct extent all = extent_of(&any, st, steps);
	/* programs that keep a source whole ask again */
	bool is_first, is_asked = false;
	size_t n = 0;

	(void)map_put(&s->resolved, src, &is_first);
	select_meet_source(s, src);
	s->dict = st;
	for (size_t i = 0; i < steps->processes.n; i++)
		there_meet_key(&s->processes_met, steps->processes.v[i].pid);
	for (size_t i = 0; i < steps->list.n; i++)
		chosen[i] = false;
	for (size_t i = 0; i < s->steps.n; i++) {
		struct select_step *step = &s->steps.v[i];
		struct extent e = extent_of(step, st, steps);

		if (!meets(step, &e, src))
			continue;
		if (all.nsteps == 0) {
			if (is_first)
				report(MSG_NO_STEPS, name);
			return 0;
		}
		if (!e.has_processes) {
			if (is_first)
				report(MSG_NO_SUCH_PROCESS, name, step->pid,
				    there_processes(s));
			continue;
		}
		if (is_first && step->which == SELECT_SLOWEST)
			report_slowest(&e, steps, name);
		is_asked = true;
		n += choose(step, st, steps, &e, chosen);
	}
	if (is_first && is_asked && n == 0)
		report(MSG_NO_SUCH_STEP, name, all.first, all.last);
	return n;
}

/* ---- missing processes ---- */

bool
select_asks_where(const struct select *s)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.v[i].where.len > 0)
			return true;
	return false;
}

/* Windows of the source read last, or of one before, that nothing asked about.
 */
static bool
has_unlooked(const struct select *s)
{
	const struct select_windows *w = s->windows;

	return s->has_unlooked || (w != NULL && w->all.n > 0 && !w->is_ready);
}

/* For a source that exists, the warning came with its steps. */
static bool
is_there(const struct select *s, const struct select_step *step)
{
	return step->where.len == 0 || step->is_met ||
	    (step->src != SELECT_ANY_SOURCE ? step->src < s->nsources
					    : has_unlooked(s));
}

void
select_end(struct select *s)
{
	if (s->has_ended)
		return;
	s->has_ended = true;
	for (size_t i = 0; i < s->steps.n; i++) {
		const struct select_step *step = &s->steps.v[i];

		if (is_there(s, step))
			continue;
		if (step->src != SELECT_ANY_SOURCE && step->src >= s->nsources)
			report(MSG_NO_SUCH_SOURCE, "--step", step->src);
		else
			report(MSG_NO_PROCESS, "--step", step->where,
			    there_processes(s));
	}
}

/* A byte per item of --step; several processes may write at a time. */
void
select_put_met(const struct select *s, int fd)
{
	for (size_t i = 0; i < s->steps.n; i++)
		if (is_there(s, &s->steps.v[i]) &&
		    pwrite(fd, "1", 1, (off_t)i) != 1)
			die_errno("--met");
}

void
select_take_met(struct select *s, int fd)
{
	char met;

	for (size_t i = 0; i < s->steps.n; i++)
		s->steps.v[i].is_met |=
		    pread(fd, &met, 1, (off_t)i) == 1 && met != 0;
}

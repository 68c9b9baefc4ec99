/* SPDX-License-Identifier: MIT */
/*
 * What shorter GPU work returns: time that the critical path has of it today,
 * together no more than the path loses if all GPU work takes no time (what_if).
 * The rest is done while the host, which sets the pace, does something else.
 *
 * The path may lack waits for the GPU, so blocking calls on it and what was not
 * recorded count as GPU work, but for what the GPU idles in them, and so does
 * what the path leaves out of a single step. Where the GPU sets the pace, there
 * is no limit.
 */
#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

void
returns_take(struct advice *a, const struct line *l)
{
	struct returns *r = &a->returns;
	struct str bound = line_text(l, "bound");
	int64_t ns = line_int(l, "before_ns");
	unsigned cause = budget_cause(bound);

	if (str_eq(bound, STR("total"))) {
		r->n++;
		r->path_ns = ns;
		r->saved_ns = ns - line_int(l, "after_ns");
		if (r->saved_ns < 0)
			r->saved_ns = 0;
	} else if (cause != CAUSE_NOTHING) {
		stat_add(&r->blocked_ns[cause], ns);
	} else if (str_eq(bound, STR("compute")) ||
	    str_eq(bound, STR("communication")) || str_eq(bound, STR("copy"))) {
		stat_add(&r->gpu_ns, ns);
	}
}

void
returns_take_pace(struct advice *a, const struct line *l)
{
	a->returns.is_gpu |= str_eq(line_text(l, "step_time"), STR("gpu_wall"));
}

static int64_t
idle_ns(const struct budget *w, unsigned cause)
{
	int64_t ns = 0;

	for (size_t i = 0; i < w->parts.n; i++)
		if (w->parts.v[i].cause == cause)
			stat_add(&ns, w->parts.v[i].ns);
	return ns;
}

/* In it the host may wait for the GPU. */
static bool
may_wait(unsigned cause)
{
	return cause_blocks(cause) || cause_groups[cause] == GROUP_OF_MISSING;
}

/* Time of such causes in which the GPU works. */
static int64_t
blocked_ns(const struct advice *a)
{
	int64_t sum = 0;

	for (unsigned c = 0; c < CAUSE_COUNT; c++) {
		int64_t ns = a->returns.blocked_ns[c] - idle_ns(a->whole, c);

		if (may_wait(c) && ns > 0)
			stat_add(&sum, ns);
	}
	return sum;
}

/* Time that the path does not tell. */
static int64_t
untold_ns(const struct advice *a)
{
	int64_t ns = blocked_ns(a);

	if (a->whole->steps <= 1 && a->window_ns > a->returns.path_ns)
		stat_add(&ns, a->window_ns - a->returns.path_ns);
	return ns;
}

static bool
is_limited(const struct advice *a)
{
	const struct budget *w = a->whole;

	return a->returns.n == 1 && a->nsources == 1 && w->n == 1 &&
	    !w->is_tpu && !a->returns.is_gpu && a->bound.class != GROUP_OF_GPU;
}

static bool
is_gpu_work(const struct finding *f)
{
	return str_starts(f->claims, STR("gpu/")) ||
	    str_starts(f->claims, STR("communication")) ||
	    str_starts(f->claims, STR("copies")) ||
	    str_starts(f->claims, STR("convolution"));
}

static int64_t
least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Which GPU work is on the path is not told by finding: middle as much of each,
 * low what the rest of the GPU work cannot be, high all, once the host is
 * faster.
 */
static void
lower(const struct advice *a, struct finding *f, int64_t path_ns)
{
	int64_t *gain = f->gain_ns, off_ns = a->busy_ns - path_ns;
	double part = (double)path_ns / (double)a->busy_ns;

	gain[MID] = least_of(f->most_ns, (int64_t)((double)gain[MID] * part));
	gain[LOW] = gain[LOW] > off_ns ? gain[LOW] - off_ns : 0;
	gain[LOW] = least_of(gain[LOW], gain[MID]);
	if (str_eq(f->confidence, STR("high")))
		f->confidence = STR("medium");
}

static void
say_limit(struct advice *a, struct finding *f)
{
	struct buf b = { 0 };

	buf_put(&b, f->insight.p, f->insight.len);
	if (f->most_ns > 0) {
		buf_puts(&b, "; all GPU work together returns at most ");
		put_time(&b, f->most_ns);
	} else {
		buf_puts(&b, "; returns nothing");
	}
	buf_puts(&b, " while the host sets the pace");
	f->insight = arena_str(a->mem, buf_str(&b));
	buf_free(&b);
}

void
returns_apply(struct advice *a)
{
	int64_t path_ns, most_ns;

	if (!is_limited(a))
		return;
	path_ns = most_ns = untold_ns(a);
	stat_add(&path_ns, a->returns.gpu_ns);
	stat_add(&most_ns, a->returns.saved_ns);
	path_ns = least_of(path_ns, a->busy_ns);
	for (size_t i = 0; i < a->findings.n && most_ns < a->busy_ns; i++) {
		struct finding *f = &a->findings.v[i];

		if (!f->has_gain || !is_gpu_work(f))
			continue;
		f->most_ns = most_ns;
		lower(a, f, path_ns);
		if (f->gain_ns[HIGH] > most_ns)
			say_limit(a, f);
	}
}

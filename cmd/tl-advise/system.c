/* SPDX-License-Identifier: MIT */
/*
 * Facts of the window: time by class, gaps by cause, copies, short kernels. Of
 * several sources they are means.
 */
#include <math.h>

#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

#define SHORT_NS 10e3 /* shorter kernels are short */
#define TENTHS_BELOW 1000
#define LONE_PART 10 /* of the window, which one call takes */

void
put_mean(struct facts *f, const char *id, int64_t n, int64_t sources)
{
	double mean = (double)n / (double)sources;

	if (n % sources == 0)
		fact_put(f, id, cell_int(n / sources));
	else if (mean < TENTHS_BELOW)
		fact_put(f, id, cell_real(round(10 * mean) / 10));
	else
		fact_put(f, id, cell_int((int64_t)round(mean)));
}

/* ---- rows ---- */

static bool
has(struct str name, const char *a, const char *b, const char *c)
{
	return str_find(name, str_of(a), true) >= 0 ||
	    str_find(name, str_of(b), true) >= 0 ||
	    str_find(name, str_of(c), true) >= 0;
}

void
system_take_copy(struct advice *a, const struct line *l)
{
	struct str name = line_text(l, "copy");
	struct amounts *s = &a->amounts;
	struct amount *to = &s->copies[OTHER];

	if (str_find(name, STR("memset"), true) >= 0) {
		stat_add(&s->memsets_ns, line_int(l, "time_ns_sum"));
		return;
	}
	if (has(name, "dtoh", "device -> host", "devicetohost"))
		to = &s->copies[D2H];
	else if (has(name, "htod", "host -> device", "hosttodevice"))
		to = &s->copies[H2D];
	else if (has(name, "dtod", "device -> device", "devicetodevice"))
		to = &s->copies[D2D];
	to->count += line_int(l, "count");
	stat_add(&to->ns, line_int(l, "time_ns_sum"));
}

void
system_take_kernel(struct advice *a, const struct line *l)
{
	struct amounts *s = &a->amounts;
	int64_t count = line_int(l, "count"), ns = line_int(l, "dur_ns_sum");

	details_take_kernel(a, line_text(l, "name"), ns);
	s->kernels.count += count;
	stat_add(&s->kernels.ns, ns);
}

/* All short kernels: the summary may skip some. */
void
system_take_bin(struct advice *a, const struct line *l)
{
	struct amounts *s = &a->amounts;

	s->shorts.count += line_int(l, "count");
	s->has_longer |= line_real(l, "bin_end_ns") > SHORT_NS;
}

void
system_take_short(struct advice *a, const struct line *l)
{
	struct amounts *s = &a->amounts;
	int64_t ns = line_int(l, "dur_ns_sum");

	s->told += line_int(l, "count");
	stat_add(&s->shorts.ns, ns);
	if (ns <= s->most_ns)
		return;
	s->most_ns = ns;
	s->most = arena_str(a->mem, line_text(l, "name"));
}

static bool
is_graph_launch(struct str call)
{
	return str_ends(call, STR("GraphLaunch"));
}

void
system_take_launches(struct advice *a, const struct line *l)
{
	int64_t ns = line_int(l, "kernel_ns_sum");

	stat_add(&a->amounts.launched_ns, ns);
	if (is_graph_launch(line_text(l, "api")))
		stat_add(&a->amounts.graph_ns, ns);
}

void
system_take_graph(struct advice *a, const struct line *l)
{
	struct amounts *s = &a->amounts;
	json_items list = { 0 };

	if (!json_split(&list, a->mem, line_text(l, "forbidden_by")))
		return;
	for (size_t i = 0; i < list.n && s->nforbids < FORBIDS; i++) {
		size_t k = 0;

		while (
		    k < s->nforbids && !str_eq(s->forbids[k], list.v[i].text))
			k++;
		if (k == s->nforbids)
			s->forbids[s->nforbids++] = list.v[i].text;
	}
	vec_free(&list);
}

/* "aten::_local_scalar_dense, cudaEventSynchronize" */
static void
put_forbids(struct facts *f, struct advice *a)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < a->amounts.nforbids; i++) {
		buf_puts(&b, i > 0 ? ", " : "");
		buf_put(&b, a->amounts.forbids[i].p, a->amounts.forbids[i].len);
	}
	fact_put(f, "forbidden_by", cell_text(arena_str(a->mem, buf_str(&b))));
	buf_free(&b);
}

/* ---- gaps ---- */

/* One call that takes so much is not one of many that a graph would replace. */
static bool
is_alone(const struct advice *a, const struct idle_part *p)
{
	return (p->cause == CAUSE_OP || p->cause == CAUSE_LAUNCH_CALL ||
		   p->cause == CAUSE_LAUNCH_LATENCY) &&
	    p->call.len > 0 && p->calls == 1 &&
	    p->ns >= a->whole->window_ns / LONE_PART;
}

/* The call that held this one up; of many calls only one is known. */
static struct str
lock_of(const struct idle_part *p)
{
	return p->calls <= 1 ? p->lock : STR("");
}

/* A graph launch needs no advice to use graphs. */
static struct str
advice_of(const struct advice *a, const struct idle_part *p)
{
	if (lock_of(p).len > 0)
		return str_of(arena_printf(a->mem,
		    "keep %.*s off other threads while this one launches",
		    (int)p->lock.len, p->lock.p));
	if (is_alone(a, p))
		return STR("find why this one call takes so long; if it starts "
			   "something up, warm up before recording");
	return (p->cause == CAUSE_LAUNCH_CALL ||
		   p->cause == CAUSE_LAUNCH_LATENCY) &&
		is_graph_launch(p->call)
	    ? STR("launch the next graph before waiting for this one")
	    : str_of(cause_advice(p->cause, budget_advice_of(a->whole)));
}

/*
 * Host work that would be hidden without these calls; none where launches bound
 * the time, and where blocking calls do, one finding is about all.
 */
static int64_t
behind_ns(const struct advice *a, const struct idle_part *p)
{
	bool is_told = a->bound.is_sync && p->class == GROUP_OF_SYNC;

	return a->bound.is_launch || is_told ? 0 : p->behind_ns;
}

/* An id with blanks for underscores. */
static struct str
words_of(struct advice *a, const char *id)
{
	struct buf b = { 0 };
	struct str s;

	for (; *id != '\0'; id++)
		buf_putc(&b, *id == '_' ? ' ' : *id);
	s = arena_str(a->mem, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
put_gap(struct advice *a, const struct idle_part *p, size_t number)
{
	const struct budget *w = a->whole;
	struct facts f = facts_made(a, "gap");
	int64_t most = w->ns[GROUP_OF_HOST] - w->graph_ns, gain = p->ns;
	int64_t behind = behind_ns(a, p) / w->n;
	struct str cause = words_of(a, cause_words[p->cause]);

	/* what a graph would leave of host work stays */
	if (p->class == GROUP_OF_HOST && gain > most)
		gain = most;
	gain = late_gain(a, gain / w->n + behind, late_others_part(a, p));
	fact_put(&f, "class", cell_text(str_of(account_words[p->class])));
	fact_put(&f, "cause", cell_text(cause));
	fact_put(&f, "call", cell_text(p->call));
	fact_put(&f, "part", cell_int((int64_t)number));
	fact_put(&f, "ns", cell_int(p->ns / w->n));
	fact_share(&f, "percent", p->ns, w->window_ns);
	fact_put(&f, "gain_ns", cell_int(gain));
	fact_share(&f, "gain_percent", gain, w->window_ns / w->n);
	if (p->calls > 1) {
		fact_put(&f, "sources", cell_int(w->n));
		put_mean(&f, "calls", p->calls, w->n);
		fact_put(&f, "longest_ns", cell_int(p->longest_ns));
	}
	fact_put(&f, "uid", cell_text(p->uid));
	fact_put(&f, "rank", cell_text(p->label));
	fact_put(&f, "lock_call", cell_text(lock_of(p)));
	fact_put(&f, "late_rank", cell_text(a->late.rank));
	if (behind > 0)
		fact_put(&f, "behind_ns", cell_int(behind));
	fact_put(&f, "advice", cell_text(advice_of(a, p)));
	fact_share(&f, "pct_inferred", p->inferred_ns, p->ns);
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

/*
 * Each cause by call, unless a graph or calls that do not block would save the
 * host's part at once. Unrecorded work has no gain.
 */
static void
put_gaps(struct advice *a, bool by_graph)
{
	const struct budget *w = a->whole;

	for (size_t i = 0; i < w->parts.n; i++) {
		const struct idle_part *p = &w->parts.v[i];
		bool is_host = p->class == GROUP_OF_HOST;

		if (p->class != GROUP_OF_GPU && p->class != GROUP_OF_MISSING &&
		    p->class != ACCOUNT_COMM &&
		    !(is_host && (by_graph || a->bound.is_sync)))
			put_gap(a, p, i + 1);
	}
}

/* ---- the window ---- */

/* From tl-idle's tables, else from the timeline. */
static int64_t
class_ns(const struct advice *a, unsigned class, int64_t timeline_ns)
{
	return a->whole->n > 0 ? budget_work(a->whole, class) / a->whole->n
			       : timeline_ns;
}

/*
 * As in the verdict, with gaps between queued collectives; the finding does not
 * claim that these would vanish.
 */
static int64_t
bound_comm_ns(const struct advice *a, int64_t comm_ns)
{
	return a->whole->n > 0 ? a->whole->ns[ACCOUNT_COMM] / a->whole->n
			       : comm_ns;
}

static int
longer_first(const void *pa, const void *pb)
{
	const struct idle_part *a = *(const struct idle_part *const *)pa;
	const struct idle_part *b = *(const struct idle_part *const *)pb;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* The longest calls of the parts with most host time. */
static void
put_host_uids(struct facts *f, struct advice *a)
{
	VEC(const struct idle_part *) parts = { 0 };
	struct buf b = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < a->whole->parts.n; i++) {
		const struct idle_part *p = &a->whole->parts.v[i];

		if (p->class == GROUP_OF_HOST && p->uid.len > 0)
			vec_push(&parts, p);
	}
	stable_sort(parts.v, parts.n, sizeof *parts.v, longer_first);
	for (size_t i = 0; i < parts.n && n < UIDS_SHOWN; i++)
		uids_put(&b, parts.v[i]->uid, n++);
	buf_puts(&b, n > 0 ? "]" : "");
	fact_put(f, "host_uids", cell_text(arena_str(a->mem, buf_str(&b))));
	buf_free(&b);
	vec_free(&parts);
}

static void
put_host(struct advice *a, struct facts *f, bool by_graph)
{
	const struct budget *w = a->whole;
	int64_t host = w->ns[GROUP_OF_HOST], n = w->n, gain;
	int64_t left = w->graph_ns;

	if (n == 0)
		return;
	fact_put(f, "host_ns", cell_int(host / n));
	fact_share(f, "pct_host", host, w->window_ns);
	fact_put(f, "is_launch", cell_bool(a->bound.is_launch));
	fact_put(f, "is_sync", cell_bool(a->bound.is_sync));
	/* a call that waits for the GPU cannot be captured */
	fact_put(f, "is_opened", cell_bool(w->opened_ns >= host / 10));
	/* only the finding that a rule makes uses time up */
	gain = a->bound.is_sync
	    ? late_gain(a, w->opened_ns / n,
		  late_others(a, a->sum.opened_ns - w->opened_ns))
	    : w->opened_ns / n;
	fact_put(f, "opened_ns", cell_int(gain));
	fact_share(f, "pct_opened", gain, w->window_ns / n);
	fact_put(f, "opened_by", cell_text(w->opened_by));
	fact_put(f, "opened_uid", cell_text(w->opened_uid));
	fact_put(f, "launched", cell_int(w->launched));
	fact_put(f, "starved", cell_int(w->starved));
	fact_share(f, "pct_starved", w->starved, w->launched);
	stat_add(&left, w->outside_ns);
	if (!by_graph || left >= host)
		return;
	gain = late_gain(a, (host - left) / n,
	    late_others(a,
		a->sum.ns[GROUP_OF_HOST] - a->sum.graph_ns - a->sum.outside_ns -
		    (host - left)));
	put_forbids(f, a);
	put_host_uids(f, a);
	fact_put(f, "graph_ns", cell_int(left / n));
	fact_put(f, "graph_gain_ns", cell_int(gain));
	fact_share(f, "graph_gain_percent", gain, w->window_ns / n);
}

/*
 * Communication that computation could hide: no more than runs without
 * communication. Without a timeline of communication, all computation may.
 */
static int64_t
overlap_ns(const struct advice *a, const struct timeline *t, int64_t comm_ns)
{
	int64_t alone = a->has_comm
	    ? t->compute_ns - (t->comm_ns - t->exposed_comm_ns)
	    : class_ns(a, GROUP_OF_GPU, t->compute_ns);

	return comm_ns < alone ? comm_ns : alone > 0 ? alone : 0;
}

static void
put_window(struct advice *a, bool by_graph)
{
	struct facts f = facts_made(a, "window");
	struct timeline t = late_timeline(a);
	int64_t comm = class_ns(a, ACCOUNT_COMM, t.exposed_comm_ns);
	int64_t copy =
	    late_gain(a, class_ns(a, ACCOUNT_COPY, t.exposed_copy_ns),
		late_others(
		    a, a->sum.ns[ACCOUNT_COPY] - a->whole->ns[ACCOUNT_COPY]));
	/* as the verdict has them: of what was recorded */
	int64_t window =
	    a->whole->n > 0 ? a->bound.ns / a->whole->n : advice_window(a);
	int64_t missing =
	    a->whole->n > 0 ? a->whole->ns[GROUP_OF_MISSING] / a->whole->n : 0;

	/* rocprofv3's own timeline may go from a process's start to its end */
	if (!a->has_comm && a->whole->n > 0) {
		t.total_ns = a->window_ns;
		t.busy_ns = class_ns(a, GROUP_OF_GPU, 0) + comm +
		    class_ns(a, ACCOUNT_COPY, 0);
	}
	late_put(&f, a);
	fact_put(&f, "total_ns", cell_int(t.total_ns));
	fact_put(&f, "compute_ns", cell_int(t.compute_ns));
	fact_share(&f, "pct_compute", t.compute_ns, t.total_ns);
	fact_put(&f, "missing_ns", cell_int(missing));
	fact_share(&f, "pct_missing", missing, a->window_ns);
	fact_put(&f, "whole",
	    cell_text(missing > 0 ? STR("recorded time") : STR("window")));
	fact_put(&f, "idle_ns", cell_int(t.total_ns - t.busy_ns - missing));
	fact_share(&f, "pct_idle", t.total_ns - t.busy_ns - missing,
	    t.total_ns - missing);
	if (a->has_comm || a->whole->n > 0) {
		fact_put(&f, "exposed_comm_ns", cell_int(comm));
		fact_share(
		    &f, "pct_exposed_comm", bound_comm_ns(a, comm), window);
		fact_put(
		    &f, "overlap_gain_ns", cell_int(overlap_ns(a, &t, comm)));
	}
	fact_put(&f, "comm_ns", cell_int(t.comm_ns));
	fact_share(&f, "pct_hidden", t.comm_ns - t.exposed_comm_ns, t.comm_ns);
	fact_put(&f, "exposed_copy_ns", cell_int(copy));
	fact_share(&f, "pct_exposed_copy", copy, window);
	fact_put(&f, "late_rank", cell_text(a->late.rank));
	fact_put(&f, "comm_uid", cell_text(a->whole->comm_uid));
	fact_put(&f, "copy_uid", cell_text(a->whole->copy_uid));
	put_host(a, &f, by_graph);
	advice_take(a, &f, a->nsources);
	vec_free(&f.list);
}

/* ---- copies and kernels ---- */

static void
put_copies(struct advice *a)
{
	static const char *const words[DIRECTIONS] = { "DtoH", "HtoD", "DtoD",
		"other" };
	int64_t all = a->total_ns * a->nsources;

	for (size_t i = 0; i < DIRECTIONS; i++) {
		const struct amount *c = &a->amounts.copies[i];
		struct facts f;

		if (c->count == 0)
			continue;
		f = facts_made(a, "copy");
		fact_put(&f, "direction", cell_text(str_of(words[i])));
		fact_put(&f, "sources", cell_int(a->nsources));
		put_mean(&f, "count", c->count, a->nsources);
		fact_put(&f, "ns", cell_int(c->ns / a->nsources));
		if (c->ns <= all) /* else GPUs copy at once */
			fact_share(&f, "percent", c->ns, all);
		advice_take(a, &f, 1);
		vec_free(&f.list);
	}
}

static void
put_shorts(struct advice *a)
{
	const struct amounts *s = &a->amounts;
	struct facts f;

	if (s->shorts.count == 0 || s->has_longer)
		return;
	f = facts_made(a, "short_kernels");
	fact_put(&f, "sources", cell_int(a->nsources));
	put_mean(&f, "count", s->shorts.count, a->nsources);
	put_mean(&f, "kernels", s->kernels.count, a->nsources);
	fact_share(&f, "pct_count", s->shorts.count, s->kernels.count);
	if (s->told == s->shorts.count) {
		fact_put(&f, "ns", cell_int(s->shorts.ns / a->nsources));
		fact_share(&f, "percent", s->shorts.ns, s->kernels.ns);
		fact_put(&f, "name", cell_text(s->most));
	}
	fact_share(&f, "pct_in_graphs", s->graph_ns, s->launched_ns);
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

void
system_advise(struct advice *a)
{
	bool by_graph = a->bound.is_launch && !a->whole->is_tpu;

	put_window(a, by_graph);
	if (a->whole->n > 0)
		put_gaps(a, by_graph);
	put_copies(a);
	put_shorts(a);
}

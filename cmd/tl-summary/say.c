/* SPDX-License-Identifier: MIT */
/* The sentences: what the time went on, and what bounds it. */
#include <stdarg.h>
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-summary/summary.h"

/* Percent of the time from which on it bounds the whole; see the page. */
#define HOST_BOUND 35
#define COMM_BOUND 20
#define COPY_BOUND 20
/* Percent of the roofline below which it is none that bounds. */
#define FAR_BELOW 10

double
share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

void
say_share(struct buf *b, int64_t part, int64_t whole)
{
	buf_printf(b, "%.1f %%", share_of(part, whole));
}

void
say_part(struct buf *b, int64_t part, int64_t whole)
{
	double share = share_of(part, whole);

	if (part > 0 && share < 0.05)
		buf_puts(b, "under 0.1 %");
	else if (part < whole && share >= 99.95)
		buf_puts(b, "over 99.9 %");
	else
		say_share(b, part, whole);
}

void
say_most(struct buf *b, int64_t part, int64_t whole)
{
	buf_puts(
	    b, 2 * share_of(part, whole) >= 100 ? "mostly " : "above all ");
}

void
say_time(struct buf *b, int64_t ns)
{
	double v = (double)ns;

	if (v >= 1e9)
		buf_printf(b, "%.3f s", v / 1e9);
	else if (v >= 1e6)
		buf_printf(b, "%.3f ms", v / 1e6);
	else if (v >= 1e3)
		buf_printf(b, "%.1f us", v / 1e3);
	else
		buf_printf(b, "%" PRId64 " ns", ns);
}

struct str
say_keep(struct figures *f, struct buf *b)
{
	struct str s = figures_text(f, buf_str(b));

	b->len = 0;
	return s;
}

/* ---- the trace ---- */

static struct str
base_name(struct str name)
{
	for (size_t i = name.len; i-- > 0;)
		if (name.p[i] == '/')
			return (struct str){ name.p + i + 1, name.len - i - 1 };
	return name;
}

/* The end of a path with so many folders. */
static struct str
path_end(struct str path, size_t folders)
{
	size_t i = path.len;

	while (i > 0 && (path.p[i - 1] != '/' || folders-- > 0))
		i--;
	return (struct str){ path.p + i, path.len - i };
}

/* Two traces of one name are told apart by what their folders are called. */
static struct str
name_beside(struct str path, struct str other)
{
	if (str_eq(path, other))
		return base_name(path);
	for (size_t n = 0;; n++) {
		struct str s = path_end(path, n);

		if (s.len == path.len || !str_eq(s, path_end(other, n)))
			return s;
	}
}

static struct str
name_of(const struct figures *f)
{
	if (f->against == NULL)
		return base_name(f->name);
	return name_beside(f->name, str_of(f->against));
}

/* What it is compared with, and what the two are called. */
static void
say_against(struct figures *f, struct buf *b)
{
	struct str other = name_beside(str_of(f->against), f->name);

	if (f->nsources > 1)
		other = base_name(str_of(f->against));
	if (f->has_names)
		buf_printf(b, " (%.*s)", (int)f->sides[0].len, f->sides[0].p);
	buf_puts(b, " against ");
	if (str_eq(other, STR("-")))
		other = STR("standard input");
	table_fold_name(other, 0, b);
	if (f->against_device.len > 0 &&
	    !str_eq(f->against_device, f->device)) {
		buf_puts(b, ", ");
		table_fold_name(f->against_device, 0, b);
	}
	if (f->has_names)
		buf_printf(b, " (%.*s)", (int)f->sides[1].len, f->sides[1].p);
}

static void
say_title(struct figures *f)
{
	struct buf b = { 0 };
	struct str name = name_of(f);

	if (f->nsources > 1 && f->nknown == f->nsources && !f->by_src) {
		buf_printf(&b, "%zu", f->nsources);
		if (f->has_world)
			buf_printf(&b, " of %" PRId64, f->world);
		buf_puts(&b, " ranks");
	} else if (f->nsources > 1) {
		buf_printf(&b, "%zu traces", f->nsources);
	} else if (f->nsources == 1) {
		if (name.len == 0)
			name = STR("standard input");
		table_fold_name(name, 0, &b);
		if (f->has_rank)
			buf_printf(&b, ", rank %" PRId64, f->rank);
		if (f->has_rank && f->has_world)
			buf_printf(&b, " of %" PRId64, f->world);
	}
	if (f->devices_differ) {
		buf_puts(&b, ", several kinds of GPU");
	} else if (f->device.len > 0) {
		buf_puts(&b, ", ");
		table_fold_name(f->device, 0, &b);
	}
	if (f->against != NULL && f->nsources > 0)
		say_against(f, &b);
	f->title = say_keep(f, &b);
	buf_free(&b);
}

/* ---- who is late ---- */

static bool
has_verdict(const struct group *g)
{
	return g->verdict.len > 0 && !str_eq(g->verdict, STR("none"));
}

/* Those with a verdict first, those that cost most first. */
static int
compare_groups(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (has_verdict(a) != has_verdict(b))
		return has_verdict(a) ? -1 : 1;
	if (a->wait_ns + a->latency_ns != b->wait_ns + b->latency_ns)
		return a->wait_ns + a->latency_ns > b->wait_ns + b->latency_ns
		    ? -1
		    : 1;
	return str_cmp(a->name, b->name);
}

static void
say_waiting(struct buf *b, const struct group *g, size_t n)
{
	int64_t wait_ns = 0, all_ns = 0;

	for (size_t i = 0; i < n; i++)
		if (!num_add(wait_ns, g[i].wait_ns, &wait_ns) ||
		    !num_add(all_ns, g[i].wait_ns, &all_ns) ||
		    !num_add(all_ns, g[i].latency_ns, &all_ns))
			die("times add up to more than 292 years");
	if (wait_ns > 0) {
		buf_puts(b, "; of the time in collectives ");
		say_part(b, wait_ns, all_ns);
		buf_puts(b, " is waiting");
	}
	buf_putc(b, '.');
}

/* Of several groups none is late: that is one sentence about all. */
static void
say_together(const struct figures *f, struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < f->groups.n; i++)
		n += f->groups.v[i].collectives > 0;
	buf_puts(b, "The ranks arrive together in ");
	if (n < f->groups.n)
		buf_printf(b,
		    "%zu of %zu process groups, of which the others "
		    "have no complete collective",
		    n, f->groups.n);
	else
		buf_printf(b, "all %zu process groups", n);
	say_waiting(b, f->groups.v, f->groups.n);
}

static void
say_late(struct figures *f)
{
	const struct group *g = f->groups.v;
	struct buf b = { 0 };

	if (f->groups.n == 0)
		return;
	qsort(f->groups.v, f->groups.n, sizeof *f->groups.v, compare_groups);
	f->any_late = has_verdict(g);
	if (!f->any_late && f->groups.n > 1 && g->collectives > 0) {
		say_together(f, &b);
		f->late = say_keep(f, &b);
		buf_free(&b);
		return;
	}
	buf_put(&b, g->says.p, g->says.len);
	if (b.len > 0 && b.p[0] >= 'a' && b.p[0] <= 'z')
		b.p[0] = (char)(b.p[0] - 'a' + 'A');
	if (f->groups.n > 1) {
		buf_puts(&b, " (");
		table_fold_name(g->name, 60, &b);
		buf_puts(&b, ")");
	}
	say_waiting(&b, g, 1);
	f->late = say_keep(f, &b);
	buf_free(&b);
}

/* ---- what bounds it ---- */

/* What is reached of the roofline; more than all of it bounds nothing. */
static const char *
bound_by_roofs(const struct figures *f, struct buf *b)
{
	int64_t reached_ns = f->modelled_ns - f->lost_ns;
	bool far = share_of(reached_ns, f->modelled_ns) < FAR_BELOW;

	if (f->modelled_ns == 0 || f->modelled_ns < f->unified_ns / 2 ||
	    reached_ns > f->modelled_ns)
		return "computation bounds it";
	if (far)
		buf_puts(b,
		    "the kernels bound it, with neither arithmetic nor memory "
		    "bandwidth near its limit, at ");
	else
		buf_puts(b,
		    f->compute_bound_ns >= f->memory_bound_ns
			? "arithmetic bounds it, at "
			: "memory bandwidth bounds it, at ");
	say_part(b, reached_ns, f->modelled_ns);
	return " of the roofline";
}

static const char *
bound_of(const struct figures *f, struct buf *b)
{
	const struct rank *all = &f->all;
	int64_t total = all->total_ns;
	const struct tally *top;

	if (share_of(all->idle_ns, total) >= HOST_BOUND &&
	    all->idle_ns >= all->comm_ns)
		return f->is_rocprof
		    ? "the host bounds it (the time is the whole process's, "
		      "its start and end included)"
		    : "the host bounds it, which leaves the GPU without work";
	if (share_of(all->comm_ns, total) >= COMM_BOUND ||
	    all->comm_ns > all->compute_ns)
		return "communication bounds it";
	if (f->is_rocprof && tallies_best(&f->categories, &top, 1) == 1 &&
	    str_eq(top->name, STR("COMM")))
		return "communication bounds it";
	if (share_of(all->copy_ns, total) >= COPY_BOUND)
		return "copies bound it";
	return bound_by_roofs(f, b);
}

/*
 * What the computation is mostly: of the time of ops, when that is computation
 * for the most part. "other" says nothing, so the first op does.
 */
static void
say_mostly(const struct figures *f, struct buf *b)
{
	const struct tally *top;
	int64_t sum = tallies_sum(&f->categories);

	if (2 * f->graph_ns > f->ops_ns) {
		buf_puts(b, " (mostly in graphs, ");
		say_part(b, f->graph_ns, f->ops_ns);
		buf_puts(b, " of the time of ops)");
		return;
	}
	if (tallies_best(&f->categories, &top, 1) == 0 || top->ns <= 0)
		return;
	if (!f->is_rocprof &&
	    (sum < f->all.compute_ns / 2 || f->all.all_copy_ns > sum / 10))
		return;
	if ((str_eq(top->name, STR("other")) ||
		str_eq(top->name, STR("Other"))) &&
	    tallies_best(&f->ops, &top, 1) == 0)
		return;
	buf_puts(b, " (");
	if (top->ns < sum)
		say_most(b, top->ns, sum);
	if (str_eq(top->name, STR("COMM")))
		buf_puts(b, "collectives");
	else
		table_fold_name(top->name, 40, b);
	buf_puts(b, ", ");
	if (top->ns < sum)
		say_part(b, top->ns, sum);
	else
		buf_puts(b, "all");
	buf_puts(b,
	    f->has_ops ? " of the time of ops)" : " of the time of kernels)");
}

/* What is little of the time is told where computation is even less. */
static void
say_beside(struct buf *b, const struct rank *all, int64_t ns, const char *what)
{
	if (share_of(ns, all->total_ns) < 0.5 && ns <= all->compute_ns)
		return;
	buf_puts(b, what);
	say_part(b, ns, all->total_ns);
}

static void
say_gpu(const struct figures *f, struct buf *b)
{
	const struct rank *all = &f->all;
	bool many = f->ranks.n > 1;

	buf_puts(b, "Of ");
	say_time(b, all->total_ns);
	if (many)
		buf_printf(b, " of %zu %s together", f->ranks.n,
		    f->by_src ? "traces" : "ranks");
	buf_puts(b, many ? " the GPUs " : " the GPU ");
	buf_puts(b, f->is_rocprof ? "ran kernels " : "computed ");
	if (all->compute_ns > 0) {
		say_part(b, all->compute_ns, all->total_ns);
		say_mostly(f, b);
	} else {
		buf_puts(b, "nothing");
	}
	say_beside(b, all, all->comm_ns, ", communicated with nothing beside ");
	say_beside(b, all, all->copy_ns, ", copied ");
	buf_puts(b, many ? " and were " : " and was ");
	if (all->idle_ns > 0) {
		buf_puts(b, "idle ");
		say_part(b, all->idle_ns, all->total_ns);
	} else {
		buf_puts(b, "never idle");
	}
	buf_puts(b, ": ");
	buf_puts(b, bound_of(f, b));
}

static void
say_verdict(struct figures *f)
{
	struct buf b = { 0 };

	if (f->sentences.n > 0)
		buf_printf(&b, "%.*s: ", (int)f->sides[0].len, f->sides[0].p);
	if (f->is_host)
		host_verdict(f, &b);
	else
		say_gpu(f, &b);
	buf_putc(&b, '.');
	f->verdict = say_keep(f, &b);
	buf_free(&b);
}

void
say_all(struct figures *f)
{
	if (f->is_rocprof) /* what is busy and no kernel is a copy */
		f->all.copy_ns += f->all.busy_ns - f->all.compute_ns;
	for (size_t i = 0; f->is_rocprof && i < f->ranks.n; i++)
		f->ranks.v[i].copy_ns +=
		    f->ranks.v[i].busy_ns - f->ranks.v[i].compute_ns;
	host_sort(f);
	say_title(f);
	say_late(f);
	say_verdict(f);
	if (f->is_host)
		host_warnings(f);
	else
		mind_all(f);
}

/* SPDX-License-Identifier: MIT */
/*
 * The sentences: where the time went, how near to a roof, which rank is late.
 */
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-report/figures.h"

double
share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

void
put_share(struct buf *b, int64_t part, int64_t whole)
{
	buf_printf(b, "%.1f %%", share_of(part, whole));
}

void
put_part(struct buf *b, int64_t part, int64_t whole)
{
	double share = share_of(part, whole);

	if (part > 0 && share < 0.05)
		buf_puts(b, "under 0.1 %");
	else if (part < whole && share >= 99.95)
		buf_puts(b, "over 99.9 %");
	else
		put_share(b, part, whole);
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

/* The last part of a path and so many folders before it. */
static struct str
path_end(struct str path, size_t folders)
{
	size_t i = path.len;

	while (i > 0 && (path.p[i - 1] != '/' || folders-- > 0))
		i--;
	return (struct str){ path.p + i, path.len - i };
}

/* The name of a trace; with folders if the other has the same. */
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

/* "A against B", and the names of the sides. */
static void
put_against(const struct figures *f, struct buf *b)
{
	const struct settings *s = f->set;
	const struct str *sides = s->sides;
	struct str path = str_of(s->vs.v.v[0]);
	struct str device = s->other->facts.device;
	struct str other = s->facts.nsources > 1
	    ? base_name(path)
	    : name_beside(path, s->facts.name);

	if (s->vs.v.n > 1)
		other = str_of(
		    text("%zu %s", s->vs.v.n, s->by_rank ? "ranks" : "traces"));
	if (s->names != NULL)
		buf_printf(b, " (%.*s)", (int)sides[0].len, sides[0].p);
	buf_puts(b, " against ");
	if (str_eq(other, STR("-")))
		other = STR("standard input");
	table_fold_name(other, 0, b);
	if (!s->other->facts.devices_differ && device.len > 0 &&
	    !str_eq(device, s->facts.device)) {
		buf_puts(b, ", ");
		table_fold_name(device, 0, b);
	}
	if (s->names != NULL)
		buf_printf(b, " (%.*s)", (int)sides[1].len, sides[1].p);
}

/* Name of the trace, and its rank. */
static void
put_name(const struct settings *s, struct buf *b)
{
	const struct facts *facts = &s->facts;
	struct str name = s->vs.v.n == 0
	    ? base_name(facts->name)
	    : name_beside(facts->name, str_of(s->vs.v.v[0]));

	if (name.len == 0)
		name = STR("standard input");
	table_fold_name(name, 0, b);
	if (facts->nbeside == 1) {
		buf_puts(b, " with ");
		table_fold_name(facts->beside, 0, b);
	} else if (facts->nbeside > 1) {
		buf_printf(
		    b, " with %zu other files of its run", facts->nbeside);
	}
	if (!facts->has_rank)
		return;
	buf_printf(b, ", rank %" PRId64, facts->rank);
	if (facts->has_world)
		buf_printf(b, " of %" PRId64, facts->world);
}

static void
make_title(struct figures *f)
{
	const struct facts *facts = &f->set->facts;
	struct buf b = { 0 };

	if (facts->nsources > 1 && facts->nknown == facts->nsources &&
	    !f->by_src) {
		buf_printf(&b, "%zu", facts->nsources);
		if (facts->has_world)
			buf_printf(&b, " of %" PRId64, facts->world);
		buf_puts(&b, " ranks");
	} else if (facts->nsources > 1) {
		buf_printf(&b, "%zu traces", facts->nsources);
	} else {
		put_name(f->set, &b);
	}
	if (f->set->session != NULL)
		buf_printf(&b, ", %s", f->set->session);
	if (facts->devices_differ) {
		buf_puts(&b, ", several kinds of GPU");
	} else if (facts->device.len > 0) {
		buf_puts(&b, ", ");
		table_fold_name(facts->device, 0, &b);
	}
	if (f->set->vs.v.n > 0)
		put_against(f, &b);
	f->title = figures_keep(f, &b);
	buf_free(&b);
}

/* ---- who is late ---- */

static bool
has_verdict(const struct process_group *g)
{
	return g->verdict.len > 0 && !str_eq(g->verdict, STR("none"));
}

static void
put_waiting(struct buf *b, const struct process_group *g, size_t n)
{
	int64_t wait_ns = 0, all_ns = 0;

	for (size_t i = 0; i < n; i++) {
		time_add(&wait_ns, g[i].wait_ns);
		time_add(&all_ns, g[i].latency_ns);
	}
	time_add(&all_ns, wait_ns);
	if (wait_ns > 0) {
		buf_puts(b, ". Waiting is ");
		put_part(b, wait_ns, all_ns);
		buf_puts(b, " of the time in collectives");
	}
	buf_putc(b, '.');
}

/* No rank is late in any group: one sentence. */
static void
put_together(const struct figures *f, struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < f->groups.n; i++)
		n += f->groups.v[i].collectives > 0;
	if (n == 0) {
		buf_printf(b,
		    "Arrival skew unknown: none of %zu process groups has a "
		    "complete collective.",
		    f->groups.n);
		return;
	}
	if (n < f->groups.n)
		buf_printf(b,
		    "Ranks arrive together in %zu of %zu process groups; the "
		    "other%s no complete collective",
		    n, f->groups.n, f->groups.n - n == 1 ? " has" : "s have");
	else
		buf_printf(
		    b, "Ranks arrive together in all %zu process groups", n);
	put_waiting(b, f->groups.v, f->groups.n);
}

/* What the late rank's host costs, from tl-critical; the finding is a bound. */
static void
put_host_cost(const struct figures *f, struct buf *b)
{
	const struct rank_cost *c = &f->cost;

	if (c->loss_ns <= 0 || !str_eq(c->rank, f->finding_rank))
		return;
	buf_printf(b, "On the critical path rank %.*s's host costs the job ",
	    (int)c->rank.len, c->rank.p);
	put_time(b, c->loss_ns);
	buf_puts(b, ". ");
}

/* The largest cost, or the only group's sentence. */
static void
put_finding(const struct figures *f, struct buf *b)
{
	struct str says = f->finding.len > 0 ? f->finding : f->groups.v[0].says;
	size_t at;

	put_host_cost(f, b);
	at = b->len;
	buf_put(b, says.p, says.len);
	if (b->len > at && b->p[at] >= 'a' && b->p[at] <= 'z')
		b->p[at] = (char)(b->p[at] - 'a' + 'A');
	put_waiting(b, f->groups.v, f->groups.n);
}

static void
make_late(struct figures *f)
{
	struct buf b = { 0 };

	if (f->groups.n == 0 || f->set->linked_only)
		return;
	for (size_t i = 0; i < f->groups.n; i++)
		f->any_late |= has_verdict(&f->groups.v[i]);
	if (f->finding.len > 0 || f->groups.n == 1)
		put_finding(f, &b);
	else
		put_together(f, &b);
	f->late = figures_keep(f, &b);
	buf_free(&b);
}

/* ---- where the time went ---- */

/* For several ranks the mean, as a sum is no wall time. */
void
put_whole(const struct figures *f, int64_t ns, int64_t nranks, struct buf *b)
{
	put_time(b, ns / nranks);
	if (nranks > 1)
		buf_printf(b, " (mean of %" PRId64 " %s)", nranks,
		    f->by_src ? "traces" : "ranks");
}

/* Around selected windows the GPU may run other work. */
const char *
word_of_idle(const struct figures *f)
{
	return f->set->is_apart || window_is_named(f) ? "idle or not selected"
						      : "idle";
}

/* Shares; small ones are named only if computation is smaller. */
void
put_shares(const struct figures *f, const struct rank *all, struct buf *b)
{
	const struct {
		int64_t ns;
		const char *word;
	} parts[] = {
		{ all->compute_ns, f->set->is_rocprof ? "kernels" : "compute" },
		{ all->comm_ns, "exposed communication" },
		{ all->copy_ns, "exposed copies" },
		{ all->idle_ns, word_of_idle(f) },
	};
	const char *between = "";

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		bool is_little = share_of(parts[i].ns, all->total_ns) < 0.5 &&
		    parts[i].ns <= all->compute_ns;

		if (i == 3 ? parts[i].ns == 0 : i > 0 && is_little)
			continue;
		buf_puts(b, between);
		put_part(b, parts[i].ns, all->total_ns);
		buf_printf(b, " %s", parts[i].word);
		between = ", ";
	}
}

/*
 * How near to its roof the largest category runs, if half of its time has a
 * roofline that is not exceeded.
 */
static void
put_reached(
    const struct figures *f, struct str category, int64_t ns, struct buf *b)
{
	for (size_t i = 0; i < f->reached.list.n; i++) {
		const struct tally *r = &f->reached.list.v[i];

		if (!str_eq(r->name, category) || 2 * r->ns < ns ||
		    r->of_ns < 0)
			continue;
		buf_puts(b, " and runs at ");
		put_part(b, r->ns - r->of_ns, r->ns);
		buf_printf(b, " of the %s roof",
		    2 * r->count >= r->ns ? "compute" : "memory");
		if (f->roof.len > 0)
			buf_printf(b, " (%.*s)", (int)f->roof.len, f->roof.p);
	}
}

/*
 * The largest category of op time, or the first op of "other", if that time is
 * mostly computation.
 */
static void
put_mostly(const struct figures *f, struct buf *b)
{
	bool is_rocprof = f->set->is_rocprof;
	int64_t sum = tallies_sum(&f->categories);
	const struct tally *top;

	if (2 * f->graph_ns > f->ops_ns) {
		buf_putc(b, ' ');
		put_part(b, f->graph_ns, f->ops_ns);
		buf_printf(
		    b, " of %s is inside graph replays.", bound_op_time(f));
		return;
	}
	/* categories have all kernels, the list only linked ones */
	if (f->set->linked_only && !f->has_op_table)
		return;
	if (tallies_best(&f->categories, &top, 1) == 0 || top->ns <= 0)
		return;
	if (!is_rocprof &&
	    (sum < f->all.compute_ns / 2 || f->all.all_copy_ns > sum / 10))
		return;
	if ((str_eq(top->name, STR("other")) ||
		str_eq(top->name, STR("Other"))) &&
	    tallies_best(&f->ops, &top, 1) == 0)
		return;
	buf_putc(b, ' ');
	if (str_eq(top->name, STR("COMM")))
		buf_puts(b, "Communication");
	else
		table_fold_name(top->name, 40, b);
	buf_puts(b, " is ");
	put_part(b, top->ns, sum);
	buf_printf(b, " of %s",
	    is_rocprof || !f->has_op_table ? "kernel time" : bound_op_time(f));
	put_reached(f, top->name, top->ns, b);
	buf_putc(b, '.');
}

/*
 * Whether one is busy for less than half of what all together are: that is no
 * figure of each, then.
 */
static bool
are_apart(const struct figures *f, const rank_vec *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].busy_ns < f->all.busy_ns / 2)
			return f->ranks.n <= 1;
	return false;
}

/* A device or a process: one, several, and several where a sentence starts. */
struct noun {
	const char *one, *many, *first;
};

/* " The 8 GPUs are busy for 2.4 to 2.9 % of the window, GPU 1 least." */
static void
put_many(const struct figures *f, const rank_vec *list, const struct noun *noun,
    struct buf *b)
{
	const struct rank *least = list->v, *most = list->v;
	double share, high;
	bool are_alike;

	for (size_t i = 1; i < list->n; i++) {
		const struct rank *r = &list->v[i];

		least = r->busy_ns < least->busy_ns ? r : least;
		most = r->busy_ns > most->busy_ns ? r : most;
	}
	share = share_of(least->busy_ns, f->window.total_ns);
	high = share_of(most->busy_ns, f->window.total_ns);
	are_alike = high - share < 0.05;
	buf_printf(b, " The %zu %s are busy for ", list->n, noun->many);
	if (!are_alike)
		buf_printf(b, "%.1f to ", share);
	buf_printf(b, "%.1f %% of the window", high);
	if (!are_alike)
		buf_printf(b, ", %s %.*s least", noun->one,
		    (int)least->label.len, least->label.p);
	buf_putc(b, '.');
}

/* " GPUs 0 and 1 are busy for 6.1 and 3.6 % of the window." */
static void
put_each(const struct figures *f, const rank_vec *list, const struct noun *noun,
    struct buf *b)
{
	const struct rank *v = list->v;

	if (list->n < 2 || !(f->set->is_rocprof || are_apart(f, list)))
		return;
	if (list->n > 2)
		put_many(f, list, noun, b);
	else
		buf_printf(b,
		    " %s %.*s and %.*s are busy for %.1f and %.1f %% of the "
		    "window.",
		    noun->first, (int)v[0].label.len, v[0].label.p,
		    (int)v[1].label.len, v[1].label.p,
		    share_of(v[0].busy_ns, f->window.total_ns),
		    share_of(v[1].busy_ns, f->window.total_ns));
}

struct str
side_of(const struct figures *f)
{
	const struct settings *s = f->set;

	return s->other != NULL || s->side > 0 ? s->sides[s->side] : STR("");
}

void
put_side(const struct figures *f, struct buf *b)
{
	struct str side = side_of(f);

	if (side.len > 0)
		buf_printf(b, "%.*s: ", (int)side.len, side.p);
}

static void
make_verdict(struct figures *f)
{
	static const struct noun gpus = { "GPU", "GPUs", "GPUs" };
	static const struct noun processes = { "process", "processes",
		"Processes" };
	struct str side = side_of(f);
	struct buf b = { 0 };

	if (side.len > 0)
		buf_printf(&b, "%.*s%s: ", (int)side.len, side.p,
		    f->set->match != NULL ? ", matched iterations" : "");
	if (f->set->is_host) {
		host_verdict(f, &b);
	} else {
		bound_put(f, &b);
		if (f->set->linked_only)
			buf_puts(&b,
			    " No verdict with --linked-only: verdicts are "
			    "about all GPU work.");
		put_mostly(f, &b);
		put_each(f, &f->gpus, &gpus, &b);
		put_each(f, &f->processes, &processes, &b);
	}
	f->verdict = figures_keep(f, &b);
	buf_free(&b);
}

void
verdict_make(struct figures *f)
{
	make_title(f);
	make_late(f);
	make_verdict(f);
}

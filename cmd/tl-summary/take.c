/* SPDX-License-Identifier: MIT */
/* What of each table of a report counts. */
#include <stdlib.h>

#include "cmd/tl-summary/take.h"

/* ---- tables ---- */

/* Rows of a rank need not stand together. */
static struct rank *
rank_of(struct figures *f, struct str label)
{
	for (size_t i = f->ranks.n; i-- > 0;)
		if (str_eq(f->ranks.v[i].label, label))
			return &f->ranks.v[i];
	vec_push(&f->ranks, ((struct rank){ .label = figures_text(f, label) }));
	return &f->ranks.v[f->ranks.n - 1];
}

static void
take_timeline(struct figures *f, const struct line *l)
{
	static const struct {
		const char *type;
		size_t at;
	} types[] = {
		{ "total_time", offsetof(struct rank, total_ns) },
		{ "busy_time", offsetof(struct rank, busy_ns) },
		{ "computation_time", offsetof(struct rank, compute_ns) },
		{ "kernel", offsetof(struct rank, compute_ns) },
		{ "exposed_comm_time", offsetof(struct rank, comm_ns) },
		{ "exposed_memcpy_time", offsetof(struct rank, copy_ns) },
		{ "idle_time", offsetof(struct rank, idle_ns) },
		{ "idle", offsetof(struct rank, idle_ns) },
		{ "micro_idle_time", offsetof(struct rank, idle_ns) },
		{ "macro_idle_time", offsetof(struct rank, idle_ns) },
		{ "total_comm_time", offsetof(struct rank, all_comm_ns) },
		{ "total_memcpy_time", offsetof(struct rank, all_copy_ns) },
		{ "memory", offsetof(struct rank, all_copy_ns) },
		{ "unlinked_time", offsetof(struct rank, unlinked_ns) },
	};
	struct str type = line_text(f, l, "type");
	struct rank *r;

	f->by_src |= !line_lacks(l, "src");
	r = rank_of(f, line_text(f, l, f->by_src ? "src" : "rank"));
	f->is_rocprof |= str_eq(type, STR("kernel"));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(type, str_of(types[i].type))) {
			take_add((int64_t *)((char *)r + types[i].at),
			    line_int(l, "time_ns"));
			take_add((int64_t *)((char *)&f->all + types[i].at),
			    line_int(l, "time_ns"));
		}
}

/* ["GEMM","other"] as a list for people. */
static struct str
list_text(struct figures *f, struct str json)
{
	struct buf b = { 0 };
	struct str s;

	for (size_t i = 0; i < json.len; i++) {
		char c = json.p[i];

		if (c == ',')
			buf_puts(&b, ", ");
		else if (c != '[' && c != ']' && c != '"')
			buf_putc(&b, c);
	}
	s = figures_text(f, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
take_named(
    struct figures *f, const struct line *l, const char *ns, const char *what)
{
	struct tally *op = tally_of(f, &f->ops, line_text(f, l, "name"));
	int64_t spent = line_int(l, ns);

	take_add(&op->ns, spent);
	take_add(&op->count, line_int(l, "count"));
	op->what = list_text(f, line_text(f, l, what));
	take_add(&f->ops_ns, spent);
	if (take_ends_with(op->name, "GraphLaunch"))
		take_add(&f->graph_ns, spent);
}

static void
take_ops(struct figures *f, const struct line *l)
{
	take_named(f, l, "direct_ns_sum", "categories");
}

static void
take_kernels(struct figures *f, const struct line *l)
{
	if (!f->has_ops)
		take_named(f, l, "dur_ns_sum", "category");
}

static void
take_op_category(struct figures *f, const struct line *l)
{
	struct tally *c =
	    tally_of(f, &f->categories, line_text(f, l, "op_category"));

	take_add(&c->ns, line_int(l, "direct_ns_sum"));
}

static void
take_kernel_category(struct figures *f, const struct line *l)
{
	struct tally *c =
	    tally_of(f, &f->categories, line_text(f, l, "op_category"));

	take_add(&c->ns, line_int(l, "dur_ns_sum"));
}

static void
take_args(struct figures *f, const struct line *l)
{
	struct str dims = line_text(f, l, "input_dims");
	int64_t spent = line_int(l, "direct_ns_sum");

	if (take_is_call(line_text(f, l, "name")))
		return;
	take_add(&f->args_ns, spent);
	if (dims.len == 0 || str_eq(dims, STR("[]")))
		take_add(&f->shapeless_ns, spent);
}

/* A group may have the name of another, but not its ranks. */
static struct str
group_name(struct figures *f, const struct line *l)
{
	struct str desc = line_text(f, l, "desc"),
		   ranks = line_text(f, l, "ranks");
	struct str name = desc.len > 0 ? desc : line_text(f, l, "group");
	struct buf b = { 0 };

	buf_put(&b, name.p, name.len);
	if (ranks.len > 0) {
		buf_puts(&b, " of ranks ");
		buf_put(&b, ranks.p, ranks.len);
	}
	name = figures_text(f, buf_str(&b));
	buf_free(&b);
	return name;
}

static void
take_group(struct figures *f, const struct line *l)
{
	vec_push(&f->groups,
	    ((struct group){
		.name = group_name(f, l),
		.says = figures_text(f, line_text(f, l, "says")),
		.verdict = figures_text(f, line_text(f, l, "verdict")),
		.late_rank = figures_text(f, line_text(f, l, "late_rank")),
		.latency_ns = line_int(l, "latency_ns_sum"),
		.wait_ns = line_int(l, "wait_ns_sum"),
		.collectives = line_int(l, "collectives"),
	    }));
}

static struct rank *
known_rank(struct figures *f, const struct line *l)
{
	struct str label = line_text(f, l, "rank");

	for (size_t i = 0; !f->by_src && i < f->ranks.n; i++)
		if (str_eq(f->ranks.v[i].label, label))
			return &f->ranks.v[i];
	return NULL;
}

static void
take_straggler(struct figures *f, const struct line *l)
{
	struct rank *r = known_rank(f, l);

	if (r == NULL)
		return;
	r->has_wait = true;
	r->wait_ns = line_int(l, "wait_ns_total");
	r->times_last = line_int(l, "times_last");
}

/* Whether a group is judged by it. */
static bool
is_the_late_one(const struct figures *f, const struct rank *r)
{
	for (size_t i = 0; i < f->groups.n; i++)
		if (!str_eq(f->groups.v[i].verdict, STR("none")) &&
		    str_eq(f->groups.v[i].late_rank, r->label))
			return true;
	return false;
}

/* Of the group in which it is latest. */
static void
take_cause(struct figures *f, const struct line *l)
{
	struct rank *r = known_rank(f, l);
	struct str verdict = line_text(f, l, "verdict");
	int64_t late_ns = line_int(l, "late_ns_sum");

	if (r == NULL || late_ns <= r->late_ns ||
	    str_eq(verdict, STR("none")) || !is_the_late_one(f, r))
		return;
	r->late_ns = late_ns;
	r->verdict = figures_text(f, verdict);
}

/* ---- tables of a trace without GPU work ---- */

/* A thread without a name has its number. */
static void
take_thread(struct figures *f, const struct line *l)
{
	struct str name = line_text(f, l, "thread_name");
	struct thread t = { .total_ns = line_int(l, "total_ns"),
		.busy_ns = line_int(l, "busy_ns"),
		.op_ns = line_int(l, "op_ns") };
	struct buf b = { 0 };

	if (!line_lacks(l, "rank"))
		buf_printf(&b, "rank %" PRId64 " ", line_int(l, "rank"));
	if (!line_lacks(l, "src"))
		buf_printf(&b, "trace %" PRId64 " ", line_int(l, "src"));
	if (str_eq(name, STR("Unknown"))) {
		buf_puts(&b, "thread ");
		name = line_text(f, l, "tid");
	}
	buf_put(&b, name.p, name.len);
	t.label = figures_text(f, buf_str(&b));
	vec_push(&f->threads, t);
	buf_free(&b);
}

static void
take_host_ops(struct figures *f, const struct line *l)
{
	take_named(f, l, "cpu_self_ns", "categories");
}

/* Only for the category of each. */
static void
take_host_args(struct figures *f, const struct line *l)
{
	struct tally *op = tally_of(f, &f->ops, line_text(f, l, "name"));

	if (op->what.len == 0)
		op->what = figures_text(f, line_text(f, l, "op_category"));
}

static void
take_host_category(struct figures *f, const struct line *l)
{
	struct tally *c =
	    tally_of(f, &f->categories, line_text(f, l, "op_category"));

	take_add(&c->ns, line_int(l, "cpu_self_ns"));
}

/* ---- tables of tl-diff ---- */

static void
take_sentence(struct figures *f, const struct line *l)
{
	vec_push(&f->sentences, change_sentence(f, line_text(f, l, "text")));
}

/* They are sorted: what is no noise first, by size. */
static void
take_change(struct figures *f, const struct line *l, enum change_of of)
{
	const struct val *noise = line_cell(l, "is_noise");
	size_t n = 0;

	for (size_t i = 0; i < f->changes.n; i++)
		n += f->changes.v[i].of == of;
	if (n == TOP_CHANGES || line_int(l, "diff_ns") == 0 ||
	    (noise->type == VAL_BOOL && noise->yes))
		return;
	vec_push(&f->changes,
	    ((struct change){
		.name = change_name(f, line_text(f, l, "name"),
		    line_text(f, l, "name_after"),
		    line_text(f, l, "input_dims")),
		.before_ns = line_int(l, "before_ns"),
		.after_ns = line_int(l, "after_ns"),
		.count = { line_real(l, "count_before"),
		    line_real(l, "count_after") },
		.of = of,
	    }));
}

static void
take_op_change(struct figures *f, const struct line *l)
{
	f->compares_ops = true;
	take_change(f, l,
	    take_ends_with(line_text(f, l, "name"), "GraphLaunch")
		? CHANGE_LAUNCH
		: CHANGE_OP);
}

/* Where ops are compared, of replays only: of ops it would say it twice. */
static void
take_kernel_change(struct figures *f, const struct line *l)
{
	if (!f->compares_ops ||
	    str_starts(line_text(f, l, "kind"), STR("replay")))
		take_change(f, l, CHANGE_KERNEL);
}

/* ---- which tables ---- */

/* In this order: later ones look at what earlier ones left. */
/* What the summary says itself, with the share of the time, is not repeated. */
static void
take_warning(struct figures *f, const struct line *l)
{
	static const enum report_id said[] = { MSG_MODEL_LACKS, MSG_NO_LAUNCHES,
		MSG_NO_OP_OWNS };
	enum report_id id = report_find(line_text(f, l, "id"));

	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		if (id == said[i])
			return;
	vec_push(&f->warnings, figures_text(f, line_text(f, l, "text")));
}

const struct input inputs[] = {
	{ "gpu_timeline", take_timeline },
	{ "host_timeline", take_thread },
	{ "cpu_ops", take_host_ops },
	{ "cpu_ops_unique_args", take_host_args },
	{ "cpu_ops_by_category", take_host_category },
	{ "ops_summary", take_ops },
	{ "ops_summary_by_category", take_op_category },
	{ "ops_unique_args", take_args },
	{ "unified_perf_summary", take_roofline },
	{ "by_name", take_kernels },
	{ "kernel_summary_by_category", take_kernel_category },
	{ "nccl_groups", take_group },
	{ "straggler_summary", take_straggler },
	{ "straggler_cause", take_cause },
	{ "diff_verdict", take_sentence },
	{ "diff_ops_summary", take_op_change },
	{ "diff_kernels", take_kernel_change },
	{ "warnings", take_warning },
	{ NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/* Reads the figures of each table. */
#include "json/json.h"

#include "cmd/tl-report/changes.h"

/* Runtime calls own work that no op launched; they have no shapes. */
static bool
is_runtime_call(struct str name)
{
	return str_starts(name, STR("hip")) || str_starts(name, STR("cuda")) ||
	    (str_starts(name, STR("cu")) && name.len > 2 && name.p[2] >= 'A' &&
		name.p[2] <= 'Z');
}

/* ---- tables ---- */

/* A rank's rows may be apart. */
static struct rank *
rank_of(struct figures *f, rank_vec *list, struct str label)
{
	for (size_t i = list->n; i-- > 0;)
		if (str_eq(list->v[i].label, label))
			return &list->v[i];
	vec_push(list, ((struct rank){ .label = figures_text(f, label) }));
	return &list->v[list->n - 1];
}

static void
add_time(struct rank *r, struct str type, int64_t ns)
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

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(type, str_of(types[i].type)))
			time_add((int64_t *)((char *)r + types[i].at), ns);
}

static void
take_timeline(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str type = line_text(l, "type");

	f->by_src |= !line_lacks(l, "src");
	add_time(
	    rank_of(f, &f->ranks, line_text(l, f->by_src ? "src" : "rank")),
	    type, line_int(l, "time_ns"));
	add_time(&f->all, type, line_int(l, "time_ns"));
}

/* Only for a single rank: several ranks have a bar each. */
static void
take_part_of(
    struct figures *f, rank_vec *list, const char *key, const struct line *l)
{
	if (f->ranks.n == 1 && !line_lacks(l, key))
		add_time(rank_of(f, list, line_text(l, key)),
		    line_text(l, "type"), line_int(l, "time_ns"));
}

static void
take_gpu(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	take_part_of(f, &f->gpus, "dev", l);
}

static void
take_process(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	take_part_of(f, &f->processes, "pid", l);
}

/* A JSON list as words: ["GEMM","other"]. */
static struct str
list_text(struct figures *f, struct str cell, const char *between)
{
	json_items items = { 0 };
	struct buf b = { 0 };
	struct str s = cell;

	if (json_split(&items, f->text, cell)) {
		for (size_t i = 0; i < items.n; i++) {
			buf_puts(&b, i > 0 ? between : "");
			buf_put(&b, items.v[i].text.p, items.v[i].text.len);
		}
		s = buf_str(&b);
	}
	s = figures_text(f, s);
	vec_free(&items);
	buf_free(&b);
	return s;
}

static void
take_named(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct tally *op = tally_of(f, &f->ops, line_text(l, "name"));
	int64_t spent = line_int(l, f->input->ns);

	time_add(&op->ns, spent);
	time_add(&op->count, line_int(l, "count"));
	op->what = list_text(f, line_text(l, f->input->what), ", ");
	time_add(&f->ops_ns, spent);
	if (str_ends(op->name, STR("GraphLaunch")))
		time_add(&f->graph_ns, spent);
	if (is_runtime_call(op->name))
		time_add(&f->outside_ns, spent);
}

static void
take_kernels(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	if (!f->has_op_table)
		take_named(f, l);
}

static void
take_category(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct tally *c =
	    tally_of(f, &f->categories, line_text(l, "op_category"));

	time_add(&c->ns, line_int(l, f->input->ns));
}

/* --by: ops without a module, annotation or step are "(none)". */
static void
take_grouped(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str name = line_text(l, f->input->what);
	struct tally *t =
	    tally_of(f, &f->grouped, name.len > 0 ? name : STR("(none)"));

	time_add(&t->ns, line_int(l, f->input->ns));
	time_add(&t->count, line_int(l, "count"));
}

static void
take_args(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str dims = line_text(l, "input_dims");
	int64_t spent = line_int(l, "direct_ns_sum");

	if (is_runtime_call(line_text(l, "name")))
		return;
	time_add(&f->args_ns, spent);
	/* an XLA instruction may read no array */
	if (dims.len == 0 || (!f->set->is_xla && str_eq(dims, STR("[]"))))
		time_add(&f->shapeless_ns, spent);
}

/* Groups of other ranks may share a name. */
static struct str
group_name(struct figures *f, const struct line *l)
{
	struct str desc = line_text(l, "desc"), ranks = line_text(l, "ranks");
	struct str name = desc.len > 0 ? desc : line_text(l, "group");
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
take_group(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	vec_push(&f->groups,
	    ((struct process_group){
		.name = group_name(f, l),
		.says = figures_text(f, line_text(l, "says")),
		.verdict = figures_text(f, line_text(l, "verdict")),
		.late_rank = figures_text(f, line_text(l, "late_rank")),
		.latency_ns = line_int(l, "latency_ns_sum"),
		.wait_ns = line_int(l, "wait_ns_sum"),
		.collectives = line_int(l, "collectives"),
	    }));
}

/* Keeps the first sentence: the largest cost. */
static void
take_finding(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	if (f->finding.len > 0 || str_eq(line_text(l, "verdict"), STR("none")))
		return;
	f->finding = figures_text(f, line_text(l, "text"));
	f->finding_rank = figures_text(f, line_text(l, "rank"));
}

static struct rank *
known_rank(struct figures *f, const struct line *l)
{
	struct str label = line_text(l, "rank");

	for (size_t i = 0; !f->by_src && i < f->ranks.n; i++)
		if (str_eq(f->ranks.v[i].label, label))
			return &f->ranks.v[i];
	return NULL;
}

static void
take_straggler(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct rank *r = known_rank(f, l);

	if (r == NULL)
		return;
	r->has_wait = true;
	r->wait_ns = line_int(l, "wait_ns_total");
	r->times_last = line_int(l, "times_last");
}

/* Whether the rank is the late one of a group. */
static bool
is_the_late_one(const struct figures *f, const struct rank *r)
{
	for (size_t i = 0; i < f->groups.n; i++)
		if (!str_eq(f->groups.v[i].verdict, STR("none")) &&
		    str_eq(f->groups.v[i].late_rank, r->label))
			return true;
	return false;
}

/* Keeps the cause from the group where the rank is latest. */
static void
take_cause(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct rank *r = known_rank(f, l);
	struct str verdict = line_text(l, "verdict");
	int64_t late_ns = line_int(l, "late_ns_sum");

	if (r == NULL)
		return;
	time_add(&r->caused_ns, line_int(l, "caused_wait_ns"));
	r->nlast += line_int(l, "times_last");
	if (!line_lacks(l, "times_late"))
		r->ntimes_late += line_int(l, "times_late");
	r->ncollectives += line_int(l, "collectives");
	if (f->set->linked_only || late_ns <= r->late_ns ||
	    str_eq(verdict, STR("none")) || !is_the_late_one(f, r))
		return;
	r->late_ns = late_ns;
	r->verdict = figures_text(f, verdict);
}

static void
take_cost(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	double percent = line_real(l, "loss_percent");

	if (!(percent > f->cost.percent) || line_lacks(l, "rank"))
		return;
	f->cost = (struct rank_cost){
		.rank = figures_text(f, line_text(l, "rank")),
		.name = figures_text(f, line_text(l, "name")),
		.uid = figures_text(f, line_text(l, "uid")),
		.chain = list_text(f, line_text(l, "chain"), " > "),
		.loss_ns = line_int(l, "loss_ns"),
		.by_ns = line_int(l, "by_ns"),
		.excess_ns = line_int(l, "excess_ns"),
		.percent = percent,
	};
}

/* ---- tables of tl-diff ---- */

static void
take_sentence(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	vec_push(&f->sentences, change_sentence(f, line_text(l, "text")));
}

/* Rows are sorted: beyond noise first, by size. */
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
		.name = change_name(f, line_text(l, "name"),
		    line_text(l, "name_after"), line_text(l, "input_dims")),
		.before_ns = line_int(l, "before_ns"),
		.after_ns = line_int(l, "after_ns"),
		.count = { line_real(l, "count_before"),
		    line_real(l, "count_after") },
		.of = of,
	    }));
}

static void
take_op_change(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	f->compares_ops = true;
	take_change(f, l,
	    str_ends(line_text(l, "name"), STR("GraphLaunch")) ? CHANGE_LAUNCH
							       : CHANGE_OP);
}

/* If ops are compared, only kernels of replays: others would count twice. */
static void
take_kernel_change(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	if (!f->compares_ops || str_starts(line_text(l, "kind"), STR("replay")))
		take_change(f, l, CHANGE_KERNEL);
}

/* ---- the table of rooflines ---- */

static void
take_loss(struct figures *f, const struct line *l, bool is_compute)
{
	struct buf key = { 0 };
	struct str name = line_text(l, "name");
	struct str dims = line_text(l, "input_dims");
	struct tally *loss;

	buf_put(&key, name.p, name.len);
	buf_putc(&key, ' ');
	buf_put(&key, dims.p, dims.len);
	loss = tally_of(f, &f->losses, buf_str(&key));
	buf_free(&key);
	time_add(&loss->ns, line_int(l, "lost_ns"));
	time_add(&loss->of_ns, line_int(l, "kernel_ns_sum"));
	loss->what = is_compute ? STR("compute") : STR("memory");
}

static void
take_reached(struct figures *f, const struct line *l, int64_t compute_ns)
{
	struct tally *c = tally_of(f, &f->reached, line_text(l, "op_category"));

	time_add(&c->ns, line_int(l, "kernel_ns_sum"));
	time_add(&c->of_ns, line_int(l, "lost_ns"));
	time_add(&c->count, compute_ns);
}

static void
take_intensity(struct figures *f, double v)
{
	if (!(v > 0))
		return;
	if (f->most_per_byte == 0 || v < f->least_per_byte)
		f->least_per_byte = v;
	if (v > f->most_per_byte)
		f->most_per_byte = v;
}

/* Both roofs; without FLOPs the memory roof. */
static void
take_roof(struct figures *f, const struct line *l)
{
	double tflop_s = line_real(l, "roof_tflop_s");
	struct tally *spec;

	if (line_real(l, "roof_tb_s") > 0)
		f->tb_per_s = line_real(l, "roof_tb_s");
	if (!(tflop_s > 0) || !(line_real(l, "gflop") > 0))
		return;
	spec = tally_of(f, &f->specs, line_text(l, "compute_spec"));
	spec->real = tflop_s;
	time_add(&spec->ns, line_int(l, "kernel_ns_sum"));
}

/* "launch" of "launch->kernel". */
static struct str
owner_of(struct str name)
{
	ptrdiff_t arrow = str_find(name, STR("->"), false);

	if (arrow >= 0)
		name.len = (size_t)arrow;
	return name;
}

/* "gemm.lua:62: no argument 1" without the place in our own file. */
static struct str
without_place(struct str reason)
{
	ptrdiff_t at = str_find(reason, STR(".lua:"), false);
	size_t i;

	if (at < 0)
		return reason;
	i = (size_t)at + 5;
	while (i < reason.len && reason.p[i] >= '0' && reason.p[i] <= '9')
		i++;
	if (i + 1 >= reason.len || reason.p[i] != ':' || reason.p[i + 1] != ' ')
		return reason;
	return (struct str){ reason.p + i + 2, reason.len - i - 2 };
}

/*
 * Skips graph launches, whose ops are not in the trace, and copies and
 * communication, which need no model.
 */
static void
take_unmodelled(struct figures *f, const struct line *l, int64_t spent)
{
	struct str owner = owner_of(line_text(l, "name"));
	struct str category = line_text(l, "op_category");
	const struct val *has = line_cell(l, "has_perf_model");
	bool lacks = has->type == VAL_BOOL && has->yes;
	struct tally *op;

	if (str_ends(owner, STR("GraphLaunch")) ||
	    str_eq(category, STR("memcpy")) ||
	    str_eq(category, STR("communication")))
		return;
	if (is_runtime_call(owner)) {
		time_add(&f->opless_ns, spent);
		return;
	}
	op = tally_of(f, lacks ? &f->lacking : &f->unknown, owner);
	time_add(&op->ns, spent);
	if (op->what.len == 0)
		op->what = figures_text(
		    f, without_place(line_text(l, "model_reason")));
}

/* Percent of the roofline: more is no rounding error. */
#define OVER 110

/* Above the roofline: a figure is wrong. */
static void
take_over(struct figures *f, const struct line *l, int64_t spent)
{
	double reached = 100 * (1 - line_real(l, "lost_ns") / (double)spent);
	struct tally *op;

	if (spent <= 0 || reached < OVER ||
	    !str_eq(line_text(l, "above_roof"), STR("unexplained")))
		return;
	op = tally_of(f, &f->over, line_text(l, "name"));
	time_add(&op->ns, spent);
	time_add(&f->over_ns, spent);
	op->real = op->real > reached ? op->real : reached;
}

static void
take_roofline(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str bound = line_text(l, "roofline_bound");
	int64_t spent = line_int(l, "kernel_ns_sum");
	bool is_compute = str_starts(bound, STR("COMPUTE"));

	time_add(&f->unified_ns, spent);
	if (str_starts(bound, STR("LINK"))) /* no share without its rate */
		return;
	if (line_lacks(l, "lost_ns") || bound.len == 0) {
		/* without bytes it has a roof on no GPU */
		if (!line_lacks(l, "gflop") && !line_lacks(l, "moved_mib") &&
		    line_text(l, "roof").len == 0)
			time_add(&f->roofless_ns, spent);
		else if (line_lacks(l, "gflop"))
			take_unmodelled(f, l, spent);
		return;
	}
	time_add(&f->modelled_ns, spent);
	take_reached(f, l, is_compute ? spent : 0);
	f->roof = figures_text(f, line_text(l, "roof"));
	take_over(f, l, spent);
	take_intensity(f, line_real(l, "flop_per_byte"));
	take_loss(f, l, is_compute);
	take_roof(f, l);
}

/* ---- which tables ---- */

/* In this order, as later ones use what earlier ones found. */
const struct input inputs[] = {
	{ "gpu_timeline", take_timeline, true, NULL, NULL },
	{ "gpu_timeline_by_agent", take_gpu, false, NULL, NULL },
	{ "gpu_timeline_by_process", take_process, false, NULL, NULL },
	{ "idle_window", bound_take_window, false, NULL, NULL },
	{ "idle", bound_take_idle, false, NULL, NULL },
	{ "steps_summary", bound_take_pace, false, NULL, NULL },
	{ "steps", kinds_take, false, NULL, NULL },
	{ "phase_summary", phases_take, false, NULL, NULL },
	{ "phase_ranks", phases_take_ranks, false, NULL, NULL },
	{ "host_timeline", host_take_thread, false, NULL, NULL },
	{ "cpu_ops", take_named, false, "cpu_self_ns", "categories" },
	{ "cpu_ops_unique_args", host_take_args, false, NULL, NULL },
	{ "cpu_ops_by_category", take_category, false, "cpu_self_ns", NULL },
	{ "ops_summary", take_named, false, "direct_ns_sum", "categories" },
	{ "ops_summary_by_category", take_category, false, "direct_ns_sum",
	    NULL },
	{ "ops_unique_args", take_args, false, NULL, NULL },
	{ "ops_by_module", take_grouped, false, "direct_ns_sum", "module" },
	{ "ops_by_annotation", take_grouped, false, "direct_ns_sum",
	    "annotation" },
	{ "ops_by_phase", take_grouped, false, "direct_ns_sum", "phase" },
	{ "ops_by_step", take_grouped, false, "direct_ns_sum", "step" },
	{ "ops_by_thread", take_grouped, false, "direct_ns_sum",
	    "thread_name" },
	{ "unified_perf_summary", take_roofline, false, NULL, NULL },
	{ "roofline_by_phase", phases_take_roof, false, NULL, NULL },
	{ "roofline_by_step", mfu_take, false, NULL, NULL },
	{ "kernels_by_name", take_kernels, false, "dur_ns_sum", "category" },
	{ "kernel_summary_by_category", take_category, false, "dur_ns_sum",
	    NULL },
	{ "nccl_verdict", take_finding, false, NULL, NULL },
	{ "nccl_groups", take_group, true, NULL, NULL },
	{ "straggler_summary", take_straggler, true, NULL, NULL },
	{ "straggler_cause", take_cause, true, NULL, NULL },
	{ "critical_ranks", take_cost, false, NULL, NULL },
	{ "advice", advice_take, false, NULL, NULL },
	{ "diff_verdict", take_sentence, false, NULL, NULL },
	{ "nccl_vs", versus_take, false, NULL, NULL },
	{ "diff_ops_summary", take_op_change, false, NULL, NULL },
	{ "diff_kernels", take_kernel_change, false, NULL, NULL },
	{ NULL, NULL, false, NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * tl-ops: which ops took the GPU time? A sink over a tree: it keeps a record of
 * each op that launches GPU work, and prints groups of them.
 */
#include "cmd/tl-ops/ops.h"

#define OPT_ALL_OPS (OPT_LONG + 0)
#define OPT_BY (OPT_LONG + 1)
#define OPT_CLOCK (OPT_LONG + 2)
#define OPT_FIRST (OPT_LONG + 3)
#define OPT_INCLUDE_COMM (OPT_LONG + 4)
#define OPT_LINKED_ONLY (OPT_LONG + 5)
#define OPT_NUM_KERNELS (OPT_LONG + 7)
#define OPT_OVERLAP (OPT_LONG + 8)
#define OPT_RECOMPUTE (OPT_LONG + 9)
#define OPT_CALL_STACK (OPT_LONG + 11)
#define OPT_PARENT_MODULE (OPT_LONG + 12)
#define OPT_PHASE_METHOD (OPT_LONG + 13)
#define OPT_PHASE_THRESHOLD (OPT_LONG + 14)
#define THRESHOLD_MAX 1000000000

static const struct opt options[] = {
	{ OPT_ALL_OPS, "all-ops", NULL,
	    "GPU time below each op, also of ops without launches" },
	{ OPT_BY, "by",
	    "annotation|args|category|module|name|phase|pid|step|thread",
	    "group by this" },
	{ OPT_CALL_STACK, "call-stack", NULL,
	    "add the call stack of the first call" },
	{ OPT_CLOCK, "clock", "gpu|cpu", "GPU time, or host time (cpu)" },
	{ OPT_FIRST, "first-occurrence", NULL,
	    "by args: add when each first ran" },
	{ OPT_INCLUDE_COMM, "include-comm", NULL,
	    "count collectives in their ops" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "with --overlap: only GPU work with a launch" },
	OPT_SINK_LIST_ROW,
	{ OPT_NUM_KERNELS, "num-kernels", NULL,
	    "by args: split by number of kernels" },
	{ OPT_OVERLAP, "overlap", NULL,
	    "by args: split by overlapping GPU work" },
	{ OPT_PARENT_MODULE, "parent-module", NULL,
	    "split by type of nn.Module" },
	{ OPT_PHASE_METHOD, "phase-method", "METHOD",
	    "how to tell phases: annotation, hybrid or another guess" },
	{ OPT_PHASE_THRESHOLD, "phase-threshold", "N",
	    "guessed phases: more rows than N are a prompt (10)" },
	OPT_SINK_PSEUDO_ROW,
	{ OPT_RECOMPUTE, "recompute", NULL, "separate recomputed work" },
	OPT_SINK_TABLE_ROW,
	OPT_BUCKET,
	OPT_MODELS,
	OPT_SINK,
};

static const struct about about = {
	"which ops took the GPU time",
	"[OPTIONS] [FILE...]",
	"tl-ops --by args --top 20 trace.json.gz",
};

static const char *const clock_words[] = { "gpu", "cpu", NULL };

static const char *const by_words[] = {
	[BY_CATEGORY] = "category",
	[BY_NAME] = "name",
	[BY_ARGS] = "args",
	[BY_MODULE] = "module",
	[BY_ANNOTATION] = "annotation",
	[BY_PHASE] = "phase",
	[BY_STEP] = "step",
	[BY_THREAD] = "thread",
	[BY_PID] = "pid",
	[BY_COUNT] = NULL,
};

/* Says why there are no calls. */
static void
explain_empty(struct sink *s)
{
	const struct ops *g = ops_of(s);
	const char *path = s->sources.path;
	const struct sink_source sum = sink_sources_sum(&s->sources);

	if (g->names.n > 0 && (g->all_ops || sum.ngpu > sum.nunlinked))
		die_nothing(MSG_NO_SUCH_OP, path, there_str(&g->there));
	if (g->all_ops)
		die_nothing(MSG_NO_OPS, path, s->nevents);
	sink_check_gpu(s);
	if (sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LAUNCHES, path, sum.ngpu);
	if (sum.nchosen == 0)
		sink_die_no_match(s);
	die_nothing(MSG_NO_OWNED_GPU_EVENTS, path, sum.nchosen);
}

static void
begin(struct sink *s)
{
	((struct ops *)s)->models = models_create();
	tables_begin();
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct ops *g = (struct ops *)s;

	switch (ch) {
	case OPT_ALL_OPS: g->all_ops = true; break;
	case OPT_BY: g->by = (enum by)opt_word(op, by_words); break;
	case OPT_CALL_STACK: g->call_stack = true; break;
	case OPT_PARENT_MODULE: g->parent_module = true; break;
	case OPT_PHASE_METHOD:
		g->phases.method =
		    (enum phase_method)opt_word(op, phase_method_words);
		break;
	case OPT_PHASE_THRESHOLD:
		g->phases.threshold = opt_int(op, 0, THRESHOLD_MAX);
		break;
	case OPT_CLOCK: g->of_cpu = opt_word(op, clock_words) == 1; break;
	case OPT_FIRST: g->first_occurrence = true; break;
	case OPT_INCLUDE_COMM: g->with_comm = true; break;
	case OPT_LINKED_ONLY: g->linked_overlap = true; break;
	case OPT_NUM_KERNELS: g->num_kernels = true; break;
	case OPT_OVERLAP: g->overlap = true; break;
	case OPT_RECOMPUTE: g->recompute = true; break;
	case OPT_MODELS_FILE: models_load(g->models, op->arg); break;
	case OPT_SELECT_NAME: vec_push(&g->names, str_of(op->arg)); break;
	default: return false;
	}
	return true;
}

static void
check_settings(struct sink *s)
{
	struct ops *g = (struct ops *)s;

	tables_choose(g);
	select_check_gpu(&s->select);
	if (s->dest.dir == NULL && g->by != BY_ARGS &&
	    (g->overlap || g->num_kernels || g->first_occurrence))
		die_usage("option '--%s' needs --by args",
		    g->overlap           ? "overlap"
			: g->num_kernels ? "num-kernels"
					 : "first-occurrence");
	if (s->dest.dir == NULL && g->by > BY_ARGS &&
	    (g->call_stack || g->parent_module))
		die_usage("option '--%s' needs --by name, category or args",
		    g->call_stack ? "call-stack" : "parent-module");
	if (s->dest.dir == NULL && g->phases.method < METHOD_COUNT &&
	    s->named == NULL && g->by != BY_PHASE)
		die_usage("option '--phase-method' needs -d, --by phase or a "
			  "table of a phase");
	if (g->of_cpu)
		g->all_ops = true;
	s->select.need_windows = g->by == BY_STEP || g->by == BY_ANNOTATION;
	s->kinds = KINDS_HOST;
	/* frames tell what is recomputed */
	if (g->by == BY_MODULE || g->parent_module || g->call_stack ||
	    g->recompute)
		s->kinds |= KIND_BIT(KIND_PYTHON);
	s->kinds |= KIND_BIT(KIND_ANNOTATION);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = ops_columns,
	.measures = ops_measures,
	.once = 1U << M_DIRECT,
	.nmeasures = M_COUNT,
	.details = { offsetof(struct call, first_kernel),
	    offsetof(struct call, nkernels), offsetof(struct call, overlap),
	    ops_kernel },
	.tables = ops_tables,
	.ntables = OPS_NTABLES,
	.record_size = sizeof(struct call),
	.want = WANT_TREE,
	.kinds = KINDS_GPU,
	.in_time = true,
	.launcher = ops_launcher,
	.begin = begin,
	.option = take_option,
	.check = check_settings,
	.start = ops_start,
	.take = ops_take,
	.finish = ops_finish,
	.empty = explain_empty,
	.free = ops_free,
	.asked = ops_asked,
	.fits = ops_fits,
	.wants = ops_wants,
	.member = ops_member,
	.planned = ops_planned,
	.whole = ops_whole,
	.notes = ops_notes,
	.cell = ops_cell,
};

int
main(int argc, char *argv[])
{
	struct ops g = {
		.sink = { .def = &def }, .by = BY_NAME, .phases = PHASES
	};

	return sink_main(&g.sink, argc, argv);
}

/* SPDX-License-Identifier: MIT */
/*
 * tl-kernels: which kernels took the GPU time. A sink over a tree: a record of
 * each kernel with the op that launched it, in groups.
 */
#include "cmd/tl-kernels/kernels.h"
#include "cmd/tl-kernels/runs.h"

#define OPT_BINS (OPT_LONG + 0)
#define OPT_BY (OPT_LONG + 1)
#define OPT_KEEP_UNOWNED (OPT_LONG + 2)
#define OPT_MAX_LENGTH (OPT_LONG + 3)
#define OPT_MIN_LENGTH (OPT_LONG + 4)
#define OPT_SHORT (OPT_LONG + 5)
#define OPT_OP (OPT_LONG + 6)
#define OPT_ARCH (OPT_LONG + 7)
#define OPT_SEQUENCES (OPT_LONG + 8)
#define OPT_ROOF (OPT_LONG + 9)
#define OPT_CATEGORIES (OPT_LONG + 10)
#define OPT_PHASE_METHOD (OPT_LONG + 11)
#define OPT_PHASE_THRESHOLD (OPT_LONG + 12)

#define NBINS 100
#define NBINS_MAX 1000000
#define SHORT_NS 10000
#define LENGTH_MIN 2
#define LENGTH_MAX 8
#define THRESHOLD_MAX 1000000000

static const struct opt options[] = {
	{ OPT_ARCH, "arch", "GPU", "the GPU: auto, a name or a JSON file" },
	{ OPT_HINT, "gpu", NULL, "--arch names the GPU, --dev selects one" },
	{ OPT_BINS, "bins", "N", "bins of short_kernel_histogram" },
	{ OPT_BY, "by",
	    "name|launch-config|op|op,args,kernel|event|pid|annotation|phase|"
	    "step",
	    "group by this" },
	{ OPT_CATEGORIES, "categories", "FILE",
	    "rules: inference, rocprof, activity, genesis, jax, or a JSON "
	    "file" },
	{ OPT_KEEP_UNOWNED, "keep-unowned", NULL,
	    "keep short kernels without op or arguments" },
	OPT_SINK_LINKED_ROW,
	OPT_SINK_LIST_ROW,
	{ OPT_MAX_LENGTH, "max-length", "N",
	    "at most N kernels in a sequence (8)" },
	{ OPT_MIN_LENGTH, "min-length", "N",
	    "at least N kernels in a sequence (2)" },
	{ OPT_OP, "op", "GLOB",
	    "with --sequences: only below ops of this name" },
	{ OPT_PHASE_METHOD, "phase-method", "METHOD",
	    "how to tell phases, see tl-ops(1)" },
	{ OPT_PHASE_THRESHOLD, "phase-threshold", "N",
	    "guessed phases: more rows than N are a prompt (10)" },
	OPT_SINK_PSEUDO_ROW,
	{ OPT_ROOF, "roof", "peak|achievable",
	    "peak: data sheet; achievable: measured" },
	{ OPT_SEQUENCES, "sequences", NULL,
	    "recurring sequences of kernels: candidates to fuse" },
	{ OPT_SHORT, "short", "TIME",
	    "in the tables of short kernels: those below TIME (10us)" },
	OPT_SINK_TABLE_ROW,
	OPT_BUCKET,
	OPT_MODELS,
	OPT_SINK,
};

static const struct about about = {
	"which kernels took the GPU time",
	"[OPTIONS] [FILE...]",
	"tl-kernels --top 20 trace.json.gz",
};

static const char *const by_words[] = {
	[BY_NAME] = "name",
	[BY_CONFIG] = "launch-config",
	[BY_OP] = "op",
	[BY_ARGS] = "op,args,kernel",
	[BY_EVENT] = "event",
	[BY_PID] = "pid",
	[BY_ANNOTATION] = "annotation",
	[BY_PHASE] = "phase",
	[BY_STEP] = "step",
	[BY_STEP + 1] = NULL,
};

static void
begin(struct sink *s)
{
	((struct kernels *)s)->models = models_create();
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct kernels *k = (struct kernels *)s;

	switch (ch) {
	case OPT_ARCH: k->arch_name = op->arg; break;
	case OPT_ROOF: k->roof = (enum roof)opt_word(op, roof_words); break;
	case OPT_BINS:
		k->nbins = opt_int(op, 1, NBINS_MAX);
		k->of_short = "bins";
		break;
	case OPT_CATEGORIES: k->categories_name = op->arg; break;
	case OPT_BY: k->by = (enum by)opt_word(op, by_words); break;
	case OPT_PHASE_METHOD:
		k->phases.method =
		    (enum phase_method)opt_word(op, phase_method_words);
		break;
	case OPT_PHASE_THRESHOLD:
		k->phases.threshold = opt_int(op, 0, THRESHOLD_MAX);
		break;
	case OPT_KEEP_UNOWNED: k->keep_unowned = true; break;
	case OPT_MAX_LENGTH:
		k->sequences.max =
		    (uint32_t)opt_int(op, LENGTH_MIN, RUNS_LENGTH_MAX);
		break;
	case OPT_MIN_LENGTH:
		k->sequences.min =
		    (uint32_t)opt_int(op, LENGTH_MIN, RUNS_LENGTH_MAX);
		break;
	case OPT_OP: k->sequences.op = op->arg; break;
	case OPT_SEQUENCES: k->by = BY_SEQUENCE; break;
	case OPT_SHORT:
		k->short_ns = opt_time(op);
		k->of_short = "short";
		break;
	case OPT_MODELS_FILE: models_load(k->models, op->arg); break;
	default: return false;
	}
	return true;
}

static void
check_settings(struct sink *s)
{
	struct kernels *k = (struct kernels *)s;

	if (s->select.kinds != 0 &&
	    (s->select.kinds & KIND_BIT(KIND_KERNEL)) == 0)
		die_usage("option '--kind' needs kernel: the tables are about "
			  "kernels");
	tables_choose(k);
	if (s->dest.dir == NULL && k->phases.method < METHOD_COUNT &&
	    s->named == NULL && k->by != BY_PHASE)
		die_usage("option '--phase-method' needs -d, --by phase or a "
			  "table of a phase");
	if (k->of_short != NULL && s->dest.dir == NULL && !k->has_short)
		die_usage("option '--%s' needs -d or --table "
			  "short_kernels_summary or short_kernel_histogram",
		    k->of_short);
	if (k->sequences.op != NULL && !k->sequences.is_asked)
		die_usage("option '--op' needs --sequences");
	if (k->sequences.min > k->sequences.max)
		die_usage("option '--min-length' is above --max-length");
	s->select.need_windows = k->with_step || k->with_annotation;
	s->kinds = KINDS_HOST | KIND_BIT(KIND_ANNOTATION);
	if (k->with_module)
		s->kinds |= KIND_BIT(KIND_PYTHON);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = kernels_columns,
	.measures = kernels_measures,
	.once = 1U << M_DUR,
	.nmeasures = KERNELS_NMEASURES,
	.tables = kernels_tables,
	.ntables = KERNELS_NTABLES,
	.record_size = sizeof(struct kernel),
	.want = WANT_TREE,
	.kinds = KINDS_GPU,
	.launcher = kernels_launcher,
	.begin = begin,
	.option = take_option,
	.check = check_settings,
	.start = kernels_start,
	.take = kernels_take,
	.flush = kernels_flush,
	.source = kernels_source,
	.finish = kernels_finish,
	.empty = sink_die_empty,
	.free = kernels_free,
	.asked = kernels_asked,
	.fits = kernels_fits,
	.wants = kernels_wants,
	.member = kernels_member,
	.planned = kernels_planned,
	.whole = kernels_whole,
	.notes = kernels_notes,
	.row = kernels_row,
	.cell = kernels_cell,
};

int
main(int argc, char *argv[])
{
	struct kernels k = { .sink = { .def = &def },
		.arch_name = "auto",
		.nbins = NBINS,
		.short_ns = SHORT_NS,
		.phases = PHASES,
		.sequences = { .min = LENGTH_MIN, .max = LENGTH_MAX } };

	return sink_main(&k.sink, argc, argv);
}

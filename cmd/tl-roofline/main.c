/* SPDX-License-Identifier: MIT */
/*
 * tl-roofline: how far are the ops from what the hardware could do? A sink over
 * a tree. It decides which op a GPU event belongs to once the subtree of the
 * root is read, so it holds that subtree; it keeps the GPU events and the ops
 * that are in a table.
 */
#include "cmd/tl-roofline/fields.h"

enum {
	OPT_ARCH = OPT_LONG,
	OPT_TRACED,
	OPT_CALL_STACK,
	OPT_DIMS,
	OPT_DTYPE,
	OPT_EXPLAIN,
	OPT_LINKED_ONLY,
	OPT_LIST_ARCHS,
	OPT_LIST_MODELS,
	OPT_LIST_TABLES,
	OPT_NUM_KERNELS,
	OPT_OP,
	OPT_OVERLAP,
	OPT_RECOMPUTE,
	OPT_ROOF,
	OPT_INDUCTOR,
	OPT_DIFF
};

static const struct opt options[] = {
	{ OPT_ARCH, "arch", "GPU", "the GPU: auto, a name or a JSON file" },
	{ OPT_HINT, "gpu", NULL, "--arch names the GPU, --dev selects one" },
	{ OPT_TRACED, "arch-from-trace", NULL,
	    "write an arch file from what the best ops reach" },
	{ OPT_CALL_STACK, "call-stack", NULL, "add where each op was called" },
	{ OPT_DIFF, "diff", "FILE",
	    "add another trace's times, from tl-diff's diff_stats" },
	{ OPT_DIMS, "dims", "JSON",
	    "with --op: shapes, such as [[8,4],[4,2]]" },
	{ OPT_DTYPE, "dtype", "TYPE,...",
	    "a type such as bf16, for --op or untyped ops" },
	{ OPT_EXPLAIN, "explain", "UID", "explain the figures of this op" },
	{ OPT_INDUCTOR, "inductor-cache", "DIR",
	    "torch.compile's wrapper files" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "with --overlap: only GPU work with a launch" },
	{ OPT_LIST_ARCHS, "list-archs", NULL, "list the GPUs known to --arch" },
	{ OPT_LIST_MODELS, "list-models", NULL,
	    "list the ops with a performance model" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "list the tables" },
	{ OPT_NUM_KERNELS, "num-kernels", NULL,
	    "split sheets by number of kernels" },
	{ OPT_OP, "op", "NAME",
	    "model this op without a trace; JSON, or - for many" },
	{ OPT_OVERLAP, "overlap", NULL, "split by overlapping GPU work" },
	OPT_SINK_PSEUDO_ROW,
	{ OPT_RECOMPUTE, "recompute", NULL, "separate recomputed work" },
	{ OPT_ROOF, "roof", "peak|achievable",
	    "peak: data sheet; achievable: measured" },
	OPT_SINK_TABLE_ROW,
	OPT_BUCKET,
	OPT_MODELS,
	OPT_SINK,
};

static const struct about about = {
	"how far ops are from the hardware's limit",
	"[OPTIONS] [FILE...]",
	"tl-roofline --arch auto --top 20 trace.json.gz",
};

/* ---- what is missing ---- */

/* A given --table; for all tables see check_calls(). */
static void
check_table(struct roof_state *g)
{
	struct buf there = { 0 };

	if (g->wanted == TABLE_NONE || g->wanted == TABLE_UNIFIED ||
	    calls_of(g, g->wanted).end > 0)
		return;
	tables_there(g, &there);
	die_nothing(MSG_NO_TABLE_OPS, g->sink.sources.path, g->sink.table,
	    buf_str(&there));
}

static void
check_calls(struct roof_state *g)
{
	struct sink *s = &g->sink;
	const char *path = s->sources.path;
	const struct sink_source sum = sink_sources_sum(&s->sources);

	sink_sources_check(&s->sources);
	sink_check_gpu(s);
	if (sum.nchosen == 0)
		sink_die_no_match(s);
	if (g->met != 0)
		return;
	if (sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LAUNCHES, path, sum.ngpu);
	if (g->globs.n > 0)
		die_nothing(MSG_NO_SUCH_OP, path, there_str(&g->there));
	die_nothing(MSG_ONLY_COLLECTIVES, path, sum.nchosen);
}

/* Warns of a failing model of the user's, which is hardly the trace's fault. */
static void
warn_failed(const struct roof_state *g)
{
	const struct failures *f = &g->failed, *l = &g->lacking;

	if (l->n > 0)
		report(MSG_MODEL_LACKS, l->n, l->name, l->reason);
	if (g->untyped.n > 0)
		report(MSG_NO_TYPES, g->untyped.n, g->untyped.name);
	if (f->n > 0)
		report(MSG_MODEL_FAILED, f->n, f->name, f->reason);
	if (g->nown_failed > 0)
		report(MSG_OWN_MODEL_FAILED, g->nown_failed);
}

static void
summarise(const struct sink *s)
{
	struct model_stats st =
	    models_stats(((const struct roof_state *)s)->models);

	note("models: %" PRIu64 " evaluated, %" PRIu64 " remembered",
	    st.evaluated, st.hits);
}

/* ---- options ---- */

static void
begin(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;

	g->mem = arena_create();
	g->models = models_create();
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct roof_state *g = (struct roof_state *)s;

	switch (ch) {
	case OPT_ARCH: g->arch_name = op->arg; break;
	case OPT_TRACED: g->is_traced = true; break;
	case OPT_CALL_STACK: g->call_stack = true; break;
	case OPT_DIFF: g->diff = op->arg; break;
	case OPT_DIMS: g->dims = op->arg; break;
	case OPT_DTYPE: g->types = op->arg; break;
	case OPT_EXPLAIN:
		g->explain = opt_uid(op);
		g->has_explain = true;
		break;
	case OPT_INDUCTOR:
		if (g->inductor == NULL)
			g->inductor = inductor_create();
		if (inductor_read(g->inductor, op->arg) == 0)
			report(MSG_NO_WRAPPERS, op->arg);
		break;
	case OPT_LINKED_ONLY: s->linked_only = true; break;
	case OPT_LIST_ARCHS: g->list_archs = true; break;
	case OPT_LIST_MODELS: g->list_models = true; break;
	case OPT_LIST_TABLES: g->list_tables = true; break;
	case OPT_NUM_KERNELS: g->num_kernels = true; break;
	case OPT_OP: g->op = op->arg; break;
	case OPT_OVERLAP: g->overlap = true; break;
	case OPT_RECOMPUTE: g->recompute = true; break;
	case OPT_ROOF: g->roof = (enum roof)opt_word(op, roof_words); break;
	case OPT_MODELS_FILE: models_load(g->models, op->arg); break;
	case OPT_SELECT_NAME: vec_push(&g->globs, str_of(op->arg)); break;
	default: return false;
	}
	return true;
}

/* Checks that --dims and --dtype go with --op. */
static void
check_op(const struct roof_state *g)
{
	bool is_json =
	    g->op != NULL && (g->op[0] == '{' || strcmp(g->op, "-") == 0);

	if (g->dims != NULL && (g->op == NULL || is_json))
		die_usage("option '--dims' needs --op NAME");
	if (g->types == NULL)
		return;
	if (is_json)
		die_usage("option '--dtype': an object has its own dtype");
	if (g->op == NULL && strpbrk(g->types, "[,") != NULL)
		die_usage("option '--dtype' takes one type without --op");
	types_check(g->models, g->types);
}

static void
check_settings(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;

	select_check_gpu(&s->select);
	check_op(g);
	if (g->is_traced &&
	    (g->has_explain || s->dest.dir != NULL || s->dest.columns != NULL ||
		s->dest.sort != NULL))
		die_usage("option '--arch-from-trace' writes an arch file: "
			  "without -c, -d, --explain and --sort");
	if (!arch_is_auto(g->arch_name))
		g->arch =
		    arch_load(g->models, g->arch_name, (struct str){ "", 0 });
	s->kinds = KINDS_HOST | KIND_BIT(KIND_ANNOTATION);
	if (g->call_stack)
		s->kinds |= KIND_BIT(KIND_PYTHON);
	if (g->recompute || g->mfu.is_asked)
		s->kinds |= KINDS_NESTED_FRAMES;
}

/* ---- the hooks of the whole ---- */

/* Answers what needs no trace. */
static bool
answer_at_once(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;

	if (g->list_tables)
		tables_list(g);
	else if (g->list_archs)
		archs_list(g);
	else if (g->list_models)
		models_list(g);
	else if (g->op != NULL)
		ops_answer(g);
	else
		return false;
	return true;
}

static void
start(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;

	g->device = INTERN_NONE;
	vec_reserve(&g->lists, 1); /* an empty list has a start, too */
	g->execute = intern_put(s->dict->text, STR("execute"));
	if (g->diff != NULL)
		g->versus = versus_read(s->dict, g->diff);
}

static void
find_overlaps(struct roof_state *g)
{
	struct overlaps *o =
	    overlaps_find(g->sink.dict, g->works.v, g->works.n);

	for (size_t i = 0; i < g->sink.records.n; i++) {
		struct call *c = call_number(g, i);

		overlaps_of(o, g->lists.v + c->first_own, c->nown,
		    &g->sink.overlaps, &c->overlap);
	}
	overlaps_free(o);
}

static void
name_roofs(struct roof_state *g)
{
	struct buf b = { 0 };

	for (int i = 0; i < 2 && g->arch != NULL; i++) {
		b.len = 0;
		buf_printf(&b, "%.*s %s", (int)g->arch->name.len,
		    g->arch->name.p, roof_words[i]);
		g->roofs[i] = intern_put(g->sink.dict->text, buf_str(&b));
	}
	buf_free(&b);
}

static void
finish(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;

	collect_finish(g);
	check_calls(g);
	check_table(g);
	if (g->arch != NULL && arch_is_auto(g->arch_name) &&
	    !device_is_named(dict_get(s->dict, g->device)))
		report(MSG_GPU_ASSUMED, s->sources.path, g->arch->name);
	if (g->overlap)
		find_overlaps(g);
	name_roofs(g);
	warn_failed(g);
}

static void
free_state(struct sink *s)
{
	struct roof_state *g = (struct roof_state *)s;

	vec_free(&g->globs);
	there_free(&g->there);
	vec_free(&g->by_name);
	vec_free(&g->works);
	vec_free(&g->ticks);
	vec_free(&g->extents);
	vec_free(&g->lists);
	vec_free(&g->forwards);
	vec_free(&g->backs);
	vec_free(&g->ranges);
	vec_free(&g->params);
	vec_free(&g->param_names);
	vec_free(&g->nodes);
	vec_free(&g->open);
	vec_free(&g->above);
	vec_free(&g->covered);
	vec_free(&g->extras);
	notes_free(&g->notes);
	phases_free(&g->phases);
	mfu_free(g);
	map_free(&g->forward_of);
	map_free(&g->range_of);
	map_free(&g->categories);
	types_free(&g->typing);
	inductor_free(g->inductor);
	versus_free(g->versus);
	models_destroy(g->models);
	arena_destroy(g->mem);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = roof_columns,
	.measures = roof_measures,
	.once = 1U << M_BUSY,
	.nmeasures = M_COUNT,
	.details = { offsetof(struct call, first_kernel),
	    offsetof(struct call, nkernels), offsetof(struct call, overlap),
	    roof_kernel },
	.record_size = sizeof(struct call),
	.want = WANT_TREE,
	.kinds = KINDS_GPU,
	.begin = begin,
	.option = take_option,
	.make_tables = roof_make_tables,
	.check = check_settings,
	.at_once = answer_at_once,
	.start = start,
	.take = roof_take,
	.flush = roof_flush,
	.source = roof_source,
	.finish = finish,
	.summary = summarise,
	.free = free_state,
	.fits = roof_fits,
	.wants = roof_wants,
	.range = roof_range,
	.member = roof_member,
	.planned = roof_planned,
	.grouped = roof_grouped,
	.compare = roof_compare,
	.notes = roof_notes,
	.row = roof_row,
	.cell = roof_cell,
};

int
main(int argc, char *argv[])
{
	struct roof_state g = { .sink = { .def = &def },
		.arch_name = "auto",
		.phases = PHASES,
		.mfu.source = UINT32_MAX };

	return sink_main(&g.sink, argc, argv);
}

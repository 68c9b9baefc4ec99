/* SPDX-License-Identifier: MIT */
/*
 * tl-replay: from an op of a trace to a benchmark that runs. A sink over a
 * tree: it keeps a record of each op that launches GPU work, and writes those
 * asked for as a script, or lists them.
 */
#include "cmd/tl-replay/bench.h"
#include "cmd/tl-replay/replay.h"
#include "json/json.h"

enum {
	OPT_BENCH = OPT_LONG,
	OPT_COMPARE,
	OPT_IMPORT,
	OPT_IR,
	OPT_IR_V1,
	OPT_LIST_DTYPE,
	OPT_MODULE,
	OPT_ONE,
	OPT_SCHEMA,
	OPT_SCRIPT,
	OPT_SEGMENT,
	OPT_UID,
	OPT_ZIP
};

static const struct opt options[] = {
	{ OPT_BENCH, "bench", "TOOL",
	    "GEMMs as bench lines of hipblaslt, rocblas, cublaslt or cutlass" },
	{ OPT_COMPARE, "compare", "FILE",
	    "compare its results with the trace; twice: warm, cold cache" },
	{ OPT_IMPORT, "import", "MODULE",
	    "module the script imports to register ops" },
	{ OPT_IR, "ir", "FILE", "write the ops as JSON" },
	{ OPT_IR_V1, "ir-v1", "FILE", "write them in TraceLens's form" },
	{ OPT_LIST_DTYPE, "list-dtype", "TYPE", "type of tensors in lists" },
	OPT_SINK_LIST_ROW,
	{ OPT_MODULE, "module", "PATH",
	    "only ops of these modules: Net_0/Layer_1" },
	{ OPT_ONE, "one", NULL, "print the first op as plain code" },
	{ OPT_SCHEMA, "schema", "FILE", "schemas of ops, one per line" },
	{ OPT_SCRIPT, "script", "FILE",
	    "write a Python script that runs the ops" },
	{ OPT_SEGMENT, "segment", NULL,
	    "all ops of an annotation, module or step, in order" },
	OPT_SINK_TABLE_ROW,
	{ OPT_UID, "uid", "UID", "the op of this event" },
	{ OPT_ZIP, "zip", "FILE", "write script and JSON as a zip file" },
	OPT_SELECT_WITH("TIME|FILE",
	    "from TIME on; or: the ops in the rows of a table (-: stdin)",
	    "TIME", "only up to TIME after the first event"),
	OPT_SELECT_HINT,
	OPT_TABLE_WITH("the N ops with most GPU time (10); 0: all"),
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"ops of a trace as runnable benchmarks",
	"[OPTIONS] [FILE...]",
	"tl-replay --top 5 trace.json.gz",
};

static void
explain_empty(struct sink *s)
{
	const struct replay *g = (const struct replay *)s;
	const char *path = s->sources.path;
	const struct sink_source sum = sink_sources_sum(&s->sources);

	sink_check_gpu(s);
	if (sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LAUNCHES, path, sum.ngpu);
	if (sum.nchosen == 0)
		sink_die_no_match(s);
	if (g->modules.n > 0 && g->nlaunching > 0)
		die_nothing(MSG_NO_SUCH_MODULE, path, g->modules.v[0],
		    there_str(&g->other_modules));
	die_nothing(MSG_NO_OP_LAUNCHED, path, sum.nchosen);
}

/*
 * Takes options that mean something else in the shared selection; false: not
 * one of them.
 */
static bool
take_shared(struct replay *g, const struct optparse *op, int ch)
{
	int64_t time;

	switch (ch) {
	case OPT_SELECT_FROM:
		if (time_parse(str_of(op->arg), &time))
			return false;
		g->rows = op->arg;
		break;
	case OPT_SELECT_ANNOTATION:
	case OPT_SELECT_STEP: g->segment_name = str_of(op->arg); return false;
	case OPT_SELECT_NAME: vec_push(&g->names, str_of(op->arg)); break;
	case OPT_TABLE_TOP: g->top = (size_t)opt_int(op, 0, INT32_MAX); break;
	default: return false;
	}
	return true;
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct replay *g = (struct replay *)s;
	struct uid_pick pick;

	switch (ch) {
	case OPT_BENCH: g->bench = opt_word(op, bench_tools); break;
	case OPT_COMPARE: vec_push(&g->compares, op->arg); break;
	case OPT_ONE: g->one = true; break;
	case OPT_IMPORT: vec_push(&g->imports, str_of(op->arg)); break;
	case OPT_IR: g->ir = op->arg; break;
	case OPT_IR_V1: g->ir_v1 = op->arg; break;
	case OPT_LIST_DTYPE: g->list_dtype = op->arg; break;
	case OPT_MODULE:
		vec_push(&g->modules, str_of(op->arg));
		g->segment_name = str_of(op->arg);
		break;
	case OPT_SCHEMA: vec_push(&g->schema_files, str_of(op->arg)); break;
	case OPT_SCRIPT: g->script = op->arg; break;
	case OPT_SEGMENT: g->segment = true; break;
	case OPT_UID:
		pick = opt_uid(op);
		choose_uid(g, &pick);
		break;
	case OPT_ZIP: g->zip = op->arg; break;
	default: return take_shared(g, op, ch);
	}
	return true;
}

static void
check_settings(struct sink *s)
{
	struct replay *g = (struct replay *)s;

	select_check_gpu(&s->select);
	if (g->segment && g->segment_name.len == 0)
		die_usage("option '--segment' needs --annotation, --module or "
			  "--step");
	if (s->table != NULL && g->compares.n == 0 &&
	    strcmp(s->table, "replay") != 0)
		die_usage("table '%s' needs --compare", s->table);
	s->kinds = KINDS_HOST;
	if (g->modules.n > 0)
		s->kinds |= KIND_BIT(KIND_PYTHON);
	s->only_owners = true;
	s->dest.top = TABLE_TOP_ALL;
}

/* Keeps the name of the first trace's first GPU. */
static void
take_source(struct sink *s, const struct source *src)
{
	struct replay *g = (struct replay *)s;
	const struct fact *f = source_fact(src, "devices");
	json_items list = { 0 }, device = { 0 };

	if (g->device != INTERN_NONE || f == NULL)
		return;
	if (json_split(&list, g->mem, f->val.s) && list.n > 0 &&
	    json_split(&device, g->mem, list.v[0].text))
		g->device = intern_put(
		    s->dict->text, json_member_text(&device, STR("name")));
	vec_free(&list);
	vec_free(&device);
}

static void
begin(struct sink *s)
{
	struct replay *g = (struct replay *)s;

	g->mem = arena_create();
	g->device = INTERN_NONE;
}

static void
finish(struct sink *s)
{
	struct replay *g = (struct replay *)s;

	g->schemas = schemas_create(g->schema_files.v, g->schema_files.n);
	if (s->records.n > 0)
		replay_group(g);
}

static void
free_state(struct sink *s)
{
	struct replay *g = (struct replay *)s;

	vec_free(&g->names);
	vec_free(&g->modules);
	there_free(&g->other_names);
	there_free(&g->other_modules);
	vec_free(&g->imports);
	vec_free(&g->schema_files);
	vec_free(&g->kernels);
	vec_free(&g->forwards);
	vec_free(&g->tritons);
	vec_free(&g->ops);
	vec_free(&g->sums);
	vec_free(&g->order);
	vec_free(&g->compares);
	vec_free(&g->results);
	vec_free(&g->replayed);
	for (int i = 0; i < CACHES; i++)
		map_free(&g->result_of[i]);
	map_free(&g->picked);
	map_free(&g->rows_found);
	map_free(&g->sum_of);
	map_free(&g->replayed_of);
	map_free(&g->forward_of);
	map_free(&g->triton_of);
	if (g->wanted != NULL)
		intern_destroy(g->wanted);
	if (g->schemas != NULL)
		schemas_destroy(g->schemas);
	arena_destroy(g->mem);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = replay_columns,
	.measures = replay_measures,
	.nmeasures = M_COUNT,
	.details = { offsetof(struct run, first_kernel),
	    offsetof(struct run, nkernels), 0, replay_kernel },
	.tables = replay_tables,
	.ntables = REPLAY_NTABLES,
	.record_size = sizeof(struct run),
	.want = WANT_TREE,
	.kinds = KINDS_GPU,
	.launcher = replay_launcher,
	.begin = begin,
	.option = take_option,
	.check = check_settings,
	.start = replay_start,
	.take = replay_take,
	.source = take_source,
	.finish = finish,
	.empty = explain_empty,
	.free = free_state,
	.asked = replay_asked,
	.member = replay_member,
	.whole = replay_whole,
	.notes = replay_notes,
	.cell = replay_cell,
};

int
main(int argc, char *argv[])
{
	struct replay g = { .sink = { .def = &def }, .top = 10, .bench = -1 };

	return sink_main(&g.sink, argc, argv);
}

/* SPDX-License-Identifier: MIT */
/*
 * tl-modules: which nn.Module took the GPU time? A sink over a tree with Python
 * frames: it keeps a record of each call of a module, with the busy time of the
 * GPU work below it, and prints them as a tree or a table, by call or folded by
 * type.
 */
#include <unistd.h>

#include "cmd/tl-modules/modules.h"

enum {
	OPT_BWD = OPT_LONG,
	OPT_DEPTH,
	OPT_FOLD,
	OPT_MIN_TIME,
	OPT_NO_FOLD,
	OPT_ROOT,
	OPT_BY_TYPE,
	OPT_FLOPS,
	OPT_MIN_PCT,
	OPT_PSEUDO
};

static const struct opt options[] = {
	{ OPT_BWD, "bwd", NULL, "include the time of their backward ops" },
	{ OPT_BY_TYPE, "by-type", NULL,
	    "group by type, wherever it is called" },
	{ OPT_DEPTH, "depth", "N", "at most N levels of modules" },
	{ OPT_FLOPS, "flops", NULL, "add FLOPs and bytes from the op models" },
	{ OPT_FOLD, "fold", NULL, "group calls of one type in one place" },
	{ OPT_MIN_PCT, "min-pct", "PERCENT",
	    "only modules with at least this share of their parent" },
	{ OPT_MIN_TIME, "min-time", "TIME",
	    "only modules with at least this GPU time; 0ns: all" },
	{ OPT_NO_FOLD, "no-fold", NULL, "list each call" },
	{ 'p', "print", NULL, "print a tree" },
	{ OPT_PSEUDO, "pseudo-ops", NULL,
	    "split ops that hide several steps, see tl-graft(1)" },
	{ OPT_ROOT, "root", "UID|NAME", "start at modules like PATTERN" },
	OPT_MODELS,
	OPT_SELECT,
	{ OPT_HINT, "by", NULL, "is it --by-type?" },
	OPT_SELECT_HINT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"which nn.Module took the GPU time",
	"[OPTIONS] [FILE...]",
	"tl-modules --print trace.json.gz",
};

/* ---- what is missing ---- */

/* Warns of a source without modules, where others have some. */
static void
warn_none(struct modules *m, const struct sink_source *o)
{
	if (modules_whole(m, o->no)->nframes == 0)
		report(MSG_SOURCE_NO_PYTHON_FRAMES, sink_source_label(o));
	else if (o->ngpu > 0 && o->nchosen == 0)
		report(MSG_SOURCE_NO_MATCH, sink_source_label(o), o->ngpu);
	else
		report(MSG_SOURCE_NO_MODULES, sink_source_label(o));
}

static noreturn void
die_no_match(struct modules *m)
{
	sink_check_gpu(&m->sink);
	sink_die_no_match(&m->sink);
}

static noreturn void
die_none(struct modules *m, const struct sink_source *o)
{
	const struct whole *w = modules_whole(m, o->no);

	if (w->nframes == 0)
		die_nothing(MSG_NO_PYTHON_FRAMES, o->path);
	if (o->ngpu > 0 && o->nchosen == 0)
		die_no_match(m);
	if (w->nmodules > 0)
		die_nothing(MSG_NO_MODULE_LAUNCHED, o->path);
	die_nothing(MSG_NO_MODULES, o->path, w->nframes);
}

/* A source without modules is a warning; if none has any, the end. */
static void
check_sources(struct modules *m)
{
	const struct sink_sources *g = &m->sink.sources;
	const struct sink_source *bad = NULL;
	size_t nwith = 0;

	if (g->list.n == 0)
		die_nothing(MSG_NO_EVENTS, g->path);
	sink_sources_check(g);
	(void)modules_whole(m, (uint32_t)g->list.n - 1);
	for (size_t i = 0; i < g->list.n; i++) {
		nwith += g->list.v[i].is_asked && m->wholes.v[i].nasked > 0;
		if (g->list.v[i].is_asked && m->wholes.v[i].nasked == 0)
			bad = &g->list.v[i];
	}
	if (nwith == 0)
		die_none(m, bad);
	for (size_t i = 0; i < g->list.n; i++)
		if (g->list.v[i].is_asked && m->wholes.v[i].nasked == 0)
			warn_none(m, &g->list.v[i]);
}

static void
check_nodes(struct modules *m)
{
	const struct sink_source sum = sink_sources_sum(&m->sink.sources);
	const char *path = m->sink.sources.path;

	for (size_t i = 0; i < m->sink.records.n; i++)
		if (!node_at(m, i)->is_outside)
			return;
	if (m->nfound == 0)
		die_nothing(MSG_NO_SUCH_MODULE, path, m->roots.v[0],
		    there_str(&m->other_roots));
	if (sum.ngpu > 0 && sum.nchosen == 0)
		die_no_match(m);
	die_nothing(MSG_NO_MODULE_TIME, path, m->nfound);
}

/* ---- options ---- */

static struct models *
models_of(struct modules *m)
{
	if (m->models == NULL)
		m->models = models_create();
	return m->models;
}

static bool
take_option(struct sink *s, const struct optparse *op, int ch)
{
	struct modules *m = (struct modules *)s;

	switch (ch) {
	case OPT_BWD: m->with_bwd = true; break;
	case OPT_DEPTH: m->depth = opt_int(op, 1, UINT32_MAX); break;
	case OPT_MIN_TIME: m->min_ns = opt_time(op); break;
	case OPT_MIN_PCT: m->min_pct = opt_double(op, 0, 100); break;
	case OPT_FLOPS: m->with_flops = true; break;
	case OPT_PSEUDO: m->pseudo_ops = true; break;
	case OPT_MODELS_FILE: models_load(models_of(m), op->arg); break;
	case OPT_BY_TYPE: m->by_type = true; break;
	case OPT_FOLD:
	case OPT_NO_FOLD:
		m->fold = ch == OPT_FOLD;
		m->has_fold = true;
		break;
	case OPT_ROOT: vec_push(&m->roots, op->arg); break;
	case 'p': m->is_print = true; break;
	default: return false;
	}
	return true;
}

static void
check_settings(struct sink *s)
{
	struct modules *m = (struct modules *)s;
	const struct table_dest *d = &s->dest;
	bool is_table = d->format != FMT_AUTO || d->dir != NULL ||
	    d->columns != NULL || d->sort != NULL || d->top != 0 ||
	    d->no_header || d->labels;

	select_check_gpu(&s->select);
	if (m->is_print && is_table)
		die_usage("option '--print' takes no options of tables");
	m->is_print |=
	    !is_table && d->path == NULL && isatty(STDOUT_FILENO) == 1;
	if (m->models != NULL && !m->with_flops)
		die_usage("option '--models' needs --flops");
	if (m->by_type && m->has_fold)
		die_usage("option '--by-type' takes no --fold or --no-fold");
	if (!m->has_fold)
		m->fold = m->is_print || m->by_type;
	for (size_t i = 0; i < s->ntables && m->is_print; i++)
		s->tables[i].print = modules_print;
	if (m->with_flops)
		(void)models_of(m);
	s->want =
	    m->pseudo_ops ? WANT_PSEUDO : select_want(&s->select, WANT_TREE);
	s->kinds = select_kinds(&s->select, KINDS_GPU) | KINDS_HOST |
	    KIND_BIT(KIND_PYTHON) |
	    (m->with_flops ? KIND_BIT(KIND_ANNOTATION) : 0);
}

/* ---- hooks of the whole ---- */

static void
finish(struct sink *s)
{
	struct modules *m = (struct modules *)s;

	modules_close_source(m);
	check_sources(m);
	nodes_make(m);
	check_nodes(m);
}

static void
put_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	(void)p;
	note_unlinked(t, &s->sources, "module");
}

static void
summarise(const struct sink *s)
{
	const struct modules *m = (const struct modules *)s;

	for (size_t i = 0; i < m->wholes.n; i++)
		note("%s: %" PRIu64 " calls of modules, %" PRIu64
		     " Python frames",
		    sink_sources_label(&s->sources, (uint32_t)i),
		    m->wholes.v[i].nmodules, m->wholes.v[i].nframes);
}

static void
free_state(struct sink *s)
{
	struct modules *m = (struct modules *)s;

	backward_destroy(m->backward);
	flops_destroy(m->flop_counter);
	vec_free(&m->stack);
	spans_free(&m->all);
	spans_free(&m->own);
	vec_free(&m->roots);
	there_free(&m->other_roots);
	vec_free(&m->list);
	vec_free(&m->wholes);
	vec_free(&m->flops);
	vec_free(&m->no_model);
	models_destroy(m->models);
}

static const struct sink_def def = {
	.about = &about,
	.options = options,
	.columns = modules_columns,
	.record_size = sizeof(struct node),
	.option = take_option,
	.check = check_settings,
	.start = modules_start,
	.take = modules_take,
	.flush = modules_flush,
	.finish = finish,
	.summary = summarise,
	.free = free_state,
	.asked = modules_asked,
	.wants = modules_wants,
	.notes = put_notes,
	.cell = modules_cell,
};

int
main(int argc, char *argv[])
{
	struct modules m = { .sink = { .def = &def }, .min_ns = 1 };

	m.sink.tables = modules_tables;
	m.sink.ntables = modules_ntables;
	err_program(argv[0]); /* before anything can fail */
	return sink_main(&m.sink, argc, argv);
}

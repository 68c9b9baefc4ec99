/* SPDX-License-Identifier: MIT */
/*
 * tl-modules: which nn.Module cost the GPU time?
 *
 * A sink over a tree with Python frames: it keeps a record of each call of a
 * module, with the busy time of the GPU below it, and prints them as a tree or
 * a table, call by call or folded by type.
 */
#include <stdio.h>
#include <unistd.h>

#include "cmd/tl-modules/modules.h"

#define OPT_BWD (OPT_LONG + 0)
#define OPT_DEPTH (OPT_LONG + 1)
#define OPT_FOLD (OPT_LONG + 2)
#define OPT_MIN_TIME (OPT_LONG + 3)
#define OPT_NO_FOLD (OPT_LONG + 4)
#define OPT_ROOT (OPT_LONG + 5)
#define OPT_SHOW_ZERO (OPT_LONG + 6)
#define OPT_BY_TYPE (OPT_LONG + 7)
#define OPT_FLOPS (OPT_LONG + 8)
#define OPT_MIN_PCT (OPT_LONG + 9)
#define OPT_PSEUDO (OPT_LONG + 10)

static const struct opt options[] = {
	{ OPT_BWD, "bwd", NULL, "the time of their backward ops, too" },
	{ OPT_BY_TYPE, "by-type", NULL, "calls of one type as one, wherever" },
	{ OPT_DEPTH, "depth", "N", "N levels of modules" },
	{ OPT_FLOPS, "flops", NULL, "FLOPs and bytes, by the models of ops" },
	{ OPT_FOLD, "fold", NULL, "calls of one type in one place as one" },
	{ OPT_MIN_PCT, "min-pct", "PERCENT",
	    "modules with at least this share of the one above" },
	{ OPT_MIN_TIME, "min-time", "TIME",
	    "modules with at least this GPU time" },
	{ OPT_NO_FOLD, "no-fold", NULL, "each call by itself" },
	{ 'p', "print", "[STYLE]", "a tree for people: dots or tree" },
	{ OPT_PSEUDO, "pseudo-ops", NULL,
	    "ops for the steps that one op hides, see tl-graft" },
	{ OPT_ROOT, "root", "UID|NAME", "from these modules on; a pattern" },
	{ OPT_SHOW_ZERO, "show-zero", NULL, "modules without GPU time, too" },
	OPT_MODELS,
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"which nn.Module cost the GPU time",
	"[OPTIONS] [FILE...]",
	"tl-modules --print trace.json.gz",
};

static const char *const style_words[] = { "dots", "tree", NULL };

/* ---- what is missing ---- */

/* A source without modules, or none that is asked for. */
/* Of a source without modules, where others have some. */
static void
warn_none(const struct modules *m, const struct sink_source *o)
{
	if (m->wholes.v[o->no].nframes == 0)
		report(MSG_SOURCE_NO_PYTHON_FRAMES, o->path, o->src);
	else if (o->ngpu > 0 && o->nchosen == 0)
		report(MSG_SOURCE_NO_MATCH, o->path, o->src, o->ngpu);
	else
		report(MSG_SOURCE_NO_MODULES, o->path, o->src);
}

static noreturn void
die_none(const struct modules *m, const struct sink_source *o)
{
	const struct whole *w = &m->wholes.v[o->no];

	if (w->nframes == 0)
		die_nothing(MSG_NO_PYTHON_FRAMES, o->path);
	if (o->ngpu > 0 && o->nchosen == 0)
		die_nothing(MSG_NO_MATCH, o->path, o->ngpu);
	if (w->nmodules > 0)
		die_nothing(MSG_NO_MODULE_LAUNCHED, o->path);
	die_nothing(MSG_NO_MODULES, o->path, w->nframes);
}

/* A source without modules is a warning, none with some the end. */
static void
check_sources(const struct modules *m)
{
	const struct sink_source *bad = NULL;
	size_t nwith = 0;

	for (size_t i = 0; i < m->sources.list.n; i++) {
		const struct sink_source *o = &m->sources.list.v[i];

		if (!o->is_asked)
			continue;
		nwith += m->wholes.v[i].nasked > 0;
		if (m->wholes.v[i].nasked == 0)
			bad = o;
	}
	if (m->sources.list.n == 0)
		die_nothing(MSG_NO_EVENTS, m->sources.path);
	sink_sources_check(&m->sources);
	if (nwith == 0)
		die_none(m, bad);
	for (size_t i = 0; i < m->sources.list.n; i++) {
		const struct sink_source *o = &m->sources.list.v[i];

		if (o->is_asked && m->wholes.v[i].nasked == 0)
			warn_none(m, o);
	}
}

static void
check_nodes(
    const struct modules *m, const struct settings *set, const struct nodes *n)
{
	uint64_t ngpu = 0, nchosen = 0;

	for (size_t i = 0; i < n->list.n; i++)
		if (n->list.v[i].type == NODE_MODULE)
			return;
	for (size_t i = 0; i < m->sources.list.n; i++) {
		ngpu += m->sources.list.v[i].ngpu;
		nchosen += m->sources.list.v[i].nchosen;
	}
	if (n->nfound == 0)
		die_nothing(
		    MSG_NO_SUCH_MODULE, m->sources.path, set->roots.v[0]);
	if (ngpu > 0 && nchosen == 0)
		die_nothing(MSG_NO_MATCH, m->sources.path, ngpu);
	die_nothing(MSG_NO_MODULE_TIME, m->sources.path, n->nfound);
}

static void
summarise(const struct modules *m)
{
	for (size_t i = 0; i < m->sources.list.n; i++) {
		const struct sink_source *o = &m->sources.list.v[i];
		const struct whole *w = &m->wholes.v[i];

		note("%s: source %u: %" PRIu64 " calls of modules, %" PRIu64
		     " Python frames, %" PRIu64 " GPU events, %" PRIu64
		     " asked for, %" PRIu64 " without a launch, %" PRIu64
		     " duplicates left out",
		    o->path, (unsigned)o->src, w->nmodules, w->nframes, o->ngpu,
		    o->nchosen, o->nunlinked, o->nduplicates);
	}
	note_cost("%" PRIu64 " events", m->nevents);
}

/* ---- options ---- */

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_BWD: set->bwd = true; break;
	case OPT_DEPTH: set->depth = opt_int(op, 1, UINT32_MAX); break;
	case OPT_MIN_TIME: set->min_ns = opt_time(op); break;
	case OPT_MIN_PCT: set->min_pct = opt_double(op, 0, 100); break;
	case OPT_FLOPS: set->flops = true; break;
	case OPT_PSEUDO: set->pseudo_ops = true; break;
	case OPT_MODELS_FILE: vec_push(&set->models, op->arg); break;
	case OPT_BY_TYPE: set->by_type = true; break;
	case OPT_FOLD:
	case OPT_NO_FOLD:
		set->fold = ch == OPT_FOLD;
		set->has_fold = true;
		break;
	case OPT_ROOT: vec_push(&set->roots, op->arg); break;
	case OPT_SHOW_ZERO: set->min_ns = 0; break;
	case 'p':
		set->style = STYLE_DOTS;
		if (op->arg != NULL)
			set->style = opt_word(op, style_words) == 0
			    ? STYLE_DOTS
			    : STYLE_TREE;
		break;
	case 'v': set->verbose = true; break;
	default:
		if (!select_opt(&set->select, op, ch))
			(void)table_dest_opt(&set->dest, op, ch);
		break;
	}
}

static void
check_settings(struct settings *set)
{
	const struct table_dest *d = &set->dest;
	bool is_table = d->format != FMT_AUTO || d->dir != NULL ||
	    d->columns != NULL || d->sort != NULL || d->top != 0 ||
	    d->no_header || d->labels;

	select_check_gpu(&set->select);
	if (set->style != STYLE_NONE && is_table)
		die_usage("option '--print' takes no options of tables");
	if (set->style == STYLE_NONE && !is_table && d->path == NULL &&
	    isatty(STDOUT_FILENO) == 1)
		set->style = STYLE_DOTS;
	if (set->models.n > 0 && !set->flops)
		die_usage("option '--models' needs --flops");
	if (set->by_type && set->has_fold)
		die_usage("option '--by-type' takes no --fold or --no-fold");
	if (!set->has_fold)
		set->fold = set->style == STYLE_DOTS || set->by_type;
	set->select.late_ranks = true;
	if (set->style == STYLE_NONE)
		rows_check(set);
}

int
main(int argc, char *argv[])
{
	struct settings set = { .min_ns = 1 };
	struct modules m = { .nevents = 0 };
	struct nodes n = { .nfound = 0 };
	struct optparse op;
	const char *path;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	check_settings(&set);

	m.dict = dict_create();
	if (set.flops)
		m.models = models_create();
	for (size_t i = 0; i < set.models.n; i++)
		models_load(m.models, set.models.v[i]);
	while ((path = opt_file(&op)) != NULL)
		modules_read_file(&m, &set, path);
	check_sources(&m);
	nodes_of(&n, &m, &set);
	check_nodes(&m, &set, &n);
	if (set.style == STYLE_NONE)
		rows_print(&set, &m, &n);
	else
		print_nodes(&set, &m, &n);
	if (set.verbose)
		summarise(&m);
	nodes_free(&n);
	modules_free(&m);
	vec_free(&set.roots);
	vec_free(&set.models);
	dict_destroy(m.dict);
	select_free(&set.select);
	return exit_status();
}

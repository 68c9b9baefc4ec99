/* SPDX-License-Identifier: MIT */
/*
 * tl-health: can the figures of this trace be trusted?
 *
 * Reads each source once, counts what is impossible or suspicious as events
 * come (subject.c), judges the whole when it ends, and prints the findings.
 */
#include "cmd/tl-health/health.h"
#include "table/catalogue.h"
#include "trace/tree.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	OPT_DEEP = OPT_LONG,
	OPT_JUNIT,
	OPT_LIST_CHECKS,
	OPT_LIST_TABLES,
	OPT_MARK,
	OPT_RULES,
	OPT_SARIF,
	OPT_SET,
};

static const struct opt options[] = {
	{ OPT_DEEP, "deep", NULL, "also check models, roofs and flows" },
	{ OPT_JUNIT, "junit", "FILE", "write the checks as JUnit XML, for CI" },
	{ OPT_LIST_CHECKS, "list-checks", NULL, "list the checks" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "list the tables" },
	{ OPT_MARK, "mark", "FILE",
	    "write the stream with its verdict to FILE" },
	{ OPT_RULES, "rules", "FILE", "judge by the rules of FILE, too" },
	{ OPT_SARIF, "sarif", "FILE", "write the findings as SARIF, for CI" },
	{ OPT_SET, "set", "CHECK=W[,M]",
	    "warning at W, misleading at M, or 'never'" },
	OPT_TABLE,
	{ 'q', "quiet", NULL, "say nothing about sound sources" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"can the figures of a trace be trusted",
	"[OPTIONS] [FILE...]",
	"tl-health trace.json.gz",
};

struct settings {
	struct table_dest dest;
	const char *junit, *mark, *sarif, *rules;
	bool list_checks, list_tables, verbose;
	path_vec paths;
};

static void
take_option(
    struct health *h, struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_DEEP: h->is_deep = true; break;
	case OPT_JUNIT: set->junit = op->arg; break;
	case OPT_LIST_CHECKS: set->list_checks = true; break;
	case OPT_LIST_TABLES: set->list_tables = true; break;
	case OPT_MARK: set->mark = op->arg; break;
	case OPT_RULES: set->rules = op->arg; break;
	case OPT_SARIF: set->sarif = op->arg; break;
	case OPT_SET: limits_set(h->limits, op->arg); break;
	case 'q': h->is_quiet = true; break;
	case 'v': set->verbose = true; break;
	default: (void)table_dest_opt(&set->dest, op, ch); break;
	}
}

#define KINDS_READ                                                            \
	(KINDS_GPU | KINDS_HOST | KINDS_UNKNOWN | KIND_BIT(KIND_ANNOTATION) | \
	    KIND_BIT(KIND_SPAN))

/* Kinds whose ids count: correlation, GPU, GPU stream. */
#define KINDS_KEYED (KINDS_GPU | KINDS_LAUNCH)

/* Whether events were taken out; a tree bears no mark of that. */
static bool
is_part(const struct stream_in *in)
{
	for (size_t i = 0; i < in->nprov; i++)
		if (str_eq(in->prov[i].program, STR("tl-filter")) ||
		    str_eq(in->prov[i].program, STR("tl-split")))
			return true;
	return (in->marks & MARK_EDITED) != 0;
}

/* A tree that other programs read, too, is spooled to a file. */
static struct stream_in *
open_input(struct health *h, const char *path, int *tree)
{
	*tree = -1;
	if (h->rules == NULL && !h->is_marked && !h->is_deep)
		return stream_open_only(path, h->dict, WANT_STREAM,
		    KINDS_ALL & ~KIND_BIT(KIND_PYTHON));
	*tree = tree_spool(path);
	return tree_open(*tree, path, h->dict);
}

/* Facts before all sources' records concern no source; no tree of ours has
 * any. */
static void
take_event(struct health *h, const struct stream_in *in)
{
	if (!h->subject.is_open)
		(void)subject_start(h, &in->source, false);
	subject_take(h, &in->ev);
}

static void
read_tree(struct health *h, struct stream_in *in)
{
	enum item item;

	h->id_key = intern_put(h->dict->text, STR("id"));
	in->is_told = true; /* as findings */
	stream_only(
	    in, h->is_deep ? KINDS_READ | KIND_BIT(KIND_FLOW) : KINDS_READ);
	while ((item = stream_next(in)) != ITEM_END)
		if (item == ITEM_SOURCE)
			(void)subject_start(h, &in->source, false);
		else if (item == ITEM_META)
			coverage_take_meta(h, &in->meta);
		else if (item == ITEM_EVENT)
			take_event(h, in);
}

/* ---- a trace that is no tree yet ---- */

struct visited {
	struct health *health;
	struct store *store;
};

static void
take_shown(void *arg, const struct event *ev)
{
	const struct visited *held = arg;

	subject_take_early(held->health, store_source(held->store), ev);
}

/* Takes links and nesting of an event that was taken early; ngpus and nops:
 * numbers before it. */
static void
take_rest(struct visited *held, uint32_t i, size_t *ngpus, size_t *nops)
{
	struct health *h = held->health;
	struct subject *s = &h->subject;
	struct event ev;

	if (store_is(held->store, i, KINDS_GPU)) {
		store_event(held->store, i, &ev);
		subject_take_gpu(h, &ev, &s->gpus_read.v[(*ngpus)++]);
		return;
	}
	if (store_is(held->store, i, KINDS_LAUNCH))
		return;
	if (store_ngpu(held->store, i) > 0)
		content_take_op(
		    h, store_uid(held->store, i), &s->ops_read.v[*nops]);
	(*nops)++;
	if (!subject_is_wrapper(h, store_name(held->store, i)))
		return;
	store_event_bare(held->store, i, &ev);
	subject_take_backward(h, &ev);
}

static void
take_held(struct visited *held, bool is_shown)
{
	struct store *s = held->store;
	size_t ngpus = 0, nops = 0;
	struct event ev;

	for (uint32_t i = 0; i < store_count(s); i++) {
		if (!store_is(s, i, KINDS_READ))
			continue;
		if (is_shown && store_was_shown(s, i)) {
			take_rest(held, i, &ngpus, &nops);
			continue;
		}
		if (store_is(s, i, KINDS_KEYED))
			store_event(s, i, &ev);
		else
			store_event_bare(s, i, &ev);
		subject_take(held->health, &ev);
	}
}

/* Builds the tree as tl-tree does, without writing a stream. */
static void
read_trace(struct health *h, struct stream_in *in)
{
	struct tree_maker make = { .opts = { .no_python = true } };
	struct visited held = { h, store_create(in->dict) };
	const unsigned marks = in->marks;
	const struct meta *metas;
	bool is_shown;
	size_t nmetas;

	stream_refuse_edited(in);
	stream_only(in, KINDS_ALL); /* only kinds that links need */
	store_leave_out(held.store, KIND_BIT(KIND_PYTHON));
	store_show(held.store, KINDS_HOST | KINDS_GPU, take_shown, &held);
	while (store_read(held.store, in)) {
		tree_make(held.store, marks, &make);
		is_shown = subject_start(h, store_source(held.store),
		    store_has_shown_in_order(held.store));
		metas = store_metas(held.store, &nmetas);
		for (size_t i = 0; i < nmetas; i++)
			coverage_take_meta(h, &metas[i]);
		take_held(&held, is_shown);
	}
	tree_report(&make, in->name);
	store_destroy(held.store);
}

static void
read_file(struct health *h, const char *path)
{
	int tree;
	struct stream_in *in = open_input(h, path, &tree);

	sink_sources_file(&h->sources, path);
	h->is_edited = is_part(in);
	if ((in->marks & MARK_TREE) != 0)
		read_tree(h, in);
	else
		read_trace(h, in);
	subject_end(h);
	stream_close(in);
	if (h->is_deep && h->ngpu > 0)
		check_roofline(h, tree, h->sources.path);
	if (h->rules != NULL && h->sources.file < h->sources.list.n)
		rules_judge(h->rules, &h->outcomes, tree, h->sources.path,
		    (uint32_t)h->sources.file, h->text);
	if (h->is_marked)
		h->tree = tree;
	else if (tree >= 0)
		close(tree);
}

static bool
is_stdout(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

/* --mark takes one stream; on standard output nothing else is printed. */
static void
print(struct health *h, struct settings *set)
{
	const struct stream_dest dest = { .path = set->mark };

	if (h->is_marked) {
		health_mark(h, h->tree, h->sources.path, &dest);
		close(h->tree);
	}
	if (set->dest.path == NULL && set->dest.dir == NULL &&
	    is_stdout(set->mark))
		return;
	health_print(h, &set->dest);
	table_dest_finish(&set->dest);
}

/* Also the files of folders. */
static void
find_files(struct settings *set, struct optparse *op)
{
	const char *path;

	stream_check_files(op->argv + op->ind);
	while ((path = opt_file(op)) != NULL)
		stream_paths(&set->paths, path, false);
	if (set->mark != NULL && set->paths.n > 1)
		die_usage("option '--mark' is for one file");
}

static void
health_free(struct health *h)
{
	host_free(&h->subject.host);
	causes_destroy(h->causes);
	vec_free(&h->findings);
	vec_free(&h->names);
	vec_free(&h->windows);
	vec_free(&h->texts);
	vec_free(&h->outcomes);
	rules_free(h->rules);
	sink_sources_free(&h->sources);
	arena_destroy(h->text);
	dict_destroy(h->dict);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct health h = { 0 };
	enum severity worst;
	struct junit *junit;
	struct out *sarif;
	struct optparse op;
	bool has_failed;
	int ch;

	for (int c = 0; c < CHECKS; c++)
		h.limits[c] =
		    (struct limits){ checks[c].warning, checks[c].misleading };
	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&h, &set, &op, ch);
	if (set.list_checks || set.list_tables) {
		if (set.list_checks)
			checks_list();
		else
			sheets_list("tl-health");
		return EXIT_DONE;
	}
	(void)table_dest_details(&set.dest);
	h.dict = dict_create();
	h.causes = causes_create();
	h.text = arena_create();
	h.is_marked = set.mark != NULL;
	if (is_stdout(set.junit) || is_stdout(set.sarif))
		die_usage("option '--%s' needs a file",
		    is_stdout(set.junit) ? "junit" : "sarif");
	if (is_stdout(set.mark) && is_stdout(set.dest.path))
		die_usage("options '--mark -' and '-o -' exclude each other");
	if (set.rules != NULL)
		h.rules = rules_load(set.rules);
	find_files(&set, &op);
	/* before the work, so that a bad path fails early */
	junit = junit_open(set.junit, "tl-health");
	sarif = set.sarif != NULL ? out_open(set.sarif) : NULL;
	for (size_t i = 0; i < set.paths.n; i++)
		read_file(&h, set.paths.v[i]);
	if (h.ngpu == 0)
		die_nothing(MSG_NO_GPU_EVENTS, h.sources.path, h.nevents);
	check_ranks(&h);
	has_failed = rules_tell(&h);
	worst = health_tell(&h);
	print(&h, &set);
	health_junit(&h, junit);
	if (sarif != NULL)
		health_sarif(&h, sarif);
	if (set.verbose)
		note_cost("%" PRIu64 " events, %d checks", h.nevents, CHECKS);
	health_free(&h);
	for (size_t i = 0; i < set.paths.n; i++)
		free(set.paths.v[i]);
	vec_free(&set.paths);
	return worst == MISLEADING || has_failed ? EXIT_GATE : exit_status();
}

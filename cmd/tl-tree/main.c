/* SPDX-License-Identifier: MIT */
/*
 * tl-tree: the events of a trace as a tree. Reads a whole source, links
 * launches to GPU work, nests host events, and writes prologue, tree and tail;
 * or prints trees for people. A stream that is a tree already passes unchanged,
 * unless an option asks for another tree.
 */
#include "cmd/tl-tree/tree.h"
#include "trace/phase.h"
#include "trace/select-front.h"
#include "trace/select.h"
#include "trace/tree.h"

struct settings {
	struct tree_maker make; /* is_anew: an option changes the tree */
	bool verbose, print;
	struct view view;
	int64_t mem; /* 0: no limit */
	struct stream_dest dest;
	struct select_front select;
	struct optparse kind; /* --kind, if it was given */
};

struct totals {
	uint64_t events;
	bool is_passed; /* it was a tree already */
};

enum {
	OPT_ANNOTATIONS = OPT_LONG + 1,
	OPT_BWD,
	OPT_DEPTH,
	OPT_EXT,
	OPT_FIELDS,
	OPT_FOLLOW,
	OPT_GPU_TIME,
	OPT_LINK,
	OPT_MEM,
	OPT_NO_PRUNE,
	OPT_NO_PYTHON,
	OPT_ON_OVERLAP,
	OPT_PID,
	OPT_ROOT,
	OPT_STACK,
	OPT_TID,
	OPT_UP,
};

static const struct opt options[] = {
	{ OPT_ANNOTATIONS, "annotations", "FILE",
	    "more names of serving iterations and what they say" },
	{ OPT_BWD, "bwd", NULL,
	    "with --print: backward ops below their forward op" },
	{ OPT_DEPTH, "depth", "N", "with --print: at most N levels" },
	{ OPT_EXT, "ext-id", "ID",
	    "with --print: the ops of this external id" },
	{ OPT_FIELDS, "fields", "NAME,...",
	    "with --print: show these arguments of ops" },
	{ OPT_FOLLOW, "follow-fwd", NULL,
	    "with --up, --stack: continue at the forward op" },
	{ OPT_GPU_TIME, "gpu-time", NULL,
	    "with --print: show GPU busy time, kernels and share" },
	{ OPT_LINK, "link", "RULE",
	    "link launches by: auto, correlation, ext or flow" },
	{ OPT_MEM, "mem", "SIZE",
	    "keep at most SIZE of events in memory, the rest in TMPDIR" },
	{ OPT_NO_PRUNE, "no-prune", NULL,
	    "with --print: include events without GPU work" },
	{ OPT_NO_PYTHON, "no-python", NULL, "skip Python frames" },
	{ OPT_ON_OVERLAP, "on-overlap", "RULE",
	    "events that overlap their parent: discard or clip" },
	{ OPT_PID, "pid", "PID", "with --ext-id: only of this process" },
	{ 'p', "print", NULL, "print the tree" },
	{ OPT_ROOT, "root", "UID|NAME",
	    "with --print: start at events like PATTERN" },
	OPT_SELECT,
	{ OPT_STACK, "stack", "UID", "print the names above this event" },
	OPT_STREAM_OUT,
	{ OPT_TID, "tid", "TID", "with --ext-id: only of this thread" },
	{ OPT_UP, "up", "UID", "print the events above this event" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"order a trace as a tree: ops, their calls, their GPU work",
	"[-v] [--link RULE] [--mem SIZE] [--no-python] [--on-overlap RULE] "
	"[-o FILE] [FILE]",
	"tl-decode trace.json.gz | tl-tree | tl-timeline",
};

static void
say(const struct settings *set, const struct totals *t, const struct store *s)
{
	const struct tree_stats *tree = &set->make.tree;
	const struct link_stats *link = &set->make.link;
	uint64_t held, bytes = store_peak_bytes(s, &held);

	if (t->is_passed) {
		note(
		    "%" PRIu64 " events, passed on: a tree already", t->events);
		return;
	}
	note("%" PRIu64 " events, %" PRIu64 " in the tree, %" PRIu64 " roots",
	    t->events, tree->in_tree, tree->roots);
	for (int k = 0; k < KIND_COUNT; k++)
		if (tree->discarded[k] > 0)
			note("discarded, as they overlap others: %" PRIu64
			     " of kind %s",
			    tree->discarded[k], kind_words[k]);
	if (set->make.opts.clip)
		note("cut, as they overlap others: %" PRIu64, tree->clipped);
	note("GPU events: %" PRIu64 " linked by %s, %" PRIu64
	     " without launch, %" PRIu64 " duplicates",
	    link->linked, link_rule(link), link->unlinked, link->duplicates);
	note("backward ops: %" PRIu64 " linked by number, %" PRIu64
	     " by arrow, of %" PRIu64,
	    link->bwd_seq, link->bwd_flow, link->wrappers);
	if (tree->regions > 0)
		note("%" PRIu64 " frames recompute, %" PRIu64 " events marked",
		    tree->regions, tree->recompute);
	note("%.3f s CPU, peak memory %.1f MiB, %.1f bytes an event and "
	     "strings",
	    sys_cpu_s(), (double)sys_peak_bytes() / 1048576,
	    held > 0 ? (double)bytes / (double)held : 0.0);
}

static void
build(struct settings *set, struct store *s, unsigned marks, struct totals *t)
{
	tree_make(s, marks, &set->make);
	t->events += store_count(s);
}

static void
write_trees(struct settings *set, struct stream_in *in, struct store *s,
    struct totals *t)
{
	unsigned marks = in->marks;
	struct stream_out *out = stream_create(
	    &set->dest, in->dict, in, marks | MARK_LINKED | MARK_TREE, true);

	if ((marks & MARK_TREE) != 0 && !set->make.is_anew) {
		link_pass_on(in, out);
		t->events = stream_written(out);
		t->is_passed = true;
	} else {
		while (store_read(s, in)) {
			build(set, s, marks, t);
			tree_write(s, out, set->dest.ndjson);
		}
		stream_mark(out, in->marks);
	}
	stream_finish(out);
}

/* A source's tree, to be printed. */
struct looked_at {
	struct store *store;
	struct forest forest;
	const char *name;
};

static void
add_node(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct looked_at *to = arg;
	struct event ev;

	if (section == SECTION_PROLOGUE)
		return;
	store_event(to->store, i, &ev);
	ev.depth = depth;
	forest_add(&to->forest, &ev, to->name);
}

static uint64_t
print_source(const struct view *v, struct forest *f, struct out *out)
{
	if (v->up != NULL)
		return print_up(v, f, out);
	if (v->stack != NULL)
		return print_stack(v, f, out);
	return print_trees(v, f, out);
}

static void
print_all(struct settings *set, struct stream_in *in, struct store *s,
    struct totals *t)
{
	const struct view *v = &set->view;
	struct out *out = out_open(set->dest.path);
	unsigned marks = in->marks;
	struct looked_at at = { .store = s, .name = in->name };
	uint64_t found = 0;

	forest_start(&at.forest, in->dict);
	while (store_read(s, in)) {
		build(set, s, marks, t);
		tree_visit(s, add_node, &at);
		found += print_source(v, &at.forest, out);
		forest_clear(&at.forest);
	}
	if (found == 0 &&
	    (v->up != NULL || v->stack != NULL || v->roots.n > 0 ||
		v->ext != NULL))
		die_nothing(MSG_NO_EVENT_MATCHES, in->name, STR(""));
	out_finish(out);
	forest_free(&at.forest);
}

static struct stream_in *
open_input(const struct settings *set, const char *path)
{
	struct stream_in *in;

	if (!set->make.opts.no_python)
		return select_front_open(
		    &set->select, path, NULL, WANT_STREAM, 0);
	in = stream_open_only(
	    path, NULL, WANT_STREAM, KINDS_ALL & ~KIND_BIT(KIND_PYTHON));
	stream_only(in, KINDS_ALL); /* facts that tl-decode kept are needed */
	return in;
}

static void
refuse_edited(const struct stream_in *in)
{
	if ((in->marks & MARK_EDITED) != 0)
		die("%s: events were removed from this stream, so owners of "
		    "GPU work cannot be found; run tl-filter after tl-tree",
		    in->name);
}

/* ---- options ---- */

/* An option of --print; false if ch is none. */
static bool
take_view(struct view *v, const struct optparse *op, int ch)
{
	const char *list = op->arg;
	struct str word;

	switch (ch) {
	case OPT_BWD: v->bwd = true; break;
	case OPT_DEPTH: v->depth = (uint32_t)opt_int(op, 1, INT32_MAX); break;
	case OPT_EXT: v->ext = op->arg; break;
	case OPT_FIELDS:
		while (str_next(&list, ',', &word))
			vec_push(&v->fields, word);
		break;
	case OPT_FOLLOW: v->follow_fwd = true; break;
	case OPT_GPU_TIME: v->gpu_time = true; break;
	case OPT_NO_PRUNE: v->no_prune = true; break;
	case OPT_PID: v->pid = op->arg; break;
	case OPT_ROOT: vec_push(&v->roots, op->arg); break;
	case OPT_STACK: v->stack = op->arg; break;
	case OPT_TID: v->tid = op->arg; break;
	case OPT_UP: v->up = op->arg; break;
	default: return false;
	}
	return true;
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const rules[] = { "discard", "clip", NULL };

	switch (ch) {
	case OPT_ANNOTATIONS:
		iteration_formats_load(op->arg);
		set->make.is_anew = true;
		break;
	case OPT_LINK:
		set->make.by = (enum link_by)opt_word(op, link_words);
		set->make.is_anew = true;
		break;
	case OPT_NO_PYTHON: set->make.opts.no_python = true; break;
	case OPT_ON_OVERLAP:
		set->make.opts.clip = opt_word(op, rules) == 1;
		set->make.is_anew = true;
		break;
	case OPT_MEM:
		set->mem = opt_size(op);
		if ((uint64_t)set->mem < STORE_LEAST)
			die_usage(
			    "option '--mem': %s is too little; at least %zuM",
			    op->arg, STORE_LEAST >> 20);
		break;
	/* of the view or, without --print, of the tree: that may come later */
	case OPT_SELECT_KIND:
		set->kind = *op;
		set->view.kinds = opt_kinds(op);
		break;
	case 'p': set->print = true; break;
	case 'v': set->verbose = true; break;
	default:
		if (take_view(&set->view, op, ch))
			set->print = true; /* these imply --print */
		else if (!select_front_opt(&set->select, op, ch))
			stream_dest_opt(&set->dest, op, ch);
		break;
	}
}

static void
check_options(const struct settings *set)
{
	const struct view *v = &set->view;

	if (set->print && (set->dest.ndjson || set->dest.zstd))
		die_usage(
		    "--print writes no stream: not with --ndjson or --zstd");
	if (select_front_is_on(&set->select) &&
	    (set->make.is_anew || set->make.opts.no_python || set->mem > 0))
		die_usage("to select from a tree made with --annotations, "
			  "--link, --mem, --no-python or --on-overlap, run "
			  "tl-filter after it");
	if ((v->pid != NULL || v->tid != NULL) && v->ext == NULL)
		die_usage("--pid and --tid narrow --ext-id, which is missing");
	if (v->up != NULL && v->stack != NULL)
		die_usage("--up and --stack exclude one another");
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct totals t = { 0 };
	struct stream_in *in;
	struct store *s;
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (!set.print && set.kind.arg != NULL)
		(void)select_front_opt(&set.select, &set.kind, OPT_SELECT_KIND);
	check_options(&set);
	if (argc - op.ind > 1)
		die_usage("takes one input; join streams with tl-cat");
	in = open_input(&set, op.ind < argc ? argv[op.ind] : "-");
	refuse_edited(in);
	if (set.mem > 0)
		store_limit((size_t)set.mem);
	s = store_create(in->dict);
	if (set.make.is_anew)
		store_anew(s);
	/* a tree that passes keeps its frames: others are below them */
	if (set.make.opts.no_python &&
	    ((in->marks & MARK_TREE) == 0 || set.make.is_anew))
		store_leave_out(s, KIND_BIT(KIND_PYTHON));
	if (set.print)
		print_all(&set, in, s, &t);
	else
		write_trees(&set, in, s, &t);
	tree_report(&set.make, in->name);
	if (set.verbose)
		say(&set, &t, s);
	store_destroy(s);
	vec_free(&set.view.roots);
	vec_free(&set.view.fields);
	stream_close(in);
	return exit_status();
}

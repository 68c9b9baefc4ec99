/* SPDX-License-Identifier: MIT */
/*
 * tl-graft: puts into a tree the ops that its trace hides. A graph launch runs
 * hundreds of kernels without an op: given traces of the graphs' captures, it
 * puts what was captured below the launch. It also adds pseudo-ops where one op
 * hides several steps. It reads the tree of a source, changes and writes it.
 */
#include "cmd/tl-graft/graft.h"
#include "model/pseudo.h"

#define MIN_MATCH 0.95

struct settings {
	const char *capture;
	bool pseudo;
	struct models *models; /* NULL: none asked for yet */
	struct graft_opts opts;
	struct stream_dest dest;
};

struct totals {
	struct graft_stats graft;
	uint64_t pseudo, events;
};

enum {
	OPT_CAPTURE = OPT_LONG + 1,
	OPT_FULL,
	OPT_MATCH,
	OPT_PSEUDO,
};

static const struct opt options[] = {
	{ OPT_CAPTURE, "capture", "DIR|FILE", "traces of the graph captures" },
	{ OPT_FULL, "full-stack", NULL,
	    "everything captured, not only what led to a launch" },
	{ OPT_MATCH, "min-match", "PERCENT",
	    "share of kernels that must match where the order differs" },
	{ OPT_PSEUDO, "pseudo-ops", NULL, "split ops that hide several steps" },
	OPT_MODELS,
	OPT_STREAM_OUT,
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"add the ops a trace hides: those of graph replays, pseudo-ops",
	"[-v] [--capture DIR|FILE] [--full-stack] [--min-match PERCENT] "
	"[--pseudo-ops] [--models FILE] [-o FILE] [FILE]",
	"tl-graft --capture capture_traces trace.json.gz | tl-ops",
};

/* What is read of a source before its tree ends. */
struct state {
	const struct settings *set;
	struct stream_out *out;
	struct forest tree;
	struct captures captures;
	VEC(struct iteration_span) steps;
	enum section section;
	struct totals totals;
};

static void
take_step(struct state *s, const struct event *ev)
{
	struct iteration_span step;
	struct iteration it;

	if (ev->shape->kind != KIND_ANNOTATION ||
	    (ev->shape->has & HAS_TS) == 0)
		return;
	if (!iteration_of_name(dict_get(s->tree.st, ev->name), &it))
		return;
	step.tier = it.tier;
	step.batch = it.has_load ? it.batch_size : -1;
	step.start = ev->ts_ns;
	step.end = num_add_max(ev->ts_ns, ev->dur_ns);
	vec_push(&s->steps, step);
}

/* Uses detailed names if there are any, else the others. */
static void
choose_steps(struct state *s)
{
	uint8_t tier = ITERATION_NATIVE;
	size_t n = 0;

	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.v[i].tier < tier)
			tier = s->steps.v[i].tier;
	for (size_t i = 0; i < s->steps.n; i++)
		if (s->steps.v[i].tier == tier)
			s->steps.v[n++] = s->steps.v[i];
	s->steps.n = n;
}

/* At the end of a source's tree. */
static void
finish_tree(struct state *s)
{
	if (s->tree.nodes.n == 0)
		return;
	if (s->set->capture != NULL) {
		choose_steps(s);
		graft_source(&s->tree, &s->captures, s->steps.v, s->steps.n,
		    &s->set->opts, &s->totals.graft);
	}
	if (s->set->pseudo)
		s->totals.pseudo += pseudo_ops(&s->tree, s->set->models);
	s->totals.events += s->tree.nodes.n;
	forest_write(&s->tree, s->out);
	forest_clear(&s->tree);
}

static void
take_section(struct state *s, enum section section)
{
	finish_tree(s);
	s->section = section;
	if (section == SECTION_PROLOGUE)
		s->steps.n = 0;
	stream_write_section(s->out, section);
}

static void
take_event(struct state *s, const struct stream_in *in)
{
	if (s->section == SECTION_TREE) {
		forest_add(&s->tree, &in->ev, in->name);
		return;
	}
	if (s->section == SECTION_PROLOGUE)
		take_step(s, &in->ev);
	stream_write(s->out, &in->ev);
}

static void
graft_stream(struct state *s, struct stream_in *in)
{
	enum item item;

	while ((item = stream_next(in)) != ITEM_END) {
		switch (item) {
		case ITEM_EVENT: take_event(s, in); break;
		case ITEM_SOURCE:
			finish_tree(s);
			iteration_formats_of(&in->source);
			stream_write_source(s->out, &in->source);
			break;
		case ITEM_META: stream_write_meta(s->out, &in->meta); break;
		case ITEM_SECTION: take_section(s, in->section); break;
		default: break;
		}
	}
	finish_tree(s);
	stream_mark(s->out, in->marks);
}

static void
say(const struct settings *set, const struct totals *t)
{
	const struct graft_stats *g = &t->graft;

	if (set->capture != NULL)
		note("%" PRIu64 " of %" PRIu64
		     " graph launches grafted, %" PRIu64 " of %" PRIu64
		     " GPU events under their ops, %" PRIu64 " events added",
		    g->grafted, g->launches, g->paired, g->kernels, g->added);
	if (set->pseudo)
		note("%" PRIu64 " pseudo-ops", t->pseudo);
	note_cost("%" PRIu64 " events in trees", t->events);
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_CAPTURE: set->capture = op->arg; break;
	case OPT_FULL: set->opts.full_stack = true; break;
	case OPT_MATCH:
		set->opts.min_match = (double)opt_int(op, 1, 100) / 100;
		break;
	case OPT_PSEUDO: set->pseudo = true; break;
	case OPT_MODELS_FILE:
		if (set->models == NULL)
			set->models = models_create();
		models_load(set->models, op->arg);
		break;
	case 'v': set->opts.verbose = true; break;
	default: stream_dest_opt(&set->dest, op, ch); break;
	}
}

static void
check_settings(struct settings *set, bool is_stdin)
{
	if (set->capture == NULL && set->opts.full_stack)
		die_usage("option '--full-stack' needs --capture");
	if (set->capture == NULL && set->opts.min_match > 0)
		die_usage("option '--min-match' needs --capture");
	if (set->capture != NULL && strcmp(set->capture, "-") == 0 && is_stdin)
		die_usage("standard input cannot be both trace and capture");
	if (set->capture == NULL)
		set->pseudo = true;
	if (set->models != NULL && !set->pseudo)
		die_usage("option '--models' needs --pseudo-ops");
	if (set->pseudo && set->models == NULL)
		set->models = models_create();
	if (set->opts.min_match <= 0)
		set->opts.min_match = MIN_MATCH;
}

/* Warns of a failing rule of the user's, which is hardly the trace's fault. */
static void
warn_failed(const struct models *models)
{
	struct pseudo_stats st = pseudo_stats(models);

	if (st.nfailed > 0)
		report(MSG_RULES_FAILED, st.nfailed, st.reason);
	if (st.nown_failed > 0)
		report(MSG_OWN_MODEL_FAILED, st.nown_failed);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct state s = { .set = &set };
	struct dict *dict;
	struct stream_in *in;
	struct optparse op;
	const char *path;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (argc - op.ind > 1)
		die_usage("takes one input; join streams with tl-cat");
	path = op.ind < argc ? argv[op.ind] : "-";
	check_settings(&set, strcmp(path, "-") == 0);
	dict = dict_create();
	in = stream_open(path, dict, WANT_TREE);
	forest_start(&s.tree, dict);
	if (set.capture != NULL)
		captures_open(&s.captures, dict, set.capture);
	s.out = stream_create(
	    &set.dest, dict, in, in->marks | MARK_SYNTHETIC, false);
	graft_stream(&s, in);
	stream_finish(s.out);
	if (set.capture != NULL && s.totals.graft.launches == 0)
		report(MSG_NO_GRAPH_LAUNCH, in->name);
	if (set.opts.verbose)
		say(&set, &s.totals);
	if (set.models != NULL)
		warn_failed(set.models);
	models_destroy(set.models);
	captures_free(&s.captures);
	vec_free(&s.steps);
	forest_free(&s.tree);
	stream_close(in);
	dict_destroy(dict);
	return exit_status();
}

/* SPDX-License-Identifier: MIT */
/* Traces become trees, as many in parallel as there are processors. */
#include "stream/stream.h"
#include "trace/bucket.h"
#include "json/json.h"

#include "cmd/tl-report/report.h"

/* option: or NULL */
static const struct job *
start_program(struct jobs *j, const char *program, const char *option,
    const char *trace, const char *tree, unsigned side)
{
	struct job how = { .makes_tree = true,
		.sides = (unsigned char)(1u << side),
		.gets_stdin = strcmp(trace, "-") == 0 };
	struct args argv = { 0 };

	args_add(&argv, program);
	if (option != NULL)
		args_add(&argv, option);
	args_add(&argv, "-o");
	args_add(&argv, tree);
	args_add(&argv, "--");
	args_add(&argv, trace);
	return job_start(j, &argv, &how);
}

/* Iterations get their names before captures are merged. */
static void
start_one(struct jobs *j, const char *trace, const char *capture,
    const char *tree, unsigned side)
{
	const char *option = j->set->annotations != NULL
	    ? text("--annotations=%s", j->set->annotations)
	    : NULL;

	if (capture == NULL) {
		(void)start_program(j, "tl-tree", option, trace, tree, side);
		return;
	}
	if (option != NULL) {
		const char *named = text("%s.named", tree);
		const struct job *job =
		    start_program(j, "tl-tree", option, trace, named, side);

		job_wait_for(j, job);
		if (job->status != EXIT_DONE && job->status != EXIT_WARNINGS)
			return;
		trace = named;
	}
	(void)start_program(
	    j, "tl-graft", text("--capture=%s", capture), trace, tree, side);
}

/* ---- facts of a tree's sources ---- */

/* rocprofv3 lists host processors as devices, too. */
static bool
is_processor(struct str name)
{
	static const char *const words[] = { "Processor", "CPU", "EPYC",
		"Xeon" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_find(name, str_of(words[i]), false) >= 0)
			return true;
	return false;
}

/* The name of the first GPU in a JSON list; empty: none. */
static struct str
device_of(struct str devices)
{
	static struct arena *texts;
	json_items list = { 0 }, one = { 0 };
	struct str name = STR("");

	texts = texts != NULL ? texts : arena_create();
	(void)!json_split(&list, texts, devices);
	for (size_t i = 0; i < list.n && name.len == 0; i++) {
		bool is_gpu = true;

		(void)!json_split(&one, texts, list.v[i].text);
		for (size_t k = 0; k + 1 < one.n; k += 2) {
			struct str value = one.v[k + 1].text;

			if (str_eq(one.v[k].text, STR("name")))
				name = value;
			/* 1: CPU, 2: GPU */
			if (str_eq(one.v[k].text, STR("type")))
				is_gpu = !str_eq(value, STR("1"));
		}
		if (!is_gpu || is_processor(name))
			name = STR("");
	}
	vec_free(&list);
	vec_free(&one);
	return name;
}

static struct str
fact_text(const struct source *s, const char *key)
{
	const struct fact *f = source_fact(s, key);

	return f == NULL ? STR("")
			 : str_of(text("%.*s", (int)f->val.s.len, f->val.s.p));
}

/* Whether salvaging lost events. */
static bool
is_lossy(const struct source *s)
{
	struct arena *mem = arena_create();
	json_items list = { 0 };
	const struct json_item *losses = NULL;
	const struct fact *f = source_fact(s, "salvaged");
	bool lossy;

	if (f != NULL && json_split(&list, mem, f->val.s))
		losses = json_member(&list, STR("losses"));
	lossy = losses != NULL && !str_eq(losses->text, STR("0"));
	vec_free(&list);
	arena_destroy(mem);
	return lossy;
}

/* Files read with it, see tl-report(1). */
static void
take_beside(struct facts *f, const struct source *s)
{
	struct arena *mem = arena_create();
	json_items list = { 0 };

	(void)!json_split(&list, mem, fact_text(s, "read_with"));
	f->nbeside = list.n;
	if (list.n == 1)
		f->beside = str_of(
		    text("%.*s", (int)list.v[0].text.len, list.v[0].text.p));
	vec_free(&list);
	arena_destroy(mem);
}

static void
take_facts(struct facts *f, const struct source *s)
{
	struct str device = device_of(fact_text(s, "devices"));

	f->nsources++;
	f->devices_differ |= f->nsources > 1 && !str_eq(f->device, device);
	f->device = device;
	f->name = fact_text(s, "name");
	f->has_rank = source_int(s, "rank", &f->rank);
	f->nknown += f->has_rank;
	/* a rank by order of the inputs is not shown */
	f->has_rank =
	    f->has_rank && !str_eq(fact_text(s, "rank_from"), STR("order"));
	f->has_world = source_int(s, "world_size", &f->world);
	f->is_lossy |= is_lossy(s);
	take_beside(f, s);
}

/* ---- what is in it ---- */

/* What decides which sheets there are, over the trees of one side. */
struct content {
	struct facts facts;
	/* by rank, all and selected */
	struct sink_sources sources, asked;
	bool has_ops, has_gpu, has_linked, is_rocprof, is_xla;
	bool has_window;  /* start and end of a process are known */
	bool has_owned;   /* work that an op may own: no collective */
	bool has_replays; /* a graph launch; only with --vs */
	/* windows of --annotation in the current source */
	struct spans named;
	uint32_t named_of;
	bool is_apart; /* they are not contiguous */
	size_t nnamed; /* how many, in all sources */
	/* first GPU and process of the current source */
	struct key dev, pid;
	bool has_gpus, has_processes; /* a source has several */
};

/* Whether k differs from the first key. */
static bool
is_another(struct key *first, struct key k)
{
	if (first->type == KEY_NONE)
		*first = k;
	return k.type != KEY_NONE && !key_eq(*first, k);
}

static void
look_at_work(
    struct stream_in *in, struct bucket_rules *rules, struct content *c)
{
	c->has_gpu = true;
	c->has_gpus |= is_another(&c->dev, in->ev.dev);
	c->has_processes |=
	    is_another(&c->pid, in->dict->tracks.v[in->ev.track].pid);
	c->has_linked |= (in->ev.flags & EV_UNLINKED) == 0;
	c->has_owned = c->has_owned ||
	    (event_is_owned(&in->ev) &&
		bucket_of_event(rules, in->dict, &in->ev) != BUCKET_COMM);
}

static void
look_at_source(
    const struct select *sel, const struct source *source, struct content *c)
{
	static const struct select all;

	(void)sink_sources_source(&c->sources, &all, source);
	(void)sink_sources_source(&c->asked, sel, source);
	if (!source->is_final)
		return;
	c->dev = c->pid = (struct key){ 0, KEY_NONE };
	if (select_source(sel, source))
		take_facts(&c->facts, source);
	c->is_rocprof |= source_is_api_trace(source);
	c->is_xla |= source_is_xla(source);
	c->has_window |= source_fact(source, "window_start") != NULL;
}

static void
look_at_call(const struct stream_in *in, struct content *c)
{
	c->has_replays |= in->ev.ngpu > 0 && in->ev.name != INTERN_NONE &&
	    str_find(dict_get(in->dict, in->ev.name), STR("GraphLaunch"),
		false) >= 0;
}

/* At the end of each source. */
static void
end_named(struct content *c)
{
	spans_normalise(&c->named);
	c->is_apart |= c->named.n > 1;
	spans_free(&c->named);
}

static void
look_at_annotation(
    const struct select *sel, const struct stream_in *in, struct content *c)
{
	const struct event *ev = &in->ev;

	if (ev->src != c->named_of)
		end_named(c);
	c->named_of = ev->src;
	if (ev->name == INTERN_NONE ||
	    !str_glob_any(sel->annotations.v, sel->annotations.n,
		dict_get(in->dict, ev->name)))
		return;
	c->nnamed++;
	spans_add(&c->named, ev->ts_ns, num_add_max(ev->ts_ns, ev->dur_ns));
}

/* Reads until all answers are known. */
static void
look(const struct settings *s, const char *path, struct content *c)
{
	struct stream_in *in = stream_open(path, NULL, WANT_STREAM);
	struct bucket_rules rules = { 0 };
	uint32_t always =
	    s->select.annotations.n > 0 ? KIND_BIT(KIND_ANNOTATION) : 0;
	enum item item;

	in->is_told = true; /* tl-tree has reported it */
	sink_sources_file(&c->sources, path);
	sink_sources_file(&c->asked, path);
	do {
		uint32_t calls = always |
		    (s->vs.v.n > 0 && !c->has_replays ? KINDS_LAUNCH : 0);

		if (!c->has_ops || !c->has_owned)
			calls |= KIND_BIT(KIND_OP) | KINDS_GPU;
		stream_only(in, c->has_gpus ? calls : calls | KINDS_GPU);
		item = stream_next(in);
		if (item == ITEM_SOURCE)
			look_at_source(&s->select, &in->source, c);
		else if (item == ITEM_EVENT && event_is(&in->ev, KINDS_GPU))
			look_at_work(in, &rules, c);
		else if (item == ITEM_EVENT && event_is(&in->ev, KINDS_LAUNCH))
			look_at_call(in, c);
		else if (item == ITEM_EVENT &&
		    in->ev.shape->kind == KIND_ANNOTATION)
			look_at_annotation(&s->select, in, c);
		else if (item == ITEM_EVENT)
			c->has_ops |= in->ev.shape->kind == KIND_OP;
	} while (item != ITEM_END);
	end_named(c);
	bucket_free(&rules);
	stream_close(in);
}

struct str
trace_name(const char *path)
{
	return strcmp(path, "-") == 0 ? STR("stdin") : str_of(path);
}

const char *
traces_name(const struct settings *s)
{
	return s->traces.v.n > 1 ? "all traces"
				 : trace_name(s->traces.v.v[0]).p;
}

/* Sheets of ops need ops, and GPU work that they own. */
static void
take_content(struct settings *s, const struct content *c)
{
	s->facts = c->facts;
	s->is_host = !c->has_gpu;
	s->is_several =
	    c->has_gpu && sink_sources_lead(&c->asked) != SINK_LEAD_NONE;
	s->has_linked = c->has_linked;
	s->has_calls = c->has_ops;
	s->has_ops = c->has_ops && (c->has_owned || s->is_host);
	s->is_rocprof = c->is_rocprof && !c->has_ops;
	s->has_gpus = c->has_gpus && !c->is_xla;
	s->has_processes = s->is_rocprof && c->has_processes;
	s->is_xla = c->is_xla;
	s->has_window = c->has_window;
	s->nnamed = c->nnamed;
	/* steps: the window has their times only */
	s->is_apart = c->is_apart ||
	    (select_is_apart(&s->select) && !select_is_of_steps(&s->select));
}

static void
look_at_all(struct settings *s)
{
	struct content all = { 0 }, other = { 0 };

	for (size_t i = 0; i < s->trees.v.n; i++)
		look(s, s->trees.v.v[i], &all);
	for (size_t i = 0; i < s->others.v.n; i++)
		look(s, s->others.v.v[i], &other);
	take_content(s, &all);
	s->has_replays = all.has_replays || other.has_replays;
	all.asked.path = traces_name(s);
	sink_sources_check(&all.asked);
	/* hosts of one XLA program are numbered by nothing else */
	if (!s->is_xla && s->vs.v.n == 0 && s->traces.v.n == 2 &&
	    all.facts.nsources == 2 &&
	    sink_sources_lead(&all.asked) == SINK_LEAD_SRC)
		report(MSG_PERHAPS_VS, s->traces.v.v[0], s->traces.v.v[1]);
	if (s->other != NULL) {
		take_content(s->other, &other);
		/* a page of kernels compares kernels in place of ops */
		s->other->kernels = s->page != NULL && !s->other->has_ops;
		versus_pair(s, &all.sources, &other.sources);
	}
	if (all.has_linked && all.has_ops && !all.has_owned)
		report(MSG_ONLY_COMMUNICATION, traces_name(s));
	if (all.has_gpu && all.has_ops && !all.has_linked && !all.has_owned)
		report(MSG_NO_OP_OWNS, traces_name(s));
	sink_sources_free(&all.sources);
	sink_sources_free(&all.asked);
	sink_sources_free(&other.sources);
	sink_sources_free(&other.asked);
}

/* Starts one side's trees, which are numbered across both. */
static void
start_all(struct jobs *j, const struct args *traces, const char *capture,
    struct args *trees, unsigned side)
{
	size_t n = side == 0 ? 1 : j->set->traces.v.n + 1;

	for (size_t i = 0; i < traces->v.n; i++)
		args_add(trees, text("%s/t%zu.tl", j->set->tmp, n + i));
	for (size_t i = 0; i < traces->v.n; i++)
		start_one(j, traces->v.v[i], capture, trees->v.v[i], side);
}

void
trees_make(struct settings *s, struct jobs *j)
{
	start_all(j, &s->traces, s->capture, &s->trees, 0);
	start_all(j, &s->vs, s->vs_capture, &s->others, 1);
	if (s->other != NULL)
		args_all(&s->other->trees, &s->others);
	job_finish(j, true);
	look_at_all(s);
}

/* SPDX-License-Identifier: MIT */
/*
 * Reads the sources of a tree stream, each into the arrays of a side.
 *
 * Python frames are skipped without --python; what was below them is then below
 * the nearest event kept. As a tree stream nests ops by themselves and puts
 * frames around them, that is the ops' own parent.
 */
#include "cmd/tl-diff/diff.h"
#include "sink/source.h"
#include "trace/process.h"
#include "trace/stat.h"

#define EVENTS_MAX (UINT32_MAX - 1)

/* An open event, or for a skipped frame the node above it. */
struct open {
	uint32_t depth;
	uint32_t node;  /* NONE: none above */
	uint32_t chain; /* of modules, for descendants */
	bool is_left_out;
};

struct file {
	const char *path;
	struct settings *set;
	struct norms *nm;
	struct clock *clock; /* NULL: no step times wanted */
	int which;           /* its side */
	struct stream_in *in;
	struct sink_sources sources;
	side_vec sides; /* one for each source */
	VEC(struct open) open;
	VEC(uint8_t) modules;          /* by name: 2 module, 1 other */
	struct intern *args, *streams; /* of the current side */
	struct map chains;
	struct side *side;
};

struct file *
file_open(struct settings *set, struct norms *nm, struct clock *clock, int side,
    const char *path)
{
	struct file *f = xcalloc(1, sizeof *f);
	uint32_t kinds = select_kinds(&set->select, KINDS_GPU) | KINDS_HOST |
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_PYTHON);

	f->path = path;
	f->set = set;
	f->nm = nm;
	f->clock = clock;
	f->which = side;
	f->args = intern_create();
	f->streams = intern_create();
	f->in = stream_open(path, nm->st, select_want(&set->select, WANT_TREE));
	if (clock != NULL)
		kinds |= KIND_BIT(KIND_OVERHEAD) | KINDS_GPU;
	stream_only(f->in, kinds);
	return f;
}

/* ---- numbers for names and arguments ---- */

static uint32_t
args_number(struct file *f, const struct event *ev)
{
	struct op_args a = args_of_event(f->nm->st, ev);
	uint32_t no;

	a.hlo = INTERN_NONE; /* a compiler's choices may differ */
	no = intern_put(f->args, (struct str){ (const char *)&a, sizeof a });
	if (no == f->side->args.n)
		vec_push(&f->side->args, a);
	return no;
}

static uint32_t
stream_number(struct file *f, const struct event *ev)
{
	const struct {
		int64_t dev, stream;
		uint64_t types;
	} key = { ev->dev.n, ev->gpu_stream.n,
		(uint64_t)ev->dev.type << 32 | ev->gpu_stream.type };

	return intern_put(
	    f->streams, (struct str){ (const char *)&key, sizeof key });
}

/*
 * "nn.Module: Linear_3" without its number, which counts instances, and XLA's
 * "jit_train(17)" without the program's number, which changes from run to run.
 * Scopes like layer_3 keep the user's name.
 */
static uint32_t
module_name(struct file *f, const struct event *ev)
{
	char before = ev->shape->is_hlo ? '(' : '_';
	struct str s = dict_get(f->nm->st, ev->name);
	size_t n = s.len;

	if (ev->shape->is_hlo && n > 0 && s.p[n - 1] == ')')
		n--;
	while (n > 0 && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
		n--;
	if (n + ev->shape->is_hlo < s.len && n > 0 && s.p[n - 1] == before)
		s.len = n - 1;
	return intern_put(f->nm->st->text, s);
}

static uint32_t
chain_with(struct file *f, uint32_t up, const struct event *ev)
{
	struct chain c = { up, module_name(f, ev) };
	uint32_t no = map_number(&f->chains, (uint64_t)c.up << 32 | c.name);

	if (no == f->side->chains.n)
		vec_push(&f->side->chains, c);
	return no;
}

/* ---- events ---- */

static void
close_top(struct file *f)
{
	const struct open *top = &f->open.v[--f->open.n];

	if (!top->is_left_out)
		f->side->nodes.v[top->node].behind = (uint32_t)f->side->nodes.n;
}

static void
end_side(struct file *f)
{
	struct side *r = f->side;

	if (r == NULL)
		return;
	while (f->open.n > 0)
		close_top(f);
	intern_clear(f->args);
	intern_clear(f->streams);
	map_free(&f->chains);
	if (f->clock != NULL)
		clock_end(f->clock, r);
	f->side = NULL;
}

/* The side of a source, whose events are adjacent. */
static void
enter_side(struct file *f, uint32_t src)
{
	struct sink_source *o = sink_sources_of(&f->sources, src);

	while (f->sides.n <= o->no)
		vec_push(&f->sides, NULL);
	if (f->sides.v[o->no] == NULL) {
		struct side *r = xcalloc(1, sizeof *r);

		r->path = f->sources.path;
		r->steps.only_iterations = f->set->select.of_iterations;
		f->sides.v[o->no] = r;
	}
	if (f->side == f->sides.v[o->no])
		return;
	end_side(f);
	f->side = f->sides.v[o->no];
	if (f->clock != NULL)
		clock_start(f->clock);
}

/* The open node above the current event, or NONE. */
static struct open
find_parent(struct file *f)
{
	static const struct open none = { .node = NONE, .chain = NONE };

	while (
	    f->open.n > 0 && f->open.v[f->open.n - 1].depth >= f->in->ev.depth)
		close_top(f);
	return f->open.n > 0 ? f->open.v[f->open.n - 1] : none;
}

static void
leave_out(struct file *f)
{
	struct open o = find_parent(f);

	o.depth = f->in->ev.depth;
	o.is_left_out = true;
	if (f->in->ev.shape->is_hlo) /* not Python's */
		o.chain = chain_with(f, o.chain, &f->in->ev);
	vec_push(&f->open, o);
}

/* Graph launches are no launches here, as their work is listed by replay. */
static uint8_t
kind_of_event(const struct file *f, const struct event *ev)
{
	struct str name = dict_get(f->nm->st, ev->name);

	if (is_launch_kind(ev->shape->kind) &&
	    (str_eq(name, STR("cudaGraphLaunch")) ||
		str_eq(name, STR("hipGraphLaunch"))))
		return KIND_OTHER;
	return ev->shape->kind;
}

static struct node
node_of_event(struct file *f, const struct event *ev)
{
	struct side *r = f->side;
	uint32_t n = name_strict(f->nm, ev->name), sym = n;
	char text[UID_MAX];
	int64_t end;

	if (r->nodes.n >= EVENTS_MAX)
		die("%s: more than %u events", f->sources.path, EVENTS_MAX);
	if (ev->uid.id > UINT32_MAX)
		die("%s: event %" PRIu64 " exceeds what can be compared",
		    f->sources.path, ev->uid.id);
	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		die("%s: event %" PRIu64 ": its end is out of range",
		    f->sources.path, ev->uid.id);
	if (sym == INTERN_NONE)
		sym = intern_put(f->nm->st->text,
		    (struct str){ text, uid_put(text, ev->uid) });
	return (struct node){
		.ts = ev->ts_ns,
		.dur = ev->dur_ns,
		.id = (uint32_t)ev->uid.id,
		.inst = ev->uid.inst,
		.name = ev->name,
		.n = n,
		.sym = sym,
		.parent = NONE,
		.first_gpu = (uint32_t)r->gpus.n,
		.chain = NONE,
		.extra = NONE,
		.kind = kind_of_event(f, ev),
	};
}

static void
add_gpu(struct file *f, const struct event *ev, struct node *n)
{
	struct side *r = f->side;
	const struct select_window *w = select_annotation(&f->set->select);
	const struct step_window *step = select_step(&f->set->select);
	bool is_unlinked = !event_is_owned(ev);

	n->extra = (uint32_t)r->gpus.n;
	vec_push(&r->gpus,
	    ((struct gpu){
		.node = (uint32_t)r->nodes.n,
		.launch_id = is_unlinked || n->parent == NONE
		    ? NONE
		    : r->nodes.v[n->parent].id,
		.stream = stream_number(f, ev),
		.annotation = w != NULL ? w->name : INTERN_NONE,
		.window = w != NULL ? (uint32_t)w->id : NONE,
		.step = step != NULL && step->what == STEP_IS_STEP
		    ? step->number
		    : WALK_NO_STEP,
		.is_unlinked = is_unlinked,
	    }));
	stat_add(&r->gpu_ns, ev->dur_ns);
}

static void
take_event(struct file *f, bool is_chosen)
{
	const struct event *ev = &f->in->ev;
	bool is_gpu = event_is(ev, KINDS_GPU);
	struct side *r = f->side;
	struct open o;
	struct node n;

	if ((is_gpu && (!is_chosen || (ev->flags & EV_DUPLICATE))) ||
	    (ev->shape->has & HAS_TS) == 0)
		return;
	o = find_parent(f);
	n = node_of_event(f, ev);
	n.parent = o.node;
	n.chain = o.chain;
	if (f->in->section == SECTION_TREE)
		n.flags |= NODE_TREE;
	if (is_gpu &&
	    bucket_of_event(&f->nm->buckets, f->nm->st, ev) == BUCKET_COMM)
		n.flags |= NODE_COMM;
	if (is_gpu)
		add_gpu(f, ev, &n);
	else if (n.kind == KIND_OP && ev->ngpu > 0)
		n.extra = args_number(f, ev);
	if (event_is_module(f->nm->st, ev))
		o.chain = chain_with(f, n.chain, ev);
	vec_push(&f->open,
	    ((struct open){ ev->depth, (uint32_t)r->nodes.n, o.chain, false }));
	vec_push(&r->nodes, n);
}

/* Includes frames and annotations, which are no nodes. */
static void
hash_times(struct side *r, const struct event *ev)
{
	r->times_hash = hash_mix(r->times_hash ^ (uint64_t)ev->ts_ns ^ HASH_K1,
	    (uint64_t)ev->dur_ns ^ HASH_K0);
}

static bool
is_frame(struct file *f, const struct event *ev)
{
	bool is = ev->shape->kind == KIND_PYTHON;

	f->side->has_frames = f->side->has_frames || is;
	return is;
}

/* With --match each side has its own steps. */
static void
select_matched(struct file *f)
{
	const struct optparse op = { .name = "--match",
		.arg = f->set->matched[f->which].p };

	if (op.arg == NULL)
		return;
	f->set->select.steps.n = 0;
	(void)select_opt(&f->set->select, &op, OPT_SELECT_STEP);
}

/* Annotations are in a filtered trace, too. */
static void
add_to_clock(struct file *f, bool is_chosen)
{
	const struct event *ev = &f->in->ev;

	clock_add(f->clock, ev);
	if (is_chosen && ev->shape->kind != KIND_ANNOTATION &&
	    event_is(ev, KINDS_HOST | KINDS_GPU))
		clock_select(f->clock, select_step(&f->set->select));
}

static void
read_all(struct file *f)
{
	struct select *sel = &f->set->select;
	enum item item;

	select_matched(f);
	select_start(sel, f->in, (uint32_t)f->sources.list.n);
	sink_sources_file(&f->sources, f->path);
	while ((item = stream_next(f->in)) != ITEM_END) {
		bool is_chosen = select_item(sel, f->in, item);
		const struct event *ev = &f->in->ev;

		if (item == ITEM_SOURCE)
			(void)sink_sources_source(
			    &f->sources, sel, &f->in->source);
		if (item != ITEM_EVENT)
			continue;
		enter_side(f, ev->src);
		if (is_chosen || !event_is(ev, KINDS_GPU))
			hash_times(f->side, ev);
		if (f->clock != NULL)
			add_to_clock(f, is_chosen);
		if (ev->shape->kind == KIND_ANNOTATION)
			steps_add(&f->side->steps, f->nm->st, ev, 0);
		else if (is_frame(f, ev) && !f->set->python)
			leave_out(f);
		else if (event_is(ev,
			     KINDS_HOST | KINDS_GPU | KIND_BIT(KIND_PYTHON)))
			take_event(f, is_chosen);
	}
	end_side(f);
}

/* ---- runs ---- */

void
side_free(struct side *r)
{
	if (r == NULL)
		return;
	vec_free(&r->nodes);
	vec_free(&r->gpus);
	vec_free(&r->chains);
	vec_free(&r->args);
	steps_free(&r->steps);
	step_times_free(&r->times);
	vec_free(&r->hash);
	vec_free(&r->roots);
	vec_release(r);
}

static void
hand_out(
    struct side *r, const struct sink_source *o, size_t nsources, side_vec *to)
{
	r->is_asked = o->is_asked;
	r->no = r->in_file = o->no;
	r->nin_file = (uint32_t)nsources;
	r->has_rank = o->has_rank;
	r->rank = o->rank;
	r->is_rank_guess = o->is_rank_guess;
	vec_push(to, r);
}

uint32_t
file_take(struct file *f, side_vec *to)
{
	uint32_t nsources;

	read_all(f);
	for (size_t i = 0; i < f->sides.n; i++)
		if (f->sides.v[i] != NULL)
			hand_out(f->sides.v[i], &f->sources.list.v[i],
			    f->sources.list.n, to);
	nsources = (uint32_t)f->sources.list.n;
	stream_close(f->in);
	intern_destroy(f->args);
	intern_destroy(f->streams);
	vec_free(&f->sides);
	vec_free(&f->open);
	sink_sources_free(&f->sources);
	vec_release(f);
	return nsources;
}

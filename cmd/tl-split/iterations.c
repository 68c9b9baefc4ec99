/* SPDX-License-Identifier: MIT */
/*
 * Parts by serving iterations: which iterations a part has, its name, and its
 * events. All threads of a process work on its iteration; GPU work belongs to
 * that of its launch. An arrow's head and an annotation's copy on the GPU are
 * on no thread: they follow the launch or annotation with their id.
 */
#include "cmd/tl-split/split.h"

/* ---- which iterations there are ---- */

static int
by_start(const void *pa, const void *pb)
{
	const struct cut_window *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

/* Finds those of all processes, in order of time. */
static void
find_roots(struct split *s)
{
	struct iterations *its = &s->its;
	const struct steps *steps = &s->cut.steps;
	VEC(struct cut_window) order = { 0 };

	for (size_t i = 0; i < steps->list.n; i++)
		if (steps->list.v[i].what == STEP_IS_STEP)
			vec_push(&order,
			    ((struct cut_window){
				steps->list.v[i].start_ns, 0, (int64_t)i }));
	stable_sort(order.v, order.n, sizeof *order.v, by_start);
	for (size_t i = 0; i < steps->list.n; i++)
		vec_push(&its->root_of, STEPS_NONE);
	for (size_t i = 0; i < order.n; i++) {
		uint32_t window = (uint32_t)order.v[i].key;

		its->root_of.v[window] = (uint32_t)i;
		vec_push(&its->roots, ((struct root){ .window = window }));
	}
	vec_free(&order);
}

static struct str
name_of(const struct split *s, const struct root *root)
{
	return forest_name(
	    &s->now.prologue.tree, s->cut.steps.list.v[root->window].marker);
}

/* Adds an iteration to those of parts, if its name is one of an iteration. */
static bool
pick(struct split *s, uint32_t root)
{
	const struct steps *steps = &s->cut.steps;
	const struct iteration *named =
	    steps_iteration(steps, &steps->list.v[s->its.roots.v[root].window]);
	struct iteration it;

	(void)iteration_of_name(STR(""), &it);
	vec_push(&s->its.picked, root);
	vec_push(&s->its.v, named != NULL ? *named : it);
	return named != NULL;
}

/* ---- parts ---- */

/* The trace's name; a later source of the same name gets a number. */
static struct str
base_of(struct split *s)
{
	const struct fact *f = source_fact(&s->now.source, "name");
	bool has_name =
	    f != NULL && (f->val.type == VAL_STR || f->val.type == VAL_STRX);
	struct intern *bases = s->its.bases;
	size_t nbases = bases->list.n, len;
	struct buf b = { 0 };
	struct str base;

	window_put_base(&b, has_name ? f->val.s : str_of(s->in->name));
	len = b.len;
	for (size_t no = 2;; no++) {
		base = arena_str(s->its.mem, buf_str(&b));
		if (intern_put(bases, base) == nbases)
			break;
		b.len = len;
		buf_printf(&b, "_%zu", no);
	}
	buf_free(&b);
	return base;
}

/*
 * Adds a part of these; takes the beginning of its path from b, and empties b.
 */
static void
add_run(struct split *s, struct buf *b, size_t name_at, struct window w,
    int64_t idx)
{
	struct iterations *its = &s->its;
	struct run run = { .idx = idx, .w = w };
	size_t npaths = its->paths->list.n;

	if (its->runs.n == MAX_PARTS)
		die("over %d parts", MAX_PARTS);
	window_end_name(b, name_at, part_ending(s->set));
	run.path = arena_str(its->mem, buf_str(b));
	b->len = 0;
	if (intern_put(its->paths, run.path) < npaths)
		die("two parts would both be named %s", run.path.p);
	for (size_t i = w.start; i < w.end; i++) {
		struct root *root = &its->roots.v[its->picked.v[i]];

		root->parts[root->nparts++] = (int64_t)its->runs.n;
	}
	vec_push(&its->runs, run);
}

static void
put_summary(struct split *s, struct buf *b, const char *label, struct window w)
{
	struct window_summary sum = window_sum(s->its.v.v, &w);

	window_put_name(b, label, &sum);
}

static void
put_iteration(struct buf *b, struct str base, size_t no)
{
	buf_printf(b, "%s_annotation_iteration_%zu", base.p, no);
}

static void
add_each(struct split *s, struct buf *b, struct str base, struct window in)
{
	for (size_t i = in.start; i < in.end; i++) {
		bool is_known = pick(s, (uint32_t)i);

		put_iteration(b, base, i);
		if (is_known) {
			buf_putc(b, '_');
			window_put_text(b, name_of(s, &s->its.roots.v[i]));
		}
		add_run(s, b, 0,
		    (struct window){ i - in.start, i - in.start + 1 },
		    (int64_t)i);
	}
}

static void
add_range(struct split *s, struct buf *b, struct str base, struct window in)
{
	struct window all = { 0, in.end - in.start };
	struct buf label = { 0 };

	if (in.start == in.end)
		return;
	for (size_t i = in.start; i < in.end; i++)
		(void)pick(s, (uint32_t)i);
	put_iteration(&label, base, in.start);
	buf_putc(&label, '\0');
	put_summary(s, b, label.p, all);
	add_run(s, b, 0, all, (int64_t)in.start);
	buf_free(&label);
}

/* Finds where requests stay at their peak; or takes what was asked for. */
static void
find_regions(struct split *s, struct window in, window_vec *regions)
{
	const struct window_plan *plan = &s->set->plan;
	size_t n = s->its.v.n;
	int64_t peak = window_peak(s->its.v.v, n);

	if (plan->conc != 0 && plan->conc != peak)
		report(MSG_OTHER_PEAK, s->in->name, peak, plan->conc);
	if (s->set->has_range)
		vec_push(regions, in);
	else if (window_regions(regions, s->its.v.v, n, plan->num_steps) ||
	    n == 0)
		return;
	else if (regions->v[0].start == 0 && regions->v[0].end == n)
		report(MSG_FEW_STEADY, s->in->name, n);
	else
		report(MSG_NO_STEADY, s->in->name, n, regions->v[0].start,
		    regions->v[0].end - 1);
}

static void
add_steady(
    struct split *s, struct buf *b, struct str base, const window_vec *regions)
{
	struct window found[STEADY_COUNT];

	window_steady(found, s->its.v.v, regions, &s->set->plan);
	for (size_t i = 0; i < STEADY_COUNT; i++) {
		if (found[i].start == found[i].end)
			continue;
		put_summary(s, b, steady_words[i], found[i]);
		buf_printf(b, "_%s", base.p);
		add_run(s, b, 0, found[i], 0);
	}
}

static void
add_chunk(struct split *s, struct buf *b, struct str base, struct window w,
    int64_t chunk)
{
	const char *word = window_labels[window_label_of(&s->its.v.v[w.start])];
	struct window_summary sum = window_sum(s->its.v.v, &w);
	struct buf label = { 0 };
	size_t name_at;

	buf_printf(b, "%s/", word);
	name_at = b->len;
	buf_printf(&label,
	    "%s_chunk%" PRId64 "_steps%zu_bs%" PRId64 "_conc%" PRId64, word,
	    chunk, w.end - w.start, sum.avg_bs, sum.avg_conc);
	buf_putc(&label, '\0');
	window_put_name(b, label.p, &sum);
	buf_printf(b, "_%s", base.p);
	add_run(s, b, name_at, w, chunk);
	buf_free(&label);
}

static void
make_folder(const struct split *s, const char *name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/%s", s->set->dir, name);
	buf_putc(&b, '\0');
	io_make_folder(b.p);
	buf_free(&b);
}

/* Adds runs of one label; borders of regions do not end a run. */
static void
add_phases(
    struct split *s, struct buf *b, struct str base, const window_vec *regions)
{
	struct iterations *its = &s->its;
	int64_t nchunks[WINDOW_LABELS] = { 0 };
	size_t n = 0;

	/* drop what is in no region */
	for (size_t r = 0; r < regions->n; r++)
		for (size_t i = regions->v[r].start; i < regions->v[r].end;
		     i++) {
			its->picked.v[n] = its->picked.v[i];
			its->v.v[n++] = its->v.v[i];
		}
	its->picked.n = its->v.n = n;
	for (struct window w = { 0, 0 }; w.start < n; w.start = w.end) {
		enum window_label label = window_label_of(&its->v.v[w.start]);

		if (nchunks[label] == 0)
			make_folder(s, window_labels[label]);
		while (w.end < n && window_label_of(&its->v.v[w.end]) == label)
			w.end++;
		add_chunk(s, b, base, w, nchunks[label]++);
	}
}

void
iterations_ready(struct split *s)
{
	const struct settings *set = s->set;
	struct window in;
	window_vec regions = { 0 };
	struct buf b = { 0 };
	struct str base;

	s->its.last = NULL;
	if (s->its.mem == NULL) {
		s->its.mem = arena_create();
		s->its.paths = intern_create();
		s->its.bases = intern_create();
	}
	find_roots(s);
	in.end = s->its.roots.n;
	if (set->has_range && set->end < in.end)
		in.end = set->end;
	in.start = set->first < in.end ? set->first : in.end;
	base = base_of(s);
	if (set->by == BY_ITERATION) {
		add_each(s, &b, base, in);
	} else if (set->by == BY_RANGE) {
		add_range(s, &b, base, in);
	} else {
		for (size_t i = 0; i < s->its.roots.n; i++)
			(void)pick(s, (uint32_t)i);
		find_regions(s, in, &regions);
		(set->by == BY_STEADY ? add_steady : add_phases)(
		    s, &b, base, &regions);
	}
	vec_free(&regions);
	buf_free(&b);
}

/* ---- which events are theirs ---- */

static uint64_t
id_bits(struct key id, bool is_external)
{
	return (uint64_t)id.n << 3 | (uint64_t)id.type << 1 | is_external;
}

/* The id that an arrow's ends share, which is its launch's. */
static struct key
arrow_id(const struct dict *st, const struct event *ev)
{
	struct entries it = entries_of(st, ev);

	while (entries_next(&it))
		if (it.entry->group == GROUP_TOP &&
		    str_eq(dict_get(st, it.entry->key), STR("id")))
			return key_of_value(st, &it.val);
	return (struct key){ 0, KEY_NONE };
}

/* Whether it is in the window found last. */
static bool
is_in_last(const struct split *s, const struct when *when)
{
	const struct steps *steps = &s->cut.steps;
	const struct step_window *w = s->its.last;

	return w != NULL && when->pid != NULL &&
	    key_eq(*when->pid, s->its.last_pid) && when->ns >= w->start_ns &&
	    when->ns < w->end_ns &&
	    (w + 1 == steps->list.v + steps->list.n ||
		when->ns < w[1].start_ns);
}

static uint32_t
root_at(struct split *s, const struct when *when)
{
	const struct step_window *w = s->its.last;

	if (!is_in_last(s, when)) {
		w = steps_at(&s->cut.steps, when->pid, when->ns);
		s->its.last = when->pid != NULL ? w : NULL;
		if (when->pid != NULL)
			s->its.last_pid = *when->pid;
	}
	return w != NULL ? s->its.root_of.v[w - s->cut.steps.list.v]
			 : STEPS_NONE;
}

static uint32_t
root_of(struct split *s, const struct event *ev, const struct when *when)
{
	struct when own;
	const uint64_t *root;
	struct key id;

	if (ev->shape->kind == KIND_FLOW)
		id = arrow_id(s->st, ev);
	else if (ev->shape->kind == KIND_GPU_ANNOTATION)
		id = ev->ext;
	else
		return when != NULL ? root_at(s, when) : STEPS_NONE;
	root = map_get(&s->its.launched,
	    id_bits(id, ev->shape->kind == KIND_GPU_ANNOTATION));
	own = (struct when){ ev->ts_ns, split_process(s, ev->track) };
	return root != NULL ? (uint32_t)*root : root_at(s, &own);
}

static void
count_gpu(struct root *root, const struct event *ev)
{
	if ((ev->flags & EV_DUPLICATE) != 0)
		return;
	root->ngpu++;
	root->gpu_sum_ns = num_add_max(root->gpu_sum_ns, ev->dur_ns);
	spans_add(&root->gpu, ev->ts_ns, num_add_max(ev->ts_ns, ev->dur_ns));
}

void
iterations_take(struct split *s, const struct event *ev,
    const struct when *when, key_vec *keys)
{
	struct iterations *its = &s->its;
	uint32_t no = root_of(s, ev, when);
	struct root *root;

	keys->n = 0;
	if (no == STEPS_NONE)
		return;
	root = &its->roots.v[no];
	if (event_is(ev, KINDS_GPU))
		count_gpu(root, ev);
	else if (event_is(ev, KINDS_LAUNCH) && ev->corr.type != KEY_NONE)
		*map_put(&its->launched, id_bits(ev->corr, false), NULL) = no;
	else if (ev->shape->kind == KIND_ANNOTATION && ev->ext.type != KEY_NONE)
		*map_put(&its->launched, id_bits(ev->ext, true), NULL) = no;
	for (uint32_t i = 0; i < root->nparts; i++)
		vec_push(keys, root->parts[i]);
}

/* ---- the end ---- */

void
iterations_end_source(struct split *s)
{
	struct iterations *its = &s->its;

	for (size_t i = its->first_run; i < its->runs.n; i++) {
		int64_t key = (int64_t)i;
		const struct part *p = part_get(s, &key);

		/* nothing begins in an empty iteration: it has no file */
		if (p->out != NULL)
			details_add(s, &its->runs.v[i], stream_written(p->out));
	}
	for (size_t i = 0; i < its->roots.n; i++)
		spans_free(&its->roots.v[i].gpu);
	its->first_run = its->runs.n;
	its->roots.n = its->root_of.n = its->picked.n = its->v.n = 0;
	map_free(&its->launched);
}

void
iterations_free(struct split *s)
{
	struct iterations *its = &s->its;

	vec_free(&its->runs);
	vec_free(&its->roots);
	vec_free(&its->root_of);
	vec_free(&its->picked);
	vec_free(&its->v);
	if (its->mem == NULL)
		return;
	arena_destroy(its->mem);
	intern_destroy(its->paths);
	intern_destroy(its->bases);
}

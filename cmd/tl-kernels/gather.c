/* SPDX-License-Identifier: MIT */
/* Reading: each kernel becomes a record; its op follows later. */
#include "cmd/tl-kernels/kernels.h"
#include "trace/stat.h"
#include "trace/tree.h"

#define NO_RECORD UINT64_MAX

/* ---- categories ---- */

/* The category of kernels that a call outside ops launched. */
static uint32_t
launch_category(struct kernels *k, uint32_t name)
{
	struct str s = dict_get(k->sink.dict, name);
	bool is_graph = str_find(s, STR("cudagraph"), true) >= 0 ||
	    str_find(s, STR("graphlaunch"), true) >= 0;

	return intern_put(
	    k->sink.dict->text, is_graph ? STR("graph") : STR("runtime"));
}

/* ---- phases ---- */

/* At the kernel's start or, with a track, at its launch's. */
static struct phase_mark
mark_at(const struct kernels *k, uint32_t track, int64_t ts_ns)
{
	return (struct phase_mark){ STEPS_NONE,
		(uint8_t)phases_at(&k->phases, k->sink.dict, track, ts_ns) };
}

/* A recorded phase as --phase selects; a guess is about the op. */
static struct phase_mark
mark_of(const struct kernels *k, const struct launcher *o,
    const struct gpu_work *g, struct phase_mark of_op)
{
	if (!phases_are_recorded(&k->phases))
		return of_op;
	if (k->sink.select.by_gpu_time)
		return mark_at(k, INTERN_NONE, g->ts_ns);
	return (g->flags & EV_UNLINKED) != 0
	    ? of_op
	    : mark_at(k, o->track, g->launch_ns);
}

/* ---- launchers ---- */

void
kernels_launcher(void *sink, const struct launcher *o)
{
	struct kernels *k = sink;
	bool is_op = o->kind == KIND_OP;
	uint32_t category = INTERN_NONE;
	struct phase_mark mark = phases_mark(&k->phases, k->sink.dict, o);

	for (size_t i = 0; i < o->nbelow; i++) {
		const struct gpu_work *g = &o->below[i];
		struct kernel *one;

		if (g->extra == NO_RECORD ||
		    (is_op ? g->op != o->number
			   : g->op != 0 || g->launcher != o->number))
			continue;
		if (category == INTERN_NONE)
			category = is_op
			    ? category_number(&k->categories, k->models,
				  k->sink.dict,
				  model_number(k->models, k->sink.dict, o->name,
				      &o->args),
				  o->ndirect > 0 ? o->direct[0].name
						 : INTERN_NONE)
			    : launch_category(k, o->name);
		one = sink_record(&k->sink, g->extra);
		one->op = o->name;
		one->has_op = is_op;
		one->is_alone = o->nbelow == o->ndirect;
		one->op_number = o->number;
		one->mark = mark_of(k, o, g, mark);
		k->extents.v[one->rec.source].has_ops |= is_op;
		one->category = category;
		one->args = o->args;
		one->nkernels = (uint32_t)o->ndirect;
		one->caller = o->track;
		if ((g->flags & EV_UNLINKED) != 0)
			continue;
		if (__builtin_sub_overflow(
			g->ts_ns, g->launch_end_ns, &one->delay_ns))
			one->delay_ns = SINK_NONE;
		if (__builtin_sub_overflow(
			g->launch_end_ns, g->launch_ns, &one->launch_ns))
			one->launch_ns = SINK_NONE;
	}
	sequences_op(k, o);
}

/* ---- GPU work ---- */

static uint32_t
intern_int(struct kernels *k, int64_t v)
{
	char text[24];

	return intern_put(
	    k->sink.dict->text, (struct str){ text, num_put_i64(text, v) });
}

static uint32_t
text_arg(struct kernels *k, const struct value *v)
{
	if (v->type == VAL_JSON)
		return v->id;
	if (v->type == VAL_JSONX)
		return intern_put(k->sink.dict->text, v->s);
	return INTERN_NONE;
}

/* Text, or an integer as text. */
static uint32_t
word_arg(struct kernels *k, const struct value *v)
{
	switch (v->type) {
	case VAL_STR: return v->id;
	case VAL_STRX: return intern_put(k->sink.dict->text, v->s);
	case VAL_INT: return intern_int(k, v->i);
	default: return INTERN_NONE;
	}
}

/* Resources of a kernel, by the profilers' names. */
static const struct {
	struct str arg;
	unsigned place;
} resources[] = {
	{ STR_INIT("VGPR_Count"), 0 },
	{ STR_INIT("VGPR"), 0 },
	{ STR_INIT("registers per thread"), 0 },
	{ STR_INIT("Accum_VGPR_Count"), 1 },
	{ STR_INIT("AGPR"), 1 },
	{ STR_INIT("SGPR_Count"), 2 },
	{ STR_INIT("SGPR"), 2 },
	{ STR_INIT("LDS_Block_Size"), 3 },
	{ STR_INIT("group_segment_size"), 3 },
	{ STR_INIT("shared memory"), 3 },
	{ STR_INIT("Scratch_Size"), 4 },
	{ STR_INIT("scratch"), 4 },
	{ STR_INIT("private_segment_size"), 4 },
};
#define NRESOURCES 5

static void
take_resource(struct str key, int64_t v, int64_t *list)
{
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		if (str_eq(key, resources[i].arg))
			list[resources[i].place] = v;
}

/* A list; null is unknown. */
static uint32_t
resources_text(struct kernels *k, const int64_t *list)
{
	struct buf b = { 0 };
	uint32_t text;

	for (size_t i = 0; i < NRESOURCES; i++)
		if (list[i] == SINK_NONE)
			buf_puts(&b, i == 0 ? "[null" : ",null");
		else
			buf_printf(
			    &b, "%c%" PRId64, i == 0 ? '[' : ',', list[i]);
	buf_puts(&b, "]");
	text = intern_put(k->sink.dict->text, buf_str(&b));
	buf_free(&b);
	return text;
}

/*
 * rocprofv3's .pftrace has products: work-items, and those of a block. If they
 * do not divide, the number of blocks is unknown.
 */
static void
take_config(struct kernels *k, struct kernel *one, const struct event *ev)
{
	struct entries it = entries_of(k->sink.dict, ev);
	int64_t taken[NRESOURCES], items = SINK_NONE, block = SINK_NONE;

	for (size_t i = 0; i < NRESOURCES; i++)
		taken[i] = SINK_NONE;
	while (entries_next(&it)) {
		struct str key = dict_get(k->sink.dict, it.entry->key);

		if (it.entry->group != GROUP_ARGS)
			continue;
		if (str_eq(key, STR("hlo_op")))
			one->hlo_op = word_arg(k, &it.val);
		else if (str_eq(key, STR("hlo_module")))
			one->hlo_module = word_arg(k, &it.val);
		else if (str_eq(key, STR("program_id")))
			one->program = word_arg(k, &it.val);
		else if (str_eq(key, STR("grid")))
			one->grid = text_arg(k, &it.val);
		else if (str_eq(key, STR("block")))
			one->block = text_arg(k, &it.val);
		else if (it.val.type != VAL_INT)
			continue;
		else if (str_eq(key, STR("grid_size")))
			items = it.val.i;
		else if (str_eq(key, STR("workgroup_size")))
			block = it.val.i;
		else if (str_eq(key, STR("dispatch_id")))
			one->dispatch = it.val.i;
		else if (str_eq(key, STR("agent_id")))
			one->agent = it.val.i;
		else
			take_resource(key, it.val.i, taken);
	}
	if (block != SINK_NONE)
		one->block = intern_int(k, block);
	if (items != SINK_NONE && block > 0 && items % block == 0)
		one->grid = intern_int(k, items / block);
	one->resources = resources_text(k, taken);
}

static struct extent *
extent_of(struct kernels *k, uint32_t source)
{
	while (k->extents.n <= source)
		vec_push(&k->extents,
		    ((struct extent){ INT64_MAX, INT64_MIN, 0, false }));
	return &k->extents.v[source];
}

static void
add_record(struct kernels *k, const struct sink_source *r,
    const struct event *ev, uint32_t module)
{
	struct kernel *one = sink_add(&k->sink);
	struct select *sel = &k->sink.select;

	*one = (struct kernel){
		.rec = { ev->uid, r->no, ev->track, ev->ts_ns },
		.name = ev->name,
		.class = INTERN_NONE,
		.step = k->with_step ? select_step_key(sel)
				     : (struct key){ 0, KEY_NONE },
		.annotation = k->with_annotation ? select_annotation_name(sel)
						 : INTERN_NONE,
		.mark = { STEPS_NONE, PHASE_OUTSIDE },
		.op = INTERN_NONE,
		.category = INTERN_NONE,
		.args = NO_OP_ARGS,
		.module = module,
		.grid = INTERN_NONE,
		.block = INTERN_NONE,
		.resources = INTERN_NONE,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.corr = ev->corr,
		.tid = ev->tid,
		/* a GPU's track has a process in traces of APIs only */
		.caller = r->is_rocprof ? ev->track : INTERN_NONE,
		.dispatch = SINK_NONE,
		.agent = SINK_NONE,
		.hlo_op = INTERN_NONE,
		.hlo_module = INTERN_NONE,
		.program = INTERN_NONE,
		.plain = INTERN_NONE,
		.dur_ns = ev->dur_ns,
		.delay_ns = SINK_NONE,
		.launch_ns = SINK_NONE,
	};
	if (sel->by_gpu_time && phases_are_recorded(&k->phases))
		one->mark = mark_at(k, INTERN_NONE, ev->ts_ns);
	if ((r->is_rocprof || k->with_class) && !r->is_xla)
		one->class = rules_category(&k->sink,
		    r->is_rocprof ? &k->classes : &k->parts, ev->name);
	if (k->with_config || r->is_rocprof || r->is_xla)
		take_config(k, one, ev);
}

/* Returns whether it became a record. */
static bool
take_gpu_event(struct kernels *k, const struct event *ev, bool is_chosen)
{
	struct sink_source *r = &k->sink.sources.list.v[k->sink.source];
	struct extent *x = extent_of(k, r->no);
	uint32_t module = 0;
	int64_t end;

	if (!sink_source_takes(r, ev, is_chosen, &end) ||
	    (k->sink.linked_only && (ev->flags & EV_UNLINKED) != 0))
		return false;
	x->start = ev->ts_ns < x->start ? ev->ts_ns : x->start;
	x->end = end > x->end ? end : x->end;
	if (k->with_module)
		module = modules_work(k, ev);
	if (ev->shape->kind != KIND_KERNEL) {
		sequences_stop(k, ev);
		return false;
	}
	r->nchosen++;
	add_record(k, r, ev, module);
	return true;
}

/* Valid for events that take_gpu_event() has just recorded. */
static uint64_t
record_number(void *arg, const struct event *ev)
{
	const struct kernels *k = arg;

	return ev->shape->kind == KIND_KERNEL ? k->sink.records.n - 1
					      : NO_RECORD;
}

/* ---- XLA's ---- */

static bool
is_class(const struct kernels *k, uint32_t class, struct str word)
{
	return str_starts(dict_get(k->sink.dict, class), word);
}

/*
 * The instruction's name decides if it tells a class, as a convolution may run
 * a GEMM; but attention is known by the kernel's name.
 */
static uint32_t
xla_class(struct kernels *k, const struct kernel *one)
{
	uint32_t class = rules_category(&k->sink, &k->xla, one->name), of_op;

	if (one->hlo_op == INTERN_NONE || is_class(k, class, STR("FA ")))
		return class;
	of_op = rules_category(
	    &k->sink, &k->xla, one->has_op ? one->op : one->hlo_op);
	return is_class(k, of_op, XLA_OTHER) ? class : of_op;
}

/* "loop_fusion" of "loop_fusion_12.kd": the same work has other numbers. */
static uint32_t
plain_name(struct kernels *k, uint32_t name)
{
	struct str s = dict_get(k->sink.dict, name);
	bool is_kd = str_ends(s, STR(".kd"));
	struct buf b = { 0 };
	size_t n = s.len - (is_kd ? 3 : 0), end = n;
	uint32_t id = name;

	while (n > 0 && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
		n--;
	if (n > 1 && n < end && (s.p[n - 1] == '.' || s.p[n - 1] == '_')) {
		buf_printf(&b, "%.*s%s", (int)n - 1, s.p, is_kd ? ".kd" : "");
		id = intern_put(k->sink.dict->text, buf_str(&b));
		buf_free(&b);
	}
	return id;
}

static void
finish_xla(struct kernels *k, struct kernel *one)
{
	uint64_t gpu = hash_more(hash_u64((uint64_t)one->dev.n),
	    (uint64_t)one->rec.source << 8 | one->dev.type);
	bool is_new;

	(void)map_put(&k->gpus, gpu, &is_new);
	k->ngpus += is_new;
	one->class = xla_class(k, one);
	one->plain = plain_name(k, one->name);
}

/* ---- files ---- */

/*
 * A source has ops if one is selected or owns selected work: a stream filtered
 * before has no others.
 */
void
kernels_take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	struct kernels *k = (struct kernels *)s;
	const struct event *ev = &in->ev;

	phases_event(&k->phases, s->dict, ev, s->source);
	if (event_is(ev, KINDS_GPU)) {
		if (take_gpu_event(k, ev, is_chosen))
			launchers_push(s->launchers, ev, true);
		else if (is_chosen && ev->shape->kind != KIND_KERNEL)
			/* maybe the first work of its op */
			launchers_push(s->launchers, ev, true);
	} else if (!event_is(ev, KINDS_PROLOGUE)) {
		if (ev->shape->kind == KIND_OP) {
			s->sources.list.v[s->source].nops++;
			extent_of(k, s->source)->has_ops |= is_chosen;
		}
		if (k->with_module)
			modules_host(k, ev);
		launchers_push(s->launchers, ev, true);
	}
}

void
kernels_start(struct sink *s)
{
	struct kernels *k = (struct kernels *)s;

	rules_load(&k->classes,
	    k->categories_name != NULL ? k->categories_name : "rocprof");
	if (k->with_class)
		rules_load(&k->parts,
		    k->categories_name != NULL ? k->categories_name
					       : "inference");
	rules_load(&k->activities, "activity");
	rules_load(
	    &k->xla, k->categories_name != NULL ? k->categories_name : "jax");
	if (!arch_is_auto(k->arch_name))
		k->arch = arch_load(k->models, k->arch_name, STR(""));
	s->launchers->with_args = k->with_args;
	s->launchers->extra = record_number;
}

void
kernels_flush(struct sink *s)
{
	modules_close((struct kernels *)s, 0);
}

/* The trace's GPU unless --arch names one. */
void
kernels_source(struct sink *s, const struct source *src)
{
	struct kernels *k = (struct kernels *)s;
	const struct fact *f = source_fact(src, "devices");

	if (k->arch == NULL && f != NULL && f->val.s.len > 0 &&
	    arch_is_auto(k->arch_name))
		k->arch = arch_load(k->models, k->arch_name, f->val.s);
}

void
kernels_finish(struct sink *s)
{
	struct kernels *k = (struct kernels *)s;

	(void)extent_of(k, (uint32_t)s->sources.list.n);
	phases_decide(&k->phases, s->dict);
	k->all_rocprof = k->all_xla = s->records.n > 0;
	for (size_t i = 0; i < s->records.n; i++) {
		struct kernel *one = sink_record(s, i);
		struct extent *x = &k->extents.v[one->rec.source];
		struct phase_guess guess = phases_of(&k->phases, one->mark);
		const struct sink_source *r;

		k->nphase[guess.phase]++;
		one->phase = k->phases.phase_words[guess.phase];
		one->phase_method = k->phases.method_words[guess.by];
		/* without ops the launcher is a call, which is no op */
		if (!x->has_ops)
			one->op = INTERN_NONE;
		stat_add(&x->sum_ns, one->dur_ns);
		r = &s->sources.list.v[one->rec.source];
		k->all_rocprof = k->all_rocprof && r->is_rocprof;
		k->all_xla = k->all_xla && r->is_xla;
		if (r->is_xla)
			finish_xla(k, one);
	}
	sequences_finish(k);
	/* rocprofv3's stay longest first, as TraceLens has them */
	for (size_t i = 0; i < s->ntables && !k->all_rocprof; i++)
		if (s->tables[i].is_single)
			s->tables[i].order = SINK_BY_TIME;
}

void
kernels_free(struct sink *s)
{
	struct kernels *k = (struct kernels *)s;

	vec_free(&k->extents);
	modules_free(k);
	sequences_free(k);
	map_free(&k->categories);
	phases_free(&k->phases);
	rules_free(&k->classes);
	rules_free(&k->activities);
	rules_free(&k->parts);
	rules_free(&k->xla);
	map_free(&k->gpus);
	models_destroy(k->models);
}

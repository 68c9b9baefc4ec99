/* SPDX-License-Identifier: MIT */
/* Reading: each op that launches becomes a run, its GPU work kernels. */
#include "cmd/tl-replay/compare.h"
#include "trace/tree.h"

static bool
is_none(struct uid uid)
{
	return uid.id == 0 && uid.inst == 0;
}

/*
 * Marks the runs below an op, which come before it: autograd links a forward op
 * with a wrapper around its backward ops, and an op may launch only through
 * others, as aten::convolution does.
 */
static void
mark_below(struct replay *g, const struct launcher *o, bool is_asked)
{
	for (size_t i = g->sink.records.n; i-- > 0;) {
		struct run *r = run_at(g, i);

		if (r->number < o->number || r->rec.source != g->sink.source)
			break;
		if (is_none(r->forward))
			r->forward = o->fwd;
		r->is_below_asked |= is_asked;
	}
}

static void
keep_forward(struct replay *g, const struct launcher *o)
{
	bool is_new;
	uint64_t *at =
	    map_put(&g->forward_of, event_key(g->sink.source, o->uid), &is_new);

	*at = g->forwards.n;
	vec_push(&g->forwards, ((struct forward){ o->name, o->args }));
}

/* Whether it is in a module with a path of --module, or below one. */
static bool
is_in_module(struct replay *g, const struct launcher *o)
{
	struct buf path = { 0 };
	bool is_in = g->modules.n == 0;

	for (size_t i = o->nmodules; i-- > 0 && !is_in;) {
		struct str name = dict_get(g->sink.dict, o->modules[i]);

		(void)str_take(&name, STR("nn.Module: "));
		if (path.len > 0)
			buf_putc(&path, '/');
		buf_put(&path, name.p, name.len);
		is_in = there_glob(&g->other_modules, g->modules.v,
		    g->modules.n, g->sink.dict,
		    intern_put(g->sink.dict->text, buf_str(&path)));
	}
	buf_free(&path);
	return is_in;
}

void
replay_launcher(void *sink, const struct launcher *o)
{
	struct replay *g = sink;
	struct run *r;
	bool is_asked;

	if (o->kind != KIND_OP)
		return;
	g->sink.sources.list.v[g->sink.source].nops++;
	if (!is_none(o->bwd))
		keep_forward(g, o);
	g->nlaunching += o->ndirect > 0;
	if (o->ndirect > 0 && is_in_module(g, o)) {
		r = sink_add(&g->sink);
		*r = (struct run){
			.rec = { o->uid, g->sink.source, o->track, o->ts_ns },
			.number = o->number,
			.name = o->name,
			.args = o->args,
			.op = NO_OP,
			.nkernels = (uint32_t)o->ndirect,
			.first_kernel = g->kernels.n,
			.gpu_ns = o->direct_ns,
		};
		for (size_t i = 0; i < o->ndirect; i++)
			vec_push(&g->kernels,
			    ((struct kernel){ o->direct[i].uid,
				o->direct[i].name, o->direct[i].gpu_stream,
				o->direct[i].dur_ns }));
	}
	is_asked = o->ndirect == 0 && choose_asks(g, o);
	if (is_asked || !is_none(o->fwd))
		mark_below(g, o, is_asked);
}

/* ---- Triton ---- */

static const char *const triton_keys[TRITON_WORDS] = {
	[TRITON_FILE] = "kernel_file",
	[TRITON_NAME] = "kernel_name",
	[TRITON_KWARGS] = "kernel_kwargs",
	[TRITON_WARPS] = "num_warps",
	[TRITON_STAGES] = "num_stages",
	[TRITON_GRID] = "grid",
};

static uint32_t
text_of(struct dict *st, const struct value *v)
{
	char number[24];

	switch (v->type) {
	case VAL_STR:
	case VAL_STRX:
	case VAL_JSON:
	case VAL_JSONX: return intern_put(st->text, v->s);
	case VAL_INT:
		return intern_put(st->text,
		    (struct str){ number, num_put_i64(number, v->i) });
	default: return INTERN_NONE;
	}
}

/* Keeps what inductor adds to the ops of its kernels. */
static void
take_triton(struct replay *g, const struct event *ev)
{
	struct dict *st = g->sink.dict;
	struct triton t;
	struct value v;
	bool is_new;

	if (!event_arg(st, ev, str_of(triton_keys[TRITON_FILE]), &v))
		return;
	for (int i = 0; i < TRITON_WORDS; i++)
		t.words[i] = event_arg(st, ev, str_of(triton_keys[i]), &v)
		    ? text_of(st, &v)
		    : INTERN_NONE;
	*map_put(&g->triton_of, event_key(g->sink.source, ev->uid), &is_new) =
	    g->tritons.n;
	vec_push(&g->tritons, t);
}

/* ---- hooks ---- */

void
replay_take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	const struct event *ev = &in->ev;
	int64_t end;

	if (event_is(ev, KINDS_GPU)) {
		launchers_push(
		    s->launchers, ev, sink_takes_gpu(s, ev, is_chosen, &end));
	} else if (!event_is(ev, KINDS_PROLOGUE)) {
		if (ev->shape->kind == KIND_OP && ev->ngpu > 0 &&
		    !is_dispatched(dict_get(s->dict, ev->name)))
			take_triton((struct replay *)s, ev);
		launchers_push(s->launchers, ev, is_chosen);
	}
}

void
replay_start(struct sink *s)
{
	struct replay *g = (struct replay *)s;

	s->launchers->with_args = true;
	s->launchers->with_modules = g->modules.n > 0;
	if (g->rows != NULL)
		choose_rows(g);
	for (size_t i = 0; i < g->compares.n; i++)
		compare_read(g, g->compares.v[i]);
}

/* SPDX-License-Identifier: MIT */
/*
 * Events as Kineto writes them. Names and texts of arguments are already JSON,
 * so an event is a series of copies; the rest is numbers.
 */
#include "gen.h"

void
event_open(struct emit *e)
{
	if (e->nevents++ > 0)
		PUT(e->b, ",\n  {\n    ");
	else
		PUT(e->b, "\n  {\n    ");
	e->hash = mix(e->cf->seed ^ 0x6576u, e->nevents);
}

void
event_close(struct emit *e)
{
	PUT(e->b, "\n  }");
}

int64_t
file_time(struct emit *e, int64_t nominal)
{
	return e->base + e->shift + rank_time(&e->s->clock, nominal);
}

/* All digits, the point after the first: exact. Needs ns >= 10^15. */
static void
put_exp(struct buf *b, int64_t ns)
{
	int64_t unit = 1000;
	int exp = 0;

	while (ns / unit >= 10) {
		unit *= 10;
		exp++;
	}
	put_i64(b, ns / unit);
	put_fmt(b, ".%0*llde%s%d", exp + 3, (long long)(ns % unit),
	    exp % 2 == 0 ? "" : "+", exp);
}

void
put_ts(struct emit *e, int64_t ns)
{
	struct buf *b = e->b;

	if (e->cf->int_us) {
		put_i64(b, ns / 1000);
	} else if (quirk_some(e, Q_STRING_TS, 5)) {
		PUT(b, "\"");
		put_us(b, ns);
		PUT(b, "\"");
	} else if (quirk_some(e, Q_EXP_TS, 9)) {
		put_exp(b, ns);
	} else {
		put_us(b, ns);
		if (quirk_some(e, Q_SUBNS, 3)) /* never rounds up */
			put_fmt(b, "%03u", (unsigned)(e->hash >> 40) % 500);
	}
}

void
put_dur(struct emit *e, int64_t t0, int64_t t1)
{
	if (e->cf->int_us)
		put_i64(e->b, t1 / 1000 - t0 / 1000);
	else
		put_us(e->b, t1 - t0);
}

static void
put_id(struct emit *e, int64_t id)
{
	bool text = quirk_some(e, Q_STRING_IDS, 4);

	if (text)
		PUT(e->b, "\"");
	put_i64(e->b, id);
	if (text)
		PUT(e->b, "\"");
}

void
put_corr(struct emit *e, int64_t corr)
{
	bool text = quirk_some(e, Q_STRING_CORR, 6);

	if (text)
		PUT(e->b, "\"");
	put_i64(e->b, corr);
	if (text)
		PUT(e->b, "\"");
}

int64_t
stream_id(const struct conf *cf, int64_t stream)
{
	static const uint8_t cuda[] = { 7, 20, 24 }, rocm[] = { 0, 4, 2 };

	if (stream < 3)
		return cf->cuda ? cuda[stream] : rocm[stream];
	return cf->cuda ? 16 + 4 * stream : 3 + stream;
}

static void
put_thread(struct emit *e, const struct ev *ev)
{
	bool legacy = quirk_on(e->cf, Q_LEGACY);

	if (ev->kind < EV_KERNEL) {
		put_id(e, e->pid);
		PUT(e->b, ", \"tid\": ");
		if (legacy)
			put_fmt(e->b, "\"%lld\"", (long long)e->tid[ev->thr]);
		else
			put_id(e, e->tid[ev->thr]);
		return;
	}
	put_id(e, e->device);
	PUT(e->b, ", \"tid\": ");
	if (ev->kind == EV_SYNC && ev->a != 0)
		PUT(e->b, "-1");
	else if (legacy)
		put_fmt(e->b, "\"stream %lld\"",
		    (long long)stream_id(e->cf, ev->stream));
	else
		put_id(e, stream_id(e->cf, ev->stream));
}

void
times(struct emit *e, const struct ev *ev, int64_t *t0, int64_t *t1)
{
	if (ev->flags & EVF_EXACT) {
		*t0 = e->base + e->shift + ev->t0;
		*t1 = e->base + e->shift + ev->t1;
	} else {
		*t0 = file_time(e, ev->t0);
		*t1 = file_time(e, ev->t1);
	}
	if (ev->kind == EV_GPUANN) { /* Kineto's margins */
		*t0 -= 1;
		*t1 += 1;
	}
}

static const char *const cats[] = { "cpu_op", "user_annotation",
	"python_function", "cpu_instant_event", "cuda_runtime", "kernel",
	"gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation" };
static const char *const legacy_cats[] = { "Operator", "Operator",
	"python_function", "cpu_instant_event", "Runtime", "Kernel", "Memcpy",
	"Memset", "cuda_sync", "gpu_user_annotation" };

static const char *
category(const struct emit *e, const struct ev *ev)
{
	if (quirk_on(e->cf, Q_LEGACY))
		return legacy_cats[ev->kind];
	if (ev->kind == EV_RT && quirk_on(e->cf, Q_XPU))
		return "xpu_runtime";
	return cats[ev->kind];
}

void
slice_head(struct emit *e, const struct ev *ev, int64_t t0, int64_t t1)
{
	struct buf *b = e->b;

	event_open(e);
	PUT(b, "\"ph\": \"X\", \"cat\": \"");
	put_str(b, category(e, ev));
	PUT(b, "\", \"name\": \"");
	put_lit(b, ev->name, ev->name_len);
	PUT(b, "\", \"pid\": ");
	put_thread(e, ev);
	PUT(b, ",\n    \"ts\": ");
	put_ts(e, t0);
	PUT(b, ", \"dur\": ");
	put_dur(e, t0, t1);
	PUT(b, ",\n    \"args\": {\n      ");
}

void
slice_end(struct emit *e)
{
	PUT(e->b, "\n    }\n  }");
}

void
flow(struct emit *e, const struct ev *ev, bool start, uint64_t id,
    const char *name, int64_t t0)
{
	struct buf *b = e->b;

	if (e->cf->no_flows)
		return;
	event_open(e);
	if (start)
		PUT(b, "\"ph\": \"s\", \"id\": ");
	else
		PUT(b, "\"ph\": \"f\", \"id\": ");
	put_u64(b, id);
	PUT(b, ", \"pid\": ");
	put_thread(e, ev);
	PUT(b, ", \"ts\": ");
	put_ts(e, t0);
	PUT(b, ",\n    \"cat\": \"");
	if (quirk_on(e->cf, Q_LEGACY))
		PUT(b, "async\", \"name\": \"launch");
	else {
		put_str(b, name);
		PUT(b, "\", \"name\": \"");
		put_str(b, name);
	}
	if (start)
		PUT(b, "\"");
	else
		PUT(b, "\", \"bp\": \"e\"");
	event_close(e);
}

/* ---- sections ------------------------------------------------------------ */

static void
emit_op(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;
	int64_t t0, t1;

	times(e, ev, &t0, &t1);
	slice_head(e, ev, t0, t1);
	PUT(b, "\"External id\": ");
	put_i64(b, ev->ext);
	PUT(b, ",\"Record function id\": 0, ");
	if (ev->seq >= 0) {
		PUT(b, "\"Sequence number\": ");
		put_i64(b, ev->seq);
		if (ev->flags & EVF_BWD || strncmp(ev->name, "autog", 5) == 0)
			PUT(b, ", \"Fwd thread id\": 1, ");
		else
			PUT(b, ", \"Fwd thread id\": 0, ");
	}
	if (ev->coll != 0)
		comms_args(e, &e->s->coll[ev->coll - 1]);
	else if (ev->u.sig != NULL && !e->cf->no_shapes)
		put_mem(b, ev->u.sig->text, ev->u.sig->len);
	if (quirk_some(e, Q_EXTRA_ARGS, 8))
		PUT(b,
		    "\"finished\": true, \"Call stack\": \"train.py(96): "
		    "train_step;train.py(121): main\", \"Module Hierarchy\": "
		    "\"TOP(GPT).h(Block)\", ");
	PUT(b, "\"Ev Idx\": ");
	put_i64(b, e->evidx++);
	slice_end(e);
	if (ev->flags & (EVF_FWD | EVF_BWD))
		flow(e, ev, ev->flags & EVF_FWD, ev->flow, "fwdbwd", t0);
}

static void
emit_mem(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;

	event_open(e);
	PUT(b,
	    "\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", "
	    "\"name\": \"[memory]\",\n    \"pid\": ");
	put_thread(e, ev);
	PUT(b, ",\n    \"ts\": ");
	put_ts(e, file_time(e, ev->t0));
	PUT(b, ",\n    \"args\": {\n      \"Total Reserved\": ");
	put_i64(b, (ev->ext / (1 << 21) + 2) << 21);
	PUT(b, ", \"Total Allocated\": ");
	put_i64(b, ev->ext);
	PUT(b, ", \"Bytes\": ");
	put_i64(b, ev->a);
	PUT(b, ", \"Addr\": ");
	put_i64(b, ev->b);
	PUT(b, ", \"Device Id\": ");
	put_i64(b, e->device);
	PUT(b, ", \"Device Type\": ");
	put_i64(b, e->cf->cuda ? 1 : 6);
	PUT(b, ", \"Ev Idx\": ");
	put_i64(b, e->evidx++);
	slice_end(e);
}

static void
emit_py(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;
	int64_t t0, t1;

	times(e, ev, &t0, &t1);
	slice_head(e, ev, t0, t1);
	PUT(b, "\"Python parent id\": ");
	if (ev->b >= 0)
		put_i64(b, ev->b);
	else if (ev->thr == THR_MAIN)
		PUT(b, "2");
	else
		PUT(b, "null");
	PUT(b, ", \"Python id\": ");
	put_i64(b, ev->a);
	if (ev->module >= 0) {
		PUT(b, ", \"Python module id\": ");
		put_i64(b, ev->module);
	}
	PUT(b, ", \"Ev Idx\": ");
	put_i64(b, e->evidx++);
	slice_end(e);
}

void
emit_step(struct emit *e, enum section sec)
{
	struct sim *s = e->s;
	int64_t t0 = s->now;

	s->want_gpu = sec == SEC_ACT;
	model_step(s);
	for (size_t i = 0; sec != SEC_ACT && i < s->nev; i++) {
		const struct ev *ev = &s->ev[i];

		if (sec == SEC_CPU && ev->kind <= EV_ANN)
			emit_op(e, ev);
		else if (sec == SEC_MEM && ev->kind == EV_MEM)
			emit_mem(e, ev);
		else if (sec == SEC_PY && ev->kind == EV_PY)
			emit_py(e, ev);
	}
	if (sec == SEC_ACT) {
		emit_activities(e);
		inject_step(e, t0);
	}
	e->end = s->now;
}

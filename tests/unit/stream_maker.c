/* SPDX-License-Identifier: MIT */
/* Events and facts made piece by piece. */
#include "tests/unit/tap.h"

#include "stream/maker.h"

static bool
is_key(struct key k, int64_t n)
{
	return k.type == KEY_INT && k.n == n;
}

static void
whole(struct maker *m)
{
	int64_t pid = 7, tid = 8;
	struct event *ev;
	struct value v;

	maker_begin(m, KIND_KERNEL, STR("kernel"));
	maker_name(m, STR("gemm"));
	maker_track(m, 3, &pid, &tid);
	maker_time(m, 1000, 20);
	maker_int(m, STR("device"), 2, ROLE_DEV);
	maker_int(m, STR("stream"), 9, ROLE_GPU_STREAM);
	maker_int(m, STR("correlation"), 17, ROLE_CORR);
	maker_double(m, STR("load"), 0.1);
	maker_str(m, STR("text"), STR("one"));
	maker_json(m, STR("grid"), STR("[1,2]"));
	ev = maker_end(m, (struct uid){ 5, 0 });
	ok(str_eq(dict_get(m->st, ev->name), STR("gemm")), "the name");
	ok(ev->src == 3 && ev->uid.id == 5 && is_key(ev->pid, 7) &&
		is_key(ev->tid, 8),
	    "source, id and track");
	ok(ev->ts_ns == 1000 && ev->dur_ns == 20 &&
		ev->shape->has == (HAS_NAME | HAS_TRACK | HAS_TS | HAS_DUR),
	    "the time, and no other fields");
	ok(is_key(ev->dev, 2) && is_key(ev->gpu_stream, 9) &&
		is_key(ev->corr, 17),
	    "keys by their roles");
	ok(event_arg(m->st, ev, STR("load"), &v) && v.type == VAL_DEC &&
		v.dec.mant == 1 && v.dec.exp10 == -1,
	    "a double is the decimal of its shortest text");
	ok(event_arg(m->st, ev, STR("text"), &v) && str_eq(v.s, STR("one")),
	    "a text");
	ok(event_arg(m->st, ev, STR("grid"), &v) && v.type == VAL_JSON,
	    "a list");
}

static void
parts(struct maker *m)
{
	struct str big = { xcalloc(1, STREAM_INTERN_MAX + 1),
		STREAM_INTERN_MAX + 1 };
	struct event *ev;
	struct value v;

	maker_begin(m, KIND_MEMCPY, STR("copy"));
	maker_gpu(m, 1, 4);
	maker_str(m, STR("a"), STR("first"));
	maker_str(m, STR("big"), big);
	maker_str(m, STR("a"), STR("last"));
	maker_dur(m, 0, EV_CLAMPED);
	ev = maker_end(m, (struct uid){ 1, 0 });
	ok(is_key(ev->dev, 1) && is_key(ev->gpu_stream, 4),
	    "device and GPU stream without args");
	ok(ev->shape->has == (HAS_DUR | HAS_FLAGS) && ev->flags == EV_CLAMPED,
	    "a mark");
	ok(event_arg(m->st, ev, STR("a"), &v) && str_eq(v.s, STR("last")),
	    "of two members with one key the last counts");
	ok(ev->shape->entries[2].group == GROUP_DUP, "the first is kept");
	ok(event_arg(m->st, ev, STR("big"), &v) && v.type == VAL_STRX,
	    "a long text is inline");
	free((char *)(uintptr_t)big.p);
}

static void
like(struct maker *m)
{
	struct event first;
	struct event *ev;
	struct value v;

	maker_begin(m, KIND_OP, STR("cpu_op"));
	maker_name(m, STR("aten::mm"));
	maker_time(m, 1, 2);
	maker_int(m, STR("a"), 1, ROLE_NONE);
	first = *maker_end(m, (struct uid){ 1, 0 });
	maker_begin_like(m, &first);
	maker_int(m, STR("b"), 2, ROLE_NONE);
	ev = maker_end(m, (struct uid){ 1, 1 });
	ok(ev->name == first.name && ev->dur_ns == 2 &&
		ev->shape->kind == KIND_OP,
	    "an event like another");
	ok(!event_arg(m->st, ev, STR("a"), &v) &&
		event_arg(m->st, ev, STR("b"), &v),
	    "... with arguments of its own");
	ok((first.shape->has & HAS_INST) == 0 &&
		(ev->shape->has & HAS_INST) != 0 && ev->uid.inst == 1,
	    "... and an instance");
}

static void
facts(void)
{
	struct facts f = { 0 };
	struct source so;
	int64_t n;

	facts_int(&f, "rank", 1);
	facts_ns(&f, "base", INT64_MAX);
	facts_int(&f, "rank", 2);
	so = facts_source(&f, 4, true);
	is_int((int64_t)so.nfacts, 2, "a fact said again is replaced");
	ok(source_int(&so, "rank", &n) && n == 2, "... by the last");
	ok(str_eq(source_fact(&so, "base")->val.s, STR("9223372036854775807")),
	    "a time is decimal text");
	ok(so.src == 4 && so.is_final, "the source");
	facts_free(&f);
}

int
main(void)
{
	struct maker m = { .st = dict_create() };

	whole(&m);
	parts(&m);
	like(&m);
	facts();
	maker_free(&m);
	dict_destroy(m.st);
	done_testing();
}

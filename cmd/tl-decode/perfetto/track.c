/* SPDX-License-Identifier: MIT */
/* TrackEvents: what happens on tracks. */
#include "cmd/tl-decode/perfetto/chain.h"
#include "cmd/tl-decode/perfetto/usual.h"
#include "stream/from-json.h"

/* A longer list of categories is a fault. */
#define CATEGORIES_MAX 4096

/* Rare fields of a TrackEvent. */
struct seldom {
	struct legacy legacy;
	/* the event's own times, in microseconds */
	int64_t delta_us, absolute_us, thread_us;
	bool has_delta, has_absolute, has_thread_us;
};

/* A TrackEvent's fields. */
struct track_message {
	struct open_slice *o;
	uint64_t type, lane;
	bool has_lane, has_value, is_real;
	bool has_seldom; /* else seldom and lists are unset */
	int64_t value;
	double real;
	struct number_lists *lists;
	struct seldom seldom;
};

/* Clears them before the first such field. */
static struct seldom *
seldom_of(struct track_message *t)
{
	struct number_lists *l = t->lists;

	if (t->has_seldom)
		return &t->seldom;
	t->has_seldom = true;
	t->seldom = (struct seldom){ .legacy.name = NO_NAME };
	l->counters.n = l->reals.n = l->flows.n = 0;
	l->counter_values.n = l->real_values.n = 0;
	return &t->seldom;
}

/* As text: they have 64 bits. */
static void
add_flows(struct perfetto *p, const number_vec *flows, struct args *to)
{
	struct buf *b = &p->text;

	b->len = 0;
	for (size_t i = 0; i < flows->n; i++) {
		buf_puts(b, i > 0 ? ",\"" : "[\"");
		buf_room(b, 24);
		b->len += num_put_u64(b->p + b->len, flows->v[i]);
		buf_putc(b, '"');
	}
	buf_putc(b, ']');
	args_json(to, KEY_FLOW_IDS, buf_str(b));
}

static void
put_text(struct buf *b, struct str s)
{
	buf_put(b, s.p, s.len);
}

/* Several are one text with commas, as in Chrome's format. */
static void
add_category(struct perfetto *p, struct open_slice *o, uint32_t category)
{
	if (o->category == NO_NAME || category == NO_NAME) {
		o->category = category != NO_NAME ? category : o->category;
		return;
	}
	p->text.len = 0;
	put_text(&p->text, perfetto_name(p, o->category));
	buf_putc(&p->text, ',');
	put_text(&p->text, perfetto_name(p, category));
	if (p->text.len > CATEGORIES_MAX)
		(void)perfetto_fault(p, "an event has too many categories");
	else
		o->category = intern_put(p->texts, buf_str(&p->text));
}

static __attribute__((noinline)) void
read_categories(struct perfetto *p, const struct sequence *q, struct fields m,
    struct open_slice *o)
{
	struct proto_numbers it = proto_numbers(&m, PROTO_VARINT);
	uint64_t u;

	while (p->fault == NULL && proto_number(&it, &u))
		add_category(p, o, sequence_name(q, NAMES_CATEGORY, u));
	if (it.is_bad)
		(void)perfetto_fault(p, "a list of categories is malformed");
}

/* Lists and legacy fields. */
static void
read_older(struct perfetto *p, struct sequence *q, struct fields m,
    struct track_message *t)
{
	struct args *args = &t->o->args;
	struct seldom *s = seldom_of(t);
	struct number_lists *lists = t->lists;

	switch (m.field) {
	case 1:
		s->delta_us = (int64_t)m.u;
		s->has_delta = true;
		break;
	case 2:
		if (__builtin_add_overflow(
			q->thread_us, (int64_t)m.u, &q->thread_us))
			q->thread_us = INT64_MAX;
		s->thread_us = q->thread_us;
		s->has_thread_us = true;
		break;
	case 6:
		if (m.type == PROTO_BYTES)
			(void)legacy_read(p, q, m.bytes, &s->legacy, args);
		break;
	case 12:
		perfetto_numbers(p, &m, PROTO_VARINT, &lists->counter_values);
		break;
	case 16:
		s->absolute_us = (int64_t)m.u;
		s->has_absolute = true;
		break;
	case 17:
		s->thread_us = (int64_t)m.u;
		s->has_thread_us = true;
		break;
	case 31: perfetto_numbers(p, &m, PROTO_VARINT, &lists->counters); break;
	case 45: perfetto_numbers(p, &m, PROTO_VARINT, &lists->reals); break;
	case 46:
		perfetto_numbers(p, &m, PROTO_FIXED64, &lists->real_values);
		break;
	case 36:
	case 42: perfetto_numbers(p, &m, PROTO_VARINT, &lists->flows); break;
	case 47:
	case 48: perfetto_numbers(p, &m, PROTO_FIXED64, &lists->flows); break;
	default: break;
	}
}

/* An id that links events. */
static void
read_correlation(struct perfetto *p, const struct sequence *q, struct fields m,
    struct args *args)
{
	if (m.field == 52)
		args_uint(args, KEY_CORRELATION_ID, m.u);
	else if (m.field == 54)
		args_text(p, args, KEY_CORRELATION_ID,
		    perfetto_name(p, sequence_name(q, NAMES_CORRELATION, m.u)));
	else if (m.type == PROTO_BYTES)
		args_text(p, args, KEY_CORRELATION_ID, m.bytes);
}

/* Rare fields. */
static __attribute__((noinline)) void
read_seldom(struct perfetto *p, struct sequence *q, struct fields m,
    struct track_message *t)
{
	struct open_slice *o = t->o;
	bool is_text = m.type == PROTO_BYTES;

	switch (m.field) {
	case 22:
		if (is_text)
			add_category(p, o, perfetto_text(p, m.bytes));
		break;
	case 23:
		if (is_text)
			o->name = perfetto_text(p, m.bytes);
		break;
	case 30:
		t->value = (int64_t)m.u;
		t->has_value = true;
		break;
	case 44:
		t->real = proto_double(m.u);
		t->has_value = t->is_real = m.type == PROTO_FIXED64;
		break;
	case 52:
	case 53:
	case 54: read_correlation(p, q, m, &o->args); break;
	default: read_older(p, q, m, t); break;
	}
}

/* Evaluates rare fields. */
static void
end_seldom(struct perfetto *p, struct track_message *t)
{
	const struct seldom *s = &t->seldom;
	struct open_slice *o = t->o;
	struct arg *a;

	if (t->lists->flows.n > 0)
		add_flows(p, &t->lists->flows, &o->args);
	if (s->has_thread_us && s->thread_us >= 0) {
		a = args_put(&o->args, perfetto_text(p, STR("tts")), VAL_INT);
		a->i = s->thread_us;
		a->group = GROUP_TOP;
	}
	if (o->name == NO_NAME)
		o->name = s->legacy.name;
}

/* Any field. */
static __attribute__((noinline)) void
read_field(struct perfetto *p, struct sequence *q, struct fields *m,
    struct track_message *t)
{
	struct open_slice *o = t->o;

	switch (m->field) {
	case 3:
		if (m->type != PROTO_VARINT)
			read_categories(p, q, *m, o);
		else
			add_category(
			    p, o, sequence_name(q, NAMES_CATEGORY, m->u));
		break;
	case 4:
		if (m->type == PROTO_BYTES)
			m->p = args_add_run(p, q, m->bytes, m->end, &o->args);
		break;
	case 9: t->type = m->u; break;
	case 10: o->name = sequence_name(q, NAMES_EVENT, m->u); break;
	case 11:
		t->lane = m->u;
		t->has_lane = true;
		break;
	default: read_seldom(p, q, *m, t); break;
	}
}

/* A chain needs a category for the kind, and is written with slices only. */
static inline bool
may_chain(const struct track_message *t)
{
	const struct open_slice *o = t->o;

	return t->type == TYPE_BEGIN && o->category != NO_NAME &&
	    o->args.list.n == 0 && o->args.chain == NULL;
}

static bool
read_message(struct perfetto *p, struct sequence *q, struct str bytes,
    struct track_message *t)
{
	struct fields m = fields_of(bytes);
	struct open_slice *o = t->o;
	uint64_t u;

	while (m.p < m.end) {
		const unsigned char *next;

		switch (*m.p) { /* fields of most events */
		case PROTO_TAG(3, PROTO_VARINT):
			if (o->category != NO_NAME || !fields_usual(&m, &u))
				break;
			o->category = sequence_name(q, NAMES_CATEGORY, u);
			continue;
		case PROTO_TAG(4, PROTO_BYTES):
			if (!may_chain(t))
				break;
			next = chain_read(p, q, m.p, m.end, &o->args);
			if (next == m.p)
				break;
			m.p = next;
			continue;
		case PROTO_TAG(9, PROTO_VARINT):
			if (!fields_usual(&m, &t->type))
				break;
			continue;
		case PROTO_TAG(10, PROTO_VARINT):
			if (!fields_usual(&m, &u))
				break;
			o->name = sequence_name(q, NAMES_EVENT, u);
			continue;
		case PROTO_TAG(11, PROTO_VARINT):
			if (!fields_usual(&m, &t->lane))
				break;
			t->has_lane = true;
			continue;
		default: break;
		}
		if (!perfetto_next_fast(p, &m))
			break;
		read_field(p, q, &m, t);
	}
	if (!perfetto_is_good(p, m.error))
		return false;
	if (o->args.chain != NULL && t->type != TYPE_BEGIN)
		chain_undo(p, &o->args); /* the type is repeated */
	if (t->has_seldom)
		end_seldom(p, t);
	return true;
}

/* ---- counters ---- */

static void
on_counter(struct perfetto *p, uint32_t lane, const struct open_slice *at,
    const double *real, int64_t v)
{
	struct lane *l = &p->lanes.v[lane];
	struct open_slice o = *at;
	double scaled = real != NULL ? *real * (double)l->multiplier : 0;

	if (l->is_incremental && real == NULL) {
		if (__builtin_add_overflow(l->sum, v, &l->sum))
			l->sum = INT64_MAX;
		v = l->sum;
	}
	o.name = l->name;
	l->is_used = true;
	if (real == NULL && __builtin_mul_overflow(v, l->multiplier, &v))
		p->ndropped++;
	else
		write_counter(p, &o, lane_owner(p, lane),
		    real != NULL ? &scaled : NULL, v);
}

/* Counters within another event, on the event's or the sequence's tracks. */
static void
on_more_counters(
    struct perfetto *p, const struct sequence *q, const struct track_message *t)
{
	const number_vec *whole = t->lists->counters.n > 0
	    ? &t->lists->counters
	    : &q->default_counters;
	const number_vec *real =
	    t->lists->reals.n > 0 ? &t->lists->reals : &q->default_reals;
	const struct open_slice o = { .category = NO_NAME,
		.ts_ns = t->o->ts_ns };

	for (size_t i = 0; i < t->lists->counter_values.n && i < whole->n; i++)
		on_counter(p, lane_of(p, whole->v[i]), &o, NULL,
		    (int64_t)t->lists->counter_values.v[i]);
	for (size_t i = 0; i < t->lists->real_values.n && i < real->n; i++) {
		double d = proto_double(t->lists->real_values.v[i]);

		on_counter(p, lane_of(p, real->v[i]), &o, &d, 0);
	}
}

/* ---- slices ---- */

/*
 * rocprofv3 gives begin and end in annotations, whatever the packets' times;
 * the end packet that follows is this slice's, and not waited for.
 */
static bool
is_whole(struct open_slice *o, int64_t *end)
{
	int64_t begin, delta;

	if (!args_get_int(&o->args, KEY_BEGIN_NS, &begin) ||
	    !source_is_time(begin))
		return false;
	if (args_get_int(&o->args, KEY_DELTA_NS, &delta) &&
	    source_is_time(delta))
		*end = begin + delta;
	else if (!args_get_int(&o->args, KEY_END_NS, end) ||
	    !source_is_time(*end))
		return false;
	o->ts_ns = begin;
	return true;
}

/* Whether the slice stays open. */
static inline __attribute__((always_inline)) bool
on_begin(struct perfetto *p, struct sequence *q, struct open_slice *o)
{
	int64_t end;

	if (LIKELY(args_find(&o->args, KEY_BEGIN_NS) == NULL) ||
	    !is_whole(o, &end)) {
		lane_begin(p, q, o);
		return true;
	}
	p->is_rocprof = true;
	p->lanes.v[o->lane].nended++;
	write_slice(p, o, &end, NULL);
	return false;
}

/* rocpd's converter writes a call of length 0 as an instant. */
static void
on_instant(struct perfetto *p, struct open_slice *o)
{
	int64_t end;

	if (is_whole(o, &end))
		write_slice(p, o, &end, NULL);
	else
		write_point(p, o, 'i');
}

/* X: a slice with a duration. */
static void
on_complete(struct perfetto *p, struct open_slice *o, int64_t dur_us)
{
	int64_t end;

	if (__builtin_mul_overflow(dur_us, 1000, &end) ||
	    __builtin_add_overflow(o->ts_ns, end, &end) || !source_is_time(end))
		write_slice(p, o, NULL, NULL);
	else
		write_slice(p, o, &end, NULL);
}

static bool
on_end(struct perfetto *p, struct sequence *q, struct open_slice *o)
{
	return lane_end(p, q, o->lane, o->ts_ns, o->args.list.n > 0 ? o : NULL);
}

/* By phase, without a type. */
static bool
on_phase(struct perfetto *p, struct sequence *q, struct open_slice *o,
    const struct legacy *l)
{
	switch (l->ph) {
	case 'B': return on_begin(p, q, o);
	case 'E': return on_end(p, q, o);
	case 'X': on_complete(p, o, l->dur_us); return false;
	case 0: p->ndropped++; return false; /* no phase either */
	default: write_point(p, o, l->ph); return false;
	}
}

static bool
on_event(struct perfetto *p, struct sequence *q, const struct track_message *t)
{
	static const struct legacy none = { .ph = 0 };
	struct open_slice *o = t->o;

	switch (t->type) {
	case TYPE_BEGIN: return on_begin(p, q, o);
	case TYPE_END: return on_end(p, q, o);
	case TYPE_INSTANT: on_instant(p, o); return false;
	case TYPE_COUNTER:
		if (t->has_value)
			on_counter(p, o->lane, o, t->is_real ? &t->real : NULL,
			    t->value);
		else
			p->ndropped++;
		return false;
	default:
		return on_phase(
		    p, q, o, t->has_seldom ? &t->seldom.legacy : &none);
	}
}

static uint32_t
lane_of_message(
    struct perfetto *p, struct sequence *q, const struct track_message *t)
{
	const struct legacy *l = &t->seldom.legacy;
	const struct lane *thread;

	if (t->has_lane)
		return lane_again(p, t->lane);
	if (t->has_seldom && (l->has_pid || l->has_tid)) {
		thread = q->has_thread ? &p->lanes.v[q->thread] : NULL;
		return lane_of_thread(p,
		    l->has_pid           ? l->pid
			: thread != NULL ? thread->pid
					 : 0,
		    l->has_tid           ? l->tid
			: thread != NULL ? thread->tid
					 : 0);
	}
	if (q->has_default_lane || !q->has_thread)
		return lane_again(p, q->has_default_lane ? q->default_lane : 0);
	return q->thread;
}

/* The event's own time, in microseconds of a monotonic clock; false: none. */
static bool
own_time(struct perfetto *p, struct sequence *q, const struct track_message *t,
    int64_t *ns)
{
	const struct seldom *s = &t->seldom;
	int64_t us;

	if (!t->has_seldom || (!s->has_delta && !s->has_absolute))
		return false;
	if (s->has_delta && __builtin_add_overflow(q->us, s->delta_us, &q->us))
		return perfetto_fault(p, "a time is out of range");
	us = s->has_delta ? q->us : s->absolute_us;
	if (__builtin_mul_overflow(us, 1000, ns))
		return perfetto_fault(p, "a time is out of range");
	return clock_ns(p, q, CLOCK_MONOTONIC, (uint64_t)*ns, ns);
}

/* PyTorch's metadata: text, perhaps JSON. */
static void
put_member(struct perfetto *p, struct str key, struct str text)
{
	struct value v;
	struct json j;

	p->text.len = 0;
	buf_put(&p->text, text.p, text.len);
	buf_room(&p->text, IN_PAD);
	memset(p->text.p + p->text.len, 0, IN_PAD);
	if (!value_of_text(&j, buf_str(&p->text), 0, &p->text2, &v))
		v = (struct value){ .type = VAL_STRX, .s = text };
	source_member(p->s, key, &v);
	source_meta(p->s, key, v);
}

/*
 * Kineto's facts of the recording: instants without time on a track of their
 * own. False: another event.
 */
static bool
on_facts(struct perfetto *p, struct sequence *q, const struct track_message *t)
{
	const struct open_slice *o = t->o;
	uint32_t lane = lane_of_message(p, q, t);
	struct str name = perfetto_name(p, o->name);
	bool has_devices = str_eq(name, STR("device_properties"));

	if (t->type != TYPE_INSTANT ||
	    (!has_devices && !str_eq(name, STR("trace_metadata"))) ||
	    !str_eq(perfetto_name(p, p->lanes.v[lane].process_name),
		STR("Kineto Trace")))
		return false;
	for (size_t i = 0; i < o->args.list.n; i++) {
		const struct arg *a = &o->args.list.v[i];

		if (a->type == VAL_STR)
			put_member(p,
			    has_devices ? STR("deviceProperties")
					: perfetto_name(p, a->key),
			    args_value(p, &o->args, a).s);
	}
	return true;
}

bool
track_event(struct perfetto *p, struct sequence *q, struct str bytes,
    const int64_t *ts_ns)
{
	struct open_slice *o = open_slice_new(p);
	struct track_message t;
	bool is_kept = false;

	t.o = o;
	t.type = 0;
	t.has_lane = t.has_value = t.is_real = t.has_seldom = false;
	t.lists = &p->lists;
	if (ts_ns != NULL)
		o->ts_ns = *ts_ns;
	if (read_message(p, q, bytes, &t) &&
	    (ts_ns != NULL || own_time(p, q, &t, &o->ts_ns))) {
		o->lane = lane_of_message(p, q, &t);
		if (t.has_seldom &&
		    t.lists->counter_values.n + t.lists->real_values.n > 0)
			on_more_counters(p, q, &t);
		is_kept = on_event(p, q, &t);
	} else if (p->fault == NULL && !on_facts(p, q, &t)) {
		p->ndropped++;
	}
	if (!is_kept)
		open_slice_free(p, o);
	return p->fault == NULL;
}

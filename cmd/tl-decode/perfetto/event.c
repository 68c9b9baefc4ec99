/* SPDX-License-Identifier: MIT */
/* What happens on tracks: slices, instants and counters, as events. */
#include "cmd/tl-decode/perfetto/perfetto.h"

/* TrackEvent.type */
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* ---- events out ---- */

/* What an annotation means, whoever writes it. */
static enum role
role_of(struct str key)
{
	static const struct {
		struct str key;
		enum role role;
	} roles[] = {
		{ STR_INIT("correlation"), ROLE_CORR },
		{ STR_INIT("correlation_id"), ROLE_CORR },
		{ STR_INIT("corr_id"), ROLE_CORR },
		{ STR_INIT("External id"), ROLE_EXT },
		{ STR_INIT("device"), ROLE_DEV },
		{ STR_INIT("stream"), ROLE_GPU_STREAM },
		{ STR_INIT("stream_ID"), ROLE_GPU_STREAM },
		{ STR_INIT("stream_id"), ROLE_GPU_STREAM },
	};

	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (str_eq(key, roles[i].key))
			return roles[i].role;
	return ROLE_NONE;
}

/* What a tool without categories says of what happened. */
static enum kind
kind_of_args(const struct perfetto *p, const struct open_slice *o)
{
	struct str name =
	    o->name != NO_NAME ? intern_get(p->texts, o->name) : STR("");
	int64_t i;

	if (args_has(p, &o->args, STR("cuda_sync_kind")))
		return KIND_SYNC;
	if (args_int(p, &o->args, STR("cbid"), &i))
		return str_starts(name, STR("cuda")) ? KIND_RUNTIME
						     : KIND_DRIVER;
	if (args_int(p, &o->args, STR("device"), &i) &&
	    args_int(p, &o->args, STR("stream"), &i))
		return str_starts(name, STR("Memcpy")) ? KIND_MEMCPY
		    : str_starts(name, STR("Memset"))  ? KIND_MEMSET
						       : KIND_KERNEL;
	return args_int(p, &o->args, STR("External id"), &i) ? KIND_OP
							     : KIND_SLICE;
}

static enum kind
kind_of(const struct perfetto *p, const struct open_slice *o, struct str cat)
{
	enum kind kind;

	if (category_kind(cat, &kind))
		return kind;
	return cat.len > 0 ? KIND_SLICE : kind_of_args(p, o);
}

/* "Agent-2", "GPU-0" or 2 */
static bool
agent_number(const struct value *v, int64_t *n)
{
	struct str s = v->s;

	if (v->type == VAL_INT) {
		*n = v->i;
		return true;
	}
	if (v->type != VAL_STR)
		return false;
	for (size_t i = s.len; i-- > 0;)
		if (s.p[i] == '-')
			return num_i64(
			    (struct str){ s.p + i + 1, s.len - i - 1 }, n);
	return false;
}

/* Which annotation names the GPU: a copy belongs to the one that it writes to,
 * or else reads from. */
static struct str
agent_key(const struct perfetto *p, const struct open_slice *o, enum kind kind)
{
	struct str name =
	    o->name != NO_NAME ? intern_get(p->texts, o->name) : STR("");

	if (kind == KIND_KERNEL)
		return STR("agent");
	if (kind != KIND_MEMCPY)
		return STR("");
	return str_find(name, STR("TO_HOST"), false) >= 0 ? STR("src_agent")
							  : STR("dst_agent");
}

static void
put_args(struct perfetto *p, const struct buf *args, struct str agent)
{
	size_t at = 0;
	struct str key;
	struct value v;
	int64_t dev;

	while (args_next(p, args, &at, &key, &v)) {
		/* a device, and the times as written, may be added to these */
		if (p->maker.entries.n >= SHAPE_MAX_ENTRIES - 8) {
			(void)perfetto_fault(
			    p, "an event has too many annotations");
			return;
		}
		maker_arg(&p->maker, key, &v,
		    v.type == VAL_INT ? role_of(key) : ROLE_NONE);
		if (agent.len > 0 && str_eq(key, agent) &&
		    agent_number(&v, &dev))
			maker_int(&p->maker, STR("device"), dev, ROLE_DEV);
	}
}

static void
begin_event(struct perfetto *p, const struct open_slice *o,
    const struct whose *whose, enum kind kind, struct str cat)
{
	int64_t tid = whose->tid;

	/* of rocprofv3's worker threads and GPUs the track is no thread */
	(void)args_int(p, &o->args, STR("tid"), &tid);
	maker_begin(&p->maker, kind, cat);
	maker_name(&p->maker,
	    o->name != NO_NAME ? intern_get(p->texts, o->name) : STR(""));
	maker_track(
	    &p->maker, p->s->src, whose->has_pid ? &whose->pid : NULL, &tid);
	maker_start(&p->maker, source_time(p->s, o->ts_ns));
}

/* Something of a lane that has no length. */
static void
begin_point(struct perfetto *p, const struct open_slice *o, enum kind kind,
    char ph, struct str cat)
{
	struct whose whose = lane_owner(p, o->lane);

	p->lanes.v[o->lane].is_used = true;
	begin_event(p, o, &whose, kind, cat);
	maker_phase(&p->maker, ph);
}

static void
end_event(struct perfetto *p)
{
	struct source_state *s = p->s;
	struct event *ev =
	    maker_end(&p->maker, (struct uid){ s->next_id++, 0 });

	s->skipped[skip_of_shape(
	    ev->shape->kind, ev->shape->ph, ev->shape->has)]++;
	source_event(s, ev);
	(void)source_trim(s, 0);
}

void
write_span(struct perfetto *p, const struct open_slice *o,
    const struct whose *whose, enum kind kind, struct str cat,
    const int64_t *end_ns, const struct buf *more_args)
{
	struct str agent = agent_key(p, o, kind);
	bool is_clamped = end_ns != NULL && *end_ns < o->ts_ns;

	begin_event(p, o, whose, kind, cat);
	if (end_ns != NULL)
		maker_dur(&p->maker, is_clamped ? 0 : *end_ns - o->ts_ns,
		    is_clamped ? EV_CLAMPED : 0);
	put_args(p, &o->args, agent);
	if (more_args != NULL)
		put_args(p, more_args, agent);
	end_event(p);
}

static struct str
category_of(const struct perfetto *p, const struct open_slice *o)
{
	return o->category != NO_NAME ? intern_get(p->texts, o->category)
				      : STR("");
}

void
write_slice(struct perfetto *p, const struct open_slice *o,
    const int64_t *end_ns, const struct buf *more_args)
{
	struct str cat = category_of(p, o);
	struct whose whose = lane_owner(p, o->lane);

	p->lanes.v[o->lane].is_used = true;
	write_span(p, o, &whose, kind_of(p, o, cat), cat, end_ns, more_args);
}

static void
write_instant(struct perfetto *p, const struct open_slice *o)
{
	begin_point(p, o, KIND_INSTANT, 'i', category_of(p, o));
	put_args(p, &o->args, STR(""));
	end_event(p);
}

static void
write_name(struct perfetto *p, uint32_t lane, struct str what, uint32_t text)
{
	const struct lane *l = &p->lanes.v[lane];
	struct whose w = lane_owner(p, lane);

	if (text == NO_NAME)
		return;
	maker_begin(&p->maker, KIND_META, STR(""));
	maker_phase(&p->maker, 'M');
	maker_name(&p->maker, what);
	maker_track(&p->maker, p->s->src, w.has_pid ? &w.pid : NULL,
	    l->has_pid && !l->has_tid ? NULL : &w.tid);
	maker_str(&p->maker, STR("name"), intern_get(p->texts, text));
	end_event(p);
}

/* The process's name is that of the nearest track above that has one. */
static uint32_t
process_name(const struct perfetto *p, const struct lane *l)
{
	for (int i = 0; i < 64; i++) {
		const uint64_t *up;

		if (l->process_name != NO_NAME)
			return l->process_name;
		up = l->has_parent ? map_get(&p->lane_of, l->parent) : NULL;
		if (up == NULL)
			break;
		l = &p->lanes.v[*up];
	}
	return NO_NAME;
}

void
write_names(struct perfetto *p, uint32_t lane)
{
	const struct lane *l = &p->lanes.v[lane];

	write_name(p, lane, STR("process_name"), process_name(p, l));
	write_name(p, lane, STR("thread_name"),
	    l->thread_name != NO_NAME ? l->thread_name : l->name);
}

/* ---- what is read ---- */

/* A TrackEvent's fields. */
struct track_message {
	uint64_t type, lane;
	bool has_lane;
	struct open_slice *o;
	bool has_value;
	int64_t value;
	double real;
	bool is_real;
};

/* Flow ids (47, 48), as texts: they are 64 bits wide. */
static void
read_flows(struct perfetto *p, const struct proto *m, struct buf *list)
{
	struct proto_numbers it = proto_numbers(m, PROTO_FIXED64);
	uint64_t u;

	while (proto_number(&it, &u))
		buf_printf(
		    list, "%s\"%" PRIu64 "\"", list->len > 0 ? "," : "[", u);
	if (it.is_bad)
		(void)perfetto_fault(p, "a list of flows is malformed");
}

static void
read_categories(struct perfetto *p, const struct sequence *q,
    const struct proto *m, struct open_slice *o)
{
	struct proto_numbers it = proto_numbers(m, PROTO_VARINT);
	uint64_t u;

	while (proto_number(&it, &u))
		if (o->category == NO_NAME)
			o->category = sequence_name(q, NAMES_CATEGORY, u);
	if (it.is_bad)
		(void)perfetto_fault(p, "a list of categories is malformed");
}

static void
read_field(struct perfetto *p, const struct sequence *q, const struct proto *m,
    struct track_message *t)
{
	struct open_slice *o = t->o;
	bool is_text = m->type == PROTO_BYTES;

	switch (m->field) {
	case 3: read_categories(p, q, m, o); break;
	case 4:
		if (is_text)
			(void)args_add(p, q, m->bytes, &o->args);
		break;
	case 9: t->type = m->u; break;
	case 10: o->name = sequence_name(q, NAMES_EVENT, m->u); break;
	case 11:
		t->lane = m->u;
		t->has_lane = true;
		break;
	case 22:
		if (is_text && o->category == NO_NAME)
			o->category = perfetto_text(p, m->bytes);
		break;
	case 23:
		if (is_text)
			o->name = perfetto_text(p, m->bytes);
		break;
	case 30:
		t->value = (int64_t)m->u;
		t->has_value = true;
		break;
	case 44:
		t->real = proto_double(m->u);
		t->has_value = t->is_real = m->type == PROTO_FIXED64;
		break;
	default: break;
	}
}

static bool
read_message(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct track_message *t)
{
	struct buf flows = { 0 };
	struct proto m;

	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m))
		if (m.field == 47 || m.field == 48)
			read_flows(p, &m, &flows);
		else
			read_field(p, q, &m, t);
	if (p->fault == NULL && flows.len > 0) {
		buf_putc(&flows, ']');
		args_add_text(
		    p, STR("flow_ids"), VAL_JSON, buf_str(&flows), &t->o->args);
	}
	buf_free(&flows);
	return p->fault == NULL;
}

static void
on_counter(struct perfetto *p, const struct track_message *t)
{
	struct lane *l = &p->lanes.v[t->o->lane];
	int64_t v = t->value;

	if (!t->has_value) {
		p->ndropped++;
		return;
	}
	if (l->is_incremental && !t->is_real) {
		if (__builtin_add_overflow(l->sum, v, &l->sum))
			l->sum = INT64_MAX;
		v = l->sum;
	}
	t->o->name = l->name;
	begin_point(p, t->o, KIND_COUNTER, 'C', STR(""));
	if (t->is_real)
		maker_double(
		    &p->maker, STR("value"), t->real * (double)l->multiplier);
	else if (!__builtin_mul_overflow(v, l->multiplier, &v))
		maker_int(&p->maker, STR("value"), v, ROLE_NONE);
	end_event(p);
}

/*
 * rocprofv3 says when a slice begins and ends, whatever the packets' times:
 * then the end that follows on the track is this one's, and not waited for.
 */
static bool
is_whole(struct perfetto *p, struct open_slice *o, int64_t *end)
{
	int64_t begin, delta;

	if (!args_int(p, &o->args, STR("begin_ns"), &begin) ||
	    !source_is_time(begin))
		return false;
	if (args_int(p, &o->args, STR("delta_ns"), &delta) &&
	    source_is_time(delta))
		*end = begin + delta;
	else if (!args_int(p, &o->args, STR("end_ns"), end) ||
	    !source_is_time(*end))
		return false;
	o->ts_ns = begin;
	return true;
}

static void
on_begin(struct perfetto *p, struct sequence *q, struct open_slice *o)
{
	int64_t end;

	if (!is_whole(p, o, &end)) {
		lane_begin(p, q, o);
		return;
	}
	p->is_rocprof = true;
	p->lanes.v[o->lane].nended++;
	write_slice(p, o, &end, NULL);
	open_slice_free(o);
}

bool
track_event(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns)
{
	struct open_slice *o = xcalloc(1, sizeof *o);
	struct track_message t = { .o = o };

	o->name = o->category = NO_NAME;
	o->ts_ns = ts_ns;
	if (!read_message(p, q, bytes, &t)) {
		open_slice_free(o);
		return false;
	}
	o->lane = lane_of(p,
	    t.has_lane                ? t.lane
		: q->has_default_lane ? q->default_lane
				      : 0);
	switch (t.type) {
	case TYPE_BEGIN: on_begin(p, q, o); return true;
	case TYPE_END:
		lane_end(p, q, (struct slice_end){ o->lane, ts_ns, o->args });
		o->args = (struct buf){ 0 };
		break;
	case TYPE_INSTANT: write_instant(p, o); break;
	case TYPE_COUNTER: on_counter(p, &t); break;
	default: p->nother++; break;
	}
	open_slice_free(o);
	return true;
}

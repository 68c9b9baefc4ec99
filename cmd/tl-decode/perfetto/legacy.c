/* SPDX-License-Identifier: MIT */
/*
 * Chrome's legacy form: phase, ids, durations in microseconds, process and
 * thread numbers. The event is that of the equivalent JSON.
 */
#include "cmd/tl-decode/perfetto/perfetto.h"

/* TrackEvent.LegacyEvent */
enum {
	F_NAME = 1,
	F_PHASE = 2,
	F_DUR_US = 3,
	F_THREAD_DUR_US = 4,
	F_UNSCOPED_ID = 6,
	F_ID_SCOPE = 7,
	F_BIND_ID = 8,
	F_LOCAL_ID = 10,
	F_GLOBAL_ID = 11,
	F_BIND_TO_ENCLOSING = 12,
	F_FLOW_DIRECTION = 13,
	F_INSTANT_SCOPE = 14,
	F_PID = 18,
	F_TID = 19,
};

/* The last argument is a member of the event, not of its args. */
static void
set_top(struct args *to)
{
	to->list.v[to->list.n - 1].group = GROUP_TOP;
}

static void
put_top(struct perfetto *p, struct args *to, struct str key, struct str text)
{
	args_text(p, to, perfetto_text(p, key), text);
	set_top(to);
}

static void
put_top_uint(struct perfetto *p, struct args *to, struct str key, uint64_t v)
{
	args_uint(to, perfetto_text(p, key), v);
	set_top(to);
}

static void
put_top_true(struct perfetto *p, struct args *to, struct str key)
{
	(void)args_put(to, perfetto_text(p, key), VAL_TRUE);
	set_top(to);
}

/* {"local":"0x1f"}, Chrome's form of ids of one process. */
static void
put_id(struct perfetto *p, struct args *to, const char *scope, uint64_t id)
{
	p->text.len = 0;
	buf_printf(&p->text, "{\"%s\":\"0x%" PRIx64 "\"}", scope, id);
	args_json(to, perfetto_text(p, STR("id2")), buf_str(&p->text));
	set_top(to);
}

static void
read_field(struct perfetto *p, const struct sequence *q, const struct fields *m,
    struct legacy *l, struct args *to)
{
	static const struct str scopes[] = { STR_INIT("t"), STR_INIT("g"),
		STR_INIT("p"), STR_INIT("t") };

	switch (m->field) {
	case F_NAME: l->name = sequence_name(q, NAMES_EVENT, m->u); break;
	case F_PHASE: l->ph = m->u < 0x80 ? (char)m->u : 0; break;
	case F_DUR_US: l->dur_us = (int64_t)m->u; break;
	case F_THREAD_DUR_US: put_top_uint(p, to, STR("tdur"), m->u); break;
	case F_UNSCOPED_ID: put_top_uint(p, to, STR("id"), m->u); break;
	case F_LOCAL_ID: put_id(p, to, "local", m->u); break;
	case F_GLOBAL_ID: put_id(p, to, "global", m->u); break;
	case F_ID_SCOPE:
		if (m->type == PROTO_BYTES)
			put_top(p, to, STR("scope"), m->bytes);
		break;
	case F_BIND_ID: put_top_uint(p, to, STR("bind_id"), m->u); break;
	case F_BIND_TO_ENCLOSING:
		if (m->u != 0)
			put_top(p, to, STR("bp"), STR("e"));
		break;
	case F_FLOW_DIRECTION:
		if (m->u & 1)
			put_top_true(p, to, STR("flow_in"));
		if (m->u & 2)
			put_top_true(p, to, STR("flow_out"));
		break;
	case F_INSTANT_SCOPE: put_top(p, to, STR("s"), scopes[m->u & 3]); break;
	case F_PID:
		l->pid = (int32_t)m->u;
		l->has_pid = true;
		break;
	case F_TID:
		l->tid = (int32_t)m->u;
		l->has_tid = true;
		break;
	default: break;
	}
}

bool
legacy_read(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct legacy *l, struct args *to)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m))
		read_field(p, q, &m, l, to);
	return p->fault == NULL;
}

/*
 * ThreadDescriptor {1: pid, 2: tid, 6, 7: base times of the sequence, 5:
 * thread_name}
 */
bool
legacy_thread(struct perfetto *p, struct sequence *q, struct str bytes)
{
	struct fields m = fields_of(bytes);
	uint32_t name = NO_NAME;
	int64_t pid = 0, tid = 0;

	while (perfetto_next(p, &m)) {
		switch (m.field) {
		case 1: pid = (int32_t)m.u; break;
		case 2: tid = (int32_t)m.u; break;
		case 5:
			if (m.type == PROTO_BYTES)
				name = perfetto_text(p, m.bytes);
			break;
		case 6: q->us = (int64_t)m.u; break;
		case 7: q->thread_us = (int64_t)m.u; break;
		default: break;
		}
	}
	q->thread = lane_of_thread(p, pid, tid);
	q->has_thread = true;
	if (name != NO_NAME)
		p->lanes.v[q->thread].thread_name = name;
	return p->fault == NULL;
}

/* ProcessDescriptor {1: pid, 6: process_name}, of the sequence's thread */
bool
legacy_process(struct perfetto *p, struct sequence *q, struct str bytes)
{
	struct fields m = fields_of(bytes);
	uint32_t name = NO_NAME;

	while (perfetto_next(p, &m))
		if (m.field == 6 && m.type == PROTO_BYTES)
			name = perfetto_text(p, m.bytes);
	if (q->has_thread && name != NO_NAME)
		p->lanes.v[q->thread].process_name = name;
	return p->fault == NULL;
}

/* {1: number, 2 or 3: name}, or several names */
static void
read_name(
    struct perfetto *p, struct map *names, uint32_t field, struct str bytes)
{
	struct fields m = fields_of(bytes);
	uint64_t number = 0;
	uint32_t name = NO_NAME;

	while (perfetto_next(p, &m))
		if (m.field == 1 && m.type == PROTO_VARINT)
			number = m.u;
		else if (m.field == field && m.type == PROTO_BYTES &&
		    name == NO_NAME)
			name = perfetto_text(p, m.bytes);
	if (name != NO_NAME)
		*map_put(names, number, NULL) = name;
}

/* ProcessTree {1: processes {1: pid, 3: cmdline}, 2: threads {1: tid, 2: name}}
 */
bool
legacy_names(struct perfetto *p, struct str bytes)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m))
		if (m.type == PROTO_BYTES && m.field == 1)
			read_name(p, &p->process_names, 3, m.bytes);
		else if (m.type == PROTO_BYTES && m.field == 2)
			read_name(p, &p->thread_names, 2, m.bytes);
	return p->fault == NULL;
}

/* SPDX-License-Identifier: MIT */
/* State of a packet sequence: interned names, defaults, clocks. */
#include "cmd/tl-decode/perfetto/usual.h"

#define CLOCK_BOOTTIME 6 /* the default trace clock */
#define CLOCK_REALTIME 1
/* Clocks up to the next constant belong to one sequence. */
#define CLOCK_OWN_FIRST 64
#define CLOCK_OWN_END 128
#define CLOCKS_MAX 256 /* shared ones; searched in turn */
#define TOO_MANY_CLOCKS "more than 256 clocks"

struct sequence *
sequence_of(struct perfetto *p, uint64_t id)
{
	bool is_new;
	uint64_t *place;

	if (LIKELY(p->last != NULL && p->last_id == id))
		return p->last;
	place = map_put(&p->sequence_of, id, &is_new);
	if (is_new) {
		*place = p->sequences.n;
		vec_push(&p->sequences, xcalloc(1, sizeof(struct sequence)));
	}
	p->last = p->sequences.v[*place];
	p->last_id = id;
	return p->last;
}

void
sequence_clear(struct sequence *q)
{
	for (int i = 0; i < NAMES_N; i++) {
		vec_free(&q->names[i].near);
		map_free(&q->names[i].far);
		q->names[i].nput = 0;
	}
	q->chain = NULL;
	map_free(&q->pids);
	counter_sets_free(&q->counters);
	q->default_counters.n = q->default_reals.n = 0;
	q->default_clock = 0;
	q->usual_as_of = 0;
	q->has_default_lane = false;
	q->is_valid = true;
}

void
sequence_free(struct perfetto *p, struct sequence *q)
{
	sequence_clear(q);
	vec_free(&q->clocks);
	vec_free(&q->default_counters);
	vec_free(&q->default_reals);
	vec_free(&q->begins);
	for (size_t i = 0; i < q->ends.n; i++)
		if (q->ends.v[i].more != NULL)
			open_slice_free(p, q->ends.v[i].more);
	vec_free(&q->ends);
	vec_release(q);
}

/* ---- names ---- */

/* Numbers far beyond the count go elsewhere. */
static void
put_name(struct name_list *l, uint64_t iid, uint32_t text)
{
	l->nput++;
	if (iid >= l->near.n && iid / 4 > l->nput + 16) {
		*map_put(&l->far, iid, NULL) = text;
		return;
	}
	while (l->near.n <= iid) {
		const uint64_t *far = map_get(&l->far, l->near.n);

		vec_push(&l->near, far != NULL ? (uint32_t)*far : NO_NAME);
	}
	l->near.v[iid] = text;
}

/* {1: iid, 2: name}; of a kernel 3: demangled; of a GPU context 2: pid */
static bool
intern_one(
    struct perfetto *p, struct sequence *q, enum names what, struct str bytes)
{
	struct fields m = fields_of(bytes);
	uint64_t iid = 0;
	struct str name = { "", 0 }, better = { "", 0 };
	uint64_t pid = 0;
	uint32_t text, was;

	while (perfetto_next(p, &m)) {
		if (m.field == 1 && m.type == PROTO_VARINT)
			iid = m.u;
		else if (m.field == 2 && m.type == PROTO_BYTES)
			name = m.bytes;
		else if (m.field == 2 && m.type == PROTO_VARINT)
			pid = m.u;
		else if (m.field == 3 && m.type == PROTO_BYTES)
			better = m.bytes;
	}
	if (p->fault != NULL)
		return false;
	if (what == NAMES_N) {
		*map_put(&q->pids, iid, NULL) = pid;
		return true;
	}
	if (what == NAMES_KERNEL && better.len > 0)
		name = better;
	text = perfetto_text(p, name);
	was = sequence_name(q, what, iid);
	if (what == NAMES_KEY && was != NO_NAME && was != text)
		q->chain = NULL; /* it has the old key */
	put_name(&q->names[what], iid, text);
	return true;
}

bool
sequence_intern(struct perfetto *p, struct sequence *q, struct str bytes)
{
	static const struct {
		uint32_t field;
		enum names what;
	} fields[] = { { 1, NAMES_CATEGORY }, { 2, NAMES_EVENT },
		{ 3, NAMES_KEY }, { 23, NAMES_N /* a context */ },
		{ 24, NAMES_STAGE }, { 29, NAMES_STRING },
		{ 43, NAMES_CORRELATION }, { 1000, NAMES_KERNEL },
		{ 1001, NAMES_ARG } };
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 47 && m.type == PROTO_BYTES &&
		    !gpu_intern_counters(p, q, m.bytes))
			return false;
		for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
			if (m.field == fields[i].field &&
			    m.type == PROTO_BYTES &&
			    !intern_one(p, q, fields[i].what, m.bytes))
				return false;
	}
	return p->fault == NULL;
}

/* ---- defaults ---- */

void
perfetto_numbers(struct perfetto *p, const struct fields *m,
    enum proto_type type, number_vec *list)
{
	struct proto_numbers it = proto_numbers(m, type);
	uint64_t u;

	while (proto_number(&it, &u))
		vec_push(list, u);
	if (it.is_bad)
		(void)perfetto_fault(p, "a list of numbers is malformed");
}

/* TrackEventDefaults {11: track_uuid, 31, 45: extra_counter_track_uuids} */
static bool
track_defaults(struct perfetto *p, struct sequence *q, struct str bytes)
{
	struct fields m = fields_of(bytes);

	q->default_counters.n = q->default_reals.n = 0;
	while (perfetto_next(p, &m)) {
		if (m.field == 11 && m.type == PROTO_VARINT) {
			q->default_lane = m.u;
			q->has_default_lane = true;
		} else if (m.field == 31 || m.field == 45) {
			perfetto_numbers(p, &m, PROTO_VARINT,
			    m.field == 31 ? &q->default_counters
					  : &q->default_reals);
		}
	}
	return p->fault == NULL;
}

/* TracePacketDefaults {58: timestamp_clock_id, 11: track_event_defaults} */
bool
sequence_defaults(struct perfetto *p, struct sequence *q, struct str bytes)
{
	struct fields m = fields_of(bytes);

	q->usual_as_of = 0;
	while (perfetto_next(p, &m)) {
		if (m.field == 58 && m.type == PROTO_VARINT)
			q->default_clock = m.u;
		else if (m.field == 11 && m.type == PROTO_BYTES &&
		    !track_defaults(p, q, m.bytes))
			return false;
	}
	return p->fault == NULL;
}

/* ---- clocks ---- */

static clock_vec *
clocks_of(struct perfetto *p, struct sequence *q, uint64_t id)
{
	return id >= CLOCK_OWN_FIRST && id < CLOCK_OWN_END ? &q->clocks
							   : &p->clocks;
}

static struct clock *
clock_find(struct perfetto *p, struct sequence *q, uint64_t id)
{
	clock_vec *clocks = clocks_of(p, q, id);

	for (size_t i = 0; i < clocks->n; i++)
		if (clocks->v[i].id == id)
			return &clocks->v[i];
	return NULL;
}

static bool
ticks_ns(const struct clock *c, int64_t ticks, int64_t *ns)
{
	return !__builtin_mul_overflow(ticks, c->multiplier, ns) &&
	    source_is_time(*ns);
}

/* {1: clock_id, 2: timestamp, 3: is_incremental, 4: unit_multiplier_ns} */
static bool
read_clock(struct perfetto *p, struct str bytes, struct clock *c)
{
	struct fields m = fields_of(bytes);
	int64_t ns;

	*c = (struct clock){ .multiplier = 1 };
	while (perfetto_next(p, &m)) {
		if (m.type != PROTO_VARINT)
			continue;
		switch (m.field) {
		case 1: c->id = m.u; break;
		case 2: c->last = (int64_t)m.u; break;
		case 3: c->is_incremental = m.u != 0; break;
		case 4: c->multiplier = m.u > 0 ? (int64_t)m.u : 1; break;
		default: break;
		}
	}
	if (p->fault != NULL)
		return false;
	return ticks_ns(c, c->last, &ns) ||
	    perfetto_fault(p, "a clock is out of range");
}

/* The trace clock's value in a snapshot, directly or by a clock tied to it. */
static bool
snapshot_ns(
    struct perfetto *p, struct sequence *q, const clock_vec *list, int64_t *now)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct clock *c = &list->v[i], *old;
		int64_t ns;

		if (!ticks_ns(c, c->last, &ns))
			continue;
		if (c->id == p->trace_clock) {
			*now = ns;
			return true;
		}
		old = clock_find(p, q, c->id);
		if (old != NULL && old->has_offset)
			*now = ns + old->offset;
		if (old != NULL && old->has_offset)
			return true;
	}
	return false;
}

/* The first snapshot with both gives the trace clock's offset from 1970. */
static void
set_epoch(struct perfetto *p, const clock_vec *list, int64_t now)
{
	struct source so = facts_source(&p->s->facts, 0, false);
	int64_t ns, epoch;

	if (source_int(&so, "epoch", &epoch))
		return;
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].id == CLOCK_REALTIME &&
		    ticks_ns(&list->v[i], list->v[i].last, &ns))
			facts_ns(&p->s->facts, "epoch", ns - now);
}

static void
tie_clocks(struct perfetto *p, struct sequence *q, clock_vec *list)
{
	int64_t now, ns;
	bool has_now = snapshot_ns(p, q, list, &now);

	if (has_now)
		set_epoch(p, list, now);
	for (size_t i = 0; i < list->n; i++) {
		struct clock *c = &list->v[i];
		struct clock *known = clock_find(p, q, c->id);

		c->has_offset = has_now && ticks_ns(c, c->last, &ns);
		if (c->has_offset)
			c->offset = now - ns;
		if (known != NULL)
			*known = *c;
		else if (clocks_of(p, q, c->id)->n < CLOCKS_MAX)
			vec_push(clocks_of(p, q, c->id), *c);
		else
			(void)perfetto_fault(p, TOO_MANY_CLOCKS);
	}
}

/* ClockSnapshot {1: clocks, 2: primary_trace_clock} */
bool
clock_snapshot(struct perfetto *p, struct sequence *q, struct str bytes)
{
	clock_vec list = { 0 };
	struct fields m = fields_of(bytes);

	p->nsnapshots++;
	while (perfetto_next(p, &m)) {
		struct clock c;

		if (m.field == 2 && m.type == PROTO_VARINT) {
			p->trace_clock = m.u;
		} else if (m.field == 1 && m.type == PROTO_BYTES) {
			if (list.n == CLOCKS_MAX)
				(void)perfetto_fault(p, TOO_MANY_CLOCKS);
			else if (read_clock(p, m.bytes, &c))
				vec_push(&list, c);
		}
	}
	if (p->fault == NULL)
		tie_clocks(p, q, &list);
	vec_free(&list);
	return p->fault == NULL;
}

/* Remembers a clock that clock_ns() can convert without clock_ns_any(). */
static void
learn_usual_clock(struct perfetto *p, struct sequence *q, const struct clock *c)
{
	if (c->id != q->default_clock || c->id == p->trace_clock ||
	    clocks_of(p, q, c->id) != &q->clocks)
		return;
	if (!c->is_incremental || c->multiplier != 1 || !c->has_offset)
		return;
	q->usual_clock = (size_t)(c - q->clocks.v);
	q->usual_as_of = p->nsnapshots;
}

bool
clock_ns_any(struct perfetto *p, struct sequence *q, uint64_t id, uint64_t ts,
    int64_t *ns)
{
	struct clock *c;
	int64_t ticks = (int64_t)ts;

	if (id == 0)
		id = q->default_clock != 0 ? q->default_clock : CLOCK_BOOTTIME;
	c = clock_find(p, q, id);
	if (c != NULL && c->is_incremental) {
		if (__builtin_add_overflow(c->last, ticks, &c->last))
			return perfetto_fault(p, "a time is out of range");
		ticks = c->last;
	}
	*ns = ticks;
	if ((c != NULL && !ticks_ns(c, ticks, ns)) || !source_is_time(*ns))
		return perfetto_fault(p, "a time is out of range");
	if (id == p->trace_clock)
		return true;
	if (c == NULL || !c->has_offset) {
		p->nnoclock++;
		return true;
	}
	learn_usual_clock(p, q, c);
	return (!__builtin_add_overflow(*ns, c->offset, ns) &&
		   source_is_time(*ns)) ||
	    perfetto_fault(p, "a time is out of range");
}

/* SPDX-License-Identifier: MIT */
/*
 * Tracks, and the slice that an end closes. Slices nest, so an end closes the
 * last begin. Two writers differ: rocprofv3 gives a slice's end in annotations,
 * in any order; PyTorch writes many begins, then their ends in the same order.
 * So ends wait until something else begins: a run of begins with as many ends
 * out of time order is paired one by one, if all pairs fit.
 */
#include "cmd/tl-decode/perfetto/usual.h"

#define OWNERS_MAX 64 /* nested tracks */

/* ---- tracks ---- */

static struct lane
new_lane(uint64_t uuid)
{
	return (struct lane){ .uuid = uuid,
		.name = NO_NAME,
		.thread_name = NO_NAME,
		.process_name = NO_NAME,
		.multiplier = 1 };
}

uint32_t
lane_of(struct perfetto *p, uint64_t uuid)
{
	bool is_new;
	uint64_t *place = map_put(&p->lane_of, uuid, &is_new);

	if (!is_new)
		return (uint32_t)*place;
	*place = p->lanes.n;
	vec_push(&p->lanes, new_lane(uuid));
	return (uint32_t)*place;
}

uint32_t
lane_of_thread(struct perfetto *p, int64_t pid, int64_t tid)
{
	bool is_new;
	uint64_t *place = map_put(&p->lane_of_thread,
	    (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid, &is_new);

	if (is_new) {
		struct lane l = new_lane(0);

		l.pid = pid;
		l.tid = tid;
		l.has_pid = l.has_tid = true;
		*place = p->lanes.n;
		vec_push(&p->lanes, l);
	}
	return (uint32_t)*place;
}

/* ProcessDescriptor {1: pid, 2: cmdline, 6: process_name} */
static void
describe_process(struct perfetto *p, struct lane *l, struct str bytes)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 1 && m.type == PROTO_VARINT) {
			l->pid = (int64_t)m.u;
			l->has_pid = true;
		} else if (m.type == PROTO_BYTES &&
		    (m.field == 6 ||
			(m.field == 2 && l->process_name == NO_NAME))) {
			l->process_name = perfetto_text(p, m.bytes);
		}
	}
}

/* ThreadDescriptor {1: pid, 2: tid, 5: thread_name} */
static void
describe_thread(struct perfetto *p, struct lane *l, struct str bytes)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 1 && m.type == PROTO_VARINT) {
			l->pid = (int64_t)m.u;
			l->has_pid = true;
		} else if (m.field == 2 && m.type == PROTO_VARINT) {
			l->tid = (int64_t)m.u;
			l->has_tid = true;
		} else if (m.field == 5 && m.type == PROTO_BYTES) {
			l->thread_name = perfetto_text(p, m.bytes);
		}
	}
}

/* CounterDescriptor {4: unit_multiplier, 5: is_incremental} */
static void
describe_counter(struct perfetto *p, struct lane *l, struct str bytes)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 4 && m.type == PROTO_VARINT && m.u != 0)
			l->multiplier = (int64_t)m.u;
		else if (m.field == 5 && m.type == PROTO_VARINT)
			l->is_incremental = m.u != 0;
	}
}

/* The uuid of a TrackDescriptor, at any place. */
static void
find_uuid(struct perfetto *p, struct str bytes, uint64_t *uuid)
{
	struct fields m = fields_of(bytes);

	*uuid = 0;
	while (perfetto_next(p, &m))
		if (m.field == 1 && m.type == PROTO_VARINT)
			*uuid = m.u;
}

/*
 * TrackDescriptor {1: uuid, 5: parent_uuid, 2, 10, 13: name, 3: process, 4:
 * thread, 8: counter}. A name alone renames the track.
 */
bool
lane_describe(struct perfetto *p, struct str bytes)
{
	struct fields m = fields_of(bytes);
	uint64_t uuid;
	uint32_t lane;
	struct lane *l;

	find_uuid(p, bytes, &uuid);
	if (p->fault != NULL)
		return false;
	p->ntold++;
	lane = lane_of(p, uuid); /* lanes may have moved */
	l = &p->lanes.v[lane];
	while (perfetto_next(p, &m)) {
		if (m.field == 5 && m.type == PROTO_VARINT) {
			l->parent = m.u;
			l->has_parent = true;
		}
		if (m.type != PROTO_BYTES)
			continue;
		switch (m.field) {
		case 2:
		case 10:
		case 13: l->name = perfetto_text(p, m.bytes); break;
		case 3: describe_process(p, l, m.bytes); break;
		case 4: describe_thread(p, l, m.bytes); break;
		case 8: describe_counter(p, l, m.bytes); break;
		default: break;
		}
	}
	return p->fault == NULL;
}

static bool
number_behind(struct str name, struct str word, int64_t *n)
{
	return str_starts(name, word) &&
	    num_i64((struct str){ name.p + word.len, name.len - word.len }, n);
}

/* GPU and stream by the names of the track and those above. */
static void
find_row(const struct perfetto *p, const struct lane *l, struct whose *w)
{
	const uint32_t names[] = { l->name, l->thread_name, l->process_name };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct str name = perfetto_name(p, names[i]);

		w->has_dev =
		    w->has_dev || number_behind(name, STR("GPU "), &w->dev);
		w->has_stream = w->has_stream ||
		    number_behind(name, STR("stream "), &w->gpu_stream);
	}
}

static struct whose
find_owner(const struct perfetto *p, const struct lane *l)
{
	struct whose w = { .tid = (int64_t)l->uuid,
		.is_process = l->has_pid && !l->has_tid };

	for (int i = 0; i < OWNERS_MAX; i++) {
		const uint64_t *up;

		find_row(p, l, &w);
		if (l->has_pid && !w.has_pid) {
			w.pid = l->pid;
			w.has_pid = true;
			w.has_tid = l->has_tid;
			if (l->has_tid)
				w.tid = l->tid;
		}
		up = l->has_parent ? map_get(&p->lane_of, l->parent) : NULL;
		if (up == NULL)
			break;
		l = &p->lanes.v[*up];
	}
	return w;
}

struct whose *
lane_owner(struct perfetto *p, uint32_t lane)
{
	struct lane *l = &p->lanes.v[lane];

	if (l->as_of != p->ntold) {
		l->whose = find_owner(p, l);
		l->as_of = p->ntold;
	}
	return &l->whose;
}

/* ---- slices ---- */

struct open_slice *
open_slice_make(void)
{
	return xcalloc(1, sizeof(struct open_slice));
}

static void
close_slice(struct perfetto *p, struct open_slice *o, const struct slice_end *e)
{
	if (o->args.chain == NULL || e->more != NULL ||
	    !write_usual(p, o, e->ts_ns))
		write_slice(
		    p, o, &e->ts_ns, e->more != NULL ? &e->more->args : NULL);
	p->nopen--;
	open_slice_free(p, o);
}

/* Whether the i-th end of a run belongs to the i-th begin. */
static bool
is_paired(const struct sequence *q)
{
	int64_t last;
	bool is_nested;

	if (q->begins.n != q->ends.n)
		return false;
	last = q->begins.v[q->begins.n - 1]->ts_ns;
	is_nested = last < q->ends.v[0].ts_ns;
	for (size_t i = 0; i < q->ends.n; i++) {
		const struct open_slice *o = q->begins.v[i];
		const struct slice_end *e = &q->ends.v[i];

		if (o->lane != e->lane || e->ts_ns < o->ts_ns)
			return false;
		if (e->ts_ns < last)
			is_nested = false;
		last = i > 0 && e->ts_ns < q->ends.v[i - 1].ts_ns ? INT64_MAX
								  : last;
		if (last == INT64_MAX)
			is_nested = false;
	}
	return !is_nested;
}

/* Pairs waiting ends with slices. */
void
lane_settle(struct perfetto *p, struct sequence *q)
{
	bool is_paired_off = q->ends.n > 0 && is_paired(q);

	for (size_t i = 0; i < q->ends.n; i++) {
		struct slice_end *e = &q->ends.v[i];
		struct lane *l = &p->lanes.v[e->lane];

		if (is_paired_off) {
			l->open.n--;
			close_slice(p, q->begins.v[i], e);
		} else if (l->open.n > 0) {
			close_slice(p, l->open.v[--l->open.n], e);
		} else {
			p->ndropped++; /* began before the recording */
		}
		if (e->more != NULL)
			open_slice_free(p, e->more);
	}
	q->begins.n = q->ends.n = 0;
}

void
lanes_finish(struct perfetto *p)
{
	for (size_t i = 0; i < p->sequences.n; i++)
		lane_settle(p, p->sequences.v[i]);
	for (uint32_t i = 0; i < p->lanes.n; i++) {
		struct lane *l = &p->lanes.v[i];

		for (size_t k = 0; k < l->open.n; k++) {
			write_slice(p, l->open.v[k], NULL, NULL);
			open_slice_free(p, l->open.v[k]);
		}
		l->open.n = 0;
		if (l->is_used)
			write_names(p, i);
	}
}

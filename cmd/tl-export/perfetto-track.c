/* SPDX-License-Identifier: MIT */
/*
 * Tracks: of threads, below their processes; of GPU streams, if the format has
 * no rows for them; of counters, one per series; and of slices that cross
 * others, below the track they belong to.
 */
#include "cmd/tl-export/perfetto.h"

/* Lanes of a track tried before a new one is made. */
#define LANES_TRIED 64
/* Strings as ids become numbers from here on, above Linux's ids. */
#define TEXT_IDS INT64_C(1000000000)

/* ---- descriptors ---- */

static uint64_t
new_uuid(struct perfetto *x)
{
	bool is_new;

	do
		(void)map_put(&x->uuids, ++x->last_uuid, &is_new);
	while (!is_new);
	return x->last_uuid;
}

/*
 * The uuid of a track that is named by its number alone, if free: readers take
 * it for the thread.
 */
static uint64_t
uuid_of_number(struct perfetto *x, int64_t number)
{
	bool is_new;

	(void)map_put(&x->uuids, (uint64_t)number, &is_new);
	return is_new ? (uint64_t)number : new_uuid(x);
}

/* A number for an id of any type. */
static int64_t
number_of(struct perfetto *x, struct key id, const struct value *raw)
{
	bool is_new;
	uint64_t *number;

	if (id.type == KEY_INT)
		return id.n;
	x->text.len = 0;
	value_put_json(&x->text, raw);
	number = map_put(&x->text_ids,
	    hash_more(hash_bytes(x->text.p, x->text.len), x->src), &is_new);
	if (is_new)
		*number = x->text_ids.n - 1;
	return TEXT_IDS + (int64_t)*number;
}

static int64_t
pid_of(struct perfetto *x, const struct track *t)
{
	int64_t pid = number_of(x, t->pid, &t->raw_pid);

	if (x->set->keep_pids || pid < 0 || pid >= PID_STEP)
		return pid;
	return pid + x->src * PID_STEP;
}

static struct str
known_name(const struct perfetto *x, uint32_t name)
{
	struct str s = dict_get(x->st, name);

	return str_eq(s, STR("Unknown")) ? STR("") : s;
}

/* Writes a name or, without one, an id that is a string. */
static void
put_name(
    struct perfetto *x, uint32_t field, uint32_t name, const struct value *id)
{
	struct str s = known_name(x, name);

	if (s.len > 0)
		proto_put_bytes(&x->b, field, s);
	else if (id->type == VAL_STR || id->type == VAL_STRX)
		proto_put_bytes(&x->b, field, id->s);
}

/* The process of an event, described once. */
static uint64_t
process_of(struct perfetto *x, uint32_t track)
{
	const struct track *t = &x->st->tracks.v[track];
	int64_t pid = pid_of(x, t);
	bool is_new;
	uint64_t *uuid = map_put(&x->process_of, (uint64_t)pid, &is_new);
	size_t packet, descriptor, process;

	if (!is_new)
		return *uuid;
	*uuid = new_uuid(x);
	packet = packet_begin(x);
	descriptor = proto_begin(&x->b, 60);
	proto_put_number(&x->b, 1, *uuid);
	process = proto_begin(&x->b, 3);
	proto_put_number(&x->b, 1, (uint64_t)pid);
	put_name(x, 6, names_of(x->names, track).process, &t->raw_pid);
	proto_end(&x->b, process);
	proto_end(&x->b, descriptor);
	packet_end(x, packet);
	return *uuid;
}

/* Describes a track of this name; parent 0: none. */
static void
describe(struct perfetto *x, uint64_t uuid, uint64_t parent, struct str name,
    bool is_counter)
{
	size_t packet = packet_begin(x);
	size_t descriptor = proto_begin(&x->b, 60);

	proto_put_number(&x->b, 1, uuid);
	if (parent != 0)
		proto_put_number(&x->b, 5, parent);
	if (name.len > 0)
		proto_put_bytes(&x->b, 2, name);
	if (is_counter)
		proto_put_bytes(&x->b, 8, STR(""));
	proto_end(&x->b, descriptor);
	packet_end(x, packet);
}

static void
describe_thread(struct perfetto *x, uint64_t uuid, uint32_t track)
{
	const struct track *t = &x->st->tracks.v[track];
	uint64_t parent = process_of(x, track);
	size_t packet = packet_begin(x);
	size_t descriptor = proto_begin(&x->b, 60), thread;

	proto_put_number(&x->b, 1, uuid);
	proto_put_number(&x->b, 5, parent);
	thread = proto_begin(&x->b, 4);
	proto_put_number(&x->b, 1, (uint64_t)pid_of(x, t));
	proto_put_number(&x->b, 2, (uint64_t)number_of(x, t->tid, &t->raw_tid));
	put_name(x, 5, names_of(x->names, track).thread, &t->raw_tid);
	proto_end(&x->b, thread);
	proto_end(&x->b, descriptor);
	packet_end(x, packet);
}

/* ---- rows ---- */

static uint32_t
add_row(struct perfetto *x, uint64_t uuid, bool has_tid_arg)
{
	struct row r = { .uuid = uuid, .has_tid_arg = has_tid_arg };

	vec_push(&r.lanes, ((struct lane){ .uuid = uuid }));
	vec_push(&x->rows, r);
	return (uint32_t)x->rows.n - 1;
}

/* A hash of what identifies a row: two collide once in 2^64. */
static uint64_t
row_hash(uint64_t a, struct key b, struct key c, struct key d)
{
	uint64_t h = hash_u64(a);

	h = hash_more(hash_more(h, (uint64_t)b.n), b.type);
	h = hash_more(hash_more(h, (uint64_t)c.n), c.type);
	return hash_more(hash_more(h, (uint64_t)d.n), d.type);
}

static uint32_t
thread_row(struct perfetto *x, const struct event *ev)
{
	const struct track *t = &x->st->tracks.v[ev->track];
	bool has_track = (ev->shape->has & HAS_TRACK) != 0;
	bool has_pid = has_track && t->has_pid;
	bool has_tid = has_track && t->has_tid;
	uint32_t name = INTERN_NONE;
	uint64_t uuid;

	if (has_pid && !has_tid)
		return add_row(x, process_of(x, ev->track), false);
	uuid = has_tid && !has_pid
	    ? uuid_of_number(x, number_of(x, t->tid, &t->raw_tid))
	    : new_uuid(x);
	if (has_tid)
		name = names_of(x->names, ev->track).thread;
	if (has_pid)
		describe_thread(x, uuid, ev->track);
	else
		describe(x, uuid, 0, known_name(x, name), false);
	return add_row(x, uuid, false);
}

static uint32_t
stream_row(struct perfetto *x, const struct event *ev)
{
	bool has_pid = (ev->shape->has & HAS_TRACK) != 0 &&
	    x->st->tracks.v[ev->track].has_pid;
	uint64_t parent = has_pid ? process_of(x, ev->track) : 0, uuid;

	x->text.len = 0;
	buf_printf(&x->text, "GPU %" PRId64, ev->dev.n);
	if (ev->gpu_stream.type == KEY_INT)
		buf_printf(&x->text, " stream %" PRId64, ev->gpu_stream.n);
	uuid = new_uuid(x);
	describe(x, uuid, parent, buf_str(&x->text), false);
	return add_row(x, uuid, true);
}

uint32_t
row_of(struct perfetto *x, const struct event *ev)
{
	bool on_lane = x->is_foreign && is_on_lane(ev);
	uint64_t hash = on_lane
	    ? row_hash(1, ev->pid, ev->dev, ev->gpu_stream)
	    : row_hash(2, ev->pid, ev->tid, (struct key){ 0, KEY_NONE });
	bool is_new;
	uint64_t *row = map_put(&x->row_of, hash, &is_new);
	uint32_t made;

	if (!is_new)
		return (uint32_t)*row;
	made = on_lane ? stream_row(x, ev) : thread_row(x, ev);
	*map_put(&x->row_of, hash, NULL) = made;
	return made;
}

/* "name" if the series is just a value, else "name series". */
uint32_t
row_of_counter(struct perfetto *x, const struct event *ev, struct str series)
{
	bool is_value = str_eq(series, STR("value")), is_new;
	bool has_pid = (ev->shape->has & HAS_TRACK) != 0 &&
	    x->st->tracks.v[ev->track].has_pid;
	struct key name = { ev->name, KEY_STR };
	struct key dev = ev->dev.type != KEY_NONE ? ev->dev : ev->tid;
	uint64_t hash =
	    row_hash(hash_bytes(series.p, series.len), ev->pid, name, dev);
	uint64_t *row = map_put(&x->row_of, hash, &is_new);
	uint64_t parent, uuid;
	struct buf text = { 0 };

	if (!is_new)
		return (uint32_t)*row;
	*row = x->rows.n;
	parent = has_pid ? process_of(x, ev->track) : 0;
	uuid = has_pid || ev->tid.type != KEY_INT
	    ? new_uuid(x)
	    : uuid_of_number(x, ev->tid.n);
	buf_put(
	    &text, dict_get(x->st, ev->name).p, dict_get(x->st, ev->name).len);
	if (!is_value) {
		buf_putc(&text, ' ');
		buf_put(&text, series.p, series.len);
	}
	describe(x, uuid, parent, buf_str(&text), true);
	buf_free(&text);
	return add_row(x, uuid, false);
}

uint32_t
lane_for(struct perfetto *x, uint32_t row, int64_t to)
{
	struct row *r = &x->rows.v[row];
	size_t n = r->lanes.n;
	uint64_t uuid;

	for (size_t i = 0; i < n && i < LANES_TRIED; i++) {
		/* the first, then the most recent */
		size_t k = i == 0 ? 0 : n - i;
		const struct lane *lane = &r->lanes.v[k];

		if (lane->ends.n == 0 || lane->ends.v[lane->ends.n - 1] >= to)
			return (uint32_t)k;
	}
	uuid = new_uuid(x);
	describe(x, uuid, r->uuid, STR("overlapping"), false);
	vec_push(&r->lanes, ((struct lane){ .uuid = uuid }));
	return (uint32_t)n;
}

void
rows_free(struct perfetto *x)
{
	for (size_t i = 0; i < x->rows.n; i++) {
		for (size_t k = 0; k < x->rows.v[i].lanes.n; k++)
			vec_free(&x->rows.v[i].lanes.v[k].ends);
		vec_free(&x->rows.v[i].lanes);
	}
	vec_free(&x->rows);
	map_free(&x->row_of);
	map_free(&x->process_of);
}

/* SPDX-License-Identifier: MIT */
/* Packets of Perfetto's protobuf, a source at a time: see perfetto.h. */
#include "cmd/tl-export/perfetto.h"
#include "trace/store.h"

#include <stdlib.h>

#define FLUSH_SIZE 65536

/* Built-in clocks, and one of this sequence, which counts differences. */
enum { CLOCK_REALTIME = 1, CLOCK_BOOTTIME = 6, CLOCK_DIFFERENCES = 64 };
/* TracePacket.sequence_flags */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* ---- packets ---- */

size_t
packet_begin(struct perfetto *x)
{
	return proto_begin(&x->b, 1);
}

static void
end_packet_with(struct perfetto *x, size_t packet, unsigned flags)
{
	proto_put_number(&x->b, 10, x->src + 1);
	proto_put_number(&x->b, 13, flags);
	if (x->interned.len > 0)
		proto_put_bytes(&x->b, 12, buf_str(&x->interned));
	x->interned.len = 0;
	proto_end(&x->b, packet);
	if (x->b.len >= FLUSH_SIZE) {
		sink_write(x->sink, x->b.p, x->b.len);
		x->b.len = 0;
	}
}

void
packet_end(struct perfetto *x, size_t packet)
{
	end_packet_with(x, packet, NEEDS_STATE);
}

uint64_t
name_number(struct perfetto *x, enum name_kind what, uint32_t text)
{
	static const uint32_t fields[NAMES_N] = { 1, 2, 3, 29 };
	size_t message;

	while (x->numbers[what].n <= text)
		vec_push(&x->numbers[what], 0);
	if (x->numbers[what].v[text] == 0) {
		x->numbers[what].v[text] = ++x->nnumbers[what];
		message = proto_begin(&x->interned, fields[what]);
		proto_put_number(&x->interned, 1, x->nnumbers[what]);
		proto_put_bytes(&x->interned, 2, dict_get(x->st, text));
		proto_end(&x->interned, message);
	}
	return x->numbers[what].v[text];
}

static void
put_clock(struct perfetto *x, unsigned clock, int64_t ns, bool is_incremental)
{
	size_t message = proto_begin(&x->b, 1);

	proto_put_number(&x->b, 1, clock);
	proto_put_number(&x->b, 2, (uint64_t)ns);
	if (is_incremental)
		proto_put_number(&x->b, 3, 1);
	proto_end(&x->b, message);
}

/* Times are differences from the packet before. */
static void
put_head(struct perfetto *x, const struct source *s)
{
	size_t packet = packet_begin(x), message;
	int64_t epoch, real;

	proto_put_number(&x->b, 87, 1);
	message = proto_begin(&x->b, 59);
	proto_put_number(&x->b, 58, CLOCK_DIFFERENCES);
	proto_end(&x->b, message);
	message = proto_begin(&x->b, 6);
	put_clock(x, CLOCK_BOOTTIME, x->now_ns, false);
	put_clock(x, CLOCK_DIFFERENCES, x->now_ns, true);
	if (source_int(s, "epoch", &epoch) && num_add(x->now_ns, epoch, &real))
		put_clock(x, CLOCK_REALTIME, real, false);
	proto_put_number(&x->b, 2, CLOCK_BOOTTIME);
	proto_end(&x->b, message);
	end_packet_with(x, packet, STATE_CLEARED);
}

static void
put_time(struct perfetto *x, int64_t ns)
{
	proto_put_number(&x->b, 8, (uint64_t)ns - (uint64_t)x->now_ns);
	x->now_ns = ns;
}

/* ---- slices ---- */

static bool
is_before(const struct slice_end *a, const struct slice_end *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return a->order > b->order; /* the innermost first */
}

static void
swap(struct slice_end *a, struct slice_end *b)
{
	struct slice_end t = *a;

	*a = *b;
	*b = t;
}

static void
push_end(struct perfetto *x, struct slice_end end)
{
	size_t i = x->ends.n;

	vec_push(&x->ends, end);
	for (; i > 0 && is_before(&x->ends.v[i], &x->ends.v[(i - 1) / 2]);
	     i = (i - 1) / 2)
		swap(&x->ends.v[i], &x->ends.v[(i - 1) / 2]);
}

static struct slice_end
pop_end(struct perfetto *x)
{
	struct slice_end *v = x->ends.v, first = v[0];
	size_t n = --x->ends.n;

	v[0] = v[n];
	for (size_t i = 0, k; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && is_before(&v[k + 1], &v[k]))
			k++;
		if (!is_before(&v[k], &v[i]))
			break;
		swap(&v[k], &v[i]);
	}
	return first;
}

/*
 * Readers may pair begins with ends in the order of the begins, if as many ends
 * follow and times do not show the nesting: another packet in between prevents
 * that.
 */
static void
break_run(struct perfetto *x, int64_t ns)
{
	if (x->nbegins > 1 && ns == x->now_ns)
		packet_end(x, packet_begin(x));
	x->nbegins = 0;
}

static void
write_end(struct perfetto *x, const struct slice_end *end)
{
	struct lane *lane = &x->rows.v[end->row].lanes.v[end->lane];
	size_t packet, message;

	break_run(x, end->ts_ns);
	packet = packet_begin(x);
	put_time(x, end->ts_ns);
	message = proto_begin(&x->b, 11);
	proto_put_number(&x->b, 9, TYPE_END);
	proto_put_number(&x->b, 11, lane->uuid);
	proto_end(&x->b, message);
	packet_end(x, packet);
	lane->ends.n--;
}

/* Writes what has ended by then. */
static void
write_ends(struct perfetto *x, int64_t ns)
{
	while (x->ends.n > 0 && x->ends.v[0].ts_ns <= ns) {
		struct slice_end end = pop_end(x);

		write_end(x, &end);
	}
}

static void
write_point(struct perfetto *x, const struct event *ev, unsigned type,
    uint32_t row, int64_t ns)
{
	const struct row *r = &x->rows.v[row];
	size_t packet = packet_begin(x);

	put_time(x, ns);
	put_event(x, ev, type, r->uuid, r->has_tid_arg);
	packet_end(x, packet);
	x->nbegins = 0;
}

static void
write_slice(struct perfetto *x, const struct event *ev, int64_t ns)
{
	bool is_open =
	    (ev->shape->has & HAS_DUR) == 0 || (ev->flags & EV_UNCLOSED) != 0;
	uint32_t row = row_of(x, ev), lane;
	struct slice_end end = {
		.ts_ns = INT64_MAX, .order = x->nslices++, .row = row
	};
	size_t packet;

	if (!is_open && !num_add(ns, ev->dur_ns, &end.ts_ns))
		die("event %" PRIu64 ": its end is beyond 64 bits", ev->uid.id);
	end.lane = lane = lane_for(x, row, end.ts_ns);
	packet = packet_begin(x);
	put_time(x, ns);
	put_event(x, ev, TYPE_BEGIN, x->rows.v[row].lanes.v[lane].uuid,
	    x->rows.v[row].has_tid_arg);
	packet_end(x, packet);
	x->nbegins++;
	vec_push(&x->rows.v[row].lanes.v[lane].ends, end.ts_ns);
	if (!is_open && ev->dur_ns == 0)
		write_end(x, &end);
	else if (!is_open)
		push_end(x, end);
}

/* NaN, infinities and values beyond a double become doubles, too. */
static double
double_of(struct perfetto *x, const struct value *v)
{
	x->text.len = 0;
	value_put_json(&x->text, v);
	buf_putc(&x->text, '\0');
	return strtod(x->text.p, NULL);
}

/* Writes a counter's value, each series on a track of its own. */
static void
write_counter(struct perfetto *x, const struct event *ev, int64_t ns)
{
	struct entries it = entries_of(x->st, ev);

	while (entries_next(&it)) {
		struct str series = dict_get(x->st, it.entry->key);
		size_t packet, message;
		uint32_t row;
		struct buf *b = &x->b;

		if (it.entry->group != GROUP_ARGS ||
		    it.entry->role != ROLE_NONE ||
		    (it.val.type != VAL_INT && it.val.type != VAL_DEC &&
			it.val.type != VAL_NUM))
			continue;
		row = row_of_counter(x, ev, series);
		packet = packet_begin(x);
		put_time(x, ns);
		message = proto_begin(b, 11);
		proto_put_number(b, 9, TYPE_COUNTER);
		proto_put_number(b, 11, x->rows.v[row].uuid);
		if (it.val.type == VAL_INT) {
			proto_put_number(b, 30, (uint64_t)it.val.i);
		} else {
			proto_put_double(b, 44, double_of(x, &it.val));
		}
		proto_end(b, message);
		packet_end(x, packet);
	}
	x->nbegins = 0;
}

/* ---- a source ---- */

struct placed {
	int64_t ts_ns, dur_ns;
	uint32_t at; /* in the store */
};
typedef VEC(struct placed) placed_vec;

/* Sorts by start, and of equal starts the longest first. */
static int
by_time(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return 0;
}

/* Our arrows replace those of the trace. */
static bool
is_launch_arrow(const struct perfetto *x, const struct event *ev)
{
	return event_is(ev, KIND_BIT(KIND_FLOW)) &&
	    str_eq(dict_get(x->st, ev->shape->cat), STR("ac2g"));
}

/* Finds the order of events, names, and launches with GPU work. */
static void
survey(struct perfetto *x, struct store *store, placed_vec *order)
{
	for (uint32_t i = 0; i < store_count(store); i++) {
		struct event ev;
		bool is_open;

		store_event(store, i, &ev);
		if (ev.shape->is_inferred) /* no trace has these */
			continue;
		names_push(x->names, &ev);
		if (ev.shape->has & HAS_LAUNCH)
			(void)map_put(&x->launches, ev.launch.id, NULL);
		if (event_is(&ev, KIND_BIT(KIND_META) | KIND_BIT(KIND_END)) ||
		    is_launch_arrow(x, &ev))
			continue;
		if ((ev.shape->has & HAS_TS) == 0) {
			x->nuntimed++;
			continue;
		}
		is_open = (ev.shape->has & HAS_DUR) == 0;
		vec_push(order,
		    ((struct placed){
			ev.ts_ns, is_open ? INT64_MAX : ev.dur_ns, i }));
	}
	stable_sort(order->v, order->n, sizeof *order->v, by_time);
}

static void
write_event(struct perfetto *x, const struct event *ev, int64_t ns)
{
	switch (ev->shape->ph) {
	case 0:
	case 'X':
	case 'B': write_slice(x, ev, ns); break;
	case 'i':
	case 'I':
	case 'R': write_point(x, ev, TYPE_INSTANT, row_of(x, ev), ns); break;
	case 'C': write_counter(x, ev, ns); break;
	default: write_point(x, ev, 0, row_of(x, ev), ns); break;
	}
}

static void
write_source(struct perfetto *x, struct store *store)
{
	const struct source *s = store_source(store);
	const struct fact *format = source_fact(s, "format");
	placed_vec order = { 0 };

	x->src = x->nsources++;
	x->base_ns = 0;
	(void)source_int(s, "base", &x->base_ns);
	x->is_foreign = format != NULL && format->val.s.p != NULL &&
	    !str_eq(format->val.s, STR("chrome"));
	x->names = names_create(x->st);
	survey(x, store, &order);
	for (size_t i = 0; i < order.n; i++) {
		struct event ev;
		int64_t ns;

		store_event(store, order.v[i].at, &ev);
		if (!num_add(ev.ts_ns, x->base_ns, &ns))
			die("event %" PRIu64 ": its time is beyond 64 bits",
			    ev.uid.id);
		if (i == 0) {
			x->now_ns = ns;
			put_head(x, s);
		}
		write_ends(x, ns);
		write_event(x, &ev, ns);
	}
	write_ends(x, INT64_MAX);
	vec_free(&order);
	rows_free(x);
	map_free(&x->launches);
	for (int i = 0; i < NAMES_N; i++) {
		vec_free(&x->numbers[i]);
		x->nnumbers[i] = 0;
	}
	names_destroy(x->names);
}

/* ---- all of it ---- */

struct perfetto *
perfetto_create(const struct settings *set, struct sink *sink)
{
	struct perfetto *x = xcalloc(1, sizeof *x);

	x->set = set;
	x->sink = sink;
	return x;
}

void
perfetto_input(struct perfetto *x, struct stream_in *in)
{
	struct store *store = store_create(in->dict);

	x->st = in->dict;
	while (store_read(store, in))
		write_source(x, store);
	store_destroy(store);
	if (x->nuntimed > 0)
		report(MSG_UNTIMED_LEFT_OUT, in->name, x->nuntimed);
	x->nuntimed = 0;
}

void
perfetto_finish(struct perfetto *x)
{
	if (x->b.len > 0)
		sink_write(x->sink, x->b.p, x->b.len);
	buf_free(&x->b);
	buf_free(&x->interned);
	buf_free(&x->text);
	vec_free(&x->ends);
	map_free(&x->uuids);
	map_free(&x->text_ids);
	vec_release(x);
}

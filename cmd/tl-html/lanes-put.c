/* SPDX-License-Identifier: MIT */
/* Writes lanes: order, labels, spans. */
#include <stdlib.h>

#include "cmd/tl-html/lanes.h"

static void
put_base64(struct buf *b, struct str s)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)s.p;

	for (size_t i = 0; i < s.len; i += 3) {
		uint32_t left = (uint32_t)(s.len - i);
		uint32_t v = (uint32_t)p[i] << 16;

		v |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)p[i + 2] : 0;
		buf_putc(b, digits[v >> 18]);
		buf_putc(b, digits[v >> 12 & 63]);
		buf_putc(b, left > 1 ? digits[v >> 6 & 63] : '=');
		buf_putc(b, left > 2 ? digits[v & 63] : '=');
	}
}

/* ---- spans ---- */

/* Launches in the page. */
struct page_launches {
	const struct lanes *lanes;
	uint32_t *places;   /* lane to index in the page */
	struct map numbers; /* origin to 1 + its index in list */
	VEC(uint32_t) list;
};

static void
put_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(b, (char)((v & 0x7f) | 0x80));
	buf_putc(b, (char)v);
}

/* The sign follows the digits. */
static void
put_signed(struct buf *b, int64_t v)
{
	put_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* 1 + index of the origin, 1 + lane or 0, lead time; or 0. */
static void
put_launch(struct page_launches *p, uint32_t number, struct buf *b)
{
	const struct lane_launch *launch;
	uint64_t *place;

	if (number == 0) {
		put_varint(b, 0);
		return;
	}
	launch = &p->lanes->launches.v[number - 1];
	place = map_put(&p->numbers, launch->origin, NULL);
	if (*place == 0) {
		vec_push(&p->list, launch->origin);
		*place = p->list.n;
	}
	put_varint(b, *place);
	put_varint(b,
	    launch->lane == NO_LANE ? 0
				    : p->places[launch->lane] + UINT64_C(1));
	put_signed(b, launch->delay_ns);
}

/* start - the last start (zigzag), length, name * ROWS_MAX + row */
void
lane_take(struct sink *sink, const struct stretch *s)
{
	int64_t step = s->start_ns - sink->last_ns;

	sink->n++;
	if (sink->to != NULL)
		sink->to[sink->n - 1] = *s;
	if (sink->bytes == NULL)
		return;
	put_signed(sink->bytes, step);
	put_varint(sink->bytes, (uint64_t)(s->end_ns - s->start_ns));
	put_varint(sink->bytes,
	    (uint64_t)name_number(sink->names, s->name) * ROWS_MAX + s->row);
	if (sink->launches != NULL)
		put_launch(sink->launches, s->launch, sink->bytes);
	sink->last_ns = s->start_ns;
}

/* Op, shapes, module, grid and block of each, as numbers of names. */
static void
put_origins(struct page_launches *p, struct names_used *names, struct buf *b)
{
	for (size_t i = 0; i < p->list.n; i++) {
		struct origin o = origins_get(p->lanes->origins, p->list.v[i]);

		buf_printf(b, "%s[%u,%u,%u,%u,%u]", i > 0 ? "," : "",
		    name_number(names, o.op), name_number(names, o.dims),
		    name_number(names, o.module), name_number(names, o.grid),
		    name_number(names, o.block));
	}
}

/* ---- labels ---- */

static void
put_key(struct buf *b, const struct dict *st, struct key k)
{
	struct str s;

	if (k.type == KEY_INT)
		buf_printf(b, "%" PRId64, k.n);
	if (k.type != KEY_STR)
		return;
	s = dict_get(st, (uint32_t)k.n);
	buf_put(b, s.p, s.len);
}

static void
put_label(struct lanes *l, const struct lane *lane, struct buf *b)
{
	struct buf text = { 0 };

	if (lane->is_gpu) {
		buf_puts(&text,
		    lanes_source_of(l, lane->src)->is_tpu ? "TPU " : "GPU ");
		put_key(&text, l->dict, lane->dev);
		buf_puts(&text, " stream ");
		put_key(&text, l->dict, lane->gpu_stream);
	} else {
		uint32_t name = names_of(l->threads, lane->track).thread;
		struct str s = dict_get(l->dict, name);

		if (str_eq(s, STR("Unknown"))) {
			buf_puts(&text, "thread ");
			put_key(
			    &text, l->dict, l->dict->tracks.v[lane->track].tid);
		} else {
			buf_put(&text, s.p, s.len);
		}
	}
	json_put_string(b, buf_str(&text));
	buf_free(&text);
}

/*
 * First span of each source: its value as in tables, then relative to the
 * earliest.
 */
static void
put_sources(struct lanes *l, struct buf *b)
{
	int64_t least = INT64_MAX, at;

	for (size_t i = 0; i < l->list.n; i++) {
		const struct lane *lane = &l->list.v[i];
		struct lane_source *o = lanes_source_of(l, lane->src);

		if (lanes_show(l, lane) &&
		    lane->spans.v[0].start_ns < o->first_ns)
			o->first_ns = lane->spans.v[0].start_ns;
	}
	for (size_t i = 0; i < l->sources.n; i++) {
		struct lane_source *o = &l->sources.v[i];

		if (o->first_ns == INT64_MAX ||
		    !num_add(o->base_ns, o->first_ns, &at))
			o->has_base = false;
		else if (o->has_base && at < least)
			least = at;
	}
	for (size_t i = 0; i < l->sources.n; i++) {
		const struct lane_source *o = &l->sources.v[i];

		buf_puts(b, i > 0 ? "," : "");
		if (o->has_rank)
			buf_printf(b,
			    "{\"label\":\"rank %" PRId64 "\",\"rank\":%" PRId64,
			    o->rank, o->rank);
		else
			buf_printf(b, "{\"label\":\"source %zu\"", i);
		buf_printf(b, ",\"side\":%d", o->side);
		if (o->first_ns != INT64_MAX)
			buf_printf(b, ",\"first_ns\":%" PRId64, o->first_ns);
		if (o->has_base &&
		    !__builtin_sub_overflow(
			o->base_ns + o->first_ns, least, &at))
			buf_printf(b, ",\"offset_ns\":%" PRId64 "}", at);
		else
			buf_puts(b, ",\"offset_ns\":null}");
	}
}

/* ---- order ---- */

/* With so many GPU streams, the busiest come first. */
#define STREAMS_MANY 9

struct place {
	size_t at;
	uint32_t src;
	bool is_gpu;
	int64_t busy_ns; /* 0: in order of appearance */
};

static int
by_place(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->is_gpu != b->is_gpu)
		return a->is_gpu ? -1 : 1;
	if (a->src == b->src && a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int64_t
busy_of(const struct lane *lane)
{
	int64_t sum = 0;

	for (size_t i = 0; i < lane->spans.n; i++)
		if (!num_add(sum,
			lane->spans.v[i].end_ns - lane->spans.v[i].start_ns,
			&sum))
			return INT64_MAX;
	return sum;
}

static size_t
count_streams(const struct lanes *l, uint32_t src)
{
	size_t n = 0;

	for (size_t i = 0; i < l->list.n; i++)
		n += l->list.v[i].is_gpu && l->list.v[i].src == src;
	return n;
}

/* Lanes to show, GPU first; returns how many. */
static size_t
put_in_order(const struct lanes *l, struct place *places)
{
	size_t n = 0, nstreams = 0;
	uint32_t src = UINT32_MAX;

	for (size_t i = 0; i < l->list.n; i++) {
		const struct lane *lane = &l->list.v[i];

		if (!lanes_show(l, lane))
			continue;
		if (lane->src != src)
			nstreams = count_streams(l, lane->src);
		src = lane->src;
		places[n++] = (struct place){ i, src, lane->is_gpu,
			lane->is_gpu && nstreams >= STREAMS_MANY ? busy_of(lane)
								 : 0 };
	}
	if (n > 0)
		qsort(places, n, sizeof *places, by_place);
	return n;
}

static void
put_lane(struct lanes *l, struct lane *lane, int64_t gap_ns, struct sink sink,
    struct buf *b)
{
	struct buf bytes = { 0 };

	sink.bytes = &bytes;
	sink.last_ns = lanes_source_of(l, lane->src)->first_ns;
	if (!lane->is_gpu)
		sink.launches = NULL;
	lane_walk(lane, gap_ns, &sink);
	buf_puts(b, "{\"label\":");
	put_label(l, lane, b);
	buf_printf(b, ",\"src\":%u,\"gpu\":%s,\"n\":%zu,\"spans\":\"",
	    (unsigned)lane->src, lane->is_gpu ? "true" : "false", sink.n);
	put_base64(b, buf_str(&bytes));
	buf_puts(b, "\"}");
	buf_free(&bytes);
}

/* Spans are relative to the first one of their source. */
void
lanes_put(struct lanes *l, struct names_used *names, struct buf *b)
{
	struct place *places = xcalloc(l->list.n + 1, sizeof *places);
	struct page_launches launches = { .lanes = l,
		.places = xcalloc(l->list.n + 1, sizeof *launches.places) };
	int64_t gap_ns;
	size_t n;

	lanes_file_end(l);
	gap_ns = lanes_gap(l, SPANS_MAX);
	buf_printf(b, "{\"rows\":%d,\"gap_ns\":%" PRId64 ",\"sources\":[",
	    ROWS_MAX, gap_ns);
	put_sources(l, b);
	buf_puts(b, "],\"lanes\":[");
	n = put_in_order(l, places);
	for (size_t i = 0; i < n; i++)
		launches.places[places[i].at] = (uint32_t)i;
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(b, ',');
		put_lane(l, &l->list.v[places[i].at], gap_ns,
		    (struct sink){ .names = names, .launches = &launches }, b);
	}
	buf_puts(b, "],\"origins\":[");
	put_origins(&launches, names, b);
	buf_puts(b, "]}");
	map_free(&launches.numbers);
	vec_free(&launches.list);
	free(launches.places);
	free(places);
}

/* SPDX-License-Identifier: MIT */
/*
 * Lanes: a row of spans for each GPU stream, rows of nested ones for each
 * thread that launches. Where there are more spans than a page should hold,
 * short ones that stand close together become one, without a name: what a
 * screen shows of them at that scale is the same.
 */
#include <stdlib.h>

#include "cmd/tl-html/html.h"

#define SPANS_MAX 120000            /* some 13 bytes each in the page: 1.6 MB */
#define SPANS_HELD ((size_t)500000) /* of files that were read */
#define ROWS_MAX 6                  /* deeper ops are in the icicle */
#define GAP_FIRST_NS 200

struct stretch {
	int64_t start_ns, end_ns;
	uint32_t name; /* in the strings; INTERN_NONE: several */
	uint32_t row;
};

struct lane {
	uint32_t src, track;
	struct key dev, gpu_stream;
	bool is_gpu, launches;
	bool is_arranged; /* all its spans are there, in order */
	VEC(struct stretch) spans;
};

struct lane_source {
	bool has_rank, has_base;
	int64_t rank;
	int64_t base_ns;  /* of its clock, in Unix time where that is known */
	int64_t first_ns; /* its first span, INT64_MAX: there is none */
};

struct lanes {
	struct strings *strings;
	struct names *threads;
	struct map of_track, of_stream; /* hash of a key, to 1 + number */
	VEC(struct lane) list;
	VEC(struct lane_source) sources;
	int64_t gap_ns; /* spans were joined by it to make room */
};

/* For each span that is left at a gap: what to do with it. */
struct sink {
	struct buf *bytes;
	struct names_used *names;
	int64_t last_ns;
	size_t n;
	struct stretch *to; /* NULL, or where they go instead */
};

struct lanes *
lanes_new(struct strings *st, struct names *threads)
{
	struct lanes *l = xcalloc(1, sizeof *l);

	l->strings = st;
	l->threads = threads;
	return l;
}

void
lanes_free(struct lanes *l)
{
	for (size_t i = 0; i < l->list.n; i++)
		vec_free(&l->list.v[i].spans);
	vec_free(&l->list);
	vec_free(&l->sources);
	map_free(&l->of_track);
	map_free(&l->of_stream);
	free(l);
}

static struct lane *
lane_of(struct lanes *l, struct map *m, const void *key, size_t len)
{
	uint64_t *place = map_put(m, hash_bytes((const char *)key, len), NULL);

	if (*place == 0) {
		struct lane *lane = vec_add(&l->list);

		*lane = (struct lane){ 0 };
		*place = l->list.n;
	}
	return &l->list.v[*place - 1];
}

static struct lane *
gpu_lane(struct lanes *l, const struct event *ev, uint32_t src)
{
	int64_t key[5] = { src, ev->dev.n, ev->dev.type, ev->gpu_stream.n,
		ev->gpu_stream.type };
	struct lane *lane = lane_of(l, &l->of_stream, key, sizeof key);

	lane->is_gpu = true;
	lane->src = src;
	lane->dev = ev->dev;
	lane->gpu_stream = ev->gpu_stream;
	return lane;
}

static struct lane *
host_lane(struct lanes *l, const struct event *ev, uint32_t src)
{
	int64_t key[2] = { src, ev->track };
	struct lane *lane = lane_of(l, &l->of_track, key, sizeof key);

	lane->src = src;
	lane->track = ev->track;
	lane->launches = lane->launches || ev->ngpu > 0;
	return lane;
}

/* ---- sources ---- */

static struct lane_source *
source_of(struct lanes *l, uint32_t src)
{
	while (l->sources.n <= src)
		vec_push(&l->sources,
		    ((struct lane_source){ .first_ns = INT64_MAX }));
	return &l->sources.v[src];
}

static bool
int_fact(const struct source *s, const char *key, int64_t *v)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL)
		return false;
	if (f->val.type == VAL_INT)
		*v = f->val.i;
	return f->val.type == VAL_INT ||
	    ((f->val.type == VAL_NUM || f->val.type == VAL_STRX) &&
		num_i64(f->val.s, v));
}

void
lanes_source(struct lanes *l, uint32_t src, const struct source *s)
{
	struct lane_source *o = source_of(l, src);
	int64_t epoch;

	o->has_rank = int_fact(s, "rank", &o->rank);
	o->has_base = int_fact(s, "base", &o->base_ns);
	if (int_fact(s, "epoch", &epoch))
		o->has_base =
		    o->has_base && num_add(o->base_ns, epoch, &o->base_ns);
}

/* ---- spans ---- */

void
lanes_push(struct lanes *l, const struct event *ev, uint32_t src)
{
	struct lane *lane;

	if ((ev->shape->has & HAS_TS) == 0 ||
	    (ev->flags & (EV_DUPLICATE | EV_STUB | EV_UNTIMED)) != 0)
		return;
	if (event_is(ev, KINDS_GPU))
		lane = gpu_lane(l, ev, src);
	else if (event_is(ev, KINDS_HOST | KIND_BIT(KIND_ANNOTATION)))
		lane = host_lane(l, ev, src);
	else
		return;
	vec_push(&lane->spans,
	    ((struct stretch){ .start_ns = ev->ts_ns,
		.end_ns = ev->ts_ns + ev->dur_ns,
		.name = ev->name }));
}

/* By start, the longer first; equal ones by name, for the same bytes. */
static int
compare(const void *pa, const void *pb)
{
	const struct stretch *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Sorts, and gives each span of a thread the number of those around it. */
static void
arrange(struct lane *lane)
{
	int64_t open[ROWS_MAX];
	size_t nopen = 0, kept = 0;

	if (lane->is_arranged || lane->spans.n == 0)
		return;
	lane->is_arranged = true;
	qsort(lane->spans.v, lane->spans.n, sizeof *lane->spans.v, compare);
	if (lane->is_gpu)
		return;
	for (size_t i = 0; i < lane->spans.n; i++) {
		struct stretch s = lane->spans.v[i];

		while (nopen > 0 && open[nopen - 1] <= s.start_ns)
			nopen--;
		if (nopen == ROWS_MAX)
			continue;
		s.row = (uint32_t)nopen;
		open[nopen++] = s.end_ns;
		lane->spans.v[kept++] = s;
	}
	lane->spans.n = kept;
}

static void
put_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(b, (char)((v & 0x7f) | 0x80));
	buf_putc(b, (char)v);
}

/* start - the last start (zigzag), length, name * ROWS_MAX + row */
static void
take(struct sink *sink, const struct stretch *s)
{
	int64_t step = s->start_ns - sink->last_ns;

	sink->n++;
	if (sink->to != NULL)
		sink->to[sink->n - 1] = *s;
	if (sink->bytes == NULL)
		return;
	put_varint(sink->bytes, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
	put_varint(sink->bytes, (uint64_t)(s->end_ns - s->start_ns));
	put_varint(sink->bytes,
	    (uint64_t)name_number(sink->names, s->name) * ROWS_MAX + s->row);
	sink->last_ns = s->start_ns;
}

/* The spans of a lane, those shorter than gap_ns and closer joined. */
static void
walk(const struct lane *lane, int64_t gap_ns, struct sink *sink)
{
	struct stretch held[ROWS_MAX];
	bool is_held[ROWS_MAX] = { false };

	for (size_t i = 0; i < lane->spans.n; i++) {
		const struct stretch *s = &lane->spans.v[i];
		struct stretch *h = &held[s->row];
		bool is_short = s->end_ns - s->start_ns < gap_ns;

		if (is_held[s->row] && is_short &&
		    s->start_ns - h->end_ns < gap_ns) {
			if (s->end_ns > h->end_ns)
				h->end_ns = s->end_ns;
			h->name = INTERN_NONE;
			continue;
		}
		if (is_held[s->row])
			take(sink, h);
		is_held[s->row] = is_short;
		if (is_short)
			*h = *s;
		else
			take(sink, s);
	}
	for (size_t row = 0; row < ROWS_MAX; row++)
		if (is_held[row])
			take(sink, &held[row]);
}

static bool
is_shown(const struct lane *lane)
{
	return lane->spans.n > 0 && (lane->is_gpu || lane->launches);
}

/* The least gap at which all lanes together have so few spans. */
static int64_t
choose_gap(const struct lanes *l, size_t most)
{
	for (int64_t gap_ns = l->gap_ns;;
	     gap_ns = gap_ns == 0 ? GAP_FIRST_NS : gap_ns * 2) {
		struct sink count = { 0 };

		for (size_t i = 0; i < l->list.n; i++)
			if (is_shown(&l->list.v[i]))
				walk(&l->list.v[i], gap_ns, &count);
		if (count.n <= most || gap_ns > INT64_MAX / 4)
			return gap_ns;
	}
}

/* What walk() leaves comes by its end: in order of start it goes on. */
static void
join(struct lane *lane, int64_t gap_ns)
{
	struct sink sink = { .to = lane->spans.v };

	/* never more than were read so far, so it writes behind itself */
	walk(lane, gap_ns, &sink);
	lane->spans.n = sink.n;
	qsort(lane->spans.v, lane->spans.n, sizeof *lane->spans.v, compare);
}

void
lanes_file_end(struct lanes *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->list.n; i++) {
		struct lane *lane = &l->list.v[i];

		if (!is_shown(lane))
			vec_free(&lane->spans);
		arrange(lane);
		n += lane->spans.n;
	}
	if (n <= SPANS_HELD)
		return;
	l->gap_ns = choose_gap(l, SPANS_HELD / 2);
	for (size_t i = 0; i < l->list.n; i++) {
		struct lane *lane = &l->list.v[i];

		join(lane, l->gap_ns);
		lane->spans.v = xrealloc(
		    lane->spans.v, (lane->spans.n + 1) * sizeof *lane->spans.v);
		lane->spans.cap = lane->spans.n + 1;
	}
}

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

static void
put_key(struct buf *b, const struct strings *st, struct key k)
{
	struct str s;

	if (k.type == KEY_INT)
		buf_printf(b, "%" PRId64, k.n);
	if (k.type != KEY_STR)
		return;
	s = strings_get(st, (uint32_t)k.n);
	buf_put(b, s.p, s.len);
}

static void
put_label(struct lanes *l, const struct lane *lane, struct buf *b)
{
	struct buf text = { 0 };

	if (lane->is_gpu) {
		buf_puts(&text, "GPU ");
		put_key(&text, l->strings, lane->dev);
		buf_puts(&text, " stream ");
		put_key(&text, l->strings, lane->gpu_stream);
	} else {
		uint32_t name = names_of(l->threads, lane->track).thread;
		struct str s = strings_get(l->strings, name);

		buf_put(&text, s.p, s.len);
	}
	json_put_string(b, buf_str(&text));
	buf_free(&text);
}

/* When each source's first span began, after that of the earliest one. */
static void
put_sources(struct lanes *l, struct buf *b)
{
	int64_t least = INT64_MAX, at;

	for (size_t i = 0; i < l->list.n; i++) {
		const struct lane *lane = &l->list.v[i];
		struct lane_source *o = source_of(l, lane->src);

		if (is_shown(lane) && lane->spans.v[0].start_ns < o->first_ns)
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
		if (o->has_base &&
		    !__builtin_sub_overflow(
			o->base_ns + o->first_ns, least, &at))
			buf_printf(b, ",\"offset_ns\":%" PRId64 "}", at);
		else
			buf_puts(b, ",\"offset_ns\":null}");
	}
}

/* GPU first; then as they came. Spans count from their source's first one. */
void
lanes_put(struct lanes *l, struct names_used *names, struct buf *b)
{
	bool is_first = true;
	int64_t gap_ns;

	lanes_file_end(l);
	gap_ns = choose_gap(l, SPANS_MAX);
	buf_printf(b, "{\"rows\":%d,\"gap_ns\":%" PRId64 ",\"sources\":[",
	    ROWS_MAX, gap_ns);
	put_sources(l, b);
	buf_puts(b, "],\"lanes\":[");
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < l->list.n; i++) {
			struct lane *lane = &l->list.v[i];
			struct buf bytes = { 0 };
			struct sink sink = { .bytes = &bytes, .names = names };

			if (!is_shown(lane) || lane->is_gpu != (pass == 0))
				continue;
			sink.last_ns = source_of(l, lane->src)->first_ns;
			walk(lane, gap_ns, &sink);
			buf_puts(b, is_first ? "{\"label\":" : ",{\"label\":");
			is_first = false;
			put_label(l, lane, b);
			buf_printf(b,
			    ",\"src\":%u,\"gpu\":%s,\"n\":%zu,\"spans\":\"",
			    (unsigned)lane->src,
			    lane->is_gpu ? "true" : "false", sink.n);
			put_base64(b, buf_str(&bytes));
			buf_puts(b, "\"}");
			buf_free(&bytes);
		}
	buf_puts(b, "]}");
}

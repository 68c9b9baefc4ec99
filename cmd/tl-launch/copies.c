/* SPDX-License-Identifier: MIT */
/* Copies and fills: how large they are, how fast, and how fast at any time. */
#include "cmd/tl-launch/launch.h"

static uint32_t
size_class(struct program *g, int64_t bytes)
{
	static const struct {
		int64_t below;
		const char *text;
	} classes[] = {
		{ INT64_C(1) << 12, "< 4 KiB" },
		{ INT64_C(1) << 16, "4-64 KiB" },
		{ INT64_C(1) << 20, "64 KiB-1 MiB" },
		{ INT64_C(1) << 24, "1-16 MiB" },
		{ INT64_C(1) << 28, "16-256 MiB" },
		{ INT64_MAX, ">= 256 MiB" },
	};
	size_t i = 0;

	while (bytes >= classes[i].below && classes[i].below != INT64_MAX)
		i++;
	return intern_put(g->sink.dict->text, str_of(classes[i].text));
}

/* The source GPU of a peer copy: a number, or what follows the dash in
 * "Agent-2". */
static bool
source_gpu(const struct dict *dict, const struct event *ev, int64_t *gpu)
{
	struct value v;
	struct str text;
	size_t at;

	if (!event_arg(dict, ev, STR("src_device"), &v) &&
	    !event_arg(dict, ev, STR("src_agent"), &v))
		return false;
	*gpu = v.i;
	if (v.type != VAL_STR && v.type != VAL_STRX)
		return v.type == VAL_INT;
	text = v.type == VAL_STR ? dict_get(dict, v.id) : v.s;
	for (at = text.len; at > 0 && text.p[at - 1] != '-';)
		at--;
	return num_i64((struct str){ text.p + at, text.len - at }, gpu);
}

/* The direction, as far as it is recorded. */
static uint32_t
direction_of(const struct program *g, const struct event *ev)
{
	struct dict *dict = g->sink.dict;
	static const char *const words[] = { [COPY_OTHER] = "other",
		[COPY_H2D] = "h2d",
		[COPY_D2H] = "d2h",
		[COPY_D2D] = "d2d" };
	enum copy_way way = copy_way(dict_get(dict, ev->name));
	int64_t from;
	struct buf b = { 0 };
	uint32_t text;

	buf_puts(&b, words[way]);
	if (way != COPY_OTHER && ev->dev.type == KEY_INT) {
		buf_puts(&b, " (");
		if (way == COPY_D2D && source_gpu(dict, ev, &from))
			buf_printf(&b, "GPU %" PRId64 " -> ", from);
		buf_printf(&b, "GPU %" PRId64 ")", ev->dev.n);
	}
	text = intern_put(dict->text, buf_str(&b));
	buf_free(&b);
	return text;
}

void
copy_event(struct program *g, const struct event *ev, int64_t end)
{
	struct launch_record *r = launch_add(g, IS_COPY);
	struct value v;

	r->rec.uid = ev->uid;
	r->rec.track = ev->track;
	r->rec.ts_ns = ev->ts_ns;
	r->name = ev->name;
	r->dev = ev->dev;
	r->gpu_stream = ev->gpu_stream;
	r->kernel_ns = end - ev->ts_ns;
	r->bytes = SINK_NONE;
	if ((event_arg(g->sink.dict, ev, STR("bytes"), &v) ||
		event_arg(g->sink.dict, ev, STR("copy_bytes"), &v)) &&
	    v.type == VAL_INT && v.i >= 0) {
		r->bytes = v.i;
		r->size = size_class(g, v.i);
		if (ev->shape->kind == KIND_MEMCPY)
			r->op = direction_of(g, ev);
	}
	if (g->with_bandwidth && r->kernel_ns > 0 && r->bytes > 0) {
		double rate = (double)r->bytes / (double)r->kernel_ns;
		struct copy_change c = { ev->dev, ev->name, ev->track, ev->uid,
			ev->ts_ns, rate };

		vec_push(&g->changes, c);
		c.ts_ns = end;
		c.gb_per_s = -rate;
		vec_push(&g->changes, c);
	}
}

/* ---- over time ---- */

static int
by_kind(const struct copy_change *a, const struct copy_change *b)
{
	if (a->dev.type != b->dev.type)
		return a->dev.type < b->dev.type ? -1 : 1;
	if (a->dev.n != b->dev.n)
		return a->dev.n < b->dev.n ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static int
by_kind_and_time(const void *x, const void *y)
{
	const struct copy_change *a = x, *b = y;
	int order = by_kind(a, b);

	return order != 0 ? order
			  : (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

/* A record for each time at which a copy of a name begins or ends. */
void
copies_end(struct program *g)
{
	const struct copy_change *v = g->changes.v;
	size_t n = g->changes.n, open = 0;
	double rate = 0;

	stable_sort(g->changes.v, n, sizeof *v, by_kind_and_time);
	for (size_t i = 0; i < n; i++) {
		struct launch_record *r;

		/* rounding errors end with the last copy */
		if (v[i].gb_per_s < 0)
			open--;
		else
			open++;
		rate = open > 0 ? rate + v[i].gb_per_s : 0;
		if (i + 1 < n && by_kind_and_time(&v[i], &v[i + 1]) == 0)
			continue;
		r = launch_add(g, IS_BANDWIDTH);
		r->rec.uid = v[i].uid;
		r->rec.track = v[i].track;
		r->rec.ts_ns = v[i].ts_ns;
		r->name = v[i].name;
		r->dev = v[i].dev;
		r->real = rate;
	}
	g->changes.n = 0;
}

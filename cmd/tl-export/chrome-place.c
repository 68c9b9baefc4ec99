/* SPDX-License-Identifier: MIT */
/*
 * chrome-place: the process and thread that an event is shown under.
 * A Chrome trace has them itself. If several sources share one document, later
 * ones are moved, as their ids would collide: an integer process id by PID_STEP
 * for each source before it, other ids by a label before them.
 * for each source before it, other ids by a label in front.
 *
 * Formats without rows for GPU work get them here: process = device, thread =
 * GPU stream, as in Kineto.
 */
#include "cmd/tl-export/chrome.h"

/* Above correlation ids; some 9000 sources fit below 2^53. */
#define ID_STEP INT64_C(1000000000000)
/* Above Kineto's positions of processes (16777216 + device). */
#define ORDER_STEP INT64_C(20000000)
/* Kineto's position of device 0. */
#define ORDER_GPU 5000000

void
chrome_set_label(
    struct chrome *x, struct origin *o, const struct source *s, uint32_t src)
{
	const struct fact *rank = source_fact(s, "rank");
	char text[40] = "source ";
	size_t n = strlen(text);

	if (rank != NULL && rank->val.type == VAL_INT) {
		memcpy(text, "rank ", 5);
		n = 5 + num_put_i64(text + 5, rank->val.i);
		o->has_rank = true;
		o->rank = rank->val.i;
	} else {
		n += num_put_u64(text + n, src);
	}
	o->label = arena_str(x->texts, (struct str){ text, n });
}

static bool
is_moved(const struct chrome *x, uint32_t src)
{
	return src > 0 && !x->set->keep_pids;
}

/* The first of several sources keeps its ids, but is labelled, too. */
static bool
is_labelled(const struct chrome *x, uint32_t src)
{
	return (src > 0 || x->is_joined) && !x->set->keep_pids;
}

/* "rank 3 python": a string of a moved source. */
static void
put_labelled(struct buf *b, const struct origin *o, struct str s)
{
	struct buf text = { 0 };

	put_str(&text, o->label);
	if (s.len > 0)
		buf_putc(&text, ' ');
	put_str(&text, s);
	json_put_string(b, buf_str(&text));
	buf_free(&text);
}

/* Writes a process id: the only mapping. Source src, number src from 0. */
void
chrome_put_pid(struct chrome *x, struct buf *b, const struct origin *o,
    uint32_t src, const struct value *v)
{
	char text[24];

	if (!is_moved(x, src)) {
		value_put_json(b, v);
	} else if (v->type == VAL_INT && v->i >= 0 && v->i < PID_STEP) {
		json_put_i64(b, v->i + (int64_t)src * PID_STEP);
	} else if (v->type == VAL_INT) {
		put_labelled(
		    b, o, (struct str){ text, num_put_i64(text, v->i) });
	} else if (v->type == VAL_STR || v->type == VAL_STRX) {
		put_labelled(b, o, v->s);
	} else {
		value_put_json(b, v);
	}
}

void
chrome_put_id(struct chrome *x, uint32_t src, const struct value *v)
{
	const struct origin *o = &x->origins.v[src];
	struct buf *b = &x->b;

	if (!is_moved(x, src))
		value_put_json(b, v);
	else if (v->type == VAL_INT && v->i >= 0 && v->i < ID_STEP)
		json_put_i64(b, v->i + (int64_t)src * ID_STEP);
	else if (v->type == VAL_STR || v->type == VAL_STRX)
		put_labelled(b, o, v->s);
	else
		value_put_json(b, v);
}

bool
chrome_put_process(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev, struct str key, const struct value *v)
{
	struct str name = dict_get(x->st, ev->name);

	if (!is_labelled(x, src))
		return false;
	if (str_eq(name, STR("process_name")) && str_eq(key, STR("name")) &&
	    (v->type == VAL_STR || v->type == VAL_STRX)) {
		put_labelled(&x->b, o, v->s);
		return true;
	}
	if (str_eq(name, STR("process_sort_index")) &&
	    str_eq(key, STR("sort_index")) && v->type == VAL_INT && v->i >= 0 &&
	    v->i < ORDER_STEP) {
		json_put_i64(&x->b, v->i + (int64_t)src * ORDER_STEP);
		return true;
	}
	return false;
}

/* ---- rows of GPU work ---- */

bool
chrome_is_on_lane(const struct origin *o, const struct event *ev)
{
	return o->is_foreign && is_on_lane(ev);
}

static struct value
value_of_key(const struct chrome *x, struct key key)
{
	struct value v = { .type = VAL_INT, .i = key.n };

	if (key.type == KEY_STR) {
		v.type = VAL_STR;
		v.s = dict_get(x->st, (uint32_t)key.n);
	}
	return v;
}

static void
put_name(struct chrome *x, const char *what, struct str pid, int64_t tid,
    const char *member, const struct value *v)
{
	struct buf *b = &x->b;

	chrome_next_event(x);
	buf_printf(b,
	    "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%.*s,\"tid\":%" PRId64
	    ",\"args\":{\"%s\":",
	    what, (int)pid.len, pid.p, tid, member);
	value_put_json(b, v);
	PUT(b, "}}");
}

/* Writes the name of a new row, for viewers. */
static void
name_lane(struct chrome *x, const struct lane *l, struct str pid, bool new_dev,
    const struct origin *o, uint32_t src)
{
	struct buf text = { 0 };
	struct value v = { .type = VAL_STR };

	if (new_dev && !x->set->fuse) {
		if (is_labelled(x, src))
			buf_printf(
			    &text, "%.*s ", (int)o->label.len, o->label.p);
		buf_printf(&text, "GPU %" PRId64, l->dev.n);
		v.s = buf_str(&text);
		put_name(x, "process_name", pid, 0, "name", &v);
		put_name(x, "process_sort_index", pid, 0, "sort_index",
		    &(struct value){ .type = VAL_INT,
			.i = ORDER_GPU + l->dev.n + src * ORDER_STEP });
	}
	text.len = 0;
	PUT(&text, "stream ");
	if (l->gpu_stream.type == KEY_STR)
		put_str(&text, dict_get(x->st, (uint32_t)l->gpu_stream.n));
	else if (l->gpu_stream.type == KEY_INT)
		buf_printf(&text, "%" PRId64, l->gpu_stream.n);
	if (l->tid != l->gpu_stream.n && l->pid.type == KEY_INT)
		buf_printf(&text, " of process %" PRId64, l->pid.n);
	v.s = buf_str(&text);
	put_name(x, "thread_name", pid, l->tid, "name", &v);
	buf_free(&text);
}

/*
 * A row's thread is its stream's number; the next free one if another process
 * has that number on the device, or the stream has a name.
 */
static const struct lane *
new_lane(struct chrome *x, struct lane l, bool *new_dev)
{
	int64_t free_tid = 0;
	bool taken = l.gpu_stream.type != KEY_INT;

	*new_dev = true;
	for (size_t i = 0; i < x->lanes.n; i++) {
		const struct lane *other = &x->lanes.v[i];

		if (!key_eq(other->dev, l.dev))
			continue;
		*new_dev = false;
		taken |= other->tid == l.gpu_stream.n;
		if (other->tid >= free_tid && other->tid < INT32_MAX)
			free_tid = other->tid + 1;
	}
	l.tid = taken ? free_tid : l.gpu_stream.n;
	x->last_lane = x->lanes.n;
	vec_push(&x->lanes, l);
	return &x->lanes.v[x->last_lane];
}

static struct place
place_on_lane(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev)
{
	struct value pid = value_of_key(x, ev->dev), queue;
	struct lane l = { ev->dev, ev->gpu_stream, ev->pid, 0 };
	const struct lane *found = NULL;
	struct buf b = { 0 };
	struct place place = { .is_known = true };
	bool new_dev;
	size_t n;

	if (l.gpu_stream.type == KEY_NONE &&
	    event_arg(x->st, ev, STR("queue"), &queue))
		l.gpu_stream = key_of_value(x->st, &queue);
	if (x->lanes_of != src)
		x->lanes.n = 0;
	x->lanes_of = src;
	for (size_t i = 0; i < x->lanes.n && found == NULL; i++) {
		size_t k = (x->last_lane + i) % x->lanes.n;
		const struct lane *other = &x->lanes.v[k];

		if (key_eq(other->dev, l.dev) && key_eq(other->pid, l.pid) &&
		    key_eq(other->gpu_stream, l.gpu_stream)) {
			found = other;
			x->last_lane = k;
		}
	}
	chrome_put_pid(x, &b, o, src, &pid);
	n = b.len < 64 ? b.len : 64; /* two numbers and a word */
	memcpy(x->lane_text, b.p, n);
	place.pid = (struct str){ x->lane_text, n };
	if (found == NULL) {
		found = new_lane(x, l, &new_dev);
		name_lane(x, found, place.pid, new_dev, o, src);
	}
	place.tid = (struct str){ x->lane_text + n,
		num_put_i64(x->lane_text + n, found->tid) };
	buf_free(&b);
	return place;
}

struct place
chrome_place(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev)
{
	const struct track *t;
	struct place *place;
	struct buf b = { 0 };

	if (UNLIKELY(o->is_foreign) && chrome_is_on_lane(o, ev))
		return place_on_lane(x, o, src, ev);
	if (UNLIKELY((ev->shape->has & HAS_TRACK) == 0))
		return (struct place){ 0 };
	if (LIKELY(ev->track < x->places.n && x->places.v[ev->track].is_known))
		return x->places.v[ev->track];
	while (x->places.n <= ev->track)
		vec_push(&x->places, ((struct place){ 0 }));
	t = &x->st->tracks.v[ev->track];
	place = &x->places.v[ev->track];
	place->is_known = true;
	if (t->has_pid) {
		chrome_put_pid(x, &b, o, src, &t->raw_pid);
		place->pid = arena_str(x->mem, buf_str(&b));
	}
	b.len = 0;
	if (t->has_tid) {
		value_put_json(&b, &t->raw_tid);
		place->tid = arena_str(x->mem, buf_str(&b));
	}
	buf_free(&b);
	return *place;
}

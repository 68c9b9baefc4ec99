/* SPDX-License-Identifier: MIT */
/*
 * chrome-event: one event as the JSON object that it was, or could have been.
 */
#include "cmd/tl-export/chrome.h"

#define FLOW_NAME "ac2g"

/* ns as microseconds, with as many decimals as needed. */
static void
put_us(struct buf *b, int64_t ns)
{
	uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	unsigned frac = (unsigned)(u % 1000);
	char *p;

	buf_room(b, 32);
	p = b->p + b->len;
	if (ns < 0)
		*p++ = '-';
	p += num_put_u64(p, u / 1000);
	if (frac != 0) {
		*p++ = '.';
		*p++ = (char)('0' + frac / 100);
		if (frac % 100 != 0)
			*p++ = (char)('0' + frac / 10 % 10);
		if (frac % 10 != 0)
			*p++ = (char)('0' + frac % 10);
	}
	b->len = (size_t)(p - b->p);
}

/* ---- members ---- */

/* Closes an object; from start on, a comma precedes each of its members. */
static void
close_object(struct buf *b, size_t start)
{
	if (b->len > start)
		b->p[start] = '{';
	else
		buf_putc(b, '{');
	buf_putc(b, '}');
}

void
chrome_put_key(struct chrome *x, const char *key)
{
	PUT(&x->b, ",\"");
	buf_puts(&x->b, key);
	PUT(&x->b, "\":");
}

static void
put_time(struct chrome *x, const struct origin *o, const struct event *ev)
{
	int64_t ns;

	PUT(&x->b, ",\"ts\":");
	if (!num_add(ev->ts_ns, o->base_ns, &ns))
		die("%s: event %" PRIu64 ": its time is beyond 64 bits",
		    x->input, ev->uid.id);
	put_us(&x->b, ns);
}

/* A paired B is followed by its E, and has no duration of its own. */
static bool
has_own_dur(const struct event *ev)
{
	return ev->shape->ph != 'B' || (ev->flags & EV_PAIRED) == 0;
}

/* Writes what other formats omit, and viewers need. */
static void
put_defaults(struct chrome *x, const struct origin *o, const struct event *ev)
{
	if (!o->is_foreign && (ev->flags & EV_SYNTHETIC) == 0)
		return;
	if (ev->shape->ph == 0) {
		chrome_put_key(x, "ph");
		PUT(&x->b, "\"X\"");
	}
	if (ev->shape->cat == INTERN_NONE) {
		chrome_put_key(x, "cat");
		json_put_string(&x->b, str_of(kind_words[ev->shape->kind]));
	}
}

/* Writes other members of the event. */
static void
put_top(struct chrome *x, uint32_t src, const struct plan *plan,
    const struct event *ev)
{
	struct entries it = entries_of(x->st, ev);
	const struct part *part = plan->parts;

	for (; entries_next(&it); part++) {
		if (part->use != USE_TOP && part->use != USE_TOP_ID)
			continue;
		put_str(&x->b, part->key);
		if (part->use == USE_TOP_ID)
			chrome_put_id(x, src, &it.val);
		else
			value_put_json(&x->b, &it.val);
	}
}

/* ---- arguments ---- */

static void
put_tree(void *ctx, const char *key, const struct value *v)
{
	struct chrome *x = ctx;

	chrome_put_key(x, key);
	value_put_json(&x->b, v);
}

static void
put_entries(struct chrome *x, const struct origin *o, uint32_t src,
    const struct plan *plan, const struct event *ev)
{
	struct entries it = entries_of(x->st, ev);
	const struct part *part = plan->parts;
	bool is_meta = event_is(ev, KIND_BIT(KIND_META));

	for (; entries_next(&it); part++) {
		if (part->use != USE_ARG && part->use != USE_ARG_ID &&
		    (part->use != USE_FIELD || !o->is_foreign))
			continue;
		put_str(&x->b, part->key);
		if (UNLIKELY(part->use == USE_ARG_ID)) {
			chrome_put_id(x, src, &it.val);
			continue;
		}
		if (UNLIKELY(is_meta) &&
		    chrome_put_process(
			x, o, src, ev, dict_get(x->st, it.entry->key), &it.val))
			continue;
		value_put_json(&x->b, &it.val);
	}
}

/* Writes the process and thread that the GPU worked for. */
static void
put_host(struct chrome *x, const struct event *ev)
{
	const struct track *t = &x->st->tracks.v[ev->track];

	if ((ev->shape->has & HAS_TRACK) == 0)
		return;
	if (t->has_pid) {
		chrome_put_key(x, "tl.pid");
		value_put_json(&x->b, &t->raw_pid);
	}
	if (t->has_tid) {
		chrome_put_key(x, "tl.tid");
		value_put_json(&x->b, &t->raw_tid);
	}
}

static void
put_args(struct chrome *x, const struct origin *o, uint32_t src,
    const struct plan *plan, const struct event *ev)
{
	struct buf *b = &x->b;
	size_t start;

	PUT(b, ",\"args\":");
	start = b->len;
	if (plan->has_args || plan->has_fields)
		put_entries(x, o, src, plan, ev);
	if (UNLIKELY(o->is_foreign) && chrome_is_on_lane(o, ev))
		put_host(x, ev);
	if (UNLIKELY(x->set->fuse))
		fuse_put_args(x, o, src, plan, ev);
	if (x->set->with_tree)
		tree_members(ev, put_tree, x);
	close_object(b, start);
}

/* ---- arrows ---- */

static bool
begins_arrow(const struct event *ev)
{
	if (!event_is(ev, KINDS_LAUNCH) || (ev->shape->has & HAS_TS) == 0)
		return false;
	/* a tree counts what is below; otherwise any call may launch */
	return ev->shape->has & HAS_DEPTH ? ev->ngpu > 0
					  : ev->corr.type != KEY_NONE;
}

/*
 * The arrow from a launch to its GPU work has the launch's number, so either
 * end can be written at once, in any order of events.
 */
static void
put_arrow(struct chrome *x, const struct origin *o, uint32_t src,
    const struct place *place, const struct event *ev)
{
	bool is_end = (ev->shape->has & HAS_LAUNCH) != 0;
	uint64_t id = is_end ? ev->launch.id : ev->uid.id;
	struct value v = { .type = VAL_INT, .i = (int64_t)id };
	struct buf *b = &x->b;
	size_t start;

	chrome_next_event(x);
	start = b->len;
	chrome_put_key(x, "ph");
	buf_puts(b, is_end ? "\"f\"" : "\"s\"");
	if (is_end) {
		chrome_put_key(x, "bp");
		PUT(b, "\"e\"");
	}
	chrome_put_key(x, "id");
	chrome_put_id(x, src, &v);
	if (place->pid.len > 0) {
		chrome_put_key(x, "pid");
		put_str(b, place->pid);
	}
	if (place->tid.len > 0) {
		chrome_put_key(x, "tid");
		put_str(b, place->tid);
	}
	put_time(x, o, ev);
	chrome_put_key(x, "cat");
	PUT(b, "\"" FLOW_NAME "\"");
	chrome_put_key(x, "name");
	PUT(b, "\"" FLOW_NAME "\"");
	close_object(b, start);
}

static bool
is_own_arrow(const struct chrome *x, const struct event *ev)
{
	return event_is(ev, KIND_BIT(KIND_FLOW)) &&
	    str_eq(dict_get(x->st, ev->shape->cat), STR(FLOW_NAME));
}

/* ---- the whole ---- */

static void
put_fixed(struct chrome *x, const struct origin *o, const struct plan *plan,
    const struct place *place, const struct event *ev)
{
	struct buf *b = &x->b;

	put_str(b, plan->head);
	put_defaults(x, o, ev);
	if (plan->fixed & FIX_NAME) {
		chrome_put_key(x, "name");
		json_put_string(b, dict_get(x->st, ev->name));
	}
	if (place->pid.len > 0 && (plan->fixed & FIX_PID)) {
		chrome_put_key(x, "pid");
		put_str(b, place->pid);
	}
	if (place->tid.len > 0 && (plan->fixed & FIX_TID)) {
		chrome_put_key(x, "tid");
		put_str(b, place->tid);
	}
	if (plan->fixed & FIX_TS)
		put_time(x, o, ev);
	if ((plan->fixed & FIX_DUR) && has_own_dur(ev)) {
		chrome_put_key(x, "dur");
		put_us(b, ev->dur_ns);
	}
}

void
chrome_put_event(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev)
{
	const struct plan *plan = chrome_plan(x, ev->shape_id);
	struct buf *b = &x->b;
	struct place place;
	size_t start;

	if (x->set->flows && is_own_arrow(x, ev))
		return;
	if (UNLIKELY(x->set->fuse)) {
		if (fuse_replaces(x, ev))
			return;
		fuse_note(x, o, src, ev);
	}
	place = chrome_place(x, o, src, ev);
	chrome_next_event(x);
	start = b->len;
	put_fixed(x, o, plan, &place, ev);
	if (plan->has_top)
		put_top(x, src, plan, ev);
	if ((plan->fixed & FIX_ARGS) ||
	    (!plan->args_raw &&
		(x->set->with_tree || x->set->fuse ||
		    (o->is_foreign && plan->has_fields))))
		put_args(x, o, src, plan, ev);
	close_object(b, start);
	if (x->set->flows &&
	    ((ev->shape->has & HAS_LAUNCH) != 0 || begins_arrow(ev)))
		put_arrow(x, o, src, &place, ev);
}

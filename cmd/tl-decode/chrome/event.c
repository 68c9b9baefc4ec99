/* SPDX-License-Identifier: MIT */
/* Reads an event along the graph: the hot path. */
#include "cmd/tl-decode/chrome/event.h"

struct event_reader *
event_reader_create(struct json_trace *t)
{
	struct event_reader *r = xcalloc(1, sizeof *r);

	r->src = t->s;
	r->json = &t->json;
	r->mem = arena_create();
	r->raw = intern_create();
	r->names = arena_create();
	r->devices = devices_create(r->names);
	lit_set(&r->no_edge.lit, NULL, 0);
	r->start = graph_node(r, NULL, NULL, 0);
	buf_room(&r->vals, 4096);
	return r;
}

void
event_reader_destroy(struct event_reader *r)
{
	devices_destroy(r->devices);
	arena_destroy(r->names);
	arena_destroy(r->mem);
	intern_destroy(r->raw);
	vec_free(&r->raw_value);
	buf_free(&r->text);
	buf_free(&r->vals);
	vec_release(r);
}

void
event_reader_trim(struct event_reader *r)
{
	if (UNLIKELY(r->is_full || r->nnodes > NODES_MAX))
		graph_forget(r);
	if (LIKELY(!source_trim(r->src,
		intern_bytes(r->raw) + arena_bytes(r->mem) +
		    r->raw_value.cap * sizeof *r->raw_value.v)))
		return;
	intern_clear(r->raw);
	r->raw_value.n = 0;
	r->has_last_track = false;
	devices_renumber(r->devices);
	graph_forget(r);
}

/* ---- the end of an event ---- */

static inline uint32_t
track_no(struct event_reader *r)
{
	r->track.src = r->src->src;
	if (LIKELY(r->has_last_track && track_same(&r->track, &r->last_track)))
		return r->last_track_no;
	r->last_track_no = dict_track(r->src->dict, &r->track);
	r->last_track = r->track;
	r->has_last_track = true;
	return r->last_track_no;
}

/* The leaf for the kind by name and track. */
static const struct leaf *
asked_leaf(struct event_reader *r, struct node *n, uint32_t track)
{
	const struct dict *st = r->src->dict;
	struct leaf *leaf = n->leaf;
	enum kind kind = device_kind(
	    r->devices, st, leaf->kind, track, dict_get(st, r->name));

	while (leaf->kind != kind) {
		if (leaf->next == NULL)
			leaf->next = layout_leaf(r, n, kind);
		leaf = leaf->next;
	}
	return leaf;
}

static void
learn_devices(struct event_reader *r, const struct event *ev)
{
	size_t before = devices_gpus(r->devices).len;
	struct str gpus;

	devices_learn(r->devices, r->src->dict, ev);
	gpus = devices_gpus(r->devices);
	if (gpus.len > before)
		facts_json(&r->src->facts, "gpus", gpus);
}

static void
end_event(struct event_reader *r, struct node *n)
{
	struct source_state *s = r->src;
	struct event *ev = &r->ev;
	const struct leaf *leaf = n->leaf;

	if (UNLIKELY(leaf == NULL))
		leaf = n->leaf = layout_leaf(r, n, kind_of_path(r, n->path));
	ev->track = track_no(r);
	if (UNLIKELY(leaf->asks))
		leaf = asked_leaf(r, n, ev->track);
	ev->shape_id = leaf->shape;
	ev->shape = s->dict->shapes.v[ev->shape_id];
	ev->src = s->src;
	ev->name = r->name;
	ev->uid.id = s->next_id++;
	ev->ts_ns = ev->shape->has & HAS_TS ? source_time(s, r->ts_ns) : 0;
	ev->dur_ns = r->dur_ns;
	/* keeps a dur in whole ns as written */
	if (UNLIKELY(r->dur_fine != 0))
		ev->dur_ns =
		    fine_dur(r->ts_ns, r->ts_fine, r->dur_ns, r->dur_fine);
	ev->flags = ev->shape->has & HAS_FLAGS ? EV_CLAMPED : 0;
	ev->vals = (const unsigned char *)r->vals.p;
	ev->vals_len = r->vals.len;
	if (UNLIKELY(leaf->skip != SKIP_NONE))
		s->skipped[leaf->skip]++;
	if (UNLIKELY(leaf->kind == KIND_META))
		learn_devices(r, ev);
	source_event(s, ev);
}

/* ---- reading ---- */

/* Finds or learns another edge than the last; moves past it. */
static enum json_status
find_edge(struct event_reader *r, struct node *n, struct edge **edge)
{
	struct json *j = r->json;
	enum json_status status;

	for (struct edge *e = n->edges; e != NULL; e = e->next) {
		if (lit_is(&e->lit, j->p)) {
			j->p += e->lit.len;
			*edge = n->last = e;
			return JSON_OK;
		}
	}
	status = graph_learn(r, n, edge);
	if (status == JSON_OK)
		n->last = *edge;
	return status;
}

/* White space after a key that had none when learnt. */
static enum json_status
step_over_space(struct json *j)
{
	json_space(j);
	return j->p < j->end ? JSON_OK
			     : json_fail(j, j->p, "the file ends in an event");
}

/* Whether a key may be phase or category; any with an escape may. */
static bool
decides_kind(struct str key, bool escaped)
{
	return escaped || str_eq(key, STR("cat")) || str_eq(key, STR("ph"));
}

/* Most values are numbers; what follows is checked next. */
static inline bool
skip_number(struct json *j)
{
	const unsigned char *p = j->p;

	if ((unsigned)(*p - '0') > 9)
		return false;
	while ((unsigned)(*p - '0') <= 9 || *p == '.')
		p++;
	j->p = p;
	return true;
}

/*
 * Skips the rest of an event. False: something unusual, or phase or category
 * again.
 */
static bool
skip_members(struct json *j)
{
	struct str raw;
	bool escaped;

	for (;;) {
		json_space(j);
		if (*j->p == '}') {
			j->p++;
			return true;
		}
		if (*j->p++ != ',')
			return false;
		json_space(j);
		if (*j->p != '"' || json_string(j, &raw, &escaped) != JSON_OK ||
		    decides_kind(raw, escaped))
			return false;
		json_space(j);
		if (*j->p++ != ':')
			return false;
		json_space(j);
		if (!skip_number(j) && json_span(j, &raw) != JSON_OK)
			return false;
	}
}

/* Skips an unwanted event; an unusual one is read to its end. */
static enum json_status
skip_event(struct event_reader *r, const unsigned char *start)
{
	struct json *j = r->json;
	enum json_status status;

	if (UNLIKELY(!skip_members(j))) {
		j->p = start;
		r->no_skip = true;
		status = event_read(r);
		r->no_skip = false;
		return status;
	}
	r->src->next_id++;
	r->src->counts->events++;
	return JSON_OK;
}

/* ---- usual forms of values: false: read the slow way ---- */

/* After a value; a zero follows the window. */
static inline bool
ends_value(unsigned char c)
{
	return c == ',' || c == '}' || c == '\n';
}

/* Up to seven digits, as most arguments and ids. */
static inline bool
small_int(const unsigned char **p, int64_t *v)
{
	uint64_t t = json_digits8(*p);
	unsigned n = json_ndigits8(t);

	if (n - 1 >= 7 || !ends_value((*p)[n]) || (**p == '0' && n > 1))
		return false;
	*v = (int64_t)json_valuen(t, n);
	*p += n;
	return true;
}

/* Eight digits; *bad gets bits for others. */
static inline uint64_t
eight_digits(const unsigned char *p, uint64_t *bad)
{
	uint64_t t = json_digits8(p);

	*bad |= ((t + UINT64_C(0x7676767676767676)) | t) &
	    UINT64_C(0x8080808080808080);
	return json_value8(t);
}

/* After whole microseconds: up to three decimals, and the value's end. */
static inline bool
rest_of_time(const unsigned char **pp, int64_t *ns)
{
	const unsigned char *p = *pp;
	uint64_t f;
	unsigned n;

	if (*p == '.') {
		f = json_digits8(p + 1);
		n = json_ndigits8(f);
		if (n - 1 >= 3)
			return false;
		p += 1 + n;
		f &= (UINT64_C(1) << 8 * n) - 1;
		*ns +=
		    (int64_t)((f & 15) * 100 + (f >> 8 & 15) * 10 + (f >> 16));
	}
	*pp = p;
	return ends_value(*p);
}

/*
 * A timestamp with n digits before the point, 8 to 16, as the last one had: no
 * search for the point.
 */
static inline bool
long_time(const unsigned char **pp, unsigned n, int64_t *ns)
{
	static const uint32_t shift[] = { 100000000, 10000000, 1000000, 100000,
		10000, 1000, 100, 10, 1 };
	const unsigned char *p = *pp;
	uint64_t high, low, bad = 0;

	if (n - 8 > 8 || *p == '0')
		return false;
	/* the last eight before the point, and those before */
	low = eight_digits(p + n - 8, &bad);
	high = eight_digits(p, &bad);
	if (bad != 0)
		return false;
	high = high / shift[n - 8] * 100000000 + low;
	*ns = (int64_t)(high * 1000);
	p += n;
	if (high >= DECODE_MAX_NS / 1000 || !rest_of_time(&p, ns))
		return false;
	*pp = p;
	return true;
}

/* Up to seven digits: most durations. */
static inline bool
short_time(const unsigned char **pp, int64_t *ns)
{
	const unsigned char *p = *pp;
	uint64_t t = json_digits8(p);
	unsigned n = json_ndigits8(t);

	if (n - 1 >= 7 || (*p == '0' && n > 1))
		return false;
	*ns = (int64_t)json_valuen(t, n) * 1000;
	p += n;
	if (!rest_of_time(&p, ns))
		return false;
	*pp = p;
	return true;
}

/* A category that followed these keys before, mostly the last one. */
static inline bool
known_cat(const struct edge *e, const unsigned char **p, uint64_t *code)
{
	for (const struct variant *v = e->variants; v != NULL; v = v->next) {
		if (lit_is(&v->lit, *p)) {
			*p += v->lit.len;
			*code = v->code;
			return true;
		}
	}
	return false;
}

/* ---- reading ---- */

/* Reads a value the slow way; moves past it. */
static enum json_status
read_slow(struct event_reader *r, const struct node *n, const struct edge *e,
    uint64_t *code)
{
	if (e->action == ACTION_REPEATED)
		keep_repeated(r, n, e->field);
	return e->field == FIELD_NONE ? put_value(r, code)
				      : read_field(r, e, code);
}

/* Digits of the microseconds at p. */
static unsigned
guess_digits(const unsigned char *p)
{
	unsigned n = 0;

	while (n < 20 && p[n] >= '0' && p[n] <= '9')
		n++;
	return n;
}

/*
 * Reads a value of the usual form at *p, and moves past it. False: another
 * form, nothing done.
 */
static inline bool
read_usual(struct event_reader *r, const struct edge *e,
    const unsigned char **p, uint64_t *code)
{
	int64_t v;

	*code = CODE_FIELD;
	switch (e->action) {
	case FIELD_NONE:
		if (!small_int(p, &v))
			return false;
		buf_varint(&r->vals, (uint64_t)v << 1);
		*code = VAL_INT;
		return true;
	case FIELD_PH:
		if ((*p)[0] != '"' || (*p)[2] != '"' ||
		    (unsigned)((*p)[1] - 'A') > 'z' - 'A' || (*p)[1] == '\\')
			return false;
		*code = CODE_PH + (*p)[1];
		*p += 3;
		return true;
	case FIELD_CAT: return known_cat(e, p, code);
	case FIELD_PID:
		if (!small_int(p, &r->track.raw_pid.i))
			return false;
		r->track.raw_pid.type = VAL_INT;
		*code = CODE_FIELD | VAL_INT;
		return r->track.has_pid = true;
	case FIELD_TID:
		if (!small_int(p, &r->track.raw_tid.i))
			return false;
		r->track.raw_tid.type = VAL_INT;
		*code = CODE_FIELD | VAL_INT;
		return r->track.has_tid = true;
	case FIELD_TS:
		return long_time(p, r->ts_digits, &r->ts_ns) ||
		    short_time(p, &r->ts_ns);
	case FIELD_DUR: return short_time(p, &r->dur_ns);
	case FIELD_ARGS:
		*code = CODE_ENTER;
		return *(*p)++ == '{' || (--*p, false);
	default: return false;
	}
}

enum json_status
event_read(struct event_reader *r)
{
	struct json *j = r->json;
	const unsigned char *start = j->p, *p = start;
	struct node *n = r->start;
	enum json_status status;

	r->vals.len = 0;
	r->dur_ns = r->dur_fine = 0;
	r->ts_ns = r->ts_fine = 0;
	r->name = INTERN_NONE;
	r->track.has_pid = r->track.has_tid = false;
	for (;;) {
		struct edge *e = n->last;
		uint64_t code;

		if (LIKELY(lit_is(&e->lit, p))) {
			p += e->lit.len;
		} else {
			j->p = p;
			if ((status = find_edge(r, n, &e)) != JSON_OK)
				return status;
			p = j->p;
		}
		if (e->action == FIELD_ARGS_END) {
			n = follow(r, n, e, 0);
			continue;
		}
		if (e->action == FIELD_END) {
			n = follow(r, n, e, 0);
			break;
		}
		if (UNLIKELY(*p <= ' ')) {
			j->p = p;
			if ((status = step_over_space(j)) != JSON_OK)
				return status;
			p = j->p;
		}
		if (!read_usual(r, e, &p, &code)) {
			j->p = p;
			if ((status = read_slow(r, n, e, &code)) != JSON_OK)
				return status;
			if (e->action == FIELD_TS)
				r->ts_digits = guess_digits(p);
			p = j->p;
		}
		n = follow(r, n, e, code);
		if (UNLIKELY(n->skip) && !r->no_skip) {
			j->p = p;
			return skip_event(r, start);
		}
	}
	j->p = p;
	end_event(r, n);
	return JSON_OK;
}

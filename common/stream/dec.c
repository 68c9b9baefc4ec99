/* SPDX-License-Identifier: MIT */
/* dec: records to events. Pure, safe on hostile bytes: returns a status and a
 * place. */
#include "stream/wire.h"

void
dec_start(struct decoder *d, struct dict *st)
{
	memset(d, 0, sizeof *d);
	d->st = st;
	d->kinds = KINDS_ALL;
	d->to = &d->ev;
	d->identity = st->text->list.n == 0;
	d->mem = arena_create();
}

void
dec_free(struct decoder *d)
{
	vec_free(&d->strings);
	vec_free(&d->shapes);
	vec_free(&d->tracks);
	vec_free(&d->prov);
	vec_free(&d->facts);
	arena_destroy(d->mem);
}

bool
dec_block_head(
    struct decoder *d, const unsigned char *head, uint32_t *len, uint32_t *crc)
{
	unsigned char bytes[4];

	if (memcmp(head, WIRE_BLOCK_MAGIC, 4) != 0) {
		d->error = "no block begins here: the stream is damaged";
		return false;
	}
	*len = get_u32(head + 4);
	*crc = get_u32(head + 8);
	if (*len > WIRE_MAX_BLOCK) {
		d->error = "a block's length is out of range";
		return false;
	}
	/* the end record has the chain up to the block before its own */
	d->end_chain = d->chain;
	put_u32(bytes, *crc);
	d->chain = wire_crc32(d->chain, bytes, sizeof bytes);
	return true;
}

void
dec_block(struct decoder *d, const unsigned char *payload, uint32_t len)
{
	d->p = payload;
	d->end = payload + len;
	d->next_id = 0;
	d->prev_ts = 0;
}

static bool
get_text(struct decoder *d, const unsigned char **p, const unsigned char *end,
    struct str *s)
{
	uint64_t len;

	(void)d;
	if (!varint_get(p, end, &len) || len > (uint64_t)(end - *p))
		return false;
	*s = (struct str){ (const char *)*p, (size_t)len };
	*p += len;
	return true;
}

/* ---- events: WIRE_HEAD_MAX bytes are readable, wherever they end ---- */

static inline bool
head_small(const unsigned char **p, uint64_t limit, uint32_t *v)
{
	uint64_t u;

	if (!varint_get_roomy(p, &u) || u >= limit)
		return false;
	*v = (uint32_t)u;
	return true;
}

static inline bool
head_ref(const unsigned char **p, struct uid own, struct uid *ref)
{
	uint64_t u;

	if (!varint_get_roomy(p, &u))
		return false;
	ref->id = own.id - (uint64_t)unzigzag(u >> 1);
	ref->inst = own.inst;
	if (ref->id >= WIRE_MAX_ID)
		return false;
	return (u & 1) == 0 || head_small(p, UINT32_MAX, &ref->inst);
}

static bool
tree_fields(struct event *ev, const unsigned char **p)
{
	const struct uid none = { 0 };
	unsigned has = ev->shape->has;

	ev->depth = 0;
	ev->parent = ev->launch = ev->fwd = ev->bwd = none;
	ev->ndesc = ev->ngpu = 0;
	if ((has & HAS_TREE) == 0)
		return true;
	if ((has & HAS_DEPTH) && !head_small(p, UINT32_MAX, &ev->depth))
		return false;
	if ((has & HAS_PARENT) && !head_ref(p, ev->uid, &ev->parent))
		return false;
	if ((has & HAS_LAUNCH) && !head_ref(p, ev->uid, &ev->launch))
		return false;
	if ((has & HAS_FWD) && !head_ref(p, ev->uid, &ev->fwd))
		return false;
	if ((has & HAS_BWD) && !head_ref(p, ev->uid, &ev->bwd))
		return false;
	if ((has & HAS_NDESC) && !varint_get_roomy(p, &ev->ndesc))
		return false;
	return !(has & HAS_NGPU) || varint_get_roomy(p, &ev->ngpu);
}

static inline bool
head_fields(const struct decoder *d, struct event *ev, const unsigned char **p)
{
	unsigned has = ev->shape->has;
	const struct track *t;
	uint32_t no;
	uint64_t u;

	if ((has & HAS_INST) && !head_small(p, UINT32_MAX, &ev->uid.inst))
		return false;
	if (!head_small(p, d->tracks.n, &no))
		return false;
	ev->track = d->tracks.v[no];
	t = &d->st->tracks.v[ev->track];
	ev->src = t->src;
	ev->pid = t->pid;
	ev->tid = t->tid;
	if (has & HAS_DUR) {
		if (!varint_get_roomy(p, &u) || u > INT64_MAX)
			return false;
		ev->dur_ns = (int64_t)u;
	}
	if (has & HAS_NAME) {
		if (!head_small(p, d->strings.n, &no))
			return false;
		ev->name = d->strings.v[no];
	}
	return (has & HAS_FLAGS) == 0 || head_small(p, UINT32_MAX, &ev->flags);
}

/* Most events have no correlation, device or GPU stream. */
static inline bool
set_keys(const struct dict *st, struct event *ev)
{
	const struct shape *s = ev->shape;

	if (s->last_role > 0 ||
	    (s->flags & (SHAPE_DEV_PID | SHAPE_STREAM_TID)) != 0)
		return event_set_keys(st, ev);
	ev->dev = ev->gpu_stream = ev->corr = ev->ext =
	    (struct key){ 0, KEY_NONE };
	return true;
}

static enum dec_status
bad_event(struct decoder *d)
{
	return dec_bad(d, "an event record is malformed");
}

static enum dec_status
rec_call(struct decoder *d, const unsigned char *p, const unsigned char *end,
    struct wire_shape w)
{
	struct wire_call call;

	if (!dec_call(p, end, w, &call))
		return bad_event(d);
	d->to->depth = call.depth;
	d->to->corr = call.has_corr ? (struct key){ call.corr, KEY_INT }
				    : (struct key){ 0, KEY_NONE };
	return DEC_EVENT;
}

/* The shape of an event; id and time still are those of the event before. */
static inline __attribute__((always_inline)) enum dec_status
event_place(struct decoder *d, const unsigned char **at,
    const unsigned char **end, struct wire_shape *w)
{
	const unsigned char *p = *at;
	uint32_t shape;
	uint64_t id, ts;

	if (UNLIKELY(d->end - p < WIRE_HEAD_MAX)) {
		size_t len = (size_t)(*end - p);

		memcpy(d->tail, p, len);
		memset(d->tail + len, 0, sizeof d->tail - len);
		p = d->tail;
		*end = p + len;
	}
	if (!head_small(&p, d->shapes.n, &shape) || !varint_get_roomy(&p, &id))
		return bad_event(d);
	id = d->next_id + (uint64_t)unzigzag(id);
	if (id >= WIRE_MAX_ID)
		return p > *end ? bad_event(d)
				: dec_bad(d, "an event's id is out of range");
	d->next_id = id + 1;
	*w = d->shapes.v[shape];
	if (w->has & HAS_TS) {
		if (!varint_get_roomy(&p, &ts))
			return bad_event(d);
		d->prev_ts =
		    (int64_t)((uint64_t)d->prev_ts + (uint64_t)unzigzag(ts));
	}
	*at = p;
	return UNLIKELY(p > *end) ? bad_event(d) : DEC_EVENT;
}

/* DEC_BLOCK_END: an event that was not selected. */
static enum dec_status
rec_event(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	struct event *ev = d->to;
	struct wire_shape w;
	const struct shape *s;
	enum dec_status status = event_place(d, &p, &end, &w);

	if (UNLIKELY(status != DEC_EVENT))
		return status;
	d->nevents++;
	if (w.use == USE_NOTHING)
		return DEC_BLOCK_END;

	/* not the whole struct: the rest is set below */
	s = d->st->shapes.v[w.id];
	ev->shape = s;
	ev->shape_id = w.id;
	ev->name = INTERN_NONE;
	ev->uid = (struct uid){ d->next_id - 1, 0 };
	ev->ts_ns = w.has & HAS_TS ? d->prev_ts : 0;
	ev->dur_ns = 0;
	ev->flags = 0;
	if (!head_fields(d, ev, &p) || p > end)
		return bad_event(d);
	if (UNLIKELY(ev->ts_ns > INT64_MAX - ev->dur_ns))
		return dec_bad(d, WIRE_BAD_END);
	if (w.use == USE_HEAD)
		return DEC_EVENT;
	if (w.use == USE_CALL)
		return rec_call(d, p, end, w);
	if (!tree_fields(ev, &p) || p > end)
		return bad_event(d);
	ev->vals = p;
	ev->vals_len = (size_t)(end - p);
	ev->ids = d->identity ? NULL : d->strings.v;
	ev->nids = d->identity ? 0 : (uint32_t)d->strings.n;
	if (!set_keys(d->st, ev))
		return dec_bad(d, "an event's values are malformed");
	return DEC_EVENT;
}

/* ---- all others ---- */

static bool
get_fact(struct decoder *d, const unsigned char **p, const unsigned char *end,
    struct fact *f)
{
	uint32_t type;

	if (!get_text(d, p, end, &f->key) ||
	    !dec_small(p, end, VAL_COUNT, &type))
		return false;
	f->val = (struct value){ .type = type };
	if (type == VAL_STR || type == VAL_JSON)
		return false; /* facts have their text inline */
	if (type == VAL_NUM)
		return get_text(d, p, end, &f->val.s);
	return value_decode(p, end, type, NULL, &f->val);
}

static enum dec_status
rec_source(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	uint32_t final, n;
	struct fact f;

	if (!dec_small(&p, end, WIRE_MAX_SRC, &d->source.src) ||
	    !dec_small(&p, end, 2, &final) ||
	    !dec_small(&p, end, WIRE_MAX_FACTS, &n))
		return dec_bad(d, "a source record is malformed");
	if (!wire_src_is_near(d->source.src, &d->nnamed))
		return dec_bad(d, WIRE_BAD_SRC);
	d->facts.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!get_fact(d, &p, end, &f))
			return dec_bad(d, "a source record is malformed");
		vec_push(&d->facts, f);
	}
	d->source.is_final = final != 0;
	d->source.facts = d->facts.v;
	d->source.nfacts = n;
	d->nsources += final;
	return DEC_SOURCE;
}

static enum dec_status
rec_meta(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	uint32_t after;

	if (!dec_small(&p, end, WIRE_MAX_SRC, &d->meta.src) ||
	    !dec_small(&p, end, 2, &after) ||
	    !get_fact(d, &p, end, &d->meta.fact))
		return dec_bad(d, "a metadata record is malformed");
	if (!wire_src_is_near(d->meta.src, &d->nnamed))
		return dec_bad(d, WIRE_BAD_SRC);
	d->meta.is_after = after != 0;
	return DEC_META;
}

static enum dec_status
rec_header(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	uint32_t n;
	struct prov s;

	if (d->has_header)
		return dec_bad(d, "a second header record");
	if (!dec_small(&p, end, UINT32_MAX, &d->marks) ||
	    !dec_small(&p, end, WIRE_MAX_FACTS, &n))
		return dec_bad(d, "the header record is malformed");
	for (uint32_t i = 0; i < n; i++) {
		if (!get_text(d, &p, end, &s.program) ||
		    !get_text(d, &p, end, &s.version) ||
		    !get_text(d, &p, end, &s.args))
			return dec_bad(d, "the header record is malformed");
		s.program = arena_str(d->mem, s.program);
		s.version = arena_str(d->mem, s.version);
		s.args = arena_str(d->mem, s.args);
		vec_push(&d->prov, s);
	}
	d->has_header = true;
	return DEC_HEADER;
}

static enum dec_status
rec_end(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	uint32_t marks, chain;

	if (!dec_small(&p, end, UINT32_MAX, &marks) ||
	    !varint_get(&p, end, &d->end_events) ||
	    !dec_small(&p, end, UINT32_MAX, &d->end_sources) ||
	    !dec_small(&p, end, UINT64_C(1) << 32, &chain))
		return dec_bad(d, "the end record is malformed");
	if (chain != d->end_chain)
		return dec_bad(d,
		    "the checksum in the end record is wrong: "
		    "blocks are missing or in another order");
	if (d->end_events != d->nevents || d->end_sources != d->nsources)
		return dec_bad(d,
		    "the counts in the end record are wrong: "
		    "records are missing");
	if (d->p != d->end)
		return dec_bad(d, "records follow the end record");
	d->marks = marks;
	return DEC_STREAM_END;
}

/* DEC_BLOCK_END: only the decoder needs it. */
static enum dec_status
rec_other(struct decoder *d, unsigned type, const unsigned char *body)
{
	uint32_t section;

	switch (type) {
	case REC_STRING:
	case REC_CLEAR:
	case REC_SHAPE:
	case REC_TRACK: return dec_define(d, type, body, d->p);
	case REC_SOURCE: return rec_source(d, body, d->p);
	case REC_META: return rec_meta(d, body, d->p);
	case REC_SECTION:
		if (!dec_small(&body, d->p, SECTION_COUNT, &section))
			return dec_bad(d, "a section is unknown");
		d->section = section;
		return DEC_SECTION;
	case REC_HEADER: return rec_header(d, body, d->p);
	case REC_END: return rec_end(d, body, d->p);
	default:
		return type & REC_MAY_SKIP
		    ? DEC_BLOCK_END
		    : dec_bad(d,
			  "a record of unknown type: "
			  "a newer tl wrote this stream");
	}
}

/* Sets *p to the start of a record's body, d->p to its end; false: it is too
 * long. */
static inline bool
next_record(struct decoder *d, const unsigned char **p)
{
	uint64_t len;

	*p = d->p + 1;
	if (!varint_get(p, d->end, &len) || len > (uint64_t)(d->end - *p))
		return false;
	d->p = *p + len;
	return true;
}

enum dec_status
dec_next(struct decoder *d)
{
	while (d->p < d->end) {
		const unsigned char *start = d->p, *p;
		enum dec_status status;

		if (!next_record(d, &p))
			return dec_bad(d, "a record is longer than its block");
		if (UNLIKELY(!d->has_header && *start != REC_HEADER))
			return dec_bad(d, "the first record is no header");
		status = LIKELY(*start == REC_EVENT) ? rec_event(d, p, d->p)
						     : rec_other(d, *start, p);
		if (status == DEC_BAD)
			d->p = start;
		if (status != DEC_BLOCK_END)
			return status;
	}
	return DEC_BLOCK_END;
}

/* SPDX-License-Identifier: MIT */
/* dec: records to events. Pure over hostile bytes: a status and a place. */
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

/*
 * How many numbers stand in front of the correlation of a call; false: not
 * numbers alone do.
 */
static bool
find_corr(const struct shape *s, uint8_t *before)
{
	unsigned n =
	    (unsigned)__builtin_popcount(s->has & (HAS_NDESC | HAS_NGPU));

	*before = WIRE_NO_CORR;
	for (unsigned i = 0; i < s->last_role; i++) {
		const struct entry *e = &s->entries[i];

		if (e->role == ROLE_CORR) {
			*before = (uint8_t)n;
			return e->type == VAL_INT && n < WIRE_NO_CORR;
		}
		if (e->type == VAL_STRX || e->type == VAL_JSONX)
			return false;
		n += e->type == VAL_DEC ? 2u : e->type > VAL_TRUE;
	}
	return true;
}

static uint8_t
use_of(const struct decoder *d, const struct shape *s, uint8_t *before_corr)
{
	*before_corr = WIRE_NO_CORR;
	if (!dec_wants(d, s))
		return USE_NOTHING;
	if ((d->heads & KIND_BIT(s->kind)) == 0)
		return USE_ALL;
	if ((KIND_BIT(s->kind) & KINDS_LAUNCH) == 0)
		return USE_HEAD;
	return find_corr(s, before_corr) ? USE_CALL : USE_ALL;
}

void
dec_choose(struct decoder *d, uint32_t kinds, uint32_t heads, bool only_owners)
{
	d->kinds = kinds;
	d->heads = heads;
	d->only_owners = only_owners;
	for (size_t i = 0; i < d->shapes.n; i++) {
		struct wire_shape *w = &d->shapes.v[i];

		w->use = use_of(d, d->st->shapes.v[w->id], &w->before_corr);
	}
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

static enum dec_status
bad(struct decoder *d, const char *error)
{
	d->error = error;
	return DEC_BAD;
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
	/* the end record holds the chain before its own block */
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

/* A varint below limit. */
static inline bool
get_small(const unsigned char **p, const unsigned char *end, uint64_t limit,
    uint32_t *v)
{
	uint64_t u;

	if (!varint_get(p, end, &u) || u >= limit)
		return false;
	*v = (uint32_t)u;
	return true;
}

static void
rec_string(struct decoder *d, struct str s)
{
	uint32_t id = intern_put(d->st->text, s);

	if (id != d->strings.n)
		d->identity = false;
	vec_push(&d->strings, id);
}

/* A string's number in the stream to its number in our table. */
static bool
get_string_id(struct decoder *d, const unsigned char **p,
    const unsigned char *end, uint32_t *id)
{
	uint32_t no;

	if (!get_small(p, end, d->strings.n, &no))
		return false;
	*id = d->strings.v[no];
	return true;
}

static bool
get_entry(struct decoder *d, const unsigned char **p, const unsigned char *end,
    struct entry *e)
{
	uint32_t type, group, role;

	if (!get_string_id(d, p, end, &e->key) ||
	    !get_small(p, end, VAL_COUNT, &type) ||
	    !get_small(p, end, GROUP_DUPTOP + 1, &group) ||
	    !get_small(p, end, UINT32_MAX, &role))
		return false;
	e->type = (uint8_t)type;
	e->group = (uint8_t)group;
	e->unused = 0;
	/* a newer writer's role is unknown here; repetitions mean nothing */
	e->role = role < ROLE_COUNT && group <= GROUP_FIELD ? (uint8_t)role : 0;
	return true;
}

static enum dec_status
rec_shape(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	struct shape s = { 0 };
	uint32_t kind, ph, has, flags, cat, n;
	size_t mark = arena_mark(d->mem);
	struct wire_shape w;

	if (!get_small(&p, end, UINT32_MAX, &kind) ||
	    !get_small(&p, end, 256, &ph) ||
	    !get_small(&p, end, HAS_ALL + 1, &has) ||
	    !get_small(&p, end, 256, &flags) ||
	    !get_small(&p, end, d->strings.n + 1, &cat) ||
	    !get_small(&p, end, SHAPE_MAX_ENTRIES + 1, &n))
		return bad(d, "a shape record is malformed");
	if ((has & HAS_TRACK) == 0)
		return bad(d, "a shape has no track");
	/* a newer writer's kind is some other kind to us */
	s.kind = kind < KIND_COUNT ? (uint8_t)kind : KIND_OTHER;
	s.ph = (uint8_t)ph;
	s.has = (uint16_t)has;
	s.flags = flags & SHAPE_FLAGS;
	s.cat = cat == 0 ? INTERN_NONE : d->strings.v[cat - 1];
	s.nentries = n;
	s.entries = arena_alloc(d->mem, n * sizeof *s.entries + 1);
	for (uint32_t i = 0; i < n; i++) {
		if (!get_entry(d, &p, end, &s.entries[i]))
			return bad(d, "a shape record is malformed");
		if (s.entries[i].group == GROUP_ARGS)
			s.flags |= SHAPE_ARGS;
	}
	w = (struct wire_shape){ .id = dict_shape(d->st, &s), .has = s.has };
	w.use = use_of(d, d->st->shapes.v[w.id], &w.before_corr);
	vec_push(&d->shapes, w);
	arena_reset(d->mem, mark);
	return DEC_BLOCK_END;
}

static bool
get_track_part(struct decoder *d, const unsigned char **p,
    const unsigned char *end, bool *has, struct value *v)
{
	uint32_t type;

	if (!get_small(p, end, VAL_COUNT + 1, &type))
		return false;
	*has = type > 0;
	v->type = VAL_NULL;
	if (type == 0)
		return true;
	if (!value_decode(p, end, type - 1, NULL, v))
		return false;
	if (v->type == VAL_STR || v->type == VAL_JSON || v->type == VAL_NUM) {
		if (v->id >= d->strings.n)
			return false;
		v->id = d->strings.v[v->id];
		v->s = intern_get(d->st->text, v->id);
	}
	return true;
}

static enum dec_status
rec_track(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	struct track t = { 0 };

	if (!get_small(&p, end, WIRE_MAX_SRC, &t.src) ||
	    !get_track_part(d, &p, end, &t.has_pid, &t.raw_pid) ||
	    !get_track_part(d, &p, end, &t.has_tid, &t.raw_tid))
		return bad(d, "a track record is malformed");
	if (!wire_src_is_near(t.src, &d->nnamed))
		return bad(d, WIRE_BAD_SRC);
	vec_push(&d->tracks, dict_track(d->st, &t));
	return DEC_BLOCK_END;
}

/* ---- events: WIRE_HEAD_MAX bytes can be read, wherever they end ---- */

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
	return bad(d, "an event record is malformed");
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

/* DEC_BLOCK_END: an event that isn't wanted. */
static enum dec_status
rec_event(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	struct event *ev = d->to;
	struct wire_shape w;
	const struct shape *s;
	uint32_t shape;
	uint64_t id, ts;

	if (UNLIKELY(d->end - p < WIRE_HEAD_MAX)) {
		size_t len = (size_t)(end - p);

		memcpy(d->tail, p, len);
		memset(d->tail + len, 0, sizeof d->tail - len);
		p = d->tail;
		end = p + len;
	}
	if (!head_small(&p, d->shapes.n, &shape) || !varint_get_roomy(&p, &id))
		return bad_event(d);
	id = d->next_id + (uint64_t)unzigzag(id);
	if (id >= WIRE_MAX_ID)
		return p > end ? bad_event(d)
			       : bad(d, "an event's id is out of range");
	d->next_id = id + 1;
	w = d->shapes.v[shape];
	if (w.has & HAS_TS) {
		if (!varint_get_roomy(&p, &ts))
			return bad_event(d);
		d->prev_ts =
		    (int64_t)((uint64_t)d->prev_ts + (uint64_t)unzigzag(ts));
	}
	if (UNLIKELY(p > end))
		return bad_event(d);
	d->nevents++;
	if (w.use == USE_NOTHING)
		return DEC_BLOCK_END;

	/* not the whole of it: what follows sets the rest */
	s = d->st->shapes.v[w.id];
	ev->shape = s;
	ev->shape_id = w.id;
	ev->name = INTERN_NONE;
	ev->uid = (struct uid){ id, 0 };
	ev->ts_ns = w.has & HAS_TS ? d->prev_ts : 0;
	ev->dur_ns = 0;
	ev->flags = 0;
	if (!head_fields(d, ev, &p) || p > end)
		return bad_event(d);
	if (UNLIKELY(ev->ts_ns > INT64_MAX - ev->dur_ns))
		return bad(d, WIRE_BAD_END);
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
		return bad(d, "an event's values are malformed");
	return DEC_EVENT;
}

/* ---- all others ---- */

static bool
get_fact(struct decoder *d, const unsigned char **p, const unsigned char *end,
    struct fact *f)
{
	uint32_t type;

	if (!get_text(d, p, end, &f->key) ||
	    !get_small(p, end, VAL_COUNT, &type))
		return false;
	f->val = (struct value){ .type = type };
	if (type == VAL_STR || type == VAL_JSON)
		return false; /* facts have inline text */
	if (type == VAL_NUM)
		return get_text(d, p, end, &f->val.s);
	return value_decode(p, end, type, NULL, &f->val);
}

static enum dec_status
rec_source(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	uint32_t final, n;
	struct fact f;

	if (!get_small(&p, end, WIRE_MAX_SRC, &d->source.src) ||
	    !get_small(&p, end, 2, &final) ||
	    !get_small(&p, end, WIRE_MAX_FACTS, &n))
		return bad(d, "a source record is malformed");
	if (!wire_src_is_near(d->source.src, &d->nnamed))
		return bad(d, WIRE_BAD_SRC);
	d->facts.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!get_fact(d, &p, end, &f))
			return bad(d, "a source record is malformed");
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

	if (!get_small(&p, end, WIRE_MAX_SRC, &d->meta.src) ||
	    !get_small(&p, end, 2, &after) ||
	    !get_fact(d, &p, end, &d->meta.fact))
		return bad(d, "a metadata record is malformed");
	if (!wire_src_is_near(d->meta.src, &d->nnamed))
		return bad(d, WIRE_BAD_SRC);
	d->meta.is_after = after != 0;
	return DEC_META;
}

static enum dec_status
rec_header(struct decoder *d, const unsigned char *p, const unsigned char *end)
{
	uint32_t n;
	struct prov s;

	if (d->has_header)
		return bad(d, "a second header record");
	if (!get_small(&p, end, UINT32_MAX, &d->marks) ||
	    !get_small(&p, end, WIRE_MAX_FACTS, &n))
		return bad(d, "the header record is malformed");
	for (uint32_t i = 0; i < n; i++) {
		if (!get_text(d, &p, end, &s.program) ||
		    !get_text(d, &p, end, &s.version) ||
		    !get_text(d, &p, end, &s.args))
			return bad(d, "the header record is malformed");
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

	if (!get_small(&p, end, UINT32_MAX, &marks) ||
	    !varint_get(&p, end, &d->end_events) ||
	    !get_small(&p, end, UINT32_MAX, &d->end_sources) ||
	    !get_small(&p, end, UINT64_C(1) << 32, &chain))
		return bad(d, "the end record is malformed");
	if (chain != d->end_chain)
		return bad(d,
		    "the checksum in the end record is wrong: "
		    "blocks are missing or in another order");
	if (d->end_events != d->nevents || d->end_sources != d->nsources)
		return bad(d,
		    "the counts in the end record are wrong: "
		    "records are missing");
	if (d->p != d->end)
		return bad(d, "records follow the end record");
	d->marks = marks;
	return DEC_STREAM_END;
}

static void
rec_clear(struct decoder *d)
{
	d->strings.n = d->shapes.n = d->tracks.n = 0;
	/* numbers in our table go on, so they are no longer the same */
	d->identity = d->st->text->list.n == 0;
}

/* DEC_BLOCK_END: what only the decoder needs. */
static enum dec_status
rec_other(struct decoder *d, unsigned type, const unsigned char *body)
{
	uint32_t section;

	switch (type) {
	case REC_STRING:
		rec_string(d,
		    (struct str){ (const char *)body, (size_t)(d->p - body) });
		return DEC_BLOCK_END;
	case REC_CLEAR: rec_clear(d); return DEC_BLOCK_END;
	case REC_SHAPE: return rec_shape(d, body, d->p);
	case REC_TRACK: return rec_track(d, body, d->p);
	case REC_SOURCE: return rec_source(d, body, d->p);
	case REC_META: return rec_meta(d, body, d->p);
	case REC_SECTION:
		if (!get_small(&body, d->p, SECTION_COUNT, &section))
			return bad(d, "a section is unknown");
		d->section = section;
		return DEC_SECTION;
	case REC_HEADER: return rec_header(d, body, d->p);
	case REC_END: return rec_end(d, body, d->p);
	default:
		return type & REC_MAY_SKIP
		    ? DEC_BLOCK_END
		    : bad(d,
			  "a record of unknown type: "
			  "a newer tl wrote this stream");
	}
}

enum dec_status
dec_next(struct decoder *d)
{
	while (d->p < d->end) {
		const unsigned char *start = d->p, *p = start + 1;
		enum dec_status status;
		uint64_t len;

		if (!varint_get(&p, d->end, &len) ||
		    len > (uint64_t)(d->end - p))
			return bad(d, "a record is longer than its block");
		d->p = p + len;
		if (UNLIKELY(!d->has_header && *start != REC_HEADER))
			return bad(d, "the first record is no header");
		status = LIKELY(*start == REC_EVENT) ? rec_event(d, p, d->p)
						     : rec_other(d, *start, p);
		if (status == DEC_BAD)
			d->p = start;
		if (status != DEC_BLOCK_END)
			return status;
	}
	return DEC_BLOCK_END;
}

/* SPDX-License-Identifier: MIT */
/* enc: events to records in blocks. Pure: grows a buffer, writes nothing. */
#include "stream/wire.h"

#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#endif

uint32_t
wire_crc32(uint32_t crc, const void *p, size_t n)
{
#ifdef HAVE_ISAL
	return crc32_gzip_refl(crc, p, n);
#else
	return (uint32_t)crc32_z(crc, p, n);
#endif
}

void
enc_start(struct encoder *e, struct dict *st, bool eager)
{
	memset(e, 0, sizeof *e);
	e->st = st;
	e->eager = eager;
	enc_open_block(e);
}

void
enc_free(struct encoder *e)
{
	buf_free(&e->block);
	buf_free(&e->scratch);
	vec_free(&e->string_no);
	vec_free(&e->shape_no);
	vec_free(&e->track_no);
}

void
enc_open_block(struct encoder *e)
{
	e->block.len = 0;
	buf_room(&e->block, WIRE_BLOCK_HEAD);
	memset(e->block.p, 0, WIRE_BLOCK_HEAD);
	e->block.len = WIRE_BLOCK_HEAD;
	e->next_id = 0;
	e->prev_ts = 0;
}

void
enc_close_block(struct encoder *e)
{
	unsigned char *head = (unsigned char *)e->block.p;
	size_t len = e->block.len - WIRE_BLOCK_HEAD;
	uint32_t crc = wire_crc32(0, head + WIRE_BLOCK_HEAD, len);
	unsigned char bytes[4];

	memcpy(head, WIRE_BLOCK_MAGIC, 4);
	put_u32(head + 4, (uint32_t)len);
	put_u32(head + 8, crc);
	put_u32(head + 12, 0);
	put_u32(bytes, crc);
	e->chain = wire_crc32(e->chain, bytes, sizeof bytes);
}

/* Writes a record whose body is in scratch. */
static void
put_record(struct encoder *e, int type)
{
	buf_putc(&e->block, (char)type);
	buf_varint(&e->block, e->scratch.len);
	buf_put(&e->block, e->scratch.p, e->scratch.len);
}

static void
put_text(struct buf *b, struct str s)
{
	buf_varint(b, s.len);
	buf_put(b, s.p, s.len);
}

static void
put_string_record(struct encoder *e, struct str s)
{
	buf_putc(&e->block, REC_STRING);
	put_text(&e->block, s);
}

/* Numbers are those of the table, so all strings are written, until the block
 * is this long. */
bool
enc_tell_strings(struct encoder *e, size_t until)
{
	const struct intern *text = e->st->text;

	for (; e->told < text->list.n; e->told++) {
		if (e->block.len >= until)
			return true;
		put_string_record(e, intern_get(text, e->told));
	}
	return false;
}

/* The number + 1 of an id, 0 if it has none yet. */
#define NUMBER_OF(vec, id) ((id) < (vec)->n ? (vec)->v[id] : 0)
#define SET_NUMBER(vec, id, no)           \
	do {                              \
		while ((vec)->n <= (id))  \
			vec_push(vec, 0); \
		(vec)->v[id] = (no);      \
	} while (0)

/* The number of a string in the stream; writes the string first if new. */
static uint32_t
string_no(struct encoder *e, uint32_t id)
{
	uint32_t no;

	if (e->eager)
		return id;
	no = NUMBER_OF(&e->string_no, id);
	if (no == 0) {
		put_string_record(e, intern_get(e->st->text, id));
		no = ++e->nstrings;
		SET_NUMBER(&e->string_no, id, no);
	}
	return no - 1;
}

static bool
has_string_id(enum value_type type)
{
	return type == VAL_STR || type == VAL_JSON || type == VAL_NUM;
}

static void
put_value(struct encoder *e, struct buf *b, const struct value *v)
{
	if (has_string_id(v->type))
		buf_varint(b, string_no(e, v->id));
	else
		value_encode(b, v);
}

static uint32_t
tell_shape(struct encoder *e, uint32_t id)
{
	const struct shape *s = e->st->shapes.v[id];
	uint32_t cat = 0;

	/* strings first: they are records of their own */
	if (s->cat != INTERN_NONE)
		cat = string_no(e, s->cat) + 1;
	for (uint32_t i = 0; i < s->nentries; i++)
		string_no(e, s->entries[i].key);

	e->scratch.len = 0;
	buf_varint(&e->scratch, s->kind);
	buf_varint(&e->scratch, s->ph);
	buf_varint(&e->scratch, s->has);
	buf_varint(&e->scratch, s->flags);
	buf_varint(&e->scratch, cat);
	buf_varint(&e->scratch, s->nentries);
	for (uint32_t i = 0; i < s->nentries; i++) {
		const struct entry *en = &s->entries[i];

		buf_varint(&e->scratch, string_no(e, en->key));
		buf_varint(&e->scratch, en->type);
		buf_varint(&e->scratch, en->group);
		buf_varint(&e->scratch, en->role);
	}
	put_record(e, REC_SHAPE);
	SET_NUMBER(&e->shape_no, id, ++e->nshapes);
	return e->nshapes - 1;
}

static uint32_t
tell_track(struct encoder *e, uint32_t id)
{
	const struct track *t = &e->st->tracks.v[id];
	const struct value *raw[2] = { &t->raw_pid, &t->raw_tid };
	const bool has[2] = { t->has_pid, t->has_tid };

	for (int i = 0; i < 2; i++)
		if (has[i] && has_string_id(raw[i]->type))
			string_no(e, raw[i]->id);
	e->scratch.len = 0;
	buf_varint(&e->scratch, t->src);
	for (int i = 0; i < 2; i++) {
		buf_varint(&e->scratch, has[i] ? raw[i]->type + 1u : 0);
		if (has[i])
			put_value(e, &e->scratch, raw[i]);
	}
	put_record(e, REC_TRACK);
	SET_NUMBER(&e->track_no, id, ++e->ntracks);
	return e->ntracks - 1;
}

/* Another event: difference of the ids, and its instance if different. */
static unsigned char *
put_ref(unsigned char *p, struct uid own, struct uid ref)
{
	bool other = own.inst != ref.inst;

	p = varint_put(
	    p, zigzag((int64_t)(own.id - ref.id)) << 1 | (unsigned)other);
	if (other)
		p = varint_put(p, ref.inst);
	return p;
}

/* Lazy: the values again, with the stream's numbers of strings. */
static struct str
translate_values(struct encoder *e, const struct event *ev)
{
	struct entries it = entries_of(e->st, ev);

	/* in a separate buffer, as new strings go into the block */
	e->scratch.len = 0;
	while (entries_next(&it))
		put_value(e, &e->scratch, &it.val);
	return buf_str(&e->scratch);
}

#define EVENT_FIXED_MAX (24 * VARINT_MAX)

static unsigned char *
put_fixed(
    unsigned char *p, const struct event *ev, uint32_t track, uint32_t name)
{
	const unsigned slice = HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME;
	unsigned has = ev->shape->has;

	if (LIKELY(has == slice)) { /* the common case */
		p = varint_put(p, track);
		p = varint_put(p, (uint64_t)ev->dur_ns);
		return varint_put(p, name);
	}
	if (has & HAS_INST)
		p = varint_put(p, ev->uid.inst);
	p = varint_put(p, track);
	if (has & HAS_DUR)
		p = varint_put(p, (uint64_t)ev->dur_ns);
	if (has & HAS_NAME)
		p = varint_put(p, name);
	if (has & HAS_FLAGS)
		p = varint_put(p, ev->flags);
	if ((has & HAS_TREE) == 0)
		return p;
	if (has & HAS_DEPTH)
		p = varint_put(p, ev->depth);
	if (has & HAS_PARENT)
		p = put_ref(p, ev->uid, ev->parent);
	if (has & HAS_LAUNCH)
		p = put_ref(p, ev->uid, ev->launch);
	if (has & HAS_FWD)
		p = put_ref(p, ev->uid, ev->fwd);
	if (has & HAS_BWD)
		p = put_ref(p, ev->uid, ev->bwd);
	if (has & HAS_NDESC)
		p = varint_put(p, ev->ndesc);
	if (has & HAS_NGPU)
		p = varint_put(p, ev->ngpu);
	return p;
}

/* Values are few bytes: two overlapping copies beat a call of memcpy(). */
static inline void
put_bytes(unsigned char *p, struct str s)
{
	if (s.len > 32) {
		memcpy(p, s.p, s.len);
	} else if (s.len >= 16) {
		memcpy(p, s.p, 16);
		memcpy(p + s.len - 16, s.p + s.len - 16, 16);
	} else if (s.len >= 8) {
		memcpy(p, s.p, 8);
		memcpy(p + s.len - 8, s.p + s.len - 8, 8);
	} else if (s.len >= 4) {
		memcpy(p, s.p, 4);
		memcpy(p + s.len - 4, s.p + s.len - 4, 4);
	} else {
		for (size_t i = 0; i < s.len; i++)
			p[i] = (unsigned char)s.p[i];
	}
}

void
enc_event(struct encoder *e, const struct event *ev)
{
	uint32_t shape, track, name = 0;
	unsigned char *start, *p;
	struct str vals;
	size_t len;

	if (e->eager) {
		vals = event_vals(ev, &e->scratch);
		if (e->told < e->st->text->list.n)
			(void)enc_tell_strings(e, SIZE_MAX);
	} else
		vals = translate_values(e, ev);
	if (ev->shape->has & HAS_NAME)
		name = string_no(e, ev->name);
	shape = NUMBER_OF(&e->shape_no, ev->shape_id);
	track = NUMBER_OF(&e->track_no, ev->track);
	if (UNLIKELY(shape == 0 || track == 0)) {
		struct buf keep = e->scratch; /* vals may point into it */

		e->scratch = (struct buf){ 0 };
		if (shape == 0)
			shape = tell_shape(e, ev->shape_id) + 1;
		if (track == 0)
			track = tell_track(e, ev->track) + 1;
		buf_free(&e->scratch);
		e->scratch = keep;
	}

	if (UNLIKELY(e->block.cap - e->block.len < EVENT_FIXED_MAX + vals.len))
		buf_room(&e->block, EVENT_FIXED_MAX + vals.len);
	start = (unsigned char *)e->block.p + e->block.len;
	*start = REC_EVENT;
	p = varint_put(start + 2, shape - 1);
	p = varint_put(p, zigzag((int64_t)(ev->uid.id - e->next_id)));
	e->next_id = ev->uid.id + 1;
	if (ev->shape->has & HAS_TS) {
		p = varint_put(p,
		    zigzag(
			(int64_t)((uint64_t)ev->ts_ns - (uint64_t)e->prev_ts)));
		e->prev_ts = ev->ts_ns;
	}
	p = put_fixed(p, ev, track - 1, name);
	put_bytes(p, vals);
	p += vals.len;

	len = (size_t)(p - start) - 2;
	if (UNLIKELY(len >= 0x80)) {
		unsigned char head[VARINT_MAX];
		size_t n = (size_t)(varint_put(head, len) - head);

		memmove(start + 1 + n, start + 2, len);
		memcpy(start + 1, head, n);
		p = start + 1 + n + len;
	} else {
		start[1] = (unsigned char)len;
	}
	e->block.len = (size_t)(p - (unsigned char *)e->block.p);
	e->nevents++;
}

/* Facts need no tables: their keys and texts are inline. */
static void
put_fact(struct buf *b, const struct fact *f)
{
	enum value_type type = f->val.type;

	if (type == VAL_STR)
		type = VAL_STRX;
	if (type == VAL_JSON)
		type = VAL_JSONX;
	put_text(b, f->key);
	buf_varint(b, type);
	if (type == VAL_NUM || type == VAL_STRX || type == VAL_JSONX)
		put_text(b, f->val.s);
	else
		value_encode(b, &f->val);
}

void
enc_source(struct encoder *e, const struct source *s)
{
	e->scratch.len = 0;
	buf_varint(&e->scratch, s->src);
	buf_varint(&e->scratch, s->is_final);
	buf_varint(&e->scratch, s->nfacts);
	for (size_t i = 0; i < s->nfacts; i++)
		put_fact(&e->scratch, &s->facts[i]);
	put_record(e, REC_SOURCE);
	e->nsources += s->is_final;
}

void
enc_meta(struct encoder *e, const struct meta *m)
{
	e->scratch.len = 0;
	buf_varint(&e->scratch, m->src);
	buf_varint(&e->scratch, m->is_after);
	put_fact(&e->scratch, &m->fact);
	put_record(e, REC_META);
}

void
enc_section(struct encoder *e, enum section s)
{
	e->scratch.len = 0;
	buf_varint(&e->scratch, s);
	put_record(e, REC_SECTION);
}

void
enc_clear(struct encoder *e)
{
	e->scratch.len = 0;
	put_record(e, REC_CLEAR);
	e->told = e->nstrings = e->nshapes = e->ntracks = 0;
	e->string_no.n = e->shape_no.n = e->track_no.n = 0;
}

void
enc_header(
    struct encoder *e, unsigned marks, const struct prov *prov, size_t nprov)
{
	e->scratch.len = 0;
	buf_varint(&e->scratch, marks);
	buf_varint(&e->scratch, nprov);
	for (size_t i = 0; i < nprov; i++) {
		put_text(&e->scratch, prov[i].program);
		put_text(&e->scratch, prov[i].version);
		put_text(&e->scratch, prov[i].args);
	}
	put_record(e, REC_HEADER);
}

void
enc_end(struct encoder *e, unsigned marks)
{
	e->scratch.len = 0;
	buf_varint(&e->scratch, marks);
	buf_varint(&e->scratch, e->nevents);
	buf_varint(&e->scratch, e->nsources);
	buf_varint(&e->scratch, e->chain);
	put_record(e, REC_END);
}

/* SPDX-License-Identifier: MIT */
/*
 * Splits event streams into records, changes these, and joins them again with
 * the right lengths, counts and checksums, so that readers do not reject them
 * at once.
 *
 * Ids and times of events are absolute here: records can be moved and removed
 * without changing later ones.
 *
 *	struct stream_records s = { 0 };
 *	if (stream_records_read(&s, bytes, n)) {
 *		stream_records_change(&s, &seed);
 *		stream_records_write(&s, &out);
 *	}
 *	stream_records_free(&s);
 */
#ifndef TL_FUZZ_RECORDS_H
#define TL_FUZZ_RECORDS_H

#include <stdlib.h>

#include "stream/wire.h"

/* ---- chance ---- */

static uint64_t
chance(uint64_t *seed)
{
	*seed += UINT64_C(0x9e3779b97f4a7c15);
	return hash_mix(*seed ^ *seed >> 31, UINT64_C(0xbf58476d1ce4e5b9));
}

static size_t
below(uint64_t *seed, size_t n)
{
	return n > 0 ? (size_t)(chance(seed) % n) : 0;
}

/* Numbers at or near borders. */
static uint64_t
odd_number(uint64_t *seed, uint64_t old)
{
	static const uint64_t odd[] = { 0, 1, 2, 127, 128, 255, 256, 4095, 4096,
		65535, 65536, UINT64_C(1) << 24, INT32_MAX, UINT32_MAX,
		UINT64_C(1) << 53, UINT64_C(1) << 62, INT64_MAX, UINT64_MAX };

	switch (below(seed, 8)) {
	case 0: return old + 1;
	case 1: return old - 1;
	case 2: return old ^ UINT64_C(1) << below(seed, 64);
	case 3: return old << below(seed, 8);
	case 4: return old + zigzag((int64_t)below(seed, 64) - 32);
	case 5: return below(seed, 40);
	case 6: return chance(seed) >> below(seed, 64);
	default: return odd[below(seed, sizeof odd / sizeof *odd)];
	}
}

static struct str
odd_text(uint64_t *seed)
{
	/* what programs look for in names, and what they must escape */
	static const struct str texts[] = { STR_INIT(""), STR_INIT("\xff\xfe"),
		STR_INIT("\xed\xa0\x80"), STR_INIT("=1+1"), STR_INIT("a\tb\nc"),
		STR_INIT("\"<&'>\\"), STR_INIT("\x1b[31m"),
		STR_INIT("ProfilerStep#7"), STR_INIT("ProfilerStep#-1"),
		STR_INIT("ncclDevKernel_AllReduce_Sum_bf16"),
		STR_INIT("cudaLaunchKernel"), STR_INIT("hipGraphLaunch"),
		STR_INIT("cudaDeviceSynchronize"), STR_INIT("Memcpy HtoD"),
		STR_INIT("aten::mm"), STR_INIT("aten::convolution_backward"),
		STR_INIT("nccl:all_reduce"), STR_INIT("nn.Module: Linear_0"),
		STR_INIT("execute_context_1(4)_generation_2(2)"),
		STR_INIT("## Call CompiledFxGraph ##"),
		STR_INIT("autograd::engine::evaluate_function: MmBackward0"),
		STR_INIT("[[1,2],[3,-4]]"), STR_INIT("[[[[[["),
		STR_INIT("[\"Tensor\",\"Scalar\"]"), STR_INIT("null"),
		STR_INIT("1e309"), STR_INIT("-0"), STR_INIT("nan"),
		STR_INIT("9223372036854775808"), STR_INIT("float"),
		STR_INIT("c10::BFloat16"), STR_INIT("allreduce"),
		STR_INIT("[0, 1, 2, ..., 9]"), STR_INIT("0"),
		STR_INIT("../../x"), STR_INIT("%s%n") };

	return texts[below(seed, sizeof texts / sizeof *texts)];
}

static void
change_bytes(struct buf *b, uint64_t *seed)
{
	size_t at = below(seed, b->len + 1), n;
	struct str text = odd_text(seed);

	buf_room(b, 1);
	switch (below(seed, 5)) {
	case 0: /* another byte */
		if (at < b->len)
			b->p[at] = (char)chance(seed);
		break;
	case 1: /* some less */
		n = below(seed, b->len - at + 1);
		if (n > 8)
			n = 8;
		memmove(b->p + at, b->p + at + n, b->len - at - n);
		b->len -= n;
		break;
	case 2: /* some more */
		buf_room(b, text.len);
		memmove(b->p + at + text.len, b->p + at, b->len - at);
		memcpy(b->p + at, text.p, text.len);
		b->len += text.len;
		break;
	case 3: /* much more of it */
		for (n = 1 + below(seed, 9); n > 0 && b->len < 4096; n--)
			buf_put(b, text.p, text.len);
		break;
	default: b->len = 0; buf_put(b, text.p, text.len);
	}
}

/* ---- apart ---- */

struct stream_record {
	unsigned type;
	bool begins_block;
	/* of an event; the rest of it is its body */
	uint64_t shape, id;
	int64_t ts;
	bool has_ts;
	struct buf body;
};

struct stream_records {
	VEC(struct stream_record) list;
};

static void
stream_records_free(struct stream_records *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		buf_free(&s->list.v[i].body);
	vec_free(&s->list);
}

/* Where differences of ids and times restart, and which shapes have ts. */
struct stream_records_state {
	VEC(bool) has_ts; /* of shapes */
	uint64_t next_id;
	int64_t ts;
};

static bool
read_event(struct stream_records_state *st, struct stream_record *r,
    const unsigned char **p, const unsigned char *end)
{
	uint64_t u;

	if (!varint_get(p, end, &r->shape) || !varint_get(p, end, &u))
		return false;
	r->id = st->next_id + (uint64_t)unzigzag(u);
	st->next_id = r->id + 1;
	r->has_ts = r->shape < st->has_ts.n && st->has_ts.v[r->shape];
	if (!r->has_ts)
		return true;
	if (!varint_get(p, end, &u))
		return false;
	st->ts = (int64_t)((uint64_t)st->ts + (uint64_t)unzigzag(u));
	r->ts = st->ts;
	return true;
}

/* Whether events of a shape have ts: its third number. */
static bool
shape_has_ts(const struct buf *body)
{
	const unsigned char *p = (const unsigned char *)body->p;
	const unsigned char *end = p + body->len;
	uint64_t u = 0;

	for (int i = 0; i < 3; i++)
		if (body->len == 0 || !varint_get(&p, end, &u))
			return false;
	return (u & HAS_TS) != 0;
}

static void
note_record(struct stream_records_state *st, const struct stream_record *r)
{
	if (r->type == REC_SHAPE)
		vec_push(&st->has_ts, shape_has_ts(&r->body));
	if (r->type == REC_CLEAR)
		st->has_ts.n = 0;
}

static bool
read_block(struct stream_records *s, struct stream_records_state *st,
    const unsigned char *p, const unsigned char *end)
{
	bool is_first = true;

	st->next_id = 0;
	st->ts = 0;
	while (p < end) {
		struct stream_record r = { .type = *p++,
			.begins_block = is_first };
		const unsigned char *body;
		uint64_t len;

		if (!varint_get(&p, end, &len) || len > (uint64_t)(end - p))
			return false;
		body = p;
		p += len;
		if (r.type == REC_EVENT && !read_event(st, &r, &body, p))
			return false;
		buf_put(&r.body, body, (size_t)(p - body));
		note_record(st, &r);
		vec_push(&s->list, r);
		is_first = false;
	}
	return true;
}

/* False: no well-formed stream. */
static bool
stream_records_read(struct stream_records *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes, *end = p + n;
	struct stream_records_state st = { 0 };
	bool is_good = n > WIRE_MAGIC_LEN &&
	    memcmp(bytes, WIRE_MAGIC, WIRE_MAGIC_LEN) == 0;

	for (p += WIRE_MAGIC_LEN; is_good && p < end;) {
		uint32_t len;

		is_good = end - p >= WIRE_BLOCK_HEAD &&
		    (len = get_u32(p + 4)) <=
			(uint64_t)(end - p - WIRE_BLOCK_HEAD) &&
		    read_block(
			s, &st, p + WIRE_BLOCK_HEAD, p + WIRE_BLOCK_HEAD + len);
		if (is_good)
			p += WIRE_BLOCK_HEAD + len;
	}
	vec_free(&st.has_ts);
	return is_good && s->list.n > 0;
}

/* ---- together ---- */

/* The end record is ours: its marks, with right counts and checksum. */
static void
write_end(struct buf *b, const struct stream_record *r, uint64_t nevents,
    uint64_t nsources, uint32_t chain)
{
	const unsigned char *p = (const unsigned char *)r->body.p;
	uint64_t marks = 0;

	if (r->body.len == 0 || !varint_get(&p, p + r->body.len, &marks))
		marks = 0;
	buf_varint(b, marks);
	buf_varint(b, nevents);
	buf_varint(b, nsources);
	buf_varint(b, chain);
}

static void
close_block(struct buf *out, struct buf *block, uint32_t *chain)
{
	unsigned char head[WIRE_BLOCK_HEAD] = WIRE_BLOCK_MAGIC;

	if (block->len == 0)
		return;
	put_u32(head + 4, (uint32_t)block->len);
	put_u32(head + 8, wire_crc32(0, block->p, block->len));
	put_u32(head + 12, 0);
	*chain = wire_crc32(*chain, head + 8, 4);
	buf_put(out, head, sizeof head);
	buf_put(out, block->p, block->len);
	block->len = 0;
}

static void
stream_records_write(const struct stream_records *s, struct buf *out)
{
	struct stream_records_state st = { 0 };
	struct buf block = { 0 }, body = { 0 };
	uint64_t nevents = 0, nsources = 0;
	uint32_t chain = 0;

	out->len = 0;
	buf_put(out, WIRE_MAGIC, WIRE_MAGIC_LEN);
	for (size_t i = 0; i < s->list.n; i++) {
		const struct stream_record *r = &s->list.v[i];

		if (r->begins_block) {
			close_block(out, &block, &chain);
			st.next_id = 0;
			st.ts = 0;
		}
		body.len = 0;
		if (r->type == REC_EVENT) {
			buf_varint(&body, r->shape);
			buf_varint(
			    &body, zigzag((int64_t)(r->id - st.next_id)));
			st.next_id = r->id + 1;
			if (r->has_ts) {
				buf_varint(&body,
				    zigzag((int64_t)((uint64_t)r->ts -
					(uint64_t)st.ts)));
				st.ts = r->ts;
			}
			nevents++;
		}
		if (r->type == REC_SOURCE && r->body.len > 1)
			nsources += r->body.p[0] >= 0 && r->body.p[1] == 1;
		if (r->type == REC_END)
			write_end(&body, r, nevents, nsources, chain);
		else
			buf_put(&body, r->body.p, r->body.len);
		buf_putc(&block, (char)r->type);
		buf_varint(&block, body.len);
		buf_put(&block, body.p, body.len);
	}
	close_block(out, &block, &chain);
	buf_free(&block);
	buf_free(&body);
	vec_free(&st.has_ts);
}

/* ---- changed ---- */

struct record_field {
	size_t at, len;
	uint64_t number;
	bool is_text;
};

typedef VEC(struct record_field) record_fields;

/* The number at p; if a text's length, then the text. */
static bool
add_field(record_fields *fields, const struct buf *b, const unsigned char **p,
    bool is_text)
{
	const unsigned char *base = (const unsigned char *)b->p;
	const unsigned char *end = base + b->len;
	struct record_field f = { .at = (size_t)(*p - base),
		.is_text = is_text };

	if (*p >= end || !varint_get(p, end, &f.number))
		return false;
	if (is_text) {
		if (f.number > (uint64_t)(end - *p))
			return false;
		*p += f.number;
	}
	f.len = (size_t)(*p - base) - f.at;
	vec_push(fields, f);
	return true;
}

static void
add_facts(record_fields *fields, const struct buf *b, const unsigned char *p)
{
	while (
	    add_field(fields, b, &p, true) && add_field(fields, b, &p, false)) {
		uint64_t type = fields->v[fields->n - 1].number;

		if (!add_field(fields, b, &p,
			type == VAL_NUM || type == VAL_STRX ||
			    type == VAL_JSONX))
			return;
	}
}

/* Fields that can be changed alone. A string is all text. */
static void
fields_of(record_fields *fields, const struct stream_record *r)
{
	const struct buf *b = &r->body;
	const unsigned char *p = (const unsigned char *)b->p;
	int nheads = r->type == REC_SOURCE                 ? 3
	    : r->type == REC_META || r->type == REC_HEADER ? 2
							   : -1;

	fields->n = 0;
	if (r->type == REC_STRING || b->len == 0)
		return;
	while (nheads != 0 && add_field(fields, b, &p, false))
		nheads--;
	if (r->type == REC_SOURCE || r->type == REC_META)
		add_facts(fields, b, p);
	if (r->type == REC_HEADER)
		while (add_field(fields, b, &p, true))
			;
}

/* New bytes in place of a field. */
static void
replace(struct buf *b, const struct record_field *f, const struct buf *with)
{
	size_t rest = b->len - f->at - f->len;

	buf_room(b, with->len);
	memmove(b->p + f->at + with->len, b->p + f->at + f->len, rest);
	if (with->len > 0)
		memcpy(b->p + f->at, with->p, with->len);
	b->len = f->at + with->len + rest;
}

static struct stream_record *
any_of_type(struct stream_records *s, unsigned type, uint64_t *seed)
{
	size_t n = s->list.n, at = below(seed, n);

	for (size_t i = 0; i < n && i < 4096; i++) {
		struct stream_record *r = &s->list.v[(at + i) % n];

		if (r->type == type)
			return r;
	}
	return &s->list.v[at];
}

/* The same field of another record of its type. */
static uint64_t
from_another(struct stream_records *s, const struct stream_record *r, size_t k,
    uint64_t old, uint64_t *seed)
{
	struct stream_record *other = any_of_type(s, r->type, seed);
	record_fields fields = { 0 };

	fields_of(&fields, other);
	if (k < fields.n)
		old = fields.v[k].number;
	vec_free(&fields);
	return old;
}

static void
change_field(struct stream_records *s, struct stream_record *r, uint64_t *seed)
{
	struct buf with = { 0 };
	record_fields fields = { 0 };
	const struct record_field *f;
	size_t k;

	fields_of(&fields, r);
	if (fields.n == 0) {
		change_bytes(&r->body, seed);
		return;
	}
	k = below(seed, fields.n);
	f = &fields.v[k];
	if (f->is_text) {
		struct buf text = { 0 };

		buf_put(
		    &text, r->body.p + f->at + f->len - f->number, f->number);
		change_bytes(&text, seed);
		buf_varint(&with, text.len);
		buf_put(&with, text.p, text.len);
		buf_free(&text);
	} else if (below(seed, 2) == 0) {
		buf_varint(&with, from_another(s, r, k, f->number, seed));
	} else {
		buf_varint(&with, odd_number(seed, f->number));
	}
	replace(&r->body, f, &with);
	buf_free(&with);
	vec_free(&fields);
}

static void
change_event(struct stream_records *s, struct stream_record *r, uint64_t *seed)
{
	const struct stream_record *other = any_of_type(s, REC_EVENT, seed);

	switch (below(seed, 6)) {
	case 0:
		r->id = below(seed, 2) ? other->id : odd_number(seed, r->id);
		break;
	case 1: r->ts = other->ts; break;
	case 2: r->ts = (int64_t)odd_number(seed, (uint64_t)r->ts); break;
	case 3:
		if (other->type == REC_EVENT && other->has_ts == r->has_ts)
			r->shape = other->shape;
		break;
	default: change_field(s, r, seed);
	}
}

static void
copy_part(struct stream_record *to, const struct stream_record *from)
{
	*to = *from;
	to->body = (struct buf){ 0 };
	buf_put(&to->body, from->body.p, from->body.len);
}

static void
remove_parts(struct stream_records *s, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++)
		buf_free(&s->list.v[i].body);
	memmove(&s->list.v[at], &s->list.v[at + n],
	    (s->list.n - at - n) * sizeof *s->list.v);
	s->list.n -= n;
}

/* A copy of some, elsewhere. */
static void
insert_parts(struct stream_records *s, size_t from, size_t n, size_t at)
{
	VEC(struct stream_record) copies = { 0 };

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		copy_part(vec_add(&copies), &s->list.v[from + i]);
	vec_reserve(&s->list, s->list.n + n);
	memmove(&s->list.v[at + n], &s->list.v[at],
	    (s->list.n - at) * sizeof *s->list.v);
	memcpy(&s->list.v[at], copies.v, n * sizeof *copies.v);
	s->list.n += n;
	vec_free(&copies);
}

/* Changes whole records. The header and the end mostly stay. */
static void
change_order(struct stream_records *s, uint64_t *seed)
{
	size_t last = s->list.n - 1, at = 1 + below(seed, last);
	size_t n = 1 + below(seed, below(seed, 8) == 0 ? 64 : 3);
	struct stream_record swap;

	if (s->list.n < 4)
		return;
	if (at >= last && below(seed, 16) != 0)
		at = last - 1;
	if (n > last - at)
		n = last - at;
	switch (below(seed, 6)) {
	case 0: remove_parts(s, at, n); break;
	case 1: insert_parts(s, at, n, 1 + below(seed, last)); break;
	case 2: insert_parts(s, at, n, at); break;
	case 3:
		swap = s->list.v[at];
		last = 1 + below(seed, last - 1);
		s->list.v[at] = s->list.v[last];
		s->list.v[last] = swap;
		break;
	case 4: s->list.v[at].begins_block ^= true; break;
	default: {
		static const unsigned char types[] = { REC_CLEAR, REC_SECTION,
			REC_META, REC_SOURCE, REC_MAY_SKIP | 0x20, 0x7f };

		/* of another kind, or one that comes once elsewhere */
		insert_parts(s, at, 1, at);
		s->list.v[at].type = types[below(seed, sizeof types)];
		s->list.v[at].body.len = 0;
		buf_varint(&s->list.v[at].body, below(seed, 4));
	}
	}
}

/* Rare records matter much: they are chosen as often as events. */
static void
change_once(struct stream_records *s, uint64_t *seed)
{
	static const unsigned char rare[] = { REC_STRING, REC_SHAPE, REC_TRACK,
		REC_SOURCE, REC_META, REC_SECTION, REC_HEADER, REC_SHAPE,
		REC_STRING };
	struct stream_record *r;

	switch (below(seed, 5)) {
	case 0: change_order(s, seed); return;
	case 1:
	case 2: r = any_of_type(s, rare[below(seed, sizeof rare)], seed); break;
	default: r = any_of_type(s, REC_EVENT, seed);
	}
	if (r->type == REC_EVENT)
		change_event(s, r, seed);
	else
		change_field(s, r, seed);
}

static void
stream_records_change(struct stream_records *s, uint64_t *seed)
{
	do {
		if (s->list.n == 0)
			return;
		change_once(s, seed);
	} while (below(seed, 3) != 0);
}

#endif

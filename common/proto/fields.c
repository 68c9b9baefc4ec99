/* SPDX-License-Identifier: MIT */
/* Fields of protobuf messages: see pull.h. */
#include "proto/pull.h"

#define FIELD_MAX ((UINT32_C(1) << 29) - 1)

void
proto_start_window(struct proto *m)
{
	m->error = NULL;
	m->at = m->offset = 0;
	m->depth = 0;
	m->ends[0] = UINT64_MAX;
}

void
proto_start(struct proto *m, const void *bytes, size_t len)
{
	m->p = bytes;
	m->end = m->p + len;
	m->eof = true;
	proto_start_window(m);
}

static enum proto_status
fail(struct proto *m, const char *error)
{
	m->error = error;
	return PROTO_BAD;
}

/* Bytes from p to the end of the current message. */
static uint64_t
left(const struct proto *m)
{
	return m->ends[m->depth] - m->offset;
}

/* The message, or the input, ends within a field. */
static enum proto_status
cut(struct proto *m, size_t have)
{
	if (have >= left(m))
		return fail(m, "a field runs past the end of its message");
	return m->eof ? fail(m, "the data end in a field") : PROTO_MORE;
}

static void
advance(struct proto *m, size_t n)
{
	m->p += n;
	m->offset += n;
}

static uint64_t
fixed(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

/* Reads the number at p + *n; moves *n past it. */
static enum proto_status
number(struct proto *m, enum proto_type type, size_t have, size_t *n)
{
	size_t len = type == PROTO_FIXED64 ? 8 : type == PROTO_FIXED32 ? 4 : 0;
	const unsigned char *p = m->p + *n;

	if (len > 0) {
		if (have - *n < len)
			return cut(m, have);
		m->u = fixed(p, len);
		*n += len;
		return PROTO_OK;
	}
	if (!varint_get(&p, m->p + have, &m->u))
		return have - *n >= VARINT_MAX
		    ? fail(m, "a number of more than 64 bits")
		    : cut(m, have);
	*n = (size_t)(p - m->p);
	return PROTO_OK;
}

/* Reads key and number, or key and length; moves past them only if complete. */
static enum proto_status
head(struct proto *m, size_t have)
{
	enum proto_status status;
	size_t n = 0;

	m->at = m->offset;
	if ((status = number(m, PROTO_VARINT, have, &n)) != PROTO_OK)
		return status;
	if (m->u >> 3 == 0 || m->u >> 3 > FIELD_MAX)
		return fail(m, "a field's number is out of range");
	m->field = (uint32_t)(m->u >> 3);
	switch (m->u & 7) {
	case PROTO_VARINT: m->type = PROTO_VARINT; break;
	case PROTO_FIXED64: m->type = PROTO_FIXED64; break;
	case PROTO_BYTES: m->type = PROTO_BYTES; break;
	case PROTO_FIXED32: m->type = PROTO_FIXED32; break;
	case 3:
	case 4: return fail(m, "a group, which is not read");
	default: return fail(m, "an unknown type of field");
	}
	if ((status = number(m, m->type, have, &n)) != PROTO_OK)
		return status;
	if (m->type == PROTO_BYTES && m->u > left(m) - n)
		return fail(m, "a field runs past the end of its message");
	if (m->type == PROTO_BYTES && m->u > PROTO_MAX_LEN)
		return fail(m, "a field of more than 2 GiB");
	advance(m, n);
	return PROTO_OK;
}

/* Bytes of the message that are in the window. */
static size_t
have_of(const struct proto *m)
{
	size_t have = (size_t)(m->end - m->p);

	return have < left(m) ? have : (size_t)left(m);
}

enum proto_status
proto_head(struct proto *m)
{
	size_t have = have_of(m);

	m->bytes = (struct str){ "", 0 };
	if (have > 0)
		return head(m, have);
	m->at = m->offset;
	if (m->depth > 0 && left(m) == 0) {
		m->depth--;
		return PROTO_END;
	}
	if (!m->eof)
		return PROTO_MORE;
	return m->depth == 0 ? PROTO_END : cut(m, have);
}

enum proto_status
proto_content(struct proto *m)
{
	if ((uint64_t)(m->end - m->p) < m->u)
		return m->eof ? fail(m, "the data end in a field") : PROTO_MORE;
	m->bytes = (struct str){ (const char *)m->p, (size_t)m->u };
	advance(m, m->bytes.len);
	return PROTO_OK;
}

enum proto_status
proto_skip(struct proto *m)
{
	size_t have = (size_t)(m->end - m->p);
	size_t n = have < m->u ? have : (size_t)m->u;

	advance(m, n);
	m->u -= n;
	if (m->u == 0)
		return PROTO_OK;
	return m->eof ? fail(m, "the data end in a field") : PROTO_MORE;
}

enum proto_status
proto_enter(struct proto *m)
{
	if (m->depth == PROTO_MAX_DEPTH)
		return fail(m, "messages in messages deeper than 100");
	m->ends[m->depth + 1] = m->offset + m->u;
	m->depth++;
	return PROTO_OK;
}

enum proto_status
proto_next(struct proto *m)
{
	const unsigned char *p = m->p;
	uint64_t offset = m->offset;
	enum proto_status status = proto_head(m);

	if (status == PROTO_OK && m->type == PROTO_BYTES)
		status = proto_content(m);
	if (status == PROTO_MORE) {
		m->p = p;
		m->offset = offset;
	}
	return status;
}

/* Why there is no next field. */
static bool
refuse(struct fields *f)
{
	struct proto m;

	proto_start(&m, f->p, (size_t)(f->end - f->p));
	f->error = proto_next(&m) == PROTO_BAD ? m.error : "a bad field";
	return false;
}

bool
fields_next_odd(struct fields *m)
{
	const unsigned char *p = m->p, *end = m->end;
	uint64_t key, n = 0;

	if (!varint_get(&p, end, &key) || key >> 3 == 0 || key >> 3 > FIELD_MAX)
		return refuse(m);
	switch (key & 7) {
	case PROTO_VARINT:
		if (!varint_get(&p, end, &m->u))
			return refuse(m);
		break;
	case PROTO_BYTES:
		if (!varint_get(&p, end, &n) || n > PROTO_MAX_LEN ||
		    n > (uint64_t)(end - p))
			return refuse(m);
		m->u = 0;
		m->bytes = (struct str){ (const char *)p, (size_t)n };
		break;
	case PROTO_FIXED64:
	case PROTO_FIXED32:
		n = (key & 7) == PROTO_FIXED64 ? 8 : 4;
		if (n > (uint64_t)(end - p))
			return refuse(m);
		m->u = n == 8 ? get_u64(p) : get_u32(p);
		break;
	default: return refuse(m);
	}
	m->field = (uint32_t)(key >> 3);
	m->type = (uint8_t)(key & 7);
	m->p = p + n;
	return true;
}

struct proto_numbers
proto_numbers(const struct fields *m, enum proto_type type)
{
	const unsigned char *p = (const unsigned char *)m->bytes.p;
	struct proto_numbers it = { .p = p, .end = p, .type = type };

	if (m->type == type) {
		it.is_single = true;
		it.single = m->u;
	} else if (m->type == PROTO_BYTES) {
		it.end = p + m->bytes.len;
	} else {
		it.is_bad = true;
	}
	return it;
}

bool
proto_number(struct proto_numbers *it, uint64_t *u)
{
	size_t n;

	if (it->is_single) {
		it->is_single = false;
		*u = it->single;
		return true;
	}
	if (it->p == it->end || it->is_bad)
		return false;
	if (it->type == PROTO_VARINT) {
		it->is_bad = !varint_get(&it->p, it->end, u);
		return !it->is_bad;
	}
	n = it->type == PROTO_FIXED64 ? 8 : 4;
	it->is_bad = n > (size_t)(it->end - it->p);
	if (it->is_bad)
		return false;
	*u = fixed(it->p, n);
	it->p += n;
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * One message, in a window that grows piece by piece: for all pieces the same
 * fields and end, or the same error at the same byte. A field's number decides
 * how its bytes are read, so that mutations reach all ways.
 */
#include <stdlib.h>

#include "proto/pull.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

struct outcome {
	uint64_t hash, at;
	const char *error;
};

/* A copy of the first n bytes, so that ASan sees where they end. */
struct window {
	const uint8_t *data;
	size_t size, shown, step;
	uint8_t *copy;
};

static void
show_more(struct window *w, struct proto *m)
{
	free(w->copy);
	w->shown = w->size - w->shown < w->step ? w->size : w->shown + w->step;
	w->copy = malloc(w->shown + 1);
	CHECK(w->copy != NULL);
	if (w->shown > 0)
		memcpy(w->copy, w->data, w->shown);
	m->p = w->copy + m->offset;
	m->end = w->copy + w->shown;
	m->eof = w->shown == w->size;
}

static void
add(struct outcome *o, uint64_t v)
{
	o->hash = hash_u64(o->hash ^ v);
}

static void
numbers(struct outcome *o, const struct proto *m)
{
	static const enum proto_type types[] = { PROTO_VARINT, PROTO_FIXED64,
		PROTO_FIXED32 };
	const struct fields f = {
		.type = (uint8_t)m->type, .u = m->u, .bytes = m->bytes
	};
	struct proto_numbers it = proto_numbers(&f, types[m->field % 3]);
	uint64_t u;

	while (proto_number(&it, &u))
		add(o, u);
	add(o, it.is_bad);
}

static enum proto_status
bytes(struct proto *m)
{
	switch (m->field % 3) {
	case 0: return proto_skip(m);
	case 1: return proto_enter(m);
	default: return proto_content(m);
	}
}

static struct outcome
read(const uint8_t *data, size_t size, size_t step)
{
	struct window w = { .data = data, .size = size, .step = step };
	struct outcome o = { 0 };
	struct proto m = { 0 };
	enum proto_status status = PROTO_OK;
	unsigned depth;

	proto_start_window(&m);
	show_more(&w, &m);
	do {
		depth = m.depth;
		while ((status = proto_head(&m)) == PROTO_MORE)
			show_more(&w, &m);
		if (status == PROTO_END)
			add(&o, 1);
		if (status != PROTO_OK)
			continue;
		add(&o, (uint64_t)m.field << 3 | m.type);
		add(&o, m.u);
		if (m.type == PROTO_BYTES)
			while ((status = bytes(&m)) == PROTO_MORE)
				show_more(&w, &m);
		if (status != PROTO_OK)
			continue;
		add(&o, hash_bytes(m.bytes.p, m.bytes.len));
		numbers(&o, &m);
	} while (status == PROTO_OK || (status == PROTO_END && depth > 0));
	o.error = m.error;
	o.at = m.at;
	CHECK((status == PROTO_BAD) == (m.error != NULL));
	CHECK(status != PROTO_END || m.offset == size);
	free(w.copy);
	return o;
}

/* A whole message's fields are those of one in a window. */
static void
compare_fields(const uint8_t *data, size_t size)
{
	struct fields f = fields_of((struct str){ (const char *)data, size });
	enum proto_status status;
	struct proto m;

	proto_start(&m, data, size);
	while ((status = proto_next(&m)) == PROTO_OK) {
		CHECK(fields_next(&f));
		CHECK(f.field == m.field && f.type == m.type &&
		    f.u == (m.type == PROTO_BYTES ? 0 : m.u));
		CHECK(m.type != PROTO_BYTES ||
		    (f.bytes.p == m.bytes.p && f.bytes.len == m.bytes.len));
	}
	CHECK(!fields_next(&f));
	CHECK(f.error == m.error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole = read(data, size, size + 1);
	struct outcome pieces = read(data, size, 1 + size / 7);
	struct outcome small;

	compare_fields(data, size);
	CHECK(whole.hash == pieces.hash && whole.error == pieces.error &&
	    whole.at == pieces.at);
	if (size > 2000)
		return 0;
	small = read(data, size, 1);
	CHECK(whole.hash == small.hash && whole.error == small.error &&
	    whole.at == small.at);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The decoder of the binary stream on hostile records: the input is the payload
 * of one block, without magic and checksum, which a fuzzer would not find. What
 * is decoded is encoded again, in both forms, and must be the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stream/ndjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool held, const char *what, const struct buf *a, const struct buf *b)
{
	if (held)
		return;
	fprintf(
	    stderr, "%s\n%.*s%.*s", what, (int)a->len, a->p, (int)b->len, b->p);
	abort();
}

/* The line of an event whose line is text, read and written again. */
static bool
again(struct ndjson_dec *nd, struct buf *text, struct buf *out)
{
	out->len = 0;
	buf_room(text, IN_PAD);
	memset(text->p + text->len, 0, IN_PAD);
	if (ndjson_line(nd, text->p, text->len - 1) != DEC_EVENT)
		return false;
	ndjson_put_event(out, nd->st, &nd->ev);
	return true;
}

/* Hostile text may change once on the way through NDJSON, but not twice. */
static void
check_ndjson(struct ndjson_dec *nd, struct buf *line)
{
	struct buf second = { 0 }, third = { 0 };

	if (again(nd, line, &second) && again(nd, &second, &third))
		must(second.len == third.len &&
			memcmp(second.p, third.p, third.len) == 0,
		    "NDJSON is not stable:", &second, &third);
	buf_free(&second);
	buf_free(&third);
}

/* All items of a payload as lines; false if it is malformed. */
static bool
lines_of(const uint8_t *data, size_t size, struct buf *lines, struct encoder *e,
    struct dict *st)
{
	struct dict *own = dict_create();
	struct ndjson_dec nd;
	struct decoder d;
	enum dec_status status;

	dec_start(&d, st);
	ndjson_start(&nd, own);
	nd.has_header = true;
	d.has_header = true;
	dec_block(&d, data, (uint32_t)size);
	while ((status = dec_next(&d)) != DEC_BLOCK_END && status != DEC_BAD &&
	    status != DEC_STREAM_END) {
		size_t start = lines->len;

		switch (status) {
		case DEC_EVENT: {
			struct buf line = { 0 };

			if (!event_is_sound(st, &d.ev))
				break;
			ndjson_put_event(&line, st, &d.ev);
			buf_put(lines, line.p, line.len);
			if (e != NULL) {
				check_ndjson(&nd, &line);
				enc_event(e, &d.ev);
			}
			buf_free(&line);
			break;
		}
		case DEC_SOURCE:
			ndjson_put_source(lines, &d.source);
			if (e != NULL)
				enc_source(e, &d.source);
			break;
		case DEC_META:
			ndjson_put_meta(lines, &d.meta);
			if (e != NULL)
				enc_meta(e, &d.meta);
			break;
		case DEC_SECTION:
			ndjson_put_section(lines, d.section);
			if (e != NULL)
				enc_section(e, d.section);
			break;
		default: break;
		}
		if (lines->len > start &&
		    memchr(lines->p + start, '\n', lines->len - start) !=
			lines->p + lines->len - 1)
			abort(); /* an item is one line */
	}
	dec_free(&d);
	ndjson_free(&nd);
	dict_destroy(own);
	return status != DEC_BAD;
}

/* The next event, or another result; many: heads many at a time. */
static enum dec_status
next_head(struct decoder *d, bool many, struct event_head *v, size_t *n)
{
	enum dec_status status;

	*n = many ? dec_heads(d, v, 3) : 0;
	if (*n > 0)
		return DEC_EVENT;
	status = dec_next(d);
	if (status == DEC_EVENT) {
		*v = event_head_of(&d->ev);
		*n = 1;
	}
	return status;
}

static void
put_head(struct buf *b, const struct event_head *h, bool is_call)
{
	buf_printf(b,
	    "%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu32 " %" PRIu32
	    " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
	    h->ts_ns, h->dur_ns, h->uid.id, h->uid.inst, h->shape, h->track,
	    h->name, h->flags);
	if (is_call)
		buf_printf(b, "depth %" PRIu32 ", %d %" PRId64 "\n", h->depth,
		    h->has_corr, h->has_corr ? h->corr : 0);
}

/* The heads of a payload, and how and where it ends. */
static void
heads_of(const uint8_t *data, size_t size, bool many, struct buf *to)
{
	const uint32_t heads = KINDS_HOST | KIND_BIT(KIND_PYTHON);
	struct dict *st = dict_create();
	struct event_head v[3];
	struct decoder d;
	enum dec_status status;
	size_t n;

	dec_start(&d, st);
	dec_choose(&d, heads | KINDS_GPU, heads, false);
	d.has_header = true;
	dec_block(&d, data, (uint32_t)size);
	do {
		status = next_head(&d, many, v, &n);
		for (size_t i = 0; i < n; i++)
			put_head(to, &v[i], head_is(st, &v[i], KINDS_LAUNCH));
	} while (status != DEC_BLOCK_END && status != DEC_BAD &&
	    status != DEC_STREAM_END);
	buf_printf(to, "%d at %zu of %" PRIu64 " events\n", (int)status,
	    (size_t)(d.p - data), d.nevents);
	dec_free(&d);
	dict_destroy(st);
}

static void
check_heads(const uint8_t *data, size_t size)
{
	struct buf one = { 0 }, many = { 0 };

	heads_of(data, size, false, &one);
	heads_of(data, size, true, &many);
	must(one.len == many.len && memcmp(one.p, many.p, one.len) == 0,
	    "many heads at a time are others:", &one, &many);
	buf_free(&one);
	buf_free(&many);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dict *st = dict_create(), *other = dict_create();
	struct buf first = { 0 }, second = { 0 };
	struct encoder e;

	/* so that numbers of strings differ from the stream's */
	(void)intern_put(other->text, STR("in front"));
	check_heads(data, size);
	enc_start(&e, st, false);
	(void)!lines_of(data, size, &first, &e, st);
	(void)!lines_of((const uint8_t *)e.block.p + WIRE_BLOCK_HEAD,
	    e.block.len - WIRE_BLOCK_HEAD, &second, NULL, other);
	must(first.len == second.len &&
		(first.len == 0 || memcmp(first.p, second.p, first.len) == 0),
	    "encoding and decoding changes events:", &first, &second);
	enc_free(&e);
	buf_free(&first);
	buf_free(&second);
	dict_destroy(st);
	dict_destroy(other);
	return 0;
}

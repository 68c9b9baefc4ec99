/* SPDX-License-Identifier: MIT */
/*
 * The reader of NDJSON lines. What is read is written; from then on reading and
 * writing change nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stream/ndjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The line of the item just read. */
static void
put(struct ndjson_dec *d, enum dec_status status, struct buf *b)
{
	b->len = 0;
	switch (status) {
	case DEC_EVENT: ndjson_put_event(b, d->st, &d->ev); break;
	case DEC_SOURCE: ndjson_put_source(b, &d->source); break;
	case DEC_META: ndjson_put_meta(b, &d->meta); break;
	case DEC_SECTION: ndjson_put_section(b, d->section); break;
	default: break;
	}
	buf_room(b, IN_PAD);
	memset(b->p + b->len, 0, IN_PAD);
}

static void
check_line(struct dict *st, const struct buf *line, enum dec_status was)
{
	struct ndjson_dec d;
	struct buf again = { 0 };
	enum dec_status status;

	if (line->len == 0)
		return;
	ndjson_start(&d, st);
	d.has_header = true;
	status = ndjson_line(&d, line->p, line->len - 1);
	if (status != was) {
		fprintf(stderr, "%s\n%.*s", d.error, (int)line->len, line->p);
		abort();
	}
	put(&d, status, &again);
	if (again.len != line->len ||
	    memcmp(again.p, line->p, line->len) != 0) {
		fprintf(stderr, "%.*s%.*s", (int)line->len, line->p,
		    (int)again.len, again.p);
		abort();
	}
	buf_free(&again);
	ndjson_free(&d);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dict *st = dict_create(), *other = dict_create();
	struct buf text = { 0 }, line = { 0 };
	struct ndjson_dec d;
	const char *p, *end;

	buf_put(&text, data, size);
	buf_putc(&text, '\n');
	buf_room(&text, IN_PAD);
	memset(text.p + text.len, 0, IN_PAD);
	ndjson_start(&d, st);
	p = text.p;
	end = p + text.len;
	d.has_header = size < 6 || memcmp(p, "{\"tl\":", 6) != 0;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		enum dec_status status = ndjson_line(&d, p, (size_t)(nl - p));

		if (status == DEC_STREAM_END)
			break;
		if (status == DEC_BAD) {
			if (d.error == NULL || d.at > (size_t)(nl - p))
				abort();
		} else {
			put(&d, status, &line);
			check_line(other, &line, status);
		}
		p = nl + 1;
	}
	ndjson_free(&d);
	buf_free(&text);
	buf_free(&line);
	dict_destroy(st);
	dict_destroy(other);
	return 0;
}

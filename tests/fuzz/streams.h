/* SPDX-License-Identifier: MIT */
/*
 * For fuzzers of code after the decoder of streams: the mutator, which changes
 * records and repairs lengths, counts and checksums, and the stream in both
 * forms.
 *
 *	struct forms f = { 0 };
 *	if (forms_read(&f, data, size))
 *		... f.binary and, if f.is_same, f.ndjson come to the same ...
 *	forms_free(&f);
 */
#ifndef TL_FUZZ_STREAMS_H
#define TL_FUZZ_STREAMS_H

#include "stream/ndjson.h"
#include "tests/fuzz/death.h"
#include "tests/fuzz/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Each text is followed by IN_PAD zeroes. */
struct forms {
	struct buf binary, ndjson;
	bool has_tree; /* it is one already */
	bool is_same;  /* as text that is no UTF-8 changes on the way */
};

/* Outside of what a jump back from die() loses. */
static struct {
	struct dict *dict;
	struct stream_in *in;
	uint32_t nsources;
} form;

static void
forms_pad(struct buf *b)
{
	buf_room(b, IN_PAD);
	memset(b->p + b->len, 0, IN_PAD);
}

/* False: it is no whole stream. */
static bool
forms_as_ndjson(const struct buf *text, struct buf *lines, bool *has_tree)
{
	enum item item;

	form.dict = dict_create();
	form.in = NULL;
	form.nsources = 0;
	if (setjmp(on_death) != 0) {
		if (form.in != NULL)
			stream_close(form.in);
		dict_destroy(form.dict);
		return false;
	}
	form.in = stream_open_in(
	    in_open_mem(text->p, text->len, "fuzz"), form.dict, WANT_STREAM);
	ndjson_put_header(lines, form.in->marks, form.in->prov, form.in->nprov);
	while ((item = stream_next(form.in)) != ITEM_END)
		switch (item) {
		case ITEM_EVENT:
			ndjson_put_event(lines, form.dict, &form.in->ev);
			break;
		case ITEM_SOURCE:
			form.nsources += form.in->source.is_final;
			ndjson_put_source(lines, &form.in->source);
			break;
		case ITEM_META: ndjson_put_meta(lines, &form.in->meta); break;
		case ITEM_SECTION:
			ndjson_put_section(lines, form.in->section);
			break;
		case ITEM_END: break;
		}
	*has_tree = (form.in->marks & MARK_TREE) != 0;
	ndjson_put_end(lines, form.in->nevents, form.nsources, form.in->marks);
	stream_close(form.in);
	dict_destroy(form.dict);
	forms_pad(lines);
	return true;
}

/* False: it is no whole stream, or none at all, which tl-decode would read. */
static bool
forms_read(struct forms *f, const uint8_t *data, size_t size)
{
	struct stream_records parts = { 0 };
	struct buf again = { 0 };
	bool is_good = stream_records_read(&parts, data, size), has_tree;

	stream_records_free(&parts);
	if (!is_good)
		return false;
	buf_put(&f->binary, data, size);
	forms_pad(&f->binary);
	if (!forms_as_ndjson(&f->binary, &f->ndjson, &f->has_tree))
		return false;
	is_good = forms_as_ndjson(&f->ndjson, &again, &has_tree);
	CHECK(is_good || f->has_tree); /* what we write can be read */
	f->is_same = again.len == f->ndjson.len &&
	    memcmp(again.p, f->ndjson.p, again.len) == 0 &&
	    str_find(buf_str(&again), STR("\xef\xbf\xbd"), false) < 0;
	buf_free(&again);
	return true;
}

static void
forms_free(struct forms *f)
{
	buf_free(&f->binary);
	buf_free(&f->ndjson);
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct stream_records parts = { 0 };
	struct buf out = { 0 };
	uint64_t state = seed;

	if (stream_records_read(&parts, data, size)) {
		stream_records_change(&parts, &state);
		stream_records_write(&parts, &out);
		if (out.len <= max_size && out.len > 0) {
			memcpy(data, out.p, out.len);
			size = out.len;
		}
	}
	stream_records_free(&parts);
	buf_free(&out);
	return size;
}

#endif

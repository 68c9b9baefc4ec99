/* SPDX-License-Identifier: MIT */
/* Writes streams: blocks or lines, provenance, the end record. */
#include "stream/ndjson.h"
#include "json/json.h"

#if __has_include("version.h")
#include "version.h"
#else
#define TL_VERSION "unknown"
#endif

struct stream_out {
	struct out *out;
	bool is_ndjson, is_bare;
	struct dict *st;
	struct encoder enc;
	struct buf lines;
	unsigned marks;
	uint64_t nevents;
	uint32_t nsources;
};

bool
stream_dest_opt(struct stream_dest *d, const struct optparse *op, int ch)
{
	switch (ch) {
	case 'o': d->path = op->arg; return true;
	case OPT_STREAM_NDJSON: d->ndjson = true; return true;
	case 'z':
		d->zstd = true;
		d->zstd_level = op->arg != NULL ? (int)opt_int(op, 1, 22) : 0;
		return true;
	default: return false;
	}
}

/* This program's own line: the command as a JSON list. */
static struct prov
own_prov(struct buf *b)
{
	int argc;
	char *const *argv = opt_command(&argc);

	buf_putc(b, '[');
	for (int i = 1; i < argc; i++) {
		if (i > 1)
			buf_putc(b, ',');
		json_put_string(b, str_of(argv[i]));
	}
	buf_putc(b, ']');
	return (struct prov){ str_of(err_program_name()), str_of(TL_VERSION),
		buf_str(b) };
}

static void
put_head(struct stream_out *o, const struct stream_in *in, unsigned marks)
{
	struct buf args = { 0 };
	VEC(struct prov) prov = { 0 };

	if (in != NULL)
		for (size_t i = 0; i < in->nprov; i++)
			vec_push(&prov, in->prov[i]);
	vec_push(&prov, own_prov(&args));
	if (o->is_ndjson) {
		ndjson_put_header(&o->lines, marks, prov.v, prov.n);
	} else {
		out_write(o->out, WIRE_MAGIC, WIRE_MAGIC_LEN);
		enc_header(&o->enc, marks, prov.v, prov.n);
	}
	vec_free(&prov);
	buf_free(&args);
}

struct stream_out *
stream_create(const struct stream_dest *dest, struct dict *dict,
    const struct stream_in *in, unsigned marks, bool eager)
{
	struct stream_out *o = xcalloc(1, sizeof *o);

	o->st = dict;
	o->is_ndjson = dest->ndjson;
	o->is_bare = dest->bare && dest->ndjson;
	o->marks = marks;
	o->out = out_open(dest->path);
	if (!o->is_ndjson && out_is_terminal(o->out))
		die_usage("a binary stream cannot go to a terminal: pipe it, "
			  "view it with tl-cat, or use --ndjson");
	if (dest->zstd)
		out_zstd(o->out, dest->zstd_level);
	if (!o->is_ndjson)
		enc_start(&o->enc, dict, eager);
	if (!o->is_bare)
		put_head(o, in, marks);
	return o;
}

static void
send_block(struct stream_out *o)
{
	if (o->enc.block.len - WIRE_BLOCK_HEAD > WIRE_MAX_BLOCK)
		die("an event and its strings take over %u bytes, more than a "
		    "stream can hold in one block",
		    WIRE_MAX_BLOCK);
	enc_close_block(&o->enc);
	out_write(o->out, o->enc.block.p, o->enc.block.len);
	enc_open_block(&o->enc);
}

static void
send_lines(struct stream_out *o)
{
	out_write(o->out, o->lines.p, o->lines.len);
	o->lines.len = 0;
}

static inline void
sent_record(struct stream_out *o)
{
	if (o->is_ndjson) {
		if (o->lines.len >= WIRE_BLOCK_TARGET)
			send_lines(o);
	} else if (o->enc.block.len >= WIRE_BLOCK_TARGET) {
		send_block(o);
	}
}

void
stream_write(struct stream_out *o, const struct event *ev)
{
	o->nevents++;
	if (o->is_ndjson)
		ndjson_put_event(&o->lines, o->st, ev);
	else {
		/* a tree writes all strings before its first event */
		while (UNLIKELY(enc_tell(&o->enc)))
			send_block(o);
		enc_event(&o->enc, ev);
	}
	sent_record(o);
}

void
stream_write_source(struct stream_out *o, const struct source *s)
{
	o->nsources += s->is_final;
	if (o->is_bare)
		return;
	if (o->is_ndjson)
		ndjson_put_source(&o->lines, s);
	else
		enc_source(&o->enc, s);
	sent_record(o);
}

void
stream_write_meta(struct stream_out *o, const struct meta *m)
{
	if (o->is_bare)
		return;
	if (o->is_ndjson)
		ndjson_put_meta(&o->lines, m);
	else
		enc_meta(&o->enc, m);
	sent_record(o);
}

void
stream_write_section(struct stream_out *o, enum section s)
{
	if (o->is_bare)
		return;
	if (o->is_ndjson)
		ndjson_put_section(&o->lines, s);
	else
		enc_section(&o->enc, s);
	sent_record(o);
}

void
stream_pass_on(struct stream_out *o, const struct stream_in *in, enum item item)
{
	switch (item) {
	case ITEM_EVENT: stream_write(o, &in->ev); break;
	case ITEM_SOURCE: stream_write_source(o, &in->source); break;
	case ITEM_META: stream_write_meta(o, &in->meta); break;
	case ITEM_SECTION: stream_write_section(o, in->section); break;
	case ITEM_END: break;
	}
}

void
stream_mark(struct stream_out *o, unsigned marks)
{
	o->marks |= marks;
}

void
stream_write_clear(struct stream_out *o)
{
	if (!o->is_ndjson)
		enc_clear(&o->enc);
}

void
stream_flush(struct stream_out *o)
{
	if (o->is_ndjson)
		send_lines(o);
	else if (o->enc.block.len > WIRE_BLOCK_HEAD)
		send_block(o);
	out_flush(o->out);
}

void
stream_park(struct stream_out *o)
{
	stream_flush(o);
	out_park(o->out);
	buf_free(&o->lines);
	if (!o->is_ndjson) {
		buf_free(&o->enc.block);
		enc_open_block(&o->enc);
	}
}

uint64_t
stream_written(const struct stream_out *o)
{
	return o->nevents;
}

void
stream_finish(struct stream_out *o)
{
	if (o->is_ndjson) {
		if (!o->is_bare)
			ndjson_put_end(
			    &o->lines, o->nevents, o->nsources, o->marks);
		send_lines(o);
	} else {
		enc_end(&o->enc, o->marks);
		send_block(o);
		enc_free(&o->enc);
	}
	out_finish(o->out);
	buf_free(&o->lines);
	vec_release(o);
}

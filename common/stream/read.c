/* SPDX-License-Identifier: MIT */
/* Reading streams, item by item, in both encodings. */
#include "stream/in.h"
#include "stream/marks.h"

noreturn void
stream_die_at(const struct stream_in *s, uint64_t at, const char *reason)
{
	if (s->dec->is_ndjson)
		die("%s: byte %" PRIu64 " (line %" PRIu64 "): %s", s->name, at,
		    s->dec->line, reason);
	die("%s: byte %" PRIu64 ": %s", s->name, at, reason);
}

noreturn void
stream_die_cut(const struct stream_in *s)
{
	const struct in *in = s->dec->in;

	if (s->dec->helper != NULL)
		helper_blame(s->dec->helper);
	stream_die_at(s, in_offset(in, in->end),
	    "the stream was cut off: it has no end record");
}

/* ---- binary ---- */

/* Makes the next block current. */
static void
next_block(struct stream_in *s)
{
	struct stream_dec *sd = s->dec;
	struct in *in = sd->in;
	uint32_t len, crc;

	if (sd->in_block)
		in->p = sd->bin.end;
	in_release(in);
	if (!in_need(in, WIRE_BLOCK_HEAD))
		stream_die_cut(s);
	if (!dec_block_head(&sd->bin, in->p, &len, &crc))
		stream_die_at(s, in_offset(in, in->p), sd->bin.error);
	if (!in_need(in, (size_t)WIRE_BLOCK_HEAD + len))
		stream_die_cut(s);
	if (wire_crc32(0, in->p + WIRE_BLOCK_HEAD, len) != crc)
		stream_die_at(s, in_offset(in, in->p),
		    "the block's checksum is wrong: the stream is damaged");
	dec_block(&sd->bin, in->p + WIRE_BLOCK_HEAD, len);
	sd->in_block = true;
}

/* Nothing may follow the end record. */
static void
check_end(struct stream_in *s)
{
	struct stream_dec *sd = s->dec;
	struct in *in = sd->in;

	if (sd->is_ndjson) {
		while (in_need(in, 1)) {
			if (*in->p != '\n')
				stream_die_at(s, in_offset(in, in->p),
				    "text follows the line \"end\"; join "
				    "streams with tl-cat a.tl b.tl");
			in->p++;
		}
	} else {
		in->p = sd->bin.end;
		if (in_need(in, 1))
			stream_die_at(s, in_offset(in, in->p),
			    "bytes follow the end record; join streams with "
			    "tl-cat a.tl b.tl");
	}
	sd->ended = true;
	if (sd->helper != NULL) {
		helper_finish(sd->helper);
		sd->helper = NULL;
	}
}

static enum item
finish(struct stream_in *s)
{
	bool had_helper = s->dec->helper != NULL;

	check_end(s);
	/* the helper has reported it */
	if ((s->marks & MARK_SALVAGED) != 0 && !had_helper && !s->is_told)
		report(MSG_SALVAGED, s->name);
	return ITEM_END;
}

static enum item
on_source(struct stream_in *s, const struct source *source)
{
	s->source = *source;
	/* the helper has reported it */
	if (!source->is_final || s->is_told)
		return ITEM_SOURCE;
	stream_tell_marks(s->name, source);
	if (s->dec->helper != NULL)
		return ITEM_SOURCE;
	stream_tell_skipped(s->name, source);
	if (s->dec->want >= WANT_LINKED)
		stream_tell_links(s->name, source);
	if (s->dec->want >= WANT_TREE)
		stream_tell_tree(s->name, source);
	return ITEM_SOURCE;
}

static enum item
next_binary(struct stream_in *s)
{
	struct stream_dec *sd = s->dec;
	struct decoder *d = &sd->bin;

	for (;;) {
		/* after dec_heads() all that is not read has been skipped */
		if (d->heads == 0 && (d->kinds != KINDS_ALL || d->only_owners))
			(void)dec_heads(d, NULL, 0);
		switch (dec_next(d)) {
		case DEC_EVENT: s->nevents = d->nevents; return ITEM_EVENT;
		case DEC_SOURCE: return on_source(s, &d->source);
		case DEC_META: s->meta = d->meta; return ITEM_META;
		case DEC_SECTION: s->section = d->section; return ITEM_SECTION;
		case DEC_HEADER:
			s->marks = d->marks;
			s->prov = d->prov.v;
			s->nprov = d->prov.n;
			break;
		case DEC_STREAM_END:
			s->marks = d->marks;
			s->nevents = d->nevents;
			return finish(s);
		case DEC_BLOCK_END: next_block(s); break;
		case DEC_BAD:
			stream_die_at(s, in_offset(sd->in, d->p), d->error);
		}
	}
}

/* ---- NDJSON ---- */

/* The next line without its newline; moves in->p past it. */
struct str
stream_next_line(struct stream_in *s)
{
	struct in *in = s->dec->in;
	size_t seen = 0;

	for (;;) {
		size_t len = (size_t)(in->end - in->p);
		const unsigned char *nl =
		    len > seen ? memchr(in->p + seen, '\n', len - seen) : NULL;

		if (nl != NULL) {
			struct str line = { (const char *)in->p,
				(size_t)(nl - in->p) };

			in->p = nl + 1;
			s->dec->line++;
			return line;
		}
		seen = len;
		/* a last line without newline may be cut off: an error */
		if (!in_more(in))
			stream_die_cut(s);
	}
}

static enum item
next_ndjson(struct stream_in *s)
{
	struct stream_dec *sd = s->dec;
	struct ndjson_dec *d = &sd->nd;

	for (;;) {
		struct str line;

		in_release(sd->in);
		line = stream_next_line(s);
		switch (ndjson_line(d, line.p, line.len)) {
		case DEC_EVENT:
			s->nevents++;
			if (!dec_wants(&sd->bin, d->ev.shape))
				break;
			s->ev = d->ev;
			return ITEM_EVENT;
		case DEC_SOURCE: return on_source(s, &d->source);
		case DEC_META: s->meta = d->meta; return ITEM_META;
		case DEC_SECTION: s->section = d->section; return ITEM_SECTION;
		case DEC_HEADER:
			s->marks = d->marks;
			s->prov = d->prov.v;
			s->nprov = d->prov.n;
			break;
		case DEC_STREAM_END: s->marks = d->marks; return finish(s);
		case DEC_BLOCK_END: break;
		case DEC_BAD:
			stream_die_at(s,
			    in_offset(sd->in, (const unsigned char *)line.p) +
				d->at,
			    d->error);
		}
	}
}

enum item
stream_next(struct stream_in *s)
{
	if (UNLIKELY(s->dec->ended))
		return ITEM_END;
	return s->dec->is_ndjson ? next_ndjson(s) : next_binary(s);
}

size_t
stream_heads(struct stream_in *s, struct event_head *v, size_t n)
{
	return s->dec->is_ndjson ? 0 : dec_heads(&s->dec->bin, v, n);
}

void
stream_only(struct stream_in *s, uint32_t kinds)
{
	const struct decoder *d = &s->dec->bin;

	dec_choose(&s->dec->bin, kinds, d->heads, d->only_owners);
}

void
stream_only_heads(struct stream_in *s, uint32_t kinds)
{
	const struct decoder *d = &s->dec->bin;

	dec_choose(&s->dec->bin, d->kinds, kinds, d->only_owners);
}

void
stream_only_owners(struct stream_in *s)
{
	const struct decoder *d = &s->dec->bin;

	dec_choose(&s->dec->bin, d->kinds, d->heads, true);
}

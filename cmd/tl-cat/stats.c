/* SPDX-License-Identifier: MIT */
/*
 * stats: what takes how many bytes.
 *
 * The stream is encoded again and the records are counted, so that NDJSON and
 * raw traces have an answer, too: what they take as a binary stream.
 */
#include "cat.h"
#include "stream/wire.h"
#include "table/table.h"

struct count {
	uint64_t n, bytes;
};

struct byte_stats {
	struct dict *dict;
	struct encoder enc;
	struct sources sources;
	struct count kinds[KIND_COUNT];
	struct count records[256];
	struct count blocks;
	size_t counted; /* bytes of the block so far */
};

/* Records that were added to the block, by type; events are known by kind. */
static void
count_records(struct byte_stats *s, enum kind kind)
{
	const unsigned char *base = (const unsigned char *)s->enc.block.p;
	const unsigned char *p = base + s->counted;
	const unsigned char *end = base + s->enc.block.len;

	while (p < end) {
		const unsigned char *start = p;
		unsigned type = *p++;
		struct count *c = &s->records[type];
		uint64_t len;

		if (!varint_get(&p, end, &len))
			break;
		p += len;
		if (type == REC_EVENT)
			c = &s->kinds[kind];
		c->n++;
		c->bytes += (uint64_t)(p - start);
	}
	s->counted = s->enc.block.len;
	if (s->counted < WIRE_BLOCK_TARGET)
		return;
	s->blocks.n++;
	s->blocks.bytes += WIRE_BLOCK_HEAD;
	enc_open_block(&s->enc);
	s->counted = s->enc.block.len;
}

static void
count_file(struct byte_stats *s, const char *path)
{
	struct stream_in *in = stream_open(path, s->dict, WANT_STREAM);
	enum item item;

	numbering_input(&s->sources.numbers);
	while ((item = stream_next(in)) != ITEM_END) {
		enum kind kind = KIND_OTHER;

		switch (item) {
		case ITEM_EVENT:
			numbering_event(&s->sources.numbers, &in->ev);
			kind = in->ev.shape->kind;
			enc_event(&s->enc, &in->ev);
			break;
		case ITEM_SOURCE: enc_source(&s->enc, &in->source); break;
		case ITEM_META: enc_meta(&s->enc, &in->meta); break;
		case ITEM_SECTION: enc_section(&s->enc, in->section); break;
		case ITEM_END: break;
		}
		count_records(s, kind);
	}
	stream_close(in);
}

static const struct column columns[] = {
	{ "what", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "bytes", NULL, COL_INT, UNIT_BYTES, COL_SHARE, 0 },
	{ "bytes_each", NULL, COL_REAL, UNIT_NONE, 0, 0 },
};

static void
add_row(struct table *t, const char *what, struct count c)
{
	struct cell *row;

	if (c.n == 0)
		return;
	row = table_row(t);
	row[0] = cell_text(str_of(what));
	row[1] = cell_int((int64_t)c.n);
	row[2] = cell_int((int64_t)c.bytes);
	row[3] = cell_real((double)c.bytes / (double)c.n);
}

static void
add_to(struct count *sum, struct count c)
{
	sum->n += c.n;
	sum->bytes += c.bytes;
}

static void
add_rows(struct table *t, const struct byte_stats *s)
{
	static const struct {
		unsigned type;
		const char *word;
	} others[] = {
		{ REC_STRING, "strings" },
		{ REC_SHAPE, "shapes" },
		{ REC_TRACK, "tracks" },
		{ REC_SOURCE, "sources" },
		{ REC_META, "metadata" },
		{ REC_SECTION, "sections" },
	};
	struct count events = { 0, 0 }, all = s->blocks;

	for (int k = 0; k < KIND_COUNT; k++) {
		add_row(t, kind_words[k], s->kinds[k]);
		add_to(&events, s->kinds[k]);
	}
	add_row(t, "all events", events);
	add_to(&all, events);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		add_row(t, others[i].word, s->records[others[i].type]);
		add_to(&all, s->records[others[i].type]);
	}
	add_row(t, "blocks", s->blocks);
	/* of the whole the interesting quotient is by event */
	all.n = events.n;
	add_row(t, "whole stream", all);
}

void
cat_stats(const struct settings *set)
{
	struct table_dest dest = {
		.path = set->dest.path,
		.no_header = set->no_header,
		.top = TABLE_TOP_ALL,
	};
	struct byte_stats s = { .dict = dict_create() };
	struct table *t;

	if (set->dest.zstd)
		die_usage("--zstd does not go with --stats");
	if (set->dest.ndjson)
		dest.format = FMT_NDJSON;
	enc_start(&s.enc, s.dict, false);
	sources_start(&s.sources, s.dict);
	s.counted = s.enc.block.len;
	for (size_t i = 0; set->files[i] != NULL; i++)
		count_file(&s, set->files[i]);
	s.blocks.n++;
	s.blocks.bytes += WIRE_BLOCK_HEAD;
	t = table_create("stream", columns, 4);
	add_rows(t, &s);
	table_print(t, &dest);
	table_destroy(t);
	table_dest_finish(&dest);
}

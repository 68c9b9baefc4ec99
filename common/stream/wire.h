/* SPDX-License-Identifier: MIT */
/*
 * wire: the binary form of tl-stream(5), private to this area. All of it is
 * pure: bytes in, status out.
 *
 * A stream is the magic and then blocks. A block is a header of 16 bytes
 * (magic, length of the payload, CRC-32 of the payload, 0) and a payload of
 * records; a record is a type byte, a varint length and a body. Ids and times
 * are differences to the previous event of the block.
 */
#ifndef TL_STREAM_WIRE_H
#define TL_STREAM_WIRE_H

#include "base/varint.h"
#include "stream/stream.h"

#define WIRE_MAGIC "\x89TLS\x01\r\n\n"
#define WIRE_MAGIC_LEN 8
#define WIRE_BLOCK_MAGIC "TLBK"
#define WIRE_BLOCK_HEAD 16
/* A block is closed at this size. */
#define WIRE_BLOCK_TARGET 65536
/* Longest payload; a single text of a trace must fit. */
#define WIRE_MAX_BLOCK (UINT32_C(1) << 29)
/* Numbers of an event before its values, each of at most 10 bytes. */
#define WIRE_HEAD_MAX 192
#define WIRE_MAX_ID (UINT64_C(1) << 62)
#define WIRE_MAX_SRC (UINT32_C(1) << 24)
/*
 * How far numbers of sources may be ahead of the records that name one. A job's
 * ranks may have gaps; but a few bytes must not create a million sources, for
 * each of which programs keep data.
 */
#define WIRE_SRC_AHEAD (UINT32_C(1) << 16)
#define WIRE_BAD_SRC                                                      \
	"the number of a source is far beyond those before: sources are " \
	"numbered from 0 on"
#define WIRE_BAD_END "the event ends beyond 2^63 ns"
#define WIRE_MAX_FACTS (UINT32_C(1) << 20)

enum {
	REC_STRING = 0x01,
	REC_CLEAR = 0x02,
	REC_SHAPE = 0x03,
	REC_TRACK = 0x04,
	REC_SOURCE = 0x05,
	REC_META = 0x06,
	REC_SECTION = 0x07,
	REC_HEADER = 0x08,
	REC_END = 0x0f,
	REC_EVENT = 0x10,
	REC_MAY_SKIP = 0x80, /* bit: readers skip it if unknown */
};

/* Whether a record may name this source; nnamed: how many have named one so
 * far. */
static inline bool
wire_src_is_near(uint32_t src, uint64_t *nnamed)
{
	return src <= WIRE_SRC_AHEAD + (*nnamed)++;
}

static inline void
put_u32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
	p[2] = (unsigned char)(v >> 16);
	p[3] = (unsigned char)(v >> 24);
}

/* CRC-32 of IEEE 802.3 (as in gzip), continued from crc; start with 0. */
uint32_t wire_crc32(uint32_t crc, const void *p, size_t n);

/* ---- enc ---- */

/*
 * Events to records. block grows; once it is long enough, the caller closes it
 * (enc_close_block), takes it and empties it.
 */
struct encoder {
	struct dict *st;
	bool eager;
	struct buf block; /* WIRE_BLOCK_HEAD bytes, then the payload */
	uint64_t next_id; /* expected in this block */
	int64_t prev_ts;
	uint32_t told;                    /* eager: strings written so far */
	uint32_t nstrings;                /* lazy: the same */
	VEC(uint32_t) string_no;          /* lazy: number + 1 by id */
	VEC(uint32_t) shape_no, track_no; /* number + 1 by id */
	uint32_t nshapes, ntracks;
	uint64_t nevents;
	uint32_t nsources;
	uint32_t chain; /* CRC over the blocks' CRCs */
	struct buf scratch;
};

void enc_start(struct encoder *e, struct dict *st, bool eager);
void enc_header(
    struct encoder *e, unsigned marks, const struct prov *prov, size_t nprov);
void enc_event(struct encoder *e, const struct event *ev);
void enc_source(struct encoder *e, const struct source *s);
void enc_meta(struct encoder *e, const struct meta *m);
void enc_section(struct encoder *e, enum section s);
void enc_clear(struct encoder *e);
/*
 * Eager: writes strings until all are written or the block is full; true: there
 * are more. Call before the first event.
 */
bool enc_tell_strings(struct encoder *e, size_t until);
static inline bool
enc_tell(struct encoder *e)
{
	return UNLIKELY(e->told < e->st->text->list.n) && e->eager &&
	    enc_tell_strings(e, WIRE_BLOCK_TARGET);
}

void enc_end(struct encoder *e, unsigned marks);
/* Fills in the header, which completes the block. */
void enc_close_block(struct encoder *e);
void enc_open_block(struct encoder *e);
void enc_free(struct encoder *e);

/* ---- dec ---- */

enum dec_status {
	DEC_EVENT,
	DEC_SOURCE,
	DEC_META,
	DEC_SECTION,
	DEC_HEADER, /* marks and prov are set */
	DEC_STREAM_END,
	DEC_BLOCK_END, /* end of the payload */
	DEC_BAD,       /* error and p have reason and place */
};

/* What is read of events of a shape; USE_CALL: a head and its correlation. */
enum wire_use { USE_NOTHING, USE_HEAD, USE_CALL, USE_ALL };

struct wire_shape {
	uint32_t id; /* in st */
	uint16_t has;
	uint8_t use;
	/* of USE_CALL: varints from the references (one or two each) to the
	 * correlation; or WIRE_NO_CORR */
	uint8_t before_corr;
};
#define WIRE_NO_CORR UINT8_MAX

/* What is read of a call after its head. */
struct wire_call {
	uint32_t depth;
	bool has_corr;
	int64_t corr;
};

/* Records of one stream to items. */
struct decoder {
	struct dict *st;
	/* set by dec_choose() */
	uint32_t kinds;   /* others are skipped */
	uint32_t heads;   /* of these only the head is read */
	bool only_owners; /* and host events only with GPU work below */
	struct event *to; /* destination of events: &ev, or the reader's */
	const unsigned char *p, *end;          /* in the payload */
	unsigned char tail[2 * WIRE_HEAD_MAX]; /* a copy of the last event,
	                                        * padded with 0 */
	const char *error;
	bool has_header;
	uint64_t next_id;
	int64_t prev_ts;
	bool identity; /* numbers of strings equal those in st */
	VEC(uint32_t) strings, tracks;
	VEC(struct wire_shape) shapes;
	uint64_t nevents;
	uint64_t nnamed; /* records that name a source */
	uint32_t nsources;
	uint32_t chain;
	/* results */
	struct event ev;
	struct source source;
	struct meta meta;
	enum section section;
	unsigned marks;
	VEC(struct prov) prov;
	VEC(struct fact) facts;
	struct arena *mem;
	/* of the end record */
	uint64_t end_events;
	uint32_t end_sources, end_chain;
};

/* Whether events of a shape are read. */
static inline bool
dec_wants(const struct decoder *d, const struct shape *s)
{
	const uint32_t host = KINDS_HOST | KIND_BIT(KIND_PYTHON);

	if (d->only_owners && (s->has & HAS_NGPU) == 0 &&
	    (KIND_BIT(s->kind) & host) != 0)
		return false;
	return (d->kinds & KIND_BIT(s->kind)) != 0;
}

/* ---- shared by the files of dec ---- */

static inline enum dec_status
dec_bad(struct decoder *d, const char *error)
{
	d->error = error;
	return DEC_BAD;
}

/* A number below limit. */
static inline bool
dec_small(const unsigned char **p, const unsigned char *end, uint64_t limit,
    uint32_t *v)
{
	uint64_t u;

	if (!varint_get(p, end, &u) || u >= limit)
		return false;
	*v = (uint32_t)u;
	return true;
}

/* A definition of a string, shape or track, or a reset of them. */
enum dec_status dec_define(struct decoder *d, unsigned type,
    const unsigned char *p, const unsigned char *end);

/* ---- dec ---- */

void dec_start(struct decoder *d, struct dict *st);
/* Sets which events are read, and how much of them. */
void dec_choose(
    struct decoder *d, uint32_t kinds, uint32_t heads, bool only_owners);
/* A header of 16 bytes: the payload's length and CRC; false: sets error. */
bool dec_block_head(struct decoder *d, const unsigned char *head, uint32_t *len,
    uint32_t *crc) USE_RESULT;
void dec_block(struct decoder *d, const unsigned char *payload, uint32_t len);
enum dec_status dec_next(struct decoder *d);
/* ---- heads.c ---- */

/* What is read of a call, from behind its head on. */
bool dec_call(const unsigned char *p, const unsigned char *end,
    struct wire_shape w, struct wire_call *call) USE_RESULT;
/*
 * The heads that come next, n at most and all of one source; events that are
 * not read are passed over. It stops in front of all else, and of what is
 * malformed: dec_next() says what that is.
 */
size_t dec_heads(struct decoder *d, struct event_head *v, size_t n);
void dec_free(struct decoder *d);

#endif

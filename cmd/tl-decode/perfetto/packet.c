/* SPDX-License-Identifier: MIT */
/* Packets, compressed ones too. */
#include "cmd/tl-decode/perfetto/usual.h"

#include <zlib.h>
#include <zstd.h>

#define UNPACKED_MAX (UINT64_C(256) << 20)
#define PACKED_DEPTH 2 /* deeper nested packets are refused */

/* sequence_flags */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* Rare parts of a packet, in the order of use. */
enum part {
	PART_ZLIB,
	PART_ZSTD,
	PART_DEFAULTS,
	PART_INTERNED,
	PART_SNAPSHOT,
	PART_TRACK,
	PART_THREAD,
	PART_PROCESS,
	PART_NAMES,
	PART_STAGE,
	PART_COUNTERS,
	PARTS_N
};

struct packet {
	uint64_t timestamp, clock, sequence, flags;
	uint32_t ntimestamps; /* the last one counts */
	bool is_dropped, is_first;
	bool is_other; /* of another data source: counted only */
	uint32_t has;  /* a bit per part that is not empty */
	struct str event;
	struct str parts[PARTS_N];
};

static bool
has_part(const struct packet *k, enum part part)
{
	return (k->has >> part & 1) != 0;
}

static void
read_part(struct packet *k, enum part part, struct fields m)
{
	bool has = m.type == PROTO_BYTES && m.bytes.len > 0;

	k->parts[part] = m.bytes;
	k->has &= ~(UINT32_C(1) << part);
	k->has |= (uint32_t)has << part;
}

static __attribute__((noinline)) void
read_seldom(struct packet *k, struct fields m)
{
	switch (m.field) {
	case 2: read_part(k, PART_NAMES, m); break;
	case 6: read_part(k, PART_SNAPSHOT, m); break;
	case 12: read_part(k, PART_INTERNED, m); break;
	case 41: k->flags |= m.u != 0 ? STATE_CLEARED : 0; break;
	case 42: k->is_dropped = m.u != 0; break;
	case 43: read_part(k, PART_PROCESS, m); break;
	case 44: read_part(k, PART_THREAD, m); break;
	case 50: read_part(k, PART_ZLIB, m); break;
	case 52: read_part(k, PART_COUNTERS, m); break;
	case 53: read_part(k, PART_STAGE, m); break;
	case 59: read_part(k, PART_DEFAULTS, m); break;
	case 60: read_part(k, PART_TRACK, m); break;
	case 87: k->is_first = m.u != 0; break;
	case 133: read_part(k, PART_ZSTD, m); break;
	case 1: /* ftrace */
	case 7: /* statistics of system and processes, power, logs */
	case 9:
	case 38:
	case 39:
	case 40:
	case 37: /* heap and CPU profiles, memory graphs */
	case 46:
	case 54:
	case 56:
	case 66: k->is_other = true; break;
	default: break;
	}
}

/* Any field. */
static __attribute__((noinline)) void
read_field(struct packet *k, const struct fields *m)
{
	switch (m->field) {
	case 8:
		if (m->type == PROTO_VARINT) {
			k->timestamp = m->u;
			k->ntimestamps++;
		}
		break;
	case 10: k->sequence = m->u; break;
	case 11:
		k->event = m->bytes;
		if (m->type != PROTO_BYTES)
			k->event.len = 0;
		break;
	case 13: k->flags |= m->u; break;
	case 58: k->clock = m->u; break;
	default: read_seldom(k, *m); break;
	}
}

static inline bool
read_packet(struct perfetto *p, struct str bytes, struct packet *k)
{
	struct fields m = fields_of(bytes);
	uint64_t flags;

	k->timestamp = k->clock = k->sequence = k->flags = 0;
	k->is_dropped = k->is_first = k->is_other = false;
	k->has = k->ntimestamps = 0;
	k->event.len = 0;
	while (m.p < m.end) {
		switch (*m.p) { /* fields of most packets */
		case PROTO_TAG(8, PROTO_VARINT):
			if (!fields_usual(&m, &k->timestamp))
				break;
			k->ntimestamps++;
			continue;
		case PROTO_TAG(10, PROTO_VARINT):
			if (!fields_usual(&m, &k->sequence))
				break;
			continue;
		case PROTO_TAG(11, PROTO_BYTES):
			if (!fields_usual_bytes(&m, &k->event))
				break;
			continue;
		case PROTO_TAG(13, PROTO_VARINT):
			if (!fields_usual(&m, &flags))
				break;
			k->flags |= flags;
			continue;
		default: break;
		}
		if (!perfetto_next_fast(p, &m))
			break;
		read_field(k, &m);
	}
	return perfetto_is_good(p, m.error);
}

/* Packets in decompressed bytes. */
static bool
read_packed(struct perfetto *p, struct str bytes, unsigned depth)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m))
		if (m.field == 1 && m.type == PROTO_BYTES &&
		    !perfetto_packet(p, m.bytes, depth + 1))
			return false;
	return p->fault == NULL;
}

static bool
inflate_all(struct str s, struct buf *out)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)s.p,
		.avail_in = (unsigned)s.len };
	int rc = inflateInit2(&z, 15 + 32); /* zlib or gzip header */

	while (rc == Z_OK && out->len < UNPACKED_MAX) {
		buf_room(out, 65536);
		z.next_out = (unsigned char *)out->p + out->len;
		z.avail_out = (unsigned)(out->cap - out->len < 1 << 30
			? out->cap - out->len
			: 1 << 30);
		size_t room = z.avail_out;

		rc = inflate(&z, Z_NO_FLUSH);
		out->len += room - z.avail_out;
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END;
}

static bool
zstd_all(struct str s, struct buf *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { s.p, s.len, 0 };
	size_t rc = 1;

	while (rc != 0 && !ZSTD_isError(rc) && out->len < UNPACKED_MAX) {
		ZSTD_outBuffer to;
		size_t was = in.pos;

		buf_room(out, 65536);
		to = (ZSTD_outBuffer){ out->p + out->len, out->cap - out->len,
			0 };
		rc = ZSTD_decompressStream(z, &to, &in);
		out->len += to.pos;
		if (to.pos == 0 && in.pos == was)
			break;
	}
	ZSTD_freeDStream(z);
	return rc == 0;
}

/* Padded like a window. */
static struct str
padded(struct buf *b)
{
	buf_room(b, IN_PAD);
	memset(b->p + b->len, 0, IN_PAD);
	return buf_str(b);
}

static bool
read_compressed(struct perfetto *p, struct str s, bool is_zstd, unsigned depth)
{
	struct buf out = { 0 };
	bool is_good = is_zstd ? zstd_all(s, &out) : inflate_all(s, &out);

	if (is_good && depth >= PACKED_DEPTH)
		is_good = perfetto_fault(p, "packets are packed too often");
	else if (!is_good)
		(void)perfetto_fault(p, "packed packets are damaged");
	else
		is_good = read_packed(p, padded(&out), depth);
	buf_free(&out);
	return is_good;
}

/* ---- frames ---- */

const struct frame perfetto_no_frame = { .front = 1 };

/* The first n bytes and the mask of them. */
static uint64_t
framed(const unsigned char *at, size_t n, uint64_t *mask)
{
	unsigned char ones[FRAME_MAX] = { 0 };

	memset(ones, 0xff, n);
	*mask = hash_load(ones, sizeof ones);
	return hash_load(at, FRAME_MAX) & *mask;
}

/* The frame of a packet with only a time and an event. */
static void
learn_frame(struct perfetto *p, struct str bytes, const struct packet *k,
    struct sequence *q)
{
	const unsigned char *at = (const unsigned char *)bytes.p;
	const unsigned char *event = (const unsigned char *)k->event.p;
	const unsigned char *back = event + k->event.len;
	const unsigned char *end = at + bytes.len;
	unsigned char len[VARINT_MAX];
	const unsigned char *tag =
	    event - (varint_put(len, k->event.len) - len) - 1;
	struct frame *f = &p->frame;
	uint64_t ts;

	if (k->has != 0 || k->ntimestamps != 1 || k->clock != 0 ||
	    k->is_dropped || k->is_other || (k->flags & STATE_CLEARED) != 0 ||
	    *at++ != PROTO_TAG(8, PROTO_VARINT) ||
	    !varint_get_roomy(&at, &ts) || tag < at ||
	    *tag != PROTO_TAG(11, PROTO_BYTES) || tag + 1 - at > FRAME_MAX ||
	    end - back > FRAME_MAX)
		return;
	f->nfront = (uint8_t)(tag + 1 - at);
	f->nback = (uint8_t)(end - back);
	f->front = framed(at, f->nfront, &f->front_mask);
	f->back = framed(back, f->nback, &f->back_mask);
	f->q = q;
}

/* ---- all of a packet ---- */

/* Sequence state, tracks and clocks in a packet. */
static bool
apply_parts(struct perfetto *p, struct sequence *q, const struct packet *k)
{
	const struct str *at = k->parts;

	return (!has_part(k, PART_DEFAULTS) ||
		   sequence_defaults(p, q, at[PART_DEFAULTS])) &&
	    (!has_part(k, PART_INTERNED) ||
		sequence_intern(p, q, at[PART_INTERNED])) &&
	    (!has_part(k, PART_SNAPSHOT) ||
		clock_snapshot(p, q, at[PART_SNAPSHOT])) &&
	    (!has_part(k, PART_TRACK) || lane_describe(p, at[PART_TRACK])) &&
	    (!has_part(k, PART_THREAD) ||
		legacy_thread(p, q, at[PART_THREAD])) &&
	    (!has_part(k, PART_PROCESS) ||
		legacy_process(p, q, at[PART_PROCESS])) &&
	    (!has_part(k, PART_NAMES) || legacy_names(p, at[PART_NAMES]));
}

bool
perfetto_any_packet(struct perfetto *p, struct str bytes, unsigned depth)
{
	struct packet k;
	struct sequence *q;
	int64_t ns;
	bool is_zstd;

	if (!read_packet(p, bytes, &k))
		return false;
	is_zstd = !has_part(&k, PART_ZLIB);
	if (has_part(&k, PART_ZLIB) || has_part(&k, PART_ZSTD))
		return read_compressed(p,
		    k.parts[is_zstd ? PART_ZSTD : PART_ZLIB], is_zstd, depth);
	q = sequence_of(p, k.sequence);
	if (k.is_dropped && !k.is_first) {
		q->is_valid = false;
		p->frame = perfetto_no_frame;
		p->nlost++;
	}
	if ((k.flags & STATE_CLEARED) != 0)
		sequence_clear(q);
	if ((k.flags & NEEDS_STATE) != 0 && !q->is_valid) {
		p->ndropped++;
		return true;
	}
	if (k.has != 0 && !apply_parts(p, q, &k))
		return false;
	p->nother += k.is_other;
	if (k.event.len == 0) {
		lane_settle(p, q);
		if (!has_part(&k, PART_STAGE) && !has_part(&k, PART_COUNTERS))
			return true;
	}
	if (k.ntimestamps > 0 && !clock_ns(p, q, k.clock, k.timestamp, &ns))
		return false;
	if (k.event.len > 0) {
		learn_frame(p, bytes, &k, q);
		return track_event(
		    p, q, k.event, k.ntimestamps > 0 ? &ns : NULL);
	}
	if (k.ntimestamps == 0) {
		p->ndropped++;
		return true;
	}
	return has_part(&k, PART_STAGE)
	    ? gpu_stage(p, q, k.parts[PART_STAGE], ns)
	    : gpu_counters(p, q, k.parts[PART_COUNTERS], ns);
}

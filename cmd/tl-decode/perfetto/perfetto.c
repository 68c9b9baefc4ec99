/* SPDX-License-Identifier: MIT */
/* The file: packets, packed ones too, and what they are about. */
#include "cmd/tl-decode/perfetto/perfetto.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/tl-decode/format.h"

#define UNPACKED_MAX (UINT64_C(256) << 20)
#define PACKED_DEPTH 2 /* packets in packets in packets are refused */

/* sequence_flags */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

bool
perfetto_fault(struct perfetto *p, const char *why)
{
	if (p->fault == NULL)
		p->fault = why;
	return false;
}

bool
perfetto_next(struct perfetto *p, struct fields *m)
{
	return perfetto_next_fast(p, m) ||
	    (m->error != NULL && perfetto_fault(p, m->error));
}

uint32_t
perfetto_text(struct perfetto *p, struct str s)
{
	return intern_put(p->texts, json_as_utf8(s, &p->text2));
}

/* ---- packets ---- */

/* What is seldom in a packet, in the order in which it is applied. */
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
	bool has_timestamp, is_dropped, is_first;
	bool is_other; /* of a data source that is counted, not read */
	uint32_t has;  /* a bit for each part, those that aren't empty */
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
	case 7: /* statistics of the system and of processes, power, logs */
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

static inline bool
read_packet(struct perfetto *p, struct str bytes, struct packet *k)
{
	struct fields m = fields_of(bytes);

	k->timestamp = k->clock = k->sequence = k->flags = 0;
	k->has_timestamp = k->is_dropped = k->is_first = k->is_other = false;
	k->has = 0;
	k->event.len = 0;
	while (perfetto_next_fast(p, &m)) {
		switch (m.field) {
		case 8:
			k->timestamp = m.u;
			k->has_timestamp = true;
			break;
		case 10: k->sequence = m.u; break;
		case 11:
			k->event = m.bytes;
			if (m.type != PROTO_BYTES)
				k->event.len = 0;
			break;
		case 13: k->flags |= m.u; break;
		case 58: k->clock = m.u; break;
		default: read_seldom(k, m); break;
		}
	}
	return perfetto_is_good(p, m.error);
}

/* The packets of bytes that were packed. */
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
	int rc = inflateInit2(&z, 15 + 32); /* zlib's or gzip's head */

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
		is_good = read_packed(p, buf_str(&out), depth);
	buf_free(&out);
	return is_good;
}

/* What a packet says of its sequence, of tracks and clocks. */
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
perfetto_packet(struct perfetto *p, struct str bytes, unsigned depth)
{
	struct packet k;
	struct sequence *q;
	int64_t ns;
	bool is_zstd;

	if (UNLIKELY(p->texts->list.n != p->ntexts))
		texts_trim(p);
	if (!read_packet(p, bytes, &k))
		return false;
	is_zstd = !has_part(&k, PART_ZLIB);
	if (has_part(&k, PART_ZLIB) || has_part(&k, PART_ZSTD))
		return read_compressed(p,
		    k.parts[is_zstd ? PART_ZSTD : PART_ZLIB], is_zstd, depth);
	q = sequence_of(p, k.sequence);
	if (k.is_dropped && !k.is_first) {
		q->is_valid = false;
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
	if (k.has_timestamp && !clock_ns(p, q, k.clock, k.timestamp, &ns))
		return false;
	if (k.event.len > 0)
		return track_event(p, q, k.event, k.has_timestamp ? &ns : NULL);
	if (!k.has_timestamp) {
		p->ndropped++;
		return true;
	}
	return has_part(&k, PART_STAGE)
	    ? gpu_stage(p, q, k.parts[PART_STAGE], ns)
	    : gpu_counters(p, q, k.parts[PART_COUNTERS], ns);
}

/* ---- the file ---- */

/* The same as proto_next() where it goes well: most packets do. */
static inline bool
next_whole(struct proto *m)
{
	struct fields f = { .p = m->p, .end = m->end };

	if (UNLIKELY(!fields_next(&f)))
		return false;
	m->field = f.field;
	m->type = f.type;
	m->bytes = f.bytes;
	m->at = m->offset;
	m->offset += (uint64_t)(f.p - m->p);
	m->p = f.p;
	return true;
}

/* The next packet, whole in the window; PROTO_MORE: the data end in it. */
static enum proto_status
next_packet(struct source_state *s, struct proto *m)
{
	enum proto_status status;

	for (;;) {
		m->p = s->in->p;
		m->end = s->in->end;
		m->eof = s->in->eof;
		if (LIKELY(next_whole(m)))
			return PROTO_OK;
		status = proto_next(m);
		if (status != PROTO_MORE)
			return status;
		if (!in_more(s->in) && s->in->eof && m->eof)
			return PROTO_MORE;
	}
}

static void
free_reading(void *reading)
{
	struct perfetto *p = reading;

	for (size_t i = 0; i < p->sequences.n; i++)
		sequence_free(p, p->sequences.v[i]);
	vec_free(&p->sequences);
	for (size_t i = 0; i < p->lanes.n; i++) {
		for (size_t k = 0; k < p->lanes.v[i].open.n; k++)
			open_slice_free(p, p->lanes.v[i].open.v[k]);
		vec_free(&p->lanes.v[i].open);
	}
	vec_free(&p->lanes);
	for (size_t i = 0; i < p->spare.n; i++) {
		args_free(&p->spare.v[i]->args);
		vec_release(p->spare.v[i]);
	}
	vec_free(&p->spare);
	vec_free(&p->dict_ids);
	vec_free(&p->lists.counters);
	vec_free(&p->lists.reals);
	vec_free(&p->lists.counter_values);
	vec_free(&p->lists.real_values);
	vec_free(&p->lists.flows);
	vec_free(&p->clocks);
	map_free(&p->sequence_of);
	map_free(&p->lane_of);
	map_free(&p->lane_of_thread);
	map_free(&p->process_names);
	map_free(&p->thread_names);
	map_free(&p->told_names);
	counter_sets_free(&p->counters);
	intern_destroy(p->texts);
	intern_destroy(p->json);
	vec_free(&p->json_values);
	maker_free(&p->maker);
	buf_free(&p->text);
	buf_free(&p->text2);
	vec_release(p);
}

/* What else the file holds, and what it lacks. */
static void
set_facts(struct perfetto *p)
{
	const struct {
		const char *key;
		uint64_t n;
	} counts[] = {
		{ "packets_lost", p->nlost },
		{ "packets_dropped", p->ndropped },
		{ "packets_other", p->nother },
		{ "times_of_unknown_clocks", p->nnoclock },
	};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i].n > 0)
			facts_int(
			    &p->s->facts, counts[i].key, (int64_t)counts[i].n);
	if (p->is_rocprof)
		facts_int(&p->s->facts, "api_trace", 1);
	if (p->nlost > 0)
		report(MSG_PACKETS_LOST, p->s->in->name, p->nlost);
	if (p->ndropped > 0)
		report(MSG_PACKETS_DROPPED, p->s->in->name, p->ndropped);
	if (p->nnoclock > 0)
		report(MSG_CLOCK_UNKNOWN, p->s->in->name, p->nnoclock);
	if (p->nother > 0)
		report(MSG_PACKETS_OTHER, p->s->in->name, p->nother);
}

/* ---- salvage ---- */

static void
lose(struct perfetto *p, uint64_t bytes)
{
	p->nlosses++;
	p->lost_bytes += bytes;
	p->fault = NULL;
}

/* Where the packets end before the file does, all of the rest is lost. */
static void
lose_rest(struct perfetto *p)
{
	struct in *in = p->s->in;
	uint64_t n = 0;

	do {
		n += (uint64_t)(in->end - in->p);
		in->p = in->end;
		in_release(in);
	} while (in_more(in));
	p->is_cut = true;
	lose(p, n);
}

static void
end_salvage(struct perfetto *p)
{
	struct source_state *s = p->s;
	struct buf fact = { 0 };

	if (in_damage(s->in) != NULL) {
		lose_rest(p);
		report(MSG_UNREADABLE_REST, s->in->name, in_damage(s->in));
	}
	if (p->nlosses == 0)
		return;
	if (s->next_id == 0)
		die("%s: nothing can be saved: no event is whole", s->in->name);
	buf_printf(&fact,
	    "{\"losses\":%" PRIu64 ",\"bytes\":%" PRIu64
	    ",\"mended\":0,\"cut\":%s}",
	    p->nlosses, p->lost_bytes, p->is_cut ? "true" : "false");
	facts_json(&s->facts, "salvaged", buf_str(&fact));
	buf_free(&fact);
	stream_mark(s->out, MARK_SALVAGED);
	report(p->is_cut ? MSG_SALVAGE_CUT : MSG_SALVAGE, s->in->name,
	    s->next_id, p->nlosses, p->lost_bytes, UINT64_C(0));
}

/* ---- all of it ---- */

static void
read_file(struct source_state *s)
{
	bool salvages = s->set->salvage;
	struct perfetto *p = xcalloc(1, sizeof *p);
	enum proto_status status;
	struct proto m;

	*p = (struct perfetto){ .s = s,
		.maker = { .st = s->dict },
		.json = intern_create(),
		.last_category = NO_NAME,
		.ntold = 1,
		.trace_clock = 6 };
	texts_start(p);
	s->reading = p;
	s->is_binary = true;
	s->release = free_reading;
	facts_str(&s->facts, "format", STR("perfetto"));
	proto_start_window(&m);
	while ((status = next_packet(s, &m)) == PROTO_OK) {
		p->offset = m.at;
		if (m.field == 1 && m.type == PROTO_BYTES)
			(void)perfetto_packet(p, m.bytes, 0);
		if (p->fault != NULL && !salvages)
			source_die_at(s, p->offset, p->fault);
		if (p->fault != NULL)
			lose(p, (uint64_t)(m.p - s->in->p));
		s->counts->bytes += (size_t)(m.p - s->in->p);
		s->in->p = m.p;
		in_release(s->in);
		if (progress_due)
			progress_show(in_consumed(s->in), in_size(s->in));
	}
	if (!salvages)
		source_check(s);
	if (status != PROTO_END && !salvages)
		source_die_at(s, m.at,
		    status == PROTO_BAD ? m.error : "the data end in a packet");
	if (status != PROTO_END)
		lose_rest(p);
	lanes_finish(p);
	if (p->fault != NULL && !salvages)
		source_die_at(s, p->offset, p->fault);
	set_facts(p);
	if (salvages)
		end_salvage(p);
}

/* ---- the format ---- */

/* Whether only a packet has such a field; XPlane's and HLO's messages have
 * others of these numbers. */
static bool
is_of_packet(const struct proto *m)
{
	switch (m->field) {
	case 8:
	case 10:
	case 13:
	case 58: return m->type == PROTO_VARINT;
	case 33: /* configuration, synchronisation, packed packets, tracks */
	case 36:
	case 50:
	case 59:
	case 60: return m->type == PROTO_BYTES;
	default: return false;
	}
}

/* Its first packet is such, or is nothing but a snapshot of clocks. */
static enum sniff
sniff(struct str head, const char *path)
{
	enum proto_status status;
	bool is_known = false, is_clock = true;
	struct proto m, k;

	(void)path;
	if (head.len < 2 || head.p[0] != 0x0a)
		return SNIFF_NO;
	proto_start(&m, head.p, head.len);
	if (proto_head(&m) != PROTO_OK || m.field != 1 || m.u == 0)
		return SNIFF_NO;
	m.bytes = (struct str){ (const char *)m.p, (size_t)(m.end - m.p) };
	if (m.bytes.len > m.u)
		m.bytes.len = (size_t)m.u;
	proto_start(&k, m.bytes.p, m.bytes.len);
	k.eof = m.bytes.len == m.u;
	while ((status = proto_head(&k)) == PROTO_OK) {
		is_known |= is_of_packet(&k);
		is_clock &= k.field == 6 && k.type == PROTO_BYTES;
		if (k.type == PROTO_BYTES && proto_skip(&k) != PROTO_OK)
			break;
	}
	return status != PROTO_BAD && (is_known || is_clock) ? SNIFF_SURE
							     : SNIFF_NO;
}

const struct format perfetto_format = {
	.name = "perfetto",
	.sniff = sniff,
	.read = read_file,
	.can_salvage = true,
};

/* SPDX-License-Identifier: MIT */
/* The file, whole or salvaged, and its recognition. */
#include "cmd/tl-decode/perfetto/usual.h"

#include "cmd/tl-decode/format.h"

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

/* ---- the file ---- */

/* The next whole packet in the window; PROTO_MORE: the data end in it. */
static enum proto_status
next_packet(struct source_state *s, struct proto *m)
{
	enum proto_status status;

	for (;;) {
		m->p = s->in->p;
		m->end = s->in->end;
		m->eof = s->in->eof;
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
	arena_destroy(p->links);
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

/* Facts of what was skipped or lost. */
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
	if (p->nnoclock > 0)
		report(MSG_CLOCK_UNKNOWN, p->s->in->name, p->nnoclock);
	if (p->nother > 0)
		report(MSG_PACKETS_OTHER, p->s->in->name, p->nother);
}

/* ---- salvage ---- */

static void
lose(struct perfetto *p, uint64_t bytes)
{
	p->losses.n++;
	p->losses.bytes += bytes;
	p->fault = NULL;
}

/* The rest after the last readable packet is lost. */
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
	p->losses.is_cut = true;
	lose(p, n);
}

/* ---- all of it ---- */

/* After a packet: with a fault it is lost. */
static inline void
end_packet(struct perfetto *p, struct in *in, const unsigned char *end)
{
	if (UNLIKELY(p->fault != NULL)) {
		p->offset = in_offset(in, in->p);
		if (!p->s->set->salvage)
			source_die_at(p->s, p->offset, p->fault);
		lose(p, (uint64_t)(end - in->p));
	}
	in->p = end;
	in_release(in);
	if (UNLIKELY(progress_due))
		progress_show(in_consumed(in), in_size(in));
}

/* Whole packets of the window, up to an incomplete one or another field. */
static void
read_window(struct perfetto *p, struct proto *m)
{
	struct in *in = p->s->in;
	const unsigned char *start = in->p, *last = start, *end = in->end;

	while (in->p < end) {
		const unsigned char *at = in->p + 1;
		uint64_t len;

		if (*in->p != PROTO_TAG(1, PROTO_BYTES) ||
		    !varint_get_roomy(&at, &len) || len > PROTO_MAX_LEN ||
		    (ptrdiff_t)len > end - at)
			break;
		last = in->p;
		(void)perfetto_packet(
		    p, (struct str){ (const char *)at, (size_t)len }, 0);
		end_packet(p, in, at + len);
	}
	if (in->p > start)
		p->offset = m->offset + (uint64_t)(last - start);
	m->offset += (uint64_t)(in->p - start);
	p->s->counts->bytes += (uint64_t)(in->p - start);
}

/* All fields of the file; returns why it stopped. */
static enum proto_status
read_packets(struct perfetto *p, struct proto *m)
{
	struct source_state *s = p->s;
	enum proto_status status;

	for (;;) {
		read_window(p, m);
		status = next_packet(s, m);
		if (status != PROTO_OK)
			return status;
		p->offset = m->at;
		if (m->field == 1 && m->type == PROTO_BYTES)
			(void)perfetto_packet(p, m->bytes, 0);
		s->counts->bytes += (uint64_t)(m->p - s->in->p);
		end_packet(p, s->in, m->p);
	}
}

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
		.nsnapshots = 1,
		.trace_clock = 6,
		.frame = perfetto_no_frame };
	texts_start(p);
	s->reading = p;
	s->is_binary = true;
	s->release = free_reading;
	facts_str(&s->facts, "format", STR("perfetto"));
	proto_start_window(&m);
	status = read_packets(p, &m);
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
		source_salvaged(s, &p->losses, s->next_id);
}

/* ---- the format ---- */

/* Whether only a packet has this field: XPlane and HLO use others. */
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

/* The first packet has such a field, or only a clock snapshot. */
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

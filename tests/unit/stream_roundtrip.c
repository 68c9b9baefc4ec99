/* SPDX-License-Identifier: MIT */
/*
 * Random events through every encoding: eager and lazy, into strings that are
 * empty or not, with CLEAR in between, and through NDJSON.
 */
#include "tests/unit/tap.h"

#include "stream/ndjson.h"

#define NEVENTS 400

static uint64_t state = 1;

static uint64_t
draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static uint32_t
draw_string(struct dict *st)
{
	static const char *const words[] = { "", "a", "#", "##x", "stream",
		"correlation", "device", "External id", "dev", "corr", "ext",
		"q\"uo\\te", "\n\t\x01", "\xc3\xa9", "\xed\xa0\x80", "12",
		"-9223372036854775808", "kernel<...>" };
	char text[16];

	if (draw(4) > 0)
		return intern_put(st->text,
		    str_of(words[draw(sizeof words / sizeof *words)]));
	snprintf(text, sizeof text, "s%u", (unsigned)draw(50));
	return intern_put(st->text, str_of(text));
}

static int64_t
draw_int(void)
{
	static const int64_t edges[] = { 0, 1, -1, INT64_MAX, INT64_MIN,
		INT64_C(1) << 53, (INT64_C(1) << 53) - 1, -(INT64_C(1) << 53) };

	if (draw(3) == 0)
		return edges[draw(sizeof edges / sizeof *edges)];
	return (int64_t)draw(100000) - 5000;
}

static void
set_text(struct dict *st, struct value *v, const char *text)
{
	v->id = intern_put(st->text, str_of(text));
	v->s = intern_get(st->text, v->id);
}

static struct value
draw_value(struct dict *st, enum value_type type)
{
	static char longer[5002];
	struct value v = { .type = type };

	if (longer[0] == '\0') {
		memset(longer, '1', sizeof longer - 1);
		longer[0] = '[';
		longer[sizeof longer - 2] = ']';
	}
	switch (type) {
	case VAL_INT: v.i = draw_int(); break;
	case VAL_UINT: v.u = (UINT64_C(1) << 63) + draw(1000); break;
	case VAL_DEC:
		v.dec.mant = draw_int() % INT64_C(1000000000000000000);
		v.dec.exp10 = (int)draw(40) - 20;
		/* "0e5" and the like have another canonical form */
		if (v.dec.mant == 0)
			v.dec = (struct dec){ 0, -1 };
		break;
	case VAL_NUM: set_text(st, &v, draw(2) ? "NaN" : "-0"); break;
	case VAL_STR:
		v.id = draw_string(st);
		v.s = intern_get(st->text, v.id);
		break;
	case VAL_JSON: set_text(st, &v, draw(2) ? "[1,[2]]" : "{}"); break;
	case VAL_STRX:
	case VAL_JSONX: v.s = (struct str){ longer, sizeof longer - 1 }; break;
	default: break;
	}
	return v;
}

/* A shape whose groups have an order that NDJSON keeps. */
static uint32_t
draw_shape(struct dict *st)
{
	static const enum group order[] = { GROUP_FIELD, GROUP_ARGS, GROUP_TOP,
		GROUP_DUP, GROUP_DUPTOP };
	struct entry entries[40];
	struct shape s = {
		.cat = draw(4) ? draw_string(st) : INTERN_NONE,
		.has = (uint16_t)(draw(HAS_ALL + 1) | HAS_TRACK),
		.kind = (uint8_t)draw(KIND_COUNT),
		.ph = (uint8_t)(draw(4) ? 'X' : draw(256)),
		.flags = (uint8_t)draw(SHAPE_FLAGS + 1),
		.entries = entries,
	};

	for (size_t g = 0; g < 5; g++) {
		size_t n = draw(3) ? draw(4) : 0;

		for (size_t i = 0; i < n; i++) {
			struct entry *e = &entries[s.nentries];
			bool again = false;

			*e = (struct entry){
				.key = draw_string(st),
				.type = (uint8_t)draw(VAL_COUNT),
				.group = (uint8_t)order[g],
			};
			/* keys of a group differ, but for dup */
			for (uint32_t j = 0; j < s.nentries; j++)
				again |= entries[j].key == e->key &&
				    entries[j].group == e->group;
			if (again && order[g] <= GROUP_FIELD)
				continue;
			if (order[g] <= GROUP_FIELD)
				e->role = (uint8_t)(draw(2)
					? ndjson_default_role(order[g],
					      dict_get(st, e->key), s.kind)
					: draw(ROLE_COUNT));
			if (order[g] == GROUP_ARGS)
				s.flags |= SHAPE_ARGS;
			s.nentries++;
		}
	}
	return dict_shape(st, &s);
}

static struct uid
draw_uid(void)
{
	return (struct uid){ draw(1000), draw(4) ? 0 : (uint32_t)draw(9) };
}

/* vals is filled with the values, which the event borrows. */
static void
draw_event(struct dict *st, struct event *ev, struct buf *vals)
{
	struct track t = { .src = (uint32_t)draw(3) };
	unsigned has;

	*ev = (struct event){ .shape_id = draw_shape(st), .name = INTERN_NONE };
	ev->shape = st->shapes.v[ev->shape_id];
	has = ev->shape->has;
	t.has_pid = draw(5) > 0;
	t.has_tid = draw(5) > 0;
	t.raw_pid = draw_value(st, (enum value_type)draw(VAL_COUNT));
	t.raw_tid = draw_value(st, (enum value_type)draw(VAL_COUNT));
	ev->track = dict_track(st, &t);
	ev->src = t.src;
	ev->pid = st->tracks.v[ev->track].pid;
	ev->tid = st->tracks.v[ev->track].tid;
	ev->uid = draw_uid();
	if (!(has & HAS_INST))
		ev->uid.inst = 0;
	if (has & HAS_TS)
		ev->ts_ns = draw_int();
	if (has & HAS_DUR)
		ev->dur_ns = draw_int() & INT64_MAX;
	if (ev->ts_ns > INT64_MAX - ev->dur_ns) /* readers refuse that */
		ev->dur_ns = INT64_MAX - ev->ts_ns;
	if (has & HAS_NAME)
		ev->name = draw_string(st);
	if (has & HAS_FLAGS)
		ev->flags = (uint32_t)draw(1 << 20);
	if (has & HAS_DEPTH)
		ev->depth = (uint32_t)draw(100);
	ev->parent = draw_uid();
	ev->launch = draw_uid();
	ev->fwd = draw_uid();
	ev->bwd = draw_uid();
	ev->ndesc = draw(1 << 30);
	ev->ngpu = draw(1 << 30);
	buf_room(vals, 1);
	vals->len = 0;
	for (uint32_t i = 0; i < ev->shape->nentries; i++) {
		struct value v = draw_value(st, ev->shape->entries[i].type);

		value_encode(vals, &v);
	}
	ev->vals = (const unsigned char *)vals->p;
	ev->vals_len = vals->len;
	if (!event_set_keys(st, ev))
		bail_out("event_set_keys");
}

static void
put_line(struct buf *b, struct dict *st, const struct event *ev)
{
	ndjson_put_event(b, st, ev);
}

/* Random events, clears every so often, to one block and to lines. */
static void
make(struct encoder *e, struct dict *st, struct buf *lines, bool clears)
{
	struct buf vals = { 0 };
	struct event ev;

	for (int i = 0; i < NEVENTS; i++) {
		draw_event(st, &ev, &vals);
		enc_event(e, &ev);
		put_line(lines, st, &ev);
		if (clears && i % 50 == 49) {
			dict_clear(st);
			enc_clear(e);
		}
	}
	buf_free(&vals);
}

/* Decodes a payload to lines. */
static bool
decode(const struct encoder *e, struct dict *st, struct buf *lines)
{
	struct decoder d;
	enum dec_status status;

	dec_start(&d, st);
	d.has_header = true;
	dec_block(&d, (const unsigned char *)e->block.p + WIRE_BLOCK_HEAD,
	    (uint32_t)(e->block.len - WIRE_BLOCK_HEAD));
	while (
	    (status = dec_next(&d)) == DEC_EVENT && event_is_sound(st, &d.ev))
		put_line(lines, st, &d.ev);
	dec_free(&d);
	return status == DEC_BLOCK_END;
}

static void
test_binary(bool eager, bool clears, bool filled)
{
	struct dict *st = dict_create(), *other = dict_create();
	struct buf want = { 0 }, got = { 0 };
	struct encoder e;

	if (filled)
		for (int i = 0; i < 100; i++)
			(void)draw_string(other);
	enc_start(&e, st, eager);
	make(&e, st, &want, clears);
	ok(decode(&e, other, &got) && got.len == want.len &&
		memcmp(got.p, want.p, want.len) == 0,
	    "binary:%s%s%s", eager ? " eager" : " lazy",
	    clears ? ", cleared" : "", filled ? ", translated" : "");
	enc_free(&e);
	buf_free(&want);
	buf_free(&got);
	dict_destroy(st);
	dict_destroy(other);
}

static bool
same_head(const struct event *a, const struct event *b)
{
	return a->shape_id == b->shape_id && uid_same(a->uid, b->uid) &&
	    a->ts_ns == b->ts_ns && a->dur_ns == b->dur_ns &&
	    a->name == b->name && a->track == b->track && a->src == b->src &&
	    a->flags == b->flags;
}

/* Kinds of which only heads are read have the same heads; others have all. */
static void
test_heads(void)
{
	struct dict *st = dict_create();
	struct buf want = { 0 }, whole = { 0 }, got = { 0 };
	struct decoder d[2];
	struct encoder e;
	int nheads = 0, nsame = 0, nwhole = 0;

	enc_start(&e, st, true);
	make(&e, st, &want, false);
	for (int k = 0; k < 2; k++) {
		dec_start(&d[k], st);
		d[k].has_header = true;
		dec_block(&d[k],
		    (const unsigned char *)e.block.p + WIRE_BLOCK_HEAD,
		    (uint32_t)(e.block.len - WIRE_BLOCK_HEAD));
	}
	dec_choose(&d[1], KINDS_ALL, KINDS_GPU | KINDS_HOST, false);
	while (dec_next(&d[0]) == DEC_EVENT && dec_next(&d[1]) == DEC_EVENT) {
		nsame += same_head(&d[0].ev, &d[1].ev);
		if (event_is(&d[1].ev, d[1].heads)) {
			nheads++;
			continue;
		}
		nwhole++;
		put_line(&whole, st, &d[0].ev);
		put_line(&got, st, &d[1].ev);
	}
	is_int(nsame, NEVENTS, "heads are those of whole events");
	ok(nheads > 0 && nwhole > 0 && got.len == whole.len &&
		memcmp(got.p, whole.p, whole.len) == 0,
	    "and %d events of other kinds are whole", nwhole);
	for (int k = 0; k < 2; k++)
		dec_free(&d[k]);
	enc_free(&e);
	buf_free(&want);
	buf_free(&whole);
	buf_free(&got);
	dict_destroy(st);
}

/* Reads many heads at once: each event's are whole, and only events that are
 * not wanted are skipped. */
static void
test_many_heads(uint32_t kinds, const char *what)
{
	struct dict *st = dict_create();
	struct buf vals = { 0 };
	struct event ev;
	struct decoder d[2];
	struct encoder e;
	struct event_head v[7];
	int nsame = 0, n = 0, nmany = 0;
	size_t got;

	enc_start(&e, st, true);
	for (int i = 0; i < 3 * NEVENTS; i++) {
		if (i % 3 == 0) /* its shape comes before the first of three */
			draw_event(st, &ev, &vals);
		enc_event(&e, &ev);
	}
	for (int k = 0; k < 2; k++) {
		dec_start(&d[k], st);
		d[k].has_header = true;
		dec_choose(&d[k], kinds, k == 0 ? 0 : KINDS_HOST, false);
		dec_block(&d[k],
		    (const unsigned char *)e.block.p + WIRE_BLOCK_HEAD,
		    (uint32_t)(e.block.len - WIRE_BLOCK_HEAD));
	}
	while ((got = dec_heads(&d[1], v, 7)) > 0 ||
	    dec_next(&d[1]) == DEC_EVENT) {
		nmany += got > 0;
		if (got == 0)
			v[got++] = event_head_of(&d[1].ev);
		for (size_t i = 0; i < got && dec_next(&d[0]) == DEC_EVENT;
		     i++, n++) {
			const struct event_head one = event_head_of(&d[0].ev);

			nsame += one.ts_ns == v[i].ts_ns &&
			    one.dur_ns == v[i].dur_ns &&
			    uid_same(one.uid, v[i].uid) &&
			    one.shape == v[i].shape &&
			    one.track == v[i].track && one.name == v[i].name &&
			    one.flags == v[i].flags &&
			    (!head_is(st, &one, KINDS_LAUNCH) ||
				(one.depth == v[i].depth &&
				    one.has_corr == v[i].has_corr &&
				    one.corr == v[i].corr)) &&
			    st->tracks.v[v[i].track].src ==
				st->tracks.v[v->track].src;
		}
	}
	ok(n > 0 && nsame == n && nmany > 0 &&
		dec_next(&d[0]) == DEC_BLOCK_END &&
		d[0].nevents == d[1].nevents,
	    "%d events, many heads at a time: %s", n, what);
	for (int k = 0; k < 2; k++)
		dec_free(&d[k]);
	enc_free(&e);
	buf_free(&vals);
	dict_destroy(st);
}

/* The same shape, values and fields, in the same strings. */
static bool
same_event(const struct event *a, const struct event *b)
{
	if (a->shape_id != b->shape_id || a->track != b->track ||
	    a->src != b->src || a->name != b->name || a->uid.id != b->uid.id ||
	    a->uid.inst != b->uid.inst || a->ts_ns != b->ts_ns ||
	    a->dur_ns != b->dur_ns || a->flags != b->flags ||
	    a->depth != b->depth || !key_eq(a->dev, b->dev) ||
	    !key_eq(a->corr, b->corr) || !key_eq(a->ext, b->ext) ||
	    !key_eq(a->gpu_stream, b->gpu_stream))
		return false;
	return a->vals_len == b->vals_len &&
	    memcmp(a->vals, b->vals, a->vals_len) == 0;
}

static void
test_ndjson(void)
{
	struct dict *st = dict_create();
	struct buf vals = { 0 }, line = { 0 }, again = { 0 };
	struct ndjson_dec d;
	struct event ev;
	int nsame = 0, nlines = 0, nread = 0;

	ndjson_start(&d, st);
	d.has_header = true;
	for (int i = 0; i < 5 * NEVENTS; i++) {
		draw_event(st, &ev, &vals);
		line.len = again.len = 0;
		put_line(&line, st, &ev);
		buf_room(&line, IN_PAD);
		memset(line.p + line.len, 0, IN_PAD);
		if (ndjson_line(&d, line.p, line.len - 1) != DEC_EVENT) {
			diag("%s in %.*s", d.error, (int)line.len, line.p);
			continue;
		}
		nread++;
		put_line(&again, st, &d.ev);
		nlines += again.len == line.len &&
		    memcmp(again.p, line.p, line.len) == 0;
		if (same_event(&ev, &d.ev))
			nsame++;
		else if (nsame > nread - 5)
			diag("differs: %.*s",
			    (int)(line.len < 900 ? line.len : 900), line.p);
	}
	is_int(nread, 5 * NEVENTS, "every line is read");
	is_int(nlines, 5 * NEVENTS, "and written again as it was");
	is_int(nsame, 5 * NEVENTS, "the same shape, track, fields and values");
	ndjson_free(&d);
	buf_free(&vals);
	buf_free(&line);
	buf_free(&again);
	dict_destroy(st);
}

/* Every byte of a payload changed, and every prefix: a status, no crash. */
static void
test_hostile(void)
{
	struct dict *st = dict_create();
	struct buf want = { 0 }, vals = { 0 };
	struct encoder e;
	struct event ev;
	unsigned bad = 0, n;

	enc_start(&e, st, false);
	for (int i = 0; i < 12; i++) {
		do
			draw_event(st, &ev, &vals);
		while (ev.vals_len > 200); /* long texts hide the rest */
		enc_event(&e, &ev);
	}
	n = (unsigned)(e.block.len - WIRE_BLOCK_HEAD);
	for (unsigned i = 0; i < n; i++) {
		struct dict *own = dict_create();
		struct encoder cut = e;
		char *byte = e.block.p + WIRE_BLOCK_HEAD + i, keep = *byte;

		*byte = (char)(keep ^ (1 << draw(8)));
		want.len = 0;
		bad += !decode(&e, own, &want);
		*byte = keep;
		cut.block.p = xmalloc(WIRE_BLOCK_HEAD + i + 1);
		memcpy(cut.block.p, e.block.p, WIRE_BLOCK_HEAD + i);
		cut.block.len = WIRE_BLOCK_HEAD + i;
		want.len = 0;
		(void)!decode(&cut, own, &want);
		vec_release(cut.block.p);
		dict_destroy(own);
	}
	ok(bad > 0, "hostile bytes are survived (%u of %u refused)", bad, n);
	enc_free(&e);
	buf_free(&want);
	buf_free(&vals);
	dict_destroy(st);
}

int
main(void)
{
	for (int i = 0; i < 8; i++)
		test_binary((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
	test_heads();
	test_many_heads(KINDS_ALL, "of all kinds");
	test_many_heads(KINDS_HOST | KIND_BIT(KIND_META), "of two");
	test_ndjson();
	test_hostile();
	done_testing();
}

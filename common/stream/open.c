/* SPDX-License-Identifier: MIT */
/*
 * Opens streams: detects the encoding, and runs helpers if the bytes are no
 * stream (tl-decode) or not as far as requested (tl-link, tl-tree).
 */
#include "stream/in.h"

enum sniffed {
	SNIFF_BINARY,
	SNIFF_NDJSON,
	SNIFF_NDJSON_BARE, /* lines of events without a header */
	SNIFF_OTHER,
};

/* Whether the first line is one of our events without its header. */
static bool
is_bare_ndjson(struct in *in)
{
	static const struct str words[] = { STR_INIT("{\"id\":"),
		STR_INIT("{\"src\":"), STR_INIT("{\"inst\":") };
	struct str head = { (const char *)in->p, (size_t)(in->end - in->p) };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_starts(head, words[i]))
			return true;
	return str_starts(head, STR("{\"source\":{")) ||
	    str_starts(head, STR("{\"section\":"));
}

static enum sniffed
sniff(struct in *in)
{
	struct str head;

	(void)!in_need(in, 64);
	head = (struct str){ (const char *)in->p, (size_t)(in->end - in->p) };
	/* a cut-off magic counts, too */
	if (head.len >= 4 && memcmp(head.p, WIRE_MAGIC, 4) == 0)
		return SNIFF_BINARY;
	if (str_starts(head, STR("{\"tl\":")))
		return SNIFF_NDJSON;
	return is_bare_ndjson(in) ? SNIFF_NDJSON_BARE : SNIFF_OTHER;
}

bool
stream_is_one(struct in *in)
{
	return sniff(in) != SNIFF_OTHER;
}

static void
check_magic(struct stream_in *s)
{
	struct in *in = s->dec->in;

	if (!in_need(in, WIRE_MAGIC_LEN))
		stream_die_cut(s);
	if (memcmp(in->p, WIRE_MAGIC, WIRE_MAGIC_LEN) == 0)
		return;
	if (in->p[4] > STREAM_VERSION)
		stream_die_at(s, 4, "a newer version of tl wrote this stream");
	stream_die_at(s, 0,
	    "the stream's first bytes are damaged (transferred as text?)");
}

/* The program that turns a stream into what is requested. */
static const char *const makers[] = {
	[WANT_STREAM] = "tl-decode",
	[WANT_LINKED] = "tl-link",
	[WANT_TREE] = "tl-tree",
	[WANT_PSEUDO] = "tl-graft",
};

/*
 * Whether pseudo-ops were added: tl-graft does so unless run for captured ops
 * only.
 */
static bool
has_pseudo(const struct stream_in *s)
{
	for (size_t i = 0; i < s->nprov; i++)
		if (str_eq(s->prov[i].program, STR("tl-graft")) &&
		    (str_find(s->prov[i].args, STR("\"--capture"), false) < 0 ||
			str_find(s->prov[i].args, STR("\"--pseudo-ops\""),
			    false) >= 0))
			return true;
	return false;
}

static bool
is_far_enough(const struct stream_in *s, enum want want)
{
	switch (want) {
	case WANT_PSEUDO: return (s->marks & MARK_TREE) != 0 && has_pseudo(s);
	case WANT_TREE: return (s->marks & MARK_TREE) != 0;
	case WANT_LINKED: return (s->marks & (MARK_LINKED | MARK_TREE)) != 0;
	default: return true;
	}
}

/* Reads the header, so that marks are known; in->p stays. */
static void
read_header(struct stream_in *s)
{
	struct stream_dec *sd = s->dec;
	struct in *in = sd->in;

	if (sd->is_ndjson) {
		const unsigned char *nl = NULL;

		while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) ==
		    NULL)
			if (!in_more(in))
				stream_die_cut(s);
		sd->line = 1;
		if (ndjson_line(&sd->nd, (const char *)in->p,
			(size_t)(nl - in->p)) != DEC_HEADER)
			stream_die_at(s, sd->nd.at,
			    sd->nd.error != NULL ? sd->nd.error
						 : "no header line");
		s->marks = sd->nd.marks;
		s->prov = sd->nd.prov.v;
		s->nprov = sd->nd.prov.n;
		return;
	}
	check_magic(s);
	if (!in_need(in, WIRE_MAGIC_LEN + WIRE_BLOCK_HEAD))
		stream_die_cut(s);
}

/* Starts over, without what a header defined. */
static void
start_decoder(struct stream_in *s, uint32_t kinds)
{
	struct decoder *d = &s->dec->bin;

	dec_free(d);
	dec_start(d, s->dict);
	d->to = &s->ev;
	dec_choose(d, kinds, 0, false);
}

/* Passes the bytes through a helper and reads its output. */
static struct stream_in *
through(struct stream_in *s, const char *program, char *const *words)
{
	struct stream_dec *sd = s->dec;
	struct in *in = sd->in;

	if (sd->helper != NULL)
		die("%s: %s gave a stream that lacks what was asked for",
		    s->name, program);
	sd->helper = helper_start(program, words, in);
	sd->in = helper_output(sd->helper);
	sd->is_ndjson = false;
	read_header(s);
	return s;
}

/* The words of kinds, as for tl-decode --kind. */
static void
put_kinds(struct buf *b, uint32_t kinds)
{
	if (kinds == 0) /* an empty list is an error */
		kinds = KIND_BIT(KIND_META);
	words_put(b, kinds & (KIND_BIT(KIND_COUNT) - 1), kind_words, ",");
	buf_putc(b, '\0');
}

/*
 * Events that are not read are not decoded either, where nothing else depends
 * on them. Links need events of many kinds; but Python frames can go, and are
 * the most.
 */
static void
through_maker(struct stream_in *s, enum want want)
{
	uint32_t kinds = s->dec->bin.kinds;
	char *words[3] = { NULL };
	struct buf only = { 0 };

	if (kinds == (KINDS_ALL & ~KIND_BIT(KIND_PYTHON)) ||
	    (want == WANT_TREE &&
		(kinds & (KIND_BIT(KIND_PYTHON) | KINDS_NESTED_FRAMES)) == 0)) {
		words[0] = (char *)(uintptr_t) "--no-python";
	} else if (want == WANT_STREAM && kinds != KINDS_ALL) {
		put_kinds(&only, kinds);
		words[0] = (char *)(uintptr_t) "--kind";
		words[1] = only.p;
	}
	through(s, makers[want],
	    want == WANT_PSEUDO ? helper_pseudo_words() : words);
	buf_free(&only);
}

void
stream_refuse_edited(const struct stream_in *s)
{
	if ((s->marks & (MARK_EDITED | MARK_TREE)) == MARK_EDITED)
		die("%s: events were removed from this stream, so owners of "
		    "GPU work cannot be found; run tl-filter after tl-tree",
		    s->name);
}

/* A stream's links make tl-link warn. */
static void
refuse_edited(const struct stream_in *s, enum want want)
{
	if (want >= WANT_TREE)
		stream_refuse_edited(s);
}

/* Skips a binary header and checks how far the stream is. */
static void
begin_binary(struct stream_in *s, enum want want)
{
	struct stream_dec *sd = s->dec;
	struct in *in = sd->in;
	const unsigned char *head;
	enum dec_status status;
	uint32_t len, crc;

	/* in->p stays at the magic until it is clear who reads on */
	if (!in_need(in, WIRE_MAGIC_LEN + WIRE_BLOCK_HEAD))
		stream_die_cut(s);
	head = in->p + WIRE_MAGIC_LEN;
	if (!dec_block_head(&sd->bin, head, &len, &crc))
		stream_die_at(s, WIRE_MAGIC_LEN, sd->bin.error);
	if (!in_need(in, (size_t)WIRE_MAGIC_LEN + WIRE_BLOCK_HEAD + len))
		stream_die_cut(s);
	head = in->p + WIRE_MAGIC_LEN;
	if (wire_crc32(0, head + WIRE_BLOCK_HEAD, len) != crc)
		stream_die_at(s, WIRE_MAGIC_LEN,
		    "the block's checksum is wrong: the stream is damaged");
	dec_block(&sd->bin, head + WIRE_BLOCK_HEAD, len);
	sd->in_block = true;
	status = dec_next(&sd->bin);
	if (status == DEC_BAD)
		stream_die_at(s, in_offset(in, sd->bin.p), sd->bin.error);
	if (status != DEC_HEADER)
		stream_die_at(
		    s, in_offset(in, in->p), "the stream has no header");
	s->marks = sd->bin.marks;
	s->prov = sd->bin.prov.v;
	s->nprov = sd->bin.prov.n;
	if (is_far_enough(s, want)) {
		in->p += WIRE_MAGIC_LEN;
		return;
	}
	refuse_edited(s, want);
	start_decoder(s, sd->bin.kinds);
	sd->in_block = false;
	through_maker(s, want);
	begin_binary(s, want);
}

static void
begin_ndjson(struct stream_in *s, enum want want)
{
	struct stream_dec *sd = s->dec;

	if (is_far_enough(s, want)) {
		(void)stream_next_line(s);
		sd->line = 1;
		return;
	}
	refuse_edited(s, want);
	through_maker(s, want);
	begin_binary(s, want);
}

static struct stream_in *
create(struct in *in, struct dict *dict, uint32_t kinds)
{
	struct stream_in *s = xcalloc(1, sizeof *s);
	struct stream_dec *sd = xcalloc(1, sizeof *sd);

	s->dec = sd;
	s->name = sd->name = xstrdup(in->name); /* a helper may close in */
	s->dict = dict != NULL ? dict : dict_create();
	sd->own_strings = dict == NULL;
	sd->in = in;
	start_decoder(s, kinds);
	ndjson_start(&sd->nd, s->dict);
	return s;
}

static struct stream_in *
open_in(struct in *in, struct dict *dict, enum want want, uint32_t kinds)
{
	struct stream_in *s = create(in, dict, kinds);

	s->dec->want = want;
	switch (sniff(in)) {
	case SNIFF_BINARY:
		read_header(s);
		begin_binary(s, want);
		break;
	case SNIFF_NDJSON:
		s->dec->is_ndjson = true;
		read_header(s);
		begin_ndjson(s, want);
		break;
	case SNIFF_NDJSON_BARE:
		die("%s: these are lines of a stream without header and end; "
		    "tl-cat --reseal --from STREAM makes them one",
		    s->name);
	case SNIFF_OTHER:
		if (!in_need(in, 1)) /* said once, not by each program */
			die("%s: the input is empty", s->name);
		through_maker(s, want);
		begin_binary(s, want);
		break;
	}
	return s;
}

struct stream_in *
stream_open_in(struct in *in, struct dict *dict, enum want want)
{
	return open_in(in, dict, want, KINDS_ALL);
}

struct stream_in *
stream_open(const char *path, struct dict *dict, enum want want)
{
	return stream_open_in(in_open(path), dict, want);
}

struct stream_in *
stream_open_only(
    const char *path, struct dict *dict, enum want want, uint32_t kinds)
{
	return open_in(in_open(path), dict, want, kinds);
}

struct stream_in *
stream_open_through(const char *path, struct dict *dict, enum want want,
    const char *program, char *const *words)
{
	struct stream_in *s = create(in_open(path), dict, KINDS_ALL);

	through(s, program, words);
	begin_binary(s, want);
	return s;
}

void
stream_close(struct stream_in *s)
{
	struct stream_dec *sd = s->dec;

	in_close(sd->in);
	if (sd->helper != NULL)
		helper_abandon(sd->helper);
	dec_free(&sd->bin);
	ndjson_free(&sd->nd);
	if (sd->own_strings)
		dict_destroy(s->dict);
	vec_release(sd->name);
	vec_release(sd);
	vec_release(s);
}

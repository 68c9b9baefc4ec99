/* SPDX-License-Identifier: MIT */
/* ndjson-put: values, and items other than events, to lines. */
#include "stream/ndjson-put.h"

/* Containers around a value in a line: {"meta":{"value": ... */
#define LINE_DEPTH 2

static void
put_dec(struct buf *b, struct dec dec)
{
	buf_room(b, NUM_DEC_MAX + 2);
	b->len += num_put_dec(b->p + b->len, dec);
	if (dec.exp10 == 0) /* otherwise it would be read back as an integer */
		PUT(b, "e0");
}

/* Text with '#' as first character is a number: "#NaN". */
static void
put_tagged(struct buf *b, struct str s)
{
	size_t at = b->len;

	/* move the quote one to the left, put the tag in its place */
	buf_putc(b, '"');
	json_put_string(b, s);
	b->p[at + 1] = '#';
}

/* A list or object, unchanged; false: hostile text, nothing written. */
static bool
put_container(struct buf *b, struct str s)
{
	const char *error;
	size_t at;

	return s.len > 0 && (s.p[0] == '[' || s.p[0] == '{') &&
	    json_minify(s, LINE_DEPTH, b, &error, &at);
}

/* Whether text is a number, as JSON or one of its extensions. */
static bool
is_number(struct str s)
{
	bool digit = false;

	if (str_eq(s, STR("NaN")) || str_eq(s, STR("Infinity")) ||
	    str_eq(s, STR("-Infinity")))
		return true;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] >= '0' && s.p[i] <= '9')
			digit = true;
		else if (strchr("+-.eE", s.p[i]) == NULL || s.p[i] == '\0')
			return false;
	}
	return digit;
}

void
value_put_json(struct buf *b, const struct value *v)
{
	switch (v->type) {
	case VAL_FALSE: PUT(b, "false"); break;
	case VAL_TRUE: PUT(b, "true"); break;
	case VAL_INT: json_put_i64(b, v->i); break;
	case VAL_UINT:
		buf_room(b, 24);
		b->len += num_put_u64(b->p + b->len, v->u);
		break;
	case VAL_DEC: put_dec(b, v->dec); break;
	case VAL_NUM:
		if (is_number(v->s))
			buf_put(b, v->s.p, v->s.len);
		else
			json_put_string(b, v->s);
		break;
	case VAL_STR:
	case VAL_STRX: json_put_string(b, v->s); break;
	case VAL_JSON:
	case VAL_JSONX:
		if (!put_container(b, v->s))
			json_put_string(b, v->s);
		break;
	default: PUT(b, "null"); break;
	}
}

void
ndjson_put_value(struct buf *b, const struct value *v)
{
	char text[24];

	switch (v->type) {
	case VAL_INT: put_int(b, v->i); return;
	case VAL_UINT:
		put_tagged(b, (struct str){ text, num_put_u64(text, v->u) });
		return;
	case VAL_NUM: put_tagged(b, v->s); return;
	case VAL_STR:
	case VAL_STRX:
		if (v->s.len == 0 || v->s.p[0] != '#')
			break;
		put_tagged(b, v->s);
		return;
	case VAL_JSON:
	case VAL_JSONX:
		if (!put_container(b, v->s))
			put_tagged(b, v->s);
		return;
	default: break;
	}
	value_put_json(b, v);
}

void
words_put(struct buf *b, uint32_t bits, const char *const words[],
    const char *between)
{
	size_t start = b->len;

	for (unsigned i = 0; bits != 0; i++, bits >>= 1) {
		const char *word = *words != NULL ? *words++ : NULL;

		if ((bits & 1) == 0)
			continue;
		if (b->len > start)
			buf_puts(b, between);
		if (word != NULL)
			buf_puts(b, word);
		else
			buf_printf(b, "bit%u", i);
	}
}

void
ndjson_put_bits(struct buf *b, uint32_t bits, const char *const words[])
{
	buf_puts(b, bits != 0 ? "[\"" : "[");
	words_put(b, bits, words, "\",\"");
	buf_puts(b, bits != 0 ? "\"]" : "]");
}

/* ---- the other lines ---- */

void
ndjson_put_header(
    struct buf *b, unsigned marks, const struct prov *prov, size_t nprov)
{
	buf_printf(b, "{\"tl\":%d,\"marks\":", STREAM_VERSION);
	ndjson_put_bits(b, marks, mark_words);
	PUT(b, ",\"prov\":[");
	for (size_t i = 0; i < nprov; i++) {
		if (i > 0)
			buf_putc(b, ',');
		PUT(b, "{\"program\":");
		json_put_string(b, prov[i].program);
		PUT(b, ",\"version\":");
		json_put_string(b, prov[i].version);
		PUT(b, ",\"args\":");
		ndjson_put_value(
		    b, &(struct value){ .type = VAL_JSON, .s = prov[i].args });
		buf_putc(b, '}');
	}
	PUT(b, "]}\n");
}

void
ndjson_put_source(struct buf *b, const struct source *s)
{
	buf_printf(b, "{\"source\":{\"src\":%" PRIu32 ",\"final\":%s", s->src,
	    s->is_final ? "true" : "false");
	PUT(b, ",\"facts\":{");
	for (size_t i = 0; i < s->nfacts; i++) {
		if (i > 0)
			buf_putc(b, ',');
		json_put_string(b, s->facts[i].key);
		buf_putc(b, ':');
		ndjson_put_value(b, &s->facts[i].val);
	}
	PUT(b, "}}}\n");
}

void
ndjson_put_meta(struct buf *b, const struct meta *m)
{
	buf_printf(b,
	    "{\"meta\":{\"src\":%" PRIu32 ",\"after\":%s,\"key\":", m->src,
	    m->is_after ? "true" : "false");
	json_put_string(b, m->fact.key);
	PUT(b, ",\"value\":");
	ndjson_put_value(b, &m->fact.val);
	PUT(b, "}}\n");
}

void
ndjson_put_section(struct buf *b, enum section s)
{
	buf_printf(b, "{\"section\":\"%s\"}\n", section_words[s]);
}

void
ndjson_put_end(
    struct buf *b, uint64_t nevents, uint32_t nsources, unsigned marks)
{
	buf_printf(b,
	    "{\"end\":{\"events\":%" PRIu64 ",\"sources\":%" PRIu32
	    ",\"marks\":",
	    nevents, nsources);
	ndjson_put_bits(b, marks, mark_words);
	PUT(b, "}}\n");
}

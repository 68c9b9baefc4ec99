/* SPDX-License-Identifier: MIT */
/* Writes the verdict into the stream; see stream/marks.h. */
#include "cmd/tl-health/health.h"
#include "stream/ndjson.h"
#include "json/json.h"

static void
put_mark(struct buf *b, const struct finding *f)
{
	const struct check_def *c = &checks[f->check];
	struct buf text = { 0 };

	finding_put_share(&text, f);
	buf_printf(b, "%s{\"check\":\"%s\",\"severity\":\"%s\",",
	    b->p[b->len - 1] == '[' ? "" : ",", c->id,
	    severity_words[f->severity]);
	buf_printf(b, "\"count\":%" PRIu64 ",\"evidence\":", f->n);
	json_put_string(b, buf_str(&text));
	buf_puts(b, ",\"touches\":");
	ndjson_put_bits(b, c->touches, figure_words);
	buf_putc(b, '}');
	buf_free(&text);
}

/* Notes are not marked: no figure is wrong. */
static void
put_verdict(const struct health *h, const struct sink_source *o, struct buf *b)
{
	enum severity worst = SOUND;
	struct buf marks = { 0 };

	buf_putc(&marks, '[');
	for (size_t i = 0; i < h->findings.n; i++) {
		const struct finding *f = &h->findings.v[i];

		if (f->source != o->no || f->severity < WARNING)
			continue;
		worst = f->severity > worst ? f->severity : worst;
		put_mark(&marks, f);
	}
	buf_printf(b, "{\"verdict\":\"%s\",\"marks\":",
	    worst == WARNING ? "usable" : severity_words[worst]);
	buf_put(b, marks.p, marks.len);
	buf_puts(b, "]}");
	buf_free(&marks);
}

/* Drops an older verdict. */
static void
write_source(
    const struct health *h, struct stream_out *out, const struct source *source)
{
	const struct sink_source *o = NULL;
	VEC(struct fact) facts = { 0 };
	struct source own = *source;
	struct buf text = { 0 };

	for (size_t i = h->sources.file; i < h->sources.list.n; i++)
		if (h->sources.list.v[i].src == source->src)
			o = &h->sources.list.v[i];
	for (size_t i = 0; i < source->nfacts; i++)
		if (!str_eq(source->facts[i].key, STR(FACT_HEALTH)))
			vec_push(&facts, source->facts[i]);
	if (o != NULL && source->is_final) {
		put_verdict(h, o, &text);
		vec_push(&facts,
		    ((struct fact){ STR(FACT_HEALTH),
			{ .type = VAL_JSONX, .s = buf_str(&text) } }));
	}
	own.facts = facts.v;
	own.nfacts = facts.n;
	stream_write_source(out, &own);
	vec_free(&facts);
	buf_free(&text);
}

void
health_mark(const struct health *h, int tree, const char *name,
    const struct stream_dest *dest)
{
	struct stream_in *in = tree_open(tree, name, NULL);
	struct stream_out *out =
	    stream_create(dest, in->dict, in, in->marks, false);
	enum item item;

	in->is_told = true;
	while ((item = stream_next(in)) != ITEM_END)
		if (item == ITEM_SOURCE)
			write_source(h, out, &in->source);
		else
			stream_pass_on(out, in, item);
	stream_mark(out, in->marks);
	stream_finish(out);
	stream_close(in);
}

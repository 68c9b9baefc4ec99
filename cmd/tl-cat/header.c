/* SPDX-License-Identifier: MIT */
/* header: provenance, marks and sources, for people or as NDJSON. */
#include "cat.h"
#include "stream/ndjson.h"

static void
put_value_line(struct buf *b, struct str key, const struct value *v)
{
	struct buf text = { 0 };

	/* as JSON: hostile text stays on one visible line */
	json_put_string(&text, key);
	buf_printf(b, "  %-18.*s ", (int)text.len - 2, text.p + 1);
	ndjson_put_value(b, v);
	buf_putc(b, '\n');
	buf_free(&text);
}

static void
put_text(
    struct buf *b, const struct stream_in *in, const struct sources *sources)
{
	struct value v = { .type = VAL_JSON };

	buf_printf(b, "stream version %d, %" PRIu64 " events\n", STREAM_VERSION,
	    in->nevents);
	buf_puts(b, "marks: ");
	words_put(b, in->marks, mark_words, ", ");
	buf_puts(b, in->marks != 0 ? "\n" : "none\n");
	buf_puts(b, "made by:\n");
	for (size_t i = 0; i < in->nprov; i++) {
		const struct prov *p = &in->prov[i];
		struct value word = { .type = VAL_STR };

		v.s = p->args;
		buf_puts(b, "  ");
		word.s = p->program;
		ndjson_put_value(b, &word);
		buf_putc(b, ' ');
		word.s = p->version;
		ndjson_put_value(b, &word);
		buf_putc(b, ' ');
		ndjson_put_value(b, &v);
		buf_putc(b, '\n');
	}
	for (size_t i = 0; i < sources->known.n; i++) {
		const struct known *k = &sources->known.v[i];

		if (!k->is_told)
			continue;
		buf_printf(b, "source %zu:\n", i);
		for (size_t j = 0; j < k->nfacts; j++)
			put_value_line(b, k->facts[j].key, &k->facts[j].val);
	}
}

static void
put_lines(
    struct buf *b, const struct stream_in *in, const struct sources *sources)
{
	uint32_t nsources = 0;

	ndjson_put_header(b, in->marks, in->prov, in->nprov);
	for (size_t i = 0; i < sources->known.n; i++) {
		const struct known *k = &sources->known.v[i];
		struct source s = {
			.src = (uint32_t)i,
			.is_final = k->is_final,
			.nfacts = k->nfacts,
			.facts = k->facts,
		};

		if (!k->is_told)
			continue;
		ndjson_put_source(b, &s);
		nsources++;
	}
	ndjson_put_end(b, in->nevents, nsources, in->marks);
}

static void
show_file(const struct settings *set, const char *path, struct buf *b)
{
	struct stream_in *in = stream_open(path, NULL, WANT_STREAM);
	struct sources sources;
	enum item item;

	sources_start(&sources, in->dict);
	stream_only(in, 0);
	while ((item = stream_next(in)) != ITEM_END)
		if (item == ITEM_SOURCE) {
			struct source s = in->source;

			sources_tell(&sources, &s);
		}
	if (set->files[1] != NULL && !set->dest.ndjson)
		buf_printf(b, "%s: ", in->name);
	if (set->dest.ndjson)
		put_lines(b, in, &sources);
	else
		put_text(b, in, &sources);
	vec_free(&sources.known);
	arena_destroy(sources.mem);
	stream_close(in);
}

void
cat_header(const struct settings *set)
{
	struct out *out = out_open(set->dest.path);
	struct buf b = { 0 };

	if (set->dest.zstd)
		out_zstd(out, set->dest.zstd_level);
	for (size_t i = 0; set->files[i] != NULL; i++) {
		b.len = 0;
		show_file(set, set->files[i], &b);
		out_write(out, b.p, b.len);
	}
	buf_free(&b);
	out_finish(out);
}

/* SPDX-License-Identifier: MIT */
/*
 * tl-html: tables and trees as one page for a browser. Trees become lanes and
 * stacks, tables are copied; the scripts in the page draw them.
 */
#include <stdlib.h>

#include "cmd/tl-html/html.h"
#include "trace/select-front.h"
#include "trace/select.h"

#define OPT_TITLE (OPT_LONG + 0)
#define OPT_NAMES (OPT_LONG + 1)
#define OPT_VS (OPT_LONG + 2)
#define NAME_MAX_BYTES 400
#define NAMES_MAX_BYTES 800000

static const struct opt options[] = {
	{ OPT_NAMES, "names", "A,B", "with --vs: names for the two traces" },
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" },
	OPT_SELECT,
	OPT_SELECT_HINT,
	{ OPT_TITLE, "title", "TEXT", "title of the page" },
	{ OPT_VS, "vs", "TRACE", "the other side: a trace, folder or table" },
	OPT_END,
};

static const struct about about = {
	.purpose = "write tables and trees as one page for a browser",
	.synopsis = "-o FILE [OPTIONS] [TABLE.ndjson | TRACE]...",
	.example = "tl-ops --format ndjson -o ops.ndjson t.tl\n"
		   "tl-html -o page.html ops.ndjson t.tl",
};

enum { GPU, HOST, NCLOCKS };

struct page {
	struct dict *dict;
	struct names *threads;
	struct lanes *lanes;
	struct icicle *stacks[NCLOCKS];
	struct names_used names;
	struct buf tables;
	bool no_table_yet, is_tpu;
	path_vec others; /* --vs */
	struct str sides[2];
	uint32_t nsources;
	struct select_front select; /* of the trees */
};

uint32_t
name_number(struct names_used *names, uint32_t string)
{
	uint64_t *place;

	if (string == INTERN_NONE)
		return 0;
	place = map_put(&names->numbers, string, NULL);
	if (*place == 0) {
		size_t len = dict_get(names->dict, string).len;

		if (names->bytes > NAMES_MAX_BYTES)
			return 0;
		names->bytes += len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES;
		vec_push(&names->list, string);
		*place = names->list.n;
	}
	return (uint32_t)*place;
}

static void
read_tree(struct page *p, const char *path, int side)
{
	uint32_t first = p->nsources;
	struct stream_in *in =
	    select_front_open(&p->select, path, p->dict, WANT_TREE, first);
	const struct source *s = &in->source;
	enum item item;

	while ((item = stream_next(in)) != ITEM_END) {
		if (item == ITEM_SOURCE && first + s->src >= p->nsources)
			p->nsources = first + s->src + 1;
		if (item == ITEM_SOURCE && side == 0)
			p->is_tpu = source_is_tpu(s);
		if (item == ITEM_SOURCE && s->is_final)
			lanes_source(p->lanes, first + s->src, s, side);
		if (item != ITEM_EVENT)
			continue;
		names_push(p->threads, &in->ev);
		lanes_push(p->lanes, &in->ev, first + in->ev.src);
		for (size_t i = 0; i < NCLOCKS; i++)
			icicle_push(
			    p->stacks[i], &in->ev, first + in->ev.src, side);
	}
	stream_close(in);
	for (size_t i = 0; i < NCLOCKS; i++)
		icicle_file_end(p->stacks[i]);
	lanes_file_end(p->lanes);
}

static bool
is_table(const char *path)
{
	return str_ends(str_of(path), STR(".ndjson"));
}

/* An NDJSON table or a tree of one side. */
static void
read_operand(struct page *p, const char *path, int side)
{
	if (is_table(path))
		tables_put(path, side, &p->tables, &p->no_table_yet);
	else
		read_tree(p, path, side);
}

/* ---- writing ---- */

/* A file of this folder, compiled in. */
static struct str
file_of(const char *name)
{
	size_t i = 0;

	while (strcmp(tl_html_data[i].name, name) != 0)
		i++;
	return (struct str){ (const char *)tl_html_data[i].bytes,
		tl_html_data[i].len };
}

static void
put_script(struct out *out)
{
	static const char *const files[] = { "base.js", "first.js", "steps.js",
		"gestures.js", "figures.js", "spans.js", "timeline.js",
		"stacks.js", "tables.js", "start.js" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		out_str(out, file_of(files[i]));
}

static void
put_text(struct out *out, const char *s)
{
	for (; *s != '\0'; s++)
		switch (*s) {
		case '<': out_puts(out, "&lt;"); break;
		case '>': out_puts(out, "&gt;"); break;
		case '&': out_puts(out, "&amp;"); break;
		default: out_write(out, (unsigned char)*s < ' ' ? " " : s, 1);
		}
}

/* JSON without '<', which only strings have. */
static void
put_data(struct out *out, const char *id, struct buf *b)
{
	const char *p = b->p, *end = b->p + b->len, *lt;

	out_printf(out, "<script type=\"application/json\" id=\"%s\">", id);
	for (; p < end; p = lt + 1) {
		lt = memchr(p, '<', (size_t)(end - p));
		if (lt == NULL)
			lt = end;
		out_write(out, p, (size_t)(lt - p));
		if (lt < end)
			out_puts(out, "\\u003c");
	}
	out_puts(out, "</script>\n");
	buf_free(b);
}

static void
put_names(struct page *p, struct buf *b)
{
	buf_puts(b, "[\"\"");
	for (size_t i = 0; i < p->names.list.n; i++) {
		struct str s = dict_get(p->dict, p->names.list.v[i]);

		if (s.len > NAME_MAX_BYTES)
			s.len = NAME_MAX_BYTES;
		buf_puts(b, ",\n");
		json_put_string(b, s);
	}
	buf_puts(b, "]");
}

/* Names of the two sides; empty: one side. */
static void
put_sides(const struct str sides[2], bool compares, struct buf *b)
{
	buf_puts(b, "[");
	if (compares) {
		json_put_string(b, sides[0]);
		buf_puts(b, ",");
		json_put_string(b, sides[1]);
	}
	buf_puts(b, "]");
}

/* The stacks to show first, then the host's if these are others. */
static void
put_stacks(struct page *p, bool is_host, struct out *out)
{
	struct buf b = { 0 };

	buf_puts(&b, is_host ? "\"host\"" : p->is_tpu ? "\"TPU\"" : "\"GPU\"");
	put_data(out, "clock", &b);
	icicle_put(p->stacks[is_host ? HOST : GPU], &p->names, &b);
	put_data(out, "icicle", &b);
	if (is_host)
		buf_puts(&b, "[]");
	else
		icicle_put(p->stacks[HOST], &p->names, &b);
	put_data(out, "icicle_host", &b);
}

static void
put_all_data(struct page *p, struct out *out)
{
	struct buf b = { 0 };

	buf_puts(&p->tables, "]");
	put_data(out, "tables", &p->tables);
	put_sides(p->sides, p->others.n > 0, &b);
	put_data(out, "sides", &b);
	/* their few names are shown at once */
	put_stacks(p, icicle_is_empty(p->stacks[GPU]), out);
	lanes_put(p->lanes, &p->names, &b);
	put_data(out, "lanes", &b);
	put_names(p, &b);
	put_data(out, "names", &b);
}

/* Replaces {{word}} in page.html. */
static void
put_word(struct page *p, struct out *out, struct str word, const char *title)
{
	if (str_eq(word, STR("title")))
		put_text(out, title);
	else if (str_eq(word, STR("style")))
		out_str(out, file_of("page.css"));
	else if (str_eq(word, STR("data")))
		put_all_data(p, out);
	else
		put_script(out);
}

/* The page's policy forbids to load anything, whatever names contain. */
static void
write_page(struct page *p, const char *path, const char *title)
{
	struct out *out = out_open(path);
	struct str rest = file_of("page.html");
	ptrdiff_t at;

	while ((at = str_find(rest, STR("{{"), false)) >= 0) {
		struct str word = { rest.p + at + 2, 0 };

		while (word.p[word.len] != '}')
			word.len++;
		out_write(out, rest.p, (size_t)at);
		put_word(p, out, word, title);
		rest.len -= (size_t)at + word.len + 4;
		rest.p = word.p + word.len + 2;
	}
	out_str(out, rest);
	out_finish(out);
}

int
main(int argc, char *argv[])
{
	const char *path = NULL, *title = "tl-report";
	struct page p = { .no_table_yet = true,
		.sides = { STR_INIT("before"), STR_INIT("after") } };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1) {
		switch (ch) {
		case 'o': path = op.arg; break;
		case OPT_NAMES: opt_pair(&op, p.sides); break;
		case OPT_VS: stream_paths(&p.others, op.arg, false); break;
		case OPT_TITLE: title = op.arg; break;
		default: (void)select_front_opt(&p.select, &op, ch); break;
		}
	}
	if (path == NULL)
		die_usage("option '-o' is missing: a page needs a FILE");
	stream_unite(&op);
	p.select.is_several = (size_t)(op.argc - op.ind) + p.others.n > 1;
	p.dict = dict_create();
	p.names.dict = p.dict;
	p.threads = names_create(p.dict);
	p.lanes = lanes_new(p.dict, p.threads);
	for (size_t i = 0; i < NCLOCKS; i++)
		p.stacks[i] = icicle_new(p.dict, p.others.n > 0, i == HOST);
	buf_puts(&p.tables, "[");
	for (int i = op.ind; i < op.argc; i++)
		read_operand(&p, argv[i], 0);
	for (size_t i = 0; i < p.others.n; i++)
		read_operand(&p, p.others.v[i], 1);
	select_front_end(&p.select);
	write_page(&p, path, title);
	lanes_free(p.lanes);
	for (size_t i = 0; i < NCLOCKS; i++)
		icicle_free(p.stacks[i]);
	names_destroy(p.threads);
	for (size_t i = 0; i < p.others.n; i++)
		free(p.others.v[i]);
	vec_free(&p.others);
	map_free(&p.names.numbers);
	vec_free(&p.names.list);
	dict_destroy(p.dict);
	return exit_status();
}

/* SPDX-License-Identifier: MIT */
/* What the readers share: lines, errors, detecting the kind of a table. */
#include "reader/reader.h"

void
reader_free(struct reader *r)
{
	buf_free(&r->error);
}

const unsigned char *
reader_line(struct reader *r)
{
	struct in *in = r->in;
	const unsigned char *nl;
	size_t seen = 0;

	for (;;) {
		size_t n = (size_t)(in->end - in->p);

		nl = n > seen ? memchr(in->p + seen, '\n', n - seen) : NULL;
		if (nl != NULL)
			return nl;
		seen = n;
		if (!in_more(in))
			break;
	}
	if (in->p == in->end)
		return NULL;
	r->unfinished = true;
	return in->end;
}

/* Moves over a UTF-8 byte order mark; refuses UTF-16. */
static bool
reader_bom(struct reader *r)
{
	const unsigned char *p;

	if (!in_need(r->in, 3) && r->in->end - r->in->p < 2)
		return true;
	p = r->in->p;
	if ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff))
		return buf_fail(&r->error, "this is UTF-16, tables are UTF-8");
	if (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf)
		r->in->p += 3;
	return true;
}

/* ---- rows without types ---- */

static bool
plain_head(
    struct reader *r, struct plain *t, const struct str *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct head_column c = { .id = fields[i],
			.label = fields[i],
			.type = COL_TEXT,
			.label_div = 1 };

		vec_push(&t->columns, c);
	}
	struct head head = { .columns = t->columns.v, .ncolumns = n };

	t->has_head = true;
	r->sink->begin(r->sink->ctx, &head);
	return true;
}

bool
plain_row(struct reader *r, struct plain *t, const struct str *fields, size_t n)
{
	if (!t->has_head)
		return plain_head(r, t, fields, n);
	if (n != t->columns.n)
		return buf_fail(&r->error, "%zu fields, the header has %zu", n,
		    t->columns.n);
	t->cells.n = 0;
	for (size_t i = 0; i < n; i++)
		vec_push(&t->cells, val_of_text(fields[i]));
	r->sink->row(r->sink->ctx, t->cells.v);
	return true;
}

void
plain_free(struct plain *t)
{
	vec_free(&t->columns);
	vec_free(&t->cells);
}

/* ---- kinds ---- */

static enum table_kind
kind_of_name(const char *name)
{
	static const struct {
		struct str ext;
		enum table_kind kind;
	} kinds[] = { { STR_INIT(".csv"), TABLE_CSV },
		{ STR_INIT(".tsv"), TABLE_TSV },
		{ STR_INIT(".ndjson"), TABLE_NDJSON },
		{ STR_INIT(".jsonl"), TABLE_NDJSON } };
	struct str s = str_of(name);

	if (str_ends(s, STR(".gz")))
		s.len -= 3;
	else if (str_ends(s, STR(".zst")))
		s.len -= 4;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (str_ends(s, kinds[i].ext))
			return kinds[i].kind;
	return TABLE_UNKNOWN;
}

/* First bytes of files that are often passed instead of a table. */
static bool
refuse_others(struct reader *r, struct str head)
{
	static const struct {
		struct str start;
		const char *what;
	} others[] = {
		{ STR_INIT("\x89TLS"),
		    "this is an event stream, not a table: tl-timeline "
		    "--format ndjson, tl-cat --tsv and others make one" },
		{ STR_INIT("{\"tl\":"),
		    "this is an event stream, not a table: tl-timeline "
		    "--format ndjson, tl-cat --tsv and others make one" },
		{ STR_INIT("PK\x03\x04"),
		    "this is a zip file (a workbook?), not a table" },
		{ STR_INIT("[{"),
		    "this is a JSON array (a trace?), not a table" },
		{ STR_INIT("[\n"),
		    "this is a JSON array (a trace?), not a table" },
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (str_starts(head, others[i].start))
			return buf_fail(&r->error, "%s", others[i].what);
	return true;
}

enum table_kind
table_sniff(struct reader *r, const char *name)
{
	enum table_kind kind = kind_of_name(name);
	const unsigned char *end, *p;

	r->line = 0;
	if (!in_need(r->in, 1)) {
		buf_fail(&r->error, "the input is empty");
		return TABLE_UNKNOWN;
	}
	(void)!in_need(r->in, 64);
	p = r->in->p;
	if (!refuse_others(
		r, (struct str){ (const char *)p, (size_t)(r->in->end - p) }))
		return TABLE_UNKNOWN;
	if (kind != TABLE_UNKNOWN)
		return kind;
	end = reader_line(r);
	r->unfinished = false;
	p = r->in->p; /* the window may have moved */
	if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	if (p < end && *p == '{')
		return TABLE_NDJSON;
	if (memchr(r->in->p, '\t', (size_t)(end - r->in->p)) == NULL &&
	    memchr(p, ',', (size_t)(end - p)) != NULL)
		return TABLE_CSV;
	return TABLE_TSV;
}

bool
table_is_one(struct in *in)
{
	const unsigned char *p;

	if (kind_of_name(in->name) != TABLE_UNKNOWN)
		return true;
	(void)!in_need(in, 64);
	p = in->p;
	while (p < in->end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	if (p < in->end && (*p == '{' || *p == '['))
		return in->end - p > 9 && memcmp(p, "{\"table\":", 9) == 0;
	while (p < in->end && *p != '\n' && (*p >= ' ' || *p == '\t'))
		p++;
	return p == in->end || *p == '\n' || *p == '\r';
}

bool
table_read(struct reader *r, enum table_kind kind)
{
	r->line = 0;
	if (!reader_bom(r))
		return false;
	if (!in_need(r->in, 1))
		return buf_fail(&r->error, "the input is empty");
	switch (kind) {
	case TABLE_NDJSON: return ndjson_read(r);
	case TABLE_CSV: return csv_read(r);
	case TABLE_TSV:
	case TABLE_UNKNOWN: break;
	}
	return tsv_read(r);
}

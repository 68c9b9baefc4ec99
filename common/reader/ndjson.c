/* SPDX-License-Identifier: MIT */
/*
 * Typed NDJSON, as common/table writes it: for each table a line of schema, a
 * line a row, a line that says its end. An input that stops before such an end
 * was cut off. The end's count is not enforced: jq may have dropped rows.
 */
#include <stdlib.h>

#include "json/json.h"

#include "reader/reader.h"

/* Rows out of order cost its square; a sheet holds a quarter of it. */
#define COLUMNS_MAX 65536

struct member {
	struct str key;
	enum json_token type;
	struct str raw; /* a string's text, else the value as written */
	bool escaped;
};

struct ndjson {
	struct reader *r;
	struct json j;
	VEC(struct member) members; /* of the line at hand */
	VEC(struct head_column) columns;
	VEC(struct val) cells;
	struct arena *head_text, *row_text;
	struct buf scratch;
	struct str name; /* of the open table */
	bool is_open;
	bool *seen; /* columns of the row at hand */
};

static int
shown(struct str s)
{
	return (int)(s.len < 60 ? s.len : 60);
}

/* ---- one line: an object's members ---- */

/* A string's text in the arena, or as it is. */
static enum json_status
text_of(struct ndjson *n, struct arena *a, bool escaped, struct str *s)
{
	const char *error;
	size_t at;

	if (!escaped)
		return JSON_OK;
	n->scratch.len = 0;
	if (!json_unescape(*s, &n->scratch, &error, &at))
		return json_fail(
		    &n->j, (const unsigned char *)s->p + at, error);
	*s = arena_str(a, buf_str(&n->scratch));
	return JSON_OK;
}

static enum json_status
take_value(struct ndjson *n, struct member *m)
{
	struct json *j = &n->j;
	const unsigned char *from;
	enum json_status st;

	m->type = json_next(j);
	m->raw = j->raw;
	m->escaped = m->type == JSON_T_STRING && j->escaped;
	if (m->type == JSON_T_MORE)
		return JSON_MORE;
	if (m->type == JSON_T_BAD)
		return JSON_BAD;
	if (m->type != JSON_T_OBJECT && m->type != JSON_T_ARRAY)
		return JSON_OK;
	from = j->p - 1;
	st = json_skip(j);
	m->raw = (struct str){ (const char *)from, (size_t)(j->p - from) };
	return st;
}

static enum json_status
status_of(enum json_token t)
{
	return t == JSON_T_MORE ? JSON_MORE
	    : t == JSON_T_BAD   ? JSON_BAD
				: JSON_OK;
}

/* The members of the object at in->p; the cursor ends behind it. */
static enum json_status
take_members(struct ndjson *n)
{
	struct json *j = &n->j;
	enum json_token t;
	enum json_status st;

	n->members.n = 0;
	arena_reset(n->row_text, 0);
	json_start(j, n->r->in->p, (size_t)(n->r->in->end - n->r->in->p));
	j->eof = n->r->in->eof;
	t = json_next(j);
	if (t >= JSON_T_END && t != JSON_T_OBJECT)
		return json_fail(j, n->r->in->p, "a line that is no object");
	if (t < JSON_T_END)
		return status_of(t);
	while ((t = json_next(j)) == JSON_T_KEY) {
		struct member *m = vec_add(&n->members);

		m->key = j->raw;
		st = text_of(n, n->row_text, j->escaped, &m->key);
		if (st == JSON_OK)
			st = take_value(n, m);
		if (st != JSON_OK)
			return st;
	}
	return t == JSON_T_OBJECT_END ? JSON_OK : status_of(t);
}

static uint64_t
count_lines(const unsigned char *p, const unsigned char *end)
{
	uint64_t n = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		n++;
		p++;
	}
	return n;
}

static bool
fail_json(struct ndjson *n)
{
	struct in *in = n->r->in;

	n->r->line += count_lines(in->p, n->j.where);
	if (n->j.where == in->end && in->eof)
		return reader_fail(n->r, "the table was cut off in a line");
	return reader_fail(n->r, "%s", n->j.error);
}

/* Moves to the next line with something on it; false at the data's end. */
static bool
skip_blank(struct ndjson *n)
{
	struct in *in = n->r->in;

	do {
		while (in->p < in->end && strchr(" \t\r\n", *in->p) != NULL &&
		    *in->p != '\0')
			n->r->line += *in->p++ == '\n';
		if (in->p < in->end)
			return true;
	} while (in_more(in));
	return false;
}

/* The next object: 1, 0 at the end, -1 after an error. */
static int
next_object(struct ndjson *n)
{
	enum json_status st;

	if (!skip_blank(n))
		return 0;
	(void)reader_line(n->r); /* all of it is at hand */
	while ((st = take_members(n)) == JSON_MORE)
		(void)!in_more(n->r->in);
	if (st == JSON_OK)
		return 1;
	(void)fail_json(n);
	return -1;
}

static bool
behind_object(struct ndjson *n)
{
	struct in *in = n->r->in;

	n->r->line += count_lines(in->p, n->j.p);
	in->p = n->j.p;
	while (in->p < in->end &&
	    (*in->p == ' ' || *in->p == '\t' || *in->p == '\r'))
		in->p++;
	if (in->p < in->end && *in->p != '\n')
		return reader_fail(n->r, "something behind the line's object");
	in_release(in);
	return true;
}

/* ---- schema ---- */

static bool
word_of(struct str s, const char *const *words, int *out)
{
	for (int i = 0; words[i] != NULL; i++)
		if (str_eq(s, str_of(words[i]))) {
			*out = i;
			return true;
		}
	return false;
}

/* Members of a column that this version does not know are passed over. */
static bool
column_member(struct ndjson *n, struct head_column *c, struct str key,
    const struct member *m)
{
	static const char *const types[] = { [COL_TEXT] = "text",
		[COL_INT] = "int",
		[COL_REAL] = "real",
		[COL_BOOL] = "bool",
		[COL_JSON] = "json",
		NULL };
	static const char *const units[] = { [UNIT_NONE] = "",
		[UNIT_NS] = "ns",
		[UNIT_BYTES] = "bytes",
		[UNIT_PERCENT] = "percent",
		[UNIT_COUNT] = "count",
		NULL };
	bool is_text = m->type == JSON_T_STRING;
	int word = 0;

	if (str_eq(key, STR("id")) && is_text) {
		c->id = m->raw;
	} else if (str_eq(key, STR("label")) && is_text) {
		c->label = m->raw;
	} else if (str_eq(key, STR("type")) && is_text) {
		if (!word_of(m->raw, types, &word))
			return reader_fail(n->r, "no such type: %.*s",
			    shown(m->raw), m->raw.p);
		c->type = (enum col_type)word;
	} else if (str_eq(key, STR("unit")) && is_text) {
		/* a unit of a later version is none */
		(void)!word_of(m->raw, units, &word);
		c->unit = (enum unit)word;
	} else if (str_eq(key, STR("label_div"))) {
		if (m->type != JSON_T_NUMBER ||
		    !num_double(m->raw, &c->label_div) || !(c->label_div > 0))
			return reader_fail(n->r, "label_div is no divisor");
	} else if (str_eq(key, STR("folded"))) {
		c->flags |= m->type == JSON_T_TRUE ? COL_FOLDED : 0;
	} else if (str_eq(key, STR("wrapped"))) {
		c->flags |= m->type == JSON_T_TRUE ? COL_WRAPPED : 0;
	} else if (str_eq(key, STR("better")) && is_text) {
		c->flags |= str_eq(m->raw, STR("less")) ? COL_BETTER_LESS
		    : str_eq(m->raw, STR("more"))       ? COL_BETTER_MORE
							: 0;
	}
	return true;
}

/* At the members of one column: its object is open. */
static bool
take_column(struct ndjson *n)
{
	struct head_column c = { .type = COL_TEXT, .label_div = 1 };
	struct json *j = &n->j;

	while (json_next(j) == JSON_T_KEY) {
		struct member m;
		struct str key = j->raw;

		if (text_of(n, n->head_text, j->escaped, &key) != JSON_OK ||
		    take_value(n, &m) != JSON_OK ||
		    text_of(n, n->head_text, m.escaped, &m.raw) != JSON_OK)
			return reader_fail(n->r, "%s", j->error);
		if (!column_member(n, &c, key, &m))
			return false;
	}
	if (c.id.p == NULL)
		return reader_fail(n->r, "a column without id");
	if (n->columns.n == COLUMNS_MAX)
		return reader_fail(
		    n->r, "more than %d columns", (int)COLUMNS_MAX);
	if (c.label.p == NULL)
		c.label = c.id;
	vec_push(&n->columns, c);
	return true;
}

/* The array's text was validated when its line was read. */
static bool
take_columns(struct ndjson *n, struct str raw)
{
	unsigned char *copy = arena_alloc(n->head_text, raw.len + IN_PAD);
	enum json_token t;

	memcpy(copy, raw.p, raw.len);
	memset(copy + raw.len, 0, IN_PAD);
	json_start(&n->j, copy, raw.len);
	n->columns.n = 0;
	(void)json_next(&n->j); /* the bracket */
	while ((t = json_next(&n->j)) == JSON_T_OBJECT)
		if (!take_column(n))
			return false;
	if (t != JSON_T_ARRAY_END)
		return reader_fail(n->r, "a column that is no object");
	return true;
}

static const struct member *
member_of(const struct ndjson *n, struct str key)
{
	for (size_t i = 0; i < n->members.n; i++)
		if (str_eq(n->members.v[i].key, key))
			return &n->members.v[i];
	return NULL;
}

static bool
refuse_other(struct ndjson *n)
{
	static const struct str trace[] = { STR_INIT("traceEvents"),
		STR_INIT("schemaVersion"), STR_INIT("rocprofiler-sdk-tool") };

	for (size_t i = 0; i < sizeof trace / sizeof *trace; i++)
		if (member_of(n, trace[i]) != NULL)
			return reader_fail(n->r,
			    "this is a trace, not a table: what shall be said "
			    "of it? (tl-timeline --format ndjson, ...)");
	if (member_of(n, STR("id")) != NULL &&
	    member_of(n, STR("kind")) != NULL)
		return reader_fail(n->r,
		    "this is an event stream, not a table (tl-cat --tsv makes "
		    "one)");
	return reader_fail(n->r,
	    "a row before any schema ({\"table\":NAME,\"columns\":[...]})");
}

static bool
open_table(struct ndjson *n)
{
	const struct member *name = member_of(n, STR("table"));
	const struct member *columns = member_of(n, STR("columns"));
	const unsigned char *behind = n->j.p;

	if (name == NULL || columns == NULL)
		return refuse_other(n);
	if (name->type != JSON_T_STRING || columns->type != JSON_T_ARRAY)
		return reader_fail(n->r, "the schema is none of ours");
	arena_reset(n->head_text, 0);
	n->name = name->raw;
	if (text_of(n, n->head_text, name->escaped, &n->name) != JSON_OK)
		return reader_fail(n->r, "%s", n->j.error);
	n->name = arena_str(n->head_text, n->name);
	if (!take_columns(n, columns->raw))
		return false;
	n->j.p = behind;
	n->is_open = true;
	vec_release(n->seen);
	n->seen = xcalloc(n->columns.n + 1, sizeof *n->seen);

	struct head head = { n->name, n->columns.v, n->columns.n, true };

	n->r->sink->begin(n->r->sink->ctx, &head);
	return true;
}

/* ---- rows ---- */

static bool
wrong_type(struct ndjson *n, const struct head_column *c, const char *what)
{
	static const char *const types[] = { [COL_TEXT] = "text",
		[COL_INT] = "int",
		[COL_REAL] = "real",
		[COL_BOOL] = "bool",
		[COL_JSON] = "json" };

	return reader_fail(n->r, "column \"%.*s\" is %s, not %s", shown(c->id),
	    c->id.p, types[c->type], what);
}

static bool
take_string(struct ndjson *n, const struct head_column *c,
    const struct member *m, struct val *v)
{
	*v = (struct val){ .type = VAL_TEXT, .text = m->raw };
	if (c->type == COL_JSON) { /* with its quotes, as JSON */
		v->text.p--;
		v->text.len += 2;
		return true;
	}
	if (c->type != COL_TEXT)
		return wrong_type(n, c, "text");
	if (text_of(n, n->row_text, m->escaped, &v->text) != JSON_OK)
		return reader_fail(n->r, "%s", n->j.error);
	return true;
}

static bool
take_cell(struct ndjson *n, const struct head_column *c, const struct member *m,
    struct val *v)
{
	bool is_text = c->type == COL_TEXT || c->type == COL_JSON;

	*v = (struct val){ .type = VAL_NONE };
	switch (m->type) {
	case JSON_T_STRING: return take_string(n, c, m, v);
	case JSON_T_NUMBER:
		*v = is_text ? (struct val){ .type = VAL_TEXT, .text = m->raw }
			     : val_of_number(m->raw);
		return true;
	case JSON_T_TRUE:
	case JSON_T_FALSE:
		*v = (struct val){ .type = VAL_BOOL,
			.yes = m->type == JSON_T_TRUE };
		return true;
	case JSON_T_OBJECT:
	case JSON_T_ARRAY:
		if (!is_text)
			return wrong_type(n, c, "a list or an object");
		*v = (struct val){ .type = VAL_TEXT, .text = m->raw };
		return true;
	default: return true; /* null, NaN: no figure */
	}
}

/* Rows are mostly in the schema's order, so the search begins there. */
static size_t
column_of(const struct ndjson *n, struct str key, size_t guess)
{
	for (size_t k = 0; k < n->columns.n; k++) {
		size_t i = guess + k;

		i -= i >= n->columns.n ? n->columns.n : 0;
		if (str_eq(n->columns.v[i].id, key))
			return i;
	}
	return n->columns.n;
}

static bool
take_row(struct ndjson *n)
{
	size_t guess = 0;

	n->cells.n = 0;
	for (size_t i = 0; i < n->columns.n; i++)
		vec_push(&n->cells, (struct val){ .type = VAL_NONE });
	memset(n->seen, 0, n->columns.n * sizeof *n->seen);
	for (size_t i = 0; i < n->members.n; i++) {
		const struct member *m = &n->members.v[i];
		size_t at = column_of(n, m->key, guess);

		if (at == n->columns.n)
			return reader_fail(n->r,
			    "table \"%.*s\" has no column \"%.*s\"",
			    shown(n->name), n->name.p, shown(m->key), m->key.p);
		if (n->seen[at])
			return reader_fail(n->r, "\"%.*s\" stands there twice",
			    shown(m->key), m->key.p);
		n->seen[at] = true;
		if (!take_cell(n, &n->columns.v[at], m, &n->cells.v[at]))
			return false;
		guess = at + 1 < n->columns.n ? at + 1 : 0;
	}
	n->r->sink->row(n->r->sink->ctx, n->cells.v);
	return true;
}

/* {"end":{"rows":1}}: nothing else on the line. */
static bool
is_end(const struct ndjson *n)
{
	return n->members.n == 1 && n->members.v[0].type == JSON_T_OBJECT &&
	    str_eq(n->members.v[0].key, STR("end"));
}

static bool
is_schema(const struct ndjson *n)
{
	return n->members.n >= 2 && str_eq(n->members.v[0].key, STR("table")) &&
	    str_eq(n->members.v[1].key, STR("columns")) &&
	    n->members.v[1].type == JSON_T_ARRAY;
}

static bool
cut_off(struct ndjson *n)
{
	return reader_fail(n->r,
	    "table \"%.*s\" was cut off: it has no end line", shown(n->name),
	    n->name.p);
}

static bool
take_object(struct ndjson *n)
{
	if (!n->is_open)
		return open_table(n);
	if (is_end(n)) {
		n->is_open = false;
		n->r->ntables++;
		n->r->sink->end(n->r->sink->ctx);
		return true;
	}
	if (is_schema(n))
		return cut_off(n);
	return take_row(n);
}

bool
ndjson_read(struct reader *r)
{
	struct ndjson *n = xcalloc(1, sizeof *n);
	bool good = true;
	int more = 0;

	n->r = r;
	n->head_text = arena_create();
	n->row_text = arena_create();
	r->line = 1;
	while (good && (more = next_object(n)) == 1)
		good = take_object(n) && behind_object(n);
	good = good && more == 0;
	if (good && n->is_open)
		good = cut_off(n);
	else if (good && r->ntables == 0)
		good = reader_fail(r, "the input is empty");
	r->unfinished = false; /* the end line has told */
	vec_free(&n->members);
	vec_free(&n->columns);
	vec_free(&n->cells);
	vec_release(n->seen);
	buf_free(&n->scratch);
	arena_destroy(n->head_text);
	arena_destroy(n->row_text);
	vec_release(n);
	return good;
}

/* SPDX-License-Identifier: MIT */
/*
 * Typed NDJSON, as common/table writes it: for each table a schema line, a line
 * per row, an end line. An input without the end line was cut off. The end's
 * row count is not enforced, as jq may have dropped rows.
 */
#include <stdlib.h>

#include "reader/ndjson.h"

/*
 * Rows with members in another order take time quadratic in this; a sheet of a
 * workbook has a quarter of it.
 */
#define COLUMNS_MAX 65536

static int
shown(struct str s)
{
	return (int)(s.len < 60 ? s.len : 60);
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

/* Skips members of a column that this version does not know. */
static bool
column_member(struct ndjson *n, struct head_column *c, struct str key,
    const struct member *m)
{
	bool is_text = m->type == JSON_T_STRING;
	int word = 0;

	if (str_eq(key, STR("id")) && is_text) {
		c->id = m->raw;
	} else if (str_eq(key, STR("label")) && is_text) {
		c->label = m->raw;
	} else if (str_eq(key, STR("type")) && is_text) {
		if (!word_of(m->raw, col_type_words, &word))
			return buf_fail(&n->r->error, "no such type: %.*s",
			    shown(m->raw), m->raw.p);
		c->type = (enum col_type)word;
	} else if (str_eq(key, STR("unit")) && is_text) {
		/* ignores units of later versions */
		(void)!word_of(m->raw, col_unit_words, &word);
		c->unit = (enum unit)word;
	} else if (str_eq(key, STR("label_div"))) {
		if (m->type != JSON_T_NUMBER ||
		    !num_double(m->raw, &c->label_div) || !(c->label_div > 0))
			return buf_fail(
			    &n->r->error, "label_div is no divisor");
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

/* At the members of one column, after its opening brace. */
static bool
take_column(struct ndjson *n)
{
	struct head_column c = { .type = COL_TEXT, .label_div = 1 };
	struct json *j = &n->j;

	while (json_next(j) == JSON_T_KEY) {
		struct member m;
		struct str key = j->raw;

		if (ndjson_text_of(n, n->head_text, j->escaped, &key) !=
			JSON_OK ||
		    ndjson_take_value(n, &m) != JSON_OK ||
		    ndjson_text_of(n, n->head_text, m.escaped, &m.raw) !=
			JSON_OK)
			return buf_fail(&n->r->error, "%s", j->error);
		if (!column_member(n, &c, key, &m))
			return false;
	}
	if (c.id.p == NULL)
		return buf_fail(&n->r->error, "a column without id");
	if (n->columns.n == COLUMNS_MAX)
		return buf_fail(
		    &n->r->error, "more than %d columns", (int)COLUMNS_MAX);
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
	(void)json_next(&n->j); /* the opening bracket */
	while ((t = json_next(&n->j)) == JSON_T_OBJECT)
		if (!take_column(n))
			return false;
	if (t != JSON_T_ARRAY_END)
		return buf_fail(&n->r->error, "a column that is no object");
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
			return buf_fail(&n->r->error,
			    "this is a trace, not a table: tl-timeline "
			    "--format ndjson and others make one");
	if (member_of(n, STR("id")) != NULL &&
	    member_of(n, STR("kind")) != NULL)
		return buf_fail(&n->r->error,
		    "this is an event stream, not a table: tl-cat --tsv makes "
		    "one");
	return buf_fail(&n->r->error,
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
		return buf_fail(&n->r->error, "not a schema of tl");
	arena_reset(n->head_text, 0);
	n->name = name->raw;
	if (ndjson_text_of(n, n->head_text, name->escaped, &n->name) != JSON_OK)
		return buf_fail(&n->r->error, "%s", n->j.error);
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
	return buf_fail(&n->r->error, "column \"%.*s\" is %s, not %s",
	    shown(c->id), c->id.p, col_type_words[c->type], what);
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
	if (ndjson_text_of(n, n->row_text, m->escaped, &v->text) != JSON_OK)
		return buf_fail(&n->r->error, "%s", n->j.error);
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

/* Rows are mostly in the schema's order, so the search starts there. */
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
			return buf_fail(&n->r->error,
			    "table \"%.*s\" has no column \"%.*s\"",
			    shown(n->name), n->name.p, shown(m->key), m->key.p);
		if (n->seen[at])
			return buf_fail(&n->r->error, "\"%.*s\" appears twice",
			    shown(m->key), m->key.p);
		n->seen[at] = true;
		if (!take_cell(n, &n->columns.v[at], m, &n->cells.v[at]))
			return false;
		guess = at + 1 < n->columns.n ? at + 1 : 0;
	}
	n->r->sink->row(n->r->sink->ctx, n->cells.v);
	return true;
}

/* {"end":{"rows":1}}, alone on its line. */
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
	return buf_fail(&n->r->error,
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
	while (good && (more = ndjson_next_object(n)) == 1)
		good = take_object(n) && ndjson_behind_object(n);
	good = good && more == 0;
	if (good && n->is_open)
		good = cut_off(n);
	else if (good && r->ntables == 0)
		good = buf_fail(&r->error, "the input is empty");
	r->unfinished = false; /* the end line was read */
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

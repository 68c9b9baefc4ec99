/* SPDX-License-Identifier: MIT */
/* One line of typed NDJSON: an object's members. */
#include "reader/ndjson.h"

/* A string's text in the arena, or as it is. */
enum json_status
ndjson_text_of(struct ndjson *n, struct arena *a, bool escaped, struct str *s)
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

enum json_status
ndjson_take_value(struct ndjson *n, struct member *m)
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

/* The members of the object at in->p; moves past it. */
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
		st = ndjson_text_of(n, n->row_text, j->escaped, &m->key);
		if (st == JSON_OK)
			st = ndjson_take_value(n, m);
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
		return buf_fail(
		    &n->r->error, "the table was cut off in a line");
	return buf_fail(&n->r->error, "%s", n->j.error);
}

/* Moves to the next line that is not blank; false at the end of the data. */
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
int
ndjson_next_object(struct ndjson *n)
{
	enum json_status st;

	if (!skip_blank(n))
		return 0;
	(void)reader_line(n->r); /* now the window holds the whole line */
	while ((st = take_members(n)) == JSON_MORE)
		(void)!in_more(n->r->in);
	if (st == JSON_OK)
		return 1;
	(void)fail_json(n);
	return -1;
}

bool
ndjson_behind_object(struct ndjson *n)
{
	struct in *in = n->r->in;

	n->r->line += count_lines(in->p, n->j.p);
	in->p = n->j.p;
	while (in->p < in->end &&
	    (*in->p == ' ' || *in->p == '\t' || *in->p == '\r'))
		in->p++;
	if (in->p < in->end && *in->p != '\n')
		return buf_fail(
		    &n->r->error, "something behind the line's object");
	in_release(in);
	return true;
}

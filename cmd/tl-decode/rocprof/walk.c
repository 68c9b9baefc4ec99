/* SPDX-License-Identifier: MIT */
/* Walking one small JSON text: an object of scalars to paths and values. */
#include "cmd/tl-decode/rocprof/rocprof.h"

#define PATH_MAX_DEPTH 8

static enum json_token
value_of_token(
    struct json *j, enum json_token t, struct value *v, struct buf *text)
{
	struct json at = { 0 };
	struct json_num num;
	const char *error;
	size_t where;

	*v = (struct value){ .type = VAL_NULL };
	switch (t) {
	case JSON_T_TRUE: v->type = VAL_TRUE; break;
	case JSON_T_FALSE: v->type = VAL_FALSE; break;
	case JSON_T_NAN:
		v->type = VAL_NUM;
		v->s = j->raw;
		break;
	case JSON_T_STRING:
		text->len = 0;
		(void)!json_unescape(j->raw, text, &error, &where);
		v->type = VAL_STR;
		v->s = buf_str(text);
		break;
	case JSON_T_NUMBER:
		at.p = (const unsigned char *)j->raw.p;
		at.end = j->end;
		at.eof = true;
		if (json_number(&at, &num) != JSON_OK)
			break;
		switch (num.type) {
		case JSON_INT:
			v->type = VAL_INT;
			v->i = num.i;
			break;
		case JSON_UINT:
			v->type = VAL_UINT;
			v->u = num.u;
			break;
		case JSON_DEC:
			v->type = VAL_DEC;
			v->dec = num.dec;
			break;
		case JSON_TEXT:
			v->type = VAL_NUM;
			v->s = num.text;
			break;
		}
		break;
	default: break;
	}
	return t;
}

/* A list or object at its opening bracket, already read, as an entry. */
static void
value_of_list(struct process *p, struct value *v)
{
	struct json *j = &p->sub;
	const unsigned char *from = j->p - 1;
	const char *error;
	size_t at;

	if (json_skip(j) != JSON_OK)
		rocprof_die(p, j->where, j->error);
	p->list.len = 0;
	if (!json_minify(
		(struct str){ (const char *)from, (size_t)(j->p - from) }, 2,
		&p->list, &error, &at))
		rocprof_die(p, from + at, error);
	*v = (struct value){ .type = VAL_JSON, .s = buf_str(&p->list) };
}

/* A key, unescaped, at the end of the path. */
static void
add_key(struct process *p)
{
	const char *error;
	size_t at;

	if (!json_unescape(p->sub.raw, &p->path, &error, &at))
		rocprof_die(p, p->sub.raw.p + at, error);
}

void
rocprof_die(struct process *p, const void *where, const char *reason)
{
	const unsigned char *at = where, *copy = (const unsigned char *)p->copy;

	if (copy != NULL)
		source_die_at(
		    p->s, p->copy_offset + (uint64_t)(at - copy), reason);
	source_die(p->s, at, reason);
}

void
rocprof_flatten(struct process *p, struct str text, path_fn *fn)
{
	struct json *j = &p->sub;
	size_t prefix[PATH_MAX_DEPTH];
	size_t depth = 0;
	enum json_token t;

	json_start(j, text.p, text.len);
	p->path.len = 0;
	while ((t = json_next(j)) > JSON_T_END) {
		struct value v;

		switch (t) {
		case JSON_T_OBJECT:
			if (depth == PATH_MAX_DEPTH) {
				value_of_list(p, &v);
				break;
			}
			if (depth > 0)
				buf_putc(&p->path, '.');
			prefix[depth++] = p->path.len;
			continue;
		case JSON_T_OBJECT_END:
			depth--;
			p->path.len = prefix[depth];
			continue;
		case JSON_T_KEY:
			if (depth == 0)
				continue;
			p->path.len = prefix[depth - 1];
			add_key(p);
			continue;
		case JSON_T_ARRAY: value_of_list(p, &v); break;
		default: value_of_token(j, t, &v, &p->text); break;
		}
		if (depth > 0)
			fn(p, buf_str(&p->path), &v);
	}
	if (t != JSON_T_END)
		rocprof_die(p, j->where, j->error);
}

/* SPDX-License-Identifier: MIT */
/* Walks a small JSON text: an object of scalars as paths and values. */
#include "cmd/tl-decode/rocprof/rocprof.h"

#include "stream/from-json.h"

#define PATH_MAX_DEPTH 8

/* Appends an unescaped key to the path. */
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
			if (depth == PATH_MAX_DEPTH)
				break;
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
		default: break;
		}
		if (!value_of_json(j, t, 1, &p->text, &v))
			rocprof_die(p, j->where, j->error);
		if (depth > 0)
			fn(p, buf_str(&p->path), &v);
	}
	if (t != JSON_T_END)
		rocprof_die(p, j->where, j->error);
}

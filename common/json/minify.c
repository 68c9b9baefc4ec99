/* SPDX-License-Identifier: MIT */
/*
 * minify: one value without its white space. json_next() checks the grammar;
 * whatever the cursor passed is copied, except blanks.
 */
#include "json/json.h"

/* From p to the cursor: a comma or colon, and a token as written. */
static void
put_token(struct buf *out, const unsigned char *p, const struct json *j)
{
	for (; json_is_space(*p) || *p == ',' || *p == ':'; p++)
		if (!json_is_space(*p))
			out->p[out->len++] = (char)*p;
	memmove(out->p + out->len, p, (size_t)(j->p - p));
	out->len += (size_t)(j->p - p);
}

/*
 * The output is never longer than the input, so reserve once. Both may share
 * memory, as in json_minify().
 */
bool
json_copy(struct json *j, unsigned depth, struct buf *out)
{
	const unsigned char *p = j->p - 1;
	uint32_t outside = j->depth - 1;
	size_t before = out->len;

	buf_room(out, (size_t)(j->end - p));
	do {
		if (j->depth + depth > JSON_MAX_DEPTH) {
			(void)json_fail(
			    j, j->p - 1, "nesting deeper than 10000");
			break;
		}
		put_token(out, p, j);
		if (j->depth == outside)
			return true;
		p = j->p;
	} while (json_next(j) > JSON_T_END);
	out->len = before;
	return false;
}

bool
json_minify(struct str raw, unsigned depth, struct buf *out, const char **error,
    size_t *at)
{
	size_t before = out->len;
	unsigned char *start;
	enum json_token t;
	struct json j;
	bool good;

	buf_room(out, raw.len + IN_PAD);
	start = (unsigned char *)out->p + before;
	if (raw.len > 0)
		memcpy(start, raw.p, raw.len);
	memset(start + raw.len, 0, IN_PAD);
	json_start(&j, start, raw.len);
	t = json_next(&j);
	good = t > JSON_T_END;
	if (t == JSON_T_OBJECT || t == JSON_T_ARRAY)
		good = json_copy(&j, depth, out);
	else if (good)
		put_token(out, start, &j);
	json_space(&j);
	if (good && j.p < j.end) {
		(void)json_fail(&j, j.p, "expected nothing after the value");
		good = false;
	}
	if (good)
		return true;
	out->len = before;
	*error = j.error;
	*at = (size_t)(j.where - start);
	return false;
}

/* SPDX-License-Identifier: MIT */
/*
 * One text, all ways to read it. They must agree:
 *
 *	- the tokens and the minifier accept the same texts, and name the same
 *	  byte where they don't;
 *	- a minified text minifies to itself and has the same tokens;
 *	- the span of an accepted text is all of it;
 *	- an accepted list or object splits, and nothing else does;
 *	- a window that ends early asks for more, or ends in the same error;
 *	- an unescaped string, written and read again, is the same.
 */
#include <stdlib.h>

#include "json/json.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

static struct json j;

/* The text followed by zeros; ASan guards their end. */
static unsigned char *
padded(const void *p, size_t n)
{
	unsigned char *copy = xcalloc(1, n + IN_PAD);

	if (n > 0)
		memcpy(copy, p, n);
	return copy;
}

static void
string(struct str raw)
{
	struct buf text = { 0 }, again = { 0 }, back = { 0 };
	const char *error;
	size_t at;

	CHECK(json_unescape(raw, &text, &error, &at));
	json_put_string(&again, buf_str(&text));
	CHECK(json_unescape(
	    (struct str){ again.p + 1, again.len - 2 }, &back, &error, &at));
	CHECK(str_eq(buf_str(&text), buf_str(&back)));
	buf_free(&text);
	buf_free(&again);
	buf_free(&back);
}

static void
number(struct str raw)
{
	struct json k;
	struct json_num num;
	unsigned char *p = padded(raw.p, raw.len);

	json_start(&k, p, raw.len);
	CHECK(json_number(&k, &num) == JSON_OK);
	CHECK(k.p == k.end && num.text.len == raw.len);
	free(p);
}

/* Hashes the tokens; false: an error at *byte. */
static bool
tokens(const unsigned char *p, size_t n, uint64_t *hash, size_t *byte)
{
	enum json_token t;

	*hash = 0;
	json_start(&j, p, n);
	while ((t = json_next(&j)) > JSON_T_END) {
		*hash = hash_u64(*hash ^ (uint64_t)t);
		if (t == JSON_T_KEY || t == JSON_T_STRING) {
			string(j.raw);
			*hash ^= hash_bytes(j.raw.p, j.raw.len);
		} else if (t == JSON_T_NUMBER) {
			number(j.raw);
			*hash ^= hash_bytes(j.raw.p, j.raw.len);
		}
	}
	CHECK(t != JSON_T_MORE);
	if (t == JSON_T_END) {
		json_space(&j);
		if (j.p == j.end)
			return true;
		j.where = j.p;
	}
	*byte = (size_t)(j.where - p);
	CHECK(*byte <= n);
	return false;
}

/* With its end cut off, a good text needs more, or was whole before. */
static void
cut(const unsigned char *p, size_t n, size_t keep, bool good)
{
	unsigned char *q = padded(p, keep);
	enum json_token t;
	struct str raw;

	json_start(&j, q, keep);
	j.eof = false;
	while ((t = json_next(&j)) > JSON_T_END)
		;
	CHECK(!good || t != JSON_T_BAD);
	json_start(&j, q, keep);
	j.eof = false;
	json_space(&j);
	if (good && json_span(&j, &raw) == JSON_OK)
		CHECK(t == JSON_T_END && n > 0);
	free(q);
}

static void
accepted(const unsigned char *p, size_t n, const struct buf *mini)
{
	unsigned char *q = padded(mini->p, mini->len);
	uint64_t hash, hash2;
	struct buf twice = { 0 };
	const char *error;
	size_t at;
	struct str raw;

	CHECK(json_minify(
	    (struct str){ (char *)q, mini->len }, 0, &twice, &error, &at));
	CHECK(str_eq(buf_str(mini), buf_str(&twice)));
	CHECK(tokens(p, n, &hash, &at) && tokens(q, mini->len, &hash2, &at));
	CHECK(hash == hash2);
	json_start(&j, q, mini->len);
	CHECK(json_span(&j, &raw) == JSON_OK && raw.len == mini->len);
	json_start(&j, q, mini->len);
	CHECK(json_skip(&j) == JSON_OK && j.p == j.end);
	if (*q == '[' || *q == '{')
		CHECK(
		    scan_brackets_portable(q, q + mini->len) == q + mini->len);
	buf_free(&twice);
	free(q);
}

/* A text splits only if it is good and is a list or object. */
static void
list(const unsigned char *p, size_t n, bool good)
{
	struct arena *mem = arena_create();
	struct str text = { (const char *)p, n };
	json_items items = { 0 };
	enum json_token t;

	json_start(&j, p, n);
	t = json_next(&j);
	CHECK(json_split(&items, mem, text) ==
	    (good && (t == JSON_T_ARRAY || t == JSON_T_OBJECT)));
	for (size_t i = 0; i < items.n; i++)
		CHECK(items.v[i].text.len <= n);
	vec_free(&items);
	arena_destroy(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *p = padded(data, size);
	struct buf mini = { 0 };
	const char *error = NULL;
	uint64_t hash;
	size_t at = 0, byte = 0, step = 1 + size / 50;
	bool good = tokens(p, size, &hash, &byte);

	CHECK(json_minify((struct str){ (char *)p, size }, 0, &mini, &error,
		  &at) == good);
	if (good)
		accepted(p, size, &mini);
	else
		CHECK(error != NULL && at == byte && mini.len == 0);
	list(p, size, good);
	for (size_t keep = 0; keep < size; keep += step)
		cut(p, size, keep, good);
	if (size > 0 && (*p == '[' || *p == '{'))
		CHECK(scan_brackets(p, p + size) ==
		    scan_brackets_portable(p, p + size));
	buf_free(&mini);
	free(p);
	return 0;
}

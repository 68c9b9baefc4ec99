/* SPDX-License-Identifier: MIT */
/*
 * json-tokens: our JSON reader's results for many texts, to compare them with
 * another reader's (tests/oracle/json_mutants.py).
 *
 *	usage: json-tokens <TEXTS
 *
 * Each text follows its length, four bytes, the lowest first. Each gives a
 *line:
 * "-" if it is refused, else its tokens: braces, brackets, s and the bytes of a
 * string or key as hex, n and a number as written, t f z and N.
 */
#include <stdio.h>
#include <stdlib.h>

#include "json/json.h"

static bool
put_string(struct buf *b, const struct json *j)
{
	struct buf text = { 0 };
	const char *error;
	size_t at;
	bool good = json_unescape(j->raw, &text, &error, &at);

	buf_putc(b, 's');
	for (size_t i = 0; i < text.len; i++)
		buf_printf(b, "%02x", (unsigned char)text.p[i]);
	buf_putc(b, ' ');
	buf_free(&text);
	return good;
}

static bool
put_tokens(struct buf *b, struct json *j)
{
	enum json_token t;

	if (json_bom(j) != JSON_OK)
		return false;
	while ((t = json_next(j)) > JSON_T_END) {
		switch (t) {
		case JSON_T_OBJECT: buf_putc(b, '{'); break;
		case JSON_T_OBJECT_END: buf_putc(b, '}'); break;
		case JSON_T_ARRAY: buf_putc(b, '['); break;
		case JSON_T_ARRAY_END: buf_putc(b, ']'); break;
		case JSON_T_KEY:
		case JSON_T_STRING:
			if (!put_string(b, j))
				return false;
			break;
		case JSON_T_NUMBER:
			buf_printf(b, "n%.*s ", (int)j->raw.len, j->raw.p);
			break;
		case JSON_T_TRUE: buf_putc(b, 't'); break;
		case JSON_T_FALSE: buf_putc(b, 'f'); break;
		case JSON_T_NULL: buf_putc(b, 'z'); break;
		default: buf_putc(b, 'N'); break;
		}
	}
	json_space(j);
	return t == JSON_T_END && j->p == j->end;
}

int
main(void)
{
	unsigned char size[4];

	while (fread(size, 1, 4, stdin) == 4) {
		size_t n = size[0] | (size_t)size[1] << 8 |
		    (size_t)size[2] << 16 | (size_t)size[3] << 24;
		/* exactly its size, so that reading beyond is found */
		unsigned char *p = calloc(1, n + IN_PAD);
		struct buf b = { 0 };
		struct json j;

		if (p == NULL || fread(p, 1, n, stdin) != n)
			return 1;
		json_start(&j, p, n);
		if (put_tokens(&b, &j))
			printf("%.*s\n", (int)b.len, b.p);
		else
			puts("-");
		buf_free(&b);
		free(p);
	}
	return 0;
}

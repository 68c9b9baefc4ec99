/* SPDX-License-Identifier: MIT */
/* Escapes, writing, white space, skipping, and what is inside a window. */
#include <stdio.h>

#include "tests/unit/tap.h"
#include "json/json.h"

static struct json j;
static char mem[1000];

static void
over(const char *text)
{
	memset(mem, 0, sizeof mem);
	memcpy(mem, text, strlen(text));
	json_start(&j, mem, strlen(text));
}

static void
unescape(const char *raw, const char *want)
{
	struct buf b = { 0 };
	const char *error = NULL, *error2 = NULL;
	size_t at = 0, at2 = 0;
	bool good = json_unescape(str_of(raw), &b, &error, &at);

	ok(good == json_check_string(str_of(raw), &error2, &at2) && at == at2 &&
		error == error2,
	    "check as unescape: %s", raw);
	ok(good, "unescape %s", raw);
	is_mem(b.p, b.len, want, strlen(want), "... is as it should be");
	buf_free(&b);
}

static void
refuse(const char *raw, const char *want, size_t byte)
{
	struct buf b = { 0 };
	const char *error = "", *error2 = "";
	size_t at = 0, at2 = 0;
	bool good = json_unescape(str_of(raw), &b, &error, &at);

	ok(!good && !json_check_string(str_of(raw), &error2, &at2) &&
		at == byte && at2 == byte,
	    "refused at %zu", byte);
	is_str(error, want, "... %s", want);
	is_str(error2, want, "... and by the check");
	buf_free(&b);
}

static void
put(const char *bytes, size_t n, const char *want)
{
	struct buf b = { 0 };

	json_put_string(&b, (struct str){ bytes, n });
	is_mem(b.p, b.len, want, strlen(want), "put %s", want);
	buf_free(&b);
}

/* Every length and every place, so that no block's border is forgotten. */
static void
put_everywhere(void)
{
	int wrong = 0;

	for (size_t n = 0; n < 70; n++)
		for (size_t i = 0; i < n; i++) {
			char text[80], *copy = malloc(n);
			struct buf b = { 0 };

			memset(copy, 'x', n);
			copy[i] = '"';
			text[0] = '"';
			memset(text + 1, 'x', n + 1);
			memcpy(text + 1 + i, "\\\"", 2);
			text[n + 2] = '"';
			json_put_string(&b, (struct str){ copy, n });
			wrong +=
			    b.len != n + 3 || memcmp(b.p, text, n + 3) != 0;
			buf_free(&b);
			free(copy);
		}
	is_int(wrong, 0, "a quote at every place");
}

static void
minify(const char *text, const char *want)
{
	struct buf b = { 0 };
	const char *error = "?";
	size_t at = 0;

	over(text);
	ok(json_minify((struct str){ mem, strlen(text) }, 0, &b, &error, &at),
	    "minify to %s", want);
	is_mem(b.p, b.len, want, strlen(want), "... which it is");
	buf_free(&b);
}

/* The text ends inside memory that looks as if it went on. */
static void
minify_inside(const char *text, size_t n, bool good)
{
	struct buf b = { 0 };
	const char *error = "?";
	size_t at = 0;

	over(text);
	ok(json_minify((struct str){ mem, n }, 0, &b, &error, &at) == good,
	    "minify %.*s|%s", (int)n, text, text + n);
	ok(b.len == (good ? n : 0), "... appended %zu", b.len);
	buf_free(&b);
}

static void
span(const char *text, size_t n)
{
	struct str raw = { NULL, 0 };

	over(text);
	ok(json_span(&j, &raw) == JSON_OK && raw.p == mem && raw.len == n &&
		(char *)j.p == mem + n,
	    "span of %s", text);
}

static void
skipping(void)
{
	over("{\"a\": {\"x\": [1, {}]}, \"b\": 2, \"c\": [[], 3]}");
	ok(json_next(&j) == JSON_T_OBJECT, "into an object");
	ok(json_next(&j) == JSON_T_KEY, "to a key");
	ok(json_skip(&j) == JSON_OK && json_next(&j) == JSON_T_KEY &&
		str_eq(j.raw, STR("b")),
	    "skip an object");
	ok(json_skip(&j) == JSON_OK && json_next(&j) == JSON_T_KEY &&
		str_eq(j.raw, STR("c")),
	    "skip a number");
	ok(json_next(&j) == JSON_T_ARRAY && json_skip(&j) == JSON_OK &&
		json_next(&j) == JSON_T_OBJECT_END &&
		json_next(&j) == JSON_T_END && json_next(&j) == JSON_T_END,
	    "skip the rest of a list");

	static const char text[] = "[{\"a\": [1, 2, {\"b\": null}]}, 5]";

	over(text);
	j.eof = false;
	j.end = j.p;
	int more = 0;

	while (json_next(&j) == JSON_T_MORE)
		j.end++;
	while (json_next(&j) == JSON_T_MORE)
		j.end++;
	while (json_skip(&j) == JSON_MORE) {
		j.end++;
		more++;
	}
	j.end = (unsigned char *)mem + strlen(text);
	ok(more > 10 && json_next(&j) == JSON_T_NUMBER &&
		str_eq(j.raw, STR("5")),
	    "skip begins again after %d times more", more);
}

static void
spaces(void)
{
	int wrong = 0;

	for (size_t n = 0; n < 80; n++) {
		memset(mem, 0, sizeof mem);
		memset(mem, ' ', n);
		for (size_t i = 0; i < n; i += 7)
			mem[i] = "\n\t\r"[i % 3];
		mem[n] = n % 2 ? 'x' : '\0';
		json_start(&j, mem, n + n % 2);
		json_space(&j);
		wrong += (char *)j.p != mem + n;
	}
	is_int(wrong, 0, "white space of every length");
	over("\v");
	json_space(&j);
	ok((char *)j.p == mem, "a vertical tab is none");
}

/* Each item, a null as its type alone says; NULL: no list. */
static const char *
list_text(const char *text)
{
	static char got[256];
	struct arena *a = arena_create();
	json_items l = { 0 };
	bool is_list = json_split(&l, a, str_of(text));
	size_t n = 0;

	got[0] = '\0';
	for (size_t i = 0; i < l.n; i++)
		n += (size_t)snprintf(got + n, sizeof got - n, "<%s%.*s>",
		    l.v[i].type == JSON_T_NULL ? "~" : "", (int)l.v[i].text.len,
		    l.v[i].text.p);
	vec_free(&l);
	arena_destroy(a);
	return is_list ? got : NULL;
}

static const char *
member_text(const char *text, struct str name)
{
	static char got[64];
	struct arena *a = arena_create();
	json_items l = { 0 };
	const struct json_item *x =
	    json_split(&l, a, str_of(text)) ? json_member(&l, name) : NULL;

	if (x != NULL)
		snprintf(got, sizeof got, "%.*s", (int)x->text.len, x->text.p);
	vec_free(&l);
	arena_destroy(a);
	return x != NULL ? got : NULL;
}

static void
members(void)
{
	is_str(member_text("{\"b\":\"a\",\"a\":[1],\"a\":2}", STR("a")), "[1]",
	    "the first member of a name, not a value like it");
	ok(member_text("{\"b\":\"a\"}", STR("a")) == NULL, "there is none");
	ok(member_text("[\"a\",\"b\"]", STR("a")) == NULL,
	    "a list has no members");
}

static void
lists(void)
{
	is_str(list_text("[\"GEMM\",\"other\"]"), "<GEMM><other>", "a list");
	is_str(list_text("[\"A,B [c]\", \"d\\\"e\\u00b5\"] "),
	    "<A,B [c]><d\"e\302\265>",
	    "commas and brackets of an item are its own");
	is_str(list_text("[[1,2],null,3.0,{\"a\":[]},true,\"null\"]"),
	    "<[1,2]><~null><3.0><{\"a\":[]}><true><null>",
	    "items that are no texts");
	is_str(list_text("[]"), "", "an empty list");
	ok(list_text("") == NULL, "nothing is no list");
	ok(list_text("GEMM [x]") == NULL, "a text is none");
	is_str(list_text("{\"a\" : {\"b\":1}, \"c\\n\":2}"),
	    "<a><{\"b\":1}><c\n><2>", "an object, in turn");
	ok(list_text("[1}") == NULL, "what ends as another is none");
	ok(list_text("[\"a\",]") == NULL, "nor is what is broken");
	ok(list_text("[\"a\"") == NULL, "or cut off");
	ok(list_text("[\"a\"] b") == NULL, "nor what goes on behind it");
}

int
main(void)
{
	unescape("plain", "plain");
	unescape("", "");
	unescape("a\\n\\\"\\\\\\/\\b\\f\\r\\t", "a\n\"\\/\b\f\r\t");
	unescape("\\u00e4\\u20AC\\ud83d\\ude00", "\u00e4\u20ac\U0001f600");
	unescape("\\ud800x", "\xed\xa0\x80x");
	unescape("\\ude00\\ud83d", "\xed\xb8\x80\xed\xa0\xbd");
	unescape("\\ud83d\\ud83d\\ude00", "\xed\xa0\xbd\U0001f600");
	unescape("\u00e4\x7f", "\u00e4\x7f");
	refuse("ab\\x", "bad escape in a string", 2);
	refuse("ab\\", "bad escape in a string", 2);
	refuse("\\u12g4", "bad \\u escape in a string", 0);
	refuse("aa\\u123", "bad \\u escape in a string", 2);
	refuse("a\nb", "control character in a string", 1);
	refuse("0123456789abcdef\xff", "invalid UTF-8 in a string", 16);
	put("\U000e0041\U0001f600", 8, "\"\\udb40\\udc41\U0001f600\"");
	put("a\"\\\n\x01\x1f\x7f/", 8, "\"a\\\"\\\\\\n\\u0001\\u001f\x7f/\"");
	put("\b\f\r\t\v", 5, "\"\\b\\f\\r\\t\\u000b\"");
	put("a\0b", 3, "\"a\\u0000b\"");
	put("\xed\xa0\x80\xed\xbf\xbf", 6, "\"\\ud800\\udfff\"");
	put("\xff\u00e4\xc3", 4, "\"\ufffd\u00e4\ufffd\"");
	put_everywhere();
	minify(" [ 1 , 2 ,\n\t{ \"a b\" : [ ] , \"c\":-1.5e+3 } , { } ] ",
	    "[1,2,{\"a b\":[],\"c\":-1.5e+3},{}]");
	minify("[NaN, -Infinity, true]", "[NaN,-Infinity,true]");
	minify("\"a string of more than \\u0016 bytes, \u00e4\"",
	    "\"a string of more than \\u0016 bytes, \u00e4\"");
	minify_inside("12345", 2, true);
	minify_inside("1.5", 2, false);
	minify_inside("1e5", 1, true);
	minify_inside("\"abc\"", 4, false);
	minify_inside("\"abc\\\"", 5, false);
	minify_inside("\"a\"\"", 3, true);
	minify_inside("[1]", 2, false);
	minify_inside("[1,2]", 3, false);
	minify_inside("{\"a\":1}", 4, false);
	minify_inside("nullx", 4, true);
	minify_inside("null", 3, false);
	minify_inside("   1", 3, false);
	span("{\"a\": \"]}\\\"}\", \"b\": [{}]}, 5", 25);
	span("12.5, 6", 4);
	span("null}", 4);
	span("\"a\\\"b\" ", 6);
	skipping();
	lists();
	members();
	spaces();
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/* base/str.c: order, search, shell patterns */
#include "base/base.h"
#include "tests/unit/tap.h"

static const char *
words(const char *list)
{
	static struct buf b;
	struct str word;

	b.len = 0;
	while (str_next(&list, ',', &word))
		buf_printf(&b, "<%.*s>", (int)word.len, word.p);
	buf_putc(&b, '\0');
	return b.p;
}

static void
order(void)
{
	struct str s = STR("hlo 12");

	ok(str_cmp(STR("a"), STR("b")) < 0, "a before b");
	ok(str_cmp(STR("ab"), STR("a")) > 0, "the shorter comes first");
	is_int(str_cmp(STR("ab"), STR("ab")), 0, "equal");
	is_int(str_cmp((struct str){ NULL, 0 }, STR("")), 0, "NULL is empty");
	ok(str_cmp(STR("\xff"), STR("a")) > 0, "bytes are unsigned");
	ok(str_cmp(STR("a\0b"), STR("a\0c")) < 0, "a NUL is a byte");
	ok(str_eq((struct str){ NULL, 0 }, STR("")), "NULL equals empty");
	ok(!str_eq(STR("a"), STR("")), "length counts");
	ok(str_starts(STR("aten::mm"), STR("aten::")), "a prefix");
	ok(str_starts(STR("a"), STR("")), "the empty prefix");
	ok(!str_starts(STR("at"), STR("aten")), "longer than the text");
	ok(!str_take(&s, STR("x")) && s.len == 6, "no such prefix to take");
	ok(str_take(&s, STR("hlo ")) && str_eq(s, STR("12")), "one is taken");
	ok(str_ends(STR("a.csv"), STR(".csv")), "an ending");
	ok(!str_ends(STR("csv"), STR(".csv")), "longer than the text");
	is_str(words("a,,bc,"), "<a><><bc><>", "words of a list");
	is_str(words(""), "<>", "an empty list has an empty word");
	is_str(words(NULL), "", "no list has none");
}

static void
find(void)
{
	is_int(str_find(STR("abcabc"), STR("ca"), false), 2, "found");
	is_int(str_find(STR("abc"), STR("d"), false), -1, "not found");
	is_int(str_find(STR("abc"), STR(""), false), 0, "nothing is at 0");
	is_int(str_find(STR("a"), STR("ab"), true), -1, "needle too long");
	is_int(str_find(STR("xxNcclY"), STR("nCCL"), true), 2, "ignoring case");
	is_int(str_find(STR("xNCCL"), STR("nccl"), false), -1, "with case");
	is_int(str_find(STR("a@"), STR("`"), true), -1,
	    "only letters have a case");
	is_int(str_find(STR("ab\0c"), STR("\0c"), false), 2, "behind a NUL");
}

static void
glob(void)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} t[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "a*c", "abbc", true },
		{ "a*c", "abbcd", false },
		{ "a*b*c", "axbxbxc", true },
		{ "*aab", "aaab", true },
		{ "a?c", "abc", true },
		{ "a?c", "ac", false },
		{ "**a**", "bab", true },
		{ "[abc]x", "bx", true },
		{ "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true },
		{ "[^a-c]x", "bx", false },
		{ "[]]", "]", true },
		{ "[!]]", "]", false },
		{ "[a-]", "-", true },
		{ "a[b", "a[b", true },
		{ "a[b", "ab", false },
		{ "[[]0]", "[0]", true },
		{ "[", "[", true },
		{ "a\\*", "a\\xyz", true },
		{ "*::mm*", "aten::mm_out", true },
		{ "[\x80-\xff]", "\xc3", true },
		{ "A", "a", false },
	};
	char text[4001];
	size_t i;

	for (i = 0; i < sizeof t / sizeof t[0]; i++)
		ok(str_glob(str_of(t[i].pattern), str_of(t[i].text)) ==
			t[i].match,
		    "'%s' %s '%s'", t[i].pattern,
		    t[i].match ? "matches" : "does not match", t[i].text);
	memset(text, 'a', sizeof text);
	ok(str_glob(STR("a[1]"), STR("a[1]")), "a name is like itself");
	ok(str_glob(STR("a[1]"), STR("a1")), "and its brackets are a set");
	ok(!str_glob(STR("a[1]*"), STR("a[1]b")), "but not in a pattern");
	ok(!str_glob(
	       STR("*a*a*a*a*a*a*a*a*b"), (struct str){ text, sizeof text }),
	    "many stars take no exponential time");
	ok(str_glob(STR("a*"), STR("a\0b")), "a NUL in the text is a byte");
}

int
main(void)
{
	order();
	find();
	glob();
	done_testing();
}

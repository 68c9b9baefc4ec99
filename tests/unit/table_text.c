/* SPDX-License-Identifier: MIT */
/* Text on a terminal: widths, what is made visible, how names are folded. */
#include "table/view.h"
#include "tests/unit/tap.h"

static struct buf b;

static const char *
text(void)
{
	buf_putc(&b, '\0');
	b.len--;
	return b.p;
}

static const char *
fold(const char *name, size_t width)
{
	b.len = 0;
	table_fold_name(str_of(name), width, &b);
	return text();
}

static const char *
elide(const char *s, size_t width)
{
	b.len = 0;
	text_elide(str_of(s), width, &b);
	return text();
}

static const char *
visible(struct str s)
{
	b.len = 0;
	text_visible(s, &b);
	return text();
}

static void
widths(void)
{
	is_uint(text_width(STR("abc")), 3, "ASCII");
	is_uint(text_width(STR("\xc2\xb5s")), 2, "two bytes, one column");
	is_uint(text_width(STR("e\xcc\x81")), 1, "a combining accent");
	is_uint(text_width(STR("\xe4\xb8\xad\xe6\x96\x87")), 4, "Chinese");
	is_uint(text_width(STR("\xf0\x9f\x98\x80")), 2, "emoji");
	is_uint(text_width(STR("\xff\xc2")), 2, "bytes that are no UTF-8");
}

static void
decoding(void)
{
	static const struct {
		const char *bytes;
		const char *why;
	} bad[] = {
		{ "\xc0\x80", "overlong NUL" },
		{ "\xe0\x80\xaf", "overlong slash" },
		{ "\xf0\x80\x80\xaf", "overlong, four bytes" },
		{ "\xed\xa0\x80", "a surrogate" },
		{ "\xf4\x90\x80\x80", "beyond the last character" },
		{ "\xe4\xb8", "cut off" },
		{ "\x80", "a lone continuation" },
	};
	uint32_t cp;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(utf8_next(bad[i].bytes, strlen(bad[i].bytes), &cp) == 1 &&
			cp == UTF8_BAD,
		    "refused: %s", bad[i].why);
	is_uint(utf8_next("\xf4\x8f\xbf\xbf", 4, &cp), 4, "four bytes");
	is_uint(cp, 0x10ffff, "the last character");
}

static const char *
escaped(struct str s, const char *kept, const char *more)
{
	b.len = 0;
	text_escape(s, kept, more, &b);
	return text();
}

static void
made_visible(void)
{
	is_str(visible(STR("a\n\t\r\x1b[31m\0z\x7f")),
	    "a\\n\\t\\r\\x1b[31m\\x00z\\x7f", "control characters");
	is_str(visible(STR("\xc2\x9b"
			   "31m \xe2\x80\xae"
			   "abc")),
	    "\\u009b31m \\u202eabc", "C1 and direction marks");
	is_str(visible(STR("\xc2\xb5 \xff")), "\xc2\xb5 \\xff", "no UTF-8");
}

static void
made_lines(void)
{
	is_str(escaped(STR("a\n\t\r\x1b[31m\0z\x7f\\;"), "", "\\"),
	    "a\\n\\t\\x0d\\x1b[31m\\x00z\\x7f\\\\;", "controls, backslash");
	is_str(escaped(STR("\xc2\x9b \xe2\x80\xae \xef\xbb\xbf"), "", ""),
	    "\\xc2\\x9b \\xe2\\x80\\xae \\xef\\xbb\\xbf",
	    "C1, direction and invisible marks, byte by byte");
	is_str(escaped(STR("\xc2\xb5\xff\xed\xa0\x80"), "", ""),
	    "\xc2\xb5\\xff\\xed\\xa0\\x80", "no UTF-8, a lone surrogate");
	is_str(escaped(STR("a\tb\\\n\r\v"), "\t\n\r", ""), "a\tb\\\n\r\\x0b",
	    "kept");
	is_str(escaped(STR("a;b\\"), "", ";\\"), "a\\x3bb\\\\", "more");
}

static void
elided(void)
{
	is_str(elide("abcdefghij", 10), "abcdefghij", "fits");
	is_str(elide("abcdefghij", 9), "abc...hij", "the middle goes");
	is_str(elide("abcdefghij", 8), "abc...ij", "the head has the rest");
	is_str(elide("abcdefghij", 2), "ab", "no room for dots");
	is_str(elide("a.b.cdefgh.gz", 10), "a.b...gz", "no dots beside those");
	is_str(elide("abcdefghij", 0), "", "no room at all");
	is_str(elide("\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87", 7),
	    "\xe4\xb8\xad...\xe6\x96\x87", "wide characters stay whole");
	is_str(elide("abcdefge\xcc\x81", 6), "ab...e\xcc\x81",
	    "an accent stays with its letter");
}

static void
folded_by_need(void)
{
	static const char name[] = "void at::native::reduce_kernel<512, "
				   "at::native::Op<float, F<1> > >(int, G<2>)";

	is_str(fold(name, 200), name, "what fits stays");
	is_str(fold(name, 73),
	    "at::native::reduce_kernel<512, at::native::Op<float, F<1> > "
	    ">(...)",
	    "first void and the parameters go");
	is_str(fold(name, 60),
	    "at::native::reduce_kernel<512, at::native::Op<...> >(...)",
	    "inner arguments before outer ones");
	is_str(fold(name, 40), "at::native::reduce_kernel<...>(...)",
	    "all arguments");
	is_str(fold(name, 0), "at::native::reduce_kernel<...>(...)",
	    "width 0: folded, not cut");
	is_str(fold(name, 32), "at::native::reduce_kernel<...>",
	    "an empty promise of parameters");
	is_str(fold(name, 20), "reduce_kernel<...>", "the namespaces");
	is_str(fold(name, 11), "redu...rnel", "then the middle");
}

static void
folded_kinds(void)
{
	is_str(fold("Cijk_Ailk_Bljk_SB_MT64x64x32.kd", 60),
	    "Cijk_Ailk_Bljk_SB_MT64x64x32", ".kd goes");
	is_str(fold("void f<1>(int) [clone .kd]", 40), "void f<1>(int)",
	    ".kd of a clone goes");
	is_str(fold("Cijk_Ailk_Bljk_SB_MT64x64x32", 15), "Cijk_A...x64x32",
	    "one name: the middle goes");
	is_str(fold("void (anonymous namespace)::k<(bool)1>(long)", 40),
	    "(anonymous namespace)::k<(bool)1>(...)", "a cast is no parameter");
	is_str(fold("void (anonymous namespace)::k<(bool)1>(long)", 20),
	    "k<...>(...)", "anonymous says nothing");
	is_str(fold("a::operator<<(std::ostream&, int)", 25),
	    "a::operator<<(...)", "operators are names");
	is_str(fold("a::B<int>::operator()(int, int) const", 32),
	    "a::B<int>::operator()(...) const", "even this one");
	is_str(fold("f<(a < b), (c->d > 3)>(int, int, int)", 32),
	    "f<(a < b), (c->d > 3)>(...)", "comparisons are no brackets");
	is_str(fold("void k<int, float, thrust::pair<long", 20),
	    "k<int, fl...air<long", "cut off by the profiler: only elided");
	is_str(
	    fold("oneshot)(of<nonsense((", 12), "onesh...se((", "unbalanced");
	is_str(fold("/a/lib/utils.py(53): wrapper of all", 30),
	    "/a/lib/utils.p...rapper of all", "a line number is kept");
	is_str(fold("<built-in method x of PyCapsule>", 40),
	    "<built-in method x of PyCapsule>", "no C++ at all");
	is_str(fold("", 10), "", "nothing");
	is_str(fold("enumerate(DataLoader)#_Single.__next__", 26),
	    "enumerate(DataLoader)", "what it is of stays, what # adds goes");
	is_str(fold("autograd::engine::evaluate_function: ReluBackward0", 14),
	    "ReluBackward0", "what a function is called for stays");
	is_str(fold("Torch-Compiled Region: 0/0", 14), "Torch-...: 0/0",
	    "a colon alone is no namespace");
}

/* Any bytes, any width: it fits and nothing breaks. */
static void
folded_noise(void)
{
	static const char bits[] = "ab<>()[]{}::, -operator(anonymous "
				   "namespace)::void \x1b\xc2\xb5\xff";
	uint32_t seed = 1;
	bool fits = true;
	char s[80];

	for (int round = 0; round < 20000; round++) {
		size_t width = 1 + (seed >> 8) % 40, n = (seed >> 16) % 80;

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			s[i] = bits[(seed >> 16) % (sizeof bits - 1)];
		}
		b.len = 0;
		table_fold_name((struct str){ s, n }, width, &b);
		fits = fits && text_width(buf_str(&b)) <= width;
	}
	ok(fits, "noise fits");
}

int
main(void)
{
	widths();
	decoding();
	made_visible();
	made_lines();
	elided();
	folded_by_need();
	folded_kinds();
	folded_noise();
	buf_free(&b);
	done_testing();
}

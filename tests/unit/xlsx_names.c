/* SPDX-License-Identifier: MIT */
/* Names of sheets, texts and numbers of cells. */
#include "cmd/tl-xlsx/tables.h"

#include "tests/unit/tap.h"

static struct names names;
static struct buf b;

static const char *
name(const char *wanted)
{
	return names_make(&names, str_of(wanted), "");
}

static void
test_names(void)
{
	is_str(name("gpu_timeline"), "gpu_timeline", "a good name stays");
	is_str(name("GPU_timeline"), "GPU_timeline~2", "alike but for case");
	is_str(name("gpu_timeline"), "gpu_timeline~3", "alike once more");
	is_str(name("a[b]:c*d?e/f\\g"), "a_b__c_d_e_f_g", "forbidden ones");
	is_str(name("'x'"), "_x_", "apostrophes at the ends");
	is_str(name("it's"), "it's", "an apostrophe within");
	is_str(name(""), "Sheet", "none");
	is_str(name("history"), "history_", "Excel's own name");
	is_str(name("tab\there\n"), "tab_here_", "control characters");
	is_str(name("InferenceAttention_fwd_kl_overlap"),
	    "InferenceAttention_fwd_kl_overl", "cut at 31");
	is_str(name("InferenceAttention_fwd_kl_overlapped"),
	    "InferenceAttention_fwd_kl_ove~2", "cut and unique");
	is_str(
	    names_make(&names, STR("gpu_timeline_of_a_table_so_long"), " (2)"),
	    "gpu_timeline_of_a_table_so_ (2)", "the suffix stays");
	is_str(name("\xc3\x89t\xc3\xa9"), "\xc3\x89t\xc3\xa9", "accents");
	is_str(name("\xc3\xa9t\xc3\x89"), "\xc3\xa9t\xc3\x89~2",
	    "accents alike but for case");
	/* 16 characters beyond U+FFFF are 32 units */
	is_str(name("\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		    "\xf0\x9f\x98\x80"),
	    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
	    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
	    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
	    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
	    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
	    "cut between characters");
	is_str(name("a\xff\xed\xa0\x80z"),
	    "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz", "no UTF-8");
}

static void
test_paths(void)
{
	static const char *const paths[][2] = { { "d/ops.csv", "ops" },
		{ "ops.tsv.gz", "ops" }, { "/x/a.b.ndjson.zst", "a.b" },
		{ ".csv", ".csv" }, { "plain", "plain" } };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct str s = table_name_of(paths[i][0]);

		is_mem(s.p, s.len, paths[i][1], strlen(paths[i][1]), "%s",
		    paths[i][0]);
	}
}

static void
clean(const char *text, size_t n, const char *want, const char *what)
{
	bool cut;

	b.len = 0;
	(void)text_clean((struct str){ text, n }, &b, &cut);
	is_str(b.p, want, "%s", what);
}

static void
test_texts(void)
{
	clean("", 0, "", "empty");
	clean("=1+1", 4, "=1+1", "what looks like a formula");
	clean("a\0b\r\n\t\x1b", 7, "a_x0000_b_x000D_\n\t_x001B_",
	    "control characters");
	clean("_x0041_ _x41_", 13, "_x005F_x0041_ _x41_", "like an escape");
	clean("\xff\xc3\xe2\x82", 4,
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "no UTF-8");
	clean("\xef\xbf\xbf\xc2\xb5s", 6, "_xFFFF_\xc2\xb5s", "no character");
}

static void
test_cut(void)
{
	static char x[XLSX_CELL + 1];
	bool cut;

	memset(x, 'x', sizeof x);
	b.len = 0;
	is_uint(text_clean((struct str){ x, XLSX_CELL }, &b, &cut), XLSX_CELL,
	    "the longest text");
	ok(!cut && b.len == XLSX_CELL + 1, "... is kept");
	b.len = 0;
	(void)text_clean((struct str){ x, XLSX_CELL + 1 }, &b, &cut);
	ok(cut && b.len == XLSX_CELL + 1, "one more is cut");
	is_str(b.p + XLSX_CELL - (sizeof TEXT_CUT - 1), TEXT_CUT, "and marked");
	x[XLSX_CELL - 12] = '\1'; /* its escape passes the mark */
	b.len = 0;
	(void)text_clean((struct str){ x, XLSX_CELL + 1 }, &b, &cut);
	ok(cut && b.len == XLSX_CELL - 12 + sizeof TEXT_CUT,
	    "no escape is cut in two");
}

static void
test_numbers(void)
{
	static const struct {
		const char *text;
		enum val_type type;
		double number;
	} cases[] = { { "", VAL_NONE, 0 }, { "0", VAL_NUMBER, 0 },
		{ "-5", VAL_NUMBER, -5 }, { "1.5e3", VAL_NUMBER, 1500 },
		{ "1e-07", VAL_NUMBER, 1e-7 },
		{ "9007199254740992", VAL_NUMBER, 9007199254740992.0 },
		{ "9007199254740993", VAL_BIG, 0 },
		{ "-9007199254740993", VAL_BIG, 0 },
		{ "99999999999999999999", VAL_BIG, 0 }, { "007", VAL_TEXT, 0 },
		{ "+1", VAL_TEXT, 0 }, { "1.", VAL_TEXT, 0 },
		{ ".5", VAL_TEXT, 0 }, { "-", VAL_TEXT, 0 },
		{ "1e", VAL_TEXT, 0 }, { "1e999", VAL_TEXT, 0 },
		{ "0x10", VAL_TEXT, 0 }, { " 1", VAL_TEXT, 0 },
		{ "1 ", VAL_TEXT, 0 }, { "nan", VAL_TEXT, 0 },
		{ "true", VAL_TEXT, 0 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct val v = val_of_text(str_of(cases[i].text));

		ok(v.type == cases[i].type &&
			(v.type != VAL_NUMBER || v.number == cases[i].number),
		    "number or text: '%s'", cases[i].text);
	}
}

int
main(void)
{
	test_names();
	test_paths();
	test_texts();
	test_cut();
	test_numbers();
	done_testing();
}

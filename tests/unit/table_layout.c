/* SPDX-License-Identifier: MIT */
/* What a narrow terminal leaves of a table, and that rows can be told apart. */
#include <stdlib.h>
#include <unistd.h>

#include "table/layout.h"
#include "tests/unit/tap.h"

static const struct column columns[] = {
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "thread_name", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "operation_sizes", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "pct_of_direct", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 },
	{ "cumulative_pct", NULL, COL_REAL, UNIT_PERCENT, COL_MINOR, 0 },
};

static struct table *
example(const char *const *names, size_t n)
{
	struct table *t = table_create("ops", columns, 5);

	for (size_t i = 0; i < n; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(str_of(names[i]));
		row[1] = cell_text(STR("main thread"));
		row[2] = cell_int((int64_t)i + 1);
		row[3] = cell_real(10.5);
		row[4] = cell_real(10.5 * (double)(i + 1));
	}
	return t;
}

/* As it is printed in so many columns, until the next call. */
static const char *
first_printed(struct table *t, int width, const char *chosen, int64_t top)
{
	static char text[4096];
	static char path[] = "/tmp/tl-layout-XXXXXX";
	struct table_dest dest = { .format = FMT_TABLE,
		.width = width,
		.columns = chosen,
		.top = top };
	int saved = dup(STDOUT_FILENO), fd = mkstemp(path);
	ssize_t got;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	table_print(t, &dest);
	table_dest_finish(&dest);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	got = pread(fd, text, sizeof text - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	close(fd);
	unlink(path);
	memcpy(path + sizeof path - 7, "XXXXXX", 6);
	table_destroy(t);
	return text;
}

static const char *
as_printed(struct table *t, int width, const char *chosen)
{
	return first_printed(t, width, chosen, 0);
}

static const char *
printed(const char *const *names, size_t n, int width, const char *chosen)
{
	return as_printed(example(names, n), width, chosen);
}

static void
layouts(void)
{
	static const char *const names[] = { "a", "b" };
	static const char *const three[] = { "a", "b", "c" };

	is_str(printed(names, 2, 80, NULL),
	    "name  thread_name  operation_sizes  pct_of_direct  "
	    "cumulative_pct\n"
	    "a     main thread                1          10.50           "
	    "10.50\n"
	    "b     main thread                2          10.50           "
	    "21.00\n",
	    "all of it where there is room");
	is_str(printed(names, 2, 60, NULL),
	    "                   operation_  pct_of_  cumulative_\n"
	    "name  thread_name       sizes   direct          pct\n"
	    "a     main thread           1    10.50        10.50\n"
	    "b     main thread           2    10.50        21.00\n",
	    "heads take two lines");
	is_str(printed(names, 2, 50, NULL),
	    "      operation_  pct_of_  cumulative_\n"
	    "name       sizes   direct          pct\n"
	    "a              1    10.50        10.50\n"
	    "b              2    10.50        21.00\n"
	    "(in all rows: thread_name main thread)\n",
	    "what all rows say stands below");
	is_str(first_printed(example(three, 3), 50, NULL, 2),
	    "      operation_  pct_of_  cumulative_\n"
	    "name       sizes   direct          pct\n"
	    "a              1    10.50        10.50\n"
	    "b              2    10.50        21.00\n"
	    "... 1 more, 10.5 %\n"
	    "(in these rows: thread_name main thread)\n",
	    "and no more than that is said where rows are cut");
	is_str(printed(names, 2, 30, NULL),
	    "      operation_  pct_of_\n"
	    "name       sizes   direct\n"
	    "a              1    10.50\n"
	    "b              2    10.50\n"
	    "(in all rows: thread_name\n"
	    "  main thread)\n"
	    "(no room for: cumulative_pct)\n",
	    "then minor columns go");
	is_str(printed(names, 2, 20, "name,cumulative_pct,thread_name"),
	    "      cumulative_\n"
	    "name          pct  thread_name\n"
	    "a           10.50  main thread\n"
	    "b           21.00  main thread\n",
	    "what was asked for stays");
	is_str(printed(names, 1, 50, NULL),
	    "                   operation_  pct_of_\n"
	    "name  thread_name       sizes   direct\n"
	    "a     main thread           1    10.50\n"
	    "(no room for: cumulative_pct)\n",
	    "of one row nothing is said to be in all");
}

static const struct column said[] = {
	{ "check", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "thread", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "cumulative_pct", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "finding", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
};

/* Two rows of one name, and what is found of each. */
static struct table *
findings(const char *first, const char *second)
{
	struct table *t = table_create("health_like", said, 4);

	for (int i = 0; i < 2; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(STR("time"));
		row[1] = cell_text(i == 0 ? STR("main") : STR("loader"));
		row[2] = cell_real(10.5 + i);
		row[3] = cell_text(str_of(i == 0 ? first : second));
	}
	return t;
}

static void
sentences(void)
{
	is_str(as_printed(findings("is long", "short"), 60, NULL),
	    "check  thread  cumulative_pct  finding\n"
	    "time   main             10.50  is long\n"
	    "time   loader           11.50  short\n",
	    "a sentence has its column where there is room");
	is_str(as_printed(
		   findings("is long and has many words", "short"), 40, NULL),
	    "               cumulative_\n"
	    "check  thread          pct\n"
	    "time   main          10.50\n"
	    "    is long and has many words\n"
	    "time   loader        11.50\n"
	    "    short\n",
	    "else its lines below the row, whole");
	is_str(as_printed(
		   findings("is long and has many words", "short"), 20, NULL),
	    "check  thread\n"
	    "time   main\n"
	    "    is long and has\n"
	    "    many words\n"
	    "time   loader\n"
	    "    short\n"
	    "(no room for:\n"
	    "  cumulative_pct)\n",
	    "broken between words; what tells rows apart stays");
	is_str(as_printed(findings("all the same in both",
			      "all the same in "
			      "both"),
		   40, NULL),
	    "               cumulative_\n"
	    "check  thread          pct\n"
	    "time   main          10.50\n"
	    "time   loader        11.50\n"
	    "(in all rows: finding\n"
	    "  all the same in both)\n",
	    "once if all rows have the same");
}

/* No entry of the catalogue: the columns that families of ops keep. */
static const struct column many[] = {
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "param_M", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "tb_s_mean", NULL, COL_REAL, UNIT_NONE, 0, 0 },
	{ "roofline_bound", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "pct_roofline_mean", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "lost_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "kernel_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "operation_count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
};

static struct table *
family(int rows)
{
	struct table *t = table_create("GEMM_like", many, 8);

	for (int i = 0; i < rows; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(STR("aten::addmm"));
		row[1] = cell_int(2048 + i);
		row[2] = cell_real(0.5 + i);
		row[3] = cell_text(
		    i == 0 ? STR("COMPUTE_BOUND") : STR("LINK_BOUND"));
		row[4] = cell_real(22.5 + i);
		row[5] = cell_int(1681 + i);
		row[6] = cell_int(2166 + i);
		row[7] = cell_int(3 + i);
	}
	return t;
}

static void
priorities(void)
{
	is_str(as_printed(family(2), 60, NULL),
	    "                                          kernel_\n"
	    "                            roof_   lost      sum\n"
	    "name            M  bound     mean   [us]     [us]  count\n"
	    "aten::addmm  2048  COMPUTE  22.50  1.681    2.166      3\n"
	    "aten::addmm  2049  LINK     23.50  1.682    2.167      4\n"
	    "(no room for: tb_s_mean)\n",
	    "heads take three lines, what all words end in goes from each, "
	    "then what tells less");
	is_str(as_printed(family(1), 60, NULL),
	    "                                                kernel_\n"
	    "                                  roof_   lost      sum\n"
	    "name            M  bound           mean   [us]     [us]\n"
	    "aten::addmm  2048  COMPUTE_BOUND  22.50  1.681    2.166\n"
	    "(no room for: count, tb_s_mean)\n",
	    "a lone text is whole");
	is_str(as_printed(family(2), 30, NULL),
	    "                   kernel_\n"
	    "                       sum\n"
	    "name            M     [us]\n"
	    "aten::addmm  2048    2.166\n"
	    "aten::addmm  2049    2.167\n"
	    "(no room for: roof_mean,\n"
	    "  lost [us], bound, count,\n"
	    "  tb_s_mean)\n",
	    "name, time and shape stay to the end");
}

static const struct column shaped[] = {
	{ "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "op_category", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "input_dims", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	{ "input_types", NULL, COL_JSON, UNIT_NONE, 0, 0 },
	{ "first_uid", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "direct_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 },
};

static struct table *
shapes(void)
{
	struct table *t = table_create("ops", shaped, 6);

	for (int i = 0; i < 2; i++) {
		struct cell *row = table_row(t);

		row[0] = cell_text(STR("aten::convolution"));
		row[1] = cell_text(i == 0 ? STR("CONV_fwd") : STR("CONV_bwd"));
		row[2] = cell_text(i == 0 ? STR("[[10,64,5,5],[64,64,3,3]]")
					  : STR("[[10,64,5,5],[96,64,3,3]]"));
		row[3] = cell_text(i == 0 ? STR("[\"float\",\"int\"]")
					  : STR("[\"float\",\"double\"]"));
		row[4] = cell_int(1 + i);
		row[5] = cell_int(700 + i);
	}
	return t;
}

static void
readable_shapes(void)
{
	is_str(as_printed(shapes(), 80, NULL),
	    "                   op_                                   direct_\n"
	    "name               category  input_dims                 sum [ns]\n"
	    "aten::convolution  CONV_fwd  [[10,64,5,5],[64,64,3,3]]       700\n"
	    "aten::convolution  CONV_bwd  [[10,64,5,5],[96,64,3,3]]       701\n"
	    "(no room for: input_types, first_uid)\n",
	    "types and ids go before shapes are cut");
	is_str(as_printed(shapes(), 50, NULL),
	    "                                           direct_\n"
	    "name               input_dims             sum [ns]\n"
	    "aten::convolution  [[10,...,[64,64,3,3]]       700\n"
	    "aten::convolution  [[10,...,[96,64,3,3]]       701\n"
	    "(no room for: op_category, input_types, first_uid)\n",
	    "cut ones still differ");
}

static void
distinct_texts(void)
{
	static const char *const names[] = {
		"Cijk_Alik_Bljk_MT16x16_MI16_SN_LDSB0_WG32_8_1",
		"Cijk_Alik_Bljk_MT128x64_MI16_SN_LDSB0_WG32_8_1",
		"Cijk_Alik_Bljk_MT128x64_MI16_SN_LDSB1_WG32_8_1",
		"other",
	};
	struct str whole[4], shown[4];
	struct arena *text = arena_create();

	for (int i = 0; i < 4; i++) {
		struct buf b = { 0 };

		whole[i] = str_of(names[i]);
		text_elide(whole[i], 24, &b);
		shown[i] = arena_str(text, buf_str(&b));
		buf_free(&b);
	}
	ok(str_eq(shown[0], shown[1]), "they look alike");
	texts_distinct(whole, shown, 4, 24, text);
	ok(str_eq(shown[0], STR("Cijk_A...MT16x16_MI16...")), "the first");
	ok(!str_eq(shown[0], shown[1]) && !str_eq(shown[1], shown[2]) &&
		!str_eq(shown[0], shown[2]),
	    "each is another");
	ok(str_eq(shown[3], STR("other")), "one alone stays");
	for (int i = 0; i < 4; i++)
		ok(text_width(shown[i]) <= 24, "it fits");
	whole[1] = whole[0];
	shown[0] = shown[1] = STR("same");
	texts_distinct(whole, shown, 2, 24, text);
	ok(str_eq(shown[0], STR("same")), "equal texts stay");
	arena_destroy(text);
}

/* Sequences of kernels, whose names stand out only where they are read. */
static void
sequences(void)
{
	static const char *const names[] = {
		"void at::elementwise<4, at::Functor_add<float>, int>(int) | "
		"void at::elementwise<4, at::Functor_mul<float>, int>(int)",
		"a | b",
	};
	static const char *const alone[] = {
		"void at::elementwise<4, at::Functor_add<float>, int>(int) | b",
		"void at::elementwise<4, at::Functor_add<float>, int>(int)",
	};

	is_str(printed(names, 2, 60, "name,operation_sizes"),
	    "operation_\n"
	    "     sizes\n"
	    "         1\n"
	    "    void at::elementwise<4, at::Functor_add<float>, int>(\n"
	    "      int)\n"
	    "    void at::elementwise<4, at::Functor_mul<float>, int>(\n"
	    "      int)\n"
	    "         2\n"
	    "    a\n"
	    "    b\n",
	    "a kernel a line, as far as two lines go");
	is_str(printed(names, 2, 24, "name,operation_sizes"),
	    "operation_\n"
	    "     sizes\n"
	    "         1\n"
	    "    void at...add<\n"
	    "      float>, int...\n"
	    "    void at...mul<\n"
	    "      float>, int...\n"
	    "         2\n"
	    "    a\n"
	    "    b\n",
	    "which differ where they are cut");
	is_str(printed(names + 1, 1, 40, "name,operation_sizes"),
	    "name   operation_sizes\n"
	    "a | b                1\n",
	    "short ones have their column");
	is_str(printed(alone, 2, 60, "name,operation_sizes"),
	    "                                                  operation_\n"
	    "name                                                   sizes\n"
	    "at::elementwise<...> | b                                   1\n"
	    "at::elementwise<...>(int)                                  2\n",
	    "as has a column with other names");
}

int
main(void)
{
	layouts();
	sequences();
	sentences();
	priorities();
	readable_shapes();
	distinct_texts();
	done_testing();
}

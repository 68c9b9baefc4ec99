/* SPDX-License-Identifier: MIT */
#include "table/junit.h"

#include <stdlib.h>

#include "table/table.h"

struct junit {
	struct out *out;
	const char *suite;
	struct buf cases; /* after their number, which comes first */
	struct buf text;
	size_t n[JUNIT_RESULTS], ncases;
};

static const char *const elements[JUNIT_RESULTS] = {
	[JUNIT_FAILED] = "failure",
	[JUNIT_ERROR] = "error",
	[JUNIT_SKIPPED] = "skipped",
};

struct junit *
junit_open(const char *path, const char *suite)
{
	struct junit *t;

	if (path == NULL)
		return NULL;
	t = xcalloc(1, sizeof *t);
	t->out = out_open(path);
	t->suite = suite;
	return t;
}

/* XML 1.0 cannot contain what text_visible() replaces, even escaped. */
static void
put_attribute(struct junit *t, const char *name, struct str value)
{
	struct buf *b = &t->cases;

	t->text.len = 0;
	text_visible(value, &t->text);
	buf_printf(b, " %s=\"", name);
	for (size_t i = 0; i < t->text.len; i++) {
		switch (t->text.p[i]) {
		case '&': buf_puts(b, "&amp;"); break;
		case '<': buf_puts(b, "&lt;"); break;
		case '>': buf_puts(b, "&gt;"); break;
		case '"': buf_puts(b, "&quot;"); break;
		default: buf_putc(b, t->text.p[i]); break;
		}
	}
	buf_putc(b, '"');
}

void
junit_case(struct junit *t, enum junit_result result, struct str class,
    struct str name, struct str text)
{
	if (t == NULL)
		return;
	t->n[result]++;
	t->ncases++;
	buf_puts(&t->cases, "    <testcase");
	put_attribute(t, "classname", class);
	put_attribute(t, "name", name);
	if (result == JUNIT_PASSED) {
		buf_puts(&t->cases, "/>\n");
		return;
	}
	buf_printf(&t->cases, "><%s", elements[result]);
	put_attribute(t, "message", text);
	buf_puts(&t->cases, "/></testcase>\n");
}

void
junit_finish(struct junit *t)
{
	if (t == NULL)
		return;
	out_puts(t->out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	out_printf(t->out,
	    "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" "
	    "errors=\"%zu\" skipped=\"%zu\">\n",
	    t->suite, t->ncases, t->n[JUNIT_FAILED], t->n[JUNIT_ERROR],
	    t->n[JUNIT_SKIPPED]);
	out_str(t->out, buf_str(&t->cases));
	out_puts(t->out, "  </testsuite>\n</testsuites>\n");
	out_finish(t->out);
	buf_free(&t->cases);
	buf_free(&t->text);
	free(t);
}

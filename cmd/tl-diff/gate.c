/* SPDX-License-Identifier: MIT */
/* The verdict for a batch job: did it become slower by more than allowed? */
#include <math.h>

#include "cmd/tl-diff/gate.h"

struct verdict {
	int64_t before_ns, after_ns;
	int64_t diff_ns; /* without what is within noise */
	int64_t limit_ns;
	bool knows_noise; /* there are samples to tell it by */
	bool failed;
};

int64_t
threshold_ns(const struct threshold *t, int64_t base_ns)
{
	double ns;

	if (!t->is_percent)
		return t->ns;
	ns = t->percent / 100 * (double)base_ns;
	/* the double next to INT64_MAX is 2^63, which is no int64_t */
	return ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* Names come from anywhere: what XML cannot hold is made visible. */
static void
put_xml(struct out *out, struct str s)
{
	struct buf b = { 0 };

	text_visible(s, &b);
	for (size_t i = 0; i < b.len; i++)
		switch (b.p[i]) {
		case '<': out_puts(out, "&lt;"); break;
		case '>': out_puts(out, "&gt;"); break;
		case '&': out_puts(out, "&amp;"); break;
		case '"': out_puts(out, "&quot;"); break;
		default: out_write(out, &b.p[i], 1);
		}
	buf_free(&b);
}

static void
put_sentence(struct buf *b, const struct settings *set, const struct verdict *v)
{
	buf_printf(b,
	    "GPU time went from %.3f to %.3f ms; %s by %+.3f ms, allowed are ",
	    (double)v->before_ns / 1e6, (double)v->after_ns / 1e6,
	    v->knows_noise ? "beyond noise it changed"
			   : "noise is not known, it changed",
	    (double)v->diff_ns / 1e6);
	if (set->fail_over.is_percent)
		buf_printf(b, "%g %% (%.3f ms)", set->fail_over.percent,
		    (double)v->limit_ns / 1e6);
	else
		buf_printf(b, "%.3f ms", (double)v->limit_ns / 1e6);
}

/* One test suite with one test case. */
static void
write_junit(
    const struct settings *set, const struct verdict *v, struct str text)
{
	struct out *out = out_open(set->junit);
	struct buf name = { 0 };

	buf_put(&name, set->names[0].p, set->names[0].len);
	buf_puts(&name, " to ");
	buf_put(&name, set->names[1].p, set->names[1].len);
	out_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	out_printf(out,
	    "<testsuite name=\"tl-diff\" tests=\"1\" failures=\"%d\" "
	    "errors=\"0\">\n",
	    v->failed);
	out_puts(out, "  <testcase classname=\"tl-diff\" name=\"GPU time, ");
	put_xml(out, buf_str(&name));
	out_puts(out, "\">\n");
	if (v->failed) {
		out_puts(out, "    <failure message=\"");
		put_xml(out, text);
		out_puts(out, "\"/>\n");
	} else {
		out_puts(out, "    <system-out>");
		put_xml(out, text);
		out_puts(out, "</system-out>\n");
	}
	out_puts(out, "  </testcase>\n</testsuite>\n");
	out_finish(out);
	buf_free(&name);
}

static void
find_verdict(
    struct verdict *v, const struct settings *set, const struct figures *f)
{
	v->before_ns = f->unit[0].total_ns;
	v->after_ns = f->unit[1].total_ns;
	v->diff_ns = f->verdict_ns;
	v->knows_noise = !isnan(f->spread_ns);
	v->limit_ns = threshold_ns(&set->fail_over, v->before_ns);
	v->failed = v->diff_ns > v->limit_ns;
}

int
gate_status(const struct settings *set, const struct figures *f)
{
	struct verdict v;
	struct buf b = { 0 };

	if (!set->fail_over.is_set)
		return exit_status();
	find_verdict(&v, set, f);
	put_sentence(&b, set, &v);
	if (v.failed)
		note("slower than allowed: %.*s", (int)b.len, b.p);
	if (set->junit != NULL)
		write_junit(set, &v, buf_str(&b));
	buf_free(&b);
	return v.failed ? EXIT_GATE : exit_status();
}

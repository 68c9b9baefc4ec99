/* SPDX-License-Identifier: MIT */
/* The verdict for a batch job: did it become slower by more than allowed? */
#include "cmd/tl-diff/gate.h"

struct verdict {
	int64_t before_ns, after_ns;
	int64_t diff_ns; /* without what is within noise */
	int64_t limit_ns;
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

static void
put_xml(struct out *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		switch (c) {
		case '<': out_puts(out, "&lt;"); break;
		case '>': out_puts(out, "&gt;"); break;
		case '&': out_puts(out, "&amp;"); break;
		case '"': out_puts(out, "&quot;"); break;
		default:
			/* XML has no other control characters */
			if (c < ' ' || c == 0x7f)
				out_puts(out, "?");
			else
				out_write(out, &s.p[i], 1);
		}
	}
}

static void
put_sentence(struct buf *b, const struct settings *set, const struct verdict *v)
{
	buf_printf(b,
	    "GPU time went from %.3f to %.3f ms; beyond noise it changed by "
	    "%+.3f ms, allowed are ",
	    (double)v->before_ns / 1e6, (double)v->after_ns / 1e6,
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
find_verdict(struct verdict *v, const struct settings *set, const struct ops *o,
    const struct kernels *k)
{
	if (set->by == BY_KERNEL) {
		int64_t ns[NSIDES];

		kernels_totals(k, ns);
		v->before_ns = ns[0];
		v->after_ns = ns[1];
		v->diff_ns = ns[1] - ns[0];
	} else {
		v->before_ns = o->unit[0].total_ns;
		v->after_ns = o->unit[1].total_ns;
		v->diff_ns = o->verdict_ns;
	}
	v->limit_ns = threshold_ns(&set->fail_over, v->before_ns);
	v->failed = v->diff_ns > v->limit_ns;
}

int
gate_status(
    const struct settings *set, const struct ops *o, const struct kernels *k)
{
	struct verdict v;
	struct buf b = { 0 };

	if (!set->fail_over.is_set)
		return exit_status();
	find_verdict(&v, set, o, k);
	put_sentence(&b, set, &v);
	if (v.failed)
		note("slower than allowed: %.*s", (int)b.len, b.p);
	if (set->junit != NULL)
		write_junit(set, &v, buf_str(&b));
	buf_free(&b);
	return v.failed ? EXIT_GATE : exit_status();
}

/* SPDX-License-Identifier: MIT */
/* The verdict for a batch job: did it become slower by more than allowed? */
#include <math.h>

#include "cmd/tl-diff/changes.h"

/* What is judged: GPU time, and the time of a step on the clock. */
struct measure {
	const char *what;
	int64_t before_ns, after_ns;
	int64_t diff_ns; /* without what is within noise */
	int64_t limit_ns;
	bool knows_noise; /* there are samples to tell it by */
	bool failed;
};

struct verdict {
	struct measure list[2];
	size_t n;
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
put_sentence(struct buf *b, const struct settings *set, const struct measure *m)
{
	buf_printf(b, "%s %.3f to %.3f ms, %+.3f ms%s; allowed: ", m->what,
	    (double)m->before_ns / 1e6, (double)m->after_ns / 1e6,
	    (double)m->diff_ns / 1e6,
	    m->knows_noise ? " beyond noise" : ", noise unknown");
	if (set->fail_over.is_percent)
		buf_printf(b, "%g %% (%.3f ms)", set->fail_over.percent,
		    (double)m->limit_ns / 1e6);
	else
		buf_printf(b, "%.3f ms", (double)m->limit_ns / 1e6);
}

static void
put_case(struct out *out, const struct settings *set, const struct measure *m)
{
	struct buf b = { 0 };

	out_printf(
	    out, "  <testcase classname=\"tl-diff\" name=\"%s, ", m->what);
	put_xml(out, set->names[0]);
	out_puts(out, " to ");
	put_xml(out, set->names[1]);
	out_puts(out, "\">\n");
	put_sentence(&b, set, m);
	out_puts(
	    out, m->failed ? "    <failure message=\"" : "    <system-out>");
	put_xml(out, buf_str(&b));
	out_puts(out, m->failed ? "\"/>\n" : "</system-out>\n");
	out_puts(out, "  </testcase>\n");
	buf_free(&b);
}

/* One test suite, a test case for each measure. */
static void
write_junit(const struct settings *set, const struct verdict *v)
{
	struct out *out = out_open(set->junit);
	size_t nfailed = 0;

	for (size_t i = 0; i < v->n; i++)
		nfailed += v->list[i].failed;
	out_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	out_printf(out,
	    "<testsuite name=\"tl-diff\" tests=\"%zu\" failures=\"%zu\" "
	    "errors=\"0\">\n",
	    v->n, nfailed);
	for (size_t i = 0; i < v->n; i++)
		put_case(out, set, &v->list[i]);
	out_puts(out, "</testsuite>\n");
	out_finish(out);
}

static void
judge(struct verdict *v, const struct settings *set, struct measure m)
{
	m.limit_ns = threshold_ns(&set->fail_over, m.before_ns);
	m.failed = m.diff_ns > m.limit_ns;
	v->failed = v->failed || m.failed;
	v->list[v->n++] = m;
}

/* A selection of GPU events says nothing of how long its steps may take. */
static void
find_verdict(
    struct verdict *v, const struct settings *set, const struct changes *c)
{
	const struct step_clock *k = &c->clock;

	judge(v, set,
	    (struct measure){
		.what = "GPU time",
		.before_ns = c->unit[0].total_ns,
		.after_ns = c->unit[1].total_ns,
		.diff_ns = c->verdict_ns,
		.knows_noise = !isnan(c->spread_ns),
	    });
	if (changes_have_clock(c) && !set->is_of_events)
		judge(v, set,
		    (struct measure){
			.what = "step time",
			.before_ns = k->mean_ns[0],
			.after_ns = k->mean_ns[1],
			.diff_ns =
			    k->is_noise ? 0 : k->mean_ns[1] - k->mean_ns[0],
			.knows_noise = k->knows_noise,
		    });
}

int
gate_status(const struct settings *set, const struct changes *c)
{
	struct verdict v = { .n = 0 };
	struct buf b = { 0 };

	if (!set->fail_over.is_set)
		return exit_status();
	find_verdict(&v, set, c);
	for (size_t i = 0; i < v.n; i++) {
		if (!v.list[i].failed)
			continue;
		b.len = 0;
		put_sentence(&b, set, &v.list[i]);
		note("slower than allowed: %.*s", (int)b.len, b.p);
	}
	if (set->junit != NULL)
		write_junit(set, &v);
	buf_free(&b);
	return v.failed ? EXIT_GATE : exit_status();
}

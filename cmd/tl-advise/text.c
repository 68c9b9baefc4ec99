/* SPDX-License-Identifier: MIT */
/* Findings as sentences, or as Markdown with marks for programs. */
#include "cmd/tl-advise/advise.h"

#define WIDTH 80
#define WIDTH_MIN 40
#define KERNEL_WIDTH 75
#define CATEGORIES_SHOWN 6
#define OPS_SHOWN 10

double
advice_share(int64_t part, int64_t whole)
{
	return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* ---- lines ---- */

/* Wrapped text; lines after the first are indented. */
static void
put_wrapped(struct out *out, struct str s, size_t indent, size_t width)
{
	size_t at = indent;
	bool is_first = true;

	out_printf(out, "%*s", (int)indent, "");
	while (s.len > 0) {
		const char *blank = memchr(s.p, ' ', s.len);
		size_t n = blank != NULL ? (size_t)(blank - s.p) : s.len;
		size_t w = text_width((struct str){ s.p, n });

		if (!is_first && at + 1 + w > width) {
			out_printf(out, "\n%*s", (int)indent, "");
			at = indent;
			is_first = true;
		}
		if (!is_first)
			out_puts(out, " ");
		out_write(out, s.p, n);
		at += w + !is_first;
		is_first = false;
		n += blank != NULL;
		s.p += n;
		s.len -= n;
	}
	out_puts(out, "\n");
}

/* "12.345 ms of total_time: 54.5 % compute, ..." */
static void
put_metrics(const struct advice *a, struct buf *b)
{
	int64_t sum = advice_sum(a);

	put_time(b, a->total_ns);
	if (a->nsources > 1)
		buf_printf(b, " (mean of %" PRId64 " sources)", a->nsources);
	buf_printf(b, " of total_time: %.1f %% compute, %.1f %% idle",
	    advice_share(a->compute_ns, a->total_ns),
	    advice_share(a->idle_ns, a->total_ns));
	if (a->missing_ns > 0) {
		buf_puts(b, " (");
		put_time(b, a->missing_ns);
		buf_puts(b, " of it work that is not recorded)");
	}
	if (a->has_comm)
		buf_printf(b, ", %.1f %% exposed communication",
		    advice_share(a->exposed_comm_ns, a->total_ns));
	buf_puts(b, ".");
	if (a->categories.n > 0 && a->compute_ns > 0) {
		buf_puts(b, " Most compute: ");
		table_fold_name(a->categories.v[0].name, 40, b);
		buf_printf(b, ", %.1f %% of op time.",
		    advice_share(a->categories.v[0].ns, advice_ops_ns(a)));
	}
	if (sum > 0) {
		buf_puts(b, " Recoverable: ");
		put_time(b, sum);
		buf_printf(
		    b, " (%.1f %% of ", advice_share(sum, advice_window(a)));
		put_time(b, advice_window(a));
		buf_puts(b, ").");
	}
}

/* "103.630 ms (10.5 %; 9.0 to 12.0 %)" */
static void
put_gain(const struct advice *a, const struct finding *f, struct buf *b)
{
	int64_t whole = advice_window(a);

	put_time(b, f->gain_ns[MID]);
	buf_printf(b, " (%.1f %%; %.1f to %.1f %%)",
	    advice_share(f->gain_ns[MID], whole),
	    advice_share(f->gain_ns[LOW], whole),
	    advice_share(f->gain_ns[HIGH], whole));
}

/* ---- text ---- */

static void
put_finding(const struct advice *a, const struct finding *f, struct out *out,
    size_t width)
{
	struct buf b = { 0 };

	buf_printf(&b, "%2zu. ", f->place);
	if (f->has_gain) {
		put_gain(a, f, &b);
		buf_puts(&b, ", ");
	}
	buf_printf(&b, "%.*s", (int)f->rule->section.len, f->rule->section.p);
	if (f->confidence.len > 0)
		buf_printf(&b, ", confidence %.*s", (int)f->confidence.len,
		    f->confidence.p);
	if (f->overlaps > 0)
		buf_printf(&b, ", shares time with %zu", f->overlaps);
	out_printf(out, "%.*s\n", (int)b.len, b.p);
	put_wrapped(out, f->insight, 4, width);
	b.len = 0;
	buf_puts(&b, "> ");
	buf_put(&b, f->action.p, f->action.len);
	put_wrapped(out, buf_str(&b), 4, width);
	buf_free(&b);
}

/* What the shares are of. */
static void
put_title(const struct advice *a, bool has_gain, struct out *out)
{
	struct buf b = { 0 };

	if (!has_gain) {
		out_puts(out, "\nalso seen\n");
		return;
	}
	put_time(&b, advice_window(a));
	out_printf(out, "\nwhat to do first, and the time it saves (of %.*s)\n",
	    (int)b.len, b.p);
	buf_free(&b);
}

void
advice_text(const struct advice *a, struct out *out, size_t width)
{
	struct buf b = { 0 };

	width = width == 0 ? WIDTH : width < WIDTH_MIN ? WIDTH_MIN : width;
	put_metrics(a, &b);
	put_wrapped(out, buf_str(&b), 0, width);
	for (size_t i = 0; i < a->findings.n; i++) {
		if (i == 0 ||
		    a->findings.v[i].has_gain != a->findings.v[i - 1].has_gain)
			put_title(a, a->findings.v[i].has_gain, out);
		put_finding(a, &a->findings.v[i], out, width);
	}
	if (a->findings.n == 0)
		out_puts(out, "\nNo rule has anything to say.\n");
	buf_free(&b);
}

/* ---- Markdown ---- */

/* Escapes what is special in Markdown and HTML. */
static void
put_escaped(struct out *out, struct str text)
{
	struct buf b = { 0 };

	text_visible(text, &b);
	for (size_t i = 0; i < b.len; i++) {
		char c = b.p[i];

		if (c == '<')
			out_puts(out, "&lt;");
		else if (c == '>')
			out_puts(out, "&gt;");
		else if (c == '&')
			out_puts(out, "&amp;");
		else if (c == '\n')
			out_puts(out, " ");
		else if (c != '\0' && strchr("|\\`*_[]", c) != NULL)
			out_printf(out, "\\%c", c);
		else
			out_write(out, &c, 1);
	}
	buf_free(&b);
}

/* A category as part of a mark: a-z, 0-9, underscores. */
static void
put_word(struct out *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
			c = '_';
		out_write(out, &c, 1);
	}
}

static void
put_impact(const struct advice *a, const struct finding *f, struct out *out)
{
	double of[GAINS];
	struct buf b = { 0 };

	for (size_t i = 0; i < GAINS; i++)
		of[i] = advice_share(f->gain_ns[i], advice_window(a));
	out_puts(out, "<!-- impact-begin kind=p_item category=");
	put_word(out, f->category.len > 0 ? f->category : f->rule->section);
	out_printf(out, " low=%.2f mid=%.2f high=%.2f -->\n", of[LOW], of[MID],
	    of[HIGH]);
	put_time(&b, f->gain_ns[MID]);
	out_printf(out,
	    "**Impact**: %.*s, %.2f %% of end-to-end time (%.2f to %.2f %%)",
	    (int)b.len, b.p, of[MID], of[LOW], of[HIGH]);
	if (f->confidence.len > 0)
		out_printf(out, "; confidence %.*s", (int)f->confidence.len,
		    f->confidence.p);
	if (f->overlaps > 0)
		out_printf(out, "; shares time with finding %zu", f->overlaps);
	out_puts(out, "\n<!-- impact-end -->\n\n");
	buf_free(&b);
}

static void
put_section(const struct advice *a, struct out *out, const char *section,
    const char *title)
{
	size_t n = 0;

	out_printf(out, "## %s\n\n", title);
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.v[i];

		if (!str_eq(f->rule->section, str_of(section)))
			continue;
		out_printf(out, "### P%zu: ", ++n);
		put_escaped(
		    out, f->category.len > 0 ? f->category : f->rule->name);
		out_printf(out, " (finding %zu)\n\n**Insight**: ", f->place);
		put_escaped(out, f->insight);
		out_puts(out, "\n\n**Action**: ");
		put_escaped(out, f->action);
		out_puts(out, "\n\n");
		if (f->has_gain)
			put_impact(a, f, out);
	}
	if (n == 0)
		out_puts(out, "Nothing found.\n\n");
}

static void
put_summary(const struct advice *a, struct out *out)
{
	struct buf b = { 0 };

	put_metrics(a, &b);
	out_puts(out, "# Advice\n\n");
	put_escaped(out, buf_str(&b));
	out_puts(out, "\n\n| Metric | Value |\n|---|---|\n");
	out_printf(
	    out, "| Total Time | %.3f ms |\n", (double)a->total_ns / 1e6);
	out_printf(out, "| Compute %% | %.2f |\n",
	    advice_share(a->compute_ns, a->total_ns));
	out_printf(
	    out, "| Idle %% | %.2f |\n", advice_share(a->idle_ns, a->total_ns));
	if (a->has_comm)
		out_printf(out, "| Exposed Communication %% | %.2f |\n",
		    advice_share(a->exposed_comm_ns, a->total_ns));
	if (a->categories.n > 0) {
		out_puts(out, "| Top Bottleneck Category | ");
		put_escaped(out, a->categories.v[0].name);
		out_printf(out, " (%.2f %%) |\n",
		    advice_share(a->categories.v[0].ns, advice_ops_ns(a)));
	}
	out_puts(out, "\n");
	buf_free(&b);
}

static void
put_categories(const struct advice *a, struct out *out)
{
	out_puts(out,
	    "<!-- impact-begin kind=top_ops -->\n"
	    "| Rank | Category | Time (ms) | % of Compute Time | Ops |\n"
	    "|---|---|---|---|---|\n");
	for (size_t i = 0; i < a->categories.n && i < CATEGORIES_SHOWN; i++) {
		const struct category *c = &a->categories.v[i];

		out_printf(out, "| %zu | ", i + 1);
		put_escaped(out, c->name);
		out_printf(out, " | %.3f | %.2f | %" PRId64 " |\n",
		    (double)c->ns / 1e6 / (double)a->nsources,
		    advice_share(c->ns, advice_ops_ns(a)), c->ops);
	}
	out_puts(out, "<!-- impact-end -->\n\n");
}

static void
put_op(const struct advice *a, const struct op_row *o, struct out *out)
{
	struct buf b = { 0 };

	out_puts(out, "| ");
	put_escaped(out, o->name);
	out_puts(out, " | ");
	put_escaped(out, o->args);
	out_puts(out, " | ");
	put_escaped(out, o->library.len > 0 ? o->library : STR("Unknown"));
	out_puts(out, " (vendor) | ");
	table_fold_name(o->kernel, KERNEL_WIDTH, &b);
	put_escaped(out, buf_str(&b));
	out_printf(out, " | %.3f | %.2f | %" PRId64 " | ", (double)o->ns / 1e6,
	    advice_share(o->ns, advice_ops_whole(a)), o->count);
	if (o->flop_per_byte >= 0)
		out_printf(out, "%.2f", o->flop_per_byte);
	out_puts(out, " | ");
	if (o->reached >= 0)
		out_printf(out, "%.2f %%", o->reached);
	out_printf(out, " | %.*s |\n", (int)o->bound.len, o->bound.p);
	buf_free(&b);
}

static int
longer_first(const void *pa, const void *pb)
{
	const struct op_row *a = *(const struct op_row *const *)pa;
	const struct op_row *b = *(const struct op_row *const *)pb;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

static void
put_ops(const struct advice *a, struct out *out)
{
	VEC(const struct op_row *) ops = { 0 };

	for (size_t i = 0; i < a->ops.n; i++)
		if (a->ops.v[i].is_shown)
			vec_push(&ops, &a->ops.v[i]);
	stable_sort(ops.v, ops.n, sizeof *ops.v, longer_first);
	for (size_t i = 0; i < ops.n && i < OPS_SHOWN; i++)
		put_op(a, ops.v[i], out);
	vec_free(&ops);
}

void
advice_markdown(const struct advice *a, struct out *out)
{
	put_summary(a, out);
	put_section(a, out, "compute", "Compute Kernel Optimizations");
	put_categories(a, out);
	put_section(a, out, "fusion", "Kernel Fusion Opportunities");
	put_section(a, out, "system", "System-Level Optimizations");
	if (a->changes.n > 0)
		put_section(a, out, "comparison", "Comparison");
	put_section(a, out, "data", "Data Quality");
	out_puts(out,
	    "## Detailed Tables\n\n"
	    "| Operation | Args | Kernel Path | Kernel Name | Time (ms) | "
	    "%E2E | Count | FLOPS/Byte | Efficiency | Bound |\n"
	    "|---|---|---|---|---|---|---|---|---|---|\n");
	put_ops(a, out);
}

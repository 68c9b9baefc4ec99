/* SPDX-License-Identifier: MIT */
/*
 * A tree for people, with dotted leaders. Nodes come in pre-order; a module's
 * own time is a line after those of the modules below it, written when the node
 * is closed.
 */
#include "cmd/tl-modules/modules.h"

#define DOTS_COLUMN 60 /* where the shortest figure begins at least */
#define SHARE_WIDTH 9  /* " 100.00 %" */
#define LABEL_MIN 16
#define MIN_DOTS 3

struct printer {
	const struct modules *m;
	struct out *out;
	struct buf line;
	VEC(const struct node *) open; /* by level */
	size_t figure_width;
	size_t column;  /* where the shortest figure begins at most */
	size_t width;   /* longest line, or 0: no limit */
	bool is_narrow; /* no room for what follows the share */
};

/* ---- texts ---- */

/* Microseconds with two decimals, halves rounded up. */
static size_t
put_us(char *out, int64_t ns)
{
	struct dec d = { ns / 10 + (ns % 10 >= 5), -2 };

	return num_put_dec(out, d);
}

/* "nn.Module: Block_0", or "nn.Module: Block x 12 (4 instances)"; "layer_0". */
static void
add_label(struct buf *b, const struct printer *p, const struct node *node)
{
	struct str name;

	if (node->is_outside) {
		buf_puts(b, OUTSIDE_LABEL);
		return;
	}
	name = dict_get(p->m->sink.dict, node->name);
	if (str_starts(name, STR("nn.Module")))
		buf_puts(b, "nn.Module: ");
	text_visible(
	    node->instances <= 1 ? module_name(name) : module_type(name), b);
	if (node->calls > 1)
		buf_printf(b, " x %" PRId64, node->calls);
	if (node->instances > 1 && node->instances < node->calls)
		buf_printf(b, " (%" PRId64 " instances)", node->instances);
}

/* ---- the prefix ---- */

static double
own_pct(const struct node *node)
{
	return 100.0 * (double)node->non_module_ns / (double)node->sum_ns;
}

static bool
has_own_line(const struct printer *p, const struct node *node)
{
	return node->non_module_ns > 0 && node->non_module_ns >= p->m->min_ns &&
	    own_pct(node) >= p->m->min_pct &&
	    (p->m->depth == 0 || node->level + 1 < p->m->depth);
}

static bool
is_last_line(const struct printer *p, const struct node *node)
{
	return node->is_last &&
	    (node->up == 0 || !has_own_line(p, node_at(p->m, node->up - 1)));
}

/* Writes what precedes a line of a level, by the nodes open above it. */
static void
begin_line(struct printer *p, int64_t level, bool is_last)
{
	p->line.len = 0;
	for (int64_t i = 1; i < level; i++)
		buf_puts(
		    &p->line, is_last_line(p, p->open.v[i]) ? "    " : "│   ");
	if (level > 0)
		buf_puts(&p->line, is_last ? "└── " : "├── ");
}

static void
end_line(struct printer *p)
{
	buf_putc(&p->line, '\n');
	out_str(p->out, buf_str(&p->line));
}

/* ---- a line ---- */

static void
add_dots(struct printer *p, int64_t ns)
{
	char text[NUM_DEC_MAX];
	size_t len = put_us(text, ns) + 2;
	size_t at = text_width(buf_str(&p->line)) + 1, dots = MIN_DOTS;
	size_t to = p->column + p->figure_width - len - 1;

	if (at + dots < to)
		dots = to - at;
	buf_putc(&p->line, ' ');
	while (dots-- > 0)
		buf_putc(&p->line, '.');
	buf_puts(&p->line, " (");
	buf_put(&p->line, text, len - 2);
	buf_putc(&p->line, ')');
}

static void
add_percent(struct printer *p, double pct)
{
	if (!isnan(pct))
		buf_printf(&p->line, " %6.2f %%", pct);
}

static void
add_figure(struct buf *b, const char *what, int64_t ns)
{
	char text[NUM_DEC_MAX];

	buf_puts(b, what);
	buf_put(b, text, put_us(text, ns));
}

/* Writes as much of the name as fits. */
static void
add_name(struct printer *p, const struct node *node)
{
	size_t at = text_width(buf_str(&p->line)), room = SIZE_MAX;
	struct buf label = { 0 };

	add_label(&label, p, node);
	if (p->is_narrow)
		room = p->column > at + LABEL_MIN + MIN_DOTS + 2
		    ? p->column - at - MIN_DOTS - 2
		    : LABEL_MIN;
	text_elide(buf_str(&label), room, &p->line);
	buf_free(&label);
}

static void
add_more(struct buf *b, const struct node *node)
{
	if (node->calls > 1) {
		add_figure(b, "  mean ", node->sum_ns / node->calls);
		add_figure(b, ", min ", node->min_ns);
		add_figure(b, ", max ", node->max_ns);
	}
	if (node->bwd_ns != SINK_NONE)
		add_figure(b, "  backward ", node->bwd_ns);
	if (!isnan(node->tflop_s))
		buf_printf(b, "  %.2f TFLOP/s of %.0f %% of the time",
		    node->tflop_s, node->pct_modelled);
}

static void
add_node(struct printer *p, const struct node *node)
{
	add_name(p, node);
	add_dots(p, node->sum_ns);
	add_percent(p, node->up > 0 ? node->pct_parent : node->pct_busy);
	if (!p->is_narrow)
		add_more(&p->line, node);
}

/* ---- all of it ---- */

/* Writes the last line of a node: its own time, in no module below. */
static void
put_own_line(struct printer *p, const struct node *node)
{
	if (!has_own_line(p, node))
		return;
	begin_line(p, node->level + 1, true);
	buf_puts(&p->line, OUTSIDE_LABEL);
	add_dots(p, node->non_module_ns);
	add_percent(p, own_pct(node));
	end_line(p);
}

static void
close_down_to(struct printer *p, int64_t level)
{
	while ((int64_t)p->open.n > level)
		put_own_line(p, p->open.v[--p->open.n]);
}

static void
put_node(struct printer *p, const struct node *node)
{
	close_down_to(p, node->level);
	begin_line(p, node->level, is_last_line(p, node));
	add_node(p, node);
	end_line(p);
	vec_push(&p->open, node);
}

/* Names the source that follows, if there are several. */
static void
put_source(struct printer *p, uint32_t source, enum sink_lead lead)
{
	const struct sink_source *o = &p->m->sink.sources.list.v[source];

	close_down_to(p, 0);
	if (lead == SINK_LEAD_RANK)
		out_printf(p->out, "rank %" PRId64 ":\n", o->rank);
	else if (lead == SINK_LEAD_SRC)
		out_printf(p->out, "src %" PRIu32 ":\n", o->no);
}

static void
find_width(struct printer *p)
{
	char text[NUM_DEC_MAX];

	for (size_t i = 0; i < p->m->sink.records.n; i++) {
		size_t len = put_us(text, node_at(p->m, i)->sum_ns) + 2;

		if (len > p->figure_width)
			p->figure_width = len;
	}
	p->column = DOTS_COLUMN;
}

/*
 * On a terminal a line has name, time and share, and the rest if there is room.
 */
static void
fit_width(struct printer *p)
{
	size_t most = 0, used;
	struct buf b = { 0 };

	for (size_t i = 0; i < p->m->sink.records.n; i++) {
		b.len = 0;
		add_more(&b, node_at(p->m, i));
		if (text_width(buf_str(&b)) > most)
			most = text_width(buf_str(&b));
	}
	buf_free(&b);
	used = p->figure_width + SHARE_WIDTH;
	p->is_narrow = p->width > 0 && p->column + used + most > p->width;
	if (p->is_narrow && p->column + used > p->width)
		p->column =
		    p->width > used + LABEL_MIN ? p->width - used : LABEL_MIN;
}

static void
put_head(struct printer *p)
{
	static const char head[] = "(GPU Time µs)";
	size_t width = text_width(STR(head));

	for (size_t n = p->column + p->figure_width; n > width; n--)
		out_puts(p->out, " ");
	out_printf(p->out, "%s of parent\n", head);
}

static void
put_unlinked(struct printer *p)
{
	const struct sink_source sum = sink_sources_sum(&p->m->sink.sources);

	if (sum.nunlinked > 0)
		out_printf(p->out,
		    "%" PRIu64 " of %" PRIu64
		    " GPU events %s no launch in the trace and no module\n",
		    sum.nunlinked, sum.ngpu, HAVE(sum.nunlinked));
}

void
modules_print(struct sink *s, const struct sink_plan *plan)
{
	enum sink_lead lead = sink_sources_lead(&s->sources);
	struct printer p = { .m = (const struct modules *)s };
	uint32_t source = UINT32_MAX;

	(void)plan;
	p.out = out_open(s->dest.path);
	p.width = table_line_width(&s->dest, p.out);
	find_width(&p);
	fit_width(&p);
	put_head(&p);
	for (size_t i = 0; i < s->records.n; i++) {
		const struct node *node = node_at(p.m, i);

		if (node->rec.source != source)
			put_source(&p, node->rec.source, lead);
		source = node->rec.source;
		put_node(&p, node);
	}
	close_down_to(&p, 0);
	put_unlinked(&p);
	if (p.is_narrow)
		out_puts(p.out, "(no room for: mean, min, max)\n");
	out_finish(p.out);
	s->dest.path = NULL; /* it is written */
	buf_free(&p.line);
	vec_free(&p.open);
}

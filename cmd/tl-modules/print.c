/* SPDX-License-Identifier: MIT */
/*
 * Trees for people: with dotted leaders up to the figures, or with everything
 * in words as the reference prints a subtree. Nodes come in pre-order; what a
 * module did itself is a line behind those of the modules below it, so it is
 * written when the node is closed.
 */
#include <math.h>

#include "cmd/tl-modules/modules.h"

#define DOTS_COLUMN 60 /* the least one where the shortest figure begins */
#define MIN_DOTS 3

struct printer {
	const struct settings *set;
	const struct modules *m;
	const struct nodes *n;
	struct out *out;
	struct buf line;
	struct buf prefix;
	VEC(uint32_t) open; /* nodes, numbers from 1 */
	VEC(uint32_t) ends; /* by level: length of the prefix there */
	size_t figure_width;
};

/* ---- texts ---- */

/* Microseconds with two decimals, halves rounded up. */
static size_t
put_us(char *out, int64_t ns)
{
	struct dec d = { ns / 10 + (ns % 10 >= 5), -2 };

	return num_put_dec(out, d);
}

static void
add_us(struct buf *b, int64_t ns)
{
	char text[NUM_DEC_MAX];

	buf_put(b, text, put_us(text, ns));
}

/*
 * Bytes of the character at p, 0 where it is none, or one that a terminal
 * obeys (C0, DEL, C1).
 */
static size_t
char_len(const unsigned char *p, size_t left)
{
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 1;

	if (p[0] < 0x20 || p[0] == 0x7f || (p[0] >= 0x80 && n == 1) ||
	    p[0] > 0xf4 || n > left || (p[0] == 0xc2 && n > 1 && p[1] < 0xa0))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void
add_visible(struct buf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	for (size_t i = 0; i < s.len;) {
		size_t n = char_len(p + i, s.len - i);

		if (n == 0)
			buf_printf(b, "\\x%02x", p[i++]);
		else
			buf_put(b, p + i, n);
		i += n;
	}
}

/* Columns: characters, as names are of one column each. */
static size_t
columns_of(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* "nn.Module: Block_0", or "nn.Module: Block x 12 (4 instances)". */
static void
add_label(struct buf *b, const struct printer *p, const struct node *node)
{
	struct str name;

	if (node->type == NODE_OUTSIDE) {
		buf_puts(b, OUTSIDE_LABEL);
		return;
	}
	name = dict_get(p->m->dict, p->m->list.v[node->first].name);
	buf_puts(b, "nn.Module: ");
	if (node->instances <= 1)
		add_visible(b, module_name(name));
	else
		add_visible(b, module_type(name));
	if (node->calls > 1)
		buf_printf(b, " x %" PRIu64, node->calls);
	if (node->instances > 1 && node->instances < node->calls)
		buf_printf(b, " (%" PRIu64 " instances)", node->instances);
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
	return node->non_module_ns != NO_TIME && node->non_module_ns > 0 &&
	    node->non_module_ns >= p->set->min_ns &&
	    own_pct(node) >= p->set->min_pct &&
	    (p->set->depth == 0 || (int64_t)node->level + 1 < p->set->depth);
}

static bool
is_last_line(const struct printer *p, const struct node *node)
{
	return node->is_last &&
	    (node->up == 0 || !has_own_line(p, &p->n->list.v[node->up - 1]));
}

/* The prefix of a level, and its connector, into the line. */
static void
begin_line(struct printer *p, uint32_t level, bool is_last)
{
	p->line.len = 0;
	p->prefix.len = level > 0 ? p->ends.v[level] : 0;
	buf_put(&p->line, p->prefix.p, p->prefix.len);
	if (level > 0)
		buf_puts(&p->line, is_last ? "└── " : "├── ");
	else if (p->set->style == STYLE_TREE)
		buf_puts(&p->line, "└── ");
}

/* What stands before lines a level further down. */
static void
open_level(struct printer *p, uint32_t level, bool is_last)
{
	if (level > 0)
		buf_puts(&p->prefix, is_last ? "    " : "│   ");
	else if (p->set->style == STYLE_TREE)
		buf_puts(&p->prefix, "    ");
	while (p->ends.n <= (size_t)level + 1)
		vec_push(&p->ends, 0);
	p->ends.v[level + 1] = (uint32_t)p->prefix.len;
}

static void
end_line(struct printer *p)
{
	buf_putc(&p->line, '\n');
	out_str(p->out, buf_str(&p->line));
}

/* ---- dots ---- */

static void
add_dots(struct printer *p, int64_t ns)
{
	char text[NUM_DEC_MAX];
	size_t len = put_us(text, ns) + 2;
	size_t at = columns_of(buf_str(&p->line)) + 1, dots = MIN_DOTS;
	size_t to = DOTS_COLUMN + p->figure_width - len - 1;

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
	if (isnan(pct))
		return;
	if (p->set->style == STYLE_DOTS)
		buf_printf(&p->line, " %6.2f %%", pct);
	else
		buf_printf(&p->line, ", Pct Parent: %.2f%%", pct);
}

static void
add_figure(struct buf *b, const char *what, int64_t ns, const char *unit)
{
	buf_puts(b, what);
	add_us(b, ns);
	buf_puts(b, unit);
}

static void
add_flops(struct buf *b, const struct node *node)
{
	const struct flops *f = &node->flops;

	if (f->nops > 0 && node->sum_ns > 0)
		buf_printf(b, "  %.2f TFLOP/s of %.0f %% of the time",
		    f->flops / (double)node->sum_ns / 1e3,
		    100 * (double)f->known_ns / (double)node->sum_ns);
}

static void
dots_node(struct printer *p, const struct node *node)
{
	struct buf *b = &p->line;

	add_label(b, p, node);
	add_dots(p, node->sum_ns);
	add_percent(p,
	    node->up > 0 ? node_pct_parent(p->n, node)
			 : node_pct_busy(p->m, node));
	if (node->calls > 1) {
		add_figure(
		    b, "  mean ", node->sum_ns / (int64_t)node->calls, "");
		add_figure(b, ", min ", node->min_ns, "");
		add_figure(b, ", max ", node->max_ns, "");
	}
	if (node->bwd_ns != NO_TIME)
		add_figure(b, "  backward ", node->bwd_ns, "");
	add_flops(b, node);
}

/* ---- words ---- */

static void
tree_node(struct printer *p, const struct node *node)
{
	struct buf *b = &p->line;
	const struct module *mod;

	if (node->type == NODE_MODULE && node->calls == 1) {
		mod = &p->m->list.v[node->first];
		buf_puts(b, "UID: ");
		buf_room(b, UID_MAX);
		b->len += uid_put(b->p + b->len, mod->uid);
		buf_puts(b, ", ");
	}
	if (node->type == NODE_MODULE)
		buf_puts(b, "Name: ");
	add_label(b, p, node);
	add_figure(b, ", GPU Time: ", node->sum_ns, " µs");
	add_percent(p, node_pct_parent(p->n, node));
	if (node->calls > 1) {
		add_figure(
		    b, ", Mean: ", node->sum_ns / (int64_t)node->calls, " µs");
		add_figure(b, ", Min: ", node->min_ns, " µs");
		add_figure(b, ", Max: ", node->max_ns, " µs");
	}
	if (node->bwd_ns != NO_TIME)
		add_figure(b, ", Backward: ", node->bwd_ns, " µs");
}

/* ---- all of it ---- */

/* What a node did in no module below it, as its last line. */
static void
put_own_line(struct printer *p, const struct node *node)
{
	if (!has_own_line(p, node))
		return;
	begin_line(p, node->level + 1, true);
	if (p->set->style == STYLE_DOTS) {
		buf_puts(&p->line, OUTSIDE_LABEL);
		add_dots(p, node->non_module_ns);
	} else {
		add_figure(&p->line,
		    "Non-nn.Module GPU Time: ", node->non_module_ns, " µs");
	}
	add_percent(p, own_pct(node));
	end_line(p);
}

static void
close_down_to(struct printer *p, uint32_t level)
{
	while (p->open.n > 0) {
		const struct node *top =
		    &p->n->list.v[p->open.v[p->open.n - 1] - 1];

		if (top->level < level)
			return;
		put_own_line(p, top);
		p->open.n--;
	}
}

static void
put_node(struct printer *p, uint32_t number)
{
	const struct node *node = &p->n->list.v[number - 1];
	bool is_last = is_last_line(p, node);

	close_down_to(p, node->level);
	begin_line(p, node->level, is_last);
	if (p->set->style == STYLE_DOTS)
		dots_node(p, node);
	else
		tree_node(p, node);
	end_line(p);
	open_level(p, node->level, is_last);
	vec_push(&p->open, number);
}

/* Which source follows, where there are several. */
static void
put_source(struct printer *p, uint32_t source, enum sink_lead lead)
{
	const struct sink_source *o = &p->m->sources.list.v[source];

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

	for (size_t i = 0; i < p->n->list.n; i++) {
		size_t len = put_us(text, p->n->list.v[i].sum_ns) + 2;

		if (len > p->figure_width)
			p->figure_width = len;
	}
}

static void
put_head(struct printer *p)
{
	static const char head[] = "(GPU Time µs)";
	size_t width = columns_of(STR(head));

	for (size_t n = DOTS_COLUMN + p->figure_width; n > width; n--)
		out_puts(p->out, " ");
	out_printf(p->out, "%s\n", head);
}

static void
put_unlinked(struct printer *p)
{
	const struct sink_source sum = sink_sources_sum(&p->m->sources);

	if (sum.nunlinked > 0)
		out_printf(p->out,
		    "%" PRIu64 " of %" PRIu64
		    " GPU events have no launch in the trace and no module\n",
		    sum.nunlinked, sum.ngpu);
}

void
print_nodes(
    const struct settings *set, const struct modules *m, const struct nodes *n)
{
	enum sink_lead lead = sink_sources_lead(&m->sources);
	struct printer p = { .set = set, .m = m, .n = n };
	uint32_t source = UINT32_MAX;

	p.out = out_open(set->dest.path);
	buf_room(&p.prefix, 64); /* so that an empty prefix is no NULL */
	find_width(&p);
	if (set->style == STYLE_DOTS)
		put_head(&p);
	for (uint32_t i = 1; i <= n->list.n; i++) {
		if (n->list.v[i - 1].source != source) {
			source = n->list.v[i - 1].source;
			put_source(&p, source, lead);
		}
		put_node(&p, i);
	}
	close_down_to(&p, 0);
	put_unlinked(&p);
	out_finish(p.out);
	buf_free(&p.line);
	buf_free(&p.prefix);
	vec_free(&p.open);
	vec_free(&p.ends);
}

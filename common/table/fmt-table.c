/* SPDX-License-Identifier: MIT */
/*
 * The table of a terminal: aligned columns that fit the line (layout.c), folded
 * kernel names, and at the end what was omitted and what it is worth.
 */
#include "table/layout.h"

static void
put_blanks(struct out *out, size_t n)
{
	while (n-- > 0)
		out_write(out, " ", 1);
}

/* The text of a cell before it is cut. */
static void
cell_whole(
    const struct view *v, const struct layout *l, size_t row, struct buf *b)
{
	b->len = 0;
	shape_cell(&l->shape, l->col, view_cell(v, row, l->col), b);
}

/* ---- texts that are cut ---- */

#define FOLD_TIMES 3 /* as wide as its column: such a name is folded */

/* Writes "[[4,2],[],[]]" as "[[4,2]]", to show more. */
static void
put_list(struct str s, size_t width, struct buf *out)
{
	static const struct str scalar = STR_INIT(",[]");
	struct buf b = { 0 };

	while (s.len > 0) {
		if (str_take(&s, scalar))
			continue;
		buf_putc(&b, *s.p++);
		s.len--;
	}
	text_elide(buf_str(&b), width, out);
	buf_free(&b);
}

static struct str
cut_cell(const struct view *v, const struct layout *l, size_t row,
    struct str whole, struct arena *text)
{
	const struct cell *c = view_cell(v, row, l->col);
	struct buf b = { 0 };
	struct str made;

	if (text_width(whole) <= l->width)
		return whole;
	if (c->type == CELL_TEXT && l->col->flags & COL_NAME)
		table_fold_name(c->text, l->width, &b);
	else if (l->col->type == COL_JSON)
		put_list(whole, l->width, &b);
	else
		text_elide(whole, l->width, &b);
	made = arena_str(text, buf_str(&b));
	buf_free(&b);
	return made;
}

/*
 * The name without what is folded first: arguments, which rarely tell names
 * apart, go last.
 */
static struct str
fold_cell(const struct view *v, const struct layout *l, size_t row,
    struct str whole, struct arena *text)
{
	struct buf b = { 0 };
	struct str made = whole;

	if ((l->col->flags & COL_NAME) == 0 ||
	    view_cell(v, row, l->col)->type != CELL_TEXT)
		return whole;
	table_fold_name(
	    view_cell(v, row, l->col)->text, FOLD_TIMES * l->width, &b);
	made = arena_str(text, buf_str(&b));
	buf_free(&b);
	return made;
}

/* Makes rows that differ look different, where possible. */
static void
cut_column(const struct view *v, struct grid *g, struct layout *l)
{
	size_t size = (v->nrows + 1) * sizeof(struct str);
	struct str *whole = arena_alloc(g->text, size);
	struct str *folded = arena_alloc(g->text, size);
	struct buf b = { 0 };

	l->shown = arena_alloc(g->text, size);
	for (size_t row = 0; row < v->nrows; row++) {
		cell_whole(v, l, row, &b);
		b.len -= b.len > l->end ? l->end : 0;
		whole[row] = arena_str(g->text, buf_str(&b));
		folded[row] = fold_cell(v, l, row, whole[row], g->text);
		l->shown[row] = cut_cell(v, l, row, whole[row], g->text);
	}
	texts_distinct(folded, l->shown, v->nrows, l->width, g->text);
	texts_distinct(whole, l->shown, v->nrows, l->width, g->text);
	buf_free(&b);
}

#define INDENT 2
#define NAMES_MAX 16 /* shown of a sequence */
#define NAME_LINES 2 /* about as many as a name may take */
#define BREAKS 12    /* of these, what indents and breaks take */

static size_t
names_width(const struct view *v)
{
	return v->width > 8 * INDENT ? v->width - 2 * INDENT : 6 * INDENT;
}

/* The names of all rows that are shown, row by row, whole. */
static size_t
sequence_names(const struct view *v, const struct layout *l, struct str *names)
{
	size_t n = 0;

	for (size_t row = 0; row < v->nrows; row++) {
		struct str rest = view_cell(v, row, l->col)->text;

		for (size_t i = 0; rest.len > 0 && i < NAMES_MAX; i++)
			names[n++] = names_take(&rest);
	}
	return n;
}

static struct str
fold_to(struct str name, size_t width, struct arena *text)
{
	struct buf b = { 0 };
	struct str made;

	table_fold_name(name, width, &b);
	made = arena_str(text, buf_str(&b));
	buf_free(&b);
	return made;
}

/*
 * Sequences as lines: a name each, and kernels that differ look different,
 * where possible.
 */
static void
cut_sequences(const struct view *v, struct grid *g, struct layout *l)
{
	size_t size = (v->nrows * NAMES_MAX + 1) * sizeof(struct str);
	struct str *whole = arena_alloc(g->text, size);
	struct str *folded = arena_alloc(g->text, size);
	struct str *shown = arena_alloc(g->text, size);
	size_t n = sequence_names(v, l, whole), at = 0;
	size_t width = NAME_LINES * names_width(v) - BREAKS;
	struct buf b = { 0 };

	l->shown = arena_alloc(g->text, v->nrows * sizeof *l->shown);
	for (size_t i = 0; i < n; i++) {
		folded[i] = fold_to(whole[i], FOLD_TIMES * width, g->text);
		shown[i] = fold_to(whole[i], width, g->text);
	}
	texts_distinct(folded, shown, n, width, g->text);
	for (size_t row = 0; row < v->nrows; row++) {
		size_t all = names_count(view_cell(v, row, l->col)->text);

		b.len = 0;
		for (size_t i = 0; i < all && i < NAMES_MAX && at < n; i++) {
			buf_put(&b, shown[at].p, shown[at].len);
			buf_putc(&b, '\n');
			at++;
		}
		if (all > NAMES_MAX)
			buf_printf(&b, "... %zu more\n", all - NAMES_MAX);
		l->shown[row] = arena_str(g->text, buf_str(&b));
	}
	buf_free(&b);
}

/* ---- words on lines ---- */

struct words {
	struct out *out;
	size_t at, width, indent, nlines; /* indent: of lines after the first */
	bool has_word;                    /* a word is on this line */
};

/* Writes a word on this line or, indented, the next. */
static void
put_word(struct words *w, struct str s, const char *between)
{
	struct buf b = { 0 };

	text_elide(s, w->width - (w->at == 0 ? 1 : w->indent + 1), &b);
	s = buf_str(&b);
	if (w->at > w->indent &&
	    w->at + strlen(between) + text_width(s) + 1 > w->width) {
		out_write(w->out, between, strcspn(between, " "));
		out_puts(w->out, "\n");
		put_blanks(w->out, w->indent);
		w->at = w->indent;
		w->nlines++;
	} else if (w->has_word) {
		out_puts(w->out, between);
		w->at += strlen(between);
	}
	out_str(w->out, s);
	w->at += text_width(s);
	w->has_word = true;
	buf_free(&b);
}

static void
put_words(struct words *w, struct str s)
{
	while (s.len > 0) {
		const char *end = memchr(s.p, ' ', s.len);
		size_t n = end != NULL ? (size_t)(end - s.p) : s.len;

		put_word(w, (struct str){ s.p, n }, " ");
		s.p += n + (end != NULL);
		s.len -= n + (end != NULL);
	}
}

static void
put_note(struct out *out, struct str s, size_t width)
{
	struct words w = { .out = out, .width = width, .indent = INDENT };

	if (text_width(s) <= width)
		out_str(out, s);
	else
		put_words(&w, s);
	out_puts(out, "\n");
}

/* ---- lines ---- */

/* A field: b, or its elided text if that is too wide; last: unpadded. */
static void
put_field(struct out *out, const struct layout *l, struct str s, bool last)
{
	size_t w = text_width(s), pad = w < l->width ? l->width - w : 0;

	if (l->shape.right)
		put_blanks(out, pad);
	out_str(out, s);
	if (!last)
		put_blanks(out, LAYOUT_GAP + (l->shape.right ? 0 : pad));
}

/* The part of a head on this line (0: the last); as few lines as needed. */
static struct str
head_part(
    const struct grid *g, const struct layout *l, struct str head, size_t line)
{
	struct str parts[HEAD_LINES];
	size_t n = 1, used = 0;

	while (n < g->nlines && l->heads[n - 1] > l->width)
		n++;
	(void)head_split(head, n, parts);
	while (used < n && parts[used].len > 0)
		used++;
	return line < used ? parts[used - 1 - line] : STR("");
}

static void
put_head_line(
    struct out *out, const struct view *v, const struct grid *g, size_t line)
{
	struct buf b = { 0 }, cut = { 0 };
	size_t end = g->n;

	/* no blanks after the last word */
	for (; line > 0 && end > 0; end--) {
		const struct layout *l = &g->list[end - 1];

		b.len = 0;
		shape_head(&l->shape, l->col, &b);
		if (head_part(g, l, buf_str(&b), line).len > 0)
			break;
	}
	if (end == 0) { /* no head here */
		buf_free(&b);
		return;
	}
	if (v->bold)
		out_puts(out, "\033[1m");
	for (size_t i = 0; i < end; i++) {
		const struct layout *l = &g->list[i];

		b.len = cut.len = 0;
		shape_head(&l->shape, l->col, &b);
		text_elide(head_part(g, l, buf_str(&b), line), l->width, &cut);
		put_field(out, l, buf_str(&cut), i + 1 == end);
	}
	out_puts(out, v->bold ? "\033[0m\n" : "\n");
	buf_free(&b);
	buf_free(&cut);
}

/* Whether only blanks follow on the line, which are not written. */
static bool
is_last(const struct view *v, const struct grid *g, size_t row, size_t col)
{
	while (++col < g->n)
		if (view_cell(v, row, g->list[col].col)->type != CELL_NONE)
			return false;
	return true;
}

static void
put_row(struct out *out, const struct view *v, const struct grid *g, size_t row)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < g->n; i++) {
		const struct layout *l = &g->list[i];
		bool last = is_last(v, g, row, i);

		if (last && view_cell(v, row, l->col)->type == CELL_NONE)
			break;
		cell_whole(v, l, row, &b);
		put_field(out, l,
		    l->shown != NULL ? l->shown[row] : buf_str(&b), last);
		if (last)
			break;
	}
	out_puts(out, "\n");
	buf_free(&b);
}

/* How many bytes of a name go on a line: all, or up to a break. */
static size_t
name_break(struct str s, size_t width)
{
	struct buf b = { 0 };
	size_t n, i;

	text_head(s, width, &b);
	n = i = b.len;
	buf_free(&b);
	if (n == s.len)
		return n;
	while (i > n / 2 && strchr(" ,<(:_", s.p[i - 1]) == NULL)
		i--;
	return i > n / 2 ? i : n;
}

/* A name a line, or on several. */
static void
put_lines(struct out *out, struct str s, size_t width)
{
	size_t at = 0;

	while (s.len > 0) {
		const char *end = memchr(s.p, '\n', s.len);
		size_t len = (size_t)(end - s.p);
		size_t n = name_break((struct str){ s.p, len }, width - at);
		size_t shown = n;

		put_blanks(out, 2 * INDENT + at);
		while (shown > 0 && s.p[shown - 1] == ' ')
			shown--;
		out_write(out, s.p, shown);
		out_puts(out, "\n");
		at = n < len ? INDENT : 0;
		while (n < len && s.p[n] == ' ')
			n++;
		n += n == len;
		s.p += n;
		s.len -= n;
	}
}

/* A list, and a sentence below kernel names, need their column's name. */
static void
put_head_below(struct words *w, const struct grid *g, const struct layout *l,
    struct str said)
{
	struct buf b = { 0 };
	bool is_unclear = said.len > 0 && said.p[0] == '[';

	for (size_t i = g->n; i < g->nall; i++)
		is_unclear |= g->list[i].below && g->list[i].shown != NULL;
	if (!is_unclear)
		return;
	shape_head(&l->shape, l->col, &b);
	buf_putc(&b, ':');
	put_word(w, buf_str(&b), "");
	buf_free(&b);
}

/* Writes a row's sentences below it, the first column's first. */
static void
put_below(
    struct out *out, const struct view *v, const struct grid *g, size_t row)
{
	struct buf b = { 0 };

	for (size_t i = g->nall; i-- > g->n;) {
		const struct layout *l = &g->list[i];
		struct words w = { .out = out,
			.width = v->width,
			.at = 2 * INDENT,
			.indent = 2 * INDENT };

		if (!l->below || view_cell(v, row, l->col)->type == CELL_NONE)
			continue;
		if (l->shown != NULL) {
			put_lines(out, l->shown[row], names_width(v));
			continue;
		}
		cell_whole(v, l, row, &b);
		put_blanks(out, w.at);
		put_head_below(&w, g, l, buf_str(&b));
		put_words(&w, buf_str(&b));
		out_puts(out, "\n");
	}
	buf_free(&b);
}

/* The percentage that the omitted rows are worth, by the share column. */
static bool
cut_share(const struct view *v, double *percent)
{
	const struct table *t = v->table;
	const struct column *col = table_share(t);
	double cut = 0, all = 0;

	for (size_t row = 0; col != NULL && row < t->nrows; row++) {
		const struct cell *c = view_cell(v, row, col);
		double x = c->type == CELL_INT ? (double)c->i
		    : c->type == CELL_REAL     ? c->real
					       : 0;

		all += x;
		if (row >= v->nrows)
			cut += x;
	}
	if (col != NULL && col->unit == UNIT_PERCENT)
		*percent = cut;
	else if (all > 0)
		*percent = cut / all * 100;
	else
		return false;
	return true;
}

static void
put_more(struct out *out, const struct view *v)
{
	double percent;

	if (v->nrows == v->table->nrows)
		return;
	out_printf(out, "... %zu more", v->table->nrows - v->nrows);
	if (cut_share(v, &percent)) {
		if (percent > 0 && percent < 0.05)
			out_puts(out, ", < 0.1 %");
		else
			out_printf(out, ", %.1f %%", percent);
	}
	out_puts(out, "\n");
}

/* ---- columns that are left out ---- */

#define VALUE_FAIR 40 /* longest value that all rows have in common */
#define LINES_MAX 3   /* of columns that do not fit */

/* Columns that do not fit, with or without a value common to all rows. */
static void
put_left_out(struct out *out, const struct view *v, const struct grid *g,
    bool says_all, const char *before)
{
	struct words w = { .out = out, .width = v->width, .indent = INDENT };
	struct buf b = { 0 }, whole = { 0 }, value = { 0 };
	size_t nmore = 0;
	bool is_first = true;

	for (size_t i = g->n; i < g->nall; i++) {
		const struct layout *l = &g->list[i];

		if (l->below || grid_says_all(v, l) != says_all)
			continue;
		b.len = 0;
		if (is_first)
			put_word(&w, str_of(before), "");
		shape_head(&l->shape, l->col, &b);
		if (says_all) {
			cell_whole(v, l, 0, &whole);
			value.len = 0;
			text_elide(buf_str(&whole), VALUE_FAIR, &value);
			if (whole.len == 0)
				buf_puts(&value, "empty");
		}
		/* leave room for the words after the last one */
		if (nmore > 0 ||
		    (w.nlines + 1 >= LINES_MAX && !says_all &&
			w.at + text_width(buf_str(&b)) + 14 > w.width))
			nmore++;
		else
			put_word(&w, buf_str(&b), is_first ? " " : ", ");
		is_first = false;
		if (says_all && nmore == 0)
			put_word(&w, buf_str(&value), " ");
	}
	if (nmore > 0)
		out_printf(out, ", %zu more", nmore);
	if (!is_first)
		out_puts(out, ")\n");
	buf_free(&b);
	buf_free(&whole);
	buf_free(&value);
}

void
fmt_table_print(struct out *out, const struct view *v)
{
	struct grid g;

	grid_open(&g, v);
	for (size_t i = 0; i < g.n; i++)
		if (g.list[i].width < g.list[i].cells)
			cut_column(v, &g, &g.list[i]);
	for (size_t i = g.n; i < g.nall; i++)
		if (g.list[i].below && g.list[i].col->flags & COL_NAME)
			cut_sequences(v, &g, &g.list[i]);
	for (size_t i = 0; i < v->table->notes.n; i++)
		put_note(
		    out, v->table->notes.v[i], v->wraps ? v->width : SIZE_MAX);
	for (size_t line = g.nlines; v->header && line-- > 0;)
		put_head_line(out, v, &g, line);
	for (size_t row = 0; row < v->nrows; row++) {
		put_row(out, v, &g, row);
		put_below(out, v, &g, row);
	}
	if (v->header)
		put_more(out, v);
	if (v->table->nrows > 0) {
		/* rows that are cut may differ */
		put_left_out(out, v, &g, true,
		    v->nrows < v->table->nrows ? "(in these rows:"
					       : "(in all rows:");
		put_left_out(out, v, &g, false, "(no room for:");
	} else if (v->header) {
		out_puts(out, "(no rows)\n");
	}
	grid_close(&g);
}

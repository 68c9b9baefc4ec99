/* SPDX-License-Identifier: MIT */
/* The screen's lists: of one side, or rows that both sides have. */
#include "table/table.h"

#include "cmd/tl-report/changes.h"
#include "cmd/tl-report/screen.h"

#define WIDE 74       /* columns: from here on categories are shown */
#define ROOM_USUAL 36 /* of a name, before a last column is shown */
#define WHAT 18

/* Short text, padded to width. */
static void
put_padded(struct screen *s, struct str text, size_t width)
{
	size_t from = s->b.len;

	buf_put(&s->b, text.p, text.len);
	for (size_t n =
		 text_width((struct str){ s->b.p + from, s->b.len - from });
	     n < width; n++)
		buf_putc(&s->b, ' ');
}

/*
 * Title and heads of a list. Names get the columns that others leave; on a wide
 * screen, no more than they need.
 */
static size_t
begin_list(struct screen *s, struct names_shown *names, size_t rest,
    const char *title, const char *heads)
{
	size_t room = s->width > rest + ROOM_MIN ? s->width - rest : ROOM_MIN;
	size_t usual = rest < WIDTH_USUAL ? WIDTH_USUAL - rest : 0, widest;

	names_show(s->f, names, room);
	widest = names_widest(names);
	if (widest < usual)
		widest = usual;
	room = widest < room ? widest : room;
	out_puts(s->out, "\n");
	if (text_width(str_of(title)) > room + 2) {
		struct buf b = { 0 };

		table_fold_name(str_of(title), 0, &b);
		screen_wrapped(s, "", buf_str(&b));
		buf_free(&b);
		title = "";
	}
	screen_name(s, str_of(title), room + 2);
	buf_puts(&s->b, heads);
	screen_line(s);
	return room;
}

/* A row: its name, and two figures, each right-aligned in its column. */
static void
put_figures(struct screen *s, struct str name, size_t room, int64_t ns,
    size_t time_width)
{
	struct buf cell = { 0 };

	buf_puts(&s->b, "  ");
	put_padded(s, name, room);
	put_time(&cell, ns);
	screen_right(s, &cell, time_width);
	buf_free(&cell);
}

static void
put_percent(struct screen *s, int64_t part, int64_t whole)
{
	struct buf cell = { 0 };

	put_share(&cell, part, whole);
	screen_right(s, &cell, 9);
	buf_free(&cell);
}

/* In a comparison a heading says whose figures follow. */
const char *
screen_of_side(const struct figures *f)
{
	struct str name = side_of(f);

	return name.len == 0 ? "" : text(": %.*s", (int)name.len, name.p);
}

/* Lists add up the times of all ranks: no rank takes that long. */
static const char *
time_head(const struct figures *f, const char *of_one)
{
	const struct facts *facts = &f->set->facts;

	if (facts->nsources < 2)
		return of_one;
	return f->by_src || facts->nknown < facts->nsources ? "sum of traces"
							    : "sum of ranks";
}

/* ---- of a comparison ---- */

/* Heads the sides' times with their names, each followed by another head. */
static void
put_heads(const struct figures *f, const char *behind, struct buf *b)
{
	for (int side = 0; side < 2; side++) {
		struct buf name = { 0 };

		table_fold_name(f->set->sides[side], 11, &name);
		for (size_t w = text_width(buf_str(&name)); w < 12; w++)
			buf_putc(b, ' ');
		buf_put(b, name.p, name.len);
		buf_puts(b, behind);
		buf_free(&name);
	}
}

void
screen_changes(struct screen *s)
{
	const struct figures *f = s->f;
	struct names_shown names = { .n = f->changes.n };
	struct buf b = { 0 };
	bool has_ratio = s->width >= 47 + ROOM_MIN;
	size_t room;

	if (names.n == 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		names.name[i] = f->changes.v[i].name;
	put_heads(f, "", &b);
	buf_puts(&b, has_ratio ? "         diff   ratio" : "         diff");
	buf_putc(&b, '\0');
	room = begin_list(
	    s, &names, has_ratio ? 47 : 39, "what changed most", b.p);
	for (size_t i = 0; i < names.n; i++) {
		const struct change *c = &f->changes.v[i];
		int64_t more = c->after_ns - c->before_ns;

		put_figures(s, names.shown[i], room, c->before_ns, 12);
		b.len = 0;
		put_time(&b, c->after_ns);
		screen_right(s, &b, 12);
		buf_putc(&b, more < 0 ? '-' : '+');
		put_time(&b, more < 0 ? -more : more);
		screen_right(s, &b, 13);
		if (has_ratio) {
			put_ratio(&b, c);
			screen_right(s, &b, 8);
		}
		screen_line(s);
	}
	buf_free(&b);
}

/* ---- which lists ---- */

enum which { CAUSES, GROUPED, TOPS, LOSSES, NLISTS };

struct list {
	const char *title;
	const struct tallies *of;
	bool is_loss;
	struct str roof;     /* of losses */
	const char *counted; /* head of the count */
	const char *last;    /* head of the last column; NULL: none */
	size_t most;
	enum list_order order;
	bool is_shown;
};

/* Whether there is enough idle time to list its causes. */
static bool
is_idle(const struct figures *f)
{
	int64_t window_ns = 0;

	for (size_t i = 0; i < f->budgets.list.n; i++)
		time_add(&window_ns, f->budgets.list.v[i].window_ns);
	return share_of(tallies_sum(&f->causes), window_ns) >= IDLE_SHOWN;
}

static struct list
list_of(const struct figures *f, enum which which)
{
	const struct settings *set = f->set;
	bool has_ops = f->has_op_table || set->is_host;
	struct list l = { .order = set->order, .is_shown = true };

	switch (which) {
	case CAUSES:
		l.title = "idle by cause";
		l.of = &f->causes;
		l.counted = "pieces";
		l.last = "most in";
		l.most = TOP_CAUSES;
		l.is_shown = is_idle(f);
		break;
	case GROUPED:
		l.title =
		    text("GPU time by %s", set->by != NULL ? set->by : "");
		l.of = &f->grouped;
		l.counted = "count";
		l.most = TOP_OPS_SHOWN;
		l.is_shown = set->by != NULL;
		break;
	case TOPS:
		l.title = set->is_host ? "top ops on the host"
		    : f->has_op_table  ? "top ops"
				       : "top kernels";
		l.of = &f->ops;
		l.counted = "count";
		l.last = has_ops ? "category" : NULL;
		l.most = TOP_OPS_SHOWN;
		break;
	default:
		l.title = "lost to the roofline";
		l.of = &f->losses;
		l.is_loss = true;
		l.roof = f->roof;
		l.last = "bound";
		l.most = TOP_LOSSES;
		l.order = ORDER_TIME;
		break;
	}
	l.is_shown &= l.of->list.n > 0;
	l.most = names_most(set, l.most);
	return l;
}

/* "lost to the roofline (H100 peak)" */
static const char *
title_of(const struct list *l, struct str other_roof, const char *side)
{
	bool has_two = other_roof.len > 0 && !str_eq(l->roof, other_roof);

	if (!l->is_loss)
		return text("%s%s", l->title, side);
	return text("%s (%.*s%s%.*s)%s", l->title, (int)l->roof.len, l->roof.p,
	    has_two ? " | " : "", has_two ? (int)other_roof.len : 0,
	    has_two ? other_roof.p : "", side);
}

/* Share of the sum; for a loss, what was reached of the roof. */
static void
put_rate(
    struct screen *s, const struct list *l, const struct tally *t, int64_t sum)
{
	if (l->is_loss)
		put_percent(s, t->of_ns - t->ns, t->of_ns);
	else
		put_percent(s, t->ns, sum);
}

/* ---- of one side ---- */

static void
put_top(struct screen *s, const struct list *l)
{
	bool is_loss = l->is_loss;
	bool is_wide = l->last != NULL && s->width >= WIDE;
	const struct tally *best[NAMES_MAX];
	size_t n = tallies_first(l->of, best, l->most, l->order);
	size_t room;
	struct names_shown names = { 0 };
	int64_t sum = tallies_sum(l->of);
	const char *heads = is_loss
	    ? text("%13s  of roof  bound", time_head(s->f, "time lost"))
	    : text("%13s    share%9s  %s", time_head(s->f, "time"), l->counted,
		  is_wide ? l->last : "");

	while (is_loss && n > 0 && best[n - 1]->ns <= 0)
		n--;
	if (n == 0 || !l->is_shown)
		return;
	for (; names.n < n; names.n++)
		names.name[names.n] = best[names.n]->name;
	room = begin_list(s, &names,
	    is_loss       ? 36
		: is_wide ? 53
			  : 33,
	    title_of(l, STR(""), screen_of_side(s->f)), heads);
	for (size_t i = 0; i < n; i++) {
		put_figures(s, names.shown[i], room, best[i]->ns, 13);
		put_rate(s, l, best[i], sum);
		if (!is_loss)
			buf_printf(&s->b, "%9" PRId64, best[i]->count);
		buf_puts(&s->b, "  ");
		if (is_loss)
			buf_put(&s->b, best[i]->what.p, best[i]->what.len);
		else if (is_wide)
			screen_name(s, best[i]->what, 18);
		screen_line(s);
	}
}

/* ---- of both sides ---- */

/* Time and rate of a row; blank on a side that lacks it. */
static void
put_half(struct screen *s, const struct list *l, const struct tally *t,
    int64_t sum, bool has_rates)
{
	struct buf cell = { 0 };

	if (t != NULL)
		put_time(&cell, t->ns);
	screen_right(s, &cell, 12);
	if (has_rates && t != NULL)
		put_rate(s, l, t, sum);
	else if (has_rates)
		screen_right(s, &cell, 9);
	buf_free(&cell);
}

/* What both are, or each: "hipFree | cudaFree". */
static void
add_what(const struct pair *pair, struct buf *b)
{
	const struct tally *first = pair->of[pair->of[0] == NULL];
	const struct tally *other = pair->of[1];

	table_fold_name(first->what, WHAT, b);
	if (other == NULL || str_eq(other->what, first->what))
		return;
	buf_puts(b, " | ");
	table_fold_name(other->what, WHAT, b);
}

static size_t
widest_what(const struct pair *pairs, size_t n)
{
	struct buf b = { 0 };
	size_t widest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t w;

		b.len = 0;
		add_what(&pairs[i], &b);
		w = text_width(buf_str(&b));
		widest = w > widest ? w : widest;
	}
	buf_free(&b);
	return widest;
}

/* The rows of both lists by name, if most are in both. */
static size_t
pairs_of(const struct list *a, const struct list *b, struct pair *pairs)
{
	size_t n, matched = 0;

	if (strcmp(a->title, b->title) != 0)
		return 0;
	n = tallies_pairs(a->of, b->of, pairs, a->most, a->order);
	for (size_t i = 0; i < n; i++)
		matched += pairs[i].of[0] != NULL && pairs[i].of[1] != NULL;
	return 2 * matched >= n ? n : 0;
}

static void
put_pairs(struct screen *s, const struct list *a, const struct list *b,
    const struct pair *pairs, size_t n)
{
	const struct list *const lists[] = { a, b };
	const int64_t sums[] = { tallies_sum(a->of), tallies_sum(b->of) };
	bool has_rates = s->width >= 44 + ROOM_MIN;
	size_t last = a->last != NULL ? 2 + widest_what(pairs, n) : 0;
	bool is_wide = last > 0 && s->width >= 44 + ROOM_USUAL + last;
	struct names_shown names = { 0 };
	struct buf heads = { 0 };
	const char *sum = time_head(s->f, "");
	size_t room;

	for (; names.n < n; names.n++)
		names.name[names.n] =
		    pairs[names.n].of[pairs[names.n].of[0] == NULL]->name;
	put_heads(s->f,
	    !has_rates       ? ""
		: a->is_loss ? "  of roof"
			     : "    share",
	    &heads);
	if (is_wide)
		buf_printf(&heads, "  %s", a->last);
	buf_putc(&heads, '\0');
	room = begin_list(s, &names,
	    is_wide         ? 44 + last
		: has_rates ? 44
			    : 26,
	    title_of(a, b->roof, text("%s%s", *sum != '\0' ? ", " : "", sum)),
	    heads.p);
	for (size_t i = 0; i < n; i++) {
		buf_puts(&s->b, "  ");
		put_padded(s, names.shown[i], room);
		for (int side = 0; side < 2; side++)
			put_half(s, lists[side], pairs[i].of[side], sums[side],
			    has_rates);
		if (is_wide) {
			buf_puts(&s->b, "  ");
			add_what(&pairs[i], &s->b);
		}
		screen_line(s);
	}
	buf_free(&heads);
}

/* Of both sides beside each other, or one after the other. */
static void
put_both(struct screen *s, enum which which)
{
	struct figures *first = s->f;
	struct list a = list_of(first, which), b = list_of(first->other, which);
	struct pair pairs[NAMES_MAX];
	size_t n = a.is_shown || b.is_shown ? pairs_of(&a, &b, pairs) : 0;

	if (n > 0) {
		put_pairs(s, &a, &b, pairs, n);
		return;
	}
	put_top(s, &a);
	s->f = first->other;
	put_top(s, &b);
	s->f = first;
}

void
screen_lists(struct screen *s)
{
	for (enum which which = 0; which < NLISTS; which++) {
		struct list l = list_of(s->f, which);

		if (s->f->other != NULL)
			put_both(s, which);
		else
			put_top(s, &l);
	}
}

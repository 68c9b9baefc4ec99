/* SPDX-License-Identifier: MIT */
/* The screen's bars: of all, of each rank, GPU or thread. */
#include <stdio.h>
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-report/screen.h"

#define BAR_MAX 72
#define BARS_MAX 16  /* ranks; of more, those that wait least */
#define BAR_SIDES 28 /* after a bar: the rank's time, why it is late */
#define THREADS_MAX 8

/* Parts of a bar, in order; colours as on the page. */
enum bar_part { PART_COMPUTE, PART_COMM, PART_COPY, PART_IDLE, PART_COUNT };
static const struct {
	const char *ascii, *block, *colour;
} parts_of[PART_COUNT] = {
	[PART_COMPUTE] = { "#", "\342\226\210", "\033[34m" },
	[PART_COMM] = { "=", "\342\226\223", "\033[33m" },
	[PART_COPY] = { "+", "\342\226\222", "\033[35m" },
	[PART_IDLE] = { ".", "\342\226\221", "\033[90m" },
};

/* n marks of a part. */
static void
put_marks(struct screen *s, enum bar_part part, size_t n)
{
	if (n == 0)
		return;
	if (s->has_colour)
		buf_puts(&s->b, parts_of[part].colour);
	while (n-- > 0)
		buf_puts(&s->b,
		    s->has_blocks ? parts_of[part].block
				  : parts_of[part].ascii);
	if (s->has_colour)
		buf_puts(&s->b, "\033[0m");
}

static void
put_bar(struct screen *s, const struct rank *r, size_t chars)
{
	int64_t parts[] = { r->compute_ns, r->comm_ns, r->copy_ns };
	int64_t used = 0;
	size_t n = 0;

	buf_putc(&s->b, '[');
	for (enum bar_part i = PART_COMPUTE; i < PART_IDLE; i++) {
		size_t from = n;

		used += parts[i];
		while (n < chars &&
		    (double)n + 0.5 <=
			(double)chars * share_of(used, r->total_ns) / 100)
			n++;
		put_marks(s, i, n - from);
	}
	put_marks(s, PART_IDLE, chars - n);
	buf_putc(&s->b, ']');
}

static int
compare_waits(const void *pa, const void *pb)
{
	const struct rank *a = *(const struct rank *const *)pa;
	const struct rank *b = *(const struct rank *const *)pb;

	if ((a->verdict.len > 0) != (b->verdict.len > 0))
		return a->verdict.len > 0 ? -1 : 1;
	if (a->comm_ns != b->comm_ns)
		return a->comm_ns < b->comm_ns ? -1 : 1;
	return a < b ? -1 : 1;
}

static int
compare_places(const void *pa, const void *pb)
{
	const struct rank *a = *(const struct rank *const *)pa;
	const struct rank *b = *(const struct rank *const *)pb;

	return a < b ? -1 : 1;
}

static void
put_rank(struct screen *s, const struct rank *r, int64_t most_ns)
{
	size_t room = s->width > BAR_SIDES + 30 ? s->width - BAR_SIDES - 8 : 22;
	size_t chars;
	struct buf cell = { 0 };

	room = room > BAR_MAX ? BAR_MAX : room;
	chars =
	    (size_t)((double)room * share_of(r->total_ns, most_ns) / 100 + 0.5);
	buf_put(&cell, r->label.p, r->label.len);
	screen_right(s, &cell, 4);
	buf_putc(&s->b, ' ');
	put_bar(s, r, chars);
	for (; chars < room; chars++)
		buf_putc(&s->b, ' ');
	put_time(&cell, r->total_ns);
	screen_right(s, &cell, 11);
	if (r->verdict.len > 0)
		buf_printf(
		    &s->b, " late: %.*s", (int)r->verdict.len, r->verdict.p);
	screen_line(s);
	buf_free(&cell);
}

/* Bars are as long as the ranks' times. */
static void
put_ranks(struct screen *s, const rank_vec *ranks)
{
	VEC(const struct rank *) list = { 0 };
	int64_t most_ns = 0;

	for (size_t i = 0; i < ranks->n; i++) {
		vec_push(&list, &ranks->v[i]);
		if (ranks->v[i].total_ns > most_ns)
			most_ns = ranks->v[i].total_ns;
	}
	if (list.n > BARS_MAX) {
		qsort(list.v, list.n, sizeof *list.v, compare_waits);
		list.n = BARS_MAX;
		qsort(list.v, list.n, sizeof *list.v, compare_places);
	}
	for (size_t i = 0; i < list.n; i++)
		put_rank(s, list.v[i], most_ns);
	if (ranks->n > list.n) {
		buf_printf(&s->b, "     ... %zu more, which wait longer",
		    ranks->n - list.n);
		screen_line(s);
	}
	vec_free(&list);
}

/* at: columns used on the line. */
static void
put_key(struct screen *s, size_t *at, enum bar_part part, const char *word,
    int64_t ns, bool always)
{
	double share = share_of(ns, s->f->window.total_ns);
	char text[64];
	size_t n;

	if (!always && share < 0.05)
		return;
	n = (size_t)snprintf(text, sizeof text, " %s %.1f %%", word, share) + 1;
	if (*at > 0 && *at + 2 + n > s->width) {
		screen_line(s);
		*at = 0;
	}
	if (*at > 0) {
		buf_puts(&s->b, "  ");
		*at += 2;
	}
	put_marks(s, part, 1);
	buf_puts(&s->b, text);
	*at += n;
}

/* The busiest host threads: ops and other work. */
static void
put_threads(struct screen *s)
{
	const struct figures *f = s->f;
	size_t room = s->width > 3 * ROOM_MIN ? s->width / 3 : ROOM_MIN;
	struct buf cell = { 0 };

	out_puts(s->out, "\n");
	put_side(f, &cell);
	if (cell.len > 0) {
		buf_puts(&cell, "host threads, busiest first:");
		screen_wrapped(s, "", buf_str(&cell));
		cell.len = 0;
	}
	for (size_t i = 0; i < f->threads.n && i < THREADS_MAX; i++) {
		const struct thread *t = &f->threads.v[i];
		const struct rank r = { .total_ns = t->total_ns,
			.compute_ns = t->op_ns,
			.comm_ns = t->busy_ns - t->op_ns };

		screen_name(s, t->label, room);
		buf_putc(&s->b, ' ');
		put_bar(s, &r, s->width - room - 16);
		put_time(&cell, t->busy_ns);
		screen_right(s, &cell, 13);
		screen_line(s);
	}
	if (f->threads.n > THREADS_MAX) {
		buf_printf(
		    &s->b, "... %zu more threads", f->threads.n - THREADS_MAX);
		screen_line(s);
	}
	put_marks(s, PART_COMPUTE, 1);
	buf_puts(&s->b, " ops  ");
	put_marks(s, PART_COMM, 1);
	buf_puts(&s->b, " other host work  ");
	put_marks(s, PART_IDLE, 1);
	buf_puts(&s->b, " idle");
	screen_line(s);
	buf_free(&cell);
}

/* The line above the bar. */
static void
put_head(struct screen *s)
{
	const struct figures *f = s->f;
	struct buf b = { 0 };

	put_side(f, &b);
	if (f->ranks.n > 1)
		buf_printf(
		    &b, "%s of each %s", f->gpu, f->by_src ? "trace" : "rank");
	else if (f->gpus.n > 1)
		buf_printf(&b, "%zu %ss together", f->gpus.n, f->gpu);
	else
		buf_puts(&b, f->gpu);
	buf_printf(&b, ", %.*s:", (int)f->window_words.len, f->window_words.p);
	if (f->ranks.n <= 1) {
		buf_putc(&b, ' ');
		put_time(&b, f->window.total_ns);
		if (f->gpus.n > 1)
			buf_puts(&b, ", busy if any is");
	}
	screen_wrapped(s, "", buf_str(&b));
	buf_free(&b);
}

/* The bars of two sides have one scale; those of ranks have their own. */
static int64_t
longest(const struct figures *f, const struct figures *other)
{
	int64_t own = f->window.total_ns;

	return other == NULL || other->ranks.n > 1 ||
		other->window.total_ns < own
	    ? own
	    : other->window.total_ns;
}

static void
put_only_bar(struct screen *s)
{
	const struct figures *f = s->f;
	size_t chars = s->width > BAR_MAX + 2 ? BAR_MAX : s->width - 2;
	double part = share_of(f->window.total_ns, longest(f, s->beside)) / 100;

	put_head(s);
	chars = (size_t)((double)chars * part + 0.5);
	put_bar(s, &f->window, chars > 0 ? chars : 1);
	screen_line(s);
}

void
screen_timeline(struct screen *s)
{
	const struct rank *all = &s->f->window;
	size_t at = 0;

	if (s->f->set->is_host) {
		put_threads(s);
		return;
	}
	out_puts(s->out, "\n");
	if (s->f->ranks.n > 1) {
		put_head(s);
		put_ranks(s, &s->f->bars);
	} else {
		put_only_bar(s);
	}
	put_key(s, &at, PART_COMPUTE,
	    window_is_of_kernels(s->f) ? "kernels" : "computation",
	    all->compute_ns, true);
	put_key(
	    s, &at, PART_COMM, "exposed communication", all->comm_ns, false);
	put_key(s, &at, PART_COPY, "copies", all->copy_ns, false);
	put_key(s, &at, PART_IDLE, word_of_idle(s->f), all->idle_ns, true);
	screen_line(s);
	if (s->f->gpus.n > 1) {
		buf_printf(&s->b,
		    "%zu %ss, each from its first event to its last:",
		    s->f->gpus.n, s->f->gpu);
		screen_line(s);
		put_ranks(s, &s->f->gpus);
	}
}

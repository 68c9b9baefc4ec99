/* SPDX-License-Identifier: MIT */
/* The timeline of the screen: a bar of all, of each rank, GPU or thread. */
#include <stdio.h>
#include <stdlib.h>

#include "table/table.h"

#include "cmd/tl-report/screen.h"

#define BAR_MAX 72
#define BARS_MAX 16  /* ranks; of more, those that wait least */
#define BAR_SIDES 28 /* the time of a rank behind its bar, why it is late */
#define THREADS_MAX 8

static void
put_bar(struct screen *s, const struct rank *r, size_t chars)
{
	static const char marks[] = { '#', '=', '+' };
	int64_t parts[] = { r->compute_ns, r->comm_ns, r->copy_ns };
	int64_t used = 0;
	size_t n = 0;

	buf_putc(&s->b, '[');
	for (size_t i = 0; i < sizeof marks; i++) {
		used += parts[i];
		while (n < chars &&
		    (double)n + 0.5 <=
			(double)chars * share_of(used, r->total_ns) / 100) {
			buf_putc(&s->b, marks[i]);
			n++;
		}
	}
	for (; n < chars; n++)
		buf_putc(&s->b, '.');
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
	chars = (size_t)((double)room * share_of(r->total_ns, most_ns) / 100);
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

/* The time of each is its bar's length. */
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

static void
put_key(struct screen *s, char mark, const char *word, int64_t ns, bool always)
{
	double share = share_of(ns, s->f->all.total_ns);
	char text[64];

	if (!always && share < 0.05)
		return;
	snprintf(text, sizeof text, "%c %s %.1f %%", mark, word, share);
	if (s->b.len > 0 && s->b.len + 2 + strlen(text) > s->width)
		screen_line(s);
	if (s->b.len > 0)
		buf_puts(&s->b, "  ");
	buf_puts(&s->b, text);
}

/* Of the host: those that worked most; ops, and what is none. */
static void
put_threads(struct screen *s)
{
	const struct figures *f = s->f;
	size_t room = s->width > 3 * ROOM_MIN ? s->width / 3 : ROOM_MIN;
	struct buf cell = { 0 };

	out_puts(s->out, "\n");
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
	buf_puts(&s->b, "# ops  = other work of the host  . idle");
	screen_line(s);
	buf_free(&cell);
}

void
screen_timeline(struct screen *s)
{
	const struct rank *all = &s->f->all;

	if (s->f->set->is_host) {
		put_threads(s);
		return;
	}
	out_puts(s->out, "\n");
	if (s->f->ranks.n > 1) {
		put_ranks(s, &s->f->ranks);
	} else {
		size_t chars = s->width > BAR_MAX + 2 ? BAR_MAX : s->width - 2;

		if (!s->f->set->is_rocprof) {
			bool are_several = s->f->gpus.n > 1;

			if (are_several)
				buf_printf(&s->b, "%zu %ss together",
				    s->f->gpus.n, s->f->gpu);
			else
				buf_puts(&s->b, s->f->gpu);
			buf_puts(&s->b, ", first to last event: ");
			put_time(&s->b, all->total_ns);
			if (are_several)
				buf_puts(&s->b, ", busy while any works");
			screen_line(s);
		}
		put_bar(s, all, chars);
		screen_line(s);
	}
	put_key(s, '#', s->f->set->is_rocprof ? "kernels" : "computation",
	    all->compute_ns, true);
	put_key(s, '=', "communication", all->comm_ns, false);
	put_key(s, '+', "copies", all->copy_ns, false);
	put_key(s, '.', word_of_idle(s->f), all->idle_ns, true);
	screen_line(s);
	if (s->f->gpus.n > 1) {
		buf_printf(&s->b,
		    "%zu %ss, each from its first event to its last:",
		    s->f->gpus.n, s->f->gpu);
		screen_line(s);
		put_ranks(s, &s->f->gpus);
	}
}

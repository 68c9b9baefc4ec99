/* SPDX-License-Identifier: MIT */
/* The screen. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "table/table.h"

#include "cmd/tl-report/check.h"
#include "cmd/tl-report/screen.h"

#define WIDTH_FILE 120
#define WIDTH_MIN 30
#define WIDTH_MAX 99999

void
screen_line(struct screen *s)
{
	while (s->b.len > 0 && s->b.p[s->b.len - 1] == ' ')
		s->b.len--;
	buf_putc(&s->b, '\n');
	out_str(s->out, buf_str(&s->b));
	s->b.len = 0;
}

/* Blanks up to a column; from: where the cell begins in the buffer. */
static void
pad(struct buf *b, size_t from, size_t width)
{
	size_t n = text_width((struct str){ b->p + from, b->len - from });

	for (; n < width; n++)
		buf_putc(b, ' ');
}

/* Up to the next blank; a figure and its percent sign are one word. */
static size_t
word_length(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && (*at != ' ' || (at + 1 < end && at[1] == '%')))
		at++;
	return (size_t)(at - p);
}

void
screen_wrapped(struct screen *s, const char *mark, struct str text)
{
	size_t indent = strlen(mark), at = indent;
	const char *p = text.p, *end = text.p + text.len;

	buf_puts(&s->b, mark);
	while (p < end) {
		size_t n = word_length(p, end);

		if (at > indent && at + 1 + n > s->width) {
			screen_line(s);
			for (at = 0; at < indent; at++)
				buf_putc(&s->b, ' ');
		}
		if (at > indent) {
			buf_putc(&s->b, ' ');
			at++;
		}
		/* a path may be longer than a line */
		text_elide((struct str){ p, n }, s->width - indent, &s->b);
		at += n;
		p += n + 1;
	}
	screen_line(s);
}

/* A name in at most width columns. */
void
screen_name(struct screen *s, struct str name, size_t width)
{
	size_t from = s->b.len;

	table_fold_name(name, width, &s->b);
	pad(&s->b, from, width);
}

/* Right-aligned in width columns. */
void
screen_right(struct screen *s, struct buf *cell, size_t width)
{
	for (size_t n = cell->len; n < width; n++)
		buf_putc(&s->b, ' ');
	buf_put(&s->b, cell->p, cell->len);
	cell->len = 0;
}

/* ---- groups and findings ---- */

static void
put_groups(struct screen *s)
{
	const struct figures *f = s->f;

	if (f->groups.n < 2 || !f->any_late)
		return;
	out_puts(s->out, "\n");
	screen_wrapped(
	    s, "", str_of(text("process groups%s", screen_of_side(f))));
	for (size_t i = 0; i < f->groups.n && i < TOP_GROUPS; i++) {
		struct buf b = { 0 };

		table_fold_name(f->groups.v[i].name, 60, &b);
		buf_puts(&b, ": ");
		buf_put(&b, f->groups.v[i].says.p, f->groups.v[i].says.len);
		screen_wrapped(s, "  - ", buf_str(&b));
		buf_free(&b);
	}
	if (f->groups.n > TOP_GROUPS)
		out_printf(
		    s->out, "  ... %zu more\n", f->groups.n - TOP_GROUPS);
}

/* Findings: time, reason, action. */
static void
put_gains(struct screen *s)
{
	const struct figures *f = s->f;
	struct buf b = { 0 };

	if (f->is_judged && f->ngains > 0) {
		out_puts(s->out, "\n");
		screen_wrapped(
		    s, "", str_of(text("recoverable%s", screen_of_side(f))));
	}
	for (size_t i = 0; f->is_judged && i < f->ngains; i++) {
		advice_put(f, i, &b);
		screen_wrapped(s, text("  %zu. ", i + 1), buf_str(&b));
		b.len = 0;
	}
	buf_free(&b);
}

/* ---- all of it ---- */

/* --width, the terminal's, or COLUMNS. */
static size_t
width_of(const struct settings *set)
{
	const char *words[] = { set->width, getenv("COLUMNS") };
	struct winsize ws;
	int64_t n;

	for (size_t i = 0; i < 2; i++) {
		if (i == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 &&
		    ws.ws_col > 0)
			return ws.ws_col;
		if (words[i] != NULL && num_i64(str_of(words[i]), &n) &&
		    n >= 1 && n <= WIDTH_MAX)
			return (size_t)n;
	}
	return WIDTH_USUAL;
}

static void
put_title(struct screen *s)
{
	if (s->f->set->vs.v.n > 0) {
		screen_wrapped(s, "", s->f->title);
	} else {
		screen_name(s, s->f->title, s->width);
		screen_line(s);
	}
	out_puts(s->out, "\n");
}

/* Why a list is shorter than the trace. */
static void
put_unlisted(struct buf *b, const struct check *check, uint64_t events)
{
	uint64_t n = events > check->events ? events - check->events : 0;

	if (n == 0 || !check_is_passed(check))
		return;
	if (n == 1) {
		buf_puts(b,
		    "the other is in a call with another number of kernels, "
		    "and only its time counts; ");
		return;
	}
	buf_puts(b, "the other ");
	put_count(b, (int64_t)n);
	buf_puts(b,
	    " are in calls with another number of kernels, and only their time "
	    "counts; ");
}

/* --check */
static void
put_checks(struct screen *s)
{
	const struct checks *all = s->f->set->checks;
	struct buf b = { 0 };

	if (all == NULL)
		return;
	out_puts(s->out, "\nchecks\n");
	if (all->list.n == 0)
		screen_wrapped(s, "  - ", STR("none: there are no ops"));
	for (size_t i = 0; i < all->list.n; i++) {
		const struct check *check = &all->list.v[i];

		b.len = 0;
		buf_printf(&b, "%s %s: ", check->table,
		    check_is_passed(check) ? "passed" : "failed");
		put_count(&b, (int64_t)check->events);
		buf_puts(&b, " of ");
		put_count(&b, (int64_t)all->events);
		buf_puts(&b, " GPU events with a launch, collectives aside; ");
		put_unlisted(&b, check, all->events);
		put_time(&b, check->ns);
		buf_puts(&b, " in all, GPU busy for ");
		put_time(&b, all->busy_ns);
		screen_wrapped(s, "  - ", buf_str(&b));
	}
	buf_free(&b);
}

/* A sentence, if any; a comparison says which side it is about. */
static void
put_said(struct screen *s, struct str says)
{
	struct buf b = { 0 };

	if (says.len == 0)
		return;
	put_side(s->f, &b);
	buf_put(&b, says.p, says.len);
	screen_wrapped(s, "", buf_str(&b));
	buf_free(&b);
}

/* What limits a side, or the only one. */
static void
put_verdict(struct screen *s)
{
	const struct figures *f = s->f;

	if (f->set->side > 0)
		out_puts(s->out, "\n");
	if (f->late.len > 0) {
		put_said(s, f->late);
		out_puts(s->out, "\n");
	}
	screen_wrapped(s, "", f->verdict); /* it names its side */
	if (f->phases.n > 0)
		out_puts(s->out, "\n");
	for (size_t i = 0; i < f->phases.n; i++)
		put_said(s, f->phases.v[i].says);
	put_said(s, f->imbalance.says);
	put_said(s, f->mfu.says);
}

static void
put_health(struct screen *s)
{
	if (s->f->health.len == 0)
		return;
	put_said(s, s->f->health);
	out_puts(s->out, "\n");
}

/* What the report is about. */
static void
put_notes(struct screen *s)
{
	for (size_t i = 0; i < s->f->notes.n; i++)
		put_said(s, s->f->notes.v[i]);
	if (s->f->notes.n > 0)
		out_puts(s->out, "\n");
}

/* Warnings of both sides share a heading. */
static void
put_warnings(struct screen *s)
{
	const struct figures *f = s->f;

	if (f->warnings.n > 0 && !s->has_warned)
		out_puts(s->out,
		    s->has_colour ? "\n\033[33mwarnings\033[0m\n"
				  : "\nwarnings\n");
	s->has_warned |= f->warnings.n > 0;
	for (size_t i = 0; i < f->warnings.n; i++)
		screen_wrapped(s, "  - ", f->warnings.v[i]);
}

/* For the only trace, or for both sides. */
static void
each_side(struct screen *s, void (*put)(struct screen *))
{
	struct figures *first = s->f;

	s->beside = first->other;
	put(s);
	if (first->other != NULL) {
		s->f = first->other;
		s->beside = first;
		put(s);
		s->f = first;
	}
}

/* A workbook's first sheet names the side that the others are about. */
static void
put_whose(struct screen *s)
{
	struct str name = side_of(s->f);
	struct buf b = { 0 };

	if (name.len == 0)
		return;
	out_puts(s->out, "\n");
	buf_puts(&b, "Sheets are of ");
	table_fold_name(name, 0, &b);
	buf_puts(&b, ", except summary, diff_*, lca_* and *_vs.");
	screen_wrapped(s, "", buf_str(&b));
	buf_free(&b);
}

/* What a comparison found comes before all else. */
void
screen_print(struct figures *f, const char *path)
{
	struct screen s = { .f = f,
		.out = out_open(path),
		.width = path != NULL ? WIDTH_FILE : width_of(f->set) };

	s.has_colour = path == NULL && out_wants_colour(s.out);
	s.has_blocks = path == NULL && out_has_blocks(s.out);
	if (s.width < WIDTH_MIN)
		s.width = WIDTH_MIN;
	put_title(&s);
	each_side(&s, put_health);
	if (f->set->steady != NULL)
		screen_wrapped(&s, "", str_of(f->set->steady));
	each_side(&s, put_notes);
	for (size_t i = 0; i < f->sentences.n; i++)
		screen_wrapped(&s, "", f->sentences.v[i]);
	screen_changes(&s);
	if (f->sentences.n > 0)
		out_puts(s.out, "\n");
	each_side(&s, put_verdict);
	each_side(&s, screen_timeline);
	each_side(&s, put_gains);
	each_side(&s, put_groups);
	screen_lists(&s);
	each_side(&s, put_warnings);
	put_checks(&s);
	if (path != NULL)
		put_whose(&s);
	out_finish(s.out);
	buf_free(&s.b);
}

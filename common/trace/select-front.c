/* SPDX-License-Identifier: MIT */
/* The shared selection by tl-filter in front of an input. */
#include "trace/select-front.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/select.h"

static const struct opt options[] = { OPT_SELECT, OPT_END };

static const struct opt *
option_of(int ch)
{
	const struct opt *o = options;

	while (o->ch != ch)
		o++;
	return o;
}

/* "--name=ARGUMENT", for the whole run. */
static char *
word_of(const struct opt *o, const char *arg)
{
	struct buf b = { 0 };

	buf_printf(&b, "--%s", o->name);
	if (arg != NULL) {
		buf_putc(&b, '=');
		buf_puts(&b, arg);
	}
	buf_putc(&b, '\0');
	return b.p;
}

/* Before any input is opened, possibly by another process. */
static void
share_met(struct select_front *f)
{
	if (f->has_met || !select_asks_where(f->asked))
		return;
	f->met = memfd_create("tl-filter", 0);
	if (f->met < 0)
		die_errno("memfd_create");
	f->has_met = true;
}

bool
select_front_opt(struct select_front *f, const struct optparse *op, int ch)
{
	if (f->asked == NULL)
		f->asked = xcalloc(1, sizeof *f->asked);
	if (!select_opt(f->asked, op, ch))
		return false;
	share_met(f);
	/* insert before the final NULL */
	if (f->words.n > 0)
		f->words.n--;
	vec_push(&f->words, word_of(option_of(ch), op->arg));
	vec_push(&f->words, NULL);
	return true;
}

struct stream_in *
select_front_open(const struct select_front *f, const char *path,
    struct dict *dict, enum want want, uint32_t first_source)
{
	char first[sizeof "--first-source=" + 20], met[sizeof "--met=" + 20];
	VEC(char *) words = { 0 };
	struct stream_in *in;

	if (!select_front_is_on(f))
		return stream_open(path, dict, want);
	if (f->is_several) {
		snprintf(first, sizeof first, "--first-source=%" PRIu32,
		    first_source);
		vec_push(&words, first);
	}
	if (f->is_several && f->has_met) {
		snprintf(met, sizeof met, "--met=%d", f->met);
		vec_push(&words, met);
	}
	for (size_t i = 0; i < f->words.n; i++)
		vec_push(&words, f->words.v[i]); /* with the NULL */
	in = stream_open_through(path, dict, want, "tl-filter", words.v);
	vec_free(&words);
	return in;
}

void
select_front_refuse_slowest(const struct select_front *f)
{
	if (f->asked != NULL)
		select_refuse_slowest(f->asked);
}

void
select_front_end(struct select_front *f)
{
	if (f->has_met && f->is_several) {
		select_take_met(f->asked, f->met);
		select_end(f->asked);
	}
}

/* SPDX-License-Identifier: MIT */
/* The shared selection by tl-filter in front of an input. */
#include "trace/select-front.h"
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

bool
select_front_opt(struct select_front *f, const struct optparse *op, int ch)
{
	struct select judge = { 0 };
	bool is_shared = select_opt(&judge, op, ch);

	select_free(&judge);
	if (!is_shared)
		return false;
	/* the last place is the NULL behind them */
	if (f->words.n > 0)
		f->words.n--;
	vec_push(&f->words, word_of(option_of(ch), op->arg));
	vec_push(&f->words, NULL);
	return true;
}

struct stream_in *
select_front_open(const struct select_front *f, const char *path,
    struct dict *dict, enum want want)
{
	if (!select_front_is_on(f))
		return stream_open(path, dict, want);
	return stream_open_through(path, dict, want, "tl-filter", f->words.v);
}

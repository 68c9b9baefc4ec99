/* SPDX-License-Identifier: MIT */
/*
 * A line per stack: frames joined by semicolons, a blank, the time. Stacks are
 * sorted by their bytes without joining them: whole texts may be a hundred
 * times as long as what is kept.
 */
#include <stdlib.h>

#include "cmd/tl-fold/fold.h"
#include "trace/laws.h"
#include "trace/stat.h"

struct writer {
	struct output *o;
	struct merged *t;
	bool with_sources; /* sources are frames */
	struct dict *st;
	struct out *out;
	VEC(uint32_t) order;
	VEC(uint32_t) path;
};

/* ---- order ---- */

/* qsort() passes no context */
static const struct writer *sorting;

static const struct merged_node *
stack_at(const struct writer *w, uint32_t number)
{
	return &w->t->nodes.v[number];
}

/* Compares frames below the same one; more: other frames follow. */
static int
cmp_frames(
    const struct writer *w, uint32_t x, bool x_more, uint32_t y, bool y_more)
{
	struct str a = dict_get(w->st, stack_at(w, x)->name);
	struct str b = dict_get(w->st, stack_at(w, y)->name);
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	if (c != 0)
		return c;
	/* one begins with the other: a ';' or the end follows */
	if (a.len < b.len)
		return x_more && (unsigned char)b.p[n] < ';' ? 1 : -1;
	if (b.len < a.len)
		return y_more && (unsigned char)a.p[n] < ';' ? -1 : 1;
	return 0;
}

static int
by_bytes(const void *vx, const void *vy)
{
	const struct writer *w = sorting;
	uint32_t x = *(const uint32_t *)vx, y = *(const uint32_t *)vy;
	bool x_more = false, y_more = false;

	if (x == y)
		return 0;
	while (stack_at(w, x)->level > stack_at(w, y)->level) {
		x = stack_at(w, x)->up;
		x_more = true;
	}
	while (stack_at(w, y)->level > stack_at(w, x)->level) {
		y = stack_at(w, y)->up;
		y_more = true;
	}
	if (x == y)
		return x_more ? 1 : -1; /* one is a prefix of the other */
	while (stack_at(w, x)->up != stack_at(w, y)->up) {
		x = stack_at(w, x)->up;
		y = stack_at(w, y)->up;
		x_more = y_more = true;
	}
	return cmp_frames(w, x, x_more, y, y_more);
}

/* ---- sources ---- */

/* Sources are frames only if there are several. */
static void
name_sources(struct writer *w, const struct sources *sources)
{
	struct buf b = { 0 };

	for (uint32_t i = 1; i < w->t->nodes.n; i++) {
		struct merged_node *n = &w->t->nodes.v[i];

		if (n->level > 1)
			continue;
		b.len = 0;
		w->with_sources = sources_name(sources, n->name, &b);
		n->name = intern_put(w->st->text, buf_str(&b));
	}
	buf_free(&b);
}

/* ---- lines ---- */

static void
put_line(struct writer *w, uint32_t number)
{
	const int64_t *ns = stack_at(w, number)->ns;
	char text[24];

	w->path.n = 0;
	for (; number > 0; number = stack_at(w, number)->up)
		vec_push(&w->path, number);
	for (size_t i = w->path.n; i-- > 0;) {
		const struct merged_node *n = stack_at(w, w->path.v[i]);

		if (n->level == 1 && !w->with_sources)
			continue;
		out_str(w->out, dict_get(w->st, n->name));
		out_puts(w->out, i > 0 ? ";" : " ");
	}
	for (int side = 0; side < w->o->nsides; side++) {
		if (side > 0)
			out_puts(w->out, " ");
		out_write(w->out, text, num_put_i64(text, ns[side]));
		stat_add(&w->o->sum_ns[side], ns[side]);
	}
	out_puts(w->out, "\n");
	w->o->nlines++;
}

static void
keep_work(const struct writer *w, const struct sources *sources, int side)
{
	int64_t ns = 0;

	for (size_t i = 0; i < w->order.n; i++)
		ns = num_add_max(ns, stack_at(w, w->order.v[i])->ns[side]);
	law_same("of stacks", (struct law_part){ "GPU time in stacks", ns },
	    (struct law_part){
		"that of all GPU events", sources_work(sources, side) });
}

void
output_write(struct output *o, struct merged *t, struct dict *st,
    const struct sources *sources)
{
	struct writer w = { .o = o, .t = t, .st = st };
	bool is_asked = false;

	for (uint32_t i = merged_next(t, 0); i != 0; i = merged_next(t, i)) {
		const struct merged_node *n = &t->nodes.v[i];

		if (n->level == 1)
			is_asked = sources_are_asked(sources, n->name);
		if (is_asked && (n->ns[0] > 0 || n->ns[1] > 0))
			vec_push(&w.order, i);
	}
	for (int side = 0; side < o->nsides && o->is_gpu; side++)
		keep_work(&w, sources, side);
	name_sources(&w, sources);
	sorting = &w;
	if (w.order.n > 0)
		qsort(w.order.v, w.order.n, sizeof *w.order.v, by_bytes);
	w.out = out_open(o->path);
	for (size_t i = 0; i < w.order.n; i++)
		put_line(&w, w.order.v[i]);
	out_finish(w.out);
	vec_free(&w.order);
	vec_free(&w.path);
}

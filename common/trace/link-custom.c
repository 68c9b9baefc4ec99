/* SPDX-License-Identifier: MIT */
/*
 * Backward ops of functions that C++ extensions define: CppNode<X>. Autograd
 * numbers the function, but the op that calls it may lack the number. The
 * latest op with the number is then one of PyTorch's own (aten::) that only ran
 * before: those never make such a node.
 *
 * The forward op is an op without a number. It begins after the numbered one,
 * and before an op of its thread has a higher number. Of several the one wins
 * whose name shares most words with X, at least two:
 * SplitLookupFunction_Dense_Op and dense_embedding_codegen_lookup_function
 * share three.
 */
#include <ctype.h>
#include <stdlib.h>

#include "trace/store-inside.h"

#define WORDS_SHARED 2

/* ---- words of a name: split at signs and before upper case ---- */

static bool
next_word(struct str *rest, struct str *word)
{
	const char *p = rest->p, *end = p + rest->len, *start;

	while (p < end && !isalnum((unsigned char)*p))
		p++;
	start = p;
	while (p < end && isalnum((unsigned char)*p) &&
	    (p == start || !isupper((unsigned char)*p) ||
		isupper((unsigned char)p[-1])))
		p++;
	*word = (struct str){ start, (size_t)(p - start) };
	*rest = (struct str){ p, (size_t)(end - p) };
	return p > start;
}

static bool
has_word(struct str text, struct str word)
{
	struct str w;

	while (next_word(&text, &w))
		if (w.len == word.len && str_find(w, word, true) == 0)
			return true;
	return false;
}

/* More is better: words shared, then fewer others. 0: too few. */
static unsigned
likeness(struct str node, struct str op)
{
	struct str rest = op, word;
	unsigned shared = 0, others = 0;

	while (next_word(&rest, &word)) {
		if (has_word(node, word))
			shared++;
		else
			others++;
	}
	if (shared < WORDS_SHARED)
		return 0;
	return shared << 16 | (others < UINT16_MAX ? UINT16_MAX - others : 0);
}

/* ---- windows ---- */

static int
by_place(const void *x, const void *y, void *arg)
{
	const struct store *sorted = arg;
	const struct custom_link *a = x, *b = y;
	const struct held *p = &sorted->items.v[a->f],
			  *q = &sorted->items.v[b->f];
	uint32_t s = item_thread(sorted, p), t = item_thread(sorted, q);

	if (s != t)
		return s < t ? -1 : 1;
	if (p->ts_ns != q->ts_ns)
		return p->ts_ns < q->ts_ns ? -1 : 1;
	return (a->w > b->w) - (a->w < b->w);
}

static bool
is_before(
    const struct store *s, const struct held *f, uint32_t thread, int64_t ts_ns)
{
	uint32_t t = item_thread(s, f);

	return t < thread || (t == thread && f->ts_ns < ts_ns);
}

/* The latest window of the item's thread that begins before it, or NULL. */
static struct custom_link *
window_of(const struct store *s, struct custom_link *v, size_t n, uint32_t i)
{
	const struct held *it = &s->items.v[i];
	uint32_t thread = item_thread(s, it);
	size_t at;

	bisect(
	    at, n, mid, is_before(s, &s->items.v[v[mid].f], thread, it->ts_ns));
	if (at == 0 || item_thread(s, &s->items.v[v[at - 1].f]) != thread)
		return NULL;
	return &v[at - 1];
}

static bool
is_op(const struct store *s, uint32_t i)
{
	const struct held *it = &s->items.v[i];

	return it->kind == KIND_OP && (it->state & IN_TIME) != 0;
}

/* A window ends at an op of its thread with a higher number. */
static void
close_windows(struct store *s, struct custom_link *v, size_t n)
{
	for (uint32_t i = 0; i < s->items.n; i++) {
		unsigned seq =
		    is_op(s, i) ? shape_facts(s, s->items.v[i].shape)->seq : 0;
		struct custom_link *c = seq != 0 ? window_of(s, v, n, i) : NULL;
		struct key k;

		if (c == NULL || s->items.v[i].ts_ns >= c->end_ns)
			continue;
		k = item_key(s, i, seq);
		if (k.type == KEY_INT && k.n > c->number)
			c->end_ns = s->items.v[i].ts_ns;
	}
}

static void
choose(struct store *s, struct custom_link *v, size_t n)
{
	for (uint32_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];
		struct custom_link *c;
		unsigned like;

		if (!is_op(s, i) || shape_facts(s, it->shape)->seq != 0 ||
		    (c = window_of(s, v, n, i)) == NULL ||
		    it->ts_ns >= c->end_ns)
			continue;
		like = likeness(c->node, dict_get(s->st, it->name));
		if (like > c->like ||
		    (like > 0 && like == c->like &&
			item_before(s->items.v, i, c->best))) {
			c->like = like;
			c->best = i;
		}
	}
}

bool
custom_link_needed(
    struct store *s, uint32_t w, uint32_t f, struct custom_link *c)
{
	struct str name = dict_get(s->st, s->items.v[w].name);
	unsigned seq = shape_facts(s, s->items.v[w].shape)->seq;
	ptrdiff_t at = str_find(name, STR("CppNode<"), false);
	struct key number;

	if (at < 0 || s->items.v[f].kind != KIND_OP ||
	    !str_starts(dict_get(s->st, s->items.v[f].name), STR("aten::")))
		return false;
	number = item_key(s, w, seq);
	at += (ptrdiff_t)strlen("CppNode<");
	*c = (struct custom_link){
		.w = w,
		.f = f,
		.number = number.n,
		.node = { name.p + at, name.len - (size_t)at },
		.end_ns = INT64_MAX,
	};
	return number.type == KEY_INT;
}

void
custom_links_find(struct store *s, struct custom_link *v, size_t n)
{
	if (n > 1)
		qsort_r(v, n, sizeof *v, by_place, s);
	close_windows(s, v, n);
	choose(s, v, n);
	for (size_t i = 0; i < n; i++)
		if (v[i].like > 0)
			v[i].f = v[i].best;
}

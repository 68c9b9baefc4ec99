/* SPDX-License-Identifier: MIT */
/* GPU streams and names of pairs. */
#include "cmd/tl-diff/remarks.h"
#include "trace/stat.h"

#include <stdlib.h>

/* ---- streams ---- */

static uint32_t
stream_of(const struct run *r, uint32_t node)
{
	return r->gpus.v[r->nodes.v[node].extra].stream;
}

void
streams_pair(struct stream_pairs *p, const struct run *const run[NSIDES],
    const uint32_t node[NSIDES])
{
	struct stream_pair x = { .n = 0 };
	bool is_new;
	uint64_t *slot;

	for (int s = 0; s < NSIDES; s++)
		x.stream[s] = stream_of(run[s], node[s]);
	slot =
	    map_put(&p->of, (uint64_t)x.stream[0] << 32 | x.stream[1], &is_new);
	if (is_new) {
		*slot = p->list.n;
		vec_push(&p->list, x);
	}
	p->list.v[*slot].n++;
	for (int s = 0; s < NSIDES; s++)
		stat_add(&p->list.v[*slot].ns[s], run[s]->nodes.v[node[s]].dur);
}

static int
by_weight(const void *x, const void *y)
{
	const struct stream_pair *a = x, *b = y;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	for (int s = 0; s < NSIDES; s++)
		if (a->stream[s] != b->stream[s])
			return a->stream[s] < b->stream[s] ? -1 : 1;
	return 0;
}

void
streams_finish(struct stream_pairs *p)
{
	struct map taken[NSIDES] = { { 0 }, { 0 } };

	if (p->list.n > 1)
		qsort(p->list.v, p->list.n, sizeof *p->list.v, by_weight);
	for (size_t i = 0; i < p->list.n; i++) {
		const struct stream_pair *x = &p->list.v[i];

		if (map_get(&taken[0], x->stream[0]) == NULL &&
		    map_get(&taken[1], x->stream[1]) == NULL) {
			for (int s = 0; s < NSIDES; s++)
				(void)map_put(&taken[s], x->stream[s], NULL);
			continue;
		}
		for (int s = 0; s < NSIDES; s++) {
			p->moved.n[s] += x->n;
			stat_add(&p->moved.ns[s], x->ns[s]);
		}
	}
	p->list.n = 0;
	map_free(&p->of);
	map_free(&taken[0]);
	map_free(&taken[1]);
}

void
streams_free(struct stream_pairs *p)
{
	vec_free(&p->list);
	map_free(&p->of);
}

/* ---- names ---- */

static void
add_names(struct name_pairs *p, const uint32_t n[NSIDES])
{
	bool is_new;
	uint64_t *slot = map_put(&p->of, (uint64_t)n[0] << 32 | n[1], &is_new);

	if (is_new) {
		*slot = p->list.n;
		vec_push(&p->list, ((struct name_pair){ { n[0], n[1] }, 0 }));
	}
	p->list.v[*slot].count++;
	p->n++;
}

void
names_add_calls(struct name_pairs *p, const struct diff *d)
{
	for (uint32_t id = 0; id < d->merged.list.n; id++) {
		const struct merged_node *m = &d->merged.list.v[id];
		uint32_t n[NSIDES];
		bool is_call = merged_type(m) == MERGED_BOTH;

		for (int s = 0; s < NSIDES && is_call; s++) {
			const struct node *x = &d->side[s]->nodes.v[m->at[s]];

			n[s] = x->n;
			is_call = n[s] != INTERN_NONE &&
			    !is_gpu_kind(x->kind) && !is_launch_kind(x->kind);
		}
		if (is_call && n[0] != n[1])
			add_names(p, n);
	}
}

/* Whether the first event below a launch of this side is of this kind. */
static bool
has_below(const struct diff *d, uint32_t id, int side, enum kind kind)
{
	const struct merged *t = &d->merged;
	uint32_t at = NONE;

	if (id + 1 < t->list.v[id].behind)
		at = t->list.v[id + 1].at[side];
	return at != NONE && d->side[side]->nodes.v[at].kind == kind;
}

/* The first launch of this kind of work that only this side has below a node.
 */
static uint32_t
launch_below(const struct diff *d, uint32_t id, int side, enum kind kind)
{
	const struct merged *t = &d->merged;

	for (uint32_t k = id + 1; k < t->list.v[id].behind;
	     k = t->list.v[k].behind) {
		const struct merged_node *m = &t->list.v[k];
		const struct node *n;

		if (m->at[side] == NONE || m->at[!side] != NONE)
			continue;
		n = &d->side[side]->nodes.v[m->at[side]];
		if (is_launch_kind(n->kind) &&
		    (n->flags & NODE_GPU_PATH) != 0 &&
		    has_below(d, k, side, kind))
			return n->n;
	}
	return INTERN_NONE;
}

/* A kernel instead of a memset is no other name. */
void
names_add_launches(struct name_pairs *p, const struct diff *d)
{
	static const enum kind kinds[] = { KIND_KERNEL, KIND_MEMCPY,
		KIND_MEMSET };

	for (uint32_t id = 0; id < d->merged.list.n; id++) {
		bool found = merged_type(&d->merged.list.v[id]) != MERGED_BOTH;

		for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !found;
		     i++) {
			uint32_t n[NSIDES] = { launch_below(d, id, 0, kinds[i]),
				launch_below(d, id, 1, kinds[i]) };

			found = n[0] != INTERN_NONE && n[1] != INTERN_NONE &&
			    n[0] != n[1];
			if (found)
				add_names(p, n);
		}
	}
}

void
names_note(const struct name_pairs *p, const struct strings *st,
    const char *what, const char *hint, struct table *t)
{
	const struct name_pair *most = NULL;
	struct buf b = { 0 };

	for (size_t i = 0; i < p->list.n; i++)
		if (most == NULL || p->list.v[i].count > most->count)
			most = &p->list.v[i];
	if (most == NULL)
		return;
	text_visible(strings_get(st, most->n[0]), &b);
	buf_puts(&b, " | ");
	text_visible(strings_get(st, most->n[1]), &b);
	if (p->list.n > 1)
		buf_printf(&b, " %" PRIu64 " times", most->count);
	table_note(
	    t, "%s: %" PRIu64 ", as %.*s%s", what, p->n, (int)b.len, b.p, hint);
	buf_free(&b);
}

void
names_free(struct name_pairs *p)
{
	vec_free(&p->list);
	map_free(&p->of);
}

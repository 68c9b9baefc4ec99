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

struct remark *
remarks_add(struct remarks *r, uint32_t a, uint32_t b)
{
	bool is_new;
	uint64_t *slot = map_put(&r->of, (uint64_t)a << 32 | b, &is_new);

	if (is_new) {
		*slot = r->list.n;
		vec_push(&r->list, ((struct remark){ .name = { a, b } }));
	}
	r->list.v[*slot].n++;
	r->n++;
	return &r->list.v[*slot];
}

void
remarks_free(struct remarks *r)
{
	vec_free(&r->list);
	map_free(&r->of);
}

void
names_add_calls(struct remarks *p, const struct diff *d)
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
			(void)remarks_add(p, n[0], n[1]);
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
names_add_launches(struct remarks *p, const struct diff *d)
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
				(void)remarks_add(p, n[0], n[1]);
		}
	}
}

/* ---- sentences ---- */

static void
put_name(const struct dict *st, uint32_t name, struct buf *b)
{
	if (name != INTERN_NONE)
		text_visible(dict_get(st, name), b);
	else
		buf_puts(b, "one without a name");
}

static void
put_uids(const struct uid *uid, int n, struct buf *b)
{
	char text[UID_MAX];

	for (int i = 0; i < n; i++) {
		buf_puts(b, i == 0 ? " (" : " | ");
		buf_put(b, text, uid_put(text, uid[i]));
	}
	buf_putc(b, ')');
}

/* How many, and of the most frequent one the first name. */
static const struct remark *
put_start(const struct remarks *r, const struct dict *st, struct str side,
    struct buf *b)
{
	const struct remark *most = &r->list.v[0];

	for (size_t i = 1; i < r->list.n; i++)
		if (r->list.v[i].n > most->n)
			most = &r->list.v[i];
	buf_printf(b, "%" PRIu64 "%s%.*s, as ", r->n, side.len > 0 ? " " : "",
	    (int)side.len, side.p);
	put_name(st, most->name[0], b);
	return most;
}

static void
put_end(const struct remarks *r, const struct remark *most, struct buf *b)
{
	if (r->list.n > 1 && most->n > 1)
		buf_printf(b, " %" PRIu64 " times", most->n);
}

void
remarks_names(const struct remarks *r, const struct dict *st, struct buf *b)
{
	const struct remark *most;

	if (r->n == 0)
		return;
	most = put_start(r, st, STR(""), b);
	buf_puts(b, " | ");
	put_name(st, most->name[1], b);
	put_end(r, most, b);
}

void
remarks_order(const struct remarks *r, const struct dict *st, struct buf *b)
{
	const struct remark *most;

	if (r->n == 0)
		return;
	most = put_start(r, st, STR(""), b);
	put_uids(most->uid[0], NSIDES, b);
	buf_puts(b, " before ");
	put_name(st, most->name[1], b);
	put_uids(most->uid[1], NSIDES, b);
	put_end(r, most, b);
}

void
remarks_wrappers(const struct remarks *r, const struct dict *st,
    struct str side, struct buf *b)
{
	const struct remark *most;

	if (r->n == 0)
		return;
	buf_puts(b, b->len > 0 ? "; " : "");
	most = put_start(r, st, side, b);
	put_uids(most->uid[0], 1, b);
	put_end(r, most, b);
}

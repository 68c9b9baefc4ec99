/* SPDX-License-Identifier: MIT */
/*
 * The merged tree, a line per node: a name, two names where they differ, or a
 * side and its name.
 *
 * Children are grouped: of both sides, of the first, of the second. --min-diff
 * shows only nodes below which the sides differ by so much GPU time. Where the
 * trees differ, both sides are shown whole or not at all: half of it would say
 * that the other has nothing.
 */
#include <stdlib.h>

#include "cmd/tl-diff/changes.h"

/* A node whose children are being printed. */
struct level {
	u32s kids;
	size_t next;
	size_t prefix; /* length of its children's prefix */
};

struct printer {
	const struct diff *d;
	struct out *out;
	int64_t min_ns; /* 0: all */
	bool colour;
	VEC(int64_t) change; /* by merged node: GPU time after less before */
	VEC(int64_t) extent; /* sum of the differences below */
	VEC(struct level) stack;
	struct buf prefix;
	struct buf line; /* of the current node */
};

/* Control characters could forge lines or control a terminal. */
static void
put_node(const struct printer *p, int side, uint32_t at, struct buf *b)
{
	const struct node *n = &p->d->side[side]->nodes.v[at];

	if (n->name == INTERN_NONE)
		buf_printf(b, "%" PRIu32, n->id);
	else
		text_visible(dict_get(p->d->dict, n->name), b);
}

static bool
is_one_name(const struct printer *p, const struct merged_node *m)
{
	const struct node *a = &p->d->side[0]->nodes.v[m->at[0]];
	const struct node *b = &p->d->side[1]->nodes.v[m->at[1]];

	if (a->name != INTERN_NONE || b->name != INTERN_NONE)
		return a->name == b->name;
	return a->id == b->id;
}

/* ---- lines ---- */

static void
put_text(struct printer *p, uint32_t id)
{
	static const char *const colours[] = { "\033[33m", "\033[31m",
		"\033[32m" };
	static const char *const leads[] = {
		"combined: ", ">> trace1: ", "<< trace2: "
	};
	const struct merged_node *m = &p->d->merged.list.v[id];
	enum merged_type type = merged_type(m);
	bool plain = type == MERGED_BOTH && is_one_name(p, m);
	bool coloured = p->colour && !plain;
	struct buf *b = &p->line;

	b->len = 0;
	buf_puts(b, coloured ? colours[type] : "");
	buf_puts(b, plain ? "" : leads[type]);
	put_node(p, type == MERGED_TWO ? 1 : 0, m->at[type == MERGED_TWO], b);
	if (type == MERGED_BOTH && !plain) {
		buf_puts(b, " | ");
		put_node(p, 1, m->at[1], b);
	}
	buf_puts(b, coloured ? "\033[0m\n" : "\n");
	out_str(p->out, buf_str(b));
}

static bool
is_shown(const struct printer *p, uint32_t id)
{
	return p->min_ns == 0 || p->extent.v[id] >= p->min_ns;
}

/* Whether children of one side only are shown below this node. */
static bool
is_parting_shown(const struct printer *p, uint32_t id)
{
	int64_t c;

	/* its whole subtree is of one side, and it is shown */
	if (p->min_ns == 0 ||
	    merged_type(&p->d->merged.list.v[id]) != MERGED_BOTH)
		return true;
	c = p->change.v[id];
	return c >= p->min_ns || -c >= p->min_ns;
}

/* Children by type, each in order. */
static void
list_kids(struct printer *p, uint32_t id, u32s *kids)
{
	const struct merged *t = &p->d->merged;
	bool parting = is_parting_shown(p, id);

	for (int type = MERGED_BOTH; type <= MERGED_TWO; type++)
		for (uint32_t k = id + 1; k < t->list.v[id].behind;
		     k = t->list.v[k].behind)
			if ((int)merged_type(&t->list.v[k]) == type &&
			    (type == MERGED_BOTH ? is_shown(p, k) : parting))
				vec_push(kids, k);
}

static void
put_line(struct printer *p, uint32_t id, bool is_last)
{
	if (p->prefix.len > 0)
		out_str(p->out, buf_str(&p->prefix));
	out_puts(p->out, is_last ? "└── " : "├── ");
	put_text(p, id);
}

static void
open_level(struct printer *p, uint32_t id, bool is_last)
{
	struct level *l;

	put_line(p, id, is_last);
	l = vec_add(&p->stack);
	*l = (struct level){ .prefix = p->prefix.len };
	list_kids(p, id, &l->kids);
	buf_puts(&p->prefix, is_last ? "    " : "│   ");
}

static void
print_tree(struct printer *p, uint32_t root, bool is_last)
{
	open_level(p, root, is_last);
	while (p->stack.n > 0) {
		struct level *l = &p->stack.v[p->stack.n - 1];

		if (l->next < l->kids.n) {
			uint32_t kid = l->kids.v[l->next++];

			open_level(p, kid, l->next == l->kids.n);
			continue;
		}
		p->prefix.len = l->prefix;
		vec_free(&l->kids);
		p->stack.n--;
	}
}

/* ---- what differs ---- */

/*
 * The difference of each point, then sums of their absolute values up the tree;
 * roots of one side differ by all they have.
 */
static void
find_extents(struct printer *p)
{
	const struct diff *d = p->d;
	const struct merged *t = &d->merged;

	for (size_t i = 0; i < t->list.n; i++) {
		vec_push(&p->change, 0);
		vec_push(&p->extent, 0);
	}
	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];
		int64_t dur = d->side[s->side]->nodes.v[s->gpu].dur;

		if (s->lca != NONE)
			p->change.v[s->lca] += s->side == 0 ? -dur : dur;
	}
	for (size_t i = t->list.n; i-- > 0;) {
		const struct merged_node *m = &t->list.v[i];
		int side = merged_type(m) == MERGED_TWO;
		const struct side *r = d->side[side];
		const struct node *n = &r->nodes.v[m->at[side]];
		int64_t c = p->change.v[i];

		p->extent.v[i] += c < 0 ? -c : c;
		if (m->parent != NONE && merged_type(m) == MERGED_BOTH)
			p->extent.v[m->parent] += p->extent.v[i];
		if (m->parent != NONE || merged_type(m) == MERGED_BOTH)
			continue;
		for (uint32_t g = n->first_gpu; g < gpu_behind(r, n); g++)
			p->extent.v[i] += r->nodes.v[r->gpus.v[g].node].dur;
	}
}

void
print_merged(const struct diff *d, const char *path, int64_t min_ns)
{
	struct printer p = {
		.d = d,
		.out = out_open(path),
		.min_ns = min_ns,
	};
	u32s roots = { 0 };

	p.colour = out_wants_colour(p.out);
	if (min_ns > 0)
		find_extents(&p);
	for (size_t i = 0; i < d->merged.roots.n; i++)
		if (is_shown(&p, d->merged.roots.v[i]))
			vec_push(&roots, d->merged.roots.v[i]);
	for (size_t i = 0; i < roots.n; i++)
		print_tree(&p, roots.v[i], i + 1 == roots.n);
	out_finish(p.out);
	vec_free(&roots);
	vec_free(&p.change);
	vec_free(&p.extent);
	vec_free(&p.stack);
	buf_free(&p.prefix);
	buf_free(&p.line);
}

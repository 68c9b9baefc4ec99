/* SPDX-License-Identifier: MIT */
#include "trace/merged.h"
#include "trace/stat.h"

void
merged_start(struct merged *t)
{
	*t = (struct merged){ 0 };
	vec_push(&t->nodes, ((struct merged_node){ .name = UINT32_MAX }));
}

void
merged_free(struct merged *t)
{
	vec_free(&t->nodes);
	vec_free(&t->open);
	map_free(&t->by_name);
}

uint32_t
merged_new(struct merged *t, uint32_t up, uint32_t name)
{
	struct merged_node *above;
	uint32_t i;

	if (t->nodes.n >= UINT32_MAX)
		die("more than %u different stacks", UINT32_MAX);
	i = (uint32_t)t->nodes.n;
	vec_push(&t->nodes,
	    ((struct merged_node){
		.name = name,
		.level = t->nodes.v[up].level + 1,
		.up = up,
	    }));
	above = &t->nodes.v[up];
	if (above->last > 0)
		t->nodes.v[above->last].next = i;
	else
		above->kid = i;
	above->last = i;
	return i;
}

uint32_t
merged_child(struct merged *t, uint32_t up, uint32_t name)
{
	uint64_t *slot = map_put(&t->by_name, (uint64_t)up << 32 | name, NULL);

	if (*slot == 0)
		*slot = merged_new(t, up, name);
	return (uint32_t)*slot;
}

uint32_t
merged_behind(const struct merged *t, uint32_t i)
{
	while (i != 0 && t->nodes.v[i].next == 0)
		i = t->nodes.v[i].up;
	return i == 0 ? 0 : t->nodes.v[i].next;
}

uint32_t
merged_next(const struct merged *t, uint32_t i)
{
	return t->nodes.v[i].kid > 0 ? t->nodes.v[i].kid : merged_behind(t, i);
}

void
merged_add_up(struct merged *t)
{
	for (size_t i = t->nodes.n; i-- > 1;)
		for (int side = 0; side < 2; side++)
			stat_add(&t->nodes.v[t->nodes.v[i].up].ns[side],
			    t->nodes.v[i].ns[side]);
}

/* ---- open frames ---- */

void
merged_close(struct merged *t, uint32_t depth)
{
	while (t->open.n > 0 && t->open.v[t->open.n - 1].depth >= depth) {
		const struct merged_frame *top = &t->open.v[--t->open.n];

		if (top->self_ns > 0)
			stat_add(
			    &t->nodes.v[top->node].ns[top->side], top->self_ns);
	}
}

/*
 * Frames between two timed ones take time from neither, whether present or
 * filtered out.
 */
static void
take_from_above(struct merged *t, int64_t ns)
{
	for (size_t i = t->open.n; i-- > 0;) {
		if (t->open.v[i].self_ns == MERGED_UNTIMED)
			continue;
		t->open.v[i].self_ns -= ns;
		return;
	}
}

void
merged_open(
    struct merged *t, uint32_t node, uint32_t depth, int64_t ns, int side)
{
	if (ns != MERGED_UNTIMED)
		take_from_above(t, ns);
	vec_push(&t->open, ((struct merged_frame){ node, depth, side, ns }));
}

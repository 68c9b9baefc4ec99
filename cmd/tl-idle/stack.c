/* SPDX-License-Identifier: MIT */
/*
 * Ancestors of events of all sources as a tree of names: stacks share what they
 * have in common, and a record keeps one number.
 */
#include "cmd/tl-idle/idle.h"

static uint32_t
node_of(struct stacks *s, uint32_t up, uint32_t name)
{
	bool is_new;
	uint64_t *place =
	    map_put(&s->places, (uint64_t)up << 32 | name, &is_new);

	if (is_new) {
		*place = s->nodes.n;
		vec_push(&s->nodes, ((struct stack_node){ up, name }));
	}
	return (uint32_t)*place;
}

void
stacks_source(struct stacks *s, const struct host *h)
{
	s->of.n = 0;
	vec_reserve(&s->of, h->events.n);
	for (size_t i = 0; i < h->events.n; i++)
		vec_push(&s->of, STACK_NONE);
}

uint32_t
stack_of(struct stacks *s, const struct host *h, uint32_t event)
{
	uint32_t node = STACK_NONE;

	s->path.n = 0;
	for (; event != HOST_NONE && s->of.v[event] == STACK_NONE;
	     event = host_up(&h->events.v[event]))
		vec_push(&s->path, event);
	if (event != HOST_NONE)
		node = s->of.v[event];
	for (size_t i = s->path.n; i-- > 0;) {
		event = s->path.v[i];
		node = node_of(s, node, h->events.v[event].name);
		s->of.v[event] = node;
	}
	return node;
}

void
stack_text(
    struct stacks *s, const struct dict *dict, uint32_t node, struct buf *text)
{
	s->path.n = 0;
	for (; node != STACK_NONE; node = s->nodes.v[node].up)
		vec_push(&s->path, s->nodes.v[node].name);
	for (size_t i = s->path.n; i-- > 0;) {
		struct str name = dict_get(dict, s->path.v[i]);

		buf_put(text, name.p, name.len);
		if (i > 0)
			buf_putc(text, ';');
	}
}

void
stacks_free(struct stacks *s)
{
	vec_free(&s->nodes);
	vec_free(&s->of);
	vec_free(&s->path);
	map_free(&s->places);
}

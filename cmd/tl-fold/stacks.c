/* SPDX-License-Identifier: MIT */
/* Stacks that share their first frames share them here too. */
#include "cmd/tl-fold/fold.h"

/* Sources have no frame above them, and numbers instead of texts. */
static uint32_t
find(struct stacks *s, uint32_t up, uint32_t text)
{
	bool is_new;
	uint64_t *slot =
	    map_put(&s->numbers, (uint64_t)up << 32 | text, &is_new);

	if (is_new) {
		if (s->list.n >= UINT32_MAX - 1)
			die("more than %u different stacks", UINT32_MAX - 1);
		vec_push(&s->list,
		    ((struct stack){
			.up = up,
			.text = text,
			.level = up > 0 ? s->list.v[up - 1].level + 1 : 0,
			.has_text = up > 0,
		    }));
		*slot = s->list.n;
	}
	return (uint32_t)*slot;
}

uint32_t
stacks_source(struct stacks *s, uint32_t no)
{
	return find(s, 0, no);
}

uint32_t
stacks_push(struct stacks *s, uint32_t up, uint32_t text)
{
	return find(s, up, text);
}

void
stacks_free(struct stacks *s)
{
	vec_free(&s->list);
	map_free(&s->numbers);
}

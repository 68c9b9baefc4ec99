/* SPDX-License-Identifier: MIT */
/* Categories of ops by number, each asked for once. */
#include "model/facts.h"

uint32_t
category_number(struct map *known, struct models *ms, struct dict *st,
    uint32_t name, uint32_t first_kernel)
{
	bool is_new;
	uint64_t *slot =
	    map_put(known, (uint64_t)name << 32 | first_kernel, &is_new);

	if (is_new)
		*slot = intern_put(st->text,
		    model_category(
			ms, dict_get(st, name), dict_get(st, first_kernel)));
	return (uint32_t)*slot;
}

/* SPDX-License-Identifier: MIT */
/* Phase and category to the kind of an event. */
#include "cmd/tl-decode/chrome/event.h"

/* A phase that is no slice decides whatever the category says. */
static enum kind
kind_of_phase(unsigned char ph)
{
	static const struct {
		const char *phases;
		enum kind kind;
	} kinds[] = {
		{ "XB", KIND_SLICE },
		{ "stf", KIND_FLOW },
		{ "M", KIND_META },
		{ "C", KIND_COUNTER },
		{ "iIR", KIND_INSTANT },
		{ "bneSTpF", KIND_ASYNC },
		{ "NOD", KIND_OBJECT },
		{ "P", KIND_SAMPLE },
		{ "Vv", KIND_DUMP },
		{ "c()", KIND_MARK },
		{ "E", KIND_END },
	};

	for (size_t i = 0; ph != 0 && i < sizeof kinds / sizeof *kinds; i++)
		if (strchr(kinds[i].phases, ph) != NULL)
			return kinds[i].kind;
	return KIND_OTHER;
}

enum kind
kind_of_chrome(struct str cat, bool has_cat, unsigned char ph)
{
	enum kind by_phase = kind_of_phase(ph), kind;

	if (!has_cat || (by_phase != KIND_SLICE && by_phase != KIND_INSTANT) ||
	    !category_kind(cat, &kind))
		return by_phase;
	return (by_phase == KIND_INSTANT) == (kind == KIND_MEMORY) ? kind
								   : by_phase;
}

bool
kind_is_lost(enum kind kind, struct str cat)
{
	enum kind by_cat;

	return kind == KIND_OTHER && category_kind(cat, &by_cat) &&
	    skip_is_timed(by_cat);
}

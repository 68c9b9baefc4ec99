/* SPDX-License-Identifier: MIT */
/* Phase and category to the kind of an event. */
#include "cmd/tl-decode/chrome/event.h"

/* A phase that is no slice decides whatever the category says. */
static enum kind
kind_of_phase(unsigned char ph)
{
	switch (ph) {
	case 's':
	case 't':
	case 'f': return KIND_FLOW;
	case 'M': return KIND_META;
	case 'C': return KIND_COUNTER;
	case 'i':
	case 'I':
	case 'R': return KIND_INSTANT;
	case 'b':
	case 'n':
	case 'e':
	case 'S':
	case 'T':
	case 'p':
	case 'F': return KIND_ASYNC;
	case 'N':
	case 'O':
	case 'D': return KIND_OBJECT;
	case 'P': return KIND_SAMPLE;
	case 'V':
	case 'v': return KIND_DUMP;
	case 'c':
	case '(':
	case ')': return KIND_MARK;
	case 'E': return KIND_END;
	case 'X':
	case 'B': return KIND_SLICE;
	default: return KIND_OTHER;
	}
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

/* SPDX-License-Identifier: MIT */
/* Events that no table can count. */
#include "cmd/tl-decode/decode.h"

/* Members of the fact "skipped". */
static const char *const keys[SKIP_COUNT] = {
	[SKIP_TIME] = "time",
	[SKIP_DURATION] = "duration",
	[SKIP_PHASE] = "phase",
	[SKIP_CATEGORY] = "category",
	[SKIP_ASYNC] = "async",
};

/* Kinds that count by time: GPU work, and what may be above it. */
#define KINDS_TIMED                                       \
	(KINDS_GPU | KINDS_HOST | KIND_BIT(KIND_PYTHON) | \
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_GPU_ANNOTATION))

bool
skip_is_timed(enum kind kind)
{
	return (KIND_BIT(kind) & KINDS_TIMED) != 0;
}

enum skip
skip_of_shape(enum kind kind, unsigned char ph, unsigned has)
{
	if (!skip_is_timed(kind))
		return SKIP_NONE;
	if ((has & HAS_TS) == 0)
		return SKIP_TIME;
	if ((has & HAS_FLAGS) != 0) /* EV_CLAMPED is the only flag here */
		return SKIP_DURATION;
	return ph == 'X' && (has & HAS_DUR) == 0 ? SKIP_DURATION : SKIP_NONE;
}

void
skip_report(struct source_state *s)
{
	struct buf fact = { 0 };
	struct source so;

	for (int i = SKIP_NONE + 1; i < SKIP_COUNT; i++)
		if (s->skipped[i] > 0)
			buf_printf(&fact, "%s\"%s\":%" PRIu64,
			    fact.len > 0 ? "," : "{", keys[i], s->skipped[i]);
	if (fact.len > 0) {
		buf_putc(&fact, '}');
		facts_json(&s->facts, "skipped", buf_str(&fact));
	}
	buf_free(&fact);
	so = facts_source(&s->facts, s->src, true);
	stream_tell_skipped(s->in->name, &so);
}

bool
kind_is_lost(enum kind kind, struct str cat)
{
	enum kind by_cat;

	return (kind == KIND_OTHER || kind == KIND_ASYNC) &&
	    category_kind(cat, &by_cat) && skip_is_timed(by_cat);
}

enum skip
skip_of_lost(enum kind kind, unsigned char ph, struct str cat)
{
	const unsigned annotations =
	    KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_GPU_ANNOTATION);
	enum kind by_cat;

	if (!kind_is_lost(kind, cat))
		return SKIP_NONE;
	if (kind != KIND_ASYNC)
		return SKIP_PHASE;
	return (ph == 'b' || ph == 'S') && category_kind(cat, &by_cat) &&
		(KIND_BIT(by_cat) & annotations) == 0
	    ? SKIP_ASYNC
	    : SKIP_NONE;
}

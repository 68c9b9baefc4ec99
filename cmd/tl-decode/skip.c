/* SPDX-License-Identifier: MIT */
/* Events that no table can count. */
#include "cmd/tl-decode/decode.h"

static const struct {
	const char *key;  /* in the fact "skipped" */
	const char *what; /* in the warning */
} reasons[SKIP_COUNT] = {
	[SKIP_TIME] = { "time", "without a usable start" },
	[SKIP_DURATION] = { "duration", "without a usable duration" },
	[SKIP_PHASE] = { "phase", "without a known phase" },
	[SKIP_CATEGORY] = { "category", "without a usable category" },
};

/* What counts by its time: GPU work, and what may be above it. */
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
	return ph == 'X' && (has & HAS_DUR) == 0 ? SKIP_DURATION : SKIP_NONE;
}

void
skip_report(struct source_state *s)
{
	struct buf fact = { 0 }, text = { 0 };
	uint64_t sum = 0;

	for (int i = SKIP_NONE + 1; i < SKIP_COUNT; i++) {
		uint64_t n = s->skipped[i];

		if (n == 0)
			continue;
		buf_printf(&fact, "%s\"%s\":%" PRIu64, sum > 0 ? "," : "{",
		    reasons[i].key, n);
		buf_printf(&text, "%s%" PRIu64 " %s", sum > 0 ? ", " : "", n,
		    reasons[i].what);
		sum += n;
	}
	if (sum > 0) {
		buf_putc(&fact, '}');
		facts_json(&s->facts, "skipped", buf_str(&fact));
		report(MSG_EVENTS_SKIPPED, s->in->name, buf_str(&text));
	}
	buf_free(&fact);
	buf_free(&text);
}

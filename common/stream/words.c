/* SPDX-License-Identifier: MIT */
/* Words for enums in NDJSON, TSV and on command lines. */
#include "stream/stream.h"

const char *const kind_words[KIND_COUNT] = {
	[KIND_OTHER] = "other",
	[KIND_OP] = "op",
	[KIND_RUNTIME] = "runtime",
	[KIND_DRIVER] = "driver",
	[KIND_PYTHON] = "python",
	[KIND_ANNOTATION] = "annotation",
	[KIND_KERNEL] = "kernel",
	[KIND_MEMCPY] = "memcpy",
	[KIND_MEMSET] = "memset",
	[KIND_GPU_ANNOTATION] = "gpu_annotation",
	[KIND_SYNC] = "sync",
	[KIND_GPU_EVENT] = "gpu_event",
	[KIND_OVERHEAD] = "overhead",
	[KIND_SPAN] = "span",
	[KIND_FLOW] = "flow",
	[KIND_META] = "meta",
	[KIND_INSTANT] = "instant",
	[KIND_MEMORY] = "memory",
	[KIND_COUNTER] = "counter",
	[KIND_ASYNC] = "async",
	[KIND_OBJECT] = "object",
	[KIND_SAMPLE] = "sample",
	[KIND_DUMP] = "dump",
	[KIND_MARK] = "mark",
	[KIND_SLICE] = "slice",
	[KIND_END] = "end",
};

const char *const event_flag_words[] = {
	"unlinked",
	"discarded",
	"recompute",
	"synthetic",
	"clamped",
	"unclosed",
	"paired",
	"duplicate",
	"stub",
	"untimed",
	"step",
	"slowest",
	NULL,
};

const char *const section_words[SECTION_COUNT] = {
	[SECTION_NONE] = "events",
	[SECTION_PROLOGUE] = "prologue",
	[SECTION_TREE] = "tree",
	[SECTION_TAIL] = "tail",
};

const char *const mark_words[] = {
	"linked",
	"tree",
	"synthetic",
	"edited",
	"salvaged",
	NULL,
};

int
kind_of_word(struct str word)
{
	for (int k = 0; k < KIND_COUNT; k++)
		if (str_eq(word, str_of(kind_words[k])))
			return k;
	return -1;
}

uint32_t
opt_kinds(const struct optparse *op)
{
	const char *list = op->arg;
	uint32_t kinds = 0;
	struct str word;

	while (str_next(&list, ',', &word)) {
		int kind = kind_of_word(word);

		if (kind < 0)
			die_usage(
			    "option '%s': no kind of event '%.*s'; see tl(7)",
			    op->name, (int)word.len, word.p);
		kinds |= KIND_BIT(kind);
	}
	return kinds;
}

/* SPDX-License-Identifier: MIT */
/* Facts of a source that affect figures: what was skipped, and why, and what
 * could not be linked or nested. */
#include "stream/in.h"
#include "json/json.h"

static const struct {
	struct str key;
	enum reason why;
} words[] = {
	{ STR_INIT("time"), REASON_SKIP_TIME },
	{ STR_INIT("duration"), REASON_SKIP_DURATION },
	{ STR_INIT("phase"), REASON_SKIP_PHASE },
	{ STR_INIT("category"), REASON_SKIP_CATEGORY },
	{ STR_INIT("async"), REASON_SKIP_ASYNC },
};

/* The reason; one of a newer version by its key. */
static struct str
words_of(struct str key)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(key, words[i].key))
			return str_of(report_reason(words[i].why));
	return key;
}

void
stream_tell_skipped(const char *name, const struct source *source)
{
	const struct fact *f = source_fact(source, "skipped");
	struct arena *mem = arena_create();
	json_items list = { 0 };
	struct buf text = { 0 };
	int64_t n, sum = 0;

	if (f == NULL || !json_split(&list, mem, f->val.s))
		list.n = 0;
	for (size_t i = 0; i + 1 < list.n; i += 2) {
		struct str key = words_of(list.v[i].text);

		if (!num_i64(list.v[i + 1].text, &n) || !num_add(sum, n, &sum))
			continue;
		buf_printf(&text, "%s%" PRId64 " %.*s",
		    text.len > 0 ? ", " : "", n, (int)key.len, key.p);
	}
	if (f != NULL)
		report(MSG_SKIPPED, name, sum, buf_str(&text));
	/* of a Perfetto trace: their kind is unknown */
	if (source_int(source, "packets_lost", &n))
		report(MSG_PACKETS_LOST, name, n);
	if (source_int(source, "packets_dropped", &n))
		report(MSG_PACKETS_DROPPED, name, n);
	vec_free(&list);
	arena_destroy(mem);
	buf_free(&text);
}

void
stream_tell_links(const char *name, const struct source *source)
{
	int64_t n;

	if (source_int(source, "ambiguous", &n))
		report(MSG_AMBIGUOUS_LAUNCH, name, n);
	if (source_int(source, "ambiguous_ops", &n))
		report(MSG_AMBIGUOUS_OPS, name, n);
	if (source_int(source, "unlaunched_ops", &n))
		report(MSG_NO_OP_LAUNCH, name, n);
	if (source_int(source, "no_launch", &n))
		report(MSG_NO_SUCH_LAUNCH, name, n);
	if (source_int(source, "unclosed", &n))
		report(MSG_UNCLOSED, name, n);
}

void
stream_tell_tree(const char *name, const struct source *source)
{
	int64_t n;

	if (source_int(source, "discarded", &n))
		report(MSG_OVERLAPS, name, n);
}

/* SPDX-License-Identifier: MIT */
/* The fact "skipped": how many events no table can count, by reason. */
#include "stream/stream.h"
#include "json/json.h"

static const struct {
	struct str key;
	enum reason why;
} words[] = {
	{ STR_INIT("time"), REASON_SKIP_TIME },
	{ STR_INIT("duration"), REASON_SKIP_DURATION },
	{ STR_INIT("phase"), REASON_SKIP_PHASE },
	{ STR_INIT("category"), REASON_SKIP_CATEGORY },
};

/* The reason; a newer one by its key. */
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
	struct buf fact = { 0 }, text = { 0 };
	struct str key = STR("");
	enum json_token t;
	struct json j;
	int64_t n, sum = 0;

	if (f == NULL)
		return;
	buf_put(&fact, f->val.s.p, f->val.s.len);
	buf_room(&fact, IN_PAD);
	memset(fact.p + fact.len, 0, IN_PAD);
	json_start(&j, fact.p, fact.len);
	while ((t = json_next(&j)) > JSON_T_END) {
		if (t == JSON_T_KEY)
			key = words_of(j.raw);
		if (t != JSON_T_NUMBER || !num_i64(j.raw, &n) ||
		    !num_add(sum, n, &sum))
			continue;
		buf_printf(&text, "%s%" PRId64 " %.*s",
		    text.len > 0 ? ", " : "", n, (int)key.len, key.p);
	}
	report(MSG_SKIPPED, name, sum, buf_str(&text));
	buf_free(&fact);
	buf_free(&text);
}

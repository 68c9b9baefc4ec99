/* SPDX-License-Identifier: MIT */
/* Findings of tl-decode about the file. */
#include "cmd/tl-health/health.h"
#include "json/json.h"

#include <math.h>

/* A number among the members of an object; 0: missing. */
static uint64_t
member(const json_items *object, struct str name)
{
	uint64_t n;
	const struct json_item *it = json_member(object, name);

	return it != NULL && num_u64(it->text, &n) ? n : 0;
}

static void
count(struct health *h, enum check check, uint64_t n, double share)
{
	struct finding *f =
	    found(h, check, &(struct tally){ .n = n, .ns = -1 }, share);

	if (f != NULL)
		f->has_uid = false;
}

/* Sum of all members. */
static uint64_t
sum_of(const json_items *object)
{
	uint64_t n, sum = 0;

	for (size_t i = 0; i + 1 < object->n; i += 2)
		if (num_u64(object->v[i + 1].text, &n))
			sum += n;
	return sum;
}

/* From an object with a number for each kind of repair. */
static void
check_repaired(struct health *h, struct arena *mem, const struct source *src)
{
	const struct fact *repaired = source_fact(src, FACT_REPAIRED);
	json_items list = { 0 }, one = { 0 };
	struct buf b = { 0 };
	struct finding *f;
	uint64_t n = 0;

	if (repaired == NULL || repaired->val.type < VAL_STR ||
	    !json_split(&list, mem, repaired->val.s))
		return;
	for (size_t i = 0; i + 1 < list.n; i += 2) {
		(void)!json_split(&one, mem, list.v[i + 1].text);
		n += member(&one, STR("n"));
		buf_printf(&b, "%s%.*s", i > 0 ? ", " : "",
		    (int)list.v[i].text.len, list.v[i].text.p);
	}
	f = found(
	    h, CHECK_FILE_REPAIRED, &(struct tally){ .n = n, .ns = -1 }, NAN);
	if (f != NULL)
		finding_say(h, f, "%.*s", (int)b.len, b.p);
	vec_free(&list);
	vec_free(&one);
	buf_free(&b);
}

void
check_facts(struct health *h, const struct source *src)
{
	const struct fact *salvaged = source_fact(src, "salvaged");
	const struct fact *skipped = source_fact(src, "skipped");
	struct arena *mem = arena_create();
	json_items list = { 0 };
	int64_t events = 0;

	(void)!source_int(src, "events", &events);
	if (salvaged != NULL && json_split(&list, mem, salvaged->val.s)) {
		const struct json_item *cut = json_member(&list, STR("cut"));
		bool is_cut = cut != NULL && str_eq(cut->text, STR("true"));

		count(h, CHECK_FILE_CUT, is_cut, NAN);
		uint64_t losses = member(&list, STR("losses"));

		/* a missing end counts as one */
		count(h, CHECK_FILE_LOST,
		    is_cut && losses > 0 ? losses - 1 : losses, NAN);
		count(h, CHECK_FILE_MENDED, member(&list, STR("mended")), NAN);
	}
	list.n = 0;
	if (skipped != NULL && json_split(&list, mem, skipped->val.s)) {
		uint64_t async = member(&list, STR("async"));
		uint64_t n = sum_of(&list) - async;

		count(h, CHECK_FILE_ASYNC, async,
		    percent_of((double)async, (double)events));
		count(h, CHECK_FILE_SKIPPED, n,
		    percent_of((double)n, (double)events));
	}
	vec_free(&list);
	check_repaired(h, mem, src);
	arena_destroy(mem);
}

void
check_file(struct health *h)
{
	const struct subject *s = &h->subject;
	const struct tally *several = &s->of[CHECK_FILE_SEVERAL];
	const struct tally *twice = &s->of[CHECK_FILE_TWICE];
	const struct tally *keys = &s->of[CHECK_FILE_KEYS];

	found(h, CHECK_FILE_TWICE, twice,
	    percent_of((double)twice->n, (double)(s->ngpu + twice->n)));
	found(h, CHECK_FILE_KEYS, keys,
	    percent_of((double)keys->n, (double)s->nevents));
	if (several->n > 1)
		found(h, CHECK_FILE_SEVERAL, several, NAN);
	if (h->is_edited)
		count(h, CHECK_FILE_EDITED, 1, NAN);
}

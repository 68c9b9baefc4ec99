/* SPDX-License-Identifier: MIT */
/*
 * Rules of tl-advise: taken with their examples, or not and with a reason.
 * Accepted ones match rows, and have a sentence and a gain, for any row.
 */
#include <stdlib.h>

#include "cmd/tl-advise/advise.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A row with all columns that a rule needs. */
static void
apply(const struct rule *r, struct cell cell)
{
	struct facts f = { .table = r->table };
	struct buf said = { 0 };
	int64_t gain_ns[GAINS];

	for (size_t i = 0; i < r->when.n; i++)
		vec_push(&f.list, ((struct field){ r->when.v[i].id, cell }));
	vec_push(&f.list, ((struct field){ r->gain, cell }));
	(void)rule_fits(r, &f);
	(void)rule_say(&said, r->insight, &f);
	(void)rule_say(&said, r->action, &f);
	rule_gains(r, &f, gain_ns);
	CHECK(0 <= gain_ns[LOW] && gain_ns[LOW] <= gain_ns[MID] &&
	    gain_ns[MID] <= gain_ns[HIGH]);
	vec_free(&f.list);
	buf_free(&said);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *p = xcalloc(1, size + IN_PAD);
	struct rules rules = { 0 };
	struct buf why = { 0 };

	if (size > 0)
		memcpy(p, data, size);
	if (rules_read(&rules, (struct str){ (const char *)p, size }, &why)) {
		CHECK(why.len == 0);
		for (size_t i = 0; i < rules.list.n; i++) {
			apply(&rules.list.v[i], cell_none());
			apply(&rules.list.v[i], cell_int(INT64_MAX));
			apply(&rules.list.v[i], cell_real(-1e300));
			apply(&rules.list.v[i],
			    cell_text((struct str){
				(const char *)p, size < 50 ? size : 50 }));
		}
	} else {
		CHECK(why.len > 0);
	}
	buf_free(&why);
	rules_free(&rules);
	free(p);
	return 0;
}

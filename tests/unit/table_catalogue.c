/* SPDX-License-Identifier: MIT */
/* The catalogue has each thing once, and what it names exists. */
#include <unistd.h>

#include "table/catalogue.h"

#include "tests/unit/tap.h"

static bool
is_program(const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "cmd/%s.c", name);
	if (access(path, F_OK) == 0)
		return true;
	snprintf(path, sizeof path, "cmd/%s", name);
	return access(path, F_OK) == 0;
}

/* What is wrong with an entry, or NULL. */
static const char *
fault(const struct sheet *s)
{
	const struct sheet_chart *c = s->chart;
	const struct sheet_rule *r = s->rule;

	if (sheet_find(str_of(s->name)) != s)
		return "another stands before it";
	if (s->program != NULL ? !is_program(s->program) : s->text != NULL)
		return "its program is not there";
	if (c != NULL && c->lines != NULL &&
	    sheet_find(str_of(c->lines)) == NULL)
		return "its chart's lines are no table";
	if (r == NULL)
		return s->compared != NULL || s->small != NULL
		    ? "a name of its comparison, but no rule"
		    : NULL;
	if (r->group == NULL || r->keys == NULL || r->measures == NULL ||
	    !(r->measure_ns > 0))
		return "half a rule";
	return NULL;
}

int
main(void)
{
	size_t nfamilies = 0, nfaults = 0;

	for (size_t i = 0; i < sheets_n; i++) {
		bool family = (sheets[i].where & SHEET_FAMILIES) != 0;
		const char *why = family ? NULL : fault(&sheets[i]);

		nfamilies += family;
		nfaults += why != NULL;
		if (why != NULL)
			diag("%s: %s", sheets[i].name, why);
	}
	is_int((int64_t)nfaults, 0, "each table stands once and whole");
	is_int((int64_t)nfamilies, 1, "the families of ops have one place");
	ok(sheet_find(STR("")) == NULL, "no table has no name");
	ok(sheet_find(STR("gpu_timeline.csv")) == NULL, "names are whole");
	done_testing();
}

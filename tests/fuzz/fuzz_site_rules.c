/* SPDX-License-Identifier: MIT */
/*
 * A site's rules for tl-health: taken whole, or a usage error. Each accepted
 * one is about a table or about events, demands one thing, and can test any
 * figure.
 */
#include "cmd/tl-health/rules.h"
#include "tests/fuzz/death.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_test(const struct rule_test *t, size_t size)
{
	static const double figures[] = { 0, -1, 1e300, 10 };
	struct buf b = { 0 };

	CHECK(t->line > 0 && t->line <= size && t->op < RULE_OPS);
	CHECK(t->column.len > 0 && t->source.len <= size);
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		if (!rule_holds(t, figures[i], figures[i / 2]))
			rule_put_broken(&b, t, figures[i], figures[i / 2]);
	buf_free(&b);
}

static void
check_rule(const struct site_rule *r, size_t size)
{
	CHECK(r->id.len > 0 && r->level < RULE_LEVELS);
	CHECK((r->sheet != NULL) != (r->select.kinds != 0));
	for (size_t i = 0; i < r->where.n; i++)
		check_test(&r->where.v[i], size);
	check_test(&r->require, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct site_rules *r = xcalloc(1, sizeof *r);

	usage_is_input = true;
	r->path = "rules";
	r->mem = arena_create();
	if (setjmp(on_death) == 0) {
		rules_parse(r, (struct str){ (const char *)data, size });
		CHECK(r->list.n > 0);
		for (size_t i = 0; i < r->list.n; i++)
			check_rule(&r->list.v[i], size);
	}
	rules_free(r);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Which sheets are compared, and how: the catalogue, or its rule for ops. */
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

/* ---- what the reports have ---- */

static bool
any_has(const struct reports *reports, struct str sheet)
{
	for (size_t i = 0; i < reports->list.n; i++)
		if (report_has(&reports->list.v[i], sheet))
			return true;
	return false;
}

/* The sheet of the first report that has it with columns. */
static const struct data *
sample(const struct reports *reports, struct str sheet)
{
	const struct data *d = NULL;

	for (size_t i = 0; i < reports->list.n; i++) {
		d = report_read(&reports->list.v[i], sheet);
		if (d->columns.n > 0)
			break;
	}
	return d;
}

static bool
has_params(const struct reports *reports, struct str sheet)
{
	const struct data *d = sample(reports, sheet);
	bool found = false;

	for (size_t i = 0; i < d->columns.n; i++)
		found |= str_starts(d->columns.v[i], STR("param: "));
	return found && data_column(d, STR("name")) != NO_COLUMN;
}

struct str
plans_whole_name(struct str cut)
{
	for (size_t i = 0; i < sheets_n; i++) {
		struct str whole = str_of(sheets[i].name);

		if (sheets[i].rule != NULL && whole.len > cut.len &&
		    str_starts(whole, cut))
			return whole;
	}
	return STR("");
}

/* ---- plans ---- */

static const struct sheet_rule *
rule_for(const struct reports *reports, const struct sheet *s)
{
	const char *keys = s->rule->keys;
	const struct data *d = sample(reports, str_of(s->name));
	struct str first;

	if (s->rule->otherwise != NULL && d->columns.n > 0 &&
	    str_next(&keys, '|', &first) && data_column(d, first) == NO_COLUMN)
		return s->rule->otherwise;
	return s->rule;
}

static void
plan_known(struct plans *p, const struct reports *reports)
{
	for (size_t i = 0; i < sheets_n; i++) {
		const struct sheet *s = &sheets[i];
		struct plan plan = { .sheet = s->name };

		if (s->rule == NULL || !any_has(reports, str_of(s->name)))
			continue;
		plan.rule = rule_for(reports, s);
		plan.base = s->compared != NULL ? s->compared : s->name;
		plan.small = s->small != NULL ? s->small : plan.base;
		vec_push(&p->list, plan);
	}
}

/*
 * Other sheets by name, as folders have no order: those with parameters of ops
 * are compared, the rest skipped.
 */
static void
plan_others(struct plans *p, const struct reports *reports)
{
	struct intern *seen = intern_create();
	VEC(struct str) names = { 0 };

	for (size_t i = 0; i < reports->list.n; i++) {
		const struct report *r = &reports->list.v[i];

		for (size_t k = 0; k < r->sheets.n; k++) {
			struct str name = r->sheets.v[k].name;
			const struct sheet *s = sheet_find(name);
			size_t before = seen->list.n;

			(void)intern_put(seen, name);
			if (seen->list.n > before &&
			    (s == NULL || s->rule == NULL))
				vec_push(&names, arena_str(p->arena, name));
		}
	}
	intern_destroy(seen);
	if (names.n > 0)
		qsort(names.v, names.n, sizeof *names.v, str_order);
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.v[i].p;

		if (has_params(reports, names.v[i]))
			vec_push(&p->list,
			    ((struct plan){
				&sheet_rule_params, name, name, name }));
		else
			vec_push(&p->left_out, names.v[i]);
	}
	vec_free(&names);
}

/* ---- --sheets ---- */

static bool
fits(const struct plan *plan, struct str word)
{
	const char *group = plan->rule->group;

	return str_eq(word, STR("all")) || str_eq(word, str_of(group)) ||
	    (str_eq(word, STR("roofline_all")) && plan->rule->has_params) ||
	    str_eq(word, str_of(plan->sheet)) ||
	    str_eq(word, str_of(plan->base));
}

/* Whether a sheet or group of this name has a rule. */
static bool
is_known(struct str word)
{
	bool known = str_eq(word, STR("roofline_all"));

	for (size_t i = 0; i < sheets_n; i++)
		known = known ||
		    (sheets[i].rule != NULL &&
			(str_eq(word, str_of(sheets[i].name)) ||
			    str_eq(word, str_of(sheets[i].rule->group))));
	return known;
}

static void
refuse_word(const struct plans *p, struct str word)
{
	for (size_t i = 0; i < p->left_out.n; i++)
		if (str_eq(word, p->left_out.v[i]))
			die("sheet %.*s: no rule to compare it",
			    STR_ARGS(word));
	if (is_known(word))
		die("no report has a sheet %.*s", STR_ARGS(word));
	die_usage("option '--sheets': no report has a sheet or group of sheets "
		  "'%.*s'",
	    STR_ARGS(word));
}

static void
choose(struct plans *p, const char *words)
{
	bool *wanted = xcalloc(p->list.n + 1, sizeof *wanted);
	struct str word;
	size_t n = 0;

	while (str_next(&words, ',', &word)) {
		bool found = false;

		for (size_t i = 0; i < p->list.n; i++) {
			bool fit = fits(&p->list.v[i], word);

			found |= fit;
			wanted[i] |= fit;
		}
		if (!found)
			refuse_word(p, word);
	}
	for (size_t i = 0; i < p->list.n; i++)
		if (wanted[i])
			p->list.v[n++] = p->list.v[i];
	p->list.n = n;
	p->left_out.n = 0; /* not asked for */
	free(wanted);
}

void
plans_make(struct plans *p, const struct reports *reports, const char *words)
{
	*p = (struct plans){ .arena = arena_create() };
	plan_known(p, reports);
	plan_others(p, reports);
	if (words != NULL)
		choose(p, words);
	if (p->list.n == 0)
		die("nothing to compare: no report has a known sheet");
}

void
plans_free(struct plans *p)
{
	vec_free(&p->list);
	vec_free(&p->left_out);
	arena_destroy(p->arena);
}

/* SPDX-License-Identifier: MIT */
/* Which tables are printed, and their columns. */
#include "sink/plan.h"

static const struct column lead_columns[] = {
	[SINK_LEAD_RANK] = { "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[SINK_LEAD_SRC] = { "src", NULL, COL_INT, UNIT_NONE, 0, 0 },
};

/* ---- plans ---- */

void
sink_plan_own(struct sink_plan *p, const struct column *col, unsigned field)
{
	vec_push(&p->columns, *col);
	vec_push(&p->fields, (uint16_t)field);
}

static bool
has_field(const struct sink_plan *p, unsigned field)
{
	for (size_t i = 0; i < p->fields.n; i++)
		if (p->fields.v[i] == field)
			return true;
	return false;
}

static bool
is_repetition(struct uid uid)
{
	return uid.inst != 0 && uid.inst != UID_NONE;
}

/* Integers for devices and the like, unless one is a text. */
static enum col_type
type_of(const struct sink *s, const struct sink_plan *p,
    const struct sink_column *c)
{
	size_t first = 0, end = s->records.n;

	if (s->def->range != NULL)
		s->def->range(s, p, &first, &end);
	for (size_t i = first; i < end; i++) {
		const char *at = (const char *)sink_record(s, i) + c->at;

		if (s->def->member != NULL &&
		    !s->def->member(s, p, sink_record(s, i)))
			continue;
		if (c->from == SINK_UID
			? is_repetition(*(const struct uid *)(const void *)at)
			: ((const struct key *)(const void *)at)->type ==
			    KEY_STR)
			return COL_TEXT;
	}
	return c->col.type;
}

/* Its number. A list is the program's: an error in it is a bug. */
static unsigned
column_number(const struct sink *s, struct str id)
{
	const struct sink_column *list = s->def->columns;

	if (*id.p == '+')
		id.p++, id.len--;
	for (unsigned i = 0; list[i].col.id != NULL; i++)
		if (strncmp(list[i].col.id, id.p, id.len) == 0 &&
		    list[i].col.id[id.len] == '\0')
			return i;
	die("a table lists the column '%.*s', which does not exist",
	    (int)id.len, id.p);
}

void
sink_lists_check(const struct sink *s)
{
	for (size_t i = 0; i < s->ntables; i++) {
		const struct sink_table *t = &s->tables[i];
		const char *lists[] = { t->keys, t->columns, t->ties };
		struct str id;

		for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
			while (str_next(&lists[k], ',', &id))
				(void)column_number(s, id);
	}
}

static bool
next_id(const char **list, struct str *id)
{
	if (!str_next(list, ',', id))
		return false;
	if (*id->p == '+')
		id->p++, id->len--;
	return true;
}

static void
put_id(struct buf *b, struct str id, bool *is_first)
{
	buf_printf(b, "%s%.*s", *is_first ? "" : ",", (int)id.len, id.p);
	*is_first = false;
}

static bool
is_in_lists(const struct sink *s, struct str id)
{
	for (size_t i = 0; i < s->ntables; i++) {
		const struct sink_table *t = &s->tables[i];
		const char *lists[] = { t->keys, t->columns };
		struct str word;

		for (size_t k = 0; k < 2; k++)
			while (next_id(&lists[k], &word))
				if (str_eq(word, id))
					return true;
	}
	return false;
}

void
sink_lists_put(struct buf *b, void *sink)
{
	const struct sink *s = sink;
	const struct sink_column *c = s->def->columns;
	bool is_first;

	for (size_t i = 0; i < s->ntables; i++) {
		const struct sink_table *t = &s->tables[i];
		const char *lists[] = { t->keys, t->columns };
		struct str id;

		is_first = true;
		buf_printf(b, "\t\t%s\t", t->name);
		for (size_t k = 0; k < 2; k++)
			while (next_id(&lists[k], &id))
				put_id(b, id, &is_first);
		buf_putc(b, '\n');
	}
	/* columns that options or the program itself put into tables */
	is_first = true;
	buf_puts(b, "\t\t\t");
	for (; c->col.id != NULL; c++)
		if (!is_in_lists(s, str_of(c->col.id)))
			put_id(b, str_of(c->col.id), &is_first);
	buf_putc(b, '\n');
}

/* The next column of a list that the table has, or -1. */
static int
next_column(const struct sink *s, const struct sink_plan *p, const char **list,
    bool *is_wide)
{
	struct str id;

	while (str_next(list, ',', &id)) {
		unsigned i, only;

		*is_wide = *id.p == '+';
		i = column_number(s, id);
		only = sink_column_of(s, i)->only;
		if (only == 0 || s->def->wants(s, p->table, only))
			return (int)i;
	}
	return -1;
}

static size_t
put_numbers(const struct sink *s, const struct sink_plan *p, const char *list,
    uint8_t *to)
{
	size_t n = 0;
	bool is_wide;

	for (int i; (i = next_column(s, p, &list, &is_wide)) >= 0; n++) {
		if (n == SINK_GROUP_WORDS - 1)
			die("the table %s has too many keys", p->name);
		to[n] = (uint8_t)i;
	}
	return n;
}

void
sink_plan_keys(const struct sink *s, struct sink_plan *p, const char *list)
{
	p->nkeys = put_numbers(s, p, list, p->keys);
}

static void
add_column(
    const struct sink *s, struct sink_plan *p, unsigned number, bool is_wide)
{
	const struct sink_column *c = sink_column_of(s, number);
	struct column *col;

	sink_plan_own(p, &c->col, number);
	col = &p->columns.v[p->columns.n - 1];
	if (is_wide)
		col->flags |= COL_DETAIL;
	if (c->from == SINK_UID || c->from == SINK_KEY)
		col->type = type_of(s, p, c);
	for (size_t i = 0; i < p->table->nlabels; i++) {
		const struct sink_label *l = &p->table->labels[i];

		if (strcmp(l->id, col->id) != 0)
			continue;
		col->label = l->label;
		if (l->div > 0)
			col->label_div = l->div;
	}
	if (!c->is_key)
		return;
	if (p->nkeys == SINK_GROUP_WORDS - 1)
		die("the table %s has too many keys", p->name);
	p->keys[p->nkeys++] = (uint8_t)number;
}

void
sink_plan_add(const struct sink *s, struct sink_plan *p, const char *list)
{
	bool is_wide;

	for (int i; (i = next_column(s, p, &list, &is_wide)) >= 0;)
		add_column(s, p, (unsigned)i, is_wide);
}

static void
add_lead(struct sink_plan *p, enum sink_lead lead)
{
	if (lead != SINK_LEAD_NONE)
		sink_plan_own(p, &lead_columns[lead], SINK_LEADS + lead);
}

static void
make_plan(struct sink *s, struct sink_plan *p, const struct sink_table *t)
{
	*p = (struct sink_plan){ .table = t, .name = t->name };
	if (!t->is_joined)
		add_lead(p, sink_sources_lead(&s->sources));
	sink_plan_add(s, p, t->keys);
	sink_plan_add(s, p, t->columns);
	p->nties = put_numbers(s, p, t->ties, p->ties);
	if (s->def->planned != NULL)
		s->def->planned(s, p);
}

void
sink_plan_free(struct sink_plan *p)
{
	vec_free(&p->columns);
	vec_free(&p->fields);
}

/* ---- which ones ---- */

bool
sink_asked(const struct sink *s, const struct sink_table *t)
{
	if (s->table != NULL)
		return sink_list_has(s->table, str_of(t->name));
	return s->def->asked == NULL || s->def->asked(s, t);
}

bool
sink_list_has(const char *list, struct str id)
{
	struct str word;

	while (str_next(&list, ',', &word))
		if (str_eq(word, id))
			return true;
	return false;
}

bool
sink_list_within(const char *list, const char *all)
{
	struct str word;

	while (str_next(&list, ',', &word))
		if (!sink_list_has(all, word))
			return false;
	return true;
}

/* A word in a list as people read it: "op, kind". */
static bool
has_word(const char *words, struct str word)
{
	struct str one;

	while (str_next(&words, ',', &one)) {
		while (one.len > 0 && *one.p == ' ')
			one.p++, one.len--;
		if (str_eq(one, word))
			return true;
	}
	return false;
}

const char *
sink_opt_keys(const struct optparse *op, const char *words)
{
	const char *list = op->arg;
	struct str word;

	while (str_next(&list, ',', &word)) {
		if (!has_word(words, word))
			die_usage("option '--by': '%.*s' is none of %s",
			    (int)word.len, word.p, words);
		if (sink_list_has(list, word))
			die_usage("option '--by' names %.*s twice",
			    (int)word.len, word.p);
	}
	return op->arg;
}

/* Two tables of one name: which one is printed is not known yet. */
static void
check_name(struct sink *s, const struct sink_table *t)
{
	struct sink_plan all = { .table = t, .name = t->name };

	add_lead(&all, t->is_joined ? SINK_LEAD_NONE : SINK_LEAD_RANK);
	for (const struct sink_table *o = t; o < s->tables + s->ntables; o++) {
		struct sink_plan p;

		if (!sink_asked(s, o) || strcmp(o->name, t->name) != 0)
			continue;
		make_plan(s, &p, o);
		for (size_t i = 0; i < p.columns.n; i++)
			if (!has_field(&all, p.fields.v[i]))
				sink_plan_own(
				    &all, &p.columns.v[i], p.fields.v[i]);
		sink_plan_free(&p);
	}
	/* either may lead: the number of sources is not known yet */
	add_lead(&all, t->is_joined ? SINK_LEAD_NONE : SINK_LEAD_SRC);
	table_dest_check(&s->dest, t->name, all.columns.v, all.columns.n);
	sink_plan_free(&all);
}

void
sink_tables_check(struct sink *s)
{
	for (size_t i = 0; i < s->ntables; i++) {
		bool is_first =
		    sink_asked(s, &s->tables[i]) && !s->tables[i].is_late;

		for (size_t k = 0; k < i && is_first; k++)
			is_first =
			    strcmp(s->tables[k].name, s->tables[i].name) != 0;
		if (is_first)
			check_name(s, &s->tables[i]);
	}
}

static bool
has_table(const struct sink *s, const struct sink_table *t)
{
	return s->def->fits == NULL || s->def->fits(s, t);
}

/* The table asked for is one of other inputs. */
static void
die_table(struct sink *s)
{
	const char *asked = s->table;
	struct buf there = { 0 };

	s->table = NULL;
	for (size_t i = 0; i < s->ntables; i++)
		if (has_table(s, &s->tables[i]))
			buf_printf(&there, "%s%s", there.len > 0 ? ", " : "",
			    s->tables[i].name);
	die_nothing(MSG_NO_TABLE_HERE, s->sources.path, asked, buf_str(&there));
}

void
sink_tables_print(struct sink *s)
{
	bool any = false;

	for (size_t i = 0; i < s->ntables; i++) {
		const struct sink_table *t = &s->tables[i];
		struct sink_plan p;

		if (!sink_asked(s, t) || !has_table(s, t))
			continue;
		any = true;
		make_plan(s, &p, t);
		(t->print != NULL ? t->print : sink_rows_print)(s, &p);
		sink_plan_free(&p);
	}
	if (!any && s->table == NULL)
		return;
	if (!any)
		die_table(s);
	table_dest_finish(&s->dest);
}

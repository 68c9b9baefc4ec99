/* SPDX-License-Identifier: MIT */
/*
 * Pairs rows of the same key. If a report has several, rows are first paired by
 * columns outside the key (thread, launching op), then in order: the autograd
 * thread's mul must not be compared with the main thread's because both took as
 * long. Rows of a key form a group, and so do those with equal other columns;
 * within a group rows are numbered: (a, thread 1) 0, (a, thread 1) 1.
 */
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

/* Longer numbers are thread ids, which differ from run to run. */
#define ID_DIGITS 3

struct group {
	uint32_t made;  /* joined rows */
	uint32_t seen;  /* rows of the current report */
	uint32_t taken; /* joined rows it has filled */
	bool repeats;   /* a key with several rows in some report */
	bool alike;     /* and nothing tells them apart */
	bool unclear;   /* a report has several spellings */
	uint32_t first; /* in the current report */
};

#define ALIKE_MAX 8

struct pairing {
	struct joined *j;
	size_t alike[ALIKE_MAX];  /* columns of the current report */
	bool *is_type;            /* by key */
	bool any_alike;           /* a report has some */
	struct intern *texts;     /* of groups */
	VEC(struct group) groups; /* by text */
	struct map places;        /* group << 32 | number, to joined row */
	VEC(uint32_t) rows;       /* as joined.rows */
	struct buf text;
};

/* "thread 41037 (pt_autograd_0)" without the number. */
static void
put_without_ids(struct buf *b, struct str s)
{
	for (size_t i = 0, n; i < s.len; i += n) {
		for (n = 0;
		     i + n < s.len && s.p[i + n] >= '0' && s.p[i + n] <= '9';)
			n++;
		if (n < ID_DIGITS)
			buf_put(b, s.p + i, n == 0 ? 1 : n);
		n += n == 0;
	}
	buf_putc(b, '\0');
}

const char columns_alike[] =
    "thread_name|Parent cpu_op|Kernel stream|is_recompute|num_kernels";

static void
find_alike(struct pairing *p, const struct data *d)
{
	const char *list = columns_alike;
	struct str label;
	size_t n = 0;

	while (str_next(&list, '|', &label))
		p->alike[n++] = data_column(d, label);
	for (size_t i = 0; i < n; i++)
		p->any_alike |= p->alike[i] != NO_COLUMN;
	while (n < ALIKE_MAX)
		p->alike[n++] = NO_COLUMN;
}

static void
put_alike(struct pairing *p, const struct data *d, uint32_t row)
{
	for (size_t i = 0; i < ALIKE_MAX; i++) {
		const struct val *v = p->alike[i] == NO_COLUMN
		    ? NULL
		    : data_cell(d, row, p->alike[i]);

		if (v == NULL)
			buf_putc(&p->text, '-');
		else if (v->type == VAL_TEXT)
			put_without_ids(&p->text, v->text);
		else
			spelling_put(&p->text, v, false);
	}
}

static uint32_t
group_of_text(struct pairing *p)
{
	uint32_t id = intern_put(p->texts, buf_str(&p->text));

	while (p->groups.n <= id)
		vec_push(&p->groups, (struct group){ 0 });
	return id;
}

/* A row and its groups. */
struct seen {
	uint32_t row, key, alike;
};

static const struct val *
key_cell(const struct joined *j, size_t report, uint32_t row, size_t key)
{
	return data_cell(
	    j->data[report], row, j->key_columns[report * j->keys.n + key]);
}

/* Whether two rows of a report have equal text in all keys. */
static bool
is_same_key(const struct joined *j, size_t report, uint32_t a, uint32_t b)
{
	for (size_t k = 0; k < j->keys.n; k++) {
		const struct val *x = key_cell(j, report, a, k);
		const struct val *y = key_cell(j, report, b, k);

		if (x->type != y->type ||
		    (x->type == VAL_TEXT && !str_eq(x->text, y->text)))
			return false;
	}
	return true;
}

/* The group of a key as bytes. */
static uint32_t
key_group(struct pairing *p, size_t report, uint32_t row)
{
	p->text.len = 0;
	for (size_t k = 0; k < p->j->keys.n; k++)
		spelling_put(
		    &p->text, key_cell(p->j, report, row, k), p->is_type[k]);
	return group_of_text(p);
}

/* The group of a key as spelled, if the report has several spellings. */
static uint32_t
key_as_written(struct pairing *p, size_t report, uint32_t row)
{
	p->text.len = 0;
	buf_putc(&p->text, '=');
	for (size_t k = 0; k < p->j->keys.n; k++) {
		const struct val *v = key_cell(p->j, report, row, k);

		if (v->type == VAL_TEXT)
			buf_put(&p->text, v->text.p, v->text.len);
		else
			spelling_put(&p->text, v, false);
		buf_putc(&p->text, '\0');
	}
	return group_of_text(p);
}

static void
find_unclear(struct pairing *p, size_t report)
{
	for (size_t i = 0; i < p->groups.n; i++)
		p->groups.v[i].seen = 0;
	for (uint32_t row = 0; row < p->j->data[report]->nrows; row++) {
		uint32_t key = key_group(p, report, row);
		struct group *g = &p->groups.v[key];

		if (g->seen++ == 0)
			g->first = row;
		else
			g->unclear |= !is_same_key(p->j, report, g->first, row);
	}
}

static struct seen
look_at(struct pairing *p, size_t report, uint32_t row)
{
	struct seen s = { .row = row, .key = key_group(p, report, row) };

	if (p->groups.v[s.key].unclear)
		s.key = key_as_written(p, report, row);
	s.alike = s.key;
	if (!p->any_alike)
		return s;
	buf_putc(&p->text, '|'); /* no key begins with it */
	put_alike(p, p->j->data[report], row);
	s.alike = group_of_text(p);
	return s;
}

static uint64_t
place(uint32_t group, uint32_t number)
{
	return (uint64_t)group << 32 | number;
}

static uint32_t *
cell_at(struct pairing *p, uint64_t joined, size_t report)
{
	return &p->rows.v[joined * p->j->n + report];
}

/* Adds a joined row. */
static uint64_t
make_row(struct pairing *p, const struct seen *s)
{
	uint64_t made = p->rows.n / p->j->n;

	if (made == NO_ROW)
		die("sheet %s: too many rows", p->j->plan->sheet);
	for (size_t r = 0; r < p->j->n; r++)
		vec_push(&p->rows, NO_ROW);
	*map_put(&p->places, place(s->alike, p->groups.v[s->alike].made++),
	    NULL) = made;
	if (s->key != s->alike)
		*map_put(&p->places, place(s->key, p->groups.v[s->key].made++),
		    NULL) = made;
	return made;
}

/*
 * The first joined row of the key that this report has not filled, or a new
 * one.
 */
static uint64_t
free_row(struct pairing *p, const struct seen *s, size_t report)
{
	struct group *key = &p->groups.v[s->key];

	for (; key->taken < key->made; key->taken++) {
		uint64_t at = *map_get(&p->places, place(s->key, key->taken));

		if (*cell_at(p, at, report) == NO_ROW)
			return at;
	}
	return make_row(p, s);
}

static void
pair_report(struct pairing *p, size_t report)
{
	VEC(struct seen) left = { 0 };

	for (size_t i = 0; i < p->groups.n; i++)
		p->groups.v[i].seen = p->groups.v[i].taken = 0;
	find_alike(p, p->j->data[report]);
	for (uint32_t row = 0; row < p->j->data[report]->nrows; row++) {
		struct seen s = look_at(p, report, row);
		struct group *key = &p->groups.v[s.key];
		uint32_t number = p->groups.v[s.alike].seen++;
		uint64_t *at = map_get(&p->places, place(s.alike, number));

		key->repeats |= (s.key == s.alike ? number : key->seen++) > 0;
		key->alike |= number > 0;
		if (at != NULL)
			*cell_at(p, *at, report) = row;
		else
			vec_push(&left, s);
	}
	for (size_t i = 0; i < left.n; i++)
		*cell_at(p, free_row(p, &left.v[i], report), report) =
		    left.v[i].row;
	vec_free(&left);
}

void
join_pair(struct joined *j)
{
	struct pairing p = { .j = j, .texts = intern_create() };

	p.is_type = xcalloc(j->keys.n + 1, sizeof *p.is_type);
	for (size_t k = 0; k < j->keys.n; k++)
		p.is_type[k] = spelling_is_type(j->keys.v[k]);
	for (size_t r = 0; r < j->n; r++) {
		find_alike(&p, j->data[r]);
		find_unclear(&p, r);
	}
	for (size_t r = 0; r < j->n; r++)
		pair_report(&p, r);
	j->rows = p.rows.v;
	j->nrows = p.rows.n / j->n;
	for (size_t i = 0; i < p.groups.n; i++) {
		j->nrepeated += p.groups.v[i].repeats;
		j->nalike += p.groups.v[i].alike;
		j->nunclear += p.groups.v[i].unclear;
	}
	free(p.is_type);
	intern_destroy(p.texts);
	vec_free(&p.groups);
	map_free(&p.places);
	buf_free(&p.text);
}

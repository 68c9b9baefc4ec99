/* SPDX-License-Identifier: MIT */
/*
 * Which rows belong together: those of the same key. Where a key stands more
 * than once in a report, a row is first looked for that is alike in what is no
 * key (its thread, what launched it), and then any: the autograd thread's mul
 * is not to be compared with the main thread's because both took as long.
 *
 *	key  a a a      each key has a chain of joined rows, in which those that
 *	     |   |      are alike have numbers: (a, thread 1) 0, (a, thread 1) 1
 *	  thread 1 2 1
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

/* From so many digits on a number is a thread's, which no two runs share. */
#define ID_DIGITS 3

struct pairing {
	struct joined *j;
	struct intern *keys;       /* a key */
	struct intern *alike;      /* a key and what else rows are alike in */
	VEC(uint32_t) first, last; /* by key: its chain, row + 1 */
	VEC(uint32_t) next;        /* by joined row */
	VEC(uint32_t) made;        /* by alike: so many joined rows */
	VEC(uint32_t) repeats;     /* by key: of REPEATS and ALIKE */
	struct map places;         /* alike << 32 | number -> joined row + 1 */
	VEC(uint32_t) rows;        /* as joined.rows */
	/* of the report at hand */
	VEC(uint32_t) nkey, nalike; /* so many rows */
	VEC(uint32_t) free_from;    /* by key: where to look for one, row + 1 */
	struct buf text;
};

/* In some report more than once; and so that nothing tells its rows apart. */
enum {
	REPEATS = 1,
	ALIKE = 2,
};

/* What has not been told yet of a key is 0. */
#define ROOM(list, id)           \
	while ((list).n <= (id)) \
	vec_push(&(list), 0)

/*
 * A key as bytes: equal ones are equal keys. A workbook has 16 digits of a
 * number and a CSV 17, so 15 decide.
 */
static void
put_key(struct buf *b, const struct val *v)
{
	uint32_t len = 0;

	switch (v->type) {
	case VAL_NUMBER:
		buf_printf(b, "n%.15g", v->number == 0 ? 0 : v->number);
		buf_putc(b, '\0');
		break;
	case VAL_TEXT:
	case VAL_BIG:
		len = (uint32_t)v->text.len;
		buf_putc(b, 't');
		buf_put(b, &len, sizeof len);
		buf_put(b, v->text.p, v->text.len);
		break;
	case VAL_BOOL:
	case VAL_NONE: buf_putc(b, '-'); break;
	}
}

/* "thread 41037 (pt_autograd_0)" without the number that a run gave it. */
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

static void
put_alike(struct pairing *p, const struct data *d, uint32_t row)
{
	static const struct str columns[] = { STR_INIT("thread_name"),
		STR_INIT("Parent cpu_op"), STR_INIT("Kernel stream") };

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		size_t at = data_column(d, columns[i]);
		const struct val *v =
		    at == NO_COLUMN ? NULL : data_cell(d, row, at);

		if (v == NULL)
			buf_putc(&p->text, '-');
		else if (v->type == VAL_TEXT)
			put_without_ids(&p->text, v->text);
		else
			put_key(&p->text, v);
	}
}

/* Which key a row has, and which rows it is alike. */
static void
look_at(struct pairing *p, size_t report, uint32_t row, uint32_t *key,
    uint32_t *alike)
{
	const struct joined *j = p->j;
	const struct data *d = j->data[report];

	p->text.len = 0;
	for (size_t k = 0; k < j->keys.n; k++)
		put_key(&p->text,
		    data_cell(d, row, j->key_columns[report * j->keys.n + k]));
	*key = intern_put(p->keys, buf_str(&p->text));
	put_alike(p, d, row);
	*alike = intern_put(p->alike, buf_str(&p->text));
	ROOM(p->first, *key);
	ROOM(p->last, *key);
	ROOM(p->nkey, *key);
	ROOM(p->free_from, *key);
	ROOM(p->repeats, *key);
	ROOM(p->made, *alike);
	ROOM(p->nalike, *alike);
}

/* A joined row of its own; row + 1. */
static uint32_t
make_row(struct pairing *p, uint32_t key, uint32_t alike)
{
	uint64_t number = p->made.v[alike]++;
	uint32_t made;

	if (p->next.n + 1 == NO_ROW)
		die("sheet %s: too many rows", p->j->plan->sheet);
	for (size_t r = 0; r < p->j->n; r++)
		vec_push(&p->rows, NO_ROW);
	vec_push(&p->next, 0);
	made = (uint32_t)p->next.n;
	*map_put(&p->places, (uint64_t)alike << 32 | number, NULL) = made;
	if (p->first.v[key] == 0)
		p->first.v[key] = made;
	else
		p->next.v[p->last.v[key] - 1] = made;
	p->last.v[key] = made;
	return made;
}

static uint32_t *
cell_at(struct pairing *p, uint32_t joined, size_t report)
{
	return &p->rows.v[(size_t)(joined - 1) * p->j->n + report];
}

/* The first of the key's rows that this report has not filled; 0: none. */
static uint32_t
free_row(struct pairing *p, uint32_t key, size_t report)
{
	uint32_t at = p->free_from.v[key];

	if (at == 0)
		at = p->first.v[key];
	while (at != 0 && *cell_at(p, at, report) != NO_ROW) {
		p->free_from.v[key] = at;
		at = p->next.v[at - 1];
	}
	return at;
}

/* A row of the report that was not found one alike. */
struct left {
	uint32_t row, key, alike;
};

static void
pair_report(struct pairing *p, size_t report)
{
	struct joined *j = p->j;
	VEC(struct left) left = { 0 };

	for (uint32_t row = 0; row < j->data[report]->nrows; row++) {
		uint32_t key, alike;
		uint64_t *place;

		look_at(p, report, row, &key, &alike);
		place = map_get(
		    &p->places, (uint64_t)alike << 32 | p->nalike.v[alike]);
		if (p->nkey.v[key]++ > 0)
			p->repeats.v[key] |= REPEATS;
		if (p->nalike.v[alike]++ > 0)
			p->repeats.v[key] |= ALIKE;
		if (place != NULL)
			*cell_at(p, (uint32_t)*place, report) = row;
		else
			vec_push(&left, ((struct left){ row, key, alike }));
	}
	for (size_t i = 0; i < left.n; i++) {
		const struct left *l = &left.v[i];
		uint32_t at = free_row(p, l->key, report);

		if (at == 0)
			at = make_row(p, l->key, l->alike);
		*cell_at(p, at, report) = l->row;
	}
	vec_free(&left);
}

static void
begin_report(struct pairing *p)
{
	for (size_t i = 0; i < p->nkey.n; i++)
		p->nkey.v[i] = p->free_from.v[i] = 0;
	for (size_t i = 0; i < p->nalike.n; i++)
		p->nalike.v[i] = 0;
}

void
join_pair(struct joined *j)
{
	struct pairing p = {
		.j = j, .keys = intern_create(), .alike = intern_create()
	};

	for (size_t r = 0; r < j->n; r++) {
		begin_report(&p);
		pair_report(&p, r);
	}
	j->rows = p.rows.v;
	j->nrows = p.next.n;
	for (size_t i = 0; i < p.repeats.n; i++) {
		j->nrepeated += (p.repeats.v[i] & REPEATS) != 0;
		j->nalike += (p.repeats.v[i] & ALIKE) != 0;
	}
	intern_destroy(p.keys);
	intern_destroy(p.alike);
	vec_free(&p.first);
	vec_free(&p.last);
	vec_free(&p.next);
	vec_free(&p.made);
	vec_free(&p.repeats);
	map_free(&p.places);
	vec_free(&p.nkey);
	vec_free(&p.nalike);
	vec_free(&p.free_from);
	buf_free(&p.text);
}

/* SPDX-License-Identifier: MIT */
/* The rows of a table: groups of records, their order, and cells. */
#include <math.h>
#include <stdlib.h>

#include "sink/plan.h"

static const void *
field_at(const void *record, const struct sink_column *c)
{
	return (const char *)record + c->at;
}

static const struct sink_record *
first_of(const struct sink *s, const struct sink_groups *gs,
    const struct sink_group *gr)
{
	return sink_record(s, sink_group_member(gs, gr, 0));
}

/* ---- groups ---- */

/* The name of the record's track for a column. */
static uint32_t
name_of(const struct sink *s, const struct sink_column *c, uint32_t track)
{
	struct track_names names;

	if (track == INTERN_NONE)
		return INTERN_NONE;
	names = names_of(s->names, track);
	return c->from == SINK_PROCESS ? names.process
	    : c->from == SINK_LABEL    ? names.label
				       : names.thread;
}

/* A field as a number: for keys, and most cells. */
static uint64_t
word_of(const struct sink *s, const struct sink_column *c, const void *record)
{
	const struct sink_record *rec = record;
	const void *at = field_at(record, c);

	switch (c->from) {
	case SINK_TEXT:
	case SINK_U32: return *(const uint32_t *)at;
	case SINK_PROCESS:
	case SINK_LABEL:
	case SINK_THREAD: return name_of(s, c, rec->track);
	case SINK_BOOL: return *(const bool *)at;
	default: return (uint64_t) * (const int64_t *)at;
	}
}

/* A number or a text, and which of them. */
static bool
has_two_words(const struct sink_column *c)
{
	return c->from == SINK_KEY || c->from == SINK_PID;
}

static struct key
two_words_of(
    const struct sink *s, const struct sink_column *c, const void *record)
{
	const void *at = field_at(record, c);
	uint32_t track;

	if (c->from == SINK_KEY)
		return *(const struct key *)at;
	track = *(const uint32_t *)at;
	return track != INTERN_NONE ? s->dict->tracks.v[track].pid
				    : (struct key){ 0, KEY_NONE };
}

static uint64_t
source_word(const struct sink_plan *p, const struct sink_record *record)
{
	return p->table->is_joined ? 0 : record->source;
}

size_t
sink_key_of(const struct sink *s, const struct sink_plan *p, const void *record,
    uint64_t *key)
{
	const struct sink_column *columns = s->def->columns;
	size_t n = 0;

	key[n++] = source_word(p, record);
	for (size_t k = 0; k < p->nkeys; k++) {
		const struct sink_column *c = &columns[p->keys[k]];

		if (LIKELY(c->from == SINK_TEXT)) {
			key[n++] = *(const uint32_t *)field_at(record, c);
		} else if (has_two_words(c)) {
			struct key id = two_words_of(s, c, record);

			key[n++] = (uint64_t)id.n;
			key[n++] = id.type;
		} else {
			key[n++] = word_of(s, c, record);
		}
	}
	return n;
}

/* Records of a table without groups have their number. */
static void
key_of(struct sink *s, const struct sink_plan *p, size_t i,
    struct sink_groups *gs, uint64_t *key)
{
	const struct sink_record *record = sink_record(s, i);

	if (!p->table->is_single) {
		gs->nwords = sink_key_of(s, p, record, key);
		return;
	}
	key[0] = source_word(p, record);
	key[1] = i;
	gs->nwords = 2;
}

static void
add_sums(const struct sink *s, struct sink_group *gr, const void *record)
{
	for (size_t m = 0; m < s->def->nmeasures && m < SINK_GROUP_SUMS; m++) {
		const struct sink_measure *of = &s->def->measures[m];
		int64_t v;

		if (of->real != NULL || of->is_own)
			continue;
		memcpy(&v, (const char *)record + of->at, sizeof v);
		if (v == SINK_NONE)
			continue;
		stat_add(&gr->sums[m], v);
		gr->summed |= (uint8_t)(1U << m);
	}
}

/* ---- order ---- */

struct order {
	const struct sink *s;
	const struct sink_plan *p;
};

static int
cmp_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
cmp_field(const struct sink *s, unsigned column, const void *a, const void *b)
{
	const struct sink_column *c = sink_column_of(s, column);
	uint64_t x = word_of(s, c, a), y = word_of(s, c, b);

	if (c->from == SINK_BOOL || x == y)
		return (x > y) - (x < y);
	return str_cmp(
	    dict_get(s->dict, (uint32_t)x), dict_get(s->dict, (uint32_t)y));
}

/* Ascending, those without a number last. */
static int
cmp_numbers(int64_t a, int64_t b)
{
	if ((a == SINK_NONE) != (b == SINK_NONE))
		return a == SINK_NONE ? 1 : -1;
	return cmp_i64(a, b);
}

/* The first key: numbers, then words, then records without. */
static int
cmp_first_keys(const struct order *o, const uint64_t *a, const uint64_t *b)
{
	const struct dict *st = o->s->dict;
	bool is_key = has_two_words(sink_column_of(o->s, o->p->keys[0]));
	int c = is_key ? cmp_i64(a[1] == KEY_NONE, b[1] == KEY_NONE) : 0;

	if (is_key && c == 0)
		c = cmp_i64(a[1] == KEY_STR, b[1] == KEY_STR);
	if (c != 0)
		return c;
	return is_key && a[1] == KEY_STR
	    ? str_cmp(
		  dict_get(st, (uint32_t)a[0]), dict_get(st, (uint32_t)b[0]))
	    : cmp_numbers((int64_t)a[0], (int64_t)b[0]);
}

static int
cmp_groups(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	const struct order *o = arg;
	const struct sink_table *t = o->p->table;
	const struct sink_record *x = first_of(o->s, gs, a);
	const struct sink_record *y = first_of(o->s, gs, b);
	int c = cmp_i64((int64_t)a->key[0], (int64_t)b->key[0]);

	if (t->order == SINK_AS_ADDED)
		return cmp_i64(
		    sink_group_member(gs, a, 0), sink_group_member(gs, b, 0));
	if (c == 0 && o->s->def->compare != NULL)
		c = o->s->def->compare(o->s, a, b);
	if (c == 0 && t->order == SINK_BY_KEY)
		c = cmp_first_keys(o, a->key + 1, b->key + 1);
	if (c == 0)
		c = t->order == SINK_BY_TIME
		    ? cmp_i64(x->ts_ns, y->ts_ns)
		    : cmp_i64(b->sums[t->measure], a->sums[t->measure]);
	if (c == 0 && t->order == SINK_BY_FEW)
		c = cmp_i64((int64_t)a->n, (int64_t)b->n);
	for (size_t i = 0; c == 0 && i < o->p->nties; i++)
		c = cmp_field(o->s, o->p->ties[i], x, y);
	return c != 0 ? c : uid_cmp(x->uid, y->uid);
}

void
sink_group_records(
    struct sink *s, const struct sink_plan *p, struct sink_groups *gs)
{
	const struct order order = { s, p };
	uint64_t key[SINK_GROUP_WORDS];
	size_t first = 0, end = s->records.n;

	if (s->def->range != NULL)
		s->def->range(s, p, &first, &end);
	*gs = (struct sink_groups){ .base = first };
	for (size_t i = first; i < end; i++) {
		const void *record = sink_record(s, i);
		struct sink_group *gr;

		if (s->def->member != NULL && !s->def->member(s, p, record)) {
			sink_groups_skip(gs);
			continue;
		}
		key_of(s, p, i, gs, key);
		gr = sink_groups_add(gs, key);
		if (gr->n == 1)
			gr->least =
			    ((const struct sink_record *)record)->uid.id;
		add_sums(s, gr, record);
		sink_total_add(s, p, gs, record);
	}
	if (s->def->grouped != NULL)
		s->def->grouped(s, p, gs);
	sink_groups_finish(gs, cmp_groups, &order);
}

/* ---- statistics ---- */

/* Buffers for the numbers of one group. */
struct scratch {
	VEC(int64_t) ns;
	VEC(double) real;
};

const void *
sink_row_record(const struct sink_row *r, size_t i)
{
	return sink_record(r->sink, sink_group_member(r->groups, r->group, i));
}

static void
take_stat(struct sink_row *r, struct scratch *room, unsigned m)
{
	const struct sink_measure *of = &r->sink->def->measures[m];
	size_t n = 0;

	if (of->real != NULL) {
		vec_reserve(&room->real, r->group->n);
		for (size_t i = 0; i < r->group->n; i++)
			room->real.v[i] =
			    of->real(r->sink, sink_row_record(r, i));
		stat_of_reals(&r->stats[m].real, room->real.v, r->group->n);
		return;
	}
	vec_reserve(&room->ns, r->group->n);
	for (size_t i = 0; i < r->group->n; i++) {
		int64_t v;

		memcpy(
		    &v, (const char *)sink_row_record(r, i) + of->at, sizeof v);
		if (v != SINK_NONE)
			room->ns.v[n++] = v;
	}
	stat_of(&r->stats[m].ns, room->ns.v, n);
}

/* Measures of which a row shows more than the sum, as bits. */
static unsigned
measures_needed(
    const struct sink *s, const struct sink_plan *p, const struct table *t)
{
	unsigned bits = 0;

	for (size_t i = 0; i < p->fields.n; i++) {
		const struct sink_column *c;

		if (p->fields.v[i] >= SINK_OWN || !table_keeps(t, i))
			continue;
		c = sink_column_of(s, p->fields.v[i]);
		if (c->from > SINK_SUM && c->from < SINK_SHARE &&
		    !s->def->measures[c->at].is_own)
			bits |= 1U << c->at;
	}
	return bits;
}

/* ---- cells ---- */

struct cell
sink_lead_cell(const struct sink *s, uint32_t source, unsigned field)
{
	const struct sink_source *o = &s->sources.list.v[source];

	if (field == SINK_LEADS + SINK_LEAD_SRC)
		return cell_int(o->no);
	return o->has_rank ? cell_int(o->rank) : cell_none();
}

struct cell
sink_row_text(const struct sink_row *r)
{
	return cell_text(table_row_text(r->table, buf_str(r->text)));
}

static struct cell
key_cell(const struct sink_row *r, struct key key, enum col_type type)
{
	char text[24];

	if (key.type == KEY_STR)
		return cell_string(r->sink->dict, (uint32_t)key.n);
	if (key.type == KEY_NONE)
		return cell_none();
	if (type != COL_TEXT)
		return cell_int(key.n);
	return cell_text(table_row_text(
	    r->table, (struct str){ text, num_put_i64(text, key.n) }));
}

static struct cell
stat_cell(const struct sink_row *r, const struct sink_column *c)
{
	const struct sink_stat *st = &r->stats[c->at];
	bool real = r->sink->def->measures[c->at].real != NULL ||
	    r->sink->def->measures[c->at].is_own;

	if (!real && st->ns.n == 0)
		return cell_none();
	switch (c->from) {
	case SINK_MEAN: return cell_real(real ? st->real.mean : st->ns.mean);
	case SINK_MEDIAN:
		return cell_real(real ? st->real.median : st->ns.median);
	case SINK_STD_ALL:
		return cell_real(real ? st->real.std_all : st->ns.std_all);
	case SINK_STD: return cell_real(real ? st->real.std : st->ns.std);
	case SINK_MIN:
		return real ? cell_real(st->real.min) : cell_int(st->ns.min);
	case SINK_P95: return cell_real(st->ns.p95);
	case SINK_P99: return cell_real(st->ns.p99);
	default: return real ? cell_real(st->real.max) : cell_int(st->ns.max);
	}
}

/* Whether any record of the row has a number; if not, the sum is unknown. */
static bool
is_summed(const struct sink_row *r, unsigned measure)
{
	return (r->group->summed & 1U << measure) != 0;
}

static struct cell
details_cell(const struct sink_row *r, unsigned of)
{
	r->text->len = 0;
	if (!r->sink->details)
		return cell_none();
	if (!details_put(r, of)) {
		if ((of & DETAIL_EMPTY) == 0)
			return cell_none();
		buf_puts(r->text, "[]");
	}
	return sink_row_text(r);
}

static struct cell
cell_of(const struct sink_row *r, size_t i)
{
	const struct sink *s = r->sink;
	unsigned field = r->plan->fields.v[i];
	const struct column *col = &r->plan->columns.v[i];
	const struct sink_record *rec = r->first;
	const struct sink_column *c;
	const void *at;

	if (field >= SINK_LEADS)
		return sink_lead_cell(s, rec->source, field);
	if (field >= SINK_OWN)
		return s->def->cell(r, field);
	c = sink_column_of(s, field);
	at = field_at(r->first, c);
	switch (c->from) {
	case SINK_CELL: return s->def->cell(r, c->at);
	case SINK_TEXT:
	case SINK_PROCESS:
	case SINK_LABEL:
	case SINK_THREAD:
		return cell_string(s->dict, (uint32_t)word_of(s, c, rec));
	case SINK_INT:
		return *(const int64_t *)at == SINK_NONE
		    ? cell_none()
		    : cell_int(*(const int64_t *)at);
	case SINK_REAL: return cell_real(*(const double *)at);
	case SINK_U32: return cell_int(*(const uint32_t *)at);
	case SINK_BOOL: return cell_bool(*(const bool *)at);
	case SINK_KEY:
	case SINK_PID: return key_cell(r, two_words_of(s, c, rec), col->type);
	case SINK_UID: return cell_uid(r->table, *(const struct uid *)at);
	case SINK_COUNT: return cell_int((int64_t)r->group->n);
	case SINK_SUM:
		return is_summed(r, c->at) ? cell_int(r->group->sums[c->at])
					   : cell_none();
	case SINK_SHARE:
		return is_summed(r, c->at)
		    ? cell_share(r->group->sums[c->at], r->whole)
		    : cell_none();
	case SINK_CUMULATIVE: return cell_real(r->cumulative);
	case SINK_DETAILS: return details_cell(r, c->at);
	default: return stat_cell(r, c);
	}
}

/* ---- rows ---- */

/* The sums of a table's measure, by source. */
static double *
add_up(const struct sink *s, const struct sink_plan *p,
    const struct sink_groups *gs)
{
	double *w = xcalloc(s->sources.list.n + 1, sizeof *w);

	for (size_t i = 0; i < gs->list.n; i++)
		w[gs->list.v[i].key[0]] +=
		    (double)gs->list.v[i].sums[p->table->measure];
	for (uint32_t i = 0; i < s->sources.list.n && s->def->whole != NULL;
	     i++) {
		double whole = s->def->whole(s, p, i);

		if (!isnan(whole))
			w[i] = whole;
	}
	return w;
}

static void
put_row(struct sink_row *r, struct scratch *room, unsigned needed)
{
	const struct sink *s = r->sink;
	struct cell *cells;

	r->first = sink_row_record(r, 0);
	for (unsigned m = 0; m < s->def->nmeasures; m++)
		if (needed & 1U << m)
			take_stat(r, room, m);
	if (s->def->row != NULL)
		s->def->row(r);
	cells = table_row(r->table);
	for (size_t i = 0; i < r->plan->fields.n; i++)
		if (table_keeps(r->table, i))
			cells[i] = cell_of(r, i);
}

static void
put_rows(struct sink_row *r, const double *wholes, struct scratch *room)
{
	const struct sink_groups *gs = r->groups;
	unsigned needed = measures_needed(r->sink, r->plan, r->table);
	uint64_t source = 0;
	int64_t sum = 0;

	for (size_t i = 0; i < gs->list.n; i++) {
		r->group = &gs->list.v[i];
		if (r->group->key[0] != source)
			sum = 0;
		source = r->group->key[0];
		r->whole = wholes[source];
		sum = num_add_max(sum, r->group->sums[r->plan->table->measure]);
		r->cumulative =
		    r->whole > 0 ? (double)sum / r->whole * 100 : NAN;
		put_row(r, room, needed);
	}
}

static bool
shows_steps(const struct sink_plan *p)
{
	for (size_t i = 0; i < p->columns.n; i++)
		if (strcmp(p->columns.v[i].id, "step") == 0)
			return true;
	return false;
}

void
sink_rows_print(struct sink *s, const struct sink_plan *p)
{
	struct table *t = table_create(p->name, p->columns.v, p->columns.n);
	bool is_summary = p->table->is_summary && s->table == NULL;
	struct scratch room = { 0 };
	struct buf text = { 0 };
	struct sink_groups gs;
	struct sink_row r = {
		.sink = s, .plan = p, .table = t, .groups = &gs, .text = &text
	};
	double *wholes;

	sink_group_records(s, p, &gs);
	sink_keep_laws(s, p, &gs);
	wholes = add_up(s, p, &gs);
	if (s->def->notes != NULL)
		s->def->notes(s, p, t);
	if (s->select.inferred != 0 &&
	    (select_asks_steps(&s->select) || shows_steps(p)))
		note_inferred(t, s->select.inferred);
	if (!is_summary)
		table_stream(t, &s->dest);
	put_rows(&r, wholes, &room);
	(is_summary ? table_print_summary : table_print)(t, &s->dest);
	vec_free(&room.ns);
	vec_free(&room.real);
	free(wholes);
	sink_groups_free(&gs);
	buf_free(&text);
	table_destroy(t);
}

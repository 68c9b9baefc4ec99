/* SPDX-License-Identifier: MIT */
/*
 * Which op launches which kernels: a map of each side, and one of both in
 * which ops that do the same work have one name. Such ops are found at points
 * that both sides have: as many ops on each side are paired in order, else
 * each of one side with the first that has something in common with it.
 */
#include <stdlib.h>

#include "cmd/tl-diff/events.h"
#include "json/json.h"

#define SAME_START 20 /* characters that make two names one */

/* ---- what two names have in common ---- */

struct namer {
	const struct diff *d;
	struct map *to;
	struct map module; /* op to its only module + 1, or 0: several */
	struct map visited;
};

static struct str
text_of(const struct namer *nm, uint32_t id)
{
	return dict_get(nm->d->dict, id);
}

/* Behind the last "::". */
static struct str
short_name(struct str s)
{
	for (size_t i = s.len; i >= 2; i--)
		if (s.p[i - 1] == ':' && s.p[i - 2] == ':')
			return (struct str){ s.p + i, s.len - i };
	return s;
}

static uint32_t
joined(const struct namer *nm, struct str a, char with, struct str b)
{
	struct buf out = { 0 };
	uint32_t id;

	buf_put(&out, a.p, a.len);
	buf_putc(&out, with);
	buf_put(&out, b.p, b.len);
	id = intern_put(nm->d->dict->text, buf_str(&out));
	buf_free(&out);
	return id;
}

static uint32_t
without_blanks(const struct diff *d, struct str s)
{
	struct buf out = { 0 };
	uint32_t id;

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != ' ')
			buf_putc(&out, s.p[i]);
	id = intern_put(d->dict->text, buf_str(&out));
	buf_free(&out);
	return id;
}

/* One name for two ops, or INTERN_NONE. "root" would say nothing. */
static uint32_t
common_name(const struct namer *nm, uint32_t a, uint32_t b)
{
	struct str x = short_name(text_of(nm, a));
	struct str y = short_name(text_of(nm, b)), module;
	const uint64_t *p, *q;

	if (str_find(y, x, false) >= 0)
		return intern_put(nm->d->dict->text, x);
	if (str_find(x, y, false) >= 0)
		return intern_put(nm->d->dict->text, y);
	if (x.len >= SAME_START && y.len >= SAME_START &&
	    memcmp(x.p, y.p, SAME_START) == 0)
		return joined(nm, x, '/', y);
	p = map_get(&nm->module, a);
	q = map_get(&nm->module, b);
	if (p == NULL || q == NULL || *p == 0 || *p != *q)
		return INTERN_NONE;
	module = text_of(nm, (uint32_t)*p - 1);
	return str_eq(module, STR("root")) ? joined(nm, x, '|', y)
					   : without_blanks(nm->d, module);
}

static bool
unite(struct namer *nm, uint32_t a, uint32_t b)
{
	uint32_t name = a == b ? a : common_name(nm, a, b);

	if (name == INTERN_NONE)
		return false;
	if (a != b) {
		*map_put(nm->to, a, NULL) = name;
		*map_put(nm->to, b, NULL) = name;
	}
	return true;
}

/* ---- points ---- */

static bool
has(const u32s *list, uint32_t op)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == op)
			return true;
	return false;
}

/* What both sides have is left out; the rest takes the first that fits. */
static void
unite_some(struct namer *nm, const u32s ops[NSIDES])
{
	u32s rest = { 0 };

	for (size_t j = 0; j < ops[1].n; j++)
		if (!has(&ops[0], ops[1].v[j]))
			vec_push(&rest, ops[1].v[j]);
	for (size_t i = 0; i < ops[0].n; i++) {
		size_t j = has(&ops[1], ops[0].v[i]) ? rest.n : 0;

		while (j < rest.n &&
		    (rest.v[j] == INTERN_NONE ||
			!unite(nm, ops[0].v[i], rest.v[j])))
			j++;
		if (j < rest.n)
			rest.v[j] = INTERN_NONE;
	}
	vec_free(&rest);
}

/* Distinct ops of a point, by side, in order. */
static void
take_point(struct namer *nm, const u32s ops[NSIDES])
{
	bool all_visited = true;

	if (ops[0].n == 0 || ops[1].n == 0)
		return;
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < ops[s].n; i++) {
			bool is_new;

			(void)map_put(&nm->visited, ops[s].v[i], &is_new);
			all_visited = all_visited && !is_new;
		}
	if (all_visited)
		return;
	if (ops[0].n != ops[1].n) {
		unite_some(nm, ops);
		return;
	}
	for (size_t i = 0; i < ops[0].n; i++)
		(void)unite(nm, ops[0].v[i], ops[1].v[i]);
}

static uint32_t
op_of(const struct diff *d, const struct diff_row *s)
{
	return d->side[s->side]->nodes.v[s->op].name;
}

/* Each op's module, if it has one: on the last side that has the op. */
static void
find_modules(struct namer *nm)
{
	for (int side = 0; side < NSIDES; side++) {
		struct map seen = { 0 };

		for (size_t i = 0; i < nm->d->stats.n; i++) {
			const struct diff_row *s = &nm->d->stats.v[i];
			uint64_t module, *slot;
			bool is_new;

			if (s->op == NONE || s->side != side)
				continue;
			module = 1 +
			    (uint64_t)intern_put(
				nm->d->dict->text, module_parent(nm->d, s));
			(void)map_put(&seen, op_of(nm->d, s), &is_new);
			slot = map_put(&nm->module, op_of(nm->d, s), NULL);
			*slot = is_new || *slot == module ? module : 0;
		}
		map_free(&seen);
	}
}

/* Points as they come among the events, whatever their times. */
static int
by_first(const void *arg, const struct sink_groups *gs,
    const struct sink_group *a, const struct sink_group *b)
{
	uint32_t x = sink_group_member(gs, a, 0);
	uint32_t y = sink_group_member(gs, b, 0);

	(void)arg;
	return (x > y) - (x < y);
}

void
opmap_names(const struct diff *d, struct map *to)
{
	struct namer nm = { .d = d, .to = to };
	struct sink_groups points = { 0 };
	u32s ops[NSIDES] = { { 0 }, { 0 } };

	find_modules(&nm);
	for (size_t i = 0; i < d->stats.n; i++) {
		const uint64_t key[SINK_GROUP_WORDS] = { d->stats.v[i].lca };

		if (d->stats.v[i].lca == NONE || d->stats.v[i].op == NONE)
			sink_groups_skip(&points);
		else
			(void)sink_groups_add(&points, key);
	}
	sink_groups_finish(&points, by_first, NULL);
	for (size_t i = 0; i < points.list.n; i++) {
		const struct sink_group *g = &points.list.v[i];

		ops[0].n = ops[1].n = 0;
		for (size_t k = 0; k < g->n; k++) {
			const struct diff_row *s =
			    &d->stats.v[sink_group_member(&points, g, k)];

			if (!has(&ops[s->side], op_of(d, s)))
				vec_push(&ops[s->side], op_of(d, s));
		}
		take_point(&nm, ops);
	}
	vec_free(&ops[0]);
	vec_free(&ops[1]);
	sink_groups_free(&points);
	map_free(&nm.module);
	map_free(&nm.visited);
}

/* ---- the files ---- */

/* What is written: a text of an op on a side. */
struct entry_of {
	size_t place; /* of the op, as it first came; 0: by its name */
	struct str op;
	uint8_t side;
	uint8_t is_module; /* else a kernel */
	struct str text;
};

typedef VEC(struct entry_of) entries_list;

static int
by_list(const struct entry_of *a, const struct entry_of *b)
{
	int order;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	order = str_cmp(a->op, b->op);
	if (order != 0)
		return order;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->is_module > b->is_module) - (a->is_module < b->is_module);
}

static int
by_entry(const void *x, const void *y)
{
	const struct entry_of *a = x, *b = y;
	int order = by_list(a, b);

	return order != 0 ? order : str_cmp(a->text, b->text);
}

/* The texts of a list that begins at i, equal ones once; where it ends. */
static size_t
put_list(struct buf *b, const entries_list *l, size_t i)
{
	size_t first = i;

	buf_putc(b, '[');
	for (; i < l->n && by_list(&l->v[i], &l->v[first]) == 0; i++) {
		if (i > first && str_eq(l->v[i].text, l->v[i - 1].text))
			continue;
		if (i > first)
			buf_puts(b, ", ");
		json_put_string(b, l->v[i].text);
	}
	buf_putc(b, ']');
	return i;
}

/* Kernels and modules of an op on a side. */
static size_t
put_side(struct buf *b, const entries_list *l, size_t i)
{
	buf_puts(b, "{\"kernels\": ");
	i = put_list(b, l, i);
	buf_puts(b, ", \"nn_module_parents\": ");
	i = put_list(b, l, i);
	buf_putc(b, '}');
	return i;
}

/* Both sides of an op that have it. */
static size_t
put_sides(struct buf *b, const entries_list *l, size_t i)
{
	struct str op = l->v[i].op;
	bool any = false;

	buf_putc(b, '{');
	for (; i < l->n && str_eq(l->v[i].op, op); any = true) {
		buf_printf(b, "%s\"%s\": ", any ? ", " : "",
		    merged_words[l->v[i].side + 1]);
		i = put_side(b, l, i);
	}
	buf_putc(b, '}');
	return i;
}

/* A line for each op. */
static void
write_map(entries_list *l, const char *dir, const char *name,
    size_t (*put)(struct buf *b, const entries_list *l, size_t i))
{
	struct buf b = { 0 };
	struct out *out;

	buf_printf(&b, "%s/%s%c", dir, name, 0);
	out = out_open(b.p);
	if (l->n > 1)
		qsort(l->v, l->n, sizeof *l->v, by_entry);
	out_puts(out, "{");
	for (size_t i = 0; i < l->n;) {
		b.len = 0;
		buf_puts(&b, i > 0 ? ",\n  " : "\n  ");
		json_put_string(&b, l->v[i].op);
		buf_puts(&b, ": ");
		i = put(&b, l, i);
		out_str(out, buf_str(&b));
	}
	out_puts(out, l->n > 0 ? "\n}" : "}");
	out_finish(out);
	buf_free(&b);
	vec_free(l);
}

static struct entry_of
kernel_entry(const struct diff *d, const struct diff_row *s)
{
	return (struct entry_of){
		.op = dict_get(d->dict, op_of(d, s)),
		.side = s->side,
		.text =
		    dict_get(d->dict, d->side[s->side]->nodes.v[s->gpu].name),
	};
}

/* {op: [kernel, ...]} of one side, by name. */
static void
write_side(const struct diff *d, int side, const char *dir)
{
	entries_list l = { 0 };

	for (size_t i = 0; i < d->stats.n; i++)
		if (d->stats.v[i].op != NONE && d->stats.v[i].side == side)
			vec_push(&l, kernel_entry(d, &d->stats.v[i]));
	write_map(&l, dir,
	    side == 0 ? "cpu_op_map_trace1.json" : "cpu_op_map_trace2.json",
	    put_list);
}

/* {op: {side: {kernels, modules}}}, as the ops come in the summary. */
static void
write_both(const struct diff *d, const char *dir)
{
	struct sink_groups gs = { 0 };
	struct map to = { 0 }, places = { 0 };
	entries_list l = { 0 };

	rows_group(&gs, ROWS_ALIKE, d);
	opmap_names(d, &to);
	for (size_t i = 0; i < gs.list.n; i++) {
		const struct diff_row *s =
		    &d->stats.v[sink_group_member(&gs, &gs.list.v[i], 0)];
		const uint64_t *common = map_get(&to, op_of(d, s));
		uint32_t op = common != NULL ? (uint32_t)*common : op_of(d, s);
		struct entry_of e = kernel_entry(d, s);
		uint64_t *place;
		bool is_new;

		if (d->is_identical && s->side != 0)
			continue;
		place = map_put(&places, op, &is_new);
		if (is_new)
			*place = i + 1;
		e.place = *place;
		e.op = dict_get(d->dict, op);
		vec_push(&l, e);
		e.is_module = 1;
		e.text =
		    dict_get(d->dict, without_blanks(d, module_parent(d, s)));
		vec_push(&l, e);
	}
	write_map(
	    &l, dir, "cpu_op_map.json", d->is_identical ? put_side : put_sides);
	sink_groups_free(&gs);
	map_free(&to);
	map_free(&places);
}

void
opmap_write(const struct diff *d, const char *dir)
{
	for (int s = 0; s < NSIDES; s++)
		write_side(d, s, dir);
	write_both(d, dir);
}

/* SPDX-License-Identifier: MIT */
/*
 * Which op launches which kernels: a map of each side, and one of both in
 * which ops that do the same work have one name. Such ops are found at points
 * that both sides have: as many ops on each side are paired in order, else
 * each of one side with the first that has something in common with it.
 */
#include <stdlib.h>

#include "cmd/tl-diff/opmap.h"

#define SAME_START 20 /* characters that make two names one */

/* ---- what two names have in common ---- */

struct namer {
	const struct diff *d;
	struct map *to;
	struct map module; /* op to its only module + 1, or 0: several */
	struct map module_side;
	struct map visited;
};

static struct str
op_name(const struct namer *nm, uint32_t op)
{
	return strings_get(nm->d->strings, op);
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
intern_buf(const struct namer *nm, struct buf *b)
{
	uint32_t id = intern_put(nm->d->strings->text, buf_str(b));

	buf_free(b);
	return id;
}

/* The module's name without blanks, or INTERN_NONE. */
static uint32_t
common_module(const struct namer *nm, uint32_t a, uint32_t b)
{
	const uint64_t *x = map_get(&nm->module, a);
	const uint64_t *y = map_get(&nm->module, b);
	struct str s;
	struct buf out = { 0 };

	if (x == NULL || y == NULL || *x == 0 || *x != *y)
		return INTERN_NONE;
	s = op_name(nm, (uint32_t)*x - 1);
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != ' ')
			buf_putc(&out, s.p[i]);
	return intern_buf(nm, &out);
}

/* One name for two ops, or INTERN_NONE. "root" would say nothing. */
static uint32_t
common_name(const struct namer *nm, uint32_t a, uint32_t b)
{
	struct str x = short_name(op_name(nm, a));
	struct str y = short_name(op_name(nm, b));
	struct buf out = { 0 };
	uint32_t module;

	if (str_find(y, x, false) >= 0)
		return intern_put(nm->d->strings->text, x);
	if (str_find(x, y, false) >= 0)
		return intern_put(nm->d->strings->text, y);
	if (x.len >= SAME_START && y.len >= SAME_START &&
	    memcmp(x.p, y.p, SAME_START) == 0) {
		buf_put(&out, x.p, x.len);
		buf_putc(&out, '/');
		buf_put(&out, y.p, y.len);
		return intern_buf(nm, &out);
	}
	module = common_module(nm, a, b);
	if (module == INTERN_NONE || !str_eq(op_name(nm, module), STR("root")))
		return module;
	buf_put(&out, x.p, x.len);
	buf_putc(&out, '|');
	buf_put(&out, y.p, y.len);
	return intern_buf(nm, &out);
}

static bool
unite(struct namer *nm, uint32_t a, uint32_t b)
{
	uint32_t name;

	if (a == b)
		return true;
	name = common_name(nm, a, b);
	if (name == INTERN_NONE)
		return false;
	*map_put(nm->to, a, NULL) = name;
	*map_put(nm->to, b, NULL) = name;
	return true;
}

/* ---- points ---- */

/* Distinct ops of a point, by side, in order. */
struct point_ops {
	u32s ops[NSIDES];
};

static void
add_distinct(u32s *list, uint32_t op)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == op)
			return;
	vec_push(list, op);
}

static bool
all_visited(const struct namer *nm, const struct point_ops *p)
{
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < p->ops[s].n; i++)
			if (map_get(&nm->visited, p->ops[s].v[i]) == NULL)
				return false;
	return true;
}

static bool
has(const u32s *list, uint32_t op)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == op)
			return true;
	return false;
}

/* What both sides have goes; of the rest each takes the first that fits. */
static void
unite_some(struct namer *nm, const struct point_ops *p)
{
	u32s rest[NSIDES] = { { 0 }, { 0 } };

	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < p->ops[s].n; i++)
			if (!has(&p->ops[!s], p->ops[s].v[i]))
				vec_push(&rest[s], p->ops[s].v[i]);
	for (size_t i = 0; i < rest[0].n; i++)
		for (size_t j = 0; j < rest[1].n; j++) {
			if (rest[1].v[j] == INTERN_NONE ||
			    !unite(nm, rest[0].v[i], rest[1].v[j]))
				continue;
			rest[1].v[j] = INTERN_NONE;
			break;
		}
	vec_free(&rest[0]);
	vec_free(&rest[1]);
}

static void
take_point(struct namer *nm, const struct point_ops *p)
{
	if (p->ops[0].n == 0 || p->ops[1].n == 0 || all_visited(nm, p))
		return;
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < p->ops[s].n; i++)
			*map_put(&nm->visited, p->ops[s].v[i], NULL) = 1;
	if (p->ops[0].n != p->ops[1].n) {
		unite_some(nm, p);
		return;
	}
	for (size_t i = 0; i < p->ops[0].n; i++)
		(void)unite(nm, p->ops[0].v[i], p->ops[1].v[i]);
}

static uint32_t
op_of(const struct diff *d, const struct diff_row *s)
{
	return d->side[s->side]->nodes.v[s->op].name;
}

/* Each op's module, if it has one: on the last side that has the op. */
static void
find_modules(struct namer *nm, const struct unique *u)
{
	for (size_t i = 0; i < u->rows.n; i++) {
		const struct diff_row *s = &nm->d->stats.v[u->rows.v[i].stat];
		uint32_t op = op_of(nm->d, s);
		uint64_t module = 1 +
		    (uint64_t)intern_put(
			nm->d->strings->text, module_parent(nm->d, s));
		bool is_new;
		uint64_t *side = map_put(&nm->module_side, op, &is_new);
		uint64_t *slot = map_put(&nm->module, op, NULL);

		if (is_new || *side < s->side)
			*slot = module;
		else if (*side == s->side && *slot != module)
			*slot = 0;
		if (is_new || *side < s->side)
			*side = s->side;
	}
}

void
opmap_names(const struct diff *d, const struct unique *u, struct map *to)
{
	struct namer nm = { .d = d, .to = to };
	struct map place = { 0 };
	VEC(struct point_ops) points = { 0 };

	find_modules(&nm, u);
	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];
		bool is_new;
		uint64_t *slot;

		if (s->lca == NONE || s->op == NONE)
			continue;
		slot = map_put(&place, s->lca, &is_new);
		if (is_new) {
			*slot = points.n;
			*vec_add(&points) =
			    (struct point_ops){ { { 0 }, { 0 } } };
		}
		add_distinct(&points.v[*slot].ops[s->side], op_of(d, s));
	}
	for (size_t i = 0; i < points.n; i++) {
		take_point(&nm, &points.v[i]);
		vec_free(&points.v[i].ops[0]);
		vec_free(&points.v[i].ops[1]);
	}
	vec_free(&points);
	map_free(&place);
	map_free(&nm.module);
	map_free(&nm.module_side);
	map_free(&nm.visited);
}

/* ---- the files ---- */

/* What is written: a text of an op on a side. */
struct entry_of {
	uint32_t op;
	uint8_t side;
	uint8_t is_module; /* else a kernel */
	size_t place;      /* of the op, as it first came */
	struct str name, text;
};

typedef VEC(struct entry_of) entries_list;

static int
by_place(const void *x, const void *y)
{
	const struct entry_of *a = x, *b = y;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	if (a->is_module != b->is_module)
		return a->is_module ? 1 : -1;
	return str_cmp(a->text, b->text);
}

static int
by_name(const void *x, const void *y)
{
	const struct entry_of *a = x, *b = y;
	int order = str_cmp(a->name, b->name);

	return order != 0 ? order : str_cmp(a->text, b->text);
}

static void
put_quoted(struct out *out, struct str s)
{
	struct buf b = { 0 };

	json_string(&b, s);
	out_str(out, buf_str(&b));
	buf_free(&b);
}

/* Equal texts once; from i on while they are of one list. Where it ends. */
static size_t
put_list(struct out *out, const entries_list *l, size_t i, size_t end,
    const char *indent)
{
	out_puts(out, "[");
	for (size_t k = i; k < end; k++) {
		if (k > i && str_eq(l->v[k].text, l->v[k - 1].text))
			continue;
		out_printf(out, "%s\n%s  ", k > i ? "," : "", indent);
		put_quoted(out, l->v[k].text);
	}
	out_printf(out, "\n%s]", indent);
	return end;
}

static struct out *
open_file(const char *dir, const char *name)
{
	struct buf b = { 0 };
	struct out *out;

	buf_printf(&b, "%s/%s%c", dir, name, 0);
	out = out_open(b.p);
	buf_free(&b);
	return out;
}

/* {op: [kernel, ...]} of one side, by name. */
static void
write_side(
    const struct diff *d, const struct unique *u, int side, const char *dir)
{
	entries_list l = { 0 };
	struct out *out = open_file(dir,
	    side == 0 ? "cpu_op_map_trace1.json" : "cpu_op_map_trace2.json");

	for (size_t i = 0; i < u->rows.n; i++) {
		const struct diff_row *s = &d->stats.v[u->rows.v[i].stat];
		const struct run *r = d->side[s->side];

		if (s->side == side)
			vec_push(&l,
			    ((struct entry_of){
				.name = strings_get(d->strings, op_of(d, s)),
				.text = strings_get(
				    d->strings, r->nodes.v[s->gpu].name) }));
	}
	if (l.n > 1)
		qsort(l.v, l.n, sizeof *l.v, by_name);
	out_puts(out, "{");
	for (size_t i = 0, end; i < l.n; i = end) {
		for (end = i; end < l.n && str_eq(l.v[end].name, l.v[i].name);
		     end++)
			;
		out_puts(out, i > 0 ? ",\n  " : "\n  ");
		put_quoted(out, l.v[i].name);
		out_puts(out, ": ");
		put_list(out, &l, i, end, "  ");
	}
	out_puts(out, l.n > 0 ? "\n}" : "}");
	out_finish(out);
	vec_free(&l);
}

/* Kernels and modules of an op on a side. */
static size_t
put_side(struct out *out, const entries_list *l, size_t i, const char *indent)
{
	size_t place = l->v[i].place, end;
	uint8_t side = l->v[i].side;
	struct buf inner = { 0 };

	buf_printf(&inner, "%s  ", indent);
	buf_putc(&inner, 0);
	for (int m = 0; m < 2; m++) {
		for (end = i; end < l->n && l->v[end].place == place &&
		     l->v[end].side == side && l->v[end].is_module == m;
		     end++)
			;
		out_printf(out, "%s\n%s\"%s\": ", m > 0 ? "," : "", inner.p,
		    m == 0 ? "kernels" : "nn_module_parents");
		i = put_list(out, l, i, end, inner.p);
	}
	buf_free(&inner);
	out_printf(out, "\n%s", indent);
	return i;
}

static void
put_op(struct out *out, const entries_list *l, size_t i, size_t end,
    bool is_identical)
{
	bool first = true;

	put_quoted(out, l->v[i].name);
	out_puts(out, ": {");
	if (is_identical)
		i = put_side(out, l, i, "  ");
	for (; i < end; first = false) {
		out_printf(out, "%s\n    \"trace%d\": {", first ? "" : ",",
		    l->v[i].side + 1);
		i = put_side(out, l, i, "    ");
		out_puts(out, "}");
	}
	out_puts(out, is_identical ? "}" : "\n  }");
}

static struct str
without_blanks(const struct diff *d, struct str s)
{
	struct buf b = { 0 };
	uint32_t id;

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != ' ')
			buf_putc(&b, s.p[i]);
	id = intern_put(d->strings->text, buf_str(&b));
	buf_free(&b);
	return strings_get(d->strings, id);
}

/* {op: {side: {kernels, modules}}}, as the ops come in the summary. */
static void
write_both(const struct diff *d, const struct unique *u, const char *dir)
{
	struct map to = { 0 }, places = { 0 };
	entries_list l = { 0 };
	struct out *out = open_file(dir, "cpu_op_map.json");

	opmap_names(d, u, &to);
	for (size_t i = 0; i < u->rows.n; i++) {
		const struct diff_row *s = &d->stats.v[u->rows.v[i].stat];
		uint32_t op = op_of(d, s);
		const uint64_t *common = map_get(&to, op);
		struct entry_of e = { .side = s->side };
		bool is_new;
		uint64_t *place;

		if (d->is_identical && s->side != 0)
			continue;
		if (common != NULL)
			op = (uint32_t)*common;
		place = map_put(&places, op, &is_new);
		if (is_new)
			*place = i;
		e.op = op;
		e.place = *place;
		e.name = strings_get(d->strings, op);
		e.text = strings_get(
		    d->strings, d->side[s->side]->nodes.v[s->gpu].name);
		vec_push(&l, e);
		e.is_module = 1;
		e.text = without_blanks(d, module_parent(d, s));
		vec_push(&l, e);
	}
	if (l.n > 1)
		qsort(l.v, l.n, sizeof *l.v, by_place);
	out_puts(out, "{");
	for (size_t i = 0, end; i < l.n; i = end) {
		for (end = i; end < l.n && l.v[end].place == l.v[i].place;
		     end++)
			;
		out_puts(out, i > 0 ? ",\n  " : "\n  ");
		put_op(out, &l, i, end, d->is_identical);
	}
	out_puts(out, l.n > 0 ? "\n}" : "}");
	out_finish(out);
	vec_free(&l);
	map_free(&to);
	map_free(&places);
}

void
opmap_write(const struct diff *d, const char *dir)
{
	struct unique u = { { 0 } };

	unique_find(d, &u);
	unique_sort(d, &u);
	for (int s = 0; s < NSIDES; s++)
		write_side(d, &u, s, dir);
	write_both(d, &u, dir);
	vec_free(&u.rows);
}

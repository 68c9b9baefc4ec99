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
	struct map module; /* side and op to its only module + 1; 0: several */
	struct map visited;
};

static uint32_t
op_of(const struct diff *d, const struct diff_row *s)
{
	return d->side[s->side]->nodes.v[s->op].name;
}

/* Behind the last "::". */
static struct str
short_name(const struct diff *d, uint32_t id)
{
	struct str s = dict_get(d->dict, id);

	for (size_t i = s.len; i >= 2; i--)
		if (s.p[i - 1] == ':' && s.p[i - 2] == ':')
			return (struct str){ s.p + i, s.len - i };
	return s;
}

static uint32_t
joined(const struct diff *d, struct str a, char with, struct str b)
{
	struct buf out = { 0 };
	uint32_t id;

	buf_printf(&out, "%.*s%c%.*s", (int)a.len, a.p, with, (int)b.len, b.p);
	id = intern_put(d->dict->text, buf_str(&out));
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

/* An op's module, if it has one: on the last side that has the op. */
static uint64_t
module_of(const struct namer *nm, uint32_t op)
{
	for (uint64_t side = NSIDES; side-- > 0;) {
		const uint64_t *module = map_get(&nm->module, side << 32 | op);

		if (module != NULL)
			return *module;
	}
	return 0;
}

static void
find_modules(struct namer *nm)
{
	const struct diff *d = nm->d;

	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];
		uint64_t module, *slot;
		bool is_new;

		if (s->op == NONE)
			continue;
		module = 1 +
		    (uint64_t)intern_put(d->dict->text, module_parent(d, s));
		slot = map_put(&nm->module,
		    (uint64_t)s->side << 32 | op_of(d, s), &is_new);
		*slot = is_new || *slot == module ? module : 0;
	}
}

/* One name for two ops, or INTERN_NONE. "root" would say nothing. */
static uint32_t
common_name(const struct namer *nm, uint32_t a, uint32_t b)
{
	const struct diff *d = nm->d;
	struct str x = short_name(d, a), y = short_name(d, b), module;
	uint64_t only = module_of(nm, a);

	if (str_find(y, x, false) >= 0)
		return intern_put(d->dict->text, x);
	if (str_find(x, y, false) >= 0)
		return intern_put(d->dict->text, y);
	if (x.len >= SAME_START && y.len >= SAME_START &&
	    memcmp(x.p, y.p, SAME_START) == 0)
		return joined(d, x, '/', y);
	if (only == 0 || only != module_of(nm, b))
		return INTERN_NONE;
	module = dict_get(d->dict, (uint32_t)only - 1);
	return str_eq(module, STR("root")) ? joined(d, x, '|', y)
					   : without_blanks(d, module);
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
unite_point(struct namer *nm, const u32s ops[NSIDES])
{
	bool is_visited = true, is_new;

	if (ops[0].n == 0 || ops[1].n == 0)
		return;
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < ops[s].n; i++) {
			(void)map_put(&nm->visited, ops[s].v[i], &is_new);
			is_visited = is_visited && !is_new;
		}
	if (is_visited)
		return;
	if (ops[0].n != ops[1].n)
		unite_some(nm, ops);
	else
		for (size_t i = 0; i < ops[0].n; i++)
			(void)unite(nm, ops[0].v[i], ops[1].v[i]);
}

/* Rows of a point that both sides have stand together. */
void
opmap_names(const struct diff *d, struct map *to)
{
	struct namer nm = { .d = d, .to = to };
	u32s ops[NSIDES] = { { 0 }, { 0 } };

	find_modules(&nm);
	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (i > 0 && s->lca != s[-1].lca) {
			unite_point(&nm, ops);
			ops[0].n = ops[1].n = 0;
		}
		if (s->lca != NONE && s->op != NONE &&
		    !has(&ops[s->side], op_of(d, s)))
			vec_push(&ops[s->side], op_of(d, s));
	}
	unite_point(&nm, ops);
	vec_free(&ops[0]);
	vec_free(&ops[1]);
	map_free(&nm.module);
	map_free(&nm.visited);
}

/* ---- the files ---- */

/* A text of a list in objects in objects. */
struct listed {
	size_t place;       /* of the op, as it first came; 0: by its name */
	struct str path[3]; /* the list's: keys; the first is the op */
	struct str text;
};

struct lists {
	VEC(struct listed) list;
	size_t depth; /* keys of a path */
};

/* How many keys both begin with. */
static size_t
common_depth(
    const struct lists *l, const struct listed *a, const struct listed *b)
{
	size_t n = 0;

	while (n < l->depth && str_eq(a->path[n], b->path[n]))
		n++;
	return n;
}

static int
by_entry(const void *x, const void *y, void *arg)
{
	const struct listed *a = x, *b = y;
	const struct lists *l = arg;
	size_t n = common_depth(l, a, b);

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return n < l->depth ? str_cmp(a->path[n], b->path[n])
			    : str_cmp(a->text, b->text);
}

/* Ends n objects, or a list and all but one of them. */
static void
close_objects(struct buf *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(b, i == 0 ? ']' : '}');
}

/* An op a line, equal texts of a list once. */
static void
put_entries(const struct lists *l, struct buf *b)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct listed *e = &l->list.v[i];
		size_t depth = i > 0 ? common_depth(l, e, e - 1) : 0;

		if (depth == l->depth && str_eq(e->text, e[-1].text))
			continue;
		if (i > 0) {
			close_objects(b, l->depth - depth);
			buf_puts(b, depth > 0 ? ", " : ",");
		}
		if (depth == 0)
			buf_puts(b, "\n  ");
		for (; depth < l->depth; depth++) {
			json_put_string(b, e->path[depth]);
			buf_puts(b, depth + 1 < l->depth ? ": {" : ": [");
		}
		json_put_string(b, e->text);
	}
	if (l->list.n > 0) {
		close_objects(b, l->depth);
		buf_putc(b, '\n');
	}
}

static void
write_entries(struct lists *l, const char *dir, const char *name)
{
	struct buf b = { 0 };
	struct out *out;

	buf_printf(&b, "%s/%s%c", dir, name, 0);
	out = out_open(b.p);
	b.len = 0;
	if (l->list.n > 1)
		qsort_r(l->list.v, l->list.n, sizeof *l->list.v, by_entry, l);
	buf_putc(&b, '{');
	put_entries(l, &b);
	buf_putc(&b, '}');
	out_str(out, buf_str(&b));
	out_finish(out);
	buf_free(&b);
	vec_free(&l->list);
}

static struct str
kernel_name(const struct diff *d, const struct diff_row *s)
{
	return dict_get(d->dict, d->side[s->side]->nodes.v[s->gpu].name);
}

/* {op: [kernel, ...]} of one side, by name. */
static void
write_side(const struct diff *d, int side, const char *dir)
{
	struct lists l = { .depth = 1 };

	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *s = &d->stats.v[i];

		if (s->op != NONE && s->side == side)
			vec_push(&l.list,
			    ((struct listed){ 0,
				{ dict_get(d->dict, op_of(d, s)) },
				kernel_name(d, s) }));
	}
	write_entries(&l, dir,
	    side == 0 ? "cpu_op_map_trace1.json" : "cpu_op_map_trace2.json");
}

/*
 * {op: {side: {kernels, modules}}}, as the ops come in the summary; of
 * identical traces {op: {kernels, modules}}.
 */
static void
write_both(const struct diff *d, const char *dir)
{
	struct sink_groups gs = { 0 };
	struct map to = { 0 }, places = { 0 };
	struct lists l = { .depth = d->is_identical ? 2 : 3 };

	rows_group(&gs, ROWS_ALIKE, d);
	opmap_names(d, &to);
	for (size_t i = 0; i < gs.list.n; i++) {
		const struct diff_row *s =
		    &d->stats.v[sink_group_member(&gs, &gs.list.v[i], 0)];
		const uint64_t *common = map_get(&to, op_of(d, s));
		uint32_t op = common != NULL ? (uint32_t)*common : op_of(d, s);
		struct listed e = { .text = kernel_name(d, s) };
		uint64_t *place;
		bool is_new;

		if (d->is_identical && s->side != 0)
			continue;
		place = map_put(&places, op, &is_new);
		if (is_new)
			*place = i + 1;
		e.place = *place;
		e.path[0] = dict_get(d->dict, op);
		e.path[1] = str_of(merged_words[s->side + 1]);
		e.path[l.depth - 1] = STR("kernels");
		vec_push(&l.list, e);
		e.path[l.depth - 1] = STR("nn_module_parents");
		e.text =
		    dict_get(d->dict, without_blanks(d, module_parent(d, s)));
		vec_push(&l.list, e);
	}
	write_entries(&l, dir, "cpu_op_map.json");
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

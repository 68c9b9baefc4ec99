/* SPDX-License-Identifier: MIT */
/*
 * Facts of ops: time lost to the roofline by category, bound, library and
 * percent reached; ops without a roofline; figures that look wrong.
 */
#include <math.h>

#include "base/hash.h"
#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

#define ABOVE 110 /* percent of the roof: above, it is no noise */
#define BLOCKED 5 /* host time of an op, in kernel times */

/* Ops with the same reason of loss. */
struct op_group {
	const struct op_row *most; /* the longest */
	int64_t ns, rows, calls, most_ns;
	int64_t ops;       /* distinct, over ranks */
	int64_t kernel_ns; /* kernel time of the category: for host_blocked */
	double gain_ns;
	double others_ns; /* that gain on other ranks */
	VEC(struct str) uids;
};

struct groups {
	struct intern *keys;
	VEC(struct op_group) list; /* in the order of keys */
	struct intern *members;    /* pairs of group and op */
};

/* Groups by roof, by name without one, by category for host_blocked. */
struct compute {
	struct groups modelled, unmodelled, in_graphs, host, above;
	/* of elementwise ops with a roofline */
	double elementwise_lost_ns;
	int64_t elementwise_ns;
};

/* ---- libraries ---- */

static bool
is_of_library(const struct library *l, struct str op, struct str kernels)
{
	for (size_t i = 0; i < l->like.n; i++)
		if (str_find(l->of_op ? op : kernels, l->like.v[i], false) >= 0)
			return true;
	return false;
}

static struct str
library_of(const struct advice *a, struct str op, struct str kernels)
{
	for (size_t of_op = 1; of_op <= 1; of_op--)
		for (size_t i = 0; i < a->rules.libraries.n; i++) {
			const struct library *l = &a->rules.libraries.v[i];

			if (l->of_op == (of_op == 1) &&
			    is_of_library(l, op, kernels))
				return l->name;
		}
	return STR("");
}

/* ---- groups ---- */

/* Finds or adds the group; the key is emptied. */
static struct op_group *
group_of(struct groups *all, struct buf *key)
{
	uint32_t id;

	if (all->keys == NULL) {
		all->keys = intern_create();
		all->members = intern_create();
	}
	id = intern_put(all->keys, buf_str(key));
	key->len = 0;
	if (id == all->list.n)
		vec_push(&all->list, (struct op_group){ 0 });
	return &all->list.v[id];
}

static void
add_op(
    struct groups *all, struct op_group *g, const struct op_row *o, int64_t ns)
{
	const uint32_t member[] = { (uint32_t)(g - all->list.v), o->same };
	struct str s = { (const char *)member, sizeof member };
	size_t before = all->members->list.n;

	(void)intern_put(all->members, s);
	g->ops += all->members->list.n > before;
	stat_add(&g->ns, ns);
	g->rows++;
	g->calls += o->count;
	if (o->uid.len > 0 && g->uids.n < UIDS_SHOWN)
		vec_push(&g->uids, o->uid);
	if (g->most == NULL || ns > g->most_ns) {
		g->most = o;
		g->most_ns = ns;
	}
}

static struct cell
uids_cell(struct advice *a, const struct op_group *g)
{
	struct buf b = { 0 };
	struct cell c;

	for (size_t i = 0; i < g->uids.n; i++)
		uids_put(&b, g->uids.v[i], i);
	if (g->uids.n > 0)
		buf_putc(&b, ']');
	c = cell_text(arena_str(a->mem, buf_str(&b)));
	buf_free(&b);
	return c;
}

static void
groups_free(struct groups *all)
{
	if (all->keys != NULL) {
		intern_destroy(all->keys);
		intern_destroy(all->members);
	}
	for (size_t i = 0; i < all->list.n; i++)
		vec_free(&all->list.v[i].uids);
	vec_free(&all->list);
}

/* ---- rows ---- */

/* Communication without a category, which has its own finding. */
static bool
is_communication(struct str category, struct str name)
{
	static const char *const words[] = { "all_reduce", "collective",
		"ncclkernel", "nccldev", "rccl", "broadcast", "allgather" };

	if (str_eq(category, STR("communication")) ||
	    str_eq(category, STR("memcpy")) ||
	    str_eq(category, STR("record_param_comms")))
		return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(category, STR("other")) &&
		    str_find(name, str_of(words[i]), true) >= 0)
			return true;
	return false;
}

static struct str
bound_word(struct str bound)
{
	return str_starts(bound, STR("COMPUTE")) ? STR("compute")
	    : str_starts(bound, STR("MEMORY"))   ? STR("memory")
	    : str_starts(bound, STR("LINK"))     ? STR("link")
						 : STR("");
}

static int
band_of(double percent)
{
	return percent < 30 ? 0 : percent < 60 ? 30 : 60;
}

/* The longest kernel in a cell's list. */
static struct str
kernel_of(struct advice *a, struct str details)
{
	json_items list = { 0 }, one = { 0 };
	struct str name = STR("");

	if (json_split(&list, a->mem, details) && list.n > 0 &&
	    json_split(&one, a->mem, list.v[0].text))
		name = json_member_text(&one, STR("name"));
	vec_free(&list);
	vec_free(&one);
	return name;
}

/* "(15360, 4096) c10::BFloat16" for each tensor argument. */
static struct str
args_of(struct advice *a, const struct line *l)
{
	json_items dims = { 0 }, types = { 0 }, shape = { 0 };
	struct buf b = { 0 };
	struct str s;

	if (!json_split(&dims, a->mem, line_text(l, "input_dims")) ||
	    !json_split(&types, a->mem, line_text(l, "input_types")))
		dims.n = 0;
	for (size_t i = 0; i < dims.n && i < types.n; i++) {
		if (!json_split(&shape, a->mem, dims.v[i].text) ||
		    shape.n == 0 || shape.v[0].type == JSON_T_ARRAY)
			continue;
		buf_puts(&b, b.len > 0 ? "; (" : "(");
		for (size_t k = 0; k < shape.n; k++)
			buf_printf(&b, "%s%.*s", k > 0 ? ", " : "",
			    (int)shape.v[k].text.len, shape.v[k].text.p);
		buf_printf(
		    &b, ") %.*s", (int)types.v[i].text.len, types.v[i].text.p);
	}
	s = arena_str(a->mem, buf_str(&b));
	vec_free(&dims);
	vec_free(&types);
	vec_free(&shape);
	buf_free(&b);
	return s;
}

/*
 * Percent of the roof that a row's time reaches; -1: no model. A mean over
 * calls, all that other tools' tables have, is too high where short calls do
 * better than long ones.
 */
static double
reached_of(const struct line *l)
{
	double ns = line_real(l, "kernel_ns_sum");

	if (line_lacks(l, "pct_roofline_mean"))
		return -1;
	if (line_lacks(l, "lost_ns") || ns <= 0)
		return line_real(l, "pct_roofline_mean");
	return 100 * (1 - line_real(l, "lost_ns") / ns);
}

void
compute_take_op(struct advice *a, const struct line *l)
{
	struct str name = line_text(l, "name");
	struct str category = line_text(l, "op_category");
	struct str kernels = line_text(l, "kernel_details_summary");
	struct op_row *o;

	category = category.len > 0 ? category : STR("other");
	if (is_communication(category, name))
		return;
	o = vec_add(&a->ops);
	*o = (struct op_row){
		.label = arena_str(a->mem, budget_label(l)),
		.name = arena_str(a->mem, name),
		.category = arena_str(a->mem, category),
		.args = args_of(a, l),
		.kernel = kernel_of(a, kernels),
		.library = library_of(a, name, kernels),
		.bound = bound_word(line_text(l, "roofline_bound")),
		.roof = arena_str(a->mem, line_text(l, "roof")),
		.above = arena_str(a->mem, line_text(l, "above_roof")),
		.ns = line_int(l, "kernel_ns_sum"),
		.mean_ns = line_real(l, "kernel_ns_mean"),
		.std_ns = line_real(l, "kernel_ns_std"),
		.host_ns = line_int(l, "host_ns_sum"),
		.host_most_ns = line_int(l, "host_ns_max"),
		.count = line_int(l, "operation_count"),
		.uid = arena_str(a->mem, line_text(l, "first_uid")),
		.flop_per_byte = line_lacks(l, "flop_per_byte")
		    ? -1
		    : line_real(l, "flop_per_byte"),
		.reached = reached_of(l),
	};
	details_take_op(a, o, l);
}

void
compute_take_category(struct advice *a, const struct line *l)
{
	struct str name = line_text(l, "op_category");
	struct category *to = NULL;

	for (size_t i = 0; i < a->categories.n && to == NULL; i++)
		if (str_eq(a->categories.v[i].name, name))
			to = &a->categories.v[i];
	if (to == NULL) {
		to = vec_add(&a->categories);
		*to = (struct category){ .name = arena_str(a->mem, name) };
	}
	stat_add(&to->ns, line_int(l, "direct_ns_sum"));
	to->ops += line_int(l, "count");
}

/* ---- which belong together ---- */

static bool
has_roof(const struct op_row *o)
{
	return o->reached >= 0 && o->reached <= ABOVE;
}

/*
 * A launch outside ops: each row of its kernels has the call's whole host time,
 * as many times as it launched kernels.
 */
static bool
is_synthetic(const struct op_row *o)
{
	return str_ends(o->name, STR(" (Synthetic Op)"));
}

/* A kernel of a graph: its op is known to the capture only. */
static bool
is_replayed(const struct op_row *o)
{
	return is_synthetic(o) &&
	    str_find(o->name, STR("GraphLaunch->"), false) >= 0;
}

static void
put_modelled_key(struct buf *key, const struct op_row *o)
{
	buf_printf(key, "%.*s\n%.*s\n%.*s\n%.*s\n%d", (int)o->category.len,
	    o->category.p, (int)o->bound.len, o->bound.p, (int)o->library.len,
	    o->library.p, (int)o->roof.len, o->roof.p, band_of(o->reached));
}

/* An op above the roof for a known reason does not hide one without. */
static void
put_above_key(struct buf *key, const struct op_row *o)
{
	buf_printf(key, "%.*s\n%.*s", (int)o->category.len, o->category.p,
	    (int)o->above.len, o->above.p);
}

static double
lost_of(const struct op_row *o)
{
	return fmax(0, 1 - o->reached / 100) * (double)o->ns;
}

/* The gain on other ranks than the late one. */
static void
group_other(struct compute *c, const struct op_row *o, struct buf *key)
{
	if (!has_roof(o))
		return;
	put_modelled_key(key, o);
	group_of(&c->modelled, key)->others_ns += lost_of(o);
}

static void
group_op(struct compute *c, const struct op_row *o, struct buf *key)
{
	struct op_group *g;

	buf_printf(key, "%.*s", (int)o->category.len, o->category.p);
	g = group_of(&c->host, key);
	stat_add(&g->kernel_ns, o->ns);
	if (!is_synthetic(o) && o->host_ns / BLOCKED > o->ns)
		add_op(&c->host, g, o, o->host_ns - o->ns);
	if (o->reached > ABOVE) {
		put_above_key(key, o);
		g = group_of(&c->above, key);
		add_op(&c->above, g, o, o->ns);
	}
	if (str_eq(o->bound, STR("link"))) /* findings on copies are about it */
		return;
	if (!has_roof(o)) {
		struct groups *to =
		    is_replayed(o) ? &c->in_graphs : &c->unmodelled;

		if (to == &c->unmodelled)
			buf_printf(key, "%.*s", (int)o->name.len, o->name.p);
		add_op(to, group_of(to, key), o, o->ns);
		return;
	}
	put_modelled_key(key, o);
	g = group_of(&c->modelled, key);
	g->gain_ns += lost_of(o);
	if (str_find(o->category, STR("elementwise"), true) >= 0) {
		c->elementwise_lost_ns += lost_of(o);
		stat_add(&c->elementwise_ns, o->ns);
	}
	add_op(&c->modelled, g, o, o->ns);
}

/* ---- shares ---- */

/*
 * Op time; GPUs and GPU streams that work at once add up to more than wall
 * time.
 */
int64_t
advice_ops_ns(const struct advice *a)
{
	int64_t ns = 0;

	for (size_t i = 0; i < a->categories.n; i++)
		stat_add(&ns, a->categories.v[i].ns);
	return ns;
}

/* The time, or op time if that is more. */
int64_t
advice_ops_whole(const struct advice *a)
{
	int64_t ns = advice_ops_ns(a) / a->nsources;

	return ns > a->total_ns ? ns : a->total_ns;
}

/* ---- facts ---- */

static void
put_group(struct advice *a, struct facts *f, const struct op_group *g,
    struct str category)
{
	int64_t n = late_sources(a);

	fact_put(f, "category", cell_text(category));
	fact_put(f, "name", cell_text(g->most->name));
	fact_put(f, "rows", cell_int(g->ops));
	if (g->calls > 0) /* not in every tool's tables */
		put_mean(f, "calls", g->calls, n);
	late_put(f, a);
	fact_put(f, "ns", cell_int(g->ns / n));
	fact_share(f, "percent", g->ns / n, advice_ops_whole(a));
	fact_put(f, "uid", uids_cell(a, g));
}

static void
put_modelled(struct advice *a, const struct compute *c,
    const struct op_group *g, size_t number)
{
	struct facts f;
	const struct op_row *o = g->most;
	int64_t n = late_sources(a), gain_ns;

	if (g->rows == 0)
		return;
	f = facts_made(a, "compute");
	gain_ns = late_gain(a, llround(g->gain_ns / (double)n),
	    late_others(a, llround(g->others_ns)));
	facts_pass(&f, a, g->ns);
	put_group(a, &f, g, o->category);
	fact_put(&f, "part", cell_int((int64_t)number));
	fact_put(&f, "bound", cell_text(o->bound));
	fact_put(&f, "library", cell_text(o->library));
	fact_put(&f, "roof", cell_text(o->roof));
	fact_put(&f, "band", cell_int(band_of(o->reached)));
	fact_put(
	    &f, "pct_roof", cell_real(100 * (1 - g->gain_ns / (double)g->ns)));
	fact_put(&f, "gain_ns", cell_int(gain_ns));
	fact_put(&f, "kernel", cell_text(o->kernel));
	if (c->elementwise_ns > 0)
		fact_put(&f, "elementwise_pct",
		    cell_real(100 *
			(1 -
			    c->elementwise_lost_ns /
				(double)c->elementwise_ns)));
	fact_put(
	    &f, "is_peak", cell_bool(!str_ends(o->roof, STR("achievable"))));
	advice_take(a, &f, g->rows);
	vec_free(&f.list);
}

static void
put_unmodelled(struct advice *a, const char *table, const struct op_group *g,
    size_t number)
{
	struct facts f = facts_made(a, table);

	put_group(a, &f, g, g->most->category);
	fact_put(&f, "part", cell_int((int64_t)number));
	fact_share(&f, "pct_of_ops", g->ns, advice_ops_ns(a));
	advice_take(a, &f, g->rows);
	vec_free(&f.list);
}

static void
put_host_part(struct advice *a, const struct op_group *g)
{
	struct facts f;

	if (g->rows == 0)
		return;
	f = facts_made(a, "host_blocked");
	put_group(a, &f, g, g->most->category);
	fact_put(&f, "kernel_ns", cell_int(g->kernel_ns / late_sources(a)));
	fact_share(&f, "pct_of_kernels", g->ns, g->kernel_ns);
	/* a single call is no habit */
	if (g->most->host_most_ns > g->ns / 2)
		fact_put(&f, "longest_ns", cell_int(g->most->host_most_ns));
	advice_take(a, &f, g->rows);
	vec_free(&f.list);
}

/* Above the roof: a figure is wrong. */
static void
put_above(struct advice *a, const struct groups *all)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct facts f = facts_made(a, "above_roof");
		const struct op_group *g = &all->list.v[i];

		put_group(a, &f, g, g->most->category);
		fact_put(&f, "pct_roof", cell_real(g->most->reached));
		fact_put(&f, "roof", cell_text(g->most->roof));
		fact_put(&f, "why", cell_text(g->most->above));
		advice_take(a, &f, g->rows);
		vec_free(&f.list);
	}
}

static void
put_spread(struct advice *a, const struct op_row *o)
{
	struct facts f;

	if (!(o->mean_ns > 0))
		return;
	f = facts_made(a, "spread");
	late_put_one(&f, a, o->label);
	fact_put(&f, "name", cell_text(o->name));
	fact_put(&f, "count", cell_int(o->count));
	fact_put(&f, "ns", cell_int(o->ns));
	fact_share(&f, "percent", o->ns, advice_ops_whole(a));
	fact_put(&f, "mean_ns", cell_real(o->mean_ns));
	fact_put(&f, "std_ns", cell_real(o->std_ns));
	fact_put(&f, "ratio", cell_real(o->std_ns / o->mean_ns));
	fact_put(&f, "uid", cell_text(o->uid));
	advice_take(a, &f, 1);
	vec_free(&f.list);
}

static void
put_coverage(struct advice *a)
{
	struct facts f;
	int64_t ns = advice_ops_ns(a);

	if (a->categories.n == 0)
		return;
	f = facts_made(a, "coverage");
	fact_put(&f, "ops_ns", cell_int(ns / a->nsources));
	fact_put(&f, "compute_ns", cell_int(a->compute_ns));
	fact_share(&f, "percent", ns, a->compute_ns * a->nsources);
	advice_take(a, &f, (int64_t)a->categories.n);
	vec_free(&f.list);
}

static int
by_ns(const void *pa, const void *pb)
{
	const struct category *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return str_cmp(a->name, b->name);
}

void
compute_advise(struct advice *a)
{
	struct compute c = { 0 };
	struct buf key = { 0 };

	late_find_ops(a);
	for (size_t i = 0; i < a->ops.n; i++) {
		const struct op_row *o = &a->ops.v[i];

		if (!late_counts(a, o->label)) {
			group_other(&c, o, &key);
			continue;
		}
		group_op(&c, o, &key);
		if (o->is_shown)
			put_spread(a, o);
	}
	for (size_t i = 0; i < c.modelled.list.n; i++)
		put_modelled(a, &c, &c.modelled.list.v[i], i + 1);
	for (size_t i = 0; i < c.unmodelled.list.n; i++)
		put_unmodelled(a, "no_roof", &c.unmodelled.list.v[i], i + 1);
	for (size_t i = 0; i < c.in_graphs.list.n; i++)
		put_unmodelled(a, "in_graphs", &c.in_graphs.list.v[i], i + 1);
	for (size_t i = 0; i < c.host.list.n; i++)
		put_host_part(a, &c.host.list.v[i]);
	put_above(a, &c.above);
	put_coverage(a);
	stable_sort(
	    a->categories.v, a->categories.n, sizeof *a->categories.v, by_ns);
	groups_free(&c.modelled);
	groups_free(&c.unmodelled);
	groups_free(&c.in_graphs);
	groups_free(&c.host);
	groups_free(&c.above);
	buf_free(&key);
}

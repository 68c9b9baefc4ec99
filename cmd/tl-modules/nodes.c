/* SPDX-License-Identifier: MIT */
/*
 * What is shown of the modules: from which ones on, how deep, above which
 * time; each call by itself, or folded. Folded, the calls below one node whose
 * modules have one type are one node, and what is below them goes on so.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-modules/modules.h"
#include "trace/stat.h"

/* ---- names ---- */

struct str
module_name(struct str name)
{
	static const struct str prefix = STR_INIT("nn.Module: ");

	if (str_starts(name, prefix)) {
		name.p += prefix.len;
		name.len -= prefix.len;
	}
	return name;
}

/* Length of "_12" at the end, or 0. */
static size_t
suffix_len(struct str name)
{
	size_t n = name.len;

	while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n < name.len && n > 1 && name.p[n - 1] == '_' ? name.len - n + 1
							     : 0;
}

struct str
module_type(struct str name)
{
	name = module_name(name);
	name.len -= suffix_len(name);
	return name;
}

struct str
module_instance(struct str name)
{
	size_t n;

	name = module_name(name);
	n = suffix_len(name);
	return n > 0 ? (struct str){ name.p + name.len - n + 1, n - 1 }
		     : (struct str){ "", 0 };
}

/* ---- where to begin ---- */

static bool
is_root(const struct modules *m, const struct settings *set,
    const struct module *mod)
{
	struct str name = dict_get(m->dict, mod->name);

	if (set->roots.n == 0)
		return mod->up == 0;
	for (size_t i = 0; i < set->roots.n; i++) {
		struct str text = str_of(set->roots.v[i]);
		struct uid_pick pick;
		bool matches = uid_pick_read(text, &pick)
		    ? uid_is_picked(
			  &pick, m->sources.list.v[mod->source].no, mod->uid)
		    : str_glob(text, name) || str_glob(text, module_name(name));

		if (matches)
			return true;
	}
	return false;
}

/* ---- making nodes ---- */

#define NO_NODE UINT32_MAX /* a module below one that is shown, not shown */

struct maker {
	const struct modules *m;
	const struct settings *set;
	VEC(struct node) list; /* nodes, those above first */
	uint32_t *node_of;     /* by module: number from 1, 0, NO_NODE */
	uint32_t *level_of;    /* by module that has a node */
	struct map roots, below, names; /* folded: what there is already */
	struct map nones;               /* names of ops, by node */
};

static struct node *
add_node(struct maker *k, uint32_t module, uint32_t up)
{
	struct node *node = vec_add(&k->list);

	*node = (struct node){
		.type = NODE_MODULE,
		.source = k->m->list.v[module].source,
		.up = up,
		.level = up > 0 ? k->list.v[up - 1].level + 1 : 0,
		.first = module,
		.is_fold = k->set->fold,
		.min_ns = INT64_MAX,
		.max_ns = INT64_MIN,
		.non_module_ns = NO_TIME,
		.bwd_ns = NO_TIME,
	};
	return node;
}

/* The node of a module in its place, made when missing. */
static uint32_t
node_for(struct maker *k, uint32_t module, uint32_t up)
{
	const struct module *mod = &k->m->list.v[module];
	uint64_t *slot;
	uint32_t type;
	bool is_new;

	if (!k->set->fold) {
		(void)add_node(k, module, up);
		return (uint32_t)k->list.n;
	}
	type = intern_put(
	    k->m->dict->text, module_type(dict_get(k->m->dict, mod->name)));
	slot = up > 0
	    ? map_put(&k->below, (uint64_t)up << 32 | type, &is_new)
	    : map_put(&k->roots, (uint64_t)mod->source << 32 | type, &is_new);
	if (is_new) {
		(void)add_node(k, module, up);
		*slot = k->list.n;
	}
	return (uint32_t)*slot;
}

static void
add_time(int64_t *sum, int64_t ns)
{
	if (*sum == NO_TIME)
		*sum = 0;
	stat_add(sum, ns);
}

/* number: the node's, by which names are told once. */
static void
add_flops(struct maker *k, struct nodes *n, struct node *node, uint32_t number,
    const struct flops *f)
{
	node->flops.flops += f->flops;
	node->flops.bytes += f->bytes;
	node->flops.nops += f->nops;
	stat_add(&node->flops.known_ns, f->known_ns);
	for (size_t i = 0; i < f->nnone; i++) {
		uint32_t name = k->m->no_model.v[f->first_none + i];
		bool is_new;

		(void)map_put(
		    &k->nones, (uint64_t)number << 32 | name, &is_new);
		if (!is_new)
			continue;
		vec_push(&n->nones, ((struct no_model){ name, node->none }));
		node->none = (uint32_t)n->nones.n;
	}
}

static void
add_call(struct maker *k, struct nodes *n, uint32_t number, uint32_t i)
{
	const struct module *mod = &k->m->list.v[i];
	struct node *node = &k->list.v[number - 1];
	bool is_new = true;

	if (k->set->fold)
		(void)map_put(
		    &k->names, (uint64_t)number << 32 | mod->name, &is_new);
	node->calls++;
	node->instances += is_new;
	stat_add(&node->sum_ns, mod->gpu_ns);
	stat_add(&node->self_ns, mod->self_ns);
	if (mod->gpu_ns < node->min_ns)
		node->min_ns = mod->gpu_ns;
	if (mod->gpu_ns > node->max_ns)
		node->max_ns = mod->gpu_ns;
	if (mod->has_below) {
		node->has_below = true;
		add_time(&node->non_module_ns, mod->self_ns);
	}
	if (mod->bwd_ns != NO_TIME)
		add_time(&node->bwd_ns, mod->bwd_ns);
	node->kernels += mod->kernels;
	if (i < k->m->flops.n)
		add_flops(k, n, node, number, &k->m->flops.v[i]);
}

static void
place_module(struct maker *k, struct nodes *n, uint32_t i)
{
	const struct module *mod = &k->m->list.v[i];
	uint32_t up = mod->up > 0 ? k->node_of[mod->up - 1] : 0;

	k->node_of[i] = up;
	if (!k->m->sources.list.v[mod->source].is_asked || !mod->is_asked)
		return;
	if (up == 0 && !is_root(k->m, k->set, mod))
		return;
	n->nfound++;
	if (up == NO_NODE)
		return;
	k->level_of[i] = up > 0 ? k->level_of[mod->up - 1] + 1 : 0;
	if (k->set->depth > 0 && k->level_of[i] >= k->set->depth) {
		k->node_of[i] = NO_NODE;
		return;
	}
	k->node_of[i] = node_for(k, i, k->set->by_type ? 0 : up);
	add_call(k, n, k->node_of[i], i);
}

/* ---- order ---- */

static double
share(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

static void
add_outside(struct nodes *n, struct maker *k, uint32_t source)
{
	const struct whole *w = &k->m->wholes.v[source];

	if (k->set->roots.n > 0 || w->nasked == 0 || w->outside_ns == 0 ||
	    w->outside_ns < k->set->min_ns ||
	    share(w->outside_ns, w->busy_ns) < k->set->min_pct ||
	    !k->m->sources.list.v[source].is_asked)
		return;
	vec_push(&n->list,
	    ((struct node){
		.type = NODE_OUTSIDE,
		.source = source,
		.sum_ns = w->outside_ns,
		.self_ns = w->outside_ns,
		.non_module_ns = NO_TIME,
		.bwd_ns = NO_TIME,
		.kernels = w->outside_kernels,
	    }));
	add_flops(
	    k, n, &n->list.v[n->list.n - 1], UINT32_MAX - source, &w->outside);
}

/* Siblings in a list, and where the last one of each parent is. */
struct links {
	uint32_t first, last, next;
};

/* Of its parent, or of all the GPU did. */
static bool
is_large(const struct maker *k, const struct node *node)
{
	int64_t whole = node->up > 0 ? k->list.v[node->up - 1].sum_ns
				     : k->m->wholes.v[node->source].busy_ns;

	return node->sum_ns >= k->set->min_ns &&
	    !(share(node->sum_ns, whole) < k->set->min_pct);
}

/*
 * Children in the order of their making behind their parent, without those
 * that have too little time; numbers of parents become those in n.
 */
static void
put_subtree(struct nodes *n, const struct maker *k, struct links *at,
    uint32_t *number_of, uint32_t root)
{
	uint32_t i = root;

	for (;;) {
		struct node node = k->list.v[i - 1];
		bool is_kept = is_large(k, &node);

		if (is_kept) {
			node.up = node.up > 0 ? number_of[node.up] : 0;
			vec_push(&n->list, node);
			number_of[i] = (uint32_t)n->list.n;
		}
		if (is_kept && at[i].first > 0) {
			i = at[i].first;
			continue;
		}
		while (i != root && at[i].next == 0)
			i = k->list.v[i - 1].up;
		if (i == root)
			return;
		i = at[i].next;
	}
}

static void
put_in_order(struct nodes *n, struct maker *k)
{
	struct links *at = xcalloc(k->list.n + 1, sizeof *at);
	uint32_t *number_of = xcalloc(k->list.n + 1, sizeof *number_of);
	uint32_t source = 0;

	for (uint32_t i = 1; i <= k->list.n; i++) {
		uint32_t up = k->list.v[i - 1].up;

		if (up == 0)
			continue;
		if (at[up].first == 0)
			at[up].first = i;
		else
			at[at[up].last].next = i;
		at[up].last = i;
	}
	for (uint32_t i = 1; i <= k->list.n; i++) {
		if (k->list.v[i - 1].up > 0)
			continue;
		for (; source < k->list.v[i - 1].source; source++)
			add_outside(n, k, source);
		put_subtree(n, k, at, number_of, i);
	}
	for (; source < k->m->wholes.n; source++)
		add_outside(n, k, source);
	free(at);
	free(number_of);
}

/* From behind: a node is the last one when no sibling followed. */
static void
find_last(struct nodes *n)
{
	uint8_t *followed = xcalloc(n->list.n + 1, 1);
	uint32_t source = UINT32_MAX;

	for (size_t i = n->list.n; i-- > 0;) {
		struct node *node = &n->list.v[i];

		if (node->source != source)
			followed[0] = 0;
		source = node->source;
		node->is_last = followed[node->up] == 0;
		followed[node->up] = 1;
	}
	free(followed);
}

/* Types by themselves: the longest first. */
static int
by_time(const void *x, const void *y)
{
	const struct node *a = x, *b = y;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

void
nodes_of(struct nodes *n, const struct modules *m, const struct settings *set)
{
	struct maker k = { .m = m, .set = set };

	k.node_of = xcalloc(m->list.n + 1, sizeof *k.node_of);
	k.level_of = xcalloc(m->list.n + 1, sizeof *k.level_of);
	for (uint32_t i = 0; i < m->list.n; i++)
		place_module(&k, n, i);
	if (set->by_type && k.list.n > 0)
		qsort(k.list.v, k.list.n, sizeof *k.list.v, by_time);
	put_in_order(n, &k);
	find_last(n);
	map_free(&k.roots);
	map_free(&k.below);
	map_free(&k.names);
	map_free(&k.nones);
	vec_free(&k.list);
	free(k.node_of);
	free(k.level_of);
}

void
nodes_free(struct nodes *n)
{
	vec_free(&n->list);
	vec_free(&n->nones);
}

/* ---- shares ---- */

double
node_pct_parent(const struct nodes *n, const struct node *node)
{
	return node->up > 0
	    ? share(node->sum_ns, n->list.v[node->up - 1].sum_ns)
	    : NAN;
}

double
node_pct_root(const struct nodes *n, const struct node *node)
{
	const struct node *root = node;

	if (node->type == NODE_OUTSIDE)
		return NAN;
	while (root->up > 0)
		root = &n->list.v[root->up - 1];
	return share(node->sum_ns, root->sum_ns);
}

double
node_pct_busy(const struct modules *m, const struct node *node)
{
	return share(node->sum_ns, m->wholes.v[node->source].busy_ns);
}

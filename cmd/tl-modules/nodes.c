/* SPDX-License-Identifier: MIT */
/*
 * Which modules are shown: from which on, how deep, above which time; by call,
 * or folded. Folded, calls of one type below a node are one node, and so on
 * downwards.
 */
#include <stdlib.h>

#include "cmd/tl-modules/modules.h"
#include "trace/merged.h"
#include "json/json.h"

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

struct str
module_type(struct str name)
{
	size_t n;

	name = module_name(name);
	n = name.len;
	while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	if (n < name.len && n > 1 && name.p[n - 1] == '_')
		name.len = n - 1;
	return name;
}

/* The number after the type. */
static int64_t
module_instance(struct str name)
{
	size_t n = module_type(name).len + 1;
	int64_t number;

	name = module_name(name);
	return n < name.len &&
		num_i64((struct str){ name.p + n, name.len - n }, &number)
	    ? number
	    : SINK_NONE;
}

/* ---- where to begin ---- */

static bool
is_root(struct modules *m, const struct module *mod)
{
	struct str name = dict_get(m->sink.dict, mod->name);

	if (m->roots.n == 0)
		return mod->up == 0;
	for (size_t i = 0; i < m->roots.n; i++) {
		struct str text = str_of(m->roots.v[i]);
		struct uid_pick pick;

		if (uid_pick_read(text, &pick)
			? uid_is_picked(&pick, mod->source, mod->uid)
			: str_glob(text, name) ||
			    str_glob(text, module_name(name)))
			return true;
		there_meet(&m->other_roots, &text, 1, m->sink.dict, mod->name);
	}
	return false;
}

/* ---- making nodes ---- */

/* Where a module is: nowhere, or below a node, as that or hidden. */
struct place {
	uint32_t node; /* 0: nowhere */
	uint32_t level;
	bool is_hidden;
};

/* A name, and the index of the node's next one. */
struct no_model {
	uint32_t name, next;
};

/*
 * Makes nodes. Sources are below the root; their time is the GPU's busy time.
 */
struct maker {
	struct modules *m;
	struct merged tree;
	VEC(struct node) nodes; /* by number in the tree */
	VEC(uint32_t) none;     /* by node: the first in nones, from 1 */
	VEC(struct no_model) nones;
	struct place *places; /* by module */
	struct map names;     /* by name, for folding */
	struct map none_of;   /* names of ops, by node */
};

/* The node of a number; new ones are of this first call or source. */
static struct node *
node_of(struct maker *k, uint32_t number, uint32_t source)
{
	while (k->nodes.n <= number) {
		vec_push(&k->none, 0);
		vec_push(&k->nodes,
		    ((struct node){
			.rec = { .uid.inst = UID_NONE, .source = source },
			.parent.inst = UID_NONE,
			.no_model = INTERN_NONE,
			.instance = SINK_NONE,
			.ts_ns = SINK_NONE,
			.cpu_ns = SINK_NONE,
			.calls = SINK_NONE,
			.instances = SINK_NONE,
			.min_ns = SINK_NONE,
			.max_ns = SINK_NONE,
			.non_module_ns = SINK_NONE,
			.bwd_ns = SINK_NONE,
		    }));
	}
	return &k->nodes.v[number];
}

static uint32_t
source_node(struct maker *k, uint32_t source)
{
	uint32_t number = merged_child(&k->tree, 0, source);

	node_of(k, number, source)->sum_ns = k->m->wholes.v[source].busy_ns;
	return number;
}

static struct node *
call_node(struct maker *k, const struct module *mod, uint32_t number)
{
	const struct modules *m = k->m;
	struct str name = dict_get(m->sink.dict, mod->name);
	struct node *node = node_of(k, number, mod->source);

	if (node->calls != SINK_NONE)
		return node;
	node->rec.uid = mod->uid;
	if (mod->up > 0)
		node->parent = m->list.v[mod->up - 1].uid;
	node->name = mod->name;
	node->type = intern_put(m->sink.dict->text, module_type(name));
	node->label = m->fold
	    ? node->type
	    : intern_put(m->sink.dict->text, module_name(name));
	node->instance = module_instance(name);
	node->ts_ns = mod->ts_ns;
	node->cpu_ns = mod->dur_ns;
	node->calls = node->instances = 0;
	node->min_ns = INT64_MAX;
	return node;
}

static void
add_time(int64_t *sum, int64_t ns)
{
	if (*sum == SINK_NONE)
		*sum = 0;
	stat_add(sum, ns);
}

/* Adds FLOPs; each name without a model is listed once. */
static void
add_flops(struct maker *k, uint32_t number, const struct flops *f)
{
	struct flops *to = &k->nodes.v[number].flops;

	to->flops += f->flops;
	to->bytes += f->bytes;
	to->nops += f->nops;
	stat_add(&to->known_ns, f->known_ns);
	for (size_t i = 0; i < f->nnone; i++) {
		uint32_t name = k->m->no_model.v[f->first_none + i];
		bool is_new;

		(void)map_put(
		    &k->none_of, (uint64_t)number << 32 | name, &is_new);
		if (!is_new)
			continue;
		vec_push(
		    &k->nones, ((struct no_model){ name, k->none.v[number] }));
		k->none.v[number] = (uint32_t)k->nones.n;
	}
}

static void
add_call(struct maker *k, uint32_t number, uint32_t i)
{
	const struct module *mod = &k->m->list.v[i];
	struct node *node = call_node(k, mod, number);
	bool is_new = true;

	if (k->m->fold)
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
	if (mod->has_below)
		add_time(&node->non_module_ns, mod->self_ns);
	if (mod->bwd_ns != SINK_NONE)
		add_time(&node->bwd_ns, mod->bwd_ns);
	node->kernels += (int64_t)mod->kernels;
	if (i < k->m->flops.n)
		add_flops(k, number, &k->m->flops.v[i]);
}

static void
place_module(struct maker *k, uint32_t i)
{
	struct modules *m = k->m;
	const struct module *mod = &m->list.v[i];
	struct place *at = &k->places[i];
	uint32_t up, type;

	if (mod->up > 0) {
		*at = k->places[mod->up - 1];
		at->level++;
	}
	if (!m->sink.sources.list.v[mod->source].is_asked || !mod->is_asked)
		return;
	if (at->node == 0 && !is_root(m, mod))
		return;
	m->nfound++;
	if (at->node == 0)
		at->level = 0;
	at->is_hidden |= m->depth > 0 && at->level >= m->depth;
	if (at->is_hidden) {
		at->node = UINT32_MAX;
		return;
	}
	up = at->node == 0 || m->by_type ? source_node(k, mod->source)
					 : at->node;
	if (m->fold) {
		type = intern_put(m->sink.dict->text,
		    module_type(dict_get(m->sink.dict, mod->name)));
		at->node = merged_child(&k->tree, up, type);
	} else {
		at->node = merged_new(&k->tree, up, mod->name);
	}
	add_call(k, at->node, i);
}

/* Adds the last row of a source: GPU work in no module. */
static void
add_outside(struct maker *k, uint32_t source)
{
	struct modules *m = k->m;
	const struct whole *w = &m->wholes.v[source];
	struct node *node;
	uint32_t number;

	if (m->roots.n > 0 || w->nasked == 0 || w->outside_ns == 0 ||
	    !m->sink.sources.list.v[source].is_asked)
		return;
	number = merged_new(&k->tree, source_node(k, source), 0);
	node = node_of(k, number, source);
	node->is_outside = true;
	node->type = node->label =
	    intern_put(m->sink.dict->text, STR(OUTSIDE_LABEL));
	node->sum_ns = node->self_ns = w->outside_ns;
	node->kernels = (int64_t)w->outside_kernels;
	add_flops(k, number, &w->outside);
}

/* ---- records ---- */

static double
share(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

/* Without modelled ops below, rates are unknown. */
static void
set_rates(const struct maker *k, struct node *node, uint32_t none)
{
	const struct flops *f = &node->flops;
	double ns =
	    f->nops > 0 && node->sum_ns > 0 ? (double)node->sum_ns : NAN;
	struct buf b = { 0 };

	node->gflop = f->nops > 0 ? f->flops / 1e9 : NAN;
	node->mib = f->nops > 0 ? f->bytes / 1048576 : NAN;
	/* 1 FLOP/ns is 1e-3 TFLOP/s */
	node->tflop_s = f->flops / ns / 1e3;
	node->tb_s = f->bytes / ns / 1e3;
	node->pct_modelled = 100 * (double)f->known_ns / ns;
	for (uint32_t i = none; i > 0; i = k->nones.v[i - 1].next) {
		buf_putc(&b, b.len == 0 ? '[' : ',');
		json_put_string(
		    &b, dict_get(k->m->sink.dict, k->nones.v[i - 1].name));
	}
	if (b.len > 0) {
		buf_putc(&b, ']');
		node->no_model = intern_put(k->m->sink.dict->text, buf_str(&b));
	}
	buf_free(&b);
}

/* up: number of the record above, 0: a root. */
static void
add_record(struct maker *k, uint32_t number, uint32_t up)
{
	struct node *node = sink_add(&k->m->sink);
	const struct node *above = up > 0 ? node_at(k->m, up - 1) : NULL;
	const struct whole *w = &k->m->wholes.v[k->nodes.v[number].rec.source];

	*node = k->nodes.v[number];
	node->up = up;
	node->rec.ts_ns = (int64_t)k->m->sink.records.n;
	node->level = above != NULL ? above->level + 1 : 0;
	node->mean_ns =
	    node->is_outside ? NAN : (double)node->sum_ns / (double)node->calls;
	node->pct_busy = w->is_spread ? NAN : share(node->sum_ns, w->busy_ns);
	node->pct_parent =
	    above != NULL ? share(node->sum_ns, above->sum_ns) : NAN;
	while (above != NULL && above->up > 0)
		above = node_at(k->m, above->up - 1);
	node->pct_root = node->is_outside
	    ? NAN
	    : share(node->sum_ns, above != NULL ? above->sum_ns : node->sum_ns);
	set_rates(k, node, k->none.v[number]);
}

/* In pre-order, without those below the least time. */
static void
add_records(struct maker *k)
{
	uint32_t *record_of = xcalloc(k->tree.nodes.n, sizeof *record_of);
	uint32_t i = merged_next(&k->tree, 0);

	while (i != 0) {
		uint32_t up = k->tree.nodes.v[i].up;
		int64_t ns = k->nodes.v[i].sum_ns;

		if (up > 0 &&
		    (ns < k->m->min_ns ||
			share(ns, k->nodes.v[up].sum_ns) < k->m->min_pct)) {
			i = merged_behind(&k->tree, i);
			continue;
		}
		if (up > 0) {
			add_record(k, i, record_of[up]);
			record_of[i] = (uint32_t)k->m->sink.records.n;
		}
		i = merged_next(&k->tree, i);
	}
	free(record_of);
}

/* Sorts types by time, longest first. */
static int
by_time(const void *x, const void *y)
{
	const struct node *a = x, *b = y;

	if (a->rec.source != b->rec.source)
		return a->rec.source < b->rec.source ? -1 : 1;
	if (a->is_outside != b->is_outside)
		return a->is_outside ? 1 : -1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return (a->rec.ts_ns > b->rec.ts_ns) - (a->rec.ts_ns < b->rec.ts_ns);
}

/* From the end: a node is the last if no sibling followed. */
static void
find_last(struct modules *m)
{
	uint8_t *followed = xcalloc(m->sink.records.n + 1, 1);
	uint32_t source = UINT32_MAX;

	for (size_t i = m->sink.records.n; i-- > 0;) {
		struct node *node = node_at(m, i);

		if (node->rec.source != source)
			followed[0] = 0;
		source = node->rec.source;
		node->is_last = followed[node->up] == 0;
		followed[node->up] = 1;
	}
	free(followed);
}

void
nodes_make(struct modules *m)
{
	struct maker k = { .m = m };

	merged_start(&k.tree);
	k.places = xcalloc(m->list.n + 1, sizeof *k.places);
	for (uint32_t i = 0; i < m->list.n; i++)
		place_module(&k, i);
	for (uint32_t i = 0; i < m->wholes.n; i++)
		add_outside(&k, i);
	add_records(&k);
	if (m->by_type && m->sink.records.n > 0) {
		qsort(m->sink.records.v, m->sink.records.n, sizeof(struct node),
		    by_time);
		for (size_t i = 0; i < m->sink.records.n; i++)
			node_at(m, i)->rec.ts_ns = (int64_t)i;
	}
	find_last(m);
	merged_free(&k.tree);
	map_free(&k.names);
	map_free(&k.none_of);
	vec_free(&k.nodes);
	vec_free(&k.none);
	vec_free(&k.nones);
	free(k.places);
}

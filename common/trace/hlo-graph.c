/* SPDX-License-Identifier: MIT */
/*
 * Maps the kernels of a command buffer (a CUDA or HIP graph) to instructions.
 * They only name the buffer, which may hold any of a list of instructions, in
 * the order of the module's schedule.
 *
 * A kernel of a fusion has the name of the fusion, or of another one with the
 * same code. Without another one the name decides; else the order, if only one
 * assignment is possible. Work between two known kernels belongs to the
 * instructions between theirs: all of it if there is one; one each if there are
 * as many, and each launches something. A fill belongs to the kernel after it.
 */
#include "trace/hlo-inside.h"

#define NO_CALL UINT32_MAX

/* An instruction that the buffer may hold. */
struct call {
	uint32_t name;
	uint32_t group; /* fusions with the same code share one */
	bool is_fusion;
	bool launches; /* certainly launches a kernel */
	bool is_alone; /* alone in its group */
};

struct hlo_graph {
	VEC(struct call) calls;
	struct map by_kernel; /* the name of its kernel to call */
	bool is_ready;        /* instructions that ran outside were removed */
	/* sequences of work so far, by hash: where found has their
	 * instructions */
	struct map known;
	VEC(struct hlo_op *) found;
};

/* One launch. */
struct sequence {
	struct hlo *h;
	struct hlo_graph *g;
	struct hlo_op *buffer;
	const struct held *v;
	const uint32_t *gpus;
	size_t n;
	uint32_t *named;  /* the call that its name gives, or NO_CALL */
	uint32_t *of;     /* its call, or NO_CALL */
	uint32_t *latest; /* likewise, if kernels were as late as possible */
};

/* ---- the instructions ---- */

/* Whether names differ only in suffixes: "loop_fusion.1",
 * "loop_fusion_1.kd". */
static uint64_t
kernel_key(struct str name)
{
	uint64_t h = hash_seed[0];

	if (str_ends(name, STR(".kd")))
		name.len -= 3;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];

		h = hash_more(
		    h, (unsigned char)(c == '.' || c == '-' ? '_' : c));
	}
	return h;
}

static bool
launches(struct str opcode)
{
	static const char *const words[] = { "custom-call", "dot",
		"convolution", NULL };

	for (const char *const *w = words; *w != NULL; w++)
		if (str_eq(opcode, str_of(*w)))
			return true;
	return false;
}

struct hlo_graph *
hlo_graph_create(struct hlo *h, const struct hlo_op *buffer, struct str calls)
{
	struct hlo_graph *g = xcalloc(1, sizeof *g);
	struct intern *text = hlo_dict(h)->text;
	json_items names = { 0 };

	(void)!json_split(&names, hlo_mem(h), calls);
	for (size_t i = 0; i < names.n; i++) {
		struct str name = names.v[i].text, same;
		const json_items *of = hlo_members(h, buffer, name);
		struct call c = { .name = intern_put(text, name) };
		struct str opcode = json_member_text(of, STR("opcode"));

		same = json_member_text(of, STR("deduplicated"));
		c.group = same.len > 0 ? intern_put(text, same) : c.name;
		c.is_fusion = str_eq(opcode, STR("fusion"));
		c.launches = launches(opcode);
		vec_push(&g->calls, c);
	}
	vec_free(&names);
	return g;
}

void
hlo_graph_free(struct hlo_graph *g)
{
	if (g == NULL)
		return;
	vec_free(&g->calls);
	map_free(&g->by_kernel);
	map_free(&g->known);
	vec_free(&g->found);
	vec_release(g);
}

/* Call when all events of the trace are known. */
static void
make_ready(struct hlo *h, struct hlo_graph *g, const struct hlo_op *buffer)
{
	struct map sizes = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < g->calls.n; i++)
		if (!hlo_is_named(h, buffer, g->calls.v[i].name))
			g->calls.v[kept++] = g->calls.v[i];
	g->calls.n = kept;
	for (size_t i = 0; i < kept; i++)
		++*map_put(&sizes, g->calls.v[i].group, NULL);
	for (size_t i = 0; i < kept; i++) {
		struct call *c = &g->calls.v[i];

		c->is_alone = *map_get(&sizes, c->group) == 1;
		if (c->is_fusion)
			*map_put(&g->by_kernel,
			    kernel_key(dict_get(hlo_dict(h), c->name)), NULL) =
			    i;
	}
	map_free(&sizes);
	g->is_ready = true;
}

/* ---- kernels of fusions ---- */

static bool
is_like(const struct sequence *q, size_t i, size_t call)
{
	const struct call *c = &q->g->calls.v[call];

	return c->is_fusion && c->group == q->g->calls.v[q->named[i]].group;
}

/* Assigns each as early, and each as late as possible; false: impossible. */
static bool
find_fusions(struct sequence *q)
{
	size_t call = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (q->named[i] == NO_CALL)
			continue;
		while (call < q->g->calls.n && !is_like(q, i, call))
			call++;
		if (call == q->g->calls.n)
			return false;
		q->of[i] = (uint32_t)call++;
	}
	call = q->g->calls.n;
	for (size_t i = q->n; i-- > 0;) {
		if (q->named[i] == NO_CALL)
			continue;
		while (!is_like(q, i, --call))
			continue;
		q->latest[i] = (uint32_t)call;
	}
	return true;
}

static void
settle_fusions(struct sequence *q, bool is_ordered)
{
	for (size_t i = 0; i < q->n; i++) {
		if (q->named[i] == NO_CALL ||
		    (is_ordered && q->of[i] == q->latest[i]))
			continue;
		q->of[i] =
		    q->g->calls.v[q->named[i]].is_alone ? q->named[i] : NO_CALL;
	}
}

/* ---- and between them ---- */

static bool
is_fill(const struct sequence *q, size_t i)
{
	return q->v[q->gpus[i]].kind == KIND_MEMSET;
}

/* Assigns the work [from, to) to calls after one, up to another. */
static void
settle_between(
    struct sequence *q, size_t from, size_t to, size_t call, size_t last)
{
	const struct call *v = q->g->calls.v;
	bool all_launch = true;
	size_t nwork = 0, first = call;

	for (size_t i = from; i < to; i++)
		nwork += !is_fill(q, i);
	for (size_t c = first; c < last; c++)
		all_launch &= v[c].launches;
	if (last - first != 1 && (!all_launch || last - first != nwork))
		return;
	for (size_t i = from; i < to; i++) {
		if (is_fill(q, i))
			continue;
		q->of[i] = (uint32_t)call;
		call += last - first != 1;
	}
}

static void
settle_rest(struct sequence *q)
{
	size_t from = 0, call = 0;
	bool is_known = true; /* about what comes before */

	for (size_t i = 0; i <= q->n; i++) {
		if (i < q->n && q->named[i] == NO_CALL)
			continue;
		if (is_known && (i == q->n || q->of[i] != NO_CALL))
			settle_between(q, from, i, call,
			    i < q->n ? q->of[i] : q->g->calls.n);
		if (i == q->n)
			break;
		is_known = q->of[i] != NO_CALL;
		from = i + 1;
		call = q->of[i] + (size_t)1;
	}
}

/* ---- a launch ---- */

static struct hlo_op *
op_of(const struct sequence *q, size_t i)
{
	const struct call *c;

	if (q->of[i] == NO_CALL)
		return q->buffer;
	c = &q->g->calls.v[q->of[i]];
	return hlo_op_in(q->h, q->buffer, c->name,
	    q->named[i] != NO_CALL && c->is_alone ? "name" : "order");
}

static void
resolve(struct sequence *q)
{
	const struct dict *st = hlo_dict(q->h);
	uint32_t next = NO_CALL;
	bool is_ordered;

	for (size_t i = 0; i < q->n; i++) {
		uint64_t *call = map_get(&q->g->by_kernel,
		    kernel_key(dict_get(st, q->v[q->gpus[i]].name)));

		q->named[i] = call != NULL ? (uint32_t)*call : NO_CALL;
		q->of[i] = q->latest[i] = NO_CALL;
	}
	is_ordered = find_fusions(q);
	settle_fusions(q, is_ordered);
	if (is_ordered)
		settle_rest(q);
	for (size_t i = q->n; i-- > 0;) {
		if (is_fill(q, i))
			q->of[i] = next;
		next = q->of[i];
	}
	for (size_t i = 0; i < q->n; i++)
		vec_push(&q->g->found, op_of(q, i));
}

/* The instructions of one launch's work, by GPU event. */
static void
resolve_launch(struct hlo *h, struct hlo_op *buffer, const struct held *v,
    const uint32_t *gpus, size_t n, struct hlo_op **ops)
{
	struct hlo_graph *g = buffer->graph;
	uint64_t hash = n, *place;
	bool is_new;

	if (!g->is_ready)
		make_ready(h, g, buffer);
	for (size_t i = 0; i < n; i++)
		hash = hash_more(
		    hash, (uint64_t)v[gpus[i]].kind << 32 | v[gpus[i]].name);
	place = map_put(&g->known, hash, &is_new);
	if (is_new) {
		uint32_t *calls = xmalloc((3 * n + 1) * sizeof *calls);

		*place = g->found.n;
		resolve(&(struct sequence){ h, g, buffer, v, gpus, n, calls,
		    calls + n, calls + 2 * n });
		vec_release(calls);
	}
	memcpy(ops, &g->found.v[*place], n * sizeof *ops);
}

void
hlo_graphs_resolve(struct hlo *h, const struct store *s, hlo_leaves *leaves)
{
	struct hlo_leaf *v = leaves->v;
	u32_vec gpus = { 0 };
	VEC(struct hlo_op *) ops = { 0 };

	for (size_t i = 0, k; i < leaves->n; i = k) {
		gpus.n = 0;
		for (k = i; k < leaves->n && v[k].op == v[i].op &&
		     v[k].call == v[i].call;
		     k++)
			vec_push(&gpus, v[k].gpu);
		if (v[i].op == NULL || v[i].op->graph == NULL || v[i].call == 0)
			continue;
		vec_reserve(&ops, gpus.n);
		resolve_launch(h, v[i].op, s->items.v, gpus.v, gpus.n, ops.v);
		for (size_t at = i; at < k; at++)
			v[at].op = ops.v[at - i];
	}
	vec_free(&gpus);
	vec_free(&ops);
}

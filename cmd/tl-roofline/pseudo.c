/* SPDX-License-Identifier: MIT */
/*
 * Pseudo-ops: where one op hides several steps that have models of their own
 * (experts, attention), ops are put between it and what it launched. Each is
 * found by names, below the root that is open:
 *
 *	vllm::rocm_aiter_fused_moe	its one fused kernel
 *	vllm::moe_forward		each matmul_ogs kernel: up, then down
 *	vllm::outplace_fused_experts	each gptq_awq kernel: up, then down
 *	flydsl_moe_stage1, _stage2	the frame, below aiter::fused_moe_
 *	mla_decode_fwd, mla_fp8_prefill_attn, sparse_attn_v4_paged_decode
 *					what lies below the frame
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"

/* An op to put in: above the nodes from at up to end, which lie below up. */
struct pseudo {
	uint32_t at, end, up, donor;
	struct node node;
};

struct pseudos {
	struct roof_state *g;
	VEC(struct pseudo) list;
};

static struct str
name_of(const struct roof_state *g, uint32_t node)
{
	return strings_get(g->strings, g->nodes.v[node].name);
}

static bool
has(struct str s, const char *part)
{
	return str_find(s, str_of(part), true) >= 0;
}

static bool
ends_with(struct str s, const char *end)
{
	size_t n = strlen(end);

	return s.len >= n && memcmp(s.p + s.len - n, end, n) == 0;
}

/* sglang_profiler::X_12 is X: the number is that of a line. */
uint32_t
pseudo_name(struct roof_state *g, uint32_t name)
{
	struct str s = strings_get(g->strings, name);
	size_t n = s.len;

	if (!str_starts(s, STR("sglang_profiler::")))
		return name;
	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n == s.len || n < 19 || s.p[n - 1] != '_')
		return name;
	return intern_put(g->strings->text, (struct str){ s.p, n - 1 });
}

/* ---- putting in ---- */

static void
add_extra(struct pseudos *p, struct node *n, const char *key, struct str text)
{
	struct intern *t = p->g->strings->text;

	if (n->nextra == 0)
		n->extra = (uint32_t)p->g->extras.n;
	vec_push(&p->g->extras,
	    ((struct extra){
		intern_put(t, str_of(key)), intern_put(t, text) }));
	n->nextra++;
}

/* A pseudo-op like the donor, in the place of the node `like` in time. */
static struct node *
put_in(struct pseudos *p, const char *name, uint32_t at, uint32_t end,
    uint32_t up, uint32_t donor, uint32_t like)
{
	struct roof_state *g = p->g;
	const struct node *from = &g->nodes.v[like];
	struct pseudo *ps = vec_add(&p->list);

	*ps = (struct pseudo){ .at = at, .end = end, .up = up, .donor = donor };
	ps->node = (struct node){
		.uid = { from->uid.id, 1 },
		.fwd = { 0, UID_NONE },
		.bwd = { 0, UID_NONE },
		.number = ++g->number,
		.name = intern_put(g->strings->text, str_of(name)),
		.track = g->nodes.v[donor].track,
		.flags = from->flags | EV_SYNTHETIC,
		.depth = from->depth,
		.work = from->work,
		.nwork = from->nwork,
		.first_own = NO_INDEX,
		.kind = KIND_OP,
		.nmain = -1,
		.ts_ns = from->ts_ns,
		.dur_ns = from->dur_ns,
		.args = g->nodes.v[donor].args,
	};
	ps->node.model = subtree_model(g, ps->node.name);
	return &ps->node;
}

/* Above the launch of one GPU event; NULL: it launched others too. */
static struct node *
isolate(struct pseudos *p, const char *name, uint32_t work, uint32_t donor)
{
	uint32_t at = p->g->above.v[work - p->g->first_work];
	const struct node *n;

	if (at == NO_INDEX)
		return NULL;
	n = &p->g->nodes.v[at];
	if (n->nwork != 1 || n->kind == KIND_OP)
		return NULL;
	return put_in(p, name, at, n->end, n->up, donor, at);
}

static struct node *
wrap_children(
    struct pseudos *p, const char *name, uint32_t frame, uint32_t donor)
{
	return put_in(
	    p, name, frame + 1, p->g->nodes.v[frame].end, frame, donor, frame);
}

/* ---- what is looked for ---- */

/* The next op of this name from a node on, below end. */
static uint32_t
find_op(
    const struct roof_state *g, uint32_t from, uint32_t end, struct str name)
{
	for (; from < end; from++)
		if (g->nodes.v[from].kind == KIND_OP &&
		    str_eq(name_of(g, from), name))
			return from;
	return NO_INDEX;
}

static uint32_t
find_above(const struct roof_state *g, uint32_t i, struct str name)
{
	while (i != NO_INDEX &&
	    (g->nodes.v[i].kind != KIND_OP || !str_eq(name_of(g, i), name)))
		i = g->nodes.v[i].up;
	return i;
}

/* The integer at [i][k] of a list of lists, or other. */
static int64_t
element(struct str list, int i, int k, int64_t other)
{
	int depth = 0, at[3] = { -1, 0, 0 };

	for (size_t c = 0; c < list.len; c++) {
		if (list.p[c] == '[') {
			if (++depth > 2)
				return other;
			at[depth] = 0;
		} else if (list.p[c] == ']') {
			depth--;
		} else if (list.p[c] == ',' && depth > 0) {
			at[depth]++;
		} else if (depth == 2 && at[1] == i && at[2] == k) {
			size_t end = c;
			int64_t v = other;

			while (end < list.len && list.p[end] != ',' &&
			    list.p[end] != ']')
				end++;
			if (!num_i64((struct str){ list.p + c, end - c }, &v))
				return other;
			return v;
		}
	}
	return other;
}

/* The second concrete input as an integer, or other: ["","8",...]. */
static int64_t
second_concrete(struct str list, int64_t other)
{
	ptrdiff_t comma = str_find(list, STR("\",\""), false);
	size_t from = (size_t)comma + 3, end = from;
	int64_t v;

	if (comma < 0)
		return other;
	while (end < list.len && list.p[end] != '"')
		end++;
	return num_i64((struct str){ list.p + from, end - from }, &v) ? v
								      : other;
}

static int64_t
topk_below(const struct roof_state *g, uint32_t op)
{
	for (uint32_t i = op + 1; i < g->nodes.v[op].end; i++) {
		int64_t v = second_concrete(
		    strings_get(g->strings, g->nodes.v[i].args.concrete), -1);

		if (str_find(name_of(g, i), STR("TopK"), false) >= 0 && v >= 0)
			return v;
	}
	return 4;
}

/* ---- experts ---- */

/* Kernels below an op with this in their names, up and then down. */
static void
up_and_down(struct pseudos *p, uint32_t op, const char *part, const char *up,
    const char *down, int64_t topk, bool first_is_gated)
{
	struct roof_state *g = p->g;
	const struct node *n = &g->nodes.v[op];
	uint32_t *found = xmalloc((n->nwork + 1) * sizeof *found);
	uint32_t count = 0;
	char text[24];

	for (uint32_t w = n->work; w < n->work + n->nwork; w++)
		if (has(strings_get(g->strings, g->works.v[w].name), part))
			found[count++] = w;
	works_sort(g, found, count);
	for (uint32_t i = 0; i < count; i++) {
		struct str kernel =
		    strings_get(g->strings, g->works.v[found[i]].name);
		struct node *made =
		    isolate(p, i == 0 ? up : down, found[i], op);
		bool gated = first_is_gated
		    ? i == 0
		    : has(kernel, "_swiglu") || has(kernel, "_glu");

		if (made == NULL)
			continue;
		add_extra(p, made, "MoE GEMM gated",
		    gated ? STR("True") : STR("False"));
		add_extra(p, made, "MoE topk",
		    (struct str){ text, num_put_i64(text, topk) });
	}
	free(found);
}

static void
scatter(struct pseudos *p, uint32_t op)
{
	const struct node *n = &p->g->nodes.v[op];
	uint32_t found = NO_INDEX, count = 0;

	for (uint32_t w = n->work; w < n->work + n->nwork; w++)
		if (has(strings_get(p->g->strings, p->g->works.v[w].name),
			"matmul_scatter")) {
			found = w;
			count++;
		}
	if (count == 1)
		(void)isolate(p,
		    "pseudo_op::moe_triton_unfused_finalize_matmul_scatter",
		    found, op);
}

static void
fused_moe(struct pseudos *p, uint32_t op)
{
	const struct node *n = &p->g->nodes.v[op];
	uint32_t found = NO_INDEX, count = 0;

	for (uint32_t i = op + 1; i < n->end; i++)
		if (p->g->nodes.v[i].kind == KIND_OP &&
		    p->g->nodes.v[i].nwork > 0)
			return;
	for (uint32_t w = n->work; w < n->work + n->nwork; w++) {
		struct str s =
		    strings_get(p->g->strings, p->g->works.v[w].name);

		if (str_find(s, STR("aiter::"), false) < 0 ||
		    str_find(s, STR("fmoe"), false) < 0 ||
		    str_find(s, STR("MoeSorting"), false) >= 0 ||
		    has(s, "quant"))
			continue;
		found = w;
		count++;
	}
	if (count == 1)
		(void)isolate(
		    p, "pseudo_op::moe_aiter_fused_1stage", found, op);
}

static void
look_at_op(struct pseudos *p, uint32_t i)
{
	struct roof_state *g = p->g;
	struct str name = name_of(g, i);
	struct str dims = strings_get(g->strings, g->nodes.v[i].args.dims);

	if (str_eq(name, STR("vllm::rocm_aiter_fused_moe"))) {
		fused_moe(p, i);
	} else if (str_eq(name, STR("vllm::moe_forward")) &&
	    find_op(g, i, g->nodes.v[i].end,
		STR("vllm::rocm_aiter_fused_moe")) == NO_INDEX) {
		up_and_down(p, i, "matmul_ogs",
		    "pseudo_op::moe_triton_unfused_up",
		    "pseudo_op::moe_triton_unfused_down", topk_below(g, i),
		    false);
		scatter(p, i);
	} else if (str_eq(name, STR("vllm::outplace_fused_experts"))) {
		up_and_down(p, i, "fused_moe_kernel_gptq_awq",
		    "pseudo_op::moe_gptq_awq_up",
		    "pseudo_op::moe_gptq_awq_down", element(dims, 4, 1, 8),
		    true);
	}
}

/* ---- frames ---- */

/* Window, compressed or hybrid, and the geometry, by names of kernels. */
static void
paged_decode(struct pseudos *p, uint32_t frame, uint32_t op)
{
	struct roof_state *g = p->g;
	const struct node *n = &g->nodes.v[op];
	const char *mode = "swa";
	long heads = 0, dim = 0;
	struct node *made;
	char name[48], text[24];

	for (uint32_t w = n->work; w < n->work + n->nwork; w++) {
		struct str s = strings_get(g->strings, g->works.v[w].name);
		char head[64];

		snprintf(head, sizeof head, "%.*s", (int)s.len, s.p);
		if (str_starts(s, STR("hca_")))
			mode = "hca";
		else if (strcmp(mode, "swa") == 0 &&
		    (str_starts(s, STR("fused_compress_attn")) ||
			str_starts(s, STR("_update_compressor_states_kernel"))))
			mode = "csa";
		if (heads == 0)
			(void)sscanf(
			    head, "qk_norm_rope_H%9ld_D%9ld_RD", &heads, &dim);
	}
	snprintf(name, sizeof name, "pseudo_v4_paged_decode_%s", mode);
	made = wrap_children(p, name, frame, op);
	if (heads > 0 && dim > 0) {
		add_extra(p, made, "v4_H_Q",
		    (struct str){ text, num_put_i64(text, heads) });
		add_extra(p, made, "v4_d_h",
		    (struct str){ text, num_put_i64(text, dim) });
	}
}

static void
look_at_frame(struct pseudos *p, uint32_t i)
{
	struct roof_state *g = p->g;
	struct str name = name_of(g, i);
	uint32_t end = g->nodes.v[i].end, op;

	if (ends_with(name, ": flydsl_moe_stage1") ||
	    ends_with(name, ": flydsl_moe_stage2")) {
		op = find_above(g, i, STR("aiter::fused_moe_"));
		if (op != NO_INDEX)
			(void)put_in(p,
			    name.p[name.len - 1] == '1'
				? "pseudo_op::moe_flydsl_stage1"
				: "pseudo_op::moe_flydsl_stage2",
			    i, end, g->nodes.v[i].up, op, i);
	} else if (str_find(name, STR("aiter/mla.py("), false) >= 0 &&
	    str_find(name, STR("): mla_decode_fwd"), false) >= 0) {
		op =
		    find_op(g, i, end, STR("aiter::mla_decode_stage1_asm_fwd"));
		if (op != NO_INDEX)
			(void)wrap_children(p, "pseudo_mla_decode_fwd", i, op);
	} else if (ends_with(name, ": mla_fp8_prefill_attn")) {
		op = find_op(g, i, end, STR("aiter::mla_prefill_ps_asm_fwd"));
		if (op != NO_INDEX)
			(void)wrap_children(p, "pseudo_mla_prefill_fwd", i, op);
	} else if (str_find(name, STR("paged_decode.py("), false) >= 0 &&
	    str_find(name, STR("): sparse_attn_v4_paged_decode"), false) >= 0) {
		op = find_above(g, i, STR("aiter::v4_attention_with_output"));
		if (op != NO_INDEX)
			paged_decode(p, i, op);
	}
}

/* ---- all of them at once ---- */

static int
by_place(const void *x, const void *y)
{
	const struct pseudo *a = x, *b = y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

/* How many are put in before a node, itself counted if with_same. */
static uint32_t
before(const struct pseudos *p, uint32_t node, bool with_same)
{
	size_t lo = 0, hi = p->list.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->list.v[mid].at < node ||
		    (with_same && p->list.v[mid].at == node))
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint32_t)lo;
}

static uint32_t
moved(const struct pseudos *p, uint32_t node)
{
	return node == NO_INDEX ? NO_INDEX : node + before(p, node, true);
}

/* The innermost pseudo-op that now lies between a node and what is above. */
static uint32_t
new_up(const struct pseudos *p, const uint32_t *open, size_t nopen, uint32_t up)
{
	while (nopen-- > 0)
		if (p->list.v[open[nopen]].up == up)
			return p->list.v[open[nopen]].at + open[nopen];
	return moved(p, up);
}

static void
rebuild(struct pseudos *p)
{
	struct roof_state *g = p->g;
	uint32_t n = (uint32_t)g->nodes.n, k = 0;
	struct node *to = xmalloc((n + p->list.n) * sizeof *to);
	VEC(uint32_t) open = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		while (open.n > 0 && p->list.v[open.v[open.n - 1]].end <= i)
			open.n--;
		for (; k < p->list.n && p->list.v[k].at == i; k++) {
			const struct pseudo *ps = &p->list.v[k];
			struct node *made = &to[i + k];

			*made = ps->node;
			made->up = new_up(p, open.v, open.n, ps->up);
			made->end = ps->end + before(p, ps->end, false);
			vec_push(&open, k);
		}
		to[i + k] = g->nodes.v[i];
		to[i + k].up = new_up(p, open.v, open.n, g->nodes.v[i].up);
		to[i + k].end =
		    g->nodes.v[i].end + before(p, g->nodes.v[i].end, false);
	}
	for (size_t w = 0; w < g->above.n; w++)
		g->above.v[w] = moved(p, g->above.v[w]);
	vec_reserve(&g->nodes, n + p->list.n);
	memcpy(g->nodes.v, to, (n + p->list.n) * sizeof *to);
	g->nodes.n = n + p->list.n;
	free(to);
	vec_free(&open);
}

void
pseudo_ops(struct roof_state *g)
{
	struct pseudos p = { .g = g };

	for (uint32_t i = 0; i < g->nodes.n; i++) {
		if (g->nodes.v[i].nwork == 0)
			continue;
		if (g->nodes.v[i].kind == KIND_OP)
			look_at_op(&p, i);
		else if (g->nodes.v[i].kind == KIND_PYTHON)
			look_at_frame(&p, i);
	}
	if (p.list.n > 0) {
		qsort(p.list.v, p.list.n, sizeof *p.list.v, by_place);
		rebuild(&p);
	}
	vec_free(&p.list);
}

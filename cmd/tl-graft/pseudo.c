/* SPDX-License-Identifier: MIT */
/*
 * Pseudo-ops: where one op hides several steps that have models of their own
 * (experts, attention), ops are put between it and what it launched. Each is
 * found by names:
 *
 *	vllm::rocm_aiter_fused_moe	its one fused kernel
 *	vllm::moe_forward		each matmul_ogs kernel: up, then down
 *	vllm::outplace_fused_experts	each gptq_awq kernel: up, then down
 *	flydsl_moe_stage1, _stage2	the frame, below aiter::fused_moe_
 *	_Linear, _LayerNormLinear	their products (linear.c)
 *	mla_decode_fwd, mla_fp8_prefill_attn, sparse_attn_v4_paged_decode
 *					what lies below the frame
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"

/* Set in the instance of a pseudo-op: no other event has such a number. */
#define PSEUDO_INST UINT32_C(0x80000000)

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
static void
rename_op(struct wood *w, uint32_t i)
{
	struct str s = wood_name(w, i);
	size_t n = s.len;

	if (!str_starts(s, STR("sglang_profiler::")))
		return;
	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n < s.len && n >= 19 && s.p[n - 1] == '_')
		w->nodes.v[i].name =
		    intern_put(w->st->text, (struct str){ s.p, n - 1 });
}

/* ---- putting in ---- */

static void
put_text(struct wood *w, uint32_t i, const char *key, struct str s)
{
	struct value v = { .type = VAL_STR, .id = intern_put(w->st->text, s) };

	wood_arg(w, i, key, ROLE_NONE, &v);
}

static void
put_int(struct wood *w, uint32_t i, const char *key, int64_t n)
{
	struct value v = { .type = VAL_INT, .i = n };

	wood_arg(w, i, key, ROLE_NONE, &v);
}

static void
put_bool(struct wood *w, uint32_t i, const char *key, bool is_true)
{
	struct value v = { .type = is_true ? VAL_TRUE : VAL_FALSE };

	wood_arg(w, i, key, ROLE_NONE, &v);
}

/* Its autograd number is the donor's, else the uid of another event. */
static void
put_sequence(struct wood *w, uint32_t i, uint32_t donor, uint32_t other)
{
	struct event ev;
	struct value v;

	wood_event(w, donor, &ev);
	if (!event_arg(w->st, &ev, STR("Sequence number"), &v) ||
	    v.type != VAL_INT)
		v = (struct value){ .type = VAL_INT,
			.i = (int64_t)w->nodes.v[other].id };
	wood_arg(w, i, "Sequence number", ROLE_NONE, &v);
}

/* A pseudo-op with the donor's arguments, in the place of `like` in time. */
static uint32_t
make(struct pseudos *p, const char *name, uint32_t donor, uint32_t like,
    uint32_t other)
{
	static const char *const keys[] = { "Input Dims", "Input type",
		"Input Strides", "Concrete Inputs", NULL };
	struct wood *w = p->w;
	uint32_t i = wood_copy(w, w, donor);
	struct node *n = &w->nodes.v[i];
	const struct node *from = &w->nodes.v[like];

	n->name = intern_put(w->st->text, str_of(name));
	n->id = from->id;
	n->inst = from->inst | PSEUDO_INST;
	n->flags = (from->flags & (EV_RECOMPUTE | EV_UNTIMED)) | EV_SYNTHETIC;
	n->track = from->track;
	n->ts_ns = from->ts_ns;
	/* sinks that skip frames ask what lies in what: 0 holds nothing */
	n->dur_ns = from->dur_ns > 0 ? from->dur_ns : 1;
	wood_keep_args(w, i, keys);
	put_sequence(w, i, donor, other);
	put_bool(w, i, "Pseudo op", true);
	p->made++;
	return i;
}

uint32_t
pseudo_isolate(
    struct pseudos *p, const char *name, uint32_t gpu, uint32_t donor)
{
	struct wood *w = p->w;
	uint32_t launch = w->nodes.v[gpu].up, i;
	struct event ev;

	if (launch == NONE || !node_is(&w->nodes.v[launch], KINDS_LAUNCH) ||
	    w->nodes.v[launch].kid != gpu || w->nodes.v[gpu].next != NONE)
		return NONE;
	i = make(p, name, donor, launch, donor);
	wood_event(w, gpu, &ev);
	if (ev.corr.type == KEY_INT) {
		struct value v = { .type = VAL_INT, .i = ev.corr.n };

		wood_arg(w, i, "External id", ROLE_EXT, &v);
	}
	wood_put_above(w, i, launch);
	return i;
}

static uint32_t
wrap_children(
    struct pseudos *p, const char *name, uint32_t frame, uint32_t donor)
{
	struct wood *w = p->w;
	uint32_t i = make(p, name, donor, frame, frame);
	struct node *v = w->nodes.v;

	v[i].kid = v[frame].kid;
	v[i].last = v[frame].last;
	for (uint32_t k = v[i].kid; k != NONE; k = v[k].next)
		v[k].up = i;
	v[frame].kid = v[frame].last = NONE;
	wood_hang(w, i, frame);
	return i;
}

/* ---- what is looked for ---- */

static uint32_t
find_op(const struct wood *w, uint32_t top, struct str name)
{
	for (uint32_t i = top; i != NONE; i = wood_next(w, i, top))
		if (w->nodes.v[i].kind == KIND_OP &&
		    str_eq(wood_name(w, i), name))
			return i;
	return NONE;
}

static uint32_t
find_above(const struct wood *w, uint32_t i, struct str name)
{
	while (i != NONE &&
	    (w->nodes.v[i].kind != KIND_OP || !str_eq(wood_name(w, i), name)))
		i = w->nodes.v[i].up;
	return i;
}

static bool
has_gpu_below(const struct wood *w, uint32_t top)
{
	for (uint32_t i = top; i != NONE; i = wood_next(w, i, top))
		if (node_is(&w->nodes.v[i], KINDS_GPU))
			return true;
	return false;
}

typedef VEC(uint32_t) node_vec;

static const struct wood *sorting; /* qsort() hands nothing through */

static int
by_time(const void *x, const void *y)
{
	const struct node *a = &sorting->nodes.v[*(const uint32_t *)x];
	const struct node *b = &sorting->nodes.v[*(const uint32_t *)y];

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* GPU events below an op with this in their names, by time. */
static void
find_gpu(const struct wood *w, uint32_t op, const char *part, node_vec *found)
{
	for (uint32_t i = op; i != NONE; i = wood_next(w, i, op))
		if (node_is(&w->nodes.v[i], KINDS_GPU) &&
		    has(wood_name(w, i), part))
			vec_push(found, i);
	sorting = w;
	if (found->n > 0)
		qsort(found->v, found->n, sizeof *found->v, by_time);
}

int64_t
pseudo_element(struct str list, int i, int k, int64_t other)
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

static struct op_args
args_of(const struct wood *w, uint32_t i)
{
	struct event ev;

	wood_event(w, i, &ev);
	return args_of_event(w->st, &ev);
}

#define TOPK_DEPTH 10
#define TOPK_DEFAULT 4

static int64_t
topk_below(const struct wood *w, uint32_t op)
{
	for (uint32_t i = op; i != NONE; i = wood_next(w, i, op)) {
		uint32_t up = i;
		int depth = 0;
		int64_t v;

		if (str_find(wood_name(w, i), STR("TopK"), false) < 0)
			continue;
		for (; up != op; up = w->nodes.v[up].up)
			depth++;
		if (depth > TOPK_DEPTH)
			continue;
		v = second_concrete(
		    strings_get(w->st, args_of(w, i).concrete), -1);
		if (v >= 0)
			return v;
	}
	return TOPK_DEFAULT;
}

/* ---- experts ---- */

static void
put_expert(struct wood *w, uint32_t i, const char *type, size_t at, bool gated,
    int64_t topk)
{
	put_text(w, i, "MoE GEMM type", str_of(type));
	put_int(w, i, "MoE GEMM index", (int64_t)at);
	put_bool(w, i, "MoE GEMM gated", gated);
	put_int(w, i, "MoE topk", topk);
}

static void
moe_forward(struct pseudos *p, uint32_t op)
{
	struct wood *w = p->w;
	int64_t topk = topk_below(w, op);
	node_vec found = { 0 };

	find_gpu(w, op, "matmul_ogs", &found);
	for (size_t i = 0; i < found.n; i++) {
		struct str kernel = wood_name(w, found.v[i]);
		bool gated = has(kernel, "_swiglu") || has(kernel, "_glu");
		uint32_t made = pseudo_isolate(p,
		    i == 0 ? "pseudo_op::moe_triton_unfused_up"
			   : "pseudo_op::moe_triton_unfused_down",
		    found.v[i], op);

		if (made != NONE)
			put_expert(
			    w, made, i == 0 ? "up" : "down", i, gated, topk);
	}
	found.n = 0;
	find_gpu(w, op, "matmul_scatter", &found);
	if (found.n > 1)
		warn("op %" PRIu64 " has %zu kernels matmul_scatter: none of "
		     "them becomes a pseudo-op",
		    w->nodes.v[op].id, found.n);
	if (found.n == 1) {
		uint32_t made = pseudo_isolate(p,
		    "pseudo_op::moe_triton_unfused_finalize_matmul_scatter",
		    found.v[0], op);

		if (made != NONE) {
			put_text(w, made, "MoE GEMM type",
			    STR("finalize_matmul_scatter"));
			put_int(w, made, "MoE topk", topk);
		}
	}
	vec_free(&found);
}

static void
outplace_experts(struct pseudos *p, uint32_t op)
{
	struct wood *w = p->w;
	int64_t topk =
	    pseudo_element(strings_get(w->st, args_of(w, op).dims), 4, 1, 8);
	node_vec found = { 0 };

	find_gpu(w, op, "fused_moe_kernel_gptq_awq", &found);
	if (found.n != 2 && found.n > 0)
		warn("op %" PRIu64 " has %zu kernels fused_moe_kernel_gptq_awq "
		     "instead of 2",
		    w->nodes.v[op].id, found.n);
	for (size_t i = 0; i < found.n; i++) {
		uint32_t made = pseudo_isolate(p,
		    i == 0 ? "pseudo_op::moe_gptq_awq_up"
			   : "pseudo_op::moe_gptq_awq_down",
		    found.v[i], op);

		if (made != NONE)
			put_expert(
			    w, made, i == 0 ? "up" : "down", i, i == 0, topk);
	}
	vec_free(&found);
}

static void
fused_moe(struct pseudos *p, uint32_t op)
{
	struct wood *w = p->w;
	node_vec found = { 0 };
	size_t n = 0;

	for (uint32_t i = wood_next(w, op, op); i != NONE;
	     i = wood_next(w, i, op))
		if (w->nodes.v[i].kind == KIND_OP && has_gpu_below(w, i))
			return;
	find_gpu(w, op, "fmoe", &found);
	for (size_t i = 0; i < found.n; i++) {
		struct str s = wood_name(w, found.v[i]);

		if (str_find(s, STR("aiter::"), false) >= 0 &&
		    str_find(s, STR("fmoe"), false) >= 0 &&
		    str_find(s, STR("MoeSorting"), false) < 0 &&
		    !has(s, "quant"))
			found.v[n++] = found.v[i];
	}
	if (n == 1)
		(void)pseudo_isolate(
		    p, "pseudo_op::moe_aiter_fused_1stage", found.v[0], op);
	vec_free(&found);
}

/* The ops above one, and it, read its cache. */
static void
hand_up(struct wood *w, uint32_t op, const struct value *v)
{
	for (; op != NONE; op = w->nodes.v[op].up)
		if (w->nodes.v[op].kind == KIND_OP)
			wood_arg(w, op, "kv_cache_dtype", ROLE_NONE, v);
}

/* The first of these arguments that an op or an event below has becomes its. */
static void
inherit_types(struct wood *w, uint32_t op, const char *key, const char *value)
{
	const char *const keys[] = { key, value };

	for (size_t k = 0; k < 2; k++)
		for (uint32_t i = op; i != NONE; i = wood_next(w, i, op)) {
			struct event ev;
			struct value v;

			wood_event(w, i, &ev);
			if (!event_arg(w->st, &ev, str_of(keys[k]), &v))
				continue;
			if (i != op)
				wood_arg(w, op, keys[k], ROLE_NONE, &v);
			if (k == 0)
				hand_up(w, op, &v);
			break;
		}
}

static void
look_at_op(struct pseudos *p, uint32_t i, bool with_triton)
{
	struct wood *w = p->w;
	struct str name = wood_name(w, i);

	if (str_eq(name, STR("vllm::rocm_aiter_fused_moe")))
		fused_moe(p, i);
	else if (str_eq(name, STR("vllm::moe_forward")) && with_triton)
		moe_forward(p, i);
	else if (str_eq(name, STR("vllm::outplace_fused_experts")))
		outplace_experts(p, i);
	else if (str_eq(name, STR("_rocm_C::paged_attention")))
		inherit_types(w, i, "KCache_dtype", "VCache_dtype");
	else if (str_eq(name, STR("aiter::paged_attention_v1")))
		inherit_types(w, i, "k_cache_dtype", "v_cache_dtype");
}

/* ---- frames ---- */

/* qk_norm_rope_H64_D512_RD64: heads and dimension. */
static bool
geometry(struct str s, int64_t *heads, int64_t *dim)
{
	static const struct str head = STR_INIT("qk_norm_rope_H");
	ptrdiff_t at = str_find(s, head, false);
	int64_t *const to[2] = { heads, dim };
	size_t i;

	if (at < 0)
		return false;
	i = (size_t)at + head.len;
	for (int k = 0; k < 2; k++) {
		size_t from = i;

		while (i < s.len && isdigit((unsigned char)s.p[i]))
			i++;
		if (!num_i64((struct str){ s.p + from, i - from }, to[k]))
			return false;
		if (k == 0 && (i + 2 > s.len || memcmp(s.p + i, "_D", 2) != 0))
			return false;
		i += 2;
	}
	return true;
}

static const char *
paged_mode(const struct wood *w, uint32_t op, int64_t *heads, int64_t *dim)
{
	const char *mode = "swa";

	for (uint32_t i = op; i != NONE; i = wood_next(w, i, op)) {
		struct str s = wood_name(w, i);

		if (!node_is(&w->nodes.v[i], KINDS_GPU))
			continue;
		if (str_starts(s, STR("hca_")))
			mode = "hca";
		else if (strcmp(mode, "swa") == 0 &&
		    (str_starts(s, STR("fused_compress_attn")) ||
			str_starts(s, STR("_update_compressor_states_kernel"))))
			mode = "csa";
		if (*heads == 0)
			(void)geometry(s, heads, dim);
	}
	return mode;
}

static void
paged_decode(struct pseudos *p, uint32_t frame, uint32_t op)
{
	const char *model = getenv("TL_MODEL"), *tp = getenv("TL_TP");
	struct wood *w = p->w;
	int64_t heads = 0, dim = 0, ntp = 1;
	const char *mode = paged_mode(w, op, &heads, &dim);
	char name[48];
	uint32_t made;

	snprintf(name, sizeof name, "pseudo_v4_paged_decode_%s", mode);
	made = wrap_children(p, name, frame, op);
	put_text(w, made, "v4_mode", str_of(mode));
	put_int(w, made, "v4_call_index", (int64_t)p->ncalls++);
	if (model != NULL)
		put_text(w, made, "v4_model_name", str_of(model));
	if (tp != NULL && !num_i64(str_of(tp), &ntp))
		ntp = 1;
	put_int(w, made, "v4_tp", ntp);
	if (heads > 0 && dim > 0) {
		put_int(w, made, "v4_H_Q", heads);
		put_int(w, made, "v4_d_h", dim);
	}
}

static void
flydsl(struct pseudos *p, uint32_t frame, uint32_t op, int stage)
{
	uint32_t made = make(p,
	    stage == 1 ? "pseudo_op::moe_flydsl_stage1"
		       : "pseudo_op::moe_flydsl_stage2",
	    op, frame, p->w->nodes.v[frame].up);

	put_int(p->w, made, "MoE flydsl stage", stage);
	wood_put_above(p->w, made, frame);
}

static void
look_at_frame(struct pseudos *p, uint32_t i)
{
	const struct wood *w = p->w;
	struct str name = wood_name(w, i);
	uint32_t op;

	if (ends_with(name, ": flydsl_moe_stage1") ||
	    ends_with(name, ": flydsl_moe_stage2")) {
		op = find_above(w, i, STR("aiter::fused_moe_"));
		if (op != NONE)
			flydsl(p, i, op, name.p[name.len - 1] - '0');
	} else if (str_find(name, STR("aiter/mla.py("), false) >= 0 &&
	    str_find(name, STR("): mla_decode_fwd"), false) >= 0) {
		op = find_op(w, i, STR("aiter::mla_decode_stage1_asm_fwd"));
		if (op != NONE && has_gpu_below(w, i))
			(void)wrap_children(p, "pseudo_mla_decode_fwd", i, op);
	} else if (ends_with(name, ": mla_fp8_prefill_attn")) {
		op = find_op(w, i, STR("aiter::mla_prefill_ps_asm_fwd"));
		if (op != NONE && has_gpu_below(w, i))
			(void)wrap_children(p, "pseudo_mla_prefill_fwd", i, op);
	} else if (str_find(name, STR("paged_decode.py("), false) >= 0 &&
	    str_find(name, STR(": sparse_attn_v4_paged_decode"), false) >= 0) {
		op = find_above(w, i, STR("aiter::v4_attention_with_output"));
		if (op != NONE && has_gpu_below(w, i))
			paged_decode(p, i, op);
	}
}

uint64_t
pseudo_ops(struct wood *w)
{
	struct pseudos p = { .w = w };
	node_vec order = { 0 };
	bool with_triton = true;

	for (uint32_t r = w->first_root; r != NONE; r = w->nodes.v[r].next)
		for (uint32_t i = r; i != NONE; i = wood_next(w, i, r)) {
			if (w->nodes.v[i].kind == KIND_OP) {
				rename_op(w, i);
				if (str_eq(wood_name(w, i),
					STR("vllm::rocm_aiter_fused_moe")))
					with_triton = false;
			}
			vec_push(&order, i);
		}
	/* what is put in hides nothing from those that come later */
	for (size_t k = 0; k < order.n; k++) {
		uint32_t i = order.v[k];

		if (w->nodes.v[i].kind == KIND_OP)
			look_at_op(&p, i, with_triton);
		else if (w->nodes.v[i].kind == KIND_PYTHON)
			look_at_frame(&p, i);
	}
	vec_free(&order);
	pseudo_linears(&p);
	return p.made;
}

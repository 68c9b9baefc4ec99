/* SPDX-License-Identifier: MIT */
#include "cmd/tl-kernels/reread.h"
#include "cmd/tl-kernels/kernels.h"

const char *const reread_words[REREAD_LACKS] = {
	[REREAD_KNOWN] = "",
	[REREAD_NO_OP] = "no op recorded",
	[REREAD_ONE_OP] =
	    "kernels of one op: results between them not recorded",
	[REREAD_NO_SHAPES] = "no shapes recorded",
	[REREAD_NO_TYPES] = "no types recorded",
	[REREAD_NO_MODEL] = "no model of the result",
	[REREAD_NO_RATE] = "memory bandwidth unknown: name the GPU with --arch",
};

static double
written_by(struct kernels *k, const struct model_op *op)
{
	const struct model *m =
	    model_find(k->models, model_name(k->models, op->name, op->hlo));
	const struct model_result *res;

	if (m == NULL)
		return NAN;
	res = model_eval(k->models, m, op, MODEL_FWD);
	return res->effect.written;
}

static uint64_t
key_of(const struct kernel *one)
{
	const struct op_args *a = &one->args;
	uint64_t h = hash_u64((uint64_t)one->op << 32 | one->name);

	h = hash_more(h, (uint64_t)a->dims << 32 | a->types);
	h = hash_more(h, (uint64_t)a->strides << 32 | a->concrete);
	return hash_more(h, a->hlo);
}

/* Of the op of a kernel; found once for equal ones. */
static struct op_moves
moves_of(struct kernels *k, const struct kernel *one)
{
	struct reread *r = &k->sequences.reread;
	struct str kernel = dict_get(k->sink.dict, one->name);
	struct model_op op;
	struct op_moves m;
	bool is_new;
	uint64_t *slot = map_put(&r->known, key_of(one), &is_new);

	if (!is_new)
		return r->ops.v[*slot];
	*slot = r->ops.n;
	op = model_op_of(k->sink.dict, one->op, one->args);
	op.kernels = &kernel;
	op.nkernels = 1;
	m = (struct op_moves){ .written = written_by(k, &op),
		.first = (uint32_t)r->tensors.n,
		.has_types = true };
	m.has_shapes = model_tensors(k->models, &op, &r->tensors);
	m.n = (uint32_t)r->tensors.n - m.first;
	for (uint32_t i = 0; i < m.n; i++)
		m.has_types &= !isnan(r->tensors.v[m.first + i].bytes);
	vec_push(&r->ops, m);
	return m;
}

enum reread_lack
reread_between(struct kernels *k, const struct kernel *a,
    const struct kernel *b, int64_t *bytes)
{
	struct op_moves from, to;
	bool is_read = false;

	if (!a->has_op || !b->has_op)
		return REREAD_NO_OP;
	if (!a->is_last || !b->is_first)
		return REREAD_ONE_OP;
	from = moves_of(k, a);
	to = moves_of(k, b);
	if (!to.has_shapes)
		return REREAD_NO_SHAPES;
	if (isnan(from.written))
		return from.has_shapes ? REREAD_NO_MODEL : REREAD_NO_SHAPES;
	/* read once, though two arguments be the same */
	for (uint32_t i = 0; i < to.n; i++)
		is_read |= k->sequences.reread.tensors.v[to.first + i].bytes ==
		    from.written;
	if (!is_read && !to.has_types)
		return REREAD_NO_TYPES;
	*bytes = is_read ? (int64_t)from.written : 0;
	return REREAD_KNOWN;
}

bool
reread_has_rate(const struct kernels *k)
{
	return k->arch != NULL && !isnan(arch_gbps(k->arch, k->roof));
}

int64_t
reread_ns(const struct kernels *k, const struct kernel *b, int64_t bytes)
{
	double ns;

	if (!reread_has_rate(k))
		return 0;
	/* GB/s are bytes a ns */
	ns = (double)bytes / arch_gbps(k->arch, k->roof);
	return ns < (double)b->dur_ns ? (int64_t)(ns + 0.5) : b->dur_ns;
}

void
reread_free(struct reread *r)
{
	map_free(&r->known);
	vec_free(&r->ops);
	vec_free(&r->tensors);
}

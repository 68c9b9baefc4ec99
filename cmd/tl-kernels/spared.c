/* SPDX-License-Identifier: MIT */
#include "cmd/tl-kernels/spared.h"
#include "cmd/tl-kernels/kernels.h"
#include "trace/stat.h"

const char *const spared_words[SPARED_LACKS] = {
	[SPARED_KNOWN] = "",
	[SPARED_NO_OP] = "no op recorded",
	[SPARED_ONE_OP] =
	    "kernels of one op, results between them not recorded",
	[SPARED_PARTS] = "other GPU work of an op is not beside it",
	[SPARED_NO_SHAPES] = "no shapes recorded",
	[SPARED_NO_TYPES] = "no types recorded",
	[SPARED_TOO_LARGE] = "a tensor larger than the memory of any GPU",
	[SPARED_NO_MODEL] = "no model of the result",
	[SPARED_NO_READS] = "whether the next op reads it is unknown",
};

/* All kernels of an op, in a row. */
struct part {
	const uint32_t *records;
	uint32_t n;
};

static const struct kernel *
kernel_at(const struct kernels *k, const uint32_t *records, uint32_t i)
{
	return sink_record(&k->sink, records[i]);
}

/* The kernels of the op of kernel i that are beside it, up to it or from it on
 * (step). */
static struct part
part_at(const struct kernels *k, const uint32_t *records, uint32_t n,
    uint32_t i, int step)
{
	const struct kernel *one = kernel_at(k, records, i);
	uint32_t last = i, end = step < 0 ? 0 : n - 1;

	while (last != end && records[last + (uint32_t)step] != INTERN_NONE &&
	    kernel_at(k, records, last + (uint32_t)step)->op_number ==
		one->op_number)
		last += (uint32_t)step;
	return step < 0 ? (struct part){ records + last, i - last + 1 }
			: (struct part){ records + i, last - i + 1 };
}

static bool
is_whole(const struct kernels *k, const struct part *p)
{
	const struct kernel *one = kernel_at(k, p->records, 0);

	return one->is_alone && one->nkernels == p->n;
}

/* ---- what an op moves ---- */

static uint64_t
key_of(const struct kernels *k, const struct part *p)
{
	const struct kernel *one = kernel_at(k, p->records, 0);
	const struct op_args *a = &one->args;
	uint64_t h = hash_u64((uint64_t)a->dims << 32 | a->types);

	h = hash_more(h, (uint64_t)a->strides << 32 | a->concrete);
	h = hash_more(h, (uint64_t)a->hlo << 32 | one->op);
	for (uint32_t i = 0; i < p->n; i++)
		h = hash_more(h, kernel_at(k, p->records, i)->name);
	return h;
}

static void
set_bytes(struct kernels *k, const struct model_op *op, struct op_moves *m)
{
	const struct model *model =
	    model_find(k->models, model_name(k->models, op->name, op->hlo));
	const struct model_result *r;

	m->bytes = m->written = m->read = (double)NAN;
	if (model == NULL)
		return;
	r = model_eval(k->models, model, op, MODEL_FWD);
	m->bytes = r->bytes;
	/* without its result it reads all that it moves at most */
	m->read = isnan(r->effect.written) ? r->bytes : model_read(r);
	if (!isnan(m->read))
		m->written = r->effect.written;
	m->is_told = r->effect.is_told;
	m->unread = r->effect.unread;
	m->unsure = r->effect.unsure;
}

/* Found once for equal ones. */
static struct op_moves
moves_of(struct kernels *k, const struct part *p)
{
	struct spared *r = &k->sequences.spared;
	const struct kernel *one = kernel_at(k, p->records, 0);
	struct op_moves m = { 0 };
	struct model_op op;
	bool is_new;
	uint64_t *slot = map_put(&r->known, key_of(k, p), &is_new);

	if (!is_new)
		return r->ops.v[*slot];
	*slot = r->ops.n;
	r->names.n = 0;
	for (uint32_t i = 0; i < p->n; i++)
		vec_push(&r->names,
		    dict_get(k->sink.dict, kernel_at(k, p->records, i)->name));
	op = model_op_of(k->sink.dict, one->op, one->args);
	op.kernels = r->names.v;
	op.nkernels = r->names.n;
	set_bytes(k, &op, &m);
	m.first = (uint32_t)r->tensors.n;
	m.has_shapes = model_tensors(k->models, &op, &r->tensors);
	m.n = (uint32_t)r->tensors.n - m.first;
	vec_push(&r->ops, m);
	return m;
}

static bool
is_among(uint64_t args, uint32_t arg)
{
	return arg < MODEL_ARGS && (args >> arg & 1) != 0;
}

/* What op m reads of a tensor of so many bytes. */
static enum spared_lack
read_of(const struct kernels *k, const struct op_moves *m, double bytes,
    double *read)
{
	const struct model_tensor *v = k->sequences.spared.tensors.v + m->first;
	bool is_read = false, is_unsure = false, has_types = true;
	bool has_sizes = true;
	double all = 0, left;

	for (uint32_t i = 0; i < m->n; i++) {
		if (is_among(m->unread, v[i].arg))
			continue;
		has_types &= !isnan(v[i].bytes);
		has_sizes &= !isinf(v[i].bytes);
		if (v[i].arg >= MODEL_ARGS || is_among(m->unsure, v[i].arg)) {
			is_unsure |= v[i].bytes == bytes;
			continue;
		}
		all += isfinite(v[i].bytes) ? v[i].bytes : 0;
		is_read |= v[i].bytes == bytes;
	}
	*read = 0;
	if (!is_read && !is_unsure && has_types)
		return has_sizes ? SPARED_KNOWN : SPARED_TOO_LARGE;
	if (!is_read && !is_unsure)
		return SPARED_NO_TYPES;
	if (bytes == 0)
		return SPARED_KNOWN;
	left = m->read - (all - bytes);
	if (!is_read || !m->is_told || !(left > 0))
		return SPARED_NO_READS;
	*read = left < bytes ? left : bytes;
	return SPARED_KNOWN;
}

/* ---- what it takes ---- */

bool
spared_has_rate(const struct kernels *k)
{
	return k->arch != NULL && !isnan(arch_gbps(k->arch, k->roof));
}

/* GB/s are bytes a ns. */
static int64_t
ns_of(const struct kernels *k, const struct part *p, double all, double bytes)
{
	int64_t dur_ns = 0;
	double ns, share;

	for (uint32_t i = 0; i < p->n; i++)
		stat_add(&dur_ns, kernel_at(k, p->records, i)->dur_ns);
	ns = bytes / arch_gbps(k->arch, k->roof);
	share = (double)dur_ns * (bytes / all);
	return (int64_t)(ns < share ? ns : share); /* rounded down */
}

enum spared_lack
spared_between(struct kernels *k, const uint32_t *records, uint32_t n,
    uint32_t i, struct traffic *t)
{
	const struct kernel *a = kernel_at(k, records, i - 1);
	const struct kernel *b = kernel_at(k, records, i);
	struct part p, q;
	struct op_moves from, to;
	enum spared_lack lack;
	double read;

	if (!a->has_op || !b->has_op)
		return SPARED_NO_OP;
	if (a->op_number == b->op_number)
		return SPARED_ONE_OP;
	p = part_at(k, records, n, i - 1, -1);
	q = part_at(k, records, n, i, 1);
	if (!is_whole(k, &p) || !is_whole(k, &q))
		return SPARED_PARTS;
	from = moves_of(k, &p);
	to = moves_of(k, &q);
	if (!from.has_shapes || !to.has_shapes)
		return SPARED_NO_SHAPES;
	if (isnan(from.written))
		return SPARED_NO_MODEL;
	lack = read_of(k, &to, from.written, &read);
	if (lack != SPARED_KNOWN)
		return lack;
	*t = (struct traffic){ 0 };
	if (!(read > 0))
		return SPARED_KNOWN;
	t->bytes = (int64_t)(from.written + read);
	if (spared_has_rate(k))
		t->ns = ns_of(k, &p, from.bytes, from.written) +
		    ns_of(k, &q, to.bytes, read);
	return SPARED_KNOWN;
}

void
spared_free(struct spared *r)
{
	map_free(&r->known);
	vec_free(&r->ops);
	vec_free(&r->tensors);
	vec_free(&r->names);
}

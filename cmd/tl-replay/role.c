/* SPDX-License-Identifier: MIT */
/*
 * Contents of an op's tensors, by the names of its arguments. If a name shows
 * nothing: real numbers and booleans are random; bytes count as packed weights
 * and are random, other integers are zeros, which are valid indices of
 * anything.
 */
#include "role.h"

static const char *const fill_names[] = {
	[FILL_NORMAL] = "normal",
	[FILL_UNIFORM] = "uniform",
	[FILL_ZEROS] = "zeros",
	[FILL_ONES] = "ones",
	[FILL_RANDINT] = "randint",
	[FILL_BERNOULLI] = "bernoulli",
	[FILL_ARANGE] = "arange",
	[FILL_OFFSETS] = "offsets",
	[FILL_ROUTING] = "routing",
	[FILL_NONE] = "none",
};

/* ---- types ---- */

/* The largest value of each integer type; bounds beyond it would not fit. */
static const struct {
	struct str type;
	int64_t high;
} integers[] = {
	{ STR_INIT("unsigned char"), UINT8_MAX },
	{ STR_INIT("signed char"), INT8_MAX },
	{ STR_INIT("short"), INT16_MAX },
	{ STR_INIT("short int"), INT16_MAX },
	{ STR_INIT("unsigned short"), UINT16_MAX },
	{ STR_INIT("int"), INT32_MAX },
	{ STR_INIT("unsigned int"), UINT32_MAX },
	{ STR_INIT("long"), INT64_MAX },
	{ STR_INIT("long int"), INT64_MAX },
	{ STR_INIT("long long"), INT64_MAX },
	{ STR_INIT("unsigned long"), INT64_MAX },
};

/* 0: not an integer type. */
static int64_t
highest(struct str type)
{
	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
		if (str_eq(type, integers[i].type))
			return integers[i].high;
	}
	return 0;
}

/* ---- bounds ---- */

/* How many values an integer may have, from the tensor that a rule names. */
enum bound {
	BOUND_ROWS,    /* that tensor's first size */
	BOUND_CLASSES, /* its second; of a vector its only one */
	BOUND_DIM,     /* its size along the op's dim */
	BOUND_PLANE,   /* its last two sizes */
	BOUND_SLOTS,   /* its first two: pages, and slots of a page */
	BOUND_ALL,     /* all its elements */
	BOUND_VALUE,   /* its value, a number */
};

struct op {
	struct str name;
	const struct schema *schema;
	const struct arguments *args;
};

static const struct recorded *
argument(const struct op *op, const char *name)
{
	for (size_t i = 0; op->schema != NULL && i < op->schema->nargs; i++) {
		if (str_eq(op->schema->args[i].name, str_of(name)))
			return &op->args->v[i];
	}
	return NULL;
}

static int64_t
product(const int64_t *v, size_t n)
{
	int64_t all = 1;

	for (size_t i = 0; i < n; i++) {
		if (__builtin_mul_overflow(all, v[i], &all))
			return INT64_MAX;
	}
	return all;
}

/* The smallest size if the dimension was not recorded, as it fits any. */
static int64_t
along_dim(const struct op *op, const struct recorded *of)
{
	const struct recorded *dim = argument(op, "dim");
	int64_t at, n = INT64_MAX;

	if (dim != NULL && num_i64(dim->value, &at)) {
		at += at < 0 ? (int64_t)of->ndims : 0;
		return at >= 0 && at < (int64_t)of->ndims ? of->dims[at] : 1;
	}
	for (size_t i = 0; i < of->ndims; i++)
		n = of->dims[i] < n ? of->dims[i] : n;
	return of->ndims > 0 ? n : 1;
}

/* 0: unknown. */
static int64_t
bound_of(const struct op *op, enum bound bound, const struct recorded *of)
{
	int64_t n;

	if (of == NULL)
		return 0;
	if (bound == BOUND_VALUE)
		return num_i64(of->value, &n) ? n : 0;
	if (!recorded_tensor(of))
		return 0;
	switch (bound) {
	case BOUND_ROWS: return product(of->dims, of->ndims > 0);
	case BOUND_CLASSES:
		return of->ndims > 1 ? of->dims[1]
				     : product(of->dims, of->ndims);
	case BOUND_DIM: return along_dim(op, of);
	case BOUND_PLANE:
		return of->ndims >= 2 ? product(of->dims + of->ndims - 2, 2)
				      : 0;
	case BOUND_SLOTS: return of->ndims >= 2 ? product(of->dims, 2) : 0;
	default: return product(of->dims, of->ndims);
	}
}

/* ---- rules ---- */

/*
 * Rules: the first whose patterns fit the op and the argument's name counts.
 * One for integers refers to the first of the named arguments that exists; "":
 * to the first tensor of real numbers.
 */
struct rule {
	const char *op, *arg;
	enum fill fill;
	enum bound bound;
	const char *of; /* words separated by blanks */
};

static const struct rule real_rules[] = {
	/* a benchmark has no overflow; roots and logarithms stay real */
	{ "*", "found_inf", FILL_ZEROS, 0, NULL },
	{ "*", "state_steps", FILL_ONES, 0, NULL },
	{ "*", "*_scale", FILL_UNIFORM, 0, NULL },
	{ "*", "*scale[s_]*", FILL_UNIFORM, 0, NULL },
	{ "*", "scale", FILL_UNIFORM, 0, NULL },
	{ "*", "*_var", FILL_UNIFORM, 0, NULL },
	{ "*", "*rstd", FILL_UNIFORM, 0, NULL },
	{ "*", "*invstd", FILL_UNIFORM, 0, NULL },
	{ "*", "*exp_avg_sqs", FILL_UNIFORM, 0, NULL },
	{ "*", "state_sums", FILL_UNIFORM, 0, NULL },
	{ "*", "topk_weights", FILL_UNIFORM, 0, NULL },
	{ "aten::binary_cross_entropy*", "*", FILL_UNIFORM, 0, NULL },
	{ "aten::bernoulli*", "p", FILL_UNIFORM, 0, NULL },
	{ "aten::multinomial", "self", FILL_UNIFORM, 0, NULL },
	{ "aten::log*", "self", FILL_UNIFORM, 0, NULL },
	{ "aten::*sqrt*", "self", FILL_UNIFORM, 0, NULL },
	{ "aten::fill_", "self", FILL_NONE, 0, NULL },
	{ "aten::copy_", "self", FILL_NONE, 0, NULL },
};

#define LONGEST "max_seqlen_k max_seq_len max_context_len max_seqlen"
static const struct rule index_rules[] = {
	{ "aten::nll_loss*", "target", FILL_RANDINT, BOUND_CLASSES, "self" },
	{ "aten::max_pool*", "indices", FILL_RANDINT, BOUND_PLANE, "self" },
	{ "aten::embedding_dense_backward", "indices", FILL_RANDINT,
	    BOUND_VALUE, "num_weights" },
	{ "aten::_embedding_bag*", "offsets", FILL_OFFSETS, BOUND_ALL,
	    "indices" },
	{ "aten::*embedding*", "indices", FILL_RANDINT, BOUND_ROWS, "weight" },
	{ "aten::*index*", "indices", FILL_RANDINT, BOUND_DIM, "self" },
	{ "aten::take", "index", FILL_RANDINT, BOUND_ALL, "self" },
	{ "aten::*", "index", FILL_RANDINT, BOUND_DIM, "self" },
	{ "aten::_*grouped_mm*", "offs", FILL_OFFSETS, BOUND_ROWS, "self" },
	{ "aten::repeat_interleave", "repeats", FILL_ONES, 0, NULL },
	/* attention: sequences of equal length, pages in order */
	{ "*", "cu_seq*_q", FILL_OFFSETS, BOUND_ROWS, "q query" },
	{ "*", "cu[_m]*seq*", FILL_OFFSETS, BOUND_ROWS, "k key" },
	{ "*", "qo_indptr", FILL_OFFSETS, BOUND_ROWS, "q query" },
	{ "*", "kv_indptr", FILL_OFFSETS, BOUND_ALL,
	    "kv_page_indices kv_indices" },
	{ "*", "kv_*indices", FILL_RANDINT, BOUND_ROWS,
	    "k k_cache kv_cache key_cache" },
	{ "*", "kv_last_page_len*", FILL_ONES, 0, NULL },
	{ "*", "indices", FILL_ARANGE, BOUND_ROWS, "k_cache" },
	{ "*", "block_table*", FILL_ARANGE, BOUND_ROWS,
	    "k_cache key_cache kcache kv_cache k key" },
	{ "*", "page_table", FILL_ARANGE, BOUND_ROWS, "k_cache k key" },
	{ "*", "slot_mapping", FILL_ARANGE, BOUND_SLOTS,
	    "key_cache kv_cache k_cache" },
	/* each sequence as long as the longest: with 0 nothing is read */
	{ "*", "seq*len*", FILL_LENGTHS, BOUND_VALUE, LONGEST },
	{ "*", "seqused*", FILL_LENGTHS, BOUND_VALUE, LONGEST },
	{ "*", "context_len*", FILL_LENGTHS, BOUND_VALUE, LONGEST },
	{ "*", "cache_seqlens", FILL_LENGTHS, BOUND_VALUE, LONGEST },
	{ "*", "*positions", FILL_RANDINT, BOUND_ROWS, "cos_sin_cache" },
	{ "*", "pos_ids", FILL_RANDINT, BOUND_ROWS, "cos_sin_cache" },
	/* experts: distinct ones for each token */
	{ "*", "topk_ids", FILL_ROUTING, BOUND_ROWS, "w1 w13 w gate_up" },
	{ "*", "topk_ids", FILL_ROUTING, BOUND_VALUE, "num_experts" },
	{ "*", "topk_ind*", FILL_ROUTING, BOUND_VALUE, "num_experts" },
	{ "*", "sorted_token_ids", FILL_ARANGE, BOUND_ALL, "topk_weights" },
	{ "*", "expert_ids", FILL_RANDINT, BOUND_ROWS, "w1 w B b_q_weight" },
	/* embedding tables */
	{ "fbgemm::permute*", "permute", FILL_ARANGE, BOUND_ALL, "permute" },
	{ "fbgemm::*", "lengths", FILL_ONES, 0, NULL },
	{ "fbgemm::*", "offsets", FILL_OFFSETS, BOUND_ALL, "indices" },
	/* others: of the first tensor of real numbers */
	{ "*", "indices", FILL_RANDINT, BOUND_ROWS, "" },
	{ "*", "*index", FILL_RANDINT, BOUND_ROWS, "" },
	{ "*", "*idx", FILL_RANDINT, BOUND_ROWS, "" },
	{ "*", "offsets", FILL_OFFSETS, BOUND_ROWS, "" },
};

static bool
fits(const struct rule *r, const struct op *op, struct str arg)
{
	return str_glob(str_of(r->arg), arg) &&
	    str_glob(str_of(r->op), op->name);
}

static const struct recorded *
first_real(const struct op *op)
{
	for (size_t i = 0; i < op->args->n; i++) {
		const struct recorded *r = &op->args->v[i];

		if (recorded_tensor(r) && highest(r->type) == 0 && r->ndims > 0)
			return r;
	}
	return NULL;
}

static const struct recorded *
referred(const struct op *op, const struct rule *r)
{
	const char *words = r->of;
	struct str word;

	if (words == NULL)
		return NULL;
	if (words[0] == '\0')
		return first_real(op);
	while (str_next(&words, ' ', &word)) {
		for (size_t i = 0; i < op->schema->nargs; i++) {
			if (str_eq(op->schema->args[i].name, word) &&
			    !recorded_nothing(&op->args->v[i]))
				return &op->args->v[i];
		}
	}
	return NULL;
}

static struct filling
filled(enum fill fill, int64_t high, int64_t most)
{
	if (fill != FILL_LENGTHS)
		return (struct filling){ fill, 0, high < most ? high : most };
	high = high < most ? high : most - 1;
	return (struct filling){ FILL_RANDINT, high, high + 1 };
}

/* The first rule for the name with a known bound; false: not an index. */
static bool
index_role(const struct op *op, size_t i, int64_t most, struct filling *out)
{
	bool is_found = false;

	for (size_t k = 0; k < sizeof index_rules / sizeof *index_rules; k++) {
		const struct rule *r = &index_rules[k];
		int64_t high;

		if (!fits(r, op, op->schema->args[i].name))
			continue;
		high = bound_of(op, r->bound, referred(op, r));
		if (high > 0 || r->of == NULL) {
			*out = filled(r->fill, high, most);
			return true;
		}
		if (!is_found) /* 0 and 1 if it stays unknown; lengths of 1 */
			*out = filled(
			    r->fill, r->fill == FILL_LENGTHS ? 1 : 2, most);
		is_found = true;
	}
	return is_found;
}

static bool
real_role(const struct op *op, size_t i, struct filling *out)
{
	for (size_t k = 0; k < sizeof real_rules / sizeof *real_rules; k++) {
		const struct rule *r = &real_rules[k];

		if (!fits(r, op, op->schema->args[i].name))
			continue;
		*out = (struct filling){ r->fill, 0, r->fill == FILL_UNIFORM };
		return true;
	}
	return false;
}

/* Others that are written may be read first. */
static bool
is_output(const struct schema_arg *a)
{
	static const struct str names[] = { STR_INIT("out"), STR_INIT("output"),
		STR_INIT("result") };

	return a->is_written &&
	    (a->is_keyword || str_glob_any(names, 3, a->name));
}

struct filling
role_of(struct str op, const struct schema *s, const struct arguments *args,
    size_t i, struct str type)
{
	const struct op o = { op, s, args };
	int64_t most = highest(type);
	struct filling r;

	if (s != NULL && is_output(&s->args[i]))
		return (struct filling){ .fill = FILL_NONE };
	if (str_eq(type, STR("bool")))
		return (struct filling){ .fill = FILL_BERNOULLI };
	if (s != NULL &&
	    (most > 0 ? index_role(&o, i, most, &r) : real_role(&o, i, &r)))
		return r;
	if (most == 0)
		return (struct filling){ .fill = FILL_NORMAL };
	if (most <= UINT8_MAX)
		return (struct filling){ FILL_RANDINT,
			most == INT8_MAX ? INT8_MIN : 0, most + 1 };
	return (struct filling){ .fill = FILL_ZEROS };
}

bool
role_is_free(const struct schema_arg *a)
{
	/* not an exponent or a norm's order, which may select the kernel */
	static const struct str names[] = { STR_INIT("value"),
		STR_INIT("threshold"), STR_INIT("min*"), STR_INIT("max*"),
		STR_INIT("eps*"), STR_INIT("*momentum"),
		STR_INIT("exponential_average_factor"),
		STR_INIT("negative_slope"), STR_INIT("other"),
		STR_INIT("scalar") };

	return (a->kind == ARG_FLOAT || a->kind == ARG_SCALAR) && !a->is_list &&
	    str_glob_any(names, sizeof names / sizeof *names, a->name);
}

void
role_json(struct buf *out, const struct filling *r)
{
	buf_printf(out, "\"init\":\"%s\"", fill_names[r->fill]);
	if (r->high > r->low)
		buf_printf(out, ",\"low\":%" PRId64 ",\"high\":%" PRId64,
		    r->low, r->high);
}

/* SPDX-License-Identifier: MIT */
/* Values of fields as JSON: see module.h. */
#include "cmd/tl-decode/hlo/module.h"
#include "json/json.h"

/* Unless it is the first item. */
static void
put_comma(struct hlo_module *m)
{
	char last = m->out->p[m->out->len - 1];

	if (last != '[' && last != '{' && last != '(')
		buf_putc(m->out, ',');
}

void
put_key(struct hlo_module *m, const char *key)
{
	put_comma(m);
	buf_putc(m->out, '"');
	buf_puts(m->out, key);
	buf_puts(m->out, "\":");
}

void
put_text(struct hlo_module *m, const char *key, struct str value)
{
	if (value.len == 0)
		return;
	put_key(m, key);
	json_put_string(m->out, value);
}

/* Numbers of a repeated field, after a bracket. */
static void
put_items(struct hlo_module *m, struct str message, uint32_t field)
{
	struct repeated r = repeated(m, message, field);
	uint64_t u;

	while (repeated_next(&r, &u)) {
		put_comma(m);
		json_put_i64(m->out, (int64_t)u);
	}
}

void
put_numbers(struct hlo_module *m, struct str message, uint32_t field)
{
	buf_putc(m->out, '[');
	put_items(m, message, field);
	buf_putc(m->out, ']');
}

/* ---- shapes ---- */

/* By PrimitiveType of xla_data.proto. */
static const char *const types[] = { [1] = "pred",
	"s8",
	"s16",
	"s32",
	"s64",
	"u8",
	"u16",
	"u32",
	"u64",
	"f16",
	"f32",
	"f64",
	[14] = "opaque",
	"c64",
	"bf16",
	"token",
	"c128",
	"f8e5m2",
	"f8e4m3fn",
	"s4",
	"u4",
	"f8e4m3b11fnuz",
	"f8e5m2fnuz",
	"f8e4m3fnuz",
	"s2",
	"u2",
	"f8e4m3",
	"f8e3m4",
	"s1",
	"u1",
	"f4e2m1fn",
	"f8e8m0fnu",
	"buffer" };

#define TYPE_TUPLE 13

static void
put_layout(struct hlo_module *m, struct str layout)
{
	struct fields f = fields_of(layout);
	size_t before = m->out->len;
	uint64_t space = 0;

	while (module_next(m, &f))
		if (f.field == 8 && f.type == PROTO_VARINT)
			space = f.u;
	buf_putc(m->out, '{');
	put_items(m, layout, 1);
	if (space != 0)
		buf_printf(m->out, ":S(%" PRIu64 ")", space);
	if (m->out->len == before + 1)
		m->out->len = before;
	else
		buf_putc(m->out, '}');
}

void
put_shape(struct hlo_module *m, struct str shape, unsigned depth)
{
	struct str layout = STR("");
	struct fields f = fields_of(shape);
	uint64_t type = 0;
	size_t start;

	if (depth > PROTO_MAX_DEPTH) {
		m->error = "tuples in tuples deeper than 100";
		m->at = (size_t)(shape.p - m->base);
		return;
	}
	start = m->out->len;
	buf_putc(m->out, '(');
	while (module_next(m, &f)) {
		if (f.field == 2 && f.type == PROTO_VARINT) {
			type = f.u;
		} else if (f.field == 4 && f.type == PROTO_BYTES) {
			put_comma(m);
			put_shape(m, f.bytes, depth + 1);
		} else if (f.field == 5 && f.type == PROTO_BYTES) {
			layout = f.bytes;
		}
	}
	if (type == TYPE_TUPLE) {
		buf_putc(m->out, ')');
		return;
	}
	m->out->len = start; /* no tuple, no parts */
	if (type < sizeof types / sizeof *types && types[type] != NULL)
		buf_puts(m->out, types[type]);
	else
		buf_printf(m->out, "type%" PRIu64, type);
	put_numbers(m, shape, 3);
	put_layout(m, layout);
}

/* ---- messages of numbers ---- */

/* A numeric field and its name. */
struct number {
	uint32_t field;
	bool is_list;
	const char *key;
};

static const struct number dot_numbers[] = {
	{ 1, true, "lhs_contracting" },
	{ 2, true, "rhs_contracting" },
	{ 3, true, "lhs_batch" },
	{ 4, true, "rhs_batch" },
	{ 0 },
};

static const struct number conv_numbers[] = {
	{ 7, false, "input_batch" },
	{ 8, false, "input_feature" },
	{ 11, true, "input_spatial" },
	{ 3, false, "kernel_input_feature" },
	{ 4, false, "kernel_output_feature" },
	{ 6, true, "kernel_spatial" },
	{ 9, false, "output_batch" },
	{ 10, false, "output_feature" },
	{ 12, true, "output_spatial" },
	{ 0 },
};

static const struct number window_numbers[] = {
	{ 1, false, "size" },
	{ 2, false, "stride" },
	{ 3, false, "padding_low" },
	{ 4, false, "padding_high" },
	{ 5, false, "window_dilation" },
	{ 6, false, "base_dilation" },
	{ 7, false, "reversal" },
	{ 0 },
};

/* Absent ones are 0. */
static void
put_message(
    struct hlo_module *m, struct str message, const struct number *numbers)
{
	buf_putc(m->out, '{');
	for (const struct number *n = numbers; n->key != NULL; n++) {
		put_key(m, n->key);
		if (n->is_list)
			put_numbers(m, message, n->field);
		else
			json_put_i64(m->out,
			    (int64_t)module_number(m, message, n->field));
	}
	buf_putc(m->out, '}');
}

void
put_dot(struct hlo_module *m, struct str dot)
{
	put_message(m, dot, dot_numbers);
}

void
put_conv(struct hlo_module *m, struct str conv)
{
	put_message(m, conv, conv_numbers);
}

/* An enum's word, or the number if it is newer. */
static void
put_word(
    struct hlo_module *m, const char *const *words, size_t nwords, uint64_t u)
{
	if (u < nwords)
		json_put_string(m->out, str_of(words[u]));
	else
		json_put_i64(m->out, (int64_t)u);
}

/* PrecisionConfig {1: operand_precision, 2: algorithm} */
void
put_precision(struct hlo_module *m, struct str precision)
{
	static const char *const precisions[] = { "DEFAULT", "HIGH", "HIGHEST",
		"PACKED_NIBBLE" };
	static const char *const algorithms[] = { "ALG_UNSET",
		"ALG_DOT_ANY_F8_ANY_F8_F32",
		"ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM", "ALG_DOT_F16_F16_F16",
		"ALG_DOT_F16_F16_F32", "ALG_DOT_BF16_BF16_BF16",
		"ALG_DOT_BF16_BF16_F32", "ALG_DOT_BF16_BF16_F32_X3",
		"ALG_DOT_BF16_BF16_F32_X6", "ALG_DOT_TF32_TF32_F32",
		"ALG_DOT_TF32_TF32_F32_X3", "ALG_DOT_F32_F32_F32",
		"ALG_DOT_F64_F64_F64", "ALG_DOT_BF16_BF16_F32_X9" };
	struct repeated r = repeated(m, precision, 1);
	uint64_t algorithm = module_number(m, precision, 2), u;
	bool is_first = true;

	for (; repeated_next(&r, &u); is_first = false) {
		if (is_first)
			put_key(m, "precision");
		buf_putc(m->out, is_first ? '[' : ',');
		put_word(
		    m, precisions, sizeof precisions / sizeof *precisions, u);
	}
	if (!is_first)
		buf_putc(m->out, ']');
	if (algorithm == 0)
		return;
	put_key(m, "algorithm");
	put_word(
	    m, algorithms, sizeof algorithms / sizeof *algorithms, algorithm);
}

void
put_window(struct hlo_module *m, struct str window)
{
	struct fields f = fields_of(window);

	buf_putc(m->out, '[');
	while (module_next(m, &f)) {
		if (f.field != 1 || f.type != PROTO_BYTES)
			continue;
		put_comma(m);
		put_message(m, f.bytes, window_numbers);
	}
	buf_putc(m->out, ']');
}

/* ---- devices ---- */

/* Lists of a repeated message; false: none. */
static bool
put_lists(struct hlo_module *m, struct str message, uint32_t field)
{
	struct fields f = fields_of(message);
	size_t before = m->out->len;

	buf_putc(m->out, '[');
	while (module_next(m, &f)) {
		if (f.field != field || f.type != PROTO_BYTES)
			continue;
		put_comma(m);
		put_numbers(m, f.bytes, 1);
	}
	if (m->out->len == before + 1) {
		m->out->len = before;
		return false;
	}
	buf_putc(m->out, ']');
	return true;
}

static size_t
read_dims(struct hlo_module *m, struct str iota, uint32_t field, uint64_t *dims)
{
	struct repeated r = repeated(m, iota, field);
	size_t n = 0;
	uint64_t u;

	while (repeated_next(&r, &u)) {
		if (n < IOTA_MAX_DIMS)
			dims[n] = u;
		n++;
	}
	return n;
}

/* Whether the groups' sizes fit the dimensions, and are not too large. */
static bool
iota_is_good(const struct iota *io)
{
	uint64_t total = 1;
	uint32_t seen = 0;

	if (io->ndims > IOTA_MAX_DIMS || io->ngroups > HLO_MAX_DEVICES ||
	    io->per_group > HLO_MAX_DEVICES ||
	    (io->nperm != 0 && io->nperm != io->ndims))
		return false;
	for (size_t i = 0; i < io->ndims; i++) {
		if (io->dims[i] < 1 || io->dims[i] > HLO_MAX_DEVICES ||
		    (total *= io->dims[i]) > HLO_MAX_DEVICES)
			return false;
	}
	for (size_t i = 0; i < io->nperm; i++) {
		if (io->perm[i] >= io->ndims || (seen >> io->perm[i] & 1) != 0)
			return false;
		seen |= UINT32_C(1) << io->perm[i];
	}
	return io->ngroups > 0 && total == io->ngroups * io->per_group;
}

/*
 * Numbers from 0, as an array of the dimensions, transposed, cut into groups;
 * the last transposed dimension varies fastest.
 */
void
put_iota(struct hlo_module *m, const struct iota *io)
{
	uint64_t size[IOTA_MAX_DIMS], step[IOTA_MAX_DIMS], stride;

	if (!iota_is_good(io))
		return;
	for (size_t i = 0; i < io->ndims; i++) {
		size_t from = io->nperm > 0 ? (size_t)io->perm[i] : i;

		stride = 1;
		for (size_t k = from + 1; k < io->ndims; k++)
			stride *= io->dims[k];
		size[i] = io->dims[from];
		step[i] = stride;
	}
	put_key(m, "groups");
	for (uint64_t at = 0; at < io->ngroups * io->per_group; at++) {
		uint64_t rest = at, device = 0;

		for (size_t i = io->ndims; i-- > 0; rest /= size[i])
			device += rest % size[i] * step[i];
		buf_puts(m->out,
		    at == 0                       ? "[["
			: at % io->per_group == 0 ? "],["
						  : ",");
		json_put_i64(m->out, (int64_t)device);
	}
	buf_puts(m->out, "]]");
}

void
put_groups(
    struct hlo_module *m, struct str inst, struct str devices, uint64_t all)
{
	struct str text = module_bytes(m, devices, 2);
	struct iota io = { 0 };
	size_t before = m->out->len;

	put_key(m, "groups");
	if (put_lists(m, devices, 1) || put_lists(m, inst, I_GROUPS))
		return;
	m->out->len = before;
	io.ngroups = module_number(m, text, 1);
	io.per_group = module_number(m, text, 2);
	io.ndims = read_dims(m, text, 3, io.dims);
	io.nperm = read_dims(m, text, 4, io.perm);
	if (text.len == 0)
		io = (struct iota){ 1, all, { all }, .ndims = 1 };
	put_iota(m, &io);
}

void
put_pairs(struct hlo_module *m, struct str inst)
{
	struct fields f = fields_of(inst);
	bool is_first = true;

	while (module_next(m, &f)) {
		uint64_t ends[2] = { 0 };
		struct fields pair = fields_of(f.bytes);

		if (f.field != I_PAIRS || f.type != PROTO_BYTES)
			continue;
		while (module_next(m, &pair))
			if (pair.type == PROTO_VARINT &&
			    (pair.field == 1 || pair.field == 2))
				ends[pair.field - 1] = pair.u;
		if (is_first) {
			put_key(m, "pairs");
			buf_putc(m->out, '[');
		}
		is_first = false;
		put_comma(m);
		buf_printf(m->out, "[%" PRId64 ",%" PRId64 "]",
		    (int64_t)ends[0], (int64_t)ends[1]);
	}
	if (!is_first)
		buf_putc(m->out, ']');
}

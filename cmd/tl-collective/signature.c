/* SPDX-License-Identifier: MIT */
/*
 * Which events are collectives; the text of a signature, a JSON list, and its
 * contents: parts, sizes, class.
 */
#include "cmd/tl-collective/collective.h"

#include <math.h>
#include <stdlib.h>

#include "stream/ndjson.h"
#include "json/json.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define RANGE_MAX ((int64_t)1 << 20)

/* ---- as text ---- */

/* Parts: members of args, except the last two; Seq follows. */
enum sig_part {
	P_PG,
	P_RANKS,
	P_NAME,
	P_N,
	P_DTYPE,
	P_IN,
	P_OUT,
	P_IN_SPLIT,
	P_OUT_SPLIT,
	P_STREAM,
	P_DESC,
	P_PEERS,
	P_KERNEL,
	P_PLAIN, /* number of parts without XLA's */
	P_MODULE = P_PLAIN,
	P_INSTRUCTION,
	P_OP_NAME,
	P_SOURCE,
	P_IN_BYTES,
	P_OUT_BYTES,
	P_COUNT,
	P_SRC = P_PEERS,
	P_DST,
	P_SEQ,
	P_ARGS
};

static const struct str arg_names[P_ARGS] = {
	[P_PG] = STR_INIT("Process Group Name"),
	[P_RANKS] = STR_INIT("Process Group Ranks"),
	[P_NAME] = STR_INIT("Collective name"),
	[P_N] = STR_INIT("Group size"),
	[P_DTYPE] = STR_INIT("dtype"),
	[P_IN] = STR_INIT("In msg nelems"),
	[P_OUT] = STR_INIT("Out msg nelems"),
	[P_IN_SPLIT] = STR_INIT("In split size"),
	[P_OUT_SPLIT] = STR_INIT("Out split size"),
	[P_STREAM] = STR_INIT("stream"),
	[P_DESC] = STR_INIT("Process Group Description"),
	[P_SRC] = STR_INIT("Src Rank"),
	[P_DST] = STR_INIT("Dst Rank"),
	[P_SEQ] = STR_INIT("Seq"),
};

bool
recognise(
    struct bucket_rules *rules, const struct dict *st, const struct event *ev)
{
	return ev->shape->kind == KIND_KERNEL &&
	    bucket_of_event(rules, st, ev) == BUCKET_COMM &&
	    (ev->corr.type != KEY_NONE || ev->ext.type != KEY_NONE) &&
	    str_eq(dict_get(st, ev->shape->cat), STR("kernel"));
}

static void
put_value(struct buf *b, const struct value *v)
{
	if (v->type == VAL_STR || v->type == VAL_STRX)
		json_put_string(b, v->s);
	else
		ndjson_put_value(b, v);
}

/* "3>5": point to point has its own sequence. */
static void
put_peers(struct buf *b, const struct value *src, const struct value *dst)
{
	if (src->type != VAL_INT || dst->type != VAL_INT) {
		buf_puts(b, "null");
		return;
	}
	buf_printf(b, "\"%" PRId64 ">%" PRId64 "\"", src->i, dst->i);
}

size_t
recognise_signature(const struct bucket_rules *rules, const struct dict *st,
    const struct event *ev, struct buf *b, uint32_t *seq)
{
	struct value v[P_ARGS] = { { .type = VAL_NULL } };
	struct entries it = entries_of(st, ev);
	struct str name = dict_get(st, ev->name), type;
	size_t of_group = 0;

	while (entries_next(&it)) {
		struct str key = dict_get(st, it.entry->key);

		if (it.entry->group != GROUP_ARGS)
			continue;
		for (size_t i = 0; i < P_ARGS; i++)
			if (str_eq(key, arg_names[i]))
				v[i] = it.val;
	}
	if (v[P_NAME].type == VAL_NULL &&
	    (type = bucket_comm_type(rules, name)).p != NULL)
		v[P_NAME] = (struct value){ .type = VAL_STRX, .s = type };
	*seq = v[P_SEQ].type == VAL_INT && v[P_SEQ].i >= 0 &&
		v[P_SEQ].i < UINT32_MAX - 1
	    ? (uint32_t)v[P_SEQ].i + 1
	    : 0;
	b->len = 0;
	for (size_t i = 0; i <= P_DESC; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		put_value(b, &v[i]);
		if (i == P_RANKS)
			of_group = b->len;
	}
	buf_putc(b, ',');
	put_peers(b, &v[P_SRC], &v[P_DST]);
	buf_putc(b, ',');
	json_put_string(b, name);
	buf_putc(b, ']');
	return of_group;
}

/* ---- classes and sizes ---- */

const char *const class_words[CLASS_COUNT] = {
	[CLASS_NONE] = "other",
	[CLASS_ALLREDUCE] = "allreduce",
	[CLASS_REDUCESCATTER] = "reducescatter",
	[CLASS_ALLGATHER] = "allgather",
	[CLASS_ALLTOALL] = "alltoall",
	[CLASS_ALLTOALLV] = "alltoallv",
	[CLASS_BROADCAST] = "broadcast",
	[CLASS_REDUCE] = "reduce",
	[CLASS_GATHER] = "gather",
	[CLASS_SCATTER] = "scatter",
	[CLASS_P2P] = "p2p",
	[CLASS_PERMUTE] = "permute",
	[CLASS_BARRIER] = "barrier",
};

/* Names of PyTorch and XLA; the first match counts. */
static const struct {
	struct str like;
	enum coll_class class;
} classes[] = {
	{ STR_INIT("allreduce*"), CLASS_ALLREDUCE },
	{ STR_INIT("all_reduce*"), CLASS_ALLREDUCE },
	{ STR_INIT("all-reduce"), CLASS_ALLREDUCE },
	{ STR_INIT("reduce-scatter"), CLASS_REDUCESCATTER },
	{ STR_INIT("all-gather"), CLASS_ALLGATHER },
	{ STR_INIT("all-to-all"), CLASS_ALLTOALL },
	{ STR_INIT("collective-permute"), CLASS_PERMUTE },
	{ STR_INIT("reducescatter*"), CLASS_REDUCESCATTER },
	{ STR_INIT("*reduce_scatter*"), CLASS_REDUCESCATTER },
	{ STR_INIT("*allgather*"), CLASS_ALLGATHER },
	{ STR_INIT("*all_gather*"), CLASS_ALLGATHER },
	{ STR_INIT("all_to_allv"), CLASS_ALLTOALLV },
	{ STR_INIT("all_to_all*"), CLASS_ALLTOALL },
	{ STR_INIT("alltoall*"), CLASS_ALLTOALL },
	{ STR_INIT("*broadcast*"), CLASS_BROADCAST },
	{ STR_INIT("reduce"), CLASS_REDUCE },
	{ STR_INIT("_reduce_oop"), CLASS_REDUCE },
	{ STR_INIT("gather"), CLASS_GATHER },
	{ STR_INIT("scatter"), CLASS_SCATTER },
	{ STR_INIT("send"), CLASS_P2P },
	{ STR_INIT("recv"), CLASS_P2P },
	{ STR_INIT("barrier"), CLASS_BARRIER },
};

static const struct {
	struct str name;
	int64_t bytes;
} dtypes[] = {
	{ STR_INIT("Float"), 4 },
	{ STR_INIT("Int"), 4 },
	{ STR_INIT("Long"), 8 },
	{ STR_INIT("BFloat16"), 2 },
	{ STR_INIT("Bool"), 1 },
	{ STR_INIT("Byte"), 1 },
	{ STR_INIT("Double"), 8 },
	{ STR_INIT("Half"), 2 },
	{ STR_INIT("Short"), 2 },
	{ STR_INIT("Char"), 1 },
	{ STR_INIT("UInt16"), 2 },
	{ STR_INIT("UInt32"), 4 },
	{ STR_INIT("UInt64"), 8 },
	{ STR_INIT("ComplexHalf"), 4 },
	{ STR_INIT("ComplexFloat"), 8 },
	{ STR_INIT("ComplexDouble"), 16 },
	{ STR_INIT("QInt8"), 1 },
	{ STR_INIT("QUInt8"), 1 },
	{ STR_INIT("QInt32"), 4 },
	{ STR_INIT("Float8_e5m2"), 1 },
	{ STR_INIT("Float8_e4m3fn"), 1 },
	{ STR_INIT("Float8_e5m2fnuz"), 1 },
	{ STR_INIT("Float8_e4m3fnuz"), 1 },
	{ STR_INIT("Float8_e8m0fnu"), 1 },
	{ STR_INIT("Float4_e2m1fn_x2"), 1 },
};

bool
class_is_sync(enum coll_class c)
{
	return c == CLASS_ALLREDUCE || c == CLASS_REDUCESCATTER ||
	    c == CLASS_ALLGATHER || c == CLASS_ALLTOALL;
}

/* Bus by algorithm bandwidth among n ranks. */
static double
bus_factor(enum coll_class c, int64_t n)
{
	double share = n > 0 ? (double)(n - 1) / (double)n : NAN;

	switch (n != NONE ? c : CLASS_NONE) {
	case CLASS_ALLREDUCE: return 2 * share;
	case CLASS_REDUCESCATTER:
	case CLASS_ALLGATHER:
	case CLASS_ALLTOALL:
	case CLASS_GATHER:
	case CLASS_SCATTER: return share;
	case CLASS_BROADCAST:
	case CLASS_REDUCE:
	case CLASS_PERMUTE:
	case CLASS_P2P: return 1;
	default: return NAN;
	}
}

/* NONE if either is, or on overflow. */
static int64_t
product(int64_t a, int64_t b)
{
	int64_t p;

	return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &p) ? NONE : p;
}

static void
size_sig(struct sig *s)
{
	int64_t elem =
	    s->in != NONE && s->elem_bytes > 0 ? s->elem_bytes : NONE;

	if (s->instruction.p == NULL) {
		s->in_bytes = product(s->in, elem);
		s->out_bytes = product(s->out, elem);
	}
	switch (s->class) {
	case CLASS_NONE:
	case CLASS_BARRIER: s->full_bytes = NONE; break;
	case CLASS_ALLGATHER: s->full_bytes = s->out_bytes; break;
	case CLASS_GATHER: s->full_bytes = product(s->in_bytes, s->n); break;
	default: s->full_bytes = s->in_bytes; break;
	}
	s->bus_factor = bus_factor(s->class, s->n);
}

/* ---- its parts ---- */

static bool
parse_parts(struct sig *s, const json_items *list)
{
	struct str *const texts[P_COUNT] = { [P_PG] = &s->pg,
		[P_RANKS] = &s->ranks,
		[P_NAME] = &s->name,
		[P_DTYPE] = &s->dtype,
		[P_IN_SPLIT] = &s->in_split,
		[P_OUT_SPLIT] = &s->out_split,
		[P_STREAM] = &s->gpu_stream,
		[P_DESC] = &s->desc,
		[P_PEERS] = &s->peers,
		[P_KERNEL] = &s->kernel,
		[P_MODULE] = &s->module,
		[P_INSTRUCTION] = &s->instruction,
		[P_OP_NAME] = &s->op_name,
		[P_SOURCE] = &s->source };
	int64_t *const numbers[P_COUNT] = { [P_N] = &s->n,
		[P_IN] = &s->in,
		[P_OUT] = &s->out,
		[P_IN_BYTES] = &s->in_bytes,
		[P_OUT_BYTES] = &s->out_bytes };
	bool is_whole = list->n == P_PLAIN || list->n == P_COUNT;

	for (size_t i = 0; i < list->n && is_whole; i++) {
		struct str part = list->v[i].text;

		if (list->v[i].type == JSON_T_NULL)
			part = (struct str){ NULL, 0 };
		if (texts[i] != NULL)
			*texts[i] = part;
		else if (part.p == NULL || !num_i64(part, numbers[i]))
			*numbers[i] = NONE;
	}
	return is_whole;
}

static enum coll_class
class_of(struct str name)
{
	for (size_t i = 0; i < COUNT(classes); i++)
		if (str_glob(classes[i].like, name))
			return classes[i].class;
	return CLASS_NONE;
}

static int64_t
size_of(struct str dtype)
{
	for (size_t i = 0; i < COUNT(dtypes); i++)
		if (str_eq(dtype, dtypes[i].name))
			return dtypes[i].bytes;
	return 0;
}

/* Number of a combination of parts. */
static uint32_t
number_of(struct intern *keys, const json_items *list, unsigned which)
{
	struct buf b = { 0 };
	uint32_t number;

	buf_printf(&b, "%x", which);
	for (size_t i = 0; i < list->n; i++) {
		const struct json_item *part = &list->v[i];

		if ((which >> i & 1) == 0)
			continue;
		buf_printf(
		    &b, ",%d:%zu:", part->type == JSON_T_NULL, part->text.len);
		buf_put(&b, part->text.p, part->text.len);
	}
	number = intern_put(keys, buf_str(&b));
	buf_free(&b);
	return number;
}

#define PART(part) (1U << (part))

void
sig_parse(
    struct sig *s, struct str text, struct intern *keys, struct arena *mem)
{
	unsigned match = PART(P_NAME) | PART(P_DTYPE) | PART(P_N) |
	    PART(P_MODULE) | PART(P_INSTRUCTION);
	unsigned alike = PART(P_PG) | PART(P_DTYPE);
	json_items list = { 0 };

	*s = (struct sig){ .group = UINT32_MAX };
	if (!json_split(&list, mem, text) || !parse_parts(s, &list))
		die("a signature is malformed: %.*s",
		    (int)(text.len < 200 ? text.len : 200), text.p);
	if (s->kernel.p == NULL)
		s->kernel = STR("");
	if (s->name.p != NULL)
		s->class = class_of(s->name);
	if (s->dtype.p != NULL)
		s->elem_bytes = size_of(s->dtype);
	size_sig(s);
	/* ranks of an all_to_allv move different amounts */
	if (s->class != CLASS_ALLTOALLV) {
		match |= PART(P_IN) | PART(P_OUT);
		alike = PART(P_NAME) | PART(P_DTYPE) | PART(P_IN);
	}
	s->key = number_of(keys, &list, PART(P_DESC) - 1);
	s->match = number_of(keys, &list, match);
	s->alike = number_of(keys, &list, alike);
	s->whole = number_of(keys, &list, match | PART(P_PG) | PART(P_RANKS));
	vec_free(&list);
}

/* ---- lists of numbers ---- */

static bool
is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

/* Appends what follows v in "v-last" or "v-last/step"; returns its end. */
static size_t
add_range(struct str text, size_t i, int64_t v, int_vec *out)
{
	int64_t to[2] = { v, 1 };

	for (size_t k = 0; k < 2; k++) {
		size_t from = i + 1;

		if (i == text.len || text.p[i] != "-/"[k])
			break;
		for (i++; i < text.len && is_digit(text.p[i]); i++)
			;
		if (!num_i64((struct str){ text.p + from, i - from }, &to[k]))
			break;
	}
	if (to[1] < 1 || (to[0] - v) / to[1] > RANGE_MAX)
		return i;
	for (int64_t k = (to[0] - v) / to[1]; k > 0; k--)
		vec_push(out, v += to[1]);
	return i;
}

/*
 * All runs of digits, and ranges of put_members(); "..." means that the
 * profiler cut the list.
 */
bool
list_ints(struct str text, int_vec *out, bool *is_cut)
{
	out->n = 0;
	*is_cut = text.p != NULL && str_find(text, STR("..."), false) >= 0;
	for (size_t i = 0; i < text.len;) {
		size_t from = i;
		int64_t v;

		while (i < text.len && is_digit(text.p[i]))
			i++;
		if (i == from) {
			i++;
			continue;
		}
		if (!num_i64((struct str){ text.p + from, i - from }, &v))
			return false;
		vec_push(out, v);
		i = add_range(text, i, v, out);
	}
	return out->n > 0;
}

void
put_members(struct buf *b, const int64_t *v, size_t n)
{
	int64_t step = n > 2 ? v[1] - v[0] : 1;

	for (size_t i = 2; i < n; i++)
		if (v[i] - v[i - 1] != step)
			step = 1;
	if (step > 1)
		buf_printf(b, "%" PRId64 "-%" PRId64 "/%" PRId64, v[0],
		    v[n - 1], step);
	else
		put_ranges(b, v, n);
}

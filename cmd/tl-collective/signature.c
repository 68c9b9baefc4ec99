/* SPDX-License-Identifier: MIT */
/* The parts of a signature, its sizes and its class. */
#include "cmd/tl-collective/collective.h"

#include <math.h>
#include <stdlib.h>

#include "json/json.h"

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
	[CLASS_BARRIER] = "barrier",
};

static const struct {
	struct str name;
	enum coll_class class;
} classes[] = {
	{ STR_INIT("allreduce"), CLASS_ALLREDUCE },
	{ STR_INIT("allreduce_coalesced"), CLASS_ALLREDUCE },
	{ STR_INIT("all_reduce"), CLASS_ALLREDUCE },
	{ STR_INIT("allreduce_sparse"), CLASS_ALLREDUCE },
	{ STR_INIT("allreduce_sparse_"), CLASS_ALLREDUCE },
	{ STR_INIT("reducescatter"), CLASS_REDUCESCATTER },
	{ STR_INIT("_reduce_scatter_base"), CLASS_REDUCESCATTER },
	{ STR_INIT("reduce_scatter_tensor_coalesced"), CLASS_REDUCESCATTER },
	{ STR_INIT("reduce_scatter"), CLASS_REDUCESCATTER },
	{ STR_INIT("reduce_scatter_tensor"), CLASS_REDUCESCATTER },
	{ STR_INIT("allgather"), CLASS_ALLGATHER },
	{ STR_INIT("all_gather"), CLASS_ALLGATHER },
	{ STR_INIT("_allgather_base"), CLASS_ALLGATHER },
	{ STR_INIT("_all_gather_base"), CLASS_ALLGATHER },
	{ STR_INIT("all_gather_into_tensor_coalesced"), CLASS_ALLGATHER },
	{ STR_INIT("allgather_into_tensor_coalesced"), CLASS_ALLGATHER },
	{ STR_INIT("allgather_coalesced"), CLASS_ALLGATHER },
	{ STR_INIT("all_to_all"), CLASS_ALLTOALL },
	{ STR_INIT("alltoall"), CLASS_ALLTOALL },
	{ STR_INIT("alltoall_base"), CLASS_ALLTOALL },
	{ STR_INIT("all_to_all_single"), CLASS_ALLTOALL },
	{ STR_INIT("all_to_allv"), CLASS_ALLTOALLV },
	{ STR_INIT("broadcast"), CLASS_BROADCAST },
	{ STR_INIT("_broadcast_oop"), CLASS_BROADCAST },
	{ STR_INIT("broadcast_coalesced"), CLASS_BROADCAST },
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

#define COUNT(a) (sizeof(a) / sizeof *(a))

bool
class_is_sync(enum coll_class c)
{
	return c == CLASS_ALLREDUCE || c == CLASS_REDUCESCATTER ||
	    c == CLASS_ALLGATHER || c == CLASS_ALLTOALL;
}

/* Bus over algorithmic bandwidth among n. */
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
	case CLASS_P2P: return 1;
	default: return NAN;
	}
}

/* NONE if either is, or there is no such number. */
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

	s->in_bytes = product(s->in, elem);
	s->out_bytes = product(s->out, elem);
	switch (s->class) {
	case CLASS_NONE:
	case CLASS_BARRIER: s->full_bytes = NONE; break;
	case CLASS_ALLGATHER: s->full_bytes = s->out_bytes; break;
	case CLASS_GATHER: s->full_bytes = product(s->in_bytes, s->n); break;
	default: s->full_bytes = s->in_bytes; break;
	}
	s->bus_factor = bus_factor(s->class, s->n);
}

/* ---- parsing ---- */

/* The parts of a signature's text, in this order. */
static bool
parse_parts(struct sig *s, struct str text, struct arena *mem)
{
	struct str *const texts[] = { &s->pg, &s->ranks, &s->name, NULL,
		&s->dtype, NULL, NULL, &s->in_split, &s->out_split,
		&s->gpu_stream, &s->desc, &s->peers, &s->kernel };
	int64_t *const numbers[] = { [3] = &s->n, [5] = &s->in, [6] = &s->out };
	json_items list = { 0 };
	bool is_good = json_split(&list, mem, text) && list.n == COUNT(texts);

	for (size_t i = 0; i < COUNT(texts) && is_good; i++) {
		struct str part = list.v[i].text;

		if (list.v[i].type == JSON_T_NULL)
			part = (struct str){ NULL, 0 };
		if (texts[i] != NULL)
			*texts[i] = part;
		else if (part.p == NULL || !num_i64(part, numbers[i]))
			*numbers[i] = NONE;
	}
	vec_free(&list);
	return is_good;
}

static enum coll_class
class_of(struct str name)
{
	for (size_t i = 0; i < COUNT(classes); i++)
		if (str_eq(name, classes[i].name))
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

static void
put_part(struct buf *b, struct str s)
{
	buf_printf(b, "%d:%zu:", s.p != NULL, s.len);
	buf_put(b, s.p, s.len);
}

/* What two collectives must have in common to be counted together. */
static void
number_sig(struct sig *s, struct intern *keys)
{
	bool is_even = s->class != CLASS_ALLTOALLV;
	struct buf b = { 0 };

	buf_putc(&b, 'k');
	put_part(&b, s->pg);
	put_part(&b, s->ranks);
	put_part(&b, s->name);
	put_part(&b, s->dtype);
	put_part(&b, s->in_split);
	put_part(&b, s->out_split);
	put_part(&b, s->gpu_stream);
	buf_printf(&b, "%" PRId64 ",%" PRId64 ",%" PRId64, s->n, s->in, s->out);
	s->key = intern_put(keys, buf_str(&b));
	/* ranks send and get different amounts in an all_to_allv */
	b.len = 0;
	buf_putc(&b, 'm');
	put_part(&b, s->name);
	put_part(&b, s->dtype);
	buf_printf(&b, "%" PRId64 ",%" PRId64 ",%" PRId64, s->n,
	    is_even ? s->in : 0, is_even ? s->out : 0);
	s->match = intern_put(keys, buf_str(&b));
	buf_free(&b);
}

void
sig_parse(
    struct sig *s, struct str text, struct intern *keys, struct arena *mem)
{
	*s = (struct sig){ .group = UINT32_MAX };
	if (!parse_parts(s, text, mem))
		die("a signature is malformed: %.*s",
		    (int)(text.len < 200 ? text.len : 200), text.p);
	if (s->kernel.p == NULL)
		s->kernel = STR("");
	if (s->name.p != NULL)
		s->class = class_of(s->name);
	if (s->dtype.p != NULL)
		s->elem_bytes = size_of(s->dtype);
	size_sig(s);
	number_sig(s, keys);
}

/* ---- lists of numbers ---- */

static bool
is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

/* All runs of digits; "..." among them says that the profiler cut the list. */
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
	}
	return out->n > 0;
}

void
put_ranges(struct buf *b, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = i;

		while (k + 1 < n && v[k + 1] == v[k] + 1)
			k++;
		buf_printf(b, "%s%" PRId64, i > 0 ? "," : "", v[i]);
		if (k > i)
			buf_printf(
			    b, "%c%" PRId64, k == i + 1 ? ',' : '-', v[k]);
		i = k + 1;
	}
}

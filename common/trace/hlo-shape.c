/* SPDX-License-Identifier: MIT */
/* Shapes of HLO: see hlo-shape.h. */
#include "trace/hlo-shape.h"

/* What a type's name says: bf16, f8e4m3fn, s4; pred is a byte, a token none. */
static int64_t
bits_of(struct str type)
{
	int64_t bits = 0;
	size_t i = 0;

	if (str_eq(type, STR("pred")))
		return 8;
	while (i < type.len && (unsigned)(type.p[i] - '0') >= 10)
		i++;
	for (; i < type.len && (unsigned)(type.p[i] - '0') < 10 && bits < 1024;
	     i++)
		bits = bits * 10 + (type.p[i] - '0');
	return bits;
}

/* The numbers of a list up to its end, separated by commas; bounds are "<=16".
 * False: too many or too large. */
static bool
numbers(const char **p, const char *end, int64_t *v, size_t *n)
{
	for (*n = 0; *p < end && **p != ']' && **p != '}' && **p != ':';
	     (*p)++) {
		unsigned digit = (unsigned)(**p - '0');

		if (*n == 0 || **p == ',') {
			if (*n == HLO_DIMS_MAX)
				return false;
			v[(*n)++] = 0;
		}
		if (digit < 10 &&
		    (__builtin_mul_overflow(v[*n - 1], 10, &v[*n - 1]) ||
			__builtin_add_overflow(v[*n - 1], digit, &v[*n - 1])))
			return false;
	}
	return true;
}

static void
read_dims(struct hlo_array *a, const char **p, const char *end)
{
	int64_t bits = bits_of(a->type);

	a->nelems = 1;
	if (!numbers(p, end, a->dims, &a->ndims)) {
		a->nelems = HLO_UNKNOWN;
		a->ndims = 0;
	}
	for (size_t i = 0; i < a->ndims && a->nelems != HLO_UNKNOWN; i++)
		if (__builtin_mul_overflow(a->nelems, a->dims[i], &a->nelems))
			a->nelems = HLO_UNKNOWN;
	if (bits == 0)
		a->bytes = 0;
	else if (a->nelems == HLO_UNKNOWN ||
	    __builtin_mul_overflow(a->nelems, bits, &a->bytes))
		a->bytes = HLO_UNKNOWN;
	else
		a->bytes = a->bytes / 8 + (a->bytes % 8 != 0);
}

static const char *
behind(const char *p, const char *end, char c)
{
	p = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
	return p != NULL ? p + 1 : end;
}

bool
hlo_next_array(struct str *shape, struct hlo_array *a)
{
	const char *p = shape->p, *end = p + shape->len;
	const char *from = p;

	for (; p < end && *p != '['; p++)
		if (*p != '_' && !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') &&
		    !(*p >= '0' && *p <= '9'))
			from = p + 1;
	if (p == end)
		return false;
	a->type = (struct str){ from, (size_t)(p - from) };
	p++;
	read_dims(a, &p, end);
	p = behind(p, end, ']');
	a->norder = 0;
	if (p < end && *p == '{') {
		p++;
		if (!numbers(&p, end, a->order, &a->norder))
			a->norder = 0;
		p = behind(p, end, '}');
	}
	*shape = (struct str){ p, (size_t)(end - p) };
	return true;
}

/* SPDX-License-Identifier: MIT */
/* Elements and bytes of shapes as HLO writes them. */
#include "cmd/tl-collective/hlo.h"

#include "cmd/tl-collective/collective.h"

static void
add(int64_t *sum, int64_t v)
{
	if (*sum != NONE && (v == NONE || !num_add(*sum, v, sum)))
		*sum = NONE;
}

static bool
is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

/* What a type's name says: bf16, f8e4m3fn, s4; pred is a byte, a token none. */
static int64_t
bits_of(struct str type)
{
	int64_t bits = 0;
	size_t i = 0;

	if (str_eq(type, STR("pred")))
		return 8;
	while (i < type.len && !is_digit(type.p[i]))
		i++;
	for (; i < type.len && is_digit(type.p[i]) && bits < 1024; i++)
		bits = bits * 10 + (type.p[i] - '0');
	return bits;
}

static struct str
str_from(struct str s, size_t i)
{
	return i < s.len ? (struct str){ s.p + i, s.len - i } : STR("");
}

/* The dimensions behind the bracket at i; where they end. */
static size_t
read_dims(struct str shape, size_t i, int64_t *nelems)
{
	*nelems = 1;
	while (i < shape.len && shape.p[i] != ']') {
		size_t from;
		int64_t dim;

		i += str_starts(str_from(shape, i + 1), STR("<=")) ? 3 : 1;
		from = i; /* <=8: at most */
		while (i < shape.len && is_digit(shape.p[i]))
			i++;
		if (i > from &&
		    (!num_i64((struct str){ shape.p + from, i - from }, &dim) ||
			*nelems == NONE ||
			__builtin_mul_overflow(*nelems, dim, nelems)))
			*nelems = NONE;
		while (i < shape.len && shape.p[i] != ',' && shape.p[i] != ']')
			i++;
	}
	return i;
}

void
moved_add(struct moved *m, struct str shape)
{
	size_t from = 0;

	for (size_t i = 0; i < shape.len; i++) {
		struct str type = { shape.p + from, i - from };
		int64_t bits, n, bytes;

		if (shape.p[i] == '{')
			while (i < shape.len && shape.p[i] != '}')
				i++;
		if (i < shape.len && shape.p[i] == '[' &&
		    (bits = bits_of(type)) > 0) {
			i = read_dims(shape, i, &n);
			bytes = n;
			if (n != NONE &&
			    !__builtin_mul_overflow(n, bits, &bytes))
				bytes = bytes / 8 + (bytes % 8 != 0);
			else
				bytes = NONE;
			add(&m->nelems, n);
			add(&m->bytes, bytes);
			m->dtype = m->dtype.p == NULL || str_eq(m->dtype, type)
			    ? type
			    : STR("mixed");
		}
		if (i < shape.len && strchr("(), ]}", shape.p[i]) != NULL)
			from = i + 1;
	}
}

struct str
shape_second(struct str shape)
{
	size_t from = 0, i = 0;
	int depth = 0;

	for (; i < shape.len; i++) {
		char c = shape.p[i];

		depth += (c == '(' || c == '[' || c == '{') -
		    (c == ')' || c == ']' || c == '}');
		if (c != ',' || depth != 1)
			continue;
		if (from > 0)
			break;
		from = i + 1;
	}
	return from > 0 ? (struct str){ shape.p + from, i - from } : shape;
}

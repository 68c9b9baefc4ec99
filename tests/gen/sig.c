/* SPDX-License-Identifier: MIT */
/*
 * Input Dims, type, Strides and Concrete Inputs from a short signature, one
 * word per input:
 *
 *   b:B,S,H    a contiguous BFloat16 tensor; f float, l long int, o bool
 *   b~H,F      the same with its two dimensions transposed in memory
 *   *4b:H,H    a TensorList of four
 *   =0.1       a Scalar; #[1,1] a ScalarList (no blanks)
 *   -          nothing
 *
 * A dimension is a number or a product of letters: B batch, S sequence,
 * H hidden, F feed-forward (4 H), V vocabulary, D head size, N heads.
 * Rendered once and kept: signatures are literals, identified by address.
 */
#include "gen.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NSLOTS = 1024, MAX_DIMS = 8, FIELD_MAX = 8192 };

struct field {
	char s[FIELD_MAX];
	size_t n;
};

static void
add(struct field *f, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(f->s + f->n, sizeof f->s - f->n, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof f->s - f->n)
		die("a signature is too long");
	f->n += (size_t)n;
}

static int64_t
letter(const struct conf *cf, char c)
{
	switch (c) {
	case 'B': return cf->batch;
	case 'S': return cf->seq_len;
	case 'H': return cf->hidden;
	case 'F': return 4 * cf->hidden;
	case 'V': return cf->vocab;
	case 'N': return cf->heads;
	case 'D': return cf->hidden / cf->heads;
	default: die("signature: dimension %c", c);
	}
}

static const char *
dims(const struct conf *cf, const char *p, int64_t *d, int *n)
{
	*n = 0;
	while (*p != '\0' && *p != ' ') {
		int64_t v = 1;

		if (isdigit((unsigned char)*p))
			v = strtoll(p, (char **)(uintptr_t)&p, 10);
		for (; *p >= 'A' && *p <= 'Z'; p++)
			v *= letter(cf, *p);
		d[(*n)++] = v;
		if (*p == ',')
			p++;
	}
	return p;
}

static void
list(struct field *f, const int64_t *d, int n)
{
	add(f, "[");
	for (int i = 0; i < n; i++)
		add(f, "%s%" PRId64, i > 0 ? ", " : "", d[i]);
	add(f, "]");
}

static const char *
type_name(char c)
{
	switch (c) {
	case 'b': return "c10::BFloat16";
	case 'f': return "float";
	case 'l': return "long int";
	case 'o': return "bool";
	default: die("signature: type %c", c);
	}
}

struct quad {
	struct field concrete, type, stride, dim;
};

static const char *
tensor(const struct conf *cf, struct quad *q, const char *p)
{
	int64_t d[MAX_DIMS], st[MAX_DIMS];
	int64_t run = 1;
	long copies = 1;
	bool many = *p == '*';
	char type, form;
	int n;

	if (many)
		copies = strtol(p + 1, (char **)(uintptr_t)&p, 10);
	type = p[0];
	form = p[1];
	p = dims(cf, p + 2, d, &n);
	for (int i = n - 1; i >= 0; i--) {
		st[i] = run;
		run *= d[i];
	}
	if (form == '~') { /* two dimensions, stored the other way round */
		st[0] = 1;
		st[1] = d[0];
	}
	add(&q->concrete, "\"\"");
	add(&q->type, "\"%s\"", many ? "TensorList" : type_name(type));
	if (many) {
		add(&q->stride, "[");
		add(&q->dim, "[");
	}
	for (long i = 0; i < copies; i++) {
		if (i > 0) {
			add(&q->stride, ", ");
			add(&q->dim, ", ");
		}
		list(&q->stride, st, n);
		list(&q->dim, d, n);
	}
	if (many) {
		add(&q->stride, "]");
		add(&q->dim, "]");
	}
	return p;
}

static const char *
input(const struct conf *cf, struct quad *q, const char *p)
{
	size_t n = strcspn(p, " ");

	if (*p != '=' && *p != '#' && *p != '-')
		return tensor(cf, q, p);
	add(&q->stride, "[]");
	add(&q->dim, "[]");
	add(&q->concrete, "\"%.*s\"", (int)n - 1, p + 1);
	add(&q->type, "\"%s\"",
	    *p == '='       ? "Scalar"
		: *p == '#' ? "ScalarList"
			    : "");
	return p + n;
}

static void
render(const struct conf *cf, struct sig *sig)
{
	struct quad *q = calloc(1, sizeof *q);
	const char *p = sig->key;
	const char *sep = "";
	size_t size;

	if (q == NULL)
		die("out of memory");
	while (*p != '\0') {
		add(&q->concrete, "%s", sep);
		add(&q->type, "%s", sep);
		add(&q->stride, "%s", sep);
		add(&q->dim, "%s", sep);
		p = input(cf, q, p);
		p += *p == ' ';
		sep = ", ";
	}
	size = q->concrete.n + q->type.n + q->stride.n + q->dim.n + 128;
	sig->text = malloc(size);
	if (sig->text == NULL)
		die("out of memory");
	sig->len = (size_t)snprintf(sig->text, size,
	    "\"Concrete Inputs\": [%s], \"Input type\": [%s], "
	    "\"Input Strides\": [%s], \"Input Dims\": [%s], ",
	    q->concrete.s, q->type.s, q->stride.s, q->dim.s);
	free(q);
}

/* Kept until the end; conf is the same for the whole run. */
const struct sig *
sig_get(const struct conf *cf, const char *text)
{
	static struct sig slots[NSLOTS];
	static size_t used;
	size_t i = ((uintptr_t)text * 0x9e3779b97f4a7c15u) >> 54;

	while (slots[i].key != text) {
		if (slots[i].key == NULL) {
			if (++used > NSLOTS / 2)
				die("too many signatures");
			slots[i].key = text;
			render(cf, &slots[i]);
			break;
		}
		i = (i + 1) % NSLOTS;
	}
	return &slots[i];
}

/* SPDX-License-Identifier: MIT */
/* Whether a rule fits a row of facts, and its text. */
#include <math.h>

#include "cmd/tl-advise/advise.h"

#define NS_MAX 9e18   /* below INT64_MAX */
#define DEPTH_MAX 16  /* nested brackets in a text */
#define NAME_WIDTH 60 /* of an op or kernel in a sentence */

/* ---- facts ---- */

void
fact_put(struct facts *f, const char *id, struct cell v)
{
	vec_push(&f->list, ((struct field){ str_of(id), v }));
}

struct facts
facts_made(const struct advice *a, const char *table)
{
	struct facts f = { .table = str_of(table) };

	fact_put(
	    &f, "gpu", cell_text(str_of(a->whole->is_tpu ? "TPU" : "GPU")));
	return f;
}

void
fact_share(struct facts *f, const char *id, int64_t part, int64_t whole)
{
	fact_put(f, id,
	    whole > 0 ? cell_real(100 * (double)part / (double)whole)
		      : cell_none());
}

const struct cell *
fact_of(const struct facts *f, struct str id)
{
	for (size_t i = 0; i < f->list.n; i++) {
		const struct cell *v = &f->list.v[i].v;

		if (str_eq(f->list.v[i].id, id))
			return v->type == CELL_NONE ||
				(v->type == CELL_TEXT && v->text.len == 0)
			    ? NULL
			    : v;
	}
	return NULL;
}

static bool
number_of(const struct cell *v, double *n)
{
	if (v != NULL && v->type == CELL_INT)
		*n = (double)v->i;
	else if (v != NULL && v->type == CELL_REAL)
		*n = v->real;
	else
		return false;
	return true;
}

double
fact_real(const struct facts *f, struct str id)
{
	double n;

	return number_of(fact_of(f, id), &n) ? n : 0;
}

/* ---- conditions ---- */

/* A value as text, for patterns. */
static void
put_plain(struct buf *b, const struct cell *v)
{
	char digits[64];

	switch (v->type) {
	case CELL_TEXT: buf_put(b, v->text.p, v->text.len); break;
	case CELL_INT: buf_printf(b, "%" PRId64, v->i); break;
	case CELL_BOOL: buf_puts(b, v->yes ? "true" : "false"); break;
	case CELL_REAL:
		buf_put(b, digits, num_put_double(digits, v->real));
		break;
	case CELL_NONE: break;
	}
}

static bool
is_like(struct str patterns, const struct cell *v)
{
	const char *list = patterns.p;
	struct buf b = { 0 };
	struct str word;
	bool is = false;

	put_plain(&b, v);
	while (!is && str_next(&list, '|', &word))
		is = str_glob(word, buf_str(&b));
	buf_free(&b);
	return is;
}

static bool
holds(const struct condition *c, const struct facts *f)
{
	const struct cell *v = fact_of(f, c->id);
	double n = 0;

	switch (c->test) {
	case TEST_LIKE: return v != NULL && is_like(c->like, v);
	case TEST_UNLIKE: return v == NULL || !is_like(c->like, v);
	case TEST_THERE: return v != NULL;
	case TEST_MISSING: return v == NULL;
	default: break;
	}
	if (!number_of(v, &n))
		return false;
	switch (c->test) {
	case TEST_LESS: return n < c->number;
	case TEST_AT_MOST: return n <= c->number;
	case TEST_MORE: return n > c->number;
	default: return n >= c->number;
	}
}

bool
rule_fits(const struct rule *r, const struct facts *f)
{
	for (size_t i = 0; i < r->when.n; i++)
		if (!holds(&r->when.v[i], f))
			return false;
	return true;
}

/* Rows of other programs and of examples may hold any number. */
static int64_t
whole_ns(double ns)
{
	return isnan(ns) ? 0 : (int64_t)round(fmax(-NS_MAX, fmin(ns, NS_MAX)));
}

void
rule_gains(const struct rule *r, const struct facts *f, int64_t gain_ns[GAINS])
{
	double ns = fact_real(f, r->gain);

	for (size_t i = 0; i < GAINS; i++) {
		double v = ns * r->factors[i] * (f->is_sum ? f->passes[i] : 1);

		gain_ns[i] = v > 0 ? whole_ns(v) : 0;
	}
}

/* ---- texts ---- */

/* Whether a part of the id is this word. */
static bool
has_word(struct str id, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= id.len; i++)
		if (memcmp(id.p + i, word, n) == 0 &&
		    (i == 0 || id.p[i - 1] == '_') &&
		    (i + n == id.len || id.p[i + n] == '_'))
			return true;
	return false;
}

static bool
is_sentence(struct str id)
{
	return str_eq(id, STR("advice")) || str_eq(id, STR("text")) ||
	    str_eq(id, STR("says")) || str_eq(id, STR("finding"));
}

/* By its id: a time, a share, a name, a count. */
static void
put_value(struct buf *b, struct str id, const struct cell *v)
{
	double n;

	if (v->type == CELL_TEXT) {
		if (is_sentence(id))
			text_visible(v->text, b);
		else
			table_fold_name(v->text, NAME_WIDTH, b);
	} else if (!number_of(v, &n)) {
		buf_puts(b, v->yes ? "yes" : "no");
	} else if (has_word(id, "ns")) {
		put_time(b, whole_ns(n));
	} else if (has_word(id, "percent") || has_word(id, "pct")) {
		buf_printf(b, "%.1f %%", n);
	} else if (v->type == CELL_REAL) {
		buf_printf(b, "%.4g", n);
	} else if (has_word(id, "uid") || has_word(id, "rank")) {
		buf_printf(b, "%" PRId64, v->i);
	} else {
		put_count(b, v->i);
	}
}

/* "{calls}", or "{calls:call|calls}" by number. */
static bool
put_fact(struct buf *b, struct str body, const struct facts *f)
{
	const char *colon = memchr(body.p, ':', body.len);
	struct str id = body, words = { NULL, 0 };
	const struct cell *v;
	const char *bar;

	if (colon != NULL) {
		id.len = (size_t)(colon - body.p);
		words = (struct str){ colon + 1, body.len - id.len - 1 };
	}
	v = fact_of(f, id);
	if (v == NULL)
		return false;
	bar = colon != NULL ? memchr(words.p, '|', words.len) : NULL;
	if (bar == NULL)
		put_value(b, id, v);
	else if (v->type == CELL_INT && v->i == 1)
		buf_put(b, words.p, (size_t)(bar - words.p));
	else
		buf_put(b, bar + 1, (size_t)(words.p + words.len - bar - 1));
	return true;
}

/*
 * Up to a closing bracket or the end; false: a fact is missing. Deeper brackets
 * than DEPTH_MAX are text.
 */
static bool
put_text(struct buf *b, struct str *rest, const struct facts *f, int depth)
{
	bool is_whole = true;

	while (rest->len > 0) {
		char c = *rest->p++;
		size_t start = b->len;
		const char *end;

		rest->len--;
		if (c == ']')
			break;
		if (c == '[' && depth < DEPTH_MAX) {
			if (!put_text(b, rest, f, depth + 1))
				b->len = start;
			continue;
		}
		end = c == '{' ? memchr(rest->p, '}', rest->len) : NULL;
		if (end == NULL) {
			buf_putc(b, c);
			continue;
		}
		is_whole &= put_fact(
		    b, (struct str){ rest->p, (size_t)(end - rest->p) }, f);
		rest->len -= (size_t)(end - rest->p) + 1;
		rest->p = end + 1;
	}
	return is_whole;
}

bool
rule_say(struct buf *b, struct str text, const struct facts *f)
{
	bool is_whole = true;

	while (text.len > 0)
		is_whole &= put_text(b, &text, f, 0);
	return is_whole;
}

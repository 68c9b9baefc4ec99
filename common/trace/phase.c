/* SPDX-License-Identifier: MIT */
/* Matches a name against a form, in one pass over the name. */
#include "trace/phase-inside.h"

#include <ctype.h>

const char *const phase_words[PHASE_COUNT] = { "outside", "generic", "prefill",
	"decode", "mixed" };

enum phase
phase_of_word(struct str word)
{
	unsigned p = 0;

	while (p < PHASE_COUNT && !str_eq(word, str_of(phase_words[p])))
		p++;
	return (enum phase)p;
}

/* The rest of a name. */
struct rest {
	const char *p, *end;
};

static bool
is_digit(const struct rest *r)
{
	return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool
take_char(struct rest *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

/* A number beyond int64 counts as 0. */
static bool
take_number(struct rest *r, int64_t *n)
{
	const char *from = r->p;

	while (is_digit(r))
		r->p++;
	if (r->p == from)
		return false;
	if (!num_i64((struct str){ from, (size_t)(r->p - from) }, n))
		*n = 0;
	return true;
}

static int64_t *
field_at(struct iteration *it, uint16_t offset)
{
	return (int64_t *)((char *)it + offset);
}

static void
set_field(struct iteration *it, uint16_t offset, int64_t n)
{
	int64_t *field = field_at(it, offset);

	it->has_requests |= offset < offsetof(struct iteration, context_sum);
	it->has_load |= offset < offsetof(struct iteration, padded);
	if (*field <= 0)
		*field = n;
}

static void
set_fields(struct iteration *it, const struct form_target *to, int64_t n)
{
	for (size_t i = 0; i < to->n; i++)
		set_field(it, to->fields[i], n);
}

/* ---- keys and values ---- */

struct key_value {
	int64_t n, rest; /* rest, -1: there is none */
	struct str list;
	bool is_told;
};

/* "[4096, 4096]", maybe with "...+3" after it. */
static bool
take_list(struct rest *r, struct key_value *v)
{
	static const char more[] = "...+";
	const char *from = r->p,
		   *close = memchr(r->p, ']', (size_t)(r->end - r->p));
	int64_t n;

	if (close == NULL)
		return false;
	r->p = close + 1;
	if ((size_t)(r->end - r->p) > strlen(more) &&
	    memcmp(r->p, more, strlen(more)) == 0) {
		struct rest behind = { r->p + strlen(more), r->end };

		if (take_number(&behind, &n))
			r->p = behind.p;
	}
	v->list = (struct str){ from, (size_t)(r->p - from) };
	v->is_told = true;
	return true;
}

/* False: a list has no end. */
static bool
take_value(struct rest *r, struct key_value *v)
{
	*v = (struct key_value){ .rest = -1 };
	if (r->p < r->end && *r->p == '[')
		return take_list(r, v);
	v->is_told = take_number(r, &v->n);
	if (v->is_told && take_char(r, '/'))
		(void)!take_number(r, &v->rest);
	return true;
}

static size_t
key_of(const struct form *f, struct str key)
{
	size_t i = 0;

	while (i < f->keys.n && !str_eq(f->keys.v[i].key, key))
		i++;
	return i;
}

static void
set_value(struct iteration *it, const struct form_key *k, struct str name,
    const struct key_value *v)
{
	if (k->is_list && v->list.len > 0) {
		it->ctx_at = (uint32_t)(v->list.p - name.p);
		it->ctx_len = (uint32_t)v->list.len;
	} else if (v->list.len == 0) {
		set_fields(it, &k->to, v->n);
		if (k->to.rest != 0 && v->rest >= 0)
			set_field(it, k->to.rest, v->rest);
	}
}

/* Up to the closing bracket; of repeated keys the first counts. */
static bool
take_keys(
    const struct form *f, struct rest *r, struct str name, struct iteration *it)
{
	struct key_value values[KEYS_MAX] = { 0 };
	bool has_sums = true;

	if (r->p > name.p && is_word(r->p[-1]) && r->p < r->end &&
	    is_word(*r->p))
		return false; /* another word with this prefix */
	while (r->p < r->end && *r->p != ']') {
		const char *from = r->p;
		struct key_value v = { .n = 1, .rest = -1, .is_told = true };
		size_t k;

		while (r->p < r->end && is_word(*r->p))
			r->p++;
		if (r->p == from) {
			r->p++;
			continue;
		}
		k = key_of(f, (struct str){ from, (size_t)(r->p - from) });
		if (take_char(r, '=') && !take_value(r, &v))
			return false;
		if (k < f->keys.n && !values[k].is_told)
			values[k] = v;
	}
	for (size_t i = 0; i < f->keys.n; i++) {
		if (values[i].is_told)
			set_value(it, &f->keys.v[i], name, &values[i]);
		has_sums &= values[i].is_told || !f->keys.v[i].is_sum;
	}
	it->has_sqsk = f->tier == ITERATION_DETAILED && has_sums;
	return r->p < r->end;
}

/* ---- forms ---- */

static bool
take_part(const struct form *f, const struct form_part *part, struct rest *r,
    struct str name, struct iteration *it)
{
	int64_t n;

	switch (part->what) {
	case PART_TEXT:
		if ((size_t)(r->end - r->p) < part->text.len ||
		    memcmp(r->p, part->text.p, part->text.len) != 0)
			return false;
		r->p += part->text.len;
		return true;
	case PART_NUMBER:
		if (!take_number(r, &n))
			return false;
		set_fields(it, &part->to, n);
		return true;
	default: return take_keys(f, r, name, it);
	}
}

static int64_t
sum_of(int64_t a, int64_t b)
{
	int64_t sum;

	return num_add(a, b, &sum) ? sum : 0;
}

static enum phase
phase_of(const struct form *f, const struct iteration *it)
{
	if (f->phase == PHASE_DECODE && it->p > 0)
		return PHASE_MIXED;
	if (f->phase != PHASE_OUTSIDE)
		return f->phase;
	if (it->context_requests > 0)
		return it->generation_requests > 0 ? PHASE_MIXED
						   : PHASE_PREFILL;
	return it->generation_requests > 0 ? PHASE_DECODE : PHASE_GENERIC;
}

/* One request of one token. */
static void
set_one(struct iteration *it, bool is_context)
{
	*(is_context ? &it->context_requests : &it->generation_requests) = 1;
	*(is_context ? &it->context_sum : &it->generation_sum) = 1;
	it->batch_size = 1;
}

bool
form_matches(const struct form *f, struct str name, struct iteration *it)
{
	struct rest r = { name.p, name.p + name.len };
	int64_t tokens;

	*it = (struct iteration){ .tier = f->tier,
		.has_sqsk = f->tier == ITERATION_DETAILED,
		.padded = -1,
		.spec = -1,
		.p = -1,
		.d = -1,
		.overlap = -1 };
	for (size_t i = 0; i < f->parts.n; i++)
		if (!take_part(f, &f->parts.v[i], &r, name, it))
			return false;
	if (f->like.len > 0 && !str_glob(f->like, name))
		return false;
	if (!it->has_load)
		set_one(it, f->phase == PHASE_PREFILL);
	tokens = sum_of(it->c_sq, it->g_sq);
	if (tokens != 0)
		it->batch_size = tokens;
	it->num_requests =
	    sum_of(it->context_requests, it->generation_requests);
	it->phase = (uint8_t)phase_of(f, it);
	return true;
}

int64_t
iteration_tokens(const struct iteration *it)
{
	int64_t tokens = sum_of(it->context_sum, it->generation_sum);

	return it->has_load && tokens > 0 ? tokens : -1;
}

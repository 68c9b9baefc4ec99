/* SPDX-License-Identifier: MIT */
/*
 * Steps of serving frameworks: each writes its batch into an annotation's
 * name.
 *
 *	execute_6147_context_2(sq6144sk7144sqsq..sqsk..)_generation_3(sq3...)
 *	execute_context_2(6144)_generation_3(3)
 *	step[DECODE bs=64 ... sqsq=64 ...]	step[EXTEND bs=2 toks=14721]
 *	decode[bs=32 tok=128 ... sqsq=512 ...]	prefill[bs=6 tok=17408 ...]
 *	execute_diffusion_1_1024x1024
 */
#include "cmd/tl-graft/graft.h"

/* A reader of a name from the left. */
struct scan {
	const char *p, *end;
	bool ok;
};

static bool
take(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	s->ok =
	    s->ok && (size_t)(s->end - s->p) >= n && memcmp(s->p, word, n) == 0;
	if (s->ok)
		s->p += n;
	return s->ok;
}

static int64_t
number(struct scan *s)
{
	const char *from = s->p;
	int64_t v = 0;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	s->ok = s->ok && s->p > from;
	/* what is no int64 counts as 0 */
	if (s->ok && !num_i64((struct str){ from, (size_t)(s->p - from) }, &v))
		v = 0;
	return v;
}

static struct scan
scan_of(struct str s)
{
	return (struct scan){ s.p, s.p + s.len, true };
}

/* (sq1sk2sqsq3sqsk4): the first of them. */
static int64_t
vllm_sums(struct scan *s)
{
	int64_t sq;

	(void)take(s, "(sq");
	sq = number(s);
	(void)take(s, "sk");
	(void)number(s);
	(void)take(s, "sqsq");
	(void)number(s);
	(void)take(s, "sqsk");
	(void)number(s);
	(void)take(s, ")");
	return sq;
}

static int64_t
add(int64_t a, int64_t b)
{
	int64_t sum;

	return num_add(a, b, &sum) ? sum : 0;
}

static bool
vllm_detailed(struct str name, struct step *to)
{
	struct scan s = scan_of(name);
	int64_t context, generation;

	(void)take(&s, "execute_");
	(void)number(&s);
	(void)take(&s, "_context_");
	(void)number(&s);
	context = vllm_sums(&s);
	(void)take(&s, "_generation_");
	(void)number(&s);
	generation = vllm_sums(&s);
	to->batch = add(context, generation);
	return s.ok;
}

static bool
vllm_native(struct str name, struct step *to)
{
	struct scan s = scan_of(name);
	int64_t context, generation;

	(void)take(&s, "execute_context_");
	(void)number(&s);
	(void)take(&s, "(");
	context = number(&s);
	(void)take(&s, ")_generation_");
	(void)number(&s);
	(void)take(&s, "(");
	generation = number(&s);
	(void)take(&s, ")");
	to->batch = add(context, generation);
	return s.ok;
}

static bool
diffusion(struct str name, struct step *to)
{
	struct scan s = scan_of(name);

	(void)take(&s, "execute_diffusion_");
	to->batch = number(&s);
	(void)take(&s, "_");
	(void)number(&s);
	(void)take(&s, "x");
	(void)number(&s);
	return s.ok;
}

/* The first number behind a word and "=" in the text, 0: there is none. */
static int64_t
value_of(struct str text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n < text.len; i++) {
		struct scan s;

		if (i > 0 && text.p[i - 1] != ' ' && text.p[i - 1] != '[')
			continue;
		if (memcmp(text.p + i, word, n) != 0 || text.p[i + n] != '=')
			continue;
		s = scan_of(
		    (struct str){ text.p + i + n + 1, text.len - i - n - 1 });
		return number(&s);
	}
	return 0;
}

static int64_t
first_of(int64_t a, int64_t b, int64_t c)
{
	return a != 0 ? a : b != 0 ? b : c;
}

static bool
sglang(struct str name, struct step *to)
{
	int64_t bs = value_of(name, "bs"), tokens = value_of(name, "toks");
	bool is_decode = str_starts(name, STR("step[DECODE"));

	if (!is_decode && !str_starts(name, STR("step[EXTEND")) &&
	    !str_starts(name, STR("step[MIXED")))
		return false;
	if (str_find(name, STR("]"), false) < 0)
		return false;
	to->tier = str_find(name, STR("sqsq="), false) >= 0 ? 0 : 1;
	if (to->tier == 0)
		to->batch = first_of(
		    add(value_of(name, "c_sq"), value_of(name, "g_sq")), tokens,
		    bs);
	else
		to->batch = is_decode ? bs : first_of(tokens, bs, 0);
	return to->tier == 0 || bs > 0;
}

static bool
atom(struct str name, struct step *to)
{
	if (!str_starts(name, STR("prefill[")) &&
	    !str_starts(name, STR("decode[")))
		return false;
	if (str_find(name, STR("]"), false) < 0)
		return false;
	to->tier = str_find(name, STR("sqsq="), false) >= 0 ? 0 : 1;
	to->batch = value_of(name, "tok");
	return true;
}

struct step
step_of(struct str name)
{
	struct step s = { .tier = 0, .batch = -1 };

	if (vllm_detailed(name, &s))
		return s;
	s.tier = 1;
	if (vllm_native(name, &s) || diffusion(name, &s))
		return s;
	if (sglang(name, &s) || atom(name, &s))
		return s;
	return (struct step){ .tier = 2, .batch = -1 };
}

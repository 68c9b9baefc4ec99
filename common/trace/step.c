/* SPDX-License-Identifier: MIT */
/* Names of steps. */
#include "trace/step.h"

bool
step_of_name(struct str name, int64_t *step)
{
	static const struct str prefix = STR_INIT("ProfilerStep#");

	if (!str_starts(name, prefix))
		return false;
	name.p += prefix.len;
	name.len -= prefix.len;
	return num_i64(name, step) && *step >= 0;
}

/* ---- steps of serving frameworks ---- */

#define NUMBERS_MAX 10

/*
 * Whether a name begins as a form, in which # stands for a number; what is no
 * int64 counts as 0.
 */
static bool
has_form(struct str name, const char *form, int64_t *numbers)
{
	const char *p = name.p, *end = name.p + name.len;

	for (; *form != '\0'; form++) {
		const char *from = p;

		if (*form != '#') {
			if (p == end || *p++ != *form)
				return false;
			continue;
		}
		while (p < end && *p >= '0' && *p <= '9')
			p++;
		if (p == from)
			return false;
		if (!num_i64((struct str){ from, (size_t)(p - from) }, numbers))
			*numbers = 0;
		numbers++;
	}
	return true;
}

static int64_t
add(int64_t a, int64_t b)
{
	int64_t sum;

	return num_add(a, b, &sum) ? sum : 0;
}

/* By requests that are at their prompt, and at what comes behind it. */
static enum step_phase
phase_of(int64_t context, int64_t generation)
{
	if (context > 0)
		return generation > 0 ? PHASE_MIXED : PHASE_PREFILL;
	return generation > 0 ? PHASE_DECODE : PHASE_NONE;
}

/* Forms of vLLM, detailed and its own, and of diffusion models. */
static bool
has_known_form(struct str name, struct serving_step *to)
{
	static const struct {
		const char *form;
		int tier;
		int first, second; /* numbers that make up the batch; -1 */
	} forms[] = {
		{ "execute_#_context_#(sq#sk#sqsq#sqsk#)_generation_#"
		  "(sq#sk#sqsq#sqsk#)",
		    0, 2, 7 },
		{ "execute_context_#(#)_generation_#(#)", 1, 1, 3 },
		{ "execute_diffusion_#_#x#", 1, 0, -1 },
	};
	int64_t n[NUMBERS_MAX + 1];

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (!has_form(name, forms[i].form, n))
			continue;
		to->tier = forms[i].tier;
		to->batch = n[forms[i].first];
		to->requests = to->batch;
		if (forms[i].second >= 0) {
			/* in front of its tokens stand a phase's requests */
			int64_t context = n[forms[i].first - 1];
			int64_t generation = n[forms[i].second - 1];

			to->batch = add(to->batch, n[forms[i].second]);
			to->tokens = to->batch;
			to->requests = add(context, generation);
			to->phase = phase_of(context, generation);
		}
		return true;
	}
	return false;
}

/* The first number behind a word and "=" in the text, 0: there is none. */
static int64_t
value_of(struct str text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n < text.len; i++) {
		int64_t v = 0;

		if (i > 0 && text.p[i - 1] != ' ' && text.p[i - 1] != '[')
			continue;
		if (memcmp(text.p + i, word, n) != 0 || text.p[i + n] != '=')
			continue;
		text.p += i + n + 1;
		text.len -= i + n + 1;
		return has_form(text, "#", &v) ? v : 0;
	}
	return 0;
}

static int64_t
first_of(int64_t a, int64_t b, int64_t c)
{
	return a != 0 ? a : b != 0 ? b : c;
}

static int64_t
if_told(int64_t n)
{
	return n > 0 ? n : -1;
}

static bool
sglang(struct str name, struct serving_step *to)
{
	bool is_decode = str_starts(name, STR("step[DECODE"));
	int64_t bs, tokens;

	if (!is_decode && !str_starts(name, STR("step[EXTEND")) &&
	    !str_starts(name, STR("step[MIXED")))
		return false;
	if (str_find(name, STR("]"), false) < 0)
		return false;
	bs = value_of(name, "bs");
	tokens = value_of(name, "toks");
	to->tier = str_find(name, STR("sqsq="), false) >= 0 ? 0 : 1;
	if (to->tier == 0)
		to->batch = first_of(
		    add(value_of(name, "c_sq"), value_of(name, "g_sq")), tokens,
		    bs);
	else
		to->batch = is_decode ? bs : first_of(tokens, bs, 0);
	to->requests = if_told(bs);
	to->tokens = if_told(first_of(
	    tokens, add(value_of(name, "c_sq"), value_of(name, "g_sq")), 0));
	to->phase = is_decode                      ? PHASE_DECODE
	    : str_starts(name, STR("step[EXTEND")) ? PHASE_PREFILL
						   : PHASE_MIXED;
	return to->tier == 0 || bs > 0;
}

static bool
atom(struct str name, struct serving_step *to)
{
	if (!str_starts(name, STR("prefill[")) &&
	    !str_starts(name, STR("decode[")))
		return false;
	if (str_find(name, STR("]"), false) < 0)
		return false;
	to->tier = str_find(name, STR("sqsq="), false) >= 0 ? 0 : 1;
	to->batch = value_of(name, "tok");
	to->requests = if_told(value_of(name, "bs"));
	to->tokens = if_told(to->batch);
	to->phase = str_starts(name, STR("prefill[")) ? PHASE_PREFILL
	    : value_of(name, "p") > 0                 ? PHASE_MIXED
						      : PHASE_DECODE;
	return true;
}

struct serving_step
serving_step_of(struct str name)
{
	const struct serving_step none = {
		.tier = 2, .batch = -1, .requests = -1, .tokens = -1
	};
	struct serving_step s = none;

	s.tier = 1;
	if (has_known_form(name, &s) || sglang(name, &s) || atom(name, &s))
		return s;
	return none;
}

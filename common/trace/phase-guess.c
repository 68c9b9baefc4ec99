/* SPDX-License-Identifier: MIT */
/* Methods that guess phases: by words in names, shapes, and counts. */
#include "trace/phase-guess.h"

#include "trace/stat.h"
#include "trace/tree.h"
#include "json/json.h"

const char *const phase_method_words[METHOD_COUNT + 1] = {
	[METHOD_ANNOTATION] = "annotation",
	[METHOD_HYBRID] = "hybrid",
	[METHOD_UNION] = "union",
	[METHOD_KERNEL_NAMES] = "kernel_names",
	[METHOD_OPERATION_FREQUENCY] = "operation_frequency",
	[METHOD_FRAMEWORK_APIS] = "framework_apis",
	[METHOD_ATTENTION_PATTERNS] = "attention_patterns",
	[METHOD_GEMM_PARAMS] = "gemm_params",
};

/* ---- words ---- */

/* Words of a phase, separated by '|'. "a*b": both, in this order. */
struct words {
	const char *prefill, *decode;
};

static bool
has_word(struct str text, struct str word)
{
	const char *star = memchr(word.p, '*', word.len);
	struct str first = word;
	ptrdiff_t at;

	if (star != NULL)
		first.len = (size_t)(star - word.p);
	at = str_find(text, first, true);
	if (at < 0 || star == NULL)
		return at >= 0;
	at += (ptrdiff_t)first.len;
	return str_find((struct str){ text.p + at, text.len - (size_t)at },
		   (struct str){ star + 1, word.len - first.len - 1 },
		   true) >= 0;
}

static bool
has_any(struct str text, const char *words)
{
	struct str word;

	while (str_next(&words, '|', &word))
		if (has_word(text, word))
			return true;
	return false;
}

/* Both or neither: mixed. */
static enum phase
either(bool is_prefill, bool is_decode)
{
	if (is_prefill == is_decode)
		return PHASE_MIXED;
	return is_prefill ? PHASE_PREFILL : PHASE_DECODE;
}

static enum phase
by_either(struct str text, const struct words *w)
{
	return either(has_any(text, w->prefill), has_any(text, w->decode));
}

static enum phase
decode_first(struct str text, const struct words *w)
{
	if (has_any(text, w->decode))
		return PHASE_DECODE;
	return has_any(text, w->prefill) ? PHASE_PREFILL : PHASE_MIXED;
}

/* ---- numbers in names ---- */

static bool
is_border(struct str s, size_t i)
{
	return i >= s.len || s.p[i] == '_' || s.p[i] == ' ' || s.p[i] == '\t';
}

/* The sequence length at i, "sl512" or "seqlen_512"; or 0. It must be a word:
 * in Tensile's "USL1" it is something else. */
static int64_t
length_at(struct str s, size_t i)
{
	static const struct str marks[] = { STR_INIT("seqlen_"),
		STR_INIT("seqlen"), STR_INIT("seq"), STR_INIT("sl") };
	const struct str rest = { s.p + i, s.len - i };

	if (i > 0 && !is_border(s, i - 1))
		return 0;
	for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
		size_t from = marks[k].len, to = from;
		int64_t v;

		if (rest.len < from ||
		    str_find((struct str){ rest.p, from }, marks[k], true) != 0)
			continue;
		while (to < rest.len && rest.p[to] >= '0' && rest.p[to] <= '9')
			to++;
		if (to == from || !is_border(rest, to))
			continue;
		return num_i64((struct str){ rest.p + from, to - from }, &v)
		    ? v
		    : INT64_MAX;
	}
	return 0;
}

#define LONG_SEQUENCE 10

/* By the mean of all sequence lengths in the text. */
static enum phase
by_lengths(struct str text)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < text.len; i++) {
		int64_t v = length_at(text, i);

		sum += (double)v;
		n += v > 0;
	}
	if (n > 0 && sum > LONG_SEQUENCE * n)
		return PHASE_PREFILL;
	return n > 0 && sum <= n ? PHASE_DECODE : PHASE_MIXED;
}

/* ---- shapes ---- */

#define NOT_TOLD (-1)

struct shapes {
	size_t ninputs;
	int64_t rows;   /* first dimension of the first input */
	int64_t length; /* of a request's sequence, in attention */
	int64_t tokens; /* of all requests, likewise */
};

static int64_t
item_int(const json_items *list, size_t i)
{
	int64_t v;

	return i < list->n && list->v[i].type == JSON_T_NUMBER &&
		num_i64(list->v[i].text, &v)
	    ? v
	    : NOT_TOLD;
}

/* [B,H,S,D] and [B,S,H] have each request's sequence, [tokens,H,D] not. */
static struct shapes
shapes_of(const struct phase_facts *f)
{
	static const char flat[] = "varlen|unified_attention|ragged|paged|mla_|"
				   "batch_prefill|pa_decode";
	struct shapes s = { 0, NOT_TOLD, NOT_TOLD, NOT_TOLD };
	json_items inputs = { 0 }, dims = { 0 };
	struct arena *mem = arena_create();
	bool is_found = false;

	if (f->dims.len > 0 && json_split(&inputs, mem, f->dims))
		s.ninputs = inputs.n;
	for (size_t i = 0; i < inputs.n && !is_found; i++) {
		if (inputs.v[i].type != JSON_T_ARRAY ||
		    !json_split(&dims, mem, inputs.v[i].text))
			continue;
		if (i == 0)
			s.rows = item_int(&dims, 0);
		is_found = dims.n == 3 || dims.n == 4;
		if (dims.n == 4)
			s.length = item_int(&dims, 2);
		else if (dims.n == 3 && has_any(f->op, flat))
			s.tokens = item_int(&dims, 0);
		else if (dims.n == 3)
			s.length = item_int(&dims, 1);
	}
	vec_free(&dims);
	vec_free(&inputs);
	arena_destroy(mem);
	return s;
}

static enum phase
by_size(int64_t n, int64_t threshold)
{
	if (n <= 0)
		return PHASE_MIXED;
	return n > threshold ? PHASE_PREFILL : PHASE_DECODE;
}

/* For all ops with two or more inputs, not only GEMMs. */
static enum phase
by_rows(const struct shapes *s, int64_t threshold)
{
	return s->ninputs < 2 ? PHASE_MIXED : by_size(s->rows, threshold);
}

/* ---- the methods ---- */

static enum phase
gemm_params(const struct phase_facts *f, int64_t threshold)
{
	static const struct words words = { "prefill",
		"decode|continuous_batch" };
	struct shapes s;

	if (has_any(f->text, words.prefill) || has_any(f->text, words.decode))
		return by_either(f->text, &words);
	s = shapes_of(f);
	return by_rows(&s, threshold);
}

static enum phase
kernel_names(const struct phase_facts *f)
{
	enum phase phase = by_lengths(f->text);

	if (phase != PHASE_MIXED)
		return phase;
	if (has_any(
		f->text, "prefill|context|prompt|initialization|first_token"))
		return PHASE_PREFILL;
	return has_any(f->text,
		   "decode|generation|autoregressive|continuous_batch|"
		   "paged_attention|kv_cache|reshape_and_cache|incremental|"
		   "single_token")
	    ? PHASE_DECODE
	    : PHASE_MIXED;
}

/* The first method whose words are in the op's name decides. */
static enum phase
framework_apis(const struct phase_facts *f)
{
	static const struct {
		struct str space; /* as written */
		const char *names;
		struct words words;
	} frameworks[] = {
		{ STR_INIT("vllm::"),
		    "paged_attention|reshape_and_cache|batch_decode",
		    { "prefill", "decode|cache" } },
		{ STR_INIT("sglang::"),
		    "radix_attention|prefix_cache|tree_attention",
		    { "prefill", "decode|cache" } },
		{ STR_INIT("tgi::"),
		    "continuous_batch|decode_kernel|token_generation",
		    { "prefill|encode", "decode|generation" } },
		{ STR_INIT("context_phase"), "generation_phase|mha_|mlp_",
		    { "context|prefill", "generation|decode" } },
	};

	for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
		if (str_find(f->op, frameworks[i].space, false) >= 0 ||
		    has_any(f->op, frameworks[i].names))
			return decode_first(f->op, &frameworks[i].words);
	return PHASE_MIXED;
}

static bool
is_attention(const struct phase_facts *f)
{
	return has_any(f->op, "attention|attn|sdpa");
}

#define DECODE_LENGTH 10

static enum phase
attention_patterns(const struct phase_facts *f)
{
	static const struct words words = { "prefill_attention|chunked_prefill|"
					    "batch_prefill",
		"paged_attention|kv_cache|reshape_and_cache|batch_decode|"
		"decode_attention" };
	enum phase phase = PHASE_MIXED;
	struct shapes s;

	if (is_attention(f))
		phase = decode_first(f->op, &words);
	if (phase != PHASE_MIXED || !is_attention(f))
		return phase;
	s = shapes_of(f);
	return by_size(s.length > 0 ? s.length : s.tokens, DECODE_LENGTH);
}

static enum phase
operation_frequency(const struct phase_facts *f, const struct phase_counts *c)
{
	double n = (double)f->launched;

	return n <= c->q50 && n < c->q15 ? PHASE_PREFILL : PHASE_DECODE;
}

/*
 * The first method that knows. Attention's arguments prove most if they have a
 * request's length: tokens of a batch may be one prompt or many requests.
 */
static struct phase_guess
hybrid(const struct phase_facts *f, const struct phase_counts *c)
{
	const struct shapes s = shapes_of(f);
	const struct phase_guess guesses[] = {
		{ is_attention(f) ? by_size(s.length, DECODE_LENGTH)
				  : PHASE_MIXED,
		    METHOD_ATTENTION_PATTERNS },
		{ kernel_names(f), METHOD_KERNEL_NAMES },
		{ framework_apis(f), METHOD_FRAMEWORK_APIS },
	};

	for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++)
		if (guesses[i].phase != PHASE_MIXED)
			return guesses[i];
	return (struct phase_guess){ operation_frequency(f, c),
		METHOD_OPERATION_FREQUENCY };
}

/* ---- votes ---- */

static enum phase
framework_vote(struct str op)
{
	static const struct {
		const char *space;
		struct words words;
	} spaces[] = {
		{ "vllm::", { "prefill", "decode|cache|paged" } },
		{ "sglang::", { "prefill", "decode|cache|radix" } },
		{ "tgi::",
		    { "prefill|encode", "decode|generation|continuous" } },
	};

	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (has_any(op, spaces[i].space))
			return decode_first(op, &spaces[i].words);
	return PHASE_MIXED;
}

static enum phase
explicit_vote(struct str text)
{
	static const struct words words = {
		"prefill|context_attention|prompt_attention|context_phase|"
		"first_token|initialization|prompt_processing",
		"decode|generation|continuous_batch|paged_attention|"
		"autoregressive|incremental|single_token|next_token"
	};
	enum phase phase = by_lengths(text);

	return phase != PHASE_MIXED ? phase : by_either(text, &words);
}

static struct phase_guess
by_votes(const struct phase_facts *f, int64_t threshold,
    const struct phase_counts *c)
{
	static const struct words paged = {
		"paged_attention*prefill|chunked_prefill|block_prefill|"
		"flash_attn*prefill|flash_prefill|varlen*prefill",
		"paged_attention*decode|paged_attn_v2|kv_cache|"
		"reshape_and_cache|block_sparse_attention|page_attention|"
		"flash_attn*decode|flash_decode|varlen*decode"
	};
	static const struct words batching = {
		"single_request|request_init|batch_prefill",
		"continuous_batch|dynamic_batch|batch_decode|multi_request|"
		"request_batch"
	};
	const struct shapes s = shapes_of(f);
	const struct {
		enum phase phase;
		int weight;
	} votes[] = {
		{ by_rows(&s, threshold), 3 },
		{ explicit_vote(f->text), 4 },
		{ decode_first(f->text, &paged), 2 },
		{ framework_vote(f->op), 2 },
		{ by_either(f->op, &batching), 1 },
	};
	int sums[PHASE_COUNT] = { 0 }, prefill, decode;
	double n = (double)f->launched;

	for (size_t i = 0; i < sizeof votes / sizeof *votes; i++)
		sums[votes[i].phase] += votes[i].weight;
	prefill = sums[PHASE_PREFILL];
	decode = sums[PHASE_DECODE];
	if (prefill + decode >= 2 && prefill != decode)
		return (struct phase_guess){
			either(prefill > decode, decode > prefill), METHOD_UNION
		};
	return (struct phase_guess){ either(n<c->q30, n> c->q70),
		METHOD_OPERATION_FREQUENCY };
}

void
phase_counts_of(struct phase_counts *c, int64_t *counts, size_t n)
{
	*c = (struct phase_counts){ 0 };
	if (n == 0)
		return;
	sort_i64(counts, n);
	c->q15 = stat_quantile(counts, n, 0.15);
	c->q30 = stat_quantile(counts, n, 0.3);
	c->q50 = stat_quantile(counts, n, 0.5);
	c->q70 = stat_quantile(counts, n, 0.7);
}

struct phase_guess
phase_guess(enum phase_method m, int64_t threshold,
    const struct phase_counts *c, const struct phase_facts *f)
{
	struct phase_guess g = { PHASE_MIXED, m };

	switch (m) {
	case METHOD_HYBRID: return hybrid(f, c);
	case METHOD_UNION: return by_votes(f, threshold, c);
	case METHOD_KERNEL_NAMES: g.phase = kernel_names(f); break;
	case METHOD_OPERATION_FREQUENCY:
		g.phase = operation_frequency(f, c);
		break;
	case METHOD_FRAMEWORK_APIS: g.phase = framework_apis(f); break;
	case METHOD_ATTENTION_PATTERNS: g.phase = attention_patterns(f); break;
	default: g.phase = gemm_params(f, threshold); break;
	}
	return g;
}

/* ---- of all launchers of a trace ---- */

/* "op kernel kernel", as a number. */
static uint32_t
text_of(struct phases *p, struct dict *st, const struct launcher *o)
{
	struct str s = dict_get(st, o->name);

	p->text.len = 0;
	buf_put(&p->text, s.p, s.len);
	for (size_t i = 0; i < o->ndirect; i++) {
		s = dict_get(st, o->direct[i].name);
		buf_putc(&p->text, ' ');
		buf_put(&p->text, s.p, s.len);
	}
	return intern_put(st->text, buf_str(&p->text));
}

static uint32_t
add_row(struct phases *p, struct dict *st, const struct launcher *o)
{
	const struct phase_row row = { .op = o->name,
		.text = text_of(p, st, o),
		.dims = o->args.dims,
		.name = map_number(&p->names, o->name) };
	/* the op's name begins the text */
	uint32_t number =
	    map_number(&p->numbers, (uint64_t)row.text << 32 | row.dims);

	if (row.name == p->launched.n)
		vec_push(&p->launched, 0);
	p->launched.v[row.name]++;
	if (number == p->rows.n)
		vec_push(&p->rows, row);
	return number;
}

/* A source's iterations are known once an event follows its prologue. */
void
phases_event(struct phases *p, const struct dict *st, const struct event *ev,
    uint32_t source)
{
	if (source != p->source) {
		steps_clear(&p->iterations);
		p->source = source;
		p->is_ready = false;
	}
	if (ev->shape->kind == KIND_ANNOTATION) {
		steps_add(&p->iterations, st, ev, 0);
	} else if (!p->is_ready && !event_is(ev, KINDS_PROLOGUE)) {
		steps_ready(&p->iterations);
		p->any |= p->iterations.list.n > 0;
		p->is_ready = true;
	}
}

enum phase
phases_at(const struct phases *p, const struct dict *st, uint32_t track,
    int64_t ts_ns)
{
	return steps_phase(&p->iterations,
	    track != INTERN_NONE ? &st->tracks.v[track].pid : NULL, ts_ns);
}

bool
phases_are_recorded(const struct phases *p)
{
	return p->method == METHOD_ANNOTATION ||
	    (p->method == METHOD_COUNT && p->iterations.list.n > 0);
}

struct phase_mark
phases_mark(struct phases *p, struct dict *st, const struct launcher *o)
{
	struct phase_mark mark = { STEPS_NONE, PHASE_OUTSIDE };

	if (phases_are_recorded(p))
		mark.phase = (uint8_t)phases_at(p, st, o->track, o->ts_ns);
	else if (p->may_guess && o->ndirect > 0)
		mark.row = add_row(p, st, o);
	return mark;
}

struct phase_guess
phases_of(const struct phases *p, struct phase_mark mark)
{
	if (mark.row != STEPS_NONE)
		return p->rows.v[mark.row].guess;
	return (
	    struct phase_guess){ (enum phase)mark.phase, METHOD_ANNOTATION };
}

void
phases_decide(struct phases *p, struct dict *st)
{
	VEC(int64_t) counts = { 0 };
	struct phase_counts c;

	for (size_t i = 0; i < PHASE_COUNT; i++)
		p->phase_words[i] =
		    intern_put(st->text, str_of(phase_words[i]));
	for (size_t i = 0; i < METHOD_COUNT; i++)
		p->method_words[i] =
		    intern_put(st->text, str_of(phase_method_words[i]));
	for (size_t i = 0; i < p->launched.n; i++)
		vec_push(&counts, p->launched.v[i]);
	phase_counts_of(&c, counts.v, counts.n);
	for (size_t i = 0; i < p->rows.n; i++) {
		struct phase_row *r = &p->rows.v[i];
		const struct phase_facts f = {
			.op = dict_get(st, r->op),
			.text = dict_get(st, r->text),
			.dims = r->dims != INTERN_NONE ? dict_get(st, r->dims)
						       : STR(""),
			.launched = p->launched.v[r->name],
		};

		r->guess = phase_guess(
		    p->method == METHOD_COUNT ? METHOD_HYBRID : p->method,
		    p->threshold, &c, &f);
	}
	vec_free(&counts);
}

void
phases_free(struct phases *p)
{
	steps_free(&p->iterations);
	vec_free(&p->rows);
	vec_free(&p->launched);
	map_free(&p->numbers);
	map_free(&p->names);
	buf_free(&p->text);
}

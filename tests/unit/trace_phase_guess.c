/* SPDX-License-Identifier: MIT */
/* trace/phase-guess.c: what each method finds in names, shapes and counts. */
#include "tests/unit/tap.h"
#include "trace/phase-guess.h"

#define THRESHOLD 10

/* Prefill, decode or mixed, as a letter. */
static char
letter(enum phase p)
{
	return p == PHASE_PREFILL ? 'P' : p == PHASE_DECODE ? 'D' : 'M';
}

static struct phase_counts
counts_of(const int64_t *counts, size_t n)
{
	int64_t copy[8];
	struct phase_counts c;

	memcpy(copy, counts, n * sizeof *counts);
	phase_counts_of(&c, copy, n);
	return c;
}

/* Ops of one trace, with a letter per method but annotation. Our rules differ
 * where attention's arguments have a sequence's length. */
static const struct {
	const char *op, *kernel, *dims;
	int64_t launched;
	const char *phases; /* HUKOFAG: hybrid, union, kernel_names, ... */
} table[] = {
	{ "aten::mm", "Cijk_Ailk_Bljk_HHS", "[[1,4096],[4096,4096]]", 2,
	    "DDMDMMD" },
	{ "aten::mm", "Cijk_Ailk_Bljk_HHS", "[[512,4096],[4096,4096]]", 2,
	    "DPMDMMP" },
	/* a batch's tokens: by its arguments alone a prompt */
	{ "vllm::unified_attention_with_output", "kernel_paged_attention_2d",
	    "[[32,32,128],[32,8,128]]", 1, "DDDDMPP" },
	{ "_C_cache_ops::reshape_and_cache", "reshape_kernel",
	    "[[32,8,128],[32,8,128]]", 1, "DPDDDMP" },
	/* a sequence of one */
	{ "custom::attn", "fmha_sl512_bf16", "[[1,1,1],[1,1,1]]", 2,
	    "DPPDMDD" },
	{ "custom::attn", "fmha_sl1_bf16", "[[1,1,1],[1,1,1]]", 2, "DDDDMDD" },
	{ "mm_with_context", "k_decode", "", 1, "PDPDMMD" },
	/* they differ in the border of a word */
	{ "aten::mm", "Cijk_MT64_USL1_WG32", "[[512,4096],[4096,4096]]", 2,
	    "DPMDMMP" },
	{ "x", "k_seqlen_1", "", 1, "DDDDMMM" },
	{ "x", "k_seqlen_1 k_sl100", "", 1, "PPPDMMM" },
	{ "x", "k_sl0_seq99999999999999999999", "", 1, "PPPDMMM" },
	{ "x", "kseq1", "", 1, "DMMDMMM" },
	/* shapes */
	{ "aten::sdpa", "k", "[[2,8,512,64],[2,8,512,64]]", 1, "PDMDMPD" },
	{ "aten::sdpa", "k", "[[2,8,1,64],[2,8,512,64]]", 1, "DDMDMDD" },
	{ "aten::sdpa", "k", "[[],[7,1,64]]", 1, "DMMDMDM" },
	{ "aten::sdpa", "k", "[[12,1,64]]", 1, "DMMDMDM" },
	{ "aten::sdpa", "k", "[[[2,8,512,64]],\"[2,2,2]\",[-1,-1,-1]]", 1,
	    "DMMDMMM" },
	{ "aten::sdpa", "k", "[[2,8,512", 1, "DMMDMMM" },
	/* votes */
	{ "sglang::store_cache", "k", "", 1, "DDMDDMM" },
	{ "SGLANG::x", "flash_attn_y_decode", "", 1, "DDDDMMD" },
	{ "aiter::mha_batch_prefill", "k", "", 1, "PPPDPMP" },
	{ "x", "varlen_a_prefill_decode", "", 1, "PDPDMMM" },
	{ "x", "prefill_a_varlen", "", 1, "PPPDMMP" },
	{ "dynamic_batch", "k", "", 1, "DMMDMMM" },
};

static void
checked(void)
{
	static const int64_t counts[] = { 2, 1, 1, 2, 1 };
	static const enum phase_method methods[] = { METHOD_HYBRID,
		METHOD_UNION, METHOD_KERNEL_NAMES, METHOD_OPERATION_FREQUENCY,
		METHOD_FRAMEWORK_APIS, METHOD_ATTENTION_PATTERNS,
		METHOD_GEMM_PARAMS };
	struct phase_counts c = counts_of(counts, 5);

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		char text[200], got[8] = "";
		struct phase_facts f = {
			.op = str_of(table[i].op),
			.dims = str_of(table[i].dims),
			.launched = table[i].launched,
		};

		snprintf(
		    text, sizeof text, "%s %s", table[i].op, table[i].kernel);
		f.text = str_of(text);
		for (size_t k = 0; k < 7; k++)
			got[k] = letter(
			    phase_guess(methods[k], THRESHOLD, &c, &f).phase);
		ok(strcmp(got, table[i].phases) == 0, "%s %s: %s, wanted %s",
		    text, table[i].dims, got, table[i].phases);
	}
}

static enum phase
of_count(enum phase_method m, const struct phase_counts *c, int64_t n)
{
	struct phase_facts f = {
		.op = STR("x"), .text = STR("x"), .dims = STR(""), .launched = n
	};

	return phase_guess(m, THRESHOLD, c, &f).phase;
}

/* 1, 2 and 3 of five names: quantiles at 0.6, 1.2, 2 and 2.8 of the order. */
static void
by_count(void)
{
	static const int64_t counts[] = { 1, 2, 2, 3, 9 };
	struct phase_counts c = counts_of(counts, 5);
	const enum phase_method often = METHOD_OPERATION_FREQUENCY;

	ok(c.q15 > 1.59 && c.q15 < 1.61 && c.q30 > 1.99 && c.q30 < 2.01 &&
		c.q50 > 1.99 && c.q50 < 2.01 && c.q70 > 2.79 && c.q70 < 2.81,
	    "quantiles lie between their neighbours");
	ok(of_count(often, &c, 1) == PHASE_PREFILL, "rare: prefill");
	ok(of_count(often, &c, 2) == PHASE_DECODE, "as often as others");
	ok(of_count(METHOD_UNION, &c, 1) == PHASE_PREFILL, "no vote, rare");
	ok(of_count(METHOD_UNION, &c, 2) == PHASE_MIXED, "no vote, usual");
	ok(of_count(METHOD_UNION, &c, 3) == PHASE_DECODE, "no vote, often");
	c = counts_of(counts, 0);
	ok(of_count(often, &c, 1) == PHASE_DECODE, "nothing to compare");
}

static void
says_who(void)
{
	struct phase_counts c = { 0 };
	struct phase_facts f = { .op = STR("x"),
		.text = STR("x k_decode"),
		.dims = STR(""),
		.launched = 1 };

	ok(phase_guess(METHOD_HYBRID, 10, &c, &f).by == METHOD_KERNEL_NAMES,
	    "hybrid: which method decided");
	f.text = STR("x k");
	ok(phase_guess(METHOD_HYBRID, 10, &c, &f).by ==
		METHOD_OPERATION_FREQUENCY,
	    "hybrid: the last one decides if none does");
	ok(phase_guess(METHOD_UNION, 10, &c, &f).by ==
		METHOD_OPERATION_FREQUENCY,
	    "union: without votes counts decide");
	f.dims = STR("[[11,4],[4,4]]");
	ok(phase_guess(METHOD_UNION, 10, &c, &f).phase == PHASE_PREFILL &&
		phase_guess(METHOD_UNION, 11, &c, &f).phase == PHASE_DECODE,
	    "rows above the threshold");
}

int
main(void)
{
	checked();
	by_count();
	says_who();
	done_testing();
}

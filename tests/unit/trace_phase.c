/* SPDX-License-Identifier: MIT */
/* Names of iterations, and names that are none. */
#include "tests/unit/tap.h"
#include "trace/phase.h"

/* "tier phase requests context+generation tokens batch, then the sums" */
static void
say(struct str name, struct buf *b)
{
	static const char *const tiers[] = { "detailed", "native", "not" };
	struct iteration it;
	bool is_one = iteration_of_name(name, &it);

	buf_printf(b,
	    "%s %s %" PRId64 "=%" PRId64 "+%" PRId64 " sums %" PRId64
	    "+%" PRId64 " batch %" PRId64,
	    tiers[it.tier], phase_words[it.phase], it.num_requests,
	    it.context_requests, it.generation_requests, it.context_sum,
	    it.generation_sum, it.batch_size);
	if (it.has_sqsk)
		buf_printf(b,
		    " c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		    " g %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
		    it.c_sq, it.c_sk, it.c_sqsq, it.c_sqsk, it.g_sq, it.g_sk,
		    it.g_sqsq, it.g_sqsk);
	if (it.padded >= 0)
		buf_printf(b, " padded %" PRId64, it.padded);
	if (it.spec >= 0)
		buf_printf(b, " spec %" PRId64, it.spec);
	if (it.p >= 0)
		buf_printf(b, " p %" PRId64, it.p);
	if (it.d >= 0)
		buf_printf(b, " d %" PRId64, it.d);
	if (it.overlap >= 0)
		buf_printf(b, " overlap %" PRId64, it.overlap);
	if (it.ctx_len > 0)
		buf_printf(b, " ctx %.*s", (int)it.ctx_len, name.p + it.ctx_at);
	if (is_one && !it.has_load)
		buf_puts(b, " untold");
	ok(is_one == (it.tier != ITERATION_NOT), "%.60s: is it one", name.p);
}

static void
names(void)
{
	static const char none[] = "not generic 1=0+1 sums 0+1 batch 1";
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "execute_6147_context_2(sq6144sk7144sqsq20971520"
		  "sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)",
		    "detailed mixed 5=2+3 sums 6144+3 batch 6147 "
		    "c 6144 7144 20971520 23019520 g 3 6144 3 6144" },
		{ "execute_context_2(6144)_generation_3(3) and more",
		    "native mixed 5=2+3 sums 6144+3 batch 6147" },
		{ "execute_context_2(6144)_generation_0(0)",
		    "native prefill 2=2+0 sums 6144+0 batch 6144" },
		{ "execute_context_0(0)_generation_0(0)",
		    "native generic 0=0+0 sums 0+0 batch 0" },
		{ "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 "
		  "g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
		    "detailed mixed 2=1+1 sums 5+1 batch 6 "
		    "c 5 8 25 40 g 1 12 1 12" },
		{ "step[DECODE bs=4 toks=9 g_sqsq=0]",
		    "detailed decode 4=0+4 sums 0+0 batch 9 "
		    "c 0 0 0 0 g 0 0 0 0" },
		{ "step[EXTEND bs=2 toks=14721]",
		    "native prefill 2=2+0 sums 14721+0 batch 14721" },
		{ "step[DECODE bs=64]",
		    "native decode 64=0+64 sums 0+64 batch 64" },
		{ "step[MIXED bs=2]", "native mixed 2=2+0 sums 0+0 batch 2" },
		{ "step[DECODE]",
		    "native decode 1=0+1 sums 0+1 batch 1 untold" },
		{ "step[DECODE foo]",
		    "native decode 1=0+1 sums 0+1 batch 1 untold" },
		{ "step[DECODE bs]", "native decode 1=0+1 sums 0+1 batch 1" },
		{ "step[EXTEND toks=9]",
		    "native prefill 0=0+0 sums 9+0 batch 9" },
		{ "prefill[]", "native prefill 1=1+0 sums 1+0 batch 1 untold" },
		{ "decode[spec=3]",
		    "native decode 1=0+1 sums 0+1 batch 1 spec 3 untold" },
		{ "decode[bs=32 tok=128 d=32 spec=3 sqsq=512 sqsk=262144 "
		  "sk=65536]",
		    "detailed decode 32=0+32 sums 0+128 batch 128 "
		    "c 0 0 0 0 g 128 65536 512 262144 spec 3 d 32" },
		{ "decode[bs=32 tok=128 sqsq=512]",
		    "detailed decode 32=0+32 sums 0+128 batch 128" },
		{ "prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3]",
		    "native prefill 6=6+0 sums 17408+0 batch 17408 "
		    "ctx [4096, 4096, 4096]...+3" },
		{ "decode[bs=117/128 tok=117 d=117]",
		    "native decode 117=0+117 sums 0+117 batch 117 padded 128 "
		    "d 117" },
		{ "decode[bs=3 tok=6 p=1 d=2 tbo]",
		    "native mixed 3=0+3 sums 0+6 batch 6 p 1 d 2 overlap 1" },
		{ "execute_diffusion_1_1024x1024",
		    "native generic 0=0+0 sums 0+0 batch 1" },
		/* of a key that comes twice the first counts */
		{ "step[DECODE bs=1 bs=2]",
		    "native decode 1=0+1 sums 0+1 batch 1" },
		/* values beyond int64 count as 0 */
		{ "step[DECODE bs=99999999999999999999]",
		    "native decode 0=0+0 sums 0+0 batch 0" },
		{ "execute_context_9223372036854775807(9223372036854775807)"
		  "_generation_1(1)",
		    "native mixed 0=9223372036854775807+1 sums "
		    "9223372036854775807+1 batch 0" },
		{ "step[DECODED bs=64]", none },
		{ "step[EXTEND bs=2", none },
		{ "prefill[bs=6 ctx=[1, 2]", none },
		{ "decode[ctx=[1", none },
		{ "execute_context_2(6144_generation_3(3)", none },
		{ "execute_context_(6144)_generation_3(3)", none },
		{ "execute_", none },
		{ "step[", none },
		{ "step[decode bs=1]", none },
		{ "xstep[DECODE bs=1]", none },
		{ "", none },
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		b.len = 0;
		say(str_of(cases[i].name), &b);
		buf_putc(&b, '\0');
		is_str(b.p, cases[i].want, "%.60s", cases[i].name);
	}
	buf_free(&b);
}

/* One pass: a megabyte of anything takes no time. */
static void
long_names(void)
{
	static const char *const heads[] = { "decode[", "prefill[ctx=[",
		"step[MIXED ", "execute_" };
	static const char *const fills[] = { "a=", "1", "[", "=", "sqsq=", "/",
		" " };
	struct iteration it;
	struct buf b = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		for (size_t k = 0; k < sizeof fills / sizeof *fills; k++) {
			b.len = 0;
			buf_puts(&b, heads[i]);
			while (b.len < 1 << 20)
				buf_puts(&b, fills[k]);
			n += iteration_of_name(buf_str(&b), &it);
		}
	ok(n == 0, "no bracket closes");
	buf_free(&b);
}

/* A site's own forms come first; bad ones are refused and change nothing. */
static void
forms(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "{\"a\": 1}", "no JSON list of formats" },
		{ "[1]", "format: no object: '1'" },
		{ "[{\"name\": \"x\"}]", "x: a format needs 'tier'" },
		{ "[{\"name\": \"x\", \"color\": 1}]",
		    "format: no member is called 'color'" },
		{ "[{\"name\": \"x\", \"tier\": \"best\", \"pattern\": \"a\"}]",
		    "x: no such word: 'best'" },
		{ "[{\"name\": \"x\", \"tier\": \"native\", "
		  "\"pattern\": \"#a\"}]",
		    "x: a pattern begins with a plain text, not '#a'" },
		{ "[{\"name\": \"x\", \"tier\": \"native\", "
		  "\"pattern\": \"a{b\"}]",
		    "x: a } is missing in 'a{b'" },
		{ "[{\"name\": \"x\", \"tier\": \"native\", "
		  "\"pattern\": \"a{b}\"}]",
		    "x: no such field: 'b'" },
		{ "[{\"name\": \"x\", \"tier\": \"native\", "
		  "\"pattern\": \"a{d}\", \"sums\": [\"k\"]}]",
		    "x: no such key: 'k'" },
		{ "[{\"name\": \"x\", \"tier\": \"native\", "
		  "\"pattern\": \"a{d}\", \"examples\": [{\"name\": \"b\"}]}]",
		    "x: the pattern does not fit 'b'" },
		{ "[{\"name\": \"x\", \"tier\": \"native\", "
		  "\"pattern\": \"a{d}\", \"examples\": [{\"name\": \"a1\", "
		  "\"d\": 2}]}]",
		    "x: an example has another 'd'" },
	};
	static const char good[] =
	    "[{\"name\": \"mine\", \"tier\": \"native\", \"phase\": "
	    "\"prefill\", \"pattern\": \"step[DECODE bs={context_requests}\"}]";
	struct buf why = { 0 };
	struct iteration it;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ok(!iteration_formats_read(str_of(bad[i].text), &why),
		    "refused");
		is_str(why.p, bad[i].why, "why");
	}
	ok(iteration_of_name(STR("step[DECODE bs=3]"), &it) &&
		it.phase == PHASE_DECODE,
	    "as before");
	ok(iteration_formats_read(str_of(good), &why), "taken");
	ok(iteration_of_name(STR("step[DECODE bs=3]"), &it) &&
		it.phase == PHASE_PREFILL && it.context_requests == 3 &&
		str_eq(iteration_format_name(it.format), STR("mine")),
	    "mine is asked first");
	ok(iteration_of_name(STR("step[EXTEND bs=3]"), &it) &&
		str_eq(iteration_format_name(it.format), STR("sglang_native")),
	    "ours after it");
	buf_free(&why);
}

int
main(void)
{
	names();
	long_names();
	forms();
	done_testing();
}

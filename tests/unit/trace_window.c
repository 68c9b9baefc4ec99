/* SPDX-License-Identifier: MIT */
/* trace/window.c: steady state, summaries, and names of files. */
#include "tests/unit/tap.h"
#include "trace/window.h"

#define MANY 2000

static struct iteration v[MANY];

static void
set(size_t i, int64_t context, int64_t generation, int64_t tokens)
{
	v[i] = (struct iteration){
		.phase = context == 0 ? PHASE_DECODE
		    : generation == 0 ? PHASE_PREFILL
				      : PHASE_MIXED,
		.context_requests = context,
		.generation_requests = generation,
		.num_requests = context + generation,
		.batch_size = tokens + generation,
	};
}

/* Ramp of 4, then every 8th has a prefill of 512 tokens; 16 at a time. */
static void
schedule(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i < 4)
			set(i, 1, (int64_t)i, 512);
		else if (i % 8 == 4)
			set(i, 1, 15, 512);
		else
			set(i, 0, 16, 0);
	}
}

static window_vec regions;

/* "[4,33) [40,50)" */
static void
regions_are(size_t n, int64_t num_steps, bool found, const char *want)
{
	struct buf b = { 0 };
	bool got = window_regions(&regions, v, n, num_steps);

	for (size_t i = 0; i < regions.n; i++)
		buf_printf(&b, "%s[%zu,%zu)", i > 0 ? " " : "",
		    regions.v[i].start, regions.v[i].end);
	buf_putc(&b, '\0');
	is_str(b.p, want, "regions of %zu, %" PRId64 " steps", n, num_steps);
	ok(got == found, "which were %s", found ? "found" : "not found");
	buf_free(&b);
}

static struct window steady[STEADY_COUNT];

static void
steady_are(const struct window_plan *plan, const char *want)
{
	struct buf b = { 0 };

	window_steady(steady, v, &regions, plan);
	for (size_t i = 0; i < STEADY_COUNT; i++)
		buf_printf(&b, "%s[%zu,%zu)", i > 0 ? " " : "", steady[i].start,
		    steady[i].end);
	buf_putc(&b, '\0');
	is_str(b.p, want, "windows of %" PRId64 " steps", plan->num_steps);
	buf_free(&b);
}

static void
test_regions(void)
{
	schedule(40);
	regions_are(40, 16, true, "[4,40)");
	for (size_t i = 0; i < 34; i++)
		set(i, 0, i < 4 ? 2 : 20, 0);
	regions_are(34, 32, true, "[4,34)");
	/* six below the peak end it, with those near it in between or not */
	for (size_t i = 0; i < 60; i++)
		set(i, 0, i == 10 || i == 20 || (i >= 30 && i < 50) ? 2 : 20,
		    0);
	regions_are(60, 32, true, "[0,33) [50,60)");
	set(0, 0, 2, 0);
	regions_are(60, 32, true, "[1,33) [50,60)");
	/* five are too few */
	for (size_t i = 0; i < 10; i++)
		set(i, 0, i < 5 ? 20 : 2, 0);
	regions_are(10, 12, false, "[4,6)");
	regions_are(1, 12, false, "[0,1)");
	regions_are(2, 12, false, "[1,2)");
	regions_are(3, 1, false, "[1,2)");
	regions_are(0, 12, true, "");
	/* with fewer than num_steps a fifth below the peak is near enough */
	for (size_t i = 0; i < 20; i++)
		set(i, 0, i < 10 ? 80 : 100, 0);
	regions_are(20, 20, true, "[10,20)");
	regions_are(20, 21, true, "[0,20)");
	/* beyond a sum of two */
	for (size_t i = 0; i < 8; i++)
		set(i, 0, INT64_MAX, 0);
	regions_are(8, INT64_MAX, true, "[0,8)");
}

static void
test_steady(void)
{
	struct window_plan plan = { .num_steps = 16 };
	struct window_summary sum;
	struct buf b = { 0 };
	double ratio = 0;

	schedule(40);
	(void)window_regions(&regions, v, 40, 16);
	steady_are(&plan, "[4,20) [5,12) [4,5)");
	sum = window_sum(v, &steady[STEADY_MIXED]);
	is_int(sum.num_prefill, 0, "no iteration with prefill alone");
	is_int(sum.num_prefilldecode, 2, "two with prefill and decode");
	is_int(sum.num_decode, 14, "the others with decode");
	is_int(sum.avg_bs, 79, "(2 * 527 + 14 * 16) / 16 tokens");
	is_int(sum.avg_conc, 16, "requests at a time");
	window_put_name(&b, steady_words[STEADY_MIXED], &sum);
	buf_putc(&b, '\0');
	is_str(b.p,
	    "mixed_steady_state_prefill_0_prefilldecode_2_decode_14_"
	    "bs79_conc16",
	    "what the file is called");
	buf_free(&b);
	plan.num_steps = 3;
	steady_are(&plan, "[4,7) [5,8) [4,5)");
	plan.num_steps = 100;
	steady_are(&plan, "[4,40) [5,12) [4,5)");

	ok(!window_ideal(&plan, &ratio), "no load is known");
	plan = (struct window_plan){ .num_steps = 2,
		.conc = 16,
		.osl = 100,
		.ratio = 0.8,
		.has_osl = true,
		.has_ratio = true };
	ok(window_ideal(&plan, &ratio), "CONC, OSL and R say the share");
	ok(ratio > 0.17777 && ratio < 0.17778, "32 / 180");
	/* one prefill in at least six; those of decode stay at two */
	steady_are(&plan, "[4,10) [5,7) [4,5)");

	schedule(MANY);
	(void)window_regions(&regions, v, MANY, 32);
	plan = (struct window_plan){ .num_steps = 32 };
	steady_are(&plan, "[4,36) [5,12) [4,5)");

	for (size_t i = 0; i < 8; i++) {
		v[i] = (struct iteration){ .phase = PHASE_GENERIC,
			.batch_size = 1 };
	}
	(void)window_regions(&regions, v, 8, 4);
	steady_are(&plan, "[0,8) [0,8) [0,0)");
	sum = window_sum(v, &steady[STEADY_MIXED]);
	is_int(sum.num_prefill + sum.num_prefilldecode + sum.num_decode, 0,
	    "a generic iteration has no phase to count");
	is_int(sum.avg_bs, 1, "but a batch");
	is_str(window_labels[window_label_of(v)], "generic", "and a label");
}

static void
text_is(const char *name, const char *want)
{
	struct buf b = { 0 };

	window_put_text(&b, str_of(name));
	buf_putc(&b, '\0');
	is_str(b.p, want, "text of %s", name);
	buf_free(&b);
}

static void
base_is(const char *path, const char *want)
{
	struct buf b = { 0 };

	window_put_base(&b, str_of(path));
	buf_putc(&b, '\0');
	is_str(b.p, want, "base of %s", path);
	buf_free(&b);
}

static void
test_names(void)
{
	struct buf b = { 0 };

	text_is("execute_2(sq1) a/b:c", "execute_2_sq1_a_bc");
	text_is("step[MIXED bs=2 c=1,x]", "step_MIXED_bs_2_c_1_x_");
	text_is("../\n\"$(x)`\xc3\xa9", ".._____x___");
	base_is("/a/b/run.pt.trace.json.gz", "run");
	base_is("rank_0.1773.pt.trace.json.zst", "rank_0.1773");
	base_is("x.json_copy.json", "x_copy");
	base_is("t.tl", "t");
	base_is("host.xplane.pb.gz", "host");
	base_is("-", "stdin");
	base_is("a\nb", "a_b");
	for (int i = 0; i < 150; i++)
		buf_puts(&b, "\xc3\xa9");
	window_end_name(&b, 0, ".json.gz");
	is_int((intmax_t)b.len, WINDOW_NAME_MAX, "a long name is cut");
	b.len = 0;
	for (int i = 0; i < 150; i++)
		buf_puts(&b, "\xc3\xa9");
	window_end_name(&b, 0, ".tl");
	is_int((intmax_t)b.len, WINDOW_NAME_MAX - 1, "but no character");
	buf_free(&b);
}

int
main(void)
{
	test_regions();
	test_steady();
	test_names();
	vec_free(&regions);
	done_testing();
}

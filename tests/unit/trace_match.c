/* SPDX-License-Identifier: MIT */
/* trace/match.c: worked examples, and all pairs as the oracle. */
#include "tests/unit/tap.h"
#include "trace/match.h"

#define MOST 60

static uint64_t seed = 1;

static unsigned
rnd(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static struct iteration
iteration(int64_t context, int64_t generation, int64_t c_sq, int64_t g_sk)
{
	struct iteration it = { .has_sqsk = true,
		.context_requests = context,
		.generation_requests = generation,
		.c_sq = c_sq,
		.g_sq = generation,
		.g_sk = g_sk };

	if (context > 0)
		it.phase = generation > 0 ? PHASE_MIXED : PHASE_PREFILL;
	else
		it.phase = generation > 0 ? PHASE_DECODE : PHASE_GENERIC;
	return it;
}

static struct match_side
side_of(const struct iteration *v, size_t n, size_t num_steps)
{
	struct match_side s = { .v = v, .n = n };

	match_blocks_find(&s, num_steps);
	return s;
}

/* "D 5-9/7 M 12-13/1": phase, iterations, run. */
static const char *
text_of_blocks(const struct match_side *s)
{
	static struct buf b;

	b.len = 0;
	for (size_t i = 0; i < s->blocks.n; i++) {
		const struct match_block *x = &s->blocks.v[i];

		buf_printf(&b, "%s%c %u-%u/%u", i > 0 ? " " : "",
		    "-GPDM"[x->phase], x -> first, x -> first + x -> n,
		    x -> run_n);
	}
	buf_putc(&b, '\0');
	return b.p;
}

static void
blocks_are(const char *phases, size_t num_steps, const char *want)
{
	struct iteration v[MOST];
	struct match_side s;
	size_t n = strlen(phases);

	for (size_t i = 0; i < n; i++)
		v[i] = iteration(phases[i] == 'M' || phases[i] == 'P',
		    phases[i] == 'M' || phases[i] == 'D', 0, 0);
	s = side_of(v, n, num_steps);
	is_str(text_of_blocks(&s), want, "%s by %zu", phases, num_steps);
	vec_free(&s.blocks);
}

static void
test_blocks(void)
{
	blocks_are("", 4, "");
	blocks_are("D", 4, "");
	blocks_are("DD", 4, "D 0-2/2");
	blocks_are("DDGDD", 4, "D 0-2/2 D 3-5/2");
	blocks_are("PMDDDM", 4, "P 0-1/1 M 1-2/1 D 2-5/3 M 5-6/1");
	blocks_are("DDDDDDD", 3, "D 0-3/7 D 3-6/7");
	blocks_are("DDDDDDD", 0, "D 0-7/7");
	blocks_are("DD", 1, "D 0-1/2 D 1-2/2");
}

/* No run continues in the next process. */
static void
test_processes(void)
{
	static const uint32_t process[] = { 0, 0, 0, 1, 1, 2, 2, 2, 2 };
	struct iteration v[sizeof process / sizeof *process];
	struct match_side s = { .v = v,
		.process = process,
		.n = sizeof process / sizeof *process };

	for (size_t i = 0; i < s.n; i++)
		v[i] = iteration(0, 1, 0, 0);
	match_blocks_find(&s, 2);
	is_str(text_of_blocks(&s), "D 0-2/3 D 3-5/2 D 5-7/4 D 7-9/4",
	    "runs of three processes");
	is_uint(s.blocks.v[1].process, 1, "whose the second is");
	is_uint(s.blocks.v[3].process, 2, "and the last");
	vec_free(&s.blocks);
}

/* The schedule of the worked example, whose decode length grows by grow. */
static void
schedule(struct iteration *v, int64_t grow)
{
	for (int i = 0; i < 40; i++) {
		if (i < 4)
			v[i] = iteration(1, i, 512, 11200 + grow * i);
		else if (i % 8 == 4)
			v[i] = iteration(1, 15, 512, 11200 + grow * i);
		else
			v[i] = iteration(0, 16, 0, 11200 + grow * i);
	}
}

static void
test_example(void)
{
	static const struct match_rules rules = { .top = 1 };
	struct iteration v[MATCH_SIDES][40];
	struct match_side side[MATCH_SIDES];
	struct match_tally tally;
	match_list list = { 0 };

	for (int s = 0; s < MATCH_SIDES; s++) {
		schedule(v[s], s + 1);
		side[s] = side_of(v[s], 40, 4);
	}
	match_find(&list, side, PHASE_DECODE, &rules, &tally);
	match_find(&list, side, PHASE_MIXED, &rules, &tally);
	is_int((int64_t)list.n, 2, "a match a phase");
	is_int(list.v[0].block[0], 4, "decode: A[4]");
	is_int(list.v[0].block[1], 2, "decode: B[2]");
	is_int(side[0].blocks.v[4].first, 13, "A[4] starts at 13");
	is_int(side[1].blocks.v[2].first, 5, "B[2] starts at 5");
	is_int((int64_t)list.v[0].sums[0], 0, "as many tokens");
	is_int((int64_t)list.v[0].sums[1], 6, "1.5 a step of lengths");
	is_int(list.v[1].block[0], 1, "mixed: A[1]");
	is_int(list.v[1].block[1], 1, "mixed: B[1]");
	match_find(&list, side, PHASE_PREFILL, &rules, &tally);
	is_int((int64_t)tally.blocks, 1, "the first is all prompt");
	for (int s = 0; s < MATCH_SIDES; s++)
		vec_free(&side[s].blocks);
	vec_free(&list);
}

/* ---- all pairs ---- */

static double
mean_difference(const struct match_side side[], const struct match_block *a,
    const struct match_block *b, size_t k)
{
	double sum = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		const struct iteration *x = &side[0].v[a->first + i];
		const struct iteration *y = &side[1].v[b->first + i];
		const double decode[] = { (double)(x->g_sq - y->g_sq),
			(double)(x->g_sk - y->g_sk), 0, 0 };
		const double others[] = {
			(double)(x->context_requests - y->context_requests),
			(double)(x->generation_requests -
			    y->generation_requests),
			(double)(x->c_sq - y->c_sq), (double)(x->g_sq - y->g_sq)
		};
		double d = a->phase == PHASE_DECODE ? decode[k] : others[k];

		sum += d < 0 ? -d : d;
	}
	return sum / a->n;
}

struct pair {
	double key[MATCH_LOADS + 2];
	uint32_t a, b;
	bool is_taken;
};

static bool
is_before(const struct pair *x, const struct pair *y)
{
	for (size_t k = 0; k < MATCH_LOADS + 2; k++)
		if (x->key[k] != y->key[k])
			return x->key[k] < y->key[k];
	return false; /* they are in order */
}

static size_t
all_pairs(struct pair *v, const struct match_side side[], uint8_t phase)
{
	size_t n = 0;

	for (uint32_t i = 0; i < side[0].blocks.n; i++)
		for (uint32_t j = 0; j < side[1].blocks.n; j++) {
			const struct match_block *a = &side[0].blocks.v[i];
			const struct match_block *b = &side[1].blocks.v[j];
			struct pair p = { .a = i, .b = j };

			if (a->phase != phase || b->phase != phase ||
			    a->n != b->n || !a->has_sqsk || !b->has_sqsk)
				continue;
			for (size_t k = 0; k < MATCH_LOADS; k++)
				p.key[k] = mean_difference(side, a, b, k);
			p.key[4] = -(
			    double)(a->run_n < b->run_n ? a->run_n : b->run_n);
			p.key[5] = -(double)a->n;
			v[n++] = p;
		}
	return n;
}

static bool
are_nearest(const struct match_side side[], uint8_t phase, size_t top)
{
	static struct pair all[MOST * MOST];
	const struct match_rules rules = { .top = top };
	size_t n = all_pairs(all, side, phase), want = n < top ? n : top;
	struct match_tally tally;
	match_list list = { 0 };
	bool same;

	match_find(&list, side, phase, &rules, &tally);
	same = list.n == want;
	for (size_t i = 0; i < want && same; i++) {
		struct pair *best = NULL;

		for (size_t k = 0; k < n; k++)
			if (!all[k].is_taken &&
			    (best == NULL || is_before(&all[k], best)))
				best = &all[k];
		best->is_taken = true;
		same = list.v[i].block[0] == best->a &&
		    list.v[i].block[1] == best->b;
	}
	vec_free(&list);
	return same;
}

/* Few different loads, so that there are ties. */
static void
random_side(struct iteration *v, unsigned range)
{
	int64_t context = 0;

	for (size_t i = 0; i < MOST; i++) {
		if (rnd(4) == 0)
			context = rnd(2);
		v[i] = iteration(context, rnd(12) > 0, rnd(range), rnd(range));
		if (v[i].generation_requests > 0)
			v[i].generation_requests = v[i].g_sq = 1 + rnd(range);
		v[i].has_sqsk = rnd(30) > 0;
	}
}

static void
test_all_pairs(void)
{
	unsigned wrong = 0;

	for (unsigned round = 0; round < 1000; round++) {
		struct iteration v[MATCH_SIDES][MOST];
		struct match_side side[MATCH_SIDES];
		size_t num_steps = rnd(5);

		for (int s = 0; s < MATCH_SIDES; s++) {
			random_side(v[s], 1 + rnd(5));
			side[s] = side_of(v[s], MOST, num_steps);
		}
		for (unsigned p = PHASE_PREFILL; p <= PHASE_MIXED; p++)
			wrong += !are_nearest(side, (uint8_t)p, 1 + rnd(4));
		for (int s = 0; s < MATCH_SIDES; s++)
			vec_free(&side[s].blocks);
	}
	is_int(wrong, 0, "the nearest of all pairs");
}

/* ---- what names may hold ---- */

static void
test_hostile(void)
{
	static const struct match_rules rules = { .top = 1 };
	struct iteration v[MATCH_SIDES][4];
	struct match_side side[MATCH_SIDES];
	struct match_tally tally;
	match_list list = { 0 };

	for (int i = 0; i < 4; i++) {
		v[0][i] = iteration(0, INT64_MAX, 0, INT64_MAX);
		v[1][i] = iteration(0, i < 2 ? 1 : INT64_MAX, 0, -5);
	}
	for (int s = 0; s < MATCH_SIDES; s++)
		side[s] = side_of(v[s], 4, 2);
	match_find(&list, side, PHASE_DECODE, &rules, &tally);
	is_int(list.v[0].block[1], 1, "huge loads: the nearer one");
	is_int((int64_t)list.v[0].sums[0], 0, "as many tokens");
	ok(list.v[0].sums[1] == 2 * (uint64_t)INT64_MAX, "the sum fits");
	for (int s = 0; s < MATCH_SIDES; s++)
		vec_free(&side[s].blocks);
	vec_free(&list);
}

/* Blocks that are all equally near take no more time. */
static void
test_alike(void)
{
	static const struct match_rules rules = { .top = 3 };
	static struct iteration v[400000];
	struct match_side side[MATCH_SIDES];
	struct match_tally tally;
	match_list list = { 0 };

	for (size_t i = 0; i < 400000; i++)
		v[i] = iteration(0, 8, 0, 1000);
	for (int s = 0; s < MATCH_SIDES; s++)
		side[s] = side_of(v, 400000, 2);
	match_find(&list, side, PHASE_DECODE, &rules, &tally);
	is_int((int64_t)tally.with_candidate, 200000, "all have candidates");
	is_int(list.v[2].block[1], 2, "of equals the first");
	for (int s = 0; s < MATCH_SIDES; s++)
		vec_free(&side[s].blocks);
	vec_free(&list);
}

int
main(void)
{
	test_blocks();
	test_processes();
	test_example();
	test_all_pairs();
	test_hostile();
	test_alike();
	done_testing();
}

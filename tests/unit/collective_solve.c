/* SPDX-License-Identifier: MIT */
/* tl-collective's clocks: jobs whose clocks are known, found from ends. */
#include "cmd/tl-collective/solve.h"

#include <math.h>

#include "tests/unit/tap.h"

/* Uniform between 0 and 1, the same on all machines. */
static uint64_t seed;

static double
drawn(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return ((double)(seed >> 33) + 0.5) / (double)(1U << 31);
}

struct plan {
	size_t nclocks, group, ncolls;
	bool is_split; /* in two halves that nothing joins */
	double span_ns, ppm;
};

struct made {
	struct solve_job job;
	struct solve_stratum *strata;
	double *offset, *drift;
	struct solved_clock *out;
};

/* Ends are late by noise, some by much; some are missing. */
static int64_t
draw_end(double at_ns, double offset_ns)
{
	double late = 2000 * (drawn() + drawn() + drawn() - 1.5);

	late -= 500 * log(drawn());
	if (drawn() < 0.05)
		late -= 50000 * log(drawn());
	return drawn() < 0.03
	    ? END_NONE
	    : 1000000000000 + (int64_t)(at_ns + late + offset_ns);
}

static void
draw_stratum(struct solve_stratum *s, const struct made *m,
    const struct plan *p, size_t base, size_t n)
{
	*s = (struct solve_stratum){ .n = n,
		.ncolls = p->ncolls,
		.clocks = xcalloc(n, sizeof *s->clocks),
		.ends = xcalloc(n * p->ncolls, sizeof *s->ends),
		.latency_ns = 60000,
		.tick_ns = 1 };
	for (size_t r = 0; r < n; r++)
		s->clocks[r] = (uint32_t)(base + r);
	for (size_t i = 0; i < p->ncolls; i++) {
		double at =
		    p->span_ns * ((double)i + drawn() / 2) / (double)p->ncolls;

		for (size_t r = 0; r < n; r++)
			s->ends[i * n + r] = draw_end(at,
			    m->offset[base + r] +
				m->drift[base + r] * (at - p->span_ns / 2));
	}
}

/* A quarter of the clocks is off by 0.1 to 10 ms. */
static struct made
draw(const struct plan *p, uint64_t from)
{
	size_t ngroups = p->nclocks / p->group, n = ngroups + 1 + p->is_split;
	size_t wide = p->is_split ? p->nclocks / 2 : p->nclocks;
	struct made m = { 0 };

	seed = from;
	m.offset = xcalloc(p->nclocks, sizeof *m.offset);
	m.drift = xcalloc(p->nclocks, sizeof *m.drift);
	m.out = xcalloc(p->nclocks, sizeof *m.out);
	m.strata = xcalloc(n, sizeof *m.strata);
	for (size_t r = p->nclocks - p->nclocks / 4; r < p->nclocks; r++) {
		m.offset[r] = (drawn() < 0.5 ? -1 : 1) *
		    exp(log(1e5) + drawn() * log(100));
		m.drift[r] = p->ppm / 1e6;
	}
	for (size_t g = 0; g < n; g++)
		draw_stratum(&m.strata[g], &m, p,
		    g < ngroups ? g * p->group : (g - ngroups) * wide,
		    g < ngroups ? p->group : wide);
	m.job = (struct solve_job){
		.nclocks = p->nclocks, .nstrata = n, .strata = m.strata
	};
	solve_clocks(&m.job, m.out);
	return m;
}

static void
forget(struct made *m)
{
	for (size_t i = 0; i < m->job.nstrata; i++) {
		free(m->strata[i].clocks);
		free(m->strata[i].ends);
	}
	free(m->strata);
	free(m->offset);
	free(m->drift);
	free(m->out);
}

/* How many are off by more than twice their uncertainty. */
static size_t
wrong(const struct made *m)
{
	size_t n = 0;

	for (size_t r = 0; r < m->job.nclocks; r++)
		n += !(fabs((double)m->out[r].offset_ns - m->offset[r]) <=
		    2 * m->out[r].u_ns);
	return n;
}

/* Groups {0,1} and {2,3} and all: only rank 3 is off. */
static void
one_of_two_groups(void)
{
	const double offset[] = { 0, 0, 0, 5e6 };
	struct plan p = { .ncolls = 30, .span_ns = 3e7 };
	struct made m = { .offset = xcalloc(4, sizeof *m.offset),
		.drift = xcalloc(4, sizeof *m.drift),
		.out = xcalloc(4, sizeof *m.out),
		.strata = xcalloc(3, sizeof *m.strata) };

	seed = 1;
	memcpy(m.offset, offset, sizeof offset);
	draw_stratum(&m.strata[0], &m, &p, 0, 2);
	draw_stratum(&m.strata[1], &m, &p, 2, 2);
	p.ncolls = 10;
	draw_stratum(&m.strata[2], &m, &p, 0, 4);
	m.job = (struct solve_job){
		.nclocks = 4, .nstrata = 3, .strata = m.strata
	};
	solve_clocks(&m.job, m.out);
	for (size_t r = 0; r < 4; r++)
		ok(fabs((double)m.out[r].offset_ns - offset[r]) < 5000,
		    "two groups and all: rank %zu is off by %" PRId64 " ns", r,
		    m.out[r].offset_ns);
	is_int((int64_t)wrong(&m), 0, "two groups and all: within 2 u");
	ok(m.out[3].nties > 30 && m.out[3].nties <= 40,
	    "of its 40 collectives those tell of it that have its end");
	forget(&m);
}

static void
sizes(void)
{
	static const struct plan plans[] = {
		{ 4, 2, 30, false, 1e8, 0 },
		{ 16, 2, 30, false, 1e8, 0 },
		{ 64, 8, 30, false, 1e8, 0 },
		{ 300, 6, 40, false, 3e8, 0 },
	};

	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
		struct made m = draw(&plans[i], i + 1);

		ok(wrong(&m) * 20 <= plans[i].nclocks,
		    "%zu clocks: 95 %% within 2 u, %zu are not",
		    plans[i].nclocks, wrong(&m));
		forget(&m);
	}
}

static void
many_draws(void)
{
	const struct plan p = { 16, 4, 30, false, 1e8, 0 };
	size_t n = 0;

	for (uint64_t i = 0; i < 60; i++) {
		struct made m = draw(&p, 100 + i);

		n += wrong(&m);
		forget(&m);
	}
	ok(n * 20 <= 60 * p.nclocks, "of 960 clocks %zu are not within 2 u", n);
}

static void
drift(void)
{
	struct plan p = { 16, 4, 60, false, 3e10, 10 };
	struct made m = draw(&p, 4);

	ok(fabs(m.out[15].drift - 1e-5) < 1e-7, "10 ppm are found: %g",
	    m.out[15].drift);
	is_int((int64_t)wrong(&m), 0, "and offsets beside them");
	forget(&m);
	p.ppm = 0.3;
	m = draw(&p, 5);
	ok(m.out[15].drift == 0, "0.3 ppm in 30 s do not matter");
	forget(&m);
}

/*
 * 24 ends each, one in 20 very late. Among many clocks some have late ends
 * where they tilt a line.
 */
static void
drift_of_many(void)
{
	struct plan p = { 0, 8, 12, false, 4.8e9, 0 };
	size_t n = 0, nwrong = 0, nfalse = 0, noff = 0, nsure = 0, ntold = 0;

	for (uint64_t i = 0; i < 4; i++) {
		struct made m;

		/* beyond that, uncertainties are drawn */
		p.nclocks = i < 2 ? 256 : 320;
		p.ppm = i % 2 == 0 ? 0 : 10;
		m = draw(&p, 200 + i);
		for (size_t r = 0; r < p.nclocks; r++) {
			nfalse += p.ppm == 0 && m.out[r].drift != 0;
			noff += fabs(m.out[r].drift - m.drift[r]) > 2e-6;
			ntold += p.ppm > 0;
			nsure += p.ppm > 0 &&
			    fabs(m.out[r].drift - m.drift[r]) <=
				2 * m.out[r].u_drift;
		}
		n += p.nclocks;
		nwrong += wrong(&m);
		forget(&m);
	}
	is_int(
	    (int64_t)nfalse, 0, "no drift of many clocks where there is none");
	is_int((int64_t)noff, 0, "and where there is some of each that it has");
	ok(nwrong * 20 <= n, "offsets: %zu not within 2 u", nwrong);
	ok(nsure * 10 >= ntold * 9, "drift: %zu of %zu within 2 u", nsure,
	    ntold);
}

static void
islands(void)
{
	const struct plan p = { 16, 4, 30, true, 1e8, 0 };
	struct made m = draw(&p, 6);

	ok(m.out[0].island != m.out[8].island, "what nothing joins is apart");
	ok(m.out[0].island == m.out[7].island &&
		m.out[8].island == m.out[15].island,
	    "what is joined is one");
	forget(&m);
}

/* 2,000 pairs that nothing joins take no longer than as many ranks. */
static void
many_islands(void)
{
	const struct plan p = { 4000, 2, 10, false, 1e8, 0 };
	struct made m = draw(&p, 7);
	struct solve_job pairs = m.job;
	size_t apart = 0;

	pairs.nstrata--; /* without the stratum of all */
	solve_clocks(&pairs, m.out);
	for (size_t r = 0; r < p.nclocks; r++)
		apart += m.out[r].island == r / 2;
	is_int((int64_t)apart, 4000, "2,000 islands");
	forget(&m);
}

/* Hosts of two ranks; the last one's ranks differ. */
static void
hosts(void)
{
	const double offset[] = { 0, 3000, 2e6, 2e6 + 3000, 0, 5e6 };
	const uint32_t of[] = { 7, 7, 8, 8, 9, 9 };
	struct plan p = { .ncolls = 40, .span_ns = 3e7 };
	struct made m = { .offset = xcalloc(6, sizeof *m.offset),
		.drift = xcalloc(6, sizeof *m.drift),
		.out = xcalloc(6, sizeof *m.out),
		.strata = xcalloc(1, sizeof *m.strata) };

	seed = 8;
	memcpy(m.offset, offset, sizeof offset);
	draw_stratum(&m.strata[0], &m, &p, 0, 6);
	m.job = (struct solve_job){
		.nclocks = 6, .nstrata = 1, .strata = m.strata, .hosts = of
	};
	solve_clocks(&m.job, m.out);
	is_int(m.out[0].offset_ns, m.out[1].offset_ns,
	    "ranks of a host are one clock");
	is_int(m.out[2].offset_ns, m.out[3].offset_ns, "... of each host");
	ok(fabs((double)(m.out[2].offset_ns - m.out[0].offset_ns) - 2e6) <
		2 * m.out[2].u_ns,
	    "... which is off by what its ranks are");
	is_int(m.out[2].from_host_ns, 0, "nothing is said of those");
	ok(fabs((double)m.out[5].from_host_ns - 5e6) < 20000 &&
		m.out[5].offset_ns > 4900000,
	    "ranks that differ are not: %" PRId64 " ns", m.out[5].from_host_ns);
	forget(&m);
}

/* The other has too few ends to be known. */
static void
alone(void)
{
	uint32_t clocks[] = { 0, 1 };
	int64_t ends[] = { 100, 100, 200, 200, 300, END_NONE, 400, END_NONE };
	const struct solve_stratum s = { .n = 2,
		.ncolls = 4,
		.clocks = clocks,
		.ends = ends,
		.latency_ns = 50,
		.tick_ns = 1 };
	const struct solve_job job = {
		.nclocks = 2, .nstrata = 1, .strata = &s
	};
	struct solved_clock out[2];

	solve_clocks(&job, out);
	is_int((int64_t)out[0].island, CLOCK_ISLAND_NONE,
	    "against no other a clock is not known");
}

/* Times at both ends of an int64, and clocks that nothing tells of. */
static void
hostile(void)
{
	uint32_t clocks[] = { 0, 1 };
	int64_t ends[] = { INT64_MIN + 1, INT64_MAX, INT64_MAX, INT64_MIN + 1,
		0, INT64_MAX, END_NONE, END_NONE };
	const struct solve_stratum s = { .n = 2,
		.ncolls = 4,
		.clocks = clocks,
		.ends = ends,
		.latency_ns = INT64_MAX,
		.tick_ns = 1 };
	const struct solve_job job = {
		.nclocks = 3, .nstrata = 1, .strata = &s
	};
	struct solved_clock out[3];

	solve_clocks(&job, out);
	is_int((int64_t)out[2].island, CLOCK_ISLAND_NONE,
	    "a clock without a collective is not known");
	is_int((int64_t)out[2].nties, 0, "and nothing tells of it");
}

int
main(void)
{
	one_of_two_groups();
	sizes();
	many_draws();
	drift();
	drift_of_many();
	islands();
	many_islands();
	hosts();
	alone();
	hostile();
	done_testing();
}

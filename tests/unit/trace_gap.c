/* SPDX-License-Identifier: MIT */
/* trace/host.c, gap.c: what threads did, and why the GPU was idle. */
#include "tests/unit/trace_help.h"
#include "trace/blocked.h"
#include "trace/gap.h"

#define OP KIND_OP
#define RT KIND_RUNTIME
#define KE KIND_KERNEL
#define AN KIND_ANNOTATION
#define PY KIND_PYTHON
#define US 1000
#define DEEP 300
#define DRAWN 600 /* calls */
#define DRAWN_THREADS 6

static struct host host;
static struct gaps gaps;

static void
read_rows(const struct row *rows, size_t n, bool is_linked)
{
	struct store *s = store_of(rows, n, false);
	struct link_stats stats = { 0 };
	struct event ev;

	host_start(&host, names, host.causes);
	causes_clear(host.causes);
	host.by_corr = !is_linked;
	if (is_linked)
		store_link(s, LINK_DEFAULT, &stats);
	for (uint32_t i = 0; i < n; i++) {
		store_event(s, i, &ev);
		host_add(&host, &ev);
	}
	host_ready(&host);
	store_destroy(s);
}

static void
put_name(struct buf *b, uint32_t event)
{
	struct str s = STR("-");

	if (event != HOST_NONE)
		s = dict_get(names, host.events.v[event].name);
	buf_printf(b, "%.*s", (int)s.len, s.p);
}

/* "CAUSE EVENT us, ..." of the pieces of gap no. */
static void
gap_is(size_t no, const char *want)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; no < gaps.list.n && i < gaps.list.v[no].n; i++) {
		const struct gap_piece *p =
		    &gaps.pieces.v[gaps.list.v[no].first + i];

		buf_printf(
		    &b, "%s%s ", i > 0 ? ", " : "", cause_words[p->cause]);
		put_name(&b, p->event);
		buf_printf(&b, " %g", (double)(p->end_ns - p->start_ns) / US);
	}
	buf_putc(&b, '\0');
	is_str(b.p, want, "gap %zu", no);
	buf_free(&b);
}

/* "EVENT us, ..." of the parts of thread tid between two times, without holes.
 */
static void
part_is(int64_t tid, int64_t from, int64_t to, const char *want)
{
	struct host_parts p;
	struct buf b = { 0 };

	for (size_t i = 0; i < host.threads.n; i++) {
		const struct host_thread *t = &host.threads.v[i];

		if (names->tracks.v[t->track].tid.n != tid)
			continue;
		p = host_parts_of(&host, t, from, to);
		while (host_parts_next(&p)) {
			if (p.event == HOST_NONE)
				continue;
			buf_puts(&b, b.len > 0 ? ", " : "");
			put_name(&b, p.event);
			buf_printf(
			    &b, " %g", (double)(p.end_ns - p.start_ns) / US);
		}
	}
	buf_putc(&b, '\0');
	is_str(b.p, want, "thread %d from %" PRId64, (int)tid, from);
	buf_free(&b);
}

static void
thread_is(int64_t tid, const char *want)
{
	part_is(tid, INT64_MIN, INT64_MAX, want);
}

/* Work until 10; a load before the launch of what begins at 200; a second
 * thread that is busy meanwhile; work that was launched long before. */
static const struct row rows[] = {
	RX(RT, "cudaLaunchKernel", 1, 0, 2, .corr = 1),
	RX(KE, "gemm", 7, 4, 10, .corr = 1),
	R(AN, "step", 1, 12, 202),
	R(OP, "load_batch", 1, 20, 80),
	R(RT, "cudaStreamSynchronize", 1, 30, 50),
	R(OP, "other", 2, 0, 300),
	R(OP, "aten::mm", 1, 150, 210),
	RX(RT, "cudaLaunchKernel", 1, 190, 194, .corr = 2),
	RX(KE, "gemm", 7, 200, 210, .corr = 2),
	RX(RT, "cudaLaunchKernel", 1, 202, 206, .corr = 3),
	RX(KE, "gemm", 7, 220, 230, .corr = 3),
	R(KE, "unlinked", 7, 400, 410),
};

static void
test_threads(void)
{
	thread_is(1,
	    "cudaLaunchKernel 2, step 8, load_batch 10, "
	    "cudaStreamSynchronize 20, load_batch 30, step 70, aten::mm 40, "
	    "cudaLaunchKernel 4, aten::mm 8, cudaLaunchKernel 4"); /* cut */
	thread_is(2, "other 300");
	thread_is(3, "");
	part_is(1, 25 * US, 60 * US,
	    "load_batch 5, cudaStreamSynchronize 20, load_batch 10");
	part_is(1, 50 * US, 80 * US, "load_batch 30"); /* as one ends */
	part_is(1, 80 * US, 151 * US, "step 70, aten::mm 1");
	part_is(1, 206 * US, 300 * US, "");
	part_is(1, 60 * US, 60 * US, "");
}

/* Work without a length ends the window, and splits no gap. */
static void
test_points(void)
{
	static const struct row points[] = {
		R(KE, "point", 7, 0, 0),
		R(KE, "gemm", 7, 10, 20),
		R(KE, "point", 7, 30, 30),
		R(KE, "point", 7, 50, 50),
	};

	read_rows(points, sizeof points / sizeof *points, true);
	gaps_find(&gaps, &host, NULL, host.gpus.n, NULL);
	is_int((int64_t)gaps.list.n, 2, "gaps beside points");
	is_int(gaps.list.v[0].end_ns - gaps.list.v[0].start_ns, 10 * US,
	    "behind the first");
	is_int(gaps.list.v[1].end_ns - gaps.list.v[1].start_ns, 30 * US,
	    "in front of the last");
}

/* Many calls, each ending after the one before: open ones are found from the
 * last. */
static void
test_deep(void)
{
	struct row deep[DEEP];
	int nright = 0;

	for (int i = 0; i < DEEP; i++)
		deep[i] = (struct row)R(OP, "op", 1, i, 1000 - 2 * i);
	read_rows(deep, DEEP, true);
	for (int i = 0; i < DEEP; i++) {
		int64_t end = (1000 - 2 * i) * US;
		struct host_parts p =
		    host_parts_of(&host, &host.threads.v[0], end - 1, end);

		nright += host_parts_next(&p) && p.event == (uint32_t)i;
		p = host_parts_of(&host, &host.threads.v[0], end, end + 1);
		nright += host_parts_next(&p) &&
		    p.event == (i > 0 ? (uint32_t)i - 1 : HOST_NONE);
	}
	is_int(nright, 2 * DEEP, "before and behind the end of each");
}

/* Many without length: the last one with a length is found without a search. */
static void
test_timeless(void)
{
	static const struct row timeless[] = {
		R(AN, "early", 1, 0, 0),
		R(OP, "outer", 1, 10, 100),
		R(OP, "inner", 1, 20, 30),
		R(OP, "instant", 1, 30, 30),
		R(AN, "overlay", 1, 40, 200),
		R(KIND_OVERHEAD, "buffer", 1, 50, 60),
		R(RT, "instant call", 1, 55, 55),
		R(OP, "last", 1, 100, 110),
	};
	static const uint32_t want[] = { HOST_NONE, 1, 2, 2, 2, 2, 2, 7 };
	int nright = 0;

	read_rows(timeless, NROWS(timeless), true);
	for (uint32_t i = 0; i < NROWS(timeless); i++)
		nright += host_last_with_time(host.events.v, i) == want[i];
	is_int(nright, NROWS(timeless), "the last with time before each");
	thread_is(1, "outer 10, inner 10, outer 70, last 10");
	part_is(1, 30 * US, 55 * US, "outer 25");
	part_is(1, 55 * US, 101 * US, "outer 45, last 1");
}

/* ---- calls that block, compared with each thread ---- */

static bool
half_is_blocked(int64_t from, int64_t to)
{
	for (size_t i = 0; i < host.threads.n; i++) {
		const struct host_thread *t = &host.threads.v[i];
		struct host_parts p = host_parts_of(&host, t, from, to);
		int64_t ns = 0;

		while (host_parts_next(&p))
			if (p.cause == CAUSE_SYNC ||
			    p.cause == CAUSE_COPY_BLOCK)
				ns += p.end_ns - p.start_ns;
		if (t->nlaunched > 0 && ns > 0 && 2 * ns >= to - from)
			return true;
	}
	return false;
}

static uint32_t
blocked_on(uint32_t thread, int64_t ns)
{
	const struct host_thread *t = &host.threads.v[thread];
	struct host_parts p = host_parts_of(&host, t, ns, ns + 1);

	return t->nlaunched > 0 && host_parts_next(&p) && cause_blocks(p.cause)
	    ? p.event
	    : HOST_NONE;
}

static uint32_t
first_blocked(uint32_t thread, int64_t ns)
{
	uint32_t found = blocked_on(thread, ns);

	for (uint32_t i = 0; found == HOST_NONE && i < host.threads.n; i++)
		found = blocked_on(i, ns);
	return found;
}

/* Calls one after another or nested; the last thread launches nothing. */
static void
draw_calls(void)
{
	static const char *const calls[] = { "cudaStreamSynchronize",
		"cudaMalloc", "cudaMemcpy", "cudaLaunchKernel",
		"cudaGetDevice" };
	struct row drawn[DRAWN];
	uint32_t seed = 1;
	int at[DRAWN_THREADS] = { 0 };

	for (int i = 0; i < DRAWN; i++) {
		int no = i % DRAWN_THREADS, length, corr;

		seed = seed * 1664525 + 1013904223;
		length = (int)(seed >> 24) % 40;
		corr = no < DRAWN_THREADS - 1 && i < 2 * DRAWN_THREADS ? no + 1
								       : 0;
		drawn[i] = (struct row)RX(RT, calls[(seed >> 16) % 5], no + 1,
		    at[no], at[no] + length, .corr = corr);
		if (i < DRAWN_THREADS && corr != 0)
			drawn[i] =
			    (struct row)RX(KE, "k", 70, i, i + 1, .corr = corr);
		at[no] += (int)(seed >> 8) % 30; /* the next one, or in it */
	}
	read_rows(drawn, DRAWN, false);
}

static void
test_blocked(void)
{
	struct blocked b;
	int nright = 0, nhalf = 0, ncalls = 0, n = 0;

	draw_calls();
	blocked_start(&b, &host);
	for (int64_t from = 0; from < 1500 * US; from += 9 * US, n++) {
		int64_t to = from + (1 + n % 9) * US;
		uint32_t own = (uint32_t)n % DRAWN_THREADS, call;
		bool half;

		blocked_in(&b, from, to);
		half = blocked_for_half(&b, from + US / 2, to);
		call = blocked_call_at(&b, own, from);
		nright += half == half_is_blocked(from + US / 2, to) &&
		    call == first_blocked(own, from);
		nhalf += half;
		ncalls += call != HOST_NONE;
	}
	blocked_end(&b);
	is_int(nright, n, "as on each thread (%d, %d)", nhalf, ncalls);
	ok(nhalf > n / 10 && nhalf < n - n / 10, "halves of both kinds");
	ok(ncalls > n / 10 && ncalls < n - n / 10, "calls, and none");
}

static void
test_gaps(const char *how)
{
	diag("%s", how);
	gaps_find(&gaps, &host, NULL, host.gpus.n, NULL);
	is_int((int64_t)gaps.list.n, 3, "gaps");
	gap_is(0,
	    "op other 10, data load_batch 10, sync cudaStreamSynchronize 20, "
	    "data load_batch 30, op other 70, op aten::mm 40, "
	    "launch_call cudaLaunchKernel 4, launch_latency cudaLaunchKernel "
	    "6");
	is_int(gaps.list.v[0].cause, CAUSE_OP, "its cause");
	is_int(gaps.list.v[0].cause_ns, 120 * US, "for so long");
	gap_is(1, "launch_latency cudaLaunchKernel 10");
	gap_is(2, "op other 70, between_ops - 100");
}

int
main(void)
{
	host.causes = causes_create();
	read_rows(rows, NROWS(rows), false);
	test_threads();
	test_gaps("by correlation");
	read_rows(rows, NROWS(rows), true);
	test_gaps("linked");
	test_points();
	test_deep();
	test_timeless();
	test_blocked();
	gaps_free(&gaps);
	causes_destroy(host.causes);
	host_free(&host);
	dict_destroy(names);
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/* trace/idle.c: what a thread did in a span, and why the GPU was idle. */
#include "tests/unit/trace_help.h"
#include "trace/idle.h"

#define OP KIND_OP
#define RT KIND_RUNTIME
#define KE KIND_KERNEL

/* Work until 10; a load of 60 us before the launch of what begins at 100; a
 * second thread that is busy meanwhile; a gap without anything recorded. */
static const struct row rows[] = {
	RX(RT, "launch", 1, 0, 2, .corr = 1),
	RX(KE, "gemm", 7, 4, 10, .corr = 1),
	R(OP, "step", 1, 12, 100),
	R(OP, "load", 1, 20, 80),
	R(RT, "read", 1, 30, 50),
	R(RT, "read", 1, 55, 60),
	RX(RT, "launch", 1, 90, 94, .corr = 2),
	RX(KE, "gemm", 7, 100, 110, .corr = 2),
	R(OP, "other", 2, 0, 300),
	RX(RT, "launch", 1, 196, 198, .corr = 3),
	RX(KE, "gemm", 7, 200, 210, .corr = 3),
	R(KE, "unlinked", 7, 300, 310),
};

static struct spans gpu;

static struct idle *
idle_of(const struct row *r, size_t n)
{
	struct idle *h = idle_new();
	struct store *s = store_of(r, n, "chrome");
	struct event ev;

	idle_clear(h, names);
	gpu.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		store_event(s, i, &ev);
		if (event_is(&ev, KINDS_GPU)) {
			idle_gpu(h, &ev);
			spans_add(&gpu, ev.ts_ns, ev.ts_ns + ev.dur_ns);
		} else {
			idle_host(h, &ev);
		}
	}
	spans_normalise(&gpu);
	idle_explain(h, &gpu);
	store_destroy(s);
	return h;
}

static uint32_t
thread_of(int64_t tid)
{
	for (uint32_t i = 0; i < names->tracks.n; i++)
		if (names->tracks.v[i].tid.n == tid)
			return dict_thread(names, i);
	bail_out("no such thread");
}

/* "name kind ns, ..." */
static void
acts_are(struct idle *h, int64_t tid, int64_t from, int64_t to, size_t most,
    const char *want)
{
	struct idle_act acts[8];
	size_t n = idle_acts(h, thread_of(tid), from, to, acts, most);
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct str name = dict_get(names, acts[i].name);

		buf_printf(&b, "%s%.*s %s %" PRId64, i > 0 ? ", " : "",
		    (int)name.len, name.p, kind_words[acts[i].kind],
		    acts[i].ns);
	}
	buf_putc(&b, '\0');
	is_str(b.p, want, "thread %d, %d to %d", (int)tid, (int)from, (int)to);
	buf_free(&b);
}

static void
cause_is(struct idle *h, int64_t from, int64_t to, const char *want, int64_t ns)
{
	int64_t got;
	struct str s = idle_cause(h, from, to, &got);

	is_mem(s.p != NULL ? s.p : "-", s.p != NULL ? s.len : 1, want,
	    strlen(want), "cause of %d to %d", (int)from, (int)to);
	is_int(got, ns, "its time");
}

int
main(void)
{
	struct idle *h = idle_of(rows, NROWS(rows));

	acts_are(h, 1, 10000, 94000, 8,
	    "load op 35000, read runtime 25000, step op 18000, "
	    "launch runtime 4000");
	acts_are(h, 1, 31000, 49000, 8, "read runtime 18000");
	acts_are(h, 1, 10000, 94000, 2, "load op 35000, read runtime 25000");
	acts_are(h, 2, 290000, 400000, 8, "other op 10000");
	acts_are(h, 1, 500000, 600000, 8, "");
	cause_is(h, 10000, 100000, "load", 35000);
	cause_is(h, 0, 300000, "load", 35000);
	cause_is(h, 110000, 300000, "-", 0); /* nothing recorded; no launch */
	idle_free(h);
	dict_destroy(names);
	done_testing();
}

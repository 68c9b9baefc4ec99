/* SPDX-License-Identifier: MIT */
/*
 * trace/overlap.c: what overlaps what, worked out by hand, and against every
 * pair looked at one by one.
 */
#include <math.h>

#include "tests/unit/tap.h"

#include "trace/overlap.h"
#include "trace/span.h"
#include "trace/stat.h"

static struct dict *st;

static struct key
number(uint64_t n)
{
	return (struct key){ .type = KEY_INT, .n = (int64_t)n };
}

/* Times in us. */
static struct work
work(uint64_t id, const char *name, uint64_t stream, int64_t ts, int64_t dur,
    uint64_t op)
{
	return (struct work){
		.uid = { .id = id },
		.name = intern_put(st->text, str_of(name)),
		.dev = number(0),
		.gpu_stream = number(stream),
		.ts_ns = ts * 1000,
		.dur_ns = dur * 1000,
		.op = op,
	};
}

/* "names pct: name ns pct ..." of the events of an op. */
static void
is_overlap(const struct work *works, size_t n, uint64_t op,
    const char *expected, const char *what)
{
	struct overlaps *o = overlaps_find(st, works, n);
	VEC(uint32_t) own = { 0 };
	overlap_vec list = { 0 };
	struct op_overlap of;
	struct buf b = { 0 };

	vec_push(&list, ((struct overlap){ .name = 0 })); /* of another op */
	for (uint32_t i = 0; i < n; i++)
		if (works[i].op == op)
			vec_push(&own, i);
	overlaps_of(o, own.v, own.n, &list, &of);
	if (of.names != INTERN_NONE) {
		struct str names = dict_get(st, of.names);

		buf_printf(&b, "%.*s %g:", (int)names.len, names.p, of.pct);
		for (size_t i = 0; i < of.n; i++) {
			const struct overlap *x = &list.v[of.first + i];
			struct str name = dict_get(st, x->name);

			buf_printf(&b, " %.*s/%" PRIu64 " %" PRId64 " %g",
			    (int)name.len, name.p, x->gpu_stream.n, x->dur_ns,
			    x->pct);
		}
	} else if (isnan(of.pct)) {
		buf_puts(&b, "nothing");
	}
	buf_putc(&b, '\0');
	is_str(b.p, expected, "%s", what);
	overlaps_free(o);
	vec_free(&own);
	vec_free(&list);
	buf_free(&b);
}

static void
by_hand(void)
{
	struct work two[] = { work(1, "k", 7, 0, 10, 1),
		work(2, "copy", 8, 4, 10, 2) };
	struct work three[] = { work(1, "k", 7, 0, 10, 1),
		work(2, "copy", 8, 2, 4, 2), work(3, "copy", 9, 4, 2, 2),
		work(4, "a", 9, 8, 20, 3) };
	struct work own[] = { work(1, "k", 7, 0, 10, 1),
		work(2, "k", 8, 5, 10, 1), work(3, "x", 9, 7, 2, 0) };

	is_overlap(two, 2, 1, "[\"copy\"] 0.6: copy/8 10000 0.6",
	    "six of ten microseconds");
	is_overlap(two, 2, 2, "[\"k\"] 0.6: k/7 10000 0.6", "and of the other");
	is_overlap(two, 2, 3, "nothing", "an op without GPU events");
	is_overlap(three, 4, 1,
	    "[\"a\",\"copy\"] 0.6: a/9 20000 0.2 copy/8 3000 0.3",
	    "of one name the mean; what is covered counts once");
	is_overlap(own, 3, 1, "[\"x\"] 0.27: x/9 2000 0.13",
	    "events of one op do not overlap; x does both of them");
	is_overlap(own, 3, 0, "[\"k\"] 1: k/7 10000 1",
	    "work without an op overlaps others");
	two[1].gpu_stream = number(7);
	is_overlap(two, 2, 1, "nothing", "one GPU stream of one device");
	two[1].dev = number(1);
	is_overlap(
	    two, 2, 1, "[\"copy\"] 0.6: copy/7 10000 0.6", "of another device");
	two[1].source = 1;
	is_overlap(two, 2, 1, "nothing", "of another source");
	two[1].source = 0;
	two[0].gpu_stream = two[1].gpu_stream =
	    (struct key){ .type = KEY_NONE };
	two[1].dev = two[0].dev;
	is_overlap(two, 2, 1, "[\"copy\"] 0.6: copy/0 10000 0.6",
	    "an unknown GPU stream is no one's");
	two[1].ts_ns = 9001;
	is_overlap(two, 2, 1, "nothing", "less than a microsecond");
	two[1].ts_ns = 9000;
	is_overlap(
	    two, 2, 1, "[\"copy\"] 0.1: copy/0 10000 0.1", "a microsecond");
	two[1].dur_ns = 0;
	is_overlap(two, 2, 1, "nothing", "what does not last");
}

#define WORKS 300

/* Whole sources, at random: pct of each op, from every pair. */
static double
slowly(const struct work *w, uint64_t op, size_t *npairs)
{
	struct spans busy = { 0 };
	int64_t covered = 0;
	double pct;

	*npairs = 0;
	for (size_t i = 0; i < WORKS; i++) {
		struct spans part = { 0 };

		if (w[i].op != op)
			continue;
		spans_add(&busy, w[i].ts_ns, work_end(&w[i]));
		for (size_t k = 0; k < WORKS; k++) {
			int64_t from =
			    w[i].ts_ns > w[k].ts_ns ? w[i].ts_ns : w[k].ts_ns;
			int64_t to = work_end(&w[i]) < work_end(&w[k])
			    ? work_end(&w[i])
			    : work_end(&w[k]);

			if (w[k].op == op || to - from < 1000 ||
			    w[k].source != w[i].source ||
			    w[k].gpu_stream.n == w[i].gpu_stream.n)
				continue;
			++*npairs;
			spans_add(&part, from, to);
		}
		spans_normalise(&part);
		covered += spans_total(&part);
		spans_free(&part);
	}
	spans_normalise(&busy);
	pct = stat_round2((double)covered / (double)spans_total(&busy));
	spans_free(&busy);
	return pct;
}

static void
at_random(void)
{
	static struct work w[WORKS];
	static const char *const names[] = { "a", "b", "c" };
	struct overlaps *o;
	uint64_t x = 5;
	size_t wrong = 0, noverlaps = 0;

	for (size_t i = 0; i < WORKS; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		w[i] = work(i, names[x % 3], (x >> 20) % 4,
		    (int64_t)((x >> 30) % 900), 1 + (int64_t)((x >> 50) % 20),
		    1 + (x >> 40) % 60);
		w[i].source = (uint32_t)(w[i].op % 2);
	}
	o = overlaps_find(st, w, WORKS);
	for (uint64_t op = 1; op <= 60; op++) {
		VEC(uint32_t) own = { 0 };
		overlap_vec list = { 0 };
		struct op_overlap of;
		size_t npairs;
		double pct = slowly(w, op, &npairs);

		for (uint32_t i = 0; i < WORKS; i++)
			if (w[i].op == op)
				vec_push(&own, i);
		overlaps_of(o, own.v, own.n, &list, &of);
		noverlaps += npairs;
		wrong += npairs == 0 ? of.names != INTERN_NONE : of.pct != pct;
		vec_free(&own);
		vec_free(&list);
	}
	ok(noverlaps > 500, "%zu pairs at random", noverlaps);
	is_uint(wrong, 0, "are those of every pair looked at");
	overlaps_free(o);
}

int
main(void)
{
	st = dict_create();
	by_hand();
	at_random();
	dict_destroy(st);
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/*
 * XLA instructions at their best, and by buffer size: TraceLens's tables of a
 * dump of XLA's buffer assignment.
 */
#include "cmd/tl-collective/tables.h"

#include <math.h>

/* An instruction's shortest run on any GPU. */
struct best {
	struct row row;
	int64_t ns;
	double rate; /* bytes per ns, that is GB/s; NAN: no size */
};
typedef VEC(struct best) best_vec;

static double
rate_of(const struct sig *s, int64_t ns)
{
	return s->full_bytes != NONE && ns > 0
	    ? (double)s->full_bytes / (double)ns
	    : (double)NAN;
}

static void
bests_make(const struct job *j, best_vec *list)
{
	struct map at = { 0 }; /* by what is equal on all ranks */

	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		struct best b = { row_of_coll(j, c, NULL), c->latency_ns, 0 };
		uint32_t k;

		if (!coll_is_hlo(j, c) || !coll_counts(j, c))
			continue;
		b.rate = rate_of(b.row.sig, b.ns);
		k = map_number(&at, b.row.sig->match);
		if (k == list->n)
			vec_push(list, b);
		else if (b.ns < list->v[k].ns)
			list->v[k] = b;
	}
	map_free(&at);
}

#define BUFFER_BYTES                                                         \
	SIG(COLUMN("buffer_bytes", "buffer_size_kb", COL_INT, UNIT_BYTES, 0, \
		1024),                                                       \
	    out_bytes)
#define PCT_OF_LATENCY(type, m) \
	OWN(PCT("pct_latency", "Percentage of time"), type, m)

/* ---- hlo_latency ---- */

static const struct field latency_fields[] = {
	SIG(TEXT("collective", "base_collective"), name),
	SIG(TEXT("instruction", "collective_name"), instruction),
	MODULE,
	OWN(US("latency_ns", "latency_us"), struct best, ns),
	BUFFER_BYTES,
	OWN(REAL("effective_gb_per_s", "effective_bw"), struct best, rate),
};

static void
fill_latency(struct sheet_rows *s, struct job *j)
{
	best_vec list = { 0 };

	bests_make(j, &list);
	for (size_t i = 0; i < list.n; i++) {
		list.v[i].row.own = &list.v[i];
		put_row(s, &list.v[i].row);
	}
	vec_free(&list);
}

const struct table_def table_hlo_latency = {
	.name = "hlo_latency",
	.is_about = coll_is_hlo,
	FIELDS(latency_fields),
	.fill = fill_latency,
};

/* ---- hlo_sizes ---- */

enum { M_RATE };

/* clang-format off */
static const struct field size_fields[] = {
	SIG(TEXT("collective", "base_collective"), name),
	BUFFER_BYTES,
	OWN(COUNTS("instructions", "count"), struct alike, count),
	OWN_STAT(REAL("effective_gb_per_s_mean", "effective_bw_mean"), struct alike, v[M_RATE], STAT_MEAN),
	OWN_STAT(REAL("effective_gb_per_s_std", "effective_bw_std"), struct alike, v[M_RATE], STAT_STD),
	OWN(US("latency_ns_sum", "latency_us"), struct alike, sum_ns),
	PCT_OF_LATENCY(struct alike, best),
};
/* clang-format on */

static int
by_size(const void *pa, const void *pb)
{
	const struct sig *a = ((const struct alike *)pa)->row.sig;
	const struct sig *b = ((const struct alike *)pb)->row.sig;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return a->out_bytes < b->out_bytes ? -1 : a->out_bytes > b->out_bytes;
}

static void
fill_sizes(struct sheet_rows *s, struct job *j)
{
	double total[CLASS_COUNT] = { 0 };
	struct alikes all = { 0 };
	best_vec list = { 0 };

	bests_make(j, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct best *b = &list.v[i];
		const struct sig *sig = b->row.sig;
		struct alike *a;

		if (isnan(b->rate))
			continue;
		a = alike_of(&all, b->row,
		    (int64_t[]){ sig->class, sig->out_bytes },
		    2 * sizeof(int64_t));
		alike_add(a, b->ns);
		value_add(&a->v[M_RATE], b->rate);
		total[sig->class] += (double)b->ns;
	}
	for (size_t i = 0; i < all.list.n; i++) {
		struct alike *a = &all.list.v[i];

		a->best = 100 * (double)a->sum_ns / total[a->row.sig->class];
	}
	put_alikes(s, &all, by_size);
	vec_free(&list);
}

const struct table_def table_hlo_sizes = {
	.name = "hlo_sizes",
	.is_about = coll_is_hlo,
	FIELDS(size_fields),
	.fill = fill_sizes,
};

/* ---- hlo_rates ---- */

static const struct {
	double from;
	struct str text;
} bands[] = {
	{ 0, STR_INIT("0-50") },
	{ 50, STR_INIT("50-100") },
	{ 100, STR_INIT("100-200") },
	{ 200, STR_INIT("200-300") },
	{ 300, STR_INIT("300-400") },
	{ 400, STR_INIT(">=400") },
};
#define NBANDS (sizeof bands / sizeof *bands)

struct band {
	struct str text;
	int64_t count, ns;
	double pct;
};

static const struct field rate_fields[] = {
	SIG(TEXT("collective", "base_collective"), name),
	OWN(TEXT("gb_per_s", "Bandwidth range"), struct band, text),
	OWN(COUNTS("instructions", "count"), struct band, count),
	OWN(US("latency_ns_sum", "latency_us"), struct band, ns),
	PCT_OF_LATENCY(struct band, pct),
};

static size_t
band_of(double rate)
{
	size_t i = NBANDS - 1;

	while (rate < bands[i].from)
		i--;
	return i;
}

static void
put_bands(struct sheet_rows *s, struct row *row, struct band *of)
{
	double total = 0;

	for (size_t i = 0; i < NBANDS; i++)
		total += (double)of[i].ns;
	for (size_t i = 0; i < NBANDS && total > 0; i++) {
		of[i].text = bands[i].text;
		of[i].pct = 100 * (double)of[i].ns / total;
		row->own = &of[i];
		put_row(s, row);
	}
}

static void
fill_rates(struct sheet_rows *s, struct job *j)
{
	struct band of[CLASS_COUNT][NBANDS] = { 0 };
	struct row rows[CLASS_COUNT] = { 0 };
	best_vec list = { 0 };

	bests_make(j, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct best *b = &list.v[i];
		enum coll_class class = b->row.sig->class;
		struct band *band;

		if (isnan(b->rate))
			continue;
		rows[class] = b->row;
		band = &of[class][band_of(b->rate)];
		band->count++;
		band->ns = num_add_max(band->ns, b->ns);
	}
	for (size_t i = 0; i < CLASS_COUNT; i++)
		put_bands(s, &rows[i], of[i]);
	vec_free(&list);
}

const struct table_def table_hlo_rates = {
	.name = "hlo_rates",
	.is_about = coll_is_hlo,
	FIELDS(rate_fields),
	.fill = fill_rates,
};

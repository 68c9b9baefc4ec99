/* SPDX-License-Identifier: MIT */
/* Bandwidth by message size, which TraceLens lacks. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

/* ---- bandwidth ---- */

/* Metrics of collectives of one class, group size and message. */
enum { M_LATENCY, M_BUS, M_LINK };

struct alike *
curve_point(const struct job *j, struct alikes *curve, const struct coll *c)
{
	const struct sig *s = &j->sigs.v[c->sig];
	const struct link_limit *l = coll_limit(j, c);
	int64_t key[] = { c->class, s->n, s->full_bytes,
		l->link != NULL ? (int64_t)l->gbps : 0 };

	return s->n != NONE && isfinite(coll_bus_bw(j, c))
	    ? alike_of(curve, row_of_coll(j, c, NULL), key, sizeof key)
	    : NULL;
}

void
curve_make(const struct job *j, struct alikes *curve)
{
	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		struct alike *p;

		if (!coll_counts(j, c) ||
		    (p = curve_point(j, curve, c)) == NULL)
			continue;
		alike_add(p, c->latency_ns);
		value_add(&p->v[M_LATENCY], (double)c->latency_ns);
		value_add(&p->v[M_BUS], coll_bus_bw(j, c));
		value_add(&p->v[M_LINK], coll_pct_of_link(j, c));
		p->best = fmax(p->best, coll_bus_bw(j, c));
	}
}

static int
by_size(const void *pa, const void *pb)
{
	const struct sig *a = ((const struct alike *)pa)->row.sig;
	const struct sig *b = ((const struct alike *)pb)->row.sig;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return a->full_bytes < b->full_bytes ? -1
					     : a->full_bytes > b->full_bytes;
}

static struct cell
cell_class(const struct row *r)
{
	return cell_text(str_of(class_words[r->sig->class]));
}

static struct cell
cell_of_best(const struct row *r)
{
	struct alike *p = r->own;

	return cell_real(100 * values_stat(&p->v[M_BUS], 0.5) / p->best);
}

static struct cell
cell_link(const struct row *r)
{
	const struct link_limit *l = coll_limit(r->job, r->coll);

	return l->link != NULL ? cell_text(l->link->label) : cell_none();
}

static struct cell
cell_judged_from(const struct row *r)
{
	double bytes = coll_judged_from(r->job, r->coll);

	return bytes < 1e18 ? cell_int((int64_t)ceil(bytes)) : cell_none();
}

/* clang-format off */
static const struct field bandwidth_fields[] = {
	CELL(TEXT("class", NULL), cell_class),
	GROUP_SIZE,
	FULL_BYTES,
	OWN(COUNTS("count", NULL), struct alike, count),
	OWN_STAT(REAL_US("latency_ns_p50", "comm_latency_p50"), struct alike, v[M_LATENCY], 0.5),
	OWN_STAT(REAL_US("latency_ns_p95", "comm_latency_p95"), struct alike, v[M_LATENCY], 0.95),
	OWN_STAT(REAL_US("latency_ns_p99", "comm_latency_p99"), struct alike, v[M_LATENCY], 0.99),
	OWN_STAT(REAL("bus_gib_per_s_p50", "bus bw (GB/s)_p50"), struct alike, v[M_BUS], 0.5),
	OWN(REAL("bus_gib_per_s_best", "bus bw (GB/s)_best"), struct alike, best),
	CELL(PCT("pct_of_best", NULL), cell_of_best),
	CELL(TEXT("link", NULL), cell_link),
	OWN_STAT(PCT("pct_of_link", NULL), struct alike, v[M_LINK], 0.5),
	CELL(MINOR("judged_from_bytes", COL_INT, UNIT_BYTES), cell_judged_from),
};
/* clang-format on */

static void
fill_bandwidth(struct sheet_rows *s, struct job *j)
{
	struct alikes curve = { 0 };

	curve_make(j, &curve);
	put_alikes(s, &curve, by_size);
}

const struct table_def table_bandwidth = {
	.name = "nccl_bandwidth",
	FIELDS(bandwidth_fields),
	.fill = fill_bandwidth,
};

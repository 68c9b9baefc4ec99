/* SPDX-License-Identifier: MIT */
/* Collectives of XLA, by instruction and, as in TraceLens, by type. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

/* ---- hlo_collectives ---- */

enum { M_LATENCY, M_WAIT, M_BUS };

static struct cell
cell_exposed_share(const struct row *r)
{
	const struct alike *a = r->own;

	return a->exposed_ns != NONE
	    ? cell_real(100 * (double)a->exposed_ns / (double)a->sum_ns)
	    : cell_none();
}

/* clang-format off */
static const struct field instruction_fields[] = {
	MODULE,
	INSTRUCTION,
	NAME,
	DTYPE,
	IN_BYTES,
	OUT_BYTES,
	GROUP_SIZE,
	OWN(COUNTS("count", NULL), struct alike, count),
	OWN(COLUMN("dur_ns_sum", NULL, COL_INT, UNIT_NS, COL_SHARE, 0), struct alike, sum_ns),
	OWN(COLUMN("exposed_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0), struct alike, exposed_ns),
	CELL(PCT("pct_exposed", NULL), cell_exposed_share),
	OWN_STAT(COLUMN("latency_ns_p50", NULL, COL_REAL, UNIT_NS, 0, 0), struct alike, v[M_LATENCY], 0.5),
	OWN_STAT(COLUMN("wait_ns_mean", NULL, COL_REAL, UNIT_NS, 0, 0), struct alike, v[M_WAIT], STAT_MEAN),
	OWN_STAT(REAL("bus_gib_per_s_p50", NULL), struct alike, v[M_BUS], 0.5),
	SIG(MINOR("op_name", COL_TEXT, UNIT_NONE), op_name),
	SIG(MINOR("source", COL_TEXT, UNIT_NONE), source),
};
/* clang-format on */

static void
add_ranks(const struct job *j, struct alike *a, const struct coll *c)
{
	for (uint32_t m = 0; m < c->n; m++) {
		const struct rec *r = j->members[c->first + m];
		int64_t exposed = rec_exposed(j, r);

		a->sum_ns = num_add_max(a->sum_ns, r->dur_ns);
		a->exposed_ns = exposed == NONE || a->exposed_ns == NONE
		    ? NONE
		    : num_add_max(a->exposed_ns, exposed);
	}
}

static void
fill_instructions(struct sheet_rows *s, struct job *j)
{
	struct alikes all = { 0 };

	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		struct alike *a;

		if (!coll_is_hlo(j, c) || !coll_counts(j, c))
			continue;
		a = alike_of(&all, row_of_coll(j, c, NULL),
		    &j->sigs.v[c->sig].match, sizeof(uint32_t));
		a->count++;
		add_ranks(j, a, c);
		value_add(&a->v[M_LATENCY], (double)c->latency_ns);
		value_add(&a->v[M_WAIT], (double)c->wait_sum_ns / (double)c->n);
		value_add(&a->v[M_BUS], coll_bus_bw(j, c));
	}
	put_alikes(s, &all, by_sum);
}

const struct table_def table_hlo = {
	.name = "hlo_collectives",
	.is_about = coll_is_hlo,
	FIELDS(instruction_fields),
	.fill = fill_instructions,
};

/* ---- hlo_bandwidth ---- */

/* A run of an instruction, which TraceLens calls a slice. */
struct slice {
	const struct sig *sig; /* of its first group */
	double algo, bus;      /* sums over its groups */
	int64_t ngroups;
};
typedef VEC(struct slice) slice_vec;

/* Sums of a type. */
struct type {
	struct row row;
	int64_t noperations, nslices, nmeasured, nsized;
	double mib; /* of runs with a size */
	struct values algo, bus;
};

#define BANDWIDTHS(id, name, m)                                             \
	OWN_STAT(REAL(id "_mean", "avg_" name), struct type, m, STAT_MEAN), \
	    OWN_STAT(REAL(id "_p50", "median_" name), struct type, m, 0.5), \
	    OWN_STAT(REAL(id "_min", "min_" name), struct type, m, 0),      \
	    OWN_STAT(REAL(id "_max", "max_" name), struct type, m, 1),      \
	    CELL(REAL(id "_std", "std_" name), cell_std_##m),               \
	    OWN_STAT(REAL(id "_p25", "p25_" name), struct type, m, 0.25),   \
	    OWN_STAT(REAL(id "_p75", "p75_" name), struct type, m, 0.75)

/* Deviation of all, not of a sample. */
static struct cell
population_std(struct values *of)
{
	double n = (double)of->n;

	if (of->n < 2)
		return of->n == 0 ? cell_none() : cell_real(0);
	return cell_real(values_stat(of, STAT_STD) * sqrt((n - 1) / n));
}

static struct cell
cell_std_algo(const struct row *r)
{
	return population_std(&((struct type *)r->own)->algo);
}

static struct cell
cell_std_bus(const struct row *r)
{
	return population_std(&((struct type *)r->own)->bus);
}

static const struct field type_fields[] = {
	SIG(TEXT("collective", "type"), name),
	OWN(COUNTS("instructions", "num_operations"), struct type, noperations),
	OWN(COUNTS("slices", "total_slices"), struct type, nslices),
	OWN(COUNTS("measured", "total_measurements"), struct type, nmeasured),
	BANDWIDTHS("both_ways_gib_per_s", "bandwidth_gbps", algo),
	BANDWIDTHS("both_ways_bus_gib_per_s", "bus_bandwidth_gbps", bus),
	OWN(REAL("in_mib_mean", "avg_data_size_mb"), struct type, mib),
};

/* What a rank sends and receives, as TraceLens counts it. */
static double
bytes_both_ways(const struct sig *s)
{
	double in = (double)s->in_bytes, n = (double)s->n;

	switch (s->class) {
	case CLASS_ALLGATHER: return 2 * in * (n - 1);
	case CLASS_PERMUTE:
	case CLASS_ALLREDUCE: return 2 * in;
	case CLASS_REDUCESCATTER: return in + in / n;
	case CLASS_ALLTOALL: return 2 * in * (n - 1) / n;
	default: return in;
	}
}

/* Its slice, by instruction and its repetition in the group. */
static struct slice *
slice_of(const struct job *j, const struct coll *c, slice_vec *slices,
    struct map *before, struct map *slice_at)
{
	const struct sig *s = &j->sigs.v[c->sig];
	uint64_t nth =
	    (*map_put(before, (uint64_t)s->match << 32 | c->group, NULL))++;
	bool is_new;
	uint64_t *at =
	    map_put(slice_at, (uint64_t)s->match << 32 | nth, &is_new);

	if (is_new) {
		*at = slices->n;
		vec_push(slices, ((struct slice){ .sig = s }));
	}
	return &slices->v[*at];
}

static void
slices_make(const struct job *j, slice_vec *slices)
{
	struct map before = { 0 }, slice_at = { 0 };

	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];
		const struct sig *s = &j->sigs.v[c->sig];
		struct slice *slice;
		double rate;

		if (!coll_is_hlo(j, c) || !coll_counts(j, c) ||
		    s->name.p == NULL)
			continue;
		slice = slice_of(j, c, slices, &before, &slice_at);
		if (s->in_bytes == NONE || s->n == NONE || c->latency_ns <= 0)
			continue;
		rate = bytes_both_ways(s) / 1073741824.0 /
		    ((double)c->latency_ns * 1e-9);
		slice->algo += rate;
		slice->bus += rate * (isnan(s->bus_factor) ? 1 : s->bus_factor);
		slice->ngroups++;
	}
	map_free(&before);
	map_free(&slice_at);
}

static void
add_slice(struct type *t, const struct slice *slice, bool is_first)
{
	t->nslices++;
	t->noperations += is_first;
	if (is_first && slice->sig->in_bytes != NONE) {
		t->mib += (double)slice->sig->in_bytes / MB;
		t->nsized++;
	}
	if (slice->ngroups == 0)
		return;
	t->nmeasured++;
	value_add(&t->algo, slice->algo / (double)slice->ngroups);
	value_add(&t->bus, slice->bus / (double)slice->ngroups);
}

static int
by_algo(const void *pa, const void *pb)
{
	struct type *a = (struct type *)(uintptr_t)pa;
	struct type *b = (struct type *)(uintptr_t)pb;
	double ra = values_stat(&a->algo, STAT_MEAN);
	double rb = values_stat(&b->algo, STAT_MEAN);

	return (ra < rb) - (ra > rb);
}

static void
fill_types(struct sheet_rows *s, struct job *j)
{
	struct type types[CLASS_COUNT] = { 0 };
	slice_vec slices = { 0 };
	struct map seen = { 0 };

	slices_make(j, &slices);
	for (size_t i = 0; i < slices.n; i++) {
		const struct sig *sig = slices.v[i].sig;
		struct type *t = &types[sig->class];
		bool is_first;

		map_put(&seen, sig->match, &is_first);
		t->row = (struct row){ .sig = sig, .own = t };
		add_slice(t, &slices.v[i], is_first);
	}
	for (size_t i = 0; i < CLASS_COUNT; i++)
		types[i].mib /= (double)types[i].nsized; /* none: NAN */
	stable_sort(types, CLASS_COUNT, sizeof *types, by_algo);
	for (size_t i = 0; i < CLASS_COUNT; i++) {
		types[i].row.own = &types[i];
		if (types[i].nslices > 0)
			put_row(s, &types[i].row);
	}
	map_free(&seen);
	vec_free(&slices);
}

const struct table_def table_hlo_bandwidth = {
	.name = "hlo_bandwidth",
	.is_about = coll_is_hlo,
	FIELDS(type_fields),
	.fill = fill_types,
};

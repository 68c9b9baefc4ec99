/* SPDX-License-Identifier: MIT */
/* Tables that TraceLens lacks: clocks, missing ranks. */
#include "cmd/tl-collective/tables.h"

#include <math.h>
#include <stdlib.h>

/* ---- nccl_clocks ---- */

struct clock {
	int64_t offset_ns;
	double drift, u_drift;
	bool is_corrected;
	struct str alike;
};

/* clang-format off */
static const struct field clock_fields[] = {
	RANK,
	RANK_OF(TEXT("hostname", NULL), host),
	OWN(COLUMN("offset_ns", NULL, COL_INT, UNIT_NS, 0, 0), struct clock, offset_ns),
	RANK_OF(COLUMN("u_ns", NULL, COL_INT, UNIT_NS, 0, 0), u_ns),
	OWN(COLUMN("drift", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0), struct clock, drift),
	OWN(COLUMN("u_drift", NULL, COL_REAL, UNIT_NONE, COL_MINOR, 0), struct clock, u_drift),
	RANK_OF(COLUMN("residual_ns", NULL, COL_INT, UNIT_NS, COL_MINOR, 0), residual_ns),
	RANK_OF(BOOL("off", NULL), is_off),
	OWN(TEXT("alike", NULL), struct clock, alike),
	RANK_OF(COUNTS("collectives", NULL), nclock),
	RANK_OF(COLUMN("island", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0), island),
	RANK_OF(COLUMN("middle_ns", NULL, COL_INT, UNIT_NS, COL_DETAIL | COL_POSITION, 0), middle_ns),
	OWN(BOOL("corrected", NULL), struct clock, is_corrected),
	RANK_OF(COLUMN("process", NULL, COL_INT, UNIT_NONE, COL_DETAIL, 0), process),
};
/* clang-format on */

/* Text of each set of ranks whose clocks agree, at its first rank. */
static struct str *
name_alike(struct sheet_rows *s, const struct job *j)
{
	struct str *names = xcalloc(j->ranks.n + 1, sizeof *names);
	int_vec *sets = xcalloc(j->ranks.n + 1, sizeof *sets);
	struct buf b = { 0 };

	for (size_t r = 0; r < j->ranks.n; r++)
		vec_push(&sets[j->ranks.v[r].alike], j->ranks.v[r].rank);
	for (size_t r = 0; r < j->ranks.n; r++) {
		b.len = 0;
		put_ranges(&b, sets[r].v, sets[r].n);
		names[r] = table_text(s->table, buf_str(&b));
		vec_free(&sets[r]);
	}
	buf_free(&b);
	free(sets);
	return names;
}

static void
fill_clocks(struct sheet_rows *s, struct job *j)
{
	struct str *names = name_alike(s, j);

	for (size_t r = 0; r < j->ranks.n; r++) {
		const struct rank_info *i = &j->ranks.v[r];
		struct clock own = { NONE, NAN, NAN, false, { NULL, 0 } };

		if (i->u_ns != NONE)
			own =
			    (struct clock){ i->offset_ns, i->drift, i->u_drift,
				    j->set->align_clocks, names[i->alike] };
		put_row(s, &(struct row){ .rank = i, .own = &own });
	}
	free(names);
}

const struct table_def table_clocks = {
	.name = "nccl_clocks",
	FIELDS(clock_fields),
	.with = WITH_GPU,
	.fill = fill_clocks,
};

/* ---- nccl_missing ---- */

struct hole {
	struct str absent;
	bool is_mismatch;
};

static const struct field missing_fields[] = {
	ID,
	NAME,
	COLL(COUNTS("ranks_present", NULL), n),
	OWN(TEXT("ranks_missing", NULL), struct hole, absent),
	OWN(BOOL("mismatch", NULL), struct hole, is_mismatch),
};

static void
absent_ranks(const struct job *j, const struct coll *c, int_vec *out)
{
	const struct pgroup *g = &j->groups.v[c->group];
	bool is_known = g->members.n > 0;
	size_t n = is_known ? g->members.n : j->ranks.n;
	uint32_t m = 0;

	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t rank = is_known ? g->members.v[i] : j->ranks.v[i].rank;

		while (m < c->n && rec_rank(j, j->members[c->first + m]) < rank)
			m++;
		if (m == c->n || rec_rank(j, j->members[c->first + m]) != rank)
			vec_push(out, rank);
	}
}

static void
fill_missing(struct sheet_rows *s, struct job *j)
{
	int_vec absent = { 0 };
	struct buf b = { 0 };

	for (size_t i = 0; i < j->order.n; i++) {
		const struct coll *c = &j->colls.v[j->order.v[i]];
		struct hole own = { .is_mismatch =
					(c->flags & COLL_MISMATCH) != 0 };
		struct row row = row_of_coll(j, c, &own);

		if ((c->flags & (COLL_INCOMPLETE | COLL_MISMATCH)) == 0)
			continue;
		absent_ranks(j, c, &absent);
		b.len = 0;
		put_ranges(&b, absent.v, absent.n);
		own.absent = table_text(s->table, buf_str(&b));
		put_row(s, &row);
	}
	vec_free(&absent);
	buf_free(&b);
}

const struct table_def table_missing = {
	.name = "nccl_missing",
	FIELDS(missing_fields),
	.fill = fill_missing,
};

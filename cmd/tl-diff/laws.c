/* SPDX-License-Identifier: MIT */
/*
 * Laws checked before printing: each GPU event is in one row and of one rank,
 * parts of a difference add up to it, parts of a step to the step. Sums may
 * wrap, as equal ones stay equal.
 */
#include "trace/laws.h"
#include "cmd/tl-diff/judge.h"

static void
add(int64_t *sum, int64_t v)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)v);
}

static const char *
table_of(const struct changes *c)
{
	return c->set->by == BY_KERNEL ? "diff_kernels" : "diff_ops_summary";
}

static void
keep_work(const struct changes *c, int side)
{
	const struct unit_times *u = &c->unit[side];
	int64_t n = 0, ns = 0;

	for (size_t i = 0; i < c->rows.n; i++) {
		add(&n, (int64_t)c->rows.v[i].kernels[side]);
		add(&ns, c->rows.v[i].ns[side]);
	}
	law_same(table_of(c), (struct law_part){ "GPU events in rows", n },
	    (struct law_part){ "those of the runs", (int64_t)u->nevents });
	law_same(table_of(c), (struct law_part){ "GPU time in rows", ns },
	    (struct law_part){ "that of the runs", u->run_ns });
}

/* Means of rows are rounded, and so is that of all rows. */
static void
keep_family(const struct changes *c, unsigned family)
{
	const struct family *f = &c->family[family];
	int64_t judged = f->rest_ns + f->first.rest_ns, said = f->judged_ns,
		rows = 0, off;
	int64_t nrounded = 1;

	for (size_t i = 0; i < c->rows.n; i++) {
		const struct change *r = &c->rows.v[i];

		if (r->key.family != family)
			continue;
		add(&judged, r->judged_ns);
		add(&rows, r->diff_ns);
		nrounded++;
	}
	law_same(table_of(c),
	    (struct law_part){ "beyond noise in rows and together", judged },
	    (struct law_part){ "beyond noise", f->judged_ns });
	add(&said, f->unknown_ns);
	add(&said, f->within_ns);
	law_same(table_of(c),
	    (struct law_part){ "judged, unknown and within noise", said },
	    (struct law_part){ "the rows' difference", rows });
	off = rows;
	add(&off, f->ns[0]);
	add(&off, -f->ns[1]);
	law_most(table_of(c),
	    (struct law_part){ "the rows' difference less that of the totals",
		off < 0 ? -off : off },
	    (struct law_part){ "what rounding makes", nrounded });
}

static void
keep_step(const struct changes *c, const struct step_group *g, int side)
{
	const struct term *t = c->clock.terms.v;
	int64_t all = 0, busy = 0;

	for (uint32_t i = g->first; i < g->end; i++) {
		if (!is_part(&t[i]))
			continue;
		add(&all, t[i].twice_ns[side]);
		if (t[i].part >= PART_COMPUTE)
			add(&busy, t[i].twice_ns[side]);
	}
	law_same("diff_steps", (struct law_part){ "twice the parts", all },
	    (struct law_part){ "twice the step", t[g->first].twice_ns[side] });
	law_same("diff_steps", (struct law_part){ "twice the GPU work", busy },
	    (struct law_part){
		"twice gpu_busy", t[g->first + 1].twice_ns[side] });
}

static void
keep_ranks(const struct changes *c, int side)
{
	int64_t of_ranks = 0, in_rows = 0;

	for (size_t i = 0; i < c->ranks.list.n; i++) {
		const struct rank_change *r = &c->ranks.list.v[i];
		int64_t in_steps = r->steps_ns[side];

		add(&of_ranks, r->run_ns[side]);
		add(&in_steps, r->out_ns[side]);
		law_most("diff_ranks",
		    (struct law_part){ "compute in steps", in_steps },
		    (struct law_part){
			"compute of the rank", r->run_ns[side] });
	}
	for (size_t i = 0; i < c->rows.n; i++)
		if (c->rows.v[i].key.family == FAMILY_COMPUTE)
			add(&in_rows, c->rows.v[i].ns[side]);
	if (c->ranks.list.n > 0)
		law_same("diff_ranks",
		    (struct law_part){ "compute of ranks", of_ranks },
		    (struct law_part){ "compute in rows", in_rows });
}

void
stats_keep_laws(const struct diff *d)
{
	struct tally rows = { { 0 }, { 0 } }, below = { { 0 }, { 0 } };

	for (size_t i = 0; i < d->stats.n; i++) {
		const struct diff_row *r = &d->stats.v[i];

		rows.n[r->side]++;
		add(&rows.ns[r->side], node_of(d, r->side, r->gpu)->dur);
	}
	for (int s = 0; s < NSIDES; s++) {
		const struct side *r = d->side[s];

		for (size_t i = 0; i < r->roots.n; i++) {
			const struct node *n = &r->nodes.v[r->roots.v[i]];

			below.n[s] += gpu_behind(r, n) - n->first_gpu;
			for (uint32_t g = n->first_gpu; g < gpu_behind(r, n);
			     g++)
				add(&below.ns[s],
				    r->nodes.v[r->gpus.v[g].node].dur);
		}
		law_same("diff_stats",
		    (struct law_part){ "rows", (int64_t)rows.n[s] },
		    (struct law_part){
			"GPU events below roots", (int64_t)below.n[s] });
		law_same("diff_stats",
		    (struct law_part){ "GPU time in rows", rows.ns[s] },
		    (struct law_part){ "that below roots", below.ns[s] });
	}
}

void
changes_keep_laws(const struct changes *c)
{
	for (int s = 0; s < NSIDES; s++) {
		keep_work(c, s);
		keep_ranks(c, s);
		for (size_t i = 0; i < c->clock.groups.n; i++)
			keep_step(c, &c->clock.groups.v[i], s);
	}
	for (unsigned f = 0; f < NFAMILIES; f++)
		keep_family(c, f);
}

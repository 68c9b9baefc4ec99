/* SPDX-License-Identifier: MIT */
/*
 * Sentences about episodes: of a group, and of all groups between the same
 * nodes.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-collective/verdict.h"

#define OVERLAP_MORE 20 /* percentage points: computation slows them */

/* ---- of a group ---- */

void
unstable_add(const struct job *j, struct unstable *u, const struct episode *e)
{
	int64_t bytes = j->sigs.v[e->first->sig].full_bytes;

	if (u->n == 0) {
		*u = (struct unstable){ .from_ns = e->from_ns,
			.to_ns = e->to_ns,
			.bytes = bytes,
			.class = e->first->class,
			.is_scattered = true };
	}
	if (u->n == 0 || u->stratum != e->stratum)
		u->ncolls += e->ncolls;
	u->n++;
	u->stratum = e->stratum;
	u->nslow += e->nslow;
	u->from_ns = e->from_ns < u->from_ns ? e->from_ns : u->from_ns;
	u->to_ns = e->to_ns > u->to_ns ? e->to_ns : u->to_ns;
	u->excess_ns = num_add_max(u->excess_ns, e->excess_ns);
	u->cost_ns = num_add_max(u->cost_ns, e->cost_ns);
	u->ns += e->sum_ns;
	u->usual_ns += e->usual_ns * (double)e->nslow;
	if (e->overlap_slow >= e->overlap_usual + OVERLAP_MORE)
		u->overlapping_ns =
		    num_add_max(u->overlapping_ns, e->excess_ns);
	u->is_scattered &= str_eq(e->kind, STR("scattered"));
	u->has_classes |= u->class != e->first->class;
	u->has_sizes |= u->bytes != bytes;
}

void
unstable_say(const struct unstable *u, struct buf *b)
{
	static const char *const words[CLASS_COUNT] = {
		[CLASS_ALLREDUCE] = "all-reduces",
		[CLASS_REDUCESCATTER] = "reduce-scatters",
		[CLASS_ALLGATHER] = "all-gathers",
		[CLASS_ALLTOALL] = "all-to-alls",
	};
	const char *what = words[u->class];

	buf_printf(b, "%" PRId64 " of %" PRId64 " %s", u->nslow, u->ncolls,
	    what == NULL || u->has_classes ? "collectives" : what);
	if (!u->has_sizes && u->bytes != NONE && u->bytes > 0)
		buf_printf(b, " of %.4g MB", (double)u->bytes / 1e6);
	buf_printf(b, " %.1fx slower, %s %.3f and %.3f ms", u->ns / u->usual_ns,
	    u->is_scattered ? "scattered between" : "between",
	    (double)u->from_ns / 1e6, (double)u->to_ns / 1e6);
	if (u->overlapping_ns > u->excess_ns / 2)
		buf_puts(b, ", while the GPU computes");
}

/* ---- of the job ---- */

/*
 * Groups between the same nodes are slow together; without nodes each is
 * separate.
 */
static void
put_where(const struct job *j, const struct group_sum *const *v, size_t n,
    struct str nodes, struct buf *b)
{
	if (n > 1 || (nodes.p != NULL && j->groups.n > 1)) {
		bool is_one = memchr(nodes.p, ',', nodes.len) == NULL &&
		    memchr(nodes.p, '-', nodes.len) == NULL;

		buf_printf(b, "node%s %.*s, ", is_one ? "" : "s",
		    (int)nodes.len, nodes.p);
	}
	if (n > 1) {
		buf_printf(b, "%zu groups: ", n);
	} else if (j->groups.n > 1) {
		buf_puts(b, "group ");
		buf_put(b, v[0]->group->label.p, v[0]->group->label.len);
		buf_puts(b, ": ");
	}
}

/* Those from first on that are between the same nodes. */
static void
find_slow_times(struct job *j, struct findings *f, size_t first,
    struct str *nodes, struct buf *b)
{
	VEC(const struct group_sum *) v = { 0 };
	struct unstable u = { 0 };
	struct finding it = finding_bare(VERDICT_UNSTABLE);
	struct str where = nodes[first];
	const struct coll *c;

	for (size_t g = first; g < f->groups.n; g++) {
		const struct group_sum *s = &f->groups.v[g];

		if (s->slow.n == 0 ||
		    (g > first &&
			(where.p == NULL || nodes[g].p == NULL ||
			    !str_eq(nodes[g], where))))
			continue;
		if (g > first)
			nodes[g].len = 0; /* already in this sentence */
		vec_push(&v, s);
		for (size_t i = 0; i < f->episodes.n; i++)
			if (f->episodes.v[i].group == s->group)
				unstable_add(j, &u, &f->episodes.v[i]);
	}
	put_where(j, v.v, v.n, where, b);
	unstable_say(&u, b);
	buf_puts(b, ": +");
	put_time(b, u.excess_ns);
	if (u.cost_ns < u.excess_ns - u.excess_ns / 100) {
		buf_puts(b, ", exposed ");
		put_time(b, u.cost_ns);
	}
	it.cost_ns = u.cost_ns;
	c = &j->colls.v[v.v[0]->group->first_coll];
	it.pct_step =
	    finding_step(j, rec_pos(j, j->members[c->first]), u.cost_ns, b);
	finding_add(j, f, it, b);
	vec_free(&v);
}

void
unstable_find(struct job *j, struct findings *f, struct buf *b)
{
	struct str *nodes = xcalloc(f->groups.n + 1, sizeof *nodes);

	for (size_t i = 0; i < f->episodes.n; i++)
		for (size_t g = 0; g < f->groups.n; g++)
			if (f->groups.v[g].group == f->episodes.v[i].group)
				nodes[g] = f->episodes.v[i].nodes;
	for (size_t g = 0; g < f->groups.n; g++)
		if (f->groups.v[g].slow.n > 0 &&
		    (nodes[g].p == NULL || nodes[g].len > 0))
			find_slow_times(j, f, g, nodes, b);
	free(nodes);
}

/* SPDX-License-Identifier: MIT */
/*
 * Finds what hangs. In each group it judges the first collective that a rank
 * called and did not complete, or that ranks called differently: who waits, who
 * did not call. A rank that did not may wait in another group, which is the
 * cause then. Sends and receives are judged pair by pair.
 */
#include "cmd/tl-collective/flight.h"

#include <stdlib.h>

const char *const standing_words[STANDS_COUNT] = {
	[STANDS_WAITS] = "waits",
	[STANDS_DONE] = "completed",
	[STANDS_DIFFERS] = "differs",
	[STANDS_ABSENT] = "did not call",
	[STANDS_NO_DUMP] = "no dump",
	[STANDS_UNKNOWN] = "not recorded",
};

const char *const hang_words[HANG_KINDS] = {
	[HANG_MISMATCH] = "mismatch",
	[HANG_MISSING] = "rank missing",
	[HANG_NO_DUMP] = "no dump",
	[HANG_UNKNOWN] = "not recorded",
	[HANG_ALL_CALLED] = "all called",
	[HANG_DEADLOCK] = "deadlock",
};

#define NO_ROUND SIZE_MAX
#define NO_MEMBER SIZE_MAX

/* ---- alike or not ---- */

/* Sizes that may differ between ranks of a collective. */
static bool
has_own_sizes(struct str name, bool is_input)
{
	return str_glob(STR("*all*to*all*"), name) ||
	    str_glob(STR("*_v"), name) || str_glob(STR("*_v_*"), name) ||
	    str_eq(name, is_input ? STR("scatter") : STR("gather"));
}

static enum difference
differ(const struct flight *f, const struct fcall *a, const struct fcall *b)
{
	struct str name = flight_text(f, a->name);
	bool own_in = has_own_sizes(name, true);
	bool own_out = has_own_sizes(name, false);

	if (a->name != b->name)
		return DIFFER_NAME;
	if ((!own_in && a->in != b->in) || (!own_out && a->out != b->out))
		return DIFFER_SIZE;
	if ((!own_in && a->in_types != b->in_types) ||
	    (!own_out && a->out_types != b->out_types))
		return DIFFER_TYPE;
	return DIFFER_NOT;
}

/* The call that most of these made; ties: the first rank's. */
static const struct fcall *
usual(const struct flight *f, const struct fcall *v, size_t n)
{
	const struct fcall *most = v;
	size_t votes = 0, count = 0;

	for (size_t i = 0; i < n; i++) {
		if (votes == 0)
			most = &v[i];
		votes += differ(f, most, &v[i]) == DIFFER_NOT ? 1 : (size_t)-1;
	}
	for (size_t i = 0; i < n; i++)
		count += differ(f, most, &v[i]) == DIFFER_NOT;
	return count * 2 > n ? most : v;
}

/* ---- one group ---- */

/* Calls with one number. */
struct round {
	const struct fcall *v;
	size_t n;
};

struct judging {
	struct flight *f;
	uint32_t group;
	VEC(struct round) rounds;
	int_vec
	    members; /* sorted ranks; of a group without a list the callers */
	/* of each member; NULL: none */
	VEC(const struct fcall *) first, last, here;
	VEC(bool) waits; /* by position: waits in some hang */
};

static size_t
member_of(const struct judging *g, int64_t rank)
{
	size_t lo = 0, hi = g->members.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->members.v[mid] < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->members.n && g->members.v[lo] == rank ? lo : NO_MEMBER;
}

static int64_t
rank_at(const struct judging *g, const struct fcall *c)
{
	return g->f->job->ranks.v[c->pos].rank;
}

static void
find_members(struct judging *g, const struct fcall *v, size_t n)
{
	const struct fgroup *group = &g->f->groups.v[g->group];
	size_t k = 0;

	g->members.n = 0;
	for (size_t i = 0; i < group->members.n; i++)
		vec_push(&g->members, group->members.v[i]);
	for (size_t i = 0; i < n; i++) /* callers are members */
		if (i == 0 || v[i].pos != v[i - 1].pos)
			vec_push(&g->members, rank_at(g, &v[i]));
	sort_i64(g->members.v, g->members.n);
	for (size_t i = 0; i < g->members.n; i++)
		if (i == 0 || g->members.v[i] != g->members.v[i - 1])
			g->members.v[k++] = g->members.v[i];
	g->members.n = k;
}

static void
find_rounds(struct judging *g, const struct fcall *v, size_t n)
{
	g->rounds.n = g->first.n = g->last.n = 0;
	find_members(g, v, n);
	for (size_t i = 0; i < g->members.n; i++) {
		vec_push(&g->first, NULL);
		vec_push(&g->last, NULL);
	}
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && v[k].seq == v[i].seq; k++) {
			size_t m = member_of(g, rank_at(g, &v[k]));

			if (g->first.v[m] == NULL)
				g->first.v[m] = &v[k];
			g->last.v[m] = &v[k];
		}
		vec_push(&g->rounds, ((struct round){ v + i, k - i }));
	}
}

/* The first round in which a rank waits, the first called differently. */
static void
find_first(const struct judging *g, size_t *open, size_t *differs)
{
	*open = *differs = NO_ROUND;
	for (size_t i = 0; i < g->rounds.n; i++) {
		const struct round *r = &g->rounds.v[i];
		const struct fcall *most = usual(g->f, r->v, r->n);

		for (size_t k = 0; k < r->n; k++) {
			if (!r->v[k].is_done && *open == NO_ROUND)
				*open = i;
			if (differ(g->f, most, &r->v[k]) != DIFFER_NOT &&
			    *differs == NO_ROUND)
				*differs = i;
		}
	}
}

static const struct fcall *
call_in(const struct judging *g, size_t round, uint32_t pos)
{
	const struct round *r = &g->rounds.v[round];

	for (size_t i = 0; round < g->rounds.n && i < r->n; i++)
		if (r->v[i].pos == pos)
			return &r->v[i];
	return NULL;
}

/* The call of most ranks in a round; NULL: none. */
static const struct fcall *
usual_in(const struct judging *g, size_t round)
{
	return round < g->rounds.n
	    ? usual(g->f, g->rounds.v[round].v, g->rounds.v[round].n)
	    : NULL;
}

static bool
is_alike(const struct judging *g, const struct fcall *a, const struct fcall *b)
{
	return a != NULL && b != NULL && differ(g->f, a, b) == DIFFER_NOT;
}

/*
 * How a rank's calls from this round on differ from the others', as far as the
 * next ones show.
 */
static enum difference
why_differs(const struct judging *g, size_t round, const struct fcall *mine)
{
	const struct fcall *others[3], *own[3];

	for (size_t i = 0; i < 3; i++) {
		others[i] = usual_in(g, round + i);
		own[i] = call_in(g, round + i, mine->pos);
	}
	if (is_alike(g, own[0], others[1]) && is_alike(g, own[1], others[0]) &&
	    is_alike(g, own[2], others[2]))
		return DIFFER_ORDER;
	if (g->members.n > 2 && !is_alike(g, own[1], others[1])) {
		if (is_alike(g, own[0], others[1]) &&
		    is_alike(g, own[1], others[2]))
			return DIFFER_SKIPPED;
		if (is_alike(g, own[1], others[0]) &&
		    is_alike(g, own[2], others[1]))
			return DIFFER_EXTRA;
	}
	return differ(g->f, others[0], mine);
}

static void
add_place(struct hang *h, struct place p)
{
	vec_push(&h->places, p);
	h->n[p.role]++;
	if (!place_waits(&p))
		return;
	h->is_open = true;
	if (h->since_ns == 0 ||
	    (p.call->created_ns > 0 && p.call->created_ns < h->since_ns))
		h->since_ns = p.call->created_ns;
}

static struct place
place_of(const struct judging *g, size_t m, const struct hang *h)
{
	const struct flight *f = g->f;
	struct place p = { .rank = g->members.v[m],
		.pos = flight_pos(f, g->members.v[m]),
		.call = g->here.v[m] };

	if (p.pos == UINT32_MAX)
		p.role = STANDS_NO_DUMP;
	else if (p.call != NULL && differ(f, h->call, p.call) != DIFFER_NOT)
		p.role = STANDS_DIFFERS;
	else if (p.call != NULL)
		p.role = p.call->is_done ? STANDS_DONE : STANDS_WAITS;
	else if (g->first.v[m] == NULL ? f->is_wrapped[p.pos]
				       : g->last.v[m]->seq > h->seq)
		p.role = STANDS_UNKNOWN;
	else
		p.role = STANDS_ABSENT;
	if (p.role == STANDS_ABSENT)
		p.call = f->last[p.pos];
	return p;
}

static enum hang_kind
kind_of(const struct hang *h)
{
	if (h->n[STANDS_DIFFERS] > 0)
		return HANG_MISMATCH;
	if (h->n[STANDS_ABSENT] > 0)
		return HANG_MISSING;
	if (h->n[STANDS_NO_DUMP] > 0)
		return HANG_NO_DUMP;
	return h->n[STANDS_UNKNOWN] > 0 ? HANG_UNKNOWN : HANG_ALL_CALLED;
}

static void
judge_round(struct judging *g, size_t at)
{
	struct hang *h = vec_add(&g->f->hangs);

	*h = (struct hang){ .group = g->group,
		.seq = g->rounds.v[at].v->seq,
		.call = usual_in(g, at) };
	g->here.n = 0;
	for (size_t i = 0; i < g->members.n; i++)
		vec_push(&g->here, NULL);
	for (size_t i = 0; i < g->rounds.v[at].n; i++) {
		const struct fcall *c = &g->rounds.v[at].v[i];

		g->here.v[member_of(g, rank_at(g, c))] = c;
	}
	for (size_t i = 0; i < g->members.n; i++)
		add_place(h, place_of(g, i, h));
	h->kind = kind_of(h);
	for (size_t i = 0; i < h->places.n && h->why == DIFFER_NOT; i++)
		if (h->places.v[i].role == STANDS_DIFFERS)
			h->why = why_differs(g, at, h->places.v[i].call);
}

static void
judge_group(struct judging *g, const struct fcall *v, size_t n)
{
	size_t open, differs;

	find_rounds(g, v, n);
	find_first(g, &open, &differs);
	if (differs < open)
		judge_round(g, differs);
	if (open != NO_ROUND)
		judge_round(g, open);
}

/* ---- sends and receives ---- */

/* First open send or receive of a pair in one direction, by caller. */
struct open_p2p {
	uint32_t src, dst;
	const struct fcall *call;
};

static int
by_pair(const void *pa, const void *pb)
{
	const struct open_p2p *a = pa, *b = pb;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* The job's rank of a number in the group. */
static int64_t
job_rank(const struct fgroup *g, uint32_t number)
{
	return number < g->members.n ? g->members.v[number] : (int64_t)number;
}

static void
judge_pair(struct judging *g, const struct open_p2p *v, size_t n)
{
	const struct fgroup *group = &g->f->groups.v[g->group];
	int64_t ranks[2] = { job_rank(group, v->src), job_rank(group, v->dst) };
	const struct fcall *calls[2] = { NULL, NULL };
	struct hang *h = vec_add(&g->f->hangs);
	bool both;

	*h = (struct hang){
		.group = g->group, .seq = v->call->p2p_seq, .call = v->call
	};
	for (size_t i = 0; i < n; i++) {
		int at = rank_at(g, v[i].call) == ranks[1];

		if (calls[at] == NULL)
			calls[at] = v[i].call;
	}
	both = calls[0] != NULL && calls[1] != NULL;
	if (both && calls[0]->in != calls[1]->out)
		h->why = DIFFER_SIZE;
	else if (both && calls[0]->in_types != calls[1]->out_types)
		h->why = DIFFER_TYPE;
	for (int i = 0; i < 2; i++) {
		struct place p = { .rank = ranks[i],
			.pos = flight_pos(g->f, ranks[i]),
			.call = calls[i],
			.role = i == 1 && h->why != DIFFER_NOT ? STANDS_DIFFERS
							       : STANDS_WAITS };

		if (p.pos == UINT32_MAX)
			p.role = STANDS_NO_DUMP;
		else if (p.call == NULL)
			p.role = STANDS_ABSENT;
		if (p.role == STANDS_ABSENT)
			p.call = g->f->last[p.pos];
		add_place(h, p);
	}
	h->kind = kind_of(h);
}

static void
judge_pairs(struct judging *g, const struct fcall *v, size_t n)
{
	VEC(struct open_p2p) open = { 0 };

	for (size_t i = 0; i < n; i++)
		if (!v[i].is_done)
			vec_push(&open,
			    ((struct open_p2p){ v[i].src, v[i].dst, &v[i] }));
	stable_sort(open.v, open.n, sizeof *open.v, by_pair);
	for (size_t i = 0, k; i < open.n; i = k) {
		for (k = i; k < open.n && by_pair(&open.v[i], &open.v[k]) == 0;)
			k++;
		judge_pair(g, &open.v[i], k - i);
	}
	vec_free(&open);
}

/* ---- which is the cause ---- */

static void
find_waits(struct judging *g)
{
	const hang_vec *hangs = &g->f->hangs;

	for (size_t i = 0; i < g->f->job->ranks.n; i++)
		vec_push(&g->waits, false);
	for (size_t i = 0; i < hangs->n; i++)
		for (size_t k = 0; k < hangs->v[i].places.n; k++)
			if (place_waits(&hangs->v[i].places.v[k]))
				g->waits.v[hangs->v[i].places.v[k].pos] = true;
}

/* Causes first, then by time; unknown times last. */
static int
by_cause(const void *pa, const void *pb)
{
	const struct hang *a = pa, *b = pb;
	int64_t ta = a->since_ns > 0 ? a->since_ns : INT64_MAX;
	int64_t tb = b->since_ns > 0 ? b->since_ns : INT64_MAX;

	if (a->is_cause != b->is_cause)
		return a->is_cause ? -1 : 1;
	if (a->is_open != b->is_open)
		return a->is_open ? -1 : 1;
	return ta < tb ? -1 : ta > tb;
}

/* A rank that is missing here and does not wait elsewhere. */
static bool
is_at_fault(
    const struct judging *g, const struct hang *h, const struct place *p)
{
	if (h->kind == HANG_MISSING)
		return p->role == STANDS_ABSENT && !g->waits.v[p->pos];
	return h->kind == HANG_NO_DUMP && p->role == STANDS_NO_DUMP;
}

/*
 * A hang follows from another if its missing ranks wait elsewhere, or are
 * missing in an earlier one.
 */
static void
find_causes(struct judging *g)
{
	hang_vec *hangs = &g->f->hangs;
	struct map named = { 0 };

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < hangs->n; i++) {
			struct hang *h = &hangs->v[i];
			bool is_behind = false, is_cause;
			bool is_new;

			is_cause = h->kind == HANG_MISMATCH;
			for (size_t k = 0; k < h->places.n; k++)
				is_behind |=
				    h->places.v[k].role == STANDS_ABSENT &&
				    !is_at_fault(g, h, &h->places.v[k]);
			if (is_behind != (pass == 1) && !is_cause)
				continue;
			for (size_t k = 0; k < h->places.n; k++) {
				const struct place *p = &h->places.v[k];

				if (!is_at_fault(g, h, p))
					continue;
				(void)map_put(
				    &named, (uint64_t)p->rank, &is_new);
				is_cause |= is_new;
			}
			h->is_cause |= is_cause;
		}
	map_free(&named);
}

/* Whether one rank called one before the other, and another rank did not. */
static const struct fcall *
other_order(const struct hang *a, const struct hang *b)
{
	bool before = false, behind = false;
	size_t k = 0;

	for (size_t i = 0; i < a->places.n; i++) {
		const struct place *p = &a->places.v[i];

		while (k < b->places.n && b->places.v[k].rank < p->rank)
			k++;
		if (k == b->places.n || b->places.v[k].rank != p->rank)
			continue;
		before |= p->call->id < b->places.v[k].call->id;
		behind |= p->call->id > b->places.v[k].call->id;
	}
	return before && behind ? b->call : NULL;
}

/* All missing ranks wait themselves: in a circle; or all have called, perhaps
 * in different orders. */
static void
find_deadlock(hang_vec *hangs)
{
	struct hang *h = hangs->v;

	if (hangs->n == 0 || h->is_cause || !h->is_open)
		return;
	h->is_cause = true;
	for (size_t i = 1;
	     i < hangs->n && h->kind == HANG_ALL_CALLED && h->other == NULL;
	     i++)
		if (hangs->v[i].kind == HANG_ALL_CALLED)
			h->other = other_order(h, &hangs->v[i]);
	if (h->kind == HANG_MISSING || h->other != NULL)
		h->kind = HANG_DEADLOCK;
}

void
flight_judge(struct flight *f)
{
	struct judging g = { .f = f };
	const struct fcall *v = f->calls.v;

	for (size_t i = 0, k; i < f->calls.n; i = k) {
		for (k = i; k < f->calls.n && v[k].group == v[i].group &&
		     v[k].is_p2p == v[i].is_p2p;)
			k++;
		g.group = v[i].group;
		if (v[i].is_p2p)
			judge_pairs(&g, v + i, k - i);
		else
			judge_group(&g, v + i, k - i);
	}
	find_waits(&g);
	if (f->hangs.n > 1)
		stable_sort(
		    f->hangs.v, f->hangs.n, sizeof *f->hangs.v, by_cause);
	find_causes(&g);
	if (f->hangs.n > 1)
		stable_sort(
		    f->hangs.v, f->hangs.n, sizeof *f->hangs.v, by_cause);
	find_deadlock(&f->hangs);
	vec_free(&g.rounds);
	vec_free(&g.members);
	vec_free(&g.first);
	vec_free(&g.last);
	vec_free(&g.here);
	vec_free(&g.waits);
}

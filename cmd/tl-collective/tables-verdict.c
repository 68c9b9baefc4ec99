/* SPDX-License-Identifier: MIT */
/* Tables of verdicts: of the job, of each group, of each rank in a group. */
#include "cmd/tl-collective/verdict.h"

#include <math.h>

/* ---- nccl_verdict ---- */

/* clang-format off */
static const struct field verdict_fields[] = {
	OWN(TEXT("verdict", NULL), struct finding, word),
	OWN(INT("rank", NULL), struct finding, rank),
	OWN(COLUMN("cost_ns", NULL, COL_INT, UNIT_NS, 0, 0), struct finding, cost_ns),
	OWN(PCT("pct_of_step", NULL), struct finding, pct_step),
	OWN(COLUMN("gain_ns_high", NULL, COL_INT, UNIT_NS, 0, 0), struct finding, gain_ns),
	OWN(TEXT("text", NULL), struct finding, text),
};
/* clang-format on */

static void
fill_verdict(struct sheet_rows *s, struct job *j)
{
	const struct findings *f = findings_of(j);

	for (size_t i = 0; i < f->list.n; i++)
		put_row(s, &(struct row){ .own = &f->list.v[i] });
}

const struct table_def table_verdict = {
	.name = "nccl_verdict",
	.by_starts = true,
	FIELDS(verdict_fields),
	.fill = fill_verdict,
};

/* ---- nccl_groups ---- */

#define NOTES_MAX 5

static struct cell
cell_group_link(const struct row *r)
{
	const struct link *l = r->group->link.ring.link;

	return l != NULL ? cell_text(l->label) : cell_none();
}

/* clang-format off */
static const struct field group_fields[] = {
	LABEL,
	DESC,
	OWN(TEXT("ranks", NULL), struct group_sum, ranks),
	OWN(COUNTS("collectives", NULL), struct group_sum, ncolls),
	OWN(MINOR("incomplete", COL_INT, UNIT_COUNT), struct group_sum, nincomplete),
	OWN(MINOR("matched_by", COL_TEXT, UNIT_NONE), struct group_sum, matched_by),
	OWN(COLUMN("latency_ns_sum", NULL, COL_INT, UNIT_NS, COL_SHARE, 0), struct group_sum, latency_ns),
	OWN(COLUMN("wait_ns_sum", NULL, COL_REAL, UNIT_NS, 0, 0), struct group_sum, wait_ns),
	OWN(PCT("pct_wait", NULL), struct group_sum, pct_wait),
	OWN_STAT(MINOR("latency_ns_p50", COL_REAL, UNIT_NS), struct group_sum, latency, 0.5),
	OWN_STAT(MINOR("latency_ns_p95", COL_REAL, UNIT_NS), struct group_sum, latency, 0.95),
	OWN_STAT(MINOR("latency_ns_p99", COL_REAL, UNIT_NS), struct group_sum, latency, 0.99),
	OWN_STAT(COLUMN("start_skew_ns_p50", NULL, COL_REAL, UNIT_NS, 0, 0), struct group_sum, skew, 0.5),
	OWN_STAT(MINOR("start_skew_ns_p95", COL_REAL, UNIT_NS), struct group_sum, skew, 0.95),
	OWN_STAT(MINOR("start_skew_ns_p99", COL_REAL, UNIT_NS), struct group_sum, skew, 0.99),
	OWN_STAT(MINOR("bus_gib_per_s_p50", COL_REAL, UNIT_NONE), struct group_sum, bus, 0.5),
	OWN_STAT(PCT("pct_of_best", NULL), struct group_sum, of_best, 0.5),
	CELL(MINOR("link", COL_TEXT, UNIT_NONE), cell_group_link),
	{ .col = PCT("pct_of_link", NULL), MEMBER(group, struct pgroup, of_link), .stat = 0.5 },
	OWN(INT("late_rank", NULL), struct group_sum, late_rank),
	OWN(PCT("pct_late", NULL), struct group_sum, pct_late),
	OWN(MINOR("late_ns_p50", COL_REAL, UNIT_NS), struct group_sum, late_ns),
	OWN(COLUMN("cost_ns", NULL, COL_INT, UNIT_NS, 0, 0), struct group_sum, cost_ns),
	OWN(TEXT("verdict", NULL), struct group_sum, word),
	OWN(COLUMN("says", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0), struct group_sum, says),
};
/* clang-format on */

static void
fill_groups(struct sheet_rows *s, struct job *j)
{
	const struct findings *f = findings_of(j);

	for (size_t i = 0; i < f->list.n && i < NOTES_MAX; i++)
		table_note(s->table, "%.*s", (int)f->list.v[i].text.len,
		    f->list.v[i].text.p);
	if (f->list.n > NOTES_MAX)
		table_note(s->table, "%zu more: --table nccl_verdict",
		    f->list.n - NOTES_MAX);
	for (size_t i = 0; i < f->groups.n; i++) {
		struct group_sum g = f->groups.v[i];

		if (g.ncolls == 0) {
			g.latency_ns = NONE;
			g.wait_ns = NAN;
		}
		put_row(s, &(struct row){ .group = g.group, .own = &g });
	}
}

const struct table_def table_groups = {
	.name = "nccl_groups",
	.by_starts = true,
	FIELDS(group_fields),
	.fill = fill_groups,
};

/* ---- straggler_cause ---- */

#define KERNEL(id) COLUMN(id, NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0)
#define LATES(id, which)                                           \
	{                                                          \
		.col = MINOR(id, COL_REAL, UNIT_NS),               \
		MEMBER(own, struct lateness, lates), .stat = which \
	}

/* The work, or idle time, that the late rank had most more of. */
static struct cell
cell_top(const struct excess *e, const struct row *r, enum spent_on on,
    bool is_detail)
{
	const struct spent_name *n;

	if (e->top == NULL)
		return cell_none();
	n = &r->job->spent_on.v[e->top->name];
	if (n->on != on && !(is_detail && on == SPENT_OP))
		return cell_none();
	return cell_text(is_detail ? n->detail : n->name);
}

static struct cell
cell_op(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_top(&l->work, r, SPENT_OP, false);
}

static struct cell
cell_kernel(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_top(&l->work, r, SPENT_KERNEL, false);
}

static struct cell
cell_shape(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_top(&l->work, r, SPENT_OP, true);
}

static struct cell
cell_idle_cause(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_top(&l->idle, r, SPENT_IDLE, false);
}

static struct cell
cell_idle_host(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_top(&l->idle, r, SPENT_IDLE, true);
}

static struct cell
cell_more(const struct excess *e)
{
	return e->top != NULL ? cell_real(e->top->late_ns - e->top->usual_ns)
			      : cell_none();
}

static struct cell
cell_op_more(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_more(&l->work);
}

static struct cell
cell_host_more(const struct row *r)
{
	const struct lateness *l = r->own;

	return cell_more(&l->idle);
}

/* clang-format off */
static const struct field cause_fields[] = {
	LABEL,
	DESC,
	RANK,
	OWN(COUNTS("collectives", NULL), struct lateness, ncolls),
	OWN(COUNTS("times_last", NULL), struct lateness, nlast),
	OWN(COUNTS("times_late", NULL), struct lateness, nlate),
	OWN(PCT("pct_late", NULL), struct lateness, pct_late),
	OWN(COLUMN("late_ns_sum", NULL, COL_INT, UNIT_NS, COL_SHARE, 0), struct lateness, late_ns),
	OWN(COLUMN("cost_ns", NULL, COL_INT, UNIT_NS, 0, 0), struct lateness, cost_ns),
	OWN(MINOR("caused_wait_ns", COL_INT, UNIT_NS), struct lateness, caused_ns),
	OWN(MINOR("behind_next_ns", COL_INT, UNIT_NS), struct lateness, behind_ns),
	LATES("late_ns_mean", STAT_MEAN),
	LATES("late_ns_p50", 0.5),
	LATES("late_ns_p95", 0.95),
	LATES("late_ns_p99", 0.99),
	OWN(MINOR("busy_more_ns", COL_REAL, UNIT_NS), struct lateness, busy_ns),
	OWN(MINOR("idle_more_ns", COL_REAL, UNIT_NS), struct lateness, idle_ns),
	OWN(MINOR("elsewhere_more_ns", COL_REAL, UNIT_NS), struct lateness, elsewhere_ns),
	OWN(MINOR("same_work", COL_INT, UNIT_COUNT), struct lateness, nsame),
	CELL(KERNEL("slow_kernel"), cell_kernel),
	CELL(KERNEL("slow_op"), cell_op),
	CELL(MINOR("slow_shape", COL_TEXT, UNIT_NONE), cell_shape),
	CELL(MINOR("slow_more_ns", COL_REAL, UNIT_NS), cell_op_more),
	OWN(MINOR("work_ratio", COL_REAL, UNIT_NONE), struct lateness, work.ratio),
	CELL(TEXT("idle_cause", NULL), cell_idle_cause),
	CELL(KERNEL("idle_host"), cell_idle_host),
	CELL(MINOR("idle_host_ns", COL_REAL, UNIT_NS), cell_host_more),
	OWN(MINOR("host_ratio", COL_REAL, UNIT_NONE), struct lateness, idle.ratio),
	OWN(TEXT("verdict", NULL), struct lateness, word),
};
/* clang-format on */

static int
by_cost(const void *pa, const void *pb)
{
	const struct lateness *const *a = pa, *const *b = pb;

	if ((*a)->cost_ns != (*b)->cost_ns)
		return (*a)->cost_ns > (*b)->cost_ns ? -1 : 1;
	return (*a)->late_ns > (*b)->late_ns ? -1
					     : (*a)->late_ns < (*b)->late_ns;
}

static void
put_late(struct sheet_rows *s, const struct job *j, const struct lateness *l,
    void *own)
{
	put_row(s,
	    &(struct row){ .group = &j->groups.v[l->group],
		.rank = &j->ranks.v[l->pos],
		.own = own });
}

/* Each rank in each group, costliest first. */
static void
each_late(struct sheet_rows *s, struct job *j,
    void (*put)(struct sheet_rows *s, const struct job *j, struct lateness *l))
{
	const struct findings *f = findings_of(j);
	VEC(struct lateness *) list = { 0 };

	for (size_t i = 0; i < f->late.list.n; i++)
		vec_push(&list, &f->late.list.v[i]);
	stable_sort(list.v, list.n, sizeof(struct lateness *), by_cost);
	for (size_t i = 0; i < list.n; i++)
		put(s, j, list.v[i]);
	vec_free(&list);
}

/* If starts cannot be compared, nobody is known to be late. */
static void
put_cause(struct sheet_rows *s, const struct job *j, struct lateness *l)
{
	struct lateness own = *l;

	if (!l->is_judged) {
		own.nlate = (uint64_t)NONE;
		own.late_ns = own.cost_ns = own.behind_ns = NONE;
		own.pct_late = NAN;
		own.word = str_of(verdict_words[VERDICT_UNJUDGED]);
	}
	put_late(s, j, l, &own);
}

static void
fill_cause(struct sheet_rows *s, struct job *j)
{
	each_late(s, j, put_cause);
}

const struct table_def table_cause = {
	.name = "straggler_cause",
	.by_starts = true,
	FIELDS(cause_fields),
	.fill = fill_cause,
};

/* ---- straggler_parts ---- */

struct part_row {
	struct str part, name, detail;
	double late_ns, usual_ns, more_ns;
};

/* clang-format off */
static const struct field part_fields[] = {
	LABEL,
	RANK,
	OWN(TEXT("part", NULL), struct part_row, part),
	OWN(KERNEL("name"), struct part_row, name),
	OWN(KERNEL("detail"), struct part_row, detail),
	OWN(COLUMN("late_ns", NULL, COL_REAL, UNIT_NS, 0, 0), struct part_row, late_ns),
	OWN(COLUMN("usual_ns", NULL, COL_REAL, UNIT_NS, 0, 0), struct part_row, usual_ns),
	OWN(COLUMN("more_ns", NULL, COL_REAL, UNIT_NS, 0, 0), struct part_row, more_ns),
};
/* clang-format on */

static void
put_parts(struct sheet_rows *s, const struct job *j, struct lateness *l)
{
	for (size_t i = 0; i < l->shares.n; i++) {
		const struct share *of = &l->shares.v[i];
		struct part_row own = { .part = STR("work"),
			.late_ns = of->late_ns,
			.usual_ns = of->usual_ns,
			.more_ns = of->late_ns - of->usual_ns };

		if (of->name == NAME_ELSEWHERE)
			own.part = STR("elsewhere");
		else if (share_is_idle(j, of))
			own.part = STR("idle");
		if (of->name < NAME_WORK) {
			own.name = j->spent_on.v[of->name].name;
			own.detail = j->spent_on.v[of->name].detail;
		}
		put_late(s, j, l, &own);
	}
}

static void
fill_parts(struct sheet_rows *s, struct job *j)
{
	each_late(s, j, put_parts);
}

const struct table_def table_parts = {
	.name = "straggler_parts",
	.by_starts = true,
	FIELDS(part_fields),
	.fill = fill_parts,
};

/* SPDX-License-Identifier: MIT */
/* Sentences about what changed. */
#include "cmd/tl-diff/notes.h"
#include "sink/cells.h"
#include "trace/stat.h"

#define TOP_ROWS 3
#define ENOUGH 90

static bool
has_several_units(const struct changes *c)
{
	return c->unit[0].n > 1 || c->unit[1].n > 1;
}

/* ---- names ---- */

static void
put_name(const struct dict *st, uint32_t name, struct buf *b)
{
	if (name != INTERN_NONE)
		text_visible(dict_get(st, name), b);
	else
		buf_puts(b, "one without a name");
}

void
put_names(struct buf *b, const struct dict *st, const uint32_t name[NSIDES])
{
	put_name(st, name[0], b);
	if (name[0] == name[1])
		return;
	buf_puts(b, " | ");
	put_name(st, name[1], b);
}

/* ---- the whole ---- */

/* The part of a row's difference that the sentence is about. */
static int64_t
told_ns(const struct changes *c, const struct change *r)
{
	return c->is_known || c->unlike.is_so ? r->judged_ns : r->diff_ns;
}

/* Whether the sentence includes a row; NFAMILIES: all. */
static bool
is_in(const struct changes *c, const struct change *r, unsigned family)
{
	return (family == NFAMILIES || r->key.family == family) &&
	    told_ns(c, r) != 0;
}

/* Rows that differ in one direction. */
struct way {
	/* top_ns: of the first rows, up to nine tenths of it */
	int64_t ns, top_ns;
	int64_t all_ns; /* the whole of the share */
	struct row_number n, top;
};

void
put_number(struct buf *b, const struct changes *c, struct row_number n)
{
	if (n.ops > 0 || n.launches == 0)
		buf_printf(b, "%zu %s%s", n.ops,
		    c->set->by == BY_OP ? "op" : "kernel",
		    n.ops == 1 ? "" : "s");
	if (n.launches > 0)
		buf_printf(
		    b, "%slaunches outside ops", n.ops > 0 ? " and " : "");
}

void
count_row(struct row_number *n, bool is_no_op)
{
	n->ops += !is_no_op;
	n->launches += is_no_op;
}

static size_t
rows_in(struct row_number n)
{
	return n.ops + n.launches;
}

static double
top_share(const struct way *w)
{
	return 100 * (double)w->top_ns / (double)w->all_ns;
}

/* ", +6.100 ms in 4 ops (94 % of that in 1)" */
static void
put_way(struct buf *b, const struct changes *c, const struct way *w)
{
	buf_puts(b, ", ");
	put_signed_time(b, w->ns);
	buf_puts(b, " in ");
	put_number(b, c, w->n);
	if (rows_in(w->top) == rows_in(w->n))
		return;
	buf_printf(b, " (%.0f %% of that in ", top_share(w));
	if (w->top.launches > 0)
		put_number(b, c, w->top);
	else
		buf_printf(b, "%zu", w->top.ops);
	buf_putc(b, ')');
}

/*
 * Sorts a family's rows by direction. Returns the rest: work without a launch
 * is of no op.
 */
static int64_t
find_ways(const struct changes *c, unsigned family, struct way ways[2])
{
	int64_t left = 0;

	for (size_t i = 0; i < c->rows.n; i++) {
		const struct change *r = &c->rows.v[i];
		int64_t ns = told_ns(c, r);
		struct way *w = &ways[ns < 0];

		if (!is_in(c, r, family))
			continue;
		if (is_unlinked(c, r)) {
			stat_add(&left, ns);
			continue;
		}
		stat_add(&w->ns, ns);
		count_row(&w->n, is_no_op(c, r));
	}
	return left;
}

/* Rows are sorted: the first are the largest. */
static void
find_top(const struct changes *c, unsigned family, struct way ways[2])
{
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct change *r = &c->rows.v[i];
		int64_t ns = told_ns(c, r);
		struct way *w = &ways[ns < 0];

		if (!is_in(c, r, family) || is_unlinked(c, r) ||
		    rows_in(w->top) == TOP_ROWS || top_share(w) >= ENOUGH)
			continue;
		stat_add(&w->top_ns, ns);
		count_row(&w->top, is_no_op(c, r));
	}
}

/*
 * In how many rows the difference is, and the share of the first. Each
 * direction apart, as gains hide losses; a share of the whole only if nothing
 * goes the other way. rest_ns: of rows that differ only together, included in
 * the whole.
 */
static void
put_share(
    struct buf *b, const struct changes *c, unsigned family, int64_t rest_ns)
{
	struct way ways[2] = { { .ns = 0 }, { .ns = 0 } };
	int64_t left = find_ways(c, family, ways);
	struct way *one = &ways[rows_in(ways[0].n) == 0];
	bool is_less = one == &ways[1];
	bool is_share = (rows_in(ways[0].n) == 0 || rows_in(ways[1].n) == 0) &&
	    (left == 0 || (left < 0) == is_less) &&
	    (rest_ns == 0 || (rest_ns < 0) == is_less);

	for (int i = 0; i < 2; i++)
		ways[i].all_ns = ways[i].ns;
	if (is_share) {
		stat_add(&one->all_ns, left);
		stat_add(&one->all_ns, rest_ns);
	}
	find_top(c, family, ways);
	if (is_share && rows_in(one->n) > 0) {
		buf_printf(b, ", %.0f %% of it from ", top_share(one));
		put_number(b, c, one->top);
		return;
	}
	for (int i = 0; i < 2; i++)
		if (rows_in(ways[i].n) > 0)
			put_way(b, c, &ways[i]);
}

void
put_rest(struct buf *b, const struct family *f)
{
	if (f->rest_ns == 0)
		return;
	if (f->rest_ns == f->judged_ns) {
		buf_puts(b, ": spread over ");
	} else {
		buf_puts(b, ", ");
		put_signed_time(b, f->rest_ns);
		buf_puts(b, " spread over ");
	}
	buf_printf(b, "%zu rows, none by itself", f->nrest);
}

/* "a step", if times are means of steps. */
static const char *
unit_words(const struct changes *c)
{
	if (c->set->per == PER_STEP)
		return " a step";
	if (!has_several_units(c))
		return "";
	return c->set->pair == PAIR_RANK ? " a rank" : " a run";
}

/* "WHAT +7.8 %: +7.8 ms beyond noise; +0.4 ms within noise" */
static void
put_family(
    struct buf *b, const struct changes *c, unsigned family, const char *what)
{
	const struct family *f = &c->family[family];
	bool is_growth = f->judged_ns != 0 && f->ns[0] > 0 && !c->unlike.is_so;
	const char *lead = ": ";

	buf_printf(b, "%s ", what);
	if (is_growth) {
		put_growth(b, (double)f->ns[0], (double)f->judged_ns);
	} else if (c->unlike.is_so) {
		/* the sentence on the step has this share */
		put_change(b, f->ns[0], f->ns[1]);
		buf_puts(b, unit_words(c));
	} else {
		put_time(b, f->ns[0]);
		buf_puts(b, " to ");
		put_time(b, f->ns[1]);
		buf_puts(b, unit_words(c));
	}
	if (f->judged_ns != 0) {
		buf_puts(b, lead);
		put_signed_time(b, f->judged_ns);
		buf_printf(b, "%s %s", is_growth ? unit_words(c) : "",
		    c->unlike.is_so ? "by work of one side only"
				    : "beyond noise");
		put_share(b, c, family, f->rest_ns + f->first.rest_ns);
		put_rest(b, f);
		put_first(b, f->judged_ns, f->first.judged_ns, f->first.nrest);
		lead = "; ";
	}
	if (f->unknown_ns != 0) {
		buf_printf(b, "%s%s ", lead,
		    c->unlike.is_so ? "not judged:" : "noise unknown for");
		put_signed_time(b, f->unknown_ns);
		put_first(b, f->unknown_ns, f->first.unknown_ns, 0);
		lead = "; ";
	}
	if (f->judged_ns == 0 && f->unknown_ns == 0) {
		if (!c->unlike.is_so)
			buf_printf(b, "%swithin noise", lead);
	} else if (f->within_ns != 0) {
		buf_puts(b, lead);
		put_signed_time(b, f->within_ns);
		buf_puts(b, " within noise");
	}
}

/* The change of GPU time, by family if noise is known. */
static void
put_whole(struct buf *b, const struct changes *c)
{
	const struct unit_times *u = c->unit;
	const struct family *comm = &c->family[FAMILY_COMM];
	bool has_comm = comm->ns[0] > 0 || comm->ns[1] > 0;

	if ((!c->is_known && !c->unlike.is_so) || c->gross_ns == 0) {
		buf_puts(b, "GPU time ");
		put_change(b, u[0].total_ns, u[1].total_ns);
		buf_puts(b, unit_words(c));
		put_share(b, c, NFAMILIES, 0);
		return;
	}
	put_family(b, c, FAMILY_COMPUTE, has_comm ? "GPU compute" : "GPU time");
	if (has_comm) {
		buf_puts(b, ". ");
		put_family(b, c, FAMILY_COMM, "Communication");
	}
}

void
changes_whole(const struct changes *c, struct table *t, bool has_hints)
{
	const struct unit_times *u = c->unit;
	struct buf b = { 0 };
	bool is_told = clock_notes(c, t, has_hints);

	put_whole(&b, c);
	if (c->gross_ns != 0 || !is_told)
		note_of(t, &b);
	b.len = 0;
	if (c->clock.groups.n == 0 &&
	    c->clock.side[0].list.n + c->clock.side[1].list.n > 0)
		table_note(t,
		    "the sides have no steps of the same kind: step times are "
		    "not compared");
	if (c->clock.nunpaired > 0)
		table_note(t,
		    "%zu step%s no GPU events on one side: not compared",
		    c->clock.nunpaired,
		    c->clock.nunpaired == 1 ? " has" : "s have");
	if (u[0].nruns != u[1].nruns)
		table_note(t, "the sides have %" PRIu64 " and %" PRIu64 " runs",
		    u[0].nruns, u[1].nruns);
	buf_free(&b);
}

/* Says that steps are inferred, and if only on one side, that they differ. */
static void
note_steps(const struct changes *c, struct table *t)
{
	const struct str *names = c->set->names;
	unsigned from[NSIDES] = { c->unit[0].inferred, c->unit[1].inferred };
	int side = from[0] == 0;

	if (from[0] != 0 && from[1] != 0)
		note_inferred(t, from[0] | from[1]);
	else if (from[side] != 0)
		table_note(t,
		    "steps of %.*s are inferred, as it has no markers; those "
		    "of %.*s are not",
		    (int)names[side].len, names[side].p, (int)names[!side].len,
		    names[!side].p);
}

/* ---- rows and events ---- */

/* "WHAT: before 2 (1.2 ms), after 3 (1.3 ms)"; nothing if both are 0. */
static void
note_tally(const struct changes *c, struct table *t, const char *what,
    const char *over, const struct tally *tally)
{
	struct buf b = { 0 };

	for (int s = 0; s < NSIDES; s++) {
		struct str name = c->set->names[s];

		if (tally->n[s] == 0)
			continue;
		if (b.len == 0)
			buf_printf(&b, "%s%s: ", what, over);
		else
			buf_puts(&b, ", ");
		buf_printf(&b, "%" PRIu64 " %.*s (", tally->n[s], (int)name.len,
		    name.p);
		put_time(&b, tally->ns[s]);
		buf_putc(&b, ')');
	}
	note_of(t, &b);
	buf_free(&b);
}

const char *
changes_unknown(const struct changes *c)
{
	return c->gross_ns != 0 && !c->is_known && !c->unlike.is_so
	    ? "noise unknown: pass several runs or steps"
	    : NULL;
}

/* Rows of one side only, and rows within noise. */
static void
note_rows(const struct changes *c, struct table *t)
{
	struct tally only = { { 0, 0 }, { 0, 0 } };
	size_t noise = 0, ndiffer = 0;

	for (size_t i = 0; i < c->rows.n; i++) {
		const struct change *r = &c->rows.v[i];

		noise += r->is_noise;
		ndiffer += r->diff_ns != 0;
		for (int s = 0; s < NSIDES; s++)
			if (r->kernels[s] > 0 && r->kernels[!s] == 0) {
				only.n[s]++;
				stat_add(&only.ns[s], r->unit_ns[s]);
			}
	}
	note_tally(c, t, "rows on one side only", "", &only);
	if (changes_unknown(c) != NULL)
		table_note(t, "%s", changes_unknown(c));
	if (noise > 0 && noise == ndiffer)
		table_note(t, "%zu row%s, within noise", noise,
		    noise == 1 ? " differs" : "s differ");
	else if (noise > 0)
		table_note(t, "%zu of %zu rows that differ are within noise",
		    noise, ndiffer);
}

/* Of several runs or steps these are sums, and the note says so. */
static void
note_events(const struct changes *c, struct table *t)
{
	static const char *const texts[][NTALLIES] = {
		[BY_OP] = { "GPU events in calls of one side only",
		    "unmatched GPU events",
		    "matched GPU events with different names",
		    "GPU events launched outside of ops",
		    "GPU events without a launch",
		    "matched GPU events on another stream" },
		[BY_KERNEL] = { "GPU events in unmatched sequences",
		    "unmatched GPU events in matched sequences",
		    "matched GPU events with different names", NULL, NULL,
		    "matched GPU events on another stream" },
	};
	const char *over = "";

	if (has_several_units(c))
		over = c->set->per == PER_STEP ? ", over all steps"
					       : ", over all runs";
	if (c->set->by == BY_KERNEL)
		table_note(t,
		    "%" PRIu64 " of %" PRIu64 " and %" PRIu64
		    " kernel sequences matched",
		    c->npaired, c->nsequences[0], c->nsequences[1]);
	for (int i = 0; i < NTALLIES; i++) {
		const struct tally *tally = &c->tallies[i];
		bool is_other = c->set->by == BY_OP && i == TALLY_UNPAIRED &&
		    tally->n[0] > 0 && tally->n[1] > 0;

		note_tally(c, t,
		    is_other ? "GPU events with other names or launches, "
			       "compared by op"
			     : texts[c->set->by][i],
		    over, tally);
	}
}

/* ---- calls ---- */

/* "5 calls differ (A | B, 2 times)": number and most frequent names. */
static void
note_remarks(const struct changes *c, struct table *t, const char *one,
    const char *many, const struct match_counts *m, const char *hint)
{
	const struct match_count *most = m->list.v;
	struct buf b = { 0 };
	uint64_t n = 0;

	if (m->list.n == 0)
		return;
	for (size_t i = 0; i < m->list.n; i++) {
		n += m->list.v[i].events.n[0];
		if (m->list.v[i].events.n[0] > most->events.n[0])
			most = &m->list.v[i];
	}
	buf_printf(&b, "%" PRIu64 " %s (", n, n == 1 ? one : many);
	put_names(&b, c->dict, most->of);
	if (m->list.n > 1 && most->events.n[0] > 1)
		buf_printf(&b, ", %" PRIu64 " times", most->events.n[0]);
	buf_printf(&b, ")%s", hint);
	note_of(t, &b);
	buf_free(&b);
}

/* Calls with different arguments, and the difference in their largest row. */
static void
note_args(const struct changes *c, struct table *t)
{
	struct buf b = { 0 };
	uint64_t calls = 0;

	if (c->has_args[0] != c->has_args[1])
		return;
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct change *r = &c->rows.v[i];
		const struct op_args *x = &r->key.args[0], *y = &r->key.args[1];

		/* concrete arguments differ from call to call */
		if (r->key.n[0] != r->key.n[1] ||
		    (x->dims == y->dims && x->types == y->types &&
			x->strides == y->strides))
			continue;
		calls += r->calls[0] > r->calls[1] ? r->calls[0] : r->calls[1];
		if (b.len == 0 && x->dims != INTERN_NONE &&
		    y->dims != INTERN_NONE && r->name[0] != INTERN_NONE) {
			buf_puts(&b, " (");
			text_visible(dict_get(c->dict, r->name[0]), &b);
			buf_putc(&b, ' ');
			text_visible(dict_get(c->dict, x->dims), &b);
			buf_puts(&b, " | ");
			text_visible(dict_get(c->dict, y->dims), &b);
			buf_putc(&b, ')');
		}
	}
	if (calls > 0)
		table_note(t, "%" PRIu64 " call%s in arguments%.*s", calls,
		    calls == 1 ? " differs" : "s differ", (int)b.len,
		    buf_str(&b).p);
	buf_free(&b);
}

/* What only one side's profiler recorded. */
static void
note_contents(const struct changes *c, struct table *t, bool has_hints)
{
	for (int s = 0; s < NSIDES; s++) {
		struct str name = c->set->names[s];

		if (c->has_args[!s] && c->has_ops[s] && !c->has_args[s])
			table_note(t, "%.*s has no arguments of ops",
			    (int)name.len, name.p);
		if (c->set->python && c->has_frames[!s] && !c->has_frames[s])
			table_note(t, "%.*s has no Python frames%s",
			    (int)name.len, name.p,
			    has_hints ? ": without --python the trees are "
					"compared below them"
				      : "");
	}
}

/* Trees say little if most GPU work is in none. */
static void
note_kernels(const struct changes *c, struct table *t, bool has_hints)
{
	bool is[NSIDES];
	struct str name;

	for (int s = 0; s < NSIDES; s++) {
		int64_t ns = c->tallies[TALLY_UNLINKED].ns[s], all = 0;

		stat_add(&ns, c->tallies[TALLY_OUTSIDE].ns[s]);
		for (size_t i = 0; i < c->rows.n; i++)
			stat_add(&all, c->rows.v[i].ns[s]);
		is[s] = ns > all / 2;
	}
	if (!is[0] && !is[1])
		return;
	name = is[0] && is[1] ? STR("") : c->set->names[is[1]];
	table_note(t, "most GPU work%s%.*s belongs to no op%s",
	    name.len > 0 ? " of " : "", (int)name.len, name.p,
	    has_hints ? ": --by kernel compares kernels one by one" : "");
}

void
changes_notes(const struct changes *c, struct table *t, bool has_hints)
{
	const struct unit_times *u = c->unit;

	if (c->set->over.len > 0)
		table_note(t, "%s", c->set->over.p);
	/* a warning says it on screens */
	if (!has_hints)
		unlike_note(c, t);
	if (c->set->by == BY_OP && changes_sameness(c) != NULL)
		table_note(t, "%s", changes_sameness(c));
	/* the slowest rank sets the pace, so who differs comes first */
	if (ranks_differ(c))
		ranks_notes(c, t);
	changes_whole(c, t, has_hints);
	note_steps(c, t);
	if (!ranks_differ(c))
		ranks_notes(c, t);
	first_note(c, t);
	standout_note(c, t);
	note_rows(c, t);
	note_events(c, t);
	note_remarks(c, t, "launch differs by API name",
	    "launches differ by API name", &c->launches,
	    has_hints ? "; --equiv maps them" : "");
	note_remarks(c, t, "matched call differs by name",
	    "matched calls differ by name", &c->calls, "");
	note_args(c, t);
	note_contents(c, t, has_hints);
	note_kernels(c, t, has_hints);
	/* a run of one side has more steps than one of the other */
	if (c->set->per == PER_RUN && u[0].nsteps > 0 && u[1].nsteps > 0 &&
	    u[0].nsteps * u[1].nruns != u[1].nsteps * u[0].nruns)
		table_note(t,
		    "GPU work was launched in %" PRIu64 " and %" PRIu64
		    " steps%s",
		    u[0].nsteps, u[1].nsteps,
		    has_hints ? ": --per step compares a step" : "");
}

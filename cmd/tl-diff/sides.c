/* SPDX-License-Identifier: MIT */
/*
 * Compares all traces of both sides. The first run of a side is compared with
 * the other's first and so on, the last of the shorter side with all that
 * remain; or runs of equal rank. The merged tree is of the first pair, which is
 * kept; tables cover all pairs.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/tl-diff/events.h"
#include "cmd/tl-diff/judge.h"
#include "cmd/tl-diff/notes.h"

/* ---- one side: the runs of all its traces ---- */

/* A rank and its first trace: a file, or one of its sources. */
struct met_rank {
	int64_t rank;
	const char *path;
	uint32_t no, nsources;
};

/* A side's files, and the runs read but not yet compared. */
struct inputs {
	struct settings *set;
	struct norms *norms;
	struct clock *clock;
	int which; /* its side */
	path_vec paths;
	size_t next_path;
	struct file *opened; /* its decoder already runs */
	uint32_t nsources;   /* in the files read */
	side_vec waiting;
	/* runs without a recorded rank, numbered at the end */
	side_vec guesses;
	VEC(int64_t) numbers; /* numbers that are taken */
	struct side *side;    /* the current run */
	struct side *kept;    /* kept to the end, for who sets it */
	uint64_t nruns, ngpus;
	VEC(struct met_rank) met; /* with --pair rank */
	uint64_t nunasked;        /* skipped, as their rank is not selected */
	bool has_ranks;           /* recorded or guessed */
};

static void
inputs_open(struct inputs *s, struct settings *set, struct norms *nm,
    struct clock *clock, int which)
{
	s->set = set;
	s->norms = nm;
	s->clock = clock;
	s->which = which;
	for (size_t i = 0; i < set->paths[which].n; i++)
		stream_paths(&s->paths, set->paths[which].v[i], false);
	s->opened = file_open(set, nm, clock, which, s->paths.v[0]);
}

static void
inputs_close(struct inputs *s)
{
	if (s->side != s->kept)
		side_free(s->side);
	side_free(s->kept);
	for (size_t i = 0; i < s->waiting.n; i++)
		side_free(s->waiting.v[i]);
	for (size_t i = 0; i < s->guesses.n; i++)
		side_free(s->guesses.v[i]);
	vec_free(&s->waiting);
	vec_free(&s->guesses);
	vec_free(&s->numbers);
	vec_free(&s->met);
	for (size_t i = 0; i < s->paths.n; i++)
		free(s->paths.v[i]);
	vec_free(&s->paths);
}

/* Drops waiting runs from first on whose rank is not selected. */
static void
drop_unasked(struct inputs *s, size_t first)
{
	size_t n = first;

	for (size_t i = first; i < s->waiting.n; i++) {
		struct side *r = s->waiting.v[i];

		if (r->is_asked) {
			s->waiting.v[n++] = r;
			continue;
		}
		s->nunasked++;
		side_free(r);
	}
	s->waiting.n = n;
}

/* Queues the runs of a file, or keeps them as guesses. */
static void
sort_runs(struct inputs *s, size_t first)
{
	size_t n = first;

	for (size_t i = first; i < s->waiting.n; i++) {
		struct side *r = s->waiting.v[i];
		bool is_guess = r->is_rank_guess && s->set->pair == PAIR_RANK;

		r->no += s->nsources;
		s->has_ranks |= is_guess || (r->has_rank && !r->is_rank_guess);
		if (is_guess) {
			vec_push(&s->guesses, r);
			continue;
		}
		s->waiting.v[n++] = r;
		if (r->has_rank)
			vec_push(&s->numbers, r->rank);
	}
	s->waiting.n = n;
}

static bool
is_taken(const struct inputs *s, int64_t rank)
{
	for (size_t i = 0; i < s->numbers.n; i++)
		if (s->numbers.v[i] == rank)
			return true;
	return false;
}

/*
 * A single file knows no other: runs without a rank get the first free number
 * from their position on. False: no such runs.
 */
static bool
number_guesses(struct inputs *s)
{
	size_t first = s->waiting.n;

	if (s->guesses.n == 0)
		return false;
	for (size_t i = 0; i < s->guesses.n; i++) {
		struct side *r = s->guesses.v[i];

		r->rank = r->no;
		while (is_taken(s, r->rank))
			r->rank++;
		r->is_asked = select_rank(&s->set->select, r->rank);
		vec_push(&s->numbers, r->rank);
		vec_push(&s->waiting, r);
	}
	s->guesses.n = 0;
	drop_unasked(s, first);
	return true;
}

/* Queues the next file's runs; false: no more files. */
static bool
read_more(struct inputs *s)
{
	struct file *f = s->opened;
	size_t first = s->waiting.n;
	uint32_t n;

	if (s->next_path >= s->paths.n)
		return number_guesses(s);
	if (f == NULL)
		f = file_open(s->set, s->norms, s->clock, s->which,
		    s->paths.v[s->next_path]);
	s->opened = NULL;
	s->next_path++;
	n = file_take(f, &s->waiting);
	sort_runs(s, first);
	drop_unasked(s, first);
	s->nsources += n;
	return true;
}

/* Makes a run the current one instead of the last. */
static void
take(struct inputs *s, size_t i)
{
	struct side *r = s->waiting.v[i];

	memmove(s->waiting.v + i, s->waiting.v + i + 1,
	    (s->waiting.n - i - 1) * sizeof *s->waiting.v);
	s->waiting.n--;
	if (s->side != s->kept)
		side_free(s->side);
	s->side = r;
	forest_build(r, s->set);
	s->nruns++;
	s->ngpus += r->gpus.n;
}

/* Makes the next run (of this rank, if given) current; false: none. */
static bool
inputs_next(struct inputs *s, const int64_t *rank)
{
	for (size_t i = 0;; i++) {
		while (i == s->waiting.n)
			if (!read_more(s))
				return false;
		if (rank == NULL ||
		    (s->waiting.v[i]->has_rank &&
			s->waiting.v[i]->rank == *rank)) {
			take(s, i);
			return true;
		}
	}
}

/* After its first run: whether there may be more. */
static bool
inputs_has_several(const struct inputs *s)
{
	return s->paths.n > 1 || s->nruns + s->waiting.n + s->guesses.n > 1;
}

/* ---- pairs ---- */

struct sides {
	struct settings *set;
	struct norms nm;
	struct clock *clock;
	struct inputs inputs[NSIDES];
	struct diff first; /* the first pair */
	bool has_first;
	struct changes changes;
	struct tables *tables;
	bool has_notes; /* asked while standard output is open */
};

static void
check_run(const struct side *r, struct select *select)
{
	if (r->roots.n > 0)
		return;
	if (r->nodes.n == 0)
		die_nothing(MSG_NO_EVENTS, r->path);
	if (r->gpus.n > 0)
		die_nothing(MSG_NO_ROOT_OPS, r->path, r->gpus.n);
	select_end(select);
	die_nothing(MSG_NO_GPU_OPS, r->path, select_there(select));
}

static void
merge_pair(struct sides *g, struct diff *d)
{
	for (int s = 0; s < NSIDES; s++) {
		check_run(g->inputs[s].side, &g->set->select);
		d->side[s] = g->inputs[s].side;
	}
	d->set = g->set;
	d->dict = g->nm.st;
	d->norms = &g->nm;
	merge_runs(&d->merged, d->side, &g->nm);
	stats_find(d);
	stats_keep_laws(d);
}

static void
compare_pair(struct sides *g, const bool fresh[NSIDES])
{
	struct diff d = { 0 }, *pair = g->has_first ? &d : &g->first;

	if (g->set->by == BY_KERNEL) {
		const struct side *const runs[NSIDES] = { g->inputs[0].side,
			g->inputs[1].side };

		kernels_add(&g->changes, runs, fresh);
		return;
	}
	merge_pair(g, pair);
	ops_add(&g->changes, pair, fresh);
	if (fresh[0] && !g->set->print)
		tables_add(g->tables, pair, inputs_has_several(&g->inputs[0]));
	if (pair == &g->first) {
		g->has_first = true;
		for (int s = 0; s < NSIDES; s++)
			g->inputs[s].kept = g->inputs[s].side;
	} else {
		merged_free(&d.merged);
		vec_free(&d.stats);
	}
}

static void
die_of_nothing(const struct sides *g, int side)
{
	const struct inputs *it = &g->inputs[side];
	struct there_keys ranks = { 0 };
	struct buf there = { 0 };

	for (size_t i = 0; i < it->numbers.n; i++)
		there_meet_key(
		    &ranks, (struct key){ it->numbers.v[i], KEY_INT });
	there_put_keys(&ranks, NULL, "rank", "s", &there);
	if (it->nunasked > 0)
		die_nothing(MSG_NO_SUCH_RANK, it->paths.v[0],
		    it->has_ranks ? buf_str(&there)
				  : STR("; the traces record no rank: --pair "
					"rank counts them"));
	if (g->set->is_selective)
		die_nothing(MSG_NO_EVENT_MATCHES, g->inputs[side].paths.v[0],
		    select_there(&g->set->select));
	die_nothing(MSG_NO_EVENTS, g->inputs[side].paths.v[0]);
}

static void
compare_by_place(struct sides *g)
{
	bool fresh[NSIDES];

	do {
		for (int s = 0; s < NSIDES; s++) {
			fresh[s] = inputs_next(&g->inputs[s], NULL);
			if (g->inputs[s].side == NULL)
				die_of_nothing(g, s);
		}
		if (fresh[0] || fresh[1])
			compare_pair(g, fresh);
	} while (fresh[0] || fresh[1]);
}

/* "m.tl, source 1", if there are several */
static const char *
name_met(struct buf *b, const struct met_rank *m)
{
	buf_puts(b, m->path);
	if (m->nsources > 1)
		buf_printf(b, ", source %" PRIu32, m->no);
	buf_putc(b, 0);
	return b->p;
}

/* Whether the current run is its rank's second one: skipped with a warning. */
static bool
is_met_again(struct inputs *s)
{
	const struct side *r = s->side;
	const struct met_rank run = { r->rank, r->path, r->in_file,
		r->nin_file };

	for (size_t i = 0; i < s->met.n && r->has_rank; i++) {
		struct buf it = { 0 }, other = { 0 };

		if (s->met.v[i].rank != r->rank)
			continue;
		report(MSG_RANK_TWICE, name_met(&it, &run), r->rank,
		    name_met(&other, &s->met.v[i]));
		buf_free(&it);
		buf_free(&other);
		return true;
	}
	vec_push(&s->met, run);
	return false;
}

static void
leave_out(const struct side *r, struct buf *ranks)
{
	if (!r->has_rank)
		die("%s: rank unknown: try --pair place", r->path);
	buf_printf(ranks, "%s%" PRId64, ranks->len > 0 ? ", " : "", r->rank);
}

static void
warn_left_out(const struct sides *g, int side, struct buf *ranks)
{
	if (ranks->len > 0)
		report(MSG_SIDE_RANKS_MISSING, g->set->names[side],
		    buf_str(ranks));
	buf_free(ranks);
}

static void
compare_by_rank(struct sides *g)
{
	static const bool fresh[NSIDES] = { true, true };
	struct inputs *before = &g->inputs[0], *after = &g->inputs[1];
	struct buf left_out[NSIDES] = { { 0 }, { 0 } };

	while (inputs_next(before, NULL)) {
		if (is_met_again(before))
			continue;
		if (before->side->has_rank &&
		    inputs_next(after, &before->side->rank)) {
			(void)is_met_again(after);
			compare_pair(g, fresh);
		} else {
			leave_out(before->side, &left_out[0]);
		}
	}
	if (before->side == NULL)
		die_of_nothing(g, 0);
	if (after->side == NULL)
		die("no rank is on both sides: try --pair place");
	while (inputs_next(after, NULL))
		if (!is_met_again(after))
			leave_out(after->side, &left_out[1]);
	for (int s = 0; s < NSIDES; s++)
		warn_left_out(g, s, &left_out[s]);
}

/*
 * A side whose profiler recorded no GPU work looks infinitely fast: no gate may
 * pass it, unless a selection left the work out.
 */
static void
check_gpus(const struct sides *g)
{
	for (int s = 0; s < NSIDES; s++) {
		const struct inputs *it = &g->inputs[s];

		if (it->ngpus > 0 || g->set->is_selective)
			continue;
		if (g->set->fail_over.is_set)
			die_nothing(MSG_NO_GPU_EVENTS_TO_JUDGE, it->paths.v[0]);
		report(MSG_SIDE_NO_GPU_EVENTS, it->paths.v[0]);
	}
}

static void
warn_unlike(const struct sides *g)
{
	struct buf b = { 0 };

	if (!g->changes.unlike.is_so)
		return;
	unlike_say(&g->changes, &b);
	buf_putc(&b, 0);
	report(MSG_SIDES_UNLIKE, g->inputs[1].paths.v[0], b.p);
	buf_free(&b);
}

/* A time of zero is no base of a comparison. */
static void
check_steps(const struct sides *g)
{
	for (int s = 0; s < NSIDES && g->set->per == PER_STEP; s++)
		if (g->changes.unit[s].nsteps == 0)
			die_nothing(MSG_NO_STEP_WORK, g->inputs[s].paths.v[0]);
}

/* ---- the answer ---- */

static int64_t
min_diff_ns(const struct sides *g)
{
	const struct threshold *t = &g->set->min_diff;
	int64_t ns;

	if (!t->is_set)
		return 0;
	ns = threshold_ns(t, g->first.side[0]->gpu_ns);
	return ns < INT64_MAX && (t->is_percent || ns == 0) ? ns + 1 : ns;
}

/* TraceLens's files that are not tables. */
static void
write_extras(const struct sides *g)
{
	struct buf b = { 0 };
	const char *dir = g->set->dest.dir;

	if (dir == NULL || g->set->by == BY_KERNEL || g->set->table != NULL)
		return;
	buf_printf(&b, "%s/merged_tree_output.txt%c", dir, 0);
	print_merged(&g->first, b.p, 0);
	buf_free(&b);
}

/* The answer has sentences: notes of a table for people, else messages. */
static bool
has_verdict(const struct settings *set)
{
	return !set->print &&
	    (set->table == NULL || set->by != BY_OP ||
		strcmp(set->table, "diff_ops_summary") == 0);
}

/*
 * Whether step times are wanted, which may cost as much as all else. Selected
 * GPU events do not show how long a step takes.
 */
static bool
needs_clock(const struct sides *g)
{
	const struct settings *set = g->set;

	if (set->is_of_events || set->print || set->no_steps)
		return false;
	return has_verdict(set) || tables_want_steps(set) ||
	    (set->fail_over.is_set &&
		(set->gate == GATE_BOTH || set->gate == GATE_STEP));
}

/* The sentences are printed already: above the table, or as the table. */
static bool
says_itself(const struct sides *g)
{
	const struct settings *set = g->set;

	return g->has_notes ||
	    (set->table != NULL && strcmp(set->table, "diff_verdict") == 0);
}

static void
summarise(const struct sides *g)
{
	for (int s = 0; s < NSIDES; s++)
		note("%.*s: %" PRIu64 " runs, the last with %zu events, %zu "
		     "of the GPU, %zu roots",
		    (int)g->set->names[s].len, g->set->names[s].p,
		    g->inputs[s].nruns, g->inputs[s].side->nodes.n,
		    g->inputs[s].side->gpus.n, g->inputs[s].side->roots.n);
	note_cost("%zu merged nodes", g->first.merged.list.n);
}

static void
sides_free(struct sides *g)
{
	merged_free(&g->first.merged);
	vec_free(&g->first.stats);
	changes_free(&g->changes);
	for (int s = 0; s < NSIDES; s++)
		inputs_close(&g->inputs[s]);
	clock_destroy(g->clock);
	norms_free(&g->nm);
	dict_destroy(g->nm.st);
}

int
sides_compare(struct settings *set)
{
	struct sides g = { .set = set,
		.has_notes = has_verdict(set) && table_has_notes(&set->dest) };
	int status;

	g.nm.st = dict_create();
	changes_create(&g.changes, set, g.nm.st);
	if (!set->print)
		g.tables = tables_create(set);
	if (set->equiv != NULL)
		norms_read_equiv(&g.nm, set->equiv);
	if (set->match != NULL)
		matched_find(set, g.nm.st);
	if (needs_clock(&g))
		g.clock = clock_create(&g.nm, set);
	/* both decoders run while the first file is read */
	for (int s = 0; s < NSIDES; s++)
		inputs_open(&g.inputs[s], set, &g.nm, g.clock, s);
	if (set->pair == PAIR_RANK)
		compare_by_rank(&g);
	else
		compare_by_place(&g);
	select_end(&set->select);
	check_gpus(&g);
	check_steps(&g);
	changes_finish(&g.changes);
	warn_unlike(&g);
	gate_check(set, &g.changes);
	if (set->print)
		print_merged(&g.first, set->dest.path, min_diff_ns(&g));
	else
		tables_finish(g.tables, &g.changes);
	write_extras(&g);
	if (!says_itself(&g)) {
		tell_facts(&g.changes);
		if (has_verdict(set) && set->dest.dir == NULL)
			tell_verdict(&g.changes);
	}
	status = gate_status(set, &g.changes);
	if (set->verbose)
		summarise(&g);
	sides_free(&g);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Joins sources to a job: each one's rank, sources that do not belong to it,
 * missing ranks, and a common time.
 */
#include "cmd/tl-collective/job.h"
#include "cmd/tl-collective/hlo.h"

#include <stdlib.h>

/* so many collectives at equal times prove copies */
#define TELLING_RECS 4

/* ---- ranks ---- */

/* The file's name beats the order, and --rank-regex the trace. */
static void
settle_rank(const struct settings *set, struct part *p)
{
	char path[4096];
	int64_t named = -1;

	if (p->path.len < sizeof path && !p->is_partial) {
		memcpy(path, p->path.p, p->path.len);
		path[p->path.len] = '\0';
		named = rank_of_path(set->rank_rule, path);
	}
	if (named < 0 && !p->is_partial)
		named = rank_of_node(set->rank_rule, p->host);
	if (p->rank != NONE && !p->rank_is_guess) {
		if (!set->has_rank_regex || named < 0 || named == p->rank)
			return;
		report(MSG_RANK_RENAMED, p->path, named, p->rank);
	}
	p->rank_is_guess = named < 0 && (!p->is_partial || p->rank == NONE);
	if (p->rank_is_guess)
		p->rank = (int64_t)p->source_no;
	else if (named >= 0)
		p->rank = named;
}

static void
leave_out(struct part *p)
{
	p->is_out = true;
	p->nrecs = 0;
}

static int
by_process(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->part_no < b->part_no ? -1 : a->part_no > b->part_no;
}

/*
 * A GPU's rank is its number, counted on from the GPUs of earlier processes; a
 * process that is missing or did nothing has as many as the largest. The job is
 * as large as any group.
 */
static void
number_gpus(part_vec *parts)
{
	int64_t most = 0, process = -1, first = 0, n = 0, world = 0;

	for (size_t i = 0; i < parts->n; i++)
		if (part_is_raw_gpu(&parts->v[i]) && parts->v[i].ngpus > most)
			most = parts->v[i].ngpus;
	if (most == 0)
		return;
	qsort(parts->v, parts->n, sizeof *parts->v, by_process);
	for (size_t i = 0; i < parts->n; i++) {
		struct part *p = &parts->v[i];
		int64_t gap = p->rank - process;

		if (p->is_idle) {
			report(MSG_PROCESS_IDLE, p->path, most);
			leave_out(p);
		}
		if (!part_is_raw_gpu(p))
			continue;
		p->process = p->rank;
		if (gap > 0) {
			if (gap > INT64_MAX / most / 2 ||
			    !num_add(first, n + (gap - 1) * most, &first))
				die("%.*s: rank %" PRId64 " is too large",
				    (int)p->path.len, p->path.p, p->rank);
			process = p->rank;
			n = 0;
		}
		n = p->ngpus > n ? p->ngpus : n;
		p->rank = first + (p->ngpus > 1 ? p->dev : 0);
		world = p->world > world ? p->world : world;
		world = p->rank >= world ? p->rank + 1 : world;
	}
	for (size_t i = 0; i < parts->n; i++)
		if (part_is_raw_gpu(&parts->v[i]))
			parts->v[i].world = world;
}

static int
by_rank(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;
	int64_t ta, tb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	ta = a->nrecs > 0 ? a->recs[0].start_ns + a->base_ns : 0;
	tb = b->nrecs > 0 ? b->recs[0].start_ns + b->base_ns : 0;
	if (ta != tb)
		return ta < tb ? -1 : 1;
	return a->part_no < b->part_no ? -1 : a->part_no > b->part_no;
}

/* ---- parts that do not belong ---- */

/* The world size that most sources record, or 0. */
static int64_t
usual_world(const part_vec *parts)
{
	struct map count = { 0 };
	int64_t best = 0;
	uint64_t most = 0;

	for (size_t i = 0; i < parts->n; i++) {
		const struct part *p = &parts->v[i];
		uint64_t n;

		if (p->world == NONE)
			continue;
		n = ++*map_put(&count, (uint64_t)p->world, NULL);
		if (n > most || (n == most && p->world > best)) {
			most = n;
			best = p->world;
		}
	}
	map_free(&count);
	return best;
}

static void
check_world(struct job *j)
{
	int64_t world = j->set->world_size > 0 ? j->set->world_size
					       : usual_world(&j->parts);

	j->world = world;
	for (size_t i = 0; i < j->parts.n && world > 0; i++) {
		struct part *p = &j->parts.v[i];

		if (p->world != NONE && p->world != world) {
			report(MSG_OTHER_JOB, p->path, p->world, world);
			leave_out(p);
		} else if (p->rank >= world) {
			report(MSG_RANK_TOO_HIGH, p->path, p->rank, world);
			leave_out(p);
		}
	}
}

static bool
overlap(const struct part *a, const struct part *b)
{
	return a->nrecs > 0 && b->nrecs > 0 &&
	    b->recs[0].start_ns + b->base_ns <
	    a->recs[a->nrecs - 1].start_ns + a->base_ns;
}

/* Parts of a rank are windows of it; equal ones count once. */
static void
check_twice(struct job *j)
{
	for (size_t i = 1; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];

		for (size_t k = i; k-- > 0 && !p->is_out;) {
			const struct part *q = &j->parts.v[k];
			bool is_same;

			if (q->rank != p->rank)
				break;
			is_same = !q->is_out && q->hash == p->hash;
			if (!is_same && !overlap(q, p))
				continue;
			report(is_same ? MSG_RANK_TWICE : MSG_RANK_CONFLICT,
			    p->path, p->rank, q->path);
			leave_out(p);
		}
	}
}

/*
 * Finds copies under another rank of a trace that records none. If most are
 * equal, they may be meant so.
 */
static void
check_copies(struct job *j)
{
	struct map count = { 0 }, first = { 0 }; /* by hash */

	for (size_t i = 0; i < j->parts.n; i++)
		++*map_put(&count, j->parts.v[i].hash, NULL);
	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];
		bool is_new, are_few;
		const struct part *q;
		uint64_t *slot;

		if (p->is_out || p->nrecs < TELLING_RECS)
			continue;
		slot = map_put(&first, p->hash, &is_new);
		if (is_new)
			*slot = i;
		q = &j->parts.v[*slot];
		if (is_new || (p->rank_is_told && q->rank_is_told))
			continue;
		are_few = *map_get(&count, p->hash) * 2 <= j->parts.n;
		report(are_few ? MSG_RANK_COPY_SKIPPED : MSG_RANK_COPY, p->path,
		    p->rank, q->rank, q->path);
		if (are_few)
			leave_out(p);
	}
	map_free(&count);
	map_free(&first);
}

static void
drop_left_out(struct job *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->parts.n; i++)
		if (!j->parts.v[i].is_out)
			j->parts.v[n++] = j->parts.v[i];
	j->parts.n = n;
	if (n == 0)
		die("no input left");
}

/* ---- signatures and time ---- */

static void
take_sigs(struct job *j, struct part *p, uint32_t no)
{
	uint32_t *ours = xcalloc(p->nsigs + 1, sizeof *ours);
	struct buf b = { 0 };

	for (size_t i = 0; i < p->nsigs; i++) {
		struct str text = p->sigs[i];

		if (part_is_raw_gpu(p)) {
			hlo_own(text, p->rank, &b);
			text = buf_str(&b);
		}
		ours[i] = intern_put(j->sig_texts, text);
		if (ours[i] == j->sigs.n)
			sig_parse(vec_add(&j->sigs),
			    intern_get(j->sig_texts, ours[i]), j->keys, j->mem);
	}
	p->name_of = xcalloc(p->nnames + 1, sizeof *p->name_of);
	for (size_t i = 0; i < p->nnames; i++)
		p->name_of[i] = intern_put(j->names, p->names[i]);
	for (size_t i = 0; i < p->nrecs; i++) {
		p->recs[i].sig = ours[p->recs[i].sig];
		p->recs[i].part = no;
	}
	buf_free(&b);
	free(ours);
}

/*
 * A record of a group that its rank is not in comes from another job. XLA lists
 * all groups.
 */
static bool
is_stranger(struct job *j, const struct part *p)
{
	size_t n = part_is_raw_gpu(p) ? 0 : p->nsigs;
	int_vec list = { 0 };
	bool is_cut, is_strange = false;

	for (size_t i = 0; i < n && !is_strange; i++) {
		uint32_t id = intern_find(j->sig_texts, p->sigs[i],
		    hash_bytes(p->sigs[i].p, p->sigs[i].len));
		const struct sig *s = &j->sigs.v[id];
		bool is_in = false;

		if (s->ranks.p == NULL ||
		    !list_ints(s->ranks, &list, &is_cut) || is_cut)
			continue;
		for (size_t k = 0; k < list.n; k++)
			is_in |= list.v[k] == p->rank;
		is_strange = !is_in;
		if (is_strange)
			report(MSG_NOT_A_MEMBER, p->path, p->rank, s->pg,
			    s->ranks);
	}
	vec_free(&list);
	return is_strange;
}

/* Unix time if all sources have it, else each file's own. */
static void
settle_time(struct job *j)
{
	size_t nepoch = 0;

	for (size_t i = 0; i < j->parts.n; i++)
		nepoch += j->parts.v[i].epoch_ns != NONE;
	if (nepoch > 0 && nepoch < j->parts.n)
		report(MSG_NO_EPOCH, j->parts.n - nepoch, j->parts.n);
	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];
		int64_t move = p->base_ns;

		p->shift_ns = nepoch == j->parts.n ? p->epoch_ns : 0;
		if (!num_add(move, p->shift_ns, &move))
			die("%.*s: clock out of range", (int)p->path.len,
			    p->path.p);
		for (size_t k = 0; k < p->nrecs; k++)
			if (!num_add(p->recs[k].start_ns, move,
				&p->recs[k].start_ns))
				die("%.*s: time out of range", (int)p->path.len,
				    p->path.p);
	}
}

/* All GPUs of a process share its clock. */
static void
add_rank(struct job *j, size_t part)
{
	const struct part *p = &j->parts.v[part];
	const struct rank_info *before =
	    j->ranks.n > 0 ? &j->ranks.v[j->ranks.n - 1] : NULL;
	struct rank_info info = { .rank = p->rank,
		.process = p->dev != NONE ? p->process : p->rank,
		.clock = (uint32_t)j->ranks.n,
		.host = { p->host.len > 0 ? p->host.p : NULL, p->host.len },
		.part = (uint32_t)part };

	if (before != NULL && p->dev != NONE && before->process == info.process)
		info.clock = before->clock;
	vec_push(&j->ranks, info);
}

static void
number_ranks(struct job *j)
{
	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];

		if (i == 0 || p[-1].rank != p->rank)
			add_rank(j, i);
		p->pos = (uint32_t)j->ranks.n - 1;
		j->nrecs += p->nrecs;
	}
}

static void
settle_nodes(struct job *j)
{
	j->gpus_per_node = j->set->gpus_per_node;
	if (j->gpus_per_node == 0)
		j->gpus_per_node = j->parts.v[0].ndevs;
	j->has_nodes = j->gpus_per_node > 0;
	for (size_t i = 0; i < j->parts.n; i++)
		j->has_gpus |= j->parts.v[i].dev != NONE;
	for (size_t i = 0; i < j->sigs.n; i++)
		j->has_hlo |= j->sigs.v[i].instruction.p != NULL;
}

/* ---- what is missing ---- */

/* Whether it is a GPU of this rank's process that did nothing. */
static bool
is_idle_gpu(const struct job *j, size_t at, int64_t rank)
{
	const struct part *p = &j->parts.v[j->ranks.v[at].part];
	int64_t first;

	if (!part_is_raw_gpu(p) || p->ngpus <= 1)
		return false;
	first = p->rank - p->dev;
	return rank >= first && rank - first < p->ngpus;
}

void
job_tell_missing(const struct job *j)
{
	int64_t world = j->world;
	int_vec missing = { 0 };
	bool by_order = false;
	struct buf b = { 0 };
	size_t at = 0;

	if (world <= 0)
		world = j->ranks.v[j->ranks.n - 1].rank + 1;
	for (int64_t r = 0; r < world && missing.n < 100000; r++) {
		while (at < j->ranks.n && j->ranks.v[at].rank < r)
			at++;
		if (at < j->ranks.n &&
		    (j->ranks.v[at].rank == r || is_idle_gpu(j, at, r)))
			continue;
		if (at == 0 || !is_idle_gpu(j, at - 1, r))
			vec_push(&missing, r);
	}
	for (size_t i = 0; i < j->parts.n; i++)
		by_order |= j->parts.v[i].rank_is_guess;
	if (missing.n > 0 && by_order) {
		report(MSG_RANKS_MISSING_BY_ORDER, missing.n, world);
	} else if (missing.n > 0) {
		put_ranges(&b, missing.v, missing.n);
		report(MSG_RANKS_MISSING, missing.n, world, buf_str(&b));
	}
	buf_free(&b);
	vec_free(&missing);
}

static void
check_empty(const struct job *j)
{
	uint64_t nskipped = 0;

	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];

		nskipped += p->nskipped;
		if (p->nrecs == 0 && j->nrecs > 0)
			report(MSG_RANK_NO_COLLECTIVES, p->path, p->rank);
	}
	if (nskipped > 0)
		report(MSG_COLLECTIVES_NO_DURATION, nskipped);
}

void
job_build(struct job *j, const struct settings *set, part_vec *parts)
{
	j->set = set;
	j->mem = arena_create();
	j->sig_texts = intern_create();
	j->keys = intern_create();
	j->names = intern_create();
	j->parts = *parts;
	for (size_t i = 0; i < j->parts.n; i++) {
		struct part *p = &j->parts.v[i];

		p->part_no = i;
		settle_rank(set, p);
	}
	number_gpus(&j->parts);
	check_world(j);
	qsort(j->parts.v, j->parts.n, sizeof *j->parts.v, by_rank);
	check_twice(j);
	check_copies(j);
	for (size_t i = 0; i < j->parts.n; i++) {
		take_sigs(j, &j->parts.v[i], 0);
		if (!j->parts.v[i].is_out && is_stranger(j, &j->parts.v[i]))
			leave_out(&j->parts.v[i]);
	}
	drop_left_out(j);
	for (size_t i = 0; i < j->parts.n; i++)
		for (size_t k = 0; k < j->parts.v[i].nrecs; k++)
			j->parts.v[i].recs[k].part = (uint32_t)i;
	settle_time(j);
	number_ranks(j);
	settle_nodes(j);
	check_empty(j);
}

/* SPDX-License-Identifier: MIT */
/*
 * Captured ops under graph launches. Below a launch comes what led to the
 * captured launches, again for each replay; kernels move from the graph's
 * launch to the captured ones.
 *
 * A grafted event has no time of its own in the replay. It gets a piece of the
 * graph launch's time, so that events lie within those above them and in the
 * capture's order; its captured duration is the argument "capture dur (ns)".
 */
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"

struct job {
	struct forest *w;
	struct captures *c;
	const struct graft_opts *opts;
	struct graft_stats *stats;
	VEC(uint32_t) launches; /* of graphs in one step, by time */
};

/* ---- which events are grafted ---- */

/* Which nodes of the capture are wanted. */
struct choice {
	const struct forest *from;
	uint8_t *is_wanted;
	size_t n;
};

static void
want_paths(struct choice *ch, const struct pairing *p)
{
	for (size_t i = 0; i < p->ngpu; i++)
		for (uint32_t k = p->pair[i];
		     k != FOREST_NONE && !ch->is_wanted[k];
		     k = ch->from->nodes.v[k].up)
			ch->is_wanted[k] = 1;
}

/* Ends at the tops: what is above them reaches out of the capture. */
static size_t
count_wanted(
    struct choice *ch, const struct capture_root *r, bool all, bool frames)
{
	size_t n = 0;

	for (size_t t = 0; t < r->tops.n; t++)
		for (uint32_t i = r->tops.v[t]; i != FOREST_NONE;
		     i = forest_next(ch->from, i, r->tops.v[t])) {
			bool is_module = str_starts(
			    forest_name(ch->from, i), STR("nn.Module"));

			if (all)
				ch->is_wanted[i] = 1;
			if (!frames && !is_module &&
			    ch->from->nodes.v[i].kind == KIND_PYTHON)
				ch->is_wanted[i] = 0;
			n += ch->is_wanted[i];
		}
	return n;
}

/* ---- grafting ---- */

static void
put_int(struct forest *w, uint32_t i, struct str key, int64_t n)
{
	struct value v = { .type = VAL_INT, .i = n };

	forest_arg(w, i, key, ROLE_NONE, &v);
}

struct scion {
	const struct choice *ch;
	uint32_t launch;
	uint32_t *to; /* captured node to its copy, or FOREST_NONE */
	size_t n, at; /* copies in all, and made */
};

static int64_t
piece(const struct forest_node *launch, size_t at, size_t n)
{
	int64_t parts = (int64_t)n, k = (int64_t)at;

	return launch->ts_ns + launch->dur_ns / parts * k +
	    launch->dur_ns % parts * k / parts;
}

/* The copy of the nearest copied node above a captured one, or the launch. */
static uint32_t
place_of(const struct scion *s, uint32_t i)
{
	const struct forest_node *v = s->ch->from->nodes.v;

	for (i = v[i].up; i != FOREST_NONE; i = v[i].up)
		if (s->to[i] != FOREST_NONE)
			return s->to[i];
	return s->launch;
}

static void
copy_one(struct forest *w, struct scion *s, uint32_t i)
{
	uint32_t made = forest_copy(w, s->ch->from, i);
	struct forest_node *to = &w->nodes.v[made];
	const struct forest_node *launch = &w->nodes.v[s->launch];
	int64_t dur_ns = to->dur_ns;
	uint64_t uid = to->id;

	to->track = launch->track;
	to->id = launch->id;
	to->inst = (uint32_t)(launch->inst + s->at + 1);
	to->flags = EV_SYNTHETIC | EV_UNTIMED;
	to->ts_ns = piece(launch, s->at, s->n);
	to->dur_ns = 0;
	s->at++;
	put_int(w, made, STR("capture uid"), (int64_t)uid);
	put_int(w, made, STR("capture dur (ns)"), dur_ns);
	s->to[i] = made;
	forest_hang(w, made, place_of(s, i));
}

/* Each lasts to the end of the last one below it. */
static void
set_durations(struct forest *w, uint32_t first, uint32_t launch, size_t n)
{
	for (size_t at = n; at-- > 0;) {
		uint32_t i = first + (uint32_t)at;
		struct forest_node *v = w->nodes.v;
		int64_t end = piece(&v[launch], at + 1, n);
		uint32_t kid = v[i].last;

		if (kid != FOREST_NONE && v[kid].ts_ns + v[kid].dur_ns > end)
			end = v[kid].ts_ns + v[kid].dur_ns;
		v[i].dur_ns = end - v[i].ts_ns;
	}
}

static void
graft(struct job *job, const struct pairing *p, const struct choice *ch,
    size_t n, uint32_t launch)
{
	struct forest *w = job->w;
	struct scion s = { .ch = ch, .launch = launch, .n = n };
	uint32_t first = (uint32_t)w->nodes.n;

	s.to = xmalloc((ch->n + 1) * sizeof *s.to);
	for (size_t i = 0; i < ch->n; i++)
		s.to[i] = FOREST_NONE;
	for (size_t t = 0; t < p->root->tops.n; t++)
		for (uint32_t i = p->root->tops.v[t]; i != FOREST_NONE;
		     i = forest_next(ch->from, i, p->root->tops.v[t]))
			if (ch->is_wanted[i])
				copy_one(w, &s, i);
	set_durations(w, first, launch, n);
	for (size_t i = 0; i < p->ngpu; i++) {
		if (p->pair[i] == FOREST_NONE)
			continue;
		forest_unhook(w, p->gpu[i]);
		forest_hang(w, p->gpu[i], s.to[p->pair[i]]);
		job->stats->paired++;
	}
	job->stats->added += n;
	job->stats->grafted++;
	free(s.to);
}

/* A launch's GPU events, by time; owned. */
static uint32_t *
gpu_of(const struct forest *w, uint32_t launch, size_t *n)
{
	VEC(uint32_t) list = { 0 };

	for (uint32_t i = w->nodes.v[launch].kid; i != FOREST_NONE;
	     i = w->nodes.v[i].next)
		if (node_is(&w->nodes.v[i], KINDS_GPU) &&
		    (w->nodes.v[i].flags & EV_DUPLICATE) == 0)
			vec_push(&list, i);
	forest_sort(w, list.v, list.n);
	*n = list.n;
	return list.v;
}

static void
refuse(const struct job *job, uint32_t launch, enum reason why)
{
	report(MSG_NOT_GRAFTED, job->w->nodes.v[launch].id, report_reason(why));
}

static void
graft_launch(struct job *job, const struct capture_file *f,
    const struct capture_root *r, uint32_t launch)
{
	struct pairing p = { .replay = job->w,
		.capture = &f->tree,
		.root = r,
		.min_match = job->opts->min_match };
	struct choice ch = { .from = &f->tree, .n = f->tree.nodes.n };
	int64_t dur_ns = job->w->nodes.v[launch].dur_ns;
	uint32_t *gpu = gpu_of(job->w, launch, &p.ngpu);
	size_t n;

	p.gpu = gpu;
	p.pair = xmalloc((p.ngpu + 1) * sizeof *p.pair);
	ch.is_wanted = xcalloc(ch.n + 1, 1);
	job->stats->kernels += p.ngpu;
	if (!align(&p)) {
		refuse(job, launch, p.why);
	} else {
		want_paths(&ch, &p);
		n = count_wanted(&ch, r, job->opts->full_stack, true);
		if (dur_ns < (int64_t)n)
			n = count_wanted(&ch, r, false, false);
		if (dur_ns < (int64_t)n)
			refuse(job, launch, REASON_TOO_SHORT);
		else
			graft(job, &p, &ch, n, launch);
	}
	if (job->opts->verbose)
		note("graph launch %" PRIu64 ": %zu GPU events, %zu captured "
		     "launches of %s: %s",
		    job->w->nodes.v[launch].id, p.ngpu, r->launches.n, f->path,
		    p.how);
	free(ch.is_wanted);
	free(p.pair);
	free(gpu);
}

/* Grafts launches of one step, or of a source without steps. */
static void
graft_step(struct job *job, int64_t batch)
{
	struct capture_file *f;

	if (job->launches.n == 0)
		return;
	f = captures_for(job->c, batch, job->launches.n);
	if (f == NULL) {
		refuse(job, job->launches.v[0],
		    batch < 0 ? REASON_NO_BATCH : REASON_NO_CAPTURE);
		return;
	}
	if (f->roots.n == 0 ||
	    (f->roots.n > 1 && job->launches.n != f->roots.n &&
		(batch >= 0 || job->launches.n % f->roots.n != 0))) {
		report(MSG_CAPTURES_MISMATCH, f->path, f->roots.n,
		    job->w->nodes.v[job->launches.v[0]].id, job->launches.n);
		return;
	}
	for (size_t i = 0; i < job->launches.n; i++)
		graft_launch(
		    job, f, &f->roots.v[i % f->roots.n], job->launches.v[i]);
}

static bool
is_graph_launch(const struct forest *w, uint32_t i)
{
	return node_is(&w->nodes.v[i], KINDS_LAUNCH) &&
	    str_find(forest_name(w, i), STR("graphlaunch"), true) >= 0;
}

/* Finds the launches in a step; both are sorted by start. */
static void
find_launches(struct job *job, const uint32_t *v, size_t n,
    const struct iteration_span *s)
{
	const struct forest_node *nodes = job->w->nodes.v;
	size_t i;

	job->launches.n = 0;
	bisect(i, n, mid, nodes[v[mid]].ts_ns < s->start);
	for (; i < n && nodes[v[i]].ts_ns <= s->end; i++)
		if (num_add_max(nodes[v[i]].ts_ns, nodes[v[i]].dur_ns) <=
		    s->end)
			vec_push(&job->launches, v[i]);
}

void
graft_source(struct forest *w, struct captures *c,
    const struct iteration_span *steps, size_t nsteps,
    const struct graft_opts *opts, struct graft_stats *stats)
{
	struct job job = { .w = w, .c = c, .opts = opts, .stats = stats };
	VEC(uint32_t) all = { 0 };
	uint32_t n = (uint32_t)w->nodes.n;

	for (uint32_t i = 0; i < n; i++)
		if (is_graph_launch(w, i))
			vec_push(&all, i);
	stats->launches += all.n;
	forest_sort(w, all.v, all.n);
	for (size_t s = 0; s < nsteps; s++) {
		find_launches(&job, all.v, all.n, &steps[s]);
		graft_step(&job, steps[s].batch);
	}
	if (nsteps == 0) {
		for (size_t i = 0; i < all.n; i++)
			vec_push(&job.launches, all.v[i]);
		graft_step(&job, -1);
	}
	vec_free(&job.launches);
	vec_free(&all);
}

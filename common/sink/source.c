/* SPDX-License-Identifier: MIT */
/* The sources of all files that a sink reads, and what tells them apart. */
#include <stdlib.h>

#include "sink/source.h"

void
sink_sources_file(struct sink_sources *g, const char *path)
{
	g->file = g->list.n;
	g->is_stdin = strcmp(path, "-") == 0;
	g->path = g->is_stdin ? "stdin" : path;
}

struct sink_source *
sink_sources_of(struct sink_sources *g, uint32_t src)
{
	struct sink_source *o;

	/*
	 * events of a source are consecutive: the last source is the likely one
	 */
	for (size_t i = g->list.n; i-- > g->file;)
		if (g->list.v[i].src == src)
			return &g->list.v[i];
	o = vec_add(&g->list);
	*o = (struct sink_source){
		.path = g->path,
		.src = src,
		.no = (uint32_t)g->list.n - 1,
		.is_stdin = g->is_stdin,
		.is_asked = true,
	};
	return o;
}

struct sink_source *
sink_sources_source(
    struct sink_sources *g, const struct select *sel, const struct source *s)
{
	struct sink_source *o = sink_sources_of(g, s->src);
	const struct fact *from = source_fact(s, "rank_from");
	int64_t epoch;

	free(o->label);
	o->label = source_label(s, o->path);
	o->is_rocprof = source_is_api_trace(s);
	o->is_xla = source_is_xla(s);
	o->has_rank = source_int(s, "rank", &o->rank);
	o->is_rank_guess = from != NULL && str_eq(from->val.s, STR("order"));
	o->has_base = source_int(s, "base", &o->base_ns);
	o->has_epoch = source_int(s, "epoch", &epoch);
	if (o->has_epoch && !num_add(o->base_ns, epoch, &o->base_ns))
		o->has_base = false;
	o->has_window = source_int(s, "window_start", &o->window.start) &&
	    source_int(s, "window_end", &o->window.end);
	o->is_asked = select_source(sel, s);
	return o;
}

bool
sink_source_takes(struct sink_source *o, const struct event *ev, bool is_chosen,
    int64_t *end_ns)
{
	if (ev->flags & EV_DUPLICATE) {
		o->nduplicates++;
		return false;
	}
	o->ngpu++;
	if (ev->flags & EV_UNLINKED)
		o->nunlinked++;
	if ((ev->shape->has & HAS_TS) == 0)
		o->nuntimed++;
	if (!is_chosen || (ev->shape->has & HAS_TS) == 0)
		return false;
	if (!num_add(ev->ts_ns, ev->dur_ns, end_ns))
		die("%s: event %" PRIu64 ": its end is out of range", o->path,
		    ev->uid.id);
	o->work_ns = num_add_max(o->work_ns, ev->dur_ns);
	return true;
}

struct sink_source
sink_sources_sum(const struct sink_sources *g)
{
	struct sink_source sum = { .path = g->path };

	for (size_t i = 0; i < g->list.n; i++) {
		const struct sink_source *o = &g->list.v[i];

		if (!o->is_asked)
			continue;
		sum.ngpu += o->ngpu;
		sum.nunlinked += o->nunlinked;
		sum.nuntimed += o->nuntimed;
		sum.nduplicates += o->nduplicates;
		sum.nchosen += o->nchosen;
		sum.work_ns = num_add_max(sum.work_ns, o->work_ns);
		sum.nleft_out += o->nleft_out;
		sum.ncomm += o->ncomm;
		sum.comm_ns += o->comm_ns;
		sum.nops += o->nops;
	}
	return sum;
}

/* Whether ranks are guesses: each of several files would be rank 0. */
static bool
has_no_ranks(const struct sink_sources *g)
{
	for (size_t i = 0; i < g->list.n; i++) {
		const struct sink_source *o = &g->list.v[i];

		if (o->has_rank && (!o->is_rank_guess || o->rank != 0))
			return false;
	}
	return g->list.n > 1 || !g->list.v[0].has_rank;
}

void
sink_sources_check(const struct sink_sources *g)
{
	struct there_keys ranks = { 0 };
	struct buf b = { 0 };

	for (size_t i = 0; i < g->list.n; i++)
		if (g->list.v[i].is_asked)
			return;
	if (g->list.n == 0)
		return;
	if (has_no_ranks(g))
		die_nothing(MSG_NO_SUCH_RANK, g->path,
		    g->list.n > 1 ? "; the traces record no rank"
				  : "; the trace records no rank");
	for (size_t i = 0; i < g->list.n; i++)
		if (g->list.v[i].has_rank)
			there_meet_key(
			    &ranks, (struct key){ g->list.v[i].rank, KEY_INT });
	there_put_keys(&ranks, NULL, "rank", "s", &b);
	die_nothing(MSG_NO_SUCH_RANK, g->path, buf_str(&b));
}

void
sink_sources_check_gpu(const struct sink_sources *g, uint64_t nevents)
{
	const struct sink_source sum = sink_sources_sum(g);

	if (sum.ngpu == 0)
		die_nothing(MSG_NO_GPU_EVENTS, g->path, nevents);
	if (sum.nuntimed == sum.ngpu)
		die_nothing(MSG_NO_TIMED_GPU_EVENTS, g->path, sum.ngpu);
}

void
sink_sources_note(const struct sink_sources *g)
{
	for (size_t i = 0; i < g->list.n; i++) {
		const struct sink_source *o = &g->list.v[i];

		note("%s: %" PRIu64 " GPU events, %" PRIu64 " counted, %" PRIu64
		     " without a launch, %" PRIu64 " duplicates left out",
		    g->list.n == 1 ? o->path : sink_source_label(o), o->ngpu,
		    o->nchosen, o->nunlinked, o->nduplicates);
	}
}

enum sink_lead
sink_sources_lead(const struct sink_sources *g)
{
	struct map seen = { 0 };
	bool differ = true;
	size_t n = 0;

	for (size_t i = 0; i < g->list.n; i++) {
		const struct sink_source *o = &g->list.v[i];
		bool is_new = false;

		if (!o->is_asked)
			continue;
		n++;
		if (o->has_rank)
			(void)map_put(&seen, (uint64_t)o->rank, &is_new);
		differ = differ && is_new;
	}
	map_free(&seen);
	if (g->lead != SINK_LEAD_AUTO)
		return g->lead;
	return n < 2 ? SINK_LEAD_NONE : differ ? SINK_LEAD_RANK : SINK_LEAD_SRC;
}

const char *
sink_source_label(const struct sink_source *o)
{
	return o->label != NULL ? o->label : o->path;
}

const char *
sink_sources_label(const struct sink_sources *g, uint32_t no)
{
	return no < g->list.n ? sink_source_label(&g->list.v[no]) : g->path;
}

void
sink_sources_free(struct sink_sources *g)
{
	for (size_t i = 0; i < g->list.n; i++)
		free(g->list.v[i].label);
	vec_free(&g->list);
}

/* SPDX-License-Identifier: MIT */
/*
 * --clock cpu: how long each thread of the host worked. The answer for a trace
 * without GPU work, where there is no other timeline.
 */
#include <stdlib.h>

#include "cmd/tl-timeline/timeline.h"
#include "trace/process.h"

/* What a thread does; ranges of users and of the profiler are no work. */
enum work { WORK_OP, WORK_CALL, WORK_PYTHON, WORK_SLICE, WORK_COUNT };

#define KINDS_WORK (KINDS_HOST | KIND_BIT(KIND_PYTHON) | KIND_BIT(KIND_SLICE))

struct thread {
	uint32_t source, track;
	int64_t nevents;
	struct spans sets[WORK_COUNT];
	int64_t busy_ns;
	struct span whole; /* of its source */
};

struct host {
	struct settings *set;
	struct dict *dict;
	struct names *names;
	struct sink_sources sources;
	struct map by_track; /* source and track to index + 1 */
	VEC(struct thread) threads;
	uint64_t nevents;
};

/* ---- reading ---- */

static enum work
work_of(const struct event *ev)
{
	switch (ev->shape->kind) {
	case KIND_OP: return WORK_OP;
	case KIND_PYTHON: return WORK_PYTHON;
	case KIND_SLICE: return WORK_SLICE;
	default: return WORK_CALL;
	}
}

static struct thread *
thread_of(struct host *h, const struct sink_source *o, uint32_t track)
{
	uint64_t *slot =
	    map_put(&h->by_track, (uint64_t)o->no << 32 | track, NULL);

	if (*slot == 0) {
		vec_push(&h->threads,
		    ((struct thread){ .source = o->no, .track = track }));
		*slot = h->threads.n;
	}
	return &h->threads.v[*slot - 1];
}

static void
take_event(struct host *h, const struct event *ev)
{
	struct sink_source *o = sink_sources_of(&h->sources, ev->src);
	struct thread *t;
	int64_t end;

	if ((ev->shape->has & HAS_TS) == 0 || ev->dur_ns <= 0)
		return;
	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		die("%s: event %" PRIu64 ": its end is out of range", o->path,
		    ev->uid.id);
	t = thread_of(h, o, dict_thread(h->dict, ev->track));
	t->nevents++;
	o->nchosen++;
	spans_add(&t->sets[work_of(ev)], ev->ts_ns, end);
}

static void
read_file(struct host *h, const char *path)
{
	struct select *sel = &h->set->select;
	struct stream_in *in =
	    stream_open(path, h->dict, select_want(sel, WANT_LINKED));
	enum item item;

	stream_only(in, select_kinds(sel, KINDS_WORK) | KIND_BIT(KIND_META));
	select_start(sel, in);
	sink_sources_file(&h->sources, path);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(sel, in, item);

		if (item == ITEM_SOURCE)
			(void)sink_sources_source(
			    &h->sources, sel, &in->source);
		if (item != ITEM_EVENT)
			continue;
		if (in->ev.shape->kind == KIND_META)
			names_push(h->names, &in->ev);
		else if (is_chosen && event_is(&in->ev, KINDS_WORK))
			take_event(h, &in->ev);
	}
	h->nevents += in->nevents;
	stream_close(in);
}

/* ---- figures ---- */

static void
widen(struct span *whole, const struct spans *s)
{
	if (s->n == 0)
		return;
	if (whole->start > s->v[0].start)
		whole->start = s->v[0].start;
	if (whole->end < s->v[s->n - 1].end)
		whole->end = s->v[s->n - 1].end;
}

static void
finish_thread(struct thread *t, struct span *whole)
{
	struct spans all = { 0 }, sum = { 0 };

	for (int i = 0; i < WORK_COUNT; i++) {
		struct spans empty = all;

		spans_normalise(&t->sets[i]);
		widen(whole, &t->sets[i]);
		spans_union(&sum, &all, &t->sets[i]);
		all = sum;
		sum = empty;
	}
	t->busy_ns = spans_total(&all);
	spans_free(&all);
	spans_free(&sum);
}

static int
compare(const void *pa, const void *pb)
{
	const struct thread *a = pa, *b = pb;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	return a->track < b->track ? -1 : 1;
}

/* Unions, the whole of each source, sources that are asked for only. */
static void
finish(struct host *h)
{
	size_t nsources = h->sources.list.n, n = 0;
	struct span *wholes = xcalloc(nsources + 1, sizeof *wholes);

	for (size_t i = 0; i < nsources; i++)
		wholes[i] = (struct span){ INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < h->threads.n; i++) {
		struct thread *t = &h->threads.v[i];

		finish_thread(t, &wholes[t->source]);
	}
	for (size_t i = 0; i < h->threads.n; i++) {
		struct thread *t = &h->threads.v[i];

		t->whole = wholes[t->source];
		if (h->sources.list.v[t->source].is_asked)
			h->threads.v[n++] = *t;
	}
	h->threads.n = n;
	if (n > 0)
		qsort(h->threads.v, n, sizeof *h->threads.v, compare);
	free(wholes);
}

/* ---- rows ---- */

static const struct column columns[] = {
	{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "src", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "thread_name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "process_name", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "pid", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "tid", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "count", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "total_ns", "total_time ms", COL_INT, UNIT_NS, 0, 1e6 },
	{ "busy_ns", "busy_time ms", COL_INT, UNIT_NS, COL_SHARE, 1e6 },
	{ "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "op_ns", "op_time ms", COL_INT, UNIT_NS, 0, 1e6 },
	{ "call_ns", "call_time ms", COL_INT, UNIT_NS, COL_MINOR, 1e6 },
	{ "python_ns", "python_time ms", COL_INT, UNIT_NS, COL_MINOR, 1e6 },
	{ "slice_ns", "slice_time ms", COL_INT, UNIT_NS, COL_MINOR, 1e6 },
};
#define NCOLUMNS (sizeof columns / sizeof *columns)
#define NLEADS 2 /* rank and src: which one is there depends */

static struct cell
id_cell(struct table *t, const struct host *h, struct key k)
{
	char text[24];

	if (k.type == KEY_STR)
		return cell_text(
		    table_text(t, dict_get(h->dict, (uint32_t)k.n)));
	if (k.type != KEY_INT)
		return cell_none();
	return cell_text(
	    table_text(t, (struct str){ text, num_put_i64(text, k.n) }));
}

static void
put_thread(struct table *t, const struct host *h, const struct thread *th,
    enum sink_lead lead)
{
	const struct sink_source *o = &h->sources.list.v[th->source];
	const struct track *track = &h->dict->tracks.v[th->track];
	struct track_names names = names_of(h->names, th->track);
	int64_t total_ns = th->whole.end - th->whole.start;
	struct cell *c = table_row(t);

	if (lead != SINK_LEAD_NONE)
		*c++ = cell_int(lead == SINK_LEAD_RANK ? o->rank : o->no);
	*c++ = cell_text(dict_get(h->dict, names.thread));
	*c++ = cell_text(dict_get(h->dict, names.process));
	*c++ = id_cell(t, h, track->pid);
	*c++ = id_cell(t, h, track->tid);
	*c++ = cell_int(th->nevents);
	*c++ = cell_int(total_ns);
	*c++ = cell_int(th->busy_ns);
	*c++ = cell_real(100 * (double)th->busy_ns / (double)total_ns);
	for (int i = 0; i < WORK_COUNT; i++)
		*c++ = cell_int(spans_total(&th->sets[i]));
}

static void
print(struct host *h)
{
	enum sink_lead lead = sink_sources_lead(&h->sources);
	const struct column *first = columns +
	    (lead == SINK_LEAD_RANK         ? 0
		    : lead == SINK_LEAD_SRC ? 1
					    : NLEADS);
	struct column mine[NCOLUMNS];
	size_t n = 0;
	struct table *t;

	if (lead != SINK_LEAD_NONE)
		mine[n++] = *first;
	for (size_t i = NLEADS; i < NCOLUMNS; i++)
		mine[n++] = columns[i];
	t = table_create("host_timeline", mine, n);
	for (size_t i = 0; i < h->threads.n; i++)
		put_thread(t, h, &h->threads.v[i], lead);
	table_print(t, &h->set->dest);
	table_destroy(t);
	table_dest_finish(&h->set->dest);
}

/* ---- all of it ---- */

static void
check(const struct host *h)
{
	if (h->threads.n > 0)
		return;
	sink_sources_check(&h->sources);
	die_nothing(MSG_NO_HOST_TIME, h->sources.path, h->nevents);
}

void
host_check(const struct settings *set)
{
	table_dest_check(&set->dest, "host_timeline", columns, NCOLUMNS);
}

uint64_t
host_timeline(struct settings *set, struct optparse *op)
{
	struct host h = { .set = set, .dict = dict_create() };
	const char *path;

	h.names = names_create(h.dict);
	while ((path = opt_file(op)) != NULL)
		read_file(&h, path);
	finish(&h);
	check(&h);
	print(&h);
	for (size_t i = 0; i < h.threads.n; i++)
		for (int k = 0; k < WORK_COUNT; k++)
			spans_free(&h.threads.v[i].sets[k]);
	vec_free(&h.threads);
	map_free(&h.by_track);
	sink_sources_free(&h.sources);
	names_destroy(h.names);
	dict_destroy(h.dict);
	return h.nevents;
}

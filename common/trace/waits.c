/* SPDX-License-Identifier: MIT */
#include "trace/waits.h"

enum sync_what { SYNC_OTHER, SYNC_STREAM, SYNC_EVENT, SYNC_STREAM_WAIT };

/* ---- reading ---- */

void
waits_start(struct waits *w)
{
	w->list.n = w->rows.n = w->calls.n = 0;
	w->tells_streams = false;
}

static int64_t
arg_int(const struct dict *dict, const struct event *ev, struct str key)
{
	struct value v;

	return event_arg(dict, ev, key, &v) && v.type == VAL_INT ? v.i : -1;
}

static uint8_t
what_of(struct str name)
{
	return str_eq(name, STR("Stream Sync"))      ? SYNC_STREAM
	    : str_eq(name, STR("Event Sync"))        ? SYNC_EVENT
	    : str_eq(name, STR("Stream Wait Event")) ? SYNC_STREAM_WAIT
						     : SYNC_OTHER;
}

void
waits_take(struct waits *w, const struct dict *dict, const struct event *ev)
{
	struct sync_row row;

	if (ev->shape->kind != KIND_SYNC || ev->corr.type != KEY_INT)
		return;
	row = (struct sync_row){
		.corr = ev->corr.n,
		.record_corr =
		    arg_int(dict, ev, STR("wait_on_cuda_event_record_corr_id")),
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream,
		.wait_stream = { arg_int(dict, ev, STR("wait_on_stream")),
		    KEY_INT },
		.what = what_of(dict_get(dict, ev->name)),
	};
	w->tells_streams |=
	    row.what == SYNC_STREAM_WAIT && row.record_corr >= 0;
	if (row.what != SYNC_OTHER && row.corr >= 0)
		vec_push(&w->rows, row);
}

void
waits_take_heads(struct waits *w, const struct dict *dict,
    const struct event_head *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct shape *s = dict->shapes.v[v[i].shape];

		if ((KIND_BIT(s->kind) & KINDS_LAUNCH) != 0 && v[i].has_corr &&
		    (s->has & HAS_NGPU) == 0)
			vec_push(&w->calls,
			    ((struct quiet_call){
				v[i].corr, uid_hash(v[i].uid) }));
	}
}

/* ---- work by when it was launched ---- */

static int
stream_order(const struct launched *a, const struct launched *b)
{
	int order = key_cmp(a->dev, b->dev);

	return order != 0 ? order : key_cmp(a->gpu_stream, b->gpu_stream);
}

static int
launched_order(const void *x, const void *y)
{
	const struct launched *a = x, *b = y;
	int order = stream_order(a, b);

	if (order != 0)
		return order;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->gpu > b->gpu) - (a->gpu < b->gpu);
}

void
list_launched(
    launched_list *list, const struct host *h, bool streams, bool threads)
{
	list->n = 0;
	for (uint32_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];
		struct launched l = { .gpu = i };

		if (k->launch == HOST_NONE)
			continue;
		l.start_ns = h->events.v[k->launch].start_ns;
		if (threads)
			l.thread = h->events.v[k->launch].thread;
		if (streams) {
			l.dev = k->dev;
			l.gpu_stream = k->gpu_stream;
		}
		vec_push(list, l);
	}
	stable_sort(list->v, list->n, sizeof *list->v, launched_order);
}

/* The first of a GPU stream's that a thread launches from then on. */
static uint32_t
next_launched(const launched_list *list, const struct launched *want)
{
	size_t at;

	bisect(at, list->n, mid, launched_order(&list->v[mid], want) < 0);
	return at < list->n && stream_order(&list->v[at], want) == 0 &&
		list->v[at].thread == want->thread
	    ? list->v[at].gpu
	    : HOST_NONE;
}

/* The last of a GPU stream's that was launched by then. */
static uint32_t
last_launched(const launched_list *list, struct key dev, struct key gpu_stream,
    int64_t ns)
{
	const struct launched want = { dev, gpu_stream, 0, UINT32_MAX, ns };
	size_t at;

	bisect(at, list->n, mid, launched_order(&list->v[mid], &want) <= 0);
	return at > 0 && stream_order(&list->v[at - 1], &want) == 0
	    ? list->v[at - 1].gpu
	    : HOST_NONE;
}

/* ---- what rows say ---- */

struct finder {
	struct waits *w;
	struct host *h;
	launched_list by_stream, by_thread;
	struct map calls; /* correlation to event of those without work */
};

static void
find_calls(struct finder *f)
{
	const struct host *h = f->h;
	struct map events = { 0 }; /* hash of uid to event */

	for (size_t i = 0; i < h->events.n; i++)
		if (is_call(&h->events.v[i]) && h->events.v[i].ngpu == 0)
			*map_put(&events, uid_hash(h->events.v[i].uid), NULL) =
			    i;
	for (size_t i = 0; i < f->w->calls.n; i++) {
		const struct quiet_call *c = &f->w->calls.v[i];
		const uint64_t *at = map_get(&events, c->uid);

		if (at != NULL)
			*map_put(&f->calls, (uint64_t)c->corr, NULL) = *at;
	}
	map_free(&events);
}

static uint32_t
call_of(const struct finder *f, int64_t corr)
{
	const uint64_t *at = map_get(&f->calls, (uint64_t)corr);

	return at != NULL ? (uint32_t)*at : HOST_NONE;
}

/* The work that was waited for: of a stream what was launched there before, of
 * an event what its record follows. */
static uint32_t
awaited_by(const struct finder *f, const struct sync_row *row, uint32_t call)
{
	const struct host_event *v = f->h->events.v;
	uint32_t record;

	if (row->what == SYNC_STREAM)
		return last_launched(&f->by_stream, row->dev, row->gpu_stream,
		    v[call].start_ns - 1);
	record =
	    row->record_corr >= 0 ? call_of(f, row->record_corr) : HOST_NONE;
	return record == HOST_NONE ? HOST_NONE
				   : last_launched(&f->by_stream, row->dev,
					 row->wait_stream, v[record].start_ns);
}

/* The one of several that ended last delayed it. */
static void
set_awaited(struct host *h, uint32_t gpu, uint32_t from)
{
	uint32_t *awaits = &h->gpus.v[gpu].awaits;

	if (*awaits == HOST_NONE ||
	    h->gpus.v[from].end_ns > h->gpus.v[*awaits].end_ns)
		*awaits = from;
}

static void
add_row(struct finder *f, const struct sync_row *row)
{
	struct host *h = f->h;
	struct wait wait = { .call = call_of(f, row->corr), .to = HOST_NONE };
	const struct host_event *e;

	if (wait.call == HOST_NONE)
		return;
	wait.from = awaited_by(f, row, wait.call);
	if (wait.from == HOST_NONE)
		return;
	if (row->what == SYNC_STREAM_WAIT) {
		e = &h->events.v[wait.call];
		wait.to = next_launched(&f->by_thread,
		    &(struct launched){
			row->dev, row->gpu_stream, e->thread, 0, e->start_ns });
		if (wait.to == HOST_NONE ||
		    host_same_stream(
			&h->gpus.v[wait.from], &h->gpus.v[wait.to]))
			return;
		set_awaited(h, wait.to, wait.from);
	}
	vec_push(&f->w->list, wait);
}

void
waits_find(struct waits *w, struct host *h)
{
	struct finder f = { .w = w, .h = h };

	w->list.n = 0;
	if (w->rows.n == 0)
		return;
	find_calls(&f);
	list_launched(&f.by_stream, h, true, false);
	list_launched(&f.by_thread, h, true, true);
	for (size_t i = 0; i < w->rows.n; i++)
		add_row(&f, &w->rows.v[i]);
	map_free(&f.calls);
	vec_free(&f.by_stream);
	vec_free(&f.by_thread);
}

void
waits_free(struct waits *w)
{
	vec_free(&w->list);
	vec_free(&w->rows);
	vec_free(&w->calls);
}

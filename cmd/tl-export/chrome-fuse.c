/* SPDX-License-Identifier: MIT */
/*
 * chrome-fuse: ranks as TraceLens's trace fusion shows them. Each event has its
 * rank, and its ids before they were kept apart. A process is a rank's GPU or
 * CPU part: "RANK 3 - GPU" is below "RANK 3 - CPU", and both are below rank 2.
 * These names come last, because only then it is known which processes have GPU
 * work.
 */
#include "cmd/tl-export/chrome.h"

#include <stdio.h>
#include <stdlib.h>

struct fuse_process {
	uint32_t src;
	int64_t rank, pid;
	bool is_gpu;
};

struct fuse {
	VEC(struct fuse_process) list;
	VEC(struct map) at; /* by source: process to index */
};

static int64_t
rank_of(const struct origin *o, uint32_t src)
{
	return o->has_rank ? o->rank : (int64_t)src;
}

/* Whether we replace the event: names and positions of processes. */
bool
fuse_replaces(const struct chrome *x, const struct event *ev)
{
	static const struct str names[] = { STR_INIT("process_name"),
		STR_INIT("process_sort_index"), STR_INIT("process_labels") };
	struct str name;

	if (ev->shape->kind != KIND_META)
		return false;
	name = dict_get(x->st, ev->name);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

void
fuse_note(struct chrome *x, const struct origin *o, uint32_t src,
    const struct event *ev)
{
	const struct track *t = &x->st->tracks.v[ev->track];
	bool on_lane = o->is_foreign && chrome_is_on_lane(o, ev);
	bool is_gpu = event_is(ev, KINDS_GPU), is_new;
	int64_t pid = on_lane ? ev->dev.n : t->raw_pid.i;
	uint64_t *slot;

	if (ev->shape->kind == KIND_META || (ev->shape->has & HAS_TRACK) == 0 ||
	    (!on_lane && (!t->has_pid || t->raw_pid.type != VAL_INT)))
		return;
	if (x->fuse == NULL)
		x->fuse = xcalloc(1, sizeof *x->fuse);
	while (x->fuse->at.n <= src)
		vec_push(&x->fuse->at, ((struct map){ 0 }));
	slot = map_put(&x->fuse->at.v[src], (uint64_t)pid, &is_new);
	if (is_new) {
		*slot = x->fuse->list.n;
		vec_push(&x->fuse->list,
		    ((struct fuse_process){ src, 0, pid, false }));
	}
	x->fuse->list.v[*slot].is_gpu |= is_gpu;
}

static void
put_raw(struct chrome *x, const char *key, const struct value *v)
{
	chrome_put_key(x, key);
	value_put_json(&x->b, v);
}

void
fuse_put_args(struct chrome *x, const struct origin *o, uint32_t src,
    const struct plan *plan, const struct event *ev)
{
	const struct track *t = &x->st->tracks.v[ev->track];
	struct entries it = entries_of(x->st, ev);
	const struct part *part = plan->parts;

	chrome_put_key(x, "rank");
	json_put_i64(&x->b, rank_of(o, src));
	if ((ev->shape->has & HAS_TRACK) != 0 && t->has_pid)
		put_raw(x, "pid_raw", &t->raw_pid);
	for (; entries_next(&it); part++) {
		if (part->use == USE_ARG_ID)
			put_raw(x, "correlation_raw", &it.val);
		else if (part->use == USE_TOP_ID &&
		    str_eq(dict_get(x->st, it.entry->key), STR("id")))
			put_raw(x, "id_raw", &it.val);
	}
}

static int
by_rank(const void *pa, const void *pb)
{
	const struct fuse_process *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void
put_process(struct chrome *x, const struct fuse_process *p, const char *what,
    const char *member, const struct value *v)
{
	struct value pid = { .type = VAL_INT, .i = p->pid };
	struct buf *b = &x->b;

	chrome_next_event(x);
	buf_printf(b, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":", what);
	chrome_put_pid(x, b, &x->origins.v[p->src], p->src, &pid);
	buf_printf(b, ",\"tid\":0,\"args\":{\"%s\":", member);
	value_put_json(b, v);
	PUT(b, "}}");
}

/* Warns of sources with the same rank, which nothing keeps apart. */
static void
check_ranks(const struct fuse *f)
{
	for (size_t i = 1; i < f->list.n; i++) {
		const struct fuse_process *a = &f->list.v[i - 1];
		const struct fuse_process *b = &f->list.v[i];

		if (a->rank != b->rank || a->src == b->src)
			continue;
		report(MSG_RANKS_UNSEPARABLE, a->rank);
		return;
	}
}

void
fuse_finish(struct chrome *x)
{
	struct fuse *f = x->fuse;

	if (f == NULL)
		return;
	for (size_t i = 0; i < f->list.n; i++)
		f->list.v[i].rank =
		    rank_of(&x->origins.v[f->list.v[i].src], f->list.v[i].src);
	qsort(f->list.v, f->list.n, sizeof *f->list.v, by_rank);
	check_ranks(f);
	for (size_t i = 0; i < f->list.n; i++) {
		const struct fuse_process *p = &f->list.v[i];
		struct value name = { .type = VAL_STR };
		struct value place = { .type = VAL_INT };
		char text[48];
		int n = snprintf(text, sizeof text, "RANK %" PRId64 " - %s",
		    p->rank, p->is_gpu ? "GPU" : "CPU");

		name.s = (struct str){ text, (size_t)n };
		put_process(x, p, "process_name", "name", &name);
		/* a rank beyond 62 bits has no position */
		if (__builtin_mul_overflow(p->rank, 2, &place.i))
			place.i = p->rank;
		else
			place.i += p->is_gpu;
		put_process(x, p, "process_sort_index", "sort_index", &place);
	}
	vec_free(&f->list);
	for (size_t i = 0; i < f->at.n; i++)
		map_free(&f->at.v[i]);
	vec_free(&f->at);
	vec_release(f);
	x->fuse = NULL;
}

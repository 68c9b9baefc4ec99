/* SPDX-License-Identifier: MIT */
/*
 * Reduces a source to records. Other GPU work is not kept: each record has the
 * time the GPU was busy and idle since the previous collective of its group,
 * and on what (window.c): which ops and shapes (kernels.c), or what the host
 * was doing.
 */
#include "cmd/tl-collective/reduce.h"
#include "cmd/tl-collective/flight.h"

#include <stddef.h>
#include <stdlib.h>

#include "cmd/tl-collective/hlo.h"
#include "json/json.h"

/* Host events that may explain idle time; Python frames cost too much. */
#define KINDS_EXPLAIN \
	(KINDS_HOST | KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD))

/* texts beyond this are dropped before the next input */
#define TEXTS_MAX ((size_t)16 << 20)

/* ---- lanes ---- */

static bool
is_rank(struct key dev)
{
	return dev.type == KEY_INT && dev.n >= 0 && dev.n < GPUS_MAX;
}

static struct lane *
new_lane(struct reducer *r, struct key dev)
{
	struct lane *l;

	if (r->nlanes == r->lanes.n)
		vec_push(
		    &r->lanes, ((struct lane){ .kernels = kernels_new() }));
	l = &r->lanes.v[r->nlanes++];
	l->dev = dev;
	l->recs.n = l->gpus.n = l->compute.n = 0;
	l->windows.work.n = l->windows.began.n = l->windows.spent.n = 0;
	l->whole = (struct span){ INT64_MAX, INT64_MIN };
	kernels_clear(l->kernels, r->st);
	return l;
}

/* The first GPU uses the lane that exists. */
static struct lane *
lane_of(struct reducer *r, struct key dev)
{
	uint64_t *slot;
	bool is_new;

	if (!r->by_dev)
		return &r->lanes.v[0];
	slot = map_put(&r->lane_of, (uint64_t)dev.n, &is_new);
	if (is_new) {
		*slot = r->lane_of.n - 1;
		if (*slot > 0)
			(void)new_lane(r, dev);
		r->lanes.v[*slot].dev = dev;
	}
	return &r->lanes.v[*slot];
}

/* ---- facts ---- */

static struct str
text_fact(struct reducer *r, const struct source *s, const char *key)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL || f->val.s.p == NULL)
		return (struct str){ "", 0 };
	return arena_str(r->mem, f->val.s);
}

static void
take_facts(struct reducer *r, const struct source *s)
{
	const struct fact *from = source_fact(s, "rank_from");
	const struct fact *devs = source_fact(s, "devices");
	const struct fact *gpus = source_fact(s, "gpus");
	struct part *p = &r->part;
	json_items items = { 0 };
	int64_t version, nsteps;

	/* a process of JAX drives several GPUs, each a rank */
	r->by_dev |= source_is_xla(s) || gpus != NULL;
	if (gpus != NULL && gpus->val.s.p != NULL)
		p->ndevs = hlo_gpus(&r->gpu_of, r->mem, gpus->val.s);
	(void)source_int(s, "rank", &p->rank);
	p->rank_is_told = p->rank != NONE && from == NULL;
	p->rank_is_guess = from != NULL && str_eq(from->val.s, STR("order"));
	(void)source_int(s, "world_size", &p->world);
	(void)source_int(s, "base", &p->base_ns);
	(void)source_int(s, "epoch", &p->epoch_ns);
	p->name = text_fact(r, s, "name");
	p->host = text_fact(r, s, "hostname");
	if (devs != NULL && devs->val.s.p != NULL && p->ndevs == 0 &&
	    json_split(&items, r->mem, devs->val.s))
		p->ndevs = (int64_t)items.n;
	if (items.n > 0)
		p->device = link_device(r->mem, items.v[0].text);
	vec_free(&items);
	if (source_int(s, "collective", &version)) {
		if (version != PARTIAL_VERSION)
			die("%s: this partial has version %" PRId64
			    ", expected %d",
			    r->path, version, PARTIAL_VERSION);
		p->is_partial = true;
		(void)source_int(s, "ndevices", &p->ndevs);
		(void)source_int(s, "process", &p->process);
		(void)source_int(s, "gpu", &p->dev);
		p->device = text_fact(r, s, "device");
		p->groups = text_fact(r, s, "groups");
		if (source_int(s, "step_ns", &p->step_ns) &&
		    source_int(s, "steps", &nsteps) && nsteps > 0)
			p->nsteps = (uint64_t)nsteps;
		partial_names(r, source_fact(s, "names"));
	}
}

/* pg_config of distributedInfo, which may be text of an object. */
static void
take_meta(struct reducer *r, const struct meta *m)
{
	struct str s = m->fact.val.s;

	if (!str_eq(m->fact.key, STR("distributedInfo")) || s.p == NULL ||
	    str_find(s, STR("pg_config"), false) < 0)
		return;
	r->part.groups = arena_str(r->mem, s);
}

/* ---- events ---- */

uint32_t
reduce_signature(struct reducer *r, struct str text, size_t of_group)
{
	uint32_t id = intern_put(r->sigs, text);

	while (r->group_of.n <= id)
		vec_push(&r->group_of,
		    intern_put(
			r->group_keys, (struct str){ text.p, of_group }));
	return id;
}

static void
take_collective(struct reducer *r, struct lane *l, const struct event *ev)
{
	size_t of_group;
	struct rec rec = {
		.start_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.busy_ns = -1,
		.idle_ns = -1,
		.id = ev->uid.id,
	};

	if ((ev->shape->has & HAS_DUR) == 0) {
		r->part.nskipped++;
		return;
	}
	if (r->by_dev) {
		rec.sig = hlo_see(r->hlo, r->st, ev);
	} else {
		of_group = recognise_signature(
		    &r->rules, r->st, ev, &r->text, &rec.seq);
		rec.sig = reduce_signature(r, buf_str(&r->text), of_group);
	}
	vec_push(&l->recs, rec);
}

/* Of the text: numbers differ between ranks, and partials hold the hash. */
static uint64_t
text_hash(const struct dict *st, uint32_t id)
{
	return id != INTERN_NONE ? hash_same(dict_get(st, id)) : 0;
}

static void
take_work(
    struct reducer *r, struct lane *l, const struct event *ev, int64_t end_ns)
{
	uint32_t grid = INTERN_NONE;
	struct value v;

	if (ev->shape->kind != KIND_MEMCPY &&
	    bucket_of_event(&r->rules, r->st, ev) == BUCKET_COMPUTE)
		spans_add(&l->compute, ev->ts_ns, end_ns);
	if (event_arg(r->st, ev, STR("grid"), &v) && v.type == VAL_JSON)
		grid = v.id;
	kernels_add(l->kernels, ev, end_ns, grid);
	if (ev->shape->kind != KIND_KERNEL || ev->name == INTERN_NONE)
		return;
	vec_push(&l->windows.began,
	    ((struct began){ ev->ts_ns,
		(uint32_t)hash_mix(
		    text_hash(r->st, ev->name), text_hash(r->st, grid) | 1) }));
}

static void
take_gpu(struct reducer *r, const struct event *ev)
{
	struct lane *l;
	bool is_comm;
	int64_t end;

	if (r->by_dev && !is_rank(ev->dev))
		die("%s: event %" PRIu64 ": no GPU that can be a rank", r->path,
		    ev->uid.id);
	l = lane_of(r, ev->dev);
	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		die("%s: event %" PRIu64 ": its end is out of range", r->path,
		    ev->uid.id);
	is_comm = r->by_dev ? hlo_recognise(&r->rules, r->st, ev)
			    : recognise(&r->rules, r->st, ev);
	if (is_comm)
		take_collective(r, l, ev);
	else
		take_work(r, l, ev, end);
	if (ev->ts_ns < l->whole.start)
		l->whole.start = ev->ts_ns;
	if (end > l->whole.end)
		l->whole.end = end;
	host_add(&r->host, ev);
}

static void
take_event(struct reducer *r, const struct event *ev)
{
	if ((ev->shape->has & HAS_TS) == 0)
		return;
	if (!event_is(ev, KINDS_GPU)) {
		if (event_is(ev, KINDS_EXPLAIN))
			host_add(&r->host, ev);
		if (ev->shape->kind == KIND_OP)
			kernels_op(r->lanes.v[0].kernels, ev);
	} else if (r->part.is_partial) {
		partial_take(r, ev);
	} else {
		take_gpu(r, ev);
	}
}

/* ---- sources ---- */

static int
by_start(const void *pa, const void *pb)
{
	const struct rec *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void
begin_source(struct reducer *r, uint32_t src)
{
	r->is_open = true;
	r->part = (struct part){ .src = src,
		.dev = NONE,
		.rank = NONE,
		.world = NONE,
		.epoch_ns = NONE };
	arena_reset(r->mem, 0);
	intern_clear(r->sigs);
	intern_clear(r->group_keys);
	intern_clear(r->names);
	r->name_of.n = 0;
	map_free(&r->sig_of);
	map_free(&r->lane_of);
	map_free(&r->gpu_of);
	r->group_of.n = r->nlanes = r->exposed.n = 0;
	r->by_dev = false;
	(void)new_lane(r, (struct key){ 0 });
	hlo_clear(r->hlo);
	dump_begin(r->dump);
	host_start(&r->host, r->st, r->causes);
	r->host.by_corr = (r->in->marks & (MARK_TREE | MARK_LINKED)) == 0;
}

/* Hash of times and kernels, which differ between any two traces. */
static uint64_t
hash_of(const struct part *p)
{
	uint64_t hash = p->nrecs;

	if (p->flight.len > 0)
		return hash_bytes(p->flight.p, p->flight.len);

	for (size_t i = 0; i < p->nrecs; i++)
		hash = hash_mix(hash ^ HASH_K0 ^ p->recs[i].work,
		    hash_bytes(&p->recs[i], offsetof(struct rec, sig)));
	return p->nrecs == 0 ? 0 : hash ^ (uint64_t)p->base_ns;
}

/* Exposed times of a partial came in the order of its records. */
static void
find_exposed(struct reducer *r, struct lane *l)
{
	int_vec came = { 0 };

	if (!r->part.is_partial) {
		spans_normalise(&l->compute);
		vec_reserve(&r->exposed, l->recs.n + 1);
		exposed_fill(&l->compute, l->recs.v, l->recs.n, r->exposed.v);
		r->part.exposed = r->exposed.v;
	} else if (r->part.exposed != NULL) {
		came.v = r->exposed.v;
		r->exposed.v = r->part.exposed =
		    xmalloc(r->exposed.cap * sizeof *r->exposed.v);
		for (size_t i = 0; i < l->recs.n; i++)
			r->exposed.v[i] = came.v[l->recs.v[i].part];
		vec_free(&came);
	}
}

/* Steps of the process with most time in them. */
static void
find_steps(struct reducer *r, const struct lane *l)
{
	struct part *p = &r->part;

	p->nsteps = 0;
	p->step_ns = l->whole.end - l->whole.start;
	for (size_t i = 0; i < r->steps.processes.n; i++) {
		const struct step_process *of = &r->steps.processes.v[i];
		int64_t ns = 0;
		uint64_t n = 0;

		for (uint32_t k = 0; k < of->n; k++) {
			const struct step_window *w =
			    &r->steps.list.v[of->first + k];

			n += w->what == STEP_IS_STEP;
			if (w->what == STEP_IS_STEP)
				ns += w->end_ns - w->start_ns;
		}
		if (n > 0 && (p->nsteps == 0 || ns > p->step_ns)) {
			p->nsteps = n;
			p->step_ns = ns;
		}
	}
}

static void
put_lane(struct reducer *r, struct lane *l)
{
	struct part *p = &r->part;
	const uint32_t *gpus = r->by_dev ? l->gpus.v : NULL;

	stable_sort(l->recs.v, l->recs.n, sizeof *l->recs.v, by_start);
	if (l->recs.n > 0 && !p->is_partial) {
		gaps_find(&r->gaps, &r->host, gpus,
		    r->by_dev ? l->gpus.n : r->host.gpus.n, NULL);
		kernels_put(l->kernels, r->names, &l->windows.work);
		windows_fill(&l->windows, &r->host, &r->gaps, l->recs.v,
		    l->recs.n, r->group_of.v, r->group_keys->list.n, r->names);
		find_steps(r, l);
	}
	find_exposed(r, l);
	if (r->by_dev && l->dev.type == KEY_INT)
		p->dev = l->dev.n;
	p->is_idle = r->by_dev && l->dev.type != KEY_INT && !p->is_partial;
	p->nsigs = r->sigs->list.n;
	p->nnames = r->names->list.n;
	p->spent = l->windows.spent.v;
	p->nspent = l->windows.spent.n;
	p->recs = l->recs.v;
	p->nrecs = l->recs.n;
	p->hash = hash_of(p);
	part_put(r->out, p, r->sigs, r->names);
	p->nskipped = 0; /* warned of once per source */
}

static void
settle_hlo(struct reducer *r)
{
	size_t nseen = hlo_ready(r->hlo);
	struct hlo_signature *seen = xcalloc(nseen + 1, sizeof *seen);
	uint32_t *sigs = xcalloc(nseen + 1, sizeof *sigs);

	for (uint32_t i = 0; i < nseen; i++) {
		seen[i] = hlo_signature(r->hlo, i, &r->rules, &r->text);
		sigs[i] =
		    reduce_signature(r, buf_str(&r->text), seen[i].of_group);
	}
	for (size_t i = 0; i < r->nlanes; i++) {
		struct lane *l = &r->lanes.v[i];

		stable_sort(l->recs.v, l->recs.n, sizeof *l->recs.v, by_start);
		l->recs.n = hlo_join(
		    l->recs.v, l->recs.n, seen, sigs, &r->part.nskipped);
	}
	if (hlo_world(r->hlo) > 0)
		r->part.world = hlo_world(r->hlo);
	free(seen);
	free(sigs);
}

/* Renumbers lanes by pid to the GPUs' own numbers. */
static void
number_lanes(struct reducer *r)
{
	for (size_t i = 0; i < r->nlanes; i++) {
		struct key *dev = &r->lanes.v[i].dev;
		const uint64_t *gpu = map_get(&r->gpu_of, (uint64_t)dev->n);

		if (dev->type == KEY_INT && gpu != NULL)
			dev->n = (int64_t)*gpu;
	}
}

/* A process with one GPU is one rank, on any GPU of the node. */
static void
count_gpus(struct reducer *r)
{
	struct part *p = &r->part;

	p->ngpus = p->ndevs;
	for (size_t i = 0; i < r->nlanes; i++)
		if (r->lanes.v[i].dev.n >= p->ngpus)
			p->ngpus = r->lanes.v[i].dev.n + 1;
	if (r->nlanes == 1) {
		p->ngpus = 1;
		p->ndevs = 0;
	}
}

static void
end_source(struct reducer *r)
{
	bool has_recs = false;

	if (!r->is_open)
		return;
	r->is_open = false;
	if (r->by_dev) {
		settle_hlo(r);
		number_lanes(r);
		count_gpus(r);
	}
	for (size_t i = 0; i < r->nlanes; i++)
		has_recs |= r->lanes.v[i].recs.n > 0;
	if (has_recs && !r->part.is_partial) {
		host_ready(&r->host);
		steps_find(&r->steps, &r->host, NULL, 0);
	}
	for (size_t i = 0; i < r->host.gpus.n && r->by_dev; i++)
		vec_push(&lane_of(r, r->host.gpus.v[i].dev)->gpus, (uint32_t)i);
	r->part.flight = dump_put(r->dump);
	for (size_t i = 0; i < r->nlanes; i++)
		put_lane(r, &r->lanes.v[i]);
}

static void
at_source(struct reducer *r, uint32_t src)
{
	if (r->is_open && r->part.src == src)
		return;
	end_source(r);
	begin_source(r, src);
}

/* ---- inputs ---- */

struct reducer *
reducer_new(const struct settings *set)
{
	struct reducer *r = xcalloc(1, sizeof *r);

	r->set = set;
	r->st = dict_create();
	r->rules.patterns = set->rules.patterns;
	r->causes = set->causes;
	causes_clear(r->causes);
	r->hlo = hlo_new();
	r->dump = dump_reader_new();
	r->mem = arena_create();
	r->scratch = arena_create();
	r->sigs = intern_create();
	r->group_keys = intern_create();
	r->names = intern_create();
	return r;
}

static struct stream_in *
open_input(const struct reducer *r, const char *path, uint32_t no)
{
	const uint32_t kinds = KINDS_GPU | KINDS_EXPLAIN | KINDS_DUMP;
	struct stream_in *in;

	if (!select_front_is_on(&r->set->select))
		return stream_open_only(path, r->st, WANT_STREAM, kinds);
	in = select_front_open(&r->set->select, path, r->st, WANT_TREE, no);
	stream_only(in, kinds);
	return in;
}

void
reduce_input(struct reducer *r, const char *path, uint32_t no, struct buf *out)
{
	enum item item;

	r->path = path;
	r->out = out;
	if (intern_bytes(r->st->text) > TEXTS_MAX) {
		dict_clear(r->st);
		r->rules.known.n = 0;
		causes_clear(r->causes);
	}
	r->in = open_input(r, path, no);
	while ((item = stream_next(r->in)) != ITEM_END) {
		if (item == ITEM_SOURCE) {
			at_source(r, r->in->source.src);
			take_facts(r, &r->in->source);
		} else if (item == ITEM_META) {
			at_source(r, r->in->meta.src);
			take_meta(r, &r->in->meta);
			hlo_meta(r->hlo, &r->in->meta);
		} else if (item == ITEM_EVENT) {
			at_source(r, r->in->ev.src);
			take_event(r, &r->in->ev);
		}
		dump_item(r->dump, r->in, item);
	}
	end_source(r);
	stream_close(r->in);
}

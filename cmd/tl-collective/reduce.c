/* SPDX-License-Identifier: MIT */
/*
 * One source to its records. The GPU's other work is not kept: of it a record
 * knows how long the GPU was busy and idle since the collective before it in
 * its group (window.c), and what the host did when it was idle; the
 * source knows in which ops and shapes it computed longest (kernels.c).
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

#include "json/json.h"

/* Of the host, what may explain idle time; Python's frames cost too much. */
#define KINDS_EXPLAIN \
	(KINDS_HOST | KIND_BIT(KIND_ANNOTATION) | KIND_BIT(KIND_OVERHEAD))

struct reducer {
	const struct settings *set;
	/* of the input being read */
	const char *path;
	struct stream_in *in;
	struct dict *st;
	struct bucket_rules rules;
	part_vec *parts;
	/* of its source */
	bool is_open;
	struct part part;
	struct arena *mem;
	VEC(struct rec) recs;
	struct intern *sigs, *group_keys;
	VEC(uint32_t) group_of; /* signature to group key */
	VEC(uint32_t) sig_of;   /* number of a text to signature + 1 */
	struct windows windows;
	struct kernels *kernels;
	struct causes *causes;
	struct intern *host_names;
	struct buf text;
};

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
	struct part *p = &r->part;
	json_items items = { 0 };
	int64_t version;

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
	vec_free(&items);
	if (source_int(s, "collective", &version)) {
		if (version != PARTIAL_VERSION)
			die("%s: this partial is of version %" PRId64
			    ", known is %d",
			    r->path, version, PARTIAL_VERSION);
		p->is_partial = true;
		(void)source_int(s, "ndevices", &p->ndevs);
		p->groups = text_fact(r, s, "groups");
		p->kernels = text_fact(r, s, "kernels");
	}
}

/* pg_config of distributedInfo, which may be the text of an object. */
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

static uint32_t
signature(struct reducer *r, struct str text, size_t of_group)
{
	uint32_t id = intern_put(r->sigs, text);

	while (r->group_of.n <= id)
		vec_push(&r->group_of,
		    intern_put(
			r->group_keys, (struct str){ text.p, of_group }));
	return id;
}

static void
take_collective(struct reducer *r, const struct event *ev)
{
	size_t of_group;
	struct rec rec = {
		.start_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.busy_ns = -1,
		.idle_ns = -1,
		.host = HOST_NONE,
		.id = ev->uid.id,
	};

	if ((ev->shape->has & HAS_DUR) == 0) {
		r->part.nskipped++;
		return;
	}
	of_group =
	    recognise_signature(&r->rules, r->st, ev, &r->text, &rec.seq);
	rec.sig = signature(r, buf_str(&r->text), of_group);
	vec_push(&r->recs, rec);
}

static void
take_partial(struct reducer *r, const struct event *ev)
{
	struct rec rec = { .start_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.id = ev->uid.id,
		.host = HOST_NONE };
	struct value sig = { .type = VAL_NULL }, host = { .type = VAL_NULL };

	if (!partial_event(r->st, ev, &rec, &sig, &host))
		die("%s: event %" PRIu64 " is no record of a partial", r->path,
		    ev->uid.id);
	if (sig.type == VAL_JSON) {
		while (r->sig_of.n <= sig.id)
			vec_push(&r->sig_of, 0);
		if (r->sig_of.v[sig.id] == 0)
			r->sig_of.v[sig.id] = signature(r, sig.s, 0) + 1;
		rec.sig = r->sig_of.v[sig.id] - 1;
	} else {
		rec.sig = signature(r, sig.s, 0);
	}
	if (host.type == VAL_STR || host.type == VAL_STRX)
		rec.host = intern_put(r->host_names, host.s);
	vec_push(&r->recs, rec);
}

/* Of a text: its number differs from rank to rank. */
static uint64_t
text_hash(const struct dict *st, uint32_t id)
{
	return id != INTERN_NONE ? st->text->list.v[id].hash : 0;
}

static void
take_kernel(struct reducer *r, const struct event *ev)
{
	uint32_t grid = INTERN_NONE;
	struct value v;

	if (event_arg(r->st, ev, STR("grid"), &v) && v.type == VAL_JSON)
		grid = v.id;
	kernels_add(r->kernels, ev, grid);
	vec_push(&r->windows.began,
	    ((struct began){ ev->ts_ns,
		(uint32_t)hash_mix(
		    text_hash(r->st, ev->name), text_hash(r->st, grid) | 1) }));
}

static void
take_gpu(struct reducer *r, const struct event *ev)
{
	bool is_comm;
	int64_t end;

	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		die("%s: event %" PRIu64 ": its end is out of range", r->path,
		    ev->uid.id);
	is_comm = recognise(&r->rules, r->st, ev);
	if (is_comm)
		take_collective(r, ev);
	else
		spans_add(&r->windows.work, ev->ts_ns, end);
	host_add(&r->windows.host, ev);
	if (!is_comm && ev->shape->kind == KIND_KERNEL &&
	    ev->name != INTERN_NONE)
		take_kernel(r, ev);
}

static void
take_event(struct reducer *r, const struct event *ev)
{
	if ((ev->shape->has & HAS_TS) == 0)
		return;
	if (!event_is(ev, KINDS_GPU)) {
		if (event_is(ev, KINDS_EXPLAIN))
			host_add(&r->windows.host, ev);
		if (ev->shape->kind == KIND_OP)
			kernels_op(r->kernels, ev);
	} else if (r->part.is_partial) {
		take_partial(r, ev);
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
	r->mem = arena_create();
	r->part = (struct part){ .path = str_of(r->path),
		.src = src,
		.rank = NONE,
		.world = NONE,
		.epoch_ns = NONE };
	r->sigs = intern_create();
	r->group_keys = intern_create();
	r->host_names = intern_create();
	r->recs.v = NULL;
	r->recs.n = r->recs.cap = 0;
	r->group_of.n = r->sig_of.n = 0;
	r->windows.work.n = r->windows.began.n = 0;
	kernels_clear(r->kernels, r->st);
	host_start(&r->windows.host, r->st, r->causes);
	r->windows.host.by_corr =
	    (r->in->marks & (MARK_TREE | MARK_LINKED)) == 0;
}

/* What its texts are in the part, which lives longer than the strings. */
static const struct str *
keep_texts(struct reducer *r, const struct intern *from)
{
	struct str *texts = xcalloc(from->list.n + 1, sizeof *texts);

	for (size_t i = 0; i < from->list.n; i++)
		texts[i] = arena_str(r->mem, intern_get(from, (uint32_t)i));
	return texts;
}

static void
end_source(struct reducer *r)
{
	struct part *p = &r->part;

	if (!r->is_open)
		return;
	r->is_open = false;
	stable_sort(r->recs.v, r->recs.n, sizeof *r->recs.v, by_start);
	if (r->recs.n > 0 && !p->is_partial)
		windows_fill(&r->windows, r->recs.v, r->recs.n, r->group_of.v,
		    r->group_keys->list.n, r->host_names);
	if (!p->is_partial) {
		kernels_put(r->kernels, &r->text);
		p->kernels = arena_str(r->mem, buf_str(&r->text));
	}
	p->nsigs = r->sigs->list.n;
	p->sigs = keep_texts(r, r->sigs);
	p->nhosts = r->host_names->list.n;
	p->hosts = keep_texts(r, r->host_names);
	p->recs = r->recs.v;
	p->nrecs = r->recs.n;
	intern_destroy(r->sigs);
	intern_destroy(r->group_keys);
	intern_destroy(r->host_names);
	vec_push(r->parts, *p);
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
	r->rules.patterns = set->rules.patterns;
	r->kernels = kernels_new();
	r->causes = causes_create();
	return r;
}

static struct stream_in *
open_input(const struct reducer *r, const char *path)
{
	const uint32_t kinds = KINDS_GPU | KINDS_EXPLAIN;
	struct stream_in *in;

	if (!select_front_is_on(&r->set->select))
		return stream_open_only(path, r->st, WANT_STREAM, kinds);
	in = select_front_open(&r->set->select, path, r->st, WANT_TREE);
	stream_only(in, kinds);
	return in;
}

void
reduce_input(struct reducer *r, const char *path, part_vec *parts)
{
	enum item item;

	r->path = path;
	r->parts = parts;
	r->st = dict_create();
	r->rules.known.n = 0;
	causes_clear(r->causes);
	r->in = open_input(r, path);
	while ((item = stream_next(r->in)) != ITEM_END) {
		if (item == ITEM_SOURCE) {
			at_source(r, r->in->source.src);
			take_facts(r, &r->in->source);
		} else if (item == ITEM_META) {
			at_source(r, r->in->meta.src);
			take_meta(r, &r->in->meta);
		} else if (item == ITEM_EVENT) {
			at_source(r, r->in->ev.src);
			take_event(r, &r->in->ev);
		}
	}
	end_source(r);
	stream_close(r->in);
	dict_destroy(r->st);
}

/* SPDX-License-Identifier: MIT */
/*
 * One source to its records. The GPU's other work is not kept: of it a record
 * knows how long the GPU was busy and idle since the collective before it in
 * its group, and what the host did when it was idle; the source knows in which
 * ops and shapes it computed longest.
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

#include "json/json.h"

#define KERNELS_KEPT 48 /* of a source, by their total time */
/* An op of more kernels holds other work (a graph): these count by name. */
#define OP_KERNELS 16
#define HOST_MIN_NS 10000 /* of idle time that is worth a cause */

/* What ran: all calls of an op with a shape, or a kernel with its grid. */
struct total {
	uint32_t op;     /* in the strings, or INTERN_NONE */
	uint32_t shape;  /* the op's or the kernel's */
	uint32_t kernel; /* the longest */
	uint64_t count;
	int64_t sum_ns, longest_ns;
};

/* One kernel that is no collective. */
struct ran {
	struct key ext;
	int64_t dur_ns;
	uint32_t name, grid;
};

/* Of the host, what may explain idle time; Python's frames cost too much. */
#define KINDS_EXPLAIN (KINDS_HOST | KIND_BIT(KIND_ANNOTATION))

struct began {
	int64_t start_ns;
	uint32_t hash; /* of its name and grid; later the sum up to it */
};

struct reader {
	const struct settings *set;
	const char *path;
	struct strings *st;
	struct recogniser *names;
	part_vec *parts;
	/* the source being read */
	bool is_open, is_partial;
	struct part part;
	struct arena *mem;
	VEC(struct rec) recs;
	struct intern *sigs, *group_keys;
	VEC(uint32_t) group_of; /* signature to group key */
	VEC(uint32_t) sig_of;   /* number of a text to signature + 1 */
	struct spans work, comm;
	VEC(struct began) began;
	VEC(struct ran) ran;
	VEC(struct total) totals;
	struct map total_of[2]; /* of ops, of kernels */
	struct hosts *hosts;
	struct intern *host_names; /* of the source */
	struct buf text;
	struct str grid_key;
};

/* ---- facts ---- */

static bool
int_fact(const struct source *s, const char *key, int64_t *v)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL)
		return false;
	switch (f->val.type) {
	case VAL_INT: *v = f->val.i; return true;
	case VAL_NUM:
	case VAL_STRX:
	case VAL_STR: return num_i64(f->val.s, v);
	default: return false;
	}
}

static struct str
text_fact(struct reader *r, const struct source *s, const char *key)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL || f->val.s.p == NULL)
		return (struct str){ "", 0 };
	return arena_str(r->mem, f->val.s);
}

/* Elements of a list at the uppermost level. */
static int64_t
list_length(struct str list)
{
	struct buf b = { 0 };
	struct json j;
	enum json_token t;
	int64_t n = 0;

	buf_put(&b, list.p, list.len);
	buf_room(&b, IN_PAD);
	memset(b.p + b.len, 0, IN_PAD);
	json_start(&j, b.p, b.len);
	if (json_next(&j) == JSON_T_ARRAY) {
		while (
		    (t = json_next(&j)) > JSON_T_END && t != JSON_T_ARRAY_END) {
			n++;
			if ((t == JSON_T_OBJECT || t == JSON_T_ARRAY) &&
			    json_skip(&j) != JSON_OK)
				break;
		}
	}
	buf_free(&b);
	return n;
}

static void
take_facts(struct reader *r, const struct source *s)
{
	const struct fact *from = source_fact(s, "rank_from");
	const struct fact *devs = source_fact(s, "devices");
	struct part *p = &r->part;
	int64_t version;

	p->has_rank = int_fact(s, "rank", &p->rank);
	p->rank_is_guess = from != NULL && str_eq(from->val.s, STR("order"));
	p->has_world = int_fact(s, "world_size", &p->world);
	p->has_base = int_fact(s, "base", &p->base_ns);
	p->has_epoch = int_fact(s, "epoch", &p->epoch_ns);
	p->name = text_fact(r, s, "name");
	p->host = text_fact(r, s, "hostname");
	if (devs != NULL && devs->val.s.p != NULL && p->ndevs == 0)
		p->ndevs = list_length(devs->val.s);
	if (int_fact(s, "collective", &version)) {
		if (version != PARTIAL_VERSION)
			die("%s: this partial is of version %" PRId64
			    ", known is %d",
			    r->path, version, PARTIAL_VERSION);
		p->is_partial = true;
		(void)int_fact(s, "ndevices", &p->ndevs);
		p->groups = text_fact(r, s, "groups");
		p->kernels = text_fact(r, s, "kernels");
	}
}

/* pg_config of distributedInfo, which may be the text of an object. */
static void
take_meta(struct reader *r, const struct meta *m)
{
	struct str s = m->fact.val.s;

	if (!str_eq(m->fact.key, STR("distributedInfo")) || s.p == NULL ||
	    str_find(s, STR("pg_config"), false) < 0)
		return;
	r->part.groups = arena_str(r->mem, s);
}

/* ---- events ---- */

static void
count_kernel(struct reader *r, const struct event *ev)
{
	uint32_t grid = INTERN_NONE;
	struct value v;

	if (event_arg(r->st, ev, STR("grid"), &v) && v.type == VAL_JSON)
		grid = v.id;
	vec_push(
	    &r->ran, ((struct ran){ ev->ext, ev->dur_ns, ev->name, grid }));
	/* of the texts: numbers differ from rank to rank */
	struct str name = strings_get(r->st, ev->name);
	struct str g = strings_get(r->st, grid);
	uint64_t h =
	    hash_mix(hash_bytes(name.p, name.len), hash_bytes(g.p, g.len) | 1);

	vec_push(&r->began, ((struct began){ ev->ts_ns, (uint32_t)h }));
}

static uint32_t
signature(struct reader *r, struct str text, size_t of_group)
{
	uint32_t id = intern_put(r->sigs, text);

	while (r->group_of.n <= id)
		vec_push(&r->group_of,
		    intern_put(
			r->group_keys, (struct str){ text.p, of_group }));
	return id;
}

static void
take_collective(struct reader *r, const struct event *ev)
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
	of_group = recognise_signature(r->names, ev, &r->text, &rec.seq);
	rec.sig = signature(r, buf_str(&r->text), of_group);
	vec_push(&r->recs, rec);
}

static void
take_partial(struct reader *r, const struct event *ev)
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

static void
take_event(struct reader *r, const struct event *ev)
{
	bool is_comm;
	int64_t end;

	if ((ev->shape->has & HAS_TS) == 0)
		return;
	if (!event_is(ev, KINDS_GPU)) {
		if (event_is(ev, KINDS_EXPLAIN))
			hosts_event(r->hosts, ev);
		return;
	}
	if (r->part.is_partial) {
		take_partial(r, ev);
		return;
	}
	if (!num_add(ev->ts_ns, ev->dur_ns, &end))
		die("%s: event %" PRIu64 ": its end is out of range", r->path,
		    ev->uid.id);
	hosts_gpu(r->hosts, ev);
	is_comm = recognise(r->names, ev);
	if (is_comm)
		take_collective(r, ev);
	spans_add(is_comm ? &r->comm : &r->work, ev->ts_ns, end);
	if (!is_comm && ev->shape->kind == KIND_KERNEL &&
	    ev->name != INTERN_NONE)
		count_kernel(r, ev);
}

/* ---- what happened between ---- */

static int
by_start(const void *pa, const void *pb)
{
	const struct rec *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int
by_began(const void *pa, const void *pb)
{
	const struct began *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* Time covered before t: sums[i] is that of the spans before number i. */
static int64_t
covered(const struct spans *s, const int64_t *sums, int64_t t)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].start < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return 0;
	return sums[lo - 1] + (s->v[lo - 1].end < t ? s->v[lo - 1].end : t) -
	    s->v[lo - 1].start;
}

static int64_t *
running_sums(const struct spans *s)
{
	int64_t *sums = xcalloc(s->n + 1, sizeof *sums);

	for (size_t i = 0; i < s->n; i++)
		sums[i + 1] = sums[i] + (s->v[i].end - s->v[i].start);
	return sums;
}

/* The sum of the hashes of the kernels that started before t. */
static uint32_t
work_before(const struct reader *r, int64_t t)
{
	size_t lo = 0, hi = r->began.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->began.v[mid].start_ns < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? r->began.v[lo - 1].hash : 0;
}

/* What the host was in for most of the record's idle time. */
static void
find_host(struct reader *r, struct rec *rec, int64_t from)
{
	int64_t ns;
	uint32_t name = hosts_cause(r->hosts, from, rec->start_ns, &ns);

	if (name == INTERN_NONE)
		return;
	rec->host = intern_put(r->host_names, strings_get(r->st, name));
	rec->host_us =
	    ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

/* Each record's window: from the end before it in its group to its start. */
static void
fill_windows(struct reader *r)
{
	struct spans all = { 0 };
	int64_t *work_sums, *all_sums;
	int64_t *last = xcalloc(r->group_keys->list.n + 1, sizeof *last);

	for (size_t i = 0; i < r->group_keys->list.n; i++)
		last[i] = INT64_MIN;
	spans_normalise(&r->work);
	spans_normalise(&r->comm);
	spans_union(&all, &r->work, &r->comm);
	hosts_explain(r->hosts, &all);
	work_sums = running_sums(&r->work);
	all_sums = running_sums(&all);
	if (r->began.n > 0)
		qsort(r->began.v, r->began.n, sizeof *r->began.v, by_began);
	for (size_t i = 1; i < r->began.n; i++)
		r->began.v[i].hash += r->began.v[i - 1].hash;
	for (size_t i = 0; i < r->recs.n; i++) {
		struct rec *rec = &r->recs.v[i];
		int64_t *from = &last[r->group_of.v[rec->sig]];
		int64_t to = rec->start_ns;

		if (*from != INT64_MIN) {
			int64_t a = *from < to ? *from : to;

			rec->busy_ns = covered(&r->work, work_sums, to) -
			    covered(&r->work, work_sums, a);
			rec->idle_ns = to - a -
			    (covered(&all, all_sums, to) -
				covered(&all, all_sums, a));
			rec->work = work_before(r, to) - work_before(r, a);
			if (rec->idle_ns >= HOST_MIN_NS)
				find_host(r, rec, a);
		}
		if (rec_end(rec) > *from)
			*from = rec_end(rec);
	}
	free(work_sums);
	free(all_sums);
	free(last);
	spans_free(&all);
}

static int
by_sum(const void *pa, const void *pb)
{
	const struct total *a = pa, *b = pb;

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->shape != b->shape)
		return a->shape < b->shape ? -1 : 1;
	return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

static int
by_ext(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	if (a->ext.type != b->ext.type)
		return a->ext.type < b->ext.type ? -1 : 1;
	if (a->ext.n != b->ext.n)
		return a->ext.n < b->ext.n ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->grid < b->grid ? -1 : a->grid > b->grid;
}

static struct total *
total_of(struct reader *r, bool is_op, uint32_t name, uint32_t shape)
{
	bool is_new;
	uint64_t *slot = map_put(
	    &r->total_of[!is_op], (uint64_t)name << 32 | shape, &is_new);

	if (is_new) {
		*slot = r->totals.n;
		vec_push(&r->totals,
		    ((struct total){ .op = is_op ? name : INTERN_NONE,
			.shape = shape,
			.kernel = name }));
	}
	return &r->totals.v[*slot];
}

static void
add_kernel(struct total *t, const struct ran *k)
{
	if (!num_add(t->sum_ns, k->dur_ns, &t->sum_ns))
		t->sum_ns = INT64_MAX;
	if (k->dur_ns >= t->longest_ns) {
		t->longest_ns = k->dur_ns;
		t->kernel = k->name;
	}
}

/* Kernels with the same external id are of one call of an op. */
static void
sum_kernels(struct reader *r)
{
	if (r->ran.n > 0)
		qsort(r->ran.v, r->ran.n, sizeof *r->ran.v, by_ext);
	for (size_t i = 0, k; i < r->ran.n; i = k) {
		const struct ran *v = r->ran.v;
		uint32_t op, shape;
		bool is_op;

		for (k = i; k < r->ran.n && key_eq(v[k].ext, v[i].ext); k++)
			;
		is_op = k - i <= OP_KERNELS &&
		    hosts_op(r->hosts, v[i].ext, &op, &shape);
		if (is_op)
			total_of(r, true, op, shape)->count++;
		for (size_t m = i; m < k; m++) {
			struct total *t = is_op
			    ? total_of(r, true, op, shape)
			    : total_of(r, false, v[m].name, v[m].grid);

			add_kernel(t, &v[m]);
			t->count += !is_op;
		}
	}
}

static void
tell_kernels(struct reader *r)
{
	struct buf b = { 0 };

	sum_kernels(r);
	if (r->totals.n > 0)
		qsort(r->totals.v, r->totals.n, sizeof *r->totals.v, by_sum);
	buf_putc(&b, '[');
	for (size_t i = 0; i < r->totals.n && i < KERNELS_KEPT; i++) {
		const struct total *t = &r->totals.v[i];

		buf_puts(&b, i > 0 ? ",[" : "[");
		json_put_string(&b, strings_get(r->st, t->op));
		buf_putc(&b, ',');
		json_put_string(&b, strings_get(r->st, t->shape));
		buf_putc(&b, ',');
		json_put_string(&b, strings_get(r->st, t->kernel));
		buf_printf(
		    &b, ",%" PRIu64 ",%" PRId64 "]", t->count, t->sum_ns);
	}
	buf_putc(&b, ']');
	r->part.kernels = arena_str(r->mem, buf_str(&b));
	buf_free(&b);
}

/* ---- sources ---- */

static void
begin_source(struct reader *r, uint32_t src)
{
	r->is_open = true;
	r->mem = arena_create();
	r->part = (struct part){ .path = str_of(r->path), .src = src };
	r->sigs = intern_create();
	r->group_keys = intern_create();
	r->recs.v = NULL;
	r->recs.n = r->recs.cap = 0;
	r->group_of.n = r->sig_of.n = r->began.n = r->totals.n = 0;
	r->ran.n = 0;
	r->host_names = intern_create();
	hosts_clear(r->hosts);
	r->work.n = r->comm.n = 0;
	map_free(&r->total_of[0]);
	map_free(&r->total_of[1]);
}

static void
end_source(struct reader *r)
{
	struct part *p = &r->part;
	struct str *sigs, *hosts;

	if (!r->is_open)
		return;
	r->is_open = false;
	if (r->recs.n > 0)
		qsort(r->recs.v, r->recs.n, sizeof *r->recs.v, by_start);
	if (!p->is_partial) {
		fill_windows(r);
		tell_kernels(r);
	}
	p->nsigs = r->sigs->list.n;
	sigs = xcalloc(p->nsigs + 1, sizeof *sigs);
	for (size_t i = 0; i < p->nsigs; i++)
		sigs[i] = arena_str(r->mem, intern_get(r->sigs, (uint32_t)i));
	p->sigs = sigs;
	p->nhosts = r->host_names->list.n;
	hosts = xcalloc(p->nhosts + 1, sizeof *hosts);
	for (size_t i = 0; i < p->nhosts; i++)
		hosts[i] =
		    arena_str(r->mem, intern_get(r->host_names, (uint32_t)i));
	p->hosts = hosts;
	p->recs = r->recs.v;
	p->nrecs = r->recs.n;
	intern_destroy(r->sigs);
	intern_destroy(r->group_keys);
	intern_destroy(r->host_names);
	vec_push(r->parts, *p);
}

static void
at_source(struct reader *r, uint32_t src)
{
	if (r->is_open && r->part.src == src)
		return;
	end_source(r);
	begin_source(r, src);
}

void
reduce_input(const struct settings *set, const char *path, part_vec *parts)
{
	struct reader r = {
		.set = set, .path = path, .parts = parts, .st = strings_create()
	};
	struct stream_in *in = stream_open(path, r.st, WANT_STREAM);
	enum item item;

	r.names = recogniser_new(set, r.st);
	r.hosts = hosts_new(r.st);
	stream_only(in, KINDS_GPU | KINDS_EXPLAIN);
	while ((item = stream_next(in)) != ITEM_END) {
		if (item == ITEM_SOURCE) {
			at_source(&r, in->source.src);
			take_facts(&r, &in->source);
		} else if (item == ITEM_META) {
			at_source(&r, in->meta.src);
			take_meta(&r, &in->meta);
		} else if (item == ITEM_EVENT) {
			at_source(&r, in->ev.src);
			take_event(&r, &in->ev);
		}
	}
	end_source(&r);
	if (in->marks & MARK_SALVAGED)
		doubt("%s: this stream was salvaged: events are missing", path);
	stream_close(in);
	spans_free(&r.work);
	spans_free(&r.comm);
	vec_free(&r.began);
	vec_free(&r.totals);
	vec_free(&r.ran);
	map_free(&r.total_of[0]);
	map_free(&r.total_of[1]);
	hosts_free(r.hosts);
	strings_destroy(r.st);
}

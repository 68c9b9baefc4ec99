/* SPDX-License-Identifier: MIT */
/* The trees of a source in memory: lists of events below events. */
#include "trace/forest.h"

#include <stdlib.h>

#include "stream/maker.h"

void
forest_start(struct forest *f, struct dict *st)
{
	*f = (struct forest){
		.st = st, .first_root = FOREST_NONE, .last_root = FOREST_NONE
	};
}

void
forest_clear(struct forest *f)
{
	f->nodes.n = f->links.n = f->open.n = 0;
	f->gpus.n = 0;
	f->vals.len = 0;
	f->first_root = f->last_root = FOREST_NONE;
	map_free(&f->places);
}

void
forest_free(struct forest *f)
{
	vec_free(&f->nodes);
	vec_free(&f->links);
	vec_free(&f->open);
	vec_free(&f->gpus);
	map_free(&f->places);
	buf_free(&f->vals);
	buf_free(&f->scratch);
}

struct str
forest_name(const struct forest *f, uint32_t i)
{
	return dict_get(f->st, f->nodes.v[i].name);
}

/* Room for one more node, not set. */
static struct forest_node *
new_node(struct forest *f)
{
	if (UNLIKELY(f->nodes.n >= FOREST_NONE - 1))
		die("more than %u events of one source", FOREST_NONE - 1);
	return vec_add(&f->nodes);
}

static struct uid
uid_of(const struct forest_node *n)
{
	return (struct uid){ n->id, n->inst };
}

/* Most events have no link other than to the one above. */
static uint32_t
put_links(struct forest *f, const struct event *ev, uint32_t up)
{
	unsigned has = ev->shape->has;

	if ((has & (HAS_FWD | HAS_BWD)) == 0 &&
	    ((has & HAS_LAUNCH) == 0 ||
		(up != FOREST_NONE &&
		    uid_same(ev->launch, uid_of(&f->nodes.v[up])))))
		return 0;
	vec_push(
	    &f->links, ((struct forest_links){ ev->launch, ev->fwd, ev->bwd }));
	return (uint32_t)f->links.n;
}

uint32_t
forest_append(struct forest *f, const struct event *ev, uint32_t up)
{
	struct str vals = event_vals(ev, &f->scratch);
	uint32_t links = put_links(f, ev, up);

	*new_node(f) = (struct forest_node){
		.ts_ns = ev->ts_ns,
		.dur_ns = ev->dur_ns,
		.id = ev->uid.id,
		.vals = f->vals.len,
		.inst = ev->uid.inst,
		.vals_len = (uint32_t)vals.len,
		.shape = ev->shape_id,
		.track = ev->track,
		.name = ev->name,
		.up = up,
		.links = links,
		.ngpu = (uint32_t)ev->ngpu,
		.flags = (uint16_t)ev->flags,
		.kind = ev->shape->kind,
		.kid = FOREST_NONE,
		.last = FOREST_NONE,
		.next = FOREST_NONE,
	};
	buf_put(&f->vals, vals.p, vals.len);
	return (uint32_t)f->nodes.n - 1;
}

void
forest_add(struct forest *f, const struct event *ev, const char *file)
{
	uint32_t up, i;

	if (ev->depth > f->open.n)
		die("%s: event %" PRIu64 " is at depth %" PRIu32
		    ", but only %zu events are above it",
		    file, ev->uid.id, ev->depth, f->open.n);
	f->open.n = ev->depth;
	up = ev->depth > 0 ? f->open.v[ev->depth - 1] : FOREST_NONE;
	i = forest_append(f, ev, up);
	forest_hang(f, i, up);
	vec_push(&f->open, i);
	if (event_is(ev, KINDS_GPU))
		vec_push(&f->gpus, i);
}

void
forest_event_bare(const struct forest *f, uint32_t i, struct event *ev)
{
	const struct forest_node *n = &f->nodes.v[i];
	const struct track *t = &f->st->tracks.v[n->track];

	*ev = (struct event){
		.shape = f->st->shapes.v[n->shape],
		.shape_id = n->shape,
		.track = n->track,
		.src = t->src,
		.name = n->name,
		.uid = uid_of(n),
		.ts_ns = n->ts_ns,
		.dur_ns = n->dur_ns,
		.pid = t->pid,
		.tid = t->tid,
		.flags = n->flags,
		.ngpu = n->ngpu,
		.vals = n->vals_len > 0
		    ? (const unsigned char *)f->vals.p + n->vals
		    : NULL,
		.vals_len = n->vals_len,
	};
	if (n->up != FOREST_NONE)
		ev->parent = ev->launch = uid_of(&f->nodes.v[n->up]);
	if (n->links > 0) {
		const struct forest_links *links = &f->links.v[n->links - 1];

		ev->launch = links->launch;
		ev->fwd = links->fwd;
		ev->bwd = links->bwd;
	}
}

void
forest_event(const struct forest *f, uint32_t i, struct event *ev)
{
	forest_event_bare(f, i, ev);
	(void)!event_set_keys(f->st, ev);
}

/* ---- lists ---- */

/* The ends of the list below a node, or of the list of roots. */
struct ends {
	uint32_t *first, *last;
};

static struct ends
ends_below(struct forest *f, uint32_t up)
{
	struct forest_node *v = f->nodes.v;

	if (up == FOREST_NONE)
		return (struct ends){ &f->first_root, &f->last_root };
	return (struct ends){ &v[up].kid, &v[up].last };
}

void
forest_hang(struct forest *f, uint32_t i, uint32_t up)
{
	struct forest_node *v = f->nodes.v;
	struct ends list = ends_below(f, up);

	v[i].up = up;
	v[i].next = FOREST_NONE;
	if (*list.last == FOREST_NONE)
		*list.first = i;
	else
		v[*list.last].next = i;
	*list.last = i;
}

/* Replaces i in its list by another node, or by none. */
static void
replace(struct forest *f, uint32_t i, uint32_t by)
{
	struct forest_node *v = f->nodes.v;
	struct ends list = ends_below(f, v[i].up);
	uint32_t before = FOREST_NONE, behind = v[i].next;

	for (uint32_t k = *list.first; k != i; k = v[k].next)
		before = k;
	if (by != FOREST_NONE) {
		v[by].up = v[i].up;
		v[by].next = behind;
		behind = by;
	}
	if (before == FOREST_NONE)
		*list.first = behind;
	else
		v[before].next = behind;
	if (*list.last == i)
		*list.last = by != FOREST_NONE ? by : before;
	v[i].next = v[i].up = FOREST_NONE;
}

void
forest_unhook(struct forest *f, uint32_t i)
{
	replace(f, i, FOREST_NONE);
}

void
forest_put_above(struct forest *f, uint32_t i, uint32_t node)
{
	replace(f, node, i);
	forest_hang(f, node, i);
}

uint32_t
forest_depth(const struct forest *f, uint32_t i)
{
	uint32_t depth = 0;

	while ((i = f->nodes.v[i].up) != FOREST_NONE)
		depth++;
	return depth;
}

uint32_t
forest_next(const struct forest *f, uint32_t i, uint32_t top)
{
	const struct forest_node *v = f->nodes.v;

	if (v[i].kid != FOREST_NONE)
		return v[i].kid;
	while (i != top && v[i].next == FOREST_NONE)
		i = v[i].up;
	return i == top ? FOREST_NONE : v[i].next;
}

uint32_t
forest_behind(const struct forest *f, uint32_t i)
{
	const struct forest_node *v = f->nodes.v;

	for (; i != FOREST_NONE; i = v[i].up)
		if (v[i].next != FOREST_NONE)
			return v[i].next;
	return (uint32_t)f->nodes.n;
}

size_t
forest_first_gpu(const struct forest *f, uint32_t i)
{
	size_t at;

	bisect(at, f->gpus.n, mid, f->gpus.v[mid] < i);
	return at;
}

static int
by_time(const void *x, const void *y, void *arg)
{
	const struct forest_node *v = arg;
	const struct forest_node *a = &v[*(const uint32_t *)x];
	const struct forest_node *b = &v[*(const uint32_t *)y];

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return uid_cmp(uid_of(a), uid_of(b));
}

void
forest_sort(const struct forest *f, uint32_t *nodes, size_t n)
{
	if (n > 0)
		qsort_r(nodes, n, sizeof *nodes, by_time, f->nodes.v);
}

uint32_t
forest_find(struct forest *f, struct uid uid)
{
	const uint64_t *place;

	if (f->places.n == 0)
		for (uint32_t i = 0; i < f->nodes.n; i++)
			*map_put(&f->places, uid_hash(uid_of(&f->nodes.v[i])),
			    NULL) = i + 1;
	place = map_get(&f->places, uid_hash(uid));
	return place != NULL ? (uint32_t)*place - 1 : FOREST_NONE;
}

/* ---- new nodes ---- */

uint32_t
forest_copy(struct forest *f, const struct forest *from, uint32_t i)
{
	struct forest_node *to = new_node(f);
	const struct forest_node *n = &from->nodes.v[i];

	*to = *n;
	to->up = to->kid = to->last = to->next = FOREST_NONE;
	to->links = 0;
	to->vals = f->vals.len;
	buf_room(&f->vals, n->vals_len); /* from may be f */
	if (n->vals_len > 0)
		buf_put(&f->vals, from->vals.p + n->vals, n->vals_len);
	return (uint32_t)f->nodes.n - 1;
}

/* A copy of a node's event, without its arguments. */
static struct entries
begin_again(struct forest *f, uint32_t i, struct maker *m)
{
	struct event ev;

	*m = (struct maker){ .st = f->st };
	forest_event(f, i, &ev);
	maker_begin_like(m, &ev);
	return entries_of(f->st, &ev);
}

static void
end_again(struct forest *f, uint32_t i, struct maker *m)
{
	struct forest_node *to = &f->nodes.v[i];
	const struct event *ev = maker_end(m, uid_of(to));

	to->shape = ev->shape_id;
	to->vals = f->vals.len;
	to->vals_len = (uint32_t)ev->vals_len;
	if (ev->vals_len > 0)
		buf_put(&f->vals, ev->vals, ev->vals_len);
	maker_free(m);
}

void
forest_arg(struct forest *f, uint32_t i, struct str key, enum role role,
    const struct value *v)
{
	struct maker m;
	struct entries it = begin_again(f, i, &m);

	while (entries_next(&it))
		maker_entry(&m, it.entry, &it.val);
	maker_entry(&m,
	    &(struct entry){
		.key = intern_put(f->st->text, key),
		.type = (uint8_t)v->type,
		.group = GROUP_ARGS,
		.role = (uint8_t)role,
	    },
	    v);
	end_again(f, i, &m);
}

static bool
is_one_of(struct str s, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (str_eq(s, str_of(*keys)))
			return true;
	return false;
}

void
forest_keep_args(struct forest *f, uint32_t i, const char *const *keys)
{
	struct maker m;
	struct entries it = begin_again(f, i, &m);

	while (entries_next(&it))
		if (it.entry->group == GROUP_ARGS &&
		    is_one_of(dict_get(f->st, it.entry->key), keys))
			maker_entry(&m, it.entry, &it.val);
	end_again(f, i, &m);
}

/* ---- writing ---- */

struct below {
	uint64_t ndesc, ngpu;
};

/* Counts what is below each node: later nodes of the tree first. */
static struct below *
count(const struct forest *f, const uint32_t *order, size_t n)
{
	struct below *b = xcalloc(f->nodes.n + 1, sizeof *b);

	while (n-- > 0) {
		const struct forest_node *node = &f->nodes.v[order[n]];
		struct below *up;

		if (node->up == FOREST_NONE)
			continue;
		up = &b[node->up];
		up->ndesc += b[order[n]].ndesc + 1;
		up->ngpu += b[order[n]].ngpu + node_is(node, KINDS_GPU);
	}
	return b;
}

void
forest_write(const struct forest *f, struct stream_out *out)
{
	uint32_t *order = xmalloc((f->nodes.n + 1) * sizeof *order);
	uint32_t *depth = xcalloc(f->nodes.n + 1, sizeof *depth);
	struct below *below;
	size_t n = 0;

	for (uint32_t r = f->first_root; r != FOREST_NONE;
	     r = f->nodes.v[r].next)
		for (uint32_t i = r; i != FOREST_NONE; i = forest_next(f, i, r))
			order[n++] = i;
	below = count(f, order, n);
	for (size_t k = 0; k < n; k++) {
		uint32_t i = order[k], up = f->nodes.v[i].up;
		struct event ev;
		unsigned has;

		depth[i] = up != FOREST_NONE ? depth[up] + 1 : 0;
		forest_event(f, i, &ev);
		ev.depth = depth[i];
		ev.ndesc = below[i].ndesc;
		ev.ngpu = below[i].ngpu;
		has = ev.shape->has &
		    ~(unsigned)(HAS_PARENT | HAS_LAUNCH | HAS_FLAGS | HAS_INST |
			HAS_NDESC | HAS_NGPU);
		has |= HAS_DEPTH | (up != FOREST_NONE ? HAS_PARENT : 0) |
		    (ev.flags != 0 ? HAS_FLAGS : 0) |
		    (ev.uid.inst != 0 ? HAS_INST : 0) |
		    (ev.ndesc > 0 ? HAS_NDESC : 0) |
		    (ev.ngpu > 0 ? HAS_NGPU : 0);
		if (up != FOREST_NONE && event_is(&ev, KINDS_GPU) &&
		    (ev.flags & EV_UNLINKED) == 0)
			has |= HAS_LAUNCH;
		event_set_fields(f->st, &ev, has);
		stream_write(out, &ev);
	}
	free(order);
	free(depth);
	free(below);
}

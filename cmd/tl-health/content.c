/* SPDX-License-Identifier: MIT */
/* Do events say enough, and does equal work take equal time? */
#include "cmd/tl-health/health.h"

#include <math.h>

/* Bits about the text of a list. */
enum {
	TEXT_KNOWN = 1,
	TEXT_HAS_SIZE = 2,
	TEXT_IS_CUT = 4, /* the profiler cut its middle out */
};

/* ---- events, as they come ---- */

static unsigned
facts_of_text(struct str text)
{
	unsigned facts = TEXT_KNOWN;

	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] >= '0' && text.p[i] <= '9')
			facts |= TEXT_HAS_SIZE;
	if (str_find(text, STR("..."), false) >= 0)
		facts |= TEXT_IS_CUT;
	return facts;
}

/* There are few different lists: each is parsed once. */
static unsigned
text_facts(struct health *h, const struct value *v)
{
	if (v->type == VAL_JSONX || v->type == VAL_STRX)
		return facts_of_text(v->s);
	if (v->type != VAL_JSON && v->type != VAL_STR)
		return 0;
	while (h->texts.n <= v->id)
		vec_push(&h->texts, 0);
	if (h->texts.v[v->id] == 0)
		h->texts.v[v->id] = (uint8_t)facts_of_text(v->s);
	return h->texts.v[v->id];
}

struct op_more
content_of_op(struct health *h, const struct event *ev)
{
	struct value lists[OP_LISTS];

	if (!event_lists(h->dict, ev, lists))
		return (struct op_more){ 0 };
	return (struct op_more){
		.sizes = (text_facts(h, &lists[LIST_DIMS]) & TEXT_HAS_SIZE) != 0
		    ? lists[LIST_DIMS].id + 1
		    : 0,
		.has_types = lists[LIST_TYPES].type != VAL_NULL,
		.has_strides = lists[LIST_STRIDES].type != VAL_NULL,
		.is_cut =
		    (text_facts(h, &lists[LIST_CONCRETE]) & TEXT_IS_CUT) != 0,
	};
}

void
content_take_op(struct health *h, struct uid uid, const struct op_more *more)
{
	struct subject *s = &h->subject;

	if (more->sizes > 0)
		*map_put(&s->shaped, uid_hash(uid), NULL) = more->sizes;
	s->ntypes += more->has_types;
	s->nstrides += more->has_strides;
	if (more->is_cut)
		tally_event(&s->of[CHECK_CONTENT_CUT], uid, 0);
}

static struct gpu_args
args_of_shape(const struct health *h, const struct shape *shape)
{
	struct gpu_args a = { .is_known = true };

	for (uint32_t i = 0; i < shape->nentries; i++) {
		struct str key = dict_get(h->dict, shape->entries[i].key);
		uint32_t no = i + 1;

		if (shape->entries[i].group != GROUP_ARGS)
			continue;
		if (str_eq(key, STR("graph id")))
			a.graph = no;
		else if (str_eq(key, STR("grid")))
			a.grid = no;
		else if (str_eq(key, STR("block")))
			a.block = no;
		else if (str_eq(key, STR("hlo_op")))
			a.hlo = no;
	}
	return a;
}

/* What host.gpus lacks of a GPU event. */
struct gpu_more
content_of_gpu(struct health *h, const struct event *ev)
{
	struct gpu_more more = { .like = hash_u64(ev->name) };
	struct subject *s = &h->subject;
	struct gpu_args a;
	struct entries it;

	while (s->gpu_args.n <= ev->shape_id)
		vec_push(&s->gpu_args, ((struct gpu_args){ 0 }));
	if (!s->gpu_args.v[ev->shape_id].is_known)
		s->gpu_args.v[ev->shape_id] = args_of_shape(h, ev->shape);
	a = s->gpu_args.v[ev->shape_id];
	more.has_hlo = a.hlo > 0;
	if (a.graph == 0 && a.grid == 0 && a.block == 0)
		return more;
	for (it = entries_of(h->dict, ev); entries_next(&it);) {
		uint32_t no = (uint32_t)(it.entry - ev->shape->entries) + 1;

		if (no == a.graph && it.val.type == VAL_INT)
			more.graph = (uint64_t)it.val.i;
		else if (no == a.grid)
			more.like = hash_more(more.like, it.val.id);
		else if (no == a.block)
			more.like = hash_more(~more.like, it.val.id);
	}
	return more;
}

void
content_take_name(struct health *h, const struct event *ev)
{
	if ((name_facts(h, ev->name, NAME_OF_ANY) & NAME_IS_DAMAGED) != 0)
		tally_event(&h->subject.of[CHECK_CONTENT_NAMES], ev->uid, 0);
}

/* ---- equal work ---- */

#define SAMPLES 5
#define SHORTEST_NS 2000
#define UNSTABLE 0.75 /* standard deviation over mean */

/* Kernels of one name, launch configuration and sizes of their op. */
struct equals {
	uint64_t n;
	/* squares: sum of squared differences from the mean */
	double mean, squares;
	struct tally tally;
};

static void
equals_add(struct equals *g, const struct host_gpu *k)
{
	double ns = (double)(k->end_ns - k->start_ns), off = ns - g->mean;

	g->n++;
	g->mean += off / (double)g->n;
	g->squares += off * (ns - g->mean);
	tally_event(&g->tally, k->uid, k->end_ns - k->start_ns);
}

static bool
equals_count(const struct equals *g, uint64_t unit_ns)
{
	return g->n >= SAMPLES && g->mean >= SHORTEST_NS &&
	    g->mean >= 10 * (double)unit_ns;
}

/* The nearest op above a launch with its number of sizes; 0: none. */
static uint64_t
sizes_above(const struct subject *s, uint32_t launch, bool *has_op)
{
	const struct host_event *v = s->host.events.v;
	uint32_t up = launch;
	const uint64_t *sizes;

	while (up != HOST_NONE && v[up].kind != KIND_OP)
		up = host_up(&v[up]);
	*has_op = up != HOST_NONE;
	sizes = *has_op ? map_get(&s->shaped, uid_hash(v[up].uid)) : NULL;
	return sizes != NULL ? *sizes : 0;
}

static void
check_groups(struct health *h, const struct equals *v, size_t n)
{
	struct subject *s = &h->subject;
	struct tally t = { 0 };
	uint64_t unit = s->divisor >= 1000 ? s->divisor : 0;

	for (size_t i = 0; i < n; i++)
		if (equals_count(&v[i], unit) &&
		    sqrt(v[i].squares / (double)v[i].n) >= UNSTABLE * v[i].mean)
			tally_event(&t, v[i].tally.first, v[i].tally.ns);
	found(h, CHECK_CONTENT_UNSTABLE, &t,
	    percent_of((double)t.ns, (double)s->gpu_ns));
}

static void
check_kernels(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally *bare = &s->of[CHECK_CONTENT_NO_SHAPES];
	VEC(struct equals) groups = { 0 };
	struct map group_of = { 0 };
	int64_t of_ops = 0;

	for (size_t i = 0; i < s->host.gpus.n; i++) {
		const struct host_gpu *k = &s->host.gpus.v[i];
		uint64_t like = s->more.v[k->no].like, sizes = 0;
		bool has_op = false, is_new;
		uint64_t *at;

		if (k->launch != HOST_NONE)
			sizes = sizes_above(s, k->launch, &has_op);
		if (has_op) {
			of_ops = num_add_max(of_ops, k->end_ns - k->start_ns);
			if (sizes == 0)
				tally_event(
				    bare, k->uid, k->end_ns - k->start_ns);
		}
		/* collectives wait for their peers, copies have sizes */
		if (k->kind != KIND_KERNEL ||
		    (name_facts(h, k->name, NAME_OF_KERNEL) &
			NAME_IS_COLLECTIVE) != 0)
			continue;
		at = map_put(&group_of, hash_more(like, sizes), &is_new);
		if (is_new) {
			*at = groups.n;
			vec_push(&groups, ((struct equals){ 0 }));
		}
		equals_add(&groups.v[*at], k);
	}
	found(h, CHECK_CONTENT_NO_SHAPES, bare,
	    percent_of((double)bare->ns, (double)of_ops));
	check_groups(h, groups.v, groups.n);
	vec_free(&groups);
	map_free(&group_of);
}

/* ---- the whole ---- */

#define FEW_KERNELS 100
#define IDLE_PERCENT 30

static void
check_idle(struct health *h)
{
	const struct subject *s = &h->subject;
	struct tally t = { .n = 1 };
	double whole, share;

	if (s->busy.n == 0)
		return;
	whole =
	    (double)s->busy.v[s->busy.n - 1].end - (double)s->busy.v[0].start;
	t.n = s->busy.n - 1;
	t.ns = s->busy.v[s->busy.n - 1].end - s->busy.v[0].start -
	    spans_total(&s->busy);
	share = percent_of((double)t.ns, whole);
	if (share >= IDLE_PERCENT ||
	    share >= h->limits[CHECK_CONTENT_IDLE].warning)
		found(h, CHECK_CONTENT_IDLE, &t, share)->has_uid = false;
}

void
check_content(struct health *h)
{
	struct subject *s = &h->subject;
	struct tally none = { .ns = -1 };

	check_kernels(h);
	check_idle(h);
	if (s->ncalls > 0 && s->nops == 0)
		none.n = 1;
	found(h, CHECK_CONTENT_NO_OPS, &none, NAN);
	none.n = s->shaped.n > 0 && s->nstrides == 0 ? s->nops : 0;
	found(h, CHECK_CONTENT_NO_STRIDES, &none, NAN);
	none.n = s->shaped.n > 0 && s->ntypes == 0 ? s->nops : 0;
	found(h, CHECK_CONTENT_NO_TYPES, &none, NAN);
	/* only Kineto says whether it recorded stacks */
	none.n = s->is_chrome && s->nops > 0 && !s->has_stacks;
	found(h, CHECK_CONTENT_NO_STACKS, &none, NAN);
	none.n = s->ngpu < FEW_KERNELS ? s->ngpu : 0;
	found(h, CHECK_CONTENT_FEW, &none, NAN);
	found(h, CHECK_CONTENT_NO_HLO, &s->of[CHECK_CONTENT_NO_HLO],
	    percent_of(
		(double)s->of[CHECK_CONTENT_NO_HLO].ns, (double)s->gpu_ns));
	found(h, CHECK_CONTENT_CUT, &s->of[CHECK_CONTENT_CUT],
	    percent_of((double)s->of[CHECK_CONTENT_CUT].n, (double)s->nops));
	found(h, CHECK_CONTENT_NAMES, &s->of[CHECK_CONTENT_NAMES],
	    percent_of(
		(double)s->of[CHECK_CONTENT_NAMES].n, (double)s->nevents));
	found(h, CHECK_CONTENT_UNKNOWN, &s->of[CHECK_CONTENT_UNKNOWN],
	    percent_of(
		(double)s->of[CHECK_CONTENT_UNKNOWN].n, (double)s->nevents));
}

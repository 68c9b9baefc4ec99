/* SPDX-License-Identifier: MIT */
/* Finds the factor of each event by --what-if. */
#include "cmd/tl-critical/critical.h"

/* Which argument of --what-if matches a name: index + 1, or 0. */
struct known {
	struct program *g;
	struct map of[2]; /* of host events, of GPU events */
};

static uint32_t
factor_of(struct known *k, uint32_t name, bool is_gpu)
{
	struct str text = dict_get(k->g->sink.dict, name);
	bool is_new;
	uint64_t *at = map_put(&k->of[is_gpu], name, &is_new);

	if (is_new)
		there_meet(&k->g->other_names, k->g->what_globs.v,
		    k->g->what_globs.n, k->g->sink.dict, name);
	for (size_t i = 0; is_new && i < k->g->what_if.n; i++) {
		struct what_if *w = &k->g->what_if.v[i];

		if ((is_gpu ? w->of_gpu : w->of_host) &&
		    str_glob(w->glob, text)) {
			w->is_used = true;
			*at = i + 1;
			break;
		}
	}
	return (uint32_t)*at;
}

/* The earlier of two arguments. */
static uint32_t
first_of(uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/*
 * An annotation that crosses Python frames (`with record_function` begins
 * inside the frame of __enter__) has no children: events of its thread in its
 * time count as below it. For each argument, the latest end of the annotations
 * begun.
 */
typedef VEC(int64_t) end_list;

static uint32_t
under_overlays(const end_list *until, const struct host_event *e)
{
	for (size_t i = 0; i < until->n; i++)
		if (e->end_ns <= until->v[i])
			return (uint32_t)i + 1;
	return 0;
}

static void
begin_overlay(end_list *until, uint32_t what_if, int64_t end_ns)
{
	while (until->n < what_if)
		vec_push(until, INT64_MIN);
	if (what_if > 0 && end_ns > until->v[what_if - 1])
		until->v[what_if - 1] = end_ns;
}

/* Ancestors precede descendants. */
static void
scale_thread(struct known *known, const struct recording *r,
    const struct host_thread *t, uint32_t *of)
{
	end_list until = { 0 };

	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct host_event *e = &r->host.events.v[i];
		uint32_t *at = &of[number_of_host(r, i)];

		if (e->kind == KIND_OVERHEAD)
			continue;
		*at = first_of(factor_of(known, e->name, false),
		    under_overlays(&until, e));
		if (host_up(e) != HOST_NONE)
			*at = first_of(*at, of[number_of_host(r, e->up)]);
		if (e->is_overlay)
			begin_overlay(&until, *at, e->end_ns);
	}
	vec_free(&until);
}

static void
scale_recording(struct known *known, const struct recording *r, uint32_t *of)
{
	const struct host *h = &r->host;

	for (size_t i = 0; i < h->threads.n; i++)
		scale_thread(known, r, &h->threads.v[i], of);
	for (uint32_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];
		uint32_t *at = &of[number_of_gpu(r, i)];

		*at = factor_of(known, k->name, true);
		if (known->g->with_kernels && k->launch != HOST_NONE)
			*at = first_of(*at, of[number_of_host(r, k->launch)]);
		if (*at > 0 && k->tag == BUCKET_COMM)
			known->g->what_if.v[*at - 1].has_comm = true;
		else if (*at > 0)
			known->g->what_if.v[*at - 1].has_other = true;
	}
}

void
scale_find(struct program *g, uint32_t *of)
{
	struct known known = { .g = g };

	for (size_t i = 0; i < g->all.n; i++)
		scale_recording(&known, g->all.v[i], of);
	map_free(&known.of[0]);
	map_free(&known.of[1]);
}

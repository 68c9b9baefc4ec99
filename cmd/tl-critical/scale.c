/* SPDX-License-Identifier: MIT */
/* What --what-if asks for: the factor of each event. */
#include "cmd/tl-critical/critical.h"

/* Names, and what of --what-if they are like: its place + 1, or 0. */
struct known {
	struct program *g;
	struct map of[2]; /* of the host, of the GPU */
};

static uint32_t
factor_of(struct known *k, uint32_t name, bool is_gpu)
{
	struct str text = dict_get(k->g->sink.dict, name);
	bool is_new;
	uint64_t *at = map_put(&k->of[is_gpu], name, &is_new);

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

/* The one given first, of two that an event is under. */
static uint32_t
first_of(uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static void
scale_recording(struct known *known, const struct recording *r, uint32_t *of)
{
	const struct host *h = &r->host;

	/* those above stand before those below */
	for (uint32_t i = 0; i < h->events.n; i++) {
		const struct host_event *e = &h->events.v[i];
		uint32_t *at = &of[number_of_host(r, i)];

		if (e->kind == KIND_OVERHEAD)
			continue;
		*at = factor_of(known, e->name, false);
		if (e->up != HOST_NONE)
			*at = first_of(*at, of[number_of_host(r, e->up)]);
	}
	for (uint32_t i = 0; i < h->gpus.n; i++) {
		const struct host_gpu *k = &h->gpus.v[i];
		uint32_t *at = &of[number_of_gpu(r, i)];

		*at = factor_of(known, k->name, true);
		if (known->g->with_kernels && k->launch != HOST_NONE)
			*at = first_of(*at, of[number_of_host(r, k->launch)]);
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

/* SPDX-License-Identifier: MIT */
/*
 * Backward work by module. The autograd engine runs it on a thread of its own,
 * below no module; but each of its ops is linked to a forward op, which ran in
 * one. That may be known only later, so work is kept by its forward op until
 * the source ends. 24 bytes for each linked forward op in a module, 24 for each
 * GPU event below a backward op.
 */
#include <stdlib.h>

#include "cmd/tl-modules/modules.h"

/* An open backward op. */
struct open_op {
	uint32_t depth;
	uint64_t fwd;
};

/* GPU work below a backward op; its module once the source has ended. */
struct back_work {
	uint64_t fwd;
	struct span span;
};

struct backward {
	struct map module_of; /* forward op to its module's number */
	VEC(struct open_op) stack;
	VEC(struct back_work) works;
};

struct backward *
backward_create(void)
{
	return xcalloc(1, sizeof(struct backward));
}

void
backward_destroy(struct backward *b)
{
	if (b == NULL)
		return;
	map_free(&b->module_of);
	vec_free(&b->stack);
	vec_free(&b->works);
	free(b);
}

void
backward_close(struct backward *b, uint32_t depth)
{
	while (b->stack.n > 0 && b->stack.v[b->stack.n - 1].depth >= depth)
		b->stack.n--;
}

void
backward_host(struct backward *b, const struct event *ev, uint32_t module)
{
	if (module > 0 && (ev->shape->has & HAS_BWD) != 0)
		*map_put(&b->module_of, uid_hash(ev->uid), NULL) = module;
	if ((ev->shape->has & HAS_FWD) != 0)
		vec_push(&b->stack,
		    ((struct open_op){ ev->depth, uid_hash(ev->fwd) }));
}

void
backward_gpu(struct backward *b, const struct event *ev, int64_t end_ns)
{
	if (b->stack.n > 0)
		vec_push(&b->works,
		    ((struct back_work){ b->stack.v[b->stack.n - 1].fwd,
			{ ev->ts_ns, end_ns } }));
}

static int
by_module(const void *x, const void *y)
{
	const struct back_work *a = x, *b = y;

	return (a->fwd > b->fwd) - (a->fwd < b->fwd);
}

/* Replaces forward ops by their modules, and drops work without one. */
static void
resolve(struct backward *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->works.n; i++) {
		const uint64_t *module =
		    map_get(&b->module_of, b->works.v[i].fwd);

		if (module == NULL)
			continue;
		b->works.v[n] = b->works.v[i];
		b->works.v[n++].fwd = *module;
	}
	b->works.n = n;
	if (n > 0)
		qsort(b->works.v, n, sizeof *b->works.v, by_module);
}

/*
 * From the last module to the first, so that inner ones come before outer ones;
 * a union is added to the outer one as soon as it is made.
 */
void
backward_finish(struct backward *b, struct modules *m, size_t first)
{
	struct spans *sets = xcalloc(m->list.n - first + 1, sizeof *sets);
	size_t w;

	resolve(b);
	w = b->works.n;
	for (size_t i = m->list.n; i-- > first;) {
		struct module *mod = &m->list.v[i];
		struct spans *s = &sets[i - first];

		while (w > 0 && b->works.v[w - 1].fwd == i + 1) {
			w--;
			spans_add(s, b->works.v[w].span.start,
			    b->works.v[w].span.end);
		}
		spans_normalise(s);
		mod->bwd_ns = spans_total(s);
		if (mod->up > 0)
			for (size_t k = 0; k < s->n; k++)
				spans_add(&sets[mod->up - 1 - first],
				    s->v[k].start, s->v[k].end);
		spans_free(s);
	}
	free(sets);
	map_free(&b->module_of);
	b->stack.n = b->works.n = 0;
}

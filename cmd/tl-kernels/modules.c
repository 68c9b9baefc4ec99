/* SPDX-License-Identifier: MIT */
/*
 * The nn.Module's call above each kernel, with its GPU work: a stack of open
 * calls over the tree.
 */
#include "cmd/tl-kernels/kernels.h"

void
modules_close(struct kernels *k, uint32_t depth)
{
	struct module_stack *s = &k->open;

	while (s->open.n > 0 && s->open.v[s->open.n - 1].depth >= depth) {
		const struct open_module *top = &s->open.v[--s->open.n];
		struct module_call *call = &k->calls.v[top->number - 1];

		call->busy_ns = spans_unite(&s->work, top->first_work);
		if (s->open.n > 0)
			k->calls.v[s->open.v[s->open.n - 1].number - 1]
			    .kernels += call->kernels;
		else
			s->work.n = 0;
	}
}

/* Looked up once per name. */
static bool
is_module(struct kernels *k, uint32_t name)
{
	uint64_t *known;
	bool is_new;

	if (name == INTERN_NONE)
		return false;
	known = map_put(&k->open.names, name, &is_new);
	if (is_new)
		*known =
		    str_starts(dict_get(k->sink.dict, name), STR("nn.Module"));
	return *known != 0;
}

void
modules_host(struct kernels *k, const struct event *ev)
{
	if ((ev->shape->has & HAS_DEPTH) == 0)
		return;
	modules_close(k, ev->depth);
	if (ev->shape->kind != KIND_PYTHON || !is_module(k, ev->name))
		return;
	if (k->calls.n >= UINT32_MAX - 1)
		die("too many calls of modules");
	vec_push(&k->calls,
	    ((struct module_call){ .uid = ev->uid, .name = ev->name }));
	k->any_inst |= ev->uid.inst != 0;
	vec_push(&k->open.open,
	    ((struct open_module){ .depth = ev->depth,
		.number = (uint32_t)k->calls.n,
		.first_work = k->open.work.n }));
}

uint32_t
modules_work(struct kernels *k, const struct event *ev)
{
	struct module_stack *s = &k->open;
	uint32_t number;

	modules_close(k, event_is_owned(ev) ? ev->depth : 0);
	if (s->open.n == 0)
		return 0;
	number = s->open.v[s->open.n - 1].number;
	vec_push(&s->work,
	    ((struct span){ ev->ts_ns, num_add_max(ev->ts_ns, ev->dur_ns) }));
	k->calls.v[number - 1].kernels += ev->shape->kind == KIND_KERNEL;
	return number;
}

void
modules_free(struct kernels *k)
{
	vec_free(&k->calls);
	vec_free(&k->open.open);
	spans_free(&k->open.work);
	map_free(&k->open.names);
}

/* SPDX-License-Identifier: MIT */
/*
 * What launched a GPU event: the call, the op with its shapes, module, grid.
 * Equal ones are stored once.
 */
#include <stdlib.h>

#include "cmd/tl-html/lanes.h"
#include "trace/launcher.h"

/* An open host event. */
struct frame {
	uint32_t depth, name, lane;
	uint32_t dims; /* of an op */
	int64_t ts_ns;
	bool is_op, is_host, is_module;
};

struct origins {
	struct dict *dict;
	struct intern *keys;
	VEC(struct frame) open;
};

struct origins *
origins_new(struct dict *st)
{
	struct origins *o = xcalloc(1, sizeof *o);

	o->dict = st;
	o->keys = intern_create();
	return o;
}

void
origins_free(struct origins *o)
{
	vec_free(&o->open);
	intern_destroy(o->keys);
	free(o);
}

void
origins_close(struct origins *o, uint32_t depth)
{
	while (o->open.n > 0 && o->open.v[o->open.n - 1].depth >= depth)
		o->open.n--;
}

/* An event that launches nothing has nothing below. */
void
origins_open(struct origins *o, const struct event *ev, uint32_t lane)
{
	struct frame f = { .depth = ev->depth,
		.name = ev->name,
		.lane = lane,
		.dims = INTERN_NONE,
		.ts_ns = ev->ts_ns,
		.is_op = ev->shape->kind == KIND_OP,
		.is_host = event_is(ev, KINDS_HOST),
		.is_module = event_is_module(o->dict, ev) };

	if (ev->ngpu == 0)
		return;
	if (f.is_op)
		f.dims = args_of_event(o->dict, ev).dims;
	vec_push(&o->open, f);
}

static uint32_t
text_arg(const struct origins *o, const struct event *ev, struct str key)
{
	struct value v;

	if (!event_arg(o->dict, ev, key, &v))
		return INTERN_NONE;
	if (v.type == VAL_JSON)
		return v.id;
	return v.type == VAL_JSONX ? intern_put(o->dict->text, v.s)
				   : INTERN_NONE;
}

bool
origins_of(struct origins *o, const struct event *ev, struct lane_launch *to)
{
	struct origin of = { INTERN_NONE, INTERN_NONE, INTERN_NONE,
		text_arg(o, ev, STR("grid")), text_arg(o, ev, STR("block")) };
	const struct frame *launch = NULL;
	int64_t delay;

	for (size_t i = o->open.n; i-- > 0;) {
		const struct frame *f = &o->open.v[i];

		if (launch == NULL && f->is_host)
			launch = f;
		if (of.op == INTERN_NONE && f->is_op) {
			of.op = f->name;
			of.dims = f->dims;
		}
		if (f->is_module) {
			of.module = f->name;
			break;
		}
	}
	if (launch == NULL ||
	    __builtin_sub_overflow(ev->ts_ns, launch->ts_ns, &delay))
		return false;
	*to = (struct lane_launch){ delay, launch->lane,
		intern_put(
		    o->keys, (struct str){ (const char *)&of, sizeof of }) };
	return true;
}

struct origin
origins_get(const struct origins *o, uint32_t number)
{
	struct origin of;

	memcpy(&of, intern_get(o->keys, number).p, sizeof of);
	return of;
}

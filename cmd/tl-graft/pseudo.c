/* SPDX-License-Identifier: MIT */
/*
 * Pseudo-ops: ops for the steps of an op (experts, attention) that have models
 * of their own, put between it and its launches as rules in files of models say
 * (pseudo.lua; tl-models(5)).
 */
#include "model/pseudo.h"
#include "cmd/tl-graft/graft.h"

#define RULES_UNKNOWN UINT64_MAX

struct pseudos {
	struct forest *w;
	struct models *models;
	uint64_t made;
	VEC(uint64_t) rules[2]; /* by name: of ops, of frames */
	struct map insts;       /* by id: the last instance */
};

/* ---- putting in ---- */

static void
put_arg(struct forest *w, uint32_t i, const struct tree_arg *a)
{
	struct value v = { .type = VAL_STR };

	switch (a->val.type) {
	case MODEL_INT:
		v = (struct value){ .type = VAL_INT, .i = a->val.i };
		break;
	case MODEL_BOOL: v.type = a->val.yes ? VAL_TRUE : VAL_FALSE; break;
	default: v.id = intern_put(w->st->text, a->val.text); break;
	}
	forest_arg(w, i, a->key, ROLE_NONE, &v);
}

static void
put_list(struct forest *w, uint32_t i, struct str key, struct str json)
{
	struct value v = { .type = VAL_JSON };

	if (json.len == 0)
		return;
	v.id = intern_put(w->st->text, json);
	forest_arg(w, i, key, ROLE_NONE, &v);
}

/* Sets its autograd number: the donor's, else another event's uid. */
static void
put_sequence(struct forest *w, uint32_t i, uint32_t donor, uint32_t other)
{
	struct event ev;
	struct value v;

	forest_event(w, donor, &ev);
	if (!event_arg(w->st, &ev, STR("Sequence number"), &v) ||
	    v.type != VAL_INT)
		v = (struct value){ .type = VAL_INT,
			.i = (int64_t)w->nodes.v[other].id };
	forest_arg(w, i, STR("Sequence number"), ROLE_NONE, &v);
}

/* The next instance after those of the event. */
static uint32_t
next_inst(struct pseudos *p, uint64_t id)
{
	if (p->insts.n == 0)
		for (uint32_t i = 0; i < p->w->nodes.n; i++) {
			const struct forest_node *n = &p->w->nodes.v[i];
			uint64_t *last;

			if (n->inst == 0)
				continue;
			last = map_put(&p->insts, n->id, NULL);
			if (n->inst > *last)
				*last = n->inst;
		}
	return (uint32_t)++ * map_put(&p->insts, id, NULL);
}

/*
 * Makes a pseudo-op, in time at the place of `like`, with the donor's arguments
 * unless it has its own.
 */
static uint32_t
make(struct pseudos *p, const struct tree_action *a, uint32_t like,
    uint32_t other)
{
	static const char *const keys[] = { "Input Dims", "Input type",
		"Input Strides", "Concrete Inputs", NULL };
	bool is_own = a->dims.len > 0 || a->types.len > 0;
	struct forest *w = p->w;
	uint32_t inst = next_inst(p, w->nodes.v[like].id);
	uint32_t i = forest_copy(w, w, a->from);
	struct forest_node *n = &w->nodes.v[i];
	const struct forest_node *from = &w->nodes.v[like];

	n->name = intern_put(w->st->text, a->name);
	n->kind = KIND_OP;
	n->id = from->id;
	n->inst = inst;
	n->flags = (from->flags & (EV_RECOMPUTE | EV_UNTIMED)) | EV_SYNTHETIC;
	n->track = from->track;
	n->ts_ns = from->ts_ns;
	/* sinks that skip frames compare times: 0 would contain nothing */
	n->dur_ns = from->dur_ns > 0 ? from->dur_ns : 1;
	forest_keep_args(w, i, is_own ? keys + 4 : keys);
	put_sequence(w, i, a->from, other);
	put_arg(w, i,
	    &(struct tree_arg){
		STR("Pseudo op"), { .type = MODEL_BOOL, .yes = true } });
	p->made++;
	return i;
}

static void
put_args(struct pseudos *p, uint32_t i, const struct tree_action *a)
{
	put_list(p->w, i, STR("Input Dims"), a->dims);
	put_list(p->w, i, STR("Input type"), a->types);
	for (size_t k = 0; k < a->nargs; k++)
		put_arg(p->w, i, &a->args[k]);
}

/*
 * Puts a pseudo-op above the launch of one GPU event; false: it launched
 * others, too.
 */
static bool
wrap_launch(struct pseudos *p, const struct tree_action *a)
{
	struct forest *w = p->w;
	uint32_t launch = w->nodes.v[a->event].up, i;
	struct event ev;

	if (launch == FOREST_NONE ||
	    !node_is(&w->nodes.v[launch], KINDS_LAUNCH) ||
	    w->nodes.v[launch].kid != a->event ||
	    w->nodes.v[a->event].next != FOREST_NONE)
		return false;
	i = make(p, a, launch, a->from);
	forest_event(w, a->event, &ev);
	if (ev.corr.type == KEY_INT) {
		struct value v = { .type = VAL_INT, .i = ev.corr.n };

		forest_arg(w, i, STR("External id"), ROLE_EXT, &v);
	}
	put_args(p, i, a);
	forest_put_above(w, i, launch);
	return true;
}

static bool
wrap_children(struct pseudos *p, const struct tree_action *a)
{
	struct forest *w = p->w;
	uint32_t i = make(p, a, a->event, a->event);
	struct forest_node *v = w->nodes.v;

	v[i].kid = v[a->event].kid;
	v[i].last = v[a->event].last;
	for (uint32_t k = v[i].kid; k != FOREST_NONE; k = v[k].next)
		v[k].up = i;
	v[a->event].kid = v[a->event].last = FOREST_NONE;
	forest_hang(w, i, a->event);
	put_args(p, i, a);
	return true;
}

static bool
wrap(struct pseudos *p, const struct tree_action *a)
{
	uint32_t up = p->w->nodes.v[a->event].up, i;

	if (node_is(&p->w->nodes.v[a->event], KINDS_GPU))
		return false;
	i = make(p, a, a->event, up == FOREST_NONE ? a->event : up);
	put_args(p, i, a);
	forest_put_above(p->w, i, a->event);
	return true;
}

static bool
act(void *ctx, const struct tree_action *a)
{
	struct pseudos *p = ctx;

	switch (a->what) {
	case TREE_WRAP: return wrap(p, a);
	case TREE_WRAP_CHILDREN: return wrap_children(p, a);
	case TREE_WRAP_LAUNCH: return wrap_launch(p, a);
	case TREE_RENAME:
		p->w->nodes.v[a->event].name =
		    intern_put(p->w->st->text, a->name);
		return true;
	case TREE_SET: put_arg(p->w, a->event, a->args); return true;
	}
	return false;
}

/* ---- which events rules are for ---- */

static uint64_t
rules_of(struct pseudos *p, uint32_t i)
{
	const struct forest_node *n = &p->w->nodes.v[i];
	uint64_t *slot;

	if ((n->kind != KIND_OP && n->kind != KIND_PYTHON) ||
	    n->name == INTERN_NONE)
		return 0;
	while (p->rules[n->kind == KIND_PYTHON].n <= n->name)
		vec_push(&p->rules[n->kind == KIND_PYTHON], RULES_UNKNOWN);
	slot = &p->rules[n->kind == KIND_PYTHON].v[n->name];
	if (*slot == RULES_UNKNOWN)
		*slot = pseudo_rules(p->models, n->kind, forest_name(p->w, i));
	return *slot;
}

uint64_t
pseudo_ops(struct forest *w, struct models *models)
{
	struct pseudos p = { .w = w, .models = models };
	VEC(uint32_t) order = { 0 };

	for (uint32_t r = w->first_root; r != FOREST_NONE;
	     r = w->nodes.v[r].next)
		for (uint32_t i = r; i != FOREST_NONE; i = forest_next(w, i, r))
			if (rules_of(&p, i) != 0)
				vec_push(&order, i);
	pseudo_start(models, w);
	/* what is added must not hide events after it */
	for (size_t k = 0; k < order.n; k++)
		pseudo_run(
		    models, rules_of(&p, order.v[k]), order.v[k], act, &p);
	vec_free(&order);
	vec_free(&p.rules[0]);
	vec_free(&p.rules[1]);
	map_free(&p.insts);
	return p.made;
}

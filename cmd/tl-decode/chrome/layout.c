/* SPDX-License-Identifier: MIT */
/* From a path through the graph to a shape. */
#include "cmd/tl-decode/chrome/event.h"

struct layout {
	VEC(const struct node *) path; /* from the start */
	VEC(struct entry) entries;
	unsigned has;
	unsigned flags;
	bool in_args;
};

static void
add_entry(struct layout *l, uint32_t key, uint64_t type, enum group group)
{
	vec_push(&l->entries,
	    ((struct entry){ .key = key,
		.type = (uint8_t)(type & 0xff),
		.group = (uint8_t)group }));
}

/* Type of the entry that keep_repeated() made, or -1. */
static int
type_kept(enum field field, uint64_t code)
{
	switch (field) {
	case FIELD_PH: return code >= CODE_PH ? VAL_STR : -1;
	case FIELD_CAT: return code >= CODE_CAT ? VAL_STR : -1;
	case FIELD_PID:
	case FIELD_TID: return (int)(code & 0xff);
	case FIELD_NAME: return code == CODE_FIELD ? VAL_STR : -1;
	case FIELD_TS:
	case FIELD_DUR: return code == CODE_FIELD ? VAL_NUM : -1;
	default: return -1;
	}
}

/* A repeated fixed field: its earlier value is residue. */
static void
demote_field(struct layout *l, const struct node *n, unsigned has)
{
	const struct edge *by = n->by;
	int kept = type_kept(by->field, code_before(n->from, by->field));

	l->has &= ~has;
	if (has == HAS_DUR)
		l->has &= ~(unsigned)HAS_FLAGS;
	for (size_t i = 0; i < l->entries.n; i++) {
		struct entry *e = &l->entries.v[i];

		if (e->group == GROUP_TOP && e->key == by->key)
			e->group = GROUP_DUPTOP;
		if (e->group == GROUP_ARGS && by->field == FIELD_ARGS)
			e->group = GROUP_DUP;
	}
	if (by->field == FIELD_ARGS)
		l->flags &= ~(unsigned)SHAPE_ARGS;
	else if (kept >= 0)
		add_entry(l, by->key, (uint64_t)kept, GROUP_DUPTOP);
}

static void
layout_field(struct layout *l, const struct node *n)
{
	static const unsigned has_bits[] = { [FIELD_NAME] = HAS_NAME,
		[FIELD_TS] = HAS_TS,
		[FIELD_DUR] = HAS_DUR,
		[FIELD_ARGS] = 0 };
	unsigned has = has_bits[n->by->field];
	uint64_t code = n->code;

	if (n->by->action == ACTION_REPEATED)
		demote_field(l, n, has);
	if (code >= CODE_PH)
		return; /* phase and category: see struct key_path */
	if (code == CODE_ENTER) {
		l->flags |= SHAPE_ARGS;
		return;
	}
	if ((code & 0x300) != CODE_OPAQUE)
		l->has |= has;
	if ((code & 0x300) != CODE_FIELD)
		add_entry(l, n->by->key, code, GROUP_TOP);
	if ((code & CODE_CLAMPED) == CODE_CLAMPED)
		l->has |= HAS_FLAGS;
}

static void
set_roles(struct event_reader *r, struct layout *l, enum kind kind)
{
	const uint32_t on_gpu = KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) |
	    KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT);
	bool has_dev = false, has_stream = false;

	for (size_t i = 0; i < l->entries.n; i++) {
		struct entry *e = &l->entries.v[i];

		if (e->group != GROUP_ARGS)
			continue;
		e->role =
		    (uint8_t)role_of_key(dict_get(r->src->dict, e->key), kind);
		has_dev |= e->role == ROLE_DEV;
		has_stream |= e->role == ROLE_GPU_STREAM;
	}
	if ((on_gpu & KIND_BIT(kind)) == 0)
		return;
	if (!has_dev)
		l->flags |= SHAPE_DEV_PID;
	if (!has_stream)
		l->flags |= SHAPE_STREAM_TID;
}

/*
 * A slice of unknown kind: its category is no text, or missing beside a
 * correlation id, which calls and GPU work have.
 */
static bool
has_lost_category(const struct event_reader *r, const struct node *end,
    const struct shape *shape)
{
	uint64_t code = code_before(end, FIELD_CAT);

	if (shape->cat != INTERN_NONE) {
		if (dict_get(r->src->dict, shape->cat).len > 0)
			return false;
	} else if ((code & 0x300) == CODE_OPAQUE && (code & 0xff) != VAL_NULL) {
		return true;
	}
	for (size_t i = 0; i < shape->nentries; i++)
		if (shape->entries[i].role == ROLE_CORR)
			return true;
	return false;
}

static enum skip
skip_of(const struct event_reader *r, const struct node *end,
    const struct shape *shape)
{
	enum skip lost = skip_of_lost(
	    shape->kind, shape->ph, dict_get(r->src->dict, shape->cat));

	if (lost != SKIP_NONE)
		return lost;
	if (shape->kind == KIND_SLICE && has_lost_category(r, end, shape))
		return SKIP_CATEGORY;
	return skip_of_shape(shape->kind, shape->ph, shape->has);
}

struct leaf *
layout_leaf(struct event_reader *r, struct node *end, enum kind kind)
{
	struct layout l = { .has = HAS_TRACK };
	struct leaf *leaf = arena_alloc(r->mem, sizeof *leaf);
	struct key_path w = end->path;
	struct shape shape = { 0 };

	for (const struct node *n = end; n->from != NULL; n = n->from)
		vec_push(&l.path, n);
	for (size_t i = l.path.n; i-- > 0;) {
		const struct node *n = l.path.v[i];

		if (n->by->field == FIELD_NONE)
			add_entry(&l, n->by->key, n->code,
			    n->from->in_args ? GROUP_ARGS : GROUP_TOP);
		else if (n->by->field < FIELD_ARGS_END)
			layout_field(&l, n);
	}
	entries_demote_repeated(l.entries.v, l.entries.n);
	set_roles(r, &l, kind);
	shape.cat = (uint32_t)w.cat;
	shape.has = (uint16_t)l.has;
	shape.kind = (uint8_t)kind;
	shape.ph = w.ph < 0 ? 0 : (uint8_t)w.ph;
	shape.flags = (uint8_t)l.flags;
	shape.nentries = (uint32_t)l.entries.n;
	shape.entries = l.entries.v;
	*leaf = (struct leaf){
		.shape = dict_shape(r->src->dict, &shape),
		.kind = (uint8_t)kind,
		.skip = (uint8_t)skip_of(r, end, &shape),
		.asks = device_may_ask(
		    kind, dict_get(r->src->dict, (uint32_t)w.cat)),
	};
	vec_free(&l.path);
	vec_free(&l.entries);
	return leaf;
}

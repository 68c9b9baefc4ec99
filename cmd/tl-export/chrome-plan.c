/* SPDX-License-Identifier: MIT */
/*
 * chrome-plan: the text that all events of a shape share. A trace has few
 * shapes, so keys are escaped and phases checked only once each.
 */
#include "cmd/tl-export/chrome.h"

static const struct {
	struct str key;
	unsigned fix;
} fixed_members[] = {
	{ STR_INIT("ph"), FIX_PH },
	{ STR_INIT("cat"), FIX_CAT },
	{ STR_INIT("name"), FIX_NAME },
	{ STR_INIT("pid"), FIX_PID },
	{ STR_INIT("tid"), FIX_TID },
	{ STR_INIT("ts"), FIX_TS },
	{ STR_INIT("dur"), FIX_DUR },
	{ STR_INIT("args"), FIX_ARGS },
};

static unsigned
fix_of_key(struct str key)
{
	for (size_t i = 0; i < sizeof fixed_members / sizeof *fixed_members;
	     i++)
		if (str_eq(key, fixed_members[i].key))
			return fixed_members[i].fix;
	return 0;
}

static unsigned
fixed_of(const struct dict *st, const struct shape *s, bool *args_raw)
{
	unsigned fixed = FIX_PID | FIX_TID;

	fixed |= s->ph != 0 ? FIX_PH : 0;
	fixed |= s->cat != INTERN_NONE ? FIX_CAT : 0;
	fixed |= s->has & HAS_NAME ? FIX_NAME : 0;
	fixed |= s->has & HAS_TS ? FIX_TS : 0;
	fixed |= s->has & HAS_DUR ? FIX_DUR : 0;
	fixed |= s->flags & SHAPE_ARGS ? FIX_ARGS : 0;
	for (uint32_t i = 0; i < s->nentries; i++)
		if (s->entries[i].group == GROUP_ARGS)
			fixed |= FIX_ARGS;
	/* what was recorded takes precedence over what it means */
	for (uint32_t i = 0; i < s->nentries; i++) {
		unsigned fix;

		if (s->entries[i].group != GROUP_TOP)
			continue;
		fix = fix_of_key(dict_get(st, s->entries[i].key));
		fixed &= ~fix;
		*args_raw |= fix == FIX_ARGS;
	}
	return fixed;
}

/* Whether a member of args comes again later. */
static bool
comes_again(const struct shape *s, uint32_t i)
{
	for (uint32_t k = i + 1; k < s->nentries; k++)
		if (s->entries[k].group == GROUP_ARGS &&
		    s->entries[k].key == s->entries[i].key)
			return true;
	return false;
}

static enum use
use_of(const struct settings *set, struct str key, const struct shape *s,
    uint32_t i)
{
	switch (s->entries[i].group) {
	case GROUP_ARGS:
		return set->fuse && str_eq(key, STR("correlation")) &&
			!comes_again(s, i)
		    ? USE_ARG_ID
		    : USE_ARG;
	case GROUP_TOP:
		return str_eq(key, STR("id")) || str_eq(key, STR("bind_id"))
		    ? USE_TOP_ID
		    : USE_TOP;
	case GROUP_FIELD: return USE_FIELD;
	default: return USE_NONE; /* replaced by a later value */
	}
}

static void
set_head(struct chrome *x, struct plan *p, const struct shape *s)
{
	struct buf b = { 0 };

	if (p->fixed & FIX_PH) {
		/* a phase is one character of Latin-1 */
		char text[2] = { (char)s->ph };
		size_t n = 1;

		if (s->ph >= 0x80) {
			text[0] = (char)(0xc0 | s->ph >> 6);
			text[1] = (char)(0x80 | (s->ph & 0x3f));
			n = 2;
		}
		PUT(&b, ",\"ph\":");
		json_put_string(&b, (struct str){ text, n });
	}
	if (p->fixed & FIX_CAT) {
		PUT(&b, ",\"cat\":");
		json_put_string(&b, dict_get(x->st, s->cat));
	}
	p->head = arena_str(x->mem, buf_str(&b));
	buf_free(&b);
}

static void
set_parts(struct chrome *x, struct plan *p, const struct shape *s)
{
	struct buf b = { 0 };

	p->nparts = s->nentries;
	p->parts = arena_alloc(x->mem, s->nentries * sizeof *p->parts + 1);
	for (uint32_t i = 0; i < s->nentries; i++) {
		struct str key = dict_get(x->st, s->entries[i].key);
		enum use use = use_of(x->set, key, s, i);

		b.len = 0;
		buf_putc(&b, ',');
		json_put_string(&b, key);
		buf_putc(&b, ':');
		p->parts[i] = (struct part){ arena_str(x->mem, buf_str(&b)),
			(uint8_t)use };
		p->has_top |= use == USE_TOP || use == USE_TOP_ID;
		p->has_args |= use == USE_ARG || use == USE_ARG_ID;
		p->has_fields |= use == USE_FIELD;
	}
	buf_free(&b);
}

const struct plan *
chrome_new_plan(struct chrome *x, uint32_t shape_id)
{
	const struct shape *s = x->st->shapes.v[shape_id];
	struct plan *p = arena_alloc(x->mem, sizeof *p);

	*p = (struct plan){ 0 };
	p->fixed = fixed_of(x->st, s, &p->args_raw);
	set_head(x, p, s);
	set_parts(x, p, s);
	while (x->plans.n <= shape_id)
		vec_push(&x->plans, NULL);
	x->plans.v[shape_id] = p;
	return p;
}

/* SPDX-License-Identifier: MIT */
/* What is above an event: its parents, or their names as a call stack. */
#include "cmd/tl-tree/tree.h"

bool
view_uid(const struct forest *f, const char *text, struct uid *uid)
{
	struct uid_pick p;

	if (f->nodes.n == 0 || !uid_pick_read(str_of(text), &p))
		return false;
	*uid = p.uid;
	return p.any_src || p.src == f->st->tracks.v[f->nodes.v[0].track].src;
}

static uint32_t
find(struct forest *f, const char *text)
{
	struct uid uid;

	return view_uid(f, text, &uid) ? forest_find(f, uid) : FOREST_NONE;
}

static void
print_chain(
    const struct view *v, struct forest *f, uint32_t at, struct out *out)
{
	const struct dict *st = f->st;

	for (unsigned n = 0; at != FOREST_NONE; n++) {
		struct event ev;

		if (n == 0)
			out_puts(out, "Node:\n  ");
		else
			out_printf(out, "%u-up:\n  ", n);
		forest_event(f, at, &ev);
		line_event(out, st, &ev);
		out_puts(out, "\n");
		(void)line_fields(out, st, &ev, v, STR("    "));
		at = f->nodes.v[at].up;
	}
}

/* The forward op of the root above an event, or FOREST_NONE. */
static uint32_t
forward_of(struct forest *f, uint32_t at)
{
	struct event ev;

	while (f->nodes.v[at].up != FOREST_NONE)
		at = f->nodes.v[at].up;
	forest_event(f, at, &ev);
	return (ev.shape->has & HAS_FWD) != 0 ? forest_find(f, ev.fwd)
					      : FOREST_NONE;
}

uint64_t
print_up(const struct view *v, struct forest *f, struct out *out)
{
	static const char line[] = "==============================";
	uint32_t at = find(f, v->up), fwd;
	struct event ev;

	if (at == FOREST_NONE)
		return 0;
	print_chain(v, f, at, out);
	fwd = v->follow_fwd ? forward_of(f, at) : FOREST_NONE;
	if (fwd == FOREST_NONE)
		return 1;
	forest_event(f, fwd, &ev);
	out_printf(out,
	    "\n%s%s\nFollowing fwd_event link to forward call stack "
	    "(UID: %" PRIu64 ")\n%s%s\n",
	    line, line, ev.uid.id, line, line);
	print_chain(v, f, fwd, out);
	return 1;
}

static void
print_names(struct forest *f, uint32_t at, struct out *out)
{
	const struct dict *st = f->st;
	size_t max = SIZE_MAX;

	while (at != FOREST_NONE) {
		struct event ev;

		forest_event(f, at, &ev);
		line_name(out, dict_get(st, ev.name), max);
		out_puts(out, "\n");
		max = LINE_STACK_MAX;
		at = f->nodes.v[at].up;
	}
}

uint64_t
print_stack(const struct view *v, struct forest *f, struct out *out)
{
	uint32_t at = find(f, v->stack), fwd;

	if (at == FOREST_NONE)
		return 0;
	print_names(f, at, out);
	fwd = v->follow_fwd ? forward_of(f, at) : FOREST_NONE;
	if (fwd != FOREST_NONE) {
		out_puts(out, "[FWD]\n");
		print_names(f, fwd, out);
	}
	return 1;
}

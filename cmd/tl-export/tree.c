/* SPDX-License-Identifier: MIT */
/* Fields of tl-tree as members, for both formats. */
#include "cmd/tl-export/export.h"
#include "stream/ndjson.h"

static void
put_uid(tree_put_fn *put, void *ctx, const char *key, struct uid uid)
{
	char text[UID_MAX];
	struct value v = { .type = VAL_INT, .i = (int64_t)uid.id };

	if (uid.inst != 0)
		v = (struct value){ .type = VAL_STRX,
			.s = { text, uid_put(text, uid) } };
	put(ctx, key, &v);
}

static void
put_count(tree_put_fn *put, void *ctx, const char *key, uint64_t n)
{
	put(ctx, key, &(struct value){ .type = VAL_INT, .i = (int64_t)n });
}

void
tree_members(const struct event *ev, tree_put_fn *put, void *ctx)
{
	unsigned has = ev->shape->has;
	struct buf flags = { 0 };

	put_uid(put, ctx, "tl.id", ev->uid);
	if (has & HAS_DEPTH)
		put_count(put, ctx, "tl.depth", ev->depth);
	if (has & HAS_PARENT)
		put_uid(put, ctx, "tl.parent", ev->parent);
	if (has & HAS_LAUNCH)
		put_uid(put, ctx, "tl.launch", ev->launch);
	if (has & HAS_FWD)
		put_uid(put, ctx, "tl.fwd", ev->fwd);
	if (has & HAS_BWD)
		put_uid(put, ctx, "tl.bwd", ev->bwd);
	if (has & HAS_NDESC)
		put_count(put, ctx, "tl.ndesc", ev->ndesc);
	if (has & HAS_NGPU)
		put_count(put, ctx, "tl.ngpu", ev->ngpu);
	if (ev->flags == 0)
		return;
	words_put(&flags, ev->flags, event_flag_words, ",");
	put(ctx, "tl.flags",
	    &(struct value){ .type = VAL_STRX, .s = buf_str(&flags) });
	buf_free(&flags);
}

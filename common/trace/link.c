/* SPDX-License-Identifier: MIT */
/*
 * Launch to GPU event. A launch owns all GPU events of its correlation id, in
 * file order. Calls that can't launch own nothing. If several calls have one
 * id, a runtime call and the driver call within it count as the first one;
 * others are distinguished by order (link-shared.c). If launches carry no
 * correlation, arrows and external ids are used: link-flow.c.
 *
 * GPU events that the file has twice (device, stream, time, duration, name and
 * correlation agree) count once: all but the first are duplicates and are not
 * used for anything.
 */
#include "trace/link.h"
#include "trace/store-inside.h"

const char *const link_words[] = { "auto", "correlation", "ext", "flow", NULL };

/*
 * The GPU events by correlation: places in s->gpus + 1, open addressing. The
 * events of one id are a list through their gpu fields, headed by that of the
 * place here, in the order of the file.
 */
struct corr_table {
	struct store *s;
	uint32_t *slots;
	size_t mask, bytes;
	bool by_process; /* ids are those of one process */
	bool is_paged;
};

static bool
is_same(const struct corr_table *t, const struct corr *a, const struct corr *b)
{
	const struct held *items = t->s->items.v;
	const struct track *tracks = t->s->st->tracks.v;

	return a->n == b->n && a->type == b->type &&
	    (!t->by_process ||
		key_eq(tracks[items[a->item].track].pid,
		    tracks[items[b->item].track].pid));
}

/*
 * Where to look first. Ids ascend with time; where the table is not all in
 * memory those of 16 neighbours are kept together.
 */
static size_t
first_slot(const struct corr_table *t, const struct corr *c)
{
	if (LIKELY(!t->is_paged))
		return key_hash((struct key){ c->n, c->type }) & t->mask;
	return (key_hash((struct key){ c->n >> 4, c->type }) * 16 +
		   ((size_t)c->n & 15)) &
	    t->mask;
}

/* The slot of this correlation; empty if no GPU event has it. */
static uint32_t *
find_slot(const struct corr_table *t, const struct corr *c)
{
	size_t at = first_slot(t, c);

	while (t->slots[at] != 0 &&
	    !is_same(t, &t->s->gpus.v[t->slots[at] - 1], c))
		at = (at + 1) & t->mask;
	return &t->slots[at];
}

/* From last to first, so that lists are in file order. */
static void
fill_table(struct corr_table *t, struct store *s)
{
	size_t size = 16;

	while (size < s->gpus.n * 2)
		size *= 2;
	t->s = s;
	t->mask = size - 1;
	t->is_paged = page_is_on();
	t->slots = big_zeroes(&t->bytes, size * sizeof *t->slots);
	t->by_process = source_is_api_trace(&s->source);
	for (uint32_t k = (uint32_t)s->gpus.n; k-- > 0;) {
		const struct corr *c = &s->gpus.v[k];
		uint32_t *slot = find_slot(t, c);

		s->items.v[c->item].gpu =
		    *slot != 0 ? s->gpus.v[*slot - 1].item : STORE_NONE;
		*slot = k + 1;
	}
}

/* ---- duplicates ---- */

static uint64_t
copy_hash(const struct held *it)
{
	uint64_t h =
	    hash_more(hash_u64((uint64_t)it->ts_ns), (uint64_t)it->dur_ns);

	return hash_more(h, it->name);
}

static bool
is_copy(const struct store *s, uint32_t a, uint32_t b)
{
	const struct held *x = &s->items.v[a], *y = &s->items.v[b];
	struct event ex, ey;

	if (x->ts_ns != y->ts_ns || x->dur_ns != y->dur_ns ||
	    x->name != y->name)
		return false;
	item_event(s, a, &ex);
	item_event(s, b, &ey);
	return key_eq(ex.dev, ey.dev) && key_eq(ex.gpu_stream, ey.gpu_stream);
}

/* Whether an equal one was seen; remembers it. */
static bool
was_seen(const struct store *s, struct map *seen, uint32_t i)
{
	for (uint64_t h = copy_hash(&s->items.v[i]);; h++) {
		bool is_new;
		uint64_t *slot = map_put(seen, h, &is_new);

		if (is_new) {
			*slot = i;
			return false;
		}
		if (is_copy(s, (uint32_t)*slot, i))
			return true;
	}
}

static void
mark_duplicate(struct store *s, uint32_t i, struct link_stats *stats)
{
	s->items.v[i].flags |= EV_DUPLICATE;
	stats->duplicates++;
}

/* Removes the duplicates from one correlation's list. */
static void
drop_from_list(struct store *s, uint32_t first, struct link_stats *stats)
{
	struct held *v = s->items.v;
	struct map seen = { 0 };
	uint32_t i = first, next;

	(void)was_seen(s, &seen, first);
	while ((next = v[i].gpu) != STORE_NONE) {
		if (was_seen(s, &seen, next)) {
			mark_duplicate(s, next, stats);
			v[i].gpu = v[next].gpu;
			v[next].gpu = STORE_NONE;
		} else {
			i = next;
		}
	}
	map_free(&seen);
}

static void
drop_duplicates(struct corr_table *t, struct link_stats *stats)
{
	struct store *s = t->s;
	struct map seen = { 0 };

	for (uint32_t k = 0; k < s->gpus.n; k++) {
		const struct corr *c = &s->gpus.v[k];

		/* the first one of several */
		if (s->items.v[c->item].gpu != STORE_NONE &&
		    *find_slot(t, c) == k + 1)
			drop_from_list(s, c->item, stats);
	}
	for (size_t k = 0; k < s->loose.n; k++)
		if (was_seen(s, &seen, s->loose.v[k]))
			mark_duplicate(s, s->loose.v[k], stats);
	map_free(&seen);
}

/* ---- links ---- */

bool
link_launches_nothing(struct str name)
{
	static const char *const patterns[] = {
		"*Synchronize*",
		"*EventCreate*",
		"*EventDestroy*",
		"*EventElapsedTime*",
		"*EventQuery*",
		"*EventRecord*",
		"*StreamCreate*",
		"*StreamDestroy*",
		"*StreamIsCapturing*",
		"*StreamQuery*",
		"*StreamWaitEvent*",
		"*Get[A-Z]*",
		"*Free*",
		"*HostAlloc*",
		"*HostRegister*",
		"*Malloc*",
		"*Occupancy*",
		"*PeekAtLastError*",
		"*SetDevice*",
	};

	if (!str_starts(name, STR("cu")) && !str_starts(name, STR("hip")))
		return false;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		if (str_glob(str_of(patterns[i]), name))
			return true;
	return false;
}

static void
own(struct store *s, uint32_t launch, uint32_t first)
{
	s->items.v[launch].gpu = first;
	for (uint32_t g = first; g != STORE_NONE; g = s->items.v[g].gpu) {
		s->items.v[g].parent = launch;
		s->items.v[g].state |= IN_OWNED;
	}
}

static void
link_by_corr(struct corr_table *t, struct link_stats *stats)
{
	struct store *s = t->s;
	struct shared_calls shared = { 0 };

	for (size_t k = 0; k < s->launches.n; k++) {
		const struct corr *c = &s->launches.v[k];
		uint32_t no = *find_slot(t, c), first;
		struct held *it;

		if (no == 0)
			continue;
		first = s->gpus.v[no - 1].item;
		it = &s->items.v[first];
		if (name_facts(s, s->items.v[c->item].name) & NAME_NO_LAUNCH)
			it->state |= IN_VAIN;
		else if ((it->state & IN_OWNED) == 0)
			own(s, c->item, first);
		else if (!calls_are_one(s, it->parent, c->item))
			share_note(&shared, first, c->item);
	}
	stats->ambiguous += share_resolve(s, &shared);
	for (size_t k = 0; k < s->gpus.n; k++) {
		uint32_t first = s->gpus.v[k].item;

		if ((s->items.v[first].state & (IN_VAIN | IN_OWNED)) == IN_VAIN)
			for (uint32_t g = first; g != STORE_NONE;
			     g = s->items.v[g].gpu)
				stats->no_launch++;
	}
}

/* Drops lists that belong to no launch. */
static void
cut_lists(struct store *s)
{
	for (size_t k = 0; k < s->gpus.n; k++)
		s->items.v[s->gpus.v[k].item].gpu = STORE_NONE;
}

static void
mark_unlinked(struct store *s, uint32_t i, struct link_stats *stats)
{
	struct held *it = &s->items.v[i];

	if ((it->flags & EV_DUPLICATE) != 0)
		return;
	if ((it->state & IN_OWNED) != 0) {
		stats->linked++;
		return;
	}
	it->gpu = STORE_NONE;
	it->flags |= EV_UNLINKED;
	stats->unlinked++;
}

static void
count_unclosed(const struct store *s, struct link_stats *stats)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		const u32_vec *open = &s->threads.v[i].open;

		stats->unclosed += s->threads.v[i].nends;
		for (size_t k = 0; k < open->n; k++)
			stats->unclosed +=
			    item_is(&s->items.v[open->v[k]], KINDS_UNCLOSED);
	}
}

void
store_link(struct store *s, enum link_by by, struct link_stats *stats)
{
	const struct link_stats before = *stats;
	struct corr_table t;
	int64_t nops; /* found by tl-decode */

	stats->by_corr =
	    by == LINK_CORRELATION || (by == LINK_DEFAULT && s->launches.n > 0);
	stats->by_flow = !stats->by_corr;
	fill_table(&t, s);
	store_note_peak(s);
	drop_duplicates(&t, stats);
	if (stats->by_corr) {
		link_by_corr(&t, stats);
	} else {
		cut_lists(s);
		stats->by_corr = link_by_flow(s, by == LINK_FLOW);
	}
	big_free(t.slots, t.bytes);
	for (size_t k = 0; k < s->gpus.n; k++)
		mark_unlinked(s, s->gpus.v[k].item, stats);
	for (size_t k = 0; k < s->loose.n; k++)
		mark_unlinked(s, s->loose.v[k], stats);
	if (source_int(&s->source, "ambiguous_ops", &nops) && nops > 0)
		stats->ambiguous_ops += (uint64_t)nops;
	if (source_int(&s->source, "unlaunched_ops", &nops) && nops > 0)
		stats->unlaunched_ops += (uint64_t)nops;
	store_count_fact(s, "ambiguous", stats->ambiguous - before.ambiguous);
	store_count_fact(s, "no_launch", stats->no_launch - before.no_launch);
	count_unclosed(s, stats);
	store_count_fact(s, "unclosed", stats->unclosed - before.unclosed);
}

const char *
link_rule(const struct link_stats *stats)
{
	if (!stats->by_flow)
		return stats->by_corr ? "correlation" : "an earlier program";
	return stats->by_corr ? "arrow and correlation"
			      : "arrow and external id";
}

void
store_count_links(const struct store *s, struct link_stats *stats)
{
	for (size_t i = 0; i < s->items.n; i++) {
		const struct held *it = &s->items.v[i];

		if ((it->state & IN_FWD) != 0) {
			stats->wrappers++;
			stats->bwd_seq++;
		}
		if (!item_is(it, KINDS_GPU))
			continue;
		stats->duplicates += (it->flags & EV_DUPLICATE) != 0;
		stats->linked += (it->state & IN_OWNED) != 0;
		stats->unlinked += (it->flags & EV_UNLINKED) != 0;
	}
}

void
link_forget_keys(struct store *s)
{
	big_release(&s->launches);
	big_release(&s->gpus);
	big_release(&s->loose);
	big_release(&s->notes);
}

void
link_report(const struct link_stats *stats, const char *name)
{
	if (stats->duplicates > 0)
		report(MSG_DUPLICATES, name, stats->duplicates);
	if (stats->ambiguous > 0)
		report(MSG_AMBIGUOUS_LAUNCH, name, stats->ambiguous);
	if (stats->ambiguous_ops > 0)
		report(MSG_AMBIGUOUS_OPS, name, stats->ambiguous_ops);
	if (stats->unlaunched_ops > 0)
		report(MSG_NO_OP_LAUNCH, name, stats->unlaunched_ops);
	if (stats->no_launch > 0)
		report(MSG_NO_SUCH_LAUNCH, name, stats->no_launch);
	if (stats->unclosed > 0)
		report(MSG_UNCLOSED, name, stats->unclosed);
}

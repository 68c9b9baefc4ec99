/* SPDX-License-Identifier: MIT */
/*
 * Parts: a file each, of which a few are open at a time.
 *
 * What a source says of itself (facts, metadata, names, annotations) goes to a
 * part before its first event of that source. Trees are held until they have
 * ended, and while a forward op among them waits for its backward op; then each
 * part gets what belongs to it and, as stubs, what is above that.
 */
#include "cmd/tl-split/split.h"

#include <dirent.h>
#include <stdlib.h>

static const char *const part_words[] = { [BY_RANK] = "rank-",
	[BY_STEP] = "step-",
	[BY_ANNOTATION] = "annotation-",
	[BY_TIME] = "time-" };

/* More would be refused on some systems, and each takes some 500 kB. */
#define OPEN_PARTS 64

/* ---- files ---- */

static void
park_oldest(struct split *s)
{
	size_t oldest = 0;
	struct part *p;

	for (size_t i = 1; i < s->open.n; i++)
		if (s->open.v[i]->used < s->open.v[oldest]->used)
			oldest = i;
	p = s->open.v[oldest];
	s->open.v[oldest] = s->open.v[--s->open.n];
	stream_park(p->out);
	hold_free(&p->hold); /* it holds nothing between flushes */
	p->is_open = false;
}

/* What is written to p next, may be. */
static void
use(struct split *s, struct part *p)
{
	p->used = ++s->clock;
	if (LIKELY(p->is_open))
		return;
	if (s->open.n == OPEN_PARTS)
		park_oldest(s);
	p->is_open = true;
	vec_push(&s->open, p);
	if (p->out == NULL) {
		struct stream_dest dest = s->set->dest;

		dest.path = p->path;
		p->out =
		    stream_create(&dest, s->st, s->in, s->in->marks, false);
		p->hold.out = p->out;
	}
}

static char *
path_of(const struct split *s, const int64_t *key)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/", s->set->dir);
	if (key == NULL)
		buf_puts(&b, "rest.tl");
	else
		buf_printf(
		    &b, "%s%" PRId64 ".tl", part_words[s->set->by], *key);
	buf_putc(&b, '\0');
	return b.p;
}

static struct part *
new_part(struct split *s, const int64_t *key)
{
	struct part *p = xcalloc(1, sizeof *p);

	if (s->parts.n == MAX_PARTS)
		die("over %d parts", MAX_PARTS);
	p->key = key != NULL ? *key : 0;
	p->is_rest = key == NULL;
	p->path = path_of(s, key);
	p->hold.tree.st = p->nb.dict = s->st;
	vec_push(&s->parts, p);
	return p;
}

struct part *
part_get(struct split *s, const int64_t *key)
{
	uint64_t *slot;
	bool is_new;

	if (key == NULL) {
		if (s->rest == NULL)
			s->rest = new_part(s, NULL);
		return s->rest;
	}
	slot = map_put(&s->part_of, (uint64_t)*key, &is_new);
	if (is_new) {
		*slot = s->parts.n;
		(void)new_part(s, key);
	}
	return s->parts.v[*slot];
}

/* ---- sources ---- */

static void
write_source(struct split *s, struct part *p, bool is_final)
{
	struct source source = s->now.source;

	source.src = p->nsources - 1;
	source.is_final = p->is_final = is_final;
	stream_write_source(p->out, &source);
}

bool
is_dealt_out(const struct event *ev)
{
	return (ev->shape->has & HAS_TS) != 0 && ev->shape->kind != KIND_META &&
	    (ev->flags & EV_STUB) == 0;
}

static bool
is_of_part(const struct split *s, const struct part *p, int64_t t)
{
	key_vec keys = { 0 };
	bool is = false;

	cut_parts(&s->cut, t, &keys);
	for (size_t i = 0; i < keys.n; i++)
		is |= keys.v[i] == p->key;
	is = p->is_rest ? keys.n == 0 : is;
	vec_free(&keys);
	return is;
}

/* Names always, annotations that reach into the part, and what is its own. */
static void
write_prologue(struct split *s, struct part *p)
{
	struct hold *all = &s->now.prologue;

	for (size_t i = 0; i < all->tree.nodes.n; i++) {
		bool is_own, is_context;
		struct event ev;
		int64_t end;

		hold_event(all, i, &ev);
		if (!num_add(ev.ts_ns, ev.dur_ns, &end))
			end = INT64_MAX;
		is_own = is_dealt_out(&ev) && is_of_part(s, p, ev.ts_ns);
		is_context = ev.shape->kind == KIND_META ||
		    (ev.shape->kind == KIND_ANNOTATION &&
			(p->is_rest ||
			    cut_overlaps(&s->cut, p->key, ev.ts_ns, end)));
		if (!is_own && !is_context)
			continue;
		numbering_event(&p->nb, &ev);
		hold_wait(&p->hold, &ev);
		p->hold.tree.nodes.v[p->hold.tree.nodes.n - 1].hold.is_chosen =
		    is_own;
	}
	hold_flush(&p->hold);
}

static void
tell_section(struct part *p, enum section section)
{
	while (p->section < section)
		stream_write_section(p->out, ++p->section);
}

static void
write_meta(struct part *p, const struct meta *m)
{
	struct meta ours = *m;

	ours.src = p->nsources - 1;
	stream_write_meta(p->out, &ours);
}

void
parts_meta(struct split *s, const struct meta *m)
{
	for (size_t i = 0; i < s->parts.n; i++) {
		if (s->parts.v[i]->source != s->now.no)
			continue;
		use(s, s->parts.v[i]);
		write_meta(s->parts.v[i], m);
	}
}

void
part_begin(struct split *s, struct part *p)
{
	if (p->source == s->now.no)
		return;
	p->source = s->now.no;
	p->nsources++;
	p->nb.first = p->nsources - 1 - s->now.src; /* modulo 2^32 */
	p->nb.tracks.n = 0;
	p->above.n = 0;
	p->section = SECTION_NONE;
	use(s, p);
	if (s->now.section != SECTION_NONE)
		tell_section(p, SECTION_PROLOGUE);
	write_source(s, p, s->now.source.is_final);
	for (size_t i = 0; i < s->now.metas.n; i++)
		write_meta(p, &s->now.metas.v[i]);
	if (s->set->by != BY_RANK)
		write_prologue(s, p);
}

void
parts_end_source(struct split *s)
{
	struct current *now = &s->now;

	parts_flush(s);
	for (size_t i = 0; i < s->parts.n; i++) {
		struct part *p = s->parts.v[i];

		if (p->source != now->no)
			continue;
		use(s, p);
		if (now->section != SECTION_NONE)
			tell_section(p, SECTION_TAIL);
		if (!p->is_final)
			write_source(s, p, true);
		p->source = 0;
	}
}

/* ---- events ---- */

void
part_pass(struct split *s, struct part *p, const struct event *ev)
{
	struct event ours = *ev;

	part_begin(s, p);
	use(s, p);
	tell_section(p, s->now.section);
	numbering_event(&p->nb, &ours);
	stream_write(p->out, &ours);
}

void
part_take(struct split *s, struct part *p, uint32_t no)
{
	if (p->pieces.n == 0)
		vec_push(&s->filled, p);
	vec_push(&p->pieces, ((struct piece){ no, true }));
}

/* A forward op may be needed in the part of its backward op. */
static void
find_forwards(struct current *now)
{
	for (uint32_t i = 0; i < now->trees.tree.nodes.n; i++) {
		struct event ev;

		if (!now->trees.tree.nodes.v[i].hold.may_be)
			continue;
		hold_event(&now->trees, i, &ev);
		if (ev.shape->has & HAS_BWD)
			*map_put(&now->forwards, uid_hash(ev.uid), NULL) = i;
	}
	while (now->taken.n < now->trees.tree.nodes.n)
		vec_push(&now->taken, 0);
}

static int
by_no(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	return a->no < b->no ? -1 : a->no > b->no;
}

/*
 * The forward ops of the part's backward ops, that are in other parts: they
 * say what these did. hold.c keeps them as stubs.
 */
static void
add_forwards(struct current *now, struct part *p)
{
	size_t nown = p->pieces.n;

	now->taker++;
	for (size_t i = 0; i < nown; i++)
		now->taken.v[p->pieces.v[i].no] = now->taker;
	for (size_t i = 0; i < p->pieces.n; i++) {
		const struct forest_node *it =
		    &now->trees.tree.nodes.v[p->pieces.v[i].no];
		const uint64_t *found;
		struct event ev;

		if (it->links == 0)
			continue;
		hold_event(&now->trees, p->pieces.v[i].no, &ev);
		if ((ev.shape->has & HAS_FWD) == 0)
			continue;
		found = map_get(&now->forwards, uid_hash(ev.fwd));
		if (found == NULL || now->taken.v[*found] == now->taker)
			continue;
		now->taken.v[*found] = now->taker;
		vec_push(
		    &p->pieces, ((struct piece){ (uint32_t)*found, false }));
	}
	if (p->pieces.n > nown)
		qsort(p->pieces.v, p->pieces.n, sizeof *p->pieces.v, by_no);
}

static void
add_event(struct split *s, struct part *p, uint32_t no, bool is_chosen)
{
	struct event ev;

	hold_event(&s->now.trees, no, &ev);
	numbering_event(&p->nb, &ev);
	hold_add(&p->hold, s->in, &ev, is_chosen);
	p->above.n = ev.depth;
	vec_push(&p->above, no);
}

/* First what the part does not have yet of the events above it. */
static void
add_piece(struct split *s, struct part *p, struct piece piece)
{
	const struct forest_node *list = s->now.trees.tree.nodes.v;
	uint32_t depth = list[piece.no].hold.depth, no = piece.no;
	VEC(uint32_t) missing = { 0 };

	for (uint32_t d = depth; d-- > 0;) {
		no = list[no].up;
		if (d < p->above.n && p->above.v[d] == no)
			break;
		vec_push(&missing, no);
	}
	while (missing.n > 0)
		add_event(s, p, missing.v[--missing.n], false);
	vec_free(&missing);
	add_event(s, p, piece.no, piece.is_own);
}

void
parts_flush(struct split *s)
{
	struct current *now = &s->now;

	if (s->filled.n > 0)
		find_forwards(now);
	for (size_t i = 0; i < s->filled.n; i++) {
		struct part *p = s->filled.v[i];

		part_begin(s, p);
		use(s, p);
		tell_section(p, now->section);
		add_forwards(now, p);
		for (size_t k = 0; k < p->pieces.n; k++)
			add_piece(s, p, p->pieces.v[k]);
		hold_flush(&p->hold);
		vec_free(&p->pieces);
		p->above.n = 0;
	}
	s->filled.n = 0;
	map_free(&now->forwards);
	now->taken.n = now->taker = 0;
	hold_drop(&now->trees);
}

/* ---- a folder that is used again ---- */

/* Whether an earlier split made it, and this one does not replace it. */
static bool
is_left_over(const struct split *s, struct str name)
{
	int64_t key;

	if (str_eq(name, STR("rest.tl")))
		return s->rest == NULL;
	if (!str_ends(name, STR(".tl")))
		return false;
	for (unsigned by = BY_RANK; by <= BY_TIME; by++) {
		struct str word = str_of(part_words[by]);

		if (str_starts(name, word) &&
		    num_i64((struct str){ name.p + word.len,
				name.len - word.len - 3 },
			&key))
			return by != s->set->by ||
			    map_get(&s->part_of, (uint64_t)key) == NULL;
	}
	return false;
}

/*
 * Parts of an earlier split among those of this one would be taken for its
 * own: all of them together are the whole.
 */
static void
check_folder(const struct split *s)
{
	DIR *dir = opendir(s->set->dir);
	struct dirent *e;

	if (dir == NULL)
		die_errno("%s", s->set->dir);
	while ((e = readdir(dir)) != NULL)
		if (is_left_over(s, str_of(e->d_name)))
			die("%s/%s is a part of an earlier split: empty the "
			    "folder, or take another one",
			    s->set->dir, e->d_name);
	closedir(dir);
}

/* ---- the end ---- */

void
parts_finish(struct split *s)
{
	/* what may fail does so before a part has its name */
	for (size_t i = 0; i < s->parts.n; i++)
		if (s->parts.v[i]->is_open)
			stream_flush(s->parts.v[i]->out);
	check_folder(s);
	for (size_t i = 0; i < s->parts.n; i++) {
		struct part *p = s->parts.v[i];

		stream_mark(p->out, s->marks);
		stream_finish(p->out);
		hold_free(&p->hold);
		vec_free(&p->nb.tracks);
		vec_free(&p->above);
		vec_release((void *)(uintptr_t)p->path);
		vec_release(p);
	}
	vec_free(&s->parts);
	vec_free(&s->open);
	vec_free(&s->filled);
	vec_free(&s->keys);
	map_free(&s->part_of);
}

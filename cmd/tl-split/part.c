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
	p->nb.dict = s->st;
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
	VEC(struct hold_pick) list = { 0 };

	for (uint32_t i = 0; i < all->tree.nodes.n; i++) {
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
		if (is_own || is_context)
			vec_push(&list, ((struct hold_pick){ i, is_own }));
	}
	hold_write(all, p->out, list.v, list.n, &p->nb);
	vec_free(&list);
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
	vec_push(&p->pieces, ((struct hold_pick){ no, true }));
}

void
parts_flush(struct split *s)
{
	for (size_t i = 0; i < s->filled.n; i++) {
		struct part *p = s->filled.v[i];

		part_begin(s, p);
		use(s, p);
		tell_section(p, s->now.section);
		hold_write(
		    &s->now.trees, p->out, p->pieces.v, p->pieces.n, &p->nb);
		vec_free(&p->pieces);
	}
	s->filled.n = 0;
	hold_drop(&s->now.trees);
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
		vec_free(&p->nb.tracks);
		vec_release((void *)(uintptr_t)p->path);
		vec_release(p);
	}
	vec_free(&s->parts);
	vec_free(&s->open);
	vec_free(&s->filled);
	vec_free(&s->keys);
	map_free(&s->part_of);
}

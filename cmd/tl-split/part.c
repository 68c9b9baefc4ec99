/* SPDX-License-Identifier: MIT */
/*
 * Parts: a file each, of which a few are open at a time.
 *
 * A part gets what a source says of itself (facts, metadata, names,
 * annotations) before the source's first event. Trees are held until they end,
 * and while a forward op among them waits for its backward op; then each part
 * gets its events and, as stubs, those above them.
 */
#include "cmd/tl-split/split.h"

#include <dirent.h>
#include <stdlib.h>

static const char *const part_words[] = { [BY_RANK] = "rank-",
	[BY_STEP] = "step-",
	[BY_ANNOTATION] = "annotation-",
	[BY_TIME] = "time-",
	[BY_RANGE] = NULL };

/* Some systems allow no more, and each takes some 500 kB. */
#define OPEN_PARTS 64

/* Few parts have most of a trace's strings each, so they get all at once. */
#define WHOLE_PARTS 4

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

/* Makes p ready to be written to. */
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
		p->out = stream_create(&dest, s->st, s->in, s->in_marks,
		    by_iterations(s->set) && s->its.runs.n <= WHOLE_PARTS);
	}
}

const char *
part_ending(const struct settings *set)
{
	return set->to_chrome ? ".json.gz" : ".tl";
}

static char *
path_of(const struct split *s, const int64_t *key)
{
	const char *ending = part_ending(s->set);
	struct buf b = { 0 };

	buf_printf(&b, "%s/", s->set->dir);
	if (key == NULL)
		buf_printf(&b, "rest%s", ending);
	else if (by_iterations(s->set))
		buf_puts(&b, s->its.runs.v[*key].path.p);
	else
		buf_printf(&b, "%s%" PRId64 "%s", part_words[s->set->by], *key,
		    ending);
	/* a stream first, exported afterwards */
	if (s->set->to_chrome)
		buf_puts(&b, export_ending());
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
	if (s->last != NULL && s->last->key == *key)
		return s->last;
	slot = map_put(&s->part_of, (uint64_t)*key, &is_new);
	if (is_new) {
		*slot = s->parts.n;
		(void)new_part(s, key);
	}
	s->last = s->parts.v[*slot];
	return s->last;
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

/* Names always, its own events, and annotations that reach into the part. */
static void
write_prologue(struct split *s, struct part *p)
{
	for (size_t i = 0; i < s->now.names.n; i++)
		vec_push(&p->notes, s->now.names.v[i]);
	hold_write(&s->now.prologue, p->out, p->notes.v, p->notes.n, &p->nb);
	vec_free(&p->notes);
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
	p->is_due = false;
	p->source = s->now.no;
	s->nbegun += p->nsources++ == 0 && !p->is_rest;
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

		p->notes.n = 0;
		if (p->source != now->no)
			continue;
		use(s, p);
		if (now->section != SECTION_NONE)
			tell_section(p, SECTION_TAIL);
		if (!p->is_final)
			write_source(s, p, true);
		p->source = 0;
	}
	if (by_iterations(s->set))
		iterations_end_source(s);
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

/* Whether it is of an earlier split, and not replaced by this one. */
static bool
is_left_over(const struct split *s, struct str name)
{
	struct str ending = str_of(part_ending(s->set));
	int64_t key;

	if (!str_ends(name, ending))
		return false;
	name.len -= ending.len;
	if (str_eq(name, STR("rest")))
		return s->rest == NULL || s->rest->out == NULL;
	for (unsigned by = BY_RANK; by <= BY_TIME; by++) {
		struct str word;

		if (part_words[by] == NULL)
			continue;
		word = str_of(part_words[by]);
		if (str_starts(name, word) &&
		    num_i64(
			(struct str){ name.p + word.len, name.len - word.len },
			&key))
			return by != s->set->by ||
			    map_get(&s->part_of, (uint64_t)key) == NULL;
	}
	return false;
}

/*
 * Parts of an earlier split would be taken for parts of this one, which
 * together are the whole.
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
			die("%s/%s is from an earlier split: empty the folder, "
			    "or use another",
			    s->set->dir, e->d_name);
	closedir(dir);
}

/* ---- the end ---- */

void
parts_finish(struct split *s)
{
	/* do what may fail before a part gets its name */
	for (size_t i = 0; i < s->parts.n; i++)
		if (s->parts.v[i]->is_open)
			stream_flush(s->parts.v[i]->out);
	check_folder(s);
	for (size_t i = 0; i < s->parts.n; i++) {
		struct part *p = s->parts.v[i];

		/* nothing starts in this time: no file */
		if (p->out != NULL) {
			stream_mark(p->out, s->marks);
			if (s->set->to_chrome)
				export_later(p->path);
			stream_finish(p->out);
		}
		vec_free(&p->nb.tracks);
		vec_release((void *)(uintptr_t)p->path);
		vec_release(p);
	}
	if (s->set->to_chrome)
		export_all();
	vec_free(&s->parts);
	vec_free(&s->open);
	vec_free(&s->filled);
	vec_free(&s->keys);
	map_free(&s->part_of);
}

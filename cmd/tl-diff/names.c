/* SPDX-License-Identifier: MIT */
/*
 * Which names are equal: addresses and line numbers do not count, nor do the
 * drivers' different names of a launch.
 */
#include "cmd/tl-diff/diff.h"
#include "reader/reader.h"
#include "trace/plain.h"

/* the ASCII part of Python's \s */
static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

/* Drops ": function" at the end, then the folders of a Python file. */
static struct str
strip_frame(struct str s)
{
	size_t at = s.len;

	/* the first ":\s+\S+$": no blank in the word, one before it */
	while (at > 0 && !is_blank(s.p[at - 1]))
		at--;
	if (at < s.len && at > 0) {
		size_t colon = at;

		while (colon > 0 && is_blank(s.p[colon - 1]))
			colon--;
		if (colon > 0 && s.p[colon - 1] == ':')
			s.len = colon - 1;
	}
	if (s.len > 3 && memcmp(s.p + s.len - 3, ".py", 3) == 0) {
		at = s.len;
		while (at > 0 && s.p[at - 1] != '/')
			at--;
		if (at > 0 && s.len - at > 3 && memchr(s.p, '\n', at) == NULL) {
			s.p += at;
			s.len -= at;
		}
	}
	return s;
}

static uint32_t
stands_for(const struct norms *nm, uint32_t id)
{
	const uint64_t *to;

	while ((to = map_get(&nm->same, id)) != NULL && *to != id)
		id = (uint32_t)*to;
	return id;
}

static uint32_t
normalise(struct norms *nm, uint32_t name, bool stripped)
{
	struct buf b = { 0 };
	struct str s;
	uint32_t id;

	name_plain(&b, dict_get(nm->st, name));
	s = buf_str(&b);
	if (stripped)
		s = strip_frame(s);
	id = stands_for(nm, intern_put(nm->st->text, name_one_launch(s)));
	buf_free(&b);
	return id;
}

static uint32_t
cached(struct norms *nm, uint32_t name, bool stripped)
{
	if (name == INTERN_NONE)
		return INTERN_NONE;
	while (nm->known[stripped].n <= name)
		vec_push(&nm->known[stripped], 0);
	if (nm->known[stripped].v[name] == 0) {
		uint32_t to = normalise(nm, name, stripped);

		nm->known[stripped].v[name] = to + 1;
	}
	return nm->known[stripped].v[name] - 1;
}

uint32_t
name_strict(struct norms *nm, uint32_t name)
{
	return cached(nm, name, false);
}

uint32_t
name_loose(struct norms *nm, uint32_t name)
{
	return cached(nm, name, true);
}

/* ---- --equiv ---- */

/* From now on both names of a line are equal, with and without functions. */
static void
unite(struct norms *nm, struct str a, struct str b)
{
	uint32_t one = intern_put(nm->st->text, a);
	uint32_t two = intern_put(nm->st->text, b);

	for (int stripped = 0; stripped < 2; stripped++) {
		uint32_t to = normalise(nm, one, stripped);
		uint32_t from = normalise(nm, two, stripped);

		if (to != from)
			*map_put(&nm->same, from, NULL) = to;
	}
}

void
norms_read_equiv(struct norms *nm, const char *path)
{
	struct reader r = { .in = in_open(path) };
	const unsigned char *end;

	for (size_t line = 1; (end = reader_line(&r)) != NULL; line++) {
		const char *p = (const char *)r.in->p;
		size_t len = (size_t)(end - r.in->p);
		const char *tab = len > 0 ? memchr(p, '\t', len) : NULL;

		if (len > 0 && p[0] != '#') {
			if (tab == NULL || tab == p || tab + 1 == p + len)
				die("%s: line %zu: expected two names with a "
				    "tab between them",
				    path, line);
			unite(nm, (struct str){ p, (size_t)(tab - p) },
			    (struct str){
				tab + 1, len - (size_t)(tab + 1 - p) });
		}
		r.in->p = end < r.in->end ? end + 1 : end;
		in_release(r.in);
	}
	in_close(r.in);
}

void
norms_free(struct norms *nm)
{
	vec_free(&nm->known[0]);
	vec_free(&nm->known[1]);
	map_free(&nm->same);
	bucket_free(&nm->buckets);
}

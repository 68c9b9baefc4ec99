/* SPDX-License-Identifier: MIT */
/*
 * Which names are one: an address or a line number that differs is no
 * difference, and neither are the drivers' names for a launch.
 */
#include "cmd/tl-diff/diff.h"
#include "trace/plain.h"

/* What Python's \s holds of ASCII. */
static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

/* ": function" at the end goes, then the folders before a Python file. */
static struct str
strip_frame(struct str s)
{
	size_t at = s.len;

	/* the earliest ":\s+\S+$": no blank in the word, one before it */
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

uint32_t
name_strict(struct norms *nm, uint32_t name)
{
	if (name == INTERN_NONE)
		return INTERN_NONE;
	while (nm->strict.n <= name)
		vec_push(&nm->strict, 0);
	if (nm->strict.v[name] == 0)
		nm->strict.v[name] = normalise(nm, name, false) + 1;
	return nm->strict.v[name] - 1;
}

uint32_t
name_loose(struct norms *nm, uint32_t name)
{
	if (name == INTERN_NONE)
		return INTERN_NONE;
	while (nm->loose.n <= name)
		vec_push(&nm->loose, 0);
	if (nm->loose.v[name] == 0)
		nm->loose.v[name] = normalise(nm, name, true) + 1;
	return nm->loose.v[name] - 1;
}

/* ---- --equiv ---- */

/* Both names of a line are one from now on. */
static void
unite(struct norms *nm, struct str a, struct str b)
{
	uint32_t raw[2] = { intern_put(nm->st->text, a),
		intern_put(nm->st->text, b) };
	uint32_t n[2], s[2];

	for (int i = 0; i < 2; i++) {
		n[i] = normalise(nm, raw[i], false);
		s[i] = normalise(nm, raw[i], true);
	}
	*map_put(&nm->same, n[1], NULL) = n[0];
	s[0] = stands_for(nm, s[0]);
	s[1] = stands_for(nm, s[1]);
	if (s[0] != s[1])
		*map_put(&nm->same, s[1], NULL) = s[0];
}

void
norms_read_equiv(struct norms *nm, const char *path)
{
	struct in *in = in_open(path);
	size_t line = 1;

	for (;;) {
		const unsigned char *end;
		const char *p, *tab;
		size_t len;

		while ((end = memchr(in->p, '\n', (size_t)(in->end - in->p))) ==
			NULL &&
		    in_more(in))
			;
		if (end == NULL)
			end = in->end;
		p = (const char *)in->p;
		len = (size_t)(end - in->p);
		if (len == 0 && end == in->end)
			break;
		tab = memchr(p, '\t', len);
		if (len > 0 && p[0] != '#') {
			if (tab == NULL || tab == p || tab + 1 == p + len)
				die("%s: line %zu: expected two names with a "
				    "tab between them",
				    path, line);
			unite(nm, (struct str){ p, (size_t)(tab - p) },
			    (struct str){
				tab + 1, len - (size_t)(tab + 1 - p) });
		}
		in->p = end < in->end ? end + 1 : end;
		in_release(in);
		line++;
	}
	in_close(in);
}

void
norms_free(struct norms *nm)
{
	vec_free(&nm->strict);
	vec_free(&nm->loose);
	map_free(&nm->same);
}

/* SPDX-License-Identifier: MIT */
/* What there is to select, for a selection that matches nothing. */
#include "trace/there.h"

#define TOLD_MAX 200 /* bytes of names in a message: two lines */
#define KEYS_MAX 32  /* remembered */

/* ---- names ---- */

enum {
	UNKNOWN,
	YES,
	NO,
	KEPT, /* no, and there_meet() has seen it */
};

static uint8_t *
known_of(struct there *t, const struct dict *st, uint32_t name)
{
	if (t->dict != st)
		t->known.n = 0;
	t->dict = st;
	while (t->known.n <= name)
		vec_push(&t->known, UNKNOWN);
	return &t->known.v[name];
}

bool
there_match(struct there *t, const struct str *globs, size_t n,
    const struct dict *st, uint32_t name)
{
	uint8_t *known;

	if (n == 0)
		return true;
	if (name == INTERN_NONE)
		return false;
	known = known_of(t, st, name);
	if (*known == UNKNOWN)
		*known = str_glob_any(globs, n, dict_get(st, name)) ? YES : NO;
	return *known == YES;
}

/* The longest part of a pattern that stands for itself. */
static struct str
literal_of(struct str glob)
{
	struct str best = { glob.p, 0 };
	size_t start = 0;

	for (size_t i = 0; i <= glob.len; i++) {
		if (i < glob.len && strchr("*?[]", glob.p[i]) == NULL)
			continue;
		if (i - start > best.len)
			best = (struct str){ glob.p + start, i - start };
		start = i + 1;
	}
	return best;
}

/* As mm in aten::mm: two letters count where a word of the name starts. */
static bool
starts_a_word(struct str name, struct str part)
{
	for (size_t i = 0; i + part.len <= name.len; i++) {
		struct str rest = { name.p + i, part.len };

		if (str_find(rest, part, true) == 0 &&
		    (i == 0 || strchr(":_ .<", name.p[i - 1]) != NULL))
			return true;
	}
	return false;
}

static size_t
distance_of(struct str name, const struct str *globs, size_t n)
{
	size_t least = SUGGEST_FAR;

	for (size_t i = 0; i < n; i++) {
		struct str part = literal_of(globs[i]);
		size_t d = suggest_distance(name, part);

		/* before all that is misspelt, the shortest first */
		if (part.len == 2 && starts_a_word(name, part))
			d = name.len;
		least = d < least ? d : least;
	}
	return least;
}

/* The beginning that a message has room for, in whole characters. */
static struct str
beginning_of(struct str name)
{
	size_t n = 0, next;
	uint32_t cp;

	if (name.len <= THERE_NAME)
		return name;
	while (
	    (next = n + utf8_next(name.p + n, name.len - n, &cp)) <= THERE_NAME)
		n = next;
	return (struct str){ name.p, n };
}

/* Where names of one spelling stand: they may differ in what is cut off. */
static uint32_t
find(const struct there *t, struct str cut)
{
	uint32_t i = 0;

	while (i < t->n &&
	    !str_eq((struct str){ t->names[i].text, t->names[i].len }, cut))
		i++;
	return i;
}

static void
keep(struct there *t, struct str name, size_t distance)
{
	const struct str cut = beginning_of(name);
	uint32_t i = find(t, cut);

	if (i == THERE_MAX) {
		t->has_more = true;
		i--; /* in place of the last */
	}
	if (i < t->n && distance >= t->names[i].distance)
		return;
	t->n += i == t->n;
	for (; i > 0 && t->names[i - 1].distance > distance; i--)
		t->names[i] = t->names[i - 1];
	t->names[i].distance = distance;
	t->names[i].len = cut.len;
	t->names[i].is_cut = cut.len < name.len;
	memcpy(t->names[i].text, cut.p, cut.len);
}

void
there_meet(struct there *t, const struct str *globs, size_t n,
    const struct dict *st, uint32_t name)
{
	uint8_t *known;

	if (name == INTERN_NONE)
		return;
	known = known_of(t, st, name);
	if (*known == KEPT)
		return;
	*known = KEPT;
	keep(t, dict_get(st, name), distance_of(dict_get(st, name), globs, n));
}

void
there_meet_annotation(
    struct there *t, struct str glob, struct str name, bool is_step)
{
	/* --step also selects by those */
	keep(t, name, distance_of(name, &glob, 1) + is_step);
}

bool
there_glob(struct there *t, const struct str *globs, size_t n,
    const struct dict *st, uint32_t name)
{
	if (there_match(t, globs, n, st, name))
		return true;
	there_meet(t, globs, n, st, name);
	return false;
}

void
there_put(const struct there *t, struct buf *b)
{
	size_t told = 0;
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		const struct there_name *name = &t->names[i];

		told += name->len;
		if (i > 0 && told > TOLD_MAX)
			break;
		buf_printf(b, "%s '%.*s%s'",
		    i > 0             ? ","
			: b->len == 0 ? "; it has"
				      : ",",
		    (int)name->len, name->text, name->is_cut ? "..." : "");
	}
	if (t->has_more || i < t->n)
		buf_puts(b, " and more");
}

struct str
there_str(const struct there *t)
{
	struct buf b = { 0 };

	there_put(t, &b);
	return buf_str(&b);
}

void
there_free(struct there *t)
{
	vec_free(&t->known);
}

/* ---- keys ---- */

void
there_meet_key(struct there_keys *keys, struct key key)
{
	if (key.type == KEY_NONE || keys->has_more)
		return;
	for (size_t i = keys->list.n; i-- > 0;)
		if (key_eq(keys->list.v[i], key))
			return;
	if (keys->list.n < KEYS_MAX)
		vec_push(&keys->list, key);
	else
		keys->has_more = true;
}

/* Numbers in ascending order, texts as they came. */
static bool
is_behind(struct key a, struct key b)
{
	return a.type == KEY_INT && b.type == KEY_INT && a.n > b.n;
}

static void
put_key(struct key key, const struct dict *st, struct buf *b)
{
	struct str word, cut;

	if (key.type == KEY_INT) {
		buf_printf(b, "%" PRId64, key.n);
		return;
	}
	word = dict_get(st, (uint32_t)key.n);
	cut = beginning_of(word);
	buf_put(b, cut.p, cut.len);
	buf_puts(b, cut.len < word.len ? "..." : "");
}

void
there_put_keys(const struct there_keys *keys, const struct dict *st,
    const char *what, const char *plural, struct buf *b)
{
	size_t n = keys->list.n;
	struct key v[KEYS_MAX];

	for (size_t i = 0; i < n; i++)
		v[i] = keys->list.v[i];
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && is_behind(v[k - 1], v[k]); k--) {
			struct key swap = v[k];

			v[k] = v[k - 1];
			v[k - 1] = swap;
		}
	if (n == 0)
		return;
	buf_printf(b, "%s %s%s", b->len == 0 ? "; it has" : ",", what,
	    n > 1 ? plural : "");
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, i == 0 ? " " : ", ");
		put_key(v[i], st, b);
	}
	if (keys->has_more)
		buf_puts(b, " and more");
}

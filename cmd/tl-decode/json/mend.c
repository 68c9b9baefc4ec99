/* SPDX-License-Identifier: MIT */
/* Checks and mends a damaged value: see mend.h. */
#include "cmd/tl-decode/json/mend.h"

#include <stdio.h>

/* First size of the copy, which doubles. */
#define FIRST_BYTES ((size_t)512)
/* Bytes a mend may look ahead. */
#define AHEAD ((size_t)64)
/* Each rereads its string; more are no accident. */
#define MENDS_MAX 1000

#define NOWHERE ((struct spot){ .at = SIZE_MAX })

static struct spot
here(const struct mender *m)
{
	return (struct spot){ (size_t)(m->json.p -
				  (const unsigned char *)m->text.p),
		m->json.depth, m->json.state };
}

static void
go_to(struct mender *m, struct spot spot)
{
	const unsigned char *text = (const unsigned char *)m->text.p;

	m->json.p = text + spot.at;
	m->json.end = text + m->text.len;
	m->json.depth = spot.depth;
	m->json.state = spot.state;
}

static void
pad(struct mender *m)
{
	buf_room(&m->text, IN_PAD);
	memset(m->text.p + m->text.len, 0, IN_PAD);
}

/* Copies more of the window; sets json.eof at the end. */
static void
take(struct mender *m, struct in *in, struct spot spot)
{
	size_t n = m->text.len > FIRST_BYTES ? m->text.len : FIRST_BYTES;
	size_t have;

	while ((have = (size_t)(in->end - in->p)) <= m->taken && in_more(in))
		;
	m->json.eof = have <= m->taken;
	n = n < have - m->taken ? n : have - m->taken;
	buf_put(&m->text, in->p + m->taken, n);
	m->taken += n;
	pad(m);
	go_to(m, spot);
}

/*
 * The place in the window of a byte of the text; before a mend, at least the
 * value's beginning.
 */
static size_t
origin(const struct mender *m, size_t at)
{
	size_t behind = m->text.len - at;

	return behind < m->taken - m->from ? m->taken - behind : m->from;
}

/* ---- mends: at a byte of the text; false: not applicable ---- */

static bool
replace(struct mender *m, enum reason what, size_t at, size_t n, const char *by)
{
	size_t len = strlen(by), tail = m->text.len - at - n;

	if (m->mends[what]++ == 0)
		m->first[what] = origin(m, at);
	buf_room(&m->text, len);
	memmove(m->text.p + at + len, m->text.p + at + n, tail);
	memcpy(m->text.p + at, by, len);
	m->text.len = at + len + tail;
	pad(m);
	return true;
}

static bool
mend_char(struct mender *m, size_t at, size_t string_at)
{
	unsigned char c = (unsigned char)m->text.p[at];
	char escape[8];

	if (c >= 0x80)
		return replace(m, REASON_MENDED_UTF8, at, 1, "\xef\xbf\xbd");
	if (c == '\\')
		return replace(m, REASON_MENDED_ESCAPE, at, 0, "\\");
	if (c == 0 || c >= 0x20 || (c == '\n' && string_at == m->quoted_at))
		return false;
	(void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
	return replace(m, REASON_MENDED_CONTROL, at, 1, escape);
}

static bool
mend_nan(struct mender *m, size_t at)
{
	static const struct {
		struct str text;
		const char *clean;
	} words[] = {
		{ STR_INIT("nan"), "NaN" },
		{ STR_INIT("-nan"), "NaN" },
		{ STR_INIT("inf"), "Infinity" },
		{ STR_INIT("-inf"), "-Infinity" },
	};
	struct str rest = { m->text.p + at, m->text.len - at };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_starts(rest, words[i].text))
			return replace(m, REASON_MENDED_NAN, at,
			    words[i].text.len, words[i].clean);
	return false;
}

/* Before a closing bracket. */
static bool
drop_comma(struct mender *m, size_t from, size_t at)
{
	if (m->text.p[at] != '}' && m->text.p[at] != ']')
		return false;
	while (at > from && json_is_space((unsigned char)m->text.p[at - 1]))
		at--;
	return at > from && m->text.p[at - 1] == ',' &&
	    replace(m, REASON_MENDED_COMMA, at - 1, 1, "");
}

/* The last string's closing quote was none. */
static bool
mend_quote(struct mender *m)
{
	size_t at = m->last_quote, next = at + 1, before = at;
	struct spot spot = m->last;
	struct str text;

	if (spot.at == SIZE_MAX || spot.depth == 0)
		return false;
	while (json_is_space((unsigned char)m->text.p[next]))
		next++;
	while (m->text.p[before - 1] == ' ')
		before--;
	text = (struct str){ m->text.p + spot.at, at - spot.at };
	m->json.depth = spot.depth;
	/* in a list after a comma: rather the next string's opening quote */
	if (m->text.p[next] == ':' ||
	    (!json_in_object(&m->json) && m->text.p[before - 1] == ',') ||
	    str_find(text, STR("\\u000a"), false) >= 0)
		return false;
	(void)replace(m, REASON_MENDED_QUOTE, at, 0, "\\");
	m->last = NOWHERE;
	m->quoted_at = spot.at;
	go_to(m, spot);
	return true;
}

/* Mends the bad token after a spot; false: cannot. */
static bool
mend(struct mender *m, struct in *in, struct spot spot)
{
	const unsigned char *where = m->json.where, *token = m->json.p;
	bool in_string = where < token || (*token == '"' && where > token);
	size_t at = (size_t)((in_string ? where : token) -
	    (const unsigned char *)m->text.p);

	if (m->text.len - at < AHEAD && !m->json.eof) {
		take(m, in, spot);
		return true;
	}
	if (++m->nmends > MENDS_MAX)
		return false;
	if (in_string ? mend_char(m, at, spot.at)
		      : mend_nan(m, at) || drop_comma(m, spot.at, at)) {
		go_to(m, spot);
		return true;
	}
	return !in_string && mend_quote(m);
}

/* ---- reading ---- */

static void
on_key(struct mender *m)
{
	m->nkeys += m->json.depth <= m->key_depth;
	if (m->json.depth == 1)
		for (const struct str *s = m->marks; s->len > 0; s++)
			m->is_marked |= str_eq(m->json.raw, *s);
}

static void
on_token(struct mender *m, enum json_token t, struct spot before)
{
	switch (t) {
	case JSON_T_KEY: on_key(m); break;
	case JSON_T_OBJECT_END:
	case JSON_T_ARRAY_END: break;
	case JSON_T_STRING:
		m->last = before;
		m->last_quote = here(m).at - 1;
		break;
	default: m->is_scalar = m->json.depth == 0; m->last = NOWHERE;
	}
}

static bool
fail(struct mender *m, enum reason error, size_t where)
{
	m->error = error;
	m->where = where;
	return false;
}

bool
mend_value(struct mender *m, struct in *in, size_t from, size_t max)
{
	static const unsigned char zeros[IN_PAD];
	enum json_token t;

	m->text.len = 0;
	m->from = m->taken = from;
	m->is_marked = m->is_scalar = false;
	m->nkeys = 0;
	m->nmends = 0;
	memset(m->mends, 0, sizeof m->mends);
	m->last = NOWHERE;
	m->quoted_at = SIZE_MAX;
	json_start(&m->json, zeros, 0);
	m->json.eof = false;
	take(m, in, (struct spot){ 0, m->json.depth, m->json.state });
	for (;;) {
		struct spot before = here(m);
		size_t where;

		t = json_next(&m->json);
		if (t == JSON_T_END)
			break;
		if (t > JSON_T_END) {
			on_token(m, t, before);
			continue;
		}
		if (m->taken - from > max)
			return fail(m, REASON_LOST_LONG, from);
		if (t == JSON_T_MORE) {
			take(m, in, before);
			continue;
		}
		where = origin(
		    m, (size_t)(m->json.where - (unsigned char *)m->text.p));
		if (m->json.where >= m->json.end)
			return fail(m, REASON_LOST_CUT, m->taken);
		if (*m->json.where == 0)
			return fail(m, REASON_LOST_NUL, where);
		if (!mend(m, in, before))
			return fail(m, REASON_LOST_BROKEN, where);
	}
	m->end = origin(m, here(m).at);
	m->text.len = here(m).at;
	pad(m);
	return true;
}

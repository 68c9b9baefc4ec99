/* SPDX-License-Identifier: MIT */
/* Finds whole records in a damaged file: see salvage.h. */
#include "cmd/tl-decode/json/salvage.h"

/* Longest value kept whole. */
#define VALUE_MAX ((size_t)64 << 20)
/* The same among garbage: no profiler writes longer events. */
#define FIND_MAX ((size_t)1 << 20)
/*
 * A brace that begins no record is read up to the failure, then each brace in
 * it. Garbage that costs more than this factor of the file is hostile, and
 * skipped up to the failure.
 */
#define WASTE_FACTOR 16
/* Losses with a warning of their own. */
#define LOSSES_SHOWN 10

struct salvage {
	struct in *in;
	const struct salvage_rules *rules;
	struct mender mender;
	bool is_over;    /* at the end */
	uint64_t wasted; /* bytes read in vain */
	uint64_t nshown;
	uint64_t losses[REASON_COUNT]; /* by reason */
	uint64_t records;
	struct losses lost; /* cut: metadata is missing, too */
	uint64_t last_at;   /* of the last record */
};

/* ---- losses ---- */

static void
tell(struct salvage *sv, uint64_t at, uint64_t n, enum reason why)
{
	const char *reason = report_reason(why);

	sv->losses[why]++;
	if (++sv->nshown > LOSSES_SHOWN)
		return;
	if (n == 0)
		report(MSG_DAMAGE, sv->in->name, at, reason);
	else
		report(MSG_BYTES_SKIPPED, sv->in->name, at, n, reason);
}

/* Drops bytes from an offset up to in->p. */
static void
lose(struct salvage *sv, uint64_t from, enum reason why)
{
	uint64_t n = in_offset(sv->in, sv->in->p) - from;

	sv->lost.n++;
	sv->lost.bytes += n;
	tell(sv, from, n, why);
}

static void
mended(struct salvage *sv, size_t at, enum reason what)
{
	sv->lost.mended++;
	tell(sv, in_offset(sv->in, sv->in->p + at), 0, what);
}

/* Keeps the value just read, and moves past it. */
static void
pass_value(struct salvage *sv)
{
	const struct mender *m = &sv->mender;

	for (enum reason i = 0; i < REASON_COUNT; i++) {
		if (m->mends[i] == 0)
			continue;
		mended(sv, m->first[i], i);
		sv->lost.mended += m->mends[i] - 1;
		sv->losses[i] += m->mends[i] - 1;
	}
	sv->in->p += m->end;
}

static void
read_all(struct salvage *sv)
{
	do {
		sv->in->p = sv->in->end;
		in_release(sv->in);
	} while (in_more(sv->in));
	sv->is_over = true;
}

void
salvage_drop_rest(struct salvage *sv, enum reason why)
{
	uint64_t from = in_offset(sv->in, sv->in->p);

	read_all(sv);
	lose(sv, from, why);
}

/* ---- looking ahead ---- */

/* Skips white space; the byte there, or -1 at the end. */
static int
peek(struct salvage *sv)
{
	struct in *in = sv->in;

	for (;;) {
		while (in->p < in->end && json_is_space(*in->p))
			in->p++;
		in_release(in);
		if (in->p < in->end)
			return *in->p;
		if (!in_more(in))
			return -1;
	}
}

/* The same at *at bytes after in->p, which stays. */
static int
look(struct salvage *sv, size_t *at)
{
	struct in *in = sv->in;

	for (;; ++*at) {
		while (in->p + *at >= in->end)
			if (*at > FIND_MAX || !in_more(in))
				return -1;
		if (!json_is_space(in->p[*at]))
			return in->p[*at];
	}
}

static bool
look_value(struct salvage *sv, size_t *at)
{
	if (look(sv, at) < 0 || !mend_value(&sv->mender, sv->in, *at, FIND_MAX))
		return false;
	*at = sv->mender.end;
	return true;
}

static bool
is_record(const struct salvage *sv)
{
	return sv->mender.is_marked && sv->mender.nkeys <= sv->rules->max_keys;
}

bool
salvage_is_list(struct salvage *sv)
{
	size_t at = 1;

	if (look(sv, &at) != '{' || !look_value(sv, &at) || !is_record(sv))
		return false;
	mended(sv, 0, REASON_MENDED_KEY);
	return true;
}

/* After a comma: key and colon. */
static bool
look_key(struct salvage *sv, size_t *at)
{
	if (look(sv, at) != '"' || !look_value(sv, at) || look(sv, at) != ':')
		return false;
	++*at;
	return true;
}

/* Members and the outermost brace, and nothing after. */
static bool
is_tail(struct salvage *sv, size_t at)
{
	for (;;) {
		int c = look(sv, &at);

		at++;
		if (c == '}')
			return look(sv, &at) < 0 && at <= FIND_MAX;
		if (c != ',' || !look_key(sv, &at) || !look_value(sv, &at))
			return false;
	}
}

/*
 * Whether the bracket there ends the list of records, by what follows; among
 * garbage more must follow.
 */
static bool
ends_list(struct salvage *sv, bool is_bare, bool is_garbage)
{
	size_t at = 1;
	int c = look(sv, &at);

	if (is_bare)
		return c < 0;
	if (is_garbage && sv->rules->is_anywhere)
		return c >= 0 && is_tail(sv, at);
	if (c < 0 || c == '}')
		return !is_garbage || c >= 0;
	at++;
	return c == ',' &&
	    (is_garbage ? look_key(sv, &at) && look(sv, &at) == '['
			: look(sv, &at) == '"');
}

/* ---- among garbage ---- */

/*
 * How far to go from a brace whose n bytes are no record: usually one byte, as
 * an unclosed list contains whole records.
 */
static size_t
step_over(struct salvage *sv, size_t n)
{
	const struct in *in = sv->in;

	sv->wasted += n;
	if (sv->wasted < FIND_MAX + WASTE_FACTOR * in_offset(in, in->p))
		return 1;
	return n > 0 ? n : 1;
}

/* From in->p, or the byte after if skip. */
static enum found
find(struct salvage *sv, bool skip, bool is_bare)
{
	struct in *in = sv->in;
	size_t at = skip;

	for (;;) {
		const unsigned char *p = in->p + at;

		while (p < in->end && *p != '{' && *p != ']')
			p++;
		in->p = p;
		in_release(in);
		at = 0;
		if (p == in->end) {
			if (!in_more(in))
				return FOUND_NOTHING;
			continue;
		}
		at = 1;
		if (*p == ']') {
			if (ends_list(sv, is_bare, true))
				return FOUND_LIST_END;
		} else if (!mend_value(&sv->mender, in, 0, FIND_MAX)) {
			at = step_over(sv, sv->mender.where);
		} else if (is_record(sv)) {
			return FOUND_RECORD;
		} else {
			at = step_over(sv, sv->mender.end);
		}
	}
}

/* The data end too early: a warning, unless given. */
static enum found
cut_off(struct salvage *sv, bool is_told)
{
	sv->lost.is_cut = true;
	sv->is_over = true;
	if (!is_told)
		lose(sv, in_offset(sv->in, sv->in->p), REASON_LOST_CUT);
	return FOUND_NOTHING;
}

enum found
salvage_resume(struct salvage *sv)
{
	struct in *in = sv->in;
	int c = sv->is_over ? -1 : peek(sv);
	uint64_t from = in_offset(in, in->p);
	enum found found = FOUND_NOTHING;

	if (sv->is_over)
		return FOUND_NOTHING;
	if (c < 0)
		return cut_off(sv, false);
	if (sv->rules->is_anywhere)
		found = find(sv, false, false);
	else
		read_all(sv);
	if (found == FOUND_LIST_END)
		in->p++;
	lose(sv, from, c == 0 ? REASON_LOST_NUL : REASON_LOST_BROKEN);
	return found == FOUND_NOTHING ? cut_off(sv, true) : found;
}

/* ---- values and records ---- */

bool
salvage_value(struct salvage *sv, struct str *text)
{
	struct mender *m = &sv->mender;

	/* at the end, 12 may have been 123 */
	if (!mend_value(m, sv->in, 0, VALUE_MAX) ||
	    (m->is_scalar && sv->in->p + m->end == sv->in->end))
		return false;
	pass_value(sv);
	*text = buf_str(&m->text);
	return true;
}

static enum found
take_record(struct salvage *sv, struct str *text)
{
	sv->records++;
	sv->last_at = in_offset(sv->in, sv->in->p);
	pass_value(sv);
	*text = buf_str(&sv->mender.text);
	return FOUND_RECORD;
}

void
salvage_drop_record(struct salvage *sv)
{
	sv->records--;
	lose(sv, sv->last_at, REASON_LOST_LARGE);
}

/* Skips commas between records; the byte there. */
static int
pass_commas(struct salvage *sv, bool is_after)
{
	int c = peek(sv);

	if (is_after && c == '{')
		mended(sv, 0, REASON_MENDED_NO_COMMA);
	while (c == ',') {
		if (!is_after)
			mended(sv, 0, REASON_MENDED_COMMA);
		sv->in->p++;
		c = peek(sv);
		if (c == ']' && is_after)
			mended(sv, 0, REASON_MENDED_COMMA);
		is_after = false;
	}
	return c;
}

/* in->p is no record: finds the next. */
static enum found
skip_to_record(struct salvage *sv, enum reason why, bool is_bare)
{
	uint64_t from = in_offset(sv->in, sv->in->p);
	enum found found = find(sv, *sv->in->p == '{', is_bare);

	lose(sv, from, why);
	return found == FOUND_NOTHING ? cut_off(sv, true) : found;
}

enum found
salvage_record(struct salvage *sv, bool first, bool is_bare, struct str *text)
{
	struct mender *m = &sv->mender;
	struct in *in = sv->in;
	bool is_after = !first;

	for (;;) {
		enum reason why = REASON_LOST_GARBAGE;
		int c = pass_commas(sv, is_after);
		enum found found;

		if (c < 0 && is_bare && sv->records > 0) {
			sv->is_over = true; /* bracket may be missing */
			return FOUND_NOTHING;
		}
		if (c < 0)
			return cut_off(sv, false);
		if (c == ']' && ends_list(sv, is_bare, false)) {
			in->p++;
			return FOUND_LIST_END;
		}
		if (c == '{' && mend_value(m, in, 0, VALUE_MAX)) {
			if (m->nkeys <= sv->rules->max_keys)
				return take_record(sv, text);
			in->p += m->end;
			lose(sv, in_offset(in, in->p) - m->end,
			    REASON_LOST_LARGE);
			is_after = true;
			continue;
		}
		if (c == '{' || c == 0)
			why = c == 0 ? REASON_LOST_NUL : m->error;
		found = skip_to_record(sv, why, is_bare);
		if (found == FOUND_RECORD)
			return take_record(sv, text);
		if (found == FOUND_NOTHING)
			return found;
		is_after = false;
	}
}

/* ---- interface ---- */

struct salvage *
salvage_open(struct in *in)
{
	struct salvage *sv = xcalloc(1, sizeof *sv);

	in_tolerate(in);
	sv->in = in;
	return sv;
}

void
salvage_rules(struct salvage *sv, const struct salvage_rules *rules)
{
	sv->rules = rules;
	sv->mender.marks = rules->marks;
	sv->mender.key_depth = rules->key_depth;
}

void
salvage_finish(struct salvage *sv, struct source_state *s)
{
	for (enum reason i = 0; sv->nshown > LOSSES_SHOWN && i < REASON_COUNT;
	     i++)
		if (sv->losses[i] > 0)
			report(MSG_DAMAGE_REPEATED, sv->in->name, sv->losses[i],
			    report_reason(i));
	source_salvaged(s, &sv->lost, sv->records);
}

void
salvage_close(struct salvage *sv)
{
	buf_free(&sv->mender.text);
	vec_release(sv);
}

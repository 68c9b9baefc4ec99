/* SPDX-License-Identifier: MIT */
/* Looking ahead, and for the next whole record behind damage. */
#include "cmd/tl-decode/json/salvage-priv.h"

/* Where a record is looked for among garbage: no profiler writes longer ones.
 */
#define FIND_MAX ((size_t)1 << 20)
/*
 * A brace that begins no record is looked at up to where it fails, and then
 * each brace in it. Where that comes to so many bytes for each of the file,
 * the garbage is hostile and passed over as it fails.
 */
#define WASTE_FACTOR 16
/* Members of an event: what the reader takes, with the ends of containers. */
#define KEYS_MAX 2040

static bool
is_space(unsigned char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

int
salvage_peek(struct salvage *sv)
{
	struct in *in = sv->in;

	for (;;) {
		while (in->p < in->end && is_space(*in->p))
			in->p++;
		if (in->p < in->end)
			return *in->p;
		if (!in_more(in))
			return -1;
	}
}

/* The same from *at bytes behind in->p on, which stays. */
static int
look(struct salvage *sv, size_t *at)
{
	struct in *in = sv->in;

	for (;; ++*at) {
		while (in->p + *at >= in->end)
			if (*at > FIND_MAX || !in_more(in))
				return -1;
		if (!is_space(in->p[*at]))
			return in->p[*at];
	}
}

/* Cleans the value *at bytes behind in->p and moves *at behind it. */
static enum clean_status
value_at(struct salvage *sv, size_t *at, size_t max)
{
	struct cleaner *c = &sv->clean;
	enum clean_status status;

	for (;;) {
		c->p = sv->in->p + *at;
		c->end = sv->in->end;
		c->eof = sv->in->eof;
		c->out.len = 0;
		if ((status = clean_value(c)) != CLEAN_MORE)
			break;
		if ((size_t)(c->end - sv->in->p) > max) {
			c->error = "longer than anything that belongs there";
			c->where = sv->in->p + *at;
			return CLEAN_BAD;
		}
		(void)!in_more(sv->in);
	}
	*at = (size_t)(c->p - sv->in->p);
	return status;
}

enum clean_status
salvage_value(struct salvage *sv, size_t max)
{
	size_t at = 0;

	return value_at(sv, &at, max);
}

bool
salvage_too_large(const struct salvage *sv, enum part part)
{
	return (part == PART_RECORDS ? sv->clean.nkeys : sv->clean.ntop) >
	    KEYS_MAX;
}

/* Whether the value just cleaned is what the list is made of. */
static bool
is_record(const struct salvage *sv, enum part part)
{
	const struct cleaner *c = &sv->clean;

	return c->is_marked && !salvage_too_large(sv, part);
}

bool
salvage_begins_events(struct salvage *sv)
{
	size_t at = 1;

	return look(sv, &at) == '{' &&
	    value_at(sv, &at, FIND_MAX) == CLEAN_OK &&
	    is_record(sv, PART_EVENTS);
}

/* Behind a comma: a member's key and colon; at its value then. */
static bool
is_member(struct salvage *sv, size_t *at)
{
	if (look(sv, at) != '"' || value_at(sv, at, FIND_MAX) != CLEAN_OK ||
	    look(sv, at) != ':')
		return false;
	++*at;
	return true;
}

/* Members, the outermost brace, and nothing behind. */
static bool
is_tail(struct salvage *sv, size_t at)
{
	for (;;) {
		int c = look(sv, &at);

		at++;
		if (c == '}')
			return look(sv, &at) < 0 && at <= FIND_MAX;
		if (c != ',' || !is_member(sv, &at) || look(sv, &at) < 0 ||
		    value_at(sv, &at, FIND_MAX) != CLEAN_OK)
			return false;
	}
}

bool
salvage_list_ends(struct salvage *sv, enum part part, bool to_end)
{
	size_t at = 1;
	int c = look(sv, &at);

	if (part == PART_BARE)
		return c < 0;
	if (c < 0)
		return !to_end;
	if (part == PART_EVENTS && to_end)
		return is_tail(sv, at);
	if (c == '}') {
		if (part == PART_EVENTS)
			return true;
		at++;
		c = look(sv, &at);
		return c < 0 || c == '}' || c == ']' || c == ',';
	}
	if (c != ',')
		return false;
	at++;
	if (part == PART_EVENTS)
		return look(sv, &at) == '"';
	return is_member(sv, &at) && look(sv, &at) == '[';
}

/* The next brace or closing bracket from *p on, or NULL. */
static const unsigned char *
next_bracket(const unsigned char *p, const unsigned char *end)
{
	while (p < end && *p != '{' && *p != ']')
		p++;
	return p < end ? p : NULL;
}

/*
 * n bytes from a brace on are no record: how far to go on. Usually to the next
 * byte, for a list that was left open takes whole records in.
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

enum found
salvage_find(struct salvage *sv, enum part part, bool skip)
{
	struct in *in = sv->in;
	size_t at = skip;

	for (;;) {
		const unsigned char *p = next_bracket(in->p + at, in->end);

		in_release(in);
		if (p == NULL) {
			in->p = in->end;
			at = 0;
			if (!in_more(in))
				return FOUND_NOTHING;
			continue;
		}
		in->p = p;
		at = 1;
		if (*p == ']') {
			if (salvage_list_ends(sv, part, true))
				return FOUND_LIST_END;
		} else if (salvage_value(sv, FIND_MAX) == CLEAN_BAD) {
			at = step_over(sv, (size_t)(sv->clean.where - in->p));
		} else if (is_record(sv, part)) {
			return FOUND_RECORD;
		} else {
			at = step_over(sv, (size_t)(sv->clean.p - in->p));
		}
	}
}

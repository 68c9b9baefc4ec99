/* SPDX-License-Identifier: MIT */
/*
 * The salvage: which containers are passed on piece by piece, and what to do
 * where a piece is not whole.
 *
 *	FILE { "traceEvents": EVENTS [ event, ... ], member ... }
 *	BARE [ event, ... ]
 *	FILE { "rocprofiler-sdk-tool": PROCS [ PROC { member ...,
 *	    "buffer_records": BUFFERS { "name": RECORDS [ record, ... ] } } ] }
 */
#include "cmd/tl-decode/json/salvage-priv.h"

#include "cmd/tl-decode/decode.h"

/* The longest member and the longest event that are looked at as a whole. */
#define MEMBER_MAX ((size_t)256 << 20)
#define RECORD_MAX ((size_t)64 << 20)

/* ---- what goes out ---- */

static bool
is_list(enum part part)
{
	return part == PART_EVENTS || part == PART_BARE || part == PART_LIST ||
	    part == PART_RECORDS;
}

static bool
has_records(enum part part)
{
	return part == PART_EVENTS || part == PART_BARE || part == PART_RECORDS;
}

static void
put(struct salvage *sv, const char *p, size_t n)
{
	buf_put(sv->in_tail ? &sv->tail : &sv->out, p, n);
}

/* A comma, if one is due in the container at hand. */
static void
put_comma(struct salvage *sv)
{
	struct level *l = salvage_top(sv);

	if (l->any)
		put(sv, ",", 1);
	l->any = true;
	l->is_after = true;
}

static void
enter(struct salvage *sv, enum part part)
{
	put(sv, is_list(part) ? "[" : "{", 1);
	sv->levels[sv->depth++] = (struct level){ .part = part };
	sv->has_events |= has_records(part) || part == PART_LIST;
}

static void
leave(struct salvage *sv)
{
	struct level *l = salvage_top(sv);

	sv->in_tail |= l->part == PART_EVENTS;
	put(sv, is_list(l->part) ? "]" : "}", 1);
	sv->depth--;
}

/* Closes what is open. A bare list may stay open, unless it is empty. */
static void
end(struct salvage *sv)
{
	while (sv->depth > 0) {
		struct level *l = salvage_top(sv);

		if (l->part == PART_BARE && l->any)
			sv->depth--;
		else
			leave(sv);
	}
	buf_put(&sv->out, sv->tail.p, sv->tail.len);
	sv->ended = true;
}

/* ---- losses ---- */

/* Everything up to the end. */
static void
lose_rest(struct salvage *sv, const char *reason)
{
	struct in *in = sv->in;
	uint64_t from = in_offset(in, in->p);

	do {
		in->p = in->end;
		in_release(in);
	} while (in_more(in));
	loss_bytes(sv, from, in_offset(in, in->end) - from, reason);
	end(sv);
}

static void
put_record(struct salvage *sv)
{
	put_comma(sv);
	put(sv, sv->clean.out.p, sv->clean.out.len);
	loss_mends(sv);
	sv->counts.events++;
	sv->in->p = sv->clean.p;
}

/* A record was found where none was expected: in the list of events then. */
static void
enter_events(struct salvage *sv)
{
	if (sv->in_tail) {
		sv->in_tail = false;
		sv->tail.len = 0;
		sv->levels[sv->depth++] =
		    (struct level){ .part = PART_EVENTS, .any = true };
		return;
	}
	put_comma(sv);
	put(sv, sv->rules->list.p, sv->rules->list.len);
	enter(sv, PART_EVENTS);
}

/* On from what was found in the outermost object. */
static void
resume(struct salvage *sv, enum found found)
{
	if (found == FOUND_RECORD) {
		enter_events(sv);
		put_record(sv);
	} else {
		sv->in->p++; /* a member's end, with all behind it whole */
		salvage_top(sv)->is_after = true;
	}
}

/*
 * in->p stands at what can't be read. In lists of records the next record is
 * looked for, and events around where their list should stand; elsewhere
 * nothing is left to hold on to.
 */
static void
damage(struct salvage *sv, const char *reason, bool was_tried)
{
	struct in *in = sv->in;
	enum part part = salvage_top(sv)->part;
	bool in_file = part == PART_FILE && sv->rules->list.len > 0 &&
	    (!sv->has_events || sv->in_tail);
	uint64_t from = in_offset(in, in->p);
	enum found found;

	if (in_file)
		part = PART_EVENTS;
	if (!has_records(part)) {
		sv->counts.is_cut = true;
		lose_rest(sv, reason);
		return;
	}
	found = salvage_find(sv, part, was_tried);
	loss_bytes(sv, from, in_offset(in, in->p) - from, reason);
	if (found == FOUND_NOTHING) {
		sv->counts.is_cut = true;
		end(sv);
	} else if (in_file) {
		resume(sv, found);
	} else if (found == FOUND_RECORD) {
		put_record(sv);
	}
}

static void
cut_off(struct salvage *sv)
{
	sv->counts.is_cut = true;
	lose_rest(sv, "the data end before the trace does");
}

/* ---- lists ---- */

/* Moves over the comma between two elements; what comes then. */
static int
list_comma(struct salvage *sv, int c)
{
	struct level *l = salvage_top(sv);
	uint64_t at = in_offset(sv->in, sv->in->p);

	if (c == ',') {
		if (!l->is_after)
			loss_mend(sv, at, "a comma too many, dropped");
		l->is_after = false;
		sv->in->p++;
		c = salvage_peek(sv);
		if (c == ']')
			loss_mend(
			    sv, at, "commas before a closing bracket, dropped");
	} else if (l->is_after && c == '{') {
		loss_mend(sv, at, "a missing comma, put in");
	}
	return c;
}

static void
read_record(struct salvage *sv)
{
	enum part part = salvage_top(sv)->part;
	struct in *in = sv->in;

	in_release(in);
	if (salvage_value(sv, RECORD_MAX) == CLEAN_BAD) {
		damage(sv, sv->clean.error, true);
	} else if (salvage_too_large(sv, part)) {
		loss_bytes(sv, in_offset(in, in->p),
		    (uint64_t)(sv->clean.p - in->p),
		    "an event of too many members");
		in->p = sv->clean.p;
		salvage_top(sv)->is_after = true;
	} else {
		put_record(sv);
	}
}

static void
step_list(struct salvage *sv)
{
	struct level *l = salvage_top(sv);
	int c = salvage_peek(sv);

	if (c == ',' || (c >= 0 && l->is_after))
		c = list_comma(sv, c);
	if (c < 0) {
		if (l->part == PART_BARE && l->any)
			end(sv); /* its bracket may be missing */
		else
			cut_off(sv);
		return;
	}
	if (c == ']' && salvage_list_ends(sv, l->part, false)) {
		sv->in->p++;
		leave(sv);
	} else if (c == '{' && l->part == PART_LIST) {
		sv->in->p++;
		put_comma(sv);
		enter(sv, PART_OBJECT);
	} else if (c == '{') {
		read_record(sv);
	} else if (c != ',') {
		damage(sv, c == 0 ? "NUL bytes" : "garbage between two events",
		    false);
	}
}

/* ---- objects ---- */

/* What to do with a member by its key and the first byte of its value. */
static bool
part_of_member(const struct salvage *sv, int c, enum part *part)
{
	const struct salvage_part *p = sv->rules->parts;
	enum part in = sv->levels[sv->depth - 1].part;

	if (in == PART_TABLES && c == '[') {
		*part = PART_RECORDS;
		return true;
	}
	for (; p->key.len > 0; p++) {
		if (p->in == in && p->begins == c &&
		    str_eq(buf_str(&sv->key), p->key)) {
			*part = p->is;
			return true;
		}
	}
	return false;
}

static void
put_key(struct salvage *sv)
{
	put_comma(sv);
	put(sv, sv->key.p, sv->key.len);
}

static void
put_member(struct salvage *sv)
{
	struct in *in = sv->in;

	if (salvage_value(sv, MEMBER_MAX) == CLEAN_BAD) {
		damage(sv, sv->clean.error, true);
		return;
	}
	if (sv->clean.is_scalar && sv->clean.p == in->end && in->eof) {
		cut_off(sv); /* 12 may have been 123 */
		return;
	}
	put_key(sv);
	put(sv, sv->clean.out.p, sv->clean.out.len);
	loss_mends(sv);
	in->p = sv->clean.p;
}

/* in->p at the value of the member whose key was read. */
static void
read_member(struct salvage *sv, int c)
{
	enum part part;

	if (part_of_member(sv, c, &part)) {
		if (sv->has_events && salvage_top(sv)->part == PART_FILE) {
			lose_rest(sv, "a second list of events");
			return;
		}
		sv->in->p++;
		put_key(sv);
		enter(sv, part);
	} else if (c == '[' && !sv->has_events && sv->rules->list.len > 0 &&
	    salvage_top(sv)->part == PART_FILE && salvage_begins_events(sv)) {
		loss_mend(sv, in_offset(sv->in, sv->in->p),
		    "a list of events under another key");
		sv->in->p++;
		enter_events(sv);
	} else {
		put_member(sv);
	}
}

/* The key at in->p, with its colon, and on to the value. */
static void
read_key(struct salvage *sv)
{
	struct in *in = sv->in;
	int c;

	if (salvage_value(sv, MEMBER_MAX) == CLEAN_BAD) {
		damage(sv, sv->clean.error, true);
		return;
	}
	sv->key.len = 0;
	buf_put(&sv->key, sv->clean.out.p, sv->clean.out.len);
	loss_mends(sv);
	in->p = sv->clean.p;
	c = salvage_peek(sv);
	if (c < 0) {
		cut_off(sv);
		return;
	}
	if (c != ':') {
		damage(sv, "expected ':' after a key", false);
		return;
	}
	buf_putc(&sv->key, ':');
	in->p++;
	c = salvage_peek(sv);
	if (c < 0)
		cut_off(sv);
	else
		read_member(sv, c);
}

/* At the brace that closes the file: is it the end? */
static void
end_file(struct salvage *sv)
{
	int c;

	sv->in->p++;
	c = salvage_peek(sv);
	if (c < 0)
		end(sv);
	else if (sv->has_events && (c == '{' || !sv->in_tail))
		lose_rest(sv, "text behind the end of the trace");
	else
		damage(sv,
		    c == 0 ? "NUL bytes" : "the trace seemed to end before",
		    false);
}

static void
step_object(struct salvage *sv)
{
	struct level *l = salvage_top(sv);
	int c = salvage_peek(sv);

	if (c == ',') {
		uint64_t at = in_offset(sv->in, sv->in->p);

		sv->in->p++;
		c = salvage_peek(sv);
		if (!l->is_after || c == '}')
			loss_mend(sv, at, "a comma too many, dropped");
		l->is_after = false;
	} else if (c == '"' && l->is_after) {
		loss_mend(sv, in_offset(sv->in, sv->in->p),
		    "a missing comma, put in");
	}
	if (c < 0) {
		cut_off(sv);
	} else if (c == '}' && l->part == PART_FILE) {
		end_file(sv);
	} else if (c == '}') {
		sv->in->p++;
		leave(sv);
	} else if (c == '"') {
		read_key(sv);
	} else {
		damage(sv, c == 0 ? "NUL bytes" : "expected a key", false);
	}
}

/* ---- the filter ---- */

/* Neither object nor list: events may follow; else the reader says what this
 * is. */
static void
begin_garbage(struct salvage *sv)
{
	struct in *in = sv->in;
	struct buf head = { 0 };
	uint64_t from = in_offset(in, in->p);
	enum found found;

	(void)!in_need(in, 1024);
	buf_put(&head, in->p, (size_t)(in->end - in->p));
	found = salvage_find(sv, PART_EVENTS, false);
	if (found == FOUND_NOTHING) {
		put(sv, head.p, head.len);
		sv->ended = true;
	} else {
		loss_bytes(sv, from, in_offset(in, in->p) - from,
		    "garbage before the trace");
		enter(sv, PART_FILE);
		resume(sv, found);
	}
	buf_free(&head);
}

static void
begin(struct salvage *sv)
{
	struct in *in = sv->in;
	int c;

	sv->began = true;
	(void)!in_need(in, 3);
	if (in->end - in->p >= 3 && memcmp(in->p, "\xef\xbb\xbf", 3) == 0)
		in->p += 3;
	c = salvage_peek(sv);
	if (c == '{' || c == '[') {
		in->p++;
		enter(sv, c == '{' ? PART_FILE : PART_BARE);
	} else if (c >= 0) {
		begin_garbage(sv);
	} else {
		sv->ended = true;
	}
}

/* All was read. */
static void
finish(struct salvage *sv)
{
	const char *damage = in_damage(sv->in);

	if (damage != NULL)
		loss_damage(sv, damage);
	if (sv->counts.losses > 0 && sv->counts.events == 0)
		die("%s: nothing can be saved: no event is whole",
		    sv->in->name);
	sv->is_done = true;
}

static size_t
fill(void *arg, void *dst, size_t n)
{
	struct salvage *sv = arg;
	size_t have;

	while (sv->out_at == sv->out.len) {
		sv->out_at = sv->out.len = 0;
		if (sv->is_done)
			return 0;
		if (!sv->began)
			begin(sv);
		else if (sv->ended)
			finish(sv);
		else if (sv->depth == 0)
			end(sv);
		else if (is_list(salvage_top(sv)->part))
			step_list(sv);
		else
			step_object(sv);
	}
	have = sv->out.len - sv->out_at;
	have = have < n ? have : n;
	memcpy(dst, sv->out.p + sv->out_at, have);
	sv->out_at += have;
	return have;
}

/* ---- from outside ---- */

struct salvage *
salvage_open(struct in *in, const struct salvage_rules *rules)
{
	struct salvage *sv = xcalloc(1, sizeof *sv);

	in_tolerate(in);
	sv->in = in;
	sv->rules = rules;
	sv->clean.marks = rules->marks;
	return sv;
}

struct in *
salvage_input(struct salvage *sv)
{
	return in_open_filter(fill, sv, sv->in->name);
}

void
salvage_note(const struct salvage *sv, struct source_state *s)
{
	const struct salvage_counts *c = &sv->counts;
	struct buf b = { 0 };

	if (c->losses == 0 && c->mended == 0)
		return;
	buf_printf(&b,
	    "{\"losses\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"mended\":%" PRIu64
	    ",\"cut\":%s}",
	    c->losses, c->bytes, c->mended, c->is_cut ? "true" : "false");
	facts_json(&s->facts, "salvaged", buf_str(&b));
	buf_free(&b);
	stream_mark(s->out, MARK_SALVAGED);
}

void
salvage_close(struct salvage *sv)
{
	loss_summary(sv);
	buf_free(&sv->clean.out);
	buf_free(&sv->key);
	buf_free(&sv->out);
	buf_free(&sv->tail);
	vec_free(&sv->losses);
	vec_release(sv);
}

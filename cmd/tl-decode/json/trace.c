/* SPDX-License-Identifier: MIT */
/* A JSON source: see trace.h. */
#include "cmd/tl-decode/json/trace.h"

#include "stream/from-json.h"

#define CUT "the file ends here: it is cut off"

/* ---- what it is ---- */

unsigned char
json_first(struct str head)
{
	struct json j;

	json_start(&j, head.p, head.len);
	/* a protobuf may begin like JSON, with a newline */
	for (size_t i = 0; i < 64 && i < head.len; i++)
		if ((unsigned char)head.p[i] < '\t' || head.p[i] == 0x7f)
			return 0;
	if (head.len >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0)
		j.p += 3;
	json_space(&j);
	return j.p < j.end ? *j.p : ' ';
}

/* ---- the cursor ---- */

static void
set_window(struct json_trace *t)
{
	t->json.p = t->s->in->p;
	t->json.end = t->s->in->end;
	t->json.eof = t->s->in->eof;
}

/* More bytes from s->in->p; sets json.eof at the end. */
static void
need_more(struct json_trace *t)
{
	/*
	 * at the largest window in_more() ends the program; at the end of data
	 * the reader fails at its next try
	 */
	if (!in_more(t->s->in) && t->salvage == NULL)
		source_check(t->s);
	set_window(t);
}

/* When salvaging, stops at what cannot be read. */
static bool
give_up(struct json_trace *t)
{
	if (t->salvage != NULL && !t->is_lost)
		t->s->in->p = t->json.p;
	t->is_lost = t->salvage != NULL;
	return t->is_lost;
}

bool
trace_retry(struct json_trace *t, enum json_status status)
{
	struct json *j = &t->json;

	if (status == JSON_MORE)
		need_more(t);
	else if (!give_up(t))
		source_die(t->s, j->where, j->where < j->end ? j->error : CUT);
	return !t->is_lost;
}

void
trace_die(struct json_trace *t, const char *reason)
{
	if (!give_up(t))
		source_die(
		    t->s, t->json.p, t->json.p < t->json.end ? reason : CUT);
}

bool
trace_more_slow(struct json_trace *t)
{
	struct json *j = &t->json;

	while (j->p >= j->end) {
		if (j->eof)
			return false;
		t->s->in->p = j->p;
		need_more(t);
		json_space(j);
	}
	return true;
}

unsigned char
trace_peek(struct json_trace *t)
{
	if (!trace_more(t))
		trace_die(t, CUT);
	return *t->json.p; /* zero at the end */
}

void
trace_open(struct json_trace *t, unsigned char open, const char *what)
{
	if (trace_peek(t) != open)
		trace_die(t, what);
	t->json.p++;
}

static bool
next_in(struct json_trace *t, bool first, unsigned char close)
{
	unsigned char c = trace_peek(t);

	if (!t->is_lost && c == close) {
		t->json.p++;
		return false;
	}
	if (!t->is_lost && !first) {
		if (c != ',')
			trace_die(t,
			    close == '}' ? "expected ',' or '}' after a value"
					 : "expected ',' or ']' after a value");
		t->json.p++;
		trace_peek(t);
	}
	return !t->is_lost;
}

bool
trace_element(struct json_trace *t, bool first)
{
	return next_in(t, first, ']');
}

void
trace_pass(struct json_trace *t)
{
	t->s->in->p = t->json.p;
	in_release(t->s->in);
}

/* The key at the cursor; moves to its value. */
static bool
read_key(struct json_trace *t, struct buf *key)
{
	enum json_status status;
	const char *error;
	struct str raw;
	bool escaped;
	size_t at;

	if (*t->json.p != '"')
		trace_die(t, "expected a key in quotes");
	t->s->in->p = t->json.p;
	while ((status = json_string(&t->json, &raw, &escaped)) != JSON_OK)
		if (!trace_retry(t, status))
			return false;
	key->len = 0;
	if (!json_unescape(raw, key, &error, &at) && !give_up(t))
		source_die(t->s, (const unsigned char *)raw.p + at, error);
	if (trace_peek(t) != ':')
		trace_die(t, "expected ':' after a key");
	t->json.p++;
	trace_peek(t);
	return !t->is_lost;
}

bool
trace_member(struct json_trace *t, bool first, struct buf *key)
{
	return next_in(t, first, '}') && read_key(t, key);
}

/* The value at the cursor, mended. */
static bool
salvage_span(struct json_trace *t, struct str *text)
{
	trace_pass(t);
	t->is_lost |= !salvage_value(t->salvage, text);
	set_window(t);
	return !t->is_lost;
}

bool
trace_span(struct json_trace *t, struct str *text)
{
	enum json_status status;

	if (t->salvage != NULL)
		return salvage_span(t, text);
	trace_pass(t);
	while ((status = json_span(&t->json, text)) != JSON_OK)
		if (!trace_retry(t, status))
			return false;
	return true;
}

bool
trace_salvage_record(
    struct json_trace *t, bool first, bool is_bare, struct str *text)
{
	enum found found;

	if (first)
		trace_pass(t);
	found = salvage_record(t->salvage, first, is_bare, text);
	if (found == FOUND_RECORD) {
		json_start(&t->json, text->p, text->len);
		return true;
	}
	t->is_lost = found == FOUND_NOTHING;
	set_window(t);
	return false;
}

bool
trace_record(struct json_trace *t, bool first, struct str *text)
{
	if (t->salvage != NULL)
		return trace_salvage_record(t, first, false, text);
	if (!trace_element(t, first))
		return false;
	if (trace_peek(t) != '{')
		trace_die(t, "expected a record, an object");
	return trace_span(t, text);
}

/* ---- single values ---- */

bool
trace_value(struct json_trace *t, struct buf *text, struct value *v)
{
	struct str raw;

	if (!trace_span(t, &raw))
		return false;
	if (value_of_text(&t->value, raw, 1, text, v))
		return true;
	t->is_lost = t->salvage != NULL;
	if (!t->is_lost)
		source_die(t->s, t->value.where, t->value.error);
	return false;
}

/* ---- the object around ---- */

static void
read_events(struct json_trace *t, bool may_be_open)
{
	if (t->has_events && t->salvage != NULL) {
		salvage_drop_rest(t->salvage, REASON_LOST_SECOND);
		t->is_lost = true;
		return;
	}
	if (t->has_events)
		trace_die(t, "a second list of events");
	t->has_events = true;
	facts_str(&t->s->facts, "format", str_of(t->format->name));
	if (may_be_open) {
		facts_int(&t->s->facts, "bare_array", 1);
		/* before the events, for writing such a list again */
		source_emit(t->s, false);
	}
	t->json.p++;
	t->format->read(t, may_be_open);
	t->s->events_ended = true;
}

/* The key tells the format; a damaged one may be the list's. */
static bool
is_events(struct json_trace *t, struct str name)
{
	const struct json_format *format =
	    str_eq(name, t->format->events) ? t->format : format_of_key(name);

	if (*t->json.p != '[')
		return false;
	if (format != NULL) {
		t->format = format;
		if (t->salvage != NULL)
			salvage_rules(t->salvage, format->rules);
		return true;
	}
	if (t->salvage == NULL || t->has_events || !t->format->is_bare)
		return false;
	trace_pass(t);
	bool is_list = salvage_is_list(t->salvage);
	set_window(t);
	return is_list;
}

static void
read_members(struct json_trace *t, bool first, const char **guess)
{
	for (; trace_member(t, first, &t->key); first = false) {
		struct str name = buf_str(&t->key);
		struct value v;

		if (*guess == NULL)
			*guess = guess_key(name);
		if (is_events(t, name)) {
			read_events(t, false);
			continue;
		}
		if (!trace_value(t, &t->text, &v))
			return;
		if (t->format->on_member != NULL)
			t->format->on_member(t->s, name, &v);
		source_meta(t->s, name, v);
	}
}

static void
read_object(struct json_trace *t)
{
	const char *guess = NULL;

	t->json.p++;
	read_members(t, true, &guess);
	if (!t->has_events && !t->is_lost &&
	    (guess != NULL || !t->format->may_lack))
		die("%s: no events: the object has no list \"%s\"%s%s",
		    t->s->in->name, t->format->events.p,
		    guess != NULL ? "; it " : "", guess != NULL ? guess : "");
}

/* After the apparent end. */
static void
read_behind(struct json_trace *t)
{
	if (t->is_lost || !trace_more(t))
		return;
	if (t->salvage != NULL && *t->json.p == '{') {
		trace_pass(t);
		salvage_drop_rest(t->salvage, REASON_LOST_BEHIND);
		set_window(t);
	} else {
		trace_die(t, "text follows the end of the JSON value");
	}
}

/* Where the reader cannot go on: from the next whole event. */
static void
resume(struct json_trace *t)
{
	const char *guess = "";

	while (t->is_lost) {
		enum found found = salvage_resume(t->salvage);

		set_window(t);
		if (found == FOUND_NOTHING)
			return;
		t->is_lost = false;
		if (found == FOUND_RECORD) {
			t->has_events = true;
			t->format->read(t, false);
			t->s->events_ended = true;
		}
		read_members(t, false, &guess);
		read_behind(t);
	}
}

static void
read_text(struct json_trace *t)
{
	struct json *j = &t->json;

	(void)!in_need(t->s->in, 3);
	set_window(t);
	if (j->p + 3 <= j->end && memcmp(j->p, "\xef\xbb\xbf", 3) == 0)
		j->p += 3;
	if (!trace_more(t))
		die("%s: only white space", t->s->in->name);
	if (*j->p == '{')
		read_object(t);
	else if (*j->p == '[' && t->format->is_bare)
		read_events(t, true);
	else if (!give_up(t))
		format_die(t->s);
	read_behind(t);
	resume(t);
	t->s->in->p = j->p;
}

static void
release(void *reading)
{
	struct json_trace *t = reading;

	if (t->reader != NULL)
		t->format->release(t);
	if (t->salvage != NULL)
		salvage_close(t->salvage);
	buf_free(&t->key);
	buf_free(&t->text);
	vec_release(t);
}

void
json_read(struct source_state *s, const struct json_format *format)
{
	struct json_trace *t = xcalloc(1, sizeof *t);

	t->s = s;
	t->format = format;
	s->reading = t;
	s->release = release;
	if (s->set->salvage) {
		t->salvage = salvage_open(s->in);
		salvage_rules(t->salvage, format->rules);
	}
	read_text(t);
	if (t->salvage != NULL)
		salvage_finish(t->salvage, s);
	else
		source_check(s);
	s->counts->bytes += in_offset(s->in, s->in->end);
}

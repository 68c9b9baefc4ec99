/* SPDX-License-Identifier: MIT */
/*
 * A JSON source from the outside: an object with its events in "traceEvents"
 * and metadata around them, or the bare array of events, whose closing bracket
 * the format lets a writer leave out.
 */
#include "decode.h"

/* White space away, with at least one byte behind it unless the file ends. */
static inline void
space(struct source_state *s)
{
	struct json *j = &s->json;

	json_space(j);
	while (UNLIKELY(j->p >= j->end && !j->eof)) {
		s->in->p = j->p;
		source_need_more(s);
		json_space(j);
	}
}

static noreturn void
die_here(struct source_state *s, const char *reason)
{
	source_die(s, s->json.p,
	    s->json.p >= s->json.end ? "the file ends here: it is cut off"
				     : reason);
}

/* The array of events, cursor behind its bracket. */
static void
read_events(struct source_state *s, bool may_be_open)
{
	struct event_reader *r = s->reader = event_reader_create(s);
	struct json *j = &s->json;

	s->events_began = true;
	for (bool first = true;; first = false) {
		enum json_status status;

		space(s);
		if (*j->p == ']' && j->p < j->end) {
			j->p++;
			break;
		}
		if (!first && *j->p == ',') {
			j->p++;
			space(s);
		} else if (!first && j->p < j->end) {
			die_here(s, "expected ',' or ']' after an event");
		}
		if (j->p >= j->end) {
			if (!may_be_open || first)
				die_here(s, "");
			facts_int(&s->facts, "open_array", 1);
			break;
		}
		if (*j->p != '{')
			die_here(s, "expected an event, an object");
		s->in->p = j->p;
		in_release(s->in);
		while ((status = event_read(r)) != JSON_OK)
			source_retry(s, status);
		if (UNLIKELY(s->next_id % 64 == 0)) {
			event_reader_trim(r);
			if (progress_due)
				progress_show(
				    in_consumed(s->in), in_size(s->in));
		}
	}
	s->events_ended = true;
	event_reader_destroy(r);
	s->reader = NULL;
}

/* ---- metadata that we understand ---- */

static void
set_rank(struct source_state *s, int64_t rank, const char *from)
{
	facts_int(&s->facts, "rank", rank);
	facts_str(&s->facts, "rank_from", str_of(from));
}

/* distributedInfo: rank and world_size, integers or their text. */
static void
read_distributed(struct source_state *s, struct str text)
{
	struct buf padded = { 0 };
	struct json j;
	enum json_token t;
	struct str key = { "", 0 };
	int64_t n;

	buf_put(&padded, text.p, text.len);
	buf_room(&padded, IN_PAD);
	memset(padded.p + padded.len, 0, IN_PAD);
	json_start(&j, padded.p, padded.len);
	while ((t = json_next(&j)) > JSON_T_END) {
		if (t == JSON_T_KEY) {
			key = j.raw;
			continue;
		}
		if ((t == JSON_T_OBJECT || t == JSON_T_ARRAY) && j.depth > 1)
			(void)!json_skip(&j);
		if ((t == JSON_T_NUMBER || t == JSON_T_STRING) &&
		    num_i64(j.raw, &n)) {
			if (str_eq(key, STR("rank")))
				set_rank(s, n, "distributedInfo");
			else if (str_eq(key, STR("world_size")))
				facts_int(&s->facts, "world_size", n);
		}
	}
	buf_free(&padded);
}

static void
note_meta(struct source_state *s, struct str key, const struct value *v)
{
	if (str_eq(key, STR("distributedInfo")) && v->type == VAL_JSONX)
		read_distributed(s, v->s);
	else if (str_eq(key, STR("deviceProperties")) && v->type == VAL_JSONX)
		facts_set(&s->facts, "devices", *v);
	else if (str_eq(key, STR("baseTimeNanoseconds")) &&
	    v->type == VAL_INT) {
		char text[24];

		facts_str(&s->facts, "epoch",
		    (struct str){ text, num_put_i64(text, v->i) });
	} else if ((str_eq(key, STR("host_name")) ||
		       str_eq(key, STR("hostname"))) &&
	    v->type == VAL_STRX)
		facts_str(&s->facts, "hostname", v->s);
}

static void
read_meta(struct source_state *s, struct str key)
{
	enum json_status status;
	struct value v;

	s->in->p = s->json.p;
	in_release(s->in);
	while ((status = source_value(s, &s->text, &v)) != JSON_OK)
		source_retry(s, status);
	note_meta(s, key, &v);
	source_meta(s, key, v);
}

/* ---- the object around ---- */

/* A key of the outermost object, unescaped into s->key; cursor at its value. */
static void
read_key(struct source_state *s)
{
	struct json *j = &s->json;
	enum json_status status;
	struct str raw;
	const char *error;
	bool escaped;
	size_t at;

	if (*j->p != '"')
		die_here(s, "expected a key in quotes");
	s->in->p = j->p;
	while ((status = json_string(j, &raw, &escaped)) != JSON_OK)
		source_retry(s, status);
	s->key.len = 0;
	if (!json_unescape(raw, &s->key, &error, &at))
		source_die(s, (const unsigned char *)raw.p + at, error);
	space(s);
	if (*j->p != ':')
		die_here(s, "expected ':' after a key");
	j->p++;
	space(s);
	if (j->p >= j->end)
		die_here(s, "");
}

/* One member; true for those that hold events. */
static bool
read_member(struct source_state *s, const char **guess)
{
	struct str name;

	read_key(s);
	name = buf_str(&s->key);
	if (*guess == NULL)
		*guess = format_guess_key(name);
	if (str_eq(name, STR("traceEvents")) && *s->json.p == '[') {
		if (s->events_began)
			die_here(s, "a second list of events");
		facts_str(&s->facts, "format", STR("chrome"));
		s->json.p++;
		read_events(s, false);
		return true;
	}
	if (str_eq(name, STR("rocprofiler-sdk-tool")) && *s->json.p == '[') {
		if (s->events_began)
			die_here(s, "a second list of events");
		rocprof_read(s);
		return true;
	}
	read_meta(s, name);
	return false;
}

static void
read_object(struct source_state *s)
{
	struct json *j = &s->json;
	const char *guess = NULL;
	bool found = false;

	j->p++;
	for (bool first = true;; first = false) {
		space(s);
		if (*j->p == '}' && j->p < j->end) {
			j->p++;
			break;
		}
		if (!first) {
			if (*j->p != ',')
				die_here(
				    s, "expected ',' or '}' after a value");
			j->p++;
			space(s);
		}
		if (read_member(s, &guess))
			found = true;
	}
	if (!found)
		die("%s: no events: the object has no list \"traceEvents\"%s%s",
		    s->in->name, guess != NULL ? "; it " : "",
		    guess != NULL ? guess : "");
}

/* A mark before JSON in Unicode's other forms; moves over UTF-8's. */
static void
byte_order_mark(struct source_state *s)
{
	if (s->json.p + 3 <= s->json.end &&
	    memcmp(s->json.p, "\xef\xbb\xbf", 3) == 0)
		s->json.p += 3;
}

static noreturn void
die_no_trace(struct source_state *s)
{
	die("%s: byte %" PRIu64 ": no trace: this %s", s->in->name,
	    in_offset(s->in, s->json.p),
	    format_guess(s->in->p, (size_t)(s->in->end - s->in->p)));
}

/* A protobuf may begin like JSON: its first byte is a newline. */
static void
refuse_binary(struct source_state *s)
{
	const unsigned char *p = s->json.p;

	for (size_t i = 0; i < 64 && p + i < s->json.end; i++)
		if (p[i] < '\t' || p[i] == 0x7f)
			die_no_trace(s);
}

void
json_source(struct source_state *s)
{
	struct json *j = &s->json;

	if (!in_need(s->in, 1024))
		source_check(s);
	source_window(s);
	if (j->p >= j->end)
		die("%s: the file is empty", s->in->name);
	refuse_binary(s);
	byte_order_mark(s);
	space(s);
	if (j->p >= j->end)
		die("%s: nothing but white space", s->in->name);
	if (*j->p == '{') {
		read_object(s);
	} else if (*j->p == '[') {
		facts_str(&s->facts, "format", STR("chrome"));
		facts_int(&s->facts, "bare_array", 1);
		/* before the events, for who writes such an array again */
		source_tell(s, false);
		j->p++;
		read_events(s, true);
	} else {
		die_no_trace(s);
	}
	space(s);
	if (j->p < j->end)
		die_here(s, "text follows the end of the JSON value");
	s->in->p = j->p;
}

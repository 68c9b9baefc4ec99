/* SPDX-License-Identifier: MIT */
/* A JSON source from the outside: see trace.h. */
#include "cmd/tl-decode/json/trace.h"

#include "cmd/tl-decode/json/salvage.h"

#define CUT "the file ends here: it is cut off"

/* ---- what it is ---- */

static struct json
head_start(struct str head)
{
	struct json j;

	json_start(&j, head.p, head.len);
	j.eof = false;
	if (head.len >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0)
		j.p += 3;
	json_space(&j);
	return j;
}

unsigned char
json_first(struct str head)
{
	struct json j = head_start(head);

	/* a protobuf may begin like JSON: its first byte is a newline */
	for (size_t i = 0; i < 64 && i < head.len; i++)
		if ((unsigned char)head.p[i] < '\t' || head.p[i] == 0x7f)
			return 0;
	return j.p < j.end ? *j.p : ' ';
}

bool
json_head_has(struct str head, struct str key)
{
	struct json j = head_start(head);
	enum json_token t;

	if (str_find(head, key, false) < 0)
		return false;
	while ((t = json_next(&j)) > JSON_T_END)
		if (t == JSON_T_KEY && j.depth == 1 && str_eq(j.raw, key))
			return true;
	return false;
}

/* ---- the cursor ---- */

static void
set_window(struct json_trace *t)
{
	t->json.p = t->s->in->p;
	t->json.end = t->s->in->end;
	t->json.eof = t->s->in->eof;
}

/* More bytes from s->in->p on; at the end json.eof is set. */
static void
need_more(struct json_trace *t)
{
	/* in_more() dies by itself when the window can grow no further; at the
	 * end eof gets set and the reader fails at its next try */
	if (!in_more(t->s->in))
		source_check(t->s);
	set_window(t);
}

void
trace_retry(struct json_trace *t, enum json_status status)
{
	struct json *j = &t->json;

	if (status == JSON_BAD)
		source_die(t->s, j->where, j->where < j->end ? j->error : CUT);
	need_more(t);
}

void
trace_die(struct json_trace *t, const char *reason)
{
	source_die(t->s, t->json.p, t->json.p < t->json.end ? reason : CUT);
}

bool
trace_more(struct json_trace *t)
{
	struct json *j = &t->json;

	json_space(j);
	while (UNLIKELY(j->p >= j->end)) {
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
	return *t->json.p;
}

void
trace_open(struct json_trace *t, unsigned char open, const char *what)
{
	if (trace_peek(t) != open)
		trace_die(t, what);
	t->json.p++;
}

bool
trace_element(struct json_trace *t, bool first, unsigned char close)
{
	unsigned char c = trace_peek(t);

	if (c == close) {
		t->json.p++;
		return false;
	}
	if (!first) {
		if (c != ',')
			trace_die(t,
			    close == '}' ? "expected ',' or '}' after a value"
					 : "expected ',' or ']' after a value");
		t->json.p++;
		trace_peek(t);
	}
	return true;
}

void
trace_pass(struct json_trace *t)
{
	t->s->in->p = t->json.p;
	in_release(t->s->in);
}

void
trace_key(struct json_trace *t, struct buf *key)
{
	enum json_status status;
	const char *error;
	struct str raw;
	bool escaped;
	size_t at;

	if (trace_peek(t) != '"')
		trace_die(t, "expected a key in quotes");
	t->s->in->p = t->json.p;
	while ((status = json_string(&t->json, &raw, &escaped)) != JSON_OK)
		trace_retry(t, status);
	key->len = 0;
	if (!json_unescape(raw, key, &error, &at))
		source_die(t->s, (const unsigned char *)raw.p + at, error);
	if (trace_peek(t) != ':')
		trace_die(t, "expected ':' after a key");
	t->json.p++;
	trace_peek(t);
}

struct str
trace_span(struct json_trace *t)
{
	enum json_status status;
	struct str raw;

	trace_pass(t);
	while ((status = json_span(&t->json, &raw)) != JSON_OK)
		trace_retry(t, status);
	return raw;
}

/* ---- single values ---- */

static void
value_of_number(const struct json_num *num, struct value *v)
{
	switch (num->type) {
	case JSON_INT:
		*v = (struct value){ .type = VAL_INT, .i = num->i };
		break;
	case JSON_UINT:
		*v = (struct value){ .type = VAL_UINT, .u = num->u };
		break;
	case JSON_DEC:
		*v = (struct value){ .type = VAL_DEC, .dec = num->dec };
		break;
	case JSON_TEXT:
		*v = (struct value){ .type = VAL_NUM, .s = num->text };
		break;
	}
}

static enum json_status
read_value(struct json *j, struct buf *text, struct value *v)
{
	enum json_status status;
	struct json_num num;
	struct str raw;
	const char *error;
	size_t at;

	text->len = 0;
	if ((unsigned)(*j->p - '0') < 10 || (*j->p == '-' && j->p[1] != 'I')) {
		if ((status = json_number(j, &num)) == JSON_OK)
			value_of_number(&num, v);
		return status;
	}
	if ((status = json_span(j, &raw)) != JSON_OK)
		return status;
	if (!json_minify(raw, 1, text, &error, &at))
		return json_fail(j, (const unsigned char *)raw.p + at, error);
	*v = (struct value){ .s = buf_str(text) };
	switch (text->p[0]) {
	case 'n': v->type = VAL_NULL; break;
	case 't': v->type = VAL_TRUE; break;
	case 'f': v->type = VAL_FALSE; break;
	case '[':
	case '{': v->type = VAL_JSONX; break;
	case '"':
		v->type = VAL_STRX;
		text->len = 0;
		if (!json_unescape((struct str){ raw.p + 1, raw.len - 2 }, text,
			&error, &at))
			return json_fail(
			    j, (const unsigned char *)raw.p + 1 + at, error);
		v->s = buf_str(text);
		break;
	default: v->type = VAL_NUM; break;
	}
	return JSON_OK;
}

struct value
trace_value(struct json_trace *t, struct buf *text)
{
	enum json_status status;
	struct value v;

	trace_pass(t);
	while ((status = read_value(&t->json, text, &v)) != JSON_OK)
		trace_retry(t, status);
	return v;
}

/* ---- the object around ---- */

static void
read_events(struct json_trace *t, bool may_be_open)
{
	if (t->has_events)
		trace_die(t, "a second list of events");
	t->has_events = true;
	facts_str(&t->s->facts, "format", str_of(t->format->name));
	if (may_be_open) {
		facts_int(&t->s->facts, "bare_array", 1);
		/* before the events, for who writes such an array again */
		source_emit(t->s, false);
	}
	t->json.p++;
	t->format->read(t, may_be_open);
	t->s->events_ended = true;
}

static void
read_member(struct json_trace *t, const char **guess)
{
	struct str name;
	struct value v;

	trace_key(t, &t->key);
	name = buf_str(&t->key);
	if (*guess == NULL)
		*guess = guess_key(name);
	if (str_eq(name, t->format->events) && *t->json.p == '[') {
		read_events(t, false);
		return;
	}
	v = trace_value(t, &t->text);
	if (t->format->on_member != NULL)
		t->format->on_member(t->s, name, &v);
	source_meta(t->s, name, v);
}

static void
read_object(struct json_trace *t)
{
	const char *guess = NULL;

	t->json.p++;
	for (bool first = true; trace_element(t, first, '}'); first = false)
		read_member(t, &guess);
	if (!t->has_events)
		die("%s: no events: the object has no list \"%s\"%s%s",
		    t->s->in->name, t->format->events.p,
		    guess != NULL ? "; it " : "", guess != NULL ? guess : "");
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
		die("%s: nothing but white space", t->s->in->name);
	if (*j->p == '{')
		read_object(t);
	else if (*j->p == '[' && t->format->is_bare)
		read_events(t, true);
	else
		format_die(t->s);
	if (trace_more(t))
		trace_die(t, "text follows the end of the JSON value");
	t->s->in->p = j->p;
}

static void
release(void *reading)
{
	struct json_trace *t = reading;

	if (t->reader != NULL)
		t->format->release(t);
	buf_free(&t->key);
	buf_free(&t->text);
	vec_release(t);
}

void
json_read(struct source_state *s, const struct json_format *format)
{
	struct json_trace *t = xcalloc(1, sizeof *t);
	struct salvage *sv = NULL;
	struct in *file = s->in;

	t->s = s;
	t->format = format;
	s->reading = t;
	s->release = release;
	if (s->set->salvage) {
		sv = salvage_open(file, format->salvage);
		s->in = salvage_input(sv);
	}
	read_text(t);
	source_check(s);
	s->counts->bytes += in_offset(s->in, s->in->end);
	if (sv == NULL)
		return;
	salvage_note(sv, s);
	in_close(s->in);
	s->in = file;
	salvage_close(sv);
}

/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace events, from PyTorch's profiler and many others: an object
 * with "traceEvents" and metadata, or the bare list of events, whose closing
 * bracket may be missing.
 */
#include "cmd/tl-decode/chrome/event.h"
#include "cmd/tl-decode/format.h"

/* Between events: whether another follows. */
static bool
next_event(struct json_trace *t, bool first, bool may_be_open)
{
	struct json *j = &t->json;
	bool more = trace_more(t);

	if (more && *j->p == ']') {
		j->p++;
		return false;
	}
	if (more && !first) {
		if (*j->p != ',')
			trace_die(t, "expected ',' or ']' after an event");
		j->p++;
		more = trace_more(t);
	}
	if (more && *j->p != '{')
		trace_die(t, "expected an event, an object");
	if (!more && (!may_be_open || first))
		trace_die(t, "");
	if (!more)
		facts_int(&t->s->facts, "open_array", 1);
	return more;
}

/* The next event of a damaged file. */
static bool
salvage_event(struct json_trace *t, bool first, bool may_be_open)
{
	struct str text;

	if (trace_salvage_record(t, first, may_be_open, &text)) {
		if (event_read(t->reader) != JSON_OK)
			salvage_drop_record(t->salvage);
		return true;
	}
	if (may_be_open && t->is_lost)
		facts_int(&t->s->facts, "open_array", 1);
	return false;
}

static bool
read_event(struct json_trace *t, bool first, bool may_be_open)
{
	enum json_status status;

	if (UNLIKELY(t->salvage != NULL))
		return salvage_event(t, first, may_be_open);
	if (!next_event(t, first, may_be_open))
		return false;
	trace_pass(t);
	while ((status = event_read(t->reader)) != JSON_OK)
		if (!trace_retry(t, status))
			return false;
	return true;
}

static void
read_events(struct json_trace *t, bool may_be_open)
{
	struct event_reader *r = t->reader = event_reader_create(t);
	struct source_state *s = t->s;

	for (bool first = true; read_event(t, first, may_be_open);
	     first = false) {
		if (UNLIKELY(s->next_id % 64 == 0)) {
			event_reader_trim(r);
			if (progress_due)
				progress_show(
				    in_consumed(s->in), in_size(s->in));
		}
	}
	event_reader_destroy(r);
	t->reader = NULL;
}

static void
release(struct json_trace *t)
{
	event_reader_destroy(t->reader);
}

/* ---- the format ---- */

static const struct str marks[] = { STR_INIT("ph"), { 0 } };

static const struct salvage_rules rules = {
	.marks = marks,
	.key_depth = 2,
	.max_keys = MEMBERS_MAX,
	.is_anywhere = true,
};

static const struct json_format json = {
	.name = "chrome",
	.events = STR_INIT("traceEvents"),
	.is_bare = true,
	.read = read_events,
	.release = release,
	.on_member = source_member,
	.rules = &rules,
};

static enum sniff
sniff(struct str head, const char *path)
{
	unsigned char first = json_first(head);

	(void)path;
	return first == '{' || first == '[' || first == ' ' ? SNIFF_MAYBE
							    : SNIFF_NO;
}

static void
read_json(struct source_state *s)
{
	json_read(s, &json);
}

const struct format chrome_format = {
	.name = "chrome",
	.sniff = sniff,
	.json = &json,
	.read = read_json,
	.can_salvage = true,
};

/* SPDX-License-Identifier: MIT */
/*
 * A dump of the flight recorder: an object with an entry per call of a
 * collective, and process groups. An entry becomes an event from the call to
 * when the watchdog saw it complete, which is no GPU time; without that it has
 * no duration. Other members are arguments.
 */
#include "cmd/tl-decode/flight/flight.h"

#include "cmd/tl-decode/format.h"
#include "stream/from-json.h"

struct reader {
	struct maker maker;
	struct json json; /* over one entry */
	struct buf text, name;
	int64_t created_ns, completed_ns; /* 0: none */
};

/* ---- an entry ---- */

/* A member after the first token of its value. */
static void
take_member(struct reader *r, struct str key, enum json_token t, struct value v)
{
	bool is_time = v.type == VAL_INT && v.i > 0 && source_is_time(v.i);

	if (str_eq(key, STR("profiling_name")) && t == JSON_T_STRING) {
		maker_name(&r->maker, v.s);
		return;
	}
	if (str_eq(key, STR("time_created_ns")) && is_time) {
		r->created_ns = v.i;
		return;
	}
	if (str_eq(key, STR("time_discovered_completed_ns")) && is_time)
		r->completed_ns = v.i;
	maker_arg(&r->maker, key, &v, ROLE_NONE);
}

/* NULL, or the fault at json.where. */
static const char *
read_members(struct reader *r)
{
	struct json *j = &r->json;
	enum json_token t = json_next(j);
	struct value v;

	while ((t = json_next(j)) == JSON_T_KEY) {
		const char *error;
		size_t at;

		j->where = j->p;
		r->name.len = 0;
		if (r->maker.entries.n == SHAPE_MAX_ENTRIES)
			return "an entry has too many members";
		if (!json_unescape(j->raw, &r->name, &error, &at))
			return error;
		t = json_next(j);
		if (t <= JSON_T_END || !value_of_json(j, t, 1, &r->text, &v))
			return j->error;
		take_member(r, buf_str(&r->name), t, v);
	}
	return t == JSON_T_OBJECT_END ? NULL : j->error;
}

static void
read_entry(struct json_trace *t, struct str text)
{
	struct reader *r = t->reader;
	struct source_state *s = t->s;
	const char *error;

	r->created_ns = r->completed_ns = 0;
	maker_begin(&r->maker, KIND_ASYNC, STR("flight_recorder"));
	(void)maker_track(&r->maker, s->src, NULL, NULL);
	json_start(&r->json, text.p, text.len);
	error = read_members(r);
	if (error != NULL && t->salvage != NULL) {
		salvage_drop_record(t->salvage);
		return;
	}
	if (error != NULL)
		source_die(s, r->json.where, error);
	if (r->created_ns > 0)
		maker_start(&r->maker, source_time(s, r->created_ns));
	if (r->created_ns > 0 && r->completed_ns >= r->created_ns)
		maker_dur(&r->maker, r->completed_ns - r->created_ns, 0);
	(void)source_write(s, &r->maker);
}

static void
close_reader(struct reader *r)
{
	maker_free(&r->maker);
	buf_free(&r->text);
	buf_free(&r->name);
	vec_release(r);
}

static void
read_entries(struct json_trace *t, bool may_be_open)
{
	struct reader *r = t->reader = xcalloc(1, sizeof *r);
	struct str text;

	(void)may_be_open;
	r->maker.st = t->s->dict;
	facts_ns(&t->s->facts, "epoch", 0);
	for (bool first = true; trace_record(t, first, &text); first = false) {
		read_entry(t, text);
		if (progress_due)
			progress_show(in_consumed(t->s->in), in_size(t->s->in));
	}
	close_reader(r);
	t->reader = NULL;
}

static void
release(struct json_trace *t)
{
	close_reader(t->reader);
}

/* ---- the object around ---- */

static void
on_member(struct source_state *s, struct str key, const struct value *v)
{
	if (str_eq(key, STR("rank")) && v->type == VAL_INT && v->i >= 0)
		facts_int(&s->facts, "rank", v->i);
	else if (str_eq(key, STR("version")) && v->type == VAL_STRX)
		facts_str(&s->facts, "recorder", v->s);
}

/* ---- the format ---- */

static const struct str marks[] = { STR_INIT("profiling_name"), { 0 } };

static const struct salvage_rules rules = {
	.marks = marks,
	.key_depth = 1,
	.max_keys = SHAPE_MAX_ENTRIES,
};

static const struct json_format json = {
	.name = "flight",
	.events = STR_INIT("entries"),
	.may_lack = true,
	.read = read_entries,
	.release = release,
	.on_member = on_member,
	.rules = &rules,
};

void
flight_read(struct source_state *s)
{
	struct source so;

	json_read(s, &json);
	so = facts_source(&s->facts, s->src, false);
	if (s->next_id == 0 && source_fact(&so, "recorder") == NULL)
		die("%s: not a dump of the flight recorder: no entries, no "
		    "version",
		    s->in->name);
	facts_str(&s->facts, "format", STR("flight"));
}

/* By its own keys, as "entries" is common. */
static enum sniff
sniff(struct str head, const char *path)
{
	static const struct str own[] = { STR_INIT("\"pg_status\""),
		STR_INIT("\"collective_seq_id\""), STR_INIT("\"pg_config\"") };
	enum sniff is = SNIFF_NO;

	(void)path;
	if (json_first(head) != '{' ||
	    str_find(head, STR("\"traceEvents\""), false) >= 0 ||
	    str_find(head, STR("\"distributedInfo\""), false) >= 0)
		return SNIFF_NO;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (str_find(head, own[i], false) >= 0)
			is = SNIFF_SURE;
	return is;
}

const struct format flight_format = {
	.name = "flight recorder",
	.sniff = sniff,
	.read = flight_read,
	.can_salvage = true,
};

/* SPDX-License-Identifier: MIT */
/* What the readers of all formats share: the window, facts, time, events. */
#include "decode.h"

#include <sys/stat.h>

/* Newlines before a place in a file, counted again from its beginning. */
static uint64_t
line_of(struct source_state *s, uint64_t offset)
{
	struct in *in;
	uint64_t line = 1, at = 0;
	struct stat st;

	/* a pipe can't be read twice; /dev/fd/63 is one, too */
	if (strcmp(s->in->name, "stdin") == 0 || stat(s->in->name, &st) != 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	in = in_open(s->in->name);
	in_tolerate(in);
	for (;;) {
		size_t len = (size_t)(in->end - in->p);
		const unsigned char *end =
		    in->p + (len > offset - at ? offset - at : len);

		for (const unsigned char *p = in->p;
		     (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
			line++;
		at += (uint64_t)(end - in->p);
		in->p = in->end;
		if (at == offset || !in_more(in))
			return line;
	}
}

#define HINT " (tl-decode --salvage gets the whole events out)"

void
source_die_at(struct source_state *s, uint64_t at, const char *reason)
{
	uint64_t line = s->set->salvage ? 0 : line_of(s, at);
	const char *hint = s->set->salvage ? " of what was salvaged" : HINT;

	if (line > 0)
		die("%s: byte %" PRIu64 " (line %" PRIu64 "): %s%s",
		    s->in->name, at, line, reason, hint);
	die("%s: byte %" PRIu64 ": %s%s", s->in->name, at, reason, hint);
}

void
source_check(struct source_state *s)
{
	if (in_damage(s->in) != NULL)
		die("%s: %s" HINT, s->in->name, in_damage(s->in));
}

void
source_die(
    struct source_state *s, const unsigned char *where, const char *reason)
{
	source_die_at(s, in_offset(s->in, where), reason);
}

void
source_close(struct source_state *s)
{
	if (s->reader != NULL)
		event_reader_destroy(s->reader);
	if (s->process != NULL)
		rocprof_close(s->process);
	buf_free(&s->key);
	buf_free(&s->text);
	facts_free(&s->facts);
}

void
source_window(struct source_state *s)
{
	s->json.p = s->in->p;
	s->json.end = s->in->end;
	s->json.eof = s->in->eof;
}

void
source_need_more(struct source_state *s)
{
	/* in_more() dies by itself when the window can grow no further; at the
	 * end eof gets set and the reader fails at its next try */
	if (!in_more(s->in))
		source_check(s);
	source_window(s);
}

void
source_retry(struct source_state *s, enum json_status status)
{
	if (status == JSON_BAD)
		source_die(s, s->json.where,
		    s->json.where < s->json.end
			? s->json.error
			: "the file ends here: it is cut off");
	source_need_more(s);
}

/* ---- facts ---- */

void
source_tell(struct source_state *s, bool final)
{
	struct source so = facts_source(&s->facts, s->src, final);

	stream_write_source(s->out, &so);
}

/*
 * Times as the file has them when a double holds them exactly (2^53, and half
 * of that to spare), else relative to the second of the first one.
 */
int64_t
source_time(struct source_state *s, int64_t ns)
{
	const int64_t limit = INT64_C(1) << 52, second = 1000000000;
	int64_t rel;

	if (UNLIKELY(!s->has_base)) {
		if (ns > limit)
			s->base_ns = ns / second * second;
		s->has_base = true;
		facts_ns(&s->facts, "base", s->base_ns);
		source_tell(s, false);
	}
	if (__builtin_sub_overflow(ns, s->base_ns, &rel))
		source_die(s, s->in->p, "a time is out of range");
	return rel;
}

/* ---- what goes out ---- */

bool
source_trim(struct source_state *s, size_t more)
{
	const struct strings *st = s->strings;

	if (LIKELY(intern_bytes(st->text) + arena_bytes(st->mem) + more <
		DECODE_MAX_TABLES))
		return false;
	strings_clear(s->strings);
	stream_write_clear(s->out);
	return true;
}

void
source_event(struct source_state *s, struct event *ev)
{
	struct counts *c = s->counts;
	int64_t *first =
	    ev->shape->kind == KIND_META ? &s->first_meta_ns : &s->first_ns;

	if (UNLIKELY(ev->ts_ns < *first) && (ev->shape->has & HAS_TS))
		*first = ev->ts_ns;
	c->events++;
	c->kinds[ev->shape->kind]++;
	c->clamped += (ev->flags & EV_CLAMPED) != 0;
	c->no_ts += (ev->shape->has & HAS_TS) == 0;
	c->no_phase += ev->shape->ph == 0;
	if (!event_is(ev, s->set->kinds))
		return;
	if (s->set->dest.ndjson)
		(void)!event_set_keys(s->strings, ev);
	stream_write(s->out, ev);
}

void
source_meta(struct source_state *s, struct str key, struct value v)
{
	stream_write_meta(s->out,
	    &(struct meta){ .src = s->src,
		.is_after = s->events_ended,
		.fact = { key, v } });
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

/* A member's value as the fact of a source or metadata. */
enum json_status
source_value(struct source_state *s, struct buf *text, struct value *v)
{
	struct json *j = &s->json;
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

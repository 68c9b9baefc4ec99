/* SPDX-License-Identifier: MIT */
/* Shared by all formats: messages, facts, time, events. */
#include "cmd/tl-decode/decode.h"

#include "cmd/tl-decode/hlo/dump.h"
#include "json/json.h"

#include <sys/stat.h>

/* Lines before an offset, counted from the file's beginning. */
static uint64_t
line_of(struct source_state *s, uint64_t offset)
{
	struct in *in;
	uint64_t line = 1, at = 0;
	struct stat st;

	/* a pipe cannot be read twice, nor can /dev/fd/63 */
	if (s->is_inside || s->is_binary || strcmp(s->in->name, "stdin") == 0 ||
	    stat(s->in->name, &st) != 0 || !S_ISREG(st.st_mode))
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

/* How to go on, where that works. */
static const char *
hint(const struct source_state *s)
{
	return s->can_salvage && !s->set->salvage
	    ? " (tl-decode --salvage gets the whole events)"
	    : "";
}

void
source_die_at(struct source_state *s, uint64_t at, const char *reason)
{
	uint64_t line = line_of(s, at);

	if (line > 0)
		die("%s: byte %" PRIu64 " (line %" PRIu64 "): %s%s",
		    s->in->name, at, line, reason, hint(s));
	die("%s: byte %" PRIu64 ": %s%s", s->in->name, at, reason, hint(s));
}

void
source_check(struct source_state *s)
{
	if (in_damage(s->in) != NULL)
		die("%s: %s%s", s->in->name, in_damage(s->in), hint(s));
}

void
source_salvaged(struct source_state *s, struct losses *l, uint64_t records)
{
	const char *name = s->in->name, *damage = in_damage(s->in);
	struct buf fact = { 0 };

	if (damage != NULL) {
		l->n++;
		l->is_cut = true;
		report(MSG_UNREADABLE_REST, name, damage);
	}
	if (l->n > 0 && records == 0)
		die("%s: nothing to salvage: no event is whole", name);
	if (l->n == 0 && l->mended == 0)
		return;
	buf_printf(&fact,
	    "{\"losses\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"mended\":%" PRIu64
	    ",\"cut\":%s}",
	    l->n, l->bytes, l->mended, l->is_cut ? "true" : "false");
	facts_json(&s->facts, "salvaged", buf_str(&fact));
	buf_free(&fact);
	stream_mark(s->out, MARK_SALVAGED);
	report(l->is_cut ? MSG_SALVAGE_CUT : MSG_SALVAGE, name, records, l->n,
	    l->bytes, l->mended);
}

void
source_die(
    struct source_state *s, const unsigned char *where, const char *reason)
{
	source_die_at(s, in_offset(s->in, where), reason);
}

/* Facts that metadata lacks. */
static void
complete_facts(struct source_state *s)
{
	const struct source so = facts_source(&s->facts, s->src, false);
	int64_t rank;

	if (source_fact(&so, "rank") == NULL) {
		rank = rank_of_path(s->set->rank_rule, s->path);
		facts_int(
		    &s->facts, "rank", rank >= 0 ? rank : (int64_t)s->src);
		facts_str(&s->facts, "rank_from",
		    rank >= 0 ? STR("name") : STR("order"));
	}
	facts_int(&s->facts, "events", (int64_t)s->next_id);
	if (s->first_ns == INT64_MAX)
		s->first_ns = s->first_meta_ns;
	if (s->first_ns != INT64_MAX)
		facts_int(&s->facts, "first", s->first_ns);
}

void
source_begin(struct source_state *s)
{
	s->first_ns = s->first_meta_ns = INT64_MAX;
	facts_str(&s->facts, "name", str_of(s->in->name));
	if (s->set->dumps != NULL)
		dump_begin(s);
	source_emit(s, false);
}

void
source_end(struct source_state *s)
{
	if (s->dumps != NULL)
		dump_write(s);
	dump_end(s);
	complete_facts(s);
	skip_report(s);
	source_emit(s, true);
}

void
source_again(struct source_state *s)
{
	facts_free(&s->facts);
	s->facts = (struct facts){ 0 };
	memset(s->skipped, 0, sizeof s->skipped);
	s->next_id = 0;
	s->has_base = s->events_ended = false;
	s->base_ns = 0;
	source_begin(s);
}

void
source_next(struct source_state *s)
{
	source_end(s);
	s->src++;
	source_again(s);
}

void
source_release(struct source_state *s)
{
	if (s->release != NULL)
		s->release(s->reading);
	s->release = NULL;
}

void
source_close(struct source_state *s)
{
	source_release(s);
	vec_release(s->inner);
	dump_end(s);
	facts_free(&s->facts);
}

/* ---- facts ---- */

void
source_emit(struct source_state *s, bool final)
{
	struct source so = facts_source(&s->facts, s->src, final);

	stream_write_source(s->out, &so);
}

/*
 * As in the file if a double holds them exactly (below 2^52), else relative to
 * the second of the first one.
 */
int64_t
source_first_time(struct source_state *s, int64_t ns)
{
	const int64_t limit = INT64_C(1) << 52, second = 1000000000;
	int64_t rel;

	if (UNLIKELY(!s->has_base)) {
		if (ns > limit)
			s->base_ns = ns / second * second;
		s->has_base = true;
		facts_ns(&s->facts, "base", s->base_ns);
		source_emit(s, false);
	}
	if (__builtin_sub_overflow(ns, s->base_ns, &rel))
		source_die(s, s->in->p, "a time is out of range");
	return rel;
}

/* ---- metadata that we understand ---- */

static void
set_rank(struct source_state *s, int64_t rank, const char *from)
{
	facts_int(&s->facts, "rank", rank);
	facts_str(&s->facts, "rank_from", str_of(from));
}

/* distributedInfo: rank and world_size, integers or text. */
static void
read_distributed(struct source_state *s, struct str text)
{
	struct arena *mem = arena_create();
	json_items list = { 0 };
	int64_t n;

	if (!json_split(&list, mem, text))
		list.n = 0;
	for (size_t i = 0; i + 1 < list.n; i += 2) {
		if (!num_i64(list.v[i + 1].text, &n))
			continue;
		if (str_eq(list.v[i].text, STR("rank")))
			set_rank(s, n, "distributedInfo");
		else if (str_eq(list.v[i].text, STR("world_size")))
			facts_int(&s->facts, "world_size", n);
	}
	vec_free(&list);
	arena_destroy(mem);
}

void
source_member(struct source_state *s, struct str key, const struct value *v)
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

/* ---- what goes out ---- */

bool
source_trim(struct source_state *s, size_t more)
{
	const struct dict *st = s->dict;

	if (LIKELY(intern_bytes(st->text) + arena_bytes(st->mem) + more <
		DECODE_MAX_TABLES))
		return false;
	dict_clear(s->dict);
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
	if (UNLIKELY(s->dumps != NULL))
		dump_event(s, ev);
	c->events++;
	c->kinds[ev->shape->kind]++;
	if (UNLIKELY(ev->flags != 0))
		c->clamped += (ev->flags & EV_CLAMPED) != 0;
	if (UNLIKELY((ev->shape->has & HAS_TS) == 0))
		c->no_ts++;
	if (UNLIKELY(ev->shape->ph == 0))
		c->no_phase++;
	if (!settings_want(s->set, ev->shape->kind, ev->shape->ph))
		return;
	if (s->set->dest.ndjson)
		(void)!event_set_keys(s->dict, ev);
	stream_write(s->out, ev);
}

bool
source_write(struct source_state *s, struct maker *m)
{
	struct event *ev = maker_end_bare(m, (struct uid){ s->next_id++, 0 });

	s->skipped[skip_of_shape(
	    ev->shape->kind, ev->shape->ph, ev->shape->has)]++;
	source_event(s, ev);
	return source_trim(s, 0);
}

void
source_meta(struct source_state *s, struct str key, struct value v)
{
	if (s->dumps != NULL)
		dump_meta(s, key);
	stream_write_meta(s->out,
	    &(struct meta){ .src = s->src,
		.is_after = s->events_ended,
		.fact = { key, v } });
}

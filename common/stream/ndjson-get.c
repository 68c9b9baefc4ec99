/* SPDX-License-Identifier: MIT */
/*
 * ndjson-get: lines to items. Pure: returns a status, an error and its place.
 *
 * Members may come in any order. An unknown one is an error, so that a misspelt
 * key loses no value. Keys that begin with '_' are the user's and ignored.
 */
#include "stream/ndjson.h"

void
ndjson_start(struct ndjson_dec *d, struct dict *st)
{
	memset(d, 0, sizeof *d);
	d->st = st;
	d->mem = arena_create();
	d->j = xcalloc(1, sizeof *d->j);
	d->check_tree = true;
	buf_room(&d->all.vals, 1); /* never NULL */
}

void
ndjson_free(struct ndjson_dec *d)
{
	for (int g = 0; g <= GROUP_DUPTOP; g++) {
		vec_free(&d->groups[g].entries);
		buf_free(&d->groups[g].vals);
	}
	vec_free(&d->all.entries);
	buf_free(&d->all.vals);
	vec_free(&d->prov);
	vec_free(&d->facts);
	vec_free(&d->stack);
	buf_free(&d->scratch);
	arena_destroy(d->mem);
	vec_release(d->j);
}

/* ---- objects ---- */

/* Members come in the same order line after line: search on from the last. */
static const struct ndjson_field *
find_field(
    struct ndjson_dec *d, const struct ndjson_fields *fields, struct str key)
{
	unsigned at = d->last_key;

	for (unsigned i = 0; i < fields->n; i++) {
		at = at + 1 < fields->n ? at + 1 : 0;
		if (str_eq(key, fields->v[at].key)) {
			d->last_key = at;
			return &fields->v[at];
		}
	}
	return NULL;
}

bool
ndjson_known(struct ndjson_dec *d, struct str key, const void *arg)
{
	const struct ndjson_fields *fields = arg;
	const struct ndjson_field *f = find_field(d, fields, key);

	if (UNLIKELY(f == NULL) && (key.len == 0 || key.p[0] != '_'))
		return ndjson_fail(d, ndjson_here(d),
		    "unknown key \"%.*s\" in %s",
		    (int)(key.len < 60 ? key.len : 60), key.p, fields->where);
	if (f == NULL || (d->t == JSON_T_NULL && !f->takes_null))
		return ndjson_skip(d);
	d->e.shape.has |= f->has;
	return f->get(d, f->key.p, (char *)d + f->at);
}

/* A text that lives until the next line; the header's live on. */
static bool
get_text(struct ndjson_dec *d, const char *member, void *to)
{
	struct str s;

	(void)member;
	if (!ndjson_get_text(d, &s))
		return false;
	*(struct str *)to = arena_str(d->mem, s);
	return true;
}

static bool
get_value(struct ndjson_dec *d, const char *member, void *to)
{
	struct value *v = to;

	(void)member;
	if (!ndjson_get_value(d, false, v))
		return false;
	if (v->type >= VAL_NUM)
		v->s = arena_str(d->mem, v->s);
	return true;
}

static bool
get_marks(struct ndjson_dec *d, const char *member, void *to)
{
	return ndjson_get_bits(d, member, mark_words, to);
}

/* ---- the header ---- */

static bool
get_args(struct ndjson_dec *d, const char *member, void *to)
{
	struct value v;

	if (!get_value(d, member, &v))
		return false;
	if (v.type == VAL_JSONX)
		*(struct str *)to = v.s;
	return true;
}

static bool
get_provs(struct ndjson_dec *d, const char *member, void *to)
{
	static const struct ndjson_field fields[] = {
		NDJSON_FIELD("program", get_text, one_prov.program, 0),
		NDJSON_FIELD("version", get_text, one_prov.version, 0),
		NDJSON_FIELD("args", get_args, one_prov.args, 0),
	};
	static const struct ndjson_fields prov = { "\"prov\"", fields, 3 };

	(void)member;
	(void)to;
	if (!ndjson_list(d))
		return false;
	while (ndjson_element(d)) {
		d->one_prov = (struct prov){ STR("?"), STR("?"), STR("[]") };
		if (!ndjson_members(d, ndjson_known, &prov))
			return false;
		vec_push(&d->prov, d->one_prov);
	}
	return d->error == NULL;
}

static bool
get_version(struct ndjson_dec *d, const char *member, void *to)
{
	return ndjson_get_int(d, member, 1, INT64_MAX, to);
}

static enum dec_status
get_header(struct ndjson_dec *d)
{
	static const struct ndjson_field fields[] = {
		NDJSON_FIELD("tl", get_version, version, 0),
		NDJSON_FIELD("marks", get_marks, marks, 0),
		NDJSON_FIELD("prov", get_provs, prov, 0),
	};
	static const struct ndjson_fields header = { "the header", fields, 3 };
	const unsigned char *start = d->j->p;

	if (d->has_header) {
		ndjson_fail(d, d->line,
		    "a second header line; join streams "
		    "with tl-cat a.tl b.tl");
		return DEC_BAD;
	}
	if (!ndjson_members(d, ndjson_known, &header))
		return DEC_BAD;
	if (d->version != STREAM_VERSION) {
		ndjson_fail(d, start,
		    d->version == 0
			? "the header lacks \"tl\""
			: "a newer version of tl wrote this stream");
		return DEC_BAD;
	}
	d->has_header = true;
	d->mark = arena_mark(d->mem);
	return DEC_HEADER;
}

/* ---- the other lines ---- */

static bool
add_fact(struct ndjson_dec *d, struct str key, const void *arg)
{
	struct fact f = { .key = arena_str(d->mem, key) };

	(void)arg;
	if (!get_value(d, NULL, &f.val))
		return false;
	if (d->facts.n == WIRE_MAX_FACTS)
		return ndjson_fail(
		    d, ndjson_here(d), "a source has too many facts");
	vec_push(&d->facts, f);
	return true;
}

static bool
get_facts(struct ndjson_dec *d, const char *member, void *to)
{
	(void)member;
	(void)to;
	return ndjson_members(d, add_fact, NULL);
}

static enum dec_status
get_source(struct ndjson_dec *d)
{
	static const struct ndjson_field fields[] = {
		NDJSON_FIELD("src", ndjson_get_src, source.src, 0),
		NDJSON_FIELD("final", ndjson_get_bool, source.is_final, 0),
		NDJSON_FIELD("facts", get_facts, facts, 0),
	};
	static const struct ndjson_fields source = { "\"source\"", fields, 3 };

	d->facts.n = 0;
	d->source = (struct source){ 0 };
	if (!ndjson_members(d, ndjson_known, &source))
		return DEC_BAD;
	d->source.facts = d->facts.v;
	d->source.nfacts = d->facts.n;
	return DEC_SOURCE;
}

static enum dec_status
get_meta(struct ndjson_dec *d)
{
	static const struct ndjson_field fields[] = {
		NDJSON_FIELD("src", ndjson_get_src, meta.src, 0),
		NDJSON_FIELD("after", ndjson_get_bool, meta.is_after, 0),
		NDJSON_FIELD("key", get_text, meta.fact.key, 0),
		NDJSON_FIELD_NULL("value", get_value, meta.fact.val),
	};
	static const struct ndjson_fields meta = { "\"meta\"", fields, 4 };

	d->meta = (struct meta){ .fact.key = STR("") };
	return ndjson_members(d, ndjson_known, &meta) ? DEC_META : DEC_BAD;
}

static enum dec_status
get_section(struct ndjson_dec *d)
{
	const void *start = ndjson_here(d);
	struct str s;

	if (!ndjson_get_text(d, &s))
		return DEC_BAD;
	for (int i = 0; i < SECTION_COUNT; i++) {
		if (!str_eq(s, str_of(section_words[i])))
			continue;
		d->section = (enum section)i;
		d->in_tree = i == SECTION_TREE;
		d->stack.n = 0;
		return DEC_SECTION;
	}
	ndjson_fail(d, start, "a section is unknown");
	return DEC_BAD;
}

static enum dec_status
get_end(struct ndjson_dec *d)
{
	static const struct ndjson_field fields[] = {
		NDJSON_FIELD("events", ndjson_get_count, end_events, 0),
		NDJSON_FIELD("sources", ndjson_get_count, end_sources, 0),
		NDJSON_FIELD("marks", get_marks, marks, 0),
	};
	static const struct ndjson_fields end = { "\"end\"", fields, 3 };

	d->end_events = (int64_t)d->nevents;
	if (!ndjson_members(d, ndjson_known, &end))
		return DEC_BAD;
	if ((uint64_t)d->end_events != d->nevents)
		d->marks |= MARK_EDITED;
	return DEC_STREAM_END;
}

/* The first key, the current token, gives the type of the line. */
static enum dec_status
get_line(struct ndjson_dec *d)
{
	static const struct {
		struct str key;
		enum dec_status (*get)(struct ndjson_dec *d);
	} lines[] = {
		{ STR_INIT("source"), get_source },
		{ STR_INIT("meta"), get_meta },
		{ STR_INIT("section"), get_section },
		{ STR_INIT("end"), get_end },
	};
	struct str key = ndjson_key(d);

	if (str_eq(key, STR("tl")) || str_eq(key, STR("marks")) ||
	    str_eq(key, STR("prov")))
		return get_header(d);
	if (!d->has_header) {
		ndjson_fail(d, d->line, "the first line is no header");
		return DEC_BAD;
	}
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		enum dec_status status;

		if (!str_eq(key, lines[i].key))
			continue;
		status = ndjson_next(d) ? lines[i].get(d) : DEC_BAD;
		if (status == DEC_BAD || !ndjson_next(d))
			return DEC_BAD;
		if (d->t == JSON_T_OBJECT_END)
			return status;
		ndjson_fail(d, ndjson_here(d),
		    "a line \"%s\" has no other members", lines[i].key.p);
		return DEC_BAD;
	}
	return ndjson_event(d);
}

enum dec_status
ndjson_line(struct ndjson_dec *d, const char *p, size_t len)
{
	enum dec_status status = DEC_BAD;
	struct json *j = d->j;

	json_start(j, p, len);
	d->line = p;
	d->error = NULL;
	arena_reset(d->mem, d->mark);
	json_space(j);
	if (j->p >= j->end)
		return DEC_BLOCK_END;
	if (!ndjson_next(d))
		return DEC_BAD;
	if (d->t != JSON_T_OBJECT)
		ndjson_fail(d, ndjson_here(d), "expected an object");
	else if (ndjson_next(d) && d->t == JSON_T_OBJECT_END)
		ndjson_fail(d, p, "an empty line of a stream");
	else if (d->error == NULL)
		status = get_line(d);
	if (status == DEC_BAD)
		return status;
	json_space(j);
	if (j->p >= j->end)
		return status;
	ndjson_fail(d, j->p, "text follows behind the line's end");
	return DEC_BAD;
}

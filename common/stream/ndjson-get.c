/* SPDX-License-Identifier: MIT */
/*
 * ndjson-get: lines to items. Pure: a status, an error and its place.
 *
 * Members may come in any order and are checked strictly: an unknown one is an
 * error, so that a misspelt key does not lose a value. Keys that begin with
 * '_' are the user's and ignored.
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

/* An unknown member: an error unless it is the user's own. */
bool
ndjson_unknown(struct ndjson_dec *d, struct str key, const char *where)
{
	if (key.len > 0 && key.p[0] == '_')
		return ndjson_skip(d);
	return ndjson_fail(d, d->j->p, "unknown key \"%.*s\" in %s",
	    (int)(key.len < 60 ? key.len : 60), key.p, where);
}

/* ---- the other lines ---- */

static bool
get_prov(struct ndjson_dec *d)
{
	struct prov prov = { STR("?"), STR("?"), STR("[]") };
	struct str key, s;
	bool done;

	for (bool first = true;; first = false) {
		struct str *into = &prov.args;
		struct value v;

		if (!ndjson_member(d, first, &key, &done))
			return false;
		if (done)
			break;
		if (str_eq(key, STR("args"))) {
			if (!ndjson_get_value(d, false, &v))
				return false;
			s = v.type == VAL_JSONX ? v.s : STR("[]");
		} else {
			if (str_eq(key, STR("program"))) {
				into = &prov.program;
			} else if (str_eq(key, STR("version"))) {
				into = &prov.version;
			} else {
				if (!ndjson_unknown(d, key, "\"prov\""))
					return false;
				continue;
			}
			if (!ndjson_get_text(d, &s))
				return false;
		}
		*into = arena_str(d->mem, s);
	}
	vec_push(&d->prov, prov);
	return true;
}

static bool
get_provs(struct ndjson_dec *d)
{
	bool done;

	for (bool first = true;; first = false) {
		if (!ndjson_element(d, first, &done))
			return false;
		if (done)
			return true;
		if (!get_prov(d))
			return false;
	}
}

static enum dec_status
get_header(struct ndjson_dec *d, struct str key)
{
	const unsigned char *start = d->j->p;
	int64_t version = 0;
	bool done = false;

	if (d->has_header) {
		ndjson_fail(d, d->line,
		    "a second header line; join streams "
		    "with tl-cat a.tl b.tl");
		return DEC_BAD;
	}
	while (!done) {
		bool good;

		if (str_eq(key, STR("tl")))
			good = ndjson_get_int(d, "tl", 1, INT64_MAX, &version);
		else if (str_eq(key, STR("marks")))
			good =
			    ndjson_get_bits(d, "marks", mark_words, &d->marks);
		else if (str_eq(key, STR("prov")))
			good = get_provs(d);
		else
			good = ndjson_unknown(d, key, "the header");
		if (!good || !ndjson_member(d, false, &key, &done))
			return DEC_BAD;
	}
	if (version != STREAM_VERSION) {
		ndjson_fail(d, start,
		    version == 0 ? "the header lacks \"tl\""
				 : "a newer version of tl wrote this stream");
		return DEC_BAD;
	}
	d->has_header = true;
	d->mark = arena_mark(d->mem);
	return DEC_HEADER;
}

/* A fact's text lies in the arena until the next line. */
static bool
get_fact_value(struct ndjson_dec *d, struct value *v)
{
	if (!ndjson_get_value(d, false, v))
		return false;
	if (v->type >= VAL_NUM)
		v->s = arena_str(d->mem, v->s);
	return true;
}

static bool
get_facts(struct ndjson_dec *d)
{
	struct fact f = { 0 };
	struct str key;
	bool done;

	for (bool first = true;; first = false) {
		if (!ndjson_member(d, first, &key, &done))
			return false;
		if (done)
			return true;
		f.key = arena_str(d->mem, key);
		if (!get_fact_value(d, &f.val))
			return false;
		if (d->facts.n == WIRE_MAX_FACTS)
			return ndjson_fail(
			    d, d->j->p, "a source has too many facts");
		vec_push(&d->facts, f);
	}
}

static bool
get_src(struct ndjson_dec *d, uint32_t *src)
{
	int64_t i = 0;

	if (!ndjson_get_int(d, "src", 0, WIRE_MAX_SRC - 1, &i))
		return false;
	*src = (uint32_t)i;
	return true;
}

static enum dec_status
get_source(struct ndjson_dec *d)
{
	struct str key;
	bool done;

	d->facts.n = 0;
	d->source = (struct source){ 0 };
	for (bool first = true;; first = false) {
		bool good;

		if (!ndjson_member(d, first, &key, &done))
			return DEC_BAD;
		if (done)
			break;
		if (str_eq(key, STR("src")))
			good = get_src(d, &d->source.src);
		else if (str_eq(key, STR("final")))
			good = ndjson_get_bool(d, "final", &d->source.is_final);
		else if (str_eq(key, STR("facts")))
			good = get_facts(d);
		else
			good = ndjson_unknown(d, key, "\"source\"");
		if (!good)
			return DEC_BAD;
	}
	d->source.facts = d->facts.v;
	d->source.nfacts = d->facts.n;
	return DEC_SOURCE;
}

static enum dec_status
get_meta(struct ndjson_dec *d)
{
	struct str key, s;
	bool done;

	d->meta = (struct meta){ .fact.key = STR("") };
	for (bool first = true;; first = false) {
		bool good;

		if (!ndjson_member(d, first, &key, &done))
			return DEC_BAD;
		if (done)
			return DEC_META;
		if (str_eq(key, STR("src"))) {
			good = get_src(d, &d->meta.src);
		} else if (str_eq(key, STR("after"))) {
			good = ndjson_get_bool(d, "after", &d->meta.is_after);
		} else if (str_eq(key, STR("key"))) {
			good = ndjson_get_text(d, &s);
			if (good)
				d->meta.fact.key = arena_str(d->mem, s);
		} else if (str_eq(key, STR("value"))) {
			good = get_fact_value(d, &d->meta.fact.val);
		} else {
			good = ndjson_unknown(d, key, "\"meta\"");
		}
		if (!good)
			return DEC_BAD;
	}
}

static enum dec_status
get_section(struct ndjson_dec *d)
{
	const unsigned char *start = d->j->p;
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
	int64_t events = (int64_t)d->nevents, sources = 0;
	struct str key;
	bool done;

	for (bool first = true;; first = false) {
		bool good;

		if (!ndjson_member(d, first, &key, &done))
			return DEC_BAD;
		if (done)
			break;
		if (str_eq(key, STR("events")))
			good =
			    ndjson_get_int(d, "events", 0, INT64_MAX, &events);
		else if (str_eq(key, STR("sources")))
			good = ndjson_get_int(
			    d, "sources", 0, INT64_MAX, &sources);
		else if (str_eq(key, STR("marks")))
			good =
			    ndjson_get_bits(d, "marks", mark_words, &d->marks);
		else
			good = ndjson_unknown(d, key, "\"end\"");
		if (!good)
			return DEC_BAD;
	}
	if ((uint64_t)events != d->nevents)
		d->marks |= MARK_EDITED;
	return DEC_STREAM_END;
}

/* The first key says what the line is; the cursor is at its value. */
static enum dec_status
get_line(struct ndjson_dec *d, struct str key)
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

	if (str_eq(key, STR("tl")) || str_eq(key, STR("marks")) ||
	    str_eq(key, STR("prov")))
		return get_header(d, key);
	if (!d->has_header) {
		ndjson_fail(d, d->line, "the first line is no header");
		return DEC_BAD;
	}
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		enum dec_status status;
		bool done;

		if (!str_eq(key, lines[i].key))
			continue;
		status = lines[i].get(d);
		if (status == DEC_BAD)
			return status;
		if (!ndjson_member(d, false, &key, &done))
			return DEC_BAD;
		if (done)
			return status;
		ndjson_fail(d, d->j->p, "a line \"%s\" has no other members",
		    lines[i].key.p);
		return DEC_BAD;
	}
	return ndjson_event(d, key);
}

enum dec_status
ndjson_line(struct ndjson_dec *d, const char *p, size_t len)
{
	enum dec_status status;
	struct str key;
	bool done;

	json_start(d->j, p, len);
	d->line = p;
	d->error = NULL;
	arena_reset(d->mem, d->mark);
	ndjson_space(d->j);
	if (d->j->p >= d->j->end)
		return DEC_BLOCK_END;
	if (!ndjson_member(d, true, &key, &done))
		return DEC_BAD;
	if (done) {
		ndjson_fail(d, p, "an empty line of a stream");
		return DEC_BAD;
	}
	status = get_line(d, key);
	if (status == DEC_BAD)
		return status;
	ndjson_space(d->j);
	if (d->j->p != d->j->end) {
		ndjson_fail(d, d->j->p, "text follows behind the line's end");
		return DEC_BAD;
	}
	return status;
}

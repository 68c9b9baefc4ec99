/* SPDX-License-Identifier: MIT */
/*
 * chrome: Chrome-trace JSON, the document around the events.
 *
 *	{                                 metadata of the first source that
 *	"schemaVersion":1,                stood before its events
 *	"traceEvents":[
 *	{"ph":"X",...},                   events as they come, of all sources
 *	{"ph":"X",...}
 *	],
 *	"traceName":"x.json",             what stood behind them
 *	"sources":[{"src":1,...}]         later sources and their metadata
 *	}
 *
 * A source that was a bare array of events becomes one again when it is the
 * first, and then there is no place for metadata of others.
 */
#include "cmd/tl-export/chrome.h"

#define FLUSH_SIZE 65536

/* ---- the document ---- */

static void
flush(struct chrome *x)
{
	sink_write(x->sink, x->b.p, x->b.len);
	x->b.len = 0;
}

/* What comes first decides whether the document is a list or an object. */
static void
begin(struct chrome *x, uint32_t src)
{
	if (x->is_begun)
		return;
	x->is_begun = true;
	x->is_bare = !x->set->object && x->set->ninputs == 1 &&
	    src < x->origins.n && x->origins.v[src].is_bare;
	buf_putc(&x->b, x->is_bare ? '[' : '{');
	x->in_events = x->is_bare;
}

/* Writes what precedes a member of the document in b. */
static void
next_member(struct buf *b, bool *has)
{
	if (*has)
		buf_putc(b, ',');
	buf_putc(b, '\n');
	*has = true;
}

static void
open_events(struct chrome *x, uint32_t src)
{
	begin(x, src);
	if (x->in_events)
		return;
	next_member(&x->b, &x->has_member);
	PUT(&x->b, "\"traceEvents\":[");
	x->in_events = true;
}

void
chrome_next_event(struct chrome *x)
{
	next_member(&x->b, &x->has_event);
}

static void
put_member(struct buf *b, const struct fact *f)
{
	json_put_string(b, f->key);
	buf_putc(b, ':');
	value_put_json(b, &f->val);
}

/* ---- sources ---- */

static struct origin *
origin_of(struct chrome *x, uint32_t src)
{
	while (x->origins.n <= src) {
		vec_push(&x->origins, ((struct origin){ 0 }));
		chrome_set_label(x, &x->origins.v[x->origins.n - 1],
		    &(struct source){ 0 }, (uint32_t)x->origins.n - 1);
	}
	if (src >= x->next)
		x->next = src + 1;
	return &x->origins.v[src];
}

static uint32_t
our_source(const struct chrome *x, uint32_t src)
{
	if (src >= (UINT32_C(1) << 24) - x->first)
		die("too many sources for one trace");
	return x->first + src;
}

/* Keeps the facts that "sources" shows. */
static void
keep_facts(struct origin *o, const struct source *s)
{
	static const char *const shown[] = { "name", "format", "rank",
		"world_size", "hostname", "epoch" };

	o->facts.len = 0;
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
		const struct fact *f = source_fact(s, shown[i]);

		if (f == NULL)
			continue;
		buf_putc(&o->facts, ',');
		put_member(&o->facts, f);
	}
}

void
chrome_source(struct chrome *x, const struct source *s)
{
	uint32_t src = our_source(x, s->src);
	struct origin *o = origin_of(x, src);
	const struct fact *f = source_fact(s, "format");
	int64_t n;

	o->is_told = true;
	if (source_int(s, "base", &n))
		o->base_ns = n;
	o->is_foreign =
	    f != NULL && f->val.s.p != NULL && !str_eq(f->val.s, STR("chrome"));
	o->is_bare = source_int(s, "bare_array", &n) && n != 0;
	chrome_set_label(x, o, s, src);
	keep_facts(o, s);
}

/* ---- metadata ---- */

/* Writes the element of "sources", when its metadata is complete. */
static void
close_source(struct chrome *x)
{
	const struct origin *o;
	bool has = x->others.len > 0;

	if (x->metas_of == 0)
		return;
	o = &x->origins.v[x->metas_of];
	next_member(&x->others, &has);
	PUT(&x->others, "{\"src\":");
	json_put_i64(&x->others, x->metas_of);
	put_str(&x->others, buf_str(&o->facts));
	PUT(&x->others, ",\"metadata\":{");
	put_str(&x->others, buf_str(&x->metas));
	PUT(&x->others, "}}");
	x->metas.len = 0;
	x->metas_of = 0;
}

static void
see_source(struct chrome *x, uint32_t src)
{
	if (LIKELY(src == 0 || src == x->metas_of))
		return;
	close_source(x);
	x->metas_of = src;
}

void
chrome_meta(struct chrome *x, const struct meta *m)
{
	uint32_t src = our_source(x, m->src);
	bool has;

	(void)origin_of(x, src);
	begin(x, src);
	if (x->is_bare && !x->lost_meta) {
		report(MSG_NO_METADATA, x->input);
		x->lost_meta = true;
	}
	if (x->is_bare)
		return;
	if (src > 0) {
		see_source(x, src);
		if (x->metas.len > 0)
			buf_putc(&x->metas, ',');
		put_member(&x->metas, &m->fact);
	} else if (m->is_after || x->in_events) {
		has = true;
		next_member(&x->after, &has);
		put_member(&x->after, &m->fact);
	} else {
		next_member(&x->b, &x->has_member);
		put_member(&x->b, &m->fact);
	}
	if (x->b.len >= FLUSH_SIZE)
		flush(x);
}

/* ---- events ---- */

void
chrome_event(struct chrome *x, const struct event *ev)
{
	uint32_t src = our_source(x, ev->src);

	if (UNLIKELY(ev->shape->is_inferred)) /* no trace has these */
		return;
	if (UNLIKELY(src >= x->origins.n))
		(void)origin_of(x, src);
	if (UNLIKELY(!x->in_events))
		open_events(x, src);
	see_source(x, src);
	chrome_put_event(x, &x->origins.v[src], src, ev);
	if (x->b.len >= FLUSH_SIZE)
		flush(x);
}

/* ---- beginning and end ---- */

struct chrome *
chrome_create(const struct settings *set, struct sink *sink)
{
	struct chrome *x = xcalloc(1, sizeof *x);

	x->set = set;
	x->sink = sink;
	x->texts = arena_create();
	return x;
}

static void
end_input(struct chrome *x)
{
	if (x->mem != NULL)
		arena_destroy(x->mem);
	x->mem = NULL;
	vec_free(&x->plans);
	vec_free(&x->places);
	vec_free(&x->lanes);
}

void
chrome_input(struct chrome *x, const struct stream_in *in)
{
	end_input(x);
	x->first = x->next;
	/* tl-merge's output has several sources, too */
	x->is_joined |= x->set->ninputs > 1;
	for (size_t i = 0; i < in->nprov; i++)
		x->is_joined |= str_eq(in->prov[i].program, STR("tl-merge"));
	x->input = in->name;
	x->st = in->dict;
	x->mem = arena_create();
}

void
chrome_finish(struct chrome *x)
{
	struct buf *b = &x->b;

	open_events(x, 0);
	fuse_finish(x);
	if (x->has_event)
		buf_putc(b, '\n');
	buf_putc(b, ']');
	if (!x->is_bare) {
		close_source(x);
		put_str(b, buf_str(&x->after));
		if (x->others.len > 0) {
			next_member(b, &x->has_member);
			PUT(b, "\"sources\":[");
			put_str(b, buf_str(&x->others));
			PUT(b, "\n]");
		}
		PUT(b, "\n}");
	}
	buf_putc(b, '\n');
	flush(x);
	end_input(x);
	for (size_t i = 0; i < x->origins.n; i++)
		buf_free(&x->origins.v[i].facts);
	vec_free(&x->origins);
	arena_destroy(x->texts);
	buf_free(&x->b);
	buf_free(&x->after);
	buf_free(&x->others);
	buf_free(&x->metas);
	vec_release(x);
}

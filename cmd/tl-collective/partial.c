/* SPDX-License-Identifier: MIT */
/*
 * Partials: records as an event stream, one event a record, so that tl-cat
 * shows them, tl-filter chooses among them and anything may write them. See
 * tl-collective(1), PARTIAL STREAMS.
 */
#include "cmd/tl-collective/collective.h"

#include <stdlib.h>

#include "json/json.h"

bool
partial_event(const struct strings *st, const struct event *ev, struct rec *rec,
    struct value *sig, struct value *host)
{
	struct entries it = entries_of(st, ev);

	rec->busy_ns = rec->idle_ns = -1;
	while (entries_next(&it)) {
		struct str key = strings_get(st, it.entry->key);
		const struct value *v = &it.val;

		if (it.entry->group != GROUP_ARGS)
			continue;
		if (str_eq(key, STR("sig")))
			*sig = *v;
		else if (str_eq(key, STR("host")))
			*host = *v;
		else if (v->type != VAL_INT)
			continue;
		else if (str_eq(key, STR("seq")) && v->i >= 0 &&
		    v->i < UINT32_MAX - 1)
			rec->seq = (uint32_t)v->i + 1;
		else if (str_eq(key, STR("busy")) && v->i >= 0)
			rec->busy_ns = v->i;
		else if (str_eq(key, STR("idle")) && v->i >= 0)
			rec->idle_ns = v->i;
		else if (str_eq(key, STR("work")))
			rec->work = (uint32_t)v->i;
		else if (str_eq(key, STR("host_us")) && v->i >= 0)
			rec->host_us = (uint32_t)v->i;
	}
	if (rec->busy_ns < 0 || rec->idle_ns < 0)
		rec->busy_ns = rec->idle_ns = -1;
	return sig->type == VAL_JSON || sig->type == VAL_JSONX;
}

/* ---- writing ---- */

enum { K_SIG, K_SEQ, K_BUSY, K_IDLE, K_WORK, K_HOST_US, K_HOST, K_COUNT };

struct writer {
	struct strings *st;
	struct stream_out *out;
	uint32_t keys[K_COUNT];
	uint32_t cat;
	struct buf vals;
	VEC(struct value) sigs; /* by signature of the part */
	VEC(uint32_t) names;
};

static void
open_writer(struct writer *w, const struct settings *set, const char *path)
{
	static const char *const words[] = { "sig", "seq", "busy", "idle",
		"work", "host_us", "host" };
	struct stream_dest dest = set->out;

	*w = (struct writer){ .st = strings_create() };
	dest.path = path;
	w->out = stream_create(&dest, w->st, NULL, MARK_EDITED, false);
	for (size_t i = 0; i < K_COUNT; i++)
		w->keys[i] = intern_put(w->st->text, str_of(words[i]));
	w->cat = intern_put(w->st->text, STR("kernel"));
}

static struct fact
text_value(const char *key, struct str s, enum value_type type)
{
	return (struct fact){ str_of(key), { .type = type, .s = s } };
}

static struct fact
int_value(const char *key, int64_t v)
{
	return (struct fact){ str_of(key), { .type = VAL_INT, .i = v } };
}

static void
write_source(struct writer *w, const struct part *p, uint32_t src, bool final)
{
	struct fact f[13];
	char base[24], epoch[24];
	size_t n = 0;

	f[n++] =
	    text_value("name", p->name.len > 0 ? p->name : p->path, VAL_STRX);
	f[n++] = int_value("collective", PARTIAL_VERSION);
	f[n++] = int_value("rank", p->rank);
	if (!p->rank_is_told)
		f[n++] = text_value("rank_from", STR("name"), VAL_STRX);
	if (p->has_world)
		f[n++] = int_value("world_size", p->world);
	if (p->has_base)
		f[n++] = text_value("base",
		    (struct str){ base, num_put_i64(base, p->base_ns) },
		    VAL_STRX);
	if (p->has_epoch)
		f[n++] = text_value("epoch",
		    (struct str){ epoch, num_put_i64(epoch, p->epoch_ns) },
		    VAL_STRX);
	if (p->host.len > 0)
		f[n++] = text_value("hostname", p->host, VAL_STRX);
	if (p->ndevs > 0)
		f[n++] = int_value("ndevices", p->ndevs);
	if (p->groups.len > 0)
		f[n++] = text_value("groups", p->groups, VAL_STRX);
	if (p->kernels.len > 0)
		f[n++] = text_value("kernels", p->kernels, VAL_JSONX);
	stream_write_source(w->out,
	    &(struct source){
		.src = src, .is_final = final, .nfacts = n, .facts = f });
}

static uint32_t
record_shape(struct writer *w, const struct rec *r)
{
	struct entry e[K_COUNT];
	struct shape s = { .cat = w->cat,
		.has = HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME,
		.kind = KIND_KERNEL,
		.ph = 'X',
		.flags = SHAPE_ARGS,
		.entries = e };
	size_t n = 0;

	e[n++] = (struct entry){ w->keys[K_SIG], VAL_JSON, GROUP_ARGS, 0 };
	if (r->seq > 0)
		e[n++] =
		    (struct entry){ w->keys[K_SEQ], VAL_INT, GROUP_ARGS, 0 };
	for (size_t k = K_BUSY; r->busy_ns >= 0 && k <= K_WORK; k++)
		e[n++] = (struct entry){ w->keys[k], VAL_INT, GROUP_ARGS, 0 };
	if (r->host != HOST_NONE) {
		e[n++] = (struct entry){ w->keys[K_HOST_US], VAL_INT,
			GROUP_ARGS, 0 };
		e[n++] =
		    (struct entry){ w->keys[K_HOST], VAL_STR, GROUP_ARGS, 0 };
	}
	s.nentries = (uint32_t)n;
	return strings_shape(w->st, &s);
}

static void
put_int(struct writer *w, int64_t v)
{
	value_encode(&w->vals, &(struct value){ .type = VAL_INT, .i = v });
}

static void
write_record(
    struct writer *w, const struct job *j, const struct rec *r, uint32_t track)
{
	struct str text = intern_get(j->sig_texts, r->sig);
	struct event ev = { .track = track,
		.uid = { r->id, 0 },
		.ts_ns = r->start_ns - j->parts.v[r->part].shift_ns -
		    j->parts.v[r->part].base_ns,
		.dur_ns = r->dur_ns };
	struct value sig = { .type = VAL_JSON };

	sig.id = intern_put(w->st->text, text);
	sig.s = text;
	ev.name = intern_put(w->st->text, rec_sig(j, r)->kernel);
	ev.src = w->st->tracks.v[track].src;
	ev.shape_id = record_shape(w, r);
	ev.shape = w->st->shapes.v[ev.shape_id];
	w->vals.len = 0;
	value_encode(&w->vals, &sig);
	if (r->seq > 0)
		put_int(w, (int64_t)r->seq - 1);
	if (r->busy_ns >= 0) {
		put_int(w, r->busy_ns);
		put_int(w, r->idle_ns);
		put_int(w, r->work);
	}
	if (r->host != HOST_NONE) {
		struct value host = { .type = VAL_STR };

		host.s = intern_get(j->hosts, r->host);
		host.id = intern_put(w->st->text, host.s);
		put_int(w, r->host_us);
		value_encode(&w->vals, &host);
	}
	ev.vals = (const unsigned char *)w->vals.p;
	ev.vals_len = w->vals.len;
	stream_write(w->out, &ev);
}

static void
write_part(
    struct writer *w, const struct job *j, const struct part *p, uint32_t src)
{
	struct track t = { .src = src,
		.raw_pid = { .type = VAL_INT, .i = p->rank },
		.raw_tid = { .type = VAL_INT, .i = 0 },
		.has_pid = true,
		.has_tid = true };
	uint32_t track = strings_track(w->st, &t);

	write_source(w, p, src, false);
	for (size_t i = 0; i < p->nrecs; i++)
		write_record(w, j, &p->recs[i], track);
	write_source(w, p, src, true);
}

/* Of -o 'part.{rank}.tl'; NULL where there is no {rank}. */
static char *
path_of_rank(const char *path, int64_t rank)
{
	const char *at = path != NULL ? strstr(path, "{rank}") : NULL;
	struct buf b = { 0 };

	if (at == NULL)
		return NULL;
	buf_put(&b, path, (size_t)(at - path));
	buf_printf(&b, "%" PRId64 "%s", rank, at + strlen("{rank}"));
	buf_putc(&b, '\0');
	return b.p;
}

static void
close_writer(struct writer *w)
{
	stream_finish(w->out);
	strings_destroy(w->st);
	buf_free(&w->vals);
}

void
partial_write(const struct settings *set, const struct job *j)
{
	bool is_each = path_of_rank(set->out.path, 0) != NULL;
	struct writer w;
	uint32_t src = 0;

	if (!is_each)
		open_writer(&w, set, set->out.path);
	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];
		bool is_first = i == 0 || p[-1].rank != p->rank;
		bool is_last = i + 1 == j->parts.n || p[1].rank != p->rank;

		if (is_each && is_first) {
			src = 0;
			open_writer(
			    &w, set, path_of_rank(set->out.path, p->rank));
		}
		write_part(&w, j, p, src++);
		if (is_each && is_last)
			close_writer(&w);
	}
	if (!is_each)
		close_writer(&w);
}

/* SPDX-License-Identifier: MIT */
/*
 * Partials: records as an event stream, one event each, so that tl-cat shows
 * them, tl-filter selects among them and any program may write them. See
 * PARTIAL STREAMS in tl-collective(1).
 */
#include "cmd/tl-collective/job.h"

#include <stdlib.h>

#include "stream/maker.h"
#include "json/json.h"

struct writer {
	struct stream_out *out;
	struct maker maker;
	struct buf text;
};

static void
open_writer(struct writer *w, const struct settings *set, const char *path)
{
	struct stream_dest dest = set->out;

	*w = (struct writer){ .maker.st = dict_create() };
	dest.path = path;
	w->out = stream_create(&dest, w->maker.st, NULL, MARK_EDITED, false);
}

static void
put_names(struct buf *b, const struct part *p)
{
	b->len = 0;
	for (size_t i = 0; i < p->nnames; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		buf_put(b, p->names[i].p, p->names[i].len);
	}
	buf_puts(b, p->nnames == 0 ? "[]" : "]");
}

/* [name, ns, ...] */
static void
put_spent(struct buf *b, const struct spent *spent, size_t n)
{
	b->len = 0;
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%c%" PRIu64 ",%" PRId64, i == 0 ? '[' : ',',
		    spent[i].name, spent[i].ns);
	buf_putc(b, ']');
}

static void
write_source(struct writer *w, const struct part *p, uint32_t src, bool final)
{
	struct facts f = { 0 };
	struct source so;

	facts_str(&f, "name", p->name.len > 0 ? p->name : p->path);
	facts_int(&f, "collective", PARTIAL_VERSION);
	facts_int(&f, "rank", p->rank);
	if (p->dev != NONE) {
		facts_int(&f, "process", p->process);
		facts_int(&f, "gpu", p->dev);
	}
	if (!p->rank_is_told)
		facts_str(&f, "rank_from", STR("name"));
	if (p->world != NONE)
		facts_int(&f, "world_size", p->world);
	facts_ns(&f, "base", p->base_ns);
	if (p->epoch_ns != NONE)
		facts_ns(&f, "epoch", p->epoch_ns);
	if (p->host.len > 0)
		facts_str(&f, "hostname", p->host);
	if (p->device.len > 0)
		facts_str(&f, "device", p->device);
	if (p->ndevs > 0)
		facts_int(&f, "ndevices", p->ndevs);
	if (p->groups.len > 0)
		facts_str(&f, "groups", p->groups);
	if (p->step_ns > 0) {
		facts_int(&f, "steps", (int64_t)p->nsteps);
		facts_int(&f, "step_ns", p->step_ns);
	}
	put_names(&w->text, p);
	facts_json(&f, "names", buf_str(&w->text));
	so = facts_source(&f, src, final);
	stream_write_source(w->out, &so);
	facts_free(&f);
}

static void
write_record(struct writer *w, const struct job *j, const struct rec *r,
    uint32_t src, int64_t rank)
{
	const struct part *p = &j->parts.v[r->part];
	struct maker *m = &w->maker;
	int64_t exposed = rec_exposed(j, r);

	maker_begin(m, KIND_KERNEL, STR("kernel"));
	maker_name(m, rec_sig(j, r)->kernel);
	maker_track(m, src, &rank, &(int64_t){ 0 });
	maker_time(m, r->start_ns - p->shift_ns - p->base_ns, r->dur_ns);
	maker_json(m, STR("sig"), intern_get(j->sig_texts, r->sig));
	if (r->seq > 0)
		maker_int(m, STR("seq"), (int64_t)r->seq - 1, ROLE_NONE);
	if (r->busy_ns >= 0) {
		maker_int(m, STR("busy"), r->busy_ns, ROLE_NONE);
		maker_int(m, STR("idle"), r->idle_ns, ROLE_NONE);
		maker_int(m, STR("elsewhere"), r->else_ns, ROLE_NONE);
		maker_int(m, STR("work"), r->work, ROLE_NONE);
	}
	if (exposed != NONE)
		maker_int(m, STR("exposed"), exposed, ROLE_NONE);
	if (r->nspent > 0) {
		put_spent(&w->text, p->spent + r->spent, r->nspent);
		maker_json(m, STR("spent"), buf_str(&w->text));
	}
	stream_write(w->out, maker_end(m, (struct uid){ r->id, 0 }));
}

static void
write_part(
    struct writer *w, const struct job *j, const struct part *p, uint32_t src)
{
	write_source(w, p, src, false);
	for (size_t i = 0; i < p->nrecs; i++)
		write_record(w, j, &p->recs[i], src, p->rank);
	write_source(w, p, src, true);
}

/* Expands -o 'part.{rank}.tl'; NULL: no {rank}. */
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
	dict_destroy(w->maker.st);
	maker_free(&w->maker);
	buf_free(&w->text);
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

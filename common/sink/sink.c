/* SPDX-License-Identifier: MIT */
/* What all sinks do: options, files, records, and what to say without any. */
#include <stdlib.h>

#include "base/complete.h"
#include "sink/plan.h"
#include "table/catalogue.h"

#define HEADS 64 /* read at once */

/* ---- reading ---- */

void *
sink_add(struct sink *s)
{
	size_t size = s->def->record_size;

	if (s->records.cap == s->records.n)
		s->records.v = vec_grow(
		    s->records.v, &s->records.cap, s->records.n + 1, size);
	if (s->records.n >= UINT32_MAX - 1)
		die("more than %u records", UINT32_MAX - 1);
	return memset(sink_record(s, s->records.n++), 0, size);
}

void *
sink_add_event(struct sink *s, const struct event *ev)
{
	struct sink_record *r = sink_add(s);

	*r = (struct sink_record){ ev->uid, s->source, ev->track, ev->ts_ns };
	return r;
}

bool
sink_takes_gpu(
    struct sink *s, const struct event *ev, bool is_chosen, int64_t *end_ns)
{
	struct sink_source *o = &s->sources.list.v[s->source];

	if (!event_is(ev, KINDS_GPU) ||
	    !sink_source_takes(o, ev, is_chosen, end_ns))
		return false;
	if (s->linked_only && (ev->flags & EV_UNLINKED) != 0) {
		o->nleft_out++;
		return false;
	}
	o->nchosen++;
	return true;
}

static void
flush(struct sink *s)
{
	if (s->launchers != NULL)
		launchers_flush(s->launchers);
	if (s->def->flush != NULL)
		s->def->flush(s);
}

/* Makes the source of an event the current one. */
static void
set_source(struct sink *s, const struct sink_source **o, uint32_t src)
{
	if (LIKELY(*o != NULL && (*o)->src == src))
		return;
	*o = sink_sources_of(&s->sources, src);
	s->source = (*o)->no;
}

/* The next item that is not an event's head. */
static enum item
next_item(struct sink *s, struct stream_in *in, const struct sink_source **o)
{
	struct event_head v[HEADS];

	while (s->heads != 0) {
		size_t n = stream_heads(in, v, HEADS);

		if (n == 0) {
			enum item item = stream_next(in);

			if (item != ITEM_EVENT || !event_is(&in->ev, s->heads))
				return item;
			v[n++] = event_head_of(&in->ev);
		}
		set_source(s, o, s->dict->tracks.v[v->track].src);
		select_heads(&s->select, v, n);
		s->def->heads(s, v, n);
	}
	return stream_next(in);
}

static void
read_file(struct sink *s, const char *path)
{
	struct stream_in *in = stream_open_only(path, s->dict,
	    select_want(&s->select, s->want), s->kinds | KIND_BIT(KIND_META));
	const struct sink_source *o = NULL; /* of the last event */
	enum item item;

	if (s->only_owners)
		stream_only_owners(in);
	stream_only_heads(in, s->heads);
	select_start(&s->select, in, (uint32_t)s->sources.list.n);
	sink_sources_file(&s->sources, path);
	while ((item = next_item(s, in, &o)) != ITEM_END) {
		bool is_chosen = select_item(&s->select, in, item);

		if (item == ITEM_EVENT) {
			set_source(s, &o, in->ev.src);
			if (in->ev.shape->kind == KIND_META)
				names_push(s->names, &in->ev);
			else
				s->def->take(s, in, is_chosen);
			continue;
		}
		flush(s);
		o = NULL;
		if (item == ITEM_SOURCE) {
			(void)sink_sources_source(
			    &s->sources, &s->select, &in->source);
			if (s->def->source != NULL)
				s->def->source(s, &in->source);
		}
	}
	flush(s);
	s->nevents += in->nevents;
	stream_close(in);
}

int
sink_record_order(const void *x, const void *y)
{
	const struct sink_record *a = x, *b = y;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

/* Drops records of sources that are not selected. */
static void
drop_unasked(struct sink *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->records.n; i++) {
		const struct sink_record *r = sink_record(s, i);

		if (!s->sources.list.v[r->source].is_asked)
			continue;
		if (n != i)
			memcpy(sink_record(s, n), r, s->def->record_size);
		n++;
	}
	s->records.n = n;
}

static void
read_all(struct sink *s, struct optparse *op)
{
	const struct sink_def *def = s->def;
	const char *path;

	s->dict = dict_create();
	s->names = names_create(s->dict);
	if (def->launcher != NULL)
		s->launchers =
		    launchers_create(s->dict, &s->rules, def->launcher, s);
	if (def->start != NULL)
		def->start(s);
	stream_unite(op);
	while ((path = opt_file(op)) != NULL)
		read_file(s, path);
	drop_unasked(s);
	if (def->in_time && s->records.n > 0)
		qsort(s->records.v, s->records.n, def->record_size,
		    sink_record_order);
	if (def->finish != NULL) {
		def->finish(s);
		drop_unasked(s); /* drop those it made of the last source */
	}
	select_end(&s->select);
	if (s->records.n == 0 && def->empty != NULL) {
		sink_sources_check(&s->sources);
		def->empty(s);
	}
}

/* ---- options ---- */

static bool
has_stdin(const struct optparse *op)
{
	for (int i = op->ind; i < op->argc; i++)
		if (strcmp(op->argv[i], "-") == 0)
			return true;
	return op->ind >= op->argc;
}

static void
take_option(struct sink *s, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_SINK_LINKED: s->linked_only = true; return;
	case OPT_SINK_LIST: s->list_tables = true; return;
	case OPT_SINK_PSEUDO: s->want = WANT_PSEUDO; return;
	case OPT_SINK_TABLE: s->table = op->arg; return;
	case 'v': s->verbose = true; return;
	default: break;
	}
	if ((s->def->option == NULL || !s->def->option(s, op, ch)) &&
	    !bucket_opt(&s->rules, op, ch) && !select_opt(&s->select, op, ch))
		(void)table_dest_opt(&s->dest, op, ch);
}

static void
check_names(struct sink *s)
{
	const char *list = s->table;
	struct str name;

	while (str_next(&list, ',', &name)) {
		size_t i = 0;

		while (
		    i < s->ntables && !str_eq(name, str_of(s->tables[i].name)))
			i++;
		if (i == s->ntables)
			table_refuse(name, &s->tables->name, s->ntables,
			    sizeof *s->tables);
		if (s->named == NULL)
			s->named = &s->tables[i];
		else if (!s->def->by_names)
			die_usage("option '--table' takes one table");
	}
}

static void
check_settings(struct sink *s)
{
	if (s->def->make_tables != NULL)
		s->def->make_tables(s);
	check_names(s);
	s->select.late_ranks = true;
	s->details = table_dest_details(&s->dest);
	if (s->want < s->def->want)
		s->want = s->def->want;
	if (s->def->check != NULL)
		s->def->check(s);
	else
		select_check_gpu(&s->select);
	s->kinds |= select_kinds(&s->select, s->def->kinds);
}

void
sink_check_gpu(const struct sink *s)
{
	sink_sources_check_gpu(&s->sources, s->nevents);
}

void
sink_die_no_match(struct sink *s)
{
	const struct sink_source sum = sink_sources_sum(&s->sources);

	select_end(&s->select);
	die_nothing(
	    MSG_NO_MATCH, s->sources.path, sum.ngpu, select_there(&s->select));
}

void
sink_die_empty(struct sink *s)
{
	const struct sink_source sum = sink_sources_sum(&s->sources);
	const char *path = s->sources.path;

	sink_check_gpu(s);
	select_end(&s->select);
	if (s->linked_only && sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LINKED_GPU_EVENTS, path, sum.nunlinked);
	if (select_by_launch(&s->select) && sum.nunlinked > 0)
		die_nothing(MSG_NO_MATCH_BY_LAUNCH, path, sum.ngpu,
		    sum.nunlinked, select_there(&s->select));
	sink_die_no_match(s);
}

/* ---- all of it ---- */

static void
answer(struct sink *s, struct optparse *op)
{
	const struct sink_def *def = s->def;

	s->reads_stdin = has_stdin(op);
	check_settings(s);
	if (def->at_once != NULL && def->at_once(s))
		return;
	sink_tables_check(s);
	read_all(s, op);
	sink_tables_print(s);
	if (!s->verbose)
		return;
	sink_sources_note(&s->sources);
	if (def->summary != NULL)
		def->summary(s);
	note_cost("%zu records, %" PRIu64 " events", s->records.n, s->nevents);
}

int
sink_main(struct sink *s, int argc, char *argv[])
{
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, s->def->about, s->def->options);
	if (s->def->tables != NULL) {
		s->tables = s->def->tables;
		s->ntables = s->def->ntables;
	}
	if (s->def->begin != NULL)
		s->def->begin(s);
	complete_with(sink_lists_put, s);
	while ((ch = opt_next(&op)) != -1)
		take_option(s, &op, ch);
	if (s->list_tables) {
		sink_lists_check(s);
		sheets_list(err_program_name());
	} else {
		answer(s, &op);
	}
	if (s->def->free != NULL)
		s->def->free(s);
	vec_free(&s->records);
	vec_free(&s->overlaps);
	launchers_destroy(s->launchers);
	sink_sources_free(&s->sources);
	if (s->dict != NULL) {
		names_destroy(s->names);
		dict_destroy(s->dict);
	}
	select_free(&s->select);
	bucket_free(&s->rules);
	return exit_status();
}

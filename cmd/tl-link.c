/* SPDX-License-Identifier: MIT */
/*
 * tl-link: links launches to GPU work and forward ops to backward ones. A
 * filter: order is kept, and events get the fields launch, fwd and bwd. It
 * holds a source until its end, because a launch may come after the work that
 * it launched.
 */
#include "table/table.h"
#include "trace/link.h"
#include "trace/store.h"

struct settings {
	enum link_by by;
	bool is_anew; /* --link was given */
	bool stats, verbose;
	struct stream_dest dest;
	struct table_dest table;
};

enum {
	OPT_LINK = OPT_LONG + 1,
	OPT_STATS,
};

static const struct opt options[] = {
	{ OPT_TABLE_FORMAT, "format", "csv|md|ndjson|table|tsv",
	    "output format of --stats" },
	{ OPT_LINK, "link", "RULE",
	    "link launches by: auto, correlation, ext or flow" },
	OPT_STREAM_OUT,
	{ OPT_STATS, "stats", NULL,
	    "print what was linked instead of the stream" },
	{ 'v', "verbose", NULL, "print what was linked to standard error" },
	OPT_END,
};

static const struct about about = {
	"link launches with GPU work, and forward with backward ops",
	"[-v] [--link RULE] [--stats] [-o FILE] [FILE]",
	"tl-link --stats trace.json.gz",
};

/* ---- what was linked, and why not ---- */

enum outcome {
	DONE,        /* its launch, GPU work or forward op was found */
	NO_KEY,      /* no correlation (or external) id */
	NO_LAUNCH,   /* no launch in the trace has its id */
	DUPLICATE,   /* recorded twice */
	NO_GPU_WORK, /* launches: no GPU event has the id */
	NOT_WORK,    /* launches: a synchronization or event row has it */
	IS_SECOND,   /* launches: another launch has the GPU work */
	NO_ARROW,    /* with flow: no arrow between them */
	NO_FORWARD,  /* backward ops: no forward op has the number */
	OUTCOMES
};

static const char *const outcome_words[OUTCOMES] = {
	[DONE] = "linked",
	[NO_KEY] = "no correlation id",
	[NO_LAUNCH] = "launch not in the trace",
	[DUPLICATE] = "duplicate",
	[NO_GPU_WORK] = "no GPU event has the id",
	[NOT_WORK] = "target is no GPU work",
	[IS_SECOND] = "another launch has the GPU work",
	[NO_ARROW] = "no arrow between them",
	[NO_FORWARD] = "no forward op has the number",
};

struct tally {
	uint64_t n[KIND_COUNT + 1][OUTCOMES]; /* the last row: backward ops */
	struct link_stats link;
	uint64_t events;
};

/* Events that have an id. */
enum {
	ID_WORK = 1,   /* GPU work ... */
	ID_OWNED = 2,  /* ... that has a launch */
	ID_ROW = 4,    /* another row of the device */
	ID_LAUNCH = 8, /* a launch */
};

static uint64_t
id_hash(struct key k)
{
	return hash_more(hash_u64((uint64_t)k.n), k.type);
}

static struct key
key_of(const struct tally *t, const struct event *ev)
{
	return t->link.by_corr ? ev->corr : ev->ext;
}

#define KINDS_ROW (KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT))

static uint64_t
id_of(const struct event *ev)
{
	if (event_is(ev, KINDS_LAUNCH))
		return ID_LAUNCH;
	if (event_is(ev, KINDS_ROW))
		return ID_ROW;
	if (!event_is(ev, KINDS_GPU) || (ev->flags & EV_DUPLICATE) != 0)
		return 0;
	return (ev->shape->has & HAS_LAUNCH) != 0 ? ID_WORK | ID_OWNED
						  : ID_WORK;
}

static void
find_ids(const struct tally *t, struct store *s, struct map *ids)
{
	for (uint32_t i = 0; i < store_count(s); i++) {
		struct event ev;
		struct key k;

		store_event(s, i, &ev);
		k = key_of(t, &ev);
		if (k.type != KEY_NONE && id_of(&ev) != 0)
			*map_put(ids, id_hash(k), NULL) |= id_of(&ev);
	}
}

static enum outcome
outcome_of_gpu(
    const struct tally *t, const struct event *ev, const struct map *ids)
{
	struct key k = key_of(t, ev);

	if ((ev->flags & EV_DUPLICATE) != 0)
		return DUPLICATE;
	if ((ev->shape->has & HAS_LAUNCH) != 0)
		return DONE;
	if (k.type == KEY_NONE)
		return NO_KEY;
	return (*map_get(ids, id_hash(k)) & ID_LAUNCH) != 0 ? NO_ARROW
							    : NO_LAUNCH;
}

static enum outcome
outcome_of_launch(const struct tally *t, const struct event *ev,
    const struct map *ids, const struct map *owners)
{
	struct key k = key_of(t, ev);
	uint64_t id;

	if (map_get(owners, ev->uid.id) != NULL)
		return DONE;
	if (k.type == KEY_NONE)
		return NO_KEY;
	id = *map_get(ids, id_hash(k));
	if ((id & ID_OWNED) != 0)
		return IS_SECOND;
	if ((id & ID_WORK) != 0)
		return NO_ARROW;
	return (id & ID_ROW) != 0 ? NOT_WORK : NO_GPU_WORK;
}

static void
tally_source(struct tally *t, struct store *s)
{
	struct map ids = { 0 }, owners = { 0 };
	uint32_t n = store_count(s);
	struct event ev;

	find_ids(t, s, &ids);
	for (uint32_t i = 0; i < n; i++) {
		store_event(s, i, &ev);
		if (ev.shape->has & HAS_LAUNCH)
			map_put(&owners, ev.launch.id, NULL);
		if (event_is(&ev, KINDS_GPU))
			t->n[ev.shape->kind][outcome_of_gpu(t, &ev, &ids)]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		store_event(s, i, &ev);
		if (event_is(&ev, KINDS_LAUNCH))
			t->n[ev.shape->kind]
			    [outcome_of_launch(t, &ev, &ids, &owners)]++;
	}
	map_free(&ids);
	map_free(&owners);
}

static const struct column columns[] = {
	{ "kind", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "outcome", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "events", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
};

static void
add_rows(struct table *table, struct str kind, const uint64_t n[OUTCOMES])
{
	uint64_t total = 0;

	for (int o = 0; o < OUTCOMES; o++)
		total += n[o];
	for (int o = 0; o < OUTCOMES; o++) {
		struct cell *row;

		if (n[o] == 0)
			continue;
		row = table_row(table);
		row[0] = cell_text(kind);
		row[1] = cell_text(str_of(outcome_words[o]));
		row[2] = cell_int((int64_t)n[o]);
		row[3] = cell_real(100.0 * (double)n[o] / (double)total);
	}
}

static void
print_stats(struct tally *t, struct table_dest *dest)
{
	struct table *table = table_create("links", columns, 4);
	uint64_t *back = t->n[KIND_COUNT];

	back[DONE] = t->link.bwd_seq + t->link.bwd_flow;
	back[NO_FORWARD] = t->link.wrappers - back[DONE];
	for (int k = 0; k < KIND_COUNT; k++)
		add_rows(table, str_of(kind_words[k]), t->n[k]);
	add_rows(table, STR("backward op"), back);
	table_print(table, dest);
	table_destroy(table);
	table_dest_finish(dest);
}

static void
say(const struct tally *t)
{
	note("%" PRIu64 " events; GPU events: %" PRIu64
	     " linked by %s, %" PRIu64 " without launch, %" PRIu64
	     " duplicates",
	    t->events, t->link.linked, link_rule(&t->link), t->link.unlinked,
	    t->link.duplicates);
	note_cost("backward ops: %" PRIu64 " linked by number, %" PRIu64
		  " by arrow, of %" PRIu64,
	    t->link.bwd_seq, t->link.bwd_flow, t->link.wrappers);
}

/* ---- the work ---- */

static void
link_source(const struct settings *set, struct store *s, struct tally *t)
{
	t->events += store_count(s);
	store_link(s, set->by, &t->link);
	store_link_backward(s, &t->link);
	if (set->stats)
		tally_source(t, s);
}

static void
link_all(struct settings *set, struct stream_in *in)
{
	struct store *s = store_create(in->dict);
	struct stream_out *out = NULL;
	struct tally t = { 0 };

	store_anew(s);
	if (!set->stats)
		out = stream_create(
		    &set->dest, in->dict, in, in->marks | MARK_LINKED, true);
	while (store_read(s, in)) {
		link_source(set, s, &t);
		if (out != NULL)
			link_write(s, out, set->dest.ndjson);
	}
	link_report(&t.link, in->name);
	if (out != NULL) {
		stream_mark(out, in->marks);
		stream_finish(out);
	} else {
		print_stats(&t, &set->table);
	}
	if (set->verbose)
		say(&t);
	store_destroy(s);
}

static void
pass_on(const struct settings *set, struct stream_in *in)
{
	struct stream_out *out =
	    stream_create(&set->dest, in->dict, in, in->marks, true);

	link_pass_on(in, out);
	stream_finish(out);
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_LINK:
		set->by = (enum link_by)opt_word(op, link_words);
		set->is_anew = true;
		break;
	case OPT_STATS: set->stats = true; break;
	case 'v': set->verbose = true; break;
	case 'o':
		set->table.path = op->arg;
		stream_dest_opt(&set->dest, op, ch);
		break;
	case OPT_TABLE_FORMAT: table_dest_opt(&set->table, op, ch); break;
	default: stream_dest_opt(&set->dest, op, ch); break;
	}
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct stream_in *in;
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (argc - op.ind > 1)
		die_usage("takes one input; join streams with tl-cat");
	in = stream_open(op.ind < argc ? argv[op.ind] : "-", NULL, WANT_STREAM);
	if ((in->marks & MARK_EDITED) != 0)
		report(MSG_EVENTS_REMOVED, in->name);
	if ((in->marks & MARK_TREE) != 0 && set.is_anew)
		die("%s: this is already a tree; pass --link to tl-tree",
		    in->name);
	if ((in->marks & (MARK_TREE | MARK_LINKED)) != 0 && !set.is_anew &&
	    !set.stats)
		pass_on(&set, in);
	else
		link_all(&set, in);
	stream_close(in);
	return exit_status();
}

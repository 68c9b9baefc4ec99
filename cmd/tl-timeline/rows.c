/* SPDX-License-Identifier: MIT */
/* Figures as rows of gpu_timeline: which rows, and which columns lead. */
#include "cmd/tl-timeline/timeline.h"

#define NROWS_MAX 12

struct row {
	const char *type;
	int64_t ns;
};

/* ---- columns ---- */

static const struct column rank_column = { "rank", NULL, COL_INT, UNIT_NONE, 0,
	0 };
static const struct column src_column = { "src", NULL, COL_INT, UNIT_NONE, 0,
	0 };
static const struct column by_columns[] = {
	[BY_ANNOTATION] = { "annotation", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[BY_DEV] = { "dev", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[BY_RECOMPUTE] = { "is_recompute", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
	[BY_STEP] = { "step", NULL, COL_INT, UNIT_NONE, 0, 0 },
};
static const struct column figure_columns[] = {
	{ "type", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "time_ns", "time ms", COL_INT, UNIT_NS, 0, 1e6 },
	{ "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
};

#define NFIGURE_COLUMNS (sizeof figure_columns / sizeof *figure_columns)

struct layout {
	struct column columns[3 + NFIGURE_COLUMNS];
	size_t n;
	bool with_rank, with_src, with_key;
};

static bool
has_key_column(enum by by)
{
	return by == BY_ANNOTATION || by == BY_DEV || by == BY_RECOMPUTE ||
	    by == BY_STEP;
}

static void
lay_out(struct layout *l, const struct settings *set)
{
	l->n = 0;
	if (l->with_rank)
		l->columns[l->n++] = rank_column;
	if (l->with_src)
		l->columns[l->n++] = src_column;
	l->with_key = has_key_column(set->by);
	if (l->with_key)
		l->columns[l->n++] = by_columns[set->by];
	for (size_t i = 0; i < NFIGURE_COLUMNS; i++)
		l->columns[l->n++] = figure_columns[i];
}

void
rows_check(const struct settings *set)
{
	struct layout l = { .with_rank = true, .with_src = true };

	lay_out(&l, set);
	table_dest_check(&set->dest, "gpu_timeline", l.columns, l.n);
}

/* Sources are told apart by rank, and where that fails by number. */
static void
choose_columns(
    struct layout *l, const struct settings *set, const struct slices *g)
{
	enum sink_lead lead =
	    set->join ? SINK_LEAD_NONE : sink_sources_lead(&g->sources);

	*l = (struct layout){
		.with_rank = set->by == BY_RANK ||
		    (lead == SINK_LEAD_RANK && set->by != BY_SRC),
		.with_src = set->by == BY_SRC || lead == SINK_LEAD_SRC,
	};
	lay_out(l, set);
	if (set->by != BY_DEV)
		return;
	/* a device without a number makes all of them texts */
	for (size_t i = 0; i < g->list.n; i++)
		if (g->list.v[i].key.type == KEY_STR)
			l->columns[(size_t)l->with_rank + l->with_src].type =
			    COL_TEXT;
}

/* ---- rows ---- */

static size_t
put_idle(struct row *rows, const struct settings *set, const struct figures *f,
    const char *word)
{
	if (!set->has_micro) {
		rows[0] = (struct row){ word, f->idle };
		return 1;
	}
	rows[0] = (struct row){ "micro_idle_time", f->micro_idle };
	rows[1] = (struct row){ "macro_idle_time", f->macro_idle };
	return 2;
}

static size_t
put_rows(struct row *rows, const struct settings *set, const struct figures *f)
{
	size_t n = 0;

	rows[n++] = (struct row){ "computation_time", f->compute };
	rows[n++] = (struct row){ "exposed_comm_time", f->exposed_comm };
	rows[n++] = (struct row){ "exposed_memcpy_time", f->exposed_memcpy };
	rows[n++] = (struct row){ "busy_time", f->busy };
	n += put_idle(rows + n, set, f, "idle_time");
	rows[n++] = (struct row){ "total_time", f->total };
	rows[n++] = (struct row){ "total_comm_time", f->comm };
	rows[n++] = (struct row){ "total_memcpy_time", f->memcpy };
	if (!set->linked_only)
		rows[n++] = (struct row){ "unlinked_time", f->unlinked };
	return n;
}

static size_t
put_rocprof_rows(
    struct row *rows, const struct settings *set, const struct figures *f)
{
	size_t n = 0;

	rows[n++] = (struct row){ "total_time", f->total };
	rows[n++] = (struct row){ "kernel", f->kernel };
	rows[n++] = (struct row){ "memory", f->memory };
	rows[n++] = (struct row){ "busy_time", f->busy };
	n += put_idle(rows + n, set, f, "idle");
	return n;
}

/* The process's own window, unless only a part of it is looked at. */
static const struct span *
rocprof_window(const struct settings *set, const struct sink_source *o)
{
	bool is_whole =
	    set->by == BY_NOTHING || set->by == BY_RANK || set->by == BY_SRC;

	return is_whole && o->has_window ? &o->window : NULL;
}

static struct cell
key_cell(struct table *t, const struct settings *set, const struct layout *l,
    const struct slices *g, struct key key)
{
	size_t at = (size_t)l->with_rank + l->with_src;
	char text[24];

	if (key.type == KEY_NONE)
		return cell_none();
	if (set->by == BY_RECOMPUTE)
		return cell_bool(key.n != 0);
	if (key.type == KEY_STR)
		return cell_text(
		    table_text(t, dict_get(g->dict, (uint32_t)key.n)));
	if (l->columns[at].type == COL_INT)
		return cell_int(key.n);
	return cell_text(
	    table_text(t, (struct str){ text, num_put_i64(text, key.n) }));
}

static void
print_slice(struct table *t, const struct settings *set, const struct layout *l,
    const struct slices *g, struct slice *slice)
{
	const struct sink_source *o = &g->sources.list.v[slice->source];
	struct cell key = key_cell(t, set, l, g, slice->key);
	struct row rows[NROWS_MAX];
	struct figures f;
	size_t n;

	if (o->is_rocprof) {
		figures_of_rocprof(
		    &f, slice, rocprof_window(set, o), set->micro_ns);
		n = put_rocprof_rows(rows, set, &f);
	} else {
		figures_of(&f, slice, set->micro_ns);
		n = put_rows(rows, set, &f);
	}
	for (size_t i = 0; i < n; i++) {
		struct cell *c = table_row(t);

		if (l->with_rank)
			*c++ = o->has_rank ? cell_int(o->rank) : cell_none();
		if (l->with_src)
			*c++ = cell_int(o->no);
		if (l->with_key)
			*c++ = key;
		*c++ = cell_text(str_of(rows[i].type));
		*c++ = cell_int(rows[i].ns);
		*c++ = cell_real((double)rows[i].ns / (double)f.total * 100);
	}
}

static void
note_unlinked(
    struct table *t, const struct settings *set, const struct slices *g)
{
	uint64_t left_out = sink_sources_sum(&g->sources).nleft_out;
	uint64_t nevents = 0, nunlinked = 0;

	for (size_t i = 0; i < g->list.n; i++) {
		nevents += g->list.v[i].nevents;
		nunlinked += g->list.v[i].nunlinked;
	}
	if (left_out > 0)
		table_note(t,
		    "%" PRIu64 " GPU events without a launch are left out",
		    left_out);
	if (!set->linked_only && nunlinked > 0)
		table_note(t,
		    "%" PRIu64 " of %" PRIu64
		    " GPU events have no launch in the trace: unlinked_time",
		    nunlinked, nevents);
}

static bool
all_rocprof(const struct slices *g)
{
	for (size_t i = 0; i < g->list.n; i++)
		if (!g->sources.list.v[g->list.v[i].source].is_rocprof)
			return false;
	return true;
}

void
rows_print(struct settings *set, struct slices *g)
{
	bool rocprof = all_rocprof(g);
	const char *name = rocprof && set->by == BY_DEV
	    ? "gpu_timeline_by_agent"
	    : "gpu_timeline";
	struct layout l;
	struct table *t;

	choose_columns(&l, set, g);
	slices_sort(g, set->by, l.with_rank);
	t = table_create(name, l.columns, l.n);
	if (!rocprof)
		note_unlinked(t, set, g);
	for (size_t i = 0; i < g->list.n; i++)
		print_slice(t, set, &l, g, &g->list.v[i]);
	table_print(t, &set->dest);
	table_destroy(t);
	table_dest_finish(&set->dest);
}

/* SPDX-License-Identifier: MIT */
/*
 * --check: each linked GPU event that is no collective is in the tables of ops,
 * once. Their time is between busy time and the sum of durations. Events are
 * counted in the trees, independently of the programs that made the tables.
 */
#include "cmd/tl-report/check.h"
#include "cmd/tl-report/figures.h"
#include "reader/lines.h"
#include "table/table.h"
#include "trace/bucket.h"
#include "trace/span.h"
#include "json/json.h"

/*
 * Events of one name: in the trees, in the table, and how many may be in calls
 * that its rows do not list.
 */
struct name_count {
	uint64_t there, listed, unlisted;
};

struct checker {
	struct settings *set;
	struct dict *st;
	struct checks *to;
	VEC(struct name_count) names; /* by text */
	struct bucket_rules rules;
	struct spans busy; /* of the current source */
	uint32_t nsources;
	/* of the current table */
	struct check *at;
	const char *time_column;
	uint64_t unnamed; /* may have any name */
	struct arena *mem;
};

static struct name_count *
count_of(struct checker *c, uint32_t name)
{
	while (c->names.n <= name)
		vec_push(&c->names, ((struct name_count){ 0 }));
	return &c->names.v[name];
}

/* ---- the trees ---- */

static void
end_source(struct checker *c)
{
	spans_normalise(&c->busy);
	time_add(&c->to->busy_ns, spans_total(&c->busy));
	c->busy.n = 0;
}

static void
take_event(struct checker *c, const struct event *ev)
{
	int64_t end_ns;

	if (!event_is(ev, KINDS_GPU) || ev->name == INTERN_NONE ||
	    !event_is_owned(ev) || ev->dur_ns < 0 ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end_ns) ||
	    bucket_of_event(&c->rules, c->st, ev) == BUCKET_COMM)
		return;
	spans_add(&c->busy, ev->ts_ns, end_ns);
	time_add(&c->to->sum_ns, ev->dur_ns);
	count_of(c, ev->name)->there++;
	c->to->events++;
}

static void
read_tree(struct checker *c, const char *path)
{
	struct select *sel = &c->set->select;
	struct stream_in *in =
	    stream_open(path, c->st, select_want(sel, WANT_TREE));
	uint32_t first = c->nsources;
	enum item item;

	in->is_told = true; /* tl-tree has reported it */
	stream_only(in, select_kinds(sel, KINDS_GPU));
	select_start(sel, in, first);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_chosen = select_item(sel, in, item);

		if (item == ITEM_SECTION && in->section == SECTION_PROLOGUE)
			end_source(c);
		if (item == ITEM_SOURCE &&
		    first + in->source.src >= c->nsources)
			c->nsources = first + in->source.src + 1;
		if (item == ITEM_EVENT && is_chosen)
			take_event(c, &in->ev);
	}
	end_source(c);
	stream_close(in);
}

/* ---- the tables ---- */

/*
 * {"name":...,"count":...}: events at one place among an op's kernels. Calls
 * with another number of kernels than the first are unlisted: their events may
 * have this name or another.
 */
static void
take_place(struct checker *c, struct str text, uint64_t ncalls)
{
	json_items of = { 0 };
	struct name_count *count;
	uint64_t n, rest;

	if (!json_split(&of, c->mem, text) ||
	    !num_u64(json_member_text(&of, STR("count")), &n))
		die("%s: no list of kernels", c->at->table);
	rest = ncalls > n ? ncalls - n : 0;
	c->at->events += n;
	c->unnamed += rest;
	/* several names share the place: their counts are unknown */
	if (json_member(&of, STR("names")) != NULL) {
		c->unnamed += n;
	} else {
		count = count_of(c,
		    intern_put(
			c->st->text, json_member_text(&of, STR("name"))));
		count->listed += n;
		count->unlisted += rest;
	}
	vec_free(&of);
}

static void
take_row(void *ctx, const struct line *l)
{
	struct checker *c = ctx;
	json_items places = { 0 };
	int64_t ncalls = line_int(l, "operation_count");

	time_add(&c->at->ns, line_int(l, c->time_column));
	if (!line_lacks(l, "kernel_details_summary") &&
	    !json_split(
		&places, c->mem, line_text(l, "kernel_details_summary")))
		die("%s: no list of kernels", c->at->table);
	for (size_t i = 0; i < places.n; i++)
		take_place(
		    c, places.v[i].text, ncalls > 0 ? (uint64_t)ncalls : 0);
	vec_free(&places);
	arena_reset(c->mem, 0);
}

/* Events that no unlisted call can explain. */
static uint64_t
missing(const struct name_count *n)
{
	uint64_t known = n->listed + n->unlisted;

	return n->there > known ? n->there - known : 0;
}

/* Events of unlisted calls that may have another name. */
static uint64_t
spare(const struct name_count *n)
{
	uint64_t known = n->listed + n->unlisted;
	uint64_t left = known > n->there ? known - n->there : 0;

	return left < n->unlisted ? left : n->unlisted;
}

static void
compare_names(struct checker *c)
{
	uint64_t all = 0, may = c->unnamed;

	for (size_t i = 0; i < c->names.n; i++) {
		all += missing(&c->names.v[i]);
		may += spare(&c->names.v[i]);
	}
	for (uint32_t i = 0; i < c->names.n; i++) {
		const struct name_count *n = &c->names.v[i];

		if (n->listed <= n->there && (missing(n) == 0 || all <= may))
			continue;
		if (c->at->unlike++ == 0)
			report(MSG_CHECK_COUNT, traces_name(c->set),
			    c->at->table, n->listed, dict_get(c->st, i),
			    n->there);
	}
}

/* Exact, as one ns decides. */
static void
put_ns(struct buf *b, int64_t ns)
{
	put_count(b, ns);
	buf_puts(b, " ns");
}

static void
report_time(const struct checker *c, const struct check *check)
{
	struct buf time = { 0 }, busy = { 0 }, sum = { 0 };

	put_ns(&time, check->ns);
	put_ns(&busy, c->to->busy_ns);
	put_ns(&sum, c->to->sum_ns);
	report(MSG_CHECK_TIME, traces_name(c->set), check->table,
	    buf_str(&time), buf_str(&busy), buf_str(&sum));
	buf_free(&time);
	buf_free(&busy);
	buf_free(&sum);
}

static void
check_table(struct checker *c, const char *table, const char *time_column)
{
	struct check check = { .table = table };

	for (size_t i = 0; i < c->names.n; i++)
		c->names.v[i].listed = c->names.v[i].unlisted = 0;
	c->unnamed = 0;
	c->at = &check;
	c->time_column = time_column;
	if (!table_each(table_path(c->set, table, "ndjson"), take_row, c))
		return;
	compare_names(c);
	/* overlapping work in a call counts once */
	check.has_time =
	    check.ns >= c->to->busy_ns && check.ns <= c->to->sum_ns;
	if (!check.has_time)
		report_time(c, &check);
	vec_push(&c->to->list, check);
}

/* ---- what was checked ---- */

static void
write_table(const struct settings *s, const struct checks *checks)
{
	static const struct column columns[] = {
		{ "table", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
		{ "is_whole", NULL, COL_BOOL, UNIT_NONE, 0, 0 },
		{ "events_listed", NULL, COL_INT, UNIT_COUNT, 0, 0 },
		{ "events_linked", NULL, COL_INT, UNIT_COUNT, 0, 0 },
		{ "names_unlike", NULL, COL_INT, UNIT_COUNT, 0, 0 },
		{ "gpu_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 },
		{ "busy_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
		{ "linked_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 },
	};
	struct table_dest dest = { .path = table_path(s, "checks", "ndjson"),
		.format = FMT_NDJSON };
	struct table *t =
	    table_create("checks", columns, sizeof columns / sizeof *columns);

	for (size_t i = 0; i < checks->list.n; i++) {
		const struct check *check = &checks->list.v[i];
		struct cell *row = table_row(t);

		row[0] = cell_text(str_of(check->table));
		row[1] = cell_bool(check_is_passed(check));
		row[2] = cell_int((int64_t)check->events);
		row[3] = cell_int((int64_t)checks->events);
		row[4] = cell_int((int64_t)check->unlike);
		row[5] = cell_int(check->ns);
		row[6] = cell_int(checks->busy_ns);
		row[7] = cell_int(checks->sum_ns);
	}
	table_print(t, &dest);
	table_dest_finish(&dest);
	table_destroy(t);
}

/* The patterns of --comm-pattern, as for tl-ops. */
static void
take_patterns(struct checker *c)
{
	static const struct str name = STR_INIT("--comm-pattern=");
	const struct args *options = &c->set->options[OPS];

	for (size_t i = 0; i < options->v.n; i++) {
		struct optparse op = { .name = "--comm-pattern",
			.arg = options->v.v[i] + name.len };

		if (str_starts(str_of(options->v.v[i]), name))
			(void)bucket_opt(&c->rules, &op, OPT_BUCKET_COMM);
	}
}

const struct checks *
checks_make(struct settings *s)
{
	struct checks *to = xcalloc(1, sizeof *to);
	struct checker c = {
		.set = s, .st = dict_create(), .to = to, .mem = arena_create()
	};

	take_patterns(&c);
	for (size_t i = 0; i < s->trees.v.n; i++)
		read_tree(&c, s->trees.v.v[i]);
	check_table(&c, "ops_unique_args", "direct_ns_sum");
	check_table(&c, "unified_perf_summary", "kernel_ns_sum");
	write_table(s, to);
	arena_destroy(c.mem);
	spans_free(&c.busy);
	bucket_free(&c.rules);
	vec_free(&c.names);
	dict_destroy(c.st);
	return to;
}

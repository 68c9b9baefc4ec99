/* SPDX-License-Identifier: MIT */
/* The tables of a report, and what of them counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reader/reader.h"

#include "cmd/tl-summary/summary.h"

/* The row at hand. Columns that a table does not have are empty cells. */
struct line {
	const struct head *head;
	const struct val *cells;
};

typedef void take_fn(struct figures *f, const struct line *l);

/* ---- cells ---- */

static const struct val *
cell(const struct line *l, const char *id)
{
	static const struct val none = { .type = VAL_NONE };

	for (size_t i = 0; i < l->head->ncolumns; i++)
		if (str_eq(l->head->columns[i].id, str_of(id)))
			return &l->cells[i];
	return &none;
}

/* Empty text where there is none; a number as it was written in ours. */
static struct str
text_of(struct figures *f, const struct line *l, const char *id)
{
	const struct val *v = cell(l, id);
	char digits[32];

	if (v->type == VAL_TEXT || v->type == VAL_BIG)
		return v->text;
	if (v->type != VAL_NUMBER)
		return STR("");
	return figures_text(
	    f, (struct str){ digits, num_put_i64(digits, (int64_t)v->number) });
}

static double
real_of(const struct line *l, const char *id)
{
	const struct val *v = cell(l, id);

	return v->type == VAL_NUMBER ? v->number : 0;
}

static int64_t
int_of(const struct line *l, const char *id)
{
	const struct val *v = cell(l, id);
	int64_t n;

	if (v->type == VAL_BIG && num_i64(v->text, &n))
		return n;
	if (v->type != VAL_NUMBER || v->number >= 9e18 || v->number <= -9e18)
		return 0;
	return (int64_t)(v->number + (v->number < 0 ? -0.5 : 0.5));
}

static bool
is_none(const struct line *l, const char *id)
{
	return cell(l, id)->type == VAL_NONE;
}

static void
add(int64_t *sum, int64_t v)
{
	if (!num_add(*sum, v, sum))
		die("times add up to more than 292 years");
}

struct str
figures_text(struct figures *f, struct str s)
{
	return arena_str(f->text, s);
}

/* ---- tallies ---- */

static struct tally *
tally_of(struct figures *f, struct tallies *t, struct str name)
{
	uint32_t id;

	if (t->keys == NULL)
		t->keys = intern_create();
	id = intern_put(t->keys, name);
	if (id == t->list.n)
		vec_push(&t->list,
		    ((struct tally){ .name = figures_text(f, name) }));
	return &t->list.v[id];
}

static int
compare(const void *pa, const void *pb)
{
	const struct tally *a = *(const struct tally *const *)pa;
	const struct tally *b = *(const struct tally *const *)pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return str_cmp(a->name, b->name);
}

size_t
tallies_best(const struct tallies *t, const struct tally **best, size_t n)
{
	VEC(const struct tally *) all = { 0 };

	for (size_t i = 0; i < t->list.n; i++)
		vec_push(&all, &t->list.v[i]);
	if (all.n > 0)
		qsort(all.v, all.n, sizeof *all.v, compare);
	n = n < all.n ? n : all.n;
	for (size_t i = 0; i < n; i++)
		best[i] = all.v[i];
	vec_free(&all);
	return n;
}

/* ---- tables ---- */

/* Rows of a rank need not stand together. */
static struct rank *
rank_of(struct figures *f, struct str label)
{
	for (size_t i = f->ranks.n; i-- > 0;)
		if (str_eq(f->ranks.v[i].label, label))
			return &f->ranks.v[i];
	vec_push(&f->ranks, ((struct rank){ .label = figures_text(f, label) }));
	return &f->ranks.v[f->ranks.n - 1];
}

static void
take_timeline(struct figures *f, const struct line *l)
{
	static const struct {
		const char *type;
		size_t at;
	} types[] = {
		{ "total_time", offsetof(struct rank, total_ns) },
		{ "busy_time", offsetof(struct rank, busy_ns) },
		{ "computation_time", offsetof(struct rank, compute_ns) },
		{ "kernel", offsetof(struct rank, compute_ns) },
		{ "exposed_comm_time", offsetof(struct rank, comm_ns) },
		{ "exposed_memcpy_time", offsetof(struct rank, copy_ns) },
		{ "idle_time", offsetof(struct rank, idle_ns) },
		{ "idle", offsetof(struct rank, idle_ns) },
		{ "micro_idle_time", offsetof(struct rank, idle_ns) },
		{ "macro_idle_time", offsetof(struct rank, idle_ns) },
		{ "total_comm_time", offsetof(struct rank, all_comm_ns) },
		{ "total_memcpy_time", offsetof(struct rank, all_copy_ns) },
		{ "memory", offsetof(struct rank, all_copy_ns) },
		{ "unlinked_time", offsetof(struct rank, unlinked_ns) },
	};
	struct str type = text_of(f, l, "type");
	struct rank *r;

	f->by_src |= !is_none(l, "src");
	r = rank_of(f, text_of(f, l, f->by_src ? "src" : "rank"));
	f->is_rocprof |= str_eq(type, STR("kernel"));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_eq(type, str_of(types[i].type))) {
			add((int64_t *)((char *)r + types[i].at),
			    int_of(l, "time_ns"));
			add((int64_t *)((char *)&f->all + types[i].at),
			    int_of(l, "time_ns"));
		}
}

/* ["GEMM","other"] as a list for people. */
static struct str
list_text(struct figures *f, struct str json)
{
	struct buf b = { 0 };
	struct str s;

	for (size_t i = 0; i < json.len; i++) {
		char c = json.p[i];

		if (c == ',')
			buf_puts(&b, ", ");
		else if (c != '[' && c != ']' && c != '"')
			buf_putc(&b, c);
	}
	s = figures_text(f, buf_str(&b));
	buf_free(&b);
	return s;
}

static bool
ends_with(struct str s, const char *end)
{
	size_t n = strlen(end);

	return s.len >= n && memcmp(s.p + s.len - n, end, n) == 0;
}

static void
take_named(
    struct figures *f, const struct line *l, const char *ns, const char *what)
{
	struct tally *op = tally_of(f, &f->ops, text_of(f, l, "name"));
	int64_t spent = int_of(l, ns);

	add(&op->ns, spent);
	add(&op->count, int_of(l, "count"));
	op->what = list_text(f, text_of(f, l, what));
	add(&f->ops_ns, spent);
	if (ends_with(op->name, "GraphLaunch"))
		add(&f->graph_ns, spent);
}

static void
take_ops(struct figures *f, const struct line *l)
{
	take_named(f, l, "direct_ns_sum", "categories");
}

static void
take_kernels(struct figures *f, const struct line *l)
{
	if (!f->has_ops)
		take_named(f, l, "dur_ns_sum", "category");
}

static void
take_op_category(struct figures *f, const struct line *l)
{
	struct tally *c =
	    tally_of(f, &f->categories, text_of(f, l, "op_category"));

	add(&c->ns, int_of(l, "direct_ns"));
}

static void
take_kernel_category(struct figures *f, const struct line *l)
{
	struct tally *c =
	    tally_of(f, &f->categories, text_of(f, l, "op_category"));

	add(&c->ns, int_of(l, "dur_ns_sum"));
}

/* Calls of the runtime own work that has no op; they have no shapes. */
static bool
is_call(struct str name)
{
	return str_starts(name, STR("hip")) || str_starts(name, STR("cuda")) ||
	    (str_starts(name, STR("cu")) && name.len > 2 && name.p[2] >= 'A' &&
		name.p[2] <= 'Z');
}

static void
take_args(struct figures *f, const struct line *l)
{
	struct str dims = text_of(f, l, "input_dims");
	int64_t spent = int_of(l, "direct_ns_sum");

	if (is_call(text_of(f, l, "name")))
		return;
	add(&f->args_ns, spent);
	if (dims.len == 0 || str_eq(dims, STR("[]")))
		add(&f->shapeless_ns, spent);
}

static void
take_loss(struct figures *f, const struct line *l, bool is_compute)
{
	struct buf key = { 0 };
	struct str name = text_of(f, l, "name");
	struct str dims = text_of(f, l, "input_dims");
	struct tally *loss;

	buf_put(&key, name.p, name.len);
	buf_putc(&key, ' ');
	buf_put(&key, dims.p, dims.len);
	loss = tally_of(f, &f->losses, buf_str(&key));
	buf_free(&key);
	add(&loss->ns, int_of(l, "lost_ns"));
	add(&loss->of_ns, int_of(l, "kernel_ns_sum"));
	loss->what = is_compute ? STR("compute") : STR("memory");
}

static void
take_intensity(struct figures *f, double v)
{
	if (!(v > 0))
		return;
	if (f->most_per_byte == 0 || v < f->least_per_byte)
		f->least_per_byte = v;
	if (v > f->most_per_byte)
		f->most_per_byte = v;
}

/* Where the roofs lie: of any op that they bound. */
static void
take_roof(struct figures *f, const struct line *l, bool is_compute)
{
	double limit_ns = real_of(l, "roofline_ns");
	struct tally *spec;

	if (!(limit_ns > 0))
		return;
	if (!is_compute) {
		f->tb_per_s =
		    real_of(l, "moved_mib") * 1048576 / limit_ns / 1000;
		return;
	}
	spec = tally_of(f, &f->specs, text_of(f, l, "compute_spec"));
	spec->real = real_of(l, "gflop") / limit_ns * 1e6;
	add(&spec->ns, int_of(l, "kernel_ns_sum"));
}

static void
take_unified(struct figures *f, const struct line *l)
{
	struct str bound = text_of(f, l, "roofline_bound");
	int64_t spent = int_of(l, "kernel_ns_sum");
	bool is_compute = str_starts(bound, STR("COMPUTE"));

	add(&f->unified_ns, spent);
	if (is_none(l, "lost_ns") || bound.len == 0) {
		if (is_none(l, "gflop"))
			add(&f->unmodelled_ns, spent);
		return;
	}
	add(is_compute ? &f->compute_bound_ns : &f->memory_bound_ns, spent);
	add(&f->modelled_ns, spent);
	add(&f->lost_ns, int_of(l, "lost_ns"));
	f->roof = figures_text(f, text_of(f, l, "roof"));
	take_intensity(f, real_of(l, "flop_per_byte"));
	take_loss(f, l, is_compute);
	take_roof(f, l, is_compute);
}

/* A group may have the name of another, but not its ranks. */
static struct str
group_name(struct figures *f, const struct line *l)
{
	struct str desc = text_of(f, l, "desc"), ranks = text_of(f, l, "ranks");
	struct str name = desc.len > 0 ? desc : text_of(f, l, "group");
	struct buf b = { 0 };

	buf_put(&b, name.p, name.len);
	if (ranks.len > 0) {
		buf_puts(&b, " of ranks ");
		buf_put(&b, ranks.p, ranks.len);
	}
	name = figures_text(f, buf_str(&b));
	buf_free(&b);
	return name;
}

static void
take_group(struct figures *f, const struct line *l)
{
	vec_push(&f->groups,
	    ((struct group){
		.name = group_name(f, l),
		.says = figures_text(f, text_of(f, l, "says")),
		.verdict = figures_text(f, text_of(f, l, "verdict")),
		.late_rank = figures_text(f, text_of(f, l, "late_rank")),
		.latency_ns = int_of(l, "latency_ns_sum"),
		.wait_ns = int_of(l, "wait_ns_sum"),
		.collectives = int_of(l, "collectives"),
	    }));
}

static struct rank *
known_rank(struct figures *f, const struct line *l)
{
	struct str label = text_of(f, l, "rank");

	for (size_t i = 0; !f->by_src && i < f->ranks.n; i++)
		if (str_eq(f->ranks.v[i].label, label))
			return &f->ranks.v[i];
	return NULL;
}

static void
take_straggler(struct figures *f, const struct line *l)
{
	struct rank *r = known_rank(f, l);

	if (r == NULL)
		return;
	r->has_wait = true;
	r->wait_ns = int_of(l, "wait_ns_total");
	r->times_last = int_of(l, "times_last");
}

/* Whether a group is judged by it. */
static bool
is_the_late_one(const struct figures *f, const struct rank *r)
{
	for (size_t i = 0; i < f->groups.n; i++)
		if (!str_eq(f->groups.v[i].verdict, STR("none")) &&
		    str_eq(f->groups.v[i].late_rank, r->label))
			return true;
	return false;
}

/* Of the group in which it is latest. */
static void
take_cause(struct figures *f, const struct line *l)
{
	struct rank *r = known_rank(f, l);
	struct str verdict = text_of(f, l, "verdict");
	int64_t late_ns = int_of(l, "late_ns_sum");

	if (r == NULL || late_ns <= r->late_ns ||
	    str_eq(verdict, STR("none")) || !is_the_late_one(f, r))
		return;
	r->late_ns = late_ns;
	r->verdict = figures_text(f, verdict);
}

/* ---- tables of tl-diff ---- */

static void
take_sentence(struct figures *f, const struct line *l)
{
	vec_push(&f->sentences, change_sentence(f, text_of(f, l, "text")));
}

/* They are sorted: what is no noise first, by size. */
static void
take_change(struct figures *f, const struct line *l)
{
	const struct val *noise = cell(l, "is_noise");

	if (f->changes.n == TOP_CHANGES || int_of(l, "diff_ns") == 0 ||
	    (noise->type == VAL_BOOL && noise->yes))
		return;
	vec_push(&f->changes,
	    ((struct change){
		.name = change_name(f, text_of(f, l, "name"),
		    text_of(f, l, "name_after"), text_of(f, l, "input_dims")),
		.before_ns = int_of(l, "before_ns"),
		.after_ns = int_of(l, "after_ns"),
		.count = { int_of(l, "count_before"),
		    int_of(l, "count_after") },
	    }));
}

/* ---- files ---- */

/* In this order: later ones look at what earlier ones left. */
static const struct {
	const char *name;
	take_fn *take;
} inputs[] = {
	{ "gpu_timeline", take_timeline },
	{ "ops_summary", take_ops },
	{ "ops_summary_by_category", take_op_category },
	{ "ops_unique_args", take_args },
	{ "unified_perf_summary", take_unified },
	{ "by_name", take_kernels },
	{ "kernel_summary_by_category", take_kernel_category },
	{ "nccl_groups", take_group },
	{ "straggler_summary", take_straggler },
	{ "straggler_cause", take_cause },
	{ "diff_verdict", take_sentence },
	{ "diff_ops_summary", take_change },
	{ "diff_kernels", take_change },
};

struct taking {
	struct figures *f;
	take_fn *take;
	struct line line;
	struct arena *text; /* of the head, which is borrowed */
	struct head head;
};

static void
begin(void *ctx, const struct head *head)
{
	struct taking *t = ctx;
	size_t size = head->ncolumns * sizeof *head->columns;
	struct head_column *columns = arena_alloc(t->text, size + 1);

	for (size_t i = 0; i < head->ncolumns; i++) {
		columns[i] = head->columns[i];
		columns[i].id = arena_str(t->text, head->columns[i].id);
	}
	t->head = *head;
	t->head.columns = columns;
	t->line.head = &t->head;
}

static void
row(void *ctx, const struct val *cells)
{
	struct taking *t = ctx;

	t->line.cells = cells;
	t->take(t->f, &t->line);
}

static void
end(void *ctx)
{
	(void)ctx;
}

static void
read_table(struct figures *f, const char *path, take_fn *take)
{
	struct taking t = { .f = f, .take = take, .text = arena_create() };
	struct table_sink sink = { begin, row, end, &t };
	struct reader r = { .in = in_open(path), .sink = &sink };

	if (!ndjson_read(&r))
		die("%s: line %" PRIu64 ": %s", path, r.line, r.error.p);
	in_close(r.in);
	reader_free(&r);
	arena_destroy(t.text);
}

/* NAME in the folder, or in more/ there; false: it is not there. */
static bool
find(struct buf *path, const char *dir, const char *name)
{
	static const char *const places[] = { "", "more/" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		path->len = 0;
		buf_printf(path, "%s/%s%s", dir, places[i], name);
		buf_putc(path, '\0');
		if (access(path->p, F_OK) == 0)
			return true;
		if (errno != ENOENT && errno != ENOTDIR)
			die_errno("%s", path->p);
	}
	return false;
}

/* A line is a warning, once. */
static void
read_notes(struct figures *f, const char *path)
{
	struct in *in = in_open(path);
	struct intern *seen = intern_create();
	const unsigned char *nl;

	for (;;) {
		size_t n, known = seen->list.n;

		while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) ==
			NULL &&
		    in_more(in))
			;
		if (nl == NULL)
			nl = in->end;
		n = (size_t)(nl - in->p);
		if (n > 0 &&
		    intern_put(seen, (struct str){ (const char *)in->p, n }) ==
			known)
			vec_push(&f->warnings,
			    figures_text(
				f, (struct str){ (const char *)in->p, n }));
		if (nl == in->end)
			break;
		in->p = nl + 1;
	}
	in_close(in);
	intern_destroy(seen);
}

void
figures_read(struct figures *f, const char *dir)
{
	struct buf path = { 0 };
	char name[64];

	f->text = arena_create();
	if (find(&path, dir, "notes.txt"))
		read_notes(f, path.p);
	if (find(&path, dir, "header.ndjson"))
		header_read(f, path.p);
	f->has_ops = find(&path, dir, "ops_summary.ndjson");
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		snprintf(name, sizeof name, "%s.ndjson", inputs[i].name);
		if (find(&path, dir, name))
			read_table(f, path.p, inputs[i].take);
		else if (i == 0)
			die("%s: no table gpu_timeline.ndjson: see "
			    "tl-timeline -d DIR --format ndjson",
			    dir);
	}
	buf_free(&path);
}

static void
tallies_free(struct tallies *t)
{
	if (t->keys != NULL)
		intern_destroy(t->keys);
	vec_free(&t->list);
}

void
figures_free(struct figures *f)
{
	tallies_free(&f->ops);
	tallies_free(&f->categories);
	tallies_free(&f->losses);
	tallies_free(&f->specs);
	vec_free(&f->ranks);
	vec_free(&f->groups);
	vec_free(&f->warnings);
	vec_free(&f->sentences);
	vec_free(&f->changes);
	arena_destroy(f->text);
}

/* SPDX-License-Identifier: MIT */
/* Reading the LCAs of a comparison, and a row's share of them. */
#include <stdlib.h>

#include "cmd/tl-roofline/versus.h"
#include "reader/reader.h"
#include "trace/stat.h"

struct point {
	int64_t id;
	uint32_t name;
	size_t row; /* the last row that counted it, from 1 */
	bool has_after;
	int64_t before_ns, after_ns;
};

/* Columns read; all but the last are required. */
enum { C_SOURCE, C_GPU, C_LCA, C_NAME, C_BUSY, C_SRC, C_COUNT };
static const char *const columns[] = { "source", "gpu_op_uid", "lca_id",
	"lca_name", "busy_ns", "src" };

struct versus {
	struct dict *dict;
	VEC(struct point) points;
	struct map of_lca;  /* run and number to 1 + index */
	struct map of_gpu;  /* run and id of our event to the same */
	VEC(uint32_t) hits; /* of the current row */
	size_t nrows;
	const char *path;
	size_t at[C_COUNT]; /* of the columns read, or NO_COLUMN */
};

#define NO_COLUMN SIZE_MAX

/* ---- reading ---- */

static void
begin(void *ctx, const struct head *head)
{
	struct versus *v = ctx;

	for (int c = 0; c < C_COUNT; c++) {
		v->at[c] = NO_COLUMN;
		for (size_t i = head->ncolumns; i-- > 0;)
			if (str_eq(head->columns[i].id, str_of(columns[c])))
				v->at[c] = i;
	}
}

static bool
is_whole(const struct versus *v)
{
	for (int c = 0; c < C_SRC; c++)
		if (v->at[c] == NO_COLUMN)
			return false;
	return true;
}

static bool
int_of(const struct val *v, int64_t *n)
{
	if (v->type == VAL_BIG)
		return num_i64(v->text, n);
	if (v->type != VAL_NUMBER || !(v->number >= 0 && v->number < 9e15))
		return false;
	*n = (int64_t)v->number;
	return true;
}

/* Both count things in memory, so they fit. */
static uint64_t
key_of(const struct versus *v, int64_t run, int64_t n)
{
	if (run > UINT32_MAX || n > UINT32_MAX)
		die("%s: the number %" PRId64 " is out of range", v->path,
		    run > UINT32_MAX ? run : n);
	return (uint64_t)run << 32 | (uint64_t)n;
}

static struct point *
point_of(struct versus *v, int64_t run, int64_t id, const struct val *name)
{
	uint64_t *slot = map_put(&v->of_lca, key_of(v, run, id), NULL);

	if (*slot == 0) {
		struct str s = name->type == VAL_TEXT ? name->text : STR("");

		vec_push(&v->points,
		    ((struct point){
			.id = id, .name = intern_put(v->dict->text, s) }));
		*slot = v->points.n;
	}
	return &v->points.v[*slot - 1];
}

static void
row(void *ctx, const struct val *cells)
{
	struct versus *v = ctx;
	int64_t lca, gpu, busy, run = 0;
	struct point *p;

	if (!is_whole(v) || !int_of(&cells[v->at[C_LCA]], &lca) ||
	    !int_of(&cells[v->at[C_GPU]], &gpu) ||
	    !int_of(&cells[v->at[C_BUSY]], &busy) ||
	    cells[v->at[C_SOURCE]].type != VAL_TEXT ||
	    (v->at[C_SRC] != NO_COLUMN && !int_of(&cells[v->at[C_SRC]], &run)))
		return;
	p = point_of(v, run, lca, &cells[v->at[C_NAME]]);
	if (str_eq(cells[v->at[C_SOURCE]].text, STR("trace1"))) {
		p->before_ns = busy;
		*map_put(&v->of_gpu, key_of(v, run, gpu), NULL) =
		    (uint64_t)(p - v->points.v) + 1;
	} else {
		p->after_ns = busy;
		p->has_after = true;
	}
}

static void
end(void *ctx)
{
	(void)ctx;
}

struct versus *
versus_read(struct dict *st, const char *path)
{
	struct versus *v = xcalloc(1, sizeof *v);
	struct table_sink sink = { begin, row, end, v };
	struct reader r = { .in = in_open(path), .sink = &sink };

	v->dict = st;
	v->path = path;
	if (!ndjson_read(&r))
		die("%s: line %" PRIu64 ": %s", path, r.line, r.error.p);
	if (!is_whole(v))
		die("%s: not a table of tl-diff --table diff_stats --format "
		    "ndjson",
		    path);
	in_close(r.in);
	reader_free(&r);
	return v;
}

void
versus_free(struct versus *v)
{
	if (v == NULL)
		return;
	vec_free(&v->points);
	vec_free(&v->hits);
	map_free(&v->of_lca);
	map_free(&v->of_gpu);
	free(v);
}

/* ---- rows ---- */

void
versus_row(struct versus *v)
{
	v->nrows++;
	v->hits.n = 0;
}

/* The run of a recording; without a column there is only the first. */
static bool
run_of(const struct versus *v, const struct sink_sources *g, uint32_t source,
    int64_t *run)
{
	*run = source;
	if (v->at[C_SRC] != NO_COLUMN)
		return true;
	*run = 0;
	for (uint32_t i = 0; i < source; i++)
		if (g->list.v[i].is_asked)
			return false;
	return true;
}

/* The LCA of GPU work, or NULL. */
static struct point *
point_at(
    const struct versus *v, const struct sink_sources *g, const struct work *w)
{
	const uint64_t *slot;
	int64_t run;

	if (w->uid.id > UINT32_MAX || !run_of(v, g, w->source, &run))
		return NULL;
	slot = map_get(&v->of_gpu, key_of(v, run, (int64_t)w->uid.id));
	return slot != NULL ? &v->points.v[*slot - 1] : NULL;
}

void
versus_add(struct versus *v, const struct sink_sources *g, const struct work *w)
{
	struct point *p = point_at(v, g, w);

	if (p == NULL || p->row == v->nrows)
		return;
	p->row = v->nrows;
	vec_push(&v->hits, (uint32_t)(p - v->points.v));
}

/* qsort() passes no context */
static const struct versus *sorting;

static int
by_id(const void *x, const void *y)
{
	int64_t a = sorting->points.v[*(const uint32_t *)x].id;
	int64_t b = sorting->points.v[*(const uint32_t *)y].id;

	return (a > b) - (a < b);
}

bool
versus_sum(struct versus *v, struct versus_row *to)
{
	*to = (struct versus_row){ 0 };
	sorting = v;
	if (v->hits.n > 1)
		qsort(v->hits.v, v->hits.n, sizeof *v->hits.v, by_id);
	for (size_t i = 0; i < v->hits.n; i++) {
		const struct point *p = &v->points.v[v->hits.v[i]];

		stat_add(&to->before_ns, p->before_ns);
		stat_add(&to->after_ns, p->after_ns);
		to->nafter += p->has_after;
	}
	return v->hits.n > 0;
}

void
versus_list(const struct versus *v, bool names, struct buf *b)
{
	for (size_t i = 0; i < v->hits.n; i++) {
		const struct point *p = &v->points.v[v->hits.v[i]];
		struct str s = dict_get(v->dict, p->name);

		if (i > 0)
			buf_puts(b, "; ");
		if (names)
			buf_put(b, s.p, s.len);
		else
			buf_printf(b, "%" PRId64, p->id);
	}
}

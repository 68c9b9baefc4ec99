/* SPDX-License-Identifier: MIT */
/* The tables of a report, as files; and what adds up under a name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/tl-summary/take.h"

struct str
figures_text(struct figures *f, struct str s)
{
	return arena_str(f->text, s);
}

/* ---- tallies ---- */

struct tally *
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

int64_t
tallies_sum(const struct tallies *t)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->list.n; i++)
		if (!num_add(sum, t->list.v[i].ns, &sum))
			die("times add up to more than 292 years");
	return sum;
}

/* ---- files ---- */

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

void
figures_read(struct figures *f, const char *dir)
{
	struct buf path = { 0 };
	char name[64];

	f->text = arena_create();
	if (find(&path, dir, "header.ndjson"))
		header_read(f, path.p);
	if (find(&path, dir, "against.ndjson"))
		header_read_against(f, path.p);
	f->has_ops = find(&path, dir, "ops_summary.ndjson");
	f->is_host = find(&path, dir, "host_timeline.ndjson");
	for (size_t i = 0; inputs[i].name != NULL; i++) {
		snprintf(name, sizeof name, "%s.ndjson", inputs[i].name);
		if (find(&path, dir, name))
			read_table(f, path.p, inputs[i].take);
		else if (i == 0 && !f->is_host)
			die("%s: no table gpu_timeline.ndjson: see "
			    "tl-timeline -d DIR --format ndjson",
			    dir);
	}
	changes_finish(f);
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
	tallies_free(&f->unknown);
	tallies_free(&f->lacking);
	tallies_free(&f->over);
	vec_free(&f->ranks);
	vec_free(&f->groups);
	vec_free(&f->warnings);
	vec_free(&f->sentences);
	vec_free(&f->changes);
	arena_destroy(f->text);
}

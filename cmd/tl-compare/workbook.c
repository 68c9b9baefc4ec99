/* SPDX-License-Identifier: MIT */
/*
 * A workbook's sheets by name. The way to them goes through relations:
 *
 *	_rels/.rels                 type .../officeDocument -> xl/workbook.xml
 *	xl/workbook.xml             <sheet name="GEMM" r:id="rId3"/>
 *	xl/_rels/workbook.xml.rels  rId3, type .../worksheet -> a part
 *	                            type .../sharedStrings   -> a part
 */
#include <stdlib.h>

#include "cmd/tl-compare/workbook.h"

/* Excel allows as many as memory has; a report has 30. */
#define SHEETS_MAX 65536
#define RELATIONS_MAX 262144

struct relation {
	const char *id, *type; /* the last word of its type */
	const char *part;
};

struct sheet_entry {
	struct str name;
	const char *id, *part; /* part NULL: none with a table */
};

struct workbook {
	struct parts *parts;
	struct arena *arena;
	VEC(struct relation) relations; /* of the part looked at last */
	VEC(struct sheet_entry) sheets;
	const char *shared_part; /* or NULL */
	struct book_cells cells;
	bool has_shared;
	struct xml *xml;
	const char *folder; /* of the part that has the relations */
};

/* ---- relations ---- */

static const char *
keep(struct workbook *w, const char *s)
{
	return arena_str(w->arena, str_of(s)).p;
}

/* "x/y" from a folder ("xl/"), or "/x/y" from the top. */
static const char *
resolve(struct workbook *w, const char *folder, const char *target)
{
	struct buf b = { 0 };
	const char *path;

	if (*target == '/')
		target++;
	else
		buf_puts(&b, folder);
	if (strncmp(target, "./", 2) == 0)
		target += 2;
	buf_puts(&b, target);
	buf_putc(&b, '\0');
	path = keep(w, b.p);
	buf_free(&b);
	return path;
}

static void
on_relation(void *ctx, const char *name, const char **attributes)
{
	struct workbook *w = ctx;
	const char *id = xml_attribute(attributes, "Id", false);
	const char *type = xml_attribute(attributes, "Type", false);
	const char *target = xml_attribute(attributes, "Target", false);
	const char *mode = xml_attribute(attributes, "TargetMode", false);
	const char *slash;

	if (strcmp(name, "Relationship") != 0 || id == NULL || type == NULL ||
	    target == NULL || (mode != NULL && strcmp(mode, "External") == 0))
		return;
	if (w->relations.n == RELATIONS_MAX) {
		xml_fail(w->xml, "too many relations");
		return;
	}
	slash = strrchr(type, '/');
	vec_push(&w->relations,
	    ((struct relation){ keep(w, id),
		keep(w, slash != NULL ? slash + 1 : type),
		resolve(w, w->folder, target) }));
}

static void
on_nothing(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
}

static bool
parse(struct workbook *w, const char *part,
    void (*start)(void *, const char *, const char **), struct buf *error)
{
	struct xml_sink sink = { start, on_nothing, NULL, w };
	bool good;

	w->xml = xml_create(&sink, error);
	good = parts_parse(w->parts, part, w->xml, error);
	xml_destroy(w->xml);
	w->xml = NULL;
	return good;
}

/* The relations of a part ("" is the package's). */
static bool
read_relations(struct workbook *w, const char *part, struct buf *error)
{
	const char *slash = strrchr(part, '/');
	size_t n = slash != NULL ? (size_t)(slash - part) + 1 : 0;
	struct buf b = { 0 };
	bool good;

	w->relations.n = 0;
	w->folder = arena_str(w->arena, (struct str){ part, n }).p;
	buf_printf(&b, "%s_rels/%s.rels", w->folder, part + n);
	buf_putc(&b, '\0');
	good = parse(w, b.p, on_relation, error);
	buf_free(&b);
	return good;
}

static const struct relation *
relation_of_type(const struct workbook *w, const char *type)
{
	for (size_t i = 0; i < w->relations.n; i++)
		if (strcmp(w->relations.v[i].type, type) == 0)
			return &w->relations.v[i];
	return NULL;
}

/* ---- sheets ---- */

static void
on_sheet(void *ctx, const char *name, const char **attributes)
{
	struct workbook *w = ctx;
	const char *title = xml_attribute(attributes, "name", false);
	const char *id = xml_attribute(attributes, "id", true);

	if (strcmp(name, "sheet") != 0 || title == NULL || id == NULL)
		return;
	if (w->sheets.n == SHEETS_MAX) {
		xml_fail(w->xml, "too many sheets");
		return;
	}
	vec_push(&w->sheets,
	    ((struct sheet_entry){
		str_of(keep(w, title)), keep(w, id), NULL }));
}

static int
by_id(const void *a, const void *b)
{
	const struct relation *x = a, *y = b;

	return strcmp(x->id, y->id);
}

/* Sheets get their parts; what has no table (a chart's sheet) goes. */
static void
place_sheets(struct workbook *w)
{
	size_t n = 0;

	if (w->relations.n > 0)
		qsort(w->relations.v, w->relations.n, sizeof *w->relations.v,
		    by_id);
	for (size_t i = 0; i < w->sheets.n; i++) {
		struct relation key = { .id = w->sheets.v[i].id };
		const struct relation *r = w->relations.n == 0
		    ? NULL
		    : bsearch(&key, w->relations.v, w->relations.n, sizeof key,
			  by_id);

		if (r == NULL || strcmp(r->type, "worksheet") != 0)
			continue;
		w->sheets.v[n] = w->sheets.v[i];
		w->sheets.v[n++].part = r->part;
	}
	w->sheets.n = n;
}

static bool
find_sheets(struct workbook *w, struct buf *error)
{
	const struct relation *r;

	if (!read_relations(w, "", error))
		return false;
	r = relation_of_type(w, "officeDocument");
	if (r == NULL)
		return book_fail(error, "the zip is no workbook");
	/* its XML says what it is: a document of Word ends here */
	const char *book = r->part;

	if (!parse(w, book, on_sheet, error) || !read_relations(w, book, error))
		return false;
	r = relation_of_type(w, "sharedStrings");
	w->shared_part = r != NULL ? r->part : NULL;
	place_sheets(w);
	if (w->sheets.n == 0)
		return book_fail(error, "the zip is no workbook with sheets");
	return true;
}

/* ---- for callers ---- */

struct workbook *
workbook_open(const char *path, struct buf *error)
{
	struct workbook *w;
	struct parts *parts = parts_open(path, error);

	if (parts == NULL)
		return NULL;
	w = xcalloc(1, sizeof *w);
	w->parts = parts;
	w->arena = arena_create();
	w->cells.shared.arena = arena_create();
	if (find_sheets(w, error))
		return w;
	workbook_close(w);
	return NULL;
}

void
workbook_close(struct workbook *w)
{
	if (w == NULL)
		return;
	parts_close(w->parts);
	arena_destroy(w->arena);
	arena_destroy(w->cells.shared.arena);
	vec_free(&w->cells.shared.list);
	vec_free(&w->relations);
	vec_free(&w->sheets);
	free(w);
}

size_t
workbook_count(const struct workbook *w)
{
	return w->sheets.n;
}

struct str
workbook_name(const struct workbook *w, size_t sheet)
{
	return w->sheets.v[sheet].name;
}

/* A part through a grid, of a sheet or of the shared texts. */
static bool
read_part(struct workbook *w, const char *part, const struct table_sink *sink,
    struct oddities *odd, struct buf *error)
{
	struct grid *g = grid_create(sink, &w->cells, odd, error);
	bool good = parts_parse(w->parts, part, grid_xml(g), error);

	if (good && sink != NULL)
		grid_finish(g);
	grid_destroy(g);
	return good;
}

bool
workbook_read(struct workbook *w, size_t sheet, const struct table_sink *sink,
    struct oddities *odd, struct buf *error)
{
	if (!w->has_shared && w->shared_part != NULL &&
	    !read_part(w, w->shared_part, NULL, NULL, error))
		return false;
	w->has_shared = true;
	return read_part(w, w->sheets.v[sheet].part, sink, odd, error);
}

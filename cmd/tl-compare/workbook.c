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

#include "table/catalogue.h"

#include "cmd/tl-compare/workbook.h"

/* Excel has no limit; a report has 30. */
#define SHEETS_MAX 4096
#define RELATIONS_MAX 16384

struct relation {
	const char *id, *type; /* type: its last word */
	const char *part;
};

struct sheet_entry {
	struct str name;
	const char *id, *part; /* part NULL: no table */
};

struct workbook {
	struct parts *parts;
	struct arena *arena;
	VEC(struct relation) relations; /* of the current part */
	VEC(struct sheet_entry) sheets;
	const char *shared_part; /* or NULL */
	struct book_cells cells;
	bool has_shared;
	const char *folder; /* of the current part */
};

/* ---- relations ---- */

static const char *
keep(struct workbook *w, const char *s)
{
	return arena_str(w->arena, str_of(s)).p;
}

/* Resolves "x/y" in a folder ("xl/"), or "/x/y". */
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

static const char *
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
		return NULL;
	if (w->relations.n == RELATIONS_MAX)
		return "too many relations";
	slash = strrchr(type, '/');
	vec_push(&w->relations,
	    ((struct relation){ keep(w, id),
		keep(w, slash != NULL ? slash + 1 : type),
		resolve(w, w->folder, target) }));
	return NULL;
}

/* Relations of a part; "": of the package. */
static bool
read_relations(struct workbook *w, const char *part, struct buf *error)
{
	const char *slash = strrchr(part, '/');
	size_t n = slash != NULL ? (size_t)(slash - part) + 1 : 0;
	struct xml_sink sink = { .start = on_relation, .ctx = w };
	struct buf b = { 0 };
	bool good;

	w->relations.n = 0;
	w->folder = arena_str(w->arena, (struct str){ part, n }).p;
	buf_printf(&b, "%s_rels/%s.rels", w->folder, part + n);
	buf_putc(&b, '\0');
	good = parts_parse(w->parts, b.p, &sink, error);
	buf_free(&b);
	return good;
}

/* By id, or the first of a type if id is NULL. */
static const struct relation *
find_relation(const struct workbook *w, const char *id, const char *type)
{
	for (size_t i = 0; i < w->relations.n; i++) {
		const struct relation *r = &w->relations.v[i];

		if ((id == NULL || strcmp(r->id, id) == 0) &&
		    strcmp(r->type, type) == 0)
			return r;
	}
	return NULL;
}

/* ---- sheets ---- */

static const char *
on_sheet(void *ctx, const char *name, const char **attributes)
{
	struct workbook *w = ctx;
	const char *title = xml_attribute(attributes, "name", false);
	const char *id = xml_attribute(attributes, "id", true);

	if (strcmp(name, "sheet") != 0 || title == NULL || id == NULL)
		return NULL;
	if (w->sheets.n == SHEETS_MAX)
		return "too many sheets";
	vec_push(&w->sheets,
	    ((struct sheet_entry){
		str_of(keep(w, title)), keep(w, id), NULL }));
	return NULL;
}

/*
 * Assigns parts; drops sheets without a table, such as charts and the screen.
 */
static void
place_sheets(struct workbook *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->sheets.n; i++) {
		const struct relation *r =
		    find_relation(w, w->sheets.v[i].id, "worksheet");

		if (r == NULL || str_eq(w->sheets.v[i].name, STR(SHEET_FRONT)))
			continue;
		w->sheets.v[n] = w->sheets.v[i];
		w->sheets.v[n++].part = r->part;
	}
	w->sheets.n = n;
}

static bool
find_sheets(struct workbook *w, struct buf *error)
{
	struct xml_sink sink = { .start = on_sheet, .ctx = w };
	const struct relation *r;
	const char *book;

	if (!read_relations(w, "", error))
		return false;
	r = find_relation(w, NULL, "officeDocument");
	if (r == NULL)
		return buf_fail(
		    error, "not a workbook: the zip lacks its parts");
	book = r->part;
	/* tells a workbook from a Word document */
	if (!parts_parse(w->parts, book, &sink, error) ||
	    !read_relations(w, book, error))
		return false;
	r = find_relation(w, NULL, "sharedStrings");
	w->shared_part = r != NULL ? r->part : NULL;
	place_sheets(w);
	if (w->sheets.n == 0)
		return buf_fail(error,
		    "not a workbook: the zip lacks its parts with sheets");
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
	w->cells.arena = arena_create();
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
	arena_destroy(w->cells.arena);
	vec_free(&w->cells.shared);
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

/* Feeds a part, a sheet or the shared texts, to a grid. */
static bool
read_part(struct workbook *w, const char *part, const struct table_sink *sink,
    struct oddities *odd, struct buf *error)
{
	struct grid *g = grid_create(sink, &w->cells, odd);
	bool good = parts_parse(w->parts, part, grid_sink(g), error);

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

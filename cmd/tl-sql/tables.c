/* SPDX-License-Identifier: MIT */
/* A table of a report as one of the database. */
#include "cmd/tl-sql/sql.h"

static void
begin(void *ctx, const struct head *head)
{
	static const char *const types[] = { [COL_TEXT] = " TEXT",
		[COL_INT] = " INTEGER",
		[COL_REAL] = " REAL",
		[COL_BOOL] = " BOOLEAN",
		[COL_JSON] = " TEXT" };
	struct tables *t = ctx;
	struct buf create = { 0 }, insert = { 0 };
	struct str name = head->name;

	if (t->want != NULL)
		name = str_of(t->want);
	else if (name.len == 0)
		name = table_name_of(t->path);
	if (head->ncolumns == 0)
		die("%s: table without columns, which SQLite does not have",
		    t->path);
	buf_puts(&create, "CREATE TABLE ");
	db_quote(&create, name);
	buf_puts(&insert, "INSERT INTO ");
	db_quote(&insert, name);
	for (size_t i = 0; i < head->ncolumns; i++) {
		buf_puts(&create, i == 0 ? " (" : ", ");
		db_quote(&create, head->columns[i].id);
		/* each cell has its own type if the input has none */
		if (head->typed)
			buf_puts(&create, types[head->columns[i].type]);
		buf_puts(&insert, i == 0 ? " VALUES (?" : ", ?");
	}
	buf_put(&create, ")", sizeof ")");
	buf_put(&insert, ")", sizeof ")");
	db_run(t->db, create.p);
	t->insert = db_prepare(t->db, insert.p);
	t->ncolumns = head->ncolumns;
	buf_free(&create);
	buf_free(&insert);
}

/* Beyond 2^53 a double may not equal the number in the text. */
static void
put_number(struct tables *t, int at, double v)
{
	if (v >= -0x1p53 && v <= 0x1p53 && v == (double)(int64_t)v)
		db_int(t->db, t->insert, at, (int64_t)v);
	else
		db_real(t->db, t->insert, at, v);
}

static void
row(void *ctx, const struct val *cells)
{
	struct tables *t = ctx;

	for (size_t i = 0; i < t->ncolumns; i++) {
		const struct val *v = &cells[i];
		int at = (int)i + 1;
		int64_t big;

		switch (v->type) {
		case VAL_NONE: break;
		case VAL_NUMBER: put_number(t, at, v->number); break;
		case VAL_BOOL: db_int(t->db, t->insert, at, v->yes); break;
		case VAL_BIG:
			if (num_i64(v->text, &big)) {
				db_int(t->db, t->insert, at, big);
				break;
			}
			/* FALLTHROUGH */
		case VAL_TEXT: db_text(t->db, t->insert, at, v->text); break;
		}
	}
	db_row(t->db, t->insert);
}

static void
end(void *ctx)
{
	struct tables *t = ctx;

	(void)sqlite3_finalize(t->insert);
}

void
tables_read(struct tables *t, struct in *in)
{
	const struct table_sink sink = { begin, row, end, t };

	table_read_all(in, TABLE_UNKNOWN, &sink);
}

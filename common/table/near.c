/* SPDX-License-Identifier: MIT */
/*
 * For an unknown table or column: suggests names that may be meant, not all, as
 * there can be sixty.
 */
#include <stdlib.h>

#include "table/view.h"

#define ALL_MAX 10 /* up to this many: all are named */
#define TIMES_MAX 3

/* "time" is no column, but stands for those of time, the GPU's first. */
static bool
put_times(
    struct buf *b, const struct column *columns, size_t n, struct str word)
{
	static const struct str words[] = { STR_INIT("time"), STR_INIT("dur"),
		STR_INIT("duration") };
	size_t nput = 0;
	bool is_time = false;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		is_time |= str_eq(word, words[i]);
	for (size_t i = 0; is_time && i < n && nput < TIMES_MAX; i++)
		if (columns[i].unit == UNIT_NS &&
		    (columns[i].flags & COL_POSITION) == 0 &&
		    !str_starts(str_of(columns[i].id), STR("host_")))
			buf_printf(b, "%s %s", nput++ == 0 ? ": is it" : " or",
			    columns[i].id);
	if (nput > 0)
		buf_putc(b, '?');
	return nput > 0;
}

noreturn void
columns_refuse(const char *table, const struct column *columns, size_t n,
    const char *option, struct str word)
{
	const char **ids = xcalloc(n + 1, sizeof *ids);
	struct buf b = { 0 };
	bool is_near;

	for (size_t i = 0; i < n; i++)
		ids[i] = columns[i].id;
	is_near = suggest_put(&b, word, ids, n, "") ||
	    put_times(&b, columns, n, word);
	for (size_t i = 0; !is_near && i < n && i < ALL_MAX; i++)
		buf_printf(&b, "%s %s", i == 0 ? "; it has" : "", ids[i]);
	if (!is_near && n > ALL_MAX)
		buf_printf(&b, " and %zu more: see the page", n - ALL_MAX);
	die_usage("%s: %s has no column '%.*s'%.*s", option, table,
	    (int)word.len, word.p, (int)b.len, b.p);
}

noreturn void
table_refuse(struct str name, const void *names, size_t n, size_t size)
{
	const char **list = xcalloc(n + 1, sizeof *list);
	struct buf near = { 0 };

	for (size_t i = 0; i < n; i++)
		memcpy(&list[i], (const char *)names + i * size, sizeof *list);
	if (!suggest_put(&near, name, list, n, ""))
		buf_puts(&near, "; see --list-tables");
	die_usage("no table '%.*s'%.*s", (int)name.len, name.p, (int)near.len,
	    near.p);
}

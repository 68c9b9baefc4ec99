/* SPDX-License-Identifier: MIT */
/*
 * A column that a table does not have: which ones are meant is told, rather
 * than all, of which there can be sixty.
 */
#include <stdlib.h>

#include "table/view.h"

#define ALL_MAX 10 /* of this many all are told */

noreturn void
columns_refuse(const char *table, const struct column *columns, size_t n,
    const char *option, struct str word)
{
	const char **ids = xcalloc(n + 1, sizeof *ids);
	struct buf b = { 0 };
	bool is_near;

	for (size_t i = 0; i < n; i++)
		ids[i] = columns[i].id;
	is_near = suggest_put(&b, word, ids, n, "");
	for (size_t i = 0; !is_near && i < n && i < ALL_MAX; i++)
		buf_printf(&b, "%s %s", i == 0 ? "; it has" : "", ids[i]);
	if (!is_near && n > ALL_MAX)
		buf_printf(&b, " and %zu more: see the page", n - ALL_MAX);
	die_usage("%s: %s has no column '%.*s'%.*s", option, table,
	    (int)word.len, word.p, (int)b.len, b.p);
}

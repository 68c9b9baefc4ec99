/* SPDX-License-Identifier: MIT */
#include "trace/laws.h"

noreturn static void
broken(const char *table, const struct law_part *parts, size_t n,
    const char *is_not, struct law_part whole)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s %" PRId64, i > 0 ? " + " : "",
		    parts[i].name, parts[i].ns);
	die("table %s: %.*s %s %s %" PRId64 ": a defect of this program, "
	    "so nothing is printed",
	    table, (int)b.len, b.p, is_not, whole.name, whole.ns);
}

void
law_sum(const char *table, const struct law_part *parts, size_t n,
    struct law_part whole)
{
	int64_t sum = 0;
	bool fits = true, is_bad = false;

	for (size_t i = 0; i < n; i++) {
		is_bad |= parts[i].ns < 0;
		fits = fits && num_add(sum, parts[i].ns, &sum);
	}
	if (is_bad || (fits && sum != whole.ns))
		broken(table, parts, n, "are not", whole);
}

void
law_same(const char *table, struct law_part one, struct law_part other)
{
	if (one.ns != other.ns)
		broken(table, &one, 1, "is not", other);
}

void
law_most(const char *table, struct law_part part, struct law_part whole)
{
	if (part.ns > whole.ns)
		broken(table, &part, 1, "is more than", whole);
}

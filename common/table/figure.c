/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "table/table.h"

#define MANY_PERCENT 1000 /* from here on a factor reads better */

void
put_time(struct buf *b, int64_t ns)
{
	double v = (double)ns;

	if (v >= 1e9)
		buf_printf(b, "%.3f s", v / 1e9);
	else if (v >= 1e6)
		buf_printf(b, "%.3f ms", v / 1e6);
	else if (v >= 1e3)
		buf_printf(b, "%.1f us", v / 1e3);
	else
		buf_printf(b, "%" PRId64 " ns", ns);
}

void
put_count(struct buf *b, int64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRId64, n);

	for (int i = 0; i < len; i++) {
		if (i > (n < 0) && (len - i) % 3 == 0)
			buf_putc(b, ',');
		buf_putc(b, digits[i]);
	}
}

void
put_growth(struct buf *b, double before, double more)
{
	double percent = 100 * more / before;

	if (percent > MANY_PERCENT)
		buf_printf(b, "x %.4g", (before + more) / before);
	else
		buf_printf(b, "%+.1f %%", percent);
}

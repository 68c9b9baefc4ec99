/* SPDX-License-Identifier: MIT */
#include "table/table.h"

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

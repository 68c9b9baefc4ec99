/* SPDX-License-Identifier: MIT */
/* Which files are of which side. */
#include <string.h>

#include "cmd/tl-fold/fold.h"

static void
check_stdin(const path_vec paths[NSIDES])
{
	size_t n = 0;

	for (int side = 0; side < NSIDES; side++)
		for (size_t i = 0; i < paths[side].n; i++)
			n += strcmp(paths[side].v[i], "-") == 0;
	if (n > 1)
		die_usage("standard input can be one trace only");
}

void
operands_take(path_vec paths[NSIDES], bool is_diff, const struct optparse *op)
{
	bool has_paths = paths[0].n > 0 || paths[1].n > 0;
	int n = op->argc - op->ind;

	if (has_paths && !is_diff)
		die_usage("options '-B' and '-A' need --diff");
	if (has_paths && n > 0)
		die_usage("either two files, or -B and -A");
	if (has_paths && (paths[0].n == 0 || paths[1].n == 0))
		die_usage("option '--%s' is missing",
		    paths[0].n == 0 ? "before" : "after");
	if (is_diff && !has_paths && n != NSIDES)
		die_usage("option '--diff' needs two files, before and after");
	for (int i = 0; i < n && is_diff; i++)
		stream_paths(&paths[i], op->argv[op->ind + i], false);
	check_stdin(paths);
}

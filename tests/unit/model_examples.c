/* SPDX-License-Identifier: MIT */
/* Every example that a built-in op model carries. */
#include "model/model.h"
#include "tests/tools/model-check.h"
#include "tests/unit/tap.h"

static void
tell(void *ctx, bool passed, struct str what)
{
	(void)ctx;
	ok(passed, "%.*s", (int)what.len, what.p);
}

int
main(void)
{
	struct models *ms = models_create();
	size_t nrun;

	models_check(ms, NULL, tell, NULL, &nrun);
	ok(nrun >= 10, "%zu examples", nrun);
	models_destroy(ms);
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/* tl-fold: GPU time that is in no stack, or in two, ends it. */
#include "cmd/tl-fold/fold.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

static struct output o = { .path = "/dev/null", .nsides = 1, .is_gpu = true };
static struct dict *st;
static struct merged t;
static struct sources sources;

static void
write_stacks(void)
{
	output_write(&o, &t, st, &sources);
}

/* What it says of stacks whose GPU events take so long; "" if nothing. */
static const char *
said_of(int64_t work_ns)
{
	struct sink_source *of = sources.side[0].list.v;
	static struct child end;

	of[0].work_ns = work_ns;
	end = child_run(write_stacks);
	return end.status == EXIT_NO_ANSWER ? end.err : "";
}

int
main(void)
{
	uint32_t of[2], kernel;

	st = dict_create();
	merged_start(&t);
	/* two sources, the first selected: 7 ns in two stacks */
	for (uint32_t i = 0; i < 2; i++) {
		vec_push(&sources.side[0].list,
		    ((struct sink_source){ .no = i, .is_asked = i == 0 }));
		of[i] = merged_child(&t, 0, i);
		kernel = merged_child(
		    &t, of[i], intern_put(st->text, STR("kernel")));
		t.nodes.v[kernel].ns[0] = 5;
	}
	t.nodes.v[of[0]].ns[0] = 2;
	is_str(said_of(7), "", "each in one");
	ok(strstr(said_of(8),
	       "GPU time in stacks 7 is not that of all GPU events 8: a "
	       "defect") != NULL,
	    "an event in none");
	ok(strstr(said_of(4), "7 is not that of all GPU events 4") != NULL,
	    "an event in two");
	o.is_gpu = false;
	is_str(said_of(8), "", "of host time nothing is known");
	merged_free(&t);
	dict_destroy(st);
	done_testing();
}

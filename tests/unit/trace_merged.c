/* SPDX-License-Identifier: MIT */
/* trace/merged.c: nodes, their order, sums, and the time of open frames. */
#include "tests/unit/tap.h"
#include "trace/merged.h"

/* "level:name:ns " of each node below the root. */
static struct buf
text_of(const struct merged *t)
{
	struct buf b = { 0 };

	for (uint32_t i = merged_next(t, 0); i != 0; i = merged_next(t, i))
		buf_printf(&b, "%u:%u:%d ", t->nodes.v[i].level,
		    t->nodes.v[i].name, (int)t->nodes.v[i].ns[0]);
	buf_putc(&b, '\0');
	return b;
}

static void
is_tree(const struct merged *t, const char *want, const char *what)
{
	struct buf b = text_of(t);

	ok(strcmp(b.p, want) == 0, "%s: %s", what, b.p);
	buf_free(&b);
}

static void
names(void)
{
	struct merged t;
	uint32_t a, b, c;

	merged_start(&t);
	is_tree(&t, "", "empty");
	is_uint(merged_behind(&t, 0), 0, "nothing behind the root");
	a = merged_child(&t, 0, 7);
	b = merged_child(&t, 0, 0);
	c = merged_child(&t, a, 7);
	is_uint(merged_child(&t, 0, 7), a, "one name, one node");
	is_uint(merged_child(&t, a, 7), c, "below another node another one");
	ok(merged_new(&t, 0, 7) != a, "unless a new one is asked for");
	is_uint(merged_child(&t, 0, 7), a, "which has no name to find it by");
	t.nodes.v[a].ns[0] = 1;
	t.nodes.v[b].ns[0] = 2;
	t.nodes.v[c].ns[0] = 4;
	is_tree(&t, "1:7:1 2:7:4 1:0:2 1:7:0 ", "pre-order");
	is_uint(merged_behind(&t, a), b, "behind a node");
	is_uint(merged_behind(&t, c), b, "behind the last below it");
	merged_add_up(&t);
	is_tree(&t, "1:7:5 2:7:4 1:0:2 1:7:0 ", "added up");
	is_int(t.nodes.v[0].ns[0], 7, "all of it");
	is_int(t.nodes.v[0].ns[1], 0, "nothing on the other side");
	merged_free(&t);
}

/* An op of 10 has one of 6, and this has one of 1 below an uncounted frame. */
static void
frames(void)
{
	struct merged t;

	merged_start(&t);
	is_uint(merged_top(&t, 5), 5, "nothing is open");
	merged_open(&t, merged_child(&t, 0, 1), 0, 10, 0);
	merged_close(&t, 1);
	merged_open(&t, merged_child(&t, merged_top(&t, 0), 2), 1, 6, 0);
	merged_open(
	    &t, merged_child(&t, merged_top(&t, 0), 3), 2, MERGED_UNTIMED, 0);
	merged_open(&t, merged_child(&t, merged_top(&t, 0), 4), 3, 1, 0);
	merged_close(&t, 1);
	is_tree(&t, "1:1:0 2:2:5 3:3:0 4:4:1 ", "what was closed");
	is_uint(t.open.n, 1, "the outermost is open");
	merged_close(&t, 0);
	is_tree(&t, "1:1:4 2:2:5 3:3:0 4:4:1 ", "its own time");
	merged_open(&t, merged_child(&t, 0, 1), 0, 3, 1);
	merged_close(&t, 0);
	is_int(t.nodes.v[1].ns[1], 3, "of the other side");
	merged_free(&t);
}

int
main(void)
{
	names();
	frames();
	done_testing();
}

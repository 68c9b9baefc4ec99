/* SPDX-License-Identifier: MIT */
/* The ancestors of each event of a tree stream. */
#include "tests/unit/trace_help.h"
#include "trace/step.h"
#include "trace/walk.h"

#define OP KIND_OP
#define PY KIND_PYTHON
#define RT KIND_RUNTIME
#define KE KIND_KERNEL
#define AN KIND_ANNOTATION

struct walking {
	struct store *s;
	struct walk *w;
	struct buf text;
};

/* "id:op,module,step " with - for none. */
static void
say(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct walking *w = arg;
	const struct walk_above *above[2];
	struct event ev;

	(void)section;
	store_event(w->s, i, &ev);
	ev.depth = depth;
	walk_push(w->w, &ev);
	above[0] = walk_op(w->w);
	above[1] = walk_module(w->w);
	buf_printf(
	    &w->text, "%s%" PRIu64 ":", w->text.len > 0 ? " " : "", ev.uid.id);
	for (int k = 0; k < 2; k++) {
		if (above[k] != NULL)
			buf_printf(&w->text, "%" PRIu64 ",", above[k]->uid.id);
		else
			buf_puts(&w->text, "-,");
	}
	if (walk_step(w->w) != NULL)
		buf_printf(&w->text, "%" PRId64, walk_step(w->w)->number);
	else
		buf_puts(&w->text, "-");
}

static void
is_walked(const struct row *rows, size_t n, const char *want, const char *what)
{
	struct tree_stats tree;
	struct link_stats link;
	struct walking w = { 0 };

	w.s = tree_of(rows, n, &(struct tree_opts){ 0 }, &tree, &link);
	w.w = walk_create(names);
	tree_visit(w.s, say, &w);
	buf_putc(&w.text, '\0');
	is_str(w.text.p, want, "%s", what);
	buf_free(&w.text);
	walk_destroy(w.w);
	store_destroy(w.s);
}

int
main(void)
{
	static const struct row rows[] = {
		R(PY, "nn.Module: Net_0", 1, 5, 95),
		R(OP, "aten::linear", 1, 10, 90),
		R(OP, "aten::addmm", 1, 15, 80),
		RX(RT, "cudaLaunchKernel", 1, 20, 30, .corr = 1),
		RX(KE, "in the next step", 9, 120, 130, .corr = 1),
		R(AN, "ProfilerStep#3", 1, 0, 100),
		R(AN, "ProfilerStep#4", 1, 100, 200),
		R(AN, "outer", 1, 12, 50),
		R(AN, "inner", 1, 18, 25),
		R(OP, "later", 1, 150, 160),
		R(OP, "outside", 1, 250, 260),
		R(KE, "unlinked", 9, 50, 60),
		R(OP, "other thread", 2, 20, 22),
	};
	static const struct row gone[] = {
		R(OP, "p", 1, 100, 150),
		R(OP, "a", 1, 110, 120),
		RX(RT, "cudaLaunchKernel", 1, 115, 125, .corr = 1),
		RX(KE, "k", 9, 200, 210, .corr = 1),
	};
	/* a step is on two threads, shorter on one */
	static const struct row steps[] = {
		R(OP, "both", 1, 20, 30),
		R(OP, "one", 1, 60, 70),
		R(AN, "ProfilerStep#3", 1, 0, 100),
		R(AN, "ProfilerStep#3", 2, 10, 50),
	};
	int64_t step = 0;

	is_walked(rows, NROWS(rows),
	    "5:-,-,- 6:-,-,- 7:-,-,- 8:-,-,- "
	    "0:-,-,3 1:-,0,3 2:1,0,3 3:2,0,3 "
	    "4:2,0,3 12:-,-,3 9:-,-,4 10:-,-,- "
	    "11:-,-,-",
	    "op, module and step above");
	is_walked(gone, NROWS(gone), "0:-,-,- 1:0,-,- 2:-,-,- 3:-,-,-",
	    "a discarded launch stands above its kernel");
	is_walked(steps, NROWS(steps), "2:-,-,- 3:-,-,- 0:-,-,3 1:-,-,3",
	    "the steps of a process are those of one thread");
	ok(step_of_name(STR("ProfilerStep#17"), &step) && step == 17, "a step");
	ok(!step_of_name(STR("ProfilerStep#"), &step), "no number");
	ok(!step_of_name(STR("ProfilerStep#-1"), &step), "a negative number");
	ok(!step_of_name(STR("ProfilerStep*"), &step), "another word");
	dict_destroy(names);
	done_testing();
}

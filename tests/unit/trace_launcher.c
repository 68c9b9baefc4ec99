/* SPDX-License-Identifier: MIT */
/* trace/launcher.c: owners of GPU work, as text, and busy times. */
#include "tests/unit/trace_help.h"
#include "trace/launcher.h"

struct told {
	struct buf text;
	struct launchers *w;
};

static void
tell(void *arg, const struct launcher *o)
{
	struct told *t = arg;

	if (t->text.len > 0)
		buf_puts(&t->text, " ");
	buf_printf(&t->text, "%" PRIu64 "[", o->uid.id);
	for (size_t i = 0; i < o->ndirect; i++)
		buf_printf(&t->text, "%s%" PRIu64, i > 0 ? "," : "",
		    o->direct[i].uid.id);
	buf_printf(&t->text, "]%" PRId64 "/%" PRId64, o->direct_ns / 1000,
	    o->subtree_ns / 1000);
	if (t->w->all_ops)
		buf_printf(
		    &t->text, "/%" PRId64, (o->dur_ns - o->child_ns) / 1000);
}

struct feed {
	struct store *s;
	struct launchers *w;
	unsigned leave_out; /* kinds */
};

static void
feed(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct feed *f = arg;
	struct event ev;

	(void)section;
	store_event(f->s, i, &ev);
	ev.depth = depth;
	if (!event_is(&ev, f->leave_out))
		launchers_push(f->w, &ev, true);
}

enum { ALL_OPS = 1, WITH_COMM = 2, NO_FRAMES = 4 };

static void
is_owned(const struct row *rows, size_t n, unsigned how, const char *want,
    const char *what)
{
	struct tree_opts opts = { 0 };
	struct tree_stats tree;
	struct link_stats link;
	struct bucket_rules rules = { 0 };
	struct store *s = tree_of(rows, n, &opts, &tree, &link);
	struct told told = { 0 };
	struct launchers *w = launchers_create(names, &rules, tell, &told);
	struct feed f = { s, w, how & NO_FRAMES ? KIND_BIT(KIND_PYTHON) : 0 };

	told.w = w;
	w->all_ops = (how & ALL_OPS) != 0;
	w->with_comm = (how & WITH_COMM) != 0;
	tree_visit(s, feed, &f);
	launchers_flush(w);
	buf_putc(&told.text, '\0');
	is_str(told.text.p, want, "%s", what);
	buf_free(&told.text);
	launchers_destroy(w);
	bucket_free(&rules);
	store_destroy(s);
}

#define OWNED(rows, how, want, what) \
	is_owned(rows, NROWS(rows), how, want, what)
#define OP(n, a, b) R(KIND_OP, n, 1, a, b)
#define CALL(a, b, c) RX(KIND_RUNTIME, "launch", 1, a, b, .corr = (c))
#define GPU(n, a, b, c) RX(KIND_KERNEL, n, 7, a, b, .corr = (c), .pid = 9)

int
main(void)
{
	const struct row nested[] = {
		OP("outer", 0, 100),
		CALL(1, 2, 1),
		R(KIND_PYTHON, "frame", 1, 5, 60),
		OP("inner", 10, 50),
		CALL(11, 12, 2),
		CALL(13, 14, 3),
		GPU("k1", 100, 150, 1),
		GPU("k2", 140, 160, 2),
		GPU("k3", 130, 145, 3),
	};
	const struct row wrapped[] = {
		OP("aten::x", 0, 100),
		OP("execute", 10, 90),
		RX(KIND_RUNTIME, "outer call", 1, 20, 50, .corr = 1),
		RX(KIND_DRIVER, "inner call", 1, 30, 40, .corr = 2),
		GPU("k", 200, 210, 2),
		OP("execute", 200, 300),
		CALL(210, 220, 3),
		GPU("k", 210, 240, 3),
	};
	const struct row comm[] = {
		OP("all_reduce", 0, 100),
		CALL(1, 2, 1),
		CALL(3, 4, 2),
		GPU("ncclKernel", 100, 150, 1),
		GPU("scale", 150, 160, 2),
		CALL(200, 201, 3),
		GPU("stray", 300, 310, 3),
		GPU("no launch", 300, 310, 4),
	};
	const struct row beside[] = {
		OP("a", 0, 10),
		CALL(1, 2, 1),
		R(KIND_PYTHON, "frame", 1, 20, 90),
		R(KIND_PYTHON, "frame", 1, 30, 80),
		OP("b", 40, 50),
		CALL(41, 42, 2),
		GPU("k", 100, 110, 1),
		GPU("k", 200, 230, 2),
	};
	const struct row host[] = {
		OP("a", 0, 100),
		R(KIND_PYTHON, "frame", 1, 5, 95),
		OP("b", 10, 40),
		OP("c", 50, 90),
		OP("d", 60, 70),
	};

	OWNED(nested, 0, "3[8,7]30/30 0[6]50/60", "direct and subtree time");
	OWNED(nested, NO_FRAMES, "3[8,7]30/30 0[6]50/60",
	    "the same without frames");
	OWNED(beside, NO_FRAMES, "0[6]10/10 4[7]30/30",
	    "a deeper op after another is not below it");
	OWNED(wrapped, 0, "1[]0/10 0[4]10/10 6[7]30/30 5[]0/30",
	    "execute and calls inside calls own nothing under an op");
	OWNED(comm, 0, "0[4]10/60 5[6]10/10",
	    "collectives have no owner; a call outside all ops is one");
	OWNED(comm, WITH_COMM, "0[3,4]60/60 5[6]10/10", "--include-comm");
	OWNED(host, 0, "", "nothing without GPU work");
	OWNED(host, ALL_OPS, "2[]0/0/30 4[]0/0/10 3[]0/0/30 0[]0/0/30",
	    "all ops, with their own time");
	done_testing();
}

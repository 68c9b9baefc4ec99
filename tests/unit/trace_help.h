/* SPDX-License-Identifier: MIT */
/*
 * What the tests of store, link, tree and walk share: a trace as a list of
 * rows, written to a stream and read again, and trees as text.
 */
#ifndef TESTS_UNIT_TRACE_HELP_H
#define TESTS_UNIT_TRACE_HELP_H

#include <unistd.h>

#include "tests/unit/tap.h"
#include "trace/link.h"
#include "trace/store-inside.h"
#include "trace/store.h"
#include "trace/tree.h"

#define HELPER static __attribute__((unused))

/* An event; numbers that are 0 are left out. Times are in us. */
struct row {
	enum kind kind;
	const char *name;
	int tid;
	double start, end;
	int64_t corr, seq, ext, fwd_thread, arrow;
	char ph;
	int pid;
	const char *cat;
	bool no_ts;
	uint64_t id; /* 0: the row's number */
};

/* Kind, name, thread, start and end; RX with more. */
#define R(k, n, t, a, b)                                                       \
	{                                                                      \
		.kind = (k), .name = (n), .tid = (t), .start = (a), .end = (b) \
	}
#define RX(k, n, t, a, b, ...)                                      \
	{                                                           \
		.kind = (k), .name = (n), .tid = (t), .start = (a), \
		.end = (b), __VA_ARGS__                             \
	}
#define NROWS(rows) (sizeof(rows) / sizeof *(rows))

static struct dict *names;

HELPER void
add_entry(struct shape *shape, struct buf *vals, const char *key,
    enum group group, enum role role, int64_t value)
{
	struct value v = { .type = VAL_INT, .i = value };

	if (value == 0)
		return;
	shape->entries[shape->nentries++] = (struct entry){
		.key = intern_put(names->text, str_of(key)),
		.type = VAL_INT,
		.group = (uint8_t)group,
		.role = (uint8_t)role,
	};
	value_encode(vals, &v);
}

HELPER int64_t
ns_of(double us)
{
	return (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
}

HELPER void
write_row(struct stream_out *out, const struct row *r, uint64_t id)
{
	struct entry entries[8];
	struct shape shape = { .cat = INTERN_NONE,
		.has = HAS_TRACK | HAS_NAME,
		.kind = (uint8_t)r->kind,
		.ph = r->ph != 0 ? (unsigned char)r->ph : 'X',
		.flags = SHAPE_ARGS | SHAPE_DEV_PID | SHAPE_STREAM_TID,
		.entries = entries };
	struct track track = { .has_pid = true,
		.has_tid = true,
		.raw_pid = { .type = VAL_INT, .i = r->pid != 0 ? r->pid : 1 },
		.raw_tid = { .type = VAL_INT, .i = r->tid } };
	struct buf vals = { 0 };
	struct event ev = { .uid = { r->id != 0 ? r->id : id, 0 } };

	if (!r->no_ts)
		shape.has |= HAS_TS;
	if (shape.ph == 'X')
		shape.has |= HAS_DUR;
	if (r->cat != NULL)
		shape.cat = intern_put(names->text, str_of(r->cat));
	add_entry(&shape, &vals, "id", GROUP_TOP, ROLE_NONE, r->arrow);
	add_entry(&shape, &vals, "correlation", GROUP_ARGS, ROLE_CORR, r->corr);
	add_entry(&shape, &vals, "External id", GROUP_ARGS, ROLE_EXT, r->ext);
	add_entry(
	    &shape, &vals, "Sequence number", GROUP_ARGS, ROLE_NONE, r->seq);
	add_entry(&shape, &vals, "Fwd thread id", GROUP_ARGS, ROLE_NONE,
	    r->fwd_thread);
	ev.shape_id = dict_shape(names, &shape);
	ev.shape = names->shapes.v[ev.shape_id];
	ev.track = dict_track(names, &track);
	ev.name = intern_put(names->text, str_of(r->name));
	ev.ts_ns = ns_of(r->start);
	ev.dur_ns = shape.ph == 'X' ? ns_of(r->end) - ev.ts_ns : 0;
	ev.vals = (const unsigned char *)vals.p;
	ev.vals_len = vals.len;
	stream_write(out, &ev);
	buf_free(&vals);
}

/* A store that holds the rows, as a program reads them. */
HELPER struct store *
store_of(const struct row *rows, size_t n, bool is_api_trace)
{
	char path[] = "/tmp/trace_test.XXXXXX";
	struct stream_dest dest = { .path = path };
	struct fact fact = { STR("api_trace"),
		{ .type = VAL_INT, .i = is_api_trace } };
	struct source source = {
		.nfacts = 1, .facts = &fact, .is_final = true
	};
	struct stream_out *out;
	struct stream_in *in;
	struct store *s;
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("mkstemp");
	close(fd);
	if (names == NULL)
		names = dict_create();
	out = stream_create(&dest, names, NULL, 0, true);
	for (size_t i = 0; i < n; i++)
		write_row(out, &rows[i], i);
	stream_write_source(out, &source);
	stream_finish(out);
	in = stream_open(path, names, WANT_STREAM);
	unlink(path);
	s = store_create(names);
	if (!store_read(s, in) || store_count(s) != n)
		bail_out("the rows don't come back");
	stream_close(in);
	return s;
}

/* ---- trees as text: 0(1 2(3)) 4 | the tail ---- */

struct writing {
	struct store *s;
	struct buf text;
	uint32_t depth;
	enum section section;
	bool has_any;
};

HELPER void
close_to(struct writing *w, uint32_t depth)
{
	for (; w->depth > depth; w->depth--)
		buf_puts(&w->text, ")");
}

HELPER void
write_node(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct writing *w = arg;
	struct event ev;

	store_event(w->s, i, &ev);
	if (section != w->section) {
		close_to(w, 0);
		if (section == SECTION_TAIL)
			buf_puts(&w->text, w->has_any ? " |" : "|");
		w->has_any = section == SECTION_TAIL;
		w->section = section;
	}
	if (depth > w->depth) {
		buf_puts(&w->text, "(");
		w->depth++;
	} else {
		close_to(w, depth);
		if (w->has_any)
			buf_puts(&w->text, " ");
	}
	buf_printf(&w->text, "%" PRIu64, ev.uid.id);
	w->has_any = true;
}

HELPER const char *
tree_text(struct store *s)
{
	static struct writing w;

	buf_free(&w.text);
	w = (struct writing){ .s = s, .section = SECTION_TREE };
	tree_visit(s, write_node, &w);
	close_to(&w, 0);
	buf_putc(&w.text, '\0');
	return w.text.p;
}

/* Linked, nested, linked backwards. */
HELPER struct store *
tree_of(const struct row *rows, size_t n, const struct tree_opts *opts,
    struct tree_stats *tree, struct link_stats *link)
{
	struct store *s = store_of(rows, n, false);

	memset(tree, 0, sizeof *tree);
	memset(link, 0, sizeof *link);
	store_link(s, LINK_DEFAULT, link);
	tree_build(s, opts, tree);
	store_link_backward(s, link);
	return s;
}

HELPER void
is_tree(const struct row *rows, size_t n, struct tree_opts opts,
    const char *want, const char *what)
{
	struct tree_stats tree;
	struct link_stats link;
	struct store *s = tree_of(rows, n, &opts, &tree, &link);

	is_str(tree_text(s), want, "%s", what);
	store_destroy(s);
}

HELPER struct event
event_at(struct store *s, uint32_t i)
{
	struct event ev;

	store_event(s, i, &ev);
	return ev;
}

#endif

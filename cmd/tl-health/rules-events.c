/* SPDX-License-Identifier: MIT */
/* Judges rules about events, all in one pass over the tree. */
#include "cmd/tl-health/rules.h"

#include <fcntl.h>
#include <unistd.h>

/* Events of a rule, so far. */
struct watch {
	struct site_rule *rule;
	struct outcome *out;
	uint64_t n;
	int64_t sum_ns, longest_ns;
	struct uid first, longest;
	VEC(uint8_t) like; /* by name: whether it matches under; 1 no, 2 yes */
};

struct watching {
	const struct dict *dict;
	VEC(struct watch) list;
	VEC(uint32_t) path; /* name of the last event at each depth */
	bool needs_path;
};

static bool
is_like(struct watching *w, struct watch *x, uint32_t name)
{
	if (name == INTERN_NONE)
		return false;
	while (x->like.n <= name)
		vec_push(&x->like, 0);
	if (x->like.v[name] == 0)
		x->like.v[name] =
		    1 + str_glob(x->rule->under, dict_get(w->dict, name));
	return x->like.v[name] == 2;
}

static bool
is_under(struct watching *w, struct watch *x, const struct event *ev)
{
	if (x->rule->under.len == 0)
		return true;
	if ((ev->shape->has & HAS_DEPTH) == 0)
		return false;
	for (size_t d = 0; d < ev->depth && d < w->path.n; d++)
		if (is_like(w, x, w->path.v[d]))
			return true;
	return false;
}

static void
keep_path(struct watching *w, const struct event *ev)
{
	if (!w->needs_path || (ev->shape->has & HAS_DEPTH) == 0 ||
	    ev->depth > w->path.n)
		return;
	w->path.n = ev->depth;
	vec_push(&w->path, ev->name);
}

static void
take_event(struct watch *x, const struct event *ev)
{
	int64_t ns = (ev->shape->has & HAS_DUR) != 0 ? ev->dur_ns : 0;

	if (x->n++ == 0)
		x->first = ev->uid;
	x->sum_ns = num_add_max(x->sum_ns, ns);
	if (x->n == 1 || ns > x->longest_ns) {
		x->longest_ns = ns;
		x->longest = ev->uid;
	}
}

static void
settle(const struct watch *x, struct arena *mem)
{
	const struct rule_test *t = &x->rule->require;
	bool of_longest = str_eq(t->column, STR("dur_ns_max"));
	struct outcome *out = x->out;
	struct buf b = { 0 };
	char uid[UID_MAX];
	double value;

	value = str_eq(t->column, STR("count")) ? (double)x->n
	    : of_longest                        ? (double)x->longest_ns
						: (double)x->sum_ns;
	if (x->n == 0 && !str_eq(t->column, STR("count"))) {
		out->result = RULE_UNJUDGED;
		out->why = STR("no such event");
		return;
	}
	if (rule_holds(t, value, t->number))
		return;
	out->result = RULE_BROKEN;
	out->n = x->n;
	rule_put_broken(&b, t, value, t->number);
	out->why = arena_str(mem, buf_str(&b));
	if (x->n > 0)
		out->uid = arena_str(mem,
		    (struct str){ uid,
			uid_put(uid, of_longest ? x->longest : x->first) });
	buf_free(&b);
}

/* Each rule has a selection, whose state needs all items. */
static void
read_tree(struct watching *w, struct stream_in *in, uint32_t first)
{
	uint32_t kinds = 0;
	enum item item;

	for (size_t i = 0; i < w->list.n; i++) {
		struct site_rule *rule = w->list.v[i].rule;

		w->needs_path |= rule->under.len > 0;
		kinds |= select_kinds(&rule->select, rule->select.kinds);
		select_start(&rule->select, in, first);
	}
	if (!w->needs_path)
		stream_only(in, kinds);
	while ((item = stream_next(in)) != ITEM_END) {
		for (size_t i = 0; i < w->list.n; i++) {
			struct watch *x = &w->list.v[i];

			if (select_item(&x->rule->select, in, item) &&
			    is_under(w, x, &in->ev))
				take_event(x, &in->ev);
		}
		if (item == ITEM_EVENT)
			keep_path(w, &in->ev);
	}
}

void
rules_judge_events(const struct site_rules *r, struct outcome *out, int tree,
    const char *name, struct arena *mem)
{
	struct watching w = { 0 };
	struct stream_in *in;

	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.v[i].sheet == NULL)
			vec_push(&w.list,
			    ((struct watch){
				.rule = &r->list.v[i], .out = &out[i] }));
	if (w.list.n == 0)
		return;
	in = tree_open(tree, name, NULL);
	w.dict = in->dict;
	in->is_told = true;
	read_tree(&w, in, w.list.v[0].out->source);
	for (size_t i = 0; i < w.list.n; i++)
		settle(&w.list.v[i], mem);
	stream_close(in);
	for (size_t i = 0; i < w.list.n; i++)
		vec_free(&w.list.v[i].like);
	vec_free(&w.list);
	vec_free(&w.path);
}

/* ---- the whole ---- */

int
tree_spool(const char *path)
{
	char *program = sys_program("tl-tree");
	char *argv[] = { program, (char *)(uintptr_t) "--",
		(char *)(uintptr_t)path, NULL };
	int fd = io_nameless();
	pid_t pid = fd >= 0 ? child_spawn(argv, -1, fd) : -1;

	if (pid < 0)
		die_errno("%s: its tree", path);
	if (child_has_warned(path, "tl-tree", child_wait(pid)))
		report(MSG_HELPER_WARNED, path, "tl-tree");
	vec_release(program);
	return fd;
}

struct stream_in *
tree_open(int tree, const char *name, struct dict *dict)
{
	int fd = fcntl(tree, F_DUPFD_CLOEXEC, 0);

	if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0)
		die_errno("%s: its tree", name);
	return stream_open_in(in_open_fd(fd, name), dict, WANT_TREE);
}

void
rules_judge(const struct site_rules *r, outcome_list *to, int tree,
    const char *name, uint32_t source, struct arena *mem)
{
	size_t first = to->n;

	for (size_t i = 0; i < r->list.n; i++)
		vec_push(to,
		    ((struct outcome){
			.rule = &r->list.v[i], .source = source }));
	rules_judge_tables(r, to->v + first, tree, name, mem);
	rules_judge_events(r, to->v + first, tree, name, mem);
}

/* SPDX-License-Identifier: MIT */
/* What could be selected, for a selection that matched nothing. */
#include "trace/select-inside.h"

#define MET_MAX 32  /* remembered of each kind */
#define TOLD_MAX 8  /* names in a message */
#define NAME_MAX 60 /* bytes of one */

void
select_meet(struct select_met *met, struct key key)
{
	if (key.type == KEY_NONE || met->has_more)
		return;
	for (size_t i = met->list.n; i-- > 0;)
		if (key_eq(met->list.v[i], key))
			return;
	if (met->list.n < MET_MAX)
		vec_push(&met->list, key);
	else
		met->has_more = true;
}

void
select_meet_time(struct select *s, int64_t t)
{
	if (!s->met.has_times || t < s->met.first_ns)
		s->met.first_ns = t;
	if (!s->met.has_times || t > s->met.last_ns)
		s->met.last_ns = t;
	s->met.has_times = true;
}

/* Numbers in ascending order, texts as they came. */
static bool
is_behind(struct key a, struct key b)
{
	return a.type == KEY_INT && b.type == KEY_INT && a.n > b.n;
}

static void
put_met(const struct select *s, const struct select_met *met, const char *what,
    struct buf *b)
{
	size_t n = met->list.n;
	struct key v[MET_MAX];

	for (size_t i = 0; i < n; i++)
		v[i] = met->list.v[i];
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && is_behind(v[k - 1], v[k]); k--) {
			struct key swap = v[k];

			v[k] = v[k - 1];
			v[k - 1] = swap;
		}
	if (n == 0)
		return;
	buf_printf(b, "%s %s%s", b->len == 0 ? "; it has" : ",", what,
	    n > 1 || met->has_more ? "s" : "");
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, i == 0 ? " " : ", ");
		if (v[i].type == KEY_INT) {
			buf_printf(b, "%" PRId64, v[i].n);
		} else {
			struct str word = dict_get(s->dict, (uint32_t)v[i].n);

			buf_put(b, word.p, word.len);
		}
	}
	if (met->has_more)
		buf_puts(b, " and more");
}

static void
put_name(struct buf *b, struct str name, bool is_first)
{
	buf_printf(b, "%s '%.*s%s'", is_first ? "" : ",",
	    (int)(name.len < NAME_MAX ? name.len : NAME_MAX), name.p,
	    name.len < NAME_MAX ? "" : "...");
}

static void
put_names(const struct select *s, struct buf *b)
{
	const struct select_met *met = &s->names_met;

	for (size_t i = 0; i < met->list.n && i < TOLD_MAX; i++) {
		if (i == 0)
			buf_puts(b, b->len == 0 ? "; it has" : ",");
		put_name(
		    b, dict_get(s->dict, (uint32_t)met->list.v[i].n), i == 0);
	}
	if (met->list.n > TOLD_MAX)
		buf_puts(b, " and more");
}

/* In the form that --from and similar options take. */
static void
put_time(struct buf *b, const char *before, int64_t ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 3 && (double)ns < units[i].ns && (double)-ns < units[i].ns)
		i++;
	buf_printf(
	    b, "%s%.6g%s", before, (double)ns / units[i].ns, units[i].name);
}

/* How far events reach of which none is long enough or in the window. */
static void
put_reach(const struct select *s, struct buf *b)
{
	if (s->met.has_times) {
		buf_puts(b, b->len == 0 ? "; it has" : ",");
		put_time(b, " events from ", s->met.first_ns);
		put_time(b, " to ", s->met.last_ns);
	} else if (s->met.longest_ns >= 0) {
		put_time(b,
		    b->len == 0 ? "; the longest is " : ", the longest ",
		    s->met.longest_ns);
	}
}

struct str
select_there(const struct select *s)
{
	struct buf b = { 0 };

	put_met(s, &s->devs_met, "device", &b);
	put_met(s, &s->gpu_streams_met, "GPU stream", &b);
	put_names(s, &b);
	put_reach(s, &b);
	return buf_str(&b);
}

void
select_there_annotations(const struct select *s, struct buf *b)
{
	const struct select_windows *w = s->windows;
	VEC(uint32_t) told = { 0 };
	bool has_more = false;

	/* steps last: --step also selects by those */
	for (int of_steps = 0; of_steps < 2; of_steps++)
		for (size_t i = 0; i < w->all.n; i++) {
			const struct select_window *win = &w->all.v[i];
			struct str name = dict_get(s->in->dict, win->name);
			bool is_new =
			    !win->is_inferred && win->is_step == of_steps;

			for (size_t k = 0; is_new && k < told.n; k++)
				is_new = told.v[k] != win->name;
			if (!is_new)
				continue;
			if (told.n >= TOLD_MAX) {
				has_more = true;
				continue;
			}
			vec_push(&told, win->name);
			if (told.n == 1)
				buf_puts(b, "; it has");
			put_name(b, name, told.n == 1);
		}
	if (has_more)
		buf_puts(b, " and more");
	vec_free(&told);
}

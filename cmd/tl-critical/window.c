/* SPDX-License-Identifier: MIT */
/* Finds the part of a recording whose path is wanted. */
#include "cmd/tl-critical/critical.h"
#include "trace/account.h"

static void
cover(struct span *w, int64_t start, int64_t end)
{
	w->start = start < w->start ? start : w->start;
	w->end = end > w->end ? end : w->end;
}

/* A thread at work in the window up to a time. */
static void
add_main(struct recording *r, uint32_t thread, int64_t end)
{
	for (size_t i = 0; i < r->mains.n; i++) {
		struct main_thread *m = &r->mains.v[i];

		if (m->thread != thread)
			continue;
		m->end_ns = end > m->end_ns ? end : m->end_ns;
		return;
	}
	vec_push(&r->mains, ((struct main_thread){ thread, end }));
}

/* From the first to the last step; without --step, as verdicts have it, also
 * of all GPU events. */
static struct span
of_steps(struct recording *r, struct select *s, const char *path)
{
	struct span w = { INT64_MAX, INT64_MIN };
	VEC(bool) chosen = { 0 };
	bool is_whole = !select_asks_steps(s);

	for (size_t i = 0; i < r->steps.list.n; i++)
		vec_push(&chosen, is_whole);
	if (!is_whole)
		(void)!select_steps(
		    s, &r->steps, r->host.dict, chosen.v, path, r->source);
	for (size_t i = 0; i < r->steps.processes.n; i++) {
		const struct step_process *p = &r->steps.processes.v[i];

		for (uint32_t k = p->first; k < p->first + p->n; k++) {
			const struct step_window *v = &r->steps.list.v[k];

			if (!chosen.v[k])
				continue;
			cover(&w, v->start_ns, v->end_ns);
			if (v->what != STEP_IS_WHOLE)
				add_main(r, p->thread, v->end_ns);
		}
	}
	vec_free(&chosen);
	if (!is_whole)
		return w;
	r->gaps.without_causes = false;
	return account_window(&r->gaps, &r->host, &r->steps);
}

/* ---- annotations ---- */

typedef VEC(struct host_event) event_list;

static int
by_start(const void *x, const void *y)
{
	const struct host_event *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

/* Finds annotations that match, by time; whether there are nth. */
static bool
list_annotations(
    const struct recording *r, struct str pattern, int64_t nth, event_list *to)
{
	const struct host *h = &r->host;

	to->n = 0;
	for (size_t i = 0; i < h->annotations.n; i++) {
		const struct host_event *e = &h->events.v[h->annotations.v[i]];

		if (str_glob(pattern, dict_get(h->dict, e->name)))
			vec_push(to, *e);
	}
	stable_sort(to->v, to->n, sizeof *to->v, by_start);
	return to->n > 0 && (uint64_t)nth <= to->n;
}

/* NAME, or if none matches, NAME#N: from the first to the last. */
static struct span
of_annotations(struct recording *r, struct str text)
{
	struct span w = { INT64_MAX, INT64_MIN };
	event_list list = { 0 };
	struct str name;
	int64_t nth = 0;

	if (!list_annotations(r, text, 0, &list) &&
	    (!select_nth(text, &name, &nth) ||
		!list_annotations(r, name, nth, &list)))
		list.n = 0;
	for (size_t i = 0; i < list.n; i++) {
		if (nth > 0 && (uint64_t)nth != i + 1)
			continue;
		cover(&w, list.v[i].start_ns, list.v[i].end_ns);
		add_main(r, list.v[i].thread, list.v[i].end_ns);
	}
	vec_free(&list);
	return w;
}

/* ---- all ---- */

static void
cut(struct span *w, struct span to)
{
	w->start = to.start > w->start ? to.start : w->start;
	w->end = to.end < w->end ? to.end : w->end;
}

/* From the first to the last selected annotation. */
static void
cut_to_annotations(
    struct recording *r, const struct select *s, const char *path)
{
	struct span all = { INT64_MAX, INT64_MIN };

	r->mains.n = 0;
	for (size_t i = 0; i < s->annotations.n; i++) {
		struct span w = of_annotations(r, s->annotations.v[i]);

		if (w.start > w.end)
			report(MSG_NO_SUCH_ANNOTATION, path,
			    s->annotations.v[i],
			    host_there(&r->host, s->annotations.v[i]));
		else
			cover(&all, w.start, w.end);
	}
	/* annotations need not lie in steps */
	if (!select_asks_steps(s))
		r->window = all;
	else
		cut(&r->window, all);
}

/* The thread with most launches was at work until then, too. */
static void
cut_to_times(struct recording *r, struct select *s)
{
	int64_t end = r->window.end, ns;
	struct span all = r->window;

	if (s->has_from && num_add(r->first_ns, s->from_ns, &ns))
		cut(&r->window, (struct span){ ns, INT64_MAX });
	if (s->has_to && num_add(r->first_ns, s->to_ns, &ns))
		cut(&r->window, (struct span){ INT64_MIN, ns });
	/* from there on --from and --to select something */
	if (r->window.start >= r->window.end && all.start < all.end) {
		select_meet_time(s, all.start - r->first_ns);
		select_meet_time(s, all.end - r->first_ns);
		s->met.in_window = true;
	}
	if (r->window.end < end && r->mains.n == 0 && r->host.threads.n > 0)
		add_main(r, 0, r->window.end);
}

bool
window_find(struct recording *r, struct select *s, const char *path)
{
	r->mains.n = 0;
	r->steps.only_iterations = s->of_iterations;
	/* annotations alone are a window, too */
	r->steps.only_marked = s->annotations.n > 0 && !select_asks_steps(s);
	steps_find(&r->steps, &r->host, NULL, 0);
	r->window = of_steps(r, s, path);
	if (s->annotations.n > 0)
		cut_to_annotations(r, s, path);
	cut_to_times(r, s);
	return r->window.start < r->window.end;
}

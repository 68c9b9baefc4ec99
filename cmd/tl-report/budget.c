/* SPDX-License-Identifier: MIT */
/* What the time of each source went on, of tl-idle's tables. */
#include <stdlib.h>

#include "cmd/tl-report/figures.h"

/* ---- reading ---- */

static unsigned
cause_named(struct str word)
{
	unsigned c = 0;

	while (c < CAUSE_COUNT && !str_eq(word, str_of(cause_words[c])))
		c++;
	return c < CAUSE_COUNT ? c : CAUSE_NOTHING;
}

static unsigned
class_named(struct str word)
{
	unsigned c = 0;

	while (c < ACCOUNT_COUNT && !str_eq(word, str_of(account_words[c])))
		c++;
	return c < ACCOUNT_COUNT ? c : GROUP_OF_HOST;
}

/* As ranks are called in the timeline. */
static struct str
label_of(const struct line *l)
{
	return line_text(l, line_lacks(l, "src") ? "rank" : "src");
}

void
budget_take(void *ctx, const struct line *l)
{
	static const struct {
		const char *id;
		size_t at;
	} times[] = {
#define OF(class) offsetof(struct budget, ns) + (class) * sizeof(int64_t)
		{ "gpu_ns", OF(GROUP_OF_GPU) },
		{ "communication_ns", OF(ACCOUNT_COMM) },
		{ "copy_ns", OF(ACCOUNT_COPY) },
		{ "host_ns", OF(GROUP_OF_HOST) },
		{ "sync_ns", OF(GROUP_OF_SYNC) },
		{ "data_ns", OF(GROUP_OF_DATA) },
		{ "compile_ns", OF(GROUP_OF_COMPILE) },
		{ "start_up_ns", OF(GROUP_OF_START) },
		{ "allocation_ns", OF(GROUP_OF_ALLOCATION) },
		{ "missing_ns", OF(GROUP_OF_MISSING) },
#undef OF
		{ "window_ns", offsetof(struct budget, window_ns) },
		{ "steps", offsetof(struct budget, steps) },
		{ "head_ns", offsetof(struct budget, head_ns) },
		{ "launched", offsetof(struct budget, launched) },
		{ "starved", offsetof(struct budget, starved) },
		{ "launch_interval_ns", offsetof(struct budget, interval_ns) },
		{ "launch_work_ns", offsetof(struct budget, work_ns) },
		{ "graph_ns", offsetof(struct budget, graph_ns) },
		{ "gap_ns", offsetof(struct budget, gap_ns) },
		{ "opened_ns", offsetof(struct budget, opened_ns) },
	};
	static const struct {
		const char *id;
		size_t at;
	} texts[] = {
		{ "call", offsetof(struct budget, gap_call) },
		{ "call_uid", offsetof(struct budget, gap_uid) },
		{ "prev_uid", offsetof(struct budget, gap_prev) },
		{ "next_uid", offsetof(struct budget, gap_next) },
		{ "opened_by", offsetof(struct budget, opened_by) },
		{ "opened_uid", offsetof(struct budget, opened_uid) },
		{ "blocked_in", offsetof(struct budget, blocked_in) },
		{ "blocked_uid", offsetof(struct budget, blocked_uid) },
		{ "waits_by", offsetof(struct budget, waits_by) },
		{ "waits_uid", offsetof(struct budget, waits_uid) },
	};
	struct figures *f = ctx;
	struct budget *w = vec_add(&f->budgets);
	const struct val *python = line_cell(l, "has_python");

	*w = (struct budget){ .n = 1,
		.label = figures_text(f, label_of(l)),
		.head_cause = cause_named(line_text(l, "head_cause")),
		.gap_cause = cause_named(line_text(l, "cause")),
		.is_inferred = str_eq(line_text(l, "window"), STR("inferred")),
		.are_runs = str_eq(line_text(l, "window"), STR("runs")),
		.has_python = python->type == VAL_BOOL && python->yes };
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		*(int64_t *)(void *)((char *)w + times[i].at) =
		    line_int(l, times[i].id);
	if (line_cell(l, "graph_ns")->type == VAL_NONE)
		w->graph_ns = INT64_MAX; /* nothing that one could hold */
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*(struct str *)(void *)((char *)w + texts[i].at) =
		    figures_text(f, line_text(l, texts[i].id));
}

static struct budget *
find(const struct figures *f, struct str label)
{
	for (size_t i = 0; i < f->budgets.n; i++)
		if (str_eq(f->budgets.v[i].label, label))
			return &f->budgets.v[i];
	return NULL;
}

void
budget_take_part(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str word = line_text(l, "cause"), call = line_text(l, "call");
	struct budget *w = find(f, label_of(l));
	struct tally *of_cause = tally_of(f, &f->causes, word);
	int64_t ns = line_int(l, "time_ns");

	time_add(&of_cause->ns, ns);
	time_add(&of_cause->count, line_int(l, "count"));
	if (of_cause->what.len == 0) /* rows are sorted */
		of_cause->what = figures_text(f, call);
	if (w == NULL)
		return;
	vec_push(&w->parts,
	    ((struct part){
		.class = (uint8_t)class_named(line_text(l, "class")),
		.cause = (uint8_t)cause_named(word),
		.call = figures_text(f, call),
		.uid = figures_text(f, line_text(l, "longest_uid")),
		.label = w->label,
		.ns = ns,
		.longest_ns = line_int(l, "call_ns_max"),
		.inferred_ns = line_int(l, "inferred_ns"),
		.calls = line_int(l, "calls"),
		.behind_ns = line_int(l, "behind_ns"),
	    }));
}

void
budget_take_pace(void *ctx, const struct line *l)
{
	struct figures *f = ctx;

	f->pace = (struct pace){
		.is_gpu = str_eq(line_text(l, "step_time"), STR("gpu_wall")),
		.enqueue_ns = line_int(l, "wall_ns_median"),
		.drain_ns = line_int(l, "drain_ns_last"),
	};
}

/* ---- asking ---- */

const struct budget *
budget_of(const struct figures *f, struct str label)
{
	return find(f, label);
}

const struct part *
budget_part(const struct budget *w, unsigned class)
{
	const struct part *best = NULL;

	for (size_t i = 0; i < w->parts.n; i++) {
		const struct part *p = &w->parts.v[i];

		if (p->class == class && (best == NULL || p->ns > best->ns))
			best = p;
	}
	return best;
}

/* ---- all of them ---- */

static int
by_call(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;
	int order;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	order = str_cmp(a->call, b->call);
	return order != 0 ? order : str_cmp(a->label, b->label);
}

/* Those of one name as one; the longest piece says whose uid it is. */
static void
merge_parts(struct budget *w)
{
	size_t n = 0;

	stable_sort(w->parts.v, w->parts.n, sizeof *w->parts.v, by_call);
	for (size_t i = 0; i < w->parts.n; i++) {
		const struct part *p = &w->parts.v[i];
		struct part *last = n > 0 ? &w->parts.v[n - 1] : NULL;

		if (last == NULL || last->class != p->class ||
		    last->cause != p->cause || !str_eq(last->call, p->call)) {
			w->parts.v[n++] = *p;
			continue;
		}
		time_add(&last->ns, p->ns);
		time_add(&last->inferred_ns, p->inferred_ns);
		time_add(&last->behind_ns, p->behind_ns);
		last->calls += p->calls;
		if (p->longest_ns > last->longest_ns) {
			last->longest_ns = p->longest_ns;
			last->uid = p->uid;
			last->label = p->label;
		}
	}
	w->parts.n = n;
}

/*
 * Medians do not add up: those of the source that launched most count. Nor do
 * gaps: of several sources none is shown.
 */
void
budget_sum(struct figures *f, struct budget *sum)
{
	int64_t most = -1;

	*sum = (struct budget){ .n = (int64_t)f->budgets.n };
	for (size_t i = 0; i < f->budgets.n; i++) {
		const struct budget *w = &f->budgets.v[i];

		for (unsigned c = 0; c < ACCOUNT_COUNT; c++)
			time_add(&sum->ns[c], w->ns[c]);
		time_add(&sum->window_ns, w->window_ns);
		time_add(&sum->opened_ns, w->opened_ns);
		if (w->graph_ns != INT64_MAX)
			time_add(&sum->graph_ns, w->graph_ns);
		sum->steps = w->steps > sum->steps ? w->steps : sum->steps;
		sum->is_inferred |= w->is_inferred;
		sum->are_runs |= w->are_runs;
		sum->launched += w->launched;
		sum->starved += w->starved;
		sum->has_python |= w->has_python;
		if (w->launched > most) {
			most = w->launched;
			sum->interval_ns = w->interval_ns;
			sum->work_ns = w->work_ns;
		}
		time_add(&sum->gap_ns, w->gap_ns);
		for (size_t k = 0; k < w->parts.n; k++)
			vec_push(&sum->parts, w->parts.v[k]);
	}
	merge_parts(sum);
}

void
budgets_free(struct figures *f)
{
	for (size_t i = 0; i < f->budgets.n; i++)
		vec_free(&f->budgets.v[i].parts);
	vec_free(&f->budgets);
}

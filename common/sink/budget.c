/* SPDX-License-Identifier: MIT */
/* What the time of each source was spent on, and the bottleneck. */
#include "sink/budget.h"

#include "trace/stat.h"

/* ---- reading ---- */

unsigned
budget_cause(struct str word)
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

struct str
budget_label(const struct line *l)
{
	return line_text(l, line_lacks(l, "src") ? "rank" : "src");
}

static struct budget *
find(const struct budgets *b, struct str label)
{
	for (size_t i = 0; i < b->list.n; i++)
		if (str_eq(b->list.v[i].label, label))
			return &b->list.v[i];
	return NULL;
}

/* Either table may come first. */
static struct budget *
of_source(struct budgets *b, struct str label)
{
	struct budget *w = find(b, label);

	if (w != NULL)
		return w;
	vec_push(
	    &b->list, ((struct budget){ .label = arena_str(b->text, label) }));
	return &b->list.v[b->list.n - 1];
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
		{ "outside_ns", offsetof(struct budget, outside_ns) },
		{ "gap_ns", offsetof(struct budget, gap_ns) },
		{ "opened_ns", offsetof(struct budget, opened_ns) },
		{ "steps_all", offsetof(struct budget, steps_all) },
		{ "step_processes", offsetof(struct budget, processes) },
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
		{ "comm_uid", offsetof(struct budget, comm_uid) },
		{ "copy_uid", offsetof(struct budget, copy_uid) },
	};
	struct budgets *b = ctx;
	struct budget *w = of_source(b, budget_label(l));

	w->n = 1;
	w->head_cause = budget_cause(line_text(l, "head_cause"));
	w->gap_cause = budget_cause(line_text(l, "cause"));
	w->is_inferred = str_eq(line_text(l, "window"), STR("inferred"));
	w->are_runs = str_eq(line_text(l, "window"), STR("runs"));
	w->has_ops = line_bool(l, "has_ops");
	w->has_python = line_bool(l, "has_python");
	w->is_tpu = line_bool(l, "is_tpu");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		*(int64_t *)(void *)((char *)w + times[i].at) =
		    line_int(l, times[i].id);
	if (line_cell(l, "graph_ns")->type == VAL_NONE)
		w->graph_ns = INT64_MAX; /* more than any could hold */
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*(struct str *)(void *)((char *)w + texts[i].at) =
		    arena_str(b->text, line_text(l, texts[i].id));
}

void
budget_take_part(void *ctx, const struct line *l)
{
	struct budgets *b = ctx;
	struct budget *w = of_source(b, budget_label(l));

	vec_push(&w->parts,
	    ((struct idle_part){
		.class = (uint8_t)class_named(line_text(l, "class")),
		.cause = (uint8_t)budget_cause(line_text(l, "cause")),
		.call = arena_str(b->text, line_text(l, "call")),
		.uid = arena_str(b->text, line_text(l, "longest_uid")),
		.label = w->label,
		.ns = line_int(l, "time_ns"),
		.longest_ns = line_int(l, "call_ns_max"),
		.inferred_ns = line_int(l, "inferred_ns"),
		.calls = line_int(l, "calls"),
		.behind_ns = line_int(l, "behind_ns"),
		.lock = arena_str(b->text, line_text(l, "lock_call")),
	    }));
}

/* ---- asking ---- */

const struct budget *
budget_of(const struct budgets *b, struct str label)
{
	return find(b, label);
}

int64_t
budget_work(const struct budget *w, unsigned class)
{
	int64_t ns = w->ns[class];

	for (size_t i = 0; i < w->parts.n; i++)
		if (w->parts.v[i].class == class)
			ns -= w->parts.v[i].ns;
	return ns;
}

const struct idle_part *
budget_part(const struct budget *w, unsigned class)
{
	const struct idle_part *best = NULL;

	for (size_t i = 0; i < w->parts.n; i++) {
		const struct idle_part *p = &w->parts.v[i];

		if (p->class == class && (best == NULL || p->ns > best->ns))
			best = p;
	}
	return best;
}

/* ---- all of them ---- */

static int
by_call(const void *pa, const void *pb)
{
	const struct idle_part *a = pa, *b = pb;
	int order;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	order = str_cmp(a->call, b->call);
	return order != 0 ? order : str_cmp(a->label, b->label);
}

/* Joins parts of one name; the longest gives the uid. */
static void
merge_parts(struct budget *w)
{
	size_t n = 0;

	stable_sort(w->parts.v, w->parts.n, sizeof *w->parts.v, by_call);
	for (size_t i = 0; i < w->parts.n; i++) {
		const struct idle_part *p = &w->parts.v[i];
		struct idle_part *last = n > 0 ? &w->parts.v[n - 1] : NULL;

		if (last == NULL || last->class != p->class ||
		    last->cause != p->cause || !str_eq(last->call, p->call)) {
			w->parts.v[n++] = *p;
			continue;
		}
		stat_add(&last->ns, p->ns);
		stat_add(&last->inferred_ns, p->inferred_ns);
		stat_add(&last->behind_ns, p->behind_ns);
		stat_add(&last->calls, p->calls);
		if (p->longest_ns > last->longest_ns) {
			last->longest_ns = p->longest_ns;
			last->uid = p->uid;
			last->lock = p->lock;
			last->label = p->label;
		}
	}
	w->parts.n = n;
}

/*
 * Medians do not add up: those of the source with most launches count. Nor do
 * gaps: with several sources none is shown.
 */
void
budget_sum(const struct budgets *b, struct budget *sum)
{
	int64_t most = -1;

	*sum = (struct budget){ 0 };
	for (size_t i = 0; i < b->list.n; i++) {
		const struct budget *w = &b->list.v[i];

		sum->n += w->n;
		for (unsigned c = 0; c < ACCOUNT_COUNT; c++)
			stat_add(&sum->ns[c], w->ns[c]);
		stat_add(&sum->window_ns, w->window_ns);
		stat_add(&sum->opened_ns, w->opened_ns);
		stat_add(&sum->outside_ns, w->outside_ns);
		/* if no graph fits, all host time would remain */
		stat_add(&sum->graph_ns,
		    w->graph_ns != INT64_MAX ? w->graph_ns
					     : w->ns[GROUP_OF_HOST]);
		sum->steps = w->steps > sum->steps ? w->steps : sum->steps;
		if (b->list.n == 1) {
			sum->steps_all = w->steps_all;
			sum->processes = w->processes;
		}
		sum->is_inferred |= w->is_inferred;
		sum->are_runs |= w->are_runs;
		stat_add(&sum->launched, w->launched);
		stat_add(&sum->starved, w->starved);
		sum->has_ops |= w->has_ops;
		sum->has_python |= w->has_python;
		sum->is_tpu |= w->is_tpu;
		if (w->launched > most) {
			most = w->launched;
			sum->interval_ns = w->interval_ns;
			sum->work_ns = w->work_ns;
		}
		stat_add(&sum->gap_ns, w->gap_ns);
		for (size_t k = 0; k < w->parts.n; k++)
			vec_push(&sum->parts, w->parts.v[k]);
	}
	merge_parts(sum);
}

void
budgets_free(struct budgets *b)
{
	for (size_t i = 0; i < b->list.n; i++)
		vec_free(&b->list.v[i].parts);
	vec_free(&b->list);
}

/* ---- the decision ---- */

#define LAUNCHES_MIN 20

static void
sort_classes(const struct budget *w, struct decision *d)
{
	for (unsigned c = 0; c < ACCOUNT_COUNT; c++) {
		size_t at = d->n;

		if (c == GROUP_OF_NONE || c == GROUP_OF_MISSING)
			continue;
		for (; at > 0 && w->ns[d->order[at - 1]] < w->ns[c]; at--)
			d->order[at] = d->order[at - 1];
		d->order[at] = c;
		d->n++;
	}
}

/* Kernels are shorter than their launches, and wait for them. */
static bool
is_launch_bound(const struct budget *w)
{
	return w->launched >= LAUNCHES_MIN && 2 * w->starved >= w->launched &&
	    w->work_ns < w->interval_ns && w->gap_ns < w->ns[GROUP_OF_HOST] / 4;
}

/*
 * Blocking calls opened short gaps: they cost the host its lead, which it would
 * keep where the GPU has more to do than the host.
 */
static bool
is_sync_bound(const struct budget *w, int64_t recorded_ns)
{
	return w->opened_ns > w->ns[GROUP_OF_HOST] / 2 &&
	    w->opened_ns >= recorded_ns / 10 &&
	    (!is_launch_bound(w) || w->ns[GROUP_OF_GPU] > w->ns[GROUP_OF_HOST]);
}

void
budget_decide(const struct budget *w, struct decision *d)
{
	int64_t gpu = w->ns[GROUP_OF_GPU];
	unsigned first, second;

	*d = (struct decision){ .ns = w->window_ns - w->ns[GROUP_OF_MISSING] };
	sort_classes(w, d);
	d->class = GROUP_OF_GPU;
	if (gpu >= d->ns - d->ns / 5)
		return;
	first = d->order[d->order[0] == GROUP_OF_GPU];
	second =
	    d->order[first == d->order[0] && d->order[1] != GROUP_OF_GPU ? 1
									 : 2];
	d->class = first;
	d->is_mixed = w->ns[first] < (d->ns - gpu + 1) / 2 ||
	    w->ns[first] - w->ns[second] < w->ns[second] / 2;
	d->is_partly = gpu >= (d->ns + 1) / 2;
	d->is_sync = first == GROUP_OF_HOST && is_sync_bound(w, d->ns);
	d->is_launch =
	    first == GROUP_OF_HOST && !d->is_sync && is_launch_bound(w);
}

bool
budget_is_late(const struct budget *sum, const struct waiting *w)
{
	return w->most_ns > 0 && w->most_ns >= (w->caused_ns + 1) / 2 &&
	    3 * (double)w->wait_ns >= 2 * (double)w->all_ns &&
	    sum->ns[ACCOUNT_COMM] >= sum->window_ns / 10;
}

unsigned
budget_advice_of(const struct budget *w)
{
	return (w->has_ops ? ADVICE_OPS : 0u) |
	    (w->has_python ? ADVICE_PYTHON : 0u) |
	    (w->is_tpu ? ADVICE_TPU : 0u);
}

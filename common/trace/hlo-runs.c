/* SPDX-License-Identifier: MIT */
/*
 * Runs of modules as annotations. Each device runs a module itself. The nth
 * runs of all devices are one run, from the first to the last event of the host
 * for it. Runs of a process are on one thread, that of its first run.
 */
#include "trace/hlo-inside.h"

#include "stream/maker.h"

/* A run begins with GPU work that shares nothing with the work before it. */
void
hlo_runs_find(struct hlo *h, const struct store *s, hlo_leaves *leaves)
{
	hlo_run_list *runs = hlo_runs(h);

	for (size_t i = 0; i < leaves->n; i++) {
		struct hlo_leaf *l = &leaves->v[i];
		bool has_launch = l->launch != STORE_NONE;
		uint32_t track =
		    s->items.v[has_launch ? l->launch : l->gpu].track;
		struct hlo_run *run;

		if (l->op == NULL)
			continue;
		if (l->shared == 0)
			vec_push(runs,
			    ((struct hlo_run){ .module = l->op->frames[0],
				.gpu = l->gpu,
				.track = track,
				.pid = s->st->tracks.v[track].pid,
				.dev = l->dev,
				.start_ns = INT64_MAX,
				.end_ns = INT64_MIN }));
		l->run = (uint32_t)runs->n;
		run = &runs->v[l->run - 1];
		run->work_ns =
		    num_add_max(run->work_ns, s->items.v[l->gpu].dur_ns);
	}
}

static int
module_order(const struct hlo_run *a, const struct hlo_run *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return key_cmp(a->pid, b->pid);
}

static int
device_order(const void *x, const void *y)
{
	const struct hlo_run *a = x, *b = y;
	int order = module_order(a, b);

	if (order == 0)
		order = key_cmp(a->dev, b->dev);
	if (order != 0)
		return order;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int
number_order(const void *x, const void *y)
{
	const struct hlo_run *a = x, *b = y;
	int order = module_order(a, b);

	if (order != 0)
		return order;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Runs launched by the host, by module and number; equal ones combined. */
static void
join(hlo_run_list *runs)
{
	struct hlo_run *v = runs->v;
	size_t n = 0;

	for (size_t i = 0; i < runs->n; i++)
		if (v[i].start_ns <= v[i].end_ns)
			v[n++] = v[i];
	runs->n = n;
	stable_sort(v, n, sizeof *v, device_order);
	for (size_t i = 0; i < n; i++)
		v[i].number = i > 0 && module_order(&v[i], &v[i - 1]) == 0 &&
			key_eq(v[i].dev, v[i - 1].dev)
		    ? v[i - 1].number + 1
		    : 1;
	stable_sort(v, n, sizeof *v, number_order);
	runs->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct hlo_run *last = runs->n > 0 ? &v[runs->n - 1] : NULL;

		if (last == NULL || module_order(last, &v[i]) != 0 ||
		    last->number != v[i].number) {
			v[runs->n++] = v[i];
			continue;
		}
		if (v[i].end_ns > last->end_ns)
			last->end_ns = v[i].end_ns;
		last->work_ns = num_add_max(last->work_ns, v[i].work_ns);
	}
}

/* The module with most GPU time; none if it ran only once. */
static uint32_t
find_main(const hlo_run_list *runs)
{
	uint32_t found = INTERN_NONE;
	int64_t most = 0;

	for (size_t i = 0, k; i < runs->n; i = k) {
		const struct hlo_run *v = runs->v;
		int64_t work = 0, last = 0;

		for (k = i; k < runs->n && v[k].module == v[i].module; k++) {
			work = num_add_max(work, v[k].work_ns);
			last = v[k].number > last ? v[k].number : last;
		}
		if (work <= most)
			continue;
		most = work;
		found = last > 1 ? v[i].module : INTERN_NONE;
	}
	return found;
}

static void
put_run(struct store *s, struct maker *m, const struct hlo_run *run,
    uint32_t track, bool is_step)
{
	struct uid uid = item_uid(s, run->gpu);
	int64_t dur_ns;

	if (__builtin_sub_overflow(run->end_ns, run->start_ns, &dur_ns))
		dur_ns = INT64_MAX;
	uid.inst += HLO_FRAMES + 2; /* after the frames and the op of its
	                             * work */
	maker_begin(m, KIND_ANNOTATION, STR(CATEGORY_HLO));
	maker_name_id(m, run->module);
	maker_on_track(m, track);
	maker_start(m, run->start_ns);
	maker_dur(m, dur_ns, EV_SYNTHETIC);
	maker_int(m, STR("step_num"), run->number, ROLE_NONE);
	store_add(s, maker_end(m, uid));
	if (is_step)
		s->items.v[s->items.n - 1].flags |= EV_STEP;
}

void
hlo_runs_put(struct hlo *h, struct store *s)
{
	hlo_run_list *runs = hlo_runs(h);
	struct maker m = { .st = s->st };
	uint32_t steps, track = 0;

	join(runs);
	steps = find_main(runs);
	for (size_t i = 0; steps != INTERN_NONE && i < runs->n; i++) {
		const struct hlo_run *run = &runs->v[i];

		if (i == 0 || module_order(run, run - 1) != 0)
			track = run->track;
		put_run(s, &m, run, track, run->module == steps);
	}
	maker_free(&m);
}

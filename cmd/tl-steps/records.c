/* SPDX-License-Identifier: MIT */
/* Windows become records, and steps of a process are compared. */
#include "cmd/tl-steps/steps.h"

#include <math.h>

#define SHARE 10           /* of the wall time, for a flag's cause */
#define OUTLIER_MADS 4.5   /* three sigma of a normal distribution */
#define OUTLIER_SHARE 0.05 /* at least, of the median */
#define OUTLIER_STEPS 4

/* ---- a row of each window ---- */

static uint32_t
word(const struct program *g, const char *text)
{
	return text != NULL ? intern_put(g->sink.dict->text, str_of(text))
			    : INTERN_NONE;
}

static int64_t
if_told(int64_t n)
{
	return n >= 0 ? n : SINK_NONE;
}

/* From the annotation of a step. */
static void
set_marker(
    struct program *g, struct step_record *r, const struct step_window *w)
{
	const struct iteration *it = steps_iteration(&g->steps, w);
	const struct host *h = &g->host;
	const struct host_event *e = &h->events.v[w->marker];

	r->rec.uid = e->uid;
	r->rec.track = h->threads.v[e->thread].track;
	r->has_uid = true;
	if (r->what != STEP_IS_STEP)
		return;
	r->name = e->name;
	if (it == NULL)
		return;
	if (it->has_requests)
		r->batch = it->num_requests;
	else if (it->has_load && it->phase == PHASE_GENERIC)
		r->batch = it->batch_size;
	if (!it->has_load && g->nuntold++ == 0)
		g->untold = e->name;
	r->tokens = if_told(iteration_tokens(it));
	r->phase = word(g, phase_words[it->phase]);
	r->is_iteration = g->has_iterations = true;
	r->it = *it;
	r->format =
	    intern_put(g->sink.dict->text, iteration_format_name(it->format));
	if (it->ctx_len > 0)
		r->ctx = intern_put(g->sink.dict->text,
		    (struct str){ dict_get(h->dict, e->name).p + it->ctx_at,
			it->ctx_len });
	r->is_of_single_tokens = it->has_load && it->generation_requests > 0 &&
	    it->generation_sum == it->generation_requests && it->spec < 0;
}

static void
add_row(struct program *g, const struct step_process *p,
    const struct step_window *w)
{
	static const char *const words[] = {
		[STEP_IS_STEP] = "step",
		[STEP_IS_BETWEEN] = "between",
		[STEP_IS_WHOLE] = "whole",
	};
	/* without GPU events, nothing is known of the GPU */
	int64_t gpu = g->host.gpus.n > 0 ? 0 : SINK_NONE;
	struct step_row *row = vec_add(&g->rows);
	struct step_record *r = &row->r;

	memset(row, 0, sizeof *row);
	*r = (struct step_record){
		.rec = { .source = g->source, .ts_ns = w->start_ns },
		.what = w->what,
		.is_inferred = g->steps.inferred > 0,
		.nrepeat = g->steps.inferred > 0 ? (int64_t)g->steps.inferred
						 : SINK_NONE,
		.word = word(g, words[w->what]),
		.name = INTERN_NONE,
		.gap_cause = INTERN_NONE,
		.idle_cause = INTERN_NONE,
		.phase = INTERN_NONE,
		.format = INTERN_NONE,
		.ctx = INTERN_NONE,
		.pid = p->pid,
		.step = w->what == STEP_IS_WHOLE ? SINK_NONE : w->number,
		.batch = SINK_NONE,
		.tokens = SINK_NONE,
		.gpu_wall_ns = SINK_NONE,
		.time_ns = SINK_NONE,
		.busy_launched_ns = gpu,
		.busy_ns = gpu,
		.idle_ns = gpu,
		.exposed_comm_ns = gpu,
		.exposed_copy_ns = gpu,
		.overlap_ns = gpu,
		.call = INTERN_NONE,
		.op = INTERN_NONE,
		.module = INTERN_NONE,
		.done_ns = SINK_NONE,
		.drain_ns = SINK_NONE,
		.lead_ns = SINK_NONE,
		.gap_ns = gpu,
		.idle_cause_ns = gpu,
		.nkernels = gpu,
		.nstarved = gpu,
		.work_ns = gpu,
		.graph_ns = gpu,
		.compute_ns = gpu,
		.compute_done_ns = SINK_NONE,
		.own_done_ns = SINK_NONE,
		.group = SINK_NONE,
		.took_ns = SINK_NONE,
		.token_ns = SINK_NONE,
		.nunlinked = gpu,
		.noutside = gpu,
	};
	r->wall_ns = w->end_ns - w->start_ns;
	row->is_cut = w->is_cut;
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		r->most_in[i] = INTERN_NONE;
	if (w->marker != HOST_NONE)
		set_marker(g, r, w);
}

/* ---- the steps of a process ---- */

typedef VEC(int64_t) int_list;

static double
median_of(const struct step_row *rows, size_t n, size_t field, int_list *room)
{
	struct stats stats;

	room->n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t v;

		memcpy(&v, (const char *)&rows[i].r + field, sizeof v);
		if (rows[i].r.what != STEP_IS_BETWEEN && v != SINK_NONE)
			vec_push(room, v);
	}
	stat_of(&stats, room->v, room->n);
	return stats.median;
}

static int64_t
idle_of_groups(
    const struct step_record *r, enum cause_group a, enum cause_group b)
{
	int64_t ns = 0;

	for (size_t c = 0; c < CAUSE_COUNT; c++)
		if (cause_groups[c] == a || cause_groups[c] == b)
			ns += r->parts[c];
	return ns;
}

/* The distance from the median that makes an outlier. */
static double
outlier_bound(
    const struct step_row *rows, size_t n, double median, int_list *room)
{
	struct stats stats;
	double bound;

	room->n = 0;
	for (size_t i = 0; i < n; i++)
		if (rows[i].r.time_ns != SINK_NONE)
			vec_push(room,
			    (int64_t)fabs((double)rows[i].r.time_ns - median));
	if (room->n < OUTLIER_STEPS)
		return INFINITY;
	stat_of(&stats, room->v, room->n);
	bound = OUTLIER_MADS * stats.median;
	return bound > OUTLIER_SHARE * median ? bound : OUTLIER_SHARE * median;
}

/* Where step times change for good. */
static void
find_changes(struct step_row *rows, size_t n, double median)
{
	VEC(int64_t) times = { 0 };
	VEC(struct step_row *) steps = { 0 };
	VEC(uint32_t) at = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (rows[i].r.time_ns == SINK_NONE)
			continue;
		vec_push(&times, rows[i].r.time_ns);
		vec_push(&steps, &rows[i]);
		vec_push(&at, 0);
	}
	at.n = changes_find(at.v, times.v, times.n, median);
	for (size_t i = 0; i < at.n; i++)
		steps.v[at.v[i]]->is_change = true;
	vec_free(&times);
	vec_free(&steps);
	vec_free(&at);
}

static void
set_flags(struct program *g, struct step_row *row)
{
	struct step_record *r = &row->r;
	const struct {
		const char *word;
		bool is_set;
	} flags[] = {
		{ "warm-up",
		    idle_of_groups(r, GROUP_OF_START, GROUP_OF_COMPILE) >
			r->wall_ns / SHARE },
		{ "incomplete",
		    idle_of_groups(r, GROUP_OF_MISSING, GROUP_OF_MISSING) >
			r->wall_ns / SHARE },
		{ "slow", r->is_slow },
		{ "fast", r->is_fast },
		{ "change", row->is_change },
		{ "overlap", row->is_cut },
		{ "no-gpu-event", row->is_bare },
	};
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		if (!flags[i].is_set)
			continue;
		if (text.len > 0)
			buf_puts(&text, ",");
		buf_puts(&text, flags[i].word);
	}
	r->flags = text.len > 0 ? intern_put(g->sink.dict->text, buf_str(&text))
				: INTERN_NONE;
	buf_free(&text);
}

static void
compare(struct program *g, const struct pace *pace, struct step_row *rows,
    size_t n, int_list *room)
{
	bool is_gpu = n > 0 && pace[0].is_gpu;
	bool is_known = false;
	const char *reason;
	double median, bound;

	for (size_t i = 0; i < n; i++)
		is_known |= pace[i].gpu_wall_ns != PACE_NONE;
	reason = is_gpu
	    ? "the host only enqueues: GPU steps take longer, and drain grows"
	    : is_known ? "the GPU does not fall behind the host"
		       : "fewer than two steps have GPU work";
	for (size_t i = 0; i < n; i++) {
		struct step_record *r = &rows[i].r;

		r->gpu_wall_ns = pace[i].gpu_wall_ns;
		r->is_gpu_time = is_gpu;
		g->has_gpu_time |= is_gpu;
		r->time_is = word(g, is_gpu ? "gpu_wall" : "wall");
		r->reason = word(g, reason);
		r->time_ns = pace[i].time_ns;
		if (!r->is_iteration || r->time_ns == SINK_NONE)
			continue;
		r->took_ns = r->busy_launched_ns > r->time_ns
		    ? r->busy_launched_ns
		    : r->time_ns;
		if (r->is_of_single_tokens)
			r->token_ns = r->took_ns;
	}
	median =
	    median_of(rows, n, offsetof(struct step_record, time_ns), room);
	bound = outlier_bound(rows, n, median, room);
	find_changes(rows, n, median);
	for (size_t i = 0; i < n; i++) {
		struct step_record *r = &rows[i].r;

		if (r->time_ns != SINK_NONE) {
			r->is_slow = (double)r->time_ns - median > bound;
			r->is_fast = median - (double)r->time_ns > bound;
		}
		set_flags(g, &rows[i]);
	}
}

/* ---- all ---- */

static void
add_records(struct program *g)
{
	VEC(bool) chosen = { 0 };
	bool has_steps = false;

	for (size_t i = 0; i < g->rows.n; i++) {
		has_steps |= g->rows.v[i].r.what == STEP_IS_STEP;
		vec_push(&chosen, !select_asks_steps(&g->asked));
	}
	g->has_steps |= has_steps;
	g->has_gpu |= g->host.gpus.n > 0;
	if (select_asks_steps(&g->asked) && has_steps)
		(void)select_steps(&g->asked, &g->steps, g->host.dict, chosen.v,
		    sink_sources_label(&g->sink.sources, g->source), g->source);
	for (size_t i = 0; g->shows_summary && i < g->steps.processes.n; i++) {
		const struct step_process *p = &g->steps.processes.v[i];

		slow_names(g, g->rows.v + p->first, chosen.v + p->first, p->n);
	}
	for (size_t i = 0; i < g->rows.n; i++)
		if (chosen.v[i])
			*(struct step_record *)sink_add(&g->sink) =
			    g->rows.v[i].r;
	vec_free(&chosen);
	if (select_asks_steps(&g->asked) || !g->shows_slow)
		return;
	for (size_t i = 0; i < g->steps.processes.n; i++) {
		const struct step_process *p = &g->steps.processes.v[i];

		slow_records(g, g->rows.v + p->first, p->n);
	}
}

/* A row per window. */
static void
find_rows(struct program *g)
{
	int_list room = { 0 };

	g->rows.n = 0;
	for (size_t i = 0; i < g->steps.processes.n; i++) {
		const struct step_process *p = &g->steps.processes.v[i];

		for (uint32_t k = p->first; k < p->first + p->n; k++)
			add_row(g, p, &g->steps.list.v[k]);
	}
	paces_start(&g->paces, &g->steps);
	figures_find(g);
	paces_ready(&g->paces, &g->steps);
	g->steps.slowest = paces_slowest(&g->paces, &g->steps);
	for (size_t i = 0; i < g->steps.processes.n; i++) {
		const struct step_process *p = &g->steps.processes.v[i];

		compare(g, g->paces.v + p->first, g->rows.v + p->first, p->n,
		    &room);
	}
	vec_free(&room);
}

/* Iterations where other annotations are the steps. */
static void
add_iterations(struct program *g)
{
	bool any = g->steps.iterations.n > 0;

	for (size_t i = 0; i < g->rows.n; i++)
		any = any && !g->rows.v[i].r.is_iteration;
	if (!any || g->asked.annotations.n > 0 || select_asks_steps(&g->asked))
		return;
	g->steps.only_iterations = true;
	steps_find(&g->steps, &g->host, NULL, 0);
	g->steps.only_iterations = false;
	find_rows(g);
	for (size_t i = 0; i < g->rows.n; i++) {
		struct step_record *r = &g->rows.v[i].r;

		if (!r->is_iteration)
			continue;
		r->what = RECORD_IS_ITERATION;
		*(struct step_record *)sink_add(&g->sink) = *r;
	}
}

void
steps_records(struct program *g)
{
	const struct select *asked = &g->asked;

	g->nuntold = 0;
	host_ready(&g->host);
	g->steps.only_iterations = asked->of_iterations;
	steps_find(
	    &g->steps, &g->host, asked->annotations.v, asked->annotations.n);
	g->inferred |= steps_inferred_from(&g->steps);
	if (g->runs_of == INTERN_NONE)
		g->runs_of = steps_module(&g->steps, &g->host);
	if (g->steps.list.n == 0 && asked->annotations.n > 0)
		report(MSG_NO_SUCH_ANNOTATION,
		    sink_sources_label(&g->sink.sources, g->source),
		    asked->annotations.v[0],
		    host_there(&g->host, asked->annotations.v[0]));
	find_rows(g);
	add_records(g);
	add_iterations(g);
	if (g->nuntold > 0)
		report(MSG_ITERATIONS_UNTOLD,
		    g->sink.sources.list.v[g->source].path, g->nuntold,
		    dict_get(g->sink.dict, g->untold));
}

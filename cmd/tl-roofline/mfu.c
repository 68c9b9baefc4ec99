/* SPDX-License-Identifier: MIT */
/* Windows of steps and iterations, and their matrix products. */
#include <stdlib.h>

#include "cmd/tl-roofline/fields.h"
#include "trace/stat.h"
#include "trace/tree.h"

#define COVERAGE_MIN 0.9 /* of GPU time with a model, for an MFU */

static bool
is_covered(int64_t part_ns, int64_t whole_ns)
{
	return (double)part_ns >= COVERAGE_MIN * (double)whole_ns;
}

static const struct steps *
steps_of(const struct roof_state *g, enum window_kind kind)
{
	return kind == WINDOW_STEP ? &g->mfu.steps : &g->phases.iterations;
}

static uint32_t
window_at(const struct roof_state *g, enum window_kind kind,
    const struct key *pid, int64_t ts_ns)
{
	const struct steps *s = steps_of(g, kind);
	const struct step_window *w = steps_at(s, pid, ts_ns);

	if (w == NULL)
		return kind == WINDOW_STEP && s->list.n == 0
		    ? g->mfu.first[kind]
		    : NO_INDEX;
	return w->what == STEP_IS_STEP
	    ? g->mfu.first[kind] + (uint32_t)(w - s->list.v)
	    : NO_INDEX;
}

/* ---- the windows of a source ---- */

static void
add_windows(struct roof_state *g, enum window_kind kind)
{
	const struct steps *s = steps_of(g, kind);

	g->mfu.first[kind] = (uint32_t)g->windows.n;
	for (size_t i = 0; i < s->list.n; i++) {
		const struct step_window *w = &s->list.v[i];
		const struct iteration *it = steps_iteration(s, w);
		struct window *to = vec_add(&g->windows);

		*to = (struct window){ .step = w->number,
			.tokens = it != NULL ? iteration_tokens(it) : -1,
			.time_ns = PACE_NONE };
	}
	if (s->list.n == 0 && kind == WINDOW_STEP) {
		g->mfu.is_whole = true;
		vec_push(&g->windows,
		    ((struct window){ .step = SINK_NONE,
			.tokens = -1,
			.time_ns = PACE_NONE }));
	}
	paces_start(&g->mfu.paces[kind], s);
}

static int
by_time(const void *x, const void *y)
{
	const struct mfu_work *a = x, *b = y;

	return (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

static void
sum_works(struct mfu *m)
{
	struct mfu_work *w = m->works.v;

	if (m->works.n == 0)
		return;
	qsort(w, m->works.n, sizeof *w, by_time);
	for (size_t i = m->works.n - 1; i-- > 0;) {
		stat_add(&w[i].gpu_ns, w[i + 1].gpu_ns);
		stat_add(&w[i].unlinked_ns, w[i + 1].unlinked_ns);
	}
}

/* Whether most GPU work since a time belongs to a known window. */
static bool
is_known_since(const struct mfu *m, int64_t ts_ns)
{
	const struct mfu_work *w = m->works.v;
	size_t first = 0, end = m->works.n;

	while (first < end) {
		size_t mid = first + (end - first) / 2;

		if (w[mid].ts_ns < ts_ns)
			first = mid + 1;
		else
			end = mid;
	}
	return first == m->works.n ||
	    is_covered(w[first].gpu_ns - w[first].unlinked_ns, w[first].gpu_ns);
}

/* Its step time, or that of its GPU work if longer. */
static void
set_time(struct window *w, const struct pace *pace)
{
	struct spans *busy = &w->busy;
	int64_t ns;

	spans_normalise(busy);
	ns = spans_total(busy);
	if (pace == NULL)
		w->time_ns = busy->n > 0
		    ? busy->v[busy->n - 1].end - busy->v[0].start
		    : PACE_NONE;
	else
		w->time_ns = pace->time_ns == PACE_NONE || pace->time_ns > ns
		    ? pace->time_ns
		    : ns;
	spans_free(busy);
}

/* At the end of a source: the times of its windows. */
static void
end_source(struct roof_state *g)
{
	struct mfu *m = &g->mfu;

	sum_works(m);
	for (unsigned kind = 0; m->is_ready && kind < WINDOW_KINDS; kind++) {
		pace_list *p = &m->paces[kind];
		struct window *w = g->windows.v + m->first[kind];

		paces_ready(p, steps_of(g, kind));
		for (size_t i = 0; i < p->n; i++) {
			set_time(&w[i], &p->v[i]);
			w[i].is_partial = !is_known_since(m, p->v[i].start_ns);
		}
		if (p->n == 0 && kind == WINDOW_STEP)
			set_time(w, NULL);
	}
	m->is_ready = false;
	m->works.n = 0;
}

void
mfu_event(struct roof_state *g, const struct event *ev)
{
	struct mfu *m = &g->mfu;

	if (m->source != g->sink.source) {
		end_source(g);
		steps_clear(&m->steps);
		m->source = g->sink.source;
	}
	if (ev->shape->kind == KIND_ANNOTATION) {
		steps_add(&m->steps, g->sink.dict, ev, 0);
	} else if (!m->is_ready && !event_is(ev, KINDS_PROLOGUE)) {
		steps_ready(&m->steps);
		g->sink.select.inferred |= steps_inferred_from(&m->steps);
		for (unsigned kind = 0; kind < WINDOW_KINDS; kind++)
			add_windows(g, kind);
		m->is_ready = true;
	}
}

void
mfu_work(struct roof_state *g, const struct event *ev,
    const struct node *launch, bool is_comm, bool is_call)
{
	const struct key *pid =
	    launch != NULL ? &g->sink.dict->tracks.v[launch->track].pid : NULL;
	int64_t end_ns, gpu_ns = is_comm ? 0 : ev->dur_ns;

	if ((ev->flags & EV_DUPLICATE) != 0 || (ev->shape->has & HAS_TS) == 0 ||
	    !num_add(ev->ts_ns, ev->dur_ns, &end_ns))
		return;
	vec_push(&g->mfu.works,
	    ((struct mfu_work){
		ev->ts_ns, gpu_ns, launch == NULL ? gpu_ns : 0 }));
	for (unsigned kind = 0; kind < WINDOW_KINDS; kind++) {
		bool is_whole = g->mfu.paces[kind].n == 0;
		uint32_t at;

		if (launch == NULL && !is_whole)
			continue;
		at = window_at(
		    g, kind, pid, launch != NULL ? launch->ts_ns : ev->ts_ns);
		if (at == NO_INDEX)
			continue;
		spans_add(&g->windows.v[at].busy, ev->ts_ns, end_ns);
		if (!is_whole)
			paces_add(&g->mfu.paces[kind], at - g->mfu.first[kind],
			    end_ns);
		if (!is_call)
			stat_add(&g->windows.v[at].gpu_ns, gpu_ns);
	}
}

void
mfu_place(const struct roof_state *g, struct call *c, const struct node *n)
{
	const struct key *pid = &g->sink.dict->tracks.v[n->track].pid;

	for (unsigned kind = 0; kind < WINDOW_KINDS; kind++)
		c->window[kind] = window_at(g, kind, pid, n->ts_ns);
	c->step = c->window[WINDOW_STEP] != NO_INDEX
	    ? g->windows.v[c->window[WINDOW_STEP]].step
	    : SINK_NONE;
}

/* ---- the figures of a window ---- */

/* The index of a type in specs; MFU_SPECS: too many. */
static size_t
spec_of(struct mfu *m, struct str spec)
{
	size_t i = 0;

	while (i < m->nspecs && !str_eq(m->specs[i], spec))
		i++;
	if (i == m->nspecs && i < MFU_SPECS)
		m->specs[m->nspecs++] = spec;
	return i;
}

static void
add_flops(struct roof_state *g, struct window *w, const struct call *c)
{
	const struct model_result *r = c->res;
	size_t spec = spec_of(&g->mfu, r->spec);
	double peak = g->arch != NULL
	    ? arch_tflops(g->arch, ROOF_PEAK, r->spec) * 1e12
	    : (double)NAN;
	double flops = c->is_recompute ? 0 : r->flops - r->repeated;

	w->specs |= 1u << spec;
	w->flops[0] += flops;
	w->flops[1] += r->flops;
	w->peak_s[0] += flops / peak;
	w->peak_s[1] += r->flops / peak;
}

static void
add_call(struct roof_state *g, struct window *w, const struct call *c)
{
	bool is_known = c->res != NULL && c->res->status == MODEL_OK &&
	    !isnan(c->res->repeated);
	int64_t ns = 0;

	for (uint32_t k = 0; k < c->nkernels; k++) {
		const struct work *o =
		    &g->works.v[g->lists.v[c->first_kernel + k]];

		w->devs |= UINT64_C(1) << ((uint64_t)o->dev.n & 63);
		if (!o->is_comm)
			stat_add(&ns, o->dur_ns);
	}
	stat_add(&w->gpu_ns, ns);
	if (is_known)
		stat_add(&w->modelled_ns, ns);
	if (is_known && c->res->flops > 0 &&
	    str_starts(c->res->spec, STR("matrix_")))
		add_flops(g, w, c);
}

/* Why there is no figure, or NULL. */
static const char *
refused(const struct roof_state *g, const struct window *w)
{
	if (g->arch == NULL)
		return "no figures for the GPU: see --arch";
	if (g->globs.n > 0)
		return "--name leaves ops out";
	if (w->time_ns <= 0)
		return "time unknown: there is no step before to measure from";
	if (w->gpu_ns == 0)
		return "no GPU work but communication";
	if (w->is_partial)
		return "more than 10 % of GPU time from here on has no launch "
		       "in the trace: its step is unknown";
	if (!is_covered(w->modelled_ns, w->gpu_ns))
		return "less than 90 % of GPU time has a performance model";
	if (w->specs == 0)
		return "no matrix products";
	return isnan(w->peak_s[1]) ? "no peak for one of the types" : NULL;
}

void
mfu_finish(struct roof_state *g)
{
	struct extent e = calls_of(g, TABLE_UNIFIED);

	end_source(g);
	for (size_t i = e.first; i < e.end; i++) {
		const struct call *c = call_number(g, i);

		for (unsigned kind = 0;
		     c->table == TABLE_UNIFIED && kind < WINDOW_KINDS; kind++)
			if (c->window[kind] != NO_INDEX)
				add_call(g, &g->windows.v[c->window[kind]], c);
	}
	for (size_t i = 0; i < g->windows.n; i++)
		g->mfu.any |= refused(g, &g->windows.v[i]) == NULL;
}

/* ---- of a row ---- */

/* The time of a window, times its GPUs: several have several times the peak. */
static int64_t
capacity_ns(const struct window *w)
{
	int64_t ns = 0;

	for (uint64_t devs = w->devs; devs != 0; devs &= devs - 1)
		stat_add(&ns, w->time_ns);
	return ns;
}

static void
add_window(struct mfu_row *to, const struct window *w)
{
	to->nwindows++;
	to->all.is_partial |= w->is_partial;
	to->all.specs |= w->specs;
	for (int i = 0; i < 2; i++) {
		to->all.flops[i] += w->flops[i];
		to->all.peak_s[i] += w->peak_s[i];
	}
	stat_add(&to->all.gpu_ns, w->gpu_ns);
	stat_add(&to->all.modelled_ns, w->modelled_ns);
	if (w->time_ns <= 0)
		return;
	stat_add(&to->all.time_ns, w->time_ns);
	stat_add(&to->capacity_ns, capacity_ns(w));
	if (w->tokens < 0)
		return;
	to->all.tokens = num_add_max(to->all.tokens, w->tokens);
	stat_add(&to->tokens_ns, w->time_ns);
}

void
mfu_row(struct roof_state *g, const struct sink_row *r, enum window_kind kind)
{
	struct mfu_row untimed = { 0 }, timed = { 0 };

	g->mfu.nrows++;
	for (size_t i = 0; i < r->group->n; i++) {
		const struct call *c = sink_row_record(r, i);
		struct window *w;

		if (c->window[kind] == NO_INDEX)
			continue;
		w = &g->windows.v[c->window[kind]];
		if (w->row != g->mfu.nrows)
			add_window(w->time_ns > 0 ? &timed : &untimed, w);
		w->row = g->mfu.nrows;
	}
	g->mfu.row = timed.nwindows > 0 ? timed : untimed;
	if (timed.nwindows > 0)
		g->mfu.row.nuntimed = untimed.nwindows;
}

/* "MI300X matrix_bf16 1307.4, matrix_fp32 163.4" */
static struct cell
peak_cell(const struct sink_row *r, const struct roof_state *g)
{
	const struct arch *a = g->arch;
	const char *before = " ";

	r->text->len = 0;
	buf_put(r->text, a->name.p, a->name.len);
	for (size_t i = 0; i < g->mfu.nspecs; i++) {
		struct str spec = g->mfu.specs[i];

		if ((g->mfu.row.all.specs >> i & 1) == 0)
			continue;
		buf_printf(r->text, "%s%.*s %.6g", before, (int)spec.len,
		    spec.p, arch_tflops(a, ROOF_PEAK, spec));
		before = ", ";
	}
	return sink_row_text(r);
}

/* Why there is no figure, or what it excludes. */
static struct cell
reason_cell(const struct sink_row *r, const struct mfu_row *m, const char *why)
{
	if (why != NULL)
		return cell_text(str_of(why));
	if (m->nuntimed == 0)
		return cell_none();
	r->text->len = 0;
	buf_printf(r->text, "without %zu of %zu: time unknown", m->nuntimed,
	    m->nwindows + m->nuntimed);
	return sink_row_text(r);
}

struct cell
mfu_cell(const struct sink_row *r, const struct roof_state *g, unsigned f)
{
	const struct mfu_row *m = &g->mfu.row;
	const struct window *w = &m->all;
	const char *why =
	    m->nwindows > 0 ? refused(g, w) : "outside of steps and iterations";
	double seconds = (double)m->capacity_ns / 1e9;

	/* without a window, or a model, operations are unknown, not 0 */
	if ((f == C_MODEL_FLOP || f == C_HARDWARE_FLOP) && w->modelled_ns == 0)
		return cell_none();
	switch (f) {
	case C_WALL: return w->time_ns > 0 ? cell_int(w->time_ns) : cell_none();
	case C_MODEL_FLOP: return cell_real(w->flops[0] / 1e12);
	case C_HARDWARE_FLOP: return cell_real(w->flops[1] / 1e12);
	case C_UNMODELLED:
		return w->gpu_ns > 0
		    ? cell_real((double)(w->gpu_ns - w->modelled_ns) /
			  (double)w->gpu_ns * 100)
		    : cell_none();
	case C_TOKENS_S:
		return m->tokens_ns > 0
		    ? cell_real((double)w->tokens / (double)m->tokens_ns * 1e9)
		    : cell_none();
	case C_MFU_REASON: return reason_cell(r, m, why);
	default: break;
	}
	if (why != NULL)
		return cell_none();
	if (f == C_PEAK)
		return peak_cell(r, g);
	return cell_real(w->peak_s[f == C_HFU] / seconds * 100);
}

void
mfu_free(struct roof_state *g)
{
	steps_free(&g->mfu.steps);
	for (unsigned kind = 0; kind < WINDOW_KINDS; kind++)
		vec_free(&g->mfu.paces[kind]);
	vec_free(&g->mfu.works);
	vec_free(&g->windows);
}

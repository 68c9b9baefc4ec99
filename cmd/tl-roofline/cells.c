/* SPDX-License-Identifier: MIT */
/* Cells that are no field or sum of a call, and groups of calls. */
#include "cmd/tl-roofline/fields.h"

static const struct roof_state *
state_of(const struct sink_row *r)
{
	return (const struct roof_state *)r->sink;
}

static const struct call *
call_of(const struct sink_row *r, size_t i)
{
	return sink_row_record(r, i);
}

/* ---- groups ---- */

bool
roof_member(const struct sink *s, const struct sink_plan *p, const void *record)
{
	(void)s;
	return ((const struct call *)record)->table == p->table->about;
}

/* The second key of both tables. */
#define OVERLAP_WORD 2

/* Adds up groups that differ only in what overlaps. */
static void
add_up_overlaps(struct sink_groups *gs)
{
	struct sink_groups all = { 0 };

	/* sums are complete after the first pass */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < gs->list.n; i++) {
			struct sink_group *gr = &gs->list.v[i], *to;
			uint64_t key[SINK_GROUP_WORDS];

			memcpy(key, gr->key, sizeof key);
			key[OVERLAP_WORD] = 0;
			to = sink_groups_of_key(&all, key);
			if (pass == 1) {
				gr->sums[SUM_ALL] = to->sums[SUM_ALL];
				gr->least = to->least;
				continue;
			}
			stat_add(&to->sums[SUM_ALL], gr->sums[M_BUSY]);
			if (gr->least < to->least)
				to->least = gr->least;
		}
	sink_groups_free(&all);
}

void
roof_grouped(struct sink *s, const struct sink_plan *p, struct sink_groups *gs)
{
	bool is_by_step = p->table->order == SINK_BY_KEY;

	(void)s;
	if (p->table->by != 0)
		add_up_overlaps(gs);
	for (size_t i = 0; p->table->by == 0 && i < gs->list.n; i++) {
		struct sink_group *gr = &gs->list.v[i];

		gr->sums[SUM_ALL] = is_by_step ? 0 : gr->sums[M_BUSY];
		gr->least = is_by_step ? 0 : gr->least;
	}
}

int
roof_compare(const struct sink *s, const struct sink_group *a,
    const struct sink_group *b)
{
	(void)s;
	if (a->sums[SUM_ALL] != b->sums[SUM_ALL])
		return a->sums[SUM_ALL] > b->sums[SUM_ALL] ? -1 : 1;
	return (a->least > b->least) - (a->least < b->least);
}

/* ---- above the table ---- */

void
roof_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	const struct roof_state *g = (const struct roof_state *)s;
	const struct arch *a = g->arch;
	struct str device = dict_get(s->dict, g->device);

	note_unlinked(t, &s->sources,
	    roof_is_sums(p->table) && !g->mfu.is_whole ? "step" : "op");
	if (a == NULL && device.len > 0)
		table_note(t,
		    "no roofline: no figures for %.*s; name the GPU with "
		    "--arch",
		    (int)device.len, device.p);
	else if (a == NULL)
		table_note(t,
		    "no roofline: the trace does not name its GPU; name it "
		    "with --arch");
	else
		table_note(t, "roofs: %.*s, %s%s", (int)a->name.len, a->name.p,
		    roof_words[g->roof],
		    arch_has_gbps(a, g->roof) ? ""
					      : "; that of the memory: peak");
	if (g->mfu.is_whole && roof_is_sums(p->table) &&
	    p->table->order == SINK_BY_KEY)
		table_note(t, "no steps: the span of all GPU work");
	if (g->versus != NULL && p->table->about == TABLE_UNIFIED)
		table_note(t,
		    "common ancestors span rows: do not add up their columns");
}

/* ---- rows ---- */

static void
take_versus(struct roof_state *g, const struct sink_row *r)
{
	versus_row(g->versus);
	for (size_t i = 0; i < r->group->n; i++) {
		const struct call *c = call_of(r, i);

		for (uint32_t k = 0; k < c->nkernels; k++)
			versus_add(g->versus, &g->sink.sources,
			    &g->works.v[g->lists.v[c->first_kernel + k]]);
	}
	g->has_versus = versus_sum(g->versus, &g->versus_row);
}

/* Rounded as in TraceLens, and with a deviation of 0 for one value. */
static void
take_overlaps(struct sink_row *r)
{
	struct stat_real *over = &r->stats[M_OVER].real;
	VEC(double) pcts = { 0 };

	for (size_t i = 0; i < r->group->n; i++)
		vec_push(&pcts, call_of(r, i)->overlap.pct);
	stat_of_reals(over, pcts.v, pcts.n);
	vec_free(&pcts);
	if (over->n == 0)
		return;
	over->std = stat_round2(over->n > 1 ? over->std : 0);
	over->mean = stat_round2(over->mean);
	over->median = stat_round2(over->median);
}

/* The time of calls with a roofline, and the share the roof allows. */
static void
take_phase(struct roof_state *g, const struct sink_row *r)
{
	struct phase_sums *p = &g->of_phase;

	*p = (struct phase_sums){ 0 };
	for (size_t i = 0; i < r->group->n; i++) {
		const struct call *c = call_of(r, i);
		struct roofline rf = { .bound = BOUND_NONE };

		if (c->res != NULL && c->res->status == MODEL_OK &&
		    !c->is_over_link)
			rf = roofline_of(g->arch, g->roof, c->res);
		if (rf.bound == BOUND_NONE)
			continue;
		p->roof_ns += rf.time_us * 1e3;
		stat_add(&p->modelled_ns, c->busy_ns);
		if (rf.bound == BOUND_COMPUTE)
			stat_add(&p->compute_ns, c->busy_ns);
	}
}

void
roof_row(struct sink_row *r)
{
	struct roof_state *g = (struct roof_state *)r->sink;

	if (roof_is_sums(r->plan->table)) {
		take_phase(g, r);
		mfu_row(g, r,
		    strcmp(r->plan->table->name, STEPS_NAME) == 0
			? WINDOW_STEP
			: WINDOW_ITERATION);
	}

	g->told = NULL;
	for (size_t i = 0; i < r->group->n && g->told == NULL; i++)
		if (call_of(r, i)->res != NULL &&
		    call_of(r, i)->res->status == MODEL_OK)
			g->told = call_of(r, i);
	if (r->plan->table->by != 0)
		take_overlaps(r);
	if (g->versus != NULL && r->plan->table->about == TABLE_UNIFIED)
		take_versus(g, r);
}

static struct cell
str_cell(struct str s)
{
	return s.len == 0 ? cell_none() : cell_text(s);
}

/* ---- lists ---- */

struct detail
roof_kernel(const struct sink *s, size_t number)
{
	const struct roof_state *g = (const struct roof_state *)s;
	const struct work *w = &g->works.v[g->lists.v[number]];

	return (struct detail){ w->name, w->gpu_stream, w->dur_ns, NAN };
}

/* ---- cells of calls and groups ---- */

static struct cell
param_cell(const struct sink_row *r, size_t i)
{
	const struct roof_state *g = state_of(r);
	const struct call *c = r->first;
	enum col_type type = r->plan->columns.v[g->first_param + i].type;
	struct model_value v;

	if (c->res == NULL || !model_param(c->res, g->param_names.v[i], &v) ||
	    v.type == MODEL_NULL)
		return cell_none();
	if (v.type == MODEL_BOOL && type == COL_BOOL)
		return cell_bool(v.yes);
	if (v.type == MODEL_INT && type == COL_INT)
		return cell_int(v.i);
	if (v.type == MODEL_INT && type == COL_REAL)
		return cell_real((double)v.i);
	if (v.type == MODEL_REAL && type == COL_REAL)
		return cell_real(v.real);
	if (v.type == MODEL_TEXT && type == COL_TEXT)
		return cell_text(v.text);
	r->text->len = 0;
	model_value_json(r->text, &v);
	return sink_row_text(r);
}

/* Ops from a capture have no host time. */
static struct cell
host_cell(const struct sink_row *r)
{
	for (size_t i = 0; i < r->group->n; i++)
		if (call_of(r, i)->host_ns != SINK_NONE)
			return cell_int(r->group->sums[M_HOST]);
	return cell_none();
}

static struct cell
lost_cell(const struct sink_row *r)
{
	double lost_ns = 0;

	for (size_t i = 0; i < r->group->n; i++)
		lost_ns += (double)call_of(r, i)->busy_ns -
		    call_roof_us((struct roof_state *)r->sink, call_of(r, i)) *
			1e3;
	return cell_real(lost_ns);
}

static struct cell
phase_cell(const struct sink_row *r, unsigned f)
{
	const struct phase_sums *p = &state_of(r)->of_phase;

	if (f == C_MODELLED)
		return cell_int(p->modelled_ns);
	if (p->modelled_ns == 0)
		return cell_none();
	if (f == C_REACHED)
		return cell_real(p->roof_ns / (double)p->modelled_ns * 100);
	return cell_int(
	    f == C_COMPUTE ? p->compute_ns : p->modelled_ns - p->compute_ns);
}

/* The reason of the call that has the poorest. */
static struct cell
above_cell(const struct sink_row *r)
{
	struct roof_state *g = (struct roof_state *)r->sink;
	enum above above = ABOVE_NOT;

	for (size_t i = 0; i < r->group->n; i++) {
		enum above a = call_above(g, call_of(r, i));

		above = a > above ? a : above;
	}
	r->text->len = 0;
	switch (above) {
	case ABOVE_NOT: return cell_none();
	case ABOVE_CLOCK:
		buf_printf(r->text, "times are multiples of %" PRIu64 " ns",
		    g->ticks.v[call_of(r, 0)->rec.source]);
		break;
	case ABOVE_CACHE:
		buf_printf(r->text, "%g MiB of cache", arch_cache_mib(g->arch));
		break;
	case ABOVE_FEWER:
		buf_puts(r->text, "Winograd: fewer operations than counted");
		break;
	default: buf_puts(r->text, "unexplained"); break;
	}
	return sink_row_text(r);
}

static struct cell
model_cell(const struct sink_row *r, unsigned f)
{
	const struct roof_state *g = state_of(r);
	const struct call *c = g->told;
	struct roofline rf;

	if (c == NULL)
		return cell_none();
	rf = roofline_of(g->arch, g->roof, c->res);
	if (f >= C_BOUND && f <= C_ROOF_US && c->is_over_link)
		return f == C_BOUND && rf.bound != BOUND_NONE
		    ? cell_text(STR("LINK_BOUND"))
		    : cell_none();
	switch (f) {
	case C_GFLOPS: return cell_real(call_gflops(c));
	case C_MIB: return cell_real(call_bytes(c) / 1048576);
	case C_INTENSITY:
		return call_bytes(c) > 0
		    ? cell_real(call_gflops(c) * 1e9 / call_bytes(c))
		    : cell_none();
	case C_SPEC: return str_cell(c->res->spec);
	case C_BOUND: return str_cell(str_of(bound_words[rf.bound]));
	case C_ROOF:
		return rf.bound == BOUND_NONE
		    ? cell_none()
		    : cell_string(r->sink->dict, g->roofs[rf.roof]);
	case C_ROOF_TFLOPS: return cell_real(rf.tflops);
	case C_ROOF_TBS: return cell_real(rf.gbps / 1e3);
	case C_ROOF_US: return cell_real(rf.time_us * 1e3);
	default: return cell_string(r->sink->dict, c->params);
	}
}

static struct cell
diff_cell(const struct sink_row *r, unsigned f)
{
	const struct roof_state *g = state_of(r);
	const struct versus_row *v = &g->versus_row;

	if (!g->has_versus)
		return cell_none();
	switch (f) {
	case C_DIFF_RATIO:
		return v->before_ns == 0
		    ? cell_none()
		    : cell_real((double)v->after_ns / (double)v->before_ns);
	case C_DIFF: return cell_int(v->after_ns - r->group->sums[M_BUSY]);
	case C_DIFF_COUNT: return cell_int(v->nafter);
	case C_DIFF_BEFORE: return cell_int(v->before_ns);
	case C_DIFF_AFTER: return cell_int(v->after_ns);
	default: break;
	}
	r->text->len = 0;
	versus_list(g->versus, f == C_DIFF_NAMES, r->text);
	return sink_row_text(r);
}

struct cell
roof_cell(const struct sink_row *r, unsigned f)
{
	if (f >= SINK_OWN)
		return param_cell(r, f - SINK_OWN);
	if (f >= C_DIFF_RATIO)
		return diff_cell(r, f);
	if (f >= C_WALL && f <= C_MFU_REASON)
		return mfu_cell(r, state_of(r), f);
	switch (f) {
	case C_HOST_SUM: return host_cell(r);
	case C_LOST: return lost_cell(r);
	case C_ABOVE: return above_cell(r);
	case C_MODELLED:
	case C_COMPUTE:
	case C_MEMORY:
	case C_REACHED: return phase_cell(r, f);
	case C_REASON:
		return str_cell(call_reason(
		    state_of(r)->told != NULL ? state_of(r)->told : r->first));
	default: return model_cell(r, f);
	}
}

/* SPDX-License-Identifier: MIT */
/* A phase's iterations: how fast, and what limits them. */
#include "cmd/tl-steps/steps.h"

#include <math.h>

#include "trace/account.h"
#include "trace/stat.h"

#define LAUNCHES_MIN 20 /* fewer prove nothing */

struct sums {
	int64_t tokens, tokens_ns; /* of iterations with both */
	int64_t requests, ntold;   /* the same */
	int64_t wall_ns, busy_ns, idle_ns, gpu_ns;
	int64_t told_ns; /* wall time of iterations with GPU work */
	int64_t kernels, launches, starved, work_ns, graph_ns;
	int64_t parts[PART_COUNT];
	int64_t class_ns[ACCOUNT_COUNT];
	bool has_gpu, has_launches; /* of some GPU work */
};

static void
add(struct sums *s, const struct step_record *r)
{
	if (r->tokens != SINK_NONE && r->took_ns != SINK_NONE) {
		s->tokens = num_add_max(s->tokens, r->tokens);
		stat_add(&s->tokens_ns, r->took_ns);
	}
	if (r->batch != SINK_NONE) {
		s->requests = num_add_max(s->requests, r->batch);
		s->ntold++;
	}
	stat_add(&s->wall_ns, r->wall_ns);
	if (r->nlaunches != SINK_NONE)
		s->launches += r->nlaunches;
	if (r->nstarved == SINK_NONE)
		return; /* no GPU work in the source */
	for (size_t i = 0; i < PART_COUNT; i++)
		stat_add(&s->parts[i], r->parts[i]);
	if (r->busy_ns == SINK_NONE)
		return;
	s->has_gpu = true;
	stat_add(&s->told_ns, r->wall_ns);
	stat_add(&s->busy_ns, r->busy_ns);
	stat_add(&s->idle_ns, r->idle_ns);
	if (r->nkernels == SINK_NONE)
		return;
	s->has_launches = true;
	stat_add(&s->gpu_ns, r->busy_launched_ns);
	stat_add(&s->work_ns, r->work_ns);
	stat_add(&s->graph_ns, r->graph_ns);
	s->kernels += r->nkernels;
	s->starved += r->nstarved;
}

static unsigned
class_of(size_t part)
{
	switch (part) {
	case PART_COMPUTE: return GROUP_OF_GPU;
	case PART_COMM: return ACCOUNT_COMM;
	case PART_COPY: return ACCOUNT_COPY;
	default:
		return cause_groups[part] != GROUP_OF_NONE ? cause_groups[part]
							   : GROUP_OF_HOST;
	}
}

static struct sums
sums_of(const struct sink_row *row)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < row->group->n; i++)
		add(&s, sink_row_record(row, i));
	for (size_t i = 0; i < PART_COUNT; i++)
		s.class_ns[class_of(i)] += s.parts[i];
	return s;
}

/*
 * Whether a figure over so much time holds although time is missing: less than
 * a tenth of the wall time is, or GPU work takes four fifths of it, wherever it
 * ran.
 */
static bool
is_recorded(const struct sums *s, int64_t ns)
{
	int64_t missing_ns = s->class_ns[GROUP_OF_MISSING];

	return missing_ns == 0 || missing_ns < s->wall_ns / 10 ||
	    s->gpu_ns >= ns - ns / 5;
}

/*
 * The GPU if its work takes four fifths of the recorded time, however late it
 * runs, else the largest class of it. ACCOUNT_COUNT: nothing.
 */
static unsigned
bound_of(const struct sums *s)
{
	unsigned most = GROUP_OF_HOST;
	int64_t ns = s->wall_ns - s->class_ns[GROUP_OF_MISSING];
	int64_t moved_ns =
	    s->class_ns[ACCOUNT_COMM] + s->class_ns[ACCOUNT_COPY];

	if (!s->has_gpu || s->gpu_ns == 0)
		return ACCOUNT_COUNT;
	if (s->gpu_ns - moved_ns >= ns - ns / 5 ||
	    s->class_ns[GROUP_OF_GPU] >= ns - ns / 5)
		return GROUP_OF_GPU;
	for (unsigned c = 0; c < ACCOUNT_COUNT; c++)
		if (c != GROUP_OF_GPU && c != GROUP_OF_MISSING &&
		    s->class_ns[c] > s->class_ns[most])
			most = c;
	return most;
}

/*
 * Host-bound becomes launch-bound if half of the launches found the GPU idle.
 * A class for the whole time also needs that time to be recorded; or most of
 * it, if the class takes half.
 */
static struct cell
bound_cell(const struct sums *s, bool is_of_whole)
{
	unsigned bound = bound_of(s);
	int64_t half_ns = s->wall_ns - s->wall_ns / 2;

	if (bound == ACCOUNT_COUNT ||
	    (is_of_whole &&
		(s->class_ns[GROUP_OF_MISSING] > half_ns ||
		    (!is_recorded(s, s->wall_ns) &&
			s->class_ns[bound] < half_ns))))
		return cell_none();
	return bound == GROUP_OF_HOST && s->launches >= LAUNCHES_MIN &&
		s->starved >= s->launches - s->launches / 2
	    ? cell_text(STR("launch"))
	    : cell_text(str_of(account_words[bound]));
}

/*
 * The largest cause of a class, or of all that is recorded; CAUSE_COUNT: none.
 */
static size_t
largest_cause(const struct sums *s, unsigned class)
{
	size_t most = CAUSE_COUNT;
	int64_t ns = 0;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		unsigned its = class_of(i);

		if (s->parts[i] <= ns || its == GROUP_OF_MISSING ||
		    (class != ACCOUNT_COUNT && its != class))
			continue;
		ns = s->parts[i];
		most = i;
	}
	return most;
}

/* A cause of the bounding class, if any. */
static struct cell
cause_cell(const struct sums *s, bool is_name)
{
	size_t most = largest_cause(s, bound_of(s));

	if (most == CAUSE_COUNT)
		most = largest_cause(s, ACCOUNT_COUNT);
	if (most == CAUSE_COUNT)
		return cell_none();
	return is_name ? cell_text(str_of(cause_words[most]))
		       : cell_int(s->parts[most]);
}

/* a / b, scaled; empty if b is 0. */
static struct cell
ratio_cell(int64_t a, int64_t b, double scale)
{
	return b > 0 ? cell_real((double)a / (double)b * scale) : cell_none();
}

/* Empty where the recording lacks much. */
static struct cell
rate_cell(const struct sums *s)
{
	return is_recorded(s, s->tokens_ns)
	    ? ratio_cell(s->tokens, s->tokens_ns, 1e9)
	    : cell_none();
}

struct cell
phase_cell(const struct sink_row *row, unsigned number)
{
	const struct sums s = sums_of(row);
	int64_t n = (int64_t)row->group->n;

	switch (number) {
	case C_TOKENS: return s.tokens > 0 ? cell_int(s.tokens) : cell_none();
	case C_TOKENS_PER_S: return rate_cell(&s);
	case C_REQUESTS: return ratio_cell(s.requests, s.ntold, 1);
	case C_WALL: return cell_int(s.wall_ns);
	case C_LAUNCHES: return ratio_cell(s.launches, n, 1);
	case C_BOUND: return bound_cell(&s, true);
	case C_BOUND_RECORDED: return bound_cell(&s, false);
	default: break;
	}
	if (!s.has_gpu)
		return cell_none();
	switch (number) {
	case C_GPU: return s.has_launches ? cell_int(s.gpu_ns) : cell_none();
	case C_BUSY: return cell_int(s.busy_ns);
	case C_COMM: return cell_int(s.class_ns[ACCOUNT_COMM]);
	case C_COPY: return cell_int(s.class_ns[ACCOUNT_COPY]);
	case C_IDLE: return cell_int(s.idle_ns);
	case C_PCT_IDLE: return ratio_cell(s.idle_ns, s.told_ns, 100);
	case C_PCT_MISSING:
		return ratio_cell(s.class_ns[GROUP_OF_MISSING], s.wall_ns, 100);
	case C_IDLE_CAUSE: return cause_cell(&s, true);
	case C_IDLE_CAUSE_NS: return cause_cell(&s, false);
	case C_KERNELS: return ratio_cell(s.kernels, s.has_launches ? n : 0, 1);
	case C_STARVED: return ratio_cell(s.starved, s.launches, 100);
	default: return ratio_cell(s.graph_ns, s.work_ns, 100);
	}
}

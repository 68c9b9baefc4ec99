/* SPDX-License-Identifier: MIT */
/* Cells that are not a field, sum or statistic of their records. */
#include "cmd/tl-launch/launch.h"

static const struct program *
program_of(const struct sink *s)
{
	return (const struct program *)s;
}

/* Launches of a row that are in a class. */
static int64_t
count(const struct sink_row *row, unsigned class)
{
	const struct program *g = program_of(row->sink);
	int64_t n = 0;

	for (size_t i = 0; i < row->group->n; i++) {
		const struct launch_record *r = sink_row_record(row, i);
		bool is_outlier = r->api_ns > g->api_outlier_ns;

		switch (class) {
		case C_LONGER: n += r->api_ns > r->kernel_ns; break;
		case C_SHORT:
			n += !is_outlier && r->kernel_ns < r->api_ns;
			break;
		case C_API_OUTLIERS: n += is_outlier; break;
		case C_DELAY_OUTLIERS:
			n += r->queue_ns > g->delay_outlier_ns;
			break;
		case C_UNTIMED: n += r->kernel_ns == 0; break;
		default: n += r->op_delay_ns != SINK_NONE; break;
		}
	}
	return n;
}

static struct cell
total_cell(int64_t api_ns, int64_t queue_ns, int64_t kernel_ns)
{
	stat_add(&api_ns, queue_ns);
	stat_add(&api_ns, kernel_ns);
	return cell_int(api_ns);
}

/* Time in which any copy of a row ran; and the bytes of copies with a
 * duration. */
static int64_t
busy(const struct sink_row *row, int64_t *bytes)
{
	struct spans spans = { 0 };
	int64_t ns;

	for (size_t i = 0; i < row->group->n; i++) {
		const struct launch_record *r = sink_row_record(row, i);

		if (bytes != NULL &&
		    (r->bytes == SINK_NONE || r->kernel_ns == 0))
			continue;
		spans_add(&spans, r->rec.ts_ns, r->rec.ts_ns + r->kernel_ns);
		if (bytes != NULL)
			stat_add(bytes, r->bytes);
	}
	spans_normalise(&spans);
	ns = spans_total(&spans);
	spans_free(&spans);
	return ns;
}

static struct cell
rate_cell(const struct sink_row *row)
{
	const struct launch_record *r = row->first;
	int64_t bytes = 0, ns;

	if (r->what == IS_BANDWIDTH)
		return cell_real(r->real);
	ns = busy(row, &bytes);
	return ns > 0 ? cell_real((double)bytes / (double)ns) : cell_none();
}

/* Whether memory is pageable, if the name says so. */
static struct cell
pageable_cell(const struct sink_row *row)
{
	const struct launch_record *r = row->first;
	struct str name = dict_get(row->sink->dict, r->name);

	if (str_find(name, STR("Pageable"), false) >= 0)
		return cell_bool(true);
	return str_find(name, STR("Pinned"), false) >= 0 ? cell_bool(false)
							 : cell_none();
}

/* A field of the queue, cost or stretch behind a record. */
static struct cell
more_cell(const struct sink_row *row, unsigned number)
{
	const struct program *g = program_of(row->sink);
	const struct launch_record *r = row->first;
	const char *more = r->what == IS_QUEUE
	    ? (const char *)&g->queues.v[r->more]
	    : r->what == IS_COST ? (const char *)&g->costs.v[r->more]
				 : (const char *)&g->stretches.v[r->more];
	int64_t v;
	double real;

	if (number >= C_REAL) {
		memcpy(&real, more + (number - C_REAL), sizeof real);
		return cell_real(real);
	}
	memcpy(&v, more + (number - C_INT), sizeof v);
	return v >= 0 ? cell_int(v) : cell_none();
}

static struct cell
stretch_cell(const struct sink_row *row, unsigned number)
{
	const struct program *g = program_of(row->sink);
	const struct launch_record *r = row->first;

	if (number == C_OTHER) /* may be negative */
		return cell_int(g->stretches.v[r->more].other_ns);
	if (number == C_LAST_UID)
		return cell_uid(row->table, g->stretches.v[r->more].last);
	return cell_string(row->sink->dict, g->stretches.v[r->more].forbids);
}

struct cell
launch_cell(const struct sink_row *row, unsigned number)
{
	const struct program *g = program_of(row->sink);
	const struct launch_record *r = row->first;
	const int64_t *sums = row->group->sums;
	const struct dict *dict = row->sink->dict;

	switch (number) {
	case C_TOTAL: return total_cell(r->api_ns, r->queue_ns, r->kernel_ns);
	case C_TOTAL_SUM:
		return total_cell(sums[M_API], sums[M_QUEUE], sums[M_KERNEL]);
	case C_START: return cell_int(r->rec.ts_ns);
	case C_PAGEABLE: return pageable_cell(row);
	case C_BYTES: /* unknown sizes have rows of their own */
		return r->bytes != SINK_NONE ? cell_int(sums[M_BYTES])
					     : cell_none();
	case C_BUSY:
		return cell_int(r->what == IS_STRETCH
			? g->stretches.v[r->more].busy_ns
			: busy(row, NULL));
	case C_RATE: return rate_cell(row);
	case C_FULL_SHARE:
		return cell_share(g->queues.v[r->more].full_ns,
		    (double)g->queues.v[r->more].span_ns);
	case C_LAYER_SHARE: return cell_share(r->api_ns, (double)r->queue_ns);
	case C_LAST_UID:
	case C_OTHER:
	case C_FORBIDS: return stretch_cell(row, number);
	case C_GAP_FROM: return cell_string(dict, g->costs.v[r->more].gap_from);
	case C_LAUNCH_FROM:
		return cell_string(dict, g->costs.v[r->more].launch_from);
	default: break;
	}
	return number >= C_INT ? more_cell(row, number)
			       : cell_int(count(row, number));
}

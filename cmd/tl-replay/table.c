/* SPDX-License-Identifier: MIT */
/* The table: a row per op to replay. */
#include <math.h>

#include "cmd/tl-replay/compare.h"
#include "sink/plan.h"

#define D COL_DETAIL
#define OF_RESULTS 1
#define AT(field) offsetof(struct run, field)

const struct sink_measure replay_measures[] = {
	[M_GPU] = { AT(gpu_ns), NULL, false },
};

/* clang-format off */
const struct sink_column replay_columns[] = {
	{ { "name", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_TEXT, true, AT(name), 0 },
	{ { "uid", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_UID, 0 },
	{ { "input_dims", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.dims), 0 },
	{ { "input_types", NULL, COL_JSON, UNIT_NONE, COL_MINOR, 0 }, SINK_TEXT, true, AT(args.types), 0 },
	{ { "input_strides", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.strides), 0 },
	{ { "concrete_inputs", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_TEXT, true, AT(args.concrete), 0 },
	{ { "count", NULL, COL_INT, UNIT_COUNT, 0, 0 }, SINK_COUNT, false, 0, 0 },
	{ { "gpu_ns_mean", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_MEAN, false, M_GPU, 0 },
	{ { "gpu_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 }, SINK_SUM, false, M_GPU, 0 },
	{ { "pct_of_gpu", NULL, COL_REAL, UNIT_PERCENT, COL_SHARE, 0 }, SINK_SHARE, false, M_GPU, 0 },
	{ { "overload", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 }, SINK_CELL, false, C_OVERLOAD, 0 },
	{ { "reason", NULL, COL_TEXT, UNIT_NONE, 0, 0 }, SINK_CELL, false, C_REASON, 0 },
	{ { "kernel_details_summary", NULL, COL_JSON, UNIT_NONE, D, 0 }, SINK_DETAILS, false, 0, 0 },
	{ { "kernel", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 }, SINK_CELL, false, C_KERNEL, 0 },
	{ { "recorded_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_RECORDED, 0 },
	{ { "replayed_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_REPLAYED, 0 },
	{ { "gap_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_GAP, 0 },
	{ { "other_kernels_ns", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 }, SINK_CELL, false, C_OTHERS, 0 },
	{ { "cache_ns", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 }, SINK_CELL, false, C_CACHE, 0 },
	{ { "rest_ns", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 }, SINK_CELL, false, C_REST, 0 },
	{ { "launch_idle_ns", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 }, SINK_CELL, false, C_IDLE, 0 },
	{ { "finding", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 }, SINK_CELL, false, C_FINDING, 0 },
	{ { "kernel_recorded_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_KERNEL_RECORDED, 0 },
	{ { "kernel_replayed_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_KERNEL_REPLAYED, 0 },
	{ { "kernel_cold_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_KERNEL_COLD, 0 },
	{ { "kernel_gap_ns", NULL, COL_REAL, UNIT_NS, 0, 0 }, SINK_CELL, false, C_KERNEL_GAP, 0 },
	SINK_COLUMNS_END,
};
/* clang-format on */

bool
replay_member(
    const struct sink *s, const struct sink_plan *p, const void *record)
{
	(void)p;
	return !replay_of(s)->is_chosen ||
	    ((const struct run *)record)->op != NO_OP;
}

double
replay_whole(const struct sink *s, const struct sink_plan *p, uint32_t source)
{
	(void)p;
	return source == 0 ? (double)replay_of(s)->gpu_ns : NAN;
}

void
replay_notes(struct sink *s, const struct sink_plan *p, struct table *t)
{
	(void)p;
	note_unlinked(t, &s->sources, "op");
}

struct detail
replay_kernel(const struct sink *s, size_t number)
{
	const struct kernel *k = &replay_of(s)->kernels.v[number];

	return (struct detail){ k->name, k->gpu_stream, k->dur_ns, NAN };
}

static struct cell
text_cell(const struct sink_row *r)
{
	return r->text->len > 0 ? sink_row_text(r) : cell_none();
}

static struct cell
compare_cell(const struct sink_row *r, const struct op *op, unsigned number)
{
	const struct replay *g = replay_of(r->sink);
	struct comparison c = compare_op(g, op);
	double gap = c.recorded_ns - c.replayed_ns;

	switch (number) {
	case C_RECORDED: return cell_real(c.recorded_ns);
	case C_REPLAYED: return cell_real(c.replayed_ns);
	case C_GAP: return cell_real(gap);
	case C_OTHERS: return cell_real(c.others_ns);
	case C_CACHE: return cell_real(c.cache_ns);
	case C_REST:
		return cell_real(
		    gap - c.others_ns - (isnan(c.cache_ns) ? 0 : c.cache_ns));
	case C_IDLE:
		return isnan(c.replayed_ns) ? cell_none()
					    : cell_real(c.idle_ns);
	default:
		r->text->len = 0;
		compare_finding(g, op, &c, r->text);
		return text_cell(r);
	}
}

struct cell
replay_cell(const struct sink_row *r, unsigned number)
{
	const struct replay *g = replay_of(r->sink);
	const struct run *first = r->first;
	const struct op *op = &g->ops.v[first->op];
	const struct schema *s = op->form.schema;

	switch (number) {
	case C_UID:
		r->text->len = 0;
		uid_text(g, first, r->text);
		return sink_row_text(r);
	case C_OVERLOAD:
		if (s == NULL)
			return cell_none();
		return cell_text(
		    s->overload.len > 0 ? s->overload : STR("default"));
	case C_REASON:
		return op->missing.len > 0 ? cell_text(op->missing)
					   : cell_none();
	default: return compare_cell(r, op, number);
	}
}

/* ---- kernels ---- */

static struct cell
kernel_cell(const struct replay *g, const struct op *op, uint32_t name,
    unsigned number, struct buf *text)
{
	struct kernel_pair p = compare_kernel(g, op, name);

	switch (number) {
	case C_UID:
		text->len = 0;
		uid_text(g, op->first, text);
		return cell_text(buf_str(text));
	case C_KERNEL: return cell_string(g->sink.dict, name);
	case C_KERNEL_RECORDED: return cell_real(p.recorded_ns);
	case C_KERNEL_REPLAYED: return cell_real(p.replayed_ns[WARM]);
	case C_KERNEL_COLD: return cell_real(p.replayed_ns[COLD]);
	default:
		return cell_real(p.recorded_ns -
		    p.replayed_ns[op->results[WARM] != NULL ? WARM : COLD]);
	}
}

static void
put_kernel(const struct replay *g, const struct op *op, uint32_t name,
    const struct sink_plan *p, struct table *t)
{
	struct cell *cells = table_row(t);
	struct buf text = { 0 };

	for (size_t i = 0; i < p->fields.n; i++) {
		const struct sink_column *c = &replay_columns[p->fields.v[i]];

		cells[i] = c->from == SINK_TEXT
		    ? cell_string(g->sink.dict, op->first->name)
		    : kernel_cell(g, op, name, c->at, &text);
		if (cells[i].type == CELL_TEXT)
			cells[i].text = table_text(t, cells[i].text);
	}
	buf_free(&text);
}

/* Prints recorded kernels, then those only replayed. */
static void
print_kernels(struct sink *s, const struct sink_plan *p)
{
	const struct replay *g = replay_of(s);
	struct table *t = table_create(p->name, p->columns.v, p->columns.n);

	for (size_t i = 0; i < g->ops.n; i++) {
		const struct op *op = &g->ops.v[i];
		const struct result *r = op->results[WARM] != NULL
		    ? op->results[WARM]
		    : op->results[COLD];

		for (size_t k = 0; k < op->nsums; k++)
			put_kernel(
			    g, op, g->sums.v[op->first_sum + k].name, p, t);
		for (size_t k = 0; r != NULL && k < r->nkernels; k++) {
			uint32_t name = g->replayed.v[r->first_kernel + k].name;

			if (isnan(compare_kernel(g, op, name).recorded_ns))
				put_kernel(g, op, name, p, t);
		}
	}
	table_print(t, &s->dest);
	table_destroy(t);
}

/* ---- tables ---- */

#define KEYS "name,input_dims,input_types,input_strides,concrete_inputs"

/* Fills in what calls of one op share. */
void
replay_group(struct replay *g)
{
	struct sink_plan p = { .table = replay_tables };
	struct sink_groups gs;

	sink_plan_keys(&g->sink, &p, KEYS);
	sink_group_records(&g->sink, &p, &gs);
	choose_ops(g, &gs);
	sink_groups_free(&gs);
	sink_plan_free(&p);
}

static void
print(struct sink *s, const struct sink_plan *p)
{
	if (!write_asked((struct replay *)s))
		sink_rows_print(s, p);
}

bool
replay_asked(const struct sink *s, const struct sink_table *t)
{
	return (t->about == OF_RESULTS) == (replay_of(s)->compares.n > 0);
}

struct sink_table replay_tables[REPLAY_NTABLES] = {
	{ .name = "replay",
	    .keys = KEYS,
	    .columns = "uid,count,gpu_ns_mean,gpu_ns_sum,pct_of_gpu,overload,"
		       "reason,kernel_details_summary",
	    .is_joined = true,
	    .print = print },
	{ .name = "replay_compare",
	    .keys = KEYS,
	    .columns = "uid,count,recorded_ns,replayed_ns,gap_ns,"
		       "other_kernels_ns,cache_ns,rest_ns,launch_idle_ns,"
		       "finding",
	    .is_joined = true,
	    .about = OF_RESULTS,
	    .print = print },
	{ .name = "replay_kernels",
	    .keys = "name",
	    .columns = "uid,kernel,kernel_recorded_ns,kernel_replayed_ns,"
		       "kernel_cold_ns,kernel_gap_ns",
	    .is_joined = true,
	    .about = OF_RESULTS,
	    .print = print_kernels },
};

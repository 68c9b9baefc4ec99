/* SPDX-License-Identifier: MIT */
/* Tables: a row a call, or with --fold a row a type in its place. */
#include "cmd/tl-modules/modules.h"
#include "json/json.h"

enum field {
	F_RANK,
	F_SRC,
	F_DEPTH,
	F_MODULE,
	F_TYPE,
	F_INSTANCE,
	F_UID,
	F_PARENT,
	F_TS,
	F_CPU,
	F_INSTANCES,
	F_CALLS,
	F_GPU,
	F_GPU_SUM,
	F_MEAN,
	F_MIN,
	F_MAX,
	F_SELF,
	F_SELF_SUM,
	F_NON_MODULE,
	F_BWD,
	F_GFLOP,
	F_TFLOPS,
	F_MIB,
	F_TBS,
	F_PCT_MODEL,
	F_NO_MODEL,
	F_PCT_PARENT,
	F_PCT_ROOT,
	F_PCT_BUSY,
	F_KERNELS,
	F_PATH,
	F_COUNT
};

#define NS UNIT_NS
#define PERCENT UNIT_PERCENT
#define US 1e3 /* labels are in us */

/* clang-format off */
static const struct column fields[F_COUNT] = {
	[F_RANK] = { "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_SRC] = { "src", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_DEPTH] = { "depth", NULL, COL_INT, UNIT_NONE, 0, 0 },
	[F_MODULE] = { "module", "Name", COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	[F_TYPE] = { "type", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[F_INSTANCE] = { "instance", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 },
	[F_UID] = { "uid", "UID", COL_INT, UNIT_NONE, COL_MINOR, 0 },
	[F_PARENT] = { "parent_uid", "Parent UID", COL_INT, UNIT_NONE, COL_DETAIL, 0 },
	[F_TS] = { "ts_ns", NULL, COL_INT, NS, COL_DETAIL | COL_POSITION, US },
	[F_CPU] = { "cpu_ns", NULL, COL_INT, NS, COL_DETAIL, US },
	[F_INSTANCES] = { "instances", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	[F_CALLS] = { "count", "Count", COL_INT, UNIT_COUNT, 0, 0 },
	[F_GPU] = { "gpu_ns", "GPU Time", COL_INT, NS, 0, US },
	[F_GPU_SUM] = { "gpu_ns_sum", "GPU Time", COL_INT, NS, 0, US },
	[F_MEAN] = { "gpu_ns_mean", "GPU Time mean", COL_REAL, NS, 0, US },
	[F_MIN] = { "gpu_ns_min", "GPU Time min", COL_INT, NS, 0, US },
	[F_MAX] = { "gpu_ns_max", "GPU Time max", COL_INT, NS, 0, US },
	[F_SELF] = { "self_ns", NULL, COL_INT, NS, COL_MINOR, US },
	[F_SELF_SUM] = { "self_ns_sum", NULL, COL_INT, NS, COL_MINOR, US },
	[F_NON_MODULE] = { "non_module_ns", "Non-nn.Module GPU Time", COL_INT, NS, COL_MINOR, US },
	[F_BWD] = { "bwd_ns", NULL, COL_INT, NS, 0, US },
	[F_GFLOP] = { "gflop", "GFLOPS", COL_REAL, UNIT_NONE, 0, 0 },
	[F_TFLOPS] = { "tflop_s", "TFLOPS/s", COL_REAL, UNIT_NONE, 0, 0 },
	[F_MIB] = { "mib", "Data Moved (MB)", COL_REAL, UNIT_NONE, 0, 0 },
	[F_TBS] = { "tb_s", "TB/s", COL_REAL, UNIT_NONE, 0, 0 },
	[F_PCT_MODEL] = { "pct_modelled", NULL, COL_REAL, PERCENT, 0, 0 },
	[F_NO_MODEL] = { "no_model", NULL, COL_JSON, UNIT_NONE, COL_DETAIL, 0 },
	[F_PCT_PARENT] = { "pct_of_parent", "Pct Parent", COL_REAL, PERCENT, COL_MINOR, 0 },
	[F_PCT_ROOT] = { "pct_of_root", NULL, COL_REAL, PERCENT, COL_MINOR, 0 },
	[F_PCT_BUSY] = { "pct_of_busy", NULL, COL_REAL, PERCENT, 0, 0 },
	[F_KERNELS] = { "kernels", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	[F_PATH] = { "path", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
};
/* clang-format on */

static const enum field of_calls[] = { F_DEPTH, F_MODULE, F_TYPE, F_INSTANCE,
	F_UID, F_PARENT, F_TS, F_CPU, F_GPU, F_SELF, F_NON_MODULE, F_BWD,
	F_GFLOP, F_TFLOPS, F_MIB, F_TBS, F_PCT_MODEL, F_NO_MODEL, F_PCT_PARENT,
	F_PCT_ROOT, F_PCT_BUSY, F_KERNELS, F_PATH, F_COUNT };
static const enum field of_types[] = { F_DEPTH, F_TYPE, F_INSTANCES, F_CALLS,
	F_GPU_SUM, F_MEAN, F_MIN, F_MAX, F_SELF_SUM, F_NON_MODULE, F_BWD,
	F_GFLOP, F_TFLOPS, F_MIB, F_TBS, F_PCT_MODEL, F_NO_MODEL, F_PCT_PARENT,
	F_PCT_ROOT, F_PCT_BUSY, F_KERNELS, F_PATH, F_COUNT };

/* Whether it was asked for, and means something where types have no place. */
static bool
is_wanted(const struct settings *set, enum field f)
{
	switch (f) {
	case F_BWD: return set->bwd;
	case F_GFLOP:
	case F_TFLOPS:
	case F_MIB:
	case F_TBS:
	case F_PCT_MODEL:
	case F_NO_MODEL: return set->flops;
	case F_DEPTH:
	case F_PCT_PARENT:
	case F_PCT_ROOT:
	case F_PATH: return !set->by_type;
	default: return true;
	}
}

struct plan {
	enum field fields[F_COUNT];
	struct column columns[F_COUNT];
	size_t n;
};

static void
add_field(struct plan *p, enum field f)
{
	p->fields[p->n] = f;
	p->columns[p->n++] = fields[f];
}

static void
make_plan(struct plan *p, const struct settings *set, enum sink_lead lead)
{
	const enum field *f = set->fold ? of_types : of_calls;

	p->n = 0;
	if (lead == SINK_LEAD_RANK)
		add_field(p, F_RANK);
	if (lead == SINK_LEAD_SRC)
		add_field(p, F_SRC);
	for (; *f != F_COUNT; f++)
		if (is_wanted(set, *f))
			add_field(p, *f);
}

static const char *
table_name(const struct settings *set)
{
	if (set->by_type)
		return "nn_module_types";
	return set->fold ? "nn_modules_by_type" : "nn_modules";
}

void
rows_check(const struct settings *set)
{
	struct plan p;

	/* either may lead, once it is known how many sources */
	make_plan(&p, set, SINK_LEAD_RANK);
	add_field(&p, F_SRC);
	table_dest_check(&set->dest, table_name(set), p.columns, p.n);
}

/* ---- cells ---- */

struct row {
	struct table *table;
	const struct modules *m;
	const struct nodes *n;
	const struct node *node;
	const struct module *mod; /* NULL: work outside of modules */
	struct buf path;          /* of texts that are made */
	VEC(uint32_t) above;      /* and itself, first */
};

static struct cell
cell_time(int64_t ns)
{
	return ns == NO_TIME ? cell_none() : cell_int(ns);
}

static struct str
label_of(const struct row *r, const struct node *node)
{
	struct str name;

	if (node->type == NODE_OUTSIDE)
		return STR(OUTSIDE_LABEL);
	name = dict_get(r->m->dict, r->m->list.v[node->first].name);
	return node->is_fold ? module_type(name) : module_name(name);
}

/* Names from the root on. */
static struct str
path_of(struct row *r)
{
	uint32_t number = (uint32_t)(r->node - r->n->list.v) + 1;

	r->path.len = 0;
	r->above.n = 0;
	for (; number > 0; number = r->n->list.v[number - 1].up)
		vec_push(&r->above, number);
	for (size_t i = r->above.n; i-- > 0;) {
		struct str name = label_of(r, &r->n->list.v[r->above.v[i] - 1]);

		if (i + 1 < r->above.n)
			buf_putc(&r->path, '/');
		buf_put(&r->path, name.p, name.len);
	}
	return buf_str(&r->path);
}

static struct cell
cell_instance(const struct row *r)
{
	int64_t n;

	if (r->mod != NULL &&
	    num_i64(module_instance(dict_get(r->m->dict, r->mod->name)), &n))
		return cell_int(n);
	return cell_none();
}

/* What runs in modules only, where no op has a model, can't be had. */
static struct cell
cell_of_flops(struct row *r, enum field f)
{
	const struct node *node = r->node;
	const struct flops *fl = &node->flops;
	double ns = (double)node->sum_ns;

	if (fl->nops == 0 && f != F_NO_MODEL)
		return cell_none();
	switch (f) {
	case F_GFLOP: return cell_real(fl->flops / 1e9);
	case F_TFLOPS:
		/* a FLOP a ns is a thousandth of a TFLOP a second */
		return ns > 0 ? cell_real(fl->flops / ns / 1e3) : cell_none();
	case F_MIB: return cell_real(fl->bytes / 1048576);
	case F_TBS:
		return ns > 0 ? cell_real(fl->bytes / ns / 1e3) : cell_none();
	case F_PCT_MODEL:
		return ns > 0 ? cell_real(100 * (double)fl->known_ns / ns)
			      : cell_none();
	default: break;
	}
	if (node->none == 0)
		return cell_none();
	r->path.len = 0;
	for (uint32_t i = node->none; i > 0; i = r->n->nones.v[i - 1].next) {
		buf_putc(&r->path, r->path.len == 0 ? '[' : ',');
		json_put_string(
		    &r->path, dict_get(r->m->dict, r->n->nones.v[i - 1].name));
	}
	buf_putc(&r->path, ']');
	return cell_text(table_text(r->table, buf_str(&r->path)));
}

/* Of one call, or of the first one. */
static struct cell
cell_of_module(const struct row *r, enum field f)
{
	const struct module *mod = r->mod;

	if (mod == NULL)
		return cell_none();
	switch (f) {
	case F_INSTANCE: return cell_instance(r);
	case F_UID: return cell_uid(r->table, mod->uid);
	case F_PARENT:
		return mod->up > 0
		    ? cell_uid(r->table, r->m->list.v[mod->up - 1].uid)
		    : cell_none();
	case F_TS: return cell_int(mod->ts_ns);
	case F_CPU: return cell_int(mod->dur_ns);
	case F_INSTANCES: return cell_int((int64_t)r->node->instances);
	case F_CALLS: return cell_int((int64_t)r->node->calls);
	case F_MEAN:
		return cell_real(
		    (double)r->node->sum_ns / (double)r->node->calls);
	case F_MIN: return cell_int(r->node->min_ns);
	case F_MAX: return cell_int(r->node->max_ns);
	case F_TYPE:
		return cell_text(module_type(dict_get(r->m->dict, mod->name)));
	default: return cell_none();
	}
}

static struct cell
cell_of(struct row *r, enum field f)
{
	const struct node *node = r->node;
	const struct sink_source *o = &r->m->sources.list.v[node->source];

	switch (f) {
	case F_RANK: return o->has_rank ? cell_int(o->rank) : cell_none();
	case F_SRC: return cell_int(o->no);
	case F_DEPTH: return cell_int(node->level);
	case F_MODULE: return cell_text(label_of(r, node));
	case F_GPU:
	case F_GPU_SUM: return cell_int(node->sum_ns);
	case F_SELF:
	case F_SELF_SUM: return cell_int(node->self_ns);
	case F_NON_MODULE: return cell_time(node->non_module_ns);
	case F_BWD: return cell_time(node->bwd_ns);
	case F_GFLOP:
	case F_TFLOPS:
	case F_MIB:
	case F_TBS:
	case F_PCT_MODEL:
	case F_NO_MODEL: return cell_of_flops(r, f);
	case F_PCT_PARENT: return cell_real(node_pct_parent(r->n, node));
	case F_PCT_ROOT: return cell_real(node_pct_root(r->n, node));
	case F_PCT_BUSY: return cell_real(node_pct_busy(r->m, node));
	case F_KERNELS: return cell_int((int64_t)node->kernels);
	case F_PATH: return cell_text(path_of(r));
	case F_TYPE:
		if (node->type == NODE_OUTSIDE)
			return cell_text(STR(OUTSIDE_LABEL));
		return cell_of_module(r, f);
	default: return cell_of_module(r, f);
	}
}

void
rows_print(struct settings *set, const struct modules *m, const struct nodes *n)
{
	struct row r = { .m = m, .n = n };
	struct plan p;
	struct table *t;

	make_plan(&p, set, sink_sources_lead(&m->sources));
	column_of_uids(p.columns, p.n, "uid", m->any_inst);
	column_of_uids(p.columns, p.n, "parent_uid", m->any_inst);
	t = r.table = table_create(table_name(set), p.columns, p.n);
	note_unlinked(t, &m->sources, "module");
	for (size_t i = 0; i < n->list.n; i++) {
		struct cell *cells = table_row(t);

		r.node = &n->list.v[i];
		r.mod = r.node->type == NODE_MODULE ? &m->list.v[r.node->first]
						    : NULL;
		for (size_t k = 0; k < p.n; k++)
			cells[k] = cell_of(&r, p.fields[k]);
	}
	table_print(t, &set->dest);
	table_destroy(t);
	table_dest_finish(&set->dest);
	buf_free(&r.path);
	vec_free(&r.above);
}

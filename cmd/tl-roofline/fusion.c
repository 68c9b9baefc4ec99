/* SPDX-License-Identifier: MIT */
/*
 * Chains of ops that one kernel could do: successive on a GPU stream, with a
 * model but no matrix product, and with as many elements, so that each could
 * take from a register what the one before wrote to memory. The fused kernel
 * moves the bytes of all their models, but for what each writes and the next
 * one reads of it: it reads what the first reads and what else the others read,
 * and writes what the last writes. Its time is the longer of memory and
 * arithmetic plus 15 % of the shorter, as they do not overlap fully. What that
 * saves of the ops' rooflines is scaled to their measured time: the fused
 * kernel is assumed as far from the roof as they are.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/tl-roofline/fusion.h"
#include "cmd/tl-roofline/roof.h"
#include "sink/cells.h"
#include "trace/stat.h"
#include "json/json.h"

#define OPS_MAX 15
#define GAP_NS 1000000 /* longer gaps have causes that fusing leaves */
#define NOT_HIDDEN 0.15

/* A call on a GPU stream. */
struct link {
	const struct call *call;
	uint32_t lane;
	int64_t start_ns, end_ns;
	double elements; /* of its largest tensor; 0: in no chain */
};
typedef VEC(struct link) link_vec;

/* Chains of the same ops and shapes. */
struct chain {
	uint32_t names, dims;
	uint32_t nops;
	enum roof roof;
	int64_t count, kernels, ns;
	double roof_ns, fused_ns, saved_ns; /* roof_ns: sum over the ops */
	struct uid uid;
};

struct chains {
	struct intern *keys;
	VEC(struct chain) list; /* indexed by keys */
	struct map fused;       /* kernel name to is_fused() */
};

/* ---- which calls ---- */

/* Elements of the largest shape in a list, however deep. */
static double
most_elements(struct str dims)
{
	double most = 0, product = 0;
	bool is_open = false;

	for (size_t i = 0; i < dims.len; i++) {
		char c = dims.p[i];

		if (c == '[') {
			product = 1;
			is_open = false;
		} else if (c >= '0' && c <= '9') {
			double n = 0;

			for (; i < dims.len && dims.p[i] >= '0' &&
			     dims.p[i] <= '9';
			     i++)
				n = 10 * n + (dims.p[i] - '0');
			i--;
			product *= n;
			is_open = true;
		} else if (c == ']' && is_open) {
			most = product > most ? product : most;
			is_open = false;
		}
	}
	return most;
}

/* Whether a kernel does several steps already. */
static bool
is_fused(struct str name)
{
	static const char *const words[] = { "attn_fwd", "attn_bwd", "fmha",
		"unified_attention", "paged_attention", "flash_attn",
		"flash_fwd", "silu_and_mul" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_find(name, str_of(words[i]), true) >= 0)
			return true;
	return false;
}

/* is_fused(), computed once per name. */
static bool
is_fused_kernel(
    const struct roof_state *g, struct chains *all, const struct work *w)
{
	bool is_new;
	uint64_t *known = map_put(&all->fused, w->name, &is_new);

	if (is_new)
		*known = is_fused(dict_get(g->sink.dict, w->name));
	return *known != 0;
}

static bool
can_fuse(const struct roof_state *g, struct chains *all, const struct call *c)
{
	const struct model_result *r = c->res;

	if (c->table != TABLE_UNIFIED || c->nkernels == 0 || r == NULL ||
	    r->status != MODEL_OK || !(r->bytes > 0) || isnan(model_read(r)) ||
	    str_starts(r->spec, STR("matrix")) || c->args.dims == INTERN_NONE ||
	    c->is_over_link)
		return false;
	for (size_t i = 0; i < c->nkernels; i++)
		if (is_fused_kernel(
			g, all, &g->works.v[g->lists.v[c->first_kernel + i]]))
			return false;
	return true;
}

static void
add_link(const struct roof_state *g, struct chains *all, link_vec *links,
    struct intern *lanes, const struct call *c)
{
	const struct work *first = &g->works.v[g->lists.v[c->first_kernel]];
	const int64_t lane[] = { first->source, first->dev.type, first->dev.n,
		first->gpu_stream.type, first->gpu_stream.n };
	struct link *l = vec_add(links);

	*l = (struct link){ .call = c,
		.lane = intern_put(
		    lanes, (struct str){ (const char *)lane, sizeof lane }),
		.start_ns = first->ts_ns,
		.end_ns = work_end(first) };
	for (size_t i = 1; i < c->nkernels; i++) {
		const struct work *w =
		    &g->works.v[g->lists.v[c->first_kernel + i]];

		l->start_ns = w->ts_ns < l->start_ns ? w->ts_ns : l->start_ns;
		l->end_ns = work_end(w) > l->end_ns ? work_end(w) : l->end_ns;
	}
	if (!can_fuse(g, all, c))
		return;
	l->elements = most_elements(dict_get(g->sink.dict, c->args.dims));
}

static int
by_lane(const void *x, const void *y)
{
	const struct link *a = x, *b = y;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return 0;
}

/* Bytes that a writes and b reads of them, at most: fused, both are spared. */
static double
passed_on(const struct link *a, const struct link *b)
{
	return fmin(model_read(b->call->res), a->call->res->effect.written);
}

static bool
follows(const struct link *b, const struct link *a)
{
	return b->lane == a->lane && b->elements > 0 &&
	    b->elements == a->elements && b->start_ns >= a->end_ns &&
	    b->start_ns - a->end_ns <= GAP_NS && passed_on(a, b) > 0;
}

/* ---- what one would take ---- */

/* NAN: the GPU's figures are unknown. roof_us: sum of the ops' rooflines. */
static double
fused_us(
    const struct roof_state *g, const struct link *l, size_t n, double *roof_us)
{
	double memory = 0, compute = 0;

	*roof_us = 0;
	for (size_t i = 0; i < n; i++) {
		const struct model_result *r = l[i].call->res;
		struct roofline rf = roofline_of(g->arch, g->roof, r);
		double kept = r->bytes;

		*roof_us += rf.time_us;
		if (i > 0)
			kept -= passed_on(&l[i - 1], &l[i]);
		if (i < n - 1)
			kept -= passed_on(&l[i], &l[i + 1]);
		memory += rf.memory_us * (kept / r->bytes);
		if (rf.compute_us > 0)
			compute += rf.compute_us;
	}
	return isnan(memory)
	    ? NAN
	    : fmax(memory, compute) + NOT_HIDDEN * fmin(memory, compute);
}

/* ---- chains ---- */

static void
add_chain(
    struct roof_state *g, struct chains *all, const struct link *l, size_t n)
{
	double roof_us, us = fused_us(g, l, n, &roof_us);
	struct buf names = { 0 };
	struct chain *c;
	int64_t ns = 0;
	uint32_t key[2], id;

	if (isnan(us) || !(roof_us > 0))
		return;
	for (size_t i = 0; i < n; i++) {
		struct str name = dict_get(g->sink.dict, l[i].call->name);

		buf_puts(&names, i > 0 ? " > " : "");
		buf_put(&names, name.p, name.len);
		stat_add(&ns, l[i].call->busy_ns);
	}
	key[0] = intern_put(g->sink.dict->text, buf_str(&names));
	key[1] = l[0].call->args.dims;
	id = intern_put(
	    all->keys, (struct str){ (const char *)key, sizeof key });
	if (id == all->list.n)
		vec_push(&all->list,
		    ((struct chain){ .names = key[0],
			.dims = key[1],
			.nops = (uint32_t)n,
			.roof =
			    roofline_of(g->arch, g->roof, l[0].call->res).roof,
			.uid = l[0].call->rec.uid }));
	c = &all->list.v[id];
	c->count++;
	stat_add(&c->ns, ns);
	for (size_t i = 0; i < n; i++)
		c->kernels += l[i].call->nkernels;
	c->roof_ns += roof_us * 1e3;
	c->fused_ns += us * 1e3;
	c->saved_ns += fmax(0, (double)ns * (1 - us / roof_us));
	buf_free(&names);
}

static void
find_chains(struct roof_state *g, struct chains *all)
{
	struct intern *lanes = intern_create();
	struct extent e = calls_of(g, TABLE_UNIFIED);
	link_vec links = { 0 };

	for (size_t i = e.first; i < e.end; i++)
		if (call_number(g, i)->table == TABLE_UNIFIED &&
		    call_number(g, i)->nkernels > 0)
			add_link(g, all, &links, lanes, call_number(g, i));
	stable_sort(links.v, links.n, sizeof *links.v, by_lane);
	for (size_t i = 0, n; i < links.n; i += n) {
		for (n = 1; i + n < links.n && n < OPS_MAX &&
		     links.v[i].elements > 0 &&
		     follows(&links.v[i + n], &links.v[i + n - 1]);
		     n++)
			;
		if (n > 1)
			add_chain(g, all, &links.v[i], n);
	}
	vec_free(&links);
	intern_destroy(lanes);
}

/* ---- the table ---- */

static const struct column columns[] = {
	{ "chain", NULL, COL_TEXT, UNIT_NONE, COL_NAME, 0 },
	{ "input_dims", "Input Dims", COL_JSON, UNIT_NONE, 0, 0 },
	{ "ops", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "kernels", NULL, COL_INT, UNIT_COUNT, COL_MINOR, 0 },
	{ "kernel_ns_sum", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "roofline_ns_sum", NULL, COL_REAL, UNIT_NS, COL_MINOR, 0 },
	{ "fused_ns_sum", NULL, COL_REAL, UNIT_NS, 0, 0 },
	{ "saved_ns_sum", NULL, COL_REAL, UNIT_NS, COL_SHARE, 0 },
	{ "roof", NULL, COL_TEXT, UNIT_NONE, COL_MINOR, 0 },
	{ "first_uid", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0 },
};
#define NCOLUMNS (sizeof columns / sizeof *columns)

static int
by_saving(const void *x, const void *y)
{
	const struct chain *a = x, *b = y;

	if (a->saved_ns != b->saved_ns)
		return a->saved_ns > b->saved_ns ? -1 : 1;
	return 0;
}

static void
put_chain(const struct roof_state *g, struct table *t, const struct chain *c)
{
	struct cell *row = table_row(t);

	row[0] = cell_string(g->sink.dict, c->names);
	row[1] = cell_string(g->sink.dict, c->dims);
	row[2] = cell_int(c->nops);
	row[3] = cell_int(c->count);
	row[4] = cell_int(c->kernels);
	row[5] = cell_int(c->ns);
	row[6] = cell_real(c->roof_ns);
	row[7] = cell_real(c->fused_ns);
	row[8] = cell_real(c->saved_ns);
	row[9] = cell_string(g->sink.dict, g->roofs[c->roof]);
	row[10] = cell_uid(t, c->uid);
}

/* A folder gets the table only if it has rows. */
void
fusion_print(struct sink *s, const struct sink_plan *p)
{
	struct roof_state *g = (struct roof_state *)s;
	struct chains all = { .keys = intern_create() };
	struct column own[NCOLUMNS];
	struct table *t;
	bool any_inst = false;

	if (g->arch != NULL)
		find_chains(g, &all);
	stable_sort(all.list.v, all.list.n, sizeof *all.list.v, by_saving);
	for (size_t i = 0; i < all.list.n; i++)
		any_inst |= all.list.v[i].uid.inst != 0;
	memcpy(own, columns, sizeof own);
	column_of_uids(own, NCOLUMNS, "first_uid", any_inst);
	t = table_create(p->table->name, own, NCOLUMNS);
	for (size_t i = 0; i < all.list.n; i++)
		put_chain(g, t, &all.list.v[i]);
	if (all.list.n > 0 || s->dest.dir == NULL)
		table_print(t, &s->dest);
	table_destroy(t);
	vec_free(&all.list);
	map_free(&all.fused);
	intern_destroy(all.keys);
}

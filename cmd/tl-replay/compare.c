/* SPDX-License-Identifier: MIT */
/*
 * Results of a script against the recording, by op and by kernel. Other kernels
 * are the op's difference: another one was chosen. What the same kernels take
 * more in the trace is due to their surroundings: a cold cache, which a second
 * result with --flush-mb shows, or clocks, overlapping work and data.
 */
#include <math.h>

#include "cmd/tl-replay/compare.h"
#include "json/json.h"

#define SAME_PCT 5 /* smaller gaps have no finding */

/* ---- reading ---- */

static struct str
slurp(struct arena *mem, const char *path)
{
	struct in *in = in_open(path);
	struct str text;

	while (in_more(in))
		;
	text = arena_str(mem,
	    (struct str){ (const char *)in->p, (size_t)(in->end - in->p) });
	in_close(in);
	return text;
}

static double
number(const json_items *of, const char *key)
{
	double v;

	return num_double(json_member_text(of, str_of(key)), &v) ? v : NAN;
}

static void
read_kernels(struct replay *g, struct result *r, struct str list)
{
	json_items items = { 0 }, one = { 0 };

	r->has_kernels = json_split(&items, g->mem, list);
	r->first_kernel = g->replayed.n;
	for (size_t i = 0; i < items.n; i++) {
		uint32_t name;

		if (!json_split(&one, g->mem, items.v[i].text))
			continue;
		name = intern_put(
		    g->sink.dict->text, json_member_text(&one, STR("name")));
		*map_put(&g->replayed_of, name_key(g->results.n, name), NULL) =
		    g->replayed.n;
		vec_push(&g->replayed,
		    ((struct replayed){ name, number(&one, "us") * 1e3 }));
	}
	r->nkernels = g->replayed.n - r->first_kernel;
	vec_free(&items);
	vec_free(&one);
}

static void
read_result(
    struct replay *g, const char *path, const json_items *of, enum cache cache)
{
	struct uid_pick pick;
	struct result r = {
		.path = path,
		.name = json_member_text(of, STR("op_name")),
		.status = json_member_text(of, STR("status")),
		.reason = json_member_text(of, STR("reason")),
		.ns = number(of, "replayed_us") * 1e3,
	};

	if (!uid_pick_read(json_member_text(of, STR("uid")), &pick))
		die("%s: these are no results of a script of tl-replay", path);
	read_kernels(g, &r, json_member_text(of, STR("kernels")));
	vec_push(&g->results, r);
	*map_put(&g->result_of[cache], choose_uid(g, &pick), NULL) =
	    g->results.n;
}

void
compare_read(struct replay *g, const char *path)
{
	json_items all = { 0 }, ops = { 0 }, op = { 0 };
	const struct json_item *list;
	enum cache cache;

	if (!json_split(&all, g->mem, slurp(g->mem, path)) ||
	    (list = json_member(&all, STR("ops"))) == NULL ||
	    !json_split(&ops, g->mem, list->text))
		die("%s: these are no results of a script of tl-replay", path);
	cache = number(&all, "flush_mb") > 0 ? COLD : WARM;
	if (g->result_of[cache].n > 0)
		die("%s: of two results one is with --flush-mb", path);
	g->replay_device = json_member_text(&all, STR("device"));
	for (size_t i = 0; i < ops.n; i++)
		if (json_split(&op, g->mem, ops.v[i].text))
			read_result(g, path, &op, cache);
	vec_free(&all);
	vec_free(&ops);
	vec_free(&op);
}

const struct result *
compare_result(const struct replay *g, const struct run *r, enum cache cache)
{
	const uint64_t *at =
	    choose_find(&g->result_of[cache], r->rec.source, r->rec.uid);

	const struct result *result;
	struct str name = dict_get(g->sink.dict, r->name);

	if (at == NULL)
		return NULL;
	result = &g->results.v[*at - 1];
	if (!str_eq(result->name, name))
		die("%s: uid %" PRIu64 " is %.*s there, %.*s in the trace: "
		    "results of another one?",
		    result->path, r->rec.uid.id, (int)result->name.len,
		    result->name.p, (int)name.len, name.p);
	return result;
}

/* ---- kernels ---- */

struct kernel_pair
compare_kernel(const struct replay *g, const struct op *op, uint32_t name)
{
	struct kernel_pair p = { NAN, { NAN, NAN } };
	const uint64_t *at =
	    map_get(&g->sum_of, name_key((size_t)(op - g->ops.v), name));

	if (at != NULL)
		p.recorded_ns =
		    (double)g->sums.v[*at].dur_ns / (double)op->nruns;
	for (int c = 0; c < CACHES; c++) {
		if (op->results[c] == NULL)
			continue;
		at = map_get(&g->replayed_of,
		    name_key((size_t)(op->results[c] - g->results.v), name));
		if (at != NULL)
			p.replayed_ns[c] = g->replayed.v[*at].ns;
	}
	return p;
}

/* The result to compare: of a warm cache, if there is one. */
static const struct result *
main_result(const struct op *op)
{
	return op->results[WARM] != NULL ? op->results[WARM]
					 : op->results[COLD];
}

static double
replayed_of(const struct op *op, const struct kernel_pair *p)
{
	return p->replayed_ns[op->results[WARM] != NULL ? WARM : COLD];
}

/* Adds the time of its kernels in a call. */
static void
add_recorded(const struct replay *g, const struct op *op, struct comparison *c)
{
	for (size_t i = 0; i < op->nsums; i++) {
		const struct kernel_sum *k = &g->sums.v[op->first_sum + i];
		struct kernel_pair p = compare_kernel(g, op, k->name);

		c->recorded_ns += p.recorded_ns;
		if (isnan(replayed_of(op, &p))) {
			c->nrecorded_only++;
			c->others_ns += p.recorded_ns;
		} else {
			c->cache_ns +=
			    p.replayed_ns[COLD] - p.replayed_ns[WARM];
		}
	}
}

static void
add_replayed(const struct replay *g, const struct op *op, struct comparison *c)
{
	const struct result *r = main_result(op);

	for (size_t i = 0; i < r->nkernels; i++) {
		const struct replayed *k = &g->replayed.v[r->first_kernel + i];
		struct kernel_pair p = compare_kernel(g, op, k->name);

		c->replayed_ns += k->ns;
		if (isnan(p.recorded_ns)) {
			c->nreplayed_only++;
			c->others_ns -= k->ns;
		}
	}
}

struct comparison
compare_op(const struct replay *g, const struct op *op)
{
	struct comparison c = { 0 };
	const struct result *r = main_result(op);

	add_recorded(g, op, &c);
	if (r == NULL || !r->has_kernels) {
		c.replayed_ns = c.others_ns = c.cache_ns = NAN;
		return c;
	}
	add_replayed(g, op, &c);
	if (op->results[WARM] == NULL || op->results[COLD] == NULL)
		c.cache_ns = NAN;
	c.idle_ns = r->ns > c.replayed_ns ? r->ns - c.replayed_ns : 0;
	return c;
}

/* ---- what it says ---- */

static void
put_gap(const struct op *op, const struct comparison *c, struct buf *out)
{
	double gap = c->recorded_ns - c->replayed_ns;

	if (c->nrecorded_only + c->nreplayed_only > 0)
		buf_printf(out,
		    "other kernels: %zu only recorded, %zu only replayed",
		    c->nrecorded_only, c->nreplayed_only);
	else if (fabs(gap) * 100 <= c->recorded_ns * SAME_PCT)
		buf_printf(out, "as recorded, within %d %%", SAME_PCT);
	else if (gap < 0)
		buf_puts(
		    out, "same kernels, faster in the trace: data or clocks");
	else if (isnan(c->cache_ns))
		buf_puts(out,
		    "same kernels, slower in the trace: cache, clocks or "
		    "overlapping work");
	else
		buf_printf(out,
		    "same kernels, slower in the trace: cold cache %.0f %% of "
		    "it, clocks or overlapping work the rest",
		    fmin(100, fmax(0, c->cache_ns / gap * 100)));
	if (main_result(op) == op->results[WARM] && c->idle_ns > c->replayed_ns)
		buf_puts(out, "; launch-bound when replayed");
}

void
compare_finding(const struct replay *g, const struct op *op,
    const struct comparison *c, struct buf *out)
{
	const struct result *r = main_result(op);
	struct str device = dict_get(g->sink.dict, g->device);

	if (r == NULL) {
		buf_puts(out, "not in the results");
		return;
	}
	if (!str_eq(r->status, STR("ok"))) {
		buf_put(out, r->status.p, r->status.len);
		buf_puts(out, ": ");
		buf_put(out, r->reason.p, r->reason.len);
		return;
	}
	if (device.len > 0 && !str_eq(device, g->replay_device))
		buf_printf(out, "recorded on %.*s, replayed on %.*s; ",
		    (int)device.len, device.p, (int)g->replay_device.len,
		    g->replay_device.p);
	if (r->has_kernels)
		put_gap(op, c, out);
	else
		buf_puts(out, "no kernels in the results: replay on a GPU");
}

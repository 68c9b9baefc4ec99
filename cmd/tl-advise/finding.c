/* SPDX-License-Identifier: MIT */
/* Findings: ranked by gain, shared time, limits. */
#include "trace/stat.h"

#include "cmd/tl-advise/advise.h"

/* false: a fact is missing. */
static bool
say(struct advice *a, struct str *to, struct str text, const struct facts *f)
{
	struct buf b = { 0 };
	bool is_whole = rule_say(&b, text, f);

	*to = arena_str(a->mem, buf_str(&b));
	buf_free(&b);
	return is_whole;
}

void
uids_put(struct buf *b, struct str uid, size_t n)
{
	int64_t id;

	buf_puts(b, n > 0 ? "," : "[");
	if (num_i64(uid, &id))
		buf_put(b, uid.p, uid.len);
	else /* several instances */
		json_put_string(b, uid);
}

/* As JSON list; a cell may be one. */
static struct str
uids_of(struct advice *a, const struct rule *r, const struct facts *f)
{
	const struct cell *v = fact_of(f, r->uid.len > 0 ? r->uid : STR("uid"));
	struct buf b = { 0 };
	struct str s = STR("");

	if (v == NULL || (v->type != CELL_INT && v->type != CELL_TEXT))
		return s;
	if (v->type == CELL_TEXT && str_starts(v->text, STR("[")))
		return arena_str(a->mem, v->text);
	if (v->type == CELL_INT)
		buf_printf(&b, "[%" PRId64, v->i);
	else
		uids_put(&b, v->text, 0);
	buf_putc(&b, ']');
	s = arena_str(a->mem, buf_str(&b));
	buf_free(&b);
	return s;
}

/*
 * Where launches bound the time, shorter GPU work may save nothing: the GPU
 * waits for the next launch.
 */
static bool
is_behind_host(const struct advice *a, const struct finding *f)
{
	return a->bound.is_launch && str_starts(f->claims, STR("gpu/"));
}

/* false: the rule's text lacks a fact. */
static bool
take(
    struct advice *a, const struct rule *r, const struct facts *f, int64_t rows)
{
	struct finding g = { .rule = r, .rows = rows, .most_ns = -1 };

	if (!say(a, &g.insight, r->insight, f) ||
	    !say(a, &g.action, r->action, f))
		return false;
	if (r->gain.len > 0) {
		rule_gains(r, f, g.gain_ns);
		if (g.gain_ns[HIGH] <= 0)
			return true;
		g.has_gain = true;
	}
	(void)say(a, &g.category, r->category, f);
	(void)say(a, &g.confidence, r->confidence, f);
	(void)say(a, &g.claims, r->claims, f);
	if (f->is_bound && str_eq(g.confidence, STR("high")))
		g.confidence = STR("medium");
	g.uids = uids_of(a, r, f);
	g.table = arena_str(a->mem, f->table);
	if (g.has_gain && is_behind_host(a, &g)) {
		g.gain_ns[LOW] = 0;
		g.confidence = STR("low");
	}
	vec_push(&a->findings, g);
	return true;
}

void
advice_take(struct advice *a, const struct facts *f, int64_t rows)
{
	for (size_t i = 0; i < a->rules.list.n; i++) {
		const struct rule *r = &a->rules.list.v[i];

		if (str_eq(r->table, f->table) && rule_fits(r, f) &&
		    take(a, r, f, rows) && !r->also)
			return;
	}
}

/* ---- order ---- */

/*
 * Largest gain first, findings without one last, ties in the order of rules and
 * rows, so that the order of tables does not matter.
 */
static int
by_gain(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;

	if (a->has_gain != b->has_gain)
		return a->has_gain ? -1 : 1;
	for (size_t i = 0; i < GAINS; i++) {
		int64_t x = a->gain_ns[(MID + i) % GAINS];
		int64_t y = b->gain_ns[(MID + i) % GAINS];

		if (x != y)
			return x > y ? -1 : 1;
	}
	if (a->rule != b->rule)
		return a->rule < b->rule ? -1 : 1;
	return 0;
}

/* "host" includes "host/python"; blanks separate several. */
static bool
share_one(struct str a, struct str b)
{
	struct str least = a.len < b.len ? a : b, most = a.len < b.len ? b : a;

	return str_starts(most, least) &&
	    (most.len == least.len || most.p[least.len] == '/');
}

static bool
share(struct str a, struct str b)
{
	const char *as = a.p, *bs;
	struct str x, y;

	if (a.len == 0 || b.len == 0)
		return false;
	while (str_next(&as, '\n', &x)) {
		bs = b.p;
		while (str_next(&bs, '\n', &y))
			if (share_one(x, y))
				return true;
	}
	return false;
}

/* The window of the steps, or of GPU work if longer. */
int64_t
advice_window(const struct advice *a)
{
	return a->window_ns > a->total_ns ? a->window_ns : a->total_ns;
}

static void
drop_small(struct advice *a)
{
	struct finding *v = a->findings.v;
	size_t n = 0;

	for (size_t i = 0; i < a->findings.n; i++)
		if (!v[i].has_gain ||
		    100 * (double)v[i].gain_ns[MID] >=
			v[i].rule->least * (double)advice_window(a))
			v[n++] = v[i];
	a->findings.n = n;
}

void
advice_finish(struct advice *a)
{
	struct finding *v = a->findings.v;

	drop_small(a);
	returns_apply(a);
	stable_sort(v, a->findings.n, sizeof *v, by_gain);
	for (size_t i = 0; i < a->findings.n; i++) {
		v[i].place = i + 1;
		for (size_t k = 0; v[i].has_gain && k < i; k++)
			if (v[i].overlaps == 0 &&
			    share(v[i].claims, v[k].claims))
				v[i].overlaps = k + 1;
	}
}

/* Fusion and comparison: other views of time that other findings claim. */
static bool
is_another_view(const struct finding *f)
{
	return str_eq(f->rule->section, STR("fusion")) ||
	    str_eq(f->rule->section, STR("comparison"));
}

/* Guesses are not summed. */
static bool
is_summed(const struct finding *f)
{
	return f->overlaps == 0 && !is_another_view(f) &&
	    !str_eq(f->confidence, STR("low"));
}

int64_t
advice_sum(const struct advice *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->findings.n; i++)
		if (is_summed(&a->findings.v[i]))
			stat_add(&sum, a->findings.v[i].gain_ns[MID]);
	return sum;
}

/* ---- what must be true of them ---- */

static noreturn void
die_of_gain(const char *name, struct str who, int64_t gain_ns, int64_t most_ns)
{
	struct buf b = { 0 };

	put_time(&b, gain_ns);
	buf_puts(&b, " of ");
	put_time(&b, most_ns);
	die("%s: %.*s would save %.*s: its tables or the rules contradict each "
	    "other",
	    name, (int)who.len, who.p, (int)b.len, b.p);
}

/* No gain exceeds the window, nor does the sum without shared time. */
void
advice_keep_laws(const struct advice *a, const char *name)
{
	int64_t window = advice_window(a), sum = 0;
	int64_t most = num_add_max(window, window / SEAM_PARTS);

	for (size_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.v[i];

		if (is_another_view(f))
			continue;
		if (f->gain_ns[HIGH] > most)
			die_of_gain(
			    name, f->rule->name, f->gain_ns[HIGH], window);
		if (is_summed(f))
			sum = num_add_max(sum, f->gain_ns[MID]);
	}
	if (a->late.rank.len == 0)
		most -= a->missing_ns;
	if (sum > most)
		die_of_gain(name, STR("all findings together"), sum, window);
}

void
advice_free(struct advice *a)
{
	vec_free(&a->findings);
	vec_free(&a->ops);
	vec_free(&a->timelines);
	vec_free(&a->changes);
	vec_free(&a->chains);
	vec_free(&a->categories);
	vec_free(&a->sum.parts);
	vec_free(&a->late.ranks);
	budgets_free(&a->budgets);
	rules_free(&a->rules);
	arena_destroy(a->mem);
}

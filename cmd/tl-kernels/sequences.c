/* SPDX-License-Identifier: MIT */
/*
 * Sequences of kernels that recur: candidates for fusion. Either all that ran
 * below ops of a name (--op), or runs of kernels on a GPU stream. Each place of
 * one becomes a record, so that the sink makes the rows.
 */
#include <stdlib.h>

#include "cmd/tl-kernels/kernels.h"
#include "cmd/tl-kernels/runs.h"
#include "trace/stat.h"

/* Longer gaps between kernels have causes that fusion does not remove. */
#define GAP_NS 1000000

/* ---- kernels below an op ---- */

static int
by_start(const void *x, const void *y)
{
	const struct gpu_work *a = *(const struct gpu_work *const *)x;
	const struct gpu_work *b = *(const struct gpu_work *const *)y;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

/* Ops are numbered from above, but heard of from below: those that were below
 * this one come last. */
static void
drop_below(struct sequences *q, uint64_t number)
{
	while (q->list.n > 0 && q->list.v[q->list.n - 1].number > number)
		q->names.n = q->records.n = q->list.v[--q->list.n].first;
}

/* A gap, or 0 if negative. */
static int64_t
gap_of(int64_t end, int64_t start)
{
	int64_t gap;

	if (__builtin_sub_overflow(start, end, &gap))
		die("GPU events span more than 292 years");
	return gap > 0 ? gap : 0;
}

static void
add_sequence(struct kernels *k, const struct launcher *o,
    const struct gpu_work *const *work, size_t n)
{
	struct sequence s = { .source = k->sink.source,
		.op = o->name,
		.op_ns = o->dur_ns,
		.uid = o->uid,
		.track = o->track,
		.ts_ns = o->ts_ns,
		.number = o->number,
		.first = k->sequences.names.n,
		.length = (uint32_t)n };
	int64_t end = work[0]->ts_ns;

	for (size_t i = 0; i < n; i++) {
		const struct gpu_work *g = work[i];

		vec_push(&k->sequences.names, g->name);
		vec_push(&k->sequences.records,
		    g->kind == KIND_KERNEL ? (uint32_t)g->extra : INTERN_NONE);
		stat_add(&s.dur_ns, g->dur_ns);
		stat_add(&s.gap_ns, gap_of(end, g->ts_ns));
		if (num_add_max(g->ts_ns, g->dur_ns) > end)
			end = num_add_max(g->ts_ns, g->dur_ns);
		/* a graph launch has several */
		if (i > 0 && g->launch_ns != work[i - 1]->launch_ns)
			stat_add(&s.launch_ns,
			    gap_of(g->launch_ns, g->launch_end_ns));
	}
	vec_push(&k->sequences.list, s);
}

void
sequences_op(struct kernels *k, const struct launcher *o)
{
	const struct gpu_work **work;
	struct str op;

	if (k->sequences.op == NULL || o->kind != KIND_OP)
		return;
	k->sequences.nops++;
	op = str_of(k->sequences.op);
	if (!there_glob(&k->sequences.there, &op, 1, k->sink.dict, o->name))
		return;
	k->sequences.nmet++;
	drop_below(&k->sequences, o->number);
	if (o->nbelow < k->sequences.min)
		return;
	work = xmalloc(o->nbelow * sizeof *work);
	for (size_t i = 0; i < o->nbelow; i++)
		work[i] = &o->below[i];
	qsort(work, o->nbelow, sizeof *work, by_start);
	add_sequence(k, o, work, o->nbelow);
	free(work);
}

/* ---- runs on a GPU stream ---- */

/* A kernel, or an event that ends a sequence. */
struct seq_item {
	uint32_t lane;   /* GPU stream of a device of a source */
	uint32_t record; /* or INTERN_NONE */
	int64_t ts_ns;
	struct uid uid;
};
typedef VEC(struct seq_item) seq_item_vec;

void
sequences_stop(struct kernels *k, const struct event *ev)
{
	if (k->sequences.is_asked)
		vec_push(&k->sequences.stops,
		    ((struct stop){ ev->uid, k->sink.source, ev->dev,
			ev->gpu_stream, ev->ts_ns }));
}

static uint32_t
lane_of(struct intern *lanes, uint32_t source, struct key dev, struct key lane)
{
	const int64_t id[] = { source, dev.type, dev.n, lane.type, lane.n };

	return intern_put(lanes, (struct str){ (const char *)id, sizeof id });
}

static int
item_cmp(const void *x, const void *y)
{
	const struct seq_item *a = x, *b = y;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return uid_cmp(a->uid, b->uid);
}

static void
collect_items(struct kernels *k, seq_item_vec *items)
{
	struct intern *lanes = intern_create();

	for (uint32_t i = 0; i < k->sink.records.n; i++) {
		const struct kernel *one = sink_record(&k->sink, i);
		bool is_comm = bucket_slow(&k->sink.rules, k->sink.dict,
				   KIND_KERNEL, one->name) == BUCKET_COMM;

		vec_push(items,
		    ((struct seq_item){ lane_of(lanes, one->rec.source,
					    one->dev, one->gpu_stream),
			is_comm ? INTERN_NONE : i, one->rec.ts_ns,
			one->rec.uid }));
	}
	for (size_t i = 0; i < k->sequences.stops.n; i++) {
		const struct stop *s = &k->sequences.stops.v[i];

		if (k->sink.sources.list.v[s->source].is_asked)
			vec_push(items,
			    ((struct seq_item){ lane_of(lanes, s->source,
						    s->dev, s->gpu_stream),
				INTERN_NONE, s->ts_ns, s->uid }));
	}
	intern_destroy(lanes);
	stable_sort(items->v, items->n, sizeof *items->v, item_cmp);
}

static void
add_place(struct kernels *k, const uint32_t *records, uint32_t n)
{
	const struct kernel *first = sink_record(&k->sink, records[0]);
	struct sequence s = { .uid = first->rec.uid,
		.source = first->rec.source,
		.track = first->rec.track,
		.ts_ns = first->rec.ts_ns,
		.op = INTERN_NONE,
		.first = k->sequences.names.n,
		.length = n,
		.launch_ns = SINK_NONE };

	for (uint32_t i = 0; i < n; i++) {
		const struct kernel *one = sink_record(&k->sink, records[i]);
		const struct kernel *last =
		    i > 0 ? sink_record(&k->sink, records[i - 1]) : NULL;

		vec_push(&k->sequences.names, one->name);
		vec_push(&k->sequences.records, records[i]);
		stat_add(&s.dur_ns, one->dur_ns);
		if (last == NULL)
			continue;
		stat_add(&s.gap_ns,
		    gap_of(num_add_max(last->rec.ts_ns, last->dur_ns),
			one->rec.ts_ns));
		if (one->launch_ns == SINK_NONE ||
		    key_eq(one->corr, last->corr))
			continue; /* a graph launch has several */
		if (s.launch_ns == SINK_NONE)
			s.launch_ns = 0;
		stat_add(&s.launch_ns, one->launch_ns);
	}
	vec_push(&k->sequences.list, s);
}

/* What fusing two neighbours would save besides the gap, whatever else is in
 * their run: nothing is known of ops of several kernels, which it may cut. */
static int64_t
spared_ns(struct kernels *k, uint32_t a, uint32_t b)
{
	struct traffic t;

	return spared_between(k, (uint32_t[]){ a, b }, 2, 1, &t) == SPARED_KNOWN
	    ? t.ns
	    : 0;
}

static void
find_runs(struct kernels *k)
{
	seq_item_vec items = { 0 };
	run_place_vec places = { 0 };
	VEC(uint32_t) records = { 0 }, symbols = { 0 };
	VEC(int64_t) weights = { 0 };
	struct map symbol_of = { 0 };
	const struct kernel *last = NULL;
	uint32_t lane = 0, nsymbols = 0;

	collect_items(k, &items);
	for (size_t i = 0; i < items.n; i++) {
		const struct seq_item *it = &items.v[i];
		const struct kernel *one = it->record != INTERN_NONE
		    ? sink_record(&k->sink, it->record)
		    : NULL;
		uint64_t *symbol;
		bool is_new;

		if (one != NULL && weights.n > 0 && last != NULL &&
		    it->lane == lane) {
			int64_t gap =
			    gap_of(num_add_max(last->rec.ts_ns, last->dur_ns),
				one->rec.ts_ns);

			if (gap < GAP_NS)
				weights.v[weights.n - 1] = gap +
				    spared_ns(k, records.v[records.n - 1],
					it->record);
		}
		last = one;
		lane = it->lane;
		if (one == NULL)
			continue;
		symbol = map_put(&symbol_of, one->name, &is_new);
		if (is_new)
			*symbol = nsymbols++;
		vec_push(&records, it->record);
		vec_push(&symbols, (uint32_t)*symbol);
		vec_push(&weights, RUNS_BREAK);
	}
	if (records.n > INT32_MAX)
		die("more than %d kernels", INT32_MAX);
	(void)runs_find(symbols.v, nsymbols, weights.v, (uint32_t)records.n,
	    k->sequences.min, k->sequences.max, &places);
	for (size_t i = 0; i < places.n; i++)
		add_place(k, records.v + places.v[i].first, places.v[i].length);
	map_free(&symbol_of);
	vec_free(&items);
	vec_free(&places);
	vec_free(&records);
	vec_free(&symbols);
	vec_free(&weights);
}

/* ---- records ---- */

/* Its names, as one text of the dictionary. */
static uint32_t
text_of(struct kernels *k, const struct sequence *s, struct buf *b)
{
	const struct dict *st = k->sink.dict;

	b->len = 0;
	for (uint32_t i = 0; i < s->length; i++) {
		struct str name =
		    dict_get(st, k->sequences.names.v[s->first + i]);

		if (i > 0)
			buf_puts(b, " | ");
		buf_put(b, name.p, name.len);
	}
	return intern_put(st->text, buf_str(b));
}

static bool
is_one_lane(const struct kernel *a, const struct kernel *b)
{
	return key_eq(a->dev, b->dev) && key_eq(a->gpu_stream, b->gpu_stream);
}

/* Sums what is known of its neighbours, and counts what the others lack. */
static void
add_spared(struct kernels *k, struct sequence *s, struct kernel *one)
{
	const uint32_t *records = &k->sequences.records.v[s->first];

	one->spared_bytes = SINK_NONE;
	one->saved_ns = one->gap_ns;
	for (uint32_t i = 1; i < s->length; i++) {
		struct traffic t;
		enum spared_lack lack;

		if (records[i - 1] == INTERN_NONE || records[i] == INTERN_NONE)
			continue; /* a copy */
		if (!is_one_lane(sink_record(&k->sink, records[i - 1]),
			sink_record(&k->sink, records[i])))
			continue;
		lack = spared_between(k, records, s->length, i, &t);
		s->pairs[lack]++;
		if (lack != SPARED_KNOWN)
			continue;
		if (one->spared_bytes == SINK_NONE)
			one->spared_bytes = 0;
		stat_add(&one->spared_bytes, t.bytes);
		stat_add(&one->saved_ns, t.ns);
	}
}

struct cell
sequences_reason(const struct sink_row *r)
{
	const struct kernels *k = kernels_of(r->sink);
	uint64_t pairs[SPARED_LACKS] = { 0 }, all = 0;
	bool is_first = true;

	for (size_t i = 0; i < r->group->n; i++) {
		const struct kernel *one = sink_row_record(r, i);

		for (int l = 0; l < SPARED_LACKS; l++)
			pairs[l] += k->sequences.list.v[one->place].pairs[l];
	}
	for (int l = 0; l < SPARED_LACKS; l++)
		all += pairs[l];
	r->text->len = 0;
	for (int l = SPARED_KNOWN + 1; l < SPARED_LACKS; l++) {
		if (pairs[l] == 0)
			continue;
		buf_printf(
		    r->text, "%s%" PRIu64, is_first ? "" : "; ", pairs[l]);
		if (is_first)
			buf_printf(r->text, " of %" PRIu64 " pair%s", all,
			    all == 1 ? "" : "s");
		buf_printf(r->text, ": %s", spared_words[l]);
		is_first = false;
	}
	if (!spared_has_rate(k) && (r->group->summed & 1U << M_BYTES) != 0 &&
	    r->group->sums[M_BYTES] > 0)
		buf_printf(r->text,
		    "%smemory bandwidth unknown: name the GPU with --arch",
		    is_first ? "" : "; ");
	return r->text->len > 0 ? sink_row_text(r) : cell_none();
}

static noreturn void
die_no_op(struct kernels *k)
{
	struct sink *s = &k->sink;
	const char *path = s->sources.path;

	if (k->sequences.nops > 0)
		die_nothing(
		    MSG_NO_SUCH_OP, path, there_str(&k->sequences.there));
	if (sink_sources_sum(&s->sources).nops == 0)
		die_nothing(MSG_NO_OPS, path, s->nevents);
	select_end(&s->select);
	die_nothing(MSG_NO_GPU_OPS, path, select_there(&s->select));
}

void
sequences_finish(struct kernels *k)
{
	struct buf text = { 0 };

	if (!k->sequences.is_asked)
		return;
	if (k->sequences.op == NULL)
		find_runs(k);
	else if (k->sequences.nmet == 0)
		die_no_op(k);
	for (size_t i = 0; i < k->sequences.list.n; i++) {
		struct sequence *s = &k->sequences.list.v[i];
		struct kernel *one = sink_add(&k->sink);

		*one = (struct kernel){
			.rec = { s->uid, s->source, s->track, s->ts_ns },
			.name = text_of(k, s, &text),
			.op = s->op,
			.class = INTERN_NONE,
			.category = INTERN_NONE,
			.length = s->length,
			.place = (uint32_t)i,
			.dur_ns = s->dur_ns,
			.gap_ns = s->gap_ns,
			.launch_ns = s->launch_ns,
			.op_ns = s->op_ns,
		};
		add_spared(k, s, one);
	}
	buf_free(&text);
}

void
sequences_free(struct kernels *k)
{
	vec_free(&k->sequences.list);
	there_free(&k->sequences.there);
	vec_free(&k->sequences.stops);
	vec_free(&k->sequences.names);
	vec_free(&k->sequences.records);
	spared_free(&k->sequences.spared);
}

/* SPDX-License-Identifier: MIT */
/*
 * What is built from a stream after its decoder, on hostile records: links, the
 * tree, and from it host activity, launches, waits, steps and the account of
 * idle time. The input is a stream; the mutator changes its records and repairs
 * lengths, counts and checksums. NDJSON must give the same.
 */
#include "tests/fuzz/streams.h"
#include "trace/account.h"
#include "trace/host.h"
#include "trace/launches.h"
#include "trace/tree.h"
#include "trace/waits.h"

#include "trace/link.h"

/* The result of a stream. */
struct outcome {
	bool is_good;
	uint64_t nevents, hash;
};

/* Outside of what a jump back from die() loses. */
static struct {
	struct dict *dict;
	struct stream_in *in;
	struct store *store;
	struct host host;
	struct steps steps;
	struct waits waits;
	struct launches launches;
	struct gaps gaps;
	VEC(uint32_t) gpus;
	struct causes *causes;
	struct outcome seen;
	/* of the current source */
	VEC(bool) visited;
	uint32_t depth;
	bool is_ours; /* the tree, and none that the stream has */
} run;

static void
see(uint64_t v)
{
	run.seen.hash = hash_mix(run.seen.hash ^ v, HASH_K0);
}

/* Each once, and in pre-order. */
static void
visit(void *arg, uint32_t i, uint32_t depth, enum section section)
{
	struct event ev;

	(void)arg;
	CHECK(i < run.visited.n && !run.visited.v[i]);
	run.visited.v[i] = true;
	store_event(run.store, i, &ev);
	ev.depth = depth;
	CHECK(ev.dur_ns >= 0);
	if (section == SECTION_TREE) {
		CHECK(!run.is_ours || depth <= run.depth + 1);
		run.depth = depth;
	}
	see((uint64_t)section << 32 | depth);
	see(uid_hash(ev.uid));
	see(ev.shape->kind);
	see((uint64_t)ev.ts_ns);
	see((uint64_t)ev.dur_ns);
	see(ev.shape->has);
	if ((ev.shape->has & HAS_PARENT) != 0)
		see(uid_hash(ev.parent));
	if ((ev.shape->has & HAS_LAUNCH) != 0)
		see(uid_hash(ev.launch));
	see(ev.ndesc);
	see(ev.ngpu);
	run.seen.nevents++;
	host_add(&run.host, &ev);
	waits_take(&run.waits, run.dict, &ev);
}

static void
look_at_host(void)
{
	struct account account;

	host_ready(&run.host);
	waits_find(&run.waits, &run.host);
	steps_find(&run.steps, &run.host, NULL, 0);
	steps_find_gpu(&run.steps, &run.host);
	run.gpus.n = 0;
	for (uint32_t i = 0; i < run.host.gpus.n; i++)
		vec_push(&run.gpus, i);
	account_find(&account, &run.gaps, &run.host, run.gpus.v, run.gpus.n,
	    &run.steps, NULL);
	for (int i = 0; i < ACCOUNT_COUNT; i++) {
		CHECK(account.ns[i] >= 0);
		CHECK(account.inferred_ns[i] <= account.ns[i]);
		see((uint64_t)account.ns[i]);
	}
	launches_find(&run.launches, &run.host, run.gpus.v, run.gpus.n);
	launches_starve(&run.launches, &run.host, &run.gaps);
	CHECK(run.launches.gpus.n <= run.gpus.n);
}

static void
look_at_source(unsigned marks)
{
	struct link_stats links = { 0 };
	struct tree_stats stats = { 0 };
	uint32_t n = store_count(run.store);

	run.is_ours = (marks & MARK_TREE) == 0;
	if ((marks & (MARK_LINKED | MARK_TREE)) == 0)
		store_link(run.store, LINK_DEFAULT, &links);
	if (run.is_ours)
		tree_build(run.store, &(struct tree_opts){ 0 }, &stats);
	if ((marks & (MARK_LINKED | MARK_TREE)) == 0)
		store_link_backward(run.store, &links);
	n = store_count(run.store); /* it may have added some */
	run.visited.n = 0;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&run.visited, false);
	run.depth = 0;
	host_start(&run.host, run.dict, run.causes);
	waits_start(&run.waits);
	tree_visit(run.store, visit, NULL);
	for (uint32_t i = 0; i < n; i++)
		CHECK(run.visited.v[i]);
	look_at_host();
	host_free(&run.host);
}

static struct outcome
build(const struct buf *text)
{
	run.seen = (struct outcome){ 0 };
	run.dict = dict_create();
	run.causes = causes_create();
	run.store = NULL;
	run.in = NULL;
	if (setjmp(on_death) == 0) {
		unsigned marks;

		run.in = stream_open_in(in_open_mem(text->p, text->len, "fuzz"),
		    run.dict, WANT_STREAM);
		marks = run.in->marks;
		run.store = store_create(run.dict);
		while (store_read(run.store, run.in))
			look_at_source(marks);
		run.seen.is_good = true;
	}
	if (run.store != NULL)
		store_destroy(run.store);
	if (run.in != NULL)
		stream_close(run.in);
	host_free(&run.host);
	steps_free(&run.steps);
	waits_free(&run.waits);
	launches_free(&run.launches);
	gaps_free(&run.gaps);
	causes_destroy(run.causes);
	dict_destroy(run.dict);
	return run.seen;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct forms f = { 0 };

	if (forms_read(&f, data, size)) {
		struct outcome binary = build(&f.binary);
		struct outcome ndjson = build(&f.ndjson);

		/* for a tree in lines a reader checks the parents, too */
		CHECK(!f.is_same || binary.is_good || !ndjson.is_good);
		CHECK(!f.is_same || ndjson.is_good == binary.is_good ||
		    f.has_tree);
		CHECK(!f.is_same || !ndjson.is_good ||
		    binary.hash == ndjson.hash);
	}
	forms_free(&f);
	return 0;
}

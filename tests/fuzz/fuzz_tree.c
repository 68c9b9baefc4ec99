/* SPDX-License-Identifier: MIT */
/*
 * What is built of a stream behind its decoder, over hostile records: links,
 * the tree, and of it what hosts did, launches, waits, steps and the account of
 * idle time. The input is a stream; the mutator changes its records and repairs
 * lengths, counts and checksums. As NDJSON it must come to the same.
 */
#include "stream/ndjson.h"
#include "tests/fuzz/death.h"
#include "tests/fuzz/records.h"
#include "trace/account.h"
#include "trace/host.h"
#include "trace/launches.h"
#include "trace/tree.h"
#include "trace/waits.h"

#include "trace/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* What a stream comes to. */
struct outcome {
	bool is_good;
	uint64_t nevents, hash;
};

/* Beside the jump back from die(). */
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
	/* of the source at hand */
	VEC(bool) visited;
	uint32_t depth;
	uint32_t nsources;
	bool has_tree; /* of the stream that became NDJSON */
	bool is_ours;  /* the tree, and none that the stream has */
} run;

static void
see(uint64_t v)
{
	run.seen.hash = hash_mix(run.seen.hash ^ v, HASH_K0);
}

/* Visited once, and in pre-order. */
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
	(void)steps_infer(&run.steps, &run.host);
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

/* False: it is no whole stream. */
static bool
as_ndjson(const struct buf *text, struct buf *lines)
{
	enum item item;

	run.dict = dict_create();
	run.in = NULL;
	run.nsources = 0;
	if (setjmp(on_death) != 0) {
		if (run.in != NULL)
			stream_close(run.in);
		dict_destroy(run.dict);
		return false;
	}
	run.in = stream_open_in(
	    in_open_mem(text->p, text->len, "fuzz"), run.dict, WANT_STREAM);
	ndjson_put_header(lines, run.in->marks, run.in->prov, run.in->nprov);
	while ((item = stream_next(run.in)) != ITEM_END)
		switch (item) {
		case ITEM_EVENT:
			ndjson_put_event(lines, run.dict, &run.in->ev);
			break;
		case ITEM_SOURCE:
			run.nsources += run.in->source.is_final;
			ndjson_put_source(lines, &run.in->source);
			break;
		case ITEM_META: ndjson_put_meta(lines, &run.in->meta); break;
		case ITEM_SECTION:
			ndjson_put_section(lines, run.in->section);
			break;
		case ITEM_END: break;
		}
	run.has_tree = (run.in->marks & MARK_TREE) != 0;
	ndjson_put_end(lines, run.in->nevents, run.nsources, run.in->marks);
	stream_close(run.in);
	dict_destroy(run.dict);
	return true;
}

static void
pad(struct buf *b)
{
	buf_room(b, IN_PAD);
	memset(b->p + b->len, 0, IN_PAD);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream_parts parts = { 0 };
	struct buf text = { 0 }, lines = { 0 }, again = { 0 };
	bool is_stream = parts_read(&parts, data, size);

	parts_free(&parts);
	if (!is_stream) /* of other bytes a program would ask tl-decode */
		return 0;
	buf_put(&text, data, size);
	pad(&text);
	if (as_ndjson(&text, &lines)) {
		struct outcome binary = build(&text), ndjson;

		pad(&lines);
		ndjson = build(&lines);
		/* hostile text may change once on the way through NDJSON */
		if (!as_ndjson(&lines, &again))
			CHECK(run.has_tree);
		if (again.len != lines.len ||
		    memcmp(again.p, lines.p, lines.len) != 0)
			binary = ndjson;
		/* of lines of a tree a reader checks the parents, too */
		CHECK(binary.is_good || !ndjson.is_good);
		CHECK(ndjson.is_good == binary.is_good || run.has_tree);
		CHECK(!ndjson.is_good || binary.hash == ndjson.hash);
	}
	buf_free(&text);
	buf_free(&lines);
	buf_free(&again);
	return 0;
}

size_t
LLVMFuzzerCustomMutator(
    uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct stream_parts parts = { 0 };
	struct buf out = { 0 };
	uint64_t state = seed;

	if (parts_read(&parts, data, size)) {
		parts_change(&parts, &state);
		parts_write(&parts, &out);
		if (out.len <= max_size && out.len > 0) {
			memcpy(data, out.p, out.len);
			size = out.len;
		}
	}
	parts_free(&parts);
	buf_free(&out);
	return size;
}

/* SPDX-License-Identifier: MIT */
/*
 * tl-export: a stream as a file for other programs. A sink: it reads its inputs
 * once, and holds one event at a time, or one source with --sort id.
 */
#include "cmd/tl-export/export.h"
#include "trace/select.h"
#include "trace/store.h"

#include <stdlib.h>

enum {
	OPT_FLOWS = OPT_LONG,
	OPT_FUSE,
	OPT_GZIP,
	OPT_OBJECT,
	OPT_PIDS,
	OPT_SORT,
	OPT_WITH_TREE,
};

static const struct opt options[] = {
	{ OPT_FLOWS, "flows", NULL,
	    "draw arrows from our links instead of the trace's own" },
	{ OPT_FUSE, "fuse", NULL,
	    "one process per rank for GPU and CPU; events keep rank and ids" },
	{ OPT_GZIP, "gzip", "[LEVEL]",
	    "compress with gzip, as -o FILE.gz does" },
	{ OPT_OBJECT, "object", NULL,
	    "write an object even if the source was a bare array" },
	{ 'o', "output", "FILE", "write to FILE, complete or not at all" },
	{ OPT_PIDS, "pids", "shift|keep",
	    "process ids of the second and later sources (shift)" },
	OPT_SELECT_WITH("TIME", "only from TIME after the first event",
	    "chrome|perfetto|TIME", "format (chrome), or: only up to TIME"),
	{ OPT_SORT, "sort", "stream|id", "order of events (stream)" },
	{ OPT_WITH_TREE, "with-tree", NULL,
	    "add owner, launch and depth as arguments tl.*" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	{ 'z', "zstd", "[LEVEL]", "compress with zstd, as -o FILE.zst does" },
	OPT_SELECT_HINT,
	OPT_END,
};

static const struct about about = {
	.purpose = "write a stream as a trace for viewers",
	.synopsis = "[OPTIONS] [FILE...]",
	.example = "tl-filter --step 3 t.tl | tl-export -o step3.json.gz",
};

/* ---- options ---- */

static void
set_pack(struct settings *set, const struct optparse *op, enum pack pack)
{
	if (set->pack != PACK_BY_NAME && set->pack != pack)
		die_usage("--gzip and --zstd exclude each other");
	set->pack = pack;
	if (op->arg != NULL)
		set->level = (int)opt_int(op, 1, pack == PACK_GZIP ? 9 : 19);
}

/* Takes a format, or a time, which begins with a digit. */
static void
take_to(struct settings *set, const struct optparse *op)
{
	static const char *const formats[] = { "chrome", "perfetto", NULL };

	if (op->arg[0] >= '0' && op->arg[0] <= '9')
		(void)select_front_opt(&set->select, op, OPT_SELECT_TO);
	else
		set->perfetto = opt_word(op, formats) == 1;
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const pids[] = { "shift", "keep", NULL };
	static const char *const orders[] = { "stream", "id", NULL };

	switch (ch) {
	case OPT_FLOWS: set->flows = true; break;
	case OPT_FUSE: set->fuse = true; break;
	case OPT_GZIP: set_pack(set, op, PACK_GZIP); break;
	case OPT_OBJECT: set->object = true; break;
	case 'o': set->path = op->arg; break;
	case OPT_PIDS: set->keep_pids = opt_word(op, pids) == 1; break;
	case OPT_SORT: set->sort_id = opt_word(op, orders) == 1; break;
	case OPT_SELECT_TO: take_to(set, op); break;
	case OPT_WITH_TREE: set->with_tree = true; break;
	case 'v': set->verbose = true; break;
	case 'z': set_pack(set, op, PACK_ZSTD); break;
	default: (void)select_front_opt(&set->select, op, ch); break;
	}
}

/* ---- reading ---- */

static void
pass_on(struct chrome *x, struct stream_in *in)
{
	enum item item;

	chrome_input(x, in);
	while ((item = stream_next(in)) != ITEM_END) {
		switch (item) {
		case ITEM_EVENT: chrome_event(x, &in->ev); break;
		case ITEM_SOURCE: chrome_source(x, &in->source); break;
		case ITEM_META: chrome_meta(x, &in->meta); break;
		default: break;
		}
	}
}

struct place_of_id {
	uint64_t id;
	uint32_t inst;
	uint32_t at; /* in the store */
};

static int
by_id(const void *pa, const void *pb)
{
	const struct place_of_id *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* A tree has an order of its own. */
static struct place_of_id *
ids_in_order(struct store *store)
{
	uint32_t n = store_count(store);
	struct place_of_id *v = xmalloc(n * sizeof *v + 1);
	bool is_sorted = true;

	for (uint32_t i = 0; i < n; i++) {
		struct event ev;

		store_event(store, i, &ev);
		v[i] = (struct place_of_id){ ev.uid.id, ev.uid.inst, i };
		is_sorted &= i == 0 || by_id(&v[i - 1], &v[i]) < 0;
	}
	if (!is_sorted)
		qsort(v, n, sizeof *v, by_id);
	return v;
}

/* Passes each source on, its events by id. */
static void
pass_on_sorted(struct chrome *x, struct stream_in *in)
{
	struct store *store = store_create(in->dict);

	chrome_input(x, in);
	while (store_read(store, in)) {
		struct place_of_id *v = ids_in_order(store);
		const struct meta *metas;
		struct event ev;
		size_t n;

		chrome_source(x, store_source(store));
		metas = store_metas(store, &n);
		for (size_t i = 0; i < n; i++)
			chrome_meta(x, &metas[i]);
		for (uint32_t i = 0; i < store_count(store); i++) {
			store_event(store, v[i].at, &ev);
			chrome_event(x, &ev);
		}
		vec_release(v);
	}
	store_destroy(store);
}

static uint64_t
read_file(const struct settings *set, struct chrome *x, struct perfetto *p,
    const char *path, uint32_t *nsources)
{
	struct stream_in *in = select_front_open(&set->select, path, NULL,
	    set->with_tree                    ? WANT_TREE
		: set->flows || set->perfetto ? WANT_LINKED
					      : WANT_STREAM,
	    *nsources);
	uint64_t nevents;

	if (set->perfetto)
		perfetto_input(p, in);
	else if (set->sort_id)
		pass_on_sorted(x, in);
	else
		pass_on(x, in);
	nevents = in->nevents;
	*nsources += in->source.src + 1;
	stream_close(in);
	return nevents;
}

static void
summarise(uint64_t nevents, uint64_t nbytes, double start_s)
{
	double wall = sys_wall_s() - start_s;

	note("%" PRIu64 " events, %" PRIu64
	     " bytes, %.3f s, %.3f s CPU, %.0f MB/s, %.1f MB",
	    nevents, nbytes, wall, sys_cpu_s(),
	    wall > 0 ? (double)nbytes / wall / 1e6 : 0,
	    (double)sys_peak_bytes() / 1e6);
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct optparse op;
	const char *path;
	struct sink *sink;
	uint64_t nevents = 0, nbytes;
	uint32_t nsources = 0;
	double start_s = sys_wall_s();
	struct perfetto *p;
	struct chrome *x;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	stream_unite(&op);
	set.ninputs = op.ind < op.argc ? op.argc - op.ind : 1;
	set.select.is_several = set.ninputs > 1;
	if (set.fuse && set.keep_pids)
		die_usage(
		    "--fuse numbers processes itself: not with --pids keep");
	set.object |= set.fuse;
	if (set.perfetto && (set.object || set.sort_id))
		die_usage("--fuse, --object and --sort are for --to chrome");

	sink = sink_open(&set);
	x = set.perfetto ? NULL : chrome_create(&set, sink);
	p = set.perfetto ? perfetto_create(&set, sink) : NULL;
	while ((path = opt_file(&op)) != NULL)
		nevents += read_file(&set, x, p, path, &nsources);
	select_front_end(&set.select);
	if (set.perfetto)
		perfetto_finish(p);
	else
		chrome_finish(x);
	nbytes = sink_finish(sink);
	if (set.verbose)
		summarise(nevents, nbytes, start_s);
	return exit_status();
}

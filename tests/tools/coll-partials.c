/* SPDX-License-Identifier: MIT */
/*
 * coll-partials: the partials of a large job, for tests of scale.
 *
 *	usage: coll-partials DIR RANKS COLLECTIVES
 *
 * Writes DIR/part.RANK.tl as tl-collective --partial would, without traces.
 *Half of the collectives are of all ranks, the others of groups of eight (a
 *node). All ranks leave a collective together. The others' starts are spread
 *over 50 us; rank 5 starts each of the world's 400 us after them, and its GPU
 *is busy for 300 of these. A collective takes 200 us once the last rank is
 *there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "stream/stream.h"

#define NODE 8
#define STEP_NS 2000000
#define LATE_RANK 5

struct maker {
	struct dict *st;
	struct stream_out *out;
	int64_t rank, nranks, ncolls;
	uint32_t shape, track;
	struct value sigs[2];
	uint32_t name;
	struct buf vals;
};

/* A list as Kineto writes it: of more than 30 the first ones and the last. */
static void
put_ranks(struct buf *b, int64_t first, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (n > 30 && i == 29) {
			buf_printf(b, ", ..., %" PRId64, first + n - 1);
			return;
		}
		buf_printf(b, "%s%" PRId64, i > 0 ? ", " : "", first + i);
	}
}

static struct value
signature(struct maker *m, bool is_world)
{
	int64_t n = is_world || m->nranks < NODE ? m->nranks : NODE;
	int64_t first = is_world ? 0 : m->rank / NODE * NODE;
	struct value v = { .type = VAL_JSON };
	struct buf b = { 0 };

	if (first + n > m->nranks)
		n = m->nranks - first;
	if (is_world)
		buf_puts(&b, "[\"0\",\"[");
	else
		buf_printf(&b, "[\"%" PRId64 "\",\"[", 1 + first / NODE);
	put_ranks(&b, first, n);
	buf_printf(&b,
	    "]\",\"allreduce\",%" PRId64
	    ",\"BFloat16\",%d,%d,\"[]\",\"[]\",20,\"%s\",null,"
	    "\"ncclDevKernel_AllReduce_Sum_bf16_RING_LL\"]",
	    n, is_world ? 1048576 : 65536, is_world ? 1048576 : 65536,
	    is_world ? "default_pg" : "tp");
	v.id = intern_put(m->st->text, buf_str(&b));
	v.s = intern_get(m->st->text, v.id);
	buf_free(&b);
	return v;
}

static void
prepare(struct maker *m)
{
	static const char *const words[] = { "sig", "seq", "busy", "idle",
		"work", "elsewhere" };
	struct entry e[6];
	struct shape s = { .has = HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME,
		.kind = KIND_KERNEL,
		.ph = 'X',
		.flags = SHAPE_ARGS,
		.entries = e,
		.nentries = 6 };
	struct track t = { .src = 0,
		.raw_pid = { .type = VAL_INT, .i = m->rank },
		.raw_tid = { .type = VAL_INT, .i = 0 },
		.has_pid = true,
		.has_tid = true };

	for (size_t i = 0; i < 6; i++)
		e[i] =
		    (struct entry){ intern_put(m->st->text, str_of(words[i])),
			    i == 0 ? VAL_JSON : VAL_INT, GROUP_ARGS, 0, 0 };
	s.cat = intern_put(m->st->text, STR("kernel"));
	m->name = intern_put(
	    m->st->text, STR("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"));
	m->shape = dict_shape(m->st, &s);
	m->track = dict_track(m->st, &t);
	m->sigs[0] = signature(m, true);
	m->sigs[1] = signature(m, false);
}

static void
write_source(struct maker *m, bool is_final)
{
	struct fact f[] = {
		{ STR("name"), { .type = VAL_STRX, .s = STR("generated") } },
		{ STR("collective"), { .type = VAL_INT, .i = 3 } },
		{ STR("rank"), { .type = VAL_INT, .i = m->rank } },
		{ STR("world_size"), { .type = VAL_INT, .i = m->nranks } },
		{ STR("ndevices"), { .type = VAL_INT, .i = NODE } },
	};

	stream_write_source(m->out,
	    &(struct source){ .is_final = is_final,
		.nfacts = sizeof f / sizeof *f,
		.facts = f });
}

static void
write_record(struct maker *m, int64_t no)
{
	bool is_late = no % 2 == 0 && m->rank == LATE_RANK;
	int64_t spread = (m->rank * 7919 + no * 104729) % 50000;
	int64_t start = is_late ? 450000 : spread;
	int64_t end = (no % 2 == 0 ? 450000 : 50000) + 200000;
	int64_t busy = is_late ? 1500000 : 1200000;
	/* from the end of its group's last one, two steps before */
	int64_t window = 2 * STEP_NS - (end - start);
	int64_t ints[] = { no / 2, busy, start / 2, 12345,
		window - busy - start / 2 };
	struct event ev = { .track = m->track,
		.uid = { (uint64_t)no, 0 },
		.ts_ns = no * STEP_NS + start,
		.dur_ns = end - start,
		.name = m->name,
		.shape_id = m->shape,
		.shape = m->st->shapes.v[m->shape] };

	m->vals.len = 0;
	value_encode(&m->vals, &m->sigs[no % 2]);
	for (size_t i = 0; i < 5; i++)
		value_encode(
		    &m->vals, &(struct value){ .type = VAL_INT, .i = ints[i] });
	ev.vals = (const unsigned char *)m->vals.p;
	ev.vals_len = m->vals.len;
	stream_write(m->out, &ev);
}

static void
write_rank(const char *dir, int64_t rank, int64_t nranks, int64_t ncolls)
{
	char path[4096];
	struct stream_dest dest = { .path = path };
	struct maker m = { .st = dict_create(),
		.rank = rank,
		.nranks = nranks,
		.ncolls = ncolls };

	snprintf(path, sizeof path, "%s/part.%" PRId64 ".tl", dir, rank);
	m.out = stream_create(&dest, m.st, NULL, MARK_EDITED, false);
	prepare(&m);
	write_source(&m, false);
	for (int64_t no = 0; no < ncolls; no++)
		write_record(&m, no);
	write_source(&m, true);
	stream_finish(m.out);
	dict_destroy(m.st);
	buf_free(&m.vals);
}

int
main(int argc, char *argv[])
{
	static const struct about about = { "partials of a large job",
		"DIR RANKS COLLECTIVES", "coll-partials parts 4096 1000" };
	static const struct opt options[] = { OPT_END };
	struct optparse op;
	int64_t nranks, ncolls;

	opt_start(&op, argc, argv, &about, options);
	while (opt_next(&op) != -1)
		;
	if (argc - op.ind != 3 || !num_i64(str_of(argv[op.ind + 1]), &nranks) ||
	    !num_i64(str_of(argv[op.ind + 2]), &ncolls) || nranks < 1 ||
	    ncolls < 1)
		die_usage("wanted: DIR RANKS COLLECTIVES");
	(void)mkdir(argv[op.ind], 0777);
	for (int64_t r = 0; r < nranks; r++)
		write_rank(argv[op.ind], r, nranks, ncolls);
	return exit_status();
}

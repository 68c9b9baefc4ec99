/* SPDX-License-Identifier: MIT */
/* API calls, GPU work and the arguments of collectives, as Kineto has them. */
#include "gen.h"

enum { CHUNK = 64 };

static void
split_list(struct emit *e, const struct coll *c, bool in)
{
	int64_t n = pg_size(e->cf, c->pg), r = e->cf->rank;

	PUT(e->b, "\"[");
	for (int64_t i = 0; c->type == COLL_ALLTOALLV && i < n; i++) {
		int64_t q = pg_member(e->cf, c->pg, r, i);

		if (i > 0)
			PUT(e->b, ", ");
		put_i64(e->b,
		    in ? coll_split(e->s, c, r, q) : coll_split(e->s, c, q, r));
	}
	PUT(e->b, "]\"");
}

static void
coll_args(struct emit *e, const struct coll *c)
{
	static const char *const desc[] = { "default_pg", "tp", "dp" };
	struct buf *b = e->b;
	int64_t name = pg_name(e->cf, c->pg, e->cf->rank);

	PUT(b, "\"Collective name\": \"");
	put_str(b, coll_name(c->type));
	PUT(b, "\", \"In msg nelems\": ");
	put_i64(b, c->in);
	PUT(b, ", \"Out msg nelems\": ");
	put_i64(b, c->out);
	PUT(b, ", \"Group size\": ");
	put_i64(b, pg_size(e->cf, c->pg));
	PUT(b, ", \"dtype\": \"BFloat16\", \"In split size\": ");
	split_list(e, c, true);
	PUT(b, ", \"Out split size\": ");
	split_list(e, c, false);
	PUT(b, ", \"Process Group Name\": \"");
	put_i64(b, name);
	PUT(b, "\", \"Process Group Description\": \"");
	put_str(b, desc[name == 0 ? PG_DEFAULT : c->pg]);
	PUT(b, "\", \"Process Group Ranks\": \"");
	put_str(b, e->pgtext[c->pg]);
	PUT(b, "\", \"Seq\": ");
	put_i64(b, c->seq);
	PUT(b, ", \"Comms Id\": ");
	put_u64(b, mix(e->cf->seed, 0x636f6dU + (uint64_t)name) >> 1);
}

void
comms_args(struct emit *e, const struct coll *c)
{
	struct buf *b = e->b;
	int64_t first = pg_member(e->cf, c->pg, e->cf->rank, 0);

	coll_args(e, c);
	PUT(b, ", \"Rank\": ");
	put_i64(b, e->cf->rank);
	PUT(b, ", \"Global rank start\": ");
	put_i64(b, first);
	PUT(b, ", \"Global rank stride\": ");
	put_i64(b, pg_member(e->cf, c->pg, e->cf->rank, 1) - first);
	PUT(b, ", ");
	if (e->cf->no_shapes)
		return;
	PUT(b,
	    "\"Input type\": [\"TensorList\", \"Scalar\"], "
	    "\"Concrete Inputs\": [\"\", \"");
	put_i64(b, c->seq);
	PUT(b, "\"], \"Input Strides\": [[[1]], []], \"Input Dims\": [[[");
	put_i64(b, c->in);
	PUT(b, "]], []], ");
}

static void
grid(struct buf *b, const struct ev *ev)
{
	PUT(b, ", \"grid\": [");
	put_i64(b, ev->grid);
	PUT(b, ", 1, 1], \"block\": [");
	put_i64(b, ev->u.kern->block);
	PUT(b, ", 1, 1]");
}

static void
rt_rocm(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;

	if (ev->u.kern != NULL) {
		PUT(b, ", \"kernel\": \"");
		put_str(
		    b, kern_name(e->cf, ev->u.kern, ev->flags & EVF_RENAMED));
		PUT(b, "\"");
		grid(b, ev);
		PUT(b, ", \"shared memory\": ");
		put_i64(b, ev->u.kern->shared);
	} else if (ev->a > 0) {
		PUT(b,
		    ", \"src\": \"0x7f31c0a00000\", \"dst\": "
		    "\"0x7f2e4c200000\", \"size\": \"");
		put_i64(b, ev->a);
		PUT(b, "\", \"kind\": \"");
		put_i64(b, ev->b != 0 ? 1 : 2);
		PUT(b, "\"");
	}
}

static void
emit_rt(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;
	int64_t t0, t1;

	times(e, ev, &t0, &t1);
	slice_head(e, ev, t0, t1);
	if (ev->ext > 0) {
		PUT(b, "\"External id\": ");
		put_i64(b, ev->ext);
		PUT(b, ",\n      ");
	}
	if (e->cf->cuda)
		PUT(b, "\"cbid\": ");
	else
		PUT(b, "\"cid\": ");
	put_i64(b, ev->module);
	PUT(b, ", \"correlation\": ");
	put_corr(e, ev->corr);
	if (!e->cf->cuda)
		rt_rocm(e, ev);
	slice_end(e);
	flow(e, ev, ev->flags & EVF_START, (uint64_t)ev->corr, "ac2g", t0);
}

/* bytes and bytes/ns, as both backends print them */
static void
transfer(struct emit *e, const struct ev *ev, int64_t dur)
{
	struct buf *b = e->b;
	bool text = quirk_on(e->cf, Q_STRING_BYTES);

	PUT(b, ", \"bytes\": ");
	put_fmt(b, text ? "\"%lld\"" : "%lld", (long long)ev->a);
	if (text)
		PUT(b, ", \"memory bandwidth (GB/s)\": \"N/A\"");
	else if (dur > 0) {
		PUT(b, ", \"memory bandwidth (GB/s)\": ");
		put_us(b, ev->a * 1000 / dur);
	}
}

static void
gpu_cuda(struct emit *e, const struct ev *ev, int64_t dur)
{
	struct buf *b = e->b;

	if (ev->kind != EV_KERNEL) {
		transfer(e, ev, dur);
		return;
	}
	PUT(b, ",\n      \"registers per thread\": ");
	put_i64(b, ev->u.kern->regs);
	PUT(b, ",\n      \"shared memory\": ");
	put_i64(b, ev->u.kern->shared);
	PUT(b, ",\n      \"blocks per SM\": ");
	put_us(b, (int64_t)ev->grid * 1000 / 132);
	PUT(b, ",\n      \"warps per SM\": ");
	put_us(b, (int64_t)ev->grid * ev->u.kern->block / 32 * 1000 / 132);
	grid(b, ev);
	PUT(b, ",\n      \"est. achieved occupancy %\": ");
	put_i64(b, ev->grid > 132 ? 63 : ev->grid * 63 / 132);
	if (ev->flags & EVF_GRAPH) {
		PUT(b, ", \"graph id\": 3, \"graph node id\": ");
		put_i64(b, ev->a);
	}
}

static void
gpu_rocm(struct emit *e, const struct ev *ev, int64_t dur)
{
	struct buf *b = e->b;

	PUT(b, ", \"kind\": \"");
	if (ev->kind == EV_KERNEL && ev->flags & EVF_GRAPH)
		PUT(b, "Dispatch Task\"");
	else if (ev->kind == EV_KERNEL)
		PUT(b, "Dispatch Kernel\"");
	else if (ev->kind == EV_MEMSET)
		PUT(b, "Device\"");
	else {
		put_str(b, ev->b != 0 ? "HtoD\"" : "DtoH\"");
		transfer(e, ev, dur);
	}
	if (ev->kind == EV_KERNEL && !(ev->flags & EVF_GRAPH))
		grid(b, ev);
}

static void
put_place(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;

	if (quirk_on(e->cf, Q_XPU)) {
		PUT(b, "\"device\": ");
		put_i64(b, e->device);
		put_fmt(b,
		    ", \"context\": \"0x55d1c0de\", \"sycl queue\": "
		    "\"0x55d1a%03d\", \"correlation\": ",
		    ev->stream);
		put_corr(e, ev->corr);
		return;
	}
	if (e->cf->cuda && ev->kind == EV_KERNEL)
		PUT(b, "\"queued\": 0, ");
	PUT(b, "\"device\": ");
	put_i64(b, e->device);
	if (e->cf->cuda)
		PUT(b, ", \"context\": 1,\n      \"stream\": ");
	else
		PUT(b, ", \"stream\": ");
	if (ev->kind == EV_SYNC && ev->a != 0)
		PUT(b, "4294967295");
	else
		put_i64(b, stream_id(e->cf, ev->stream));
	PUT(b, ", \"correlation\": ");
	put_corr(e, ev->corr);
}

static void
emit_gpu(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;
	int64_t t0, t1;

	times(e, ev, &t0, &t1);
	slice_head(e, ev, t0, t1);
	PUT(b, "\"External id\": ");
	put_i64(b, ev->ext);
	if (ev->kind == EV_GPUANN) {
		slice_end(e);
		return;
	}
	PUT(b, ",\n      ");
	if (ev->kind == EV_SYNC) {
		PUT(b, "\"cuda_sync_kind\": \"");
		put_str(b, ev->name);
		PUT(b, "\", ");
	}
	put_place(e, ev);
	if (ev->kind != EV_SYNC && !quirk_on(e->cf, Q_XPU)) {
		if (e->cf->cuda)
			gpu_cuda(e, ev, t1 - t0);
		else
			gpu_rocm(e, ev, t1 - t0);
	}
	if (ev->coll != 0 && !quirk_some(e, Q_BARE_NCCL, 3)) {
		PUT(b, ", ");
		coll_args(e, &e->s->coll[ev->coll - 1]);
	}
	slice_end(e);
	flow(e, ev, false, (uint64_t)ev->corr, "ac2g", t0);
}

static void
gpu_chunk(struct emit *e, size_t from, size_t to)
{
	const struct ev *ev = e->s->ev;
	size_t held = SIZE_MAX; /* quirk unordered: one waits for the next */

	for (size_t i = from; i < to; i++) {
		if (ev[i].kind < EV_KERNEL)
			continue;
		if (held == SIZE_MAX && quirk_some(e, Q_UNORDERED, 5)) {
			held = i;
			continue;
		}
		emit_gpu(e, &ev[i]);
		if (quirk_some(e, Q_DUP_GPU, 20))
			emit_gpu(e, &ev[i]);
		if (held != SIZE_MAX)
			emit_gpu(e, &ev[held]);
		held = SIZE_MAX;
	}
	if (held != SIZE_MAX)
		emit_gpu(e, &ev[held]);
}

/* API calls and GPU work interleaved in small runs, as buffers arrive. */
void
emit_activities(struct emit *e)
{
	const struct sim *s = e->s;

	for (size_t i = 0; i < s->nev; i += CHUNK) {
		size_t end = i + CHUNK < s->nev ? i + CHUNK : s->nev;

		for (size_t k = i; k < end; k++) {
			if (s->ev[k].kind == EV_RT)
				emit_rt(e, &s->ev[k]);
		}
		gpu_chunk(e, i, end);
	}
}

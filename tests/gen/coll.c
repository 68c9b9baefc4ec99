/* SPDX-License-Identifier: MIT */
/*
 * Collectives and process groups. The nominal plan gives each collective a slot
 * long enough for the job's latest rank; each rank's kernel is inside it. All
 * waiting has a cause: a late rank computes longer, its group waits in the
 * collective, and other ranks' hosts do the following work later.
 */
#include "gen.h"

enum {
	LINK_BYTES_PER_NS = 40,
	COLL_BASE_NS = 8000,
	END_SPREAD_NS = 600, /* ranks leave a collective within this */
};

/* With at least four ranks, pairs are TP groups, and DP joins their halves. */
int64_t
pg_size(const struct conf *cf, enum pg pg)
{
	if (pg == PG_DEFAULT)
		return cf->ranks;
	if (cf->ranks < 4 || cf->ranks % 2 != 0)
		return pg == PG_TP ? 1 : cf->ranks;
	return pg == PG_TP ? 2 : cf->ranks / 2;
}

int64_t
pg_member(const struct conf *cf, enum pg pg, int64_t rank, int64_t i)
{
	if (pg == PG_DEFAULT || pg_size(cf, pg) == cf->ranks)
		return i;
	if (pg == PG_TP)
		return pg_size(cf, pg) == 1 ? rank : rank / 2 * 2 + i;
	return rank % 2 + 2 * i;
}

/* Every group has a number of its own, as torch names them. */
int64_t
pg_name(const struct conf *cf, enum pg pg, int64_t rank)
{
	if (pg == PG_DEFAULT || pg_size(cf, pg) == cf->ranks)
		return 0;
	return pg == PG_TP ? 1 + rank / 2 : 1 + cf->ranks / 2 + rank % 2;
}

const char *
coll_name(enum coll_type t)
{
	switch (t) {
	case COLL_ALLREDUCE: return "allreduce";
	case COLL_ALLGATHER: return "_allgather_base";
	case COLL_REDUCESCATTER: return "_reduce_scatter_base";
	case COLL_BROADCAST: return "broadcast";
	case COLL_ALLTOALLV: return "all_to_allv";
	case COLL_COUNT: break;
	}
	return "";
}

/* Elements that one rank sends to another in an all_to_allv. */
int64_t
coll_split(const struct sim *s, const struct coll *c, int64_t from, int64_t to)
{
	int64_t n = pg_size(s->cf, c->pg);
	int64_t mean = s->cf->batch * s->cf->seq_len * s->cf->hidden / n;
	uint64_t h = mix(c->key, (uint64_t)(from * MAX_RANKS + to));

	return mean / 2 + (int64_t)(h % (uint64_t)(mean + 1));
}

int64_t
plant_value(const struct plant *p, int n, int64_t rank)
{
	for (int i = 0; i < n; i++) {
		if (p[i].rank == rank)
			return p[i].value;
	}
	return 0;
}

static int64_t
late(const struct sim *s, int64_t rank)
{
	return plant_value(s->cf->late, s->cf->nlate, rank);
}

static bool
dropped(const struct sim *s, int64_t number)
{
	for (int i = 0; i < s->cf->ndrop; i++) {
		if (s->cf->drop[i].rank == s->cf->rank &&
		    s->cf->drop[i].value == number)
			return true;
	}
	return false;
}

/* When the last rank of the group arrives. */
static int64_t
arrival(struct sim *s, enum pg pg, int64_t t)
{
	int64_t last = 0, n = pg_size(s->cf, pg);

	for (int64_t i = 0; s->want_gpu && i < n; i++) {
		int64_t q = pg_member(s->cf, pg, s->cf->rank, i);
		int64_t a = rank_time(&s->all[q], t) + late(s, q);

		last = a > last ? a : last;
	}
	return last;
}

static void
coll_sizes(const struct sim *s, struct coll *c, int64_t elems)
{
	int64_t n = pg_size(s->cf, c->pg);

	c->in = c->out = elems;
	if (c->type == COLL_ALLGATHER)
		c->in = elems / n;
	if (c->type == COLL_REDUCESCATTER)
		c->out = elems / n;
	if (c->type != COLL_ALLTOALLV)
		return;
	c->in = c->out = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t q = pg_member(s->cf, c->pg, s->cf->rank, i);

		c->in += coll_split(s, c, s->cf->rank, q);
		c->out += coll_split(s, c, q, s->cf->rank);
	}
}

/* The planted latest rank of a group, or of all: the same on all ranks. */
static int64_t
latest(const struct sim *s, enum pg pg, bool of_all)
{
	int64_t most = 0, n = pg_size(s->cf, pg);

	for (int i = 0; i < s->cf->nlate; i++) {
		const struct plant *p = &s->cf->late[i];
		bool is_in = of_all;

		for (int64_t k = 0; !is_in && k < n; k++)
			is_in = pg_member(s->cf, pg, s->cf->rank, k) == p->rank;
		if (is_in && p->value > most)
			most = p->value;
	}
	return most;
}

/* The kernel: starts at this rank's time, ends with the group. */
static void
coll_kernel(struct sim *s, uint32_t index, int64_t elems, bool blocking)
{
	const struct coll *c = &s->coll[index - 1];
	const struct kern *k = &kerns[K_NCCL + (int)c->type];
	int64_t own = late(s, s->cf->rank);
	int64_t net = COLL_BASE_NS + 2 * elems / LINK_BYTES_PER_NS;
	int64_t slack = latest(s, PG_DEFAULT, true);
	int64_t waits = latest(s, c->pg, false), t;
	struct ev *e = s->cf->cuda ? rt_begin(s, "cudaLaunchKernelExC", 430)
				   : rt_begin(s, "hipExtLaunchKernel", 65);
	size_t at = s->nev - 1;

	e->flags |= EVF_START;
	e->u.kern = k;
	e->grid = 32;
	net = net * s->cf->link_milli / 1000;
	t = s->now + LAUNCH_LAG;
	t = t < s->gs[0].ready ? s->gs[0].ready : t;
	t = t < s->gs[1].ready ? s->gs[1].ready : t;
	t += 500;
	e = ev_add(s, EV_KERNEL, kern_name(s->cf, k, false));
	e->stream = 1;
	e->ext = top_ext(s);
	e->corr = s->corr;
	e->u.kern = k;
	e->grid = 32;
	e->coll = index;
	e->flags |= EVF_EXACT;
	e->t0 = rank_time(&s->clock, t) + own;
	e->t1 = arrival(s, c->pg, t) + net +
	    (int64_t)(mix(c->key, (uint64_t)s->cf->rank) % END_SPREAD_NS);
	s->gs[1].ready = t + JITTER_NS + net + END_SPREAD_NS;
	ann_cover(s, 1, t, s->gs[1].ready + waits);
	for (int i = 0; blocking && i < MAX_STREAMS; i++)
		s->gs[i].ready = s->gs[1].ready;
	for (int i = 0; i < MAX_STREAMS; i++)
		s->gs[i].ready += slack;
	if (own > 0 && s->last_kernel >= 0)
		s->ev[s->last_kernel].t1 += own; /* why it is late */
	s->now += waits;
	tick(s, 5000);
	s->ev[at].t1 = s->now;
	s->now += slack - waits;
	/* late enough for the GPU to run dry */
	if (slack > 0 && s->now < s->gs[1].ready)
		s->now = s->gs[1].ready;
}

/* elems: the whole message. blocking: the compute streams wait for it. */
void
collective(struct sim *s, enum coll_type type, enum pg pg, int64_t elems,
    bool blocking)
{
	static const char *const op[] = { "c10d::allreduce_",
		"c10d::_allgather_base_", "c10d::_reduce_scatter_base_",
		"c10d::broadcast_", "c10d::alltoall_base_" };
	static const char *const range[] = { "nccl:all_reduce",
		"nccl:_all_gather_base", "nccl:_reduce_scatter_base",
		"nccl:broadcast", "nccl:all_to_all" };
	size_t before = s->nev;
	struct coll *c;
	uint32_t index;

	if (pg_size(s->cf, pg) < 2)
		return;
	s->coll = grow(s->coll, &s->capcoll, s->ncolls + 1, sizeof *s->coll);
	c = &s->coll[s->ncolls++];
	index = (uint32_t)s->ncolls;
	memset(c, 0, sizeof *c);
	c->type = type;
	c->pg = pg;
	c->key = mix(s->cf->seed, 0x636f6c6cu + (uint64_t)s->ncoll);
	c->seq = ++s->pgseq[pg];
	coll_sizes(s, c, elems);
	op_begin(s, op[type], NULL, OP_PLAIN);
	op_begin(s, "record_param_comms", NULL, OP_PLAIN);
	s->ev[s->nev - 1].coll = index;
	ann_begin(s, range[type], false);
	api(s, "hipStreamIsCapturing", "cudaStreamIsCapturing", 290, 317);
	api(s, "hipEventRecord", "cudaEventRecord", 71, 135);
	api(s, "hipStreamWaitEvent", "cudaStreamWaitEvent", 200, 147);
	coll_kernel(s, index, elems, blocking);
	ann_end(s);
	op_end(s);
	op_end(s);
	if (dropped(s, s->ncoll++))
		s->nev = before;
}

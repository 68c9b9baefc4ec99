/* SPDX-License-Identifier: MIT */
/* What a job does on the GPU: API calls, launches, copies, waiting. */
#include "gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct ev *
rt_begin(struct sim *s, const char *name, int id)
{
	struct ev *e = ev_add(s, EV_RT, name);

	e->ext = top_ext(s);
	e->corr = ++s->corr;
	e->module = id;
	return e;
}

void
api(struct sim *s, const char *rocm, const char *cuda, int cid, int cbid)
{
	struct ev *e =
	    s->cf->cuda ? rt_begin(s, cuda, cbid) : rt_begin(s, rocm, cid);

	tick(s, 1100);
	e->t1 = s->now;
	tick(s, 100);
}

void
ann_cover(struct sim *s, int stream, int64_t t0, int64_t t1)
{
	for (int i = 0; i < s->nann; i++) {
		struct annspan *a = &s->ann[i];

		if (a->t1[stream] == 0 || t0 < a->t0[stream])
			a->t0[stream] = t0;
		if (t1 > a->t1[stream])
			a->t1[stream] = t1;
	}
}

/* GPU work of ns, after the stream's other work. */
static struct ev *
gpu_add(struct sim *s, enum kind kind, const char *name, int stream, int64_t ns)
{
	struct ev *e = ev_add(s, kind, name);
	struct gpu_stream *g = &s->gs[stream];
	int64_t r = (int64_t)(rng_next(&s->rng) & 63);

	if (s->cf->jitter >= 0)
		ns += ns * r * s->cf->jitter / (63 * 100000);
	else
		ns += ns * r / 1024;
	if (s->nop > 0)
		ns = ns * s->plan[s->nop - 1].milli / 1000;
	e->stream = (uint8_t)stream;
	e->t0 = s->now + LAUNCH_LAG + 16 * r;
	if (e->t0 < g->ready + 120)
		e->t0 = g->ready + 120;
	e->t1 = e->t0 + ns;
	e->ext = top_ext(s);
	e->corr = s->corr;
	g->ready = e->t1;
	ann_cover(s, stream, e->t0, e->t1);
	return e;
}

/* The kernel's name; other: what another library calls its own. */
const char *
kern_name(const struct conf *cf, const struct kern *k, bool other)
{
	static char made_up[K_COUNT][32];
	char *name = made_up[k - kerns];

	if (!other)
		return cf->cuda && k->cuda != NULL ? k->cuda : k->rocm;
	if (k->renamed != NULL)
		return k->renamed;
	snprintf(name, sizeof made_up[0], "other_kernel_%d", (int)(k - kerns));
	return name;
}

static bool
renamed(const struct sim *s)
{
	return s->nop > 0 && s->plan[s->nop - 1].renamed;
}

static int32_t
kern_grid(const struct kern *k, int64_t work)
{
	int64_t n = work / (k->per_block > 0 ? k->per_block : 512);

	return (int32_t)(n < 1 ? 1 : n > 1 << 24 ? 1 << 24 : n);
}

/* work: elements, for the grid. */
void
launch(struct sim *s, const struct kern *k, int64_t work, int64_t ns)
{
	struct ev *e = s->cf->cuda ? rt_begin(s, "cudaLaunchKernel", 211)
				   : rt_begin(s, "hipLaunchKernel", 107);
	size_t i = s->nev - 1;
	int32_t grid = kern_grid(k, work);

	e->flags |= EVF_START | (renamed(s) ? EVF_RENAMED : 0);
	e->u.kern = k;
	e->grid = grid;
	e = gpu_add(
	    s, EV_KERNEL, kern_name(s->cf, k, renamed(s)), s->cstream, ns);
	e->u.kern = k;
	e->grid = grid;
	s->last_kernel = (int64_t)s->nev - 1;
	tick(s, 4200);
	s->ev[i].t1 = s->now;
	tick(s, 300);
}

void
launch_captured(struct sim *s, const struct kern *k)
{
	struct ev *e = s->cf->cuda ? rt_begin(s, "cudaLaunchKernel", 211)
				   : rt_begin(s, "hipLaunchKernel", 107);

	e->u.kern = k;
	e->grid = 1;
	tick(s, 4200);
	e->t1 = s->now;
	tick(s, 300);
}

void
launch_graph(struct sim *s, const struct kern *const *k, int n)
{
	struct ev *e = s->cf->cuda ? rt_begin(s, "cudaGraphLaunch", 311)
				   : rt_begin(s, "hipGraphLaunch", 215);
	size_t at = s->nev - 1;

	e->flags |= EVF_START;
	for (int i = 0; i < n; i++) {
		e = gpu_add(s, EV_KERNEL, kern_name(s->cf, k[i], renamed(s)),
		    s->cstream, 3000 + 900 * k[i]->regs / 8);
		e->u.kern = k[i];
		e->flags |= EVF_GRAPH;
		e->a = i + 1;
	}
	tick(s, 60000 + 800 * n);
	s->ev[at].t1 = s->now;
}

void
copy(struct sim *s, bool to_device, int64_t bytes)
{
	struct ev *e = s->cf->cuda ? rt_begin(s, "cudaMemcpyAsync", 41)
				   : rt_begin(s, "hipMemcpyWithStream", 153);
	size_t at = s->nev - 1;

	e->flags |= EVF_START;
	e->a = bytes;
	e->b = to_device;
	e = gpu_add(s, EV_MEMCPY,
	    to_device ? "Memcpy HtoD (Pageable -> Device)"
		      : "Memcpy DtoH (Device -> Pageable)",
	    to_device ? 2 : 0, 1500 + bytes / 24);
	e->a = bytes;
	e->b = to_device;
	tick(s, 8000);
	s->ev[at].t1 = s->now;
}

void
fill(struct sim *s, int64_t bytes)
{
	struct ev *e = s->cf->cuda ? rt_begin(s, "cudaMemsetAsync", 51)
				   : rt_begin(s, "hipMemsetAsync", 167);
	size_t at = s->nev - 1;

	if (s->cf->cuda) /* ROCm's memset starts no flow */
		e->flags |= EVF_START;
	e->a = bytes;
	e = gpu_add(
	    s, EV_MEMSET, "Memset (Device)", s->cstream, 1200 + bytes / 1500);
	e->a = bytes;
	tick(s, 3000);
	s->ev[at].t1 = s->now;
}

/* The host waits for the compute stream, or for all of them. */
void
sync_streams(struct sim *s, bool whole)
{
	struct ev *e;
	size_t at;
	int64_t end = s->gs[0].ready;

	if (s->cf->cuda)
		rt_begin(s,
		    whole ? "cudaDeviceSynchronize" : "cudaStreamSynchronize",
		    whole ? 165 : 131);
	else
		rt_begin(s,
		    whole ? "hipDeviceSynchronize" : "hipStreamSynchronize",
		    whole ? 60 : 196);
	at = s->nev - 1;
	for (int i = 0; whole && i < MAX_STREAMS; i++)
		end = s->gs[i].ready > end ? s->gs[i].ready : end;
	tick(s, 900);
	if (s->now < end)
		s->now = end;
	if (s->cf->cuda) {
		s->ev[at].flags |= EVF_START;
		e = ev_add(s, EV_SYNC, whole ? "Context Sync" : "Stream Sync");
		e->t0 = s->ev[at].t0 + 400;
		e->t1 = s->now;
		e->ext = s->ev[at].ext;
		e->corr = s->ev[at].corr;
		e->a = whole;
	}
	tick(s, 2000);
	s->ev[at].t1 = s->now;
}

/* SPDX-License-Identifier: MIT */
/* Reading: each op that launches becomes a call, what it launched kernels. */
#include "cmd/tl-replay/replay.h"
#include "trace/tree.h"

void
replay_launcher(void *sink, const struct launcher *o)
{
	struct replay *g = sink;
	struct call *c;

	if (o->kind == KIND_OP)
		g->sink.sources.list.v[g->sink.source].nops++;
	if (o->ndirect == 0 || o->kind != KIND_OP)
		return;
	c = sink_add(&g->sink);
	*c = (struct call){
		.rec = { o->uid, g->sink.source, o->track, o->ts_ns },
		.name = o->name,
		.args = o->args,
		.nkernels = (uint32_t)o->ndirect,
		.first_kernel = g->kernels.n,
		.gpu_ns = o->direct_ns,
	};
	for (size_t i = 0; i < o->ndirect; i++)
		vec_push(&g->kernels,
		    ((struct kernel){ o->direct[i].name,
			o->direct[i].gpu_stream, o->direct[i].dur_ns }));
}

void
replay_take(struct sink *s, const struct stream_in *in, bool is_chosen)
{
	const struct event *ev = &in->ev;
	int64_t end;

	if (event_is(ev, KINDS_GPU))
		launchers_push(
		    s->launchers, ev, sink_takes_gpu(s, ev, is_chosen, &end));
	else if (!event_is(ev, KINDS_PROLOGUE))
		launchers_push(s->launchers, ev, is_chosen);
}

void
replay_start(struct sink *s)
{
	s->launchers->with_args = true;
}

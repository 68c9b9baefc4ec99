/* SPDX-License-Identifier: MIT */
/* The largest times that could be won back, each with what to do. */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

/* What is less than 1 % of the time is no gain. */
static void
add_gain(struct figures *f, const struct budget *w, struct gain gain)
{
	size_t at = f->ngains;

	if (gain.ns <= 0 || gain.ns < w->window_ns / w->n / 100)
		return;
	while (at > 0 && f->gains[at - 1].ns < gain.ns)
		at--;
	if (at == TOP_GAINS)
		return;
	if (f->ngains < TOP_GAINS)
		f->ngains++;
	for (size_t i = f->ngains - 1; i > at; i--)
		f->gains[i] = f->gains[i - 1];
	f->gains[at] = gain;
}

/* What launches a graph is no case for one. */
static struct str
advice_of(
    const struct figures *f, const struct budget *w, const struct idle_part *p)
{
	return (p->cause == CAUSE_LAUNCH_CALL ||
		   p->cause == CAUSE_LAUNCH_LATENCY) &&
		str_ends(p->call, STR("GraphLaunch"))
	    ? STR("launch the next graph before waiting for this one")
	    : str_of(cause_advice(p->cause, w->has_python, figures_is_tpu(f)));
}

/*
 * "hipFree (alloc, 1,298 calls, longest wait 68.153 ms, uid 26612)", " and host
 * work behind it (12.345 ms)".
 */
static void
add_part(struct figures *f, const struct budget *w, const struct idle_part *p,
    int64_t behind_ns)
{
	struct buf b = { 0 };
	struct gain gain = { .ns = p->ns, .uid = p->uid };
	int64_t most = w->ns[GROUP_OF_HOST] - w->graph_ns;

	/* of the host's work what a graph would leave stays */
	if (p->class == GROUP_OF_HOST && gain.ns > most)
		gain.ns = most;
	gain.ns /= w->n;
	if (p->call.len > 0) {
		table_fold_name(p->call, 60, &b);
		buf_puts(&b, " (");
	}
	put_cause(&b, p->cause);
	buf_puts(&b, p->uid.len > 0 ? ", " : "");
	put_calls(w, p, &b);
	buf_puts(&b, p->call.len > 0 ? ")" : "");
	if (behind_ns / w->n > 0) {
		gain.ns += behind_ns / w->n;
		buf_puts(&b, " and the host work after it (");
		put_time(&b, behind_ns / w->n);
		buf_putc(&b, ')');
	}
	gain.what = figures_keep(f, &b);
	gain.note = advice_of(f, w, p);
	add_gain(f, w, gain);
	buf_free(&b);
}

/* What a graph of all launches would leave of the host's work between them. */
static void
add_graph(struct figures *f, const struct budget *w)
{
	struct buf b = { 0 };
	/* no graph is captured over a call that waits for the GPU */
	struct gain gain = {
		.note = w->opened_ns < w->ns[GROUP_OF_HOST] / 10
		    ? STR("capture a graph")
		    : STR("remove the blocking calls, then capture a graph"),
	};

	if (w->graph_ns >= w->ns[GROUP_OF_HOST])
		return;
	gain.ns = (w->ns[GROUP_OF_HOST] - w->graph_ns) / w->n;
	buf_puts(&b, "host work between launches (");
	put_time(&b, w->graph_ns / w->n);
	buf_puts(&b, " would remain in a graph)");
	gain.what = figures_keep(f, &b);
	add_gain(f, w, gain);
	buf_free(&b);
}

/* The host would do this work ahead, if no call waited for the GPU. */
static void
add_opened(struct figures *f, const struct budget *w)
{
	struct gain gain = {
		.ns = w->opened_ns / w->n,
		.what = STR("gaps after blocking calls"),
		.note = str_of(
		    cause_advice(CAUSE_SYNC, w->has_python, figures_is_tpu(f))),
		.uid = w->opened_uid,
	};

	add_gain(f, w, gain);
}

/*
 * The host work that would be done ahead without these calls; where launches
 * bound the time it would be late all the same.
 */
static int64_t
behind_ns(const struct bound *m, const struct idle_part *p)
{
	/* add_opened() has those of all blocking calls */
	bool is_told = m->is.is_sync && p->class == GROUP_OF_SYNC;

	return m->is.is_launch || is_told ? 0 : p->behind_ns;
}

void
gains_find(struct figures *f, const struct bound *m)
{
	const struct budget *w = m->w;
	bool is_tpu = figures_is_tpu(f), by_graph = m->is.is_launch && !is_tpu;

	for (size_t i = 0; i < w->parts.n; i++) {
		const struct idle_part *p = &w->parts.v[i];
		bool is_host = p->class == GROUP_OF_HOST;

		if (p->class != GROUP_OF_GPU && p->class != GROUP_OF_MISSING &&
		    p->class != ACCOUNT_COMM &&
		    !(is_host && (by_graph || m->is.is_sync)))
			add_part(f, w, p, behind_ns(m, p));
	}
	if (by_graph)
		add_graph(f, w);
	if (m->is.is_sync)
		add_opened(f, w);
	add_gain(f, w,
	    (struct gain){ .ns = w->ns[ACCOUNT_COMM] / w->n,
		.what = STR("exposed communication"),
		.note = STR("overlap it with computation") });
	add_gain(f, w,
	    (struct gain){ .ns = w->ns[ACCOUNT_COPY] / w->n,
		.what = STR("exposed copies"),
		.note = is_tpu ? STR("copy less, or prefetch")
			       : STR("copy less; use pinned memory and a GPU "
				     "stream of its own") });
}

/* SPDX-License-Identifier: MIT */
/* Makes records of gaps, pieces of gaps and intervals of GPU streams. */
#include "cmd/tl-idle/idle.h"

static void
set_event(const struct idle *g, struct idle_record *r, uint32_t event)
{
	r->event = event;
	r->name =
	    event != HOST_NONE ? g->host.events.v[event].name : INTERN_NONE;
}

/* The uid of its event, else of the GPU event next to it; and the track of its
 * thread, if it has one. */
static void
set_place(
    const struct idle *g, struct idle_record *r, const struct host_gpu *beside)
{
	const struct host *h = &g->host;
	const struct host_event *e =
	    r->event != HOST_NONE ? &h->events.v[r->event] : NULL;
	uint32_t thread = e != NULL ? e->thread : r->thread;

	r->rec.uid = e != NULL ? e->uid : beside->uid;
	r->rec.track =
	    thread != HOST_NONE ? h->threads.v[thread].track : INTERN_NONE;
}

static struct idle_record
record_of(const struct idle *g, enum what what, const struct host_gpu *beside,
    uint32_t thread, uint32_t event, int64_t from, int64_t to)
{
	struct idle_record r = {
		.rec = { .source = g->source, .ts_ns = from },
		.what = (uint8_t)what,
		.op = INTERN_NONE,
		.module = INTERN_NONE,
		.opened_by = INTERN_NONE,
		.class = INTERN_NONE,
		.flags = INTERN_NONE,
		.more = STACK_NONE,
		.longest = { .name = INTERN_NONE },
		.thread = thread,
		.lock = { .name = INTERN_NONE },
		.dev = beside->dev,
		.gpu_stream = beside->gpu_stream,
		.step = g->steps.v[beside->no],
		.ns = to - from,
	};

	set_event(g, &r, event);
	set_place(g, &r, beside);
	return r;
}

/* ---- pieces as records of their rows ---- */

static void
fold(struct idle *g, struct idle_record *piece, const struct host_gpu *beside)
{
	struct sink_fold *f = &g->folds[piece->what];
	const uint64_t words[] = { (uint64_t)piece->name << 32 |
		    piece->opened_by,
		(uint64_t)piece->class << 32 | piece->cause };
	bool is_known = g->by_words && piece->what == IS_PIECE, is_new = false;
	struct idle_record *r =
	    is_known ? sink_fold_known(f, &g->sink, words) : NULL;
	size_t at;

	if (r == NULL) {
		set_place(g, piece, beside);
		r = sink_fold(
		    f, &g->sink, piece, is_known ? words : NULL, &is_new);
	}
	at = (size_t)(r - (struct idle_record *)sink_record(&g->sink, 0));

	/* a step of this number in another process may have GPU work */
	if (piece->flags == INTERN_NONE)
		r->flags = INTERN_NONE;
	if (!is_new) {
		stat_add(&r->ns, piece->ns);
		stat_add(&r->inferred_ns, piece->inferred_ns);
		stat_add(&r->behind_ns, piece->behind_ns);
	}
	r->n++;
	vec_push(&g->pieces,
	    ((struct piece){ piece->ns, piece->event, (uint32_t)at }));
}

static void
set_cause(struct idle *g, struct idle_record *r, enum cause cause)
{
	r->cause = g->words[cause];
	r->advice = g->advice[g->advice_of][cause];
}

static struct named
named_gpu(const struct idle *g, uint32_t gpu)
{
	const struct host_gpu *k =
	    gpu != HOST_NONE ? &g->host.gpus.v[gpu] : NULL;

	return k == NULL ? (struct named){ .name = INTERN_NONE }
			 : (struct named){ k->name, k->uid };
}

/* ---- gaps ---- */

static const struct host_gpu *
beside(const struct idle *g, const struct gap *gap)
{
	uint32_t gpu = gap->next != HOST_NONE ? gap->next : gap->prev;

	return &g->host.gpus.v[gpu != HOST_NONE ? gpu : 0];
}

/* The record of a whole gap, for idle_gaps or a window. */
static struct idle_record *
add_whole(
    struct idle *g, enum what what, const struct gap *gap, uint32_t opener)
{
	const struct host *h = &g->host;
	struct idle_record *r = sink_add(&g->sink);
	uint32_t launch =
	    gap->next != HOST_NONE ? h->gpus.v[gap->next].launch : HOST_NONE;
	const struct idle_whole whole = {
		.prev = named_gpu(g, gap->prev),
		.next = named_gpu(g, gap->next),
		.opened = named(g, opener),
		.awaited = named_gpu(g, gap->awaited),
		.next_op = host_above(h, launch, false),
		.next_module = host_above(h, launch, true),
		.cause_ns = gap->cause_ns,
	};

	*r = record_of(g, what, beside(g, gap), gap_thread(h, gap),
	    gap_culprit(&g->gaps, h, gap), gap->start_ns, gap->end_ns);
	r->opened_by = whole.opened.name;
	set_cause(g, r, gap->cause);
	r->more = (uint32_t)g->wholes.n;
	vec_push(&g->wholes, whole);
	return r;
}

static void
set_step(struct idle *g, struct idle_record *r, const struct step_window *w)
{
	bool is_bare = w != NULL && w->what == STEP_IS_STEP && !w->has_gpu;

	r->step = step_key(w, g->sink.dict);
	r->flags = is_bare ? intern_put(g->sink.dict->text, STR("no-gpu-event"))
			   : INTERN_NONE;
}

/*
 * Adds a piece of a gap as a copy of r; with --by step or phase its part in
 * each, by the clock, and behind_ns in the first.
 */
static void
add_piece(struct idle *g, struct idle_record *r, const struct gap *gap,
    const struct host_gpu *next, const struct gap_piece *p, int64_t behind_ns)
{
	const struct host *h = &g->host;
	const struct key *pid = process_of(g, next);

	r->event = host_culprit(h, p->event, p->cause);
	r->name = kind_name(g, r->event);
	set_cause(g, r, p->cause);
	r->class = g->classes[account_class_of(h, gap, p)];
	if (g->with_above) {
		r->op = host_above(h, p->event, false);
		r->module = host_above(h, p->event, true);
	}
	for (int64_t from = p->start_ns, to; from < p->end_ns; from = to) {
		const struct key *of =
		    g->by_step ? process_asked(g, pid, from) : NULL;
		int64_t border;

		to = p->end_ns;
		border =
		    g->by_step ? steps_border(&g->step_list, pid, from) : to;
		to = border < to ? border : to;
		border =
		    g->by_step ? steps_border(&g->step_list, of, from) : to;
		to = border < to ? border : to;
		border =
		    g->by_phase ? steps_border(&g->iterations, pid, from) : to;
		to = border < to ? border : to;
		if (g->by_step)
			set_step(g, r, steps_at(&g->step_list, of, from));
		if (g->by_phase)
			r->phase =
			    phase_key(steps_phase(&g->iterations, pid, from),
				g->sink.dict);
		r->rec.ts_ns = from;
		r->ns = to - from;
		r->behind_ns = from == p->start_ns ? behind_ns : 0;
		r->inferred_ns = p->is_inferred ? r->ns : 0;
		fold(g, r, next);
	}
}

/* Whether to make such a record: it is shown, or is its source's first. */
static bool
makes(const struct idle *g, enum what what)
{
	return g->shows[what] || g->sink.records.n == g->nbefore;
}

static bool
is_chosen(const struct idle *g, const struct host_gpu *k)
{
	return g->chosen.v[k->no] != 0;
}

/* Host work behind the call that opened a gap goes to that call's first
 * piece. */
static void
add_pieces(struct idle *g, const struct gap *gap)
{
	const struct gap_piece *v = g->gaps.pieces.v + gap->first;
	uint32_t opener = gap_opener(gap);
	const struct host_gpu *next = beside(g, gap);
	int64_t behind_ns = 0;
	struct idle_record r = record_of(
	    g, IS_PIECE, next, gap_thread(&g->host, gap), HOST_NONE, 0, 0);

	g->ngaps++;
	r.opened_by = named(g, opener).name;
	for (uint32_t i = 0; i < gap->n; i++)
		if (gap_is_behind_opener(gap, &v[i]))
			behind_ns += v[i].end_ns - v[i].start_ns;
	for (uint32_t i = 0; i < gap->n && makes(g, IS_PIECE); i++) {
		bool opens = opener != HOST_NONE && v[i].event == opener;

		add_piece(g, &r, gap, next, &v[i], opens ? behind_ns : 0);
		behind_ns = opens ? 0 : behind_ns;
	}
}

static void
add_gap(struct idle *g, const struct gap *gap)
{
	struct host *h = &g->host;
	struct idle_record *r;

	if (gap->end_ns - gap->start_ns < g->min_gap_ns || !makes(g, IS_GAP))
		return;
	r = add_whole(g, IS_GAP, gap, gap->opened_by);
	r->class = g->classes[account_class_of(
	    h, gap, &(struct gap_piece){ .cause = gap->cause })];
	for (uint32_t i = gap->first; i < gap->first + gap->n; i++)
		r->is_inferred |= g->gaps.pieces.v[i].is_inferred;
	g->wholes.v[r->more].is_lock =
	    r->event != HOST_NONE && call_locked_by(g, r->event) != HOST_NONE;
}

/* Gaps from first on: all, or those that end with selected work. */
static void
add_list(struct idle *g, size_t first, bool all)
{
	for (size_t i = first; i < g->gaps.list.n; i++) {
		const struct gap *gap = &g->gaps.list.v[i];

		if (!all && gap->next != HOST_NONE &&
		    !is_chosen(g, &g->host.gpus.v[gap->next]))
			continue;
		add_pieces(g, gap);
		add_gap(g, gap);
	}
}

/*
 * HTA's class of an interval of a GPU stream, by the call that launched its
 * end.
 */
static void
add_interval(
    struct idle *g, const struct host_gpu *k, int64_t end, const char *word)
{
	struct idle_record r = record_of(
	    g, IS_INTERVAL, k, HOST_NONE, HOST_NONE, end, k->start_ns);

	r.cause = intern_put(g->sink.dict->text, str_of(word));
	fold(g, &r, k);
}

/*
 * From the first chosen event on, as of a stream that has no others: what was
 * in front of it is no matter of the selection. In between, work of others is
 * no idle time.
 */
static void
add_intervals(struct idle *g, const uint32_t *gpus, size_t n)
{
	const struct host *h = &g->host;
	int64_t end = h->gpus.v[gpus[0]].end_ns;
	bool has_begun = is_chosen(g, &h->gpus.v[gpus[0]]);

	for (size_t i = 1; i < n; i++) {
		const struct host_gpu *k = &h->gpus.v[gpus[i]];

		if (k->start_ns > end && has_begun && is_chosen(g, k))
			add_interval(g, k, end,
			    k->launch != HOST_NONE &&
				    h->events.v[k->launch].start_ns > end
				? "host_wait"
				: k->start_ns - end < g->kernel_wait_ns
				? "kernel_wait"
				: "other");
		end = k->end_ns > end ? k->end_ns : end;
		has_begun |= is_chosen(g, k);
	}
}

/* Number of a GPU event's scope. */
static uint32_t
scope_of(struct intern *scopes, enum scope scope, const struct host_gpu *k)
{
	const struct key dev = scope >= SCOPE_DEV ? k->dev : (struct key){ 0 };
	const struct key gpu_stream =
	    scope >= SCOPE_GPU_STREAM ? k->gpu_stream : (struct key){ 0 };
	const int64_t id[] = { dev.type, dev.n, gpu_stream.type, gpu_stream.n };

	return intern_put(scopes, (struct str){ (const char *)id, sizeof id });
}

/*
 * Calls each on the GPU events of one scope, sorted by time; scopes in the
 * order of their first event.
 */
static void
each_scope(struct idle *g, enum scope scope,
    void (*each)(struct idle *g, const uint32_t *gpus, size_t n))
{
	const struct host *h = &g->host;
	struct intern *scopes = intern_create();
	VEC(uint32_t) of = { 0 }, sorted = { 0 }, ends = { 0 };
	uint32_t first = 0;

	for (size_t i = 0; i < h->gpus.n; i++) {
		uint32_t n = scope_of(scopes, scope, &h->gpus.v[i]);

		vec_push(&of, n);
		vec_push(&sorted, 0);
		if (n == ends.n)
			vec_push(&ends, 0);
		ends.v[n]++;
	}
	for (size_t n = 0; n < ends.n; n++) {
		uint32_t count = ends.v[n];

		ends.v[n] = first;
		first += count;
	}
	for (uint32_t i = 0; i < of.n; i++)
		sorted.v[ends.v[of.v[i]]++] = i;
	first = 0;
	for (size_t n = 0; n < ends.n; n++) {
		each(g, sorted.v + first, ends.v[n] - first);
		first = ends.v[n];
	}
	intern_destroy(scopes);
	vec_free(&of);
	vec_free(&sorted);
	vec_free(&ends);
}

static void
add_gaps(struct idle *g, const uint32_t *gpus, size_t n)
{
	gaps_find(&g->gaps, &g->host, gpus, n, NULL);
	add_list(g, 0, false);
}

/* The same in the window of the steps, or of those of --step. */
static void
add_gaps_in_steps(struct idle *g, const uint32_t *gpus, size_t n)
{
	struct span whole = parts_whole(&g->host, &g->step_list);

	gaps_find(&g->gaps, &g->host, gpus, n, &whole);
	if (g->walls.n > 0)
		gaps_cut(&g->gaps, &g->walls);
	add_list(g, 0, true);
}

/* ---- the window of the steps ---- */

static void
add_window(struct idle *g, const struct account *a)
{
	struct idle_window w = { .account = *a,
		.window_ns = a->window_ns,
		.nsteps = (int64_t)a->steps.most,
		.nlaunched = (int64_t)a->nlaunched,
		.nstarved = (int64_t)a->nstarved,
		.nall_steps = (int64_t)a->steps.all,
		.nprocesses = (int64_t)a->steps.processes,
		.head_cause = INTERN_NONE,
		.blocked = named(g, a->blocked_in),
		.waits = named(g, a->waits_by),
		.comm = named_gpu(g, a->longest[BUCKET_COMM]),
		.copy = named_gpu(g, a->longest[BUCKET_MEMCPY]),
		.advice_of = g->advice_of };
	struct gap gap = { .start_ns = a->window.start,
		.end_ns = a->window.start,
		.prev = HOST_NONE,
		.next = HOST_NONE,
		.awaited = HOST_NONE };
	struct idle_record *r;

	if (a->interval_ns < 0)
		w.account.interval_ns = SINK_NONE;
	if (a->work_ns < 0)
		w.account.work_ns = SINK_NONE;
	if (a->graph_ns == INT64_MAX)
		w.account.graph_ns = SINK_NONE;
	w.from = intern_put(g->sink.dict->text,
	    a->steps.most == 0              ? STR("gpu")
		: g->step_list.inferred > 0 ? STR("inferred")
		: g->step_list.are_runs     ? STR("runs")
					    : STR("steps"));
	if (a->first > 0) {
		const struct gap *head = &g->gaps.list.v[0];

		w.head_ns = head->end_ns - head->start_ns;
		w.head_cause = g->words[head->cause];
	}
	if (a->largest != HOST_NONE)
		gap = g->gaps.list.v[a->largest];
	r = add_whole(g, IS_WINDOW, &gap, a->opened_by);
	r->ns = a->largest_ns;
	if (a->largest == HOST_NONE)
		r->cause = INTERN_NONE;
	g->wholes.v[r->more].window = (uint32_t)g->windows.n;
	vec_push(&g->windows, w);
}

/*
 * Accounts for all GPU events, in the window of the steps or of those of
 * --step; of another selection for its events, in their own window.
 */
static void
add_account(struct idle *g)
{
	struct host *h = &g->host;
	VEC(uint32_t) list = { 0 };
	bool has_steps, is_of_steps = select_is_of_steps(&g->sink.select);
	struct account_steps nsteps = { 0 };
	struct account a;

	if (h->gpus.n == 0)
		return;
	for (uint32_t i = 0; i < h->gpus.n; i++)
		if (is_chosen(g, &h->gpus.v[i]))
			vec_push(&list, i);
	has_steps = list.n == h->gpus.n || is_of_steps;
	if (has_steps) {
		if (!g->by_step) /* else they are found */
			steps_find(&g->step_list, h, NULL, 0);
		if (!g->by_step && is_of_steps)
			steps_find_gpu(&g->step_list, h);
	}
	if (is_of_steps)
		nsteps = walls_of_steps(g);
	/* of no step: the selection has told */
	if (is_of_steps ? g->walls.n > 0 : list.n > 0) {
		account_find(&a, &g->gaps, h, list.v, list.n,
		    has_steps ? &g->step_list : NULL,
		    g->walls.n > 0 ? &g->walls : NULL);
		if (g->walls.n > 0)
			account_set_steps(&a, &nsteps);
		/* steps are compared over their whole time */
		add_list(g, g->by_step ? 0 : a.first, g->walls.n > 0);
		add_window(g, &a);
	}
	vec_free(&list);
}

static void
add_scopes_in_steps(struct idle *g)
{
	bool is_of_steps = select_is_of_steps(&g->sink.select);

	if (is_of_steps)
		(void)walls_of_steps(g);
	if (is_of_steps && g->walls.n == 0)
		return;
	each_scope(g, g->scope, add_gaps_in_steps);
}

static bool
has_kind(const struct host *h, enum kind kind)
{
	for (size_t i = 0; i < h->events.n; i++)
		if (h->events.v[i].kind == kind)
			return true;
	return false;
}

/* One for each event. */
static void
add_sums(struct idle *g)
{
	size_t had = g->sums.n, n = g->host.events.n;

	if (n <= had)
		return;
	vec_reserve(&g->sums, n);
	memset(g->sums.v + had, 0, (n - had) * sizeof *g->sums.v);
	g->sums.n = n;
}

void
idle_records(struct idle *g)
{
	host_ready(&g->host);
	map_free(&g->locks);
	g->step_list.only_iterations = g->sink.select.of_iterations;
	add_sums(g);
	if (has_kind(&g->host, KIND_OP))
		g->advice_of |= ADVICE_OPS;
	if (has_kind(&g->host, KIND_PYTHON))
		g->advice_of |= ADVICE_PYTHON;
	waits_find(&g->waits, &g->host);
	if (g->with_stack)
		stacks_source(&g->stacks, &g->host);
	if (g->by_step) {
		steps_find(&g->step_list, &g->host, NULL, 0);
		steps_find_gpu(&g->step_list, &g->host);
	}
	if (g->by_phase) {
		g->iterations.only_iterations = true;
		steps_find(&g->iterations, &g->host, NULL, 0);
	}
	if (g->with_steps)
		add_account(g);
	else if (g->in_steps)
		add_scopes_in_steps(g);
	else
		each_scope(g, g->scope, add_gaps);
	if (g->shows[IS_INTERVAL])
		each_scope(g, SCOPE_GPU_STREAM, add_intervals);
	folds_finish(g);
}

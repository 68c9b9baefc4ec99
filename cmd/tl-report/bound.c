/* SPDX-License-Identifier: MIT */
/* What bounds the time on the GPU, and why it was idle: see tl-report(1). */
#include "table/table.h"

#include "cmd/tl-report/figures.h"

#define LITTLE_NS 1000 /* of GPU work: no verdict */
#define ALL_OF_IT 90   /* percent: of one call alone */

static const struct {
	const char *verdict, *part;
} classes[CLASS_COUNT] = {
	[GROUP_OF_HOST] = { "host-bound", "host work" },
	[GROUP_OF_GPU] = { "GPU-bound", "GPU work" },
	[GROUP_OF_SYNC] = { "sync-bound", "blocking calls" },
	[GROUP_OF_ALLOCATION] = { "allocation-bound", "allocation" },
	[GROUP_OF_DATA] = { "data-bound", "data loading" },
	[GROUP_OF_COMPILE] = { "bound by compilation", "compilation" },
	[GROUP_OF_START] = { "recorded during start-up", "start-up" },
	[CLASS_COMM] = { "communication-bound", "communication" },
	[CLASS_COPIES] = { "copy-bound", "copies" },
};

struct bound {
	const struct figures *f;
	int64_t ns[CLASS_COUNT];
	int64_t missing_ns;
	struct rank rest; /* without what was not recorded */
	/* what sentences are about: all of it, or the rest; why_ns: by causes
	 */
	struct rank shown;
	int64_t why_ns;
	/* the largest first */
	unsigned order[CLASS_COUNT];
	struct buf *b;
};

static unsigned
cause_named(struct str word)
{
	unsigned c = 0;

	while (c < CAUSE_COUNT && !str_eq(word, str_of(cause_words[c])))
		c++;
	return c < CAUSE_COUNT ? c : CAUSE_NOTHING;
}

/* Where our tree lacks frames there may well be some in the trace. */
static unsigned
class_of(const struct figures *f, unsigned cause)
{
	if (cause == CAUSE_NONE && !f->set->idle_has_frames)
		return GROUP_OF_HOST;
	return cause_groups[cause] != GROUP_OF_NONE ? cause_groups[cause]
						    : GROUP_OF_HOST;
}

void
bound_take(void *ctx, const struct line *l)
{
	struct figures *f = ctx;
	struct str word = line_text(l, "cause"), call = line_text(l, "call");
	unsigned class = class_of(f, cause_named(word));
	int64_t ns = line_int(l, "time_ns");
	int64_t longest_ns = line_int(l, "time_ns_max");
	struct tally *of_cause = tally_of(f, &f->causes, word);
	struct tally *of_call = tally_of(f, &f->calls[class], call);

	time_add(&of_cause->ns, ns);
	time_add(&of_cause->count, line_int(l, "count"));
	if (of_cause->what.len == 0) /* rows are sorted */
		of_cause->what = figures_text(f, call);
	time_add(&of_call->ns, ns);
	if (longest_ns > of_call->of_ns)
		of_call->of_ns = longest_ns;
}

static void
measure(struct bound *m)
{
	const struct figures *f = m->f;

	m->ns[GROUP_OF_GPU] = f->all.compute_ns;
	m->ns[CLASS_COMM] = f->all.comm_ns;
	m->ns[CLASS_COPIES] = f->all.copy_ns;
	for (size_t i = 0; i < f->causes.list.n; i++) {
		const struct tally *t = &f->causes.list.v[i];

		time_add(&m->ns[class_of(f, cause_named(t->name))], t->ns);
	}
	m->missing_ns = m->ns[GROUP_OF_MISSING];
	m->rest = m->shown = f->all;
	m->why_ns = tallies_sum(&f->causes);
	m->rest.idle_ns = m->why_ns - m->missing_ns;
	m->rest.total_ns = -m->missing_ns;
	for (unsigned i = 0; i < CLASS_COUNT; i++) {
		unsigned at = i;

		time_add(&m->rest.total_ns, m->ns[i]);
		for (; at > 0 && m->ns[m->order[at - 1]] < m->ns[i]; at--)
			m->order[at] = m->order[at - 1];
		m->order[at] = i;
	}
}

/* The nth largest of classes besides what was not recorded. */
static unsigned
largest(const struct bound *m, bool with_gpu, size_t n)
{
	size_t i = 0;

	for (;; i++) {
		unsigned g = m->order[i];

		if (g != GROUP_OF_MISSING && (with_gpu || g != GROUP_OF_GPU) &&
		    n-- == 0)
			return g;
	}
}

/* ---- sentences ---- */

static void
put_word(struct buf *b, struct str word)
{
	for (size_t i = 0; i < word.len; i++)
		buf_putc(b, word.p[i] == '_' ? ' ' : word.p[i]);
}

/* The largest; NULL: none. */
static const struct tally *
cause_of(const struct figures *f, unsigned class)
{
	const struct tally *best[CAUSE_COUNT];
	size_t n = tallies_best(&f->causes, best, CAUSE_COUNT);

	for (size_t i = 0; i < n; i++)
		if (class_of(f, cause_named(best[i]->name)) == class)
			return best[i];
	return NULL;
}

/* "hipFree (3.004 s, longest 68.2 ms)". */
static void
put_call(struct buf *b, const struct tally *call)
{
	table_fold_name(call->name, 60, b);
	buf_puts(b, " (");
	put_time(b, call->ns);
	if (call->of_ns < call->ns) {
		buf_puts(b, ", longest ");
		put_time(b, call->of_ns);
	}
	buf_putc(b, ')');
}

/* Its layers, as many as are two thirds of it. */
static void
put_layers(const struct bound *m)
{
	const struct tally *best[CAUSE_COUNT];
	size_t n = tallies_best(&m->f->causes, best, CAUSE_COUNT);
	int64_t named_ns = 0;

	for (size_t i = 0; i < n && 3 * named_ns < 2 * m->ns[GROUP_OF_HOST];
	     i++) {
		if (class_of(m->f, cause_named(best[i]->name)) != GROUP_OF_HOST)
			continue;
		buf_puts(m->b, named_ns == 0 ? " (" : ", ");
		if (cause_named(best[i]->name) == CAUSE_NONE)
			buf_puts(m->b, "no event");
		else
			put_word(m->b, best[i]->name);
		buf_putc(m->b, ' ');
		put_part(m->b, best[i]->ns, m->why_ns);
		named_ns += best[i]->ns;
	}
	buf_puts(m->b, named_ns > 0 ? ")" : "");
}

/* What would help, of the cause that took most of it. */
static void
put_advice(const struct bound *m, unsigned class)
{
	const struct tally *cause = cause_of(m->f, class);
	unsigned c = cause != NULL ? cause_named(cause->name) : CAUSE_NOTHING;

	if (!m->f->set->idle_has_frames &&
	    (c == CAUSE_NONE || c == CAUSE_BETWEEN_OPS))
		buf_puts(m->b, "; tl-idle shows Python frames, if recorded");
	else if (cause_advice[c][0] != '\0')
		buf_printf(m->b, "; %s", cause_advice[c]);
}

/* "88.6 % idle of 3.394 s, 99.1 % of it in hipFree (3.004 s)". */
static void
put_idle_class(const struct bound *m, unsigned class)
{
	const struct tally *call = NULL;
	bool is_host = class == GROUP_OF_HOST, is_one;

	if (!is_host)
		(void)tallies_best(&m->f->calls[class], &call, 1);
	if (call != NULL && call->name.len == 0)
		call = NULL;
	is_one = call != NULL && share_of(call->ns, m->ns[class]) >= ALL_OF_IT;
	put_part(m->b, m->shown.idle_ns, m->shown.total_ns);
	buf_puts(m->b, " idle of ");
	put_whole(m->f, m->shown.total_ns, m->b);
	buf_puts(m->b, ", ");
	put_part(m->b, is_one ? call->ns : m->ns[class], m->why_ns);
	buf_puts(m->b, " of it ");
	if (is_one) {
		buf_puts(m->b, "in ");
		put_call(m->b, call);
	} else {
		buf_puts(m->b, classes[class].part);
		if (is_host)
			put_layers(m);
		if (call != NULL) {
			buf_puts(m->b, ", most in ");
			put_call(m->b, call);
		}
	}
	put_advice(m, class);
}

/* What of the window no event accounts for. */
static void
put_missing(struct bound *m)
{
	const struct tally *cause = cause_of(m->f, GROUP_OF_MISSING);

	buf_puts(m->b,
	    m->missing_ns >= m->rest.total_ns ? "Can't tell: "
					      : "Recording incomplete: ");
	put_part(m->b, m->missing_ns, m->rest.total_ns + m->missing_ns);
	buf_puts(m->b, " of ");
	put_whole(m->f, m->rest.total_ns + m->missing_ns, m->b);
	buf_puts(m->b, " is not in the recording (");
	put_word(m->b, cause->name);
	if (cause->what.len > 0) {
		buf_puts(m->b, ", most in ");
		table_fold_name(cause->what, 60, m->b);
	}
	buf_putc(m->b, ')');
	put_advice(m, GROUP_OF_MISSING);
	buf_puts(m->b, ". The rest is ");
	m->shown = m->rest;
	m->why_ns = m->rest.idle_ns;
}

/* Of GPU work with a model two thirds on one side. */
static const char *
gpu_verdict(const struct figures *f)
{
	int64_t modelled_ns = tallies_sum(&f->reached), compute_ns = 0;

	for (size_t i = 0; i < f->reached.list.n; i++)
		time_add(&compute_ns, f->reached.list.v[i].count);
	if (2 * modelled_ns < f->all.busy_ns)
		return classes[GROUP_OF_GPU].verdict;
	if (3 * compute_ns >= 2 * modelled_ns)
		return "compute-bound";
	return 3 * compute_ns <= modelled_ns ? "memory-bound"
					     : classes[GROUP_OF_GPU].verdict;
}

/* No class is half as large again as the next. */
static void
put_mixed(const struct bound *m)
{
	buf_puts(m->b, "mixed: ");
	for (size_t i = 0; i < 3; i++) {
		unsigned g = largest(m, true, i);

		if (m->ns[g] == 0)
			break;
		buf_puts(m->b, i > 0 ? ", " : "");
		put_part(m->b, m->ns[g], m->rest.total_ns);
		buf_printf(m->b, " %s", classes[g].part);
	}
	buf_puts(m->b, " of ");
	put_whole(m->f, m->rest.total_ns, m->b);
}

/* "host-bound: ...", of what was recorded. */
static void
put_rest(const struct bound *m)
{
	unsigned first = largest(m, false, 0);
	int64_t gpu_ns = m->ns[GROUP_OF_GPU],
		other_ns = m->rest.total_ns - gpu_ns;
	bool is_gpu = 5 * gpu_ns >= 4 * m->rest.total_ns;
	const char *verdict =
	    is_gpu ? gpu_verdict(m->f) : classes[first].verdict;

	if (!is_gpu &&
	    (2 * m->ns[first] < other_ns ||
		2 * m->ns[first] < 3 * m->ns[largest(m, false, 1)])) {
		put_mixed(m);
		return;
	}
	if (!is_gpu && 2 * gpu_ns >= m->rest.total_ns)
		buf_puts(m->b, "partly ");
	buf_printf(m->b, "%s: ", verdict);
	if (!is_gpu && first != CLASS_COMM && first != CLASS_COPIES) {
		put_idle_class(m, first);
		return;
	}
	put_shares(m->f, &m->shown, m->b);
	buf_puts(m->b, " of ");
	put_whole(m->f, m->shown.total_ns, m->b);
}

/* Without causes there are only shares. */
static void
put_plain(const struct bound *m, const char *why)
{
	put_whole(m->f, m->f->all.total_ns, m->b);
	buf_puts(m->b, ": ");
	put_shares(m->f, &m->f->all, m->b);
	buf_puts(m->b, why);
}

void
bound_put(const struct figures *f, struct buf *b)
{
	struct bound m = { .f = f, .b = b };
	const struct tally *missing;
	size_t from = b->len;
	bool is_blind;

	measure(&m);
	missing = cause_of(f, GROUP_OF_MISSING);
	is_blind =
	    missing != NULL && cause_named(missing->name) == CAUSE_NO_HOST;
	if (f->set->is_rocprof || f->all.busy_ns < LITTLE_NS ||
	    (f->causes.list.n == 0 && f->all.idle_ns > 0)) {
		put_plain(&m, "");
	} else if (is_blind && 5 * f->all.compute_ns < 4 * f->all.total_ns) {
		put_plain(&m, "; can't tell why: no host events in the trace");
	} else {
		if (!is_blind && 9 * m.missing_ns >= m.rest.total_ns)
			put_missing(&m);
		put_rest(&m);
		if (b->p[from] >= 'a' && b->p[from] <= 'z')
			b->p[from] = (char)(b->p[from] - 'a' + 'A');
	}
	buf_putc(b, '.');
}

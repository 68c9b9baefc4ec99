/* SPDX-License-Identifier: MIT */
/*
 * Steps that end with the optimizer's: torch.optim records each of its steps,
 * so training without markers of its own has these. They are borders of steps
 * if successive stretches between them launch mostly the same; man/tl-steps.1
 * has the rules.
 */
#include <stdlib.h>

#include "trace/infer.h"

#define MIN_STEPS 2
#define MAX_ROUND 4 /* optimizers that take turns */
#define MIN_ROUNDS 3
#define ALIKE_PERCENT 50 /* of the calls of successive steps, at least */
#define LACKING_SHARE 50 /* 1/50 of a step's calls may be missing */

/* The calls from one border to the next. */
struct stretch {
	int64_t end_ns;
	size_t first, n;
};
typedef VEC(struct stretch) stretch_list;

struct finder {
	const struct repeat_event *calls; /* by start */
	size_t ncalls;
	VEC(uint32_t) names; /* of each call, from 0 on */
	uint32_t nnames;
	stretch_list list;
	VEC(int64_t) counts; /* by name; 0 between two uses */
};

/* ---- borders ---- */

static size_t
calls_before(const struct finder *f, int64_t ns)
{
	size_t at;

	bisect(at, f->ncalls, mid, f->calls[mid].start_ns < ns);
	return at;
}

/* Borders without a call between them are one. */
static void
add_border(struct finder *f, const struct infer_optimizer *e)
{
	struct stretch *last = f->list.n > 0 ? &f->list.v[f->list.n - 1] : NULL;

	if (last != NULL && e->start_ns < last->end_ns)
		return;
	if (last != NULL &&
	    calls_before(f, e->start_ns) == calls_before(f, last->end_ns))
		last->end_ns = e->end_ns;
	else
		vec_push(&f->list, ((struct stretch){ .end_ns = e->end_ns }));
}

/* A last border without a length: the recording ended in it. */
static void
close_last(struct finder *f, const struct infer_optimizer *last)
{
	if (last->start_ns == last->end_ns &&
	    f->calls[f->ncalls - 1].end_ns > last->end_ns)
		f->list.v[f->list.n - 1].end_ns =
		    f->calls[f->ncalls - 1].end_ns;
}

/* Borders of the first thread that has enough; false: none has. */
static bool
find_borders(struct finder *f, const struct infer *in, uint32_t *thread)
{
	const struct infer_optimizer *v = in->optimizers.v;

	for (size_t i = 0; i < in->optimizers.n;) {
		*thread = v[i].thread;
		f->list.n = 0;
		for (; i < in->optimizers.n && v[i].thread == *thread; i++)
			add_border(f, &v[i]);
		if (f->list.n < MIN_STEPS)
			continue;
		close_last(f, &v[i - 1]);
		return true;
	}
	return false;
}

static void
find_calls(struct finder *f)
{
	size_t at = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		struct stretch *x = &f->list.v[i];

		x->first = at;
		at = calls_before(f, x->end_ns);
		x->n = at - x->first;
	}
}

static void
number_names(struct finder *f)
{
	struct map known = { 0 };

	for (size_t i = 0; i < f->ncalls; i++) {
		bool is_new;
		uint64_t *slot = map_put(&known, f->calls[i].name, &is_new);

		if (is_new) {
			*slot = f->nnames++;
			vec_push(&f->counts, 0);
		}
		vec_push(&f->names, (uint32_t)*slot);
	}
	map_free(&known);
}

/* ---- what stretches have in common ---- */

static void
count(struct finder *f, const struct stretch *x, int by)
{
	for (size_t i = x->first; i < x->first + x->n; i++)
		f->counts.v[f->names.v[i]] += by;
}

/* Calls that only one of two stretches has. */
static size_t
count_different(
    struct finder *f, const struct stretch *a, const struct stretch *b)
{
	const struct stretch *const both[] = { a, b };
	size_t n = 0;

	count(f, a, 1);
	count(f, b, -1);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < both[k]->n; i++) {
			int64_t *c =
			    &f->counts.v[f->names.v[both[k]->first + i]];

			n += (size_t)(*c < 0 ? -*c : *c);
			*c = 0;
		}
	return n;
}

/* The percentage of calls that stretches so far apart have in common, without
 * the first, which may be cut off. -1: too few. */
static int64_t
alike_percent(struct finder *f, size_t distance)
{
	size_t all = 0, different = 0;

	if (f->list.n < distance + 2)
		return -1;
	for (size_t i = 1; i + distance < f->list.n; i++) {
		const struct stretch *a = &f->list.v[i],
				     *b = &f->list.v[i + distance];

		all += a->n + b->n;
		different += count_different(f, a, b);
	}
	return all > 0 ? (int64_t)(100 * (all - different) / all) : -1;
}

/*
 * Borders per step, or 0 if stretches do not repeat. The optimizers of a GAN
 * take turns: successive stretches then differ at least twice as much as those
 * one round apart.
 */
static size_t
find_round(struct finder *f)
{
	int64_t alike = alike_percent(f, 1);

	if (f->list.n == MIN_STEPS)
		return 1;
	for (size_t d = 2; d <= MAX_ROUND && d * MIN_ROUNDS <= f->list.n; d++) {
		int64_t percent = alike_percent(f, d);

		if (percent >= ALIKE_PERCENT &&
		    100 - alike >= 2 * (100 - percent) && percent > alike)
			return d;
	}
	return alike >= ALIKE_PERCENT ? 1 : 0;
}

static void
join_rounds(struct finder *f, size_t round)
{
	size_t n = 0;

	for (size_t i = 0; i + round <= f->list.n; i += round) {
		struct stretch x = f->list.v[i];

		for (size_t k = 1; k < round; k++) {
			x.n += f->list.v[i + k].n;
			x.end_ns = f->list.v[i + k].end_ns;
		}
		f->list.v[n++] = x;
	}
	f->list.n = n;
}

/*
 * Calls of a name: how many stretches have it, the sum of their numbers, which
 * one has the fewest calls, and the fewest and second fewest calls.
 */
struct common {
	size_t stretches, sum, fewest;
	int64_t least, second;
};

/* The calls of each name, in all stretches but the first. */
static void
find_common(struct finder *f, struct common *of)
{
	for (size_t i = 1; i < f->list.n; i++) {
		const struct stretch *x = &f->list.v[i];

		count(f, x, 1);
		for (size_t k = x->first; k < x->first + x->n; k++) {
			struct common *c = &of[f->names.v[k]];
			int64_t n = f->counts.v[f->names.v[k]];

			f->counts.v[f->names.v[k]] = 0;
			if (n == 0)
				continue;
			if (c->stretches == 0 || n < c->least) {
				c->second = c->least;
				c->least = n;
				c->fewest = i;
			} else if (c->stretches == 1 || n < c->second) {
				c->second = n;
			}
			c->stretches++;
			c->sum += i;
		}
	}
}

/* The most that one stretch, not the first, lacks of what all others have. */
static int64_t
most_missing(const struct finder *f, const struct common *of)
{
	size_t others = f->list.n - 1;
	int64_t *missing = xcalloc(f->list.n, sizeof *missing), most = 0;

	for (uint32_t k = 0; others > 1 && k < f->nnames; k++) {
		const struct common *c = &of[k];

		if (c->stretches == others)
			missing[c->fewest] += c->second - c->least;
		else if (c->stretches + 1 == others)
			missing[others * (others + 1) / 2 - c->sum] += c->least;
	}
	for (size_t i = 1; i < f->list.n; i++)
		most = missing[i] > most ? missing[i] : most;
	free(missing);
	return most;
}

/*
 * Whether the first stretch is whole, although the recording may begin in it.
 * It has no more calls than some other. Of what all others have it lacks at
 * most 1.5 times as much as one of them lacks of the others' calls.
 */
static bool
is_whole(struct finder *f)
{
	struct common *of = xcalloc(f->nnames, sizeof *of);
	int64_t all = 0, missing = 0, may_miss;
	size_t most = 0;

	find_common(f, of);
	may_miss = most_missing(f, of);
	count(f, &f->list.v[0], 1);
	for (uint32_t k = 0; k < f->nnames; k++) {
		int64_t n = f->counts.v[k];

		f->counts.v[k] = 0;
		if (of[k].stretches + 1 < f->list.n)
			continue;
		all += of[k].least;
		missing += n < of[k].least ? of[k].least - n : 0;
	}
	free(of);
	for (size_t i = 1; i < f->list.n; i++)
		most = f->list.v[i].n > most ? f->list.v[i].n : most;
	/* nothing in common: can't tell */
	return all > 0 && f->list.v[0].n > 0 && f->list.v[0].n <= most &&
	    (2 * missing <= 3 * may_miss || missing * LACKING_SHARE <= all);
}

/* ---- steps ---- */

/*
 * The first step begins with the recording. But models are built before
 * training: if its first call is later than in any other step by a tenth of a
 * step, the step begins with that call.
 */
static int64_t
start_of_first(const struct finder *f, int64_t start)
{
	int64_t call = f->calls[0].start_ns, longest = 0, step = INT64_MAX;

	for (size_t i = 1; i < f->list.n; i++) {
		const struct stretch *x = &f->list.v[i];
		int64_t wall = x->end_ns - x[-1].end_ns, ns = 0;

		if (x->n > 0)
			ns = f->calls[x->first].start_ns - x[-1].end_ns;
		longest = ns > longest ? ns : longest;
		step = wall < step ? wall : step;
	}
	/* another thread's call may come first */
	return start > call || call - start - longest > step / 10 ? call
								  : start;
}

static void
put_steps(struct infer *to, const struct finder *f, size_t from, int64_t first)
{
	VEC(int64_t) lengths = { 0 };

	for (size_t i = from; i < f->list.n; i++) {
		vec_push(&lengths, (int64_t)f->list.v[i].n);
		vec_push(&to->steps,
		    ((struct span){ i > 0 ? f->list.v[i - 1].end_ns
					  : start_of_first(f, first),
			f->list.v[i].end_ns }));
	}
	sort_i64(lengths.v, lengths.n);
	to->length = (size_t)lengths.v[lengths.n / 2];
	vec_free(&lengths);
}

bool
infer_by_optimizer(struct infer *to)
{
	struct finder f = { .calls = to->calls.v, .ncalls = to->calls.n };
	uint32_t thread;
	size_t round = 0, from = 0;
	bool found = false;

	if (f.ncalls > 0 && find_borders(&f, to, &thread)) {
		find_calls(&f);
		number_names(&f);
		round = find_round(&f);
	}
	if (round > 0) {
		join_rounds(&f, round);
		from = is_whole(&f) ? 0 : 1;
		found = f.list.n >= from + MIN_STEPS;
	}
	if (found) {
		put_steps(to, &f, from, to->first_ns.v[thread]);
		to->thread = thread;
	}
	vec_free(&f.names);
	vec_free(&f.list);
	vec_free(&f.counts);
	return found;
}

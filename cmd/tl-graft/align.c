/* SPDX-License-Identifier: MIT */
/*
 * Which launch of a capture each kernel of a replay belongs to. A capture has
 * launches and no kernels, a replay has kernels and one launch; they share the
 * order, and the kernel's name if the profiler records it at the launch (ROCm
 * does).
 */
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"

/* Cells of the table for the last way of pairing. */
#define LCS_MAX ((size_t)64 << 20)

enum copy {
	COPY_NONE,
	COPY_MEMCPY,
	COPY_MEMSET,
};

/* What is compared of a launch or a GPU event. */
struct side {
	uint32_t name; /* of the kernel; INTERN_NONE: unknown */
	uint32_t grid, block;
	uint8_t copy;
	struct key gpu_stream;
};

struct sides {
	struct side *gpu, *launch;
	size_t ngpu, nlaunch;
};

static uint32_t
text_arg(const struct forest *w, const struct event *ev, const char *key)
{
	struct value v;

	if (!event_arg(w->st, ev, str_of(key), &v))
		return INTERN_NONE;
	if (v.type == VAL_STR || v.type == VAL_JSON)
		return v.id;
	if (v.type == VAL_STRX || v.type == VAL_JSONX)
		return intern_put(w->st->text, v.s);
	return INTERN_NONE;
}

static struct side
side_of(const struct forest *w, uint32_t i, bool is_gpu)
{
	struct str name = forest_name(w, i);
	struct event ev;
	struct side s = { .name = INTERN_NONE };

	forest_event(w, i, &ev);
	s.gpu_stream = ev.gpu_stream;
	s.grid = text_arg(w, &ev, "grid");
	s.block = text_arg(w, &ev, "block");
	if (has_part(name, STR("memcpy")))
		s.copy = COPY_MEMCPY;
	else if (has_part(name, STR("memset")) ||
	    (is_gpu && has_part(name, STR("fillBuffer"))))
		s.copy = COPY_MEMSET;
	s.name = is_gpu ? ev.name : text_arg(w, &ev, "kernel");
	return s;
}

/* Whether a launch without a kernel's name may match any kernel. */
static bool
is_unnamed(const struct side *launch)
{
	return launch->name == INTERN_NONE && launch->copy == COPY_NONE;
}

static bool
same_shape(const struct side *a, const struct side *b)
{
	return (a->grid == INTERN_NONE || b->grid == INTERN_NONE ||
		   a->grid == b->grid) &&
	    (a->block == INTERN_NONE || b->block == INTERN_NONE ||
		a->block == b->block);
}

static bool
is_same(const struct side *launch, const struct side *gpu)
{
	if (launch->name != INTERN_NONE && launch->name == gpu->name)
		return same_shape(launch, gpu);
	return launch->copy != COPY_NONE && launch->copy == gpu->copy;
}

/* ---- the ways ---- */

/*
 * Pairs in order: each GPU event takes the next launch that fits, others are
 * dropped. With as many launches as events none is dropped, and one without a
 * name fits any.
 */
static bool
in_order(struct pairing *p, const struct sides *s)
{
	bool is_even = s->ngpu == s->nlaunch;
	size_t at = 0;

	for (size_t i = 0; i < s->ngpu; i++) {
		const struct side *gpu = &s->gpu[i], *l = &s->launch[at];

		while (at < s->nlaunch && !is_same(l, gpu) &&
		    !(is_even && is_unnamed(l) && same_shape(l, gpu)))
			l = &s->launch[++at];
		if (at == s->nlaunch)
			return false;
		p->pair[i] = p->root->launches.v[at++];
	}
	p->how = "in order";
	return true;
}

static uint64_t
group_of(const struct side *s)
{
	return s->copy != COPY_NONE ? (uint64_t)s->copy << 32 : s->name;
}

/* Pairs the k-th of a name with the k-th, if both sides have as many. */
static bool
by_name(struct pairing *p, const struct sides *s)
{
	struct map first = { 0 }; /* group to 1 + the last launch seen */
	uint32_t *next = xcalloc(s->nlaunch + 1, sizeof *next);
	size_t done = 0;

	/* from the end, so that each list begins with the first */
	for (size_t i = s->nlaunch; i-- > 0;) {
		uint64_t *head = map_put(&first, group_of(&s->launch[i]), NULL);

		next[i] = (uint32_t)*head;
		*head = i + 1;
	}
	for (; done < s->ngpu; done++) {
		uint64_t *head = map_get(&first, group_of(&s->gpu[done]));

		if (head == NULL || *head == 0)
			break;
		p->pair[done] = p->root->launches.v[*head - 1];
		*head = next[*head - 1];
	}
	map_free(&first);
	free(next);
	p->how = "by name";
	return done == s->ngpu;
}

/* ---- several GPU streams ---- */

struct queue {
	struct key gpu_stream;
	VEC(uint32_t) gpu;
	size_t head;
};

struct queues {
	VEC(struct queue) list;
};

static void
fill_queues(struct queues *q, const struct sides *s)
{
	for (uint32_t i = 0; i < s->ngpu; i++) {
		size_t k = 0;

		while (k < q->list.n &&
		    !key_eq(q->list.v[k].gpu_stream, s->gpu[i].gpu_stream))
			k++;
		if (k == q->list.n)
			vec_push(&q->list,
			    ((struct queue){
				.gpu_stream = s->gpu[i].gpu_stream }));
		vec_push(&q->list.v[k].gpu, i);
	}
}

/* How many launches from at on match the queue in a row. */
static size_t
run_of(const struct sides *s, const struct queue *q, size_t at)
{
	size_t n = 0;

	while (at + n < s->nlaunch && q->head + n < q->gpu.n &&
	    is_same(&s->launch[at + n], &s->gpu[q->gpu.v[q->head + n]]))
		n++;
	return n;
}

static bool
by_streams(struct pairing *p, const struct sides *s, struct queues *q)
{
	size_t done = 0;

	for (size_t i = 0; i < s->nlaunch; i++)
		if (is_unnamed(&s->launch[i]))
			return false;
	for (size_t i = 0; i < s->nlaunch; i++) {
		size_t best = 0;
		struct queue *to = NULL;

		for (size_t k = 0; k < q->list.n; k++) {
			size_t run = run_of(s, &q->list.v[k], i);

			if (run > best) {
				best = run;
				to = &q->list.v[k];
			}
		}
		if (to == NULL)
			continue; /* nothing launched on this one */
		p->pair[to->gpu.v[to->head++]] = p->root->launches.v[i];
		done++;
	}
	p->how = "stream by stream";
	return done == s->ngpu;
}

/* ---- last resort ---- */

static void
trace_back(struct pairing *p, const struct sides *s, const uint32_t *len)
{
	size_t i = 0, k = 0, w = s->nlaunch + 1;

	while (i < s->ngpu && k < s->nlaunch) {
		if (is_same(&s->launch[k], &s->gpu[i]) &&
		    len[i * w + k] == len[(i + 1) * w + k + 1] + 1)
			p->pair[i++] = p->root->launches.v[k++];
		else if (len[(i + 1) * w + k] >= len[i * w + k + 1])
			i++;
		else
			k++;
	}
}

/* Pairs by the longest common subsequence, if that is long enough. */
static bool
by_lcs(struct pairing *p, const struct sides *s)
{
	size_t w = s->nlaunch + 1;
	uint32_t *len, n;

	if (w > LCS_MAX / (s->ngpu + 1))
		return false;
	len = xcalloc((s->ngpu + 1) * w, sizeof *len);
	for (size_t i = s->ngpu; i-- > 0;)
		for (size_t k = s->nlaunch; k-- > 0;) {
			uint32_t a = len[(i + 1) * w + k];
			uint32_t b = len[i * w + k + 1];

			len[i * w + k] = a > b ? a : b;
			if (is_same(&s->launch[k], &s->gpu[i]) &&
			    len[(i + 1) * w + k + 1] + 1 > len[i * w + k])
				len[i * w + k] = len[(i + 1) * w + k + 1] + 1;
		}
	n = len[0];
	if ((double)n >= p->min_match * (double)s->ngpu && n > 0)
		trace_back(p, s, len);
	free(len);
	p->how = "by the longest common sequence";
	return (double)n >= p->min_match * (double)s->ngpu && n > 0;
}

/* ---- all of them ---- */

static void
forget(struct pairing *p)
{
	for (size_t i = 0; i < p->ngpu; i++)
		p->pair[i] = FOREST_NONE;
}

static bool
try_all(struct pairing *p, const struct sides *s, struct queues *q)
{
	bool ok;

	if (q->list.n > 1)
		ok = by_streams(p, s, q);
	else
		ok = in_order(p, s) || (s->ngpu == s->nlaunch && by_name(p, s));
	if (ok)
		return true;
	forget(p);
	return by_lcs(p, s);
}

bool
align(struct pairing *p)
{
	struct sides s = { .ngpu = p->ngpu, .nlaunch = p->root->launches.n };
	struct queues q = { 0 };
	bool ok;

	forget(p);
	s.gpu = xmalloc((s.ngpu + 1) * sizeof *s.gpu);
	s.launch = xmalloc((s.nlaunch + 1) * sizeof *s.launch);
	for (size_t i = 0; i < s.ngpu; i++)
		s.gpu[i] = side_of(p->replay, p->gpu[i], true);
	for (size_t i = 0; i < s.nlaunch; i++)
		s.launch[i] =
		    side_of(p->capture, p->root->launches.v[i], false);
	fill_queues(&q, &s);
	ok = s.ngpu > 0 && try_all(p, &s, &q);
	if (!ok) {
		forget(p);
		p->why =
		    s.ngpu == 0 ? REASON_NO_GPU_WORK : REASON_OTHER_KERNELS;
		p->how = report_reason(p->why);
	}
	for (size_t k = 0; k < q.list.n; k++)
		vec_free(&q.list.v[k].gpu);
	vec_free(&q.list);
	free(s.gpu);
	free(s.launch);
	return ok;
}

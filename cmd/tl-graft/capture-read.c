/* SPDX-License-Identifier: MIT */
/* Reads one captured trace: its ops, and its size. */
#include <stdlib.h>

#include "cmd/tl-graft/graft.h"
#include "trace/launcher.h"

#define DUMMY_RUN "vllm/v1/worker/gpu_model_runner.py("

struct marks {
	VEC(uint32_t) begins, ends;
};

static bool
is_within(const struct forest_node *n, const struct capture_root *r)
{
	return n->ts_ns >= r->start &&
	    num_add_max(n->ts_ns, n->dur_ns) <= r->end;
}

/* Finds what lies in the window, below events that reach out of it. */
static void
find_tops(const struct forest *w, struct capture_root *r)
{
	const uint32_t kinds = KIND_BIT(KIND_OP) | KIND_BIT(KIND_PYTHON);

	for (uint32_t i = 0; i < w->nodes.n; i++) {
		const struct forest_node *n = &w->nodes.v[i];

		if (node_is(n, kinds) && n->up != FOREST_NONE &&
		    is_within(n, r) && !is_within(&w->nodes.v[n->up], r))
			vec_push(&r->tops, i);
	}
	forest_sort(w, r->tops.v, r->tops.n);
}

static void
find_launches(const struct forest *w, struct capture_root *r)
{
	for (size_t t = 0; t < r->tops.n; t++)
		for (uint32_t i = r->tops.v[t]; i != FOREST_NONE;
		     i = forest_next(w, i, r->tops.v[t])) {
			struct str s = forest_name(w, i);

			if (node_is(&w->nodes.v[i], KINDS_LAUNCH) &&
			    (has_part(s, STR("launch")) ||
				has_part(s, STR("memcpy")) ||
				has_part(s, STR("memset"))))
				vec_push(&r->launches, i);
		}
	forest_sort(w, r->launches.v, r->launches.n);
}

static void
find_roots(struct capture_file *f)
{
	const struct forest *w = &f->tree;
	struct marks m = { 0 };

	for (uint32_t i = 0; i < w->nodes.n; i++) {
		struct str s = forest_name(w, i);

		if (!node_is(&w->nodes.v[i], KINDS_LAUNCH))
			continue;
		if (str_find(s, STR("StreamBeginCapture"), false) >= 0)
			vec_push(&m.begins, i);
		else if (str_find(s, STR("StreamEndCapture"), false) >= 0)
			vec_push(&m.ends, i);
	}
	forest_sort(w, m.begins.v, m.begins.n);
	forest_sort(w, m.ends.v, m.ends.n);
	for (size_t i = 0; i < m.begins.n && i < m.ends.n; i++) {
		const struct forest_node *b = &w->nodes.v[m.begins.v[i]];
		struct capture_root *r = vec_add(&f->roots);

		*r = (struct capture_root){
			.start = num_add_max(b->ts_ns, b->dur_ns),
			.end = w->nodes.v[m.ends.v[i]].ts_ns,
		};
		find_tops(w, r);
		find_launches(w, r);
	}
	vec_free(&m.begins);
	vec_free(&m.ends);
}

/* capture_32_FULL, and how many such names there are. */
struct told {
	int64_t batch;
	size_t ncaptures, nruns;
	bool is_full, is_piecewise;
};

static void
hear(struct told *t, const struct event *ev, struct str s)
{
	size_t digits = 0;
	struct str mode;
	int64_t batch;

	if (str_starts(s, STR(DUMMY_RUN)) &&
	    str_find(s, STR("): _dummy_run"), false) >= 0)
		t->nruns++;
	if (ev->shape->kind != KIND_ANNOTATION ||
	    !str_starts(s, STR("capture_")))
		return;
	s.p += 8;
	s.len -= 8;
	while (digits < s.len && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	if (digits == s.len || s.p[digits] != '_' ||
	    !num_i64((struct str){ s.p, digits }, &batch))
		return;
	mode = (struct str){ s.p + digits + 1, s.len - digits - 1 };
	if (t->ncaptures++ > 0)
		return;
	t->batch = batch;
	t->is_full = str_eq(mode, STR("FULL"));
	t->is_piecewise = str_eq(mode, STR("PIECEWISE"));
}

/* The commonest first dimension of ops' inputs; of equals the first seen. */
static int64_t
commonest_dim(const struct forest *w)
{
	struct map counts = { 0 };
	uint64_t best = 0;
	int64_t dim = -1;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < w->nodes.n; i++) {
			struct event ev;
			struct str s;

			if (w->nodes.v[i].kind != KIND_OP)
				continue;
			forest_event(w, i, &ev);
			s = dict_get(w->st, args_of_event(w->st, &ev).dims);
			for (size_t k = 0; k + 1 < s.len; k++) {
				size_t end = k + 2;
				uint64_t *n;
				int64_t v;

				if (s.p[k] != '[' || k == 0)
					continue;
				while (end < s.len && s.p[end] != ',' &&
				    s.p[end] != ']')
					end++;
				if (!num_i64((struct str){ s.p + k + 1,
						 end - k - 1 },
					&v) ||
				    v < 0)
					continue;
				n = map_put(&counts, (uint64_t)v, NULL);
				if (pass == 0)
					++*n;
				else if (*n > best) {
					best = *n;
					dim = v;
				}
			}
		}
	map_free(&counts);
	return dim;
}

void
capture_read(struct captures *c, struct capture_file *f)
{
	struct stream_in *in;
	struct told told = { .batch = -1 };
	enum section section = SECTION_NONE;
	enum item item;

	if (f->is_read)
		return;
	f->is_read = true;
	forest_start(&f->tree, c->st);
	in = stream_open(f->path, c->st, WANT_TREE);
	while ((item = stream_next(in)) != ITEM_END) {
		if (item == ITEM_SECTION)
			section = in->section;
		if (item != ITEM_EVENT)
			continue;
		hear(&told, &in->ev, dict_get(c->st, in->ev.name));
		if (section == SECTION_TREE && !event_is(&in->ev, KINDS_GPU))
			forest_add(&f->tree, &in->ev, f->path);
	}
	stream_close(in);
	find_roots(f);
	if (f->batch >= 0 || f->is_full || f->is_piecewise)
		return;
	if (told.ncaptures > 0 && told.ncaptures == told.nruns) {
		f->batch = told.batch;
		f->is_full = told.is_full;
		f->is_piecewise = told.is_piecewise;
	} else {
		f->batch = commonest_dim(&f->tree);
	}
}

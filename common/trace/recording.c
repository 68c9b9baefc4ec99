/* SPDX-License-Identifier: MIT */
/* The sources of all files that a sink reads, and how to tell them apart. */
#include "trace/trace.h"

void
recordings_file(struct recordings *g, const char *path)
{
	g->file = g->list.n;
	g->path = strcmp(path, "-") == 0 ? "stdin" : path;
}

struct recording *
recordings_of(struct recordings *g, uint32_t src)
{
	struct recording *o;

	/* a source's events stand together: the last one is the likely one */
	for (size_t i = g->list.n; i-- > g->file;)
		if (g->list.v[i].src == src)
			return &g->list.v[i];
	o = vec_add(&g->list);
	*o = (struct recording){
		.path = g->path,
		.src = src,
		.no = (uint32_t)g->list.n - 1,
		.is_asked = true,
	};
	return o;
}

/* A fact that is an integer, or its decimal text. */
static bool
int_fact(const struct source *s, const char *key, int64_t *v)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL)
		return false;
	switch (f->val.type) {
	case VAL_INT: *v = f->val.i; return true;
	case VAL_NUM:
	case VAL_STRX: return num_i64(f->val.s, v);
	default: return false;
	}
}

struct recording *
recordings_source(
    struct recordings *g, const struct select *sel, const struct source *s)
{
	struct recording *o = recordings_of(g, s->src);
	const struct fact *format = source_fact(s, "format");

	o->is_rocprof =
	    format != NULL && str_eq(format->val.s, STR("rocprofv3"));
	o->has_rank = int_fact(s, "rank", &o->rank);
	o->is_asked = select_source(sel, s);
	return o;
}

enum recording_column
recordings_column(const struct recordings *g)
{
	struct map seen = { 0 };
	bool differ = true;
	size_t n = 0;

	for (size_t i = 0; i < g->list.n; i++) {
		const struct recording *o = &g->list.v[i];
		bool is_new = false;

		if (!o->is_asked)
			continue;
		n++;
		if (o->has_rank)
			(void)map_put(&seen, (uint64_t)o->rank, &is_new);
		differ = differ && is_new;
	}
	map_free(&seen);
	return n < 2 ? RECORDING_ONE : differ ? RECORDING_RANK : RECORDING_SRC;
}

void
recordings_free(struct recordings *g)
{
	vec_free(&g->list);
}

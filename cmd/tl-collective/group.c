/* SPDX-License-Identifier: MIT */
/*
 * Process groups: a name and a set of ranks. The profiler cuts lists of over 30
 * ranks; they are completed from the trace's groups.
 */
#include "cmd/tl-collective/job.h"

#include <stdlib.h>

#include "json/json.h"

static int
by_value(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* ---- lists that were cut ---- */

/* From an object of pg_config, if it has this name. */
static bool
object_ranks(
    struct arena *mem, struct str object, struct str name, int_vec *out)
{
	json_items it = { 0 };
	const struct json_item *x;
	struct str ranks = { NULL, 0 };
	bool is_cut;

	if (json_split(&it, mem, object) &&
	    (x = json_member(&it, STR("pg_name"))) != NULL &&
	    str_eq(x->text, name) &&
	    (x = json_member(&it, STR("ranks"))) != NULL &&
	    str_find(x->text, STR("..."), false) < 0)
		ranks = x->text;
	vec_free(&it);
	return ranks.len > 2 && list_ints(ranks, out, &is_cut);
}

/* From pg_config: a list of objects somewhere in the text. */
static bool
told_ranks(struct str groups, struct str name, int_vec *out)
{
	const struct str key = STR("\"pg_config\":");
	ptrdiff_t at = str_find(groups, key, false);
	struct arena *mem = arena_create();
	struct buf b = { 0 };
	json_items list = { 0 };
	struct str text;
	struct json j;
	bool found = false;

	if (at >= 0) {
		buf_put(&b, groups.p + at + key.len,
		    groups.len - (size_t)at - key.len);
		buf_room(&b, IN_PAD);
		memset(b.p + b.len, 0, IN_PAD);
		json_start(&j, b.p, b.len);
		if (json_span(&j, &text) == JSON_OK &&
		    json_split(&list, mem, text))
			for (size_t i = 0; i < list.n && !found; i++)
				found = object_ranks(
				    mem, list.v[i].text, name, out);
	}
	vec_free(&list);
	buf_free(&b);
	arena_destroy(mem);
	return found;
}

/* "[0, 8, 16, ..." of known size: a constant stride. */
static bool
stride_ranks(const struct sig *s, int_vec *list)
{
	int64_t step;

	if (s->n == NONE || list->n < 2 || s->n > INT64_C(1) << 24)
		return false;
	step = list->v[1] - list->v[0];
	for (size_t i = 2; i + 1 < list->n; i++)
		if (list->v[i] - list->v[i - 1] != step)
			return false;
	int64_t first = list->v[0];

	list->n = 0;
	for (int64_t i = 0; i < s->n; i++)
		vec_push(list, first + i * step);
	return true;
}

static bool
members_of(const struct part *p, const struct sig *s, int_vec *out)
{
	bool is_cut;

	if (s->ranks.p == NULL || !list_ints(s->ranks, out, &is_cut)) {
		out->n = 0;
		is_cut = true;
	}
	return !is_cut ||
	    (s->pg.p != NULL && told_ranks(p->groups, s->pg, out)) ||
	    stride_ranks(s, out);
}

/* ---- groups ---- */

/* No group has a name, and each rank uses at most one GPU stream. */
static bool
is_simplified(const struct job *j)
{
	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];
		struct str first = { NULL, 0 };

		for (size_t k = 0; k < p->nrecs; k++) {
			const struct sig *s = rec_sig(j, &p->recs[k]);

			if (s->pg.p != NULL &&
			    !str_eq(s->pg, STR("Unknown_Group")))
				return false;
			if (s->gpu_stream.p == NULL)
				continue;
			if (first.p == NULL)
				first = s->gpu_stream;
			else if (!str_eq(first, s->gpu_stream))
				return false;
		}
	}
	return true;
}

static size_t
count_present(const struct job *j, const int_vec *members)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < members->n; i++) {
		while (at < j->ranks.n && j->ranks.v[at].rank < members->v[i])
			at++;
		n += at < j->ranks.n && j->ranks.v[at].rank == members->v[i];
	}
	return n;
}

/* The group of a signature, made if new. */
static uint32_t
group_of_sig(struct job *j, struct intern *keys, const struct part *p,
    const struct sig *s)
{
	struct buf b = { 0 };
	int_vec members = { 0 }, listed = { 0 };
	struct str pg = s->pg.p != NULL ? s->pg : STR("Unknown_Group");
	struct pgroup *g;
	uint32_t id;

	if (j->simplified)
		pg = STR("all");
	if (!members_of(p, s, &members))
		members.n = 0;
	for (size_t i = 0; i < members.n; i++)
		vec_push(&listed, members.v[i]);
	stable_sort(members.v, members.n, sizeof *members.v, by_value);
	buf_printf(&b, "%zu:", pg.len);
	buf_put(&b, pg.p, pg.len);
	for (size_t i = 0; i < members.n; i++)
		buf_printf(&b, ",%" PRId64, members.v[i]);
	if (s->peers.p != NULL) {
		buf_putc(&b, ';');
		buf_put(&b, s->peers.p, s->peers.len);
	}
	id = intern_put(keys, buf_str(&b));
	buf_free(&b);
	if (id < j->groups.n) {
		vec_free(&members);
		vec_free(&listed);
		return id;
	}
	g = vec_add(&j->groups);
	*g = (struct pgroup){ .pg = pg,
		.ranks = s->ranks,
		.desc = s->desc,
		.peers = s->peers,
		.npresent = count_present(j, &members),
		.members = members,
		.listed = listed };
	return id;
}

/* Labels: NAME, NAME{RANK} where groups share a name, and the peers of p2p. */
static void
label_groups(struct job *j)
{
	struct intern *names = intern_create();
	VEC(uint32_t) count = { 0 }; /* by name, without pairs */
	struct buf b = { 0 };

	for (size_t i = 0; i < j->groups.n; i++) {
		const struct pgroup *g = &j->groups.v[i];
		uint32_t id = intern_put(names, g->pg);

		if (id == count.n)
			vec_push(&count, 0);
		count.v[id] += g->peers.p == NULL;
	}
	for (size_t i = 0; i < j->groups.n; i++) {
		struct pgroup *g = &j->groups.v[i];

		b.len = 0;
		buf_put(&b, g->pg.p, g->pg.len);
		if (g->peers.p == NULL && g->members.n > 0 &&
		    count.v[intern_put(names, g->pg)] > 1)
			buf_printf(&b, "{%" PRId64 "}", g->members.v[0]);
		if (g->peers.p != NULL)
			buf_printf(&b, "{%.*s}", (int)g->peers.len, g->peers.p);
		g->label = arena_str(j->mem, buf_str(&b));
	}
	buf_free(&b);
	vec_free(&count);
	intern_destroy(names);
}

void
groups_build(struct job *j)
{
	struct intern *keys = intern_create();

	j->simplified = is_simplified(j);
	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];

		for (size_t k = 0; k < p->nrecs; k++) {
			struct sig *s = &j->sigs.v[p->recs[k].sig];

			if (s->group == UINT32_MAX)
				s->group = group_of_sig(j, keys, p, s);
		}
	}
	label_groups(j);
	intern_destroy(keys);
}

/* SPDX-License-Identifier: MIT */
/*
 * Process groups: a name and a set of ranks. Lists of over 30 ranks are cut by
 * the profiler and completed from what the trace says of its groups.
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

/* ---- the ranks of a list that was cut ---- */

/* After "ranks": in an object whose "pg_name" is name. */
static bool
object_ranks(struct json *j, struct str name, int_vec *out)
{
	enum json_token t;
	bool is_it = false;
	int_vec found = { 0 };

	while ((t = json_next(j)) == JSON_T_KEY) {
		struct str key = j->raw;
		bool is_name = str_eq(key, STR("pg_name"));
		const unsigned char *from;
		bool is_cut;

		if (!is_name && !str_eq(key, STR("ranks"))) {
			if (json_skip(j) != JSON_OK)
				break;
			continue;
		}
		t = json_next(j);
		from = j->p - 1;
		if (is_name) {
			is_it = t == JSON_T_STRING && str_eq(j->raw, name);
		} else if (t == JSON_T_ARRAY && json_skip(j) == JSON_OK) {
			if (!list_ints((struct str){ (const char *)from,
					   (size_t)(j->p - from) },
				&found, &is_cut) ||
			    is_cut)
				found.n = 0;
		}
	}
	if (is_it && found.n > 0) {
		out->n = 0;
		for (size_t i = 0; i < found.n; i++)
			vec_push(out, found.v[i]);
	}
	vec_free(&found);
	return is_it && out->n > 0;
}

/* From pg_config, a list of objects somewhere in the text. */
static bool
told_ranks(struct str groups, struct str name, int_vec *out)
{
	struct buf b = { 0 };
	struct json j;
	enum json_token t;
	bool found = false;
	ptrdiff_t at;

	at = str_find(groups, STR("\"pg_config\""), false);
	if (at < 0)
		return false;
	buf_put(&b, groups.p + at, groups.len - (size_t)at);
	buf_room(&b, IN_PAD);
	memset(b.p + b.len, 0, IN_PAD);
	/* behind the key and its colon */
	json_start(&j, b.p + strlen("\"pg_config\":"),
	    b.len - strlen("\"pg_config\":"));
	if (json_next(&j) == JSON_T_ARRAY)
		while (!found && (t = json_next(&j)) == JSON_T_OBJECT)
			found = object_ranks(&j, name, out);
	buf_free(&b);
	return found;
}

/* "[0, 8, 16, ..." of a known size: a constant stride. */
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
members_of(const struct job *j, const struct part *p, const struct sig *s,
    int_vec *out)
{
	bool is_cut;

	(void)j;
	if (s->ranks.p == NULL || !list_ints(s->ranks, out, &is_cut)) {
		out->n = 0;
		return s->pg.p != NULL && p->groups.len > 0 &&
		    told_ranks(p->groups, s->pg, out);
	}
	if (!is_cut)
		return true;
	return (s->pg.p != NULL && p->groups.len > 0 &&
		   told_ranks(p->groups, s->pg, out)) ||
	    stride_ranks(s, out);
}

/* ---- groups ---- */

/* No group has a name, and each rank used at most one GPU stream. */
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

/* The group of a signature, made when it is the first of it. */
static uint32_t
group_of_sig(struct job *j, struct intern *keys, const struct part *p,
    const struct sig *s)
{
	struct buf b = { 0 };
	int_vec members = { 0 }, listed = { 0 };
	bool has_members = members_of(j, p, s, &members);
	struct str pg = s->pg.p != NULL ? s->pg : STR("Unknown_Group");
	struct pgroup *g;
	uint32_t id;

	if (j->simplified)
		pg = STR("all");
	for (size_t i = 0; i < members.n; i++)
		vec_push(&listed, members.v[i]);
	if (has_members)
		qsort(members.v, members.n, sizeof *members.v, by_value);
	buf_printf(&b, "%zu:", pg.len);
	buf_put(&b, pg.p, pg.len);
	for (size_t i = 0; has_members && i < members.n; i++)
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
		.has_members = has_members,
		.npresent = count_present(j, &members),
		.members = members,
		.listed = listed };
	return id;
}

/* NAME, NAME{RANK} where groups share a name, and the peers of p2p. */
static void
label_groups(struct job *j)
{
	struct intern *names = intern_create();
	VEC(uint32_t) count = { 0 }; /* by name, of groups that are no pairs */
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
		if (g->peers.p == NULL && g->has_members &&
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

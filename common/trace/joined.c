/* SPDX-License-Identifier: MIT */
/* Whether sources are on one clock: see joined.h. */
#include "trace/joined.h"

#include "json/json.h"

const struct own_clock own_clock_none = { INTERN_NONE, OWN_CLOCK_ALONE };

void
own_clock_take(
    struct own_clock *own, struct dict *dict, const struct source *src)
{
	const struct fact *host = source_fact(src, "hostname");
	const struct fact *clock = source_fact(src, "clock");
	json_items list = { 0 };
	struct arena *mem;

	*own = own_clock_none;
	if (host != NULL && host->val.s.p != NULL)
		own->host = intern_put(dict->text, host->val.s);
	if (clock == NULL || clock->val.s.p == NULL)
		return;
	mem = arena_create();
	if (!json_split(&list, mem, clock->val.s) ||
	    !num_i64(json_member_text(&list, STR("island")), &own->island))
		own->island = OWN_CLOCK_ALONE;
	vec_free(&list);
	arena_destroy(mem);
}

int64_t
joined_number(int64_t rank, bool is_known, size_t no)
{
	return is_known ? rank : (int64_t)no;
}

static bool
has_own_rank(const struct joined *o)
{
	return o->has_rank && !o->is_rank_guess;
}

static int64_t
number_of(const joined_list *all, size_t i)
{
	return joined_number(all->v[i].rank, has_own_rank(&all->v[i]), i);
}

/* Whatever collectives show. */
static bool
share_clock(const struct joined *a, const struct joined *b)
{
	if (a->own.island != OWN_CLOCK_ALONE &&
	    b->own.island != OWN_CLOCK_ALONE)
		return a->own.island == b->own.island;
	if (has_own_rank(a) && has_own_rank(b) && a->rank == b->rank)
		return true;
	return !has_own_rank(a) && !has_own_rank(b) && a->path == b->path;
}

static bool
share_host(const struct joined *a, const struct joined *b)
{
	return a->own.host != INTERN_NONE && a->own.host == b->own.host;
}

static size_t
first_in(const joined_list *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].is_in)
			return i;
	return 0;
}

static bool
are_on_one_clock(const joined_list *all, size_t first)
{
	for (size_t i = first + 1; i < all->n; i++)
		if (all->v[i].is_in && !share_clock(&all->v[first], &all->v[i]))
			return false;
	return true;
}

/* Files on standard input. */
static size_t
count_stdin(const joined_list *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->v[i].is_stdin;
	return n;
}

void
joined_files(const joined_list *all, joined_paths *paths)
{
	for (size_t i = 0; i < all->n; i++) {
		const char *path = all->v[i].path;

		if (paths->n == 0 || path != paths->v[paths->n - 1])
			vec_push(paths, path);
	}
}

static void
tell_off(const joined_list *all, const collective_clock_list *clocks)
{
	VEC(int64_t) ranks = { 0 };

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].is_in)
			vec_push(&ranks, number_of(all, i));
	collective_tell_off(clocks, ranks.v, ranks.n);
	vec_free(&ranks);
}

/* Sources whose clocks are compared neither by collectives nor by
 * themselves. */
static void
tell_unknown(
    const joined_list *all, const collective_clock_list *clocks, size_t first)
{
	const struct joined *f = &all->v[first];
	const struct collective_clock *its =
	    collective_clock_of(clocks, number_of(all, first));
	const char *unknown = NULL;
	size_t n = 0, total = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct joined *o = &all->v[i];
		const struct collective_clock *c =
		    collective_clock_of(clocks, number_of(all, i));

		if (!o->is_in)
			continue;
		total++;
		if (i == first || share_clock(f, o) || share_host(f, o) ||
		    (its != NULL && c != NULL && its->island == c->island))
			continue;
		unknown = n++ == 0 ? o->path : unknown;
	}
	if (n > 0)
		report(MSG_JOIN_CLOCKS_UNKNOWN, n, total, unknown);
}

void
joined_check(const joined_list *all)
{
	size_t first = first_in(all), unread = count_stdin(all);
	collective_clock_list clocks = { 0 };
	joined_paths paths = { 0 };

	if (are_on_one_clock(all, first))
		return;
	if (unread > 0) {
		report(MSG_JOIN_CLOCKS_UNCHECKED, unread);
		return;
	}
	joined_files(all, &paths);
	collective_clocks_recorded(&clocks, paths.v, paths.n);
	tell_off(all, &clocks);
	tell_unknown(all, &clocks, first);
	vec_free(&clocks);
	vec_free(&paths);
}

/* SPDX-License-Identifier: MIT */
/* Joins the dumps of all ranks into process groups and calls; see flight.h. */
#include "cmd/tl-collective/flight.h"

#include <stdlib.h>

#include "json/json.h"

bool
flight_is(const struct job *j)
{
	size_t ndumps = 0;

	for (size_t i = 0; i < j->parts.n; i++)
		ndumps += j->parts.v[i].flight.len > 0;
	if (ndumps > 0 && ndumps < j->parts.n)
		die("%zu of %zu inputs are dumps of the flight recorder, the "
		    "others are traces: analyse them separately",
		    ndumps, j->parts.n);
	return ndumps > 0;
}

uint32_t
flight_pos(const struct flight *f, int64_t rank)
{
	const struct job *j = f->job;
	size_t lo = 0, hi = j->ranks.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (j->ranks.v[mid].rank < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < j->ranks.n && j->ranks.v[lo].rank == rank ? (uint32_t)lo
							      : UINT32_MAX;
}

/* ---- groups ---- */

/* State while the dump of one rank is read. */
struct loading {
	struct flight *f;
	struct intern *keys; /* groups by name and ranks */
	struct arena *mem;
	json_items config; /* alternately key and group */
	struct dump dump;
	VEC(uint32_t) text_of; /* the dump's number of a text to the job's */
	/* the text of a group to the job's group, or UINT32_MAX */
	VEC(uint32_t) group_of;
};

/* Groups of different ranks may share a name. */
static uint32_t
group_number(
    struct loading *l, struct str name, struct str desc, struct str ranks)
{
	struct flight *f = l->f;
	struct buf key = { 0 };
	bool is_cut;
	uint32_t id;

	buf_put(&key, name.p, name.len);
	buf_putc(&key, '\n');
	buf_put(&key, ranks.p, ranks.len);
	id = intern_put(l->keys, buf_str(&key));
	buf_free(&key);
	if (id == f->groups.n) {
		struct fgroup *g = vec_add(&f->groups);

		*g = (struct fgroup){ .name = arena_str(f->job->mem, name),
			.desc = arena_str(f->job->mem, desc) };
		if (!list_ints(ranks, &g->members, &is_cut) || is_cut)
			g->members.n = 0;
		for (size_t i = 0; i < g->members.n; i++)
			if (g->members.v[i] >= f->world &&
			    g->members.v[i] < INT32_MAX)
				f->world = g->members.v[i] + 1;
	}
	return id;
}

/* From process_group, a list of name and description; pg_config has the ranks
 * by name. */
static uint32_t
find_group(struct loading *l, struct str process_group)
{
	json_items pair = { 0 }, group = { 0 };
	struct str name = process_group, desc = STR(""), ranks = STR("");
	uint32_t id;

	if (json_split(&pair, l->mem, process_group) && pair.n > 0)
		name = pair.v[0].text;
	if (pair.n > 1)
		desc = pair.v[1].text;
	for (size_t i = 0; i + 1 < l->config.n; i += 2)
		if (str_eq(l->config.v[i].text, name) &&
		    json_split(&group, l->mem, l->config.v[i + 1].text)) {
			ranks = json_member_text(&group, STR("ranks"));
			break;
		}
	id = group_number(l, name, desc, ranks);
	vec_free(&pair);
	vec_free(&group);
	return id;
}

/* ---- calls ---- */

static bool
is_coalesced(const struct flight *f, const struct fcall *c)
{
	return str_eq(flight_text(f, c->name), STR("coalesced"));
}

/*
 * A batch is recorded call by call, and only its last one, "coalesced", ever
 * completes: its calls get that state.
 */
static bool
close_batch(struct flight *f, size_t first)
{
	const struct fcall *end = &f->calls.v[f->calls.n - 1];
	size_t i = f->calls.n - 1;

	while (i > first) {
		struct fcall *c = &f->calls.v[i - 1];

		if (c->group != end->group || is_coalesced(f, c) ||
		    (c->is_p2p ? c->p2p_seq != end->p2p_seq
			       : c->seq != end->seq))
			break;
		c->is_done = end->is_done;
		i--;
	}
	return i < f->calls.n - 1;
}

/* Joins calls of one collective, all with its number, into the first, with the
 * sum of their sizes. */
static bool
join_batch(struct flight *f, size_t first)
{
	struct fcall *c = &f->calls.v[f->calls.n - 1], *before = c - 1;

	if (f->calls.n - first < 2 || c->is_p2p || before->is_p2p ||
	    before->group != c->group || before->seq != c->seq)
		return false;
	before->is_done = c->is_done;
	if (c->in == NONE || before->in == NONE ||
	    !num_add(before->in, c->in, &before->in))
		before->in = NONE;
	if (c->out == NONE || before->out == NONE ||
	    !num_add(before->out, c->out, &before->out))
		before->out = NONE;
	return true;
}

static int
by_record(const void *pa, const void *pb)
{
	const struct fcall *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

static void
load_calls(struct loading *l, uint32_t pos)
{
	struct flight *f = l->f;
	size_t first = f->calls.n;
	struct fcall *sorted = xmalloc(l->dump.ncalls * sizeof *sorted + 1);

	memcpy(sorted, l->dump.calls, l->dump.ncalls * sizeof *sorted);
	stable_sort(sorted, l->dump.ncalls, sizeof *sorted, by_record);
	f->is_wrapped[pos] = l->dump.ncalls > 0 && sorted[0].id > 0;
	for (size_t i = 0; i < l->dump.ncalls; i++) {
		struct fcall c = sorted[i];
		uint32_t *group = &l->group_of.v[c.group];
		bool has_batch = false;

		if (*group == UINT32_MAX)
			*group = find_group(l, l->dump.texts[c.group]);
		c.group = *group;
		c.name = l->text_of.v[c.name];
		c.sizes = l->text_of.v[c.sizes];
		c.in_types = l->text_of.v[c.in_types];
		c.out_types = l->text_of.v[c.out_types];
		c.frame = l->text_of.v[c.frame];
		c.stack = l->text_of.v[c.stack];
		c.pos = pos;
		vec_push(&f->calls, c);
		if (is_coalesced(f, &c))
			has_batch = close_batch(f, first);
		if (has_batch || join_batch(f, first))
			f->calls.n--;
	}
	free(sorted);
}

static void
load_part(struct loading *l, const struct part *p)
{
	arena_reset(l->mem, 0);
	l->text_of.n = l->group_of.n = 0;
	dump_get(&l->dump, p->flight);
	if (!json_split(&l->config, l->mem, l->dump.config))
		l->config.n = 0;
	for (size_t i = 0; i < l->dump.ntexts; i++) {
		vec_push(
		    &l->text_of, intern_put(l->f->texts, l->dump.texts[i]));
		vec_push(&l->group_of, UINT32_MAX);
	}
	load_calls(l, p->pos);
}

/* ---- the job ---- */

static int
by_group(const void *pa, const void *pb)
{
	const struct fcall *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->is_p2p != b->is_p2p)
		return a->is_p2p < b->is_p2p ? -1 : 1;
	if (a->seq != b->seq && !a->is_p2p)
		return a->seq < b->seq ? -1 : 1;
	if (a->pos != b->pos)
		return a->pos < b->pos ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

struct flight *
flight_new(const struct job *j)
{
	struct flight *f = xcalloc(1, sizeof *f);
	struct loading l = {
		.f = f, .keys = intern_create(), .mem = arena_create()
	};
	const struct part *before = NULL;

	f->job = j;
	f->texts = intern_create();
	f->is_wrapped = xcalloc(j->ranks.n, sizeof *f->is_wrapped);
	f->last = xcalloc(j->ranks.n, sizeof *f->last);
	(void)intern_put(f->texts, STR(""));
	for (size_t i = 0; i < j->parts.n; i++) {
		const struct part *p = &j->parts.v[i];

		if (before != NULL && before->pos == p->pos) {
			report(MSG_DUMP_TWICE, p->path, p->rank, before->path);
			continue;
		}
		before = p;
		load_part(&l, p);
	}
	stable_sort(f->calls.v, f->calls.n, sizeof *f->calls.v, by_group);
	for (size_t i = 0; i < f->calls.n; i++) {
		const struct fcall *c = &f->calls.v[i];
		const struct fcall **last = &f->last[c->pos];

		if (*last == NULL || (*last)->id < c->id)
			*last = c;
	}
	intern_destroy(l.keys);
	arena_destroy(l.mem);
	vec_free(&l.config);
	vec_free(&l.text_of);
	vec_free(&l.group_of);
	return f;
}

/* SPDX-License-Identifier: MIT */
/* Which link bounds a group's collectives, and what it carries. */
#include "cmd/tl-collective/link.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/embedded.h"
#include "cmd/tl-collective/job.h"
#include "json/json.h"

#define FILE_MAX_BYTES (1 << 20)
#define HOPS 10 /* fewest latencies of a link in a transfer that is judged */
#define GBPS_MAX 1e6

extern const struct embedded tl_collective_data[];
extern const size_t tl_collective_ndata;

struct links {
	struct arena *mem;
	VEC(struct link *) list;
	struct link *chosen[LINK_SCOPES];
};

/* ---- files ---- */

static int
word_of(const json_items *it, const char *key, const char *const *words)
{
	struct str s = json_member_text(it, str_of(key));

	for (int i = 0; words[i] != NULL; i++)
		if (str_eq(s, str_of(words[i])))
			return i;
	return -1;
}

/* NAN: missing; negative: no number. */
static double
figure_of(const json_items *it, const char *key)
{
	const struct json_item *x = json_member(it, str_of(key));
	double v;

	if (x == NULL || x->type == JSON_T_NULL)
		return NAN;
	return x->type == JSON_T_NUMBER && num_double(x->text, &v) && v >= 0 &&
		v <= GBPS_MAX
	    ? v
	    : -1;
}

static bool
read_devices(struct link *l, struct arena *mem, const json_items *it)
{
	const struct json_item *x = json_member(it, STR("devices"));
	json_items list = { 0 };
	bool is_good = x == NULL ||
	    (x->type == JSON_T_ARRAY && json_split(&list, mem, x->text));

	for (size_t i = 0; i < list.n; i++) {
		is_good &= list.v[i].type == JSON_T_STRING;
		vec_push(&l->devices, list.v[i].text);
	}
	vec_free(&list);
	return is_good;
}

/* What is wrong with a link, or NULL. */
static const char *
read_members(struct link *l, struct arena *mem, const json_items *it)
{
	static const char *const scopes[] = { "intra", "inter", NULL };
	static const char *const pers[] = { "gpu", "peer", "node", NULL };
	double peak = figure_of(it, "link_gbps");

	l->name = json_member_text(it, STR("name"));
	l->scope = word_of(it, "scope", scopes);
	l->per = word_of(it, "per", pers);
	l->gbps = figure_of(it, "max_achievable_link_gbps");
	l->hop_us = figure_of(it, "hop_latency_us");
	l->label = l->name;
	if (isnan(l->gbps)) {
		l->gbps = peak;
		l->label = str_of(arena_printf(
		    mem, "%.*s (peak)", (int)l->name.len, l->name.p));
	}
	if (l->name.len == 0)
		return "no name";
	if (l->scope < 0)
		return "scope must be intra or inter";
	if (l->per < 0)
		return "per must be gpu, peer or node";
	if (!(peak > 0) || !(l->gbps > 0))
		return "link_gbps and max_achievable_link_gbps must be GB/s";
	if (!(l->hop_us >= 0))
		return "hop_latency_us must be microseconds";
	return read_devices(l, mem, it) ? NULL
					: "devices must be a list of patterns";
}

static struct link *
read_link(struct links *all, const char *file, struct str text)
{
	struct link *l = arena_alloc(all->mem, sizeof *l);
	json_items items = { 0 };
	const char *error = "not an object of JSON";

	*l = (struct link){ 0 };
	if (json_split(&items, all->mem, text) && items.n > 0 &&
	    items.v[0].type == JSON_T_KEY)
		error = read_members(l, all->mem, &items);
	if (error != NULL)
		die("%s: %s", file, error);
	vec_free(&items);
	vec_push(&all->list, l);
	return l;
}

static struct link *
read_file(struct links *all, const char *path)
{
	struct in *in = in_open(path);
	struct link *l;

	while (in_more(in) && in->end - in->p <= FILE_MAX_BYTES)
		;
	if (in->end - in->p > FILE_MAX_BYTES)
		die("%s: too long for a link's figures", path);
	l = read_link(all, path,
	    (struct str){ (const char *)in->p, (size_t)(in->end - in->p) });
	in_close(in);
	return l;
}

struct links *
links_new(void)
{
	struct links *all = xcalloc(1, sizeof *all);

	all->mem = arena_create();
	for (size_t i = 0; i < tl_collective_ndata; i++) {
		const struct embedded *e = &tl_collective_data[i];

		(void)read_link(all, e->name,
		    (struct str){ (const char *)e->bytes, e->len });
	}
	return all;
}

static noreturn void
die_unknown(const struct links *all, const char *name)
{
	struct buf names = { 0 };

	for (size_t i = 0; i < all->list.n; i++)
		buf_printf(&names, " %.*s", (int)all->list.v[i]->name.len,
		    all->list.v[i]->name.p);
	die_usage("no link '%s': a file.json or one of%.*s", name,
	    (int)names.len, names.p);
}

static struct link *
find(struct links *all, const char *name)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct str s = all->list.v[i]->name;

		if (s.len == strlen(name) && strncasecmp(s.p, name, s.len) == 0)
			return all->list.v[i];
	}
	if (strchr(name, '/') == NULL && !str_ends(str_of(name), STR(".json")))
		die_unknown(all, name);
	return read_file(all, name);
}

void
links_choose(struct links *all, const char *name)
{
	struct link *l = find(all, name);

	if (all->chosen[l->scope] != NULL)
		die_usage("option '--link': %.*s and %.*s are both %s nodes",
		    (int)all->chosen[l->scope]->name.len,
		    all->chosen[l->scope]->name.p, (int)l->name.len, l->name.p,
		    l->scope == LINK_INTRA ? "within" : "between");
	all->chosen[l->scope] = l;
	l->is_chosen = true;
}

/* ---- nodes of ranks ---- */

/* Finds the node of each rank, by position; false: unknown. */
static bool
nodes_of_hosts(const struct job *j, int64_t *node)
{
	struct intern *names = intern_create();
	bool is_known = true;

	for (size_t r = 0; r < j->ranks.n && is_known; r++) {
		is_known = j->ranks.v[r].host.p != NULL;
		if (is_known)
			node[r] = intern_put(names, j->ranks.v[r].host);
	}
	intern_destroy(names);
	return is_known;
}

/*
 * Finds the nodes of a group, by host names if all ranks have one. A process
 * that sees one GPU does not know how many its node has.
 */
static bool
find_nodes(const struct job *j, const int64_t *hosts, const struct pgroup *g,
    int_vec *out)
{
	bool is_all = j->simplified && g->members.n == 0;
	size_t n = is_all ? j->ranks.n : g->members.n;

	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t rank = is_all ? j->ranks.v[i].rank : g->members.v[i];
		size_t at;

		bisect(at, j->ranks.n, mid, j->ranks.v[mid].rank < rank);
		if (hosts != NULL && at < j->ranks.n &&
		    j->ranks.v[at].rank == rank)
			vec_push(out, hosts[at]);
		else if (hosts == NULL &&
		    (j->set->gpus_per_node > 0 || j->gpus_per_node > 1))
			vec_push(out, rank / j->gpus_per_node);
		else
			return false;
	}
	sort_i64(out->v, out->n);
	return n > 1;
}

struct spread {
	double n, nodes, fewest; /* ranks; ranks on the smallest node */
};

static struct spread
spread_of(const int_vec *nodes)
{
	struct spread s = { .n = (double)nodes->n, .fewest = (double)nodes->n };
	size_t first = 0;

	for (size_t i = 1; i <= nodes->n; i++) {
		if (i < nodes->n && nodes->v[i] == nodes->v[first])
			continue;
		s.nodes++;
		s.fewest = fmin(s.fewest, (double)(i - first));
		first = i;
	}
	return s;
}

struct str
group_nodes(struct job *j, const struct pgroup *g)
{
	int64_t *hosts = xcalloc(j->ranks.n, sizeof *hosts);
	struct str text = { NULL, 0 };
	struct buf b = { 0 };
	int_vec nodes = { 0 };
	size_t n = 0;

	if (find_nodes(j, nodes_of_hosts(j, hosts) ? hosts : NULL, g, &nodes)) {
		for (size_t i = 0; i < nodes.n; i++)
			if (i == 0 || nodes.v[i] != nodes.v[n - 1])
				nodes.v[n++] = nodes.v[i];
		put_ranges(&b, nodes.v, n);
		text = arena_str(j->mem, buf_str(&b));
	}
	buf_free(&b);
	vec_free(&nodes);
	free(hosts);
	return text;
}

/* ---- bounds ---- */

/* A mesh has a link to each peer; ranks of a node share a PER_NODE link. */
static double
within(const struct link *l, double n)
{
	return l->per == PER_PEER ? l->gbps * (n - 1)
	    : l->per == PER_NODE  ? l->gbps / n
				  : l->gbps;
}

/*
 * Rings leave a node through all its ranks' adapters at once and carry the bus
 * bandwidth there; in an all-to-all each rank sends what is for other nodes
 * through its own.
 */
static struct group_link
bound(const struct link *const by[LINK_SCOPES], struct spread s)
{
	const struct link *in = by[LINK_INTRA], *net = by[LINK_INTER];
	struct link_limit node = { in, in != NULL ? within(in, s.fewest) : 0 };
	struct group_link g = { node, node };
	double rank;

	if (s.nodes == 1)
		return g;
	if (net == NULL)
		return (struct group_link){ { NULL, 0 }, { NULL, 0 } };
	rank = net->per == PER_NODE ? net->gbps / s.fewest : net->gbps;
	g.all2all =
	    (struct link_limit){ net, rank * (s.n - 1) / (s.n - s.fewest) };
	if (in == NULL || s.fewest == 1 || rank * s.fewest < node.gbps)
		g.ring = (struct link_limit){ net, rank * s.fewest };
	return g;
}

struct str
link_device(struct arena *mem, struct str device)
{
	json_items items = { 0 };
	struct str name = { "", 0 };

	if (json_split(&items, mem, device))
		name = json_member_text(&items, STR("name"));
	vec_free(&items);
	return name;
}

/* The link of the GPUs, if all have one name and one file has it. */
static const struct link *
link_of_device(const struct job *j)
{
	const struct links *all = j->set->links;
	struct str name = j->parts.v[0].device;

	for (size_t i = 1; i < j->parts.n; i++)
		if (!str_eq(j->parts.v[i].device, name))
			return NULL;
	for (size_t i = 0; i < all->list.n && name.len > 0; i++) {
		const struct link *l = all->list.v[i];

		if (l->scope == LINK_INTRA && l->devices.n > 0 &&
		    str_glob_any(l->devices.v, l->devices.n, name))
			return l;
	}
	return NULL;
}

void
links_find(struct job *j)
{
	const struct link *by[] = { j->set->links->chosen[LINK_INTRA],
		j->set->links->chosen[LINK_INTER] };
	bool is_asked = by[LINK_INTRA] != NULL || by[LINK_INTER] != NULL;
	int64_t *hosts = xcalloc(j->ranks.n, sizeof *hosts);
	bool has_hosts = nodes_of_hosts(j, hosts);
	int_vec nodes = { 0 };
	size_t nunknown = 0;

	if (by[LINK_INTRA] == NULL)
		by[LINK_INTRA] = link_of_device(j);
	for (size_t i = 0; i < j->groups.n; i++) {
		struct pgroup *g = &j->groups.v[i];

		/* a send lasts for both ends, which need not meet */
		if (g->peers.p != NULL)
			continue;
		if (find_nodes(j, has_hosts ? hosts : NULL, g, &nodes))
			g->link = bound(by, spread_of(&nodes));
		else
			nunknown += g->members.n != 1;
	}
	if (is_asked && nunknown > 0)
		report(MSG_NODES_UNKNOWN, nunknown);
	vec_free(&nodes);
	free(hosts);
}

const struct link_limit *
coll_limit(const struct job *j, const struct coll *c)
{
	const struct group_link *g = &j->groups.v[c->group].link;

	return c->class == CLASS_ALLTOALL || c->class == CLASS_ALLTOALLV
	    ? &g->all2all
	    : &g->ring;
}

double
coll_pct_of_link(const struct job *j, const struct coll *c)
{
	const struct link_limit *l = coll_limit(j, c);

	return l->link != NULL
	    ? 100 * coll_bus_bw(j, c) * (1073741824.0 / 1e9) / l->gbps
	    : (double)NAN;
}

double
coll_judged_from(const struct job *j, const struct coll *c)
{
	const struct link_limit *l = coll_limit(j, c);

	/* us times 1e9 bytes/s is thousands of bytes */
	return l->link != NULL ? (double)j->sigs.v[c->sig].n * HOPS *
		l->link->hop_us * l->gbps * 1e3
			       : (double)NAN;
}

/* ---- shares of the link ---- */

bool
link_is_slow(struct pgroup *g, double pct)
{
	return g->limit != NULL && g->limit->link->is_chosen &&
	    values_stat(&g->of_link, 0.5) < pct;
}

void
link_say(struct pgroup *g, struct buf *b)
{
	const struct link_limit *l = g->limit;

	buf_printf(b, "%.0f %% of the %.4g GB/s of %.*s",
	    values_stat(&g->of_link, 0.5), l->gbps, (int)l->link->label.len,
	    l->link->label.p);
}

static void
tell_exceeded(struct job *j)
{
	struct pgroup *most = NULL;
	double pct = 100.5; /* less prints as 100 % */
	size_t n = 0;

	for (size_t i = 0; i < j->groups.n; i++) {
		struct pgroup *g = &j->groups.v[i];
		double own = values_stat(&g->of_link, 0.5);

		n += own > 100.5;
		if (own > pct) {
			pct = own;
			most = g;
		}
	}
	if (most != NULL)
		report(MSG_LINK_EXCEEDED, n, most->label, (int64_t)(pct + 0.5),
		    most->limit->link->label);
}

void
links_measure(struct job *j)
{
	for (size_t i = 0; i < j->colls.n; i++) {
		const struct coll *c = &j->colls.v[i];

		struct pgroup *g = &j->groups.v[c->group];

		if (!coll_counts(j, c) ||
		    !((double)j->sigs.v[c->sig].full_bytes >=
			coll_judged_from(j, c)))
			continue;
		value_add(&g->of_link, coll_pct_of_link(j, c));
		g->limit = coll_limit(j, c);
	}
	tell_exceeded(j);
}

/* SPDX-License-Identifier: MIT */
/* Dumps of modules beside a trace: see dump.h. */
#include "cmd/tl-decode/hlo/dump.h"

#include <stdlib.h>

#include "cmd/tl-decode/hlo/hlo.h"
#include "cmd/tl-decode/hlo/module.h"

struct dump {
	char *path, *real;
	struct str module;
	uint64_t number; /* in the file's name, often the program's */
	bool has_number;
};

struct dumps {
	VEC(struct dump) list;
	struct arena *mem;
};

/* A program named by GPU work. */
struct used {
	uint64_t id;
	bool has_id; /* else the id is made of the name */
	bool has_module;
	struct str name;
};

struct dump_use {
	struct hlo *hlo;
	struct arena *mem;
	struct map place_of; /* index in programs, by id */
	VEC(struct used) programs;
	char *path; /* of the trace */
};

/* ---- which there are ---- */

static struct str
in_text(const struct in *in)
{
	return (struct str){ (const char *)in->p, (size_t)(in->end - in->p) };
}

/* module_0007.jit_f.sm_9.0_gpu_after_optimizations.txt */
static void
take_number(struct dump *d)
{
	const char *base = strrchr(d->path, '/');
	struct str name = str_of(base != NULL ? base + 1 : d->path);
	const char *dot;

	if (!str_take(&name, STR("module_")))
		return;
	dot = memchr(name.p, '.', name.len);
	if (dot != NULL)
		name.len = (size_t)(dot - name.p);
	d->has_number = num_u64(name, &d->number);
}

static bool
add_file(struct dumps *all, const char *path)
{
	struct in *in = in_open(path);
	struct dump d;
	struct str name;

	while (memchr(in->p, '\n', (size_t)(in->end - in->p)) == NULL &&
	    in_more(in))
		continue;
	name = module_name_in(in_text(in));
	d = (struct dump){ .path = xstrdup(path),
		.real = realpath(path, NULL),
		.module = arena_str(all->mem, name) };
	in_close(in);
	take_number(&d);
	vec_push(&all->list, d);
	return name.len > 0;
}

static bool
is_dump(struct str name)
{
	return str_glob(STR("*after_optimizations.txt*"), name);
}

static void
take_file(void *all, const char *path)
{
	struct dumps *d = all;

	if (!add_file(d, path))
		d->list.n--;
}

void
dumps_add(struct dumps **all, const char *path)
{
	if (strcmp(path, "-") == 0)
		die_usage("option '--xla-dump' reads no pipe: name a file or a "
			  "folder");
	if (*all == NULL) {
		*all = xcalloc(1, sizeof **all);
		(*all)->mem = arena_create();
	}
	if (io_is_folder(path))
		io_find_files(path, is_dump, take_file, *all);
	else if (!add_file(*all, path))
		die("%s: no HLO module as text", path);
}

/* ---- what GPU work names ---- */

void
dump_begin(struct source_state *s)
{
	struct dump_use *u = xcalloc(1, sizeof *u);

	u->hlo = hlo_create();
	u->mem = arena_create();
	u->path = realpath(s->path, NULL);
	s->dumps = u;
}

void
dump_end(struct source_state *s)
{
	struct dump_use *u = s->dumps;

	if (u == NULL)
		return;
	hlo_destroy(u->hlo);
	arena_destroy(u->mem);
	map_free(&u->place_of);
	vec_free(&u->programs);
	vec_release(u->path);
	vec_release(u);
	s->dumps = NULL;
}

static struct used *
used_of(struct dump_use *u, uint64_t id)
{
	uint32_t at = map_number(&u->place_of, id);

	if (at == u->programs.n)
		vec_push(&u->programs, ((struct used){ .id = id }));
	return &u->programs.v[at];
}

static struct str
text_arg(const struct dict *st, const struct event *ev, struct str key)
{
	struct value v;

	return event_arg(st, ev, key, &v) &&
		(v.type == VAL_STR || v.type == VAL_STRX)
	    ? v.s
	    : STR("");
}

static bool
program_of(const struct dict *st, const struct event *ev, uint64_t *id)
{
	struct value v;

	if (!event_arg(st, ev, STR("program_id"), &v))
		return false;
	*id = v.type == VAL_INT ? (uint64_t)v.i : v.u;
	return v.type == VAL_INT || v.type == VAL_UINT;
}

void
dump_event(struct source_state *s, const struct event *ev)
{
	struct dump_use *u = s->dumps;
	struct str name, op;
	struct used *p;
	uint64_t id;
	bool has_id;

	if (!event_is(ev, KINDS_GPU))
		return;
	op = text_arg(s->dict, ev, STR("hlo_op"));
	name = text_arg(s->dict, ev, STR("hlo_module"));
	if (op.len == 0 || name.len == 0)
		return;
	has_id = program_of(s->dict, ev, &id);
	if (!has_id)
		id = hash_bytes(name.p, name.len);
	p = used_of(u, id);
	if (p->name.p == NULL)
		p->name = arena_str(u->mem, name);
	p->has_id = has_id;
	hlo_name(u->hlo, id, op, STR(""));
}

void
dump_meta(struct source_state *s, struct str key)
{
	uint64_t id;

	if (str_take(&key, STR("hlo ")) && num_u64(key, &id))
		used_of(s->dumps, id)->has_module = true;
}

/* ---- looking them up ---- */

static size_t
common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a != NULL && b != NULL && a[n] != '\0' && a[n] == b[n])
		n++;
	return n;
}

/* Higher is better: nearest to the trace, then the program's number. */
static size_t
rank_of(const struct dump_use *u, const struct used *p, const struct dump *d)
{
	bool is_number = p->has_id && d->has_number && d->number == p->id;

	return str_eq(d->module, p->name)
	    ? 1 + 2 * common_prefix(d->real, u->path) + is_number
	    : 0;
}

static void
read_record(struct dump_use *u, const struct used *p, const struct dump *d,
    struct buf *to)
{
	struct in *in = in_open(d->path);
	struct str record;

	while (in_more(in))
		continue;
	record = hlo_dump_record(u->hlo, p->id, in_text(in));
	to->len = 0;
	buf_put(to, record.p, record.len);
	in_close(in);
}

/* The record of the best dump; of equally good ones, if they agree. */
static bool
find_record(struct source_state *s, const struct used *p, struct buf *to)
{
	const struct dumps *all = s->set->dumps;
	size_t best = 0, nbest = 0;
	struct buf other = { 0 };
	bool are_same = true;

	for (size_t i = 0; i < all->list.n; i++) {
		size_t rank = rank_of(s->dumps, p, &all->list.v[i]);

		best = rank > best ? rank : best;
	}
	for (size_t i = 0; i < all->list.n && best > 0 && are_same; i++) {
		const struct dump *d = &all->list.v[i];

		if (rank_of(s->dumps, p, d) != best)
			continue;
		read_record(s->dumps, p, d, nbest++ == 0 ? to : &other);
		are_same = nbest == 1 || str_eq(buf_str(to), buf_str(&other));
	}
	buf_free(&other);
	if (!are_same)
		report(MSG_DUMPS_DIFFER, s->in->name, p->name);
	return best > 0 && are_same;
}

void
dump_write(struct source_state *s)
{
	struct dump_use *u = s->dumps;
	struct buf record = { 0 };
	const struct used *without = NULL;
	uint64_t nwithout = 0;

	s->events_ended = true;
	for (size_t i = 0; i < u->programs.n; i++) {
		const struct used *p = &u->programs.v[i];

		if (p->has_module || p->name.p == NULL)
			continue;
		if (find_record(s, p, &record)) {
			hlo_put_record(s, p->id, buf_str(&record));
			continue;
		}
		without = nwithout++ == 0 ? p : without;
	}
	if (nwithout > 0)
		report(MSG_NO_DUMP, s->in->name, nwithout, without->name);
	buf_free(&record);
}

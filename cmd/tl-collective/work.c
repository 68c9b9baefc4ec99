/* SPDX-License-Identifier: MIT */
/*
 * Reduces inputs in parallel child processes. A child takes one input after
 * another, appends its parts to a file in memory and notes them in a table,
 * both shared by all. So a damaged input ends its child with the usual message,
 * and another child goes on with the rest.
 */
#include "cmd/tl-collective/collective.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* An input, and where its parts are. */
struct task {
	_Atomic bool is_done;
	bool has_warned;
	size_t offset, len;
};

struct shared {
	_Atomic size_t next, len; /* next: input to take; len: of the file */
	struct task tasks[];
};

struct work {
	const struct settings *set;
	const path_vec *paths;
	struct shared *shared;
	int fd;
};

/* ---- a part as bytes ---- */

static const size_t part_texts[] = { offsetof(struct part, name),
	offsetof(struct part, host), offsetof(struct part, device),
	offsetof(struct part, groups), offsetof(struct part, flight) };
#define PART_TEXTS (sizeof part_texts / sizeof *part_texts)

static void
put_bytes(struct buf *b, const void *p, size_t n)
{
	static const char zeros[8];

	buf_put(b, p, n);
	buf_put(b, zeros, (8 - n % 8) % 8);
}

static void
put_text(struct buf *b, struct str s)
{
	put_bytes(b, &s.len, sizeof s.len);
	put_bytes(b, s.p, s.len);
}

void
part_put(struct buf *b, const struct part *p, const struct intern *sigs,
    const struct intern *names)
{
	put_bytes(b, p, sizeof *p);
	for (size_t i = 0; i < PART_TEXTS; i++)
		put_text(
		    b, *(const struct str *)((const char *)p + part_texts[i]));
	for (uint32_t i = 0; i < p->nsigs; i++)
		put_text(b, intern_get(sigs, i));
	for (uint32_t i = 0; i < p->nnames; i++)
		put_text(b, intern_get(names, i));
	put_bytes(b, p->spent, p->nspent * sizeof *p->spent);
	put_bytes(b, p->recs, p->nrecs * sizeof *p->recs);
	if (p->exposed != NULL)
		put_bytes(b, p->exposed, p->nrecs * sizeof *p->exposed);
}

static const void *
get_bytes(const char **at, size_t n)
{
	const char *p = *at;

	*at += (n + 7) / 8 * 8;
	return p;
}

static struct str
get_text(const char **at)
{
	struct str s;

	memcpy(&s.len, get_bytes(at, sizeof s.len), sizeof s.len);
	s.p = get_bytes(at, s.len);
	return s;
}

static const struct str *
get_texts(const char **at, size_t n)
{
	struct str *texts = xcalloc(n + 1, sizeof *texts);

	for (size_t i = 0; i < n; i++)
		texts[i] = get_text(at);
	return texts;
}

/* Texts and records stay in place. */
static void
get_part(const char **at, const char *path, struct part *p)
{
	memcpy(p, get_bytes(at, sizeof *p), sizeof *p);
	p->path = str_of(path);
	for (size_t i = 0; i < PART_TEXTS; i++)
		*(struct str *)((char *)p + part_texts[i]) = get_text(at);
	p->sigs = get_texts(at, p->nsigs);
	p->names = get_texts(at, p->nnames);
	p->spent = (struct spent *)(uintptr_t)get_bytes(
	    at, p->nspent * sizeof *p->spent);
	p->recs =
	    (struct rec *)(uintptr_t)get_bytes(at, p->nrecs * sizeof *p->recs);
	if (p->exposed != NULL)
		p->exposed = (int64_t *)(uintptr_t)get_bytes(
		    at, p->nrecs * sizeof *p->exposed);
}

/* ---- a child ---- */

static void
do_task(struct work *w, struct reducer *r, size_t i, struct buf *b)
{
	struct task *t = &w->shared->tasks[i];
	bool before = exit_status() == EXIT_WARNINGS;

	b->len = 0;
	reduce_input(r, w->paths->v[i], (uint32_t)i, b);
	t->offset = atomic_fetch_add(&w->shared->len, b->len);
	for (t->len = 0; t->len < b->len;) {
		ssize_t n = pwrite(w->fd, b->p + t->len, b->len - t->len,
		    (off_t)(t->offset + t->len));

		if (n > 0)
			t->len += (size_t)n;
		else if (n == 0 || errno != EINTR)
			die_errno("%s: its records", w->paths->v[i]);
	}
	t->has_warned = !before && exit_status() == EXIT_WARNINGS;
	atomic_store(&t->is_done, true);
}

/* Takes an input before all else, so that a child that dies has used one up. */
static noreturn void
be_child(struct work *w)
{
	struct reducer *r = NULL;
	struct buf b = { 0 };
	size_t i;

	while ((i = atomic_fetch_add(&w->shared->next, 1)) < w->paths->n) {
		if (r == NULL)
			r = reducer_new(w->set);
		do_task(w, r, i, &b);
	}
	_exit(exit_status());
}

/* ---- the parent ---- */

static void
start_child(struct work *w)
{
	if (child_fork() == 0)
		be_child(w);
}

/* A child has ended; whether that was during an input, not after the last. */
static bool
wait_child(void)
{
	int status;

	(void)child_wait_any(&status);
	if (child_signal(status) > 0)
		report(MSG_READER_KILLED, child_signal(status));
	return status != EXIT_DONE && status != EXIT_WARNINGS;
}

static void
run_children(struct work *w)
{
	size_t alive = 0, most = (size_t)w->set->jobs;

	while (alive < most && alive < w->paths->n) {
		start_child(w);
		alive++;
	}
	while (alive > 0)
		if (wait_child() && atomic_load(&w->shared->next) < w->paths->n)
			start_child(w);
		else
			alive--;
}

static void *
map(int fd, size_t len)
{
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		die_errno("mmap");
	return p;
}

static void
take_task(const struct work *w, size_t i, const char *bytes, size_t *nsources,
    part_vec *parts)
{
	size_t before = parts->n;
	const struct task *t = &w->shared->tasks[i];
	const char *at = bytes + t->offset, *end = at + t->len;

	if (!atomic_load(&t->is_done)) {
		report(MSG_INPUT_FAILED, w->paths->v[i]);
		++*nsources;
		return;
	}
	if (t->has_warned)
		report(MSG_INPUT_WARNED, w->paths->v[i]);
	while (at < end) {
		struct part *p = vec_add(parts);

		get_part(&at, w->paths->v[i], p);
		*nsources += parts->n - 1 == before || p->src != p[-1].src;
		p->source_no = *nsources - 1;
	}
}

void
work_run(const struct settings *set, const path_vec *paths, part_vec *parts)
{
	struct work w = { .set = set,
		.paths = paths,
		.shared = map(
		    -1, sizeof(struct shared) + paths->n * sizeof(struct task)),
		.fd = memfd_create("tl-collective", MFD_CLOEXEC) };
	const char *bytes = "";
	size_t nsources = 0, nread = 0;

	if (w.fd < 0)
		die_errno("memfd_create");
	run_children(&w);
	if (w.shared->len > 0)
		bytes = map(w.fd, w.shared->len);
	close(w.fd);
	for (size_t i = 0; i < paths->n; i++)
		take_task(&w, i, bytes, &nsources, parts);
	for (size_t i = 0; i < paths->n; i++)
		nread += atomic_load(&w.shared->tasks[i].is_done);
	if (select_front_is_on(&set->select) && nread == paths->n &&
	    parts->n == 0)
		die_nothing(MSG_NO_EVENT_MATCHES, paths->v[0], STR(""));
	if (parts->n == 0)
		die("no input could be read");
}

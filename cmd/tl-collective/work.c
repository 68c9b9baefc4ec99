/* SPDX-License-Identifier: MIT */
/*
 * Inputs are reduced in child processes, side by side. A child takes one input
 * after another, appends what it made of it to a file in memory of its own and
 * says so in a table that all share. So an input that is damaged ends its
 * child with the message that it ends any program with, and the others are not
 * touched: another child goes on.
 */
#include "cmd/tl-collective/collective.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum job_state {
	STATE_WAITING,
	STATE_BEGUN,
	STATE_DONE,
};

/* One input; child: whose file it lies in. */
struct task {
	_Atomic int state;
	int child;
	bool has_warned;
	uint64_t offset, len;
};

struct shared {
	_Atomic size_t next;
	struct task tasks[];
};

struct child {
	pid_t pid;
	int fd; /* stays when the child is replaced */
	const char *bytes;
	size_t len;
};

struct work {
	const struct settings *set;
	const path_vec *paths;
	struct shared *shared;
	VEC(struct child) children;
};

/* ---- a part as bytes ---- */

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
	uint64_t n = s.len;

	put_bytes(b, &n, sizeof n);
	put_bytes(b, s.p, s.len);
}

static void
put_part(struct buf *b, const struct part *p)
{
	put_bytes(b, p, sizeof *p);
	put_text(b, p->name);
	put_text(b, p->host);
	put_text(b, p->groups);
	put_text(b, p->kernels);
	for (size_t i = 0; i < p->nsigs; i++)
		put_text(b, p->sigs[i]);
	for (size_t i = 0; i < p->nhosts; i++)
		put_text(b, p->hosts[i]);
	put_bytes(b, p->recs, p->nrecs * sizeof *p->recs);
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
	uint64_t n;

	memcpy(&n, get_bytes(at, sizeof n), sizeof n);
	return (struct str){ get_bytes(at, n), n };
}

static const struct str *
get_texts(const char **at, size_t n)
{
	struct str *texts = xcalloc(n + 1, sizeof *texts);

	for (size_t i = 0; i < n; i++)
		texts[i] = get_text(at);
	return texts;
}

/* Texts and records stay where they are. */
static void
get_part(const char **at, const char *path, struct part *p)
{
	memcpy(p, get_bytes(at, sizeof *p), sizeof *p);
	p->path = str_of(path);
	p->name = get_text(at);
	p->host = get_text(at);
	p->groups = get_text(at);
	p->kernels = get_text(at);
	p->sigs = get_texts(at, p->nsigs);
	p->hosts = get_texts(at, p->nhosts);
	p->recs =
	    (struct rec *)(uintptr_t)get_bytes(at, p->nrecs * sizeof *p->recs);
}

/* ---- a child ---- */

static void
do_task(struct work *w, struct reducer *r, int no, size_t i)
{
	struct task *t = &w->shared->tasks[i];
	int fd = w->children.v[no].fd;
	bool before = exit_status() == EXIT_WARNINGS;
	part_vec parts = { 0 };
	struct buf b = { 0 };

	t->child = no;
	atomic_store(&t->state, STATE_BEGUN);
	reduce_input(r, w->paths->v[i], &parts);
	for (size_t k = 0; k < parts.n; k++) {
		put_part(&b, &parts.v[k]);
		vec_release(parts.v[k].recs);
	}
	t->offset = (uint64_t)lseek(fd, 0, SEEK_END);
	t->len = b.len;
	if (write_all(fd, b.p, b.len) != 0)
		die_errno("%s: its records", w->paths->v[i]);
	t->has_warned = !before && exit_status() == EXIT_WARNINGS;
	atomic_store(&t->state, STATE_DONE);
	buf_free(&b);
	vec_free(&parts);
}

/* It takes an input before all else: who dies has used one up. */
static noreturn void
be_child(struct work *w, int no)
{
	struct reducer *r = NULL;
	size_t i;

	while ((i = atomic_fetch_add(&w->shared->next, 1)) < w->paths->n) {
		if (r == NULL)
			r = reducer_new(w->set);
		do_task(w, r, no, i);
	}
	_exit(exit_status());
}

static void
start_child(struct work *w, int no)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	if (pid == 0)
		be_child(w, no);
	child_began(pid);
	w->children.v[no].pid = pid;
}

/* ---- the parent ---- */

/* One of them has ended: because there is no more to do, or at its input. */
static bool
wait_child(struct work *w)
{
	int status, no = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) < 0)
		if (errno != EINTR)
			die_errno("waiting");
	for (size_t i = 0; i < w->children.n; i++)
		if (w->children.v[i].pid == pid)
			no = (int)i;
	(void)child_ended(pid);
	if (no < 0)
		return false;
	w->children.v[no].pid = 0;
	if (WIFSIGNALED(status))
		report(MSG_READER_KILLED, WTERMSIG(status));
	else if (WEXITSTATUS(status) == EXIT_DONE ||
	    WEXITSTATUS(status) == EXIT_WARNINGS)
		return true;
	if (atomic_load(&w->shared->next) < w->paths->n)
		start_child(w, no);
	return w->children.v[no].pid == 0;
}

static void
run_children(struct work *w)
{
	size_t n = (size_t)w->set->jobs, alive;

	if (n > w->paths->n)
		n = w->paths->n;
	for (size_t i = 0; i < n; i++) {
		int fd = memfd_create("tl-collective", MFD_CLOEXEC);

		if (fd < 0)
			die_errno("memfd_create");
		vec_push(&w->children, ((struct child){ .fd = fd }));
	}
	for (size_t i = 0; i < n; i++)
		start_child(w, (int)i);
	for (alive = n; alive > 0;)
		alive -= wait_child(w);
}

static void
map_child(struct child *c)
{
	off_t len = lseek(c->fd, 0, SEEK_END);
	void *p;

	if (len > 0) {
		p = mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE, MAP_SHARED,
		    c->fd, 0);
		if (p == MAP_FAILED)
			die_errno("mmap");
		c->bytes = p;
		c->len = (size_t)len;
	}
	close(c->fd);
}

static void
take_task(struct work *w, size_t i, part_vec *parts)
{
	const struct task *t = &w->shared->tasks[i];
	const char *path = w->paths->v[i];
	const char *at, *end;

	if (atomic_load(&t->state) != STATE_DONE) {
		report(MSG_INPUT_FAILED, path);
		return;
	}
	if (t->has_warned)
		report(MSG_INPUT_WARNED, path);
	if (t->len == 0)
		return;
	at = w->children.v[t->child].bytes + t->offset;
	end = at + t->len;
	while (at < end)
		get_part(&at, path, vec_add(parts));
}

void
work_run(const struct settings *set, const path_vec *paths, part_vec *parts)
{
	size_t size = sizeof(struct shared) + paths->n * sizeof(struct task);
	struct work w = { .set = set, .paths = paths };
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die_errno("mmap");
	w.shared = p;
	run_children(&w);
	for (size_t i = 0; i < w.children.n; i++)
		map_child(&w.children.v[i]);
	for (size_t i = 0; i < paths->n; i++)
		take_task(&w, i, parts);
	if (parts->n == 0)
		die("no input could be read");
}

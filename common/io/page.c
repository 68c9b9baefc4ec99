/* SPDX-License-Identifier: MIT */
/*
 * Arrays larger than the memory that they may take (--mem).
 *
 * An array is a range of addresses, divided into chunks. A chunk is in memory
 * or in a temporary file; touching one that is not in memory raises SIGSEGV,
 * whose handler fetches it. At the limit the chunk that came first is dropped,
 * and written to the file if it was changed. The handler knows that, because a
 * chunk from the file is read-only until the first write.
 *
 *	nowhere --touch--> changed --leaves, is written--> file
 *	file    --touch--> read    --write--> changed
 *	                   read    --leaves--> file
 *
 * So code that uses the arrays is unaware of it, and its output is the same. It
 * is fast because linking, sorting and nesting visit events nearly in order:
 * the merge sort reads a few ascending runs, a launch and its GPU work are near
 * each other. The size of chunks lets some hundred be in memory, for the runs
 * of many threads.
 *
 * Only one thread may touch the arrays, and no system call, for which a chunk
 * that is not in memory is an invalid address.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/io.h"

#define CHUNK_MIN ((size_t)64 << 10) /* at least a page of any machine */
#define CHUNK_USUAL ((size_t)256 << 10)
#define CHUNKS_WANTED 256
/* The kernel allows 65,530 mappings; a chunk may need two. */
#define CHUNKS_MAX 8192
#define ARRAYS_MAX 32
/* 2^32 events of 56 bytes, were there room for so many. */
#define ARRAY_SIZE ((size_t)1 << 38)
#define ARRAY_LEAST ((size_t)1 << 28)

enum { NOWHERE, IN_FILE, READ, CHANGED };

struct array {
	char *base; /* NULL: none */
	size_t size;
	uint8_t *chunks;
	int fd;
};

struct place {
	struct array *array; /* NULL: left already */
	size_t chunk;
};

static struct {
	bool on;
	size_t chunk;
	struct array arrays[ARRAYS_MAX];
	struct place *ring; /* chunks in memory, in order of arrival */
	size_t nring, next;
} pager;

/* ---- the file ---- */

static noreturn void
die_of_file(void)
{
	die_errno("a temporary file in %s (TMPDIR)", io_tmpdir());
}

static void
open_file(struct array *a)
{
	a->fd = io_nameless();
	if (a->fd < 0)
		die_of_file();
}

static void
put_chunk(const struct array *a, size_t no)
{
	const char *p = a->base + no * pager.chunk;
	size_t done = 0;

	while (done < pager.chunk) {
		ssize_t n = pwrite(a->fd, p + done, pager.chunk - done,
		    (off_t)(no * pager.chunk + done));

		if (n < 0 && errno != EINTR)
			die_of_file();
		if (n > 0)
			done += (size_t)n;
	}
}

static void
get_chunk(const struct array *a, size_t no)
{
	char *p = a->base + no * pager.chunk;
	size_t done = 0;

	while (done < pager.chunk) {
		ssize_t n = pread(a->fd, p + done, pager.chunk - done,
		    (off_t)(no * pager.chunk + done));

		if (n == 0)
			errno = EIO;
		if (n == 0 || (n < 0 && errno != EINTR))
			die_of_file();
		if (n > 0)
			done += (size_t)n;
	}
}

/* ---- chunks ---- */

static void
allow(const struct array *a, size_t no, int prot)
{
	if (mprotect(a->base + no * pager.chunk, pager.chunk, prot) != 0)
		die_errno("out of memory");
}

static void
leave(const struct place *from)
{
	struct array *a = from->array;
	size_t no = from->chunk;

	if (a == NULL)
		return;
	if (a->chunks[no] == CHANGED)
		put_chunk(a, no);
	a->chunks[no] = IN_FILE;
	if (madvise(a->base + no * pager.chunk, pager.chunk, MADV_DONTNEED) !=
	    0)
		die_errno("out of memory");
	allow(a, no, PROT_NONE);
}

static void
fetch(struct array *a, size_t no)
{
	struct place *to = &pager.ring[pager.next];
	bool is_new = a->chunks[no] == NOWHERE;

	leave(to);
	allow(a, no, PROT_READ | PROT_WRITE);
	if (!is_new) {
		get_chunk(a, no);
		allow(a, no, PROT_READ);
	}
	a->chunks[no] = is_new ? CHANGED : READ;
	*to = (struct place){ a, no };
	pager.next = (pager.next + 1) % pager.nring;
}

static struct array *
array_at(const char *p)
{
	for (struct array *a = pager.arrays; a < pager.arrays + ARRAYS_MAX; a++)
		if (a->base != NULL && p >= a->base && p < a->base + a->size)
			return a;
	return NULL;
}

static void
on_touch(int sig, siginfo_t *info, void *context)
{
	char *p = info->si_addr;
	struct array *a = array_at(p);
	int err = errno;
	size_t no;

	(void)context;
	if (a == NULL) { /* our own fault: now it ends the program */
		signal(sig, SIG_DFL);
		return;
	}
	no = (size_t)(p - a->base) / pager.chunk;
	if (a->chunks[no] == READ) {
		a->chunks[no] = CHANGED;
		allow(a, no, PROT_READ | PROT_WRITE);
	} else {
		fetch(a, no);
	}
	errno = err;
}

/* ---- arrays ---- */

void
page_start(size_t mem)
{
	struct sigaction sa = { .sa_sigaction = on_touch };

	pager.chunk = CHUNK_MIN;
	while (pager.chunk < CHUNK_USUAL && mem / pager.chunk > CHUNKS_WANTED)
		pager.chunk *= 2;
	while (mem / pager.chunk > CHUNKS_MAX)
		pager.chunk *= 2;
	pager.nring = mem / pager.chunk;
	pager.ring = xcalloc(pager.nring, sizeof *pager.ring);
	pager.on = true;
	sigemptyset(&sa.sa_mask);
	sa.sa_flags = (int)(SA_SIGINFO | SA_NODEFER);
	if (sigaction(SIGSEGV, &sa, NULL) != 0)
		die_errno("sigaction");
}

bool
page_is_on(void)
{
	return pager.on;
}

/* As much as available: addresses may be limited (ulimit -v). */
static void
reserve(struct array *a)
{
	void *p = MAP_FAILED;

	for (a->size = ARRAY_SIZE; a->size >= ARRAY_LEAST; a->size /= 4) {
		p = mmap(NULL, a->size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED)
			break;
	}
	if (p == MAP_FAILED)
		die_errno("out of memory");
	(void)madvise(p, a->size, MADV_NOHUGEPAGE);
	a->base = p;
}

void *
page_alloc(size_t *size)
{
	struct array *a = pager.arrays;

	while (a < pager.arrays + ARRAYS_MAX && a->base != NULL)
		a++;
	assert(a < pager.arrays + ARRAYS_MAX);
	reserve(a);
	a->chunks = xcalloc(a->size / pager.chunk, 1);
	open_file(a);
	*size = a->size;
	return a->base;
}

void
page_free(void *p)
{
	struct array *a = array_at(p);

	for (size_t i = 0; i < pager.nring; i++)
		if (pager.ring[i].array == a)
			pager.ring[i].array = NULL;
	munmap(a->base, a->size);
	free(a->chunks);
	close(a->fd);
	a->base = NULL;
}

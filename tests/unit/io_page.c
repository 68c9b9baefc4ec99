/* SPDX-License-Identifier: MIT */
/* io/page.c: arrays larger than memory behave like arrays in memory */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "io/io.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

#define MEM ((size_t)1 << 20)
#define SIZE (12 * MEM)
#define N (SIZE / sizeof(uint64_t))

static uint64_t seed = 1;

static uint64_t
next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Resident bytes of this process. */
static size_t
resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long all = 0, pages = 0;

	if (f == NULL || fscanf(f, "%lu %lu", &all, &pages) != 2)
		abort();
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads and writes here and there, which the shadow does, too. */
static size_t
differences(uint64_t *a, uint64_t *shadow, size_t rounds)
{
	size_t bad = 0;

	for (size_t i = 0; i < rounds; i++) {
		size_t at = next_random() % N, run = next_random() % 200;

		for (size_t k = at; k < at + run && k < N; k++) {
			bad += a[k] != shadow[k];
			if (i % 3 != 0)
				a[k] = shadow[k] = next_random();
		}
	}
	return bad;
}

static size_t
differences_in_all(const uint64_t *a, const uint64_t *shadow)
{
	size_t bad = 0;

	for (size_t i = 0; i < N; i++)
		bad += a[i] != shadow[i];
	return bad;
}

static void
no_folder(void)
{
	size_t size;

	setenv("TMPDIR", "/nonexistent", 1);
	err_program("tl-x");
	(void)page_alloc(&size);
}

/* Pages that leave memory can't be written. */
static void
no_room(void)
{
	struct rlimit lim = { 1 << 16, 1 << 16 };
	uint64_t *a;
	size_t size;

	err_program("tl-x");
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &lim) != 0)
		abort();
	a = page_alloc(&size);
	for (size_t i = 0; i < N; i++)
		a[i] = i;
}

/* A fault outside of its arrays is not handled. */
static void
wild(void)
{
	struct rlimit no_core = { 0, 0 };
	volatile char *p = (volatile char *)(uintptr_t)4096;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	*p = 1;
}

static void
two_arrays(void)
{
	uint64_t *a, *b, *as = calloc(N, sizeof *as),
			 *bs = calloc(N, sizeof *bs);
	size_t size_a, size_b, before, bad = 0;

	if (as == NULL || bs == NULL)
		abort();
	/* they are there before it is measured */
	for (size_t i = 0; i < N; i += 64)
		((volatile uint64_t *)as)[i] = ((volatile uint64_t *)bs)[i] = 0;
	a = page_alloc(&size_a);
	b = page_alloc(&size_b);
	before = resident();
	ok(size_a >= SIZE && size_b >= SIZE, "there is room");
	is_int((int64_t)differences_in_all(a, as), 0, "zeroes at first");
	for (size_t i = 0; i < 20; i++) {
		bad += differences(a, as, 300);
		bad += differences(b, bs, 300);
	}
	is_int((int64_t)bad, 0, "what was written is read");
	is_int((int64_t)differences_in_all(a, as), 0, "all of the first");
	is_int((int64_t)differences_in_all(b, bs), 0, "all of the second");
	ok(resident() < before + 3 * MEM,
	    "24 MiB take little more than the 1 MiB that they may: %zu",
	    resident() - before);
	page_free(a);
	bad = differences_in_all(b, bs);
	a = page_alloc(&size_a);
	memset(as, 0, SIZE);
	is_int((int64_t)(bad + differences_in_all(a, as)), 0,
	    "one is freed: the other stays, a new one is empty");
	page_free(a);
	page_free(b);
	free(as);
	free(bs);
}

int
main(void)
{
	struct child c;

	ok(!page_is_on(), "off");
	page_start(MEM);
	ok(page_is_on(), "on");
	two_arrays();
	c = child_run(no_folder);
	is_int(c.status, 1, "no folder for temporary files");
	ok(strstr(c.err, "tl-x: a temporary file in /nonexistent (TMPDIR)") !=
		NULL,
	    "it says so");
	c = child_run(no_room);
	is_int(c.status, 1, "a full disk");
	ok(strstr(c.err, "tl-x: a temporary file in ") != NULL, "it says so");
	c = child_run(wild);
	ok(c.status != 0, "another fault ends the program");
	done_testing();
}

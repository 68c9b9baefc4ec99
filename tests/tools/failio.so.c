/* SPDX-License-Identifier: MIT */
/*
 * failio.so: make calls fail, to be loaded with LD_PRELOAD.
 *
 *	FAIL_CALL=CALL:N:HOW[,CALL:N:HOW...]
 *
 * CALL is malloc (which stands for calloc and realloc too), mmap, read, write,
 * close, fsync or rename. N is the number of the call that fails, from 1; `N+`
 * is that one and all later ones, `*` all. HOW is
 *
 *	ENOSPC EIO ENOMEM EINTR ...	the call fails so and has done nothing,
 *					except that close has closed
 *	SHORT				read and write transfer one byte
 *
 * With EINTR for more than one call, every second one fails, as in reality.
 * Only processes whose name begins with FAIL_PROG (default: tl-) are affected,
 * so that a shell and its other commands work. Each process counts its own
 * calls. Calls of stdio inside libc are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum call { MALLOC, MMAP, READ, WRITE, CLOSE, FSYNC, RENAME, NCALLS };

static const char *const call_names[NCALLS] = { "malloc", "mmap", "read",
	"write", "close", "fsync", "rename" };

static const struct {
	const char *name;
	int value;
} errors[] = {
	{ "EACCES", EACCES },
	{ "EAGAIN", EAGAIN },
	{ "EBADF", EBADF },
	{ "EDQUOT", EDQUOT },
	{ "EINTR", EINTR },
	{ "EIO", EIO },
	{ "ENOMEM", ENOMEM },
	{ "ENOSPC", ENOSPC },
	{ "EPERM", EPERM },
	{ "EPIPE", EPIPE },
	{ "EXDEV", EXDEV },
	{ "SHORT", -1 },
};

static struct rule {
	unsigned long first, last; /* numbers of calls; first 0: no rule */
	int how;                   /* errno, or -1 for SHORT */
	atomic_ulong count;
} rules[NCALLS];

/* The allocator itself: looking it up with dlsym may allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static void
bad_rule(void)
{
	static const char text[] = "failio: FAIL_CALL is CALL:N:HOW,...\n";

	if (write(STDERR_FILENO, text, sizeof text - 1) == -1)
		_exit(98);
	_exit(99);
}

/* One CALL:N:HOW at p; gives its end. */
static const char *
parse_rule(const char *p)
{
	struct rule *rule = NULL;
	size_t len = strcspn(p, ":");
	char *end;

	for (size_t i = 0; i < NCALLS; i++) {
		if (strlen(call_names[i]) == len &&
		    memcmp(p, call_names[i], len) == 0)
			rule = &rules[i];
	}
	if (rule == NULL || p[len] != ':')
		bad_rule();
	p += len + 1;
	if (*p == '*') {
		rule->first = 1;
		rule->last = (unsigned long)-1;
		p++;
	} else {
		rule->first = strtoul(p, &end, 10);
		rule->last = *end == '+' ? (unsigned long)-1 : rule->first;
		p = *end == '+' ? end + 1 : end;
	}
	if (rule->first == 0 || *p++ != ':')
		bad_rule();
	len = strcspn(p, ",");
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		if (strlen(errors[i].name) == len &&
		    memcmp(p, errors[i].name, len) == 0)
			rule->how = errors[i].value;
	}
	if (rule->how == 0)
		bad_rule();
	return p + len;
}

static __attribute__((constructor)) void
read_rules(void)
{
	const char *spec = getenv("FAIL_CALL");
	const char *prog = getenv("FAIL_PROG");

	if (prog == NULL)
		prog = "tl-";
	if (spec == NULL || *spec == '\0' ||
	    strncmp(program_invocation_short_name, prog, strlen(prog)) != 0)
		return;
	while (*(spec = parse_rule(spec)) == ',')
		spec++;
}

/* Counts a call; 0: let it pass, else how it fails. */
static int
verdict(enum call call)
{
	struct rule *rule = &rules[call];
	unsigned long n;

	if (rule->first == 0)
		return 0;
	n = atomic_fetch_add(&rule->count, 1) + 1;
	if (n < rule->first || n > rule->last)
		return 0;
	if (rule->how == EINTR && (n - rule->first) % 2 == 1)
		return 0;
	return rule->how;
}

static bool
fails(enum call call)
{
	int how = verdict(call);

	if (how > 0)
		errno = how;
	return how > 0;
}

/* The function that this library wraps. */
#define NEXT(name) (__extension__(__typeof__(&name)) next(#name))

static void *
next(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (p == NULL)
		abort();
	return p;
}

void *
malloc(size_t size)
{
	return fails(MALLOC) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails(MALLOC) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
	return fails(MALLOC) ? NULL : __libc_realloc(p, size);
}

void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (fails(MMAP))
		return MAP_FAILED;
	return NEXT(mmap)(addr, len, prot, flags, fd, offset);
}

ssize_t
read(int fd, void *buf, size_t len)
{
	int how = verdict(READ);

	if (how > 0) {
		errno = how;
		return -1;
	}
	return NEXT(read)(fd, buf, how == -1 && len > 1 ? 1 : len);
}

ssize_t
write(int fd, const void *buf, size_t len)
{
	/* a message that can't be written is no one's fault */
	int how = fd == STDERR_FILENO ? 0 : verdict(WRITE);

	if (how > 0) {
		errno = how;
		return -1;
	}
	return NEXT(write)(fd, buf, how == -1 && len > 1 ? 1 : len);
}

int
close(int fd)
{
	int how = verdict(CLOSE);
	int rc = NEXT(close)(fd);

	if (how > 0) {
		errno = how;
		return -1;
	}
	return rc;
}

int
fsync(int fd)
{
	return fails(FSYNC) ? -1 : NEXT(fsync)(fd);
}

int
rename(const char *from, const char *to)
{
	return fails(RENAME) ? -1 : NEXT(rename)(from, to);
}

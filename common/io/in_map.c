/* SPDX-License-Identifier: MIT */
/*
 * Plain files, mapped whole.
 *
 *	| pages of the file, mapped | last part, copied | zeros |
 *
 * The last part of a page is copied, not mapped: another program may append to
 * the file meanwhile, and its bytes would replace the zeros.
 *
 * If a file is cut short while it is mapped, touching it raises SIGBUS. The
 * handler says which file it was. So each mapping leaves a note in a list that
 * only grows, as the handler may read it at any time.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/in_priv.h"
#include "io/out_priv.h"

/*
 * Consumed pages are released in steps of this size. (Mapping the next ones at
 * once by MADV_POPULATE_READ gains nothing over faults, measured in the page
 * cache, and costs 0.7 ms for a file of which only the beginning is read.)
 */
#define STEP_BYTES ((size_t)4 << 20)

struct map_note {
	_Atomic(const unsigned char *) base; /* NULL: a free note */
	size_t len;
	struct map_note *next;
	char *text; /* the message, ready to be written */
	size_t text_len;
};

static _Atomic(struct map_note *) notes;
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction old_action;

/* Signal handler: async-signal-safe calls only. */
static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	const unsigned char *at = info->si_addr;

	(void)context;
	for (struct map_note *n = atomic_load(&notes); n; n = n->next) {
		const unsigned char *base = atomic_load(&n->base);

		if (base == NULL || at < base || at >= base + n->len)
			continue;
		out_remove_temporaries();
		if (write(STDERR_FILENO, n->text, n->text_len) < 0)
			_exit(EXIT_NO_ANSWER);
		_exit(EXIT_NO_ANSWER);
	}
	sigaction(sig, &old_action, NULL); /* not ours: it is raised again */
}

static void
install_handler(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus };

	sa.sa_flags = SA_SIGINFO;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, &old_action);
}

static void
note_write(struct map_note *n, const char *name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s: %s: the file was cut short while it was read",
	    err_program_name(), name);
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)b.p[i] < ' ' || b.p[i] == 0x7f)
			b.p[i] = '?';
	buf_putc(&b, '\n');
	free(n->text);
	n->text = b.p;
	n->text_len = b.len;
}

static struct map_note *
note_take(const unsigned char *base, size_t len, const char *name)
{
	struct map_note *n;

	pthread_mutex_lock(&notes_lock);
	if (atomic_load(&notes) == NULL)
		install_handler();
	for (n = atomic_load(&notes); n; n = n->next)
		if (atomic_load(&n->base) == NULL)
			break;
	if (n == NULL) {
		n = xcalloc(1, sizeof *n);
		n->next = atomic_load(&notes);
		atomic_store(&notes, n);
	}
	n->len = len;
	note_write(n, name);
	atomic_store(&n->base, base);
	pthread_mutex_unlock(&notes_lock);
	return n;
}

static size_t
page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Reads the file from offset at to its end; a file that became shorter fails.
 */
static bool
read_rest(int fd, unsigned char *base, size_t at, size_t len)
{
	while (at < len) {
		ssize_t n = pread(fd, base + at, len - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

bool
map_open(struct in_map *m, int fd, uint64_t size, const char *name)
{
	size_t page = page_size();
	size_t whole = (size_t)size / page * page;
	void *base;

	m->len = (size_t)size;
	m->reserved = whole + 2 * page;
	base = mmap(NULL, m->reserved, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return false;
	m->base = base;
	if ((whole > 0 &&
		mmap(base, whole, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
		    MAP_FAILED) ||
	    !read_rest(fd, m->base, whole, m->len)) {
		munmap(base, m->reserved);
		m->base = NULL; /* not to be unmapped */
		return false;
	}
	m->note = note_take(m->base, whole, name);
	return true;
}

const unsigned char *
map_release(struct in_map *m, const unsigned char *p)
{
	size_t page = page_size();
	size_t whole = m->len / page * page;
	size_t at = (size_t)(p - m->base) / page * page;
	size_t ahead = whole - at;

	if (at > m->released)
		madvise(m->base + m->released, at - m->released, MADV_DONTNEED);
	m->released = at;
	/*
	 * Two steps ahead, so that the disk reads the next one during this one.
	 */
	madvise(m->base + at, ahead < 2 * STEP_BYTES ? ahead : 2 * STEP_BYTES,
	    MADV_WILLNEED);
	return ahead > STEP_BYTES ? m->base + at + STEP_BYTES
				  : m->base + m->reserved;
}

void
map_forget(struct in_map *m, const unsigned char *from, const unsigned char *to)
{
	size_t page = page_size();
	size_t start = ((size_t)(from - m->base) + page - 1) / page * page;
	size_t end = (size_t)(to - m->base) / page * page;

	if (end > start)
		madvise(m->base + start, end - start, MADV_DONTNEED);
}

void
map_close(struct in_map *m)
{
	atomic_store(&m->note->base, NULL);
	munmap(m->base, m->reserved);
}

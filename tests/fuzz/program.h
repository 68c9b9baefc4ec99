/* SPDX-License-Identifier: MIT */
/*
 * A whole program after the decoder of streams. It calls main() in process,
 * with a stream on standard input and once more as NDJSON. Both must end alike
 * and print the same on standard output.
 *
 *	#include "tests/fuzz/program.h"
 *
 *	#include "cmd/tl-x/main.c"		(with a NOLINTNEXTLINE)
 *
 *	static const char *const ways[] = { "tl-x", "tl-x --by step" };
 *
 *	PROGRAM_FUZZER(ways)
 *
 * The input decides which of the ways is called; it always claims to be a tree.
 * Seeds are those of fuzz_tree: corpus/x is a link.
 *
 * A bad input ends inside main(), and some programs free only at their end: a
 * list of allocations is freed after each run.
 */
#ifndef TL_FUZZ_PROGRAM_H
#define TL_FUZZ_PROGRAM_H

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/helper.h"
#include "tests/fuzz/streams.h"
#include "trace/phase.h"

#define PIPE_SIZE (1 << 20) /* the most that an ordinary user may have */
#define WORDS_MAX 16

int program_main(int argc, char *argv[]);

/* ---- memory ---- */

void __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void *p, size_t n),
    void (*on_free)(const volatile void *p)) __attribute__((weak));
int __sanitizer_get_ownership(const volatile void *p) __attribute__((weak));

/* Without a sanitizer allocations stay: then few inputs are tried. */
static struct {
	bool is_installed;
	atomic_bool is_on;
	atomic_size_t n;
	const volatile void *v[1 << 20];
} allocated;

static void
note_malloc(const volatile void *p, size_t n)
{
	size_t at;

	(void)n;
	if (!atomic_load(&allocated.is_on))
		return;
	at = atomic_fetch_add(&allocated.n, 1);
	if (at < sizeof allocated.v / sizeof *allocated.v)
		allocated.v[at] = p;
}

static void
note_free(const volatile void *p)
{
	(void)p;
}

static void
allocated_start(void)
{
	if (__sanitizer_install_malloc_and_free_hooks == NULL)
		return;
	if (!allocated.is_installed)
		__sanitizer_install_malloc_and_free_hooks(
		    note_malloc, note_free);
	allocated.is_installed = true;
	atomic_store(&allocated.n, 0);
	atomic_store(&allocated.is_on, true);
}

static void
allocated_stop(void)
{
	atomic_store(&allocated.is_on, false);
}

/* Memory outside main(), of options and of annotations, is freed first. */
static void
allocated_free(void)
{
	static const struct about about = { "", "", "" };
	static const struct opt none[] = { OPT_END };
	char name[] = "fuzz", *argv[] = { name, NULL };
	struct optparse op;
	size_t n = atomic_load(&allocated.n);

	opt_start(&op, 1, argv, &about, none);
	iteration_formats_free();
	if (__sanitizer_get_ownership == NULL)
		return;
	if (n > sizeof allocated.v / sizeof *allocated.v)
		n = sizeof allocated.v / sizeof *allocated.v;
	for (size_t i = 0; i < n; i++)
		if (__sanitizer_get_ownership(allocated.v[i]))
			free((void *)(uintptr_t)allocated.v[i]);
}

/* ---- no other programs: they would die elsewhere ---- */

struct helper *
helper_start(const char *program, char *const *words, struct in *in)
{
	(void)words;
	(void)in;
	die("this input needs %s first", program);
}

char *const *
helper_pseudo_words(void)
{
	return NULL;
}

void
stream_pseudo_models(const char *path)
{
	(void)path;
}

#define NEVER_CALLED(type, name)    \
	type name(struct helper *h) \
	{                           \
		CHECK(h == NULL);   \
		abort();            \
	}
NEVER_CALLED(struct in *, helper_output)
NEVER_CALLED(void, helper_finish)
NEVER_CALLED(void, helper_blame)
NEVER_CALLED(void, helper_abandon)
NEVER_CALLED(int, helper_wait)

/* ---- one run ---- */

struct ended {
	int status; /* of main(), or how it died */
	struct buf out;
};

/* A pipe, as a mapped file would survive a death. */
static bool
program_feed(const struct buf *text)
{
	int fd[2];
	ssize_t n;

	CHECK(pipe2(fd, O_NONBLOCK) == 0);
	(void)fcntl(fd[1], F_SETPIPE_SZ, PIPE_SIZE);
	n = write(fd[1], text->p, text->len);
	close(fd[1]);
	if (fd[0] != STDIN_FILENO) { /* an earlier run has closed it */
		CHECK(dup2(fd[0], STDIN_FILENO) == STDIN_FILENO);
		close(fd[0]);
	}
	return n == (ssize_t)text->len;
}

static int
program_words(char *words, char *argv[WORDS_MAX + 1])
{
	int n = 0;

	for (char *rest = words;
	     n < WORDS_MAX && (argv[n] = strtok_r(rest, " ", &rest)) != NULL;)
		n++;
	return n;
}

static void
program_call(const char *way, struct ended *e)
{
	char words[256], *argv[WORDS_MAX + 1] = { NULL };
	int unread;

	CHECK(strlen(way) < sizeof words);
	memcpy(words, way, strlen(way) + 1);
	usage_is_input = true;
	allocated_start();
	if (setjmp(on_death) == 0) {
		int status = program_main(program_words(words, argv), argv);

		CHECK(status == 0 || status == EXIT_GATE);
		e->status = 0;
	} else {
		e->status = death_status;
	}
	allocated_stop();
	allocated_free();
	/* arguments that are wrong for all inputs are our own mistake */
	CHECK(e->status != EXIT_USAGE ||
	    ioctl(STDIN_FILENO, FIONREAD, &unread) != 0 || unread == 0);
}

/* False: the stream is too long for a pipe. */
static bool
program_run(const char *way, const struct buf *text, struct ended *e)
{
	static int saved = -1, out = -1;
	off_t size;

	if (!program_feed(text))
		return false;
	if (saved < 0) {
		saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
		out = memfd_create("output", MFD_CLOEXEC);
		CHECK(saved >= 0 && out >= 0);
	}
	CHECK(ftruncate(out, 0) == 0 && lseek(out, 0, SEEK_SET) == 0);
	CHECK(dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
	program_call(way, e);
	CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
	size = lseek(out, 0, SEEK_END);
	e->out.len = 0;
	buf_room(&e->out, (size_t)size);
	CHECK(pread(out, e->out.p, (size_t)size, 0) == (ssize_t)size);
	e->out.len = (size_t)size;
	return true;
}

/* Marks it as a tree, true or not: no other program has to make one. */
static bool
claim_tree(const uint8_t *data, size_t size, struct buf *out)
{
	struct stream_records s = { 0 };
	bool is_stream = stream_records_read(&s, data, size);

	for (size_t i = 0; is_stream && i < s.list.n; i++) {
		struct stream_record *r = &s.list.v[i];
		record_fields fields = { 0 };
		struct buf marks = { 0 };

		if (r->type == REC_HEADER || r->type == REC_END)
			fields_of(&fields, r);
		if (fields.n > 0) {
			buf_varint(&marks,
			    fields.v[0].number | MARK_LINKED | MARK_TREE);
			replace(&r->body, &fields.v[0], &marks);
		}
		buf_free(&marks);
		vec_free(&fields);
	}
	if (is_stream)
		stream_records_write(&s, out);
	stream_records_free(&s);
	return is_stream;
}

static void
program_try(
    const char *const *ways, size_t nways, const uint8_t *data, size_t size)
{
	const char *way = ways[wire_crc32(0, data, size) % nways];
	struct ended binary = { 0 }, ndjson = { 0 };
	struct buf tree = { 0 };
	struct forms f = { 0 };

	if (claim_tree(data, size, &tree) &&
	    forms_read(&f, (const uint8_t *)tree.p, tree.len) &&
	    program_run(way, &f.binary, &binary) && f.is_same &&
	    program_run(way, &f.ndjson, &ndjson)) {
		/* for a tree in lines a reader checks the parents, too */
		CHECK(ndjson.status == binary.status ||
		    ndjson.status == EXIT_NO_ANSWER);
		CHECK(ndjson.status != 0 ||
		    (binary.out.len == ndjson.out.len &&
			memcmp(binary.out.p, ndjson.out.p, binary.out.len) ==
			    0));
	}
	buf_free(&binary.out);
	buf_free(&ndjson.out);
	forms_free(&f);
	buf_free(&tree);
}

#define PROGRAM_FUZZER(ways)                                               \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)       \
	{                                                                  \
		program_try(ways, sizeof ways / sizeof *ways, data, size); \
		return 0;                                                  \
	}

/* From here on the program is included. */
#define main program_main

#endif

/* SPDX-License-Identifier: MIT */
/* What the tests of io share: data, packers, and children that may die. */
#ifndef TESTS_UNIT_IO_HELP_H
#define TESTS_UNIT_IO_HELP_H

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "io/io.h"
#include "tests/unit/tap.h"

#define HELPER static __attribute__((unused))

static char folder[] = "/tmp/io_test.XXXXXX";

/* A path in a folder of the test's own; good for the whole run. */
HELPER const char *
path_of(const char *name)
{
	static struct arena *paths;
	char path[200];

	if (paths == NULL)
		paths = arena_create();
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return arena_str(paths, str_of(path)).p;
}

HELPER void
remove_folder(void)
{
	const char *argv[] = { "rm", "-rf", folder, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		execvp("rm", (char **)argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

HELPER void
make_folder(void)
{
	if (mkdtemp(folder) == NULL)
		bail_out("mkdtemp");
	alarm(120); /* what hangs is to fail */
}

/* Text that looks like a trace and packs like one, the same each time. */
HELPER struct buf
sample(size_t size)
{
	struct buf b = { 0 };
	uint64_t seed = 1;

	while (b.len < size) {
		seed = tap_drawn(seed);
		buf_printf(&b,
		    "{\"ph\": \"X\", \"name\": \"op_%u\", \"ts\": %" PRIu64
		    "},\n",
		    (unsigned)(seed & 63), seed >> 40);
	}
	b.len = size;
	return b;
}

HELPER void
pack_gzip(struct buf *to, const char *p, size_t n, bool with_name)
{
	z_stream z = { 0 };
	gz_header head = { .name = (Bytef *)(uintptr_t) "trace.json",
		.hcrc = 1 };

	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, 0) != Z_OK)
		bail_out("deflateInit2");
	if (with_name)
		deflateSetHeader(&z, &head);
	buf_room(to, deflateBound(&z, n) + 64);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)n;
	z.next_out = (Bytef *)to->p + to->len;
	z.avail_out = (uInt)(to->cap - to->len);
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail_out("deflate");
	to->len = (size_t)((char *)z.next_out - to->p);
	deflateEnd(&z);
}

HELPER void
pack_zstd(struct buf *to, const char *p, size_t n)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t rc;

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	buf_room(to, ZSTD_compressBound(n));
	rc = ZSTD_compress2(z, to->p + to->len, to->cap - to->len, p, n);
	if (ZSTD_isError(rc))
		bail_out("ZSTD_compress2");
	to->len += rc;
	ZSTD_freeCCtx(z);
}

HELPER const char *
file_of(const char *name, struct str bytes)
{
	const char *path = path_of(name);
	int fd;

	unlink(path); /* truncating makes some file systems wait for the disk */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write_all(fd, bytes.p, bytes.len) != 0)
		bail_out("cannot write a test file");
	close(fd);
	return path;
}

HELPER struct buf
file_bytes(const char *path)
{
	struct buf b = { 0 };
	int fd = open(path, O_RDONLY);
	ssize_t n = 1;

	while (fd >= 0 && n > 0) {
		buf_room(&b, 65536);
		n = read(fd, b.p + b.len, 65536);
		b.len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return b;
}

/* A pipe that another process fills, `piece` bytes a write(2). */
HELPER int
pipe_of(struct str bytes, size_t piece, pid_t *writer)
{
	int fds[2];

	if (pipe(fds) != 0)
		bail_out("pipe");
	*writer = fork();
	if (*writer == 0) {
		close(fds[0]);
		for (size_t i = 0; i < bytes.len; i += piece) {
			size_t left = bytes.len - i;

			if (write_all(fds[1], bytes.p + i,
				left < piece ? left : piece) != 0)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

struct child {
	int status; /* exit status, or -signal */
	char err[5000];
	size_t len;
};

/* Runs fn(arg) in a child and keeps what it says on stderr. */
HELPER struct child
run(void (*fn)(const char *arg), const char *arg)
{
	struct child c = { 0 };
	int fds[2], status;
	ssize_t n = 1;
	pid_t pid;

	if (pipe(fds) != 0)
		bail_out("pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		err_program("tl-test");
		fn(arg);
		_exit(exit_status());
	}
	close(fds[1]);
	while (n > 0) {
		n = read(fds[0], c.err + c.len, sizeof c.err - 1 - c.len);
		c.len += n > 0 ? (size_t)n : 0;
	}
	close(fds[0]);
	waitpid(pid, &status, 0);
	c.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	return c;
}

#endif

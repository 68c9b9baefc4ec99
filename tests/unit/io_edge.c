/* SPDX-License-Identifier: MIT */
/* Input at its edges: leaving early, failing, files that shrink, memory. */
#include <errno.h>

#include "tests/unit/io_help.h"

static void
read_path(const char *path)
{
	struct in *in = in_open(path);

	do
		in->p = in->end;
	while (in_more(in));
	in_close(in);
}

static void
test_deaths(void)
{
	struct buf text = sample(3000000), gz = { 0 }, want = { 0 };
	const char *path;
	struct child c;

	c = run(read_path, folder);
	is_int(c.status, 1, "a folder is refused");
	buf_printf(&want, "tl-test: %s: is a directory\n", folder);
	is_mem(c.err, c.len, want.p, want.len, "and it is said");

	c = run(read_path, path_of("none"));
	is_int(c.status, 1, "a missing file is refused");
	ok(strstr(c.err, "none: No such file or directory") != NULL,
	    "with the reason");

	pack_gzip(&gz, text.p, text.len, false);
	path = file_of("cut.gz", (struct str){ gz.p, gz.len - 100 });
	want.len = 0;
	buf_printf(&want, "tl-test: %s: byte %zu: gzip data end too early\n",
	    path, gz.len - 100);
	c = run(read_path, path);
	is_int(c.status, 1, "a cut file is refused");
	is_mem(c.err, c.len, want.p, want.len, "with its length");

	gz.p[gz.len - 7] ^= 1;
	c = run(read_path, file_of("sum.gz", buf_str(&gz)));
	is_int(c.status, 1, "a wrong checksum is refused");
	ok(strstr(c.err, "gzip data are damaged: wrong checksum") != NULL,
	    "and it is said");
	buf_free(&text);
	buf_free(&gz);
	buf_free(&want);
}

/* What is good comes first; only then the failure. */
static void
test_good_first(void)
{
	struct buf text = sample(2000000), gz = { 0 };
	struct in *in;
	size_t n = 0;

	pack_gzip(&gz, text.p, text.len, false);
	gz.p[gz.len - 7] ^= 1;
	in = in_open(file_of("sum.gz", buf_str(&gz)));
	while (n < text.len) { /* would die in here */
		if (in->p == in->end && !in_more(in))
			break;
		if (memcmp(in->p, text.p + n, (size_t)(in->end - in->p)) != 0)
			break;
		n += (size_t)(in->end - in->p);
		in->p = in->end;
	}
	is_uint(n, text.len, "all bytes before a bad checksum");
	in_close(in);
	buf_free(&text);
	buf_free(&gz);
}

static void
test_leave(void)
{
	struct buf text = sample(9000000), gz = { 0 };
	const char *path;
	struct in *in;
	pid_t pid;
	int fds[2];

	pack_gzip(&gz, text.p, text.len, false);
	path = file_of("big.gz", buf_str(&gz));
	for (int i = 0; i < 20; i++) {
		in = in_open(path);
		for (int j = 0; j < i && in_more(in); j++)
			;
		in_close(in);
	}
	ok(true, "leaving a file early");
	in = in_open_fd(pipe_of(buf_str(&gz), 5000, &pid), "pipe");
	ok(in_need(in, 10), "a pipe begins");
	in_close(in);
	waitpid(pid, NULL, 0);

	if (pipe(fds) != 0 || write_all(fds[1], gz.p, 20000) != 0)
		bail_out("pipe");
	in = in_open_fd(fds[0], "pipe");
	ok(in_need(in, 10), "what a stalled pipe gave is seen");
	in_close(in);
	ok(true, "leaving a pipe that gives nothing");
	close(fds[1]);
	buf_free(&text);
	buf_free(&gz);
}

static void
test_need(void)
{
	struct buf text = sample(2500000), gz = { 0 };
	struct in *in;

	pack_gzip(&gz, text.p, text.len, false);
	in = in_open(file_of("in.gz", buf_str(&gz)));
	ok(in_need(in, 2000000) && memcmp(in->p, text.p, 2000000) == 0,
	    "two megabytes at once");
	in->p += 1999999;
	ok(in_need(in, 500001) && memcmp(in->p, text.p + 1999999, 500001) == 0,
	    "and the rest");
	ok(!in_need(in, 500002) && in->eof, "and no more");
	is_uint((size_t)(in->end - in->p), 500001, "what is there stays");
	is_uint(in_consumed(in), gz.len, "all was consumed");
	is_uint(in_size(in), gz.len, "of a file of this size");
	in_close(in);
	buf_free(&text);
	buf_free(&gz);
}

static void
test_memory(void)
{
	char bytes[3 + IN_PAD] = "abc";
	struct in *in = in_open_mem(bytes, 3, "memory");

	is_mem(in->p, (size_t)(in->end - in->p), "abc", 3, "memory");
	ok(in->eof && !in_more(in), "has an end");
	is_uint(in_offset(in, in->p + 1), 1, "and offsets");
	is_str(in->name, "memory", "and a name");
	in_close(in);
	in = in_open_mem(NULL, 0, "nothing");
	ok(in->p == in->end && !in_need(in, 1), "no memory");
	in_close(in);
}

/* in_release() goes on over a file of some steps, and bytes stay right. */
static void
test_release(void)
{
	struct buf text = sample(30 << 20);
	struct in *in = in_open(file_of("long", buf_str(&text)));
	bool same = true;

	for (size_t i = 0; i < text.len; i += 4096) {
		size_t n = text.len - i < 4096 ? text.len - i : 4096;

		same &= memcmp(in->p, text.p + i, n) == 0;
		in->p += n;
		in_release(in);
		same &= in_consumed(in) == i + n;
	}
	ok(same && in->p == in->end, "pages come and go");
	in_close(in);
	buf_free(&text);
}

/* A file that was read before is sniffed from its offset on. */
static void
test_middle(void)
{
	int fd = open(file_of("mid", STR("0123456789")), O_RDONLY);
	struct in *in;

	lseek(fd, 4, SEEK_SET);
	in = in_open_fd(fd, "middle");
	while (in_more(in))
		;
	is_mem(in->p, (size_t)(in->end - in->p), "456789", 6,
	    "a file from its middle on");
	in_close(in);
}

static void
shrink_and_read(const char *path)
{
	struct in *in = in_open(path);
	unsigned sum = 0;

	if (truncate(path, 4096) != 0)
		_exit(9);
	for (const unsigned char *p = in->p; p < in->end; p += 512)
		sum += *p;
	_exit(sum == 0 ? 7 : 8);
}

static void
test_shrinking(void)
{
	struct buf text = sample(40 << 20);
	struct child c;

	c = run(shrink_and_read, file_of("shrinks", buf_str(&text)));
	is_int(c.status, 1, "a file that shrinks ends the program");
	ok(strstr(c.err, "shrinks: the file was cut short") != NULL,
	    "with a message");
	buf_free(&text);
}

/* Bytes that another program appends do not replace the zeros at the end. */
static void
test_growing(void)
{
	const char *path = file_of("grows", STR("0123456789"));
	struct in *in = in_open(path);
	int fd = open(path, O_WRONLY | O_APPEND);
	bool zero = true;

	if (write_all(fd, "abc", 3) != 0)
		bail_out("append");
	close(fd);
	for (int i = 0; i < IN_PAD; i++)
		zero &= in->end[i] == 0;
	ok(zero && in->end - in->p == 10, "a file that grows");
	in_close(in);
}

static void
test_fifo(void)
{
	const char *path = path_of("fifo");
	struct in *in;
	pid_t pid;

	if (mkfifo(path, 0600) != 0)
		bail_out("mkfifo");
	pid = fork();
	if (pid == 0) {
		int fd = open(path, O_WRONLY);

		_exit(write_all(fd, "hello", 5) != 0);
	}
	in = in_open(path);
	while (in_more(in))
		;
	is_mem(in->p, (size_t)(in->end - in->p), "hello", 5, "a FIFO");
	in_close(in);
	waitpid(pid, NULL, 0);
}

int
main(void)
{
	make_folder();
	test_deaths();
	test_good_first();
	test_leave();
	test_need();
	test_memory();
	test_release();
	test_middle();
	test_shrinking();
	test_growing();
	test_fifo();
	remove_folder();
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/*
 * gzip, zstd and zip, whole or damaged, and the salvage's cleaner on what is in
 * them.
 *
 * The bytes stand in a file without a name and come through a pipe. Damage is
 * an early end, the same in both. What the salvage takes for whole comes out
 * as well-formed JSON, which it would not change again.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/tl-decode/json/clean.h"
#include "json/json.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

/* Bombs: more is not looked at. */
#define MOST ((size_t)1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All plain bytes up to the end or the damage, with zeros behind. */
static void
unpack(int fd, struct buf *out)
{
	struct in *in = in_open_fd(fd, "input");

	in_tolerate(in);
	do {
		buf_put(out, in->p, (size_t)(in->end - in->p));
		in->p = in->end;
	} while (out->len < MOST && in_more(in));
	in_close(in);
	buf_room(out, IN_PAD);
	memset(out->p + out->len, 0, IN_PAD);
}

static int
file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	CHECK(fd >= 0 && write_all(fd, data, size) == 0);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* A pipe holds 64 KiB without a reader. */
static int
pipe_of(const uint8_t *data, size_t size)
{
	int fd[2];

	CHECK(pipe2(fd, O_CLOEXEC) == 0);
	CHECK(write_all(fd[1], data, size) == 0);
	close(fd[1]);
	return fd[0];
}

/* A value made clean is JSON, and clean again as it is. */
static void
clean(struct str text)
{
	static const struct str marks[] = { STR_INIT("\"ph\""), { 0 } };
	static struct cleaner c;
	struct buf again = { 0 };
	const char *error;
	size_t at;

	c.p = (const unsigned char *)text.p;
	c.end = c.p + text.len;
	c.eof = true;
	c.marks = marks;
	c.out.len = 0;
	while (c.p < c.end && *c.p != '{' && *c.p != '[')
		c.p++;
	if (c.p == c.end)
		return;
	if (clean_value(&c) == CLEAN_BAD) {
		CHECK(c.error != NULL && c.where <= c.end && c.out.len == 0);
		return;
	}
	buf_room(&c.out, IN_PAD);
	memset(c.out.p + c.out.len, 0, IN_PAD);
	CHECK(json_minify(buf_str(&c.out), 0, &again, &error, &at));
	CHECK(str_eq(buf_str(&c.out), buf_str(&again)));
	buf_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = { 0 }, piped = { 0 };

	if (size > 60000)
		return 0;
	unpack(file_of(data, size), &file);
	unpack(pipe_of(data, size), &piped);
	/* of a zip archive they may take different members */
	if (size > 1 && data[0] != 'P')
		CHECK(str_eq(buf_str(&file), buf_str(&piped)));
	clean(buf_str(&file));
	buf_free(&file);
	buf_free(&piped);
	return 0;
}

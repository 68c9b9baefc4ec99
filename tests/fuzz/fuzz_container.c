/* SPDX-License-Identifier: MIT */
/*
 * gzip and zstd, whole or damaged, and salvage's repair of their contents.
 *
 * The bytes come from an unnamed file and through a pipe. Damage is an early
 * end, the same in both. What salvage considers whole becomes well-formed JSON,
 * which it would not change again.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/tl-decode/json/mend.h"
#include "json/json.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

/* Bombs: no more is read. */
#define MOST ((size_t)1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All plain bytes up to the end or the damage, followed by zeros. */
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

/* A repaired value is JSON, and is not repaired again. */
static void
mend(struct str text)
{
	static const struct str marks[] = { STR_INIT("ph"), { 0 } };
	static struct mender m = { .marks = marks };
	struct in *in = in_open_mem(text.p, text.len, "input");
	struct buf again = { 0 };
	const char *error;
	size_t at, len;

	while (in->p < in->end && *in->p != '{' && *in->p != '[')
		in->p++;
	len = (size_t)(in->end - in->p);
	if (len > 0 && mend_value(&m, in, 0, MOST)) {
		CHECK(m.end <= len);
		CHECK(json_minify(buf_str(&m.text), 0, &again, &error, &at));
	} else if (len > 0) {
		CHECK(m.error < REASON_COUNT && m.where <= len);
	}
	buf_free(&again);
	in_close(in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = { 0 }, piped = { 0 };

	if (size > 60000)
		return 0;
	unpack(file_of(data, size), &file);
	unpack(pipe_of(data, size), &piped);
	CHECK(str_eq(buf_str(&file), buf_str(&piped)));
	mend(buf_str(&file));
	buf_free(&file);
	buf_free(&piped);
	return 0;
}

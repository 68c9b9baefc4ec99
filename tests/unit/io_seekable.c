/* SPDX-License-Identifier: MIT */
/* io/in_seekable.c: every input as a file that can seek */
#include "tests/unit/io_help.h"

static struct buf text;

/* Whether a descriptor gives all of the text, from its end backwards. */
static bool
is_text(int fd)
{
	char got[1000];
	size_t at = text.len;
	bool same = lseek(fd, 0, SEEK_CUR) == 0 &&
	    lseek(fd, 0, SEEK_END) == (off_t)text.len;

	while (same && at > 0) {
		size_t n = at < sizeof got ? at : sizeof got;

		at -= n;
		same = pread(fd, got, n, (off_t)at) == (ssize_t)n &&
		    memcmp(got, text.p + at, n) == 0;
	}
	return same;
}

/* Its inode, or 0 when it is not all of the text. */
static ino_t
seekable(struct in *in)
{
	struct stat st;
	ino_t ino = 0;
	int fd;

	(void)!in_need(in, 1000); /* a reader has looked at its head */
	fd = in_seekable(in);
	in_close(in);
	if (is_text(fd) && fstat(fd, &st) == 0)
		ino = st.st_ino;
	close(fd);
	return ino;
}

int
main(void)
{
	struct buf packed = { 0 };
	const char *plain, *gz;
	struct stat st;
	pid_t writer;

	make_folder();
	text = sample(3000000);
	pack_gzip(&packed, text.p, text.len, false);
	plain = file_of("plain", buf_str(&text));
	gz = file_of("packed", buf_str(&packed));
	if (stat(plain, &st) != 0)
		bail_out("stat");
	ok(seekable(in_open(plain)) == st.st_ino, "a plain file, itself");
	ok(seekable(in_open(gz)) != 0, "a compressed one, copied");
	ok(seekable(in_open_fd(
	       pipe_of(buf_str(&text), 70000, &writer), "stdin")) != 0,
	    "a pipe, copied");
	waitpid(writer, NULL, 0);
	remove_folder();
	buf_free(&text);
	buf_free(&packed);
	done_testing();
}

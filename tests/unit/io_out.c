/* SPDX-License-Identifier: MIT */
/* Output arrives whole, or its failure is reported. */
#include <dirent.h>
#include <errno.h>

#include "tests/unit/io_help.h"

static int
files_like(const char *part)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)) != NULL)
		n += strstr(e->d_name, part) != NULL;
	closedir(d);
	return n;
}

static void
put_all(struct out *o, struct str s, size_t piece)
{
	for (size_t i = 0; i < s.len; i += piece)
		out_write(o, s.p + i, s.len - i < piece ? s.len - i : piece);
}

static void
test_files(void)
{
	static const size_t pieces[] = { 1, 1000, 262143, 262144, 262145,
		3000000 };
	struct buf text = sample(3000000);
	const char *path = path_of("plain");
	bool all = true, hidden = true;

	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct out *o;

		unlink(path);
		o = out_open(path);
		put_all(o, buf_str(&text), pieces[i]);
		hidden &= access(path, F_OK) != 0;
		out_finish(o);
		struct buf got = file_bytes(path);
		all &= str_eq(buf_str(&got), buf_str(&text));
		buf_free(&got);
	}
	ok(all, "pieces of all sizes");
	ok(hidden, "no file before the end");
	is_int(files_like(".tmp"), 0, "no temporary file after it");
	buf_free(&text);
}

static void
test_zstd(void)
{
	struct buf text = sample(3000000), got = { 0 };
	const char *path = path_of("z.zst");
	struct out *o = out_open(path);
	struct in *in;

	out_zstd(o, 0);
	put_all(o, (struct str){ text.p, 1000000 }, 999);
	out_flush(o);
	put_all(o, (struct str){ text.p + 1000000, 2000000 }, 700000);
	out_finish(o);
	in = in_open(path);
	is_int(in->kind, IN_ZSTD, "zstd comes out");
	do {
		buf_put(&got, in->p, (size_t)(in->end - in->p));
		in->p = in->end;
	} while (in_more(in));
	in_close(in);
	ok(str_eq(buf_str(&got), buf_str(&text)), "and goes in again");

	o = out_open(path);
	out_zstd(o, 3);
	out_finish(o);
	in = in_open(path);
	ok(in->kind == IN_ZSTD && !in_more(in), "nothing, packed");
	in_close(in);
	buf_free(&text);
	buf_free(&got);
}

static void
test_printf(void)
{
	struct buf want = { 0 }, got;
	const char *path = path_of("printf");
	struct out *o = out_open(path);

	for (int i = 0; i < 40000; i++) {
		out_printf(o, "%d%s\n", i, i == 20000 ? "!" : "");
		buf_printf(&want, "%d%s\n", i, i == 20000 ? "!" : "");
	}
	struct buf long_line = sample(600000);
	buf_putc(&long_line, '\0');
	out_printf(o, "%s|", long_line.p);
	buf_printf(&want, "%s|", long_line.p);
	out_puts(o, "end");
	out_str(o, STR("."));
	buf_puts(&want, "end.");
	out_finish(o);
	got = file_bytes(path);
	ok(str_eq(buf_str(&got), buf_str(&want)), "out_printf");
	buf_free(&got);
	buf_free(&want);
	buf_free(&long_line);
}

static void
test_names(void)
{
	const char *path = path_of("mode"), *link = path_of("link");
	struct out *o;
	struct stat st;

	umask(027);
	out_finish(out_open(path));
	stat(path, &st);
	is_int(st.st_mode & 07777, 0640, "a new file has the umask's mode");
	chmod(path, 0604);
	if (symlink("mode", link) != 0)
		bail_out("symlink");
	o = out_open(link);
	out_puts(o, "new");
	out_finish(o);
	stat(path, &st);
	is_int(st.st_mode & 07777, 0604, "an old one keeps its own");
	is_int(st.st_size, 3, "and is replaced");
	lstat(link, &st);
	ok(S_ISLNK(st.st_mode), "through a link, which stays");
	o = out_open("/dev/null");
	out_puts(o, "x");
	out_finish(o);
	stat("/dev/null", &st);
	ok(S_ISCHR(st.st_mode), "/dev/null stays what it is");
}

/* Its own input: read whole from the old file while the new one is written. */
static void
test_same(void)
{
	struct buf text = sample(100000), got;
	const char *path = file_of("same", buf_str(&text));
	struct in *in = in_open(path);
	struct out *o = out_open(path);

	out_write(o, in->p, (size_t)(in->end - in->p));
	out_puts(o, "more");
	out_finish(o);
	in_close(in);
	buf_puts(&text, "more");
	got = file_bytes(path);
	ok(str_eq(buf_str(&got), buf_str(&text)), "input and output the same");
	buf_free(&text);
	buf_free(&got);
}

/* ---- in children ---- */

static void
to_stdout_as(const char *how)
{
	struct buf text = sample(1000000);
	int fds[2];

	if (strcmp(how, "full") == 0) {
		dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	} else if (strcmp(how, "closed") == 0) {
		close(STDOUT_FILENO);
	} else if (strcmp(how, "small") == 0) {
		dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
		text.len = 10;
	} else if (pipe(fds) == 0) {
		if (strcmp(how, "no SIGPIPE") == 0)
			signal(SIGPIPE, SIG_IGN);
		close(fds[0]);
		dup2(fds[1], STDOUT_FILENO);
	}
	struct out *o = out_open(NULL);
	out_write(o, text.p, text.len);
	out_finish(o);
}

static void
die_half_way(const char *path)
{
	struct out *o = out_open(path);

	out_puts(o, "half");
	out_flush(o);
	die("enough");
}

static void
signal_half_way(const char *path)
{
	struct out *o = out_open(path);

	out_puts(o, "half");
	out_flush(o);
	raise(SIGTERM);
}

static void
sigpipe_half_way(const char *path)
{
	struct out *o;

	o = out_open(path);
	out_flush(o);
	to_stdout_as("pipe");
}

static void
finish_at(const char *path)
{
	struct out *o = out_open(path);

	out_puts(o, "x");
	out_finish(o);
}

static void
check_death(
    void (*fn)(const char *), const char *arg, int status, const char *err)
{
	struct child c = run(fn, arg);

	is_int(c.status, status, "%s ends so", arg);
	if (!ok(strstr(c.err, err) != NULL && (*err || c.len == 0),
		"and says: %s", err))
		diag("%s", c.err);
}

static void
test_deaths(void)
{
	const char *path = path_of("half");

	check_death(to_stdout_as, "full", 1,
	    "tl-test: standard output: No space left on device\n");
	check_death(to_stdout_as, "small", 1,
	    "tl-test: standard output: No space left on device\n");
	check_death(to_stdout_as, "closed", 1,
	    "tl-test: standard output: Bad file descriptor\n");
	check_death(to_stdout_as, "no SIGPIPE", -SIGPIPE, "");
	check_death(to_stdout_as, "pipe", -SIGPIPE, "");
	check_death(die_half_way, path, 1, "tl-test: enough\n");
	check_death(signal_half_way, path, -SIGTERM, "");
	check_death(sigpipe_half_way, path, -SIGPIPE, "");
	is_int(files_like("half"), 0, "and nothing of a file stays");
	check_death(finish_at, "/dev/full", 1,
	    "tl-test: /dev/full: No space left on device\n");
	check_death(finish_at, path_of("no/folder"), 1,
	    "no/folder: No such file or directory\n");
	check_death(finish_at, folder, 1, ": Is a directory\n");
}

/* A pipe that takes little at a time, and does not wait. */
static void
test_slow_pipe(void)
{
	struct buf text = sample(1000000), got = { 0 };
	int fds[2];
	ssize_t n = 1;
	pid_t pid;

	if (pipe(fds) != 0)
		bail_out("pipe");
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0)
		_exit(write_all(fds[1], text.p, text.len) != 0);
	close(fds[1]);
	while (n > 0) {
		buf_room(&got, 3000);
		n = read(fds[0], got.p + got.len, 3000);
		got.len += n > 0 ? (size_t)n : 0;
	}
	waitpid(pid, NULL, 0);
	close(fds[0]);
	ok(str_eq(buf_str(&got), buf_str(&text)), "short writes");
	buf_free(&text);
	buf_free(&got);
}

int
main(void)
{
	make_folder();
	test_files();
	test_zstd();
	test_printf();
	test_names();
	test_same();
	test_deaths();
	test_slow_pipe();
	remove_folder();
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/*
 * mutants: run a command on many changed inputs.
 *
 *	usage: mutants [-rt] [-n RUNS] [-s SEED] [-k FOLDER] FILE... --
 *	           COMMAND [ARGUMENT...] [++ COMMAND [ARGUMENT...]]
 *
 * Each run changes one of the files: event streams record by record, with
 * counts and checksums repaired; with -t, text by its lines, words and numbers.
 * The command gets it as standard input, and as file @. It must end by itself
 * within TIMEOUT seconds, with one of our statuses, with the memory that such a
 * small input may need, and give a reason if it has no answer. A second command
 * after ++ must have the same status and standard output; with -r it may be
 * stricter and refuse the input.
 *
 * FOLDER gets inputs that break this. Prints how often each status came.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/io.h"
#include "tests/fuzz/records.h"

#define TIMEOUT 30
#define MEMORY_KIB (512 * 1024)
#define SHOWN 6
#define AT_FD 9 /* @ */

struct outcome {
	int status; /* or 128 + signal */
	struct buf out, err;
	long peak_kib;
};

static volatile sig_atomic_t child;

static void
on_alarm(int sig)
{
	(void)sig;
	kill((pid_t)child, SIGKILL);
}

/* ---- text ---- */

static const char *
end_of_word(const char *p, const char *end)
{
	static const char breaks[] = " \t\n,:;{}[]()\"=<>";

	if (strchr(breaks, *p) != NULL)
		return p + 1;
	while (p < end && *p != '\0' && strchr(breaks, *p) == NULL)
		p++;
	return p;
}

typedef VEC(struct str) str_vec;

static void
words_of(str_vec *words, struct str s, bool is_lines)
{
	const char *p = s.p, *end = s.p + s.len;

	while (p < end) {
		const char *next = is_lines ? memchr(p, '\n', (size_t)(end - p))
					    : end_of_word(p, end);

		next = next == NULL ? end : is_lines ? next + 1 : next;
		if (next == p) /* NUL */
			next++;
		vec_push(words, ((struct str){ p, (size_t)(next - p) }));
		p = next;
	}
}

static void
put_odd_word(struct buf *b, struct str old, uint64_t *seed)
{
	static const char *const values[] = { "null", "true", "-1", "0",
		"1e400", "NaN", "Infinity", "{}", "[]", "\"\"", "1.5",
		"9223372036854775807", "-9223372036854775809", "\"1\"", "\"",
		"\\ud800", "{", "]", ",", "\t", "\r\n", "end", "0x10" };
	struct str text = odd_text(seed);
	int64_t n;

	if (num_i64(old, &n) && below(seed, 2) == 0)
		buf_printf(
		    b, "%" PRId64, (int64_t)odd_number(seed, (uint64_t)n));
	else if (below(seed, 3) > 0)
		buf_puts(
		    b, values[below(seed, sizeof values / sizeof *values)]);
	else
		buf_put(b, text.p, text.len);
}

/* One change, among its words or its lines. */
static void
change_text(struct buf *b, uint64_t *seed)
{
	str_vec words = { 0 };
	struct buf to = { 0 };
	size_t at, from, n;
	int how = (int)below(seed, 6);

	words_of(&words, buf_str(b), below(seed, 3) == 0);
	at = below(seed, words.n);
	from = below(seed, words.n);
	n = 1 + below(seed, 4);
	for (size_t i = 0; i < words.n; i++) {
		if (i == at && how == 0)
			put_odd_word(&to, words.v[i], seed);
		else if (i == at && how == 1)
			buf_put(&to, words.v[from].p, words.v[from].len);
		else if (i >= at && i < at + n && how == 2)
			continue;
		else
			buf_put(&to, words.v[i].p, words.v[i].len);
		for (size_t k = from;
		     i == at && how == 3 && k < from + n && k < words.n; k++)
			buf_put(&to, words.v[k].p, words.v[k].len);
	}
	if (how == 4)
		change_bytes(&to, seed);
	vec_free(&words);
	buf_free(b);
	*b = to;
}

static void
change(const struct buf *from, struct buf *to, bool is_text, uint64_t *seed)
{
	struct stream_records s = { 0 };

	to->len = 0;
	if (is_text) {
		buf_put(to, from->p, from->len);
		do
			change_text(to, seed);
		while (below(seed, 3) != 0);
		return;
	}
	if (!stream_records_read(&s, from->p, from->len))
		die("no stream to change");
	stream_records_change(&s, seed);
	stream_records_write(&s, to);
	stream_records_free(&s);
}

/* ---- running ---- */

static int
memory_file(const struct buf *b)
{
	int fd = memfd_create("mutants", 0);

	if (fd < 0 || write_all(fd, b->p, b->len) != 0 ||
	    lseek(fd, 0, SEEK_SET) != 0)
		die_errno("a file in memory");
	return fd;
}

static void
read_back(int fd, struct buf *b)
{
	ssize_t n;

	b->len = 0;
	lseek(fd, 0, SEEK_SET);
	do {
		buf_room(b, 65536);
		n = read(fd, b->p + b->len, 65536);
		b->len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(fd);
}

static void
run(char **argv, const struct buf *input, struct outcome *o)
{
	const struct buf none = { 0 };
	int in = memory_file(input), out = memory_file(&none);
	int err = memory_file(&none), raw;
	struct rusage ru;
	pid_t pid = vfork();

	if (pid == 0) {
		dup2(in, 0);
		dup2(in, AT_FD);
		dup2(out, 1);
		dup2(err, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	child = pid;
	alarm(TIMEOUT);
	while (wait4(pid, &raw, 0, &ru) < 0)
		if (errno != EINTR)
			die_errno("waiting");
	alarm(0);
	o->status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	o->peak_kib = ru.ru_maxrss;
	close(in);
	read_back(out, &o->out);
	read_back(err, &o->err);
}

static bool
has(const struct buf *b, const char *what)
{
	return str_find(buf_str(b), str_of(what), false) >= 0;
}

/* NULL: no complaint. */
static const char *
complaint(const struct outcome *o)
{
	bool is_sanitized = getenv("ASAN_OPTIONS") != NULL;

	if (has(&o->err, "Sanitizer") || has(&o->err, "runtime error:") ||
	    has(&o->err, "Assertion"))
		return "a crash";
	if (o->status == 128 + SIGKILL)
		return "no end";
	if (o->status > 5)
		return "a status that is not ours";
	if (o->status == 2)
		return "a usage error";
	if (o->status == 1 && o->err.len == 0)
		return "no answer, and not a word";
	if (o->peak_kib > MEMORY_KIB && !is_sanitized)
		return "too much memory";
	return NULL;
}

static void
keep(const char *folder, const struct buf *input, uint64_t seed)
{
	char path[4096];
	int fd;

	if (folder == NULL)
		return;
	snprintf(path, sizeof path, "%s/mutant-%" PRIu64, folder, seed);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write_all(fd, input->p, input->len) != 0 ||
	    close(fd) != 0)
		die_errno("%s", path);
}

/* Only the first few: a wrong command would be shown at each run. */
static void
show(const char *why, uint64_t seed, char **argv, const struct outcome *o)
{
	static int nshown;

	if (nshown++ >= SHOWN)
		return;
	printf("%s: seed %" PRIu64 ", status %d, %ld KiB:", why, seed,
	    o->status, o->peak_kib);
	for (; *argv != NULL; argv++)
		printf(" %s", *argv);
	printf("\n%.*s\n", (int)(o->err.len < 3000 ? o->err.len : 3000),
	    o->err.p != NULL ? o->err.p : "");
	fflush(stdout);
}

/* Cuts a list off at a word; returns what follows it. */
static char **
after(char **argv, const char *word)
{
	for (; *argv != NULL; argv++)
		if (strcmp(*argv, word) == 0) {
			*argv = NULL;
			return argv + 1;
		}
	return NULL;
}

static void
name_file(char **argv)
{
	static char path[32];

	snprintf(path, sizeof path, "/dev/fd/%d", AT_FD);
	for (; argv != NULL && *argv != NULL; argv++)
		if (strcmp(*argv, "@") == 0)
			*argv = path;
}

int
main(int argc, char *argv[])
{
	struct outcome one = { 0 }, two = { 0 };
	VEC(struct buf) files = { 0 };
	const char *folder = NULL;
	uint64_t first = 1, runs = 100, failed = 0, counts[256] = { 0 };
	bool is_text = false, may_refuse = false;
	char **command, **other;
	int ch;

	err_program("mutants");
	while ((ch = getopt(argc, argv, "+rtn:s:k:")) != -1)
		switch (ch) {
		case 'r': may_refuse = true; break;
		case 't': is_text = true; break;
		case 'n': runs = strtoull(optarg, NULL, 10); break;
		case 's': first = strtoull(optarg, NULL, 10); break;
		case 'k': folder = optarg; break;
		default: return 2;
		}
	command = after(argv + optind, "--");
	if (command == NULL || *command == NULL)
		die("no command");
	for (char **p = argv + optind; *p != NULL; p++) {
		struct buf *b = vec_add(&files);
		int fd = open(*p, O_RDONLY | O_CLOEXEC);

		*b = (struct buf){ 0 };
		if (fd < 0)
			die_errno("%s", *p);
		read_back(fd, b);
	}
	other = after(command, "++");
	name_file(command);
	name_file(other);
	signal(SIGALRM, on_alarm);
	for (uint64_t n = first; n < first + runs; n++) {
		struct buf input = { 0 };
		uint64_t seed = n * UINT64_C(0x100000001);
		const char *why;

		change(&files.v[below(&seed, files.n)], &input, is_text, &seed);
		run(command, &input, &one);
		counts[one.status & 255]++;
		why = complaint(&one);
		if (why == NULL && other != NULL) {
			run(other, &input, &two);
			why = complaint(&two);
			if (why != NULL)
				show("the other", n, other, &two);
			else if (may_refuse && two.status == 1)
				;
			else if (one.status != two.status ||
			    !str_eq(buf_str(&one.out), buf_str(&two.out))) {
				why = "they differ";
				show("the other", n, other, &two);
			}
		}
		if (why != NULL) {
			show(why, n, command, &one);
			keep(folder, &input, n);
			failed++;
		}
		buf_free(&input);
	}
	for (int i = 0; i < 256; i++)
		if (counts[i] > 0)
			printf("exit %d: %" PRIu64 "\n", i, counts[i]);
	return failed > 0;
}

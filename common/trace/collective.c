/* SPDX-License-Identifier: MIT */
#include "trace/collective.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"
#include "stream/rank.h"

static const char name[] = "tl-collective";

/* As recorded, silently; or aligned. */
struct question {
	const char *table, *columns;
	const char *const *paths;
	size_t n;
	bool is_recorded;
};

static pid_t
start(const struct question *q, int *fd)
{
	const char *const fixed[] = { "--table", q->table, "-c", q->columns,
		"--no-header", "--format", "tsv" };
	char *program = sys_program(name);
	VEC(char *) argv = { 0 };
	struct child_how how = { .fd = { -1, -1, -1, -1 } };
	int fds[2], quiet = -1;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		die_errno("pipe");
	if (q->is_recorded &&
	    (quiet = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
		die_errno("/dev/null");
	vec_push(&argv, program);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		vec_push(&argv, (char *)(uintptr_t)fixed[i]);
	vec_push(&argv,
	    (char *)(uintptr_t)(q->is_recorded ? "--status-fd=2"
					       : "--align-clocks"));
	vec_push(&argv, (char *)(uintptr_t) "--");
	for (size_t i = 0; i < q->n; i++)
		vec_push(&argv, (char *)(uintptr_t)q->paths[i]);
	vec_push(&argv, NULL);
	how.argv = argv.v;
	how.fd[1] = fds[1];
	how.fd[2] = quiet;
	pid = child_start(&how);
	if (pid < 0)
		die_errno("%s", name);
	close(fds[1]);
	if (quiet >= 0)
		close(quiet);
	free(program);
	vec_free(&argv);
	*fd = fds[0];
	return pid;
}

struct str
collective_cell(struct str *row)
{
	const char *tab = memchr(row->p, '\t', row->len);
	size_t len = tab != NULL ? (size_t)(tab - row->p) : row->len;
	struct str cell = { row->p, len };

	len += tab != NULL;
	row->p += len;
	row->len -= len;
	return cell;
}

/* Its exit status, as child_wait() has it. */
static int
pass_rows(const struct question *q, collective_row_fn *row, void *arg)
{
	int fd;
	pid_t pid = start(q, &fd);
	struct in *in = in_open_fd(fd, name);
	const char *text;
	struct str line;

	while (in_more(in))
		;
	text = (const char *)in->p; /* zeros follow it */
	while (str_next(&text, '\n', &line))
		if (line.len > 0)
			row(arg, line);
	in_close(in);
	return child_wait(pid);
}

bool
collective_rows(const char *table, const char *columns,
    const char *const *paths, size_t n, collective_row_fn *row, void *arg)
{
	const struct question q = { table, columns, paths, n, false };
	bool has_warned = child_has_warned(NULL, name, pass_rows(&q, row, arg));

	if (has_warned)
		report(MSG_CLOCKS_WARNED, name);
	return has_warned;
}

void
collective_islands(int64_t last, bool has_warned)
{
	if (last > 0 && !has_warned)
		report(MSG_CLOCKS_WARNED, name);
}

/* ---- clocks ---- */

static const char columns[] =
    "process,offset_ns,u_ns,drift,middle_ns,collectives,island,off";

struct taking {
	collective_clock_list *to;
	struct map seen; /* processes; all GPUs of one share its clock */
	bool is_quiet;
};

static bool
read_clock(struct str row, struct collective_clock *c)
{
	struct str drift;
	bool is_known;

	if (!num_i64(collective_cell(&row), &c->rank))
		die("tl-collective printed a line that is not a row");
	is_known = num_i64(collective_cell(&row), &c->offset_ns) &&
	    num_i64(collective_cell(&row), &c->u_ns);
	drift = collective_cell(&row);
	is_known = is_known && num_double(drift, &c->drift) &&
	    num_i64(collective_cell(&row), &c->middle_ns) &&
	    num_i64(collective_cell(&row), &c->nties) &&
	    num_i64(collective_cell(&row), &c->island);
	c->is_off = str_eq(row, STR("true"));
	return is_known;
}

static void
take_clock(void *arg, struct str row)
{
	struct taking *k = arg;
	struct collective_clock c = { 0 };
	bool is_known = read_clock(row, &c), is_new;

	(void)map_put(&k->seen, (uint64_t)c.rank, &is_new);
	if (is_known && is_new)
		vec_push(k->to, c);
	else if (is_new && !k->is_quiet)
		report(MSG_RANK_NO_CLOCK, c.rank);
}

static int
by_rank(const void *x, const void *y)
{
	const struct collective_clock *a = x, *b = y;

	return (a->rank > b->rank) - (a->rank < b->rank);
}

void
collective_clocks(collective_clock_list *to, const char *const *paths, size_t n)
{
	struct taking k = { .to = to };
	int64_t last = 0;
	bool has_warned =
	    collective_rows("nccl_clocks", columns, paths, n, take_clock, &k);

	stable_sort(to->v, to->n, sizeof *to->v, by_rank);
	for (size_t i = 0; i < to->n; i++)
		last = to->v[i].island > last ? to->v[i].island : last;
	collective_islands(last, has_warned);
	map_free(&k.seen);
}

void
collective_clocks_recorded(
    collective_clock_list *to, const char *const *paths, size_t n)
{
	const struct question q = { "nccl_clocks", columns, paths, n, true };
	struct taking k = { .to = to, .is_quiet = true };

	(void)pass_rows(&q, take_clock, &k);
	stable_sort(to->v, to->n, sizeof *to->v, by_rank);
	map_free(&k.seen);
}

const struct collective_clock *
collective_clock_of(const collective_clock_list *list, int64_t rank)
{
	size_t at;

	bisect(at, list->n, mid, list->v[mid].rank < rank);
	return at < list->n && list->v[at].rank == rank ? &list->v[at] : NULL;
}

void
collective_tell_off(
    const collective_clock_list *list, const int64_t *ranks, size_t n)
{
	const struct collective_clock *worst = NULL;
	VEC(int64_t) off = { 0 };
	struct buf which = { 0 }, ms = { 0 };
	struct map seen = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct collective_clock *c =
		    collective_clock_of(list, ranks[i]);
		bool is_new;

		if (c == NULL || !c->is_off)
			continue;
		(void)map_put(&seen, (uint64_t)c->rank, &is_new);
		if (is_new)
			vec_push(&off, c->rank);
		if (worst == NULL ||
		    fabs((double)c->offset_ns) > fabs((double)worst->offset_ns))
			worst = c;
	}
	sort_i64(off.v, off.n);
	if (off.n > 0) {
		put_ranges(&which, off.v, off.n);
		buf_printf(&ms, "%.3f ms", (double)worst->offset_ns / 1e6);
		report(MSG_JOIN_CLOCKS_OFF, off.n, buf_str(&which), worst->rank,
		    buf_str(&ms));
	}
	map_free(&seen);
	vec_free(&off);
	buf_free(&which);
	buf_free(&ms);
}

/* SPDX-License-Identifier: MIT */
#include "trace/collective.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io.h"

static const char name[] = "tl-collective";

static pid_t
start(const char *table, const char *columns, const char *const *paths,
    size_t n, int *fd)
{
	const char *const fixed[] = { "--table", table, "-c", columns,
		"--no-header", "--format", "tsv", "--align-clocks", "--" };
	char *program = sys_program(name);
	VEC(char *) argv = { 0 };
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		die_errno("pipe");
	vec_push(&argv, program);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		vec_push(&argv, (char *)(uintptr_t)fixed[i]);
	for (size_t i = 0; i < n; i++)
		vec_push(&argv, (char *)(uintptr_t)paths[i]);
	vec_push(&argv, NULL);
	pid = child_spawn(argv.v, -1, fds[1]);
	if (pid < 0)
		die_errno("%s", name);
	close(fds[1]);
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

bool
collective_rows(const char *table, const char *columns,
    const char *const *paths, size_t n, collective_row_fn *row, void *arg)
{
	bool has_warned;
	int fd;
	pid_t pid = start(table, columns, paths, n, &fd);
	struct in *in = in_open_fd(fd, name);
	const char *text;
	struct str line;

	while (in_more(in))
		;
	text = (const char *)in->p; /* zeros stand behind it */
	while (str_next(&text, '\n', &line))
		if (line.len > 0)
			row(arg, line);
	in_close(in);
	has_warned = child_has_warned(NULL, name, child_wait(pid));
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

struct taking {
	collective_clock_list *to;
	struct map seen; /* processes, each of whose GPUs has its clock */
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
	return is_known && num_double(drift, &c->drift) &&
	    num_i64(collective_cell(&row), &c->middle_ns) &&
	    num_i64(collective_cell(&row), &c->nties) &&
	    num_i64(row, &c->island);
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
	else if (is_new)
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
	bool has_warned = collective_rows("nccl_clocks",
	    "process,offset_ns,u_ns,drift,middle_ns,collectives,island", paths,
	    n, take_clock, &k);
	stable_sort(to->v, to->n, sizeof *to->v, by_rank);
	for (size_t i = 0; i < to->n; i++)
		last = to->v[i].island > last ? to->v[i].island : last;
	collective_islands(last, has_warned);
	map_free(&k.seen);
}

const struct collective_clock *
collective_clock_of(const collective_clock_list *list, int64_t rank)
{
	size_t at;

	bisect(at, list->n, mid, list->v[mid].rank < rank);
	return at < list->n && list->v[at].rank == rank ? &list->v[at] : NULL;
}

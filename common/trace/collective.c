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

void
collective_rows(const char *table, const char *columns,
    const char *const *paths, size_t n, collective_row_fn *row, void *arg)
{
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
	if (child_has_warned(NULL, name, child_wait(pid)))
		report(MSG_CLOCKS_WARNED, name);
}

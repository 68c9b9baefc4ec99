/* SPDX-License-Identifier: MIT */
/*
 * Workbooks: tables go as NDJSON into an unnamed file, which tl-xlsx reads. Not
 * a pipe: if tl-xlsx fails, its message must not drown in ours about a broken
 * pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/tl-compare/compare.h"

static void
check(bool good, const char *what)
{
	if (!good)
		die_errno("%s", what);
}

static void
run_xlsx(int tables, const char *path)
{
	char *const argv[] = { sys_program("tl-xlsx"),
		(char *)(uintptr_t) "--labels", (char *)(uintptr_t) "-o",
		(char *)(uintptr_t)path, NULL };
	pid_t pid = child_spawn(argv, tables, -1);

	check(pid >= 0, "cannot run tl-xlsx (-d DIR writes CSV)");
	vec_release(argv[0]);
	if (child_has_warned(path, "tl-xlsx", child_wait(pid)))
		report(MSG_WORKBOOK_INCOMPLETE, path);
}

void
excel_write(const char *path, void (*put)(void *ctx), void *ctx)
{
	int tables = io_nameless();
	int old = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (tables < 0)
		die_errno("%s: no temporary file", io_tmpdir());
	/* tables are printed to standard output, wherever that is */
	check(old >= 0 || errno == EBADF, "standard output");
	check(dup2(tables, STDOUT_FILENO) >= 0, "standard output");
	put(ctx);
	if (old >= 0)
		check(dup2(old, STDOUT_FILENO) >= 0, "standard output");
	else
		close(STDOUT_FILENO);
	if (old >= 0)
		close(old);
	check(lseek(tables, 0, SEEK_SET) == 0, "a temporary file");
	run_xlsx(tables, path);
	close(tables);
}

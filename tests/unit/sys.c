/* SPDX-License-Identifier: MIT */
/* base/sys.c: what holds on any machine */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "base/base.h"
#include "tests/unit/child.h"
#include "tests/unit/tap.h"

static void
affinity(void)
{
	cpu_set_t set;
	size_t i = 0;

	if (sched_getaffinity(0, sizeof set, &set) != 0) {
		skip(2, "no affinity here");
		return;
	}
	ok(sys_cpus() <= CPU_COUNT(&set), "not more than the mask has");
	while (!CPU_ISSET(i, &set))
		i++;
	CPU_ZERO(&set);
	CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof set, &set) == 0)
		is_int(sys_cpus(), 1, "the mask of one binds");
	else
		skip(1, "the affinity can't be set");
}

static void
closed_std(void)
{
	int file;

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	sys_keep_std();
	file = open("/dev/null", O_RDONLY);
	if (file <= STDERR_FILENO || read(STDIN_FILENO, &file, 1) != -1 ||
	    errno != EBADF || write(STDOUT_FILENO, "", 1) != -1 ||
	    errno != EBADF)
		_exit(1);
}

int
main(void)
{
	double wall = sys_wall_s(), cpu = sys_cpu_s();
	char real[PATH_MAX];

	ok(sys_cpus() >= 1, "at least one processor");
	affinity();
	is_int(child_run(closed_std).status, 0,
	    "what was closed is not given to a file, and fails as before");
	ok(sys_peak_bytes() > 100000, "a peak of memory");
	ok(sys_wall_s() >= wall, "the clock goes on");
	ok(sys_cpu_s() >= cpu, "so does the processor's");
	ok(realpath("/proc/self/exe", real) == NULL ||
		(str_starts(str_of(real), str_of(sys_bindir())) &&
		    sys_bindir()[0] == '/'),
	    "the program's directory");
	ok(sys_bindir() == sys_bindir(), "asked once");
	done_testing();
}

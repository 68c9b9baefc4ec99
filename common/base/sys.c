/* SPDX-License-Identifier: MIT */
/*
 * The machine as this process may use it. On a cluster a job has a share of
 * the node: threads follow the affinity mask and the cgroup's quota.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define CPUS_MAX (1 << 20)
#define SMALL_FILE 8192

/* Reads a small file of the kernel; false if it can't. */
static bool
small_file(const char *path, char text[static SMALL_FILE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	while (n < SMALL_FILE - 1) {
		got = read(fd, text + n, SMALL_FILE - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	text[n] = '\0';
	close(fd);
	return n > 0;
}

/* A mask too small for the machine gives EINVAL: retry with larger ones. */
static int
affinity_cpus(void)
{
	int size, n;

	for (size = 1024; size <= CPUS_MAX; size *= 2) {
		cpu_set_t *set = CPU_ALLOC((size_t)size);
		size_t bytes = CPU_ALLOC_SIZE((size_t)size);
		int rc;

		if (set == NULL)
			break;
		rc = sched_getaffinity(0, bytes, set);
		n = rc == 0 ? CPU_COUNT_S(bytes, set) : 0;
		CPU_FREE(set);
		if (n > 0)
			return n;
		if (rc != 0 && errno != EINVAL)
			break;
	}
	n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? n : 1;
}

/* Rounded up: 1.5 processors keep two threads busy. */
static int
quota_cpus(long long quota, long long period)
{
	if (quota <= 0 || period <= 0 || quota / period >= CPUS_MAX)
		return INT_MAX;
	return (int)((quota + period - 1) / period);
}

static int
quota_v2(const char *dir)
{
	char path[PATH_MAX], text[SMALL_FILE];
	long long quota, period;

	snprintf(path, sizeof path, "%s/cpu.max", dir);
	if (!small_file(path, text) ||
	    sscanf(text, "%lld %lld", &quota, &period) != 2)
		return INT_MAX; /* "max 100000" */
	return quota_cpus(quota, period);
}

static int
quota_v1(const char *dir)
{
	char path[PATH_MAX], quota[SMALL_FILE], period[SMALL_FILE];

	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
	if (!small_file(path, quota))
		return INT_MAX;
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
	if (!small_file(path, period))
		return INT_MAX;
	return quota_cpus(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

/*
 * The smallest quota from the group up to the mount, as each level applies. In
 * a container the path may be the host's, and not exist below the mount, which
 * then is the group.
 */
static int
quota_chain(const char *mount, const char *group, int (*quota)(const char *))
{
	char dir[PATH_MAX];
	size_t base = strlen(mount);
	int best = INT_MAX, n;

	if (snprintf(dir, sizeof dir, "%s%s", mount, group) >= (int)sizeof dir)
		return quota(mount);
	for (;;) {
		char *slash = strrchr(dir, '/');

		n = quota(dir);
		if (n < best)
			best = n;
		if (strlen(dir) <= base || slash < dir + base)
			return best;
		*slash = '\0';
	}
}

/* Whether a list of controllers includes cpu. */
static bool
has_cpu(const char *list)
{
	struct str word;

	while (str_next(&list, ',', &word))
		if (str_eq(word, STR("cpu")))
			return true;
	return false;
}

/* A line of /proc/self/cgroup: "0::/group" or "4:cpu,cpuacct:/group". */
static int
quota_line(char *line)
{
	char *list = strchr(line, ':'), *group;
	char mount[PATH_MAX];

	if (list == NULL || (group = strchr(list + 1, ':')) == NULL)
		return INT_MAX;
	list++;
	*group++ = '\0';
	if (*list == '\0')
		return quota_chain("/sys/fs/cgroup", group, quota_v2);
	if (!has_cpu(list))
		return INT_MAX;
	snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", list);
	if (access(mount, F_OK) != 0)
		snprintf(mount, sizeof mount, "/sys/fs/cgroup/cpu");
	return quota_chain(mount, group, quota_v1);
}

int
sys_cpus(void)
{
	char text[SMALL_FILE], *line, *rest = NULL;
	int best = affinity_cpus(), n;

	if (!small_file("/proc/self/cgroup", text))
		return best;
	for (line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		n = quota_line(line);
		if (n < best)
			best = n;
	}
	return best > 0 ? best : 1;
}

/*
 * VmHWM first: ru_maxrss is inherited through exec, so a small program started
 * by a large one would report the parent's peak.
 */
uint64_t
sys_peak_bytes(void)
{
	char text[SMALL_FILE];
	const char *line;
	struct rusage use;

	if (small_file("/proc/self/status", text) &&
	    (line = strstr(text, "VmHWM:")) != NULL)
		return (uint64_t)strtoull(line + 6, NULL, 10) << 10;
	if (getrusage(RUSAGE_SELF, &use) != 0)
		return 0;
	return (uint64_t)use.ru_maxrss << 10;
}

static double
clock_s(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t) != 0)
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double
sys_wall_s(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

double
sys_cpu_s(void)
{
	return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static double started_s;

void
sys_start(void)
{
	started_s = sys_wall_s();
}

void
note_cost(const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	note("%s, %.3f s, %.3f s CPU, %.1f MB", what, sys_wall_s() - started_s,
	    sys_cpu_s(), (double)sys_peak_bytes() / 1e6);
}

/* Call it before there are threads: the first call caches the result. */
const char *
sys_bindir(void)
{
	static char dir[PATH_MAX];
	ssize_t n;
	char *slash;

	if (dir[0] != '\0')
		return dir;
	n = readlink("/proc/self/exe", dir, sizeof dir - 1);
	dir[n > 0 ? n : 0] = '\0';
	if (n < 0) /* no /proc: use argv[0] */
		snprintf(dir, sizeof dir, "%s", program_invocation_name);
	slash = strrchr(dir, '/');
	if (slash != NULL)
		slash[slash == dir] = '\0'; /* "/" stays */
	else
		dir[0] = '\0'; /* found in PATH, as others will be */
	return dir;
}

/* Our own folder first, so that a build tree needs no PATH. */
char *
sys_program(const char *name)
{
	const char *dir = sys_bindir();
	struct buf b = { 0 };

	if (dir[0] != '\0') {
		buf_printf(&b, "%s/%s", dir, name);
		buf_putc(&b, '\0');
		if (access(b.p, X_OK) == 0)
			return b.p;
		b.len = 0;
	}
	buf_puts(&b, name);
	buf_putc(&b, '\0');
	return b.p;
}

/*
 * Otherwise, after 2>&-, the file of -o would get number 2, and warnings.
 * /dev/null opened for the opposite direction gives EBADF.
 */
void
sys_keep_std(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null",
			fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return; /* then no other file can be opened */
}

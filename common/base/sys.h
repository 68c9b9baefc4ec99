/* SPDX-License-Identifier: MIT */
/* sys: the machine and this process. */
#ifndef TL_BASE_SYS_H
#define TL_BASE_SYS_H

#include "base/c.h"

/* Processors this process may use: affinity and cgroup quota, at least 1. */
int sys_cpus(void);
/* Peak resident memory of this process in bytes. */
uint64_t sys_peak_bytes(void);
/* Seconds of a clock that began at any time: differences tell something. */
double sys_wall_s(void);
double sys_cpu_s(void);
/*
 * The last line of -v: what was done, and behind it ", 1.234 s, 1.200 s CPU,
 * 56.7 MB": time since sys_start(), and this process's peak memory.
 */
void note_cost(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The program begins. opt_start() calls it. */
void sys_start(void);
/*
 * No file that is opened becomes a standard one: of a standard input, output
 * or error that was closed, reading or writing fails as before.
 */
void sys_keep_std(void);
/* The directory of the running program, "" if it is unknown. */
const char *sys_bindir(void);
/* One of our programs: beside this one if it is there, else by PATH. Owned. */
char *sys_program(const char *name);

#endif

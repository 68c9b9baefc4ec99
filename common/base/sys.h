/* SPDX-License-Identifier: MIT */
/* sys: the machine and this process. */
#ifndef TL_BASE_SYS_H
#define TL_BASE_SYS_H

#include "base/c.h"

/* Processors this process may use: affinity and cgroup quota, at least 1. */
int sys_cpus(void);
/* Peak resident memory of this process in bytes. */
uint64_t sys_peak_bytes(void);
/* Seconds of a clock with an arbitrary start, for differences. */
double sys_wall_s(void);
double sys_cpu_s(void);
/*
 * The last line of -v: what was done, then ", 1.234 s, 1.200 s CPU, 56.7 MB":
 * time since sys_start(), and this process's peak memory.
 */
void note_cost(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Starts the clock. opt_start() calls it. */
void sys_start(void);
/*
 * Keeps opened files from becoming standard ones: reading or writing a closed
 * standard input, output or error fails as before.
 */
void sys_keep_std(void);
/* The directory of the running program, "" if it is unknown. */
const char *sys_bindir(void);
/* The path of one of our programs: beside this one, else by PATH. Owned. */
char *sys_program(const char *name);

#endif

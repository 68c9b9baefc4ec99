/* SPDX-License-Identifier: MIT */
/*
 * The progress line. A timer sends SIGALRM, whose handler sets a flag; the
 * handler is installed with SA_RESTART, and the loops of this area go on after
 * EINTR. A POSIX timer, because it is inherited neither by fork nor by exec.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "io/io.h"

volatile sig_atomic_t progress_due;

static struct {
	const char *verb;
	double start_s;
	timer_t timer;
	bool running;
	bool shown;
} line;

static void
on_alarm(int sig)
{
	(void)sig;
	progress_due = 1;
}

static void
erase(void)
{
	if (line.shown && write_all(STDERR_FILENO, "\r\033[K", 4) == 0)
		line.shown = false;
}

/* Not in the background either, where it would disturb another program. */
static bool
is_wanted(void)
{
	return isatty(STDERR_FILENO) == 1 &&
	    tcgetpgrp(STDERR_FILENO) == getpgrp();
}

void
progress_start(const char *verb)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerspec when = {
		.it_value = { .tv_sec = 1 },
		.it_interval = { .tv_nsec = 200 * 1000 * 1000 },
	};
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL };
	static bool hooked;

	if (line.running || !is_wanted())
		return;
	sa.sa_flags = SA_RESTART;
	sigemptyset(&sa.sa_mask);
	ev.sigev_signo = SIGALRM;
	if (sigaction(SIGALRM, &sa, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &ev, &line.timer) != 0)
		return;
	timer_settime(line.timer, 0, &when, NULL);
	if (!hooked)
		err_at_death(erase);
	hooked = true;
	line.verb = verb;
	line.start_s = sys_wall_s();
	line.running = true;
}

static void
put_left(struct buf *b, double left_s)
{
	uint64_t s = (uint64_t)(left_s + 0.5);

	if (s < 3600)
		buf_printf(
		    b, ", %" PRIu64 ":%02" PRIu64 " left", s / 60, s % 60);
	else
		buf_printf(b, ", %" PRIu64 ":%02" PRIu64 " h left", s / 3600,
		    s / 60 % 60);
}

void
progress_show(uint64_t done, uint64_t total)
{
	struct buf b = { 0 };
	double mb = (double)done / 1e6;
	double rate;

	progress_due = 0;
	if (!line.running || !is_wanted())
		return;
	rate = mb / (sys_wall_s() - line.start_s);
	buf_printf(&b, "\r%s: %s ", err_program_name(), line.verb);
	if (total > 0)
		buf_printf(&b, "%.0f %% of %.1f MB",
		    100 * mb * 1e6 / (double)total, (double)total / 1e6);
	else
		buf_printf(&b, "%.1f MB", mb);
	buf_printf(&b, ", %.0f MB/s", rate);
	if (total > done && rate > 0)
		put_left(&b, (double)(total - done) / 1e6 / rate);
	buf_puts(&b, "\033[K");
	line.shown = write_all(STDERR_FILENO, b.p, b.len) == 0;
	buf_free(&b);
}

void
progress_end(void)
{
	progress_due = 0;
	if (!line.running)
		return;
	timer_delete(line.timer);
	signal(SIGALRM, SIG_IGN); /* one may be pending */
	line.running = false;
	erase();
}

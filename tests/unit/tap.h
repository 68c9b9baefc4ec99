/* SPDX-License-Identifier: MIT */
/*
 * A little TAP for unit tests in C. A test is a program:
 *
 *	#include "tests/unit/tap.h"
 *
 *	int
 *	main(void)
 *	{
 *		plan(3);
 *		ok(1 + 1 == 2, "sums of %d", 1);
 *		is_int(2 * 3, 6, "products");
 *		is_str("ab", "ab", "strings");
 *		done_testing();
 *	}
 *
 * plan() may be left out. done_testing() ends main: it prints the plan when
 * there was none and returns the exit status. Each check returns whether it
 * held, so that a test can stop early or print more with diag().
 */
#ifndef TESTS_UNIT_TAP_H
#define TESTS_UNIT_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_PRINTF(f, a) __attribute__((unused, format(printf, f, a)))

static int tap_planned, tap_done, tap_failed;

/* Lines on stdout that the runner shows when the test fails. */
static TAP_PRINTF(1, 2) void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static __attribute__((unused)) void
plan(int n)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* keeps what came before a crash */
	tap_planned = n;
	printf("1..%d\n", n);
}

static __attribute__((unused)) void
skip(int n, const char *why)
{
	while (n-- > 0)
		printf("ok %d # SKIP %s\n", ++tap_done, why);
}

static __attribute__((unused, __noreturn__)) void
skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

static __attribute__((unused, __noreturn__)) void
bail_out(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

static TAP_PRINTF(4, 0) bool tap_vcheck(
    bool held, const char *file, int line, const char *fmt, va_list ap)
{
	if (tap_done == 0 && tap_planned == 0)
		setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%s %d - ", held ? "ok" : "not ok", ++tap_done);
	vprintf(fmt, ap);
	putchar('\n');
	if (!held) {
		tap_failed++;
		diag("at %s:%d", file, line);
	}
	return held;
}

static TAP_PRINTF(4, 5) bool tap_ok(
    bool held, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	held = tap_vcheck(held, file, line, fmt, ap);
	va_end(ap);
	return held;
}

static TAP_PRINTF(5, 6) bool tap_is_int(intmax_t got, intmax_t want,
    const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	bool held;

	va_start(ap, fmt);
	held = tap_vcheck(got == want, file, line, fmt, ap);
	va_end(ap);
	if (!held)
		diag("got %" PRIdMAX ", expected %" PRIdMAX, got, want);
	return held;
}

static TAP_PRINTF(5, 6) bool tap_is_uint(uintmax_t got, uintmax_t want,
    const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	bool held;

	va_start(ap, fmt);
	held = tap_vcheck(got == want, file, line, fmt, ap);
	va_end(ap);
	if (!held)
		diag("got %" PRIuMAX ", expected %" PRIuMAX, got, want);
	return held;
}

/* One line, whatever the bytes are. */
static __attribute__((unused)) void
tap_show_mem(const char *label, const char *p, size_t len)
{
	printf("# %s: \"", label);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c < ' ' || c == '"' || c == '\\' || c > '~')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	puts("\"");
}

static __attribute__((unused)) void
tap_show(const char *label, const char *text)
{
	if (text == NULL)
		diag("%s: NULL", label);
	else
		tap_show_mem(label, text, strlen(text));
}

static TAP_PRINTF(7, 8) bool tap_is_mem(const void *got, size_t got_len,
    const void *want, size_t want_len, const char *file, int line,
    const char *fmt, ...)
{
	va_list ap;
	bool held = got_len == want_len &&
	    (got_len == 0 || memcmp(got, want, got_len) == 0);

	va_start(ap, fmt);
	held = tap_vcheck(held, file, line, fmt, ap);
	va_end(ap);
	if (!held) {
		tap_show_mem("     got", got, got_len);
		tap_show_mem("expected", want, want_len);
	}
	return held;
}

static TAP_PRINTF(5, 6) bool tap_is_str(const char *got, const char *want,
    const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	bool held = got == want || (got && want && strcmp(got, want) == 0);

	va_start(ap, fmt);
	held = tap_vcheck(held, file, line, fmt, ap);
	va_end(ap);
	if (!held) {
		tap_show("     got", got);
		tap_show("expected", want);
	}
	return held;
}

/* A number that looks like any other, the same in every run. */
static __attribute__((unused)) uint64_t
tap_drawn(uint64_t seed)
{
	seed = (seed + UINT64_C(0x9e3779b97f4a7c15)) ^ seed >> 30;
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	return seed ^ seed >> 31;
}

#define TAP_AT __FILE__, __LINE__

/* The last arguments are what the check says, as for printf. */
#define ok(cond, ...) tap_ok((cond) ? true : false, TAP_AT, __VA_ARGS__)
#define is_int(got, want, ...) tap_is_int(got, want, TAP_AT, __VA_ARGS__)
#define is_uint(got, want, ...) tap_is_uint(got, want, TAP_AT, __VA_ARGS__)
#define is_mem(got, got_len, want, want_len, ...) \
	tap_is_mem(got, got_len, want, want_len, TAP_AT, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str(got, want, TAP_AT, __VA_ARGS__)

static __attribute__((unused)) int
tap_end(void)
{
	if (tap_planned == 0)
		printf("1..%d\n", tap_done);
	return tap_failed > 0 || (tap_planned && tap_planned != tap_done);
}
#define done_testing() return tap_end()

#endif

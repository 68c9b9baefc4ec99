/* SPDX-License-Identifier: MIT */
/*
 * For fuzzers of code that ends the program on bad input: err.c is replaced as
 *a whole, so that the linker takes none of it, and die() jumps back.
 *
 *	if (setjmp(on_death) == 0)
 *		... read the input ...
 *	else
 *		... it has ended with death_status ...
 */
#ifndef TL_FUZZ_DEATH_H
#define TL_FUZZ_DEATH_H

#include <setjmp.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/err-line.h"
#include "base/err.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

static jmp_buf on_death;
static int death_status;    /* C lets no value of setjmp() be kept */
static bool usage_is_input; /* the fuzzer's: usage errors are the input's */

const char *__asan_default_options(void);

static noreturn void
die_with(int status)
{
	death_status = status;
	longjmp(on_death, 1);
}

/* Bad input leaks small allocations. */
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

void
err_program(const char *argv0)
{
	(void)argv0;
}

const char *
err_program_name(void)
{
	return "fuzz";
}

void
err_synopsis(const char *s)
{
	(void)s;
}

void
err_at_death(void (*fn)(void))
{
	(void)fn;
}

void
die(const char *fmt, ...)
{
	(void)fmt;
	die_with(EXIT_NO_ANSWER);
}

void
die_errno(const char *fmt, ...)
{
	(void)fmt;
	die_with(EXIT_NO_ANSWER);
}

void
die_usage(const char *fmt, ...)
{
	(void)fmt;
	if (!usage_is_input)
		abort();
	die_with(EXIT_USAGE);
}

void
note(const char *fmt, ...)
{
	(void)fmt;
}

int
exit_status(void)
{
	return 0;
}

void
err_end_nothing(void)
{
	die_with(EXIT_NOTHING);
}

void
err_claim_death(void)
{
}

void
err_warned(void)
{
}

size_t
visible_char(const unsigned char *p, size_t n)
{
	(void)p;
	return n > 0;
}

bool
message_visible(struct line *l, size_t limit, const char *s, size_t n)
{
	(void)l;
	(void)limit;
	(void)s;
	(void)n;
	return true;
}

void
message_text(struct line *l, const char *s)
{
	(void)l;
	(void)s;
}

void
message_emit(const struct line *l)
{
	(void)l;
}

#endif

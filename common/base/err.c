/* SPDX-License-Identifier: MIT */
/*
 * Messages and the end of the program. Nothing here allocates, so that "out of
 * memory" can be reported. A message is one write(2), so that lines of a pipe's
 * programs don't mix.
 */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"
#include "base/err-line.h"
#include "base/unsafe.h"

#define HOOKS_MAX 16
#define WRAP_MIN 40 /* columns of a terminal on which messages are wrapped */
#define INDENT 2

static const char *program = "tl";
static const char *synopsis;
static atomic_bool has_warned;
static atomic_flag dying = ATOMIC_FLAG_INIT;
static _Thread_local bool i_am_dying;
static void (*hooks[HOOKS_MAX])(void);
static int nhooks;

size_t
visible_char(const unsigned char *p, size_t n)
{
	uint32_t c;
	size_t len = utf8_next((const char *)p, n, &c);

	return c == UTF8_BAD || char_is_unsafe(c) ? 0 : len;
}

bool
message_visible(struct line *l, size_t limit, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0;

	while (i < n) {
		size_t len = visible_char(p + i, n - i);

		if (l->len + (len > 0 ? len : 4) > limit)
			return false;
		if (len > 0) {
			memcpy(l->p + l->len, p + i, len);
			l->len += len;
			i += len;
			continue;
		}
		l->p[l->len++] = '\\';
		l->p[l->len++] = 'x';
		l->p[l->len++] = hex[p[i] >> 4];
		l->p[l->len++] = hex[p[i] & 15];
		i++;
	}
	return true;
}

void
message_text(struct line *l, const char *s)
{
	message_visible(l, sizeof l->p - 1, s, strlen(s));
}

/* Drops a character that vsnprintf() cut in two. */
static size_t
whole_chars(const char *s, size_t n)
{
	size_t back;

	for (back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)s[n - back];

		if (c >= 0xc0)
			return n - back;
		if (c < 0x80)
			break;
	}
	return n;
}

/* "program: text" and, if err is not 0, ": reason". */
static void PRINTF_LIKE(3, 0)
    format(struct line *l, int err, const char *fmt, va_list ap)
{
	const char *reason = err != 0 ? strerror(err) : "";
	size_t limit = MESSAGE_MAX - strlen("...: \n") - strlen(reason), n;
	char raw[MESSAGE_MAX];
	int want = vsnprintf(raw, sizeof raw, fmt, ap);
	bool whole = want >= 0 && (size_t)want < sizeof raw;

	if (want < 0)
		raw[0] = '\0';
	n = strlen(raw);
	l->len = 0;
	message_text(l, program);
	message_text(l, ": ");
	if (!message_visible(l, limit, raw, whole ? n : whole_chars(raw, n)))
		whole = false;
	if (!whole)
		message_text(l, "...");
	if (err != 0) {
		message_text(l, ": ");
		message_text(l, reason);
	}
	l->p[l->len++] = '\n';
}

/* Columns of a terminal on stderr, or 0. */
static size_t
message_width(void)
{
	struct winsize ws;

	if (isatty(STDERR_FILENO) == 0 ||
	    ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) != 0)
		return 0;
	return ws.ws_col < WRAP_MIN ? 0 : ws.ws_col;
}

/* Breaks lines between words, and indents the rest; returns the length. */
static size_t
wrap(const struct line *l, size_t width, char *to)
{
	size_t n = 0, at = 0, word = 0, word_at = 0;

	for (size_t i = 0; i < l->len; i++) {
		unsigned char c = (unsigned char)l->p[i];

		if (at >= width && word_at > INDENT && c != '\n') {
			memmove(to + word + INDENT, to + word, n - word);
			to[word - 1] = '\n';
			memset(to + word, ' ', INDENT);
			n += INDENT;
			at = at - word_at + INDENT;
			word_at = 0;
		}
		to[n++] = (char)c;
		at += (c & 0xc0) != 0x80;
		if (c == '\n')
			at = word_at = 0;
		if (c == ' ') {
			word = n;
			word_at = at;
		}
	}
	return n;
}

void
message_emit(const struct line *l)
{
	char wrapped[sizeof l->p * 2]; /* a break per WRAP_MIN at most */
	size_t width = message_width(), n = l->len;
	const char *p = l->p;

	if (width > 0) {
		n = wrap(l, width, wrapped);
		p = wrapped;
	}
	while (write(STDERR_FILENO, p, n) < 0 && errno == EINTR)
		;
}

/* As a record, else as a line. */
static void
emit_error(const char *id, const struct line *l, size_t len)
{
	size_t prefix = strlen(program) + strlen(": ");

	if (!status_error(program, id,
		(struct str){ l->p + prefix, len - prefix - strlen("\n") }))
		message_emit(l);
}

/*
 * The first thread to fail reports and ends the program; later ones wait here
 * silently. If a hook fails, the program ends at once.
 */
static void
claim_death(void)
{
	if (i_am_dying || !atomic_flag_test_and_set(&dying))
		return;
	for (;;)
		pause();
}

/*
 * _exit() and not exit(): other threads still run, and atexit() handlers would
 * destroy what they use. Our output is not stdio, so nothing is lost.
 */
static noreturn void
end(int status)
{
	if (!i_am_dying) {
		i_am_dying = true;
		while (nhooks > 0)
			hooks[--nhooks]();
	}
	_exit(status);
}

void
err_program(const char *argv0)
{
	const char *slash = argv0 != NULL ? strrchr(argv0, '/') : NULL;

	if (slash != NULL)
		argv0 = slash + 1;
	program = argv0 != NULL && argv0[0] != '\0' ? argv0 : "tl";
}

const char *
err_program_name(void)
{
	return program;
}

void
err_synopsis(const char *s)
{
	synopsis = s;
}

void
err_at_death(void (*fn)(void))
{
	int i;

	for (i = 0; i < nhooks; i++)
		if (hooks[i] == fn)
			return;
	assert(nhooks < HOOKS_MAX);
	hooks[nhooks++] = fn;
}

static noreturn void PRINTF_LIKE(2, 0)
    die_of(int err, const char *fmt, va_list ap)
{
	struct line l;

	claim_death();
	format(&l, err, fmt, ap);
	emit_error("failed", &l, l.len);
	end(EXIT_NO_ANSWER);
}

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	die_of(0, fmt, ap);
}

void
die_errno(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	die_of(err, fmt, ap);
}

void
die_usage(const char *fmt, ...)
{
	struct line l;
	va_list ap;
	size_t len;

	claim_death();
	va_start(ap, fmt);
	format(&l, 0, fmt, ap);
	va_end(ap);
	len = l.len;
	if (synopsis != NULL) {
		message_text(&l, "usage: ");
		message_text(&l, program);
		message_text(&l, " ");
		message_text(&l, synopsis);
		l.p[l.len++] = '\n';
	}
	message_text(&l, "try '");
	message_text(&l, program);
	message_text(&l, " --help'");
	l.p[l.len < sizeof l.p ? l.len++ : l.len - 1] = '\n';
	emit_error("usage", &l, len);
	end(EXIT_USAGE);
}

void
err_end_nothing(void)
{
	end(EXIT_NOTHING);
}

void
err_claim_death(void)
{
	claim_death();
}

/* Keeps errno, as it may be called between a failure and its report. */
void
note(const char *fmt, ...)
{
	int err = errno;
	struct line l;
	va_list ap;

	va_start(ap, fmt);
	format(&l, 0, fmt, ap);
	va_end(ap);
	message_emit(&l);
	errno = err;
}

void
err_warned(void)
{
	atomic_store(&has_warned, true);
}

int
exit_status(void)
{
	return atomic_load(&has_warned) ? EXIT_WARNINGS : EXIT_DONE;
}

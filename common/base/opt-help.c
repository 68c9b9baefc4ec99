/* SPDX-License-Identifier: MIT */
/*
 * --help, --version and --complete, all from the option table, so that they
 * agree with what the program accepts.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "base/complete.h"
#include "base/opt-help.h"

#if __has_include("version.h")
#include "version.h"
#endif
#ifndef TL_VERSION
#define TL_VERSION "unknown"
#endif

/* Options with a wider left column have their help on the next line. */
#define HELP_COLUMN_MAX 30

static const struct opt builtin[] = {
	{ OPT_LONG, "status-fd", "N",
	    "write messages as NDJSON to descriptor N" },
	{ 'h', "help", NULL, "print this help" },
	{ OPT_LONG, "version", NULL,
	    "print the versions of program and stream" },
	OPT_END,
};

/* The only output in base, so it checks for a full disk or a closed stdout. */
static noreturn void
print_and_exit(struct buf *b)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(STDOUT_FILENO, b->p + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die_errno("standard output");
		done += (size_t)n;
	}
	if (close(STDOUT_FILENO) != 0 && errno != EINTR)
		die_errno("standard output");
	buf_free(b);
	exit(EXIT_DONE);
}

/* "  -z, --zstd[=LEVEL]" or "      --by WHAT" */
static void
put_left(struct buf *b, const struct opt *o)
{
	if (o->ch < OPT_LONG)
		buf_printf(b, "  -%c", o->ch);
	else
		buf_puts(b, "    ");
	if (o->name != NULL)
		buf_printf(b, "%s --%s", o->ch < OPT_LONG ? "," : " ", o->name);
	if (o->arg == NULL)
		return;
	if (o->arg[0] == '[')
		buf_printf(b, o->name != NULL ? "[=%s" : "[%s", o->arg + 1);
	else
		buf_printf(b, " %s", o->arg);
}

static size_t
left_width(const struct opt *options)
{
	struct buf b = { 0 };
	size_t width = 0;

	for (; options->ch != 0; options++) {
		if (options->ch < 0)
			continue;
		b.len = 0;
		put_left(&b, options);
		if (b.len > width && b.len <= HELP_COLUMN_MAX)
			width = b.len;
	}
	buf_free(&b);
	return width;
}

/* Further lines of a help text go below its first. */
static void
put_options(struct buf *b, const struct opt *options, size_t width)
{
	for (; options->ch != 0; options++) {
		size_t start = b->len;
		const char *text = options->help, *end;

		if (options->ch < 0)
			continue;
		put_left(b, options);
		if (b->len - start > width) {
			buf_putc(b, '\n');
			start = b->len;
		}
		for (;; text = end + 1) {
			end = strchrnul(text, '\n');
			while (b->len - start < width + 2)
				buf_putc(b, ' ');
			buf_put(b, text, (size_t)(end - text));
			buf_putc(b, '\n');
			start = b->len;
			if (*end == '\0')
				break;
		}
	}
}

static void
put_indented(struct buf *b, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		buf_puts(b, "  ");
		buf_put(b, text, n);
		buf_putc(b, '\n');
		text += n + (text[n] == '\n');
	}
}

void
help_print(const struct about *about, const struct opt *options)
{
	size_t width = left_width(options), own = left_width(builtin);
	struct buf b = { 0 };

	if (width < own)
		width = own;
	buf_printf(&b, "usage: %s %s\n", err_program_name(), about->synopsis);
	buf_printf(&b, "%s\n\noptions:\n", about->purpose);
	put_options(&b, options, width);
	put_options(&b, builtin, width);
	if (about->example != NULL) {
		buf_puts(&b, "\nexample:\n");
		put_indented(&b, about->example);
	}
	buf_printf(&b, "\nSee %s(1).\n", err_program_name());
	print_and_exit(&b);
}

void
help_version(void)
{
	struct buf b = { 0 };

	buf_printf(
	    &b, "%s (tl) %s, stream 1\n", err_program_name(), TL_VERSION);
	print_and_exit(&b);
}

/* The first line; one that ends in a comma goes on. */
static void
put_help(struct buf *b, const char *help)
{
	size_t n = strcspn(help, "\n");

	buf_put(b, help, n);
	if (n > 0 && help[n - 1] == ',' && help[n] == '\n') {
		buf_putc(b, ' ');
		put_help(b, help + n + 1);
	}
}

static void
put_completion(struct buf *b, const struct opt *o)
{
	for (; o->ch != 0; o++) {
		if (o->ch < 0)
			continue;
		if (o->name != NULL)
			buf_printf(b, "--%s", o->name);
		buf_putc(b, '\t');
		if (o->ch < OPT_LONG)
			buf_printf(b, "-%c", o->ch);
		buf_printf(b, "\t%s\t", o->arg != NULL ? o->arg : "");
		put_help(b, o->help);
		buf_putc(b, '\n');
	}
}

static struct {
	void (*put)(struct buf *b, void *arg);
	void *arg;
} more;

void
complete_with(void (*put)(struct buf *b, void *arg), void *arg)
{
	more.put = put;
	more.arg = arg;
}

void
help_complete(const struct opt *options)
{
	struct buf b = { 0 };

	put_completion(&b, options);
	put_completion(&b, builtin);
	if (more.put != NULL)
		more.put(&b, more.arg);
	print_and_exit(&b);
}

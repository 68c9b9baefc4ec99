/* SPDX-License-Identifier: MIT */
/*
 * opt: options as one table: --help, --version and completion come from it.
 *
 *	static const struct opt options[] = {
 *		{ 'm', "min", "TIME", "keep events of at least TIME" },
 *		{ OPT_LONG + 1, "by", "WHAT", "group by dev, rank or step" },
 *		OPT_END,
 *	};
 *	opt_start(&op, argc, argv, &about, options);
 *	while ((ch = opt_next(&op)) != -1)
 *		...
 *	while ((path = opt_file(&op)) != NULL)
 *		...
 */
#ifndef TL_BASE_OPT_H
#define TL_BASE_OPT_H

#include "base/text.h"

#define OPT_LONG 256 /* ch from here on: long form only */
/*
 * ch of options that areas add, see their headers. Each area has a range of its
 * own, so that a program can have options of several.
 */
#define OPT_OF_STREAM 512
#define OPT_OF_TRACE 576
#define OPT_OF_MODEL 640
#define OPT_OF_TABLE 704
#define OPT_OF_SINK 768
/* ch of an option that belongs to another program, for the message: */
#define OPT_HINT (-1)      /* help is what to say */
#define OPT_HINT_PIPE (-2) /* help is what to type before this program */
struct opt {
	int ch;
	const char *name;
	const char *arg; /* NULL: takes none; "[X]": optional */
	const char *help;
};
#define OPT_END                     \
	{                           \
		0, NULL, NULL, NULL \
	}

struct about {
	const char *purpose;  /* one line */
	const char *synopsis; /* after the program's name */
	const char *example;
};

struct optparse {
	const struct about *about;
	const struct opt *options;
	int argc;
	char **argv;
	int ind; /* first operand, valid once opt_next() has returned -1 */
	const char *arg; /* argument of the option just read, or NULL */
	const char
	    *name; /* for messages: "--top", or "-n" if it has no long form */
	void *priv;
};

/*
 * Also calls err_program(). --help (-h in all programs), --version and
 * --complete end the program.
 */
void opt_start(struct optparse *op, int argc, char *argv[],
    const struct about *about, const struct opt *options);
/* The command line as given, for provenance; owned by the area. */
char *const *opt_command(int *argc);
/* The next option's ch, or -1. A usage error ends the program. */
int opt_next(struct optparse *op);
/*
 * A further argument of the option just read: the word behind it, if is_one()
 * says so; else NULL.
 */
const char *opt_more(
    const struct optparse *op, bool (*is_one)(const char *word));
/*
 * Parse op->arg; an invalid one is a usage error that quotes option and bound.
 */
int64_t opt_int(const struct optparse *op, int64_t min, int64_t max);
double opt_double(const struct optparse *op, double min, double max);
/*
 * "900ns 2us 3ms 4s 5min" with decimals, in ns; a number without a unit is an
 * error.
 */
int64_t opt_time(const struct optparse *op);
/* "64M": bytes; K M G T are powers of 1024. */
int64_t opt_size(const struct optparse *op);
/*
 * After the options: the next operand, a FILE to read, or NULL; "-" if there
 * are no operands.
 */
const char *opt_file(struct optparse *op);
/* Index of op->arg in a NULL-ended list of words. */
int opt_word(const struct optparse *op, const char *const words[]);
/* "A,B": two non-empty texts with one comma between them. */
void opt_pair(const struct optparse *op, struct str pair[2]);
/* Parses a time as opt_time() does; false if it is none. */
bool time_parse(struct str s, int64_t *ns) USE_RESULT;
/* Appends it as time_parse() takes it, exact: "900ns", "1.5us". */
void time_put(struct buf *b, int64_t ns);

#endif

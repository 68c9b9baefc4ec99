/* SPDX-License-Identifier: MIT */
/*
 * The option table drives getopt_long(), which permutes: options may follow
 * operands, and `--` ends them. Values of options are parsed at the end of this
 * file; --help and so on are in opt-help.c.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/opt-help.h"

/* For getopt_long() only; beyond every ch of a table. */
enum {
	CH_HELP = 'h',
	CH_VERSION = INT_MAX - 2,
	CH_COMPLETE,
	CH_STATUS_FD,
};

struct private
{
	struct option *longs;
	char *shorts;
	char shown[80]; /* op->name points to it */
	bool gave_file;
};

/*
 * getopt_long() has one state, so there is one of these. It stays reachable for
 * leak checkers; the next opt_start() frees it.
 */
static struct private *current;

static const struct option builtin[] = {
	{ "help", no_argument, NULL, CH_HELP },
	{ "version", no_argument, NULL, CH_VERSION },
	{ "complete", no_argument, NULL, CH_COMPLETE },
	{ "status-fd", required_argument, NULL, CH_STATUS_FD },
	{ NULL, 0, NULL, 0 },
};

static int
takes(const struct opt *o)
{
	if (o->arg == NULL)
		return no_argument;
	return o->arg[0] == '[' ? optional_argument : required_argument;
}

/*
 * The leading ":" makes getopt tell a missing argument from an unknown option.
 */
static void
prepare(struct private *priv, const struct opt *options)
{
	const size_t nbuiltin = sizeof builtin / sizeof builtin[0];
	const struct opt *o;
	struct option *l;
	size_t n = 0;
	char *s;

	while (options[n].ch != 0)
		n++;
	priv->longs = l = xcalloc(n + nbuiltin, sizeof *l);
	priv->shorts = s = xmalloc(3 * n + 3);
	*s++ = ':';
	*s++ = CH_HELP;
	for (o = options; o->ch != 0; o++) {
		int kind = takes(o);

		if (o->ch < 0)
			continue;
		if (o->name != NULL)
			*l++ = (struct option){ o->name, kind, NULL, o->ch };
		if (o->ch >= OPT_LONG)
			continue;
		*s++ = (char)o->ch;
		if (kind != no_argument)
			*s++ = ':';
		if (kind == optional_argument)
			*s++ = ':';
	}
	*s = '\0';
	memcpy(l, builtin, sizeof builtin);
}

/* The command line before getopt_long() permutes it. */
static char **command;
static int command_len;

char *const *
opt_command(int *argc)
{
	*argc = command_len;
	return command;
}

static void
remember_command(int argc, char *argv[])
{
	vec_release(command);
	command = xcalloc((size_t)argc + 1, sizeof *command);
	memcpy(command, argv, (size_t)argc * sizeof *command);
	command_len = argc;
}

void
opt_start(struct optparse *op, int argc, char *argv[],
    const struct about *about, const struct opt *options)
{
	struct private *priv;

	sys_keep_std();                         /* before any file is opened */
	err_program(argc > 0 ? argv[0] : NULL); /* first: all may fail */
	sys_start();
	report_begin();
	priv = xcalloc(1, sizeof *priv);
	if (current != NULL) {
		free(current->longs);
		free(current->shorts);
		free(current);
	}
	current = priv;
	remember_command(argc, argv);
	err_synopsis(about->synopsis);
	prepare(priv, options);
	*op = (struct optparse){
		.about = about,
		.options = options,
		.argc = argc,
		.argv = argv,
		.priv = priv,
	};
	optind = 0; /* GNU: forget an earlier scan (tests do several) */
	opterr = 0;
}

static const struct opt *
opt_by_ch(const struct optparse *op, int ch)
{
	const struct opt *o = op->options;

	while (o->ch != 0 && o->ch != ch)
		o++;
	return o->ch != 0 ? o : NULL;
}

static void
show_name(const struct optparse *op, const struct opt *o)
{
	struct private *priv = op->priv;

	if (o->name != NULL)
		snprintf(priv->shown, sizeof priv->shown, "--%s", o->name);
	else
		snprintf(priv->shown, sizeof priv->shown, "-%c", o->ch);
}

static bool
put_hint(struct buf *b, const struct opt *o, struct str word)
{
	for (; o->ch != 0; o++)
		if (o->ch < 0 && str_eq(word, str_of(o->name))) {
			buf_printf(b, ": %s", o->help);
			if (o->ch == OPT_HINT_PIPE)
				buf_printf(b, " %s", err_program_name());
			return true;
		}
	return false;
}

/* Quotes the word as typed, and the option that may be meant. */
static noreturn void
unknown_option(const struct optparse *op, struct str word)
{
	const struct option *l = ((struct private *)op->priv)->longs;
	VEC(const char *) names = { 0 };
	struct buf near = { 0 };
	struct str name = { word.p + 2, word.len - 2 };

	for (; l->name != NULL; l++)
		if (l->val != CH_COMPLETE)
			vec_push(&names, l->name);
	if (name.len > 0 && !put_hint(&near, op->options, name))
		suggest_put(&near, name, names.v, names.n, "--");
	die_usage("unknown option '%.*s'%.*s", (int)word.len, word.p,
	    (int)near.len, near.p);
}

/*
 * getopt_long() takes abbreviations. They are refused: a misspelt option would
 * be another one, and its argument a file.
 */
static void
check_whole(const struct optparse *op, const char *word)
{
	const struct option *l = ((struct private *)op->priv)->longs;
	struct str typed = { word, strcspn(word, "=") };

	if (!str_starts(typed, STR("--")))
		return;
	for (; l->name != NULL; l++)
		if (strlen(l->name) == typed.len - 2 &&
		    memcmp(l->name, word + 2, typed.len - 2) == 0)
			return;
	unknown_option(op, typed);
}

static noreturn void
bad_option(const struct optparse *op)
{
	const struct option *l = ((struct private *)op->priv)->longs;

	check_whole(op, op->argv[optind - 1]);
	for (; l->name != NULL; l++)
		if (l->val == optopt && l->has_arg == no_argument)
			die_usage("option '--%s' takes no argument", l->name);
	die_usage("unknown option '-%c'", optopt);
}

static noreturn void
missing_argument(const struct optparse *op)
{
	const struct opt *o = opt_by_ch(op, optopt);

	check_whole(op, op->argv[optind - 1]);
	if (o == NULL)
		die_usage("option '--status-fd' needs an argument (N)");
	show_name(op, o);
	die_usage("option '%s' needs an argument (%s)",
	    ((struct private *)op->priv)->shown, o->arg);
}

static void
take_status_fd(struct optparse *op)
{
	op->arg = optarg;
	op->name = "--status-fd";
	report_use_fd((int)opt_int(op, 0, INT_MAX));
}

/* The argument of a long option is in its word, or is the next word. */
static int
next_char(const struct optparse *op)
{
	const struct private *priv = op->priv;
	int at = -1;
	int ch =
	    getopt_long(op->argc, op->argv, priv->shorts, priv->longs, &at);

	if (at >= 0 && ch != '?' && ch != ':')
		check_whole(op,
		    op->argv[optind - 1 -
			(optarg != NULL && optarg == op->argv[optind - 1])]);
	return ch;
}

int
opt_next(struct optparse *op)
{
	struct private *priv = op->priv;
	int ch;

	while ((ch = next_char(op)) == CH_STATUS_FD)
		take_status_fd(op);
	op->ind = optind;
	op->arg = NULL;
	op->name = NULL;
	switch (ch) {
	case -1: return -1;
	case '?': bad_option(op);
	case ':': missing_argument(op);
	case CH_HELP: help_print(op->about, op->options);
	case CH_VERSION: help_version();
	case CH_COMPLETE: help_complete(op->options);
	default: break;
	}
	op->arg = optarg;
	show_name(op, opt_by_ch(op, ch));
	op->name = priv->shown;
	return ch;
}

const char *
opt_more(const struct optparse *op, bool (*is_one)(const char *word))
{
	if (optind >= op->argc || !is_one(op->argv[optind]))
		return NULL;
	return op->argv[optind++];
}

const char *
opt_file(struct optparse *op)
{
	struct private *priv = op->priv;
	bool is_first = !priv->gave_file;

	priv->gave_file = true;
	if (op->ind < op->argc)
		return op->argv[op->ind++];
	return is_first ? "-" : NULL;
}

/* ---- arguments ---- */

static const char *
arg_text(const struct optparse *op)
{
	return op->arg != NULL ? op->arg : "";
}

int64_t
opt_int(const struct optparse *op, int64_t min, int64_t max)
{
	const char *arg = arg_text(op);
	int64_t v;

	if (num_i64(str_of(arg), &v) && v >= min && v <= max)
		return v;
	if (max == INT64_MAX)
		die_usage("option '%s' needs a number of at least %" PRId64
			  ", not '%s'",
		    op->name, min, arg);
	die_usage("option '%s' needs a number from %" PRId64 " to %" PRId64
		  ", not '%s'",
	    op->name, min, max, arg);
}

double
opt_double(const struct optparse *op, double min, double max)
{
	const char *arg = arg_text(op);
	double v;

	if (num_double(str_of(arg), &v) && v >= min && v <= max)
		return v;
	die_usage("option '%s' needs a number from %g to %g, not '%s'",
	    op->name, min, max, arg);
}

int64_t
opt_time(const struct optparse *op)
{
	const char *arg = arg_text(op);
	int64_t ns;

	if (!time_parse(str_of(arg), &ns))
		die_usage("option '%s' needs a time such as 900ns, 2us, 3ms or "
			  "4s, not '%s'",
		    op->name, arg);
	return ns;
}

int64_t
opt_size(const struct optparse *op)
{
	static const char suffixes[] = "KMGT";
	const char *arg = arg_text(op), *suffix;
	struct str s = str_of(arg);
	int64_t v, unit = 1;
	bool good;

	if (s.len > 0 && (s.p[s.len - 1] < '0' || s.p[s.len - 1] > '9')) {
		char last = s.p[--s.len];

		if (last >= 'a' && last <= 'z')
			last = (char)(last - 'a' + 'A');
		suffix = strchr(suffixes, last);
		unit = suffix != NULL
		    ? (int64_t)1 << 10 * (suffix - suffixes + 1)
		    : 0;
	}
	good = unit > 0 && num_i64(s, &v) && v >= 0 &&
	    !__builtin_mul_overflow(v, unit, &v);
	if (!good)
		die_usage("option '%s' needs a size in bytes such as 4096, 64M "
			  "or 2G, not '%s'",
		    op->name, arg);
	return v;
}

int
opt_word(const struct optparse *op, const char *const words[])
{
	const char *arg = arg_text(op);
	char list[512];
	size_t len = 0;
	int i;

	for (i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], arg) == 0)
			return i;
	list[0] = '\0';
	for (i = 0; words[i] != NULL && len < sizeof list; i++)
		len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
		    i == 0                     ? ""
			: words[i + 1] == NULL ? " or "
					       : ", ",
		    words[i]);
	die_usage("option '%s' needs %s, not '%s'", op->name, list, arg);
}

void
opt_pair(const struct optparse *op, struct str pair[2])
{
	const char *arg = arg_text(op), *comma = strchr(arg, ',');

	if (comma == NULL || comma == arg || comma[1] == '\0' ||
	    strchr(comma + 1, ',') != NULL)
		die_usage("option '%s': '%s' is not two names with a comma "
			  "between them",
		    op->name, arg);
	pair[0] = (struct str){ arg, (size_t)(comma - arg) };
	pair[1] = str_of(comma + 1);
	if (str_cmp(pair[0], pair[1]) == 0)
		die_usage("option '%s': '%s' gives both the same name",
		    op->name, arg);
}

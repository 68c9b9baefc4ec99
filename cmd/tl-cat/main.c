/* SPDX-License-Identifier: MIT */
/*
 * tl-cat: a stream as text, and text as a stream.
 *
 * main.c     the command line
 * stream.c   NDJSON or binary, several streams to one
 * tsv.c      columns
 * header.c   provenance and sources
 * check.c    whether a stream is whole
 * reseal.c   edited lines to a stream
 * sources.c  those of several inputs, kept apart
 */
#include "cat.h"
#include "trace/select.h"

static const struct about about = {
	.purpose =
	    "print event streams as NDJSON or columns; join and check them",
	.synopsis = "[OPTIONS] [FILE...]",
	.example = "tl-cat t.tl | jq -c 'select(.kind==\"kernel\")'",
};

enum {
	OPT_ABS = OPT_LONG,
	OPT_CHECK,
	OPT_HEADER,
	OPT_ID,
	OPT_NO_HEADER,
	OPT_RESEAL,
	OPT_SKIP,
	OPT_TSV,
};

static const struct opt options[] = {
	{ OPT_ABS, "abs", NULL, "print times on the file's own clock" },
	{ 'b', "binary", NULL, "write the binary form" },
	{ OPT_CHECK, "check", NULL, "check that the stream is whole" },
	{ 'F', "fields", "COLUMN,...", "columns to print; implies --tsv" },
	{ 'n', "head", "N", "only the first N events" },
	{ OPT_HEADER, "header", NULL, "print provenance, marks and sources" },
	{ OPT_ID, "id", "UID",
	    "only this event, without header and end; repeatable" },
	{ OPT_NO_HEADER, "no-header", NULL, "--tsv without its line of names" },
	{ OPT_RESEAL, "reseal", NULL, "make edited lines a stream again" },
	OPT_SELECT_WITH("TIME|STREAM",
	    "from TIME on; with --reseal: the stream the lines came from",
	    "TIME", "only up to TIME after the first event"),
	{ OPT_SKIP, "skip", "KIND,...", "skip events of these kinds" },
	{ OPT_TSV, "tsv", NULL, "print tab-separated columns" },
	OPT_STREAM_OUT,
	OPT_END,
};

bool
is_picked(const struct settings *set, const struct event *ev)
{
	if (set->picks.n == 0)
		return true;
	for (size_t i = 0; i < set->picks.n; i++) {
		const struct uid_pick *p = &set->picks.v[i];
		struct uid uid = ev->uid;

		if (p->no_inst) /* all instances */
			uid.inst = 0;
		if (uid_is_picked(p, ev->src, uid))
			return true;
	}
	return false;
}

/* Without any of the picked events there is no answer. */
void
cat_check_picks(const struct settings *set, int64_t left)
{
	if (set->picks.n > 0 && set->head > 0 && left == set->head)
		die_nothing(MSG_NO_EVENT_MATCHES, set->files[0], STR(""));
}

static void
set_mode(struct settings *set, enum mode mode, const char **word,
    const struct optparse *op)
{
	/* op->name does not outlive the next option */
	static const char *const words[] = {
		[MODE_TSV] = "--tsv",
		[MODE_HEADER] = "--header",
		[MODE_CHECK] = "--check",
		[MODE_RESEAL] = "--reseal",
	};

	if (*word != NULL && set->mode != mode)
		die_usage("%s and %s exclude each other", *word, op->name);
	set->mode = mode;
	*word = words[mode];
}

static void
read_option(
    struct settings *set, const struct optparse *op, int ch, const char **mode)
{
	switch (ch) {
	case OPT_ABS: set->abs = true; break;
	case 'b': set->binary = true; break;
	case OPT_CHECK: set_mode(set, MODE_CHECK, mode, op); break;
	case 'F':
		set_mode(set, MODE_TSV, mode, op);
		set->fields = op->arg;
		break;
	/* with --reseal, which may come later, a stream, else a time */
	case OPT_SELECT_FROM: set->from = op->arg; break;
	case 'n': set->head = opt_int(op, 0, INT64_MAX); break;
	case OPT_HEADER: set_mode(set, MODE_HEADER, mode, op); break;
	case OPT_ID: vec_push(&set->picks, opt_uid(op)); break;
	case OPT_NO_HEADER: set->no_header = true; break;
	case OPT_SELECT_KIND: set->kinds &= opt_kinds(op); break;
	case OPT_RESEAL: set_mode(set, MODE_RESEAL, mode, op); break;
	case OPT_SKIP: set->kinds &= ~opt_kinds(op); break;
	case OPT_TSV: set_mode(set, MODE_TSV, mode, op); break;
	default:
		if (!select_front_opt(&set->select, op, ch))
			(void)stream_dest_opt(&set->dest, op, ch);
		break;
	}
}

static void
take_from(struct settings *set)
{
	struct optparse op = { .name = "--from", .arg = set->from };

	if (set->from == NULL || set->mode == MODE_RESEAL)
		return;
	(void)select_front_opt(&set->select, &op, OPT_SELECT_FROM);
	set->from = NULL;
}

/* Refuses options that do not go together. */
static void
check_settings(const struct settings *set, const char *mode)
{
	if (set->binary && set->dest.ndjson)
		die_usage("--binary and --ndjson exclude each other");
	if (set->binary && mode != NULL && set->mode != MODE_RESEAL)
		die_usage("--binary and %s exclude each other", mode);
	if (set->dest.ndjson && set->mode == MODE_TSV)
		die_usage("--ndjson and --tsv exclude each other");
	if (set->dest.ndjson && set->mode == MODE_CHECK)
		die_usage("--ndjson and --check exclude each other");
	if (set->no_header && set->mode != MODE_TSV)
		die_usage("--no-header goes with --tsv");
	if (set->mode == MODE_RESEAL && set->from == NULL)
		die_usage("--reseal and --from STREAM go together");
	if (set->mode == MODE_STREAM || set->mode == MODE_TSV)
		return;
	if (set->abs)
		die_usage("--abs does not go with %s", mode);
	if (is_selective(set) || set->head != INT64_MAX ||
	    select_front_is_on(&set->select))
		die_usage("%s takes no selection of events", mode);
	if (set->mode == MODE_RESEAL && set->files[1] != NULL)
		die_usage("--reseal takes one file of lines");
}

int
main(int argc, char *argv[])
{
	static char *const standard_input[] = { (char *)"-", NULL };
	struct settings set = { .kinds = KINDS_ALL, .head = INT64_MAX };
	const char *mode = NULL;
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		read_option(&set, &op, ch, &mode);
	stream_unite(&op);
	set.files = op.ind < op.argc ? argv + op.ind : standard_input;
	set.select.is_several = set.files[1] != NULL;
	take_from(&set);
	check_settings(&set, mode);
	/* a picked event is printed alone, not as a stream */
	set.dest.bare = set.picks.n > 0 && !set.dest.ndjson;
	if (set.mode == MODE_STREAM || set.mode == MODE_RESEAL)
		set.dest.ndjson = !set.binary;

	switch (set.mode) {
	case MODE_STREAM: cat_stream(&set); break;
	case MODE_TSV: cat_tsv(&set); break;
	case MODE_HEADER: cat_header(&set); break;
	case MODE_CHECK: return cat_check(&set);
	case MODE_RESEAL: cat_reseal(&set); break;
	}
	/* else it may be in what was not read */
	if (set.head == INT64_MAX && set.picks.n == 0)
		select_front_end(&set.select);
	return exit_status();
}

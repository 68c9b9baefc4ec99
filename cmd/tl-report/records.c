/* SPDX-License-Identifier: MIT */
/* Messages of the programs, as records, and the exit status. */
#include <unistd.h>

#include "io/io.h"
#include "json/json.h"

#include "cmd/tl-report/report.h"

/* ---- reading a record ---- */

/* Keys and values alternate and live to the end; false: no record. */
static bool
record_parse(json_items *r, struct str line)
{
	static struct arena *texts;

	texts = texts != NULL ? texts : arena_create();
	return json_split(r, texts, line);
}

/* Shows a tree under the name of its trace. */
static struct str
shown_name(const struct settings *s, struct str name)
{
	const struct args *trees[] = { &s->trees, &s->others };
	const struct args *traces[] = { &s->traces, &s->vs };

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < trees[side]->v.n; i++)
			if (str_eq(str_of(trees[side]->v.v[i]), name))
				return trace_name(traces[side]->v.v[i]);
	return name;
}

/* Errors name our temporary trees: shows their traces instead. */
static const char *
shown_error(const struct settings *s, struct str error)
{
	const struct args *trees[] = { &s->trees, &s->others };

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < trees[side]->v.n; i++) {
			struct str tree = str_of(trees[side]->v.v[i]), shown;
			ptrdiff_t at = str_find(error, tree, false);
			size_t end = (size_t)at + tree.len;

			if (at < 0)
				continue;
			shown = shown_name(s, tree);
			return text("%.*s%.*s%.*s", (int)at, error.p,
			    (int)shown.len, shown.p, (int)(error.len - end),
			    error.p + end);
		}
	return error.p;
}

/* ---- telling ---- */

static struct str
text_of(const json_items *r, const char *key)
{
	const struct json_item *x = json_member(r, str_of(key));

	return x != NULL && x->type == JSON_T_STRING ? x->text : STR("");
}

/* Each message once, whichever programs report it. */
static void
add_told(struct jobs *j, struct told told)
{
	struct told *same = NULL;

	for (size_t i = 0; same == NULL && i < j->told.n; i++)
		if (strcmp(j->told.v[i].id, told.id) == 0 &&
		    strcmp(j->told.v[i].sentence, told.sentence) == 0)
			same = &j->told.v[i];
	if (same == NULL) {
		vec_push(&j->told, told);
	} else {
		same->sides |= told.sides;
		same->aloud |= told.aloud;
	}
}

/* Which side of a comparison it is about; empty: both, or its file says it. */
static struct str
side_of(const struct settings *s, const struct told *told)
{
	if (s->other == NULL || told->names_file)
		return STR("");
	return told->sides == 1 ? s->sides[0]
	    : told->sides == 2  ? s->sides[1]
				: STR("");
}

/* After all jobs: a message may be about both sides. */
static void
say(struct jobs *j)
{
	for (size_t i = 0; i < j->told.n; i++) {
		struct told *told = &j->told.v[i];
		struct str side = side_of(j->set, told);
		enum report_id id = report_find(str_of(told->id));

		if (!told->aloud || told->is_said)
			continue;
		told->is_said = true;
		if (id != MSG_COUNT) /* else an error, which is text only */
			report_again(told->program, side, id, told->args);
		else
			report_error_again(told->program, told->id,
			    str_of(text("%.*s%s%s", (int)side.len, side.p,
				side.len > 0 ? ": " : "", told->sentence)));
	}
}

static void
tell(struct jobs *j, const char *program, unsigned char sides, bool aloud,
    enum report_id id, const struct report_arg *args)
{
	char sentence[STATUS_MAX];
	size_t n = report_sentence(id, args, sentence, sizeof sentence);
	struct told told = { .program = program,
		.id = text("%s", report_word(id)),
		.sentence = text("%.*s", (int)n, sentence),
		.aloud = aloud,
		.sides = sides };
	struct report_params p;

	(void)report_params(id, &p);
	for (size_t i = 0; i < p.n; i++) {
		told.args[i] = args[i];
		told.names_file |= str_eq(p.name[i], STR("file"));
	}
	add_told(j, told);
}

static bool
arg_of(struct report_arg *to, const struct settings *s,
    const struct json_item *x, bool is_text)
{
	if (x == NULL || (x->type == JSON_T_STRING) != is_text)
		return false;
	*to = report_str(shown_name(s, x->text));
	to->is_text = is_text;
	return is_text || num_i64(x->text, &to->n);
}

static bool
is_among(enum report_id id, const enum report_id *list, size_t n)
{
	while (n > 0)
		if (list[--n] == id)
			return true;
	return false;
}

/*
 * An empty selection is not reported after a message that names what is
 * missing, or after one of the same kind from another program.
 */
static bool
is_known(const struct jobs *j, enum report_id id)
{
	static const enum report_id nothing[] = { MSG_NO_MATCH,
		MSG_NO_MATCH_BY_LAUNCH, MSG_NO_GPU_OPS };
	static const enum report_id reasons[] = { MSG_NO_SUCH_ANNOTATION,
		MSG_NO_SUCH_STEP, MSG_NO_STEPS, MSG_NO_PHASES,
		MSG_NO_SUCH_PROCESS };

	if (!is_among(id, nothing, sizeof nothing / sizeof *nothing))
		return false;
	for (size_t i = 0; i < j->told.n; i++) {
		enum report_id told = report_find(str_of(j->told.v[i].id));

		if (j->told.v[i].aloud &&
		    (is_among(
			 told, reasons, sizeof reasons / sizeof *reasons) ||
			is_among(
			    told, nothing, sizeof nothing / sizeof *nothing)))
			return true;
	}
	return false;
}

/* On the screen of one trace the title has the name. */
static bool
is_of_title(const struct settings *s, enum report_id id)
{
	return (id == MSG_HEALTH_MISLEADING || id == MSG_HEALTH_USABLE) &&
	    s->traces.v.n == 1 && s->vs.v.n < 2;
}

static void
take_record(
    struct jobs *j, const struct job *job, const json_items *r, bool aloud)
{
	struct report_arg args[REPORT_ARGS_MAX];
	struct report_params p;
	/* the user knows of this one alone */
	const char *program = err_program_name();
	enum report_id id = report_find(text_of(r, "id"));

	if (id == MSG_COUNT) {
		struct str error = text_of(r, "text");
		/* tl-tree may fail as the trees' folder is full */
		const char *shown =
		    job->makes_tree ? error.p : shown_error(j->set, error);

		add_told(j,
		    (struct told){ .program = program,
			.id = text_of(r, "id").p,
			.sentence = shown,
			.aloud = aloud,
			.names_file = job->makes_tree || shown != error.p ||
			    str_eq(text_of(r, "id"), STR("usage")),
			.sides = job->sides });
		return;
	}
	aloud = aloud && !is_known(j, id);
	(void)report_params(id, &p);
	for (size_t i = 0; i < p.n; i++)
		if (!arg_of(&args[i], j->set, json_member(r, p.name[i]),
			p.is_text[i]))
			return;
	if (!aloud && is_of_title(j->set, id))
		args[0] = report_str(text_of(r, "program"));
	tell(j, program, job->sides, aloud, id, args);
}

/* ---- the exit status ---- */

static void
worst(struct jobs *j, int status)
{
	/* best to worst; other statuses are failures */
	static const int order[] = { EXIT_DONE, EXIT_WARNINGS, EXIT_GATE,
		EXIT_NOTHING, EXIT_USAGE, EXIT_NO_ANSWER };
	size_t n = sizeof order / sizeof *order, is = 0, was = 0;

	while (is < n - 1 && order[is] != status)
		is++;
	while (was < n - 1 && order[was] != j->status)
		was++;
	j->status = order[is > was ? is : was];
}

static bool
has_answer(int status)
{
	return status == EXIT_DONE || status == EXIT_WARNINGS ||
	    status == EXIT_GATE;
}

/*
 * A side analysis that fails only leaves out its sheets. A usage error counts:
 * its options are the user's.
 */
static int
judge(struct jobs *j, const struct job *job)
{
	struct report_arg args[2] = { report_text(job->name),
		report_int(child_signal(job->status)) };
	bool is_killed = child_signal(job->status) > 0;

	if (job->is_verdict && job->status == EXIT_GATE)
		return EXIT_WARNINGS;
	if (has_answer(job->status))
		return job->status;
	if (job->is_side && job->status == EXIT_NOTHING)
		return EXIT_WARNINGS;
	if (is_killed && job->is_side)
		tell(j, err_program_name(), job->sides, true, MSG_SIDE_KILLED,
		    args);
	else if (job->is_side && job->status != EXIT_USAGE)
		tell(j, err_program_name(), job->sides, true, MSG_SIDE_FAILED,
		    args);
	else if (is_killed) {
		say(j); /* its own words come first */
		report_error_again(err_program_name(), "failed",
		    str_of(text("%s was killed by signal %d", job->name,
			child_signal(job->status))));
	} else {
		say(j);
		if (job->status == EXIT_USAGE)
			note("try '%s --help'", err_program_name());
		return job->status;
	}
	return job->is_side ? EXIT_WARNINGS : EXIT_NO_ANSWER;
}

static void
take_records(struct jobs *j, const struct job *job, bool aloud)
{
	struct str rest = buf_str(&job->said);
	json_items r = { 0 };

	while (rest.len > 0) {
		const char *nl = memchr(rest.p, '\n', rest.len);
		size_t n = nl != NULL ? (size_t)(nl - rest.p) : rest.len;

		if (record_parse(&r, (struct str){ rest.p, n }))
			take_record(j, job, &r, aloud);
		n += nl != NULL;
		rest.p += n;
		rest.len -= n;
	}
	vec_free(&r);
}

/* The screen's warnings are enough on the same terminal. */
static bool
is_on_screen(const struct settings *s, const struct job *job)
{
	return has_answer(job->status) && !s->has_sheets &&
	    isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

bool
jobs_lack(const struct jobs *j)
{
	for (size_t i = 0; i < j->list.n; i++)
		if (!has_answer(j->list.v[i]->status) &&
		    j->list.v[i]->status != EXIT_NOTHING)
			return true;
	return false;
}

/* Failures come first: they explain later ones. */
void
job_finish(struct jobs *j, bool loud)
{
	job_wait(j);
	for (size_t i = 0; i < 2 * j->list.n; i++) {
		struct job *job = j->list.v[i % j->list.n];
		/* the screen begins with a verdict on the trace; who asks for
		 * the status only may not see it */
		bool is_shown = job->is_verdict && has_answer(job->status) &&
		    j->set->fail_over == NULL;
		bool aloud = loud || (job->status != EXIT_DONE && !is_shown);

		if (job->is_told || (i < j->list.n && has_answer(job->status)))
			continue;
		job->is_told = true;
		take_records(j, job, aloud && !is_on_screen(j->set, job));
		/* a message is worth a second try */
		if (aloud && job->err.len > 0 &&
		    write_all(STDERR_FILENO, job->err.p, job->err.len) != 0)
			(void)!write_all(
			    STDERR_FILENO, job->err.p, job->err.len);
		worst(j, judge(j, job));
	}
	say(j);
	if (!has_answer(j->status))
		leave(j->status);
}

void
records_missing(struct jobs *j, const char *program)
{
	struct report_arg arg = report_text(program);

	tell(j, err_program_name(), 0, false, MSG_PROGRAM_MISSING, &arg);
}

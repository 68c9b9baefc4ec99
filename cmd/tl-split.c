/* SPDX-License-Identifier: MIT */
/*
 * tl-split: a stream to parts, by rank, step, annotation or time.
 *
 * The inverse of tl-merge. The tree of the input is made once; a first reading
 * finds the parts that there are, tl-filter makes each of them, side by side,
 * and what is in none of them is written as the rest. So the parts analyse to
 * the sums of the whole.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/trace.h"

#define MAX_PARTS 100000

extern char **environ;

enum by {
	BY_NOTHING,
	BY_RANK,
	BY_STEP,
	BY_ANNOTATION,
	BY_TIME,
};

struct settings {
	enum by by;
	const char *dir;
	const char *annotation;
	int64_t every_ns;
	int jobs;
	bool verbose, by_gpu_time;
	struct stream_dest dest; /* -z */
};

typedef VEC(char *) word_vec;

/* What tl-filter is asked for, and the file it makes. */
struct part {
	int64_t key;
	const char *name; /* of the file */
	word_vec select;
};

struct split {
	struct settings *set;
	char *tree; /* the input's, a file in the folder */
	VEC(struct part) parts;
	struct map seen;
	int64_t last_ns;
	uint64_t nrest; /* events in no part */
	int running;
	bool has_failed, has_doubt;
};

enum {
	OPT_ANNOTATION = OPT_LONG,
	OPT_BY,
	OPT_BY_GPU_TIME,
	OPT_EVERY,
};

static const struct opt options[] = {
	{ OPT_ANNOTATION, "annotation", "NAME",
	    "a part for each annotation like NAME" },
	{ OPT_BY, "by", "rank|step", "a part for each rank or step" },
	{ OPT_BY_GPU_TIME, "by-gpu-time", NULL,
	    "GPU work by its own start, not its launch's" },
	{ 'd', "dir", "DIR", "where the parts go" },
	{ OPT_EVERY, "every", "TIME", "a part for each TIME" },
	{ 'j', "jobs", "N", "write N parts at a time" },
	{ 'v', "verbose", NULL, "a summary on standard error" },
	{ 'z', "zstd", "[LEVEL]", "compress the parts with zstd" },
	OPT_END,
};

static const struct about about = {
	"a stream to parts: by rank, step, annotation or time",
	"-d DIR --by rank|step | --annotation NAME | --every TIME [FILE]",
	"tl-split --by step -d steps t.tl",
};

/* ---- words ---- */

/* PREFIX, a number, SUFFIX; lives as long as the program. */
static char *
word(const char *prefix, int64_t n, const char *suffix)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s%" PRId64 "%s", prefix, n, suffix);
	buf_putc(&b, '\0');
	return b.p;
}

static char *
in_dir(const struct settings *set, const char *name, const char *end)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/%s%s", set->dir, name, end);
	buf_putc(&b, '\0');
	return b.p;
}

/* ---- programs ---- */

static char *
program_path(const char *program)
{
	const char *dir = sys_bindir();
	struct buf b = { 0 };

	buf_printf(&b, "%s%s%s", dir, dir[0] != '\0' ? "/" : "", program);
	buf_putc(&b, '\0');
	return b.p;
}

static void
start(struct split *s, const char *program, const word_vec *words)
{
	word_vec argv = { 0 };
	pid_t pid;
	int err;

	vec_push(&argv, program_path(program));
	for (size_t i = 0; i < words->n; i++)
		vec_push(&argv, words->v[i]);
	vec_push(&argv, NULL);
	err = posix_spawnp(&pid, argv.v[0], NULL, NULL, argv.v, environ);
	if (err != 0) {
		errno = err;
		die_errno("%s", program);
	}
	vec_free(&argv);
	s->running++;
}

static void
wait_one(struct split *s)
{
	int status;

	while (wait(&status) < 0)
		if (errno != EINTR)
			die_errno("waiting");
	s->running--;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DOUBT)
		s->has_doubt = true;
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_DONE)
		s->has_failed = true;
}

static void
wait_all(struct split *s, const char *program)
{
	while (s->running > 0)
		wait_one(s);
	if (s->has_failed)
		die("%s failed (above)", program);
}

/* err_at_death() hands nothing through. */
static const char *tree_to_remove;

static void
remove_tree(void)
{
	(void)unlink(tree_to_remove);
}

static void
make_tree(struct split *s, char *file)
{
	word_vec words = { 0 };

	/* always the same name: the parts tell of it in their provenance */
	s->tree = in_dir(s->set, ".tree", ".tl");
	tree_to_remove = s->tree;
	err_at_death(remove_tree);
	vec_push(&words, (char *)(uintptr_t) "-o");
	vec_push(&words, s->tree);
	vec_push(&words, (char *)(uintptr_t) "--");
	vec_push(&words, file);
	start(s, "tl-tree", &words);
	wait_all(s, "tl-tree");
	vec_free(&words);
}

/* ---- which parts there are ---- */

static struct part *
add_part(struct split *s, int64_t key, const char *prefix)
{
	bool is_new;
	struct part *p;

	(void)map_put(&s->seen, (uint64_t)key, &is_new);
	if (!is_new)
		return NULL;
	if (s->parts.n == MAX_PARTS)
		die("over %d parts", MAX_PARTS);
	p = vec_add(&s->parts);
	*p = (struct part){ .key = key, .name = word(prefix, key, "") };
	return p;
}

static void
ask(struct part *p, const char *option, char *value)
{
	if (p == NULL)
		return;
	vec_push(&p->select, (char *)(uintptr_t)option);
	if (value != NULL)
		vec_push(&p->select, value);
}

static void
see_rank(struct split *s, const struct source *source)
{
	const struct fact *f = source_fact(source, "rank");

	if (f == NULL || f->val.type != VAL_INT) {
		if (source->is_final)
			die("source %u has no rank", (unsigned)source->src);
		return;
	}
	ask(add_part(s, f->val.i, "rank-"), "--rank", word("", f->val.i, ""));
}

static void
see_annotation(struct split *s, const struct stream_in *in)
{
	struct str name = strings_get(in->strings, in->ev.name);
	struct buf b = { 0 };
	int64_t n = (int64_t)s->parts.n + 1;
	int64_t step;

	if (s->set->by == BY_STEP && step_of_name(name, &step))
		ask(add_part(s, step, "step-"), "--step", word("", step, ""));
	if (s->set->by != BY_ANNOTATION ||
	    !str_glob(str_of(s->set->annotation), name))
		return;
	buf_printf(&b, "%s#%" PRId64, s->set->annotation, n);
	buf_putc(&b, '\0');
	ask(add_part(s, n, "annotation-"), "--annotation", b.p);
}

/* The last launch or event counts from the first event of its source. */
static void
see_time(struct split *s, const struct stream_in *in, int64_t first_ns)
{
	int64_t t;

	if ((in->ev.shape->has & HAS_TS) == 0 ||
	    __builtin_sub_overflow(in->ev.ts_ns, first_ns, &t))
		return;
	if (t > s->last_ns)
		s->last_ns = t;
}

static void
cut_time(struct split *s)
{
	int64_t every = s->set->every_ns;

	if (s->last_ns / every >= MAX_PARTS)
		die("over %d parts", MAX_PARTS);
	for (int64_t i = 0; i <= s->last_ns / every; i++) {
		struct part *p = add_part(s, i, "time-");

		ask(p, "--from", word("", i * every, "ns"));
		ask(p, "--to", word("", (i + 1) * every, "ns"));
	}
}

static void
find_parts(struct split *s)
{
	struct stream_in *in = stream_open(s->tree, NULL, WANT_TREE);
	int64_t first_ns = 0;
	enum item item;

	if (s->set->by != BY_TIME)
		stream_only(in, KIND_BIT(KIND_ANNOTATION));
	while ((item = stream_next(in)) != ITEM_END) {
		const struct fact *f;

		if (item == ITEM_SOURCE) {
			if (s->set->by == BY_RANK)
				see_rank(s, &in->source);
			f = source_fact(&in->source, "first");
			if (f != NULL && f->val.type == VAL_INT)
				first_ns = f->val.i;
			else if (f != NULL && f->val.s.p != NULL)
				(void)!num_i64(f->val.s, &first_ns);
		} else if (item == ITEM_EVENT && s->set->by == BY_TIME) {
			see_time(s, in, first_ns);
		} else if (item == ITEM_EVENT &&
		    event_is(&in->ev, KIND_BIT(KIND_ANNOTATION))) {
			see_annotation(s, in);
		}
	}
	stream_close(in);
	if (s->set->by == BY_TIME)
		cut_time(s);
	if (s->parts.n == 0)
		die("nothing to split by: no %s",
		    s->set->by == BY_STEP ? "step" : "such annotation");
}

/* ---- the parts ---- */

static void
write_parts(struct split *s)
{
	for (size_t i = 0; i < s->parts.n; i++) {
		struct part *p = &s->parts.v[i];
		word_vec words = { 0 };

		if (s->running == s->set->jobs)
			wait_one(s);
		for (size_t k = 0; k < p->select.n; k++)
			vec_push(&words, p->select.v[k]);
		if (s->set->by_gpu_time)
			vec_push(&words, (char *)(uintptr_t) "--by-gpu-time");
		if (s->set->dest.zstd)
			vec_push(&words, (char *)(uintptr_t) "-z");
		vec_push(&words, (char *)(uintptr_t) "-o");
		vec_push(&words, in_dir(s->set, p->name, ".tl"));
		vec_push(&words, (char *)(uintptr_t) "--");
		vec_push(&words, s->tree);
		start(s, "tl-filter", &words);
		vec_free(&words);
	}
	wait_all(s, "tl-filter");
}

/* ---- the rest: what is in none of them ---- */

static void
select_all(struct split *s, struct select *sel)
{
	struct settings *set = s->set;

	*sel = (struct select){ .by_gpu_time = set->by_gpu_time };
	if (set->by == BY_STEP)
		(void)select_opt(sel,
		    &(struct optparse){
			.arg = "0-4611686018427387903", .name = "--by" },
		    OPT_SELECT_STEP);
	if (set->by == BY_ANNOTATION)
		vec_push(&sel->annotations, str_of(set->annotation));
	if (set->by == BY_TIME) {
		sel->has_from = true;
		sel->from_ns = 0;
	}
}

/* GPU work in no part: counted, or, when there is some, written. */
static void
pass_rest(struct split *s)
{
	struct stream_out *out = NULL;
	struct select sel;
	struct strings *st = strings_create();
	struct stream_in *in = stream_open(s->tree, st, WANT_TREE);
	enum item item;

	select_all(s, &sel);
	if (s->nrest > 0) {
		struct stream_dest dest = s->set->dest;

		dest.path = in_dir(s->set, "rest", ".tl");
		out = stream_create(&dest, st, in,
		    (in->marks & ~(unsigned)MARK_TREE) | MARK_LINKED |
			MARK_EDITED,
		    false);
	}
	select_start(&sel, in);
	while ((item = stream_next(in)) != ITEM_END) {
		bool is_in = select_item(&sel, in, item);
		bool is_gpu =
		    item == ITEM_EVENT && event_is(&in->ev, KINDS_GPU);

		if (out == NULL) {
			s->nrest += is_gpu && !is_in;
		} else if (item == ITEM_SOURCE) {
			stream_write_source(out, &in->source);
		} else if (item == ITEM_META) {
			stream_write_meta(out, &in->meta);
		} else if (item == ITEM_EVENT &&
		    ((is_gpu && !is_in) || in->ev.shape->kind == KIND_META)) {
			struct event ev = in->ev;

			ev.shape_id = strings_shape_with(st, ev.shape_id,
			    ev.shape->has & ~(unsigned)HAS_TREE);
			ev.shape = st->shapes.v[ev.shape_id];
			stream_write(out, &ev);
		}
	}
	stream_close(in);
	if (out != NULL)
		stream_finish(out);
	select_free(&sel);
	strings_destroy(st);
}

static void
write_rest(struct split *s)
{
	if (s->set->by == BY_RANK)
		return;
	pass_rest(s);
	if (s->nrest > 0)
		pass_rest(s);
}

/* ---- options ---- */

static void
set_by(struct settings *set, enum by by)
{
	if (set->by != BY_NOTHING)
		die_usage("--by, --annotation and --every exclude each other");
	set->by = by;
}

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const words[] = { "rank", "step", NULL };

	switch (ch) {
	case OPT_ANNOTATION:
		set_by(set, BY_ANNOTATION);
		set->annotation = op->arg;
		break;
	case OPT_BY: set_by(set, (enum by)(opt_word(op, words) + 1)); break;
	case OPT_BY_GPU_TIME: set->by_gpu_time = true; break;
	case 'd': set->dir = op->arg; break;
	case OPT_EVERY:
		set_by(set, BY_TIME);
		set->every_ns = opt_time(op);
		if (set->every_ns <= 0)
			die_usage("option '--every' needs more than nothing");
		break;
	case 'j': set->jobs = (int)opt_int(op, 1, 512); break;
	case 'v': set->verbose = true; break;
	default: (void)stream_dest_opt(&set->dest, op, ch); break;
	}
}

int
main(int argc, char *argv[])
{
	struct settings set = { .jobs = sys_cpus() };
	struct split s = { .set = &set };
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	if (set.dir == NULL || set.by == BY_NOTHING)
		die_usage("it needs -d DIR and what to split by");
	if (argc - op.ind > 1)
		die_usage("one input at a time; join streams with tl-merge");
	if (mkdir(set.dir, 0777) != 0 && errno != EEXIST)
		die_errno("%s", set.dir);
	make_tree(&s, op.ind < argc ? argv[op.ind] : (char *)(uintptr_t) "-");
	find_parts(&s);
	write_parts(&s);
	write_rest(&s);
	if (unlink(s.tree) != 0)
		die_errno("%s", s.tree);
	if (set.verbose)
		note("%zu parts, %" PRIu64 " GPU events in none of them",
		    s.parts.n, s.nrest);
	if (s.has_doubt)
		doubt("tl-tree or tl-filter had doubts (above)");
	return exit_status();
}

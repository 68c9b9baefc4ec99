/* SPDX-License-Identifier: MIT */
/*
 * tl-decode: turns profiler traces into an event stream. Several inputs are
 * sources of one stream; with -d each is a stream, and they are decoded in
 * parallel.
 */
#include "cmd/tl-decode/decode.h"
#include "cmd/tl-decode/hlo/dump.h"
#include "cmd/tl-decode/repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	OPT_KIND = OPT_LONG,
	OPT_NO_PYTHON,
	OPT_RANK_REGEX,
	OPT_REPAIR,
	OPT_SALVAGE,
	OPT_XLA_DUMP,
};

static const struct about about = {
	.purpose = "turn profiler traces into an event stream",
	.synopsis =
	    "[-v] [-d DIR | -o FILE] [--kind KIND,...] [--no-python] "
	    "[--rank-regex RE] [--repair LIST] [--salvage] "
	    "[--xla-dump DIR|FILE] [--ndjson] [-z[LEVEL]] [-j N] [FILE...]",
	.example = "tl-decode trace.json.gz | tl-tree | tl-timeline",
};

static const struct opt options[] = {
	{ 'd', "dir", "DIR", "write a stream DIR/NAME.tl per input" },
	{ 'j', "jobs", "N", "with -d: decode N inputs in parallel" },
	OPT_STREAM_OUT,
	{ OPT_KIND, "kind", "KIND,...", "only events of these kinds" },
	{ OPT_NO_PYTHON, "no-python", NULL, "skip Python frames" },
	{ OPT_RANK_REGEX, "rank-regex", "RE",
	    "take the rank from the file name: the first group of RE" },
	{ OPT_REPAIR, "repair", "LIST",
	    "repair clip-overrun, drop-impossible, fix-utf8, or all" },
	{ OPT_SALVAGE, "salvage", NULL,
	    "get the whole events out of a damaged trace" },
	{ 'v', "verbose", NULL, "print a summary on stderr" },
	{ OPT_XLA_DUMP, "xla-dump", "DIR|FILE",
	    "take HLO missing in the trace from XLA's dumps" },
	OPT_END,
};

/* ---- one source ---- */

/* Returns the number of the next source. */
static uint32_t
decode_source(const struct settings *set, const char *path,
    struct stream_out *out, struct dict *dict, uint32_t src,
    struct counts *counts)
{
	struct source_state s = {
		.set = set,
		.out = out,
		.dict = dict,
		.counts = counts,
		.path = path,
		.src = src,
	};

	s.in = in_open(path);
	in_tolerate(s.in); /* damage is reported with a hint */
	source_begin(&s);
	repair_read(&s);
	source_end(&s);
	counts->compressed += in_consumed(s.in);
	source_close(&s);
	in_close(s.in);
	return s.src + 1;
}

/* ---- the summary ---- */

static void
summary(const struct counts *c, const struct dict *st, double start)
{
	double wall = sys_wall_s() - start;

	for (int k = 0; k < KIND_COUNT; k++)
		if (c->kinds[k] > 0)
			note("%-16s %12" PRIu64, kind_words[k], c->kinds[k]);
	if (c->clamped > 0)
		note("%" PRIu64 " negative durations set to 0", c->clamped);
	if (c->no_ts > 0)
		note("%" PRIu64 " events without a time", c->no_ts);
	if (c->no_phase > 0)
		note("%" PRIu64 " events without a phase", c->no_phase);
	note("%" PRIu64 " events, %" PRIu64 " bytes from %" PRIu64
	     " in files, %.3f s wall, %.3f s CPU, %.0f MB/s",
	    c->events, c->bytes, c->compressed, wall, sys_cpu_s(),
	    wall > 0 ? (double)c->bytes / wall / 1e6 : 0);
	note("%zu strings in %zu kB, %zu shapes, peak memory %.1f MiB",
	    st->text->list.n, intern_bytes(st->text) / 1000, st->shapes.n,
	    (double)sys_peak_bytes() / 1048576);
}

/* ---- outputs ---- */

/* All inputs into one stream. */
static void
decode_plain(const struct settings *set, char **paths, int n,
    const struct stream_dest *dest, uint32_t src)
{
	struct dict *dict = dict_create();
	struct stream_out *out = stream_create(dest, dict, NULL, 0, true);
	struct counts counts = { 0 };
	double began = sys_wall_s();

	progress_start("decoding");
	for (int i = 0; i < n; i++)
		src = decode_source(set, paths[i], out, dict, src, &counts);
	progress_end();
	if (set->kinds != KINDS_ALL || set->no_python)
		stream_mark(out, MARK_EDITED);
	stream_finish(out);
	if (counts.clamped > 0)
		report(MSG_NEGATIVE_DURATIONS, counts.clamped);
	if (set->verbose)
		summary(&counts, dict, began);
	dict_destroy(dict);
}

/*
 * Returns the exit status. Repairs are known after reading: a child writes the
 * stream to an unnamed file first.
 */
static int
decode_stream(const struct settings *set, char **paths, int n,
    const struct stream_dest *dest, uint32_t src)
{
	struct stream_dest plain = { 0 };
	const char *name = n == 1 ? paths[0] : "the traces";
	int fd, rc;
	pid_t pid;

	if ((set->repairs & REPAIRS_OF_EVENTS) == 0) {
		decode_plain(set, paths, n, dest, src);
		return exit_status();
	}
	fd = io_nameless();
	if (fd < 0)
		die_errno("a temporary file in %s", io_tmpdir());
	pid = child_fork();
	if (pid == 0) {
		if (dup2(fd, STDOUT_FILENO) < 0)
			die_errno("a temporary file");
		decode_plain(set, paths, n, &plain, src);
		_exit(exit_status());
	}
	rc = child_wait(pid);
	if (child_signal(rc) > 0)
		die("%s: the process that read it was killed by signal %d",
		    name, child_signal(rc));
	if (rc != EXIT_DONE && rc != EXIT_WARNINGS)
		exit(rc); /* the message was printed */
	repair_stream(
	    fd, strcmp(name, "-") == 0 ? "stdin" : name, set->repairs, dest);
	close(fd);
	return rc != EXIT_DONE ? rc : exit_status();
}

/* The last part of a path without the endings of traces. */
static struct str
stem(const char *path)
{
	static const struct str endings[] = { STR_INIT(".gz"), STR_INIT(".zst"),
		STR_INIT(".json"), STR_INIT(".pt.trace"), STR_INIT(".pb"),
		STR_INIT(".xplane") };
	const char *base = strrchr(path, '/');
	struct str s = str_of(base != NULL ? base + 1 : path);

	if (strcmp(path, "-") == 0)
		return STR("stdin");
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		struct str e = endings[i];

		if (s.len > e.len &&
		    memcmp(s.p + s.len - e.len, e.p, e.len) == 0)
			s.len -= e.len;
	}
	return s;
}

/* DIR/STEM.tl for each input, STEM-2, STEM-3 ... for names in use. */
static char **
output_paths(const char *dir, char **paths, int n)
{
	struct intern *names = intern_create(), *stems = intern_create();
	char **out = xcalloc((size_t)n, sizeof *out);
	VEC(int) last = { 0 }; /* number given to a stem */

	for (int i = 0; i < n; i++) {
		struct str s = stem(paths[i]);
		uint32_t id = intern_put(stems, s);
		struct buf b = { 0 };
		size_t before = names->list.n;

		if (id == last.n)
			vec_push(&last, 0);
		do {
			b.len = 0;
			buf_printf(&b, "%s/%.*s", dir, (int)s.len, s.p);
			if (++last.v[id] > 1)
				buf_printf(&b, "-%d", last.v[id]);
			buf_puts(&b, ".tl");
			intern_put(names, buf_str(&b));
		} while (names->list.n == before);
		buf_putc(&b, '\0');
		out[i] = b.p;
	}
	intern_destroy(names);
	intern_destroy(stems);
	vec_free(&last);
	return out;
}

struct child {
	pid_t pid;
	const char *input, *output;
};

typedef VEC(struct child) child_vec;

/* Waits for a child; returns the worst status so far. */
static int
wait_child(child_vec *children, int worst)
{
	struct child *c;
	int rc;
	pid_t pid = child_wait_any(&rc);

	for (c = children->v; c->pid != pid;)
		c++;
	if (child_signal(rc) > 0) {
		report(MSG_CHILD_KILLED, c->input, child_signal(rc));
		out_remove_left(c->output);
		rc = EXIT_NO_ANSWER;
	}
	*c = children->v[--children->n];
	/* no answer is worse than a warning */
	if (rc == EXIT_NO_ANSWER || worst == EXIT_NO_ANSWER)
		return EXIT_NO_ANSWER;
	return rc > worst ? rc : worst;
}

/* A stream per input, each by its own process. */
static int
decode_dir(const struct settings *set, char **paths, int n)
{
	child_vec children = { 0 };
	int worst = EXIT_DONE;
	char **outputs;

	io_make_folder(set->dir);
	outputs = output_paths(set->dir, paths, n);
	for (int i = 0; i < n; i++) {
		struct stream_dest dest = set->dest;
		pid_t pid;

		if (children.n == (size_t)set->jobs)
			worst = wait_child(&children, worst);
		dest.path = outputs[i];
		pid = child_fork();
		if (pid == 0) {
			_exit(decode_stream(
			    set, &paths[i], 1, &dest, (uint32_t)i));
		}
		vec_push(
		    &children, ((struct child){ pid, paths[i], outputs[i] }));
	}
	while (children.n > 0)
		worst = wait_child(&children, worst);
	vec_free(&children);
	for (int i = 0; i < n; i++)
		vec_release(outputs[i]);
	vec_release(outputs);
	return worst;
}

int
main(int argc, char *argv[])
{
	struct settings set = { .kinds = KINDS_ALL, .jobs = sys_cpus() };
	struct optparse op;
	char *standard_input[] = { (char *)"-" };
	const char *rank_regex = NULL;
	char **paths;
	int ch, n, worst;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1) {
		switch (ch) {
		case 'd': set.dir = op.arg; break;
		case 'j': set.jobs = (int)opt_int(&op, 1, 1024); break;
		case 'v': set.verbose = true; break;
		case OPT_KIND: set.kinds = opt_kinds(&op); break;
		case OPT_NO_PYTHON: set.no_python = true; break;
		case OPT_REPAIR: set.repairs |= repair_opt(&op); break;
		case OPT_SALVAGE: set.salvage = true; break;
		case OPT_RANK_REGEX: rank_regex = op.arg; break;
		case OPT_XLA_DUMP: dumps_add(&set.dumps, op.arg); break;
		default: stream_dest_opt(&set.dest, &op, ch); break;
		}
	}
	if (set.dir != NULL && set.dest.path != NULL)
		die_usage("options '-d' and '-o' exclude each other");
	set.rank_rule = rank_rule_create(rank_regex);
	stream_unite(&op);
	n = op.argc - op.ind;
	paths = argv + op.ind;
	if (n == 0) {
		n = 1;
		paths = standard_input;
	}
	if (set.dir != NULL) {
		worst = decode_dir(&set, paths, n);
	} else {
		worst = decode_stream(&set, paths, n, &set.dest, 0);
	}
	rank_rule_destroy(set.rank_rule);
	return worst;
}

/* SPDX-License-Identifier: MIT */
/* tl-gen: sizes, and the order of a file's sections. */
#include "gen.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MIN_STEPS = 4 };

_Noreturn void
die(const char *fmt, ...)
{
	va_list ap;

	fputs("tl-gen: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

_Noreturn void
usage(const char *option, const char *arg)
{
	fprintf(stderr, "tl-gen: --%s: bad value '%s'\ntry tl-gen --help\n",
	    option, arg);
	exit(2);
}

void *
grow(void *p, size_t *cap, size_t want, size_t size)
{
	if (want <= *cap)
		return p;
	*cap = *cap * 2 > want ? *cap * 2 : want + 256;
	p = realloc(p, *cap * size);
	if (p == NULL)
		die("out of memory");
	return p;
}

static bool
wanted(const struct conf *cf, enum section sec)
{
	return (sec != SEC_PY || !cf->no_python) &&
	    (sec != SEC_MEM || !cf->no_memory);
}

/* Events written. */
static uint64_t
write_trace(const struct conf *cf, struct buf *b)
{
	struct sim *s = calloc(1, sizeof *s);
	struct emit e;
	uint64_t n;

	if (s == NULL)
		die("out of memory");
	sim_init(s, cf);
	emit_init(&e, cf, b, s);
	emit_head(&e);
	for (enum section sec = 0; sec < SEC_COUNT; sec++) {
		if (!wanted(cf, sec))
			continue;
		sim_rank(s, cf);
		if (sec == SEC_PY)
			emit_frames(&e);
		for (int64_t i = 0; i < cf->steps; i++)
			emit_step(&e, sec);
	}
	emit_tail(&e);
	n = e.nevents;
	sim_free(s);
	free(s);
	return n;
}

/* Events and bytes of so many steps. */
static void
measure(struct conf cf, int64_t steps, int64_t *events, int64_t *size)
{
	struct buf b;

	cf.steps = steps;
	out_null(&b, cf.pretty, cf.minified);
	*events = 0;
	if (cf.rocprof)
		*events = (int64_t)rocprof_write(&cf, &b);
	else
		*events = (int64_t)write_trace(&cf, &b);
	buf_flush(&b);
	*size = (int64_t)b.total;
	out_close(&b);
}

/*
 * The steps for a number of events or bytes; with fewer layers if there were so
 * few steps that rounding would show. The minimum is one small step.
 */
static void
fit(struct conf *cf)
{
	int64_t e1, s1, e2, s2, want, one, two;

	if (cf->events == 0 && cf->size == 0)
		return;
	want = cf->size > 0 ? cf->size : cf->events;
	for (;; cf->layers--) {
		measure(*cf, 1, &e1, &s1);
		measure(*cf, 2, &e2, &s2);
		one = cf->size > 0 ? s1 : e1;
		two = cf->size > 0 ? s2 : e2;
		if (one + MIN_STEPS * (two - one) <= want || cf->layers == 1)
			break;
	}
	cf->steps = 1 + (want - one + (two - one) / 2) / (two - one);
	if (cf->steps < 1)
		cf->steps = 1;
}

static void
write_file(const struct conf *cf, const char *path)
{
	struct out_opts opts = { .gzip = cf->gzip,
		.pretty = cf->pretty,
		.minified = cf->minified,
		.crlf = quirk_on(cf, Q_CRLF),
		.cut = -1 };
	size_t n = path == NULL ? 0 : strlen(path);
	int64_t events, size;
	struct buf b;

	if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
		opts.gzip = true;
	if (quirk_on(cf, Q_TRUNCATED)) {
		measure(*cf, cf->steps, &events, &size);
		opts.cut = size * 7 / 8;
	}
	out_open(&b, path, &opts);
	if (cf->rocprof)
		rocprof_write(cf, &b);
	else
		write_trace(cf, &b);
	out_close(&b);
}

static void
write_ranks(struct conf *cf)
{
	char path[4096];

	if (mkdir(cf->dir, 0777) != 0 && errno != EEXIST)
		die("%s: %s", cf->dir, strerror(errno));
	for (cf->rank = 0; cf->rank < cf->ranks; cf->rank++) {
		snprintf(path, sizeof path, "%s/rank-%" PRId64 ".json%s",
		    cf->dir, cf->rank, cf->gzip ? ".gz" : "");
		write_file(cf, path);
	}
}

int
main(int argc, char *argv[])
{
	struct conf cf = { .seed = 1,
		.steps = 3,
		.layers = 4,
		.ranks = 1,
		.streams = 1,
		.devices = 8,
		.processes = 1,
		.batch = 4,
		.seq_len = 512,
		.hidden = 1024,
		.heads = 16,
		.vocab = 50304,
		.jitter = -1,
		.link_milli = 1000 };

	conf_parse(&cf, argc, argv);
	fit(&cf);
	if (cf.dir != NULL)
		write_ranks(&cf);
	else
		write_file(&cf, cf.out);
	return 0;
}

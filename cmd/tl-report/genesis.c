/* SPDX-License-Identifier: MIT */
/*
 * A capture of a simulation with Genesis: a folder with rocprofv3's output, a
 * manifest and the run's log. The report is about the steady state and the
 * session; their tables are joined, with a column for the window.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "io/io.h"
#include "table/catalogue.h"
#include "json/json.h"

#include "cmd/tl-report/figures.h"

#define FILE_MAX_BYTES ((size_t)16 << 20)
#define GAP_NS INT64_C(1000000000)
#define LAST_NS INT64_C(5000000000)

/* ---- the folder ---- */

/* The first file by name with this ending, compressed or not; NULL: none. */
static const char *
find_in(const char *dir, const char *end)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	const char *best = NULL;

	if (d == NULL)
		die_errno("%s", dir);
	while ((e = readdir(d)) != NULL) {
		struct str name = str_of(e->d_name);

		if (str_ends(name, STR(".gz")))
			name.len -= 3;
		else if (str_ends(name, STR(".zst")))
			name.len -= 4;
		if (name.p[0] != '.' && str_ends(name, str_of(end)) &&
		    (best == NULL || strcmp(e->d_name, best) < 0))
			best = text("%s", e->d_name);
	}
	closedir(d);
	return best != NULL ? text("%s/%s", dir, best) : NULL;
}

/* CSV has all tables of the run, JSON exact times. */
static const char *
find_trace(const char *dir)
{
	static const char *const ends[] = { "kernel_kernel_trace.csv",
		"_kernel_trace.csv", "_results.json", "_results.pftrace" };
	const char *inner = text("%s/kernel_trace", dir);
	struct stat st;
	bool has_inner = stat(inner, &st) == 0 && S_ISDIR(st.st_mode);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *path = has_inner ? find_in(inner, ends[i]) : NULL;

		if (path == NULL)
			path = find_in(dir, ends[i]);
		if (path != NULL)
			return path;
	}
	die("%s: no *_kernel_trace.csv, *_results.json or *_results.pftrace in "
	    "this folder",
	    dir);
}

void
genesis_open(struct settings *s)
{
	args_add(&s->traces, find_trace(s->genesis));
	if (s->categories == NULL)
		args_add(&s->options[KERNELS], "--categories=genesis");
	s->shorts = true;
}

/* The beginning of a file in the folder; it stays open, as its text is used. */
static struct in *
open_file(const struct settings *s, const char *name, struct str *bytes)
{
	const char *path = text("%s/%s", s->genesis, name);
	struct in *in;

	if (!is_there(path))
		return NULL;
	in = in_open(path);
	while ((size_t)(in->end - in->p) < FILE_MAX_BYTES && in_more(in))
		continue;
	*bytes = (struct str){ (const char *)in->p, (size_t)(in->end - in->p) };
	return in;
}

/* ---- what was run ---- */

/* wall_time=12.3s of the log plus 5 %; 0: none. */
static int64_t
wall_time(struct str log)
{
	static const struct str word = STR_INIT("wall_time=");
	ptrdiff_t at;

	while ((at = str_find(log, word, false)) >= 0) {
		size_t n = 0;
		int64_t ns;

		log.p += (size_t)at + word.len;
		log.len -= (size_t)at + word.len;
		while (n < log.len && strchr("0123456789.eE+-", log.p[n]) &&
		    log.p[n] != '\0')
			n++;
		if (n < log.len && log.p[n] == 's' &&
		    num_text_scale((struct str){ log.p, n }, 9, &ns) &&
		    ns > 0 && num_add(ns, (ns + 10) / 20, &ns))
			return ns;
	}
	return 0;
}

static int64_t
last_seconds(const struct settings *s)
{
	struct str log;
	struct in *in;
	int64_t ns = 0;

	if (s->steady_window_ns > 0)
		return s->steady_window_ns;
	in = open_file(s, "run.log", &log);
	if (in != NULL) {
		ns = wall_time(log);
		in_close(in);
	}
	return ns > 0 ? ns : LAST_NS;
}

static struct str
last_name(const char *path)
{
	struct str s = str_of(path);
	size_t n = 0;

	while (s.len > 1 && s.p[s.len - 1] == '/')
		s.len--;
	while (n < s.len && s.p[s.len - n - 1] != '/')
		n++;
	return n > 0 ? (struct str){ s.p + s.len - n, n } : s;
}

/* Names the session: its time stamp or the folder's name, and its settings. */
static const char *
session(const struct settings *s)
{
	static const struct {
		const char *key, *word;
	} facts[] = { { "n_envs", "n_envs=" }, { "num_steps", "steps=" },
		{ "precision", "fp" } };
	const char *says;
	struct arena *mem = arena_create();
	json_items items = { 0 };
	struct buf b = { 0 };
	struct str bytes, value;
	struct in *in = open_file(s, "capture_manifest.json", &bytes);

	if (in == NULL)
		in = open_file(s, "combined_manifest.json", &bytes);
	if (in == NULL || !json_split(&items, mem, bytes))
		items.n = 0;
	value = json_member_text(&items, STR("timestamp"));
	if (value.len == 0)
		value = last_name(s->genesis);
	buf_printf(&b, "Genesis, %.*s", (int)value.len, value.p);
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		value = json_member_text(&items, str_of(facts[i].key));
		if (value.len > 0)
			buf_printf(&b, ", %s%.*s", facts[i].word,
			    (int)value.len, value.p);
	}
	says = text("%.*s", (int)b.len, b.p);
	if (in != NULL)
		in_close(in);
	vec_free(&items);
	arena_destroy(mem);
	buf_free(&b);
	return says;
}

/* ---- both windows ---- */

void
genesis_begin(struct settings *s, struct jobs *j)
{
	char *steady = s->tables;

	s->session = session(s);
	steady_find(s, s->steady_gap_ns > 0 ? s->steady_gap_ns : GAP_NS,
	    last_seconds(s));
	if (s->steady == NULL)
		return;
	if (s->has_sheets) {
		s->whole = text("%s/whole", s->tmp);
		if (mkdir(s->whole, 0700) != 0)
			die_errno("%s", s->whole);
		s->tables = xstrdup(s->whole);
		analyse(s, j, "ndjson", true);
		sheets_cut(s);
		vec_release(s->tables);
		s->tables = steady;
	}
	s->has_window = false; /* of the process */
	args_add(&s->chosen, "--by-gpu-time");
	args_add(&s->chosen, s->steady_from);
	args_add(&s->options[TIMELINE], "--kind=kernel");
}

void
genesis_join(const struct settings *s)
{
	for (size_t i = 0; i < sheets_n && s->whole != NULL; i++) {
		const char *steady = table_path(s, sheets[i].name, "ndjson");
		const char *whole =
		    text("%s/%s.ndjson", s->whole, sheets[i].name);

		if (is_there(whole))
			table_join("window",
			    (struct table_part[]){
				{ "steady", steady }, { "all", whole } },
			    2, sheets[i].name, steady);
	}
}

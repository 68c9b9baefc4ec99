/* SPDX-License-Identifier: MIT */
/*
 * All traces of both sides. The first run of one side is compared with the
 * first of the other and so on; the last one of the side that has fewer with
 * all that are left. Tables of single events are about the first pair, which
 * is kept; those of sums are about all.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tl-diff/gate.h"
#include "cmd/tl-diff/kernels.h"
#include "cmd/tl-diff/opmap.h"
#include "cmd/tl-diff/ops.h"
#include "cmd/tl-diff/print.h"
#include "cmd/tl-diff/sides.h"

/* One side: where it is among its files and their runs. */
struct side {
	VEC(const char *) paths;
	size_t next_path, next_run;
	struct file *file;   /* being handed out */
	struct file *first;  /* kept to the end */
	struct file *opened; /* its decoder runs already */
	const struct run *run;
	uint64_t nruns, ngpus;
};

/* ---- folders ---- */

static int
by_path(const void *x, const void *y)
{
	const char *const *a = x, *const *b = y;

	return strcmp(*a, *b);
}

static void
add_folder(struct side *s, struct arena *mem, const char *path)
{
	DIR *dir = opendir(path);
	size_t first = s->paths.n;
	struct dirent *e;

	if (dir == NULL)
		die_errno("%s", path);
	while ((e = readdir(dir)) != NULL) {
		struct buf b = { 0 };

		if (!stream_is_name(str_of(e->d_name)))
			continue;
		buf_printf(&b, "%s/%s", path, e->d_name);
		vec_push(&s->paths, arena_str(mem, buf_str(&b)).p);
		buf_free(&b);
	}
	closedir(dir);
	if (s->paths.n == first)
		die("%s: no trace in this folder", path);
	qsort(s->paths.v + first, s->paths.n - first, sizeof *s->paths.v,
	    by_path);
}

static void
add_path(struct side *s, struct arena *mem, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		add_folder(s, mem, path);
	else
		vec_push(&s->paths, path);
}

/* ---- one run after the other ---- */

static struct file *
next_file(struct side *s, struct settings *set, struct norms *nm)
{
	struct file *f = s->opened;

	s->opened = NULL;
	if (f == NULL)
		f = file_open(set, nm, s->paths.v[s->next_path]);
	s->next_path++;
	file_read(f);
	return f;
}

/*
 * The side's next run; false when there is none, and then the last one stays
 * what it is.
 */
static bool
next_run(struct side *s, struct settings *set, struct norms *nm)
{
	struct file *old = s->file;
	struct run *r;

	while (s->file == NULL || s->next_run >= file_runs(s->file)) {
		if (s->file != old)
			file_close(s->file);
		s->file = old;
		if (s->next_path >= s->paths.n) {
			s->next_run = old != NULL ? file_runs(old) : 0;
			return false;
		}
		s->file = next_file(s, set, nm);
		s->next_run = 0;
	}
	if (s->file != old && old != s->first)
		file_close(old);
	if (s->first == NULL)
		s->first = s->file;
	r = file_run(s->file, s->next_run++);
	forest_build(r, set, nm->st);
	s->nruns++;
	s->ngpus += r->gpus.n;
	s->run = r;
	return true;
}

static void
side_close(struct side *s)
{
	if (s->file != s->first)
		file_close(s->file);
	file_close(s->first);
	vec_free(&s->paths);
}

/* ---- pairs ---- */

struct sides {
	struct settings *set;
	struct norms nm;
	struct arena *mem; /* paths */
	struct side side[NSIDES];
	struct diff first; /* of the first pair */
	struct ops ops;
	struct kernels *kernels;
};

static void
check_run(const struct run *r)
{
	if (r->roots.n > 0)
		return;
	if (r->nodes.n == 0)
		die("%s: no call of an op and no GPU event", r->path);
	if (r->gpus.n > 0)
		die("%s: no op is the root of a tree, but there are %zu GPU "
		    "events: try --by kernel",
		    r->path, r->gpus.n);
	die("%s: no op%s", r->path,
	    r->nodes.n > 0 ? " with GPU work that is asked for" : "");
}

static void
merge_pair(struct sides *g, struct diff *d)
{
	struct duo duo;

	for (int s = 0; s < NSIDES; s++) {
		check_run(g->side[s].run);
		d->side[s] = g->side[s].run;
	}
	d->set = g->set;
	d->strings = g->nm.st;
	d->norms = &g->nm;
	duo_start(&duo, d->side[0], d->side[1], &g->nm);
	merge_runs(&d->merged, &duo);
	duo_end(&duo);
	stats_find(d);
}

static void
compare_pair(struct sides *g, const bool fresh[NSIDES], bool is_first)
{
	struct diff d = { 0 };

	if (g->set->by == BY_KERNEL) {
		const struct run *const runs[NSIDES] = { g->side[0].run,
			g->side[1].run };

		kernels_add(g->kernels, runs, fresh);
		return;
	}
	merge_pair(g, is_first ? &g->first : &d);
	ops_add(&g->ops, is_first ? &g->first : &d, fresh);
	if (!is_first) {
		merged_free(&d.merged);
		vec_free(&d.stats);
	}
}

static void
compare_all(struct sides *g)
{
	bool is_first = true;

	for (;; is_first = false) {
		bool fresh[NSIDES];

		for (int s = 0; s < NSIDES; s++)
			fresh[s] = next_run(&g->side[s], g->set, &g->nm);
		for (int s = 0; s < NSIDES && is_first; s++)
			if (!fresh[s])
				die("%s: %s", g->side[s].paths.v[0],
				    g->set->is_selective
					? "no source that is asked for"
					: "no event in this trace");
		if (!fresh[0] && !fresh[1])
			break;
		compare_pair(g, fresh, is_first);
	}
}

/*
 * A side whose profiler recorded nothing of the GPU looks infinitely fast: no
 * gate may pass it. What a selection leaves out was asked for.
 */
static void
check_gpus(const struct sides *g)
{
	for (int s = 0; s < NSIDES; s++) {
		const struct side *it = &g->side[s];

		if (it->ngpus > 0 || g->set->is_selective)
			continue;
		if (g->set->fail_over.is_set)
			die("%s: no GPU event: there is nothing to judge",
			    it->paths.v[0]);
		doubt(
		    "%s: no GPU event: was the GPU recorded?", it->paths.v[0]);
	}
}

/* ---- the answer ---- */

static int64_t
min_diff_ns(const struct sides *g)
{
	const struct threshold *t = &g->set->min_diff;
	int64_t ns;

	if (!t->is_set)
		return 0;
	ns = threshold_ns(t, g->first.side[0]->gpu_ns);
	return ns < INT64_MAX && (t->is_percent || ns == 0) ? ns + 1 : ns;
}

static void
print_tree_to(const struct sides *g, const char *path, int64_t min_ns)
{
	struct out *out = out_open(path);
	const char *no = getenv("NO_COLOR");
	bool colour = out_is_terminal(out) && (no == NULL || no[0] == '\0');

	print_merged(&g->first, out, colour, min_ns);
	out_finish(out);
}

/* The files of the reference that are no tables. */
static void
write_extras(const struct sides *g)
{
	struct buf b = { 0 };
	const char *dir = g->set->dest.dir;

	if (g->set->by == BY_KERNEL || g->set->table != NULL)
		return;
	buf_printf(&b, "%s/merged_tree_output.txt%c", dir, 0);
	print_tree_to(g, b.p, 0);
	buf_free(&b);
	opmap_write(&g->first, dir);
}

static void
print_answer(struct sides *g)
{
	struct found f = {
		.set = g->set,
		.diff = g->set->by == BY_KERNEL ? NULL : &g->first,
		.ops = &g->ops,
		.kernels = g->kernels,
	};

	if (g->set->print) {
		print_tree_to(g, g->set->dest.path, min_diff_ns(g));
		return;
	}
	tables_print(&f);
	if (g->set->dest.dir != NULL)
		write_extras(g);
}

/* A table for people has these as notes. */
static bool
has_notes(const struct settings *set)
{
	const struct table_dest *d = &set->dest;

	if (set->print ||
	    (set->table != NULL && set->by == BY_OP &&
		strcmp(set->table, "diff_ops_summary") != 0))
		return false;
	if (d->format == FMT_TABLE || d->format == FMT_MD)
		return true;
	return d->format == FMT_AUTO && d->dir == NULL && d->path == NULL &&
	    isatty(STDOUT_FILENO) == 1;
}

/* What else a reader of the answer must know. */
static void
tell(const struct sides *g)
{
	if (g->set->by != BY_OP || has_notes(g->set))
		return;
	for (int s = 0; s < NSIDES; s++) {
		const struct ops *o = &g->ops;

		if (o->nunlinked[s] > 0)
			note("%.*s: %" PRIu64 " GPU events without a launch "
			     "(%.3f ms) are in no tree",
			    (int)g->set->names[s].len, g->set->names[s].p,
			    o->nunlinked[s], (double)o->unlinked_ns[s] / 1e6);
		if (o->noutside[s] > 0)
			note("%.*s: %" PRIu64 " GPU events launched outside "
			     "of ops (%.3f ms) are in no tree",
			    (int)g->set->names[s].len, g->set->names[s].p,
			    o->noutside[s], (double)o->outside_ns[s] / 1e6);
	}
	if (g->first.is_identical)
		note("identical");
}

static void
summarise(const struct sides *g, double start_s)
{
	for (int s = 0; s < NSIDES; s++)
		note("%.*s: %" PRIu64 " runs, the last with %zu events, %zu "
		     "of the GPU, %zu roots",
		    (int)g->set->names[s].len, g->set->names[s].p,
		    g->side[s].nruns, g->side[s].run->nodes.n,
		    g->side[s].run->gpus.n, g->side[s].run->roots.n);
	note("%zu merged nodes, %.3f s, %.3f s CPU, %.1f MB",
	    g->first.merged.list.n, sys_wall_s() - start_s, sys_cpu_s(),
	    (double)sys_peak_bytes() / 1e6);
}

static void
sides_free(struct sides *g)
{
	merged_free(&g->first.merged);
	vec_free(&g->first.stats);
	ops_free(&g->ops);
	kernels_destroy(g->kernels);
	for (int s = 0; s < NSIDES; s++)
		side_close(&g->side[s]);
	norms_free(&g->nm);
	arena_destroy(g->mem);
	strings_destroy(g->nm.st);
}

int
sides_compare(struct settings *set)
{
	struct sides g = { .set = set };
	double start_s = sys_wall_s();
	int status;

	g.nm.st = strings_create();
	g.mem = arena_create();
	g.ops = (struct ops){ .set = set, .strings = g.nm.st };
	g.kernels = kernels_create(set, g.nm.st);
	if (set->equiv != NULL)
		norms_read_equiv(&g.nm, set->equiv);
	for (int s = 0; s < NSIDES; s++)
		for (size_t i = 0; i < set->paths[s].n; i++)
			add_path(&g.side[s], g.mem, set->paths[s].v[i]);
	/* both decoders run while the first is read */
	for (int s = 0; s < NSIDES; s++)
		g.side[s].opened = file_open(set, &g.nm, g.side[s].paths.v[0]);
	compare_all(&g);
	check_gpus(&g);
	if (set->by == BY_OP)
		ops_finish(&g.ops);
	print_answer(&g);
	tell(&g);
	status = gate_status(set, &g.ops, g.kernels);
	if (set->verbose)
		summarise(&g, start_s);
	sides_free(&g);
	return status;
}

/* SPDX-License-Identifier: MIT */
/* One side: the runs of all its traces, one after the other. */
#include <stdlib.h>

#include "cmd/tl-diff/sides.h"

void
side_open(struct side *s, struct settings *set, struct norms *nm, int which)
{
	s->set = set;
	s->norms = nm;
	for (size_t i = 0; i < set->paths[which].n; i++)
		stream_paths(&s->paths, set->paths[which].v[i], false);
	s->opened = file_open(set, nm, s->paths.v[0]);
}

void
side_close(struct side *s)
{
	if (s->run != s->kept)
		run_free(s->run);
	run_free(s->kept);
	for (size_t i = 0; i < s->waiting.n; i++)
		run_free(s->waiting.v[i]);
	vec_free(&s->waiting);
	for (size_t i = 0; i < s->paths.n; i++)
		free(s->paths.v[i]);
	vec_free(&s->paths);
}

/* The next file's runs, to those that wait; false when there is no file. */
static bool
read_more(struct side *s)
{
	struct file *f = s->opened;
	size_t first = s->waiting.n;
	uint32_t n;

	if (s->next_path >= s->paths.n)
		return false;
	if (f == NULL)
		f = file_open(s->set, s->norms, s->paths.v[s->next_path]);
	s->opened = NULL;
	s->next_path++;
	n = file_take(f, &s->waiting);
	for (size_t i = first; i < s->waiting.n; i++)
		s->waiting.v[i]->no += s->nsources;
	s->nsources += n;
	return true;
}

/* It is now at hand, and no more the one before. */
static void
take(struct side *s, size_t i)
{
	struct run *r = s->waiting.v[i];

	memmove(s->waiting.v + i, s->waiting.v + i + 1,
	    (s->waiting.n - i - 1) * sizeof *s->waiting.v);
	s->waiting.n--;
	if (s->run != s->kept)
		run_free(s->run);
	s->run = r;
	forest_build(r, s->set, s->norms->st);
	s->nruns++;
	s->ngpus += r->gpus.n;
}

bool
side_next(struct side *s)
{
	while (s->waiting.n == 0)
		if (!read_more(s))
			return false;
	take(s, 0);
	return true;
}

bool
side_next_rank(struct side *s, int64_t rank)
{
	for (size_t i = 0;; i++) {
		while (i == s->waiting.n)
			if (!read_more(s))
				return false;
		if (s->waiting.v[i]->has_rank &&
		    s->waiting.v[i]->rank == rank) {
			take(s, i);
			return true;
		}
	}
}

bool
side_has_several(const struct side *s)
{
	return s->paths.n > 1 || s->nruns + s->waiting.n > 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Traces taken during the capture of graphs. A folder may list their contents
 * in execution_details.json:
 *
 *	[{"file": "bs_32.json.gz", "batch_size": 32, "mode": "FULL"}, ...]
 *
 * Without it each trace shows its own: by its annotations capture_32_FULL if
 * there are as many as dummy runs of the engine, else by the commonest first
 * dimension of its ops' inputs.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/tl-graft/graft.h"
#include "json/json.h"

#define INDEX "execution_details.json"

static char *
join(const char *dir, struct str name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s%s%.*s", dir,
	    str_ends(str_of(dir), STR("/")) ? "" : "/", (int)name.len, name.p);
	buf_putc(&b, '\0');
	return b.p;
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static struct capture_file *
add_file(struct captures *c, char *path, int64_t batch, struct str mode)
{
	struct capture_file *f = vec_add(&c->files);

	*f = (struct capture_file){ .path = path, .batch = batch };
	f->is_full = str_eq(mode, STR("FULL"));
	f->is_piecewise = str_eq(mode, STR("PIECEWISE"));
	return f;
}

/* ---- the list ---- */

bool
captures_list(struct str text, struct arena *mem, listed_vec *out)
{
	json_items list = { 0 }, members = { 0 };
	bool is_good = json_split(&list, mem, text) && list.n > 0;

	for (size_t i = 0; i < list.n && is_good; i++) {
		struct listed l = { .batch = -1 };

		is_good = list.v[i].type == JSON_T_OBJECT &&
		    json_split(&members, mem, list.v[i].text);
		for (size_t k = 0; k + 1 < members.n; k += 2) {
			struct str key = members.v[k].text;
			const struct json_item *val = &members.v[k + 1];

			if (str_eq(key, STR("file")))
				l.file = val->text;
			else if (str_eq(key, STR("mode")))
				l.mode = val->text;
			else if (str_eq(key, STR("batch_size")) &&
			    !num_i64(val->text, &l.batch))
				l.batch = -1;
		}
		vec_push(out, l);
	}
	vec_free(&list);
	vec_free(&members);
	return is_good;
}

static void
take_listed(struct captures *c, const char *dir, const struct listed *l,
    const char *index)
{
	char *path;

	/* a list names files of its own folder, no others */
	if (l->file.len == 0 || str_find(l->file, STR("/"), false) >= 0 ||
	    memchr(l->file.p, '\0', l->file.len) != NULL) {
		report(MSG_CAPTURE_NAMELESS, index);
		return;
	}
	path = join(dir, l->file);
	if (!is_file(path)) {
		report(MSG_CAPTURE_MISSING, index, path);
		free(path);
		return;
	}
	if (l->batch < 0)
		report(MSG_CAPTURE_NO_BATCH, index, path);
	(void)add_file(c, path, l->batch, l->mode);
}

static void
read_index(struct captures *c, const char *dir, const char *index)
{
	struct arena *mem = arena_create();
	struct in *in = in_open(index);
	listed_vec list = { 0 };

	while (in_more(in))
		;
	if (!captures_list(
		(struct str){ (const char *)in->p, (size_t)(in->end - in->p) },
		mem, &list))
		die("%s: expected a list of objects with file, batch_size and "
		    "mode",
		    index);
	for (size_t i = 0; i < list.n; i++)
		take_listed(c, dir, &list.v[i], index);
	in_close(in);
	vec_free(&list);
	arena_destroy(mem);
}

/* ---- all there are ---- */

void
captures_open(struct captures *c, struct dict *st, const char *path)
{
	char *index = join(path, STR(INDEX));
	path_vec paths = { 0 };

	c->st = st;
	if (strcmp(path, "-") != 0 && access(path, R_OK) != 0)
		die_errno("%s", path);
	if (is_file(index))
		read_index(c, path, index);
	else
		stream_paths(&paths, path, false);
	for (size_t i = 0; i < paths.n; i++) {
		struct capture_file *f = add_file(c, paths.v[i], -1, STR(""));

		/* a single one is read when a launch needs it */
		if (strcmp(f->path, path) != 0)
			capture_read(c, f);
	}
	vec_free(&paths);
	free(index);
}

void
captures_free(struct captures *c)
{
	for (size_t i = 0; i < c->files.n; i++) {
		struct capture_file *f = &c->files.v[i];

		for (size_t k = 0; k < f->roots.n; k++) {
			vec_free(&f->roots.v[k].tops);
			vec_free(&f->roots.v[k].launches);
		}
		vec_free(&f->roots);
		forest_free(&f->tree);
		free(f->path);
	}
	vec_free(&c->files);
}

/* ---- which one ---- */

static bool
is_piecewise(struct captures *c, struct capture_file *f)
{
	if (f->is_full || f->is_piecewise)
		return f->is_piecewise;
	capture_read(c, f);
	return f->roots.n > 1;
}

struct capture_file *
captures_for(struct captures *c, int64_t batch, size_t nlaunches)
{
	struct capture_file *best = NULL;
	bool want_pieces = nlaunches != 1;
	int64_t size = INT64_MAX;

	if (c->files.n == 1 && batch < 0)
		best = &c->files.v[0];
	for (size_t i = 0; i < c->files.n; i++) {
		const struct capture_file *f = &c->files.v[i];

		if (batch >= 0 && f->batch >= batch && f->batch < size)
			size = f->batch;
	}
	for (size_t i = 0; i < c->files.n && batch >= 0; i++) {
		struct capture_file *f = &c->files.v[i];

		if (f->batch >= 0 && f->batch != size)
			continue;
		if (best == NULL ||
		    (is_piecewise(c, best) != want_pieces &&
			is_piecewise(c, f) == want_pieces))
			best = f;
	}
	if (best != NULL)
		capture_read(c, best);
	return best;
}

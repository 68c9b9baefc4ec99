/* SPDX-License-Identifier: MIT */
/*
 * Traces that were taken while graphs were captured. A folder may say what is
 * in them by a list, execution_details.json:
 *
 *	[{"file": "bs_32.json.gz", "batch_size": 32, "mode": "FULL"}, ...]
 *
 * Without it each trace is read and tells itself: by its annotations
 * capture_32_FULL where there are as many as dummy runs of the engine, else
 * by the commonest first dimension of its ops' inputs.
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

static noreturn void
die_index(const char *path, const struct json *j, const unsigned char *start)
{
	die("%s: byte %zu: %s", path,
	    (size_t)((j->where != NULL ? j->where : j->p) - start),
	    j->error != NULL
		? j->error
		: "expected a list of objects with file, batch_size and mode");
}

static bool
text_into(struct buf *b, const struct json *j)
{
	const char *error;
	size_t at;

	b->len = 0;
	return json_unescape(j->raw, b, &error, &at);
}

/* The members of an object whose bracket was read. */
static bool
read_listed(struct json *j, struct listed *l)
{
	enum json_token t;

	l->file.len = l->mode.len = 0;
	l->batch = -1;
	while ((t = json_next(j)) == JSON_T_KEY) {
		struct str key = j->raw;

		t = json_next(j);
		if (str_eq(key, STR("file")) && t == JSON_T_STRING) {
			if (!text_into(&l->file, j))
				return false;
		} else if (str_eq(key, STR("mode")) && t == JSON_T_STRING) {
			if (!text_into(&l->mode, j))
				return false;
		} else if (str_eq(key, STR("batch_size")) &&
		    t == JSON_T_NUMBER) {
			if (!num_i64(j->raw, &l->batch))
				l->batch = -1;
		} else if (t == JSON_T_OBJECT || t == JSON_T_ARRAY) {
			if (json_skip(j) != JSON_OK)
				return false;
		} else if (t <= JSON_T_END) {
			return false;
		}
	}
	return t == JSON_T_OBJECT_END;
}

static void
take_listed(struct captures *c, const char *dir, const struct listed *l,
    const char *index)
{
	struct str file = buf_str(&l->file);
	char *path;

	/* a list from elsewhere names files of this folder, no others */
	if (file.len == 0 || str_find(file, STR("/"), false) >= 0 ||
	    memchr(file.p, '\0', file.len) != NULL) {
		report(MSG_CAPTURE_NAMELESS, index);
		return;
	}
	path = join(dir, file);
	if (!is_file(path)) {
		report(MSG_CAPTURE_MISSING, index, path);
		free(path);
		return;
	}
	if (l->batch < 0)
		report(MSG_CAPTURE_NO_BATCH, index, path);
	(void)add_file(c, path, l->batch, buf_str(&l->mode));
}

bool
captures_list(
    const void *p, size_t n, listed_fn *tell, void *arg, struct json *j)
{
	struct listed l = { 0 };
	enum json_token t = JSON_T_BAD;
	bool ok = true;

	json_start(j, p, n);
	if (json_bom(j) != JSON_OK || json_next(j) != JSON_T_ARRAY)
		return false;
	while (ok && (t = json_next(j)) == JSON_T_OBJECT) {
		ok = read_listed(j, &l);
		if (ok)
			tell(arg, &l);
	}
	buf_free(&l.file);
	buf_free(&l.mode);
	return ok && t == JSON_T_ARRAY_END;
}

struct index_of {
	struct captures *c;
	const char *dir, *path;
};

static void
hear_listed(void *arg, const struct listed *l)
{
	const struct index_of *x = arg;

	take_listed(x->c, x->dir, l, x->path);
}

static void
read_index(struct captures *c, const char *dir, const char *index)
{
	struct index_of x = { c, dir, index };
	struct in *in = in_open(index);
	struct json j;

	while (in_more(in))
		;
	if (!captures_list(
		in->p, (size_t)(in->end - in->p), hear_listed, &x, &j))
		die_index(index, &j, in->p);
	in_close(in);
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

		/* a single one is read when a launch asks for it */
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

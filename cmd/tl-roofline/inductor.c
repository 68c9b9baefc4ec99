/* SPDX-License-Identifier: MIT */
/* Sources of Triton kernels, from files that torch.compile leaves. */
#include <stdlib.h>

#include "cmd/tl-roofline/inductor.h"
#include "io/io.h"

#define FILE_MAX (UINT64_C(16) << 20) /* bytes read of a file */

struct inductor {
	struct arena *mem;
	struct intern *names;    /* of kernels */
	VEC(struct str) sources; /* parallel */
};

struct inductor *
inductor_create(void)
{
	struct inductor *in = xcalloc(1, sizeof *in);

	in->mem = arena_create();
	in->names = intern_create();
	return in;
}

void
inductor_free(struct inductor *in)
{
	if (in == NULL)
		return;
	vec_free(&in->sources);
	intern_destroy(in->names);
	arena_destroy(in->mem);
	free(in);
}

/* ---- a file ---- */

static struct str
from(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.len - at };
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_';
}

/* The word before " = " at the end of the text, or empty. */
static struct str
assigned(struct str text)
{
	size_t start, end = text.len;

	while (end > 0 && text.p[end - 1] == ' ')
		end--;
	if (end == 0 || text.p[--end] != '=')
		return STR("");
	while (end > 0 && text.p[end - 1] == ' ')
		end--;
	for (start = end; start > 0 && is_word(text.p[start - 1]);)
		start--;
	if (start > 0 && text.p[start - 1] != '\n')
		return STR("");
	return (struct str){ text.p + start, end - start };
}

void
inductor_parse(struct inductor *in, struct str text)
{
	static const struct str call = STR_INIT("async_compile.triton(");
	static const struct str end = STR_INIT("''', device_str=");
	size_t last = 0, at = 0;
	ptrdiff_t found, len;

	while ((found = str_find(from(text, at), call, false)) >= 0) {
		struct str name =
		    assigned((struct str){ text.p, at + (size_t)found });
		uint32_t id;

		at += (size_t)found + call.len;
		if (!str_starts(name, STR("triton_")))
			continue;
		len = str_find(from(text, at), end, false);
		if (len < 0)
			return;
		id = intern_put(in->names, name);
		if (id == in->sources.n)
			vec_push(&in->sources,
			    arena_str(in->mem,
				(struct str){
				    text.p + last, at + (size_t)len - last }));
		last = at += (size_t)len;
	}
}

/* ---- folders ---- */

static void
read_file(void *arg, const char *path)
{
	struct inductor *in = arg;
	struct in *file = in_open(path);

	while (in_more(file))
		if ((uint64_t)(file->end - file->p) > FILE_MAX)
			break;
	inductor_parse(in,
	    (struct str){
		(const char *)file->p, (size_t)(file->end - file->p) });
	in_close(file);
}

static bool
is_python(struct str name)
{
	return str_ends(name, STR(".py"));
}

size_t
inductor_read(struct inductor *in, const char *dir)
{
	io_find_files(dir, is_python, read_file, in);
	return in->sources.n;
}

bool
inductor_source(
    const struct inductor *in, struct str kernel, struct str *source)
{
	uint32_t id =
	    intern_find(in->names, kernel, hash_bytes(kernel.p, kernel.len));

	if (id >= in->sources.n)
		return false;
	*source = in->sources.v[id];
	return true;
}

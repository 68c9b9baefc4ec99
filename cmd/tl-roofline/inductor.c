/* SPDX-License-Identifier: MIT */
/* Facts of Triton kernels, out of the files that torch.compile leaves. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/tl-roofline/inductor.h"
#include "io/io.h"

#define DEPTH_MAX 16 /* folders in folders */
#define FILE_MAX                                                     \
	(UINT64_C(16) << 20) /* bytes of a file; longer ones: passed \
	                      */
#define PAIRS_MAX 256        /* sizes or pointers of a kernel */

enum fact { FACT_OPS, FACT_SIZES, FACT_POINTERS, FACTS };
static const char *const keys[FACTS] = { INDUCTOR_PREFIX "ops",
	INDUCTOR_PREFIX "sizes", INDUCTOR_PREFIX "pointers" };

struct kernel {
	struct str facts[FACTS]; /* len 0: unknown */
};

struct inductor {
	struct arena *mem;
	struct intern *names;       /* of kernels */
	VEC(struct kernel) kernels; /* parallel */
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
	vec_free(&in->kernels);
	intern_destroy(in->names);
	arena_destroy(in->mem);
	free(in);
}

/* ---- pieces of text ---- */

static struct str
from(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.len - at };
}

/* What lies between two texts, from the first one on; false: it isn't there. */
static bool
between(struct str s, struct str begin, struct str end, struct str *out)
{
	ptrdiff_t at = str_find(s, begin, false), stop;

	if (at < 0)
		return false;
	s = from(s, (size_t)at + begin.len);
	stop = str_find(s, end, false);
	if (stop < 0)
		return false;
	*out = (struct str){ s.p, (size_t)stop };
	return true;
}

static struct str
trimmed(struct str s)
{
	static const char around[] = " \t\r\n'\"";

	while (s.len > 0 && memchr(around, s.p[0], sizeof around - 1) != NULL)
		s = from(s, 1);
	while (s.len > 0 &&
	    memchr(around, s.p[s.len - 1], sizeof around - 1) != NULL)
		s.len--;
	return s;
}

/* The next piece up to a comma; false: there is none. */
static bool
next_piece(struct str *s, struct str *piece)
{
	const char *comma;

	if (s->len == 0)
		return false;
	comma = memchr(s->p, ',', s->len);
	*piece = (struct str){ s->p,
		comma != NULL ? (size_t)(comma - s->p) : s->len };
	*s = from(*s, piece->len + (comma != NULL));
	return true;
}

/* ---- the facts of one kernel ---- */

/* "'x': 32768, 'r0_': 2048" as "x=32768 r0_=2048"; only values that begin so.
 */
static void
put_pairs(struct buf *b, struct str list, char first)
{
	struct str piece;
	size_t n = 0;

	while (n < PAIRS_MAX && next_piece(&list, &piece)) {
		const char *colon = memchr(piece.p, ':', piece.len);
		struct str name, val;

		if (colon == NULL)
			continue;
		name =
		    trimmed((struct str){ piece.p, (size_t)(colon - piece.p) });
		val = trimmed(from(piece, (size_t)(colon - piece.p) + 1));
		if (name.len == 0 || val.len == 0 ||
		    (first != '\0' && val.p[0] != first))
			continue;
		buf_printf(b, "%s%.*s=%.*s", n++ > 0 ? " " : "", (int)name.len,
		    name.p, (int)val.len, val.p);
	}
}

/* {'x': 8, 'r0_': 4}, or as older releases write it [8, 4]. */
static void
put_sizes(struct buf *b, struct str block)
{
	struct str list, piece;
	size_t n = 0;

	if (between(block, STR("size_hints={"), STR("}"), &list)) {
		put_pairs(b, list, '\0');
		return;
	}
	if (!between(block, STR("size_hints=["), STR("]"), &list))
		return;
	while (n < 2 && next_piece(&list, &piece)) {
		piece = trimmed(piece);
		buf_printf(
		    b, "%s=%.*s", n == 0 ? "x" : " r", (int)piece.len, piece.p);
		n++;
	}
}

static struct str
keep(struct inductor *in, const struct buf *b)
{
	return arena_str(in->mem, buf_str(b));
}

/* before: what stands between the kernel before and this one. */
static void
add_kernel(
    struct inductor *in, struct str name, struct str before, struct str block)
{
	struct buf b = { 0 };
	struct kernel k = { 0 };
	struct str list;
	uint32_t id = intern_put(in->names, name);

	if (id < in->kernels.n)
		return;
	if (between(before, STR("Original ATen: ["), STR("]"), &list))
		k.facts[FACT_OPS] = arena_str(in->mem, list);
	put_sizes(&b, block);
	k.facts[FACT_SIZES] = keep(in, &b);
	b.len = 0;
	if (between(block, STR("'signature': {"), STR("}"), &list))
		put_pairs(&b, list, '*');
	k.facts[FACT_POINTERS] = keep(in, &b);
	buf_free(&b);
	vec_push(&in->kernels, k);
}

/* ---- a file ---- */

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_';
}

/* The next "\ntriton_NAME = async_compile.triton(" from at on: where it begins
 * and ends, and the name. */
static bool
next_kernel(
    struct str text, size_t at, size_t *begin, size_t *end, struct str *name)
{
	static const struct str call = { "async_compile.triton(", 21 };
	ptrdiff_t found;

	while ((found = str_find(from(text, at), call, false)) >= 0) {
		size_t stop = at + (size_t)found, to = stop, start;

		at = stop + call.len;
		while (to > 0 && text.p[to - 1] == ' ')
			to--;
		if (to == 0 || text.p[--to] != '=')
			continue;
		while (to > 0 && text.p[to - 1] == ' ')
			to--;
		for (start = to; start > 0 && is_word(text.p[start - 1]);)
			start--;
		*name = (struct str){ text.p + start, to - start };
		if ((start > 0 && text.p[start - 1] != '\n') ||
		    !str_starts(*name, STR("triton_")))
			continue;
		*begin = start;
		*end = at;
		return true;
	}
	return false;
}

void
inductor_parse(struct inductor *in, struct str text)
{
	size_t last = 0, at = 0, begin, end;
	struct str name;

	while (next_kernel(text, at, &begin, &end, &name)) {
		ptrdiff_t stop =
		    str_find(from(text, end), STR("''', device_str="), false);

		if (stop < 0)
			return;
		add_kernel(in, name,
		    (struct str){ text.p + last, begin - last },
		    (struct str){ text.p + end, (size_t)stop });
		last = begin;
		at = end;
	}
}

/* ---- folders ---- */

static void
read_file(struct inductor *in, const char *path)
{
	struct in *file = in_open(path);

	while (in_more(file))
		if ((uint64_t)(file->end - file->p) > FILE_MAX)
			break;
	inductor_parse(in,
	    (struct str){
		(const char *)file->p, (size_t)(file->end - file->p) });
	in_close(file);
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool
is_python(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, ".py") == 0;
}

/* Links to folders are not followed: they may lead round. */
static void
read_folder(struct inductor *in, const char *dir, int depth)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, NULL, by_name);

	if (n < 0)
		die_errno("%s", dir);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		struct buf path = { 0 };
		struct stat st;

		buf_printf(&path, "%s/%s", dir, name);
		buf_putc(&path, '\0');
		if (name[0] != '.' && lstat(path.p, &st) == 0) {
			if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
				read_folder(in, path.p, depth + 1);
			else if (S_ISREG(st.st_mode) && is_python(name))
				read_file(in, path.p);
		}
		buf_free(&path);
		free(list[i]);
	}
	free(list);
}

size_t
inductor_read(struct inductor *in, const char *dir)
{
	read_folder(in, dir, 0);
	return in->kernels.n;
}

bool
inductor_fact(const struct inductor *in, struct str kernel, struct str key,
    struct str *fact)
{
	uint32_t id =
	    intern_find(in->names, kernel, hash_bytes(kernel.p, kernel.len));

	for (size_t i = 0; id < in->kernels.n && i < FACTS; i++)
		if (str_eq(key, str_of(keys[i]))) {
			*fact = in->kernels.v[id].facts[i];
			return fact->len > 0;
		}
	return false;
}

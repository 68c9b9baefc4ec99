/* SPDX-License-Identifier: MIT */
/*
 * A zip archive, as attached to issues: a member that begins like a trace in
 * JSON or a database is read in its place; of several each is a source. minizip
 * inflates.
 */
#include "cmd/tl-decode/format.h"
#include "cmd/tl-decode/json/trace.h"
#include "cmd/tl-decode/repair.h"

#include <stdio.h>

#ifdef HAVE_MINIZIP

#include <unzip.h>
#include <zlib.h>

#define ENCRYPTED 1
/* Bytes of a member that are looked at. */
#define MEMBER_HEAD (1 << 20)

static size_t
inflate_some(void *arg, void *dst, size_t n, const char **fault)
{
	unzFile zip = arg;
	int got = unzReadCurrentFile(
	    zip, dst, (unsigned)(n < INT32_MAX ? n : INT32_MAX));

	if (got < 0)
		*fault = "zip data are damaged";
	else if (got == 0 && !unzeof(zip))
		*fault = "zip data end too early";
	else if (got == 0 && unzCloseCurrentFile(zip) != UNZ_OK)
		*fault = "zip data are damaged: wrong checksum";
	return got > 0 ? (size_t)got : 0;
}

/* A member to read: its places in the directory and in the file. */
struct member {
	unz64_file_pos pos;
	uint64_t start, end;
	char *name;
};

struct archive {
	unzFile zip;
	const char *path; /* its name */
	VEC(struct member) members;
	const char *why; /* why the last unreadable one is so */
	uint64_t nunread;
	struct member spare; /* first JSON without events so far */
	uint64_t at;         /* start of the current member's bytes */
	char *head;
};

/* What a member is, by its first bytes. */
enum is {
	IS_OTHER,
	IS_PACKED, /* compressed again */
	IS_JSON,   /* a trace or not */
	IS_TRACE,
};

/* JSON with a list of events under a key, or a list of objects. */
static bool
has_events(struct str s)
{
	struct str key;

	if (json_first(s) == '[') {
		size_t i =
		    (size_t)((const char *)memchr(s.p, '[', s.len) - s.p) + 1;

		while (i < s.len && memchr(" \t\r\n", s.p[i], 4) != NULL)
			i++;
		return i < s.len && s.p[i] == '{';
	}
	for (const char *p = s.p; p < s.p + s.len; p++) {
		const char *end = s.p + s.len, *quote;

		p = memchr(p, '"', (size_t)(end - p));
		if (p == NULL)
			break;
		quote = memchr(p + 1, '"', (size_t)(end - p - 1));
		if (quote == NULL)
			break;
		key = (struct str){ p + 1, (size_t)(quote - p - 1) };
		if (format_of_key(key) != NULL)
			return true;
	}
	return false;
}

static enum is
begins_as(struct archive *a)
{
	static const char database[] = "SQLite format 3";
	struct str s = { a->head, 0 };
	int n;

	while (s.len < MEMBER_HEAD &&
	    (n = unzReadCurrentFile(
		 a->zip, a->head + s.len, (unsigned)(MEMBER_HEAD - s.len))) > 0)
		s.len += (size_t)n;
	if (s.len >= sizeof database &&
	    memcmp(s.p, database, sizeof database) == 0)
		return IS_TRACE;
	if (s.len > 4 &&
	    (memcmp(s.p, "\x1f\x8b", 2) == 0 || memcmp(s.p, "PK\3\4", 4) == 0 ||
		memcmp(s.p, "\x28\xb5\x2f\xfd", 4) == 0))
		return IS_PACKED;
	memset(a->head + s.len, 0, IN_PAD);
	if (json_first(s) != '{' && json_first(s) != '[')
		return IS_OTHER;
	return has_events(s) || s.len == MEMBER_HEAD ? IS_TRACE : IS_JSON;
}

static struct member
member_here(const struct archive *a, const unz_file_info64 *info)
{
	size_t len = info->size_filename;
	struct member m = {
		.start = a->at,
		.end = a->at + info->compressed_size,
		.name = xcalloc(1, len + 1),
	};

	if (unzGetFilePos64(a->zip, &m.pos) != UNZ_OK ||
	    unzGetCurrentFileInfo64(
		a->zip, NULL, m.name, len, NULL, 0, NULL, 0) != UNZ_OK ||
	    strlen(m.name) != len)
		die("%s: the zip directory is damaged", a->path);
	return m;
}

static void
cannot_look(struct archive *a, const char *why)
{
	a->why = why;
	a->nunread++;
}

/* Looks into the directory's current member. */
static void
look_into(struct archive *a)
{
	unz_file_info64 info;

	if (unzGetCurrentFileInfo64(a->zip, &info, NULL, 0, NULL, 0, NULL, 0) !=
	    UNZ_OK)
		die("%s: the zip directory is damaged", a->path);
	if (info.flag & ENCRYPTED) {
		cannot_look(a, "encrypted");
	} else if (info.compression_method != 0 &&
	    info.compression_method != Z_DEFLATED) {
		cannot_look(a, "in a compression other than deflate");
	} else if (unzOpenCurrentFile(a->zip) != UNZ_OK) {
		die("%s: the zip archive is damaged: no member where its "
		    "directory points",
		    a->path);
	} else {
		enum is is;

		a->at = unzGetCurrentFileZStreamPos64(a->zip);
		is = begins_as(a);
		if (is == IS_TRACE)
			vec_push(&a->members, member_here(a, &info));
		else if (is >= IS_JSON && a->spare.name == NULL)
			a->spare = member_here(a, &info);
		if (is == IS_PACKED)
			cannot_look(a, "compressed twice");
	}
}

static int
by_start(const void *pa, const void *pb)
{
	const struct member *const *a = pa, *const *b = pb;

	return ((*a)->start > (*b)->start) - ((*a)->start < (*b)->start);
}

/* Members that overlap in the file make a zip bomb. */
static void
check_overlap(const struct archive *a)
{
	VEC(const struct member *) sorted = { 0 };

	for (size_t i = 0; i < a->members.n; i++)
		vec_push(&sorted, &a->members.v[i]);
	qsort(sorted.v, sorted.n, sizeof *sorted.v, by_start);
	for (size_t i = 1; i < sorted.n; i++)
		if (sorted.v[i]->start < sorted.v[i - 1]->end ||
		    sorted.v[i - 1]->end < sorted.v[i - 1]->start)
			die("%s: the zip archive is damaged: members overlap",
			    a->path);
	vec_free(&sorted);
}

static void
list_members(struct archive *a)
{
	int rc;

	for (rc = unzGoToFirstFile(a->zip); rc == UNZ_OK;
	     rc = unzGoToNextFile(a->zip))
		look_into(a);
	if (rc != UNZ_END_OF_LIST_OF_FILE)
		die("%s: the zip directory is damaged", a->path);
	if (a->why != NULL && a->members.n == 0)
		die("%s: a zip member is %s: unpack the archive", a->path,
		    a->why);
	if (a->why != NULL)
		report(MSG_MEMBERS_UNREAD, a->path, a->nunread, a->why);
	if (a->members.n == 0 && a->spare.name != NULL) {
		vec_push(&a->members, a->spare);
		return;
	}
	if (a->members.n == 0)
		die("%s: the zip archive has no member with JSON or a database",
		    a->path);
	if (a->members.n > 1)
		check_overlap(a);
}

static void
set_inner(struct source_state *s, const struct archive *a, const char *name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/%s", a->path, name);
	buf_putc(&b, '\0');
	vec_release(s->inner);
	s->path = s->inner = b.p;
}

/* A single member stands for the archive; of several each is a source. */
static void
read_member(struct source_state *s, struct archive *a, size_t i)
{
	const struct member *m = &a->members.v[i];
	bool is_alone = a->members.n == 1;

	if (unzGoToFilePos64(a->zip, &m->pos) != UNZ_OK ||
	    unzOpenCurrentFile(a->zip) != UNZ_OK)
		die("%s: zip data are damaged", a->path);
	if (!is_alone)
		set_inner(s, a, m->name);
	s->in =
	    in_open_filter(inflate_some, a->zip, is_alone ? a->path : s->inner);
	in_tolerate(s->in);
	s->is_inside = true;
	if (!is_alone) {
		s->src += i > 0;
		source_again(s);
	}
	repair_read(s);
	if (i + 1 == a->members.n)
		return;
	source_end(s);
	source_release(s);
	in_close(s->in);
}

static void
read_file(struct source_state *s, int fd)
{
	struct in *outer = s->in;
	struct archive a = {
		.path = outer->name,
		.head = xcalloc(1, MEMBER_HEAD + IN_PAD),
	};
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	a.zip = unzOpen64(path);
	if (a.zip == NULL)
		die("%s: the zip archive has no directory: it is cut off or "
		    "empty",
		    outer->name);
	list_members(&a);
	vec_release(a.head);
	for (size_t i = 0; i < a.members.n; i++)
		read_member(s, &a, i);
	in_close(s->in);
	s->in = outer;
	if (s->inner != NULL) /* later messages are about the last one */
		outer->name = s->inner;
	for (size_t i = 0; i < a.members.n; i++)
		vec_release(a.members.v[i].name);
	if (a.spare.name != a.members.v[0].name)
		vec_release(a.spare.name);
	vec_free(&a.members);
	unzClose(a.zip);
}

#else

static void
read_file(struct source_state *s, int fd)
{
	(void)fd;
	die("%s: a zip archive: this build lacks minizip", s->in->name);
}

#endif

/* A member, or the end of an empty archive. */
static enum sniff
sniff(struct str head, const char *path)
{
	(void)path;
	return str_starts(head, STR("PK\3\4")) ||
		str_starts(head, STR("PK\5\6"))
	    ? SNIFF_SURE
	    : SNIFF_NO;
}

const struct format zip_format = {
	.name = "zip",
	.sniff = sniff,
	.read_file = read_file,
	.can_salvage = true,
};

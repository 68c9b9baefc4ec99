/* SPDX-License-Identifier: MIT */
/*
 * A zip archive, as files are attached to issues: its first member that begins
 * as JSON or a database does is read in its place. minizip finds and inflates
 * it.
 */
#include "cmd/tl-decode/format.h"

#include <stdio.h>

#ifdef HAVE_MINIZIP

#include <unzip.h>
#include <zlib.h>

#define ENCRYPTED 1

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

static bool
begins_as_trace(unzFile zip)
{
	static const char database[] = "SQLite format 3";
	char head[256];
	int n = unzReadCurrentFile(zip, head, sizeof head), i = 0;

	if (n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	if (n >= (int)sizeof database &&
	    memcmp(head, database, sizeof database) == 0)
		return true;
	while (i < n && memchr(" \t\r\n", head[i], 4) != NULL)
		i++;
	return i < n && (head[i] == '{' || head[i] == '[');
}

/* Opens the member; NULL, or why there is none. */
static const char *
open_member(unzFile zip)
{
	const char *why = "the zip archive has no member with JSON or "
			  "a database";
	unz_file_info64 info;

	for (int rc = unzGoToFirstFile(zip); rc == UNZ_OK;
	     rc = unzGoToNextFile(zip)) {
		if (unzGetCurrentFileInfo64(
			zip, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK)
			return "the zip directory is damaged";
		if (info.flag & ENCRYPTED)
			why = "a zip member is encrypted";
		else if (info.compression_method != 0 &&
		    info.compression_method != Z_DEFLATED)
			why = "a zip member is packed in another way than "
			      "deflate";
		else if (unzOpenCurrentFile(zip) != UNZ_OK)
			return "the zip archive is damaged: no member where "
			       "the directory says";
		else if (begins_as_trace(zip)) /* from its first byte on */
			return unzOpenCurrentFile(zip) == UNZ_OK
			    ? NULL
			    : "zip data are damaged";
	}
	return why;
}

static void
read_file(struct source_state *s, int fd)
{
	struct in *outer = s->in;
	const char *problem;
	char path[64];
	unzFile zip;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	zip = unzOpen64(path);
	if (zip == NULL)
		die("%s: the zip archive has no directory: it is cut off or "
		    "empty",
		    outer->name);
	problem = open_member(zip);
	if (problem != NULL)
		die("%s: %s", outer->name, problem);
	s->in = in_open_filter(inflate_some, zip, outer->name);
	in_tolerate(s->in);
	s->is_inside = true;
	format_read(s);
	in_close(s->in);
	s->in = outer;
	unzClose(zip);
}

#else

static void
read_file(struct source_state *s, int fd)
{
	(void)fd;
	die("%s: a zip archive, which this build does not read: it lacks "
	    "minizip",
	    s->in->name);
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

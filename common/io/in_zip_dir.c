/* SPDX-License-Identifier: MIT */
/*
 * The central directory of a zip archive, at its end.
 *
 *	members ... | entries ... | [end, 64 bits] [locator] | end [comment]
 */
#include <stdlib.h>

#include "io/in_zip.h"

#define END_SIZE ((size_t)22)
#define LOCATOR_SIZE ((size_t)20)
#define END64_SIZE ((size_t)56)
#define COMMENT_MAX ((size_t)65535)
#define ENTRY_SIZE ((size_t)46)
/* Some half a million members: no profiler writes that. */
#define DIR_MAX ((uint64_t)64 << 20)

bool
zip_wide(const unsigned char *extra, size_t len, uint64_t *plain,
    uint64_t *packed, uint64_t *at)
{
	uint64_t *wide[3] = { plain, packed, at };
	bool is_wanted = false;

	for (int i = 0; i < 3; i++)
		is_wanted |= wide[i] != NULL && *wide[i] == UINT32_MAX;
	while (is_wanted && len >= 4) {
		size_t n = zip_u16(extra + 2);
		const unsigned char *p = extra + 4;

		if (n > len - 4)
			return false;
		if (zip_u16(extra) != 1) {
			extra += 4 + n;
			len -= 4 + n;
			continue;
		}
		for (int i = 0; i < 3; i++) {
			if (wide[i] == NULL || *wide[i] != UINT32_MAX)
				continue;
			if (n < 8)
				return false;
			*wide[i] = zip_u64(p);
			p += 8;
			n -= 8;
		}
		return true;
	}
	return !is_wanted;
}

struct place {
	uint64_t at, len, n;
};

/* The end record of 64 bits, where a locator points to one. */
static const char *
read_end64(const struct in_raw *raw, uint64_t end, struct place *dir)
{
	unsigned char b[END64_SIZE];
	uint64_t at;

	if (end < LOCATOR_SIZE ||
	    raw_pread(raw, b, LOCATOR_SIZE, end - LOCATOR_SIZE) !=
		LOCATOR_SIZE ||
	    memcmp(b, "PK\6\7", 4) != 0)
		return NULL;
	at = zip_u64(b + 8);
	if (raw_pread(raw, b, END64_SIZE, at) != END64_SIZE ||
	    memcmp(b, "PK\6\6", 4) != 0)
		return "the zip directory is damaged: no end record where the "
		       "locator says";
	dir->n = zip_u64(b + 32);
	dir->len = zip_u64(b + 40);
	dir->at = zip_u64(b + 48);
	return NULL;
}

/* The end record is the last one whose comment reaches the file's end. */
static const char *
find_dir(const struct in_raw *raw, struct place *dir, uint64_t *where)
{
	size_t most = END_SIZE + COMMENT_MAX;
	size_t n = raw->size < most ? (size_t)raw->size : most;
	unsigned char *tail = xmalloc(n + 1);
	const char *error = "";
	size_t i;

	if (raw_pread(raw, tail, n, raw->size - n) != n)
		n = 0;
	for (i = n >= END_SIZE ? n - END_SIZE + 1 : 0; i-- > 0;) {
		const unsigned char *p = tail + i;

		if (memcmp(p, "PK\5\6", 4) != 0 ||
		    zip_u16(p + 20) != n - i - END_SIZE)
			continue;
		dir->n = zip_u16(p + 10);
		dir->len = zip_u32(p + 12);
		dir->at = zip_u32(p + 16);
		*where = raw->size - n + i;
		error = read_end64(raw, *where, dir);
		break;
	}
	free(tail);
	return error;
}

/* The entry at p; its length, or 0 if it is none. */
static size_t
read_entry(const unsigned char *p, size_t len, struct zip_member *m)
{
	size_t name, extra, comment;

	if (len < ENTRY_SIZE || memcmp(p, "PK\1\2", 4) != 0)
		return 0;
	name = zip_u16(p + 28);
	extra = zip_u16(p + 30);
	comment = zip_u16(p + 32);
	if (name + extra + comment > len - ENTRY_SIZE)
		return 0;
	*m = (struct zip_member){
		.at = zip_u32(p + 42),
		.packed = zip_u32(p + 20),
		.plain = zip_u32(p + 24),
		.crc = zip_u32(p + 16),
		.method = (uint16_t)zip_u16(p + 10),
		.flags = (uint16_t)zip_u16(p + 8),
		.name = { (const char *)p + ENTRY_SIZE, name },
	};
	if (!zip_wide(
		p + ENTRY_SIZE + name, extra, &m->plain, &m->packed, &m->at))
		return 0;
	return ENTRY_SIZE + name + extra + comment;
}

static int
by_name(const void *x, const void *y)
{
	const struct zip_member *a = x, *b = y;
	int c = str_cmp(a->name, b->name);

	if (c != 0)
		return c;
	return a->at < b->at ? -1 : a->at > b->at;
}

const char *
zip_dir_read(struct zip_dir *dir, const struct in_raw *raw, uint64_t *where)
{
	struct place place = { 0 };
	const char *error = find_dir(raw, &place, where);
	size_t at = 0, n;

	if (error != NULL)
		return error;
	if (place.at > *where || place.len > *where - place.at ||
	    place.len > DIR_MAX)
		return "the zip directory is damaged: it can't lie where its "
		       "end record says";
	*where = place.at;
	dir->bytes = xmalloc((size_t)place.len + 1);
	if (raw_pread(raw, dir->bytes, (size_t)place.len, place.at) !=
	    place.len)
		return "the zip directory can't be read";
	while (at < place.len) {
		n = read_entry(dir->bytes + at, (size_t)place.len - at,
		    vec_add(&dir->members));
		*where = place.at + at;
		if (n == 0)
			return "the zip directory is damaged";
		at += n;
	}
	if (dir->members.n > 0)
		qsort(dir->members.v, dir->members.n, sizeof *dir->members.v,
		    by_name);
	return NULL;
}

void
zip_dir_free(struct zip_dir *dir)
{
	vec_free(&dir->members);
	free(dir->bytes);
	dir->bytes = NULL;
}

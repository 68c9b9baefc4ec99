/* SPDX-License-Identifier: MIT */
/* What the parts of the zip reader share: private to in_zip*.c. */
#ifndef TL_IO_IN_ZIP_H
#define TL_IO_IN_ZIP_H

#include "io/in_priv.h"

#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#define ZIP_LOCAL_SIZE 30
#define ZIP_UNKNOWN UINT64_MAX

enum {
	ZIP_ENCRYPTED = 1 << 0,
	ZIP_DESCRIPTOR = 1 << 3, /* sizes and checksum stand behind the data */
};

enum {
	ZIP_STORED = 0,
	ZIP_DEFLATED = 8,
};

struct zip_member {
	uint64_t at; /* of its local header */
	uint64_t packed, plain;
	uint32_t crc;
	uint16_t method, flags;
	struct str name; /* inside the directory */
};

/* The members of the central directory, by name. */
struct zip_dir {
	VEC(struct zip_member) members;
	unsigned char *bytes;
};

static inline uint32_t
zip_u16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t
zip_u32(const unsigned char *p)
{
	return zip_u16(p) | zip_u16(p + 2) << 16;
}

static inline uint64_t
zip_u64(const unsigned char *p)
{
	return zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32;
}

/* Puts the sizes of 64 bits into those that have no room in 32. False when
 * they are missing. */
bool zip_wide(const unsigned char *extra, size_t len, uint64_t *plain,
    uint64_t *packed, uint64_t *at) USE_RESULT;

/*
 * Reads the central directory. NULL, or what is wrong with it and where; the
 * text "" means that there is none: the archive was cut off.
 */
const char *zip_dir_read(
    struct zip_dir *dir, const struct in_raw *raw, uint64_t *where);
void zip_dir_free(struct zip_dir *dir);

/* ---- in_zip_raw.c ---- */

/* The state of one member's inflation; zeroes to start with. */
struct zip_inflate {
#ifdef HAVE_ISAL
	struct inflate_state z;
#else
	z_stream z;
#endif
};

enum said {
	SAID_MORE,
	SAID_END,
	SAID_BAD,
};

/* Begins with a member's data, the first or another. */
void zip_inflate_start(struct zip_inflate *s);
void zip_inflate_stop(struct zip_inflate *s);
/* Both cursors move. Behind the end *in is the first byte that is no data. */
enum said zip_inflate_some(struct zip_inflate *s, const unsigned char **in,
    size_t nin, unsigned char **out, size_t nout);
uint32_t zip_crc_add(uint32_t crc, const unsigned char *p, size_t n);

#endif

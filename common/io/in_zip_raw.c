/* SPDX-License-Identifier: MIT */
/* Raw deflate, by ISA-L where it is there, else by zlib. */
#include "io/in_zip.h"

#ifdef HAVE_ISAL

void
zip_inflate_start(struct zip_inflate *s)
{
	isal_inflate_init(&s->z);
	s->z.crc_flag = ISAL_DEFLATE;
}

void
zip_inflate_stop(struct zip_inflate *s)
{
	(void)s;
}

uint32_t
zip_crc_add(uint32_t crc, const unsigned char *p, size_t n)
{
	return crc32_gzip_refl(crc, p, n);
}

enum said
zip_inflate_some(struct zip_inflate *s, const unsigned char **in, size_t nin,
    unsigned char **out, size_t nout)
{
	int rc;

	s->z.next_in = (unsigned char *)(uintptr_t)*in;
	s->z.avail_in = (uint32_t)nin;
	s->z.next_out = *out;
	s->z.avail_out = (uint32_t)nout;
	rc = isal_inflate(&s->z);
	*in = s->z.next_in;
	*out = s->z.next_out;
	if (rc != ISAL_DECOMP_OK && rc != ISAL_END_INPUT &&
	    rc != ISAL_OUT_OVERFLOW)
		return SAID_BAD;
	if (s->z.block_state != ISAL_BLOCK_FINISH)
		return SAID_MORE;
	/* what it has taken in beyond the end: always bytes just before */
	*in -= s->z.read_in_length / 8;
	s->z.read_in_length = 0;
	return SAID_END;
}

#else

void
zip_inflate_start(struct zip_inflate *s)
{
	if (s->z.state != NULL)
		inflateReset(&s->z);
	else if (inflateInit2(&s->z, -15) != Z_OK)
		die("zlib: out of memory");
}

void
zip_inflate_stop(struct zip_inflate *s)
{
	if (s->z.state != NULL)
		inflateEnd(&s->z);
}

uint32_t
zip_crc_add(uint32_t crc, const unsigned char *p, size_t n)
{
	return (uint32_t)crc32(crc, p, (uInt)n);
}

enum said
zip_inflate_some(struct zip_inflate *s, const unsigned char **in, size_t nin,
    unsigned char **out, size_t nout)
{
	int rc;

	s->z.next_in = (unsigned char *)(uintptr_t)*in;
	s->z.avail_in = (uInt)nin;
	s->z.next_out = *out;
	s->z.avail_out = (uInt)nout;
	rc = inflate(&s->z, Z_NO_FLUSH);
	*in = s->z.next_in;
	*out = s->z.next_out;
	if (rc == Z_STREAM_END)
		return SAID_END;
	return rc == Z_OK || rc == Z_BUF_ERROR ? SAID_MORE : SAID_BAD;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The header of a gzip member (RFC 1952), byte by byte.
 *
 *	1f 8b 08 FLAGS MTIME(4) XFL OS
 *	[LEN(2) EXTRA] [NAME 00] [COMMENT 00] [CRC16]
 *
 * ISA-L would read headers too, but its 2.30 takes a right CRC16 for wrong.
 */
#include "io/in_priv.h"

enum {
	FLAG_CRC = 2,
	FLAG_EXTRA = 4,
	FLAG_NAME = 8,
	FLAG_COMMENT = 16,
	FLAGS_UNKNOWN = 0xe0,
};

enum {
	FIXED,
	EXTRA_LEN,
	EXTRA,
	NAME,
	COMMENT,
	CRC,
	DONE,
};

/* The CRC of gzip, a bit at a time: headers are short. */
static uint32_t
crc_byte(uint32_t crc, unsigned char c)
{
	crc ^= c;
	for (int i = 0; i < 8; i++)
		crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
	return crc;
}

void
gzip_head_start(struct gzip_head *h)
{
	*h = (struct gzip_head){ .crc = 0xffffffffU };
}

/* To the next field that this header has. */
static void
next_field(struct gzip_head *h)
{
	static const unsigned flag[] = {
		[EXTRA_LEN] = FLAG_EXTRA,
		[EXTRA] = FLAG_EXTRA,
		[NAME] = FLAG_NAME,
		[COMMENT] = FLAG_COMMENT,
		[CRC] = FLAG_CRC,
	};

	do
		h->field++;
	while (h->field < DONE && (h->flags & flag[h->field]) == 0);
	h->at = 0;
	if (h->field == EXTRA && h->extra == 0)
		next_field(h);
}

static enum gzip_said
fixed_byte(struct gzip_head *h, unsigned char c)
{
	if ((h->at == 0 && c != 0x1f) || (h->at == 1 && c != 0x8b))
		return GZIP_BAD_DATA;
	if (h->at == 2 && c != 8)
		return GZIP_BAD_METHOD;
	if (h->at == 3 && (c & FLAGS_UNKNOWN) != 0)
		return GZIP_BAD_METHOD;
	if (h->at == 3)
		h->flags = c;
	if (++h->at == 10)
		next_field(h);
	return GZIP_GOES_ON;
}

static enum gzip_said
crc16_byte(struct gzip_head *h, unsigned char c)
{
	if (((~h->crc >> 8 * h->at) & 0xff) != c)
		return GZIP_BAD_SUM;
	if (++h->at == 2)
		next_field(h);
	return GZIP_GOES_ON;
}

static enum gzip_said
head_byte(struct gzip_head *h, unsigned char c)
{
	if (h->field == CRC)
		return crc16_byte(h, c);
	h->crc = crc_byte(h->crc, c);
	switch (h->field) {
	case FIXED: return fixed_byte(h, c);
	case EXTRA_LEN:
		h->extra |= (unsigned)c << 8 * h->at;
		if (++h->at == 2)
			next_field(h);
		break;
	case EXTRA:
		if (++h->at == h->extra)
			next_field(h);
		break;
	default: /* NAME, COMMENT */
		if (c == 0)
			next_field(h);
		break;
	}
	return GZIP_GOES_ON;
}

enum gzip_said
gzip_head_read(struct gzip_head *h, struct in_raw *raw)
{
	enum gzip_said said = GZIP_GOES_ON;

	while (said == GZIP_GOES_ON && h->field != DONE && raw->p < raw->end)
		said = head_byte(h, *raw->p++);
	return said == GZIP_GOES_ON && h->field == DONE ? GZIP_ENDS : said;
}

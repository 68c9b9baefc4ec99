/* SPDX-License-Identifier: MIT */
/* Texts of cells as a workbook can hold them. */
#include <ctype.h>

#include "cmd/tl-xlsx/tables.h"

/* Characters that XML 1.0 cannot hold, or changes (carriage return). */
static bool
is_unfit(uint32_t cp)
{
	return (cp < ' ' && cp != '\t' && cp != '\n') || cp == 0x7f ||
	    cp == 0xfffe || cp == 0xffff;
}

/* Whether the underscore at p begins an _xNNNN_. */
static bool
is_like_escape(const char *p, size_t n)
{
	if (n < 7 || p[1] != 'x' || p[6] != '_')
		return false;
	for (int i = 2; i < 6; i++)
		if (!isxdigit((unsigned char)p[i]))
			return false;
	return true;
}

/* Bytes that need no escape: ASCII without underscore. */
static size_t
plain_part(struct str s, size_t from, size_t max)
{
	size_t i = from;

	while (i < s.len && i - from < max && s.p[i] >= ' ' && s.p[i] < 0x7f &&
	    s.p[i] != '_')
		i++;
	return i - from;
}

/* A piece of a text as written. */
struct piece {
	size_t bytes;
	size_t units; /* the library counts an escape as 7 characters */
	uint32_t cp;
	bool escape;
};

/* Up to max plain characters, or one other. */
static struct piece
next_piece(struct str s, size_t i, size_t max)
{
	size_t n = plain_part(s, i, max);
	struct piece p = { n, n, ' ', false };

	if (n > 0)
		return p;
	p.bytes = utf8_next(s.p + i, s.len - i, &p.cp);
	p.escape = is_unfit(p.cp) ||
	    (p.cp == '_' && is_like_escape(s.p + i, s.len - i));
	p.units = p.escape ? 7 : p.cp > 0xffff && p.cp != UTF8_BAD ? 2 : 1;
	return p;
}

static void
put_piece(struct buf *out, const char *p, struct piece piece)
{
	if (piece.escape)
		buf_printf(out, "_x%04X_", (unsigned)piece.cp);
	else if (piece.cp == UTF8_BAD)
		buf_puts(out, "\xef\xbf\xbd");
	else
		buf_put(out, p, piece.bytes);
}

size_t
text_clean(struct str s, struct buf *out, bool *cut)
{
	const size_t room = XLSX_CELL - (sizeof TEXT_CUT - 1);
	size_t units = 0, width = 0, widest = 0;
	size_t fits = 0; /* where to cut once units exceed room */
	struct piece p;

	*cut = false;
	for (size_t i = 0; i < s.len; i += p.bytes) {
		p = next_piece(s, i, (units < room ? room : XLSX_CELL) - units);
		if (units <= room && units + p.units > room)
			fits = out->len;
		units += p.units;
		if (units > XLSX_CELL) {
			out->len = fits;
			buf_puts(out, TEXT_CUT);
			*cut = true;
			break;
		}
		put_piece(out, s.p + i, p);
		width = p.cp == '\n' ? 0 : width + p.units;
		widest = width > widest ? width : widest;
	}
	buf_putc(out, '\0');
	return widest;
}

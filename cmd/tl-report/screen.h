/* SPDX-License-Identifier: MIT */
/* screen: lines of so many columns, made cell by cell. */
#ifndef TL_REPORT_SCREEN_H
#define TL_REPORT_SCREEN_H

#include "cmd/tl-report/figures.h"

#define ROOM_MIN 20 /* of a name */

struct screen {
	struct figures *f;
	struct out *out;
	size_t width;
	bool has_colour, has_blocks; /* of the terminal */
	struct buf b;                /* of a line */
};

/* The line is written, without blanks at its end; the next begins. */
void screen_line(struct screen *s);
/* Words in lines, the first behind a mark, the others as far in. */
void screen_wrapped(struct screen *s, const char *mark, struct str text);
/* As a name is shown, in so many columns. */
void screen_name(struct screen *s, struct str name, size_t width);
/* Text at the right end of so many columns; the cell is emptied. */
void screen_right(struct screen *s, struct buf *cell, size_t width);

/* ---- screen-bar.c ---- */

void screen_timeline(struct screen *s);

#endif

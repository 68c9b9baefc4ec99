/* SPDX-License-Identifier: MIT */
/* screen: lines of text, made cell by cell. */
#ifndef TL_REPORT_SCREEN_H
#define TL_REPORT_SCREEN_H

#include "cmd/tl-report/figures.h"

#define WIDTH_USUAL 80 /* columns */
#define ROOM_MIN 20    /* of a name */

struct screen {
	struct figures *f;
	const struct figures *beside; /* the other side, or NULL */
	struct out *out;
	size_t width;
	bool has_colour, has_blocks; /* of the terminal */
	bool has_warned;             /* the heading is there */
	struct buf b;                /* of a line */
};

/* Ends the line, without trailing blanks. */
void screen_line(struct screen *s);
/* Wrapped text after a mark, further lines indented alike. */
void screen_wrapped(struct screen *s, const char *mark, struct str text);
/* A name in width columns. */
void screen_name(struct screen *s, struct str name, size_t width);
/* Right-aligned in width columns; empties the cell. */
void screen_right(struct screen *s, struct buf *cell, size_t width);

/* In a comparison a heading says whose figures follow. */
const char *screen_of_side(const struct figures *f);

/* ---- screen-list.c ---- */

void screen_changes(struct screen *s);
/* Idle time, GPU time by --by, ops or kernels, losses to the roofline. */
void screen_lists(struct screen *s);

/* ---- names.c ---- */

#define NAMES_MAX 100 /* rows of a list of the screen */

/* Names of a list, as shown in a given width; texts live as the figures. */
struct names_shown {
	struct str name[NAMES_MAX], shown[NAMES_MAX];
	size_t n;
};

size_t names_most(const struct settings *s, size_t usual); /* or --top */
void names_show(struct figures *f, struct names_shown *n, size_t width);
/* Columns of the widest name shown. */
size_t names_widest(const struct names_shown *n);

/* ---- screen-bar.c ---- */

void screen_timeline(struct screen *s);

#endif

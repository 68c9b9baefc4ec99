/* SPDX-License-Identifier: MIT */
/*
 * marks: the verdict of tl-health, as it travels with a stream. It is the fact
 * "health" of a source, which filters hand on as all facts; who prints figures
 * that it touches says so, by one warning a source. tl-stream(5) has its form.
 */
#ifndef TL_STREAM_MARKS_H
#define TL_STREAM_MARKS_H

#include "stream/source.h"

/* Figures that something wrong in a trace may spoil. */
enum {
	FIGURE_BUSY = 1 << 0,
	FIGURE_IDLE = 1 << 1,
	FIGURE_KERNELS = 1 << 2,
	FIGURE_OPS = 1 << 3,
	FIGURE_ROOFLINE = 1 << 4,
	FIGURE_MODULES = 1 << 5,
	FIGURE_LAUNCHES = 1 << 6,
	FIGURE_STEPS = 1 << 7,
	FIGURE_COLLECTIVES = 1 << 8,
	FIGURES_ALL = (1 << 9) - 1,
};
extern const char *const figure_words[]; /* bit 0 first, ended by NULL */

#define FACT_HEALTH "health"
#define FACT_REPAIRED "repaired" /* by tl-decode --repair */

/* Warns of marks that touch what this program prints, if the source has any. */
void stream_tell_marks(const char *name, const struct source *source);
/* Notes what was repaired in it, if anything was. */
void stream_tell_repaired(const char *name, const struct source *source);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * marks: the verdict of tl-health, as it travels with a stream. It is the fact
 * "health" of a source, which filters pass on like all facts. Programs whose
 * figures it affects warn once per source. tl-stream(5) has its form.
 */
#ifndef TL_STREAM_MARKS_H
#define TL_STREAM_MARKS_H

#include "stream/source.h"

/* Figures that a defect of a trace may affect. */
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
extern const char *const figure_words[]; /* bit 0 first, NULL at the end */

#define FACT_HEALTH "health"
#define FACT_REPAIRED "repaired" /* by tl-decode --repair */

/* Warns of marks that affect what this program prints, if the source has
 * any. */
void stream_tell_marks(const char *name, const struct source *source);
/* Reports what was repaired in it, if anything. */
void stream_tell_repaired(const char *name, const struct source *source);

#endif

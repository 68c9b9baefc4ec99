/* SPDX-License-Identifier: MIT */
/* The checks of tl-health and their limits. */
#ifndef TL_HEALTH_CHECKS_H
#define TL_HEALTH_CHECKS_H

/* In the order of the page. */
enum check {
	CHECK_TIME_ZERO,
	CHECK_TIME_HUGE,
	CHECK_TIME_NEGATIVE,
	CHECK_TIME_NO_DURATION,
	CHECK_TIME_JUMP,
	CHECK_TIME_BEFORE_LAUNCH,
	CHECK_TIME_OUTSIDE,
	CHECK_TIME_OVERRUN,
	CHECK_TIME_OVERLAP,
	CHECK_TIME_DOMINANT,
	CHECK_TIME_COARSE,
	CHECK_TIME_BURST,
	CHECK_TIME_RANKS,
	CHECK_LINK_NO_LAUNCH,
	CHECK_LINK_NO_WORK,
	CHECK_LINK_NO_OP,
	CHECK_LINK_NO_ID,
	CHECK_LINK_SHARED,
	CHECK_LINK_PROCESSES,
	CHECK_LINK_GRAPHS,
	CHECK_LINK_BACKWARD,
	CHECK_LINK_FLOWS,
	CHECK_COVER_BLOCKED,
	CHECK_COVER_LATE,
	CHECK_COVER_BEGIN,
	CHECK_COVER_END,
	CHECK_COVER_STARVED,
	CHECK_COVER_STEPS,
	CHECK_COVER_LOST,
	CHECK_COVER_RANKS,
	CHECK_COVER_NO_CALLS,
	CHECK_COVER_NO_STEPS,
	CHECK_COVER_UNEVEN,
	CHECK_CONTENT_NO_OPS,
	CHECK_CONTENT_NO_SHAPES,
	CHECK_CONTENT_NO_STRIDES,
	CHECK_CONTENT_NO_TYPES,
	CHECK_CONTENT_NO_STACKS,
	CHECK_CONTENT_NO_HLO,
	CHECK_CONTENT_CUT,
	CHECK_CONTENT_NAMES,
	CHECK_CONTENT_UNKNOWN,
	CHECK_CONTENT_FEW,
	CHECK_CONTENT_IDLE,
	CHECK_CONTENT_UNSTABLE,
	CHECK_CONTENT_NO_MODEL,
	CHECK_CONTENT_ABOVE_ROOF,
	CHECK_FILE_CUT,
	CHECK_FILE_LOST,
	CHECK_FILE_MENDED,
	CHECK_FILE_SKIPPED,
	CHECK_FILE_ASYNC,
	CHECK_FILE_TWICE,
	CHECK_FILE_KEYS,
	CHECK_FILE_SEVERAL,
	CHECK_FILE_EDITED,
	CHECK_FILE_REPAIRED,
	CHECKS,
};

enum severity {
	SOUND,
	NOTE,
	WARNING,
	MISLEADING,
	SEVERITIES,
};
extern const char *const severity_words[SEVERITIES];

struct check_def {
	const char *id;
	/* What shares are of, as in "GPU time"; NULL: events are counted. */
	const char *share_of;
	/* Smallest share in percent, or count; INFINITY: never. */
	double warning, misleading;
	const char *text;   /* what is wrong */
	const char *spoils; /* which figures it touches */
	const char *advice; /* what to do about it */
	unsigned touches;   /* FIGURE_ bits: figures that programs warn of */
};
extern const struct check_def checks[CHECKS];

/* Limits of a check. */
struct limits {
	double warning, misleading;
};
/* Parses --set "CHECK=WARNING[,MISLEADING]"; a bad one is a usage error. */
void limits_set(struct limits limits[CHECKS], const char *text);
void checks_list(void);

#endif

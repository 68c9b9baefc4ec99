/* SPDX-License-Identifier: MIT */
/* The reasons; report-ids.h includes this. */

/* clang-format off */

/* ---- reasons: why a graph launch is not grafted ---- */
REASON(NO_GPU_WORK, "it has no GPU work")
REASON(OTHER_KERNELS, "its kernels are not those captured")
REASON(TOO_SHORT, "it lasted fewer ns than ops were captured")
REASON(NO_BATCH,
    "its step has no batch size, and there is more than one capture")
REASON(NO_CAPTURE, "no capture has its batch size or more")

/* ---- reasons: why tables skip events ---- */
REASON(SKIP_TIME, "without a usable time")
REASON(SKIP_DURATION, "without a usable duration")
REASON(SKIP_PHASE, "without a known phase")
REASON(SKIP_CATEGORY, "without a usable category")
REASON(SKIP_ASYNC, "asynchronous")

/* ---- reasons: what steps are inferred from ---- */
REASON(FROM_OPTIMIZER, "the optimizer's steps")
REASON(FROM_GPU_WORK, "GPU work that repeats")
REASON(FROM_OPS, "ops that repeat")
REASON(FROM_REPEATS, "what repeats")

/* ---- reasons: of what tl-decode --salvage mends and skips ---- */
REASON(MENDED_CONTROL, "raw control characters, kept")
REASON(MENDED_UTF8, "bytes that are not UTF-8, replaced")
REASON(MENDED_QUOTE, "unescaped quotes in a string, kept")
REASON(MENDED_ESCAPE, "stray backslashes, kept")
REASON(MENDED_COMMA, "an extra comma, dropped")
REASON(MENDED_NAN, "nan or inf, kept")
REASON(MENDED_NO_COMMA, "a missing comma, added")
REASON(MENDED_KEY, "a list of events under another key")
REASON(LOST_CUT, "the data end too early")
REASON(LOST_NUL, "NUL bytes")
REASON(LOST_GARBAGE, "garbage between two events")
REASON(LOST_BROKEN, "not valid JSON")
REASON(LOST_LONG, "longer than any event")
REASON(LOST_LARGE, "an event with too many members")
REASON(LOST_SECOND, "a second list of events")
REASON(LOST_BEHIND, "text after the end of the trace")

/* clang-format on */

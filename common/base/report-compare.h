/* SPDX-License-Identifier: MIT */
/* Messages of comparisons; report-ids.h includes this. */

/* clang-format off */

NOTE(KEY_MISSING,
    "sheet {sheet}: {file} has no column \"{column}\": rows are paired "
    "without it")
NOTE(SHEET_MISSING, "{file}: no sheet {sheet}: compared as if it had no rows")
WARNING(SHEET_NO_KEY,
    "{file}: sheet {sheet} has no column \"{column}\": compared as if it had "
    "no rows")
NOTE(SHEET_EMPTY, "sheet {sheet} has no rows in any report: skipped")
NOTE(KEYS_REPEATED,
    "sheet {sheet}: {#n} {n:key appears|keys appear} more than once in a "
    "report: rows are paired in order")
WARNING(KEYS_UNCLEAR,
    "sheet {sheet}: {#n} {n:key has|keys have} several spellings in one "
    "report: joined only as spelled")
WARNING(ROWS_APART,
    "sheet {sheet}: {file} has no row in common with the baseline")

/* ---- tl-diff ---- */
WARNING(SIDE_RANKS_MISSING,
    "{side}: skipped ranks that the other side lacks: {ranks}")
NOTE(SIDES_COMPARED, "{finding}")
WARNING(SIDES_UNLIKE,
    "{file}: different models? only work of one side is judged: {finding}")
WARNING(GATE_IN_NOISE,
    "--fail-over: {what} grew by {more}, more than allowed, but steps vary by "
    "\302\261 {spread}: not judged, compare more steps or runs")
WARNING(GATE_STEPS_LOST,
    "{file}: half of step time or more is unrecorded: only GPU time "
    "is judged")
NOTE(GATE_PASSES,
    "--{option} passes: exit status 3 is for the warnings, not for a slowdown")
NOTE(PERHAPS_VS,
    "two traces, but no two ranks of a job; to compare them: tl-report {file} "
    "--vs {other}")
WARNING(SIDE_NO_GPU_EVENTS, "{file}: no GPU events: was the GPU recorded?")

/* clang-format on */

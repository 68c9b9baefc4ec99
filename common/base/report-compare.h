/* SPDX-License-Identifier: MIT */
/* The messages about reports compared, of report-ids.h, which includes it. */

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
    "sheet {sheet}: {#n} {n:key stands|keys stand} more than once in a "
    "report: the rows are paired in order")
WARNING(KEYS_UNCLEAR,
    "sheet {sheet}: {#n} {n:key has|keys have} several spellings in one "
    "report: joined only as spelled")
WARNING(ROWS_APART,
    "sheet {sheet}: {file} has no row in common with the baseline")

/* clang-format on */

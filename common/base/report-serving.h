/* SPDX-License-Identifier: MIT */
/* Messages about serving iterations; report-ids.h includes this. */

/* clang-format off */

NOTHING(NO_ITERATIONS,
    "{file}: no iterations: no annotation has the form of a serving "
    "framework's")
NOTE(ITERATIONS_INFERRED,
    "{file}: no annotations: {#n} {n:iteration|iterations} "
    "inferred from {reason}")
WARNING(NO_PHASES,
    "{file} has no phases: no annotation has the form of a "
    "serving framework's iterations")
NOTHING(NO_BLOCKS_MATCH,
    "{file} and {other}: no blocks match: {#n} and {#m} of these phases, none "
    "with equal phase and length (a decode block has 2 iterations or more)")
NOTHING(NO_BLOCKS_WITH_SUMS,
    "{file} and {other}: no blocks match: {#n} {n:block|blocks} without sq and "
    "sk in {n:an annotation|annotations}: {option} matches by requests and "
    "tokens")
NOTE(PHASE_UNMATCHED,
    "{name}: no match: {#n} {n:block|blocks} of {file}, {#m} with one of the "
    "same length in {other}")
WARNING(ITERATIONS_UNTOLD,
    "{file}: {#n} {n:iteration names|iterations name} neither requests nor "
    "tokens, such as '{name}'")
WARNING(NO_SUCH_PROCESS,
    "{file}: no process '{pid}' has steps{there}")
WARNING(NO_PROCESS,
    "{option}: no source has a process '{pid}' with steps{there}")
WARNING(NO_SUCH_SOURCE, "{option}: there is no source {#source}")
WARNING(STEPS_NOT_INFERRED,
    "{file}: no steps are inferred: {#n} {n:call is|calls are} too many for "
    "--mem")
WARNING(STEPS_ASIDE,
    "{file}: {#n} of {#steps} annotated steps on threads that launch GPU work "
    "{n:does|do} not count: another thread of the process launches as much or "
    "more in its own")

NOTE(NO_SLOW_STEPS, "{file}: steps_slow has no rows: {why}")

/* ---- tl-report --check ---- */
WARNING(CHECK_TIME,
    "{file}: {table}: GPU time {time} is outside {busy} (busy) to {sum} (sum "
    "of durations)")
WARNING(CHECK_COUNT,
    "{file}: {table}: {#n} {n:event|events} named '{name}', but {#m} whose "
    "launch was recorded")

/* clang-format on */

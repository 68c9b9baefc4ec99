/* SPDX-License-Identifier: MIT */
/*
 * All messages except errors: an id, and a sentence, whose parameters report.c
 * explains. A NOTE does not affect the answer, a WARNING may, NOTHING ends the
 * program without one. A REASON is a parameter of some messages. No include
 * guard: each file that includes this defines these words.
 */

/* clang-format off */

/* ---- inputs ---- */
WARNING(HELPER_WARNED, "{file}: {helper} completed with warnings (above)")
WARNING(SALVAGED,
    "{file}: salvaged from a damaged trace: figures may lack events")
WARNING(SKIPPED,
    "{file}: {#n} {n:event|events} skipped: {reasons}")
WARNING(EVENTS_REMOVED,
    "{file}: events were removed from this stream: unlinked GPU work may have "
    "had a launch")
#include "base/report-formats.h"
NOTE(DUPLICATES,
    "{file}: {#n} GPU {n:event|events} recorded twice; each counts once")
WARNING(AMBIGUOUS_LAUNCH,
    "{file}: {#n} GPU {n:event is|events are} unlinked: several calls may have "
    "launched {n:it|them} (merged traces? pass each by itself)")
WARNING(AMBIGUOUS_OPS,
    "{file}: {#n} GPU {n:event is|events are} unlinked: the file gives several "
    "calls that may have launched {n:it|them}")
WARNING(NO_OP_LAUNCH,
    "{file}: {#n} GPU {n:event is|events are} unlinked: no call that the file "
    "gives can have launched {n:it|them}")
WARNING(NO_SUCH_LAUNCH,
    "{file}: {#n} GPU {n:event is|events are} unlinked: the call with "
    "{n:its|their} correlation id launches nothing")
WARNING(UNCLOSED,
    "{file}: {#n} {n:event lacks its|events lack their} begin or end (phases B "
    "and E): no duration")
WARNING(OVERLAPS,
    "{file}: {#n} host {n:event overlaps another|events overlap others} of "
    "{n:its|their} thread: not in the tree (tl-tree --on-overlap=clip cuts "
    "{n:it|them})")
WARNING(NO_STEPS,
    "{file} has no steps, annotated or inferred (of an old "
    "tree, tl-tree --link auto infers them): select time by --annotation GLOB, "
    "or by --from and --to")
WARNING(NO_SUCH_STEP,
    "{file} has none of these steps: it has {#first} to "
    "{#last}")
NOTE(SLOWEST_STEP, "{file}: step {#step} is the slowest of {#n}{by}")
WARNING(NO_SUCH_ANNOTATION,
    "{file} has no annotation '{name}'{there}")
WARNING(NO_SUCH_NAME,
    "{file}: no event in the window matches '{name}'{there}")

NOTE(NONE_PASSED,
    "{file}: the selection matches none of {#n} {n:event|events}{there}")

/* ---- no answer: nothing of the kind ---- */
NOTHING(NO_EVENTS, "{file}: no events")
NOTHING(NO_EVENT_MATCHES, "{file}: the selection matches no event{there}")
NOTHING(NO_SUCH_RANK,
    "{file}: no source has a rank of the selection{there}")
NOTHING(NO_GPU_EVENTS, "{file}: no GPU events among {#n} {n:event|events}")
NOTHING(NO_TIMED_GPU_EVENTS,
    "{file}: {#n} GPU {n:event|events}, all without a time")
NOTHING(NO_GPU_EVENTS_TO_JUDGE, "{file}: no GPU events: nothing to judge")
NOTHING(NO_STEPS_TO_JUDGE,
    "{file}: no steps of the other side's kind: nothing to judge")
NOTHING(STEPS_LOST,
    "{file}: half of step time or more is unrecorded: nothing to judge")
NOTHING(NO_HOST_TIME, "{file}: no host time among {#n} {n:event|events}")
NOTHING(NO_MATCH,
    "{file}: the selection matches none of {#n} GPU events{there}")
NOTHING(NO_MATCH_BY_LAUNCH,
    "{file}: the selection matches none of {#n} GPU events ({#unlinked} "
    "without a launch: try --by-gpu-time){there}")
NOTHING(NO_LINKED_GPU_EVENTS,
    "{file}: no linked GPU events: --linked-only skips all {#n}")
NOTHING(NO_LAUNCHES,
    "{file}: none of {#n} GPU events has its launch in the trace: no op owns "
    "GPU work, try tl-kernels")
NOTHING(NOT_LAUNCHED,
    "{file}: none of {#n} GPU events has its launch in the trace")
NOTHING(NO_OWNED_GPU_EVENTS,
    "{file}: all {#n} selected GPU events are collectives or have no launch: "
    "try --include-comm")
NOTHING(ONLY_COLLECTIVES,
    "{file}: all {#n} selected GPU events are collectives or have no launch: "
    "try tl-collective")
NOTHING(NEVER_IDLE, "{file}: the GPU was never idle")
NOTHING(NO_STEP_MATCHES, "{file}: the selection matches no step")
NOTHING(NO_DURATION, "{file}: no selected GPU event has a duration")
NOTHING(NO_OPS, "{file}: no ops among {#n} {n:event|events}")
NOTHING(NO_SUCH_OP, "{file}: no op of that name{there}")
NOTHING(NO_GPU_OPS, "{file}: no op has GPU work of the selection{there}")
NOTHING(NO_ROOT_OPS,
    "{file}: no op is a root, but there are {#n} GPU {n:event|events}: try "
    "--by kernel")
NOTHING(NO_STEP_WORK, "{file}: no step has GPU work: --per step has no answer")
NOTHING(NO_PYTHON_FRAMES,
    "{file}: no Python frames: record with "
    "torch.profiler.profile(with_stack=True, with_modules=True)")
NOTHING(NO_MODULE_FRAMES,
    "{file}: no nn.Module among the Python frames: record with "
    "torch.profiler.profile(with_stack=True, with_modules=True)")
NOTHING(NO_MODULES,
    "{file}: none of {#n} Python frames is an nn.Module: record the model's "
    "calls, with with_stack=True and with_modules=True")
NOTHING(NO_SUCH_MODULE, "{file}: no nn.Module matches '{name}'{there}")
NOTHING(NO_MODULE_LAUNCHED,
    "{file}: no nn.Module launched work of the selection")
NOTHING(NO_MODULE_TIME,
    "{file}: all {#n} module calls have less GPU time: --min-time 0ns prints "
    "them")
NOTHING(NO_PARTS, "nothing to split by: no {what}{there}")
WARNING(NO_STEADY,
    "{file}: no steady state among {#n} {n:iteration|iterations}: using the "
    "middle, {#first} to {#last}")
WARNING(FEW_STEADY,
    "{file}: too few iterations for a steady state: all {#n} kept")
WARNING(OTHER_PEAK,
    "{file}: at most {#peak} concurrent {peak:request|requests}, not {#conc} "
    "(--conc)")

/* The same for one source, if others have an answer. */
WARNING(SOURCE_NO_GPU_EVENTS, "{file}: no GPU events")
WARNING(SOURCE_NO_TIMED_GPU_EVENTS,
    "{file}: {#n} GPU {n:event|events}, all without a time")
WARNING(SOURCE_NO_MATCH,
    "{file}: the selection matches none of {#n} GPU events")
WARNING(SOURCE_NO_LINKED,
    "{file}: no linked GPU events: --linked-only skips all "
    "{#n}")
WARNING(SOURCE_NO_PYTHON_FRAMES,
    "{file}: no Python frames: record with "
    "torch.profiler.profile(with_stack=True, with_modules=True)")
WARNING(SOURCE_NO_MODULES,
    "{file}: no nn.Module launched work of the selection")

/* ---- tl-decode ---- */
NOTE(DAMAGE, "{file}: byte {#byte}: {reason}")
NOTE(BYTES_SKIPPED,
    "{file}: byte {#byte}: {#n} {n:byte|bytes} skipped: {reason}")
NOTE(UNREADABLE_REST, "{file}: {reason}: the rest is unreadable")
NOTE(DAMAGE_REPEATED, "{file}: {#n} times: {reason}")
WARNING(SALVAGE,
    "{file}: salvaged: events {#events}, losses {#losses} (bytes {#bytes}), "
    "characters mended {#mended}")
WARNING(SALVAGE_CUT,
    "{file}: salvaged: events {#events}, losses {#losses} (bytes {#bytes}), "
    "characters mended {#mended}; the end is missing")
NOTE(CHILD_KILLED,
    "{file}: the process that read it was killed by signal {#signal}")
WARNING(DATABASE_OPEN,
    "{file}: {file}{end} exists beside it, so its writer did not finish: the "
    "last rows may be missing")
WARNING(RECORDING_LOSSES,
    "{file}: the recording is incomplete ({#n} {n:time|times}): {reason}")
WARNING(GRAPHS_WHOLE,
    "{file}: {#n} graph {n:replay is|replays are} recorded as one row each; "
    "nsys --cuda-graph-trace=node records their kernels")
WARNING(EXTDATA_COMPRESSED,
    "{file}: marker texts and GPU properties use an unsupported compression: "
    "skipped")
WARNING(SCHEMA_NEWER,
    "{file}: database schema {#major} is newer than this version knows")
NOTE(NEGATIVE_DURATIONS, "{#n} negative {n:duration|durations} set to 0")

/* ---- tl-graft ---- */
NOTE(CAPTURE_NAMELESS, "{file}: an entry names no file of this folder: skipped")
NOTE(CAPTURE_MISSING, "{file}: {capture} is missing: skipped")
NOTE(CAPTURE_NO_BATCH, "{file}: {capture} has no batch size: used for all")
WARNING(NOT_GRAFTED, "graph launch {#launch}: nothing is grafted: {reason}")
WARNING(CAPTURES_MISMATCH,
    "{file} has {#captures} captures, but the step of launch {#launch} has "
    "{#launches} graph launches: nothing is grafted")
WARNING(NO_GRAPH_LAUNCH, "{file}: no graph launches in this trace")
NOTE(RULES_FAILED,
    "rules for pseudo-ops failed on {#n} {n:event|events}, first: {reason}")

/* ---- models ---- */
NOTE(MODEL_LACKS,
    "{#n} {n:op lacks|ops lack} recorded shapes or values: no FLOP or byte "
    "counts (first: {op}: {reason})")
NOTE(NO_TYPES, "no roofline: no types of {#n} {n:op|ops}, first {op}; set --dtype")
NOTE(MODEL_FAILED, "models failed on {#n} {n:op|ops}, first on {op}: {reason}")
WARNING(OWN_MODEL_FAILED, "{#n} of those models are from --models or $TL_MODELS")
WARNING(NO_FIGURES,
    "{#n} {n:op has|ops have} no figures: see status and model_reason")
NOTE(NO_WRAPPERS, "{dir}: no wrapper file of torch.compile")

/* ---- tables ---- */
WARNING(UNTIMED_LEFT_OUT,
    "{file}: {#n} {n:event|events} without a time skipped")
WARNING(NO_METADATA,
    "{file}: metadata is skipped: a bare array has no place for it; see "
    "--object")
WARNING(WORKBOOK_INCOMPLETE, "{file}: the workbook is incomplete")
NOTE(CELLS_OUTSIDE,
    "{file}: sheet {sheet}: {#n} {n:cell|cells} outside the header skipped")
NOTE(CELLS_ERROR,
    "{file}: sheet {sheet}: {#n} {n:cell with an error is|cells with an error "
    "are} empty")
NOTE(CELLS_UNSOLVED,
    "{file}: sheet {sheet}: {#n} {n:formula was|formulas were} never computed: "
    "empty")
NOTE(CELLS_NO_TEXT,
    "{file}: sheet {sheet}: {#n} {n:cell|cells} without {n:its|their} text: "
    "empty")
WARNING(LINE_CUT,
    "{file}: the last line has no newline: was it cut off?")
NOTE(TEXT_CUT,
    "{#n} {n:text is|texts are} longer than the {#limit} characters of a "
    "cell: cut there, whole in CSV")
NOTE(BIG_INTEGERS,
    "{#n} {n:integer|integers} beyond 2^53 written as text: a number would "
    "lose digits")
WARNING(COLUMNS_CUT,
    "{file}: table \"{table}\" has {#n} columns, a sheet holds {#limit}: the "
    "others are cut off")
NOTE(ROWS_CONTINUED,
    "{file}: table \"{table}\" has more than {#limit} rows: it continues in "
    "further sheets")

/* ---- tl-report ---- */
WARNING(HOST_ONLY,
    "{file}: no GPU work in the trace: the report is about host time")
WARNING(ONLY_COMMUNICATION,
    "{file}: ops launched only communication: no sheets of ops")
WARNING(NO_OP_OWNS,
    "{file}: no GPU event has its launch in the trace: no op owns GPU work, "
    "no sheets of ops")
WARNING(SIDE_FAILED, "{helper} failed: its sheets are missing")
WARNING(SIDE_KILLED,
    "{helper} was killed by signal {#signal}: its sheets are missing")
NOTE(PROGRAM_MISSING, "{helper} is not installed: its sheets are missing")
NOTE(ONE_RANK,
    "option '--{option}' has no effect on one rank")

#include "base/report-collective.h"
#include "base/report-compare.h"
#include "base/report-health.h"
#include "base/report-ranks.h"
#include "base/report-reasons.h"
#include "base/report-replay.h"
#include "base/report-roofline.h"
#include "base/report-serving.h"

/* clang-format on */

#undef REASON
#undef NOTE
#undef WARNING
#undef NOTHING

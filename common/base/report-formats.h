/* SPDX-License-Identifier: MIT */
/* Messages of formats; report-ids.h includes this. */

/* clang-format off */

WARNING(PACKETS_LOST,
    "{file}: events are missing: {#n} {n:gap|gaps} in the recording")
WARNING(MEMBERS_UNREAD,
    "{file}: skipped {#n} zip {n:member|members}: {reason}")
WARNING(PACKETS_DROPPED,
    "{file}: events are missing: {#n} {n:packet lacks|packets lack} a begin, a "
    "time, a value or names")
WARNING(CLOCK_UNKNOWN,
    "{file}: {#n} {n:time is|times are} on a clock with no relation to the "
    "trace's: used as recorded")
NOTE(PACKETS_OTHER,
    "{file}: {#n} {n:packet|packets} of other data sources {n:is|are} not "
    "read")
NOTE(PAYLOADS_BINARY,
    "{file}: {#n} binary {n:payload|payloads} of NVTX {n:is|are} not read")
WARNING(RECORDER_WARNED, "{file}: the profiler warned: {reason}")
NOTHING(NOT_OF_DUMPS,
    "table {table}: nccl_hang needs flight recorder dumps, the others traces")
WARNING(DUMP_TWICE,
    "{file}: skipped: another dump of rank {#rank} is {other}")
NOTE(HLO_MISSING,
    "{file}: {#n} {n:instruction|instructions} that events name {n:is|are} in "
    "no HLO module of the file: no shapes, no FLOP counts")
NOTE(NO_DUMP,
    "{file}: no dump of {#n} {n:module|modules} ({module}{n:| ...}): no shapes, "
    "no groups of collectives")
WARNING(DUMPS_DIFFER,
    "{file}: dumps of {module} differ: using none; pass the one of this trace "
    "with --xla-dump")
NOTE(HLO_TOO_LARGE,
    "{file}: {#n} {n:instruction|instructions} that events name skipped: "
    "{n:its|their} HLO module is too large, so no shapes, no FLOP counts")
NOTE(HLO_GUESSED,
    "{file}: {#n} {n:collective is|collectives are} under another name in "
    "{n:its|their} HLO module: matched by the order of the names")

/* clang-format on */

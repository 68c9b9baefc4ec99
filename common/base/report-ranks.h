/* SPDX-License-Identifier: MIT */
/* Messages about several ranks as inputs; report-ids.h includes this. */

/* clang-format off */

WARNING(RANK_RENAMED,
    "{file}: named as rank {#rank}, recorded as rank {#recorded}: using the "
    "rank from the file name")
WARNING(OTHER_JOB, "{file}: skipped: its job has {#ranks} ranks, not {#world}")
WARNING(RANK_TOO_HIGH,
    "{file}: skipped: rank {#rank} in a job of {#world} ranks")
WARNING(PROCESS_IDLE,
    "{file}: skipped: no GPU work; its process counts as {#n} "
    "{n:rank|ranks}")
WARNING(RANK_TWICE, "{file}: skipped: rank {#rank} is already in {other}")
WARNING(RANK_CONFLICT,
    "{file}: skipped: rank {#rank} has other collectives at that time in "
    "{other}")
WARNING(RANK_COPY,
    "{file}: rank {#rank} is the same as rank {#twin} in {other}")
WARNING(RANK_COPY_SKIPPED,
    "{file}: skipped: rank {#rank} is the same as rank {#twin} in {other}")
WARNING(NOT_A_MEMBER,
    "{file}: skipped: rank {#rank} is not in its process group {group} {ranks}")
WARNING(NO_EPOCH,
    "{#n} of {#total} inputs lack the epoch of their clock: times are "
    "compared as recorded")
WARNING(RANKS_MISSING, "{#n} of {#world} ranks are missing: {ranks}")
WARNING(RANKS_MISSING_BY_ORDER,
    "{#n} of {#world} ranks are missing, and inputs are numbered by order: "
    "ranks may be wrong; name the files rank0, rank1, ...")
WARNING(RANK_NO_COLLECTIVES, "{file}: rank {#rank}: no collectives")
WARNING(COLLECTIVES_NO_DURATION,
    "{#n} {n:collective|collectives} without a duration skipped")
WARNING(COLLECTIVES_INCOMPLETE,
    "{#n} of {#total} collectives lack a rank and are in no summary: --table "
    "nccl_missing lists them")
WARNING(COLLECTIVES_DIFFER,
    "in {#n} of {#total} collectives the ranks disagree: --table nccl_missing "
    "lists them")
NOTE(SPLITS_UNKNOWN,
    "{#n} all_to_allv {n:does|do} not record what went to which rank: not in "
    "the heat map")
NOTE(READER_KILLED, "a process reading an input was killed by signal {#signal}")
WARNING(INPUT_FAILED, "{file}: skipped: it could not be read (above)")
WARNING(INPUT_WARNED, "{file}: read with warnings (above)")
WARNING(EPOCH_MIXED,
    "{file}: only one of this and the first source records its clock's epoch: "
    "joined as recorded")
WARNING(RANK_NO_CLOCK, "rank {#rank}: no collective shows its clock")
WARNING(JOIN_CLOCKS_OFF,
    "the {n:clock|clocks} of {#n} {n:rank is|ranks are} off ({ranks}), most "
    "that of rank {#rank}, by {offset}: overlap of ranks is wrong by that "
    "much; see --align collective")
WARNING(JOIN_CLOCKS_UNKNOWN,
    "nothing compares the {n:clock|clocks} of {#n} of {#total} sources with "
    "the others' ({file}): overlap of sources may be wrong")
WARNING(JOIN_CLOCKS_UNCHECKED,
    "{#n} {n:source|sources} on standard input: clocks not checked, overlap may "
    "be wrong; pass files, or --align base if they agree")
WARNING(CLOCKS_WARNED, "{helper} completed with warnings (above)")
WARNING(RANKS_UNSEPARABLE,
    "--fuse: several inputs are rank {#rank}: their events cannot be told "
    "apart")

/* clang-format on */

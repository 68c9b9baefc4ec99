/* SPDX-License-Identifier: MIT */
/* Messages about collectives; report-ids.h includes this. */

/* clang-format off */

WARNING(WHAT_IF_WAITS,
    "{file}: --what-if '{name}' also shortens the waiting for other ranks, "
    "which collectives include; --job tells them apart")
WARNING(CLOCKS_OFF,
    "the {n:clock|clocks} of {#n} {n:rank is|ranks are} off ({ranks}), most "
    "that of rank {#rank}, by {offset}: waiting and skew are wrong by that "
    "much; see --align-clocks and --table nccl_clocks")
WARNING(CLOCKS_BROKEN,
    "{#n} of {#total} collectives ({collective}, group {group}) end on one "
    "rank before another starts, on solved clocks too: matched wrongly? Their "
    "group is not judged")
WARNING(CLOCKS_UNPROVEN,
    "{#n} of {#total} collectives end on one rank before another starts: "
    "clocks are off, or collectives are matched wrongly")
WARNING(CLOCKS_UNTOLD,
    "{#n} of {#total} {total:group|groups}: too few collectives to tell the "
    "clocks of their ranks (first group {group}): waiting and skew may be wrong")
NOTE(FIRST_MISSING,
    "group {group}: rank {#rank} lacks the first collective: the rest is "
    "matched one later, as {#n} of {#total} ended before they started")
NOTE(FIRST_EXTRA,
    "group {group}: rank {#rank} has one collective before the others' first: "
    "the rest is matched one earlier, as {#n} of {#total} ended before they "
    "started")
WARNING(CLOCK_FROM_HOST,
    "the clock of rank {#rank} is {offset} from those of the other ranks of "
    "its host {host}")
NOTE(CLOCK_ISLANDS,
    "no collective compares the clocks of {#n} sets of ranks, each of which "
    "has a zero of its own: {ranks}")
WARNING(NODES_UNKNOWN,
    "{#n} {n:group|groups}: which ranks share a node is unknown, so the link "
    "is too: pass --gpus-per-node N")
NOTE(LINK_EXCEEDED,
    "{#n} {n:group|groups} above the achievable bandwidth of {n:its|their} "
    "link, most of all {group}: {#pct} % of {link} (in-network reduction "
    "(NVLS, SHARP), another link, or a wrong --gpus-per-node)")
NOTE(GATE_FAILED,
    "{gate} failed in {#n} of {#total} {total:group|groups}, worst in group "
    "{group}: {reason}")
WARNING(GATE_UNJUDGED,
    "{gate} not judged in {#n} of {#total} {total:group|groups} (group "
    "{group}: {reason})")
NOTE(GATE_SKIPPED,
    "{gate}: nothing to judge in {#n} of {#total} {total:group|groups} (group "
    "{group}: {reason})")
WARNING(JOBS_DIFFER,
    "the two jobs have none of {#n} {n:kind|kinds} of collectives in common: "
    "nothing is compared")
NOTHING(GATE_NOTHING, "{gate}: no group has anything to judge")

/* clang-format on */

/* SPDX-License-Identifier: MIT */
/* Messages of tl-replay; report-ids.h includes this. */

/* clang-format off */

NOTHING(NO_REPLAY,
    "{file}: the selection matches none of {#n} {n:op|ops} that launched GPU "
    "work{there}")
NOTHING(NO_OP_LAUNCHED,
    "{file}: none of {#n} selected GPU events can be replayed: no op launched "
    "them, or they are collectives")
WARNING(NOT_FOUND,
    "{file}: {#n} of {#total} uids or rows {n:matches|match} no op that "
    "launched GPU work")
NOTHING(NO_PRODUCT, "{file}: none of {#n} chosen {n:op|ops} is a GEMM")
NOTHING(NO_PRODUCT_ON_TOP,
    "{file}: no GEMM among the {#n} {n:op|ops} with most GPU time: --top 0 "
    "chooses all")
WARNING(NOT_REPLAYED,
    "the script skips {#n} of {#total} {total:op|ops} (first: {op}: {reason})")

/* clang-format on */

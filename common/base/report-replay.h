/* SPDX-License-Identifier: MIT */
/* The messages of tl-replay, of report-ids.h, which includes it. */

/* clang-format off */

NOTHING(NO_REPLAY,
    "{file}: none of {#n} ops that launched GPU work is asked for")
NOTHING(NO_PRODUCT, "{file}: none of {#n} chosen {n:op|ops} is a GEMM")
WARNING(NOT_REPLAYED,
    "the script skips {#n} of {#total} {total:op|ops} (first: {op}: {reason})")

/* clang-format on */

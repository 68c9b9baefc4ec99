/* SPDX-License-Identifier: MIT */
/* The messages of tl-collective, of report-ids.h, which includes it. */

/* clang-format off */

WARNING(NODES_UNKNOWN,
    "{#n} {n:group|groups}: which ranks share a node is unknown, so their "
    "link is: --gpus-per-node N")
NOTE(LINK_EXCEEDED,
    "{#n} {n:group|groups} above what {n:its|their} link achieves, most of "
    "all {group}: {#pct} % of {link}: in-network reduction (NVLS, SHARP), "
    "another link than this, or a wrong --gpus-per-node")

/* clang-format on */

/* SPDX-License-Identifier: MIT */
/* rank: the rank in a file's name, by one rule for all programs; for a node's
 * file the node's number, if logs of the job have it. */
#ifndef TL_STREAM_RANK_H
#define TL_STREAM_RANK_H

#include "base/base.h"

struct rank_rule;

/* The argument of --rank-regex; NULL: the number after "rank" or "worker".
 * Without a group, or if malformed, it is a usage error. */
struct rank_rule *rank_rule_create(const char *regex);
void rank_rule_destroy(struct rank_rule *r);
/* Adds the nodes that a log names, or all *.log in a folder. Dies if there are
 * none. */
void rank_rule_logs(struct rank_rule *r, const char *path);
/* The number of this node, whose name may have a file's endings; -1: no log
 * names it. */
int64_t rank_of_node(const struct rank_rule *r, struct str name);
/* The node's number, else the number in the first group that matched, in the
 * last part of the path, else in all of it; -1: none. */
int64_t rank_of_path(const struct rank_rule *r, const char *path);

/* Ascending ranks as text: 0-3,7. */
void put_ranges(struct buf *b, const int64_t *v, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* rank: the rank that a file's name tells, by one rule in all programs; or of a
 * node's file the node's number, if logs of the job have it. */
#ifndef TL_STREAM_RANK_H
#define TL_STREAM_RANK_H

#include "base/base.h"

struct rank_rule;

/* The argument of --rank-regex, or NULL: behind "rank" or "worker". One that is
 * no extended regular expression with a group is a usage error. */
struct rank_rule *rank_rule_create(const char *regex);
void rank_rule_destroy(struct rank_rule *r);
/* Adds the nodes that logs tell of: a log, or all *.log in a folder. Dies if
 * there are none. */
void rank_rule_logs(struct rank_rule *r, const char *path);
/* The number of the node of that name, which a file's endings may follow; -1:
 * the logs have none, or there are none. */
int64_t rank_of_node(const struct rank_rule *r, struct str name);
/* That of the node, else the number in the first group that took part, in the
 * last part of the path, else in all of it; -1: none. */
int64_t rank_of_path(const struct rank_rule *r, const char *path);

/* Ascending ranks as text: 0-3,7. */
void put_ranges(struct buf *b, const int64_t *v, size_t n);

#endif

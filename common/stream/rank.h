/* SPDX-License-Identifier: MIT */
/* rank: the rank that a file's name tells, by one rule in all programs. */
#ifndef TL_STREAM_RANK_H
#define TL_STREAM_RANK_H

#include "base/base.h"

struct rank_rule;

/* The argument of --rank-regex, or NULL: behind "rank" or "worker". One that is
 * no extended regular expression with a group is a usage error. */
struct rank_rule *rank_rule_create(const char *regex);
void rank_rule_destroy(struct rank_rule *r);
/* The number in the first group that took part, in the last part of the path,
 * else in all of it; -1: none. */
int64_t rank_of_path(const struct rank_rule *r, const char *path);

#endif

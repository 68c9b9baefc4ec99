/* SPDX-License-Identifier: MIT */
/*
 * uid: the identity of an event within its source, and its form on command
 * lines.
 */
#ifndef TL_STREAM_UID_H
#define TL_STREAM_UID_H

#include "base/base.h"

struct uid {
	uint64_t id;   /* ordinal in the source's event array */
	uint32_t inst; /* 0, or a repetition added by a program */
};

/*
 * As text "12", or "12.3" for a repetition: in NDJSON, tables and on command
 * lines. At most UID_MAX bytes.
 */
#define UID_MAX 32
size_t uid_put(char *out, struct uid uid);
bool uid_read(struct str s, struct uid *uid) USE_RESULT;

/* An event on a command line: "12", "1:12", "1:12.3". */
struct uid_pick {
	struct uid uid; /* instance 0 if not given */
	uint32_t src;
	bool any_src, no_inst; /* that part was not given */
};
bool uid_pick_read(struct str s, struct uid_pick *p) USE_RESULT;
/* An option's argument; anything else is a usage error. */
struct uid_pick opt_uid(const struct optparse *op);

static inline bool
uid_same(struct uid a, struct uid b)
{
	return a.id == b.id && a.inst == b.inst;
}

/*
 * The key of a map. Unique below an id of 2^40 and an instance of 2^24; others
 * are hashed, so that nobody can craft two that collide.
 */
static inline uint64_t
uid_hash(struct uid uid)
{
	if (LIKELY(uid.id >> 40 == 0 && uid.inst >> 24 == 0))
		return uid.id | (uint64_t)uid.inst << 40;
	return hash_more(hash_u64(uid.id), uid.inst);
}

/* By id, then by instance. */
static inline int
uid_cmp(struct uid a, struct uid b)
{
	if (a.id != b.id)
		return a.id < b.id ? -1 : 1;
	return (a.inst > b.inst) - (a.inst < b.inst);
}

static inline bool
uid_is_picked(const struct uid_pick *p, uint32_t src, struct uid uid)
{
	return (p->any_src || p->src == src) && uid_same(p->uid, uid);
}

#endif

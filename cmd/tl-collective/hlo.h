/* SPDX-License-Identifier: MIT */
/*
 * hlo: XLA's collectives. Kernels name an instruction; the metadata of the
 * source, which may follow, has its groups and shapes.
 *
 *	hlo_clear(h);				for each source
 *	hlo_meta(h, meta);			each metadata record
 *	id = hlo_see(h, st, ev);		each collective
 *	n = hlo_ready(h);			after the last of both
 *	hlo_signature(h, id, ...);
 *
 * An instruction's group of a GPU depends on its rank, which only the job
 * knows, so hlo_own() turns the signature's text into a list later.
 */
#ifndef TL_COLLECTIVE_HLO_H
#define TL_COLLECTIVE_HLO_H

#include "stream/stream.h"
#include "trace/bucket.h"

struct hlo;

struct hlo *hlo_new(void);
void hlo_clear(struct hlo *h);
void hlo_meta(struct hlo *h, const struct meta *m);

/* Whether a kernel is a collective: by its name, on TPUs by its category. */
bool hlo_recognise(
    struct bucket_rules *rules, const struct dict *st, const struct event *ev);
/* A number for what the kernel says of itself. */
uint32_t hlo_see(struct hlo *h, const struct dict *st, const struct event *ev);
/* After all were seen: how many numbers there are. */
size_t hlo_ready(struct hlo *h);
/* On TPUs the core runs start and end of an operation, and a line of its own
 * may show the whole. */
enum hlo_role {
	HLO_WHOLE,
	HLO_PART,   /* another event shows the whole */
	HLO_OPENS,  /* to be joined with */
	HLO_CLOSES, /* the next of these with its pair */
};

struct hlo_signature {
	enum hlo_role role;
	uint32_t pair;
	size_t of_group; /* length of the text's part with the groups */
};

/* Appends the signature if the event is whole or opens. */
struct hlo_signature hlo_signature(struct hlo *h, uint32_t seen,
    const struct bucket_rules *rules, struct buf *b);
/* The least number of ranks that all groups need; 0: unknown. */
int64_t hlo_world(const struct hlo *h);

/* GPU numbers by pid, from the fact "gpus"; returns the least number of
 * GPUs. */
int64_t hlo_gpus(struct map *to, struct arena *mem, struct str fact);

/* The signature as a list, with the group of this rank. */
void hlo_own(struct str text, int64_t rank, struct buf *b);

/*
 * Joins records that are sorted by time, given what was seen: pairs become one,
 * parts go, and what does not end is skipped. Replaces numbers of seen by those
 * of sigs. Returns how many are left.
 */
struct rec;
size_t hlo_join(struct rec *recs, size_t n, const struct hlo_signature *seen,
    const uint32_t *sigs, uint64_t *nskipped);

/* ---- replicas.c ---- */

/*
 * Appends groups of ranks as a short text, empty if unknown, from JSON: lists
 * of ranks, or [source,target] pairs whose chains are groups. Returns the least
 * number of ranks.
 */
int64_t replicas_put(struct buf *b, struct str groups, bool are_pairs);
/* The group of a rank: appends its members and returns their number; or 0. */
int64_t replicas_of(struct str text, int64_t rank, struct buf *members);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * hlo: what XLA says of its collectives: kernels name an instruction, the
 * metadata of the source, which may follow, has its groups and shapes.
 *
 *	hlo_clear(h);				for each source
 *	hlo_meta(h, meta);			each metadata record
 *	id = hlo_see(h, st, ev);		each collective
 *	n = hlo_ready(h);			after the last of both
 *	hlo_signature(h, id, ...);
 *
 * Which of an instruction's groups a GPU is in depends on its rank, which only
 * the job knows, so the signature's text is not a list yet: hlo_own() makes it
 * one.
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
/* The number of what the kernel says of itself. */
uint32_t hlo_see(struct hlo *h, const struct dict *st, const struct event *ev);
/* When all are seen: how many numbers there are. */
size_t hlo_ready(struct hlo *h);
/* On TPUs the core runs an operation's start and its end, and a line of its own
 * may show all that is between. */
enum hlo_role {
	HLO_WHOLE,
	HLO_PART,   /* another event shows it whole */
	HLO_OPENS,  /* it ends with ... */
	HLO_CLOSES, /* ... the next of these with its pair */
};

struct hlo_signature {
	enum hlo_role role;
	uint32_t pair;
	size_t of_group; /* so many bytes of the text say which groups */
};

/* The signature of one into b, if it is whole or opens. */
struct hlo_signature hlo_signature(struct hlo *h, uint32_t seen,
    const struct bucket_rules *rules, struct buf *b);
/* How many ranks the groups of all these have at least; 0: not known. */
int64_t hlo_world(const struct hlo *h);

/* The GPUs' numbers by pids, of the fact "gpus"; how many there
 * are at least. */
int64_t hlo_gpus(struct map *to, struct arena *mem, struct str fact);

/* The signature as a list, with the group of this rank. */
void hlo_own(struct str text, int64_t rank, struct buf *b);

/*
 * Of records in time, by what was seen: pairs are joined, parts go; what does
 * not end is skipped. Their number of seen becomes that of sigs. How many are
 * left.
 */
struct rec;
size_t hlo_join(struct rec *recs, size_t n, const struct hlo_signature *seen,
    const uint32_t *sigs, uint64_t *nskipped);

/* ---- replicas.c ---- */

/*
 * Groups of ranks as a short text, empty where they are not known. From JSON:
 * lists of ranks, or of [source,target], whose chains are groups. What it
 * returns is how many ranks there are at least.
 */
int64_t replicas_put(struct buf *b, struct str groups, bool are_pairs);
/* The group of a rank: its members as text, and their number; or 0. */
int64_t replicas_of(struct str text, int64_t rank, struct buf *members);

#endif

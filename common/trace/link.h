/* SPDX-License-Identifier: MIT */
/* link: launch to GPU work, forward to backward: fields of the store */
#ifndef TL_TRACE_LINK_H
#define TL_TRACE_LINK_H

#include "trace/store.h"

enum link_by {
	LINK_DEFAULT,     /* correlation if launches have it, else ext */
	LINK_CORRELATION, /* all GPU events of a launch's correlation id */
	LINK_EXT,         /* arrows, checked by external id */
	LINK_FLOW,        /* the reference's rule, for comparison */
};
/* The words of --link, NULL at the end; LINK_DEFAULT is "auto". */
extern const char *const link_words[];

/* Kinds that lack a begin or end if not paired; frames may be open at any
 * time. */
#define KINDS_UNCLOSED                                        \
	(KINDS_GPU | KINDS_HOST | KIND_BIT(KIND_ANNOTATION) | \
	    KIND_BIT(KIND_GPU_ANNOTATION))

struct link_stats {
	bool by_flow;        /* by arrows, else all events of a key */
	bool by_corr;        /* the key: else the external id */
	uint64_t duplicates; /* GPU events twice in the file */
	uint64_t ambiguous;  /* GPU events that several calls may own */
	uint64_t no_launch;  /* GPU events whose call cannot launch */
	/* ops of a file that gives calls for each: several may have launched
	 * it, or none can have */
	uint64_t ambiguous_ops, unlaunched_ops;
	uint64_t unclosed;          /* work and ranges with only a begin or an
	                             * end */
	uint64_t linked, unlinked;  /* GPU events */
	uint64_t wrappers;          /* backward ops that can be linked */
	uint64_t bwd_seq, bwd_flow; /* those linked, by number, by arrow */
};

/*
 * Sets launch and the flags unlinked and duplicate. store_link_backward() sets
 * fwd and bwd; it may call tree_build() for the nesting of ops, so call it
 * after that if a tree is wanted. Counts are added to stats.
 */
void store_link(struct store *s, enum link_by by, struct link_stats *stats);
void store_link_backward(struct store *s, struct link_stats *stats);
/* Warns of duplicates, of work that its ids do not link, of begin events
 * without an end. */
void link_report(const struct link_stats *stats, const char *name);
/*
 * Whether a call of CUDA, HIP or their drivers puts no work on a GPU. All
 * others may: an unknown name is more likely a launch.
 */
bool link_launches_nothing(struct str name);
/* How launches were linked, in words. */
const char *link_rule(const struct link_stats *stats);
/* Counts links already in the stream. */
void store_count_links(const struct store *s, struct link_stats *stats);
/* Writes facts, metadata and events in reading order, with the links. */
void link_write(struct store *s, struct stream_out *out, bool is_ndjson);
/* Passes on the rest of a stream that is already linked. */
void link_pass_on(struct stream_in *in, struct stream_out *out);

#endif

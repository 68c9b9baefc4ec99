/* SPDX-License-Identifier: MIT */
/*
 * chain: annotations in a known order. Slices of a kind have the same ones in
 * the same order, so a sequence learns a tree: a link is an annotation after
 * those that lead to it, as written except length and value. A known annotation
 * costs the comparison of a word, its value is encoded for the stream, and the
 * link has the entries. args.c reads what fits no link, and all that follows.
 * Links hold numbers of the stream's strings and are made only once those
 * exist, so that strings are written when the first event needs them. When
 * strings are cleared, so are links: chain_forget().
 */
#ifndef TL_DECODE_PERFETTO_CHAIN_H
#define TL_DECODE_PERFETTO_CHAIN_H

#include "cmd/tl-decode/perfetto/args.h"

/* Entries of a chain; bytes of an annotation before its value. */
#define CHAIN_MAX 32
#define LINK_MAX 8

/*
 * Slices of a category with only a name, a length, a chain and perhaps flows:
 * events of one shape.
 */
struct usual {
	uint32_t category;
	uint32_t shape; /* plus 1; 0: unknown */
	bool has_flows;
};

struct link {
	/* as written: mask of the bytes that count, and their values */
	uint64_t mask, want;
	uint8_t nlen, nhead; /* bytes before content, before value */
	uint8_t form;        /* enum form in chain.c */
	uint8_t type;        /* of the entry */
	uint32_t known;      /* keys up to here: see args */
	uint32_t nentries, nnext;
	struct entry *entries; /* of the path up to here */
	/*
	 * links that follow: the last one used or one that fits nothing, a list
	 */
	struct link *likely, *next, *sibling;
	struct usual usual[8]; /* by category and flows */
};

static inline struct usual *
chain_usual(struct link *l, uint32_t category, bool has_flows)
{
	return &l->usual[(2 * category + has_flows) %
	    (sizeof l->usual / sizeof *l->usual)];
}

/*
 * Reads the annotations at at into empty args: fields of a message up to end,
 * with IN_PAD readable bytes after it. Returns their end.
 */
const unsigned char *chain_read(struct perfetto *p, struct sequence *q,
    const unsigned char *at, const unsigned char *end, struct args *to);
/* Moves what a chain read into the list. */
void chain_undo(struct perfetto *p, struct args *args);
/*
 * After clearing strings, or before renumbering texts: keeps what was read
 * without links.
 */
void chain_forget(struct perfetto *p);

#endif

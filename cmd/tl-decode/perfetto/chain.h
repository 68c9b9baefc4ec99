/* SPDX-License-Identifier: MIT */
/*
 * chain: annotations as they follow one another. The slices of a kind have the
 * same ones in the same order, so a sequence learns a tree of them: a link is
 * an annotation behind those that lead to it, as it is written but for its
 * length and value. One that is known costs a comparison of a word, and its
 * value goes encoded where the stream will have it; the entries of the stream
 * hang on the link. What no link fits is read as any annotation (args.c) and
 * stands behind.
 *
 * Links hold numbers of the stream's strings, and are made only where those are
 * there already: so a string is written when the first event needs it, whoever
 * reads that. Once strings are forgotten, all links are: chain_forget().
 */
#ifndef TL_DECODE_PERFETTO_CHAIN_H
#define TL_DECODE_PERFETTO_CHAIN_H

#include "cmd/tl-decode/perfetto/args.h"

/* Entries of a chain, and bytes of an annotation in front of its value. */
#define CHAIN_MAX 32
#define LINK_MAX 8

/* Slices of a category with nothing but a name, a length, the annotations of a
 * chain and perhaps flows are events of one shape. */
struct usual {
	uint32_t category;
	uint32_t shape; /* plus 1; 0: not known so far */
	bool has_flows;
};

struct link {
	/* as it is written: the bytes that count, and what they are */
	uint64_t mask, want;
	uint8_t nlen, nhead; /* bytes up to its content, and to its value */
	uint8_t form;        /* of the value: enum form in chain.c */
	uint8_t type;        /* of the entry */
	uint32_t known;      /* keys on the way here: see args */
	uint32_t nentries, nnext;
	struct entry *entries; /* all on the way here */
	/* those that follow: a list, and the one that did the last time, or
	 * one that fits nothing */
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
 * Reads the annotations at at, fields of a message up to end behind which
 * IN_PAD bytes can be read, into args that are empty. What is behind them.
 */
const unsigned char *chain_read(struct perfetto *p, struct sequence *q,
    const unsigned char *at, const unsigned char *end, struct args *to);
/* What the chain of args read stands in front of their list. */
void chain_undo(struct perfetto *p, struct args *args);
/* Behind the strings of the stream, or before texts have other numbers: what
 * has been read is kept without them. */
void chain_forget(struct perfetto *p);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * link: what the links between GPUs can carry, by which bandwidths are judged:
 * links/NAME.json, compiled in, and files of the same form; see
 * tl-collective(1), LINK FILES.
 */
#ifndef TL_COLLECTIVE_LINK_H
#define TL_COLLECTIVE_LINK_H

#include "base/base.h"

enum link_scope { LINK_INTRA, LINK_INTER, LINK_SCOPES };
enum link_per { PER_GPU, PER_PEER, PER_NODE };

struct link {
	struct str name;
	struct str
	    label; /* of which figure a share is: the name, or its peak */
	int scope, per;
	bool is_chosen; /* by --link */
	double gbps;    /* 1e9 bytes/s each way: achievable, or the peak */
	double hop_us;
	VEC(struct str) devices;
};

/* The link that bounds a group's collectives, and their bus bandwidth. */
struct link_limit {
	const struct link *link; /* NULL: unknown */
	double gbps;             /* 1e9 bytes/s */
};
struct group_link {
	struct link_limit ring, all2all;
};

/* The name of a device of the trace, JSON. */
struct str link_device(struct arena *mem, struct str device);
struct links; /* all there are, and those of --link */
struct links *links_new(void);
/* --link FILE|NAME: one of a scope; what is wrong with it ends the program. */
void links_choose(struct links *l, const char *name);

struct job;
struct coll;
/*
 * Each group's link: by --link, within nodes else by the GPUs' name. That of a
 * group is unknown where nobody says which of its ranks share a node.
 */
void links_find(struct job *j);
/* Its link is NULL where that is unknown. */
const struct link_limit *coll_limit(const struct job *j, const struct coll *c);
/* NAN where the link or the bandwidth is unknown. */
double coll_pct_of_link(const struct job *j, const struct coll *c);
/*
 * The full size from which on the latency of its link is less than a tenth of
 * the transfer: smaller messages are not judged by bandwidth. NAN: unknown.
 */
double coll_judged_from(const struct job *j, const struct coll *c);
/*
 * Measures each group's collectives against its link; what reaches more than
 * that is a note.
 */
void links_measure(struct job *j);
struct pgroup;
/* The nodes of its ranks, "0,3", or a text with p NULL: not known. */
struct str group_nodes(struct job *j, const struct pgroup *g);
/*
 * Less than pct of a link that --link names: a GPU's name alone is no proof of
 * how a machine is wired.
 */
bool link_is_slow(struct pgroup *g, double pct);
/* Appends "35 % of the 370 GB/s of NVLink4", of a group with such a share. */
void link_say(struct pgroup *g, struct buf *b);

#endif

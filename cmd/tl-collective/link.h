/* SPDX-License-Identifier: MIT */
/*
 * link: what links between GPUs carry, to judge bandwidths by: links/NAME.json,
 * compiled in, and files of that form; see LINK FILES in tl-collective(1).
 */
#ifndef TL_COLLECTIVE_LINK_H
#define TL_COLLECTIVE_LINK_H

#include "base/base.h"

enum link_scope { LINK_INTRA, LINK_INTER, LINK_SCOPES };
enum link_per { PER_GPU, PER_PEER, PER_NODE };

struct link {
	struct str name;
	struct str label; /* what shares are of: the name, or its peak */
	int scope, per;
	bool is_chosen; /* by --link */
	double gbps;    /* 1e9 bytes/s each way: achievable, else peak */
	double hop_us;
	VEC(struct str) devices;
};

/* The link that bounds a group, and its bus bandwidth. */
struct link_limit {
	const struct link *link; /* NULL: unknown */
	double gbps;             /* 1e9 bytes/s */
};
struct group_link {
	struct link_limit ring, all2all;
};

/* The name in a device fact (JSON). */
struct str link_device(struct arena *mem, struct str device);
struct links; /* all, and those of --link */
struct links *links_new(void);
/* Parses --link FILE|NAME, one per scope; an error ends the program. */
void links_choose(struct links *l, const char *name);

struct job;
struct coll;
/*
 * Finds each group's link: by --link, else within nodes by the GPUs' name.
 * Unknown if it is unknown which ranks share a node.
 */
void links_find(struct job *j);
/* Its link is NULL if unknown. */
const struct link_limit *coll_limit(const struct job *j, const struct coll *c);
/* NAN: link or bandwidth unknown. */
double coll_pct_of_link(const struct job *j, const struct coll *c);
/*
 * Full size from which the link's latency is less than a tenth of the transfer:
 * smaller messages are not judged. NAN: unknown.
 */
double coll_judged_from(const struct job *j, const struct coll *c);
/*
 * Measures each group against its link; more than the link carries is a note.
 */
void links_measure(struct job *j);
struct pgroup;
/* Nodes of its ranks as "0,3"; p NULL: unknown. */
struct str group_nodes(struct job *j, const struct pgroup *g);
/*
 * Below pct of a link of --link: a GPU's name alone does not prove the wiring.
 */
bool link_is_slow(struct pgroup *g, double pct);
/* Appends "35 % of the 370 GB/s of NVLink4", for a group with a share. */
void link_say(struct pgroup *g, struct buf *b);

#endif

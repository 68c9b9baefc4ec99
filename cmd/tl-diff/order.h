/* SPDX-License-Identifier: MIT */
/* Calls that both sides make, in another order. */
#ifndef TL_DIFF_ORDER_H
#define TL_DIFF_ORDER_H

#include "cmd/tl-diff/remarks.h"

/* A call that moved, in a merged tree: its node, and one that it crosses. */
struct move {
	uint32_t id, past;
	bool was_before; /* of it, on the first side; behind it on the second */
};

/* Those of the first pair of runs, by id. */
struct moves {
	VEC(struct move) list;
	bool is_done;
};

/* What moved in a pair of runs, as few calls as may have done so. */
void moves_find(struct moves *m, struct remarks *told, const struct diff *d);
/* How a node of the first pair's merged tree moved; NULL: it did not. */
const struct move *moves_of(const struct moves *m, uint32_t id);

#endif

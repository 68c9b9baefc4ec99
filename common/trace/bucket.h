/* SPDX-License-Identifier: MIT */
/* bucket: what a GPU event does */
#ifndef TL_TRACE_BUCKET_H
#define TL_TRACE_BUCKET_H

#include "stream/stream.h"

enum bucket {
	BUCKET_NONE, /* no GPU work */
	BUCKET_COMPUTE,
	BUCKET_COMM,
	BUCKET_MEMCPY,
	BUCKET_COUNT
};

/*
 * Copies are known by kind, and by the names that ROCm up to 7.1 gave to the
 * kernels that copy. Of the rest, a name with rccl, nccl or cross_device_reduce
 * in it, in any case, is a collective, and so is one that XLA gave to such an
 * instruction (all-reduce-start.3), as TPUs have them; --comm-pattern replaces
 * the last of the three by POSIX extended regular expressions (any case,
 * anywhere in the name), with =TYPE behind one what these do, for programs that
 * ask. Zeroes to start with. bucket_of_event() remembers the answer for each
 * name.
 */
struct bucket_rules {
	VEC(struct bucket_pattern *) patterns; /* compiled */
	VEC(uint8_t) known;                    /* by name */
};

#define OPT_BUCKET_COMM OPT_OF_TRACE
/* clang-format off */
#define OPT_BUCKET                                                             \
	{ OPT_BUCKET_COMM, "comm-pattern", "RE", "kernels like RE are collectives too" }
/* clang-format on */

/* Takes the shared option; false if ch is another. A bad RE is a usage error */
bool bucket_opt(struct bucket_rules *r, const struct optparse *op, int ch);
enum bucket bucket_of(
    const struct bucket_rules *r, enum kind kind, struct str name);
enum bucket bucket_slow(struct bucket_rules *r, const struct dict *st,
    enum kind kind, uint32_t name);
/* What a collective of this name does, by the patterns; p NULL: not known. */
struct str bucket_comm_type(const struct bucket_rules *r, struct str name);
void bucket_free(struct bucket_rules *r);

/* Two answers a name: of a kernel and of a memset. */
static inline enum bucket
bucket_of_event(
    struct bucket_rules *r, const struct dict *st, const struct event *ev)
{
	unsigned kind = ev->shape->kind;
	unsigned known = 0;

	if (kind == KIND_MEMCPY)
		return BUCKET_MEMCPY;
	if (LIKELY(ev->name < r->known.n))
		known = (unsigned)r->known.v[ev->name] >>
		    (kind == KIND_MEMSET ? 4 : 0);
	if (LIKELY((known & 0xf) != 0 && event_is(ev, KINDS_GPU)))
		return (enum bucket)((known & 0xf) - 1);
	return bucket_slow(r, st, kind, ev->name);
}

#endif

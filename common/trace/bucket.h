/* SPDX-License-Identifier: MIT */
/* bucket: whether a GPU event is computation, communication or a copy */
#ifndef TL_TRACE_BUCKET_H
#define TL_TRACE_BUCKET_H

#include "stream/stream.h"

enum bucket {
	BUCKET_NONE, /* not GPU work */
	BUCKET_COMPUTE,
	BUCKET_COMM,
	BUCKET_MEMCPY,
	BUCKET_COUNT
};

/*
 * Copies are known by kind, and by the names of copy kernels of ROCm up to 7.1.
 * Else a name with rccl, nccl or cross_device_reduce in it, in any case, is a
 * collective, and so is XLA's name of one (all-reduce-start.3), as on TPUs.
 * --comm-pattern replaces cross_device_reduce by POSIX extended regular
 * expressions (any case, anywhere in the name); with =TYPE one also gives the
 * type, for programs that use it. Start with zeroes. bucket_of_event() caches
 * the answer per name.
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

/* Handles the shared option; false if ch is another. A bad RE is a usage
 * error. */
bool bucket_opt(struct bucket_rules *r, const struct optparse *op, int ch);
enum bucket bucket_of(
    const struct bucket_rules *r, enum kind kind, struct str name);
enum bucket bucket_slow(struct bucket_rules *r, const struct dict *st,
    enum kind kind, uint32_t name);
/* The type of a collective of this name, by the patterns; p NULL: unknown. */
struct str bucket_comm_type(const struct bucket_rules *r, struct str name);
void bucket_free(struct bucket_rules *r);

/* The direction of a copy, as far as its name says. */
enum copy_way {
	COPY_OTHER,
	COPY_H2D,
	COPY_D2H,
	COPY_D2D,
};
enum copy_way copy_way(struct str name);

/* Two answers per name: as a kernel and as a memset. */
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

/* SPDX-License-Identifier: MIT */
/* kind: what an event is. */
#ifndef TL_STREAM_KIND_H
#define TL_STREAM_KIND_H

#include "base/base.h"

/* An event's kind. The numbers are in files: append, never reorder. */
enum kind {
	KIND_OTHER = 0,
	KIND_OP,             /* host op: dispatcher, autograd, custom */
	KIND_RUNTIME,        /* runtime API call; may launch */
	KIND_DRIVER,         /* driver API call; may launch */
	KIND_PYTHON,         /* Python frame */
	KIND_ANNOTATION,     /* user's range on the host */
	KIND_KERNEL,         /* GPU work ... */
	KIND_MEMCPY,         /* ... */
	KIND_MEMSET,         /* ... to here */
	KIND_GPU_ANNOTATION, /* user's range projected on the GPU */
	KIND_SYNC,           /* synchronization row on the GPU, no work */
	KIND_GPU_EVENT,      /* event record on the GPU, no work */
	KIND_OVERHEAD,       /* the profiler's own cost */
	KIND_SPAN,           /* the profiler's window */
	KIND_FLOW,           /* arrow: s, t, f */
	KIND_META,           /* process and thread names: M */
	KIND_INSTANT,        /* i, I, R */
	KIND_MEMORY,         /* allocator instant */
	KIND_COUNTER,        /* C */
	KIND_ASYNC,          /* b n e, S T p F */
	KIND_OBJECT,         /* N O D */
	KIND_SAMPLE,         /* P */
	KIND_DUMP,           /* V v: memory dump */
	KIND_MARK,           /* c and others that only mark */
	KIND_SLICE,          /* any other slice */
	KIND_END,            /* E: the end of a B */
	KIND_COUNT
};

#define KIND_BIT(k) (UINT32_C(1) << (k))
#define KINDS_ALL UINT32_MAX
/*
 * In a raw trace Python frames are nested, to find what is recomputed, but not
 * read.
 */
#define KINDS_NESTED_FRAMES KIND_BIT(KIND_COUNT)
#define KINDS_GPU \
	(KIND_BIT(KIND_KERNEL) | KIND_BIT(KIND_MEMCPY) | KIND_BIT(KIND_MEMSET))
#define KINDS_LAUNCH (KIND_BIT(KIND_RUNTIME) | KIND_BIT(KIND_DRIVER))
#define KINDS_HOST (KINDS_LAUNCH | KIND_BIT(KIND_OP))

extern const char *const kind_words[KIND_COUNT];
/* The kind of a word, or -1. */
int kind_of_word(struct str word);
/*
 * The kinds of a comma-separated list, an option's argument, as bits. Unknown
 * and empty words are a usage error.
 */
uint32_t opt_kinds(const struct optparse *op);

#endif

/* SPDX-License-Identifier: MIT */
/* shape: the layout of an event, and the types of its values. */
#ifndef TL_STREAM_SHAPE_H
#define TL_STREAM_SHAPE_H

#include "stream/kind.h"

/* The type of a value. The numbers are in files. */
enum value_type {
	VAL_NULL = 0,
	VAL_FALSE = 1,
	VAL_TRUE = 2,
	VAL_INT = 3,    /* int64 */
	VAL_UINT = 4,   /* 2^63 .. 2^64-1 */
	VAL_DEC = 5,    /* struct dec: a decimal, kept digit for digit */
	VAL_NUM = 6,    /* any other number, as its text (also NaN) */
	VAL_STR = 7,    /* string, interned */
	VAL_STRX = 8,   /* string over STREAM_INTERN_MAX, inline */
	VAL_JSON = 9,   /* list or object as minified text, interned */
	VAL_JSONX = 10, /* the same, inline */
	VAL_COUNT
};

/* Longer strings and lists are inline, not interned. */
#define STREAM_INTERN_MAX 4096

struct value {
	enum value_type type;
	uint32_t id; /* STR, JSON, NUM: number in the dictionary */
	int64_t i;   /* INT */
	uint64_t u;  /* UINT */
	struct dec dec;
	struct str s; /* NUM, STR, STRX, JSON, JSONX */
};

/* Where an entry belongs. The numbers are in files. */
enum group {
	GROUP_ARGS = 0, /* member of the event's args */
	GROUP_TOP = 1,  /* other member of the event itself (bp, id, s, ...), or
	                   the raw form of a fixed field, if not canonical (a
	                   string ts, sub-ns digits) */
	GROUP_FIELD = 2,  /* a fixed field without a member in the source; these
	                   * come before all others */
	GROUP_DUP = 3,    /* earlier value of a repeated key of args */
	GROUP_DUPTOP = 4, /* the same of the event itself */
};

/* The meaning of an entry. The numbers are in files. */
enum role {
	ROLE_NONE = 0,
	ROLE_CORR = 1,       /* correlation id: launch to GPU event */
	ROLE_EXT = 2,        /* external id: host op to what it launched */
	ROLE_DEV = 3,        /* device ordinal */
	ROLE_GPU_STREAM = 4, /* GPU stream or queue */
	ROLE_COUNT
};

struct entry {
	uint32_t key; /* in the dictionary */
	uint8_t type; /* enum value_type */
	uint8_t group;
	uint8_t role;
	uint8_t unused; /* 0: so they can be compared as bytes */
};

/* Which fixed fields a shape has. The numbers are in files. */
enum {
	HAS_INST = 1 << 0,
	HAS_TRACK = 1 << 1,
	HAS_TS = 1 << 2,
	HAS_DUR = 1 << 3,
	HAS_NAME = 1 << 4,
	HAS_FLAGS = 1 << 5,
	HAS_DEPTH = 1 << 6,
	HAS_PARENT = 1 << 7,
	HAS_LAUNCH = 1 << 8,
	HAS_FWD = 1 << 9,
	HAS_BWD = 1 << 10,
	HAS_NDESC = 1 << 11,
	HAS_NGPU = 1 << 12,
	HAS_ALL = (1 << 13) - 1,
	/* added by tl-link and tl-tree */
	HAS_TREE = HAS_DEPTH | HAS_PARENT | HAS_LAUNCH | HAS_FWD | HAS_BWD |
	    HAS_NDESC | HAS_NGPU,
};

/* Properties of a shape besides its entries. The numbers are in files. */
enum {
	SHAPE_ARGS = 1 << 0,       /* args was there, if only empty */
	SHAPE_DEV_PID = 1 << 1,    /* no entry for it: dev is the pid */
	SHAPE_STREAM_TID = 1 << 2, /* likewise: gpu_stream is the tid */
	SHAPE_FLAGS = (1 << 3) - 1,
};

#define SHAPE_MAX_ENTRIES 4096

/* The category of ops and frames added by trace/hlo-put.c. */
#define CATEGORY_HLO "hlo"
/* That of step annotations inferred by trace/store-infer.c. */
#define CATEGORY_INFERRED "inferred_step"

/* The arguments of an op: lists among its args. */
enum op_list {
	LIST_DIMS,
	LIST_TYPES,
	LIST_STRIDES,
	LIST_CONCRETE,
	LIST_HLO, /* an XLA instruction, see tl-stream(5) */
	OP_LISTS,
};

struct shape {
	uint32_t cat; /* in the dictionary, or INTERN_NONE */
	uint16_t has;
	uint8_t kind;
	uint8_t ph; /* phase letter of Chrome traces; 0: none */
	uint8_t flags;
	/* by category, CATEGORY_HLO or _INFERRED; set by dict_shape() */
	bool is_hlo, is_inferred;
	uint8_t nroles;     /* entries with a role */
	uint16_t last_role; /* index of the last entry with a role, plus 1 */
	/* index of these lists' entries, plus 1; 0: none. Set by
	 * dict_shape() */
	uint16_t lists[OP_LISTS], last_list;
	uint32_t nentries;
	struct entry *entries;
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * args: arguments of a slice, kept until its end. Keys are numbers in
 * perfetto.texts; keys that are looked up have fixed ones.
 */
#ifndef TL_DECODE_PERFETTO_ARGS_H
#define TL_DECODE_PERFETTO_ARGS_H

#include "cmd/tl-decode/decode.h"

struct perfetto;
struct sequence;
struct link;

/* Keys with fixed numbers in perfetto.texts. */
/* clang-format off */
#define EACH_KEY(X) \
	X(KEY_BEGIN_NS, "begin_ns", ROLE_NONE) \
	X(KEY_END_NS, "end_ns", ROLE_NONE) \
	X(KEY_DELTA_NS, "delta_ns", ROLE_NONE) \
	X(KEY_TID, "tid", ROLE_NONE) \
	X(KEY_AGENT, "agent", ROLE_NONE) \
	X(KEY_SRC_AGENT, "src_agent", ROLE_NONE) \
	X(KEY_DST_AGENT, "dst_agent", ROLE_NONE) \
	X(KEY_CBID, "cbid", ROLE_NONE) \
	X(KEY_SYNC_KIND, "cuda_sync_kind", ROLE_NONE) \
	X(KEY_CORRELATION, "correlation", ROLE_CORR) \
	X(KEY_CORRELATION_ID, "correlation_id", ROLE_CORR) \
	X(KEY_CORR_ID, "corr_id", ROLE_CORR) \
	X(KEY_EXTERNAL_ID, "External id", ROLE_EXT) \
	X(KEY_EXTERNAL_ID_2021, "external id", ROLE_EXT) \
	X(KEY_DEVICE, "device", ROLE_DEV) \
	X(KEY_STREAM, "stream", ROLE_GPU_STREAM) \
	X(KEY_STREAM_ID, "stream_ID", ROLE_GPU_STREAM) \
	X(KEY_STREAM_ID_ROCPD, "stream_id", ROLE_GPU_STREAM) \
	X(KEY_FLOW_IDS, "flow_ids", ROLE_NONE) \
	X(KEY_BLOCK, "workgroup_size", ROLE_NONE) \
	X(KEY_GRID, "grid_size", ROLE_NONE) \
	X(KEY_ARGS, "args", ROLE_NONE) \
	X(KEY_METADATA, "metadata", ROLE_NONE) \
	X(KEY_DEBUG, "debug", ROLE_NONE) \
	X(KEY_PYTHON_ID, "Python id", ROLE_NONE) \
	X(KEY_NONE_GIVEN, "", ROLE_NONE)
/* clang-format on */

enum key_number {
#define X(name, text, role) name,
	EACH_KEY(X)
#undef X
	    KEYS_N
};
_Static_assert(KEYS_N <= 32, "args.known has a bit for each");

extern const struct known_key {
	struct str text;
	enum role role;
} perfetto_keys[KEYS_N];

/* A value; key: a number in perfetto.texts. */
struct arg {
	uint32_t key;
	uint8_t type, group;
	bool is_name;   /* STR, JSON: i is a number in perfetto.texts */
	int64_t i;      /* INT, UINT */
	size_t at, len; /* in text: NUM, long STR and JSON */
};

struct args {
	VEC(struct arg) list;
	uint32_t known; /* a bit per known key in the list */
	struct buf text;
	/*
	 * precedes the list, or NULL: see chain.h; its values are the first
	 * bytes of text
	 */
	struct link *chain;
	size_t chain_len;
};

/* Adds a DebugAnnotation at this depth of containers. */
bool args_add(struct perfetto *p, const struct sequence *q, struct str bytes,
    unsigned depth, struct args *to);
/*
 * Adds a TrackEvent's annotation and those that follow it directly; returns
 * their end.
 */
const unsigned char *args_add_run(struct perfetto *p, const struct sequence *q,
    struct str bytes, const unsigned char *end, struct args *to);
static inline struct arg *
args_put(struct args *to, uint32_t key, enum value_type type)
{
	struct arg *a = vec_add(&to->list);

	a->key = key;
	a->type = (uint8_t)type;
	a->group = GROUP_ARGS;
	a->is_name = false;
	a->i = 0;
	if (key < KEYS_N)
		to->known |= UINT32_C(1) << key;
	return a;
}

static inline void
args_int(struct args *to, uint32_t key, int64_t v)
{
	args_put(to, key, VAL_INT)->i = v;
}

static inline void
args_uint(struct args *to, uint32_t key, uint64_t v)
{
	args_put(to, key, v > INT64_MAX ? VAL_UINT : VAL_INT)->i = (int64_t)v;
}

/*
 * Whether a key's value has a meaning: begin, end, place, launch, or more
 * arguments.
 */
static inline bool
args_is_looked_at(uint32_t key)
{
	switch (key) {
	case KEY_BEGIN_NS:
	case KEY_END_NS:
	case KEY_DELTA_NS:
	case KEY_TID:
	case KEY_AGENT:
	case KEY_SRC_AGENT:
	case KEY_DST_AGENT:
	case KEY_FLOW_IDS:
	case KEY_BLOCK:
	case KEY_GRID:
	case KEY_METADATA:
	case KEY_DEBUG: return true;
	default: return false;
	}
}

/* An id may be text, a device is a number. */
static inline enum role
args_role(uint32_t key, enum value_type type)
{
	enum role role = ROLE_NONE;

	if (LIKELY(key >= KEYS_N))
		return ROLE_NONE;
	role = perfetto_keys[key].role;
	if (type == VAL_INT ||
	    (type == VAL_STR && role != ROLE_DEV && role != ROLE_GPU_STREAM))
		return role;
	return ROLE_NONE;
}

void args_text(struct perfetto *p, struct args *to, uint32_t key, struct str s);
/* A list or object as minified text, which rarely repeats. */
void args_json(struct args *to, uint32_t key, struct str s);
struct value args_value(
    const struct perfetto *p, const struct args *of, const struct arg *a);
/* A value outside of args; its text is in p->text. */
struct value args_double(struct perfetto *p, double d);
/* The first of a known key, or NULL. */
static inline const struct arg *
args_find(const struct args *of, enum key_number key)
{
	const struct arg *a = of->list.v;

	if ((of->known >> key & 1) == 0)
		return NULL;
	while (a->key != key)
		a++;
	return a;
}

/* An integer among them. */
static inline bool
args_get_int(const struct args *of, enum key_number key, int64_t *i)
{
	const struct arg *a = args_find(of, key);

	if (a == NULL || a->type != VAL_INT)
		return false;
	*i = a->i;
	return true;
}

static inline void
args_clear(struct args *a)
{
	a->list.n = a->text.len = a->known = 0;
	a->chain = NULL;
}

void args_free(struct args *a);

#endif

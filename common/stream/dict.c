/* SPDX-License-Identifier: MIT */
/* Strings, shapes and tracks by number; equal content, equal number. */
#include "stream/from-json.h"
#include "stream/stream.h"

struct dict *
dict_create(void)
{
	struct dict *st = xcalloc(1, sizeof *st);

	st->text = intern_create();
	st->shape_ids = intern_create();
	st->track_ids = intern_create();
	st->thread_ids = intern_create();
	st->mem = arena_create();
	return st;
}

void
dict_destroy(struct dict *st)
{
	if (st == NULL)
		return;
	vec_free(&st->shapes);
	vec_free(&st->tracks);
	vec_free(&st->threads);
	intern_destroy(st->text);
	intern_destroy(st->shape_ids);
	intern_destroy(st->track_ids);
	intern_destroy(st->thread_ids);
	arena_destroy(st->mem);
	buf_free(&st->bytes);
	vec_release(st);
}

void
dict_clear(struct dict *st)
{
	st->shapes.n = st->tracks.n = st->threads.n = 0;
	intern_clear(st->text);
	intern_clear(st->shape_ids);
	intern_clear(st->track_ids);
	intern_clear(st->thread_ids);
	memset(st->with_fields, 0, sizeof st->with_fields);
	memset(st->recent, 0, sizeof st->recent);
	arena_reset(st->mem, 0);
}

/* All that distinguishes shapes. */
static struct str
shape_bytes(struct dict *st, const struct shape *s)
{
	const uint32_t head[] = { s->cat,
		(uint32_t)s->has << 16 | (uint32_t)s->kind << 8 | s->ph,
		s->flags };

	st->bytes.len = 0;
	buf_put(&st->bytes, head, sizeof head);
	for (uint32_t i = 0; i < s->nentries; i++) {
		const struct entry *e = &s->entries[i];
		const uint32_t entry[] = { e->key,
			(uint32_t)e->type << 16 | (uint32_t)e->group << 8 |
			    e->role };

		buf_put(&st->bytes, entry, sizeof entry);
	}
	return buf_str(&st->bytes);
}

static void
count_roles(struct shape *s)
{
	s->nroles = 0;
	s->last_role = 0;
	for (uint32_t i = 0; i < s->nentries; i++) {
		if (s->entries[i].role == ROLE_NONE)
			continue;
		s->nroles = (uint8_t)(s->nroles + (s->nroles < UINT8_MAX));
		s->last_role = (uint16_t)(i + 1);
	}
}

/* Of repeated keys the last counts. */
static void
find_lists(const struct dict *st, struct shape *s)
{
	static const struct str words[OP_LISTS] = {
		[LIST_DIMS] = STR_INIT("Input Dims"),
		[LIST_TYPES] = STR_INIT("Input type"),
		[LIST_STRIDES] = STR_INIT("Input Strides"),
		[LIST_CONCRETE] = STR_INIT("Concrete Inputs"),
		[LIST_HLO] = STR_INIT("hlo"),
	};

	memset(s->lists, 0, sizeof s->lists);
	s->last_list = 0;
	for (uint32_t i = 0; i < s->nentries; i++) {
		const struct entry *e = &s->entries[i];

		if (e->group != GROUP_ARGS ||
		    (e->type != VAL_JSON && e->type != VAL_JSONX))
			continue;
		for (int k = 0; k < OP_LISTS; k++)
			if (str_eq(dict_get(st, e->key), words[k]))
				s->lists[k] = s->last_list = (uint16_t)(i + 1);
	}
}

uint32_t
dict_shape(struct dict *st, const struct shape *shape)
{
	uint32_t id = intern_put(st->shape_ids, shape_bytes(st, shape));
	size_t size = shape->nentries * sizeof *shape->entries;
	struct shape *s;

	if (id < st->shapes.n)
		return id;
	s = arena_alloc(st->mem, sizeof *s);
	*s = *shape;
	s->entries = arena_alloc(st->mem, size > 0 ? size : 1);
	if (size > 0)
		memcpy(s->entries, shape->entries, size);
	count_roles(s);
	find_lists(st, s);
	s->is_hlo = (s->kind == KIND_OP || s->kind == KIND_PYTHON ||
			s->kind == KIND_ANNOTATION) &&
	    str_eq(dict_get(st, s->cat), STR(CATEGORY_HLO));
	s->is_inferred = s->kind == KIND_ANNOTATION &&
	    str_eq(dict_get(st, s->cat), STR(CATEGORY_INFERRED));
	vec_push(&st->shapes, s);
	return id;
}

uint32_t
dict_shape_with(struct dict *st, uint32_t id, unsigned has)
{
	uint64_t want = ((uint64_t)id << 16 | has) + 1;
	size_t at =
	    hash_u64(want) % (sizeof st->with_fields / sizeof *st->with_fields);

	if (UNLIKELY(st->with_fields[at].want != want)) {
		struct shape shape = *st->shapes.v[id];

		shape.has = (uint16_t)has;
		st->with_fields[at].want = want;
		st->with_fields[at].shape = dict_shape(st, &shape);
	}
	return st->with_fields[at].shape;
}

static bool
is_digits(struct str s)
{
	size_t i = s.len > 0 && s.p[0] == '-';

	if (i == s.len)
		return false;
	for (; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

static struct key
key_of_text(const struct dict *st, const char *text, size_t len)
{
	return (struct key){ intern_put(st->text, (struct str){ text, len }),
		KEY_STR };
}

/* Equal decimals of up to 18 digits, as 1.5 and 1.50, are one number; what
 * exceeds int64 or is no integer is text. */
static struct key
key_of_dec(const struct dict *st, struct dec dec)
{
	char text[NUM_DEC_MAX];
	int64_t n;
	bool exact;

	if (num_dec_scale(dec, 0, &n, &exact) && exact)
		return (struct key){ n, KEY_INT };
	for (; dec.mant % 10 == 0; dec.mant /= 10)
		dec.exp10++;
	return key_of_text(st, text, num_put_dec(text, dec));
}

static struct key
key_of_str(const struct value *v)
{
	int64_t n;

	if (is_digits(v->s) && num_i64(v->s, &n))
		return (struct key){ n, KEY_INT };
	return (struct key){ v->id, KEY_STR };
}

struct key
key_of_value(const struct dict *st, const struct value *v)
{
	char text[24];
	struct value number;

	switch (v->type) {
	case VAL_INT: return (struct key){ v->i, KEY_INT };
	case VAL_DEC: return key_of_dec(st, v->dec);
	case VAL_UINT: return key_of_text(st, text, num_put_u64(text, v->u));
	case VAL_NUM:
		/* hostile binary may have any such number, NDJSON may not */
		number = value_of_digits(v->s);
		if (number.type != VAL_NUM)
			return key_of_value(st, &number);
		return key_of_str(v);
	case VAL_STR: return key_of_str(v);
	default: return (struct key){ 0, KEY_NONE };
	}
}

static void
put_raw(struct buf *b, bool has, const struct value *v)
{
	buf_putc(b, has ? (char)(v->type + 1) : 0);
	if (has)
		value_encode(b, v);
}

/* Inline text of a track lives as long as the strings. */
static struct key
own(struct dict *st, bool has, struct value *v)
{
	if (!has)
		return (struct key){ 0, KEY_NONE };
	if (v->type == VAL_STRX || v->type == VAL_JSONX)
		v->s = arena_str(st->mem, v->s);
	return key_of_value(st, v);
}

/* The first track of its thread, possibly itself. */
static uint32_t
thread_of(struct dict *st, const struct track *t, uint32_t no)
{
	const uint64_t keys[] = { t->src, (uint64_t)t->pid.n,
		(uint64_t)t->pid.type << 8 | t->tid.type, (uint64_t)t->tid.n };
	uint32_t id = intern_put(
	    st->thread_ids, (struct str){ (const char *)keys, sizeof keys });

	if (id == st->threads.n)
		vec_push(&st->threads, no);
	return st->threads.v[id];
}

uint32_t
dict_track(struct dict *st, const struct track *track)
{
	struct buf *b = &st->bytes;
	struct track *t;
	uint32_t id;

	b->len = 0;
	buf_put(b, &track->src, sizeof track->src);
	put_raw(b, track->has_pid, &track->raw_pid);
	put_raw(b, track->has_tid, &track->raw_tid);
	id = intern_put(st->track_ids, buf_str(b));
	if (id < st->tracks.n)
		return id;
	t = vec_add(&st->tracks);
	*t = *track;
	t->pid = own(st, t->has_pid, &t->raw_pid);
	t->tid = own(st, t->has_tid, &t->raw_tid);
	t->thread = thread_of(st, t, id);
	return id;
}

enum role
role_of_key(struct str key, enum kind kind)
{
	static const struct {
		struct str key;
		enum role role;
		uint32_t kinds;
	} roles[] = {
		{ STR_INIT("correlation"), ROLE_CORR, KINDS_ALL },
		{ STR_INIT("correlation_id"), ROLE_CORR,
		    KINDS_GPU | KINDS_LAUNCH }, /* XLA's profiler */
		{ STR_INIT("External id"), ROLE_EXT, KINDS_ALL },
		{ STR_INIT("external id"), ROLE_EXT, KINDS_ALL },
		{ STR_INIT("device"), ROLE_DEV,
		    KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) |
			KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT) },
		/* a Triton op on the host has a stream, too */
		{ STR_INIT("stream"), ROLE_GPU_STREAM,
		    KINDS_GPU | KIND_BIT(KIND_GPU_ANNOTATION) |
			KIND_BIT(KIND_SYNC) | KIND_BIT(KIND_GPU_EVENT) },
		{ STR_INIT("sycl queue"), ROLE_GPU_STREAM, KINDS_GPU },
	};

	/* the length rules out most keys */
	if (key.len != 6 && key.len != 10 && key.len != 11 && key.len != 14)
		return ROLE_NONE;
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if ((roles[i].kinds & KIND_BIT(kind)) != 0 &&
		    str_eq(key, roles[i].key))
			return roles[i].role;
	return ROLE_NONE;
}

/* SPDX-License-Identifier: MIT */
/* Encoded values, and iteration over an event's entries. */
#include "stream/wire.h"

void
value_encode(struct buf *b, const struct value *v)
{
	switch (v->type) {
	case VAL_INT: buf_varint(b, zigzag(v->i)); break;
	case VAL_UINT: buf_varint(b, v->u); break;
	case VAL_DEC:
		buf_varint(b, zigzag(v->dec.mant));
		buf_varint(b, zigzag(v->dec.exp10));
		break;
	case VAL_NUM:
	case VAL_STR:
	case VAL_JSON: buf_varint(b, v->id); break;
	case VAL_STRX:
	case VAL_JSONX:
		buf_varint(b, v->s.len);
		buf_put(b, v->s.p, v->s.len);
		break;
	default: break;
	}
}

/* Whether a value is the number of a string. */
static inline bool
is_interned(enum value_type type)
{
	return type == VAL_STR || type == VAL_JSON || type == VAL_NUM;
}

static bool
text_of_id(const struct dict *st, uint64_t id, struct value *v)
{
	if (id >= INTERN_NONE)
		return false;
	v->id = (uint32_t)id;
	if (st == NULL)
		return true;
	if (id >= st->text->list.n)
		return false;
	v->s = intern_get(st->text, v->id);
	return true;
}

static bool
inline_text(const unsigned char **p, const unsigned char *end, uint64_t len,
    struct value *v)
{
	if (len > (uint64_t)(end - *p))
		return false;
	v->s = (struct str){ (const char *)*p, (size_t)len };
	*p += len;
	return true;
}

void
value_store(struct dict *st, struct value *v)
{
	bool is_long = v->s.len > STREAM_INTERN_MAX;

	if (v->type == VAL_STR || v->type == VAL_STRX)
		v->type = is_long ? VAL_STRX : VAL_STR;
	else if (v->type == VAL_JSON || v->type == VAL_JSONX)
		v->type = is_long ? VAL_JSONX : VAL_JSON;
	if (!is_interned(v->type))
		return;
	v->id = intern_put(st->text, v->s);
	v->s = intern_get(st->text, v->id);
}

#define DEC_MANT_END INT64_C(1000000000000000000)

bool
value_decode(const unsigned char **p, const unsigned char *end,
    enum value_type type, const struct dict *st, struct value *v)
{
	uint64_t u, e;

	v->type = type;
	if (type <= VAL_TRUE)
		return true;
	if (!varint_get(p, end, &u))
		return false;
	switch (type) {
	case VAL_INT: v->i = unzigzag(u); return true;
	case VAL_UINT: v->u = u; return true;
	case VAL_DEC:
		if (!varint_get(p, end, &e))
			return false;
		v->dec.mant = unzigzag(u);
		/* up to 18 digits */
		if (v->dec.mant <= -DEC_MANT_END || v->dec.mant >= DEC_MANT_END)
			return false;
		if (unzigzag(e) < -400 || unzigzag(e) > 400)
			return false;
		v->dec.exp10 = (int)unzigzag(e);
		return true;
	case VAL_NUM:
	case VAL_STR:
	case VAL_JSON: return text_of_id(st, u, v);
	case VAL_STRX:
	case VAL_JSONX: return inline_text(p, end, u, v);
	default: return false;
	}
}

static inline bool
skip(const unsigned char **p, const unsigned char *end, enum value_type type)
{
	struct value v;
	uint64_t u;

	if (type == VAL_STRX || type == VAL_JSONX)
		return value_decode(p, end, type, NULL, &v);
	return type <= VAL_TRUE ||
	    (varint_get(p, end, &u) &&
		(type != VAL_DEC || varint_get(p, end, &u)));
}

/* The same if the encoding has other numbers of strings. */
static bool
decode(const unsigned char **p, const unsigned char *end, enum value_type type,
    const struct dict *st, const uint32_t *ids, uint32_t nids, struct value *v)
{
	if (ids == NULL)
		return value_decode(p, end, type, st, v);
	if (!value_decode(p, end, type, NULL, v))
		return false;
	if (!is_interned(type))
		return true;
	return v->id < nids && text_of_id(st, ids[v->id], v);
}

struct entries
entries_of(const struct dict *st, const struct event *ev)
{
	return (struct entries){
		.st = st,
		.next = ev->shape->entries,
		.last = ev->shape->entries + ev->shape->nentries,
		.p = ev->vals,
		.end = ev->vals + ev->vals_len,
		.ids = ev->ids,
		.nids = ev->nids,
		.src = ev->src,
		.id = ev->uid.id,
	};
}

bool
entries_get(struct entries *it)
{
	if (it->next == it->last || it->is_bad)
		return false;
	it->entry = it->next++;
	it->is_bad = !decode(&it->p, it->end, it->entry->type, it->st, it->ids,
	    it->nids, &it->val);
	return !it->is_bad;
}

bool
event_is_sound(const struct dict *st, const struct event *ev)
{
	struct entries it = entries_of(st, ev);

	while (entries_get(&it))
		continue;
	return !it.is_bad;
}

bool
event_arg(const struct dict *st, const struct event *ev, struct str key,
    struct value *v)
{
	uint32_t id = intern_find(st->text, key, hash_bytes(key.p, key.len));
	struct entries it = entries_of(st, ev);

	if (id == INTERN_NONE)
		return false;
	while (entries_next(&it)) {
		if (it.entry->key == id && it.entry->group == GROUP_ARGS) {
			*v = it.val;
			return true;
		}
	}
	return false;
}

bool
event_lists(
    const struct dict *st, const struct event *ev, struct value lists[OP_LISTS])
{
	const struct shape *s = ev->shape;
	struct entries it = entries_of(st, ev);

	if (s->last_list == 0)
		return false;
	for (int k = 0; k < OP_LISTS; k++)
		lists[k].type = VAL_NULL;
	for (unsigned i = 1; i <= s->last_list; i++, it.next++) {
		int k = 0;

		while (k < OP_LISTS && s->lists[k] != i)
			k++;
		it.entry = it.next;
		if (k == OP_LISTS ? !skip(&it.p, it.end, it.entry->type)
				  : !decode(&it.p, it.end, it.entry->type, st,
					it.ids, it.nids, &lists[k]))
			entries_die(&it);
	}
	return true;
}

/* The next value as a key; nearly all are integers. */
static inline bool
next_key(const unsigned char **p, const struct event *ev, const struct dict *st,
    enum value_type type, struct key *k)
{
	struct value v;
	uint64_t u;

	if (LIKELY(type == VAL_INT)) {
		if (!varint_get(p, ev->vals + ev->vals_len, &u))
			return false;
		*k = (struct key){ unzigzag(u), KEY_INT };
		return true;
	}
	if (!decode(
		p, ev->vals + ev->vals_len, type, st, ev->ids, ev->nids, &v))
		return false;
	*k = key_of_value(st, &v);
	return true;
}

static struct key *
key_of_role(struct event *ev, enum role role)
{
	switch (role) {
	case ROLE_CORR: return &ev->corr;
	case ROLE_EXT: return &ev->ext;
	case ROLE_DEV: return &ev->dev;
	case ROLE_GPU_STREAM: return &ev->gpu_stream;
	default: return NULL;
	}
}

bool
event_set_keys(const struct dict *st, struct event *ev)
{
	const struct shape *s = ev->shape;
	const struct track *t = &st->tracks.v[ev->track];
	const unsigned char *p = ev->vals, *end = ev->vals + ev->vals_len;
	const struct key none = { 0, KEY_NONE };

	ev->dev = ev->gpu_stream = ev->corr = ev->ext = none;
	for (uint32_t i = 0; i < s->last_role; i++) {
		const struct entry *e = &s->entries[i];
		struct key k, *to;

		if (e->role == ROLE_NONE) {
			if (!skip(&p, end, e->type))
				return false;
			continue;
		}
		if (!next_key(&p, ev, st, e->type, &k))
			return false;
		to = key_of_role(ev, e->role);
		/* the first entry of a role counts: "stream" before
		 * "sycl queue" */
		if (to != NULL && to->type == KEY_NONE)
			*to = k;
	}
	if ((s->flags & SHAPE_DEV_PID) != 0 && ev->dev.type == KEY_NONE)
		ev->dev = t->pid;
	if ((s->flags & SHAPE_STREAM_TID) != 0 &&
	    ev->gpu_stream.type == KEY_NONE)
		ev->gpu_stream = t->tid;
	return true;
}

const struct fact *
source_fact(const struct source *s, const char *key)
{
	for (size_t i = 0; i < s->nfacts; i++)
		if (str_eq(s->facts[i].key, str_of(key)))
			return &s->facts[i];
	return NULL;
}

char *
source_label(const struct source *s, const char *path)
{
	const struct fact *name = source_fact(s, "name");
	bool is_file = strcmp(path, "stdin") != 0;
	bool has_name = name != NULL &&
	    (name->val.type == VAL_STR || name->val.type == VAL_STRX) &&
	    name->val.s.len > 0 && !str_eq(name->val.s, STR("stdin"));
	struct buf b = { 0 };

	if (is_file || !has_name)
		buf_puts(&b, path);
	if (s->src > 0 && (is_file || !has_name))
		buf_puts(&b, ": ");
	if (has_name && (s->src > 0 || !is_file))
		buf_put(&b, name->val.s.p, name->val.s.len);
	else if (s->src > 0)
		buf_printf(&b, "source %" PRIu32, s->src);
	buf_putc(&b, '\0');
	return b.p;
}

bool
source_is_tpu(const struct source *s)
{
	const struct fact *f = source_fact(s, "devices");

	return f != NULL && f->val.s.p != NULL &&
	    str_find(f->val.s, STR("\"name\":\"TPU"), false) >= 0;
}

bool
source_int(const struct source *s, const char *key, int64_t *v)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL)
		return false;
	if (f->val.type == VAL_INT)
		*v = f->val.i;
	return f->val.type == VAL_INT ||
	    (f->val.s.p != NULL && num_i64(f->val.s, v));
}

bool
source_is_api_trace(const struct source *s)
{
	int64_t v;

	return source_int(s, "api_trace", &v) && v != 0;
}

bool
source_is_xla(const struct source *s)
{
	const struct fact *f = source_fact(s, "format");

	return f != NULL && str_eq(f->val.s, STR("xplane"));
}

struct fact
fact_keep(struct arena *mem, const struct fact *f)
{
	struct fact kept = { arena_str(mem, f->key), f->val };

	if (f->val.type >= VAL_NUM)
		kept.val.s = arena_str(mem, f->val.s);
	return kept;
}

struct source
source_keep(struct arena *mem, const struct source *s)
{
	struct fact *facts = arena_alloc(mem, s->nfacts * sizeof *facts + 1);
	struct source kept = *s;

	for (size_t i = 0; i < s->nfacts; i++)
		facts[i] = fact_keep(mem, &s->facts[i]);
	kept.facts = facts;
	return kept;
}

/* SPDX-License-Identifier: MIT */
/* Builds events and facts: see maker.h. */
#include "stream/maker.h"

#include "stream/from-json.h"

void
maker_begin_cat(struct maker *m, enum kind kind, uint32_t cat)
{
	const struct key none = { 0, KEY_NONE };
	struct event *ev = &m->ev;

	m->entries.n = 0;
	m->vals.len = 0;
	/* what a tree adds, only if the event before had it */
	if (UNLIKELY((m->shape.has & HAS_TREE) != 0))
		*ev = (struct event){ .flags = 0 };
	ev->name = INTERN_NONE;
	ev->track = ev->src = ev->flags = 0;
	ev->ts_ns = ev->dur_ns = 0;
	ev->pid = ev->tid = ev->dev = ev->gpu_stream = none;
	ev->corr = ev->ext = none;
	ev->ids = NULL;
	m->shape =
	    (struct shape){ .cat = cat, .kind = (uint8_t)kind, .ph = 'X' };
}

void
maker_begin(struct maker *m, enum kind kind, struct str cat)
{
	maker_begin_cat(m, kind, intern_put(m->st->text, cat));
}

void
maker_begin_phase(struct maker *m, enum kind kind, struct str cat, char phase)
{
	maker_begin(m, kind, cat);
	m->shape.ph = (uint8_t)phase;
}

void
maker_begin_like(struct maker *m, const struct event *ev)
{
	m->entries.n = 0;
	m->vals.len = 0;
	m->ev = *ev;
	m->shape = *ev->shape;
	m->ev.ids = NULL;
}

void
maker_name(struct maker *m, struct str name)
{
	maker_name_id(m, intern_put(m->st->text, name));
}

static struct value
int_value(int64_t v)
{
	return (struct value){ .type = VAL_INT, .i = v };
}

void
maker_on_track(struct maker *m, uint32_t track)
{
	const struct track *t = &m->st->tracks.v[track];

	m->ev.track = track;
	m->ev.src = t->src;
	m->ev.pid = t->pid;
	m->ev.tid = t->tid;
	m->shape.has |= HAS_TRACK;
}

uint32_t
maker_track(
    struct maker *m, uint32_t src, const int64_t *pid, const int64_t *tid)
{
	struct track t = {
		.src = src, .has_pid = pid != NULL, .has_tid = tid != NULL
	};

	if (pid != NULL)
		t.raw_pid = int_value(*pid);
	if (tid != NULL)
		t.raw_tid = int_value(*tid);
	maker_on_track(m, dict_track(m->st, &t));
	return m->ev.track;
}

/* ---- entries ---- */

void
maker_entry(struct maker *m, const struct entry *entry, const struct value *v)
{
	if (entry->group == GROUP_ARGS)
		m->shape.flags |= SHAPE_ARGS;
	vec_push(&m->entries, *entry);
	value_encode(&m->vals, v);
}

void
maker_entries(
    struct maker *m, const struct entry *entries, size_t n, struct str vals)
{
	for (size_t i = 0; i < n; i++) {
		if (entries[i].group == GROUP_ARGS)
			m->shape.flags |= SHAPE_ARGS;
		vec_push(&m->entries, entries[i]);
	}
	buf_put(&m->vals, vals.p, vals.len);
}

static void
add(struct maker *m, struct str key, const struct value *value,
    enum group group, enum role role)
{
	struct value v = *value;

	value_store(m->st, &v);
	maker_entry(m,
	    &(struct entry){ .key = intern_put(m->st->text, key),
		.type = (uint8_t)v.type,
		.group = (uint8_t)group,
		.role = (uint8_t)role },
	    &v);
}

void
maker_arg(
    struct maker *m, struct str key, const struct value *v, enum role role)
{
	add(m, key, v, GROUP_ARGS, role);
}

void
maker_gpu(struct maker *m, int64_t dev, int64_t gpu_stream)
{
	struct value d = int_value(dev), s = int_value(gpu_stream);

	add(m, STR("dev"), &d, GROUP_FIELD, ROLE_DEV);
	add(m, STR("gpu_stream"), &s, GROUP_FIELD, ROLE_GPU_STREAM);
}

void
maker_member(struct maker *m, struct str key, const struct value *v)
{
	add(m, key, v, GROUP_TOP, ROLE_NONE);
}

void
maker_corr(struct maker *m, int64_t corr)
{
	struct value v = int_value(corr);

	add(m, STR("corr"), &v, GROUP_FIELD, ROLE_CORR);
}

void
maker_int(struct maker *m, struct str key, int64_t i, enum role role)
{
	struct value v = int_value(i);

	maker_arg(m, key, &v, role);
}

void
maker_double(struct maker *m, struct str key, double d)
{
	char text[NUM_DOUBLE_MAX];
	struct value v =
	    value_of_digits((struct str){ text, num_put_double(text, d) });

	maker_arg(m, key, &v, ROLE_NONE);
}

void
maker_str(struct maker *m, struct str key, struct str s)
{
	struct value v = { .type = VAL_STR, .s = s };

	maker_arg(m, key, &v, ROLE_NONE);
}

void
maker_json(struct maker *m, struct str key, struct str s)
{
	struct value v = { .type = VAL_JSON, .s = s };

	maker_arg(m, key, &v, ROLE_NONE);
}

/* The group of an earlier entry with the same key. */
static enum group
repeated_group(enum group group)
{
	switch (group) {
	case GROUP_ARGS: return GROUP_DUP;
	case GROUP_TOP: return GROUP_DUPTOP;
	default: return group;
	}
}

void
entries_demote_repeated(struct entry *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (e[i].key == e[k].key && e[i].group == e[k].group) {
				e[i].group =
				    (uint8_t)repeated_group(e[i].group);
				e[i].role = ROLE_NONE;
				break;
			}
}

static uint64_t
head_of(const struct shape *s)
{
	return (uint64_t)s->cat << 32 | (uint64_t)s->has << 16 |
	    (uint64_t)s->kind << 8 | s->ph;
}

/* For so few a call of memcmp() is slower. */
static bool
same_entries(const struct entry *a, const struct entry *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hash_load(&a[i], sizeof *a) != hash_load(&b[i], sizeof *b))
			return false;
	return true;
}

/* The number of the shape, usually one made recently. */
static uint32_t
shape_id(struct maker *m)
{
	struct dict *st = m->st;
	size_t size = m->entries.n * sizeof *m->entries.v;
	uint64_t hash =
	    hash_bytes(m->entries.v, size) ^ hash_u64(head_of(&m->shape));
	uint32_t *recent = &st->recent[hash % 256];
	const struct shape *s = *recent > 0 ? st->shapes.v[*recent - 1] : NULL;

	if (LIKELY(s != NULL && s->nentries == m->entries.n &&
		s->flags == m->shape.flags &&
		head_of(s) == head_of(&m->shape) &&
		same_entries(s->entries, m->entries.v, m->entries.n)))
		return *recent - 1;
	entries_demote_repeated(m->entries.v, m->entries.n);
	m->shape.entries = m->entries.v;
	m->shape.nentries = (uint32_t)m->entries.n;
	*recent = dict_shape(st, &m->shape) + 1;
	return *recent - 1;
}

struct event *
maker_end_bare(struct maker *m, struct uid uid)
{
	struct event *ev = &m->ev;

	if (UNLIKELY(uid.inst != 0))
		m->shape.has |= HAS_INST;
	ev->shape_id = shape_id(m);
	ev->shape = m->st->shapes.v[ev->shape_id];
	ev->uid = uid;
	ev->vals = (const unsigned char *)buf_str(&m->vals).p;
	ev->vals_len = m->vals.len;
	return ev;
}

struct event *
maker_end(struct maker *m, struct uid uid)
{
	struct event *ev = maker_end_bare(m, uid);

	(void)!event_set_keys(m->st, ev); /* our own values always decode */
	return ev;
}

void
maker_free(struct maker *m)
{
	vec_free(&m->entries);
	buf_free(&m->vals);
}

/* ---- facts ---- */

void
facts_set(struct facts *f, const char *key, struct value v)
{
	struct fact *to = NULL;

	for (size_t i = 0; i < f->list.n; i++)
		if (str_eq(f->list.v[i].key, str_of(key)))
			to = &f->list.v[i];
	if (to == NULL)
		to = vec_add(&f->list);
	if (f->mem == NULL)
		f->mem = arena_create();
	*to = (struct fact){ str_of(key), v };
	if (v.s.p != NULL)
		to->val.s = arena_str(f->mem, v.s);
}

void
facts_int(struct facts *f, const char *key, int64_t v)
{
	facts_set(f, key, int_value(v));
}

void
facts_str(struct facts *f, const char *key, struct str s)
{
	facts_set(f, key, (struct value){ .type = VAL_STRX, .s = s });
}

void
facts_json(struct facts *f, const char *key, struct str s)
{
	facts_set(f, key, (struct value){ .type = VAL_JSONX, .s = s });
}

void
facts_ns(struct facts *f, const char *key, int64_t ns)
{
	char text[24];

	facts_str(f, key, (struct str){ text, num_put_i64(text, ns) });
}

struct source
facts_source(const struct facts *f, uint32_t src, bool is_final)
{
	return (struct source){ .src = src,
		.is_final = is_final,
		.nfacts = f->list.n,
		.facts = f->list.v };
}

void
facts_free(struct facts *f)
{
	vec_free(&f->list);
	arena_destroy(f->mem);
}

/* SPDX-License-Identifier: MIT */
/* Annotations in a known order: see chain.h. */
#include "cmd/tl-decode/perfetto/chain.h"

#include "cmd/tl-decode/perfetto/usual.h"

#define LINKS_MAX 4096 /* more while many slices are open */
#define NEXT_MAX 64    /* links after one, which are tried in turn */

/* The value of an annotation. */
enum form { FORM_INT, FORM_UINT, FORM_TEXT, FORM_JSON, FORM_INTERNED };

/* ---- values ---- */

/* Number in the stream's strings; INTERN_NONE: none yet. */
static inline uint32_t
dict_id(const struct perfetto *p, uint32_t text)
{
	return text < p->dict_ids.n ? p->dict_ids.v[text] : INTERN_NONE;
}

/* A value's text, if the stream has it as this type. */
static uint32_t
text_of(struct perfetto *p, const struct sequence *q, enum form form,
    uint64_t number, struct str bytes, uint8_t *type)
{
	const struct arg *known;
	uint32_t text = INTERN_NONE;

	if (form == FORM_JSON) {
		known = args_json_known(p, bytes);
		if (known == NULL)
			return INTERN_NONE;
		*type = known->type;
		return dict_id(p, (uint32_t)known->i);
	}
	*type = VAL_STR;
	switch (form) {
	case FORM_TEXT: /* texts are valid UTF-8 */
		text = intern_find(
		    p->texts, bytes, hash_bytes(bytes.p, bytes.len));
		break;
	case FORM_INTERNED:
		text = sequence_name(q, NAMES_STRING, number);
		break;
	default: break;
	}
	if (text == NO_NAME ||
	    intern_get(p->texts, text).len > STREAM_INTERN_MAX)
		return INTERN_NONE;
	return dict_id(p, text);
}

/* Puts a text from at to end; u: its length, or an interned one's number. */
static __attribute__((noinline)) unsigned char *
put_text(struct perfetto *p, const struct sequence *q, const struct link *l,
    uint64_t u, const unsigned char *at, const unsigned char *end,
    unsigned char *out)
{
	struct str bytes = { (const char *)at, (size_t)u };
	uint64_t len = l->form == FORM_INTERNED ? 0 : u;
	uint32_t id;
	uint8_t type;

	if (at > end || (uint64_t)(end - at) != len)
		return NULL;
	id = text_of(p, q, (enum form)l->form, u, bytes, &type);
	if (id == INTERN_NONE || type != l->type)
		return NULL;
	return varint_put(out, id);
}

/* The encoded value from at to end; NULL: unusual. */
static inline __attribute__((always_inline)) unsigned char *
put_value(struct perfetto *p, const struct sequence *q, const struct link *l,
    const unsigned char *at, const unsigned char *end, unsigned char *out)
{
	uint64_t u;

	if (UNLIKELY(!varint_get_roomy(&at, &u)))
		return NULL;
	if (UNLIKELY(l->form > FORM_UINT))
		return put_text(p, q, l, u, at, end, out);
	if (UNLIKELY(at != end || (l->form == FORM_UINT && u > INT64_MAX)))
		return NULL;
	return varint_put(out, zigzag((int64_t)u));
}

/* ---- links ---- */

static inline bool
link_fits(const struct link *l, const unsigned char *at)
{
	return (hash_load(at, LINK_MAX) & l->mask) == l->want;
}

static struct link *
new_link(struct perfetto *p, const struct link *from, const struct entry *entry)
{
	uint32_t n = from != NULL ? from->nentries : 0;
	struct link *l;

	if (p->links == NULL) {
		p->links = arena_create();
		p->no_link = arena_alloc(p->links, sizeof *p->no_link);
		*p->no_link = (struct link){ .want = 1 };
	}
	l = arena_alloc(p->links, sizeof *l);
	*l = (struct link){ .likely = p->no_link };
	p->nlinks++;
	if (from == NULL)
		return l;
	l->nentries = n + 1;
	l->entries = arena_alloc(p->links, l->nentries * sizeof *l->entries);
	if (n > 0)
		memcpy(l->entries, from->entries, n * sizeof *l->entries);
	l->entries[n] = *entry;
	return l;
}

/*
 * The head of an annotation {1: name_iid, VALUE} of at most a word: the link's
 * bytes, and the key's name.
 */
static bool
read_head(const unsigned char *at, struct link *l, uint64_t *iid)
{
	unsigned char mask[LINK_MAX] = { 0xff, 0x80 };
	const unsigned char *v;
	size_t n;

	l->nlen = at[1] < 0x80 ? 2 : 3;
	if (l->nlen == 3)
		mask[2] = 0x80; /* the length ends in its second byte */
	v = at + l->nlen;
	if (at[l->nlen - 1] >= 0x80 || *v++ != PROTO_TAG(1, PROTO_VARINT) ||
	    !varint_get_roomy(&v, iid))
		return false;
	switch (*v++) {
	case PROTO_TAG(3, PROTO_VARINT): l->form = FORM_UINT; break;
	case PROTO_TAG(4, PROTO_VARINT): l->form = FORM_INT; break;
	case PROTO_TAG(6, PROTO_BYTES): l->form = FORM_TEXT; break;
	case PROTO_TAG(9, PROTO_BYTES): l->form = FORM_JSON; break;
	case (PROTO_TAG(17, PROTO_VARINT) & 0x7f) | 0x80:
		if (*v++ != PROTO_TAG(17, PROTO_VARINT) >> 7)
			return false;
		l->form = FORM_INTERNED;
		break;
	default: return false;
	}
	n = (size_t)(v - at);
	if (n > LINK_MAX)
		return false;
	memset(mask + l->nlen, 0xff, n - l->nlen);
	l->nhead = (uint8_t)n;
	l->mask = hash_load(mask, sizeof mask);
	l->want = hash_load(at, LINK_MAX) & l->mask;
	return true;
}

/* Bytes of an annotation that fits the link. */
static inline size_t
link_len(const struct link *l, const unsigned char *at)
{
	if (LIKELY(l->nlen == 2))
		return at[1] + 2U;
	return (at[1] & 0x7fU) + ((size_t)at[2] << 7) + 3;
}

/* The type of an annotation's value; false: no link has it. */
static bool
find_type(struct perfetto *p, const struct sequence *q, struct link *l,
    const unsigned char *at, const unsigned char *end)
{
	const unsigned char *v = at + l->nhead;
	const unsigned char *stop;
	struct str bytes;
	uint64_t u;

	if (link_len(l, at) > (size_t)(end - at))
		return false;
	stop = at + link_len(l, at);
	if (stop < v || !varint_get_roomy(&v, &u))
		return false;
	l->type = VAL_INT;
	if (l->form == FORM_INT || l->form == FORM_UINT)
		return true;
	bytes = (struct str){ (const char *)v, (size_t)u };
	if (l->form != FORM_INTERNED && (v > stop || u != (uint64_t)(stop - v)))
		return false;
	return text_of(p, q, (enum form)l->form, u, bytes, &l->type) !=
	    INTERN_NONE;
}

/* Finds or makes the link of an annotation; NULL: impossible. */
static __attribute__((noinline)) struct link *
other_link(struct perfetto *p, struct sequence *q, struct link *from,
    const unsigned char *at, const unsigned char *end)
{
	struct link l = { 0 };
	struct entry entry = { .group = GROUP_ARGS };
	struct link *made;
	uint64_t iid;
	uint32_t key;

	for (struct link *n = from->next; n != NULL; n = n->sibling)
		if (link_fits(n, at)) {
			from->likely = n;
			return n;
		}
	if (from->nnext == NEXT_MAX || from->nentries == CHAIN_MAX ||
	    *at != PROTO_TAG(4, PROTO_BYTES) || !read_head(at, &l, &iid))
		return NULL;
	key = sequence_name(q, NAMES_KEY, iid);
	if (key == NO_NAME || dict_id(p, key) == INTERN_NONE ||
	    args_is_looked_at(key) || !find_type(p, q, &l, at, end))
		return NULL;
	entry.key = dict_id(p, key);
	entry.type = l.type;
	entry.role = (uint8_t)args_role(key, (enum value_type)l.type);
	made = new_link(p, from, &entry);
	l.entries = made->entries;
	l.nentries = made->nentries;
	l.known = from->known | (key < KEYS_N ? UINT32_C(1) << key : 0);
	l.likely = p->no_link;
	l.sibling = from->next;
	*made = l;
	from->next = made;
	from->likely = made;
	from->nnext++;
	return made;
}

const unsigned char *
chain_read(struct perfetto *p, struct sequence *q, const unsigned char *at,
    const unsigned char *end, struct args *to)
{
	size_t left = (size_t)(end - at);
	unsigned char *start, *out;
	struct link *l;

	if (UNLIKELY(p->nlinks > LINKS_MAX + p->nopen / 16))
		chain_forget(p);
	if (q->chain == NULL)
		q->chain = new_link(p, NULL, NULL);
	l = q->chain;
	/* an annotation of 5 bytes needs at most 10 */
	buf_room(&to->text, 2 * left);
	start = out = (unsigned char *)to->text.p;
	for (;;) {
		struct link *n = l->likely;
		unsigned char *next;
		size_t len;

		if (UNLIKELY(!link_fits(n, at))) {
			n = left > 0 ? other_link(p, q, l, at, end) : NULL;
			if (n == NULL)
				break;
		}
		len = link_len(n, at);
		if (UNLIKELY(len > left)) /* 0 at the end */
			break;
		next = put_value(p, q, n, at + n->nhead, at + len, out);
		if (UNLIKELY(next == NULL))
			break;
		out = next;
		at += len;
		left -= len;
		l = n;
	}
	if (l == q->chain)
		return at;
	to->chain = l;
	to->chain_len = to->text.len = (size_t)(out - start);
	return at;
}

/* ---- forgetting ---- */

/*
 * The text of a string of the stream; texts: by string, or NULL if the stream
 * still has it.
 */
static uint32_t
text_no(struct perfetto *p, const uint32_t *texts, uint32_t string)
{
	return texts != NULL
	    ? texts[string]
	    : intern_put(p->texts, dict_get(p->s->dict, string));
}

/* Moves what a chain read into the list of args, in front. */
static void
unchain(struct perfetto *p, struct args *args, const uint32_t *texts)
{
	const struct link *l = args->chain;
	const unsigned char *at = (const unsigned char *)args->text.p;
	const unsigned char *end;
	struct args all = { .text = args->text };
	uint64_t u;

	if (l == NULL)
		return;
	end = at + args->chain_len;
	for (uint32_t i = 0; i < l->nentries; i++) {
		const struct entry *e = &l->entries[i];
		struct arg *a = args_put(
		    &all, text_no(p, texts, e->key), (enum value_type)e->type);

		if (!varint_get(&at, end, &u)) /* written here */
			die("a slice's values are malformed");
		a->is_name = e->type != VAL_INT;
		a->i =
		    a->is_name ? text_no(p, texts, (uint32_t)u) : unzigzag(u);
	}
	for (size_t i = 0; i < args->list.n; i++)
		vec_push(&all.list, args->list.v[i]);
	all.known |= args->known;
	vec_free(&args->list);
	*args = all;
}

void
chain_undo(struct perfetto *p, struct args *args)
{
	unchain(p, args, NULL);
}

void
chain_forget(struct perfetto *p)
{
	VEC(uint32_t) texts = { 0 }; /* by number in the stream */

	if (p->links == NULL)
		return;
	for (uint32_t i = 0; i < p->dict_ids.n; i++) {
		if (p->dict_ids.v[i] == INTERN_NONE)
			continue;
		while (texts.n <= p->dict_ids.v[i])
			vec_push(&texts, 0);
		texts.v[p->dict_ids.v[i]] = i;
	}
	for (size_t i = 0; i < p->lanes.n; i++)
		for (size_t k = 0; k < p->lanes.v[i].open.n; k++)
			unchain(p, &p->lanes.v[i].open.v[k]->args, texts.v);
	for (size_t i = 0; i < p->sequences.n; i++) {
		struct sequence *q = p->sequences.v[i];

		/* slices of a run that are being written are on no lane */
		for (size_t k = 0; k < q->begins.n; k++)
			unchain(p, &q->begins.v[k]->args, texts.v);
		q->chain = NULL;
	}
	arena_destroy(p->links);
	p->links = NULL;
	p->nlinks = 0;
	vec_free(&texts);
}

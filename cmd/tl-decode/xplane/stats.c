/* SPDX-License-Identifier: MIT */
/* Stats: named values of planes, of events and of their metadata. */
#include "cmd/tl-decode/xplane/xplane.h"

#include <math.h>
#include <zlib.h>

#include "stream/from-json.h"

/* ---- keys ---- */

static enum stat_is
meaning(struct str name)
{
	static const struct {
		struct str name;
		enum stat_is is;
	} known[] = {
		{ STR_INIT("Memset_details"), STAT_DETAILS },
		{ STR_INIT("_c"), STAT_CONSUMER },
		{ STR_INIT("_ct"), STAT_CONSUMER_TYPE },
		{ STR_INIT("_p"), STAT_PRODUCER },
		{ STR_INIT("_pt"), STAT_PRODUCER_TYPE },
		{ STR_INIT("_r"), STAT_STEP },
		{ STR_INIT("allocation_bytes"), STAT_ALLOCATED },
		{ STR_INIT("correlation_id"), STAT_CORRELATION },
		{ STR_INIT("hlo_category"), STAT_CATEGORY },
		{ STR_INIT("hlo_module"), STAT_MODULE },
		{ STR_INIT("hlo_op"), STAT_INSTRUCTION },
		{ STR_INIT("kernel_details"), STAT_DETAILS },
		{ STR_INIT("memcpy_details"), STAT_DETAILS },
		{ STR_INIT("memset_details"), STAT_DETAILS },
		{ STR_INIT("program_id"), STAT_PROGRAM },
		{ STR_INIT("step_name"), STAT_STEP_NAME },
		{ STR_INIT("step_num"), STAT_STEP },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(name, known[i].name))
			return known[i].is;
	return STAT_ANY;
}

void
stat_key_add(struct plane *p, uint64_t id, struct str name)
{
	struct stat_key key = { name, meaning(name), INTERN_NONE };
	bool is_new;
	uint64_t *at = map_put(&p->key_of, id, &is_new);

	if (is_new) {
		*at = p->keys.n;
		vec_push(&p->keys, key);
	} else {
		p->keys.v[*at] = key;
	}
}

static uint32_t
key_of(struct xplane *x, struct plane *p, uint64_t id)
{
	const uint64_t *at = map_get(&p->key_of, id);

	if (at != NULL)
		return (uint32_t)*at;
	stat_key_add(
	    p, id, str_of(arena_printf(x->mem, "#%" PRId64, (int64_t)id)));
	return (uint32_t)p->keys.n - 1;
}

/* ---- values ---- */

bool
stat_read(struct xplane *x, struct plane *p, struct str bytes, struct stat *st)
{
	struct fields m = fields_of(bytes);
	uint64_t id = 0;

	*st = (struct stat){ .type = STAT_NONE };
	while (xplane_next(x, &m)) {
		static const struct {
			uint8_t wire, type;
		} fields[] = {
			[2] = { PROTO_FIXED64, STAT_DOUBLE },
			[3] = { PROTO_VARINT, STAT_UINT },
			[4] = { PROTO_VARINT, STAT_INT },
			[5] = { PROTO_BYTES, STAT_TEXT },
			[6] = { PROTO_BYTES, STAT_BYTES },
			[7] = { PROTO_VARINT, STAT_REF },
			[8] = { PROTO_BYTES, STAT_GZIP },
		};

		if (m.field == 1 && m.type == PROTO_VARINT)
			id = m.u;
		if (m.field < 2 || m.field >= sizeof fields / sizeof *fields ||
		    m.type != fields[m.field].wire)
			continue;
		st->type = fields[m.field].type;
		st->u = m.u;
		if (m.type == PROTO_BYTES)
			st->text = m.bytes;
	}
	st->key = key_of(x, p, id);
	if (st->type == STAT_REF)
		st->ref = key_of(x, p, st->u);
	return st->type != STAT_NONE;
}

struct str
stat_text(const struct plane *p, const struct stat *st)
{
	switch (st->type) {
	case STAT_TEXT: return st->text;
	case STAT_REF: return p->keys.v[st->ref].name;
	default: return STR("");
	}
}

/* Of text, only the type. */
static struct value
value_of(const struct stat *st, char digits[NUM_DOUBLE_MAX])
{
	double d = proto_double(st->u);

	switch (st->type) {
	case STAT_UINT:
		if (st->u > INT64_MAX)
			return (struct value){ .type = VAL_UINT, .u = st->u };
		/* fallthrough */
	case STAT_INT:
		return (struct value){ .type = VAL_INT, .i = (int64_t)st->u };
	case STAT_DOUBLE:
		if (isfinite(d))
			return value_of_digits(
			    (struct str){ digits, num_put_double(digits, d) });
		return (struct value){ .type = VAL_NUM,
			.s = isnan(d) ? STR("NaN")
			    : d > 0   ? STR("Infinity")
				      : STR("-Infinity") };
	default: return (struct value){ .type = VAL_STR };
	}
}

void
stat_json(struct xplane *x, const struct plane *p, const struct stat *st,
    struct buf *json)
{
	char digits[NUM_DOUBLE_MAX];

	switch (st->type) {
	case STAT_UINT: buf_printf(json, "%" PRIu64, st->u); break;
	case STAT_INT: buf_printf(json, "%" PRId64, (int64_t)st->u); break;
	case STAT_DOUBLE:
		if (isfinite(proto_double(st->u)))
			buf_put(json, digits,
			    num_put_double(digits, proto_double(st->u)));
		break;
	case STAT_TEXT:
	case STAT_REF:
		json_put_string(json, xplane_utf8(x, stat_text(p, st)));
		break;
	default: break;
	}
}

/* ---- of an event ---- */

void
stats_start(struct xplane *x)
{
	x->stats.n = x->nshared = 0;
	memset(x->found, 0, sizeof x->found);
}

void
stats_add(struct xplane *x, struct plane *p, struct str bytes)
{
	struct stat st;

	if (!stat_read(x, p, bytes, &st) || st.type == STAT_BYTES)
		return;
	if (x->stats.n == STATS_MAX) {
		xplane_lose(x, (const unsigned char *)bytes.p, bytes.len,
		    "an event of more than 1,024 stats");
		return;
	}
	vec_push(&x->stats, st);
	x->found[p->keys.v[st.key].is] = (uint32_t)x->stats.n;
}

/* ---- details of kernels and copies ---- */

/* More registers are garbage, and so are values beside them. */
#define REGISTERS_MAX 65536

struct details {
	int64_t registers, fixed, dynamic;
};

/* x,y,z */
static void
put_dims(struct xplane *x, struct str key, struct str text)
{
	char list[80];
	const char *at = list;
	struct str part;
	int64_t n;
	int parts = 0;

	if (text.len > 64)
		return;
	memcpy(list, text.p, text.len);
	list[text.len] = '\0';
	x->text.len = 0;
	while (str_next(&at, ',', &part)) {
		if (!num_i64(part, &n))
			return;
		buf_printf(&x->text, "%s%" PRId64, parts++ == 0 ? "[" : ",", n);
	}
	buf_putc(&x->text, ']');
	if (parts == 3)
		maker_json(&x->maker, key, buf_str(&x->text));
}

static void
put_detail(struct xplane *x, struct str key, struct str text, struct details *d)
{
	static const struct {
		struct str key, is;
	} args[] = {
		{ STR_INIT("group_mem"), STR_INIT("group_segment_size") },
		{ STR_INIT("num_bytes"), STR_INIT("bytes") },
		{ STR_INIT("private_mem"), STR_INIT("private_segment_size") },
		{ STR_INIT("size"), STR_INIT("bytes") },
	};
	int64_t n;

	if (str_eq(key, STR("grid")) || str_eq(key, STR("block")))
		put_dims(x, key, text);
	if (!num_i64(text, &n) || n < 0)
		return;
	if (str_eq(key, STR("regs")))
		d->registers = n;
	else if (str_eq(key, STR("static_shared")))
		d->fixed = n;
	else if (str_eq(key, STR("dynamic_shared")))
		d->dynamic = n;
	for (size_t i = 0; i < sizeof args / sizeof *args; i++)
		if (str_eq(key, args[i].key))
			maker_int(&x->maker, args[i].is, n, ROLE_NONE);
}

/* key:value key:value, as arguments with other formats' names. */
static void
put_details(struct xplane *x, struct str text)
{
	struct details d = { -1, -1, -1 };
	const char *p = text.p, *end = p + text.len;
	int64_t shared;

	while (p < end) {
		const char *blank = memchr(p, ' ', (size_t)(end - p));
		const char *stop = blank != NULL ? blank : end;
		const char *colon = memchr(p, ':', (size_t)(stop - p));

		if (colon != NULL)
			put_detail(x, (struct str){ p, (size_t)(colon - p) },
			    (struct str){
				colon + 1, (size_t)(stop - colon - 1) },
			    &d);
		p = stop < end ? stop + 1 : end;
	}
	if (d.registers < 0 || d.registers > REGISTERS_MAX)
		return;
	maker_int(
	    &x->maker, STR("registers per thread"), d.registers, ROLE_NONE);
	if (d.fixed >= 0 && d.dynamic >= 0 &&
	    num_add(d.fixed, d.dynamic, &shared))
		maker_int(&x->maker, STR("shared memory"), shared, ROLE_NONE);
}

/* ---- arguments ---- */

/* Longer texts are dropped. */
#define INFLATED_MAX (1 << 20)

/* Decompresses into x->text; false: damaged or too long. */
static bool
inflate_text(struct xplane *x, struct str packed)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)packed.p,
		.avail_in = (unsigned)packed.len };
	int rc;

	x->text.len = 0;
	buf_room(&x->text, INFLATED_MAX);
	z.next_out = (unsigned char *)x->text.p;
	z.avail_out = INFLATED_MAX;
	if (inflateInit2(&z, 15 + 32) != Z_OK)
		die("out of memory");
	rc = inflate(&z, Z_FINISH);
	x->text.len = INFLATED_MAX - z.avail_out;
	inflateEnd(&z);
	return rc == Z_STREAM_END;
}

/* A key's text in the dictionary. */
static uint32_t
text_of_key(struct xplane *x, struct plane *p, uint32_t key)
{
	struct stat_key *k = &p->keys.v[key];

	if (k->text == INTERN_NONE)
		k->text = xplane_intern(x, k->name);
	return k->text;
}

uint32_t
shared_text(struct xplane *x, struct plane *p, struct str text, bool is_packed)
{
	bool is_new;
	uint64_t *slot =
	    map_put(&p->texts, (uint64_t)(uintptr_t)text.p, &is_new);

	if (is_new && is_packed)
		*slot = inflate_text(x, text)
		    ? xplane_intern(x, buf_str(&x->text))
		    : INTERN_NONE;
	else if (is_new)
		*slot = xplane_intern(x, text);
	return (uint32_t)*slot;
}

static void
put_stat(
    struct xplane *x, struct plane *p, const struct stat *st, bool is_shared)
{
	uint32_t key = text_of_key(x, p, st->key);
	enum stat_is is = p->keys.v[st->key].is;
	char digits[NUM_DOUBLE_MAX];
	struct value v = value_of(st, digits);
	enum role role = ROLE_NONE;
	uint32_t text;

	if (is == STAT_CORRELATION && v.type == VAL_INT && v.i != 0)
		role = ROLE_CORR;
	if (is == STAT_PROGRAM && v.type == VAL_INT && v.i < 0)
		v = (struct value){ .type = VAL_UINT, .u = st->u };
	if (v.type == VAL_INT) {
		maker_entry_number(
		    &x->maker, key, VAL_INT, GROUP_ARGS, role, zigzag(v.i));
		return;
	}
	if (v.type == VAL_STR && (is_shared || st->type == STAT_REF)) {
		text = st->type == STAT_REF
		    ? text_of_key(x, p, st->ref)
		    : shared_text(x, p, st->text, st->type == STAT_GZIP);
		if (text != INTERN_NONE)
			maker_entry_number(
			    &x->maker, key, VAL_STR, GROUP_ARGS, role, text);
		return;
	}
	if (st->type == STAT_GZIP && !inflate_text(x, st->text))
		return;
	if (v.type == VAL_STR)
		v.s = xplane_utf8(x,
		    st->type == STAT_GZIP ? buf_str(&x->text)
					  : stat_text(p, st));
	maker_arg(&x->maker, intern_get(x->s->dict->text, key), &v, role);
}

void
stats_put(struct xplane *x, struct plane *p)
{
	const struct stat *details = stats_find(x, STAT_DETAILS);

	for (size_t i = 0; i < x->stats.n; i++)
		put_stat(x, p, &x->stats.v[i], i < x->nshared);
	if (details != NULL && stat_text(p, details).len <= STREAM_INTERN_MAX)
		put_details(x, stat_text(p, details));
}

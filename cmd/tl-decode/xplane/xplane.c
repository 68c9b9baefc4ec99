/* SPDX-License-Identifier: MIT */
/* The file, whole or salvaged, and its recognition. */
#include "cmd/tl-decode/xplane/xplane.h"

#include <unistd.h>

#include "cmd/tl-decode/format.h"

/* ---- damage ---- */

/* A file copied as text, with U+FFFD for invalid UTF-8. */
static bool
is_mangled(const struct xplane *x)
{
	static const struct str replaced = STR_INIT("\xef\xbf\xbd");
	struct str all = { (const char *)x->bytes,
		(size_t)(x->in->end - x->bytes) };
	size_t at;

	return json_check_utf8(all, &at) && str_find(all, replaced, false) >= 0;
}

/* The fault of the field at m's place, with lengths. */
static const char *
reason(struct xplane *x, const struct fields *m, uint64_t *len)
{
	const unsigned char *p = m->p;
	uint64_t key, left;

	*len = 0;
	if (!varint_get(&p, m->end, &key) || (key & 7) != PROTO_BYTES ||
	    !varint_get(&p, m->end, len))
		return m->error;
	left = (uint64_t)(m->end - p);
	if (*len <= left)
		return m->error;
	x->text.len = 0;
	buf_printf(&x->text,
	    "field %" PRIu64 " is %" PRIu64 " bytes long, %" PRIu64 " are left",
	    key >> 3, *len, left);
	buf_putc(&x->text, '\0');
	return x->text.p;
}

void
xplane_lose(
    struct xplane *x, const unsigned char *at, uint64_t n, const char *error)
{
	uint64_t offset = (uint64_t)(at - x->bytes);
	bool is_new;

	if (x->losses.n == 0 && is_mangled(x)) {
		x->s->can_salvage = false;
		source_die_at(x->s, offset,
		    "bytes were replaced when the file was copied as text; get "
		    "the original");
	}
	if (!x->s->set->salvage)
		source_die_at(x->s, offset, error);
	(void)map_put(&x->faults, offset, &is_new);
	if (!is_new)
		return;
	x->losses.n++;
	x->losses.bytes += n;
}

bool
xplane_fault(struct xplane *x, struct fields *m)
{
	uint64_t len;
	const char *why = reason(x, m, &len);

	xplane_lose(x, m->p, (uint64_t)(m->end - m->p), why);
	m->p = m->end;
	return false;
}

bool
xplane_next_part(
    struct xplane *x, struct fields *m, uint32_t field, bool *is_cut)
{
	const unsigned char *p = m->p;
	struct losses before = x->losses;
	uint64_t key, len;

	*is_cut = false;
	if (fields_next(m))
		return true;
	if (m->error == NULL)
		return false;
	xplane_fault(x, m);
	/* ends the program unless it salvages */
	if (!varint_get(&p, m->end, &key) ||
	    key != ((uint64_t)field << 3 | PROTO_BYTES) ||
	    !varint_get(&p, m->end, &len))
		return false;
	m->field = field;
	m->type = PROTO_BYTES;
	m->bytes = (struct str){ (const char *)p, (size_t)(m->end - p) };
	m->error = NULL;
	/* losses in it count there */
	x->losses = before;
	x->losses.is_cut |= m->end == x->in->end;
	*is_cut = true;
	return true;
}

/* ---- texts and pages ---- */

struct str
xplane_utf8(struct xplane *x, struct str text)
{
	return json_as_utf8(text, &x->utf8);
}

/* Bytes per step. */
#define STEP_BYTES ((ptrdiff_t)4 << 20)

void
xplane_pass(struct xplane *x, const unsigned char *p)
{
	/* a text of ours, for one the file lacks */
	if (UNLIKELY(p < x->bytes || p > x->in->end))
		return;
	if (UNLIKELY(p < x->passed)) /* read again */
		x->passed = p;
	if (LIKELY(p - x->passed < STEP_BYTES))
		return;
	in_forget(x->in, x->passed, p);
	x->passed = p;
}

uint32_t
xplane_intern(struct xplane *x, struct str text)
{
	size_t len = text.len;
	struct buf b = { 0 };
	uint32_t id;

	if (len <= SHARED_MAX)
		return intern_put(x->s->dict->text, xplane_utf8(x, text));
	for (text.len = SHARED_MAX; text.len > 0; text.len--)
		if (((unsigned char)text.p[text.len] & 0xc0) != 0x80)
			break;
	text = xplane_utf8(x, text);
	buf_put(&b, text.p, text.len);
	buf_printf(&b, "... (%zu bytes)", len);
	id = intern_put(x->s->dict->text, buf_str(&b));
	buf_free(&b);
	return id;
}

void
plane_forget(struct plane *p)
{
	map_free(&p->texts);
	for (size_t i = 0; i < p->metas.n; i++)
		p->metas.v[i].text = INTERN_NONE;
	for (size_t i = 0; i < p->keys.n; i++)
		p->keys.v[i].text = INTERN_NONE;
}

/* ---- all of it ---- */

static bool
has_plane(const struct xplane *x, enum plane_kind kind)
{
	for (size_t i = 0; i < x->planes.n; i++)
		if (x->planes.v[i].kind == kind)
			return true;
	return false;
}

static void
end_salvage(struct xplane *x)
{
	struct source_state *s = x->s;
	uint64_t size = (uint64_t)(x->in->end - x->bytes);
	bool is_cut = x->losses.is_cut || in_damage(s->in) != NULL;

	if (x->losses.n == 0 && x->losses.is_cut) /* between fields */
		x->losses.n = 1;
	if (is_cut && s->next_id > 0 && !has_plane(x, PLANE_HOST))
		report(MSG_DAMAGE, s->in->name, size,
		    "the host's planes are cut off: GPU work has no launches");
	if (is_cut && s->next_id > 0 && !has_plane(x, PLANE_MODULES))
		report(MSG_DAMAGE, s->in->name, size,
		    "the HLO modules are cut off: ops have no shapes");
	source_salvaged(s, &x->losses, s->next_id);
}

static void
free_reading(void *reading)
{
	struct xplane *x = reading;

	planes_free(x);
	vec_free(&x->names);
	vec_free(&x->programs);
	intern_destroy(x->modules);
	vec_free(&x->stats);
	map_free(&x->flows);
	map_free(&x->faults);
	hlo_destroy(x->hlo);
	arena_destroy(x->mem);
	maker_free(&x->maker);
	buf_free(&x->text);
	buf_free(&x->utf8);
	in_close(x->in);
	vec_release(x);
}

static void
read_file(struct source_state *s, int fd)
{
	struct xplane *x = xcalloc(1, sizeof *x);

	if (!s->set->salvage)
		source_check(s);
	*x = (struct xplane){ .s = s,
		.in = in_open_fd(dup(fd), s->in->name),
		.maker = { .st = s->dict },
		.hlo = hlo_create(),
		.mem = arena_create(),
		.modules = intern_create(),
		.hostname = STR("") };
	while (in_more(x->in))
		continue;
	x->bytes = x->passed = x->in->p;
	s->reading = x;
	s->release = free_reading;
	s->is_binary = true;
	s->counts->bytes += (uint64_t)(x->in->end - x->bytes);
	facts_str(&s->facts, "format", STR("xplane"));
	planes_read(x);
	runs_read(x);
	events_read(x);
	modules_write(x);
	if (s->set->salvage)
		end_salvage(x);
}

/* ---- the format ---- */

static bool
contains(struct str s, struct str needle)
{
	return str_find(s, needle, false) >= 0;
}

/* The first field is a plane with a plane's name. */
static bool
begins_with_plane(struct str head)
{
	struct proto m, k;

	proto_start(&m, head.p, head.len);
	if (proto_head(&m) != PROTO_OK || m.field != 1 || m.type != PROTO_BYTES)
		return false;
	proto_start(&k, m.p, (size_t)(m.end - m.p));
	while (proto_head(&k) == PROTO_OK) {
		if (k.field == 2 && k.type == PROTO_BYTES)
			return proto_content(&k) == PROTO_OK &&
			    (str_starts(k.bytes, STR("/device:")) ||
				str_starts(k.bytes, STR("/host:")) ||
				str_eq(k.bytes, STR("Task Environment")));
		if (k.type == PROTO_BYTES && proto_skip(&k) != PROTO_OK)
			break;
	}
	return false;
}

/* Behind damage or other fields, names of planes remain. */
static enum sniff
sniff(struct str head, const char *path)
{
	if (head.len < 2 || head.p[0] < 0x0a || head.p[0] > 0x22 ||
	    (head.p[0] & 7) != PROTO_BYTES)
		return SNIFF_NO;
	if (begins_with_plane(head))
		return SNIFF_SURE;
	return str_ends(str_of(path), STR(".xplane.pb")) ||
		(head.p[0] == 0x0a && memchr(head.p, '{', head.len) == NULL &&
		    (contains(head, STR("/host:")) ||
			contains(head, STR("/device:"))))
	    ? SNIFF_MAYBE
	    : SNIFF_NO;
}

const struct format xplane_format = {
	.name = "XPlane",
	.sniff = sniff,
	.read_file = read_file,
	.can_salvage = true,
};

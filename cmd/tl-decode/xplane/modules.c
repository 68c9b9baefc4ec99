/* SPDX-License-Identifier: MIT */
/* HLO modules in /host:metadata, by program id. */
#include "cmd/tl-decode/xplane/xplane.h"

/* An entry of /host:metadata with a proto is a module. */
static void
write_module(struct xplane *x, struct plane *p, const struct event_meta *meta)
{
	struct fields m = fields_of(meta->bytes);
	struct hlo_fault fault;
	struct str name = STR("");
	struct stat st;

	while (xplane_next(x, &m)) {
		if (m.field == 2 && m.type == PROTO_BYTES)
			name = m.bytes;
		if (m.field != 5 || m.type != PROTO_BYTES ||
		    !stat_read(x, p, m.bytes, &st) || st.type != STAT_BYTES ||
		    !str_eq(p->keys.v[st.key].name, STR("Hlo Proto")))
			continue;
		if (!hlo_module(x->hlo, x->s, meta->id, name, st.text, &fault))
			xplane_lose(x, fault.at, st.text.len, fault.error);
	}
	xplane_pass(x, m.end);
}

void
modules_write(struct xplane *x)
{
	x->s->events_ended = true;
	for (size_t i = 0; i < x->planes.n; i++) {
		struct plane *p = &x->planes.v[i];

		for (size_t k = 0; p->kind == PLANE_MODULES && k < p->metas.n;
		     k++)
			write_module(x, p, &p->metas.v[k]);
	}
	hlo_finish(x->hlo, x->s);
}

/* ---- by name ---- */

/* NAME(PROGRAM) */
static struct str
module_name(struct str name)
{
	for (size_t n = name.len; n-- > 0;)
		if (name.p[n] == '(')
			return (struct str){ name.p, n };
	return name;
}

static void
add_program(struct xplane *x, struct str name, uint64_t program)
{
	uint32_t id = intern_put(x->modules, name);

	if (id == x->programs.n)
		vec_push(&x->programs, ((struct program){ program, true }));
	else
		x->programs.v[id].is_only &= x->programs.v[id].id == program;
}

static void
read_programs(struct xplane *x)
{
	x->has_programs = true;
	for (size_t i = 0; i < x->planes.n; i++) {
		struct plane *p = &x->planes.v[i];

		for (size_t k = 0; p->kind == PLANE_MODULES && k < p->metas.n;
		     k++) {
			const struct event_meta *meta =
			    event_meta_of(x, p, p->metas.v[k].id);

			add_program(x, module_name(meta->name),
			    hlo_program(meta->name, meta->id));
		}
	}
}

bool
modules_find(struct xplane *x, struct str name, uint64_t *program)
{
	uint32_t id;

	if (!x->has_programs)
		read_programs(x);
	id = intern_find(x->modules, name, hash_bytes(name.p, name.len));
	if (id == INTERN_NONE || !x->programs.v[id].is_only)
		return false;
	*program = x->programs.v[id].id;
	return true;
}

/* SPDX-License-Identifier: MIT */
/* The identity of an event as text. */
#include "stream/stream.h"
#include "stream/wire.h"

size_t
uid_put(char *out, struct uid uid)
{
	size_t n = num_put_u64(out, uid.id);

	if (uid.inst != 0) {
		out[n++] = '.';
		n += num_put_u64(out + n, uid.inst);
	}
	return n;
}

/* Cuts off and returns the text before the first c; drops c. False: no c. */
static bool
cut(struct str *s, char c, struct str *head)
{
	const char *at = s->len > 0 ? memchr(s->p, c, s->len) : NULL;

	if (at == NULL)
		return false;
	*head = (struct str){ s->p, (size_t)(at - s->p) };
	s->p = at + 1;
	s->len -= head->len + 1;
	return true;
}

bool
uid_read(struct str s, struct uid *uid)
{
	struct str id = s;
	uint64_t inst = 0;

	if (cut(&s, '.', &id) && !num_u64(s, &inst))
		return false;
	uid->inst = (uint32_t)inst;
	return inst < UINT32_MAX && num_u64(id, &uid->id) &&
	    uid->id < WIRE_MAX_ID;
}

bool
uid_pick_read(struct str s, struct uid_pick *p)
{
	struct str part;
	uint64_t src = 0;

	p->any_src = !cut(&s, ':', &part);
	if (!p->any_src && (!num_u64(part, &src) || src >= UINT32_MAX))
		return false;
	p->src = (uint32_t)src;
	p->no_inst = s.len == 0 || memchr(s.p, '.', s.len) == NULL;
	return uid_read(s, &p->uid);
}

struct uid_pick
opt_uid(const struct optparse *op)
{
	struct uid_pick p;

	if (!uid_pick_read(str_of(op->arg), &p))
		die_usage(
		    "option '%s' needs an event, UID or SRC:UID, not '%s'",
		    op->name, op->arg);
	return p;
}

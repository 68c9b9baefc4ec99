/* SPDX-License-Identifier: MIT */
#include "cmd/tl-diff/unlike.h"

#include "cmd/tl-diff/notes.h"
#include "trace/stat.h"

#define HALF 50.
/* From this share of equal arguments on it is the same job, in which an op
 * became expensive. */
#define ALIKE 10.

struct sums {
	int64_t all, ops, shared, alike, largest;
	uint32_t name;
};

/* Launches and unlinked work have the same names in any trace. */
static bool
tells_model(const struct changes *c, const struct change *r)
{
	return c->set->by == BY_KERNEL ||
	    r->key.kind == c->launched_by[LAUNCHED_BY_OP];
}

/*
 * Renamed ops are common if they take the same shapes; else they may just be in
 * the same place. Another vendor's kernels have other names.
 */
static bool
is_shared(const struct changes *c, const struct change *r)
{
	const struct op_args *a = &r->key.args[0], *b = &r->key.args[1];

	return r->kernels[0] > 0 && r->kernels[1] > 0 &&
	    (c->set->by == BY_KERNEL || r->key.n[0] == r->key.n[1] ||
		(a->dims == b->dims && a->dims != INTERN_NONE));
}

/* Arguments that one side does not record are no difference. */
static bool
is_alike(const struct changes *c, const struct change *r)
{
	const struct op_args *a = &r->key.args[0], *b = &r->key.args[1];

	return r->key.n[0] == r->key.n[1] &&
	    (c->has_args[0] != c->has_args[1] ||
		(a->dims == b->dims && a->types == b->types));
}

static void
add_row(
    const struct changes *c, const struct change *r, int side, struct sums *to)
{
	int64_t ns = r->ns[side];

	stat_add(&to->all, ns);
	if (!tells_model(c, r))
		return;
	stat_add(&to->ops, ns);
	if (is_shared(c, r)) {
		stat_add(&to->shared, ns);
		stat_add(&to->alike, is_alike(c, r) ? ns : 0);
	} else if (ns > to->largest) {
		to->largest = ns;
		to->name = r->name[side];
	}
}

static double
percent(int64_t ns, int64_t all)
{
	return 100 * (double)ns / (double)all;
}

/*
 * Unlike: less than half of either side's compute is in common rows; or of one
 * side's, and hardly any has the same arguments, as small models share their
 * few ops with any large one. Names of kernels do not tell, as of two vendors.
 */
static bool
is_so(const struct changes *c, const struct unlike_side *s)
{
	if (s[0].shared < HALF && s[1].shared < HALF)
		return true;
	return c->set->by == BY_OP &&
	    (s[0].shared < HALF || s[1].shared < HALF) && s[0].alike < ALIKE &&
	    s[1].alike < ALIKE;
}

void
unlike_find(struct changes *c)
{
	struct sums sums[NSIDES] = { { .name = INTERN_NONE },
		{ .name = INTERN_NONE } };

	for (size_t i = 0; i < c->rows.n; i++)
		for (int s = 0; s < NSIDES; s++)
			if (c->rows.v[i].key.family == FAMILY_COMPUTE)
				add_row(c, &c->rows.v[i], s, &sums[s]);
	for (int s = 0; s < NSIDES; s++) {
		/* a side mostly without ops proves nothing */
		if (sums[s].ops == 0 || sums[s].ops < sums[s].all / 2)
			return;
		c->unlike.side[s] = (struct unlike_side){
			.shared = percent(sums[s].shared, sums[s].ops),
			.alike = percent(sums[s].alike, sums[s].ops),
			.largest = percent(sums[s].largest, sums[s].ops),
			.name = sums[s].name,
		};
	}
	c->unlike.is_so = is_so(c, c->unlike.side);
}

/* "12 % of compute before, 8 % after" */
static void
put_shares(struct buf *b, const struct changes *c, double before, double after,
    const char *what)
{
	buf_printf(b, " %.0f %%%s %.*s, %.0f %% %.*s", before, what,
	    (int)c->set->names[0].len, c->set->names[0].p, after,
	    (int)c->set->names[1].len, c->set->names[1].p);
}

void
unlike_say(const struct changes *c, struct buf *b)
{
	const struct unlike_side *u = c->unlike.side;
	const char *what = c->set->by == BY_OP ? "ops" : "kernels";
	const char *lead = "; largest on one side only: ";

	buf_printf(b, "%s that both have take", what);
	put_shares(b, c, u[0].shared, u[1].shared, " of compute");
	if (u[0].shared >= HALF || u[1].shared >= HALF) {
		buf_puts(b, "; with the same arguments");
		put_shares(b, c, u[0].alike, u[1].alike, "");
	}
	for (int s = 0; s < NSIDES; s++) {
		const uint32_t name[NSIDES] = { u[s].name, u[s].name };

		if (u[s].name == INTERN_NONE)
			continue;
		buf_puts(b, lead);
		put_names(b, c->dict, name);
		buf_printf(b, " (%.0f %% %.*s)", u[s].largest,
		    (int)c->set->names[s].len, c->set->names[s].p);
		lead = ", ";
	}
}

void
unlike_note(const struct changes *c, struct table *t)
{
	struct buf b = { 0 };

	if (!c->unlike.is_so)
		return;
	buf_puts(&b, "different models? ");
	unlike_say(c, &b);
	note_of(t, &b);
	buf_free(&b);
}

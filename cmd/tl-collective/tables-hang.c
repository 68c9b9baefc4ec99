/* SPDX-License-Identifier: MIT */
/* Hangs in dumps of the flight recorder: table and sentences. */
#include "cmd/tl-collective/flight.h"
#include "cmd/tl-collective/tables.h"

#include <time.h>

#include "json/json.h"

/* ---- texts ---- */

/* "rank 3", "ranks 0-2,7": ranks with this role. */
static void
put_role(struct buf *b, const struct hang *h, enum standing role)
{
	int_vec ranks = { 0 };

	for (size_t i = 0; i < h->places.n; i++)
		if (h->places.v[i].role == role)
			vec_push(&ranks, h->places.v[i].rank);
	buf_puts(b, ranks.n == 1 ? "rank " : "ranks ");
	put_ranges(b, ranks.v, ranks.n);
	vec_free(&ranks);
}

/* "all_reduce 12 of group 0 (default_pg)". */
static void
put_call(struct buf *b, const struct flight *f, const struct fcall *c)
{
	const struct fgroup *g = &f->groups.v[c->group];

	text_visible(flight_text(f, c->name), b);
	if (!c->is_p2p)
		buf_printf(b, " %" PRId64, c->seq);
	buf_puts(b, " of group ");
	text_visible(g->name, b);
	if (g->desc.len == 0 || str_eq(g->desc, STR("undefined")))
		return;
	buf_puts(b, " (");
	text_visible(g->desc, b);
	buf_putc(b, ')');
}

static void
put_utc(struct buf *b, int64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[64];

	if (gmtime_r(&s, &tm) != NULL &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		buf_puts(b, text);
}

/* The dtype of a call whose tensors share one. */
static struct str
type_of(const struct flight *f, const struct fcall *c, struct arena *mem)
{
	json_items types = { 0 };
	struct str text = STR("");

	if (json_split(&types, mem, flight_text(f, c->in_types)) && types.n > 0)
		text = types.v[0].text;
	vec_free(&types);
	return text;
}

/* ---- sentences ---- */

struct telling {
	const struct flight *f;
	struct arena *mem;
	struct table *table;
	struct buf text;
};

/* Adds the line as a note. */
static void
tell(struct telling *t)
{
	table_note(t->table, "%.*s", (int)t->text.len, t->text.p);
	t->text.len = 0;
}

static const struct place *
place_with(const struct hang *h, enum standing role)
{
	for (size_t i = 0; i < h->places.n; i++)
		if (h->places.v[i].role == role)
			return &h->places.v[i];
	return NULL;
}

/* How a call differs from the others'. */
static void
tell_difference(struct telling *t, const struct hang *h)
{
	const struct flight *f = t->f;
	const struct fcall *c = place_with(h, STANDS_DIFFERS)->call;
	bool is_one = h->n[STANDS_DIFFERS] == 1;
	bool is_in = c->in != h->call->in;
	struct str other = flight_text(f, c->name);
	struct buf *b = &t->text;

	put_role(b, h, STANDS_DIFFERS);
	switch (h->why) {
	case DIFFER_SIZE:
		buf_printf(b, is_one ? " passes %" PRId64 : " pass %" PRId64,
		    is_in ? c->in : c->out);
		buf_printf(b, " elements to ");
		put_call(b, f, h->call);
		buf_printf(b, ", the others %" PRId64,
		    is_in ? h->call->in : h->call->out);
		break;
	case DIFFER_TYPE:
		buf_puts(b, is_one ? " passes " : " pass ");
		text_visible(type_of(f, c, t->mem), b);
		buf_puts(b, " to ");
		put_call(b, f, h->call);
		buf_puts(b, ", the others ");
		text_visible(type_of(f, h->call, t->mem), b);
		break;
	case DIFFER_SKIPPED:
		buf_puts(b, " skipped ");
		put_call(b, f, h->call);
		buf_puts(b, ": later calls are one ahead of the others'");
		break;
	default:
		buf_puts(b, is_one ? " calls " : " call ");
		text_visible(other, b);
		buf_puts(b, " where the others call ");
		put_call(b, f, h->call);
		if (h->why == DIFFER_ORDER)
			buf_puts(b, ": two calls in the other order");
		if (h->why == DIFFER_EXTRA)
			buf_puts(b, ": one call too many");
		break;
	}
}

static void
tell_kind(struct telling *t, const struct hang *h)
{
	struct buf *b = &t->text;

	switch (h->kind) {
	case HANG_MISMATCH: tell_difference(t, h); break;
	case HANG_MISSING:
		put_role(b, h, STANDS_ABSENT);
		buf_puts(b, " did not call ");
		put_call(b, t->f, h->call);
		break;
	case HANG_NO_DUMP:
		buf_puts(b, "no dump of ");
		put_role(b, h, STANDS_NO_DUMP);
		buf_puts(b, ", which may have died: the others are in ");
		put_call(b, t->f, h->call);
		break;
	case HANG_UNKNOWN:
		put_call(b, t->f, h->call);
		buf_puts(b, " is not complete; no longer in the buffer of ");
		put_role(b, h, STANDS_UNKNOWN);
		break;
	case HANG_DEADLOCK:
		buf_puts(b, "deadlock: ranks ");
		buf_puts(b,
		    h->other != NULL ? "call in different orders "
				     : "wait for each other, in ");
		put_call(b, t->f, h->call);
		buf_puts(b, h->other != NULL ? " and " : " and others");
		if (h->other != NULL)
			put_call(b, t->f, h->other);
		break;
	default:
		buf_printf(b, "all %zu ranks called ", h->places.n);
		put_call(b, t->f, h->call);
		buf_puts(b,
		    " alike, but it did not complete: look at the "
		    "network and the GPUs");
		break;
	}
	if (h->kind == HANG_MISMATCH && h->n[STANDS_ABSENT] > 0) {
		buf_puts(b, "; not called by ");
		put_role(b, h, STANDS_ABSENT);
	}
	if (h->kind != HANG_NO_DUMP && h->n[STANDS_NO_DUMP] > 0) {
		buf_puts(b, "; no dump of ");
		put_role(b, h, STANDS_NO_DUMP);
	}
	tell(t);
}

static void
tell_waits(struct telling *t, const struct hang *h)
{
	struct buf *b = &t->text;
	size_t n = 0;

	for (size_t i = 0; i < h->places.n; i++)
		n += place_waits(&h->places.v[i]);
	if (!h->is_open) {
		table_note(t->table,
		    "  it is complete all the same: its result may be wrong");
		return;
	}
	buf_printf(b, "  %zu of %zu ranks %s in it", n, h->places.n,
	    n == 1 ? "waits" : "wait");
	if (h->since_ns > 0) {
		buf_puts(b, ", the first since ");
		put_utc(b, h->since_ns);
	}
	if (h->call->timeout_ms > 0)
		buf_printf(
		    b, "; timeout %" PRId64 " s", h->call->timeout_ms / 1000);
	tell(t);
}

/* Where the first rank at fault is. */
static void
tell_place(struct telling *t, const struct hang *h)
{
	enum standing role =
	    h->n[STANDS_DIFFERS] > 0 ? STANDS_DIFFERS : STANDS_ABSENT;
	const struct place *p = place_with(h, role);
	struct buf *b = &t->text;

	if (p == NULL)
		return;
	buf_printf(b, "  rank %" PRId64, p->rank);
	if (p->call == NULL) {
		buf_puts(b, " called nothing");
		tell(t);
		return;
	}
	if (role == STANDS_ABSENT) {
		buf_puts(b, ": last call ");
		put_call(b, t->f, p->call);
		buf_puts(
		    b, p->call->is_done ? ", completed" : ", not complete");
	}
	if (flight_text(t->f, p->call->frame).len > 0) {
		buf_puts(b, role == STANDS_ABSENT ? ", at " : " is at ");
		text_visible(flight_text(t->f, p->call->frame), b);
	} else {
		buf_puts(b, role == STANDS_ABSENT ? "" : ":");
		buf_puts(b, " (no stack: JSON dumps have none, pickles do)");
	}
	tell(t);
}

static void
tell_none(struct telling *t)
{
	const struct flight *f = t->f;
	size_t nwrapped = 0;

	for (size_t i = 0; i < f->job->ranks.n; i++)
		nwrapped += f->is_wrapped[i];
	table_note(t->table,
	    "no rank waits: all %zu calls on record of %zu ranks are complete",
	    f->calls.n, f->job->ranks.n);
	if (nwrapped > 0)
		table_note(t->table,
		    "%zu of %zu buffers hold the last calls only: earlier ones "
		    "are not recorded",
		    nwrapped, f->job->ranks.n);
}

#define CAUSES_TOLD 3

static void
tell_hangs(struct telling *t)
{
	const hang_vec *hangs = &t->f->hangs;
	size_t ncauses = 0, nbehind = 0;

	for (size_t i = 0; i < hangs->n; i++) {
		const struct hang *h = &hangs->v[i];

		nbehind += !h->is_cause;
		if (!h->is_cause || ncauses++ >= CAUSES_TOLD)
			continue;
		tell_kind(t, h);
		tell_waits(t, h);
		tell_place(t, h);
	}
	if (ncauses > CAUSES_TOLD)
		table_note(t->table, "%zu more such calls: see the table",
		    ncauses - CAUSES_TOLD);
	if (nbehind > 0)
		table_note(t->table,
		    "%zu more %s not complete, behind %s: see the table",
		    nbehind, nbehind == 1 ? "call is" : "calls are",
		    ncauses == 1 ? "this one" : "these");
	if (hangs->n == 0)
		tell_none(t);
}

/* ---- the table ---- */

/* Ranks with equal cells at a hang. */
struct alike_places {
	struct str group, desc, collective, verdict, role, ranks, dtype;
	struct str last_call, frame, stack;
	int64_t seq, count, nelems, since_ns;
	bool is_cause;
	int_vec list;
};

/* clang-format off */
static const struct field fields[] = {
	OWN(TEXT("group", NULL), struct alike_places, group),
	OWN(TEXT("desc", NULL), struct alike_places, desc),
	OWN(COLUMN("seq", NULL, COL_INT, UNIT_NONE, 0, 0), struct alike_places, seq),
	OWN(TEXT("collective", NULL), struct alike_places, collective),
	OWN(TEXT("verdict", NULL), struct alike_places, verdict),
	OWN(BOOL("cause", NULL), struct alike_places, is_cause),
	OWN(TEXT("role", NULL), struct alike_places, role),
	OWN(TEXT("ranks", NULL), struct alike_places, ranks),
	OWN(COUNTS("count", NULL), struct alike_places, count),
	OWN(COLUMN("in_nelems", NULL, COL_INT, UNIT_NONE, COL_MINOR, 0), struct alike_places, nelems),
	OWN(MINOR("dtype", COL_TEXT, UNIT_NONE), struct alike_places, dtype),
	OWN(COLUMN("since_ns", NULL, COL_INT, UNIT_NS, COL_POSITION | COL_MINOR, 0), struct alike_places, since_ns),
	OWN(TEXT("last_call", NULL), struct alike_places, last_call),
	OWN(TEXT("frame", NULL), struct alike_places, frame),
	OWN(COLUMN("stack", NULL, COL_TEXT, UNIT_NONE, COL_DETAIL, 0), struct alike_places, stack),
};
/* clang-format on */

static void
take_call(struct alike_places *s, const struct flight *f, const struct place *p,
    struct telling *t)
{
	const struct fcall *c = p->call;

	if (c == NULL)
		return;
	s->frame = flight_text(f, c->frame);
	s->stack = flight_text(f, c->stack);
	if (p->role == STANDS_ABSENT) {
		t->text.len = 0;
		put_call(&t->text, f, c);
		s->last_call = arena_str(t->mem, buf_str(&t->text));
		return;
	}
	s->collective = flight_text(f, c->name);
	s->nelems = c->in;
	s->dtype = type_of(f, c, t->mem);
	if (!c->is_done && c->created_ns > 0)
		s->since_ns = c->created_ns;
}

static bool
is_same(const struct alike_places *a, const struct alike_places *b)
{
	return str_eq(a->role, b->role) &&
	    str_eq(a->collective, b->collective) && a->nelems == b->nelems &&
	    str_eq(a->dtype, b->dtype) && str_eq(a->last_call, b->last_call) &&
	    str_eq(a->stack, b->stack);
}

static void
put_standings(struct sheet_rows *s, struct telling *t, const struct hang *h)
{
	const struct flight *f = t->f;
	const struct fgroup *g = &f->groups.v[h->group];
	VEC(struct alike_places) list = { 0 };

	for (size_t i = 0; i < h->places.n; i++) {
		const struct place *p = &h->places.v[i];
		struct alike_places new = { .group = g->name,
			.desc = g->desc,
			.collective = flight_text(f, h->call->name),
			.verdict = str_of(hang_words[h->kind]),
			.role = str_of(standing_words[p->role]),
			.seq = h->seq,
			.nelems = NONE,
			.since_ns = NONE,
			.is_cause = h->is_cause };
		size_t k = 0;

		take_call(&new, f, p, t);
		while (k < list.n && !is_same(&list.v[k], &new))
			k++;
		if (k == list.n)
			vec_push(&list, new);
		vec_push(&list.v[k].list, p->rank);
		if (new.since_ns != NONE &&new.since_ns < list.v[k].since_ns)
			list.v[k].since_ns = new.since_ns;
	}
	for (size_t i = 0; i < list.n; i++) {
		struct alike_places *own = &list.v[i];

		t->text.len = 0;
		put_ranges(&t->text, own->list.v, own->list.n);
		own->ranks = table_text(s->table, buf_str(&t->text));
		own->count = (int64_t)own->list.n;
		put_row(s, &(struct row){ .own = own });
		vec_free(&own->list);
	}
	vec_free(&list);
}

static void
fill(struct sheet_rows *s, struct job *j)
{
	struct telling t = {
		.f = j->flight, .mem = arena_create(), .table = s->table
	};

	if (j->flight == NULL)
		return;
	tell_hangs(&t);
	t.text.len = 0;
	for (size_t i = 0; i < j->flight->hangs.n; i++)
		put_standings(s, &t, &j->flight->hangs.v[i]);
	buf_free(&t.text);
}

const struct table_def table_hang = {
	.name = "nccl_hang",
	FIELDS(fields),
	.fill = fill,
};

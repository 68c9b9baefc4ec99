/* SPDX-License-Identifier: MIT */
/* --repair: mends what cannot be right. */
#include "cmd/tl-decode/repair.h"
#include "stream/marks.h"
#include "trace/overrun.h"

#include <fcntl.h>
#include <unistd.h>

const char *const repair_words[] = { "clip-overrun", "drop-impossible",
	"fix-utf8", NULL };

unsigned
repair_opt(const struct optparse *op)
{
	const char *list = op->arg;
	unsigned bits = 0;
	struct str word;

	while (str_next(&list, ',', &word)) {
		unsigned k = 0;

		while (repair_words[k] != NULL &&
		    !str_eq(word, str_of(repair_words[k])))
			k++;
		if (str_eq(word, STR("all")))
			bits |= REPAIRS_OF_EVENTS | REPAIR_FIX_UTF8;
		else if (repair_words[k] == NULL)
			die_usage("option '--repair' needs clip-overrun, "
				  "drop-impossible, fix-utf8 or all, not '%s'",
			    op->arg);
		else
			bits |= 1u << k;
	}
	return bits;
}

/* ---- what is to be done ---- */

/* Repairs of a source. */
struct done {
	uint64_t n;
	int64_t ns;
};

struct subject {
	int64_t zero_ns;
	/* of events not at 0: first GPU or host work, first of all */
	int64_t first_ns, earliest_ns;
	uint64_t divisor;
	VEC(struct host_gpu) gpus;
	struct map end_of; /* new ends of clipped events, by uid */
	struct done clipped, dropped;
};

struct repair {
	unsigned what;
	VEC(struct subject) list;
	struct map place_of; /* index in list, by source */
};

static struct subject *
subject_of(struct repair *r, uint32_t src)
{
	bool is_new;
	uint64_t *at = map_put(&r->place_of, src, &is_new);

	if (is_new) {
		*at = r->list.n;
		vec_push(&r->list,
		    ((struct subject){
			.first_ns = INT64_MAX, .earliest_ns = INT64_MAX }));
	}
	return &r->list.v[*at];
}

static bool
is_timed(const struct event *ev)
{
	const unsigned timed = HAS_TS | HAS_DUR;

	return (ev->shape->has & timed) == timed &&
	    event_is(ev, KINDS_GPU | KINDS_HOST);
}

/* tl-health's time.zero, time.huge and time.negative. */
static bool
is_impossible(
    const struct repair *r, const struct subject *s, const struct event *ev)
{
	if ((r->what & REPAIR_DROP_IMPOSSIBLE) == 0 || !is_timed(ev))
		return false;
	return ev->dur_ns > IMPOSSIBLE_NS || (ev->flags & EV_CLAMPED) != 0 ||
	    (ev->ts_ns == s->zero_ns && s->first_ns != INT64_MAX &&
		(double)s->first_ns - (double)s->zero_ns >
		    (double)IMPOSSIBLE_HOLE_NS);
}

static void
take_event(struct subject *s, const struct event *ev)
{
	if ((ev->shape->has & HAS_TS) != 0 && ev->ts_ns != s->zero_ns &&
	    ev->ts_ns < s->earliest_ns)
		s->earliest_ns = ev->ts_ns;
	if (!is_timed(ev) || (ev->flags & EV_DUPLICATE) != 0)
		return;
	if (ev->ts_ns < s->first_ns && ev->ts_ns != s->zero_ns)
		s->first_ns = ev->ts_ns;
	if (!event_is(ev, KINDS_GPU) || ev->dur_ns > IMPOSSIBLE_NS)
		return;
	s->divisor = num_gcd(num_gcd(s->divisor, ev->ts_ns), ev->dur_ns);
	vec_push(&s->gpus,
	    ((struct host_gpu){ .start_ns = ev->ts_ns,
		.end_ns = num_add_max(ev->ts_ns, ev->dur_ns),
		.uid = ev->uid,
		.dev = ev->dev,
		.gpu_stream = ev->gpu_stream }));
}

/* Events at 0 do not count. */
static void
find_overruns(struct subject *s)
{
	const struct host_gpu **v = xmalloc(s->gpus.n * sizeof *v + 1),
			      *open = NULL;
	int64_t same = overrun_tolerance(s->divisor);
	bool zero_is_wrong = s->first_ns != INT64_MAX &&
	    (double)s->first_ns - (double)s->zero_ns >
		(double)IMPOSSIBLE_HOLE_NS;
	size_t n = 0;

	for (size_t i = 0; i < s->gpus.n; i++)
		if (!zero_is_wrong || s->gpus.v[i].start_ns != s->zero_ns)
			v[n++] = &s->gpus.v[i];
	overrun_order(v, n);
	for (size_t i = 0; i < n; i++) {
		const struct host_gpu *e = v[i];
		bool is_new;
		uint64_t *at;

		if (open == NULL || !host_same_stream(open, e)) {
			open = e;
			continue;
		}
		if (overrun_is(open, e, same)) {
			at = map_put(&s->end_of, uid_hash(open->uid), &is_new);
			if (is_new) {
				*at = (uint64_t)e->start_ns;
				s->clipped.n++;
				s->clipped.ns = num_add_max(
				    s->clipped.ns, open->end_ns - e->start_ns);
			}
			/* clipped, so later events do not overlap it */
			open = e;
		} else if (e->end_ns > open->end_ns) {
			open = e;
		}
	}
	vec_release(v);
	vec_free(&s->gpus);
}

static struct stream_in *
open_again(int fd, const char *name)
{
	struct stream_in *in;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 || lseek(copy, 0, SEEK_SET) != 0)
		die_errno("a temporary file");
	in = stream_open_in(in_open_fd(copy, name), NULL, WANT_STREAM);
	in->is_told = true; /* the writer has reported it */
	return in;
}

static void
find_all(struct repair *r, int fd, const char *name)
{
	struct stream_in *in = open_again(fd, name);
	enum item item;

	while ((item = stream_next(in)) != ITEM_END) {
		struct subject *s;
		int64_t base;

		if (item == ITEM_SOURCE) {
			s = subject_of(r, in->source.src);
			if (source_int(&in->source, "base", &base))
				s->zero_ns =
				    base > INT64_MIN ? -base : INT64_MAX;
		} else if (item == ITEM_EVENT) {
			take_event(subject_of(r, in->ev.src), &in->ev);
		}
	}
	stream_close(in);
	if ((r->what & REPAIR_CLIP_OVERRUN) == 0)
		return;
	for (size_t i = 0; i < r->list.n; i++)
		find_overruns(&r->list.v[i]);
}

/* ---- doing it ---- */

static void
put_done(struct buf *b, unsigned repair, const struct done *d)
{
	char word[] = ",";

	if (d->n == 0)
		return;
	for (unsigned k = 0; repair_words[k] != NULL; k++)
		if (repair == 1u << k)
			buf_printf(b, "%s\"%s\":{\"n\":%" PRIu64,
			    b->p[b->len - 1] == '{' ? word + 1 : word,
			    repair_words[k], d->n);
	if (d->ns > 0)
		buf_printf(b, ",\"ns\":%" PRId64, d->ns);
	buf_putc(b, '}');
}

/* A fact without dropped events. */
static struct fact
fact_without(const struct subject *s, struct fact f)
{
	if (s->dropped.n == 0 || f.val.type != VAL_INT)
		return f;
	if (str_eq(f.key, STR("first")) && f.val.i == s->zero_ns &&
	    s->earliest_ns != INT64_MAX)
		f.val.i = s->earliest_ns;
	else if (str_eq(f.key, STR("events")))
		f.val.i -= (int64_t)s->dropped.n;
	return f;
}

/* The fact also has the bytes mended while reading. */
static void
write_source(const struct subject *s, struct stream_out *out,
    const struct source *source, const char *name)
{
	const struct fact *old = source_fact(source, FACT_REPAIRED);
	VEC(struct fact) facts = { 0 };
	struct source own = *source;
	struct buf text = { 0 };

	buf_putc(&text, '{');
	if (old != NULL && old->val.type >= VAL_STR && old->val.s.len > 2)
		buf_put(&text, old->val.s.p + 1, old->val.s.len - 2);
	put_done(&text, REPAIR_CLIP_OVERRUN, &s->clipped);
	put_done(&text, REPAIR_DROP_IMPOSSIBLE, &s->dropped);
	buf_putc(&text, '}');
	for (size_t i = 0; i < source->nfacts; i++)
		if (!str_eq(source->facts[i].key, STR(FACT_REPAIRED)))
			vec_push(&facts, fact_without(s, source->facts[i]));
	if (text.len > 2)
		vec_push(&facts,
		    ((struct fact){ STR(FACT_REPAIRED),
			{ .type = VAL_JSONX, .s = buf_str(&text) } }));
	own.facts = facts.v;
	own.nfacts = facts.n;
	stream_write_source(out, &own);
	if (source->is_final)
		stream_tell_repaired(name, &own);
	vec_free(&facts);
	buf_free(&text);
}

static void
write_event(struct repair *r, struct stream_out *out, struct stream_in *in)
{
	struct subject *s = subject_of(r, in->ev.src);
	struct event *ev = &in->ev;
	const uint64_t *end = NULL;

	if (is_impossible(r, s, ev)) {
		s->dropped.n++;
		return;
	}
	if (s->clipped.n > 0 && is_timed(ev))
		end = map_get(&s->end_of, uid_hash(ev->uid));
	if (end != NULL)
		ev->dur_ns = (int64_t)*end - ev->ts_ns;
	stream_write(out, ev);
}

void
repair_stream(
    int fd, const char *name, unsigned repairs, const struct stream_dest *dest)
{
	struct repair r = { .what = repairs };
	struct stream_in *in;
	struct stream_out *out;
	enum item item;

	find_all(&r, fd, name);
	in = open_again(fd, name);
	out = stream_create(dest, in->dict, NULL, in->marks, false);
	while ((item = stream_next(in)) != ITEM_END)
		if (item == ITEM_EVENT)
			write_event(&r, out, in);
		else if (item == ITEM_SOURCE)
			write_source(subject_of(&r, in->source.src), out,
			    &in->source, name);
		else
			stream_pass_on(out, in, item);
	stream_mark(out, in->marks);
	stream_finish(out);
	stream_close(in);
	for (size_t i = 0; i < r.list.n; i++)
		map_free(&r.list.v[i].end_of);
	vec_free(&r.list);
	map_free(&r.place_of);
}

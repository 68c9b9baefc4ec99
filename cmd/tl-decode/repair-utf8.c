/* SPDX-License-Identifier: MIT */
/* Replaces invalid UTF-8 in JSON while reading. */
#include "cmd/tl-decode/format.h"
#include "cmd/tl-decode/repair.h"
#include "stream/marks.h"

#define LONGEST 4 /* bytes of a character */

struct utf8_repair {
	struct in *in, *window;
	uint64_t n, first_at;
};

/*
 * Copies the next character to dst, which has room; returns its length, 0: end.
 */
static size_t
give_one(struct utf8_repair *r, char *dst)
{
	struct in *in = r->in;
	size_t left, n;
	uint32_t c;

	if (!in_need(in, LONGEST) && in->p == in->end)
		return 0;
	left = (size_t)(in->end - in->p);
	n = utf8_next((const char *)in->p, left, &c);
	if (c == UTF8_BAD) {
		/* a lone surrogate is meaningful as text */
		size_t at, three = left < 3 ? left : 3;

		if (three == 3 &&
		    json_check_utf8(
			(struct str){ (const char *)in->p, three }, &at)) {
			memcpy(dst, in->p, three);
			in->p += three;
			return three;
		}
		if (r->n++ == 0)
			r->first_at = in_offset(in, in->p);
		in->p += n;
		return utf8_put(dst, 0xfffd);
	}
	memcpy(dst, in->p, n);
	in->p += n;
	return n;
}

static size_t
give(void *arg, void *to, size_t n, const char **fault)
{
	struct utf8_repair *r = arg;
	struct in *in = r->in;
	char *dst = to;
	size_t done = 0;

	while (n - done >= LONGEST) {
		size_t len = 0, most = (size_t)(in->end - in->p);

		/* runs of ASCII, the usual case */
		most = most < n - done ? most : n - done;
		while (len < most && in->p[len] < 0x80)
			len++;
		memcpy(dst + done, in->p, len);
		in->p += len;
		done += len;
		if (n - done < LONGEST)
			break;
		len = give_one(r, dst + done);
		if (len == 0)
			break;
		done += len;
	}
	in_release(in);
	if (done == 0)
		*fault = in_damage(in);
	return done;
}

/* After byte order mark and white space. */
static bool
is_json(const struct in *in)
{
	const char *p = (const char *)in->p, *end = (const char *)in->end;

	if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end && memchr(" \t\r\n", *p, 4) != NULL)
		p++;
	return p < end && (*p == '{' || *p == '[');
}

static void
tell(const struct utf8_repair *r, struct source_state *s)
{
	struct buf b = { 0 };

	buf_printf(&b,
	    "{\"fix-utf8\":{\"n\":%" PRIu64 ",\"first\":%" PRIu64 "}}", r->n,
	    r->first_at);
	facts_json(&s->facts, FACT_REPAIRED, buf_str(&b));
	buf_free(&b);
	/* else reported with repairs of events */
	if ((s->set->repairs & REPAIRS_OF_EVENTS) == 0) {
		struct source so = facts_source(&s->facts, s->src, true);

		stream_tell_repaired(s->in->name, &so);
	}
}

void
repair_read(struct source_state *s)
{
	struct utf8_repair r = { .in = s->in };

	if ((s->set->repairs & REPAIR_FIX_UTF8) != 0)
		(void)!in_need(s->in, 64);
	if ((s->set->repairs & REPAIR_FIX_UTF8) == 0 || !is_json(s->in)) {
		format_read(s);
		return;
	}
	r.window = s->in = in_open_filter(give, &r, s->in->name);
	format_read(s);
	if (r.n > 0)
		tell(&r, s);
	s->in = r.in;
	in_close(r.window);
}

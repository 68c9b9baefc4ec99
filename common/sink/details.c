/* SPDX-License-Identifier: MIT */
/* Lists of kernels in cells; see plan.h. */
#include <math.h>
#include <stdlib.h>

#include "sink/plan.h"
#include "trace/stat.h"
#include "json/json.h"

#define NAME_CUT 64 /* characters of a name in a short list */

static void
put_real(struct buf *b, double v)
{
	char text[NUM_DOUBLE_MAX];

	if (isnan(v))
		buf_puts(b, "null");
	else
		buf_put(b, text, num_put_double(text, v));
}

static void
put_stream(struct buf *b, const struct dict *st, struct key k)
{
	buf_puts(b, ",\"stream\":");
	if (k.type == KEY_INT)
		buf_printf(b, "%" PRId64, k.n);
	else if (k.type == KEY_STR)
		json_put_string(b, dict_get(st, (uint32_t)k.n));
	else
		buf_puts(b, "null");
}

/* The name, cut between characters to that many bytes. */
static struct str
cut_name(struct str s)
{
	size_t n = 0;

	if (s.len <= NAME_CUT)
		return s;
	for (size_t chars = 0; n < s.len && chars < NAME_CUT; chars++) {
		n++;
		while (n < s.len && ((unsigned char)s.p[n] & 0xc0) == 0x80)
			n++;
	}
	return (struct str){ s.p, n };
}

static void
put_name(struct buf *b, struct str name, unsigned of)
{
	struct str cut = (of & DETAIL_CUT) != 0 ? cut_name(name) : name;

	buf_puts(b, "{\"name\":");
	json_put_string(b, cut);
	if (cut.len < name.len) {
		b->len--;
		buf_puts(b, "...\"");
	}
}

/* ---- one position ---- */

struct position {
	struct str name;
	struct key gpu_stream;
	struct stats ns;
	double pct;   /* NAN: none */
	size_t names; /* how many; 0: one */
};

/* qsort(): shortest total first, then by name. */
static int
by_total(const void *x, const void *y)
{
	const struct position *a = x, *b = y;

	if (a->ns.sum != b->ns.sum)
		return a->ns.sum < b->ns.sum ? -1 : 1;
	return str_cmp(a->name, b->name);
}

static void
put_position(
    struct buf *b, const struct dict *st, const struct position *p, unsigned of)
{
	put_name(b, p->name, of);
	put_stream(b, st, p->gpu_stream);
	if ((of & DETAIL_CUT) != 0) {
		buf_puts(b, ",\"mean_duration_us\":");
		put_real(b, stat_round2(p->ns.mean / 1e3));
		buf_putc(b, '}');
		return;
	}
	if (!isnan(p->pct)) {
		buf_puts(b, ",\"overlap_pct\":");
		put_real(b, p->pct);
	}
	buf_printf(b, ",\"count\":%zu,\"total_duration_us\":", p->ns.n);
	put_real(b, (double)p->ns.sum / 1e3);
	buf_puts(b, ",\"mean_duration_us\":");
	put_real(b, p->ns.mean / 1e3);
	buf_puts(b, ",\"median_duration_us\":");
	put_real(b, p->ns.median / 1e3);
	buf_puts(b, ",\"std_dev_duration_us\":");
	put_real(b, p->ns.std_all / 1e3);
	buf_puts(b, ",\"min_duration_us\":");
	put_real(b, (double)p->ns.min / 1e3);
	buf_puts(b, ",\"max_duration_us\":");
	put_real(b, (double)p->ns.max / 1e3);
	if (p->names > 1)
		buf_printf(b, ",\"names\":%zu", p->names);
	buf_putc(b, '}');
}

/* ---- the lists of a row ---- */

/* A record's list. */
struct list {
	size_t first, n;
};

static struct list
list_of(const struct sink_row *r, unsigned of, size_t i)
{
	const struct sink_details *at = &r->sink->def->details;
	const char *record = sink_row_record(r, i);
	struct op_overlap overlap;
	struct list list;
	uint32_t n;

	if ((of & DETAIL_OVERLAP) != 0) {
		memcpy(&overlap, record + at->overlap, sizeof overlap);
		return (struct list){ overlap.first, overlap.n };
	}
	memcpy(&list.first, record + at->first, sizeof list.first);
	memcpy(&n, record + at->n, sizeof n);
	list.n = n;
	return list;
}

static struct detail
entry_of(const struct sink_row *r, unsigned of, size_t at)
{
	const struct overlap *o;

	if ((of & DETAIL_OVERLAP) == 0)
		return r->sink->def->details.kernel(r->sink, at);
	o = &r->sink->overlaps.v[at];
	return (struct detail){ o->name, o->gpu_stream, o->dur_ns, o->pct };
}

/* The values at one position in all lists as long as the first. */
static void
fill_position(struct position *p, const struct sink_row *r, unsigned of,
    struct list first, size_t at, int64_t *ns)
{
	struct detail d = entry_of(r, of, first.first + at);
	uint32_t last = d.name;
	struct map seen = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->group->n; i++) {
		struct list list = list_of(r, of, i);
		struct detail other;

		if (list.n != first.n)
			continue;
		other = entry_of(r, of, list.first + at);
		ns[n++] = other.dur_ns;
		/* nearly always all have the same name */
		if (other.name != last) {
			(void)map_put(&seen, last, NULL);
			(void)map_put(&seen, other.name, NULL);
		}
		last = other.name;
	}
	*p = (struct position){
		.name = dict_get(r->sink->dict, d.name),
		.gpu_stream = d.gpu_stream,
		.pct = d.pct,
		.names = (of & DETAIL_OVERLAP) == 0 ? seen.n : 0,
	};
	stat_of(&p->ns, ns, n);
	map_free(&seen);
}

bool
details_put(const struct sink_row *r, unsigned of)
{
	struct buf *b = r->text;
	struct position *list;
	struct list first = { 0, 0 };
	int64_t *ns;

	for (size_t i = 0; i < r->group->n && first.n == 0; i++)
		first = list_of(r, of, i);
	if (first.n == 0)
		return false;
	list = xmalloc(first.n * sizeof *list);
	ns = xmalloc(r->group->n * sizeof *ns);
	for (size_t at = 0; at < first.n; at++)
		fill_position(&list[at], r, of, first, at, ns);
	qsort(list, first.n, sizeof *list, by_total);
	for (size_t i = 0; i < first.n; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		put_position(b, r->sink->dict, &list[i], of);
	}
	buf_putc(b, ']');
	free(list);
	free(ns);
	return true;
}

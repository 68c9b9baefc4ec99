/* SPDX-License-Identifier: MIT */
/* Lists of kernels inside of cells; see details.h. */
#include <math.h>
#include <stdlib.h>

#include "sink/details.h"
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

/* Bytes up to which a name is kept, at a character's border. */
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
put_name(struct buf *b, struct str name, enum detail_form form)
{
	struct str cut = form == DETAIL_TRUNC ? cut_name(name) : name;

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
	double pct; /* NAN: none */
	size_t names;
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
put_position(struct buf *b, const struct dict *st, const struct position *p,
    enum detail_form form)
{
	put_name(b, p->name, form);
	put_stream(b, st, p->gpu_stream);
	if (form == DETAIL_TRUNC) {
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

/* ---- the lists of a group ---- */

/* Whether all calls have the same name here, as nearly always. */
static bool
is_one_name(const struct detail_lists *l, size_t at, size_t length)
{
	uint32_t name = INTERN_NONE;
	bool has_name = false;

	for (size_t i = 0; i < l->n; i++) {
		uint32_t other;

		if (l->length(l->arg, i) != length)
			continue;
		other = l->entry(l->arg, i, at).name;
		if (has_name && other != name)
			return false;
		name = other;
		has_name = true;
	}
	return true;
}

/* Distinct names at this position. */
static size_t
count_names(const struct detail_lists *l, size_t at, size_t length)
{
	struct map seen = { 0 };
	size_t n;

	if (is_one_name(l, at, length))
		return 1;
	for (size_t i = 0; i < l->n; i++)
		if (l->length(l->arg, i) == length)
			(void)map_put(
			    &seen, l->entry(l->arg, i, at).name, NULL);
	n = seen.n;
	map_free(&seen);
	return n;
}

static void
fill_position(struct position *p, const struct detail_lists *l, size_t first,
    size_t at, int64_t *ns)
{
	struct detail d = l->entry(l->arg, first, at);
	size_t length = l->length(l->arg, first), n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->length(l->arg, i) == length)
			ns[n++] = l->entry(l->arg, i, at).dur_ns;
	*p = (struct position){
		.name = dict_get(l->dict, d.name),
		.gpu_stream = d.gpu_stream,
		.pct = d.pct,
		.names = l->with_names ? count_names(l, at, length) : 1,
	};
	stat_of(&p->ns, ns, n);
}

bool
details_put(struct buf *b, const struct detail_lists *l, enum detail_form form)
{
	struct position *list;
	int64_t *ns;
	size_t first = 0, length;

	while (first < l->n && l->length(l->arg, first) == 0)
		first++;
	if (first == l->n)
		return false;
	length = l->length(l->arg, first);
	list = xmalloc(length * sizeof *list);
	ns = xmalloc(l->n * sizeof *ns);
	for (size_t at = 0; at < length; at++)
		fill_position(&list[at], l, first, at, ns);
	qsort(list, length, sizeof *list, by_total);
	buf_putc(b, '[');
	for (size_t i = 0; i < length; i++) {
		if (i > 0)
			buf_putc(b, ',');
		put_position(b, l->dict, &list[i], form);
	}
	buf_putc(b, ']');
	free(list);
	free(ns);
	return true;
}

size_t
overlap_length(const void *lists, size_t call)
{
	const struct overlap_lists *l = lists;

	return l->of(l->arg, call)->n;
}

struct detail
overlap_entry(const void *lists, size_t call, size_t i)
{
	const struct overlap_lists *l = lists;
	const struct overlap *k = &l->all->v[l->of(l->arg, call)->first + i];

	return (struct detail){ k->name, k->gpu_stream, k->dur_ns, k->pct };
}

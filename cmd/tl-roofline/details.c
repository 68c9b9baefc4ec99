/* SPDX-License-Identifier: MIT */
/*
 * Lists inside of cells: what the calls of a group launched, position by
 * position, and what ran beside. The first call that launched something says
 * how long the list is and what stands in it; calls with lists of another
 * length are left out, as count shows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-roofline/roof.h"

#define NAME_CUT 64 /* bytes of a name in a short list */

void
json_text(struct buf *b, struct str s)
{
	buf_putc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '"' || c == '\\')
			buf_putc(b, '\\');
		if (c < ' ')
			buf_printf(b, "\\u%04x", c);
		else
			buf_putc(b, (char)c);
	}
	buf_putc(b, '"');
}

static void
json_us(struct buf *b, double us)
{
	char text[NUM_DOUBLE_MAX];

	if (isnan(us))
		buf_puts(b, "null");
	else
		buf_put(b, text, num_put_double(text, us));
}

double
round2(double x)
{
	char text[400];
	double v = x;
	int n = snprintf(text, sizeof text, "%.2f", x);

	if (n > 0 && !num_double((struct str){ text, (size_t)n }, &v))
		v = x;
	return v;
}

static void
put_stream(struct buf *b, const struct roof_state *g, struct key k)
{
	buf_puts(b, ",\"stream\":");
	if (k.type == KEY_INT)
		buf_printf(b, "%" PRId64, k.n);
	else if (k.type == KEY_STR)
		json_text(b, strings_get(g->strings, (uint32_t)k.n));
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
put_name(struct buf *b, struct str name, enum detail how)
{
	struct str cut = how == DETAIL_TRUNC ? cut_name(name) : name;

	buf_puts(b, "{\"name\":");
	json_text(b, cut);
	if (cut.len < name.len) {
		b->len--;
		buf_puts(b, "...\"");
	}
}

/* ---- one position ---- */

struct position {
	struct str name;
	struct key gpu_stream;
	struct stat_real us;
	double pct; /* NAN: none */
	size_t names;
};

/* qsort(): shortest total first, then by name. */
static int
by_total(const void *x, const void *y)
{
	const struct position *a = x, *b = y;

	if (a->us.sum != b->us.sum)
		return a->us.sum < b->us.sum ? -1 : 1;
	return str_cmp(a->name, b->name);
}

static void
put_position(struct buf *b, const struct roof_state *g,
    const struct position *p, enum detail how)
{
	put_name(b, p->name, how);
	put_stream(b, g, p->gpu_stream);
	if (how == DETAIL_TRUNC) {
		buf_puts(b, ",\"mean_duration_us\":");
		json_us(b, round2(p->us.mean));
		buf_putc(b, '}');
		return;
	}
	if (!isnan(p->pct)) {
		buf_puts(b, ",\"overlap_pct\":");
		json_us(b, p->pct);
	}
	buf_printf(b, ",\"count\":%zu,\"total_duration_us\":", p->us.n);
	json_us(b, p->us.sum);
	buf_puts(b, ",\"mean_duration_us\":");
	json_us(b, p->us.mean);
	buf_puts(b, ",\"median_duration_us\":");
	json_us(b, p->us.median);
	buf_puts(b, ",\"std_dev_duration_us\":");
	json_us(b, p->us.std_all);
	buf_puts(b, ",\"min_duration_us\":");
	json_us(b, p->us.min);
	buf_puts(b, ",\"max_duration_us\":");
	json_us(b, p->us.max);
	if (p->names > 1)
		buf_printf(b, ",\"names\":%zu", p->names);
	buf_putc(b, '}');
}

static void
put_list(struct buf *b, const struct roof_state *g, struct position *v,
    size_t n, enum detail how)
{
	qsort(v, n, sizeof *v, by_total);
	buf_putc(b, '[');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(b, ',');
		put_position(b, g, &v[i], how);
	}
	buf_putc(b, ']');
}

/* An empty list; the short form has none. */
static bool
put_none(struct buf *b, enum detail how)
{
	buf_puts(b, "[]");
	return how == DETAIL_FULL;
}

/* ---- kernels ---- */

static const struct work *
kernel_at(const struct roof_state *g, const struct call *c, size_t at)
{
	return &g->works.v[g->lists.v[c->first_kernel + at]];
}

/* Of integers, to lose nothing before the last division. */
static void
kernel_stat(struct stat_real *us, int64_t *ns, size_t n)
{
	struct stats s;

	stat_of(&s, ns, n);
	*us = (struct stat_real){
		.n = s.n,
		.sum = (double)s.sum / 1e3,
		.min = (double)s.min / 1e3,
		.max = (double)s.max / 1e3,
		.mean = s.mean / 1e3,
		.median = s.median / 1e3,
		.std_all = s.std_all / 1e3,
	};
}

/* Whether all calls launched the same kernel here, as nearly always. */
static bool
is_one_name(const struct roof_state *g, const struct bunches *gs,
    const struct bunch *gr, size_t at, uint32_t nkernels)
{
	uint32_t name = INTERN_NONE;
	bool has_name = false;

	for (size_t i = 0; i < gr->n; i++) {
		const struct call *c = bunch_call(g, gs, gr, i);

		if (c->nkernels != nkernels)
			continue;
		if (has_name && kernel_at(g, c, at)->name != name)
			return false;
		name = kernel_at(g, c, at)->name;
		has_name = true;
	}
	return true;
}

/* Distinct names at this position. */
static size_t
count_names(const struct roof_state *g, const struct bunches *gs,
    const struct bunch *gr, size_t at, uint32_t nkernels)
{
	struct map seen = { 0 };
	size_t n;

	if (is_one_name(g, gs, gr, at, nkernels))
		return 1;
	for (size_t i = 0; i < gr->n; i++) {
		const struct call *c = bunch_call(g, gs, gr, i);

		if (c->nkernels == nkernels)
			(void)map_put(&seen, kernel_at(g, c, at)->name, NULL);
	}
	n = seen.n;
	map_free(&seen);
	return n;
}

bool
details_kernels(struct buf *b, const struct roof_state *g,
    const struct bunches *gs, const struct bunch *gr, enum detail how)
{
	const struct call *first = NULL;
	struct position *list;
	int64_t *ns;

	for (size_t i = 0; i < gr->n && first == NULL; i++)
		if (bunch_call(g, gs, gr, i)->nkernels > 0)
			first = bunch_call(g, gs, gr, i);
	if (first == NULL)
		return put_none(b, how);
	list = xmalloc(first->nkernels * sizeof *list);
	ns = xmalloc(gr->n * sizeof *ns);
	for (size_t at = 0; at < first->nkernels; at++) {
		const struct work *k = kernel_at(g, first, at);
		size_t n = 0;

		for (size_t i = 0; i < gr->n; i++) {
			const struct call *c = bunch_call(g, gs, gr, i);

			if (c->nkernels == first->nkernels)
				ns[n++] = kernel_at(g, c, at)->dur_ns;
		}
		list[at] = (struct position){
			.name = strings_get(g->strings, k->name),
			.gpu_stream = k->gpu_stream,
			.pct = NAN,
			.names = count_names(g, gs, gr, at, first->nkernels),
		};
		kernel_stat(&list[at].us, ns, n);
	}
	put_list(b, g, list, first->nkernels, how);
	free(list);
	free(ns);
	return true;
}

/* ---- what ran beside ---- */

bool
details_beside(struct buf *b, const struct roof_state *g,
    const struct bunches *gs, const struct bunch *gr, enum detail how)
{
	const struct call *first = NULL;
	struct position *list;
	double *us;

	for (size_t i = 0; i < gr->n && first == NULL; i++)
		if (bunch_call(g, gs, gr, i)->nbeside > 0)
			first = bunch_call(g, gs, gr, i);
	if (first == NULL)
		return put_none(b, how);
	list = xmalloc(first->nbeside * sizeof *list);
	us = xmalloc(gr->n * sizeof *us);
	for (size_t at = 0; at < first->nbeside; at++) {
		const struct beside *k =
		    &g->besides.v[first->first_beside + at];
		size_t n = 0;

		for (size_t i = 0; i < gr->n; i++) {
			const struct call *c = bunch_call(g, gs, gr, i);

			if (c->nbeside == first->nbeside)
				us[n++] =
				    g->besides.v[c->first_beside + at].dur_us;
		}
		list[at] = (struct position){
			.name = strings_get(g->strings, k->name),
			.gpu_stream = k->gpu_stream,
			.pct = k->pct,
		};
		stat_of_reals(&list[at].us, us, n);
	}
	put_list(b, g, list, first->nbeside, how);
	free(list);
	free(us);
	return true;
}

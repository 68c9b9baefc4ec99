/* SPDX-License-Identifier: MIT */
/* Stretches of serving iterations. */
#include <math.h>

#include "trace/window.h"

const char *const steady_words[STEADY_COUNT] = {
	[STEADY_MIXED] = "mixed_steady_state",
	[STEADY_DECODE] = "decode_only_steady_state",
	[STEADY_PREFILLDECODE] = "prefilldecode_steady_state",
};

const char *const window_labels[WINDOW_LABELS] = {
	[WINDOW_DECODE] = "decode_only",
	[WINDOW_PREFILLDECODE] = "prefilldecodemix",
	[WINDOW_GENERIC] = "generic",
};

static bool
has_prefill(const struct iteration *it)
{
	return it->phase == PHASE_PREFILL || it->phase == PHASE_MIXED;
}

/* ---- sums ---- */

struct window_summary
window_sum(const struct iteration *v, const struct window *w)
{
	struct window_summary s = { 0 };
	int64_t n = (int64_t)(w->end - w->start);

	for (size_t i = w->start; i < w->end; i++) {
		s.num_prefill += v[i].phase == PHASE_PREFILL;
		s.num_prefilldecode += v[i].phase == PHASE_MIXED;
		s.num_decode += v[i].phase == PHASE_DECODE;
		s.avg_bs = num_add_max(s.avg_bs, v[i].batch_size);
		s.avg_conc = num_add_max(s.avg_conc, v[i].num_requests);
	}
	if (n > 0) {
		s.avg_bs /= n;
		s.avg_conc /= n;
	}
	return s;
}

enum window_label
window_label_of(const struct iteration *it)
{
	if (has_prefill(it))
		return WINDOW_PREFILLDECODE;
	return it->phase == PHASE_DECODE ? WINDOW_DECODE : WINDOW_GENERIC;
}

/* ---- steady state ---- */

int64_t
window_peak(const struct iteration *v, size_t n)
{
	int64_t peak = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].num_requests > peak)
			peak = v[i].num_requests;
	return peak;
}

/* So many iterations near the peak start a region, as many others end it. */
#define TURNS 6

bool
window_regions(
    window_vec *regions, const struct iteration *v, size_t n, int64_t num_steps)
{
	double peak = (double)window_peak(v, n);
	double near = fmax(1, ((int64_t)n >= num_steps ? 0.1 : 0.2) * peak);
	size_t start = 0, count = 0;
	bool is_open = false;

	regions->n = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_in = fabs((double)v[i].num_requests - peak) <= near;

		if (is_in && !is_open && ++count == TURNS) {
			is_open = true;
			start = i + 1 - TURNS;
		} else if (!is_in && is_open && --count == 0) {
			is_open = false;
			vec_push(regions, ((struct window){ start, i }));
		}
	}
	if (is_open)
		vec_push(regions, ((struct window){ start, n }));
	if (regions->n == 0 && n > 0) {
		int64_t out =
		    (int64_t)n > num_steps - 8 ? 8 : num_steps - (int64_t)n;
		size_t half = (out < (int64_t)n ? (size_t)out : n) / 2;

		start = half;
		vec_push(regions,
		    ((struct window){
			start, n - half > start + 1 ? n - half : start + 1 }));
		return false;
	}
	return true;
}

bool
window_ideal(const struct window_plan *plan, double *ratio)
{
	if (plan->conc == 0 || !plan->has_osl || !plan->has_ratio)
		return false;
	*ratio = 2 * (double)plan->conc / (plan->osl * (1 + plan->ratio));
	return true;
}

static size_t
count_prefill(const struct iteration *v, const struct window *w)
{
	size_t n = 0;

	for (size_t i = w->start; i < w->end; i++)
		n += has_prefill(&v[i]);
	return n;
}

static size_t
length(const struct window *w)
{
	return w->end - w->start;
}

/* How far a window is from the target; less is better. */
struct distance {
	bool has_no_prefill;
	double ratio, requests;
};

static struct distance
distance_of(const struct iteration *v, const struct window *w, double ratio)
{
	size_t n = count_prefill(v, w);
	double requests = 0;

	for (size_t i = w->start; i < w->end; i++)
		requests += (double)v[i].num_requests;
	return (struct distance){ n == 0,
		fabs((double)n / (double)length(w) - ratio),
		-requests / (double)length(w) };
}

static bool
is_less(const struct distance *a, const struct distance *b)
{
	if (a->has_no_prefill != b->has_no_prefill)
		return b->has_no_prefill;
	if (a->ratio < b->ratio || a->ratio > b->ratio)
		return a->ratio < b->ratio;
	return a->requests < b->requests;
}

static struct window
find_mixed(const struct iteration *v, const struct window *in, size_t num_steps,
    double ratio)
{
	size_t parts = num_steps / 2 < 10 ? num_steps / 2 : 10;
	size_t step = parts > 0 ? num_steps / parts : num_steps;
	struct window best = *in, w;
	struct distance d, least;

	if (length(in) <= num_steps)
		return best;
	best.end = best.start + num_steps;
	least = distance_of(v, &best, ratio);
	for (w = best; w.end + step <= in->end;) {
		w.start += step;
		w.end += step;
		d = distance_of(v, &w, ratio);
		if (!is_less(&d, &least))
			continue;
		best = w;
		least = d;
	}
	return best;
}

/* The longest run with or without prefill, cut to num_steps. */
static struct window
find_run(const struct iteration *v, const struct window *in, bool prefill,
    size_t num_steps)
{
	struct window best = { 0, 0 }, run = { in->start, in->start };

	for (size_t i = in->start; i < in->end; i++) {
		if (has_prefill(&v[i]) != prefill)
			run.start = i + 1;
		run.end = i + 1;
		if (length(&run) > length(&best))
			best = run;
	}
	if (length(&best) > num_steps)
		best.end = best.start + num_steps;
	return best;
}

void
window_steady(struct window found[STEADY_COUNT], const struct iteration *v,
    const window_vec *regions, const struct window_plan *plan)
{
	size_t num_steps = (size_t)plan->num_steps, all = 0, prefill = 0;
	size_t mixed_steps = num_steps;
	const struct window *in = regions->v;
	double ratio;

	memset(found, 0, STEADY_COUNT * sizeof *found);
	for (size_t i = 0; i < regions->n; i++) {
		all += length(&regions->v[i]);
		prefill += count_prefill(v, &regions->v[i]);
		if (length(&regions->v[i]) > length(in))
			in = &regions->v[i];
	}
	if (all == 0)
		return;
	if (window_ideal(plan, &ratio)) {
		double least = ceil(1 / ratio);

		/* that many have one prefill among them */
		if (least > (double)num_steps)
			mixed_steps = least < (double)all ? (size_t)least : all;
	} else {
		ratio = (double)prefill / (double)all;
	}
	found[STEADY_MIXED] = find_mixed(v, in, mixed_steps, ratio);
	found[STEADY_DECODE] = find_run(v, in, false, num_steps);
	found[STEADY_PREFILLDECODE] = find_run(v, in, true, num_steps);
}

/* ---- names of files ---- */

void
window_put_name(
    struct buf *b, const char *label, const struct window_summary *sum)
{
	buf_printf(b,
	    "%s_prefill_%" PRId64 "_prefilldecode_%" PRId64 "_decode_%" PRId64
	    "_bs%" PRId64 "_conc%" PRId64,
	    label, sum->num_prefill, sum->num_prefilldecode, sum->num_decode,
	    sum->avg_bs, sum->avg_conc);
}

void
window_put_text(struct buf *b, struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		bool is_plain = (c >= '0' && c <= '9') ||
		    (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    c == '.' || c == '-';

		if (c != ')' && c != ':')
			buf_putc(b, is_plain ? c : '_');
	}
}

/* Cuts at a length, but not within a character. */
static void
cut(struct buf *b, size_t from, size_t max)
{
	size_t end = from + max;

	if (b->len <= end)
		return;
	while (end > from && ((unsigned char)b->p[end] & 0xc0) == 0x80)
		end--;
	b->len = end;
}

/* All of them in the name go, as in the reference. */
static const char *const endings[] = { ".pt.trace", ".json.gz", ".json", ".zip",
	".zst", ".tl", ".xplane.pb.gz", ".xplane.pb" };

static size_t
ending_at(struct str name, size_t i)
{
	for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
		struct str end = str_of(endings[k]);

		if (str_starts((struct str){ name.p + i, name.len - i }, end))
			return end.len;
	}
	return 0;
}

void
window_put_base(struct buf *b, struct str path)
{
	size_t from = b->len, i = path.len, n;

	while (i > 0 && path.p[i - 1] != '/')
		i--;
	if (str_eq(path, STR("-")))
		buf_puts(b, "stdin");
	else
		while (i < path.len) {
			n = ending_at(path, i);
			if (n == 0)
				buf_putc(b,
				    path.p[i] < ' ' && path.p[i] >= 0
					? '_'
					: path.p[i]);
			i += n > 0 ? n : 1;
		}
	cut(b, from, WINDOW_NAME_MAX / 2);
}

void
window_end_name(struct buf *b, size_t from, const char *ending)
{
	cut(b, from, WINDOW_NAME_MAX - strlen(ending));
	buf_puts(b, ending);
}

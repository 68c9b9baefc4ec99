/* SPDX-License-Identifier: MIT */
/*
 * window: stretches of serving iterations: chosen, summed up and named.
 *
 * Pure functions over the iterations of a source in the order of time. Numbers
 * of iterations are places in that array; a window is half-open.
 *
 *	window_regions(&regions, v, n, &plan);
 *	window_steady(steady, v, &regions, &plan);
 *	sum = window_sum(v, &steady[STEADY_MIXED]);
 *	window_put_name(&b, steady_words[STEADY_MIXED], &sum);
 *
 * Words in names of files are the reference's, whose tools look for them.
 */
#ifndef TL_TRACE_WINDOW_H
#define TL_TRACE_WINDOW_H

#include "trace/phase.h"

struct window {
	size_t start, end;
};
typedef VEC(struct window) window_vec;

/* ---- what is in one ---- */

struct window_summary {
	int64_t num_prefill, num_prefilldecode, num_decode;
	int64_t avg_bs, avg_conc; /* means of batch and requests, cut */
};

struct window_summary window_sum(
    const struct iteration *v, const struct window *w);

/* What runs of iterations are called: the reference puts prefill and mixed
 * ones into one. */
enum window_label {
	WINDOW_DECODE,
	WINDOW_PREFILLDECODE,
	WINDOW_GENERIC,
	WINDOW_LABELS,
};
extern const char *const window_labels[WINDOW_LABELS];
enum window_label window_label_of(const struct iteration *it);

/* ---- steady state ---- */

/* The known load. */
struct window_plan {
	int64_t num_steps; /* of a window */
	int64_t conc;      /* requests at a time; 0: not known */
	double osl, ratio; /* most output tokens, and their range */
	bool has_osl, has_ratio;
};

enum steady {
	STEADY_MIXED,
	STEADY_DECODE,
	STEADY_PREFILLDECODE,
	STEADY_COUNT,
};
extern const char *const steady_words[STEADY_COUNT];

/*
 * Where the number of requests stays at its peak; false: nowhere, and the only
 * region is the middle.
 */
bool window_regions(window_vec *regions, const struct iteration *v, size_t n,
    int64_t num_steps);
/* The highest number of concurrent requests. */
int64_t window_peak(const struct iteration *v, size_t n);
/*
 * A window of each kind in the longest region (without iterations if there is
 * none): the one whose share of prefill is nearest to that of all regions or of
 * the plan; one with decode only; one in which all iterations have prefill.
 */
void window_steady(struct window found[STEADY_COUNT], const struct iteration *v,
    const window_vec *regions, const struct window_plan *plan);
/* Whether the plan gives a share of iterations with prefill, and which. */
bool window_ideal(const struct window_plan *plan, double *ratio) USE_RESULT;

/* ---- names of files ---- */

#define WINDOW_NAME_MAX 200 /* bytes of a file's name, with its ending */

/* LABEL_prefill_0_prefilldecode_1_decode_15_bs79_conc16 */
void window_put_name(
    struct buf *b, const char *label, const struct window_summary *sum);
/* An annotation's name as part of a file's. */
void window_put_text(struct buf *b, struct str name);
/*
 * The name of a trace without folder and endings, at most half of what a name
 * may have: "-" becomes "stdin".
 */
void window_put_base(struct buf *b, struct str path);
/* Ends the name that begins at this place; cuts it if too long. */
void window_end_name(struct buf *b, size_t from, const char *ending);

#endif

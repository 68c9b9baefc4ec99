/* SPDX-License-Identifier: MIT */
/*
 * arch: a GPU: peak and achievable figures for each compute spec
 * ("matrix_bf16"), with their sources, from arch/NAME.json, compiled in, or
 * from a file.
 *
 *	const struct arch *a = arch_load(ms, "auto", devices);
 *	struct roofline rf = roofline_of(a, ROOF_ACHIEVABLE, r);
 */
#ifndef TL_MODEL_ARCH_H
#define TL_MODEL_ARCH_H

#include "model/model.h"

enum roof {
	ROOF_PEAK,       /* from the data sheet */
	ROOF_ACHIEVABLE, /* measured */
};
extern const char *const roof_words[]; /* NULL at the end */

struct arch_rate {
	struct str spec;         /* "matrix_bf16" */
	double peak, achievable; /* TFLOP/s; NAN: no figure */
};

struct arch {
	struct str name;
	struct str file;    /* source of the figures */
	double mem_gbps[2]; /* by enum roof, in 1e9 bytes/s; NAN: no figure */
	double memory_gb;   /* NAN: unknown, as the following */
	double num_cus;
	double clock_mhz;              /* of the peaks */
	double tensor_clock_mhz;       /* of the peaks of tensor cores */
	double l2_mib, last_level_mib; /* between L2 and memory */
	const struct arch_rate *rates;
	size_t nrates;
};

/*
 * The arch by name, by file (a word with a slash or ".json"), or for "auto" by
 * the trace's device: devices is the JSON text of the source's fact. With the
 * suffix ":clock=1410", peaks are those at 1,410 MHz. An unknown name or a bad
 * file ends the program. NULL: "auto", but no device is known.
 */
const struct arch *arch_load(
    struct models *ms, const char *name, struct str devices);
bool arch_is_auto(const char *name);
/* Appends the name of the first device in the JSON text. */
void device_name(struct str devices, struct buf *name);
/* Whether this name identifies the GPU. */
bool device_is_named(struct str name);
/* The built-in ones and those of $TL_ARCH_PATH, in order. */
size_t arch_list(struct models *ms, const struct arch *const **list);
/* TFLOP/s for a compute spec; NAN: no figure. */
double arch_tflops(const struct arch *a, enum roof roof, struct str spec);
double arch_gbps(const struct arch *a, enum roof roof);
/* The cache before the memory; NAN: unknown, or no GPU (NULL). */
double arch_cache_mib(const struct arch *a);
/* Whether the bandwidth is this roof's own, not the peak as a fallback. */
bool arch_has_gbps(const struct arch *a, enum roof roof);

enum bound {
	BOUND_NONE, /* unknown */
	BOUND_COMPUTE,
	BOUND_MEMORY,
};
extern const char *const bound_words[]; /* "", "COMPUTE_BOUND", ... */

struct roofline {
	double tflops, gbps; /* of the GPU, for this spec; NAN: unknown */
	double compute_us, memory_us; /* NAN: unknown */
	double time_us;               /* the longer one; NAN: unknown */
	enum bound bound;
	/* the other bound, if the figure is known only for that */
	enum roof roof;
};

/*
 * The minimum time on this GPU. A rate that this roof lacks is taken from the
 * other. Without FLOPs, or without their rate, memory alone decides; without
 * bytes the time is unknown.
 */
struct roofline roofline_of(
    const struct arch *a, enum roof roof, const struct model_result *r);

#endif

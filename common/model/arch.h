/* SPDX-License-Identifier: MIT */
/*
 * arch: a GPU: peak and achievable figures for each compute spec
 * ("matrix_bf16"), with their sources; arch/NAME.json, compiled in, or a file.
 *
 *	const struct arch *a = arch_load(ms, "auto", devices);
 *	struct roofline rf = roofline_of(a, ROOF_ACHIEVABLE, r);
 */
#ifndef TL_MODEL_ARCH_H
#define TL_MODEL_ARCH_H

#include "model/model.h"

enum roof {
	ROOF_PEAK,       /* of the data sheet */
	ROOF_ACHIEVABLE, /* measured */
};
extern const char *const roof_words[]; /* ended by NULL */

struct arch_rate {
	struct str spec;         /* "matrix_bf16" */
	double peak, achievable; /* TFLOP/s; NAN: no figure */
};

struct arch {
	struct str name;
	struct str file;    /* where it comes from */
	double mem_gbps[2]; /* by enum roof, in 1e9 bytes/s; NAN: no figure */
	double memory_gb;   /* NAN: unknown, as the following */
	double num_cus;
	double clock_mhz;              /* that peaks are for */
	double tensor_clock_mhz;       /* and those of tensor cores */
	double l2_mib, last_level_mib; /* behind it, before the memory */
	const struct arch_rate *rates;
	size_t nrates;
};

/*
 * The arch of this name, of this file (a word with a slash or ".json"), or of
 * the trace's device for "auto", which devices names: the JSON text of the
 * source's fact. With ":clock=1410" behind it, peaks are those at 1,410 MHz. An
 * unknown name or a bad file ends the program; NULL for "auto" when no device
 * is known.
 */
const struct arch *arch_load(
    struct models *ms, const char *name, struct str devices);
bool arch_is_auto(const char *name);
/* Appends the name of the first device, as the JSON text has it. */
void device_name(struct str devices, struct buf *name);
/* Whether such a name tells which GPU it is. */
bool device_is_named(struct str name);
/* The built-in ones and those of $TL_ARCH_PATH, in order. */
size_t arch_list(struct models *ms, const struct arch *const **list);
/* TFLOP/s for a compute spec; NAN: no figure. */
double arch_tflops(const struct arch *a, enum roof roof, struct str spec);
double arch_gbps(const struct arch *a, enum roof roof);
/* The last level before the memory; NAN: unknown, as of no GPU (NULL). */
double arch_cache_mib(const struct arch *a);
/* Whether that is this roof's, not the peak that stands in. */
bool arch_has_gbps(const struct arch *a, enum roof roof);

enum bound {
	BOUND_NONE, /* nothing is known */
	BOUND_COMPUTE,
	BOUND_MEMORY,
};
extern const char *const bound_words[]; /* "", "COMPUTE_BOUND", ... */

struct roofline {
	double tflops, gbps; /* of the GPU, for this spec; NAN: unknown */
	double compute_us, memory_us; /* NAN: unknown */
	double time_us;               /* the longer one; NAN: unknown */
	enum bound bound;
	/* of what bounds: the other one, where the figure is only known of that
	 */
	enum roof roof;
};

/*
 * The least time that this GPU could need. A rate that this roof lacks is the
 * other roof's. With FLOPs but no rate for them, or with no FLOPs, the memory
 * alone decides; without bytes nothing does.
 */
struct roofline roofline_of(
    const struct arch *a, enum roof roof, const struct model_result *r);

#endif

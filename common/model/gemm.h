/* SPDX-License-Identifier: MIT */
/*
 * gemm: the layout, tile and type of a matrix product in the name of its
 * kernel, and how well its tiles fit the product and the GPU. Only known forms
 * of names are read.
 */
#ifndef TL_MODEL_GEMM_H
#define TL_MODEL_GEMM_H

#include "base/base.h"

enum gemm_kind {
	GEMM_NONE,
	GEMM_TENSILE, /* Cijk_Alik_Bljk_..., also Custom_Cijk_... */
	GEMM_NVJET,
	GEMM_CUTLASS, /* cutlass and xmma */
	GEMM_RR,      /* RR_GEMM_ */
};

struct gemm_kernel {
	enum gemm_kind kind;
	int8_t trans_a, trans_b;       /* BLAS flags: 0, 1, or -1 unknown */
	int64_t tile_m, tile_n, depth; /* macro tile, 0: unknown */
};

/* False: a name of unknown form. */
bool gemm_kernel_parse(struct str name, struct gemm_kernel *out);

/*
 * What the name of a kernel or op proves, and the precision in that case, in
 * place of the arguments': fp32 may be rounded to tf32, bytes may be integers.
 * With 2:4 sparsity ("fp16_sparse") or sums in fp16 ("fp8_acc16") the GPU has
 * other rates.
 */
uint32_t gemm_proofs(struct str name); /* bits */
void gemm_prove(uint32_t proofs, struct buf *precision);

/*
 * How well the tiles of a kernel cover a GEMM and how well they fill the
 * compute units (BLAS is column-major: tile_m runs along N, tile_n along M).
 */
struct gemm_fit {
	int64_t tiles;
	double tile_eff, wave_eff, dim_eff; /* 0 to 1; dim = tile x wave */
};
bool gemm_fit(const struct gemm_kernel *k, int64_t b, int64_t m, int64_t n,
    int64_t num_cus, struct gemm_fit *out) USE_RESULT;

#endif

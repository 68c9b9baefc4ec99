/* SPDX-License-Identifier: MIT */
/*
 * The name of a GEMM kernel has the transposition of its operands and its macro
 * tile:
 *
 *	Cijk_Alik_Bljk_BBS_BH_..._MT64x16x64_...	Tensile
 *	nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT	nvjet
 *	..._tensorop_bf16_s16816gemm_bf16_128x64_32x6_tn_align8	cutlass
 *	cutlass3x_sm90_tensorop_..._void_bf16_128x128x64_2x1x1_0_tnn_align8
 *	sm80_xmma_gemm_f32f32_..._tn_n_tilesize64x64x64_...	xmma
 */
#include <math.h>

#include "model/gemm.h"

static bool
is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* C[a-z]{3}_A[a-z]{3}_B[a-z]{3} anywhere */
static bool
is_tensile(struct str s)
{
	for (size_t i = 0; i + 14 <= s.len; i++) {
		const char *p = s.p + i;
		bool all = p[0] == 'C' && p[4] == '_' && p[5] == 'A' &&
		    p[9] == '_' && p[10] == 'B';

		for (int k = 0; all && k < 3; k++)
			all = is_lower(p[1 + k]) && is_lower(p[6 + k]) &&
			    is_lower(p[11 + k]);
		if (all)
			return true;
	}
	return false;
}

static bool
has(struct str s, const char *what)
{
	return str_find(s, str_of(what), false) >= 0;
}

/* Digits at *p; moves past them. */
static bool
number(const char **p, const char *end, int64_t *out)
{
	const char *start = *p;

	while (*p < end && **p >= '0' && **p <= '9')
		(*p)++;
	return num_i64((struct str){ start, (size_t)(*p - start) }, out);
}

/* "64x16x64" or "64x16" at p. Returns how many numbers. */
static int
sizes(const char *p, const char *end, int64_t out[3])
{
	int n = 0;

	while (n < 3 && number(&p, end, &out[n])) {
		n++;
		if (p == end || *p != 'x')
			break;
		p++;
	}
	return n;
}

/* Three sizes after the first of these words that has them. */
static bool
tile_behind(struct str s, const char *what, struct gemm_kernel *k)
{
	const char *end = s.p + s.len;
	int64_t v[3];
	size_t from = 0;
	ptrdiff_t at;

	while ((at = str_find((struct str){ s.p + from, s.len - from },
		    str_of(what), false)) >= 0) {
		from += (size_t)at + strlen(what);
		if (sizes(s.p + from, end, v) == 3) {
			k->tile_m = v[0];
			k->tile_n = v[1];
			k->depth = v[2];
			return true;
		}
	}
	return false;
}

static void
tensile(struct str s, struct gemm_kernel *k)
{
	k->kind = GEMM_TENSILE;
	k->trans_a = has(s, "_Ailk_") ? 0 : has(s, "_Alik_") ? 1 : -1;
	k->trans_b = has(s, "_Bljk_") ? 0 : has(s, "_Bjlk_") ? 1 : -1;
	tile_behind(s, "MT", k);
}

/* nvjet_KIND_128x64_64x4_..._TNT: tile m x n, depth x stages */
static void
nvjet(struct str s, struct gemm_kernel *k)
{
	const char *end = s.p + s.len, *last = end, *p;
	int64_t v[3], w[3];

	k->kind = GEMM_NVJET;
	while (last > s.p && last[-1] != '_')
		last--;
	if (end - last >= 2) {
		k->trans_a = last[0] == 'T';
		k->trans_b = last[1] == 'T';
	}
	for (p = s.p; p + 1 < end; p++) {
		const char *next;

		if (p[0] != '_' || sizes(p + 1, end, v) != 2)
			continue;
		next = memchr(p + 1, '_', (size_t)(end - p - 1));
		if (next == NULL || sizes(next + 1, end, w) != 2)
			continue;
		k->tile_m = v[0];
		k->tile_n = v[1];
		k->depth = w[0];
		return;
	}
}

static bool
is_layout(char c)
{
	return c == 't' || c == 'n';
}

/* "_tn_" at p, or with a third letter for the result; decodes them. */
static bool
layout_at(const char *p, const char *end, struct gemm_kernel *k)
{
	if (p[0] != '_' || !is_layout(p[1]) || !is_layout(p[2]))
		return false;
	if (p[3] != '_' && !(is_layout(p[3]) && p + 4 < end && p[4] == '_'))
		return false;
	k->trans_a = p[1] == 't';
	k->trans_b = p[2] == 't';
	return true;
}

/* Layout and tile. A name without a layout counts as unknown. */
static bool
cutlass(struct str s, struct gemm_kernel *k)
{
	const char *end = s.p + s.len;
	int64_t v[3], w[3];
	bool found = false;

	k->kind = GEMM_CUTLASS;
	for (size_t i = 0; !found && i + 4 <= s.len; i++)
		found = layout_at(s.p + i, end, k);
	if (!found || tile_behind(s, "tilesize", k))
		return found;
	for (const char *p = s.p; p + 1 < end; p++) {
		const char *q = p + 1;
		int n = p[0] == '_' ? sizes(q, end, v) : 0;

		if (n == 3) {
			k->tile_m = v[0];
			k->tile_n = v[1];
			k->depth = v[2];
			break;
		}
		if (n != 2)
			continue;
		while (q < end && *q != '_')
			q++;
		if (q < end && sizes(q + 1, end, w) == 2) {
			k->tile_m = v[0];
			k->tile_n = v[1];
			k->depth = w[0];
			break;
		}
	}
	return true;
}

bool
gemm_kernel_parse(struct str name, struct gemm_kernel *out)
{
	*out = (struct gemm_kernel){ .trans_a = -1, .trans_b = -1 };
	if (is_tensile(name)) {
		tensile(name, out);
	} else if (str_starts(name, STR("nvjet"))) {
		nvjet(name, out);
		return out->trans_a >= 0 || out->tile_m > 0;
	} else if (has(name, "cutlass") || has(name, "xmma")) {
		if (!cutlass(name, out)) {
			*out = (struct gemm_kernel){ .trans_a = -1,
				.trans_b = -1 };
			return false;
		}
	} else if (has(name, "RR_GEMM_")) {
		out->kind = GEMM_RR;
	} else {
		return false;
	}
	return true;
}

static int64_t
ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b > 0);
}

/* of NULL: any precision, to which is is a suffix. */
static const struct {
	const char *token, *of, *is;
} proofs[] = {
	{ "tf32", "fp32", "tf32" },
	{ "_tensorop_s1688gemm_", "fp32", "tf32" }, /* cutlass of cuBLAS */
	{ "_MX_", "fp32", "tf32" },                 /* Tensile's XF32 */
	{ "_s8_", "fp8", "int8" },
	{ "_u8_", "fp8", "int8" },
	{ "int8", "fp8", "int8" },
	{ "i8i32", "fp8", "int8" },
	{ "i8816gemm", "fp8", "int8" },
	{ "i16832gemm", "fp8", "int8" },
	{ "_I8I", "fp8", "int8" }, /* Tensile's */
	{ "spgemm", NULL, "_sparse" },
	{ "sptensorop", NULL, "_sparse" },
	{ "sparse_gemm", NULL, "_sparse" },
	{ "sparse_semi_structured", NULL, "_sparse" },
	{ "_cslt_sparse_mm", NULL, "_sparse" },
	{ "_h884gemm", NULL, "_acc16" },
	{ "_h1688gemm", NULL, "_acc16" },
	{ "_h16816gemm", NULL, "_acc16" },
	{ "_h16832gemm", NULL, "_acc16" },
	{ "f16f16_f16_", NULL, "_acc16" }, /* xmma: in, out, sums */
	{ "e4m3f16_f16_", NULL, "_acc16" },
	{ "e5m2f16_f16_", NULL, "_acc16" },
	{ "gemm_f16_f16_f16_", NULL, "_acc16" }, /* cutlass: a, b, sums */
	{ "gemm_e4m3_e4m3_f16_", NULL, "_acc16" },
	{ "gemm_e5m2_e4m3_f16_", NULL, "_acc16" },
	{ "gemm_e4m3_e5m2_f16_", NULL, "_acc16" },
};

uint32_t
gemm_proofs(struct str name)
{
	const unsigned n = sizeof proofs / sizeof *proofs;
	uint32_t found = 0;

	_Static_assert(sizeof proofs / sizeof *proofs <= 32, "a bit each");
	for (unsigned i = 0; i < n; i++)
		if (has(name, proofs[i].token))
			found |= 1u << i;
	return found;
}

void
gemm_prove(uint32_t found, struct buf *precision)
{
	for (; found != 0; found &= found - 1) {
		unsigned i = (unsigned)__builtin_ctz(found);
		const char *of = proofs[i].of, *is = proofs[i].is;

		if (str_find(buf_str(precision), str_of(is), false) >= 0 ||
		    (of != NULL && !str_eq(buf_str(precision), str_of(of))))
			continue;
		if (of != NULL)
			precision->len = 0;
		buf_puts(precision, is);
	}
}

bool
gemm_fit(const struct gemm_kernel *k, int64_t b, int64_t m, int64_t n,
    int64_t num_cus, struct gemm_fit *out)
{
	double tiles, rounds;
	int64_t along_n, along_m;

	if (k->tile_m <= 0 || k->tile_n <= 0 || b <= 0 || m <= 0 || n <= 0 ||
	    num_cus <= 0)
		return false;
	along_n = ceil_div(n, k->tile_m);
	along_m = ceil_div(m, k->tile_n);
	tiles = (double)along_n * (double)along_m * (double)b;
	if (tiles > 9e15)
		return false;
	rounds = ceil(tiles / (double)num_cus);
	out->tiles = (int64_t)tiles;
	out->tile_eff = (double)m * (double)n /
	    ((double)along_n * (double)k->tile_m * (double)along_m *
		(double)k->tile_n);
	out->wave_eff = tiles / (rounds * (double)num_cus);
	out->dim_eff = out->tile_eff * out->wave_eff;
	return true;
}

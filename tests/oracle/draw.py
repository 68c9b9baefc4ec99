# SPDX-License-Identifier: MIT
"""Shared by the drawn tests of op models: a source of arguments, the specification's
data types, and the expected outcome of an op."""
import math
import random
import re

NAN = float("nan")

BYTES = {
    "double": 8, "float": 4, "c10::half": 2, "c10::bfloat16": 2,
    "c10::float8_e4m3fn": 1, "c10::float8_e4m3fnuz": 1, "c10::float8_e5m2": 1,
    "c10::float8_e5m2fnuz": 1, "c10::float8_e8m0fnu": 1, "c10::float4_e2m1fn_x2": 1,
    "fp8": 1, "fp4": 1, "mxfp4": 0.5, "long int": 8, "int": 4, "unsigned char": 1,
    "signed char": 1, "scalar": 0, "bool": 1, "short int": 2, "unsigned short": 2,
    "short unsigned int": 2, "unsigned int": 4, "unsigned long": 8, "long unsigned int": 8,
    "long": 8, "long long": 8, "c10::complex<c10::half>": 4, "c10::complex<float>": 8,
    "c10::complex<double>": 16}
PRECISION = {
    "double": "fp64", "float": "fp32", "c10::half": "fp16", "c10::bfloat16": "bf16",
    "c10::float8_e4m3fn": "fp8", "c10::float8_e4m3fnuz": "fp8", "c10::float8_e5m2": "fp8",
    "c10::float8_e5m2fnuz": "fp8", "c10::float4_e2m1fn_x2": "fp4", "fp8": "fp8", "fp4": "fp4",
    "mxfp4": "fp4", "unsigned char": "fp8", "signed char": "int8",
    "c10::complex<float>": "fp32", "c10::complex<double>": "fp64"}
MOE_BYTES = {n: b for b, names in (
    (1, "Float8_e4m3fn Float8_e4m3fnuz Float8_e5m2 Float8_e5m2fnuz FP8 c10::Float8_e4m3fn "
        "c10::Float8_e4m3fnuz"),
    (0.5, "FP4 c10::Float4_e2m1fn_x2"), (2, "BFloat16 Float16 Half c10::BFloat16 c10::Half"),
    (4, "Float32 Float c10::Float")) for n in names.split()}

COMMON = ["c10::BFloat16", "c10::Half", "float"]
TYPES = COMMON + ["double", "c10::Float8_e4m3fn", "c10::Float8_e4m3fnuz", "c10::Float8_e5m2",
                  "c10::Float8_e5m2fnuz", "unsigned char", "signed char", "bool", "int", "long int",
                  "short int", "unsigned int", "c10::complex<float>", "C10::BFLOAT16", "fp8",
                  "c10::QInt8", "what is this"]


def size(t):
    return BYTES.get(t.lower(), NAN)


def spec(unit, t):
    p = PRECISION.get(t.lower())
    return "%s_%s" % (unit, p) if p else ""


def prod(shape):
    return math.prod(shape)


def ceil_div(a, b):
    return -(-a // b)


class Drawn:
    """an op and its model's expected result; made by the functions of the families"""

    def __init__(self, name, dims, types, values=(), strides=None, **more):
        self.name = name
        self.dims = [list(d) for d in dims]
        self.types = list(types) + [""] * (len(self.dims) - len(types))
        self.values = list(values)
        self.strides = strides
        self.kernels = more.get("kernels", [])
        self.annotation = more.get("annotation", "")
        self.args = more.get("args", {})
        self.hlo = more.get("hlo")
        self.forward = more.get("forward")
        self.backward = more.get("backward", False)
        self.expands = more.get("expands", ())
        self.want = None

    def gives(self, flops, moved, unit_spec, params, status="ok"):
        """moved: without regard to expanded arguments"""
        moved -= self.repeated(*self.expands)
        if unit_spec == "matrix_fp32" and any("tf32" in k for k in self.kernels):
            unit_spec = "matrix_tf32"
        self.want = (status, flops, moved, unit_spec, params)
        return self

    def fails(self, status="failed"):
        self.want = (status, None, None, None, None)
        return self

    def has(self, i):
        return i < len(self.dims) and len(self.dims[i]) > 0

    def stride(self, i):
        return self.strides[i] if self.strides is not None and i < len(self.strides) else None

    def moved(self, i):
        """bytes at distinct addresses of an argument"""
        dims, steps = self.dims[i], self.stride(i)
        if steps is None or 0 not in steps:
            return prod(dims) * size(self.types[i])
        places = {0}
        for n, step in zip(dims, steps):
            places = {p + k * step for p in places for k in range(n if step else min(n, 1))}
        return len(places) * size(self.types[i])

    def repeated(self, *args):
        """bytes that expanded arguments seem to have in addition"""
        return sum(prod(self.dims[i]) * size(self.types[i]) - self.moved(i) for i in args)

    def transpose(self):
        """by the first kernel whose name shows it"""
        for k in self.kernels:
            t = layout(k)
            if t is not None:
                return {"transpose": t}
        return {}


def layout(kernel):
    if re.search("C[a-z]{3}_A[a-z]{3}_B[a-z]{3}", kernel):
        return [False if "_Ailk_" in kernel else True if "_Alik_" in kernel else None,
                False if "_Bljk_" in kernel else True if "_Bjlk_" in kernel else None]
    if kernel.startswith("nvjet"):
        last = kernel.rsplit("_", 1)[-1]
        return [last[0] == "T", last[1] == "T"] if len(last) >= 2 else None
    if "cutlass" in kernel or "xmma" in kernel:
        m = re.search("_([tn])([tn])_", kernel)
        return [m[1] == "t", m[2] == "t"] if m else None
    return None


KERNELS = [
    "Cijk_Alik_Bljk_BBS_BH_Bias_MT64x16x64_MI16x16x1", "Cijk_Ailk_Bjlk_S_MT32x32x8",
    "Custom_Cijk_Alik_Bjlk_X", "Cijk_Zlik_Bljk", "Cijk_Aqlk_Bljk_SB_MT8x8x8", "Cijk_SB",
    "nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT", "nvjet_hsh_8x64_64x16_1x4_h_bz_NNN", "nvjet_x_T",
    "ampere_sgemm_128x64_tn", "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_"
    "32x6_nt_align8>(T::Params)", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x64_stage3",
    "RR_GEMM_x", "void at::native::vectorized_elementwise_kernel<4>()"]


class Source:
    """arguments, the same for the same seed"""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def n(self, least=1, most=512):
        """sizes, small ones more often; at times odd ones"""
        if self.r.random() < 0.3:
            return self.r.choice([s for s in (0, 1, 2, 3, 7, 64, 77, 512, 4096)
                                  if least <= s <= most] or [least])
        return self.r.randint(least, most)

    def shape(self, rank, least=1, most=64):
        return [self.n(least, most) for _ in range(rank)]

    def type(self, types=TYPES):
        return self.r.choice(types)

    def some(self, p=0.5):
        return self.r.random() < p

    def of(self, items):
        return self.r.choice(items)

    def strides(self, dims, expands=()):
        """of contiguous or transposed tensors; sometimes expanded ones for those in
        expands; sometimes none"""
        if self.some(0.15):
            return None
        out = []
        for i, d in enumerate(dims):
            order = list(range(len(d)))
            if len(d) > 1 and self.some(0.3):
                order[-1], order[-2] = order[-2], order[-1]
            s, step = [0] * len(d), 1
            for k in reversed(order):
                s[k] = step
                step *= max(d[k], 1) if isinstance(d[k], int) else 1
            if i in expands and d and self.some(0.4):
                for k in range(len(d)):
                    s[k] *= self.some()
            out.append(s)
        return out

    def kernels(self):
        return [self.of(KERNELS) for _ in range(self.r.choice([0, 1, 1, 1, 2, 3]))]


def strided(s, name, dims, types, values=(), expands=(), **more):
    """expands: arguments that are read once, and may be expanded tensors"""
    return Drawn(name, dims, types, values, s.strides(dims, expands), expands=expands, **more)

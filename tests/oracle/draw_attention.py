# SPDX-License-Identifier: MIT
"""Attention of training and of inference with drawn arguments (op-models-2)."""
import math

from draw import BYTES, COMMON, Drawn, ceil_div, prod, size, spec, strided

BF16 = "c10::BFloat16"
FLOATS = COMMON + ["double", "c10::Float8_e4m3fn", "what is this"]


# ---- attention of training ----

def area(q, k, causal, at_end, window=None):
    if not causal:
        n = q * k
    elif q == k:
        n = q * q / 2
    elif at_end:
        n = q * k - q * q / 2 if q <= k else k * k / 2
    else:
        n = q * q / 2 if q <= k else k * k / 2 + (q - k) * k
    if window and min(window) >= 0:
        n = min(n, q * (window[0] + window[1] + 1))
    return n


# names, first argument, layout, dropout, causal, flash, backward, parameters with strides, dtypes,
# window, bias
SDPA = [
    ("FlashAttnFunc flash_attn::_flash_attn_forward", 0, "BSHD", 3, 5, True, False, True, True, 6, 0),
    ("flash_attn::_flash_attn_backward", 1, "BSHD", 8, 10, True, True, True, True, 0, 0),
    ("flash_attn::_flash_attn_backward", 1, "BSHD", 9, 11, True, True, True, True, 12, 0),
    ("aten::_scaled_dot_product_cudnn_attention aten::_scaled_dot_product_efficient_attention", 0,
     "BHSD", 5, 6, False, False, False, True, 0, 3),
    ("aten::_scaled_dot_product_flash_attention", 0, "BHSD", 3, 4, True, False, False, True, 0, 0),
    ("aiter::_flash_attn_forward aiter::mha_fwd aiter::fmha_v3_fwd", 0, "BSHD", 3, 5, True, False,
     False, False, 6, 0),
    ("aiter::_flash_attn_backward", 1, "BSHD", 10, 12, True, True, False, False, 13, 0),
    ("aiter::wrapper_fmha_v3_fwd", 1, "BSHD", 4, 6, True, False, False, False, 0, 0),
    ("aiter::wrapper_fmha_v3_bwd", 1, "BSHD", 7, 9, True, True, False, False, 0, 0),
    ("aiter::mha_bwd", 1, "BSHD", 6, 8, True, True, False, False, 9, 0),
    ("flash_attn_3::fwd", 0, "BSHD", None, 24, True, False, False, False, 0, 0),
]
# the same, only in our models
OURS = [
    ("FlashAttnFunc", 0, "BSHD", None, 4, True, False, True, True, 0, 0),
    ("aten::_flash_attention_forward", 0, "BSHD", 7, 8, True, False, False, False, 0, 0),
    ("aten::_flash_attention_backward", 1, "BSHD", 10, 11, True, True, False, False, 0, 0),
    ("aten::_cudnn_attention_forward", 0, "BHSD", 9, 10, False, False, False, False, 0, 3),
    ("aten::_scaled_dot_product_flash_attention_backward", 1, "BHSD", 10, 11, True, True, False,
     False, 0, 0),
    ("aten::_scaled_dot_product_efficient_attention_backward", 1, "BHSD", 9, 11, False, True, False,
     False, 0, 4),
    ("aten::_scaled_dot_product_cudnn_attention_backward aten::_cudnn_attention_backward", 1, "BHSD",
     13, 14, False, True, False, False, 0, 8),
    ("aten::_scaled_dot_product_fused_attention_overrideable", 0, "BHSD", 4, 5, True, False, False,
     False, 0, 3),
    ("aten::_scaled_dot_product_fused_attention_overrideable_backward", 1, "BHSD", 12, 13, True, True,
     False, False, 0, 4),
    ("flash_attn_3::bwd", 1, "BSHD", None, 16, True, True, False, False, 17, 0),
]


def forward_flops(B, H, n, dq, dv):
    return 2 * B * H * n * (dq + dv)


def backward_flops(B, HQ, HK, k, n, dq, dv, flash, causal):
    return 2 * B * HQ * n * ((2 + flash) * dq + 2 * dv) + \
        B * k * (dq + dv) * (HQ // HK - 1) / (2 if causal else 1)


def sdpa(s, table=SDPA):
    names, first, order, drop, at, flash, back, strides, dtypes, win, bias = s.of(table)
    B, HK, q = s.n(0, 8), s.n(1, 8), s.n(1, 300)
    HQ, k = HK * s.of([1, 1, 4]), s.of([q, q, s.n(1, 300)])
    dq, dv = s.n(1, 128), s.n(1, 128)
    t = s.type(FLOATS)

    def shape(n, h, d):
        return [B, n, h, d] if order == "BSHD" else [B, h, n, d]
    dims = [shape(q, HQ, dv)] * first + [shape(q, HQ, dq), shape(k, HK, dq), shape(k, HK, dv)]
    dims += [[]] * (26 - len(dims))
    types = [t] * (first + 3) + [""] * (23 - first)
    if first and bias != 4:  # what comes behind q, k and v are the output and its sums
        dims[4], types[4] = shape(q, HQ, dv), t
    causal, p = s.some(), s.of(["0.", "0.1"])
    values = [""] * 26
    values[at] = str(causal)
    if drop is not None:
        values[drop] = p
    window, more = None, 0
    if win and s.some(0.3):
        window = s.of([(-1, -1), (32, 0), (16, 16), (8, -1)])
        values[win], values[win + 1] = (str(w) for w in window)
    if bias and s.some(0.3):
        dims[bias], types[bias] = [B, HQ, q, k], t
        more = B * HQ * q * k * size(t)
    way = not back and s.some(0.3)
    d = strided(s, s.of(names.split()), dims, types, values, range(first, first + 3), backward=way)
    n = area(q, k, causal, order == "BSHD", window)
    par = {"B": B, "N_Q": q, "H_Q": HQ, "N_KV": k, "H_KV": HK, "d_h_qk": dq, "d_h_v": dv}
    if strides:
        par.update({"q_stride": d.stride(first), "k_stride": d.stride(first + 1),
                    "v_stride": d.stride(first + 2)})
    par.update({"dropout": float(p) if drop is not None else 0.0, "causal": causal,
                "flash_impl": flash})
    if dtypes:
        par["dtype_A_B"] = [types[0], types[1]]
    e = size(t)
    if back or way:
        return d.gives(backward_flops(B, HQ, HK, k, n, dq, dv, flash, causal),
                       (B * q * HQ * (2 * dq + dv) + 2 * B * k * HK * (dq + dv)) * e + more,
                       spec("matrix", t), par)
    return d.gives(forward_flops(B, HQ, n, dq, dv),
                   (B * q * HQ + B * k * HK) * (dq + dv) * e + more, spec("matrix", t), par)


def sdpa_ours(s):
    return sdpa(s, OURS)


def varlen(s):
    back = s.some()
    HK, dq, dv, t = s.n(1, 4), s.n(1, 64), s.n(1, 64), s.type(COMMON)
    HQ = HK * s.of([1, 2])
    nq, nk = s.n(1, 5), s.n(1, 5)
    T_Q, T_K = s.n(nq, 2000), s.n(nk, 2000)
    mq, mk = s.n(ceil_div(T_Q, nq), T_Q) if nq > 1 else T_Q, s.n(ceil_div(T_K, nk), T_K)
    causal, first, lens = s.some(), 1 if back else 0, 9 if back else 3
    dims = [[T_Q, HQ, dv]] * first + [[T_Q, HQ, dq], [T_K, HK, dq], [T_K, HK, dv]]
    dims += [[T_Q, HQ, dv], [HQ, T_Q]] + [[1]] * 3 if back else []
    dims += [[nq + 1], [nk + 1]] + [[]] * 8
    types = [t] * (first + 3) + ["float"] * (lens - first - 3) + ["int", "int"] + [""] * 8
    values = [""] * len(dims)
    values[lens + 2], values[lens + 3] = str(mq), str(mk)
    values[lens + 4], values[lens + 6] = "0.", str(causal)
    window = s.of([None, None, (64, 0), (-1, -1), (3, 5)])
    if window:
        values[lens + 7], values[lens + 8] = (str(w) for w in window)
    way = not back and s.some(0.3)
    name = "flash_attn::_flash_attn_varlen_%sward" % ("back" if back else "for")
    d = Drawn("FlashAttnVarlenFunc" if not back and s.some(0.3) else name, dims, types, values, backward=way)
    d.strides = s.strides(dims)
    if nq > 1 and nk == 1:
        return d.fails()

    def f(a, b):
        n = area(a, b, causal, True, window)
        return backward_flops(1, HQ, HK, b, n, dq, dv, True, causal) if back or way \
            else forward_flops(1, HQ, n, dq, dv)
    flops = f(mq, mk)
    if nq > 1:
        flops += (nq - 1) * f((T_Q - mq) // (nq - 1), (T_K - mk) // (nk - 1))
    p = {"B": 1, "N_Q": T_Q, "H_Q": HQ, "N_KV": T_K, "H_KV": HK, "d_h_qk": dq, "d_h_v": dv,
         "q_stride": d.stride(first), "k_stride": d.stride(first + 1), "v_stride": d.stride(first + 2),
         "dropout": 0.0, "causal": causal, "flash_impl": True, "dtype_A_B": [types[0], types[1]],
         "num_seqs_q": nq, "num_seqs_kv": nk, "max_seqlen_q": float(mq), "max_seqlen_kv": float(mk)}
    moved = T_Q * HQ * (2 * dq + dv) + 2 * T_K * HK * (dq + dv) if back or way \
        else (T_Q * HQ + T_K * HK) * (dq + dv)
    return d.gives(flops, moved * size(t), spec("matrix", t), p)


def evoformer(s):
    b, rows, n, h, dim = s.n(1, 4), s.n(1, 8), s.n(1, 64), s.n(1, 8), s.n(1, 64)
    t, way = s.type(FLOATS), s.some(0.3)
    x = [b, rows, n, h, dim]
    mask, pair = s.of([[], [b, rows, 1, 1, n]]), s.of([[], [b, 1, h, n, n]])
    d = Drawn("EvoformerAttention", [x, x, x, mask, pair], [t] * 5, backward=way)
    more = sum(prod(m) * size(t) for m in (mask, pair) if m)
    B = b * rows
    flops = backward_flops(B, h, h, n, n * n, dim, dim, False, False) if way \
        else forward_flops(B, h, n * n, dim, dim)
    moved = (7 if way else 4) * B * n * h * dim * size(t) + more
    return d.gives(flops, moved, spec("matrix", t),
                   {"B": B, "N_Q": n, "H_Q": h, "N_KV": n, "H_KV": h, "d_h_qk": dim, "d_h_v": dim,
                    "causal": False, "flash_impl": False, "dtype_A_B": [t]})

# ---- attention of inference ----

def requests(s):
    c, g = s.some(0.6), s.some(0.6)
    r = {k: 0 for k in ("c_sq", "c_sk", "c_sqsq", "c_sqsk", "g_sq", "g_sk", "g_sqsq", "g_sqsk")}
    for way, yes in (("c_", c), ("g_", g)):
        for _ in range(s.n(1, 4) if yes else 0):
            q = s.n(1, 400) if way == "c_" else 1
            k = q + s.n(0, 4000)
            for key, v in (("sq", q), ("sk", k), ("sqsq", q * q), ("sqsk", q * k)):
                r[way + key] += v
    form = s.of(["vllm", "sglang", "atom"])
    if form == "atom" and (c and g or not (c or g)):
        form = "sglang"
    v = tuple(r.values())
    if form == "vllm":
        text = "execute_%d_context_%d(sq%dsk%dsqsq%dsqsk%d)_generation_%d(sq%dsk%dsqsq%dsqsk%d)" % (
            (v[0] + v[4], c) + v[:4] + (g,) + v[4:])
    elif form == "sglang":
        text = "step[%s bs=3 %s]" % (s.of(["EXTEND", "DECODE", "MIXED"]),
                                    " ".join("%s=%d" % x for x in r.items() if x[1] or "sqsq" in x[0]))
    else:
        w = v[:4] if c else v[4:]
        text = "%s[bs=2 tok=%d sk=%d sqsq=%d sqsk=%d]" % (("prefill" if c else "decode",) + w)
    return r, text


ATTEND = ("B", "N_Q", "H_Q", "H_V", "H_K", "N_KV", "H_KV", "d_h_qk", "d_h_v", "dropout", "causal",
          "flash_impl")


def attend(d, r, n, hq, hk, nk, dq, dv, q, kv, window=None, show_kv=True):
    if r["c_sq"] == 0 and r["g_sq"] == 0:
        return d.fails("skipped")

    def cap(x):
        return min(x, r["g_sq"] * window) if window and window > 0 and r["g_sq"] > 0 else x
    e = BYTES.get(q.lower(), 2)
    ekv = BYTES.get(kv.lower(), e)
    F = hq * (dq + dv) * (2 * r["c_sqsk"] - r["c_sqsq"] + 2 * cap(r["g_sqsk"]))
    Y = (dq + dv) * ((r["c_sq"] + r["g_sq"]) * (hq + hk) * e +
                     ((r["c_sk"] - r["c_sq"]) + (cap(r["g_sk"]) - r["g_sq"])) * hk * ekv)
    p = dict(zip(ATTEND, (1, n, hq, hk, hk, nk, hk, dq, dv, 0.0, False, True)))
    p.update(r)
    p["dtype_Q"] = q
    if show_kv:
        p["dtype_KV"] = kv
    if window is not None:
        p["sliding_window"] = window
    return d.gives(F, Y, spec("matrix", q), p)


def paged(s):
    r, text = requests(s)
    n, hk, dq, dv = s.n(1, 512), s.n(1, 8), s.n(1, 128), s.n(1, 128)
    hq = hk * s.of([1, 4, 8])
    q, kv = s.type(FLOATS), s.type(FLOATS + [""])
    name = s.of("""vllm::unified_attention_with_output aiter::mha_varlen_fwd pseudo_mla_decode_fwd
        aiter::fmha_v3_varlen_fwd aiter::mha_batch_prefill pseudo_mla_prefill_fwd
        sglang_profiler::tilelang_kernel_tilelang_sparse_fwd""".split())
    front, nk = s.of([[], [9]]), s.n(1, 4096)
    third = s.some()
    if name == "pseudo_mla_decode_fwd" and s.some():
        dq = 576
    dims = [[n, hq, dq], front + [nk, hk, dq], [nk, hk, dv] if third else []]
    dtype = s.of([None, None, "c10::Float8_e4m3fnuz"])
    v = dq
    if name in ("aiter::fmha_v3_varlen_fwd", "aiter::mha_batch_prefill", "pseudo_mla_prefill_fwd"):
        v = dv if third else dq
    elif name == "pseudo_mla_decode_fwd":
        v = min(dq, 512)
    values = ["", "", "", "", ""]
    if name.endswith("sparse_fwd"):
        values[4] = s.of(["", "256"])
        v = int(values[4] or 512)
    d = Drawn(name, dims, [q, kv, q if third else ""], values, annotation=text,
              args={"kv_cache_dtype": dtype} if dtype else {})
    return attend(d, r, n, hq, hk, nk, dq, v, q, dtype or kv or q)


def caching(s):
    """engines that only we model: where q and the caches are, by their signatures"""
    r, text = requests(s)
    n, hk, dim, t = s.n(1, 512), s.n(1, 8), 8 * s.n(1, 16), s.type(COMMON)
    hq, kv = hk * s.of([1, 4]), s.of([t, "c10::Float8_e4m3fn"])
    q, cache, none = [n, hq, dim], [99, 16, hk, dim], []
    values, d_q, d_v = [""] * 16, dim, dim
    kind = s.of(["v1", "v2", "fa", "flash", "run", "mla", "mla parts"])
    if kind in ("v1", "v2"):  # (out, [sums, largest, parts,] q, key cache, value cache, key heads)
        front = [q] if kind == "v1" else [q, none, none, none]
        at = len(front)
        values[at + 3] = str(hk)
        d = Drawn("_C::paged_attention_" + kind, front + [q, [99, hk, dim // 8, 16, 8], [99, hk, dim, 16]],
                  [t] * (at + 1) + [kv, kv], values)
    elif kind == "fa":
        d = Drawn(s.of(["_vllm_fa2_C::varlen_fwd", "_vllm_fa3_C::fwd", "sgl_kernel::fwd"]), [q, cache, cache],
                  [t, kv, kv], values)
    elif kind in ("flash", "run"):
        heads_first = s.some()
        values[13 if kind == "flash" else 12] = str(int(heads_first))
        c = [99, hk, 16, dim] if heads_first else cache
        d = Drawn("flashinfer::batch_%s_with_kv_cache_dtype_q_x_%srun" % (
            ("prefill", "paged_") if kind == "flash" else ("decode", "")),
            [[9], [9], none, q, c, c], ["unsigned char", "unsigned char", "", t, kv, kv], values)
    else:
        hk, d_q, d_v = 1, 576, 512
        if kind == "mla":
            d = Drawn("_flashmla_C::fwd_kvcache_mla", [[n, 1, hq, 576], [99, 64, 1, 576]], [t, kv])
        else:
            d = Drawn("sgl_kernel::cutlass_mla_decode",
                      [[n, hq, 512], [n, hq, 512], [n, hq, 64], [99, 1, 576]], [t, t, t, kv])
    d.annotation = text
    return attend(d, r, r["c_sq"] + r["g_sq"], hq, hk, r["c_sk"] + r["g_sk"], d_q, d_v, t, kv)


def packed_aten(s):
    """PyTorch's own ops on packed sequences"""
    H, d_, t, seqs, longest = s.n(1, 8), s.n(1, 64), s.type(COMMON), s.n(2, 6), s.n(1, 300)
    T, causal, kind = s.n(longest, seqs * longest), s.some(), s.of(["forward", "backward", "efficient"])
    x, ends = [T, H, d_], [seqs + 1]
    if kind == "efficient":  # of one batch; the mask as a number: none, or causal from the beginning
        x = [1] + x
        dims, types = [x, x, x, [], ends, ends] + [[]] * 6, [t, t, t, "", "int", "int"]
        values = [""] * 6 + [str(longest)] * 2 + ["0.", str(int(causal))]
    elif kind == "forward":
        dims, types = [x, x, x, ends, ends] + [[]] * 4, [t, t, t, "int", "int"]
        values = [""] * 5 + [str(longest)] * 2 + ["0.", str(causal)]
    else:
        dims, types = [x] * 5 + [[H, T], ends, ends] + [[]] * 4, [t] * 5 + ["float", "int", "int"]
        values = [""] * 8 + [str(longest)] * 2 + ["0.", str(causal)]
    name = "_efficient_attention_forward" if kind == "efficient" else "_flash_attention_" + kind
    d = Drawn("aten::" + name, dims, types, values)

    def f(k):
        n = area(k, k, causal, True)
        return backward_flops(1, H, H, k, n, d_, d_, True, causal) if kind == "backward" \
            else forward_flops(1, H, n, d_, d_)
    flops = f(longest) + (seqs - 1) * f((T - longest) // (seqs - 1))
    return d.gives(flops, T * H * d_ * size(t) * (7 if kind == "backward" else 4), spec("matrix", t),
                   {"B": 1, "N_Q": T, "H_Q": H, "N_KV": T, "H_KV": H, "d_h_qk": d_, "d_h_v": d_,
                    "dropout": 0.0, "causal": causal, "flash_impl": kind != "efficient"})


def te_attention(s):
    """q, k and v at any place, layout and mask as texts"""
    B, T, K, HK, dq, dv = s.n(1, 8), s.n(1, 300), s.n(1, 300), s.n(1, 4), s.n(1, 64), s.n(1, 64)
    H, t, causal, order = HK * s.of([1, 4]), s.type(COMMON), s.some(), s.of(["bshd", "sbhd"])
    front, back = s.n(0, 9), s.some()

    def shape(n, h, d):
        return [B, n, h, d] if order == "bshd" else [n, B, h, d]
    dims = [[]] * front + [shape(T, H, dq), shape(K, HK, dq), shape(K, HK, dv)]
    values = [""] * len(dims) + ["_".join([order] * 3), s.of(["causal", "padding_causal"]) if causal else "no_mask"]
    d = Drawn("FusedAttnFunc", dims + [[], []], ["Scalar"] * front + [t] * 3, values, backward=back)
    n = area(T, K, causal, True)
    flops = backward_flops(B, H, HK, K, n, dq, dv, True, causal) if back else forward_flops(B, H, n, dq, dv)
    q, k = B * T * H, B * K * HK
    moved = q * (2 * dq + dv) + 2 * k * (dq + dv) if back else (q + k) * (dq + dv)
    return d.gives(flops, moved * size(t), spec("matrix", t),
                   {"B": B, "N_Q": T, "H_Q": H, "N_KV": K, "H_KV": HK, "d_h_qk": dq, "d_h_v": dv,
                    "causal": causal, "flash_impl": True})


def packed_qkv(s):
    B, T, H, dim, t, causal = s.n(1, 8), s.n(1, 300), s.n(1, 8), s.n(1, 128), s.type(COMMON), s.some()
    k, back = s.n(1, 300), s.some()
    if s.some():
        d, k = Drawn("FlashAttnQKVPackedFunc", [[B, T, 3, H, dim]], [t], ["", "0.", "", str(causal)]), T
    else:
        d = Drawn("FlashAttnKVPackedFunc", [[B, T, H, dim], [B, k, 2, H, dim]], [t, t],
                  ["", "", "0.", "", str(causal)])
    d.backward = back
    n = area(T, k, causal, True)
    flops = backward_flops(B, H, H, k, n, dim, dim, True, causal) if back else forward_flops(B, H, n, dim, dim)
    moved = B * H * dim * (3 * T + 4 * k if back else 2 * T + 2 * k) * size(t)
    return d.gives(flops, moved, spec("matrix", t),
                   {"B": B, "N_Q": T, "H_Q": H, "N_KV": k, "H_KV": H, "d_h_qk": dim, "d_h_v": dim,
                    "dropout": 0.0, "causal": causal, "flash_impl": True})


def ragged(s):
    r, text = requests(s)
    n, hk, dq, dv, q = s.n(1, 512), s.n(1, 8), s.n(1, 128), s.n(1, 128), s.type(FLOATS)
    d = Drawn("sglang_profiler::attention_paged_attention_ragged",
              [[n], [1], [n, hk * 4, dq], [100, hk, dq], [100, hk, dv]], ["float", "float", q, q, q],
              annotation=text)
    return attend(d, r, n, hk * 4, hk, r["c_sk"] + r["g_sk"], dq, dv, q, q, None, False)


def generating(r):
    return {k: 0 if k[0] == "c" else v for k, v in r.items()}


def gluon(s):
    r, text = requests(s)
    r = generating(r)
    n, hk, dq, q, kv = s.n(1, 64), s.n(1, 8), s.n(1, 128), s.type(FLOATS), s.type(FLOATS + [""])
    values = [""] * 20
    values[19] = s.of(["", "0", "128"])
    d = Drawn("aiter::pa_decode_gluon", [[n, hk * 8, dq], [n, hk * 8, dq], [50, hk, 16, dq]],
              [q, q, kv], values, annotation=text)
    return attend(d, r, n, hk * 8, hk, r["g_sk"], dq, dq, q, kv or q, int(values[19] or 0))


def v4(s):
    r, text = requests(s)
    r = generating(r)
    mode, model = s.of(["swa", "csa", "hca"]), s.of([None, "x/deepseek-v4-pro", "DeepSeek-V4-Flash"])
    topk, heads = (1024, 128) if model == "x/deepseek-v4-pro" else (512, 64)
    args = {k: v for k, v in (("v4_model_name", model), ("v4_tp", s.of([None, "8"])),
                              ("v4_H_Q", s.of([None, "16"])), ("v4_d_h", s.of([None, "256"])),
                              ("v4_window", s.of([None, "64"])),
                              ("v4_index_topk", s.of([None, "7"]))) if v}
    hq = int(args.get("v4_H_Q", 0)) or max(1, heads // int(args.get("v4_tp", 1)))
    dim, window = int(args.get("v4_d_h", 512)), int(args.get("v4_window", 128))
    topk, n = int(args.get("v4_index_topk", topk)), s.n(0, 16)
    d = Drawn("pseudo_v4_paged_decode_" + mode, [s.of([[], [n, 4096]])], [BF16], annotation=text,
              args=args)
    n = n if d.dims[0] and n else r["g_sq"]
    mean = r["g_sk"] / r["g_sq"] if r["g_sq"] else 0
    W = {"swa": window, "csa": window + min(math.ceil(mean / 4), topk),
         "hca": window + math.ceil(mean / 128)}[mode]
    return attend(d, r, n, hq, 1, r["g_sk"], dim, dim, "c10::bfloat16", "c10::bfloat16", W)


def opus(s):
    n, h, dim, a, b = s.n(1, 64), s.n(1, 32), s.n(1, 128), s.n(1, 99), s.n(1, 99)
    q, kv = s.type(FLOATS), s.type(FLOATS + [""])
    d = Drawn("aiter::pa_sparse_prefill_opus_fwd", [[n, h, dim], [9, dim], [a], [1], [9, dim], [b]],
              [q, kv, "int", "int", q, "int"])
    p = dict(zip(ATTEND, (1, n, h, 1, 1, a + b, 1, dim, dim, 0.0, False, True)))
    p.update({"prefill_pairs": a + b, "dtype_Q": q, "dtype_KV": kv or q})
    e = BYTES.get(q.lower(), 2)
    return d.gives((a + b) * h * 4 * dim,
                   2 * n * h * dim * e + (a + b) * dim * BYTES.get((kv or q).lower(), e),
                   spec("matrix", q), p)


def delta_net(s):
    r, text = requests(s)
    hk, dk, dv, q = s.n(1, 8), s.n(1, 64), s.n(1, 64), s.type(FLOATS)
    hv, n = 2 * hk, s.n(1, 99)
    d = Drawn(s.of(["vllm::gdn_attention_core", "aiter::linear_attention_with_output_base"]),
              [[n, hv * dv + 2 * hk * dk], [n, hv], [n, hv], [n, hv, dv]], [q] * 4, annotation=text)
    tokens = r["c_sq"] + r["g_sq"]
    if tokens == 0:
        return d.fails("skipped")
    return d.gives(tokens * hv * 7 * dv * dk, tokens * hv * (dk + 2 * dv + 2) * 2, spec("matrix", q),
                   {"B": 1, "N_Q": tokens, "H_Q": hk, "N_KV": 0, "H_KV": hk, "H_V": hv, "H_K": hk,
                    "d_h_qk": dk, "d_h_v": dv, "c_sq": r["c_sq"], "c_sk": r["c_sq"], "c_sqsq": 0,
                    "c_sqsk": 0, "g_sq": r["g_sq"], "g_sk": r["g_sq"], "g_sqsq": 0, "g_sqsk": 0,
                    "dtype_Q": q})


def store_cache(s):
    x, t = s.shape(s.n(1, 3)), s.type()
    return Drawn("sglang::store_cache", [x, x], [t, t]).gives(
        0, 4 * prod(x) * BYTES.get(t.lower(), 2), spec("vector", t),
        {"op_shape": x, "nelems": prod(x), "dtype": t})


FAMILIES = [sdpa, sdpa_ours, caching, packed_qkv, packed_aten, te_attention, varlen, evoformer, paged, ragged, gluon, v4, opus, delta_net, store_cache]

-- SPDX-License-Identifier: MIT
-- Megatron with Transformer Engine, version 2: an example of a file for --models
-- (tl-models(5)), and of use as it is. Its autograd functions stand for whole
-- layers, whose shapes are in the arguments.

local bf16 = "c10::BFloat16"

-- (x, weights, ..., transposed): weights (G, N, K) or (G, K, N)
op {
  names = { "GroupedGemm" },
  category = "GroupedGEMM_fwd", backward_category = "GroupedGEMM_bwd", sheet = "GroupedGEMM",
  unit = "matrix", prec = 0,
  eval = function (_ENV)
    if dtype(0) ~= dtype(1) or size(0) > 2 then fail("not two operands of 1 or 2 bytes") end
    M = dim(0, 0)
    K = dim(0, 1)
    N = bool(value(3), false) and dim(1, 1) or dim(1, 2)
    G = dim(1, 0)
    bpe_in = size(0)
    bpe_out = 2
    return 2 * M * K * N, (M * K + G * K * N) * bpe_in + M * N * bpe_out
  end,
  backward = function (_ENV)
    return 4 * M * K * N, 2 * M * N * bpe_out + (2 * M * K + 2 * G * K * N) * bpe_in
  end,
  examples = {
    { dims = { { 4096, 512 }, { 8, 1024, 512 } }, types = { bf16, bf16 },
      values = { "", "", "", "True" }, flops = 4294967296, bytes = 20971520 },
    { dims = { { 4096, 512 }, { 8, 1024, 512 } }, types = { bf16, bf16 }, backward = true,
      values = { "", "", "", "True" }, flops = 8589934592 },
  },
}

-- ---- attention: q, k, v are arguments 9 to 11, (length, batch, heads, size) ----

op {
  names = { "FusedAttnFunc" },
  category = "SDPA_fwd", backward_category = "SDPA_bwd", sheet = "SDPA", unit = "matrix", prec = 9,
  eval = function (_ENV)
    B = dim(9, 1)
    N_Q = dim(9, 0)
    H_Q = dim(9, 2)
    N_KV = dim(10, 0)
    H_KV = dim(10, 2)
    d_h_qk = dim(9, 3)
    d_h_v = dim(11, 3)
    q_strides = strides(9)
    k_strides = strides(10)
    v_strides = strides(11)
    dropout = 0.0
    causal = true
    flash_impl = true
    dtype_A_B = { dtype(9), dtype(10) }
    -- causal, aligned at the end
    local q, k = N_Q, N_KV
    _area = q <= k and q * k - q * q / 2 or k * k / 2
    return 2 * B * H_Q * _area * (d_h_qk + d_h_v),
      (B * q * H_Q + B * k * H_KV) * (d_h_qk + d_h_v) * size(9)
  end,
  backward = function (_ENV)
    return 2 * B * H_Q * _area * (3 * d_h_qk + 2 * d_h_v)
        + B * N_KV * (d_h_qk + d_h_v) * (H_Q // H_KV - 1) / 2,
      (B * N_Q * H_Q * (2 * d_h_qk + d_h_v) + 2 * B * N_KV * H_KV * (d_h_qk + d_h_v)) * size(9)
  end,
  examples = {
    { dims = { {}, {}, {}, {}, {}, {}, {}, {}, {}, { 512, 2, 16, 64 }, { 512, 2, 4, 64 },
        { 512, 2, 4, 128 } },
      types = { "", "", "", "", "", "", "", "", "", bf16, bf16, bf16 }, flops = 1610612736,
      bytes = 7864320, spec = "matrix_bf16" },
    { dims = { {}, {}, {}, {}, {}, {}, {}, {}, {}, { 512, 2, 16, 64 }, { 512, 2, 4, 64 },
        { 512, 2, 4, 128 } }, backward = true,
      types = { "", "", "", "", "", "", "", "", "", bf16, bf16, bf16 }, flops = 3758391296,
      bytes = 11534336 },
  },
}

-- ---- layer norms: E elements, C with a weight each ----

local norm = { sheet = "Normalization", unit = "vector", prec = 0, category = "NORM_fwd",
  backward_category = "NORM_bwd" }

local function set(_ENV, bias, affine)
  one_operand(_ENV, shape(0), tuple(dtype(0), nil), strides(0), nil)
  num_channels = has(1) and dim(1, 0) or dim(0, -1)
  has_bias = bias
  is_affine = affine
  is_training = true
end

op {
  like = norm, names = { "LayerNormFn", "_LayerNormLinear" },
  eval = function (_ENV)
    set(_ENV, has(2), has(1))
    local E, C = elems(0), num_channels
    local w = 4 + (is_affine and 1 + (has_bias and 1 or 0) or 0)
    return 6 * C + 5 * E, (2 * E + w * C) * size(0)
  end,
  examples = {
    { op = "LayerNormFn", dims = { { 8, 1024 }, { 1024 }, { 1024 } }, types = { bf16, bf16, bf16 },
      flops = 6 * 1024 + 5 * 8192, bytes = 2 * (16384 + 6 * 1024) },
  },
}

local function backward(_ENV)
  set(_ENV, false, true)
  output_mask = { true, true, false }
  local E, C = elems(0), num_channels
  return 9 * E, (3 * E + 3 * C) * size(0), dtype(0)
end

op { like = norm, category = "NORM_bwd", names = { "LayerNormFnBackward" }, eval = backward }

-- The gradient has the product's shape: the input's is that of the forward op.
op {
  like = norm, category = "NORM_bwd", names = { "_LayerNormLinearBackward" },
  reads = { "forward" },
  eval = function (_ENV) return in_forward(backward, _ENV) end,
  examples = {
    { forward = { dims = { { 8, 1024 }, { 1024 } }, types = { bf16, bf16 } }, flops = 9 * 8192,
      bytes = 2 * (3 * 8192 + 3 * 1024), spec = "vector_bf16" },
    { dims = { { 8, 1024 } }, types = { bf16 }, status = "failed" },
  },
}

category { name = "SDPA_bwd", names = { "FusedAttnFuncBackward" } }
category { name = "GroupedGEMM_bwd", names = { "GroupedGemmBackward" } }

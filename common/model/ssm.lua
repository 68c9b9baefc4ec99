-- SPDX-License-Identifier: MIT
-- State space models, cross entropy, and hyper-connections.

local bf16 = "c10::BFloat16"
local ssm = { category = "SSM_fwd", sheet = "SSM", unit = "matrix", prec = 0 }

op {
  like = ssm, names = { "DaoAILab::_causal_conv1d_fwd_cpp" },
  eval = function (_ENV)
    batch = dim(0, 0)
    channels = dim(0, 1)
    seq_len = dim(0, 2)
    kernel_size = dim(1, 1)
    has_bias = has(2)
    return 2 * elems(0) * kernel_size,
      (2 * elems(0) + channels * kernel_size + (has_bias and channels or 0)) * size(0, 2)
  end,
}

-- zxbcdt (B, T, 2 H P + 2 G N + H), conv weight, ...
local function mamba(_ENV)
  local H, P, G = H, P, G
  local e = size(0, 2)
  return 2 * B * T * (conv_channels * d_conv + G * C * N + H * P * (C + 2 * N)),
    (B * T * (combined_dim + d_inner) + conv_channels * (d_conv + 1)) * e
      + H * (size(3, 4) + size(4, 4) + size(5, e))
end
op {
  like = ssm, names = { "MambaSplitConv1dScanCombinedFn" }, backward_category = "SSM_bwd",
  eval = function (_ENV)
    if not has_values() then fail("the heads' size is not recorded (Concrete Inputs)") end
    B = dim(0, 0)
    T = dim(0, 1)
    H = dim(3, 0)
    P = count(value(15), 64)
    G = count(value(16), 1)
    local rest = dim(0, 2) - 2 * H * P - H
    if G <= 0 or rest <= 0 or rest % (2 * G) ~= 0 then fail("the state size is no whole number") end
    N = rest // (2 * G)
    C = count(value(6), 128)
    d_inner = H * P
    d_conv = dim(1, 1)
    conv_channels = dim(1, 0)
    combined_dim = dim(0, 2)
    return mamba(_ENV)
  end,
  backward = mamba,
  examples = {
    { dims = { { 8, 8192, 5152 }, { 3072, 4 }, { 3072 }, { 32 }, { 32 }, { 32 } },
      types = { bf16, bf16, bf16, "float", "float", bf16 },
      values = { "", "", "", "", "", "", "128", "", "", "", "", "", "", "", "", "64", "8" },
      flops = 78920024064,
      bytes = (65536 * (5152 + 2048) + 3072 * 5) * 2 + 32 * (4 + 4 + 2), params = { N = 64 } },
  },
}

op {
  names = { "CrossEntropyFunction" },
  category = "CrossEntropy_fwd", sheet = "CrossEntropy", unit = "vector", prec = 0,
  eval = function (_ENV)
    batch = dim(0, 0)
    vocab_size = dim(0, -1)
    logits_shape = shape(0)
    return 5 * batch * vocab_size, bytes(0, 2) + 12 * batch
  end,
}

-- ---- hyper-connections: M tokens, n streams, C channels ----

local function mhc(name, unit, x, eval, examples)
  op {
    names = { name }, category = "mHC", sheet = "mHC", unit = unit, examples = examples,
    eval = function (_ENV)
      local t = dtype(x) ~= "" and dtype(x) or "c10::BFloat16"
      local f, b = eval(_ENV, t, bytes_of(t))
      return f, b, t
    end,
  }
end

-- (out, x, residual, ...)
mhc("aiter::mhc_post", "vector", 1, function (_ENV, t, e)
  M = dim(1, 0)
  n = dim(0, 1)
  C = dim(1, 1)
  hc3 = nil
  dtype_in = t
  return 2 * M * n * C * (n + 1), M * C * (1 + 2 * n) * e + 4 * M * n * (1 + n)
end, {
  { dims = { { 16, 4, 64 }, { 16, 64 } }, types = { bf16, bf16 }, flops = 2 * 16 * 4 * 64 * 5,
    bytes = 16 * 64 * 9 * 2 + 4 * 16 * 4 * 5 },
})

-- (out, sqrsum, x, fn)
mhc("aiter::mhc_pre_gemm_sqrsum", "matrix", 2, function (_ENV, t, e)
  M = dim(2, 0)
  n = dim(2, 1)
  C = dim(2, 2)
  hc3 = dim(3, 0)
  K = dim(3, 1)
  split_k = dim(0, 0)
  dtype_in = t
  return 2 * M * hc3 * K, M * n * C * e + 4 * hc3 * K + 4 * split_k * M * (hc3 + 1)
end)

mhc("aiter::mhc_pre_big_fuse_rmsnorm", "vector", 7, function (_ENV, t, e)
  M = dim(2, 0)
  n = dim(0, 1)
  C = dim(2, 1)
  hc3 = dim(6, 0)
  split_k = dim(3, 0)
  dtype_in = t
  return 2 * M * C * n + 5 * M * C,
    M * n * C * e + 4 * split_k * M * hc3 + C * e + M * C * e + 4 * M * n * (1 + n)
end)

mhc("aiter::mhc_fused_post_pre_gemm_sqrsum", "matrix", 3, function (_ENV, t, e)
  M = dim(3, 0)
  n = dim(2, 1)
  C = dim(3, 1)
  hc3 = dim(7, 0)
  K = dim(7, 1)
  split_k = dim(0, 0)
  dtype_in = t
  return 2 * M * n * C * (n + 1) + 2 * M * hc3 * K,
    M * C * (1 + 3 * n) * e + 4 * M * n * (1 + n) + 4 * hc3 * K + 4 * split_k * M * (hc3 + 1)
end)

-- ---- not in the reference ----

-- Of each of D channels and N states a step costs 9 operations, as the authors count;
-- one for D, one for the gate.
-- u: (batch, D, T), or (D, T) of all sequences; A: (D, N); B and C a vector of N each step
local function scan(names, of_states, examples)
  op {
    sheet = "SSM", unit = "vector", prec = 0, extra = true, names = aten(names, ""), examples = examples,
    eval = function (_ENV)
      channels = dim(0, -2)
      seq_len = dim(0, -1)
      N = dim(2, 1)
      local n = elems(0)
      return n * (9 * N + (has(5) and 1 or 0) + (has(6) and 1 or 0)), traffic(nil, of_states) + n * size(0)
    end,
  }
end
-- (u, delta, A, B, C, D, z, ...)
scan("SelectiveScanFn", nil, {
  { dims = { { 2, 64, 128 }, { 2, 64, 128 }, { 64, 16 }, { 2, 16, 128 }, { 2, 16, 128 }, { 64 } },
    types = { bf16, bf16, "float", bf16, bf16, "float" }, flops = 16384 * 145,
    bytes = 3 * 32768 + 4096 + 2 * 8192 + 256 },
})
-- The result takes the place of delta or z; argument 12 has the states of all sequences.
scan("_C::selective_scan_fwd", { 12 })

-- x (batch, channels, T), weights (channels, width), bias, ...; of inference x is
-- (channels, T) of all sequences, or (batch, channels) for one step
op {
  sheet = "SSM", unit = "vector", prec = 0, extra = true,
  names = { "CausalConv1dFn", "_C::causal_conv1d_fwd", "sgl_kernel::causal_conv1d_fwd",
    "trtllm::causal_conv1d_fwd", "causal_conv1d_fn" },
  eval = function (_ENV)
    channels = dim(1, 0)
    kernel_size = dim(1, 1)
    return 2 * elems(0) * kernel_size,
      2 * elems(0) * size(0) + elems(1) * size(1) + (has(2) and elems(2) * size(2) or 0)
  end,
  examples = {
    { op = "CausalConv1dFn", dims = { { 2, 64, 128 }, { 64, 4 }, { 64 } }, types = { bf16, bf16, bf16 },
      flops = 8 * 16384, bytes = 2 * (2 * 16384 + 256 + 64) },
  },
}

-- (x (B, T, H, P), dt (B, T, H), A (H), B (B, T, G, N), C, chunk, ...)
op {
  sheet = "SSM", unit = "matrix", prec = 0, extra = true, names = { "MambaChunkScanCombinedFn" },
  eval = function (_ENV)
    local b, t, h, p, g, n = dim(0, 0), dim(0, 1), dim(0, 2), dim(0, 3), dim(3, 2), dim(3, 3)
    H = h
    P = p
    G = g
    N = n
    C = count(value(5), nil) or fail("the length of a chunk is not recorded (Concrete Inputs)")
    return 2 * b * t * (g * C * n + h * p * (C + 2 * n)), traffic() + elems(0) * size(0)
  end,
  examples = {
    { dims = { { 2, 512, 8, 64 }, { 2, 512, 8 }, { 8 }, { 2, 512, 1, 128 }, { 2, 512, 1, 128 }, {} },
      types = { bf16, bf16, "float", bf16, bf16, "Scalar" }, values = { "", "", "", "", "", "256" },
      flops = 2 * 1024 * (256 * 128 + 512 * 512),
      bytes = 2 * (2 * 524288 + 8192 + 2 * 131072) + 32, params = { N = 128 } },
  },
}

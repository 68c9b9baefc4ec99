-- SPDX-License-Identifier: MIT
-- Autograd functions that launch their kernels themselves, of Transformer Engine, Apex,
-- Megatron, Liger, flash_attn and bitsandbytes: not in the reference. They are whole
-- layers, whose shapes are in the arguments. What is kept for the backward is not counted,
-- nor what vector units do between products: FLOPs are held against the matrix units' peak.

local bf16 = "c10::BFloat16"

-- ---- linear layers of Transformer Engine ----

-- Arguments from first on that are matrices, at most n of them.
local function matrices(first, n)
  local out = {}
  for i = first, nargs() - 1 do
    if rank(i) == 2 and #out < n then out[#out + 1] = i end
  end
  return out
end

-- x: rows of K values by the weights w (N, K): rows, N, K
local function sizes(x, w)
  local k = dim(x, -1)
  if rank(w) ~= 2 or dim(w, 1) ~= k then fail("the weights are not (results, inputs)") end
  return k > 0 and elems(x) // k or 0, dim(w, 0), k
end

local function forward(_ENV, x, w)
  local m, n, k = sizes(x, w)
  M = m
  N = n
  K = k
  bias = false
  dtype_A_B = { dtype(x), dtype(w) }
  _x, _w = size(x), size(w)
  return 2 * m * n * k, m * k * _x + n * k * _w + m * n * _x, dtype(x)
end
-- The gradients of the input and of the weights.
local function backward(_ENV)
  return 4 * M * N * K, (2 * M * K + 2 * M * N) * _x + 2 * N * K * _w, dtype_A_B[1]
end

local linear = { sheet = "GEMM", unit = "matrix", gemm = true, extra = true, backward = backward,
  backward_category = "GEMM" }

op {
  like = linear, names = { "_Linear" },
  eval = function (_ENV)
    local first = rank(0) == 2 and rank(1) >= 2 and dim(0, 1) == dim(1, -1)
    return forward(_ENV, first and 1 or 0, first and 0 or 1)
  end,
  examples = {
    { dims = { { 96, 64 }, { 4, 32, 64 }, { 96 } }, types = { bf16, bf16, bf16 },
      flops = 2 * 128 * 96 * 64, bytes = 2 * (128 * 64 + 96 * 64 + 128 * 96), spec = "matrix_bf16",
      params = { M = 128, N = 96, K = 64 } },
    { backward = true, dims = { { 96, 64 }, { 4, 32, 64 }, { 96 } }, types = { bf16, bf16, bf16 },
      flops = 4 * 128 * 96 * 64, bytes = 4 * (128 * 64 + 96 * 64 + 128 * 96) },
  },
}
-- (x, weight and bias of the norm, weights, ...)
op {
  like = linear, names = { "_LayerNormLinear" },
  eval = function (_ENV)
    local w = matrices(1, 1)[1] or fail("no weights among its arguments")
    return forward(_ENV, 0, w)
  end,
  examples = {
    { dims = { { 4, 32, 64 }, { 64 }, { 64 }, { 96, 64 } }, types = { bf16, bf16, bf16, bf16 },
      flops = 2 * 128 * 96 * 64, bytes = 2 * (128 * 64 + 96 * 64 + 128 * 96) },
    { dims = { { 4, 32, 64 }, { 64 }, { 64 } }, types = { bf16, bf16, bf16 }, status = "failed" },
  },
}
-- (x, weight and bias of the norm, weights up (2 or 1 x F, K), ..., weights down (K, F), ...)
op {
  names = { "_LayerNormMLP" }, sheet = "GEMM", unit = "matrix", extra = true, prec = 0,
  backward_category = "GEMM",
  eval = function (_ENV)
    local w = matrices(1, 2)
    if #w < 2 then fail("no two weights among its arguments") end
    local m, up, k = sizes(0, w[1])
    if dim(w[2], 0) ~= k then fail("the weights do not fit together") end
    rows = m
    hidden = k
    intermediate = dim(w[2], 1)
    _weights = elems(w[1]) + elems(w[2])
    local e = size(0)
    return 2 * m * _weights,
      2 * m * k * e + elems(w[1]) * size(w[1]) + elems(w[2]) * size(w[2]) + m * (up + intermediate) * e
  end,
  backward = function (_ENV)
    return 4 * rows * _weights, 4 * rows * hidden * size(0) + 2 * _weights * size(0), dtype(0)
  end,
  examples = {
    { dims = { { 128, 64 }, { 64 }, { 64 }, { 192, 64 }, {}, { 64, 96 } },
      types = { bf16, bf16, bf16, bf16, "", bf16 },
      flops = 2 * 128 * (192 * 64 + 96 * 64),
      bytes = 2 * (2 * 8192 + 192 * 64 + 96 * 64 + 128 * 288), spec = "matrix_bf16",
      params = { intermediate = 96 } },
  },
}
-- (x, ..., weights of each group (N, K)): the rows of all groups
op {
  names = { "_GroupedLinear" }, sheet = "GroupedGEMM", unit = "matrix", extra = true, prec = 0,
  backward_category = "GroupedGEMM_bwd",
  eval = function (_ENV)
    local k, groups, last = dim(0, -1), 0, nil
    for i = 1, nargs() - 1 do
      if rank(i) == 2 and dim(i, 1) == k then groups, last = groups + 1, i end
    end
    local m, n = sizes(0, last or fail("no weights among its arguments"))
    M = m
    K = k
    N = n
    G = groups
    local e = size(0)
    return 2 * m * k * n, (m * k + m * n) * e + groups * k * n * size(last)
  end,
  backward = function (_ENV)
    return 4 * M * K * N, 2 * (M * K + M * N + G * K * N) * size(0), dtype(0)
  end,
  examples = {
    { dims = { { 128, 64 }, {}, { 96, 64 }, { 96, 64 }, { 96 } }, types = { bf16, "", bf16, bf16, bf16 },
      flops = 2 * 128 * 96 * 64, bytes = 2 * (128 * 160 + 2 * 96 * 64), params = { G = 2 } },
  },
}

-- Megatron's linear layer: the gradient of the input is an op below it, that of the weights
-- a kernel of its own, which adds to what has at least the weights' size.
op {
  names = { "LinearWithGradAccumulationAndAsyncCommunicationBackward" }, sheet = "GEMM",
  unit = "matrix", gemm = true, extra = true, reads = { "forward" },
  eval = function (_ENV)
    return in_forward(function ()
      local m, n, k = sizes(0, 1)
      M = n
      N = k
      K = m
      bias = false
      dtype_A_B = { dtype(0), dtype(0) }
      return 2 * m * n * k, (m * k + m * n) * size(0) + 2 * bytes(1), dtype(0)
    end)
  end,
  examples = {
    { dims = { { 32, 4, 96 } }, types = { bf16 }, flops = 2 * 128 * 96 * 64,
      forward = { op = "LinearWithGradAccumulationAndAsyncCommunication", dims = { { 32, 4, 64 }, { 96, 64 } },
        types = { bf16, bf16 } },
      bytes = 2 * (128 * 64 + 128 * 96 + 2 * 96 * 64), spec = "matrix_bf16", params = { K = 128 } },
    { dims = { { 32, 4, 96 } }, types = { bf16 }, status = "failed" },
  },
}

-- ---- norms, activations, softmax, rotations: what is read is written once more ----

local function layer(sheet)
  return function (t)
    t.sheet, t.unit, t.extra, t.result = sheet, "vector", true, t.result or 0
    return streaming(t)
  end
end
local norm = layer "Normalization"
norm { per = 5, names = [[ FusedLayerNormAffineFunction FusedLayerNormFunction FastLayerNormFN LayerNormFn
  LigerLayerNormFunction LigerGroupNormFunction MixedFusedLayerNorm ]] }
norm { per = 4, names = [[ FusedRMSNormAffineFunction FusedRMSNormFunction LigerRMSNormFunction RMSNormFn
  RMSNorm ]], examples = {
    { op = "LigerRMSNormFunction", dims = { { 8, 64 }, { 64 }, {} }, types = { bf16, bf16, "Scalar" },
      flops = 2048, bytes = 2 * (1024 + 64), spec = "vector_bf16" },
  } }
local softmax = layer "Softmax"
softmax { per = 5, names = [[ ScaledUpperTriangMaskedSoftmax ScaledMaskedSoftmax ScaledSoftmax
  ScaledAlignedCausalMaskedSoftmax GenericScaledMaskedSoftmax FusedScaleMaskSoftmax LigerSoftmaxFunction ]],
  examples = {
    { op = "ScaledMaskedSoftmax", dims = { { 2, 4, 8, 8 }, { 1, 1, 8, 8 }, {} },
      types = { bf16, "bool", "Scalar" }, flops = 5 * 512, bytes = 2 * 1024 + 64 },
  } }
local rotary = layer "RoPE"
-- (q, k, cos, sin): both are rotated in place
rotary { per = 3, twice = { 1 }, names = "LigerRopeFunction LigerQwen2VLMRopeFunction" }
rotary { per = 3, names = "ApplyRotaryEmb ApplyRotaryEmbQKV_ FusedRoPEFunction", examples = {
  { op = "ApplyRotaryEmb", dims = { { 2, 8, 4, 64 }, { 8, 32 }, { 8, 32 } }, types = { bf16, bf16, bf16 },
    flops = 3 * 4096, bytes = 2 * (2 * 4096 + 512) },
} }
local pointwise = layer "MorePointwise"
-- (gate, up)
pointwise { per = 8, names = "LigerGELUMulFunction" }
pointwise { per = 5, names = "SwiGLUFunction BiasSwiGLUFunction GeLUFunction BiasGeLUFunction BiasDropoutAddFunction" }

-- (logits, target, ...): the gradient takes the place of the logits
layer "CrossEntropy" { per = 5, names = "LigerCrossEntropyFunction CrossEntropyLoss SoftmaxCrossEntropyLossFn "
  .. "SoftmaxXEntropyLoss", examples = {
    { op = "LigerCrossEntropyFunction", dims = { { 8, 100 }, { 8 } }, types = { bf16, "long int" },
      flops = 4000, bytes = 3200 + 64 },
  } }
-- (x, weights (vocabulary, K), target): the logits, and both gradients from them
op {
  names = { "LigerFusedLinearCrossEntropyFunction" }, sheet = "CrossEntropy", unit = "matrix",
  extra = true, prec = 0,
  eval = function (_ENV)
    local m, n, k = sizes(0, 1)
    rows = m
    vocab_size = n
    hidden = k
    return 6 * m * n * k, 2 * (m * k * size(0) + n * k * size(1)) + m * 8
  end,
  examples = {
    { dims = { { 8, 64 }, { 100, 64 }, { 8 } }, types = { bf16, bf16, "long int" },
      flops = 6 * 8 * 100 * 64, bytes = 4 * (512 + 6400) + 64 },
  },
}

-- ---- bitsandbytes: weights of 4 bits with a scale for each block ----

-- (x, weights packed, shape of the weights, scales, ...)
op {
  sheet = "GEMM", unit = "matrix", gemm = true, extra = true, prec = 0,
  names = { "bitsandbytes::gemv_4bit" },
  eval = function (_ENV)
    local k, packed = dim(0, -1), elems(1) * size(1)
    local n = counts(value(2))[1] or k > 0 and 2 * packed // k
    M = k > 0 and elems(0) // k or 0
    N = n or 0
    K = k
    bias = false
    dtype_A_B = { dtype(0), dtype(1) }
    return 2 * M * N * K, traffic() + M * N * size(0)
  end,
  examples = {
    { dims = { { 1, 1, 64 }, { 1024, 1 }, {}, { 32 }, { 16 }, {} },
      types = { bf16, "unsigned char", "ScalarList", "float", "float", "Scalar" },
      flops = 2 * 32 * 64, bytes = 128 + 1024 + 128 + 64 + 64, params = { N = 32 } },
  },
}
-- (x, weights packed, ...): weights as numbers of x's type, before the product below it
op {
  sheet = "GroupQuant", unit = "vector", prec = 0, extra = true, names = { "MatMul4Bit" },
  eval = function (_ENV)
    num_elems = 2 * elems(1)
    dtype_in = dtype(1)
    return 2 * num_elems, bytes(1) + num_elems * size(0)
  end,
  examples = {
    { dims = { { 8, 64 }, { 1024, 1 } }, types = { bf16, "unsigned char" }, flops = 4096,
      bytes = 1024 + 4096 },
  },
}
-- (weights packed, scales, block, kind, shape, type): numbers of 2 bytes
op {
  sheet = "GroupQuant", unit = "vector", extra = true,
  names = { "bitsandbytes::dequantize_4bit", "bitsandbytes::dequantize_blockwise" },
  eval = function (_ENV)
    local pack = op_name():find("4bit", 1, true) and 2 or 1
    num_elems = elems(0) * size(0) * pack
    dtype_in = dtype(0)
    return 2 * num_elems, traffic() + 2 * num_elems
  end,
  examples = {
    { op = "bitsandbytes::dequantize_4bit", dims = { { 1024, 1 }, { 32 }, {}, {}, {}, {} },
      types = { "unsigned char", "float", "Scalar", "", "ScalarList", "Scalar" }, flops = 4096,
      bytes = 1024 + 128 + 4096 },
  },
}

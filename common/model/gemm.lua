-- SPDX-License-Identifier: MIT
-- Matrix products: M x K by K x N, B of them, with a bias of N or none.

local bf16, fp8 = "c10::BFloat16", "c10::Float8_e4m3fn"

local function flops(B, M, N, K, bias)
  return B * (2 * M * N * K + (bias and M * N or 0))
end

-- FLOPs and bytes; a, b, bias: bytes of the operands and of what is added to the
-- product, if anything is; out: bytes an element of the result; ...: arguments that are
-- not read
local function cost(B, M, N, K, a, b, out, bias, ...)
  return flops(B, M, N, K, bias), a + b + writes(B * M * N * out, ...) + (bias or 0)
end

local matrix = { category = "GEMM", sheet = "GEMM", unit = "matrix", gemm = true, prec = 0 }

local function gemm(t)
  t.like = t.like or matrix
  return op(t)
end

-- K, which both operands must have.
local function inner(a, b)
  if a ~= b then fail("the inner dimensions differ: " .. a .. " and " .. b) end
  return a
end

-- Rows of the first argument, which may have further dimensions in front.
local function rows()
  local columns = dim(0, -1)
  if rank(0) == 2 then return dim(0, 0) end
  return columns > 0 and elems(0) // columns or 0
end

-- A flag among the concrete inputs; none, if the trace has none of them.
local function flags()
  if not has_values() then fail("what is transposed is not recorded (Concrete Inputs)") end
end

-- The parameters of a product of the arguments a and b, m x k by k x n.
local function product(_ENV, a, b, m, n, k, with_bias)
  M = m
  N = n
  K = k
  bias = with_bias
  stride_A = strides(a)
  stride_B = strides(b)
  dtype_A_B = { dtype(a), dtype(b) }
end

-- Whether (self, a, b, beta, alpha) reads self: with a beta of 0 it does not.
local function adds() return num(value(3), 1) ~= 0 end

-- What such an op doesn't read.
local function unread_of(bias)
  if bias then return outs(5) end
  return 0, outs(5)
end

-- The size of an output argument where the op was given one.
local function out_size(i, otherwise)
  if has(i) then return size(i) end
  return otherwise
end

gemm {
  names = { "aten::mm" },
  eval = function (_ENV)
    product(_ENV, 0, 1, dim(0, 0), dim(1, 1), inner(dim(0, 1), dim(1, 0)), false)
    return cost(1, M, N, K, bytes(0), bytes(1), out_size(2, size(0)), nil, outs(2))
  end,
  examples = {
    { dims = { { 128, 64 }, { 64, 96 } }, types = { bf16, bf16 }, flops = 1572864,
      bytes = 53248, spec = "matrix_bf16", params = { M = 128, N = 96, K = 64, B = 1 } },
    { dims = { { 128, 64 }, { 64, 96 }, { 128, 96 } }, types = { bf16, bf16, "float" },
      bytes = 77824, written = 49152, unread = { 2 } },
    { dims = { { 128, 64 }, { 64, 96 } }, types = { "bool", "bool" }, flops = 1572864,
      bytes = 26624, spec = "" },
    { dims = { { 128, 64 }, { 64, 96 } }, types = { "?", "?" }, flops = 1572864,
      bytes = "unknown", spec = "" },
    { dims = { { 128, 64 }, { 96, 64 } }, types = { bf16, bf16 }, status = "failed" },
  },
}

gemm {
  names = { "aten::addmm" },
  prec = 1,
  eval = function (_ENV)
    product(_ENV, 1, 2, dim(1, 0), dim(2, 1), inner(dim(1, 1), dim(2, 0)), adds())
    return cost(1, M, N, K, bytes(1), bytes(2), size(1), bias and bytes(0), unread_of(bias))
  end,
  examples = {
    { dims = { { 768 }, { 788, 768 }, { 768, 768 }, {}, {} },
      types = { bf16, bf16, bf16, "Scalar", "Scalar" },
      kernels = { "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x16x64_MI16x16x1" },
      flops = 930167808, bytes = 3601920, written = 788 * 768 * 2, spec = "matrix_bf16",
      params = { M = 788, bias = true, transpose = { true, false } } },
    { dims = { { 96 }, { 128, 64 }, { 96, 64 } }, types = { bf16, bf16, bf16 }, status = "failed" },
  },
}

-- (self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum), of
-- TensorRT-LLM without scale_result. Of FP4 an element of the shapes is two values.
gemm {
  names = { "aten::_scaled_mm", "trtllm::cublas_scaled_mm" },
  eval = function (_ENV)
    local pack = starts(dtype(0), "c10::Float4_") and 2 or 1
    product(_ENV, 0, 1, dim(0, 0), dim(1, 1), inner(dim(0, 1), dim(1, 0)) * pack, has(4))
    local out = scalar_types[int(value(6), nil) or int(value(5), -1)]
      or (size(0) == 1 and 2 or size(0))
    local scales = 0
    for i = 2, 3 do
      -- of one number for all a scale has no dimensions
      if dtype(i) ~= "" then scales = scales + bytes(i) end
    end
    local f, moved = cost(1, M, N, K, bytes(0), bytes(1), out, bias and bytes(4), outs(6))
    return f, moved + scales
  end,
  examples = {
    { dims = { { 128, 64 }, { 64, 96 }, { 1 }, { 1 }, {}, {}, {}, {} },
      types = { fp8, fp8, "float", "float", "", "", "Scalar", "Scalar" },
      values = { "", "", "", "", "", "", "15", "True" },
      flops = 1572864, bytes = 8192 + 6144 + 2 * 12288 + 8, spec = "matrix_fp8" },
    { dims = { { 128, 64 }, { 64, 96 }, {}, {}, {}, {}, {}, {} },
      types = { fp8, fp8, "float", "float", "", "", "Scalar", "Scalar" },
      values = { "", "", "", "", "", "", "15", "True" },
      flops = 1572864, bytes = 8192 + 6144 + 2 * 12288 + 8 },
    { dims = { { 128, 32 }, { 32, 96 }, { 128, 4 }, { 96, 4 }, {}, {}, {}, {} },
      types = { "c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", fp8, fp8, "", "", "Scalar",
        "Scalar" },
      values = { "", "", "", "", "", "", "15", "False" }, flops = 1572864,
      bytes = 4096 + 3072 + 2 * 12288 + 512 + 384, spec = "matrix_fp4", params = { K = 64 } },
    { op = "trtllm::cublas_scaled_mm", dims = { { 128, 64 }, { 64, 96 }, {}, {}, {}, {}, {} },
      types = { fp8, fp8, "float", "float", "", "Scalar", "Scalar" },
      values = { "", "", "", "", "", "6", "False" }, flops = 1572864,
      bytes = 8192 + 6144 + 4 * 12288 + 8 },
  },
}

-- Weights are [N, K], the result int32.
gemm {
  names = { "bitsandbytes::int8_linear_matmul" },
  eval = function (_ENV)
    product(_ENV, 0, 1, rows(), dim(1, 0), inner(dim(0, -1), dim(1, 1)), false)
    return cost(1, M, N, K, bytes(0), bytes(1), 4)
  end,
  examples = {
    { dims = { { 128, 64 }, { 96, 64 } }, types = { "signed char", "signed char" },
      flops = 1572864, bytes = 8192 + 6144 + 4 * 12288, spec = "matrix_int8" },
  },
}

gemm {
  names = { "aten::bmm" },
  eval = function (_ENV)
    B = dim(0, 0)
    product(_ENV, 0, 1, dim(0, 1), dim(1, 2), inner(dim(0, 2), dim(1, 1)), false)
    return cost(B, M, N, K, bytes(0), bytes(1), out_size(2, size(0)), nil, outs(2))
  end,
  examples = {
    { dims = { { 8, 128, 64 }, { 8, 64, 96 } }, types = { bf16, bf16 }, flops = 12582912,
      bytes = 425984, params = { B = 8, M = 128, N = 96, K = 64 } },
    { dims = { { 8, 128, 64 }, { 8, 96, 64 } }, types = { bf16, bf16 }, status = "failed" },
  },
}

gemm {
  names = { "aten::baddbmm" },
  prec = 1,
  eval = function (_ENV)
    B = dim(1, 0)
    product(_ENV, 1, 2, dim(1, 1), dim(2, 2), inner(dim(1, 2), dim(2, 1)), adds())
    return cost(B, M, N, K, bytes(1), bytes(2), size(1), bias and bytes(0), unread_of(bias))
  end,
  examples = {
    { dims = { { 8, 128, 96 }, { 8, 128, 64 }, { 8, 64, 96 } }, types = { bf16, bf16, bf16 },
      flops = 12681216, bytes = 425984 + 196608, spec = "matrix_bf16" },
    { dims = { { 8, 128, 96 }, { 8, 128, 64 }, { 8, 64, 96 } }, types = { bf16, bf16, bf16 },
      strides = { { 0, 0, 1 }, { 8192, 64, 1 }, { 6144, 96, 1 } }, flops = 12681216,
      bytes = 425984 + 192 },
    -- with a beta of 0 the first argument is not read
    { dims = { { 8, 128, 96 }, { 8, 128, 64 }, { 8, 64, 96 }, {}, {} },
      types = { bf16, bf16, bf16, "Scalar", "Scalar" }, values = { "", "", "", "0", "1" },
      flops = 12582912, bytes = 425984, unread = { 0 }, params = { bias = false } },
    { dims = { { 8, 128, 96 }, { 8, 128, 64 }, { 8, 96, 64 } }, types = { bf16, bf16, bf16 },
      status = "failed" },
  },
}

-- A and W are the first two arguments of rank 2; W may be packed.
gemm {
  names = { "vllm::gemm_with_dynamic_quant" },
  eval = function (_ENV)
    local a, w
    for i = 0, nargs() - 1 do
      if rank(i) == 2 then
        if a then w = i break end
        a = i
      end
    end
    if not w then a, w = 0, 1 end
    if rank(a) ~= 2 or rank(w) ~= 2 then fail("no two matrices") end
    product(_ENV, 0, 1, dim(a, 0), dim(w, 0), dim(a, 1), false)
    return flops(1, M, N, K), bytes(a) + bytes(w) + M * N * 2
  end,
  examples = {
    { dims = { { 128, 64 }, { 96, 32 } }, types = { bf16, "unsigned char" }, flops = 1572864,
      bytes = 128 * 64 * 2 + 96 * 32 + 128 * 96 * 2, params = { M = 128, N = 96, K = 64 } },
  },
}

-- Transformer Engine, version 1
gemm {
  names = { "tex_ts::te_gemm_ts" },
  eval = function (_ENV)
    flags()
    local ta, tb = value(4) == "1", value(9) == "1"
    product(_ENV, 0, 5, dim(0, ta and 0 or 1), dim(5, tb and 1 or 0), dim(0, ta and 1 or 0),
      value(14) ~= "")
    dtype_A_B = { dtype(0), dtype(5), dtype(10), dtype(18) }
    return cost(1, M, N, K, bytes(0), bytes(5), size(10), bias and N * size(18), 10)
  end,
}

-- Transformer Engine, version 2: pseudo ops made from the shapes of the layer
gemm {
  names = { "_Linear_yfwd_mm", "_LinearBackward_xgrad_mm", "_LinearBackward_wgrad_mm",
    "_LayerNormLinear_yfwd_mm", "_LayerNormLinearBackward_xgrad_mm",
    "_LayerNormLinearBackward_wgrad_mm" },
  eval = function (_ENV)
    product(_ENV, 0, 1, dim(0, 0), dim(1, 1), dim(0, 1), false)
    return cost(1, M, N, K, bytes(0), bytes(1), 2)
  end,
  examples = {
    { dims = { { 128, 64 }, { 64, 96 } }, types = { "fp8", "fp8" }, flops = 1572864,
      bytes = 8192 + 6144 + 2 * 12288, spec = "matrix_fp8" },
  },
}

-- M, N, K of Primus' operands 0 and 2 with their flags 5, 6, 7.
local function primus(_ENV, pack)
  flags()
  local a, w = shape(0), shape(2)
  if #a ~= 2 or #w ~= 2 then fail("no two matrices") end
  local ta, tb, tc = bool(value(5), false), bool(value(6), false), bool(value(7), false)
  if tc then a, w, ta, tb = w, a, not tb, not ta end
  product(_ENV, 0, 2, ta and a[2] or a[1], tb and w[1] or w[2], (ta and a[1] or a[2]) * pack, false)
  dtype_scaleA = dtype(1)
  dtype_scaleB = dtype(3)
end

-- Both operands packed, blocks of 32 with a scale each, bf16 out.
local function mxfp4(M, N, K, a, b, scale_a, scale_b)
  local blocks = ceil_div(K, 32)
  return M * (K // 2) * a + N * (K // 2) * b + M * blocks * scale_a + N * blocks * scale_b
    + 2 * M * N
end

gemm {
  names = { "primus_turbo::hipblaslt_gemm_fp8", "primus_turbo_cpp_extension::hipblaslt_gemm_fp8" },
  eval = function (_ENV)
    primus(_ENV, 1)
    local a = size(0)
    return cost(1, M, N, K, bytes(0), bytes(2), a == 1 and 2 or a)
  end,
  examples = {
    { dims = { { 128, 64 }, { 1 }, { 96, 64 }, { 1 }, {}, {}, {}, {} },
      types = { fp8, "float", fp8, "float", "", "", "", "" },
      values = { "", "", "", "", "", "False", "True", "False" },
      flops = 1572864, bytes = 38912, spec = "matrix_fp8",
      params = { M = 128, N = 96, K = 64 } },
    { dims = { { 128, 64 }, { 1 }, { 96, 64 }, { 1 }, {}, {}, {}, {} },
      types = { fp8, "float", fp8, "float", "", "", "", "" },
      values = { "", "", "", "", "", "False", "True", "True" },
      flops = 1572864, bytes = 38912, params = { M = 96, N = 128, K = 64 } },
  },
}

gemm {
  names = { "primus_turbo::hipblaslt_gemm_fp4", "primus_turbo_cpp_extension::hipblaslt_gemm_fp4" },
  eval = function (_ENV)
    primus(_ENV, 2)
    return flops(1, M, N, K), mxfp4(M, N, K, size(0), size(2), size(1, 1), size(3, 1))
  end,
}

gemm {
  names = { "aiter::gemm_a4w4", "aiter::_gemm_a4w4_asm" },
  eval = function (_ENV)
    product(_ENV, 0, 1, dim(0, 0), dim(1, 0), 2 * dim(0, 1), false)
    dtype_scaleA = dtype(2)
    dtype_scaleB = dtype(3)
    return flops(1, M, N, K), mxfp4(M, N, K, size(0), size(1), size(2, 1), size(3, 1))
  end,
  examples = {
    { dims = { { 128, 64 }, { 96, 64 }, { 128, 4 }, { 96, 4 } },
      types = { "c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "c10::Float8_e8m0fnu",
        "c10::Float8_e8m0fnu" },
      flops = 3145728, bytes = 39808, spec = "matrix_fp4", params = { K = 128 } },
  },
}

-- The parameters of AITER's and vLLM's: no strides, the dtype of the result instead.
local function aiter(_ENV, b, m, n, k, with_bias, out)
  B = b
  M = m
  N = n
  K = k
  bias = with_bias
  dtype_A_B = { dtype(0), dtype(1), out }
end

-- The same of (x, w, bias), w: [N, K]; bias and result are of one dtype.
local function linear(_ENV, out, with_bias)
  aiter(_ENV, 1, rows(), dim(1, 0), dim(0, -1), with_bias, out)
  local o = bytes_of(out)
  return cost(1, M, N, K, bytes(0), bytes(1), o, bias and N * o)
end

gemm {
  names = { "aiter::gemm_a8w8_blockscale_ck", "aiter::gemm_a8w8_blockscale_cktile",
    "aiter::gemm_a8w8_blockscale_bpreshuffle_ck", "aiter::gemm_a8w8_blockscale_bpreshuffle_cktile",
    "aiter::_gemm_a8w8_blockscale_bpreshuffle_asm", "aiter::flatmm_a8w8_blockscale_asm",
    "aiter::gfx950_a8w8_blockscale_asm", "aiter::gemm_a8w8_ck", "aiter::gemm_a8w8_bpreshuffle_ck",
    "aiter::gemm_a8w8_bpreshuffle", "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm",
    "vllm::rocm_aiter_triton_gemm_a8w8_blockscale", "sglang_profiler::fp8_utils_gemm_a8w8_blockscale",
    "sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale" },
  eval = function (_ENV)
    local f, moved = linear(_ENV, "c10::bfloat16", false)
    if nargs() > 3 then
      quant_scheme = "a8w8_blockscale"
      quant_granularity = "per_block"
      block_k = has(2) and dim(2, -1) > 0 and ceil_div(K, dim(2, -1)) or nil
      block_n = has(3) and dim(3, 0) > 0 and ceil_div(N, dim(3, 0)) or nil
      scale_dtype = dtype(2) ~= "" and dtype(2) or "float32"
    end
    output_shape = { M, N }
    output_dtype = "c10::bfloat16"
    return f, moved
  end,
  examples = {
    { op = "aiter::gemm_a8w8_blockscale_ck",
      dims = { { 128, 256 }, { 512, 256 }, { 128, 2 }, { 4, 2 }, { 128, 512 } },
      types = { fp8, fp8, "float", "float", bf16 }, flops = 33554432,
      bytes = 128 * 256 + 512 * 256 + 2 * 128 * 512, spec = "matrix_fp8",
      params = { block_k = 128, block_n = 128, scale_dtype = "float",
        dtype_A_B = { fp8, fp8, "c10::bfloat16" } } },
  },
}

gemm {
  names = { "vllm::rocm_unquantized_gemm" },
  eval = function (_ENV)
    M = rows()
    N = dim(1, 0)
    K = dim(0, -1)
    bias = has(2)
    dtype_A_B = { dtype(0), dtype(1), dtype(2) }
    local o = bias and size(2) or size(1)
    return cost(1, M, N, K, bytes(0), bytes(1), o, bias and N * o)
  end,
}

gemm {
  names = { "aiter::gemm_a16w16_atomic_", "sglang_profiler::gemm_kernels_flydsl_hgemm" },
  eval = function (_ENV)
    return linear(_ENV, dtype(3) ~= "" and dtype(3) or "c10::bfloat16", false)
  end,
}

gemm {
  names = { "aiter::gemm_a16w16" },
  eval = function (_ENV) return linear(_ENV, dtype(0), has(2)) end,
  examples = {
    { dims = { { 16, 64 }, { 32, 64 }, {} }, types = { bf16, bf16, "" }, flops = 65536,
      bytes = 2 * (16 * 64 + 32 * 64 + 16 * 32), params = { N = 32, bias = false } },
  },
}

gemm {
  names = { "aiter::_gemm_a16w16_asm" },
  eval = function (_ENV)
    local known = size(2) == size(2) -- unknown is no number, and no number equals itself
    return linear(_ENV, known and dtype(2) or dtype(0), false)
  end,
}

gemm {
  names = { "aiter::gemm_afp4wfp4_" },
  eval = function (_ENV)
    aiter(_ENV, 1, dim(0, 0), dim(1, 0), 2 * dim(0, 1), false, "c10::bfloat16")
    local f, moved = cost(1, M, N, K, M * K / 2, N * K / 2, 2)
    return f, moved, "fp4"
  end,
}

gemm {
  names = { "aiter::batched_gemm_a16wfp4_" },
  eval = function (_ENV)
    aiter(_ENV, dim(0, 0), dim(0, 1), dim(1, 1), dim(0, 2), false, "c10::bfloat16")
    local f, moved = cost(B, M, N, K, bytes(0), B * N * K / 2, 2)
    return f, moved, "fp4"
  end,
  examples = {
    { dims = { { 4, 16, 64 }, { 4, 32, 32 } }, types = { bf16, "unsigned char" },
      flops = 4 * 2 * 16 * 32 * 64, bytes = 4 * (16 * 64 * 2 + 64 * 32 / 2 + 16 * 32 * 2),
      spec = "matrix_fp4" },
  },
}

gemm {
  names = { "sglang_profiler::batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"
    .. "_batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant" },
  prec = 1,
  eval = function (_ENV)
    local b = dim(1, 0)
    aiter(_ENV, b, dim(0, 0) == b and dim(0, 1) or dim(0, 0), dim(1, 1), dim(0, 2), false,
      "c10::bfloat16")
    return cost(B, M, N, K, bytes(0), bytes(1), 2)
  end,
}

-- ---- not in the reference ----

op {
  names = { "aten::_int_mm" }, sheet = "GEMM", unit = "matrix", gemm = true, prec = 0, extra = true,
  eval = function (_ENV)
    product(_ENV, 0, 1, dim(0, 0), dim(1, 1), inner(dim(0, 1), dim(1, 0)), false)
    return cost(1, M, N, K, bytes(0), bytes(1), 4)
  end,
  examples = {
    { dims = { { 128, 64 }, { 64, 96 } }, types = { "signed char", "signed char" },
      flops = 1572864, bytes = 8192 + 6144 + 4 * 12288, spec = "matrix_int8" },
  },
}

-- What is added is a whole matrix: (self, a, b), of _addmm_activation a bias.
local more = { sheet = "GEMM", unit = "matrix", gemm = true, prec = 1, extra = true }

op {
  like = more,
  names = { "aten::addmm_", "aten::_addmm_activation", "aten::baddbmm_", "aten::addbmm",
    "aten::addbmm_" },
  eval = function (_ENV)
    B = rank(1) == 3 and dim(1, 0) or 1
    product(_ENV, 1, 2, dim(1, -2), dim(2, -1), inner(dim(1, -1), dim(2, -2)), adds())
    -- addbmm sums the products up
    local out = M * N * (op_name():find("::addbmm", 1, true) and 1 or B)
    return 2 * B * M * N * K + (bias and out or 0),
      bytes(1) + bytes(2) + (bias and bytes(0) or 0) + out * size(1)
  end,
  examples = {
    { op = "aten::addmm_", dims = { { 128, 96 }, { 128, 64 }, { 64, 96 } }, types = { bf16, bf16, bf16 },
      flops = 1572864 + 12288, bytes = 53248 + 2 * 12288, spec = "matrix_bf16", params = { B = 1 } },
    { op = "aten::_addmm_activation", dims = { { 96 }, { 128, 64 }, { 64, 96 } },
      types = { bf16, bf16, bf16 }, flops = 1572864 + 12288, bytes = 53248 + 192 },
    { op = "aten::baddbmm_", dims = { { 8, 128, 96 }, { 8, 128, 64 }, { 8, 64, 96 } },
      types = { bf16, bf16, bf16 }, flops = 8 * (1572864 + 12288), bytes = 8 * (53248 + 2 * 12288),
      params = { B = 8 } },
    { op = "aten::addbmm", dims = { { 128, 96 }, { 8, 128, 64 }, { 8, 64, 96 } },
      types = { bf16, bf16, bf16 }, flops = 8 * 1572864 + 12288,
      bytes = 8 * 2 * (8192 + 6144) + 4 * 12288 },
  },
}

-- A matrix and a vector, or two vectors: K is what is summed over.
op {
  like = more, prec = 0,
  names = { "aten::mv", "aten::dot", "aten::vdot" },
  eval = function (_ENV)
    product(_ENV, 0, 1, rank(0) > 1 and dim(0, 0) or 1, 1, inner(dim(0, -1), dim(1, 0)), false)
    return cost(1, M, N, K, bytes(0), bytes(1), size(0))
  end,
  examples = {
    { op = "aten::mv", dims = { { 128, 64 }, { 64 } }, types = { bf16, bf16 }, flops = 16384,
      bytes = 2 * (8192 + 64 + 128), params = { M = 128, N = 1, K = 64 } },
    { op = "aten::dot", dims = { { 64 }, { 64 } }, types = { "float", "float" }, flops = 128,
      bytes = 4 * 129, params = { M = 1 } },
  },
}

-- 2:4 sparsity, FLOPs as of the dense product. Of one operand half of K is kept, with
-- where that is behind it, or of cuSPARSELt within it: 9 or 10 of 16 parts.
local function sparse(name, operands, example)
  op {
    like = more, prec = 0, names = { "aten::" .. name },
    eval = function (_ENV)
      local m, n, k, moved = operands()
      product(_ENV, 0, 1, m, n, k, false)
      return flops(1, M, N, K), moved + M * N * size(0)
    end,
    examples = {
      { dims = example, types = { bf16, bf16, bf16 }, flops = 1572864, spec = "matrix_bf16_sparse",
        bytes = 2 * (prod(example[1]) + prod(example[2]) + prod(example[3]) * (example[3][1] and 1 or 0)
          + 12288), params = { M = 128, N = 96, K = 64 } },
    },
  }
end
-- (a, meta, b)
sparse("_sparse_semi_structured_mm", function ()
  return dim(0, 0), dim(2, 1), dim(2, 0), bytes(0) + bytes(1) + bytes(2)
end, { { 128, 32 }, { 128, 4 }, { 64, 96 } })
-- (x, weight, meta, bias)
sparse("_sparse_semi_structured_linear", function ()
  return rows(), dim(1, 0), inner(dim(0, -1), 2 * dim(1, 1)), bytes(0) + bytes(1) + bytes(2)
    + (has(3) and bytes(3) or 0)
end, { { 4, 32, 64 }, { 96, 32 }, { 96, 4 }, {} })
-- (compressed, b, bias, ...)
sparse("_cslt_sparse_mm", function ()
  local k, parts = dim(1, 0), size(0) == 1 and 10 or 9
  return k > 0 and elems(0) * 16 // (parts * k) or 0, dim(1, 1), k, bytes(0) + bytes(1)
end, { { 4608 }, { 64, 96 }, {} })

-- The ops above the products: they stand only where no op below has a model, as
-- with a backend that computes them at once.
op {
  names = { "aten::linear" }, sheet = "GEMM", unit = "matrix", gemm = true, prec = 0, alone = true,
  eval = function (_ENV)
    if dim(0, -1) ~= dim(1, -1) then fail("the shapes don't fit") end
    product(_ENV, 0, 1, dim(0, -1) > 0 and elems(0) // dim(0, -1) or 0,
      rank(1) > 1 and dim(1, 0) or 1, dim(0, -1), has(2))
    return cost(1, M, N, K, bytes(0), bytes(1), size(0), bias and bytes(2))
  end,
  examples = {
    { dims = { { 4, 32, 64 }, { 96, 64 }, { 96 } }, types = { bf16, bf16, bf16 },
      flops = 1572864 + 12288, bytes = 2 * (8192 + 6144 + 12288 + 96), spec = "matrix_bf16",
      params = { M = 128, N = 96, K = 64, bias = true } },
    { dims = { { 128, 64 }, { 96, 32 } }, types = { bf16, bf16 }, status = "failed" },
  },
}

-- Dimensions before the last two are broadcast; a vector is a row or a column.
op {
  names = { "aten::matmul" }, sheet = "GEMM", unit = "matrix", gemm = true, prec = 0, alone = true,
  eval = function (_ENV)
    local a, b = shape(0), shape(1)
    if #a == 1 then a = { 1, a[1] } end
    if #b == 1 then b = { b[1], 1 } end
    if #a < 2 or #b < 2 or a[#a] ~= b[#b - 1] then fail("the shapes don't fit") end
    B = prod(broadcast({ table.unpack(a, 1, #a - 2) }, { table.unpack(b, 1, #b - 2) }))
    product(_ENV, 0, 1, a[#a - 1], b[#b], a[#a], false)
    return flops(B, M, N, K),
      bytes(0) + bytes(1) + B * M * N * (has(2) and size(2) or size(0))
  end,
  examples = {
    { dims = { { 8, 1, 128, 64 }, { 4, 64, 96 } }, types = { bf16, bf16 }, flops = 32 * 1572864,
      bytes = 2 * (65536 + 24576 + 32 * 12288), params = { B = 32, M = 128, N = 96 } },
    { dims = { { 64 }, { 64, 96 } }, types = { "float", "float" }, flops = 2 * 64 * 96,
      bytes = 4 * (64 + 6144 + 96) },
    { dims = { { 8, 64 }, { 32, 8 } }, types = { bf16, bf16 }, status = "failed" },
  },
}

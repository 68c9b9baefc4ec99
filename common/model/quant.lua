-- SPDX-License-Identifier: MIT
-- Quantisation: to FP8 with scales, to MXFP4 with a scale for each 32 values.

local bf16, fp8 = "c10::BFloat16", "c10::Float8_e4m3fn"
local scaled = { category = "GroupQuant", sheet = "BinaryElementwise", unit = "vector" }
local packed = { category = "GroupQuant", sheet = "GroupQuant", unit = "vector" }

-- (out, in, scales)
op {
  like = scaled, prec = 1,
  names = { "aiter::dynamic_per_token_scaled_quant", "aiter::dynamic_per_group_scaled_quant",
    "aiter::dynamic_per_tensor_quant" },
  eval = function (_ENV)
    shape_in1 = shape(1)
    shape_in2 = shape(2)
    shape_out = shape(0)
    dtype_in1_in2_out = { dtype(1), dtype(2), dtype(0) }
    stride_input1 = strides(1)
    stride_input2 = strides(2)
    stride_output = strides(0)
    return 2.59375 * elems(0), bytes(0) + bytes(1) + bytes(2)
  end,
  examples = {
    { op = "aiter::dynamic_per_token_scaled_quant", dims = { { 16, 64 }, { 16, 64 }, { 16, 1 } },
      types = { fp8, bf16, "float" }, flops = 2656.0, bytes = 1024 + 2048 + 64,
      spec = "vector_bf16" },
  },
}

op {
  like = scaled, prec = 0,
  names = { "vllm::triton_per_token_group_quant_fp8" },
  eval = function (_ENV)
    local r = rank(0)
    M = r >= 2 and dim(0, 0) or 1
    N = r >= 2 and dim(0, 1) or r == 1 and dim(0, 0) or 1
    local group = count(value(1), 128)
    group_size = group > 0 and group or 128
    num_groups = math.max(1, ceil_div(N, group_size))
    shape_x = shape(0)
    dtype_x = dtype(0)
    shape_in1 = shape(0)
    shape_in2 = {}
    shape_out = shape(0)
    dtype_in1_in2_out = tuple(dtype(0), nil, "c10::float8_e4m3fn")
    stride_input1 = {}
    stride_input2 = {}
    stride_output = {}
    return 6 * M * N, M * N * size(0) + M * N + 4 * M * num_groups
  end,
  examples = {
    { dims = { { 16, 512 }, {} }, types = { bf16, "Scalar" }, values = { "", "128" },
      flops = 6 * 8192, bytes = 3 * 8192 + 4 * 16 * 4 },
  },
}

-- Two values a byte.
local function mxfp4(names, i, with_strides, category)
  op {
    like = packed, names = names, category = category,
    eval = function (_ENV)
      one_operand(_ENV, shape(i), { dtype(i), dtype(i) }, with_strides and strides(i) or nil, nil)
      local n = elems(i)
      return 2 * n, n * size(i) + 0.5 * n + n // 32, dtype(i)
    end,
  }
end
mxfp4({ "sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant" }, 0, true)
mxfp4({ "aiter::fused_dynamic_mx_quant_moe_sort_hip" }, 2, true)
mxfp4({ "sglang_profiler::quant_dynamic_mxfp4_quant" }, 0, false)
mxfp4({ "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip" }, 2, false, "MoE_aux")
mxfp4({ "aiter::dynamic_per_group_scaled_quant_fp4" }, 1, false)

-- Primus' are pointwise.
local unary = { category = "elementwise", sheet = "UnaryElementwise", unit = "vector", prec = 0 }

op {
  like = unary,
  names = { "primus_turbo::quantize_fp8_tensorwise",
    "primus_turbo_cpp_extension::quantize_fp8_tensorwise" },
  eval = function (_ENV)
    one_operand(_ENV, shape(0), { dtype(0), "c10::Float8_e4m3fnuz" }, strides(0), nil)
    return elems(0), elems(0) * (size(0) + 1)
  end,
}

-- Both the tensor and its transpose, packed.
op {
  like = unary,
  names = { "primus_turbo::quantize_mxfp4_dual", "primus_turbo_cpp_extension::quantize_mxfp4_dual",
    "primus::quantize_mxfp4_dual" },
  eval = function (_ENV)
    local m, n = dim(0, 0), dim(0, 1)
    one_operand(_ENV, shape(0), { dtype(0), "c10::Float4_e2m1fn_x2" }, strides(0), nil)
    return m * n, m * n * size(0) + 2 * ((m * n + 1) // 2) + m * ceil_div(n, 32)
      + n * ceil_div(m, 32)
  end,
  examples = {
    { op = "primus::quantize_mxfp4_dual", dims = { { 64, 96 } }, types = { bf16 }, flops = 6144,
      bytes = 12288 + 6144 + 64 * 3 + 96 * 2 },
  },
}

-- SPDX-License-Identifier: MIT
-- Pointwise ops: one result for each element.

local bf16 = "c10::BFloat16"
local unary = { category = "elementwise", sheet = "UnaryElementwise", unit = "vector", prec = 0 }
local binary = { category = "elementwise", sheet = "BinaryElementwise", unit = "vector", prec = 0 }

local function two_operands(_ENV, out)
  shape_in1 = shape(0)
  shape_in2 = shape(1)
  dtype_in1_in2_out = tuple(dtype(0), dtype(1), out and dtype(out) or nil)
  stride_input1 = strides(0)
  stride_input2 = strides(1)
  stride_output = out and strides(out) or nil
  local n = prod(broadcast(shape_in1, shape_in2))
  local a, b = size(0), size(1)
  local o = a
  if out then
    o = size(out)
  elseif has(0) and has(1) then
    -- The larger type wins, and one that is unknown leaves both unknown.
    if a ~= a or b ~= b then o = unknown elseif b > a then o = b end
  elseif has(1) then
    o = b
  end
  return n, bytes(0) + bytes(1) + writes(n * o, outs(2))
end

op {
  like = binary,
  names = { "aten::div", "aten::div_", "aten::mul", "aten::mul_", "aten::add", "aten::add_",
    "aten::sigmoid_backward", "aten::threshold_backward" },
  eval = function (_ENV) return two_operands(_ENV, has(2) and 2) end,
  examples = {
    { op = "aten::add", dims = { { 4, 197, 768 }, { 4, 197, 768 }, {} },
      types = { bf16, bf16, "Scalar" }, flops = 605184, bytes = 3631104, written = 1210368, spec = "vector_bf16" },
    { op = "aten::mul", dims = { { 1000, 512 }, {}, { 1000, 512 } },
      types = { bf16, "double", bf16 }, flops = 512000, bytes = 2048008, written = 1024000,
      unread = { 2 } },
    -- a number by value moves nothing
    { op = "aten::div", dims = { { 10, 512, 7, 7 }, {} }, types = { bf16, "Scalar" },
      flops = 250880, bytes = 1003520 },
    -- an expanded tensor has the addresses of what was expanded
    { op = "aten::add", dims = { { 8, 64 }, { 8, 64 } }, types = { "float", "float" },
      strides = { { 64, 1 }, { 0, 1 } }, flops = 512, bytes = 4 * (512 + 64 + 512) },
    { op = "aten::add_", dims = { { 8, 64 }, { 64 }, {} }, types = { "float", "float", "Scalar" },
      bytes = 4 * (512 + 64 + 512), written = 2048, unread = {} },
    { op = "aten::mul", dims = { { 8, 1, 3 }, { 5, 1 } }, types = { "float", "float" },
      flops = 120, bytes = 4 * (24 + 5 + 120), params = { shape_in2 = { 5, 1 } } },
  },
}

op {
  like = binary,
  names = { "LigerSiLUMulFunction" },
  eval = function (_ENV) return two_operands(_ENV, nil) end,
}

-- One operand. An output argument, if there is one, is the second.
local function pointwise(_ENV)
  local out = has(1)
  one_operand(_ENV, shape(0), tuple(dtype(0), out and dtype(1) or nil), strides(0),
    out and strides(1) or nil)
  local n = elems(0)
  return n, bytes(0) + writes(n * size(out and 1 or 0), outs(1))
end

op {
  like = unary,
  names = { "aten::sigmoid", "aten::rsqrt", "aten::silu", "aten::neg" },
  eval = pointwise,
  examples = {
    { op = "aten::silu", dims = { { 8, 64 } }, types = { bf16 }, strides = { { 64, 1 } },
      flops = 512, bytes = 2048, params = { op_shape = { 8, 64 }, stride_input = { 64, 1 } } },
    { op = "aten::silu", dims = { { 8, 64 }, { 8, 64 } }, types = { bf16, "float" }, bytes = 3072,
      written = 2048, unread = { 1 } },
  },
}

-- (destination, source, ...): the source may be broadcast, from a single number too.
op {
  like = unary,
  names = { "aten::copy", "aten::copy_" },
  eval = function (_ENV)
    local n = pointwise(_ENV)
    local written = writes(n * size(0), 0)
    if nargs() > 1 and dtype(1) ~= "" then return n, written + bytes(1) end
    return n, written * 2
  end,
  examples = {
    { op = "aten::copy_", dims = { { 8, 64 }, { 8, 64 }, {} }, types = { "float", bf16, "Scalar" },
      flops = 512, bytes = 512 * 6, written = 512 * 4, unread = { 0 }, spec = "vector_fp32" },
    { op = "aten::copy_", dims = { { 8, 64 }, { 1, 64 }, {} }, types = { bf16, bf16, "Scalar" },
      flops = 512, bytes = 1024 + 128 },
    { op = "aten::copy_", dims = { { 8, 64 }, {}, {} }, types = { bf16, "double", "Scalar" },
      flops = 512, bytes = 1024 + 8 },
  },
}

-- A tensor as exponent or bound is a second operand.
op {
  like = unary,
  names = { "aten::clamp_min", "aten::clamp_min_", "aten::clamp_max", "aten::clamp_max_",
    "aten::pow" },
  eval = function (_ENV)
    if has(1) then return two_operands(_ENV, nil) end
    return pointwise(_ENV)
  end,
  examples = {
    { op = "aten::pow", dims = { { 8, 64 }, {} }, types = { "float", "Scalar" }, flops = 512,
      bytes = 4096 },
    { op = "aten::pow", dims = { { 8, 64 }, { 64 } }, types = { "float", "float" }, flops = 512,
      bytes = 4 * (512 + 64 + 512) },
  },
}

local function resized(_ENV, out)
  one_operand(_ENV, out, { dtype(0), dtype(0) }, strides(0), nil)
  return prod(out), bytes(0) + writes(prod(out) * size(0), outs(1))
end

-- Pair i of the padding belongs to dimension -1 - i.
op {
  like = unary,
  names = { "aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d" },
  eval = function (_ENV)
    input_shape = shape(0)
    local out, pad = shape(0), list(value(1))
    if #pad == 0 then fail("the padding is not recorded (Concrete Inputs)") end
    for i = 0, #pad // 2 - 1 do
      if not out[#out - i] then fail("more padding than dimensions") end
      out[#out - i] = out[#out - i] + pad[2 * i + 1] + pad[2 * i + 2]
    end
    output_shape = out
    padding = pad
    return resized(_ENV, out)
  end,
  examples = {
    { op = "aten::replication_pad2d", dims = { { 2, 3, 8, 8 }, {} }, types = { "float", "" },
      values = { "", "[1, 1, 2, 2]" }, flops = 2 * 3 * 12 * 10,
      bytes = 4 * (384 + 720), params = { output_shape = { 2, 3, 12, 10 } } },
  },
}

op {
  like = unary,
  names = { "aten::upsample_nearest1d", "aten::upsample_nearest2d", "aten::upsample_nearest3d" },
  eval = function (_ENV)
    input_shape = shape(0)
    local out, sizes, scales = { dim(0, 0), dim(0, 1) }, counts(value(1)), nil
    if #sizes == 0 then scales = list(value(2)) end
    for i = 3, rank(0) do
      out[i] = scales and math.floor(input_shape[i] * (scales[i - 2] or fail("no output size")))
        or sizes[i - 2] or fail("no output size")
    end
    output_shape = out
    return resized(_ENV, out)
  end,
  examples = {
    { op = "aten::upsample_nearest2d", dims = { { 2, 3, 8, 8 }, {}, {}, {} },
      types = { "float", "ScalarList", "", "" }, values = { "", "[16, 16]", "", "" },
      flops = 1536, bytes = 4 * (384 + 1536), written = 4 * 1536, params = { output_shape = { 2, 3, 16, 16 } } },
    { op = "aten::upsample_nearest2d", dims = { { 2, 3, 8, 8 }, {}, {} },
      types = { "float", "", "ScalarList" }, values = { "", "", "[2., 2.]" }, flops = 1536,
      bytes = 4 * (384 + 1536) },
  },
}

-- (out, in): the halves of each row of in are multiplied, one activated.
local function gated(names, per_element)
  op {
    like = unary, names = names, prec = 1,
    eval = function (_ENV)
      one_operand(_ENV, shape(0), { dtype(1), dtype(0) }, strides(1), strides(0))
      local n = elems(0)
      return per_element * n, 2 * n * size(1) + writes(n * size(0), 0)
    end,
    examples = {
      { op = names[1], dims = { { 4, 8 }, { 4, 16 } }, types = { bf16, bf16 },
        flops = per_element * 32, bytes = 64 * 2 + 32 * 2, unread = { 0 } },
    },
  }
end
gated({ "aiter::silu_and_mul", "_C::silu_and_mul", "sgl_kernel::silu_and_mul" }, 5)
gated({ "aiter::gelu_and_mul" }, 8)
gated({ "aiter::gelu_tanh_and_mul" }, 10)

op {
  names = { "aiter::mixed_sample_outer_exponential" },
  category = "elementwise", sheet = "elementwise", unit = "vector",
  eval = function (_ENV)
    T = has(1) and dim(1, 0) or 1
    V = has(1) and rank(1) > 1 and dim(1, 1) or 1
    dtype_logits = dtype(1) ~= "" and dtype(1) or "c10::bfloat16"
    dtype_noise = dtype(2) ~= "" and dtype(2) or "float"
    return 2 * T * V, T * V * (bytes_of(dtype_logits) + bytes_of(dtype_noise)) + 4 * T,
      dtype_logits
  end,
}

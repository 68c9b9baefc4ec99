-- SPDX-License-Identifier: MIT
-- Convolutions. With m = 2 x the elements of one filter, o the output and e
-- bytes an element: forward m #o FLOPs (transposed: m #x) and (#x + #w + #o) e
-- bytes; the gradients of input and weight cost as much again, each.

local bf16 = "c10::BFloat16"
local names = { "conv1d", "conv2d", "conv3d" }

-- A list for n spatial dimensions, from the text of one or of all.
local function spatial(text, default, n)
  local v = text ~= "" and counts(text) or { default }
  if #v == 1 then
    for i = 2, n do v[i] = v[1] end
  end
  if #v ~= n then fail("not one value for each dimension") end
  return v
end

local function output(x, w, t)
  local o = { x[1], t.transposed and w[2] * t.groups or w[1] }
  for i = 3, #x do
    local j = i - 2
    local reach = t.dilation[j] * (w[i] - 1)
    if t.transposed then
      o[i] = (x[i] - 1) * t.stride[j] - 2 * t.padding[j] + reach + t.output_padding[j] + 1
    else
      if t.stride[j] <= 0 then fail("a stride that is not positive") end
      o[i] = (x[i] + 2 * t.padding[j] - reach - 1) // t.stride[j] + 1
    end
    if o[i] < 0 then fail("the filter is larger than the input") end
  end
  return o
end

-- x, w: arguments of input and weight. Leaves what backward needs in _.
local function conv(_ENV, x, w, with_bias, t)
  local n = rank(x) - 2
  if rank(w) ~= n + 2 then fail("input and weight differ in rank") end
  if dtype(x) ~= dtype(w) then fail("input and weight differ in type") end
  convNd = names[n] or fail("no convolution of 1, 2 or 3 dimensions")
  input_shape = shape(x)
  filter_shape = shape(w)
  dtype_input_weight = { dtype(x), dtype(w) }
  input_stride = strides(x)
  weight_stride = strides(w)
  bias = with_bias
  stride = t.stride
  padding = t.padding
  dilation = t.dilation
  transposed_conv = t.transposed
  output_padding = t.output_padding
  groups = t.groups
  local o = output(input_shape, filter_shape, t)
  _out = prod(o)
  _x, _read, _channels, _size = elems(x), bytes(x) + bytes(w), o[2], size(x)
  _mac = 2 * prod(filter_shape, 2) * (t.transposed and _x or _out)
  return _mac + (bias and _out or 0), _read + writes(_out * _size) + (bias and _channels or 0) * _size
end

-- Without the stride the size of the result is not known.
local function recorded()
  if not has_values() then fail("its stride is not recorded (Concrete Inputs)") end
end

-- first is the number of the stride among the arguments.
local function settings(n, first)
  recorded()
  return {
    stride = spatial(value(first), 1, n), padding = spatial(value(first + 1), 0, n),
    dilation = spatial(value(first + 2), 1, n), transposed = bool(value(first + 3), false),
    output_padding = spatial(value(first + 4), 0, n), groups = count(value(first + 5), 1),
  }
end

local function both_gradients(_ENV, want_x, want_w, want_b)
  local parts = (want_x and 1 or 0) + (want_w and 1 or 0)
  writes((want_x and _x or prod(filter_shape)) * _size)
  return parts * _mac + (want_b and _out or 0),
    parts * _read + (parts * _out + (want_b and _out + _channels or 0)) * _size
end

local example = {
  dims = { { 10, 512, 7, 7 }, { 512, 512, 3, 3 }, {}, {}, {}, {}, {}, {}, {} },
  types = { bf16, bf16, "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList",
    "Scalar" },
  values = { "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1" },
}

op {
  names = { "aten::convolution" },
  category = "CONV_fwd", backward_category = "CONV_bwd", sheet = "CONV", unit = "matrix", prec = 0,
  eval = function (_ENV)
    return conv(_ENV, 0, 1, has(2), settings(rank(0) - 2, 3))
  end,
  backward = function (_ENV) return both_gradients(_ENV, true, true, bias) end,
  examples = {
    { dims = example.dims, types = example.types, values = example.values, flops = 2312110080,
      bytes = 5722112, spec = "matrix_bf16",
      params = { convNd = "conv2d", padding = { 1, 1 }, bias = false } },
    { dims = example.dims, types = example.types, values = example.values, backward = true,
      flops = 4624220160, bytes = 11444224 },
    { dims = { { 10, 256, 14, 14 }, { 512, 256, 3, 3 } }, types = { bf16, bf16 },
      values = { "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1" },
      flops = 1156055040, bytes = 3864576, written = 10 * 512 * 7 * 7 * 2 },
    { dims = { { 4, 3, 224, 224 }, { 768, 3, 16, 16 }, { 768 } }, types = { bf16, bf16, bf16 },
      values = { "", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1" },
      flops = 925446144, bytes = 3589632, params = { bias = true } },
    { dims = { { 2, 64, 14, 14 }, { 64, 32, 4, 4 } }, types = { bf16, bf16 },
      values = { "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1" },
      flops = 25690112, bytes = 216064, params = { transposed_conv = true } },
  },
}

-- (grad, x, w, bias sizes, stride, ..., groups, output mask)
op {
  names = { "aten::convolution_backward" },
  category = "CONV_bwd", sheet = "CONV", unit = "matrix", prec = 1,
  eval = function (_ENV)
    local mask = list(value(10))
    local want_x, want_w, want_b = mask[1] ~= false, mask[2] ~= false, mask[3] == true
    conv(_ENV, 1, 2, want_b, settings(rank(1) - 2, 4))
    return both_gradients(_ENV, want_x, want_w, want_b)
  end,
  examples = {
    { dims = { { 10, 512, 7, 7 }, { 10, 512, 7, 7 }, { 512, 512, 3, 3 } },
      types = { bf16, bf16, bf16 },
      values = { "", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1",
        "[True, True, False]" },
      flops = 4624220160, bytes = 11444224 },
    { dims = { { 10, 512, 7, 7 }, { 10, 512, 7, 7 }, { 512, 512, 3, 3 } },
      types = { bf16, bf16, bf16 },
      values = { "", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1",
        "[False, True, True]" },
      flops = 2312110080 + 250880, bytes = 5722112 + 2 * (250880 + 512) },
  },
}

-- Apex: (x, w, bias, padding and stride of all dimensions ...)
local function conv_bias(_ENV)
  local n = rank(0) - 2
  recorded()
  return conv(_ENV, 0, 1, true, {
    stride = spatial(value(3), 1, n), padding = spatial(value(4), 0, n),
    dilation = spatial("", 1, n), transposed = false, output_padding = spatial("", 0, n),
    groups = 1,
  })
end

op {
  names = { "ConvBias_", "ConvBiasReLU_" },
  category = "CONV_fwd", backward_category = "CONV_bwd", sheet = "CONV", unit = "matrix", prec = 0,
  eval = conv_bias,
  backward = function (_ENV) return both_gradients(_ENV, true, true, true) end,
  examples = {
    { op = "ConvBias_", dims = { { 1, 1, 4, 4 }, { 1, 1, 3, 3 }, { 1 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "", "" }, flops = 76, bytes = 60 },
    { op = "ConvBias_", dims = { { 1, 1, 4, 4 }, { 1, 1, 3, 3 }, { 1 } }, backward = true,
      types = { bf16, bf16, bf16 }, values = { "", "", "", "", "" }, flops = 148, bytes = 126 },
  },
}

op {
  names = { "ConvBias_Backward", "ConvBiasReLU_Backward" },
  category = "CONV_bwd", sheet = "CONV", unit = "matrix", reads = { "forward" },
  eval = function (_ENV)
    in_forward(conv_bias, _ENV)
    local f, b = both_gradients(_ENV, true, true, true)
    return f, b, dtype_input_weight[1]
  end,
  examples = {
    { op = "ConvBias_Backward",
      forward = { dims = { { 1, 1, 4, 4 }, { 1, 1, 3, 3 }, { 1 } }, types = { bf16, bf16, bf16 },
        values = { "", "", "", "", "" } },
      flops = 148, bytes = 126, spec = "matrix_bf16" },
    { op = "ConvBias_Backward", status = "failed" },
  },
}

-- ---- not in the reference ----

-- (x, w, [bias,] padding, stride, dilation, groups, ...)
op {
  names = { "aten::miopen_convolution", "aten::cudnn_convolution" }, extra = true,
  sheet = "CONV", unit = "matrix", prec = 0,
  eval = function (_ENV)
    local n = rank(0) - 2
    recorded()
    local first = op_name() == "aten::miopen_convolution" and 3 or 2
    return conv(_ENV, 0, 1, first == 3 and has(2), {
      padding = spatial(value(first), 0, n), stride = spatial(value(first + 1), 1, n),
      dilation = spatial(value(first + 2), 1, n), transposed = false,
      output_padding = spatial("", 0, n), groups = count(value(first + 3), 1),
    })
  end,
  backward = function (_ENV) return both_gradients(_ENV, true, true, bias) end,
  examples = {
    { op = "aten::cudnn_convolution", dims = { { 10, 512, 7, 7 }, { 512, 512, 3, 3 } },
      types = { bf16, bf16 },
      values = { "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1" }, flops = 2312110080,
      bytes = 5722112 },
    { op = "aten::miopen_convolution", dims = { { 10, 256, 14, 14 }, { 512, 256, 3, 3 }, {} },
      types = { bf16, bf16, "" },
      values = { "", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1" }, flops = 1156055040,
      bytes = 3864576 },
  },
}

-- Before PyTorch 1.11 a backward convolution had two ops below it, of which the
-- one for the weights knows no sizes: (x, grad, w, padding, ..., output mask)
op {
  names = { "aten::cudnn_convolution_backward", "aten::miopen_convolution_backward",
    "aten::cudnn_convolution_transpose_backward" },
  alone = true, sheet = "CONV", unit = "matrix", prec = 0,
  eval = function (_ENV)
    local mask = nvalues() > 0 and list(value(nvalues() - 1)) or {}
    local parts = (mask[1] ~= false and 1 or 0) + (mask[2] ~= false and 1 or 0)
    input_shape = shape(0)
    filter_shape = shape(2)
    output_shape = shape(1)
    dtype_input_weight = { dtype(0), dtype(2) }
    -- of a transposed one the products are as many as its input's elements
    local all = op_name():find("transpose", 1, true) and elems(0) or elems(1)
    return parts * 2 * prod(filter_shape, 2) * all, parts * (elems(0) + elems(1) + elems(2)) * size(0)
  end,
  examples = {
    { op = "aten::cudnn_convolution_backward",
      dims = { { 10, 512, 7, 7 }, { 10, 512, 7, 7 }, { 512, 512, 3, 3 } },
      types = { bf16, bf16, bf16 }, flops = 4624220160, bytes = 11444224, spec = "matrix_bf16" },
    { op = "aten::cudnn_convolution_backward",
      dims = { { 10, 512, 7, 7 }, { 10, 512, 7, 7 }, { 512, 512, 3, 3 }, {} },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "[False, True]" }, flops = 2312110080 },
  },
}

-- SPDX-License-Identifier: MIT
-- What the reference has no model of: some 6 % of the GPU time in traces. The
-- category stays what name and kernel say; the sheets are ours.

local bf16 = "c10::BFloat16"
local function entry(sheet, prec)
  return { sheet = sheet, unit = "vector", prec = prec, extra = true }
end

-- ---- pointwise: an operation for each element of the result ----

-- Of the tensors among the first n arguments: the elements that they broadcast to,
-- their bytes, the widest, the type of the first.
local function operands(n)
  local out, moved, widest, first = {}, 0, 0, nil
  n = math.min(n, nargs())
  for i = 0, n - 1 do
    if has(i) and dtype(i) ~= "Scalar" and dtype(i) ~= "ScalarList" then
      moved = moved + bytes(i)
      for _, s in ipairs(tensors(i)) do
        local long = #s
        for k = 1, long do
          local at = k - long
          local d = out[at] or 1
          if d == 1 or s[k] ~= 1 and s[k] > d then out[at] = s[k] end
        end
      end
      widest = math.max(widest, size(i, 0))
      if not first or first == "bool" then first = dtype(i) end -- where's condition
    end
  end
  for i = 0, first and -1 or n - 1 do
    -- a tensor of no dimensions has a type, and a number by value is a Scalar
    if dtype(i) ~= "Scalar" and size(i) == size(i) then
      moved, widest, first = moved + size(i), math.max(widest, size(i)), first or dtype(i)
    end
  end
  local elements, at = 1, 0
  while out[at] do elements, at = elements * out[at], at - 1 end
  return elements, moved, widest, first
end

-- n: operands are among the first n arguments, where to write the result (out=) is
-- behind them. bool: the result has one byte an element
local function pointwise(n, names, bool_result)
  op {
    like = entry("MorePointwise"), names = names,
    eval = function (_ENV)
      local elements, moved, widest, first = operands(n)
      if not first then fail("no tensor among the arguments") end
      num_elems = elements
      dtype_in = first
      local e = bool_result and 1 or widest -- x_ writes where it reads
      for i = n, nargs() - 1 do
        if has(i) and dtype(i) ~= "Scalar" then e = size(i) end
      end
      return elements, moved + writes(elements * e, outs(n)), first
    end,
    examples = {
      { op = names[1], dims = { { 8, 64 } }, types = { "float" }, flops = 512,
        bytes = 512 * (bool_result and 5 or 8) },
      { op = names[1], dims = { { 8, 64 } }, types = { "float" }, strides = { { 0, 1 } }, flops = 512,
        bytes = 256 + 512 * (bool_result and 1 or 4) },
    },
  }
end

-- Each name, and with _ behind it.
local function in_place_too(text)
  local out = aten(text)
  for i = 1, #out do out[#out + 1] = out[i] .. "_" end
  return out
end

pointwise(1, in_place_too [[ exp exp2 expm1 log log2 log10 log1p tanh gelu relu sqrt abs sin cos tan
  reciprocal erf elu leaky_relu hardtanh hardswish hardsigmoid mish softplus floor ceil round trunc
  sign square bitwise_not logit nan_to_num asin acos atan sinh cosh asinh acosh atanh erfc erfinv sgn
  frac lgamma digamma threshold celu sinc i0 deg2rad rad2deg ]])
pointwise(1, aten [[ angle conj_physical special_entr special_erfcx special_i0e special_i1 special_i1e
  special_log_ndtr special_ndtri special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0
  special_bessel_y1 ]])
pointwise(2, in_place_too "igamma igammac gcd lcm nextafter")
pointwise(2, aten "logaddexp2 special_xlog1py special_zeta polar complex _add_relu")
pointwise(1, aten "silu_ sigmoid_ rsqrt_ neg_ hardshrink softshrink log_sigmoid_forward")
pointwise(2, in_place_too [[ sub rsub maximum minimum fmod remainder floor_divide atan2 xlogy
  bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift rrelu_with_noise ]])
pointwise(2, aten "hypot logaddexp copysign fmax fmin heaviside _prelu_kernel pow_")
pointwise(3, in_place_too "clamp addcmul addcdiv lerp masked_fill")
pointwise(3, aten "where")
pointwise(2, in_place_too "lt le gt ge eq ne logical_and logical_or logical_xor", true)
pointwise(1, in_place_too "logical_not", true)
pointwise(1, aten "isnan isinf isfinite isneginf isposinf signbit", true)
pointwise(2, aten [[ tanh_backward gelu_backward silu_backward leaky_relu_backward hardtanh_backward
  hardswish_backward hardsigmoid_backward softplus_backward mish_backward logit_backward
  hardshrink_backward softshrink_backward native_dropout_backward ]])
pointwise(3, aten "log_sigmoid_backward rrelu_with_noise_backward")
pointwise(6, aten "elu_backward")

op {
  like = entry("MorePointwise"), names = aten "repeat_interleave",
  eval = function (_ENV)
    num_elems = count(value(1), nil) or fail("its size is not recorded (Concrete Inputs)")
    dtype_in = dtype(0)
    return 0, bytes(0) + writes(8 * num_elems)
  end,
}

-- Only written.
op {
  like = entry("MorePointwise", 0), names = aten [[ fill_ zero_ uniform_ normal_ random_ bernoulli_
    exponential_ cauchy_ geometric_ log_normal_ ]],
  eval = function (_ENV)
    about(_ENV, 0)
    return 0, writes(num_elems * size(0), 0)
  end,
  examples = {
    { op = "aten::fill_", dims = { { 8, 16 }, {} }, types = { "float", "Scalar" }, flops = 0,
      bytes = 512, written = 512, unread = { 0 } },
  },
}

-- (x, p, train): result and mask
op {
  like = entry("MorePointwise", 0), names = aten "native_dropout _fused_dropout",
  eval = function (_ENV)
    about(_ENV, 0)
    return num_elems, bytes(0) + writes(num_elems * size(0), outs(1)) + num_elems
  end,
  examples = {
    { dims = { { 8, 16 }, {}, {} }, types = { bf16, "Scalar", "Scalar" }, flops = 128, bytes = 640 },
  },
}

op {
  like = entry("MorePointwise", 0), names = aten "glu",
  eval = function (_ENV)
    num_elems = elems(0) // 2
    dtype_in = dtype(0)
    return 5 * num_elems, bytes(0) + writes(num_elems * size(0), outs(1))
  end,
}

-- ---- softmax ----

op {
  like = entry("Softmax", 0), names = aten "_softmax _log_softmax _safe_softmax",
  eval = function (_ENV)
    op_shape = shape(0)
    dtype_in = dtype(0)
    local out = size(0) -- half_to_float makes floats of halves
    if bool(value(2), false) then out = 4 end
    return 5 * elems(0), bytes(0) + writes(elems(0) * out, outs(1))
  end,
  examples = {
    { op = "aten::_softmax", dims = { { 8, 128, 128 }, {}, {} }, types = { bf16, "Scalar", "Scalar" },
      values = { "", "-1", "False" }, flops = 655360, bytes = 524288, spec = "vector_bf16" },
    { op = "aten::_softmax", dims = { { 8, 128, 128 }, {}, {} },
      types = { "c10::Half", "Scalar", "Scalar" }, values = { "", "-1", "True" }, flops = 655360,
      bytes = 131072 * 6 },
  },
}
op {
  like = entry("Softmax", 0), names = aten "_softmax_backward_data _log_softmax_backward_data",
  eval = function (_ENV)
    op_shape = shape(0)
    dtype_in = dtype(0)
    return 4 * elems(0), bytes(0) + bytes(1) + writes(elems(1) * size(0), outs(2))
  end,
  examples = {
    { op = "aten::_softmax_backward_data", dims = { { 8, 16 }, { 8, 16 } },
      types = { "float", "float" }, flops = 512, bytes = 1536 },
  },
}
-- (logits, target, weight, reduction, ...): one value of each row
op {
  like = entry("Softmax", 0), names = aten "nll_loss_forward nll_loss2d_forward nll_loss_nd",
  eval = function (_ENV)
    num_elems = elems(1)
    dtype_in = dtype(0)
    writes(unknown, outs(5))
    return num_elems, num_elems * (size(0) + size(1, 8))
  end,
}

-- ---- moving ----

-- n elements are written that are read from argument x, besides the indices of argument i;
-- what stands behind these is where they go
local function move(_ENV, x, n, i)
  num_elems = n
  dtype_in = dtype(x)
  local moved = n * size(x)
  return 0, math.min(moved, bytes(x)) + writes(moved, outs((i or x) + 1)) + (i and has(i) and bytes(i, 8) or 0)
end

-- The size and if known the type of an element by the name of the kernel that copies
-- them: CatArrayBatchedCopy<float, ...>, or of any type of so many bytes.
local function copied()
  for _, name in ipairs(kernels()) do
    local kind = name:match("CatArrayBatchedCopy[%w_]*<%s*([^,]-)%s*,")
    if kind and bytes_of(kind) == bytes_of(kind) then return bytes_of(kind), kind end
    local e = kind and int(kind:match("OpaqueType<(%d+)u?>$") or "", nil)
    if e then return e end
  end
  return unknown
end

-- (list, dimension), before them in some releases where the result goes, which
-- may have another shape until then
op {
  like = entry("Movement", 0), names = aten "cat stack _cat", reads = { "kernels" },
  eval = function (_ENV)
    local list = dtype(1) == "TensorList" and 1 or 0
    num_elems = has(list) and elems(list) or fail("the trace has no shapes of the list of tensors")
    local e, kind = size(0), dtype(0)
    if e ~= e then e, kind = copied() end -- a list's type is TensorList: that doesn't say of what
    dtype_in = kind
    if list == 1 then return 0, bytes(1, e) + writes(num_elems * e, 0) end
    return 0, bytes(0, e) + writes(num_elems * e, outs(1))
  end,
  examples = {
    { op = "aten::cat", dims = { { { 8, 16 }, { 8, 4 } }, {} }, types = { "TensorList", "Scalar" },
      flops = 0, bytes = "unknown", params = { num_elems = 160 } },
    { op = "aten::cat", dims = { { { 8, 16 }, { 8, 4 } }, {} }, types = { "TensorList", "Scalar" },
      kernels = { "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::"
        .. "(anonymous namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(int)" },
      flops = 0, bytes = 2 * 2 * 160 },
    { op = "aten::cat", dims = { { { 8, 16 }, { 8, 4 } }, {} }, types = { "TensorList", "Scalar" },
      kernels = { "copy", "void at::CatArrayBatchedCopy<double, unsigned int, 2, 64, 64>(double*)" },
      flops = 0, bytes = 2 * 8 * 160 },
    { op = "aten::cat", dims = { { 9 }, { { 8, 16 }, { 8, 4 } }, {} },
      types = { "float", "TensorList", "Scalar" }, flops = 0, bytes = 2 * 4 * 160, unread = { 0 } },
    { op = "aten::cat", dims = { { 8, 20 }, {}, {} }, types = { "float", "TensorList", "Scalar" },
      status = "failed" },
    { op = "aten::cat", dims = { {}, {} }, types = { "TensorList", "Scalar" }, status = "failed" },
  },
}
op {
  like = entry("Movement", 0), names = aten "flip roll _to_copy clone contiguous repeat constant_pad_nd im2col",
  eval = function (_ENV) return move(_ENV, 0, elems(0)) end,
  examples = {
    { op = "aten::flip", dims = { { 8, 16 } }, types = { "float" }, flops = 0, bytes = 1024 },
  },
}
op {
  like = entry("Movement", 0), names = aten "index_select",
  eval = function (_ENV)
    local s = shape(0)
    local d = int(value(1), #s == 1 and 0 or nil)
      or fail("which dimension is not recorded (Concrete Inputs)")
    local whole = s[axis(d, #s)]
    return move(_ENV, 0, whole > 0 and elems(0) // whole * elems(2) or 0, 2)
  end,
  examples = {
    { op = "aten::index_select", dims = { { 100, 16 }, {}, { 8 } }, values = { "", "0", "" },
      types = { "float", "Scalar", "long int" }, flops = 0, bytes = 2 * 128 * 4 + 64 },
  },
}
op {
  like = entry("Movement", 0), names = aten "gather",
  eval = function (_ENV) return move(_ENV, 0, elems(2), 2) end,
}
-- (weight, indices, ...)
op {
  like = entry("Movement", 0), names = aten "embedding",
  eval = function (_ENV) return move(_ENV, 0, elems(1) * dim(0, -1), 1) end,
  examples = {
    { op = "aten::embedding", dims = { { 30522, 512 }, { 1, 141 } },
      types = { bf16, "long int" }, flops = 0, bytes = 141 * 512 * 2 * 2 + 141 * 8 },
  },
}
-- (grad, indices, num_weights, ...)
op {
  like = entry("Movement", 0), names = aten "embedding_dense_backward",
  eval = function (_ENV)
    about(_ENV, 0)
    local rows = count(value(2), 0)
    return num_elems, bytes(0) + (num_elems + rows * dim(0, -1)) * size(0) + bytes(1, 8)
  end,
}
-- (self, dim, index, src, ...)
op {
  like = entry("Movement", 0),
  names = aten "scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_",
  eval = function (_ENV)
    local f, b = move(_ENV, 0, elems(2), 2)
    writes(bytes(0), outs(4))
    return f, b
  end,
  examples = {
    { op = "aten::scatter_add_", dims = { { 100 }, {}, { 8 }, { 8 } },
      types = { "float", "Scalar", "long int", "float" }, flops = 0, bytes = 64 + 64, written = 400 },
  },
}
-- (self, dim, index, source, ...): what source has goes to rows of self, added or not
op {
  like = entry("Movement", 3), names = aten "index_add index_add_ index_copy index_copy_",
  eval = function (_ENV)
    local f, b = move(_ENV, 3, elems(3), 2)
    local adds = op_name():find("index_add", 1, true) and elems(3) or 0
    writes(bytes(0), outs(4))
    return f + adds, b + adds * size(0)
  end,
  examples = {
    { op = "aten::index_add_", dims = { { 100, 16 }, {}, { 8 }, { 8, 16 }, {} },
      types = { bf16, "Scalar", "long int", bf16, "Scalar" }, flops = 128, bytes = 3 * 128 * 2 + 64,
      spec = "vector_bf16" },
    { op = "aten::index_copy_", dims = { { 100, 16 }, {}, { 8 }, { 8, 16 } },
      types = { "float", "Scalar", "long int", "float" }, flops = 0, bytes = 2 * 128 * 4 + 64 },
  },
}
-- (self, indices, values, accumulate): the indices broadcast, dimensions without one
-- are taken whole
op {
  like = entry("Movement", 0), names = aten "index _unsafe_index index_put_ _index_put_impl_",
  reads = { "kernels" },
  eval = function (_ENV)
    if not has(1) then fail("the trace has no shapes of the list of indices") end
    for _, name in ipairs(kernels()) do
      if contains(name, "nonzero") or contains(name, "DeviceSelect") or contains(name, "write_indices")
        or contains(name, "partition") then fail("a mask selects: of how many elements is not recorded") end
    end
    local s, list, picked = shape(0), tensors(1), {}
    local whole, indices = 1, 0
    for k = 1, #s do
      if not list[k] or #list[k] == 0 then whole = whole * s[k] end
    end
    for _, i in ipairs(list) do
      picked = broadcast(picked, i)
      if #i > 0 then indices = indices + 8 * prod(i) end
    end
    local f, moved = move(_ENV, 0, prod(picked) * whole)
    if op_name():find("_put", 1, true) then
      local written = num_elems * size(0)
      writes(bytes(0), outs(3))
      moved = moved - written + bytes(2) + (bool(value(3), false) and written or 0)
    else
      writes(num_elems * size(0), outs(2))
    end
    return f, moved + indices
  end,
  examples = {
    { op = "aten::index", dims = { { 100, 16 }, { { 8 } } }, types = { "float", "TensorList" },
      flops = 0, bytes = 2 * 128 * 4 + 64, written = 512, unread = {} },
    { op = "aten::index", dims = { { 100, 16 }, { {}, { 8 } } }, types = { "float", "TensorList" },
      flops = 0, bytes = 2 * 800 * 4 + 64 },
    { op = "aten::index", dims = { { 100, 16 }, { { 8, 1 }, { 4 } } },
      types = { "float", "TensorList" }, flops = 0, bytes = 2 * 32 * 4 + 96 },
    { op = "aten::index_put_", dims = { { 100, 16 }, { { 8 } }, { 8, 16 }, {} },
      types = { "float", "TensorList", "float", "Scalar" }, values = { "", "", "", "True" },
      flops = 0, bytes = 3 * 128 * 4 + 64 },
    { op = "aten::index", dims = { { 100, 16 }, { { 100, 16 } } }, types = { "float", "TensorList" },
      kernels = { "void at_cuda_detail::cub::DeviceSelectSweepKernel<T>()" }, status = "failed" },
    { op = "aten::index", dims = { { 100, 16 }, {} }, types = { "float", "TensorList" },
      status = "failed" },
  },
}

-- ---- pooling and resampling ----

-- Size of a pooled dimension.
local function pooled(n, k, s, p, d, up)
  local x = n + 2 * p - d * (k - 1) - 1
  if x < 0 then fail("the kernel is larger than the input") end
  return (up and ceil_div(x, s) or x // s) + 1
end
-- One value for each of n dimensions, from the text of all or of one; none if it is empty.
local function each(text, n)
  local v = counts(text)
  for i = #v + 1, #v > 0 and n or 0 do v[i] = v[1] end
  return v
end

-- max: (x, kernel, stride, padding, dilation, ceil); avg without dilation
local function pool(names, is_max, indices)
  -- of the example: 64 channels, or one more dimension that is halved
  local out, window = 2007040, 9
  if contains(names[1], "3d") then out, window = 1003520, 27 end
  op {
    like = entry("Pooling", 0), names = names,
    eval = function (_ENV)
      local s, n = shape(0), tonumber(op_name():match("%d")) -- max_pool2d
      if #s <= n then fail("no picture") end
      local k, step, pad = each(value(1), n), each(value(2), n), each(value(3), n)
      local dilated = is_max and each(value(4), n) or {}
      local up = bool(value(is_max and 5 or 4), false)
      if #k ~= n then fail("no kernel size") end
      input_shape = shape(0)
      for i = 1, n do
        local d = #s - n + i
        s[d] = pooled(s[d], k[i], step[i] or k[i], pad[i] or 0, dilated[i] or 1, up)
      end
      output_shape = s
      kernel_size = k
      local all = prod(s)
      return all * prod(k), bytes(0) + writes(all * size(0), outs(1)) + (indices and 8 * all or 0)
    end,
    examples = {
      { dims = { { 10, 64, 112, 112 }, {}, {}, {}, {}, {} }, types = { bf16 },
        values = { "", "[3, 3]", "[2, 2]", "[1, 1]", is_max and "[1, 1]" or "False", "False" },
        flops = out * window, bytes = 2 * (8028160 + out) + (indices and 8 * out or 0) },
    },
  }
end
pool(aten "max_pool2d", true, false)
pool(aten "max_pool2d_with_indices", true, true)
pool(aten "avg_pool2d", false, false)
pool({ "aten::max_pool3d_with_indices" }, true, true)
pool({ "aten::avg_pool3d" }, false, false)

-- Pointwise in what is larger, the input's gradient; of the input only the size counts.
op {
  like = entry("Pooling", 0),
  names = aten [[ max_pool2d_with_indices_backward avg_pool2d_backward _adaptive_avg_pool2d_backward
    max_pool3d_with_indices_backward avg_pool3d_backward _adaptive_avg_pool3d_backward
    adaptive_max_pool2d_backward adaptive_max_pool3d_backward ]],
  eval = function (_ENV)
    num_elems = elems(1)
    return elems(0), bytes(0) + writes(elems(1) * size(0), 1)
      + (op_name():find("max", 1, true) and 8 * elems(0) or 0)
  end,
  examples = {
    { op = "aten::max_pool2d_with_indices_backward",
      dims = { { 2, 4, 4 }, { 2, 8, 8 }, {}, {}, {}, {}, {}, { 2, 4, 4 } },
      types = { "float", "float", "", "", "", "", "", "long int" }, bytes = 4 * (32 + 128) + 8 * 32,
      written = 512, unread = { 1 } },
  },
}
op {
  like = entry("Pooling", 0), names = aten [[ _adaptive_avg_pool2d adaptive_avg_pool2d _adaptive_avg_pool3d
    adaptive_max_pool2d adaptive_max_pool3d ]],
  eval = function (_ENV)
    local s, out = shape(0), counts(value(1))
    if #out == 0 or #out > #s then fail("no output size") end
    input_shape = shape(0)
    for i = 1, #out do s[#s - #out + i] = out[i] end
    output_shape = s
    local indices = op_name():find("max", 1, true) and 8 * prod(s) or 0
    return elems(0), bytes(0) + writes(prod(s) * size(0), outs(1)) + indices
  end,
  examples = {
    { op = "aten::adaptive_max_pool2d", dims = { { 2, 64, 8, 8 }, {} }, types = { "float" },
      values = { "", "[2, 2]" }, flops = 8192, bytes = 4 * 8192 + 512 * 12 },
  },
}

-- Operations for each result: nearest, bilinear, bicubic.
local function resample(names, per_element, scales_at)
  op {
    like = entry("Resampling", 0), names = names,
    eval = function (_ENV)
      local s, sizes, scales = shape(0), counts(value(1)), nil
      if #sizes == 0 then scales = list(value(scales_at)) end
      input_shape = shape(0)
      for i = 3, #s do
        s[i] = scales and math.floor(s[i] * (scales[i - 2] or fail("no output size")))
          or sizes[i - 2] or fail("no output size")
      end
      output_shape = s
      return per_element * prod(s), bytes(0) + writes(prod(s) * size(0), outs(1))
    end,
    examples = {
      { dims = { { 2, 3, 8, 8 }, {}, {}, {} }, types = { "float" },
        values = { "", "[16, 16]", "", "" }, flops = per_element * 1536, bytes = 4 * (384 + 1536) },
    },
  }
end
resample(aten "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d", 1, 2)
resample(aten "upsample_bilinear2d _upsample_bilinear2d_aa", 7, 3)
resample({ "aten::upsample_linear1d" }, 3, 3)
resample({ "aten::upsample_trilinear3d" }, 15, 3)
resample(aten "upsample_bicubic2d _upsample_bicubic2d_aa", 35, 3)

-- (gradient, output size, input size, ...): of the gradient's elements
local function resample_backward(names, per_element)
  op {
    like = entry("Resampling", 0), names = names,
    eval = function (_ENV)
      local s = counts(value(2))
      if #s == 0 then fail("the input's size is not recorded (Concrete Inputs)") end
      input_shape = s
      output_shape = shape(0)
      return per_element * elems(0), bytes(0) + writes(prod(s) * size(0), outs(1))
    end,
    examples = {
      { dims = { { 2, 3, 16, 16 }, {}, {}, {} }, types = { "float" },
        values = { "", "[16, 16]", "[2, 3, 8, 8]", "" }, flops = per_element * 1536,
        bytes = 4 * (384 + 1536) },
    },
  }
end
resample_backward(aten [[ upsample_nearest1d_backward upsample_nearest2d_backward
  upsample_nearest3d_backward _upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward
  _upsample_nearest_exact3d_backward ]], 1)
resample_backward(aten "upsample_bilinear2d_backward _upsample_bilinear2d_aa_backward", 7)
resample_backward({ "aten::upsample_linear1d_backward" }, 3)
resample_backward({ "aten::upsample_trilinear3d_backward" }, 15)
resample_backward(aten "upsample_bicubic2d_backward _upsample_bicubic2d_aa_backward", 35)

-- ---- all tensors of an optimiser at once ----

-- Elements of the first list; reads the lists, writes the first or one like it.
-- What copies or sets to zero doesn't read it; norms write a number for each.
op {
  like = entry("Optimizer", 0), globs = { "aten::_foreach_*" },
  eval = function (_ENV)
    if not has(0) then fail("the trace has no shapes of the list of tensors") end
    local n, lists = elems(0), 1
    for i = 1, nargs() - 1 do
      if has(i) and elems(i) == n then lists = lists + 1 end
    end
    num_elems = n
    local passes = lists + 1
    local name = op_name():match("_foreach_(%l+)")
    if name == "zero" or name == "norm" then passes = 1 elseif name == "copy" then passes = 2 end
    -- Kineto gives TensorList as the type: of floats, if not told otherwise
    local e = size(0, 4)
    if name == "zero" or name == "copy" then
      writes(n * e, 0)
    else
      writes((name == "norm" and #tensors(0) or n) * e)
    end
    local norms = name == "norm" and #tensors(0) * e or 0
    return name == "zero" and 0 or n, passes * n * e + norms, size(0) ~= size(0) and "float" or nil
  end,
  examples = {
    { op = "aten::_foreach_add_", dims = { { { 8, 16 }, { 4 } }, { { 8, 16 }, { 4 } }, {} },
      types = { "TensorList", "TensorList", "Scalar" }, flops = 132, bytes = 3 * 132 * 4,
      written = 132 * 4, unread = {} },
    { op = "aten::_foreach_copy_", dims = { { { 8, 16 }, { 4 } }, { { 8, 16 }, { 4 } }, {} },
      types = { "TensorList", "TensorList", "Scalar" }, flops = 132, bytes = 2 * 132 * 4,
      written = 132 * 4, unread = { 0 } },
    { op = "aten::_foreach_zero_", dims = { { { 8, 16 }, { 4 } } }, types = { "TensorList" },
      flops = 0, bytes = 132 * 4 },
    { op = "aten::_foreach_norm", dims = { { { 8, 16 }, { 4 } }, {}, {} },
      types = { "TensorList", "Scalar", "" }, flops = 132, bytes = 132 * 4 + 2 * 4, written = 2 * 4 },
    { op = "aten::_foreach_maximum_", dims = { { { 8, 16 }, { 4 } }, {} },
      types = { "TensorList", "Scalar" }, flops = 132, bytes = 2 * 132 * 4 },
  },
}
op {
  like = entry("Optimizer", 0), names = aten "_fused_adam_ _fused_adamw_",
  eval = function (_ENV)
    if not has(0) then fail("the trace has no shapes of the list of tensors") end
    num_elems = elems(0)
    return 12 * num_elems, 7 * num_elems * size(0, 4), size(0) ~= size(0) and "float" or nil
  end,
  examples = {
    { op = "aten::_fused_adamw_", dims = { { { 8, 16 }, { 4 } } }, types = { "TensorList" },
      flops = 12 * 132, bytes = 7 * 132 * 4, spec = "vector_fp32" },
  },
}

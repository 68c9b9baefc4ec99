-- SPDX-License-Identifier: MIT
-- Normalisations. E elements, C of them with their own weight and bias, e bytes
-- an element.

local bf16 = "c10::BFloat16"
local forward = { category = "NORM_fwd", backward_category = "NORM_bwd", sheet = "Normalization",
  unit = "vector" }
local backward = { category = "NORM_bwd", sheet = "Normalization", unit = "vector" }

local function set(_ENV, x, channels, bias, affine, training)
  one_operand(_ENV, shape(x), tuple(dtype(x), nil), strides(x), nil)
  num_channels = channels
  has_bias = bias
  is_affine = affine
  is_training = training
  if channels <= 0 then fail("no channels") end
end

local function one(yes) return yes and 1 or 0 end

local function forward_cost(x, C, bias, affine, training)
  local E, e = elems(x), size(x)
  local w = 2 + (affine and 1 + one(bias) or 0) + (training and 2 or 0)
  return 6 * C + 2 * E + (training and 3 * E or 0), bytes(x) + writes(E * e) + w * C * e, dtype(x)
end

-- The input's gradient needs the statistics of a batch that was trained on.
local function backward_cost(x, C, bias, affine, training, want_x)
  local E, e, p = elems(x), size(x), elems(x) / C
  local q = want_x and (training and 5 * p or 2 * p) or 0
  writes((want_x and E or C) * e)
  return C * ((training and 0 or 3) + 4 * p + q),
    (E + E * (want_x and training and 2 or 1) + (training and C or 0)
      + (affine and C + (training and C * (1 + one(bias)) or 0) or 0)) * e - repeated(0, 1), dtype(x)
end

-- The op may have a weight and a bias only where it has that many arguments.
local function given(i) return i < nargs() and has(i) end

-- ---- batch and instance norm: (x, weight, bias, mean, var, training, ...) ----

local function in_training(i)
  if not has_values() then fail("whether it is in training is not recorded (Concrete Inputs)") end
  return value(i) == "True" or value(i) == "1"
end

local function batch(_ENV)
  set(_ENV, 0, dim(0, 1), given(2), given(1), in_training(5))
  return forward_cost(0, num_channels, has_bias, is_affine, is_training)
end

local volume = { { 8, 16, 32, 32 }, { 16 }, { 16 }, { 16 }, { 16 }, {}, {}, {}, {} }
local volume_types = { "float", "float", "float", "float", "float", "Scalar", "Scalar", "Scalar",
  "Scalar" }

op {
  like = forward,
  names = { "aten::batch_norm", "aten::native_batch_norm", "aten::miopen_batch_norm",
    "aten::cudnn_batch_norm", "aten::instance_norm", "aten::native_instance_norm",
    "aten::miopen_instance_norm", "aten::cudnn_instance_norm" },
  eval = batch,
  examples = {
    { op = "aten::batch_norm", dims = volume, types = volume_types,
      values = { "", "", "", "", "", "True", "0.1", "1e-05", "True" }, flops = 655456,
      bytes = 1048960, written = 524288, spec = "vector_fp32", params = { is_training = true, num_channels = 16 } },
    { op = "aten::batch_norm", dims = volume, types = volume_types,
      values = { "", "", "", "", "", "False", "0.1", "1e-05", "True" }, flops = 96 + 2 * 131072,
      bytes = 1048576 + 4 * 16 * 4 },
    { op = "aten::instance_norm", dims = { { 8, 16, 32, 32 }, {}, {}, {}, {}, {} },
      types = { "float", "", "", "", "", "Scalar" }, values = { "", "", "", "", "", "True" },
      flops = 655456, bytes = 1048576 + 4 * 16 * 4, params = { is_affine = false } },
  },
}

-- Of newer releases, not in the reference: the same, and one each of training and inference.
op {
  sheet = "Normalization", unit = "vector", extra = true, eval = batch,
  names = { "aten::_native_batch_norm_legit" },
}
op {
  sheet = "Normalization", unit = "vector", extra = true,
  names = { "aten::_batch_norm_with_update", "aten::_native_batch_norm_legit_no_training" },
  eval = function (_ENV)
    set(_ENV, 0, dim(0, 1), given(2), given(1), op_name():find("update", 1, true) ~= nil)
    return forward_cost(0, num_channels, has_bias, is_affine, is_training)
  end,
  examples = {
    { op = "aten::_batch_norm_with_update", dims = volume, types = volume_types, flops = 655456,
      bytes = 1048960 },
  },
}

-- (grad, x, weight, mean, var, save_mean, save_var, training, eps, mask)
op {
  like = backward,
  names = { "aten::batch_norm_backward", "aten::native_batch_norm_backward" },
  eval = function (_ENV)
    local mask = list(value(9))
    local want_x = mask[1] ~= false
    set(_ENV, 1, dim(1, 1), true, given(2), in_training(7))
    output_mask = { want_x }
    return backward_cost(1, num_channels, true, is_affine, is_training, want_x)
  end,
  examples = {
    { op = "aten::native_batch_norm_backward",
      dims = { { 8, 16, 32, 32 }, { 8, 16, 32, 32 }, { 16 }, { 16 }, { 16 }, { 16 }, { 16 } },
      types = { "float", "float", "float" },
      values = { "", "", "", "", "", "", "", "True", "1e-05", "[True, True, True]" },
      flops = 1179648, bytes = 1573120 },
  },
}

-- (x, grad, weight, ...), only ever called in training
op {
  like = backward,
  names = { "aten::miopen_batch_norm_backward", "aten::cudnn_batch_norm_backward" },
  eval = function (_ENV)
    set(_ENV, 0, dim(0, 1), true, given(2), true)
    output_mask = { true }
    return backward_cost(0, num_channels, true, is_affine, true, true)
  end,
  examples = {
    { op = "aten::miopen_batch_norm_backward",
      dims = { { 8, 16, 32, 32 }, { 8, 16, 32, 32 }, { 16 }, { 16 }, { 16 }, { 16 }, { 16 }, {} },
      types = { "float", "float", "float", "float", "float", "float", "float", "Scalar" },
      flops = 1179648, bytes = 1573120 },
  },
}

op {
  like = backward,
  names = { "aten::instance_norm_backward", "aten::native_instance_norm_backward",
    "aten::miopen_instance_norm_backward", "aten::cudnn_instance_norm_backward" },
  eval = function (_ENV) skip("not defined") end,
}

-- ---- layer norm: (x, normalized_shape, weight, bias, ...) ----

-- Elements that are normalised together, by argument i, else by the weight w.
local function normalised(i, w)
  local s = counts(value(i))
  if #s > 0 then return prod(s) end
  return given(w) and elems(w) or fail("its normalized_shape is not recorded (Concrete Inputs)")
end

op {
  like = forward,
  names = { "aten::layer_norm", "aten::native_layer_norm", "aten::miopen_layer_norm",
    "aten::cudnn_layer_norm" },
  eval = function (_ENV)
    set(_ENV, 0, normalised(1, 2), given(3), given(2), true)
    return forward_cost(0, num_channels, has_bias, is_affine, true)
  end,
  examples = {
    { op = "aten::layer_norm", dims = { { 8, 16, 32, 32 }, {}, { 16, 32, 32 }, { 16, 32, 32 } },
      types = { "float", "ScalarList", "float", "float" },
      values = { "", "[16, 32, 32]", "", "" }, flops = 753664, bytes = 1441792 },
    { op = "aten::layer_norm", dims = { { 4, 197, 768 }, {}, { 768 }, { 768 } },
      types = { bf16, "ScalarList", bf16, bf16 }, values = { "", "[768]", "", "" },
      flops = 3030528, bytes = 2429952, spec = "vector_bf16" },
    { op = "aten::layer_norm", dims = { { 4, 197, 768 }, {}, {}, {} },
      types = { bf16, "ScalarList", "", "" }, values = { "", "[768]", "", "" },
      flops = 3030528, bytes = 2 * (2 * 605184 + 4 * 768), params = { is_affine = false } },
    { op = "aten::layer_norm", dims = { { 4, 197, 768 }, {}, { 768 }, { 768 } },
      types = { bf16, "ScalarList", bf16, bf16 }, flops = 3030528, params = { num_channels = 768 } },
    { op = "aten::layer_norm", dims = { { 4, 197, 768 }, {}, {}, {} }, types = { bf16 },
      status = "failed" },
  },
}

-- (grad, x, normalized_shape, mean, rstd, weight, bias, mask)
op {
  like = backward,
  names = { "aten::layer_norm_backward", "aten::native_layer_norm_backward",
    "aten::miopen_layer_norm_backward", "aten::cudnn_layer_norm_backward" },
  eval = function (_ENV)
    local mask = list(value(7))
    set(_ENV, 1, normalised(2, 5), given(6) and mask[3] ~= false,
      given(5) and mask[2] ~= false, true)
    output_mask = mask
    return backward_cost(1, num_channels, has_bias, is_affine, true, mask[1] ~= false)
  end,
  examples = {
    { op = "aten::native_layer_norm_backward",
      dims = { { 8, 16, 32, 32 }, { 8, 16, 32, 32 }, {}, { 8, 1, 1, 1 }, { 8, 1, 1, 1 },
        { 16, 32, 32 }, { 16, 32, 32 }, {} },
      types = { "float", "float", "ScalarList", "float", "float", "float", "float", "ScalarList" },
      values = { "", "", "[16, 32, 32]", "", "", "", "", "[True, True, True]" },
      flops = 1179648, bytes = 7 * 2 ^ 18 },
  },
}

-- ---- group norm ----

-- w: the argument of the weight, the bias follows it
local function group(w)
  return function (_ENV)
    set(_ENV, 0, dim(0, 1), given(w + 1), given(w), true)
    return forward_cost(0, num_channels, has_bias, is_affine, true)
  end
end

op {
  like = forward, eval = group(2),
  names = { "aten::group_norm", "aiter::_groupnorm_run" },
  examples = {
    { op = "aten::group_norm", dims = { { 8, 16, 32, 32 }, {}, { 16 }, { 16 } },
      types = { "float", "Scalar", "float", "float" }, flops = 655456, bytes = 1048960 },
  },
}
op {
  like = forward, eval = group(1),
  names = { "aten::native_group_norm", "aten::miopen_group_norm", "aten::cudnn_group_norm" },
}

-- (grad, x, mean, rstd, weight, N, C, HxW, group, mask)
op {
  like = backward,
  names = { "aten::group_norm_backward", "aten::native_group_norm_backward",
    "aten::miopen_group_norm_backward", "aten::cudnn_group_norm_backward" },
  eval = function (_ENV)
    local mask = list(value(9))
    set(_ENV, 1, dim(1, 1), given(4) and mask[3] ~= false, given(4), true)
    output_mask = mask
    return backward_cost(1, num_channels, has_bias, is_affine, true, mask[1] ~= false)
  end,
  examples = {
    { op = "aten::native_group_norm_backward",
      dims = { { 8, 16, 32, 32 }, { 8, 16, 32, 32 }, { 8, 4 }, { 8, 4 }, { 16 } },
      types = { "float", "float", "float", "float", "float" },
      values = { "", "", "", "", "", "8", "16", "1024", "4", "[True, True, True]" },
      flops = 1179648, bytes = 3 * 524288 + 16 * 4 * 4, params = { num_channels = 16 } },
  },
}

-- ---- RMS norm ----

-- (x, normalized_shape, weight, eps)
op {
  like = forward,
  names = { "aten::_fused_rms_norm" },
  eval = function (_ENV)
    set(_ENV, 0, normalised(1, 2), false, given(2), false)
    local E, C, e = elems(0), num_channels, size(0)
    return E / C * (2 * C + 2) + E * (is_affine and 2 or 1),
      E * e + writes(E * e) + (is_affine and C or 0) * e, dtype(0)
  end,
  examples = {
    { dims = { { 8, 16, 32, 32 }, {}, { 32, 32 }, {} }, types = { "float", "ScalarList", "float" },
      values = { "", "[32, 32]", "", "" }, flops = 524544, bytes = 1052672 },
  },
}

-- (grad, x, normalized_shape, rstd, weight, mask)
op {
  like = backward,
  names = { "aten::rms_norm_backward", "aten::native_rms_norm_backward",
    "aten::miopen_rms_norm_backward", "aten::cudnn_rms_norm_backward",
    "aten::_fused_rms_norm_backward" },
  eval = function (_ENV)
    local mask = list(value(5))
    set(_ENV, 1, normalised(2, 4), false, given(4), false)
    output_mask = mask
    local E, C, e = elems(1), num_channels, size(1)
    writes((mask[1] and E or C) * e)
    return E * (one(is_affine) + 1 + (mask[1] and 6 or 0)
        + (mask[2] and is_affine and (E / C > 1 and 2 or 1) or 0)),
      (3 * E + (is_affine and 2 * C or 0)) * e, dtype(1)
  end,
  examples = {
    { op = "aten::_fused_rms_norm_backward",
      dims = { { 8, 16, 32, 32 }, { 8, 16, 32, 32 }, {}, { 8, 16, 1, 1 }, { 32, 32 } },
      types = { "float", "float", "ScalarList", "float", "float" },
      values = { "", "", "[32, 32]", "", "", "[True, False]" }, flops = 1048576,
      bytes = 1581056 },
  },
}

-- ---- fused with modulation: x (T, B, H), scale and shift (B, H) ----

op {
  like = forward,
  names = { "primus::fused_ln_modulate" },
  eval = function (_ENV)
    local T, B, H = dim(0, 0), dim(0, 1), dim(0, 2)
    set(_ENV, 0, H, true, true, true)
    return 12 * elems(0), (2 * elems(0) + 2 * B * H) * size(0) + 8 * T * B, dtype(0)
  end,
  examples = {
    { dims = { { 16, 2, 64 }, { 2, 64 }, { 2, 64 } }, types = { bf16, bf16, bf16 },
      flops = 12 * 2048, bytes = 2 * (4096 + 256) + 256 },
  },
}
op {
  like = backward,
  names = { "primus::fused_ln_modulate_backward" },
  eval = function (_ENV)
    local T, B, H = dim(0, 0), dim(0, 1), dim(0, 2)
    set(_ENV, 0, H, true, true, true)
    output_mask = { true, true, true }
    return 15 * elems(0), (3 * elems(0) + 3 * B * H) * size(0) + 8 * T * B, dtype(0)
  end,
}

-- ---- RMS norm of inference, fused with what stands around it ----

local bare = { category = "RMSNorm", sheet = "RMSNorm", unit = "vector" }

-- x, w: arguments of input and weight; what stands before x is where the result goes;
-- cost(E, C, e, M, R) gives FLOPs and bytes
local function rms(names, x, w, cost, examples)
  op {
    like = bare, names = names, examples = examples,
    eval = function (_ENV)
      set(_ENV, x, dim(w, 0), false, true, false)
      local E, C = elems(x), num_channels
      if x > 0 then writes(E * size(x), 0) else writes(E * size(x)) end
      local f, b = cost(E, C, size(x), E // C, E / C * (2 * C + 2) + 2 * E)
      return f, b, dtype(x)
    end,
  }
end

rms({ "aiter::rms_norm", "aiter::rmsnorm2d_fwd_ck" }, 0, 1,
  function (E, C, e, M, R) return R, (2 * E + C) * e end)
rms({ "aiter::rmsnorm" }, 1, 2,
  function (E, C, e, M, R) return R, (2 * E + C) * e end,
  { { dims = { { 15360, 4096 }, { 15360, 4096 }, { 4096 } }, types = { bf16, bf16, bf16 },
      flops = 251688960, bytes = 251666432, unread = { 0 }, params = { is_training = false } } })
rms({ "aiter::rmsnorm2d_fwd_with_add_ck", "aiter::add_rmsnorm" }, 1, 4,
  function (E, C, e, M, R) return R + E, (4 * E + C) * e end,
  { { op = "aiter::add_rmsnorm",
      dims = { { 15360, 4096 }, { 15360, 4096 }, { 15360, 4096 }, { 15360, 4096 }, { 4096 } },
      types = { bf16, bf16, bf16, bf16, bf16 }, flops = 314603520, bytes = 503324672 } })
rms({ "aiter::rmsnorm2d_fwd_with_dynamicquant_ck" }, 1, 3,
  function (E, C, e, M, R) return R + 2 * E, (E + C) * e + E + 4 * M end)

-- A scale for each group of g elements.
local function groups(C, g) return ceil_div(C, g and g > 0 and g or C) end

rms({ "aiter::rmsnorm_quant" }, 1, 3, function (E, C, e, M, R)
  return R + 2 * E, (E + C) * e + E + 4 * M * groups(C, int(value(5), nil))
end)
rms({ "vllm::rocm_aiter_rmsnorm_fp8_group_quant" }, 0, 1, function (E, C, e, M, R)
  return R + 2 * E, (E + C) * e + E + 4 * M * groups(C, int(value(3)))
end)
rms({ "vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant" }, 0, 2, function (E, C, e, M, R)
  return R + 3 * E, (3 * E + C) * e + E + 4 * M * groups(C, int(value(4)))
end)
rms({ "vllm::rocm_aiter_triton_add_rmsnorm_pad", "aiter::fused_add_rmsnorm_pad_" }, 0, 1,
  function (E, C, e, M, R)
    local p = count(value(4))
    local P = p > 0 and ceil_div(C, p) * p or C
    return R + E, (2 * E + C) * e + M * P * e + M * C * e
  end,
  { { op = "aiter::fused_add_rmsnorm_pad_", dims = { { 4, 60 }, { 60 } }, types = { bf16, bf16 },
      values = { "", "", "", "", "32" }, flops = 4 * 122 + 480 + 240,
      bytes = 2 * (480 + 60 + 4 * 64 + 240) } })
-- (x1, w1, eps, x2, w2, eps, residual)
rms({ "sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant",
  "aiter::_fuse_rmsnorm_fp4_quant" }, 0, 1,
  function (E, C, e, M, R)
    local n2 = 3 < nargs() and rank(3) == 2 and dim(3, 1)
    local residual = 6 < nargs() and rank(6) == 2
    return R + (residual and M * C or 0)
        + (n2 and math.floor(R * (M * n2) / math.max(E, 1)) or 0) + 2 * E,
      (E + C) * e + 0.5 * E + E // 32 + (residual and 2 * E * e or 0)
        + (n2 and (2 * M * n2 + n2) * e or 0)
  end)

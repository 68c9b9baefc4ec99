-- SPDX-License-Identifier: MIT
-- More of PyTorch's own ops that the reference has no model of: spectra, recurrent
-- layers, linear algebra, padding, sampling of pictures, batch norm over ranks. Of
-- methods that repeat until they converge the least is counted.

local bf16 = "c10::BFloat16"
local function entry(sheet, unit)
  return { sheet = sheet, unit = unit or "vector", prec = 0, extra = true }
end
local function moving(sheet)
  return function (t)
    t.sheet, t.unit, t.extra, t.names = sheet, "vector", true, table.concat(aten(t.names), " ")
    return streaming(t)
  end
end

-- ---- one pass over the arguments, and a result like one of them ----

local pointwise = moving "MorePointwise"
pointwise { per = 8, result = 1, names = "glu_backward", examples = {
  { dims = { { 8, 16 }, { 8, 32 }, {} }, types = { bf16, bf16, "Scalar" }, flops = 1024, bytes = 2 * (128 + 512) },
} }
pointwise { per = 4, result = 0, names = [[ fake_quantize_per_tensor_affine_cachemask
  fake_quantize_per_channel_affine_cachemask quantize_per_tensor dequantize _masked_scale renorm
  _prelu_kernel_backward _thnn_fused_lstm_cell _thnn_fused_gru_cell ]] }
pointwise { per = 3, result = 0, names = "_weight_norm_interface" }
pointwise { per = 5, result = 1, names = "_weight_norm_interface_backward" }
-- (self, mask, source), (self, index), (grad, mask): what is read and written lies anywhere
pointwise { per = 0, result = 0, names = "masked_scatter masked_scatter_ masked_scatter_backward" }
pointwise { per = 0, result = 1, but = { 0 }, names = "take", examples = {
  { dims = { { 100 }, { 8 } }, types = { "float", "long int" }, flops = 0, bytes = 64 + 64 },
} }
pointwise { per = 1, result = 0, names = "cumsum_ cumprod_ logcumsumexp poisson" }

-- What FSDP hands out to parameters: (self, sizes, ...), at times where it goes
pointwise { per = 0, twice = { 0 }, but = { 3 }, names = "split_with_sizes_copy", examples = {
  { dims = { { 100, 64 }, {}, {}, { { 60, 64 }, { 40, 64 } } }, types = { bf16, "", "Scalar", "TensorList" },
    flops = 0, bytes = 2 * 12800 },
} }
-- (gradient, sizes of the whole, ...)
op {
  like = entry "Movement", names = aten "unfold_backward",
  eval = function (_ENV)
    local whole = counts(value(1))
    if #whole == 0 then fail("the size of the result is not recorded (Concrete Inputs)") end
    num_elems = prod(whole)
    return elems(0), bytes(0) + num_elems * size(0)
  end,
  examples = {
    { dims = { { 8, 5, 4 }, {}, {}, {}, {} }, types = { "float" }, values = { "", "[8, 8]", "1", "4", "1" },
      flops = 160, bytes = 4 * (160 + 64) },
  },
}
-- (gradient, indices, bags, sizes, largest, rows, ...)
op {
  like = entry "Embedding", names = aten "_embedding_bag_dense_backward",
  eval = function (_ENV)
    local row, rows = dim(0, -1), count(value(5))
    num_indices = elems(1)
    return num_indices * row, (num_indices + rows) * row * size(0) + bytes(1) + bytes(2)
  end,
  examples = {
    { dims = { { 32, 64 }, { 320 }, { 320 }, { 32 }, {}, {} },
      types = { "float", "long int", "long int", "long int", "", "Scalar" },
      values = { "", "", "", "", "", "1000" }, flops = 20480, bytes = 1320 * 64 * 4 + 320 * 16 },
  },
}
-- (x, weights of 4 bits, group, scales and zeros (groups, N, 2))
op {
  sheet = "GEMM", unit = "matrix", gemm = true, prec = 0, extra = true, names = aten "_weight_int4pack_mm",
  eval = function (_ENV)
    M = dim(0, 0)
    N = dim(3, 1)
    K = dim(0, 1)
    bias = false
    dtype_A_B = { dtype(0), dtype(1) }
    return 2 * M * N * K, bytes(0) + bytes(1) + bytes(3) + M * N * size(0)
  end,
  examples = {
    { dims = { { 8, 128 }, { 4, 1, 32, 4 }, {}, { 4, 32, 2 } }, types = { bf16, "int", "Scalar", bf16 },
      flops = 2 * 8 * 32 * 128, bytes = 2048 + 2048 + 512 + 512, params = { N = 32 } },
  },
}

-- Statistics over ranks: (x, eps), (x, weight, bias, mean, scale), (grad, x, mean, scale, weight),
-- (grad, x, weight, mean, scale, sums)
local norm = moving "Normalization"
norm { per = 3, names = "batch_norm_stats" }
norm { per = 2, result = 0, names = "batch_norm_elemt", examples = {
  { dims = { { 8, 16, 4, 4 }, { 16 }, { 16 }, { 16 }, { 16 }, {} },
    types = { "float", "float", "float", "float", "float", "Scalar" }, flops = 4096, bytes = 4 * (4096 + 64) },
} }
norm { per = 4, names = "batch_norm_backward_reduce" }
norm { per = 5, result = 0, names = "batch_norm_backward_elemt" }
norm { per = 2, of = 1, names = "batch_norm_gather_stats batch_norm_gather_stats_with_counts" }

-- ---- ordering and counting ----

-- (self, [k,] dimension, ...): one value and its place for each row; of no dimension one for all
local function chosen(names, at)
  op {
    like = entry "Sorting", names = aten(names),
    eval = function (_ENV)
      about(_ENV, 0)
      local d, s = int(value(at), nil), shape(0)
      local rows = 1
      if d and #s > 0 then
        local n = s[axis(d, #s)]
        rows = n > 0 and num_elems // n or 0
      end
      return num_elems, num_elems * size(0) + rows * (size(0) + (d and 8 or 0))
    end,
    examples = {
      { dims = { { 8, 16 }, {}, {}, {} }, types = { "float", "Scalar", "Scalar", "Scalar" },
        values = { "", "1", "1", "False" }, flops = 128, bytes = 4 * 128 + 8 * 12 },
    },
  }
end
chosen("median nanmedian mode", 1)
chosen("kthvalue", 2)
op {
  like = entry "Sorting", names = aten "cummax cummin _cummax_helper _cummin_helper",
  eval = function (_ENV)
    about(_ENV, 0)
    return num_elems, num_elems * (2 * size(0) + 8)
  end,
}
-- (weights of each row, samples, ...)
op {
  like = entry "Sorting", names = aten "multinomial", whole = true,
  eval = function (_ENV)
    about(_ENV, 0)
    local row = dim(0, -1)
    return num_elems, num_elems * size(0) + (row > 0 and num_elems // row or 0) * count(value(1)) * 8
  end,
  examples = {
    { dims = { { 4, 100 }, {}, {} }, types = { "float", "Scalar", "Scalar" },
      values = { "", "1", "False" }, flops = 400, bytes = 1632 },
  },
}

-- ---- pictures ----

-- (self, padding) and (gradient of the padded, self, padding): pair i is of dimension -1 - i
op {
  like = entry "Movement", names = aten "reflection_pad1d reflection_pad2d reflection_pad3d",
  eval = function (_ENV)
    local s, pad = shape(0), list(value(1))
    if #pad == 0 then fail("the padding is not recorded (Concrete Inputs)") end
    for i = 0, #pad // 2 - 1 do
      if not s[#s - i] then fail("more padding than dimensions") end
      s[#s - i] = s[#s - i] + pad[2 * i + 1] + pad[2 * i + 2]
    end
    output_shape = s
    return 0, bytes(0) + prod(s) * size(0)
  end,
  examples = {
    { op = "aten::reflection_pad2d", dims = { { 2, 3, 8, 8 }, {} }, types = { "float", "" },
      values = { "", "[1, 1, 2, 2]" }, flops = 0, bytes = 4 * (384 + 720) },
  },
}
moving "Movement" { per = 1, result = 1, but = { 1 }, names = [[ reflection_pad1d_backward
  reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward
  replication_pad2d_backward replication_pad3d_backward ]], examples = {
    { op = "aten::reflection_pad2d_backward", dims = { { 2, 3, 12, 10 }, { 2, 3, 8, 8 }, {} },
      types = { "float", "float", "" }, flops = 720, bytes = 4 * (720 + 384) },
  } }

-- (x (N, C, ...), grid (N, ..., dimensions), mode, ...): between 2 or 4 or 8 neighbours
local function at_grid(names, x, back, examples)
  op {
    like = entry "Resampling", names = aten(names), prec = x, examples = examples,
    eval = function (_ENV)
      local n = elems(x + 1) // math.max(1, dim(x + 1, -1)) * dim(x, 1)
      input_shape = shape(x)
      num_elems = n
      local per = value(x + 2) == "1" and 1 or 2 ^ (dim(x + 1, -1) + 1) - 1
      local moved = bytes(x) + bytes(x + 1)
      return n * per * (back and 2 or 1), back and 2 * moved + bytes(0) or moved + n * size(x)
    end,
  }
end
at_grid("grid_sampler_2d grid_sampler_3d", 0, false, {
  { op = "aten::grid_sampler_2d", dims = { { 2, 3, 8, 8 }, { 2, 4, 4, 2 }, {}, {}, {} },
    types = { "float", "float", "Scalar", "Scalar", "Scalar" }, values = { "", "", "0", "0", "False" },
    flops = 7 * 96, bytes = 4 * (384 + 64 + 96) },
})
at_grid("grid_sampler_2d_backward grid_sampler_3d_backward", 1, true)

-- ---- spectra: 5 n log2 n of n complex numbers, half of it where one side is real ----

local function spectrum(name, kind, examples)
  op {
    like = entry "Spectrum", names = aten(name), whole = true, examples = examples,
    eval = function (_ENV)
      local dims, s = list(value(1)), shape(0)
      if #dims == 0 then fail("the dimensions are not recorded (Concrete Inputs)") end
      local last = axis(dims[#dims], #s)
      input_shape = shape(0)
      if kind == "c2r" then s[last] = count(value(3)) end
      local n, points = prod(s), 1
      for _, d in ipairs(dims) do points = points * s[axis(d, #s)] end
      if kind == "r2c" and bool(value(3), true) then s[last] = s[last] // 2 + 1 end
      output_shape = s
      local e = kind == "r2c" and 2 * size(0) or kind == "c2r" and size(0) / 2 or size(0)
      return (kind == "c2c" and 5 or 2.5) * n * (points > 1 and math.log(points, 2) or 0),
        bytes(0) + prod(s) * e
    end,
  }
end
spectrum("_fft_r2c", "r2c", {
  { dims = { { 8, 1024 }, {}, {}, {} }, types = { "float", "ScalarList", "Scalar", "Scalar" },
    values = { "", "[1]", "0", "True" }, flops = 2.5 * 8192 * 10, bytes = 4 * 8192 + 8 * 8 * 513,
    spec = "vector_fp32" },
})
spectrum("_fft_c2r", "c2r")
spectrum("_fft_c2c", "c2c", {
  { dims = { { 8, 32, 32 }, {}, {}, {} }, types = { "c10::complex<float>", "ScalarList", "Scalar", "Scalar" },
    values = { "", "[1, 2]", "0", "True" }, flops = 5 * 8192 * 10, bytes = 16 * 8192 },
})

-- ---- recurrent layers: (x (T, B, inputs), weights, ...) ----

local gates = { ["0"] = 1, ["1"] = 1, ["2"] = 4, ["3"] = 3 }
-- at: the argument of the mode; layers: that of their number, two_ways: of the flag
local function recurrent(names, at, layers, two_ways, times, examples)
  op {
    like = entry("Recurrent", "matrix"), names = aten(names), whole = true, examples = examples,
    eval = function (_ENV)
      local g = gates[value(at)] or fail("the mode is not recorded (Concrete Inputs)")
      local ways = bool(value(two_ways), false) and 2 or 1
      hidden_size = count(value(at + 1))
      num_layers = count(value(layers))
      if rank(0) ~= 3 or num_layers < 1 or num_layers > 1000 then fail("no sequence") end
      local inputs, rows, weights = dim(0, 2), dim(0, 0) * dim(0, 1), 0
      for i = 1, num_layers do
        weights = weights + ways * g * hidden_size * (inputs + hidden_size)
        inputs = ways * hidden_size
      end
      _result = rows * inputs
      return times * 2 * rows * weights, times * (bytes(0) + (weights + _result) * size(0))
    end,
  }
end
recurrent("_cudnn_rnn", 6, 9, 13, 1, {
  { dims = { { 16, 8, 32 } }, types = { "float" },
    values = { "", "", "", "", "", "", "2", "64", "0", "2", "False", "0.", "True", "False" },
    flops = 2 * 128 * 4 * 64 * (96 + 128), bytes = 4 * (4096 + 4 * 64 * 224 + 8192),
    spec = "matrix_fp32" },
})
recurrent("miopen_rnn", 5, 7, 11, 1)
recurrent("_cudnn_rnn_backward", 10, 13, 17, 2)
recurrent("miopen_rnn_backward", 10, 12, 16, 2)

-- ---- distances and linear algebra ----

-- (a (..., P, M), b (..., R, M), ...); backward: (gradient, a, b, ...)
local function distances(name, a, per, examples)
  op {
    like = entry "Reduce", names = aten(name), prec = a, examples = examples,
    eval = function (_ENV)
      local r = dim(a + 1, -2)
      num_elems = elems(a) * r
      local pairs = dim(a, -1) > 0 and num_elems // dim(a, -1) or 0
      return per * num_elems, bytes(a) + bytes(a + 1)
        + (a > 0 and bytes(0) + pairs * size(0) + elems(a) * size(a) or pairs * size(a))
    end,
  }
end
distances("_cdist_forward", 0, 3, {
  { dims = { { 10, 8 }, { 20, 8 }, {}, {} }, types = { "float", "float", "Scalar", "" }, flops = 4800,
    bytes = 4 * (80 + 160 + 200) },
})
distances("_cdist_backward", 1, 4)

-- Of a matrix m x n, m >= n, in the last two dimensions; r: columns of a second operand
local function factored(names, cost, second, examples)
  op {
    like = entry("LinearAlgebra", "vector"), names = aten(names), whole = true, examples = examples,
    eval = function (_ENV)
      local m, n = math.max(dim(0, -1), dim(0, -2)), math.min(dim(0, -1), dim(0, -2))
      matrices = m > 0 and n > 0 and elems(0) // (m * n) or 0
      rows = m
      columns = n
      local r = second and has(second) and rank(second) > 1 and dim(second, -1) or 1
      return matrices * cost(m, n, r),
        bytes(0) + (second and 2 * bytes(second) or elems(0) * size(0))
    end,
  }
end
factored("linalg_cholesky_ex cholesky", function (_, n) return n ^ 3 / 3 end, nil, {
  { op = "aten::linalg_cholesky_ex", dims = { { 4, 30, 30 } }, types = { "float" }, flops = 36000,
    bytes = 28800 },
})
factored("linalg_lu_factor_ex", function (m, n) return m * n ^ 2 - n ^ 3 / 3 end)
factored("linalg_inv_ex", function (_, n) return 2 * n ^ 3 end)
factored("linalg_qr", function (m, n) return 2 * m * n ^ 2 - 2 * n ^ 3 / 3 end)
factored("_linalg_svd", function (m, n) return 4 * m * n ^ 2 - 4 * n ^ 3 / 3 end)
factored("_linalg_eigh", function (_, n) return 4 * n ^ 3 / 3 end)
factored("_linalg_solve_ex", function (_, n, r) return 2 * n ^ 3 / 3 + 2 * n ^ 2 * r end, 1)
factored("linalg_solve_triangular", function (_, n, r) return n ^ 2 * r end, 1, {
  { dims = { { 4, 30, 30 }, { 4, 30, 5 } }, types = { "float", "float" }, flops = 4 * 4500,
    bytes = 4 * (3600 + 1200) },
})
factored("linalg_lu_solve", function (_, n, r) return 2 * n ^ 2 * r end, 2)

-- ---- optimizers: passes over all values ----

-- (values, gradients, momenta, ...) and (values, gradients, sums, ...)
local function optimizer(name, flops, passes)
  op {
    sheet = "Optimizer", unit = "vector", extra = true, names = aten(name),
    eval = function (_ENV)
      if not has(0) then fail("the trace has no shapes of the list of tensors") end
      num_elems = elems(0)
      local kept = nargs() > 2 and has(2)
      return (kept and flops or 2) * num_elems, (kept and passes or 3) * num_elems * size(0, 4),
        size(0) ~= size(0) and "float" or nil
    end,
    examples = {
      { dims = { { { 8, 16 }, { 4 } }, { { 8, 16 }, { 4 } }, {} },
        types = { "TensorList", "TensorList", "TensorList" }, flops = 264, bytes = 3 * 132 * 4 },
    },
  }
end
optimizer("_fused_sgd_", 4, 5)
optimizer("_fused_adagrad_", 6, 5)

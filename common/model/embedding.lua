-- SPDX-License-Identifier: MIT
-- Embedding bags of recommenders, PyTorch's and FBGEMM's: not in the reference.
-- Rows of weights are looked up and summed, a bag each. How often an index comes
-- twice isn't recorded: each counts as a row of its own, but in an update no row
-- more than once. FBGEMM's tables lie one after another in one tensor; a row's
-- length is the mean of the tables' (total_D is their sum), as if the indices
-- were spread evenly over them.

local bf16 = "c10::BFloat16"
local base = { sheet = "Embedding", unit = "vector", extra = true }

-- (weight, indices, offsets, ...): result, and for each index its bag
op {
  like = base, prec = 0,
  names = { "aten::_embedding_bag", "aten::_embedding_bag_forward_only" },
  eval = function (_ENV)
    num_indices = elems(1)
    num_bags = has(2) and elems(2) or dim(1, 0)
    row = dim(0, -1)
    return num_indices * row,
      (num_indices + num_bags) * row * size(0) + bytes(1, 8)
        + (has(2) and bytes(2, 8) or 0)
  end,
  examples = {
    { op = "aten::_embedding_bag", dims = { { 1000, 64 }, { 320 }, { 32 } },
      types = { bf16, "long int", "long int" }, flops = 20480,
      bytes = (320 + 32) * 64 * 2 + 320 * 8 + 32 * 8 },
  },
}

-- Which arguments have the weights (the first that has elements tells their
-- type), where a table's row ends, the sum of the rows' lengths, indices,
-- offsets, a weight for each index, and the optimiser's state.
local split = { weights = { 1, 2, 0 }, ends = 6, total = 7, indices = 11, offsets = 12,
  scales = 14, state = 20 }
local dense = { weights = { 0 }, ends = 2, total = 3, indices = 7, offsets = 8, scales = 10 }

local function weights_of(at)
  local sum, arg = 0, nil
  for _, i in ipairs(at.weights) do
    if elems(i) > 0 then
      sum, arg = sum + elems(i), arg or i
    end
  end
  return sum, arg or at.weights[1]
end

-- The sizes that the arguments tell.
local function sizes(_ENV, at)
  num_tables = math.max(1, dim(at.ends, 0) - 1)
  num_indices = elems(at.indices)
  num_bags = math.max(0, dim(at.offsets, 0) - 1)
  is_weighted = has(at.scales)
end

-- The gradient of the result: (batch, total_D), or a row for each index.
local function gradient(_ENV)
  if rank(0) ~= 2 then
    fail("the backward op's gradient is no matrix")
  end
  return dim(0, 0), dim(0, 1), size(0, 4)
end

-- Whether a gradient of so many rows is that of bags.
local function is_pooled(_ENV, rows)
  if rows * num_tables == num_bags then
    return true
  end
  return rows ~= num_indices and fail("the linked ops are not of one lookup")
end

-- total_D, whether rows are summed up, and bytes of a number of the result.
local function result_of(_ENV, at)
  local total = count(value(at.total), nil)
  if total then
    return total, true, 4
  end
  if not has_backward() then
    fail("total_D is not recorded (Concrete Inputs), nor is there a backward op")
  end
  local rows, row, e = in_backward(gradient, _ENV)
  local pooled = is_pooled(_ENV, rows)
  return pooled and row or row * num_tables, pooled, e
end

local function lookup(at)
  return function (_ENV)
    sizes(_ENV, at)
    local total, pooled, e = result_of(_ENV, at)
    total_D = total
    local row, _, arg = total / num_tables, weights_of(at)
    return pooled and num_indices * row * (is_weighted and 2 or 1) or 0,
      num_indices * row * size(arg) + (pooled and num_bags or num_indices) * row * e
        + num_indices * size(at.indices, 8) + bytes(at.offsets, 8)
        + (is_weighted and bytes(at.scales) or 0),
      dtype(arg)
  end
end

local name = "fbgemm::split_embedding_codegen_lookup_adagrad_function"
-- 2 tables of rows of 16, 256 in all: 100 indices in 32 bags
local dims = { { 0 }, { 4096 }, { 0 }, { 0, 0 }, { 2 }, { 2 }, { 3 }, {}, {}, { 3 }, {}, { 100 }, { 33 } }
local types = { "float", "c10::Half", "c10::Half", "c10::Half", "int", "long", "int", "Scalar",
  "Scalar", "long", "Scalar", "long", "long" }
local function with(list, more)
  local all = { table.unpack(list) }
  for _, v in ipairs(more) do
    all[#all + 1] = v
  end
  return all
end
-- a weight for each index
local weighted = { op = name, dims = with(dims, { {}, { 100 } }), types = with(types, { "", "float" }) }
-- rows of tables in the host's memory, fewer of them than indices
local few = { op = name, dims = with({ { 0 }, { 0 }, { 512 } }, { table.unpack(dims, 4) }),
  types = types }

op {
  like = base, reads = { "backward" }, globs = { "fbgemm::split_embedding_codegen_lookup_*" },
  eval = lookup(split),
  examples = {
    { op = name, dims = dims, types = types, values = { "", "", "", "", "", "", "", "32" },
      flops = 1600, bytes = 1600 * 2 + 32 * 16 * 4 + 133 * 8, spec = "vector_fp16",
      params = { total_D = 32, num_tables = 2, is_weighted = false } },
    { op = name, dims = dims, types = types,
      backward = { op = "x", dims = { { 16, 32 } }, types = { "c10::Half" } },
      flops = 1600, bytes = 1600 * 2 + 32 * 16 * 2 + 133 * 8, params = { total_D = 32 } },
    -- a row for each index
    { op = name, dims = dims, types = types,
      backward = { op = "x", dims = { { 100, 16 } }, types = { "float" } },
      flops = 0, bytes = 1600 * 2 + 1600 * 4 + 133 * 8, params = { total_D = 32 } },
    { op = name, dims = weighted.dims, types = weighted.types,
      backward = { op = "x", dims = { { 16, 32 } }, types = { "float" } },
      flops = 3200, bytes = 1600 * 2 + 32 * 16 * 4 + 133 * 8 + 400 },
    { op = name, dims = dims, types = types,
      backward = { op = "x", dims = { { 17, 32 } }, types = { "float" } }, status = "failed" },
    { op = name, dims = dims, types = types, status = "failed" },
  },
}
op {
  like = base, reads = { "backward" }, names = { "fbgemm::dense_embedding_codegen_lookup_function" },
  eval = lookup(dense),
  examples = {
    { op = "fbgemm::dense_embedding_codegen_lookup_function",
      dims = { { 112 }, { 2 }, { 3 }, {}, {}, { 3 }, {}, { 32 }, { 33 } },
      types = { "float", "long", "int", "", "", "long", "", "long", "long" },
      backward = { op = "x", dims = { { 16, 32 } }, types = { "float" } },
      flops = 512, bytes = 512 * 4 + 512 * 4 + 65 * 8, spec = "vector_fp32" },
  },
}

-- Its argument is the gradient of the result. Each row that is looked up is read
-- and written, with the optimiser's state: a number of each element or row.
local function update(_ENV, at, states, rows, columns)
  if not op_name():find("embedding_codegen_lookup", 1, true) then
    fail("the linked forward op is no lookup")
  end
  sizes(_ENV, at)
  local pooled = is_pooled(_ENV, rows)
  total_D = pooled and columns or columns * num_tables
  local row, all, arg = total_D / num_tables, weights_of(at)
  local touched, e = math.min(num_indices * row, all), size(arg)
  local sums = num_indices * row * (is_weighted and 2 or 1)
  -- the weights of indices are read, and have gradients
  local bytes = num_indices * size(at.indices, 8)
    + (is_weighted and 2 * bytes(at.scales) or 0)
  if states == 0 then
    return sums, bytes + all * e, dtype(arg)
  end
  local state = states ~= 1 and touched or math.min(num_indices,
    has(at.state) and elems(at.state) > 0 and elems(at.state) or touched / row)
  return sums + 3 * touched, bytes + 2 * touched * e + 2 * state * 4, dtype(arg)
end

local function backward(at, states)
  return function (_ENV)
    local rows, columns, e = gradient(_ENV)
    local f, b, t = in_forward(update, _ENV, at, states, rows, columns)
    return f, b + rows * columns * e, t
  end
end

op {
  like = base, reads = { "forward" }, globs = { "torch::autograd::CppNode<SplitLookupFunction_*" },
  eval = backward(split, 2),
  examples = {
    { op = "torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>", dims = { { 16, 32 } },
      types = { "float" }, forward = { op = name, dims = dims, types = types },
      flops = 6400, bytes = 16 * 32 * 4 + 1600 * (2 * 2 + 2 * 4) + 800 },
    { op = "torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>", dims = { { 16, 32 } },
      types = { "float" }, forward = few,
      flops = 1600 + 3 * 512, bytes = 16 * 32 * 4 + 512 * (2 * 2 + 2 * 4) + 800 },
  },
}
op {
  like = base, reads = { "forward" },
  globs = { "torch::autograd::CppNode<SplitLookupFunction_rowwise*" },
  eval = backward(split, 1),
  examples = {
    -- of each of 100 indices a row of 16 halves and one float, read and written
    { op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
      dims = { { 16, 32 } }, types = { "float" },
      forward = { op = name, dims = dims, types = types }, flops = 6400,
      bytes = 16 * 32 * 4 + 100 * (2 * 16 * 2 + 8) + 800, spec = "vector_fp16" },
    { op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
      dims = { { 16, 32 } }, types = { "float" }, forward = weighted, flops = 3200 + 4800,
      bytes = 16 * 32 * 4 + 100 * (2 * 16 * 2 + 8) + 800 + 800 },
    { op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
      dims = { { 15, 32 } }, types = { "float" },
      forward = { op = name, dims = dims, types = types }, status = "failed" },
    { op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
      dims = { { 16, 32 } }, types = { "float" }, status = "failed" },
  },
}
-- Without an optimiser the gradient of all weights is written.
op {
  like = base, reads = { "forward" },
  globs = { "torch::autograd::CppNode<SplitLookupFunction_Dense*" },
  eval = backward(dense, 0),
  examples = {
    { op = "torch::autograd::CppNode<SplitLookupFunction_Dense_Op>", dims = { { 16, 32 } },
      types = { "float" },
      forward = { op = "fbgemm::dense_embedding_codegen_lookup_function",
        dims = { { 112 }, { 2 }, { 3 }, {}, {}, { 3 }, {}, { 32 }, { 33 } },
        types = { "float", "long", "int", "", "", "long", "", "long", "long" } },
      flops = 512, bytes = 16 * 32 * 4 + 112 * 4 + 32 * 8 },
  },
}

-- ---- sparse features: lengths of bags and what is in them ----

-- (order, lengths (features, batch), values, weights or none, ...)
op {
  like = base, prec = 2,
  names = { "fbgemm::permute_2D_sparse_data", "fbgemm::permute_sparse_features" },
  eval = function (_ENV)
    num_values = elems(2)
    local out = dim(0, 0) * dim(1, -1)
    return 0, bytes(0) + (elems(1) + out) * size(1) + 2 * num_values * size(2)
      + (has(3) and 2 * bytes(3) or 0)
  end,
  examples = {
    { op = "fbgemm::permute_2D_sparse_data", dims = { { 24 }, { 24, 16 }, { 768 }, {}, {} },
      types = { "int", "int", "int", "", "Scalar" }, flops = 0,
      bytes = 4 * (24 + 2 * 384 + 2 * 768) },
  },
}
op {
  like = base, prec = 0,
  names = { "fbgemm::asynchronous_complete_cumsum", "fbgemm::asynchronous_inclusive_cumsum",
    "fbgemm::asynchronous_exclusive_cumsum" },
  eval = function (_ENV)
    num_values = elems(0)
    return num_values, 2 * num_values * size(0)
  end,
}
-- (rows of each table, indices, offsets, ...): read only, unless one is bad
op {
  like = base, prec = 1, names = { "fbgemm::bounds_check_indices" },
  eval = function (_ENV)
    num_values = elems(1)
    return num_values, bytes(0) + bytes(1) + bytes(2)
  end,
}
-- (batch, all embeddings): whole rows change their places
op {
  like = base, prec = 0,
  names = { "fbgemm::permute_pooled_embs", "fbgemm::permute_pooled_embs_auto_grad" },
  globs = { "torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction*" },
  eval = function (_ENV)
    num_values = elems(0)
    return 0, 2 * num_values * size(0)
  end,
}

-- (values, offsets, ...): between sequences end to end and rows that are padded
op {
  like = base, prec = 0,
  names = { "fbgemm::jagged_to_padded_dense", "fbgemm::jagged_to_padded_dense_forward",
    "fbgemm::jagged_2d_to_dense", "fbgemm::jagged_1d_to_dense", "fbgemm::dense_to_jagged",
    "aten::_jagged_to_padded_dense_forward", "aten::_padded_dense_to_jagged_forward" },
  eval = function (_ENV)
    num_values = elems(0)
    return 0, 2 * bytes(0)
  end,
}
-- Inference: (weights in bytes, ..., where rows end (5), total_D, the longest row of 2, 4, 8 bits,
-- halves, floats (7 to 11), indices, offsets, mode, weights of indices, ...). Tables of one type
-- alone can be told; rows that are packed have a scale and a bias of 2 bytes.
op {
  like = base, names = { "fbgemm::int_nbit_split_embedding_codegen_lookup_function" },
  eval = function (_ENV)
    local bits = nil
    for i, b in ipairs { 2, 4, 8, 16, 32 } do
      if int(value(6 + i), 0) > 0 then bits = bits and fail("tables of several types") or b end
    end
    if not bits then fail("the tables' type is not recorded (Concrete Inputs)") end
    num_tables = math.max(1, dim(5, 0) - 1)
    num_indices = elems(12)
    num_bags = math.max(0, dim(13, 0) - 1)
    total_D = count(value(6))
    local row = total_D / num_tables
    return num_indices * row * (has(15) and 2 or 1),
      num_indices * (row * bits / 8 + (bits < 16 and 4 or 0)) + num_bags * row * 2 + bytes(12) + bytes(13)
        + (has(15) and bytes(15) or 0), "c10::Half"
  end,
  examples = {
    { dims = { { 4096 }, { 0 }, { 2 }, { 2 }, { 2 }, { 3 }, {}, {}, {}, {}, {}, {}, { 100 }, { 33 } },
      types = { "unsigned char", "unsigned char", "int", "long int", "unsigned char", "int", "Scalar", "Scalar",
        "Scalar", "Scalar", "Scalar", "Scalar", "int", "int" },
      values = { "", "", "", "", "", "", "32", "0", "0", "16", "0", "0" }, flops = 1600,
      bytes = 100 * 20 + 32 * 16 * 2 + 4 * 133, spec = "vector_fp16" },
  },
}

-- ---- rows in 8 bits, of which the rowwise have two floats behind them ----

local function quantise(names, per_element, bytes)
  op {
    like = base, prec = 0, names = names,
    eval = function (_ENV)
      num_values = elems(0)
      return per_element * num_values, bytes()
    end,
  }
end
quantise({ "fbgemm::FloatToFP8RowwiseQuantized", "fbgemm::FloatToFused8BitRowwiseQuantized" }, 2,
  function () return elems(0) * (size(0) + 1) + elems(0) // math.max(1, dim(0, -1)) * 8 end)
quantise({ "fbgemm::FP8RowwiseQuantizedToFloat", "fbgemm::Fused8BitRowwiseQuantizedToFloat" }, 2,
  function () return elems(0) * 5 - elems(0) // math.max(1, dim(0, -1)) * 32 end)
quantise({ "fbgemm::FloatToHFP8Quantized" }, 2, function () return elems(0) * 5 end)
quantise({ "fbgemm::HFP8QuantizedToFloat" }, 2, function () return elems(0) * 5 end)

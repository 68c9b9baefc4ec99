-- SPDX-License-Identifier: MIT
-- Embedding bags of recommenders, PyTorch's and FBGEMM's: not in the reference.
-- Rows of weights are looked up and summed, a bag each. How often an index comes
-- twice isn't recorded: each counts as a row of its own. FBGEMM's tables lie one
-- after another in one tensor; a row's length is the mean of the tables' (total_D
-- is their sum), as if the indices were spread evenly over them.

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
      (num_indices + num_bags) * row * size(0) + elems(1) * size(1, 8)
        + (has(2) and elems(2) * size(2, 8) or 0)
  end,
  examples = {
    { op = "aten::_embedding_bag", dims = { { 1000, 64 }, { 320 }, { 32 } },
      types = { bf16, "long int", "long int" }, flops = 20480,
      bytes = (320 + 32) * 64 * 2 + 320 * 8 + 32 * 8 },
  },
}

-- Which arguments have the weights, where a table's row ends, the sum of the
-- rows' lengths, indices and offsets.
local split = { weights = 1, ends = 6, total = 7, indices = 11, offsets = 12 }
local dense = { weights = 0, ends = 2, total = 3, indices = 7, offsets = 8 }

local function tables_of(at) return math.max(1, dim(at.ends, 0) - 1) end

-- The length of a table's rows, in the mean.
local function row_of(at, total) return total / tables_of(at) end

local function lookup(at)
  return function (_ENV)
    local total = int(value(at.total), nil) or fail("total_D is not recorded (Concrete Inputs)")
    num_tables = tables_of(at)
    num_indices = elems(at.indices)
    num_bags = math.max(0, dim(at.offsets, 0) - 1)
    total_D = total
    local row, e = row_of(at, total), size(at.weights)
    return num_indices * row,
      num_indices * row * e + num_bags * row * 4
        + num_indices * size(at.indices, 8) + elems(at.offsets) * size(at.offsets, 8),
      dtype(at.weights)
  end
end

local example = { op = "fbgemm::split_embedding_codegen_lookup_adagrad_function",
  dims = { { 0 }, { 4096 }, { 0 }, { 0, 0 }, { 2 }, { 2 }, { 3 }, {}, {}, { 3 }, {}, { 100 }, { 33 } },
  types = { "float", "c10::Half", "c10::Half", "c10::Half", "int", "long", "int", "Scalar", "Scalar",
    "long", "Scalar", "long", "long" },
}
op {
  like = base, prefix = { "fbgemm::split_embedding_codegen_lookup_" }, eval = lookup(split),
  examples = {
    -- 2 tables of rows of 16: 100 indices in 32 bags
    { op = "fbgemm::split_embedding_codegen_lookup_adagrad_function", dims = example.dims,
      types = example.types, values = { "", "", "", "", "", "", "", "32" }, flops = 1600,
      bytes = 1600 * 2 + 32 * 16 * 4 + 133 * 8, spec = "vector_fp16" },
    { op = "fbgemm::split_embedding_codegen_lookup_adagrad_function", dims = example.dims,
      types = example.types, status = "failed" },
  },
}
op {
  like = base, names = { "fbgemm::dense_embedding_codegen_lookup_function" }, eval = lookup(dense),
}

-- Its argument is the gradient of the bags, (batch, total_D). Each index' row is
-- read and written, with the optimiser's state: a number of each element or row.
local function update(_ENV, at, states)
  if not op_name():find("embedding_codegen_lookup", 1, true) then
    fail("the linked forward op is no lookup")
  end
  num_tables = tables_of(at)
  num_indices = elems(at.indices)
  local row, e = row_of(at, total_D), size(at.weights)
  return num_indices * row * (1 + 3 * (states == 0 and 0 or 1)),
    states == 0 and elems(at.weights) * e
      or num_indices * (2 * row * e + 2 * 4 * (states == 1 and 1 or row)),
    dtype(at.weights)
end

local function backward(at, states)
  return function (_ENV)
    total_D = dim(0, -1)
    local grads = elems(0) * size(0)
    local f, b, t = in_forward(update, _ENV, at, states)
    return f, b + grads + num_indices * 8, t
  end
end

op {
  like = base, reads = { "forward" }, prefix = { "torch::autograd::CppNode<SplitLookupFunction_" },
  eval = backward(split, 2),
}
op {
  like = base, reads = { "forward" },
  prefix = { "torch::autograd::CppNode<SplitLookupFunction_rowwise" },
  eval = backward(split, 1),
  examples = {
    -- of each of 100 indices a row of 16 halves and one float, read and written
    { op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
      dims = { { 16, 32 } }, types = { "float" }, forward = example, flops = 6400,
      bytes = 16 * 32 * 4 + 100 * (2 * 16 * 2 + 8) + 800, spec = "vector_fp16" },
    { op = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>",
      dims = { { 16, 32 } }, types = { "float" }, status = "failed" },
  },
}
-- Without an optimiser the gradient of all weights is written.
op {
  like = base, reads = { "forward" },
  prefix = { "torch::autograd::CppNode<SplitLookupFunction_Dense" },
  eval = backward(dense, 0),
}

-- ---- sparse features: lengths of bags and what is in them ----

-- (order, lengths (features, batch), values, weights or none, ...)
op {
  like = base, prec = 2,
  names = { "fbgemm::permute_2D_sparse_data", "fbgemm::permute_sparse_features" },
  eval = function (_ENV)
    num_values = elems(2)
    local out = dim(0, 0) * dim(1, -1)
    return 0, elems(0) * size(0) + (elems(1) + out) * size(1) + 2 * num_values * size(2)
      + (has(3) and 2 * elems(3) * size(3) or 0)
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
    return num_values, elems(0) * size(0) + elems(1) * size(1) + elems(2) * size(2)
  end,
}
-- (batch, all embeddings): whole rows change their places
op {
  like = base, prec = 0,
  names = { "fbgemm::permute_pooled_embs", "fbgemm::permute_pooled_embs_auto_grad" },
  prefix = { "torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction" },
  eval = function (_ENV)
    num_values = elems(0)
    return 0, 2 * num_values * size(0)
  end,
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

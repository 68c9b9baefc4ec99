-- SPDX-License-Identifier: MIT
-- Reductions over some dimensions, and running sums.

local bf16 = "c10::BFloat16"

-- What remains of a shape without the dimensions of a text ("[0]", "-1", "").
local function remaining(s, text)
  local gone, out, dims = {}, 1, list(text)
  for _, d in ipairs(dims) do
    if type(d) ~= "number" or d ~= math.floor(d) then fail("'" .. text .. "' is no dimension") end
    gone[#s > 0 and axis(d, #s)] = true
  end
  if #dims == 0 then return 1 end
  for i = 1, #s do
    if not gone[i] then out = out * s[i] end
  end
  return out
end

local kinds = { "mean", "max", "min", "norm" }
local function kind(name)
  for _, k in ipairs(kinds) do
    if contains(name, k) then return k end
  end
  return "sum"
end

-- Where the dimensions and the result's type stand. Calls for all of a tensor
-- have another argument in the dimensions' place: a type, or std's and var's
-- unbiased.
local function places(at, dtype_at)
  local text = at and value(at) or ""
  local is_all = at and nargs() == at + 1 and not starts(text, "[")
  if is_all and int(text, nil) then return nil, at, true end
  if is_all and bool(text, nil) ~= nil then return nil, nil, true end
  return at, dtype_at
end

-- at: the argument with the dimensions; without one as many results as elements
local function reduce(_ENV, at, dtype_at, more)
  if nargs() == 0 then
    num_input_elems = 0
    num_output_elems = 0
    dtype_in_out = tuple(nil, nil)
    return 0, unknown
  end
  local dims, out, is_all = places(at, dtype_at)
  num_input_elems = elems(0)
  num_output_elems = is_all and 1 or dims and remaining(shape(0), value(dims)) or num_input_elems
  dtype_in_out = tuple(dtype(0), nil)
  reduce_type = kind(op_name())
  _out_size = out and scalar_types[int(value(out), -1)] or size(0)
  return num_input_elems,
    bytes(0) + writes(num_output_elems * _out_size, outs(at or 1)) + (more or 0)
end

local function same(_ENV)
  if nargs() == 0 then return 0, unknown end
  return num_input_elems,
    bytes(0) + num_output_elems * (_out_size or size(0))
end
local base = { category = "reduce", sheet = "Reduce", unit = "vector", prec = 0 }

op {
  like = base, backward = same,
  names = { "aten::sum", "aten::mean" },
  eval = function (_ENV) return reduce(_ENV, 1, 3) end,
  examples = {
    { op = "aten::sum", dims = { { 10, 1000 }, {}, {}, {} },
      types = { bf16, "ScalarList", "Scalar", "" }, values = { "", "[0]", "True", "" },
      flops = 10000, bytes = 22000, written = 2000, unread = {}, params = { num_output_elems = 1000, reduce_type = "sum" } },
    { op = "aten::mean", dims = { { 1, 256, 4096 }, {} }, types = { "float", "ScalarList" },
      values = { "", "[-1]" }, flops = 1048576, bytes = 4195328 },
    { op = "aten::sum", dims = { { 3, 4 }, {} }, types = { "float", "" }, values = { "", "" },
      flops = 12, bytes = 4 * 13 },
    { op = "aten::sum", dims = { { 3, 4 }, {}, {}, {}, { 4 } }, values = { "", "[0]", "False", "", "" },
      types = { "float", "ScalarList", "Scalar", "", "float" }, bytes = 4 * 16, unread = { 4 } },
    -- halves in, floats out; all of them
    { op = "aten::sum", dims = { { 10, 1000 }, {}, {}, {} },
      types = { bf16, "ScalarList", "Scalar", "Scalar" }, values = { "", "[0]", "False", "6" },
      flops = 10000, bytes = 20000 + 4000 },
    { op = "aten::sum", dims = { { 10, 1000 }, {} }, types = { bf16, "Scalar" },
      values = { "", "6" }, flops = 10000, bytes = 20004, params = { num_output_elems = 1 } },
    { op = "aten::sum", flops = 0, bytes = "unknown", params = { num_input_elems = 0 } },
    { op = "aten::sum", dims = { { 10, 1000 }, {}, {}, {} },
      types = { bf16, "ScalarList", "Scalar", "Scalar" }, values = { "", "[0]", "False", "6" },
      backward = true, flops = 10000, bytes = 20000 + 4000 },
  },
}
op {
  like = base, backward = same,
  names = { "aten::std", "aten::var", "aten::logsumexp", "aten::amin", "aten::amax" },
  eval = function (_ENV) return reduce(_ENV, 1) end,
  examples = {
    { op = "aten::std", dims = { { 3, 4 }, {} }, types = { "float", "Scalar" },
      values = { "", "True" }, flops = 12, bytes = 4 * 13 },
    { op = "aten::var", dims = { { 3, 4 }, {}, {}, {} }, types = { "float", "ScalarList", "", "" },
      values = { "", "[1]", "1", "False" }, flops = 12, bytes = 4 * 15 },
    { op = "aten::amax", dims = { { 3, 4 }, {}, {} }, types = { "float", "ScalarList", "" },
      values = { "", "[]", "False" }, flops = 12, bytes = 4 * 13 },
  },
}

-- (self, p, dim, ...)
op {
  like = base, backward = same,
  names = { "aten::norm", "aten::linalg_norm" },
  eval = function (_ENV) return reduce(_ENV, 2, 4) end,
  examples = {
    { op = "aten::norm", dims = { { 3, 4 }, {}, {}, {} },
      types = { bf16, "Scalar", "ScalarList", "Scalar" }, values = { "", "2", "[1]", "False" },
      flops = 12, bytes = 2 * 15 },
    { op = "aten::norm", dims = { { 3, 4 }, {}, {} }, types = { bf16, "Scalar", "Scalar" },
      values = { "", "2", "6" }, flops = 12, bytes = 24 + 4 },
  },
}

-- A second tensor makes it pointwise; a dimension adds the indices.
op {
  like = base, backward = same,
  names = { "aten::max", "aten::min" },
  eval = function (_ENV)
    if nargs() > 1 and has(1) then
      num_input_elems = elems(0) + elems(1)
      num_output_elems = prod(broadcast(shape(0), shape(1)))
      dtype_in_out = tuple(dtype(0), nil)
      reduce_type = kind(op_name())
      local a, b = size(0), size(1)
      _out_size = (a ~= a or b ~= b) and unknown or math.max(a, b)
      return num_output_elems,
        elems(0) * a + elems(1) * b + writes(num_output_elems * _out_size, outs(2))
    end
    local f, b = reduce(_ENV, 1)
    return f, nvalues() > 1 and value(1) ~= "" and b + 8 * num_output_elems or b
  end,
  examples = {
    { op = "aten::max", dims = { { 8, 16 } }, types = { "float" }, values = { "" }, flops = 128,
      bytes = 4 * 129 },
    { op = "aten::max", dims = { { 8, 16 }, {}, {} }, types = { "float", "Scalar", "Scalar" },
      values = { "", "1", "False" }, flops = 128, bytes = 4 * (128 + 8) + 64,
      params = { reduce_type = "max" } },
    { op = "aten::max", dims = { { 8, 1 }, { 16 } }, types = { bf16, "float" }, flops = 128,
      bytes = 16 + 64 + 512, written = 512, unread = {} },
  },
}

op {
  like = base, backward = same,
  names = { "aten::cumsum", "aten::cumprod" },
  eval = function (_ENV) return reduce(_ENV, nil, 2) end,
  examples = {
    { op = "aten::cumsum", dims = { { 15 }, {}, {} }, types = { "long int", "Scalar", "" },
      values = { "", "0", "" }, flops = 15, bytes = 240, spec = "" },
  },
}

-- ---- not in the reference ----

local more = { sheet = "Reduce", unit = "vector", prec = 0, extra = true }

op {
  like = more,
  names = { "aten::any", "aten::all" },
  eval = function (_ENV)
    local f = reduce(_ENV, 1)
    return f, num_input_elems * size(0) + writes(num_output_elems, outs(1))
  end,
  examples = {
    { op = "aten::any", dims = { { 512, 8 }, {}, {} }, types = { "float", "Scalar", "Scalar" },
      values = { "", "0", "False" }, flops = 4096, bytes = 4 * 4096 + 8, written = 8 },
  },
}
op {
  like = more, names = { "aten::prod", "aten::nansum" },
  eval = function (_ENV) return reduce(_ENV, 1, 3) end,
}
op {
  like = more, names = { "aten::linalg_vector_norm" },
  eval = function (_ENV) return reduce(_ENV, 2, 4) end,
  examples = {
    { op = "aten::linalg_vector_norm", dims = { { 512, 512 }, {}, {}, {}, {} },
      types = { "float", "Scalar", "ScalarList", "Scalar", "" },
      values = { "", "2", "[]", "False", "" }, flops = 262144, bytes = 4 * 262145 },
  },
}
op {
  like = more,
  names = { "aten::argmax", "aten::argmin" },
  eval = function (_ENV)
    local f = reduce(_ENV, 1)
    return f, num_input_elems * size(0) + writes(8 * num_output_elems, outs(1))
  end,
}

-- Two results: (self, dims, ...); of aminmax one dimension
op {
  like = more,
  names = { "aten::var_mean", "aten::std_mean", "aten::aminmax" },
  eval = function (_ENV)
    local f, b = reduce(_ENV, 1)
    return f, nargs() > 0 and b + num_output_elems * size(0) or b
  end,
  examples = {
    { op = "aten::var_mean", dims = { { 8, 64 }, {}, {}, {} }, types = { "float", "ScalarList" },
      values = { "", "[1]", "0", "True" }, flops = 512, bytes = 4 * (512 + 2 * 8) },
    { op = "aten::aminmax", dims = { { 8, 64 }, {}, {} }, types = { "float", "", "Scalar" },
      values = { "", "", "False" }, flops = 512, bytes = 4 * 514 },
  },
}

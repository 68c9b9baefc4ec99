-- SPDX-License-Identifier: MIT
-- Ordering, searching and sequences: not in the reference. Comparisons count as
-- operations. Where the size of a result is not known before it is computed
-- (nonzero), only what is read is counted: the least that has to move.

local bf16 = "c10::BFloat16"
local base = { sheet = "Sorting", unit = "vector", prec = 0, extra = true }

-- Bits of n - 1: the comparisons that sort one of n.
local function log2_up(n)
  local bits = 0
  while 2 ^ bits < n do bits = bits + 1 end
  return bits
end

-- Length of the dimension in argument i, the last one unless it is told.
local function length(i)
  if not has_values() then fail("which dimension is not recorded (Concrete Inputs)") end
  local s, d = shape(0), int(value(i), -1)
  if #s == 0 then return 1 end
  return s[axis(d, #s)]
end

-- (self, k, dim, ...): values and their places
op {
  like = base, names = aten "topk",
  eval = function (_ENV)
    num_elems = elems(0)
    k = count(value(1))
    dtype_in = dtype(0)
    local n = length(2)
    local out = n > 0 and num_elems // n * k or 0
    return num_elems, num_elems * size(0) + out * (size(0) + 8)
  end,
  examples = {
    { dims = { { 8, 128 }, {}, {} }, types = { bf16, "Scalar", "Scalar" },
      values = { "", "4", "-1" }, flops = 1024, bytes = 2048 + 32 * 10, params = { k = 4 } },
  },
}

-- (self, [stable,] dim, ...): values and their places
op {
  like = base, names = aten "sort msort",
  eval = function (_ENV)
    about(_ENV, 0)
    local at = (value(1) == "True" or value(1) == "False" or value(1) == "") and nvalues() > 3 and 2 or 1
    return num_elems * log2_up(length(at)), num_elems * (2 * size(0) + 8)
  end,
  examples = {
    { op = "aten::sort", dims = { { 8, 128 }, {}, {} }, types = { "float", "Scalar", "Scalar" },
      values = { "", "-1", "False" }, flops = 1024 * 7, bytes = 1024 * 16 },
    { op = "aten::sort", dims = { { 128, 8 }, {}, {}, {} },
      types = { "float", "Scalar", "Scalar", "Scalar" }, values = { "", "False", "0", "False" },
      flops = 1024 * 7, bytes = 1024 * 16 },
  },
}
op {
  like = base, names = aten "argsort",
  eval = function (_ENV)
    about(_ENV, 0)
    return num_elems * log2_up(length(1)), num_elems * (size(0) + 8)
  end,
}

-- Results of a size that depends on the values.
op {
  like = base,
  names = aten "nonzero masked_select _unique2 _unique unique_consecutive unique_dim bincount histc",
  eval = function (_ENV)
    about(_ENV, 0)
    return num_elems, num_elems * size(0) + (has(1) and bytes(1) or 0)
  end,
  examples = {
    { op = "aten::nonzero", dims = { { 4 } }, types = { "bool" }, flops = 4, bytes = 4 },
    { op = "aten::masked_select", dims = { { 8, 16 }, { 8, 16 } }, types = { "float", "bool" },
      flops = 128, bytes = 512 + 128 },
  },
}

-- searchsorted(sorted, values), bucketize(values, sorted): places
local function search(sorted, values)
  return function (_ENV)
    num_elems = elems(values)
    dtype_in = dtype(values)
    return num_elems * log2_up(dim(sorted, -1) + 1),
      bytes(sorted) + num_elems * (size(values) + 8)
  end
end
op {
  like = base, names = aten "searchsorted", eval = search(0, 1),
  examples = {
    { dims = { { 127 }, { 10 } }, types = { "float", "float" }, flops = 70, bytes = 508 + 120 },
  },
}
op { like = base, names = aten "bucketize", eval = search(1, 0) }

-- Of one variant the end, of the other start, end and step; the last is the result.
op {
  like = base, names = aten "arange", sheet = "Movement",
  eval = function (_ENV)
    local from, to, step = 0, num(value(0), nil), 1
    if nargs() > 3 then from, to, step = to, num(value(1), nil), num(value(2), nil) end
    if not from or not to or not step or step == 0 then fail("its size is not recorded") end
    num_elems = math.max(0, math.ceil((to - from) / step))
    local out = nargs() > 3 and 3 or 1
    return 0, num_elems * (nargs() > out and dtype(out) ~= "" and size(out) or 8)
  end,
  examples = {
    { dims = { {}, {}, {}, { 0 } }, types = { "Scalar", "Scalar", "Scalar", "long int" },
      values = { "0", "10", "3", "" }, flops = 0, bytes = 32, params = { num_elems = 4 } },
    { dims = { {}, { 0 } }, types = { "Scalar", "float" }, values = { "10", "" }, flops = 0,
      bytes = 40 },
    { dims = { {}, {}, {}, { 0 } }, types = { "Scalar", "Scalar", "Scalar", "long int" },
      status = "failed" },
  },
}

-- A triangle is copied, the rest is zero.
op {
  like = base, names = aten "tril triu tril_ triu_", sheet = "Movement",
  eval = function (_ENV)
    about(_ENV, 0)
    return 0, 2 * num_elems * size(0)
  end,
}

-- SPDX-License-Identifier: MIT
-- Grouped matrix products: G weights, the rows shared out among them.

local bf16, fp8 = "c10::BFloat16", "c10::Float8_e4m3fn"
local grouped = { category = "GroupedGEMM_fwd", backward_category = "GroupedGEMM_bwd",
  sheet = "GroupedGEMM", unit = "matrix", prec = 0 }

-- The output has the input's type, but products of bytes are bf16.
local function out_size() return size(0) == 1 and 2 or size(0) end

local function pairs_of(i)
  local out = {}
  for _, s in ipairs(tensors(i)) do
    if #s == 2 and s[1] > 0 and s[2] > 0 then out[#out + 1] = s end
  end
  return out
end

local function plain(i, n)
  local t = tensors(i)
  if #t ~= 1 or #t[1] ~= n and not (n == 2 and #t[1] > 2) then return nil end
  for _, d in ipairs(t[1]) do
    if d <= 0 then return nil end
  end
  return t[1]
end

-- M, K, N, G of one matrix by G weights, or of as many matrices as weights.
local function fixed(_ENV)
  local x, w = plain(0, 2), plain(1, 3)
  if x and w and (w[2] == x[2] or w[3] == x[2]) then
    return x[1], x[2], w[2] == x[2] and w[3] or w[2], w[1]
  end
  local left, right, m = pairs_of(0), pairs_of(1), 0
  if #left == 0 or #left ~= #right then fail("no matrices that fit") end
  for i = 1, #left do
    if left[i][2] ~= left[1][2] or right[i][1] ~= left[1][2] or right[i][2] ~= right[1][2] then
      fail("the matrices of the groups differ in K or N")
    end
    m = m + left[i][1]
  end
  return m, left[1][2], right[1][2], #left
end

op {
  like = grouped,
  names = { "primus_turbo::grouped_gemm", "primus_turbo::grouped_gemm_impl",
    "primus_turbo_cpp_extension::grouped_gemm", "primus_turbo_cpp_extension::ck_grouped_gemm" },
  eval = function (_ENV)
    local m, k, n, g = fixed(_ENV)
    M = m
    K = k
    N = n
    G = g
    bpe_in = size(0)
    bpe_out = out_size()
    return 2 * M * K * N, M * K * bpe_in + G * K * N * size(1, bpe_in) + M * N * bpe_out
  end,
  examples = {
    { op = "primus_turbo::grouped_gemm", dims = { { 4096, 512 }, { 8, 512, 1024 } },
      types = { bf16, bf16 }, flops = 4294967296, bytes = 20971520,
      params = { M = 4096, N = 1024, G = 8 } },
    { op = "primus_turbo::grouped_gemm",
      dims = { { { 100, 512 }, { 200, 512 } }, { { 512, 64 }, { 512, 64 } } },
      types = { bf16, bf16 }, flops = 19660800, params = { M = 300, G = 2 } },
    { op = "primus_turbo::grouped_gemm", dims = { { 4096, 512 }, { 8, 512, 1024 } },
      types = { fp8, fp8 }, bytes = 4096 * 512 + 8 * 512 * 1024 + 2 * 4096 * 1024 },
    { op = "primus_turbo::grouped_gemm", dims = { { 4, 5 }, { 2, 6, 7 } }, types = { bf16, bf16 },
      status = "failed" },
  },
}

-- How many groups there are: as many as lengths, if they are an argument.
local function groups_of(i)
  local counted = i < nargs() and rank(i) == 1 and (dtype(i) == "long int" or dtype(i) == "int")
  return counted and dim(i, 0) > 0 and dim(i, 0) or 1
end

-- (a, b, lengths of the groups): the gradient of the weights, the rows are what is
-- summed over. It writes one K x N for each group.
op {
  like = grouped,
  names = { "primus_turbo::grouped_gemm_variable_k", "primus_turbo::grouped_gemm_variable_k_impl",
    "primus_turbo_cpp_extension::grouped_gemm_variable_k",
    "primus_turbo_cpp_extension::ck_grouped_gemm_variable_k" },
  eval = function (_ENV)
    local left, right = pairs_of(0), pairs_of(1)
    local one = #left == 1 and #right == 1 and left[1][1] == right[1][1]
    if #left == 0 or #left ~= #right then fail("no matrices that fit") end
    local flops, read, wrote, m = 0, 0, 0, 0
    local groups = {}
    for i = 1, #left do
      local a, b = left[i], right[i]
      local n = b[2]
      if not one and a[2] ~= b[1] then fail("the matrices of a group don't fit") end
      groups[i] = { { a[1], a[2] }, { a[2], n } }
      m = m + a[1]
      flops = flops + 2 * a[1] * a[2] * n
      if one then
        read = read + a[1] * a[2] + b[1] * n
        wrote = wrote + groups_of(2) * a[2] * n
      else
        read = read + a[1] * a[2] + a[2] * n
        wrote = wrote + a[1] * n
      end
    end
    M = m
    K = left[1][2]
    N = right[1][2]
    G = one and groups_of(2) or #left
    bpe_in = size(0)
    bpe_out = out_size()
    group_pairs = groups
    return flops, read * bpe_in + wrote * bpe_out
  end,
  examples = {
    { op = "primus_turbo::grouped_gemm_variable_k", dims = { { 4096, 512 }, { 4096, 64 } },
      types = { bf16, bf16 }, flops = 2 * 4096 * 512 * 64,
      bytes = 2 * (4096 * 512 + 4096 * 64 + 512 * 64), params = { G = 1 } },
    { op = "primus_turbo::grouped_gemm_variable_k", dims = { { 4096, 512 }, { 4096, 64 }, { 8 } },
      types = { bf16, bf16, "long int" }, flops = 2 * 4096 * 512 * 64,
      bytes = 2 * (4096 * 512 + 4096 * 64 + 8 * 512 * 64), params = { G = 8 } },
  },
}

-- ---- not in the reference ----

-- (x, w, offsets): (M, K) by (G, K, N), or (G, M, K) by (G, K, N); with scales of
-- both before the offsets
op {
  sheet = "GroupedGEMM", unit = "matrix", prec = 0, extra = true,
  names = { "aten::_grouped_mm", "aten::_scaled_grouped_mm" },
  eval = function (_ENV)
    local x, w = shape(0), shape(1)
    if #x < 2 or #x > 3 or #w < 2 or #w > 3 then fail("no matrices") end
    local is_scaled = op_name() == "aten::_scaled_grouped_mm"
    local offsets, scales = is_scaled and 4 or 2, 0
    for i = 2, offsets - 1 do scales = scales + bytes(i) end
    local rows = #x == 3 and x[1] * x[2] or x[1]
    K = x[#x]
    N = w[#w]
    M = rows
    G = #w == 3 and w[1] or #x == 3 and x[1] or dim(offsets, 0)
    bpe_in = size(0)
    bpe_out = out_size()
    -- both flat: the gradient of the weights, rows summed over, G results
    local out = #x == 2 and #w == 2 and G * rows * N or rows * N
    return 2 * M * K * N, elems(0) * bpe_in + bytes(1) + scales + out * bpe_out
  end,
  examples = {
    { dims = { { 4096, 512 }, { 8, 512, 1024 }, { 8 } }, types = { bf16, bf16, "int" },
      flops = 4294967296, bytes = 20971520 },
    { op = "aten::_scaled_grouped_mm",
      dims = { { 4096, 512 }, { 8, 512, 1024 }, { 4096 }, { 8, 1024 }, { 8 } },
      types = { fp8, fp8, "float", "float", "int" }, flops = 4294967296,
      bytes = 2097152 + 4194304 + 4 * (4096 + 8192) + 2 * 4194304, spec = "matrix_fp8" },
  },
}

-- Of engines: x: rows of all groups (M, K), w (G, N, K) or (G, K, N), packed or not; out:
-- the result, else it is returned. How the rows are shared out is not recorded: every
-- group's weights are read.
local function by_groups(names, x, w, out, pack, examples)
  op {
    sheet = "GroupedGEMM", unit = "matrix", extra = true, names = aten(names, ""), examples = examples,
    eval = function (_ENV)
      if rank(w) ~= 3 then fail("the weights have not 3 dimensions") end
      local k = dim(x, -1)
      N = out and dim(out, -1) or dim(w, 2) == k and dim(w, 1) or dim(w, 2)
      M = out and N > 0 and elems(out) // N or k > 0 and elems(x) // k or 0
      K = k * pack
      G = dim(w, 0)
      local result = out and bytes(out) or M * N * (size(x) == 1 and 2 or size(x))
      return 2 * M * N * K, bytes(x) + bytes(w) + result, pack == 2 and "fp4" or dtype(x)
    end,
  }
end
-- (out, x, w, ...)
by_groups("_C::cutlass_moe_mm sgl_kernel::cutlass_w4a8_moe_mm", 1, 2, 0, 1, {
  { op = "_C::cutlass_moe_mm", dims = { { 4096, 1024 }, { 4096, 512 }, { 8, 512, 1024 } },
    types = { bf16, fp8, fp8 }, flops = 4294967296, bytes = 2097152 + 4194304 + 8388608,
    spec = "matrix_fp8" },
})
by_groups("_C::cutlass_fp4_group_mm sgl_kernel::cutlass_fp4_group_mm", 1, 2, 0, 2)
by_groups("sgl_kernel::fp8_blockwise_scaled_grouped_mm", 6, 7, 0, 1)
-- (x, out, packed w, ...), of all experts of each row of x
by_groups("_moe_C::moe_wna16_gemm", 0, 2, 1, 1)
by_groups([[ fbgemm::bf16bf16bf16_grouped_stacked fbgemm::f8f8bf16_rowwise_grouped_stacked
  fbgemm::f8f8bf16_rowwise_grouped_mm ]], 0, 1, nil, 1, {
    { op = "fbgemm::bf16bf16bf16_grouped_stacked", dims = { { 4096, 512 }, { 8, 1024, 512 }, { 8 } },
      types = { bf16, bf16, "long int" }, flops = 4294967296, bytes = 20971520 },
  })

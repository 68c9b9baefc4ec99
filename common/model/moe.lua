-- SPDX-License-Identifier: MIT
-- Mixtures of experts. T tokens of K values go to topk of E experts, each with
-- weights of N x K; gated ones have two for the way up.

local bf16, fp8 = "c10::BFloat16", "c10::Float8_e4m3fn"

-- Bytes of logical elements: packed types count half, and the names are told
-- apart by case, as the engines write them.
local sizes = { Float8_e4m3fn = 1, Float8_e4m3fnuz = 1, Float8_e5m2 = 1, Float8_e5m2fnuz = 1,
  FP8 = 1, ["c10::Float8_e4m3fn"] = 1, ["c10::Float8_e4m3fnuz"] = 1, FP4 = 0.5,
  ["c10::Float4_e2m1fn_x2"] = 0.5, BFloat16 = 2, Float16 = 2, Half = 2, ["c10::BFloat16"] = 2,
  ["c10::Half"] = 2, Float32 = 4, Float = 4, ["c10::Float"] = 4 }
local function bytes(name, default) return sizes[name] or default end

-- Experts that get a token when all are as likely.
local function active(E, k, T) return E * (1 - ((E - k) / E) ^ T) end

local function fused(t, bi, bw, bo)
  local g = t.gated and 2 or 1
  return 2 * t.T * t.K * t.N * t.k * (g + 1) + t.T * t.K * (2 * t.k - 1),
    t.T * t.K * bi + active(t.E, t.k, t.T) * t.N * t.K * bw * (g + 1) + t.T * t.K * bo
end
local function up(t, bi, bw, bo)
  local g = t.gated and 2 or 1
  return 2 * t.T * t.K * t.N * t.k * g,
    t.T * t.K * bi + active(t.E, t.k, t.T) * g * t.K * t.N * bw + t.T * t.N * t.k * bo
end
local function down(t, bi, bw, bo)
  return 2 * t.T * t.N * t.K * t.k,
    t.T * t.N * t.k * bi + active(t.E, t.k, t.T) * t.N * t.K * bw + t.T * t.K * bo
end

-- How many values an element of weights is that K values wide ones have.
local function pack_of(K, recorded)
  if recorded == 0 then fail("empty weights") end
  return K // recorded
end

-- Bytes of a value and the precision of weights: two of them in a byte are FP4.
local function weight(name, pack)
  if pack == 2 and bytes_of(name, 0) == 1 then return 0.5, "fp4" end
  return bytes(name, 1), name
end

-- The sizes of W1 (E, gN, K packed) and W2 (E, K, N packed).
local function weights(w1, w2)
  local K = dim(w2, 1)
  local pack = pack_of(K, dim(w1, -1))
  local N = dim(w2, 2) * pack
  return { E = dim(w1, 0), K = K, N = N, gated = dim(w1, 1) == 2 * N, pack = pack }
end

local function set(_ENV, t, with_gated, input, weight, output)
  num_tokens = t.T
  hidden_dim = t.K
  inter_dim = t.N
  num_experts = t.E
  topk = t.k
  if with_gated then gated = t.gated end
  input_dtype = input
  if weight then weight_dtype = weight end
  if output then output_dtype = output end
  if t.E <= 0 or t.k < 0 or t.k > t.E then fail("more experts for a token than there are") end
end

local one = { category = "MoE_fused", sheet = "MoE_fused", unit = "matrix" }
local parts = { category = "MoE_unfused", sheet = "MoE_unfused", unit = "matrix" }

-- (in, w1, w2, ...): argument k has topk columns. The precision is the input's, or
-- by_weight that of the weights.
local function stage(like, name, k, cost, by_weight, examples)
  op {
    like = like, names = { name }, examples = examples,
    eval = function (_ENV)
      local t = weights(1, 2)
      t.T, t.k = dim(0, 0), dim(k, 1)
      set(_ENV, t, true, dtype(0), dtype(1))
      local bi = bytes(dtype(0), 2)
      local bw, precision = weight(dtype(1), t.pack)
      local f, b = cost(t, bi, bw, bi)
      return f, b, by_weight and precision or dtype(0)
    end,
  }
end

stage(one, "pseudo_op::moe_aiter_fused_1stage", 3, fused, false, {
  { dims = { { 33, 4096 }, { 64, 4096, 4096 }, { 64, 4096, 2048 }, { 33, 6 } },
    types = { bf16, fp8, fp8, "float" }, flops = 9967153152, bytes = 1548610830.543705,
    spec = "matrix_bf16", params = { gated = true, inter_dim = 2048 } },
})

-- (out, in, w1, w2, ...)
op {
  like = one, names = { "aiter::fmoe_fp8_blockscale_g1u1", "aiter::fmoe_g1u1" },
  eval = function (_ENV)
    local t = weights(2, 3)
    t.T, t.k = dim(0, 0), count(value(8))
    set(_ENV, t, true, dtype(1), dtype(2), dtype(0))
    local f, b = fused(t, bytes(dtype(1), 1), (weight(dtype(2), t.pack)), bytes(dtype(0), 2))
    return f, b, dtype(1) == "bf16" and "fp8" or dtype(1)
  end,
}

for n, cost in ipairs { up, down } do
  stage(parts, "pseudo_op::moe_flydsl_stage" .. n, 3, cost, true, {
    { dims = { { 8, 64 }, { 4, 64, 32 }, { 4, 64, 16 }, { 8, 4 } },
      types = { bf16, "unsigned char", "unsigned char", "float" },
      flops = 2 * 8 * 64 * 32 * 4 * (cost == up and 2 or 1), spec = "matrix_fp4",
      params = { inter_dim = 32, weight_dtype = "unsigned char" } },
  })
end
stage(parts, "aiter::ck_moe_stage1", 6, up)
op {
  like = parts, names = { "aiter::ck_moe_stage2" },
  eval = function (_ENV)
    local K = dim(2, 1)
    local pack = pack_of(K, dim(1, -1))
    local N = dim(0, 2) -- of packed values, or of values where only weights are
    if dim(2, 2) * pack ~= N then N = N * pack end
    local t = { T = dim(0, 0), K = K, N = N, E = dim(2, 0), k = dim(0, 1) }
    set(_ENV, t, false, dtype(0), dtype(2))
    local bi = bytes(dtype(0), 2)
    local f, b = down(t, bi, (weight(dtype(2), pack)), bi)
    return f, b, dtype(0)
  end,
}

op {
  like = parts, names = { "aiter::moe_cktile2stages_gemm1_ck" },
  eval = function (_ENV)
    local t = { T = dim(0, 0), K = dim(0, 1), E = dim(1, 0), N = dim(2, 2), k = dim(2, 1) }
    t.gated = dim(1, 1) == 2 * t.N
    set(_ENV, t, true, dtype(0), dtype(1), dtype(2))
    local bw = weight(dtype(1), pack_of(t.K, dim(1, -1)))
    local f, b = up(t, bytes(dtype(0), 2), bw, bytes(dtype(2), 2))
    return f, b, dtype(0)
  end,
}
op {
  like = parts, names = { "aiter::moe_cktile2stages_gemm2_ck" },
  eval = function (_ENV)
    local t = { T = dim(0, 0), K = dim(1, 1), E = dim(1, 0), N = dim(0, 2), k = dim(0, 1) }
    set(_ENV, t, false, dtype(0), dtype(1), dtype(2))
    local bw = weight(dtype(1), pack_of(t.N, dim(1, -1)))
    local f, b = down(t, bytes(dtype(0), 2), bw, bytes(dtype(2), 2))
    return f, b, dtype(0)
  end,
}

-- Triton's kernels hide the weights' layout: their type is in the kernel's name.
for _, way in ipairs { { "pseudo_op::moe_triton_unfused_up", up }, { "pseudo_op::moe_triton_unfused_down", down } } do
  op {
    like = parts, names = { way[1] }, reads = { "kernels", "MoE topk", "MoE GEMM gated" },
    eval = function (_ENV)
      local t = { T = dim(0, 0), K = dim(0, 1), N = dim(0, 1), E = dim(1, 1),
        k = count(argument("MoE topk") or fail("no MoE topk")),
        gated = bool(argument("MoE GEMM gated") or fail("no MoE GEMM gated")) }
      local kernel = (kernels()[1] or fail("no kernel")):lower()
      local w = kernel:find("fp4", 1, true) and "FP4"
        or (kernel:find("fp8", 1, true) or kernel:find("e4m3", 1, true)) and "FP8" or nil
      set(_ENV, t, true, dtype(0))
      weight_dtype = w
      local bi = bytes(dtype(0)) or unknown
      local f, b = way[2](t, bi, bytes(w or "") or unknown, bi)
      return f, b, w
    end,
    examples = {
      { dims = { { 16, 64 }, { 16, 8 } }, types = { bf16, bf16 },
        kernels = { "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x256x64x1_swiglu" },
        args = { ["MoE topk"] = "2", ["MoE GEMM gated"] = "false" },
        flops = 2 * 16 * 64 * 64 * 2, spec = "matrix_fp4", params = { weight_dtype = "FP4" } },
    },
  }
end

op {
  like = parts, names = { "pseudo_op::moe_gptq_awq_up" }, reads = { "MoE topk", "MoE GEMM gated" },
  eval = function (_ENV)
    local t = { T = dim(0, 0), K = dim(0, 1), E = dim(1, 0),
      k = count(argument("MoE topk") or fail("no MoE topk")),
      gated = bool(argument("MoE GEMM gated") or "True") }
    t.N = t.gated and dim(1, 1) // 2 or dim(1, 1)
    local input = dtype(0) ~= "" and dtype(0) or "BFloat16"
    set(_ENV, t, true, input)
    local bi = bytes(input, 2)
    local f, b = up(t, bi, 0.5, bi)
    return f, b, input
  end,
}
op {
  like = parts, names = { "pseudo_op::moe_gptq_awq_down" }, reads = { "MoE topk" },
  eval = function (_ENV)
    local t = { T = dim(0, 0), K = dim(0, 1), E = dim(2, 0), N = 2 * dim(2, 2),
      k = count(argument("MoE topk") or fail("no MoE topk")) }
    local input = dtype(0) ~= "" and dtype(0) or "BFloat16"
    set(_ENV, t, false, input)
    local bi = bytes(input, 2)
    local f, b = down(t, bi, 0.5, bi)
    return f, b, input
  end,
}

op {
  like = parts, names = { "sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel" },
  eval = function (_ENV)
    if nargs() < 9 or rank(1) ~= 3 or rank(8) ~= 2 then fail("not the arguments of that kernel") end
    m_work = elems(8)
    num_tokens = dim(8, 0)
    topk = dim(8, 1)
    N = dim(1, 1)
    K = dim(1, 2)
    num_experts = dim(1, 0)
    input_dtype = dtype(0)
    weight_dtype = dtype(1)
    output_dtype = dtype(3) ~= "" and dtype(3) or dtype(0)
    return 2 * m_work * N * K,
      m_work * K * bytes(dtype(0), 2)
        + active(num_experts, topk, num_tokens) * N * K * bytes(dtype(1), 1)
        + m_work * N * bytes(output_dtype, 2), dtype(1)
  end,
}

-- ---- what prepares the experts' work ----

local aux = { category = "MoE_aux", sheet = "MoE_aux", unit = "vector" }

op {
  like = aux,
  names = { "aiter::biased_grouped_topk_hip", "aiter::moe_sorting_fwd", "aiter::mxfp4_moe_sort_hip" },
  eval = function (_ENV)
    local list, most, all, type = {}, 0, 0, nil
    for i = 0, nargs() - 1 do
      if has(i) then
        local n, b = elems(i), size(i)
        list[#list + 1] = { shape(i), dtype(i) }
        if n > most then most, type = n, dtype(i) end
        if b == b then all = all + n * b end
      end
    end
    operands = list
    return most, all > 0 and all or unknown, type
  end,
  examples = {
    { op = "aiter::moe_sorting_fwd", dims = { { 16, 4 }, { 16, 8 }, {} },
      types = { "int", "float", "Scalar" }, flops = 128, bytes = 4 * (64 + 128),
      spec = "vector_fp32" },
  },
}
op {
  like = aux, names = { "sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts" },
  eval = function (_ENV)
    local second = nargs() > 1 and has(1) and 1 or 0
    local a = dtype(0) ~= "" and dtype(0) or "int"
    local b = dtype(1) ~= "" and dtype(1) or "float"
    shape_in1 = shape(0)
    shape_in2 = shape(second)
    dtype_in1_in2_out = { a, b, b }
    stride_input1 = {}
    stride_input2 = {}
    stride_output = {}
    return elems(0), 2 * (elems(0) * bytes_of(a, 4) + elems(second) * bytes_of(b, 4)), b
  end,
}
-- (weights, ids, gating)
op {
  like = aux, names = { "aiter::topk_softplus" },
  eval = function (_ENV)
    M = dim(2, 0)
    n = 1
    C = dim(2, 1)
    E = dim(2, 1)
    topk = dim(0, 1)
    dtype_in = dtype(2) ~= "" and dtype(2) or "c10::BFloat16"
    return 6 * M * E, M * E * bytes_of(dtype_in) + 4 * E + 8 * M * topk, dtype_in
  end,
}

-- ---- not in the reference ----

local routing = { sheet = "MoE_aux", unit = "vector", extra = true }

-- Triton's kernels, of which autograd has short names. (logits, k, ...): the
-- best of each row, their places, and a bit for each of all
op {
  like = routing, prec = 0, names = { "TopK" },
  eval = function (_ENV)
    M = dim(0, 0)
    E = dim(0, 1)
    topk = count(value(1))
    return M * E, M * E * size(0) + M * topk * (size(0) + 2) + M * ceil_div(E, 8)
  end,
  examples = {
    { dims = { { 32, 32 }, {} }, types = { bf16, "Scalar" }, values = { "", "4" }, flops = 1024,
      bytes = 2048 + 128 * 4 + 128 },
  },
}
-- (weights, places, number of experts, ...): both ordered by expert, and the two
-- ways between the orders, 4 bytes each
op {
  like = routing, prec = 0, names = { "SortTokens" },
  eval = function (_ENV)
    M = dim(0, 0)
    topk = dim(0, 1)
    return elems(0), elems(0) * (2 * size(0) + 8) + elems(1) * size(1)
  end,
  examples = {
    { dims = { { 32, 4 }, { 32, 4 }, {} }, types = { bf16, "short int", "Scalar" }, flops = 128,
      bytes = 128 * (12 + 2) },
  },
}
-- The experts' results of each token are summed.
op {
  like = routing, prec = 0, reads = { "MoE topk" },
  names = { "pseudo_op::moe_triton_unfused_finalize_matmul_scatter" },
  eval = function (_ENV)
    num_tokens = dim(0, 0)
    hidden_dim = dim(0, 1)
    topk = count(argument("MoE topk") or fail("no MoE topk"))
    return num_tokens * hidden_dim * topk, num_tokens * hidden_dim * (topk + 1) * size(0)
  end,
  examples = {
    { dims = { { 32, 3072 }, { 32, 32 } }, types = { bf16, bf16 }, args = { ["MoE topk"] = "4" },
      flops = 393216, bytes = 98304 * 10 },
    { dims = { { 32, 3072 } }, types = { bf16 }, status = "failed" },
  },
}

-- All of the experts at once: (tokens, w1, w2, ..., places of the topk experts). Both
-- weights are the first arguments of 3 dimensions, the places the first whole numbers
-- of as many rows as tokens.
local function experts(_ENV)
  local w, k = {}, nil
  for i = 1, nargs() - 1 do
    if rank(i) == 3 and #w < 2 then w[#w + 1] = i end
    if not k and rank(i) == 2 and dim(i, 0) == dim(0, 0) and (dtype(i) == "int" or dtype(i) == "long int") then
      k = dim(i, 1)
    end
  end
  if #w < 2 then fail("no weights of experts among its arguments") end
  local t = weights(w[1], w[2])
  if t.K ~= dim(0, 1) then fail("the weights are not (experts, rows, columns)") end
  t.T, t.k = dim(0, 0), k or fail("no places of experts among its arguments")
  set(_ENV, t, true, dtype(0), dtype(w[1]))
  local bi = bytes(dtype(0), 2)
  local bw, precision = weight(dtype(w[1]), t.pack)
  local f, b = fused(t, bi, bw, bi)
  return f, b, precision == "fp4" and dtype(0) or precision
end
local whole = { sheet = "MoE_fused", unit = "matrix", extra = true, eval = experts }

op {
  like = whole, whole = true,
  names = { "vllm::inplace_fused_experts", "vllm::outplace_fused_experts",
    "sglang::inplace_fused_experts", "sglang::outplace_fused_experts" },
  examples = {
    { op = "vllm::outplace_fused_experts",
      dims = { { 33, 4096 }, { 64, 4096, 4096 }, { 64, 4096, 2048 }, { 33, 6 }, { 33, 6 } },
      types = { bf16, fp8, fp8, "float", "int" }, flops = 9967153152, bytes = 1548610830.543705,
      spec = "matrix_fp8", params = { gated = true, topk = 6 } },
    { op = "sglang::inplace_fused_experts", dims = { { 33, 4096 }, { 33, 6 }, { 33, 6 } },
      types = { bf16, "float", "int" }, status = "failed" },
  },
}
-- Their parts have models of their own in some releases.
op {
  like = whole,
  names = { "vllm::rocm_aiter_fused_moe", "vllm::rocm_aiter_asm_moe_tkw1", "aiter::fused_moe_",
    "vllm::fused_marlin_moe", "vllm::flashinfer_fused_moe_bf16" },
}

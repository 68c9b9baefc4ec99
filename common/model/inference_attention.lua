-- SPDX-License-Identifier: MIT
-- Attention of inference engines. How many tokens a step attends to stands in no
-- argument but in the annotation around it, as sums over its requests: of new
-- tokens (sq), of all keys (sk), of sq sq and of sq sk, for requests in their
-- context phase (c_) and for those that generate (g_).

local bf16 = "c10::BFloat16"
local attention = { category = "InferenceAttention", sheet = "InferenceAttention", unit = "matrix",
  reads = { "annotation" } }

local sums_of = { "c_sq", "c_sk", "c_sqsq", "c_sqsk", "g_sq", "g_sk", "g_sqsq", "g_sqsk" }

local function sums()
  local text = annotation()
  if text == "" or text == "NA" then fail("no annotation around it") end
  local t, r = requests(text) or fail("the annotation doesn't count tokens"), {}
  for _, k in ipairs(sums_of) do
    r[k] = t[k] or 0
    if math.type(r[k]) ~= "integer" or r[k] < 0 then fail("the annotation's " .. k .. " is no count") end
  end
  return r
end

-- t: N_Q, H_Q, N_KV, H_KV, dq, dv, q, kv (types), window; r: the sums
local function set(_ENV, t, r)
  B = 1
  N_Q = t.N_Q
  H_Q = t.H_Q
  H_V = t.H_KV
  H_K = t.H_KV
  N_KV = t.N_KV
  H_KV = t.H_KV
  d_h_qk = t.dq
  d_h_v = t.dv
  dropout = 0.0
  causal = false
  flash_impl = true
  for _, k in ipairs(sums_of) do _ENV[k] = r[k] end
  dtype_Q = t.q
  if t.kv then dtype_KV = t.kv end
  if t.window then sliding_window = t.window end
end

-- New tokens see each other causally and earlier ones fully.
local function cost(t, r)
  if r.c_sq == 0 and r.g_sq == 0 then skip("no tokens") end
  local function cap(x)
    if t.window and t.window > 0 and r.g_sq > 0 then return math.min(x, r.g_sq * t.window) end
    return x
  end
  local e = bytes_of(t.q, 2)
  local e_kv = t.kv and bytes_of(t.kv, e) or e
  -- in doubles: an annotation's sums may be large where the op's shapes are not
  return t.H_Q * (t.dq + t.dv) * (2.0 * r.c_sqsk - r.c_sqsq + 2.0 * cap(r.g_sqsk)),
    (t.dq + t.dv) * ((1.0 * r.c_sq + r.g_sq) * (t.H_Q + t.H_KV) * e
      + (1.0 * r.c_sk - r.c_sq + cap(r.g_sk) - r.g_sq) * t.H_KV * e_kv), t.q
end

local function finish(_ENV, t, r)
  set(_ENV, t, r)
  return cost(t, r)
end

-- q (N, H, d), k or its cache (..., N, H, d) in arguments 0 and 1
local function usual(dv)
  return function (_ENV)
    local r = sums()
    local kv = dtype(1) ~= "" and dtype(1) or dtype(0)
    local cache = argument("kv_cache_dtype")
    if rank(0) ~= 3 then fail("q has not 3 dimensions") end
    return finish(_ENV, { N_Q = dim(0, 0), H_Q = dim(0, 1), dq = dim(0, 2), N_KV = dim(1, -3),
      H_KV = dim(1, -2), dv = dv(), q = dtype(0), kv = cache or kv }, r)
  end
end
local with_cache = { "annotation", "kv_cache_dtype" }

op {
  like = attention, reads = with_cache,
  names = { "vllm::unified_attention_with_output", "aiter::mha_varlen_fwd" },
  eval = usual(function () return dim(1, -1) end),
  examples = {
    { op = "vllm::unified_attention_with_output",
      dims = { { 6147, 64, 64 }, { 6147, 8, 64 }, { 6147, 8, 64 } }, types = { bf16, bf16, bf16 },
      annotation = "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)"
        .. "_generation_3(sq3sk6144sqsq3sqsk6144)",
      flops = 205453787136, bytes = 127926272, spec = "matrix_bf16",
      params = { c_sk = 7144, g_sqsk = 6144, dtype_KV = bf16 } },
    { op = "vllm::unified_attention_with_output", dims = { { 8, 128, 128 }, { 8, 1, 128 } },
      types = { bf16, bf16 },
      annotation = "step[EXTEND c_sq=8 c_sk=8 c_sqsq=0 c_sqsk=1000000000000000]",
      flops = 128 * 256 * 2.0 * 1e15 },
    { op = "vllm::unified_attention_with_output", dims = { { 6147, 64, 64 }, { 6147, 8, 64 } },
      types = { bf16, bf16 }, annotation = "execute_context_2(6144)_generation_3(3)",
      status = "failed" },
    { op = "vllm::unified_attention_with_output", dims = { { 3, 64, 64 }, { 3, 8, 64 } },
      types = { bf16, bf16 }, annotation = "step[DECODE bs=0 g_sqsq=0]", status = "skipped" },
  },
}

-- Values are the first 512 of the 576 of a key.
op {
  like = attention, reads = with_cache,
  names = { "pseudo_mla_decode_fwd" },
  eval = usual(function () return math.min(512, dim(1, -1)) end),
}

op {
  like = attention, reads = with_cache,
  names = { "aiter::fmha_v3_varlen_fwd", "aiter::mha_batch_prefill", "pseudo_mla_prefill_fwd" },
  eval = usual(function () return has(2) and dim(2, -1) or dim(1, -1) end),
  examples = {
    { op = "aiter::mha_batch_prefill", dims = { { 15360, 32, 128 }, { 835874, 8, 128 },
        { 835874, 8, 128 } }, types = { bf16, bf16, bf16 },
      annotation = "step[EXTEND bs=15 c_sq=15360 c_sk=15360 c_sqsq=15728640 c_sqsk=15728640]",
      flops = 128849018880, bytes = 314572800 },
    { op = "aiter::mha_batch_prefill", dims = { { 8, 4, 128 }, { 64, 1, 128 } },
      types = { bf16, bf16 }, annotation = "decode[bs=8 tok=8 sk=64 sqsq=8 sqsk=64]",
      flops = 4 * 256 * 2 * 64, params = { g_sq = 8, c_sq = 0 } },
  },
}

op {
  like = attention, reads = with_cache,
  names = { "sglang_profiler::tilelang_kernel_tilelang_sparse_fwd" },
  eval = usual(function () return count(value(4), 512) end),
}

-- q is argument 2, the caches 3 and 4
op {
  like = attention, names = { "sglang_profiler::attention_paged_attention_ragged" },
  eval = function (_ENV)
    local r = sums()
    return finish(_ENV, { N_Q = dim(2, 0), H_Q = dim(2, 1), dq = dim(2, 2), N_KV = r.c_sk + r.g_sk,
      H_KV = dim(3, -2), dv = dim(4, -1), q = dtype(2) }, r)
  end,
}

local function generating(r) r.c_sq, r.c_sk, r.c_sqsq, r.c_sqsk = 0, 0, 0, 0 return r end

op {
  like = attention, names = { "aiter::pa_decode_gluon" },
  eval = function (_ENV)
    local r = generating(sums())
    return finish(_ENV, { N_Q = dim(0, 0), H_Q = dim(0, 1), dq = dim(0, 2), N_KV = r.g_sk,
      H_KV = dim(2, 1), dv = dim(0, 2), q = dtype(0), kv = dtype(2) ~= "" and dtype(2) or dtype(0),
      window = int(value(19), 0) }, r)
  end,
}

-- DeepSeek-V4: its geometry is known by the model's name.
local flash = { topk = 512, window = 128, heads = 64, d = 512 }
local pro = { topk = 1024, window = 128, heads = 128, d = 512 }

local function v4_window(mode, c, r)
  local window, topk = count(argument("v4_window") or "", c.window), count(argument("v4_index_topk") or "", c.topk)
  if mode == "swa" then return window end
  local mean = r.g_sq > 0 and r.g_sk / r.g_sq
  if mode == "csa" then
    return window + (mean and math.min(math.ceil(mean / 4), topk) or topk)
  end
  return mean and window + math.ceil(mean / 128) or 0
end

op {
  like = attention,
  names = { "pseudo_v4_paged_decode_swa", "pseudo_v4_paged_decode_csa",
    "pseudo_v4_paged_decode_hca" },
  reads = { "annotation", "v4_model_name", "v4_tp", "v4_H_Q", "v4_d_h", "v4_window",
    "v4_index_topk" },
  eval = function (_ENV)
    local r = generating(sums())
    local c = contains(argument("v4_model_name") or "", "DeepSeek-V4-Pro") and pro or flash
    local heads = count(argument("v4_H_Q") or "", nil)
      or math.max(1, c.heads // math.max(1, count(argument("v4_tp") or "", 1)))
    local d = count(argument("v4_d_h") or "", c.d)
    local n = has(0) and dim(0, 0) or 0
    return finish(_ENV, { N_Q = n ~= 0 and n or r.g_sq, H_Q = heads, dq = d, dv = d,
      N_KV = r.g_sk, H_KV = 1, q = "c10::bfloat16", kv = "c10::bfloat16",
      window = v4_window(op_name():sub(-3), c, r) }, r)
  end,
  examples = {
    { op = "pseudo_v4_paged_decode_swa", dims = { { 4, 512 } },
      annotation = "step[DECODE bs=4 g_sq=4 g_sk=4096 g_sqsq=4 g_sqsk=4096]",
      args = { v4_H_Q = "64" }, flops = 64 * 1024 * 2 * 512, spec = "matrix_bf16",
      params = { sliding_window = 128, N_KV = 4096 } },
  },
}

op {
  category = "InferenceAttention", sheet = "InferenceAttention", unit = "matrix", prec = 0,
  names = { "aiter::pa_sparse_prefill_opus_fwd" },
  eval = function (_ENV)
    local p = dim(2, 0) + dim(5, 0)
    local kv = dtype(1) ~= "" and dtype(1) or dtype(0)
    B = 1
    N_Q = dim(0, 0)
    H_Q = dim(0, 1)
    H_V = 1
    H_K = 1
    N_KV = p
    H_KV = 1
    d_h_qk = dim(0, 2)
    d_h_v = dim(0, 2)
    dropout = 0.0
    causal = false
    flash_impl = true
    prefill_pairs = p
    dtype_Q = dtype(0)
    dtype_KV = kv
    local e = size(0, 2)
    return p * H_Q * 2 * (d_h_qk + d_h_v),
      2 * N_Q * H_Q * d_h_qk * e + p * d_h_v * bytes_of(kv, e)
  end,
}

-- Gated delta net
op {
  like = attention, prec = 0,
  names = { "vllm::gdn_attention_core", "aiter::linear_attention_with_output_base" },
  eval = function (_ENV)
    local r = sums()
    local tokens = r.c_sq + r.g_sq
    if tokens == 0 then skip("no tokens") end
    if dim(1, 1) < 2 then fail("no two heads of values") end
    local hv, dv = dim(1, 1), dim(3, 2)
    local hk = hv // 2
    local dk = (dim(0, 1) - hv * dv) // 2 // hk
    B = 1
    N_Q = tokens
    H_Q = hk
    N_KV = 0
    H_KV = hk
    H_V = hv
    H_K = hk
    d_h_qk = dk
    d_h_v = dv
    c_sq = r.c_sq
    c_sk = r.c_sq
    c_sqsq = 0
    c_sqsk = 0
    g_sq = r.g_sq
    g_sk = r.g_sq
    g_sqsq = 0
    g_sqsk = 0
    dtype_Q = dtype(0)
    return 7.0 * tokens * hv * dv * dk, 2.0 * tokens * hv * (dk + 2 * dv + 2)
  end,
}

-- (k, v, k_cache, v_cache, indices)
op {
  category = "InferenceAttention", sheet = "InferenceAttention", unit = "vector", prec = 0,
  names = { "sglang::store_cache" },
  eval = function (_ENV)
    op_shape = shape(0)
    nelems = elems(0)
    dtype = dtype(0)
    return 0, 4 * nelems * bytes_of(dtype, 2)
  end,
  examples = {
    { dims = { { 16, 1024 } }, types = { bf16 }, flops = 0, bytes = 4 * 16384 * 2 },
  },
}

-- ---- not in the reference: their category is that of categories.lua ----

-- (k, v, k_cache, v_cache, slots, ...): new keys and values go to their slots
op {
  sheet = "InferenceAttention", unit = "vector", prec = 0, extra = true,
  names = { "_C_cache_ops::reshape_and_cache_flash", "_C_cache_ops::reshape_and_cache" },
  eval = function (_ENV)
    nelems = elems(0) + elems(1)
    dtype_Q = dtype(0)
    dtype_KV = dtype(2)
    return 0, nelems * (size(0) + size(2, 2)) + bytes(4, 8)
  end,
  examples = {
    { op = "_C_cache_ops::reshape_and_cache_flash",
      dims = { { 32, 8, 64 }, { 32, 8, 64 }, { 4, 32, 8, 64 }, { 4, 32, 8, 64 }, { 32 } },
      types = { bf16, bf16, "c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "long int" }, flops = 0,
      bytes = 32768 * 3 + 256 },
  },
}
-- (latent, rope part, cache, slots, ...)
op {
  sheet = "InferenceAttention", unit = "vector", prec = 0, extra = true,
  names = { "_C_cache_ops::concat_and_cache_mla" },
  eval = function (_ENV)
    nelems = elems(0) + elems(1)
    dtype_Q = dtype(0)
    dtype_KV = dtype(2)
    return 0, nelems * (size(0) + size(2, 2)) + bytes(3, 8)
  end,
}

-- (q, k, v or caches) of which the arguments q, k and v tell the sizes; heads: the
-- argument whose value is the number of key heads, or the dimension of k that has it
local function caching(names, globs, q, at, examples)
  op {
    category = "InferenceAttention", sheet = "InferenceAttention", unit = "matrix", extra = true,
    reads = { "annotation" }, names = aten(names, ""), globs = globs, examples = examples,
    eval = function (_ENV)
      local r, k = sums(), at.k
      local heads = at.heads and count(value(at.heads))
        or dim(k, at.layout and rank(k) == 4 and value(at.layout) == "1" and -3 or -2)
      local dq = dim(rank(q) > 2 and q or k, -1)
      -- its heads may lie in one row
      local heads_q = rank(q) > 2 and dim(q, -2) or dq > 0 and dim(q, -1) // dq or 0
      dq = dq + (at.more and dim(at.more, -1) or 0)
      return finish(_ENV, { N_Q = r.c_sq + r.g_sq, H_Q = heads_q, dq = dq, N_KV = r.c_sk + r.g_sk,
        H_KV = heads, dv = at.v and dim(at.v, -1) or at.dv or dim(q, -1), q = dtype(q), kv = dtype(k) }, r)
    end,
  }
end

local decode = "step[DECODE bs=4 g_sq=4 g_sk=4096 g_sqsq=4 g_sqsk=4096]"
caching("vllm::unified_attention sglang::unified_attention_with_output", nil, 0, { k = 1, v = 2 }, {
  { op = "sglang::unified_attention_with_output", dims = { { 4, 4096 }, { 4, 8, 128 }, { 4, 8, 128 } },
    types = { bf16, bf16, bf16 }, annotation = decode, flops = 32 * 256 * 2 * 4096, params = { H_Q = 32 } },
})
-- (out, workspace, q, key cache, value cache, ...)
caching("aiter::paged_attention_ragged", nil, 2, { k = 3, v = 4 })
-- (out, q, key cache, value cache, key heads, ...)
caching("_C::paged_attention_v1", nil, 1, { k = 2, heads = 4 }, {
  { dims = { { 4, 32, 128 }, { 4, 32, 128 }, { 1000, 8, 16, 16, 8 }, { 1000, 8, 128, 16 }, {} },
    types = { bf16, bf16, bf16, bf16, "Scalar" }, values = { "", "", "", "", "8" }, annotation = decode,
    flops = 32 * 256 * 2 * 4096, bytes = 256 * (4 * 40 * 2 + 4092 * 8 * 2), spec = "matrix_bf16" },
  { dims = { { 4, 32, 128 }, { 4, 32, 128 }, { 1000, 8, 16, 16, 8 } }, types = { bf16, bf16, bf16 },
    values = { "", "", "", "", "8" }, status = "failed" },
})
-- (out, sums, largest, parts, q, key cache, value cache, key heads, ...)
caching("_C::paged_attention_v2 _rocm_C::paged_attention", nil, 4, { k = 5, heads = 7 })
-- FlashAttention 2 and 3 of the engines: (q, k or its cache, v, ...)
caching("_vllm_fa2_C::varlen_fwd _vllm_fa2_C::fwd_kvcache _vllm_fa3_C::fwd sgl_kernel::fwd", nil, 0,
  { k = 1, v = 2 }, {
    { op = "_vllm_fa3_C::fwd", dims = { { 4, 32, 128 }, { 1000, 16, 8, 128 }, { 1000, 16, 8, 128 } },
      types = { bf16, bf16, bf16 }, annotation = decode, flops = 32 * 256 * 2 * 4096,
      params = { H_KV = 8, N_KV = 4096 } },
  })
-- (workspaces, plan, q, k, v, ...): the layout 1 has heads before places
caching("", { "flashinfer::batch_prefill_with_kv_cache_*_paged_run" }, 3, { k = 4, v = 5, layout = 13 }, {
  { op = "flashinfer::batch_prefill_with_kv_cache_dtype_q_bf16_paged_run",
    dims = { { 9 }, { 9 }, {}, { 4, 32, 128 }, { 1000, 8, 16, 128 }, { 1000, 8, 16, 128 } },
    types = { "unsigned char", "unsigned char", "", bf16, bf16, bf16 },
    values = { "", "", "", "", "", "", "", "", "", "", "", "", "1", "1" }, annotation = decode,
    flops = 32 * 256 * 2 * 4096, params = { H_KV = 8 } },
})
caching("", { "flashinfer::batch_prefill_with_kv_cache_*_ragged_run" }, 3, { k = 4, v = 5 })
caching("", { "flashinfer::batch_decode_with_kv_cache_*_run" }, 3, { k = 4, v = 5, layout = 12 })
-- Latent attention, of which values are the first part of a key:
-- (q, cache, size of values, ...), (out, [sums,] q, its rotated part, cache, ...)
caching("_flashmla_C::fwd_kvcache_mla sgl_kernel::fwd_kvcache_mla aiter::mla_decode_stage1_asm_fwd", nil, 0, { k = 1, dv = 512 }, {
  { op = "_flashmla_C::fwd_kvcache_mla", dims = { { 4, 1, 128, 576 }, { 1000, 64, 1, 576 } },
    types = { bf16, bf16 }, annotation = decode, flops = 128 * 1088 * 2 * 4096,
    bytes = 1088 * (4 * 129 * 2 + 4092 * 2) },
})
caching("sgl_kernel::cutlass_mla_decode", nil, 1, { k = 3, more = 2 })
caching("_C::sm100_cutlass_mla_decode", nil, 2, { k = 4, more = 3 }, {
  { dims = { { 4, 128, 512 }, { 4, 128 }, { 4, 128, 512 }, { 4, 128, 64 }, { 1000, 1, 576 } },
    types = { bf16, "float", bf16, bf16, bf16 }, annotation = decode, flops = 128 * 1088 * 2 * 4096 },
})

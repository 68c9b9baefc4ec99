-- SPDX-License-Identifier: MIT
-- Attention of training. H_Q heads of queries, H_KV of keys and values; area is
-- the number of (query, key) pairs that count, N_Q N_KV unless causal. Dropout,
-- softmax and masks are not counted.

local bf16 = "c10::BFloat16"
local forward = { category = "SDPA_fwd", backward_category = "SDPA_bwd", sheet = "SDPA",
  unit = "matrix" }

-- Pairs under a causal mask: aligned at the end (flash_attn, aiter) or at the
-- beginning (aten).
local function causal_area(q, k, at_end)
  if q == k then return q * q / 2 end
  if at_end then
    return q <= k and q * k - q * q / 2 or k * k / 2
  end
  return q <= k and q * q / 2 or k * k / 2 + (q - k) * k
end

local function area(a, q, k)
  local n = a.causal and causal_area(q, k, a.at_end) or q * k
  if a.left and a.left >= 0 and a.right >= 0 then
    n = math.min(n, q * (a.left + a.right + 1))
  end
  return n
end

local function forward_flops(a, q, k)
  return 2 * a.B * a.HQ * area(a, q, k) * (a.dq + a.dv)
end

-- Four products, five with Q K^T again; gradients of shared heads are summed.
local function backward_flops(a, q, k)
  local sum = a.B * k * (a.dq + a.dv) * (a.HQ // a.HK - 1)
  return 2 * a.B * a.HQ * area(a, q, k) * ((a.flash and 3 or 2) * a.dq + 2 * a.dv)
    + (a.causal and sum / 2 or sum)
end

-- Of those, Q K^T.
local function repeated_flops(a, q, k)
  return a.flash and 2 * a.B * a.HQ * area(a, q, k) * a.dq or 0
end

-- Sequences of which only the longest is known: one of that length, the rest equal.
local function over_sequences(a, f)
  local s = a.sequences
  if not s then return f(a, a.NQ, a.NK) end
  local flops = f(a, s.max_q, s.max_k)
  if s.n_q > 1 then
    if s.n_k < 2 then fail("one sequence of keys for several of queries") end
    flops = flops + (s.n_q - 1) * f(a, (a.NQ - s.max_q) // (s.n_q - 1),
      (a.NK - s.max_k) // (s.n_k - 1))
  end
  return flops
end

function attention_forward(a)
  writes(a.B * a.NQ * a.HQ * a.dv * a.e)
  return over_sequences(a, forward_flops),
    (a.B * a.NQ * a.HQ + a.B * a.NK * a.HK) * (a.dq + a.dv) * a.e + (a.more or 0), a.dtype
end

function attention_backward(a)
  return over_sequences(a, backward_flops),
    (a.B * a.NQ * a.HQ * (2 * a.dq + a.dv) + 2 * a.B * a.NK * a.HK * (a.dq + a.dv)) * a.e
      + (a.more or 0), a.dtype, over_sequences(a, repeated_flops)
end

-- The sizes of q, k, v in arguments q, q + 1, q + 2; layout names the place of
-- batch, length, heads and size ("none": no batch).
local layouts = { BSHD = { 1, 2, 3, 4 }, BHSD = { 1, 3, 2, 4 }, SBHD = { 2, 1, 3, 4 },
  SHD = { 0, 1, 2, 3 } }
local function sizes(first, layout)
  local at, a = layouts[layout], {}
  local q, k, v = shape(first), shape(first + 1), shape(first + 2)
  local rank = layout == "SHD" and 3 or 4
  if #q ~= rank or #k ~= rank or #v ~= rank then fail("q, k or v has not " .. rank .. " dimensions") end
  a.B = at[1] == 0 and 1 or q[at[1]]
  a.NQ, a.HQ, a.dq = q[at[2]], q[at[3]], q[at[4]]
  a.NK, a.HK, a.dv = k[at[2]], k[at[3]], v[at[4]]
  if at[1] > 0 and (k[at[1]] ~= a.B or v[at[1]] ~= a.B) then fail("q, k, v differ in batch") end
  if v[at[2]] ~= a.NK or v[at[3]] ~= a.HK then fail("k and v differ in length or heads") end
  if k[at[4]] ~= a.dq then fail("q and k differ in head size") end
  if a.HK == 0 then fail("no heads") end
  a.e, a.dtype, a.more = size(first), dtype(first), -repeated(first, first + 1, first + 2)
  return a
end

-- Parameters in the reference's order; t: first, strides, dtypes, dropout, ...
function attention_params(_ENV, a, t)
  B = a.B
  N_Q = a.NQ
  H_Q = a.HQ
  N_KV = a.NK
  H_KV = a.HK
  d_h_qk = a.dq
  d_h_v = a.dv
  if t.strides then
    q_stride = strides(t.first)
    k_stride = strides(t.first + 1)
    v_stride = strides(t.first + 2)
  end
  if t.dropout then dropout = t.dropout end
  causal = t.causal
  flash_impl = t.flash
  if t.dtypes then dtype_A_B = { dtype(0), dtype(1) } end
  a.causal, a.flash, a.at_end = t.causal, t.flash, t.at_end
  _a = a
end

local function windows(a, left, right)
  a.left, a.right = int(value(left), -1), int(value(right), -1)
end

-- A truth value; empty or None is false.
local function flag(i)
  if not has_values() then fail("whether it is causal is not recorded (Concrete Inputs)") end
  return bool(value(i), false)
end

-- A mask by its number: none, causal from the beginning, or from the end.
local function mask(i)
  flag(i)
  local kind = int(value(i), 0)
  return kind > 0, kind == 2
end

-- An attention that is described by where its arguments are: q; dropout, causal,
-- left (the window's ends), bias; or what find() says instead. lens: where sequences that
-- lie one behind the other end, of queries and keys, and the longest of each.
local function attention(t)
  local back = t.back
  op {
    names = t.names, like = not back and not t.extra and forward or nil, extra = t.extra,
    whole = back and t.extra,
    category = back and not t.extra and "SDPA_bwd" or nil, sheet = "SDPA", unit = "matrix",
    eval = function (_ENV)
      local at = t.find and t.find() or t
      local first = at.q or t.q or 0
      local packed = t.lens and has(t.lens)
      local a = sizes(first, packed and rank(first) == 3 and "SHD" or t.layout)
      if packed then
        a.sequences = { n_q = dim(t.lens, 0) - 1, n_k = dim(t.lens + 1, 0) - 1,
          max_q = count(value(t.lens + 2)), max_k = count(value(t.lens + 3)) }
      end
      if at.left then windows(a, at.left, at.left + 1) end
      if t.bias and has(t.bias) then a.more = a.more + bytes(t.bias) end
      local p = at.dropout and num(value(at.dropout), 0.0) or 0.0
      local causal, at_end = at.is_causal, t.layout ~= "BHSD"
      if t.mask_type then
        causal, at_end = mask(t.mask_type)
      elseif causal == nil then
        causal = flag(at.causal)
      end
      attention_params(_ENV, a, { first = first, strides = t.strides, dropout = p, causal = causal,
        flash = t.flash ~= false, dtypes = t.dtypes, at_end = at_end })
      return (back and attention_backward or attention_forward)(a)
    end,
    backward = not back and function (_ENV) return attention_backward(_a) end or nil,
    examples = t.examples,
  }
end

attention {
  names = { "FlashAttnFunc", "flash_attn::_flash_attn_forward" },
  layout = "BSHD", strides = true, dtypes = true,
  -- releases 3 and 4 have no dropout: (q, k, v, scale, causal, ...)
  find = function ()
    if bool(value(4), nil) ~= nil then return { causal = 4 } end
    return { dropout = 3, causal = 5, left = 6 }
  end,
  examples = {
    { op = "flash_attn::_flash_attn_forward",
      dims = { { 2, 512, 16, 64 }, { 2, 512, 4, 64 }, { 2, 512, 4, 128 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "0.", "0.125", "True" },
      flops = 1610612736, bytes = 7864320, spec = "matrix_bf16",
      params = { causal = true, d_h_v = 128, q_stride = nil } },
    { op = "flash_attn::_flash_attn_forward", backward = true,
      dims = { { 2, 512, 16, 64 }, { 2, 512, 4, 64 }, { 2, 512, 4, 128 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "0.", "0.125", "True" },
      flops = 3758391296, bytes = 11534336 },
    -- a causal rectangle, aligned at the end
    { op = "flash_attn::_flash_attn_forward",
      dims = { { 1, 2, 1, 8 }, { 1, 4, 1, 8 }, { 1, 4, 1, 8 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "0.", "", "True" },
      flops = 2 * (2 * 4 - 2) * 16 },
    { op = "FlashAttnFunc", dims = { { 1, 2, 1, 8 }, { 1, 4, 1, 8 }, { 1, 4, 1, 8 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "None", "True", "" },
      flops = 2 * (2 * 4 - 2) * 16, params = { causal = true, dropout = 0.0 } },
  },
}

-- (dout, q, k, v, out, lse, dq, dk, dv, dropout, scale, causal, left, right, ...); of
-- some releases dropout and causal stand one place before. Without it: causal.
attention {
  names = { "flash_attn::_flash_attn_backward" }, q = 1, back = true,
  layout = "BSHD", strides = true, dtypes = true,
  find = function ()
    if bool(value(10), nil) == nil and bool(value(11), nil) ~= nil then
      return { dropout = 9, causal = 11, left = 12 }
    end
    return { dropout = 8, is_causal = bool(value(10), value(10) == "") }
  end,
  examples = {
    { dims = { { 1, 8, 2, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 } },
      types = { bf16, bf16, bf16, bf16 }, flops = 2 * 2 * 32 * 20, params = { causal = true } },
    { dims = { { 1, 8, 2, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 } },
      types = { bf16, bf16, bf16, bf16 },
      values = { "", "", "", "", "", "", "", "", "0.25", "0.5", "False" },
      flops = 2 * 2 * 64 * 20, params = { causal = false, dropout = 0.25 } },
    { dims = { { 1, 8, 2, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 } },
      types = { bf16, bf16, bf16, bf16 },
      values = { "", "", "", "", "", "", "", "", "", "0.25", "0.5", "True", "-1", "-1" },
      flops = 2 * 2 * 32 * 20, params = { causal = true, dropout = 0.25 } },
  },
}

local function varlen(_ENV, first, lens, dropout, causal)
  local a = sizes(first, "SHD")
  windows(a, causal + 1, causal + 2)
  a.sequences = { n_q = dim(lens, 0) - 1, n_k = dim(lens + 1, 0) - 1,
    max_q = num(value(lens + 2)), max_k = num(value(lens + 3)) }
  attention_params(_ENV, a, { first = first, strides = true, dropout = num(value(dropout), 0.0),
    causal = flag(causal), flash = true, dtypes = true, at_end = true })
  num_seqs_q = a.sequences.n_q
  num_seqs_kv = a.sequences.n_k
  max_seqlen_q = a.sequences.max_q
  max_seqlen_kv = a.sequences.max_k
  return a
end

op {
  like = forward, names = { "flash_attn::_flash_attn_varlen_forward" },
  eval = function (_ENV) return attention_forward(varlen(_ENV, 0, 3, 7, 9)) end,
  backward = function (_ENV) return attention_backward(_a) end,
  examples = {
    { dims = { { 4096, 16, 64 }, { 4096, 4, 64 }, { 4096, 4, 64 }, { 6 }, { 6 } },
      types = { bf16, bf16, bf16, "int", "int" },
      values = { "", "", "", "", "", "1024", "1024", "0.", "0.125", "False" },
      flops = 13958643712, bytes = 20971520, params = { num_seqs_q = 5, max_seqlen_q = 1024.0 } },
  },
}

op {
  names = { "flash_attn::_flash_attn_varlen_backward" },
  category = "SDPA_bwd", sheet = "SDPA", unit = "matrix",
  eval = function (_ENV) return attention_backward(varlen(_ENV, 1, 9, 13, 15)) end,
}

local square = { dims = { { 1, 12, 77, 64 }, { 1, 12, 77, 64 }, { 1, 12, 77, 64 } },
  types = { bf16, bf16, bf16 } }

attention {
  names = { "aten::_scaled_dot_product_flash_attention" },
  layout = "BHSD", dropout = 3, causal = 4, dtypes = true,
  examples = {
    { dims = { { 8, 16, 4096, 128 }, { 8, 16, 4096, 128 }, { 8, 16, 4096, 128 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "0.", "False" },
      flops = 1099511627776, bytes = 536870912, spec = "matrix_bf16" },
    { dims = square.dims, types = square.types, values = { "", "", "", "0.", "True" },
      flops = 9106944, bytes = 473088, params = { causal = true, dropout = 0.0 } },
    { dims = { { 4, 12, 197, 64 }, { 4, 12, 197, 64 }, { 4, 12, 197, 64 } },
      types = { bf16, bf16, bf16 }, values = { "", "", "", "0.", "False" }, flops = 476884992,
      bytes = 4841472 },
    { dims = { { 1, 1, 1, 8 }, { 1, 1, 1, 8 } }, types = { bf16, bf16 }, status = "failed" },
  },
}

-- (q, k, v, bias, compute_log_sumexp, dropout, is_causal)
attention {
  names = { "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_efficient_attention" },
  layout = "BHSD", dropout = 5, causal = 6, flash = false, dtypes = true, bias = 3,
  examples = {
    { op = "aten::_scaled_dot_product_efficient_attention", dims = square.dims,
      types = square.types, values = { "", "", "", "", "False", "0.", "False" },
      flops = 18213888, bytes = 473088, params = { flash_impl = false } },
  },
}

attention {
  names = { "aiter::_flash_attn_forward", "aiter::mha_fwd", "aiter::fmha_v3_fwd" },
  layout = "BSHD", dropout = 3, causal = 5, left = 6,
}
-- (dout, q, k, v, ...)
attention {
  names = { "aiter::_flash_attn_backward" }, back = true, layout = "BSHD",
  find = function ()
    local q = nargs() > 3 and rank(3) == 4 and 1 or 0
    return { q = q, dropout = 10, causal = 12, left = 13 }
  end,
  examples = {
    { dims = { { 1, 8, 4, 4 }, { 1, 8, 4, 4 }, { 1, 8, 2, 4 }, { 1, 8, 2, 4 } },
      types = { bf16, bf16, bf16, bf16 }, flops = 2 * 4 * 64 * 20 + 64,
      bytes = 2 * (32 * 12 + 2 * 16 * 8), spec = "matrix_bf16" },
  },
}
attention {
  names = { "aiter::wrapper_fmha_v3_fwd" }, q = 1, layout = "BSHD", dropout = 4, causal = 6,
}
attention {
  names = { "aiter::wrapper_fmha_v3_bwd" }, q = 1, back = true,
  layout = "BSHD", dropout = 7, causal = 9,
}
attention {
  names = { "aiter::mha_bwd" }, q = 1, back = true, layout = "BSHD", dropout = 6, causal = 8,
  left = 9,
}
attention {
  names = { "flash_attn_3::fwd" }, layout = "BSHD", causal = 24,
}

-- q: (batch, sequences, residues, heads, size); then k, v, mask, pair bias
op {
  like = forward, names = { "EvoformerAttention" },
  eval = function (_ENV)
    local a = { B = dim(0, 0) * dim(0, 1), NQ = dim(0, 2), NK = dim(0, 2), HQ = dim(0, 3),
      HK = dim(0, 3), dq = dim(0, 4), dv = dim(0, 4), e = size(0), dtype = dtype(0), more = 0 }
    for i = 3, 4 do
      if i < nargs() and has(i) then a.more = a.more + bytes(i) end
    end
    attention_params(_ENV, a, { causal = false, flash = false })
    dtype_A_B = { dtype(0) }
    return attention_forward(a)
  end,
  backward = function (_ENV) return attention_backward(_a) end,
}

-- ---- not in the reference: their categories are those of categories.lua ----

-- (grad, q, k, v, ...)
attention {
  names = { "aten::_scaled_dot_product_flash_attention_backward" }, extra = true, q = 1,
  back = true, layout = "BHSD", dropout = 10, causal = 11,
}
attention {
  names = { "aten::_scaled_dot_product_efficient_attention_backward" }, extra = true, q = 1,
  back = true, layout = "BHSD", dropout = 9, causal = 11, flash = false, bias = 4,
}
attention {
  names = { "aten::_scaled_dot_product_cudnn_attention_backward",
    "aten::_cudnn_attention_backward" }, extra = true, q = 1,
  back = true, layout = "BHSD", dropout = 13, causal = 14, flash = false, bias = 8,
  examples = {
    { op = "aten::_cudnn_attention_backward",
      dims = { { 1, 12, 77, 64 }, { 1, 12, 77, 64 }, { 1, 12, 77, 64 }, { 1, 12, 77, 64 } },
      types = { bf16, bf16, bf16, bf16 }, flops = 2 * 12 * 77 * 77 * 256,
      bytes = 12 * 77 * (192 + 256) * 2 },
  },
}
-- (q, k, v, cum_seq_q, cum_seq_k, max_q, max_k, dropout, is_causal, ...), batched
attention {
  names = { "aten::_flash_attention_forward" }, extra = true,
  layout = "BSHD", dropout = 7, causal = 8, lens = 3,
  examples = {
    { dims = { { 4096, 16, 64 }, { 4096, 4, 64 }, { 4096, 4, 64 }, { 6 }, { 6 } },
      types = { bf16, bf16, bf16, "int", "int" },
      values = { "", "", "", "", "", "1024", "1024", "0.", "False" }, flops = 13958643712,
      bytes = 20971520 },
  },
}
attention {
  names = { "aten::_flash_attention_backward" }, extra = true, q = 1, back = true,
  layout = "BSHD", dropout = 10, causal = 11, lens = 6,
}
-- (q, k, v, bias, cu_q, cu_k, max_q, max_k, dropout, custom_mask_type, ...)
attention {
  names = { "aten::_efficient_attention_forward" }, extra = true,
  layout = "BSHD", dropout = 8, mask_type = 9, flash = false, bias = 3, lens = 4,
  examples = {
    { dims = { { 1, 2, 1, 8 }, { 1, 4, 1, 8 }, { 1, 4, 1, 8 } }, types = { bf16, bf16, bf16 },
      values = { "", "", "", "", "", "", "", "", "0.", "0" }, flops = 2 * 8 * 16 },
    { dims = { { 1, 2, 1, 8 }, { 1, 4, 1, 8 }, { 1, 4, 1, 8 } }, types = { bf16, bf16, bf16 },
      values = { "", "", "", "", "", "", "", "", "0.", "1" }, flops = 2 * 2 * 16 },
    { dims = { { 1, 2, 1, 8 }, { 1, 4, 1, 8 }, { 1, 4, 1, 8 } }, types = { bf16, bf16, bf16 },
      values = { "", "", "", "", "", "", "", "", "0.", "2" }, flops = 2 * 6 * 16 },
  },
}
-- (grad, q, k, v, bias, out, cu_q, cu_k, max_q, max_k, lse, dropout, seed, offset,
-- custom_mask_type, ...)
attention {
  names = { "aten::_efficient_attention_backward" }, extra = true, q = 1, back = true,
  layout = "BSHD", dropout = 11, mask_type = 14, flash = false, bias = 4,
}
-- (q, k, v, bias, cu_q, cu_k, max_q, max_k, compute_lse, dropout, is_causal, ...)
attention {
  names = { "aten::_cudnn_attention_forward" }, extra = true,
  layout = "BHSD", dropout = 9, causal = 10, flash = false, bias = 3,
}
-- (q, k, v, bias, dropout, is_causal, ...) and (grad, q, k, v, bias, mask, out, lse, cu_q, cu_k,
-- max_q, max_k, dropout, is_causal, ...)
attention {
  names = { "aten::_scaled_dot_product_fused_attention_overrideable" }, extra = true,
  layout = "BHSD", dropout = 4, causal = 5, bias = 3,
}
attention {
  names = { "aten::_scaled_dot_product_fused_attention_overrideable_backward" }, extra = true,
  q = 1, back = true, layout = "BHSD", dropout = 12, causal = 13, bias = 4,
}
-- (dout, q, k, v, out, lse, dq, dk, dv, cu_q, cu_k, used_q, used_k, max_q, max_k, scale, is_causal, ...)
attention {
  names = { "flash_attn_3::bwd" }, extra = true, q = 1, back = true, layout = "BSHD", causal = 16,
  left = 17,
}

-- Autograd functions of flash_attn: sequences end to end, and operands in one tensor.
op {
  names = { "FlashAttnVarlenFunc" }, sheet = "SDPA", unit = "matrix", extra = true,
  category = "SDPA_fwd", backward_category = "SDPA_bwd",
  eval = function (_ENV) return attention_forward(varlen(_ENV, 0, 3, 7, 9)) end,
  backward = function (_ENV) return attention_backward(_a) end,
  examples = {
    { dims = { { 4096, 16, 64 }, { 4096, 4, 64 }, { 4096, 4, 64 }, { 6 }, { 6 } },
      types = { bf16, bf16, bf16, "int", "int" },
      values = { "", "", "", "", "", "1024", "1024", "0.", "0.125", "False" },
      flops = 13958643712, bytes = 20971520 },
  },
}
-- (qkv (B, T, 3, H, d), dropout, scale, causal) and (q, kv (B, T, 2, H, d), dropout, scale, causal)
local function together(name, kv, causal_at, examples)
  op {
    names = { name }, sheet = "SDPA", unit = "matrix", extra = true, category = "SDPA_fwd",
    backward_category = "SDPA_bwd", examples = examples,
    eval = function (_ENV)
      if rank(kv) ~= 5 then fail("keys and values have not 5 dimensions") end
      local a = { B = dim(0, 0), NQ = dim(0, 1), HQ = dim(0, -2), dq = dim(0, -1), NK = dim(kv, 1),
        HK = dim(kv, 3), dv = dim(kv, 4), e = size(0), dtype = dtype(0) }
      attention_params(_ENV, a, { dropout = num(value(causal_at - 2), 0.0), causal = flag(causal_at),
        flash = true, at_end = true })
      return attention_forward(a)
    end,
    backward = function (_ENV) return attention_backward(_a) end,
  }
end
together("FlashAttnQKVPackedFunc", 0, 3, {
  { dims = { { 2, 128, 3, 8, 64 } }, types = { bf16 }, values = { "", "0.", "", "True" },
    flops = 2 * 2 * 8 * 128 * 64 * 128, bytes = 2 * 2 * 128 * 8 * 4 * 64 },
})
together("FlashAttnKVPackedFunc", 1, 4)

-- Transformer Engine's: where q, k and v stand differs from release to release, as do the
-- texts of layout and mask: they are found by what they are.
local function fused_attention()
  local first, order, causal
  for i = 0, nargs() - 3 do
    if not first and rank(i) == 4 and rank(i + 1) == 4 and rank(i + 2) == 4 then first = i end
  end
  for i = 0, nvalues() - 1 do
    local text = value(i):lower()
    order = order or text:match("bshd") or text:match("sbhd")
    if text:find("causal", 1, true) or text:find("no_mask", 1, true) then
      causal = text:find("causal", 1, true) ~= nil
    end
  end
  return first or fail("q, k and v are not among its arguments"),
    order or fail("the layout of q, k and v is not recorded (Concrete Inputs)"), causal
end
op {
  names = { "FusedAttnFunc" }, sheet = "SDPA", unit = "matrix", extra = true,
  category = "SDPA_fwd", backward_category = "SDPA_bwd",
  eval = function (_ENV)
    local first, order, causal = fused_attention()
    if causal == nil then fail("whether it is causal is not recorded (Concrete Inputs)") end
    local a = sizes(first, order:upper())
    attention_params(_ENV, a, { causal = causal, flash = true, at_end = true })
    return attention_forward(a)
  end,
  backward = function (_ENV) return attention_backward(_a) end,
  examples = {
    { dims = { {}, {}, { 512, 2, 16, 64 }, { 512, 2, 4, 64 }, { 512, 2, 4, 128 }, {}, {} },
      types = { "Scalar", "Scalar", bf16, bf16, bf16, "", "" },
      values = { "True", "512", "", "", "", "sbhd_sbhd_sbhd", "causal" }, flops = 1610612736,
      bytes = 7864320, spec = "matrix_bf16" },
    { dims = { { 512, 2, 16, 64 }, { 512, 2, 4, 64 }, { 512, 2, 4, 128 } }, types = { bf16, bf16, bf16 },
      values = { "", "", "" }, status = "failed" },
  },
}

-- SPDX-License-Identifier: MIT
-- Attention among XLA's custom calls: Transformer Engine's and cuDNN's. What a mask or a
-- window leaves out is not counted; flops_unmasked has it. Of padded and packed sequences
-- the lengths are not recorded: they count as the longest.

local reads = { "flops", "bytes_accessed" }
local forward = { category = "SDPA_fwd", sheet = "SDPA", unit = "matrix", reads = reads }
local backward = { category = "SDPA_bwd", sheet = "SDPA", unit = "matrix", reads = reads }

local function answer(_ENV, a, back, t)
  local f = back and attention_backward or attention_forward
  attention_params(_ENV, a, t)
  a.B = 1.0 * a.B -- sizes of a configuration may be of any length
  local flops, bytes = f(a)
  local left, right = a.left, a.right
  a.causal, a.left, a.right = false, nil, nil
  flops_unmasked = f(a)
  a.causal, a.left, a.right = t.causal, left, right
  return hlo_recorded(flops, bytes, a.dtype)
end

local function operand(i, k)
  local o = i.operands and i.operands[k]
  return o and arrays(o.shape)[1] or { dims = {}, n = 0, bytes = 0 }
end

-- ---- Transformer Engine ----

-- What stands in "{attn_heads = 16 : i64, is_training = true}", or in an object.
local function setting(i, key)
  local c = i.config
  if type(c) == "table" then return tonumber(c[key]) end
  return tonumber((c or ""):match("[{, ]" .. key .. " *= *([^ ,:}]+)"))
end

-- By number: the dimensions of each of the operands that hold q, k and v.
local layouts = { [0] = { "SB3HD" }, { "SBH3D" }, { "SBHD", "SB2HD" }, { "SBHD", "SBH2D" },
  { "SBHD", "SBHD", "SBHD" }, { "BS3HD" }, { "BSH3D" }, { "BSHD", "BS2HD" }, { "BSHD", "BSH2D" },
  { "BSHD", "BSHD", "BSHD" }, { "T3HD" }, { "TH3D" }, { "THD", "T2HD" }, { "THD", "TH2D" },
  { "THD", "THD", "THD" } }

-- Sizes by letter of an operand of such a layout; {} if it is another.
local function letters(a, layout)
  local out = {}
  for k = 1, #layout do out[layout:sub(k, k)] = a.dims[k] end
  return #a.dims == #layout and out or {}
end

local function sizes(i)
  local layout = layouts[setting(i, "qkv_layout") or 9] or layouts[9]
  local q = letters(operand(i, 1), layout[1])
  local k = letters(operand(i, #layout > 1 and 2 or 1), layout[2] or layout[1])
  local v = letters(operand(i, #layout), layout[#layout])
  local dq = setting(i, "qk_head_dim") or setting(i, "head_dim") or q.D
  local a = { B = setting(i, "input_batch") or q.B or 1,
    NQ = setting(i, "q_max_seqlen") or q.S or q.T, NK = setting(i, "kv_max_seqlen") or k.S or k.T,
    HQ = setting(i, "attn_heads") or q.H, HK = setting(i, "num_gqa_groups") or k.H, dq = dq,
    dv = setting(i, "v_head_dim") or setting(i, "head_dim") or v.D or dq,
    left = setting(i, "window_size_left"), right = setting(i, "window_size_right") }
  if not (a.NQ and a.NK and a.HQ and a.HK and a.dq) or a.HK == 0 then
    fail("neither its configuration nor its shapes tell the sizes")
  end
  -- to the left alone: the mask ends it on the right
  if a.left and a.left >= 0 and a.right and a.right < 0 then a.right = 0 end
  return a
end

local function engine(back, names, examples)
  op {
    like = back and backward or forward, names = names, examples = examples,
    eval = function (_ENV)
      local i = hlo()
      local a, first = sizes(i), operand(i, 1)
      local mask = setting(i, "mask_type") or 0
      a.e, a.dtype = bytes_of(first.type or ""), first.type
      a.more = (setting(i, "bias_type") or 0) ~= 0 and operand(i, 4).bytes or 0
      return answer(_ENV, a, back, { dropout = setting(i, "dropout_probability") or 0.0,
        causal = mask >= 2, at_end = mask >= 4, flash = true })
    end,
  }
end
local function call(text)
  local out = {}
  for w in text:gmatch("%S+") do out[#out + 1] = "hlo::custom-call:" .. w end
  return out
end
local function packed(mask, more)
  return '{"opcode":"custom-call","shape":"(bf16[2,2048,16,128]{3,2,1,0},u8[4]{0})","operands":['
    .. '{"shape":"bf16[2,2048,3,16,128]{4,3,2,1,0}"},{"shape":"bf16[0]{0}"},{"shape":"bf16[0]{0}"}],"config":'
    .. '"{attn_heads = 16 : i64, dropout_probability = 1.0e-01 : f64, input_batch = 2 : i64, is_training = true,'
    .. ' num_gqa_groups = 16 : i64, q_max_seqlen = 2048 : i64, kv_max_seqlen = 2048 : i64, qkv_layout = 5 : i64,'
    .. ' head_dim = 128 : i64, mask_type = ' .. mask .. ' : i64' .. (more or "") .. '}"}'
end
local grouped = [[{"opcode":"custom-call","shape":"bf16[2,64,8,32]","operands":[{"shape":"bf16[2,64,8,32]"},
  {"shape":"bf16[2,32,2,32]"},{"shape":"bf16[2,32,2,16]"},{"shape":"bf16[1,8,64,32]"}],
  "config":{"qkv_layout":9,"bias_type":1,"mask_type":0}}]]

engine(false, call "te_fused_attn_forward_ffi te_fused_attn_forward", {
  { hlo = packed(2), flops = 34359738368, bytes = 4 * 2 * 2 * 2048 * 16 * 128, spec = "matrix_bf16",
    params = { B = 2, N_Q = 2048, H_KV = 16, d_h_v = 128, dropout = 0.1, causal = true,
      flops_unmasked = 68719476736.0 } },
  { hlo = packed(0), flops = 68719476736, params = { causal = false } },
  -- 256 keys to the left of each query, and its own
  { hlo = packed(2, ", window_size_left = 255 : i64, window_size_right = 0 : i64"),
    flops = 2 * 2 * 16 * 2048 * 256 * 256 },
  { hlo = grouped, flops = 2 * 2 * 8 * 64 * 32 * 48, bytes = 2 * 2 * (64 * 8 + 32 * 2) * 48 + 32768,
    params = { H_Q = 8, H_KV = 2, d_h_v = 16 } },
  { hlo = [[{"opcode":"custom-call","operands":[{"shape":"bf16[2]"}]}]], status = "failed" },
})
engine(true, call "te_fused_attn_backward_ffi te_fused_attn_backward", {
  { hlo = packed(0), flops = 171798691840 },
  { hlo = packed(2), flops = 85899345920, params = { flops_unmasked = 171798691840.0 } },
  { hlo = grouped, flops = 2 * 2 * 8 * 64 * 32 * (3 * 32 + 2 * 16) + 2 * 32 * 48 * 3,
    bytes = 2 * 2 * (64 * 8 * (2 * 32 + 16) + 2 * 32 * 2 * 48) + 32768 },
})

-- ---- cuDNN ----

-- Its scores are [batch, heads, queries, keys]; the rest follows from the sizes of q, k, v.
local function cudnn(back, glob, examples)
  op {
    like = back and backward or forward, globs = { glob }, examples = examples,
    eval = function (_ENV)
      local i = hlo()
      local c = type(i.config) == "table" and i.config.cudnn_fmha_backend_config or {}
      local s = c.intermediate_tensor_shape and c.intermediate_tensor_shape.dimensions or {}
      local q, k, v = operand(i, 1), operand(i, 2), operand(i, 3)
      if #s ~= 4 then fail("the sizes of its scores are not recorded") end
      local a = { B = int(s[1]), HQ = int(s[2]), NQ = int(s[3]), NK = int(s[4]),
        e = bytes_of(q.type or ""), dtype = q.type }
      local function per(n, by)
        if by <= 0 or n % by ~= 0 then fail("its operands are not those of its scores") end
        return n // by
      end
      a.dq = per(q.n, a.B * a.HQ * a.NQ)
      a.HK = per(k.n, a.B * a.NK * a.dq)
      a.dv = per(v.n, a.B * a.NK * a.HK)
      local mask, window = c.mask_type or "", num(c.sliding_window_length or 0, 0)
      if window > 0 then a.left, a.right = window - 1, 0 end
      if contains(i.target or "", "Bias") and not back then a.more = operand(i, 4).bytes end
      return answer(_ENV, a, back, { dropout = num(c.dropout_rate or 0, 0.0),
        causal = contains(mask, "CAUSAL"), at_end = contains(mask, "BOTTOM_RIGHT"), flash = true })
    end,
  }
end
local function scores(mask, more)
  return '{"opcode":"custom-call","shape":"(bf16[4,16,2048,128]{3,1,2,0},u8[256]{0})","operands":['
    .. '{"shape":"bf16[4,2048,16,128]"},{"shape":"bf16[4,1024,4,128]"},{"shape":"bf16[4,1024,4,64]"}],"config":{'
    .. '"cudnn_fmha_backend_config":{"intermediate_tensor_shape":{"dimensions":["4","16","2048","1024"]},'
    .. '"mask_type":"' .. mask .. '"' .. (more or "") .. '}}}'
end

cudnn(false, "hlo::custom-call:__cudnn$fmha*", {
  { hlo = scores "NO_MASK", flops = 2 * 4 * 16 * 2048 * 1024 * 192, spec = "matrix_bf16",
    bytes = 2 * 4 * (2048 * 16 + 1024 * 4) * 192, params = { H_KV = 4, d_h_qk = 128, d_h_v = 64, dropout = 0.0 } },
  -- all queries behind the last key see all keys
  { hlo = scores "CAUSAL", flops = 2 * 4 * 16 * (1024 * 512 + 1024 * 1024) * 192 },
  { hlo = scores("CAUSAL", ',"sliding_window_length":64'), flops = 2 * 4 * 16 * 2048 * 64 * 192 },
  { hlo = [[{"opcode":"custom-call","operands":[],"config":{}}]], status = "failed" },
})
cudnn(true, "hlo::custom-call:__cudnn$fmha*Backward*", {
  { hlo = scores "NO_MASK", flops = 2 * 4 * 16 * 2048 * 1024 * (3 * 128 + 2 * 64) + 4 * 1024 * 192 * 3 },
})

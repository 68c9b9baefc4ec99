-- SPDX-License-Identifier: MIT
-- Ops for the steps that one op hides: each gets a model of its own. A rule is
-- called for each op or Python frame of its names (tl-models(5)).

-- GPU work below e with this in its name, in the order of time
local function work(e, part)
  local found = {}
  for _, k in ipairs(e:below("gpu")) do
    if contains(k.name, part) then found[#found + 1] = k end
  end
  table.sort(found, function (a, b)
    if a.start ~= b.start then return a.start < b.start end
    return a.id < b.id
  end)
  return found
end

-- sglang_profiler::X_12 is X: the number is that of a line.
pseudo {
  ops = { "sglang_profiler::*_*[0-9]" },
  make = function (e)
    local name = e.name:match("^(.*)_%d+$")
    if name then e:rename(name) end
  end,
}

-- ---- experts ----

pseudo {
  ops = { "vllm::rocm_aiter_fused_moe" },
  make = function (e)
    for _, op in ipairs(e:below("op")) do
      if op:first("gpu") then return end
    end
    local found = {}
    for _, k in ipairs(work(e, "fmoe")) do
      local name = k.name
      if name:find("aiter::", 1, true) and name:find("fmoe", 1, true)
        and not name:find("MoeSorting", 1, true) and not contains(name, "quant") then
        found[#found + 1] = k
      end
    end
    if #found == 1 then
      found[1]:wrap_launch { name = "pseudo_op::moe_aiter_fused_1stage", from = e }
    end
  end,
}

-- A product of the experts: the first one goes up, the others come down.
local function expert(e, kernel, i, name, gated, topk)
  local way = i == 1 and "up" or "down"
  kernel:wrap_launch { name = "pseudo_op::" .. name .. way, from = e,
    args = { { "MoE GEMM type", way }, { "MoE GEMM index", i - 1 }, { "MoE GEMM gated", gated },
      { "MoE topk", topk } } }
end

-- How many experts a token goes to: the second argument of the op that chose.
local function topk_below(e)
  for _, x in ipairs(e:below()) do
    local topk = x.name:find("TopK", 1, true) and int(x:value(1), -1) or -1
    local up, depth = x, 0
    while topk >= 0 and up ~= e do up, depth = up.parent, depth + 1 end
    if topk >= 0 and depth <= 10 then return topk end
  end
  return 4
end

pseudo {
  ops = { "vllm::moe_forward" }, unless = { "vllm::rocm_aiter_fused_moe" },
  make = function (e)
    local topk = topk_below(e)
    for i, k in ipairs(work(e, "matmul_ogs")) do
      expert(e, k, i, "moe_triton_unfused_", contains(k.name, "_swiglu") or contains(k.name, "_glu"),
        topk)
    end
    local scatter = work(e, "matmul_scatter")
    if #scatter == 1 then
      scatter[1]:wrap_launch { name = "pseudo_op::moe_triton_unfused_finalize_matmul_scatter",
        from = e, args = { { "MoE GEMM type", "finalize_matmul_scatter" }, { "MoE topk", topk } } }
    end
  end,
}

pseudo {
  ops = { "vllm::outplace_fused_experts" },
  make = function (e)
    local topk = e:has(4) and e:rank(4) > 1 and e:dim(4, 1) or 8
    for i, k in ipairs(work(e, "fused_moe_kernel_gptq_awq")) do
      expert(e, k, i, "moe_gptq_awq_", i == 1, topk)
    end
  end,
}

pseudo {
  frames = { "*: flydsl_moe_stage1", "*: flydsl_moe_stage2" },
  make = function (e)
    local op, stage = e:inside("aiter::fused_moe_"), int(e.name:sub(-1))
    if op then
      e:wrap { name = "pseudo_op::moe_flydsl_stage" .. stage, from = op,
        args = { { "MoE flydsl stage", stage } } }
    end
  end,
}

-- ---- attention ----

-- The first of these arguments that e or an event below has becomes its; the
-- type of keys also that of the ops above.
local function inherit(key, value_key)
  return function (e)
    for n, name in ipairs { key, value_key } do
      local found = e:argument(name)
      for _, x in ipairs(found and {} or e:below()) do
        found = x:argument(name)
        if found then
          e:set(name, found)
          break
        end
      end
      local op = found and n == 1 and e
      while op do
        if op.kind == "op" then op:set("kv_cache_dtype", found) end
        op = op.parent
      end
    end
  end
end
pseudo { ops = { "_rocm_C::paged_attention" }, make = inherit("KCache_dtype", "VCache_dtype") }
pseudo { ops = { "aiter::paged_attention_v1" }, make = inherit("k_cache_dtype", "v_cache_dtype") }

-- What is below a frame; the shapes are those of an op below.
local function of_frame(frame, name, op)
  pseudo {
    frames = { frame },
    make = function (e)
      local from = e:first("op", op)
      if from and e:first("gpu") then e:wrap_children { name = name, from = from } end
    end,
  }
end
of_frame("*aiter/mla.py(*): mla_decode_fwd*", "pseudo_mla_decode_fwd",
  "aiter::mla_decode_stage1_asm_fwd")
of_frame("*: mla_fp8_prefill_attn", "pseudo_mla_prefill_fwd", "aiter::mla_prefill_ps_asm_fwd")

-- Sliding window, or one of two ways of compressing, by kernels of the op; heads
-- and their size by the name of another.
local function mode_of(op)
  local mode, heads, size = "swa", nil, nil
  for _, k in ipairs(op:below("gpu")) do
    local name = k.name
    if starts(name, "hca_") then
      mode = "hca"
    elseif mode == "swa" and (starts(name, "fused_compress_attn")
      or starts(name, "_update_compressor_states_kernel")) then
      mode = "csa"
    end
    if not heads then heads, size = name:match("qk_norm_rope_H(%d+)_D(%d+)") end
  end
  return mode, heads, size
end

pseudo {
  frames = { "*paged_decode.py(*: sparse_attn_v4_paged_decode*" },
  make = function (e, nth)
    local op = e:inside("aiter::v4_attention_with_output")
    if not op or not e:first("gpu") then return end
    local mode, heads, size = mode_of(op)
    local args = { { "v4_mode", mode }, { "v4_call_index", nth } }
    local model = variable("TL_MODEL")
    if model then args[#args + 1] = { "v4_model_name", model } end
    args[#args + 1] = { "v4_tp", int(variable("TL_TP") or "", 1) }
    if heads then
      args[#args + 1] = { "v4_H_Q", int(heads) }
      args[#args + 1] = { "v4_d_h", int(size) }
    end
    e:wrap_children { name = "pseudo_v4_paged_decode_" .. mode, from = op, args = args }
  end,
}

-- ---- products of Transformer Engine's linear layers, version 2 ----
-- An autograd function that launches its product itself. With an input X (rows,
-- in) and weights W (out, in) it computes forward X W', backward the gradients of
-- X from (rows, out) by W, and of W from (out, rows) by X.

-- arguments of the forward op
local layers = {
  _Linear = { weights = 0, input = 1, fp8 = 4 },
  _LayerNormLinear = { weights = 3, input = 0, fp8 = 7 },
}
-- the first version has ops of its own for its products
local first_version = { "tex_ts::te_gemm_ts" }

local function gemms(e)
  local found = {}
  for _, k in ipairs(e:below("kernel")) do
    local name = k.name
    if starts(name, "nvjet") or name:find("RR_GEMM_", 1, true) or name:find("C.*_A.*_B") then
      found[#found + 1] = k
    end
  end
  return found
end

-- X may have further dimensions in front: rows are their product.
local function operands(op, l)
  if not op:has(l.weights) or not op:has(l.input) then return nil end
  local x, w = op:shape(l.input), op:shape(l.weights)
  if #x < 2 or #w < 2 or w[2] ~= x[#x] then return nil end
  local rows = 1
  for i = 1, #x - 1 do rows = rows * x[i] end
  local fp8 = op:value(l.fp8) == "True"
  return { rows = rows, n_in = x[#x], n_out = w[1], x = fp8 and "fp8" or op:dtype(l.input),
    w = fp8 and "fp8" or op:dtype(l.weights) }
end

pseudo {
  ops = { "_Linear", "_LayerNormLinear" }, unless = first_version,
  make = function (e)
    local found, o = gemms(e), operands(e, layers[e.name])
    if #found == 1 and o then
      found[1]:wrap_launch { name = e.name .. "_yfwd_mm", from = e,
        dims = { { o.rows, o.n_in }, { o.n_in, o.n_out } }, types = { o.x, o.w } }
    end
  end,
}

-- The forward op that the wrapper of a backward op is linked to.
local function linked(e, name)
  local x, n = e.parent, 0
  while x and n < 5 do
    local forward = x.kind == "op" and x.forward
    if forward then return forward.name == name and forward or nil end
    n = n + (x.kind == "op" and 1 or 0)
    x = x.parent
  end
  return nil
end

-- Below a checkpoint's backward its layers are computed again and then run
-- backward, the last one first. Links between them may be missing.
local checkpoint = "CheckpointFunctionBackward"
local last, forward_of
local function pair(top)
  local forward, backward = {}, {}
  for _, x in ipairs(top:below("op")) do
    local name = x.name
    local into = layers[name] and forward or layers[name:match("^(.*)Backward$") or ""] and backward
    if into and x:inside(checkpoint) == top then into[#into + 1] = x end
  end
  last, forward_of = top, {}
  for i, x in ipairs(#forward == #backward and backward or {}) do
    forward_of[x.id] = forward[#forward + 1 - i]
  end
end

pseudo {
  ops = { "_LinearBackward", "_LayerNormLinearBackward" }, unless = first_version,
  make = function (e)
    local name, top = e.name:match("^(.*)Backward$"), e:inside(checkpoint)
    if top and top ~= last then pair(top) end
    local forward = top and forward_of[e.id] or linked(e, name)
    local found, o = gemms(e), forward and operands(forward, layers[forward.name])
    if #found ~= 2 or not o then return end
    found[1]:wrap_launch { name = e.name .. "_xgrad_mm", from = e,
      dims = { { o.rows, o.n_out }, { o.n_out, o.n_in } }, types = { o.x, o.w } }
    found[2]:wrap_launch { name = e.name .. "_wgrad_mm", from = e,
      dims = { { o.n_out, o.rows }, { o.rows, o.n_in } }, types = { o.x, o.x } }
  end,
}

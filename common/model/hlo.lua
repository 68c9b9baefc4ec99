-- SPDX-License-Identifier: MIT
-- XLA's instructions (JAX, TensorFlow), all but products and attention. Elementwise ones
-- count one operation for each element of the result, a reduction one for each element
-- of its input; constants, conversions and moves count none. What a fusion reads and
-- writes is that of the whole, its operations are those of its body.

datatype { names = { "f64" }, bytes = 8, precision = "fp64" }
datatype { names = { "f32" }, bytes = 4, precision = "fp32" }
datatype { names = { "tf32" }, bytes = 4, precision = "tf32" }
datatype { names = { "f16" }, bytes = 2, precision = "fp16" }
datatype { names = { "bf16" }, bytes = 2, precision = "bf16" }
datatype { bytes = 1, precision = "fp8",
  names = { "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3", "f8e3m4" } }
datatype { names = { "f8e8m0fnu" }, bytes = 1 } -- a block's scale
datatype { names = { "f4e2m1fn" }, bytes = 0.5, precision = "fp4" }
datatype { names = { "s8", "u8" }, bytes = 1, precision = "int8" }
datatype { names = { "pred" }, bytes = 1 }
datatype { names = { "s16", "u16" }, bytes = 2 }
datatype { names = { "s32", "u32" }, bytes = 4 }
datatype { names = { "s64", "u64" }, bytes = 8 }
datatype { names = { "s4", "u4" }, bytes = 0.5 }
datatype { names = { "s2", "u2" }, bytes = 0.25 }
datatype { names = { "s1", "u1" }, bytes = 0.125 }
datatype { names = { "c64" }, bytes = 8, precision = "fp32" }
datatype { names = { "c128" }, bytes = 16, precision = "fp64" }
datatype { names = { "token", "opaque", "buffer" }, bytes = 0 }

-- ---- arrays ----

-- Most shapes stand in many instructions.
local known_shapes, nknown = {}, 0

-- The arrays of a shape's text, of a tuple those in it: type, dims, n (elements), bytes,
-- minor (the dimension along which it is contiguous, from 0).
function arrays(text)
  text = text or ""
  if known_shapes[text] then return known_shapes[text] end
  local out = {}
  for kind, sizes, layout in text:gmatch("(%w+)%[([^%]]*)%]({?%d*)") do
    local a = { type = kind, dims = {} }
    for d in sizes:gmatch("%-?%d+") do a.dims[#a.dims + 1] = tonumber(d) end
    a.n = prod(a.dims)
    if a.n >= 2.0 ^ 63 then fail("an array of more than 2^63 elements") end
    a.bytes = 1.0 * a.n * bytes_of(kind)
    a.minor = tonumber(layout:sub(2)) or #a.dims - 1
    out[#out + 1] = a
  end
  nknown = nknown + 1
  if nknown > 1000 then known_shapes, nknown = {}, 0 end
  known_shapes[text] = out
  return out
end

function array_bytes(text)
  local sum = 0
  for _, a in ipairs(arrays(text)) do sum = sum + a.bytes end
  return sum
end

-- The first array of an operand, from 1.
function array_of(i, k)
  local o = i.operands and i.operands[k]
  return o and arrays(o.shape)[1] or fail("it has no operand " .. k - 1)
end

-- Its results without the memory that a library was given to work in.
function results(i)
  local all, out = arrays(i.shape), {}
  local last = all[#all]
  local has_memory = i.target and #all > 1 and #last.dims == 1
    and (last.type == "s8" or last.type == "u8")
  for k = 1, has_memory and #all - 1 or #all do out[k] = all[k] end
  return out
end

-- ---- what it reads and writes ----

-- A list of instructions that is whole: a body, or the instruction with its operands.
local function body_of(i)
  if i.body then return i.body end
  local body, places = {}, {}
  for k, o in ipairs(i.operands or {}) do
    body[k] = { opcode = "parameter", parameter = k - 1, shape = o and o.shape }
    places[k] = k - 1
  end
  body[#body + 1] = { opcode = i.opcode, shape = i.shape, operands = places, window = i.window,
    dimensions = i.dimensions, root = true }
  return body
end

-- Same bytes under another shape.
local same = { bitcast = true, reshape = true, ["get-tuple-element"] = true }
-- Those that read no more of their first operand than they give.
local part = { slice = true, ["dynamic-slice"] = true, gather = true }
-- Those that write into their first operand: the place of what they write, from 1.
local function written_by(j)
  if j.opcode == "dynamic-update-slice" then return 2 end
  return j.opcode == "scatter" and #j.operands == 3 and 3 or nil
end

-- The bytes of operand k of a body's instruction.
local function operand_bytes(body, j, k)
  local o = body[(j.operands[k] or -1) + 1]
  return array_bytes(o and o.shape)
end

-- For each place of a body the instructions that read it: { instruction, its place, operand }.
local function readers(body)
  local users = {}
  for at, j in ipairs(body) do
    for k, o in ipairs(j.operands or {}) do
      if o then
        users[o + 1] = users[o + 1] or {}
        table.insert(users[o + 1], { j, at, k })
      end
    end
  end
  return users
end

-- The bytes that are read of place at; known remembers them, and ends loops.
local function read_of(body, users, at, known)
  if known[at] then return known[at] end
  local full, sum = array_bytes(body[at].shape), 0
  known[at] = full
  for _, u in ipairs(users[at] or {}) do
    local j, k = u[1], u[3]
    if same[j.opcode] then
      sum = sum + read_of(body, users, u[2], known)
    elseif k == 1 and part[j.opcode] then
      sum = sum + array_bytes(j.shape)
    elseif k == 1 and j.opcode == "scatter" and written_by(j) then
      sum = sum + operand_bytes(body, j, 3)
    elseif k ~= 1 or not written_by(j) then
      sum = full
    end
  end
  known[at] = sum < full and sum or full
  return known[at]
end

-- The place behind those that only give another shape.
local function behind(body, at)
  for _ = 1, #body do
    local j = body[at]
    if not j or not same[j.opcode] or not j.operands or not j.operands[1] then break end
    at = j.operands[1] + 1
  end
  return at
end

-- The bytes that are written of a result at a place: in an operand only what is new.
local function written_of(body, at)
  local j = body[behind(body, at)]
  local k = j and j.operands and written_by(j)
  if k and j.operands[1] then
    local into = body[behind(body, j.operands[1] + 1)]
    if into and into.opcode == "parameter" then return operand_bytes(body, j, k) end
  end
  return array_bytes(body[at] and body[at].shape)
end

-- Bytes read and written by an instruction: each operand once.
function hlo_bytes(i)
  local body, known, seen, sum = body_of(i), {}, {}, 0
  local users, root = readers(body), nil
  for at, j in ipairs(body) do
    if j.opcode == "parameter" and j.parameter then
      local o = i.operands and i.operands[j.parameter + 1]
      local id = o and o.name or j.parameter
      if not seen[id] then sum = sum + read_of(body, users, at, known) end
      seen[id] = true
    end
    root = root or j.root and at
  end
  root = root or #body
  if body[root] and body[root].opcode == "tuple" then
    for _, o in ipairs(body[root].operands or {}) do
      sum = sum + (o and written_of(body, o + 1) or 0)
    end
    return sum
  end
  return sum + written_of(body, root)
end

-- ---- operations ----

local free = {}
for w in ([[ parameter constant tuple get-tuple-element bitcast bitcast-convert broadcast concatenate
  convert copy copy-start copy-done dynamic-slice dynamic-update-slice gather iota pad reshape reverse
  slice transpose fusion call custom-call async-start async-update async-done after-all while
  conditional optimization-barrier add-dependency partition-id replica-id domain
  get-dimension-size ]]):gmatch("%S+") do
  free[w] = true
end

-- Bits of n - 1: the comparisons that sort one of n.
local function log2_up(n)
  local bits = 0
  while 2 ^ bits < n do bits = bits + 1 end
  return bits
end

local function window_size(i)
  local n = 1
  for _, w in ipairs(i.window or {}) do n = n * w.size end
  return n
end

-- Operations of one instruction of a body, and the type that they are done in.
local function operations(body, j)
  if free[j.opcode] then return 0 end
  local out = arrays(j.shape)[1]
  local o = j.operands and j.operands[1] and body[j.operands[1] + 1]
  local input = arrays(o and o.shape)[1] or out
  if not out then return 0 end
  local kind = out.type == "pred" and input.type or out.type
  if j.opcode == "reduce" then return 1.0 * input.n * (#j.operands // 2), kind end
  if j.opcode == "reduce-window" then return 1.0 * out.n * window_size(j), kind end
  if j.opcode == "select-and-scatter" then return 1.0 * input.n * window_size(j), kind end
  if j.opcode == "scatter" then
    local u = body[(j.operands[#j.operands] or -1) + 1]
    return u and 1.0 * (arrays(u.shape)[1] or out).n or 0, kind
  end
  if j.opcode == "sort" then
    local along = out.dims[(j.dimensions and j.dimensions[1] or #out.dims - 1) + 1] or 1
    return 1.0 * out.n * log2_up(along), kind
  end
  if j.opcode == "cholesky" then return out.n * (out.dims[#out.dims] or 1) / 3, kind end
  if j.opcode == "triangular-solve" then return 1.0 * out.n * (input.dims[#input.dims] or 1), kind end
  return 1.0 * out.n, kind
end

-- Operations, and the type in which most of them are done.
function hlo_operations(i)
  local body, sum, of, most = body_of(i), 0, {}, nil
  for _, j in ipairs(body) do
    local n, kind = operations(body, j)
    sum = sum + n
    if kind then
      of[kind] = (of[kind] or 0) + n
      if not most or of[kind] > of[most] then most = kind end
    end
  end
  return sum, most
end

-- A TPU's events say themselves what they cost.
function hlo_recorded(flops, bytes, precision)
  return num(argument("flops"), flops), num(argument("bytes_accessed"), bytes), precision
end

-- ---- entries ----

-- "hlo::" in front of each name.
local function hlo_names(text)
  local out = {}
  for w in text:gmatch("%S+") do out[#out + 1] = "hlo::" .. w end
  return out
end

local reads = { "flops", "bytes_accessed" }

local function figures(_ENV, i)
  if i.opcode == "fusion" and not (i.body or argument("flops")) then
    fail("the fusion's body is not recorded")
  end
  local flops, kind = hlo_operations(i)
  local first = i.operands and i.operands[1] and arrays(i.operands[1].shape)[1]
  dtype_in = first and first.type
  return hlo_recorded(flops, hlo_bytes(i), kind)
end

local function plain(_ENV)
  local i = hlo()
  local out = results(i)[1]
  num_elems = out and out.n
  return figures(_ENV, i)
end

local pointwise = { category = "elementwise", sheet = "MorePointwise", unit = "vector",
  reads = reads, eval = plain }
local moving = { like = pointwise, category = "elementwise", sheet = "Movement", unit = "vector",
  reads = reads, eval = plain }

op {
  like = pointwise,
  names = hlo_names [[ fusion abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp clz
    compare complex cosh cosine count-leading-zeros divide erf exponential exponential-minus-one
    floor imag is-finite log log-plus-one logistic map maximum minimum multiply negate not or
    popcnt power real reduce-precision remainder rng rng-bit-generator rng-get-and-update-state
    round-nearest-afz round-nearest-even rsqrt select shift-left shift-right-arithmetic
    shift-right-logical sign sine sinh sqrt subtract tan tanh xor fft cholesky triangular-solve ]],
  examples = {
    -- the slice of one operand, a loop over the other
    { hlo = [[{"opcode":"fusion","fusion":"kLoop","shape":"bf16[8,16]{1,0}","operands":[
        {"name":"a","shape":"f32[64,16]{1,0}"},{"name":"b","shape":"f32[16]{0}"}],"body":[
        {"opcode":"parameter","parameter":0,"shape":"f32[64,16]{1,0}"},
        {"opcode":"parameter","parameter":1,"shape":"f32[16]{0}"},
        {"opcode":"slice","shape":"f32[8,16]{1,0}","operands":[0]},
        {"opcode":"broadcast","shape":"f32[8,16]{1,0}","operands":[1]},
        {"opcode":"add","shape":"f32[8,16]{1,0}","operands":[2,3]},
        {"opcode":"tanh","shape":"f32[8,16]{1,0}","operands":[4]},
        {"opcode":"convert","shape":"bf16[8,16]{1,0}","operands":[5],"root":true}]}]],
      flops = 256, bytes = 512 + 64 + 256, spec = "vector_fp32", params = { num_elems = 128 } },
    -- one row of a cache is written
    { hlo = [[{"opcode":"fusion","shape":"s4[64,16]","operands":[{"name":"cache","shape":"s4[64,16]"},
        {"name":"row","shape":"s4[1,16]"},{"name":"at","shape":"s32[]"}],"body":[
        {"opcode":"parameter","parameter":0,"shape":"s4[64,16]"},
        {"opcode":"parameter","parameter":1,"shape":"s4[1,16]"},
        {"opcode":"parameter","parameter":2,"shape":"s32[]"},
        {"opcode":"negate","shape":"s4[1,16]","operands":[1]},
        {"opcode":"dynamic-update-slice","shape":"s4[64,16]","operands":[0,3,2,2],"root":true}]}]],
      flops = 16, bytes = 8 + 4 + 8, spec = "" },
    -- the same operand twice, two results
    { hlo = [[{"opcode":"fusion","shape":"(f32[4],pred[4])","operands":[{"name":"a","shape":"f32[4]"},
        {"name":"a","shape":"f32[4]"}],"body":[
        {"opcode":"parameter","parameter":0,"shape":"f32[4]"},
        {"opcode":"parameter","parameter":1,"shape":"f32[4]"},
        {"opcode":"multiply","shape":"f32[4]","operands":[0,1]},
        {"opcode":"compare","shape":"pred[4]","operands":[0,2]},
        {"opcode":"tuple","shape":"(f32[4],pred[4])","operands":[2,3],"root":true}]}]],
      flops = 8, bytes = 16 + 16 + 4 },
    { op = "hlo::add", hlo = [[{"opcode":"add","shape":"c64[3]","operands":[
        {"name":"a","shape":"c64[3]"},{"name":"b","shape":"c64[3]"}]}]],
      flops = 3, bytes = 72, spec = "vector_fp32" },
    -- a TPU's own counts
    { hlo = [[{"opcode":"fusion","shape":"f32[4]","operands":[]}]],
      args = { flops = "12", bytes_accessed = "34" }, flops = 12, bytes = 34 },
    { op = "hlo::add", status = "failed" },
    { hlo = "[1", status = "failed" },
  },
}

op {
  like = moving,
  names = hlo_names [[ bitcast-convert broadcast concatenate convert copy dynamic-slice
    dynamic-update-slice gather iota pad reshape reverse slice transpose ]],
  examples = {
    { op = "hlo::copy", hlo = [[{"opcode":"copy","shape":"bf16[64,8]{0,1}","operands":[
        {"name":"a","shape":"bf16[64,8]{1,0}"}]}]], flops = 0, bytes = 2048 },
    { op = "hlo::gather", hlo = [[{"opcode":"gather","shape":"f32[3,8]","operands":[
        {"name":"a","shape":"f32[64,8]"},{"name":"i","shape":"s32[3,1]"}]}]],
      flops = 0, bytes = 96 + 12 + 96 },
    { op = "hlo::dynamic-update-slice", hlo = [[{"opcode":"dynamic-update-slice","shape":"f32[64,8]",
        "operands":[{"name":"a","shape":"f32[64,8]"},{"name":"u","shape":"f32[1,8]"},
        {"name":"i","shape":"s32[]"},{"name":"z","shape":"s32[]"}]}]], flops = 0, bytes = 64 + 8 },
    { op = "hlo::iota", hlo = [[{"opcode":"iota","shape":"s32[5]"}]], flops = 0, bytes = 20 },
  },
}

op {
  category = "reduce", sheet = "Reduce", unit = "vector", reads = reads,
  names = hlo_names "reduce reduce-window select-and-scatter scatter",
  eval = function (_ENV)
    local i = hlo()
    local first = array_of(i, 1)
    num_input_elems = first.n
    num_output_elems = (results(i)[1] or first).n
    return figures(_ENV, i)
  end,
  examples = {
    { op = "hlo::reduce", hlo = [[{"opcode":"reduce","shape":"f32[8]","dimensions":[1],"operands":[
        {"name":"a","shape":"f32[8,16]"},{"name":"z","shape":"f32[]"}]}]],
      flops = 128, bytes = 512 + 4 + 32, spec = "vector_fp32",
      params = { num_input_elems = 128, num_output_elems = 8 } },
    { op = "hlo::reduce-window", hlo = [[{"opcode":"reduce-window","shape":"f32[4]","operands":[
        {"name":"a","shape":"f32[8]"},{"name":"z","shape":"f32[]"}],"window":[{"size":2,"stride":2}]}]],
      flops = 8, bytes = 32 + 4 + 16 },
    { op = "hlo::scatter", hlo = [[{"opcode":"scatter","shape":"f32[64,8]","operands":[
        {"name":"a","shape":"f32[64,8]"},{"name":"i","shape":"s32[3,1]"},{"name":"u","shape":"f32[3,8]"}]}]],
      flops = 24, bytes = 96 + 12 + 96 + 96 },
  },
}

local sorting = { sheet = "Sorting", unit = "vector", reads = reads, eval = plain }
op {
  like = sorting, names = hlo_names "sort topk",
  examples = {
    { op = "hlo::sort", hlo = [[{"opcode":"sort","shape":"(f32[4,8],s32[4,8])","dimensions":[1],
        "operands":[{"name":"a","shape":"f32[4,8]"},{"name":"b","shape":"s32[4,8]"}]}]],
      flops = 96, bytes = 512, spec = "vector_fp32" },
  },
}

-- What a library or a kernel of one's own computes is not recorded: its bytes are.
local call = { unit = "vector", reads = reads,
  eval = function (_ENV)
    local i = hlo()
    local moved, seen = 0, {}
    for k, o in ipairs(i.operands or {}) do
      local id = o and o.name or k
      if not seen[id] then moved = moved + array_bytes(o and o.shape) end
      seen[id] = true
    end
    for _, a in ipairs(results(i)) do moved = moved + a.bytes end
    target = i.target
    local flops, bytes, type = hlo_recorded(0, moved)
    return flops, bytes, type, flops == 0 and unknown or 0
  end }
op {
  like = call, globs = { "hlo::custom-call*" },
  examples = {
    { op = "hlo::custom-call:mosaic_gpu", hlo = [[{"opcode":"custom-call","target":"mosaic_gpu",
        "shape":"(f32[8],u8[64])","operands":[{"name":"a","shape":"f32[8]"},{"name":"a","shape":"f32[8]"}]}]],
      flops = 0, bytes = 64, params = { target = "mosaic_gpu" } },
  },
}
op { like = call, category = "triton", globs = { "hlo::custom-call:*triton*" } }
op { like = call, sheet = "Sorting",
  globs = { "hlo::custom-call:*RadixSort*", "hlo::custom-call:*TopK*" } }
op { like = call, category = "NORM_fwd", globs = { "hlo::custom-call:te_*norm_forward*",
  "hlo::custom-call:__cudnn$norm" } }
op { like = call, category = "NORM_bwd", globs = { "hlo::custom-call:te_*norm_backward*" } }

-- Their events show when a copy begins and what waits for it.
category { name = "memcpy", names = hlo_names "copy-start copy-done" }
category { name = "communication",
  names = hlo_names [[ all-reduce all-reduce-start all-reduce-done all-gather all-gather-start
    all-gather-done reduce-scatter all-to-all ragged-all-to-all collective-permute
    collective-permute-start collective-permute-done collective-broadcast send send-done recv
    recv-done async-start:reduce-scatter async-start:all-to-all async-start:ragged-all-to-all
    async-start:collective-broadcast async-start:all-reduce async-start:all-gather
    async-start:collective-permute ]] }

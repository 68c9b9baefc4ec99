-- SPDX-License-Identifier: MIT
-- XLA's products and convolutions: dot and convolution, alone or in a fusion, and calls
-- of cuBLAS, hipBLASLt, cuDNN, MIOpen and Transformer Engine. A product has B M N K; M is
-- the dimension along which the result is contiguous, as the libraries have it.

local reads = { "flops", "bytes_accessed", "device_type", "kernels" }

-- The instruction of one of two opcodes that i is, or that its body holds, and its operands.
local function inner(i, opcode, other)
  if i.opcode == opcode or not i.body then return i, i.operands or {} end
  for _, j in ipairs(i.body) do
    if j.opcode == opcode or j.opcode == other then
      local operands = {}
      for k, o in ipairs(j.operands or {}) do operands[k] = o and i.body[o + 1] or false end
      return j, operands
    end
  end
  fail("no " .. opcode .. " in its body")
end

local function first_array(operands, k)
  local o = operands[k]
  return o and arrays(o.shape)[1] or fail("it has no operand " .. k - 1)
end

local function moved(i)
  if i.body then return hlo_bytes(i) end
  local sum = 0
  for _, o in ipairs(i.operands or {}) do sum = sum + array_bytes(o and o.shape) end
  for _, a in ipairs(results(i)) do sum = sum + a.bytes end
  return sum
end

-- ---- products ----

-- The sizes of an array's dimensions in a list (of numbers, or of them as texts), and of the rest.
local function split(a, some, others)
  local taken, one, two, rest = {}, {}, {}, {}
  for _, list in ipairs { { some, one }, { others, two } } do
    for _, k in ipairs(list[1] or {}) do
      k = int(k)
      taken[k] = true
      list[2][#list[2] + 1] = a.dims[k + 1] or fail("it has no dimension " .. k)
    end
  end
  for k, d in ipairs(a.dims) do
    if not taken[k - 1] then rest[#rest + 1] = d end
  end
  return prod(one), prod(two), prod(rest), #rest
end

-- The parameters of a by b, which give c; d: the numbers of their dimensions.
local function product(_ENV, a, b, c, d, with_bias)
  local batch, inside, p, np = split(a, d.lhs_batch, d.lhs_contracting)
  local _, inside_b, q = split(b, d.rhs_batch, d.rhs_contracting)
  if inside ~= inside_b then fail("the inner dimensions differ: " .. inside .. " and " .. inside_b) end
  local first = #(d.lhs_batch or {})
  local by_rows = c.minor < first or c.minor >= first + np
  B = batch
  M = by_rows and q or p
  N = by_rows and p or q
  K = inside
  bias = with_bias
  dtype_A_B = { a.type, b.type }
  return 2.0 * B * M * N * K + (bias and 1.0 * B * M * N or 0)
end

-- The type of the arithmetic, where operands have this one: what the program's algorithm
-- says, or its precision. The default for f32 is the device's: TPUs have bf16, NVIDIA's
-- libraries and Triton TF32, AMD's f32; a library takes HIGH for the default.
local algorithms = { TF32_TF32 = "tf32", BF16_BF16 = "bf16", F16_F16 = "f16" }
local function arithmetic(type, operands, algorithm, is_library)
  local rounded = algorithms[(algorithm or ""):match("^ALG_DOT_(%w+_%w+)_")]
  if rounded or type ~= "f32" or (algorithm or "ALG_UNSET") ~= "ALG_UNSET" or not operands then
    return rounded or type
  end
  for _, p in ipairs(operands) do
    if p ~= "DEFAULT" and not (is_library and p == "HIGH") then return type end
  end
  for _, k in ipairs(kernels()) do
    if contains(k, "sgemm") or contains(k, "simt") then return type end
  end
  local device = argument("device_type") or ""
  return starts(device, "TPU") and "bf16" or contains(device, "nvidia") and "tf32" or type
end

local function wider(a, b)
  return bytes_of(b.type, 0) > bytes_of(a.type, 0) and b.type or a.type
end

local matrix = { category = "GEMM", sheet = "GEMM", unit = "matrix", gemm = true, reads = reads }

local function default(precision, device, expected, names)
  return { hlo = [[{"opcode":"dot","shape":"f32[4,4]","operands":[{"shape":"f32[4,4]"},
      {"shape":"f32[4,4]"}],"dot":{"lhs_contracting":[1],"rhs_contracting":[0]},"precision":["DEFAULT","]]
      .. precision .. '"]}', args = { device_type = device }, kernels = names,
    flops = 128, bytes = 192, spec = "matrix_" .. expected }
end

op {
  like = matrix, names = { "hlo::dot" },
  eval = function (_ENV)
    local i = hlo()
    local j, operands = inner(i, "dot", "convolution")
    local a, b = first_array(operands, 1), first_array(operands, 2)
    -- a TPU has products as convolutions without spatial dimensions
    local d = j.conv and { lhs_contracting = { j.conv.input_feature },
      rhs_contracting = { j.conv.kernel_input_feature } }
    local dims = j.dot or d
    if not (dims or argument("flops")) then fail("its dimension numbers are not recorded") end
    local flops = dims and product(_ENV, a, b, arrays(j.shape)[1], dims, false) or 0
    -- others in the body, as of a fused attention
    for _, other in ipairs(i.body or {}) do
      if other.opcode == "dot" and other ~= j then
        local of = i.body[(other.operands[1] or -1) + 1]
        local _, k = split(arrays(of and of.shape)[1] or a, {}, (other.dot or {}).lhs_contracting)
        flops = flops + 2.0 * arrays(other.shape)[1].n * k
      end
    end
    return hlo_recorded(flops, moved(i), arithmetic(wider(a, b), j.precision, j.algorithm))
  end,
  examples = {
    { hlo = [[{"opcode":"dot","shape":"f32[16,8]{1,0}","operands":[{"name":"a","shape":"bf16[16,32]{1,0}"},
        {"name":"b","shape":"f32[32,8]{1,0}"}],"dot":{"lhs_contracting":[1],"rhs_contracting":[0]}}]],
      flops = 8192, bytes = 1024 + 1024 + 512, spec = "matrix_fp32",
      params = { B = 1, M = 8, N = 16, K = 32, bias = false } },
    -- two contracting dimensions, a batch, a result by columns
    { hlo = [[{"opcode":"dot","shape":"f32[3,16,8]{1,2,0}","operands":[{"name":"a","shape":"f32[3,2,16,4]"},
        {"name":"b","shape":"f32[2,4,3,8]"}],"dot":{"lhs_batch":[0],"rhs_batch":[2],
        "lhs_contracting":[1,3],"rhs_contracting":[0,1]}}]],
      flops = 2 * 3 * 16 * 8 * 8, bytes = 4 * (384 + 192 + 384), params = { B = 3, M = 16, N = 8, K = 8 } },
    { hlo = [[{"opcode":"fusion","shape":"bf16[16,8]{1,0}","operands":[{"name":"a","shape":"s8[16,32]{1,0}"},
        {"name":"b","shape":"bf16[32,8]{1,0}"}],"body":[{"opcode":"parameter","parameter":0,"shape":"s8[16,32]{1,0}"},
        {"opcode":"parameter","parameter":1,"shape":"bf16[32,8]{1,0}"},
        {"opcode":"convert","shape":"bf16[16,32]{1,0}","operands":[0]},
        {"opcode":"dot","shape":"bf16[16,8]{1,0}","operands":[2,1],
        "dot":{"lhs_contracting":[1],"rhs_contracting":[0]},"root":true}]}]],
      flops = 8192, bytes = 512 + 512 + 256, spec = "matrix_bf16", params = { M = 8, N = 16, K = 32 } },
    { hlo = [[{"opcode":"convolution","shape":"bf16[16,8]{1,0}","operands":[{"shape":"bf16[16,32]{1,0}"},
        {"shape":"bf16[32,8]{1,0}"}],"conv":{"input_batch":0,"input_feature":1,"input_spatial":[],
        "kernel_input_feature":0,"kernel_output_feature":1,"kernel_spatial":[],"output_batch":0,
        "output_feature":1,"output_spatial":[]}}]],
      flops = 8192, bytes = 1024 + 512 + 256, params = { M = 8, N = 16, K = 32 } },
    default("DEFAULT", "NVIDIA H100 80GB HBM3", "tf32"), default("HIGH", "Nvidia", "fp32"),
    default("DEFAULT", "NVIDIA A10", "fp32", { "ampere_sgemm_128x64_tn" }),
    default("DEFAULT", "AMD", "fp32"), default("DEFAULT", "TPU v6 Lite", "bf16"),
    { hlo = [[{"opcode":"dot","shape":"f32[4,4]","operands":[{"shape":"f32[4,8]"},{"shape":"f32[9,4]"}],
        "dot":{"lhs_contracting":[1],"rhs_contracting":[0]}}]], status = "failed" },
    { hlo = [[{"opcode":"dot","shape":"f32[4,4]","operands":[{"shape":"f32[4,8]"},{"shape":"f32[8,4]"}],
        "dot":{"lhs_contracting":[7],"rhs_contracting":[0]}}]], status = "failed" },
    -- of a TPU's text or a dump, which have neither its numbers nor the body
    { hlo = [[{"opcode":"dot","shape":"f32[4,4]","operands":[{"shape":"f32[4,8]"},{"shape":"f32[8,4]"}]}]],
      args = { flops = "256" }, flops = 256, bytes = 4 * (32 + 32 + 16) },
    { hlo = [[{"opcode":"dot","shape":"f32[4,4]","operands":[{"shape":"f32[4,8]"},{"shape":"f32[8,4]"}]}]],
      status = "failed" },
    { hlo = [[{"opcode":"fusion","shape":"f32[4,4]","operands":[{"shape":"f32[4,8]"},
        {"shape":"f32[8,4]"}],"config":{"fusion_backend_config":{"kind":"__triton_gemm"}}}]],
      status = "failed" },
  },
}

-- Libraries': sizes and epilogue stand in the configuration.
op {
  like = matrix,
  globs = { "hlo::custom-call:*cublas*gemm*", "hlo::custom-call:*matmul*", "hlo::custom-call:*hipblas*" },
  eval = function (_ENV)
    local i = hlo()
    local j, operands = inner(i, "custom-call")
    local config = type(j.config) == "table" and j.config.gemm_backend_config or {}
    local n = config.dot_dimension_numbers
    local d = n and { lhs_batch = n.lhs_batch_dimensions, rhs_batch = n.rhs_batch_dimensions,
      lhs_contracting = n.lhs_contracting_dimensions, rhs_contracting = n.rhs_contracting_dimensions }
    local a, b = first_array(operands, 1), first_array(operands, 2)
    local c = results(j)[1] or fail("it has no result")
    local flops = product(_ENV, a, b, c, d or fail("its dimension numbers are not recorded"),
      num(config.beta or 0, 0) ~= 0 or contains(config.epilogue or "", "BIAS"))
    local exact = config.precision_config or {}
    return hlo_recorded(flops, moved(i),
      arithmetic(wider(a, b), exact.operand_precision, exact.algorithm, true))
  end,
  examples = {
    -- a workspace, which is no result
    { op = "hlo::custom-call:__cublas$gemm",
      hlo = [[{"opcode":"custom-call","target":"__cublas$gemm","shape":"(bf16[16384,4096]{1,0},s8[41943040]{0})",
        "operands":[{"name":"a","shape":"bf16[16384,1024]{1,0}"},{"name":"b","shape":"bf16[1024,4096]{1,0}"}],
        "config":{"gemm_backend_config":{"alpha_real":1,"beta":0,"epilogue":"DEFAULT","dot_dimension_numbers":{
        "lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],
        "rhs_batch_dimensions":[]}}}}]],
      kernels = { "Cijk_Ailk_Bljk_BBS_BH_MT256x224x64" },
      flops = 137438953472, bytes = 176160768, spec = "matrix_bf16",
      params = { M = 4096, N = 16384, K = 1024, bias = false, transpose = { false, false } } },
    -- scales, a bias, two results
    { op = "hlo::custom-call:__cublas$lt$matmul$f8",
      hlo = [[{"opcode":"custom-call","target":"__cublas$lt$matmul$f8",
        "shape":"(f8e4m3fn[16,8]{1,0},f32[],s8[64]{0})","operands":[{"name":"a","shape":"f8e4m3fn[16,32]{1,0}"},
        {"name":"b","shape":"f8e4m3fn[8,32]{1,0}"},{"name":"s","shape":"f32[]"},{"name":"t","shape":"f32[]"},
        {"name":"bias","shape":"bf16[8]{0}"}],"config":{"gemm_backend_config":{"beta":0,"epilogue":"BIAS_RELU",
        "dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"]}}}}]],
      flops = 8192 + 128, bytes = 512 + 256 + 8 + 16 + 128 + 4, spec = "matrix_fp8", params = { bias = true } },
    { op = "hlo::custom-call:__cublas$lt$matmul",
      hlo = [[{"opcode":"custom-call","shape":"f32[4,4]","operands":[{"shape":"f32[4,4]"},{"shape":"f32[4,4]"},
        {"shape":"f32[4,4]"}],"config":{"gemm_backend_config":{"beta":1,"precision_config":{
        "algorithm":"ALG_DOT_TF32_TF32_F32"},"dot_dimension_numbers":{"lhs_contracting_dimensions":[1],
        "rhs_contracting_dimensions":[0]}}}}]], flops = 144, bytes = 256, spec = "matrix_tf32" },
    { op = "hlo::custom-call:__cublas$gemm", hlo = [[{"opcode":"custom-call","shape":"f32[4,4]",
        "operands":[{"shape":"f32[4,4]"},{"shape":"f32[4,4]"}],"config":{"gemm_backend_config":{
        "precision_config":{"operand_precision":["HIGH","DEFAULT"],"algorithm":"ALG_UNSET"},
        "dot_dimension_numbers":{"lhs_contracting_dimensions":[1],"rhs_contracting_dimensions":[0]}}}}]],
      args = { device_type = "Nvidia" }, flops = 128, bytes = 192, spec = "matrix_tf32" },
    { op = "hlo::custom-call:__cublas$gemm", hlo = [[{"opcode":"custom-call","shape":"f32[4,4]",
        "operands":[{"shape":"f32[4,4]"},{"shape":"f32[4,4]"}],"config":"none"}]], status = "failed" },
  },
}

-- ---- convolutions ----

-- x: which of { first operand, second operand, result } is the input, w: the filter, out: the output
local function convolution(names, opcode, x, w, out, category, examples)
  op {
    names = names, category = category, sheet = "CONV", unit = "matrix", reads = reads,
    examples = examples,
    eval = function (_ENV)
      local i = hlo()
      local j, operands = inner(i, opcode)
      local all = { first_array(operands, 1), first_array(operands, 2),
        results(j)[1] or fail("it has no result") }
      local d = j.conv or fail("its dimension numbers are not recorded")
      local function sizes(a, list)
        local s = {}
        for k, n in ipairs(list) do s[k] = a.dims[n + 1] or fail("it has no dimension " .. n) end
        return s
      end
      convNd = "conv" .. #d.kernel_spatial .. "d"
      input_shape = all[x].dims
      filter_shape = all[w].dims
      output_shape = all[out].dims
      bias = contains(j.target or "", "Bias") and #operands > 2
      bytes_per_element = bytes_of(all[x].type)
      transposed_conv = false
      stride = {}
      padding = {}
      dilation = {}
      for k, t in ipairs(j.window or {}) do
        stride[k] = t.stride
        padding[k] = t.padding_low == t.padding_high and t.padding_low or { t.padding_low, t.padding_high }
        dilation[k] = t.window_dilation
      end
      groups = j.feature_groups or 1
      local reach = prod(sizes(all[w], d.kernel_spatial)) * sizes(all[w], { d.kernel_input_feature })[1]
      return hlo_recorded(2.0 * all[out].n * reach, moved(i),
        arithmetic(all[x].type, j.precision, j.algorithm, j.target))
    end,
  }
end
local function cudnn(kind) return { "hlo::custom-call:__cudnn$conv" .. kind } end

local nhwc = [["conv":{"input_batch":0,"input_feature":3,"input_spatial":[1,2],"kernel_input_feature":3,
  "kernel_output_feature":0,"kernel_spatial":[1,2],"output_batch":0,"output_feature":3,"output_spatial":[1,2]},
  "window":[{"size":3,"stride":1,"padding_low":1,"padding_high":1,"window_dilation":1,"base_dilation":1},
  {"size":3,"stride":1,"padding_low":0,"padding_high":2,"window_dilation":1,"base_dilation":1}]}]]
local function example(shape, a, b, expected)
  expected.hlo = '{"opcode":"custom-call","target":"__cudnn$conv","shape":"(' .. shape .. ',u8[131]{0})",'
    .. '"operands":[{"name":"a","shape":"' .. a .. '"},{"name":"b","shape":"' .. b .. '"}],' .. nhwc
  return expected
end
-- 2 x 32 x 128 x 128 x 128 x (3 x 3 x 64), whichever of the three is the result
local big, small, filter = "bf16[32,128,128,128]{3,2,1,0}", "bf16[32,128,128,64]{3,2,1,0}",
  "bf16[128,3,3,64]{3,2,1,0}"
local flops, bytes = 77309411328, 2 * (67108864 + 33554432 + 73728)

convolution({ "hlo::convolution" }, "convolution", 1, 2, 3, "CONV_fwd", {
  -- two groups
  { hlo = [[{"opcode":"convolution","shape":"f32[1,8,6]","operands":[{"shape":"f32[1,4,8]"},{"shape":"f32[8,2,3]"}],
      "feature_groups":2,"conv":{"input_batch":0,"input_feature":1,"input_spatial":[2],"kernel_output_feature":0,
      "kernel_input_feature":1,"kernel_spatial":[2],"output_batch":0,"output_feature":1,"output_spatial":[2]}}]],
    flops = 2 * 48 * 6, bytes = 4 * (32 + 48 + 48), spec = "matrix_fp32",
    params = { convNd = "conv1d", groups = 2 } },
  { hlo = [[{"opcode":"convolution","shape":"f32[1]","operands":[{"shape":"f32[1]"},{"shape":"f32[1]"}]}]],
    status = "failed" },
})
convolution(cudnn "Forward", "custom-call", 1, 2, 3, "CONV_fwd", {
  example(big, small, filter, { flops = flops, bytes = bytes, spec = "matrix_bf16",
    params = { convNd = "conv2d", padding = { 1, { 0, 2 } }, stride = { 1, 1 }, bias = false } }),
  { hlo = [[{"opcode":"custom-call","target":"__cudnn$convForward","shape":"(bf16[1,5120,34,31,53],u8[9])",
      "operands":[{"shape":"bf16[1,16,32,60,104]"},{"shape":"bf16[5120,16,1,2,2]"}],"conv":{"input_batch":0,
      "input_feature":1,"input_spatial":[2,3,4],"kernel_output_feature":0,"kernel_input_feature":1,
      "kernel_spatial":[2,3,4],"output_batch":0,"output_feature":1,"output_spatial":[2,3,4]}}]],
    flops = 36609720320, bytes = 579072000, params = { output_shape = { 1, 5120, 34, 31, 53 } } },
})
for _, kind in ipairs { "BiasActivationForward", "ForwardGraph" } do
  convolution(cudnn(kind), "custom-call", 1, 2, 3, "CONV_fwd")
end
convolution(cudnn "BackwardInput", "custom-call", 3, 2, 1, "CONV_bwd", {
  example(small, big, filter, { flops = flops, bytes = bytes, params = { input_shape = { 32, 128, 128, 64 } } }),
})
convolution(cudnn "BackwardFilter", "custom-call", 1, 3, 2, "CONV_bwd", {
  example(filter, small, big, { flops = flops, bytes = bytes, params = { filter_shape = { 128, 3, 3, 64 } } }),
})

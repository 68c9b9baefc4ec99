-- SPDX-License-Identifier: MIT
-- Ops of inference engines that the reference has no model of: vLLM's (_C, _moe_C,
-- _C_cache_ops), SGLang's (sgl_kernel), TensorRT-LLM's, FlashInfer's, FBGEMM's. Most
-- write into arguments, so what they move is what they are called with.

local bf16, fp8 = "c10::BFloat16", "c10::Float8_e4m3fn"

local function entry(sheet)
  return function (t)
    t.sheet, t.unit, t.extra = sheet, "vector", true
    return streaming(t)
  end
end

-- ---- activations: (out, in) ----

local pointwise = entry "MorePointwise"
pointwise { names = "_C::gelu_new _C::gelu_fast _C::gelu_quick sgl_kernel::gelu_quick", per = 8, of = 1 }
pointwise { names = "_C::mul_and_silu _C::fatrelu_and_mul _C::swigluoai_and_mul flashinfer::silu_and_mul",
  per = 5, examples = {
    { op = "_C::mul_and_silu", dims = { { 4, 8 }, { 4, 16 } }, types = { bf16, bf16 }, flops = 160,
      bytes = 2 * 96 },
  } }
pointwise { names = "_C::gelu_and_mul sgl_kernel::gelu_and_mul flashinfer::gelu_and_mul", per = 8 }
pointwise { names = "_C::gelu_tanh_and_mul sgl_kernel::gelu_tanh_and_mul flashinfer::gelu_tanh_and_mul",
  per = 10 }

-- ---- RMS norm: E elements in rows of C have R = 4 E + 2 E / C operations ----

-- x: what is normalised; more: operations for each element besides; sums: those that
-- are read and written
local function norm(names, x, more, sums, examples)
  op {
    sheet = "RMSNorm", unit = "vector", extra = true, names = aten(names, ""), examples = examples,
    eval = function (_ENV)
      op_shape = shape(x)
      dtype_in = dtype(x)
      num_channels = dim(x, -1)
      local n = elems(x)
      return (4 + more) * n + (num_channels > 0 and 2 * (n // num_channels) or 0), traffic(sums), dtype(x)
    end,
  }
end

-- (out, x, weight)
norm("_C::rms_norm sgl_kernel::rmsnorm sgl_kernel::gemma_rmsnorm flashinfer::rmsnorm "
  .. "flashinfer::gemma_rmsnorm", 1, 0, {}, {
    { op = "_C::rms_norm", dims = { { 8, 64 }, { 8, 64 }, { 64 }, {} },
      types = { bf16, bf16, bf16, "Scalar" }, flops = 4 * 512 + 16, bytes = 2 * (1024 + 64),
      spec = "vector_bf16" },
  })
-- (x, residual, weight): their sum is kept, and normalised
norm("_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm sgl_kernel::gemma_fused_add_rmsnorm "
  .. "flashinfer::fused_add_rmsnorm flashinfer::gemma_fused_add_rmsnorm", 0, 1, { 0, 1 }, {
    { op = "_C::fused_add_rms_norm", dims = { { 8, 64 }, { 8, 64 }, { 64 }, {} },
      types = { bf16, bf16, bf16, "Scalar" }, flops = 5 * 512 + 16, bytes = 2 * (2048 + 64) },
  })
-- (out, x, weight, scale, eps, bound, residual)
norm("_C::rms_norm_static_fp8_quant _C::rms_norm_dynamic_per_token_quant _C::rms_norm_per_block_quant",
  1, 2, { 6 }, {
    { op = "_C::rms_norm_dynamic_per_token_quant",
      dims = { { 8, 64 }, { 8, 64 }, { 64 }, { 8, 1 }, {}, {}, { 8, 64 } },
      types = { fp8, bf16, bf16, "float", "Scalar", "", bf16 }, flops = 6 * 512 + 16,
      bytes = 512 + 1024 + 128 + 32 + 2048 },
  })
-- (out, x, residual, weight, scale)
norm("_C::fused_add_rms_norm_static_fp8_quant", 1, 3, { 2 })

-- ---- quantisation, two operations for each element ----

local quantise = entry "GroupQuant"
-- (out, in, scales)
quantise { of = 1, per = 2, names = [[ _C::static_scaled_fp8_quant _C::dynamic_scaled_fp8_quant
  _C::dynamic_per_token_scaled_fp8_quant _C::static_scaled_int8_quant _C::dynamic_scaled_int8_quant
  _C::scaled_fp4_quant _C::convert_fp8 _C_cache_ops::convert_fp8 sgl_kernel::scaled_fp4_quant ]],
  examples = {
    { op = "_C::dynamic_per_token_scaled_fp8_quant", dims = { { 8, 64 }, { 8, 64 }, { 8, 1 }, {} },
      types = { fp8, bf16, "float", "" }, flops = 1024, bytes = 512 + 1024 + 32 },
  } }
-- (in, out, scales)
quantise { per = 2, names = [[ _C::per_token_group_fp8_quant _C::per_token_group_quant_int8
  sgl_kernel::sgl_per_token_group_quant_fp8 sgl_kernel::sgl_per_token_group_quant_int8
  sgl_kernel::sgl_per_token_group_quant_8bit sgl_kernel::sgl_per_tensor_quant_fp8
  sgl_kernel::sgl_per_token_quant_fp8 ]] }
-- (out, in, scales): after an activation
quantise { per = 7, names = "_C::silu_and_mul_quant _C::silu_and_mul_per_block_quant _C::silu_and_mul_nvfp4_quant" }
-- (packed weights, scales, zeros): weights as numbers of the scales' type
op {
  sheet = "GroupQuant", unit = "vector", prec = 1, extra = true,
  names = { "_C::awq_dequantize", "sgl_kernel::awq_dequantize" },
  eval = function (_ENV)
    num_elems = dim(0, 0) * dim(1, -1)
    dtype_in = dtype(1)
    return 2 * num_elems, traffic() + num_elems * size(1)
  end,
  examples = {
    { op = "_C::awq_dequantize", dims = { { 64, 4 }, { 2, 32 }, { 2, 4 }, {}, {}, {} },
      types = { "int", bf16, "int", "Scalar", "Scalar", "Scalar" }, flops = 4096,
      bytes = 1024 + 128 + 32 + 4096 },
  },
}

-- ---- products of quantised operands ----

-- The columns of the result by the weights w, which are K values long, or if they are
-- packed into ints by their scales: the first numbers with a point behind them.
local function columns(w, K)
  if dtype(w) ~= "int" and dim(w, -1) == K then return dim(w, -2) end
  if dtype(w) ~= "int" and dim(w, -2) == K then return dim(w, -1) end
  for i = w + 1, nargs() - 1 do
    local p = precision_of(dtype(i))
    if rank(i) == 2 and p and p ~= "fp8" and p ~= "int8" then return dim(i, -1) end
  end
  fail("the weights' shape does not tell the result's")
end

-- a: rows of K values; w: weights; out: the result, else it is returned; pack: values
-- in a byte of both; but: workspaces
local function product(t)
  op {
    sheet = "GEMM", unit = "matrix", gemm = true, extra = true, names = aten(t.names, ""),
    examples = t.examples,
    eval = function (_ENV)
      local a, w, k = t.a or 0, t.w or 1, dim(t.a or 0, -1)
      local batched = rank(a) == 3 and rank(w) == 3
      B = batched and dim(a, 0) or 1
      M = batched and dim(a, 1) or k > 0 and elems(a) // k or 0
      N = t.out and dim(t.out, -1) or columns(w, k)
      K = k * (t.pack or 1)
      bias = false
      dtype_A_B = { dtype(a), dtype(w) }
      local result = t.out and 0 or B * M * N * (size(a) == 1 and 2 or size(a))
      return 2 * B * M * N * K, traffic(nil, t.but) + result, t.pack and "fp4" or dtype(a)
    end,
  }
end

local packed4, halves = "unsigned char", { "c10::Half", "int", "c10::Half", "int" }
-- (x, packed weights, scales, ...), at times the result or zeros before them
product { names = [[ _C::awq_gemm _C::gptq_gemm sgl_kernel::gptq_gemm _C::allspark_w8a16_gemm _C::machete_mm
  _C::fp8_marlin_gemm _C::gptq_marlin_24_gemm aten::_weight_int8pack_mm ]], examples = {
    { op = "_C::awq_gemm", dims = { { 8, 64 }, { 64, 4 }, { 2, 32 }, { 2, 4 }, {} }, types = halves,
      flops = 2 * 8 * 32 * 64, bytes = 2 * 512 + 4 * 256 + 2 * 64 + 4 * 8 + 2 * 256,
      spec = "matrix_fp16", params = { M = 8, N = 32, K = 64 } },
    { op = "_C::gptq_gemm", dims = { { 8, 64 }, { 8, 32 }, { 2, 4 }, { 2, 32 }, { 64 } },
      types = { "c10::Half", "int", "int", "c10::Half", "int" }, flops = 2 * 8 * 32 * 64,
      bytes = 1024 + 1024 + 32 + 128 + 256 + 512 },
    { op = "_C::gptq_gemm", dims = { { 8, 64 }, { 8, 32 } }, types = { "c10::Half", "int" },
      status = "failed" },
  } }
product { w = 2, names = "_C::marlin_gemm _C::gptq_marlin_gemm sgl_kernel::gptq_marlin_gemm", examples = {
  { op = "_C::gptq_marlin_gemm", dims = { { 8, 64 }, {}, { 4, 64 }, {}, { 2, 32 } },
    types = { bf16, "", "int", "", bf16 }, flops = 2 * 8 * 32 * 64,
    bytes = 1024 + 4 * 256 + 128 + 512, spec = "matrix_bf16" },
} }
-- (x, weights (N, K) or (K, N), scales, ...)
product { names = [[ sgl_kernel::int8_scaled_mm sgl_kernel::fp8_scaled_mm sgl_kernel::fp8_blockwise_scaled_mm
  trtllm::fp8_block_scaling_gemm trtllm::fp8_rowwise_gemm trtllm::fp8_swap_ab_gemm trtllm::cublas_mm
  trtllm::w4a16_gemm fbgemm::f8f8bf16_rowwise fbgemm::f8f8bf16_blockwise fbgemm::f8f8bf16_tensorwise
  fbgemm::f8f8bf16 fbgemm::i8i8bf16 vllm::w8a8_triton_block_scaled_mm_func vllm::w8a8_block_fp8_matmul
  vllm::rocm_per_tensor_float_w8a8_scaled_mm_impl vllm::flashinfer_mm_fp8 ]], examples = {
    { op = "sgl_kernel::fp8_scaled_mm", dims = { { 8, 64 }, { 64, 32 }, { 8, 1 }, { 32, 1 }, {}, {} },
      types = { fp8, fp8, "float", "float", "Scalar", "" }, flops = 2 * 8 * 32 * 64,
      bytes = 512 + 2048 + 32 + 128 + 512, spec = "matrix_fp8" },
    { op = "trtllm::fp8_block_scaling_gemm", dims = { { 8, 64 }, { 32, 64 }, { 1, 8 }, { 1, 1 } },
      types = { fp8, fp8, "float", "float" }, flops = 2 * 8 * 32 * 64,
      bytes = 512 + 2048 + 32 + 4 + 512 },
  } }
product { pack = 2, names = [[ trtllm::nvfp4_gemm trtllm::fp4_gemm trtllm::nvfp4_gemm_cutlass
  trtllm::nvfp4_gemm_cublaslt trtllm::cute_dsl_nvfp4_gemm_blackwell fbgemm::f4f4bf16 vllm::flashinfer_mm_fp4
  flashinfer::mm_fp4 ]], examples = {
    { op = "trtllm::nvfp4_gemm", dims = { { 8, 32 }, { 16, 32 }, { 32 }, { 64 }, { 1 }, {} },
      types = { packed4, packed4, packed4, packed4, "float", "Scalar" }, flops = 2 * 8 * 16 * 64,
      bytes = 256 + 512 + 32 + 64 + 4 + 2 * 128, spec = "matrix_fp4" },
  } }
-- (weights (N, K), x, ...), of which one writes to an argument
product { a = 1, w = 0, names = "_rocm_C::wvSplitK _rocm_C::LLMM1", examples = {
  { op = "_rocm_C::LLMM1", dims = { { 32, 64 }, { 8, 64 }, {} }, types = { bf16, bf16, "Scalar" },
    flops = 2 * 8 * 32 * 64, bytes = 2 * (2048 + 512 + 256), spec = "matrix_bf16" },
} }
product { a = 1, w = 0, out = 2, names = "_rocm_C::wvSplitKQ" }
-- (out, x, weights, scales, ...)
product { a = 1, w = 2, out = 0, names = [[ _C::cutlass_scaled_mm _C::cutlass_scaled_mm_azp
  _C::dsv3_fused_a_gemm _C::dsv3_router_gemm sgl_kernel::dsv3_fused_a_gemm sgl_kernel::dsv3_router_gemm ]],
  examples = {
    { op = "_C::cutlass_scaled_mm", dims = { { 8, 32 }, { 8, 64 }, { 64, 32 }, { 8, 1 }, { 1, 32 }, { 32 } },
      types = { bf16, fp8, fp8, "float", "float", bf16 }, flops = 2 * 8 * 32 * 64,
      bytes = 512 + 512 + 2048 + 32 + 128 + 64, spec = "matrix_fp8", params = { N = 32 } },
  } }
product { a = 1, w = 2, out = 0, pack = 2, names = "_C::cutlass_scaled_fp4_mm sgl_kernel::cutlass_scaled_fp4_mm" }
-- (x, scale, weights, scale, out), (x, scale, weights, scale, out) of DeepGEMM
product { w = 2, out = 4, names = "vllm::fp8_gemm_nt_op sglang::deep_gemm_fp8_fp8_bf16_nt" }
-- (workspace, x, weights, out, scales)
product { a = 1, w = 2, out = 3, but = { 0 }, names = "flashinfer::bmm_fp8 sgl_kernel::bmm_fp8" }

-- ---- choosing tokens: probabilities are read once ----

local sampler = entry "Sorting"
sampler { per = 1, names = [[ flashinfer::sampling_from_probs flashinfer::sampling_from_logits
  flashinfer::top_p_sampling_from_probs flashinfer::top_k_sampling_from_probs
  flashinfer::min_p_sampling_from_probs flashinfer::top_k_top_p_sampling_from_probs
  sgl_kernel::top_k_top_p_sampling_from_probs sgl_kernel::top_p_sampling_from_probs
  sgl_kernel::min_p_sampling_from_probs sgl_kernel::top_k_renorm_probs sgl_kernel::top_p_renorm_probs ]],
  examples = {
    { op = "flashinfer::top_p_sampling_from_probs", dims = { { 4, 100 }, {}, { 4 }, {} },
      types = { "float", "", "float", "Scalar" }, flops = 400, bytes = 1616 },
  } }
sampler { per = 2, result = 0, names = [[ flashinfer::top_p_renorm_probs flashinfer::top_k_renorm_probs
  flashinfer::top_k_mask_logits flashinfer::softmax ]] }
sampler { per = 2, twice = { 0 }, names = "_C::apply_repetition_penalties_ _C::apply_repetition_penalties",
  examples = {
    { op = "_C::apply_repetition_penalties_", dims = { { 4, 100 }, { 4, 100 }, { 4, 100 }, { 4 } },
      types = { "float", "bool", "bool", "float" }, flops = 800, bytes = 3200 + 800 + 16 },
  } }

-- ---- experts: choosing them, moving tokens to them and back ----

local aux = entry "MoE_aux"
-- (weights, places, ..., logits)
aux { per = 5, of = 3, names = "_moe_C::topk_softmax _moe_C::topk_sigmoid" }
aux { per = 5, of = 2, names = "sgl_kernel::topk_softmax sgl_kernel::topk_sigmoid", examples = {
  { op = "sgl_kernel::topk_softmax", dims = { { 8, 2 }, { 8, 2 }, { 8, 16 }, {} },
    types = { "float", "int", "float", "Scalar" }, flops = 640, bytes = 64 + 64 + 512 },
} }
aux { per = 1, names = [[ _moe_C::moe_align_block_size _moe_C::sgl_moe_align_block_size
  sgl_kernel::moe_align_block_size sgl_kernel::prepare_moe_input sgl_kernel::moe_fused_gate
  _moe_C::grouped_topk _moe_C::batched_moe_align_block_size _moe_C::moe_sum sgl_kernel::moe_sum
  sgl_kernel::moe_sum_reduce sgl_kernel::apply_shuffle_mul_sum ]], examples = {
    { op = "_moe_C::moe_sum", dims = { { 8, 2, 64 }, { 8, 64 } }, types = { bf16, bf16 },
      flops = 1024, bytes = 2048 + 1024 },
  } }
aux { per = 0, names = "_moe_C::moe_permute _moe_C::moe_unpermute _moe_C::shuffle_rows sgl_kernel::shuffle_rows" }

-- ---- caches: what goes in or comes out, not the cache ----

-- moved: arguments that are read; twin: bytes written for each element are those of
-- argument cache
local function cached(names, moved, cache, examples)
  op {
    sheet = "InferenceAttention", category = "InferenceAttention", unit = "vector", extra = true,
    names = aten(names, ""), examples = examples,
    eval = function (_ENV)
      nelems = 0
      local bytes = 0
      for _, i in ipairs(moved) do
        nelems = nelems + elems(i)
        bytes = bytes + elems(i) * (size(i) + size(cache))
      end
      dtype_KV = dtype(cache)
      return 0, bytes, dtype(moved[1])
    end,
  }
end
cached("_C_cache_ops::indexer_k_quant_and_cache", { 0 }, 1)
-- (cache, where it goes, ...)
cached("_C_cache_ops::gather_cache _C_cache_ops::cp_gather_cache _C_cache_ops::gather_and_maybe_dequant_cache "
  .. "_C_cache_ops::cp_gather_and_upconvert_fp8_kv_cache _C_cache_ops::cp_gather_indexer_k_quant_cache",
  { 1 }, 0, {
    { op = "_C_cache_ops::gather_cache", dims = { { 1000, 16, 576 }, { 64, 576 } }, types = { fp8, bf16 },
      flops = 0, bytes = 64 * 576 * 3 },
  })
local attention = entry "InferenceAttention"
-- Parts of attention over two ranges of keys are joined.
attention { per = 4, category = "InferenceAttention",
  names = "_C::merge_attn_states sgl_kernel::merge_state sgl_kernel::merge_state_v2" }
attention { per = 0, category = "InferenceAttention", names = "_C_cache_ops::concat_mla_q", examples = {
  { dims = { { 8, 16, 512 }, { 8, 16, 64 }, { 8, 16, 576 } }, types = { bf16, bf16, bf16 }, flops = 0,
    bytes = 2 * 2 * 8 * 16 * 576 },
} }

-- ---- rotary embeddings ----

-- (q, k, where they go, cache of sines, positions)
op {
  sheet = "RoPE", unit = "vector", prec = 0, extra = true,
  names = { "sgl_kernel::apply_rope_pos_ids_cos_sin_cache", "flashinfer::apply_rope_pos_ids_cos_sin_cache" },
  eval = function (_ENV)
    num_elements = elems(0) + elems(1)
    return 3 * num_elements, 2 * num_elements * size(0)
  end,
  examples = {
    { op = "flashinfer::apply_rope_pos_ids_cos_sin_cache",
      dims = { { 8, 16, 64 }, { 8, 2, 64 }, { 8, 16, 64 }, { 8, 2, 64 }, { 4096, 64 }, { 8 } },
      types = { bf16, bf16, bf16, bf16, "float", "long int" }, flops = 3 * 9216, bytes = 4 * 9216 },
  },
}
-- (qkv, heads of q, k and v, head size, ...): q and k are normalised and rotated
op {
  sheet = "RoPE", unit = "vector", prec = 0, extra = true, names = { "_C::fused_qk_norm_rope" },
  eval = function (_ENV)
    num_elements = dim(0, 0) * (count(value(1)) + count(value(2))) * count(value(4))
    return 7 * num_elements, 2 * num_elements * size(0)
  end,
  examples = {
    { dims = { { 8, 20 * 64 }, {}, {}, {}, {}, {}, { 64 }, { 64 }, { 4096, 64 }, {}, { 8 } },
      types = { bf16, "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", bf16, bf16, bf16, "Scalar",
        "long int" },
      values = { "", "16", "2", "2", "64", "1e-06", "", "", "", "True", "" },
      flops = 7 * 8 * 18 * 64, bytes = 4 * 8 * 18 * 64 },
  },
}

-- ---- what no model can tell: the reason stands instead of figures ----

local function lacking(why, names)
  op {
    unit = "matrix", extra = true, names = aten(names, ""),
    eval = function () fail(why) end,
    examples = { { dims = { { 4, 4096 } }, types = { bf16 }, status = "failed" } },
  }
end
lacking("the number of keys is neither among its arguments nor in an annotation", [[
  trtllm::attn_custom_op_inplace trtllm::mla_custom_op_inplace trtllm::attention
  vllm::unified_mla_attention vllm::unified_mla_attention_with_output ]])
lacking("the size of the state is not among its arguments", [[ vllm::mamba_mixer vllm::mamba_mixer2
  vllm::linear_attention vllm::short_conv vllm::plamo2_mamba_mixer vllm::gdn_attention ]])
lacking("the weights of the experts are not among its arguments", [[ vllm::moe_forward
  vllm::moe_forward_shared trtllm::moe_custom_op ]])

-- SPDX-License-Identifier: MIT
-- Categories of ops without a model, and the sheets of a report. An op with a
-- model has the category of its entry. "X->Y (Synthetic Op)" is a kernel Y that
-- was left over below X.

-- aten::convolution and its backward call one of these, by the library and kind,
-- and before PyTorch 1.11 a backward one called two. All are in the category of
-- the op above them: tables count what launches or what has a model.
category { name = "CONV_fwd", names = { "aten::miopen_convolution", "aten::cudnn_convolution",
  "aten::cudnn_convolution_transpose", "aten::miopen_convolution_transpose",
  "aten::miopen_depthwise_convolution", "aten::_conv_depthwise2d", "aten::conv_depthwise3d",
  "aten::cudnn_convolution_relu", "aten::cudnn_convolution_add_relu",
  "aten::miopen_convolution_relu", "aten::miopen_convolution_add_relu" } }
category { name = "CONV_bwd", names = { "aten::cudnn_convolution_backward",
  "aten::cudnn_convolution_backward_input", "aten::cudnn_convolution_backward_weight",
  "aten::cudnn_convolution_transpose_backward", "aten::cudnn_convolution_transpose_backward_input",
  "aten::cudnn_convolution_transpose_backward_weight", "aten::miopen_convolution_backward",
  "aten::miopen_convolution_backward_input", "aten::miopen_convolution_backward_weight",
  "aten::miopen_convolution_transpose_backward", "aten::miopen_depthwise_convolution_backward",
  "aten::_conv_depthwise2d_backward", "aten::conv_depthwise3d_backward" } }
category { name = "SDPA_fwd",
  names = { "aten::_efficient_attention_forward", "aten::_flash_attention_forward",
    "aten::_cudnn_attention_forward", "aten::_scaled_dot_product_fused_attention_overrideable",
    "aten::_scaled_dot_product_attention_math", "aten::_native_multi_head_attention" } }
category { name = "SDPA_bwd", names = { "FlashAttnFuncBackward", "FusedAttnFuncBackward",
  "aten::_scaled_dot_product_cudnn_attention_backward",
  "aten::_scaled_dot_product_efficient_attention_backward",
  "aten::_scaled_dot_product_flash_attention_backward", "aten::_efficient_attention_backward",
  "aten::_flash_attention_backward", "aten::_cudnn_attention_backward",
  "aten::_scaled_dot_product_fused_attention_overrideable_backward", "flash_attn_3::bwd" } }
category { name = "Softmax", names = { "aten::_softmax", "aten::_log_softmax",
  "aten::_safe_softmax", "aten::_softmax_backward_data", "aten::_log_softmax_backward_data" } }
category { name = "SSM_bwd",
  names = { "MambaSplitConv1dScanCombinedFnBackward", "DaoAILab::_causal_conv1d_bwd_cpp" } }
category { name = "MoE_comm_fwd",
  names = { "TokenPermuteMaskMap", "_OperationFuserAutogradFunction" } }
category { name = "MoE_comm_bwd", names = { "MoEDispatchBackward", "MoECombineBackward",
  "TokenPermuteMaskMapBackward", "_OperationFuserAutogradFunctionBackward" } }
category { name = "RoPE_bwd", names = { "FusedRoPEFuncBackward" } }
category { name = "CrossEntropy_bwd", names = { "CrossEntropyFunctionBackward" } }
category { name = "MoE_aux", names = { "aiter::moe_sorting_opus_fwd", "aiter::moe_align_block_size",
  "_moe_C::moe_align_block_size", "aiter::moe_sum", "aiter::topk_softmax",
  "aiter::topk_softmax_asm", "aiter::topk_sigmoid", "aiter::grouped_topk", "aiter::moe_fused_gate",
  "aiter::fused_moe_->_fused_dynamic_mxfp4_quant_moe_sort_kernel (Synthetic Op)" } }

-- Shapes in the names vary, so these are patterns.
local v4 = "aiter::v4_attention_with_output->"
category { name = "InferenceAttention",
  names = { "_C_cache_ops::reshape_and_cache_flash", "_C_cache_ops::concat_and_cache_mla",
    "aiter::get_mla_metadata_v1", "aiter::indexer_score_topk",
    "hipModuleLaunchKernel->kv_indices_generate_kernel (Synthetic Op)",
    v4 .. "_update_compressor_states_kernel (Synthetic Op)",
    v4 .. "_swa_write_kernel (Synthetic Op)" },
  globs = { v4 .. "fused_compress_attn_* (Synthetic Op)",
    v4 .. "hca_compress_forward_* (Synthetic Op)" } }
category { name = "FusedRoPE",
  names = { "aiter::unified_attention_with_output_base->"
      .. "_fused_qk_rope_reshape_and_cache_kernel (Synthetic Op)",
    v4 .. "_inverse_rope_gptj_kernel (Synthetic Op)" },
  globs = { v4 .. "qk_norm_rope_H*_D*_RD*_flydsl (Synthetic Op)",
    v4 .. "hca_norm_rope_scatter_* (Synthetic Op)" } }
category { name = "CustomCollective", globs = { "aiter::allgather_lastdim<*> (Synthetic Op)",
  "aiter::allgather_lastdim<*>(*) (Synthetic Op)" } }

category { name = "triton", globs = { "triton*" } }
category { name = "record_param_comms", globs = { "record_param_comms*" } }

-- Attention that has no model, and its kernels inside graph replays.
category { name = "SDPA_fwd", globs = { "xformers*attention_forward*", "xformers_flash::flash_fwd*",
  "flash_attn*::*fwd*", "flash_attn*::*forward*", "FlashAttn*Func", "*GraphLaunch->*flash_fwd*",
  "*GraphLaunch->*flash_fprop*", "*GraphLaunch->*fmha_fwd*", "*GraphLaunch->attn_fwd*" } }
category { name = "SDPA_bwd", globs = { "xformers*attention_backward*", "xformers_flash::flash_bwd*",
  "flash_attn*::*bwd*", "flash_attn*::*backward*", "FlashAttn*FuncBackward",
  "*GraphLaunch->*flash_bwd*", "*GraphLaunch->*flash_bprop*", "*GraphLaunch->*fmha_bwd*",
  "*GraphLaunch->attn_bwd*" } }
category { name = "InferenceAttention", globs = { "vllm::*attention*", "sglang::*attention*",
  "trtllm::*attn*", "trtllm::*attention*", "trtllm::mla_*", "flashinfer::*with_kv_cache*", "_flashmla_C::*",
  "_vllm_fa*_C::*", "sgl_kernel::*mla*", "*GraphLaunch->*unified_attention*",
  "*GraphLaunch->*paged_attention*", "*GraphLaunch->*PagedAttention*",
  "*GraphLaunch->*WithPagedKVCache*", "*GraphLaunch->*reshape_and_cache*", "*GraphLaunch->*mla_decode*",
  "*GraphLaunch->*mla_fwd*" } }

-- Of what has no other, by the first kernel ("void at::native...").
category { name = "elementwise", kernels = { "elementwise" } }
category { name = "reduce", kernels = { "reduce" } }
category { name = "multi_tensor_apply", kernels = { "multi_tensor_apply" } }

sheets {
  order = { "GEMM", "SDPA", "CONV", "InferenceAttention", "BinaryElementwise", "GroupedGEMM",
    "MoE_comm", "SSM", "RoPE", "CrossEntropy", "UnaryElementwise", "MoE_fused", "MoE_unfused",
    "MoE_aux", "RMSNorm", "elementwise", "GroupQuant", "FusedRoPE", "CustomCollective", "mHC",
    "Normalization", "Reduce",
    -- not in the reference
    "Softmax", "Movement", "MorePointwise", "Pooling", "Resampling", "Optimizer",
    "Sorting", "Embedding", "Spectrum", "Recurrent", "LinearAlgebra" },
  single = { "GEMM", "UnaryElementwise", "BinaryElementwise", "Normalization", "Softmax",
    "Movement", "MorePointwise", "Pooling", "Resampling", "Optimizer", "Sorting", "Embedding",
    "Spectrum", "Recurrent", "LinearAlgebra" },
}

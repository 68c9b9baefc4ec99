/* SPDX-License-Identifier: MIT */
/*
 * The kernels: their names in the libraries of both backends (or plausible
 * ones), and their launch configurations. Without .cuda the name is the same on
 * both.
 */
#include "gen.h"

const struct kern kerns[K_COUNT] = {
	[K_GEMM_TN] = { .rocm = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_"
				"MT256x192x64_"
				"MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_"
				"CLR1_CADS0_DTLA0_DTLB0_"
				"EPS0_FDSI0_GRPM1_GSU1_WG32_8_1",
	    .cuda = "nvjet_tst_192x192_64x6_1x2_h_bz_coopA_TNN",
	    .renamed =
		"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x256x64_"
		"MI32x32x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_"
		"DTLB0_"
		"EPS0_FDSI0_GRPM1_GSU1_v2_WG32_8_1",
	    .block = 256,
	    .regs = 128,
	    .shared = 65536,
	    .per_block = 24576 },
	[K_GEMM_NN] = { .rocm = "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_"
				"MT256x256x64_"
				"MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_"
				"CLR1_CADS0_DTLA0_DTLB0_"
				"EPS0_FDSI0_GRPM1_GSU1_WG32_8_1",
	    .cuda = "void "
		    "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_"
		    "bf16_256x128_64x3_nn_align8>(cutlass_80_tensorop_bf16_"
		    "s16816gemm_"
		    "relu_bf16_256x128_64x3_nn_align8::Params)",
	    .renamed =
		"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x128x32_"
		"MI32x32x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_"
		"DTLB0_"
		"EPS0_FDSI0_GRPM1_GSU1_v2_WG32_8_1",
	    .block = 256,
	    .regs = 230,
	    .shared = 98304,
	    .per_block = 32768 },
	[K_GEMM_NT] = { .rocm = "Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_"
				"MT160x256x64_"
				"MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_"
				"CLR1_CADS0_DTLA0_DTLB0_"
				"EPS0_FDSI0_GRPM1_GSU1_WG32_8_1",
	    .cuda = "void "
		    "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_"
		    "bf16_128x128_32x5_nt_align8>(cutlass_80_tensorop_bf16_"
		    "s16816gemm_"
		    "relu_bf16_128x128_32x5_nt_align8::Params)",
	    .renamed =
		"Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT192x256x32_"
		"MI32x32x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_"
		"DTLB0_"
		"EPS0_FDSI0_GRPM1_GSU1_v2_WG32_8_1",
	    .block = 256,
	    .regs = 166,
	    .shared = 81920,
	    .per_block = 16384 },
	[K_LN] = { .rocm = "void at::native::(anonymous "
			   "namespace)::vectorized_layer_norm_"
			   "kernel<c10::BFloat16, float, false>(int, float, "
			   "c10::BFloat16 "
			   "const*, c10::BFloat16 const*, c10::BFloat16 "
			   "const*, float*, "
			   "float*, c10::BFloat16*)",
	    .block = 128,
	    .regs = 34,
	    .shared = 24,
	    .per_block = 1024 },
	[K_LN_BWD] = { .rocm = "void at::native::(anonymous "
			       "namespace)::layer_norm_grad_input_"
			       "kernel_vectorized<c10::BFloat16, float, "
			       "false>(c10::BFloat16 "
			       "const*, c10::BFloat16 const*, float const*, "
			       "float const*, c10::"
			       "BFloat16 const*, c10::BFloat16*, int)",
	    .block = 128,
	    .regs = 40,
	    .shared = 64,
	    .per_block = 1024 },
	[K_LN_GRAD] = { .rocm = "void "
				"at::native::"
				"GammaBetaBackwardCUDAKernelTemplate<c10::"
				"BFloat16, float, 32u, 32u, 256u, true, false, "
				"false>(long, long, "
				"c10::BFloat16 const*, c10::BFloat16 const*, "
				"float const*, float "
				"const*, c10::BFloat16*, c10::BFloat16*)",
	    .block = 1024,
	    .regs = 48,
	    .shared = 8448,
	    .per_block = 4096 },
	[K_ATTN] = { .rocm = "attn_fwd",
	    .cuda =
		"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_"
		"kernel_traits<64, 128, 64, 4, false, false, "
		"cutlass::bfloat16_t, "
		"pytorch_flash::Flash_kernel_traits<64, 128, 64, 4, cutlass::"
		"bfloat16_t> >, true, true, false, false, true, true, false, "
		"false>(pytorch_flash::Flash_fwd_params)",
	    .renamed = "fmha_fwd_hd64_bf16_causal_group",
	    .block = 256,
	    .regs = 255,
	    .shared = 49152,
	    .per_block = 8192 },
	[K_ATTN_BWD] = { .rocm = "bwd_kernel_fuse",
	    .cuda =
		"void "
		"pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
		"pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, "
		"4, "
		"false, false, cutlass::bfloat16_t, "
		"pytorch_flash::Flash_kernel_"
		"traits<64, 128, 128, 8, cutlass::bfloat16_t> >, true, true, "
		"false,"
		" false, false, true, false>(pytorch_flash::Flash_bwd_params)",
	    .renamed = "fmha_bwd_hd64_bf16_causal_a32_rtne",
	    .block = 256,
	    .regs = 255,
	    .shared = 147456,
	    .per_block = 8192 },
	[K_GELU] = { .rocm =
			 "void at::native::vectorized_elementwise_kernel<8, "
			 "at::native::"
			 "GeluCUDAKernelImpl(at::TensorIteratorBase&, "
			 "at::native::GeluType):"
			 ":{lambda()#2}::operator()() "
			 "const::{lambda()#4}::operator()() "
			 "const::{lambda(c10::BFloat16)#1}, std::array<char*, "
			 "2ul> >(int, "
			 "at::native::GeluCUDAKernelImpl(at::"
			 "TensorIteratorBase&, at::"
			 "native::GeluType)::{lambda()#2}::operator()() "
			 "const::{lambda()#4}:"
			 ":operator()() const::{lambda(c10::BFloat16)#1}, "
			 "std::array<char*, "
			 "2ul>)",
	    .block = 256,
	    .regs = 28,
	    .shared = 0,
	    .per_block = 2048 },
	[K_GELU_BWD] = { .rocm =
			     "void "
			     "at::native::vectorized_elementwise_kernel<8, "
			     "at::native::"
			     "GeluBackwardCUDAKernelImpl(at::"
			     "TensorIteratorBase&, at::native::"
			     "GeluType)::{lambda()#2}::operator()() "
			     "const::{lambda()#4}::"
			     "operator()() const::{lambda(c10::BFloat16, "
			     "c10::BFloat16)#1}, std:"
			     ":array<char*, 3ul> >(int, "
			     "at::native::GeluBackwardCUDAKernelImpl("
			     "at::TensorIteratorBase&, "
			     "at::native::GeluType)::{lambda()#2}::"
			     "operator()() const::{lambda()#4}::operator()() "
			     "const::{lambda(c10:"
			     ":BFloat16, c10::BFloat16)#1}, std::array<char*, "
			     "3ul>)",
	    .block = 256,
	    .regs = 32,
	    .shared = 0,
	    .per_block = 2048 },
	[K_ADD] = { .rocm = "void at::native::vectorized_elementwise_kernel<8, "
			    "at::native::"
			    "CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
			    "3ul> >(int, at::"
			    "native::CUDAFunctor_add<c10::BFloat16>, "
			    "std::array<char*, 3ul>)",
	    .cuda =
		"void at::native::vectorized_elementwise_kernel<4, at::native::"
		"CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
		"at::"
		"native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
		"3ul>)",
	    .renamed =
		"void at::native::vectorized_elementwise_kernel<8, at::native::"
		"binary_internal::AddFunctor<c10::BFloat16, float>, std::array<"
		"char*, 3ul> >(int, "
		"at::native::binary_internal::AddFunctor<c10::"
		"BFloat16, float>, std::array<char*, 3ul>)",
	    .block = 256,
	    .regs = 24,
	    .shared = 0,
	    .per_block = 2048 },
	[K_MUL] = { .rocm = "void at::native::vectorized_elementwise_kernel<8, "
			    "at::native::"
			    "AUnaryFunctor<c10::BFloat16, c10::BFloat16, "
			    "c10::BFloat16, at::"
			    "native::binary_internal::MulFunctor<float> >, "
			    "std::array<char*, "
			    "2ul> >(int, "
			    "at::native::AUnaryFunctor<c10::BFloat16, c10::"
			    "BFloat16, c10::BFloat16, "
			    "at::native::binary_internal::MulFunctor<"
			    "float> >, std::array<char*, 2ul>)",
	    .block = 256,
	    .regs = 20,
	    .shared = 0,
	    .per_block = 2048 },
	[K_COS] = { .rocm = "void at::native::vectorized_elementwise_kernel<4, "
			    "at::native::cos_"
			    "kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}"
			    "::operator()() "
			    "const::{lambda()#2}::operator()() "
			    "const::{lambda(float)#1}, std::"
			    "array<char*, 2ul> >(int, "
			    "at::native::cos_kernel_cuda(at::"
			    "TensorIteratorBase&)::{lambda()#2}::operator()() "
			    "const::{lambda("
			    ")#2}::operator()() const::{lambda(float)#1}, "
			    "std::array<char*, "
			    "2ul>)",
	    .block = 256,
	    .regs = 20,
	    .shared = 0,
	    .per_block = 1024 },
	[K_SIN] = { .rocm = "void at::native::vectorized_elementwise_kernel<4, "
			    "at::native::sin_"
			    "kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}"
			    "::operator()() "
			    "const::{lambda()#2}::operator()() "
			    "const::{lambda(float)#1}, std::"
			    "array<char*, 2ul> >(int, "
			    "at::native::sin_kernel_cuda(at::"
			    "TensorIteratorBase&)::{lambda()#2}::operator()() "
			    "const::{lambda("
			    ")#2}::operator()() const::{lambda(float)#1}, "
			    "std::array<char*, "
			    "2ul>)",
	    .block = 256,
	    .regs = 20,
	    .shared = 0,
	    .per_block = 1024 },
	[K_DROPOUT] = { .rocm = "void at::native::(anonymous "
				"namespace)::fused_dropout_kernel_vec<"
				"c10::BFloat16, float, unsigned int, 1, 8, "
				"bool>(at::cuda::detail::"
				"TensorInfo<c10::BFloat16 const, unsigned "
				"int>, at::cuda::detail::"
				"TensorInfo<c10::BFloat16, unsigned int>, "
				"at::cuda::detail::"
				"TensorInfo<bool, unsigned int>, unsigned int, "
				"float, at::"
				"PhiloxCudaState)",
	    .block = 256,
	    .regs = 46,
	    .shared = 0,
	    .per_block = 4096 },
	[K_MASK] = { .rocm =
			 "void at::native::vectorized_elementwise_kernel<4, "
			 "at::native::"
			 "masked_scale_kernel<bool, c10::BFloat16, "
			 "float>(at::Tensor&, at::"
			 "Tensor, at::Tensor, float)::{lambda(c10::BFloat16, "
			 "bool)#1}, std::"
			 "array<char*, 3ul> >(int, "
			 "at::native::masked_scale_kernel<bool, "
			 "c10::BFloat16, float>(at::Tensor&, at::Tensor, "
			 "at::Tensor, float):"
			 ":{lambda(c10::BFloat16, bool)#1}, std::array<char*, "
			 "3ul>)",
	    .block = 256,
	    .regs = 26,
	    .shared = 0,
	    .per_block = 2048 },
	[K_COPY] = { .rocm =
			 "void "
			 "at::native::unrolled_elementwise_kernel<at::native::"
			 "direct_"
			 "copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#"
			 "3}::operator("
			 ")() const::{lambda()#7}::operator()() "
			 "const::{lambda(float)#1}, "
			 "std::array<char*, 2ul>, 4, "
			 "TrivialOffsetCalculator<1, unsigned "
			 "int>, TrivialOffsetCalculator<1, unsigned int>, "
			 "at::native::"
			 "memory::LoadWithCast<1>, "
			 "at::native::memory::StoreWithCast<1> >("
			 "int, "
			 "at::native::direct_copy_kernel_cuda(at::"
			 "TensorIteratorBase&):"
			 ":{lambda()#3}::operator()() "
			 "const::{lambda()#7}::operator()() "
			 "const::{lambda(float)#1}, std::array<char*, 2ul>)",
	    .block = 256,
	    .regs = 22,
	    .shared = 0,
	    .per_block = 1024 },
	[K_SUM] = { .rocm =
			"void at::native::reduce_kernel<128, 4, "
			"at::native::ReduceOp<c10::"
			"BFloat16, at::native::func_wrapper_t<c10::BFloat16, "
			"at::native::"
			"sum_functor<c10::BFloat16, float, "
			"c10::BFloat16>::operator()(at::"
			"TensorIterator&)::{lambda(float, float)#1}>, unsigned "
			"int, c10::"
			"BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16, "
			"at::native::"
			"func_wrapper_t<c10::BFloat16, "
			"at::native::sum_functor<c10::"
			"BFloat16, float, "
			"c10::BFloat16>::operator()(at::TensorIterator&)::"
			"{lambda(float, float)#1}>, unsigned int, "
			"c10::BFloat16, 4, 4>)",
	    .block = 256,
	    .regs = 44,
	    .shared = 4096,
	    .per_block = 8192 },
	[K_SOFTMAX] = { .rocm = "void at::native::(anonymous "
				"namespace)::cunn_SoftMaxForward<8, "
				"c10::BFloat16, float, c10::BFloat16, "
				"at::native::(anonymous "
				"namespace)::LogSoftMaxForwardEpilogue>(c10::"
				"BFloat16*, c10::"
				"BFloat16 const*, int)",
	    .block = 1024,
	    .regs = 32,
	    .shared = 4096,
	    .per_block = 50304 },
	[K_SOFTMAX_BWD] = { .rocm =
				"void at::native::(anonymous "
				"namespace)::cunn_SoftMaxBackward<8, "
				"c10::BFloat16, float, c10::BFloat16, "
				"at::native::(anonymous "
				"namespace)::LogSoftMaxBackwardEpilogue>(c10::"
				"BFloat16*, c10::"
				"BFloat16 const*, c10::BFloat16 const*, long)",
	    .block = 1024,
	    .regs = 32,
	    .shared = 4096,
	    .per_block = 50304 },
	[K_NLL] = { .rocm = "void at::native::(anonymous "
			    "namespace)::nll_loss_forward_reduce_"
			    "cuda_kernel_2d<c10::BFloat16, float, "
			    "long>(c10::BFloat16*, c10::"
			    "BFloat16*, c10::BFloat16 const*, long const*, "
			    "c10::BFloat16 "
			    "const*, bool, long, long, long, long)",
	    .block = 32,
	    .regs = 30,
	    .shared = 256,
	    .per_block = 1073741824 },
	[K_NLL_BWD] = { .rocm = "void at::native::(anonymous "
				"namespace)::nll_loss_backward_reduce_"
				"cuda_kernel_2d<c10::BFloat16, "
				"long>(c10::BFloat16*, c10::BFloat16 "
				"const*, long const*, c10::BFloat16 const*, "
				"c10::BFloat16 const*, "
				"bool, int, int, long, long)",
	    .block = 32,
	    .regs = 30,
	    .shared = 0,
	    .per_block = 1073741824 },
	[K_EMBED] = { .rocm = "void at::native::vectorized_gather_kernel<16, "
			      "long>(char*, char*, "
			      "long*, int, long, long, long, long, bool)",
	    .block = 256,
	    .regs = 24,
	    .shared = 0,
	    .per_block = 2048 },
	[K_EMBED_BWD] = { .rocm = "void at::native::(anonymous "
				  "namespace)::embedding_backward_kernel<"
				  "c10::BFloat16, float, long>(long const*, "
				  "c10::BFloat16 const*, "
				  "c10::BFloat16*, int, long, int)",
	    .block = 256,
	    .regs = 32,
	    .shared = 8192,
	    .per_block = 4096 },
	[K_FE_ADD] = { .rocm = "void at::native::(anonymous "
			       "namespace)::multi_tensor_apply_kernel<"
			       "at::native::(anonymous "
			       "namespace)::TensorListMetadata<2>, at::"
			       "native::(anonymous "
			       "namespace)::BinaryOpScalarFunctor<float, 2, 1, "
			       "0>, std::plus<float>, "
			       "float>(at::native::(anonymous namespace)::"
			       "TensorListMetadata<2>, at::native::(anonymous "
			       "namespace)::"
			       "BinaryOpScalarFunctor<float, 2, 1, 0>, "
			       "std::plus<float>, float)",
	    .block = 512,
	    .regs = 36,
	    .shared = 0,
	    .per_block = 65536 },
	[K_FE_MUL] = { .rocm = "void at::native::(anonymous "
			       "namespace)::multi_tensor_apply_kernel<"
			       "at::native::(anonymous "
			       "namespace)::TensorListMetadata<1>, at::"
			       "native::(anonymous "
			       "namespace)::BinaryOpScalarFunctor<float, 1, 1, "
			       "0>, std::multiplies<float>, "
			       "float>(at::native::(anonymous "
			       "namespace)::TensorListMetadata<1>, "
			       "at::native::(anonymous "
			       "namespace)::BinaryOpScalarFunctor<float, 1, 1, "
			       "0>, std::"
			       "multiplies<float>, float)",
	    .block = 512,
	    .regs = 36,
	    .shared = 0,
	    .per_block = 65536 },
	[K_FE_LERP] = { .rocm =
			    "void at::native::(anonymous "
			    "namespace)::multi_tensor_apply_kernel<"
			    "at::native::(anonymous "
			    "namespace)::TensorListMetadata<3>, at::"
			    "native::(anonymous "
			    "namespace)::TernaryOpScalarFunctor<float, 3, 1,"
			    " 0>, at::native::LerpFunctor<float>, "
			    "float>(at::native::("
			    "anonymous namespace)::TensorListMetadata<3>, "
			    "at::native::("
			    "anonymous "
			    "namespace)::TernaryOpScalarFunctor<float, 3, 1, "
			    "0>, at::"
			    "native::LerpFunctor<float>, float)",
	    .block = 512,
	    .regs = 48,
	    .shared = 0,
	    .per_block = 65536 },
	[K_FE_ADDCMUL] = { .rocm =
			       "void at::native::(anonymous "
			       "namespace)::multi_tensor_apply_kernel<"
			       "at::native::(anonymous "
			       "namespace)::TensorListMetadata<3>, at::"
			       "native::(anonymous "
			       "namespace)::PointwiseOpScalarFunctor<float, 3, "
			       "1, 0>, std::multiplies<float>, "
			       "float>(at::native::(anonymous "
			       "namespace)::TensorListMetadata<3>, "
			       "at::native::(anonymous "
			       "namespace)::PointwiseOpScalarFunctor<float, 3, "
			       "1, 0>, std::"
			       "multiplies<float>, float)",
	    .block = 512,
	    .regs = 48,
	    .shared = 0,
	    .per_block = 65536 },
	[K_FE_SQRT] = { .rocm =
			    "void at::native::(anonymous "
			    "namespace)::multi_tensor_apply_kernel<"
			    "at::native::(anonymous "
			    "namespace)::TensorListMetadata<2>, at::"
			    "native::(anonymous "
			    "namespace)::UnaryOpFunctor<float, 2, 1, 0>, at:"
			    ":native::Sqrt<float>, "
			    "float>(at::native::(anonymous namespace)::"
			    "TensorListMetadata<2>, at::native::(anonymous "
			    "namespace)::"
			    "UnaryOpFunctor<float, 2, 1, 0>, "
			    "at::native::Sqrt<float>, float)",
	    .block = 512,
	    .regs = 36,
	    .shared = 0,
	    .per_block = 65536 },
	[K_FE_ADDCDIV] = { .rocm =
			       "void at::native::(anonymous "
			       "namespace)::multi_tensor_apply_kernel<"
			       "at::native::(anonymous "
			       "namespace)::TensorListMetadata<3>, at::"
			       "native::(anonymous "
			       "namespace)::PointwiseOpListFunctor<float, 3, 1,"
			       " 0>, std::divides<float>, "
			       "float>(at::native::(anonymous "
			       "namespace)::TensorListMetadata<3>, "
			       "at::native::(anonymous "
			       "namespace)::PointwiseOpListFunctor<float, 3, "
			       "1, 0>, std::divides<"
			       "float>, float)",
	    .block = 512,
	    .regs = 48,
	    .shared = 0,
	    .per_block = 65536 },
	[K_CONV] = { .rocm = "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex0_bt256x128x32_"
			     "wt32x32x8_ws1x1_"
			     "wr2x2_ta1x8x4x1_1x4x1x64_tb1x8x2x1_1x4x1x64",
	    .cuda = "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_"
		    "nhwckrsc_nhwc_"
		    "tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_"
		    "k_off_"
		    "kernel__5x_cudnn",
	    .block = 256,
	    .regs = 168,
	    .shared = 65536,
	    .per_block = 16384 },
	[K_CONV_DGRAD] = { .rocm =
			       "igemm_bwd_gtcx3_nhwc_bf16_bx0_ex0_bt256x128x32_"
			       "wt32x32x8_ws1x1_"
			       "wr2x2_ta1x8x4x1_1x4x1x64_tb1x8x2x1_1x4x1x64",
	    .cuda = "sm90_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_"
		    "nhwckrsc_nhwc_"
		    "tilesize128x128x64_warpgroupsize1x1x1_g1_execute_kernel__"
		    "5x_cudnn",
	    .block = 256,
	    .regs = 168,
	    .shared = 65536,
	    .per_block = 16384 },
	[K_CONV_WGRAD] = { .rocm = "igemm_wrw_gtcx3_nhwc_bf16_bx0_ex0_"
				   "bt128x128x32_wt32x32x8_ws1x1_"
				   "wr2x2_ta1x4x1x4_1x8x1x32_tb1x4x1x4_"
				   "1x8x1x32_gkgs",
	    .cuda = "sm90_xmma_wgrad_implicit_gemm_bf16bf16_bf16f32_f32_"
		    "nhwckrsc_nhwc_"
		    "tilesize128x128x64_warpgroupsize1x1x1_g1_execute_kernel__"
		    "5x_cudnn",
	    .block = 256,
	    .regs = 168,
	    .shared = 65536,
	    .per_block = 16384 },
	[K_BN] = { .rocm = "MIOpenBatchNormFwdTrainSpatial",
	    .cuda =
		"void cudnn::bn_fw_tr_1C11_kernel_NCHW<__nv_bfloat16, float, "
		"512, "
		"true, 1, true>(cudnnTensorStruct, __nv_bfloat16 const*, "
		"cudnnTensorStruct, __nv_bfloat16*, float const*, float "
		"const*, "
		"float, float, float*, float*, float*, float*, float, float)",
	    .block = 512,
	    .regs = 40,
	    .shared = 4096,
	    .per_block = 65536 },
	[K_BN_BWD] = { .rocm = "MIOpenBatchNormBwdSpatial",
	    .cuda = "void cudnn::bn_bw_1C11_singleread<__nv_bfloat16, 512, "
		    "true, 1, 2, "
		    "0>(float, float, float, float, cudnnTensorStruct, "
		    "__nv_bfloat16 "
		    "const*, cudnnTensorStruct, __nv_bfloat16 const*)",
	    .block = 512,
	    .regs = 48,
	    .shared = 4096,
	    .per_block = 65536 },
	[K_RELU] = { .rocm =
			 "void at::native::vectorized_elementwise_kernel<8, "
			 "at::native::("
			 "anonymous "
			 "namespace)::launch_clamp_scalar(at::"
			 "TensorIteratorBase&,"
			 " c10::Scalar, c10::Scalar, "
			 "at::native::detail::ClampLimits)::"
			 "{lambda()#1}::operator()() "
			 "const::{lambda()#9}::operator()() "
			 "const::{lambda(c10::BFloat16)#1}, std::array<char*, "
			 "2ul> >(int, "
			 "at::native::(anonymous "
			 "namespace)::launch_clamp_scalar(at::"
			 "TensorIteratorBase&, c10::Scalar, c10::Scalar, "
			 "at::native::detail:"
			 ":ClampLimits)::{lambda()#1}::operator()() "
			 "const::{lambda()#9}::"
			 "operator()() const::{lambda(c10::BFloat16)#1}, "
			 "std::array<char*, "
			 "2ul>)",
	    .block = 256,
	    .regs = 20,
	    .shared = 0,
	    .per_block = 2048 },
	[K_RELU_BWD] = { .rocm = "void "
				 "at::native::vectorized_elementwise_kernel<8, "
				 "at::native::("
				 "anonymous "
				 "namespace)::threshold_kernel_impl<c10::"
				 "BFloat16>(at::"
				 "TensorIteratorBase&, c10::BFloat16, "
				 "c10::BFloat16)::{lambda(c10::"
				 "BFloat16, c10::BFloat16)#1}, "
				 "std::array<char*, 3ul> >(int, at::"
				 "native::(anonymous "
				 "namespace)::threshold_kernel_impl<c10::"
				 "BFloat16>(at::TensorIteratorBase&, "
				 "c10::BFloat16, c10::BFloat16)::"
				 "{lambda(c10::BFloat16, c10::BFloat16)#1}, "
				 "std::array<char*, 3ul>)",
	    .block = 256,
	    .regs = 22,
	    .shared = 0,
	    .per_block = 2048 },
	[K_FUSED] = { .rocm = "triton_poi_fused_add_native_dropout_1",
	    .block = 256,
	    .regs = 24,
	    .shared = 0,
	    .per_block = 2048 },
	[K_FILL] = { .rocm = "__amd_rocclr_fillBufferAligned",
	    .block = 256,
	    .regs = 16,
	    .per_block = 1024 },
	[K_NCCL + COLL_ALLREDUCE] = { .rocm =
					  "ncclDevKernel_Generic_4("
					  "ncclDevKernelArgsStorage<4096ul>)",
	    .cuda = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL("
		    "ncclDevKernelArgsStorage<4096ul>)",
	    .block = 512,
	    .regs = 96,
	    .shared = 82240 },
	[K_NCCL + COLL_ALLGATHER] = { .rocm =
					  "ncclDevKernel_Generic_2("
					  "ncclDevKernelArgsStorage<4096ul>)",
	    .cuda = "ncclDevKernel_AllGather_RING_LL("
		    "ncclDevKernelArgsStorage<4096ul>)",
	    .block = 512,
	    .regs = 96,
	    .shared = 82240 },
	[K_NCCL +
	    COLL_REDUCESCATTER] = { .rocm = "ncclDevKernel_Generic_1("
					    "ncclDevKernelArgsStorage<4096ul>)",
	    .cuda = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL("
		    "ncclDevKernelArgsStorage<4096ul>)",
	    .block = 512,
	    .regs = 96,
	    .shared = 82240 },
	[K_NCCL + COLL_BROADCAST] = { .rocm =
					  "ncclDevKernel_Generic_1("
					  "ncclDevKernelArgsStorage<4096ul>)",
	    .cuda = "ncclDevKernel_Broadcast_RING_LL("
		    "ncclDevKernelArgsStorage<4096ul>)",
	    .block = 256,
	    .regs = 96,
	    .shared = 82240 },
	[K_NCCL + COLL_ALLTOALLV] = { .rocm =
					  "ncclDevKernel_Generic_4("
					  "ncclDevKernelArgsStorage<4096ul>)",
	    .cuda = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
	    .block = 512,
	    .regs = 96,
	    .shared = 82240 },
};

-- SPDX-License-Identifier: MIT
-- Kernels that torch.compile makes, named by what they fuse:
-- triton_poi_fused_add_mul_2 (pointwise), _red_ and _per_ (reductions). The sizes
-- are the last integers among the arguments: of the grid, and of the reduction.

-- Names of ops (torch 2.11): dispatcher and distributed; what a name may be made of.
local words = [[
  _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d
  _adaptive_avg_pool3d_backward _add_relu _addmm_activation
  _amp_foreach_non_finite_check_and_unscale_ _assert_async _assert_scalar _assert_tensor_metadata
  _batch_norm_no_update _batch_norm_with_update _batch_norm_with_update_functional
  _cdist_backward _cdist_forward _cholesky_solve_helper _chunk_cat _convert_weight_to_int4pack
  _convert_weight_to_int4pack_for_cpu _convolution_pointwise _cslt_sparse_mm _cudnn_rnn _dir
  _dyn_quant_matmul_4bit _dyn_quant_pack_4bit_weight _efficient_attention_backward
  _efficient_attention_forward _embedding_bag _embedding_bag_backward
  _embedding_bag_dense_backward _embedding_bag_forward_only
  _embedding_bag_per_sample_weights_backward _euclidean_dist _fft_c2c _fft_c2r _fft_r2c
  _flash_attention_backward _flash_attention_forward _foreach_norm _functional_assert_async
  _functional_sym_constrain_range _functional_sym_constrain_range_for_size _fused_adam
  _fused_adam_ _fused_adamw_ _fused_dropout _fused_moving_avg_obs_fq_helper _fused_rms_norm
  _fused_rms_norm_backward _grouped_mm _int_mm _jagged_to_padded_dense_forward _linalg_det
  _linalg_eigh _linalg_eigvals _linalg_slogdet _linalg_solve_ex _linalg_svd _linear_pointwise
  _list_to_tensor _local_scalar_dense _log_softmax _log_softmax_backward_data _make_dep_token
  _make_token _masked_scale _mkl_linear _native_batch_norm_legit
  _native_batch_norm_legit_functional _native_batch_norm_legit_no_training
  _native_multi_head_attention _nested_tensor_from_tensor_list _nested_view_from_buffer
  _nested_view_from_buffer_copy _pack_padded_sequence _padded_dense_to_jagged_forward
  _pdist_backward _pdist_forward _pin_memory _prelu_kernel _prelu_kernel_backward _print
  _record_function_enter _record_function_enter_new _record_function_exit _reshape_alias
  _reshape_copy _resize_output _resize_output_ _safe_softmax
  _scaled_dot_product_attention_math_for_mps _scaled_dot_product_cudnn_attention
  _scaled_dot_product_cudnn_attention_backward _scaled_dot_product_efficient_attention
  _scaled_dot_product_efficient_attention_backward _scaled_dot_product_flash_attention
  _scaled_dot_product_flash_attention_backward _scaled_dot_product_flash_attention_for_cpu
  _scaled_dot_product_flash_attention_for_cpu_backward
  _scaled_dot_product_fused_attention_overrideable _scaled_grouped_mm _scaled_mm _scaled_mm_v2
  _segment_reduce_backward _sink_tokens _softmax _softmax_backward_data
  _sparse_coo_tensor_with_dims_and_tensors _sparse_semi_structured_addmm
  _sparse_semi_structured_linear _sparse_semi_structured_mm _thnn_fused_lstm_cell
  _thnn_fused_lstm_cell_backward_impl _to_copy _unique2 _unsafe_index _unsafe_index_put
  _unsafe_masked_index _unsafe_masked_index_put_accumulate _unsafe_view _upsample_bicubic2d_aa
  _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward _upsample_nearest_exact1d
  _upsample_nearest_exact2d _upsample_nearest_exact2d_backward _upsample_nearest_exact3d
  _weight_int4pack_mm _weight_int4pack_mm_for_cpu _weight_int4pack_mm_with_scales_and_zeros
  _weight_int8pack_mm _weight_norm_interface _weight_norm_interface_backward abs abs_ absolute
  absolute_ accumulate_grad_ acos acos_ acosh acosh_ adaptive_max_pool2d
  adaptive_max_pool2d_backward adaptive_max_pool3d adaptive_max_pool3d_backward add add_ addbmm
  addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr affine_grid_generator
  alias alias_copy all all_gather all_gather_coalesced all_gather_into_tensor all_gather_object
  all_reduce all_reduce_coalesced all_to_all all_to_all_single alpha_dropout amax amin aminmax
  angle annotate any append arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh
  arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin as_strided as_strided_
  as_strided_copy as_strided_scatter asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_
  avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward baddbmm baddbmm_
  batch_isend_irecv batch_norm_backward bernoulli bernoulli_ bessel_i0 bessel_i0e bessel_i1
  bessel_i1e bessel_j0 bessel_j1 binary_cross_entropy binary_cross_entropy_backward
  binary_cross_entropy_with_logits bincount bitwise_and bitwise_and_ bitwise_left_shift
  bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift
  bitwise_right_shift_ bitwise_xor bitwise_xor_ block_diag bmm broadcast_in_dim
  broadcast_object_list broadcast_tensors bucketize c10d_logger cat cauchy cauchy_ cbrt ceil
  ceil_ celu celu_ channel_shuffle cholesky cholesky_inverse cholesky_solve clamp clamp_
  clamp_max clamp_max_ clamp_min clamp_min_ clear clip clip_ clone col2im collapse collapse_view
  complex conj conj_physical conj_physical_ constant_pad_nd conv2d convert_element_type
  convolution convolution_backward copy copy_ copy_strided copy_to copysign copysign_ cos cos_
  cosh cosh_ count count_nonzero cudnn_batch_norm cudnn_batch_norm_backward cummax cummin cumprod
  cumprod_ cumsum cumsum_ default_pg_timeout deg2rad deg2rad_ dense_dim destroy_process_group
  detach device device_mesh device_put diag diag_embed diagonal diagonal_backward diagonal_copy
  diagonal_scatter difference difference_update digamma digamma_ dim discard dist
  distributed_c10d div div_ divide divide_ dot dropout elu elu_ elu_backward embedding
  embedding_dense_backward empty empty_like empty_permuted empty_strided eq eq_ erf erf_ erf_inv
  erfc erfc_ erfcx erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_copy expm1 expm1_ exponential
  exponential_ extend eye fft_c2c fft_c2r fft_fft fft_fft2 fft_fftn fft_fftshift fft_hfft
  fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn
  fft_irfft fft_irfft2 fft_irfftn fft_r2c fft_rfft fft_rfft2 fft_rfftn fill fill_ fix fix_ flip
  float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_
  fractional_max_pool2d frexp full full_like gather gather_object gcd gcd_ ge ge_ gelu gelu_
  gelu_backward geometric geometric_ get_backend get_backend_config get_debug_level
  get_default_backend_for_device get_global_rank get_group_rank get_node_local_rank get_pg_count
  get_process_group_ranks get_rank get_world_size glu glu_backward greater greater_ greater_equal
  greater_equal_ grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d
  grid_sampler_3d_backward gru gt gt_ hardshrink hardsigmoid hardsigmoid_ hardsigmoid_backward
  hardswish hardswish_ hardswish_backward hardtanh hardtanh_ hardtanh_backward heaviside
  heaviside_ hinge_embedding_loss histc huber_loss huber_loss_backward hypot hypot_ i0 i0_ igamma
  igamma_ igammac igammac_ im2col imag index index_add index_add_ index_copy index_copy_
  index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ index_select
  init_device_mesh init_process_group insert instance_norm int4mm_packed_weight_cpu intersection
  intersection_update iota is_available is_backend_available is_coalesced is_complex
  is_contiguous is_gloo_available is_initialized is_mpi_available is_nccl_available
  is_non_overlapping_and_dense is_pinned is_same_size is_strides_like_format
  is_torchelastic_launched is_ucc_available is_xccl_available isdisjoint isfinite isin isinf
  isnan isneginf isposinf issubset issuperset istft item kthvalue layer_norm lcm lcm_ ldexp
  ldexp_ le le_ leaky_relu leaky_relu_ leaky_relu_backward lerp lerp_ less less_ less_equal
  less_equal_ lgamma lgamma_ lift lift_fresh lift_fresh_copy linalg_cholesky_ex linalg_cross
  linalg_eig linalg_eigvals linalg_householder_product linalg_inv_ex linalg_ldl_factor_ex
  linalg_ldl_solve linalg_lu linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp linalg_qr
  linalg_solve_triangular linalg_vector_norm linear linear_backward linear_dynamic_fp16
  linear_relu_dynamic_fp16 linspace log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal
  log_normal_ log_sigmoid_backward log_sigmoid_forward logaddexp logaddexp2 logcumsumexp
  logging_handlers logical_and logical_and_ logical_not logical_not_ logical_or logical_or_
  logical_xor logical_xor_ logit logit_ logit_backward logspace logsumexp lstm lt lt_ lu_unpack
  margin_ranking_loss masked_fill masked_fill_ masked_scatter masked_scatter_
  masked_scatter_backward masked_select matmul max max_pool2d max_pool2d_with_indices
  max_pool2d_with_indices_backward max_pool3d_with_indices max_pool3d_with_indices_backward
  max_unpool2d max_unpool3d maximum maximum_value mean median meshgrid min minimum minimum_value
  miopen_batch_norm miopen_batch_norm_backward miopen_rnn mish mish_ mish_backward
  mkldnn_rnn_layer mkldnn_rnn_layer_backward mm mode monitored_barrier mse_loss mse_loss_backward
  mul mul_ multi_margin_loss multilabel_margin_loss_forward multinomial multiply multiply_ mv
  mvlgamma mvlgamma_ name nan_to_num nan_to_num_ nanmedian nansum narrow narrow_copy
  native_batch_norm native_batch_norm_backward native_dropout native_dropout_backward
  native_group_norm native_group_norm_backward native_layer_norm native_layer_norm_backward ndtri
  ne ne_ neg neg_ negative negative_ new_empty new_empty_strided new_full new_group new_ones
  new_subgroups new_subgroups_by_enumeration new_zeros nextafter nextafter_ nll_loss
  nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward nonzero nonzero_numpy
  nonzero_static norm normal normal_ not_equal not_equal_ numel ones ones_like ormqr pad_sequence
  pairwise_distance pdist permute permute_copy philox_rand pin_memory pixel_shuffle
  pixel_unshuffle poisson polar polygamma pop positive pow pow_ prelu prod qconv2d_pointwise
  qconv_pointwise qlinear_pointwise quantized_gru quantized_lstm rad2deg rad2deg_ rand rand_like
  randint randint_like randn randn_like randperm real reciprocal reciprocal_ recv_object_list
  reduce_op reduce_scatter reduce_scatter_tensor reflection_pad1d reflection_pad1d_backward
  reflection_pad2d reflection_pad2d_backward reflection_pad3d reflection_pad3d_backward
  register_rendezvous_handler relu relu6 relu_ remainder remainder_ remote_device remove renorm
  renorm_ repeat repeat_interleave replication_pad1d replication_pad1d_backward replication_pad2d
  replication_pad2d_backward replication_pad3d replication_pad3d_backward reshape resize
  resize_as resize_as_ resize_storage_bytes_ rev reverse rnn_relu rnn_tanh roll rot90 round
  round_ rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_backward rrelu_with_noise_functional
  rsqrt rsqrt_ rsub scalar_tensor scatter scatter_ scatter_add scatter_add_ scatter_object_list
  scatter_reduce scatter_reduce_ searchsorted segment_reduce select select_backward
  select_scatter selu selu_ send_object_list set_ set_debug_level set_debug_level_from_env sgn
  sgn_ shift_left shift_right_arithmetic shrink_group sigmoid sigmoid_ sigmoid_backward sign
  sign_ signbit silu silu_ silu_backward sin sin_ sinc sinc_ sinh sinh_ size slice slice_backward
  slice_scatter smooth_l1_loss smooth_l1_loss_backward soft_margin_loss soft_margin_loss_backward
  softplus softplus_backward softshrink sort sparse_dim special_airy_ai special_bessel_j0
  special_bessel_j1 special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t
  special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w
  special_entr special_erfcx special_hermite_polynomial_h special_hermite_polynomial_he
  special_i0e special_i1 special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p
  special_log_ndtr special_modified_bessel_i0 special_modified_bessel_i1
  special_modified_bessel_k0 special_modified_bessel_k1 special_ndtr special_ndtri
  special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
  special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
  special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
  special_spherical_bessel_j0 special_xlog1py special_zeta spherical_bessel_j0 split split_dim
  split_group split_with_sizes split_with_sizes_copy sqrt sqrt_ square square_ squeeze
  squeeze_copy stack std std_mean stft storage_offset stride sub sub_ subtract subtract_ sum
  supports_complex svd sym_constrain_range sym_constrain_range_for_size sym_numel sym_size
  sym_storage_offset sym_stride symmetric_difference symmetric_difference_update t t_ t_copy take
  tan tan_ tanh tanh_ tanh_backward tensor_split threshold threshold_ threshold_backward to topk
  trace transpose transpose_ transpose_copy triangular_solve tril tril_ tril_indices triu triu_
  triu_indices true_divide true_divide_ trunc trunc_ unbind unbind_copy unfold unfold_backward
  unfold_copy uniform uniform_ union unique_consecutive unique_dim unsafe_chunk unsafe_split
  unsafe_split_with_sizes unsqueeze unsqueeze_ unsqueeze_copy update upsample_bicubic2d
  upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d
  upsample_nearest2d_backward upsample_nearest3d upsample_trilinear3d var var_mean vdot view
  view_as_complex view_as_real view_copy view_of view_of_dtype where xlogy xlogy_ xor_sum zero
  zero_ zeros zeros_like zeta
]]

local known -- word = true, made when first needed
local function is_known(word)
  if not known then
    known = {}
    for w in words:gmatch("%S+") do known[w] = true end
  end
  return known[word]
end

-- Operations for each element; of any other op none.
local cost = {}
for n, list in ipairs { "add sub mul div mean sum relu abs neg ne eq lt gt",
  "pow sqrt rsqrt var reciprocal", "", "exp log sigmoid tanh silu", "", "", "", "gelu" } do
  for w in list:gmatch("%S+") do cost[w] = n end
end

local longest = 10 -- parts between underscores of one op's name

-- The op names that a text joined by "_" is made of. Parts that are no name are
-- passed over, as few as can be; of two ways the one with the longer last name.
local function split(text)
  local parts, at = {}, 1
  repeat
    local stop = text:find("_", at, true)
    parts[#parts + 1] = text:sub(at, stop and stop - 1 or -1)
    at = stop and stop + 1
  until not at
  if #parts > 100 then return {} end
  local lost = { [0] = 0 } -- fewest parts passed over up to here
  local from = {} -- where the best last name begins
  for j = 1, #parts do
    lost[j], from[j] = lost[j - 1] + (parts[j] == "" and 0.001 or 1), nil
    local name
    for i = j, math.max(1, j - longest + 1), -1 do
      name = name and parts[i] .. "_" .. name or parts[i]
      if is_known(name) and (lost[i - 1] < lost[j] or lost[i - 1] == lost[j] and from[j]) then
        lost[j], from[j] = lost[i - 1], i
      end
    end
  end
  local out, j = {}, #parts
  while j > 0 do
    if from[j] then
      table.insert(out, 1, table.concat(parts, "_", from[j], j))
      j = from[j] - 1
    else
      j = j - 1
    end
  end
  return out
end

-- Integers among the concrete inputs, in order.
local function integers()
  local out = {}
  for i = 0, nvalues() - 1 do
    local n = int(value(i), nil)
    if n then out[#out + 1] = n end
  end
  return out
end

-- The tensors: elements, bytes an element, type; and the largest count.
local function tensors_of()
  local out, most = {}, 0
  for i = 0, nargs() - 1 do
    if has(i) and dtype(i) ~= "Scalar" then
      out[#out + 1] = { n = elems(i), e = size(i, 0), type = dtype(i), arg = i }
      most = math.max(most, elems(i))
    end
  end
  return out, most
end

-- Bytes of a kernel that goes over all elements, and the type of the first tensor of a
-- known one. Of a larger tensor it takes a slice. The first one may be written where it
-- is read, if it has as many.
local function moved(list, all, in_place)
  local sum, first = 0, nil
  for _, t in ipairs(list) do
    sum = sum + math.min(t.n, all) * t.e
    if t.e > 0 then first = first or t end
  end
  if in_place and first and #list > 1 and first.n == all then sum = sum + all * first.e end
  return sum, first and first.type
end

-- Results stand behind what is read; with none there, a pointwise kernel writes the
-- first tensor where it reads it. How many there are is not recorded: of several
-- tensors only the first is known to be read.
local function result(list, all, pointwise)
  local out = list[#list]
  if out and pointwise and out.n ~= all then out = list[1].n == all and list[1] or nil end
  writes(out and out.e > 0 and out.n * out.e or unknown)
  local rest = {}
  for k = #list > 1 and 2 or 1, #list do rest[#rest + 1] = list[k].arg end
  may_read(table.unpack(rest))
end

-- Grids have up to three sizes: as many as fit the largest tensor.
local function elements(v, least, most)
  local total, p = least, 1
  for i = #v, math.max(1, #v - 2), -1 do
    p = p * v[i]
    if p > total and p <= most then total = p end
  end
  return total
end

-- ---- without arguments: the wrapper file that torch.compile left ----

-- Bytes of what a pointer of Triton's points to; others are passed over.
local pointed = { i1 = 1, i8 = 1, u8 = 1, i16 = 2, bf16 = 2, fp16 = 2, f16 = 2, i32 = 4, u32 = 4,
  fp32 = 4, f32 = 4, i64 = 8, u64 = 8, fp64 = 8, fp8e4nv = 1, fp8e5 = 1, fp8e4b8 = 1, fp8e5b16 = 1 }
local spelled = { bf16 = "c10::BFloat16", fp16 = "c10::Half", f16 = "c10::Half", fp32 = "float",
  f32 = "float", fp64 = "double", fp8e4nv = "fp8", fp8e5 = "fp8", fp8e4b8 = "fp8", fp8e5b16 = "fp8" }

-- What the wrapper says of sizes, pointers and fused ops.
local function wrapper()
  local text = argument("inductor_source") or ""
  return text:match("size_hints=[{%[](.-)[}%]]") or "", text:match("'signature': {(.-)}") or "",
    text:match("Original ATen: %[(.-)%]") or ""
end

-- Bytes of the kernel's pointers, of those written and read, of the last, and
-- the first one's type.
local function pointers(text)
  local sum, both, last, first = 0, 0, 0, nil
  for name, kind in text:gmatch("'([%w_]+)'%s*:%s*'%*(%w+)'") do
    local e = pointed[kind]
    if e then
      sum, last, first = sum + e, e, first or spelled[kind] or kind
      if starts(name, "in_out_") then both = both + e end
    end
  end
  return sum, both, last, first
end

-- "'x': 32768, 'r0_': 2048", or in older releases "32768, 2048": sizes of the
-- grid and of the reduction, rounded up to powers of two by the compiler.
local function hints(text)
  local x, r, any = 1, 1, false
  for name, n in text:gmatch("'([%w_]+)'%s*:%s*(%d+)") do
    any = true
    if starts(name, "r") then r = int(n) else x = x * int(n) end
  end
  if any then return x, r end
  x, r = text:match("^%s*(%d+)%s*,?%s*(%d*)")
  if x then return int(x), r ~= "" and int(r) or 1 end
end

local function fused(_ENV, names)
  local per_element = 0
  for i, name in ipairs(names) do
    per_element = per_element + (cost[name] or 0)
    names[i] = "aten." .. name
  end
  fused_ops = table.concat(names, ", ")
  return per_element
end

local function of_wrapper(_ENV)
  local sizes, signature, ops = wrapper()
  local x, r = hints(sizes)
  if not x then no_model("no sizes among the arguments") end
  local names = {}
  for name in ops:gmatch("[%w_.]+") do
    names[#names + 1] = name:match("^aten%.([%w_]+)") or name
  end
  local sum, both, last, first = pointers(signature)
  local per_element = fused(_ENV, names)
  xnumel = x
  rnumel = r
  local bytes = r > 1 and (sum - last) * x * r + last * x or (sum + both) * x
  return x * r * per_element, bytes, first
end

-- Whether the kernel is known to write only to tensors of its own.
local function no_in_out()
  local _, signature = wrapper()
  return signature:find("*", 1, true) and not signature:find("in_out_", 1, true)
end

local bf16 = "c10::BFloat16"

op {
  globs = { "triton_poi_*", "triton_red_*", "triton_per_*" },
  unit = "vector", reads = { "inductor_source" },
  eval = function (_ENV)
    local text = op_name():match("^triton_%l+_fused_(.+)_%d+$")
    local v = nargs() > 0 and integers() or {}
    if #v == 0 or dtype(0) == "" then return of_wrapper(_ENV) end
    if not op_name():find("_fused_", 1, true) then no_model("the name says not what is fused") end
    local pointwise = starts(op_name(), "triton_poi_")
    local list, most = tensors_of()
    local r = not pointwise and #v >= 2 and v[#v] or 1
    local least = r > 1 and v[#v - 1] * r or v[#v]
    if r < 0 or least < 0 then fail("a negative size") end
    local all = elements(v, least, most)
    local per_element = fused(_ENV, text and split(text) or {})
    xnumel = r > 0 and all // r or all
    rnumel = r
    result(list, all, pointwise)
    return all * per_element, moved(list, all, pointwise and not no_in_out())
  end,
  examples = {
    { op = "triton_poi_fused__unsafe_view_mul_silu_2", dims = { { 8, 4096, 8192 }, { 32768, 8192 }, {} },
      types = { bf16, bf16, "Scalar" }, values = { "", "", "268435456" }, flops = 1342177280,
      bytes = 1610612736, written = 536870912, unsure = { 1 }, spec = "vector_bf16",
      params = { fused_ops = "aten._unsafe_view, aten.mul, aten.silu", rnumel = 1 } },
    { op = "triton_red_fused_add_mean_mul_pow_rsqrt_0",
      dims = { { 8, 4096, 2048 }, { 2048 }, { 8, 4096, 2048 }, {}, {} },
      types = { bf16, bf16, bf16, "Scalar", "Scalar" }, values = { "", "", "", "32768", "2048" },
      flops = 469762048, bytes = 268439552, written = 134217728, unsure = { 1, 2 }, params = { xnumel = 32768, rnumel = 2048 } },
    { op = "triton_red_fused_native_layer_norm_4",
      dims = { { 2, 2432, 64, 64 }, { 2432 }, { 1, 36864, 2432 }, { 2, 4096, 1, 19 },
        { 2, 4096, 1, 19 }, { 2, 4096, 1, 19 }, {}, {}, {} },
      types = { bf16, bf16, bf16, "float", "float", "float", "Scalar", "Scalar", "Scalar" },
      values = { "", "", "", "", "", "", "8192", "19", "128" }, flops = 0, bytes = 81564416,
      params = { rnumel = 128, xnumel = 155648 } },
    { op = "triton_poi_fused_arange_cat_cos_div_exp_mul_sin_unsqueeze_0",
      dims = { { 2 }, { 2, 256 }, {} }, types = { "float", "float", "Scalar" },
      values = { "", "", "512" }, flops = 3072, bytes = 2056, spec = "vector_fp32" },
    -- in place: a bias is no result; nor is what has other sizes
    { op = "triton_poi_fused_addmm_gelu_view_15", dims = { { 8, 16 }, { 16 }, {} },
      types = { bf16, bf16, "Scalar" }, values = { "", "", "128" }, written = 256 },
    { op = "triton_poi_fused_add_3", dims = { { 8, 32 }, { 16 }, {} },
      types = { bf16, bf16, "Scalar" }, values = { "", "", "128" }, written = "unknown" },
    -- a slice of the first tensor
    { op = "triton_poi_fused_clone_slice_transpose_11", dims = { { 2, 38, 4429, 64 }, { 2, 333, 2432 }, {} },
      types = { bf16, bf16, "Scalar" }, values = { "", "", "1619712" }, flops = 0, bytes = 4 * 1619712 },
    { op = "triton_red_fused__log_softmax_native_layer_norm_backward_sum_11", dims = { { 8, 4 } },
      types = { bf16 }, values = { "", "8", "4" },
      params = { fused_ops = "aten._log_softmax, aten.native_layer_norm_backward, aten.sum" } },
    { op = "triton_poi_fused_all_to_all_single_cat_1", dims = { { 8, 4 } }, types = { bf16 },
      values = { "", "32" }, params = { fused_ops = "aten.all_to_all_single, aten.cat" } },
    { op = "triton_poi_fused_add_foo_bar_mul_3", dims = { { 8, 4 } }, types = { bf16 },
      values = { "", "32" }, flops = 64, params = { fused_ops = "aten.add, aten.mul" } },
    { op = "triton_per_token_quant_fp8", dims = { { 8, 4 } }, types = { bf16 }, status = "none",
      values = { "", "32" } },
    { op = "triton_poi_fused_add_1", status = "none" },
    -- without arguments, by the wrapper file
    { op = "triton_red_fused_mean_mul_0", flops = 2 * 67108864, bytes = 268500992,
      spec = "vector_bf16", params = { fused_ops = "aten.mean, aten.mul", xnumel = 32768 },
      args = { inductor_source = "# Original ATen: [aten.mean, aten.mul]\nsize_hints={'x': 32768, 'r0_': 2048},"
        .. "'signature': {'in_ptr0': '*bf16', 'in_ptr1': '*bf16', 'out_ptr1': '*bf16', 'xnumel': 'i32'}" } },
    { op = "triton_poi_7", flops = 4 * 4096, bytes = 4096 * 12, spec = "vector_fp32",
      args = { inductor_source = "Original ATen: [aten.exp] size_hints={'y': 64, 'x': 64}"
        .. "'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32'}" } },
    { op = "triton_red_8", flops = 0, bytes = 2 * 4096 * 8 + 2 * 4096, spec = "vector_bf16",
      args = { inductor_source = "size_hints=[4096, 8] 'signature': {'a': '*bf16', 'b': '*bf16'}" } },
    -- with them, it says what is written: no tensor twice
    { op = "triton_poi_fused_mul_2", dims = { { 8, 4 }, { 8, 4 }, {} },
      types = { bf16, bf16, "Scalar" }, values = { "", "", "32" }, flops = 32, bytes = 128,
      args = { inductor_source = "size_hints={'x': 32} 'signature': {'in_ptr0': '*bf16', 'out_ptr0': '*bf16'}" } },
  },
}

-- Templates of products: (a, b, [more,] result); K is what a has besides the result's rows
op {
  globs = { "triton_tem_fused_*mm_*" }, unit = "matrix", extra = true,
  eval = function (_ENV)
    local list = {}
    for i = 0, nargs() - 1 do
      if has(i) and dtype(i) ~= "Scalar" then list[#list + 1] = i end
    end
    if #list < 3 then no_model("no operands among the arguments") end
    local a, out = list[1], list[#list]
    M = dim(out, -2)
    N = dim(out, -1)
    B = M * N > 0 and elems(out) // (M * N) or 0
    K = dim(a, -1)
    if dim(a, -2) ~= M or dim(list[2], -2) ~= K or dim(list[2], -1) ~= N then
      fail("the operands do not fit the result")
    end
    writes(bytes(out), out)
    return 2 * B * M * N * K, traffic(), dtype(a)
  end,
  examples = {
    { op = "triton_tem_fused_mm_3", dims = { { 128, 64 }, { 64, 96 }, { 128, 96 }, {} },
      types = { bf16, bf16, bf16, "Scalar" }, flops = 1572864, bytes = 53248, written = 24576, unread = { 2 },
      spec = "matrix_bf16", params = { K = 64 } },
    { op = "triton_tem_fused_addmm_relu_3", dims = { { 128, 64 }, { 64, 96 }, { 96 }, { 128, 96 } },
      types = { bf16, bf16, bf16, bf16 }, flops = 1572864, bytes = 53248 + 192 },
    { op = "triton_tem_fused_mm_3", dims = { { 64, 128 }, { 64, 96 }, { 128, 96 } },
      types = { bf16, bf16, bf16 }, status = "failed" },
  },
}

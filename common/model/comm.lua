-- SPDX-License-Identifier: MIT
-- Collectives of inference engines, and the exchange of tokens between experts.
-- The bytes are those of the local memory, not of the network.

local bf16 = "c10::BFloat16"
local collective = { category = "CustomCollective", sheet = "CustomCollective" }

local function allreduce_rmsnorm(x, w)
  return function (_ENV)
    op_shape = shape(x)
    dtype_in = dtype(x)
    stride_input = strides(x)
    num_channels = dim(w, 0)
    local E, C = elems(x), num_channels
    return E + E // C * (2 * C + 2) + 2 * E, (4 * E + C) * size(x), dtype(x)
  end
end
op { like = collective, names = { "aiter::fused_allreduce_rmsnorm" },
  eval = allreduce_rmsnorm(2, 6) }
op { like = collective, names = { "aiter::fused_allreduce_rmsnorm_" },
  eval = allreduce_rmsnorm(0, 2),
  examples = {
    { dims = { { 16, 64 }, { 16, 64 }, { 64 } }, types = { bf16, bf16, bf16 },
      flops = 1024 + 16 * 130 + 2048, bytes = (4096 + 64) * 2, spec = "" },
  } }

op {
  like = collective,
  names = { "_C_custom_ar::all_reduce", "_C_custom_ar::qr_all_reduce",
    "sgl_kernel::all_reduce_reg", "sgl_kernel::qr_all_reduce" },
  eval = function (_ENV)
    op_shape = shape(1)
    dtype_in = dtype(1)
    stride_input = strides(1)
    return 0, 2 * bytes(1)
  end,
}
op {
  like = collective,
  names = { "aiter::reduce_scatter", "aiter::all_gather_reg" },
  eval = function (_ENV)
    op_shape = shape(1)
    out_shape = shape(2)
    dtype_in = dtype(1)
    stride_input = strides(1)
    return 0, (elems(1) + elems(2)) * size(1)
  end,
}
op {
  like = collective,
  names = { "sglang::reg_all_gather_into_tensor" },
  eval = function (_ENV)
    out_shape = shape(0)
    op_shape = shape(1)
    dtype_in = dtype(0)
    return 0, (elems(0) + elems(1)) * size(0)
  end,
  examples = {
    { dims = { { 32, 64 }, { 16, 64 } }, types = { bf16, bf16 }, flops = 0, bytes = 6144 },
  },
}

local function exchange(_ENV) return 0, num_tokens * hidden_dim * bpe end
op {
  names = { "MoEDispatch", "MoECombine" },
  category = "MoE_comm_fwd", backward_category = "MoE_comm_bwd", sheet = "MoE_comm",
  eval = function (_ENV)
    num_tokens = dim(0, 0)
    hidden_dim = dim(0, 1)
    bpe = size(0)
    return exchange(_ENV)
  end,
  backward = exchange,
  examples = {
    { op = "MoEDispatch", dims = { { 128, 64 } }, types = { bf16 }, flops = 0, bytes = 16384,
      backward = true },
  },
}

-- SPDX-License-Identifier: MIT
-- Rotary position embeddings: three operations for each rotated element.

local bf16 = "c10::BFloat16"
local rope = { category = "RoPE_fwd", sheet = "RoPE", unit = "vector", prec = 0 }
local fused = { category = "RoPE_fwd", sheet = "FusedRoPE", unit = "vector", prec = 0 }

op {
  like = rope, names = { "FusedRoPEFunc" },
  eval = function (_ENV)
    seq_len = dim(0, 0)
    batch = dim(0, 1)
    heads = dim(0, 2)
    head_dim = dim(0, 3)
    num_elements = elems(0)
    return 3 * num_elements, 2 * num_elements * size(0, 2)
  end,
}
op {
  like = rope, names = { "aiter::rope_cached_positions_2c_fwd_impl" },
  eval = function (_ENV)
    x_shape = shape(2)
    y_shape = shape(3)
    num_elements = elems(2) + elems(3)
    return 3 * num_elements, 2 * num_elements * size(0, 2)
  end,
}
-- (positions, q, k, head_size, cache), in place: there is no result of its own
op {
  like = rope, prec = 1, names = { "sgl_kernel::rotary_embedding" },
  eval = function (_ENV)
    local size_h = count(value(3), dim(1, -1))
    local rotated = 4 < nargs() and rank(4) > 1 and dim(4, 1) or size_h
    num_elements = dim(1, 0) * (dim(1, 1) // size_h + dim(2, 1) // size_h) * rotated
    writes(unknown)
    return 3 * num_elements, 2 * num_elements * size(1, 2)
  end,
  examples = {
    { dims = { { 15360 }, { 15360, 4096 }, { 15360, 1024 }, {}, { 4096, 128 } },
      types = { "long int", bf16, bf16, "Scalar", "float" }, values = { "", "", "", "128", "" },
      flops = 235929600, bytes = 314572800, written = "unknown", unread = {}, spec = "vector_bf16" },
  },
}
-- out: the argument that has the type of the results, if any has
local function rope_and_cache(names, heads, out, examples)
  op {
    like = fused, names = names, examples = examples,
    eval = function (_ENV)
      T = dim(0, 0)
      QH = dim(0, 1)
      KH = heads and dim(heads, 1) or 1
      D_lora = dim(0, 2)
      D_pe = dim(1, 2)
      dtype_in = dtype(0)
      dtype_kv = dtype(4) ~= "" and dtype(4) or dtype(0)
      local written = dtype_in
      if out then
        dtype_out = dtype(out) ~= "" and dtype(out) or dtype(0)
        written = dtype_out
      end
      local e = size(0)
      return 3 * T * (QH + KH) * D_pe,
        T * (D_lora + D_pe) * (QH * (e + bytes_of(written, e))
          + KH * (e + bytes_of(dtype_kv, e)))
    end,
  }
end
rope_and_cache({ "aiter::fused_qk_rope_cat_and_cache_mla" }, 2)
rope_and_cache({ "aiter::fused_qk_rope_concat_and_cache_mla" }, nil, 5, {
  { dims = { { 8, 16, 512 }, { 8, 16, 64 } }, types = { bf16, bf16 },
    flops = 3 * 8 * 17 * 64, bytes = 8 * 576 * (16 * 4 + 4) },
})

-- ---- not in the reference ----

-- vLLM's: (positions, q, k or none, head size, cache of rotated sizes, neox)
op {
  sheet = "RoPE", unit = "vector", prec = 1, extra = true, names = { "_C::rotary_embedding" },
  eval = function (_ENV)
    local head, rotated = count(value(3), dim(4, 1)), dim(4, 1)
    if head == 0 then fail("no head size") end
    num_elements = (elems(1) + (has(2) and elems(2) or 0)) // head * rotated
    return 3 * num_elements, 2 * num_elements * size(1)
  end,
  examples = {
    { dims = { { 32 }, { 32, 4096 }, { 32, 512 }, {}, { 131072, 64 }, {} },
      types = { "long int", bf16, bf16, "Scalar", bf16, "Scalar" },
      values = { "", "", "", "64", "", "True" }, flops = 3 * 147456, bytes = 4 * 147456 },
  },
}

-- SPDX-License-Identifier: MIT
-- Losses, and small ops of training loops that the reference has no model of. A
-- loss that is reduced reduces by an op of its own, so it counts as pointwise.

local base = { sheet = "MorePointwise", unit = "vector", extra = true }

-- Bytes of the tensors among arguments first to last.
local function moved(first, last)
  local sum = 0
  for i = first, math.min(last, nargs() - 1) do
    if has(i) then sum = sum + bytes(i) end
  end
  return sum
end

-- (self, target, ...): one value for each of self's elements
local function loss(names, per_element, tensors)
  op {
    like = base, names = aten(names), prec = 0,
    eval = function (_ENV)
      about(_ENV, 0)
      return per_element * num_elems,
        moved(0, tensors - 1) + writes(num_elems * size(0), outs(tensors == 2 and 2 or 4))
    end,
    examples = {
      { dims = { { 8, 16 }, { 8, 16 }, {} }, types = { "float", "float", "Scalar" },
        flops = per_element * 128, bytes = 3 * 512, written = 512, spec = "vector_fp32" },
      { dims = { { 8, 16 }, { 8, 16 }, {}, {}, { 8, 16 } }, unread = { 4 },
        types = { "float", "float", "", "Scalar", "float" }, bytes = 3 * 512 },
    },
  }
end
loss("mse_loss", 2, 2)
loss("l1_loss smooth_l1_loss huber_loss soft_margin_loss", 4, 2)
-- (self, target, weight): exp and log count one, as everywhere
loss("binary_cross_entropy binary_cross_entropy_with_logits kl_div", 6, 3)

-- (gradient of all or of the mean, self, target, ...): self's gradient
local function backward(names, per_element)
  op {
    like = base, names = aten(names), prec = 1,
    eval = function (_ENV)
      about(_ENV, 1)
      local grad = bytes(0)
      return per_element * num_elems, grad + moved(1, 2) + writes(num_elems * size(1), outs(4))
    end,
    examples = {
      { dims = { {}, { 5, 128 }, { 5, 128 }, {}, { 5, 128 } },
        types = { "float", "float", "float", "Scalar", "float" }, flops = per_element * 640,
        bytes = 4 + 3 * 2560, written = 2560, unread = { 4 } },
    },
  }
end
backward("mse_loss_backward", 3)
backward("l1_loss_backward smooth_l1_loss_backward huber_loss_backward soft_margin_loss_backward", 4)
backward("binary_cross_entropy_backward kl_div_backward", 6)

-- (grad, logits, target, ...): zeros but for one value of each row
op {
  like = base, names = aten "nll_loss_backward nll_loss2d_backward", prec = 1,
  eval = function (_ENV)
    about(_ENV, 1)
    return elems(2), bytes(0) + writes(num_elems * size(1), 1, outs(7)) + bytes(2, 8)
  end,
  examples = {
    { op = "aten::nll_loss_backward", dims = { {}, { 8, 16 }, { 8 } },
      types = { "float", "float", "long int" }, flops = 8, bytes = 4 + 512 + 64, written = 512,
      unread = { 1 } },
  },
}

-- .item(): one value comes to the host
op {
  like = base, names = aten "_local_scalar_dense",
  eval = function (_ENV)
    about(_ENV, 0)
    return 0, 2 * size(0)
  end,
  examples = {
    { dims = { {} }, types = { "float" }, flops = 0, bytes = 8 },
  },
}

-- (qkv, bias, heads): the bias is added to all, and q is scaled
op {
  like = base, names = aten "_transform_bias_rescale_qkv", prec = 0,
  eval = function (_ENV)
    about(_ENV, 0)
    return num_elems + num_elems // 3, 2 * num_elems * size(0) + bytes(1)
  end,
  examples = {
    { dims = { { 16, 128, 1536 }, { 1536 }, {} }, types = { "float", "float", "Scalar" },
      flops = 3145728 + 1048576, bytes = 4 * (2 * 3145728 + 1536) },
  },
}

-- Mixed precision: every gradient is multiplied and looked at.
op {
  like = base, names = aten "_amp_foreach_non_finite_check_and_unscale_",
  eval = function (_ENV)
    if not has(0) then fail("the trace has no shapes of the list of tensors") end
    num_elems = elems(0)
    return 2 * num_elems, 2 * num_elems * size(0, 4), size(0) ~= size(0) and "float" or dtype(0)
  end,
  examples = {
    { dims = { { { 8, 16 }, { 4 } }, { 1 }, { 1 } }, types = { "TensorList", "float", "float" },
      flops = 264, bytes = 8 * 132, spec = "vector_fp32" },
    { dims = { {}, {}, {} }, types = { "TensorList", "float", "float" }, status = "failed" },
  },
}
op {
  like = base, names = aten "_amp_update_scale_", prec = 0,
  eval = function (_ENV)
    return 2, 2 * (size(0) + size(1)) + size(2)
  end,
  examples = {
    { dims = { {}, {}, {} }, types = { "float", "int", "float" }, flops = 2, bytes = 20 },
  },
}

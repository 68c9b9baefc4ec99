-- SPDX-License-Identifier: MIT
-- Categories as the reference has them, where ours say more: for TL_MODELS.
category { name = "other", names = { "aten::_flash_attention_forward",
  "aten::_flash_attention_backward", "aten::_softmax", "aten::_log_softmax", "aten::_safe_softmax",
  "aten::_softmax_backward_data", "aten::_log_softmax_backward_data" } }

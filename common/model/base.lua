-- SPDX-License-Identifier: MIT
-- What several files of models use.

-- Names of PyTorch's own.
function aten(text)
  local out = {}
  for w in text:gmatch("%S+") do out[#out + 1] = "aten::" .. w end
  return out
end

-- The parameters of an op that is about the elements of argument i.
function about(_ENV, i)
  num_elems = elems(i)
  dtype_in = dtype(i)
end

-- Bytes that expanded arguments (of stride 0) seem to have besides their own.
function repeated(...)
  local sum = 0
  for _, i in ipairs { ... } do sum = sum + elems(i) * size(i) - bytes(i) end
  return sum
end

-- The shape that two shapes broadcast to.
function broadcast(a, b)
  local out, n = {}, #a > #b and #a or #b
  for i = 0, n - 1 do
    local x, y = a[#a - i] or 1, b[#b - i] or 1
    if x ~= y and x ~= 1 and y ~= 1 then fail("the shapes don't broadcast") end
    out[n - i] = x == 1 and y or x
  end
  return out
end

-- A list that may hold nils.
function tuple(...) return { n = select("#", ...), ... } end

function ceil_div(a, b)
  if b <= 0 then error("ceil_div by " .. b) end
  return a // b + (a % b > 0 and 1 or 0)
end

-- The parameters of an op with one operand, in the reference's order.
function one_operand(_ENV, dims, types, stride_in, stride_out)
  op_shape = dims
  dtype_in_out = types
  stride_input = stride_in
  stride_output = stride_out
end

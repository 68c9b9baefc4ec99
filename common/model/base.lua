-- SPDX-License-Identifier: MIT
-- What several files of models use.

-- The words of a text as names, PyTorch's own unless a namespace is given.
function aten(text, before)
  local out = {}
  for w in text:gmatch("%S+") do out[#out + 1] = (before or "aten::") .. w end
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

-- The place of dimension d among n, in Lua's numbers; a negative one is counted from the end.
function axis(d, n)
  local i = d < 0 and d + n + 1 or d + 1
  if i < 1 or i > n then fail("no such dimension") end
  return i
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

-- Bytes of all tensors among the arguments, each moved once; twice: those that are
-- read and written, but: those of which no more than a part is touched.
function traffic(twice, but)
  local function is_in(list, i)
    for _, k in ipairs(list or {}) do
      if k == i then return true end
    end
    return false
  end
  local sum = 0
  for i = 0, nargs() - 1 do
    local t = dtype(i)
    if t ~= "" and t ~= "Scalar" and t ~= "ScalarList" and not is_in(but, i) then
      sum = sum + bytes(i) * (is_in(twice, i) and 2 or 1)
    end
  end
  return sum
end

-- The arguments from number n on that are tensors: behind an op's operands they are
-- where its results go (out=).
function outs(n)
  local list = {}
  for i = n, nargs() - 1 do
    local t = dtype(i)
    if t ~= "" and t ~= "Scalar" and t ~= "ScalarList" then list[#list + 1] = i end
  end
  return table.unpack(list)
end

-- An op that streams through its arguments: per operations for each element of
-- argument of; result: the argument that what it returns is like.
function streaming(t)
  op {
    like = t, names = aten(t.names, ""), examples = t.examples,
    eval = function (_ENV)
      local of = t.of or 0
      about(_ENV, of)
      local result = t.result and writes(elems(t.result) * size(t.result)) or 0
      if not t.result and t.twice and has(t.twice[1]) then writes(bytes(t.twice[1])) end
      return t.per * num_elems,
        traffic(t.twice, t.but) + result, dtype(of)
    end,
  }
end

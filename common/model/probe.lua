-- SPDX-License-Identifier: MIT
-- No model: a bit of everything that Lua has. The other files come compiled, by
-- the Lua of the build. This one is compiled again at run time; if that gives
-- other bytes, Lua is another, and all files are compiled from their text.
local n <const>, t = 2, { 1, a = 2.5, [3] = "x" }
local function sum(...)
  local s, k = 0, select("#", ...)
  for i = k, 1, -1 do s = s + (select(i, ...)) end
  while k > 0 do k = k - 1 end
  repeat local done = not (s ~= 0) or true until done
  return s, ...
end
local function use(_ENV, x)
  for i, v in ipairs(t) do
    if v == n and i <= 3 or x then M = v // n % 3 & 7 goto out end
    t[i] = -v ^ 2 .. "" .. #t
  end
  ::out::
  t.a, t.b = t.b, t[1]
  return x and x:len(), function () n2 = n << 1 | ~n return sum(t.a, n2 >> 1, x) end
end

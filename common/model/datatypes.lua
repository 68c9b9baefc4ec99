-- SPDX-License-Identifier: MIT
-- Data types as Kineto writes them: bytes an element and the precision of the
-- arithmetic. Names are compared without regard to case.

datatype { names = { "double" }, bytes = 8, precision = "fp64" }
datatype { names = { "float" }, bytes = 4, precision = "fp32" }
datatype { names = { "c10::Half" }, bytes = 2, precision = "fp16" }
datatype { names = { "c10::BFloat16" }, bytes = 2, precision = "bf16" }
datatype { bytes = 1, precision = "fp8",
  names = { "c10::Float8_e4m3fn", "c10::Float8_e4m3fnuz", "c10::Float8_e5m2",
    "c10::Float8_e5m2fnuz", "fp8" } }
datatype { names = { "c10::Float8_e8m0fnu" }, bytes = 1 } -- a block's scale
-- Two values a byte, but traced shapes count bytes already.
datatype { names = { "c10::Float4_e2m1fn_x2", "fp4" }, bytes = 1, precision = "fp4" }
datatype { names = { "mxfp4" }, bytes = 0.5, precision = "fp4" }
-- FP8 and FP4 payloads travel as unsigned bytes.
datatype { names = { "unsigned char" }, bytes = 1, precision = "fp8" }
datatype { names = { "signed char" }, bytes = 1, precision = "int8" }
datatype { names = { "bool" }, bytes = 1 }
datatype { names = { "short int", "unsigned short", "short unsigned int" }, bytes = 2 }
datatype { names = { "int", "unsigned int" }, bytes = 4 }
datatype { bytes = 8,
  names = { "long int", "unsigned long", "long unsigned int", "long", "long long" } }
datatype { names = { "c10::complex<c10::Half>" }, bytes = 4 }
datatype { names = { "c10::complex<float>" }, bytes = 8, precision = "fp32" }
datatype { names = { "c10::complex<double>" }, bytes = 16, precision = "fp64" }
-- An argument by value moves nothing.
datatype { names = { "Scalar" }, bytes = 0 }

-- ScalarType numbers of PyTorch, as Concrete Inputs has an out_dtype.
scalar_types = { [0] = 1, 1, 2, 4, 8, 2, 4, 8, [11] = 1, [15] = 2, [23] = 1, [24] = 1,
  [25] = 1, [26] = 1 }

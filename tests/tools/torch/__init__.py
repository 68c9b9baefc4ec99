# SPDX-License-Identifier: MIT
"""A stub of PyTorch: it knows shapes, strides and types, but has no data.

The scripts of tl-replay run on it. An operator exists when a file named in
TORCH_SCHEMAS (separated by colons) has its schema; a call is checked against
that schema and written to the file TORCH_CALLS, a JSON object a line: name,
overload, and each argument by its name. TORCH_GPU=1: there is a GPU, whose
kernels are one of each op's name, each of 5 us.
"""
import itertools
import json
import math
import os
import re
import sys
import types

__version__ = "0.stub"
_bool = bool  # torch.bool is another


# --- Constants and tensors ----------------------------------------------------

class dtype:
    def __init__(self, name, size):
        self.name, self.itemsize = name, size
        self.is_complex = name.startswith("complex")
        self.is_floating_point = "float" in name

    def __repr__(self):
        return "torch." + self.name


class layout(str):
    pass


class memory_format(str):
    pass


class device:
    def __init__(self, name):
        self.type, _, index = str(name).partition(":")
        self.index = int(index) if index else None

    def __repr__(self):
        return self.type


for _name, _size in (
        ("bool", 1), ("uint8", 1), ("int8", 1), ("int16", 2), ("int32", 4),
        ("int64", 8), ("float16", 2), ("bfloat16", 2), ("float32", 4),
        ("float64", 8), ("complex64", 8), ("complex128", 16),
        ("float8_e4m3fn", 1), ("float8_e4m3fnuz", 1), ("float8_e5m2", 1),
        ("float8_e5m2fnuz", 1), ("float8_e8m0fnu", 1),
        ("float4_e2m1fn_x2", 1), ("uint16", 2), ("uint32", 4), ("uint64", 8)):
    globals()[_name] = dtype(_name, _size)
strided = layout("strided")
channels_last = memory_format("channels_last")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last_3d = memory_format("channels_last_3d")
_int64, _float32 = globals()["int64"], globals()["float32"]


class Tensor:
    """Its storage has n elements from low to high, as far as that is known."""

    def __init__(self, n, type_, where, init, low=None, high=None):
        self.n, self.dtype, self.device = n, type_, device(where or "cpu")
        self.shape, self.strides = [n], [1]
        self.init, self.low, self.high = init, low, high
        self.is_pinned = self.requires_grad = False

    def copy(self, **changes):
        other = Tensor.__new__(Tensor)
        other.__dict__.update(self.__dict__, **changes)
        return other

    def as_strided(self, shape, strides):
        reach = 0 if 0 in shape else 1 + sum(
            (d - 1) * s for d, s in zip(shape, strides))
        if reach > self.n or len(shape) != len(strides):
            raise RuntimeError("as_strided beyond the storage")
        return self.copy(shape=list(shape), strides=list(strides))

    def to(self, type_):
        return self.copy(dtype=type_)

    view = to  # of bytes

    def pin_memory(self):
        return self.copy(is_pinned=True)

    def same(self, *_args, **_kwargs):
        return self.copy()

    clone = detach = argsort = same
    __lt__ = same

    def map(self, work):
        return self.copy(low=None if self.low is None else work(self.low),
                         high=None if self.high is None else work(self.high))

    def __mod__(self, n):
        return self.copy(low=0, high=min(self.high, n - 1))

    def __mul__(self, n):
        return self.map(lambda v: v * n)

    def __floordiv__(self, n):
        return self.map(lambda v: v // n)

    def __radd__(self, n):
        return self.map(lambda v: v + n)

    def __getitem__(self, key):
        rows, columns = self.shape
        width = min(columns, key[1].stop) if isinstance(key, tuple) else None
        if width is None:  # [:n] of what reshape() made flat
            raise TypeError(key)
        return self.copy(shape=[rows, width], low=0, high=columns - 1)

    def reshape(self, _n):
        return Flat(self)

    def element_size(self):
        return self.dtype.itemsize

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_complex(self):
        return self.dtype.is_complex

    def requires_grad_(self):
        return self.copy(requires_grad=True)

    def zero_(self):
        launched.append("memset")
        return self

    def described(self):
        return {"shape": self.shape, "strides": self.strides,
                "dtype": self.dtype.name, "device": self.device.type,
                "init": self.init, "low": self.low, "high": self.high,
                "pinned": self.is_pinned}


class Flat:
    def __init__(self, tensor):
        self.tensor = tensor

    def __getitem__(self, key):
        t = self.tensor
        assert math.prod(t.shape) >= key.stop
        return t.copy(n=key.stop, shape=[key.stop], strides=[1])


def empty(n, dtype=None, device=None):
    return Tensor(n, dtype or _float32, device, "none")


def _maker(init, low=None, high=None):
    def make(*shape, dtype=None, device=None):
        kind = dtype or _float32
        if init in ("normal", "uniform") and kind.itemsize == 1:
            raise NotImplementedError(f"not implemented for {kind}")
        if math.prod(shape) > 1 << 40:
            raise RuntimeError("out of memory")
        made = Tensor(math.prod(shape), kind, device, init, low, high)
        made.shape = list(shape)
        return made
    return make


randn, rand = _maker("normal"), _maker("uniform", 0, 1)
zeros, ones = _maker("zeros", 0, 0), _maker("ones", 1, 1)


def randn_like(tensor):
    return tensor.copy(init="normal")


def arange(n, device=None):
    return Tensor(n, _int64, device, "arange", 0, max(n - 1, 0))


def randint(low, high, shape, dtype=None, device=None):
    if low >= high:
        raise RuntimeError("random_ expects 'from' to be less than 'to'")
    return Tensor(math.prod(shape), dtype or _int64, device, "randint", low,
                  high - 1)


def manual_seed(_seed):
    pass


class Generator:
    def __init__(self, where):
        self.device = where


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        return False


enable_grad = no_grad


# --- Schemas ------------------------------------------------------------------

class Type:
    """A type of a schema, as PyTorch's classes answer for it."""

    KINDS = {"Tensor": "TensorType", "bool": "BoolType", "int": "IntType",
             "SymInt": "SymIntType", "float": "FloatType", "str": "StringType",
             "Scalar": "NumberType", "ScalarType": "IntType",
             "Layout": "IntType", "MemoryFormat": "IntType",
             "Device": "DeviceObjType", "Generator": "GeneratorType"}
    IS = {"TensorType": Tensor, "BoolType": _bool, "IntType": int,
          "SymIntType": int, "FloatType": (int, float), "StringType": str,
          "NumberType": (int, float), "DeviceObjType": device,
          "GeneratorType": Generator}

    def __init__(self, text):
        self.text = text = re.sub(r"\([^)]*\)|!", "", text).strip()
        self.inner = None
        if text.endswith("?"):
            self.kind_, self.inner = "OptionalType", Type(text[:-1])
        elif text.endswith("]"):
            self.kind_ = "ListType"
            self.inner = Type(text[:text.rindex("[")])
        else:
            self.kind_ = self.KINDS.get(text, "ClassType")

    def __str__(self):
        return self.text

    def kind(self):
        return self.kind_

    def getElementType(self):
        return self.inner

    def takes(self, value):
        if self.kind_ == "OptionalType":
            return value is None or self.inner.takes(value)
        if self.kind_ == "ListType":
            return isinstance(value, (list, tuple)) and all(
                self.inner.takes(item) for item in value)
        if self.kind_ == "IntType" and isinstance(
                value, (dtype, layout, memory_format)):
            return True
        if self.kind_ == "TensorType" and value is None:
            return True  # an undefined one
        is_bool = isinstance(value, _bool)
        return isinstance(value, self.IS.get(self.kind_, ())) and (
            not is_bool or self.kind_ in ("BoolType", "NumberType"))


def _split(text):
    """At the commas that are in no bracket and no quote."""
    depth, quote, start = 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and not depth:
            yield text[start:i]
            start = i + 1
    if text[start:].strip():
        yield text[start:]


class Schema:
    def __init__(self, line):
        name, rest = line.split("(", 1)
        self.name, _, self.overload_name = name.strip().partition(".")
        body = rest.split(") ->")[0].rstrip(" )")  # a result is optional
        self.arguments, kwarg_only = [], False
        for item in _split(body):
            if item.strip() == "*":
                kwarg_only = True
                continue
            left, _, default = item.strip().partition("=")
            kind, _, formal = left.strip().rpartition(" ")
            self.arguments.append(types.SimpleNamespace(
                name=formal, type=Type(kind), kwarg_only=kwarg_only,
                has_default_value=lambda d=default: d != ""))
        self.line = line

    def __str__(self):
        return self.line


def _load():
    for path in filter(None, os.environ.get("TORCH_SCHEMAS", "").split(":")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    yield Schema(line.strip())


_schemas = {}
for _schema in _load():
    _schemas.setdefault(_schema.name, []).append(_schema)
_C = types.SimpleNamespace(
    _jit_get_schemas_for_operator=lambda name: _schemas.get(name, []),
    _jit_get_all_schemas=lambda: list(
        itertools.chain.from_iterable(_schemas.values())))


# --- Calls --------------------------------------------------------------------

_calls = open(os.environ.get("TORCH_CALLS", os.devnull), "a",
              encoding="utf-8")
launched = []  # names of ops, for the profiler


def _plain(value):
    if isinstance(value, Tensor):
        return value.described()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (_bool, int, float, str)):
        return value
    return repr(value)


def _log(**fields):
    print(json.dumps(fields), file=_calls, flush=True)


def _tensors(value):
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in _tensors(item)]
    return [value] if isinstance(value, Tensor) else []


class Overload:
    """Of several versions of PyTorch there may be several schemas."""

    def __init__(self, schemas):
        self.schemas = schemas

    def __call__(self, *args, **kwargs):
        for schema in self.schemas:
            try:
                given = self.checked(schema, args, kwargs)
                break
            except TypeError:
                if schema is self.schemas[-1]:
                    raise
        _log(op=schema.name, overload=schema.overload_name,
             formals=[formal.name for formal in schema.arguments],
             args={name: _plain(value) for name, value in given.items()})
        launched.append(schema.name)
        inputs = _tensors(list(given.values()))
        return inputs[0].copy(
            requires_grad=any(t.requires_grad for t in inputs)
        ) if inputs else None

    @staticmethod
    def checked(schema, args, kwargs):
        given, formals = {}, schema.arguments
        positional = [f for f in formals if not f.kwarg_only]
        if len(args) > len(positional):
            raise TypeError(f"{schema.name}: too many arguments")
        for formal, value in zip(positional, args):
            given[formal.name] = value
        for name, value in kwargs.items():
            if name in given or name not in [f.name for f in formals]:
                raise TypeError(f"{schema.name}: {name} is unexpected")
            given[name] = value
        for formal in formals:
            if formal.name not in given:
                if not formal.has_default_value():
                    raise TypeError(f"{schema.name}: no {formal.name}")
            elif not formal.type.takes(given[formal.name]):
                raise TypeError(f"{schema.name}: {formal.name} is "
                                f"{formal.type}, not {given[formal.name]!r}")
        return given


class _Namespace:
    def __init__(self, space):
        self.space = space

    def __getattr__(self, base):
        schemas = _schemas.get(f"{self.space}::{base}")
        if not schemas:
            raise AttributeError(base)
        return types.SimpleNamespace(**{
            name or "default": Overload([
                s for s in schemas if s.overload_name == name])
            for name in {s.overload_name for s in schemas}})


class _Ops:
    def __getattr__(self, space):
        return _Namespace(space)


ops = _Ops()


def _grad(outputs, inputs, grad_outputs=None, **_kwargs):
    for given, output in zip(grad_outputs, outputs):
        assert given.shape == output.shape and given.dtype is output.dtype
    _log(op="autograd.grad", inputs=_plain(inputs), outputs=_plain(outputs))
    launched.append("autograd")
    return inputs


autograd = types.SimpleNamespace(
    grad=_grad, DeviceType=types.SimpleNamespace(CUDA="CUDA", CPU="CPU"))


# --- The GPU that is not there ------------------------------------------------

class _Event:
    def __init__(self, enable_timing=False):
        assert enable_timing
        self.at = None

    def record(self):
        self.at = len(launched)

    def elapsed_time(self, end):
        return (end.at - self.at) * 0.006  # ms: 1 us between kernels


class _Stream(no_grad):
    cuda_stream = 7

    def __init__(self, *_device):
        pass

    def wait_stream(self, _other):
        pass


class _Graph:
    def __init__(self):
        self.launches = None

    def replay(self):
        launched.extend(["graph"])


class _capture(no_grad):
    def __init__(self, graph):
        assert isinstance(graph, _Graph)


cuda = types.SimpleNamespace(
    is_available=lambda: os.environ.get("TORCH_GPU") == "1",
    get_device_name=lambda: "Stub 100", set_device=lambda _device: None,
    synchronize=lambda: None, empty_cache=lambda: None,
    mem_get_info=lambda: (1 << 50, 1 << 50), Event=_Event, Stream=_Stream,
    current_stream=_Stream, stream=lambda stream: stream, CUDAGraph=_Graph,
    graph=_capture)


class _profile(no_grad):
    def __init__(self, activities):
        self.start = len(launched)

    def events(self):
        span = types.SimpleNamespace(elapsed_us=lambda: 5)
        return [types.SimpleNamespace(
            name=name, device_type="CUDA", time_range=span)
            for name in launched[self.start:]]


profiler = types.ModuleType("torch.profiler")
profiler.profile = _profile
profiler.ProfilerActivity = types.SimpleNamespace(CUDA="CUDA", CPU="CPU")
sys.modules["torch.profiler"] = profiler

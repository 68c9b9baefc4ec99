# SPDX-License-Identifier: MIT
"""Recorded ops as calls, on random data.

The ops are in IR, the text at the top of a script of tl-replay. Each has the
arguments that the profiler recorded: tensors are built with the same shapes,
strides and types, scalars have their values. The recording says nothing about
the data. Ops whose time depends on it (sorting, routing, sparsity) are timed
with what "init" of each tensor says.
"""
import importlib.util
import inspect
import os
import sys
import time

import torch

# PyTorch's name of each type as the profiler writes it; others are c10::Name.
DTYPES = {
    "unsigned char": "uint8", "signed char": "int8", "char": "int8",
    "short": "int16", "short int": "int16", "int": "int32", "long": "int64",
    "long int": "int64", "long long": "int64", "__int64": "int64",
    "unsigned short": "uint16", "short unsigned int": "uint16",
    "unsigned int": "uint32", "unsigned long": "uint64",
    "long unsigned int": "uint64", "float": "float32", "double": "float64",
    "c10::Half": "float16", "c10::complex<c10::Half>": "complex32",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
}
UNKNOWN = object()  # an argument that the profiler does not record


class Missing(Exception):
    """Why an op can't be run here."""


def shown(text):
    """Names come from a trace: no control characters on a terminal."""
    return text if text.isprintable() else ascii(text)


# --- The device ---------------------------------------------------------------

class Device:
    """Where the ops run: a GPU, for PyTorch CUDA and HIP alike, or the CPU."""

    def __init__(self, name):
        self.torch = torch.device(name)
        self.is_gpu = self.torch.type == "cuda"
        if self.torch.type not in ("cuda", "cpu"):
            sys.exit(f"--device {name}: neither cuda nor cpu")
        if self.is_gpu and not torch.cuda.is_available():
            sys.exit(f"--device {name}: PyTorch {torch.__version__} finds no "
                     "GPU; cpu runs what the CPU has")
        if self.is_gpu and self.torch.index is not None:
            torch.cuda.set_device(self.torch)
        self.name = torch.cuda.get_device_name() if self.is_gpu else "cpu"

    def sync(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def free_bytes(self):
        if self.is_gpu:
            torch.cuda.empty_cache()
            return torch.cuda.mem_get_info()[0]
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def clock(self):
        """A point of time in the order of the stream, for elapsed_us()."""
        if not self.is_gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def elapsed_us(self, start, end):
        if not self.is_gpu:
            return (end - start) * 1e6
        return start.elapsed_time(end) * 1e3


# --- Arguments ----------------------------------------------------------------

def arguments_of(ir):
    return ir["list_pos_args"] + ir["list_kwargs"]


def tensors_of(ir):
    """The tensors among the arguments, as the IR describes them."""
    values = [a["value"] for a in arguments_of(ir)]
    for value in (v for v in values if isinstance(v, dict)):
        items = value.get("list", [value])
        yield from (v for v in items if v is not None and "shape" in v)


def constant(name, kind):
    """torch.NAME, if it is one of these: names come from a trace."""
    value = getattr(torch, name, None)
    if not isinstance(value, kind):
        raise Missing(f"PyTorch {torch.__version__} has no {shown(name)}")
    return value


def dtype_of(v):
    token = v["dtype"]
    plain = token[5:].lower() if token.startswith("c10::") else token
    return constant(DTYPES.get(token, plain), torch.dtype)


def storage_elems(v):
    """Elements between a tensor's first and last, both included."""
    reach = 0
    if 0 not in v["shape"]:
        reach = 1 + sum((d - 1) * s for d, s in zip(v["shape"], v["strides"]))
    return max(reach, v.get("storage_elems") or 0)


class Builder:
    """Makes the values of arguments."""

    def __init__(self, device, init):
        self.device = device
        self.init = init  # of floating tensors, in place of the normal one

    def check_memory(self, ir):
        need = sum(storage_elems(v) * torch.empty(0, dtype=dtype_of(v))
                   .element_size() for v in tensors_of(ir))
        free = self.device.free_bytes()
        if need > free * 0.9:
            raise Missing(f"needs {need / 1e9:.1f} GB of memory, "
                          f"{free / 1e9:.1f} GB are free")

    def tensor(self, v, host=None):
        """The storage is filled, then viewed: an expanded tensor, of stride
        0, can't be filled itself."""
        where = torch.device("cpu") if host else self.device.torch
        flat = self.storage(v, storage_elems(v), where)
        if host == "pinned":
            flat = flat.pin_memory()
        return flat.as_strided(v["shape"], v["strides"])

    def storage(self, v, n, where):
        dtype, init = dtype_of(v), v.get("init") or "none"
        low, high = v.get("low", 0), v.get("high", 2)
        if init == "normal" and self.init:
            init = self.init
        if init in ("normal", "uniform"):
            return self.random(init, n, dtype, where)
        if init == "none":
            return torch.empty(n, dtype=dtype, device=where)
        if init in ("zeros", "ones"):
            data = getattr(torch, init)(n, device=where)
        elif init == "randint":
            data = torch.randint(low, max(high, low + 1), (n,), device=where)
        elif init == "bernoulli":
            data = torch.rand(n, device=where) < 0.5
        elif init == "arange":
            data = torch.arange(n, device=where) % max(v.get("high", n), 1)
        elif init == "offsets":  # rising evenly, low and high included
            steps = torch.arange(n, device=where)
            data = low + steps * (high - low) // max(n - 1, 1)
        elif init == "routing":
            data = self.routing(v["shape"][-1], high, n, where)
        else:
            raise Missing(f"tensor with init {shown(str(init))}")
        return data.to(dtype)

    @staticmethod
    def random(init, n, dtype, where):
        if not (dtype.is_floating_point or dtype.is_complex):
            return torch.randint(0, 2, (n,), device=where).to(dtype)
        make = torch.randn if init == "normal" else torch.rand
        if torch.empty(0, dtype=dtype).element_size() > 1:
            return make(n, dtype=dtype, device=where)
        try:
            return make(n, device=where).to(dtype)
        except (RuntimeError, NotImplementedError):
            pass
        # Patterns that are finite in every such type, and at most 1.
        return torch.randint(0, 0x38, (n,), dtype=torch.uint8,
                             device=where).view(dtype)

    @staticmethod
    def routing(choices, experts, n, where):
        """For each token as many experts as it chooses, all different."""
        if choices > experts:
            return torch.randint(0, max(experts, 1), (n,), device=where)
        rows = -(-n // max(choices, 1))
        order = torch.rand(rows, experts, device=where).argsort(dim=1)
        return order[:, :choices].reshape(-1)[:n]

    def value(self, v, host=None):
        if isinstance(v, list):
            return [self.value(item) for item in v]
        if not isinstance(v, dict):
            return v
        if "shape" in v:
            return self.tensor(v, host)
        kind, inner = next(iter(v.items()))
        if kind == "list":
            return [self.value(item) for item in inner]
        if kind == "float":
            return float(inner)
        if kind in ("dtype", "layout", "memory_format"):
            return constant(inner, getattr(torch, kind))
        if kind == "device":
            return self.device.torch
        if kind == "generator":
            return torch.Generator(self.device.torch)
        return inner if kind in ("str", "assumed") else UNKNOWN

    def values(self, op):
        self.check_memory(op["replay_ir"])
        hosts = host_side(op) if self.device.is_gpu else {}
        return [self.value(a["value"], hosts.get(i))
                for i, a in enumerate(arguments_of(op["replay_ir"]))]


def host_side(op):
    """Arguments that were in host memory: "pageable" or "pinned".

    The profiler does not record where a tensor was. A copy's kernel does; and a
    Python number that became a tensor (x * 2.0) is one without dimensions, of
    double or long, beside tensors of other types.
    """
    arguments = arguments_of(op["replay_ir"])
    if op["op_name"] == "aten::copy_":
        names = " ".join(k["name"] for k in op.get("kernels") or ())
        kind = "pinned" if "Pinned" in names else "pageable"
        if "DtoH" in names or "DeviceToHost" in names:
            return {0: kind}
        return {1: kind} if "HtoD" in names or "HostToDevice" in names else {}
    wide = {v.get("dtype") for v in tensors_of(op["replay_ir"]) if v["shape"]}
    return {i: "pageable" for i, a in enumerate(arguments)
            if i > 0 and wide and isinstance(a["value"], dict)
            and a["value"].get("shape") == []
            and a["value"]["dtype"] in {"double", "long", "long int"} - wide}


# --- Operators ----------------------------------------------------------------

class NoFit(Exception):
    """Why an overload does not take the arguments."""


INTEGERS = ("IntType", "SymIntType", "ScalarTypeType", "LayoutType",
            "MemoryFormatType")
# What the profiler shows as a number may be one of PyTorch's constants.
CONSTANTS = (torch.dtype, torch.layout, torch.memory_format)
TAKES = {
    "TensorType": (torch.Tensor,), "BoolType": (bool,),
    "FloatType": (int, float), "NumberType": (bool, int, float),
    "StringType": (str,), "DeviceObjType": (torch.device,),
    "GeneratorType": (torch.Generator,),
    **{kind: (int,) + CONSTANTS for kind in INTEGERS},
}


def check_fit(kind, value, name):
    """NoFit unless the value is of this type of a schema."""
    if kind.kind() == "OptionalType":
        if value is not None:
            check_fit(kind.getElementType(), value, name)
    elif kind.kind() == "ListType" and isinstance(value, list):
        for item in value:
            check_fit(kind.getElementType(), item, name)
    else:
        takes = TAKES.get(kind.kind(), ())
        if not isinstance(value, takes) or (
                isinstance(value, bool) and bool not in takes):
            raise NoFit(f"{name} is {kind}")


def bind(schema, values, device, is_recorded):
    """The call's arguments by position and by name, for values in the schema's
    order, and those left at their defaults because they are not recorded. Of
    the recorded overload a tensor that is None is an undefined one."""
    if len(values) > len(schema.arguments):
        raise NoFit(f"takes {len(schema.arguments)} arguments")
    args, kwargs, defaults = [], {}, []
    for i, formal in enumerate(schema.arguments):
        value = values[i] if i < len(values) else UNKNOWN
        if (value is None and is_recorded
                and formal.type.kind() == "TensorType"):
            args.append(value)
            continue
        if value is None and ("Device" in str(formal.type)
                              or formal.type.kind() != "OptionalType"):
            value = UNKNOWN
        if value is UNKNOWN and "Device" in str(formal.type):
            value = device.torch
        if value is UNKNOWN:
            defaults += [formal.name] if i < len(values) else []
            if formal.has_default_value():
                continue
            if formal.type.kind() != "OptionalType":
                raise NoFit(f"{formal.name} is not recorded")
            value = None
        check_fit(formal.type, value, formal.name)
        if formal.kwarg_only or len(args) < i:  # behind a gap: by name
            kwargs[formal.name] = value
        else:
            args.append(value)
    return args, kwargs, defaults


class Call:
    """An operator with its arguments."""

    def __init__(self, function, args, kwargs, defaults=()):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.defaults = defaults  # names of arguments that are not recorded

    def __call__(self):
        return self.function(*self.args, **self.kwargs)


def build(op, builder):
    """An op with its data. The overload is the recorded one if it is known and
    fits, else the first that does. Only what is registered is called: a name
    from a trace is looked up among the operators, never as an attribute."""
    name = op["op_name"]
    schemas = torch._C._jit_get_schemas_for_operator(name)
    if not schemas:
        raise Missing(f"PyTorch {torch.__version__} has no operator "
                      f"{shown(name)}; --import the library that registers it")
    values = builder.values(op)
    assumed = [a["arg_name"] for a in arguments_of(op["replay_ir"])
               if isinstance(a["value"], dict) and "assumed" in a["value"]]
    reasons = []
    for schema in sorted(schemas, key=lambda s: (
            s.overload_name != op.get("overload"),
            len(s.arguments) != len(values))):
        overload = schema.overload_name or "default"
        try:
            *call, defaults = bind(schema, values, builder.device,
                                   schema.overload_name == op.get("overload"))
        except NoFit as reason:
            reasons.append(f"{overload}: {reason}")
            continue
        space, _, base = name.partition("::")
        packet = getattr(getattr(torch.ops, space), base)
        return Call(getattr(packet, overload), *call, defaults + assumed)
    raise Missing("no overload takes these arguments (" +
                  "; ".join(reasons[:4]) + ")")


def flattened(value):
    """The tensors in a result."""
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flattened(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def leaf(value):
    """The same data as inputs of which gradients are asked."""
    if isinstance(value, list):
        return [leaf(item) for item in value]
    if isinstance(value, torch.Tensor) and (
            value.is_floating_point() or value.is_complex()):
        return value.detach().requires_grad_()
    return value


def build_backward(op, builder):
    """An autograd node: its forward op runs once, with gradients, and the call
    is the way back."""
    forward = op["backward_of"]
    call = build(forward, builder)
    call.args = leaf(call.args)
    call.kwargs = {name: leaf(v) for name, v in call.kwargs.items()}
    inputs = [t for t in flattened(call.args + list(call.kwargs.values()))
              if t.requires_grad]
    with torch.enable_grad():
        if forward["op_name"].endswith("_"):  # a leaf can't be overwritten
            call.args[0] = call.args[0].clone()
        outputs = [t for t in flattened(call()) if t.requires_grad]
    if not outputs:
        raise Missing("the forward op has no output with a gradient")
    gradients = [torch.randn_like(output) for output in outputs]
    return Call(torch.autograd.grad, [outputs, inputs, gradients],
                {"retain_graph": True, "allow_unused": True})


def build_triton(op, builder, folder):
    """A kernel of inductor from its file. That is code: it is taken from a
    folder that the user names, not from wherever a trace says."""
    recorded = op["triton"].get("kernel_file") or ""
    base = recorded.replace("\\", "/").rpartition("/")[2]
    if not base:
        raise Missing("Triton kernel whose file is not recorded")
    if not folder:
        raise Missing(f"Triton kernel: --kernel-dir names the folder with its "
                      f"file, recorded as {shown(recorded)}")
    path = os.path.join(folder, base)
    if not os.path.isfile(path):
        raise Missing(f"Triton kernel: no {shown(base)} in {folder}")
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernels = [k for k in vars(module).values()
               if hasattr(k, "run") and hasattr(k, "fn")
               and not isinstance(k, type)]
    if not kernels:
        raise Missing(f"no Triton kernel in {path}")
    kernel, args = kernels[0], builder.values(op)
    kwargs = {"stream": torch.cuda.current_stream().cuda_stream}
    if "grid" in inspect.signature(kernel.run).parameters:
        # Before PyTorch 2.7 the caller makes the grid, with a function that
        # is beside the kernel's class.
        names = kernel.fn.arg_names
        kwargs["grid"] = sys.modules[type(kernel).__module__].grid(*[
            value for name, value in zip(names, args)
            if name.endswith("numel") and not name.startswith("r")])
    return Call(kernel.run, args, kwargs)


def prepare(op, builder, kernel_dir):
    if op.get("missing"):
        raise Missing(op["missing"])
    if op.get("triton"):
        return build_triton(op, builder, kernel_dir)
    if op.get("backward_of"):
        return build_backward(op, builder)
    return build(op, builder)

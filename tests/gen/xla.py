# SPDX-License-Identifier: MIT
"""The modules that tests/gen/xplane.py runs: instructions and their costs.

Each instruction has .kernels, a list of (name, ns), and if known .flops and
.bytes; a collective has .coll: type, bytes, groups, transfer ns.
"""
import json
import math

from xspace import Instr, Module, arrays, size

LARGE = "s8[4194304]{0}"  # cuBLAS's workspace


def instruction(name, opcode, shape, operands=(), kernels=(), flops=None, nbytes=None, **more):
    i = Instr(name, opcode, shape, operands, **more)
    i.kernels, i.flops, i.bytes, i.coll, i.waits = list(kernels), flops, nbytes, None, None
    return i


def parameter(number, name, shape):
    return instruction(name, "parameter", shape, number=number)


def dims(i):
    return arrays(i.shape)[0][1]


def elements(i):
    return math.prod(dims(i))


# ---- GEMMs

def gemm_config(lhs, rhs, epilogue, beta):
    numbers = {"lhs_contracting_dimensions": [str(lhs)], "rhs_contracting_dimensions": [str(rhs)],
               "lhs_batch_dimensions": [], "rhs_batch_dimensions": []}
    return json.dumps({"operation_queue_id": "0", "gemm_backend_config": {
        "alpha_real": 1, "alpha_imag": 0, "beta": beta, "dot_dimension_numbers": numbers,
        "epilogue": epilogue, "selected_algorithm": "0"}})


def cublas(name, a, b, ns, op_name, bias=None, **more):
    """a[M,K] x b[K,N]; if there is a bias, the epilogue adds that vector."""
    (m, k), n = dims(a), dims(b)[1]
    operands = [a, b] + ([bias] if bias else [])
    out = f"bf16[{m},{n}]{{1,0}}"
    return instruction(
        name, "custom-call", f"({out},{LARGE})", operands, [("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", ns)],
        2 * m * n * k + (m * n if bias else 0), sum(size(o.shape) for o in operands) + size(out),
        target="__cublas$lt$matmul", config=gemm_config(1, 0, "BIAS" if bias else "DEFAULT", 0),
        op_name=op_name, **more)


def dot(name, a, b, op_name=""):
    (m, k), n = dims(a), dims(b)[1]
    return instruction(name, "dot", f"bf16[{m},{n}]{{1,0}}", [a, b], [(name, 20_000)], 2 * m * n * k,
                       size(a.shape) + size(b.shape) + 2 * m * n, op_name=op_name,
                       dot={"lhs_contracting": [1], "rhs_contracting": [0], "lhs_batch": [], "rhs_batch": []})


def triton_gemm(name, a, b, ns, op_name):
    """A fusion whose computation has the dot."""
    pa, pb = parameter(0, "parameter_0", a.shape), parameter(1, "parameter_1", b.shape)
    inner = dot("dot." + name, pa, pb, op_name)
    kernel = name.replace(".", "_")
    return instruction(name, "fusion", inner.shape, [a, b], [(kernel, ns)], inner.flops, inner.bytes, kind="kCustom",
                       config=json.dumps({"fusion_backend_config": {"kind": "__triton_gemm"}}),
                       op_name=op_name, body=[pa, pb, inner])


# ---- the others

def loop_fusion(name, a, b, ns, op_name):
    """(a * b) + b, element by element."""
    pa, pb = parameter(0, "param_0", a.shape), parameter(1, "param_1", b.shape)
    mul = instruction("multiply." + name, "multiply", a.shape, [pa, pb], op_name=op_name)
    add = instruction("add." + name, "add", a.shape, [mul, pb], op_name=op_name)
    return instruction(name, "fusion", a.shape, [a, b], [(name.replace(".", "_"), ns)], 2 * elements(a),
                       3 * size(a.shape), kind="kLoop", op_name=op_name, body=[pa, pb, mul, add],
                       config=json.dumps({"fusion_backend_config": {"kind": ""}}))


def convolution(name, x, w, ns, op_name):
    """NCHW by a 3 x 3 kernel in OIHW that keeps the size."""
    (n, _, h, width), (o, c, kh, kw) = dims(x), dims(w)
    out = f"bf16[{n},{o},{h},{width}]{{3,2,1,0}}"
    return instruction(
        name, "custom-call", f"({out},u8[1024]{{0}})", [x, w],
        [("Im3d2Col", ns // 4), ("cutlass_tensorop_conv2d_fprop", ns)],
        2 * n * o * h * width * c * kh * kw, size(x.shape) + size(w.shape) + size(out), op_name=op_name,
        target="__cudnn$convForward", config=json.dumps({"cudnn_conv_backend_config": {"activation_mode": "kNone"}}),
        window=[(3, 1, 1, 1, 1, 1)] * 2, feature_groups=1, batch_groups=1,
        conv={"input_batch": 0, "input_feature": 1, "input_spatial": [2, 3], "kernel_output_feature": 0,
              "kernel_input_feature": 1, "kernel_spatial": [2, 3], "output_batch": 0, "output_feature": 1,
              "output_spatial": [2, 3]})


def attention(name, q, k, v, ns, op_name):
    """Transformer Engine, BSHD, causal."""
    b, s, h, d = dims(q)
    config = (f"{{attn_heads = {h} : i64, input_batch = {b} : i64, q_max_seqlen = {s} : i64, kv_max_seqlen = {s} : i64, "
              f"num_gqa_groups = {h} : i64, qk_head_dim = {d} : i64, v_head_dim = {d} : i64, mask_type = 2 : i64, "
              "bias_type = 0 : i64, qkv_layout = 9 : i64, dropout_probability = 0.0e+00 : f64, is_training = true, "
              "window_size_left = -1 : i64, window_size_right = -1 : i64}")
    return instruction(name, "custom-call", f"({q.shape},f32[{b},{h},{s},1]{{3,2,1,0}})", [q, k, v],
                       [("cudnn_generated_flash_fprop", ns), ("cudnn_generated_lse", ns // 8)],
                       2 * b * h * s * s * 2 * d // 2, 4 * size(q.shape), target="te_fused_attn_forward_ffi",
                       config=config, op_name=op_name)


def copy(name, a, ns):
    i = instruction(name, "copy", a.shape, [a], [("MemcpyD2D", ns)], 0, 2 * size(a.shape))
    i.copied = size(a.shape)
    return i


# ---- collectives

def adder():
    x, y = parameter(0, "x", "f32[]"), parameter(1, "y", "f32[]")
    return [x, y, instruction("add", "add", "f32[]", [x, y])]


def rows(world, per_host):
    return [list(range(i, i + per_host)) for i in range(0, world, per_host)]


def columns(world, per_host):
    return [list(range(i, world, per_host)) for i in range(per_host)]


def as_list(groups, iota, use_iota):
    return {"iota": iota} if use_iota else {"groups": groups}


def collective(kind, name, shape, operand, groups, ns, forms, opcode=None, kernel=None, d=None, **more):
    """`d` is the message of the bandwidth tables, `forms` the notation of the groups."""
    i = instruction(name, opcode or kind, shape, [operand],
                    [(kernel or f"ncclDevKernel_{kind.title().replace('-', '')}_RING_LL", 0)],
                    channel=1 + sum(map(ord, name)), global_ids=1, **forms, **more)
    i.coll = {"type": kind, "groups": groups, "transfer_ns": ns, "in_bytes": size(operand.shape), "d": d}
    return i


def done(start, shape, opcode=None):
    i = instruction(start.name.replace("start", "done"), opcode or start.opcode.replace("start", "done"), shape, [start],
                    op_name=start.op_name)
    i.waits = start
    return i


def layer(n, x, args):
    """One layer's instructions; x is its input."""
    s, hosts, gpus = f"jit(train_step)/layer_{n}", args.hosts, args.gpus
    w = parameter(10 * n + 1, f"w_{n}", "bf16[1024,1024]{1,0}")
    bias = parameter(10 * n + 2, f"bias_{n}", "bf16[1024]{0}")
    image = parameter(10 * n + 3, f"image_{n}", "bf16[4,16,32,32]{3,2,1,0}")
    filters = parameter(10 * n + 4, f"filter_{n}", "bf16[64,16,3,3]{3,2,1,0}")
    q = parameter(10 * n + 5, f"q_{n}", "bf16[2,512,16,64]{3,2,1,0}")
    out = [w, bias, image, filters, q,
           triton_gemm(f"gemm_fusion_dot.{n}", x, w, 31_000, s + "/attn/qkv/dot_general"),
           attention(f"te_fused_attn_forward_ffi.{n}", q, q, q, 48_000, s + "/attn/te_fused_attn_fwd")]
    h = instruction(f"get-tuple-element.{n}", "get-tuple-element", x.shape, [out[-1]], index=0)
    out.append(h)
    if hosts * gpus > 1:
        part = instruction(f"shard_{n}", "bitcast", "bf16[512,1024]{1,0}", [w])
        full = f"bf16[{512 * gpus},1024]{{1,0}}"
        start = collective("all-gather", f"all-gather-start.{n}", f"({part.shape},{full})", part,
                           rows(hosts * gpus, gpus), 40_000, as_list(rows(hosts * gpus, gpus), None, False),
                           "all-gather-start", d=size(full) // gpus, dims=[0], op_name=s + "/mlp/all_gather")
        out += [part, start]
    out += [cublas(f"cublas-gemm.{n}", x, w, 52_000, s + "/mlp/dot_general", bias, source="model.py:21"),
            loop_fusion(f"loop_add_fusion.{n}", out[5], x, 9_000, s + "/mlp/add")]
    if hosts * gpus > 1:
        out.append(done(start, full))
    out += [convolution(f"cudnn-conv.{n}", image, filters, 24_000, s + "/conv/conv_general_dilated"),
            copy(f"copy.{n}", x, 3_000)]
    return out, next(i for i in out if i.name.startswith("loop_add"))


def exchange(x, first, args):
    """The end of a step: the other four collectives, synchronous and not."""
    hosts, gpus, world, s = args.hosts, args.gpus, args.hosts * args.gpus, "jit(train_step)/update"
    everyone, across = [list(range(world))], columns(world, gpus)
    grads = loop_fusion("loop_add_fusion.99", x, first, 8_000, s + "/add")
    scattered = f"bf16[{1024 // hosts},1024]{{1,0}}"
    whole = parameter(0, "param_0", x.shape)
    inner = instruction("reduce-scatter.1", "reduce-scatter", scattered, [whole], dims=[0], channel=77, global_ids=1,
                        **as_list(across, ([gpus, hosts], [hosts, gpus], [1, 0]), args.iota))
    scatter = collective("reduce-scatter", "reduce-scatter-start", f"(({x.shape}),{scattered},u32[])", grads, across,
                         35_000, {}, "async-start", body=[whole, inner], d=size(x.shape) // hosts,
                         op_name=s + "/reduce_scatter")
    reduce = collective("all-reduce", "all-reduce.1", x.shape, grads, everyone, 60_000,
                        as_list(everyone, ([1, world], [world]), args.iota), body=adder(), d=size(x.shape),
                        op_name=s + "/psum")
    exchange_ = collective("all-to-all", "all-to-all.1", x.shape, reduce, rows(world, gpus), 25_000,
                           as_list(rows(world, gpus), ([hosts, gpus], [world]), args.iota), dims=[0],
                           d=size(x.shape) // gpus, op_name=s + "/all_to_all", kernel="ncclDevKernel_SendRecv")
    ring = [(r, (r + 1) % world) for r in range(world)]
    permute = collective("collective-permute", "collective-permute-start.1", f"({x.shape},{x.shape},u32[],u32[])",
                         exchange_, [list(p) for p in ring], 20_000, {"pairs": ring}, "collective-permute-start",
                         d=size(x.shape), op_name=s + "/ppermute", kernel="ncclDevKernel_SendRecv")
    return [grads, scatter, reduce, done(scatter, scattered, "async-done"), exchange_, permute,
            cublas("cublas-gemm.99", x, x, 33_000, s + "/dot_general"), done(permute, x.shape)]


def root(entry):
    last = [i for i in entry if i.opcode != "parameter"][-1]
    return entry + [instruction("tuple.1", "tuple", f"({last.shape})", [last])]


def train(args):
    x = parameter(0, "x", "bf16[1024,1024]{1,0}")
    entry = [x]
    for n in range(args.layers):
        more, x = layer(n, x, args)
        entry += more
    if args.hosts * args.gpus > 1:
        entry += exchange(x, entry[0], args)
    return Module("jit_train_step", 7, root(entry))


def single(program, n):
    """A module of one instruction, its root; several have the same name."""
    a = parameter(0, "Arg_0.1", f"bf16[{n},{n}]{{1,0}}")
    return Module("jit_dot", program, [a, cublas("cublas-gemm.1", a, a, 11 * n, "jit(dot)/dot_general")])

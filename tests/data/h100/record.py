#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records the PyTorch traces of this folder: small programs, each with a known
reason for what the GPU does or waits for. usage: record.py FOLDER [NAME...]"""

import gc
import gzip
import os
import sys
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch._C._profiler import _ExperimentalConfig
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, record_function, schedule

GPU = "cuda"
BF16 = torch.bfloat16
VOCABULARY = 8192
RECORDERS = {}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, layers, width=1024, heads=16, length=512):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, width)
        self.place = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.token(ids) + self.place[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def loss_of(model, ids):
    with torch.autocast(GPU, BF16):
        return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())


def batch(rows=4, length=512):
    return torch.randint(0, VOCABULARY, (rows, length), device=GPU)


def training(layers=2):
    model, ids = GPT(layers).to(GPU), batch()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step(i):
        loss = loss_of(model, ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def save(profiler, name):
    path = os.path.join(sys.argv[1], name + ".json")
    profiler.export_chrome_trace(path)
    with open(path, "rb") as f, gzip.GzipFile(path + ".gz", "wb", 9, mtime=0) as out:
        out.write(f.read())
    os.remove(path)


def record(name, step, steps=4, warm=3, stack=False, gpu=True, **config):
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * gpu
    for _ in range(warm):
        step(-1)
    torch.cuda.synchronize()
    with profile(activities=activities, record_shapes=True, with_stack=stack,
                 experimental_config=_ExperimentalConfig(**config),
                 schedule=schedule(wait=1, warmup=1, active=steps)) as profiler:
        for i in range(2 + steps):
            step(i)
            profiler.step()
    save(profiler, name)


def recorder(function):
    RECORDERS[function.__name__] = function
    return function


@recorder
def train(name):
    """An ordinary training loop, four layers, with Python's stack."""
    record(name, training(layers=4), stack=True)


class SlowBatches(torch.utils.data.Dataset):
    """Each fourth batch of four comes 20 ms late."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        if i and i % 16 == 15:
            time.sleep(0.02)
        return torch.randint(0, VOCABULARY, (512,))


@recorder
def data_loading(name):
    """The data loader holds up one step of four by 20 ms."""
    step, loader = training(), iter(torch.utils.data.DataLoader(SlowBatches(), batch_size=4))
    record(name, lambda i: (next(loader).to(GPU), step(i)), steps=6, stack=True)


@recorder
def cuda_free(name):
    """torch.cuda.empty_cache() in each step: cudaFree, then cudaMalloc."""
    step = training()
    record(name, lambda i: (step(i), torch.cuda.empty_cache()), stack=True)


@recorder
def sync_and_pageable_copy(name):
    """loss.item(), a synchronisation, and 64 MiB from pageable memory in each step."""
    step, data = training(), torch.randn(16 << 20)
    record(name, lambda i: (step(i).item(), torch.cuda.synchronize(), data.to(GPU)), stack=True)


@recorder
def garbage_collection(name):
    """gc.collect() over a growing heap in each step."""
    step, heap = training(), []
    record(name, lambda i: (heap.append([[j] for j in range(300000)]), step(i), gc.collect()),
           stack=True, record_python_gc_info=True)


@recorder
def launch_bound(name):
    """600 kernels of a microsecond in each step."""
    x = torch.randn(256, device=GPU)

    def step(_):
        y = x
        for _ in range(300):
            y = y * 1.01 + 0.1

    record(name, step, steps=3)


@recorder
def two_streams_events(name):
    """A copy from pinned memory beside products; one waits for the copy's event."""
    a = torch.randn(4096, 4096, device=GPU, dtype=BF16)
    pinned, target = torch.empty(64 << 20, pin_memory=True), torch.empty(64 << 20, device=GPU)
    side = torch.cuda.Stream()

    def step(_):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            target.copy_(pinned, non_blocking=True)
            copied = side.record_event()
        for _ in range(4):
            a @ a
        torch.cuda.current_stream().wait_event(copied)
        (target * 2).sum()
        a @ a

    record(name, step, enable_cuda_sync_events=True)


@recorder
def two_threads(name):
    """Two Python threads launch at once."""
    xs = [torch.randn(512, 512, device=GPU) for _ in range(2)]

    def work(x):
        for _ in range(100):
            x = torch.tanh(x @ x)

    def step(_):
        threads = [threading.Thread(target=work, args=(x,)) for x in xs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    record(name, step, steps=2)


@recorder
def compiled_train(name):
    """torch.compile: Inductor's Triton kernels forward and backward."""
    model, ids = torch.compile(GPT(2).to(GPU)), batch()
    record(name, lambda i: loss_of(model, ids).backward(), steps=2)


@recorder
def compiling_in_step(name):
    """One step of three compiles anew."""
    layers = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.LayerNorm(256)).to(GPU)
    model, x = torch.compile(layers), torch.randn(64, 256, device=GPU)

    def step(i):
        if i == 3:
            torch._dynamo.reset()
        model(x)

    record(name, step, steps=3)


@recorder
def graph_capture(name):
    """The capture of a CUDA graph, then three replays (graph_replay)."""
    model, ids = GPT(2).to(GPU).eval().bfloat16(), batch()
    with torch.no_grad():
        for _ in range(3):
            model(ids)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                     record_shapes=True) as profiler:
            with record_function("capture_bs4"), torch.cuda.graph(graph):
                model(ids)
        save(profiler, name)
        record("graph_replay", lambda i: graph.replay(), steps=3)


@recorder
def serving_steps(name):
    """Prefill, decode and mixed steps with annotations as vLLM writes them."""
    model = GPT(2).to(GPU).eval().bfloat16()

    def forward(prompts, prompt_tokens, decodes, rows, length):
        label = "execute_context_%d(%d)_generation_%d(%d)" % (prompts, prompt_tokens, decodes,
                                                              decodes)
        with torch.no_grad(), record_function(label):
            ids = torch.zeros(rows, length, dtype=torch.long, device=GPU)
            model(ids)[:, -1].argmax(-1).cpu()

    def step(_):
        forward(2, 512, 0, 2, 256)
        for _ in range(4):
            forward(0, 0, 8, 8, 1)
        forward(1, 128, 7, 1, 128)

    record(name, step, steps=3)


@recorder
def big_ops(name):
    """Products in four precisions, convolutions, three kinds of attention, memory-bound ops."""
    a, f = torch.randn(8192, 8192, device=GPU, dtype=BF16), torch.randn(8192, 8192, device=GPU)
    a8, one = a.to(torch.float8_e4m3fn), torch.ones((), device=GPU)
    image = torch.randn(32, 256, 56, 56, device=GPU, dtype=BF16)
    weight = torch.randn(256, 256, 3, 3, device=GPU, dtype=BF16)
    q = torch.randn(4, 16, 4096, 128, device=GPU, dtype=BF16, requires_grad=True)
    long = torch.randn(128 << 20, device=GPU, dtype=BF16)

    def step(_):
        for tf32 in (False, True):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            f @ f
        a @ a
        torch.addmm(a[0], a, a)
        torch.bmm(a.view(8, 1024, 8192), a.view(8, 8192, 1024))
        torch._scaled_mm(a8, a8.t(), one, one, out_dtype=BF16)
        F.conv2d(image, weight, padding=1)
        F.conv2d(image.to(memory_format=torch.channels_last), weight, padding=1, stride=2)
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION,
                        SDPBackend.CUDNN_ATTENTION):
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
        long + long
        long.sum()
        torch.softmax(a, -1)
        F.layer_norm(a, (8192,))
        F.rms_norm(a, (8192,))
        torch.sort(long[: 1 << 24])
        a.t().contiguous()
        F.embedding(torch.randint(0, 8192, (4, 4096), device=GPU), a)
        torch.cumsum(f, 0)
        a.topk(8)

    record(name, step, steps=2)


@recorder
def ddp_one_rank(name):
    """DistributedDataParallel over NCCL in a world of one."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    torch.distributed.init_process_group("nccl", rank=0, world_size=1)
    model, ids = nn.parallel.DistributedDataParallel(GPT(2).to(GPU)), batch()
    data = torch.randn(1 << 20, device=GPU)

    def step(_):
        loss_of(model, ids).backward()
        torch.distributed.all_reduce(data)
        torch.distributed.all_gather_into_tensor(torch.empty_like(data), data)

    record(name, step, steps=3)
    torch.distributed.destroy_process_group()


@recorder
def cpu_only(name):
    """No GPU work at all."""
    model = nn.Linear(256, 256)
    record(name, lambda i: model(torch.randn(8, 256)).sum().backward(), steps=2, gpu=False)


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    print(torch.__version__, torch.cuda.get_device_name())
    for name in sys.argv[2:] or RECORDERS:
        RECORDERS[name](name)


main()

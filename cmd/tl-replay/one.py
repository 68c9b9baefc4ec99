# SPDX-License-Identifier: MIT
"""One op of a GPU profiler trace, on random data: python3 FILE [DEVICE]"""
import sys
import time

import torch

torch.manual_seed(0)
device = torch.device(sys.argv[1] if len(sys.argv) > 1 else
                      "cuda" if torch.cuda.is_available() else "cpu")


def tensor(shape, strides, size, dtype, init, low=0, high=2):
    """A view of size elements, filled as init says."""
    if init in ("normal", "uniform"):
        data = (torch.randn if init == "normal" else torch.rand)(size)
    elif init == "randint":
        data = torch.randint(low, max(high, low + 1), (size,))
    elif init == "bernoulli":
        data = torch.rand(size) < 0.5
    elif init == "arange":
        data = torch.arange(size) % max(high, 1)
    elif init == "offsets":  # rising evenly, low and high included
        data = low + torch.arange(size) * (high - low) // max(size - 1, 1)
    elif init == "routing":  # in each row different ones
        rows = -(-size // max(shape[-1], 1))
        data = torch.rand(rows, max(high, shape[-1])).argsort(1)
        data = data[:, :shape[-1]].reshape(-1)[:size] % max(high, 1)
    else:
        data = torch.ones(size) if init == "ones" else torch.zeros(size)
    return data.to(dtype).to(device).as_strided(shape, strides)


def run(op, args, kwargs, warmup=20, calls=100):
    with torch.no_grad():
        for i in range(warmup + calls):
            if i == warmup:
                if device.type == "cuda":
                    torch.cuda.synchronize()
                start = time.perf_counter()
            result = op(*args, **kwargs)
        if device.type == "cuda":
            torch.cuda.synchronize()
    us = (time.perf_counter() - start) / calls * 1e6
    print(f"{op} on {device}: {us:.2f} us a call")
    return result

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records the JAX profiles of this folder, each a NAME.xplane.pb.gz. usage: record_jax.py FOLDER"""

import glob
import gzip
import os
import sys
import tempfile

import jax
import jax.numpy as jnp

KEY = jax.random.PRNGKey(0)
BF16 = jnp.bfloat16


def mlp():
    """Two layers with scopes, forward and backward, and an update."""
    width = 2048
    weights = [jax.random.normal(KEY, (width, 4 * width), BF16) * 0.02,
               jax.random.normal(KEY, (4 * width, width), BF16) * 0.02]
    x = jax.random.normal(KEY, (4096, width), BF16)

    def loss(weights, x):
        for i in range(2):
            with jax.named_scope("layer_%d" % i), jax.named_scope("mlp"):
                x = x + jax.nn.gelu(x @ weights[0]) @ weights[1]
        return (x.astype(jnp.float32) ** 2).mean()

    @jax.jit
    def train(weights, x):
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return [w - 1e-3 * g for w, g in zip(weights, gradients)], value

    return lambda: train(weights, x)


def conv():
    """A convolution with its epilogue, and both gradients."""
    x = jax.random.normal(KEY, (32, 128, 128, 64), BF16)
    w = jax.random.normal(KEY, (3, 3, 64, 128), BF16)

    def forward(x, w):
        y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME",
                                         dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(y).sum()

    first, both = jax.jit(forward), jax.jit(jax.grad(forward, (0, 1)))
    return lambda: (first(x, w), both(x, w))


def attention():
    """Attention by cuDNN and by XLA."""
    q = jax.random.normal(KEY, (4, 2048, 16, 128), BF16)

    def of(implementation):
        return jax.jit(lambda q: jax.nn.dot_product_attention(
            q, q, q, is_causal=True, implementation=implementation))

    cudnn, xla = of("cudnn"), of("xla")
    return lambda: (cudnn(q), xla(q))


def scan():
    """A loop on the GPU, and a sort."""
    w = jax.random.normal(KEY, (8, 1024, 1024))
    x = jax.random.normal(KEY, (512, 1024))
    loop = jax.jit(lambda x, w: jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, w)[0])
    ordered = jax.jit(lambda x: jnp.sort(x, -1).sum())
    return lambda: (loop(x, w), ordered(x))


def record(name, function):
    for _ in range(2):
        jax.block_until_ready(function())
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for i in range(3):
                with jax.profiler.StepTraceAnnotation("train", step_num=i):
                    jax.block_until_ready(function())
        for path in glob.glob(folder + "/**/*.xplane.pb", recursive=True):
            target = os.path.join(sys.argv[1], name + ".xplane.pb.gz")
            with open(path, "rb") as f, gzip.GzipFile(target, "wb", 9, mtime=0) as out:
                out.write(f.read())


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    print(jax.__version__, jax.devices())
    for function in (mlp, conv, attention, scan):
        record("jax_" + function.__name__, function())


main()

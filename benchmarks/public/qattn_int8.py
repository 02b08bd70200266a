"""qattn 0.1.1: int8 attention (integer QK, bf16 PV), int8 products with static scales and with quantisation of the activations inside."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types

import triton.language.math
from triton.language.extra.cuda import libdevice

if not hasattr(triton.language.math, "llrint"):   # was there in triton 2
    triton.language.math.llrint = libdevice.llrint
ops, perf = types.ModuleType("triton.ops"), types.ModuleType("triton.ops.matmul_perf_model")   # were part of triton 2
perf.early_config_prune = lambda configs, *a, **k: configs
perf.estimate_matmul_time = lambda **k: 0.0
ops.matmul_perf_model = perf
sys.modules["triton.ops"], sys.modules["triton.ops.matmul_perf_model"] = ops, perf
for name in ("qattn", "qattn.nn", "qattn.nn.functional", "qattn.nn.functional.dynamic"):
    package(name)
i8 = torch.int8


def products(name):
    """The module, with a few of its hundreds of configurations: its pruning is written for triton 2."""
    m = importlib.import_module(name)
    kern = m._kernel
    want = {(128, 128, 64, 8, 3), (128, 128, 128, 8, 3), (128, 256, 64, 8, 3), (64, 128, 64, 4, 4), (64, 64, 128, 4, 3)}
    key = lambda c: (c.kwargs["BLOCK_M"], c.kwargs["BLOCK_N"], c.kwargs["BLOCK_K"], c.num_warps, c.num_stages)
    kern.configs = [c for c in kern.configs if key(c) in want and c.kwargs.get("SPLIT_K", 1) == 1]
    kern.early_config_prune = kern.perf_model = None
    return m


def one(value):
    return torch.tensor(value, device=DEV, dtype=f32)


@case((16, 12, 1024, 64), (4, 16, 2048, 128), (32, 16, 577, 64))
def attention(b, h, n, d):
    m = importlib.import_module("qattn.nn.functional._flash_attention")
    q, k, v = (randint(-127, 128, b, h, n, d, dtype=i8) for _ in range(3))
    m._attention.apply(q, k, v, d ** -0.5, one(0.02), one(0.01))


@case((16384, 3072, 768, True, False), (8192, 4096, 4096, True, True), (8192, 1024, 4096, False, False), (12608, 768, 3072, False, True))
def static(m, n, k, bias, channels):
    a, w = randint(-127, 128, m, k, dtype=i8), randint(-127, 128, n, k, dtype=i8).t()
    scales = (rand(m, lo=0.01, hi=0.02), rand(n, lo=0.001, hi=0.002), rand(m, lo=0.2, hi=0.5)) if channels else (one(0.02), one(0.002), one(0.3))
    products("qattn.nn.functional._matmul")._matmul.apply(a, w, *scales, randn(n, dtype=f32) if bias else None, channels, channels)


@case((16384, 3072, 768, True, False), (8192, 4096, 4096, True, True), (8192, 1024, 4096, False, False), (12608, 768, 3072, False, True))
def dynamic(m, n, k, bias, channels):
    a, w = randn(m, k, dtype=f16), randint(-127, 128, n, k, dtype=i8).t()
    scales = (rand(m, lo=0.03, hi=0.05), rand(n, lo=0.001, hi=0.002)) if channels else (one(0.04), one(0.002))
    products("qattn.nn.functional.dynamic._matmul")._matmul.apply(a, w, *scales, randn(n, dtype=f16) if bias else None, channels, channels)

"""onecomp-runtime 0.1.0: product with GPTQ-packed int4 weights (fused dequantisation), functional form and layer (with padded K)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

for name in ("onecomp_runtime", "onecomp_runtime.layers"):
    package(name)
L = importlib.import_module("onecomp_runtime.layers.fused_int4_linear")


def weights(k, n):
    q = lambda *s: randint(-2 ** 31, 2 ** 31 - 1, *s).to(i32)
    return q(k // 8, n), rand(k // 32, n, lo=0.001, hi=0.01, dtype=f16), q(k // 32, n // 8)


@case((16, 4096, 4096, f16), (126, 3840, 11008, f16), (256, 4096, 4096, bf16), (1024, 3072, 3072, f16), (4500, 1280, 3840, f16), (4096, 3072, 3072, bf16))
def gemm(m, k, n, dtype):
    qw, s, qz = weights(k, n)
    L.fused_int4_gemm(randn(m, k, dtype=dtype), qw, s, qz, randn(n, dtype=dtype))


@case((63, 3680, 1280), (126, 1280, 3680), (256, 3680, 1280), (256, 1280, 3680), (1024, 3072, 3072), (4500, 1280, 3680), (4500, 3680, 1280))
def layer(m, k, n):
    qw, s, qz = weights(k, n)
    L.FusedInt4Linear(k, n, qw, s, qz, bias=randn(n, dtype=f16))(randn(2, m // 2, k, dtype=f16))

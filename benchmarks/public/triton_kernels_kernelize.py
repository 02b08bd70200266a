"""triton-kernels 0.1.0 (Kernelize AI): rotary embedding in place (neox and interleaved, with keys and without), vector sums in two blocks."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("kernelize_triton_kernels")


@case((8192, 32, 8, 128, True, True), (8192, 32, 8, 128, False, True), (16384, 16, 16, 64, True, False), (8192, 32, 8, 128, False, False))
def rotary(n, h, hk, d, neox, keys):
    k = importlib.import_module("kernelize_triton_kernels.rotary_embedding").rotary_embedding_kernel
    q, kk, cache = randn(n, h, d, dtype=f16), randn(n, hk, d, dtype=f16), rand(n, d, lo=-1.0, dtype=f16)
    k[(n,)](torch.arange(n, device=DEV), q, kk, cache, q.stride(0), kk.stride(0), q.stride(1), h, hk, d, d, IS_NEOX=neox, DO_KEY_ROPE=keys, BLOCK_SIZE_ROT=256)


@case((1 << 24, 512, 512), (1 << 24, 128, 64))
def add(n, a, b):
    k = importlib.import_module("kernelize_triton_kernels.add_vectors2").add_vectors
    x, y = randn(n, dtype=f32), randn(n, dtype=f32)
    k[(-(-n // (a + b)),)](x, y, torch.empty_like(x), n, BLOCK_SIZE=a, BLOCK_SIZE2=b)

"""cuda-triton-multiarch 0.1.3: row kernels (softmax, RMSNorm, SwiGLU, fused), naive and tiled attention, fp16/int8/int4 products."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
sys.path.insert(0, os.path.join(sys.path[0], "cuda_triton_multiarch"))
M = lambda n: importlib.import_module("kernels." + n)


@case((8192, 4096), (4096, 8192))
def rows(m, n):
    M("softmax").softmax_triton(randn(m, n, dtype=f32))
    M("rmsnorm").rmsnorm_triton(randn(m, n, dtype=f16, scale=0.1), randn(n, dtype=f16))
    M("swiglu").swiglu_triton(randn(m, n, dtype=f16), randn(m, n, dtype=f16))
    M("fused_rmsnorm_swiglu").fused_rmsnorm_swiglu_triton(randn(m, n, dtype=f16, scale=0.1), randn(m, n, dtype=f16), randn(n, dtype=f16))


@case((512, 64))
def naive(n, d):
    M("attention").attention_triton(*(randn(n, d, dtype=f16) for _ in range(3)))


@case(8192, 16384)
def tiled(n):
    M("flash_attention").flash_attention_triton(*(randn(n, 64, dtype=f16) for _ in range(3)))


@case((4096, 64))
def single_row(n, d):
    q, k, v = (randn(n, d, dtype=f16) for _ in range(3))
    M("flash_attention").flash_attention_kernel[(n,)](q, k, v, torch.empty_like(q), n, d, d, d, d, d, BLOCK_SEQ=64, BLOCK_DK=64)


@case((2, 16, 4096, 64, True), (2, 16, 2048, 128, False))
def full(b, h, n, d, causal):
    M("flash_attention_full").flash_attention_full_triton(*(randn(b, h, n, d, dtype=f16) for _ in range(3)), causal=causal)


@case((2048, 4096, 4096), (64, 8192, 4096))
def products(m, n, k):
    q = M("quantized_matmul")
    x = randn(m, k, dtype=f16)
    q.matmul_fp16_triton(x, randn(k, n, dtype=f16))
    w, s, z = randint(0, 256, k, n, dtype=torch.uint8), rand(n, lo=0.001, hi=0.01, dtype=f16), rand(n, lo=120.0, hi=136.0, dtype=f16)
    q.matmul_int8_triton(x, w, s, z)
    w, s, z = randint(0, 256, k, n // 2, dtype=torch.uint8), rand(k // 128, n, lo=0.01, hi=0.1, dtype=f16), rand(k // 128, n, lo=6.0, hi=9.0, dtype=f16)
    q.matmul_int4_triton(x, w, s, z, group_size=128)

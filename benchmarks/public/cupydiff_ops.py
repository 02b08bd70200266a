"""cupydiff 0.2.10: kernels of a diffusion language model, launched directly (the wrappers want CuPy): grouped fp16 product, RMSNorm and SwiGLU forward and backward, rope, AdaLN modulation."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
import types
import triton
import triton.language as tl

# Two modules give their kernels' names to CuPy kernels afterwards, so note every kernel as it is made.
K = {}
real = triton.jit


def noting(fn):
    K[fn.__name__] = real(fn)
    return K[fn.__name__]


def fake(name, **kw):
    m = sys.modules[name] = types.ModuleType(name)
    m.__dict__.update(kw)


fake("cupydiff", __path__=[os.path.join(sys.path[0], "cupydiff")])
fake("cupydiff.ops", __path__=[os.path.join(sys.path[0], "cupydiff", "ops")])
fake("cupydiff.backend", HAS_TRITON=True, HAS_CUPY=False, is_cupy_array=lambda a: False, triton=triton, tl=tl, get_array_module=None,
     xp=None, to_gpu=None, to_cpu=None)
triton.jit = noting
try:
    for name in ("matmul", "rmsnorm", "swiglu", "rope", "adaln"):
        importlib.import_module("cupydiff.ops." + name)
finally:
    triton.jit = real
print(sorted(K))


@case((4096, 4096, 2048, f32), (2048, 8192, 2048, bf16))
def matmul(m, n, k, dtype):
    a, b, c = randn(m, k, dtype=dtype), randn(k, n, dtype=dtype), zeros(m, n, dtype=dtype)
    K["_matmul_kernel"][(triton.cdiv(m, 64) * triton.cdiv(n, 64),)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(),
        BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=32, GROUP_SIZE_M=8, num_stages=2, num_warps=4)


@case((16384, 2048, f32), (8192, 4096, bf16))
def rmsnorm(m, n, dtype):
    x, w, y, r = randn(m, n, dtype=dtype), randn(n, dtype=dtype), zeros(m, n, dtype=dtype), zeros(m, dtype=f32)
    K["_rmsnorm_fwd_kernel"][(m,)](x, w, y, r, n, n, N=n, BLOCK_SIZE=triton.next_power_of_2(n), eps=1e-6, num_warps=4)
    K["_rmsnorm_bwd_kernel"][(m,)](randn(m, n, dtype=dtype), x, w, r, y, n, n, n, N=n, BLOCK_SIZE=triton.next_power_of_2(n), num_warps=4)


@case((8192, 5632, f32), (8192, 8192, bf16))
def swiglu(m, n, dtype):
    g, u, h = randn(m, n, dtype=dtype), randn(m, n, dtype=dtype), zeros(m, n, dtype=dtype)
    grid = (triton.cdiv(m * n, 1024),)
    K["_swiglu_fwd_kernel"][grid](g, u, h, N=m * n, BLOCK_SIZE=1024)
    K["_swiglu_bwd_kernel"][grid](h, g, u, torch.empty_like(g), torch.empty_like(u), N=m * n, BLOCK_SIZE=1024)


@case((2, 4096, 16, 128, f32), (4, 2048, 32, 64, bf16))
def rope(b, n, h, d, dtype):
    x, c, s = randn(b, n, h, d, dtype=dtype), randn(n, d, dtype=dtype), randn(n, d, dtype=dtype)
    y = torch.empty_like(x)
    K["_rope_fwd_kernel"][(b, n, h)](x, c, s, y, *x.stride()[:3], *y.stride()[:3], c.stride(0), B=b, L=n, H=h, D=d, HALF_D=d // 2,
                                     BLOCK_D=triton.next_power_of_2(d // 2))


@case((8, 2048, 2048, f32), (4, 4096, 1536, bf16))
def modulate(b, n, d, dtype):
    x = randn(b, n, d, dtype=dtype)
    K["_modulate_fwd_kernel"][(b, n)](x, randn(b, d, dtype=dtype), randn(b, d, dtype=dtype), torch.empty_like(x), B=b, L=n, D=d,
                                      BLOCK_D=triton.next_power_of_2(d))

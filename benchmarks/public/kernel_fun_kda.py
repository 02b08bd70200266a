"""kernel-fun 0.2.0: causal short convolution with silu (strips, forward and backward), KDA backward inside chunks and of the WY form, zero fill."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import types
import triton
import triton.language as tl


@triton.jit
def exp2(x):
    return tl.math.exp2(x.to(tl.float32))


def stub(name, **attrs):
    """What the package takes from flash-linear-attention."""
    m = types.ModuleType(name)
    m.__path__ = []
    m.__dict__.update(attrs)
    sys.modules[name] = m


for name in ("fla", "fla.ops", "fla.ops.utils"):
    stub(name)
stub("fla.ops.utils.cache", fla_cache_autotune=triton.autotune)
stub("fla.ops.utils.op", exp2=exp2)
stub("fla.utils", autotune_cache_kwargs={}, check_shared_mem=lambda *a, **k: True)

from kernel_fun.cconv._kernels import strip
from kernel_fun.kda._kernels import bwd_intra_triton, bwd_wy, bwd_wy_t, fwd_intra_triton


@case((8, 4096, 2048, 4, bf16), (2, 8192, 4096, 4, bf16), (4, 4001, 2048, 4, bf16), (8, 4096, 1024, 3, f16))
def conv(b, t, d, w, dtype):
    x, weight = randn(b, t, d, dtype=dtype), rand(d, w, lo=-0.5, hi=0.5)
    y = strip.cconv_fwd(x, weight)
    strip.cconv_bwd(x, weight, torch.randn_like(y))


def gates(b, t, hv, k):
    """Log2 gates, summed inside chunks of 64."""
    return (-rand(b, t // 64, 64, hv, k, hi=0.1).cumsum(2)).reshape(b, t, hv, k).contiguous()


@case((2, 4096, 16, 16, 128), (1, 4096, 8, 16, 64))
def intra(b, t, h, hv, k):
    r = lambda *s: randn(*s, dtype=f32, scale=0.1)
    bwd_intra_triton.chunk_kda_bwd_intra_cute(
        randn(b, t, h, k), randn(b, t, h, k), gates(b, t, hv, k), rand(b, t, hv), r(b, t, hv, 64), r(b, t, hv, 64),
        r(b, t, hv, k), r(b, t, hv, k), r(b, t, hv), r(b, t, hv, k))


@case((2, 4096, 16, 16, 128, 128, False), (2, 4096, 16, 16, 128, 128, True), (1, 8192, 8, 16, 64, 128, False))
def wy(b, t, h, hv, k, v, transposed):
    f = bwd_wy_t.chunk_kda_bwd_wy_dqkg_t if transposed else bwd_wy.chunk_kda_bwd_wy_dqkg_wide
    state = lambda: randn(b, t // 64, hv, k, v, scale=0.1)
    f(q=randn(b, t, h, k), k=randn(b, t, h, k), v=randn(b, t, hv, v), v_new=randn(b, t, hv, v), g=gates(b, t, hv, k), beta=rand(b, t, hv),
      A=randn(b, t, hv, 64, scale=0.1), h=state(), do=randn(b, t, hv, v), dh=state(), dv=randn(b, t, hv, v), scale=k ** -0.5)


@case((4, 8192, 16))
def zero_fill(b, t, hv):
    fwd_intra_triton.kda_fwd_zero_upper_kernel[(t // 64, b * hv)](
        Aqk=randn(b, t, hv, 64), Akk=randn(b, t, hv, 64), T=t, HV=hv, BT=64, BC=16, NC=4, num_warps=2)

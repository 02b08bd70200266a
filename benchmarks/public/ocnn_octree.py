"""ocnn 2.3.3: octree convolution as implicit products over neighbour lists: forward, gradients of inputs and weights, each also split along its sum."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("ocnn", "ocnn.nn", "ocnn.nn.kernels"):
    package(p)
import ocnn.nn.kernels.autotuner as at
at.AUTOSAVE_AUTOTUNE_CACHE = False
from ocnn.nn.kernels import config
del config.autotune_config[3:]
from ocnn.nn.kernels import conv_bwd_implicit_gemm as cb, conv_bwd_implicit_gemm_splitk as cbs, conv_fwd_implicit_gemm as cf, conv_fwd_implicit_gemm_splitk as cfs


def neighbours(n, v):
    t = (torch.arange(n, device=DEV)[:, None] + randint(-40, 40, n, v)).clamp(0, n - 1).to(i32)
    return torch.where(torch.rand(n, v, device=DEV) < 0.4, t, -1).contiguous()


@case((100000, 64, 64, f16), (30000, 128, 256, f16), (50000, 96, 96, f32))
def conv(n, ci, co, dtype):
    x, w, b, nb, g = randn(n, ci, dtype=dtype), randn(co, 27, ci, dtype=dtype), randn(co, dtype=dtype), neighbours(n, 27), randn(n, co, dtype=dtype)
    cf.conv_fwd_implicit_gemm(x, w, b, nb)
    cb.conv_bwd_implicit_gemm(g, x, w, b, nb, [True, True, True])


@case((4000, 256, 256, f16, 4), (2000, 512, 512, f16, 8))
def split(n, ci, co, dtype, k):
    x, w, b, nb, g = randn(n, ci, dtype=dtype), randn(co, 27, ci, dtype=dtype), randn(co, dtype=dtype), neighbours(n, 27), randn(n, co, dtype=dtype)
    cfs.conv_fwd_implicit_gemm_splitk.kernel(x, w, b, nb, SPLITK=k)
    cbs.conv_bwd_input_implicit_gemm_splitk.kernel(g, w, nb, SPLITK=k)
    cbs.conv_bwd_weight_implicit_gemm_splitk.kernel(g, x, nb, SPLITK=k)

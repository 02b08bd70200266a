"""flash-xlstm-exp 0.1.0: chunkwise mLSTM forward, states between chunks and outputs within them, at the heuristic's and at other tiles."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import types


def rearrange(x, pattern, nc, l):
    assert pattern == "b nh (nc l) -> b nh nc l", pattern
    return x.reshape(*x.shape[:2], nc, l)


e = sys.modules["einops"] = types.ModuleType("einops")
e.rearrange = rearrange
torch.compile = lambda f=None, **k: f if f is not None else (lambda g: g)
from fsp.vendor.torch_fw.fw import mlstm_chunkwise_fw


def inputs(b, h, n, dk, dv, dtype):
    return randn(b, h, n, dk, dtype=dtype), randn(b, h, n, dk, dtype=dtype), randn(b, h, n, dv, dtype=dtype), randn(b, h, n, dtype=f32), randn(b, h, n, dtype=f32) + 3.0


@case((1, 8, 4096, 256, 512, 128, bf16), (2, 8, 4096, 128, 256, 256, bf16), (2, 8, 2048, 128, 128, 64, f32))
def heuristic(b, h, n, dk, dv, chunk, dtype):
    mlstm_chunkwise_fw(*inputs(b, h, n, dk, dv, dtype), chunk_size=chunk, return_last_states=True)


@case((1, 8, 4096, 128, 256, bf16))
def started(b, h, n, dk, dv, dtype):
    state = dict(matC_initial=randn(b, h, dk, dv, dtype=f32), vecN_initial=randn(b, h, dk, dtype=f32), scaM_initial=zeros(b, h, 1, dtype=f32))
    mlstm_chunkwise_fw(*inputs(b, h, n, dk, dv, dtype), **state, eps=1e-6)


@case((1, 8, 4096, 256, 512, 128, 64, 128, 128, 8), (1, 8, 4096, 128, 256, 32, 16, 64, 64, 4))
def tiles(b, h, n, dk, dv, lq, lkv, par, loop, warps):
    mlstm_chunkwise_fw(*inputs(b, h, n, dk, dv, bf16), chunk_size_inter=128, chunk_size_intra=128, siz_b_L_parallel=lq, siz_b_L_loop=lkv,
                       siz_b_DH_parallel=par, siz_b_DH_loop=loop, num_warps_intra=warps, num_warps_inter=4)

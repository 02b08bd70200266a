"""mamba-ssm 2.3.2.post1: Mamba-2 SSD chunk scan forward/backward, selective state update, gated norm, swiglu."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from mamba_ssm.ops.triton.k_activations import _swiglu_bwd, _swiglu_fwd
from mamba_ssm.ops.triton.layernorm_gated import rmsnorm_fn
from mamba_ssm.ops.triton.selective_state_update import selective_state_update
from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined


def ssd_in(B, T, H, P, G, N):
    x = randn(B, T, H, P, grad=True)
    dt = randn(B, T, H, grad=True)
    A = (-torch.rand(H, device=DEV) * 15 - 1).requires_grad_(True)
    Bm, C = randn(B, T, G, N, grad=True), randn(B, T, G, N, grad=True)
    kw = dict(D=randn(H, dtype=f32, grad=True), dt_bias=rand(H, lo=-6.0, hi=-2.0, grad=True), dt_softplus=True)
    return (x, dt, A, Bm, C), kw


@case((2, 4096, 80, 64, 1, 128), (1, 8192, 32, 128, 8, 64))
def ssd(B, T, H, P, G, N):
    a, kw = ssd_in(B, T, H, P, G, N)
    y, s = mamba_chunk_scan_combined(*a, chunk_size=256, return_final_states=True, **kw)
    bwd(y)


@case((1, 8192, 48, 64, 1, 128))
def ssd_gated_seqs(B, T, H, P, G, N):
    a, kw = ssd_in(B, T, H, P, G, N)
    seq = (torch.arange(T, device=DEV) // 1500).to(i32)[None].contiguous()
    bwd(mamba_chunk_scan_combined(*a, chunk_size=256, z=randn(B, T, H, P, grad=True), seq_idx=seq, **kw))


@case((1, 8192, 48, 64, 1, 128))
def ssd_varlen(B, T, H, P, G, N):
    a, kw = ssd_in(B, T, H, P, G, N)
    cu = tensor([0, 1500, 1600, 5000, 8192])
    seq = torch.repeat_interleave(torch.arange(4, device=DEV, dtype=i32), (cu[1:] - cu[:-1]).long())[None].contiguous()
    with torch.no_grad():
        mamba_chunk_scan_combined(*a, chunk_size=256, seq_idx=seq, cu_seqlens=cu, return_varlen_states=True,
                                  return_final_states=True, **kw)


@case((128, 80, 64, 128), (256, 32, 128, 64))
def step(B, H, P, N):
    A = -rand(H, lo=1, hi=16)[:, None, None].expand(H, P, N)
    selective_state_update(randn(B, H, P, N, dtype=f32), randn(B, H, P), randn(B, H)[..., None].expand(B, H, P), A,
                           randn(B, 1, N), randn(B, 1, N), D=randn(H, dtype=f32)[:, None].expand(H, P), z=randn(B, H, P),
                           dt_bias=rand(H, lo=-6.0, hi=-2.0)[:, None].expand(H, P), dt_softplus=True)


@case((64, 8192, 16))
def step_mamba1(B, D, N):
    selective_state_update(randn(B, D, N, dtype=f32), randn(B, D), randn(B, D), -rand(D, N, lo=1, hi=16), randn(B, N), randn(B, N),
                           D=randn(D, dtype=f32), z=randn(B, D), dt_bias=rand(D, lo=-6.0, hi=-2.0), dt_softplus=True)


@case((8192, 5120, None), (8192, 4096, 512))
def norm(M, D, group):
    bwd(rmsnorm_fn(randn(M, D, grad=True), randn(D, grad=True), None, z=randn(M, D, grad=True), group_size=group,
                   norm_before_gate=False))


@case((8192, 5632))
def swiglu(M, D):
    xy = randn(M, 2 * D)
    _swiglu_fwd(xy)
    _swiglu_bwd(xy, randn(M, D), recompute_output=True)

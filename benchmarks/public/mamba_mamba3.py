"""mamba-ssm 2.3.2.post1: Mamba-3 SISO forward/backward with rotary angles, single step, MIMO rotary and segment sums."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from mamba_ssm.ops.triton.mamba3.mamba3_mimo_rotary_step import apply_rotary_qk_inference_fwd
from mamba_ssm.ops.triton.mamba3.mamba3_mimo_utils import (bwd_dadt_fused_triton, bwd_dtrap_ddt_triton,
                                                           compute_dacs_segsum_triton)
from mamba_ssm.ops.triton.mamba3.mamba3_siso_combined import mamba3_siso_combined
from mamba_ssm.ops.triton.mamba3.mamba3_siso_step import mamba3_siso_step


@case((2, 4096, 32, 1, 128, 64), (1, 4096, 16, 1, 64, 64))
def siso(B, T, H, HQ, N, P):
    q, k = randn(B, T, HQ, N, grad=True), randn(B, T, HQ, N, grad=True)
    v, z = randn(B, T, H, P, grad=True), randn(B, T, H, P, grad=True)
    dt = F.softplus(torch.randn(B, H, T, device=DEV) - 4)
    adt = (-dt * rand(1, H, 1, lo=1.0, hi=8.0)).requires_grad_(True)
    dt.requires_grad_(True)
    trap = rand(B, H, T, dtype=bf16, grad=True)
    qb, kb = randn(H, N, dtype=f32, grad=True), randn(H, N, dtype=f32, grad=True)
    ang = rand(B, T, H, N // 4, grad=True)
    bwd(mamba3_siso_combined(q, k, v, adt, dt, trap, qb, kb, ang, D=randn(H, dtype=f32, grad=True), Z=z, chunk_size=64))


@case((128, 32, 1, 128, 64))
def step(B, H, HQ, N, P):
    dt = F.softplus(torch.randn(B, H, device=DEV) - 4)
    mamba3_siso_step(randn(B, HQ, N), randn(B, HQ, N), randn(B, H, P), -dt * 4, dt, rand(B, H, dtype=bf16), randn(H, N, dtype=f32),
                     randn(H, N, dtype=f32), rand(B, H, N // 4), D=randn(H, dtype=f32), Z=randn(B, H, P),
                     Input_States=(rand(B, H, N // 4), randn(B, H, P, N, dtype=f32), randn(B, H, N), randn(B, H, P)))


@case((256, 4, 32, 128))
def rotary(B, R, H, D):
    apply_rotary_qk_inference_fwd(randn(B, R, H, D), randn(B, R, H, D), rand(B, H, D // 4), rand(B, H, D // 4),
                                  rand(B, H), bias_q=randn(R, H, D, dtype=f32), bias_k=randn(R, H, D, dtype=f32))


@case((2, 32, 8192, 64))
def segsum(B, H, T, C):
    da = -rand(B, H, T, hi=0.1)
    compute_dacs_segsum_triton(da, C)
    n = T // C
    bwd_dadt_fused_triton(randn(B, H, n, C, C, dtype=f32), rand(B, H, n, C, C), randn(B, H, T, dtype=f32), randn(B, H, T, dtype=f32),
                          -rand(B, H, T), -rand(B, H, T), C)
    bwd_dtrap_ddt_triton(rand(B, H, T, dtype=bf16), rand(B, H, T), randn(B, H, T, dtype=f32), randn(B, H, T, dtype=f32), C)

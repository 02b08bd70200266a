"""flash-linear-attention (fla-core) 0.6.0: native sparse attention (compression, top-k selection, selected blocks), wall attention, Parallax."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.nsa import parallel_nsa
from fla.ops.parallax import parallel_parallax
from fla.ops.wall_attn import parallel_wall_attn


@case((1, 4096, 64, 4, 128), (1, 8192, 32, 2, 64))
def nsa(B, T, HQ, H, D):
    q = randn(B, T, HQ, D, grad=True)
    k, v = randn(B, T, H, D, grad=True), randn(B, T, H, D, grad=True)
    g1, g2 = (rand(B, T, HQ, dtype=bf16, grad=True) for _ in range(2))
    bwd(parallel_nsa(q, k, v, g_cmp=g1, g_slc=g2, block_counts=16, block_size=64))


@case((1, 4096, 16, 8, 64))
def parallax(B, T, HQ, H, D):
    q, r = randn(B, T, HQ, D, grad=True), randn(B, T, HQ, D, scale=0.1, grad=True)
    bwd(parallel_parallax(q, r, randn(B, T, H, D, grad=True), randn(B, T, H, D, grad=True)))


@case((1, 4096, 16, 8, 64))
def wall(B, T, HQ, H, D):
    g = (F.logsigmoid(torch.randn(B, T, HQ, D, device=DEV) + 4) / 8).requires_grad_(True)
    bwd(parallel_wall_attn(randn(B, T, HQ, D, grad=True), randn(B, T, H, D, grad=True), randn(B, T, H, D, grad=True), g))

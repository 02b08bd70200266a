"""adasplash 0.2.2: entmax attention (root finding in the kernel, block masks) and entmax along rows."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from adasplash import adasplash, adasplash_no_block_mask, adasplash_v2, triton_entmax_v1, triton_entmax_v2, triton_sparsemax


def qkv(B, H, T, D):
    return [randn(B, H, T, D, grad=True) for _ in range(3)]


@case((2, 16, 4096, 64), (1, 8, 4096, 128))
def v1(B, H, T, D):
    bwd(adasplash(*qkv(B, H, T, D), alpha=1.5, is_causal=True, niter=10))


@case((2, 16, 2048, 64))
def no_mask(B, H, T, D):
    bwd(adasplash_no_block_mask(*qkv(B, H, T, D), alpha=1.5, is_causal=False, niter=5))


@case((2, 16, 4096, 64))
def v2(B, H, T, D):
    bwd(adasplash_v2(*qkv(B, H, T, D), niter=2))


@case((8192, 1024), (2048, 32000))
def rows(M, N):
    bwd(triton_entmax_v2(randn(M, N, dtype=f32, grad=True), alpha=1.5))


@case((8192, 4096))
def rows_other(M, N):
    bwd(triton_entmax_v1(randn(M, N, dtype=f32, grad=True), alpha=1.333))
    bwd(triton_sparsemax(randn(M, N, dtype=f32, grad=True)))

"""flash-linear-attention (fla-core) 0.6.0: ttt, ttt_fused, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.ttt import chunk_ttt_linear, fused_chunk_ttt_linear



def ttt_in(B, T, H, D):
    q, k, v = (F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1).to(bf16).requires_grad_(True) for _ in range(3))
    w, b = ones(H, D, dtype=bf16).requires_grad_(True), zeros(H, D, dtype=bf16).requires_grad_(True)
    eta = rand(B, T, H, 1, hi=5e-3, dtype=bf16, grad=True)
    return q, k, v, w, b, eta

@case((2, 2048, 32, 64))
def ttt(B, T, H, D):
    bwd(chunk_ttt_linear(*ttt_in(B, T, H, D), chunk_size=16)[0])

@case((2, 2048, 32, 64))
def ttt_fused(B, T, H, D):
    bwd(fused_chunk_ttt_linear(*ttt_in(B, T, H, D), chunk_size=16)[0])

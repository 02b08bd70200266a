"""flash-linear-attention (fla-core) 0.6.0: comba, loglinear, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.comba import chunk_comba
from fla.ops.log_linear_attn import chunk_log_linear_attn


@case((2, 4096, 16, 128))
def comba(B, T, H, D):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    p = randn(B, T, H, D, grad=True)
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV)).requires_grad_(True)
    bwd(chunk_comba(q, k, v, p, g, rand(B, T, H, dtype=bf16, grad=True), use_qk_l2norm_in_kernel=True)[0])

@case((2, 4096, 8, 64))
def loglinear(B, T, H, D):
    q, k = randn(B, T, 1, 128, grad=True), randn(B, T, 1, 128, grad=True)
    v = randn(B, T, H, D, grad=True)
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV)).requires_grad_(True)
    lam = rand(B, T, H, 13, lo=0.1, hi=1.0, dtype=bf16, grad=True)
    bwd(chunk_log_linear_attn(q, k, v, g, lam)[0])

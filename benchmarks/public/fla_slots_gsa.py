"""flash-linear-attention (fla-core) 0.6.0: gsa, abc, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.abc import chunk_abc
from fla.ops.gsa import chunk_gsa


@case((2, 4096, 8, 128, 64))
def gsa(B, T, H, D, M):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    g = (F.logsigmoid(torch.randn(B, T, H, M, device=DEV)) / 16)
    s = (1 - g.exp()).to(bf16).requires_grad_(True)
    bwd(chunk_gsa(q, k, v, s, g.to(bf16).requires_grad_(True))[0])

@case((2, 4096, 8, 128, 64))
def abc(B, T, H, D, M):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    bwd(chunk_abc(q, k, v, rand(B, T, H, M, dtype=bf16, grad=True))[0])

"""flash-linear-attention (fla-core) 0.6.0: path, mesa, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.mesa_net import chunk_mesa_net
from fla.ops.path_attn import parallel_path_attn


@case((1, 4096, 16, 4, 64))
def path(B, T, HQ, H, D):
    q = randn(B, T, HQ, D, grad=True)
    k, v = randn(B, T, H, D, grad=True), randn(B, T, H, D, grad=True)
    w = F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1).requires_grad_(True)
    beta = rand(B, T, H, hi=2.0, grad=True)
    g = F.logsigmoid(torch.randn(B, T, HQ, device=DEV) + 3).requires_grad_(True)
    bwd(parallel_path_attn(q, k, v, w, beta, g)[0])

@case((1, 4096, 16, 128))
def mesa(B, T, H, D):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV) + 2).requires_grad_(True)
    bwd(chunk_mesa_net(q, k, v, g, rand(B, T, H, grad=True), rand(H, D, lo=0.25, hi=1.0, grad=True), use_qk_l2norm_in_kernel=True,
                       max_CG_iteration=15)[0])

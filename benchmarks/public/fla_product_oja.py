"""flash-linear-attention (fla-core) 0.6.0: product, iplr, oja, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.gated_delta_product import chunk_gated_delta_product
from fla.ops.gated_oja_rule import chunk_gated_oja_rule
from fla.ops.generalized_delta_rule import chunk_iplr_delta_rule


@case((1, 4096, 8, 128, 2))
def product(B, T, H, D, n):
    q = randn(B, T, H, D, grad=True)
    k, v = randn(B, T * n, H, D, grad=True), randn(B, T * n, H, D, grad=True)
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV)).requires_grad_(True)
    bwd(chunk_gated_delta_product(q, k, v, g, rand(B, T * n, H, dtype=bf16, grad=True), num_householder=n,
                                  use_qk_l2norm_in_kernel=True)[0])

@case((2, 4096, 16, 64))
def iplr(B, T, H, D):
    q, k, v = (randn(B, T, H, D) for _ in range(3))
    a = F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1)
    b = -a * torch.rand(B, T, H, 1, device=DEV)
    chunk_iplr_delta_rule(q, k, v, a.to(bf16), b.to(bf16))

@case((2, 4096, 16, 128))
def oja(B, T, H, D):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    gv = F.logsigmoid(torch.randn(B, T, H, D, device=DEV)).requires_grad_(True)
    bwd(chunk_gated_oja_rule(q, k, v, gv, rand(B, T, H, dtype=bf16, grad=True), use_q_l2norm=True, use_k_l2norm=True)[0])

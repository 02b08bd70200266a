"""flash-linear-attention (fla-core) 0.6.0: RWKV-6 chunks, RWKV-4 recurrence, HGRN chunk and recurrent scans."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.hgrn import chunk_hgrn, fused_recurrent_hgrn
from fla.ops.rwkv4 import fused_recurrent_rwkv4
from fla.ops.rwkv6 import chunk_rwkv6


@case((2, 4096, 32, 64))
def rwkv6(B, T, H, D):
    r, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    w = F.logsigmoid(torch.randn(B, T, H, D, device=DEV)).to(bf16).requires_grad_(True)
    u = randn(H, D, scale=0.3, grad=True)
    o, _ = chunk_rwkv6(r, k, v, w, u, output_final_state=True)
    bwd(o)


@case((8, 512, 2048))
def rwkv4(B, T, C):
    w = -torch.exp(torch.randn(C, device=DEV) * 0.5)
    w.requires_grad_(True)
    u = randn(C, dtype=f32, grad=True)
    k, v = randn(B, T, C, dtype=f32, grad=True), randn(B, T, C, dtype=f32, grad=True)
    st = torch.zeros(B, 3, 1, C, device=DEV)
    st[:, 2] = -1e30
    o, _ = fused_recurrent_rwkv4(w, u, k, v, st)
    bwd(o)


@case((4, 4096, 2048))
def hgrn(B, T, D):
    x = randn(B, T, D, grad=True)
    g = F.logsigmoid(torch.randn(B, T, D, device=DEV)).to(bf16).requires_grad_(True)
    bwd(chunk_hgrn(x, g)[0])


@case((8, 1024, 2048))
def hgrn_recurrent(B, T, D):
    x = randn(B, T, D, grad=True)
    g = F.logsigmoid(torch.randn(B, T, D, device=DEV)).to(bf16).requires_grad_(True)
    bwd(fused_recurrent_hgrn(x, g, output_final_state=True)[0])

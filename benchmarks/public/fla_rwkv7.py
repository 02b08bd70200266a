"""flash-linear-attention (fla-core) 0.6.0: RWKV-7 (dplr delta rule chunks, fused addcmul, k update, recurrent)."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.rwkv7 import chunk_rwkv7, fused_mul_recurrent_rwkv7
from fla.ops.rwkv7.channel_mixing import channel_mixing_rwkv7
from fla.ops.rwkv7.fused_addcmul import fused_addcmul_rwkv7
from fla.ops.rwkv7.fused_k_update import fused_k_rwkv7


@case((2, 4096, 32, 64))
def chunk(B, T, H, D):
    r, k, v = (randn(B, T, H, D, scale=0.5, grad=True) for _ in range(3))
    w = (-0.6065306597633104 * torch.sigmoid(torch.randn(B, T, H, D, device=DEV))).to(bf16).requires_grad_(True)
    kk = F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1)
    lr = torch.sigmoid(torch.randn(B, T, H, D, device=DEV))
    a = (-kk).to(bf16).requires_grad_(True)
    b = (kk * lr).to(bf16).requires_grad_(True)
    o, _ = chunk_rwkv7(r, w, k, v, a, b, output_final_state=True)
    bwd(o)


@case((2, 4096, 2560))
def addcmul(B, T, C):
    x, d = randn(B, T, C, grad=True), randn(B, T, C, grad=True)
    ws = [rand(1, 1, C, dtype=bf16, grad=True) for _ in range(6)]
    bwd(fused_addcmul_rwkv7(x, d, *ws))


@case((2, 4096, 2560))
def kupdate(B, T, C):
    bwd(fused_k_rwkv7(randn(B, T, C, grad=True), rand(B, T, C, dtype=bf16, grad=True), rand(1, 1, C, dtype=bf16, grad=True)))


@case((2, 2048, 2048))
def chmix(B, T, C):
    out = channel_mixing_rwkv7(randn(B, T, C, grad=True), randn(B, C, grad=True), rand(C, dtype=bf16, grad=True),
                               randn(C, 4 * C, scale=0.02, grad=True), randn(4 * C, C, scale=0.02, grad=True))
    bwd(out[0])


@case((32, 16, 32, 64))
def recurrent(B, T, H, D):
    r, k, v = (randn(B, T, H, D, scale=0.5) for _ in range(3))
    w = (-0.6 * torch.sigmoid(torch.randn(B, T, H, D, device=DEV))).to(bf16)
    kk = F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1).to(bf16)
    fused_mul_recurrent_rwkv7(r, w, k, v, kk, rand(B, T, H, D, dtype=bf16), initial_state=randn(B, H, D, D, dtype=f32, scale=0.1),
                              output_final_state=True)

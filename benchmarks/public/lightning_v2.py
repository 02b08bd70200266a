"""lightning-attn 0.0.5: lightning attention 2 with and without decay, simple RMS norm."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from lightning_attn.ops import lightning_attn_func
from lightning_attn.ops.triton import lightning_attn2_no_decay
from lightning_attn.ops.triton.srmsnorm import SimpleRMSNorm


@case((2, 16, 4096, 128, 128), (4, 12, 2048, 64, 64))
def decay(B, H, T, D, E):
    s = (2.0 ** (-8.0 * torch.arange(1, H + 1, device=DEV) / H)).reshape(H, 1, 1).to(f32)
    bwd(lightning_attn_func(randn(B, H, T, D, scale=0.1, grad=True), randn(B, H, T, D, scale=0.1, grad=True),
                            randn(B, H, T, E, scale=0.1, grad=True), s))


@case((2, 16, 4096, 128, 128))
def no_decay(B, H, T, D, E):
    bwd(lightning_attn2_no_decay(randn(B, H, T, D, scale=0.1, grad=True), randn(B, H, T, D, scale=0.1, grad=True),
                                 randn(B, H, T, E, scale=0.1, grad=True)))


@case((8192, 4096))
def norm(M, D):
    bwd(SimpleRMSNorm(D)(randn(M, D, grad=True)))

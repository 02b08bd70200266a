"""flashattention2-custom-mask 0.1.1 and flash-dmattn 1.2.2: attention with a mask tensor, and with mask and bias that skip blocks."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from fa2_custom_mask import flash_attention_custom_mask
from flash_dmattn.flash_dmattn_triton import triton_dmattn_func


@case((2, 16, 2048, 64), (1, 16, 4096, 128))
def custom(B, H, T, D):
    m = torch.rand(B, 1, T, T, device=DEV) < 0.9
    m |= torch.eye(T, device=DEV, dtype=torch.bool)
    bwd(flash_attention_custom_mask(*(randn(B, H, T, D, dtype=f16, grad=True) for _ in range(3)), m.expand(B, H, T, T), D ** -0.5))


@case((2, 16, 2048, 64))
def no_mask(B, H, T, D):
    bwd(flash_attention_custom_mask(*(randn(B, H, T, D, dtype=f16, grad=True) for _ in range(3)), None, D ** -0.5))


@case((1, 2048, 16, 16, 128, True), (2, 2048, 16, 16, 64, False))
def dmattn(B, T, H, HK, D, causal):
    q = randn(B, T, H, D, grad=True)
    k, v = randn(B, T, HK, D, grad=True), randn(B, T, HK, D, grad=True)
    keep = (torch.rand(B, H, 1, T, device=DEV) < 0.3).expand(B, H, T, T).clone()
    keep |= torch.eye(T, device=DEV, dtype=torch.bool)
    bwd(triton_dmattn_func(q, k, v, keep.to(bf16), randn(B, H, T, T, grad=True), causal))

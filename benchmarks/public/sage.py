"""sageattention 1.0.6: INT8 QK attention (quantise per block, causal, varlen, head size 96)."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from sageattention import sageattn, sageattn_varlen


@case((2, 32, 4096, 128, True), (2, 24, 4096, 64, False), (1, 16, 4096, 96, False), (1, 16, 4096, 96, True), (2, 30, 17776 // 4, 64, False))
def attn(B, H, T, D, causal):
    q, k, v = (randn(B, H, T, D, dtype=f16) for _ in range(3))
    sageattn(q, k, v, is_causal=causal)


@case((1, 4096, 32, 8, 128))
def gqa(B, T, H, HK, D):
    sageattn(randn(B, T, H, D), randn(B, T, HK, D), randn(B, T, HK, D), tensor_layout="NHD", is_causal=True)


@case((False,), (True,))
def varlen(causal):
    cu = tensor([0, 1000, 3000, 3512, 8192])
    q, k, v = (randn(8192, 16, 128, dtype=f16) for _ in range(3))
    sageattn_varlen(q, k, v, cu, cu, 4680, 4680, is_causal=causal)

"""triton-sigmoid 0.1.2 (sigmoid attention, dense and padded) and flash-colsum 0.1.0 (column means of attention)."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from flash_colsum import flash_colsum
from triton_sigmoid import sigmoid_attention, sigmoid_attention_padded


@case((2, 4096, 16, 128, True), (4, 2048, 16, 64, False))
def dense(B, T, H, D, causal):
    bwd(sigmoid_attention(*(randn(B, T, H, D, grad=True) for _ in range(3)), is_causal=causal))


@case((4, 2048, 16, 64))
def padded(B, T, H, D):
    lens = tensor([2048, 1500, 777, 1024])[:B]
    bwd(sigmoid_attention_padded(*(randn(B, T, H, D, grad=True) for _ in range(3)), seq_lens_k=lens, seq_lens_q=lens))


@case((1, 16, 4096, 64), (32, 12, 1024, 64))
def colsum(B, H, T, D):
    flash_colsum(randn(B, H, T, D, dtype=f16), randn(B, H, T, D, dtype=f16))


@case((1, 32, 64, 8192, 128))
def colsum_causal(B, H, Q, K, D):
    flash_colsum(randn(B, H, Q, D, dtype=f16), randn(B, H, K, D, dtype=f16), is_causal=True)

"""superlinear 0.1.0: sliding window attention by cache positions (GQA), dense and by token, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from superlinear.kernels.superlinear.attention._sliding_window import sliding_window_attention_triton_gqa


@case((1, 32, 8, 4096, 128, 31), (1, 16, 4, 8192, 64, 44))
def window(B, H, HK, T, D, sw):
    sliding_window_attention_triton_gqa(randn(B, H, T, D), randn(B, HK, T, D), randn(B, HK, T, D),
                                        cache_position=torch.arange(T, device=DEV), sw_index=sw)


@case((1, 16, 4, 2048, 128))
def by_token(B, H, HK, T, D):
    pos = torch.arange(T, device=DEV) * 2
    bwd(sliding_window_attention_triton_gqa(randn(B, H, T, D, grad=True), randn(B, HK, T, D, grad=True), randn(B, HK, T, D, grad=True),
                                            cache_position=pos, key_cache_position=pos, sw_index=31))

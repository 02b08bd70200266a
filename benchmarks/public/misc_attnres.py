"""flash-attn-res 0.1.12: attention over residual blocks in two phases, forward/backward."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from flash_attn_res import phase_1_batched_attention_triton_op, phase_2_online_softmax_merge_triton_op


@case((8, 4, 1, 4096, 2048), (4, 8, 1, 4096, 4096))
def both(N, S, B, T, D):
    blocks, q = randn(N, B, T, D, grad=True), randn(S, D, scale=0.02, grad=True)
    o, lse = phase_1_batched_attention_triton_op(blocks, q, 1e-6)
    bwd((o, lse))
    part = randn(B, T, D, grad=True)
    m = phase_2_online_softmax_merge_triton_op(part, randn(D, scale=0.02, grad=True), randn(B, T, D, grad=True),
                                               randn(B, T, dtype=f32, grad=True), 1e-6)
    bwd(m)

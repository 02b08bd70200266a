"""flash-linear-attention (fla-core) 0.6.0: delta rule and gated delta rule (WY form, triangular inverse), forward/backward and decode."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.delta_rule import chunk_delta_rule
from fla.ops.gated_delta_rule import chunk_gated_delta_rule, fused_recurrent_gated_delta_rule


@case((2, 4096, 16, 128))
def delta(B, T, H, D):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    beta = rand(B, T, H, dtype=bf16, grad=True)
    o, _ = chunk_delta_rule(q, k, v, beta, use_qk_l2norm_in_kernel=True)
    bwd(o)


@case((1, 8192, 16, 128, 128), (4, 2048, 6, 256, 512))
def gated(B, T, H, K, V):
    q, k = (randn(B, T, H, K, grad=True) for _ in range(2))
    v = randn(B, T, H, V, grad=True)
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV)).requires_grad_(True)
    beta = rand(B, T, H, dtype=bf16, grad=True)
    o, _ = chunk_gated_delta_rule(q, k, v, g, beta, use_qk_l2norm_in_kernel=True)
    bwd(o)


@case((64, 1, 32, 128))
def decode(B, T, H, D):
    q, k, v = (randn(B, T, H, D) for _ in range(3))
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV))
    fused_recurrent_gated_delta_rule(q, k, v, g=g, beta=rand(B, T, H, dtype=bf16),
                                     initial_state=randn(B, H, D, D, dtype=f32), output_final_state=True,
                                     use_qk_l2norm_in_kernel=True)

"""flash-linear-attention (fla-core) 0.6.0: Kimi delta attention with the gate inside the kernel."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.kda import chunk_kda, fused_recurrent_kda


@case((1, 8192, 16, 128), (4, 2048, 8, 64))
def kda(B, T, H, D):
    q, k, v = (randn(B, T, H, D, grad=True) for _ in range(3))
    g = randn(B, T, H, D, grad=True)
    beta = rand(B, T, H, dtype=bf16, grad=True)
    A_log = rand(H, lo=0.0, hi=2.5, grad=True)
    dt_bias = rand(H * D, lo=-4.0, hi=-2.0, grad=True)
    o, _ = chunk_kda(q, k, v, g, beta, A_log=A_log, dt_bias=dt_bias, use_qk_l2norm_in_kernel=True, use_gate_in_kernel=True)
    bwd(o)


@case((64, 1, 32, 128))
def decode(B, T, H, D):
    q, k, v = (randn(B, T, H, D) for _ in range(3))
    g = F.logsigmoid(torch.randn(B, T, H, D, device=DEV))
    fused_recurrent_kda(q, k, v, g, rand(B, T, H, dtype=bf16), initial_state=randn(B, H, D, D, dtype=f32),
                        output_final_state=True, use_qk_l2norm_in_kernel=True)

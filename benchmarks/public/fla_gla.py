"""flash-linear-attention (fla-core) 0.6.0: gated linear attention, chunked forward/backward and recurrent decode."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.gla import chunk_gla, fused_recurrent_gla


def qkvg(B, T, H, K, V):
    q, k = (randn(B, T, H, K, grad=True) for _ in range(2))
    v = randn(B, T, H, V, grad=True)
    g = (F.logsigmoid(torch.randn(B, T, H, K, device=DEV)) / 16).to(bf16).requires_grad_(True)
    return q, k, v, g


@case((1, 8192, 16, 128, 128), (4, 2048, 4, 256, 512))
def chunk(B, T, H, K, V):
    o, s = chunk_gla(*qkvg(B, T, H, K, V), output_final_state=True)
    bwd(o)


@case((64, 1, 32, 128, 128))
def decode(B, T, H, K, V):
    q, k, v, g = (x.detach() for x in qkvg(B, T, H, K, V))
    h0 = randn(B, H, K, V, dtype=f32)
    fused_recurrent_gla(q, k, v, gk=g, initial_state=h0, output_final_state=True)

"""vsa 0.0.4: video sparse attention (blocks of 64 of varying fill, chosen by a block map), forward/backward and the map kernels."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
import types
pkg = types.ModuleType("vsa")   # its __init__ wants the CUDA extension on Hopper
pkg.__path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site", "vsa")]
sys.modules["vsa"] = pkg
from vsa.block_sparse_attn_triton import triton_block_sparse_attn_backward, triton_block_sparse_attn_forward
from vsa.index import map_to_index


@case((1, 12, 16384, 128, 32), (2, 16, 8192, 64, 24))
def video(B, H, T, D, k):
    n = T // 64
    top = torch.rand(B, H, n, n, device=DEV).topk(k, dim=-1).indices
    m = torch.zeros(B, H, n, n, dtype=torch.bool, device=DEV).scatter_(-1, top, True)
    map_to_index(m)
    # what the two kernels compute, from torch, so that bad indices of one compiler cannot spoil the attention
    def index(m):
        o = torch.argsort(m.to(torch.int8), dim=-1, descending=True, stable=True).to(i32)
        return o.contiguous(), m.sum(-1).to(i32).contiguous()
    qi, qn = index(m)
    ki, kn = index(m.transpose(-1, -2).contiguous())
    sizes = randint(32, 65, n, dtype=i32)
    q, kk, v = (randn(B, H, T, D) for _ in range(3))
    o, M = triton_block_sparse_attn_forward(q, kk, v, qi, qn, sizes)
    triton_block_sparse_attn_backward(randn(B, H, T, D), q, kk, v, o, M, qi, qn, ki, kn, sizes)

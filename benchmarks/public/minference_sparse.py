"""minference 0.1.6: vertical-slash, block-sparse, streaming (A-shape) and FlexPrefill attention forms."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from minference.modules.flexprefill import flex_prefill_attention, triton_block_wise_attention, triton_bnhd_pool
from minference.ops.block_sparse_flash_attention import block_sparse_attention
from minference.ops.flash_attn_triton import _flash_attn_triton_decoding
from minference.ops.pit_sparse_flash_attention_v2 import vertical_slash_sparse_attention
from minference.ops.streaming_kernel import streaming_forward


@case((1, 32, 8192, 128, 1000, 200), (1, 16, 4096, 64, 256, 64))
def vertical_slash(B, H, T, D, nv, ns):
    q, k, v = (randn(B, H, T, D) for _ in range(3))
    vi = torch.stack([torch.randperm(T, device=DEV)[:nv] for _ in range(B * H)]).view(B, H, nv)
    near = torch.arange(64, device=DEV).expand(B * H, 64)
    si = torch.cat([near[:, :ns // 2], torch.stack([64 + torch.randperm(T - 64, device=DEV)[:ns - ns // 2 if ns < 128 else ns - 64]
                                                    for _ in range(B * H)])], -1).view(B, H, -1)
    vertical_slash_sparse_attention(q, k, v, vi, si)


@case((1, 32, 8192, 128, 32))
def block_sparse(B, H, T, D, k):
    block_sparse_attention(randn(B, H, T, D), randn(B, H, T, D), randn(B, H, T, D), k)


@case((1, 32, 8192, 128, 128, 1024))
def streaming(B, H, T, D, n_init, n_local):
    streaming_forward(randn(B, H, T, D), randn(B, H, T, D), randn(B, H, T, D), n_init, n_local)


@case((8, 4096, 32, 128))
def decode(B, T, H, D):
    _flash_attn_triton_decoding(randn(B, 1, H, D), randn(B, T, H, D), randn(B, T, H, D))


@case((1, 8192, 8, 2, 128))
def flex(B, T, H, HK, D):
    triton_bnhd_pool(randn(B, T, H, D), 128)
    flex_prefill_attention(randn(B, T, H, D), randn(B, T, HK, D), randn(B, T, HK, D), gamma=0.9, tau=0.1, min_budget=1024)


@case((1, 8192, 16, 4, 128, 128))
def block_wise(B, T, H, HK, D, S):
    n = T // S
    keep = torch.rand(n, n, device=DEV).lt(0.25).tril() | torch.eye(n, device=DEV, dtype=torch.bool)
    keep[:, 0] = True
    i, j = keep.nonzero(as_tuple=True)
    idx = (i * n + j).to(i64)[None, None].expand(B, H, -1).contiguous()
    triton_block_wise_attention(randn(B, T, H, D), randn(B, T, HK, D), randn(B, T, HK, D), idx, S)

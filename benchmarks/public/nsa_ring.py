"""native-sparse-attention-pytorch 0.2.3 and ring-attention-pytorch 0.5.20: block-sparse attention and ring steps with saved sums."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
import importlib.metadata as md

have = md.version
md.version = lambda name: "3.6.0" if name == "triton-nightly" else have(name)   # both packages ask for the nightly's name
sys.modules.setdefault("einx", type(sys)("einx"))                                # imported, unused
from native_sparse_attention_pytorch.triton_native_sparse_attention import native_sparse_attend
import math
import ring_attention_pytorch.triton_flash_attn as rfa
rfa.math = math   # the module uses it without importing it
from ring_attention_pytorch.triton_flash_attn import flash_attn_backward, flash_attn_forward


@case((1, 16, 4, 4096, 64, 64, 8), (2, 8, 2, 2048, 128, 32, 4))
def nsa(B, H, HK, T, D, block, sel):
    q = randn(B, H, T, D, dtype=f16, grad=True)
    k, v = randn(B, HK, T, D, dtype=f16, grad=True), randn(B, HK, T, D, dtype=f16, grad=True)
    own = torch.arange(T, device=DEV) // block
    idx = (torch.rand(B, HK, T, sel, device=DEV) * own[:, None]).long()
    mask = (idx < own[:, None]) & (torch.rand(B, HK, T, sel, device=DEV) < 0.9)
    scale = ones(B, HK, T, sel, dtype=f16).requires_grad_(True)
    bwd(native_sparse_attend(q, k, v, block, idx, mask, sel_scale=scale))


@case((2, 4096, 16, 128, True), (4, 2048, 16, 64, False))
def ring(B, T, H, D, causal):
    q, k, v = (randn(B, T, H, D, dtype=f16) for _ in range(3))
    o, m, lse = flash_attn_forward(q, k, v, causal=causal, return_normalized_output=False, load_accumulated=False)
    flash_attn_forward(q, randn(B, T, H, D, dtype=f16), randn(B, T, H, D, dtype=f16), o=o, m=m, lse=lse, causal=False,
                       return_normalized_output=True, load_accumulated=True, softclamp_qk_sim=True)
    # plain sums for the backward, from torch, so that its inputs do not depend on which compiler ran the forward
    s = torch.einsum("bihd,bjhd->bhij", q[:1].float(), k[:1].float()) * D ** -0.5
    if causal:
        s = s.masked_fill(torch.ones(T, T, device=DEV, dtype=torch.bool).triu(1), float("-inf"))
    lse = s.logsumexp(-1).contiguous()
    o = torch.einsum("bhij,bjhd->bihd", s.softmax(-1), v[:1].float()).to(f16)
    dq, dk, dv = (torch.zeros(1, T, H, D, device=DEV, dtype=f32) for _ in range(3))
    flash_attn_backward(randn(1, T, H, D, dtype=f16), q[:1], k[:1], v[:1], o, lse, dq, dk, dv, causal=causal)

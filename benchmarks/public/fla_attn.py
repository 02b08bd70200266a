"""flash-linear-attention (fla-core) 0.6.0: softmax attention (GQA, window, sink), forgetting attention, decode, DeltaFormer."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.attn import parallel_attn
from fla.ops.attn.decoding import attn_decoding_one_step
import fla.ops.deltaformer.parallel as dfp
from fla.ops.deltaformer import deltaformer_attn
from fla.ops.forgetting_attn import parallel_forgetting_attn
from fla.ops.stickbreaking_attn import parallel_stickbreaking_attn


@case((1, 4096, 32, 8, 128), (4, 2048, 16, 16, 64))
def attn(B, T, HQ, H, D):
    bwd(parallel_attn(randn(B, T, HQ, D, grad=True), randn(B, T, H, D, grad=True), randn(B, T, H, D, grad=True)))


@case((1, 8192, 32, 8, 128))
def attn_window(B, T, HQ, H, D):
    bwd(parallel_attn(randn(B, T, HQ, D, grad=True), randn(B, T, H, D, grad=True), randn(B, T, H, D, grad=True),
                      window_size=1024, sink_bias=randn(HQ, dtype=f32, grad=True)))


@case((2, 4096, 16, 128))
def forget(B, T, H, D):
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV) + 3).requires_grad_(True)
    bwd(parallel_forgetting_attn(*(randn(B, T, H, D, grad=True) for _ in range(3)), g=g))


@case((32, 4096, 32, 8, 128))
def decode(N, T, HQ, H, D):
    cu = torch.arange(0, N + 1, device=DEV, dtype=i32) * T
    attn_decoding_one_step(randn(1, N, HQ, D), randn(1, N * T, H, D), randn(1, N * T, H, D), cu_seqlens=cu)


@case((1, 2048, 16, 64))
def stickbreaking(B, T, H, D):
    bwd(parallel_stickbreaking_attn(*(randn(B, T, H, D, grad=True) for _ in range(3)))[0])


@case((1, 4096, 8, 64))
def deltaformer(B, T, H, D):
    # its last step is plain attention by the compiled flash-attn
    dfp.flash_attn_func = lambda q, k, v, causal=True, **k_: F.scaled_dot_product_attention(
        q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=causal).transpose(1, 2)
    bwd(deltaformer_attn(*(randn(B, T, H, D, grad=True) for _ in range(3)), beta=rand(B, T, H, dtype=bf16, grad=True)))

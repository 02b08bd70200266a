"""flash-mlm 1.2.3, jvp-flash-attention 0.14.0, ebt-flash-attention 0.2.0: attention through tensor descriptors, forward-mode derivatives."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from ebt_flash_attention.ebt_attention import EBTAttn
from flash_mlm import InferenceCache, flash_attn_mlm
from jvp_flash_attention.jvp_attention import JVPAttn


@case((4, 16, 2048, 64), (2, 16, 4096, 128))
def mlm_cached(B, H, T, D):
    c = InferenceCache()
    flash_attn_mlm(randn(B, H, T, D), randn(B, H, T, D), randn(B, H, T, D), D ** -0.5, inference_cache=c, layer_id=0, prefill=True)
    flash_attn_mlm(randn(B, H, 256, D), randn(B, H, 256, D), randn(B, H, 256, D), D ** -0.5, inference_cache=c, layer_id=0)


@case((2, 16, 2048, 64, True, True), (2, 16, 2048, 64, False, False))
def jvp(B, H, T, D, causal, tma):
    q, k, v = (randn(B, H, T, D, dtype=f16, grad=True) for _ in range(3))
    bwd(JVPAttn.fwd(q, k, v, causal=causal, USE_TMA=tma, warp_specialize=False))
    q, k, v, qt, kt, vt = (randn(B, H, T, D, dtype=f16) for _ in range(6))
    JVPAttn.forward(q, k, v, qt, kt, vt, None, 0.0, causal, None, False, tma, False)


@case((2, 16, 2048, 64, True), (2, 16, 2048, 64, False))
def ebt(B, H, T, D, tma):
    a = [randn(B, H, T, D, dtype=f16, grad=True) for _ in range(6)]
    bwd(EBTAttn.fwd(*a, causal=True, warp_specialize=False, USE_TMA=tma))

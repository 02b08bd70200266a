"""vllm 0.33.0: embedding+norm, QK norm with RoPE and gate, M-RoPE variants, packed RoPE, MiniMax QK norm, gated activations, image input norm."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import types
from vllm.kernels.triton.activation import _gelu_and_mul_sparse_triton_op
from vllm.model_executor.kernels.mhc import triton as mhc
from vllm.model_executor.layers import activation as act, fused_embed_norm as fe, sparse_attn_indexer as si
from vllm.model_executor.layers.fused_qk_norm_rope import fused_qk_rmsnorm_rope_gate
from vllm.model_executor.layers.fusion import mm_input_norm as mi, relu2_fp8_quant as r2
from vllm.model_executor.layers.minimax_rms_norm import rms_norm_tp as mm
from vllm.model_executor.layers.rotary_embedding import bailing_mrope as bm, mrope as mr, packed_qk_rope as pk
from vllm.model_executor.layers.rotary_embedding.mrope_vit_setup import VitMropeSetup
from vllm.models.common.ops import fused_qk_rmsnorm as qk


def cache(n, d, dtype=f32):
    a = torch.arange(n, device=DEV, dtype=f32)[:, None] * (10000 ** (-torch.arange(d // 2, device=DEV, dtype=f32) / (d // 2)))
    return torch.cat([a.cos(), a.sin()], -1).to(dtype)


@case((8192, 32000, 4096), (4096, 128256, 2048))
def embed(n, v, h):
    ids, t = randint(0, v, n), randn(v, h)
    fe.fused_embed_norm(ids, t, randn(h), 1e-6)
    fe.fused_embed_norm(ids, t)
    fe.fused_embed_eh_norm(torch.arange(n, device=DEV), ids, t, randn(n, h), randn(h), randn(h), 1e-6)


@case((8192, 16, 2, 256, 64, False), (4096, 32, 4, 128, 128, False), (4096, 16, 2, 256, 64, True))
def qk_gate(n, h, hk, d, rd, m):
    pos = torch.arange(n, device=DEV)
    fused_qk_rmsnorm_rope_gate(randn(n, h * 2 * d), randn(n, hk * d), randn(d), randn(d), cache(n, rd, bf16), pos.repeat(3, 1) if m else pos,
                               1e-6, h, hk, d, rd, [12, 10, 10] if m else None)


@case((8192, 28, 4, 128, [16, 24, 24], False), (8192, 32, 8, 128, [24, 20, 20], True))
def mrope(n, h, hk, d, sec, inter):
    c = cache(n, d, bf16)
    cos, sin = [x.repeat(3, 1, 1) for x in c.chunk(2, -1)]
    mr.triton_mrope(randn(n, h * d), randn(n, hk * d), cos, sin, sec, d, d, inter, True)


@case((8192, 32, 4, 128, 64))
def bailing(n, h, hk, d, rd):
    bm.triton_bailing_mrope(randn(n, h * d), randn(n, hk * d), torch.arange(n, device=DEV).repeat(3, 1), cache(n, rd), 12, d, rd)


@case(([[1, 128, 128], [4, 64, 64], [2, 96, 64]], 2))
def vit_setup(grid, m):
    f = 10000 ** (-torch.arange(16, device=DEV, dtype=f32) / 16)
    VitMropeSetup().forward(f, f, f, grid, m)


@case((8192, 16, 80), (16384, 16, 64))
def packed_rope(n, h, d):
    c = cache(n, d)
    pk.packed_qk_rope_(randn(n, 3, h, d), torch.complex(c[:, :d // 2].contiguous(), c[:, d // 2:].contiguous()))


@case((8192, 48, 8, 128))
def minimax_qk(n, h, hk, d):
    mm._all_reduce_variance = lambda v: v
    mm._minimax_qk_norm_tp_fallback(randn(n, (h + 2 * hk) * d), randn(h * d), randn(hk * d), h * d, hk * d, 0, 1, 1e-6)


@case((8192, 1536, 512), (4096, 2048, 512))
def q_kv_norm(n, q, kv):
    qk.fused_q_kv_rmsnorm(randn(n, q), randn(n, kv), randn(q), randn(kv), 1e-6)


@case((8192, 11008), (4096, 16384))
def gated(n, h):
    act.swiglustep_and_mul_triton(zeros(n, h), randn(n, 2 * h))
    _gelu_and_mul_sparse_triton_op(randn(n, 2 * h), 1.645)
    r2.relu_squared_static_fp8_quant(randn(n, h), types.SimpleNamespace(input_scale=rand(1, lo=0.5)))


@case((64, 3, 1024 * 1024 // 16), (8, 3, 1344 * 1344))
def image_norm(n, c, l):
    mi.fused_mm_input_norm_triton(randint(0, 256, n, c, l, dtype=torch.uint8), zeros(n, c, l), rand(3), rand(3))


@case((4096, 64))
def indexer(n, h):
    si.fused_indexer_q_rope_quant(torch.arange(n, device=DEV), randn(n, h, 128), cache(n, 64), randn(n, h), 0.1, 0.1, True)
    si.as_fp32_logits(randn(1024, 16384), randint(1, 16384, 1024, dtype=i32))


@case((8192, 4, 4096))
def hyper(n, m, h):
    mhc.rmsnorm_nw(randn(n, m * h), 1e-6)
    mhc.hc_collapse_triton(randn(n, m, h), rand(n, m))
    mhc.mhc_pre_mix_triton(randn(4, n, m * (2 + m), dtype=f32), rand(4, n, lo=100.0, hi=1000.0), rand(3), randn(m * (2 + m), dtype=f32), m, m * h, 1e-6, 1e-6)

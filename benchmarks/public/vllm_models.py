"""vllm 0.33.0: norms, gates, hyper-connections, routing and conv steps of newer models (Qwen4, Hunyuan V4, Muse, Beam, Inkling, Flint, GLM5-next, DeepSeek V3.2)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.models.beam.nvidia import activation as ba, attention_ops as bo, layernorm as bl
from vllm.models.deepseek_v32.common import kernels as dk
from vllm.models.flint.ops import moe as fm, norm as fn, qk_norm_rope as fq
from vllm.models.glm5next.nvidia.ops import kpool_compress as kp, fused_eh_norm as ge
from vllm.models.hy_v4.nvidia import triton_ihc as ihc
from vllm.models.inkling.nvidia.ops import mm_towers as mt, norm as inorm, silu_and_mul as isl
from vllm.models.muse_spark.common.ops import fused_finalize as mf, fused_rmsnorm as mr, fused_routing as mo
from vllm.models.qwen4_exp.common.ops import ple
from vllm.models.qwen4_exp.nvidia.ops import hc
from vllm.models.step5.nvidia.ops.mtp_norm import norm_concat


def cache(n, d):
    a = torch.arange(n, device=DEV, dtype=f32)[:, None] * (10000 ** (-torch.arange(d // 2, device=DEV, dtype=f32) / (d // 2)))
    return torch.cat([a.cos(), a.sin()], -1)


@case((4096, 4, 4096), (8192, 4, 2048))
def qwen4_hc(n, m, d):
    x = randn(n, m * d)
    hc.grouped_gemma_rmsnorm(x, randn(d), 1e-6, m)
    hc.hc_silu(x, m)
    hc.hc_gate_mix(x, randn(n, m * d), m)
    hc.hc_combine(x, randn(n, d), randn(n, m), m)
    hc.hc_combine_norm(x, randn(n, d), randn(n, m), randn(d), 1e-6, m)


@case((4096, 4, 4096))
def qwen4_ple(n, m, d):
    ple.ple_gate(randn(n, m * d), randn(n, d), randn(n, m * d), randn(d), randn(d), randn(d), 1e-6)


@case((8192, 4096, 4, 1))
def qwen4_conv(n, c, k, dil):
    b = 4
    q = torch.arange(b + 1, device=DEV, dtype=i32) * (n // b)
    ple.ple_conv(randn(n, c), randn(n, c), randn(b + 1, c, (k - 1) * dil), randn(c, k), torch.arange(1, b + 1, device=DEV, dtype=i32), randn(n, c),
                 mode="prefill", dilation=dil, query_start_loc=q, has_initial_states=torch.ones(b, device=DEV, dtype=torch.bool))
    ple.ple_conv(randn(256, c), randn(256, c), randn(257, c, (k - 1) * dil), randn(c, k), torch.arange(1, 257, device=DEV, dtype=i32), None,
                 mode="decode", dilation=dil)


@case((2048, 4, 4096))
def hunyuan_ihc(n, m, d):
    ihc.triton_ihc_pre(randn(n, m, d), randn(2 * m, m * d, dtype=f32, scale=0.01), rand(2), randn(2 * m, dtype=f32), 1.0, 1e-6, 1e-6)
    ihc.triton_ihc_post(randn(n, d), randn(n, m, d), rand(n, m))


@case((8192, 6144), (4096, 8192))
def muse_norm(n, d):
    mr.fused_rmsnorm_fwd(randn(n, d), randn(d), 1e-6, gain_center=1.0)
    mr.fused_rmsnorm_fwd(randn(n, d), randn(d), 1e-6, residual_stream=randn(n, d), alpha=rand(1), beta=rand(1))
    mr.fused_norm_residual_norm_fwd(randn(n, d), randn(n, d, dtype=f32), randn(d), randn(d), 1e-6, 1e-6, alpha=rand(d), beta=rand(d))


@case((8192, 256, 8), (16384, 128, 4))
def muse_routing(n, e, k):
    mo.fused_musespark1x_routing(randn(n, e, dtype=f32), randn(e, dtype=f32), k, 2.5)
    mo.fused_musespark1x_routing(randn(n, e, dtype=f32), randn(e, dtype=f32), k, 1.0, router_score_normalization="softmax")


@case((4096, 8, 4096), (2048, 16, 6144))
def muse_finalize(n, k, h):
    mf.fused_post_expert_finalize(randn(n, k, h), randn(h), rand(n, k), 1e-6, 0.0, False, zeros(n, h))


@case((8192, 32, 8, 128), (1024, 32, 8, 128))
def beam_attention(n, h, hk, d):
    pos = torch.arange(n, device=DEV)
    bo.beam_qk_norm_rope(randn(n, h * d), randn(n, hk * d), randn(d), randn(d), 1e-6, pos, cache(n, d), d, d)
    bo.beam_qk_norm_rope(randn(n, h * d), randn(n, hk * d), randn(d), randn(d), 1e-6, pos, None, d, 0, ssmax=True)
    bo.beam_output_gate(randn(n, h * d), randn(n, h), randn(h), num_heads=h, head_dim=d)


@case((8192, 4096), (16384, 1024))
def beam_norm(n, d):
    bl.beam_rms_norm(randn(n, d), randn(d), 1e-6)
    bl.beam_norm_residual_norm(randn(n, d), randn(n, d), randn(d), 1e-6, randn(d), 1e-6, (0.5, 2.0))
    ba.beam_silu_mul(randn(n, 2 * d))
    ba.beam_softcap_logits(randn(n, d), 30.0)


@case((4096, 8, 2048), (16384, 8, 256))
def inkling_norm(n, e, d):
    inorm.rmsnorm(randn(n, d), randn(d), 1e-6)
    inorm.add_rmsnorm(randn(n, d), randn(n, d), randn(d), 1e-6)
    t, ids = randn(32000, d), randint(0, 32000, n)
    inorm.embed_rmsnorm(ids, t, randn(d), 1e-6, chain_weight=randn(d))
    inorm.embed_dual_rmsnorm_cat(randn(n, d), randn(d), randn(d), 1e-6, input_ids=ids, embed_table=t)
    mt.rmsnorm_gelu(randn(n, d), randn(d), 1e-6)
    mt.rmsnorm_gelu(randn(1, 4, 32, n // 128, d), randn(d), 1e-6, fold=(2, 2))
    mt.dmel_embed_sum_norm(randint(0, 256, n, 80, dtype=i32), randn(80 * 256, d), randn(d), 1e-6)


@case((8192, 4096, 4), (4096, 2048, 2))
def inkling_act(n, f, s):
    isl.silu_and_mul_triton(randn(n, 2 * f))
    isl.sink_silu_mul_epilogue(randn(n, s * f), rand(s), rand(n, s), rand(s), s, bf16)


@case((8192, 32, 4, 128))
def flint_attention(n, h, hk, d):
    kv = zeros(n // 16 * 2, 16, 2, hk, d)
    fq.qk_norm_rope_cache(randn(n, (h + 2 * hk) * d), torch.arange(n, device=DEV), randn(d), randn(d), 1e-6, cache(n, d), kv[:, :, 0], kv[:, :, 1],
                          torch.randperm(2 * n, device=DEV)[:n], h, hk, d)


@case((8192, 4096), (16384, 2048))
def flint_norm(n, d):
    fn.rms_norm(randn(n, d), randn(d), 1e-6)
    fn.fused_add_rms_norm(randn(n, d), randn(n, d), randn(d), 1e-6)
    fn.silu_and_mul(randn(n, 2 * d))


@case((8192, 128, 8, 2048))
def flint_topk(n, e, k, h):
    fm._topk_kernel[(n,)](randn(n, e), zeros(n, k, dtype=i32), zeros(n, k, dtype=f32), E=e, TOPK=k, num_warps=4)


@case((131072,), (32768,))
def glm_hadamard(n):
    kp.fwht128_quant_fp8(randn(n, 128))


@case((4096, 512, 4))
def glm_pools(n, g, p):
    kp.expand_pools_and_append_tail(randint(0, 1024, n, g, dtype=i32), randint(4096, 8192, n, dtype=i32), p)


@case((8192, 4096), (4096, 7168))
def eh_norm(n, d):
    pos = torch.arange(n, device=DEV)
    ge.fused_eh_norm(pos, randn(n, d), randn(n, d), randn(d), randn(d), 1e-6)
    dk.fused_eh_norm(pos, randn(n, d), randn(n, d), randn(d), randn(d), 1e-6)
    norm_concat(randn(n, d), randn(n, d), randn(d), randn(d), 1e-6, True, True)

"""vllm 0.33.0: writing paged KV caches (bf16, fp8, int8, int4 Hadamard, TurboQuant, UltraQuant) and attention over the packed ones."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import math
import vllm.v1.attention.ops.int4_per_token_head as i4
from vllm.v1.attention.ops import triton_reshape_and_cache_flash as rc
from vllm.v1.attention.ops import triton_turboquant_decode as tqd, triton_turboquant_store as tqs
from vllm.v1.kv_cache_interface import KVQuantMode
i4._HADACORE_AVAILABLE = False


def cu(lens):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist())


def table(b, per):
    return torch.randperm(b * per, device=DEV).view(b, per).to(i32)


def slots(n, total):
    return torch.randperm(total, device=DEV)[:n]


@case((8192, 8, 128, "auto"), (8192, 8, 128, "fp8"), (4096, 32, 64, "auto"))
def reshape_flash(n, hk, d, dt):
    nb = n // 16 * 2
    c = [zeros(nb, 16, hk, d).to(torch.float8_e4m3fn if dt == "fp8" else bf16) for _ in range(2)]
    one = torch.ones(1, device=DEV)
    rc.triton_reshape_and_cache_flash(randn(n, hk, d), randn(n, hk, d), c[0], c[1], slots(n, nb * 16), dt, one, one)


@case((8192, 4, 192, 128))
def reshape_diffkv(n, hk, dk, dv):
    nb = n // 16 * 2
    one = torch.ones(1, device=DEV)
    rc.triton_reshape_and_cache_flash_diffkv(randn(n, hk, dk), randn(n, hk, dv), zeros(nb, 16, hk, dk + dv), slots(n, nb * 16), "auto", one, one)


@case((8192, 8, 128, torch.int8, KVQuantMode.INT8_PER_TOKEN_HEAD), (8192, 8, 128, torch.float8_e4m3fn, KVQuantMode.FP8_PER_TOKEN_HEAD))
def reshape_token_head(n, hk, d, dt, mode):
    nb = n // 16 * 2
    c = [zeros(nb, 16, hk, d).to(dt) for _ in range(2)]
    s = [zeros(nb, 16, hk, dtype=f32) for _ in range(2)]
    rc.triton_reshape_and_cache_flash_per_token_head_quant(randn(n, hk, d), randn(n, hk, d), *c, *s, slots(n, nb * 16), mode)


@case(([1024, 1024], [2048, 2048], 32, 8, 128), ([1] * 32, [4096] * 32, 32, 8, 128))
def int4(ql, kl, h, hk, d):
    n, b, bs, per = sum(ql), len(ql), 16, max(kl) // 16
    nb = b * per
    c = [zeros(nb, bs, hk, d // 2, dtype=torch.uint8) for _ in range(2)]
    s = [zeros(nb, bs, hk, dtype=f32) for _ in range(2)]
    m = nb * bs
    i4.reshape_and_cache_int4(randn(m, hk, d), randn(m, hk, d), *c, torch.arange(m, device=DEV), k_scale_cache=s[0], v_scale_cache=s[1])
    extra = {} if max(ql) > 1 else dict(
        seq_threshold_3D=512, num_par_softmax_segments=16, softmax_segm_output=zeros(n, h, 16, d, dtype=f32),
        softmax_segm_max=zeros(n, h, 16, dtype=f32), softmax_segm_expsum=zeros(n, h, 16, dtype=f32))
    i4.unified_attention_int4(randn(n, h, d), *c, zeros(n, h, d), cu_seqlens_q=cu(ql), max_seqlen_q=max(ql), seqused_k=tensor(kl),
                              max_seqlen_k=max(kl), softmax_scale=d ** -0.5, window_size=(-1, -1), block_table=table(b, per), softcap=0.0,
                              sinks=None, alibi_slopes=None, use_alibi_sqrt=False, qq_bias=None, output_scale=None, mm_prefix_range=None,
                              k_scale_cache=s[0], v_scale_cache=s[1], **extra)


def hadamard(d):
    m = torch.ones(1, 1)
    while m.shape[0] < d:
        m = torch.cat([torch.cat([m, m], 1), torch.cat([m, -m], 1)], 0)
    return (m / d ** 0.5).to(DEV)


@case((16, 4096, 32, 8, 128, 4, 4, False), (16, 4096, 32, 8, 128, 3, 4, False), (16, 4096, 32, 8, 128, 4, 4, True))
def turboquant(b, n, h, hk, d, mb, vb, fp8):
    bs = 16
    kps = d if fp8 else math.ceil(d * mb / 8) + 2
    slot = (kps + math.ceil(d * vb / 8) + 4 + 15) // 16 * 16
    m = 32768
    nb = b * n // bs
    cache = zeros(nb, bs, hk, slot, dtype=torch.uint8)
    pi = hadamard(d)
    cent = torch.linspace(-2.2, 2.2, 2 ** mb, device=DEV) / d ** 0.5
    mid = (cent[1:] + cent[:-1]) / 2
    for i in range(0, nb * bs, m):
        tqs.triton_turboquant_store(randn(m, hk, d), randn(m, hk, d), cache, torch.arange(i, i + m, device=DEV, dtype=i32), pi, mid, mb, kps, vb,
                                    key_fp8=fp8)
    tqd.triton_turboquant_decode_attention(randn(b, h, d), cache, table(b, n // bs), tensor([n] * b), pi, cent, d ** -0.5, mb, kps, vb,
                                           key_fp8=fp8, norm_correction=not fp8, PiT=pi)


@case(([1024, 1024], [2048, 2048], 32, 8, 128), ([1] * 16, [4096] * 16, 32, 8, 128))
def ultraquant(ql, kl, h, hk, d):
    from vllm.v1.attention.ops.ultraquant.format import slot_size
    from vllm.v1.attention.ops.ultraquant.triton_dequant import ultraquant_full_dequant_kv
    from vllm.v1.attention.ops.ultraquant.triton_store import ultraquant_store
    from vllm.v1.attention.ops.ultraquant.triton_unified_attention import ultraquant_unified_attention
    n, b, bs, per = sum(ql), len(ql), 16, max(kl) // 16
    nb = b * per
    cache = zeros(nb, bs, hk, (slot_size(d) + 15) // 16 * 16, dtype=torch.uint8)
    m = nb * bs
    ultraquant_store(randn(m, hk, d), randn(m, hk, d), cache, torch.arange(m, device=DEV))
    t = table(b, per)
    ultraquant_full_dequant_kv(cache, t, zeros(b, hk, max(kl), d), zeros(b, hk, max(kl), d), max(kl))
    ultraquant_unified_attention(randn(n, h, d), cache, t, tensor(kl), cu(ql), d ** -0.5, max_query_len=max(ql), max_seq_len=max(kl),
                                 output=zeros(n, h, d))

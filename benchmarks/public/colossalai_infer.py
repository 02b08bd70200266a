"""colossalai 0.5.0: paged context attention, flash decoding, rotary with cache write, cache copies, rms norm, gated activation, 4d product."""
from _common import *
import colossal_triton as ct
from colossal_triton import llama_act_combine_kernel as lac, qkv_matmul_kernel as qk, no_pad_rotary_embedding as rot
tr = __import__("triton")
H, HK, D, BS, B = 32, 8, 128, 32, 8
LENS = [1024, 700, 333, 2048, 1500, 64, 900, 1200]
N = sum(LENS)
NB = 2048 // BS


def tables():
    return torch.randperm(B * NB, device=DEV).reshape(B, NB).to(i32)


def caches(new=False):
    return randn(B * NB, HK, D // 8, BS, 8, dtype=f16) if new else randn(B * NB, HK, BS, D, dtype=f16), randn(B * NB, HK, BS, D, dtype=f16)


@case((False, False), (True, False), (False, True))
def context(new, alibi):
    q, k, v = [randn(N, h, D, dtype=f16) for h in (H, HK, HK)]
    kc, vc = caches(new)
    ct.context_attention_unpadded(q, k, v, kc, vc, tensor(LENS), tables(), BS, alibi_slopes=rand(H) if alibi else None, use_new_kcache_layout=new)


@case((1, False, False), (4, False, False), (1, True, False), (1, False, True))
def decode(ql, new, alibi):
    kc, vc = caches(new)
    ct.flash_decoding_attention(randn(B * ql, H, D, dtype=f16), kc, vc, tensor(LENS), tables(), BS, alibi_slopes=rand(H) if alibi else None, kv_group_num=H // HK, q_len=ql, use_new_kcache_layout=new)


@case()
def rotary():
    q, k, v = [randn(N, h, D, dtype=f16) for h in (H, HK, HK)]
    cos, sin = randn(N, D // 2, dtype=f16), randn(N, D // 2, dtype=f16)
    ct.rotary_embedding(q, k, cos, sin)
    kc, vc = caches()
    b = 64
    bt = torch.randperm(512, device=DEV).reshape(b, 8).to(i32)
    ct.rotary_embedding(randn(b, H, D, dtype=f16), randn(b, HK, D, dtype=f16), cos[:b], sin[:b], kc, bt, randint(1, 8 * BS, b, dtype=i32))
    ct.decoding_fused_rotary_embedding(randn(b, H, D, dtype=f16), randn(b, HK, D, dtype=f16), randn(b, HK, D, dtype=f16), cos[:b], sin[:b], kc, vc, bt, randint(1, 8 * BS, b, dtype=i32))


@case()
def fused_rotary():
    ct.fused_rotary_embedding(randn(N, H, D, dtype=f16), randn(N, H, D, dtype=f16), randn(4096, D // 2, dtype=f16), randn(4096, D // 2, dtype=f16), tensor(LENS))
    ct.get_xine_cache(tensor(LENS), randn(4096, D, dtype=f16), randn(4096, D, dtype=f16), True)
    ct.get_xine_cache(tensor(LENS), randn(4096, D, dtype=f16), randn(4096, D, dtype=f16), False)


@case(1, 5)
def copy(n):
    b = 64
    bt = torch.randperm(512, device=DEV).reshape(b, 8).to(i32)
    kc, vc = caches()
    L = randint(n + 1, 8 * BS, b, dtype=i32)
    ct.copy_k_to_blocked_cache(randn(b * n, HK, D, dtype=f16), kc, L, bt, n)
    ct.copy_kv_to_blocked_cache(randn(b, HK, D, dtype=f16), randn(b, HK, D, dtype=f16), kc, vc, L, bt)


@case((8192, 4096), (2048, 8192))
def norm(m, n):
    ct.rms_layernorm(randn(m, n, dtype=f16), randn(n, dtype=f16), 1e-6)
    ct.rms_layernorm(randn(m, n, dtype=f16), randn(n, dtype=f16), 1e-6, residual=randn(m, n, dtype=f16))
    ct.softmax(randn(m, n, dtype=f16))


@case()
def act():
    bwd(lac.LlamaActCombine.apply(randn(4, 1024, 16384, grad=True), randn(4, 1024, 8192, grad=True)))


@case()
def qkv():
    q, k, o = randn(4, 1024, 32, 64, dtype=f16), randn(4, 1024, 32, 64, dtype=f16), zeros(4, 32, 1024, 1024, dtype=f16)
    qk.qkv_gemm_4d_kernel[(4, 32, tr.cdiv(1024, 64) * tr.cdiv(1024, 32))](q, k, o, 1024, 1024, 64, q.stride(0), q.stride(2), q.stride(1), q.stride(3), k.stride(0), k.stride(2), k.stride(3), k.stride(1),
                                                                       *o.stride(), 0.125)

"""dlblas 0.0.7: attention with ALiBi on paged cache, split latent (nope and rope) prefill, rotary fused into flash attention, sparse MLA, indexer scores."""
from _common import *
import importlib

import triton

M = lambda n: importlib.import_module("dlblas.kernels." + n)


def starts(lens):
    return torch.cat([torch.zeros(1, dtype=i32), torch.tensor(lens).cumsum(0)[:-1].to(i32)]).to(DEV)


@case((8, 1024, 32, 8, 128, 64), (16, 1, 32, 32, 64, 64), (4, 512, 16, 16, 64, 16))
def alibi(b, n, h, hk, d, page):
    kv = 2048
    pages = kv // page
    q, o = randn(b * n, h, d), zeros(b * n, h, d)
    k, v = (randn(b * pages, page, hk, d) for _ in range(2))
    table = torch.randperm(b * pages, device=DEV).reshape(b, pages).to(i32)
    m = M("alibi_pagedattention")
    m.LOG2 = triton.language.constexpr(0.6931471805599453)   # Triton now wants such globals constant
    m.alibi_paged_attention_fwd(q, k, v, o, table, starts([n] * b), tensor([n] * b), tensor([kv - 7 * i for i in range(b)]), n)


@case((4, 1024, 16, 512, 64), (2, 2048, 16, 128, 64))
def latent(b, n, h, dn, dr):
    k = M("context_flashattention_nopad")
    lens = [n - 33 * i for i in range(b)]
    t = sum(lens)
    q = randn(t, h, dn), randn(t, h, dr)
    o = zeros(t, h, dn)
    k.context_attention_fwd_no_prompt_cache(*q, randn(t, 1, dn), randn(t, 1, dr), o, starts(lens), tensor(lens), n, (dn + dr) ** -0.5)
    table = torch.randperm(b * 2 * n, device=DEV).reshape(b, 2 * n).to(i32)
    k.context_attention_fwd(*q, randn(b * 2 * n, 1, dn), randn(b * 2 * n, 1, dr), o, torch.arange(b, device=DEV, dtype=i32), starts(lens), tensor([x + 256 for x in lens]), tensor([256] * b), n, table, (dn + dr) ** -0.5)


@case((2, 2048, 16, 128), (4, 1024, 16, 64))
def rotary_flash(b, n, h, d):
    M("fused_rotary_and_fa").call(*[randn(b, n, h, d) for _ in range(3)], randn(b, n, d), randn(b, n, d))


@case((2, 2048, 16, 128, bf16), (2, 2048, 16, 64, f16))
def flash(b, n, h, d, t):
    M("flash_attention_v2").call(*[randn(b, n, h, d, dtype=t) for _ in range(3)])


@case((1, 1024, 64, 512), (1, 2048, 128, 1024))
def sparse_mla(b, n, h, topk):
    idx = (rand(b, n, 1, topk) * (torch.arange(n, device=DEV)[None, :, None, None] + 1)).to(i32)
    M("sparse_mla").sparse_mla_fwd_interface(randn(b, n, h, 576), randn(b, n, 1, 576), idx)


@case((1024, 4096, 64, 128), (2048, 2048, 32, 128))
def indexer(n, kv, h, d):
    f8 = torch.float8_e4m3fn
    ke = (torch.arange(n, device=DEV, dtype=i32) + kv - n + 1)
    M("lighting_indexer").mqa_attn_return_logits_interface(randn(n, h, d).to(f8), randn(kv, d).to(f8), rand(kv), rand(n, h), zeros(n, dtype=i32), ke)


@case((4, 2048, 16, 64))
def extend(b, n, h, d):
    o = zeros(b * n, h, d)
    M("prefill_attention").context_attention_fwd(randn(b * n, h, d), randn(b * n, h, d), randn(b * n, h, d), o, starts([n] * b), tensor([n] * b), n)

"""vllm 0.33.0: block-sparse attention of MiniMax-M3 (index scores, top-k, prefill, decode), Qwen4 QSA (scores, paged sparse GQA), Step5 (sparse, window)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.models.minimax_m3.common.ops import index_topk as mi, sparse_attn as ms
from vllm.models.qwen4_exp.nvidia.ops import qsa, qsa_indexer as qi
from vllm.models.step5.nvidia.ops import sparse_decode_attention as sd, swa_decode as sw
from vllm.models.step5.nvidia.ops.attention_gate import headwise_sigmoid_gate


def cu(lens):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist())


def table(b, per):
    return torch.randperm(b * per, device=DEV).view(b, per).to(i32)


@case(([1024, 1024], [8192, 4096], 32, 4, 128, 16), ([2048], [16384], 16, 1, 128, 16))
def m3_prefill(ql, kl, h, hk, d, topk):
    n, b, per = sum(ql), len(ql), max(kl) // 128
    t, c, s, p = table(b, per), cu(ql), tensor(kl), tensor([a - b for a, b in zip(kl, ql)])
    score = mi.minimax_m3_index_score(randn(n, hk, d), randn(b * per, 128, d), t, c, s, p, max(ql), max(kl), hk)
    mi.minimax_m3_index_topk(score, c, p, max(ql), topk, 1, 1)
    # the attention itself gets seeded choices: block 0 to the last visible one, no repeats
    vis = torch.cat([torch.arange(a - q, a, device=DEV) // 128 + 1 for q, a in zip(ql, kl)])
    r = torch.rand(hk, n, per, device=DEV)
    r = torch.where(torch.arange(per, device=DEV)[None, None] < vis[None, :, None], r, -1.0)
    v, i = r.topk(topk, -1)
    idx = torch.where(v >= 0, i, -1).to(i32)
    idx = torch.where(idx < 0, per, idx).sort(-1)[0]
    idx = torch.where(idx >= per, -1, idx).to(i32).contiguous()
    ms.minimax_m3_sparse_attn(randn(n, h, d), randn(b * per, hk, 128, 2 * d), idx, t, c, s, p, max(ql), hk, d ** -0.5, zeros(n, h, d))


@case((32, 8192, 32, 4, 128, 16, bf16), (8, 32768, 16, 2, 128, 16, bf16), (32, 8192, 32, 4, 128, 16, torch.float8_e4m3fn))
def m3_decode(b, kl, h, hk, d, topk, dt):
    per = kl // 128
    t, s = table(b, per), tensor([kl] * b)
    mi.minimax_m3_index_decode(randn(b, hk, d), randn(b * per, 128, d), t, s, kl, topk, 1, 1, hk, 1, 1)
    idx = torch.rand(hk, b, per, device=DEV).argsort(-1)[..., :topk].sort(-1)[0].to(i32).contiguous()
    one = torch.ones(1, device=DEV)
    ms.minimax_m3_sparse_attn_decode(randn(b, h, d), randn(b * per, hk, 128, 2 * d).to(dt), idx, t, s, hk, d ** -0.5, zeros(b, h, d), 1,
                                     k_scale=one, v_scale=one)


@case((32, 8192, 32, 4, 128, 1024, False, bf16), (2048, 8192, 32, 4, 128, 512, True, bf16), (32, 8192, 32, 4, 128, 1024, False, torch.float8_e4m3fn))
def qsa_attention(rows, kl, h, hk, d, width, prefill, dt):
    b = 4 if prefill else rows
    page = 64
    per = kl // page
    kv = randn(b * per, page, 2, hk, d).to(dt)
    idx = torch.rand(rows, kl, device=DEV).argsort(-1)[:, :width].sort(-1)[0].to(i32)
    idx = torch.cat([idx, torch.full((rows, 1), width, device=DEV, dtype=i32)], 1).contiguous()
    req = (torch.arange(rows, device=DEV) * b // rows).to(i32)
    qsa.qsa_sparse_paged_attention(randn(rows, h, d), kv[:, :, 0], kv[:, :, 1], idx, table(b, per), req, prefill, zeros(rows, h, d), 1.0, 1.0,
                                   output_gate=randn(rows, h * d))


@case((8192, 256), (4096, 512))
def qsa_store(n, w):
    qsa.qsa_store_cache_rows(zeros(n // 32, 64, 1, w), torch.randperm(n * 2, device=DEV)[:n], randn(n, w))


@case((2, 1024, 4096, 8, 128))
def qsa_prefill_logits(b, ql, kl, h, d):
    page, n = 64, b * ql
    per = kl // page
    qi._prefill_logits(randn(n, h, d), randn(b * per, page, 1, d), table(b, per), cu([ql] * b),
                       ((torch.arange(n, device=DEV) % ql + kl - ql) + 1).to(i32), zeros(n * kl, dtype=f32), ql, kl, 0, n)


@case((32, 8192, 8, 128))
def qsa_decode_logits(b, kl, h, d):
    qi._topk = lambda *a: None  # a C++ operator
    page = 64
    qi.qsa_select_paged_decode(randn(b, h, d), randn(b * kl // page, page, 1, d), table(b, kl // page), torch.full((b,), kl, device=DEV, dtype=i32),
                               2048, 4, 1, zeros(b, 512, dtype=i32))


@case((64, 4, 8, 4096, 128), (16, 2, 16, 16384, 512))
def step5_sparse(n, g, h, kl, r):
    block, region = 64, 8
    rows, per = n * g, kl // block
    reg = torch.rand(rows, kl // region, device=DEV).argsort(-1)[:, :r].sort(-1)[0]
    pos = torch.full((rows,), kl - 1, device=DEV, dtype=i64)
    act = torch.ones(rows, device=DEV, dtype=torch.bool)
    sd.sparse_decode_attention(randn(rows, h, 192), randn(n * per, g, block, 384), reg, table(n, per), pos, act, zeros(rows, h, 192), scale=192 ** -0.5,
                               splits=sd.sparse_decode_splits(rows), gate=randn(n, g * h))


@case((64, 8, 64, 2048, 512), (256, 4, 32, 1024, 512))
def step5_window(n, hk, h, kl, win):
    block = 64
    per = kl // block
    kv = randn(n * per, block, 2, hk, 192)
    sw.swa_decode_gated(randn(n, h, 192), kv[:, :, 0], kv[:, :, 1], table(n, per), tensor([kl] * n), randn(n, h), zeros(n, h, 192),
                        scale=192 ** -0.5, window=win, query_len=1, splits=sw.swa_decode_splits(n * hk, 132, win))


@case((8192, 64, 128))
def step5_gate(n, h, d):
    headwise_sigmoid_gate(randn(n, h * d), randn(n, h))

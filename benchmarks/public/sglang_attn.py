"""sglang 0.5.23: decode (grouped, MLA), extend (ragged with prefix, unified), prefill attention, state merging, lightning attention."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from sglang.kernels.ops.attention.decode_attention import decode_attention_fwd_grouped, decode_attention_fwd_normal
from sglang.kernels.ops.attention.extend_attention import (build_unified_kv_indices, dense_prefill_attention_fwd,
                                                           extend_attention_fwd, extend_attention_fwd_unified)
from sglang.kernels.ops.attention.merge_state import merge_state_triton
from sglang.kernels.ops.attention.prefill_attention import context_attention_fwd
from sglang.kernels.ops.attention.linear.lightning_attn import lightning_attention, linear_decode_forward_triton


def cu(lens):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist())


@case((32, 4096, 32, 8, 128, 128, 8), (16, 8192, 16, 1, 576, 512, 8), (16, 4096, 16, 16, 128, 128, 8))
def decode(b, n, h, hk, d, dv, splits):
    kb = randn(b * n, hk, d)
    vb = kb[..., :dv] if d != dv else randn(b * n, hk, dv)
    idx = torch.randperm(b * n, device=DEV).to(i32)
    args = (randn(b, h, d), kb, vb, zeros(b, h, dv), cu([n] * b), idx, zeros(b, h, splits, dv, dtype=f32),
            zeros(b, h, splits, dtype=f32), torch.full((b,), splits, device=DEV, dtype=i32), splits, d ** -0.5, 1.0)
    if h == hk:
        decode_attention_fwd_normal(*args)
    else:
        decode_attention_fwd_grouped(*args, has_mla=d != dv)


@case(([1024, 512, 256, 256], [2048, 1024, 4096, 512], 32, 8, 128, 0.0, -1), ([2048], [2048], 16, 16, 64, 30.0, -1),
      ([2048, 2048], [1024, 1024], 32, 8, 128, 0.0, 1024))
def extend(ext, pre, h, hk, d, cap, win):
    n, p = sum(ext), sum(pre)
    q, k, v = randn(n, h, d), randn(n, hk, d), randn(n, hk, d)
    pool = p + n + 64
    kb, vb = randn(pool, hk, d), randn(pool, hk, d)
    idx = torch.randperm(pool, device=DEV)[:p].to(i64)
    qo, kv = cu(ext), cu(pre)
    extend_attention_fwd(q, k, v, zeros(n, h, d), kb, vb, qo, kv, idx, None, True, None, max(ext), 1.0, 1.0, logit_cap=cap,
                         sliding_window_size=win)
    lens, plens = tensor(ext), tensor(pre)
    ekv = torch.randperm(pool, device=DEV)[:n].to(i64)
    res = build_unified_kv_indices(kv, idx, qo[:-1].contiguous(), lens, ekv, len(ext))
    uptr = cu([a + b for a, b in zip(ext, pre)])
    uidx = torch.randperm(pool, device=DEV)[:p + n].to(i64)
    extend_attention_fwd_unified(q, zeros(n, h, d), kb, vb, 1.0, 1.0, qo, uptr, uidx, plens, max(ext), logit_cap=cap,
                                 sliding_window_size=win)


@case(([2048, 1024, 1024], 32, 8, 128, True), ([4096], 16, 16, 80, False))
def prefill(lens, h, hk, d, causal):
    n = sum(lens)
    context_attention_fwd(randn(n, h, d), randn(n, hk, d), randn(n, hk, d), zeros(n, h, d), cu(lens)[:-1].contiguous(),
                          tensor(lens), max(lens), is_causal=causal)


@case(([2048, 2048], 16, 16, 192, 128), ([4096], 32, 8, 128, 128))
def dense(lens, h, hk, d, dv):
    n = sum(lens)
    dense_prefill_attention_fwd(randn(n, h, d), randn(n, hk, d), randn(n, hk, dv), zeros(n, h, dv), cu(lens), cu(lens), max(lens))


@case((4096, 32, 128), (8192, 16, 512))
def merge(n, h, d):
    merge_state_triton(randn(n, h, d), randn(n, h, dtype=f32), randn(n, h, d), randn(n, h, dtype=f32))


@case((2, 32, 4096, 128), (1, 64, 8192, 64))
def lightning(b, h, n, d):
    slopes = torch.exp2(-8.0 * torch.arange(1, h + 1, device=DEV, dtype=f32) / h).view(h, 1, 1)
    q, k, v = [randn(b, h, n, d, dtype=f32, scale=0.1) for _ in range(3)]
    lightning_attention(q, k, v, slopes, block_size=256,
                        kv_history=zeros(b, h, d, d, dtype=f32))


@case((64, 32, 128))
def lightning_decode(b, h, d):
    linear_decode_forward_triton(randn(b, h, 1, d), randn(b, h, 1, d), randn(b, h, 1, d), randn(b, h, d, d, dtype=f32),
                                 rand(h), torch.arange(b, device=DEV))

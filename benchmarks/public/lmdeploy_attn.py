"""lmdeploy 0.18.0 (pytorch engine): prefill and paged decode attention, cache fill/flatten in bf16, int8, int4 and fp8."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from lmdeploy.messages import QuantPolicy
from lmdeploy.pytorch.kernels.cuda.apply_rotary_pos_emb import apply_rotary_pos_emb
from lmdeploy.pytorch.kernels.cuda.copy_cache import copy_cache_blocks
from lmdeploy.pytorch.kernels.cuda.fill_kv_cache import fill_kv_cache, fill_kv_cache_blocked_fp8
from lmdeploy.pytorch.kernels.cuda.flashattention import flash_attn_varlen_func
from lmdeploy.pytorch.kernels.cuda.flatten_kv_cache import flatten_kv_cache
from lmdeploy.pytorch.kernels.cuda.pagedattention import flash_attn_with_kvcache


def cu(lens):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist())


@case(([2048, 1024, 512, 512], 32, 8, 128, -1, 0.0, False), ([4096], 16, 16, 64, 1024, 0.0, True),
      ([2048, 2048], 16, 16, 192, -1, 0.0, False), ([2048], 16, 8, 256, -1, 50.0, False))
def prefill(lens, h, hk, d, win, cap, sink):
    n, dv = sum(lens), 128 if d == 192 else d
    q, k, v = randn(n, h, d), randn(hk, n, d), randn(hk, n, dv)
    c = cu(lens)
    flash_attn_varlen_func(q, k, v, c, c, max(lens), max(lens), causal=True, window_size=(win, win), softcap=cap,
                           sinks=randn(h) if sink else None)


def cache(b, klen, bs, hk, d):
    per = (klen + bs - 1) // bs
    return randn(b * per, bs, hk, d), randn(b * per, bs, hk, d), torch.randperm(b * per, device=DEV).to(i32).view(b, per)


@case((32, 4096, 32, 8, 128, None), (8, 16384, 32, 4, 128, None), (32, 4096, 64, 8, 64, 1024))
def decode(b, klen, h, hk, d, win):
    kc, vc, bt = cache(b, klen, 64, hk, d)
    flash_attn_with_kvcache(randn(b, h, d), kc, vc, randint(klen // 2, klen + 1, b, dtype=i32), bt, max_seqlen_q=1,
                            window_size=win)


def quantized(b, klen, h, hk, d, bits, bs=64):
    per = (klen + bs - 1) // bs
    w = d if bits == 8 else d // 2
    kc, vc = zeros(b * per, bs, hk, w, dtype=torch.uint8), zeros(b * per, bs, hk, w, dtype=torch.uint8)
    ks, vs = zeros(b * per, bs, hk, 2), zeros(b * per, bs, hk, 2)
    bt = torch.randperm(b * per, device=DEV).to(i32).view(b, per)
    lens = torch.full((b,), klen, device=DEV, dtype=i32)
    start = torch.arange(b, device=DEV, dtype=i32) * klen
    policy = QuantPolicy.INT8 if bits == 8 else QuantPolicy.INT4
    fill_kv_cache(randn(b * klen, hk, d), randn(b * klen, hk, d), kc, vc, start, lens, lens, klen, bt, ks, vs, policy)
    flatten_kv_cache(kc, vc, lens, bt, start, b * klen, bf16, ks, vs, policy)
    flash_attn_with_kvcache(randn(b, h, d), kc, vc, lens, bt, max_seqlen_q=1, k_scales_zeros=ks, v_scales_zeros=vs,
                            quant_policy=policy)


case((16, 2048, 32, 8, 128, 8), (16, 2048, 32, 8, 128, 4))(quantized)


@case((4, 2048, 8, 128), (64, 1, 8, 128))
def fill(b, n, hk, d):
    total = 2048
    kc, vc, bt = cache(b, total, 64, hk, d)
    lens = torch.full((b,), n, device=DEV, dtype=i32)
    kv = torch.full((b,), total, device=DEV, dtype=i32)
    start = torch.arange(b, device=DEV, dtype=i32) * n
    fill_kv_cache(randn(b * n, hk, d), randn(b * n, hk, d), kc, vc, start, lens, kv, n, bt)
    flatten_kv_cache(kc, vc, kv, bt, torch.arange(b, device=DEV, dtype=i32) * total, b * total)
    f8 = torch.float8_e4m3fn
    kc8, vc8 = torch.zeros_like(kc).to(f8), torch.zeros_like(vc).to(f8)
    s = [ones(kc.shape[0], 64, hk, d // 64, dtype=f32) for _ in range(2)]
    fill_kv_cache_blocked_fp8(randn(b * n, hk, d), randn(b * n, hk, d), kc8, vc8, s[0], s[1], cu([n] * b), kv, n, bt, 64)


@case((8192, 32, 8, 128), (4096, 32, 32, 64))
def rotary(n, h, hk, d):
    apply_rotary_pos_emb(randn(n, h, d), randn(n, hk, d), randn(n, d), randn(n, d))


@case((1024, 64, 8, 128))
def copy(blocks, bs, hk, d):
    p = torch.randperm(blocks, device=DEV).to(i64)
    copy_cache_blocks(randn(4, blocks, bs, hk, d), 1, p[:256].contiguous(), p[256:512].contiguous(), 1)

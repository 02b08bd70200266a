"""vllm 0.33.0: unified attention (2d, 3d, fp8 and int8 caches, sinks, window), prefix prefill (and ALiBi), paged decode, prefill."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.v1.attention.ops.chunked_prefill_paged_decode import chunked_prefill_paged_decode
from vllm.v1.attention.ops.prefix_prefill import context_attention_fwd as prefix_fwd
from vllm.v1.attention.ops.triton_prefill_attention import context_attention_fwd as prefill_fwd
from vllm.v1.attention.ops.triton_unified_attention import unified_attention
from vllm.v1.attention.ops.triton_unified_attention_diffkv import unified_attention_diffkv
from vllm.v1.kv_cache_interface import KVQuantMode


def cu(lens):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist())


def table(b, per):
    return torch.randperm(b * per, device=DEV).view(b, per).to(i32)


def segm(n, h, s, d):
    return dict(seq_threshold_3D=512, num_par_softmax_segments=s, softmax_segm_output=zeros(n, h, s, d, dtype=f32),
                softmax_segm_max=zeros(n, h, s, dtype=f32), softmax_segm_expsum=zeros(n, h, s, dtype=f32))


@case(([2048, 1024, 1024], [2048, 3072, 4096], 32, 8, 128, -1, 0.0, False), ([4096], [4096], 16, 16, 64, 1023, 0.0, True),
      ([1024] * 2, [4096] * 2, 16, 8, 256, -1, 50.0, False), ([1] * 16, [8192] * 16, 32, 8, 128, -1, 0.0, False),
      ([1] * 64, [2048] * 64, 64, 8, 64, 127, 0.0, True))
def unified(ql, kl, h, hk, d, win, cap, sink):
    n, b, per = sum(ql), len(ql), max(kl) // 16
    q = randn(n, h, d)
    kc, vc = randn(b * per, 16, hk, d), randn(b * per, 16, hk, d)
    extra = segm(n, h, 16, d) if max(ql) == 1 else {}
    unified_attention(q, kc, vc, zeros(n, h, d), cu(ql), max(ql), tensor(kl), max(kl), d ** -0.5, True, (win, 0) if win > 0 else (-1, -1),
                      table(b, per), cap, None, None, None, sinks=randn(h) if sink else None, **extra)


@case(([512] * 4, [2048] * 4, 32, 8, 128, "fp8"), ([1] * 32, [4096] * 32, 32, 8, 128, "fp8"), ([1] * 32, [4096] * 32, 32, 8, 128, "int8"))
def unified_quant(ql, kl, h, hk, d, mode):
    n, b, bs, per = sum(ql), len(ql), 32, max(kl) // 32
    q = randn(n, h, d)
    nb = b * per
    extra = segm(n, h, 16, d) if max(ql) == 1 else {}
    if mode == "fp8":
        kc, vc = [randn(nb, bs, hk, d).to(torch.float8_e4m3fn) for _ in range(2)]
        s = torch.full((b, hk), 0.5, device=DEV)
        extra.update(kv_quant_mode=KVQuantMode.FP8_PER_TENSOR)
        ks = vs = s
    else:
        kc, vc = [randint(-127, 127, nb, bs, hk, d, dtype=torch.int8) for _ in range(2)]
        extra.update(kv_quant_mode=KVQuantMode.INT8_PER_TOKEN_HEAD, k_scale_cache=rand(nb, bs, hk, hi=0.02),
                     v_scale_cache=rand(nb, bs, hk, hi=0.02))
        ks = vs = None
    unified_attention(q, kc, vc, zeros(n, h, d), cu(ql), max(ql), tensor(kl), max(kl), d ** -0.5, True, (-1, -1), table(b, per), 0.0,
                      None, ks, vs, **extra)


@case(([1024, 1024], [2048, 1024], 16, 4, 192, 128), ([1] * 16, [8192] * 16, 16, 4, 192, 128))
def diffkv(ql, kl, h, hk, dk, dv):
    n, b, bs, per = sum(ql), len(ql), 16, max(kl) // 16
    kv = randn(b * per, bs, hk, dk + dv)
    extra = segm(n, h, 16, dv) if max(ql) == 1 else {}
    unified_attention_diffkv(randn(n, h, dk), kv[..., :dk], kv[..., dk:], zeros(n, h, dv), cu(ql), tensor(kl), dk ** -0.5, True, (-1, -1),
                             table(b, per), 0.0, max_seqlen_q=max(ql), **extra)


def split_cache(nb, hk, d, bs):
    return randn(nb, hk, d // 8, bs, 8), randn(nb, hk, d, bs)


@case(([1024, 512, 512], [2048, 2048, 1024], 32, 8, 128, None, 0), ([2048], [4096], 16, 16, 64, "alibi", 0),
      ([1024, 1024], [3072, 3072], 16, 8, 128, None, 1024))
def prefix(ql, kl, h, hk, d, alibi, win):
    n, b, bs, per = sum(ql), len(ql), 16, max(kl) // 16
    kc, vc = split_cache(b * per, hk, d, bs)
    one = torch.ones(1, device=DEV)
    slopes = torch.exp2(-8.0 * torch.arange(1, h + 1, device=DEV, dtype=f32) / h) if alibi else None
    prefix_fwd(randn(n, h, d), randn(n, hk, d), randn(n, hk, d), zeros(n, h, d), "auto", kc, vc, table(b, per), cu(ql), tensor(kl), max(kl),
               max(ql), one, one, alibi_slopes=slopes, sliding_window=win)


@case(([1] * 32, [4096] * 32, 32, 8, 128), ([1] * 128, [1024] * 128, 16, 2, 64))
def paged_decode(ql, kl, h, hk, d):
    n, b, bs, per = sum(ql), len(ql), 16, max(kl) // 16
    kc, vc = split_cache(b * per, hk, d, bs)
    one = torch.ones(1, device=DEV)
    chunked_prefill_paged_decode(randn(n, h, d), randn(n, hk, d), randn(n, hk, d), zeros(n, h, d), "auto", kc, vc, table(b, per), cu(ql),
                                 tensor(kl), max(kl), 1, one, one)


@case(([2048, 1024, 1024], 32, 8, 128, True, None), ([4096], 16, 16, 80, False, None), ([4096], 16, 4, 128, True, 511))
def prefill(lens, h, hk, d, causal, win):
    n = sum(lens)
    prefill_fwd(randn(n, h, d), randn(n, hk, d), randn(n, hk, d), zeros(n, h, d), cu(lens)[:-1].contiguous(), tensor(lens), max(lens),
                is_causal=causal, sliding_window_q=win, sliding_window_k=win)

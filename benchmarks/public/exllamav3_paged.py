"""exllamav3 1.6.5: paged attention (decode, prefill, packed caches, split and grouped, packed sequences), sparse rows of an index list, slotted convolutions, packed Hessians, log probabilities and divergences."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _exllamav3 import *


def pages(b, n, hk, d):
    count = b * n // PAGE
    return (randn(count, PAGE, hk, d, dtype=f16), randn(count, PAGE, hk, d, dtype=f16), torch.randperm(count, device=DEV).reshape(b, -1).to(i32))


def packed(count, groups, bits):
    return (randint(-(1 << 31), 1 << 31, count, PAGE, groups * bits).to(i32), rand(count, PAGE, groups, lo=0.5, hi=2.0, dtype=f16))


@case((8, 8192, 32, 8, 128, 1, None), (4, 16384, 16, 4, 256, 4, 4096), (8, 4096, 40, 8, 96, 1, None))
def decode(b, n, h, hk, d, s, window):
    t = A("triton_paged")
    k, v, table = pages(b, n, hk, d)
    t.paged_attn_triton_decode(randn(b, s, h, d, dtype=f16), randn(b, s, hk, d, dtype=f16), randn(b, s, hk, d, dtype=f16), k, v, table,
                               tensor([n - s - 7 * i for i in range(b)]), causal=True, window_size=window, sinks=randn(h, dtype=f32) if window else None)


@case((8, 8192, 32, 8, 128, 4, 4), (8, 8192, 32, 8, 128, 6, 3), (4, 8192, 32, 8, 128, 8, 5))
def decode_packed(b, n, h, hk, d, kb, vb):
    t, count = A("triton_paged"), b * n // PAGE
    (k, ks), (v, vs) = packed(count, hk * d // 32, kb), packed(count, hk * d // 32, vb)
    table = torch.randperm(count, device=DEV).reshape(b, -1).to(i32)
    t.paged_attn_triton_decode(randn(b, 1, h, d, dtype=f16), None, None, k, v, table, tensor([n - 1 - 7 * i for i in range(b)]), causal=True,
                               qc=(ks, vs, kb, vb), pre_appended_len=1, n_kv_heads_override=hk)


@case((4, 4096, 32, 8, 128, 64, 0.0), (4, 4096, 32, 8, 128, 16, 30.0))
def split_values(b, n, h, hk, d, s, cap):
    t = A("triton_paged")
    k, v, table = pages(b, n, hk, d)
    new = randn(b, s, hk, d, dtype=f16), randn(b, s, hk, d, dtype=f16)
    seqlens = tensor([n - s - 7 * i for i in range(b)])
    t.paged_attn_triton(randn(b, s, h, d, dtype=f16), *new, k, v, table, seqlens, causal=True, softcap=cap)
    t._paged_kv_update_kernel[(b * s, hk, 1)](*new, k, v, table, seqlens, table.shape[1], s, hk, PAGE, d, d, num_warps=2, num_stages=3)


@case((1, 4096, 32, 8, 128, 512))
def grouped(b, n, h, hk, d, s):
    t = A("triton_paged")
    k, v, table = pages(b, n, hk, d)
    t.paged_attn_triton_longq(randn(b, s, h, d, dtype=f16), randn(b, s, hk, d, dtype=f16), randn(b, s, hk, d, dtype=f16), k, v, table,
                              tensor([n - s] * b), causal=True)


@case((1, 8192, 32, 8, 128, 2048, None, 1), (1, 8192, 32, 8, 128, 512, None, 3), (2, 4096, 16, 4, 256, 1024, 1024, 2))
def prefill(b, n, h, hk, d, s, window, splits):
    t = A("triton_paged")
    k, v, table = pages(b, n, hk, d)
    new = randn(b, s, hk, d, dtype=f16), randn(b, s, hk, d, dtype=f16)
    t.paged_attn_triton_prefill(randn(b, s, h, d, dtype=f16), *new, k, v, table, tensor([n - s] * b), causal=True, window_size=window, num_splits=splits)
    t.paged_attn_triton_prefill(randn(b, s, h, d, dtype=f16), None, None, None, None, None, None, causal=True, window_size=window, num_splits=1,
                                k_new=new[0], v_new=new[1])


@case((2, 8192, 32, 8, 128, 128, 4, 4), (2, 4096, 32, 8, 128, 128, 6, 5))
def prefill_packed(b, n, h, hk, d, s, kb, vb):
    t, count = A("triton_paged"), b * n // PAGE
    (k, ks), (v, vs) = packed(count, hk * d // 32, kb), packed(count, hk * d // 32, vb)
    table = torch.randperm(count, device=DEV).reshape(b, -1).to(i32)
    t.paged_attn_triton_prefill(randn(b, s, h, d, dtype=f16), None, None, k, v, table, tensor([n - s] * b), causal=True, num_stages=1,
                                qc=(ks, vs, kb, vb), pre_appended_len=s, n_kv_heads_override=hk)


@case((16, 1024, 16, 16, 80, False), (8, 2048, 32, 8, 128, True), (256, 64, 16, 16, 64, False))
def varlen(segments, n, h, hk, d, causal):
    lens = [n - (i * 37) % (n // 2) for i in range(segments)]
    cu = torch.tensor([0] + lens, device=DEV).cumsum(0).to(i32)
    total = sum(lens)
    A("triton_paged").varlen_attn_triton(randn(total, h, d, dtype=f16), randn(total, hk, d, dtype=f16), randn(total, hk, d, dtype=f16), cu, n, causal=causal)


@case((8192, 4, 128, 8, 4))
def index_keys(r, hi, d, p, b):
    q = A("qsa_triton")
    q._qsa_stage_kernel[(r, hi + 1)](randn(r, (hi + 1) * d, dtype=f16), randn(d, dtype=f16), zeros(r, hi, d, dtype=f16), zeros(r, d, dtype=f16), r,
                                     eps=1e-6, H_i=hi, D=d)
    n = 2 * r // b
    count = b * n // PAGE
    table = torch.randperm(count, device=DEV).reshape(b, -1).to(i32)
    new = r // b
    q._qsa_pool_update_kernel[(b, new // p + 1)](
        randn(count * PAGE, d, dtype=f16), zeros(count * PAGE // p, d, dtype=f16), randn(d, dtype=f16), rand(d // 4), table, tensor([new - 3] * b),
        table.shape[1], new, page_size=PAGE, P=p, D=d, ROPE_R=d // 2, attn_factor=1.0, eps=1e-6, MAXPOOLS=new // p + 1)


@case((1024, 32, 4, 128, 1024, 8192))
def sparse_rows(r, h, hk, d, k, n):
    f = A("qsa_triton").qsa_sparse_attend_rows
    idx = randint(0, n, r, k, dtype=i32)
    f(randn(r, h, d, dtype=f16), randn(n, hk, d, dtype=f16), randn(n, hk, d, dtype=f16), idx, d**-0.5)


@case((16, 32, 4, 128, 2048, 8192, 0), (16, 32, 4, 128, 2048, 8192, 4))
def sparse_decode(b, h, hk, d, sel, n, bits):
    f = A("qsa_triton").qsa_sparse_attend_rows
    idx = randint(0, n, b, sel, dtype=i32)
    if bits:
        (k, ks), (v, vs) = packed(b * n // PAGE, hk * d // 32, bits), packed(b * n // PAGE, hk * d // 32, bits)
        table = torch.randperm(b * n // PAGE, device=DEV).reshape(b, -1).to(i32)
        f(randn(b, h, d, dtype=f16), k, v, idx, d**-0.5, table, PAGE, (ks, vs, bits, bits), hk)
    else:
        k, v, table = pages(b, n, hk, d)
        f(randn(b, h, d, dtype=f16), k.view(-1, hk, d), v.view(-1, hk, d), idx, d**-0.5, table, PAGE)


@case((4, 8192, 128, 4, False), (4, 8192, 2048, 4, False), (4, 8192, 2048, 4, True), (64, 8192, 32, 4, True))
def convolution(b, dim, n, k, token_major):
    x = randn(b, n, dim) if token_major else randn(b, dim, n)
    for history in (False, True):
        M("gated_delta_net_fn.conv1d").causal_conv1d_update_slotted_triton(
            x, randn(b + 4, dim, k + 4 * history), torch.randperm(b, device=DEV).to(i32), randn(dim, k), randn(dim), transpose_output=True,
            history=history, token_major=token_major)


@case((4096, 4096, f16), (2048, 8192, bf16), (1024, 2048, f32))
def hessian(rows, n, t):
    m = M("quant.exl3_lib.hessian_packed")
    m.accumulate_(zeros(m.packed_numel(n), dtype=f32), randn(rows, n, dtype=t))


@case((2048, 32000, f16), (1024, 128256, f32))
def measures(rows, vocab, t):
    m = importlib.import_module("exllamav3.util.measures")
    m.compute_target_log_probs(randn(rows, vocab, dtype=t), randint(0, vocab, rows), vocab)
    m.compute_kl_div(randn(rows, vocab, dtype=t), randn(rows, vocab, dtype=t), vocab)

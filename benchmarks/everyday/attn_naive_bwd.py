"""Attention backward: delta, dq and dkv kernels apart, causal or not; softmax backward rows; linear attention chunk state; grouped decode by tl.sum."""
from _common import *
import triton
import triton.language as tl


@triton.jit
def bwd_delta_kernel(o, do, delta, n_rows, D: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    m = r[:, None] < n_rows
    a = tl.load(o + r[:, None] * D + d[None, :], mask=m, other=0.0).to(tl.float32)
    b = tl.load(do + r[:, None] * D + d[None, :], mask=m, other=0.0).to(tl.float32)
    tl.store(delta + r, tl.sum(a * b, axis=1), mask=r < n_rows)


@triton.jit
def bwd_dq_kernel(q, k, v, do, lse, delta, dq, L, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    start_m = tl.program_id(0) * BM
    base = tl.program_id(1).to(tl.int64) * L
    m = start_m + tl.arange(0, BM)
    d = tl.arange(0, D)
    ok = m < L
    rows = (base + m[:, None]) * D + d[None, :]
    qt = tl.load(q + rows, mask=ok[:, None], other=0.0)
    dot_ = tl.load(do + rows, mask=ok[:, None], other=0.0)
    ls = tl.load(lse + base + m, mask=ok, other=0.0)
    dl = tl.load(delta + base + m, mask=ok, other=0.0)
    acc = tl.zeros([BM, D], tl.float32)
    hi = tl.minimum(start_m + BM, L) if CAUSAL else L
    for n0 in range(0, hi, BN):
        n = n0 + tl.arange(0, BN)
        cols = (base + n[:, None]) * D + d[None, :]
        kt = tl.load(k + cols, mask=n[:, None] < L, other=0.0)
        vt = tl.load(v + cols, mask=n[:, None] < L, other=0.0)
        p = tl.exp(tl.dot(qt, tl.trans(kt)) * scale - ls[:, None])
        valid = n[None, :] < L
        if CAUSAL:
            valid &= n[None, :] <= m[:, None]
        p = tl.where(valid, p, 0.0)
        dp = tl.dot(dot_, tl.trans(vt))
        ds = p * (dp - dl[:, None]) * scale
        acc += tl.dot(ds.to(kt.dtype), kt)
    tl.store(dq + rows, acc.to(dq.dtype.element_ty), mask=ok[:, None])


@triton.jit
def bwd_dkv_kernel(q, k, v, do, lse, delta, dk, dv, L, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    start_n = tl.program_id(0) * BN
    base = tl.program_id(1).to(tl.int64) * L
    n = start_n + tl.arange(0, BN)
    d = tl.arange(0, D)
    cols = (base + n[:, None]) * D + d[None, :]
    kt = tl.load(k + cols, mask=n[:, None] < L, other=0.0)
    vt = tl.load(v + cols, mask=n[:, None] < L, other=0.0)
    dkacc = tl.zeros([BN, D], tl.float32)
    dvacc = tl.zeros([BN, D], tl.float32)
    lo = 0
    if CAUSAL:
        lo = (start_n // BM) * BM
    for m0 in range(lo, L, BM):
        m = m0 + tl.arange(0, BM)
        ok = m < L
        qT = tl.load(q + (base + m[None, :]) * D + d[:, None], mask=ok[None, :], other=0.0)
        ls = tl.load(lse + base + m, mask=ok, other=0.0)
        pT = tl.exp(tl.dot(kt, qT) * scale - ls[None, :])
        keep = ok[None, :]
        if CAUSAL:
            keep = keep & (m[None, :] >= n[:, None])
        pT = tl.where(keep, pT, 0.0)
        dot_ = tl.load(do + (base + m[:, None]) * D + d[None, :], mask=ok[:, None], other=0.0)
        dvacc += tl.dot(pT.to(dot_.dtype), dot_)
        dl = tl.load(delta + base + m, mask=ok, other=0.0)
        dpT = tl.dot(vt, tl.trans(dot_))
        dsT = pT * (dpT - dl[None, :])
        dkacc += tl.dot(dsT.to(qT.dtype), tl.trans(qT))
    tl.store(dk + cols, (dkacc * scale).to(dk.dtype.element_ty), mask=n[:, None] < L)
    tl.store(dv + cols, dvacc.to(dv.dtype.element_ty), mask=n[:, None] < L)


@case((32, 2048, 64, True), (24, 1000, 64, False), (16, 1024, 128, True))
def attention_backward(bh, l, d, causal):
    q, k, v, o, do = [randn(bh, l, d) for _ in range(5)]
    lse, delta = rand(bh, l, lo=20.0, hi=21.0), torch.empty((bh, l), device=DEV, dtype=f32)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(q), torch.empty_like(q)
    bwd_delta_kernel[(triton.cdiv(bh * l, 32),)](o, do, delta, bh * l, D=d, BLOCK=32)
    bwd_dq_kernel[(triton.cdiv(l, 64), bh)](q, k, v, do, lse, delta, dq, l, d ** -0.5, CAUSAL=causal, BM=64, BN=64, D=d, num_warps=4, num_stages=2)
    bwd_dkv_kernel[(triton.cdiv(l, 64), bh)](q, k, v, do, lse, delta, dk, dv, l, d ** -0.5, CAUSAL=causal, BM=32, BN=64, D=d, num_warps=8, num_stages=2)


@triton.jit
def masked_softmax_bwd_kernel(p, dp, ds, msk, scale, n, drop_scale, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    k = c < n
    pr = tl.load(p + row * n + c, mask=k, other=0.0).to(tl.float32)
    g = tl.load(dp + row * n + c, mask=k, other=0.0).to(tl.float32)
    keep = tl.load(msk + row * n + c, mask=k, other=0)
    g = tl.where(keep != 0, g * drop_scale, 0.0)
    t = pr * g
    r = t - pr * tl.sum(t, 0)
    tl.store(ds + row * n + c, (r * scale).to(tl.bfloat16), mask=k)


@case((16 * 2048, 2048), (12 * 1000, 1000))
def softmax_dropout_backward(rows, n):
    p, dp = randn(rows, n), randn(rows, n)
    masked_softmax_bwd_kernel[(rows,)](p, dp, torch.empty_like(p), randint(0, 2, rows, n, dtype=torch.uint8), 0.125, n, 1.1, BLOCK=triton.next_power_of_2(n), num_warps=8)


@triton.jit
def linear_attn_chunk_kernel(q, k, v, decay, o, L, CHUNK: tl.constexpr, D: tl.constexpr, BV: tl.constexpr):
    """retention: state in registers, runs over the chunks of one head and one slice of the values"""
    h = tl.program_id(1)
    i = tl.arange(0, CHUNK)
    d = tl.arange(0, D)
    dv = tl.program_id(0) * BV + tl.arange(0, BV)
    g = tl.load(decay + h)  # log2 of the decay
    diff = i[:, None] - i[None, :]
    dm = tl.where(diff >= 0, tl.exp2(g * diff.to(tl.float32)), 0.0)
    qdec = tl.exp2(g * (i + 1).to(tl.float32))
    kdec = tl.exp2(g * (CHUNK - 1 - i).to(tl.float32))
    full = tl.exp2(g * CHUNK)
    state = tl.zeros([D, BV], tl.float32)
    for c in range(0, L, CHUNK):
        r = (h * L + c + i)[:, None] * D
        qt = tl.load(q + r + d[None, :])
        kt = tl.load(k + r + d[None, :])
        vt = tl.load(v + r + dv[None, :])
        s = tl.dot(qt, tl.trans(kt)) * dm
        out = tl.dot(s.to(vt.dtype), vt)
        out += tl.dot(qt, state.to(qt.dtype)) * qdec[:, None]
        state = state * full + tl.dot(tl.trans((kt * kdec[:, None]).to(vt.dtype)), vt)
        tl.store(o + r + dv[None, :], out.to(o.dtype.element_ty))


@case((64, 4096), (16, 2048))
def linear_attention(bh, l):
    q, k, v = [randn(bh, l, 128, scale=0.1) for _ in range(3)]
    linear_attn_chunk_kernel[(2, bh)](q, k, v, rand(bh, lo=-0.1, hi=-0.001), torch.empty_like(q), l, CHUNK=64, D=128, BV=64, num_warps=4)


@triton.jit
def gqa_decode_sum_kernel(q, kc, vc, out, lens, scale, S, HK, G: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    # no tensor cores: scores by tl.sum over the head dim, a query head a program
    b = tl.program_id(0)
    hq = tl.program_id(1)
    hk = hq // G
    d = tl.arange(0, D)
    qv = tl.load(q + (b * HK * G + hq) * D + d).to(tl.float32) * scale
    n = tl.load(lens + b)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([D], tl.float32)
    for s0 in range(0, n, BN):
        s = s0 + tl.arange(0, BN)
        ptr = ((b * S + s[:, None]) * HK + hk) * D + d[None, :]
        kt = tl.load(kc + ptr, mask=s[:, None] < n, other=0.0).to(tl.float32)
        sc = tl.sum(kt * qv[None, :], axis=1)
        sc = tl.where(s < n, sc, -float("inf"))
        mn = tl.maximum(m, tl.max(sc, axis=0))
        a = tl.exp(m - mn)
        p = tl.exp(sc - mn)
        vt = tl.load(vc + ptr, mask=s[:, None] < n, other=0.0).to(tl.float32)
        acc = acc * a + tl.sum(p[:, None] * vt, axis=0)
        l = l * a + tl.sum(p, axis=0)
        m = mn
    tl.store(out + (b * HK * G + hq) * D + d, (acc / l).to(tl.float16))


@case((64, 8, 4, 2048), (16, 2, 8, 4000))
def gqa_decode_sum(b, hk, g, s):
    q = randn(b, hk * g, 128, dtype=f16)
    kc, vc = randn(b, s, hk, 128, dtype=f16), randn(b, s, hk, 128, dtype=f16)
    lens = zeros(b, dtype=i32) + (s - 3)
    gqa_decode_sum_kernel[(b, hk * g)](q, kc, vc, torch.empty_like(q), lens, 128 ** -0.5, s, hk, G=g, D=128, BN=32, num_warps=4)

"""Attention written naively: two-pass softmax, relative position bias, window masks, cross with small kv, differential, MLA decode, sparse blocks, backward in dq and dkv, fp32 with tf32."""
from _common import *
import triton
import triton.language as tl


@triton.jit
def attn_twopass_kernel(Q, K, V, O, stride_h, L, sm_scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """first pass: row max and sum; second pass: exact probabilities times V (recomputes QK^T)"""
    h = tl.program_id(1).to(tl.int64)
    start_m = tl.program_id(0) * BM
    rm = start_m + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(Q + h * stride_h + rm[:, None] * D + rd[None, :], mask=rm[:, None] < L, other=0.0)
    m = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    end = L
    if CAUSAL:
        end = tl.minimum(start_m + BM, L)
    for n in range(0, end, BN):
        rn = n + tl.arange(0, BN)
        k = tl.load(K + h * stride_h + rn[None, :] * D + rd[:, None], mask=rn[None, :] < L, other=0.0)
        s = tl.dot(q, k) * sm_scale
        ok = rn[None, :] < L
        if CAUSAL:
            ok = ok & (rn[None, :] <= rm[:, None])
        s = tl.where(ok, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        l = l * tl.exp(m - m_new) + tl.sum(tl.exp(s - m_new[:, None]), 1)
        m = m_new
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, end, BN):
        rn = n + tl.arange(0, BN)
        k = tl.load(K + h * stride_h + rn[None, :] * D + rd[:, None], mask=rn[None, :] < L, other=0.0)
        s = tl.dot(q, k) * sm_scale
        ok = rn[None, :] < L
        if CAUSAL:
            ok = ok & (rn[None, :] <= rm[:, None])
        p = tl.where(ok, tl.exp(s - m[:, None]) / l[:, None], 0.0)
        v = tl.load(V + h * stride_h + rn[:, None] * D + rd[None, :], mask=rn[:, None] < L, other=0.0)
        acc += tl.dot(p.to(v.dtype), v)
    tl.store(O + h * stride_h + rm[:, None] * D + rd[None, :], acc.to(O.dtype.element_ty), mask=rm[:, None] < L)


@case((64, 2048, 64, True), (32, 1500, 128, False))
def attention_two_pass(bh, l, d, causal):
    q, k, v = [randn(bh, l, d, dtype=f16) for _ in range(3)]
    attn_twopass_kernel[(triton.cdiv(l, 64), bh)](q, k, v, torch.empty_like(q), l * d, l, d ** -0.5, CAUSAL=causal, BM=64, BN=64, D=d, num_warps=4)


@triton.jit
def t5_bias_attention_kernel(Q, K, V, Rel, O, sqb, sqh, sqm, skb, skh, skn, H, LQ, LK, MAXD, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    # bias table (H, 2 * MAXD + 1) indexed by the clamped distance; online softmax in base 2
    off_bh = tl.program_id(1)
    b = off_bh // H
    h = off_bh % H
    Q += b * sqb + h * sqh
    O += b * sqb + h * sqh
    K += b * skb + h * skh
    V += b * skb + h * skh
    qp = tl.make_block_ptr(Q, (LQ, D), (sqm, 1), (tl.program_id(0) * BM, 0), (BM, D), (1, 0))
    kp = tl.make_block_ptr(K, (D, LK), (1, skn), (0, 0), (D, BN), (0, 1))
    vp = tl.make_block_ptr(V, (LK, D), (skn, 1), (0, 0), (BN, D), (1, 0))
    q = tl.load(qp, boundary_check=(0,), padding_option="zero")
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    mi = tl.zeros([BM], tl.float32) - 1e30
    li = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, LK, BN):
        k = tl.load(kp, boundary_check=(1,), padding_option="zero")
        qk = tl.dot(q, k)
        rn = start + tl.arange(0, BN)
        dist = rn[None, :] - rm[:, None]
        dist = tl.minimum(tl.maximum(dist, -MAXD), MAXD) + MAXD
        qk = (qk + tl.load(Rel + h * (2 * MAXD + 1) + dist)) * 1.44269504
        qk = tl.where(rn[None, :] < LK, qk, -1e30)
        m_new = tl.maximum(mi, tl.max(qk, 1))
        alpha = tl.math.exp2(mi - m_new)
        p = tl.math.exp2(qk - m_new[:, None])
        li = li * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.bfloat16), tl.load(vp, boundary_check=(0,), padding_option="zero"), acc)
        mi = m_new
        kp = tl.advance(kp, (0, BN))
        vp = tl.advance(vp, (BN, 0))
    op = tl.make_block_ptr(O, (LQ, D), (sqm, 1), (tl.program_id(0) * BM, 0), (BM, D), (1, 0))
    tl.store(op, (acc / li[:, None]).to(tl.bfloat16), boundary_check=(0,))


@case((8, 12, 1024, 64), (2, 16, 1000, 64))
def relative_position_bias(b, h, l, d):
    q, k, v = [randn(b, l, h, d) for _ in range(3)]  # (B, L, H, D)
    rel = randn(h, 257, dtype=f32)
    t5_bias_attention_kernel[(triton.cdiv(l, 128), b * h)](q, k, v, rel, torch.empty_like(q), q.stride(0), q.stride(2), q.stride(1),
                                                           k.stride(0), k.stride(2), k.stride(1), h, l, l, 128, BM=128, BN=32, D=d, num_warps=4, num_stages=3)


@triton.jit
def swin_attention_kernel(qkv, bias, msk, out, NW, H, scale, N: tl.constexpr, NP: tl.constexpr, D: tl.constexpr):
    """49 tokens a window padded to 64, a (window, head) a program; qkv: (B * nW, N, 3, H, D)"""
    w = tl.program_id(0)
    h = tl.program_id(1)
    i = tl.arange(0, NP)
    d = tl.arange(0, D)
    base = qkv + w * N * 3 * H * D + h * D
    rows = i[:, None] * (3 * H * D) + d[None, :]
    ok = i[:, None] < N
    q = tl.load(base + rows, mask=ok, other=0.0)
    k = tl.load(base + H * D + rows, mask=ok, other=0.0)
    v = tl.load(base + 2 * H * D + rows, mask=ok, other=0.0)
    q = (q * scale).to(k.dtype)
    s = tl.dot(q, tl.trans(k))
    pair = i[:, None] * N + i[None, :]
    both = ok & (i[None, :] < N)
    s += tl.load(bias + h * N * N + pair, mask=both, other=0.0)
    s += tl.load(msk + (w % NW) * N * N + pair, mask=both, other=0.0)
    s = tl.where(i[None, :] < N, s, float("-inf"))
    s = s - tl.max(s, axis=1)[:, None]
    e = tl.exp(s)
    p = e / tl.sum(e, axis=1)[:, None]
    o = tl.dot(p.to(v.dtype), v)
    tl.store(out + (w * N + i[:, None]) * H * D + h * D + d[None, :], o.to(v.dtype), mask=ok)


@case((64, 64, 3), (64, 4, 12))
def swin_window_attention(b, nw, h):
    qkv = randn(b * nw, 49, 3, h, 32, dtype=f16)
    bias, msk = randn(h, 49, 49, dtype=f32), randn(nw, 49, 49, dtype=f32)
    out = torch.empty((b * nw, 49, h, 32), device=DEV, dtype=f16)
    swin_attention_kernel[(b * nw, h)](qkv, bias, msk, out, nw, h, 32 ** -0.5, N=49, NP=64, D=32)


@triton.jit
def cross_attn_small_kv_kernel(q, k, v, o, LQ, LK, sq_b, sq_l, sk_b, sk_l, scale, D: tl.constexpr, DP: tl.constexpr, KV: tl.constexpr, BM: tl.constexpr):
    # text tokens (77) all in one tile, head dim 40 padded to 64
    b = tl.program_id(2)
    h = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, KV)
    d = tl.arange(0, DP)
    qm = (m[:, None] < LQ) & (d[None, :] < D)
    qq = tl.load(q + b * sq_b + m[:, None] * sq_l + h * D + d[None, :], mask=qm, other=0.0)
    kk = tl.load(k + b * sk_b + n[:, None] * sk_l + h * D + d[None, :], mask=(n[:, None] < LK) & (d[None, :] < D), other=0.0)
    vv = tl.load(v + b * sk_b + n[:, None] * sk_l + h * D + d[None, :], mask=(n[:, None] < LK) & (d[None, :] < D), other=0.0)
    s = tl.dot(qq, kk.T) * scale
    s = tl.where(n[None, :] < LK, s, -float("inf"))
    p = tl.exp(s - tl.max(s, 1, keep_dims=True))
    den = tl.sum(p, 1)
    r = tl.dot(p.to(tl.float16), vv) / den[:, None]
    tl.store(o + b * sq_b + m[:, None] * sq_l + h * D + d[None, :], r.to(tl.float16), mask=qm)


@case((8, 4096, 8, 40), (8, 1024, 8, 80))
def cross_attention_small_kv(b, lq, h, d):
    q, k, v = randn(b, lq, h * d, dtype=f16), randn(b, 77, h * d, dtype=f16), randn(b, 77, h * d, dtype=f16)
    cross_attn_small_kv_kernel[(triton.cdiv(lq, 64), h, b)](q, k, v, torch.empty_like(q), lq, 77, lq * h * d, h * d, 77 * h * d, h * d, d ** -0.5,
                                                            D=d, DP=triton.next_power_of_2(d), KV=128, BM=64, num_warps=4)


@triton.jit
def _online(m, l, acc, s, v):
    mn = tl.maximum(m, tl.max(s, 1))
    a = tl.exp(m - mn)
    p = tl.exp(s - mn[:, None])
    return mn, l * a + tl.sum(p, 1), acc * a[:, None] + tl.dot(p.to(v.dtype), v)


@triton.jit
def differential_attention_kernel(Q, K, V, lam_ptr, G, O, H, L, scale, lam_init, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """out = rmsnorm(softmax(q1 k1) v - lambda softmax(q2 k2) v) * (1 - lambda_init); q, k: (B, 2H, L, D), v: (B, H, L, 2D)"""
    bh = tl.program_id(1)
    b = bh // H
    h = bh % H
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    d2 = tl.arange(0, 2 * D)
    o1 = (b * 2 * H + 2 * h) * L * D
    o2 = o1 + L * D
    q1 = tl.load(Q + o1 + rm[:, None] * D + d[None, :])
    q2 = tl.load(Q + o2 + rm[:, None] * D + d[None, :])
    m1 = tl.full([BM], -float("inf"), tl.float32)
    m2 = tl.full([BM], -float("inf"), tl.float32)
    l1 = tl.zeros([BM], tl.float32)
    l2 = tl.zeros([BM], tl.float32)
    a1 = tl.zeros([BM, 2 * D], tl.float32)
    a2 = tl.zeros([BM, 2 * D], tl.float32)
    for n in range(0, (tl.program_id(0) + 1) * BM, BN):
        rn = n + tl.arange(0, BN)
        causal = rm[:, None] >= rn[None, :]
        v = tl.load(V + bh * L * 2 * D + rn[:, None] * 2 * D + d2[None, :])
        k1 = tl.load(K + o1 + rn[None, :] * D + d[:, None])
        s1 = tl.where(causal, tl.dot(q1, k1) * scale, -float("inf"))
        m1, l1, a1 = _online(m1, l1, a1, s1, v)
        k2 = tl.load(K + o2 + rn[None, :] * D + d[:, None])
        s2 = tl.where(causal, tl.dot(q2, k2) * scale, -float("inf"))
        m2, l2, a2 = _online(m2, l2, a2, s2, v)
    lam = tl.load(lam_ptr + h)
    x = a1 / l1[:, None] - lam * (a2 / l2[:, None])
    r = tl.rsqrt(tl.sum(x * x, 1) / (2 * D) + 1e-5)
    x = x * r[:, None] * tl.load(G + d2)[None, :] * (1.0 - lam_init)
    tl.store(O + bh * L * 2 * D + rm[:, None] * 2 * D + d2[None, :], x.to(tl.bfloat16))


@case((2, 12, 2048),)
def differential_attention(b, h, l):
    q, k, v = randn(b, 2 * h, l, 64), randn(b, 2 * h, l, 64), randn(b, h, l, 128)
    differential_attention_kernel[(l // 64, b * h)](q, k, v, rand(h), ones(128, dtype=f32), torch.empty_like(v), h, l, 0.125, 0.8,
                                                    BM=64, BN=64, D=64, num_warps=8, num_stages=2)


@triton.jit
def mla_decode_kernel(q_nope, q_pe, ckv, kpe, table, lens, out, lse, scale, max_blocks,
                      H: tl.constexpr, BLOCK_H: tl.constexpr, R: tl.constexpr, P: tl.constexpr, PAGE: tl.constexpr, BN: tl.constexpr, SPLITS: tl.constexpr):
    """absorbed latents: keys and values are the same (page, PAGE, R) cache, plus P rotary dims; split kv"""
    b = tl.program_id(0)
    hb = tl.program_id(1)
    sp = tl.program_id(2)
    n_ctx = tl.load(lens + b)
    per = tl.cdiv(tl.cdiv(n_ctx, SPLITS), BN) * BN
    lo = sp * per
    hi = tl.minimum(lo + per, n_ctx)
    h = hb * BLOCK_H + tl.arange(0, BLOCK_H)
    r = tl.arange(0, R)
    p = tl.arange(0, P)
    qn = tl.load(q_nope + (b * H + h[:, None]) * R + r[None, :])
    qp = tl.load(q_pe + (b * H + h[:, None]) * P + p[None, :])
    m = tl.full([BLOCK_H], -1e20, tl.float32)
    l = tl.zeros([BLOCK_H], tl.float32)
    acc = tl.zeros([BLOCK_H, R], tl.float32)
    for n in range(lo, hi, BN):
        t = n + tl.arange(0, BN)
        tm = t < hi
        page = tl.load(table + b * max_blocks + t // PAGE, mask=tm, other=0)
        slot = page.to(tl.int64) * PAGE + t % PAGE
        c = tl.load(ckv + slot[:, None] * R + r[None, :], mask=tm[:, None], other=0.0)
        kp = tl.load(kpe + slot[None, :] * P + p[:, None], mask=tm[None, :], other=0.0)
        s = tl.dot(qn, tl.trans(c))
        s += tl.dot(qp, kp)
        s = tl.where(tm[None, :], s * scale, float("-inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        a = tl.exp(m - mn)
        e = tl.exp(s - mn[:, None])
        l = l * a + tl.sum(e, 1)
        acc = acc * a[:, None] + tl.dot(e.to(c.dtype), c)
        m = mn
    o = ((b * H + h) * SPLITS + sp)
    tl.store(out + o[:, None] * R + r[None, :], acc / tl.maximum(l, 1e-20)[:, None])
    tl.store(lse + o, m + tl.log(tl.maximum(l, 1e-20)))


@case((32, 128, 4096), (4, 16, 16384))
def mla_decode(b, h, ctx):
    qn, qp = randn(b, h, 512), randn(b, h, 64)
    pages = ctx // 64
    ckv, kpe = randn(b * pages, 64, 512), randn(b * pages, 64, 64)
    table = torch.arange(b * pages, device=DEV, dtype=i32)
    lens = zeros(b, dtype=i32) + (ctx - 7)
    out, lse = torch.empty((b, h, 8, 512), device=DEV, dtype=f32), torch.empty((b, h, 8), device=DEV, dtype=f32)
    mla_decode_kernel[(b, h // 16, 8)](qn, qp, ckv, kpe, table, lens, out, lse, 0.1, pages, H=h, BLOCK_H=16, R=512, P=64, PAGE=64, BN=32, SPLITS=8, num_warps=4, num_stages=2)


@triton.jit
def block_sparse_attention_kernel(Q, K, V, O, row_start, col_blocks, H, L, scale, BLOCK: tl.constexpr, D: tl.constexpr):
    # the layout is a list of key blocks for each query block, CSR, shared by the heads
    qb = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * L * D
    rm = qb * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    q = tl.load(Q + base + rm[:, None] * D + d[None, :])
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    it = tl.load(row_start + qb)
    stop = tl.load(row_start + qb + 1)
    while it < stop:
        kb = tl.load(col_blocks + it)
        rn = kb * BLOCK + tl.arange(0, BLOCK)
        k = tl.load(K + base + rn[:, None] * D + d[None, :])
        s = tl.dot(q, k.trans()) * scale
        if kb == qb:
            s = tl.where(rm[:, None] >= rn[None, :], s, float("-inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        a = tl.exp(m - mn)
        p = tl.exp(s - mn[:, None])
        v = tl.load(V + base + rn[:, None] * D + d[None, :])
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None] + tl.dot(p.to(v.dtype), v)
        m = mn
        it += 1
    tl.store(O + base + rm[:, None] * D + d[None, :], (acc / l[:, None]).to(O.dtype.element_ty))


@case((32, 8192, 128, 64), (16, 4096, 64, 32))
def block_sparse_attention(bh, l, d, blk):
    q, k, v = [randn(bh, l, d) for _ in range(3)]
    nb = l // blk
    starts, cols = [0], []
    for i in range(nb):
        cols += sorted(set([0, i]) | set(range(max(0, i - 4), i + 1)) | set(range(i % 16, i, 16)))
        starts.append(len(cols))
    block_sparse_attention_kernel[(nb, bh)](q, k, v, torch.empty_like(q), tensor(starts), tensor(cols), bh, l, d ** -0.5, BLOCK=blk, D=d, num_warps=4)


@triton.jit
def attn_fp32_kernel(q, k, v, o, L, D, scale, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, PREC: tl.constexpr):
    h = tl.program_id(0)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    dm = d[None, :] < D
    qt = tl.load(q + h * L * D + m[:, None] * D + d[None, :], mask=(m[:, None] < L) & dm, other=0.0) * scale
    mx = tl.full([BM], -1e38, tl.float32)
    den = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BD], tl.float32)
    for n0 in range(0, L, BN):
        n = n0 + tl.arange(0, BN)
        km = (n[:, None] < L) & dm
        kt = tl.load(k + h * L * D + n[:, None] * D + d[None, :], mask=km, other=0.0)
        s = tl.dot(qt, tl.trans(kt), input_precision=PREC)
        s = tl.where(n[None, :] < L, s, -1e38)
        mn = tl.maximum(mx, tl.max(s, 1))
        corr = tl.exp(mx - mn)
        p = tl.exp(s - mn[:, None])
        den = den * corr + tl.sum(p, 1)
        vt = tl.load(v + h * L * D + n[:, None] * D + d[None, :], mask=km, other=0.0)
        acc = tl.dot(p, vt, acc * corr[:, None], input_precision=PREC)
        mx = mn
    tl.store(o + h * L * D + m[:, None] * D + d[None, :], acc / den[:, None], mask=(m[:, None] < L) & dm)


@case((96, 1024, 64, "tf32"), (32, 577, 80, "tf32x3"), (16, 512, 64, "ieee"))
def attention_fp32(bh, l, d, prec):
    q, k, v = [randn(bh, l, d, dtype=f32) for _ in range(3)]
    attn_fp32_kernel[(bh, triton.cdiv(l, 64))](q, k, v, torch.empty_like(q), l, d, d ** -0.5, BM=64, BN=32, BD=triton.next_power_of_2(d), PREC=prec)

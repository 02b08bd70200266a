"""Fused projections: gate/up with silu, both products of an MLP, RMS norm + linear, QKV + rope, LoRA, linear cross entropy."""
from _common import *
import triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.autotune(configs=[triton.Config({"BM": 128, "BN": 64, "BK": 64}, num_warps=8, num_stages=3),
                          triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=4)], key=["M", "N", "K"])
@triton.jit
def swiglu_gate_up(x, wg, wu, y, M, N, K, sxm, sxk, swn, swk, sym, syn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = (pid_n * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    xp = x + rm[:, None] * sxm + rk[None, :] * sxk
    gp = wg + rn[None, :] * swn + rk[:, None] * swk
    up = wu + rn[None, :] * swn + rk[:, None] * swk
    g = tl.zeros((BM, BN), dtype=tl.float32)
    u = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(xp, mask=rk[None, :] < K - k * BK, other=0.0)
        b = tl.load(gp, mask=rk[:, None] < K - k * BK, other=0.0)
        c = tl.load(up, mask=rk[:, None] < K - k * BK, other=0.0)
        g = tl.dot(a, b, g)
        u = tl.dot(a, c, u)
        xp += BK * sxk
        gp += BK * swk
        up += BK * swk
    out = g * tl.sigmoid(g) * u
    om = pid_m * BM + tl.arange(0, BM)
    on = pid_n * BN + tl.arange(0, BN)
    tl.store(y + om[:, None] * sym + on[None, :] * syn, out.to(y.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@case((2048, 5632, 2048), (100, 11008, 4096))
def gate_up(m, n, k):
    x, wg, wu = randn(m, k), randn(n, k, scale=0.02), randn(n, k, scale=0.02)
    y = torch.empty((m, n), device=DEV, dtype=bf16)
    swiglu_gate_up[lambda META: (triton.cdiv(m, META["BM"]), triton.cdiv(n, META["BN"]))](x, wg, wu, y, m, n, k, x.stride(0), x.stride(1), wg.stride(0), wg.stride(1), y.stride(0), y.stride(1))


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def mlp_both_gemms(x_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, o_ptr, M, HID, DIM: tl.constexpr, BM: tl.constexpr, BH: tl.constexpr):
    # hidden never leaves the chip: y = gelu(x W1^T + b1) W2^T + b2 for a block of rows
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, DIM)
    x = tl.load(x_ptr + rm[:, None] * DIM + rd[None, :], mask=rm[:, None] < M, other=0.0)
    acc = tl.zeros((BM, DIM), dtype=tl.float32)
    for h in range(0, HID, BH):
        rh = h + tl.arange(0, BH)
        w1 = tl.load(w1_ptr + rh[None, :] * DIM + rd[:, None])
        hid = tl.dot(x, w1) + tl.load(b1_ptr + rh)[None, :].to(tl.float32)
        hid = gelu(hid)
        w2 = tl.load(w2_ptr + rd[None, :] * HID + rh[:, None])
        acc += tl.dot(hid.to(x.dtype), w2)
    acc += tl.load(b2_ptr + rd)[None, :].to(tl.float32)
    tl.store(o_ptr + rm[:, None] * DIM + rd[None, :], acc.to(o_ptr.dtype.element_ty), mask=rm[:, None] < M)


@case((16384, 128, 512, 64, 64), (20000, 256, 1024, 64, 32))
def mlp_one_kernel(m, d, h, bm, bh):
    mlp_both_gemms[(triton.cdiv(m, bm),)](randn(m, d, dtype=f16), randn(h, d, dtype=f16, scale=0.1), randn(h, dtype=f16), randn(d, h, dtype=f16, scale=0.1), randn(d, dtype=f16),
                                          torch.empty((m, d), device=DEV, dtype=f16), m, h, DIM=d, BM=bm, BH=bh, num_warps=4 if d == 128 else 8, num_stages=2)


@triton.jit
def rms_linear(x, g, w, out, M, N, K, eps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # sum of squares gathered along the same loop, applied after the product
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    pm = pid % nm
    pn = pid // nm
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    sq = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ok = k + tl.arange(0, BK)
        a = tl.load(x + om[:, None] * K + ok[None, :], mask=om[:, None] < M, other=0.0)
        af = a.to(tl.float32)
        sq += tl.sum(af * af, 1)
        gg = tl.load(g + ok)
        b = tl.load(w + on[None, :] * K + ok[:, None], mask=on[None, :] < N, other=0.0)
        acc += tl.dot((a * gg[None, :]).to(b.dtype), b)
    acc = acc * tl.rsqrt(sq / K + eps)[:, None]
    tl.store(out + om[:, None] * N + on[None, :], acc.to(out.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@case((1024, 4096, 2048), (48, 6144, 4096))
def rmsnorm_linear(m, n, k):
    bm = 64 if m > 64 else 16
    rms_linear[(triton.cdiv(m, bm) * triton.cdiv(n, 128),)](randn(m, k), randn(k), randn(n, k, scale=0.02), torch.empty((m, n), device=DEV, dtype=bf16), m, n, k, 1e-5,
                                                             BM=bm, BN=128, BK=64, num_warps=4, num_stages=3)


@triton.jit
def qkv_rope_kernel(x_desc, w_desc, cos_ptr, sin_ptr, q_ptr, k_ptr, v_ptr, S, K, HQ, HKV, HD: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    # a program makes one head for BM tokens; the two halves are accumulated apart so that the rotation is local
    pm = tl.program_id(0)
    h = tl.program_id(1)
    HALF: tl.constexpr = HD // 2
    lo = tl.zeros((BM, HALF), tl.float32)
    hi = tl.zeros((BM, HALF), tl.float32)
    for k in range(0, K, BK):
        x = x_desc.load([pm * BM, k])
        w0 = w_desc.load([h * HD, k])
        w1 = w_desc.load([h * HD + HALF, k])
        lo = tl.dot(x, w0.T, lo)
        hi = tl.dot(x, w1.T, hi)
    t = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, HALF)
    if h < HQ + HKV:
        c = tl.load(cos_ptr + (t % S)[:, None] * HALF + d[None, :])
        s = tl.load(sin_ptr + (t % S)[:, None] * HALF + d[None, :])
        a = lo * c - hi * s
        hi = hi * c + lo * s
        lo = a
    if h < HQ:
        p = q_ptr + (t[:, None] * HQ + h) * HD + d[None, :]
    elif h < HQ + HKV:
        p = k_ptr + (t[:, None] * HKV + h - HQ) * HD + d[None, :]
    else:
        p = v_ptr + (t[:, None] * HKV + h - HQ - HKV) * HD + d[None, :]
    tl.store(p, lo.to(tl.bfloat16))
    tl.store(p + HALF, hi.to(tl.bfloat16))


@case((2, 1024, 2048, 16, 4, 128), (1, 2048, 1024, 16, 16, 64))
def qkv_rope(b, s, k, hq, hkv, hd):
    t = b * s
    x, w = randn(t, k), randn((hq + 2 * hkv) * hd, k, scale=0.02)
    mk = lambda n: torch.empty((t, n, hd), device=DEV, dtype=bf16)
    xd = TensorDescriptor(x, [t, k], [k, 1], [64, 64])
    wd = TensorDescriptor(w, [(hq + 2 * hkv) * hd, k], [k, 1], [hd // 2, 64])
    qkv_rope_kernel[(t // 64, hq + 2 * hkv)](xd, wd, rand(s, hd // 2), rand(s, hd // 2), mk(hq), mk(hkv), mk(hkv), s, k, hq, hkv, HD=hd, BM=64, BK=64, num_warps=4, num_stages=4)


@triton.jit
def lora_fused(x, w, A, B, y, scaling, M, N, K, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(1)
    pn = tl.program_id(0)
    xp = tl.make_block_ptr(x, (M, K), (K, 1), (pm * BM, 0), (BM, BK), (1, 0))
    wp = tl.make_block_ptr(w, (K, N), (1, K), (0, pn * BN), (BK, BN), (0, 1))
    ap = tl.make_block_ptr(A, (K, R), (1, K), (0, 0), (BK, R), (0, 1))
    acc = tl.zeros((BM, BN), tl.float32)
    low = tl.zeros((BM, R), tl.float32)
    for _ in range(0, K, BK):
        xx = tl.load(xp, boundary_check=(0, 1))
        acc += tl.dot(xx, tl.load(wp, boundary_check=(0, 1)))
        low += tl.dot(xx, tl.load(ap, boundary_check=(0,)))
        xp = tl.advance(xp, (0, BK))
        wp = tl.advance(wp, (BK, 0))
        ap = tl.advance(ap, (BK, 0))
    bp = tl.make_block_ptr(B, (R, N), (1, R), (0, pn * BN), (R, BN), (0, 1))
    b = tl.load(bp, boundary_check=(1,))
    acc += tl.dot((low * scaling).to(b.dtype), b)
    yp = tl.make_block_ptr(y, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    tl.store(yp, acc.to(y.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def multi_lora_shrink(x, a, out, adapter, K, R: tl.constexpr, SPLIT: tl.constexpr, BK: tl.constexpr):
    # one token a program and split over K: BGMV
    sk = tl.program_id(0)
    t = tl.program_id(1)
    ad = tl.load(adapter + t)
    if ad == -1:
        return
    r = tl.arange(0, R)
    acc = tl.zeros((R,), tl.float32)
    for k in range(sk * BK, K, BK * SPLIT):
        kk = k + tl.arange(0, BK)
        xv = tl.load(x + t * K + kk, mask=kk < K, other=0.0).to(tl.float32)
        av = tl.load(a + (ad * R + r)[:, None] * K + kk[None, :], mask=(kk < K)[None, :], other=0.0).to(tl.float32)
        acc += tl.sum(av * xv[None, :], 1)
    if SPLIT == 1:
        tl.store(out + t * R + r, acc)
    else:
        tl.atomic_add(out + t * R + r, acc)


@case((2048, 4096, 2048, 16), (300, 3072, 3072, 64))
def lora(m, n, k, r):
    lora_fused[(triton.cdiv(n, 128), triton.cdiv(m, 64))](randn(m, k), randn(n, k, scale=0.02), randn(r, k), zeros(n, r), torch.empty((m, n), device=DEV, dtype=bf16), 2.0, m, n, k,
                                                          R=r, BM=64, BN=128, BK=32, num_warps=4, num_stages=4)
    multi_lora_shrink[(8, m)](randn(m, k), randn(32, r, k), zeros(m, r, dtype=f32), randint(-1, 32, m, dtype=i32), k, R=r, SPLIT=8, BK=128, num_warps=2)


@triton.jit
def linear_ce_fwd(x, w, target, lse_part, tgt_logit, M, V, K: tl.constexpr, BM: tl.constexpr, BV: tl.constexpr, BK: tl.constexpr, VB: tl.constexpr):
    # online log-sum-exp over a slice of the vocabulary; logits are never stored
    pm = tl.program_id(0)
    ps = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    tgt = tl.load(target + rm, mask=rm < M, other=-100)
    m = tl.full((BM,), -1e30, tl.float32)
    s = tl.zeros((BM,), tl.float32)
    tv = tl.zeros((BM,), tl.float32)
    hit = tl.zeros((BM,), tl.int32)
    for v0 in range(ps * VB, min((ps + 1) * VB, V), BV):
        rv = v0 + tl.arange(0, BV)
        acc = tl.zeros((BM, BV), tl.float32)
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            a = tl.load(x + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
            b = tl.load(w + rv[None, :].to(tl.int64) * K + rk[:, None], mask=rv[None, :] < V, other=0.0)
            acc = tl.dot(a, b, acc)
        acc = tl.where(rv[None, :] < V, acc, -1e30)
        mn = tl.maximum(m, tl.max(acc, 1))
        s = s * tl.exp(m - mn) + tl.sum(tl.exp(acc - mn[:, None]), 1)
        m = mn
        eq = rv[None, :] == tgt[:, None]
        tv += tl.sum(tl.where(eq, acc, 0.0), 1)
        hit += tl.sum(eq.to(tl.int32), 1)
    tl.store(lse_part + rm * tl.num_programs(1) + ps, m + tl.log(s), mask=rm < M)
    tl.store(tgt_logit + rm, tv, mask=(rm < M) & (hit > 0))


@triton.jit
def ce_grad_inplace(logits, target, lse, M, V, ignore_index, inv_n, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    t = tl.load(target + r)
    p = logits + r * V
    if t == ignore_index:
        for i in range(0, V, BLOCK):
            o = i + tl.arange(0, BLOCK)
            tl.store(p + o, 0.0, mask=o < V)
        return
    l = tl.load(lse + r)
    for i in range(0, V, BLOCK):
        o = i + tl.arange(0, BLOCK)
        x = tl.load(p + o, mask=o < V, other=-float("inf")).to(tl.float32)
        g = tl.exp(x - l)
        g = tl.where(o == t, g - 1.0, g) * inv_n
        tl.store(p + o, g, mask=o < V)


@case((1024, 32000, 1024, 8), (500, 50257, 768, 16))
def linear_cross_entropy(m, v, k, splits):
    tgt = randint(0, v, m)
    vb = triton.cdiv(triton.cdiv(v, splits), 128) * 128
    linear_ce_fwd[(triton.cdiv(m, 64), splits)](randn(m, k), randn(v, k, scale=0.02), tgt, torch.empty((m, splits), device=DEV, dtype=f32), torch.empty(m, device=DEV, dtype=f32),
                                                m, v, K=k, BM=64, BV=128, BK=64, VB=vb, num_warps=8, num_stages=3)
    ce_grad_inplace[(m,)](randn(m, v), tgt, rand(m, lo=10.0, hi=12.0), m, v, -100, 1.0 / m, BLOCK=4096, num_warps=8)

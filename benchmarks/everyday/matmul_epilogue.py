"""Products with epilogues: bias+relu, gelu, swish+divide+clamp, residual, sigmoid sum, logsumexp, max pool + sum + scale, group norm statistics, SwiGLU, batch norm, softmax, dropout."""
from _common import *
import triton, triton.language as tl


@triton.jit
def gelu_tanh(x):
    z = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + (1.0 - 2.0 / (tl.exp(2.0 * z) + 1.0)))


@triton.jit
def activate(x, ACT: tl.constexpr):
    if ACT == "relu":
        x = tl.maximum(x, 0.0)
    elif ACT == "gelu":
        x = gelu_tanh(x)
    elif ACT == "gelu_erf":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.70710678))
    elif ACT == "silu":
        x = x * tl.sigmoid(x)
    elif ACT == "leaky":
        x = tl.where(x > 0, x, 0.01 * x)
    return x


@triton.jit
def gemm_bias_act(a_ptr, w_ptr, bias_ptr, c_ptr, M, N, K, stride_am, stride_wn, stride_cm, ACT: tl.constexpr,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVEN_K: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    w_ptrs = w_ptr + offs_n[None, :] * stride_wn + offs_k[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        if EVEN_K:
            a = tl.load(a_ptrs, mask=offs_m[:, None] < M, other=0.0)
            w = tl.load(w_ptrs, mask=offs_n[None, :] < N, other=0.0)
        else:
            a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k), other=0.0)
            w = tl.load(w_ptrs, mask=(offs_n[None, :] < N) & (offs_k[:, None] < K - k), other=0.0)
        acc = tl.dot(a, w, acc)
        a_ptrs += BK
        w_ptrs += BK
    acc += tl.load(bias_ptr + offs_n, mask=offs_n < N, other=0.0).to(tl.float32)[None, :]
    acc = activate(acc, ACT)
    tl.store(c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@case((4096, 3072, 768, "gelu", bf16), (2048, 4096, 1000, "leaky", f16), (1024, 8192, 8192, "relu", f32))
def linear_act(m, n, k, act, dt):
    a, w, bias = randn(m, k, dtype=dt), randn(n, k, dtype=dt), randn(n, dtype=dt)
    c = torch.empty(m, n, device=DEV, dtype=dt)
    bk = 32 if dt == f32 else 64
    gemm_bias_act[(triton.cdiv(m, 128), triton.cdiv(n, 128))](a, w, bias, c, m, n, k, k, k, n, act, 128, 128, bk, k % bk == 0, num_warps=8, num_stages=3)


@triton.jit
def matmul_swish_div_clamp(x_ptr, w_ptr, b_ptr, o_ptr, M, N, K, divide_value, lo, hi,
                           BLOCK_M: tl.constexpr = 64, BLOCK_N: tl.constexpr = 64, BLOCK_K: tl.constexpr = 32):
    """x*sigmoid(x) / d, clamp, tanh, clamp."""
    pid = tl.program_id(0)
    n_blocks = tl.cdiv(N, BLOCK_N)
    m = (pid // n_blocks) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (pid % n_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        kk = k + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + m[:, None] * K + kk[None, :], mask=(m[:, None] < M) & (kk[None, :] < K), other=0.0)
        w = tl.load(w_ptr + n[:, None] * K + kk[None, :], mask=(n[:, None] < N) & (kk[None, :] < K), other=0.0)
        acc += tl.dot(x, tl.trans(w))
    acc += tl.load(b_ptr + n, mask=n < N, other=0.0)[None, :]
    acc = acc * (1.0 / (1.0 + tl.exp(-acc)))
    acc = acc / divide_value
    acc = tl.minimum(tl.maximum(acc, lo), hi)
    e = tl.exp(2.0 * acc)
    acc = (e - 1.0) / (e + 1.0)
    acc = tl.clamp(acc, lo, hi)
    tl.store(o_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@case((1024, 8192, 8192), (128, 512, 1024))
def swish_div_clamp(m, n, k):
    x, w, b = randn(m, k, dtype=f32), randn(n, k, dtype=f32), randn(n, dtype=f32)
    o = torch.empty(m, n, device=DEV, dtype=f32)
    matmul_swish_div_clamp[(triton.cdiv(m, 64) * triton.cdiv(n, 64),)](x, w, b, o, m, n, k, 2.0, -1.0, 1.0)


@triton.jit
def gemm_residual_scale(A, B, R, gamma, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = R + gamma * (A B) (layer scale), block pointers."""
    i = tl.program_id(0) * BM
    j = tl.program_id(1) * BN
    a_bp = tl.make_block_ptr(A, (M, K), (K, 1), (i, 0), (BM, BK), (1, 0))
    b_bp = tl.make_block_ptr(B, (K, N), (N, 1), (0, j), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_bp, boundary_check=(0,))
        b = tl.load(b_bp, boundary_check=(1,))
        acc = tl.dot(a, b, acc)
        a_bp = tl.advance(a_bp, (0, BK))
        b_bp = tl.advance(b_bp, (BK, 0))
    r = tl.load(tl.make_block_ptr(R, (M, N), (N, 1), (i, j), (BM, BN), (1, 0)), boundary_check=(0, 1), padding_option="zero")
    cols = j + tl.arange(0, BN)
    g = tl.load(gamma + cols, mask=cols < N, other=0.0)
    out = r.to(tl.float32) + g[None, :] * acc
    tl.store(tl.make_block_ptr(C, (M, N), (N, 1), (i, j), (BM, BN), (1, 0)), out.to(C.dtype.element_ty), boundary_check=(0, 1))


@case((6304, 768, 3072), (4096, 4096, 4096))
def residual_scale(m, n, k):
    a, b, r = randn(m, k), randn(k, n), randn(m, n)
    c = torch.empty_like(r)
    gemm_residual_scale[(triton.cdiv(m, 64), triton.cdiv(n, 128))](a, b, r, rand(n), c, m, n, k, 64, 128, 64, num_stages=4)


@triton.jit
def linear_sigmoid_sum(x, w, b, out, M, H, K, BM: tl.constexpr, BH: tl.constexpr, BK: tl.constexpr):
    """out[m] = sum_h sigmoid(x w^T + b): the product is never stored."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros((BM,), tl.float32)
    for h0 in range(0, H, BH):
        rh = h0 + tl.arange(0, BH)
        acc = tl.zeros((BM, BH), tl.float32)
        for k0 in range(0, K, BK):
            rk = k0 + tl.arange(0, BK)
            xv = tl.load(x + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
            wv = tl.load(w + rh[None, :] * K + rk[:, None], mask=(rh[None, :] < H) & (rk[:, None] < K), other=0.0)
            acc += tl.dot(xv, wv)
        acc += tl.load(b + rh, mask=rh < H, other=0.0)[None, :]
        s = tl.where(rh[None, :] < H, tl.sigmoid(acc), 0.0)
        total += tl.sum(s, axis=1)
    tl.store(out + rm, total, mask=rm < M)


@case((16384, 1024, 512, f32), (8192, 1000, 1024, f16))
def sigmoid_sum(m, h, k, dt):
    x, w, b = randn(m, k, dtype=dt), randn(h, k, dtype=dt), randn(h, dtype=f32)
    out = torch.empty(m, device=DEV, dtype=f32)
    linear_sigmoid_sum[(triton.cdiv(m, 64),)](x, w, b, out, m, h, k, 64, 64, 32)


@triton.jit
def linear_online_lse(x, w, lse, target, tlogit, M, V, K, BM: tl.constexpr, BV: tl.constexpr, BK: tl.constexpr):
    """Fused linear + logsumexp over the vocabulary for a cross entropy."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    mx = tl.full((BM,), float("-inf"), tl.float32)
    sm = tl.zeros((BM,), tl.float32)
    tg = tl.load(target + rm, mask=rm < M, other=-1)
    tl_acc = tl.zeros((BM,), tl.float32)
    for v0 in range(0, V, BV):
        rv = v0 + tl.arange(0, BV)
        acc = tl.zeros((BM, BV), tl.float32)
        for k0 in range(0, K, BK):
            rk = k0 + tl.arange(0, BK)
            a = tl.load(x + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
            b = tl.load(w + rv[None, :] * K + rk[:, None], mask=rv[None, :] < V, other=0.0)
            acc = tl.dot(a, b, acc)
        acc = tl.where(rv[None, :] < V, acc, float("-inf"))
        tl_acc += tl.sum(tl.where(rv[None, :] == tg[:, None], acc, 0.0), 1)
        new = tl.maximum(mx, tl.max(acc, 1))
        sm = sm * tl.exp(mx - new) + tl.sum(tl.exp(acc - new[:, None]), 1)
        mx = new
    tl.store(lse + rm, mx + tl.log(sm), mask=rm < M)
    tl.store(tlogit + rm, tl_acc, mask=rm < M)


@case((8192, 8000, 512), (16384, 5003, 256))
def fused_linear_lse(m, v, k):
    x, w = randn(m, k), randn(v, k, scale=0.05)
    lse, tlg = torch.empty(m, device=DEV, dtype=f32), torch.empty(m, device=DEV, dtype=f32)
    linear_online_lse[(triton.cdiv(m, 64),)](x, w, lse, randint(0, v, m), tlg, m, v, k, 64, 128, 64, num_warps=4)


@triton.jit
def gemm_maxpool_sum_scale(x, w, b, out, N, K, scale, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Linear, max pool of 2 over features, sum over features, scale; partial sums by atomics."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        acc += tl.dot(tl.load(x + rm[:, None] * K + rk[None, :]), tl.load(w + rn[None, :] * K + rk[:, None]))
    acc += tl.load(b + rn)[None, :]
    pooled = tl.max(tl.reshape(acc, (BM, BN // 2, 2)), axis=2)
    tl.atomic_add(out + rm, tl.sum(pooled, axis=1) * scale)


@case((1024, 4096, 4096, f32), (4096, 8192, 1024, bf16))
def maxpool_sum(m, n, k, dt):
    x, w = randn(m, k, dtype=dt), randn(n, k, dtype=dt)
    out = zeros(m, dtype=f32)
    gemm_maxpool_sum_scale[(m // 64, n // 64)](x, w, randn(n, dtype=f32), out, n, k, 0.5, 64, 64, 32)


@triton.jit
def gemm_groupnorm_hardtanh(x, w, b, gw, gb, o, M, N, K, eps, GS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Groups of GS features lie in one tile: group norm in the epilogue, then hardtanh."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        xv = tl.load(x + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        wv = tl.load(w + rn[:, None] * K + rk[None, :])
        acc = tl.dot(xv, wv.T, acc)
    acc += tl.load(b + rn)[None, :]
    t = tl.reshape(acc, (BM, BN // GS, GS))
    mean = tl.sum(t, 2) / GS
    d = t - mean[:, :, None]
    var = tl.sum(d * d, 2) / GS
    t = tl.reshape(d * tl.rsqrt(var + eps)[:, :, None], (BM, BN))
    t = t * tl.load(gw + rn)[None, :] + tl.load(gb + rn)[None, :]
    t = tl.where(t > 2.0, 2.0, tl.where(t < -2.0, -2.0, t))
    tl.store(o + rm[:, None] * N + rn[None, :], t.to(o.dtype.element_ty), mask=rm[:, None] < M)


@case((1024, 8192, 8192, 64, bf16), (2000, 1024, 1024, 32, f32))
def groupnorm_hardtanh(m, n, k, gs, dt):
    x, w = randn(m, k, dtype=dt), randn(n, k, dtype=dt)
    b, gw, gb = (randn(n, dtype=f32) for _ in range(3))
    o = torch.empty(m, n, device=DEV, dtype=dt)
    gemm_groupnorm_hardtanh[(triton.cdiv(m, 64), n // 128)](x, w, b, gw, gb, o, m, n, k, 1e-5, gs, 64, 128, 32, num_warps=4)


@triton.jit
def swiglu_dual(x_ptr, wg_ptr, wu_ptr, o_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    pid_m, pid_n = tl.swizzle2d(pid // tl.cdiv(N, BN), pid % tl.cdiv(N, BN), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP_M)
    om = pid_m * BM + tl.arange(0, BM)
    on = pid_n * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    g = tl.zeros((BM, BN), tl.float32)
    u = tl.zeros((BM, BN), tl.float32)
    xp = x_ptr + om[:, None] * K + ok[None, :]
    woff = on[None, :] * K + ok[:, None]
    for k in range(0, K, BK):
        x = tl.load(xp + k, mask=om[:, None] < M, other=0.0)
        g = tl.dot(x, tl.load(wg_ptr + woff + k), g)
        u = tl.dot(x, tl.load(wu_ptr + woff + k), u)
    h = g * tl.sigmoid(g) * u
    tl.store(o_ptr + om[:, None] * N + on[None, :], h.to(o_ptr.dtype.element_ty), mask=om[:, None] < M)


@case((2048, 11008, 4096), (33, 14336, 4096))
def swiglu(m, n, k):
    x, wg, wu = randn(m, k), randn(n, k), randn(n, k)
    o = torch.empty(m, n, device=DEV, dtype=bf16)
    bm = 128 if m > 64 else 64
    swiglu_dual[(triton.cdiv(m, bm) * (n // 64),)](x, wg, wu, o, m, n, k, bm, 64, 64, 8, num_warps=4, num_stages=3)


@triton.jit
def gemm_stats(A, W, C, colsum, colsq, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """First pass of linear + batch norm: the product and per-column sum and sum of squares."""
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        rk = k * BK + tl.arange(0, BK)
        acc += tl.dot(tl.load(A + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0), tl.load(W + rn[None, :] * K + rk[:, None]))
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(C.dtype.element_ty), mask=rm[:, None] < M)
    tl.atomic_add(colsum + rn, tl.sum(acc, axis=0))
    tl.atomic_add(colsq + rn, tl.sum(acc * acc, axis=0))


@triton.jit
def bn_gelu_relu_apply(C, colsum, colsq, gamma, beta, O, M, N, eps, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    mu = tl.load(colsum + rn) / M
    var = tl.load(colsq + rn) / M - mu * mu
    sc = tl.load(gamma + rn) * tl.rsqrt(var + eps)
    x = tl.load(C + rm[:, None] * N + rn[None, :], mask=rm[:, None] < M, other=0.0).to(tl.float32)
    y = (x - mu[None, :]) * sc[None, :] + tl.load(beta + rn)[None, :]
    y = tl.maximum(gelu_tanh(y), 0.0)
    tl.store(O + rm[:, None] * N + rn[None, :], y.to(O.dtype.element_ty), mask=rm[:, None] < M)


@case((16384, 4096, 1024))
def linear_batchnorm(m, n, k):
    a, w = randn(m, k, dtype=f16), randn(n, k, dtype=f16)
    c, o = torch.empty(m, n, device=DEV, dtype=f16), torch.empty(m, n, device=DEV, dtype=f16)
    s, q = zeros(n, dtype=f32), zeros(n, dtype=f32)
    gemm_stats[(m // 128, n // 128)](a, w, c, s, q, m, n, k, 128, 128, 64, num_warps=8)
    bn_gelu_relu_apply[(m // 16, n // 256)](c, s, q, rand(n), rand(n), o, m, n, 1e-5, 16, 256)


@triton.jit
def linear_softmax_dropout(x, w, o, M, N, K, p, seed, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A row of logits fits a tile: product, softmax and dropout in one kernel."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        acc += tl.dot(tl.load(x + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0),
                      tl.load(w + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0))
    acc = tl.where(rn[None, :] < N, acc, -float("inf"))
    acc = tl.exp(acc - tl.max(acc, 1)[:, None])
    acc = acc / tl.sum(acc, 1)[:, None]
    keep = tl.rand(seed, rm[:, None] * N + rn[None, :]) > p
    acc = tl.where(keep, acc / (1 - p), 0.0)
    tl.store(o + rm[:, None] * N + rn[None, :], acc.to(o.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@case((32768, 200, 1024), (60000, 256, 512))
def softmax_dropout(m, n, k):
    x, w = randn(m, k), randn(k, n)
    o = torch.empty(m, n, device=DEV, dtype=bf16)
    linear_softmax_dropout[(triton.cdiv(m, 64),)](x, w, o, m, n, k, 0.1, 1234, 64, 256, 32, num_warps=8)

"""Implicit GEMM 2-d convolutions: NHWC and NCHW, flattened K with div/mod, taps outside with static_range, grouped, im2col + product, weight gradients."""
from _common import *
import triton, triton.language as tl


def out_size(h, k, s, p, d=1):
    return (h + 2 * p - d * (k - 1) - 1) // s + 1


@triton.jit
def conv_nhwc_kernel(x_ptr, w_ptr, y_ptr, NB, H, W, C, OC, OH, OW,
                     KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
                     BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """M = n*oh*ow, N = oc, K = (kh, kw, c) with loops over taps; w (KH, KW, C, OC)."""
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    m = pm * BM + tl.arange(0, BM)
    oc = pn * BN + tl.arange(0, BN)
    mm = m < NB * OH * OW
    ow = m % OW
    oh = (m // OW) % OH
    nb = m // (OW * OH)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for kh in tl.static_range(KH):
        for kw in tl.static_range(KW):
            ih = oh * STRIDE - PAD + kh
            iw = ow * STRIDE - PAD + kw
            ok = mm & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            base = ((nb * H + ih) * W + iw) * C
            for c0 in range(0, C, BK):
                c = c0 + tl.arange(0, BK)
                x = tl.load(x_ptr + base[:, None] + c[None, :], mask=ok[:, None] & (c[None, :] < C), other=0.0)
                w = tl.load(w_ptr + ((kh * KW + kw) * C + c)[:, None] * OC + oc[None, :], mask=(c[:, None] < C) & (oc[None, :] < OC), other=0.0)
                acc = tl.dot(x, w, acc)
    tl.store(y_ptr + m[:, None] * OC + oc[None, :], acc.to(y_ptr.dtype.element_ty), mask=mm[:, None] & (oc[None, :] < OC))


@case((32, 56, 64, 64, 3, 1, 1), (32, 28, 128, 256, 3, 2, 1), (16, 112, 32, 64, 5, 1, 2))
def conv_nhwc(n, hw, c, oc, k, s, p):
    x, w = randn(n, hw, hw, c, dtype=f16), randn(k, k, c, oc, dtype=f16)
    o = out_size(hw, k, s, p)
    y = torch.empty(n, o, o, oc, device=DEV, dtype=f16)
    conv_nhwc_kernel[(triton.cdiv(n * o * o, 128), triton.cdiv(oc, 64))](x, w, y, n, hw, hw, c, oc, o, o, k, k, s, p, 128, 64, 32)


@triton.autotune(
    configs=[triton.Config({'BM': 64, 'BN': 128, 'BK': 32}, num_warps=4, num_stages=3),
             triton.Config({'BM': 128, 'BN': 64, 'BK': 16}, num_warps=8, num_stages=2)],
    key=['CI', 'CO', 'H'])
@triton.jit
def conv_nchw_flatk(x_ptr, w_ptr, y_ptr, N, CI, H, W, CO, OH, OW, stride, pad, dil,
                    KH: tl.constexpr, KW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows are output channels, columns output pixels, K = ci*kh*kw flattened and decoded by // and %."""
    pid_oc = tl.program_id(0)
    pid_px = tl.program_id(1)
    oc = pid_oc * BM + tl.arange(0, BM)
    px = pid_px * BN + tl.arange(0, BN)
    P = OH * OW
    n = px // P
    rem = px % P
    oh = rem // OW
    ow = rem % OW
    K = CI * KH * KW
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        ci = k // (KH * KW)
        r = k % (KH * KW)
        kh = r // KW
        kw = r % KW
        ih = oh[None, :] * stride - pad + kh[:, None] * dil
        iw = ow[None, :] * stride - pad + kw[:, None] * dil
        xm = (k < K)[:, None] & (n < N)[None, :] & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
        x = tl.load(x_ptr + ((n[None, :] * CI + ci[:, None]) * H + ih) * W + iw, mask=xm, other=0.0)
        w = tl.load(w_ptr + oc[:, None] * K + k[None, :], mask=(oc < CO)[:, None] & (k < K)[None, :], other=0.0)
        acc += tl.dot(w, x, allow_tf32=True)
    tl.store(y_ptr + (n[None, :] * CO + oc[:, None]) * P + rem[None, :], acc, mask=(oc < CO)[:, None] & (n < N)[None, :])


@case((16, 64, 64, 128, 3, 1, 1, 1), (16, 3, 224, 96, 11, 4, 2, 1), (8, 32, 128, 64, 3, 1, 2, 2))
def conv_nchw(n, ci, hw, co, k, s, p, d):
    x, w = randn(n, ci, hw, hw, dtype=f32), randn(co, ci, k, k, dtype=f32)
    o = out_size(hw, k, s, p, d)
    y = torch.empty(n, co, o, o, device=DEV, dtype=f32)
    grid = lambda M: (triton.cdiv(co, M['BM']), triton.cdiv(n * o * o, M['BN']))
    conv_nchw_flatk[grid](x, w, y, n, ci, hw, hw, co, o, o, s, p, d, k, k)


@triton.jit
def grouped_conv_dot(x, w, y, N, C, H, W, CPG: tl.constexpr, KPG: tl.constexpr, G, K: tl.constexpr, BP: tl.constexpr):
    """Groups of 16..64 channels: one dot a tap with the whole group as the inner size; NHWC, w (G, K, K, CPG, KPG)."""
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    g = tl.program_id(1)
    wv_ = p % W
    h = (p // W) % H
    n = p // (W * H)
    ci = tl.arange(0, CPG)
    co = tl.arange(0, KPG)
    acc = tl.zeros((BP, KPG), tl.float32)
    for t in range(K * K):
        ih = h + t // K - K // 2
        iw = wv_ + t % K - K // 2
        ok = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (n < N)
        a = tl.load(x + ((n * H + ih) * W + iw)[:, None] * C + g * CPG + ci[None, :], mask=ok[:, None], other=0.0)
        b = tl.load(w + (g * K * K + t) * CPG * KPG + ci[:, None] * KPG + co[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(y + p[:, None] * (G * KPG) + g * KPG + co[None, :], acc.to(y.dtype.element_ty), mask=(n < N)[:, None])


@case((32, 56, 256, 8), (32, 28, 512, 32))
def conv_grouped(n, hw, c, g):
    x, w = randn(n, hw, hw, c), randn(g, 3, 3, c // g, c // g)
    y = torch.empty_like(x)
    grouped_conv_dot[(triton.cdiv(n * hw * hw, 128), g)](x, w, y, n, c, hw, hw, c // g, c // g, g, 3, 128)


@triton.jit
def im2col_kernel(x, col, total, C, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    m = i < total
    kk = C * K * K
    row = i // kk
    j = i % kk
    ow = row % OW
    oh = (row // OW) % OH
    n = row // (OH * OW)
    c = j // (K * K)
    ih = oh * S - P + (j // K) % K
    iw = ow * S - P + j % K
    v = tl.load(x + ((n * C + c) * H + ih) * W + iw, mask=m & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W), other=0.0)
    tl.store(col + i, v, mask=m)


@triton.jit
def col_gemm(col, w, y, M, CO, K, P, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    o = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(col + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(w + o[None, :] * K + k[:, None], mask=(o[None, :] < CO) & (k[:, None] < K), other=0.0)
        acc += tl.dot(a, b)
    tl.store(y + (m // P)[:, None] * CO * P + o[None, :] * P + (m % P)[:, None], acc.to(y.dtype.element_ty), mask=(m[:, None] < M) & (o[None, :] < CO))


@case((16, 64, 56, 128, 3, 1, 1), (32, 3, 224, 64, 7, 2, 3))
def conv_im2col(n, c, hw, co, k, s, p):
    x, w = randn(n, c, hw, hw), randn(co, c * k * k)
    o = out_size(hw, k, s, p)
    rows, kk = n * o * o, c * k * k
    col = torch.empty(rows, kk, device=DEV, dtype=bf16)
    y = torch.empty(n, co, o, o, device=DEV, dtype=bf16)
    im2col_kernel[(triton.cdiv(rows * kk, 1024),)](x, col, rows * kk, c, hw, hw, o, o, k, s, p, 1024)
    col_gemm[(triton.cdiv(rows, 128), triton.cdiv(co, 64))](col, w, y, rows, co, kk, o * o, 128, 64, 32)


@triton.jit
def conv_wgrad(x, dy, dw, N, H, W, CI, CO, K: tl.constexpr, PIX, BO: tl.constexpr, BI: tl.constexpr, BP: tl.constexpr):
    """dw[co, kh, kw, ci] += sum over a slice of the pixels; NHWC, stride 1, 'same'."""
    pid = tl.program_id(0)
    tap = pid % (K * K)
    ti = pid // (K * K)
    ni = tl.cdiv(CI, BI)
    o = (ti // ni) * BO + tl.arange(0, BO)
    c = (ti % ni) * BI + tl.arange(0, BI)
    kh = tap // K
    kw = tap % K
    start = tl.program_id(1) * PIX
    acc = tl.zeros((BO, BI), tl.float32)
    for p0 in range(start, start + PIX, BP):
        p = p0 + tl.arange(0, BP)
        ok = p < N * H * W
        ih = (p // W) % H + kh - K // 2
        iw = p % W + kw - K // 2
        n = p // (H * W)
        g = tl.load(dy + p[None, :] * CO + o[:, None], mask=ok[None, :] & (o[:, None] < CO), other=0.0)
        v = tl.load(x + ((n * H + ih) * W + iw)[:, None] * CI + c[None, :],
                    mask=(ok & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W))[:, None] & (c[None, :] < CI), other=0.0)
        acc = tl.dot(g, v, acc)
    tl.atomic_add(dw + (o[:, None] * K * K + tap) * CI + c[None, :], acc, mask=(o[:, None] < CO) & (c[None, :] < CI))


@case((16, 56, 64, 128), (32, 14, 256, 256))
def conv_weight_grad(n, hw, ci, co):
    x, dy = randn(n, hw, hw, ci, dtype=f16), randn(n, hw, hw, co, dtype=f16)
    dw = zeros(co, 3, 3, ci, dtype=f32)
    pix = triton.cdiv(triton.cdiv(n * hw * hw, 8), 64) * 64
    conv_wgrad[(9 * triton.cdiv(co, 64) * triton.cdiv(ci, 64), 8)](x, dy, dw, n, hw, hw, ci, co, 3, pix, 64, 64, 64)


@triton.jit
def conv_winograd_mul(u, v, m, T, CI, CO, BT: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr):
    """The sixteen products of F(2x2, 3x3): m[e] = v[e] (T, CI) @ u[e] (CI, CO)."""
    e = tl.program_id(2)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    o = tl.program_id(1) * BC + tl.arange(0, BC)
    acc = tl.zeros((BT, BC), tl.float32)
    for k in range(0, CI, BK):
        c = k + tl.arange(0, BK)
        a = tl.load(v + (e * T + t[:, None]) * CI + c[None, :], mask=t[:, None] < T, other=0.0)
        b = tl.load(u + (e * CI + c[:, None]) * CO + o[None, :])
        acc += tl.dot(a, b)
    tl.store(m + (e * T + t[:, None]) * CO + o[None, :], acc.to(m.dtype.element_ty), mask=t[:, None] < T)


@case((16 * 28 * 28, 64, 64), (16 * 14 * 14, 256, 256))
def winograd_products(t, ci, co):
    u, v = randn(16, ci, co, dtype=f16), randn(16, t, ci, dtype=f16)
    m = torch.empty(16, t, co, device=DEV, dtype=f16)
    conv_winograd_mul[(triton.cdiv(t, 128), co // 64, 16)](u, v, m, t, ci, co, 128, 64, 32)

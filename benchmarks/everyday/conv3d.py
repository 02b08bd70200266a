"""3-d convolutions: direct loops, implicit GEMM NCDHW and NDHWC, depthwise, fused leaky relu+add+clamp+gelu, softmax over channels, max pool, patch embedding of video."""
from _common import *
import triton, triton.language as tl


@triton.jit
def conv3d_direct(x, w, y, CI, D, H, W, CO, OD, OH, OW, K: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(0) // CO
    oc = tl.program_id(0) % CO
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = s < OD * OH * OW
    ow = s % OW
    oh = (s // OW) % OH
    od = s // (OW * OH)
    acc = tl.zeros((BLOCK,), tl.float32)
    for ci in range(CI):
        for kd in range(K):
            for kh in tl.static_range(K):
                for kw in tl.static_range(K):
                    wv = tl.load(w + (((oc * CI + ci) * K + kd) * K + kh) * K + kw)
                    xv = tl.load(x + (((n * CI + ci) * D + od + kd) * H + oh + kh) * W + ow + kw, mask=m, other=0.0)
                    acc += wv * xv
    tl.store(y + (n * CO + oc) * OD * OH * OW + OH * OW * od + OW * oh + ow, acc, mask=m)


@case((4, 3, 16, 64, 64, 3), (2, 8, 32, 48, 32, 3))
def conv3d_naive(n, ci, d, hw, co, k):
    x, w = randn(n, ci, d, hw, hw, dtype=f32), randn(co, ci, k, k, k, dtype=f32)
    od, o = d - k + 1, hw - k + 1
    y = torch.empty(n, co, od, o, o, device=DEV, dtype=f32)
    conv3d_direct[(n * co, triton.cdiv(od * o * o, 512))](x, w, y, ci, d, hw, hw, co, od, o, o, k, 512)


@triton.jit
def conv3d_gemm(x_ptr, w_ptr, b_ptr, y_ptr, N, CI, D, H, W, CO, OD, OH, OW, stride, pad,
                KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, EPI: tl.constexpr,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    o = tl.program_id(1) * BN + tl.arange(0, BN)
    P = OD * OH * OW
    n = m // P
    r = m % P
    d0 = (r // (OH * OW)) * stride - pad
    h0 = ((r // OW) % OH) * stride - pad
    w0 = (r % OW) * stride - pad
    K = CI * KD * KH * KW
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        kw = k % KW
        kh = (k // KW) % KH
        kd = (k // (KW * KH)) % KD
        ci = k // (KW * KH * KD)
        dd = d0[:, None] + kd[None, :]
        hh = h0[:, None] + kh[None, :]
        ww = w0[:, None] + kw[None, :]
        ok = (dd >= 0) & (dd < D) & (hh >= 0) & (hh < H) & (ww >= 0) & (ww < W) & (n < N)[:, None] & (k < K)[None, :]
        a = tl.load(x_ptr + (((n[:, None] * CI + ci[None, :]) * D + dd) * H + hh) * W + ww, mask=ok, other=0.0)
        b = tl.load(w_ptr + o[None, :] * K + k[:, None], mask=(o < CO)[None, :] & (k < K)[:, None], other=0.0)
        acc += tl.dot(a, b)
    bias = tl.load(b_ptr + o, mask=o < CO, other=0.0)
    acc += bias[None, :]
    if EPI == 1:      # leaky relu, add, clamp, gelu
        acc = tl.where(acc > 0, acc, 0.2 * acc) + bias[None, :]
        acc = tl.clamp(acc, -1.0, 1.0)
        acc = 0.5 * acc * (1.0 + tl.erf(acc / 1.4142135623730951))
    elif EPI == 2:    # softmax over channels (all in the tile)
        acc = tl.where((o < CO)[None, :], acc, float("-inf"))
        acc = tl.exp(acc - tl.max(acc, 1)[:, None])
        acc /= tl.sum(acc, 1)[:, None]
    tl.store(y_ptr + (n[:, None] * CO + o[None, :]) * P + r[:, None], acc.to(y_ptr.dtype.element_ty), mask=(n < N)[:, None] & (o < CO)[None, :])


@case((4, 8, 32, 64, 64, 3, 1, 1, 1, f32), (8, 3, 16, 64, 16, 3, 1, 0, 2, f32), (4, 32, 16, 56, 64, 3, 2, 1, 0, f16))
def conv3d_implicit(n, ci, d, hw, co, k, s, p, epi, dt):
    x, w, b = randn(n, ci, d, hw, hw, dtype=dt), randn(co, ci, k, k, k, dtype=dt), randn(co, dtype=f32)
    od, o = (d + 2 * p - k) // s + 1, (hw + 2 * p - k) // s + 1
    y = torch.empty(n, co, od, o, o, device=DEV, dtype=dt)
    bn = min(64, co)
    conv3d_gemm[(triton.cdiv(n * od * o * o, 128), triton.cdiv(co, bn))](x, w, b, y, n, ci, d, hw, hw, co, od, o, o, s, p, k, k, k, epi, 128, bn, 32)


@triton.jit
def causal_conv3d_ndhwc(x, w, y, T, H, W, C: tl.constexpr, CO, BW: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr):
    """Video VAE: causal in time, 'same' in space, 3x3x3; w (27, C, CO); a segment of a row a program."""
    row = tl.program_id(0)
    h = row % H
    t = (row // H) % T
    n = row // (H * T)
    xw = tl.program_id(1) * BW + tl.arange(0, BW)
    o = tl.program_id(2) * BC + tl.arange(0, BC)
    acc = tl.zeros((BW, BC), tl.float32)
    for tap in range(27):
        tt = tl.maximum(t + tap // 9 - 2, 0)
        hh = h + (tap // 3) % 3 - 1
        ww = xw + tap % 3 - 1
        if (hh >= 0) & (hh < H):
            for c0 in range(0, C, BK):
                c = c0 + tl.arange(0, BK)
                a = tl.load(x + ((((n * T + tt) * H + hh) * W + ww) * C)[:, None] + c[None, :], mask=((ww >= 0) & (ww < W))[:, None], other=0.0)
                b = tl.load(w + (tap * C + c[:, None]) * CO + o[None, :])
                acc = tl.dot(a, b, acc)
    tl.store(y + ((((n * T + t) * H + h) * W + xw) * CO)[:, None] + o[None, :], acc.to(y.dtype.element_ty), mask=(xw < W)[:, None])


@case((1, 9, 64, 64, 128, 128), (1, 5, 60, 104, 96, 192))
def video_vae_conv(n, t, h, w_, c, co):
    x, w = randn(n, t, h, w_, c), randn(27, c, co)
    y = torch.empty(n, t, h, w_, co, device=DEV, dtype=bf16)
    causal_conv3d_ndhwc[(n * t * h, triton.cdiv(w_, 64), co // 64)](x, w, y, t, h, w_, c, co, 64, 64, 32)


@triton.jit
def depthwise3d(x, w, y, C, D, H, W, BH: tl.constexpr, BW: tl.constexpr):
    pid = tl.program_id(2)
    d = pid % D
    nc = pid // D
    c = nc % C
    h = tl.program_id(1) * BH + tl.arange(0, BH)[:, None]
    v = tl.program_id(0) * BW + tl.arange(0, BW)[None, :]
    acc = tl.zeros((BH, BW), tl.float32)
    for i in range(3):
        dd = d + i - 1
        if dd >= 0 and dd < D:
            for j in tl.static_range(3):
                for k in tl.static_range(3):
                    hh = h + j - 1
                    vv = v + k - 1
                    acc += tl.load(w + c * 27 + i * 9 + j * 3 + k) * tl.load(x + ((nc * D + dd) * H + hh) * W + vv, mask=(hh >= 0) & (hh < H) & (vv >= 0) & (vv < W), other=0.0)
    tl.store(y + ((nc * D + d) * H + h) * W + v, acc, mask=(h < H) & (v < W))


@case((4, 32, 16, 56), (2, 64, 32, 64))
def conv3d_depthwise(n, c, d, hw):
    x, w = randn(n, c, d, hw, hw, dtype=f32), randn(c, 27, dtype=f32)
    depthwise3d[(triton.cdiv(hw, 32), triton.cdiv(hw, 16), n * c * d)](x, w, torch.empty_like(x), c, d, hw, hw, 16, 32)


@triton.jit
def patch_embed3d(x, w, b, pos, y, CI, T, H, W, E, PT: tl.constexpr, PS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Non-overlapping (PT, PS, PS) patches times w (E, CI*PT*PS*PS), bias and position."""
    n = tl.program_id(2)
    nh = H // PS
    nw = W // PS
    L = (T // PT) * nh * nw
    l = tl.program_id(0) * BM + tl.arange(0, BM)
    e = tl.program_id(1) * BN + tl.arange(0, BN)
    base = (l // (nh * nw)) * PT * H * W + ((l // nw) % nh) * PS * W + (l % nw) * PS
    K = CI * PT * PS * PS
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        ko = ((k // (PT * PS * PS)) * T + (k // (PS * PS)) % PT) * H * W + ((k // PS) % PS) * W + k % PS
        a = tl.load(x + n * CI * T * H * W + base[:, None] + ko[None, :], mask=(l < L)[:, None], other=0.0)
        acc = tl.dot(a, tl.load(w + e[None, :] * K + k[:, None]), acc)
    acc += tl.load(b + e)[None, :]
    acc += tl.load(pos + l[:, None] * E + e[None, :], mask=(l < L)[:, None], other=0.0)
    tl.store(y + (n * L + l[:, None]) * E + e[None, :], acc.to(y.dtype.element_ty), mask=(l < L)[:, None])


@case((8, 3, 16, 224, 768, 2, 16), (16, 16, 8, 64, 1152, 1, 2))
def video_patches(n, ci, t, hw, e, pt, ps):
    x, w, b = randn(n, ci, t, hw, hw), randn(e, ci * pt * ps * ps), randn(e, dtype=f32)
    l = (t // pt) * (hw // ps) ** 2
    pos = randn(l, e, dtype=f32)
    y = torch.empty(n, l, e, device=DEV, dtype=bf16)
    patch_embed3d[(triton.cdiv(l, 128), e // 128, n)](x, w, b, pos, y, ci, t, hw, hw, e, pt, ps, 128, 128, 32, num_warps=8)

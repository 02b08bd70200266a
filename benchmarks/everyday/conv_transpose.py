"""Transposed 2-d and 3-d convolutions: gather over taps that divide, dot a phase, scatter with atomics, fused bias/clamp/scale/divide, pixel shuffle, kernel = stride upsampling."""
from _common import *
import triton, triton.language as tl


@triton.jit
def convT2d_gather(x, w, b, y, CI, H, W, CO, OH, OW, S: tl.constexpr, P: tl.constexpr, K: tl.constexpr, scale, FUSE: tl.constexpr, BLOCK: tl.constexpr):
    """An output channel and flat pixels; w (CI, CO, K, K)."""
    pid = tl.program_id(1)
    n = pid // CO
    co = pid % CO
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < OH * OW
    oh = i // OW
    ow = i % OW
    acc = tl.zeros((BLOCK,), tl.float32)
    for kh in tl.static_range(K):
        th = oh + P - kh
        for kw in tl.static_range(K):
            tw = ow + P - kw
            ih = th // S
            iw = tw // S
            ok = m & (th >= 0) & (tw >= 0) & (th % S == 0) & (tw % S == 0) & (ih < H) & (iw < W)
            for ci in range(CI):
                xv = tl.load(x + ((n * CI + ci) * H + ih) * W + iw, mask=ok, other=0.0)
                wv = tl.load(w + ((ci * CO + co) * K + kh) * K + kw)
                acc += xv * wv
    acc += tl.load(b + co)
    if FUSE:
        acc = tl.minimum(tl.maximum(acc, 0.0), 1.0) * scale
        acc = tl.minimum(tl.maximum(acc, 0.0), 1.0) / scale
    tl.store(y + (n * CO + co) * OH * OW + i, acc, mask=m)


@case((8, 32, 64, 32, 3, 2, 1, True), (4, 32, 128, 32, 3, 1, 1, False))
def convT2d(n, ci, hw, co, k, s, p, fuse):
    x, w, b = randn(n, ci, hw, hw, dtype=f32), randn(ci, co, k, k, dtype=f32), randn(co, dtype=f32)
    o = (hw - 1) * s - 2 * p + k
    y = torch.empty(n, co, o, o, device=DEV, dtype=f32)
    convT2d_gather[(triton.cdiv(o * o, 512), n * co)](x, w, b, y, ci, hw, hw, co, o, o, s, p, k, 2.0, fuse, 512)


@triton.jit
def convT2d_phase_dot(x, w, y, N, H, W, CI, CO, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """K = 4, S = 2, P = 1 (GAN generators): the four phases are 2x2 convolutions; NHWC, w (4, 4, CI, CO)."""
    ph = tl.program_id(2) // 2
    pw = tl.program_id(2) % 2
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    o = tl.program_id(1) * BN + tl.arange(0, BN)
    q = m % W
    p = (m // W) % H
    n = m // (H * W)
    acc = tl.zeros((BM, BN), tl.float32)
    for a in tl.static_range(2):
        for c in tl.static_range(2):
            ih = p + ph - a
            iw = q + pw - c
            kh = 1 - ph + 2 * a
            kw = 1 - pw + 2 * c
            ok = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (n < N)
            for k0 in range(0, CI, BK):
                ci = k0 + tl.arange(0, BK)
                xv = tl.load(x + ((n * H + ih) * W + iw)[:, None] * CI + ci[None, :], mask=ok[:, None], other=0.0)
                wv = tl.load(w + ((kh * 4 + kw) * CI + ci)[:, None] * CO + o[None, :], mask=(o < CO)[None, :], other=0.0)
                acc = tl.dot(xv, wv, acc)
    out = ((n * 2 * H + 2 * p + ph) * 2 * W + 2 * q + pw)[:, None] * CO + o[None, :]
    tl.store(y + out, tl.maximum(acc, 0.0).to(y.dtype.element_ty), mask=(n < N)[:, None] & (o < CO)[None, :])


@case((64, 16, 256, 128), (32, 64, 64, 64))
def gan_upsample(n, hw, ci, co):
    x, w = randn(n, hw, hw, ci, dtype=f16), randn(4, 4, ci, co, dtype=f16)
    y = torch.empty(n, 2 * hw, 2 * hw, co, device=DEV, dtype=f16)
    convT2d_phase_dot[(triton.cdiv(n * hw * hw, 128), triton.cdiv(co, 64), 4)](x, w, y, n, hw, hw, ci, co, 128, 64, 32)


@triton.jit
def convT2d_scatter(x, w, y, CI: tl.constexpr, H, W, CO, OH, OW, S, P, K: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr):
    """Products of input pixels with each tap, added into the output by atomics."""
    n = tl.program_id(0)
    p = tl.program_id(1) * BP + tl.arange(0, BP)
    t = tl.program_id(2)
    kh = t // K
    kw = t % K
    ok = p < H * W
    ci = tl.arange(0, CI)
    xv = tl.load(x + (n * CI + ci[None, :]) * H * W + p[:, None], mask=ok[:, None], other=0.0)
    oh = (p // W) * S - P + kh
    ow = (p % W) * S - P + kw
    ok = ok & (oh >= 0) & (oh < OH) & (ow >= 0) & (ow < OW)
    for c0 in range(0, CO, BC):
        co = c0 + tl.arange(0, BC)
        wv = tl.load(w + (ci[:, None] * CO + co[None, :]) * K * K + t, mask=(co < CO)[None, :], other=0.0)
        r = tl.dot(xv, wv)
        tl.atomic_add(y + ((n * CO + co[None, :]) * OH + oh[:, None]) * OW + ow[:, None], r, mask=ok[:, None] & (co < CO)[None, :])


@case((16, 64, 56, 32, 3, 2, 1), (8, 32, 64, 64, 5, 3, 0))
def convT2d_atomics(n, ci, hw, co, k, s, p):
    x, w = randn(n, ci, hw, hw, dtype=f32), randn(ci, co, k, k, dtype=f32)
    o = (hw - 1) * s - 2 * p + k
    convT2d_scatter[(n, triton.cdiv(hw * hw, 64), k * k)](x, w, zeros(n, co, o, o, dtype=f32), ci, hw, hw, co, o, o, s, p, k, 64, 32)


@triton.jit
def upsample_k_eq_s(x, w, b, y, M, CI, CO, H, W, F: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """kernel = stride = F: one product (M, CI) @ (CI, CO*F*F), stored unshuffled; gelu. U-Net, mask decoders."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    J = CO * F * F
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, CI, BK):
        c = k + tl.arange(0, BK)
        acc += tl.dot(tl.load(x + m[:, None] * CI + c[None, :], mask=m[:, None] < M, other=0.0),
                      tl.load(w + c[:, None] * J + j[None, :], mask=j[None, :] < J, other=0.0))
    co = j // (F * F)
    acc += tl.load(b + co, mask=j < J, other=0.0)[None, :]
    acc = 0.5 * acc * (1 + tl.erf(acc * 0.70710678))
    n = m // (H * W)
    oh = ((m // W) % H)[:, None] * F + ((j // F) % F)[None, :]
    ow = (m % W)[:, None] * F + (j % F)[None, :]
    tl.store(y + ((n[:, None] * CO + co[None, :]) * (H * F) + oh) * (W * F) + ow, acc.to(y.dtype.element_ty), mask=(m[:, None] < M) & (j[None, :] < J))


@case((8, 64, 256, 64, 2), (4, 128, 128, 64, 2))
def unet_up(n, hw, ci, co, f):
    x, w, b = randn(n, hw, hw, ci), randn(ci, co * f * f), randn(co, dtype=f32)
    y = torch.empty(n, co, hw * f, hw * f, device=DEV, dtype=bf16)
    m = n * hw * hw
    upsample_k_eq_s[(triton.cdiv(m, 128), triton.cdiv(co * f * f, 64))](x, w, b, y, m, ci, co, hw, hw, f, 128, 64, 64)


@triton.jit
def convT3d_gather_dot(x, w, y, N, D, H, W, CI: tl.constexpr, CO: tl.constexpr, OD, OH, OW, S: tl.constexpr, P: tl.constexpr,
                       K: tl.constexpr, BM: tl.constexpr):
    """NDHWC, w (K, K, K, CI, CO), all channels in the tile; taps that do not divide are masked (wasted) work; swish at the end."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    ow = m % OW
    oh = (m // OW) % OH
    od = (m // (OW * OH)) % OD
    n = m // (OW * OH * OD)
    ci = tl.arange(0, CI)
    co = tl.arange(0, CO)
    acc = tl.zeros((BM, CO), tl.float32)
    for t in range(K * K * K):
        td = od + P - t // (K * K)
        th = oh + P - (t // K) % K
        tw = ow + P - t % K
        ok = (td >= 0) & (th >= 0) & (tw >= 0) & (td % S == 0) & (th % S == 0) & (tw % S == 0) & (n < N)
        i, j, k = td // S, th // S, tw // S
        ok = ok & (i < D) & (j < H) & (k < W)
        xv = tl.load(x + ((((n * D + i) * H + j) * W + k) * CI)[:, None] + ci[None, :], mask=ok[:, None], other=0.0)
        wv = tl.load(w + t * CI * CO + ci[:, None] * CO + co[None, :])
        acc += tl.dot(xv, wv)
    acc = acc * tl.sigmoid(acc)
    tl.store(y + m[:, None] * CO + co[None, :], acc.to(y.dtype.element_ty), mask=(n < N)[:, None])


@case((4, 16, 32, 32, 16, 3, 2, 1, f32), (2, 16, 32, 64, 64, 4, 2, 1, f16))
def convT3d(n, d, hw, ci, co, k, s, p, dt):
    x, w = randn(n, d, hw, hw, ci, dtype=dt), randn(k, k, k, ci, co, dtype=dt)
    od, o = (d - 1) * s - 2 * p + k, (hw - 1) * s - 2 * p + k
    y = torch.empty(n, od, o, o, co, device=DEV, dtype=dt)
    convT3d_gather_dot[(triton.cdiv(n * od * o * o, 64),)](x, w, y, n, d, hw, hw, ci, co, od, o, o, s, p, k, 64)

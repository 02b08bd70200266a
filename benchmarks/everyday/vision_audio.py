"""Images and sound: im2col, pixel shuffle, mel filterbank, STFT by dot, Swin window partition, 3-d pooling, causal depthwise conv1d, instance norm NHWC."""
from _common import *
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def im2col_kernel(x, col, C, H, W, OH, OW, KH: tl.constexpr, KW: tl.constexpr, stride, pad, dil, total, BLOCK: tl.constexpr):
    # col: (N, C*KH*KW, OH*OW)
    o = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    L = OH * OW
    l = o % L
    k = (o // L) % (C * KH * KW)
    n = o // (L.to(tl.int64) * C * KH * KW)
    ow = l % OW
    oh = l // OW
    kw = k % KW
    kh = (k // KW) % KH
    c = k // (KW * KH)
    ih = oh * stride - pad + kh * dil
    iw = ow * stride - pad + kw * dil
    ok = (o < total) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
    v = tl.load(x + ((n * C + c) * H + ih) * W + iw, mask=ok, other=0.0)
    tl.store(col + o, v, mask=o < total)


@case((16, 64, 56, 56, 3, 1), (8, 3, 224, 224, 7, 2))
def im2col(n, c, h, w, k, s):
    x = randn(n, c, h, w)
    oh = (h + 2 * (k // 2) - k) // s + 1
    col = torch.empty((n, c * k * k, oh * oh), device=DEV, dtype=bf16)
    im2col_kernel[(triton.cdiv(col.numel(), 1024),)](x, col, c, h, w, oh, oh, k, k, s, k // 2, 2 - 1, col.numel(), BLOCK=1024)


@triton.jit
def pixel_shuffle_prelu_kernel(x, slope, y, H, W, R: tl.constexpr, C: tl.constexpr, BLOCK: tl.constexpr):
    # (N, C*R*R, H, W) -> (N, C, H*R, W*R); one output row a program row
    n = tl.program_id(2)
    oy = tl.program_id(1)
    ox = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = ox < W * R
    for c in tl.static_range(C):
        ch = c * R * R + (oy % R) * R + ox % R
        v = tl.load(x + ((n * C * R * R + ch) * H + oy // R) * W + ox // R, mask=m, other=0.0)
        a = tl.load(slope + c)
        v = tl.where(v >= 0, v, a * v)
        tl.store(y + ((n * C + c) * H * R + oy) * (W * R) + ox, v, mask=m)


@case((8, 3, 540, 960, 2), (4, 4, 270, 480, 4))
def pixel_shuffle(n, c, h, w, r):
    x, y = randn(n, c * r * r, h, w, dtype=f16), torch.empty((n, c, h * r, w * r), device=DEV, dtype=f16)
    pixel_shuffle_prelu_kernel[(triton.cdiv(w * r, 512), h * r, n)](x, randn(c, dtype=f16), y, h, w, R=r, C=c, BLOCK=512)


@triton.jit
def stft_power_kernel(wav, cosb, sinb, out, T, n_frames, n_freq, hop, NFFT: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_F: tl.constexpr, BLOCK_K: tl.constexpr):
    # frames are gathered on the fly, the windowed DFT bases (NFFT, n_freq) come in
    b = tl.program_id(2)
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    re = tl.zeros((BLOCK_T, BLOCK_F), dtype=tl.float32)
    im = tl.zeros((BLOCK_T, BLOCK_F), dtype=tl.float32)
    for k in range(0, NFFT, BLOCK_K):
        kk = k + tl.arange(0, BLOCK_K)
        s = t[:, None] * hop + kk[None, :] - NFFT // 2
        s = tl.where(s < 0, -s, s)
        s = tl.where(s >= T, 2 * T - 2 - s, s)  # reflect padding
        fr = tl.load(wav + b * T + s, mask=t[:, None] < n_frames, other=0.0)
        fm = f[None, :] < n_freq
        cb = tl.load(cosb + kk[:, None] * n_freq + f[None, :], mask=fm, other=0.0)
        sb = tl.load(sinb + kk[:, None] * n_freq + f[None, :], mask=fm, other=0.0)
        re = tl.dot(fr, cb, re, input_precision="tf32")
        im = tl.dot(fr, sb, im, input_precision="tf32")
    tl.store(out + (b * n_frames + t[:, None]) * n_freq + f[None, :], re * re + im * im, mask=(t[:, None] < n_frames) & (f[None, :] < n_freq))


@triton.jit
def mel_log_kernel(power, fb, mel, rows, n_freq, n_mel, BLOCK_R: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    m = tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_R, BLOCK_M), tl.float32)
    for k0 in range(0, n_freq, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        p = tl.load(power + r[:, None] * n_freq + k[None, :], mask=(r[:, None] < rows) & (k[None, :] < n_freq), other=0.0)
        f = tl.load(fb + k[:, None] * n_mel + m[None, :], mask=(k[:, None] < n_freq) & (m[None, :] < n_mel), other=0.0)
        acc += tl.dot(p, f, input_precision="ieee")
    v = tl.log2(tl.maximum(acc, 1e-10)) * 0.30102999566
    tl.store(mel + r[:, None] * n_mel + m[None, :], (v + 4.0) / 4.0, mask=(r[:, None] < rows) & (m[None, :] < n_mel))


@case((16, 480000, 400, 160, 80), (8, 441000, 1024, 256, 128))
def whisper_mel(b, t, nfft, hop, nmel):
    wav = randn(b, t, dtype=f32)
    frames, nf = t // hop, nfft // 2 + 1
    cb, sb = randn(nfft, nf, dtype=f32), randn(nfft, nf, dtype=f32)
    power = torch.empty((b, frames, nf), device=DEV, dtype=f32)
    mel = torch.empty((b, frames, nmel), device=DEV, dtype=f32)
    stft_power_kernel[(triton.cdiv(frames, 64), triton.cdiv(nf, 64), b)](wav, cb, sb, power, t, frames, nf, hop, NFFT=nfft, BLOCK_T=64, BLOCK_F=64, BLOCK_K=16)
    mel_log_kernel[(triton.cdiv(b * frames, 32),)](power, rand(nf, nmel), mel, b * frames, nf, nmel, BLOCK_R=32, BLOCK_M=128, BLOCK_K=32)


@triton.jit
def swin_partition_ln_kernel(x, gamma, beta, y, H, W, C, shift, eps, WS: tl.constexpr, BLOCK_C: tl.constexpr):
    """cyclic shift + window partition + layer norm: (B, H, W, C) -> (B * nW, WS * WS, C), a token a program"""
    tok = tl.program_id(0)
    b = tl.program_id(1)
    nww = W // WS
    win = tok // (WS * WS)
    inner = tok % (WS * WS)
    yy = ((win // nww) * WS + inner // WS + shift) % H
    xx = ((win % nww) * WS + inner % WS + shift) % W
    c = tl.arange(0, BLOCK_C)
    m = c < C
    v = tl.load(x + ((b * H + yy) * W + xx) * C + c, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / C
    d = tl.where(m, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / C + eps)
    o = d * rstd * tl.load(gamma + c, mask=m, other=0.0) + tl.load(beta + c, mask=m, other=0.0)
    tl.store(y + (b * H * W + tok) * C + c, o, mask=m)


@case((64, 56, 56, 96, 3), (64, 14, 14, 384, 0))
def swin_window_partition(b, h, w, c, shift):
    x, g, be = randn(b, h, w, c), randn(c), randn(c)
    swin_partition_ln_kernel[(h * w, b)](x, g, be, torch.empty_like(x), h, w, c, shift, 1e-5, WS=7, BLOCK_C=triton.next_power_of_2(c), num_warps=2)


@triton.jit
def maxpool3d_kernel(x, y, idx_out, D, H, W, OD, OH, OW, total, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < total
    ow = o % OW
    oh = o // OW % OH
    od = o // (OW * OH) % OD
    nc = o // (OW * OH * OD)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    arg = tl.zeros((BLOCK,), tl.int32)
    for kd in range(K):
        for kh in range(K):
            for kw in range(K):
                d = od * S - P + kd
                h = oh * S - P + kh
                w = ow * S - P + kw
                ok = m & (d >= 0) & (d < D) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
                flat = (d * H + h) * W + w
                v = tl.load(x + nc * D * H * W + flat, mask=ok, other=float("-inf"))
                gt = v > best
                arg = tl.where(gt, flat, arg)
                best = tl.where(gt, v, best)
    tl.store(y + o, best, mask=m)
    tl.store(idx_out + o, arg, mask=m)


@case((2, 32, 64, 128, 128), (8, 64, 16, 56, 56))
def maxpool3d(n, c, d, h, w):
    x = randn(n, c, d, h, w, dtype=f32)
    sh = (n, c, d // 2, h // 2, w // 2)
    y, idx = torch.empty(sh, device=DEV, dtype=f32), torch.empty(sh, device=DEV, dtype=i32)
    maxpool3d_kernel[(triton.cdiv(y.numel(), 256),)](x, y, idx, d, h, w, *sh[2:], y.numel(), K=3, S=2, P=1, BLOCK=256)


@triton.jit
def causal_dwconv1d_silu_kernel(x, w, b, y, L, D, stride_b, WIDTH: tl.constexpr, BLOCK_D: tl.constexpr, CHUNK: tl.constexpr):
    # sliding window of the last three inputs kept in registers, runs along time
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    bt = tl.program_id(2)
    t0 = tl.program_id(1) * CHUNK
    m = d < D
    w0 = tl.load(w + d * WIDTH + 0, mask=m, other=0.0).to(tl.float32)
    w1 = tl.load(w + d * WIDTH + 1, mask=m, other=0.0).to(tl.float32)
    w2 = tl.load(w + d * WIDTH + 2, mask=m, other=0.0).to(tl.float32)
    w3 = tl.load(w + d * WIDTH + 3, mask=m, other=0.0).to(tl.float32)
    bias = tl.load(b + d, mask=m, other=0.0).to(tl.float32)
    p = x + bt * stride_b + d
    x0 = tl.load(p + (t0 - 3) * D, mask=m & (t0 >= 3), other=0.0).to(tl.float32)
    x1 = tl.load(p + (t0 - 2) * D, mask=m & (t0 >= 2), other=0.0).to(tl.float32)
    x2 = tl.load(p + (t0 - 1) * D, mask=m & (t0 >= 1), other=0.0).to(tl.float32)
    for t in range(t0, min(t0 + CHUNK, L)):
        x3 = tl.load(p + t * D, mask=m, other=0.0).to(tl.float32)
        acc = bias + w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3
        acc = acc / (1.0 + tl.exp(-acc))
        tl.store(y + bt * stride_b + t * D + d, acc, mask=m)
        x0 = x1
        x1 = x2
        x2 = x3


@case((4, 4096, 5120), (1, 10000, 1536))
def causal_conv1d(b, l, d):
    x, w, bias = randn(b, l, d), randn(d, 4), randn(d)
    causal_dwconv1d_silu_kernel[(triton.cdiv(d, 256), triton.cdiv(l, 64), b)](x, w, bias, torch.empty_like(x), l, d, l * d, WIDTH=4, BLOCK_D=256, CHUNK=64, num_warps=2)


@triton.jit
def _welford(m1, v1, n1, m2, v2, n2):
    n = n1 + n2
    delta = m2 - m1
    r = tl.where(n == 0.0, 0.0, n2 / n)
    return m1 + delta * r, v1 + v2 + delta * delta * n1 * r, n


@triton.jit
def instance_norm_nhwc_kernel(x, gamma, beta, y, HW, C, eps, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    n = tl.program_id(1)
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    cm = (c < C)[None, :]
    mean = tl.zeros((BLOCK_P, BLOCK_C), tl.float32)
    m2 = tl.zeros((BLOCK_P, BLOCK_C), tl.float32)
    cnt = tl.zeros((BLOCK_P, BLOCK_C), tl.float32)
    for p0 in range(0, HW, BLOCK_P):
        p = p0 + tl.arange(0, BLOCK_P)
        ok = (p < HW)[:, None] & cm
        v = tl.load(x + (n * HW + p[:, None]) * C + c[None, :], mask=ok, other=0.0).to(tl.float32)
        cnt_new = cnt + tl.where(ok, 1.0, 0.0)
        dlt = tl.where(ok, v - mean, 0.0)
        mean += dlt / tl.maximum(cnt_new, 1.0)
        m2 += dlt * tl.where(ok, v - mean, 0.0)
        cnt = cnt_new
    mu, ss, num = tl.reduce((mean, m2, cnt), 0, _welford)
    rstd = tl.rsqrt(ss / num + eps)
    g = tl.load(gamma + c, mask=c < C, other=0.0) * rstd
    b = tl.load(beta + c, mask=c < C, other=0.0) - mu * g
    for p0 in range(0, HW, BLOCK_P):
        p = p0 + tl.arange(0, BLOCK_P)
        ok = (p < HW)[:, None] & cm
        v = tl.load(x + (n * HW + p[:, None]) * C + c[None, :], mask=ok, other=0.0).to(tl.float32)
        v = v * g[None, :] + b[None, :]
        tl.store(y + (n * HW + p[:, None]) * C + c[None, :], tl.where(v > 0, v, 0.2 * v).to(tl.float16), mask=ok)


@case((8, 128 * 128, 256), (64, 1000, 200))
def instance_norm_nhwc(n, hw, c):
    x, g, b = randn(n, hw, c, dtype=f16), ones(c, dtype=f32), zeros(c, dtype=f32)
    instance_norm_nhwc_kernel[(triton.cdiv(c, 16), n)](x, g, b, torch.empty_like(x), hw, c, 1e-5, BLOCK_P=128, BLOCK_C=16, num_warps=8)


@triton.jit
def avgpool2x2_desc_kernel(xd, yd, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    # whole plane as one 2-d descriptor, reshape and sum twice
    h = tl.program_id(0) * BLOCK_H
    w = tl.program_id(1) * BLOCK_W
    t = xd.load([h, w]).to(tl.float32)
    t = tl.sum(tl.reshape(t, (BLOCK_H // 2, 2, BLOCK_W)), axis=1)
    t = tl.sum(tl.reshape(t, (BLOCK_H // 2, BLOCK_W // 2, 2)), axis=2)
    yd.store([h // 2, w // 2], (t * 0.25).to(tl.bfloat16))


@case((16384, 8192), (6000, 4096))
def avgpool_desc(h, w):
    x, y = randn(h, w), torch.empty((h // 2, w // 2), device=DEV, dtype=bf16)
    xd = TensorDescriptor(x, [h, w], [w, 1], [32, 128])
    yd = TensorDescriptor(y, [h // 2, w // 2], [w // 2, 1], [16, 64])
    avgpool2x2_desc_kernel[(triton.cdiv(h, 32), triton.cdiv(w, 128))](xd, yd, BLOCK_H=32, BLOCK_W=128)

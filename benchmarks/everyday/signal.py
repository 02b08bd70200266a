"""Signal processing: FFT stages and in-register FFTs, DFT by products, four-step twiddles, STFT magnitude, mel bank, FIR, IIR by scans, WHT, DCT, complex products."""
from _common import *
import math
import triton, triton.language as tl


# one radix-2 Stockham stage over global memory, re/im apart
@triton.jit
def stockham_radix2(xr, xi, yr, yi, n, s, batch_stride, BLOCK: tl.constexpr):
    b = tl.program_id(1)
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = k < n // 2
    p = k // s
    q = k % s
    o = b * batch_stride
    ar = tl.load(xr + o + k, mask=m)
    ai = tl.load(xi + o + k, mask=m)
    br = tl.load(xr + o + k + n // 2, mask=m)
    bi = tl.load(xi + o + k + n // 2, mask=m)
    ang = -6.283185307179586 * p.to(tl.float32) * s / n
    wr = tl.cos(ang)
    wi = tl.sin(ang)
    dr = ar - br
    di = ai - bi
    dst = o + q + s * 2 * p
    tl.store(yr + dst, ar + br, mask=m)
    tl.store(yi + dst, ai + bi, mask=m)
    tl.store(yr + dst + s, dr * wr - di * wi, mask=m)
    tl.store(yi + dst + s, dr * wi + di * wr, mask=m)


@case((1 << 20, 16), (4096, 2048))
def fft_stages(n, batch):
    a, b, c, d = (randn(batch, n, dtype=f32) for _ in range(4))
    s = 1
    for _ in range(3):
        stockham_radix2[(triton.cdiv(n // 2, 512), batch)](a, b, c, d, n, s, n, BLOCK=512)
        a, b, c, d = c, d, a, b
        s *= 2


# radix-4 butterflies in registers: rows of N = 4 * Q, split of the leading axis with reshape/trans/split
@triton.jit
def radix4_pass(x_ptr, y_ptr, batch, Q: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, 4 * Q)
    m = (r < batch)[:, None]
    off = r[:, None] * (8 * Q) + 2 * k[None, :]
    re = tl.load(x_ptr + off, mask=m, other=0.0)
    im = tl.load(x_ptr + off + 1, mask=m, other=0.0)
    re = tl.permute(tl.reshape(re, (ROWS, 2, 2, Q)), (0, 3, 1, 2))
    im = tl.permute(tl.reshape(im, (ROWS, 2, 2, Q)), (0, 3, 1, 2))
    re02, re13 = tl.split(re)
    im02, im13 = tl.split(im)
    r0, r2 = tl.split(re02)
    r1, r3 = tl.split(re13)
    i0, i2 = tl.split(im02)
    i1, i3 = tl.split(im13)
    s0r, s0i, s1r, s1i = r0 + r2, i0 + i2, r0 - r2, i0 - i2
    s2r, s2i, s3r, s3i = r1 + r3, i1 + i3, r1 - r3, i1 - i3
    y0r, y0i = s0r + s2r, s0i + s2i
    y2r, y2i = s0r - s2r, s0i - s2i
    y1r, y1i = s1r + s3i, s1i - s3r
    y3r, y3i = s1r - s3i, s1i + s3r
    ang = tl.arange(0, Q).to(tl.float32) * (-6.283185307179586 / (4 * Q))
    c1, d1 = tl.cos(ang)[None, :], tl.sin(ang)[None, :]
    c2, d2 = c1 * c1 - d1 * d1, 2 * c1 * d1
    c3, d3 = c2 * c1 - d2 * d1, c2 * d1 + d2 * c1
    zr = tl.join(tl.join(y0r, y2r * c2 - y2i * d2), tl.join(y1r * c1 - y1i * d1, y3r * c3 - y3i * d3))
    zi = tl.join(tl.join(y0i, y2r * d2 + y2i * c2), tl.join(y1r * d1 + y1i * c1, y3r * d3 + y3i * c3))
    out = tl.reshape(tl.join(tl.reshape(zr, (ROWS, 4 * Q)), tl.reshape(zi, (ROWS, 4 * Q))), (ROWS, 8 * Q))
    oo = r[:, None] * (8 * Q) + tl.arange(0, 8 * Q)[None, :]
    tl.store(y_ptr + oo, out, mask=m)


@case((65536, 64), (10000, 256))
def fft_radix4(batch, q):
    x = randn(batch, 4 * q, 2, dtype=f32); y = torch.empty_like(x)
    rows = 1024 // (4 * q)
    radix4_pass[(triton.cdiv(batch, rows),)](x, y, batch, Q=q, ROWS=rows)


# 64-point DFT of rows by four real products
@triton.jit
def dft_matmul(xr_ptr, xi_ptr, cos_ptr, sin_ptr, yr_ptr, yi_ptr, rows, N: tl.constexpr, BM: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.arange(0, N)
    m = (r < rows)[:, None]
    off = r[:, None] * N + k[None, :]
    c = tl.load(cos_ptr + k[:, None] * N + k[None, :])
    s = tl.load(sin_ptr + k[:, None] * N + k[None, :])
    xr = tl.load(xr_ptr + off, mask=m, other=0.0)
    xi = tl.load(xi_ptr + off, mask=m, other=0.0)
    yr = tl.dot(xr, c) + tl.dot(xi, s)
    yi = tl.dot(xi, c) - tl.dot(xr, s)
    tl.store(yr_ptr + off, yr.to(yr_ptr.dtype.element_ty), mask=m)
    tl.store(yi_ptr + off, yi.to(yi_ptr.dtype.element_ty), mask=m)


@case((100000, 64, f16), (50000, 128, f32))
def dft(rows, n, dt):
    xr, xi = randn(rows, n, dtype=dt), randn(rows, n, dtype=dt); c, s = randn(n, n, dtype=dt), randn(n, n, dtype=dt)
    yr, yi = torch.empty_like(xr), torch.empty_like(xi)
    dft_matmul[(triton.cdiv(rows, 64),)](xr, xi, c, s, yr, yi, rows, N=n, BM=64, num_warps=4)


# the middle of a four-step FFT: DFT-32 down the columns, twiddle, DFT-32 along the rows; one 32x32 signal a program
@triton.jit
def fft1024_fourstep(x_re, x_im, y_re, y_im, wre, wim, P: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, P)
    o = b * P * P + i[:, None] * P + i[None, :]
    xr = tl.load(x_re + o)
    xi = tl.load(x_im + o)
    w_off = i[:, None] * P + i[None, :]
    fr = tl.load(wre + w_off)
    fi = tl.load(wim + w_off)
    ar = tl.dot(fr, xr, input_precision="ieee") - tl.dot(fi, xi, input_precision="ieee")
    ai = tl.dot(fr, xi, input_precision="ieee") + tl.dot(fi, xr, input_precision="ieee")
    ang = -6.283185307179586 / (P * P) * (i[:, None] * i[None, :]).to(tl.float32)
    tr = tl.cos(ang)
    ti = tl.sin(ang)
    br = ar * tr - ai * ti
    bi = ar * ti + ai * tr
    cr = tl.dot(br, fr, input_precision="ieee") - tl.dot(bi, fi, input_precision="ieee")
    ci = tl.dot(br, fi, input_precision="ieee") + tl.dot(bi, fr, input_precision="ieee")
    ot = b * P * P + i[None, :] * P + i[:, None]
    tl.store(y_re + ot, cr)
    tl.store(y_im + ot, ci)


@case(8192, 20000)
def fft1024(b):
    xr, xi, wr, wi = randn(b, 1024, dtype=f32), randn(b, 1024, dtype=f32), randn(32, 32, dtype=f32), randn(32, 32, dtype=f32)
    yr, yi = torch.empty_like(xr), torch.empty_like(xi)
    fft1024_fourstep[(b,)](xr, xi, yr, yi, wr, wi, P=32, num_warps=2)


# STFT magnitude: frames built on the fly by overlapping pointers, products with windowed bases
@triton.autotune(configs=[triton.Config({"BT": 64, "BF": 64, "BK": 32}, num_warps=4, num_stages=3),
                          triton.Config({"BT": 128, "BF": 64, "BK": 32}, num_warps=8, num_stages=2)], key=["n_frames", "n_fft"])
@triton.jit
def stft_mag(sig, basis_re, basis_im, mag, n_frames, n_bins, n_fft, hop, sig_stride, BT: tl.constexpr, BF: tl.constexpr, BK: tl.constexpr):
    b = tl.program_id(2)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    f = tl.program_id(1) * BF + tl.arange(0, BF)
    acc_r = tl.zeros((BT, BF), tl.float32)
    acc_i = tl.zeros((BT, BF), tl.float32)
    for k0 in range(0, n_fft, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(sig + b * sig_stride + t[:, None] * hop + k[None, :], mask=(t < n_frames)[:, None], other=0.0)
        cr = tl.load(basis_re + k[:, None] * n_bins + f[None, :], mask=(f < n_bins)[None, :], other=0.0)
        ci = tl.load(basis_im + k[:, None] * n_bins + f[None, :], mask=(f < n_bins)[None, :], other=0.0)
        acc_r = tl.dot(x, cr, acc_r)
        acc_i = tl.dot(x, ci, acc_i)
    v = tl.sqrt(acc_r * acc_r + acc_i * acc_i + 1e-9)
    tl.store(mag + (b * n_frames + t[:, None]) * n_bins + f[None, :], v, mask=(t < n_frames)[:, None] & (f < n_bins)[None, :])


@case((8, 480000, 400, 160), (16, 220500, 1024, 256))
def stft(b, n, nfft, hop):
    frames = (n - nfft) // hop + 1; bins = nfft // 2 + 1
    nf = triton.cdiv(nfft, 32) * 32
    x = randn(b, n + 1024, dtype=f32); cr, ci = randn(nf, bins, dtype=f32), randn(nf, bins, dtype=f32); o = zeros(b, frames, bins, dtype=f32)
    stft_mag[lambda M: (triton.cdiv(frames, M["BT"]), triton.cdiv(bins, M["BF"]), b)](x, cr, ci, o, frames, bins, nf, hop, n + 1024)


# log-mel: power times a filter bank with sum(a*b) (no dot), then log
@triton.jit
def log_mel(mag, fb, out, frames, bins, n_mels, BM: tl.constexpr, BLOCK_BINS: tl.constexpr):
    t = tl.program_id(0)
    mel = tl.arange(0, BM)
    acc = tl.zeros((BM,), dtype=tl.float32)
    for s in range(0, bins, BLOCK_BINS):
        k = s + tl.arange(0, BLOCK_BINS)
        p = tl.load(mag + t * bins + k, mask=k < bins, other=0.0)
        w = tl.load(fb + mel[:, None] * bins + k[None, :], mask=(mel < n_mels)[:, None] & (k < bins)[None, :], other=0.0)
        acc += tl.sum(w * (p * p)[None, :], axis=1)
    v = tl.log(tl.maximum(acc, 1e-10)) * 0.4342944819
    tl.store(out + mel * frames + t, v, mask=mel < n_mels)


@case((24000, 201, 80), (10000, 513, 128))
def mel(frames, bins, n_mels):
    m = rand(frames, bins); fb = rand(n_mels, bins); o = zeros(n_mels, frames, dtype=f32)
    log_mel[(frames,)](m, fb, o, frames, bins, n_mels, BM=128, BLOCK_BINS=32)


@triton.jit
def fir_kernel(x, h, y, n, taps, BLOCK: tl.constexpr):
    ch = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for t in range(taps):
        c = tl.load(h + ch * taps + t)
        v = tl.load(x + ch * n + i - t, mask=(i >= t) & (i < n), other=0.0)
        acc += c * v
    tl.store(y + ch * n + i, acc, mask=i < n)


@case((32, 480000, 64), (2, 5000000, 127))
def fir(ch, n, taps):
    x = randn(ch, n, dtype=f32); h = randn(ch, taps, dtype=f32); y = torch.empty_like(x)
    fir_kernel[(triton.cdiv(n, 1024), ch)](x, h, y, n, taps, BLOCK=1024, num_warps=4)


@triton.jit
def _linrec(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


# one-pole low pass, a scan along time in chunks, the state carried
@triton.jit
def iir_one_pole(x_ptr, y_ptr, a, T, C, BT: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    mc = c < C
    state = tl.zeros((BC,), tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + tl.arange(0, BT)
        off = t[:, None] * C + c[None, :]
        m = (t < T)[:, None] & mc[None, :]
        x = tl.load(x_ptr + off, mask=m, other=0.0).to(tl.float32)
        coef = tl.full((BT, BC), 0.0, tl.float32) + a
        pa, pb = tl.associative_scan((coef, (1.0 - a) * x), 0, _linrec)
        y = pb + pa * state[None, :]
        tl.store(y_ptr + off, y.to(y_ptr.dtype.element_ty), mask=m)
        state = tl.sum(tl.where((tl.arange(0, BT) == BT - 1)[:, None], y, 0.0), 0)


@case((4096, 2048, f32), (2000, 5000, bf16))
def iir(t, c, dt):
    x = randn(t, c, dtype=dt); y = torch.empty_like(x)
    iir_one_pole[(triton.cdiv(c, 16),)](x, y, 0.95, t, c, BT=64, BC=16)


@triton.jit
def _mat2(a, b, c, d, u, v, a2, b2, c2, d2, u2, v2):
    return (a2 * a + b2 * c, a2 * b + b2 * d, c2 * a + d2 * c, c2 * b + d2 * d, a2 * u + b2 * v + u2, c2 * u + d2 * v + v2)


# biquad as a scan of 2x2 affine maps, a row in one go
@triton.jit
def biquad_scan(x, y, n, b0, b1, b2, a1, a2, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    m = i < n
    x0 = tl.load(x + row * n + i, mask=m, other=0.0)
    x1 = tl.load(x + row * n + i - 1, mask=m & (i >= 1), other=0.0)
    x2 = tl.load(x + row * n + i - 2, mask=m & (i >= 2), other=0.0)
    drive = b0 * x0 + b1 * x1 + b2 * x2
    one = tl.full((BLOCK,), 1.0, tl.float32)
    zero = tl.zeros((BLOCK,), tl.float32)
    ma, mb, mc, md, u, v = tl.associative_scan((zero - a1, zero - a2, one, zero, drive, zero), 0, _mat2)
    tl.store(y + row * n + i, u, mask=m)


@case((4000, 2000), (10000, 1024))
def biquad(rows, n):
    x = randn(rows, n, dtype=f32); y = torch.empty_like(x)
    biquad_scan[(rows,)](x, y, n, 0.2, 0.4, 0.2, -0.6, 0.2, BLOCK=triton.next_power_of_2(n), num_warps=4)


# Walsh-Hadamard of rows, all stages in registers
@triton.jit
def hadamard_rows(x, y, rows, scale, N: tl.constexpr, LOG: tl.constexpr, R: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, N)
    m = (r < rows)[:, None]
    v = tl.load(x + r[:, None] * N + c[None, :], mask=m, other=0.0).to(tl.float32)
    for s in tl.static_range(LOG):
        w = tl.reshape(v, (R, N // (2 << s), 2, 1 << s))
        w = tl.permute(w, (0, 1, 3, 2))
        a, b = tl.split(w)
        w = tl.permute(tl.join(a + b, a - b), (0, 1, 3, 2))
        v = tl.reshape(w, (R, N))
    tl.store(y + r[:, None] * N + c[None, :], (v * scale).to(y.dtype.element_ty), mask=m)


@case((32768, 128, 7), (8192, 1024, 10))
def hadamard(rows, n, log):
    x = randn(rows, n); y = torch.empty_like(x)
    R = max(1, 1024 // n)
    hadamard_rows[(triton.cdiv(rows, R),)](x, y, rows, n ** -0.5, N=n, LOG=log, R=R)


# 8x8 DCT of image blocks and quantization: 16 blocks of 8 columns a program by batched small products with sums
@triton.jit
def dct8x8_quant(img, D, Q, out, H, W, NB: tl.constexpr):
    by = tl.program_id(0)
    b0 = tl.program_id(1) * NB
    n = tl.arange(0, NB)[:, None, None]
    i = tl.arange(0, 8)[None, :, None]
    j = tl.arange(0, 8)[None, None, :]
    o = (by * 8 + i) * W + (b0 + n) * 8 + j
    m = (b0 + n) * 8 < W
    tile = tl.load(img + o, mask=m, other=128).to(tl.float32) - 128.0
    d = tl.load(D + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :])
    # D @ tile @ D^T, sums over an axis
    t1 = tl.sum(d[None, :, :, None] * tile[:, None, :, :], axis=2)
    t2 = tl.sum(t1[:, :, None, :] * d[None, None, :, :], axis=3)
    q = tl.load(Q + i * 8 + j)
    tl.store(out + o, tl.floor(t2 / q + 0.5).to(tl.int16), mask=m)


@case((2160, 3840), (4096, 4096))
def dct(h, w):
    img = randint(0, 256, h, w, dtype=torch.uint8); o = zeros(h, w, dtype=torch.int16)
    dct8x8_quant[(h // 8, triton.cdiv(w // 8, 8))](img, randn(8, 8, dtype=f32), rand(8, 8, lo=1, hi=50), o, h, w, NB=8)


# spectrum product with conjugate, interleaved complex numbers, and a power sum
@triton.jit
def cross_spectrum(a, b, o, power, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, 2)
    off = i[:, None] * 2 + j[None, :]
    m = (i < n)[:, None]
    ar, ai = tl.split(tl.load(a + off, mask=m, other=0.0))
    br, bi = tl.split(tl.load(b + off, mask=m, other=0.0))
    cr = ar * br + ai * bi
    ci = ai * br - ar * bi
    mag = tl.sqrt(cr * cr + ci * ci)
    tl.atomic_add(power, tl.sum(mag))
    inv = 1.0 / tl.maximum(mag, 1e-8)
    tl.store(o + off, tl.join(cr * inv, ci * inv), mask=m)


@case(8000000, 1048576)
def phase_correlation(n):
    a, b = randn(n, 2, dtype=f32), randn(n, 2, dtype=f32); o = torch.empty_like(a)
    cross_spectrum[(triton.cdiv(n, 1024),)](a, b, o, zeros(1, dtype=f32), n, BLOCK=1024)

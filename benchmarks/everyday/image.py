"""Images: separable Gaussian, Sobel, bilateral, morphology, colour spaces, integral image, dithering, bilinear resize, warp, median, Harris."""
from _common import *
import triton, triton.language as tl


@triton.jit
def gauss_rows(src, dst, w_ptr, H, W, R: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.program_id(0)
    x = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for t in tl.static_range(-R, R + 1):
        xx = tl.minimum(tl.maximum(x + t, 0), W - 1)
        acc += tl.load(w_ptr + t + R) * tl.load(src + y * W + xx).to(tl.float32)
    tl.store(dst + y * W + x, acc, mask=x < W)


@triton.jit
def gauss_cols(src, dst, w_ptr, H, W, R, BY: tl.constexpr, BX: tl.constexpr):
    y = (tl.program_id(0) * BY + tl.arange(0, BY))[:, None]
    x = (tl.program_id(1) * BX + tl.arange(0, BX))[None, :]
    acc = tl.zeros((BY, BX), tl.float32)
    for t in range(-R, R + 1):
        yy = tl.clamp((y + t).to(tl.float32), 0.0, H - 1.0).to(tl.int32)
        acc += tl.load(w_ptr + t + R) * tl.load(src + yy * W + x, mask=x < W, other=0.0)
    tl.store(dst + y * W + x, (acc + 0.5).to(tl.uint8), mask=(y < H) & (x < W))


@case((2160, 3840, 5), (4000, 6000, 3))
def gaussian_blur(h, w, r):
    s = randint(0, 256, h, w, dtype=torch.uint8); t = zeros(h, w, dtype=f32); wt = rand(2 * r + 1)
    gauss_rows[(h, triton.cdiv(w, 1024))](s, t, wt, h, w, R=r, BLOCK=1024)
    gauss_cols[(triton.cdiv(h, 8), triton.cdiv(w, 128))](t, torch.empty_like(s), wt, h, w, r, BY=8, BX=128)


@triton.jit
def sobel_kernel(img, out, H, W, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    p = pid * BLOCK + tl.arange(0, BLOCK)
    r = p // W
    c = p % W
    ok = (r > 0) & (r < H - 1) & (c > 0) & (c < W - 1)
    a00 = tl.load(img + p - W - 1, mask=ok, other=0).to(tl.int32)
    a01 = tl.load(img + p - W, mask=ok, other=0).to(tl.int32)
    a02 = tl.load(img + p - W + 1, mask=ok, other=0).to(tl.int32)
    a10 = tl.load(img + p - 1, mask=ok, other=0).to(tl.int32)
    a12 = tl.load(img + p + 1, mask=ok, other=0).to(tl.int32)
    a20 = tl.load(img + p + W - 1, mask=ok, other=0).to(tl.int32)
    a21 = tl.load(img + p + W, mask=ok, other=0).to(tl.int32)
    a22 = tl.load(img + p + W + 1, mask=ok, other=0).to(tl.int32)
    gx = (a02 + 2 * a12 + a22) - (a00 + 2 * a10 + a20)
    gy = (a20 + 2 * a21 + a22) - (a00 + 2 * a01 + a02)
    mag = tl.sqrt((gx * gx + gy * gy).to(tl.float32))
    tl.store(out + p, tl.minimum(mag, 255.0).to(tl.uint8), mask=p < H * W)


@case((4320, 7680), (3000, 5000))
def sobel(h, w):
    s = randint(0, 256, h, w, dtype=torch.uint8)
    sobel_kernel[(triton.cdiv(h * w, 1024),)](s, torch.empty_like(s), h, w, BLOCK=1024, num_warps=8)


@triton.jit
def bilateral_kernel(img, out, H, W, inv_s2, inv_r2, RAD: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr):
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    m = (y < H) & (x < W)
    c = tl.load(img + y * W + x, mask=m, other=0.0)
    num = tl.zeros((BY, BX), tl.float32)
    den = tl.zeros((BY, BX), tl.float32)
    for dy in range(-RAD, RAD + 1):
        for dx in range(-RAD, RAD + 1):
            mm = m & (y + dy >= 0) & (y + dy < H) & (x + dx >= 0) & (x + dx < W)
            v = tl.load(img + (y + dy) * W + x + dx, mask=mm, other=0.0)
            wgt = tl.exp(-(dx * dx + dy * dy) * inv_s2 - (v - c) * (v - c) * inv_r2)
            wgt = tl.where(mm, wgt, 0.0)
            num += wgt * v
            den += wgt
    tl.store(out + y * W + x, num / den, mask=m)


@case((1080, 1920, 4), (2160, 3840, 2))
def bilateral(h, w, r):
    s = rand(h, w)
    bilateral_kernel[(triton.cdiv(w, 64), triton.cdiv(h, 4))](s, torch.empty_like(s), h, w, 0.05, 50.0, RAD=r, BY=4, BX=64, num_warps=2)


@triton.jit
def morph_kernel(src, dst, H, W, KH: tl.constexpr, KW: tl.constexpr, DILATE: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(2)
    y = tl.program_id(1)
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.full((BLOCK,), 0 if DILATE else 255, tl.int32)
    for i in tl.static_range(KH):
        for j in tl.static_range(KW):
            yy = y + i - KH // 2
            xx = x + j - KW // 2
            ok = (yy >= 0) & (yy < H) & (xx >= 0) & (xx < W)
            v = tl.load(src + (b * H + yy) * W + xx, mask=ok, other=0 if DILATE else 255).to(tl.int32)
            if DILATE:
                acc = tl.maximum(acc, v)
            else:
                acc = tl.minimum(acc, v)
    tl.store(dst + (b * H + y) * W + x, acc.to(tl.uint8), mask=x < W)


@case((16, 1080, 1920, True), (8, 1000, 1500, False))
def morphology(b, h, w, dil):
    s = randint(0, 256, b, h, w, dtype=torch.uint8)
    morph_kernel[(triton.cdiv(w, 512), h, b)](s, torch.empty_like(s), h, w, KH=5, KW=3, DILATE=dil, BLOCK=512)


@triton.jit
def rgb_to_nv12(rgb, yp, uv, H, W, BX: tl.constexpr):
    # two rows and 2*BX columns a program
    r0 = tl.program_id(0) * 2
    x = tl.program_id(1) * BX + tl.arange(0, BX)
    m = 2 * x < W
    su = tl.zeros((BX,), tl.float32)
    sv = tl.zeros((BX,), tl.float32)
    for dy in tl.static_range(2):
        for dx in tl.static_range(2):
            o = (r0 + dy) * W + 2 * x + dx
            r = tl.load(rgb + 3 * o, mask=m, other=0).to(tl.float32)
            g = tl.load(rgb + 3 * o + 1, mask=m, other=0).to(tl.float32)
            b = tl.load(rgb + 3 * o + 2, mask=m, other=0).to(tl.float32)
            tl.store(yp + o, (16.0 + 0.257 * r + 0.504 * g + 0.098 * b).to(tl.uint8), mask=m)
            su += -0.148 * r - 0.291 * g + 0.439 * b
            sv += 0.439 * r - 0.368 * g - 0.071 * b
    u = (128.0 + 0.25 * su).to(tl.uint8)
    v = (128.0 + 0.25 * sv).to(tl.uint8)
    k = tl.arange(0, 2 * BX) + tl.program_id(1) * 2 * BX
    tl.store(uv + (r0 // 2) * W + k, tl.interleave(u, v), mask=k < W)


@triton.jit
def rgb_to_hsv(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    r = tl.load(src + i, mask=m, other=0.0).to(tl.float32)
    g = tl.load(src + n + i, mask=m, other=0.0).to(tl.float32)
    b = tl.load(src + 2 * n + i, mask=m, other=0.0).to(tl.float32)
    mx = tl.maximum(r, tl.maximum(g, b))
    mn = tl.minimum(r, tl.minimum(g, b))
    d = mx - mn
    safe = tl.where(d == 0, 1.0, d)
    h = tl.where(mx == r, (g - b) / safe, tl.where(mx == g, 2.0 + (b - r) / safe, 4.0 + (r - g) / safe)) / 6.0
    h = tl.where(d == 0, 0.0, h - tl.floor(h))
    s = tl.where(mx > 0, d / tl.where(mx > 0, mx, 1.0), 0.0)
    tl.store(dst + i, h.to(dst.dtype.element_ty), mask=m)
    tl.store(dst + n + i, s.to(dst.dtype.element_ty), mask=m)
    tl.store(dst + 2 * n + i, mx.to(dst.dtype.element_ty), mask=m)


@case((2160, 3840), (4000, 6000))
def color(h, w):
    s = randint(0, 256, h, w, 3, dtype=torch.uint8)
    rgb_to_nv12[(h // 2, triton.cdiv(w // 2, 256))](s, zeros(h, w, dtype=torch.uint8), zeros(h // 2, w, dtype=torch.uint8), h, w, BX=256)
    f = rand(3, h, w, dtype=f16)
    rgb_to_hsv[(triton.cdiv(h * w, 1024),)](f, torch.empty_like(f), h * w, BLOCK=1024)


# integral image: a row scan with a carry, then a column scan in strips
@triton.jit
def integral_rows(src, dst, W, BLOCK: tl.constexpr):
    y = tl.program_id(0)
    carry = 0.0
    for s in range(0, W, BLOCK):
        x = s + tl.arange(0, BLOCK)
        v = tl.load(src + y * W + x, mask=x < W, other=0).to(tl.float32)
        c = tl.cumsum(v, axis=0) + carry
        tl.store(dst + y * W + x, c, mask=x < W)
        carry += tl.sum(v, axis=0)


@triton.jit
def integral_cols(buf, H, W, BY: tl.constexpr, BX: tl.constexpr):
    x = tl.program_id(0) * BX + tl.arange(0, BX)
    carry = tl.zeros((BX,), tl.float32)
    for s in range(0, H, BY):
        y = s + tl.arange(0, BY)
        o = y[:, None] * W + x[None, :]
        m = (y < H)[:, None] & (x < W)[None, :]
        v = tl.load(buf + o, mask=m, other=0.0)
        tl.store(buf + o, tl.cumsum(v, axis=0) + carry[None, :], mask=m)
        carry += tl.sum(v, axis=0)


@case((2160, 3840), (4096, 4096))
def integral(h, w):
    s = randint(0, 256, h, w, dtype=torch.uint8); d = zeros(h, w, dtype=f32)
    integral_rows[(h,)](s, d, w, BLOCK=1024)
    integral_cols[(triton.cdiv(w, 32),)](d, h, w, BY=64, BX=32)


@triton.jit
def bayer_dither(src, dst, H, W, levels, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < H * W
    x = i % W
    y = i // W
    a = (x ^ y) & 7
    b = y & 7
    t = ((a & 1) << 5) | ((b & 1) << 4) | ((a & 2) << 2) | ((b & 2) << 1) | ((a & 4) >> 1) | ((b & 4) >> 2)
    thr = (t.to(tl.float32) + 0.5) / 64.0
    v = tl.load(src + i, mask=m, other=0.0).to(tl.float32) * (levels - 1)
    q = tl.floor(v + thr)
    tl.store(dst + i, tl.minimum(q, levels - 1.0).to(tl.uint8), mask=m)


# error diffusion along rows only, a row a lane
@triton.jit
def error_diffuse_rows(src, dst, H, W, BLOCK: tl.constexpr):
    y = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = y < H
    err = tl.zeros((BLOCK,), tl.float32)
    for x in range(W):
        v = tl.load(src + x * H + y, mask=m, other=0.0) + err
        bit = v > 0.5
        err = v - tl.where(bit, 1.0, 0.0)
        tl.store(dst + x * H + y, bit.to(tl.uint8), mask=m)


@case((2160, 3840), (4096, 512))
def dithering(h, w):
    s = rand(h, w); d = zeros(h, w, dtype=torch.uint8)
    bayer_dither[(triton.cdiv(h * w, 512),)](s, d, h, w, 4, BLOCK=512)
    error_diffuse_rows[(triton.cdiv(h, 32),)](s, d, h, w, BLOCK=32, num_warps=1)


@triton.jit
def resize_bilinear(src, dst, C, H, W, OH, OW, sy, sx, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    m = i < C * OH * OW
    ox = i % OW
    oy = (i // OW) % OH
    c = i // (OW * OH)
    fy = tl.maximum((oy.to(tl.float32) + 0.5) * sy - 0.5, 0.0)
    fx = tl.maximum((ox.to(tl.float32) + 0.5) * sx - 0.5, 0.0)
    y0 = tl.minimum(fy.to(tl.int32), H - 1)
    x0 = tl.minimum(fx.to(tl.int32), W - 1)
    y1 = tl.minimum(y0 + 1, H - 1)
    x1 = tl.minimum(x0 + 1, W - 1)
    wy = fy - y0
    wx = fx - x0
    p = src + c * H * W
    a = tl.load(p + y0 * W + x0, mask=m, other=0.0).to(tl.float32)
    b = tl.load(p + y0 * W + x1, mask=m, other=0.0).to(tl.float32)
    d = tl.load(p + y1 * W + x0, mask=m, other=0.0).to(tl.float32)
    e = tl.load(p + y1 * W + x1, mask=m, other=0.0).to(tl.float32)
    v = (1 - wy) * ((1 - wx) * a + wx * b) + wy * ((1 - wx) * d + wx * e)
    tl.store(dst + i, v.to(dst.dtype.element_ty), mask=m)


@case((64, 512, 512, 224, 224, f16), (24, 480, 640, 1080, 1920, f32))
def resize(c, h, w, oh, ow, dt):
    s = randn(c, h, w, dtype=dt); d = zeros(c, oh, ow, dtype=dt)
    resize_bilinear[(triton.cdiv(c * oh * ow, 1024),)](s, d, c, h, w, oh, ow, h / oh, w / ow, BLOCK=1024)


@triton.jit
def warp_affine_nn(src, dst, M, H, W, BY: tl.constexpr, BX: tl.constexpr):
    b = tl.program_id(2)
    y = (tl.program_id(1) * BY + tl.arange(0, BY))[:, None].to(tl.float32)
    x = (tl.program_id(0) * BX + tl.arange(0, BX))[None, :].to(tl.float32)
    m00 = tl.load(M + b * 6); m01 = tl.load(M + b * 6 + 1); m02 = tl.load(M + b * 6 + 2)
    m10 = tl.load(M + b * 6 + 3); m11 = tl.load(M + b * 6 + 4); m12 = tl.load(M + b * 6 + 5)
    sx = tl.floor(m00 * x + m01 * y + m02 + 0.5).to(tl.int32)
    sy = tl.floor(m10 * x + m11 * y + m12 + 0.5).to(tl.int32)
    inside = (sx >= 0) & (sx < W) & (sy >= 0) & (sy < H)
    o = (tl.program_id(1) * BY + tl.arange(0, BY))[:, None] * W + (tl.program_id(0) * BX + tl.arange(0, BX))[None, :]
    v = tl.load(src + b * H * W + sy * W + sx, mask=inside, other=0)
    tl.store(dst + b * H * W + o, v, mask=(y < H) & (x < W))


@case((16, 1080, 1920))
def warp(b, h, w):
    s = randint(0, 256, b, h, w, dtype=torch.uint8); mat = tensor([[0.9, 0.1, 5.0, -0.1, 0.9, 20.0]] * b, f32)
    warp_affine_nn[(triton.cdiv(w, 64), triton.cdiv(h, 16), b)](s, torch.empty_like(s), mat, h, w, BY=16, BX=64)


@triton.jit
def _cswap(a, b):
    return tl.minimum(a, b), tl.maximum(a, b)


@triton.jit
def median3x3(src, dst, H, W, BLOCK: tl.constexpr):
    y = tl.program_id(1)
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ym = tl.maximum(y - 1, 0) * W
    yc = y * W
    yp = tl.minimum(y + 1, H - 1) * W
    xm = tl.maximum(x - 1, 0)
    xp = tl.minimum(x + 1, W - 1)
    xc = tl.minimum(x, W - 1)
    p0, p1, p2 = tl.load(src + ym + xm), tl.load(src + ym + xc), tl.load(src + ym + xp)
    p3, p4, p5 = tl.load(src + yc + xm), tl.load(src + yc + xc), tl.load(src + yc + xp)
    p6, p7, p8 = tl.load(src + yp + xm), tl.load(src + yp + xc), tl.load(src + yp + xp)
    p1, p2 = _cswap(p1, p2)
    p4, p5 = _cswap(p4, p5)
    p7, p8 = _cswap(p7, p8)
    p0, p1 = _cswap(p0, p1)
    p3, p4 = _cswap(p3, p4)
    p6, p7 = _cswap(p6, p7)
    p1, p2 = _cswap(p1, p2)
    p4, p5 = _cswap(p4, p5)
    p7, p8 = _cswap(p7, p8)
    p3 = tl.maximum(p0, p3)
    p5 = tl.minimum(p5, p8)
    p4, p7 = _cswap(p4, p7)
    p6 = tl.maximum(p3, p6)
    p4 = tl.maximum(p1, p4)
    p2 = tl.minimum(p2, p5)
    p4 = tl.minimum(p4, p7)
    p4, p2 = _cswap(p4, p2)
    p4 = tl.maximum(p6, p4)
    p4 = tl.minimum(p4, p2)
    tl.store(dst + yc + x, p4, mask=x < W)


@case((4320, 7680, torch.uint8), (2160, 3840, f32))
def median(h, w, dt):
    s = rand(h, w, hi=255).to(dt)
    median3x3[(triton.cdiv(w, 512), h)](s, torch.empty_like(s), h, w, BLOCK=512)


# Harris response: gradients of a 5x5 window summed, no shared tile
@triton.jit
def harris_kernel(img, out, H, W, k, BY: tl.constexpr, BX: tl.constexpr):
    y = (tl.program_id(0) * BY + tl.arange(0, BY))[:, None]
    x = (tl.program_id(1) * BX + tl.arange(0, BX))[None, :]
    ok = (y >= 3) & (y < H - 3) & (x >= 3) & (x < W - 3)
    sxx = tl.zeros((BY, BX), tl.float32)
    syy = tl.zeros((BY, BX), tl.float32)
    sxy = tl.zeros((BY, BX), tl.float32)
    for j in range(-2, 3):
        for i in range(-2, 3):
            p = img + (y + j) * W + x + i
            gx = tl.load(p + 1, mask=ok, other=0.0) - tl.load(p - 1, mask=ok, other=0.0)
            gy = tl.load(p + W, mask=ok, other=0.0) - tl.load(p - W, mask=ok, other=0.0)
            sxx += gx * gx
            syy += gy * gy
            sxy += gx * gy
    tr = sxx + syy
    tl.store(out + y * W + x, sxx * syy - sxy * sxy - k * tr * tr, mask=(y < H) & (x < W))


@case((2160, 3840), (1000, 1600))
def harris(h, w):
    s = rand(h, w)
    harris_kernel[(triton.cdiv(h, 8), triton.cdiv(w, 64))](s, torch.empty_like(s), h, w, 0.04, BY=8, BX=64)

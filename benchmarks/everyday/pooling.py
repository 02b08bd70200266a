"""Pooling 1d/2d/3d: max with indices, average, adaptive, global; naive and blocked."""
from _common import *
import triton, triton.language as tl


@triton.jit
def max_pool2d_flat(x_ptr, y_ptr, N, C, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = idx < N * C * OH * OW
    ow = idx % OW
    oh = (idx // OW) % OH
    c = (idx // (OW * OH)) % C
    n = idx // (OW * OH * C)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for kh in tl.static_range(K):
        for kw in tl.static_range(K):
            h = oh * S - P + kh * D
            w = ow * S - P + kw * D
            ok = mask & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            v = tl.load(x_ptr + n * C * H * W + c * H * W + h * W + w, mask=ok, other=float("-inf"))
            best = tl.maximum(best, v)
    tl.store(y_ptr + idx, best, mask=mask)


@case((32, 64, 224, 224, 3, 2, 1, 1), (16, 64, 256, 256, 4, 1, 1, 1))
def max_pool2d(n, c, h, w, k, s, p, d):
    x = randn(n, c, h, w, dtype=f32)
    oh, ow = (h + 2 * p - d * (k - 1) - 1) // s + 1, (w + 2 * p - d * (k - 1) - 1) // s + 1
    y = torch.empty(n, c, oh, ow, device=DEV, dtype=f32)
    max_pool2d_flat[(triton.cdiv(y.numel(), 256),)](x, y, n, c, h, w, oh, ow, k, s, p, d, 256)


@triton.jit
def max_pool1d_indices(x_ptr, y_ptr, i_ptr, L, OL, kernel_size, stride, padding, dilation, BLOCK: tl.constexpr):
    nc = tl.program_id(1)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < OL
    best = tl.full([BLOCK], -float("inf"), dtype=tl.float32)
    arg = tl.zeros([BLOCK], dtype=tl.int64)
    for k in range(kernel_size):
        p = o * stride - padding + k * dilation
        ok = m & (p >= 0) & (p < L)
        v = tl.load(x_ptr + nc * L + p, mask=ok, other=-float("inf"))
        gt = v > best
        best = tl.where(gt, v, best)
        arg = tl.where(gt, p.to(tl.int64), arg)
    tl.store(y_ptr + nc * OL + o, best, mask=m)
    tl.store(i_ptr + nc * OL + o, arg, mask=m)


@case((64, 192, 4096, 8, 1, 4, 3), (16, 128, 16384, 3, 2, 1, 1))
def max_pool1d(n, c, l, k, s, p, d):
    x = randn(n, c, l, dtype=f32)
    ol = (l + 2 * p - d * (k - 1) - 1) // s + 1
    y = torch.empty(n, c, ol, device=DEV, dtype=f32)
    i = torch.empty(n, c, ol, device=DEV, dtype=i64)
    max_pool1d_indices[(triton.cdiv(ol, 512), n * c)](x, y, i, l, ol, k, s, p, d, BLOCK=512)


@triton.jit
def avg_pool2d_tile(x_ptr, y_ptr, H, W, OH, OW, sh, sw, ph, pw, KH: tl.constexpr, KW: tl.constexpr, COUNT_PAD: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    nc = tl.program_id(2)
    oh = tl.program_id(1) * BH + tl.arange(0, BH)
    ow = tl.program_id(0) * BW + tl.arange(0, BW)
    acc = tl.zeros((BH, BW), tl.float32)
    cnt = tl.zeros((BH, BW), tl.float32)
    for i in range(KH):
        for j in range(KW):
            h = oh[:, None] * sh - ph + i
            w = ow[None, :] * sw - pw + j
            ok = (h >= 0) & (h < H) & (w >= 0) & (w < W)
            acc += tl.load(x_ptr + nc * H * W + h * W + w, mask=ok, other=0.0).to(tl.float32)
            cnt += ok.to(tl.float32)
    if COUNT_PAD:
        acc = acc / (KH * KW)
    else:
        acc = acc / cnt
    tl.store(y_ptr + nc * OH * OW + oh[:, None] * OW + ow[None, :], acc.to(y_ptr.dtype.element_ty), mask=(oh[:, None] < OH) & (ow[None, :] < OW))


@case((16, 64, 256, 256, 3, 1, 1, True), (32, 128, 112, 112, 2, 2, 0, False))
def avg_pool2d(n, c, h, w, k, s, p, cp):
    x = randn(n, c, h, w, dtype=f16)
    oh, ow = (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1
    y = torch.empty(n, c, oh, ow, device=DEV, dtype=f16)
    avg_pool2d_tile[(triton.cdiv(ow, 64), triton.cdiv(oh, 8), n * c)](x, y, h, w, oh, ow, s, s, p, p, k, k, cp, 8, 64)


@triton.jit
def avg_pool3d_program_per_row(x_ptr, y_ptr, C, D, H, W, OD, OH, OW, stride, pad, K: tl.constexpr, BLOCK_W: tl.constexpr):
    pid = tl.program_id(0)
    oh = pid % OH
    od = (pid // OH) % OD
    nc = pid // (OH * OD)
    ow = tl.arange(0, BLOCK_W)
    acc = tl.zeros([BLOCK_W], tl.float32)
    for kd in range(K):
        d = od * stride - pad + kd
        if d >= 0 and d < D:
            for kh in range(K):
                h = oh * stride - pad + kh
                if h >= 0 and h < H:
                    for kw in tl.static_range(K):
                        w = ow * stride - pad + kw
                        acc += tl.load(x_ptr + ((nc * D + d) * H + h) * W + w, mask=(w >= 0) & (w < W) & (ow < OW), other=0.0)
    tl.store(y_ptr + pid * OW + ow, acc / (K * K * K), mask=ow < OW)


@case((8, 32, 64, 64, 64, 3, 2, 1), (4, 32, 32, 128, 128, 2, 2, 0))
def avg_pool3d(n, c, d, h, w, k, s, p):
    x = randn(n, c, d, h, w, dtype=f32)
    od, oh, ow = [(v + 2 * p - k) // s + 1 for v in (d, h, w)]
    y = torch.empty(n, c, od, oh, ow, device=DEV, dtype=f32)
    avg_pool3d_program_per_row[(n * c * od * oh,)](x, y, c, d, h, w, od, oh, ow, s, p, k, triton.next_power_of_2(ow), num_warps=1)


@triton.jit
def max_pool3d_kernel(x_ptr, y_ptr, numel, D, H, W, OD, OH, OW, stride, pad, dil, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < numel
    ow = i % OW
    t = i // OW
    oh = t % OH
    t = t // OH
    od = t % OD
    nc = t // OD
    m = tl.full([BLOCK], float("-inf"), x_ptr.dtype.element_ty)
    for k in range(K * K * K):
        d = od * stride - pad + (k // (K * K)) * dil
        h = oh * stride - pad + ((k // K) % K) * dil
        w = ow * stride - pad + (k % K) * dil
        inb = (d >= 0) & (d < D) & (h >= 0) & (h < H) & (w >= 0) & (w < W) & live
        v = tl.load(x_ptr + nc * (D * H * W) + d * (H * W) + h * W + w, mask=inb, other=float("-inf"))
        m = tl.where(v > m, v, m)
    tl.store(y_ptr + i, m, mask=live)


@case((8, 32, 64, 64, 64, 3, 2, 1, 3), (4, 32, 32, 96, 96, 2, 2, 0, 1))
def max_pool3d(n, c, d, h, w, k, s, p, dil):
    x = randn(n, c, d, h, w)
    od, oh, ow = [(v + 2 * p - dil * (k - 1) - 1) // s + 1 for v in (d, h, w)]
    y = torch.empty(n, c, od, oh, ow, device=DEV, dtype=bf16)
    max_pool3d_kernel[(triton.cdiv(y.numel(), 512),)](x, y, y.numel(), d, h, w, od, oh, ow, s, p, dil, k, 512)


@triton.jit
def adaptive_avg_pool_program_per_output(x_ptr, y_ptr, H, W, OH, OW, BH: tl.constexpr, BW: tl.constexpr):
    ow = tl.program_id(0)
    oh = tl.program_id(1)
    nc = tl.program_id(2)
    h0 = oh * H // OH
    h1 = ((oh + 1) * H + OH - 1) // OH
    w0 = ow * W // OW
    w1 = ((ow + 1) * W + OW - 1) // OW
    h = h0 + tl.arange(0, BH)[:, None]
    w = w0 + tl.arange(0, BW)[None, :]
    x = tl.load(x_ptr + nc * H * W + h * W + w, mask=(h < h1) & (w < w1), other=0.0).to(tl.float32)
    s = tl.sum(x)
    tl.store(y_ptr + (nc * OH + oh) * OW + ow, s / ((h1 - h0) * (w1 - w0)))


@case((32, 512, 56, 56, 7), (16, 256, 100, 100, 6))
def adaptive_avg_pool2d(n, c, h, w, o):
    x = randn(n, c, h, w, dtype=f16)
    y = torch.empty(n, c, o, o, device=DEV, dtype=f16)
    b = triton.next_power_of_2(h // o + 2)
    adaptive_avg_pool_program_per_output[(o, o, n * c)](x, y, h, w, o, o, b, b, num_warps=2)


@triton.jit
def global_avg_pool_nhwc(x_ptr, y_ptr, HW, C, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    n = tl.program_id(1)
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    acc = tl.zeros((BLOCK_C,), dtype=tl.float32)
    for p0 in range(0, HW, BLOCK_P):
        p = p0 + tl.arange(0, BLOCK_P)
        x = tl.load(x_ptr + n * HW * C + p[:, None] * C + c[None, :], mask=(p < HW)[:, None] & (c < C)[None, :], other=0.0)
        acc += tl.sum(x.to(tl.float32), axis=0)
    tl.store(y_ptr + n * C + c, (acc / HW).to(y_ptr.dtype.element_ty), mask=c < C)


@case((128, 32, 32, 1024), (256, 14, 14, 2048))
def global_avg_pool(n, h, w, c):
    x = randn(n, h, w, c)
    y = torch.empty(n, c, device=DEV, dtype=bf16)
    global_avg_pool_nhwc[(triton.cdiv(c, 128), n)](x, y, h * w, c, 16, 128)


@triton.jit
def max_pool2d_bwd_atomic(dy_ptr, idx_ptr, dx_ptr, n_out, out_plane, in_plane, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n_out
    g = tl.load(dy_ptr + o, mask=m, other=0.0)
    i = tl.load(idx_ptr + o, mask=m, other=0)
    tl.atomic_add(dx_ptr + (o // out_plane) * in_plane + i, g, mask=m)


@case((32, 64, 224, 224),)
def max_pool2d_bwd(n, c, h, w):
    dy = randn(n, c, h // 2, w // 2, dtype=f32)
    idx = randint(0, h * w, n, c, h // 2, w // 2)
    dx = zeros(n, c, h, w, dtype=f32)
    max_pool2d_bwd_atomic[(triton.cdiv(dy.numel(), 1024),)](dy, idx, dx, dy.numel(), h * w // 4, h * w, BLOCK=1024)

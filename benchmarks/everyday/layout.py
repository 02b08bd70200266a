"""Data movement: transposes, permutes, pads, rolls, concats, splits, im2col, pixel shuffle, interpolation, gathers by descriptor."""
from _common import *
import triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def transpose_kernel(in_ptr, out_ptr, M, N, stride_im, stride_in, stride_om, stride_on, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tile = tl.load(in_ptr + offs_m[:, None] * stride_im + offs_n[None, :] * stride_in, mask=mask)
    tl.store(out_ptr + offs_n[:, None] * stride_om + offs_m[None, :] * stride_on, tl.trans(tile), mask=(offs_n[:, None] < N) & (offs_m[None, :] < M))


@case((8192, 8192, bf16), (7000, 6000, f32), (16384, 4096, torch.int8))
def transpose(m, n, dt):
    x = randint(-100, 100, m, n, dtype=dt) if dt == torch.int8 else randn(m, n, dtype=dt)
    y = torch.empty(n, m, device=DEV, dtype=dt)
    transpose_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, y, m, n, x.stride(0), x.stride(1), y.stride(0), y.stride(1), 64, 64)


@triton.jit
def transpose_desc_kernel(x_desc, y_desc, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    t = x_desc.load([m, n])
    y_desc.store([n, m], t.T)


@case((8192, 8192), (4096, 14336))
def transpose_desc(m, n):
    x, y = randn(m, n), torch.empty(n, m, device=DEV, dtype=bf16)
    xd = TensorDescriptor(x, [m, n], [n, 1], [128, 64])
    yd = TensorDescriptor(y, [n, m], [m, 1], [64, 128])
    transpose_desc_kernel[(triton.cdiv(m, 128), triton.cdiv(n, 64))](xd, yd, 128, 64)


@triton.jit
def permute4_flat_kernel(x_ptr, y_ptr, n, d1, d2, d3, s0, s1, s2, s3, BLOCK: tl.constexpr):
    # contiguous copy of a permuted view: index of the output taken apart, strides of the input
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    i3 = i % d3
    r = i // d3
    i2 = r % d2
    r = r // d2
    i1 = r % d1
    i0 = r // d1
    v = tl.load(x_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3, mask=m)
    tl.store(y_ptr + i, v, mask=m)


@case((8, 2048, 32, 128, (0, 2, 1, 3)), (32, 256, 56, 56, (0, 2, 3, 1)), (4, 1024, 16, 64, (2, 0, 3, 1)))
def permute4(a, b, c, d, perm):
    x = randn(a, b, c, d)
    v = x.permute(*perm)
    y = torch.empty(*v.shape, device=DEV, dtype=bf16)
    permute4_flat_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), *v.shape[1:], *v.stride(), BLOCK=1024)


@triton.jit
def pad2d_kernel(x_ptr, y_ptr, H, W, OH, OW, pt, pl, value, MODE: tl.constexpr, BLOCK: tl.constexpr):
    nc = tl.program_id(1)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = o // OW - pt
    w = o % OW - pl
    if MODE == "reflect":
        h = tl.abs(h)
        h = tl.where(h >= H, 2 * (H - 1) - h, h)
        w = tl.abs(w)
        w = tl.where(w >= W, 2 * (W - 1) - w, w)
    elif MODE == "replicate":
        h = tl.minimum(tl.maximum(h, 0), H - 1)
        w = tl.minimum(tl.maximum(w, 0), W - 1)
    ok = (o < OH * OW) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
    v = tl.load(x_ptr + nc * H * W + h * W + w, mask=ok, other=value)
    tl.store(y_ptr + nc * OH * OW + o, v, mask=o < OH * OW)


@case((16, 64, 224, 224, 3, "reflect"), (8, 128, 128, 128, 1, "constant"), (32, 32, 112, 150, 2, "replicate"))
def pad2d(n, c, h, w, p, mode):
    x = randn(n, c, h, w, dtype=f32)
    y = torch.empty(n, c, h + 2 * p, w + 2 * p, device=DEV, dtype=f32)
    pad2d_kernel[(triton.cdiv((h + 2 * p) * (w + 2 * p), 512), n * c)](x, y, h, w, h + 2 * p, w + 2 * p, p, p, 0.0, mode, 512)


@triton.jit
def roll_window_partition_kernel(x_ptr, y_ptr, H, W, C: tl.constexpr, SH, SW, WS: tl.constexpr, BC: tl.constexpr):
    # swin: roll by (-SH, -SW) and cut in windows of WS x WS, NHWC
    win = tl.program_id(0)
    pix = tl.program_id(1)
    nw = W // WS
    nh = H // WS
    b = win // (nh * nw)
    r = win % (nh * nw)
    h = ((r // nw) * WS + pix // WS + SH) % H
    w = ((r % nw) * WS + pix % WS + SW) % W
    c = tl.arange(0, BC)
    v = tl.load(x_ptr + ((b * H + h) * W + w) * C + c, mask=c < C)
    tl.store(y_ptr + (win * WS * WS + pix) * C + c, v, mask=c < C)


@case((64, 56, 56, 96, 7), (64, 28, 28, 384, 7))
def window_partition(b, h, w, c, ws):
    x = randn(b, h, w, c, dtype=f16)
    y = torch.empty_like(x)
    roll_window_partition_kernel[(b * (h // ws) * (w // ws), ws * ws)](x, y, h, w, c, ws // 2, ws // 2, ws, triton.next_power_of_2(c), num_warps=1)


@triton.jit
def concat3_kernel(a_ptr, b_ptr, c_ptr, o_ptr, NA, NB, NC, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    N = NA + NB + NC
    a = tl.load(a_ptr + row * NA + o, mask=o < NA, other=0.0)
    b = tl.load(b_ptr + row * NB + o - NA, mask=(o >= NA) & (o < NA + NB), other=0.0)
    c = tl.load(c_ptr + row * NC + o - NA - NB, mask=(o >= NA + NB) & (o < N), other=0.0)
    tl.store(o_ptr + row * N + o, tl.where(o < NA, a, tl.where(o < NA + NB, b, c)), mask=o < N)


@case((8192, 4096, 1024, 1024), (32768, 512, 64, 200))
def concat3(m, a, b, c):
    x, y, z = randn(m, a), randn(m, b), randn(m, c)
    o = torch.empty(m, a + b + c, device=DEV, dtype=bf16)
    concat3_kernel[(m, triton.cdiv(a + b + c, 1024))](x, y, z, o, a, b, c, 1024)


@triton.jit
def split_qkv_norm_kernel(qkv_ptr, q_ptr, k_ptr, v_ptr, w_ptr, S, HQ: tl.constexpr, HK: tl.constexpr, D: tl.constexpr, BS: tl.constexpr):
    # (B, S, (HQ + 2 HK) D) -> q (B, HQ, S, D), k, v (B, HK, S, D), q and k normalised per head
    s = tl.program_id(0) * BS + tl.arange(0, BS)
    h = tl.program_id(1)
    b = tl.program_id(2)
    d = tl.arange(0, D)
    m = (s < S)[:, None]
    x = tl.load(qkv_ptr + (b * S + s[:, None]) * ((HQ + 2 * HK) * D) + h * D + d[None, :], mask=m, other=0.0)
    if h < HQ + HK:
        f = x.to(tl.float32)
        f = f * tl.rsqrt(tl.sum(f * f, 1) / D + 1e-6)[:, None] * tl.load(w_ptr + d).to(tl.float32)[None, :]
        x = f.to(x.dtype)
    if h < HQ:
        tl.store(q_ptr + ((b * HQ + h) * S + s[:, None]) * D + d[None, :], x, mask=m)
    elif h < HQ + HK:
        tl.store(k_ptr + ((b * HK + h - HQ) * S + s[:, None]) * D + d[None, :], x, mask=m)
    else:
        tl.store(v_ptr + ((b * HK + h - HQ - HK) * S + s[:, None]) * D + d[None, :], x, mask=m)


@case((4, 4096, 32, 8, 128), (16, 1000, 16, 16, 64))
def split_qkv(b, s, hq, hk, d):
    x, w = randn(b, s, (hq + 2 * hk) * d), randn(d)
    q = torch.empty(b, hq, s, d, device=DEV, dtype=bf16)
    k, v = torch.empty(b, hk, s, d, device=DEV, dtype=bf16), torch.empty(b, hk, s, d, device=DEV, dtype=bf16)
    split_qkv_norm_kernel[(triton.cdiv(s, 32), hq + 2 * hk, b)](x, q, k, v, w, s, hq, hk, d, 32)


@triton.jit
def bilinear_upsample_kernel(x_ptr, y_ptr, H, W, OH, OW, rh, rw, ALIGN: tl.constexpr, BLOCK: tl.constexpr):
    nc = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < OH * OW
    oh = (i // OW).to(tl.float32)
    ow = (i % OW).to(tl.float32)
    if ALIGN:
        fh = oh * rh
        fw = ow * rw
    else:
        fh = tl.maximum((oh + 0.5) * rh - 0.5, 0.0)
        fw = tl.maximum((ow + 0.5) * rw - 0.5, 0.0)
    h0 = tl.floor(fh).to(tl.int32)
    w0 = tl.floor(fw).to(tl.int32)
    h1 = tl.minimum(h0 + 1, H - 1)
    w1 = tl.minimum(w0 + 1, W - 1)
    lh = fh - h0
    lw = fw - w0
    base = x_ptr + nc * H * W
    v00 = tl.load(base + h0 * W + w0, mask=m, other=0.0)
    v01 = tl.load(base + h0 * W + w1, mask=m, other=0.0)
    v10 = tl.load(base + h1 * W + w0, mask=m, other=0.0)
    v11 = tl.load(base + h1 * W + w1, mask=m, other=0.0)
    y = (1 - lh) * ((1 - lw) * v00 + lw * v01) + lh * ((1 - lw) * v10 + lw * v11)
    tl.store(y_ptr + nc * OH * OW + i, y, mask=m)


@case((8, 64, 128, 128, 2, True), (4, 21, 129, 129, 4, False))
def bilinear_upsample(n, c, h, w, f, align):
    x = randn(n, c, h, w, dtype=f32)
    oh, ow = h * f, w * f
    y = torch.empty(n, c, oh, ow, device=DEV, dtype=f32)
    rh, rw = ((h - 1) / (oh - 1), (w - 1) / (ow - 1)) if align else (1.0 / f, 1.0 / f)
    bilinear_upsample_kernel[(triton.cdiv(oh * ow, 1024), n * c)](x, y, h, w, oh, ow, rh, rw, align, 1024)


@triton.jit
def pixel_shuffle_nearest_kernel(x_ptr, ps_ptr, nn_ptr, C, H, W, R: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    # x (N, C R^2, H, W): pixel shuffle to ps (N, C, RH, RW), and nearest x R of the first of each R^2 channels to nn
    nc = tl.program_id(2)
    h = tl.program_id(1) * BH + tl.arange(0, BH)
    w = tl.program_id(0) * BW + tl.arange(0, BW)
    m = (h[:, None] < H * R) & (w[None, :] < W * R)
    src = (h[:, None] // R) * W + w[None, :] // R
    sub = (h[:, None] % R) * R + w[None, :] % R
    x0 = x_ptr + nc * R * R * H * W
    o = nc * H * W * R * R + h[:, None] * (W * R) + w[None, :]
    tl.store(ps_ptr + o, tl.load(x0 + sub * H * W + src, mask=m), mask=m)
    tl.store(nn_ptr + o, tl.load(x0 + src, mask=m), mask=m)


@case((8, 16, 128, 128, 4), (16, 32, 100, 120, 2))
def pixel_shuffle(n, c, h, w, r):
    x = randn(n, c * r * r, h, w, dtype=f16)
    a, b = torch.empty(n, c, h * r, w * r, device=DEV, dtype=f16), torch.empty(n, c, h * r, w * r, device=DEV, dtype=f16)
    pixel_shuffle_nearest_kernel[(triton.cdiv(w * r, 128), triton.cdiv(h * r, 8), n * c)](x, a, b, c, h, w, r, 8, 128)


@triton.jit
def im2col_kernel(x_ptr, col_ptr, C, H, W, OH, OW, stride, pad, K: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_K: tl.constexpr):
    # rows: output pixels, columns: c, kh, kw
    b = tl.program_id(2)
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    KT = C * K * K
    h = (p // OW)[:, None] * stride - pad + ((k // K) % K)[None, :]
    w = (p % OW)[:, None] * stride - pad + (k % K)[None, :]
    live = (p < OH * OW)[:, None] & (k < KT)[None, :]
    ok = live & (h >= 0) & (h < H) & (w >= 0) & (w < W)
    v = tl.load(x_ptr + (b * C + (k // (K * K))[None, :]) * H * W + h * W + w, mask=ok, other=0.0)
    tl.store(col_ptr + (b * OH * OW + p[:, None]).to(tl.int64) * KT + k[None, :], v, mask=live)


@case((16, 64, 56, 56, 3, 1, 1), (64, 3, 224, 224, 7, 2, 3))
def im2col(n, c, h, w, k, s, p):
    x = randn(n, c, h, w, dtype=f16)
    oh, ow = (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1
    col = torch.empty(n, oh * ow, c * k * k, device=DEV, dtype=f16)
    im2col_kernel[(triton.cdiv(oh * ow, 32), triton.cdiv(c * k * k, 128), n)](x, col, c, h, w, oh, ow, s, p, k, 32, 128)


@triton.jit
def tril_roll_bp_kernel(x_ptr, y_ptr, M, N, shift, diag, BM: tl.constexpr, BN: tl.constexpr):
    b = tl.program_id(0)
    i = tl.program_id(1)
    j = tl.program_id(2)
    r = i * BM + tl.arange(0, BM)
    c = j * BN + tl.arange(0, BN)
    src = (c + N - shift) % N
    m = (r[:, None] < M) & (c[None, :] < N)
    x = tl.load(x_ptr + b * M * N + r[:, None] * N + src[None, :], mask=m, other=0.0)
    x = tl.where(c[None, :] <= r[:, None] + diag, x, 0.0)
    yb = tl.make_block_ptr(y_ptr + b * M * N, shape=(M, N), strides=(N, 1), offsets=(i * BM, j * BN), block_shape=(BM, BN), order=(1, 0))
    tl.store(yb, x.to(y_ptr.dtype.element_ty), boundary_check=(0, 1))


@case((32, 1024, 1024, 17), (8, 2000, 3000, 1))
def tril_roll(b, m, n, s):
    x = randn(b, m, n)
    y = torch.empty_like(x)
    tril_roll_bp_kernel[(b, triton.cdiv(m, 32), triton.cdiv(n, 128))](x, y, m, n, s, 0, 32, 128)

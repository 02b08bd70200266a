"""Direct 2-d convolutions: a program per output pixel, per row, depthwise NCHW/NHWC, asymmetric kernels, dilated, grouped, pointwise, global 7x7."""
from _common import *
import triton, triton.language as tl


@triton.jit
def conv2d_pixel_kernel(x_ptr, w_ptr, b_ptr, y_ptr, C_in, H, W, C_out, H_out, W_out, stride, padding,
                        KH: tl.constexpr, KW: tl.constexpr, BLOCK_OC: tl.constexpr):
    # one program per output pixel, a block of output channels in the threads
    n = tl.program_id(0)
    pix = tl.program_id(1)
    oh = pix // W_out
    ow = pix % W_out
    oc = tl.program_id(2) * BLOCK_OC + tl.arange(0, BLOCK_OC)
    oc_mask = oc < C_out
    acc = tl.zeros((BLOCK_OC,), dtype=tl.float32)
    for ic in range(0, C_in):
        for kh in range(KH):
            for kw in range(KW):
                ih = oh * stride - padding + kh
                iw = ow * stride - padding + kw
                if (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W):
                    x = tl.load(x_ptr + ((n * C_in + ic) * H + ih) * W + iw)
                    w = tl.load(w_ptr + ((oc * C_in + ic) * KH + kh) * KW + kw, mask=oc_mask, other=0.0)
                    acc += x * w
    acc += tl.load(b_ptr + oc, mask=oc_mask, other=0.0)
    tl.store(y_ptr + ((n * C_out + oc) * H_out + oh) * W_out + ow, acc, mask=oc_mask)


@case((16, 3, 128, 64, 3, 1, 1), (8, 3, 224, 64, 7, 2, 3))
def conv_pixel(n, ci, hw, co, k, s, p):
    x, w, b = randn(n, ci, hw, hw, dtype=f32), randn(co, ci, k, k, dtype=f32), randn(co, dtype=f32)
    o = (hw + 2 * p - k) // s + 1
    y = torch.empty(n, co, o, o, device=DEV, dtype=f32)
    conv2d_pixel_kernel[(n, o * o, triton.cdiv(co, 64))](x, w, b, y, ci, hw, hw, co, o, o, s, p, k, k, 64, num_warps=2)


@triton.jit
def depthwise_nchw(x, w, y, total, C, H, W, OH, OW, sh: tl.constexpr, ph: tl.constexpr, pw: tl.constexpr, dil: tl.constexpr,
                   KH: tl.constexpr, KW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < total
    ow = i % OW
    oh = (i // OW) % OH
    nc = i // (OW * OH)
    c = nc % C
    acc = tl.zeros((BLOCK,), tl.float32)
    for a in tl.static_range(KH):
        for b in tl.static_range(KW):
            ih = oh * sh - ph + a * dil
            iw = ow * sh - pw + b * dil
            ok = m & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            v = tl.load(x + (nc * H + ih) * W + iw, mask=ok, other=0.0)
            f = tl.load(w + (c * KH + a) * KW + b, mask=m, other=0.0)
            acc += v.to(tl.float32) * f.to(tl.float32)
    tl.store(y + i, acc.to(y.dtype.element_ty), mask=m)


@case((32, 64, 128, 3, 3, 1, 1, f32), (16, 64, 256, 3, 3, 2, 1, f16), (16, 96, 112, 1, 7, 1, 1, f32), (8, 64, 128, 3, 5, 1, 2, bf16))
def depthwise(n, c, hw, kh, kw, s, d, dt):
    x, w = randn(n, c, hw, hw, dtype=dt), randn(c, 1, kh, kw, dtype=dt)
    ph, pw = d * (kh - 1) // 2, d * (kw - 1) // 2
    oh, ow = (hw + 2 * ph - d * (kh - 1) - 1) // s + 1, (hw + 2 * pw - d * (kw - 1) - 1) // s + 1
    y = torch.empty(n, c, oh, ow, device=DEV, dtype=dt)
    t = n * c * oh * ow
    depthwise_nchw[(triton.cdiv(t, 512),)](x, w, y, t, c, hw, hw, oh, ow, s, ph, pw, d, kh, kw, 512)


@triton.jit
def depthwise7_nhwc(x_ptr, w_ptr, b_ptr, y_ptr, H, W, C, K: tl.constexpr, BW: tl.constexpr, BC: tl.constexpr):
    """ConvNeXt 7x7 depthwise, channels last, a row segment x channel block a program; w is (K, K, C)."""
    nh = tl.program_id(0)
    n = nh // H
    h = nh % H
    w0 = tl.program_id(1) * BW + tl.arange(0, BW)
    c = tl.program_id(2) * BC + tl.arange(0, BC)
    cm = c < C
    acc = tl.zeros((BW, BC), tl.float32) + tl.load(b_ptr + c, mask=cm, other=0.0).to(tl.float32)[None, :]
    for i in range(K):
        hi = h + i - K // 2
        if hi >= 0 and hi < H:
            for j in tl.static_range(K):
                wi = w0 + j - K // 2
                x = tl.load(x_ptr + ((n * H + hi) * W + wi)[:, None] * C + c[None, :],
                            mask=((wi >= 0) & (wi < W))[:, None] & cm[None, :], other=0.0)
                f = tl.load(w_ptr + (i * K + j) * C + c, mask=cm, other=0.0)
                acc += x * f[None, :]
    tl.store(y_ptr + ((n * H + h) * W + w0)[:, None] * C + c[None, :], acc.to(y_ptr.dtype.element_ty), mask=(w0 < W)[:, None] & cm[None, :])


@case((32, 56, 96), (64, 28, 192))
def convnext_depthwise(n, hw, c):
    x, w, b = randn(n, hw, hw, c), randn(7, 7, c), randn(c)
    y = torch.empty_like(x)
    depthwise7_nhwc[(n * hw, triton.cdiv(hw, 8), triton.cdiv(c, 64))](x, w, b, y, hw, hw, c, 7, 8, 64)


@triton.jit
def conv2d_row_asym(x, w, y, N, CI, H, W, CO, OH, OW, sxn, sxc, sxh, sxw, swo, swi, swh, sww, syn, syc, syh, syw,
                    PH: tl.constexpr, PW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
                    KH: tl.constexpr, KW: tl.constexpr, BOW: tl.constexpr, BOC: tl.constexpr):
    """An output row a program: outer products over (channel, taps), all strides as arguments, asymmetric everything."""
    pid = tl.program_id(0)
    n = pid // OH
    oh = pid % OH
    ow = tl.program_id(1) * BOW + tl.arange(0, BOW)
    oc = tl.program_id(2) * BOC + tl.arange(0, BOC)
    acc = tl.zeros([BOC, BOW], dtype=tl.float32)
    for ci in range(CI):
        for kh in tl.static_range(KH):
            ih = oh * SH - PH + kh * DH
            hv = (ih >= 0) & (ih < H)
            for kw in tl.static_range(KW):
                iw = ow * SW - PW + kw * DW
                xv = tl.load(x + n * sxn + ci * sxc + ih * sxh + iw * sxw, mask=(iw >= 0) & (iw < W) & hv, other=0.0)
                wv = tl.load(w + oc * swo + ci * swi + kh * swh + kw * sww, mask=oc < CO, other=0.0)
                acc += wv[:, None] * xv[None, :]
    tl.store(y + n * syn + oc[:, None] * syc + oh * syh + ow[None, :] * syw, acc, mask=(oc < CO)[:, None] & (ow < OW)[None, :])


@case((8, 32, 128, 256, 64, 3, 5, 1, 2, 1, 1, 1, 1), (8, 16, 256, 256, 32, 5, 3, 4, 3, 2, 1, 2, 3))
def conv_asymmetric(n, ci, h, w_, co, kh, kw, ph, pw, sh, sw, dh, dw):
    x, w = randn(n, ci, h, w_, dtype=f32), randn(co, ci, kh, kw, dtype=f32)
    oh, ow = (h + 2 * ph - dh * (kh - 1) - 1) // sh + 1, (w_ + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    y = torch.empty(n, co, oh, ow, device=DEV, dtype=f32)
    conv2d_row_asym[(n * oh, triton.cdiv(ow, 128), triton.cdiv(co, 16))](x, w, y, n, ci, h, w_, co, oh, ow, *x.stride(), *w.stride(), *y.stride(),
                                                                      ph, pw, sh, sw, dh, dw, kh, kw, 128, 16)


@triton.jit
def pointwise_nchw(x, w, b, y, CI, CO, HW, BC: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr):
    """1x1: W (CO, CI) @ X[n] (CI, HW)."""
    n = tl.program_id(2).to(tl.int64)
    o = tl.program_id(0) * BC + tl.arange(0, BC)
    p = tl.program_id(1) * BP + tl.arange(0, BP)
    acc = tl.zeros((BC, BP), tl.float32)
    for c0 in range(0, CI, BK):
        c = c0 + tl.arange(0, BK)
        wv = tl.load(w + o[:, None] * CI + c[None, :], mask=(o[:, None] < CO) & (c[None, :] < CI), other=0.0)
        xv = tl.load(x + n * CI * HW + c[:, None] * HW + p[None, :], mask=(c[:, None] < CI) & (p[None, :] < HW), other=0.0)
        acc += tl.dot(wv, xv)
    acc += tl.load(b + o, mask=o < CO, other=0.0)[:, None]
    tl.store(y + n * CO * HW + o[:, None] * HW + p[None, :], acc.to(y.dtype.element_ty), mask=(o[:, None] < CO) & (p[None, :] < HW))


@case((16, 64, 128, 128 * 128, f32), (32, 256, 64, 56 * 56, f16), (64, 512, 2048, 49, f16))
def pointwise(n, ci, co, hw, dt):
    x, w, b = randn(n, ci, hw, dtype=dt), randn(co, ci, dtype=dt), randn(co, dtype=f32)
    y = torch.empty(n, co, hw, device=DEV, dtype=dt)
    pointwise_nchw[(triton.cdiv(co, 64), triton.cdiv(hw, 128), n)](x, w, b, y, ci, co, hw, 64, 128, 32)


@triton.jit
def grouped_conv_small(x, w, y, C, H, W, G: tl.constexpr, K: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    """ResNeXt: groups of G channels (G = 4 or 8), an output channel and a spatial tile a program; 'same' padding."""
    nc = tl.program_id(0)
    n = nc // C
    oc = nc % C
    g = oc // G
    tiles_w = tl.cdiv(W, BW)
    t = tl.program_id(1)
    r = (t // tiles_w) * BH + tl.arange(0, BH)[:, None]
    c = (t % tiles_w) * BW + tl.arange(0, BW)[None, :]
    acc = tl.zeros((BH, BW), tl.float32)
    for ic in tl.static_range(G):
        plane = x + (n * C + g * G + ic) * H * W
        for i in tl.static_range(K):
            for j in tl.static_range(K):
                rr = r + (i - K // 2)
                cc = c + (j - K // 2)
                f = tl.load(w + ((oc * G + ic) * K + i) * K + j).to(tl.float32)
                acc += f * tl.load(plane + rr * W + cc, mask=(rr >= 0) & (rr < H) & (cc >= 0) & (cc < W), other=0.0)
    tl.store(y + nc * H * W + r * W + c, acc.to(y.dtype.element_ty), mask=(r < H) & (c < W))


@case((16, 128, 56, 4, f16), (8, 64, 128, 8, f32))
def conv_resnext(n, c, hw, g, dt):
    x, w = randn(n, c, hw, hw, dtype=dt), randn(c, g, 3, 3, dtype=dt)
    y = torch.empty_like(x)
    grouped_conv_small[(n * c, triton.cdiv(hw, 16) * triton.cdiv(hw, 32))](x, w, y, c, hw, hw, g, 3, 16, 32)

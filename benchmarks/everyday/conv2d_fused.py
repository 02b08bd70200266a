"""2-d convolutions with epilogues: bias+hardswish+relu, tanh+scale+max pool, group norm statistics, min over channels+tanh, mish, residual+relu, avg pool+sigmoid+sum, depthwise-separable."""
from _common import *
import triton, triton.language as tl


@triton.jit
def conv_tile(x, w, n, oh, ow, oc, ok, CI, H, W, CO, KH: tl.constexpr, KW: tl.constexpr, BN: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr):
    """(BP pixels) x (BN channels) of a stride 1, no padding NCHW convolution; w (CO, CI, KH, KW)."""
    acc = tl.zeros((BP, BN), dtype=tl.float32)
    K = CI * KH * KW
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        ci = k // (KH * KW)
        kh = (k // KW) % KH
        kw = k % KW
        off = ((n[:, None] * CI + ci[None, :]) * H + oh[:, None] + kh[None, :]) * W + ow[:, None] + kw[None, :]
        xv = tl.load(x + off, mask=ok[:, None] & (k < K)[None, :], other=0.0)
        wv = tl.load(w + oc[None, :] * K + k[:, None], mask=(k < K)[:, None] & (oc < CO)[None, :], other=0.0)
        acc += tl.dot(xv, wv)
    return acc


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def conv_bias_act(x, w, b, y, N, CI, H, W, CO, OH, OW, ACT: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr,
                  BP: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    oc = tl.program_id(1) * BN + tl.arange(0, BN)
    n = p // (OH * OW)
    r = p % (OH * OW)
    acc = conv_tile(x, w, n, r // OW, r % OW, oc, n < N, CI, H, W, CO, KH, KW, BN, BP, BK)
    acc += tl.load(b + oc, mask=oc < CO, other=0.0)[None, :]
    if ACT == 0:
        acc = tl.maximum(acc * tl.minimum(tl.maximum(acc + 3.0, 0.0), 6.0) / 6.0, 0.0)   # hardswish, relu
    elif ACT == 1:
        acc = acc - 0.5
        acc = acc * tanh(tl.log(1.0 + tl.exp(acc)))                                     # subtract, mish
    else:
        acc = tl.where(acc > 0, acc, 0.2 * acc) * 0.1
    tl.store(y + (n[:, None] * CO + oc[None, :]) * (OH * OW) + r[:, None], acc, mask=(n < N)[:, None] & (oc < CO)[None, :])


@case((64, 8, 128, 64, 3, 0), (32, 64, 64, 128, 3, 1), (16, 16, 128, 40, 5, 2))
def conv_act(n, ci, hw, co, k, act):
    x, w, b = randn(n, ci, hw, hw, dtype=f32), randn(co, ci, k, k, dtype=f32), randn(co, dtype=f32)
    o = hw - k + 1
    y = torch.empty(n, co, o, o, device=DEV, dtype=f32)
    conv_bias_act[(triton.cdiv(n * o * o, 128), triton.cdiv(co, 64))](x, w, b, y, n, ci, hw, hw, co, o, o, act, k, k, 128, 64, 16)


@triton.jit
def conv_tanh_scale_maxpool(x, w, b, sb, y, CI, H, W, CO, PH, PW, scale, K: tl.constexpr, POOL: tl.constexpr, BW: tl.constexpr, BC: tl.constexpr):
    """A row of pooled pixels a program; the convolution recomputed for the POOL x POOL window, direct loops."""
    n = tl.program_id(0) // PH
    ph = tl.program_id(0) % PH
    pw = tl.program_id(1) * BW + tl.arange(0, BW)
    oc = tl.program_id(2) * BC + tl.arange(0, BC)
    best = tl.full((BC, BW), float("-inf"), tl.float32)
    bias = tl.load(b + oc, mask=oc < CO, other=0.0)
    sbias = tl.load(sb + oc, mask=oc < CO, other=0.0)
    for a in range(POOL):
        for c in range(POOL):
            acc = tl.zeros((BC, BW), tl.float32) + bias[:, None]
            for ci in range(CI):
                for i in tl.static_range(K):
                    for j in tl.static_range(K):
                        xv = tl.load(x + ((n * CI + ci) * H + ph * POOL + a + i) * W + pw * POOL + c + j, mask=pw < PW, other=0.0)
                        wv = tl.load(w + ((oc * CI + ci) * K + i) * K + j, mask=oc < CO, other=0.0)
                        acc += wv[:, None] * xv[None, :]
            best = tl.maximum(best, tanh(acc) * scale + sbias[:, None])
    tl.store(y + ((n * CO + oc[:, None]) * PH + ph) * PW + pw[None, :], best, mask=(oc < CO)[:, None] & (pw < PW)[None, :])


@case((32, 8, 128, 32, 3, 4), (64, 3, 64, 16, 3, 2))
def conv_maxpool(n, ci, hw, co, k, pool):
    x, w, b, sb = randn(n, ci, hw, hw, dtype=f32), randn(co, ci, k, k, dtype=f32), randn(co, dtype=f32), randn(co, dtype=f32)
    p = (hw - k + 1) // pool
    y = torch.empty(n, co, p, p, device=DEV, dtype=f32)
    conv_tanh_scale_maxpool[(n * p, triton.cdiv(p, 32), triton.cdiv(co, 16))](x, w, b, sb, y, ci, hw, hw, co, p, p, 2.0, k, pool, 32, 16)


@triton.jit
def conv_gn_stats(x, w, b, y, stats, N, CI, H, W, CO, OH, OW, TILES, GS: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr,
                  BP: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Stores the convolution and adds sum and sum of squares of each (n, group) by atomics; tiles never cross images."""
    n0 = tl.program_id(0) // TILES
    r = (tl.program_id(0) % TILES) * BP + tl.arange(0, BP)
    oc = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = r < OH * OW
    n = tl.zeros((BP,), tl.int32) + n0
    acc = conv_tile(x, w, n, r // OW, r % OW, oc, ok, CI, H, W, CO, KH, KW, BN, BP, BK)
    acc += tl.load(b + oc)[None, :]
    acc = tl.where(ok[:, None], acc, 0.0)
    tl.store(y + (n0 * CO + oc[None, :]) * (OH * OW) + r[:, None], acc, mask=ok[:, None])
    s = tl.sum(tl.reshape(tl.sum(acc, 0), (BN // GS, GS)), 1)
    q = tl.sum(tl.reshape(tl.sum(acc * acc, 0), (BN // GS, GS)), 1)
    g = tl.program_id(1) * (BN // GS) + tl.arange(0, BN // GS)
    tl.atomic_add(stats + (n0 * (CO // GS) + g) * 2, s)
    tl.atomic_add(stats + (n0 * (CO // GS) + g) * 2 + 1, q)


@triton.jit
def gn_apply_hardtanh(y, stats, gw, gb, P, CO, count, GS: tl.constexpr, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    c = nc % CO
    ng = nc // GS
    mean = tl.load(stats + ng * 2) / count
    rstd = tl.rsqrt(tl.load(stats + ng * 2 + 1) / count - mean * mean + 1e-5)
    g = tl.load(gw + c) * rstd
    b = tl.load(gb + c)
    for i in range(0, P, BLOCK):
        o = i + tl.arange(0, BLOCK)
        v = tl.load(y + nc * P + o, mask=o < P, other=0.0)
        v = tl.clamp((v - mean) * g + b, 0.0, 1.0)
        tl.store(y + nc * P + o, v, mask=o < P)


@case((32, 8, 128, 64, 3, 4), (16, 64, 64, 128, 3, 8))
def conv_groupnorm(n, ci, hw, co, k, gs):
    x, w, b = randn(n, ci, hw, hw, dtype=f32), randn(co, ci, k, k, dtype=f32), randn(co, dtype=f32)
    o = hw - k + 1
    y, st = torch.empty(n, co, o, o, device=DEV, dtype=f32), zeros(n, co // gs, 2, dtype=f32)
    tiles = triton.cdiv(o * o, 128)
    conv_gn_stats[(n * tiles, co // 64)](x, w, b, y, st, n, ci, hw, hw, co, o, o, tiles, gs, k, k, 128, 64, 32, num_warps=8)
    gn_apply_hardtanh[(n * co,)](y, st, rand(co), rand(co), o * o, co, float(o * o * gs), gs, 1024)


@triton.jit
def conv_min_tanh_tanh(x, w, b, y, N, CI, H, W, CO: tl.constexpr, OH, OW, K: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr):
    """Minimum over all output channels (they fit the tile), tanh twice."""
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    oc = tl.arange(0, CO)
    n = p // (OH * OW)
    r = p % (OH * OW)
    acc = conv_tile(x, w, n, r // OW, r % OW, oc, n < N, CI, H, W, CO, K, K, CO, BP, BK)
    acc += tl.load(b + oc)[None, :]
    v = tanh(tanh(tl.min(acc, axis=1)))
    tl.store(y + p, v, mask=n < N)


@case((64, 16, 128, 64), (32, 64, 64, 128))
def conv_min(n, ci, hw, co):
    x, w, b = randn(n, ci, hw, hw, dtype=f16), randn(co, ci, 3, 3, dtype=f16), randn(co, dtype=f32)
    o = hw - 2
    y = torch.empty(n, 1, o, o, device=DEV, dtype=f32)
    conv_min_tanh_tanh[(triton.cdiv(n * o * o, 64),)](x, w, b, y, n, ci, hw, hw, co, o, o, 3, 64, 32)


@triton.jit
def conv3x3_bn_residual_relu_nhwc(x, w, scale, shift, res, y, N, H, W, C: tl.constexpr, CO, BP: tl.constexpr, BN: tl.constexpr):
    """The second convolution of a ResNet block, folded batch norm, skip and relu; w (3, 3, C, CO)."""
    pid = tl.program_id(0)
    nn = tl.cdiv(CO, BN)
    p = (pid // nn) * BP + tl.arange(0, BP)
    o = (pid % nn) * BN + tl.arange(0, BN)
    c = tl.arange(0, 64)
    pw = p % W
    ph = (p // W) % H
    pm = p < N * H * W
    acc = tl.zeros((BP, BN), tl.float32)
    for it in range(9 * (C // 64)):
        tap = it // (C // 64)
        c0 = (it % (C // 64)) * 64
        dh = tap // 3 - 1
        dw = tap % 3 - 1
        ok = pm & (ph + dh >= 0) & (ph + dh < H) & (pw + dw >= 0) & (pw + dw < W)
        a = tl.load(x + (p + dh * W + dw)[:, None] * C + (c0 + c)[None, :], mask=ok[:, None], other=0.0)
        b = tl.load(w + (tap * C + c0 + c)[:, None] * CO + o[None, :])
        acc = tl.dot(a, b, acc)
    acc = acc * tl.load(scale + o)[None, :] + tl.load(shift + o)[None, :]
    off = p[:, None] * CO + o[None, :]
    acc += tl.load(res + off, mask=pm[:, None], other=0.0).to(tl.float32)
    tl.store(y + off, tl.maximum(acc, 0.0).to(y.dtype.element_ty), mask=pm[:, None])


@case((64, 56, 64, 64), (64, 14, 256, 256), (128, 7, 512, 512))
def resnet_block(n, hw, c, co):
    x, w, res = randn(n, hw, hw, c), randn(3, 3, c, co), randn(n, hw, hw, co)
    y = torch.empty_like(res)
    conv3x3_bn_residual_relu_nhwc[(triton.cdiv(n * hw * hw, 128) * (co // 64),)](x, w, rand(co), rand(co), res, y, n, hw, hw, c, co, 128, 64,
                                                                               num_warps=4, num_stages=4)


@triton.jit
def conv_avgpool_sigmoid_sum(x, w, b, out, CI, H, W, CO, PH, PW, K: tl.constexpr, POOL: tl.constexpr, BC: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr):
    """Average pooling moves before the product: pooled im2col, then dot, sigmoid, sum of an image by one atomic a program."""
    n = tl.program_id(1)
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    ok = p < PH * PW
    ph = p // PW
    pw = p % PW
    oc = tl.arange(0, BC)
    KK = CI * K * K
    acc = tl.zeros((BP, BC), tl.float32)
    for k0 in range(0, KK, BK):
        k = k0 + tl.arange(0, BK)
        ci = k // (K * K)
        kh = (k // K) % K
        kw = k % K
        s = tl.zeros((BP, BK), tl.float32)
        base = (n * CI + ci[None, :]) * H * W + (ph[:, None] * POOL + kh[None, :]) * W + pw[:, None] * POOL + kw[None, :]
        for a in tl.static_range(POOL):
            for c in tl.static_range(POOL):
                s += tl.load(x + base + a * W + c, mask=ok[:, None] & (k < KK)[None, :], other=0.0)
        wv = tl.load(w + oc[None, :] * KK + k[:, None], mask=(oc < CO)[None, :] & (k < KK)[:, None], other=0.0)
        acc += tl.dot(s, wv, allow_tf32=True)
    acc = acc / (POOL * POOL) + tl.load(b + oc, mask=oc < CO, other=0.0)[None, :]
    v = tl.where(ok[:, None] & (oc < CO)[None, :], tl.sigmoid(acc), 0.0)
    tl.atomic_add(out + n, tl.sum(v))


@case((64, 8, 192, 64, 3, 4), (32, 16, 128, 48, 3, 2))
def conv_avgpool(n, ci, hw, co, k, pool):
    x, w, b = randn(n, ci, hw, hw, dtype=f32), randn(co, ci, k, k, dtype=f32), randn(co, dtype=f32)
    p = (hw - k + 1) // pool
    conv_avgpool_sigmoid_sum[(triton.cdiv(p * p, 64), n)](x, w, b, zeros(n, dtype=f32), ci, hw, hw, co, p, p, k, pool, 64, 64, 32, num_stages=2)


@triton.jit
def depthwise_separable_nhwc(x, wd, wp, bias, y, N, H, W, C: tl.constexpr, CO: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr):
    """3x3 depthwise, relu6, 1x1, relu6 in one kernel: MobileNet."""
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    pw = p % W
    ph = (p // W) % H
    pm = p < N * H * W
    o = tl.arange(0, CO)
    acc = tl.zeros((BP, CO), tl.float32)
    for c0 in range(0, C, BK):
        c = c0 + tl.arange(0, BK)
        d = tl.zeros((BP, BK), tl.float32)
        for t in tl.static_range(9):
            dh = t // 3 - 1
            dw = t % 3 - 1
            ok = pm & (ph + dh >= 0) & (ph + dh < H) & (pw + dw >= 0) & (pw + dw < W)
            xv = tl.load(x + (p + dh * W + dw)[:, None] * C + c[None, :], mask=ok[:, None], other=0.0)
            d += xv.to(tl.float32) * tl.load(wd + t * C + c).to(tl.float32)[None, :]
        d = tl.minimum(tl.maximum(d, 0.0), 6.0).to(x.dtype.element_ty)
        acc = tl.dot(d, tl.load(wp + c[:, None] * CO + o[None, :]), acc)
    acc += tl.load(bias + o)[None, :]
    tl.store(y + p[:, None] * CO + o[None, :], tl.minimum(tl.maximum(acc, 0.0), 6.0).to(y.dtype.element_ty), mask=pm[:, None])


@case((32, 112, 32, 64), (64, 28, 128, 128))
def mobilenet_block(n, hw, c, co):
    x, wd, wp = randn(n, hw, hw, c, dtype=f16), randn(9, c, dtype=f16), randn(c, co, dtype=f16)
    y = torch.empty(n, hw, hw, co, device=DEV, dtype=f16)
    depthwise_separable_nhwc[(triton.cdiv(n * hw * hw, 64),)](x, wd, wp, rand(co), y, n, hw, hw, c, co, 64, 32)

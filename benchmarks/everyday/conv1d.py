"""1-d convolutions: causal depthwise (Mamba) with silu, its one-step update, direct dilated and strided, product form, transposed, WaveNet gate, FIR in fp64."""
from _common import *
import triton, triton.language as tl


@triton.jit
def causal_conv1d_silu(x, w, b, y, L, D, sxb, sxl, KW: tl.constexpr, BL: tl.constexpr, BD: tl.constexpr, SILU: tl.constexpr):
    """x (B, L, D), w (D, KW)."""
    bi = tl.program_id(2)
    l = tl.program_id(0) * BL + tl.arange(0, BL)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    md = d < D
    acc = tl.zeros((BL, BD), tl.float32)
    acc += tl.load(b + d, mask=md, other=0.0).to(tl.float32)[None, :]
    for i in tl.static_range(0, KW):
        t = l + i - (KW - 1)
        xv = tl.load(x + bi * sxb + t[:, None] * sxl + d[None, :], mask=((t >= 0) & (t < L))[:, None] & md[None, :], other=0.0)
        acc += xv.to(tl.float32) * tl.load(w + d * KW + i, mask=md, other=0.0).to(tl.float32)[None, :]
    if SILU:
        acc = acc * tl.sigmoid(acc)
    tl.store(y + bi * sxb + l[:, None] * sxl + d[None, :], acc.to(y.dtype.element_ty), mask=(l < L)[:, None] & md[None, :])


@case((8, 4096, 4096, 4, True), (4, 8192, 1536, 3, False))
def mamba_conv(b, l, d, k, silu):
    x, w, bias = randn(b, l, d), randn(d, k), randn(d)
    y = torch.empty_like(x)
    causal_conv1d_silu[(triton.cdiv(l, 32), triton.cdiv(d, 128), b)](x, w, bias, y, l, d, x.stride(0), x.stride(1), k, 32, 128, silu)


@triton.jit
def conv1d_update(x, state, w, y, D, KW: tl.constexpr, BD: tl.constexpr):
    """One decode step; state (B, KW-1, D) is shifted in place, unrolled by hand for KW = 4."""
    b = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    m = d < D
    s = state + b * (KW - 1) * D + d
    c0 = tl.load(s, mask=m)
    c1 = tl.load(s + D, mask=m)
    c2 = tl.load(s + 2 * D, mask=m)
    xv = tl.load(x + b * D + d, mask=m)
    w0 = tl.load(w + d * KW, mask=m)
    w1 = tl.load(w + d * KW + 1, mask=m)
    w2 = tl.load(w + d * KW + 2, mask=m)
    w3 = tl.load(w + d * KW + 3, mask=m)
    acc = c0.to(tl.float32) * w0 + c1.to(tl.float32) * w1 + c2.to(tl.float32) * w2 + xv.to(tl.float32) * w3
    tl.store(s, c1, mask=m)
    tl.store(s + D, c2, mask=m)
    tl.store(s + 2 * D, xv, mask=m)
    tl.store(y + b * D + d, (acc / (1 + tl.exp(-acc))).to(y.dtype.element_ty), mask=m)


@case((4096, 4096), (1024, 8192))
def mamba_conv_step(b, d):
    x, st, w = randn(b, d), randn(b, 3, d), randn(d, 4)
    conv1d_update[(b, triton.cdiv(d, 512))](x, st, w, torch.empty_like(x), d, 4, 512)


@triton.jit
def conv1d_direct(x_ptr, w_ptr, b_ptr, y_ptr, C_in, L, C_out, L_out, stride, padding, dilation, K: tl.constexpr, BLOCK_L: tl.constexpr):
    """An output channel and a block of positions a program, NCL, runtime stride and dilation."""
    n = tl.program_id(0)
    oc = tl.program_id(1)
    o = tl.program_id(2) * BLOCK_L + tl.arange(0, BLOCK_L)
    mask = o < L_out
    acc = tl.zeros([BLOCK_L], dtype=tl.float32)
    for ic in range(C_in):
        for k in range(K):
            i = o * stride - padding + k * dilation
            x = tl.load(x_ptr + (n * C_in + ic) * L + i, mask=mask & (i >= 0) & (i < L), other=0.0)
            acc += x * tl.load(w_ptr + (oc * C_in + ic) * K + k)
    acc += tl.load(b_ptr + oc)
    tl.store(y_ptr + (n * C_out + oc) * L_out + o, acc, mask=mask)


@case((32, 32, 16384, 64, 3, 2, 0, 4), (16, 3, 65536, 64, 3, 1, 1, 1))
def conv1d_ncl(n, ci, l, co, k, s, p, d):
    x, w, b = randn(n, ci, l, dtype=f32), randn(co, ci, k, dtype=f32), randn(co, dtype=f32)
    lo = (l + 2 * p - d * (k - 1) - 1) // s + 1
    y = torch.empty(n, co, lo, device=DEV, dtype=f32)
    conv1d_direct[(n, co, triton.cdiv(lo, 1024))](x, w, b, y, ci, l, co, lo, s, p, d, k, 1024)


@triton.jit
def conv1d_gemm_gelu(x, w, b, y, L, CI, CO, LO, S: tl.constexpr, P: tl.constexpr, K: tl.constexpr, BL: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr):
    """Whisper's stem: NLC, a dot a tap, w (K, CI, CO)."""
    n = tl.program_id(2)
    o = tl.program_id(0) * BL + tl.arange(0, BL)
    co = tl.program_id(1) * BC + tl.arange(0, BC)
    acc = tl.zeros((BL, BC), tl.float32)
    for k in tl.static_range(K):
        i = o * S - P + k
        row = x + (n * L + i) * CI
        ok = (i >= 0) & (i < L)
        for c0 in range(0, CI, BK):
            c = c0 + tl.arange(0, BK)
            a = tl.load(row[:, None] + c[None, :], mask=ok[:, None] & (c < CI)[None, :], other=0.0)
            f = tl.load(w + (k * CI + c[:, None]) * CO + co[None, :], mask=(c < CI)[:, None] & (co < CO)[None, :], other=0.0)
            acc = tl.dot(a, f, acc)
    acc += tl.load(b + co, mask=co < CO, other=0.0)[None, :]
    acc = 0.5 * acc * (1 + tl.erf(acc * 0.7071067811865476))
    tl.store(y + (n * LO + o[:, None]) * CO + co[None, :], acc.to(y.dtype.element_ty), mask=(o < LO)[:, None] & (co < CO)[None, :])


@case((32, 3000, 80, 1280, 1), (32, 3000, 1280, 1280, 2))
def whisper_stem(n, l, ci, co, s):
    x, w, b = randn(n, l, ci, dtype=f16), randn(3, ci, co, dtype=f16), randn(co, dtype=f32)
    lo = (l - 1) // s + 1
    y = torch.empty(n, lo, co, device=DEV, dtype=f16)
    conv1d_gemm_gelu[(triton.cdiv(lo, 128), triton.cdiv(co, 128), n)](x, w, b, y, l, ci, co, lo, s, 1, 3, 128, 128, 32, num_warps=8)


@triton.jit
def conv_transpose1d_gather(x, w, y, CI, L, CO, LO, S, P, K: tl.constexpr, BC: tl.constexpr, BL: tl.constexpr):
    """w (CI, CO, K): for each output position the taps that divide."""
    n = tl.program_id(0)
    co = tl.program_id(1) * BC + tl.arange(0, BC)
    o = tl.program_id(2) * BL + tl.arange(0, BL)
    acc = tl.zeros((BC, BL), tl.float32)
    for k in range(K):
        num = o + P - k
        i = num // S
        ok = (num >= 0) & (num % S == 0) & (i < L) & (o < LO)
        for ci in range(CI):
            xv = tl.load(x + (n * CI + ci) * L + i, mask=ok, other=0.0)
            wv = tl.load(w + (ci * CO + co) * K + k, mask=co < CO, other=0.0)
            acc += wv[:, None] * xv[None, :]
    tl.store(y + (n * CO + co[:, None]) * LO + o[None, :], acc, mask=(co < CO)[:, None] & (o < LO)[None, :])


@case((16, 64, 2048, 32, 8, 4, 2), (8, 32, 8192, 64, 3, 2, 1))
def conv_transpose1d(n, ci, l, co, k, s, p):
    x, w = randn(n, ci, l, dtype=f32), randn(ci, co, k, dtype=f32)
    lo = (l - 1) * s - 2 * p + k
    y = torch.empty(n, co, lo, device=DEV, dtype=f32)
    conv_transpose1d_gather[(n, triton.cdiv(co, 16), triton.cdiv(lo, 128))](x, w, y, ci, l, co, lo, s, p, k, 16, 128)


@triton.jit
def wavenet_gate(x, wf, wg, wr, y, T, DIL, C: tl.constexpr, BT: tl.constexpr):
    """tanh(f) * sigmoid(g), 1x1 and residual; kernel 2, dilated, causal; (B, T, C) with C whole in the tile."""
    b = tl.program_id(1)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    c = tl.arange(0, C)
    base = x + b * T * C
    m = (t < T)[:, None]
    cur = tl.load(base + t[:, None] * C + c[None, :], mask=m, other=0.0)
    old = tl.load(base + (t - DIL)[:, None] * C + c[None, :], mask=m & (t >= DIL)[:, None], other=0.0)
    sq = c[:, None] * C + c[None, :]
    f = tl.dot(cur, tl.load(wf + C * C + sq)) + tl.dot(old, tl.load(wf + sq))
    g = tl.dot(cur, tl.load(wg + C * C + sq)) + tl.dot(old, tl.load(wg + sq))
    z = (2 * tl.sigmoid(2 * f) - 1) * tl.sigmoid(g)
    r = tl.dot(z.to(cur.dtype), tl.load(wr + sq)) + cur.to(tl.float32)
    tl.store(y + b * T * C + t[:, None] * C + c[None, :], r.to(y.dtype.element_ty), mask=m)


@case((16, 16000, 64, 64), (16, 16000, 128, 512))
def wavenet(b, t, c, dil):
    x, wf, wg, wr = randn(b, t, c), randn(2, c, c), randn(2, c, c), randn(c, c)
    wavenet_gate[(triton.cdiv(t, 64), b)](x, wf, wg, wr, torch.empty_like(x), t, dil, c, 64)


@triton.jit
def fir_fp64(x, h, y, n, TAPS, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float64)
    k = 0
    while k < TAPS:
        acc += tl.load(h + k) * tl.load(x + i - k, mask=(i >= k) & (i < n), other=0.0)
        k += 1
    tl.store(y + i, acc, mask=i < n)


@case((4000000, 63), (1 << 20, 255))
def fir(n, taps):
    x, h = randn(n, dtype=torch.float64), randn(taps, dtype=torch.float64)
    fir_fp64[(triton.cdiv(n, 256),)](x, h, torch.empty_like(x), n, taps, 256)

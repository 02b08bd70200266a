"""More backward forms: batch norm, group norm, embedding segments, cross entropy from logsumexp, avg pool; layer norm over NCHW channels."""
from _common import *
import triton, triton.language as tl


@triton.jit
def bn_bwd_reduce(dy_ptr, x_ptr, mean_ptr, rstd_ptr, dg_ptr, db_ptr, N, C, HW, BLOCK_N: tl.constexpr, BLOCK_P: tl.constexpr):
    c = tl.program_id(0)
    mu = tl.load(mean_ptr + c)
    rs = tl.load(rstd_ptr + c)
    dg = tl.zeros((BLOCK_N, BLOCK_P), tl.float32)
    db = tl.zeros((BLOCK_N, BLOCK_P), tl.float32)
    for n0 in range(0, N, BLOCK_N):
        n = n0 + tl.arange(0, BLOCK_N)[:, None]
        for p0 in range(0, HW, BLOCK_P):
            p = p0 + tl.arange(0, BLOCK_P)[None, :]
            m = (n < N) & (p < HW)
            o = (n * C + c) * HW + p
            dy = tl.load(dy_ptr + o, mask=m, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + o, mask=m, other=0.0).to(tl.float32)
            dg += dy * (x - mu) * rs
            db += dy
    tl.store(dg_ptr + c, tl.sum(dg))
    tl.store(db_ptr + c, tl.sum(db))


@triton.jit
def bn_bwd_dx(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dg_ptr, db_ptr, dx_ptr, numel, C, HW, inv_cnt, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < numel
    c = (i // HW) % C
    rs = tl.load(rstd_ptr + c, mask=m, other=0.0)
    xh = (tl.load(x_ptr + i, mask=m, other=0.0) - tl.load(mean_ptr + c, mask=m, other=0.0)) * rs
    dy = tl.load(dy_ptr + i, mask=m, other=0.0)
    dg = tl.load(dg_ptr + c, mask=m, other=0.0)
    db = tl.load(db_ptr + c, mask=m, other=0.0)
    w = tl.load(w_ptr + c, mask=m, other=0.0)
    tl.store(dx_ptr + i, w * rs * (dy - (db + xh * dg) * inv_cnt), mask=m)


@case((64, 256, 56, 56), (32, 512, 28, 28))
def batch_norm_bwd(n, c, h, w):
    x, dy = randn(n, c, h, w, dtype=f16), randn(n, c, h, w, dtype=f16)
    mu, rs, g = randn(c, dtype=f32), rand(c), ones(c, dtype=f32)
    dg, db, dx = torch.empty_like(mu), torch.empty_like(mu), torch.empty_like(x)
    bn_bwd_reduce[(c,)](dy, x, mu, rs, dg, db, n, c, h * w, 4, 512, num_warps=8)
    bn_bwd_dx[(triton.cdiv(x.numel(), 1024),)](dy, x, g, mu, rs, dg, db, dx, x.numel(), c, h * w, 1.0 / (n * h * w), BLOCK=1024)


@triton.jit
def group_norm_bwd_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, C, HW, G: tl.constexpr, CPG: tl.constexpr, BLOCK: tl.constexpr):
    ng = tl.program_id(0)
    g = ng % G
    mu = tl.load(mean_ptr + ng)
    rs = tl.load(rstd_ptr + ng)
    base = ng.to(tl.int64) * CPG * HW
    c1 = 0.0
    c2 = 0.0
    for c in range(CPG):
        w = tl.load(w_ptr + g * CPG + c)
        sdw = 0.0
        sdb = 0.0
        for p in range(0, HW, BLOCK):
            o = p + tl.arange(0, BLOCK)
            m = o < HW
            x = tl.load(x_ptr + base + c * HW + o, mask=m, other=0.0)
            dy = tl.load(dy_ptr + base + c * HW + o, mask=m, other=0.0)
            sdw += tl.sum(dy * (x - mu) * rs)
            sdb += tl.sum(dy)
        c1 += sdw * w
        c2 += sdb * w
        tl.atomic_add(dw_ptr + g * CPG + c, sdw)
        tl.atomic_add(db_ptr + g * CPG + c, sdb)
    inv = 1.0 / (CPG * HW)
    for c in range(CPG):
        w = tl.load(w_ptr + g * CPG + c)
        for p in range(0, HW, BLOCK):
            o = p + tl.arange(0, BLOCK)
            m = o < HW
            x = tl.load(x_ptr + base + c * HW + o, mask=m, other=0.0)
            dy = tl.load(dy_ptr + base + c * HW + o, mask=m, other=0.0)
            xh = (x - mu) * rs
            tl.store(dx_ptr + base + c * HW + o, rs * (w * dy - (c2 + xh * c1) * inv), mask=m)


@case((16, 64, 128, 128, 8), (32, 320, 32, 32, 32))
def group_norm_bwd(n, c, h, w, g):
    x, dy, wt = randn(n, c, h, w, dtype=f32), randn(n, c, h, w, dtype=f32), randn(c, dtype=f32)
    mu, rs = randn(n * g, dtype=f32), rand(n * g)
    dx, dw, db = torch.empty_like(x), zeros(c, dtype=f32), zeros(c, dtype=f32)
    group_norm_bwd_kernel[(n * g,)](dy, x, wt, mu, rs, dx, dw, db, c, h * w, g, c // g, BLOCK=1024)


@triton.jit
def embedding_bwd_sorted(grad_ptr, order_ptr, seg_ptr, row_ptr, dw_ptr, D: tl.constexpr, BLOCK: tl.constexpr):
    # tokens sorted by id: a program sums one id's segment
    s = tl.program_id(0)
    lo = tl.load(seg_ptr + s)
    hi = tl.load(seg_ptr + s + 1)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    i = lo
    while i < hi:
        t = tl.load(order_ptr + i)
        acc += tl.load(grad_ptr + t * D + c, mask=c < D, other=0.0).to(tl.float32)
        i += 1
    tl.store(dw_ptr + tl.load(row_ptr + s) * D + c, acc.to(tl.bfloat16), mask=c < D)


@case((16384, 4096, 4), (32768, 1536, 16))
def embedding_bwd_segments(t, d, per):
    g, order = randn(t, d), randint(0, t, t)
    seg = torch.arange(0, t + 1, per, device=DEV)
    rows, dw = randint(0, 32000, t // per), zeros(32000, d)
    embedding_bwd_sorted[(t // per, triton.cdiv(d, 512))](g, order, seg, rows, dw, d, 512)


@triton.jit
def ce_bwd_from_lse(x_ptr, lse_ptr, y_ptr, dl_ptr, dx_ptr, V, stride, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + row)
    dl = 0.0
    if y != -100:
        dl = tl.load(dl_ptr + row)
    x = tl.load(x_ptr + row.to(tl.int64) * stride + col, mask=col < V, other=-float("inf")).to(tl.float32)
    p = tl.exp(x - tl.load(lse_ptr + row))
    p -= smoothing / V
    p = tl.where(col == y, p - (1.0 - smoothing), p)
    tl.store(dx_ptr + row.to(tl.int64) * stride + col, (dl * p).to(dx_ptr.dtype.element_ty), mask=col < V)


@case((2048, 50257), (1024, 128256))
def cross_entropy_bwd(m, v):
    x, lse, y, dl = randn(m, v), rand(m, lo=10.0, hi=12.0), randint(0, v, m), rand(m)
    dx = torch.empty_like(x)
    ce_bwd_from_lse[(m, triton.cdiv(v, 4096))](x, lse, y, dl, dx, v, x.stride(0), 0.1, BLOCK=4096, num_warps=8)


@triton.jit
def avg_pool2d_bwd_gather(dy_ptr, dx_ptr, numel, H, W, OH, OW, S: tl.constexpr, P: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < numel
    w = i % W
    h = (i // W) % H
    nc = i // (W * H)
    acc = tl.zeros([BLOCK], tl.float32)
    for kh in tl.static_range(K):
        for kw in tl.static_range(K):
            a = h + P - kh
            b = w + P - kw
            oh = a // S
            ow = b // S
            ok = m & (a >= 0) & (b >= 0) & (a % S == 0) & (b % S == 0) & (oh < OH) & (ow < OW)
            acc += tl.load(dy_ptr + (nc * OH + oh) * OW + ow, mask=ok, other=0.0)
    tl.store(dx_ptr + i, acc / (K * K), mask=m)


@case((16, 64, 224, 224, 3, 2, 1), (32, 256, 56, 56, 2, 2, 0))
def avg_pool2d_bwd(n, c, h, w, k, s, p):
    oh, ow = (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1
    dy, dx = randn(n, c, oh, ow, dtype=f32), torch.empty(n, c, h, w, device=DEV, dtype=f32)
    avg_pool2d_bwd_gather[(triton.cdiv(dx.numel(), 512),)](dy, dx, dx.numel(), h, w, oh, ow, s, p, k, 512)


@triton.jit
def _wf(m1, s1, n1, m2, s2, n2):
    n = n1 + n2
    d = m2 - m1
    f = tl.where(n > 0, n2 / n, 0.0)
    return m1 + d * f, s1 + s2 + d * d * n1 * f, n


@triton.jit
def layer_norm_dim1_welford(x_ptr, y_ptr, w_ptr, b_ptr, C: tl.constexpr, HW, eps, BC: tl.constexpr, BP: tl.constexpr):
    # LayerNorm2d of ConvNeXt: over the channels of NCHW, the whole channel dim in a tile
    n = tl.program_id(1)
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    c = tl.arange(0, BC)
    m = (c < C)[:, None] & (p < HW)[None, :]
    o = n * C * HW + c[:, None] * HW + p[None, :]
    x = tl.load(x_ptr + o, mask=m, other=0.0).to(tl.float32)
    cnt = tl.where((c < C)[:, None], tl.full([BC, BP], 1.0, tl.float32), 0.0)
    mu, ss, k = tl.reduce((x, tl.zeros_like(x), cnt), 0, _wf)
    rs = 1.0 / tl.sqrt(ss / C + eps)
    w = tl.load(w_ptr + c, mask=c < C, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + c, mask=c < C, other=0.0).to(tl.float32)
    y = (x - mu[None, :]) * rs[None, :] * w[:, None] + b[:, None]
    tl.store(y_ptr + o, y.to(y_ptr.dtype.element_ty), mask=m)


@case((64, 96, 56, 56), (32, 256, 64, 64))
def layer_norm_2d(n, c, h, w):
    x, g, b = randn(n, c, h, w), randn(c), randn(c)
    y = torch.empty_like(x)
    layer_norm_dim1_welford[(triton.cdiv(h * w, 32), n)](x, y, g, b, c, h * w, 1e-6, triton.next_power_of_2(c), 32)

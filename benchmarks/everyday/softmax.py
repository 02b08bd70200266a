"""Softmax and log-softmax: whole row, online loop, strided dim, block pointers, masked, backward forms."""
from _common import *
import triton, triton.language as tl


@triton.jit
def softmax_kernel(output_ptr, input_ptr, input_row_stride, output_row_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row_start_ptr = input_ptr + row_idx * input_row_stride
        col_offsets = tl.arange(0, BLOCK_SIZE)
        mask = col_offsets < n_cols
        row = tl.load(row_start_ptr + col_offsets, mask=mask, other=-float('inf'))
        row_minus_max = row - tl.max(row, axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        tl.store(output_ptr + row_idx * output_row_stride + col_offsets, numerator / denominator, mask=mask)


@case((16384, 4096), (32768, 781), (8192, 12672))
def softmax_persistent(m, n):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    bs = triton.next_power_of_2(n)
    softmax_kernel[(min(m, 132 * 2),)](y, x, x.stride(0), y.stride(0), m, n, bs, 2 if bs > 4096 else 4, num_warps=8)


@triton.jit
def softmax_online_kernel(x_ptr, y_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * V
    y_ptr += row * V
    m = -float("inf")
    d = 0.0
    for i in range(0, V, BLOCK):
        o = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + o, mask=o < V, other=-float("inf")).to(tl.float32)
        bm = tl.max(x, 0)
        nm = tl.maximum(m, bm)
        d = d * tl.exp(m - nm) + tl.sum(tl.exp(x - nm), 0)
        m = nm
    for i in range(0, V, BLOCK):
        o = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + o, mask=o < V, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + o, (tl.exp(x - m) / d).to(tl.bfloat16), mask=o < V)


@case((1024, 128256), (4096, 32000), (512, 151936))
def softmax_online(m, v):
    x = randn(m, v)
    y = torch.empty_like(x)
    softmax_online_kernel[(m,)](x, y, v, BLOCK=4096, num_warps=8)


@triton.jit
def logsumexp_combine(m1, s1, m2, s2):
    m = tl.maximum(m1, m2)
    return m, s1 * tl.exp(m1 - m) + s2 * tl.exp(m2 - m)


@triton.jit
def log_softmax_reduce_kernel(x_ptr, y_ptr, lse_ptr, M, N, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK_N)
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=-1e30).to(tl.float32)
    m, s = tl.reduce((x, tl.full([ROWS, BLOCK_N], 1.0, tl.float32)), 1, logsumexp_combine)
    lse = m + tl.log(s)
    tl.store(lse_ptr + rows, lse, mask=rows < M)
    tl.store(y_ptr + rows[:, None] * N + cols[None, :], x - lse[:, None], mask=mask)


@case((131072, 256), (65536, 1000), (200000, 50))
def log_softmax_small(m, n):
    x = randn(m, n, dtype=f16)
    y = torch.empty_like(x)
    lse = torch.empty(m, device=DEV, dtype=f32)
    log_softmax_reduce_kernel[(triton.cdiv(m, 8),)](x, y, lse, m, n, 8, triton.next_power_of_2(n))


@triton.jit
def softmax_dim1_kernel(x_ptr, y_ptr, R: tl.constexpr, K, BLOCK_R: tl.constexpr, BLOCK_K: tl.constexpr):
    # x: (B, R, K), softmax along R, the middle dim
    b = tl.program_id(0)
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    m = tl.full([BLOCK_K], float("-inf"), tl.float32)
    z = tl.full([BLOCK_K], 0.0, tl.float32)
    for r0 in range(0, R, BLOCK_R):
        r = r0 + tl.arange(0, BLOCK_R)
        msk = (r[:, None] < R) & (k[None, :] < K)
        x = tl.load(x_ptr + b * R * K + r[:, None] * K + k[None, :], mask=msk, other=float("-inf"))
        nm = tl.maximum(m, tl.max(x, 0))
        alpha = tl.where(m == nm, 1.0, tl.exp(m - nm))
        z = z * alpha + tl.sum(tl.where(msk, tl.exp(x - nm[None, :]), 0.0), 0)
        m = nm
    for r0 in range(0, R, BLOCK_R):
        r = r0 + tl.arange(0, BLOCK_R)
        msk = (r[:, None] < R) & (k[None, :] < K)
        ptrs = b * R * K + r[:, None] * K + k[None, :]
        x = tl.load(x_ptr + ptrs, mask=msk, other=0.0)
        tl.store(y_ptr + ptrs, tl.exp(x - m[None, :]) / z[None, :], mask=msk)


@case((16, 1024, 4096), (64, 21, 65536))
def softmax_dim1(b, r, k):
    x = randn(b, r, k, dtype=f32)
    y = torch.empty_like(x)
    softmax_dim1_kernel[(b, triton.cdiv(k, 64))](x, y, r, k, 32, 64)


@triton.jit
def scaled_masked_softmax_kernel(x_ptr, mask_ptr, y_ptr, scale, SQ, SK: tl.constexpr, H, CAUSAL: tl.constexpr, BLOCK: tl.constexpr):
    q = tl.program_id(0)
    h = tl.program_id(1)
    b = tl.program_id(2)
    base = ((b * H + h).to(tl.int64) * SQ + q) * SK
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + base + c, mask=c < SK, other=float("-inf")).to(tl.float32) * scale
    if CAUSAL:
        x = tl.where(c <= q, x, float("-inf"))
    else:
        keep = tl.load(mask_ptr + b * SK + c, mask=c < SK, other=0)
        x = tl.where(keep != 0, x, -10000.0)
        x = tl.where(c < SK, x, float("-inf"))
    p = tl.math.exp2((x - tl.max(x, 0)) * 1.4426950408889634)
    p = p / tl.sum(p, 0)
    tl.store(y_ptr + base + c, p.to(tl.float16), mask=c < SK)


@case((4, 16, 1024, True), (16, 12, 512, False))
def scaled_masked_softmax(b, h, s, causal):
    x = randn(b, h, s, s, dtype=f16)
    y = torch.empty_like(x)
    mask = randint(0, 2, b, s, dtype=torch.int8)
    scaled_masked_softmax_kernel[(s, h, b)](x, mask, y, 0.125, s, s, h, causal, triton.next_power_of_2(s), num_warps=4)


@triton.jit
def softmax_bwd_bp(y_ptr, dy_ptr, dx_ptr, M, N, LOG: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    yb = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (pid * BM, 0), (BM, BN), (1, 0))
    gb = tl.make_block_ptr(dy_ptr, (M, N), (N, 1), (pid * BM, 0), (BM, BN), (1, 0))
    ob = tl.make_block_ptr(dx_ptr, (M, N), (N, 1), (pid * BM, 0), (BM, BN), (1, 0))
    s = tl.zeros((BM,), tl.float32)
    y2 = yb
    g2 = gb
    for _ in range(0, tl.cdiv(N, BN)):
        y = tl.load(y2, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        g = tl.load(g2, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        if LOG:
            s += tl.sum(g, 1)
        else:
            s += tl.sum(g * y, 1)
        y2 = tl.advance(y2, (0, BN))
        g2 = tl.advance(g2, (0, BN))
    for _ in range(0, tl.cdiv(N, BN)):
        y = tl.load(yb, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        g = tl.load(gb, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        if LOG:
            dx = g - tl.exp(y) * s[:, None]
        else:
            dx = y * (g - s[:, None])
        tl.store(ob, dx.to(dx_ptr.dtype.element_ty), boundary_check=(0, 1))
        yb = tl.advance(yb, (0, BN))
        gb = tl.advance(gb, (0, BN))
        ob = tl.advance(ob, (0, BN))


@case((8192, 2048, False), (2048, 32000, True))
def softmax_bwd(m, n, log):
    y, dy = rand(m, n, dtype=bf16), randn(m, n)
    dx = torch.empty_like(y)
    softmax_bwd_bp[(triton.cdiv(m, 4),)](y, dy, dx, m, n, log, 4, 512)

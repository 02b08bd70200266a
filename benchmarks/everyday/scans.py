"""Cumulative sums and products: along rows, along outer dims, reverse, exclusive, masked, chunked with carry, segment scans."""
from _common import *
import triton, triton.language as tl


@triton.jit
def cumsum_row_carry(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = 0.0
    for s in range(0, N, BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < N
        x = tl.load(x_ptr + row * N + o, mask=m, other=0.0)
        c = tl.cumsum(x, axis=0) + carry
        tl.store(y_ptr + row * N + o, c, mask=m)
        carry += tl.sum(x, axis=0)


@case((2048, 32768), (8192, 4000))
def cumsum_rows(m, n):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    cumsum_row_carry[(m,)](x, y, n, BLOCK=2048, num_warps=8)


@triton.jit
def _mul(a, b):
    return a * b


@triton.jit
def cumprod_kernel(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    run = tl.full((), 1.0, tl.float32)
    for s in tl.range(0, n_cols, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + pid * n_cols + o, mask=o < n_cols, other=1.0).to(tl.float32)
        c = tl.associative_scan(x, 0, _mul) * run
        tl.store(y_ptr + pid * n_cols + o, c, mask=o < n_cols)
        run = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, c, 0.0))


@case((4096, 8192), (1000, 40000))
def cumprod_rows(m, n):
    x = rand(m, n, dtype=bf16, lo=0.9, hi=1.1)
    y = torch.empty_like(x)
    cumprod_kernel[(m,)](x, y, n, BLOCK=1024)


@triton.jit
def reverse_cumsum_kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((1,), dtype=tl.float32)
    nb = tl.cdiv(N, BLOCK)
    for k in range(nb):
        i = nb - 1 - k
        o = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + o, mask=o < N, other=0.0)
        y = tl.cumsum(x, 0, reverse=True) + acc
        tl.store(y_ptr + row * N + o, y, mask=o < N)
        acc += tl.sum(x, 0)


@case((4096, 16384), (32768, 1000))
def reverse_cumsum(m, n):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    reverse_cumsum_kernel[(m,)](x, y, n, BLOCK=1024)


@triton.jit
def exclusive_masked_cumsum_kernel(x_ptr, mask_ptr, y_ptr, M, N: tl.constexpr, EXCLUSIVE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    ok = (r[:, None] < M) & (c[None, :] < N)
    off = r[:, None] * N + c[None, :]
    x = tl.load(x_ptr + off, mask=ok, other=0.0)
    k = tl.load(mask_ptr + off, mask=ok, other=0)
    x = tl.where(k, x, 0.0)
    y = tl.cumsum(x, axis=1)
    if EXCLUSIVE:
        y = y - x
    tl.store(y_ptr + off, y, mask=ok)


@case((32768, 1024, True), (16384, 2000, False))
def exclusive_masked_cumsum(m, n, ex):
    x = randn(m, n, dtype=f32)
    k = randint(0, 2, m, n, dtype=torch.bool)
    y = torch.empty_like(x)
    exclusive_masked_cumsum_kernel[(triton.cdiv(m, 4),)](x, k, y, m, n, ex, 4, triton.next_power_of_2(n))


@triton.jit
def cumsum_dim0_serial(x_ptr, y_ptr, T, D, BLOCK_D: tl.constexpr):
    # one thread a column, a serial walk in time
    b = tl.program_id(1)
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    m = d < D
    acc = tl.zeros([BLOCK_D], tl.float32)
    p = b * T * D + d
    t = 0
    while t < T:
        acc += tl.load(x_ptr + p, mask=m, other=0.0).to(tl.float32)
        tl.store(y_ptr + p, acc.to(tl.bfloat16), mask=m)
        p += D
        t += 1


@case((32, 512, 4096), (8, 1024, 6000))
def cumsum_dim1_serial(b, t, d):
    x = randn(b, t, d)
    y = torch.empty_like(x)
    cumsum_dim0_serial[(triton.cdiv(d, 128), b)](x, y, t, d, BLOCK_D=128, num_warps=4)


@triton.jit
def chunk_local_cumsum_tril_dot(g_ptr, o_ptr, T, H, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, REVERSE: tl.constexpr):
    # cumsum in each chunk of BT steps as a product with a triangle of ones; (B, T, H, D)
    i_d, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b = i_bh // H
    i_h = i_bh % H
    p_g = tl.make_block_ptr(g_ptr + (i_b * T * H + i_h) * D, (T, D), (H * D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    p_o = tl.make_block_ptr(o_ptr + (i_b * T * H + i_h) * D, (T, D), (H * D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    o_i = tl.arange(0, BT)
    if REVERSE:
        m = tl.where(o_i[:, None] <= o_i[None, :], 1.0, 0.0)
    else:
        m = tl.where(o_i[:, None] >= o_i[None, :], 1.0, 0.0)
    g = tl.load(p_g, boundary_check=(0, 1)).to(tl.float32)
    o = tl.dot(m, g, allow_tf32=False)
    tl.store(p_o, o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


@case((4, 4096, 8, 128, False), (2, 8000, 16, 64, True))
def chunk_local_cumsum(b, t, h, d, rev):
    g = randn(b, t, h, d)
    o = torch.empty_like(g, dtype=f32)
    chunk_local_cumsum_tril_dot[(triton.cdiv(d, 32), triton.cdiv(t, 64), b * h)](g, o, t, h, d, 64, 32, rev)


@triton.jit
def linrec(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def linear_recurrence_kernel(a_ptr, b_ptr, h_ptr, T, D, BT: tl.constexpr, BD: tl.constexpr):
    # h_t = a_t h_{t-1} + b_t along time, BT steps a scan
    i_b = tl.program_id(1)
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    h = tl.zeros([BD], tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + tl.arange(0, BT)
        msk = (t[:, None] < T) & (d[None, :] < D)
        off = i_b * T * D + t[:, None] * D + d[None, :]
        a = tl.load(a_ptr + off, mask=msk, other=1.0).to(tl.float32)
        b = tl.load(b_ptr + off, mask=msk, other=0.0).to(tl.float32)
        aa, bb = tl.associative_scan((a, b), 0, linrec)
        hs = aa * h[None, :] + bb
        tl.store(h_ptr + off, hs.to(h_ptr.dtype.element_ty), mask=msk)
        h = tl.sum(tl.where((tl.arange(0, BT) == BT - 1)[:, None], hs, 0.0), 0)


@case((8, 2048, 2560), (4, 4096, 1536))
def linear_recurrence(b, t, d):
    a, x = rand(b, t, d, dtype=bf16), randn(b, t, d)
    h = torch.empty_like(x)
    linear_recurrence_kernel[(triton.cdiv(d, 64), b)](a, x, h, t, d, 32, 64)


@triton.jit
def block_sums_kernel(x_ptr, s_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(s_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + o, mask=o < n, other=0)))


@triton.jit
def scan_sums_kernel(s_ptr, nb, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(s_ptr + o, mask=o < nb, other=0)
    tl.store(s_ptr + o, tl.cumsum(v, 0) - v, mask=o < nb)


@triton.jit
def add_prefix_kernel(x_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0)
    tl.store(y_ptr + o, tl.cumsum(x, 0) + tl.load(s_ptr + tl.program_id(0)), mask=o < n)


@case((1 << 25,), (9999999,))
def cumsum_flat_int(n):
    x = randint(0, 5, n, dtype=i32)
    y = torch.empty_like(x)
    nb = triton.cdiv(n, 4096)
    s = torch.empty(nb, device=DEV, dtype=i32)
    block_sums_kernel[(nb,)](x, s, n, 4096)
    scan_sums_kernel[(1,)](s, nb, triton.next_power_of_2(nb), num_warps=16)
    add_prefix_kernel[(nb,)](x, s, y, n, 4096, num_warps=8)

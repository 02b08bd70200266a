"""Conjugate-gradient vector steps, batched small LU / Cholesky / inverse / triangular solve in registers, Householder, histograms, segmented scan."""
from _common import *
import triton
import triton.language as tl


@triton.jit
def cg_update_kernel(x, r, p, ap, scal, partial, n, BLOCK: tl.constexpr):
    """x += alpha p; r -= alpha Ap; partial sums of r.r; alpha = scal[0] / scal[1]"""
    pid = tl.program_id(0)
    alpha = tl.load(scal) / tl.load(scal + 1)
    acc = tl.zeros((BLOCK,), dtype=tl.float64)
    for start in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        m = i < n
        xi = tl.load(x + i, mask=m, other=0.0)
        pi = tl.load(p + i, mask=m, other=0.0)
        ri = tl.load(r + i, mask=m, other=0.0) - alpha * tl.load(ap + i, mask=m, other=0.0)
        tl.store(x + i, xi + alpha * pi, mask=m)
        tl.store(r + i, ri, mask=m)
        acc += ri * ri
    tl.store(partial + pid, tl.sum(acc, 0))


@triton.jit
def cg_direction_kernel(p, r, partial, scal, n, nparts, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    q = tl.arange(0, PARTS)
    rr = tl.sum(tl.load(partial + q, mask=q < nparts, other=0.0), 0)
    beta = rr / tl.load(scal)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(p + i, tl.load(r + i, mask=m) + beta * tl.load(p + i, mask=m), mask=m)
    if tl.program_id(0) == 0:
        tl.store(scal + 2, rr)


@case((8000000,), (1234567,))
def cg_steps(n):
    x, r, p, ap = [randn(n, dtype=torch.float64) for _ in range(4)]
    scal, part = ones(4, dtype=torch.float64), zeros(528, dtype=torch.float64)
    cg_update_kernel[(528,)](x, r, p, ap, scal, part, n, BLOCK=512)
    cg_direction_kernel[(triton.cdiv(n, 1024),)](p, r, part, scal, n, 528, PARTS=1024, BLOCK=1024)


@triton.jit
def batched_cholesky_kernel(a_ptr, l_ptr, N: tl.constexpr):
    """one matrix a program, right-looking, whole matrix in registers; columns picked out by masked sums"""
    b = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, N)
    a = tl.load(a_ptr + b * N * N + i[:, None] * N + i[None, :])
    for k in range(N):
        col = tl.sum(tl.where(i[None, :] == k, a, 0.0), axis=1)
        dkk = tl.sqrt(tl.sum(tl.where(i == k, col, 0.0), axis=0))
        lcol = tl.where(i > k, col / dkk, tl.where(i == k, dkk, 0.0))
        a = tl.where((i[:, None] > k) & (i[None, :] > k), a - lcol[:, None] * lcol[None, :], a)
        a = tl.where(i[None, :] == k, lcol[:, None], a)
    tl.store(l_ptr + b * N * N + i[:, None] * N + i[None, :], tl.where(i[:, None] >= i[None, :], a, 0.0))


@case((32, 16384), (16, 40000), (64, 2000))
def batched_cholesky(n, batch):
    a = randn(batch, n, n, dtype=f32) * 0.01 + torch.eye(n, dtype=f32, device=DEV)
    batched_cholesky_kernel[(batch,)](a, torch.empty_like(a), N=n, num_warps=1 if n <= 32 else 4)


@triton.jit
def batched_gauss_jordan_inverse(A, Ainv, batch, N: tl.constexpr, BLOCK_B: tl.constexpr):
    # BLOCK_B matrices per program as a 3-d tile; no pivoting
    rb = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    r = tl.arange(0, N)
    off = rb[:, None, None] * N * N + r[None, :, None] * N + r[None, None, :]
    msk = rb[:, None, None] < batch
    eye = tl.where(r[:, None] == r[None, :], 1.0, 0.0)[None, :, :]
    m = tl.load(A + off, mask=msk, other=0.0)
    m = tl.where(msk, m, eye)
    inv = m * 0.0 + eye
    for k in tl.static_range(N):
        is_row = (r == k)[None, :, None]
        prow = tl.sum(tl.where(is_row, m, 0.0), axis=1)
        irow = tl.sum(tl.where(is_row, inv, 0.0), axis=1)
        piv = tl.sum(tl.where((r == k)[None, :], prow, 0.0), axis=1)
        prow = prow / piv[:, None]
        irow = irow / piv[:, None]
        f = tl.sum(tl.where((r == k)[None, None, :], m, 0.0), axis=2)
        m = tl.where(is_row, prow[:, None, :], m - f[:, :, None] * prow[:, None, :])
        inv = tl.where(is_row, irow[:, None, :], inv - f[:, :, None] * irow[:, None, :])
    tl.store(Ainv + off, inv, mask=msk)


@case((200000,), (33333,))
def batched_inverse_8x8(batch):
    a = randn(batch, 8, 8, dtype=f32) * 0.05 + torch.eye(8, dtype=f32, device=DEV)
    batched_gauss_jordan_inverse[(triton.cdiv(batch, 8),)](a, torch.empty_like(a), batch, N=8, BLOCK_B=8)


@triton.jit
def _argmax_abs(v1, i1, v2, i2):
    take = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(take, v1, v2), tl.where(take, i1, i2)


@triton.jit
def batched_lu_pivot_kernel(a_ptr, piv_ptr, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inb = (i[:, None] < n) & (i[None, :] < n)
    a = tl.load(a_ptr + b * n * n + i[:, None] * n + i[None, :], mask=inb, other=0.0)
    for k in range(0, n):
        col = tl.sum(tl.where(i[None, :] == k, a, 0.0), 1)
        cand = tl.where((i >= k) & (i < n), tl.abs(col), -1.0)
        best, p = tl.reduce((cand, i), 0, _argmax_abs)
        row_k = tl.sum(tl.where(i[:, None] == k, a, 0.0), 0)
        row_p = tl.sum(tl.where(i[:, None] == p, a, 0.0), 0)
        a = tl.where(i[:, None] == k, row_p[None, :], tl.where(i[:, None] == p, row_k[None, :], a))
        pivot = tl.sum(tl.where(i == k, row_p, 0.0), 0)
        col = tl.sum(tl.where(i[None, :] == k, a, 0.0), 1)
        l = tl.where(i > k, col / pivot, 0.0)
        a = tl.where(i[None, :] > k, a - l[:, None] * row_p[None, :], a)
        a = tl.where((i[None, :] == k) & (i[:, None] > k), l[:, None], a)
        tl.store(piv_ptr + b * n + k, p)
    tl.store(a_ptr + b * n * n + i[:, None] * n + i[None, :], a, mask=inb)


@case((24, 8192), (48, 1500))
def batched_lu(n, batch):
    a = randn(batch, n, n, dtype=f32)
    batched_lu_pivot_kernel[(batch,)](a, torch.empty((batch, n), device=DEV, dtype=i32), n, BLOCK=triton.next_power_of_2(n), num_warps=2)


@triton.jit
def trsm_lower_kernel(L, B, X, nrhs, stride_l, stride_b, N: tl.constexpr, BLOCK_R: tl.constexpr):
    # L X = B, forward substitution, a block of right-hand sides a program; unit_diag=False
    bid = tl.program_id(1)
    i = tl.arange(0, N)
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    x = tl.load(B + bid * stride_b + i[:, None] * nrhs + r[None, :], mask=r[None, :] < nrhs, other=0.0).to(tl.float32)
    for k in range(N):
        lcol = tl.load(L + bid * stride_l + i * N + k, mask=i >= k, other=0.0)
        lkk = tl.load(L + bid * stride_l + k * N + k)
        xk = tl.sum(tl.where(i[:, None] == k, x, 0.0), axis=0) / lkk
        x = tl.where(i[:, None] == k, xk[None, :], tl.where(i[:, None] > k, x - lcol[:, None] * xk[None, :], x))
    tl.store(X + bid * stride_b + i[:, None] * nrhs + r[None, :], x, mask=r[None, :] < nrhs)


@case((64, 256, 256), (32, 100, 2048))
def trsm_lower(n, nrhs, batch):
    l = randn(batch, n, n, dtype=f32) * 0.05 + torch.eye(n, dtype=f32, device=DEV)
    b = randn(batch, n, nrhs, dtype=f32)
    trsm_lower_kernel[(triton.cdiv(nrhs, 32), batch)](l, b, torch.empty_like(b), nrhs, n * n, n * nrhs, N=n, BLOCK_R=32)


@triton.jit
def householder_qr_kernel(a_ptr, tau_ptr, m, M: tl.constexpr, N: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    p = a_ptr + b * m * N + i[:, None] * N + j[None, :]
    a = tl.load(p, mask=i[:, None] < m, other=0.0)
    for k in range(N):
        col = tl.sum(tl.where(j[None, :] == k, a, 0.0), axis=1)
        below = tl.where(i > k, col, 0.0)
        alpha = tl.sum(tl.where(i == k, col, 0.0))
        sigma = tl.sum(below * below)
        norm = tl.sqrt(alpha * alpha + sigma)
        beta = tl.where(alpha > 0, -norm, norm)
        tau = (beta - alpha) / beta
        v = tl.where(i == k, 1.0, below / (alpha - beta))
        w = tl.sum(v[:, None] * a, axis=0)
        upd = a - tau * v[:, None] * w[None, :]
        a = tl.where(j[None, :] > k, upd, a)
        a = tl.where((j[None, :] == k) & (i[:, None] == k), beta, tl.where((j[None, :] == k) & (i[:, None] > k), v[:, None], a))
        tl.store(tau_ptr + b * N + k, tau)
    tl.store(p, a, mask=i[:, None] < m)


@case((120, 16, 2048), (256, 32, 400))
def householder_qr(m, n, batch):
    a = randn(batch, m, n, dtype=f32)
    householder_qr_kernel[(batch,)](a, torch.empty((batch, n), device=DEV, dtype=f32), m, M=triton.next_power_of_2(m), N=n, num_warps=4)


@triton.jit
def histogram_kernel(x, hist, n, lo, inv_width, NB: tl.constexpr, BLOCK: tl.constexpr, ITERS: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros([NB], dtype=tl.int32)
    for it in range(ITERS):
        o = (pid * ITERS + it) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + o, mask=o < n, other=0.0)
        b = ((v - lo) * inv_width).to(tl.int32)
        b = tl.minimum(tl.maximum(b, 0), NB - 1)
        h = tl.histogram(b, NB)
        acc += h
    pad = tl.maximum((pid + 1) * ITERS * BLOCK - n, 0)
    pad = tl.minimum(pad, ITERS * BLOCK)
    zero_bin = tl.minimum(tl.maximum(((0.0 - lo) * inv_width).to(tl.int32), 0), NB - 1)
    acc -= tl.where(tl.arange(0, NB) == zero_bin, pad, 0)
    tl.atomic_add(hist + tl.arange(0, NB), acc)


@triton.jit
def histogram_atomic_kernel(keys, weights, hist, n, NB, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    k = tl.load(keys + o, mask=m, other=0).to(tl.int32)
    w = tl.load(weights + o, mask=m, other=0.0)
    tl.atomic_add(hist + k, w, mask=m & (k < NB))


@case((1 << 24,), (5000011,))
def histograms(n):
    x = randn(n, dtype=f32)
    h = zeros(256, dtype=i32)
    histogram_kernel[(triton.cdiv(n, 1024 * 16),)](x, h, n, -4.0, 32.0, NB=256, BLOCK=1024, ITERS=16)
    k = randint(0, 4096, n, dtype=torch.int16)
    histogram_atomic_kernel[(triton.cdiv(n, 2048),)](k, x, zeros(4096, dtype=f32), n, 4096, BLOCK=2048, num_warps=8)


@triton.jit
def _seg_op(v1, f1, v2, f2):
    return tl.where(f2 != 0, v2, v1 + v2), f1 | f2


@triton.jit
def segmented_scan_kernel(x, flags, y, n, BLOCK: tl.constexpr):
    # one row a program, carries the running sum from tile to tile
    row = tl.program_id(0)
    carry = 0.0
    for s in range(0, n, BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < n
        v = tl.load(x + row * n + o, mask=m, other=0.0).to(tl.float32)
        f = tl.load(flags + row * n + o, mask=m, other=0).to(tl.int32)
        sv, sf = tl.associative_scan((v, f), 0, _seg_op)
        out = tl.where(sf != 0, sv, sv + carry)
        tl.store(y + row * n + o, out, mask=m)
        carry = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, out, 0.0), 0)


@case((4096, 8192), (1000, 3000))
def segmented_scan(rows, n):
    x, f = randn(rows, n), randint(0, 2, rows, n, dtype=torch.int8)
    segmented_scan_kernel[(rows,)](x, f, torch.empty_like(x), n, BLOCK=1024, num_warps=4)

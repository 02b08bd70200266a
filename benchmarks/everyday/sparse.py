"""Sparse: CSR SpMV (vector, scalar while loop, merge of rows), ELL, COO atomics, BSR SpMM, CSR SpMM, SDDMM, fused conjugate-gradient steps, sparse triangular level."""
from _common import *
import triton, triton.language as tl


def csr(rows, cols, deg):
    d = randint(max(1, deg // 2), deg + deg // 2, rows)
    rp = torch.zeros(rows + 1, device=DEV, dtype=i32)
    rp[1:] = torch.cumsum(d, 0).to(i32)
    nnz = rows * (deg + deg // 2)
    return rp, randint(0, cols, nnz, dtype=i32), nnz


@triton.jit
def csr_spmv_row(rp, ci, va, x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lo = tl.load(rp + row)
    hi = tl.load(rp + row + 1)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(lo, hi, BLOCK):
        j = k + tl.arange(0, BLOCK)
        m = j < hi
        c = tl.load(ci + j, mask=m, other=0)
        acc += tl.load(va + j, mask=m, other=0.0) * tl.load(x + c, mask=m, other=0.0)
    tl.store(y + row, tl.sum(acc, 0))


@triton.jit
def csr_spmv_scalar(rp, ci, va, x, y, n_rows, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = r < n_rows
    p = tl.load(rp + r, mask=m, other=0)
    e = tl.load(rp + r + 1, mask=m, other=0)
    acc = tl.zeros((BLOCK,), dtype=tl.float64)
    while tl.max((p < e).to(tl.int32), axis=0) != 0:
        live = p < e
        c = tl.load(ci + p, mask=live, other=0)
        acc += tl.load(va + p, mask=live, other=0.0) * tl.load(x + c, mask=live, other=0.0)
        p += 1
    tl.store(y + r, acc, mask=m)


# a tile of rows by a tile of entries
@triton.jit
def csr_spmv_tile(rp, ci, va, x, y, n_rows, R: tl.constexpr, K: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    m = r < n_rows
    lo = tl.load(rp + r, mask=m, other=0)
    ln = tl.load(rp + r + 1, mask=m, other=0) - lo
    acc = tl.zeros((R,), tl.float32)
    for k in range(0, tl.max(ln, 0), K):
        kk = k + tl.arange(0, K)
        mm = kk[None, :] < ln[:, None]
        idx = lo[:, None] + kk[None, :]
        col = tl.load(ci + idx, mask=mm, other=0)
        acc += tl.sum(tl.load(va + idx, mask=mm, other=0.0) * tl.load(x + col, mask=mm, other=0.0), axis=1)
    tl.store(y + r, acc, mask=m)


@case((200000, 200000, 40), (1000000, 1000000, 8))
def spmv(n, c, deg):
    rp, ci, nnz = csr(n, c, deg)
    va = randn(nnz, dtype=f32); x = randn(c, dtype=f32); y = zeros(n, dtype=f32)
    csr_spmv_row[(n,)](rp, ci, va, x, y, BLOCK=32, num_warps=1)
    csr_spmv_tile[(triton.cdiv(n, 16),)](rp, ci, va, x, y, n, R=16, K=16, num_warps=4)
    v64 = randn(nnz, dtype=torch.float64); x64 = randn(c, dtype=torch.float64)
    csr_spmv_scalar[(triton.cdiv(n, 128),)](rp, ci, v64, x64, zeros(n, dtype=torch.float64), n, BLOCK=128)


@triton.jit
def ell_spmv(cols, vals, x, y, n, width, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = r < n
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for k in range(width):
        c = tl.load(cols + k * n + r, mask=m, other=-1)
        v = tl.load(vals + k * n + r, mask=m, other=0.0)
        acc += tl.where(c >= 0, v * tl.load(x + c, mask=c >= 0, other=0.0), 0.0)
    tl.store(y + r, acc, mask=m)


@case((1000000, 27), (400000, 64))
def ell(n, w):
    c = randint(-1, n, w, n, dtype=i32)
    ell_spmv[(triton.cdiv(n, 256),)](c, randn(w, n, dtype=f32), randn(n, dtype=f32), zeros(n, dtype=f32), n, w, BLOCK=256)


@triton.jit
def coo_spmm_atomic(ri, ci, va, B, C, nnz, F: tl.constexpr, E: tl.constexpr):
    e = tl.program_id(0) * E + tl.arange(0, E)
    f = tl.arange(0, F)
    m = e < nnz
    r = tl.load(ri + e, mask=m, other=0)
    c = tl.load(ci + e, mask=m, other=0)
    v = tl.load(va + e, mask=m, other=0.0)
    b = tl.load(B + c[:, None] * F + f[None, :], mask=m[:, None], other=0.0)
    tl.atomic_add(C + r[:, None] * F + f[None, :], b * v[:, None], mask=m[:, None])


@case((1000000, 50000, 64), (300000, 20000, 128))
def coo(nnz, n, f):
    coo_spmm_atomic[(triton.cdiv(nnz, 16),)](randint(0, n, nnz, dtype=i32), randint(0, n, nnz, dtype=i32), randn(nnz, dtype=f32), randn(n, f, dtype=f32), zeros(n, f, dtype=f32), nnz, F=f, E=16)


# block rows of 32x32 blocks times a dense matrix
@triton.jit
def bsr_spmm(rp, ci, blocks, X, Y, N, sx, sy, BS: tl.constexpr, BN: tl.constexpr):
    br = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    i = tl.arange(0, BS)
    acc = tl.zeros((BS, BN), dtype=tl.float32)
    start = tl.load(rp + br)
    end = tl.load(rp + br + 1)
    for p in range(start, end):
        c = tl.load(ci + p)
        a = tl.load(blocks + p * BS * BS + i[:, None] * BS + i[None, :])
        b = tl.load(X + (c * BS + i)[:, None] * sx + n[None, :], mask=(n < N)[None, :], other=0.0)
        acc += tl.dot(a, b)
    tl.store(Y + (br * BS + i)[:, None] * sy + n[None, :], acc.to(Y.dtype.element_ty), mask=(n < N)[None, :])


@case((256, 32, 16, 1024, bf16), (128, 64, 12, 768, f16))
def bsr(nb, bs, deg, n, dt):
    rp = (torch.arange(nb + 1, device=DEV, dtype=i32) * deg); ci = randint(0, nb, nb * deg, dtype=i32)
    bl = randn(nb * deg, bs, bs, dtype=dt); x = randn(nb * bs, n, dtype=dt); y = torch.empty_like(x)
    bsr_spmm[(nb, triton.cdiv(n, 64))](rp, ci, bl, x, y, n, x.stride(0), y.stride(0), BS=bs, BN=64, num_warps=4, num_stages=3)


# GNN style aggregate: mean of neighbour features
@triton.jit
def csr_spmm_mean(rp, ci, feat, out, D, stride_f, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    md = d < D
    s = tl.load(rp + row)
    t = tl.load(rp + row + 1)
    acc = tl.zeros((BLOCK_D,), tl.float32)
    for e in range(s, t):
        c = tl.load(ci + e).to(tl.int64)
        acc += tl.load(feat + c * stride_f + d, mask=md, other=0.0).to(tl.float32)
    acc = acc / tl.maximum(t - s, 1).to(tl.float32)
    tl.store(out + row.to(tl.int64) * stride_f + d, acc.to(out.dtype.element_ty), mask=md)


@case((100000, 15, 256), (50000, 30, 100))
def gnn_mean(n, deg, d):
    rp, ci, nnz = csr(n, n, deg)
    x = randn(n, d, dtype=f16); o = torch.empty_like(x)
    csr_spmm_mean[(n, triton.cdiv(d, 128))](rp, ci, x, o, d, d, BLOCK_D=128, num_warps=2)


@triton.jit
def sddmm_coo(ri, ci, A, B, out, nnz, K, E: tl.constexpr, BK: tl.constexpr):
    e = tl.program_id(0) * E + tl.arange(0, E)
    m = e < nnz
    r = tl.load(ri + e, mask=m, other=0)
    c = tl.load(ci + e, mask=m, other=0)
    acc = tl.zeros((E,), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        a = tl.load(A + r[:, None] * K + kk[None, :], mask=m[:, None] & (kk < K)[None, :], other=0.0)
        b = tl.load(B + c[:, None] * K + kk[None, :], mask=m[:, None] & (kk < K)[None, :], other=0.0)
        acc += tl.sum(a.to(tl.float32) * b.to(tl.float32), axis=1)
    tl.store(out + e, acc, mask=m)


# block SDDMM: only listed 64x64 tiles of A @ B^T
@triton.jit
def sddmm_block(tr, tc, A, B, out, K, BM: tl.constexpr, BK: tl.constexpr):
    t = tl.program_id(0)
    r = tl.load(tr + t) * BM + tl.arange(0, BM)
    c = tl.load(tc + t) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BM), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        a = tl.load(A + r[:, None] * K + kk[None, :])
        b = tl.load(B + c[:, None] * K + kk[None, :])
        acc = tl.dot(a, tl.trans(b), acc)
    o = t * BM * BM + tl.arange(0, BM)[:, None] * BM + tl.arange(0, BM)[None, :]
    tl.store(out + o, acc.to(out.dtype.element_ty))


@case((1000000, 30000, 128), (200000, 8000, 300))
def sddmm(nnz, n, k):
    r, c = randint(0, n, nnz, dtype=i32), randint(0, n, nnz, dtype=i32)
    sddmm_coo[(triton.cdiv(nnz, 32),)](r, c, randn(n, k), randn(n, k), zeros(nnz, dtype=f32), nnz, k, E=32, BK=64)


@case((2048, 4096, 256))
def sddmm_tiles(t, n, k):
    sddmm_block[(t,)](randint(0, n // 64, t, dtype=i32), randint(0, n // 64, t, dtype=i32), randn(n, k), randn(n, k), zeros(t, 64, 64), k, BM=64, BK=64)


# CG: x += a p; r -= a q; rr = r.r, with a = rho / pq read from memory
@triton.jit
def cg_update(x, r, p, q, rho, pq, rr_new, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    alpha = tl.load(rho) / tl.load(pq)
    pv = tl.load(p + i, mask=m, other=0.0)
    qv = tl.load(q + i, mask=m, other=0.0)
    tl.store(x + i, tl.load(x + i, mask=m, other=0.0) + alpha * pv, mask=m)
    rv = tl.load(r + i, mask=m, other=0.0) - alpha * qv
    tl.store(r + i, rv, mask=m)
    tl.atomic_add(rr_new, tl.sum(rv * rv, axis=0))


# q = A p for the 5-point Laplacian and p.q in one pass, partial sums to memory
@triton.jit
def cg_laplace_dot(p, q, partial, W, H, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    m = i < W * H
    x = i % W
    c = tl.load(p + i, mask=m, other=0.0)
    s = 4.0 * c
    s -= tl.load(p + i - 1, mask=m & (x > 0), other=0.0)
    s -= tl.load(p + i + 1, mask=m & (x + 1 < W), other=0.0)
    s -= tl.load(p + i - W, mask=m & (i >= W), other=0.0)
    s -= tl.load(p + i + W, mask=m & (i + W < W * H), other=0.0)
    tl.store(q + i, s, mask=m)
    tl.store(partial + pid, tl.sum(c * s))


@triton.jit
def cg_direction(p, r, rr_new, rr_old, n, BLOCK: tl.constexpr):
    beta = tl.load(rr_new) / tl.load(rr_old)
    for s in tl.range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK, num_stages=3):
        i = s + tl.arange(0, BLOCK)
        m = i < n
        tl.store(p + i, tl.load(r + i, mask=m) + beta * tl.load(p + i, mask=m), mask=m)


@case((4096, 4096, f32), (2000, 1500, torch.float64))
def conjugate_gradient(w, h, dt):
    n = w * h
    x, r, p, q = (randn(n, dtype=dt) for _ in range(4)); one = ones(1, dtype=dt); acc = zeros(1, dtype=dt)
    g = triton.cdiv(n, 1024)
    cg_laplace_dot[(g,)](p, q, zeros(g, dtype=dt), w, h, BLOCK=1024)
    cg_update[(g,)](x, r, p, q, one, one, acc, n, BLOCK=1024, num_warps=8)
    cg_direction[(132 * 4,)](p, r, one, one, n, BLOCK=2048, num_warps=8)

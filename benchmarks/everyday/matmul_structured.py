"""Structured products: diagonal times matrix, both diagonals, upper and lower triangular, symmetric, block-diagonal, banded, matrix times scalar."""
from _common import *
import triton, triton.language as tl


@triton.jit
def diag_matmul_kernel(d_ptr, b_ptr, out_ptr, N, M, BLOCK_SIZE: tl.constexpr):
    # one program per row
    row = tl.program_id(0)
    d = tl.load(d_ptr + row)
    for start in range(0, M, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < M
        b = tl.load(b_ptr + row * M + cols, mask=mask)
        tl.store(out_ptr + row * M + cols, d * b, mask=mask)


@case((4096, 4096), (8192, 10000))
def diag_matmul(n, m):
    d, b = randn(n, dtype=f32), randn(n, m, dtype=f32)
    out = torch.empty_like(b)
    diag_matmul_kernel[(n,)](d, b, out, n, m, BLOCK_SIZE=1024)


@triton.jit
def diag_both_flat(l, b, r, o, M, total, BLOCK: tl.constexpr):
    # diag(l) @ B @ diag(r), flattened
    idx = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = idx < total
    i = idx // M
    j = idx % M
    v = tl.load(b + idx, mask=mask).to(tl.float32)
    v = v * tl.load(l + i, mask=mask) * tl.load(r + j, mask=mask)
    tl.store(o + idx, v.to(o.dtype.element_ty), mask=mask)


@case((8192, 8192), (5000, 7777))
def diag_both(n, m):
    b = randn(n, m)
    o = torch.empty_like(b)
    diag_both_flat[(triton.cdiv(n * m, 2048),)](rand(n), b, rand(m), o, m, n * m, 2048, num_warps=8)


@triton.jit
def triu_matmul(A, B, C, N, BS: tl.constexpr, BK: tl.constexpr):
    """Upper x upper: only the k in [row, col] matter, tiles under the diagonal are zero."""
    pi = tl.program_id(0)
    pj = tl.program_id(1)
    i = pi * BS + tl.arange(0, BS)
    j = pj * BS + tl.arange(0, BS)
    inb = (i[:, None] < N) & (j[None, :] < N)
    if pi > pj:
        tl.store(C + i[:, None] * N + j[None, :], tl.zeros((BS, BS), tl.float32), mask=inb)
    else:
        acc = tl.zeros((BS, BS), tl.float32)
        for k0 in range(pi * BS, min((pj + 1) * BS, N), BK):
            k = k0 + tl.arange(0, BK)
            a = tl.load(A + i[:, None] * N + k[None, :], mask=(i[:, None] < N) & (k[None, :] < N) & (i[:, None] <= k[None, :]), other=0.0)
            b = tl.load(B + k[:, None] * N + j[None, :], mask=(k[:, None] < N) & (j[None, :] < N) & (k[:, None] <= j[None, :]), other=0.0)
            acc += tl.dot(a, b)
        acc = tl.where(i[:, None] <= j[None, :], acc, 0.0)
        tl.store(C + i[:, None] * N + j[None, :], acc, mask=inb)


@case(4096, 3000)
def upper_triangular(n):
    a, b = randn(n, n, dtype=f32), randn(n, n, dtype=f32)
    c = torch.empty_like(a)
    triu_matmul[(triton.cdiv(n, 64), triton.cdiv(n, 64))](a, b, c, n, 64, 32)


@triton.jit
def tril_matmul_linear(a_ptr, b_ptr, c_ptr, N: tl.constexpr, NT, BLOCK: tl.constexpr):
    """Lower x lower, the grid only over the lower tiles, index unpacked from a triangular number."""
    pid = tl.program_id(0)
    row = ((tl.sqrt(8.0 * pid.to(tl.float32) + 1.0) - 1.0) * 0.5).to(tl.int32)
    row = tl.where(row * (row + 1) // 2 > pid, row - 1, row)
    row = tl.where((row + 1) * (row + 2) // 2 <= pid, row + 1, row)
    col = pid - row * (row + 1) // 2
    rm = row * BLOCK + tl.arange(0, BLOCK)
    rn = col * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for t in range(col, row + 1):
        rk = t * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + rm[:, None] * N + rk[None, :])
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :])
        if t == row:
            a = tl.where(rm[:, None] >= rk[None, :], a, 0.0)
        if t == col:
            b = tl.where(rk[:, None] >= rn[None, :], b, 0.0)
        acc = tl.dot(a.to(tl.float16), b.to(tl.float16), acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=rm[:, None] >= rn[None, :])


@case(4096, 8192)
def lower_triangular(n):
    a, b = randn(n, n, dtype=f16), randn(n, n, dtype=f16)
    c = zeros(n, n, dtype=f16)
    nt = n // 64
    tril_matmul_linear[(nt * (nt + 1) // 2,)](a, b, c, n, nt, 64)


@triton.jit
def symm_kernel(S, B, C, n, m, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """BLAS symm: only the lower half of S is read."""
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, n, BK):
        rk = k + tl.arange(0, BK)
        lo = tl.maximum(rm[:, None], rk[None, :])
        hi = tl.minimum(rm[:, None], rk[None, :])
        s = tl.load(S + lo * n + hi, mask=lo < n, other=0.0)
        b = tl.load(B + rk[:, None] * m + rn[None, :], mask=(rk[:, None] < n) & (rn[None, :] < m), other=0.0)
        acc += tl.dot(s, b)
    tl.store(C + rm[:, None] * m + rn[None, :], acc.to(C.dtype.element_ty), mask=(rm[:, None] < n) & (rn[None, :] < m))


@case((2048, 2048, f32), (4096, 1000, bf16))
def symm(n, m, dt):
    s, b = randn(n, n, dtype=dt), randn(n, m, dtype=dt)
    c = torch.empty_like(b)
    symm_kernel[(triton.cdiv(n, 64), triton.cdiv(m, 64))](s, b, c, n, m, 64, 64, 32)


@triton.jit
def block_diag_linear(x_ptr, w_ptr, y_ptr, T, NB, BS: tl.constexpr, BT: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Monarch-like: y[t, b, :] = x[t, b, :] @ w[b]."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    b = tl.program_id(1)
    n = tl.program_id(2) * BN + tl.arange(0, BN)
    acc = tl.zeros((BT, BN), tl.float32)
    for k0 in tl.static_range(0, BS, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + t[:, None] * (NB * BS) + b * BS + k[None, :], mask=t[:, None] < T, other=0.)
        w = tl.load(w_ptr + b * BS * BS + k[:, None] * BS + n[None, :])
        acc = tl.dot(x, w, acc)
    tl.store(y_ptr + t[:, None] * (NB * BS) + b * BS + n[None, :], acc.to(tl.bfloat16), mask=t[:, None] < T)


@case((8192, 32, 128), (4000, 16, 256))
def block_diag(t, nb, bs):
    x, w = randn(t, nb * bs), randn(nb, bs, bs)
    y = torch.empty_like(x)
    block_diag_linear[(triton.cdiv(t, 128), nb, bs // 64)](x, w, y, t, nb, bs, 128, 64, 64)


@triton.jit
def banded_matvec(diags, x, y, n, NDIAG: tl.constexpr, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """DIA storage: y[i] = sum_d diags[d, i] * x[i + d - HALF], double precision."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float64)
    for d in tl.static_range(NDIAG):
        j = i + d - HALF
        ok = (j >= 0) & (j < n) & (i < n)
        acc += tl.load(diags + d * n + i, mask=i < n, other=0.0) * tl.load(x + j, mask=ok, other=0.0)
    tl.store(y + i, acc, mask=i < n)


@case((4000000, 9), (1 << 22, 13))
def banded(n, nd):
    d, x = randn(nd, n, dtype=torch.float64), randn(n, dtype=torch.float64)
    y = torch.empty_like(x)
    banded_matvec[(triton.cdiv(n, 512),)](d, x, y, n, nd, nd // 2, 512)


@triton.jit
def mat_scalar(a, s, c, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + o, tl.load(a + o, mask=o < n) * s, mask=o < n)


@case((16384, 4096))
def matrix_scalar(m, n):
    a = randn(m, n, dtype=f32)
    c = torch.empty_like(a)
    mat_scalar[(triton.cdiv(m * n, 1024),)](a, 3.14, c, m * n, 1024)

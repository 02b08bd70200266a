"""First drafts: an output element a program, tl.sum of a*b, rank-1 updates, K in scalars, double precision without dot, accumulation in bf16."""
from _common import *
import triton, triton.language as tl


@triton.jit
def element_per_program(a, b, c, N, K, BLOCK_K: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    s = 0.0
    for k in range(0, K, BLOCK_K):
        kk = k + tl.arange(0, BLOCK_K)
        x = tl.load(a + i * K + kk, mask=kk < K, other=0.0)
        y = tl.load(b + kk * N + j, mask=kk < K, other=0.0)
        s += tl.sum(x * y)
    tl.store(c + i * N + j, s)


@case((512, 512, 1024), (300, 700, 500))
def naive_element(m, n, k):
    a, b = randn(m, k, dtype=f32), randn(k, n, dtype=f32)
    c = torch.empty(m, n, device=DEV, dtype=f32)
    element_per_program[(m, n)](a, b, c, n, k, 256)


@triton.jit
def matmul_sum_axis(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + kk[None, :], mask=(m < M)[:, None] & (kk < K)[None, :], other=0.0).to(tl.float32)
        y = tl.load(b + n[:, None] * K + kk[None, :], mask=(n < N)[:, None] & (kk < K)[None, :], other=0.0).to(tl.float32)
        acc += tl.sum(x[:, None, :] * y[None, :, :], axis=2)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@case((8, 4096, 4096), (512, 512, 512))
def naive_sum_axis(m, n, k):
    a, b = randn(m, k), randn(n, k)
    c = torch.empty(m, n, device=DEV, dtype=f32)
    matmul_sum_axis[(triton.cdiv(m, 8), triton.cdiv(n, 16))](a, b, c, m, n, k, 8, 16, 64)


@triton.jit
def rank1_updates(A, B, C, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    mm = rm < M
    mn = rn < N
    acc = tl.zeros((BM, BN), dtype=A.dtype.element_ty)
    for k in range(K):
        a = tl.load(A + rm * sa + k, mask=mm, other=0.0)
        b = tl.load(B + k * sb + rn, mask=mn, other=0.0)
        acc += a[:, None] * b[None, :]
    tl.store(C + rm[:, None] * sc + rn[None, :], acc, mask=mm[:, None] & mn[None, :])


@case((1024, 1024, 512, f32), (1000, 2000, 256, torch.float64), (1024, 1024, 256, bf16))
def naive_rank1(m, n, k, dt):
    a, b = randn(m, k, dtype=dt), randn(k, n, dtype=dt)
    c = torch.empty(m, n, device=DEV, dtype=dt)
    rank1_updates[(triton.cdiv(n, 64), triton.cdiv(m, 32))](a, b, c, m, n, k, k, n, n, 32, 64)


@triton.jit
def row_times_matrix(x, w, b, o, IN: tl.constexpr, OUT, BLOCK: tl.constexpr):
    """A row a program, scalar loop over the input features, the output features across the threads."""
    r = tl.program_id(0)
    for j0 in range(0, OUT, BLOCK):
        j = j0 + tl.arange(0, BLOCK)
        acc = tl.load(b + j, mask=j < OUT, other=0.0)
        for i in range(IN):
            acc += tl.load(x + r * IN + i) * tl.load(w + i * OUT + j, mask=j < OUT, other=0.0)
        tl.store(o + r * OUT + j, tl.maximum(acc, 0), mask=j < OUT)


@case((20000, 27, 64), (4096, 100, 500))
def naive_mlp_row(m, i, o):
    x, w, b = randn(m, i, dtype=f32), randn(i, o, dtype=f32), randn(o, dtype=f32)
    y = torch.empty(m, o, device=DEV, dtype=f32)
    row_times_matrix[(m,)](x, w, b, y, i, o, 64, num_warps=2)


@triton.jit
def cosine_pairs(x, y, out, D, BD: tl.constexpr, EPS: tl.constexpr):
    """All in one program: dot, two norms, per pair of rows."""
    r = tl.program_id(0)
    xy = tl.zeros((BD,), tl.float32)
    xx = tl.zeros((BD,), tl.float32)
    yy = tl.zeros((BD,), tl.float32)
    for d0 in range(0, D, BD):
        d = d0 + tl.arange(0, BD)
        a = tl.load(x + r * D + d, mask=d < D, other=0.0).to(tl.float32)
        b = tl.load(y + r * D + d, mask=d < D, other=0.0).to(tl.float32)
        xy += a * b
        xx += a * a
        yy += b * b
    den = tl.sqrt(tl.sum(xx, 0)) * tl.sqrt(tl.sum(yy, 0))
    tl.store(out + r, tl.sum(xy, 0) / tl.maximum(den, EPS))


@case((65536, 1000), (16384, 4096))
def naive_cosine(m, d):
    x, y = randn(m, d, dtype=f16), randn(m, d, dtype=f16)
    cosine_pairs[(m,)](x, y, torch.empty(m, device=DEV, dtype=f32), d, 512, 1e-8)


@triton.jit
def pairwise_sqdist(x, c, o, N, C, D: tl.constexpr, BN: tl.constexpr, BC: tl.constexpr, BD: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BC + tl.arange(0, BC)
    dot = tl.zeros((BN, BC), tl.float32)
    nx = tl.zeros((BN,), tl.float32)
    nc = tl.zeros((BC,), tl.float32)
    for d0 in tl.static_range(0, D, BD):
        d = d0 + tl.arange(0, BD)
        xv = tl.load(x + n[:, None] * D + d[None, :], mask=(n[:, None] < N) & (d[None, :] < D), other=0.0)
        cv = tl.load(c + m[:, None] * D + d[None, :], mask=(m[:, None] < C) & (d[None, :] < D), other=0.0)
        dot += tl.dot(xv, tl.trans(cv), allow_tf32=False)
        nx += tl.sum(xv * xv, 1)
        nc += tl.sum(cv * cv, 1)
    r = nx[:, None] + nc[None, :] - 2.0 * dot
    tl.store(o + n[:, None] * C + m[None, :], tl.sqrt(tl.maximum(r, 0.0)), mask=(n[:, None] < N) & (m[None, :] < C))


@case((20000, 1000, 96), (8192, 4096, 64))
def naive_cdist(n, c, d):
    x, y = randn(n, d, dtype=f32), randn(c, d, dtype=f32)
    o = torch.empty(n, c, device=DEV, dtype=f32)
    pairwise_sqdist[(triton.cdiv(n, 64), triton.cdiv(c, 64))](x, y, o, n, c, d, 64, 64, 32)

"""Batched small dense algebra: Cholesky, LU, Gauss-Jordan, QR, Jacobi eigen, triangular solve, 3x3 closed forms, Newton-Schulz, matrix exponential, contraction, Kronecker, tridiagonal."""
from _common import *
import triton, triton.language as tl


@triton.jit
def cholesky_kernel(A, L, N: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, N)
    o = b * N * N + i[:, None] * N + i[None, :]
    a = tl.load(A + o)
    for k in range(N):
        colk = tl.sum(tl.where(i[None, :] == k, a, 0.0), axis=1)
        d = tl.sqrt(tl.sum(tl.where(i == k, colk, 0.0), axis=0))
        l = tl.where(i > k, colk / d, tl.where(i == k, d, 0.0))
        upd = l[:, None] * l[None, :]
        a = tl.where((i[:, None] > k) & (i[None, :] > k), a - upd, a)
        a = tl.where(i[None, :] == k, l[:, None], a)
    tl.store(L + o, tl.where(i[:, None] >= i[None, :], a, 0.0))


@case((50000, 16), (10000, 32))
def cholesky(b, n):
    a = randn(b, n, n, dtype=f32, scale=0.1); a = torch.bmm(a, a.transpose(1, 2)) + torch.eye(n, device=DEV)
    cholesky_kernel[(b,)](a, torch.empty_like(a), N=n, num_warps=1)


@triton.jit
def lu_nopivot(A, n_batch, N: tl.constexpr, PER: tl.constexpr):
    b = tl.program_id(0) * PER + tl.arange(0, PER)
    i = tl.arange(0, N)
    o = b[:, None, None] * (N * N) + i[None, :, None] * N + i[None, None, :]
    m = (b < n_batch)[:, None, None]
    a = tl.load(A + o, mask=m, other=1.0)
    r = i[None, :, None]
    c = i[None, None, :]
    for k in tl.static_range(N - 1):
        row = tl.sum(tl.where(r == k, a, 0.0), axis=1)
        piv = tl.sum(tl.where(i[None, :] == k, row, 0.0), axis=1)
        col = tl.sum(tl.where(c == k, a, 0.0), axis=2) / piv[:, None]
        a = tl.where((r > k) & (c > k), a - col[:, :, None] * row[:, None, :], a)
        a = tl.where((r > k) & (c == k), col[:, :, None], a)
    tl.store(A + o, a, mask=m)


@case((100000, 16), (30000, 8))
def lu(b, n):
    a = randn(b, n, n, dtype=f32, scale=0.1) + torch.eye(n, device=DEV) * 4
    lu_nopivot[(triton.cdiv(b, 4),)](a, b, N=n, PER=4, num_warps=4)


# Gauss-Jordan with partial pivoting, argmax and swaps by masks
@triton.jit
def inverse_gj(A, Ainv, stride_b, N: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, N)
    rr = i[:, None]
    cc = i[None, :]
    a = tl.load(A + b * stride_b + rr * N + cc)
    inv = (rr == cc).to(a.dtype)
    for k in range(0, N):
        col = tl.sum(tl.where(cc == k, a, 0.0), 1)
        p = tl.argmax(tl.where(i >= k, tl.abs(col), -1.0), 0)
        ak = tl.sum(tl.where(rr == k, a, 0.0), 0)
        ap = tl.sum(tl.where(rr == p, a, 0.0), 0)
        vk = tl.sum(tl.where(rr == k, inv, 0.0), 0)
        vp = tl.sum(tl.where(rr == p, inv, 0.0), 0)
        a = tl.where(rr == p, ak[None, :], a)
        inv = tl.where(rr == p, vk[None, :], inv)
        piv = tl.sum(tl.where(i == k, ap, 0.0), 0)
        ap = ap / piv
        vp = vp / piv
        f = tl.sum(tl.where(cc == k, a, 0.0), 1)
        a = tl.where(rr == k, ap[None, :], a - f[:, None] * ap[None, :])
        inv = tl.where(rr == k, vp[None, :], inv - f[:, None] * vp[None, :])
    tl.store(Ainv + b * stride_b + rr * N + cc, inv)


@case((10000, 32, f32), (20000, 16, torch.float64))
def inverse(b, n, dt):
    a = randn(b, n, n, dtype=dt)
    inverse_gj[(b,)](a, torch.empty_like(a), n * n, N=n, num_warps=2)


# modified Gram-Schmidt, 64 x 16 panels
@triton.jit
def qr_mgs(A, Q, R, M: tl.constexpr, N: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    a = tl.load(A + b * M * N + i[:, None] * N + j[None, :])
    rmat = tl.zeros((N, N), tl.float32)
    for k in range(N):
        v = tl.sum(tl.where(j[None, :] == k, a, 0.0), axis=1)
        nrm = tl.sqrt(tl.sum(v * v, axis=0))
        v = v / nrm
        proj = tl.sum(v[:, None] * a, axis=0)
        proj = tl.where(j > k, proj, 0.0)
        a = tl.where(j[None, :] == k, v[:, None], a - v[:, None] * proj[None, :])
        rmat = tl.where(j[:, None] == k, (proj + tl.where(j == k, nrm, 0.0))[None, :], rmat)
    tl.store(Q + b * M * N + i[:, None] * N + j[None, :], a)
    tl.store(R + b * N * N + j[:, None] * N + j[None, :], rmat)


@case((20000, 64, 16), (8000, 128, 8))
def qr(b, m, n):
    a = randn(b, m, n, dtype=f32)
    qr_mgs[(b,)](a, torch.empty_like(a), zeros(b, n, n, dtype=f32), M=m, N=n, num_warps=4)


# cyclic Jacobi for symmetric 3x3, one matrix a lane
@triton.jit
def _rot(app, aqq, apq):
    th = 0.5 * (aqq - app) / tl.where(tl.abs(apq) < 1e-20, 1e-20, apq)
    t = tl.where(th >= 0, 1.0, -1.0) / (tl.abs(th) + tl.sqrt(th * th + 1.0))
    t = tl.where(tl.abs(apq) < 1e-12, 0.0, t)
    c = tl.rsqrt(t * t + 1.0)
    return t, c, t * c


@triton.jit
def eig3_jacobi(A, W, n, SWEEPS: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = b < n
    p = A + b * 6
    a00 = tl.load(p, mask=m, other=1.0)
    a01 = tl.load(p + 1, mask=m, other=0.0)
    a02 = tl.load(p + 2, mask=m, other=0.0)
    a11 = tl.load(p + 3, mask=m, other=1.0)
    a12 = tl.load(p + 4, mask=m, other=0.0)
    a22 = tl.load(p + 5, mask=m, other=1.0)
    for _ in range(SWEEPS):
        t, c, s = _rot(a00, a11, a01)
        a00 -= t * a01
        a11 += t * a01
        x = c * a02 - s * a12
        a12 = s * a02 + c * a12
        a02 = x
        a01 = a01 * 0.0
        t, c, s = _rot(a00, a22, a02)
        a00 -= t * a02
        a22 += t * a02
        x = c * a01 - s * a12
        a12 = s * a01 + c * a12
        a01 = x
        a02 = a02 * 0.0
        t, c, s = _rot(a11, a22, a12)
        a11 -= t * a12
        a22 += t * a12
        x = c * a01 - s * a02
        a02 = s * a01 + c * a02
        a01 = x
        a12 = a12 * 0.0
    lo = tl.minimum(a00, tl.minimum(a11, a22))
    hi = tl.maximum(a00, tl.maximum(a11, a22))
    tl.store(W + b * 3, lo, mask=m)
    tl.store(W + b * 3 + 1, a00 + a11 + a22 - lo - hi, mask=m)
    tl.store(W + b * 3 + 2, hi, mask=m)


@case(4000000, 1000000)
def eig3(n):
    eig3_jacobi[(triton.cdiv(n, 256),)](randn(n, 6, dtype=f32), zeros(n, 3, dtype=f32), n, SWEEPS=4, BLOCK=256)


# forward substitution: L (NxN) against a tile of right-hand sides
@triton.jit
def trsm_lower(L, B, X, nrhs, N: tl.constexpr, BR: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * BR + tl.arange(0, BR)
    i = tl.arange(0, N)
    mc = (c < nrhs)[None, :]
    x = tl.load(B + b * N * nrhs + i[:, None] * nrhs + c[None, :], mask=mc, other=0.0)
    for k in range(N):
        lk = tl.load(L + b * N * N + i * N + k)
        d = tl.load(L + b * N * N + k * N + k)
        xk = tl.sum(tl.where(i[:, None] == k, x, 0.0), axis=0) / d
        x = tl.where(i[:, None] == k, xk[None, :], tl.where(i[:, None] > k, x - lk[:, None] * xk[None, :], x))
    tl.store(X + b * N * nrhs + i[:, None] * nrhs + c[None, :], x, mask=mc)


@case((1024, 32, 256), (512, 64, 100))
def trsm(b, n, r):
    l = randn(b, n, n, dtype=f32, scale=0.1) + torch.eye(n, device=DEV)
    x = randn(b, n, r, dtype=f32)
    trsm_lower[(b, triton.cdiv(r, 64))](l, x, torch.empty_like(x), r, N=n, BR=64)


@triton.jit
def inv3x3(A, out, det_out, n, BLOCK: tl.constexpr):
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = b < n
    a0 = tl.load(A + b * 9 + 0, mask=m); a1 = tl.load(A + b * 9 + 1, mask=m); a2 = tl.load(A + b * 9 + 2, mask=m)
    a3 = tl.load(A + b * 9 + 3, mask=m); a4 = tl.load(A + b * 9 + 4, mask=m); a5 = tl.load(A + b * 9 + 5, mask=m)
    a6 = tl.load(A + b * 9 + 6, mask=m); a7 = tl.load(A + b * 9 + 7, mask=m); a8 = tl.load(A + b * 9 + 8, mask=m)
    c0 = a4 * a8 - a5 * a7
    c1 = a5 * a6 - a3 * a8
    c2 = a3 * a7 - a4 * a6
    det = a0 * c0 + a1 * c1 + a2 * c2
    s = 1.0 / det
    tl.store(out + b * 9 + 0, c0 * s, mask=m); tl.store(out + b * 9 + 1, (a2 * a7 - a1 * a8) * s, mask=m); tl.store(out + b * 9 + 2, (a1 * a5 - a2 * a4) * s, mask=m)
    tl.store(out + b * 9 + 3, c1 * s, mask=m); tl.store(out + b * 9 + 4, (a0 * a8 - a2 * a6) * s, mask=m); tl.store(out + b * 9 + 5, (a2 * a3 - a0 * a5) * s, mask=m)
    tl.store(out + b * 9 + 6, c2 * s, mask=m); tl.store(out + b * 9 + 7, (a1 * a6 - a0 * a7) * s, mask=m); tl.store(out + b * 9 + 8, (a0 * a4 - a1 * a3) * s, mask=m)
    tl.store(det_out + b, det, mask=m)


@case(3000000, 777777)
def inverse3(n):
    a = randn(n, 9, dtype=f32)
    inv3x3[(triton.cdiv(n, 128),)](a, torch.empty_like(a), zeros(n, dtype=f32), n, BLOCK=128)


# Newton-Schulz orthogonalization of batched 64x64 in one program (Muon's quintic)
@triton.jit
def newton_schulz(G, O, STEPS: tl.constexpr, N: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, N)
    o = b * N * N + i[:, None] * N + i[None, :]
    x = tl.load(G + o).to(tl.float32)
    x = x / (tl.sqrt(tl.sum(x * x)) + 1e-7)
    for _ in range(STEPS):
        xb = x.to(tl.bfloat16)
        a = tl.dot(xb, tl.trans(xb))
        ab = a.to(tl.bfloat16)
        p = -4.7750 * a + 2.0315 * tl.dot(ab, ab)
        x = 3.4445 * x + tl.dot(p.to(tl.bfloat16), xb)
    tl.store(O + o, x.to(O.dtype.element_ty))


@case((4096, 64, bf16), (1024, 128, f32))
def muon_small(b, n, dt):
    g = randn(b, n, n, dtype=dt)
    newton_schulz[(b,)](g, torch.empty_like(g), STEPS=5, N=n, num_warps=4 if n == 64 else 8)


# exp(A) by scaling, a Taylor sum and repeated squaring
@triton.jit
def expm_taylor(A, E, terms, squarings, N: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, N)
    o = b * N * N + i[:, None] * N + i[None, :]
    a = tl.load(A + o)
    s = 1.0
    for _ in range(squarings):
        s = s * 0.5
    a = a * s
    eye = (i[:, None] == i[None, :]).to(tl.float32)
    term = eye
    acc = eye
    for k in range(1, terms + 1):
        term = tl.dot(term, a, input_precision="tf32x3") / k
        acc += term
    for _ in range(squarings):
        acc = tl.dot(acc, acc, input_precision="tf32x3")
    tl.store(E + o, acc)


@case((4096, 32), (20000, 16))
def expm(b, n):
    a = randn(b, n, n, dtype=f32, scale=0.2)
    expm_taylor[(b,)](a, torch.empty_like(a), 8, 3, N=n, num_warps=1)


# contraction C[a,b,i] = sum_{k,l} A[a,k,l] B[k,i,l,b]: flattened k,l loop with strides
@triton.jit
def contract_aklkilb(A, B, C, NA, NB, NK, NL, sak, sal, saa, sbk, sbi, sbl, sbb, sca, scb, sci, BA: tl.constexpr, BB: tl.constexpr, BK: tl.constexpr):
    a = tl.program_id(0) * BA + tl.arange(0, BA)
    bb = tl.program_id(1) * BB + tl.arange(0, BB)
    i = tl.program_id(2)
    acc = tl.zeros((BA, BB), dtype=tl.float32)
    for s in range(0, NK * NL, BK):
        kl = s + tl.arange(0, BK)
        k = kl // NL
        l = kl % NL
        mk = kl < NK * NL
        x = tl.load(A + a[:, None] * saa + (k * sak + l * sal)[None, :], mask=(a < NA)[:, None] & mk[None, :], other=0.0)
        y = tl.load(B + (k * sbk + l * sbl)[:, None] + i * sbi + bb[None, :] * sbb, mask=mk[:, None] & (bb < NB)[None, :], other=0.0)
        acc += tl.dot(x, y, allow_tf32=True)
    tl.store(C + a[:, None] * sca + bb[None, :] * scb + i * sci, acc, mask=(a < NA)[:, None] & (bb < NB)[None, :])


@case((256, 256, 64, 32, 32), (100, 130, 40, 50, 24))
def contraction(na, nb, ni, nk, nl):
    A = randn(na, nk, nl, dtype=f32); B = randn(nk, ni, nl, nb, dtype=f32); C = zeros(na, nb, ni, dtype=f32)
    contract_aklkilb[(triton.cdiv(na, 64), triton.cdiv(nb, 64), ni)](A, B, C, na, nb, nk, nl, A.stride(1), A.stride(2), A.stride(0), B.stride(0), B.stride(1), B.stride(2), B.stride(3), C.stride(0), C.stride(1), C.stride(2), BA=64, BB=64, BK=32)


@triton.jit
def kron_kernel(A, B, C, p, q, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = col < n_cols
    a = tl.load(A + (row // p) * (n_cols // q) + col // q, mask=m)
    b = tl.load(B + (row % p) * q + col % q, mask=m)
    tl.store(C + row.to(tl.int64) * n_cols + col, a * b, mask=m)


@case((64, 64, 96, 96), (128, 32, 60, 250))
def kron(m, n, p, q):
    kron_kernel[(m * p, triton.cdiv(n * q, 1024))](randn(m, n), randn(p, q), zeros(m * p, n * q), p, q, n * q, BLOCK=1024)


# Thomas algorithm, a system a lane, interleaved storage, work array for c'
@triton.jit
def thomas_batched(lo, di, up, rhs, work, x, n, batch, BLOCK: tl.constexpr):
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = b < batch
    d0 = tl.load(di + b, mask=m, other=1.0)
    c = tl.load(up + b, mask=m, other=0.0) / d0
    d = tl.load(rhs + b, mask=m, other=0.0) / d0
    tl.store(work + b, c, mask=m)
    tl.store(x + b, d, mask=m)
    for k in range(1, n):
        o = k * batch + b
        l = tl.load(lo + o, mask=m, other=0.0)
        inv = 1.0 / (tl.load(di + o, mask=m, other=1.0) - l * c)
        c = tl.load(up + o, mask=m, other=0.0) * inv
        d = (tl.load(rhs + o, mask=m, other=0.0) - l * d) * inv
        tl.store(work + o, c, mask=m)
        tl.store(x + o, d, mask=m)
    for k in range(1, n):
        o = (n - 1 - k) * batch + b
        d = tl.load(x + o, mask=m, other=0.0) - tl.load(work + o, mask=m, other=0.0) * d
        tl.store(x + o, d, mask=m)


@case((128, 65536), (512, 20000))
def tridiagonal(n, batch):
    lo, up, r = (rand(n, batch) for _ in range(3)); di = rand(n, batch, lo=3, hi=4)
    thomas_batched[(triton.cdiv(batch, 64),)](lo, di, up, r, torch.empty_like(r), torch.empty_like(r), n, batch, BLOCK=64, num_warps=2)

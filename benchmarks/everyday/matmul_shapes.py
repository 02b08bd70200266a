"""Tall-skinny, small K, large K (split-K with atomics and with a workspace), irregular sizes, stream-K-like loop, outer product, matrix-vector in several ways."""
from _common import *
import triton, triton.language as tl


@triton.jit
def tall_skinny_kernel(a_ptr, b_ptr, c_ptr, M, N: tl.constexpr, K, stride_am, stride_ak, stride_bk, stride_bn,
                       BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    # N is small (16..64): one program owns whole rows of the output
    pid = tl.program_id(0)
    rm = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BLOCK_K)
    mask_m = rm < M
    acc = tl.zeros((BLOCK_M, N), tl.float32)
    k = 0
    while k < K:
        a = tl.load(a_ptr + rm[:, None] * stride_am + (k + rk)[None, :] * stride_ak, mask=mask_m[:, None], other=0.0)
        b = tl.load(b_ptr + (k + rk)[:, None] * stride_bk + rn[None, :] * stride_bn)
        acc = tl.dot(a, b, acc)
        k += BLOCK_K
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask_m[:, None])


@case((32768, 32, 1024, bf16), (100000, 16, 512, f16))
def tall_skinny(m, n, k, dt):
    a, b = randn(m, k, dtype=dt), randn(k, n, dtype=dt)
    c = torch.empty(m, n, device=DEV, dtype=dt)
    tall_skinny_kernel[(triton.cdiv(m, 128),)](a, b, c, m, n, k, *a.stride(), *b.stride(), BLOCK_M=128, BLOCK_K=64)


@triton.jit
def small_k_kernel(A, B, C, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # A: (M, 32)  B: (32, N): a single dot, all the time goes into the store
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = tl.arange(0, K)
    a = tl.load(A + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
    b = tl.load(B + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
    c = tl.dot(a, b)
    tl.store(C + m[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


@case((8192, 8192, 32, f32), (16384, 8192, 64, bf16))
def small_k(m, n, k, dt):
    a, b = randn(m, k, dtype=dt), randn(k, n, dtype=dt)
    c = torch.empty(m, n, device=DEV, dtype=dt)
    small_k_kernel[(triton.cdiv(m, 128), triton.cdiv(n, 128))](a, b, c, m, n, k, 128, 128, num_warps=8)


@triton.jit
def splitk_atomic(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT_K: tl.constexpr):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    num_n = tl.cdiv(N, BN)
    pid_m = pid // num_n
    pid_n = pid % num_n
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_k = pid_k * BK + tl.arange(0, BK)
    a = a_ptr + offs_m[:, None] * sam + offs_k[None, :] * sak
    b = b_ptr + offs_k[:, None] * sbk + offs_n[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT_K)):
        left = K - k * BK * SPLIT_K
        x = tl.load(a, mask=(offs_m[:, None] < M) & (offs_k[None, :] < left), other=0.0)
        y = tl.load(b, mask=(offs_n[None, :] < N) & (offs_k[:, None] < left), other=0.0)
        acc += tl.dot(x, y)
        a += BK * SPLIT_K * sak
        b += BK * SPLIT_K * sbk
    cp = c_ptr + offs_m[:, None] * scm + offs_n[None, :] * scn
    tl.atomic_add(cp, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N), sem="relaxed")


@case((256, 256, 131072, 16, f16), (16, 4096, 14336, 4, bf16), (128, 512, 32768, 8, f32))
def splitk(m, n, k, s, dt):
    a, b = randn(m, k, dtype=dt), randn(k, n, dtype=dt)
    c = zeros(m, n, dtype=f32)
    bm = 16 if m <= 16 else 64
    splitk_atomic[(triton.cdiv(m, bm) * triton.cdiv(n, 64), s)](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), bm, 64, 64, s, num_warps=4)


@triton.jit
def splitk_partial(A, B, W, M, N, K, KCHUNK, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn, pk = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    lo = pk * KCHUNK
    hi = tl.minimum(lo + KCHUNK, K)
    for k in range(lo, hi, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * K + rk[None, :], mask=rk[None, :] < hi, other=0.0)
        b = tl.load(B + rk[:, None] * N + rn[None, :], mask=rk[:, None] < hi, other=0.0)
        acc += tl.dot(a, b)
    tl.store(W + pk * M * N + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def splitk_reduce(W, C, MN, S: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for s in tl.static_range(S):
        acc += tl.load(W + s * MN + i, mask=i < MN, other=0.0)
    tl.store(C + i, acc.to(tl.bfloat16), mask=i < MN)


@case((512, 1024, 65536, 16))
def splitk_workspace(m, n, k, s):
    a, b = randn(m, k), randn(k, n)
    w = torch.empty(s, m, n, device=DEV, dtype=f32)
    c = torch.empty(m, n, device=DEV, dtype=bf16)
    splitk_partial[(m // 128, n // 128, s)](a, b, w, m, n, k, triton.cdiv(k, s), 128, 128, 32, num_warps=8, num_stages=4)
    splitk_reduce[(triton.cdiv(m * n, 1024),)](w, c, m * n, s, 1024)


@triton.jit
def irregular_gemm(A, B, C, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    # odd sizes, so boundary_check everywhere
    pid = tl.program_id(0)
    gn = tl.cdiv(N, BLOCK_N)
    pm = pid // gn
    pn = pid - pm * gn
    pa = tl.make_block_ptr(base=A, shape=(M, K), strides=(K, 1), offsets=(pm * BLOCK_M, 0), block_shape=(BLOCK_M, BLOCK_K), order=(1, 0))
    pb = tl.make_block_ptr(base=B, shape=(K, N), strides=(N, 1), offsets=(0, pn * BLOCK_N), block_shape=(BLOCK_K, BLOCK_N), order=(1, 0))
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(pb, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        pa = tl.advance(pa, [0, BLOCK_K])
        pb = tl.advance(pb, [BLOCK_K, 0])
    pc = tl.make_block_ptr(base=C, shape=(M, N), strides=(N, 1), offsets=(pm * BLOCK_M, pn * BLOCK_N), block_shape=(BLOCK_M, BLOCK_N), order=(1, 0))
    tl.store(pc, acc.to(C.dtype.element_ty), boundary_check=(0, 1))


@case((4103, 2971, 1511, f32), (2053, 5927, 2949, f16))
def irregular(m, n, k, dt):
    a, b = randn(m, k, dtype=dt), randn(k, n, dtype=dt)
    c = torch.empty(m, n, device=DEV, dtype=dt)
    irregular_gemm[(triton.cdiv(m, 128) * triton.cdiv(n, 64),)](a, b, c, m, n, k, 128, 64, 32)


@triton.jit
def stream_k(A, B, C, M, N, K, iters_total, iters_per_cta, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # every CTA gets the same number of k-iterations; partial tiles are added atomically into fp32 C
    it = tl.program_id(0) * iters_per_cta
    end = tl.minimum(it + iters_per_cta, iters_total)
    kiters = tl.cdiv(K, BK)
    nn = tl.cdiv(N, BN)
    while it < end:
        tile = it // kiters
        k0 = it % kiters
        k1 = tl.minimum(kiters, k0 + (end - it))
        rm = (tile // nn) * BM + tl.arange(0, BM)
        rn = (tile % nn) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(k0, k1):
            rk = k * BK + tl.arange(0, BK)
            a = tl.load(A + rm[:, None] * K + rk[None, :])
            b = tl.load(B + rk[:, None] * N + rn[None, :])
            acc = tl.dot(a, b, acc)
        p = C + rm[:, None] * N + rn[None, :]
        if (k0 == 0) & (k1 == kiters):
            tl.store(p, acc)
        else:
            tl.atomic_add(p, acc)
        it += k1 - k0


@case((1536, 1280, 8192))
def streamk(m, n, k):
    a, b = randn(m, k, dtype=f16), randn(k, n, dtype=f16)
    c = zeros(m, n, dtype=f32)
    total = (m // 128) * (n // 128) * (k // 32)
    stream_k[(132,)](a, b, c, m, n, k, total, triton.cdiv(total, 132), 128, 128, 32, num_warps=8, num_stages=3)


@triton.jit
def outer_kernel(x, y, out, n, BX: tl.constexpr, BY: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)
    j = tl.program_id(1) * BY + tl.arange(0, BY)
    v = tl.load(x + i, mask=i < n)[:, None] * tl.load(y + j, mask=j < n)[None, :]
    tl.store(out + i[:, None] * n + j[None, :], v, mask=(i < n)[:, None] & (j < n)[None, :])


@case(8192, 10001)
def outer(n):
    x, y = randn(n, dtype=f32), randn(n, dtype=f32)
    out = torch.empty(n, n, device=DEV, dtype=f32)
    outer_kernel[(triton.cdiv(n, 32), triton.cdiv(n, 256))](x, y, out, n, 32, 256)


@triton.jit
def gemv_row(a_ptr, x_ptr, y_ptr, M, K, stride_am, BLOCK_K: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK_K,), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs = k + tl.arange(0, BLOCK_K)
        mask = offs < K
        a = tl.load(a_ptr + row * stride_am + offs, mask=mask, other=0.0)
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        acc += a.to(tl.float32) * x.to(tl.float32)
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


@triton.jit
def gemv_tile(W, x, y, M, K, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BK), tl.float32)
    for k in range(0, K, BK):
        w = tl.load(W + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0, eviction_policy="evict_first")
        v = tl.load(x + k + rk, eviction_policy="evict_last")
        acc += w * v[None, :]
    tl.store(y + rm, tl.sum(acc, 1).to(y.dtype.element_ty), mask=rm < M)


@triton.jit
def vecmat_split(x, W, y, K, N, KPER: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    # y = x @ W with W (K, N) row-major: sum over the slow axis, partial sums with atomics
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k0 = tl.program_id(1) * KPER
    acc = tl.zeros((BN,), tl.float32)
    for k in range(0, KPER, BK):
        kk = k0 + k + tl.arange(0, BK)
        w = tl.load(W + kk[:, None] * N + n[None, :], mask=(kk < K)[:, None] & (n < N)[None, :], other=0.0)
        xv = tl.load(x + kk, mask=kk < K, other=0.0)
        acc += tl.sum(w.to(tl.float32) * xv.to(tl.float32)[:, None], axis=0)
    tl.atomic_add(y + n, acc, mask=n < N)


@case((256, 131072 * 3, f32), (32000, 4096, bf16))
def matvec_row(m, k, dt):
    a, x = randn(m, k, dtype=dt), randn(k, dtype=dt)
    y = torch.empty(m, 1, device=DEV, dtype=dt)
    gemv_row[(m,)](a, x, y, m, k, a.stride(0), BLOCK_K=1024)


@case((11008, 4096), (4096, 11008), (32000, 4096))
def matvec_tile(m, k):
    w, x = randn(m, k, dtype=f16), randn(k, dtype=f16)
    y = torch.empty(m, device=DEV, dtype=f16)
    gemv_tile[(triton.cdiv(m, 8),)](w, x, y, m, k, 8, 256, num_warps=2)


@case((14336, 4096), (4096, 6144))
def vecmat(k, n):
    w, x = randn(k, n), randn(k)
    y = zeros(n, dtype=f32)
    vecmat_split[(triton.cdiv(n, 256), triton.cdiv(k, 512))](x, w, y, k, n, 512, 16, 256, num_warps=8)

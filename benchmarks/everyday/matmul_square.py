"""Square matrix products: naive 2-d grid, grouped order with autotune, tf32/ieee fp32, fp16 accumulate, int8, fp64, persistent TMA."""
from _common import *
import triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak,
    stride_bk, stride_bn,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] + k < K), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] + k < K) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, allow_tf32=True)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@case((2048, f32), (4096, f16))
def square_matmul(n, dtype):
    a = randn(n, n, dtype=dtype)
    b = randn(n, n, dtype=dtype)
    c = torch.empty_like(a)
    BM, BN, BK = 64, 64, 32
    grid = (triton.cdiv(n, BM), triton.cdiv(n, BN))
    matmul_kernel[grid](a, b, c, n, n, n, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                        BLOCK_M=BM, BLOCK_N=BN, BLOCK_K=BK)


@triton.autotune(
    configs=[
        triton.Config({'BM': 128, 'BN': 256, 'BK': 64, 'GROUP': 8}, num_stages=3, num_warps=8),
        triton.Config({'BM': 128, 'BN': 128, 'BK': 32, 'GROUP': 4}, num_stages=4, num_warps=4),
        triton.Config({'BM': 64, 'BN': 128, 'BK': 64, 'GROUP': 8}, num_stages=5, num_warps=4),
    ],
    key=['M', 'N', 'K'],
)
@triton.jit
def gemm_l2_kernel(A, B, C, M, N, K, lda, ldb, ldc,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    in_group = GROUP * nn
    gid = pid // in_group
    first = gid * GROUP
    gsize = min(nm - first, GROUP)
    pm = first + ((pid % in_group) % gsize)
    pn = (pid % in_group) // gsize
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    pa = A + rm[:, None] * lda + rk[None, :]
    pb = B + rk[:, None] * ldb + rn[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.)
        b = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.)
        acc = tl.dot(a, b, acc)
        pa += BK
        pb += BK * ldb
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    tl.store(C + om[:, None] * ldc + on[None, :], acc.to(C.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@case((4096, 4096, 4096), (8192, 4096, 2048))
def gemm_l2(m, n, k):
    a, b = randn(m, k), randn(k, n)
    c = torch.empty(m, n, device=DEV, dtype=bf16)
    grid = lambda META: (triton.cdiv(m, META['BM']) * triton.cdiv(n, META['BN']),)
    gemm_l2_kernel[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0))


@triton.jit
def sgemm_precise(x, y, z, n, PREC: tl.constexpr, BLOCK: tl.constexpr, BK: tl.constexpr):
    # fp32 with block pointers, sizes are multiples of the tile
    i = tl.program_id(0) * BLOCK
    j = tl.program_id(1) * BLOCK
    xp = tl.make_block_ptr(x, (n, n), (n, 1), (i, 0), (BLOCK, BK), (1, 0))
    yp = tl.make_block_ptr(y, (n, n), (n, 1), (0, j), (BK, BLOCK), (1, 0))
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(0, n, BK):
        acc += tl.dot(tl.load(xp), tl.load(yp), input_precision=PREC)
        xp = tl.advance(xp, (0, BK))
        yp = tl.advance(yp, (BK, 0))
    zp = tl.make_block_ptr(z, (n, n), (n, 1), (i, j), (BLOCK, BLOCK), (1, 0))
    tl.store(zp, acc)


@case((2048, "ieee"), (2048, "tf32x3"), (4096, "tf32"))
def sgemm(n, prec):
    x, y = randn(n, n, dtype=f32), randn(n, n, dtype=f32)
    z = torch.empty_like(x)
    sgemm_precise[(n // 64, n // 64)](x, y, z, n, PREC=prec, BLOCK=64, BK=32, num_warps=4, num_stages=2)


@triton.jit
def hgemm_acc16(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(axis=0)
    pn = pid % (N // BN)
    pm = pid // (N // BN)
    rows = pm * BM + tl.arange(0, BM)
    cols = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float16)
    for k0 in range(0, K, BK):
        kk = k0 + tl.arange(0, BK)
        ta = tl.load(a + rows[:, None] * K + kk[None, :])
        tb = tl.load(b + kk[:, None] * N + cols[None, :])
        acc += tl.dot(ta, tb, out_dtype=tl.float16)
    tl.store(c + rows[:, None] * N + cols[None, :], acc)


@case((4096, 4096, 1024), (2048, 2048, 2048))
def hgemm(m, n, k):
    a, b = randn(m, k, dtype=f16), randn(k, n, dtype=f16)
    c = torch.empty(m, n, device=DEV, dtype=f16)
    hgemm_acc16[((m // 128) * (n // 128),)](a, b, c, m, n, k, 128, 128, 64, num_warps=8)


@triton.jit
def int8_matmul_scaled(a_ptr, b_ptr, sa_ptr, sb_ptr, o_ptr, M, N, K,
                       BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """W8A8: int8 x int8 -> int32, per-row and per-column scales, bf16 out. B is stored (N, K)."""
    pid_n = tl.program_id(0)
    pid_m = tl.program_id(1)
    om = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    on = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ok = tl.arange(0, BLOCK_K)
    pa = a_ptr + om[:, None] * K + ok[None, :]
    pb = b_ptr + on[None, :] * K + ok[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(pa, mask=om[:, None] < M, other=0)
        b = tl.load(pb, mask=on[None, :] < N, other=0)
        acc += tl.dot(a, b)
        pa += BLOCK_K
        pb += BLOCK_K
    sa = tl.load(sa_ptr + om, mask=om < M, other=0.0)
    sb = tl.load(sb_ptr + on, mask=on < N, other=0.0)
    out = acc.to(tl.float32) * sa[:, None] * sb[None, :]
    tl.store(o_ptr + om[:, None] * N + on[None, :], out.to(tl.bfloat16), mask=(om[:, None] < M) & (on[None, :] < N))


@case((4096, 4096, 4096), (256, 11008, 4096))
def w8a8(m, n, k):
    a = randint(-127, 127, m, k, dtype=torch.int8)
    b = randint(-127, 127, n, k, dtype=torch.int8)
    sa, sb = rand(m), rand(n)
    o = torch.empty(m, n, device=DEV, dtype=bf16)
    int8_matmul_scaled[(triton.cdiv(n, 128), triton.cdiv(m, 128))](a, b, sa, sb, o, m, n, k, 128, 128, 128, num_warps=8, num_stages=3)


@triton.jit
def dgemm_kernel(A, B, C, n, BS: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(1) * BS + tl.arange(0, BS)
    col = tl.program_id(0) * BS + tl.arange(0, BS)
    acc = tl.zeros((BS, BS), dtype=tl.float64)
    for k in range(0, n, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(A + row[:, None] * n + ks[None, :], mask=(row < n)[:, None] & (ks < n)[None, :], other=0.0)
        b = tl.load(B + ks[:, None] * n + col[None, :], mask=(ks < n)[:, None] & (col < n)[None, :], other=0.0)
        acc += tl.dot(a, b, out_dtype=tl.float64)
    tl.store(C + row[:, None] * n + col[None, :], acc, mask=(row < n)[:, None] & (col < n)[None, :])


@case(1024, 1500)
def dgemm(n):
    a, b = randn(n, n, dtype=torch.float64), randn(n, n, dtype=torch.float64)
    c = torch.empty_like(a)
    g = triton.cdiv(n, 32)
    dgemm_kernel[(g, g)](a, b, c, n, BS=32, BK=16)


@triton.jit
def persistent_tma_matmul(a_desc, b_desc, c_desc, M, N, K, NUM_SMS: tl.constexpr,
                          BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr):
    start = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    kt = tl.cdiv(K, BK)
    for tile in tl.range(start, tiles_m * tiles_n, NUM_SMS, flatten=True):
        group = tile // (GM * tiles_n)
        first = group * GM
        sz = min(tiles_m - first, GM)
        m0 = (first + tile % sz) * BM
        n0 = ((tile % (GM * tiles_n)) // sz) * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for ki in range(kt):
            a = a_desc.load([m0, ki * BK])
            b = b_desc.load([n0, ki * BK])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([m0, n0], acc.to(tl.float16))


@case((8192, 8192, 1024), (4096, 4096, 4096))
def persistent_tma(m, n, k):
    a, b = randn(m, k, dtype=f16), randn(n, k, dtype=f16)
    c = torch.empty(m, n, device=DEV, dtype=f16)
    ad = TensorDescriptor(a, [m, k], [k, 1], [128, 64])
    bd = TensorDescriptor(b, [n, k], [k, 1], [128, 64])
    cd = TensorDescriptor(c, [m, n], [n, 1], [128, 128])
    persistent_tma_matmul[(132,)](ad, bd, cd, m, n, k, 132, 128, 128, 64, 8, num_warps=8, num_stages=3)

"""Transposed A, B and both: by strides, tl.trans, block pointer order, and a fused transpose of the result; also A.T @ A and linear backward."""
from _common import *
import triton, triton.language as tl


@triton.jit
def matmul_tn_kernel(A, B, C, M, N, K, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    """C = A^T B, A is (K, M), B is (K, N)."""
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        offs_k = k * BLOCK_SIZE_K + tl.arange(0, BLOCK_SIZE_K)
        a = tl.load(A + offs_k[None, :] * M + offs_m[:, None], mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        b = tl.load(B + offs_k[:, None] * N + offs_n[None, :], mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        accumulator += tl.dot(a, b, allow_tf32=False)
    tl.store(C + offs_m[:, None] * N + offs_n[None, :], accumulator, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@case((2048, 1024, 2048), (1000, 2000, 3000))
def matmul_tn(m, n, k):
    a, b = randn(k, m, dtype=f32), randn(k, n, dtype=f32)
    c = torch.empty(m, n, device=DEV, dtype=f32)
    matmul_tn_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](a, b, c, m, n, k, 64, 64, 16)


@triton.jit
def matmul_nt_trans(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, lda, ldb, ldc,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HAS_BIAS: tl.constexpr):
    """nn.Linear: x (M, K) @ w (N, K)^T; loads w as it lies and transposes it in registers."""
    pid = tl.program_id(0)
    grid_n = (N + BN - 1) // BN
    rm = (pid // grid_n) * BM + tl.arange(0, BM)
    rn = (pid % grid_n) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a_ptr + rm[:, None] * lda + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(b_ptr + rn[:, None] * ldb + (k + rk)[None, :], mask=rn[:, None] < N, other=0.0)
        acc = tl.dot(x, tl.trans(w), acc)
    if HAS_BIAS:
        acc += tl.load(bias_ptr + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(c_ptr + rm[:, None] * ldc + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@case((4096, 11008, 4096, True), (64, 32000, 4096, False), (16, 4096, 14336, False))
def matmul_nt(m, n, k, has_bias):
    x, w = randn(m, k), randn(n, k)
    bias = randn(n, dtype=f32) if has_bias else None
    y = torch.empty(m, n, device=DEV, dtype=bf16)
    bm = 128 if m >= 128 else max(16, m)
    matmul_nt_trans[(triton.cdiv(m, bm) * triton.cdiv(n, 128),)](x, w, bias, y, m, n, k, x.stride(0), w.stride(0), y.stride(0),
                                                                bm, 128, 64, has_bias, num_warps=8 if bm == 128 else 4, num_stages=4)


@triton.jit
def matmul_tt_kernel(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A^T B^T with block pointers in column order: A stored (K, M), B stored (N, K)."""
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    Ap = tl.make_block_ptr(A, shape=(M, K), strides=(1, M), offsets=(m0, 0), block_shape=(BM, BK), order=(0, 1))
    Bp = tl.make_block_ptr(B, shape=(K, N), strides=(1, K), offsets=(0, n0), block_shape=(BK, BN), order=(0, 1))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(Ap, boundary_check=(0, 1))
        b = tl.load(Bp, boundary_check=(0, 1))
        acc = tl.dot(a, b, acc=acc, input_precision="tf32")
        Ap = tl.advance(Ap, (0, BK))
        Bp = tl.advance(Bp, (BK, 0))
    Cp = tl.make_block_ptr(C, shape=(M, N), strides=(N, 1), offsets=(m0, n0), block_shape=(BM, BN), order=(1, 0))
    tl.store(Cp, acc.to(C.dtype.element_ty), boundary_check=(0, 1))


@case((1024, 2048, 4096, f32), (4096, 4096, 2048, bf16))
def matmul_tt(m, n, k, dt):
    a, b = randn(k, m, dtype=dt), randn(n, k, dtype=dt)
    c = torch.empty(m, n, device=DEV, dtype=dt)
    matmul_tt_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 128))](a, b, c, m, n, k, 64, 128, 32, num_warps=4, num_stages=3)


@triton.jit
def matmul_out_t(A, B, Ct, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Writes (A @ B)^T."""
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        acc += tl.dot(tl.load(A + rm[:, None] * K + rk[None, :]), tl.load(B + rk[:, None] * N + rn[None, :]))
    tl.store(Ct + rn[:, None] * M + rm[None, :], tl.trans(acc).to(tl.float16))


@case((4096, 2048, 1024))
def gemm_transposed_result(m, n, k):
    a, b = randn(m, k, dtype=f16), randn(k, n, dtype=f16)
    ct = torch.empty(n, m, device=DEV, dtype=f16)
    matmul_out_t[(m // 128, n // 64)](a, b, ct, m, n, k, 128, 64, 64)


@triton.jit
def gram_kernel(X, G, S, D, BD: tl.constexpr, BS: tl.constexpr):
    """G = X^T X per batch; only the upper tiles are computed, the others are mirrored."""
    b = tl.program_id(2)
    i = tl.program_id(0)
    j = tl.program_id(1)
    if j < i:
        return
    ri = i * BD + tl.arange(0, BD)
    rj = j * BD + tl.arange(0, BD)
    X += b.to(tl.int64) * S * D
    G += b.to(tl.int64) * D * D
    acc = tl.zeros((BD, BD), dtype=tl.float32)
    for s in range(0, S, BS):
        rs = s + tl.arange(0, BS)
        xi = tl.load(X + rs[:, None] * D + ri[None, :], mask=(rs[:, None] < S), other=0.0)
        xj = tl.load(X + rs[:, None] * D + rj[None, :], mask=(rs[:, None] < S), other=0.0)
        acc += tl.dot(xi.T, xj)
    tl.store(G + ri[:, None] * D + rj[None, :], acc)
    if i != j:
        tl.store(G + rj[:, None] * D + ri[None, :], acc.T)


@case((16, 4096, 512), (8, 12544, 256))
def gram(b, s, d):
    x = randn(b, s, d)
    g = torch.empty(b, d, d, device=DEV, dtype=f32)
    gram_kernel[(d // 64, d // 64, b)](x, g, s, d, 64, 64)


@triton.jit
def linear_wgrad(dy_ptr, x_ptr, dw_ptr, db_ptr, T, N, K, BN: tl.constexpr, BK: tl.constexpr, BT: tl.constexpr):
    """dW = dY^T X and db = sum dY together."""
    pn = tl.program_id(0)
    pk = tl.program_id(1)
    n = pn * BN + tl.arange(0, BN)
    k = pk * BK + tl.arange(0, BK)
    dw = tl.zeros((BN, BK), tl.float32)
    db = tl.zeros((BN,), tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + tl.arange(0, BT)
        dy = tl.load(dy_ptr + t[None, :] * N + n[:, None], mask=(n[:, None] < N) & (t[None, :] < T), other=0.0)
        x = tl.load(x_ptr + t[:, None] * K + k[None, :], mask=(k[None, :] < K) & (t[:, None] < T), other=0.0)
        dw = tl.dot(dy, x, dw)
        if pk == 0:
            db += tl.sum(dy.to(tl.float32), axis=1)
    tl.store(dw_ptr + n[:, None] * K + k[None, :], dw, mask=(n[:, None] < N) & (k[None, :] < K))
    if pk == 0:
        tl.store(db_ptr + n, db, mask=n < N)


@case((8192, 4096, 1024), (16384, 1000, 768))
def linear_backward(t, n, k):
    dy, x = randn(t, n), randn(t, k)
    dw, db = torch.empty(n, k, device=DEV, dtype=f32), torch.empty(n, device=DEV, dtype=f32)
    linear_wgrad[(triton.cdiv(n, 128), triton.cdiv(k, 64))](dy, x, dw, db, t, n, k, 128, 64, 64, num_warps=4, num_stages=3)

"""Attention backward (delta, dq / dkv kernels, one kernel with atomics) and the naive form: scores, softmax, PV in separate kernels."""
from _common import *
import triton, triton.language as tl


@triton.jit
def bwd_preprocess(O, DO, Delta, N_CTX, BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr):
    off_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    off_hz = tl.program_id(1)
    off_n = tl.arange(0, HEAD_DIM)
    o = tl.load(O + off_hz * HEAD_DIM * N_CTX + off_m[:, None] * HEAD_DIM + off_n[None, :])
    do = tl.load(DO + off_hz * HEAD_DIM * N_CTX + off_m[:, None] * HEAD_DIM + off_n[None, :]).to(tl.float32)
    delta = tl.sum(o * do, axis=1)
    tl.store(Delta + off_hz * N_CTX + off_m, delta)


@case((128, 2048, 64), (64, 4096, 128))
def delta(zh, n, d):
    bwd_preprocess[(n // 128, zh)](randn(zh, n, d, dtype=f16), randn(zh, n, d, dtype=f16), torch.empty((zh, n), device=DEV, dtype=f32), n, BLOCK_M=128, HEAD_DIM=d)


@triton.jit
def bwd_dkdv(Q, K, V, DO, DK, DV, LSE, DELTA, sm_scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    pid = tl.program_id(0)
    bh = tl.program_id(1)
    off = bh.to(tl.int64) * N * D
    offs_n = pid * BN + tl.arange(0, BN)
    offs_d = tl.arange(0, D)
    k = tl.load(K + off + offs_n[:, None] * D + offs_d[None, :], mask=offs_n[:, None] < N, other=0.0)
    v = tl.load(V + off + offs_n[:, None] * D + offs_d[None, :], mask=offs_n[:, None] < N, other=0.0)
    dk = tl.zeros([BN, D], tl.float32)
    dv = tl.zeros([BN, D], tl.float32)
    lo = 0
    if CAUSAL:
        lo = pid * BN // BM * BM
    for m0 in range(lo, N, BM):
        offs_m = m0 + tl.arange(0, BM)
        mm = offs_m < N
        q = tl.load(Q + off + offs_m[:, None] * D + offs_d[None, :], mask=mm[:, None], other=0.0)
        do = tl.load(DO + off + offs_m[:, None] * D + offs_d[None, :], mask=mm[:, None], other=0.0)
        lse = tl.load(LSE + bh * N + offs_m, mask=mm, other=0.0)
        dl = tl.load(DELTA + bh * N + offs_m, mask=mm, other=0.0)
        sT = tl.dot(k, tl.trans(q)) * sm_scale
        pT = tl.exp(sT - lse[None, :])
        keep = mm[None, :] & (offs_n[:, None] < N)
        if CAUSAL:
            keep = keep & (offs_m[None, :] >= offs_n[:, None])
        pT = tl.where(keep, pT, 0.0)
        dv += tl.dot(pT.to(do.dtype), do)
        dpT = tl.dot(v, tl.trans(do))
        dsT = pT * (dpT - dl[None, :]) * sm_scale
        dk += tl.dot(dsT.to(q.dtype), q)
    tl.store(DK + off + offs_n[:, None] * D + offs_d[None, :], dk.to(DK.dtype.element_ty), mask=offs_n[:, None] < N)
    tl.store(DV + off + offs_n[:, None] * D + offs_d[None, :], dv.to(DV.dtype.element_ty), mask=offs_n[:, None] < N)


@triton.jit
def bwd_dq(Q, K, V, DO, DQ, LSE, DELTA, sm_scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start_m = tl.program_id(0)
    bh = tl.program_id(1)
    off = bh.to(tl.int64) * N * D
    q_p = tl.make_block_ptr(Q + off, (N, D), (D, 1), (start_m * BM, 0), (BM, D), (1, 0))
    do_p = tl.make_block_ptr(DO + off, (N, D), (D, 1), (start_m * BM, 0), (BM, D), (1, 0))
    dq_p = tl.make_block_ptr(DQ + off, (N, D), (D, 1), (start_m * BM, 0), (BM, D), (1, 0))
    kt_p = tl.make_block_ptr(K + off, (D, N), (1, D), (0, 0), (D, BN), (0, 1))
    vt_p = tl.make_block_ptr(V + off, (D, N), (1, D), (0, 0), (D, BN), (0, 1))
    q = tl.load(q_p, boundary_check=(0,), padding_option="zero")
    do = tl.load(do_p, boundary_check=(0,), padding_option="zero")
    offs_m = start_m * BM + tl.arange(0, BM)
    lse = tl.load(LSE + bh * N + offs_m, mask=offs_m < N, other=0.0)
    dl = tl.load(DELTA + bh * N + offs_m, mask=offs_m < N, other=0.0)
    dq = tl.zeros([BM, D], tl.float32)
    hi = tl.minimum((start_m + 1) * BM, N) if CAUSAL else N
    for n0 in range(0, hi, BN):
        kT = tl.load(kt_p, boundary_check=(1,), padding_option="zero")
        vT = tl.load(vt_p, boundary_check=(1,), padding_option="zero")
        s = tl.dot(q, kT)
        p = tl.exp(s * sm_scale - lse[:, None])
        offs_n = n0 + tl.arange(0, BN)
        keep = offs_n[None, :] < N
        if CAUSAL:
            keep &= offs_m[:, None] >= offs_n[None, :]
        p = tl.where(keep, p, 0.0)
        dp = tl.dot(do, vT)
        ds = (p * (dp - dl[:, None])).to(q.dtype)
        dq += tl.dot(ds, tl.trans(kT))
        kt_p = tl.advance(kt_p, (0, BN))
        vt_p = tl.advance(vt_p, (0, BN))
    tl.store(dq_p, (dq * sm_scale).to(DQ.dtype.element_ty), boundary_check=(0,))


@case((32, 2048, 64, True, f16), (32, 1500, 128, False, bf16))
def backward_two_kernels(bh, n, d, causal, dt):
    q, k, v, do = [randn(bh, n, d, dtype=dt) for _ in range(4)]
    lse, dl = rand(bh, n, lo=8.0, hi=12.0), randn(bh, n, dtype=f32)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    bwd_dkdv[(triton.cdiv(n, 64), bh)](q, k, v, do, dk, dv, lse, dl, d ** -0.5, n, D=d, BM=32, BN=64, CAUSAL=causal, num_warps=4, num_stages=2)
    bwd_dq[(triton.cdiv(n, 64), bh)](q, k, v, do, dq, lse, dl, d ** -0.5, n, D=d, BM=64, BN=32, CAUSAL=causal, num_warps=4, num_stages=2)


@triton.jit
def bwd_one_kernel_atomic(Q, K, V, dO, dQ, dK, dV, Lse, Delta, scale, seqlen, nheads, kv_heads,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    # parallel over key blocks and query heads; dQ by atomics, dK / dV by atomics as heads share them
    nb = tl.program_id(0)
    h = tl.program_id(1)
    z = tl.program_id(2)
    kvh = h * kv_heads // nheads
    Q += (z * nheads + h) * seqlen * D
    dO += (z * nheads + h) * seqlen * D
    dQ += (z * nheads + h) * seqlen * D
    Lse += (z * nheads + h) * seqlen
    Delta += (z * nheads + h) * seqlen
    K += (z * kv_heads + kvh) * seqlen * D
    V += (z * kv_heads + kvh) * seqlen * D
    dK += (z * kv_heads + kvh) * seqlen * D
    dV += (z * kv_heads + kvh) * seqlen * D
    n = nb * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    k = tl.load(K + n[:, None] * D + d[None, :])
    v = tl.load(V + n[:, None] * D + d[None, :])
    dk = tl.zeros((BLOCK_N, D), dtype=tl.float32)
    dv = tl.zeros((BLOCK_N, D), dtype=tl.float32)
    for start in range((nb * BLOCK_N) // BLOCK_M * BLOCK_M, seqlen, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        q = tl.load(Q + m[:, None] * D + d[None, :])
        do = tl.load(dO + m[:, None] * D + d[None, :])
        qk = tl.dot(q, tl.trans(k))
        qk = tl.where(m[:, None] >= n[None, :], qk, float("-inf"))
        p = tl.exp(qk * scale - tl.load(Lse + m)[:, None])
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - tl.load(Delta + m)[:, None]) * scale).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
        dq = tl.dot(ds, k)
        tl.atomic_add(dQ + m[:, None] * D + d[None, :], dq, sem="relaxed")
    tl.atomic_add(dK + n[:, None] * D + d[None, :], dk)
    tl.atomic_add(dV + n[:, None] * D + d[None, :], dv)


@case((1, 32, 8, 2048, 64), (2, 8, 8, 2048, 128))
def backward_atomics(z, h, hkv, n, d):
    q, do = randn(z, h, n, d), randn(z, h, n, d)
    k, v = randn(z, hkv, n, d), randn(z, hkv, n, d)
    dq = zeros(z, h, n, d, dtype=f32)
    dk, dv = zeros(z, hkv, n, d, dtype=f32), zeros(z, hkv, n, d, dtype=f32)
    bwd_one_kernel_atomic[(n // 64, h, z)](q, k, v, do, dq, dk, dv, rand(z, h, n, lo=8.0, hi=12.0), randn(z, h, n, dtype=f32), d ** -0.5, n, h, hkv,
                                           BLOCK_M=64, BLOCK_N=64, D=d, num_warps=8, num_stages=1)


@triton.jit
def scores_kernel(q_ptr, k_ptr, s_ptr, M, N, D, scale, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    pid = tl.program_id(0)
    batch = tl.program_id(1)
    n_blocks = tl.cdiv(N, BN)
    pm = pid // n_blocks
    pn = pid % n_blocks
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for d0 in range(0, D, BD):
        rd = d0 + tl.arange(0, BD)
        q = tl.load(q_ptr + batch * M * D + rm[:, None] * D + rd[None, :], mask=(rm[:, None] < M) & (rd[None, :] < D), other=0.0)
        k = tl.load(k_ptr + batch * N * D + rn[:, None] * D + rd[None, :], mask=(rn[:, None] < N) & (rd[None, :] < D), other=0.0)
        acc += tl.dot(q, tl.trans(k), allow_tf32=False)
    tl.store(s_ptr + batch * M * N + rm[:, None] * N + rn[None, :], acc * scale, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def masked_softmax_rows(s_ptr, n_cols, n_rows_per_batch, BLOCK: tl.constexpr, CAUSAL: tl.constexpr):
    row = tl.program_id(0)
    i = row % n_rows_per_batch
    col = tl.arange(0, BLOCK)
    ptr = s_ptr + row.to(tl.int64) * n_cols + col
    x = tl.load(ptr, mask=col < n_cols, other=-float("inf"))
    if CAUSAL:
        x = tl.where(col <= i, x, -float("inf"))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(ptr, e / tl.sum(e, axis=0), mask=col < n_cols)


@triton.jit
def pv_kernel(p_ptr, v_ptr, o_ptr, M, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    b = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for n in range(0, N, BN):
        rn = n + tl.arange(0, BN)
        p = tl.load(p_ptr + b * M * N + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N), other=0.0)
        v = tl.load(v_ptr + b * N * D + rn[:, None] * D + rd[None, :], mask=rn[:, None] < N, other=0.0)
        acc = tl.dot(p, v, acc, input_precision="tf32x3")
    tl.store(o_ptr + b * M * D + rm[:, None] * D + rd[None, :], acc, mask=rm[:, None] < M)


@case((48, 512, 512, 64, True), (16, 1000, 1000, 128, False))
def three_kernels(bh, m, n, d, causal):
    q, k, v = randn(bh, m, d, dtype=f32), randn(bh, n, d, dtype=f32), randn(bh, n, d, dtype=f32)
    s = torch.empty((bh, m, n), device=DEV, dtype=f32)
    o = torch.empty_like(q)
    scores_kernel[(triton.cdiv(m, 64) * triton.cdiv(n, 64), bh)](q, k, s, m, n, d, d ** -0.5, BM=64, BN=64, BD=32)
    masked_softmax_rows[(bh * m,)](s, n, m, BLOCK=triton.next_power_of_2(n), CAUSAL=causal)
    pv_kernel[(triton.cdiv(m, 32), bh)](s, v, o, m, n, D=d, BM=32, BN=32)


@triton.jit
def relative_bias_grad(DS, DB, B, S, BLOCK: tl.constexpr):
    # dbias[h, j - i + S - 1] = sum over batch, i of ds[b, h, i, j]
    h = tl.program_id(0)
    i = tl.program_id(1)
    H = tl.num_programs(0)
    j = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for b in range(B):
        acc += tl.load(DS + ((b * H + h) * S + i) * S + j, mask=j < S, other=0.0).to(tl.float32)
    tl.atomic_add(DB + h * (2 * S - 1) + j - i + S - 1, acc, mask=j < S)


@case((8, 12, 577), (4, 16, 1024))
def relative_bias_backward(b, h, s):
    relative_bias_grad[(h, s)](randn(b, h, s, s), zeros(h, 2 * s - 1, dtype=f32), b, s, BLOCK=triton.next_power_of_2(s), num_warps=4)

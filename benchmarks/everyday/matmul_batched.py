"""Batched products: bmm in 3-d and flat grids, 3-d and 4-d tensor times matrix, einsum forms, 3-d tl.dot, broadcast operands, tiny matrices."""
from _common import *
import triton, triton.language as tl


@triton.jit
def bmm_kernel(a_ptr, b_ptr, c_ptr, M, N, K,
               stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn, stride_cb, stride_cm, stride_cn,
               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_b = tl.program_id(0)
    pid_m = tl.program_id(1)
    pid_n = tl.program_id(2)
    a_base = a_ptr + pid_b * stride_ab
    b_base = b_ptr + pid_b * stride_bb
    c_base = c_ptr + pid_b * stride_cb
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        k_offs = k + offs_k
        a = tl.load(a_base + offs_m[:, None] * stride_am + k_offs[None, :] * stride_ak,
                    mask=(offs_m[:, None] < M) & (k_offs[None, :] < K), other=0.0)
        b = tl.load(b_base + k_offs[:, None] * stride_bk + offs_n[None, :] * stride_bn,
                    mask=(k_offs[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_base + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn, acc,
             mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@case((128, 128, 512, 256, f32), (96, 512, 512, 64, f16))
def bmm(b, m, n, k, dt):
    x, y = randn(b, m, k, dtype=dt), randn(b, k, n, dtype=dt)
    z = torch.empty(b, m, n, device=DEV, dtype=dt)
    bmm_kernel[(b, triton.cdiv(m, 64), triton.cdiv(n, 64))](x, y, z, m, n, k, *x.stride(), *y.stride(), *z.stride(), 64, 64, 32)


@triton.jit
def bmm_heads_qk(Q, Kt, S, H, L, D: tl.constexpr, sqb, sqh, sql, scale, BL: tl.constexpr):
    """einsum('blhd,bmhd->bhlm'): heads stay interleaved; flat grid."""
    pid = tl.program_id(0)
    nl = tl.cdiv(L, BL)
    pj = pid % nl
    pi = (pid // nl) % nl
    bh = pid // (nl * nl)
    b = bh // H
    h = bh % H
    i = pi * BL + tl.arange(0, BL)
    j = pj * BL + tl.arange(0, BL)
    d = tl.arange(0, D)
    base = b * sqb + h * sqh
    q = tl.load(Q + base + i[:, None] * sql + d[None, :], mask=i[:, None] < L, other=0.0)
    k = tl.load(Kt + base + j[None, :] * sql + d[:, None], mask=j[None, :] < L, other=0.0)
    s = tl.dot(q, k) * scale
    s = tl.where(i[:, None] >= j[None, :], s, float("-inf"))
    tl.store(S + bh.to(tl.int64) * L * L + i[:, None] * L + j[None, :], s.to(S.dtype.element_ty), mask=(i[:, None] < L) & (j[None, :] < L))


@case((4, 1024, 16, 64), (2, 2000, 12, 128))
def heads_qk(b, l, h, d):
    q, k = randn(b, l, h, d), randn(b, l, h, d)
    s = torch.empty(b, h, l, l, device=DEV, dtype=bf16)
    nl = triton.cdiv(l, 64)
    bmm_heads_qk[(nl * nl * b * h,)](q, k, s, h, l, d, q.stride(0), q.stride(2), q.stride(1), d ** -0.5, 64)


@triton.jit
def tensor3d_matmul(A, B, C, N, M, K, L, BLOCK_M: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_K: tl.constexpr):
    """(N, M, K) @ (K, L) -> (N, M, L), the batch on its own grid axis, B shared."""
    pid = tl.program_id(0)
    n = tl.program_id(1)
    tiles_l = tl.cdiv(L, BLOCK_L)
    m = (pid // tiles_l) * BLOCK_M + tl.arange(0, BLOCK_M)
    l = (pid % tiles_l) * BLOCK_L + tl.arange(0, BLOCK_L)
    acc = tl.zeros((BLOCK_M, BLOCK_L), tl.float32)
    for kb in range(0, tl.cdiv(K, BLOCK_K)):
        k = kb * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(A + n * M * K + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(B + k[:, None] * L + l[None, :], mask=(k[:, None] < K) & (l[None, :] < L), other=0.0)
        acc += tl.dot(a, b)
    tl.store(C + n * M * L + m[:, None] * L + l[None, :], acc.to(C.dtype.element_ty), mask=(m[:, None] < M) & (l[None, :] < L))


@case((16, 1024, 2048, 768, f32), (32, 197, 768, 3072, f16))
def tensor3d(n, m, k, l, dt):
    a, b = randn(n, m, k, dtype=dt), randn(k, l, dtype=dt)
    c = torch.empty(n, m, l, device=DEV, dtype=dt)
    tensor3d_matmul[(triton.cdiv(m, 128) * triton.cdiv(l, 128), n)](a, b, c, n, m, k, l, 128, 128, 32, num_warps=8)


@triton.jit
def einsum_bijl_lk(a, w, o, I: tl.constexpr, J: tl.constexpr, L: tl.constexpr, K: tl.constexpr,
                   sb, si, sj, BJ: tl.constexpr, BK: tl.constexpr, BL: tl.constexpr):
    """einsum('bijl,lk->bijk'): a program per (b, i) and tile of j and k."""
    bi = tl.program_id(0)
    b = bi // I
    i = bi % I
    j = tl.program_id(1) * BJ + tl.arange(0, BJ)
    k = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BJ, BK), dtype=tl.float32)
    for l0 in range(0, L, BL):
        l = l0 + tl.arange(0, BL)
        x = tl.load(a + b.to(tl.int64) * sb + i * si + j[:, None] * sj + l[None, :], mask=j[:, None] < J, other=0.0)
        y = tl.load(w + l[:, None] * K + k[None, :])
        acc += tl.dot(x, y, input_precision="tf32")
    tl.store(o + (bi.to(tl.int64) * J + j[:, None]) * K + k[None, :], acc, mask=j[:, None] < J)


@case((8, 64, 128, 256, 768, f32), (16, 56, 56, 256, 512, bf16))
def einsum4d(b, i, j, l, k, dt):
    a, w = randn(b, i, j, l, dtype=dt), randn(l, k, dtype=dt)
    o = torch.empty(b, i, j, k, device=DEV, dtype=dt)
    einsum_bijl_lk[(b * i, triton.cdiv(j, 64), k // 128)](a, w, o, i, j, l, k, a.stride(0), a.stride(1), a.stride(2), 64, 128, 32)


@triton.jit
def small_bmm_dot3d(X, Y, Z, B, S: tl.constexpr, G: tl.constexpr):
    """Many small S x S products, G of them a program with a three-dimensional tl.dot."""
    g = tl.program_id(0) * G + tl.arange(0, G)
    r = tl.arange(0, S)
    off = g[:, None, None] * (S * S) + r[None, :, None] * S + r[None, None, :]
    m = (g < B)[:, None, None]
    x = tl.load(X + off, mask=m, other=0.0)
    y = tl.load(Y + off, mask=m, other=0.0)
    z = tl.dot(x, y)
    tl.store(Z + off, z.to(Z.dtype.element_ty), mask=m)


@case((50000, 32, 4, f16), (20000, 64, 2, bf16))
def small_bmm(b, s, g, dt):
    x, y = randn(b, s, s, dtype=dt), randn(b, s, s, dtype=dt)
    z = torch.empty_like(x)
    small_bmm_dot3d[(triton.cdiv(b, g),)](x, y, z, b, s, g)


@triton.jit
def tiny_matmul_sum(x, y, z, n_mats, D: tl.constexpr, BLOCK: tl.constexpr):
    """8 x 8 fp32 matrices, no dot: broadcast a k axis and sum it away."""
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.arange(0, D)
    o = b[:, None, None] * D * D + i[None, :, None] * D + i[None, None, :]
    ok = b[:, None, None] < n_mats
    acc = tl.zeros((BLOCK, D, D), tl.float32)
    for k in tl.static_range(D):
        xc = tl.load(x + b[:, None] * D * D + i[None, :] * D + k, mask=b[:, None] < n_mats, other=0.0)
        yr = tl.load(y + b[:, None] * D * D + k * D + i[None, :], mask=b[:, None] < n_mats, other=0.0)
        acc += xc[:, :, None] * yr[:, None, :]
    tl.store(z + o, acc, mask=ok)


@case((400000, 8), (1000000, 4))
def tiny_matmul(n, d):
    x, y = randn(n, d, d, dtype=f32), randn(n, d, d, dtype=f32)
    z = torch.empty_like(x)
    tiny_matmul_sum[(triton.cdiv(n, 32),)](x, y, z, n, d, 32)


@triton.jit
def decode_pv(P, V, O, L, D: tl.constexpr, GROUP: tl.constexpr, svb, svl, svh, BL: tl.constexpr):
    """einsum('bgl,bld->bgd') for one kv head at a time: probabilities of a decode step times the cache."""
    b = tl.program_id(0)
    h = tl.program_id(1)
    nh = tl.num_programs(1)
    g = tl.arange(0, GROUP)
    d = tl.arange(0, D)
    acc = tl.zeros((GROUP, D), dtype=tl.float32)
    prow = ((b * nh + h) * GROUP + g) * L
    for s in tl.range(0, L, BL, num_stages=4):
        l = s + tl.arange(0, BL)
        p = tl.load(P + prow[:, None] + l[None, :], mask=l[None, :] < L, other=0.0)
        v = tl.load(V + b * svb + h * svh + l[:, None] * svl + d[None, :], mask=l[:, None] < L, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
    tl.store(O + ((b * nh + h) * GROUP + g)[:, None] * D + d[None, :], acc.to(O.dtype.element_ty))


@case((64, 8, 16, 2000, 128))
def decode_value(b, h, g, l, d):
    p = rand(b, h, g, l)
    v = randn(b, l, h, d)
    o = torch.empty(b, h, g, d, device=DEV, dtype=bf16)
    decode_pv[(b, h)](p, v, o, l, d, g, v.stride(0), v.stride(1), v.stride(2), 64)

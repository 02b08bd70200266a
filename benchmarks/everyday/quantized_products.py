"""Products with quantised weights: int4 groups, int8 per channel, fp8 blocks, 2-bit ternary; activation quantisers."""
from _common import *
import triton, triton.language as tl


@triton.jit
def gptq_int4_matmul(a_ptr, qw_ptr, c_ptr, scales_ptr, zeros_ptr, M, N, K, G: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    # qweight [K / 8, N] int32, scales [K / G, N], qzeros [K / G, N / 8]
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = qw_ptr + (offs_k[:, None] // 8) * N + offs_n[None, :]
    shifter = (offs_k % 8) * 4
    zshift = (offs_n % 8) * 4
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        g = k * BLOCK_K // G
        s = tl.load(scales_ptr + g * N + offs_n)
        z = tl.load(zeros_ptr + g * (N // 8) + offs_n // 8)
        z = (z >> zshift) & 0xF
        a = tl.load(a_ptrs, mask=offs_m[:, None] < M, other=0.0)
        b = tl.load(b_ptrs)
        b = (b >> shifter[:, None]) & 0xF
        b = (b - z[None, :]).to(tl.float16) * s[None, :]
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += (BLOCK_K // 8) * N
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(tl.float16), mask=offs_m[:, None] < M)


@case((16, 4096, 4096, 128, 16, 64, 64), (512, 11008, 4096, 128, 64, 128, 64), (5, 5120, 5120, 64, 16, 128, 32))
def int4_gptq(m, n, k, g, bm, bn, bk):
    qw = randint(-2 ** 31, 2 ** 31 - 1, k // 8, n, dtype=i32)
    gptq_int4_matmul[(triton.cdiv(m, bm), n // bn)](randn(m, k, dtype=f16), qw, torch.empty((m, n), device=DEV, dtype=f16), rand(k // g, n, hi=0.02, dtype=f16),
                                                    randint(-2 ** 31, 2 ** 31 - 1, k // g, n // 8, dtype=i32), m, n, k, G=g, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, num_warps=4, num_stages=3)


@triton.jit
def int4_packed_interleave(x, w, s, o, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT_K: tl.constexpr):
    # w [N, K / 2] uint8, low nibble = even k; unpacked with tl.interleave; split-K with atomics
    pid = tl.program_id(0)
    sk = tl.program_id(1)
    nn = tl.cdiv(N, BN)
    rm = pid // nn * BM + tl.arange(0, BM)
    rn = pid % nn * BN + tl.arange(0, BN)
    rb = tl.arange(0, BK // 2)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(sk * BK, K, BK * SPLIT_K):
        p = tl.load(w + rn[:, None] * (K // 2) + k // 2 + rb[None, :], mask=rn[:, None] < N, other=0)
        lo = (p & 0xF).to(tl.int8) - 8
        hi = (p >> 4).to(tl.int8) - 8
        q = tl.interleave(lo, hi).to(tl.bfloat16)
        sc = tl.load(s + rn * (K // GROUP) + k // GROUP, mask=rn < N, other=0.0)
        a = tl.load(x + rm[:, None] * K + k + rk[None, :], mask=rm[:, None] < M, other=0.0)
        acc += tl.dot(a, tl.trans(q)) * sc[None, :].to(tl.float32)
    ptr = o + rm[:, None] * N + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    if SPLIT_K == 1:
        tl.store(ptr, acc, mask=mask)
    else:
        tl.atomic_add(ptr, acc, mask=mask)


@case((32, 4096, 14336, 128, 4), (128, 6144, 4096, 64, 1))
def int4_interleaved(m, n, k, g, split):
    int4_packed_interleave[(triton.cdiv(m, 32) * triton.cdiv(n, 64), split)](randn(m, k), randint(0, 256, n, k // 2, dtype=torch.uint8), rand(n, k // g, hi=0.02, dtype=bf16),
                                                                              zeros(m, n, dtype=f32), m, n, k, GROUP=g, BM=32, BN=64, BK=64, SPLIT_K=split, num_warps=4, num_stages=3)


@triton.jit
def w8a8_linear(a, b, sa, sb, bias, c, M, N, K, stride_am, stride_bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    gm, gn = tl.cdiv(M, BM), tl.cdiv(N, BN)
    pm, pn = tl.swizzle2d(pid // gn, pid % gn, gm, gn, GROUP)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    A = a + tl.max_contiguous(tl.multiple_of(rm % M, BM), BM)[:, None] * stride_am + rk[None, :]
    B = b + tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)[None, :] * stride_bn + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(K, 0, -BK):
        x = tl.load(A, mask=rk[None, :] < k, other=0)
        w = tl.load(B, mask=rk[:, None] < k, other=0)
        acc += tl.dot(x, w)
        A += BK
        B += BK
    s0 = tl.load(sa + rm, mask=rm < M, other=0.0)
    s1 = tl.load(sb + rn, mask=rn < N, other=0.0)
    out = acc.to(tl.float32) * s0[:, None] * s1[None, :] + tl.load(bias + rn, mask=rn < N, other=0.0)[None, :].to(tl.float32)
    tl.store(c + rm[:, None] * N + rn[None, :], out.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@case((1024, 4096, 4096), (200, 12288, 3000))
def int8_per_channel(m, n, k):
    a, b = randint(-127, 127, m, k, dtype=torch.int8), randint(-127, 127, n, k, dtype=torch.int8)
    w8a8_linear[(triton.cdiv(m, 128) * triton.cdiv(n, 128),)](a, b, rand(m, hi=0.02), rand(n, hi=0.02), randn(n), torch.empty((m, n), device=DEV, dtype=bf16), m, n, k,
                                                              a.stride(0), b.stride(0), BM=128, BN=128, BK=64, GROUP=4, num_warps=8, num_stages=3)


@triton.jit
def fp8_block_scaled(A, B, C, As, Bs, M, N, K, group_n, group_k, stride_asm, stride_ask, stride_bsn, stride_bsk,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    npm = tl.cdiv(M, BLOCK_M)
    npn = tl.cdiv(N, BLOCK_N)
    ng = GROUP_M * npn
    g = pid // ng
    first = g * GROUP_M
    size = min(npm - first, GROUP_M)
    pid_m = first + pid % size
    pid_n = (pid % ng) // size
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = A + offs_am[:, None] * K + offs_k[None, :]
    b_ptrs = B + offs_bn[None, :] * K + offs_k[:, None]
    As_ptrs = As + offs_am * stride_asm
    Bs_ptrs = Bs + offs_bn // group_n * stride_bsn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        ks = k * BLOCK_K // group_k
        a_s = tl.load(As_ptrs + ks * stride_ask)
        b_s = tl.load(Bs_ptrs + ks * stride_bsk)
        acc += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    c = acc.to(C.dtype.element_ty)
    cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(C + cm[:, None] * N + cn[None, :], c, mask=(cm[:, None] < M) & (cn[None, :] < N))


@triton.jit
def per_token_group_quant_fp8(y, yq, ys, N, eps, BLOCK: tl.constexpr):
    g = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x = tl.load(y + g * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    s = tl.maximum(tl.max(tl.abs(x)), eps) / 448.0
    q = tl.clamp(x / s, -448.0, 448.0).to(yq.dtype.element_ty)
    tl.store(yq + g * N + cols, q, mask=cols < N)
    tl.store(ys + g, s)


@case((2048, 4096, 7168, 64, 128), (64, 7168, 2048, 64, 64))
def fp8_blocks(m, n, k, bm, bn):
    x = randn(m, k)
    a = torch.empty((m, k), device=DEV, dtype=torch.float8_e4m3fn)
    sa = torch.empty((m, k // 128), device=DEV, dtype=f32)
    per_token_group_quant_fp8[(m * k // 128,)](x, a, sa, 128, 1e-10, BLOCK=128, num_warps=1)
    b = randn(n, k).to(torch.float8_e4m3fn)
    sb = rand(n // 128, k // 128)
    fp8_block_scaled[(triton.cdiv(m, bm) * triton.cdiv(n, bn),)](a, b, torch.empty((m, n), device=DEV, dtype=bf16), sa, sb, m, n, k, 128, 128, sa.stride(0), sa.stride(1), sb.stride(0), sb.stride(1),
                                                                 BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=128, GROUP_M=8, num_warps=4, num_stages=3)


@triton.jit
def bitnet_matmul(x, wp, out, xs, wscale, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # ternary weights, four to a byte: w[n, i * K/4 + j] in bits 2i of byte j; int8 activations
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    KB = K // 4
    acc = tl.zeros((BM, BN), tl.int32)
    for i in tl.static_range(4):
        for k in range(0, KB, BK):
            rk = k + tl.arange(0, BK)
            b = tl.load(wp + rn[None, :] * KB + rk[:, None], mask=rk[:, None] < KB, other=0)
            b = ((b >> (2 * i)) & 3).to(tl.int8) - 1
            a = tl.load(x + rm[:, None] * K + i * KB + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < KB), other=0)
            acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    y = acc.to(tl.float32) * tl.load(xs + rm, mask=rm < M, other=1.0)[:, None] * tl.load(wscale)
    tl.store(out + rm[:, None] * N + rn[None, :], y.to(out.dtype.element_ty), mask=rm[:, None] < M)


@case((64, 4096, 4096), (512, 2560, 6912))
def ternary_2bit(m, n, k):
    bitnet_matmul[(triton.cdiv(m, 32), n // 64)](randint(-127, 127, m, k, dtype=torch.int8), randint(0, 256, n, k // 4, dtype=torch.uint8), torch.empty((m, n), device=DEV, dtype=bf16),
                                                 rand(m), rand(1), m, n, k, BM=32, BN=64, BK=64, num_warps=4, num_stages=2)


@triton.jit
def gemv_int8_weight_only(x, w, s, y, N, K, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN, BK), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        ww = tl.load(w + n[:, None] * K + kk[None, :], mask=(n[:, None] < N) & (kk[None, :] < K), other=0, eviction_policy="evict_first")
        xx = tl.load(x + kk, mask=kk < K, other=0.0, eviction_policy="evict_last").to(tl.float32)
        acc += ww.to(tl.float32) * xx[None, :]
    r = tl.sum(acc, 1) * tl.load(s + n, mask=n < N, other=0.0)
    tl.store(y + n, r.to(y.dtype.element_ty), mask=n < N)


@case((14336, 4096, 8, 512), (32000, 4100, 4, 1024))
def gemv_w8(n, k, bn, bk):
    gemv_int8_weight_only[(triton.cdiv(n, bn),)](randn(k), randint(-127, 127, n, k, dtype=torch.int8), rand(n), torch.empty(n, device=DEV, dtype=bf16), n, k, BN=bn, BK=bk, num_warps=4)


NF4 = [-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0, 0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.723, 1.0]


@triton.jit
def nf4_dequant(p, absmax, code, out, n, QBLOCK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n // 2
    b = tl.load(p + i, mask=m, other=0)
    s = tl.load(absmax + (i * 2) // QBLOCK, mask=m, other=0.0)
    hi = tl.load(code + (b >> 4).to(tl.int32), mask=m) * s
    lo = tl.load(code + (b & 0xF).to(tl.int32), mask=m) * s
    both = tl.reshape(tl.join(hi, lo), (2 * BLOCK,))
    j = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    tl.store(out + j, both.to(out.dtype.element_ty), mask=j < n)


@case((4096, 14336), (8192, 8192))
def nf4(r, c):
    n = r * c
    nf4_dequant[(triton.cdiv(n // 2, 1024),)](randint(0, 256, n // 2, dtype=torch.uint8), rand(n // 64), torch.tensor(NF4, dtype=f32, device=DEV), torch.empty((r, c), device=DEV, dtype=bf16), n, QBLOCK=64, BLOCK=1024)

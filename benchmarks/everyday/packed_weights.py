"""Products with int4 / int8 / fp8 weights: GPTQ, AWQ, join unpacking, block-scaled fp8, w8a8 with odd K, int4 gemv, mixed with split-k."""
from _common import *
import triton, triton.language as tl


# ---------------------------------------------------------------- GPTQ: eight int4 along k in an int32, g_idx, zeros packed along n
@triton.autotune(configs=[triton.Config({"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP_M": 8}, num_stages=4, num_warps=4),
                          triton.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}, num_stages=2, num_warps=8),
                          triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 128, "GROUP_M": 8}, num_stages=3, num_warps=4)], key=["M", "N", "K"])
@triton.jit
def matmul_248_kernel(a_ptr, b_ptr, c_ptr, scales_ptr, zeros_ptr, g_ptr, M, N, K, bits, maxq,
                      stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, stride_scales, stride_zeros,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    infearure_per_bits = 32 // bits
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_k = tl.cdiv(K, BLOCK_K)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + (pid % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_bn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    a_mask = offs_am[:, None] < M
    b_ptrs = b_ptr + ((offs_k[:, None] // infearure_per_bits) * stride_bk + offs_bn[None, :] * stride_bn)
    g_ptrs = g_ptr + offs_k
    scales_ptrs = scales_ptr + offs_bn[None, :]
    zeros_ptrs = zeros_ptr + (offs_bn[None, :] // infearure_per_bits)
    shifter = (offs_k % infearure_per_bits) * bits
    zeros_shifter = (offs_bn % infearure_per_bits) * bits
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, num_pid_k):
        g_idx = tl.load(g_ptrs)
        scales = tl.load(scales_ptrs + g_idx[:, None] * stride_scales)
        zeros = tl.load(zeros_ptrs + g_idx[:, None] * stride_zeros)
        zeros = (zeros >> zeros_shifter[None, :]) & maxq
        zeros = zeros + 1
        a = tl.load(a_ptrs, mask=a_mask, other=0.)
        b = tl.load(b_ptrs)
        b = (b >> shifter[:, None]) & maxq
        b = ((b - zeros) * scales).to(a.dtype)
        accumulator += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += (BLOCK_K // infearure_per_bits) * stride_bk
        g_ptrs += BLOCK_K
    c_ptrs = c_ptr + stride_cm * offs_am[:, None] + stride_cn * offs_bn[None, :]
    c_mask = (offs_am[:, None] < M) & (offs_bn[None, :] < N)
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=c_mask)


@case((16, 4096, 4096, 4), (512, 4096, 11008, 4), (128, 4096, 4096, 8))
def gptq(m, k, n, bits):
    per = 32 // bits
    g = 128
    a = randn(m, k, dtype=f16)
    b = randint(-2**31, 2**31 - 1, k // per, n, dtype=i32)
    s = rand(k // g, n, dtype=f16, hi=0.02)
    z = randint(0, 2**30, k // g, n // per, dtype=i32)
    gi = torch.arange(0, k, device=DEV, dtype=i32) // g
    c = torch.empty(m, n, device=DEV, dtype=f16)
    matmul_248_kernel[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
        a, b, c, s, z, gi, m, n, k, bits, 2**bits - 1, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), s.stride(0), z.stride(0))


# ---------------------------------------------------------------- AWQ: eight int4 along n by interleave, with the order 0 4 1 5 2 6 3 7; split-k
@triton.jit
def awq_gemm_kernel(a_ptr, b_ptr, c_ptr, zeros_ptr, scales_ptr, M, N, K, group_size,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    pid = tl.program_id(0)
    pid_z = tl.program_id(1)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    reverse_awq_order = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8)
    shifts = reverse_awq_order * 4
    shifts = tl.broadcast_to(shifts[None, :], (BLOCK_K * (BLOCK_N // 8), 8))
    shifts = tl.reshape(shifts, (BLOCK_K, BLOCK_N))
    offs_am = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_bn = pid_n * (BLOCK_N // 8) + tl.arange(0, BLOCK_N // 8)
    offs_sn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + K * offs_am[:, None] + offs_k[None, :]
    b_ptrs = b_ptr + (N // 8) * offs_k[:, None] + offs_bn[None, :]
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        masks_k = offs_k < K
        a = tl.load(a_ptrs, mask=(offs_am < M)[:, None] & masks_k[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=masks_k[:, None] & (offs_bn < N // 8)[None, :], other=0)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        offs_szk = (BLOCK_K * SPLIT_K * k + pid_z * BLOCK_K) // group_size + tl.arange(0, 1)
        z = tl.load(zeros_ptr + (N // 8) * offs_szk[:, None] + offs_bn[None, :], mask=(offs_bn < N // 8)[None, :], other=0)
        z = tl.interleave(z, z)
        z = tl.interleave(z, z)
        z = tl.interleave(z, z)
        z = tl.broadcast_to(z, (BLOCK_K, BLOCK_N))
        s = tl.load(scales_ptr + N * offs_szk[:, None] + offs_sn[None, :], mask=(offs_sn < N)[None, :], other=0.0)
        s = tl.broadcast_to(s, (BLOCK_K, BLOCK_N))
        b = (b >> shifts) & 0xF
        z = (z >> shifts) & 0xF
        b = (b - z) * s
        b = b.to(c_ptr.type.element_ty)
        accumulator = tl.dot(a, b, accumulator, out_dtype=tl.float32)
        offs_k += BLOCK_K * SPLIT_K
        a_ptrs += BLOCK_K * SPLIT_K
        b_ptrs += BLOCK_K * SPLIT_K * (N // 8)
    c = accumulator.to(c_ptr.type.element_ty)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + pid_z * N * M + N * offs_am[:, None] + offs_cn[None, :], c, mask=(offs_am[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def awq_dequantize_kernel(qweight_ptr, scales_ptr, zeros_ptr, group_size, result_ptr, num_cols, num_rows, BX: tl.constexpr, BY: tl.constexpr):
    pid_x = tl.program_id(0)
    pid_y = tl.program_id(1)
    offs_y = pid_y * BY + tl.arange(0, BY)
    offs_x = pid_x * BX + tl.arange(0, BX)
    offsets = num_cols * offs_y[:, None] + offs_x[None, :]
    masks = (offs_y < num_rows)[:, None] & (offs_x < num_cols)[None, :]
    rx = pid_x * BX * 8 + tl.arange(0, BX * 8)
    iweights = tl.load(qweight_ptr + offsets, masks, 0)
    iweights = tl.interleave(iweights, iweights)
    iweights = tl.interleave(iweights, iweights)
    iweights = tl.interleave(iweights, iweights)
    order = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8)
    shifts = order * 4
    shifts = tl.broadcast_to(shifts[None, :], (BY * BX, 8))
    shifts = tl.reshape(shifts, (BY, BX * 8))
    iweights = (iweights >> shifts) & 0xF
    zy = pid_y * BY // group_size + tl.arange(0, 1)
    zs = tl.load(zeros_ptr + num_cols * zy[:, None] + offs_x[None, :], (offs_x < num_cols)[None, :], 0)
    zs = tl.interleave(zs, zs)
    zs = tl.interleave(zs, zs)
    zs = tl.interleave(zs, zs)
    zs = tl.broadcast_to(zs, (BY, BX * 8))
    zs = (zs >> shifts) & 0xF
    sc = tl.load(scales_ptr + num_cols * 8 * zy[:, None] + rx[None, :], (rx < num_cols * 8)[None, :], 0.0)
    sc = tl.broadcast_to(sc, (BY, BX * 8))
    w = ((iweights - zs) * sc).to(result_ptr.type.element_ty)
    tl.store(result_ptr + num_cols * 8 * offs_y[:, None] + rx[None, :], w, (offs_y < num_rows)[:, None] & (rx < num_cols * 8)[None, :])


@case((8, 4096, 12288, 8), (64, 8192, 8192, 4))
def awq(m, k, n, split):
    a = randn(m, k, dtype=f16)
    b = randint(-2**31, 2**31 - 1, k, n // 8, dtype=i32)
    z = randint(-2**31, 2**31 - 1, k // 128, n // 8, dtype=i32)
    s = rand(k // 128, n, dtype=f16, hi=0.02)
    c = torch.empty(split, m, n, device=DEV, dtype=f16)
    awq_gemm_kernel[(triton.cdiv(m, 32) * triton.cdiv(n, 32), split)](a, b, c, z, s, m, n, k, 128, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, SPLIT_K=split)


@case((4096, 11008), (8192, 8192))
def awq_dequant(k, n):
    b = randint(-2**31, 2**31 - 1, k, n // 8, dtype=i32)
    z = randint(-2**31, 2**31 - 1, k // 128, n // 8, dtype=i32)
    s = rand(k // 128, n, dtype=f16, hi=0.02)
    out = torch.empty(k, n, device=DEV, dtype=f16)
    awq_dequantize_kernel[(triton.cdiv(n // 8, 32), triton.cdiv(k, 32))](b, s, z, 128, out, n // 8, k, BX=32, BY=32)


# ---------------------------------------------------------------- uint8 with two nibbles: join + permute + reshape to get k order back
@triton.jit
def w4a16_join_kernel(x_ptr, w_ptr, s_ptr, z_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    # w: [N, K // 2] uint8, low nibble is even k
    pid_n = tl.program_id(0)
    pid_m = tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    rk2 = tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(x_ptr + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(w_ptr + rn[:, None] * (K // 2) + (k // 2 + rk2)[None, :], mask=rn[:, None] < N, other=0)
        lo = w & 0xF
        hi = w >> 4
        wq = tl.join(lo, hi).reshape(BN, BK)
        g = k // GROUP
        s = tl.load(s_ptr + rn * (K // GROUP) + g, mask=rn < N, other=0.0)
        z = tl.load(z_ptr + rn * (K // GROUP) + g, mask=rn < N, other=0.0)
        wf = (wq.to(tl.float32) * s[:, None].to(tl.float32) + z[:, None].to(tl.float32)).to(x.dtype)
        acc = tl.dot(x, tl.trans(wf), acc)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc.to(y_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@case((32, 4096, 4096), (1024, 3072, 8192))
def w4a16_join(m, k, n):
    x = randn(m, k)
    w = randint(0, 256, n, k // 2, dtype=torch.uint8)
    s, z = randn(n, k // 64, scale=0.01), randn(n, k // 64, scale=0.01)
    y = torch.empty(m, n, device=DEV, dtype=bf16)
    bm = 32 if m < 64 else 128
    w4a16_join_kernel[(triton.cdiv(n, 64), triton.cdiv(m, bm))](x, w, s, z, y, m, n, k, BM=bm, BN=64, BK=64, GROUP=64, num_warps=4, num_stages=3)


# ---------------------------------------------------------------- DeepSeek: fp8 with scales 1x128 of a and 128x128 of b
@triton.jit
def act_quant_kernel(x_ptr, y_ptr, s_ptr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offs).to(tl.float32)
    s = tl.max(tl.abs(x)) / 448.
    y = x / s
    y = y.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + offs, y)
    tl.store(s_ptr + pid, s)


@triton.jit
def weight_dequant_kernel(x_ptr, s_ptr, y_ptr, M, N, BLOCK_SIZE: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    n = tl.cdiv(N, BLOCK_SIZE)
    offs_m = pid_m * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    offs_n = pid_n * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    offs = offs_m[:, None] * N + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    s = tl.load(s_ptr + pid_m * n + pid_n)
    tl.store(y_ptr + offs, x * s, mask=mask)


@triton.jit
def fp8_block_gemm_kernel(a_ptr, b_ptr, c_ptr, a_s_ptr, b_s_ptr, M, N, K, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    k = tl.cdiv(K, BLOCK_SIZE_K)
    offs_m = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_n = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_n[None, :] * K + offs_k[:, None]
    a_s_ptrs = a_s_ptr + offs_m * k
    b_s_ptrs = b_s_ptr + (offs_n // 128) * k
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for i in range(k):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - i * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - i * BLOCK_SIZE_K, other=0.0)
        a_s = tl.load(a_s_ptrs)
        b_s = tl.load(b_s_ptrs)
        accumulator += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
        a_s_ptrs += 1
        b_s_ptrs += 1
    c = accumulator.to(c_ptr.dtype.element_ty)
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptrs, c, mask=mask)


@case((4096, 7168, 2048, 64, 64), (128, 7168, 4096, 32, 128), (2048, 2048, 7168, 128, 128))
def fp8_block_gemm(m, k, n, bm, bn):
    x = randn(m, k)
    a = torch.empty(m, k, device=DEV, dtype=torch.float8_e4m3fn)
    a_s = torch.empty(m, k // 128, device=DEV, dtype=f32)
    act_quant_kernel[(m * k // 128,)](x, a, a_s, BLOCK_SIZE=128)
    b = randn(n, k).to(torch.float8_e4m3fn)
    b_s = rand(n // 128, k // 128)
    c = torch.empty(m, n, device=DEV, dtype=bf16)
    fp8_block_gemm_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](a, b, c, a_s, b_s, m, n, k, BLOCK_SIZE_M=bm, BLOCK_SIZE_N=bn, BLOCK_SIZE_K=128,
                                                                   num_stages=4, num_warps=4 if bm < 128 else 8)


@case((7168, 2048))
def fp8_weight_dequant(m, n):
    w = randn(m, n).to(torch.float8_e4m3fn)
    s = rand(m // 128, n // 128)
    y = torch.empty(m, n, device=DEV, dtype=bf16)
    weight_dequant_kernel[(m // 128, n // 128)](w, s, y, m, n, BLOCK_SIZE=128)


# ---------------------------------------------------------------- w8a8 with K that divides nothing
@triton.jit
def w8a8_kernel(a, b, c, sa, sb, bias, M, N, K, lda, ldb, ldc, HAS_BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    m = (pid // nn) * BM + tl.arange(0, BM)
    n = (pid % nn) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], dtype=tl.int32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * lda + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        w = tl.load(b + n[None, :] * ldb + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0)
        acc = tl.dot(x, w, acc, out_dtype=tl.int32)
    y = acc.to(tl.float32) * tl.load(sa + m, mask=m < M, other=0.0)[:, None] * tl.load(sb + n, mask=n < N, other=0.0)[None, :]
    if HAS_BIAS:
        y += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    tl.store(c + m[:, None] * ldc + n[None, :], y.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@case((2000, 1027, 3001), (4096, 4095, 2048), (77, 1284, 5120))
def w8a8_odd(m, k, n):
    a = randint(-127, 128, m, k, dtype=torch.int8)
    b = randint(-127, 128, n, k, dtype=torch.int8)
    c = torch.empty(m, n, device=DEV, dtype=bf16)
    w8a8_kernel[(triton.cdiv(m, 64) * triton.cdiv(n, 128),)](a, b, c, rand(m), rand(n), randn(n), m, n, k, k, k, n, HAS_BIAS=True, BM=64, BN=128, BK=64, num_stages=3)


# ---------------------------------------------------------------- int4 gemv
@triton.jit
def gemv_int4(x_ptr, w_ptr, s_ptr, y_ptr, N, K, BLOCK_N: tl.constexpr, BLOCK_P: tl.constexpr, GROUP: tl.constexpr):
    # w: [N, K // 8] int32, symmetric with offset 8
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    P = K // 8
    acc = tl.zeros((BLOCK_N, BLOCK_P), tl.float32)
    for p0 in range(0, P, BLOCK_P):
        p = p0 + tl.arange(0, BLOCK_P)
        mk = (n[:, None] < N) & (p[None, :] < P)
        w = tl.load(w_ptr + n[:, None] * P + p[None, :], mask=mk, other=0, eviction_policy="evict_first")
        part = tl.zeros((BLOCK_N, BLOCK_P), tl.float32)
        for j in tl.static_range(8):
            x = tl.load(x_ptr + p * 8 + j, mask=p < P, other=0.0).to(tl.float32)
            part += (((w >> (4 * j)) & 0xF) - 8).to(tl.float32) * x[None, :]
        s = tl.load(s_ptr + n[:, None] * (K // GROUP) + (p * 8 // GROUP)[None, :], mask=mk, other=0.0)
        acc += part * s
    tl.store(y_ptr + n, tl.sum(acc, 1).to(y_ptr.dtype.element_ty), mask=n < N)


@case((8192, 28672), (4096, 14336), (14336, 4096))
def int4_gemv(k, n):
    x = randn(k, dtype=f16)
    w = randint(-2**31, 2**31 - 1, n, k // 8, dtype=i32)
    s = rand(n, k // 128, dtype=f16, hi=0.02)
    y = torch.empty(n, device=DEV, dtype=f16)
    gemv_int4[(triton.cdiv(n, 8),)](x, w, s, y, n, k, BLOCK_N=8, BLOCK_P=128, GROUP=128, num_warps=4)


# ---------------------------------------------------------------- fp8 rowwise, persistent, with tensor descriptors
@triton.jit
def fp8_rowwise_persistent(a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    tm = tl.cdiv(M, BM)
    tn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tm * tn, SMS, flatten=True):
        im = tile % tm
        jn = tile // tm
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            a = a_desc.load([im * BM, k * BK])
            b = b_desc.load([jn * BN, k * BK])
            acc = tl.dot(a, b.T, acc)
        rm = im * BM + tl.arange(0, BM)
        rn = jn * BN + tl.arange(0, BN)
        sa = tl.load(sa_ptr + rm, mask=rm < M, other=0.0)
        sb = tl.load(sb_ptr + rn, mask=rn < N, other=0.0)
        c_desc.store([im * BM, jn * BN], (acc * sa[:, None] * sb[None, :]).to(tl.bfloat16))


@case((4096, 4096, 4096), (1000, 8192, 2816))
def fp8_rowwise(m, k, n):
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device=DEV, dtype=torch.int8))
    a, b = randn(m, k).to(torch.float8_e4m3fn), randn(n, k).to(torch.float8_e4m3fn)
    c = torch.empty(m, n, device=DEV, dtype=bf16)
    fp8_rowwise_persistent[(132,)](a, b, c, rand(m), rand(n), m, n, k, BM=128, BN=128, BK=128, SMS=132, num_warps=8, num_stages=3)

"""Quantise and dequantise: int8 per row and per tensor, fp8 per block, int4 pack/unpack, group-wise, nf4 table, mx scales."""
from _common import *
import triton, triton.language as tl
from triton.language.extra import libdevice

fp8 = torch.float8_e4m3fn


@triton.jit
def quant_int8_rowwise(x_ptr, q_ptr, s_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + o, mask=o < N, other=0.0).to(tl.float32)
    amax = tl.maximum(tl.max(tl.abs(x), 0), 1e-10)
    s = amax / 127.0
    q = libdevice.round(x / s).to(tl.int8)
    tl.store(q_ptr + row * N + o, q, mask=o < N)
    tl.store(s_ptr + row, s)


@case((8192, 4096), (4096, 14336), (30000, 1000))
def int8_rowwise(m, n):
    x = randn(m, n)
    q, s = torch.empty(m, n, device=DEV, dtype=torch.int8), torch.empty(m, device=DEV, dtype=f32)
    quant_int8_rowwise[(m,)](x, q, s, n, triton.next_power_of_2(n), num_warps=8)


@triton.jit
def act_quant_fp8_block(x_ptr, y_ptr, s_ptr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offs).to(tl.float32)
    s = tl.max(tl.abs(x)) / 448.
    y = x / s
    y = y.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + offs, y)
    tl.store(s_ptr + pid, s)


@triton.jit
def weight_dequant_fp8_block(x_ptr, s_ptr, y_ptr, M, N, BLOCK_SIZE: tl.constexpr):
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


@case((4096, 7168), (8192, 2048))
def fp8_block(m, n):
    x = randn(m, n)
    y = torch.empty(m, n, device=DEV, dtype=fp8)
    s = torch.empty(m, n // 128, device=DEV, dtype=f32)
    act_quant_fp8_block[(m * n // 128,)](x, y, s, 128)
    weight_dequant_fp8_block[(triton.cdiv(m, 128), triton.cdiv(n, 128))](y, s, x, m, n, 128)


@triton.jit
def group_quant_fp8_colmajor_scales(y_ptr, y_stride, N, yq_ptr, ys_ptr, ys_col_stride, eps, fp8_min, fp8_max, UE8M0: tl.constexpr, GROUP: tl.constexpr, PER: tl.constexpr):
    # silu(gate) * up, then fp8 in groups; scales transposed for the gemm that follows
    row = tl.program_id(0).to(tl.int64)
    g0 = tl.program_id(1) * PER
    c = g0 * GROUP + tl.arange(0, PER * GROUP)
    m = c < N
    a = tl.load(y_ptr + row * y_stride + c, mask=m, other=0.0).to(tl.float32)
    b = tl.load(y_ptr + row * y_stride + N + c, mask=m, other=0.0).to(tl.float32)
    v = tl.reshape(a / (1 + tl.exp(-a)) * b, (PER, GROUP))
    amax = tl.maximum(tl.max(tl.abs(v), axis=1), eps)
    s = amax / fp8_max
    if UE8M0:
        s = tl.exp2(tl.ceil(tl.log2(s)))
    q = tl.clamp(v / s[:, None], fp8_min, fp8_max).to(yq_ptr.dtype.element_ty)
    tl.store(yq_ptr + row * N + c, tl.reshape(q, (PER * GROUP,)), mask=m)
    g = g0 + tl.arange(0, PER)
    tl.store(ys_ptr + g * ys_col_stride + row, s, mask=g * GROUP < N)


@case((8192, 4096, False), (4096, 7168, True))
def silu_mul_group_fp8(m, n, ue):
    y = randn(m, 2 * n)
    q = torch.empty(m, n, device=DEV, dtype=fp8)
    s = torch.empty(n // 128, m, device=DEV, dtype=f32)
    group_quant_fp8_colmajor_scales[(m, triton.cdiv(n, 1024))](y, y.stride(0), n, q, s, s.stride(0), 1e-10, -448.0, 448.0, ue, 128, 8)


@triton.jit
def pack_int4_kernel(x_ptr, q_ptr, s_ptr, z_ptr, K, N, GROUP: tl.constexpr, BN: tl.constexpr):
    # (K, N) weights -> (K // 8, N) int32, asymmetrical, groups along K
    g = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = g * GROUP + tl.arange(0, GROUP)
    x = tl.load(x_ptr + k[:, None] * N + n[None, :], mask=(n < N)[None, :], other=0.0).to(tl.float32)
    lo = tl.min(x, 0)
    hi = tl.max(x, 0)
    s = tl.maximum((hi - lo) / 15.0, 1e-8)
    z = tl.floor(-lo / s + 0.5)
    q = tl.clamp(tl.floor(x / s[None, :] + 0.5) + z[None, :], 0.0, 15.0).to(tl.int32)
    q = tl.reshape(q, (GROUP // 8, 8, BN))
    sh = (tl.arange(0, 8) * 4)[None, :, None]
    packed = tl.sum(q << sh, axis=1)
    kk = g * (GROUP // 8) + tl.arange(0, GROUP // 8)
    tl.store(q_ptr + kk[:, None] * N + n[None, :], packed, mask=(n < N)[None, :])
    tl.store(s_ptr + g * N + n, s.to(tl.float16), mask=n < N)
    tl.store(z_ptr + g * N + n, z.to(tl.int8), mask=n < N)


@triton.jit
def unpack_int4_kernel(q_ptr, s_ptr, z_ptr, y_ptr, K, N, GROUP: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = (k < K)[:, None] & (n < N)[None, :]
    w = tl.load(q_ptr + (k[:, None] // 8) * N + n[None, :], mask=m, other=0)
    w = (w >> ((k[:, None] % 8) * 4)) & 0xF
    s = tl.load(s_ptr + (k[:, None] // GROUP) * N + n[None, :], mask=m, other=0.0)
    z = tl.load(z_ptr + (k[:, None] // GROUP) * N + n[None, :], mask=m, other=0)
    tl.store(y_ptr + k[:, None] * N + n[None, :], (w - z).to(tl.float16) * s, mask=m)


@case((4096, 11008, 128), (8192, 8192, 64))
def int4_pack_unpack(k, n, g):
    x = randn(k, n, dtype=f16)
    q = torch.empty(k // 8, n, device=DEV, dtype=i32)
    s = torch.empty(k // g, n, device=DEV, dtype=f16)
    z = torch.empty(k // g, n, device=DEV, dtype=torch.int8)
    pack_int4_kernel[(k // g, triton.cdiv(n, 64))](x, q, s, z, k, n, g, 64)
    unpack_int4_kernel[(triton.cdiv(n, 64), triton.cdiv(k, 32))](q, s, z, x, k, n, g, 32, 64)


@triton.jit
def nf4_dequant_kernel(q_ptr, absmax_ptr, code_ptr, y_ptr, n_bytes, QB: tl.constexpr, BLOCK: tl.constexpr):
    # two 4-bit codes a byte, high nibble first
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n_bytes
    b = tl.load(q_ptr + o, mask=m, other=0)
    am = tl.load(absmax_ptr + (o * 2) // QB, mask=m, other=0.0)
    hi = tl.load(code_ptr + (b >> 4)) * am
    lo = tl.load(code_ptr + (b & 0xF)) * am
    out = tl.interleave(hi, lo)
    oo = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(y_ptr + oo, out.to(tl.bfloat16), mask=oo < n_bytes * 2)


@case((4096 * 14336, 64), (8192 * 3072 + 2, 128))
def nf4_dequant(n, qb):
    q = randint(0, 256, n // 2, dtype=torch.uint8)
    am, code = rand(n // qb + 1), rand(16, lo=-1.0)
    y = torch.empty(n, device=DEV, dtype=bf16)
    nf4_dequant_kernel[(triton.cdiv(n // 2, 1024),)](q, am, code, y, n // 2, qb, 1024)


@triton.jit
def amax_tensor_kernel(x_ptr, amax_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0).to(tl.float32)
    tl.atomic_max(amax_ptr, tl.max(tl.abs(x)))


@triton.jit
def cast_transpose_fp8_kernel(x_ptr, amax_ptr, q_ptr, qt_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    s = 448.0 / tl.maximum(tl.load(amax_ptr), 1e-12)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = (m < M)[:, None] & (n < N)[None, :]
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=ok, other=0.0).to(tl.float32)
    q = (x * s).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + m[:, None] * N + n[None, :], q, mask=ok)
    tl.store(qt_ptr + n[:, None] * M + m[None, :], tl.trans(q), mask=(n < N)[:, None] & (m < M)[None, :])


@case((8192, 8192), (4096, 11008))
def cast_transpose_fp8(m, n):
    x, a = randn(m, n), zeros(1, dtype=f32)
    q, qt = torch.empty(m, n, device=DEV, dtype=fp8), torch.empty(n, m, device=DEV, dtype=fp8)
    amax_tensor_kernel[(triton.cdiv(m * n, 8192),)](x, a, m * n, 8192, num_warps=8)
    cast_transpose_fp8_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, a, q, qt, m, n, 64, 64)


@triton.jit
def int8_dequant_bias_res(acc_ptr, rs_ptr, cs_ptr, bias_ptr, res_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # int32 accumulators of an int8 matmul, scales of rows and columns
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    r = (pid // nn) * BM + tl.arange(0, BM)
    c = (pid % nn) * BN + tl.arange(0, BN)
    m = (r[:, None] < M) & (c[None, :] < N)
    a = tl.load(acc_ptr + r[:, None] * N + c[None, :], mask=m, other=0).to(tl.float32)
    rs = tl.load(rs_ptr + r, mask=r < M, other=0.0)
    cs = tl.load(cs_ptr + c, mask=c < N, other=0.0)
    y = a * rs[:, None] * cs[None, :] + tl.load(bias_ptr + c, mask=c < N, other=0.0)[None, :]
    y += tl.load(res_ptr + r[:, None] * N + c[None, :], mask=m, other=0.0)
    tl.store(y_ptr + r[:, None] * N + c[None, :], y, mask=m)


@case((8192, 4096), (2000, 12000))
def int8_dequant(m, n):
    a = randint(-100000, 100000, m, n, dtype=i32)
    rs, cs, b, r = rand(m), rand(n), randn(n, dtype=f16), randn(m, n, dtype=f16)
    y = torch.empty_like(r)
    int8_dequant_bias_res[(triton.cdiv(m, 32) * triton.cdiv(n, 128),)](a, rs, cs, b, r, y, m, n, 32, 128)


@triton.jit
def kv_cache_int8_write(k_ptr, cache_ptr, scale_ptr, slot_ptr, H, D: tl.constexpr, PB: tl.constexpr):
    # one (token, head) a program, scattered into pages of the cache
    t = tl.program_id(0)
    h = tl.program_id(1)
    slot = tl.load(slot_ptr + t)
    if slot < 0:
        return
    d = tl.arange(0, D)
    x = tl.load(k_ptr + (t * H + h) * D + d).to(tl.float32)
    s = tl.max(tl.abs(x)) / 127.0 + 1e-9
    page = slot // PB
    pos = slot % PB
    tl.store(cache_ptr + ((page * H + h) * PB + pos) * D + d, (x / s).to(tl.int8))
    tl.store(scale_ptr + (page * H + h) * PB + pos, s)


@case((16384, 8, 128), (8192, 32, 64))
def kv_cache_int8(t, h, d):
    k = randn(t, h, d)
    cache, sc = zeros(4096, h, 16, d, dtype=torch.int8), zeros(4096, h, 16, dtype=f32)
    slot = randint(0, 4096 * 16, t)
    kv_cache_int8_write[(t, h)](k, cache, sc, slot, h, d, 16, num_warps=1)

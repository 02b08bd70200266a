"""Grouped products: arrays of pointers, offsets of sorted tokens (MoE), per-token LoRA (shrink/expand), fused base + LoRA, dequantised weights (int8, int4, block fp8)."""
from _common import *
import triton, triton.language as tl


@triton.jit
def grouped_gemm_ptrs(ptr_a, ptr_b, ptr_c, sizes, lds, group_size,
                      NUM_SM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile_idx = tl.program_id(0)
    last_end = 0
    for g in range(group_size):
        gm = tl.load(sizes + g * 3)
        gn = tl.load(sizes + g * 3 + 1)
        gk = tl.load(sizes + g * 3 + 2)
        num_m = tl.cdiv(gm, BM)
        num_n = tl.cdiv(gn, BN)
        num_tiles = num_m * num_n
        while tile_idx >= last_end and tile_idx < last_end + num_tiles:
            lda = tl.load(lds + g * 3)
            ldb = tl.load(lds + g * 3 + 1)
            ldc = tl.load(lds + g * 3 + 2)
            a = tl.load(ptr_a + g).to(tl.pointer_type(tl.float16))
            b = tl.load(ptr_b + g).to(tl.pointer_type(tl.float16))
            c = tl.load(ptr_c + g).to(tl.pointer_type(tl.float16))
            t = tile_idx - last_end
            rm = (t // num_n) * BM + tl.arange(0, BM)
            rn = (t % num_n) * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            pa = a + rm[:, None] * lda + rk[None, :]
            pb = b + rk[:, None] * ldb + rn[None, :]
            acc = tl.zeros((BM, BN), tl.float32)
            for kk in range(0, tl.cdiv(gk, BK)):
                tl.multiple_of(pa, [16, 16])
                tl.multiple_of(pb, [16, 16])
                acc += tl.dot(tl.load(pa), tl.load(pb))
                pa += BK
                pb += BK * ldb
            tl.store(c + rm[:, None] * ldc + rn[None, :], acc.to(tl.float16))
            tile_idx += NUM_SM
        last_end = last_end + num_tiles


@case(8, 24)
def grouped_pointers(g):
    A, B, C, sizes, lds = [], [], [], [], []
    for i in range(g):
        m, n, k = 256 * (1 + i % 4), 1024, 512 * (1 + i % 3)
        A.append(randn(m, k, dtype=f16)); B.append(randn(k, n, dtype=f16)); C.append(torch.empty(m, n, device=DEV, dtype=f16))
        sizes += [m, n, k]
        lds += [k, n, n]
    pa, pb, pc = (torch.tensor([t.data_ptr() for t in l], device=DEV, dtype=i64) for l in (A, B, C))
    grouped_gemm_ptrs[(132,)](pa, pb, pc, torch.tensor(sizes, device=DEV, dtype=i32), torch.tensor(lds, device=DEV, dtype=i32), g,
                              132, 128, 128, 32)


@triton.jit
def moe_gemm(x_ptr, w_ptr, y_ptr, sorted_ids, expert_of_block, topk_w, num_valid, N, K,
             stride_we, stride_wn, TOPK: tl.constexpr, MUL_WEIGHT: tl.constexpr,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    tok = tl.load(sorted_ids + pid_m * BM + tl.arange(0, BM)).to(tl.int64)
    tmask = tok < num_valid
    e = tl.load(expert_of_block + pid_m).to(tl.int64)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    xp = x_ptr + (tok // TOPK)[:, None] * K + rk[None, :]
    wp = w_ptr + e * stride_we + rn[None, :] * stride_wn + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(xp, mask=tmask[:, None], other=0.0)
        w = tl.load(wp)
        acc += tl.dot(x, w)
        xp += BK
        wp += BK
    if MUL_WEIGHT:
        acc *= tl.load(topk_w + tok, mask=tmask, other=0.0)[:, None]
    tl.store(y_ptr + tok[:, None] * N + rn[None, :], acc.to(tl.bfloat16), mask=tmask[:, None])


@case((2048, 16, 2, 2048, 2048, True), (512, 64, 4, 1408, 2048, False))
def moe(t, e, topk, n, k, mulw):
    x, w = randn(t, k), randn(e, n, k)
    bm = 64
    nblk = t * topk // bm
    ids = torch.arange(t * topk, device=DEV, dtype=i32)
    exp = randint(0, e, nblk, dtype=i32)
    y = torch.empty(t * topk, n, device=DEV, dtype=bf16)
    moe_gemm[(nblk, n // 128)](x, w, y, ids, exp, rand(t * topk), t * topk, n, k, w.stride(0), w.stride(1), topk, mulw, bm, 128, 64, num_stages=4)


@triton.jit
def segment_mm(x, w, y, seg, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows seg[g]..seg[g+1] use w[g] (relational GNN, ragged)."""
    g = tl.program_id(2)
    lo = tl.load(seg + g)
    hi = tl.load(seg + g + 1)
    m0 = lo + tl.program_id(0) * BM
    if m0 >= hi:
        return
    m = m0 + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < hi) & (k[None, :] < K), other=0.0)
        b = tl.load(w + (g * K + k[:, None]) * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, allow_tf32=True)
    tl.store(y + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < hi) & (n[None, :] < N))


@case((40, 3000, 200, 200), (8, 8192, 256, 512))
def ragged(g, per, n, k):
    x, w = randn(g * per, k, dtype=f32), randn(g, k, n, dtype=f32)
    seg = torch.arange(0, g * per + 1, per, device=DEV, dtype=i32)
    y = torch.empty(g * per, n, device=DEV, dtype=f32)
    segment_mm[(triton.cdiv(per, 64), triton.cdiv(n, 64), g)](x, w, y, seg, n, k, 64, 64, 32)


@triton.jit
def bgmv_shrink(x, lora_a, out, idx, K, R: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    """One token a program: out[t, r] += sum_k x[t, k] * A[idx[t], r, k]; no tensor cores."""
    t = tl.program_id(0)
    s = tl.program_id(1)
    i = tl.load(idx + t)
    if i < 0:
        return
    r = tl.arange(0, R)
    acc = tl.zeros((R,), tl.float32)
    for k in range(s * BLOCK_K, K, BLOCK_K * SPLIT):
        c = k + tl.arange(0, BLOCK_K)
        xv = tl.load(x + t * K + c, mask=c < K, other=0.0).to(tl.float32)
        a = tl.load(lora_a + i * R * K + r[:, None] * K + c[None, :], mask=c[None, :] < K, other=0.0).to(tl.float32)
        acc += tl.sum(a * xv[None, :], axis=1)
    tl.atomic_add(out + t * R + r, acc)


@triton.jit
def bgmv_expand(h, lora_b, y, idx, N, scale, R: tl.constexpr, BLOCK_N: tl.constexpr):
    t = tl.program_id(0)
    i = tl.load(idx + t)
    if i >= 0:
        r = tl.arange(0, R)
        hv = tl.load(h + t * R + r)
        n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
        b = tl.load(lora_b + i * N * R + n[:, None] * R + r[None, :], mask=n[:, None] < N, other=0.0)
        o = tl.sum(b.to(tl.float32) * hv[None, :], 1) * scale
        prev = tl.load(y + t * N + n, mask=n < N, other=0.0)
        tl.store(y + t * N + n, prev + o.to(prev.dtype), mask=n < N)


@case((512, 4096, 4096, 16), (1024, 4096, 11008, 32))
def lora_bgmv(t, k, n, r):
    x, a, b = randn(t, k), randn(16, r, k), randn(16, n, r)
    idx = randint(-1, 16, t)
    h, y = zeros(t, r, dtype=f32), randn(t, n)
    bgmv_shrink[(t, 8)](x, a, h, idx, k, r, 256, 8)
    bgmv_expand[(t, triton.cdiv(n, 256))](h, b, y, idx, n, 0.5, r, 256)


@triton.jit
def linear_lora_fused(X, W, LA, LB, Y, M, N, K, alpha, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Y = X W^T + alpha (X A^T) B^T in one pass over K."""
    pm = tl.program_id(1)
    pn = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rr = tl.arange(0, R)
    acc = tl.zeros((BM, BN), tl.float32)
    low = tl.zeros((BM, R), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(X + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(W + rn[None, :] * K + rk[:, None])
        la = tl.load(LA + rr[None, :] * K + rk[:, None])
        acc = tl.dot(x, w, acc)
        low = tl.dot(x, la, low)
    lb = tl.load(LB + rn[None, :] * R + rr[:, None])
    acc += alpha * tl.dot(low.to(lb.dtype), lb)
    tl.store(Y + rm[:, None] * N + rn[None, :], acc.to(Y.dtype.element_ty), mask=rm[:, None] < M)


@case((4096, 4096, 4096, 16), (1000, 11008, 4096, 64))
def lora_fused(m, n, k, r):
    x, w, la, lb = randn(m, k), randn(n, k), randn(r, k), randn(n, r)
    y = torch.empty(m, n, device=DEV, dtype=bf16)
    linear_lora_fused[(n // 128, triton.cdiv(m, 128))](x, w, la, lb, y, m, n, k, 2.0, r, 128, 128, 64, num_warps=8, num_stages=3)


@triton.jit
def w4a16_gemm(a_ptr, q_ptr, s_ptr, z_ptr, c_ptr, M, N, K, GS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """GPTQ-like: q (K/8, N) int32 with eight nibbles down K, scales and zeros (K/GS, N)."""
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    om = (pid // nn) * BM + tl.arange(0, BM)
    on = (pid % nn) * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    shift = (ok % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        kk = k * BK + ok
        a = tl.load(a_ptr + om[:, None] * K + kk[None, :], mask=om[:, None] < M, other=0.)
        q = tl.load(q_ptr + (kk // 8)[:, None] * N + on[None, :])
        g = k * BK // GS
        s = tl.load(s_ptr + g * N + on)
        z = tl.load(z_ptr + g * N + on)
        b = ((q >> shift[:, None]) & 0xF).to(tl.float16)
        b = (b - z[None, :]) * s[None, :]
        acc += tl.dot(a, b)
    tl.store(c_ptr + om[:, None] * N + on[None, :], acc.to(tl.float16), mask=om[:, None] < M)


@case((16, 4096, 4096), (128, 11008, 4096))
def w4a16(m, n, k):
    a = randn(m, k, dtype=f16)
    q = randint(-2**31, 2**31 - 1, k // 8, n, dtype=i32)
    s, z = rand(k // 128, n, dtype=f16), rand(k // 128, n, lo=0, hi=15, dtype=f16)
    c = torch.empty(m, n, device=DEV, dtype=f16)
    bm = min(64, m)
    w4a16_gemm[(triton.cdiv(m, bm) * (n // 64),)](a, q, s, z, c, m, n, k, 128, bm, 64, 64, num_warps=4, num_stages=3)


@triton.jit
def fp8_block_gemm(a_ptr, b_ptr, as_ptr, bs_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """fp8 e4m3 with 1x128 scales of A and 128x128 scales of B (N, K)."""
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    kb = K // BK
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(kb):
        rk = k * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None])
        sa = tl.load(as_ptr + rm * kb + k, mask=rm < M, other=0.0)
        sb = tl.load(bs_ptr + (rn // 128) * kb + k)
        acc += tl.dot(a, b) * sa[:, None] * sb[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16), mask=rm[:, None] < M)


@case((4096, 4096, 4096), (100, 7168, 2048))
def fp8_block(m, n, k):
    a, b = randn(m, k, dtype=f32).to(torch.float8_e4m3fn), randn(n, k, dtype=f32).to(torch.float8_e4m3fn)
    sa, sb = rand(m, k // 128), rand(n // 128, k // 128)
    c = torch.empty(m, n, device=DEV, dtype=bf16)
    fp8_block_gemm[(triton.cdiv(m, 64), n // 128)](a, b, sa, sb, c, m, n, k, 64, 128, 128, num_warps=4, num_stages=3)


@triton.jit
def w8a16_gemv(x, qw, scale, y, N, K, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        w = tl.load(qw + n[:, None] * K + k[None, :])
        v = tl.load(x + k)
        acc += tl.sum(w.to(tl.float32) * v.to(tl.float32)[None, :], axis=1)
    tl.store(y + n, (acc * tl.load(scale + n)).to(y.dtype.element_ty))


@case((11008, 4096), (4096, 14336))
def w8a16(n, k):
    x, q, s = randn(k), randint(-127, 127, n, k, dtype=torch.int8), rand(n)
    y = torch.empty(n, device=DEV, dtype=bf16)
    w8a16_gemv[(n // 16,)](x, q, s, y, n, k, 16, 512, num_warps=4)

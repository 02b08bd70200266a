"""Optimizers and training utilities: muon products, lion, adafactor, 8-bit states, clipping norms, ema, stochastic rounding."""
from _common import *
import triton, triton.language as tl


# ---------------------------------------------------------------- muon: X @ X^T (symmetric), and b*A + c*A@A, upper tiles mirrored
@triton.jit
def xxt_kernel(X, C, M, K, stride_xm, stride_xk, stride_c, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    if i > j:
        return
    ri = i * BLOCK + tl.arange(0, BLOCK)
    rj = j * BLOCK + tl.arange(0, BLOCK)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    p = X + ri[:, None] * stride_xm + rk[None, :] * stride_xk
    q = X + rj[:, None] * stride_xm + rk[None, :] * stride_xk
    for k in range(0, K, BLOCK_K):
        a = tl.load(p, mask=(ri[:, None] < M) & (rk[None, :] < K - k), other=0.0)
        b = tl.load(q, mask=(rj[:, None] < M) & (rk[None, :] < K - k), other=0.0)
        acc = tl.dot(a, b.T, acc)
        p += BLOCK_K * stride_xk
        q += BLOCK_K * stride_xk
    out = acc.to(C.dtype.element_ty)
    mask = (ri[:, None] < M) & (rj[None, :] < M)
    tl.store(C + ri[:, None] * stride_c + rj[None, :], out, mask=mask)
    if i < j:
        tl.store(C + rj[:, None] * stride_c + ri[None, :], out.T, mask=(rj[:, None] < M) & (ri[None, :] < M))


@triton.jit
def ba_plus_caa_kernel(A, C, M, stride, alpha, beta, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    gm = tl.cdiv(M, BM)
    gn = tl.cdiv(M, BN)
    width = GROUP * gn
    gid = pid // width
    gsize = min(gm - gid * GROUP, GROUP)
    pm = gid * GROUP + (pid % width) % gsize
    pn = (pid % width) // gsize
    a_bp = tl.make_block_ptr(A, (M, M), (stride, 1), (pm * BM, 0), (BM, BK), (1, 0))
    b_bp = tl.make_block_ptr(A, (M, M), (stride, 1), (0, pn * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, M, BK):
        acc += tl.dot(tl.load(a_bp, boundary_check=(0, 1), padding_option="zero"), tl.load(b_bp, boundary_check=(0, 1), padding_option="zero"))
        a_bp = tl.advance(a_bp, (0, BK))
        b_bp = tl.advance(b_bp, (BK, 0))
    own = tl.make_block_ptr(A, (M, M), (stride, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    acc = acc * alpha + tl.load(own, boundary_check=(0, 1)).to(tl.float32) * beta
    tl.store(tl.make_block_ptr(C, (M, M), (stride, 1), (pm * BM, pn * BN), (BM, BN), (1, 0)), acc.to(C.dtype.element_ty), boundary_check=(0, 1))


@case((2048, 8192), (768, 3072), (4096, 4096))
def muon_newton_schulz(m, k):
    x = randn(m, k, scale=0.01)
    a = torch.empty(m, m, device=DEV, dtype=bf16)
    b = torch.empty_like(a)
    t = triton.cdiv(m, 128)
    xxt_kernel[(t, t)](x, a, m, k, x.stride(0), x.stride(1), a.stride(0), BLOCK=128, BLOCK_K=64, num_warps=8, num_stages=3)
    ba_plus_caa_kernel[(t * triton.cdiv(m, 256),)](a, b, m, m, 2.0315, -4.775, BM=128, BN=256, BK=64, GROUP=8, num_warps=8, num_stages=3)


# ---------------------------------------------------------------- lion, flat, with autotune
@triton.autotune(configs=[triton.Config({"BLOCK_SIZE": 128}, num_warps=4), triton.Config({"BLOCK_SIZE": 1024}, num_warps=8)], key=["n_elements"],
                 restore_value=["p_ptr", "exp_avg_ptr"])
@triton.jit
def lion_update(p_ptr, grad_ptr, exp_avg_ptr, lr, wd, beta1, beta2, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    offset_p = p_ptr + offsets
    p = tl.load(offset_p, mask=mask)
    grad = tl.load(grad_ptr + offsets, mask=mask)
    exp_avg = tl.load(exp_avg_ptr + offsets, mask=mask)
    p = p * (1 - lr * wd)
    diff = exp_avg - grad
    update = diff * beta1 + grad
    can_update = update != 0
    update_sign = tl.where(update > 0, -lr, lr)
    p = p + update_sign * can_update
    exp_avg = diff * beta2 + grad
    tl.store(offset_p, p, mask=mask)
    tl.store(exp_avg_ptr + offsets, exp_avg, mask=mask)


@case((40_000_000,), (4096 * 1000 + 3,))
def lion(n):
    p, g, m = randn(n, dtype=f32), randn(n, dtype=f32), randn(n, dtype=f32)
    lion_update[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](p, g, m, 1e-4, 0.1, 0.9, 0.99, n)


# ---------------------------------------------------------------- adafactor: row and column means of g^2, then the update with rms clip
@triton.jit
def adafactor_rowcol(g_ptr, row_ptr, col_ptr, R, C, beta2, eps, BR: tl.constexpr, BC: tl.constexpr):
    pr = tl.program_id(0)
    r = pr * BR + tl.arange(0, BR)
    rm = r < R
    rows = tl.zeros((BR,), tl.float32)
    for c0 in range(0, C, BC):
        c = c0 + tl.arange(0, BC)
        m = rm[:, None] & (c[None, :] < C)
        g = tl.load(g_ptr + r[:, None] * C + c[None, :], mask=m, other=0.0).to(tl.float32)
        g2 = tl.where(m, g * g + eps, 0.0)
        rows += tl.sum(g2, axis=1)
        tl.atomic_add(col_ptr + c, tl.sum(g2, axis=0) * ((1 - beta2) / R), mask=c < C)
    old = tl.load(row_ptr + r, mask=rm)
    tl.store(row_ptr + r, old * beta2 + rows / C * (1 - beta2), mask=rm)


@triton.jit
def adafactor_apply(p_ptr, g_ptr, row_ptr, col_ptr, mean_row_ptr, sumsq_ptr, R, C, lr, wd, WRITE: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    m = c < C
    fr = tl.load(row_ptr + r) / tl.load(mean_row_ptr)
    fc = tl.load(col_ptr + c, mask=m, other=1.0)
    g = tl.load(g_ptr + r * C + c, mask=m, other=0.0).to(tl.float32)
    u = g * tl.math.rsqrt(fr * fc)
    if WRITE:
        rms = tl.sqrt(tl.load(sumsq_ptr) / (R * C))
        u = u / tl.maximum(1.0, rms)
        p = tl.load(p_ptr + r * C + c, mask=m, other=0.0).to(tl.float32)
        tl.store(p_ptr + r * C + c, p * (1.0 - lr * wd) - lr * u, mask=m)
    else:
        tl.atomic_add(sumsq_ptr, tl.sum(u * u))


@case((4096, 11008), (32000, 1600))
def adafactor(r, c):
    p, g = randn(r, c), randn(r, c)
    row, col = rand(r, lo=0.5), rand(c, lo=0.5)
    mean, ss = rand(1, lo=0.5), zeros(1, dtype=f32)
    adafactor_rowcol[(triton.cdiv(r, 16),)](g, row, col, r, c, 0.999, 1e-30, BR=16, BC=128)
    adafactor_apply[(r, triton.cdiv(c, 2048))](p, g, row, col, mean, ss, r, c, 1e-3, 0.01, WRITE=False, BC=2048)
    adafactor_apply[(r, triton.cdiv(c, 2048))](p, g, row, col, mean, ss, r, c, 1e-3, 0.01, WRITE=True, BC=2048)


# ---------------------------------------------------------------- adamw with 8-bit states: signed m linear, v as sqrt, absmax a block; also by a code book
@triton.jit
def adamw8bit_linear(p_ptr, g_ptr, m_ptr, v_ptr, ms_ptr, vs_ptr, lr, b1, b2, eps, wd, bc1, bc2, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    o = pid * BLOCK + tl.arange(0, BLOCK)
    k = o < n
    g = tl.load(g_ptr + o, mask=k, other=0.0).to(tl.float32)
    p = tl.load(p_ptr + o, mask=k, other=0.0).to(tl.float32)
    ms = tl.load(ms_ptr + pid)
    vs = tl.load(vs_ptr + pid)
    m = tl.load(m_ptr + o, mask=k, other=0).to(tl.float32) * ms
    sv = tl.load(v_ptr + o, mask=k, other=0).to(tl.float32) * vs
    v = sv * sv
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    upd = (m / bc1) / (tl.sqrt(v / bc2) + eps)
    p = p - lr * (upd + wd * p)
    tl.store(p_ptr + o, p.to(p_ptr.dtype.element_ty), mask=k)
    ms = tl.max(tl.abs(m), 0) / 127.0 + 1e-20
    rv = tl.sqrt(v)
    vs = tl.max(rv, 0) / 255.0 + 1e-20
    qm = tl.extra.cuda.libdevice.rint(m / ms).to(tl.int8)
    qv = (rv / vs + 0.5).to(tl.int32).to(tl.uint8)
    tl.store(m_ptr + o, qm, mask=k)
    tl.store(v_ptr + o, qv, mask=k)
    tl.store(ms_ptr + pid, ms)
    tl.store(vs_ptr + pid, vs)


@triton.jit
def _nearest_code(x, qmap_ptr, LEVELS: tl.constexpr):
    # binary search in the sorted code book of 2 ** LEVELS values
    lo = tl.zeros_like(x).to(tl.int32)
    for b in tl.static_range(LEVELS):
        step = 1 << (LEVELS - 1 - b)
        c = tl.load(qmap_ptr + lo + step)
        lo = tl.where(x >= c, lo + step, lo)
    hi = tl.minimum(lo + 1, (1 << LEVELS) - 1)
    a = tl.load(qmap_ptr + lo)
    b2 = tl.load(qmap_ptr + hi)
    return tl.where(b2 - x < x - a, hi, lo)


@triton.jit
def adam8bit_codebook(p_ptr, g_ptr, m_ptr, v_ptr, am_ptr, av_ptr, qs_ptr, qu_ptr, lr, b1, b2, eps, n, NB: tl.constexpr, BS: tl.constexpr):
    blk = tl.program_id(0) * NB + tl.arange(0, NB)
    o = blk[:, None] * BS + tl.arange(0, BS)[None, :]
    k = o < n
    g = tl.load(g_ptr + o, mask=k, other=0.0).to(tl.float32)
    m = tl.load(qs_ptr + tl.load(m_ptr + o, mask=k, other=0).to(tl.int32)) * tl.load(am_ptr + blk)[:, None]
    v = tl.load(qu_ptr + tl.load(v_ptr + o, mask=k, other=0).to(tl.int32)) * tl.load(av_ptr + blk)[:, None]
    m = m * b1 + (1 - b1) * g
    v = v * b2 + (1 - b2) * g * g
    am = tl.maximum(tl.max(tl.abs(m), 1), 1e-20)
    av = tl.maximum(tl.max(v, 1), 1e-20)
    p = tl.load(p_ptr + o, mask=k, other=0.0)
    tl.store(p_ptr + o, (p.to(tl.float32) - lr * m / (tl.sqrt(v) + eps)).to(p_ptr.dtype.element_ty), mask=k)
    tl.store(m_ptr + o, _nearest_code(m / am[:, None], qs_ptr, 8).to(tl.uint8), mask=k)
    tl.store(v_ptr + o, _nearest_code(v / av[:, None], qu_ptr, 8).to(tl.uint8), mask=k)
    tl.store(am_ptr + blk, am)
    tl.store(av_ptr + blk, av)


@case((4096 * 4096,), (50257 * 768,))
def adamw_8bit(n):
    nb = triton.cdiv(n, 256)
    p, g = randn(n), randn(n)
    m = randint(-127, 128, n, dtype=torch.int8)
    v = randint(0, 256, n, dtype=torch.uint8)
    adamw8bit_linear[(nb,)](p, g, m, v, rand(nb), rand(nb), 1e-3, 0.9, 0.999, 1e-8, 0.1, 0.5, 0.5, n, BLOCK=256, num_warps=2)


@case((4096 * 4096,))
def adam_8bit_codebook(n):
    nb = n // 256
    p, g = randn(n, dtype=f32), randn(n, dtype=f32)
    m = randint(0, 256, n, dtype=torch.uint8)
    v = randint(0, 256, n, dtype=torch.uint8)
    qs = torch.linspace(-1, 1, 256, device=DEV, dtype=f32)
    qu = torch.linspace(0, 1, 256, device=DEV, dtype=f32)
    adam8bit_codebook[(nb // 8,)](p, g, m, v, rand(nb), rand(nb), qs, qu, 1e-3, 0.9, 0.999, 1e-8, n, NB=8, BS=256, num_warps=8)


# ---------------------------------------------------------------- clipping: sum of squares (grid-stride), max, then scale in place with the nan skip
@triton.jit
def grad_norm_partial(g_ptr, out_ptr, inf_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    bad = tl.zeros((BLOCK,), tl.int32)
    step = tl.num_programs(0) * BLOCK
    i = tl.program_id(0) * BLOCK
    while i < n:
        o = i + tl.arange(0, BLOCK)
        g = tl.load(g_ptr + o, mask=o < n, other=0.0).to(tl.float32)
        acc += g * g
        bad |= ((g != g) | (tl.abs(g) == float("inf"))).to(tl.int32)
        i += step
    tl.atomic_add(out_ptr, tl.sum(acc, 0))
    tl.atomic_max(inf_ptr, tl.max(bad, 0))


@triton.jit
def grad_clip_scale(g_ptr, sumsq_ptr, max_norm, n, BLOCK: tl.constexpr):
    o = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    norm = tl.sqrt(tl.load(sumsq_ptr))
    coef = tl.minimum(max_norm / (norm + 1e-6), 1.0)
    g = tl.load(g_ptr + o, mask=o < n)
    tl.store(g_ptr + o, (g * coef).to(g_ptr.dtype.element_ty), mask=o < n)


@case((100_000_000,), (7_000_003,))
def grad_clip(n):
    g = randn(n)
    s, bad = zeros(1, dtype=f32), zeros(1, dtype=i32)
    grad_norm_partial[(132 * 4,)](g, s, bad, n, BLOCK=2048, num_warps=8)
    grad_clip_scale[(triton.cdiv(n, 4096),)](g, s, 1.0, n, BLOCK=4096, num_warps=8)


# ---------------------------------------------------------------- ema: fp32 shadow of bf16 weights, the tensors by a table of pointers
@triton.jit
def ema_multi_tensor(ptrs, shadow_ptrs, sizes, decay, BLOCK: tl.constexpr):
    t = tl.program_id(1)
    n = tl.load(sizes + t)
    base = tl.program_id(0) * BLOCK
    if base >= n:
        return
    p = tl.load(ptrs + t).to(tl.pointer_type(tl.bfloat16))
    s = tl.load(shadow_ptrs + t).to(tl.pointer_type(tl.float32))
    o = base + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(p + o, mask=m).to(tl.float32)
    y = tl.load(s + o, mask=m)
    tl.store(s + o, y + (1.0 - decay) * (x - y), mask=m)


@case((64, 1_000_000))
def ema(count, n):
    ps = [randn(n) for _ in range(count)]
    ss = [randn(n, dtype=f32) for _ in range(count)]
    tp, tsh = tensor([p.data_ptr() for p in ps], i64), tensor([s.data_ptr() for s in ss], i64)
    ema_multi_tensor[(triton.cdiv(n, 1024), count)](tp, tsh, tensor([n] * count), 0.999, BLOCK=1024)


# ---------------------------------------------------------------- sgd with momentum and stochastic rounding of bf16
@triton.jit
def _stochastic_bf16(x, seed, offs):
    r = tl.randint(seed, offs)
    bits = x.to(tl.uint32, bitcast=True)
    bits = (bits + (r.to(tl.uint32, bitcast=True) & 0xFFFF)) & 0xFFFF0000
    return bits.to(tl.float32, bitcast=True).to(tl.bfloat16)


@triton.jit
def sgd_stochastic(p_ptr, g_ptr, b_ptr, lr, mom, seed, n, NESTEROV: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    p = tl.load(p_ptr + o, mask=m, other=0.0).to(tl.float32)
    g = tl.load(g_ptr + o, mask=m, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + o, mask=m, other=0.0).to(tl.float32) * mom + g
    d = g + mom * b if NESTEROV else b
    tl.store(b_ptr + o, _stochastic_bf16(b, seed + 1, o), mask=m)
    tl.store(p_ptr + o, _stochastic_bf16(p - lr * d, seed, o), mask=m)


@case((64_000_000,))
def sgd_sr(n):
    p, g, b = randn(n), randn(n), randn(n)
    sgd_stochastic[(triton.cdiv(n, 1024),)](p, g, b, 1e-2, 0.9, 1234, n, NESTEROV=True, BLOCK=1024)

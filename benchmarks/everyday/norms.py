"""Normalisations: layer, RMS, batch, instance, group, L1/L2, Frobenius; forward and backward, contiguous and strided dims."""
from _common import *
import triton, triton.language as tl


@triton.jit
def layer_norm_two_pass(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _mean = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        a = tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
        _mean += a
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.)
        _var += x * x
    var = tl.sum(_var, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.).to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@case((8192, 4096, 1024), (4096, 12288, 2048), (16384, 1000, 1024))
def layer_norm_fwd(m, n, bs):
    x, w, b = randn(m, n), randn(n), randn(n)
    y = torch.empty_like(x)
    mean = torch.empty(m, device=DEV, dtype=f32)
    rstd = torch.empty(m, device=DEV, dtype=f32)
    layer_norm_two_pass[(m,)](x, y, w, b, mean, rstd, x.stride(0), n, 1e-5, BLOCK_SIZE=bs, num_warps=8)


@triton.jit
def layer_norm_bwd_dx_locks(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = tl.where(mask, xhat, 0.)
    wdy = tl.where(mask, wdy, 0.)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(DX + cols, dx, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def layer_norm_bwd_dwdb(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    pid = tl.program_id(0)
    cols = pid * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    dw = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_SIZE_M):
        rows = i + tl.arange(0, BLOCK_SIZE_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + offs, mask=mask, other=0.)
        db += tl.load(DB + offs, mask=mask, other=0.)
    tl.store(FINAL_DW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(FINAL_DB + cols, tl.sum(db, axis=0), mask=cols < N)


@case((8192, 4096), (16384, 1536))
def layer_norm_bwd(m, n):
    x, dy, w = randn(m, n), randn(m, n), randn(n)
    g = 256
    lock = zeros(2 * g, dtype=i32)
    mean, rstd = randn(m, dtype=f32), rand(m)
    dwp, dbp = zeros(g, n, dtype=f32), zeros(g, n, dtype=f32)
    dx = torch.empty_like(x)
    dw, db = torch.empty_like(w), torch.empty_like(w)
    layer_norm_bwd_dx_locks[(m,)](dx, dy, dwp, dbp, x, w, mean, rstd, lock, x.stride(0), n, GROUP_SIZE_M=g, BLOCK_SIZE_N=triton.next_power_of_2(n), num_warps=8)
    layer_norm_bwd_dwdb[(triton.cdiv(n, 128),)](dwp, dbp, dw, db, g, n, 32, 128)


@triton.jit
def rms_norm_residual_kernel(x_ptr, res_ptr, w_ptr, y_ptr, N: tl.constexpr, eps: tl.constexpr, BLOCK: tl.constexpr):
    """x += residual (written back), y = rmsnorm(x) * w."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(res_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    x = x + r
    tl.store(res_ptr + row * N + cols, x.to(tl.bfloat16), mask=mask)
    rrms = tl.rsqrt(tl.sum(x * x) / N + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    tl.store(y_ptr + row * N + cols, (x * rrms).to(tl.bfloat16) * w, mask=mask)


@case((8192, 8192), (2048, 5120), (32768, 1024))
def rms_norm_residual(m, n):
    x, r, w = randn(m, n), randn(m, n), randn(n)
    y = torch.empty_like(x)
    rms_norm_residual_kernel[(m,)](x, r, w, y, n, 1e-6, triton.next_power_of_2(n), num_warps=8)


@triton.jit
def rms_norm_bwd_sm(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr, n_rows, n_cols, rows_per_program, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    start = pid * rows_per_program
    end = tl.minimum(start + rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(start, end):
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        m = dy * w
        dx = rstd * m
        dx += rstd * (-(1 / n_cols) * rstd * rstd * tl.sum(m * x, axis=0) * x)
        dw += dy * (x * rstd)
        tl.store(dx_ptr + row * n_cols + cols, dx.to(tl.bfloat16), mask=mask)
    tl.store(dw_ptr + pid * n_cols + cols, dw, mask=mask)


@case((8192, 4096), (4096, 7168))
def rms_norm_bwd(m, n):
    x, dy, w, rstd = randn(m, n), randn(m, n), randn(n), rand(m)
    dx = torch.empty_like(x)
    dw = torch.empty(132, n, device=DEV, dtype=f32)
    rms_norm_bwd_sm[(132,)](dy, x, w, rstd, dx, dw, m, n, triton.cdiv(m, 132), triton.next_power_of_2(n), num_warps=8)


@triton.jit
def rms_norm_channels_kernel(x_ptr, y_ptr, F: tl.constexpr, HW, eps, BLOCK: tl.constexpr):
    # x: (B, F, H, W), normalised over F, a strided dim: one program a block of pixels, loop over features
    b = tl.program_id(0)
    pix = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = pix < HW
    base = b * F * HW + pix
    acc = tl.zeros([BLOCK], tl.float32)
    for f in range(F):
        v = tl.load(x_ptr + base + f * HW, mask=m, other=0.0)
        acc += v * v
    inv = 1.0 / tl.sqrt(acc / F + eps)
    for f in range(F):
        v = tl.load(x_ptr + base + f * HW, mask=m, other=0.0)
        tl.store(y_ptr + base + f * HW, v * inv, mask=m)


@case((16, 64, 256, 256), (32, 96, 128, 128))
def rms_norm_channels(b, f, h, w):
    x = randn(b, f, h, w, dtype=f32)
    y = torch.empty_like(x)
    rms_norm_channels_kernel[(b, triton.cdiv(h * w, 256))](x, y, f, h * w, 1e-5, BLOCK=256)


@triton.jit
def _welford(m1, s1, n1, m2, s2, n2):
    n = n1 + n2
    d = m2 - m1
    r = tl.where(n == 0, 0.0, n2 / n)
    return m1 + d * r, s1 + s2 + d * d * n1 * r, n


@triton.jit
def instance_norm_welford(x_ptr, y_ptr, w_ptr, b_ptr, C, HW, eps, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    c = nc % C
    base = x_ptr + nc * HW
    mean = tl.zeros([BLOCK], tl.float32)
    m2 = tl.zeros([BLOCK], tl.float32)
    cnt = tl.zeros([BLOCK], tl.float32)
    for o in range(0, HW, BLOCK):
        i = o + tl.arange(0, BLOCK)
        msk = i < HW
        x = tl.load(base + i, mask=msk, other=0.0).to(tl.float32)
        newc = cnt + tl.where(msk, 1.0, 0.0)
        d = x - mean
        nm = tl.where(msk, mean + d / newc, mean)
        m2 = tl.where(msk, m2 + d * (x - nm), m2)
        mean = nm
        cnt = newc
    mu, ss, n = tl.reduce((mean, m2, cnt), 0, _welford)
    rstd = tl.math.rsqrt(ss / n + eps)
    w = tl.load(w_ptr + c).to(tl.float32) * rstd
    b = tl.load(b_ptr + c).to(tl.float32) - mu * w
    for o in range(0, HW, BLOCK):
        i = o + tl.arange(0, BLOCK)
        x = tl.load(base + i, mask=i < HW, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(y_ptr + nc * HW + i, x * w + b, mask=i < HW)


@case((16, 64, 256, 256), (64, 128, 56, 56))
def instance_norm(n, c, h, w):
    x, g, b = randn(n, c, h, w, dtype=f16), randn(c, dtype=f16), randn(c, dtype=f16)
    y = torch.empty_like(x)
    instance_norm_welford[(n * c,)](x, y, g, b, c, h * w, 1e-5, BLOCK=2048, num_warps=8)


@triton.jit
def group_norm_silu_kernel(X, Y, Wt, Bs, C: tl.constexpr, HW: tl.constexpr, G: tl.constexpr, eps, SILU: tl.constexpr, BLOCK_HW: tl.constexpr, BLOCK_C: tl.constexpr):
    # NHWC input: group's channels contiguous, pixels strided by C
    pid = tl.program_id(0)
    n = pid // G
    g = pid % G
    CPG: tl.constexpr = C // G
    c = tl.arange(0, BLOCK_C)
    cm = c < CPG
    xb = X + n * HW * C + g * CPG
    s = tl.zeros((BLOCK_HW, BLOCK_C), tl.float32)
    s2 = tl.zeros((BLOCK_HW, BLOCK_C), tl.float32)
    for p in range(0, HW, BLOCK_HW):
        r = p + tl.arange(0, BLOCK_HW)
        m = (r[:, None] < HW) & cm[None, :]
        x = tl.load(xb + r[:, None] * C + c[None, :], mask=m, other=0.0).to(tl.float32)
        s += x
        s2 += x * x
    cnt = HW * CPG
    mean = tl.sum(tl.sum(s, 1), 0) / cnt
    var = tl.sum(tl.sum(s2, 1), 0) / cnt - mean * mean
    rstd = 1.0 / tl.sqrt(var + eps)
    w = tl.load(Wt + g * CPG + c, mask=cm, other=0.0).to(tl.float32)
    b = tl.load(Bs + g * CPG + c, mask=cm, other=0.0).to(tl.float32)
    for p in range(0, HW, BLOCK_HW):
        r = p + tl.arange(0, BLOCK_HW)
        m = (r[:, None] < HW) & cm[None, :]
        x = tl.load(xb + r[:, None] * C + c[None, :], mask=m, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * w[None, :] + b[None, :]
        if SILU:
            y = y * tl.sigmoid(y)
        tl.store(Y + n * HW * C + g * CPG + r[:, None] * C + c[None, :], y.to(Y.dtype.element_ty), mask=m)


@case((8, 320, 64, 64, True), (16, 512, 32, 32, False))
def group_norm_nhwc(n, c, h, w, silu):
    x, g, b = randn(n, h, w, c, dtype=f16), randn(c, dtype=f16), randn(c, dtype=f16)
    y = torch.empty_like(x)
    group_norm_silu_kernel[(n * 32,)](x, y, g, b, c, h * w, 32, 1e-5, silu, 128, triton.next_power_of_2(c // 32))


@triton.jit
def batch_norm_stats_atomic(x_ptr, sum_ptr, sq_ptr, N, C, HW, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    n = tl.program_id(1)
    s = 0.0
    q = 0.0
    for i in range(0, HW, BLOCK):
        o = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + (n * C + c) * HW + o, mask=o < HW, other=0.0)
        s += tl.sum(x)
        q += tl.sum(x * x)
    tl.atomic_add(sum_ptr + c, s)
    tl.atomic_add(sq_ptr + c, q)


@triton.jit
def batch_norm_apply(x_ptr, y_ptr, sum_ptr, sq_ptr, w_ptr, b_ptr, rm_ptr, rv_ptr, C, HW, cnt, momentum, eps, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    blk = tl.program_id(1)
    c = nc % C
    mean = tl.load(sum_ptr + c) / cnt
    var = tl.load(sq_ptr + c) / cnt - mean * mean
    inv = 1.0 / tl.sqrt(var + eps)
    if nc < C:
        if blk == 0:
            tl.store(rm_ptr + c, (1 - momentum) * tl.load(rm_ptr + c) + momentum * mean)
            tl.store(rv_ptr + c, (1 - momentum) * tl.load(rv_ptr + c) + momentum * var * cnt / (cnt - 1))
    o = blk * BLOCK + tl.arange(0, BLOCK)
    m = o < HW
    x = tl.load(x_ptr + nc * HW + o, mask=m)
    y = (x - mean) * inv * tl.load(w_ptr + c) + tl.load(b_ptr + c)
    tl.store(y_ptr + nc * HW + o, y, mask=m)


@case((64, 64, 112, 112), (32, 256, 64, 64))
def batch_norm_train(n, c, h, w):
    x = randn(n, c, h, w, dtype=f32)
    y = torch.empty_like(x)
    s, q, rm, rv = zeros(c, dtype=f32), zeros(c, dtype=f32), zeros(c, dtype=f32), ones(c, dtype=f32)
    g, b = ones(c, dtype=f32), zeros(c, dtype=f32)
    batch_norm_stats_atomic[(c, n)](x, s, q, n, c, h * w, BLOCK=1024)
    batch_norm_apply[(n * c, triton.cdiv(h * w, 1024))](x, y, s, q, g, b, rm, rv, c, h * w, float(n * h * w), 0.1, 1e-5, BLOCK=1024)


@triton.jit
def lp_normalize_kernel(x_ptr, y_ptr, M, N, sm, sn, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in range(0, tl.cdiv(N, BN)):
        rn = k * BN + tl.arange(0, BN)[None, :]
        x = tl.load(x_ptr + rm * sm + rn * sn, mask=(rm < M) & (rn < N), other=0.0).to(tl.float32)
        if P == 1:
            acc += tl.abs(x)
        else:
            acc += x * x
    tot = tl.sum(acc, 1)[:, None]
    if P == 2:
        tot = tl.sqrt(tot)
    tot = tl.maximum(tot, 1e-12)
    for k in range(0, tl.cdiv(N, BN)):
        rn = k * BN + tl.arange(0, BN)[None, :]
        msk = (rm < M) & (rn < N)
        x = tl.load(x_ptr + rm * sm + rn * sn, mask=msk, other=0.0)
        tl.store(y_ptr + rm * sm + rn * sn, x / tot, mask=msk)


@case((4096, 8192, 1, False), (8192, 4096, 2, True), (16384, 1536, 2, False))
def lp_normalize(m, n, p, strided):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    if strided:   # over the outer dim
        lp_normalize_kernel[(triton.cdiv(n, 32),)](x, y, n, m, 1, n, p, 32, 64, num_warps=4)
    else:
        lp_normalize_kernel[(triton.cdiv(m, 4),)](x, y, m, n, n, 1, p, 4, 512, num_warps=4)


@triton.jit
def frob_partial_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, ITERS: tl.constexpr):
    base = tl.program_id(0) * BLOCK * ITERS
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(ITERS):
        o = base + i * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + o, mask=o < n, other=0.0)
        acc += v * v
    tl.store(out_ptr + tl.program_id(0), tl.sum(acc, axis=0))


@triton.jit
def frob_scale_kernel(x_ptr, part_ptr, y_ptr, n, NP, PB: tl.constexpr, BLOCK: tl.constexpr):
    # every program sums the partials itself
    t = 0.0
    for i in range(0, NP, PB):
        o = i + tl.arange(0, PB)
        t += tl.sum(tl.load(part_ptr + o, mask=o < NP, other=0.0))
    norm = tl.sqrt(t)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    tl.store(y_ptr + o, x / norm, mask=o < n)


@case((16, 64, 256, 256),)
def frobenius_norm(b, f, h, w):
    x = randn(b, f, h, w, dtype=f32)
    y = torch.empty_like(x)
    n = x.numel()
    np_ = triton.cdiv(n, 1024 * 16)
    part = torch.empty(np_, device=DEV, dtype=f32)
    frob_partial_kernel[(np_,)](x, part, n, 1024, 16)
    frob_scale_kernel[(triton.cdiv(n, 4096),)](x, part, y, n, np_, 1024, 4096, num_warps=8)

"""Losses: mse, huber, cross entropy with smoothing, KL, hinge, cosine, triplet, focal, BCE with logits, a CTC alpha step."""
from _common import *
import triton, triton.language as tl


@triton.jit
def mse_atomic_kernel(p_ptr, t_ptr, out_ptr, n, inv_n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    d = tl.load(p_ptr + o, mask=m, other=0.0) - tl.load(t_ptr + o, mask=m, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(d * d, axis=0) * inv_n)


@case((32768, 1024), (1000, 33333))
def mse_loss(m, n):
    p, t = randn(m, n, dtype=f32), randn(m, n, dtype=f32)
    out = zeros(1, dtype=f32)
    mse_atomic_kernel[(triton.cdiv(m * n, 4096),)](p, t, out, m * n, 1.0 / (m * n), BLOCK=4096, num_warps=8)


@triton.jit
def huber_partials(pred_ptr, targ_ptr, part_ptr, grad_ptr, n, delta, SMOOTH_L1: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for s in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < n
        x = tl.load(pred_ptr + o, mask=m, other=0.0).to(tl.float32)
        y = tl.load(targ_ptr + o, mask=m, other=0.0).to(tl.float32)
        d = x - y
        a = tl.abs(d)
        if SMOOTH_L1:
            l = tl.where(a < delta, 0.5 * d * d / delta, a - 0.5 * delta)
            g = tl.where(a < delta, d / delta, tl.where(d > 0, 1.0, -1.0))
        else:
            l = tl.where(a <= delta, 0.5 * d * d, delta * (a - 0.5 * delta))
            g = tl.clamp(d, -delta, delta)
        acc += l
        tl.store(grad_ptr + o, g.to(grad_ptr.dtype.element_ty), mask=m)
    tl.store(part_ptr + pid, tl.sum(acc))


@case((32768, 2048, True), (8192, 4097, False))
def huber(m, n, s):
    p, t = randn(m, n), randn(m, n)
    g = torch.empty_like(p)
    part = torch.empty(1056, device=DEV, dtype=f32)
    huber_partials[(1056,)](p, t, part, g, m * n, 1.0, s, 1024)


@triton.jit
def cross_entropy_fused_kernel(X_ptr, X_stride, Y_ptr, loss_ptr, n_cols, n_non_ignore, ignore_index, label_smoothing: tl.constexpr, softcap, HAS_CAP: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """loss and, in place, the gradient of the logits."""
    pid = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + pid)
    X_ptr += pid * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            o = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + o, 0.0, mask=o < n_cols)
        return
    m = float("-inf")
    d = 0.0
    xy = tl.load(X_ptr + y).to(tl.float32)
    if HAS_CAP:
        xy = softcap * (2 * tl.sigmoid(2 * xy / softcap) - 1)
    xsum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        o = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + o, mask=o < n_cols, other=float("-inf")).to(tl.float32)
        if HAS_CAP:
            x = softcap * (2 * tl.sigmoid(2 * x / softcap) - 1)
            x = tl.where(o < n_cols, x, float("-inf"))
        if label_smoothing > 0:
            xsum += tl.sum(tl.where(o < n_cols, -eps * x, 0.0))
        mn = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - mn) + tl.sum(tl.exp(x - mn))
        m = mn
    lse = m + tl.log(d)
    for i in range(0, n_cols, BLOCK_SIZE):
        o = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + o, mask=o < n_cols, other=float("-inf")).to(tl.float32)
        if HAS_CAP:
            t = 2 * tl.sigmoid(2 * x / softcap) - 1
            x = softcap * t
        g = tl.exp(x - m) / d - eps
        g = tl.where(o != y, g, g - (1 - label_smoothing))
        if HAS_CAP:
            g = g * (1 - t * t)
        tl.store(X_ptr + o, (g / n_non_ignore).to(tl.bfloat16), mask=o < n_cols)
    loss = lse - xy
    if label_smoothing > 0:
        loss = loss * (1 - label_smoothing) + (xsum + label_smoothing * lse)
    tl.store(loss_ptr + pid, loss / n_non_ignore)


@case((2048, 32000, 0.0, False), (1024, 128256, 0.1, False), (512, 256000, 0.0, True))
def cross_entropy_fused(m, v, ls, cap):
    x = randn(m, v)
    y = randint(0, v, m)
    loss = torch.empty(m, device=DEV, dtype=f32)
    cross_entropy_fused_kernel[(m,)](x, x.stride(0), y, loss, v, m, -100, ls, 30.0, cap, BLOCK_SIZE=8192, num_warps=16)


@triton.jit
def cross_entropy_small_classes(x_ptr, y_ptr, loss_ptr, M, C: tl.constexpr, BM: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BC)
    ok = (r < M)[:, None] & (c < C)[None, :]
    x = tl.load(x_ptr + r[:, None] * C + c[None, :], mask=ok, other=-float("inf"))
    y = tl.load(y_ptr + r, mask=r < M, other=0)
    mx = tl.max(x, 1)
    lse = tl.log(tl.sum(tl.exp(x - mx[:, None]), 1)) + mx
    picked = tl.sum(tl.where(c[None, :] == y[:, None], x, 0.0), 1)
    tl.store(loss_ptr + r, lse - picked, mask=r < M)


@case((1000000, 10), (262144, 100))
def cross_entropy_small(m, c):
    x = randn(m, c, dtype=f32)
    y = randint(0, c, m)
    loss = torch.empty(m, device=DEV, dtype=f32)
    cross_entropy_small_classes[(triton.cdiv(m, 64),)](x, y, loss, m, c, 64, triton.next_power_of_2(c))


@triton.jit
def kl_div_2d(logp_ptr, q_ptr, out_ptr, V, LOG_TARGET: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = 0.0
    for s in range(0, V, BLOCK):
        o = s + tl.arange(0, BLOCK)
        lp = tl.load(logp_ptr + row * V + o, mask=o < V, other=0.0)
        q = tl.load(q_ptr + row * V + o, mask=o < V, other=-1e9 if LOG_TARGET else 0.0)
        if LOG_TARGET:
            acc += tl.sum(tl.exp(q) * (q - lp), axis=0)
        else:
            acc += tl.sum(tl.where(q > 0, q * (tl.log(tl.maximum(q, 1e-10)) - lp), 0.0), axis=0)
    tl.store(out_ptr + row, acc)


@case((1024, 32000, True), (8192, 8192, False))
def kl_div(m, v, log):
    lp, q = randn(m, v, dtype=f32), rand(m, v)
    out = torch.empty(m, device=DEV, dtype=f32)
    kl_div_2d[(m,)](lp, q, out, v, log, 1024)


@triton.jit
def hinge_bcast_kernel(p_ptr, t_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    # predictions (M, N), targets (M,) of +-1
    o = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    m = o < M * N
    p = tl.load(p_ptr + o, mask=m, other=0.0)
    t = tl.load(t_ptr + o // N, mask=m, other=0.0)
    l = tl.where(m, tl.maximum(1.0 - p * t, 0.0), 0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(l))


@case((32768, 1024),)
def hinge(m, n):
    p, t = randn(m, n, dtype=f32), randn(m, dtype=f32)
    nb = triton.cdiv(m * n, 2048)
    out = torch.empty(nb, device=DEV, dtype=f32)
    hinge_bcast_kernel[(nb,)](p, t, out, m, n, BLOCK=2048)


@triton.jit
def triplet_cosine_kernel(a_ptr, p_ptr, n_ptr, trip_ptr, cos_ptr, D, margin, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    dp = 0.0
    dn = 0.0
    ap = 0.0
    aa = 0.0
    pp = 0.0
    for s in range(0, D, BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < D
        a = tl.load(a_ptr + r * D + o, mask=m, other=0.0).to(tl.float32)
        p = tl.load(p_ptr + r * D + o, mask=m, other=0.0).to(tl.float32)
        n = tl.load(n_ptr + r * D + o, mask=m, other=0.0).to(tl.float32)
        dp += tl.sum((a - p) * (a - p))
        dn += tl.sum((a - n) * (a - n))
        ap += tl.sum(a * p)
        aa += tl.sum(a * a)
        pp += tl.sum(p * p)
    tl.store(trip_ptr + r, tl.maximum(tl.sqrt(dp) - tl.sqrt(dn) + margin, 0.0))
    tl.store(cos_ptr + r, 1.0 - ap / tl.maximum(tl.sqrt(aa) * tl.sqrt(pp), 1e-8))


@case((32768, 1024, f16), (4096, 8192, f32))
def triplet_cosine(m, d, dt):
    a, p, n = randn(m, d, dtype=dt), randn(m, d, dtype=dt), randn(m, d, dtype=dt)
    t, c = torch.empty(m, device=DEV, dtype=f32), torch.empty(m, device=DEV, dtype=f32)
    triplet_cosine_kernel[(m,)](a, p, n, t, c, d, 1.0, BLOCK=1024)


@triton.jit
def focal_bce_kernel(x_ptr, y_ptr, loss_ptr, dx_ptr, n, alpha, gamma: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o, mask=m, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + o, mask=m, other=0).to(tl.float32)
    bce = tl.maximum(x, 0.0) - x * y + tl.log(1.0 + tl.exp(-tl.abs(x)))
    p = tl.sigmoid(x)
    if gamma == 0:
        loss = bce
        dx = p - y
    else:
        pt = p * y + (1 - p) * (1 - y)
        w = 1.0 - pt
        for _ in tl.static_range(gamma - 1):
            w *= 1.0 - pt
        at = alpha * y + (1 - alpha) * (1 - y)
        loss = at * w * bce
        s = 2.0 * y - 1.0
        dx = at * w * s * (gamma * pt * tl.log(tl.maximum(pt, 1e-12)) + pt - 1)
    tl.store(loss_ptr + o, loss.to(tl.float16), mask=m)
    tl.store(dx_ptr + o, dx.to(tl.float16), mask=m)


@case((16, 120000, 20, 2), (256, 65536, 1, 0))
def focal_bce(b, a, c, gamma):
    x, y = randn(b, a, c, dtype=f16), randint(0, 2, b, a, c, dtype=torch.int8)
    l, dx = torch.empty_like(x), torch.empty_like(x)
    focal_bce_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, l, dx, x.numel(), 0.25, gamma, BLOCK=1024)


@triton.jit
def _lse3(a, b, c):
    m = tl.maximum(a, tl.maximum(b, c))
    m = tl.where(m == float("-inf"), 0.0, m)
    return m + tl.log(tl.exp(a - m) + tl.exp(b - m) + tl.exp(c - m))


@triton.jit
def ctc_alpha_kernel(logp_ptr, tgt_ptr, alpha_ptr, T, V, L, BLOCK_S: tl.constexpr):
    # (T, B, V) log probabilities; alpha rows go through memory, with a barrier between steps
    b = tl.program_id(0)
    B = tl.num_programs(0)
    S = 2 * L + 1
    s = tl.arange(0, BLOCK_S)
    ok = s < S
    lab = tl.load(tgt_ptr + b * L + s // 2, mask=ok & (s % 2 == 1), other=0)
    lab2 = tl.load(tgt_ptr + b * L + s // 2 - 1, mask=ok & (s % 2 == 1) & (s >= 3), other=0)
    skip = (s % 2 == 1) & (s >= 3) & (lab != lab2)
    lp = tl.load(logp_ptr + b * V + lab, mask=ok, other=float("-inf")).to(tl.float32)
    a = tl.where(s < 2, lp, float("-inf"))
    base = alpha_ptr + b * T * S
    tl.store(base + s, a, mask=ok)
    for t in range(1, T):
        tl.debug_barrier()
        prev = base + (t - 1) * S + s
        a1 = tl.load(prev - 1, mask=ok & (s >= 1), other=float("-inf"))
        a2 = tl.load(prev - 2, mask=ok & skip, other=float("-inf"))
        lp = tl.load(logp_ptr + (t * B + b) * V + lab, mask=ok, other=float("-inf")).to(tl.float32)
        a = _lse3(a, a1, a2) + lp
        tl.store(base + t * S + s, a, mask=ok)


@case((512, 64, 5000, 60), (300, 256, 1000, 100))
def ctc_alpha(t, b, v, l):
    lp = randn(t, b, v, dtype=f16)
    lp = lp.float() if v < 2000 else lp
    tgt = randint(1, v, b, l, dtype=i32)
    alpha = torch.empty(b, t, 2 * l + 1, device=DEV, dtype=f32)
    ctc_alpha_kernel[(b,)](lp, tgt, alpha, t, v, l, triton.next_power_of_2(2 * l + 1), num_warps=2)

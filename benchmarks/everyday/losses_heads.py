"""Fused linear heads and losses: linear cross entropy, chunked CE with grads in place, KL/JSD distillation, DPO logps, focal, InfoNCE, triplet with matmul."""
from _common import *
import triton, triton.language as tl


# ---------------------------------------------------------------- linear + cross entropy: no logits in memory, partial logsumexp a vocabulary split
@triton.jit
def linear_ce_forward(x_ptr, w_ptr, t_ptr, lse_ptr, max_ptr, tgt_ptr, M, V, D, n_splits, vocab_per_split,
                      BM: tl.constexpr, BV: tl.constexpr, BD: tl.constexpr, SOFTCAP: tl.constexpr):
    pm = tl.program_id(0)
    ps = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    mm = rm < M
    target = tl.load(t_ptr + rm, mask=mm, other=-100)
    m = tl.full((BM,), float("-inf"), tl.float32)
    s = tl.zeros((BM,), tl.float32)
    hit = tl.zeros((BM,), tl.float32)
    v_end = tl.minimum((ps + 1) * vocab_per_split, V)
    for v0 in range(ps * vocab_per_split, v_end, BV):
        rv = v0 + tl.arange(0, BV)
        acc = tl.zeros((BM, BV), tl.float32)
        for d0 in range(0, D, BD):
            rd = d0 + tl.arange(0, BD)
            x = tl.load(x_ptr + rm[:, None] * D + rd[None, :], mask=mm[:, None] & (rd < D)[None, :], other=0.0)
            w = tl.load(w_ptr + rv[None, :].to(tl.int64) * D + rd[:, None], mask=(rv < v_end)[None, :] & (rd < D)[:, None], other=0.0)
            acc = tl.dot(x, w, acc)
        if SOFTCAP > 0:
            z = acc / SOFTCAP
            acc = SOFTCAP * (2.0 * tl.sigmoid(2.0 * z) - 1.0)
        acc = tl.where((rv < v_end)[None, :], acc, float("-inf"))
        hit += tl.sum(tl.where(rv[None, :] == target[:, None], acc, 0.0), 1)
        mn = tl.maximum(m, tl.max(acc, 1))
        s = s * tl.exp(m - mn) + tl.sum(tl.exp(acc - mn[:, None]), 1)
        m = mn
    tl.store(max_ptr + rm * n_splits + ps, m, mask=mm)
    tl.store(lse_ptr + rm * n_splits + ps, s, mask=mm)
    has = (target >= ps * vocab_per_split) & (target < v_end)
    tl.store(tgt_ptr + rm, hit, mask=mm & has)


@triton.jit
def linear_ce_combine(lse_ptr, max_ptr, tgt_ptr, t_ptr, loss_ptr, out_lse_ptr, M, n_splits, BM: tl.constexpr, S2: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, S2)
    k = (rm < M)[:, None] & (j < n_splits)[None, :]
    mx = tl.load(max_ptr + rm[:, None] * n_splits + j[None, :], mask=k, other=-1e30)
    s = tl.load(lse_ptr + rm[:, None] * n_splits + j[None, :], mask=k, other=0.0)
    g = tl.max(mx, 1)
    lse = g + tl.log(tl.sum(s * tl.exp(mx - g[:, None]), 1))
    t = tl.load(t_ptr + rm, mask=rm < M, other=-100)
    loss = tl.where(t == -100, 0.0, lse - tl.load(tgt_ptr + rm, mask=rm < M, other=0.0))
    tl.store(loss_ptr + rm, loss, mask=rm < M)
    tl.store(out_lse_ptr + rm, lse, mask=rm < M)


@triton.jit
def linear_ce_dx(x_ptr, w_ptr, t_ptr, lse_ptr, dlogits_ptr, M, V, D, v_start, CH, inv_n, BM: tl.constexpr, BV: tl.constexpr, BD: tl.constexpr):
    # d logits of one chunk [M, CH] of the vocabulary, to be multiplied by cuBLAS afterwards
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    rm = pid % nm * BM + tl.arange(0, BM)
    rc = pid // nm * BV + tl.arange(0, BV)
    rv = v_start + rc
    acc = tl.zeros((BM, BV), tl.float32)
    for d0 in tl.range(0, D, BD, num_stages=4):
        rd = d0 + tl.arange(0, BD)
        x = tl.load(x_ptr + rm[:, None] * D + rd[None, :], mask=(rm < M)[:, None], other=0.0)
        w = tl.load(w_ptr + rv[:, None] * D + rd[None, :], mask=(rv < V)[:, None], other=0.0)
        acc += tl.dot(x, w.T)
    lse = tl.load(lse_ptr + rm, mask=rm < M, other=0.0)
    t = tl.load(t_ptr + rm, mask=rm < M, other=-100)
    p = tl.exp(acc - lse[:, None]) - (rv[None, :] == t[:, None]).to(tl.float32)
    p = tl.where((t != -100)[:, None], p * inv_n, 0.0)
    tl.store(dlogits_ptr + rm[:, None] * CH + rc[None, :], p.to(dlogits_ptr.dtype.element_ty), mask=(rm < M)[:, None] & (rc < CH)[None, :])


@case((2048, 32000, 2048, 8, 0.0), (1024, 50257, 768, 16, 30.0))
def linear_cross_entropy(m, v, d, splits, cap):
    x, w = randn(m, d), randn(v, d, scale=0.02)
    t = randint(0, v, m)
    per = triton.cdiv(triton.cdiv(v, splits), 128) * 128
    lse, mx = torch.empty(m, splits, device=DEV, dtype=f32), torch.empty(m, splits, device=DEV, dtype=f32)
    tg, loss, ol = zeros(m, dtype=f32), zeros(m, dtype=f32), zeros(m, dtype=f32)
    linear_ce_forward[(triton.cdiv(m, 128), splits)](x, w, t, lse, mx, tg, m, v, d, splits, per, BM=128, BV=128, BD=64, SOFTCAP=cap, num_warps=8, num_stages=3)
    linear_ce_combine[(triton.cdiv(m, 32),)](lse, mx, tg, t, loss, ol, m, splits, BM=32, S2=splits)
    ch = 8192
    dl = torch.empty(m, ch, device=DEV, dtype=bf16)
    linear_ce_dx[(triton.cdiv(m, 64) * triton.cdiv(ch, 128),)](x, w, t, ol, dl, m, v, d, 0, ch, 1.0 / m, BM=64, BV=128, BD=64, num_warps=4)


# ---------------------------------------------------------------- liger-like cross entropy: online softmax, gradient written over the logits; smoothing, z-loss, weights
@triton.jit
def cross_entropy_inplace(X_ptr, X_stride, Y_ptr, loss_ptr, z_loss_ptr, weight_ptr, n_cols, n_non_ignore, ignore_index,
                          lse_square_scale: tl.constexpr, label_smoothing: tl.constexpr, HAS_WEIGHT: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + program_id)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return
    wy = 1.0
    if HAS_WEIGHT:
        wy = tl.load(weight_ptr + y)
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y).cast(tl.float32)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        block_max = tl.max(X_block)
        if label_smoothing > 0:
            scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        X_block = tl.exp(X_block - m) / d
        X_block += 2 * lse_square_scale * lse * X_block
        X_block += -eps
        X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
        X_block = X_block / n_non_ignore * wy
        tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    tl.debug_barrier()
    loss = lse - ori_X_y
    if label_smoothing > 0:
        smooth = scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth
    z_loss = lse_square_scale * lse * lse
    loss = (loss * wy + z_loss) / n_non_ignore
    tl.store(loss_ptr + program_id, loss)
    tl.store(z_loss_ptr + program_id, z_loss)


@case((1024, 128256, 0), (4096, 32000, 1))
def cross_entropy(rows, v, weighted):
    x = randn(rows, v)
    y = randint(0, v, rows)
    loss, z = zeros(rows, dtype=f32), zeros(rows, dtype=f32)
    cross_entropy_inplace[(rows,)](x, x.stride(0), y, loss, z, rand(v, lo=0.5), v, rows, -100, lse_square_scale=1e-4, label_smoothing=0.1 if weighted else 0.0,
                                   HAS_WEIGHT=bool(weighted), BLOCK_SIZE=min(65536 // 2, triton.next_power_of_2(v)), num_warps=16 if v < 65536 else 32)


# ---------------------------------------------------------------- distillation: KL with temperature from two logits, three passes; generalised JSD with gradient
@triton.jit
def _lse_row(ptr, V, inv_t, BLOCK: tl.constexpr):
    m = tl.full((BLOCK,), -1e30, tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, V, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(ptr + c, mask=c < V, other=-1e30).to(tl.float32) * inv_t
        mn = tl.maximum(m, x)
        s = s * tl.exp(m - mn) + tl.exp(x - mn)
        m = mn
    g = tl.max(m, 0)
    return g + tl.log(tl.sum(s * tl.exp(m - g), 0))


@triton.jit
def kl_distill(student, teacher, loss, dstudent, V, temperature, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    inv_t = 1.0 / temperature
    ls = _lse_row(student + row * V, V, inv_t, BLOCK)
    lt = _lse_row(teacher + row * V, V, inv_t, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, V, BLOCK):
        c = i + tl.arange(0, BLOCK)
        s = tl.load(student + row * V + c, mask=c < V, other=0.0).to(tl.float32) * inv_t - ls
        t = tl.load(teacher + row * V + c, mask=c < V, other=0.0).to(tl.float32) * inv_t - lt
        pt = tl.where(c < V, tl.exp(t), 0.0)
        acc += pt * (t - s)
        tl.store(dstudent + row * V + c, (tl.exp(s) - pt) * temperature, mask=c < V)
    tl.store(loss + row, tl.sum(acc, 0) * temperature * temperature)


@triton.jit
def jsd_kernel(X_ptr, Y_ptr, loss_ptr, dX_ptr, n_cols, beta: tl.constexpr, scale, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    for i in range(0, n_cols, BLOCK):
        o = i + tl.arange(0, BLOCK)
        k = o < n_cols
        X = tl.load(X_ptr + pid * n_cols + o, mask=k, other=float("-inf")).to(tl.float32)
        Y = tl.load(Y_ptr + pid * n_cols + o, mask=k, other=float("-inf")).to(tl.float32)
        if beta == 0.0:
            P = tl.exp(Y)
            loss = P * (Y - X)
            dX = -P
        elif beta == 1.0:
            Q = tl.exp(X)
            loss = Q * (X - Y)
            dX = loss + Q
        else:
            Q = tl.exp(X)
            P = tl.exp(Y)
            M = beta * P + (1 - beta) * Q
            logM = tl.log(M)
            loss = beta * P * Y + (1 - beta) * Q * X - M * logM
            dX = (1 - beta) * Q * (X - logM)
        tl.store(loss_ptr + pid * n_cols + o, loss * scale, mask=k)
        tl.store(dX_ptr + pid * n_cols + o, dX * scale, mask=k)


@case((1024, 32000), (512, 151936))
def distill(rows, v):
    s, t = randn(rows, v), randn(rows, v)
    kl_distill[(rows,)](s, t, zeros(rows, dtype=f32), torch.empty_like(s), v, 2.0, BLOCK=2048, num_warps=8)


@case((1024, 32000, 0.5), (1024, 32000, 1.0))
def jsd(rows, v, beta):
    s, t = randn(rows, v), randn(rows, v)
    jsd_kernel[(rows,)](s, t, torch.empty(rows, v, device=DEV, dtype=f32), torch.empty_like(s), v, beta, 1.0 / rows, BLOCK=8192, num_warps=8)


# ---------------------------------------------------------------- DPO / GRPO: selective log softmax summed a sequence by atomics, then the loss
@triton.jit
def sequence_logps(logits, labels, out, count, T, V, stride_b, stride_t, inv_temp, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    b = tl.program_id(1)
    lab = tl.load(labels + b * T + t + 1)
    if lab != -100:
        p = logits + b.to(tl.int64) * stride_b + t.to(tl.int64) * stride_t
        m = -1e38
        s = 0.0
        for i in range(0, V, BLOCK):
            c = i + tl.arange(0, BLOCK)
            x = tl.load(p + c, mask=c < V, other=-1e38).to(tl.float32) * inv_temp
            n = tl.maximum(m, tl.max(x, 0))
            s = s * tl.exp(m - n) + tl.sum(tl.exp(x - n), 0)
            m = n
        lp = tl.load(p + lab).to(tl.float32) * inv_temp - m - tl.log(s)
        tl.atomic_add(out + b, lp)
        tl.atomic_add(count + b, 1.0)


@triton.jit
def dpo_loss_kernel(pol, ref, loss, grad, n_pairs, beta, smooth, IPO: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    k = i < n_pairs
    pc = tl.load(pol + 2 * i, mask=k, other=0.0)
    pr = tl.load(pol + 2 * i + 1, mask=k, other=0.0)
    rc = tl.load(ref + 2 * i, mask=k, other=0.0)
    rr = tl.load(ref + 2 * i + 1, mask=k, other=0.0)
    h = (pc - pr) - (rc - rr)
    if IPO:
        e = h - 1.0 / (2 * beta)
        l = e * e
        g = 2 * e
    else:
        z = beta * h
        ls = tl.minimum(z, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(z)))
        l = -ls * (1 - smooth) - (ls - z) * smooth
        g = beta * (tl.sigmoid(z) - 1.0 + smooth)
    tl.store(loss, tl.sum(tl.where(k, l, 0.0), 0) / n_pairs)
    tl.store(grad + 2 * i, g / n_pairs, mask=k)
    tl.store(grad + 2 * i + 1, -g / n_pairs, mask=k)


@case((4, 512, 50257), (2, 512, 128256))
def dpo(b, t, v):
    x = randn(b, t, v)
    lab = randint(0, v, b, t)
    out, cnt = zeros(b, dtype=f32), zeros(b, dtype=f32)
    sequence_logps[(t - 1, b)](x, lab, out, cnt, t, v, x.stride(0), x.stride(1), 1.0, BLOCK=4096, num_warps=8)
    dpo_loss_kernel[(1,)](out, randn(b, dtype=f32), zeros(1, dtype=f32), zeros(b, dtype=f32), b // 2, 0.1, 0.05, IPO=False, BLOCK=16, num_warps=1)


# ---------------------------------------------------------------- focal losses: sigmoid (detection) forward + backward, and softmax with several rows a block
@triton.jit
def sigmoid_focal(logit, target, loss, grad, total, n, C, alpha, GAMMA: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = o < n
    x = tl.load(logit + o, mask=k, other=0.0).to(tl.float32)
    cls = tl.load(target + o // C, mask=k, other=-1)
    pos = cls == (o % C)
    p = 1.0 / (1.0 + tl.exp(-x))
    sp = tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))
    ce = tl.where(pos, sp - x, sp)
    pt = tl.where(pos, p, 1 - p)
    q = 1 - pt
    if GAMMA == 2:
        mod = q * q
        dmod = 2 * q
    else:
        mod = tl.exp(GAMMA * tl.log(q + 1e-12))
        dmod = GAMMA * mod / (q + 1e-12)
    at = tl.where(pos, alpha, 1 - alpha)
    l = tl.where(cls == -2, 0.0, at * mod * ce)
    sign = tl.where(pos, 1.0, -1.0)
    g = at * sign * (-mod * q - dmod * ce * pt * q)
    tl.store(loss + o, l, mask=k)
    tl.store(grad + o, tl.where(cls == -2, 0.0, g).to(grad.dtype.element_ty), mask=k)
    tl.atomic_add(total, tl.sum(tl.where(k, l, 0.0), 0))


@triton.jit
def softmax_focal(x_ptr, y_ptr, loss_ptr, dx_ptr, M, C, gamma, ROWS: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BC)
    k = (r < M)[:, None] & (c < C)[None, :]
    x = tl.load(x_ptr + r[:, None] * C + c[None, :], mask=k, other=-1e9).to(tl.float32)
    y = tl.load(y_ptr + r, mask=r < M, other=0)
    x = x - tl.max(x, 1, keep_dims=True)
    e = tl.exp(x)
    z = tl.sum(e, 1, keep_dims=True)
    logp = x - tl.log(z)
    p = e / z
    one = c[None, :] == y[:, None]
    lpt = tl.sum(tl.where(one, logp, 0.0), 1)
    pt = tl.exp(lpt)
    q = tl.maximum(1.0 - pt, 1e-8)
    mod = tl.exp2(gamma * tl.log2(q))
    tl.store(loss_ptr + r, -mod * lpt, mask=r < M)
    coef = gamma * mod / q * pt * lpt - mod
    dx = coef[:, None] * (one.to(tl.float32) - p)
    tl.store(dx_ptr + r[:, None] * C + c[None, :], dx, mask=k)


@case((8, 76725, 91, 2), (16, 8400, 80, 1.5))
def focal_detection(b, anchors, c, gamma):
    n = b * anchors * c
    x = randn(b * anchors, c, dtype=f16)
    t = randint(-2, c, b * anchors, dtype=i32)
    sigmoid_focal[(triton.cdiv(n, 1024),)](x, t, torch.empty(n, device=DEV, dtype=f32), torch.empty_like(x), zeros(1, dtype=f32), n, c, 0.25, GAMMA=gamma, BLOCK=1024)


@case((65536, 1000), (262144, 19))
def focal_softmax(m, c):
    x = randn(m, c, dtype=f32)
    bc = triton.next_power_of_2(c)
    rows = max(1, 2048 // bc)
    softmax_focal[(triton.cdiv(m, rows),)](x, randint(0, c, m), torch.empty(m, device=DEV, dtype=f32), torch.empty_like(x), m, c, 2.0, ROWS=rows, BC=bc)


# ---------------------------------------------------------------- InfoNCE / CLIP: logsumexp of a @ b^T by rows and by columns without the matrix; gradient of a
@triton.jit
def clip_lse(a, b, lse, diag, n, temp_ptr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, MASK_SELF: tl.constexpr):
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    scale = tl.exp(tl.load(temp_ptr))
    A = tl.load(a + rm[:, None] * D + d[None, :], mask=rm[:, None] < n, other=0.0)
    m = tl.full((BM,), -1e30, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    dg = tl.zeros((BM,), tl.float32)
    for j in range(0, n, BN):
        rn = j + tl.arange(0, BN)
        B = tl.load(b + rn[None, :] * D + d[:, None], mask=rn[None, :] < n, other=0.0)
        s = tl.dot(A, B) * scale
        dg += tl.sum(tl.where(rm[:, None] == rn[None, :], s, 0.0), 1)
        ok = rn[None, :] < n
        if MASK_SELF:
            ok = ok & (rn[None, :] != rm[:, None])
        s = tl.where(ok, s, -1e30)
        mn = tl.maximum(m, tl.max(s, 1))
        l = l * tl.exp(m - mn) + tl.sum(tl.exp(s - mn[:, None]), 1)
        m = mn
    tl.store(lse + rm, m + tl.log(l), mask=rm < n)
    tl.store(diag + rm, dg, mask=rm < n)


@triton.jit
def clip_grad(a, b, lse_r, lse_c, da, n, temp_ptr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    scale = tl.exp(tl.load(temp_ptr))
    A = tl.load(a + rm[:, None] * D + d[None, :], mask=rm[:, None] < n, other=0.0)
    lr = tl.load(lse_r + rm, mask=rm < n, other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    for j in range(0, n, BN):
        rn = j + tl.arange(0, BN)
        B = tl.load(b + rn[:, None] * D + d[None, :], mask=rn[:, None] < n, other=0.0)
        s = tl.dot(A, tl.trans(B)) * scale
        lc = tl.load(lse_c + rn, mask=rn < n, other=float("inf"))
        g = tl.exp(s - lr[:, None]) + tl.exp(s - lc[None, :])
        g -= 2.0 * (rm[:, None] == rn[None, :]).to(tl.float32)
        acc = tl.dot(g.to(B.dtype), B, acc)
    tl.store(da + rm[:, None] * D + d[None, :], (acc * (scale / (2 * n))).to(da.dtype.element_ty), mask=rm[:, None] < n)


@case((8192, 256), (5000, 128))
def info_nce(n, d):
    a, b = randn(n, d, dtype=f16, scale=d ** -0.5), randn(n, d, dtype=f16, scale=d ** -0.5)
    lr, lc, dg = zeros(n, dtype=f32), zeros(n, dtype=f32), zeros(n, dtype=f32)
    t = zeros(1, dtype=f32)
    g = (triton.cdiv(n, 64),)
    clip_lse[g](a, b, lr, dg, n, t, D=d, BM=64, BN=64, MASK_SELF=False, num_warps=4, num_stages=2)
    clip_lse[g](b, a, lc, dg, n, t, D=d, BM=64, BN=64, MASK_SELF=True, num_warps=4, num_stages=2)
    clip_grad[g](a, b, lr, lc, torch.empty_like(a), n, t, D=d, BM=64, BN=32, num_warps=4, num_stages=2)


# ---------------------------------------------------------------- batch-hard triplet: pairwise distances by dot in tf32, hardest positive and negative
@triton.jit
def _pick_max(v1, i1, v2, i2):
    gt = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(gt, v1, v2), tl.where(gt, i1, i2)


@triton.jit
def batch_hard_triplet(e, sq, lab, loss, pos_idx, neg_idx, n, D, margin, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    mm = rm < n
    lm = tl.load(lab + rm, mask=mm, other=-1)
    sm = tl.load(sq + rm, mask=mm, other=0.0)
    hp = tl.full((BM,), -1.0, tl.float32)
    hn = tl.full((BM,), 3.0e38, tl.float32)
    hpi = tl.zeros((BM,), tl.int32)
    hni = tl.zeros((BM,), tl.int32)
    for j in range(0, n, BN):
        rn = j + tl.arange(0, BN)
        nm = rn < n
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, D, BK):
            rk = k + tl.arange(0, BK)
            x = tl.load(e + rm[:, None] * D + rk[None, :], mask=mm[:, None] & (rk < D)[None, :], other=0.0)
            y = tl.load(e + rn[None, :] * D + rk[:, None], mask=nm[None, :] & (rk < D)[:, None], other=0.0)
            acc += tl.dot(x, y, input_precision="tf32")
        dist = tl.maximum(sm[:, None] + tl.load(sq + rn, mask=nm, other=0.0)[None, :] - 2.0 * acc, 0.0)
        same = lm[:, None] == tl.load(lab + rn, mask=nm, other=-2)[None, :]
        idx = tl.broadcast_to(rn[None, :], (BM, BN))
        pv, pi = tl.reduce((tl.where(same & nm[None, :] & (rm[:, None] != rn[None, :]), dist, -1.0), idx), 1, _pick_max)
        nv, ni = tl.reduce((tl.where(same | ~nm[None, :], -3.0e38, -dist), idx), 1, _pick_max)
        hpi = tl.where(pv > hp, pi, hpi)
        hp = tl.maximum(hp, pv)
        hni = tl.where(-nv < hn, ni, hni)
        hn = tl.minimum(hn, -nv)
    l = tl.maximum(tl.sqrt(tl.maximum(hp, 0.0)) - tl.sqrt(hn) + margin, 0.0)
    tl.store(loss + rm, tl.where(hp >= 0, l, 0.0), mask=mm)
    tl.store(pos_idx + rm, hpi, mask=mm)
    tl.store(neg_idx + rm, hni, mask=mm)


@triton.jit
def row_sqnorm(x, y, D, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    s = 0.0
    for i in range(0, D, BLOCK):
        c = i + tl.arange(0, BLOCK)
        v = tl.load(x + r * D + c, mask=c < D, other=0.0)
        s += tl.sum(v * v)
    tl.store(y + r, s)


@case((4096, 512), (3000, 300))
def triplet(n, d):
    e = randn(n, d, dtype=f32)
    sq = torch.empty(n, device=DEV, dtype=f32)
    row_sqnorm[(n,)](e, sq, d, BLOCK=256, num_warps=1)
    batch_hard_triplet[(triton.cdiv(n, 32),)](e, sq, randint(0, 64, n, dtype=i32), torch.empty(n, device=DEV, dtype=f32), zeros(n, dtype=i32), zeros(n, dtype=i32),
                                              n, d, 0.3, BM=32, BN=128, BK=32, num_warps=4, num_stages=3)

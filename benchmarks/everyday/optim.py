"""Optimizer steps: SGD momentum, Adam, AdamW with 8-bit states, Lion, LAMB pieces, clipping by the norm."""
from _common import *
import triton, triton.language as tl


@triton.jit
def sgd_momentum_kernel(p_ptr, g_ptr, buf_ptr, lr, momentum, dampening, weight_decay, n, NESTEROV: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    p = tl.load(p_ptr + o, mask=m)
    g = tl.load(g_ptr + o, mask=m)
    b = tl.load(buf_ptr + o, mask=m)
    g = g + weight_decay * p
    b = momentum * b + (1.0 - dampening) * g
    if NESTEROV:
        g = g + momentum * b
    else:
        g = b
    tl.store(p_ptr + o, p - lr * g, mask=m)
    tl.store(buf_ptr + o, b, mask=m)


@case((1 << 25, True), (11000001, False))
def sgd_momentum(n, nes):
    p, g, b = randn(n, dtype=f32), randn(n, dtype=f32), zeros(n, dtype=f32)
    sgd_momentum_kernel[(triton.cdiv(n, 1024),)](p, g, b, 0.1, 0.9, 0.0, 1e-4, n, nes, BLOCK=1024)


@triton.jit
def adamw_master_kernel(p16_ptr, p_ptr, g_ptr, m_ptr, v_ptr, scale_ptr, lr, beta1, beta2, eps, wd, bc1, bc2, n, BLOCK: tl.constexpr):
    """bf16 weights and gradients, fp32 master and states; gradients unscaled by a device scalar."""
    pid = tl.program_id(0)
    offs = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    inv = 1.0 / tl.load(scale_ptr)
    g = tl.load(g_ptr + offs, mask=mask, other=0.0).to(tl.float32) * inv
    p = tl.load(p_ptr + offs, mask=mask, other=0.0)
    m = tl.load(m_ptr + offs, mask=mask, other=0.0)
    v = tl.load(v_ptr + offs, mask=mask, other=0.0)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p = p * (1 - lr * wd)
    p = p - lr * (m / bc1) / (tl.sqrt(v / bc2) + eps)
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(p16_ptr + offs, p.to(tl.bfloat16), mask=mask)
    tl.store(m_ptr + offs, m, mask=mask)
    tl.store(v_ptr + offs, v, mask=mask)


@case((1 << 25,), (4096 * 11008 + 7,))
def adamw_master(n):
    p, m, v = randn(n, dtype=f32), zeros(n, dtype=f32), zeros(n, dtype=f32)
    p16, g, s = randn(n), randn(n), ones(1, dtype=f32)
    adamw_master_kernel[(triton.cdiv(n, 2048),)](p16, p, g, m, v, s, 1e-4, 0.9, 0.95, 1e-8, 0.1, 0.1, 0.05, n, BLOCK=2048, num_warps=8)


@triton.jit
def _quant_block(x, QMAX: tl.constexpr):
    s = tl.max(tl.abs(x), 1)
    s = tl.maximum(s, 1e-12)
    q = x / s[:, None] * QMAX
    q = tl.where(q >= 0, q + 0.5, q - 0.5)
    return q.to(tl.int32), s


@triton.jit
def adamw_8bit_kernel(p_ptr, g_ptr, m_ptr, v_ptr, ms_ptr, vs_ptr, lr, b1, b2, eps, wd, bc1, bc2, NB, QB: tl.constexpr, BLOCKS: tl.constexpr):
    # states int8/uint8, one scale a block of QB values
    blk = tl.program_id(0) * BLOCKS + tl.arange(0, BLOCKS)
    o = blk[:, None] * QB + tl.arange(0, QB)[None, :]
    ok = (blk < NB)[:, None]
    ms = tl.load(ms_ptr + blk, mask=blk < NB, other=0.0)
    vs = tl.load(vs_ptr + blk, mask=blk < NB, other=0.0)
    g = tl.load(g_ptr + o, mask=ok, other=0.0).to(tl.float32)
    p = tl.load(p_ptr + o, mask=ok, other=0.0).to(tl.float32)
    m = tl.load(m_ptr + o, mask=ok, other=0).to(tl.float32) * (ms / 127.0)[:, None]
    r = tl.load(v_ptr + o, mask=ok, other=0).to(tl.float32) * (vs / 255.0)[:, None]
    v = r * r
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    p = p * (1 - lr * wd) - lr * (m / bc1) / (tl.sqrt(v / bc2) + eps)
    tl.store(p_ptr + o, p.to(tl.bfloat16), mask=ok)
    mq, mns = _quant_block(m, 127.0)
    vq, vns = _quant_block(tl.sqrt(v), 255.0)
    tl.store(m_ptr + o, mq.to(tl.int8), mask=ok)
    tl.store(v_ptr + o, vq.to(tl.uint8), mask=ok)
    tl.store(ms_ptr + blk, mns, mask=blk < NB)
    tl.store(vs_ptr + blk, vns, mask=blk < NB)


@case((1 << 26, 256), (3 << 22, 64))
def adamw_8bit(n, qb):
    p, g = randn(n), randn(n)
    m, v = zeros(n, dtype=torch.int8), zeros(n, dtype=torch.uint8)
    ms, vs = zeros(n // qb, dtype=f32), zeros(n // qb, dtype=f32)
    adamw_8bit_kernel[(triton.cdiv(n // qb, 8),)](p, g, m, v, ms, vs, 1e-4, 0.9, 0.999, 1e-8, 0.01, 0.1, 0.001, n // qb, qb, 8)


@triton.autotune(configs=[triton.Config({"BLOCK_SIZE": 128}, num_warps=4), triton.Config({"BLOCK_SIZE": 1024}, num_warps=8)], key=["n_elements"], restore_value=["p_ptr", "exp_avg_ptr"])
@triton.jit
def lion_update_kernel(p_ptr, grad_ptr, exp_avg_ptr, lr, wd, beta1, beta2, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    offset_p_ptr = p_ptr + offsets
    offset_exp_avg_ptr = exp_avg_ptr + offsets
    p = tl.load(offset_p_ptr, mask=mask)
    grad = tl.load(grad_ptr + offsets, mask=mask)
    exp_avg = tl.load(offset_exp_avg_ptr, mask=mask)
    p = p * (1 - lr * wd)
    diff = exp_avg - grad
    update = diff * beta1 + grad
    can_update = update != 0
    update_sign = tl.where(update > 0, -lr, lr)
    p = p + update_sign * can_update
    exp_avg = diff * beta2 + grad
    tl.store(offset_p_ptr, p, mask=mask)
    tl.store(offset_exp_avg_ptr, exp_avg, mask=mask)


@case((4096 * 4096,), (50257 * 768,))
def lion(n):
    p, g, e = randn(n, dtype=f32), randn(n, dtype=f32), zeros(n, dtype=f32)
    lion_update_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](p, g, e, 1e-4, 0.01, 0.9, 0.99, n)


@triton.jit
def lamb_stage1(p_ptr, g_ptr, m_ptr, v_ptr, u_ptr, norms_ptr, b1, b2, eps, wd, bc1, bc2, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = o < n
    p = tl.load(p_ptr + o, mask=k, other=0.0)
    g = tl.load(g_ptr + o, mask=k, other=0.0)
    m = b1 * tl.load(m_ptr + o, mask=k, other=0.0) + (1 - b1) * g
    v = b2 * tl.load(v_ptr + o, mask=k, other=0.0) + (1 - b2) * g * g
    u = (m / bc1) / (tl.sqrt(v / bc2) + eps) + wd * p
    tl.store(m_ptr + o, m, mask=k)
    tl.store(v_ptr + o, v, mask=k)
    tl.store(u_ptr + o, u, mask=k)
    tl.atomic_add(norms_ptr, tl.sum(p * p))
    tl.atomic_add(norms_ptr + 1, tl.sum(tl.where(k, u * u, 0.0)))


@triton.jit
def lamb_stage2(p_ptr, u_ptr, norms_ptr, lr, n, BLOCK: tl.constexpr):
    pn = tl.sqrt(tl.load(norms_ptr))
    un = tl.sqrt(tl.load(norms_ptr + 1))
    trust = tl.where((pn > 0) & (un > 0), pn / un, 1.0)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(p_ptr + o, mask=o < n) - lr * trust * tl.load(u_ptr + o, mask=o < n)
    tl.store(p_ptr + o, p, mask=o < n)


@case((1024 * 30522,),)
def lamb(n):
    p, g, m, v, u = [randn(n, dtype=f32) for _ in range(5)]
    norms = zeros(2, dtype=f32)
    g2 = (triton.cdiv(n, 2048),)
    lamb_stage1[g2](p, g, m, v, u, norms, 0.9, 0.999, 1e-6, 0.01, 0.1, 0.001, n, 2048)
    lamb_stage2[g2](p, u, norms, 1e-3, n, 2048)


@triton.jit
def grad_norm_partial(g_ptr, part_ptr, found_inf_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    bad = tl.zeros([BLOCK], tl.int32)
    for s in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):
        o = s + tl.arange(0, BLOCK)
        g = tl.load(g_ptr + o, mask=o < n, other=0.0).to(tl.float32)
        acc += g * g
        bad |= ((g != g) | (tl.abs(g) == float("inf"))).to(tl.int32)
    tl.store(part_ptr + pid, tl.sum(acc))
    if tl.max(bad, 0) > 0:
        tl.atomic_max(found_inf_ptr, 1)


@triton.jit
def clip_grad_kernel(g_ptr, part_ptr, n, max_norm, NP: tl.constexpr, PB: tl.constexpr, BLOCK: tl.constexpr):
    q = tl.arange(0, PB)
    tot = tl.sqrt(tl.sum(tl.load(part_ptr + q, mask=q < NP, other=0.0)))
    coef = tl.minimum(max_norm / (tot + 1e-6), 1.0)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + o, mask=o < n)
    tl.store(g_ptr + o, (g * coef).to(g.dtype), mask=o < n)


@case((1 << 27,), (25000001,))
def clip_grad_norm(n):
    g = randn(n)
    part, inf = torch.empty(528, device=DEV, dtype=f32), zeros(1, dtype=i32)
    grad_norm_partial[(528,)](g, part, inf, n, 2048, num_warps=8)
    clip_grad_kernel[(triton.cdiv(n, 4096),)](g, part, n, 1.0, 528, 1024, 4096, num_warps=8)


@triton.jit
def adafactor_rowcol_kernel(g_ptr, row_ptr, col_ptr, M, N, beta2, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    r = pm * BM + tl.arange(0, BM)
    c = pn * BN + tl.arange(0, BN)
    m = (r[:, None] < M) & (c[None, :] < N)
    g = tl.load(g_ptr + r[:, None] * N + c[None, :], mask=m, other=0.0).to(tl.float32)
    g2 = g * g + 1e-30
    g2 = tl.where(m, g2, 0.0)
    tl.atomic_add(row_ptr + r, tl.sum(g2, 1) * (1 - beta2) / N, mask=r < M)
    tl.atomic_add(col_ptr + c, tl.sum(g2, 0) * (1 - beta2) / M, mask=c < N)


@case((8192, 8192), (11008, 4096))
def adafactor_rowcol(m, n):
    g, r, c = randn(m, n), zeros(m, dtype=f32), zeros(n, dtype=f32)
    adafactor_rowcol_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](g, r, c, m, n, 0.999, 64, 64)

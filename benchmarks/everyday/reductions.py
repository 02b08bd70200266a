"""Reductions over each of the dims: sum, mean, max, min, prod, argmax, argmin, var, norm, any/all."""
from _common import *
import triton, triton.language as tl


@triton.jit
def sum_dim1_naive(x_ptr, out_ptr, B, M, N, BLOCK_N: tl.constexpr):
    # (B, M, N) -> (B, 1, N); loop over M
    pid_b = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = offs_n < N
    acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    ptr = x_ptr + pid_b * M * N + offs_n
    for m in range(0, M):
        acc += tl.load(ptr, mask=mask, other=0.0)
        ptr += N
    tl.store(out_ptr + pid_b * N + offs_n, acc, mask=mask)


@case((100, 4096, 255), (16, 256, 16000))
def sum_dim1(b, m, n):
    x = randn(b, m, n, dtype=f32)
    y = torch.empty(b, 1, n, device=DEV, dtype=f32)
    sum_dim1_naive[(b, triton.cdiv(n, 128))](x, y, b, m, n, BLOCK_N=128)


@triton.jit
def _prod(a, b):
    return a * b


@triton.jit
def reduce_last_dim(x_ptr, out_ptr, M, N, OP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    rm = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    if OP == "max":
        acc = tl.full([BLOCK_M, BLOCK_N], float("-inf"), tl.float32)
    elif OP == "min":
        acc = tl.full([BLOCK_M, BLOCK_N], float("inf"), tl.float32)
    elif OP == "prod":
        acc = tl.full([BLOCK_M, BLOCK_N], 1.0, tl.float32)
    else:
        acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for n in range(0, N, BLOCK_N):
        rn = n + tl.arange(0, BLOCK_N)
        mask = (rm[:, None] < M) & (rn[None, :] < N)
        p = x_ptr + rm[:, None].to(tl.int64) * N + rn[None, :]
        if OP == "max":
            acc = tl.maximum(acc, tl.load(p, mask=mask, other=float("-inf")))
        elif OP == "min":
            acc = tl.minimum(acc, tl.load(p, mask=mask, other=float("inf")))
        elif OP == "prod":
            acc *= tl.load(p, mask=mask, other=1.0)
        else:
            acc += tl.load(p, mask=mask, other=0.0)
    if OP == "max":
        r = tl.max(acc, axis=1)
    elif OP == "min":
        r = tl.min(acc, axis=1)
    elif OP == "prod":
        r = tl.reduce(acc, 1, _prod)
    else:
        r = tl.sum(acc, axis=1) / N
    tl.store(out_ptr + rm, r, mask=rm < M)


@case((16384, 4096, "max"), (100000, 333, "mean"), (4096, 16384, "prod"))
def reduce_last(m, n, op):
    x = randn(m, n, dtype=f16)
    y = torch.empty(m, device=DEV, dtype=f16)
    reduce_last_dim[(triton.cdiv(m, 8),)](x, y, m, n, op, 8, 256)


@triton.jit
def argmax_loop_kernel(x_ptr, idx_ptr, val_ptr, N, stride_row, stride_col, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = float("-inf")
    best_i = 0
    for s in range(0, N, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row.to(tl.int64) * stride_row + o * stride_col, mask=o < N, other=float("-inf")).to(tl.float32)
        v, i = tl.max(x, axis=0, return_indices=True)
        if v > best:
            best = v
            best_i = s + i
    tl.store(idx_ptr + row, best_i.to(tl.int64))
    tl.store(val_ptr + row, best)


@case((2048, 32000), (256, 128256))
def argmax_rows(m, n):
    x = randn(m, n)
    i = torch.empty(m, device=DEV, dtype=i64)
    v = torch.empty(m, device=DEV, dtype=f32)
    argmax_loop_kernel[(m,)](x, i, v, n, x.stride(0), x.stride(1), BLOCK=2048, num_warps=8)


@triton.jit
def argmin_dim1_kernel(x_ptr, out_ptr, M, N, TK: tl.constexpr, TN: tl.constexpr):
    # (B, M, N): running minimum and its index per column, ties to the first
    b = tl.program_id(1)
    n = tl.program_id(0) * TN + tl.arange(0, TN)
    minv = tl.full([TK, TN], float("inf"), tl.float32)
    mini = tl.zeros([TK, TN], tl.int32)
    for m in range(0, M, TK):
        r = m + tl.arange(0, TK)
        msk = (r[:, None] < M) & (n[None, :] < N)
        v = tl.load(x_ptr + (b * M + r[:, None]) * N + n[None, :], mask=msk, other=float("inf"))
        upd = v < minv
        minv = tl.where(upd, v, minv)
        mini = tl.where(upd, r[:, None], mini)
    best = tl.min(minv, 0)
    cand = tl.where(minv == best[None, :], mini, 2147483647)
    tl.store(out_ptr + b * N + n, tl.min(cand, 0).to(tl.int64), mask=n < N)


@case((64, 1024, 1000), (128, 256, 2048))
def argmin_dim1(b, m, n):
    x = randn(b, m, n, dtype=f32)
    y = torch.empty(b, n, device=DEV, dtype=i64)
    argmin_dim1_kernel[(triton.cdiv(n, 64), b)](x, y, m, n, 16, 64)


@triton.jit
def var_mean_kernel(x_ptr, var_ptr, mean_ptr, N, correction, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + o, mask=o < N, other=0.0)
    mean = tl.sum(x, 0) / N
    d = tl.where(o < N, x - mean, 0.0)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, tl.sum(d * d, 0) / (N - correction))


@case((16384, 4096, f32), (8192, 2048, torch.float64))
def var_mean(m, n, dt):
    x = randn(m, n, dtype=dt)
    v = torch.empty(m, device=DEV, dtype=dt)
    mu = torch.empty(m, device=DEV, dtype=dt)
    var_mean_kernel[(m,)](x, v, mu, n, 1, BLOCK=triton.next_power_of_2(n))


@triton.jit
def sum_dim0_splits_atomic(x_ptr, out_ptr, M, N, rows_per_split, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pn = tl.program_id(0)
    ps = tl.program_id(1)
    cols = pn * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    lo = ps * rows_per_split
    hi = min(lo + rows_per_split, M)
    for r in range(lo, hi, BLOCK_M):
        rows = r + tl.arange(0, BLOCK_M)
        m = (rows[:, None] < hi) & (cols[None, :] < N)
        acc += tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=m, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr + cols, tl.sum(acc, 0), mask=cols < N, sem="relaxed")


@case((16384, 4096, 16), (100000, 768, 64))
def bias_grad(m, n, splits):
    x = randn(m, n)
    y = zeros(n, dtype=f32)
    sum_dim0_splits_atomic[(triton.cdiv(n, 64), splits)](x, y, m, n, triton.cdiv(m, splits), 64, 64)


@triton.jit
def _or(a, b):
    return a | b


@triton.jit
def any_all_kernel(x_ptr, any_ptr, all_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    a = tl.zeros([BLOCK], tl.int1)
    c = tl.full([BLOCK], 1, tl.int1)
    for s in range(0, N, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + o, mask=o < N, other=0)
        nz = x != 0
        a = a | nz
        c = c & (nz | (o >= N))
    tl.store(any_ptr + row, tl.reduce(a, 0, _or))
    tl.store(all_ptr + row, tl.min(c.to(tl.int32), 0) > 0)


@case((8192, 20000), (30000, 4096))
def any_all(m, n):
    x = randint(0, 2, m, n, dtype=torch.uint8)
    a = torch.empty(m, device=DEV, dtype=torch.bool)
    b = torch.empty(m, device=DEV, dtype=torch.bool)
    any_all_kernel[(m,)](x, a, b, n, BLOCK=1024)


@triton.jit
def argmax_pair(v1, i1, v2, i2):
    gt = v1 > v2
    eq = v1 == v2
    first = gt | (eq & (i1 < i2))
    return tl.where(first, v1, v2), tl.where(first, i1, i2)


@triton.jit
def global_absmax_arg(x_ptr, val_ptr, idx_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    o = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0).to(tl.float32)
    v, i = tl.reduce((tl.abs(x), o), 0, argmax_pair)
    tl.store(val_ptr + pid, v)
    tl.store(idx_ptr + pid, i)


@case((8192, 8192),)
def global_absmax(m, n):
    x = randn(m, n)
    nb = triton.cdiv(m * n, 16384)
    v = torch.empty(nb, device=DEV, dtype=f32)
    i = torch.empty(nb, device=DEV, dtype=i32)
    global_absmax_arg[(nb,)](x, v, i, m * n, BLOCK=16384, num_warps=8)

"""Elementwise activations: relu family, gelu forms, softplus, mish, hardsigmoid, swiglu/geglu forward and backward."""
from _common import *
import triton, triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, n_elements, negative_slope, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    out = tl.where(x > 0, x, x * negative_slope)
    tl.store(out_ptr + offsets, out, mask=mask)


@case((4096, 16384), (1000, 33333))
def leaky_relu(m, n):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)
    leaky_relu_kernel[grid](x, y, x.numel(), 0.01, BLOCK_SIZE=1024)


@triton.jit
def selu_kernel(X, Y, N, BLOCK: tl.constexpr):
    alpha = 1.6732632423543772
    scale = 1.0507009873554805
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    m = i < N
    x = tl.load(X + i, mask=m).to(tl.float32)
    y = scale * tl.where(x > 0, x, alpha * (tl.exp(x) - 1.0))
    tl.store(Y + i, y.to(Y.dtype.element_ty), mask=m)


@case((64, 1024, 1024), (16, 2048, 4096))
def selu(b, m, n):
    x = randn(b, m, n, dtype=f16)
    y = torch.empty_like(x)
    selu_kernel[(triton.cdiv(x.numel(), 2048),)](x, y, x.numel(), BLOCK=2048, num_warps=8)


@triton.jit
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, APPROX: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n).to(tl.float32)
    if APPROX == "tanh":
        y = 0.5 * x * (1 + _tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    elif APPROX == "sigmoid":
        y = x * tl.sigmoid(1.702 * x)
    else:
        y = 0.5 * x * (1 + tl.math.erf(x * 0.7071067811865476))
    tl.store(y_ptr + offs, y, mask=offs < n)


@case((8192, 14336, "tanh"), (8192, 14336, "erf"), (2048, 11000, "sigmoid"))
def gelu(m, n, approx):
    x = randn(m, n)
    y = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(m * n, 512),)](x, y, m * n, APPROX=approx, BLOCK=512, num_warps=4)


@triton.jit
def gelu_bwd_kernel(dy_ptr, x_ptr, dx_ptr, M, N, stride_m, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pn * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    off = rm[:, None] * stride_m + rn[None, :]
    x = tl.load(x_ptr + off, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + off, mask=mask, other=0.0).to(tl.float32)
    c = 0.7978845608028654
    inner = c * (x + 0.044715 * x * x * x)
    t = libdevice.tanh(inner)
    dt = (1 - t * t) * c * (1 + 3 * 0.044715 * x * x)
    dx = dy * (0.5 * (1 + t) + 0.5 * x * dt)
    tl.store(dx_ptr + off, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@case((4096, 12288), (3000, 5001))
def gelu_bwd(m, n):
    x = randn(m, n)
    dy = randn(m, n)
    dx = torch.empty_like(x)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 128))
    gelu_bwd_kernel[grid](dy, x, dx, m, n, x.stride(0), 16, 128)


@triton.autotune(configs=[triton.Config({"BLOCK_SIZE": 1024}, num_warps=4), triton.Config({"BLOCK_SIZE": 4096}, num_warps=8), triton.Config({"BLOCK_SIZE": 8192}, num_warps=16)], key=["n"])
@triton.jit
def mish_softplus_kernel(x_ptr, mish_ptr, sp_ptr, n, beta, threshold, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    bx = x * beta
    sp = tl.where(bx > threshold, x, tl.log(1.0 + tl.exp(bx)) / beta)
    e = tl.exp(-2.0 * sp)
    th = (1.0 - e) / (1.0 + e)
    tl.store(mish_ptr + offs, x * th, mask=mask)
    tl.store(sp_ptr + offs, sp, mask=mask)


@case((32, 256, 56, 56), (128, 64, 64, 64))
def mish_softplus(b, c, h, w):
    x = randn(b, c, h, w, dtype=f32)
    y, z = torch.empty_like(x), torch.empty_like(x)
    n = x.numel()
    mish_softplus_kernel[lambda m: (triton.cdiv(n, m["BLOCK_SIZE"]),)](x, y, z, n, 1.0, 20.0)


@triton.jit
def hard_acts_persistent(x_ptr, y_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    # grid-stride loop, one program per SM times a few
    start = tl.program_id(0) * BLOCK
    step = tl.num_programs(0) * BLOCK
    for base in range(start, n, step):
        offs = base + tl.arange(0, BLOCK)
        m = offs < n
        x = tl.load(x_ptr + offs, mask=m).to(tl.float32)
        if KIND == 0:      # hardsigmoid
            y = tl.minimum(tl.maximum(x / 6.0 + 0.5, 0.0), 1.0)
        elif KIND == 1:    # hardswish
            y = x * tl.clamp(x + 3.0, 0.0, 6.0) / 6.0
        elif KIND == 2:    # softsign
            y = x / (1.0 + tl.abs(x))
        else:              # hardtanh
            y = tl.where(x < -1.0, -1.0, tl.where(x > 1.0, 1.0, x))
        tl.store(y_ptr + offs, y.to(tl.float16), mask=m)


@case((4096, 8192, 0), (4096, 8192, 2), (777, 65000, 1))
def hard_acts(m, n, kind):
    x = randn(m, n, dtype=f16)
    y = torch.empty_like(x)
    hard_acts_persistent[(132 * 4,)](x, y, m * n, kind, 1024)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_packed_fwd(gate_up_ptr, out_ptr, stride_in, stride_out, d, BLOCK: tl.constexpr):
    # gate_up: (tokens, 2 * d), the gate first
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    msk = col < d
    g = tl.load(gate_up_ptr + row * stride_in + col, mask=msk, other=0.0).to(tl.float32)
    u = tl.load(gate_up_ptr + row * stride_in + d + col, mask=msk, other=0.0)
    h = silu(g).to(u.dtype) * u
    tl.store(out_ptr + row * stride_out + col, h, mask=msk)


@case((4096, 14336), (8192, 5504), (300, 28672))
def swiglu_packed(t, d):
    x = randn(t, 2 * d)
    y = torch.empty(t, d, device=DEV, dtype=bf16)
    swiglu_packed_fwd[(t, triton.cdiv(d, 1024))](x, y, x.stride(0), y.stride(0), d, BLOCK=1024)


@triton.jit
def swiglu_bwd_row(dc_ptr, a_ptr, b_ptr, da_ptr, db_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    off = pid * stride + tl.arange(0, BLOCK_SIZE)
    mask = tl.arange(0, BLOCK_SIZE) < n_cols
    dc = tl.load(dc_ptr + off, mask=mask, other=0)
    a = tl.load(a_ptr + off, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + off, mask=mask, other=0)
    sig = tl.sigmoid(a)
    s = a * sig
    db = dc * s
    da = dc * (s * (1 - sig) + sig) * b
    tl.store(da_ptr + off, da, mask=mask)
    tl.store(db_ptr + off, db, mask=mask)


@case((8192, 4096), (4096, 11008))
def swiglu_bwd(m, n):
    a, b, dc = randn(m, n), randn(m, n), randn(m, n)
    da, db = torch.empty_like(a), torch.empty_like(b)
    bs = triton.next_power_of_2(n)
    swiglu_bwd_row[(m,)](dc, a, b, da, db, a.stride(0), n, bs, num_warps=16 if bs >= 8192 else 8)


@triton.jit
def geglu_bias_clamp_kernel(x_ptr, bias_ptr, y_ptr, T, D: tl.constexpr, limit, alpha, BT: tl.constexpr, BD: tl.constexpr):
    # interleaved: even columns the gate, odd ones the linear part; clamped as some MoE models want it
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    d = tl.program_id(0) * 2 * BD + tl.arange(0, 2 * BD)
    m = (t < T)[:, None] & (d < 2 * D)[None, :]
    x = tl.load(x_ptr + t[:, None] * (2 * D) + d[None, :], mask=m, other=0.0).to(tl.float32)
    x += tl.load(bias_ptr + d, mask=d < 2 * D, other=0.0).to(tl.float32)[None, :]
    g, l = tl.split(tl.reshape(x, (BT, BD, 2)))
    g = tl.minimum(g, limit)
    l = tl.minimum(tl.maximum(l, -limit), limit)
    o = g * tl.sigmoid(alpha * g) * (l + 1)
    do = tl.program_id(0) * BD + tl.arange(0, BD)
    tl.store(y_ptr + t[:, None] * D + do[None, :], o.to(tl.bfloat16), mask=(t < T)[:, None] & (do < D)[None, :])


@case((8192, 2880), (2000, 8192))
def geglu_interleaved(t, d):
    x = randn(t, 2 * d)
    b = randn(2 * d)
    y = torch.empty(t, d, device=DEV, dtype=bf16)
    geglu_bias_clamp_kernel[(triton.cdiv(d, 128), triton.cdiv(t, 16))](x, b, y, t, d, 7.0, 1.702, 16, 128)

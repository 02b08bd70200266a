"""KernelBench level-2 style fusions: matmul+logsumexp+mish, conv+groupnorm, swish+groupnorm, gemm+max+gelu, folded batchnorm, bmm+instance norm."""
from _common import *
import triton
import triton.language as tl


# ---- 22: matmul, scale, residual add (x + x), clamp, logsumexp over the row, then x * mish(x)
@triton.jit
def _mish(x):
    # x * tanh(softplus(x)), tanh spelled with exp since tl has none
    sp = tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(tl.minimum(x, 20.0))))
    e = tl.exp(-2.0 * sp)
    return x * (1.0 - e) / (1.0 + e)


@triton.jit
def matmul_scale_clamp_kernel(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                              scale, clamp_min, clamp_max,
                              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        k_mask = (k + offs_k) < K
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & k_mask[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=k_mask[:, None] & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    bias = tl.load(bias_ptr + offs_n, mask=offs_n < N, other=0.0)
    acc = (acc + bias[None, :]) * scale
    acc = acc + acc
    acc = tl.minimum(tl.maximum(acc, clamp_min), clamp_max)
    tl.store(c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn, acc,
             mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@triton.jit
def logsumexp_mish_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = -float("inf")
    s = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, axis=0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    lse = m + tl.log(s)
    tl.store(out_ptr + row, lse * _mish(lse))


@case((1024, 8192, 8192), (128, 512, 1024))
def matmul_scale_residual_clamp_lse_mish(M, K, N):
    x = randn(M, K, dtype=f16, scale=0.1)
    w = randn(N, K, dtype=f16, scale=0.1)  # nn.Linear weight: (out, in)
    b = randn(N, dtype=f32)
    h = torch.empty((M, N), device=DEV, dtype=f32)
    out = torch.empty((M, 1), device=DEV, dtype=f32)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 128))
    matmul_scale_clamp_kernel[grid](x, w, b, h, M, N, K, x.stride(0), x.stride(1), w.stride(1), w.stride(0), h.stride(0), h.stride(1),
                                    2.0, -10.0, 10.0, BLOCK_M=64, BLOCK_N=128, BLOCK_K=32, num_warps=4, num_stages=3)
    logsumexp_mish_kernel[(M,)](h, out, N, BLOCK=1024)


# ---- 23: conv3d output -> group norm -> mean over everything but batch. Direct conv, then one program per (n, group).
@triton.jit
def conv2d_direct_kernel(x_ptr, w_ptr, b_ptr, y_ptr, N, C, H, W, OC, OH, OW, KS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_OC: tl.constexpr):
    pid_p = tl.program_id(0)
    pid_oc = tl.program_id(1)
    n = tl.program_id(2)
    p = pid_p * BLOCK_P + tl.arange(0, BLOCK_P)
    oc = pid_oc * BLOCK_OC + tl.arange(0, BLOCK_OC)
    oh = p // OW
    ow = p % OW
    p_mask = p < OH * OW
    oc_mask = oc < OC
    acc = tl.zeros([BLOCK_OC, BLOCK_P], dtype=tl.float32)
    for c in range(C):
        for kh in tl.static_range(KS):
            for kw in tl.static_range(KS):
                xv = tl.load(x_ptr + ((n * C + c) * H + oh + kh) * W + ow + kw, mask=p_mask, other=0.0)
                wv = tl.load(w_ptr + ((oc * C + c) * KS + kh) * KS + kw, mask=oc_mask, other=0.0)
                acc += wv[:, None] * xv[None, :]
    acc += tl.load(b_ptr + oc, mask=oc_mask, other=0.0)[:, None]
    tl.store(y_ptr + (n * OC + oc[:, None]) * OH * OW + p[None, :], acc, mask=oc_mask[:, None] & p_mask[None, :])


@triton.jit
def groupnorm_mean_kernel(y_ptr, gamma_ptr, beta_ptr, out_ptr, G, CPG, HW, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    n = pid // G
    g = pid % G
    base = y_ptr + (n * G + g) * CPG * HW
    total = CPG * HW
    s = tl.zeros([BLOCK], tl.float32)
    ss = tl.zeros([BLOCK], tl.float32)
    for i in range(0, total, BLOCK):
        o = i + tl.arange(0, BLOCK)
        v = tl.load(base + o, mask=o < total, other=0.0)
        s += v
        ss += v * v
    mean = tl.sum(s) / total
    var = tl.sum(ss) / total - mean * mean
    rstd = 1.0 / tl.sqrt(var + eps)
    acc = tl.zeros([BLOCK], tl.float32)
    for i in range(0, total, BLOCK):
        o = i + tl.arange(0, BLOCK)
        msk = o < total
        c = g * CPG + o // HW
        v = tl.load(base + o, mask=msk, other=0.0)
        ga = tl.load(gamma_ptr + c, mask=msk, other=0.0)
        be = tl.load(beta_ptr + c, mask=msk, other=0.0)
        acc += tl.where(msk, (v - mean) * rstd * ga + be, 0.0)
    tl.atomic_add(out_ptr + n, tl.sum(acc) / (G * total))


@case((64, 3, 24, 64, 3, 8), (16, 16, 32, 128, 3, 4))
def conv_groupnorm_mean(n, c, oc, hw, ks, g):
    x = randn(n, c, hw, hw, dtype=f32)
    w = randn(oc, c, ks, ks, dtype=f32, scale=0.1)
    b = randn(oc, dtype=f32)
    o = hw - ks + 1
    y = torch.empty((n, oc, o, o), device=DEV, dtype=f32)
    gamma, beta = ones(oc, dtype=f32), zeros(oc, dtype=f32)
    out = zeros(n, dtype=f32)
    conv2d_direct_kernel[(triton.cdiv(o * o, 128), triton.cdiv(oc, 16), n)](x, w, b, y, n, c, hw, hw, oc, o, o, KS=ks, BLOCK_P=128, BLOCK_OC=16)
    groupnorm_mean_kernel[(n * g,)](y, gamma, beta, out, g, oc // g, o * o, 1e-5, BLOCK=1024, num_warps=4)


# ---- 37: linear + swish + bias + groupnorm, one program holds BLOCK_M rows and a whole group of columns
@triton.autotune(configs=[triton.Config({"BLOCK_M": 64, "BLOCK_K": 64}, num_warps=4, num_stages=3),
                          triton.Config({"BLOCK_M": 128, "BLOCK_K": 32}, num_warps=8, num_stages=4)], key=["M", "K"])
@triton.jit
def linear_swish_bias_gn_kernel(X, Wt, Lb, Bias, Gamma, Beta, Y, M, K, N, eps,
                                GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    xp = tl.make_block_ptr(X, (M, K), (K, 1), (tl.program_id(0) * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    wp = tl.make_block_ptr(Wt, (K, N), (1, K), (0, tl.program_id(1) * GROUP), (BLOCK_K, GROUP), (0, 1))
    acc = tl.zeros((BLOCK_M, GROUP), tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        acc = tl.dot(tl.load(xp, boundary_check=(0, 1), padding_option="zero"), tl.load(wp, boundary_check=(0, 1), padding_option="zero"), acc)
        xp = tl.advance(xp, (0, BLOCK_K))
        wp = tl.advance(wp, (BLOCK_K, 0))
    cols = tl.program_id(1) * GROUP + tl.arange(0, GROUP)
    acc += tl.load(Lb + cols).to(tl.float32)[None, :]
    acc = acc * tl.sigmoid(acc) + tl.load(Bias + cols).to(tl.float32)[None, :]
    mu = tl.sum(acc, 1) / GROUP
    d = acc - mu[:, None]
    rstd = tl.rsqrt(tl.sum(d * d, 1) / GROUP + eps)
    y = d * rstd[:, None] * tl.load(Gamma + cols).to(tl.float32)[None, :] + tl.load(Beta + cols).to(tl.float32)[None, :]
    yp = tl.make_block_ptr(Y, (M, N), (N, 1), (tl.program_id(0) * BLOCK_M, tl.program_id(1) * GROUP), (BLOCK_M, GROUP), (1, 0))
    tl.store(yp, y.to(Y.dtype.element_ty), boundary_check=(0, 1))


@case((32768, 1024, 4096, 64), (4096, 512, 1024, 32))
def linear_swish_bias_groupnorm(m, k, n, groups):
    x, w = randn(m, k), randn(n, k, scale=0.05)
    p = [randn(n) for _ in range(4)]
    y = torch.empty((m, n), device=DEV, dtype=bf16)
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), groups)
    linear_swish_bias_gn_kernel[grid](x, w, p[0], p[1], p[2], p[3], y, m, k, n, 1e-5, GROUP=n // groups)


# ---- 80: gemm, max over columns, subtract mean of that one value (0), gelu.  Row max only, fused in a loop over N.
@triton.jit
def gemm_rowmax_kernel(x, w, b, partial, M, N, K, num_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    grid_m = tl.cdiv(M, BM)
    width = GROUP_M * num_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    pid_m = group_id * GROUP_M + (pid % width) % group_size
    pid_n = (pid % width) // group_size
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)
    rk = tl.arange(0, BK)
    A = x + ram[:, None] * K + rk[None, :]
    B = w + rk[:, None] + rbn[None, :] * K
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(K, 0, -BK):
        a = tl.load(A, mask=rk[None, :] < k, other=0.)
        bb = tl.load(B, mask=rk[:, None] < k, other=0.)
        acc += tl.dot(a, bb, allow_tf32=True)
        A += BK
        B += BK
    acc += tl.load(b + rbn)[None, :]
    acc = tl.where((rn < N)[None, :], acc, float("-inf"))
    tl.store(partial + rm * num_n + pid_n, tl.max(acc, 1), mask=rm < M)


@triton.jit
def rowmax_sub_gelu_kernel(partial, out, M, num_n, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, BLOCK_C)
    v = tl.load(partial + r[:, None] * num_n + c[None, :], mask=(r < M)[:, None] & (c < num_n)[None, :], other=float("-inf"))
    mx = tl.max(v, axis=1)
    z = mx - 0.01 * mx
    g = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))
    tl.store(out + r, g, mask=r < M)


@case((1024, 8192, 8192), (2048, 1000, 3000))
def gemm_max_subtract_gelu(m, k, n):
    x, w, b = randn(m, k, dtype=f32), randn(n, k, dtype=f32, scale=0.02), randn(n, dtype=f32)
    nn = triton.cdiv(n, 128)
    part = torch.empty((m, nn), device=DEV, dtype=f32)
    out = torch.empty((m,), device=DEV, dtype=f32)
    gemm_rowmax_kernel[(triton.cdiv(m, 128) * nn,)](x, w, b, part, m, n, k, nn, BM=128, BN=128, BK=32, GROUP_M=8, num_warps=8, num_stages=3)
    rowmax_sub_gelu_kernel[(triton.cdiv(m, 16),)](part, out, m, nn, BLOCK_R=16, BLOCK_C=triton.next_power_of_2(nn))


# ---- batchnorm (running statistics) + hardswish behind a 1x1 conv, NCHW, weights (OC, C)
@triton.jit
def conv1x1_bn_hardswish_kernel(x, w, mean, var, gamma, beta, y, C, OC, HW, eps,
                                BLOCK_OC: tl.constexpr, BLOCK_HW: tl.constexpr, BLOCK_C: tl.constexpr):
    n = tl.program_id(2).to(tl.int64)
    oc = tl.program_id(1) * BLOCK_OC + tl.arange(0, BLOCK_OC)
    hw = tl.program_id(0) * BLOCK_HW + tl.arange(0, BLOCK_HW)
    acc = tl.zeros((BLOCK_OC, BLOCK_HW), dtype=tl.float32)
    for c0 in range(0, C, BLOCK_C):
        c = c0 + tl.arange(0, BLOCK_C)
        wt = tl.load(w + oc[:, None] * C + c[None, :], mask=(oc[:, None] < OC) & (c[None, :] < C), other=0.0)
        xt = tl.load(x + n * C * HW + c[:, None] * HW + hw[None, :], mask=(c[:, None] < C) & (hw[None, :] < HW), other=0.0)
        acc = tl.dot(wt, xt, acc)
    mu = tl.load(mean + oc, mask=oc < OC, other=0.0)
    inv = tl.load(gamma + oc, mask=oc < OC, other=0.0) * tl.math.rsqrt(tl.load(var + oc, mask=oc < OC, other=1.0) + eps)
    sh = tl.load(beta + oc, mask=oc < OC, other=0.0) - mu * inv
    v = acc * inv[:, None] + sh[:, None]
    v = v * tl.minimum(tl.maximum(v + 3.0, 0.0), 6.0) * (1.0 / 6.0)
    tl.store(y + n * OC * HW + oc[:, None] * HW + hw[None, :], v.to(tl.float16), mask=(oc[:, None] < OC) & (hw[None, :] < HW))


@case((32, 256, 512, 28 * 28), (64, 96, 24, 56 * 56), (16, 960, 160, 49))
def conv1x1_bn_hardswish(n, c, oc, hw):
    x, w = randn(n, c, hw, dtype=f16), randn(oc, c, dtype=f16, scale=0.1)
    mean, var, g, b = randn(oc, dtype=f32), rand(oc, lo=0.5, hi=2.0), randn(oc, dtype=f32), randn(oc, dtype=f32)
    y = torch.empty((n, oc, hw), device=DEV, dtype=f16)
    conv1x1_bn_hardswish_kernel[(triton.cdiv(hw, 64), triton.cdiv(oc, 64), n)](x, w, mean, var, g, b, y, c, oc, hw, 1e-3,
                                                                              BLOCK_OC=64, BLOCK_HW=64, BLOCK_C=32)


# ---- 28: bmm/linear -> instance norm over features -> + y -> * y
@triton.jit
def bmm_instnorm_add_mul_kernel(x_ptr, w_ptr, y_ptr, o_ptr, L, D, stride_xb, stride_wb, stride_ob, eps,
                                N: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(1)
    rl = tl.program_id(0) * BLOCK_L + tl.arange(0, BLOCK_L)
    rn = tl.arange(0, N)
    acc = tl.zeros([BLOCK_L, N], tl.float32)
    for d in tl.range(0, D, BLOCK_D, num_stages=2):
        rd = d + tl.arange(0, BLOCK_D)
        a = tl.load(x_ptr + b * stride_xb + rl[:, None] * D + rd[None, :], mask=rl[:, None] < L, other=0.0)
        w = tl.load(w_ptr + b * stride_wb + rd[:, None] * N + rn[None, :])
        acc += tl.dot(a, w)
    mean = tl.sum(acc, axis=1, keep_dims=True) / N
    cent = acc - mean
    var = tl.sum(cent * cent, axis=1, keep_dims=True) / N
    normed = cent / tl.sqrt(var + eps)
    off = b * stride_ob + rl[:, None] * N + rn[None, :]
    y = tl.load(y_ptr + off, mask=rl[:, None] < L, other=0.0).to(tl.float32)
    tl.store(o_ptr + off, ((normed + y) * y).to(o_ptr.dtype.element_ty), mask=rl[:, None] < L)


@case((64, 1000, 512), (128, 257, 256))
def bmm_instance_norm(b, l, d):
    n = 256
    x, w, y = randn(b, l, d), randn(b, d, n), randn(b, l, n)
    o = torch.empty_like(y)
    bmm_instnorm_add_mul_kernel[(triton.cdiv(l, 64), b)](x, w, y, o, l, d, l * d, d * n, l * n, 1e-5, N=n, BLOCK_L=64, BLOCK_D=64, num_warps=8)


# ---- conv_transpose-like tail: bias subtract, tanh, max pool 2x2, global average in one pass over NCHW
@triton.jit
def sub_tanh_maxpool_kernel(x, bias, out, C, H, W, PH, PW, n_elements, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n_elements
    pw = i % PW
    ph = (i // PW) % PH
    nc = i // (PW * PH)
    c = nc % C
    b = tl.load(bias + c, mask=mask)
    p = x + nc * H * W + ph * 2 * W + pw * 2
    best = tl.full([BLOCK], -2.0, tl.float32)
    for dy in range(2):
        for dx in range(2):
            v = tl.load(p + dy * W + dx, mask=mask, other=0.0).to(tl.float32) - b
            e = tl.exp(-2.0 * tl.abs(v))
            t = (1.0 - e) / (1.0 + e)
            t = tl.where(v < 0, -t, t)
            best = tl.maximum(best, t)
    tl.store(out + i, best, mask=mask)


@case((32, 64, 126, 126), (8, 32, 512, 510))
def sub_tanh_maxpool(n, c, h, w):
    x, b = randn(n, c, h, w), randn(c, dtype=f32)
    out = torch.empty((n, c, h // 2, w // 2), device=DEV, dtype=bf16)
    ne = out.numel()
    sub_tanh_maxpool_kernel[(triton.cdiv(ne, 512),)](x, b, out, c, h, w, h // 2, w // 2, ne, BLOCK=512)

"""Dropout with tl.rand, embedding forward/backward, positional encodings and rotary forms."""
from _common import *
import triton, triton.language as tl


@triton.jit
def seeded_dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


@case((8192, 4096), (5000, 10001))
def dropout(m, n):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    seeded_dropout[(triton.cdiv(m * n, 1024),)](x, y, m * n, 0.1, 123, BLOCK_SIZE=1024)


@triton.jit
def bias_dropout_add_ln(x_ptr, bias_ptr, res_ptr, w_ptr, b_ptr, y_ptr, out_res_ptr, mask_ptr, N, p, seed, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK * 4)
    o4 = tl.arange(0, BLOCK)
    r0, r1, r2, r3 = tl.rand4x(seed, row * BLOCK + o4)
    r = tl.reshape(tl.join(tl.join(r0, r1), tl.join(r2, r3)), (BLOCK * 4,))
    m = c < N
    x = tl.load(x_ptr + row * N + c, mask=m, other=0.0).to(tl.float32) + tl.load(bias_ptr + c, mask=m, other=0.0).to(tl.float32)
    keep = r > p
    x = tl.where(keep, x * (1.0 / (1.0 - p)), 0.0) + tl.load(res_ptr + row * N + c, mask=m, other=0.0).to(tl.float32)
    tl.store(out_res_ptr + row * N + c, x.to(tl.bfloat16), mask=m)
    tl.store(mask_ptr + row * N + c, keep.to(tl.int8), mask=m)
    mu = tl.sum(x, 0) / N
    d = tl.where(m, x - mu, 0.0)
    rs = 1.0 / tl.sqrt(tl.sum(d * d, 0) / N + eps)
    y = d * rs * tl.load(w_ptr + c, mask=m, other=0.0).to(tl.float32) + tl.load(b_ptr + c, mask=m, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * N + c, y.to(tl.bfloat16), mask=m)


@case((8192, 4096), (16384, 1280))
def bias_dropout_add_layernorm(m, n):
    x, r = randn(m, n), randn(m, n)
    bias, w, b = randn(n), randn(n), randn(n)
    y, o = torch.empty_like(x), torch.empty_like(x)
    k = torch.empty(m, n, device=DEV, dtype=torch.int8)
    bias_dropout_add_ln[(m,)](x, bias, r, w, b, y, o, k, n, 0.1, 7, 1e-5, triton.next_power_of_2(n) // 4, num_warps=8)


@triton.jit
def embedding_fwd_kernel(emb_ptr, idx_ptr, out_ptr, n_idx, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    r = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    idx = tl.load(idx_ptr + r, mask=r < n_idx, other=0)
    m = (r < n_idx)[:, None] & (c < D)[None, :]
    e = tl.load(emb_ptr + idx[:, None] * D + c[None, :], mask=m, other=0.0)
    tl.store(out_ptr + r[:, None] * D + c[None, :], e, mask=m)


@triton.jit
def embedding_bwd_kernel(grad_ptr, idx_ptr, dw_ptr, n_idx, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    r = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    idx = tl.load(idx_ptr + r, mask=r < n_idx, other=0)
    m = (r < n_idx)[:, None] & (c < D)[None, :]
    g = tl.load(grad_ptr + r[:, None] * D + c[None, :], mask=m, other=0.0).to(tl.float32)
    tl.atomic_add(dw_ptr + idx[:, None] * D + c[None, :], g, mask=m)


@case((32000, 2048, 8192), (50257, 1600, 16384))
def embedding(v, d, t):
    w, idx = randn(v, d), randint(0, v, t)
    out = torch.empty(t, d, device=DEV, dtype=bf16)
    grid = (triton.cdiv(t, 8), triton.cdiv(d, 256))
    embedding_fwd_kernel[grid](w, idx, out, t, d, 8, 256)
    dw = zeros(v, d, dtype=f32)
    embedding_bwd_kernel[grid](out, idx, dw, t, d, 8, 256)


@triton.jit
def embedding_bag_kernel(w_ptr, idx_ptr, offs_ptr, out_ptr, D, MODE: tl.constexpr, BLOCK_D: tl.constexpr):
    bag = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    lo = tl.load(offs_ptr + bag)
    hi = tl.load(offs_ptr + bag + 1)
    acc = tl.zeros([BLOCK_D], tl.float32)
    for i in range(lo, hi):
        j = tl.load(idx_ptr + i)
        acc += tl.load(w_ptr + j * D + d, mask=d < D, other=0.0)
    if MODE == "mean":
        acc /= tl.maximum(hi - lo, 1)
    tl.store(out_ptr + bag * D + d, acc, mask=d < D)


@case((500000, 128, 16384, 32, "sum"), (200000, 200, 4096, 50, "mean"))
def embedding_bag(v, d, bags, per, mode):
    w = randn(v, d, dtype=f32)
    idx = randint(0, v, bags * per)
    offs = torch.arange(0, bags * per + 1, per, device=DEV)
    out = torch.empty(bags, d, device=DEV, dtype=f32)
    embedding_bag_kernel[(bags, triton.cdiv(d, 128))](w, idx, offs, out, d, mode, 128, num_warps=1)


@triton.jit
def sinusoidal_add_kernel(x_ptr, y_ptr, T, D, log_base, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    b = tl.program_id(2)
    half = (d // 2).to(tl.float32) * 2
    freq = tl.exp(-half / D * log_base)
    ang = t[:, None].to(tl.float32) * freq[None, :]
    pe = tl.where((d % 2 == 0)[None, :], tl.sin(ang), tl.cos(ang))
    m = (t < T)[:, None] & (d < D)[None, :]
    o = b * T * D + t[:, None] * D + d[None, :]
    tl.store(y_ptr + o, tl.load(x_ptr + o, mask=m, other=0.0) + pe, mask=m)


@case((16, 2048, 1024), (64, 577, 768))
def sinusoidal_add(b, t, d):
    x = randn(b, t, d, dtype=f32)
    y = torch.empty_like(x)
    sinusoidal_add_kernel[(triton.cdiv(t, 16), triton.cdiv(d, 128), b)](x, y, t, d, 9.210340371976184, 16, 128)


@triton.jit
def rope_qk_inplace(q_ptr, k_ptr, cos_ptr, sin_ptr, pos_ptr, q_row_stride, k_row_stride, NQ: tl.constexpr, NK: tl.constexpr, HD: tl.constexpr, PNQ: tl.constexpr, PNK: tl.constexpr):
    # half rotation (neox), one token a program, all heads at once
    t = tl.program_id(0).to(tl.int64)
    p = tl.load(pos_ptr + t)
    h = tl.arange(0, HD // 2)
    cos = tl.load(cos_ptr + p * (HD // 2) + h)[None, :]
    sin = tl.load(sin_ptr + p * (HD // 2) + h)[None, :]
    qo = tl.arange(0, PNQ)[:, None] * HD + h[None, :]
    qm = (tl.arange(0, PNQ) < NQ)[:, None]
    q1 = tl.load(q_ptr + t * q_row_stride + qo, mask=qm, other=0.0).to(tl.float32)
    q2 = tl.load(q_ptr + t * q_row_stride + qo + HD // 2, mask=qm, other=0.0).to(tl.float32)
    tl.store(q_ptr + t * q_row_stride + qo, (q1 * cos - q2 * sin).to(tl.bfloat16), mask=qm)
    tl.store(q_ptr + t * q_row_stride + qo + HD // 2, (q2 * cos + q1 * sin).to(tl.bfloat16), mask=qm)
    ko = tl.arange(0, PNK)[:, None] * HD + h[None, :]
    km = (tl.arange(0, PNK) < NK)[:, None]
    k1 = tl.load(k_ptr + t * k_row_stride + ko, mask=km, other=0.0).to(tl.float32)
    k2 = tl.load(k_ptr + t * k_row_stride + ko + HD // 2, mask=km, other=0.0).to(tl.float32)
    tl.store(k_ptr + t * k_row_stride + ko, (k1 * cos - k2 * sin).to(tl.bfloat16), mask=km)
    tl.store(k_ptr + t * k_row_stride + ko + HD // 2, (k2 * cos + k1 * sin).to(tl.bfloat16), mask=km)


@case((8192, 32, 8, 128), (16384, 28, 4, 128), (4096, 71, 1, 64))
def rope_qk(t, nq, nk, d):
    q, k = randn(t, nq, d), randn(t, nk, d)
    cos, sin = rand(8192, d // 2), rand(8192, d // 2)
    pos = randint(0, 8192, t)
    rope_qk_inplace[(t,)](q, k, cos, sin, pos, q.stride(0), k.stride(0), nq, nk, d, triton.next_power_of_2(nq), triton.next_power_of_2(nk))


@triton.jit
def rope_interleaved_kernel(x_ptr, y_ptr, S, H, sb, ss, sh, base_log2, CONJ: tl.constexpr, D: tl.constexpr, BS: tl.constexpr):
    # GPT-J style pairs; angles computed here, no tables
    s = tl.program_id(0) * BS + tl.arange(0, BS)
    h = tl.program_id(1)
    b = tl.program_id(2)
    d = tl.arange(0, D)
    m = (s < S)[:, None]
    o = b * sb + s[:, None] * ss + h * sh + d[None, :]
    x = tl.load(x_ptr + o, mask=m, other=0.0).to(tl.float32)
    x0, x1 = tl.split(tl.reshape(x, (BS, D // 2, 2)))
    f = tl.exp2(-(tl.arange(0, D // 2).to(tl.float32) * (2.0 / D)) * base_log2)
    a = s[:, None].to(tl.float32) * f[None, :]
    c = tl.cos(a)
    n = tl.sin(a)
    if CONJ:
        n = -n
    y = tl.reshape(tl.join(x0 * c - x1 * n, x0 * n + x1 * c), (BS, D))
    tl.store(y_ptr + o, y.to(y_ptr.dtype.element_ty), mask=m)


@case((4, 4096, 32, 128, False), (2, 3000, 16, 64, True))
def rope_interleaved(b, s, h, d, conj):
    x = randn(b, s, h, d, dtype=f16)
    y = torch.empty_like(x)
    rope_interleaved_kernel[(triton.cdiv(s, 16), h, b)](x, y, s, h, x.stride(0), x.stride(1), x.stride(2), 13.287712379549449, conj, d, 16)


@triton.jit
def alibi_scores_kernel(s_ptr, slopes_ptr, o_ptr, SQ, SK, H, BQ: tl.constexpr, BK: tl.constexpr):
    bh = tl.program_id(2)
    q = tl.program_id(1) * BQ + tl.arange(0, BQ)
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    slope = tl.load(slopes_ptr + bh % H)
    m = (q < SQ)[:, None] & (k < SK)[None, :]
    p = bh.to(tl.int64) * SQ * SK + q[:, None] * SK + k[None, :]
    x = tl.load(s_ptr + p, mask=m, other=0.0)
    x = x - slope * tl.abs(q[:, None] - k[None, :])
    tl.store(o_ptr + p, x, mask=m)


@case((2, 16, 2048),)
def alibi(b, h, s):
    x, sl = randn(b, h, s, s), rand(h)
    y = torch.empty_like(x)
    alibi_scores_kernel[(triton.cdiv(s, 128), triton.cdiv(s, 32), b * h)](x, sl, y, s, s, h, 32, 128)

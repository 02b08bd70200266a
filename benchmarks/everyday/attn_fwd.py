"""Attention forward: plain pointers, block pointers, descriptors; causal, window + soft cap, ALiBi, bias, padding mask, varlen, prefix LM, block-sparse."""
from _common import *
import math
import triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def flash_fwd_kernel(Q, K, V, sm_scale, L, O,
                     stride_qz, stride_qh, stride_qm, stride_qk,
                     stride_kz, stride_kh, stride_kn, stride_kk,
                     stride_vz, stride_vh, stride_vn, stride_vk,
                     stride_oz, stride_oh, stride_om, stride_ok,
                     Z, H, N_CTX,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    Q += off_z.to(tl.int64) * stride_qz + off_h.to(tl.int64) * stride_qh
    K += off_z.to(tl.int64) * stride_kz + off_h.to(tl.int64) * stride_kh
    V += off_z.to(tl.int64) * stride_vz + off_h.to(tl.int64) * stride_vh
    O += off_z.to(tl.int64) * stride_oz + off_h.to(tl.int64) * stride_oh
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qk, mask=offs_m[:, None] < N_CTX, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    hi = N_CTX
    if CAUSAL:
        hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX)
    for start_n in range(0, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        cols = start_n + offs_n
        k = tl.load(K + cols[None, :] * stride_kn + offs_d[:, None] * stride_kk, mask=cols[None, :] < N_CTX, other=0.0)
        qk = tl.dot(q, k) * sm_scale
        if CAUSAL:
            qk = tl.where(offs_m[:, None] >= cols[None, :], qk, float("-inf"))
        else:
            qk = tl.where(cols[None, :] < N_CTX, qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V + cols[:, None] * stride_vn + offs_d[None, :] * stride_vk, mask=cols[:, None] < N_CTX, other=0.0)
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(L + off_hz * N_CTX + offs_m, m_i + tl.log(l_i), mask=offs_m < N_CTX)
    tl.store(O + offs_m[:, None] * stride_om + offs_d[None, :] * stride_ok, acc.to(O.dtype.element_ty), mask=offs_m[:, None] < N_CTX)


@case((2, 16, 2048, 64, True, f16, 128, 64, 4, 3), (1, 24, 3000, 128, False, bf16, 128, 64, 8, 2), (4, 12, 1024, 64, True, f32, 64, 32, 4, 2))
def flash_plain(z, h, n, d, causal, dt, bm, bn, nw, ns):
    q = randn(z, n, h, d, dtype=dt).transpose(1, 2)
    k = randn(z, n, h, d, dtype=dt).transpose(1, 2)
    v = randn(z, n, h, d, dtype=dt).transpose(1, 2)
    o = torch.empty_like(q)
    lse = torch.empty((z, h, n), device=DEV, dtype=f32)
    flash_fwd_kernel[(triton.cdiv(n, bm), z * h)](
        q, k, v, 1.0 / math.sqrt(d), lse, o,
        q.stride(0), q.stride(1), q.stride(2), q.stride(3), k.stride(0), k.stride(1), k.stride(2), k.stride(3),
        v.stride(0), v.stride(1), v.stride(2), v.stride(3), o.stride(0), o.stride(1), o.stride(2), o.stride(3),
        z, h, n, BLOCK_M=bm, BLOCK_N=bn, D=d, CAUSAL=causal, num_warps=nw, num_stages=ns)


@triton.jit
def _inner(acc, l_i, m_i, q, K_bp, V_bp, start_m, qk_scale, lo, hi,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr, offs_m, offs_n):
    K_bp = tl.advance(K_bp, (0, lo))
    V_bp = tl.advance(V_bp, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        k = tl.load(K_bp)
        qk = tl.dot(q, k)
        if MASK:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * qk_scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
            qk = qk * qk_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        l_ij = tl.sum(p, 1)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = tl.load(V_bp)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        V_bp = tl.advance(V_bp, (BLOCK_N, 0))
        K_bp = tl.advance(K_bp, (0, BLOCK_N))
    return acc, l_i, m_i


@triton.autotune(configs=[triton.Config({"BLOCK_M": 128, "BLOCK_N": 64}, num_stages=3, num_warps=8),
                          triton.Config({"BLOCK_M": 64, "BLOCK_N": 64}, num_stages=4, num_warps=4)], key=["N_CTX", "HEAD_DIM"])
@triton.jit
def attn_fwd_blockptr(Q, K, V, sm_scale, M, Out, stride_h, stride_m, H, N_CTX,
                      HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    base = off_hz.to(tl.int64) * stride_h
    Q_bp = tl.make_block_ptr(Q + base, (N_CTX, HEAD_DIM), (stride_m, 1), (start_m * BLOCK_M, 0), (BLOCK_M, HEAD_DIM), (1, 0))
    V_bp = tl.make_block_ptr(V + base, (N_CTX, HEAD_DIM), (stride_m, 1), (0, 0), (BLOCK_N, HEAD_DIM), (1, 0))
    K_bp = tl.make_block_ptr(K + base, (HEAD_DIM, N_CTX), (1, stride_m), (0, 0), (HEAD_DIM, BLOCK_N), (0, 1))
    O_bp = tl.make_block_ptr(Out + base, (N_CTX, HEAD_DIM), (stride_m, 1), (start_m * BLOCK_M, 0), (BLOCK_M, HEAD_DIM), (1, 0))
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    q = tl.load(Q_bp)
    acc, l_i, m_i = _inner(acc, l_i, m_i, q, K_bp, V_bp, start_m, qk_scale, 0, start_m * BLOCK_M, BLOCK_M, BLOCK_N, False, offs_m, offs_n)
    acc, l_i, m_i = _inner(acc, l_i, m_i, q, K_bp, V_bp, start_m, qk_scale, start_m * BLOCK_M, (start_m + 1) * BLOCK_M, BLOCK_M, BLOCK_N, True, offs_m, offs_n)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(M + off_hz * N_CTX + offs_m, m_i)
    tl.store(O_bp, acc.to(Out.type.element_ty))


@case((1, 32, 4096, 128), (8, 16, 1024, 64))
def flash_block_ptr(z, h, n, d):
    q, k, v = randn(z, h, n, d), randn(z, h, n, d), randn(z, h, n, d)
    o = torch.empty_like(q)
    m = torch.empty((z, h, n), device=DEV, dtype=f32)
    attn_fwd_blockptr[lambda META: (triton.cdiv(n, META["BLOCK_M"]), z * h)](q, k, v, d ** -0.5, m, o, q.stride(1), q.stride(2), h, n, HEAD_DIM=d)


@triton.jit
def attn_desc(q_desc, k_desc, v_desc, o_desc, sm_scale, N_CTX,
              HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start_m = tl.program_id(0)
    bh = tl.program_id(1)
    row0 = bh * N_CTX
    qo_row = row0 + start_m * BLOCK_M
    q = q_desc.load([qo_row, 0])
    m_i = tl.full([BLOCK_M], -float("inf"), tl.float32)
    l_i = tl.full([BLOCK_M], 0.0, tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    scale = sm_scale * 1.44269504
    for n in tl.range(0, N_CTX, BLOCK_N):
        k = k_desc.load([row0 + n, 0])
        s = tl.dot(q, k.T) * scale
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = v_desc.load([row0 + n, 0])
        acc = tl.dot(p.to(tl.float16), v, acc * alpha[:, None])
        m_i = m_new
    acc = acc / l_i[:, None]
    o_desc.store([qo_row, 0], acc.to(tl.float16))


@case((2, 16, 2048, 128), (4, 16, 1536, 64))
def flash_descriptors(z, h, n, d):
    BM, BN = 128, 64
    q, k, v = [randn(z * h * n, d, dtype=f16) for _ in range(3)]
    o = torch.empty_like(q)
    dq = TensorDescriptor(q, [z * h * n, d], [d, 1], [BM, d])
    dk = TensorDescriptor(k, [z * h * n, d], [d, 1], [BN, d])
    dv = TensorDescriptor(v, [z * h * n, d], [d, 1], [BN, d])
    do = TensorDescriptor(o, [z * h * n, d], [d, 1], [BM, d])
    attn_desc[(n // BM, z * h)](dq, dk, dv, do, d ** -0.5, n, HEAD_DIM=d, BLOCK_M=BM, BLOCK_N=BN, num_warps=8, num_stages=3)


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def gemma_attn(q_ptr, k_ptr, v_ptr, o_ptr, seqlen, n_heads, n_kv_heads, window, softcap, scale,
               HD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # [T, H, D] layout, 1-d grid
    pid = tl.program_id(0)
    nblk = tl.cdiv(seqlen, BM)
    head = pid // nblk
    blk = nblk - 1 - pid % nblk
    kvh = head // (n_heads // n_kv_heads)
    rm = blk * BM + tl.arange(0, BM)
    rd = tl.arange(0, HD)
    rn = tl.arange(0, BN)
    q = tl.load(q_ptr + (rm[:, None] * n_heads + head) * HD + rd[None, :], mask=rm[:, None] < seqlen, other=0.0)
    lo = tl.maximum(0, (blk * BM - window) // BN * BN)
    hi = tl.minimum(seqlen, blk * BM + BM)
    m = tl.full((BM,), -1e30, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    o = tl.zeros((BM, HD), tl.float32)
    for s in range(lo, hi, BN):
        n = s + rn
        k = tl.load(k_ptr + (n[:, None] * n_kv_heads + kvh) * HD + rd[None, :], mask=n[:, None] < seqlen, other=0.0)
        v = tl.load(v_ptr + (n[:, None] * n_kv_heads + kvh) * HD + rd[None, :], mask=n[:, None] < seqlen, other=0.0)
        x = tl.dot(q, tl.trans(k)) * scale
        x = softcap * tanh(x / softcap)
        ok = (rm[:, None] >= n[None, :]) & (rm[:, None] - n[None, :] < window)
        x = tl.where(ok, x, -1e30)
        mn = tl.maximum(m, tl.max(x, axis=1))
        p = tl.exp(x - mn[:, None])
        p = tl.where(ok, p, 0.0)
        a = tl.exp(m - mn)
        l = l * a + tl.sum(p, axis=1)
        o = o * a[:, None] + tl.dot(p.to(v.dtype), v)
        m = mn
    o = o / tl.maximum(l, 1e-6)[:, None]
    tl.store(o_ptr + (rm[:, None] * n_heads + head) * HD + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=rm[:, None] < seqlen)


@case((8192, 16, 8, 128, 1024), (4000, 8, 4, 256, 2048))
def sliding_window_softcap(t, h, hkv, d, w):
    q, k, v = randn(t, h, d), randn(t, hkv, d), randn(t, hkv, d)
    o = torch.empty_like(q)
    BM = 64
    gemma_attn[(h * triton.cdiv(t, BM),)](q, k, v, o, t, h, hkv, w, 50.0, d ** -0.5, HD=d, BM=BM, BN=32, num_warps=4, num_stages=2)


@triton.jit
def alibi_bias_attn_kernel(q, k, v, bias, slopes, pad_mask, out, sqb, sqh, sqm, sbh, sbm, B, H, Nq, Nk, scale,
                           HAS_BIAS: tl.constexpr, HAS_ALIBI: tl.constexpr, HAS_PAD: tl.constexpr,
                           D: tl.constexpr, DP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pm = tl.program_id(0)
    h = tl.program_id(1)
    b = tl.program_id(2)
    offs_m = pm * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, DP)
    dmask = offs_d < D
    base = (b * H + h)
    qp = q + b * sqb + h * sqh + offs_m[:, None] * sqm + offs_d[None, :]
    qq = tl.load(qp, mask=(offs_m[:, None] < Nq) & dmask[None, :], other=0.)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, DP], tl.float32)
    if HAS_ALIBI:
        slope = tl.load(slopes + h).to(tl.float32)
    for start in range(0, Nk, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        kk = tl.load(k + base * Nk * D + offs_n[None, :] * D + offs_d[:, None], mask=(offs_n[None, :] < Nk) & dmask[:, None], other=0.)
        s = tl.dot(qq, kk, out_dtype=tl.float32) * scale
        if HAS_BIAS:
            s += tl.load(bias + h * sbh + offs_m[:, None] * sbm + offs_n[None, :], mask=(offs_m[:, None] < Nq) & (offs_n[None, :] < Nk), other=0.).to(tl.float32)
        if HAS_ALIBI:
            s -= slope * tl.abs(offs_m[:, None] + (Nk - Nq) - offs_n[None, :]).to(tl.float32)
        if HAS_PAD:
            keep = tl.load(pad_mask + b * Nk + offs_n, mask=offs_n < Nk, other=0)
            s = tl.where(keep[None, :] != 0, s, -10000.0)
        s = tl.where(offs_n[None, :] < Nk, s, float("-inf"))
        m_j = tl.max(s, 1)
        m_new = tl.where(m_i > m_j, m_i, m_j)
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        vv = tl.load(v + base * Nk * D + offs_n[:, None] * D + offs_d[None, :], mask=(offs_n[:, None] < Nk) & dmask[None, :], other=0.)
        acc *= alpha[:, None]
        acc += tl.dot(p.to(vv.dtype), vv)
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new
    acc /= l_i[:, None]
    tl.store(out + b * sqb + h * sqh + offs_m[:, None] * sqm + offs_d[None, :], acc.to(out.dtype.element_ty), mask=(offs_m[:, None] < Nq) & dmask[None, :])


@case((8, 12, 577, 577, 64, True, False, False), (4, 16, 1024, 1500, 80, False, False, True), (2, 32, 2048, 2048, 96, False, True, False))
def bias_alibi_padding(b, h, nq, nk, d, has_bias, has_alibi, has_pad):
    q = randn(b, h, nq, d, dtype=f16)
    k, v = randn(b, h, nk, d, dtype=f16), randn(b, h, nk, d, dtype=f16)
    o = torch.empty_like(q)
    bias = randn(h, nq, nk, dtype=f16)
    slopes = rand(h, hi=0.5)
    pad = (torch.arange(nk, device=DEV).unsqueeze(0) < randint(nk // 2, nk, b).unsqueeze(1)).to(torch.uint8)
    alibi_bias_attn_kernel[(triton.cdiv(nq, 64), h, b)](
        q, k, v, bias, slopes, pad, o, q.stride(0), q.stride(1), q.stride(2), bias.stride(0), bias.stride(1), b, h, nq, nk, d ** -0.5,
        HAS_BIAS=has_bias, HAS_ALIBI=has_alibi, HAS_PAD=has_pad, D=d, DP=triton.next_power_of_2(d), BLOCK_M=64, BLOCK_N=64, num_warps=4)


@triton.jit
def varlen_prefill(Q, K, V, O, cu_q, cu_k, sm_scale, stride_qt, stride_qh, stride_kt, stride_kh, stride_vt, stride_vh, stride_ot, stride_oh,
                   GROUP: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    start_m = tl.program_id(2)
    kv_head = cur_head // GROUP
    q_start = tl.load(cu_q + cur_batch)
    q_len = tl.load(cu_q + cur_batch + 1) - q_start
    k_start = tl.load(cu_k + cur_batch)
    k_len = tl.load(cu_k + cur_batch + 1) - k_start
    if start_m * BLOCK >= q_len:
        return
    ctx = k_len - q_len
    offs_n = tl.arange(0, BLOCK)
    offs_d = tl.arange(0, D)
    offs_m = start_m * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(Q + (q_start + offs_m[:, None]) * stride_qt + cur_head * stride_qh + offs_d[None, :], mask=offs_m[:, None] < q_len, other=0.0)
    k_ptrs = K + offs_n[None, :] * stride_kt + kv_head * stride_kh + offs_d[:, None]
    v_ptrs = V + offs_n[:, None] * stride_vt + kv_head * stride_vh + offs_d[None, :]
    m_i = tl.zeros([BLOCK], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK], dtype=tl.float32)
    acc = tl.zeros([BLOCK, D], dtype=tl.float32)
    end = tl.minimum(ctx + (start_m + 1) * BLOCK, k_len)
    for start_n in range(0, end, BLOCK):
        start_n = tl.multiple_of(start_n, BLOCK)
        k = tl.load(k_ptrs + (k_start + start_n) * stride_kt, mask=(start_n + offs_n[None, :]) < k_len, other=0.0)
        qk = tl.zeros([BLOCK, BLOCK], dtype=tl.float32)
        qk += tl.dot(q, k)
        qk *= sm_scale
        qk = tl.where(ctx + offs_m[:, None] >= (start_n + offs_n[None, :]), qk, float("-inf"))
        m_ij = tl.max(qk, 1)
        p = tl.exp(qk - m_ij[:, None])
        l_ij = tl.sum(p, 1)
        m_new = tl.maximum(m_i, m_ij)
        alpha = tl.exp(m_i - m_new)
        beta = tl.exp(m_ij - m_new)
        l_new = alpha * l_i + beta * l_ij
        p = p * (beta / l_new)[:, None]
        acc = acc * (l_i / l_new * alpha)[:, None]
        v = tl.load(v_ptrs + (k_start + start_n) * stride_vt, mask=(start_n + offs_n[:, None]) < k_len, other=0.0)
        p = p.to(v.dtype)
        acc += tl.dot(p, v)
        l_i = l_new
        m_i = m_new
    tl.store(O + (q_start + offs_m[:, None]) * stride_ot + cur_head * stride_oh + offs_d[None, :], acc, mask=offs_m[:, None] < q_len)


@case((32, 8, 128, [1024, 317, 2000, 64, 900, 1500, 3, 777]), (16, 2, 64, [4096, 512, 2048]))
def varlen_gqa(h, hkv, d, lens):
    cu = [0]
    for n in lens:
        cu.append(cu[-1] + n)
    cu_q = torch.tensor(cu, dtype=i32, device=DEV)
    t = cu[-1]
    q, k, v = randn(t, h, d, dtype=f16), randn(t, hkv, d, dtype=f16), randn(t, hkv, d, dtype=f16)
    o = torch.empty_like(q)
    BLOCK = 64
    varlen_prefill[(len(lens), h, triton.cdiv(max(lens), BLOCK))](
        q, k, v, o, cu_q, cu_q, d ** -0.5, q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1),
        GROUP=h // hkv, D=d, BLOCK=BLOCK, num_warps=4 if d <= 64 else 8, num_stages=1)


@triton.jit
def prefix_lm_attention(qkv_ptr, o_ptr, prefix_len_ptr, S, H, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # packed qkv: [B, S, 3, H, D]
    i = tl.program_id(0)
    bh = tl.program_id(1)
    b, h = bh // H, bh % H
    row = 3 * H * D
    qb = qkv_ptr + b * S * row + h * D
    kb = qb + H * D
    vb = kb + H * D
    plen = tl.load(prefix_len_ptr + b)
    om = i * BM + tl.arange(0, BM)
    od = tl.arange(0, D)
    q = tl.load(qb + om[:, None] * row + od[None, :], om[:, None] < S, 0.0)
    q = (q * scale * 1.4427).to(qkv_ptr.dtype.element_ty)
    m = tl.full([BM], -float("inf"), tl.float32)
    l = tl.full([BM], 0, tl.float32)
    acc = tl.full([BM, D], 0, tl.float32)
    end = tl.maximum(plen, tl.minimum((i + 1) * BM, S))
    j = 0
    while j < end:
        on = j + tl.arange(0, BN)
        k = tl.load(kb + on[:, None] * row + od[None, :], on[:, None] < S, 0.0)
        s = tl.dot(q, k.T)
        allow = (on[None, :] < plen) | (on[None, :] <= om[:, None])
        s = tl.where(allow, s, -float("inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - mn[:, None])
        c = tl.exp2(m - mn)
        v = tl.load(vb + on[:, None] * row + od[None, :], on[:, None] < S, 0.0)
        acc = acc * c[:, None] + tl.dot(p.to(v.dtype), v)
        l = l * c + tl.sum(p, 1)
        m = mn
        j += BN
    tl.store(o_ptr + (b * S + om[:, None]) * H * D + h * D + od[None, :], (acc / l[:, None]).to(o_ptr.dtype.element_ty), om[:, None] < S)


@case((4, 1536, 16, 64), (2, 2048, 16, 128))
def prefix_lm(b, s, h, d):
    qkv = randn(b, s, 3, h, d)
    o = torch.empty((b, s, h, d), device=DEV, dtype=bf16)
    plen = randint(100, 700, b, dtype=i32)
    prefix_lm_attention[(triton.cdiv(s, 64), b * h)](qkv, o, plen, s, h, d ** -0.5, D=d, BM=64, BN=64, num_warps=4)


@triton.jit
def block_sparse_attn(Q, K, V, O, row_ptr, col_idx, N, scale, BLOCK: tl.constexpr, D: tl.constexpr):
    qb = tl.program_id(0)
    hz = tl.program_id(1)
    nb = tl.num_programs(0)
    off = hz.to(tl.int64) * N * D
    offs = tl.arange(0, BLOCK)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + off + (qb * BLOCK + offs)[:, None] * D + offs_d[None, :])
    first = tl.load(row_ptr + qb)
    last = tl.load(row_ptr + qb + 1)
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for t in range(first, last):
        c = tl.load(col_idx + t)
        cols = c * BLOCK + offs
        k = tl.load(K + off + cols[None, :] * D + offs_d[:, None])
        v = tl.load(V + off + cols[:, None] * D + offs_d[None, :])
        s = tl.dot(q, k) * scale
        if c == qb:
            s = tl.where((qb * BLOCK + offs)[:, None] >= cols[None, :], s, float("-inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        l = l * a + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * a[:, None])
        m = mn
    tl.store(O + off + (qb * BLOCK + offs)[:, None] * D + offs_d[None, :], (acc / l[:, None]).to(O.dtype.element_ty))


@case((1, 32, 8192, 64, 64), (2, 16, 4096, 128, 128))
def block_sparse(z, h, n, d, block):
    q, k, v = [randn(z, h, n, d, dtype=f16) for _ in range(3)]
    o = torch.empty_like(q)
    rows, cols = [0], []
    for i in range(n // block):
        sel = sorted({0, i, max(0, i - 1), i // 2, i // 3} | set(range(0, i, 8)))
        cols += sel
        rows.append(len(cols))
    block_sparse_attn[(n // block, z * h)](q, k, v, o, torch.tensor(rows, dtype=i32, device=DEV), torch.tensor(cols, dtype=i32, device=DEV), n, d ** -0.5,
                                           BLOCK=block, D=d, num_warps=4 if block == 64 else 8, num_stages=2)

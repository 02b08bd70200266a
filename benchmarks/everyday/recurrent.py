"""Linear attention (chunked, recurrent, retention, gated delta), Mamba selective scan, SSD chunk kernels, RWKV, LSTM / GRU cells."""
from _common import *
import triton, triton.language as tl


@triton.jit
def chunk_linear_attn_h(k, v, h, T, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    i_v, i_k, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    NT = tl.cdiv(T, BT)
    b_h = tl.zeros([BK, BV], dtype=tl.float32)
    for i_t in range(NT):
        p_k = tl.make_block_ptr(k + i_bh * T * K, (K, T), (1, K), (i_k * BK, i_t * BT), (BK, BT), (0, 1))
        p_v = tl.make_block_ptr(v + i_bh * T * V, (T, V), (V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        p_h = tl.make_block_ptr(h + (i_bh * NT + i_t) * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        tl.store(p_h, b_h.to(p_h.dtype.element_ty), boundary_check=(0, 1))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_h += tl.dot(b_k, b_v, allow_tf32=False)


@triton.jit
def chunk_linear_attn_o(q, k, v, h, o, scale, T, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_i = tl.arange(0, BT)
    m_s = o_i[:, None] >= o_i[None, :]
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_s = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        p_q = tl.make_block_ptr(q + i_bh * T * K, (T, K), (K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        p_k = tl.make_block_ptr(k + i_bh * T * K, (K, T), (1, K), (i_k * BK, i_t * BT), (BK, BT), (0, 1))
        p_h = tl.make_block_ptr(h + (i_bh * tl.cdiv(T, BT) + i_t) * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        b_q = tl.load(p_q, boundary_check=(0, 1))
        b_q = (b_q * scale).to(b_q.dtype)
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_h = tl.load(p_h, boundary_check=(0, 1))
        b_o += tl.dot(b_q, b_h, allow_tf32=False)
        b_s += tl.dot(b_q, b_k, allow_tf32=False)
    b_s = tl.where(m_s, b_s, 0)
    p_v = tl.make_block_ptr(v + i_bh * T * V, (T, V), (V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    b_v = tl.load(p_v, boundary_check=(0, 1))
    b_o = b_o + tl.dot(b_s.to(b_v.dtype), b_v, allow_tf32=False)
    p_o = tl.make_block_ptr(o + i_bh * T * V, (T, V), (V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


@case((64, 2048, 128, 128), (32, 4000, 64, 128))
def linear_attention_chunked(bh, t, dk, dv):
    q, k, v = randn(bh, t, dk), randn(bh, t, dk), randn(bh, t, dv)
    h = torch.empty((bh, triton.cdiv(t, 64), dk, dv), device=DEV, dtype=bf16)
    chunk_linear_attn_h[(dv // 64, dk // 64, bh)](k, v, h, t, K=dk, V=dv, BT=64, BK=64, BV=64, num_warps=4, num_stages=2)
    chunk_linear_attn_o[(dv // 64, triton.cdiv(t, 64), bh)](q, k, v, h, torch.empty_like(v), dk ** -0.5, t, K=dk, V=dv, BT=64, BK=64, BV=64, num_warps=4)


@triton.jit
def retention_fwd(q_ptr, k_ptr, v_ptr, o_ptr, gamma_ptr, T, D: tl.constexpr, DV: tl.constexpr, C: tl.constexpr):
    # whole sequence by one program, state kept in registers, decay per head
    bh = tl.program_id(0)
    vb = tl.program_id(1)
    H: tl.constexpr = 16
    g = tl.load(gamma_ptr + bh % H)
    lg = tl.log2(g)
    i = tl.arange(0, C)
    d = tl.arange(0, D)
    w = tl.arange(0, DV)
    nv = tl.num_programs(1) * DV
    decay = tl.where(i[:, None] >= i[None, :], tl.exp2((i[:, None] - i[None, :]).to(tl.float32) * lg), 0.0)
    row = tl.exp2((i + 1).to(tl.float32) * lg)
    col = tl.exp2((C - 1 - i).to(tl.float32) * lg)
    full = tl.exp2(lg * C)
    S = tl.zeros((D, DV), tl.float32)
    for t in range(0, T, C):
        q = tl.load(q_ptr + (bh * T + t + i[:, None]) * D + d[None, :])
        k = tl.load(k_ptr + (bh * T + t + i[:, None]) * D + d[None, :])
        v = tl.load(v_ptr + (bh * T + t + i[:, None]) * nv + vb * DV + w[None, :])
        a = tl.dot(q, tl.trans(k)) * decay
        o = tl.dot(a.to(v.dtype), v)
        o += tl.dot(q, S.to(q.dtype)) * row[:, None]
        S = S * full + tl.dot(tl.trans(k), (v * col[:, None]).to(v.dtype))
        tl.store(o_ptr + (bh * T + t + i[:, None]) * nv + vb * DV + w[None, :], o.to(o_ptr.dtype.element_ty))


@case((64, 2048, 64, 128), (32, 4096, 128, 256))
def retention(bh, t, d, dv):
    gamma = 1 - 2.0 ** (-5 - torch.arange(16, device=DEV, dtype=f32))
    retention_fwd[(bh, dv // 64)](randn(bh, t, d, scale=0.1), randn(bh, t, d, scale=0.1), randn(bh, t, dv), torch.empty((bh, t, dv), device=DEV, dtype=bf16), gamma, t,
                                  D=d, DV=64, C=64, num_warps=4 if d == 64 else 8, num_stages=1)


@triton.jit
def gated_delta_recurrent(q, k, v, g, beta, o, h0, ht, scale, T, H: tl.constexpr, HV: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr, L2NORM: tl.constexpr):
    i_v, i_nh = tl.program_id(0), tl.program_id(1)
    i_n, i_hv = i_nh // HV, i_nh % HV
    i_h = i_hv // (HV // H)
    o_k = tl.arange(0, K)
    o_v = i_v * BV + tl.arange(0, BV)
    p_q = q + (i_n * T * H + i_h) * K + o_k
    p_k = k + (i_n * T * H + i_h) * K + o_k
    p_v = v + (i_n * T * HV + i_hv) * V + o_v
    p_g = g + i_n * T * HV + i_hv
    p_b = beta + i_n * T * HV + i_hv
    p_o = o + (i_n * T * HV + i_hv) * V + o_v
    b_h = tl.load(h0 + i_nh * K * V + o_k[:, None] * V + o_v[None, :]).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q).to(tl.float32)
        b_k = tl.load(p_k).to(tl.float32)
        b_v = tl.load(p_v).to(tl.float32)
        if L2NORM:
            b_q = b_q * tl.rsqrt(tl.sum(b_q * b_q) + 1e-6)
            b_k = b_k / tl.sqrt(tl.sum(b_k * b_k) + 1e-6)
        b_q = b_q * scale
        b_h *= tl.exp(tl.load(p_g).to(tl.float32))
        b_v -= tl.sum(b_h * b_k[:, None], 0)
        b_v *= tl.load(p_b).to(tl.float32)
        b_h += b_k[:, None] * b_v[None, :]
        tl.store(p_o, tl.sum(b_h * b_q[:, None], 0).to(p_o.dtype.element_ty))
        p_q += H * K
        p_k += H * K
        p_v += HV * V
        p_g += HV
        p_b += HV
        p_o += HV * V
    tl.store(ht + i_nh * K * V + o_k[:, None] * V + o_v[None, :], b_h)


@case((64, 1, 16, 32, 128, 128, True), (4, 256, 16, 32, 128, 128, True), (2, 512, 8, 8, 64, 64, False))
def gated_delta(n, t, h, hv, dk, dv, l2):
    q, k, v = randn(n, t, h, dk), randn(n, t, h, dk, scale=0.1), randn(n, t, hv, dv)
    g, beta = -rand(n, t, hv), rand(n, t, hv, dtype=bf16)
    h0 = randn(n, hv, dk, dv, dtype=f32, scale=0.1)
    gated_delta_recurrent[(dv // 8, n * hv)](q, k, v, g, beta, torch.empty_like(v), h0, torch.empty_like(h0), dk ** -0.5, t,
                                             H=h, HV=hv, K=dk, V=dv, BV=8, L2NORM=l2, num_warps=1, num_stages=3)


@triton.jit
def softplus(x):
    return tl.where(x <= 20.0, tl.log(1.0 + tl.exp(x)), x)


@triton.jit
def selective_scan_fwd(u, delta, A, B, C, D, z, delta_bias, out, last_state, dim, seqlen, N: tl.constexpr, BD: tl.constexpr):
    # (batch, dim, seqlen) layout; sequential over time
    b = tl.program_id(0)
    offs_d = tl.program_id(1) * BD + tl.arange(0, BD)
    offs_n = tl.arange(0, N)
    md = offs_d < dim
    a = -tl.exp(tl.load(A + offs_d[:, None] * N + offs_n[None, :], mask=md[:, None], other=0.0))
    dd = tl.load(D + offs_d, mask=md, other=0.0)
    bias = tl.load(delta_bias + offs_d, mask=md, other=0.0)
    h = tl.zeros((BD, N), dtype=tl.float32)
    row = (b * dim + offs_d) * seqlen
    for t in range(seqlen):
        ut = tl.load(u + row + t, mask=md, other=0.0).to(tl.float32)
        dt = softplus(tl.load(delta + row + t, mask=md, other=0.0).to(tl.float32) + bias)
        bt = tl.load(B + (b * N + offs_n) * seqlen + t).to(tl.float32)
        ct = tl.load(C + (b * N + offs_n) * seqlen + t).to(tl.float32)
        h = tl.exp(dt[:, None] * a) * h + (dt * ut)[:, None] * bt[None, :]
        y = tl.sum(h * ct[None, :], axis=1) + dd * ut
        zt = tl.load(z + row + t, mask=md, other=0.0).to(tl.float32)
        y = y * zt * tl.sigmoid(zt)
        tl.store(out + row + t, y, mask=md)
    tl.store(last_state + (b * dim + offs_d[:, None]) * N + offs_n[None, :], h, mask=md[:, None])


@case((8, 2048, 512, 16, 32), (4, 1536, 300, 16, 8))
def mamba_selective_scan(b, dim, l, n, bd):
    u, dt, z = randn(b, dim, l), randn(b, dim, l), randn(b, dim, l)
    selective_scan_fwd[(b, triton.cdiv(dim, bd))](u, dt, rand(dim, n), randn(b, n, l), randn(b, n, l), rand(dim), z, rand(dim), torch.empty_like(u),
                                                  torch.empty((b, dim, n), device=DEV, dtype=f32), dim, l, N=n, BD=bd, num_warps=4 if bd > 8 else 1)


@triton.jit
def _scan_op(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def diag_recurrence_assoc(a_ptr, x_ptr, o_ptr, L, DIM, BL: tl.constexpr, BD: tl.constexpr):
    # h_t = a_t h_{t-1} + x_t with associative_scan in tiles [BL, BD]
    b = tl.program_id(1)
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    t = tl.arange(0, BL)
    carry = tl.zeros((BD,), tl.float32)
    for s in range(0, L, BL):
        p = (b * L + s + t)[:, None] * DIM + d[None, :]
        m = (s + t < L)[:, None] & (d < DIM)[None, :]
        a = tl.load(a_ptr + p, mask=m, other=1.0).to(tl.float32)
        x = tl.load(x_ptr + p, mask=m, other=0.0).to(tl.float32)
        aa, hh = tl.associative_scan((a, x), 0, _scan_op)
        hh = hh + aa * carry[None, :]
        tl.store(o_ptr + p, hh.to(o_ptr.dtype.element_ty), mask=m)
        carry = tl.sum(tl.where((t == BL - 1)[:, None], hh, 0.0), 0)


@case((8, 4096, 1024, 64, 32), (16, 1000, 768, 128, 16))
def rglru_scan(b, l, d, bl, bd):
    diag_recurrence_assoc[(triton.cdiv(d, bd), b)](rand(b, l, d, dtype=bf16), randn(b, l, d), torch.empty((b, l, d), device=DEV, dtype=bf16), l, d, BL=bl, BD=bd, num_warps=4)


@triton.jit
def ssd_chunk_cumsum(dt_ptr, A_ptr, bias_ptr, dt_out, dA_cs, seqlen, nheads, nchunks, stride_b, stride_s, stride_h,
                     CHUNK: tl.constexpr, BH: tl.constexpr):
    c = tl.program_id(0)
    hb = tl.program_id(1)
    b = tl.program_id(2)
    oh = hb * BH + tl.arange(0, BH)
    oc = c * CHUNK + tl.arange(0, CHUNK)
    m = (oh[:, None] < nheads) & (oc[None, :] < seqlen)
    dt = tl.load(dt_ptr + b * stride_b + oh[:, None] * stride_h + oc[None, :] * stride_s, mask=m, other=0.0).to(tl.float32)
    dt += tl.load(bias_ptr + oh, mask=oh < nheads, other=0.0)[:, None]
    dt = softplus(dt)
    dt = tl.minimum(tl.maximum(dt, 0.001), 100.0)
    dt = tl.where(m, dt, 0.0)
    A = tl.load(A_ptr + oh, mask=oh < nheads, other=0.0)
    cs = tl.cumsum(dt * A[:, None], axis=1)
    o = ((b * nheads + oh[:, None]) * nchunks + c) * CHUNK + tl.arange(0, CHUNK)[None, :]
    tl.store(dt_out + o, dt, mask=oh[:, None] < nheads)
    tl.store(dA_cs + o, cs, mask=oh[:, None] < nheads)


@triton.jit
def ssd_chunk_state(x_ptr, b_ptr, states_ptr, dt_ptr, dA_ptr, P, Nst, nheads, ngroups, nchunks, seqlen,
                    CHUNK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    bc = tl.program_id(1)
    c = bc % nchunks
    b = bc // nchunks
    h = tl.program_id(2)
    nn = tl.cdiv(Nst, BN)
    pm = tl.program_id(0) // nn
    pn = tl.program_id(0) % nn
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    x = x_ptr + ((b * seqlen + c * CHUNK + ok[None, :]) * nheads + h) * P + om[:, None]
    bb = b_ptr + ((b * seqlen + c * CHUNK + ok[:, None]) * ngroups + h // (nheads // ngroups)) * Nst + on[None, :]
    dbase = ((b * nheads + h) * nchunks + c) * CHUNK
    last = tl.load(dA_ptr + dbase + CHUNK - 1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    lim = tl.minimum(CHUNK, seqlen - c * CHUNK)
    for k in range(0, lim, BK):
        xv = tl.load(x, mask=(om[:, None] < P) & (ok[None, :] < lim - k), other=0.0)
        bv = tl.load(bb, mask=(on[None, :] < Nst) & (ok[:, None] < lim - k), other=0.0).to(tl.float32)
        da = tl.load(dA_ptr + dbase + k + ok, mask=ok < lim - k, other=0.0)
        dt = tl.load(dt_ptr + dbase + k + ok, mask=ok < lim - k, other=0.0)
        bv *= (tl.exp(last - da) * dt)[:, None]
        acc += tl.dot(xv, bv.to(xv.dtype))
        x += BK * nheads * P
        bb += BK * ngroups * Nst
    o = states_ptr + ((b * nchunks + c) * nheads + h) * P * Nst + om[:, None] * Nst + on[None, :]
    tl.store(o, acc.to(states_ptr.dtype.element_ty), mask=(om[:, None] < P) & (on[None, :] < Nst))


@triton.jit
def ssd_state_passing(states, out, dA, nchunks, dim, nheads, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b = tl.program_id(1)
    h = tl.program_id(2)
    s = tl.zeros((BLOCK,), tl.float32)
    for c in range(nchunks):
        off = ((b * nchunks + c) * nheads + h) * dim + i
        tl.store(out + off, s, mask=i < dim)
        new = tl.load(states + off, mask=i < dim, other=0.0).to(tl.float32)
        sc = tl.exp(tl.load(dA + ((b * nheads + h) * nchunks + c) * CHUNK + CHUNK - 1))
        s = s * sc + new


@case((2, 4096, 64, 64, 128, 1, 256), (4, 1900, 24, 64, 64, 8, 128))
def mamba2_ssd(b, l, h, p, n, g, chunk):
    nc = triton.cdiv(l, chunk)
    x, B, dt = randn(b, l, h, p), randn(b, l, g, n), randn(b, l, h)
    A = -rand(h, lo=0.1)
    dto = torch.empty((b, h, nc, chunk), device=DEV, dtype=f32)
    cs = torch.empty_like(dto)
    st = torch.empty((b, nc, h, p, n), device=DEV, dtype=f32)
    ssd_chunk_cumsum[(nc, triton.cdiv(h, 4), b)](dt, A, rand(h), dto, cs, l, h, nc, dt.stride(0), dt.stride(1), dt.stride(2), CHUNK=chunk, BH=4)
    ssd_chunk_state[(triton.cdiv(p, 64) * triton.cdiv(n, 64), b * nc, h)](x, B, st, dto, cs, p, n, h, g, nc, l, CHUNK=chunk, BM=64, BN=64, BK=32, num_warps=4, num_stages=3)
    ssd_state_passing[(triton.cdiv(p * n, 512), b, h)](st, torch.empty_like(st), cs, nc, p * n, h, CHUNK=chunk, BLOCK=512)


@triton.jit
def wkv4_forward(w_ptr, u_ptr, k_ptr, v_ptr, y_ptr, T, C, BC: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    m = c < C
    w = -tl.exp(tl.load(w_ptr + c, mask=m).to(tl.float32))
    u = tl.load(u_ptr + c, mask=m).to(tl.float32)
    aa = tl.zeros([BC], tl.float32)
    bb = tl.zeros([BC], tl.float32)
    pp = tl.zeros([BC], tl.float32) - 1e38
    for t in range(T):
        i = (b * T + t) * C + c
        kk = tl.load(k_ptr + i, mask=m).to(tl.float32)
        vv = tl.load(v_ptr + i, mask=m).to(tl.float32)
        ww = u + kk
        p = tl.maximum(pp, ww)
        e1 = tl.exp(pp - p)
        e2 = tl.exp(ww - p)
        tl.store(y_ptr + i, ((e1 * aa + e2 * vv) / (e1 * bb + e2)).to(y_ptr.dtype.element_ty), mask=m)
        ww = w + pp
        p = tl.maximum(ww, kk)
        e1 = tl.exp(ww - p)
        e2 = tl.exp(kk - p)
        aa = e1 * aa + e2 * vv
        bb = e1 * bb + e2
        pp = p


@case((16, 1024, 2048, 32), (8, 512, 4096, 64))
def rwkv4(b, t, c, bc):
    wkv4_forward[(b, triton.cdiv(c, bc))](rand(c), rand(c), randn(b, t, c), randn(b, t, c), torch.empty((b, t, c), device=DEV, dtype=bf16), t, c, BC=bc, num_warps=1)


@triton.jit
def rwkv6_fwd(r, k, v, w, u, o, T, H: tl.constexpr, S: tl.constexpr):
    bh = tl.program_id(0)
    b = bh // H
    h = bh % H
    i = tl.arange(0, S)
    uu = tl.load(u + h * S + i)
    state = tl.zeros((S, S), tl.float32)          # [k, v]
    for t in range(0, T):
        off = ((b * T + t) * H + h) * S + i
        rt = tl.load(r + off).to(tl.float32)
        kt = tl.load(k + off).to(tl.float32)
        vt = tl.load(v + off).to(tl.float32)
        wt = tl.exp(-tl.exp(tl.load(w + off).to(tl.float32)))
        kv = kt[:, None] * vt[None, :]
        y = tl.sum(rt[:, None] * (state + uu[:, None] * kv), 0)
        state = state * wt[:, None] + kv
        tl.store(o + off, y.to(o.dtype.element_ty))


@case((8, 512, 32, 64),)
def rwkv6(b, t, h, s):
    r, k, v, w = [randn(b, t, h, s) for _ in range(4)]
    rwkv6_fwd[(b * h,)](r, k, v, w, randn(h, s, dtype=f32), torch.empty_like(r), t, H=h, S=s, num_warps=4)


@triton.jit
def lstm_cell_fused(x, h, c, w_ih, w_hh, b_ih, b_hh, h_out, c_out, B, I, H, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # both products and the four gates in one kernel, weights [4H, I] and [4H, H]
    rb = tl.program_id(0) * BM + tl.arange(0, BM)
    rh = tl.program_id(1) * BN + tl.arange(0, BN)
    ai = tl.zeros((BM, BN), tl.float32)
    af = tl.zeros((BM, BN), tl.float32)
    ag = tl.zeros((BM, BN), tl.float32)
    ao = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, I, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(x + rb[:, None] * I + rk[None, :], mask=(rb[:, None] < B) & (rk[None, :] < I), other=0.0)
        wp = w_ih + rh[None, :] * I + rk[:, None]
        wm = (rh[None, :] < H) & (rk[:, None] < I)
        ai = tl.dot(a, tl.load(wp, mask=wm, other=0.0), ai)
        af = tl.dot(a, tl.load(wp + H * I, mask=wm, other=0.0), af)
        ag = tl.dot(a, tl.load(wp + 2 * H * I, mask=wm, other=0.0), ag)
        ao = tl.dot(a, tl.load(wp + 3 * H * I, mask=wm, other=0.0), ao)
    for k0 in range(0, H, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(h + rb[:, None] * H + rk[None, :], mask=(rb[:, None] < B) & (rk[None, :] < H), other=0.0)
        wp = w_hh + rh[None, :] * H + rk[:, None]
        wm = (rh[None, :] < H) & (rk[:, None] < H)
        ai = tl.dot(a, tl.load(wp, mask=wm, other=0.0), ai)
        af = tl.dot(a, tl.load(wp + H * H, mask=wm, other=0.0), af)
        ag = tl.dot(a, tl.load(wp + 2 * H * H, mask=wm, other=0.0), ag)
        ao = tl.dot(a, tl.load(wp + 3 * H * H, mask=wm, other=0.0), ao)
    mh = rh < H
    ai += (tl.load(b_ih + rh, mask=mh) + tl.load(b_hh + rh, mask=mh))[None, :]
    af += (tl.load(b_ih + H + rh, mask=mh) + tl.load(b_hh + H + rh, mask=mh))[None, :]
    ag += (tl.load(b_ih + 2 * H + rh, mask=mh) + tl.load(b_hh + 2 * H + rh, mask=mh))[None, :]
    ao += (tl.load(b_ih + 3 * H + rh, mask=mh) + tl.load(b_hh + 3 * H + rh, mask=mh))[None, :]
    m = (rb[:, None] < B) & mh[None, :]
    cp = tl.load(c + rb[:, None] * H + rh[None, :], mask=m, other=0.0)
    cn = tl.sigmoid(af) * cp + tl.sigmoid(ai) * (2 * tl.sigmoid(2 * ag) - 1)
    hn = tl.sigmoid(ao) * (2 * tl.sigmoid(2 * cn) - 1)
    tl.store(c_out + rb[:, None] * H + rh[None, :], cn, mask=m)
    tl.store(h_out + rb[:, None] * H + rh[None, :], hn.to(h_out.dtype.element_ty), mask=m)


@case((256, 1024, 1024, f16, 32), (64, 700, 1500, bf16, 64), (512, 512, 512, f32, 32))
def lstm_cell(b, i, h, dt, bk):
    x, hh, c = randn(b, i, dtype=dt), randn(b, h, dtype=dt), randn(b, h, dtype=f32)
    lstm_cell_fused[(triton.cdiv(b, 32), triton.cdiv(h, 32))](x, hh, c, randn(4 * h, i, dtype=dt, scale=0.02), randn(4 * h, h, dtype=dt, scale=0.02), rand(4 * h), rand(4 * h),
                                                              torch.empty_like(hh), torch.empty_like(c), b, i, h, BM=32, BN=32, BK=bk, num_warps=4, num_stages=3)


@triton.jit
def gru_pointwise(gi, gh, h, out, H, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    b, j = i // H, i % H
    p = b * 3 * H + j
    ir, iz, inn = tl.load(gi + p, m), tl.load(gi + p + H, m), tl.load(gi + p + 2 * H, m)
    hr, hz, hn = tl.load(gh + p, m), tl.load(gh + p + H, m), tl.load(gh + p + 2 * H, m)
    r = 1 / (1 + tl.exp(-(ir + hr)))
    z = 1 / (1 + tl.exp(-(iz + hz)))
    e = tl.exp(-2 * (inn + r * hn))
    nn = (1 - e) / (1 + e)
    tl.store(out + i, (1 - z) * nn + z * tl.load(h + i, m), m)


@case((4096, 1024), (16384, 600))
def gru_cell(b, h):
    gru_pointwise[(triton.cdiv(b * h, 1024),)](randn(b, 3 * h, dtype=f32), randn(b, 3 * h, dtype=f32), randn(b, h, dtype=f32), torch.empty((b, h), device=DEV, dtype=f32), h, b * h, BLOCK=1024)

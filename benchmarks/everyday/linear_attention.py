"""Linear attention and state-space models: mamba2 chunks, selective scan, gated delta rule, rwkv6/7, retention, GLA; forward and some backward."""
from _common import *
import triton, triton.language as tl


# ---------------------------------------------------------------- mamba2: cumsum of dt*A, chunk states, state passing, chunk scan
@triton.jit
def ssd_chunk_cumsum(dt_ptr, A_ptr, bias_ptr, dt_out, dA_cs, T, H, CHUNK: tl.constexpr, BH: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1)
    h = tl.program_id(2) * BH + tl.arange(0, BH)
    t = c * CHUNK + tl.arange(0, CHUNK)
    m = (h[:, None] < H) & (t[None, :] < T)
    dt = tl.load(dt_ptr + (b * T + t[None, :]) * H + h[:, None], mask=m, other=0.0).to(tl.float32)
    dt += tl.load(bias_ptr + h, mask=h < H, other=0.0).to(tl.float32)[:, None]
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    dt = tl.where(m, dt, 0.0)
    nc = tl.cdiv(T, CHUNK)
    o = ((b * H + h[:, None]) * nc + c) * CHUNK + tl.arange(0, CHUNK)[None, :]
    tl.store(dt_out + o, dt, mask=h[:, None] < H)
    A = tl.load(A_ptr + h, mask=h < H, other=0.0)
    tl.store(dA_cs + o, tl.cumsum(dt * A[:, None], axis=1), mask=h[:, None] < H)


@triton.jit
def ssd_chunk_state(x_ptr, b_ptr, states_ptr, dt_ptr, dA_ptr, T, H, G, P: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # x [B, T, H, P], b [B, T, G, N], states [B, nc, H, P, N]
    bc = tl.program_id(1)
    h = tl.program_id(2)
    nc = tl.cdiv(T, CHUNK)
    b = bc // nc
    c = bc % nc
    nblk: tl.constexpr = N // BN
    rm = (tl.program_id(0) // nblk) * BM + tl.arange(0, BM)
    rn = (tl.program_id(0) % nblk) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    g = h // (H // G)
    base = ((b * H + h) * nc + c) * CHUNK
    last = tl.load(dA_ptr + base + CHUNK - 1)
    limit = min(CHUNK, T - c * CHUNK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, limit, BK):
        kk = k + rk
        t = b * T + c * CHUNK + kk
        x = tl.load(x_ptr + (t[None, :] * H + h) * P + rm[:, None], mask=(rm[:, None] < P) & (kk[None, :] < limit), other=0.0)
        bb = tl.load(b_ptr + (t[:, None] * G + g) * N + rn[None, :], mask=kk[:, None] < limit, other=0.0).to(tl.float32)
        dA = tl.load(dA_ptr + base + kk, mask=kk < CHUNK, other=0.0)
        dt = tl.load(dt_ptr + base + kk, mask=kk < CHUNK, other=0.0)
        bb *= (tl.exp(last - dA) * dt)[:, None]
        acc += tl.dot(x, bb.to(x.dtype))
    tl.store(states_ptr + (((b * nc + c) * H + h) * P + rm[:, None]) * N + rn[None, :], acc, mask=rm[:, None] < P)


@triton.jit
def ssd_state_passing(states_ptr, out_ptr, final_ptr, dA_ptr, nc, H, DIM, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(1)
    h = tl.program_id(2)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for c in range(nc):
        at = ((b * nc + c) * H + h).to(tl.int64) * DIM + o
        tl.store(out_ptr + at, s, mask=o < DIM)
        new = tl.load(states_ptr + at, mask=o < DIM, other=0.0)
        decay = tl.exp(tl.load(dA_ptr + ((b * H + h) * nc + c) * CHUNK + CHUNK - 1))
        s = decay * s + new
    tl.store(final_ptr + (b * H + h) * DIM + o, s, mask=o < DIM)


@triton.jit
def ssd_chunk_scan(c_ptr, b_ptr, x_ptr, z_ptr, d_ptr, prev_ptr, dt_ptr, dA_ptr, out_ptr, T, H, G, P: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr,
                   BM: tl.constexpr, BK: tl.constexpr, HAS_Z: tl.constexpr):
    pm = tl.program_id(0)
    bc = tl.program_id(1)
    h = tl.program_id(2)
    nc = tl.cdiv(T, CHUNK)
    b = bc // nc
    c = bc % nc
    g = h // (H // G)
    rm = pm * BM + tl.arange(0, BM)
    rp = tl.arange(0, P)
    rn = tl.arange(0, N)
    limit = min(CHUNK, T - c * CHUNK)
    base = ((b * H + h) * nc + c) * CHUNK
    t0 = b * T + c * CHUNK
    dA_m = tl.load(dA_ptr + base + rm, mask=rm < limit, other=0.0)
    C = tl.load(c_ptr + ((t0 + rm)[:, None] * G + g) * N + rn[None, :], mask=rm[:, None] < limit, other=0.0)
    prev = tl.load(prev_ptr + (((b * nc + c) * H + h) * P + rp[None, :]) * N + rn[:, None])
    acc = tl.dot(C, prev.to(C.dtype)) * tl.exp(dA_m)[:, None]
    for k in range(0, min((pm + 1) * BM, limit), BK):
        kk = k + tl.arange(0, BK)
        B = tl.load(b_ptr + ((t0 + kk)[None, :] * G + g) * N + rn[:, None], mask=kk[None, :] < limit, other=0.0)
        cb = tl.dot(C, B)
        dA_k = tl.load(dA_ptr + base + kk, mask=kk < limit, other=0.0)
        dt_k = tl.load(dt_ptr + base + kk, mask=kk < limit, other=0.0)
        cb *= tl.exp(tl.minimum(dA_m[:, None] - dA_k[None, :], 0.0)) * dt_k[None, :]
        cb = tl.where(rm[:, None] >= kk[None, :], cb, 0.0)
        x = tl.load(x_ptr + ((t0 + kk)[:, None] * H + h) * P + rp[None, :], mask=kk[:, None] < limit, other=0.0)
        acc += tl.dot(cb.to(x.dtype), x)
    om = rm[:, None] < limit
    at = ((t0 + rm)[:, None] * H + h) * P + rp[None, :]
    acc += tl.load(x_ptr + at, mask=om, other=0.0).to(tl.float32) * tl.load(d_ptr + h)
    if HAS_Z:
        z = tl.load(z_ptr + at, mask=om, other=0.0).to(tl.float32)
        acc *= z * tl.sigmoid(z)
    tl.store(out_ptr + at, acc.to(out_ptr.dtype.element_ty), mask=om)


@case((2, 4096, 64, 1, 64, 128, 256), (1, 3000, 80, 8, 64, 64, 128))
def mamba2_ssd(b, t, h, g, p, n, chunk):
    nc = triton.cdiv(t, chunk)
    x, z = randn(b, t, h, p), randn(b, t, h, p)
    B, C = randn(b, t, g, n), randn(b, t, g, n)
    dt, bias = randn(b, t, h), randn(h, dtype=f32)
    A, D = -rand(h, lo=0.1), randn(h, dtype=f32)
    dto = torch.empty(b, h, nc, chunk, device=DEV, dtype=f32)
    dA = torch.empty_like(dto)
    st = torch.empty(b, nc, h, p, n, device=DEV, dtype=f32)
    prev = torch.empty_like(st)
    fin = torch.empty(b, h, p, n, device=DEV, dtype=f32)
    out = torch.empty_like(x)
    ssd_chunk_cumsum[(b, nc, triton.cdiv(h, 8))](dt, A, bias, dto, dA, t, h, CHUNK=chunk, BH=8)
    ssd_chunk_state[(triton.cdiv(p, 64) * (n // 64), b * nc, h)](x, B, st, dto, dA, t, h, g, P=p, N=n, CHUNK=chunk, BM=64, BN=64, BK=32, num_stages=3)
    ssd_state_passing[(triton.cdiv(p * n, 256), b, h)](st, prev, fin, dA, nc, h, p * n, CHUNK=chunk, BLOCK=256, num_warps=2)
    ssd_chunk_scan[(chunk // 64, b * nc, h)](C, B, x, z, D, prev, dto, dA, out, t, h, g, P=p, N=n, CHUNK=chunk, BM=64, BK=64, HAS_Z=True, num_stages=2)


# ---------------------------------------------------------------- mamba1: selective scan by associative_scan over the time, state by state
@triton.jit
def _first_order(a1, b1, a2, b2):
    return a2 * a1, a2 * b1 + b2


@triton.jit
def selective_scan_assoc(u, delta, A, B, C, D, y, L, DIM, N: tl.constexpr, BLOCK_T: tl.constexpr):
    # u, delta [B, DIM, L]; A [DIM, N]; B, C [B, N, L]
    b = tl.program_id(0)
    d = tl.program_id(1)
    n = tl.arange(0, N)
    a = tl.load(A + d * N + n)
    h = tl.zeros((N,), tl.float32)
    skip = tl.load(D + d)
    for t0 in range(0, L, BLOCK_T):
        t = t0 + tl.arange(0, BLOCK_T)
        m = t < L
        ut = tl.load(u + (b * DIM + d) * L + t, mask=m, other=0.0).to(tl.float32)
        dt = tl.load(delta + (b * DIM + d) * L + t, mask=m, other=0.0).to(tl.float32)
        bt = tl.load(B + (b * N + n[:, None]) * L + t[None, :], mask=m[None, :], other=0.0).to(tl.float32)
        ct = tl.load(C + (b * N + n[:, None]) * L + t[None, :], mask=m[None, :], other=0.0).to(tl.float32)
        da = tl.exp(a[:, None] * dt[None, :])
        db = bt * (dt * ut)[None, :]
        pa, pb = tl.associative_scan((da, db), 1, _first_order)
        hs = pa * h[:, None] + pb
        tl.store(y + (b * DIM + d) * L + t, tl.sum(hs * ct, axis=0) + skip * ut, mask=m)
        h = tl.sum(tl.where((tl.arange(0, BLOCK_T) == BLOCK_T - 1)[None, :], hs, 0.0), axis=1)


@case((4, 2048, 2048, 16))
def selective_scan(b, dim, l, n):
    u, dl = randn(b, dim, l), rand(b, dim, l, dtype=bf16, hi=0.1)
    y = torch.empty_like(u)
    selective_scan_assoc[(b, dim)](u, dl, -rand(dim, n, lo=0.1), randn(b, n, l), randn(b, n, l), randn(dim, dtype=f32), y, l, dim, N=n, BLOCK_T=128, num_warps=4)


# ---------------------------------------------------------------- gated delta rule: recurrent in the time (decode and short prefill)
@triton.jit
def gated_delta_recurrent(q, k, v, g, beta, o, h0, ht, scale, T, H, HV, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr, L2NORM: tl.constexpr):
    i_v, i_nh = tl.program_id(0), tl.program_id(1)
    i_n, i_hv = i_nh // HV, i_nh % HV
    i_h = i_hv // (HV // H)
    o_k = tl.arange(0, K)
    o_v = i_v * BV + tl.arange(0, BV)
    p_q = q + (i_n * T * H + i_h) * K + o_k
    p_k = k + (i_n * T * H + i_h) * K + o_k
    p_v = v + (i_n * T * HV + i_hv) * V + o_v
    p_o = o + (i_n * T * HV + i_hv) * V + o_v
    p_g = g + i_n * T * HV + i_hv
    p_b = beta + i_n * T * HV + i_hv
    b_h = tl.load(h0 + (i_nh * K + o_k[:, None]) * V + o_v[None, :]).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q).to(tl.float32)
        b_k = tl.load(p_k).to(tl.float32)
        b_v = tl.load(p_v).to(tl.float32)
        if L2NORM:
            b_q = b_q / tl.sqrt(tl.sum(b_q * b_q) + 1e-6)
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
        p_o += HV * V
        p_g += HV
        p_b += HV
    tl.store(ht + (i_nh * K + o_k[:, None]) * V + o_v[None, :], b_h)


@case((96, 1, 16, 32, 128, 128), (16, 128, 16, 32, 128, 128))
def gdn_recurrent(b, t, h, hv, k, v):
    q, kk, vv = randn(b, t, h, k), randn(b, t, h, k), randn(b, t, hv, v)
    g, be = -rand(b, t, hv), rand(b, t, hv, dtype=bf16)
    o = torch.empty_like(vv)
    h0 = randn(b, hv, k, v, dtype=f32)
    ht = torch.empty_like(h0)
    gated_delta_recurrent[(v // 8, b * hv)](q, kk, vv, g, be, o, h0, ht, k ** -0.5, t, h, hv, K=k, V=v, BV=8, L2NORM=True, num_warps=1, num_stages=3)


# ---------------------------------------------------------------- gated delta rule, chunked: beta K K^T, (I+A)^-1 by rows, w and u, states
@triton.jit
def chunk_local_cumsum(g, out, T, H, BT: tl.constexpr, BH: tl.constexpr):
    i_t, i_b = tl.program_id(0), tl.program_id(1)
    t = i_t * BT + tl.arange(0, BT)
    h = tl.arange(0, BH)
    m = (t < T)[:, None] & (h < H)[None, :]
    at = (i_b * T + t[:, None]) * H + h[None, :]
    tl.store(out + at, tl.cumsum(tl.load(g + at, mask=m, other=0.0), axis=0), mask=m)


@triton.jit
def chunk_scaled_dot_kkt_solve(k, g_cs, beta, Ai, T, H, K: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    o_t = tl.arange(0, BT)
    tok = i_b * T + i_t * BT
    p_g = tl.make_block_ptr(g_cs + i_b * T * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    p_b = tl.make_block_ptr(beta + i_b * T * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    b_g = tl.load(p_g, boundary_check=(0,), padding_option="zero")
    b_b = tl.load(p_b, boundary_check=(0,), padding_option="zero").to(tl.float32)
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        p_k = tl.make_block_ptr(k + (i_b * T * H + i_h) * K, (T, K), (H * K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
        b_A += tl.dot(b_k, tl.trans(b_k))
    b_A = b_A * b_b[:, None] * tl.exp(tl.minimum(b_g[:, None] - b_g[None, :], 0.0))
    b_A = -tl.where(o_t[:, None] > o_t[None, :], b_A, 0.0)
    # forward substitution, row after row
    for i in range(1, BT):
        row = tl.sum(tl.where((o_t == i)[:, None], b_A, 0.0), 0)
        row = row + tl.sum(row[:, None] * b_A, 0) * (o_t < i)
        b_A = tl.where((o_t == i)[:, None], row[None, :], b_A)
    b_A += (o_t[:, None] == o_t[None, :]).to(tl.float32)
    p_A = tl.make_block_ptr(Ai + (i_b * T * H + i_h) * BT, (T, BT), (H * BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    tl.store(p_A, b_A.to(Ai.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def recompute_w_u(k, v, beta, g_cs, Ai, w, u, T, H, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    r = i_t * BT + tl.arange(0, BT)
    m = r < T
    b_b = tl.load(beta + (i_b * T + r) * H + i_h, mask=m, other=0.0).to(tl.float32)
    b_e = tl.exp(tl.load(g_cs + (i_b * T + r) * H + i_h, mask=m, other=0.0))
    A = tl.load(Ai + ((i_b * T + r[:, None]) * H + i_h) * BT + tl.arange(0, BT)[None, :], mask=m[:, None], other=0.0)
    for c in tl.static_range(V // BC):
        at = ((i_b * T + r[:, None]) * H + i_h) * V + c * BC + tl.arange(0, BC)[None, :]
        x = tl.load(v + at, mask=m[:, None], other=0.0)
        x = (x * b_b[:, None]).to(A.dtype)
        tl.store(u + at, tl.dot(A, x).to(u.dtype.element_ty), mask=m[:, None])
    for c in tl.static_range(K // BC):
        at = ((i_b * T + r[:, None]) * H + i_h) * K + c * BC + tl.arange(0, BC)[None, :]
        x = tl.load(k + at, mask=m[:, None], other=0.0)
        x = (x * (b_b * b_e)[:, None]).to(A.dtype)
        tl.store(w + at, tl.dot(A, x).to(w.dtype.element_ty), mask=m[:, None])


@triton.jit
def chunk_delta_h(k, w, u, g_cs, h, v_new, T, H, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    NT = tl.cdiv(T, BT)
    S = tl.zeros([K, BV], dtype=tl.float32)
    for i_t in range(NT):
        p_h = tl.make_block_ptr(h + ((i_b * NT + i_t) * H + i_h).to(tl.int64) * K * V, (K, V), (V, 1), (0, i_v * BV), (K, BV), (1, 0))
        tl.store(p_h, S.to(h.dtype.element_ty), boundary_check=(0, 1))
        p_w = tl.make_block_ptr(w + (i_b * T * H + i_h) * K, (T, K), (H * K, 1), (i_t * BT, 0), (BT, K), (1, 0))
        p_u = tl.make_block_ptr(u + (i_b * T * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        p_n = tl.make_block_ptr(v_new + (i_b * T * H + i_h) * V, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        p_k = tl.make_block_ptr(k + (i_b * T * H + i_h) * K, (K, T), (1, H * K), (0, i_t * BT), (K, BT), (0, 1))
        b_w = tl.load(p_w, boundary_check=(0, 1))
        b_v = tl.load(p_u, boundary_check=(0, 1)).to(tl.float32) - tl.dot(b_w, S.to(b_w.dtype))
        tl.store(p_n, b_v.to(v_new.dtype.element_ty), boundary_check=(0, 1))
        last = min((i_t + 1) * BT, T) - 1
        g_last = tl.load(g_cs + (i_b * T + last) * H + i_h)
        r = i_t * BT + tl.arange(0, BT)
        b_g = tl.load(g_cs + (i_b * T + r) * H + i_h, mask=r < T, other=0.0)
        b_v = tl.where((r < T)[:, None], b_v * tl.exp(g_last - b_g)[:, None], 0.0)
        S *= tl.exp(g_last)
        b_k = tl.load(p_k, boundary_check=(0, 1))
        S += tl.dot(b_k, b_v.to(b_k.dtype))


@case((1, 8192, 16, 128, 128), (4, 2000, 8, 64, 64))
def gdn_chunked(b, t, h, k, v):
    bt = 64
    kk, vv = randn(b, t, h, k, scale=0.1), randn(b, t, h, v)
    be = rand(b, t, h, dtype=bf16)
    g_raw, g = -rand(b, t, h, hi=0.1), torch.empty(b, t, h, device=DEV, dtype=f32)
    Ai = torch.empty(b, t, h, bt, device=DEV, dtype=bf16)
    w, u, vn = torch.empty_like(kk), torch.empty_like(vv), torch.empty_like(vv)
    nt = triton.cdiv(t, bt)
    hs = torch.empty(b, nt, h, k, v, device=DEV, dtype=bf16)
    chunk_local_cumsum[(nt, b)](g_raw, g, t, h, BT=bt, BH=triton.next_power_of_2(h))
    chunk_scaled_dot_kkt_solve[(nt, b * h)](kk, g, be, Ai, t, h, K=k, BT=bt, BK=64, num_warps=4)
    recompute_w_u[(nt, b * h)](kk, vv, be, g, Ai, w, u, t, h, K=k, V=v, BT=bt, BC=64, num_warps=4)
    chunk_delta_h[(v // 32, b * h)](kk, w, u, g, hs, vn, t, h, K=k, V=v, BT=bt, BV=32, num_warps=4, num_stages=2)


# ---------------------------------------------------------------- rwkv6: recurrence with bonus u; forward, and the backward of r and w
@triton.jit
def rwkv6_fwd(r, k, v, w, u, y, T, C, H, D: tl.constexpr, BV: tl.constexpr):
    pv = tl.program_id(0)
    bh = tl.program_id(1)
    b = bh // H
    h = bh % H
    i = tl.arange(0, D)
    j = pv * BV + tl.arange(0, BV)
    uu = tl.load(u + h * D + i).to(tl.float32)
    S = tl.zeros((D, BV), tl.float32)
    off = b * T * C + h * D
    for t in range(T):
        rr = tl.load(r + off + i).to(tl.float32)
        kk = tl.load(k + off + i).to(tl.float32)
        vv = tl.load(v + off + j).to(tl.float32)
        ww = tl.exp(-tl.exp(tl.load(w + off + i).to(tl.float32)))
        x = kk[:, None] * vv[None, :]
        out = tl.sum(rr[:, None] * (S + uu[:, None] * x), axis=0)
        tl.store(y + off + j, out.to(y.dtype.element_ty))
        S = S * ww[:, None] + x
        off += C


@case((8, 512, 32, 64))
def rwkv6(b, t, h, d):
    r, k, v, w = randn(b, t, h, d), randn(b, t, h, d), randn(b, t, h, d), randn(b, t, h, d)
    y = torch.empty_like(r)
    rwkv6_fwd[(d // 16, b * h)](r, k, v, w, randn(h, d), y, t, h * d, h, D=d, BV=16, num_warps=1)


# ---------------------------------------------------------------- rwkv7: S = S diag(w) + S a^T b + v k^T; forward with saved states, backward by running it back
@triton.jit
def rwkv7_fwd(r, w, k, v, a, bb, y, s_save, T, H, D: tl.constexpr, CH: tl.constexpr):
    b, h = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, D)
    S = tl.zeros((D, D), tl.float32)  # rows: v, columns: k
    for t in range(T):
        p = ((b * T + t) * H + h) * D
        R = tl.load(r + p + i).to(tl.float32)
        W = tl.exp(-tl.exp(tl.load(w + p + i).to(tl.float32)))
        K = tl.load(k + p + i).to(tl.float32)
        V = tl.load(v + p + i).to(tl.float32)
        A = tl.load(a + p + i).to(tl.float32)
        Bv = tl.load(bb + p + i).to(tl.float32)
        sa = tl.sum(S * A[None, :], 1)
        S = S * W[None, :] + sa[:, None] * Bv[None, :] + V[:, None] * K[None, :]
        tl.store(y + p + i, tl.sum(S * R[None, :], 1).to(y.dtype.element_ty))
        if (t + 1) % CH == 0:
            q = ((b * H + h) * (T // CH) + t // CH) * D * D
            tl.store(s_save + q + i[:, None] * D + i[None, :], S)


@triton.jit
def rwkv7_bwd(r, w, k, v, a, bb, dy, s_save, dr, dw, dk, dv, da, db, T, H, D: tl.constexpr, CH: tl.constexpr):
    b, h = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, D)
    S = tl.zeros((D, D), tl.float32)
    dS = tl.zeros((D, D), tl.float32)
    for tt in range(T):
        t = T - 1 - tt
        if (t + 1) % CH == 0:
            q = ((b * H + h) * (T // CH) + t // CH) * D * D
            S = tl.load(s_save + q + i[:, None] * D + i[None, :])
        p = ((b * T + t) * H + h) * D
        R = tl.load(r + p + i).to(tl.float32)
        wf = -tl.exp(tl.load(w + p + i).to(tl.float32))
        W = tl.exp(wf)
        K = tl.load(k + p + i).to(tl.float32)
        V = tl.load(v + p + i).to(tl.float32)
        A = tl.load(a + p + i).to(tl.float32)
        Bv = tl.load(bb + p + i).to(tl.float32)
        dY = tl.load(dy + p + i).to(tl.float32)
        tl.store(dr + p + i, tl.sum(S * dY[:, None], 0))
        dS += dY[:, None] * R[None, :]
        # undo the step
        sa_hint = tl.sum(S * A[None, :], 1)
        S = (S - V[:, None] * K[None, :] - sa_hint[:, None] * Bv[None, :]) / W[None, :]
        sa = tl.sum(S * A[None, :], 1)
        tl.store(dw + p + i, tl.sum(dS * S, 0) * W * wf)
        tl.store(dk + p + i, tl.sum(dS * V[:, None], 0))
        tl.store(dv + p + i, tl.sum(dS * K[None, :], 1))
        tl.store(db + p + i, tl.sum(dS * sa[:, None], 0))
        dsa = tl.sum(dS * Bv[None, :], 1)
        tl.store(da + p + i, tl.sum(S * dsa[:, None], 0))
        dS = dS * W[None, :] + dsa[:, None] * A[None, :]


@case((8, 256, 32, 64))
def rwkv7(b, t, h, d):
    r, k, v, w, dy = randn(b, t, h, d), randn(b, t, h, d), randn(b, t, h, d), randn(b, t, h, d), randn(b, t, h, d)
    a, bb = randn(b, t, h, d, scale=0.05), randn(b, t, h, d, scale=0.05)
    y = torch.empty_like(r)
    s = torch.empty(b, h, t // 16, d, d, device=DEV, dtype=f32)
    gr = [torch.empty(b, t, h, d, device=DEV, dtype=f32) for _ in range(6)]
    rwkv7_fwd[(b, h)](r, w, k, v, a, bb, y, s, t, h, D=d, CH=16, num_warps=4)
    rwkv7_bwd[(b, h)](r, w, k, v, a, bb, dy, s, gr[0], gr[1], gr[2], gr[3], gr[4], gr[5], t, h, D=d, CH=16, num_warps=8)


# ---------------------------------------------------------------- retention, parallel form as attention with a decay mask; forward and dq
@triton.jit
def retention_fwd(q, k, v, o, scale, T, H, D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    bh = tl.program_id(1)
    h = bh % H
    lg = tl.log2(1.0 - tl.exp2(-5.0 - h.to(tl.float32)))
    rm = pm * BM + tl.arange(0, BM)
    qp = tl.make_block_ptr(q + bh * T * D, (T, D), (D, 1), (pm * BM, 0), (BM, D), (1, 0))
    Q = tl.load(qp, boundary_check=(0,))
    acc = tl.zeros((BM, DV), tl.float32)
    kp = tl.make_block_ptr(k + bh * T * D, (D, T), (1, D), (0, 0), (D, BN), (0, 1))
    vp = tl.make_block_ptr(v + bh * T * DV, (T, DV), (DV, 1), (0, 0), (BN, DV), (1, 0))
    for n in range(0, (pm + 1) * BM, BN):
        s = tl.dot(Q, tl.load(kp, boundary_check=(1,))) * scale
        rel = rm[:, None] - (n + tl.arange(0, BN))[None, :]
        s = tl.where(rel >= 0, s * tl.exp2(rel.to(tl.float32) * lg), 0.0)
        V = tl.load(vp, boundary_check=(0,))
        acc = tl.dot(s.to(V.dtype), V, acc)
        kp = tl.advance(kp, (0, BN))
        vp = tl.advance(vp, (BN, 0))
    # group norm of the head
    mean = tl.sum(acc, 1) / DV
    var = tl.sum(acc * acc, 1) / DV - mean * mean
    acc = (acc - mean[:, None]) * tl.math.rsqrt(var + 1e-5)[:, None]
    op = tl.make_block_ptr(o + bh * T * DV, (T, DV), (DV, 1), (pm * BM, 0), (BM, DV), (1, 0))
    tl.store(op, acc.to(o.dtype.element_ty), boundary_check=(0,))


@triton.jit
def retention_bwd_kv(q, k, v, do, dk, dv, scale, T, H, D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pn = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    h = tl.program_id(1) % H
    lg = tl.log2(1.0 - tl.exp2(-5.0 - h.to(tl.float32)))
    rn = pn * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    e = tl.arange(0, DV)
    K = tl.load(k + bh * T * D + rn[:, None] * D + d[None, :], mask=rn[:, None] < T, other=0.0)
    V = tl.load(v + bh * T * DV + rn[:, None] * DV + e[None, :], mask=rn[:, None] < T, other=0.0)
    gk = tl.zeros((BN, D), tl.float32)
    gv = tl.zeros((BN, DV), tl.float32)
    for m0 in range(pn * BN // BM * BM, T, BM):
        rm = m0 + tl.arange(0, BM)
        Q = tl.load(q + bh * T * D + rm[:, None] * D + d[None, :], mask=rm[:, None] < T, other=0.0)
        dO = tl.load(do + bh * T * DV + rm[:, None] * DV + e[None, :], mask=rm[:, None] < T, other=0.0)
        rel = rm[None, :] - rn[:, None]
        decay = tl.where(rel >= 0, tl.exp2(rel.to(tl.float32) * lg) * scale, 0.0)
        st = tl.dot(K, tl.trans(Q)) * decay
        gv += tl.dot(st.to(dO.dtype), dO)
        ds = tl.dot(V, tl.trans(dO)) * decay
        gk += tl.dot(ds.to(Q.dtype), Q)
    tl.store(dk + bh * T * D + rn[:, None] * D + d[None, :], gk.to(dk.dtype.element_ty), mask=rn[:, None] < T)
    tl.store(dv + bh * T * DV + rn[:, None] * DV + e[None, :], gv.to(dv.dtype.element_ty), mask=rn[:, None] < T)


@case((4, 16, 2048, 64, 128), (2, 8, 1500, 128, 128))
def retention(b, h, t, d, dv):
    q, k, v = randn(b, h, t, d, dtype=f16), randn(b, h, t, d, dtype=f16), randn(b, h, t, dv, dtype=f16)
    o = torch.empty_like(v)
    gk, gv = torch.empty_like(k), torch.empty_like(v)
    retention_fwd[(triton.cdiv(t, 128), b * h)](q, k, v, o, d ** -0.5, t, h, D=d, DV=dv, BM=128, BN=64, num_warps=8, num_stages=2)
    retention_bwd_kv[(triton.cdiv(t, 64), b * h)](q, k, v, v, gk, gv, d ** -0.5, t, h, D=d, DV=dv, BM=64, BN=64, num_warps=4, num_stages=2)


# ---------------------------------------------------------------- GLA: chunk with gates a channel; inter by states in a loop, intra by sub-blocks in fp32
@triton.jit
def gla_chunk_fwd(q, k, v, g, o, scale, T, H, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    rk = tl.arange(0, K)
    rv = i_v * BV + tl.arange(0, BV)
    rt = tl.arange(0, BT)
    S = tl.zeros((K, BV), tl.float32)
    for t0 in range(0, T, BT):
        t = t0 + rt
        m = (t < T)[:, None]
        ak = i_bh * T * K + t[:, None] * K + rk[None, :]
        av = i_bh * T * V + t[:, None] * V + rv[None, :]
        bq = tl.load(q + ak, mask=m, other=0.0).to(tl.float32) * scale
        bk = tl.load(k + ak, mask=m, other=0.0).to(tl.float32)
        bg = tl.load(g + ak, mask=m, other=0.0).to(tl.float32)
        bv = tl.load(v + av, mask=m, other=0.0)
        gc = tl.cumsum(bg, 0)
        tot = tl.sum(bg, 0)
        qg = (bq * tl.exp(gc))
        kg = (bk * tl.exp(-gc))
        att = tl.dot(qg, tl.trans(kg), allow_tf32=False)
        att = tl.where(rt[:, None] >= rt[None, :], att, 0.0)
        out = tl.dot(att.to(bv.dtype), bv) + tl.dot(qg.to(bv.dtype), S.to(bv.dtype))
        tl.store(o + av, out.to(o.dtype.element_ty), mask=m)
        kd = (bk * tl.exp(tot[None, :] - gc)).to(bv.dtype)
        S = S * tl.exp(tot)[:, None] + tl.dot(tl.trans(kd), bv)


@triton.jit
def _rev_add(a, b):
    return a + b


@triton.jit
def gla_gate_grad(q, dq, k, dk, dg, T, K, BT: tl.constexpr, BK: tl.constexpr):
    # dg = reverse cumsum of q*dq - k*dk along t
    i_k, i_bh = tl.program_id(0), tl.program_id(1)
    c = i_k * BK + tl.arange(0, BK)
    carry = tl.zeros((BK,), tl.float32)
    nt = tl.cdiv(T, BT)
    for j in range(nt):
        t = (nt - 1 - j) * BT + tl.arange(0, BT)
        m = (t < T)[:, None] & (c < K)[None, :]
        at = i_bh * T * K + t[:, None] * K + c[None, :]
        x = tl.load(q + at, mask=m, other=0.0).to(tl.float32) * tl.load(dq + at, mask=m, other=0.0)
        x -= tl.load(k + at, mask=m, other=0.0).to(tl.float32) * tl.load(dk + at, mask=m, other=0.0)
        r = tl.associative_scan(x, 0, _rev_add, reverse=True) + carry[None, :]
        tl.store(dg + at, r, mask=m)
        carry += tl.sum(x, 0)


@case((4, 8, 2048, 128, 256), (8, 4, 1000, 64, 128))
def gla(b, h, t, k, v):
    q, kk, vv = randn(b, h, t, k), randn(b, h, t, k), randn(b, h, t, v)
    g = -rand(b, h, t, k, hi=0.1)
    o = torch.empty_like(vv)
    gla_chunk_fwd[(v // 32, b * h)](q, kk, vv, g, o, k ** -0.5, t, h, K=k, V=v, BT=32, BV=32, num_warps=4, num_stages=1)
    dq, dk = randn(b, h, t, k, dtype=f32), randn(b, h, t, k, dtype=f32)
    dg = torch.empty_like(dq)
    gla_gate_grad[(k // 32, b * h)](q, dq, kk, dk, dg, t, k, BT=64, BK=32)

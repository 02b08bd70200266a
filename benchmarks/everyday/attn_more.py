"""More attention: device descriptors in a persistent loop, int8 QK, cross attention with one key tile, fp16 sums, delta-rule chunk solve, causal conv, attention sinks."""
from _common import *
import triton, triton.language as tl

triton.set_allocator(lambda size, align, stream: torch.empty(size, device=DEV, dtype=torch.int8))


@triton.jit
def persistent_attn(Q, K, V, O, Z, H, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = Z * H * N
    qd = tl.make_tensor_descriptor(Q, shape=[rows, D], strides=[D, 1], block_shape=[BM, D])
    kd = tl.make_tensor_descriptor(K, shape=[rows, D], strides=[D, 1], block_shape=[BN, D])
    vd = tl.make_tensor_descriptor(V, shape=[rows, D], strides=[D, 1], block_shape=[BN, D])
    od = tl.make_tensor_descriptor(O, shape=[rows, D], strides=[D, 1], block_shape=[BM, D])
    nb = N // BM
    for tile in range(tl.program_id(0), Z * H * nb, tl.num_programs(0)):
        bh = tile // nb
        i = tile % nb
        q = qd.load([bh * N + i * BM, 0])
        m = tl.full([BM], float("-inf"), tl.float32)
        l = tl.zeros([BM], tl.float32)
        acc = tl.zeros([BM, D], tl.float32)
        om = i * BM + tl.arange(0, BM)
        for j in range(0, (i + 1) * BM, BN):
            k = kd.load([bh * N + j, 0])
            s = tl.dot(q, k.T) * (scale * 1.44269504)
            s = tl.where(om[:, None] >= j + tl.arange(0, BN)[None, :], s, float("-inf"))
            mn = tl.maximum(m, tl.max(s, 1))
            p = tl.exp2(s - mn[:, None])
            a = tl.exp2(m - mn)
            l = l * a + tl.sum(p, 1)
            v = vd.load([bh * N + j, 0])
            acc = tl.dot(p.to(v.dtype), v, acc * a[:, None])
            m = mn
        od.store([bh * N + i * BM, 0], (acc / l[:, None]).to(O.dtype.element_ty))


@case((2, 16, 2048, 128), (1, 32, 4096, 64))
def flash_persistent(z, h, n, d):
    q, k, v = randn(z, h, n, d), randn(z, h, n, d), randn(z, h, n, d)
    persistent_attn[(132,)](q, k, v, torch.empty_like(q), z, h, n, d ** -0.5, D=d, BM=128, BN=64, num_warps=8, num_stages=2)


@triton.jit
def sage_int8_attn(Q, K, V, Qs, Ks, O, Nq, Nk, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # q, k int8 with a scale a block; PV in fp16 with fp16 sums
    i = tl.program_id(0)
    bh = tl.program_id(1)
    om = i * BM + tl.arange(0, BM)
    on = tl.arange(0, BN)
    od = tl.arange(0, D)
    q = tl.load(Q + bh * Nq * D + om[:, None] * D + od[None, :], mask=om[:, None] < Nq, other=0)
    qs = tl.load(Qs + bh * tl.cdiv(Nq, BM) + i)
    kp = K + bh * Nk * D + on[None, :] * D + od[:, None]
    vp = V + bh * Nk * D + on[:, None] * D + od[None, :]
    ksp = Ks + bh * tl.cdiv(Nk, BN)
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.full([BM], 1.0, tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for j in range(0, Nk, BN):
        kmask = on[None, :] < Nk - j
        k = tl.load(kp, mask=kmask, other=0)
        s = tl.dot(q, k).to(tl.float32) * (qs * tl.load(ksp))
        s = tl.where(kmask, s, -1.0e6)
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - mn[:, None])
        a = tl.math.exp2(m - mn)
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None]
        v = tl.load(vp, mask=on[:, None] < Nk - j, other=0.0)
        acc += tl.dot(p.to(tl.float16), v, out_dtype=tl.float16)
        m = mn
        kp += BN * D
        vp += BN * D
        ksp += 1
    tl.store(O + bh * Nq * D + om[:, None] * D + od[None, :], (acc / l[:, None]).to(tl.float16), mask=om[:, None] < Nq)


@case((24, 4250, 64), (32, 2048, 128))
def int8_qk(bh, n, d):
    q, k = randint(-127, 127, bh, n, d, dtype=torch.int8), randint(-127, 127, bh, n, d, dtype=torch.int8)
    v = randn(bh, n, d, dtype=f16)
    sage_int8_attn[(triton.cdiv(n, 128), bh)](q, k, v, rand(bh, triton.cdiv(n, 128), hi=1e-3), rand(bh, triton.cdiv(n, 64), hi=1e-3), torch.empty_like(v), n, n, D=d, BM=128, BN=64,
                                              num_warps=4 if d == 64 else 8, num_stages=3)


@triton.jit
def cross_attn_one_tile(q_ptr, kv_ptr, o_ptr, NQ, NK, H, scale, NKP: tl.constexpr, D: tl.constexpr, BM: tl.constexpr):
    # text cross attention: 77 keys fit one tile, so a plain softmax
    i = tl.program_id(0)
    h = tl.program_id(1) % H
    b = tl.program_id(1) // H
    rm = i * BM + tl.arange(0, BM)
    rn = tl.arange(0, NKP)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + ((b * NQ + rm[:, None]) * H + h) * D + rd[None, :], mask=rm[:, None] < NQ, other=0.0)
    k = tl.load(kv_ptr + ((b * NK + rn[:, None]) * 2 * H + h) * D + rd[None, :], mask=rn[:, None] < NK, other=0.0)
    v = tl.load(kv_ptr + ((b * NK + rn[:, None]) * 2 * H + H + h) * D + rd[None, :], mask=rn[:, None] < NK, other=0.0)
    s = tl.dot(q, tl.trans(k)) * scale
    s = tl.where(rn[None, :] < NK, s, float("-inf"))
    p = tl.softmax(s, dim=1, keep_dims=True)
    o = tl.dot(p.to(v.dtype), v)
    tl.store(o_ptr + ((b * NQ + rm[:, None]) * H + h) * D + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=rm[:, None] < NQ)


@case((4, 4096, 77, 10, 64), (16, 1024, 120, 20, 64))
def cross_attention(b, nq, nk, h, d):
    q = randn(b, nq, h, d, dtype=f16)
    cross_attn_one_tile[(triton.cdiv(nq, 64), b * h)](q, randn(b, nk, 2, h, d, dtype=f16), torch.empty_like(q), nq, nk, h, d ** -0.5, NKP=128, D=d, BM=64, num_warps=4)


@triton.jit
def chunk_kkt_solve(k, beta, g, A, T, H: tl.constexpr, K: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr):
    # (I + tril(beta K K^T exp(g_i - g_j)))^-1 by forward substitution over rows
    c = tl.program_id(0)
    bh = tl.program_id(1)
    b, h = bh // H, bh % H
    i = tl.arange(0, BT)
    t = c * BT + i
    m = t < T
    bb = tl.load(beta + (b * T + t) * H + h, mask=m, other=0.0).to(tl.float32)
    gg = tl.cumsum(tl.load(g + (b * T + t) * H + h, mask=m, other=0.0).to(tl.float32), 0)
    acc = tl.zeros([BT, BT], tl.float32)
    for kk in range(0, K, BK):
        o = kk + tl.arange(0, BK)
        x = tl.load(k + ((b * T + t[:, None]) * H + h) * K + o[None, :], mask=m[:, None], other=0.0)
        acc += tl.dot((x * bb[:, None]).to(x.dtype), tl.trans(x))
    acc = acc * tl.exp(gg[:, None] - gg[None, :])
    acc = -tl.where(i[:, None] > i[None, :], acc, 0.0)
    for r in range(1, BT):
        row = tl.sum(tl.where((i == r)[:, None], acc, 0.0), 0)
        row = row + tl.sum(row[:, None] * acc, 0) * (i < r)
        acc = tl.where((i == r)[:, None], row[None, :], acc)
    acc += (i[:, None] == i[None, :]).to(tl.float32)
    tl.store(A + ((b * T + t[:, None]) * H + h) * BT + i[None, :], acc.to(A.dtype.element_ty), mask=m[:, None])


@case((2, 4096, 16, 128, 64), (4, 1000, 8, 64, 32))
def delta_rule_solve(b, t, h, k, bt):
    chunk_kkt_solve[(triton.cdiv(t, bt), b * h)](randn(b, t, h, k, scale=0.1), rand(b, t, h, dtype=bf16), -rand(b, t, h, hi=0.1), torch.empty((b, t, h, bt), device=DEV, dtype=bf16), t,
                                                 H=h, K=k, BT=bt, BK=64, num_warps=4)


@triton.jit
def causal_conv1d_silu(x, w, bias, out, T, C, W: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    pt, pc, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    t = pt * BT + tl.arange(0, BT)
    c = pc * BC + tl.arange(0, BC)
    acc = tl.zeros((BT, BC), tl.float32) + tl.load(bias + c, mask=c < C, other=0.0)[None, :].to(tl.float32)
    for i in tl.static_range(W):
        s = t - (W - 1) + i
        v = tl.load(x + (b * T + s[:, None]) * C + c[None, :], mask=(s[:, None] >= 0) & (s[:, None] < T) & (c[None, :] < C), other=0.0)
        acc += v * tl.load(w + c * W + i, mask=c < C, other=0.0)[None, :]
    acc = acc * tl.sigmoid(acc)
    tl.store(out + (b * T + t[:, None]) * C + c[None, :], acc.to(out.dtype.element_ty), mask=(t[:, None] < T) & (c[None, :] < C))


@case((8, 2048, 4096, 4), (4, 3001, 2304, 3))
def short_conv(b, t, c, w):
    x = randn(b, t, c)
    causal_conv1d_silu[(triton.cdiv(t, 32), triton.cdiv(c, 128), b)](x, randn(c, w), randn(c), torch.empty_like(x), t, c, W=w, BT=32, BC=128, num_warps=4)


@triton.jit
def sink_attention(Q, K, V, sinks, O, stride_t, stride_kt, T, HQ, HKV, scale, WINDOW: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # a learned logit a head enters the denominator
    i, h = tl.program_id(0), tl.program_id(1)
    kv = h // (HQ // HKV)
    om = i * BM + tl.arange(0, BM)
    od = tl.arange(0, D)
    q = tl.load(Q + om[:, None] * stride_t + h * D + od[None, :], mask=om[:, None] < T, other=0.0)
    m = tl.zeros([BM], tl.float32) + tl.load(sinks + h).to(tl.float32)
    l = tl.full([BM], 1.0, tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    lo = 0
    if WINDOW > 0:
        lo = tl.maximum(i * BM - WINDOW + 1, 0) // BN * BN
    for j in tl.range(lo, tl.minimum((i + 1) * BM, T), BN, num_stages=2):
        on = j + tl.arange(0, BN)
        k = tl.load(K + on[:, None] * stride_kt + kv * D + od[None, :], mask=on[:, None] < T, other=0.0)
        s = tl.dot(q, k.trans(1, 0)) * scale
        ok = on[None, :] <= om[:, None]
        if WINDOW > 0:
            ok = ok & (om[:, None] - on[None, :] < WINDOW)
        s = tl.where(ok, s, -float("inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        a = tl.exp(m - mn)
        p = tl.exp(s - mn[:, None])
        v = tl.load(V + on[:, None] * stride_kt + kv * D + od[None, :], mask=on[:, None] < T, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * a[:, None])
        l = l * a + tl.sum(p, 1)
        m = mn
    tl.store(O + om[:, None] * stride_t + h * D + od[None, :], (acc / l[:, None]).to(O.dtype.element_ty), mask=om[:, None] < T)


@case((8192, 64, 8, 64, 128), (3000, 32, 8, 64, 0))
def attention_sinks(t, hq, hkv, d, window):
    q, k, v = randn(t, hq, d), randn(t, hkv, d), randn(t, hkv, d)
    sink_attention[(triton.cdiv(t, 64), hq)](q, k, v, randn(hq), torch.empty_like(q), q.stride(0), k.stride(0), t, hq, hkv, d ** -0.5, WINDOW=window, D=d, BM=64, BN=64, num_warps=4)

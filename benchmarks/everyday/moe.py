"""Mixture of experts: routing top-k, sort and align, grouped products over sorted tokens, combine; a persistent grouped product."""
from _common import *
import triton, triton.language as tl


@triton.jit
def topk_softmax_routing(logits, weights, ids, T, E: tl.constexpr, K: tl.constexpr, BT: tl.constexpr, RENORM: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    e = tl.arange(0, E)
    x = tl.load(logits + t[:, None] * E + e[None, :], mask=t[:, None] < T, other=float("-inf")).to(tl.float32)
    x = tl.where(t[:, None] < T, x, 0.0)
    p = tl.exp(x - tl.max(x, 1)[:, None])
    p = p / tl.sum(p, 1)[:, None]
    total = tl.zeros([BT], tl.float32)
    left = p
    for k in tl.static_range(K):
        best = tl.max(left, 1)
        idx = tl.argmax(left, 1)
        total += best
        tl.store(weights + t * K + k, best, mask=t < T)
        tl.store(ids + t * K + k, idx, mask=t < T)
        left = tl.where(e[None, :] == idx[:, None], -1.0, left)
    if RENORM:
        tl.debug_barrier()
        for k in tl.static_range(K):
            w = tl.load(weights + t * K + k, mask=t < T, other=0.0)
            tl.store(weights + t * K + k, w / total, mask=t < T)


@triton.jit
def grouped_topk_sigmoid(logits, bias, weights, ids, scaling, E: tl.constexpr, G: tl.constexpr, TG: tl.constexpr, K: tl.constexpr):
    # deepseek routing, one token a program: groups scored by the sum of their two best
    t = tl.program_id(0)
    EG: tl.constexpr = E // G
    g = tl.arange(0, G)
    j = tl.arange(0, EG)
    off = g[:, None] * EG + j[None, :]
    s = tl.sigmoid(tl.load(logits + t * E + off).to(tl.float32))
    c = s + tl.load(bias + off)
    m1 = tl.max(c, axis=1)
    a1 = tl.argmax(c, axis=1)
    m2 = tl.max(tl.where(j[None, :] == a1[:, None], -1e30, c), axis=1)
    gs = m1 + m2
    keep = tl.zeros((G,), tl.int32)
    for _ in tl.static_range(TG):
        b = tl.argmax(tl.where(keep == 0, gs, -1e30), axis=0)
        keep = tl.where(g == b, 1, keep)
    c = tl.where((keep == 1)[:, None], c, -1e30)
    flat = tl.reshape(c, (E,))
    fs = tl.reshape(s, (E,))
    fe = tl.arange(0, E)
    tot = 0.0
    for k in tl.static_range(K):
        i = tl.argmax(flat, axis=0)
        w = tl.sum(tl.where(fe == i, fs, 0.0), axis=0)
        tot += w
        tl.store(ids + t * K + k, i)
        tl.store(weights + t * K + k, w * scaling)
        flat = tl.where(fe == i, -1e30, flat)


@case((16384, 64, 6), (8192, 8, 2))
def routing(t, e, k):
    topk_softmax_routing[(triton.cdiv(t, 16),)](randn(t, e), torch.empty((t, k), device=DEV, dtype=f32), torch.empty((t, k), device=DEV, dtype=i32), t, E=e, K=k, BT=16, RENORM=True, num_warps=4)


@case((8192, 256, 8, 4, 8),)
def routing_groups(t, e, g, tg, k):
    grouped_topk_sigmoid[(t,)](randn(t, e), rand(e), torch.empty((t, k), device=DEV, dtype=f32), torch.empty((t, k), device=DEV, dtype=i32), 2.5, E=e, G=g, TG=tg, K=k, num_warps=1)


@triton.jit
def align_count(topk_ids, cnts, numel, num_experts, per_thread):
    pid = tl.program_id(0)
    start = pid * per_thread
    off = (pid + 1) * num_experts
    for i in range(per_thread):
        if start + i < numel:
            e = tl.load(topk_ids + start + i)
            c = tl.load(cnts + off + e)
            tl.store(cnts + off + e, c + 1)


@triton.jit
def align_scan(cnts, num_experts):
    pid = tl.program_id(0)
    last = 0
    for i in range(1, num_experts + 1):
        c = tl.load(cnts + i * num_experts + pid)
        last = last + c
        tl.store(cnts + i * num_experts + pid, last)


@triton.jit
def expert_histogram(topk_ids, counts, numel, E: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(topk_ids + i, mask=i < numel, other=0)
    h = tl.histogram(x, E, mask=i < numel)
    e = tl.arange(0, E)
    tl.atomic_add(counts + e, h, mask=h > 0)


@triton.jit
def scatter_positions(topk_ids, offsets, sorted_ids, numel, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < numel
    e = tl.load(topk_ids + i, mask=m, other=0)
    pos = tl.atomic_add(offsets + e, 1, mask=m)
    tl.store(sorted_ids + pos, i, mask=m)


@case((16384, 64), (65536, 8))
def sort_and_align(n, e):
    ids = randint(0, e, n, dtype=i32)
    cnts = zeros(e + 1, e, dtype=i32)
    align_count[(e,)](ids, cnts, n, e, triton.cdiv(n, e) if n < 20000 else 256)
    align_scan[(e,)](cnts, e)
    expert_histogram[(triton.cdiv(n, 1024),)](ids, zeros(e, dtype=i32), n, E=e, BLOCK=1024)
    offsets = (torch.arange(e, device=DEV) * n).to(i32)
    scatter_positions[(triton.cdiv(n, 256),)](ids, offsets, torch.empty(n * e, device=DEV, dtype=i32), n, BLOCK=256)


@triton.jit
def fused_moe_gemm(a_ptr, b_ptr, c_ptr, topk_w, sorted_ids, expert_ids, num_post_padded, N, K, EM, num_valid,
                   stride_am, stride_ak, stride_be, stride_bk, stride_bn, stride_cm, stride_cn,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
                   MUL_W: tl.constexpr, top_k: tl.constexpr, EVEN_K: tl.constexpr):
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(EM, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_pid_n
    gid = pid // in_group
    first = gid * GROUP_M
    gsz = min(num_pid_m - first, GROUP_M)
    pid_m = first + ((pid % in_group) % gsz)
    pid_n = (pid % in_group) // gsz
    if pid_m * BLOCK_M >= tl.load(num_post_padded):
        return
    tok = tl.load(sorted_ids + pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    tmask = tok < num_valid
    ex = tl.load(expert_ids + pid_m).to(tl.int64)
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (tok[:, None] // top_k * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + ex * stride_be + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs, mask=tmask[:, None], other=0.0)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=tmask[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if MUL_W:
        w = tl.load(topk_w + tok, mask=tmask, other=0)
        acc = acc * w[:, None]
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + stride_cm * tok[:, None] + stride_cn * offs_cn[None, :], acc.to(c_ptr.dtype.element_ty), mask=tmask[:, None] & (offs_cn[None, :] < N))


@case((2048, 8, 2, 2048, 1792, 64, 128, 64, 4, False), (64, 32, 4, 1408, 1000, 16, 64, 64, 4, True), (4096, 16, 2, 1024, 1024, 128, 128, 32, 8, False))
def moe_gemm(t, e, k, n, kk, bm, bn, bk, nw, mulw):
    a, w = randn(t, kk), randn(e, n, kk)
    per = t * k // e
    pad = triton.cdiv(per, bm) * bm
    rows = torch.full((e, pad), t * k, dtype=i32, device=DEV)
    rows[:, :per] = torch.randperm(t * k, device=DEV).to(i32).view(e, per)
    eid = (torch.arange(e * pad // bm, device=DEV) // (pad // bm)).to(i32)
    c = torch.empty((t * k, n), device=DEV, dtype=bf16)
    fused_moe_gemm[(triton.cdiv(e * pad, bm) * triton.cdiv(n, bn),)](
        a, w, c, rand(t * k), rows, eid, torch.full((1,), e * pad, dtype=i32, device=DEV), n, kk, e * pad, t * k,
        a.stride(0), a.stride(1), w.stride(0), w.stride(2), w.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=8, MUL_W=mulw, top_k=k, EVEN_K=kk % bk == 0, num_warps=nw, num_stages=3)


@triton.jit
def grouped_gemm_persistent(x, w, y, group_offs, N: tl.constexpr, K: tl.constexpr, E: tl.constexpr, NUM_SMS: tl.constexpr,
                            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    last_tiles = 0
    nt: tl.constexpr = (N + BN - 1) // BN
    for e in range(E):
        lo = tl.load(group_offs + e)
        hi = tl.load(group_offs + e + 1)
        tiles = tl.cdiv(hi - lo, BM) * nt
        while tile >= last_tiles and tile < last_tiles + tiles:
            i = tile - last_tiles
            rm = lo + (i // nt) * BM + tl.arange(0, BM)
            rn = (i % nt) * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                a = tl.load(x + rm[:, None] * K + k + rk[None, :], mask=rm[:, None] < hi, other=0.0)
                b = tl.load(w + (e * N + rn[None, :]) * K + k + rk[:, None], mask=rn[None, :] < N, other=0.0)
                acc = tl.dot(a, b, acc)
            tl.store(y + rm[:, None] * N + rn[None, :], acc.to(y.dtype.element_ty), mask=(rm[:, None] < hi) & (rn[None, :] < N))
            tile += NUM_SMS
        last_tiles += tiles


@case((8192, 8, 2048, 1024), (3000, 16, 1536, 2048))
def grouped_gemm(t, e, n, k):
    offs = [t * i * i // (e * e) for i in range(e + 1)]
    grouped_gemm_persistent[(132,)](randn(t, k, dtype=f16), randn(e, n, k, dtype=f16), torch.empty((t, n), device=DEV, dtype=f16), torch.tensor(offs, dtype=i32, device=DEV),
                                    N=n, K=k, E=e, NUM_SMS=132, BM=128, BN=128, BK=64, num_warps=8, num_stages=3)


@triton.jit
def silu_mul_sorted(gu, out, valid, D, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    if tl.load(valid + r) == 0:
        return
    for c in range(0, D, BLOCK):
        j = c + tl.arange(0, BLOCK)
        g = tl.load(gu + r * 2 * D + j, mask=j < D).to(tl.float32)
        u = tl.load(gu + r * 2 * D + D + j, mask=j < D)
        g = g / (1 + tl.exp(-g))
        tl.store(out + r * D + j, g.to(u.dtype) * u, mask=j < D)


@triton.jit
def combine_tokens(y, inv, w, res, out, D, K: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.load(res + t * D + j, mask=j < D, other=0.0).to(tl.float32)
    for k in range(K):
        row = tl.load(inv + t * K + k)
        if row >= 0:
            acc += tl.load(y + row.to(tl.int64) * D + j, mask=j < D, other=0.0) * tl.load(w + t * K + k)
    tl.store(out + t * D + j, acc, mask=j < D)


@triton.jit
def combine_atomic(y, tok, w, out, D, BR: tl.constexpr, BD: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    t = tl.load(tok + r)
    v = tl.load(y + r[:, None] * D + d[None, :]).to(tl.float32) * tl.load(w + r)[:, None]
    tl.atomic_add(out + t[:, None] * D + d[None, :], v)


@case((4096, 2048, 4), (8192, 1408, 6))
def activation_and_combine(t, d, k):
    y = randn(t * k, d)
    silu_mul_sorted[(t * k // 2,)](randn(t * k // 2, 2 * d), torch.empty((t * k // 2, d), device=DEV, dtype=bf16), randint(0, 5, t * k // 2, dtype=i32), d, BLOCK=1024)
    inv = torch.randperm(t * k, device=DEV).to(i32)
    w = rand(t * k)
    combine_tokens[(t, triton.cdiv(d, 512))](y, inv, w, randn(t, d), torch.empty((t, d), device=DEV, dtype=bf16), d, K=k, BLOCK=512)
    combine_atomic[(t * k // 8, d // 128)](y, inv // k, w, zeros(t, d, dtype=f32), d, BR=8, BD=128)

"""Top-k, routing, sorting rows, sampling: gumbel, top-p by bisection, penalties, min-p, speculative acceptance, histogram."""
from _common import *
import triton, triton.language as tl


@triton.jit
def topk_softmax_moe(logits_ptr, w_ptr, id_ptr, T, E: tl.constexpr, K: tl.constexpr, RENORM: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    e = tl.arange(0, BE)
    ok = (t < T)[:, None] & (e < E)[None, :]
    x = tl.load(logits_ptr + t[:, None] * E + e[None, :], mask=ok, other=float("-inf")).to(tl.float32)
    x = x - tl.max(x, 1)[:, None]
    p = tl.exp(x)
    p = p / tl.sum(p, 1)[:, None]
    p = tl.where(ok, p, -1.0)
    tot = tl.zeros([BT], tl.float32)
    for k in tl.static_range(K):
        v, i = tl.max(p, axis=1, return_indices=True)
        tot += v
        tl.store(w_ptr + t * K + k, v, mask=t < T)
        tl.store(id_ptr + t * K + k, i, mask=t < T)
        p = tl.where(e[None, :] == i[:, None], -1.0, p)
    if RENORM:
        for k in tl.static_range(K):
            v = tl.load(w_ptr + t * K + k, mask=t < T, other=0.0)
            tl.store(w_ptr + t * K + k, v / tot, mask=t < T)


@case((65536, 128, 8, True), (200000, 64, 6, False), (131072, 60, 4, True))
def moe_topk(t, e, k, renorm):
    x = randn(t, e)
    w, i = torch.empty(t, k, device=DEV, dtype=f32), torch.empty(t, k, device=DEV, dtype=i32)
    topk_softmax_moe[(triton.cdiv(t, 16),)](x, w, i, t, e, k, renorm, 16, triton.next_power_of_2(e))


@triton.jit
def topk_packed_keys(x_ptr, v_ptr, i_ptr, N, K: tl.constexpr, BLOCK: tl.constexpr):
    # value and index in one int64 key; a block's top K joined with the best so far
    row = tl.program_id(0)
    best = tl.full([1, K], -9223372036854775808, tl.int64)
    for s in range(0, N, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + o, mask=o < N, other=float("-inf")).to(tl.float32)
        b = x.to(tl.int32, bitcast=True)
        b = tl.where(b < 0, b ^ 0x7FFFFFFF, b)
        key = (b.to(tl.int64) << 32) | (0x7FFFFFFF - o).to(tl.int64)
        blk = tl.topk(tl.reshape(key, (1, BLOCK)), K)
        both = tl.reshape(tl.join(best, blk), (1, 2 * K))
        best = tl.topk(both, K)
    best = tl.reshape(best, (K,))
    idx = 0x7FFFFFFF - (best & 0xFFFFFFFF).to(tl.int32)
    vb = (best >> 32).to(tl.int32)
    vb = tl.where(vb < 0, vb ^ 0x7FFFFFFF, vb)
    j = tl.arange(0, K)
    tl.store(v_ptr + row * K + j, vb.to(tl.float32, bitcast=True))
    tl.store(i_ptr + row * K + j, idx.to(tl.int64))


@case((2048, 8192, 16), (512, 32000, 32))
def topk_rows(m, n, k):
    x = randn(m, n)
    v, i = torch.empty(m, k, device=DEV, dtype=f32), torch.empty(m, k, device=DEV, dtype=i64)
    topk_packed_keys[(m,)](x, v, i, n, k, 1024)


@triton.jit
def sort_rows_kernel(x_ptr, y_ptr, N: tl.constexpr, DESC: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + o)
    tl.store(y_ptr + row * N + o, tl.sort(x, descending=DESC))


@case((32768, 512, True), (8192, 1024, False))
def sort_rows(m, n, desc):
    x = randn(m, n, dtype=f32)
    y = torch.empty_like(x)
    sort_rows_kernel[(m,)](x, y, n, desc)


@triton.jit
def gumbel_sample_kernel(logits_ptr, temp_ptr, seed_ptr, pos_ptr, local_v_ptr, local_i_ptr, V, NB, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    b = tl.program_id(1)
    o = b * BLOCK + tl.arange(0, BLOCK)
    m = o < V
    x = tl.load(logits_ptr + r.to(tl.int64) * V + o, mask=m, other=float("-inf")).to(tl.float32)
    temp = tl.load(temp_ptr + r).to(tl.float32)
    if temp != 0.0:
        seed = tl.load(seed_ptr + r)
        pos = tl.load(pos_ptr + r)
        gs = tl.randint(seed, pos)
        u = tl.rand(gs, o)
        u = tl.maximum(u, 1e-7)
        x = x / temp - tl.log(-tl.log(u))
        x = tl.where(m, x, float("-inf"))
    v, i = tl.max(x, 0, return_indices=True)
    tl.store(local_v_ptr + r * NB + b, v)
    tl.store(local_i_ptr + r * NB + b, b * BLOCK + i)


@triton.jit
def pick_best_kernel(v_ptr, i_ptr, out_ptr, NB, PNB: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, PNB)
    v = tl.load(v_ptr + r * NB + o, mask=o < NB, other=float("-inf"))
    a = tl.argmax(v, 0)
    tl.store(out_ptr + r, tl.load(i_ptr + r * NB + a).to(tl.int64))


@case((512, 151936), (1024, 32000))
def gumbel_sample(m, v):
    x, t = randn(m, v), rand(m)
    seed, pos = randint(0, 1 << 30, m), randint(0, 4096, m)
    nb = triton.cdiv(v, 1024)
    lv, li = torch.empty(m, nb, device=DEV, dtype=f32), torch.empty(m, nb, device=DEV, dtype=i32)
    out = torch.empty(m, device=DEV, dtype=i64)
    gumbel_sample_kernel[(m, nb)](x, t, seed, pos, lv, li, v, nb, 1024)
    pick_best_kernel[(m,)](lv, li, out, nb, triton.next_power_of_2(nb), num_warps=1)


@triton.jit
def top_p_mask_bisect(p_ptr, out_ptr, topp_ptr, V, ITERS: tl.constexpr, BLOCK: tl.constexpr):
    # finds by bisection the least probability kept, then zeroes the rest and renormalises
    row = tl.program_id(0).to(tl.int64)
    want = tl.load(topp_ptr + row)
    lo = 0.0
    hi = 1.0
    mass_lo = 1.0
    it = 0
    while it < ITERS and hi - lo > 1e-9:
        mid = (lo + hi) * 0.5
        acc = tl.zeros([BLOCK], tl.float32)
        for s in range(0, V, BLOCK):
            o = s + tl.arange(0, BLOCK)
            p = tl.load(p_ptr + row * V + o, mask=o < V, other=0.0)
            acc += tl.where(p >= mid, p, 0.0)
        mass = tl.sum(acc, 0)
        if mass >= want:
            lo = mid
            mass_lo = mass
        else:
            hi = mid
        it += 1
    for s in range(0, V, BLOCK):
        o = s + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + row * V + o, mask=o < V, other=0.0)
        tl.store(out_ptr + row * V + o, tl.where(p >= lo, p / mass_lo, 0.0), mask=o < V)


@case((256, 32000), (128, 128256))
def top_p(m, v):
    p, t = rand(m, v, hi=2.0 / v), rand(m, lo=0.5, hi=0.99)
    out = torch.empty_like(p)
    top_p_mask_bisect[(m,)](p, out, t, v, 18, 4096, num_warps=8)


@triton.jit
def penalties_min_p_kernel(logits_ptr, count_ptr, prompt_ptr, rep_ptr, freq_ptr, pres_ptr, minp_ptr, V, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    rep = tl.load(rep_ptr + r)
    fr = tl.load(freq_ptr + r)
    pr = tl.load(pres_ptr + r)
    mx = float("-inf")
    for s in range(0, V, BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < V
        x = tl.load(logits_ptr + r * V + o, mask=m, other=float("-inf")).to(tl.float32)
        c = tl.load(count_ptr + r * V + o, mask=m, other=0)
        bits = tl.load(prompt_ptr + r * tl.cdiv(V, 32) + o // 32, mask=m, other=0)
        seen = (c > 0) | (((bits >> (o % 32)) & 1) != 0)
        x = tl.where(seen, tl.where(x > 0, x / rep, x * rep), x)
        x -= fr * c + pr * (c > 0)
        mx = tl.maximum(mx, tl.max(x, 0))
        tl.store(logits_ptr + r * V + o, x, mask=m)
    tl.debug_barrier()
    thr = mx + tl.log(tl.load(minp_ptr + r))
    for s in range(0, V, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + r * V + o, mask=o < V, other=float("-inf"))
        tl.store(logits_ptr + r * V + o, tl.where(x < thr, float("-inf"), x), mask=o < V)


@case((512, 128256), (1000, 32000))
def penalties_min_p(m, v):
    x = randn(m, v, dtype=f32)
    c, bits = randint(0, 2, m, v, dtype=i32), randint(0, 1 << 30, m, triton.cdiv(v, 32), dtype=i32)
    penalties_min_p_kernel[(m,)](x, c, bits, rand(m, lo=1.0, hi=1.2), rand(m), rand(m), rand(m, lo=0.01, hi=0.1), v, 2048, num_warps=8)


@triton.jit
def residual_sample_kernel(tp_ptr, dp_ptr, q_ptr, out_ptr, V, BLOCK: tl.constexpr):
    # recovered tokens of speculative decoding: argmax of max(target - draft, 0) / exponential noise
    r = tl.program_id(0)
    bv = tl.full([BLOCK], -1.0, tl.float32)
    bi = tl.zeros([BLOCK], tl.int32)
    for s in range(0, V, BLOCK):
        o = s + tl.arange(0, BLOCK)
        t = tl.load(tp_ptr + r * V + o, mask=o < V, other=0.0)
        d = tl.load(dp_ptr + r * V + o, mask=o < V, other=0.0)
        q = tl.load(q_ptr + r * V + o, mask=o < V, other=1.0)
        x = tl.where(o < V, tl.maximum(t - d, 0.0) / q, -1.0)
        u = x > bv
        bv = tl.where(u, x, bv)
        bi = tl.where(u, o, bi)
    a = tl.argmax(bv, 0)
    tl.store(out_ptr + r, tl.sum(tl.where(tl.arange(0, BLOCK) == a, bi, 0)))


@case((256, 128256), (1024, 32000))
def residual_sample(m, v):
    t, d, q = rand(m, v), rand(m, v), rand(m, v, lo=0.01)
    out = torch.empty(m, device=DEV, dtype=i32)
    residual_sample_kernel[(m,)](t, d, q, out, v, 2048, num_warps=8)


@triton.jit
def expert_histogram_kernel(ids_ptr, cnt_ptr, n, E: tl.constexpr, BLOCK: tl.constexpr):
    h = tl.zeros([E], tl.int32)
    for s in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        o = s + tl.arange(0, BLOCK)
        h += tl.histogram(tl.load(ids_ptr + o, mask=o < n, other=0), E, mask=o < n)
    tl.atomic_add(cnt_ptr + tl.arange(0, E), h)


@case((1 << 24, 256), (5000000, 64))
def expert_histogram(n, e):
    ids, c = randint(0, e, n, dtype=i32), zeros(e, dtype=i32)
    expert_histogram_kernel[(264,)](ids, c, n, e, 1024)

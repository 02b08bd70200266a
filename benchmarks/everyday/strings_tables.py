"""Dynamic programming, strings, hashing and queries: DTW, edit distance, Smith-Waterman, Viterbi, byte counts, Bloom filters, hash join, group-by, trees, bit packing."""
from _common import *
import triton, triton.language as tl
from triton.language.extra import libdevice


# a pair of series a program, anti-diagonals in registers, the shift by a gather
@triton.jit
def dtw_wavefront(A, B, out, LA, LB, N: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, N)
    a = tl.load(A + p * LA + i, mask=i < LA, other=0.0)
    sh = tl.maximum(i - 1, 0)
    d1 = tl.full((N,), 1e30, tl.float32)
    d2 = tl.full((N,), 1e30, tl.float32)
    for t in range(LA + LB - 1):
        j = t - i
        ok = (i < LA) & (j >= 0) & (j < LB)
        b = tl.load(B + p * LB + j, mask=ok, other=0.0)
        up = tl.where(i > 0, tl.gather(d1, sh, 0), 1e30)
        dg = tl.where(i > 0, tl.gather(d2, sh, 0), 1e30)
        best = tl.minimum(tl.minimum(up, d1), dg)
        best = tl.where((i == 0) & (j == 0), 0.0, best)
        d2 = d1
        d1 = tl.where(ok, tl.abs(a - b) + best, 1e30)
    tl.store(out + p, tl.sum(tl.where(i == LA - 1, d1, 0.0)))


@case((4096, 128, 128), (2000, 200, 300))
def dtw(n, la, lb):
    dtw_wavefront[(n,)](randn(n, la, dtype=f32), randn(n, lb, dtype=f32), zeros(n, dtype=f32), la, lb, N=triton.next_power_of_2(la), num_warps=2)


# many pairs, one a lane, the row of the table in global memory
@triton.jit
def levenshtein_lanes(S, T, row, out, n, LS, LT, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = p < n
    for j in range(LT + 1):
        tl.store(row + j * n + p, tl.zeros((BLOCK,), tl.int32) + j, mask=m)
    for i in range(LS):
        s = tl.load(S + i * n + p, mask=m, other=0)
        diag = tl.zeros((BLOCK,), tl.int32) + i
        left = diag + 1
        tl.store(row + p, left, mask=m)
        for j in range(1, LT + 1):
            t = tl.load(T + (j - 1) * n + p, mask=m, other=0)
            up = tl.load(row + j * n + p, mask=m, other=0)
            v = tl.minimum(tl.minimum(up, left) + 1, diag + (s != t).to(tl.int32))
            diag = up
            left = v
            tl.store(row + j * n + p, v, mask=m)
    tl.store(out + p, tl.load(row + LT * n + p, mask=m, other=0), mask=m)


@case((65536, 24, 24), (16384, 40, 32))
def levenshtein(n, a, b):
    s, t = randint(97, 105, a, n, dtype=torch.uint8), randint(97, 105, b, n, dtype=torch.uint8)
    levenshtein_lanes[(triton.cdiv(n, 64),)](s, t, zeros(b + 1, n, dtype=i32), zeros(n, dtype=i32), n, a, b, BLOCK=64, num_warps=2)


# Smith-Waterman with affine gaps, a diagonal at a time
@triton.jit
def smith_waterman(query, targets, score, LQ, LT, match, mismatch, gopen, gext, N: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, N)
    q = tl.load(query + i, mask=i < LQ, other=255).to(tl.int32)
    prev = tl.where(i > 0, i - 1, 0)
    h1 = tl.zeros((N,), tl.int32)
    h2 = tl.zeros((N,), tl.int32)
    e = tl.full((N,), -10000, tl.int32)
    f = tl.full((N,), -10000, tl.int32)
    best = tl.zeros((N,), tl.int32)
    for t in range(LQ + LT - 1):
        j = t - i
        ok = (i < LQ) & (j >= 0) & (j < LT)
        c = tl.load(targets + p * LT + j, mask=ok, other=254).to(tl.int32)
        hu = tl.where(i > 0, tl.gather(h1, prev, 0), 0)
        fu = tl.where(i > 0, tl.gather(f, prev, 0), -10000)
        hd = tl.where(i > 0, tl.gather(h2, prev, 0), 0)
        e = tl.maximum(e - gext, h1 - gopen)
        f = tl.maximum(fu - gext, hu - gopen)
        s = tl.where(q == c, match, mismatch)
        h = tl.maximum(tl.maximum(hd + s, 0), tl.maximum(e, f))
        h = tl.where(ok, h, 0)
        best = tl.maximum(best, h)
        h2 = h1
        h1 = h
    tl.store(score + p, tl.max(best, axis=0))


@case((4096, 128, 256), (2000, 250, 350))
def sw(n, lq, lt):
    smith_waterman[(n,)](randint(0, 4, lq, dtype=torch.uint8), randint(0, 4, n, lt, dtype=torch.uint8), zeros(n, dtype=i32), lq, lt, 2, -1, 3, 1, N=triton.next_power_of_2(lq), num_warps=4)


# Viterbi: state scores by max over a transition tile, back pointers kept
@triton.jit
def viterbi_forward(emit, trans, back, final, T, S: tl.constexpr):
    b = tl.program_id(0)
    s = tl.arange(0, S)
    tr = tl.load(trans + s[:, None] * S + s[None, :])
    v = tl.load(emit + b * T * S + s)
    for t in range(1, T):
        cand = v[:, None] + tr
        mx, arg = tl.max(cand, axis=0, return_indices=True)
        # back to the layout of the rows by a one-hot sum
        e = tl.load(emit + (b * T + t) * S + s)
        tl.store(back + (b * T + t) * S + s, arg.to(tl.int16))
        v = mx + e
    tl.store(final + b * S + s, v)


@case((512, 256, 32), (256, 128, 64))
def viterbi(b, t, s):
    viterbi_forward[(b,)](randn(b, t, s, dtype=f32), randn(s, s, dtype=f32), zeros(b, t, s, dtype=torch.int16), zeros(b, s, dtype=f32), t, S=s, num_warps=4)


# wc: bytes of newlines, words (starts) and non-ascii, grid-stride
@triton.jit
def count_text(txt, out, n, BLOCK: tl.constexpr):
    lines = tl.zeros((BLOCK,), tl.int32)
    words = tl.zeros((BLOCK,), tl.int32)
    high = tl.zeros((BLOCK,), tl.int32)
    for s in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = s + tl.arange(0, BLOCK)
        m = i < n
        c = tl.load(txt + i, mask=m, other=32)
        p = tl.load(txt + i - 1, mask=m & (i > 0), other=32)
        sp_c = (c == 32) | ((c >= 9) & (c <= 13))
        sp_p = (p == 32) | ((p >= 9) & (p <= 13))
        lines += (c == 10).to(tl.int32)
        words += ((sp_c == 0) & sp_p).to(tl.int32)
        high += (c >= 128).to(tl.int32)
    tl.atomic_add(out, tl.sum(lines))
    tl.atomic_add(out + 1, tl.sum(words))
    tl.atomic_add(out + 2, tl.sum(high))


@triton.jit
def find_pattern(txt, pat, hits, n, PLEN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i + PLEN <= n
    for k in tl.static_range(PLEN):
        ok = ok & (tl.load(txt + i + k, mask=ok, other=0) == tl.load(pat + k))
    tl.atomic_add(hits, tl.sum(ok.to(tl.int32)))


@case(200000000, 30000000)
def text(n):
    t = randint(0, 256, n, dtype=torch.uint8)
    count_text[(132 * 8,)](t, zeros(3, dtype=i32), n, BLOCK=4096, num_warps=8)
    find_pattern[(triton.cdiv(n, 2048),)](t, randint(0, 256, 8, dtype=torch.uint8), zeros(1, dtype=i32), n, PLEN=8, BLOCK=2048)


@triton.jit
def _mix(h):
    h = h ^ (h >> 16)
    h = h * 0x85EBCA6B
    h = h ^ (h >> 13)
    h = h * 0xC2B2AE35
    return h ^ (h >> 16)


# FNV-1a of fixed-length records
@triton.jit
def fnv1a_records(data, out, n, LEN: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = r < n
    h = tl.full((BLOCK,), 2166136261, tl.uint32)
    for k in range(LEN):
        c = tl.load(data + r * LEN + k, mask=m, other=0).to(tl.uint32)
        h = (h ^ c) * 16777619
    tl.store(out + r, h, mask=m)


@triton.jit
def bloom_insert(keys, bits, n, mask_bits, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    k = tl.load(keys + i, mask=m, other=0).to(tl.uint32)
    h1 = _mix(k)
    h2 = _mix(k ^ 0x9E3779B9) | 1
    for j in tl.static_range(K):
        b = (h1 + j * h2) & mask_bits
        one = tl.full((BLOCK,), 1, tl.int32)
        tl.atomic_or(bits + (b >> 5), one << (b & 31).to(tl.int32), mask=m)


@triton.jit
def bloom_query(keys, bits, out, n, mask_bits, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    k = tl.load(keys + i, mask=m, other=0).to(tl.uint32)
    h1 = _mix(k)
    h2 = _mix(k ^ 0x9E3779B9) | 1
    hit = m
    for j in tl.static_range(K):
        b = (h1 + j * h2) & mask_bits
        w = tl.load(bits + (b >> 5), mask=hit, other=0)
        hit = hit & (((w >> (b & 31).to(tl.int32)) & 1) == 1)
    tl.store(out + i, hit.to(tl.int8), mask=m)


@case((4000000, 26), (1000000, 22))
def hashing(n, log_bits):
    k = randint(0, 1 << 30, n, dtype=i32); bits = zeros((1 << log_bits) // 32, dtype=i32)
    bloom_insert[(triton.cdiv(n, 512),)](k, bits, n, (1 << log_bits) - 1, K=4, BLOCK=512)
    bloom_query[(triton.cdiv(n, 512),)](k, bits, zeros(n, dtype=torch.int8), n, (1 << log_bits) - 1, K=4, BLOCK=512)
    fnv1a_records[(triton.cdiv(n, 256),)](randint(0, 256, n, 16, dtype=torch.uint8), zeros(n, dtype=torch.uint32), n, LEN=16, BLOCK=256)


# open addressing: build by compare-and-swap, probe with linear steps
@triton.jit
def hash_build(keys, vals, tkeys, tvals, n, cap_mask, EMPTY: tl.constexpr):
    i = tl.program_id(0)
    per = tl.cdiv(n, tl.num_programs(0))
    for t in range(per):
        r = i * per + t
        if r < n:
            k = tl.load(keys + r)
            slot = (_mix(k.to(tl.uint32)) & cap_mask).to(tl.int32)
            done = 0
            while done == 0:
                old = tl.atomic_cas(tkeys + slot, EMPTY, k)
                if (old == EMPTY) | (old == k):
                    tl.store(tvals + slot, tl.load(vals + r))
                    done = 1
                else:
                    slot = (slot + 1) & cap_mask


@triton.jit
def hash_probe(keys, tkeys, tvals, out, n, cap_mask, EMPTY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    k = tl.load(keys + i, mask=m, other=0)
    slot = (_mix(k.to(tl.uint32)) & cap_mask).to(tl.int32)
    res = tl.full((BLOCK,), -1, tl.int32)
    look = m
    while tl.sum(look.to(tl.int32), axis=0) > 0:
        tk = tl.load(tkeys + slot, mask=look, other=EMPTY)
        found = look & (tk == k)
        res = tl.where(found, tl.load(tvals + slot, mask=found, other=0), res)
        look = look & (found == 0) & (tk != EMPTY)
        slot = (slot + 1) & cap_mask
    tl.store(out + i, res, mask=m)


@case((200000, 4000000), (50000, 1000000))
def hash_join(nb, npr):
    cap = triton.next_power_of_2(2 * nb); tk = torch.full((cap,), -1, device=DEV, dtype=i32); tv = zeros(cap, dtype=i32)
    bk = randint(0, 1 << 22, nb, dtype=i32)
    hash_build[(4096,)](bk, torch.arange(nb, device=DEV, dtype=i32), tk, tv, nb, cap - 1, EMPTY=-1, num_warps=1)
    hash_probe[(triton.cdiv(npr, 256),)](randint(0, 1 << 22, npr, dtype=i32), tk, tv, zeros(npr, dtype=i32), npr, cap - 1, EMPTY=-1, BLOCK=256)


# SELECT key, sum, count, min, max GROUP BY key with a filter
@triton.jit
def group_by_agg(key, price, qty, sums, cnts, mins, maxs, n, lo, hi, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    q = tl.load(qty + i, mask=m, other=0)
    m = m & (q >= lo) & (q < hi)
    k = tl.load(key + i, mask=m, other=0)
    p = tl.load(price + i, mask=m, other=0.0)
    tl.atomic_add(sums + k, p * q, mask=m)
    tl.atomic_add(cnts + k, 1, mask=m)
    tl.atomic_min(mins + k, p, mask=m)
    tl.atomic_max(maxs + k, p, mask=m)


# TPC-H Q6: filtered sum in fp64
@triton.jit
def q6_kernel(date, disc, qty, price, out, n, d0, d1, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    dt = tl.load(date + i, mask=m, other=0)
    dc = tl.load(disc + i, mask=m, other=0.0)
    qt = tl.load(qty + i, mask=m, other=0.0)
    ok = m & (dt >= d0) & (dt < d1) & (dc > 0.05) & (dc < 0.07) & (qt < 24.0)
    pr = tl.load(price + i, mask=ok, other=0.0)
    tl.atomic_add(out, tl.sum(tl.where(ok, pr.to(tl.float64) * dc.to(tl.float64), 0.0)))


@case((10000000, 5000), (3000000, 200000))
def queries(n, groups):
    group_by_agg[(triton.cdiv(n, 1024),)](randint(0, groups, n, dtype=i32), rand(n), randint(1, 50, n, dtype=i32), *(zeros(groups, dtype=d) for d in (f32, i32, f32, f32)), n, 5, 40, BLOCK=1024)
    q6_kernel[(triton.cdiv(n, 2048),)](randint(0, 2500, n, dtype=i32), rand(n, hi=0.1), rand(n, hi=50), rand(n, hi=1e4), zeros(1, dtype=torch.float64), n, 700, 1065, BLOCK=2048)


# forest of complete trees, features of a row gathered
@triton.jit
def forest_predict(X, feat, thr, leaf, out, n, F, n_trees, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = r < n
    acc = tl.zeros((BLOCK,), tl.float32)
    nodes: tl.constexpr = (1 << DEPTH) - 1
    for t in range(n_trees):
        node = tl.zeros((BLOCK,), tl.int32)
        for _ in tl.static_range(DEPTH):
            f = tl.load(feat + t * nodes + node)
            x = tl.load(X + r * F + f, mask=m, other=0.0)
            node = 2 * node + 1 + (x > tl.load(thr + t * nodes + node)).to(tl.int32)
        acc += tl.load(leaf + t * (nodes + 1) + node - nodes)
    tl.store(out + r, 1.0 / (1.0 + tl.exp(-acc)), mask=m)


@case((200000, 32, 100, 6), (50000, 128, 200, 8))
def trees(n, f, t, depth):
    nodes = (1 << depth) - 1
    forest_predict[(triton.cdiv(n, 256),)](randn(n, f, dtype=f32), randint(0, f, t, nodes, dtype=i32), randn(t, nodes, dtype=f32), randn(t, nodes + 1, dtype=f32), zeros(n, dtype=f32), n, f, t, DEPTH=depth, BLOCK=256)


# signs of floats into 32-bit words and their popcounts
@triton.jit
def pack_signs(x, words, pop, n_words, W: tl.constexpr):
    w = tl.program_id(0) * W + tl.arange(0, W)
    b = tl.arange(0, 32)
    m = w < n_words
    v = tl.load(x + w[:, None] * 32 + b[None, :], mask=m[:, None], other=0.0)
    bits = (v > 0).to(tl.int32) << b[None, :]
    packed = tl.sum(bits, axis=1)
    tl.store(words + w, packed, mask=m)
    tl.store(pop + w, libdevice.popc(packed).to(tl.int8), mask=m)


# b-bit unpack of little-endian packed integers, frame-of-reference, delta decoded inside a block
@triton.jit
def for_delta_unpack(words, base, out, BITS: tl.constexpr, BLOCK: tl.constexpr):
    blk = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    bitpos = i * BITS
    w = bitpos >> 5
    s = bitpos & 31
    p = words + blk * (BLOCK * BITS // 32)
    lo = tl.load(p + w).to(tl.uint32)
    hi = tl.load(p + w + 1, mask=s + BITS > 32, other=0).to(tl.uint32)
    both = (hi.to(tl.uint64) << 32) | lo.to(tl.uint64)
    v = ((both >> s.to(tl.uint64)) & ((1 << BITS) - 1)).to(tl.int32)
    tl.store(out + blk * BLOCK + i, tl.cumsum(v, 0) + tl.load(base + blk))


@case((50000, 11), (20000, 5))
def bits(blocks, b):
    n = 1000000
    pack_signs[(triton.cdiv(n, 64),)](randn(n, 32, dtype=f32), zeros(n, dtype=i32), zeros(n, dtype=torch.int8), n, W=64)
    for_delta_unpack[(blocks,)](randint(0, 1 << 30, blocks, 1024 * b // 32, dtype=i32), randint(0, 1000, blocks, dtype=i32), zeros(blocks, 1024, dtype=i32), BITS=b, BLOCK=1024)

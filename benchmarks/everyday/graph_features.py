"""Graph nets and recommendation: edge softmax (GAT), segment sum, weighted embedding bag, scatter mean, feature crosses, DLRM pairwise dots, hash embeddings, FM."""
from _common import *
import triton
import triton.language as tl


@triton.jit
def gat_edge_softmax_aggregate_kernel(indptr, src, el, er, feat, out, n_nodes, H: tl.constexpr, D: tl.constexpr, SLOPE: tl.constexpr, BLOCK_E: tl.constexpr):
    """CSR by destination; softmax over in-edges and weighted sum of features, a (node, head) a program"""
    node = tl.program_id(0)
    h = tl.program_id(1)
    s = tl.load(indptr + node)
    e = tl.load(indptr + node + 1)
    r = tl.load(er + node * H + h)
    m = -1e30
    den = 0.0
    d = tl.arange(0, D)
    acc = tl.zeros([D], dtype=tl.float32)
    for k in range(s, e, BLOCK_E):
        idx = k + tl.arange(0, BLOCK_E)
        ok = idx < e
        u = tl.load(src + idx, mask=ok, other=0)
        z = tl.load(el + u * H + h, mask=ok, other=0.0) + r
        z = tl.where(z > 0, z, z * SLOPE)
        z = tl.where(ok, z, -1e30)
        mn = tl.maximum(m, tl.max(z, 0))
        w = tl.where(ok, tl.exp(z - mn), 0.0)
        a = tl.exp(m - mn)
        f = tl.load(feat + (u[:, None] * H + h) * D + d[None, :], mask=ok[:, None], other=0.0)
        acc = acc * a + tl.sum(w[:, None] * f, axis=0)
        den = den * a + tl.sum(w, axis=0)
        m = mn
    acc = acc / tl.where(den > 0, den, 1.0)
    acc = tl.where(acc > 0, acc, tl.exp(acc) - 1.0)  # elu
    tl.store(out + (node * H + h) * D + d, acc)


@case((100000, 12, 4, 32), (20000, 50, 8, 16))
def gat_layer(n, deg, h, d):
    indptr = torch.arange(0, n * deg + 1, deg, device=DEV)
    src = randint(0, n, n * deg)
    el, er, feat = randn(n, h, dtype=f32), randn(n, h, dtype=f32), randn(n, h, d, dtype=f32)
    gat_edge_softmax_aggregate_kernel[(n, h)](indptr, src, el, er, feat, torch.empty_like(feat), n, H=h, D=d, SLOPE=0.2, BLOCK_E=16, num_warps=1)


@triton.jit
def edge_softmax_backward_kernel(indptr, alpha, grad, out, n, BLOCK_N: tl.constexpr, MAXDEG: tl.constexpr):
    # rows of up to MAXDEG edges, BLOCK_N destinations at once
    v = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    s = tl.load(indptr + v, mask=v < n, other=0)
    e = tl.load(indptr + v + 1, mask=v < n, other=0)
    j = s[:, None] + tl.arange(0, MAXDEG)[None, :]
    ok = j < e[:, None]
    a = tl.load(alpha + j, mask=ok, other=0.0)
    g = tl.load(grad + j, mask=ok, other=0.0)
    dot = tl.sum(a * g, 1)
    tl.store(out + j, a * (g - dot[:, None]), mask=ok)


@case((400000, 25),)
def edge_softmax_backward(n, deg):
    indptr = torch.arange(0, n * deg + 1, deg, device=DEV, dtype=i32)
    a, g = rand(n * deg), randn(n * deg, dtype=f32)
    edge_softmax_backward_kernel[(triton.cdiv(n, 16),)](indptr, a, g, torch.empty_like(a), n, BLOCK_N=16, MAXDEG=32)


@triton.jit
def segment_sum_kernel(x, seg_off, out, D, BLOCK_R: tl.constexpr, BLOCK_D: tl.constexpr):
    seg = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    lo = tl.load(seg_off + seg)
    hi = tl.load(seg_off + seg + 1)
    acc = tl.zeros([BLOCK_R, BLOCK_D], tl.float32)
    for r0 in range(lo, hi, BLOCK_R):
        r = r0 + tl.arange(0, BLOCK_R)
        acc += tl.load(x + r[:, None] * D + d[None, :], mask=(r < hi)[:, None] & (d < D)[None, :], other=0.0)
    tl.store(out + seg.to(tl.int64) * D + d, tl.sum(acc, 0), mask=d < D)


@triton.jit
def scatter_mean_atomic_kernel(x, index, total, count, n, D: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    ok = r < n
    dst = tl.load(index + r, mask=ok, other=0)
    v = tl.load(x + r[:, None] * D + d[None, :], mask=ok[:, None], other=0.0).to(tl.float32)
    tl.atomic_add(total + dst[:, None] * D + d[None, :], v, mask=ok[:, None])
    tl.atomic_add(count + dst, 1.0, mask=ok)


@triton.jit
def scatter_mean_finish_kernel(total, count, out, n_elem, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n_elem
    c = tl.load(count + i // D, mask=m, other=1.0)
    tl.store(out + i, tl.load(total + i, mask=m) / tl.maximum(c, 1.0), mask=m)


@case((800000, 100000, 64), (200000, 1000, 128))
def segment_sum_and_scatter_mean(n, nseg, d):
    x = randn(n, d)
    off = torch.arange(0, n + 1, n // nseg, device=DEV, dtype=i32)
    out = torch.empty((nseg, d), device=DEV, dtype=f32)
    segment_sum_kernel[(nseg, triton.cdiv(d, 64))](x, off, out, d, BLOCK_R=8, BLOCK_D=64, num_warps=2)
    tot, cnt = zeros(nseg, d, dtype=f32), zeros(nseg, dtype=f32)
    scatter_mean_atomic_kernel[(triton.cdiv(n, 16),)](x, randint(0, nseg, n), tot, cnt, n, D=d, ROWS=16)
    scatter_mean_finish_kernel[(triton.cdiv(nseg * d, 1024),)](tot, cnt, out, nseg * d, D=d, BLOCK=1024)


@triton.jit
def embedding_bag_weighted_kernel(table, idx, offsets, weights, out, n_rows, D, stride_t, HAS_W: tl.constexpr, MEAN: tl.constexpr, BLOCK_D: tl.constexpr):
    bag = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    m = d < D
    start = tl.load(offsets + bag)
    end = tl.load(offsets + bag + 1)
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for i in range(start, end):
        row = tl.load(idx + i)
        if row >= 0:
            v = tl.load(table + row * stride_t + d, mask=m, other=0.0).to(tl.float32)
            if HAS_W:
                v = v * tl.load(weights + i)
            acc += v
    if MEAN:
        acc = acc / tl.maximum(end - start, 1).to(tl.float32)
    tl.store(out + bag * D + d, acc.to(out.dtype.element_ty), mask=m)


@case((1000000, 128, 65536, 20, True), (300000, 48, 100000, 8, False))
def embedding_bag(rows, d, bags, per, weighted):
    table = randn(rows, d, dtype=f16)
    idx = randint(0, rows, bags * per)
    off = torch.arange(0, bags * per + 1, per, device=DEV)
    w = rand(bags * per) if weighted else None
    embedding_bag_weighted_kernel[(bags,)](table, idx, off, w, torch.empty((bags, d), device=DEV, dtype=f16), rows, d, d,
                                           HAS_W=weighted, MEAN=not weighted, BLOCK_D=triton.next_power_of_2(d), num_warps=1)


@triton.jit
def dcn_cross_kernel(x0, xl, w, b, out, D, BLOCK_B: tl.constexpr, BLOCK_D: tl.constexpr):
    """DCN v1: x0 * (xl . w) + b + xl"""
    rows = (tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B))[:, None]
    dots = tl.zeros([BLOCK_B, BLOCK_D], tl.float32)
    for d0 in range(0, D, BLOCK_D):
        d = (d0 + tl.arange(0, BLOCK_D))[None, :]
        dots += tl.load(xl + rows * D + d, mask=d < D, other=0.0).to(tl.float32) * tl.load(w + d, mask=d < D, other=0.0).to(tl.float32)
    s = tl.sum(dots, 1)[:, None]
    for d0 in range(0, D, BLOCK_D):
        d = (d0 + tl.arange(0, BLOCK_D))[None, :]
        a = tl.load(x0 + rows * D + d, mask=d < D, other=0.0).to(tl.float32)
        c = tl.load(xl + rows * D + d, mask=d < D, other=0.0).to(tl.float32)
        tl.store(out + rows * D + d, a * s + tl.load(b + d, mask=d < D, other=0.0).to(tl.float32) + c, mask=d < D)


@triton.jit
def dcnv2_cross_kernel(x0, xl, w, bias, out, B, D, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NUM_SMS: tl.constexpr):
    # x0 * (xl W^T + bias) + xl, persistent
    tiles_n = tl.cdiv(D, BN)
    total = tl.cdiv(B, BM) * tiles_n
    for t in range(tl.program_id(0), total, NUM_SMS):
        m = (t // tiles_n) * BM + tl.arange(0, BM)
        n = (t % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, D, BK):
            k = k0 + tl.arange(0, BK)
            a = tl.load(xl + m[:, None] * D + k[None, :], mask=(m[:, None] < B) & (k[None, :] < D), other=0.0)
            bb = tl.load(w + n[None, :] * D + k[:, None], mask=(n[None, :] < D) & (k[:, None] < D), other=0.0)
            acc = tl.dot(a, bb, acc)
        msk = (m[:, None] < B) & (n[None, :] < D)
        o = m[:, None] * D + n[None, :]
        acc += tl.load(bias + n, mask=n < D, other=0.0)[None, :]
        r = tl.load(x0 + o, mask=msk, other=0.0) * acc + tl.load(xl + o, mask=msk, other=0.0)
        tl.store(out + o, r.to(tl.bfloat16), mask=msk)


@case((65536, 429), (16384, 1024))
def feature_crosses(b, d):
    x0, xl, w1, b1 = randn(b, d), randn(b, d), randn(d), randn(d)
    out = torch.empty_like(x0)
    dcn_cross_kernel[(b // 8,)](x0, xl, w1, b1, out, d, BLOCK_B=8, BLOCK_D=256)
    dcnv2_cross_kernel[(132,)](x0, xl, randn(d, d, scale=0.05), randn(d, dtype=f32), out, b, d, BM=128, BN=128, BK=64, NUM_SMS=132, num_warps=8, num_stages=3)


@triton.jit
def dlrm_interaction_kernel(dense, sparse, out, F, out_stride, D: tl.constexpr, FP: tl.constexpr):
    """(F + 1) x D vectors of one sample; strictly lower triangle of the Gram matrix behind the dense vector"""
    b = tl.program_id(0).to(tl.int64)
    f = tl.arange(0, FP)
    d = tl.arange(0, D)
    first = tl.load(dense + b * D + d)
    t = tl.load(sparse + (b * F + f[:, None] - 1) * D + d[None, :], mask=(f[:, None] >= 1) & (f[:, None] <= F), other=0.0)
    t = tl.where(f[:, None] == 0, first[None, :], t)
    z = tl.dot(t, tl.trans(t))
    pos = f[:, None] * (f[:, None] - 1) // 2 + f[None, :]
    tl.store(out + b * out_stride + d, first)
    tl.store(out + b * out_stride + D + pos, z.to(tl.float16), mask=(f[:, None] <= F) & (f[None, :] < f[:, None]))


@case((32768, 26, 128), (16384, 40, 64))
def dlrm_pairwise_dots(b, f, d):
    dense, sparse = randn(b, d, dtype=f16), randn(b, f, d, dtype=f16)
    w = d + (f + 1) * f // 2
    dlrm_interaction_kernel[(b,)](dense, sparse, torch.empty((b, w), device=DEV, dtype=f16), f, w, D=d, FP=triton.next_power_of_2(f + 1), num_warps=4)


@triton.jit
def _murmur(x):
    x = x ^ (x >> 16)
    x = x * 0x85ebca6b
    x = x ^ (x >> 13)
    x = x * 0xc2b2ae35
    return x ^ (x >> 16)


@triton.jit
def hash_embedding_kernel(ids, table, importance, out, n, buckets, N_HASH: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    key = tl.load(ids + i, mask=ok, other=0)
    d = tl.arange(0, D)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for h in tl.static_range(N_HASH):
        hv = _murmur(key.to(tl.uint32) + h * 7919)
        slot = (hv % buckets.to(tl.uint32)).to(tl.int64)
        p = tl.load(importance + (key % 65536) * N_HASH + h, mask=ok, other=0.0)
        acc += p[:, None] * tl.load(table + slot[:, None] * D + d[None, :], mask=ok[:, None], other=0.0).to(tl.float32)
    tl.store(out + i[:, None] * D + d[None, :], acc.to(out.dtype.element_ty), mask=ok[:, None])


@case((1000000, 500000, 64), (300000, 100003, 32))
def hash_embeddings(n, buckets, d):
    ids, table, imp = randint(0, 1 << 40, n), randn(buckets, d), randn(65536, 2, dtype=f32)
    hash_embedding_kernel[(triton.cdiv(n, 32),)](ids, table, imp, torch.empty((n, d), device=DEV, dtype=bf16), n, buckets, N_HASH=2, D=d, BLOCK=32)


@triton.jit
def fm_interaction_kernel(idx, emb, lin, bias, out, B, F, K: tl.constexpr, BLOCK_B: tl.constexpr):
    """factorisation machine: bias + sum w_i + 0.5 * ((sum v)^2 - sum v^2), looked up field by field"""
    b = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    ok = b < B
    k = tl.arange(0, K)
    s = tl.zeros([BLOCK_B, K], tl.float32)
    q = tl.zeros([BLOCK_B, K], tl.float32)
    first = tl.zeros([BLOCK_B], tl.float32)
    for f in range(F):
        r = tl.load(idx + b * F + f, mask=ok, other=0)
        v = tl.load(emb + r[:, None] * K + k[None, :], mask=ok[:, None], other=0.0)
        first += tl.load(lin + r, mask=ok, other=0.0)
        s += v
        q += v * v
    y = 0.5 * tl.sum(s * s - q, axis=1) + first + tl.load(bias)
    tl.store(out + b, 1.0 / (1.0 + tl.exp(-y)), mask=ok)


@case((131072, 39, 16), (50000, 24, 32))
def factorization_machine(b, f, k):
    idx, emb, lin = randint(0, 1000000, b, f), randn(1000000, k, dtype=f32, scale=0.1), randn(1000000, dtype=f32)
    fm_interaction_kernel[(triton.cdiv(b, 64),)](idx, emb, lin, zeros(1, dtype=f32), torch.empty((b,), device=DEV, dtype=f32), b, f, K=k, BLOCK_B=64)

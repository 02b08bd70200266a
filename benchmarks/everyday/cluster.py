"""Clustering and search: k-means assign and update, kNN, running top-k, cosine, pairwise L1, Hamming, RBF, GMM, chamfer, product quantization, DBSCAN counts."""
from _common import *
import triton, triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kmeans_assign(X, C, label, best, N, K, D: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    x = tl.load(X + n[:, None] * D + d[None, :], mask=(n < N)[:, None], other=0.0)
    bd = tl.full((BN,), float("inf"), tl.float32)
    bi = tl.zeros((BN,), tl.int32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        c = tl.load(C + k[:, None] * D + d[None, :], mask=(k < K)[:, None], other=0.0)
        cf = c.to(tl.float32)
        dist = tl.sum(cf * cf, axis=1)[None, :] - 2.0 * tl.dot(x, tl.trans(c))
        dist = tl.where((k < K)[None, :], dist, float("inf"))
        v, j = tl.min(dist, axis=1, return_indices=True)
        bi = tl.where(v < bd, k0 + j, bi)
        bd = tl.minimum(bd, v)
    tl.store(label + n, bi, mask=n < N)
    tl.store(best + n, bd, mask=n < N)


@triton.jit
def kmeans_update_atomic(X, label, sums, counts, N, D, BLOCK_D: tl.constexpr, PTS: tl.constexpr):
    d = tl.arange(0, BLOCK_D)
    for t in range(PTS):
        n = tl.program_id(0) * PTS + t
        if n < N:
            k = tl.load(label + n)
            x = tl.load(X + n * D + d, mask=d < D, other=0.0).to(tl.float32)
            tl.atomic_add(sums + k * D + d, x, mask=d < D)
            tl.atomic_add(counts + k, 1)


# update by one-hot product: sums = onehot^T @ X over a slab of points
@triton.jit
def kmeans_update_dot(X, label, sums, N, slab, D: tl.constexpr, KC: tl.constexpr, BN: tl.constexpr):
    s0 = tl.program_id(0) * slab
    k = tl.program_id(1) * KC + tl.arange(0, KC)
    d = tl.arange(0, D)
    acc = tl.zeros((KC, D), dtype=tl.float32)
    for s in range(0, slab, BN):
        n = s0 + s + tl.arange(0, BN)
        lab = tl.load(label + n, mask=n < N, other=-1)
        oh = (k[:, None] == lab[None, :]).to(X.dtype.element_ty)
        x = tl.load(X + n[:, None] * D + d[None, :], mask=(n < N)[:, None], other=0.0)
        acc += tl.dot(oh, x)
    tl.atomic_add(sums + k[:, None] * D + d[None, :], acc)


@case((500000, 256, 64, f16), (200000, 1000, 128, bf16))
def kmeans(n, k, d, dt):
    x = randn(n, d, dtype=dt); c = randn(k, d, dtype=dt); lab = randint(0, k, n, dtype=i32)
    kmeans_assign[(triton.cdiv(n, 128),)](x, c, lab, zeros(n, dtype=f32), n, k, D=d, BN=128, BK=64, num_warps=8)
    kp = triton.cdiv(k, 64) * 64
    kmeans_update_atomic[(triton.cdiv(n, 16),)](x, lab, zeros(kp, d, dtype=f32), zeros(kp, dtype=i32), n, d, BLOCK_D=d, PTS=16, num_warps=2)
    kmeans_update_dot[(triton.cdiv(n, 8192), kp // 64)](x, lab, zeros(kp, d, dtype=f32), n, 8192, D=d, KC=64, BN=64, num_warps=4)


# exact kNN: packed (distance bits, index), K nearest kept by repeated minimum over the tile
@triton.jit
def knn_kernel(Q, X, out_d, out_i, M, N, D: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(Q + m[:, None] * D + d[None, :], mask=(m < M)[:, None], other=0.0)
    qq = tl.sum(q * q, 1)
    kk = tl.arange(0, K)
    best = tl.full((BM, K), 0x7F80000000000000, tl.int64)
    for s in range(0, N, BN):
        n = s + tl.arange(0, BN)
        x = tl.load(X + n[None, :] * D + d[:, None], mask=(n < N)[None, :], other=0.0)
        dist = qq[:, None] + tl.sum(x * x, 0)[None, :] - 2.0 * tl.dot(q, x, input_precision="ieee")
        dist = tl.where((n < N)[None, :], tl.maximum(dist, 0.0), float("inf"))
        key = (dist.to(tl.int32, bitcast=True).to(tl.int64) << 32) | n[None, :].to(tl.int64)
        top = tl.sort(key, dim=1)
        # the K smallest of the tile come first
        cut = tl.gather(top, tl.broadcast_to(kk[None, :], (BM, K)), 1)
        both = tl.reshape(tl.permute(tl.join(best, cut), (0, 2, 1)), (BM, 2 * K))
        both = tl.sort(both, dim=1)
        best = tl.gather(both, tl.broadcast_to(kk[None, :], (BM, K)), 1)
    o = m[:, None] * K + kk[None, :]
    tl.store(out_i + o, (best & 0xFFFFFFFF).to(tl.int32), mask=(m < M)[:, None])
    tl.store(out_d + o, (best >> 32).to(tl.int32).to(tl.float32, bitcast=True), mask=(m < M)[:, None])


@case((4096, 8192, 32, 8))
def knn(m, n, d, k):
    knn_kernel[(triton.cdiv(m, 16),)](randn(m, d, dtype=f32), randn(n, d, dtype=f32), zeros(m, k, dtype=f32), zeros(m, k, dtype=i32), m, n, D=d, K=k, BM=16, BN=64, num_warps=4)


@triton.jit
def cosine_rows(a_ptr, b_ptr, o_ptr, D, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    ab = tl.zeros((BLOCK,), tl.float32)
    aa = tl.zeros((BLOCK,), tl.float32)
    bb = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, D, BLOCK):
        c = s + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * D + c, mask=c < D, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + row * D + c, mask=c < D, other=0.0).to(tl.float32)
        ab += a * b
        aa += a * a
        bb += b * b
    den = tl.maximum(tl.sqrt(tl.sum(aa)) * tl.sqrt(tl.sum(bb)), eps)
    tl.store(o_ptr + row, tl.sum(ab) / den)


# similarity matrix with normalization in the epilogue, block pointers
@triton.autotune(configs=[triton.Config({"BM": 128, "BN": 128, "BK": 32}, num_warps=8, num_stages=3), triton.Config({"BM": 64, "BN": 128, "BK": 64}, num_warps=4, num_stages=4)], key=["M", "N", "K"])
@triton.jit
def cosine_matrix(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    ap = tl.make_block_ptr(A, shape=(M, K), strides=(K, 1), offsets=(pm * BM, 0), block_shape=(BM, BK), order=(1, 0))
    bp = tl.make_block_ptr(B, shape=(K, N), strides=(1, K), offsets=(0, pn * BN), block_shape=(BK, BN), order=(0, 1))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    na = tl.zeros((BM,), dtype=tl.float32)
    nb = tl.zeros((BN,), dtype=tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(ap, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(bp, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc)
        af = a.to(tl.float32)
        bf = b.to(tl.float32)
        na += tl.sum(af * af, 1)
        nb += tl.sum(bf * bf, 0)
        ap = tl.advance(ap, (0, BK))
        bp = tl.advance(bp, (BK, 0))
    acc = acc * tl.rsqrt(na + 1e-8)[:, None] * tl.rsqrt(nb + 1e-8)[None, :]
    cp = tl.make_block_ptr(C, shape=(M, N), strides=(N, 1), offsets=(pm * BM, pn * BN), block_shape=(BM, BN), order=(1, 0))
    tl.store(cp, acc.to(C.dtype.element_ty), boundary_check=(0, 1))


@case((100000, 768, bf16), (20000, 4096, f32))
def cosine(n, d, dt):
    cosine_rows[(n,)](randn(n, d, dtype=dt), randn(n, d, dtype=dt), zeros(n, dtype=f32), d, 1e-8, BLOCK=512)


@case((4096, 8192, 768), (3000, 5000, 384))
def cosine_pairs(m, n, k):
    cosine_matrix[lambda c: (triton.cdiv(m, c["BM"]), triton.cdiv(n, c["BN"]))](randn(m, k), randn(n, k), zeros(m, n), m, n, k)


# cdist with p=1: a 3-d broadcast of small chunks
@triton.jit
def cdist_l1(X, Y, O, M, N, D, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for s in range(0, D, BD):
        d = s + tl.arange(0, BD)
        x = tl.load(X + m[:, None] * D + d[None, :], mask=(m < M)[:, None] & (d < D)[None, :], other=0.0)
        y = tl.load(Y + n[:, None] * D + d[None, :], mask=(n < N)[:, None] & (d < D)[None, :], other=0.0)
        acc += tl.sum(tl.abs(x[:, None, :] - y[None, :, :]), axis=2)
    tl.store(O + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@case((4096, 4096, 64), (2000, 3000, 130))
def pairwise_l1(m, n, d):
    cdist_l1[(triton.cdiv(m, 32), triton.cdiv(n, 64))](randn(m, d, dtype=f32), randn(n, d, dtype=f32), zeros(m, n, dtype=f32), m, n, d, BM=32, BN=64, BD=8, num_warps=8)


# Hamming distances of packed codes
@triton.jit
def hamming_kernel(A, B, O, M, N, WORDS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.int32)
    for w in range(WORDS):
        a = tl.load(A + m * WORDS + w, mask=m < M, other=0)
        b = tl.load(B + n * WORDS + w, mask=n < N, other=0)
        acc += libdevice.popc(a[:, None] ^ b[None, :])
    tl.store(O + m[:, None] * N + n[None, :], acc.to(tl.int16), mask=(m < M)[:, None] & (n < N)[None, :])


@case((8192, 8192, 8), (3000, 10000, 16))
def hamming(m, n, w):
    hamming_kernel[(triton.cdiv(m, 64), triton.cdiv(n, 64))](randint(0, 1 << 30, m, w, dtype=i32), randint(0, 1 << 30, n, w, dtype=i32), zeros(m, n, dtype=torch.int16), m, n, WORDS=w, BM=64, BN=64)


# kernel ridge / GP: y = K(x, z) v without storing K
@triton.jit
def rbf_matvec(X, Z, v, y, N, M, gamma, D: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    x = tl.load(X + n[:, None] * D + d[None, :], mask=(n < N)[:, None], other=0.0)
    xx = tl.sum(x * x, 1)
    acc = tl.zeros((BN,), tl.float32)
    for s in range(0, M, BM):
        m = s + tl.arange(0, BM)
        z = tl.load(Z + m[:, None] * D + d[None, :], mask=(m < M)[:, None], other=0.0)
        w = tl.load(v + m, mask=m < M, other=0.0)
        d2 = xx[:, None] + tl.sum(z * z, 1)[None, :] - 2.0 * tl.dot(x, z.T)
        acc += tl.sum(tl.exp(-gamma * d2) * w[None, :], 1)
    tl.store(y + n, acc, mask=n < N)


@case((16384, 16384, 32), (10000, 20000, 64))
def rbf(n, m, d):
    rbf_matvec[(triton.cdiv(n, 64),)](randn(n, d, dtype=f32), randn(m, d, dtype=f32), randn(m, dtype=f32), zeros(n, dtype=f32), n, m, 0.1, D=d, BN=64, BM=64)


# diagonal GMM: responsibilities by a softmax over the components
@triton.jit
def gmm_estep(X, mu, ivar, logw, resp, ll, N, K: tl.constexpr, D, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, K)
    acc = tl.zeros((BN, K), tl.float32)
    for d in range(D):
        x = tl.load(X + n * D + d, mask=n < N, other=0.0)
        mm = tl.load(mu + k * D + d)
        iv = tl.load(ivar + k * D + d)
        t = x[:, None] - mm[None, :]
        acc += t * t * iv[None, :]
    lp = tl.load(logw + k)[None, :] - 0.5 * acc
    mx = tl.max(lp, axis=1)
    e = tl.exp(lp - mx[:, None])
    z = tl.sum(e, axis=1)
    tl.store(resp + n[:, None] * K + k[None, :], e / z[:, None], mask=(n < N)[:, None])
    tl.atomic_add(ll, tl.sum(tl.where(n < N, mx + tl.log(z), 0.0)))


@case((500000, 32, 16), (200000, 64, 40))
def gmm(n, k, d):
    gmm_estep[(triton.cdiv(n, 64),)](randn(n, d, dtype=f32), randn(k, d, dtype=f32), rand(k, d), randn(k, dtype=f32), zeros(n, k, dtype=f32), zeros(1, dtype=f32), n, K=k, D=d, BN=64)


@triton.jit
def _argmin_pair(v1, i1, v2, i2):
    take = (v2 < v1) | ((v2 == v1) & (i2 < i1))
    return tl.where(take, v2, v1), tl.where(take, i2, i1)


# chamfer distance of point clouds with a custom reduce
@triton.jit
def chamfer_nn(P, Q, dist, idx, n, m, BP: tl.constexpr, BQ: tl.constexpr):
    b = tl.program_id(1)
    i = tl.program_id(0) * BP + tl.arange(0, BP)
    P += b * n * 3
    Q += b * m * 3
    px = tl.load(P + i * 3, mask=i < n, other=0.0)
    py = tl.load(P + i * 3 + 1, mask=i < n, other=0.0)
    pz = tl.load(P + i * 3 + 2, mask=i < n, other=0.0)
    bv = tl.full((BP,), 1e30, tl.float32)
    bi = tl.full((BP,), 0, tl.int32)
    for s in range(0, m, BQ):
        j = s + tl.arange(0, BQ)
        qx = tl.load(Q + j * 3, mask=j < m, other=1e10)
        qy = tl.load(Q + j * 3 + 1, mask=j < m, other=1e10)
        qz = tl.load(Q + j * 3 + 2, mask=j < m, other=1e10)
        dx = px[:, None] - qx[None, :]
        dy = py[:, None] - qy[None, :]
        dz = pz[:, None] - qz[None, :]
        d2 = dx * dx + dy * dy + dz * dz
        v, w = tl.reduce((d2, tl.broadcast_to(j[None, :], (BP, BQ))), 1, _argmin_pair)
        bv, bi = _argmin_pair(bv, bi, v, w)
    tl.store(dist + b * n + i, bv, mask=i < n)
    tl.store(idx + b * n + i, bi, mask=i < n)


@case((8, 4096, 4096), (32, 2048, 1500))
def chamfer(b, n, m):
    chamfer_nn[(triton.cdiv(n, 64), b)](randn(b, n, 3, dtype=f32), randn(b, m, 3, dtype=f32), zeros(b, n, dtype=f32), zeros(b, n, dtype=i32), n, m, BP=64, BQ=64)


# product quantization, ADC scan: a table of [sub, 256] per query and byte codes
@triton.jit
def pq_scan(codes, lut, out, n, SUB: tl.constexpr, BLOCK: tl.constexpr):
    q = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    acc = tl.zeros((BLOCK,), tl.float32)
    for s in range(SUB):
        c = tl.load(codes + s * n + i, mask=m, other=0).to(tl.int32)
        acc += tl.load(lut + (q * SUB + s) * 256 + c, mask=m, other=0.0)
    tl.store(out + q * n + i, acc, mask=m)


@case((1000000, 16, 16), (300000, 32, 64))
def pq(n, sub, nq):
    pq_scan[(triton.cdiv(n, 1024), nq)](randint(0, 256, sub, n, dtype=torch.uint8), rand(nq, sub, 256), zeros(nq, n, dtype=f32), n, SUB=sub, BLOCK=1024)


@triton.jit
def dbscan_count(X, cnt, N, eps2, DIM: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr, CHUNK: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    c = tl.zeros((BI,), tl.int32)
    j0 = tl.program_id(1) * CHUNK
    for s in range(j0, min(j0 + CHUNK, N), BJ):
        j = s + tl.arange(0, BJ)
        d2 = tl.zeros((BI, BJ), tl.float32)
        for d in tl.static_range(DIM):
            a = tl.load(X + i * DIM + d, mask=i < N, other=0.0)
            b = tl.load(X + j * DIM + d, mask=j < N, other=1e9)
            d2 += (a[:, None] - b[None, :]) * (a[:, None] - b[None, :])
        c += tl.sum((d2 <= eps2).to(tl.int32), axis=1)
    tl.atomic_add(cnt + i, c, mask=i < N)


@case(20000, 40000)
def dbscan(n):
    dbscan_count[(triton.cdiv(n, 32), triton.cdiv(n, 4096))](rand(n, 2), zeros(n, dtype=i32), n, 0.001, DIM=2, BI=32, BJ=128, CHUNK=4096)

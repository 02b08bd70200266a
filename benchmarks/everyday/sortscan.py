"""Histograms, sorts, scans over several blocks, compaction, run-length, segmented sums, radix passes, merge by search."""
from _common import *
import triton, triton.language as tl


@triton.jit
def hist_atomic(x_ptr, h_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x_ptr + i, mask=m, other=0).to(tl.int32)
    tl.atomic_add(h_ptr + v, 1, mask=m)


@triton.jit
def hist_builtin(x_ptr, h_ptr, n, ITER: tl.constexpr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BINS,), tl.int32)
    for it in range(ITER):
        i = (pid * ITER + it) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.int32)
        acc += tl.histogram(v, BINS, mask=i < n)
    tl.atomic_add(h_ptr + tl.arange(0, BINS), acc, sem="relaxed")


# float data, one-hot compare and sum
@triton.jit
def hist_onehot(x_ptr, h_ptr, n, lo, inv_width, BLOCK: tl.constexpr, BINS: tl.constexpr):
    pid = tl.program_id(0)
    b = tl.arange(0, BINS)
    cnt = tl.zeros((BINS,), tl.float32)
    for s in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=-1e30)
        k = tl.floor((x - lo) * inv_width).to(tl.int32)
        cnt += tl.sum((k[:, None] == b[None, :]).to(tl.float32), axis=0)
    tl.atomic_add(h_ptr + b, cnt)


@case(16000000, 3840 * 2160)
def histogram_bytes(n):
    x = randint(0, 256, n, dtype=torch.uint8)
    hist_atomic[(triton.cdiv(n, 2048),)](x, zeros(256, dtype=i32), n, BLOCK=2048)
    hist_builtin[(triton.cdiv(n, 16384),)](x, zeros(256, dtype=i32), n, ITER=8, BLOCK=2048, BINS=256)


@case(4000000)
def histogram_float(n):
    hist_onehot[(264,)](randn(n, dtype=f32), zeros(64, dtype=f32), n, -4.0, 8.0, BLOCK=128, BINS=64)


@triton.jit
def sort_rows(x, y, n_cols, stride, BLOCK: tl.constexpr, DESC: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    pad = float("-inf") if DESC else float("inf")
    v = tl.load(x + r * stride + c, mask=c < n_cols, other=pad)
    s = tl.sort(v, descending=DESC)
    tl.store(y + r * stride + c, s, mask=c < n_cols)


@case((8192, 1000, True), (16384, 256, False))
def sort(rows, cols, desc):
    x = randn(rows, cols, dtype=f32); y = torch.empty_like(x)
    sort_rows[(rows,)](x, y, cols, x.stride(0), BLOCK=triton.next_power_of_2(cols), DESC=desc)


# key-value sort: pack the index in the low word of int64, sort, unpack
@triton.jit
def argsort_packed(x, idx, N: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, N)
    bits = tl.load(x + r * N + c).to(tl.int32, bitcast=True)
    bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    key = (bits.to(tl.int64) << 32) | c.to(tl.int64)
    key = tl.sort(key)
    tl.store(idx + r * N + c, (key & 0xFFFFFFFF).to(tl.int32))


@case((8192, 512), (2048, 2048))
def argsort(rows, n):
    argsort_packed[(rows,)](randn(rows, n, dtype=f32), zeros(rows, n, dtype=i32), N=n, num_warps=8)


# hand-written bitonic network with gathers
@triton.jit
def bitonic_gather(x_ptr, y_ptr, N: tl.constexpr, LOG: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    for stage in tl.static_range(1, LOG + 1):
        for sub in tl.static_range(stage):
            d = 1 << (stage - 1 - sub)
            p = i ^ d
            o = tl.gather(x, p, 0)
            up = ((i >> stage) & 1) == 0
            lower = i < p
            x = tl.where(up == lower, tl.minimum(x, o), tl.maximum(x, o))
    tl.store(y_ptr + row * N + i, x)


@case((8192, 256, 8))
def bitonic(rows, n, log):
    x = randint(0, 1 << 30, rows, n, dtype=i32); y = torch.empty_like(x)
    bitonic_gather[(rows,)](x, y, N=n, LOG=log, num_warps=2)


# global bitonic compare-exchange step (one launch a step)
@triton.jit
def bitonic_step(data, n, j, k, BLOCK: tl.constexpr):
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = (t // j) * (2 * j) + (t % j)
    l = i + j
    m = l < n
    a = tl.load(data + i, mask=m)
    b = tl.load(data + l, mask=m)
    asc = (i & k) == 0
    sw = (a > b) == asc
    tl.store(data + i, tl.where(sw, b, a), mask=m)
    tl.store(data + l, tl.where(sw, a, b), mask=m)


@case((1 << 24, 1 << 20), (1 << 22, 4))
def bitonic_global(n, j):
    bitonic_step[(triton.cdiv(n // 2, 1024),)](randint(0, 1 << 30, n, dtype=i32), n, j, 4 * j, BLOCK=1024)


# scan in three launches
@triton.jit
def scan_block_sums(x, sums, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(sums + pid, tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0))


@triton.jit
def scan_sums(sums, n, BLOCK: tl.constexpr):
    carry = tl.zeros((), tl.int32)
    for s in range(0, n, BLOCK):
        i = s + tl.arange(0, BLOCK)
        v = tl.load(sums + i, mask=i < n, other=0)
        c = tl.cumsum(v, 0)
        tl.store(sums + i, c - v + carry, mask=i < n)
        carry += tl.sum(v, 0)


@triton.jit
def scan_final(x, sums, y, n, BLOCK: tl.constexpr, EXCLUSIVE: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    c = tl.cumsum(v, 0) + tl.load(sums + pid)
    if EXCLUSIVE:
        c -= v
    tl.store(y + i, c, mask=i < n)


@case((16777216, 4096), (5000001, 1024))
def prefix_three_pass(n, B):
    x = randint(0, 4, n, dtype=i32); y = torch.empty_like(x); g = triton.cdiv(n, B); s = zeros(g, dtype=i32)
    scan_block_sums[(g,)](x, s, n, BLOCK=B)
    scan_sums[(1,)](s, g, BLOCK=1024)
    scan_final[(g,)](x, s, y, n, BLOCK=B, EXCLUSIVE=True)


# decoupled look-back: status in the high word, a value in the low word of one int64
@triton.jit
def scan_lookback(x, y, state, ticket, n, BLOCK: tl.constexpr):
    pid = tl.atomic_add(ticket, 1)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    c = tl.cumsum(v, 0)
    total = tl.sum(v, 0).to(tl.int64)
    one = tl.full((), 1, tl.int64) << 32
    if pid == 0:
        tl.atomic_xchg(state, total | (one * 2), sem="release")
    else:
        tl.atomic_xchg(state + pid, total | one, sem="release")
    prefix = tl.zeros((), tl.int64)
    look = pid - 1
    while look >= 0:
        s = tl.atomic_add(state + look, tl.zeros((), tl.int64), sem="acquire")
        flag = s >> 32
        val = s & 0xFFFFFFFF
        prefix += tl.where(flag > 0, val, 0)
        look = tl.where(flag == 2, -1, tl.where(flag == 1, look - 1, look))
    if pid > 0:
        tl.atomic_xchg(state + pid, (prefix + total) | (one * 2), sem="release")
    tl.store(y + i, c + prefix.to(tl.int32), mask=i < n)


@case((16777216, 4096), (3000000, 2048))
def prefix_lookback(n, B):
    x = randint(0, 4, n, dtype=i32); y = torch.empty_like(x); g = triton.cdiv(n, B)
    scan_lookback[(g,)](x, y, zeros(g, dtype=i64), zeros(1, dtype=i32), n, BLOCK=B, num_warps=8)


# compaction with an atomic base per block (order of blocks free)
@triton.jit
def compact_atomic(x, out, counter, n, thr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    keep = (v > thr) & (i < n)
    k = keep.to(tl.int32)
    pos = tl.cumsum(k, 0) - k
    base = tl.atomic_add(counter, tl.sum(k))
    tl.store(out + base + pos, v, mask=keep)


@case((16000000, 0.5), (4000000, 1.5))
def compaction(n, thr):
    x = randn(n, dtype=f32)
    compact_atomic[(triton.cdiv(n, 2048),)](x, torch.empty_like(x), zeros(1, dtype=i32), n, thr, BLOCK=2048)


# run heads and positions: run-length encode by head flags
@triton.jit
def rle_heads(x, values, starts, counter, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=-1)
    p = tl.load(x + i - 1, mask=m & (i > 0), other=-2)
    head = (v != p) & m
    h = head.to(tl.int32)
    rank = tl.cumsum(h, axis=0) - 1
    base = tl.atomic_add(counter, tl.sum(h, axis=0))
    tl.store(values + base + rank, v, mask=head)
    tl.store(starts + base + rank, i, mask=head)


@case(16000000, 2000000)
def run_length(n):
    x = (torch.arange(n, device=DEV, dtype=i32) // 7) % 13
    rle_heads[(triton.cdiv(n, 1024),)](x, torch.empty_like(x), torch.empty_like(x), zeros(1, dtype=i32), n, BLOCK=1024)


@triton.jit
def _seg_op(f1, v1, f2, v2):
    return f1 | f2, tl.where(f2 != 0, v2, v1 + v2)


# segmented running sum inside a block; the last of each segment goes out by an atomic
@triton.jit
def segment_sum_sorted(vals, seg, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    s = tl.load(seg + i, mask=m, other=-1)
    before = tl.load(seg + i - 1, mask=m & (i > 0), other=-1)
    after = tl.load(seg + i + 1, mask=i + 1 < n, other=-1)
    v = tl.load(vals + i, mask=m, other=0.0).to(tl.float32)
    _, run = tl.associative_scan(((s != before).to(tl.int32), v), 0, _seg_op)
    last = m & ((s != after) | (tl.arange(0, BLOCK) == BLOCK - 1))
    tl.atomic_add(out + s, run, mask=last)


@case((8000000, 100000), (2000000, 300))
def segment_sum(n, k):
    seg = randint(0, k, n).sort()[0].to(i32)
    segment_sum_sorted[(triton.cdiv(n, 1024),)](randn(n), seg, zeros(k, dtype=f32), n, BLOCK=1024)


# one pass of a radix sort: 4-bit digits, ranks inside the block by a 2-d cumsum
@triton.jit
def radix_count(keys, counts, n, shift, n_blocks, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    d = (tl.load(keys + i, mask=i < n, other=0) >> shift) & 15
    h = tl.histogram(d, 16, mask=i < n)
    tl.store(counts + tl.arange(0, 16) * n_blocks + pid, h)


@triton.jit
def radix_scatter(keys, vals, offs, keys_out, vals_out, n, shift, n_blocks, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    k = tl.load(keys + i, mask=m, other=0)
    v = tl.load(vals + i, mask=m, other=0)
    d = (k >> shift) & 15
    onehot = ((d[:, None] == tl.arange(0, 16)[None, :]) & m[:, None]).to(tl.int32)
    rank = tl.sum((tl.cumsum(onehot, axis=0) - onehot) * onehot, axis=1)
    base = tl.load(offs + d * n_blocks + pid, mask=m, other=0)
    tl.store(keys_out + base + rank, k, mask=m)
    tl.store(vals_out + base + rank, v, mask=m)


@case((4000000, 0), (1000000, 12))
def radix_pass(n, shift):
    k = randint(0, 1 << 30, n, dtype=i32); v = torch.arange(n, device=DEV, dtype=i32); B = 512
    g = triton.cdiv(n, B); c = zeros(16, g, dtype=i32)
    radix_count[(g,)](k, c, n, shift, g, BLOCK=B)
    f = c.view(-1); o = (torch.cumsum(f, 0) - f).to(i32)
    radix_scatter[(g,)](k, v, o, torch.empty_like(k), torch.empty_like(v), n, shift, g, BLOCK=B, num_warps=4)


# merge of two sorted arrays: every element finds its rank by binary search in the other
@triton.jit
def merge_by_rank(a, b, out, na, nb, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    from_a = i < na
    m = i < na + nb
    j = tl.where(from_a, i, i - na)
    key = tl.where(from_a, tl.load(a + i, mask=from_a, other=0), tl.load(b + j, mask=m & (i >= na), other=0))
    lo = tl.zeros((BLOCK,), tl.int32)
    hi = tl.where(from_a, nb, na)
    while tl.max(hi - lo, 0) > 0:
        mid = (lo + hi) // 2
        act = lo < hi
        x = tl.where(from_a, tl.load(b + mid, mask=act & from_a & m, other=0), tl.load(a + mid, mask=act & m & (i >= na), other=0))
        right = tl.where(from_a, x < key, x <= key)
        lo = tl.where(act & right, mid + 1, lo)
        hi = tl.where(act & (right == 0), mid, hi)
    tl.store(out + j + lo, key, mask=m)


@case((2000000, 1000000), (262144, 262144))
def merge(na, nb):
    a = randint(0, 1 << 30, na, dtype=i32).sort()[0]; b = randint(0, 1 << 30, nb, dtype=i32).sort()[0]
    merge_by_rank[(triton.cdiv(na + nb, 256),)](a, b, zeros(na + nb, dtype=i32), na, nb, BLOCK=256)

"""HPC kernels with tensor descriptors: persistent DFT products, out-of-place transpose, streaming dot/axpy, Gram matrix in fp64."""
from _common import *
import triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def alloc(size, align, stream):
    return torch.empty(size, device=DEV, dtype=torch.int8)


# persistent: real and imaginary of a long batch of DFTs, both products in the loop
@triton.jit
def dft_persistent(xd, cd, sd, yr, yi, rows, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(n, BN)
    total = tl.cdiv(rows, BM) * tiles_n
    for t in tl.range(tl.program_id(0), total, tl.num_programs(0), flatten=True):
        r = (t // tiles_n) * BM
        c = (t % tiles_n) * BN
        re = tl.zeros((BM, BN), tl.float32)
        im = tl.zeros((BM, BN), tl.float32)
        for k in range(0, n, BK):
            x = xd.load([r, k])
            re = tl.dot(x, cd.load([k, c]), re)
            im = tl.dot(x, sd.load([k, c]), im)
        yr.store([r, c], re.to(tl.float16))
        yi.store([r, c], im.to(tl.float16))


@case((65536, 256), (20000, 512))
def dft_rows(rows, n):
    x, c, s = randn(rows, n, dtype=f16), randn(n, n, dtype=f16), randn(n, n, dtype=f16)
    a, b = torch.empty_like(x), torch.empty_like(x)
    D = TensorDescriptor.from_tensor
    dft_persistent[(132,)](D(x, [128, 64]), D(c, [64, 64]), D(s, [64, 64]), D(a, [128, 64]), D(b, [128, 64]), rows, n, BM=128, BN=64, BK=64, num_warps=8, num_stages=4)


@triton.jit
def transpose_desc(x_ptr, y_ptr, M, N, B: tl.constexpr):
    xd = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[B, B])
    yd = tl.make_tensor_descriptor(y_ptr, shape=[N, M], strides=[M, 1], block_shape=[B, B])
    i = tl.program_id(0) * B
    j = tl.program_id(1) * B
    yd.store([j, i], tl.trans(xd.load([i, j])))


@case((8192, 8192, bf16), (4096, 6144, f32))
def transpose(m, n, dt):
    if hasattr(triton, "set_allocator"):
        triton.set_allocator(alloc)
    x = randn(m, n, dtype=dt); y = torch.empty(n, m, device=DEV, dtype=dt)
    transpose_desc[(triton.cdiv(m, 64), triton.cdiv(n, 64))](x, y, m, n, B=64)


# fused z = a x + y and z.z with a pipelined streaming loop, 16 warps
@triton.jit
def axpy_norm(x, y, z, a, partial, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for s in tl.range(pid * BLOCK, n, tl.num_programs(0) * BLOCK, num_stages=4):
        i = s + tl.arange(0, BLOCK)
        m = i < n
        v = a * tl.load(x + i, mask=m, other=0.0) + tl.load(y + i, mask=m, other=0.0)
        tl.store(z + i, v, mask=m)
        acc += v * v
    tl.store(partial + pid, tl.sum(acc))


@case(50000000, 3000001)
def axpy(n):
    x, y = randn(n, dtype=f32), randn(n, dtype=f32)
    axpy_norm[(264,)](x, y, torch.empty_like(x), 0.3, zeros(264, dtype=f32), n, BLOCK=4096, num_warps=16)


# A^T A in fp64 for tall A by tl.dot, upper blocks only, split over rows with atomics
@triton.jit
def gram_fp64(A, G, M, N, rows_per, B: tl.constexpr, BK: tl.constexpr):
    bi = tl.program_id(0)
    bj = tl.program_id(1)
    if bi > bj:
        return
    i = bi * B + tl.arange(0, B)
    j = bj * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float64)
    lo = tl.program_id(2) * rows_per
    for k0 in range(lo, lo + rows_per, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(A + k[None, :] * N + i[:, None], mask=(k < M)[None, :] & (i < N)[:, None], other=0.0)
        b = tl.load(A + k[:, None] * N + j[None, :], mask=(k < M)[:, None] & (j < N)[None, :], other=0.0)
        acc += tl.dot(a, b, out_dtype=tl.float64)
    tl.atomic_add(G + i[:, None] * N + j[None, :], acc, mask=(i < N)[:, None] & (j < N)[None, :])


@case((200000, 128), (50000, 200))
def gram(m, n):
    a = randn(m, n, dtype=torch.float64); g = zeros(n, n, dtype=torch.float64); t = triton.cdiv(n, 32)
    gram_fp64[(t, t, triton.cdiv(m, 2048))](a, g, m, n, 2048, B=32, BK=16, num_stages=2)

"""torch 2.11 (torch/sparse/_triton_ops.py): block-sparse rows times dense (plain, scattered, by block strides, 8-bit), sampled products, softmax of sparse rows, attention over them."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from torch.sparse import _triton_ops as ts


def bsr(b, m, n, s, p, dtype):
    keep = torch.rand(m // s, n // s, device=DEV) < p
    keep[:, 0] = True
    crow = torch.cat([torch.zeros(1, device=DEV, dtype=i64), keep.sum(1).cumsum(0)])
    col = keep.nonzero()[:, 1].contiguous()
    shape = (b,) if b else ()
    v = randint(-100, 100, *shape, len(col), s, s, dtype=torch.int8) if dtype == torch.int8 else randn(*shape, len(col), s, s, dtype=dtype)
    return torch.sparse_bsr_tensor(crow.expand(*shape, -1).contiguous() if b else crow, col.expand(*shape, -1).contiguous() if b else col, v, (*shape, m, n))


@case((4096, 4096, 2048, 64, 0.2, f16), (4096, 4096, 4096, 32, 0.1, bf16), (2048, 2048, 1024, 128, 0.3, f32))
def dense(m, k, n, s, p, dtype):
    x, d = bsr(0, m, k, s, p, dtype), randn(k, n, dtype=dtype)
    ts.bsr_dense_mm(x, d)
    ts.bsr_dense_addmm(randn(m, n, dtype=dtype), x, d, beta=0.5, alpha=1.5)


@case((4096, 4096, 2048, 64, 0.2, f16), (2048, 2048, 4096, 32, 0.2, f16))
def scattered(m, k, n, s, p, dtype):
    x, d = bsr(0, m, k, s, p, dtype), randn(k, n, dtype=dtype)
    ts.bsr_scatter_mm(x, d)
    idx = torch.randperm(64, device=DEV)
    pairs = torch.stack([idx % 32, idx % 16], 1).to(i32)
    off = (torch.arange(9, device=DEV) * 8).to(i32)
    ts.scatter_mm(randn(32, 64, 64, dtype=dtype), randn(16, 64, 64, dtype=dtype), ("scatter_mm", off, pairs))


@case((8, 2048, 2048, 64, 64, 0.2, f16), (16, 1024, 1024, 128, 32, 0.3, bf16))
def sampled(b, m, n, k, s, p, dtype):
    x = bsr(b, m, n, s, p, dtype)
    y = ts.sampled_addmm(x, randn(b, m, k, dtype=dtype), randn(b, k, n, dtype=dtype), beta=0.0, alpha=0.125)
    ts.bsr_softmax(y)
    ts._scaled_dot_product_attention(randn(b, m, k, dtype=dtype), randn(b, n, k, dtype=dtype), randn(b, n, k, dtype=dtype), x)


@case((4096, 4096, 1024, 64, 0.2))
def bytes8(m, k, n, s, p):
    ts._int_bsr_dense_addmm(randint(-5, 5, m, n, dtype=i32), bsr(0, m, k, s, p, torch.int8), randint(-100, 100, k, n, dtype=torch.int8))

"""grouped-mm-bf16 0.1.7: grouped products 2d x 3d, 3d x 3d, 2d x 2d, 3d x 2d, each with its backward; the row-wise form of 2d x 3d."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from grouped_mm_bf16 import grouped_mm


def ends(total, groups):
    """Ends of groups of uneven sizes."""
    cuts = torch.randperm(total - 1)[: groups - 1].sort().values + 1
    return torch.cat([cuts, torch.tensor([total])]).to(DEV, i32)


@case((16, 8192, 1024, 1024, bf16), (32, 16384, 2048, 768, bf16), (8, 4096, 768, 1536, f16))
def rows(g, m, k, n, dtype):
    a, b = randn(m, k, dtype=dtype, grad=True), randn(g, k, n, dtype=dtype, scale=0.03, grad=True)
    bwd(grouped_mm(a, b, ends(m, g)))


@case((16, 2048, 1024, 1024, bf16))
def rows_rowwise(g, m, k, n, dtype):
    os.environ["GROUPED_MM_2D3D_IMPL"] = "rowwise"
    try:
        grouped_mm(randn(m, k, dtype=dtype), randn(g, k, n, dtype=dtype), ends(m, g))
    finally:
        del os.environ["GROUPED_MM_2D3D_IMPL"]


@case((16, 512, 1024, 1024, bf16), (32, 256, 2048, 1024, bf16), (4, 512, 1024, 1024, f32))
def batched(g, m, k, n, dtype):
    a, b = randn(g, m, k, dtype=dtype, grad=True), randn(g, k, n, dtype=dtype, grad=True)
    bwd(grouped_mm(a, b))


@case((8, 512, 4096, 512, bf16), (16, 256, 8192, 256, bf16))
def inner(g, m, k, n, dtype):
    a, b = randn(m, k, dtype=dtype, grad=True), randn(k, n, dtype=dtype, grad=True)
    bwd(grouped_mm(a, b, ends(k, g)))


@case((8, 256, 256, 1024, bf16), (4, 128, 512, 1024, bf16))
def columns(g, m, k, n, dtype):
    a, b = randn(g, m, k, dtype=dtype, grad=True), randn(k, n, dtype=dtype, grad=True)
    bwd(grouped_mm(a, b, ends(n, g)))

"""moe-ops 0.1.0: top-k softmax routing, counting-sort permute, unpermute, grouped GEMM (TMA and pointer forms), each with its backward."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import moe_ops
from moe_ops import grouped_gemm_ops as plain
from moe_ops import grouped_gemm_ops_sm90 as tma


@case((65536, 128, 8, True), (65536, 64, 6, True), (131072, 32, 4, False))
def route(n, e, k, fp32):
    w, _ = moe_ops.fused_topk_softmax(randn(n, e, grad=True), k, fp32_routing=fp32)
    bwd((w,))


@case((8192, 2048, 128, 8), (8192, 4096, 64, 6), (16384, 1024, 32, 4))
def shuffle(n, d, e, k):
    ids = torch.rand(n, e, device=DEV).topk(k).indices.to(i32)
    p, row_map, _ = moe_ops.permute(randn(n, d, grad=True), ids, 0, e)
    w = torch.softmax(randn(n, k, dtype=f32), -1).requires_grad_(True)
    bwd(moe_ops.unpermute(p, row_map, w, n, k))


def offsets(rows, e):
    return torch.cat([torch.zeros(1, device=DEV, dtype=i64), torch.bincount(randint(0, e, rows), minlength=e).cumsum(0)]).to(i32)


@case((16384, 2048, 1408, 64, bf16), (8192, 4096, 2048, 8, bf16), (8192, 2048, 768, 128, f16))
def gemm(rows, k, n, e, dtype):
    bwd(plain.grouped_gemm(randn(rows, k, dtype=dtype, grad=True), randn(e, n, k, dtype=dtype, scale=0.02, grad=True), offsets(rows, e)))


@case((16384, 2048, 1408, 64, bf16), (8192, 4096, 2048, 8, bf16))
def gemm_tma(rows, k, n, e, dtype):
    bwd(tma.grouped_gemm(randn(rows, k, dtype=dtype, grad=True), randn(e, n, k, dtype=dtype, scale=0.02, grad=True), offsets(rows, e)))

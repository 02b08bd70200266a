"""flash-sparse-attn 2.0.6: dense, thresholded sparse and gated attention written with aggregates; forward/backward, varlen, decode."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
import types

for name in ("triton_kernels", "triton_kernels.matmul_ogs", "triton_kernels.numerics"):   # only its projections use them
    m = types.ModuleType(name)
    for n in ("matmul_ogs", "PrecisionConfig", "FlexCtx", "InFlexData", "OutFlexData"):
        setattr(m, n, None)
    sys.modules.setdefault(name, m)
import filelock
if not hasattr(filelock, "ReadWriteLock"):
    filelock.ReadWriteLock = filelock.FileLock
from flash_sparse_attn.ops.triton import cache_utils
cache_utils.CachedKernel.__getitem__ = lambda self, grid: self._kernel[grid]   # Triton's own launch, not the package's cached one
from flash_sparse_attn.ops.triton.interface import (flash_dense_attn_func, flash_dense_attn_varlen_func,
                                                    flash_dense_attn_with_kvcache_func, flash_gated_attn_func,
                                                    flash_gated_attn_with_kvcache_func, flash_sparse_attn_func,
                                                    flash_sparse_attn_with_kvcache_func)


def qkv(B, T, H, HK, D, grad=True):
    return randn(B, T, H, D, grad=grad), randn(B, T, HK, D, grad=grad), randn(B, T, HK, D, grad=grad)


@case((1, 4096, 32, 8, 128), (4, 2048, 16, 16, 64))
def dense(*s):
    bwd(flash_dense_attn_func(*qkv(*s), is_causal=True, is_autotune=False))


@case((1, 8192, 16, 2, 128))
def sparse(*s):
    bwd(flash_sparse_attn_func(*qkv(*s), is_causal=True, softmax_threshold=0.01, is_autotune=False))


@case((1, 4096, 16, 4, 128))
def gated(B, T, H, HK, D):
    bwd(flash_gated_attn_func(*qkv(B, T, H, HK, D), randn(B, T, H, grad=True), randn(B, T, HK, grad=True), is_causal=True,
                              is_autotune=False))


@case((16, 4, 128))
def varlen(H, HK, D):
    cu = tensor([0, 1000, 3000, 4096, 8192])
    q, k, v = randn(8192, H, D, grad=True), randn(8192, HK, D, grad=True), randn(8192, HK, D, grad=True)
    bwd(flash_dense_attn_varlen_func(q, k, v, cu, cu, 4096, 4096, is_causal=True, is_autotune=False))


@case((16, 8192, 32, 8, 128))
def decode(B, T, H, HK, D):
    q, k, v = randn(B, H, D), randn(B, T, HK, D), randn(B, T, HK, D)
    flash_dense_attn_with_kvcache_func(q, k, v, is_autotune=False)
    flash_sparse_attn_with_kvcache_func(q, k, v, softmax_threshold=0.01, is_autotune=False)
    flash_gated_attn_with_kvcache_func(q, k, v, randn(B, H), randn(B, T, HK), is_autotune=False)


@case((32, 32, 8, 128, 64, 64))
def paged(B, H, HK, D, page, n):
    table = torch.randperm(B * n, device=DEV).view(B, n).to(i32)
    flash_dense_attn_with_kvcache_func(randn(B, H, D), randn(B * n, page, HK, D), randn(B * n, page, HK, D), page_table=table,
                                       seqused_k=randint(1000, n * page, B, dtype=i32), is_autotune=False)

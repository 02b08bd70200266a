"""minference 0.1.6: KIVI 2-bit KV cache (min/max, packing, product with the packed cache) and XAttention block scores."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
import importlib.machinery
sys.modules["kivi_gemv"] = type(sys)("kivi_gemv")   # the CUDA half of the package
sys.modules["kivi_gemv"].__spec__ = importlib.machinery.ModuleSpec("kivi_gemv", None)
from minference.modules.kivi import triton_bmm_fA_qB_outer, triton_quantize_and_pack_along_last_dim
from minference.ops.xattention_fa import flat_group_gemm, flat_group_gemm_fuse_reshape, softmax_fuse_block_sum


@case((8, 32, 128, 4096, 128, 2), (8, 8, 128, 8192, 64, 4))
def kivi(B, H, D, T, group, bits):
    triton_quantize_and_pack_along_last_dim(randn(B, H, D, T, dtype=f16), group, bits)
    code = randint(-2**31, 2**31 - 1, B, H, D, T * bits // 32, dtype=i32)
    triton_bmm_fA_qB_outer(group, randn(B, H, 1, D, dtype=f16), code, rand(B, H, D, T // group, dtype=f16),
                           randn(B, H, D, T // group, dtype=f16), bits)


@case((1, 32, 8192, 128, 8))
def xattention(B, H, T, D, stride):
    q, k = randn(B, H, T, D), randn(B, H, T, D)
    n = T // stride
    flat_group_gemm_fuse_reshape(q, k, stride, 0, n, is_causal=True)
    w = randn(B, H, n, n)
    softmax_fuse_block_sum(w, 128 // stride, min(4096, n), 0, n, n, 1.4426950408889634 / D ** 0.5 / stride, is_causal=True)
    softmax_fuse_block_sum(w, 128 // stride, min(4096, n), 0, n, n, 1.4426950408889634 / D ** 0.5 / stride, is_causal=False)


@case((1, 16, 4096, 128))
def gemm(B, H, T, D):
    flat_group_gemm(randn(B, H, T, D), randn(B, H, T, D), 0, T)

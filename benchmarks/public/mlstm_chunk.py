"""mlstm-kernels 2.0.6: mLSTM chunkwise (limited and XL chunks, sigmoid input gates), parallel and step kernels."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from mlstm_kernels.torch.chunkwise.triton_limit_chunk import mlstm_chunkwise__limit_chunk
from mlstm_kernels.torch.chunkwise.triton_xl_chunk import mlstm_chunkwise__xl_chunk
from mlstm_kernels.torch.chunkwise.triton_xl_chunk_siging import mlstm_siging_chunkwise__xl_chunk
from mlstm_kernels.torch.parallel.triton_limit_headdim import mlstm_parallel__limit_headdim
from mlstm_kernels.torch.recurrent.triton_step import mlstm_recurrent_step__triton
from mlstm_kernels.torch.recurrent.triton_step_alternate import mlstm_recurrent_step__triton_alternate


def ins(B, H, T, K, V):
    i = randn(B, H, T, dtype=f32, grad=True)
    f = rand(B, H, T, lo=2.0, hi=5.0, grad=True)
    return randn(B, H, T, K, grad=True), randn(B, H, T, K, grad=True), randn(B, H, T, V, grad=True), i, f


@case((1, 8, 4096, 256, 512), (4, 16, 2048, 64, 128))
def xl(B, H, T, K, V):
    bwd(mlstm_chunkwise__xl_chunk(*ins(B, H, T, K, V), chunk_size=128, autocast_kernel_dtype=bf16))


@case((1, 8, 4096, 256, 512))
def xl_siging(B, H, T, K, V):
    bwd(mlstm_siging_chunkwise__xl_chunk(*ins(B, H, T, K, V), chunk_size=128, autocast_kernel_dtype=bf16))


@case((2, 8, 4096, 128, 256))
def limit(B, H, T, K, V):
    bwd(mlstm_chunkwise__limit_chunk(*ins(B, H, T, K, V), chunk_size=64, autocast_kernel_dtype=bf16))


@case((2, 16, 2048, 64, 64))
def parallel(B, H, T, K, V):
    bwd(mlstm_parallel__limit_headdim(*ins(B, H, T, K, V), autocast_kernel_dtype=bf16))


@case((32, 8, 256, 512))
def step(B, H, K, V):
    args = (randn(B, H, K), randn(B, H, K), randn(B, H, V), randn(B, H, 1), randn(B, H, 1),
            randn(B, H, K, V, dtype=f32), randn(B, H, K, dtype=f32), randn(B, H, 1, dtype=f32))
    mlstm_recurrent_step__triton(*args)
    a = [x.to(f32) for x in args]
    mlstm_recurrent_step__triton_alternate(*a)

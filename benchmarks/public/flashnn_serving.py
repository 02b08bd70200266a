"""flashnn 0.1.1: paged attention (three kernels), attention forward, dynamic quantisation, norms that quantise, rotary on three axes, logits penalty by pointers."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
import flashnn.triton_kernels.triton_utils as tu


def plain(fn, method_name, grid, kwargs, const_kwargs, grid_kwargs=None):
    fn[grid](*kwargs, **(const_kwargs or {}))   # the package reuses the compiled kernel, past the launcher


tu.compile_and_cache_kernels = plain
from flashnn.triton_kernels.dynamic_quant import triton_dynamic_quantize
from flashnn.triton_kernels.flash_attn_v2 import triton_flash_attention_forward
from flashnn.triton_kernels.layer_norm_dquant import triton_layer_norm_dquant_forward
from flashnn.triton_kernels.logits_processor import triton_logits_processor_forward
from flashnn.triton_kernels.paged_attn import paged_attn_w_mma, paged_attn_wo_mma
from flashnn.triton_kernels.paged_attn_v1 import triton_paged_attention_v1
from flashnn.triton_kernels.rms_norm_dquant import triton_rmsnorm_dquant_forward
from flashnn.triton_kernels.rotary_embedding import triton_rotary_embd_forward


def cache(N, H, T, D, page):
    n = T // page
    table = torch.randperm(N * n, device=DEV).view(N, n).to(i32)
    lens = randint(T // 2, T, N, dtype=i32)
    return randn(N * n, H, page, D, dtype=f16), randn(N * n, H, page, D, dtype=f16), table, lens


@case((32, 32, 1024, 128, 16))
def paged_v1(N, H, T, D, page):
    k, v, table, lens = cache(N, H, T, D, page)
    triton_paged_attention_v1(zeros(N, H, D, dtype=f16), randn(N, H, D, dtype=f16), k, v, torch.arange(H, device=DEV, dtype=i32),
                              D ** -0.5, table, lens)


@case((32, 32, 8, 4096, 128, 16, 8), (64, 32, 8, 2048, 128, 32, 1))
def paged_gqa(N, H, HK, T, D, page, splits):
    k, v, table, lens = cache(N, HK, T, D, page)
    paged_attn_w_mma(zeros(N, H, D, dtype=f16), randn(N, H, D, dtype=f16), k, v, lens, table, D ** -0.5, T, splits,
                     T // splits, torch.cuda.current_device())


@case((16, 32, 2048, 128, 16, 4))
def paged_mha(N, H, T, D, page, splits):
    k, v, table, lens = cache(N, H, T, D, page)
    paged_attn_wo_mma(zeros(N, H, D, dtype=f16), randn(N, H, D, dtype=f16), k, v, lens, table, D ** -0.5, T, splits,
                      T // splits, torch.cuda.current_device())


@case((2, 4096, 32, 8, 128), (4, 2048, 16, 16, 64))
def attention(B, T, H, HK, D):
    triton_flash_attention_forward(randn(B, T, H, D, dtype=f16), randn(B, T, HK, D, dtype=f16), randn(B, T, HK, D, dtype=f16), True)


@case((8192, 4096))
def quant(M, D):
    triton_dynamic_quantize(zeros(M, D, dtype=torch.int8), randn(M, D, dtype=f16), zeros(M, dtype=f16))


@case((8192, 4096))
def norms(M, D):
    triton_rmsnorm_dquant_forward(randn(M, D, dtype=f16), randn(D, dtype=f16), 1e-6)
    triton_layer_norm_dquant_forward(randn(M, D, dtype=f16), randn(D, dtype=f16), randn(D, dtype=f16), 1e-6)


@case((4096, 2, 32, 128))
def rotary(T, B, H, D):
    t = torch.outer(torch.arange(T, device=DEV).float(), 1e4 ** (-torch.arange(0, D, 2, device=DEV).float() / D))
    t = torch.cat([t, t], -1)
    triton_rotary_embd_forward(randn(T, B, H, D, dtype=f16), randn(T, B, H, D, dtype=f16), t.cos().to(f16).contiguous(),
                               t.sin().to(f16).contiguous())


@case(("REPETITION",), ("PRESENCE",))
def penalty(kind):
    ids = torch.stack([torch.randperm(32000, device=DEV)[:2048] for _ in range(256)])
    ptrs = tensor([r.data_ptr() for r in ids], i64)
    triton_logits_processor_forward(randn(256, 32000, dtype=f32), rand(256, lo=1.1, hi=1.3), ptrs, randint(1000, 2048, 256), 2048, kind)

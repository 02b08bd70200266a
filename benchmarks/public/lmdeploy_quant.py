"""lmdeploy 0.18.0 (pytorch engine): AWQ linear, blocked fp8 and int8 GEMM, quantisation, norms, fused LoRA."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from lmdeploy.pytorch.kernels.cuda.activation import silu_and_mul, silu_and_mul_moe_ep
from lmdeploy.pytorch.kernels.cuda.awq_kernels import awq_linear
from lmdeploy.pytorch.kernels.cuda.blocked_gemm_fp8 import blocked_gemm_fp8, quant_fp8
from lmdeploy.pytorch.kernels.cuda.fused_lora import fused_lora
from lmdeploy.pytorch.kernels.cuda.rms_norm import rms_norm
from lmdeploy.pytorch.kernels.cuda.w8a8_triton_kernels import (matmul_kernel_dynamic_quant, per_token_quant_int8,
                                                               rms_norm_dynamic_quant)


@case((16, 4096, 4096), (1024, 4096, 4096), (64, 4096, 11008))
def awq(m, k, n):
    awq_linear(randn(m, k, dtype=f16), randint(-2 ** 31, 2 ** 31 - 1, k, n // 8, dtype=i32),
               rand(k // 128, n, lo=0.005, hi=0.02, dtype=f16), randint(-2 ** 31, 2 ** 31 - 1, k // 128, n // 8, dtype=i32))


@case((2048, 4096, 4096), (64, 7168, 2048))
def fp8(m, k, n):
    a, s = quant_fp8(randn(m, k), 128)
    b = randn(n, k).to(torch.float8_e4m3fn)
    bs = rand(n // 128, k // 128, lo=0.01, hi=0.02)
    blocked_gemm_fp8(a, s, b.t(), bs.t(), bf16)


@case((2048, 4096, 4096, torch.int8), (256, 4096, 11008, torch.int8), (2048, 4096, 4096, torch.float8_e4m3fn))
def w8a8(m, k, n, dt):
    x, w = randn(m, k, dtype=f16), randn(k, dtype=f16)
    a, s = per_token_quant_int8(x, 1e-7, dt)
    b = randint(-127, 128, n, k, dtype=torch.int8) if dt == torch.int8 else randn(n, k).to(dt)
    ws = rand(n, 1, lo=0.001, hi=0.002)
    matmul_kernel_dynamic_quant(a, b, s, ws)
    matmul_kernel_dynamic_quant(a, b, s, ws, residual=randn(m, n, dtype=f16))
    rms_norm_dynamic_quant(x, w, 1e-6, quant_dtype=dt)
    rms_norm_dynamic_quant(x, w, 1e-6, residual=randn(m, k, dtype=f16), quant_dtype=dt)


@case((8192, 4096), (4096, 2560), (32768, 128))
def norm(m, n):
    x, w = randn(m, n), randn(n)
    rms_norm(x, w)
    rms_norm(x, w, residual=randn(m, n))


@case((8192, 11008), (256, 14336))
def act(m, n):
    silu_and_mul(randn(m, 2 * n))
    silu_and_mul_moe_ep(randn(16, m // 16, 2 * n), randint(1, m // 16, 16, dtype=i32))


@case(([512] * 8, 4096, 4096, 16), ([1] * 64, 4096, 4096, 64))
def lora(lens, k, n, r):
    b = len(lens)
    start = torch.tensor([0] + lens[:-1]).cumsum(0).to(DEV)
    ad = randint(0, 4, b)
    fused_lora(randn(sum(lens), k), randn(4 * r, k, scale=0.02), randn(4 * r, n, scale=0.02), ones(4, dtype=bf16) * 0.5,
               torch.arange(4, device=DEV) * r, torch.full((4,), r, device=DEV), start, torch.tensor(lens, device=DEV), ad, r,
               max(lens))

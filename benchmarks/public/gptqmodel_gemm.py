"""gptqmodel 7.7.0: GPTQ dequantisation, GEMV, GEMM and the older 2/4/8-bit product, AWQ dequantisation and split-k GEMM."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from gptqmodel.nn_modules.triton_utils.dequant import dequant
from gptqmodel.nn_modules.triton_utils.gptq_gemm import gptq_gemm
from gptqmodel.nn_modules.triton_utils.gptq_gemv import gptq_gemv
from gptqmodel.quantization.awq.modules.triton.gemm import awq_dequantize_triton, awq_gemm_triton


def weights(k, n, bits, g=128):
    pack = 32 // bits
    return (randint(-2 ** 31, 2 ** 31 - 1, k // pack, n, dtype=i32), rand(k // g, n, lo=0.005, hi=0.02, dtype=f16),
            randint(-2 ** 31, 2 ** 31 - 1, k // g, n // pack, dtype=i32), (torch.arange(k, device=DEV) // g).to(i32))


@case((4096, 4096, 4, f16), (4096, 14336, 8, bf16), (4096, 4096, 2, f16))
def unpack(k, n, bits, dt):
    w, s, z, g = weights(k, n, bits)
    dequant(dt, w, s, z, g, bits, 32, 2 ** bits - 1)


@case((1, 4096, 4096, 4), (1, 4096, 14336, 4), (4, 8192, 8192, 8))
def gemv(m, k, n, bits):
    gptq_gemv(randn(m, k, dtype=f16), *weights(k, n, bits), bits=bits)


@case((16, 4096, 4096, 4), (64, 4096, 14336, 4), (8, 4096, 4096, 8))
def gemm(m, k, n, bits):
    gptq_gemm(randn(m, k, dtype=f16), *weights(k, n, bits), bits=bits)


@case((256, 4096, 4096), (32, 4096, 11008))
def product248(m, k, n):
    from gptqmodel.nn_modules.triton_utils.kernels import quant_matmul_248, transpose_quant_matmul_248
    w = weights(k, n, 4)
    quant_matmul_248(randn(m, k, dtype=f16), *w, 4, 15)
    transpose_quant_matmul_248(randn(m, n, dtype=f16), *w, 4, 15)


@case((16, 4096, 4096, 8), (512, 4096, 4096, 1), (64, 4096, 14336, 4))
def awq(m, k, n, split):
    qw = randint(-2 ** 31, 2 ** 31 - 1, k, n // 8, dtype=i32)
    s, z = rand(k // 128, n, lo=0.005, hi=0.02, dtype=f16), randint(-2 ** 31, 2 ** 31 - 1, k // 128, n // 8, dtype=i32)
    awq_dequantize_triton(qw, s, z)
    awq_gemm_triton(randn(m, k, dtype=f16), qw, s, z, split)
